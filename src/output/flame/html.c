/* SPDX-License-Identifier: MIT */
/*
 * The page: src/output/flame/viewer with the set in it. A little of it is JSON; the rest is in parts one after the
 * other, deflated (gzip) and in base64: their names, bytes and how many numbers they hold are in "parts". Parts that
 * are not JSON are columns of LEB128 numbers:
 *     strings           JSON: texts
 *     labels            JSON: number of a string and what folded stacks call the function, where that is another name
 *     short             JSON: likewise the label with short spellings of known types
 *     functions.name    strings; .module and .file: + 1, 0 for none; .line, .kind
 *     stacks.parent     by node but the root: its number minus its parent's; .fn: functions; one after the last stands
 *                       for callees too light to be in the page
 *     threads.pid, .tid, .comm
 *     samples.*         as pf_page_column says; no counts: all are 1
 *     intervals.*       times off CPU: thread; to: zigzag of what was added to that before; length, state (see
 *                       pf_wait_state); waker: thread + 1, 0: not known; stack: zigzag of what was added to the node
 *                       before
 *     marks.*, losses.* thread, time: zigzag of what was added to the one before, kind, value (of a fork the new
 *                       thread); time, count. Parts without rows are not there
 *     lanes             JSON: of each tracepoint its name, one of how many of its events is there, how many were
 *                       recorded, and how many follow in lanes.*: time as above, thread; text: JSON, the fields. Then
 *                       of each counter, likewise, and its unit, label, and a thread of its process + 1 (0: none);
 *                       they have no text, but a value: zigzag of what was added to the one before
 *     totals.*          of a cut tree, for each event and function: function, self, total
 *     branches          JSON: a report of branches, as `perfile report --format json` has it
 *     memory            the same of memory accesses: --sort mem,symbol,srcline,weight_class,weight1
 *     code              JSON: see code.c
 * A comparison of several recordings has "verdicts": two texts with a letter for each function of the set, itself and
 * with callees: u, s, m, l, or - for none. A page that is compared with another recording has before.stacks,
 * before.threads, before.samples, before.intervals, before.marks, before.losses and before.lanes of that, too, and
 * "beforeTimes": its functions follow the others, its times are its own.
 */
#include "output/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/label.h"
#include "analysis/name_short.h"
#include "analysis/profile/walk.h"
#include "output/flame/cut.h"
#include "output/flame/page.h"
#include "output/flame/times.h"
#include "output/gzip_parts.h"

extern const char pf_embedded_html[]; /* made by tools/embed.c */
extern const char pf_embedded_css[];
extern const char pf_embedded_js[];
extern const char pf_embedded_style[]; /* of pictures that the page saves: svg.c has them, too */
extern const char pf_embedded_script[];

enum {
    MAX_NODES = 4000000, /* what a browser takes in some seconds */
    PIECES = 2000,       /* of time, when samples are joined */
    COARSER = 4,
    SMALLEST = 1000,      /* nodes that a cut leaves */
    MAX_CUTS = 4,         /* each is a better guess */
    QUARTERS = 4,         /* of the page */
    THINNER = 4,          /* times fewer times off CPU */
    PIECE_BYTES = 3 << 14 /* digits of base64 stand for three */
};

/* Frame of a node that stands for what was cut, and what all samples of an event weigh together. */
#define LIGHTER UINT32_MAX
#define SHARES ((uint64_t)1 << 40)

struct string {
    const char *text;
    size_t position; /* 3 * frame + 0 name, 1 module, 2 file; after all frames the threads */
};

/* Of what is packed. But for the last one they are full. */
struct piece {
    struct piece *next;
    size_t used;
    uint8_t data[PIECE_BYTES];
};

/* What is packed; where a part of it ends is seen before it is deflated. */
struct pack {
    const struct perfile_allocator *allocator;
    struct pf_gzip_parts *gzip;
    struct pf_text text; /* on its way to gzip */
    uint64_t fed;        /* to gzip */
    struct pf_text parts;
    struct piece *first, *last; /* what gzip wrote */
    size_t bytes;
    uint64_t part; /* where the part at work begins */
    uint64_t stack_bytes, wait_bytes;
    const char *prefix; /* of names of parts: "", "before." */
};

/* What a function weighs in all of the tree; recursion counts once. */
struct sums {
    uint64_t self, total;
};

struct writer {
    const struct pf_flame_set *set, *before;
    const struct pf_html_options *options;
    size_t frame_count; /* with those of what it is compared with */
    size_t thread_count;
    struct pf_text *text;
    struct pf_text scratch;
    struct pf_text shorter;
    struct pf_arena labels;
    struct string *strings;
    size_t string_count;
    uint32_t *string_of; /* by the position of the string */
    struct pack pack;
    struct sums *sums; /* of a cut page: by event and frame */
    uint64_t cut_count;
    double cut_share;
    unsigned cuts;
    uint64_t pieces; /* of time that are left, when samples are joined */
    bool joined;
};

static size_t max_nodes(const struct pf_html_options *options)
{
    return options->max_nodes ? options->max_nodes : MAX_NODES;
}

/* ---- packing ---- */

static int give(void *context, const void *data, size_t bytes)
{
    struct pack *pack = context;
    pack->fed += bytes;
    return pf_gzip_parts_write(pack->gzip, data, bytes);
}

/*
 * Returns the piece to write to. There are many small pieces, since one that grows is copied, and leaves holes in
 * memory.
 */
static struct piece *growing_piece(struct pack *pack)
{
    struct piece *last = pack->last;
    if (last && last->used < PIECE_BYTES)
        return last;
    struct piece *piece = pf_resize(pack->allocator, NULL, 0, sizeof(*piece));
    if (!piece)
        return NULL;
    piece->next = NULL;
    piece->used = 0;
    *(last ? &last->next : &pack->first) = piece;
    return pack->last = piece;
}

static int keep(void *context, const void *data, size_t bytes)
{
    struct pack *pack = context;
    const uint8_t *from = data;
    while (bytes) {
        struct piece *piece = growing_piece(pack);
        if (!piece)
            return -1;
        const size_t now = pf_min(bytes, PIECE_BYTES - piece->used);
        memcpy(piece->data + piece->used, from, now);
        piece->used += now;
        pack->bytes += now;
        from += now;
        bytes -= now;
    }
    return 0;
}

