/* SPDX-License-Identifier: MIT */
/*
 * The page: src/output/flame/viewer with the set in it as JSON. Names are a list of strings; everything that is long is
 * base64 of LEB128 numbers:
 *     frames  string of the name, string of the module + 1, string of the file + 1, line, kind; a thread: pid + 1 and
 *             tid + 1, 0 where these are not told apart; behind the set's frames those of what it is compared with
 *     nodes   for each but the root: its number minus its parent's, frame, own weight
 *             of a cut tree there are nodes of a frame behind the last: callees too light to be in the page
 *     sums    of a cut tree, for each function of the recording: its first frame minus the one before, self, total
 *     short   number of a string and how it is drawn, for names with long spellings of known types
 *     verdicts  two texts with a letter for each frame of the set, itself and with callees: u, s, m, l, or - for none
 *     facts   labels and values in turn; "" instead of a label: a remark
 *     slices  for each bucket: count, and that often: node minus the node before (zigzag), weight
 */
#include "output/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/name_short.h"
#include "output/flame/cut.h"

extern const char pf_viewer_html[]; /* made by tools/embed.c */
extern const char pf_viewer_css[];
extern const char pf_viewer_js[];

enum { MAX_NODES = 4000000 }; /* what a browser takes in some seconds */

struct string {
    const char *text;
    size_t place; /* 3 * frame + 0 name, 1 module, 2 file */
};

struct page {
    const struct pf_flame_set *set;
    const struct pf_html_options *options;
    size_t frame_count; /* with those of what it is compared with */
    struct pf_text *text;
    struct pf_text scratch;
    struct pf_text shorter;
    struct string *strings;
    size_t string_count;
    uint32_t *string_of; /* by place */
    uint32_t *alias;     /* by frame: of equal threads the first, counted from the first frame of its recording */
    bool joins;          /* threads of one name are one, since there are too many nodes */
    uint32_t *node_of;   /* of the event at work: the number of a node in the page */
    size_t node_room;
    uint8_t bytes[3]; /* base64 that waits for more */
    unsigned byte_count;
};

static size_t most_nodes(const struct pf_html_options *options)
{
    return options->max_nodes ? options->max_nodes : MAX_NODES;
}

/* --- numbers --- */

static void put_base64(struct page *page, unsigned characters)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)page->bytes[0] << 16 | (uint32_t)page->bytes[1] << 8 | page->bytes[2];
    char *at = pf_text_reserve(page->text, 4);
    for (unsigned i = 0; i < 4; i++)
        at[i] = i < characters ? digits[bits >> (18 - 6 * i) & 63] : '=';
    pf_text_commit(page->text, at + 4);
    memset(page->bytes, 0, sizeof(page->bytes));
    page->byte_count = 0;
}

static void put_number(struct page *page, uint64_t value)
{
    do {
        page->bytes[page->byte_count++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        if (page->byte_count == 3)
            put_base64(page, 4);
        value >>= 7;
    } while (value);
}

static void begin_numbers(struct page *page, const char *name)
{
    pf_put_format(page->text, ",\n\"%s\":\"", name);
}

static void end_numbers(struct page *page)
{
    if (page->byte_count)
        put_base64(page, page->byte_count + 1);
    pf_put_char(page->text, '"');
}

/* --- strings --- */

/* JSON inside HTML: no '<', so that no name can end the script or begin a comment. */
static void put_string(struct page *page, const char *string)
{
    page->scratch.used = 0;
    pf_put_json_string(&page->scratch, string, strlen(string));
    const char *from = page->scratch.data, *end = page->scratch.failed ? from : from + page->scratch.used;
    for (const char *mark; (mark = memchr(from, '<', (size_t)(end - from))); from = mark + 1) {
        pf_put(page->text, from, (size_t)(mark - from));
        pf_put_string(page->text, "\\u003c");
    }
    pf_put(page->text, from, (size_t)(end - from));
}

static void put_member(struct page *page, const char *name, const char *value)
{
    pf_put_format(page->text, ",\n\"%s\":", name);
    put_string(page, value ? value : "");
}

static int compare_strings(const void *left, const void *right)
{
    const struct string *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static const struct pf_flame_frame *frame_at(const struct page *page, size_t i)
{
    const size_t mine = page->set->frame_count;
    return i < mine ? &page->set->frames[i] : &page->options->before.set->frames[i - mine];
}

static size_t gather_strings(struct page *page)
{
    size_t count = 0;
    for (size_t i = 0; i < page->frame_count; i++) {
        const struct pf_flame_frame *frame = frame_at(page, i);
        const char *texts[] = {frame->name ? frame->name : "", frame->module, frame->file};
        for (size_t k = 0; k < 3; k++)
            if (texts[k])
                page->strings[count++] = (struct string){texts[k], 3 * i + k};
    }
    return count;
}

/* Each string once. Fills string_of: its number + 1, 0 for none. */
static void put_strings(struct page *page)
{
    const size_t count = page->string_count = gather_strings(page);
    uint32_t number = 0;
    if (count)
        qsort(page->strings, count, sizeof(*page->strings), compare_strings);
    pf_put_string(page->text, ",\n\"strings\":[");
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(page->strings[i - 1].text, page->strings[i].text) != 0) {
            pf_put_string(page->text, number++ ? ",\n" : "\n");
            put_string(page, page->strings[i].text);
        }
        page->string_of[page->strings[i].place] = number;
    }
    pf_put_char(page->text, ']');
}

