/* SPDX-License-Identifier: MIT */
/*
 * The page: src/output/flame/viewer with the set in it as JSON. Names are a list of strings; everything that is long is
 * base64 of LEB128 numbers:
 *     frames  string of the name, string of the module + 1, string of the file + 1, line, kind; a thread: pid + 1 and
 *             tid + 1, 0 where these are not told apart; behind the set's frames those of what it is compared with
 *     nodes   for each but the root: its number minus its parent's, frame, own weight
 *     short   number of a string and how it is drawn, for names with long spellings of known types
 *     facts   labels and values in turn; "" instead of a label: a remark
 *     slices  for each bucket: count, and that often: node minus the node before (zigzag), weight
 */
#include "output/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/name_short.h"

extern const char pf_viewer_html[]; /* made by tools/embed.c */
extern const char pf_viewer_css[];
extern const char pf_viewer_js[];

enum { MAX_NODES = 1000000 }; /* what a browser takes without making one wait */

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
    uint32_t *node_of;   /* of the event at work: the number of a node in the page; cut ones have their caller's */
    size_t node_room;
    uint8_t bytes[3]; /* base64 that waits for more */
    unsigned byte_count;
};

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
            put_number(page, frame->by >= PF_FLAME_BY_PID ? frame->pid + 1ull : 0);
            put_number(page, frame->by >= PF_FLAME_BY_TID ? frame->tid + 1ull : 0);
        }
    }
    end_numbers(page);
}

/* --- trees --- */

/* The least weight that leaves at most MAX_NODES nodes; a power of two. */
static uint64_t least_weight(const struct pf_tree *tree)
{
    size_t counts[65] = {0}, kept = 0;
    if (tree->count <= MAX_NODES)
        return 0;
    for (size_t i = 1; i < tree->count; i++)
        counts[tree->totals[i] ? 64 - __builtin_clzll(tree->totals[i]) : 0]++;
    unsigned bits = 64;
    while (bits > 0 && kept + counts[bits] < MAX_NODES)
        kept += counts[bits--];
    return bits < 64 ? 1ull << bits : UINT64_MAX;
}

/* What a node weighs itself, with the callees that are cut. Totals of children are never above their parent's. */
static uint64_t own_weight(const uint64_t *cut, const struct pf_tree_node *node, size_t i)
{
    return node->self + (cut ? cut[i] : 0);
}

struct cut {
    uint64_t least;    /* lighter nodes are cut */
    uint64_t *weights; /* by node: of cut callees; NULL: nothing is cut */
};

static void put_node_list(struct page *page, const struct pf_tree *tree, const struct cut *cut, size_t first_frame)
{
    uint32_t number = 0;
    page->node_of[0] = 0;
    begin_numbers(page, "nodes");
    for (size_t i = 1; i < tree->count && !page->text->failed; i++) {
        const struct pf_tree_node *node = &tree->nodes[i];
        uint32_t parent = page->node_of[node->parent];
        page->node_of[i] = tree->totals[i] < cut->least ? parent : ++number;
        if (tree->totals[i] < cut->least)
            continue;
        put_number(page, number - parent);
        put_number(page, node->frame + first_frame);
        put_number(page, own_weight(cut->weights, node, i));
    }
    end_numbers(page);
}

/* `first_frame`: where the tree's frames begin among those of the page. */
static int put_nodes(struct page *page, const struct pf_tree *tree, size_t first_frame)
{
    uint64_t cut_weight = 0, cut_count = 0;
    size_t bytes = tree->count * sizeof(uint64_t);
    struct cut cut = {.least = least_weight(tree)};
    if (!pf_grow(page->text->allocator, &page->node_of, &page->node_room, tree->count, sizeof(*page->node_of)) ||
        (cut.least && !(cut.weights = pf_new(page->text->allocator, bytes))))
        return PERFILE_ERROR_MEMORY;
    for (size_t i = 1; cut.least && i < tree->count; i++) {
        const uint32_t parent = tree->nodes[i].parent;
        const uint64_t total = tree->totals[i];
        if (total < cut.least && (parent == 0 || tree->totals[parent] >= cut.least)) {
            cut.weights[parent] += total;
            cut_weight += total;
        }
        cut_count += total < cut.least;
    }
    put_node_list(page, tree, &cut, first_frame);
    pf_put_format(page->text, ",\"own\":%llu,\"cutNodes\":%llu,\"cutWeight\":%llu",
                  (unsigned long long)own_weight(cut.weights, &tree->nodes[0], 0), (unsigned long long)cut_count,
                  (unsigned long long)cut_weight);
    pf_free(page->text->allocator, cut.weights, bytes);
    return page->text->failed;
}

static void put_total(struct page *page, const struct pf_flame_event *event)
{
    pf_put_format(page->text, "\"total\":%llu", (unsigned long long)pf_max(event->total, event->tree->totals[0]));
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
    put_frames(page);
    int result = put_events(page);
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
    if (result == 0)
        result = page.strings && page.string_of ? put_page(&page) : PERFILE_ERROR_MEMORY;
    pf_free(allocator, page.node_of, page.node_room * sizeof(*page.node_of));
    pf_free(allocator, page.string_of, places * sizeof(*page.string_of));
    pf_free(allocator, page.strings, places * sizeof(*page.strings));
    pf_text_close(&page.scratch);
    pf_text_close(&page.shorter);
    return result;
}