static void close_pack(struct pack *pack)
{
    pf_gzip_parts_close(pack->gzip);
    while (pack->first) {
        struct piece *piece = pack->first;
        pack->first = piece->next;
        pf_free(pack->allocator, piece, sizeof(*piece));
    }
    if (pack->text.allocator)
        pf_text_close(&pack->text);
    if (pack->parts.allocator)
        pf_text_close(&pack->parts);
    *pack = (struct pack){0};
}

static int open_pack(struct pack *pack, const struct perfile_allocator *allocator, unsigned threads)
{
    const struct perfile_sink sink = {pack, keep};
    *pack = (struct pack){.allocator = allocator, .prefix = ""};
    int result = pf_gzip_parts_open(&pack->gzip, allocator, &sink, threads);
    if (result == 0)
        result = pf_text_open(&pack->text, allocator, give, pack);
    if (result == 0)
        result = pf_text_open(&pack->parts, allocator, NULL, NULL);
    return result;
}

static uint64_t packed_so_far(const struct pack *pack)
{
    return pack->fed + pack->text.used;
}

static void end_part(struct pack *pack, const char *name, uint64_t count)
{
    const uint64_t end = packed_so_far(pack);
    pf_put_format(&pack->parts, "%s[\"%s%s\",%llu,%llu]", pack->parts.used ? "," : "", pack->prefix, name,
                  (unsigned long long)(end - pack->part), (unsigned long long)count);
    pack->part = end;
}

static void put_number(struct pack *pack, uint64_t value)
{
    char *at = pf_text_reserve(&pack->text, PF_LEB128_BYTES);
    pf_text_commit(&pack->text, (char *)pf_leb128_put((uint8_t *)at, value));
}

/* What comes next. */
static void expect(struct pack *pack, enum pf_gzip_kind kind)
{
    if (pf_text_flush(&pack->text) == 0 && pf_gzip_parts_expect(pack->gzip, kind) != 0)
        pack->text.failed = PERFILE_ERROR_MEMORY;
}

static void put_numbers(struct pack *pack, const struct pf_numbers *numbers)
{
    struct pf_numbers_reading reading = {0};
    for (size_t i = 0; i < numbers->count; i++)
        put_number(pack, pf_numbers_get(numbers, &reading));
}

/* ---- strings ---- */

/* JSON inside HTML: no '<', so that no name can end the script or begin a comment. */
static void put_string(struct writer *w, const char *string)
{
    w->scratch.used = 0;
    pf_put_json_string(&w->scratch, string, strlen(string));
    const char *from = w->scratch.data, *end = w->scratch.failed ? from : from + w->scratch.used;
    for (const char *mark; (mark = memchr(from, '<', (size_t)(end - from))); from = mark + 1) {
        pf_put(w->text, from, (size_t)(mark - from));
        pf_put_string(w->text, "\\u003c");
    }
    pf_put(w->text, from, (size_t)(end - from));
}

static void put_member(struct writer *w, const char *name, const char *value)
{
    pf_put_format(w->text, ",\n\"%s\":", name);
    put_string(w, value ? value : "");
}

static int compare_strings(const void *left, const void *right)
{
    const struct string *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

static const struct pf_flame_frame *frame_at(const struct writer *w, size_t i)
{
    const size_t mine = w->set->frame_count;
    return i < mine ? &w->set->frames[i] : &w->before->frames[i - mine];
}

static const struct pf_flame_frame *thread_at(const struct writer *w, size_t i)
{
    const size_t mine = w->set->thread_count;
    return i < mine ? &w->set->threads[i] : &w->before->threads[i - mine];
}

static size_t gather_strings(struct writer *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->frame_count; i++) {
        const struct pf_flame_frame *frame = frame_at(w, i);
        const char *texts[] = {frame->name ? frame->name : "", frame->module, frame->file};
        for (size_t k = 0; k < 3; k++)
            if (texts[k])
                w->strings[count++] = (struct string){texts[k], 3 * i + k};
    }
    for (size_t i = 0; i < w->thread_count; i++) {
        const char *name = thread_at(w, i)->name;
        w->strings[count++] = (struct string){name ? name : "", 3 * w->frame_count + i};
    }
    return count;
}

/* Sorts the strings, and puts their numbers + 1 in string_of; 0: there is no string. */
static void number_strings(struct writer *w)
{
    const size_t count = w->string_count = gather_strings(w);
    uint32_t number = 0;
    if (count)
        qsort(w->strings, count, sizeof(*w->strings), compare_strings);
    for (size_t i = 0; i < count; i++) {
        number += i == 0 || strcmp(w->strings[i - 1].text, w->strings[i].text) != 0;
        w->string_of[w->strings[i].position] = number;
    }
}

/* Each string once. */
static void put_strings(struct writer *w)
{
    uint32_t last = 0;
    for (size_t i = 0; i < w->string_count; i++) {
        const uint32_t number = w->string_of[w->strings[i].position];
        if (number == last)
            continue;
        pf_put_string(&w->pack.text, last ? ",\n" : "[");
        pf_put_json_string(&w->pack.text, w->strings[i].text, strlen(w->strings[i].text));
        last = number;
    }
    pf_put_string(&w->pack.text, last ? "]" : "[]");
    end_part(&w->pack, "strings", last);
}

/* What a string has in the other forms; NULL: the same. */
typedef const char *other_name(struct writer *w, const struct string *string);

/* The name in folded stacks and SVG. */
static const char *label_of(struct writer *w, const struct string *string)
{
    const struct pf_flame_frame *frame = frame_at(w, string->position / 3);
    if (frame->kind >= PF_FLAME_THREAD || !pf_label_is_named(string->text))
        return NULL;
    const char *label = pf_label_of_frame(&w->labels, string->text, NULL, frame->kind == PF_FLAME_JIT);
    if (!label)
        w->shorter.failed = PERFILE_ERROR_MEMORY;
    return label && strcmp(label, string->text) != 0 ? label : NULL;
}

/* The label with short spellings of known types. */
static const char *short_of(struct writer *w, const struct string *string)
{
    const char *label = label_of(w, string), *name = label ? label : string->text;
    const size_t bytes = strlen(name);
    w->shorter.used = 0;
    if (!strchr(name, '<') && !strstr(name, "::_") && !strchr(name, '['))
        return NULL;
    pf_put(&w->shorter, name, bytes + 1); /* the shortened name is not longer */
    if (w->shorter.failed || pf_name_shorten(name, bytes, w->shorter.data) == bytes)
        return NULL;
    return w->shorter.data;
}