/* The name with short spellings, NULL when it has no others. */
static const char *shorten(struct page *page, const char *name)
{
    const size_t bytes = strlen(name);
    page->shorter.used = 0;
    if (!strchr(name, '<') && !strstr(name, "::_") && !strchr(name, '['))
        return NULL;
    pf_put(&page->shorter, name, bytes + 1); /* as much room is enough */
    if (page->shorter.failed || pf_name_shorten(name, bytes, page->shorter.data) == bytes)
        return NULL;
    return page->shorter.data;
}

static void put_shorts(struct page *page)
{
    uint32_t number = 0, last = UINT32_MAX;
    pf_put_string(page->text, ",\n\"short\":[");
    for (size_t i = 0; i < page->string_count; i++) {
        const struct string *string = &page->strings[i];
        number = page->string_of[string->place] - 1;
        const char *name = string->place % 3 == 0 && number != last ? shorten(page, string->text) : NULL;
        if (!name)
            continue;
        pf_put_format(page->text, "%s%" PRIu32 ",", last == UINT32_MAX ? "" : ",", number);
        put_string(page, name);
        last = number;
    }
    pf_put_char(page->text, ']');
}

static bool is_large(const struct page *page, const struct pf_flame_set *set)
{
    for (uint32_t i = 0; set && i < set->event_count; i++)
        if (set->events[i].tree->count > most_nodes(page->options))
            return true;
    return false;
}

/* Of the frames of one recording. `first` is by string. */
static void find_aliases(struct page *page, size_t start, size_t end, uint32_t *first)
{
    for (size_t i = end; i-- > start;)
        if (frame_at(page, i)->kind == PF_FLAME_THREAD)
            first[page->string_of[3 * i]] = (uint32_t)(i - start);
    for (size_t i = start; i < end; i++)
        page->alias[i] =
            frame_at(page, i)->kind == PF_FLAME_THREAD ? first[page->string_of[3 * i]] : (uint32_t)(i - start);
}

static int join_threads(struct page *page)
{
    const size_t bytes = (page->string_count + 1) * sizeof(uint32_t), mine = page->set->frame_count;
    uint32_t *first = pf_new(page->text->allocator, bytes);
    page->joins = is_large(page, page->set) || is_large(page, page->options->before.set);
    if (first) {
        find_aliases(page, 0, mine, first);
        find_aliases(page, mine, page->frame_count, first);
    }
    pf_free(page->text->allocator, first, bytes);
    return first ? 0 : PERFILE_ERROR_MEMORY;
}

static void put_frames(struct page *page)
{
    begin_numbers(page, "frames");
    for (size_t i = 0; i < page->frame_count; i++) {
        const struct pf_flame_frame *frame = frame_at(page, i);
        put_number(page, page->string_of[3 * i] - 1);
        put_number(page, page->string_of[3 * i + 1]);
        put_number(page, page->string_of[3 * i + 2]);
        put_number(page, frame->line);
        put_number(page, frame->kind);
        if (frame->kind == PF_FLAME_THREAD) {
            put_number(page, !page->joins && frame->by >= PF_FLAME_BY_PID ? frame->pid + 1ull : 0);
            put_number(page, !page->joins && frame->by >= PF_FLAME_BY_TID ? frame->tid + 1ull : 0);
        }
    }
    end_numbers(page);
}