/* Pairs of the number of a name, and the other one. */
static void put_other_names(struct writer *w, const char *part, other_name *other)
{
    uint32_t last = UINT32_MAX, count = 0;
    pf_put_char(&w->pack.text, '[');
    for (size_t i = 0; i < w->string_count; i++) {
        const struct string *string = &w->strings[i];
        const uint32_t number = w->string_of[string->position] - 1;
        const bool is_name = string->position < 3 * w->frame_count && string->position % 3 == 0;
        const char *name = is_name && number != last ? other(w, string) : NULL;
        if (!name)
            continue;
        pf_put_format(&w->pack.text, "%s%" PRIu32 ",", count++ ? "," : "", number);
        pf_put_json_string(&w->pack.text, name, strlen(name));
        last = number;
    }
    pf_put_char(&w->pack.text, ']');
    end_part(&w->pack, part, count);
}

/* ---- columns ---- */

static uint64_t name_of(const struct writer *w, size_t i)
{
    return w->string_of[3 * i] - 1;
}

static uint64_t module_of(const struct writer *w, size_t i)
{
    return w->string_of[3 * i + 1];
}

static uint64_t file_of(const struct writer *w, size_t i)
{
    return w->string_of[3 * i + 2];
}

static uint64_t line_of(const struct writer *w, size_t i)
{
    return frame_at(w, i)->line;
}

static uint64_t kind_of(const struct writer *w, size_t i)
{
    return frame_at(w, i)->kind;
}

static void put_functions(struct writer *w)
{
    static const struct {
        const char *name;
        uint64_t (*get)(const struct writer *w, size_t i);
    } columns[] = {{"functions.name", name_of},
                   {"functions.module", module_of},
                   {"functions.file", file_of},
                   {"functions.line", line_of},
                   {"functions.kind", kind_of}};
    for (size_t k = 0; k < PF_COUNT(columns); k++) {
        for (size_t i = 0; i < w->frame_count; i++)
            put_number(&w->pack, columns[k].get(w, i));
        end_part(&w->pack, columns[k].name, w->frame_count);
    }
}

static void put_threads(struct writer *w, const struct pf_flame_set *set)
{
    const size_t first = set == w->set ? 0 : w->set->thread_count;
    for (size_t i = 0; i < set->thread_count; i++)
        put_number(&w->pack, set->threads[i].pid);
    end_part(&w->pack, "threads.pid", set->thread_count);
    for (size_t i = 0; i < set->thread_count; i++)
        put_number(&w->pack, set->threads[i].tid);
    end_part(&w->pack, "threads.tid", set->thread_count);
    for (size_t i = 0; i < set->thread_count; i++)
        put_number(&w->pack, w->string_of[3 * w->frame_count + first + i] - 1);
    end_part(&w->pack, "threads.comm", set->thread_count);
}

static void put_stacks(struct writer *w, const struct pf_flame_set *set)
{
    const struct pf_tree *tree = &set->page->tree;
    const size_t first = set == w->set ? 0 : w->set->frame_count;
    const uint64_t before = packed_so_far(&w->pack);
    for (size_t i = 1; i < tree->count; i++)
        put_number(&w->pack, i - tree->nodes[i].parent);
    end_part(&w->pack, "stacks.parent", tree->count - 1);
    for (size_t i = 1; i < tree->count; i++)
        put_number(&w->pack, tree->nodes[i].frame == LIGHTER ? w->frame_count : tree->nodes[i].frame + first);
    end_part(&w->pack, "stacks.fn", tree->count - 1);
    w->pack.stack_bytes += packed_so_far(&w->pack) - before;
}

static void put_samples(struct writer *w, const struct pf_flame_set *set)
{
    static const char *const names[PF_PAGE_COLUMNS] = {
        [PF_PAGE_TIME] = "samples.time",   [PF_PAGE_STACK] = "samples.stack", [PF_PAGE_THREAD] = "samples.thread",
        [PF_PAGE_CPU] = "samples.cpu",     [PF_PAGE_EVENT] = "samples.event", [PF_PAGE_WEIGHT] = "samples.weight",
        [PF_PAGE_COUNT] = "samples.count", [PF_PAGE_CODE] = "samples.code",   [PF_PAGE_OFFSET] = "samples.offset",
    };
    /* Joined rows of a piece of time are in no order. */
    const struct pf_page_rows *rows = &set->page->rows;
    for (unsigned i = 0; i < PF_PAGE_COLUMNS; i++) {
        const bool noise = set->page->fold.width_ns && (i == PF_PAGE_STACK || i == PF_PAGE_COUNT);
        expect(&w->pack, noise ? PF_GZIP_NOISE : PF_GZIP_NUMBERS);
        put_numbers(&w->pack, &rows->columns[i]);
        end_part(&w->pack, names[i], rows->columns[i].count);
    }
    expect(&w->pack, PF_GZIP_NUMBERS);
}

/* Times are steps from the one before, from the begin of the page on. */
static void put_step(struct pack *pack, uint64_t *last, uint64_t now)
{
    const uint64_t step = now - *last;
    put_number(pack, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
    *last = now;
}

static void put_waits(struct writer *w, const struct pf_flame_times *times, uint64_t first)
{
    enum { THREAD, TO, LENGTH, STATE, WAKER, STACK, COLUMNS };
    static const char *const names[] = {
        [THREAD] = "intervals.thread", [TO] = "intervals.to",       [LENGTH] = "intervals.length",
        [STATE] = "intervals.state",   [WAKER] = "intervals.waker", [STACK] = "intervals.stack"};
    const uint64_t begin = packed_so_far(&w->pack);
    for (unsigned k = 0; times->wait_count && k < COLUMNS; k++) {
        uint64_t time = first, stack = 0;
        for (size_t i = 0; i < times->wait_count; i++) {
            const struct pf_wait *wait = &times->waits[i];
            const uint64_t values[] = {[THREAD] = wait->thread,
                                       [LENGTH] = wait->to - wait->from,
                                       [STATE] = wait->state,
                                       [WAKER] = wait->waker == PF_PAGE_NONE ? 0 : wait->waker + 1ull};
            if (k == TO)
                put_step(&w->pack, &time, wait->to);
            else if (k == STACK)
                put_step(&w->pack, &stack, wait->stack);
            else
                put_number(&w->pack, values[k]);
        }
        end_part(&w->pack, names[k], times->wait_count);
    }
    w->pack.wait_bytes += packed_so_far(&w->pack) - begin;
}

static void put_marks(struct writer *w, const struct pf_flame_times *times, uint64_t first)
{
    static const char *const names[] = {"marks.time", "marks.thread", "marks.kind", "marks.value"};
    for (unsigned k = 0; times->mark_count && k < PF_COUNT(names); k++) {
        uint64_t time = first;
        for (size_t i = 0; i < times->mark_count; i++) {
            const struct pf_mark *mark = &times->marks[i];
            const uint64_t values[] = {0, mark->thread, mark->kind, mark->value};
            if (k == 0)
                put_step(&w->pack, &time, mark->time);
            else
                put_number(&w->pack, values[k]);
        }
        end_part(&w->pack, names[k], times->mark_count);
    }
}

static void put_losses(struct writer *w, const struct pf_flame_times *times, uint64_t first)
{
    uint64_t time = first;
    if (!times->loss_count)
        return;
    for (size_t i = 0; i < times->loss_count; i++)
        put_step(&w->pack, &time, times->losses[i].time);
    end_part(&w->pack, "losses.time", times->loss_count);
    for (size_t i = 0; i < times->loss_count; i++)
        put_number(&w->pack, times->losses[i].count);
    end_part(&w->pack, "losses.count", times->loss_count);
}

/* When the first piece begins and how long each is, then the thousandfold of the threads that ran in each. */
static void put_parallel(struct writer *w, const struct pf_flame_parallel *parallel, uint64_t first)
{
    if (!parallel->width || !parallel->count)
        return;
    put_step(&w->pack, &first, parallel->from);
    put_number(&w->pack, parallel->width);
    for (size_t i = 0; i < parallel->count; i++)
        put_number(&w->pack, pf_flame_parallel_at(parallel, i));
    end_part(&w->pack, "parallelism", parallel->count + 2);
}

/* Of a lane: the event, one of how many points is there, how many were recorded, and how many follow. */
static void put_lane(struct writer *w, const struct pf_lane *lane)
{
    struct pf_text *text = &w->pack.text;
    pf_put_json_string(text, lane->event->name, strlen(lane->event->name));
    pf_put_format(text, ",%" PRIu64 ",%" PRIu64 ",%zu", lane->stride, lane->seen, lane->count);
    if (!lane->counter)
        return;
    pf_put_format(text, ",\"%s\",\"%s\",%" PRIu64, pf_lane_unit(lane), lane->label,
                  lane->owner_thread == PF_PAGE_NONE ? 0 : (uint64_t)lane->owner_thread + 1);
}

static size_t put_lane_names(struct writer *w, const struct pf_flame_lanes *lanes, size_t *points)
{
    size_t count = 0;
    for (unsigned kind = 0; kind < PF_LANE_KINDS; kind++)
        for (size_t i = 0; i < lanes->lists[kind].count; i++) {
            const struct pf_lane *lane = &lanes->lists[kind].lanes[i];
            if (!lane->count)
                continue;
            pf_put_string(&w->pack.text, count++ ? ",[" : "[[");
            put_lane(w, lane);
            pf_put_char(&w->pack.text, ']');
            points[kind] += lane->count;
        }
    if (count) {
        pf_put_char(&w->pack.text, ']');
        end_part(&w->pack, "lanes", 1);
    }
    return count;
}

enum lane_part { LANE_TIME, LANE_THREAD, LANE_TEXT, LANE_VALUE, LANE_PARTS };

static void put_point(struct writer *w, const struct pf_lane_point *point, enum lane_part part, uint64_t *last)
{
    if (part == LANE_TIME)
        put_step(&w->pack, last, point->time);
    else if (part == LANE_THREAD)
        put_number(&w->pack, point->thread);
    else if (part == LANE_VALUE)
        put_step(&w->pack, last, (uint64_t)point->value);
    else
        pf_put_json_string(&w->pack.text, point->text, strlen(point->text));
}

static void put_lane_part(struct writer *w, const struct pf_lane_list *list, enum lane_part part, uint64_t *last)
{
    for (size_t i = 0, put = 0; i < list->count; i++)
        for (size_t k = 0; k < list->lanes[i].count; k++) {
            if (part == LANE_TEXT)
                pf_put_char(&w->pack.text, put++ ? ',' : '[');
            put_point(w, &list->lanes[i].points[k], part, last);
        }
    if (part == LANE_TEXT)
        pf_put_char(&w->pack.text, ']');
}

static void put_lanes(struct writer *w, const struct pf_flame_lanes *lanes, uint64_t first)
{
    static const struct {
        const char *name;
        bool has[PF_LANE_KINDS];
    } parts[LANE_PARTS] = {[LANE_TIME] = {"lanes.time", {true, true}},
                           [LANE_THREAD] = {"lanes.thread", {true, true}},
                           [LANE_TEXT] = {"lanes.text", {true, false}},
                           [LANE_VALUE] = {"lanes.value", {false, true}}};
    size_t points[PF_LANE_KINDS] = {0};
    if (!put_lane_names(w, lanes, points))
        return;
    for (unsigned part = 0; part < LANE_PARTS; part++) {
        uint64_t last = part == LANE_TIME ? first : 0;
        size_t count = 0;
        for (unsigned kind = 0; kind < PF_LANE_KINDS; kind++) {
            if (!parts[part].has[kind] || !points[kind])
                continue;
            put_lane_part(w, &lanes->lists[kind], part, &last);
            count += points[kind];
        }
        if (count)
            end_part(&w->pack, parts[part].name, count);
    }
}

static void put_over_time(struct writer *w, const struct pf_flame_set *set)
{
    if (!set->times || set->page->timeless)
        return;
    put_waits(w, set->times, set->page->first);
    put_marks(w, set->times, set->page->first);
    put_losses(w, set->times, set->page->first);
    put_parallel(w, &set->times->parallel, set->page->first);
    put_lanes(w, &set->times->lanes, set->page->first);
}

static void put_recording(struct writer *w, const struct pf_flame_set *set)
{
    put_threads(w, set);
    put_stacks(w, set);
    put_samples(w, set);
}

/* ---- too many stacks ---- */

struct same {
    uint64_t key; /* string of the name, string of the module */
    uint32_t frame;
};

static int compare_same(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->frame > b->frame) - (a->frame < b->frame);
}