/* --- trees --- */

/* Cut callees are a node of their own, behind the frames of the page. */
static void put_lighter(struct page *page, uint32_t *number, uint32_t parent, uint64_t weight)
{
    put_number(page, ++*number - parent);
    put_number(page, page->frame_count);
    put_number(page, weight);
}

/* Fills number_of, by node of the cut's tree; the number of nodes is returned. */
static uint32_t put_node_list(struct page *page, const struct pf_flame_cut *cut, size_t first_frame,
                              uint32_t *number_of)
{
    const struct pf_tree *tree = cut->tree;
    uint32_t *lighter = number_of + tree->count, number = 0;
    begin_numbers(page, "nodes");
    number_of[0] = 0;
    for (size_t i = 0; i < tree->count && !page->text->failed; i++) {
        const struct pf_tree_node *node = &tree->nodes[i];
        const bool kept = !cut->kept || cut->kept[i];
        if (!kept) {
            number_of[i] = lighter[i] = lighter[node->parent];
            continue;
        }
        if (i) {
            number_of[i] = ++number;
            put_number(page, number - number_of[node->parent]);
            put_number(page, node->frame + first_frame);
            put_number(page, node->self);
        }
        if (cut->kept && cut->lighter[i]) {
            put_lighter(page, &number, number_of[i], cut->lighter[i]);
            lighter[i] = number;
        }
    }
    end_numbers(page);
    return number + 1;
}

static int put_cut_nodes(struct page *page, const struct pf_flame_cut *cut, size_t given, size_t first_frame)
{
    const size_t count = cut->tree->count, bytes = (cut->kept ? 2 : 1) * count * sizeof(uint32_t);
    uint32_t *number_of = pf_new(page->text->allocator, bytes);
    if (!number_of ||
        !pf_grow(page->text->allocator, &page->node_of, &page->node_room, given, sizeof(*page->node_of))) {
        pf_free(page->text->allocator, number_of, bytes);
        return PERFILE_ERROR_MEMORY;
    }
    const uint32_t nodes = put_node_list(page, cut, first_frame, number_of);
    for (size_t i = 0; i < given; i++)
        page->node_of[i] = number_of[cut->place_of ? cut->place_of[i] : i];
    pf_put_format(page->text, ",\"own\":%llu,\"count\":%" PRIu32 ",\"cutNodes\":%llu,\"cutWeight\":%llu",
                  (unsigned long long)cut->tree->nodes[0].self, nodes, (unsigned long long)cut->cut_count,
                  (unsigned long long)cut->cut_weight);
    pf_free(page->text->allocator, number_of, bytes);
    return page->text->failed;
}

struct same {
    uint64_t key; /* string of the name, string of the module, kind */
    uint32_t frame;
};

static int compare_same(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->frame > b->frame) - (a->frame < b->frame);
}

/* Which frame each is the same function as: the page does not tell apart what has the same name, module and kind. */
static bool find_same(const struct page *page, size_t count, uint32_t *same)
{
    struct same *list = pf_new(page->text->allocator, (count + 1) * sizeof(*list));
    for (size_t i = 0; list && i < count; i++)
        list[i] = (struct same){(uint64_t)page->string_of[3 * i] << 34 | (uint64_t)page->string_of[3 * i + 1] << 4 |
                                    page->set->frames[i].kind,
                                (uint32_t)i};
    if (list)
        qsort(list, count, sizeof(*list), compare_same);
    for (size_t i = 0; list && i < count; i++)
        same[list[i].frame] = i && list[i].key == list[i - 1].key ? same[list[i - 1].frame] : list[i].frame;
    pf_free(page->text->allocator, list, (count + 1) * sizeof(*list));
    return list;
}

static void put_sum_list(struct page *page, const struct pf_flame_sums *sums, size_t count)
{
    size_t last = 0;
    begin_numbers(page, "sums");
    for (size_t i = 0; i < count; i++) {
        if (!sums[i].total)
            continue;
        put_number(page, i - last);
        put_number(page, sums[i].self);
        put_number(page, sums[i].total);
        last = i;
    }
    end_numbers(page);
}

/* What functions weigh, with the nodes that the page lacks. */
static int put_sums(struct page *page, const struct pf_tree *tree)
{
    const struct perfile_allocator *allocator = page->text->allocator;
    const size_t count = page->set->frame_count, bytes = (count + 1) * sizeof(struct pf_flame_sums);
    uint32_t *same = pf_new(allocator, (count + 1) * sizeof(*same));
    struct pf_flame_sums *sums = pf_new(allocator, bytes);
    const bool fine =
        same && sums && find_same(page, count, same) && pf_flame_cut_sums(allocator, tree, same, sums, count);
    if (fine)
        put_sum_list(page, sums, count);
    pf_free(allocator, same, (count + 1) * sizeof(*same));
    pf_free(allocator, sums, bytes);
    return fine ? page->text->failed : PERFILE_ERROR_MEMORY;
}

/* `first_frame`: where the tree's frames begin among those of the page. */
static int put_nodes(struct page *page, const struct pf_tree *tree, size_t first_frame)
{
    struct pf_flame_cut cut;
    int result = pf_flame_cut_open(&cut, page->text->allocator, tree, page->alias + first_frame, page->joins,
                                   most_nodes(page->options));
    if (result == 0)
        result = put_cut_nodes(page, &cut, tree->count, first_frame);
    if (result == 0 && cut.kept && !page->options->before.set)
        result = put_sums(page, cut.tree);
    pf_flame_cut_close(&cut);
    return result;
}

static void put_total(struct page *page, const struct pf_flame_event *event)
{
    pf_put_format(page->text, "\"total\":%llu", (unsigned long long)pf_max(event->total, event->tree->totals[0]));
}

static void put_verdicts(struct page *page)
{
    if (!page->options->has_verdicts)
        return;
    for (int which = 0; which < 2; which++) {
        pf_put_string(page->text, which ? "\",\"" : ",\n\"verdicts\":[\"");
        for (size_t i = 0; i < page->set->frame_count; i++) {
            const char verdict = page->set->frames[i].verdicts[which];
            pf_put_char(page->text, verdict ? verdict : '-');
        }
    }
    pf_put_string(page->text, "\"]");
}

/* The event of the same name in what the set is compared with, if any. */
static int put_before(struct page *page, const char *name)
{
    const struct pf_flame_set *before = page->options->before.set;
    uint32_t event;
    if (!before || !pf_flame_event_find(before, name, &event))
        return 0;
    pf_put_string(page->text, ",\n\"before\":{");
    put_total(page, &before->events[event]);
    int result = put_nodes(page, before->events[event].tree, page->set->frame_count);
    pf_put_char(page->text, '}');
    return result;
}

/* `at` is the event's first slice; that of the next event is returned. */
static size_t put_slices(struct page *page, uint32_t event, size_t at)
{
    const struct pf_flame_set *set = page->set;
    begin_numbers(page, "slices");
    for (uint32_t bucket = 0; bucket < set->bucket_count; bucket++) {
        size_t end = at;
        uint32_t last = 0;
        while (end < set->slice_count && set->slices[end].event == event && set->slices[end].bucket == bucket)
            end++;
        put_number(page, end - at);
        for (; at < end; at++) {
            uint32_t node = page->node_of[set->slices[at].node];
            int64_t step = (int64_t)node - last;
            put_number(page, step < 0 ? (uint64_t)-step * 2 - 1 : (uint64_t)step * 2);
            put_number(page, set->slices[at].weight);
            last = node;
        }
    }
    end_numbers(page);
    return at;
}

static int put_events(struct page *page)
{
    size_t slice = 0;
    pf_put_string(page->text, ",\n\"events\":[");
    for (uint32_t i = 0; i < page->set->event_count; i++) {
        const struct pf_flame_event *event = &page->set->events[i];
        pf_put_string(page->text, i ? ",\n{" : "\n{");
        put_total(page, event);
        put_member(page, "name", event->name);
        put_member(page, "unit", event->unit ? event->unit : page->set->unit);
        int result = put_nodes(page, event->tree, 0);
        if (result == 0 && page->set->bucket_count)
            slice = put_slices(page, i, slice);
        if (result == 0)
            result = put_before(page, event->name);
        if (result != 0)
            return result;
        pf_put_char(page->text, '}');
    }
    pf_put_char(page->text, ']');
    return page->text->failed;
}