/* What has no symbol is called as its module. */
static uint64_t same_key(const struct writer *w, size_t i)
{
    const char *name = w->set->frames[i].name;
    const bool named = name && *name && strcmp(name, "[unknown]") != 0;
    return (uint64_t)(named ? w->string_of[3 * i] : 0) << 32 | w->string_of[3 * i + 1];
}

/*
 * Finds for each frame the first one of the same function: the page does not distinguish frames of the same name and
 * module.
 */
static bool find_same(const struct writer *w, size_t count, uint32_t *same)
{
    struct same *list = pf_new(w->text->allocator, (count + 1) * sizeof(*list));
    for (size_t i = 0; list && i < count; i++)
        list[i] = (struct same){same_key(w, i), (uint32_t)i};
    if (list)
        qsort(list, count, sizeof(*list), compare_same);
    for (size_t i = 0; list && i < count; i++)
        same[list[i].frame] = i && list[i].key == list[i - 1].key ? same[list[i - 1].frame] : list[i].frame;
    pf_free(w->text->allocator, list, (count + 1) * sizeof(*list));
    return list;
}

/* The nodes of the page's tree weigh what the samples of the event do; all events: shares of theirs. */
static bool weigh_tree(struct pf_page *page, uint32_t event, bool all)
{
    struct pf_page_reading reading = {0};
    struct pf_page_row row;
    for (size_t i = 0; i < page->tree.count; i++)
        page->tree.nodes[i].self = 0;
    while (pf_page_next(page, &reading, &row))
        if (all)
            page->tree.nodes[row.stack].self +=
                1 + (uint64_t)((double)SHARES * (double)row.weight / (double)pf_max(page->totals[row.event], 1));
        else if (row.event == event)
            page->tree.nodes[row.stack].self += row.weight;
    return pf_tree_sum(&page->tree);
}

/* NULL: out of memory. By node of the page's tree but the root a bit, for pf_free. */
static uint64_t *find_outermost(const struct writer *w, const uint32_t *same, size_t bytes)
{
    const struct pf_tree *tree = &w->set->page->tree;
    struct pf_tree_link *links = pf_new(w->text->allocator, tree->count * sizeof(*links));
    const struct pf_walk_tree walked = {links, tree->count - 1};
    const struct pf_walk_groups groups = {same, w->set->frame_count};
    uint64_t *outermost = links ? pf_new(w->text->allocator, bytes) : NULL;
    for (size_t i = 1; outermost && i < tree->count; i++)
        links[i - 1] = (struct pf_tree_link){tree->nodes[i].parent ? tree->nodes[i].parent - 1 : PF_WALK_ROOT,
                                             tree->nodes[i].frame};
    const bool fine = outermost && pf_walk_outermost(w->text->allocator, &walked, &groups, outermost);
    pf_free(w->text->allocator, links, tree->count * sizeof(*links));
    if (!fine)
        pf_free(w->text->allocator, outermost, bytes);
    return fine ? outermost : NULL;
}

static void add_sums(const struct pf_tree *tree, const uint32_t *same, const uint64_t *outermost, struct sums *sums)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        struct sums *of = &sums[same[tree->nodes[i].frame]];
        of->self += tree->nodes[i].self;
        of->total += pf_walk_is_outermost(outermost, i - 1) ? tree->totals[i] : 0;
    }
}

static bool sum_functions(struct writer *w)
{
    const struct perfile_allocator *allocator = w->text->allocator;
    const size_t count = w->set->frame_count, events = w->set->event_count;
    const size_t bytes = (w->set->page->tree.count / 64 + 1) * sizeof(uint64_t);
    uint32_t *same = pf_new(allocator, (count + 1) * sizeof(*same));
    uint64_t *outermost = same && find_same(w, count, same) ? find_outermost(w, same, bytes) : NULL;
    w->sums = pf_new(allocator, (events * count + 1) * sizeof(*w->sums));
    bool fine = outermost && w->sums;
    for (uint32_t i = 0; fine && i < events; i++) {
        fine = weigh_tree(w->set->page, i, false);
        if (fine)
            add_sums(&w->set->page->tree, same, outermost, w->sums + i * count);
    }
    pf_free(allocator, outermost, bytes);
    pf_free(allocator, same, (count + 1) * sizeof(*same));
    return fine;
}

static void put_sums(struct writer *w)
{
    static const char *const names[] = {"totals.event", "totals.fn", "totals.self", "totals.total"};
    const size_t count = w->set->frame_count, events = w->sums ? w->set->event_count : 0;
    for (unsigned k = 0; k < PF_COUNT(names); k++) {
        uint64_t rows = 0;
        for (size_t i = 0; i < events * count; i++) {
            const uint64_t values[] = {i / count, i % count, w->sums[i].self, w->sums[i].total};
            if (!w->sums[i].total)
                continue;
            put_number(&w->pack, values[k]);
            rows++;
        }
        end_part(&w->pack, names[k], rows);
    }
}

/* The tree becomes that of what is kept, with a node for what each caller lost. Fills node_of, by old node. */
static bool replace_nodes(struct pf_tree *tree, const struct pf_flame_cut *cut, uint32_t *node_of, uint32_t *lighter)
{
    struct pf_tree_node *nodes = NULL;
    size_t capacity = 0, count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const uint32_t parent = tree->nodes[i].parent;
        if (!cut->kept[i]) {
            node_of[i] = lighter[i] = lighter[parent];
            continue;
        }
        if (!pf_grow(tree->allocator, &nodes, &capacity, count + 2, sizeof(*nodes))) {
            pf_free(tree->allocator, nodes, capacity * sizeof(*nodes));
            return false;
        }
        node_of[i] = (uint32_t)count;
        nodes[count++] = (struct pf_tree_node){.parent = i ? node_of[parent] : 0, .frame = tree->nodes[i].frame};
        lighter[i] = (uint32_t)count;
        if (cut->lighter[i])
            nodes[count++] = (struct pf_tree_node){.parent = node_of[i], .frame = LIGHTER};
    }
    pf_free(tree->allocator, tree->nodes, tree->capacity * sizeof(*nodes));
    tree->nodes = nodes;
    tree->capacity = capacity;
    tree->count = count;
    return true;
}