/* Labels and values in turn; remarks are those with the label "". */
static void put_facts(struct page *page)
{
    pf_put_string(page->text, ",\n\"facts\":[");
    for (size_t i = 0; i < page->set->fact_count; i++) {
        const struct pf_flame_fact *fact = &page->set->facts[i];
        pf_put_string(page->text, i ? ",\n" : "\n");
        put_string(page, fact->label ? fact->label : "");
        pf_put_char(page->text, ',');
        put_string(page, fact->value);
    }
    pf_put_char(page->text, ']');
}

static int put_data(struct page *page)
{
    const struct pf_flame_set *set = page->set;
    pf_put_string(page->text, "{\"version\":1");
    put_member(page, "title", set->title);
    put_member(page, "subtitle", set->subtitle);
    put_facts(page);
    pf_put_format(page->text, ",\n\"event\":%u,\"buckets\":%u,\"start\":%llu,\"step\":%llu", set->first_event,
                  set->bucket_count, (unsigned long long)set->start_ns, (unsigned long long)set->bucket_ns);
    pf_put_format(page->text, ",\"reverse\":%s,\"compares\":%s,\"normalized\":%s",
                  page->options->reverse ? "true" : "false", page->options->before.set ? "true" : "false",
                  page->options->before.normalized ? "true" : "false");
    put_strings(page);
    put_shorts(page);
    int result = join_threads(page);
    pf_put_format(page->text, ",\"joins\":%s", page->joins ? "true" : "false");
    put_frames(page);
    put_verdicts(page);
    if (result == 0)
        result = put_events(page);
    pf_put_char(page->text, '}');
    return result;
}

/* --- the page --- */

/* The template up to a mark; what follows the mark is returned. */
static const char *put_up_to(struct pf_text *text, const char *template, const char *mark)
{
    const char *at = strstr(template, mark);
    if (!at)
        return template;
    pf_put(text, template, (size_t)(at - template));
    return at + strlen(mark);
}

static int put_page(struct page *page)
{
    const char *rest = put_up_to(page->text, pf_viewer_html, "<!--css-->\n");
    pf_put_string(page->text, pf_viewer_css);
    rest = put_up_to(page->text, rest, "<!--data-->");
    int result = put_data(page);
    rest = put_up_to(page->text, rest, "<!--js-->\n");
    pf_put_string(page->text, pf_viewer_js);
    pf_put_string(page->text, rest);
    return result != 0            ? result
           : page->text->failed   ? page->text->failed
           : page->scratch.failed ? page->scratch.failed
                                  : page->shorter.failed;
}

int pf_flame_html(const struct pf_flame_set *set, const struct pf_html_options *options, struct pf_text *text)
{
    const struct perfile_allocator *allocator = text->allocator;
    const size_t frames = set->frame_count + (options->before.set ? options->before.set->frame_count : 0);
    size_t places = 3 * frames + 1;
    struct page page = {.set = set, .options = options, .frame_count = frames, .text = text};
    int result = pf_text_open(&page.scratch, allocator, NULL, NULL);
    if (result == 0)
        result = pf_text_open(&page.shorter, allocator, NULL, NULL);
    page.strings = pf_new(allocator, places * sizeof(*page.strings));
    page.string_of = pf_new(allocator, places * sizeof(*page.string_of));
    page.alias = pf_new(allocator, (frames + 1) * sizeof(*page.alias));
    if (result == 0)
        result = page.strings && page.string_of && page.alias ? put_page(&page) : PERFILE_ERROR_MEMORY;
    pf_free(allocator, page.alias, (frames + 1) * sizeof(*page.alias));
    pf_free(allocator, page.node_of, page.node_room * sizeof(*page.node_of));
    pf_free(allocator, page.string_of, places * sizeof(*page.string_of));
    pf_free(allocator, page.strings, places * sizeof(*page.strings));
    pf_text_close(&page.scratch);
    pf_text_close(&page.shorter);
    return result;
}