/* Of an earlier cut, what is kept. */
static uint64_t lighter_weight(const struct pf_tree *tree, const bool *kept)
{
    uint64_t weight = 0;
    for (size_t i = 0; kept && i < tree->count; i++)
        weight += kept[i] && tree->nodes[i].frame == LIGHTER ? tree->totals[i] : 0;
    return weight;
}

static bool cut_stacks(struct writer *w, const struct pf_flame_set *set, size_t max)
{
    const struct perfile_allocator *allocator = w->text->allocator;
    struct pf_page *page = set->page;
    const size_t count = page->tree.count;
    uint32_t *node_of = pf_new(allocator, 2 * count * sizeof(*node_of));
    struct pf_flame_cut cut;
    if (!node_of || !weigh_tree(page, 0, true)) {
        pf_free(allocator, node_of, 2 * count * sizeof(*node_of));
        return false;
    }
    bool fine = pf_flame_cut_open(&cut, allocator, &page->tree, max) == 0;
    const uint64_t total = page->tree.totals[0], light = lighter_weight(&page->tree, cut.kept);
    if (fine)
        fine = replace_nodes(&page->tree, &cut, node_of, node_of + count);
    if (fine && set == w->set) {
        w->cut_count += cut.cut_count;
        w->cut_share = total ? (double)(cut.cut_weight + light) / (double)total : 0;
    }
    pf_free(allocator, cut.kept, count * sizeof(*cut.kept));
    pf_free(allocator, cut.lighter, count * sizeof(*cut.lighter));
    fine = fine && pf_page_join(page, w->pieces, node_of);
    struct pf_flame_times *times = set->times;
    for (size_t i = 0; fine && times && i < times->wait_count; i++)
        times->waits[i].stack = node_of[times->waits[i].stack];
    pf_free(allocator, node_of, 2 * count * sizeof(*node_of));
    return fine;
}

static bool cut_all(struct writer *w, size_t max)
{
    if (!w->before && !w->sums && !sum_functions(w))
        return false;
    w->joined = true;
    return (w->set->page->tree.count <= max || cut_stacks(w, w->set, max)) &&
           (!w->before || w->before->page->tree.count <= max || cut_stacks(w, w->before, max));
}

/* As many of the longest times off CPU, and on both sides of a comparison those of the same lengths. */
static void thin_waits(struct writer *w, size_t divisor)
{
    struct pf_flame_times *sides[] = {w->set->times, w->before ? w->before->times : NULL};
    uint64_t min_ns = 0;
    for (size_t i = 0; i < PF_COUNT(sides); i++)
        if (sides[i]) {
            pf_flame_times_thin(sides[i], sides[i]->wait_count / divisor);
            min_ns = pf_max(min_ns, sides[i]->min_ns);
        }
    for (size_t i = 0; i < PF_COUNT(sides); i++)
        if (sides[i])
            pf_flame_times_leave(sides[i], min_ns);
}

/* Where there are no times, nothing has its own. */
static bool join_all(struct writer *w)
{
    w->joined = true;
    if (!w->pieces)
        thin_waits(w, SIZE_MAX);
    return pf_page_join(w->set->page, w->pieces, NULL) &&
           (!w->before || pf_page_join(w->before->page, w->pieces, NULL));
}

/* ---- all parts ---- */

static int pack_all(struct writer *w)
{
    close_pack(&w->pack);
    int result = open_pack(&w->pack, w->text->allocator, w->options->threads);
    if (result != 0)
        return result;
    put_strings(w);
    put_other_names(w, "labels", label_of);
    put_other_names(w, "short", short_of);
    expect(&w->pack, PF_GZIP_NUMBERS);
    put_functions(w);
    put_recording(w, w->set);
    put_over_time(w, w->set);
    put_sums(w);
    if (w->options->branches) {
        pf_put_through(&w->pack.text, w->options->branches, w->options->branch_bytes);
        end_part(&w->pack, "branches", 1);
    }
    if (w->options->memory) {
        pf_put_through(&w->pack.text, w->options->memory, w->options->memory_bytes);
        end_part(&w->pack, "memory", 1);
    }
    if (w->options->code) {
        pf_put_through(&w->pack.text, w->options->code, w->options->code_bytes);
        end_part(&w->pack, "code", 1);
    }
    if (w->before) {
        w->pack.prefix = "before.";
        put_recording(w, w->before);
        put_over_time(w, w->before);
    }
    pf_text_flush(&w->pack.text);
    if (w->pack.text.failed || w->pack.parts.failed || pf_gzip_parts_finish(w->pack.gzip) != 0)
        return PERFILE_ERROR_MEMORY;
    return 0;
}

static bool is_too_large(const struct writer *w)
{
    return w->options->page_bytes && w->pack.bytes / 3 * 4 > w->options->page_bytes;
}

/* Returns the number of nodes that fit into half of the page, by the sizes of the last attempt. */
static size_t fitting_nodes(const struct writer *w)
{
    const double share = (double)w->pack.stack_bytes / (double)pf_max(packed_so_far(&w->pack), 1);
    const double bytes = (double)w->pack.bytes * 4 / 3 * share;
    const double half = (double)w->options->page_bytes / 2;
    return bytes > half ? (size_t)((double)w->set->page->tree.count * half / bytes) + SMALLEST : SIZE_MAX;
}

/* Times off CPU may have a quarter of the page; where they are what it is about, three. */
static bool has_many_waits(const struct writer *w)
{
    const uint64_t quarters = w->options->measure ? QUARTERS - 1 : 1;
    return w->pack.wait_bytes > packed_so_far(&w->pack) / QUARTERS * quarters;
}

/* One thing after another is given up: short times off CPU, points of time, light stacks, pieces of time. */
static int pack_less(struct writer *w)
{
    bool fine = true;
    int result = 0;
    if (has_many_waits(w))
        thin_waits(w, THINNER);
    else if (!w->joined)
        fine = join_all(w);
    else if (w->cuts++ < MAX_CUTS && fitting_nodes(w) < w->set->page->tree.count)
        fine = cut_all(w, fitting_nodes(w));
    else {
        w->pieces /= COARSER;
        fine = join_all(w);
    }
    if (fine)
        result = pack_all(w);
    return fine ? result : PERFILE_ERROR_MEMORY;
}

static int pack_what_fits(struct writer *w)
{
    w->pieces = PIECES;
    w->joined = w->set->page->fold.width_ns != 0;
    thin_waits(w, 1);
    if (w->set->page->tree.count > max_nodes(w->options) && !cut_all(w, max_nodes(w->options)))
        return PERFILE_ERROR_MEMORY;
    int result = pack_all(w);
    while (result == 0 && is_too_large(w) && w->pieces)
        result = pack_less(w);
    return result;
}

static void put_base64(struct pf_text *text, const uint8_t *data, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        const uint32_t second = i + 1 < bytes ? data[i + 1] : 0, third = i + 2 < bytes ? data[i + 2] : 0;
        const uint32_t bits = (uint32_t)data[i] << 16 | second << 8 | third;
        char *at = pf_text_reserve(text, 4);
        for (unsigned k = 0; k < 4; k++)
            at[k] = i + k <= bytes ? digits[bits >> (18 - 6 * k) & 63] : '=';
        pf_text_commit(text, at + 4);
    }
}

/* ---- the little that is JSON ---- */

static void put_events(struct writer *w)
{
    pf_put_string(w->text, ",\n\"events\":[");
    for (uint32_t i = 0; i < w->set->event_count; i++) {
        const struct pf_flame_event *event = &w->set->events[i];
        uint32_t before;
        pf_put_format(w->text, "%s\n{\"total\":%llu", i ? "," : "", (unsigned long long)event->total);
        put_member(w, "name", event->name);
        put_member(w, "unit", event->unit ? event->unit : w->set->unit);
        pf_put_string(w->text, event->lasts ? ",\"lasts\":true" : "");
        if (w->before && pf_flame_event_find(w->before, event->name, &before))
            pf_put_format(w->text, ",\"before\":%" PRIu32, before);
        pf_put_char(w->text, '}');
    }
    pf_put_char(w->text, ']');
}

/* Labels and values in turn; remarks are those with the label "". */
static void put_facts(struct writer *w)
{
    pf_put_string(w->text, ",\n\"facts\":[");
    for (size_t i = 0; i < w->set->fact_count; i++) {
        const struct pf_flame_fact *fact = &w->set->facts[i];
        pf_put_string(w->text, i ? ",\n" : "\n");
        put_string(w, fact->label ? fact->label : "");
        pf_put_char(w->text, ',');
        put_string(w, fact->value);
    }
    pf_put_char(w->text, ']');
}

static void put_verdicts(struct writer *w)
{
    if (!w->options->has_verdicts)
        return;
    for (int which = 0; which < 2; which++) {
        pf_put_string(w->text, which ? "\",\"" : ",\n\"verdicts\":[\"");
        for (size_t i = 0; i < w->set->frame_count; i++) {
            const char verdict = w->set->frames[i].verdicts[which];
            pf_put_char(w->text, verdict ? verdict : '-');
        }
    }
    pf_put_string(w->text, "\"]");
}

static bool is_timed(const struct pf_page *page)
{
    return page->first <= page->last && !page->timeless;
}

static void put_times(struct writer *w, const struct pf_flame_set *set)
{
    const struct pf_page *page = set->page;
    const bool timed = is_timed(page);
    pf_put_format(
        w->text, "\"first\":%llu,\"span\":%llu,\"origin\":%llu,\"piece\":%llu",
        (unsigned long long)(timed ? page->first : 0), (unsigned long long)(timed ? page->last - page->first : 0),
        (unsigned long long)(timed ? page->base_ns - page->first : 0), (unsigned long long)page->fold.width_ns);
    if (page->fold.width_ns && timed)
        pf_put_format(w->text, ",\"pieceFrom\":%" PRIu64, page->fold.first_ns - page->first);
    if (set->times && set->times->has_wall && timed)
        pf_put_format(w->text, ",\"wall\":%" PRIu64, page->first + set->times->wall_ahead_ns);
}

/* Puts how many of the shortest times were left out, and how long they were. */
static void put_left(struct writer *w, const struct pf_flame_set *set)
{
    const struct pf_flame_times *times = set->times;
    if (!times)
        return;
    if (times->waits_left)
        pf_put_format(w->text, ",\n\"waitsLeft\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", times->waits_left,
                      times->waits_left_ns, times->min_ns);
    if (times->marks_left)
        pf_put_format(w->text, ",\n\"marksLeft\":%" PRIu64, times->marks_left);
    if (times->lanes.events_left)
        pf_put_format(w->text, ",\n\"lanesLeft\":%" PRIu64, times->lanes.events_left);
}

static void put_all_times(struct writer *w)
{
    pf_put_string(w->text, ",\n");
    put_times(w, w->set);
    put_left(w, w->set);
    if (!w->before)
        return;
    pf_put_string(w->text, ",\n\"beforeTimes\":{");
    put_times(w, w->before);
    put_left(w, w->before);
    pf_put_char(w->text, '}');
}

/* What annotate's options say about the code that it opens with. */
static void put_opening(struct writer *w)
{
    const struct perfile_annotate_options *choice = w->options->code_choice;
    if (!choice)
        return;
    pf_put_format(w->text, ",\n\"opens\":{\"view\":\"code\",\"shares\":\"%s\"}",
                  choice->flags & PERFILE_ANNOTATE_GLOBAL ? "all" : "function");
    if (choice->flags & PERFILE_ANNOTATE_NO_SOURCE)
        pf_put_string(w->text, ",\"noSource\":true");
}

static int put_data(struct writer *w)
{
    const struct pf_flame_set *set = w->set;
    const struct pf_html_options *options = w->options;
    const int result = pack_what_fits(w);
    if (result != 0)
        return result;
    pf_put_string(w->text, "{\"version\":2");
    put_member(w, "title", set->title);
    put_member(w, "subtitle", set->subtitle);
    put_facts(w);
    pf_put_format(w->text, ",\n\"event\":%u,\"reverse\":%s,\"compares\":%s,\"normalized\":%s", set->first_event,
                  options->reverse ? "true" : "false", w->before ? "true" : "false",
                  options->before.normalized ? "true" : "false");
    put_member(w, "by", options->by ? options->by : "");
    if (options->measure)
        put_member(w, "measure", options->measure);
    if (options->samples_are_waits)
        pf_put_string(w->text, ",\n\"samplesAreWaits\":true");
    pf_put_format(w->text, ",\"quantum\":%llu", (unsigned long long)options->quantum_ns);
    put_all_times(w);
    pf_put_format(w->text, ",\n\"cutNodes\":%llu,\"cutPermille\":%u", (unsigned long long)w->cut_count,
                  (unsigned)(w->cut_share * 1000 + 0.5));
    put_opening(w);
    put_events(w);
    put_verdicts(w);
    if (options->report)
        pf_put_format(w->text, ",\n\"report\":%s", options->report);
    pf_put_format(w->text, ",\n\"parts\":[");
    pf_put(w->text, w->pack.parts.data, w->pack.parts.used);
    pf_put_string(w->text, "],\n\"packed\":\"");
    for (const struct piece *piece = w->pack.first; piece; piece = piece->next)
        put_base64(w->text, piece->data, piece->used);
    pf_put_string(w->text, "\"}");
    return w->text->failed;
}

/* ---- the page ---- */

/* The template up to a mark; what follows the mark is returned. */
static const char *put_up_to(struct pf_text *text, const char *template, const char *mark)
{
    const char *at = strstr(template, mark);
    if (!at)
        return template;
    pf_put(text, template, (size_t)(at - template));
    return at + strlen(mark);
}

static int put_page(struct writer *w)
{
    const char *rest = put_up_to(w->text, pf_embedded_html, "<!--css-->\n");
    pf_put_string(w->text, pf_embedded_css);
    rest = put_up_to(w->text, rest, "<!--style-->");
    pf_put_string(w->text, pf_embedded_style);
    rest = put_up_to(w->text, rest, "<!--data-->");
    number_strings(w);
    const int result = put_data(w);
    rest = put_up_to(w->text, rest, "<!--script-->");
    pf_put_string(w->text, pf_embedded_script);
    rest = put_up_to(w->text, rest, "<!--js-->\n");
    pf_put_string(w->text, pf_embedded_js);
    pf_put_string(w->text, rest);
    return result != 0         ? result
           : w->text->failed   ? w->text->failed
           : w->scratch.failed ? w->scratch.failed
                               : w->shorter.failed;
}

static int write_html(const struct pf_flame_set *set, const struct pf_html_options *options, struct pf_text *text)
{
    const struct perfile_allocator *allocator = text->allocator;
    const struct pf_flame_set *before = options->before.set;
    struct writer w = {.set = set,
                       .before = before,
                       .options = options,
                       .frame_count = set->frame_count + (before ? before->frame_count : 0),
                       .thread_count = set->thread_count + (before ? before->thread_count : 0),
                       .text = text};
    const size_t positions = 3 * w.frame_count + w.thread_count + 1;
    pf_arena_open(&w.labels, allocator);
    int result = pf_text_open(&w.scratch, allocator, NULL, NULL);
    if (result == 0)
        result = pf_text_open(&w.shorter, allocator, NULL, NULL);
    w.strings = pf_new(allocator, positions * sizeof(*w.strings));
    w.string_of = pf_new(allocator, positions * sizeof(*w.string_of));
    if (result == 0)
        result = w.strings && w.string_of ? put_page(&w) : PERFILE_ERROR_MEMORY;
    close_pack(&w.pack);
    pf_free(allocator, w.sums, (set->event_count * set->frame_count + 1) * sizeof(*w.sums));
    pf_free(allocator, w.string_of, positions * sizeof(*w.string_of));
    pf_free(allocator, w.strings, positions * sizeof(*w.strings));
    pf_text_close(&w.scratch);
    pf_text_close(&w.shorter);
    pf_arena_close(&w.labels);
    return result;
}

/* ---- sets that have trees ---- */

static bool add_tree(struct pf_page *page, const struct pf_tree *tree, uint32_t event)
{
    uint32_t *nodes = pf_new(page->allocator, (tree->count + 1) * sizeof(*nodes));
    bool fine = nodes;
    for (size_t i = 1; fine && i < tree->count; i++) {
        const struct pf_tree_node *node = &tree->nodes[i];
        nodes[i] = pf_tree_child(&page->tree, nodes[node->parent], node->frame);
        const struct pf_page_row row = {.time = PF_PAGE_NO_TIME,
                                        .weight = node->self,
                                        .count = 1,
                                        .stack = nodes[i],
                                        .cpu = PF_PAGE_NONE,
                                        .event = event};
        fine = nodes[i] && (!node->self || pf_page_add(page, &row));
    }
    pf_free(page->allocator, nodes, (tree->count + 1) * sizeof(*nodes));
    return fine;
}

/* All their samples are those of one thread, which no level shows. */
struct fed {
    struct pf_flame_set set;
    struct pf_page page;
    struct pf_flame_event *events;
};

static int open_passed(struct fed *fed, const struct pf_flame_set *set, const struct perfile_allocator *allocator)
{
    static const struct pf_flame_frame none = {.name = "", .kind = PF_FLAME_THREAD};
    int result = pf_page_open(&fed->page, allocator, SIZE_MAX);
    fed->events = pf_new(allocator, (set->event_count + 1) * sizeof(*fed->events));
    bool fine = result == 0 && fed->events;
    for (uint32_t i = 0; fine && i < set->event_count; i++) {
        fed->events[i] = set->events[i];
        fed->events[i].total = pf_max(set->events[i].total, set->events[i].tree->totals[0]);
        fine = add_tree(&fed->page, set->events[i].tree, i);
    }
    fed->set = *set;
    fed->set.events = fed->events;
    fed->set.page = &fed->page;
    fed->set.threads = &none;
    fed->set.thread_count = 1;
    return fine && pf_page_end(&fed->page) ? 0 : PERFILE_ERROR_MEMORY;
}

static void close_passed(struct fed *fed, const struct perfile_allocator *allocator)
{
    if (fed->events)
        pf_free(allocator, fed->events, (fed->set.event_count + 1) * sizeof(*fed->events));
    pf_page_close(&fed->page);
}

int pf_flame_html(const struct pf_flame_set *set, const struct pf_html_options *options, struct pf_text *text)
{
    struct fed sides[2] = {0};
    struct pf_html_options all = *options;
    int result = 0;
    if (!set->page) {
        result = open_passed(&sides[0], set, text->allocator);
        if (result == 0 && options->before.set)
            result = open_passed(&sides[1], options->before.set, text->allocator);
        all.by = "none";
        all.before.set = options->before.set ? &sides[1].set : NULL;
        set = &sides[0].set;
    }
    if (result == 0)
        result = write_html(set, &all, text);
    for (int i = 0; i < 2; i++)
        close_passed(&sides[i], text->allocator);
    return result;
}
