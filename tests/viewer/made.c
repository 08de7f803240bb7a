/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs of made-up data, for tests and for looking at them:
 *     made FORM STACKS        synthetic stacks, always the same ones
 *     made FORM -             folded stacks from standard input; _[k], _[i] and _[j] make kinds
 *     made FORM hostile       names that try to break out
 * FORM: folded, svg, icicle, reverse, diff, html, diffhtml, offhtml (diffhtml of a clock, with times off CPU),
 * reversehtml, cuthtml (of few nodes), codehtml (with code), reporthtml (which opens with the rows of a report, and has
 * code), branchhtml (with rows of branches), memoryhtml (with those of memory accesses). Comparisons are made with other stacks.
 */
#include "output/flame/flame.h"
#include "output/flame/page.h"
#include "output/flame/times.h"

#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 200, NAMES = 4000, LINE = 65536 };

/* What a node weighed in one piece of time. */
struct slice {
    uint32_t event, bucket, node;
    uint64_t weight;
};

struct made {
    struct pf_tree trees[2];
    struct pf_flame_frame *frames;
    size_t frame_count, frame_capacity;
    struct slice *slices;
    size_t slice_count, slice_capacity;
    struct pf_flame_frame threads[64]; /* those of the frames that are not functions */
    uint32_t thread_count;
    struct pf_page pages[2]; /* of all events, and of what is compared with */
    uint64_t random;
};

static const struct perfile_allocator *memory;

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "made: %s\n", why);
    exit(1);
}

static uint32_t random_below(struct made *made, uint32_t limit)
{
    made->random = made->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((made->random >> 33) % limit);
}

static uint32_t add_frame(struct made *made, const char *name, const char *module, uint8_t kind)
{
    if (!pf_grow(memory, &made->frames, &made->frame_capacity, made->frame_count + 1, sizeof(*made->frames)))
        fail("no memory");
    made->frames[made->frame_count] = (struct pf_flame_frame){strdup(name), module, NULL, 0, 0, 0, kind, 0};
    return (uint32_t)made->frame_count++;
}

static uint32_t find_frame(struct made *made, char *name, bool thread)
{
    size_t length = strlen(name);
    uint8_t kind = thread ? PF_FLAME_THREAD : PF_FLAME_USER;
    const char *module = "/usr/bin/made";
    if (length > 4 && strncmp(name + length - 4, "_[", 2) == 0) {
        kind = name[length - 2] == 'k' ? PF_FLAME_KERNEL : name[length - 2] == 'i' ? PF_FLAME_INLINED : PF_FLAME_JIT;
        module = kind == PF_FLAME_KERNEL ? "[kernel.kallsyms]" : module;
        name[length - 4] = 0;
    }
    for (size_t i = 0; i < made->frame_count; i++)
        if (made->frames[i].kind == kind && strcmp(made->frames[i].name, name) == 0)
            return (uint32_t)i;
    return add_frame(made, name, thread ? NULL : module, kind);
}

static void read_folded(struct made *made, FILE *in)
{
    static char line[LINE];
    while (fgets(line, sizeof(line), in)) {
        char *space = strrchr(line, ' ');
        if (!space)
            continue;
        *space = 0;
        uint32_t node = 0;
        for (char *name = strtok(line, ";"); name; name = strtok(NULL, ";"))
            node = pf_tree_child(&made->trees[0], node, find_frame(made, name, node == 0));
        pf_tree_add(&made->trees[0], node, strtoull(space + 1, NULL, 10));
    }
}

static void make_frames(struct made *made)
{
    static const char *const spaces[] = {"render", "parse", "net", "std::vector", "cache", "db::query", "codec"};
    static const char *const verbs[] = {"update", "read", "flush", "walk", "decode_block", "insert", "lookup", "hash"};
    static const char *const threads[] = {"server", "worker/0", "worker/1", "worker/2", "io-uring", "gc", "w"};
    char name[128];
    for (size_t i = 0; i < PF_COUNT(threads); i++) {
        uint32_t frame = add_frame(made, threads[i], NULL, PF_FLAME_THREAD);
        made->frames[frame].pid = 4000;
        made->frames[frame].tid = 4000 + (uint32_t)i;
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        uint8_t kind = i % 11 == 3   ? PF_FLAME_KERNEL
                       : i % 7 == 2  ? PF_FLAME_INLINED
                       : i % 29 == 5 ? PF_FLAME_JIT
                       : i % 41 == 7 ? PF_FLAME_UNKNOWN
                                     : PF_FLAME_USER;
        snprintf(name, sizeof(name), kind == PF_FLAME_KERNEL ? "__x64_%s_%s_%u" : "%s::%s<%u>(int, char const*)",
                 spaces[i % PF_COUNT(spaces)], verbs[i / 7 % PF_COUNT(verbs)], i);
        uint32_t frame = add_frame(made, kind == PF_FLAME_UNKNOWN ? "[unknown]" : name,
                                   kind == PF_FLAME_KERNEL ? "[kernel.kallsyms]"
                                   : i % 3                 ? "/usr/lib/x86_64-linux-gnu/libmade.so.6"
                                                           : "/opt/made/bin/server",
                                   kind);
        if (kind == PF_FLAME_USER || kind == PF_FLAME_INLINED) {
            made->frames[frame].file = i % 2 ? "src/made/worker.cc" : "src/made/render/tree.cc";
            made->frames[frame].line = i;
        }
    }
}

static void add_slice(struct made *made, uint32_t event, uint32_t bucket, uint32_t node, uint64_t weight)
{
    if (!pf_grow(memory, &made->slices, &made->slice_capacity, made->slice_count + 1, sizeof(*made->slices)))
        fail("no memory");
    made->slices[made->slice_count++] = (struct slice){event, bucket, node, weight};
}

/* A stack that looks like one: few roots, callees that depend on the caller, the kernel at the end. */
static uint32_t make_stack(struct made *made, struct pf_tree *tree, uint32_t thread)
{
    uint32_t node = pf_tree_child(tree, 0, thread), depth = 3 + random_below(made, 30), frame = thread * 31;
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t spread = i < 3 ? 2 : i < 8 ? 3 : 4;
        uint32_t pick = random_below(made, spread);
        pick = pick && random_below(made, 3) ? 0 : pick;
        frame = 7 + (frame * 37 + pick * 1013 + i * 101) % NAMES;
        if (i + 3 < depth && made->frames[frame].kind == PF_FLAME_KERNEL)
            frame++;
        node = pf_tree_child(tree, node, frame);
    }
    return node;
}

static int compare_slices(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void make_stacks(struct made *made, size_t wanted)
{
    make_frames(made);
    for (uint32_t event = 0; event < 2; event++) {
        size_t distinct = 0;
        for (size_t tries = 0; distinct < wanted && tries < wanted * 40; tries++) {
            uint32_t thread = random_below(made, 3) ? random_below(made, 3) : random_below(made, 7);
            uint32_t bucket = thread == 5 ? random_below(made, 6) * 33 : random_below(made, BUCKETS);
            uint32_t node = make_stack(made, &made->trees[event], thread);
            uint64_t weight = event ? 1 + random_below(made, 50) : 1;
            distinct += made->trees[event].nodes[node].self == 0;
            pf_tree_add(&made->trees[event], node, weight);
            add_slice(made, event, bucket, node, weight);
        }
    }
}

static void make_hostile(struct made *made)
{
    static const char *const names[] = {"</script><script>document.title='broken'</script>",
                                        "<!--<script>",
                                        "]]></text><svg onload=alert(1)>",
                                        "\"'&amp;;\\\\u0000",
                                        "a;b\nc\td\x01\x7f",
                                        "\xff\xfe bad \xc3",
                                        ("\xe2\x80\xae"
                                         "esrever"),
                                        "\xef\xbf\xbf",
                                        "h\xc3\xa9llo \xf0\x9f\x94\xa5\xf0\x9f\x94\xa5\xf0\x9f\x94\xa5",
                                        "__proto__",
                                        "constructor",
                                        "(anonymous namespace)::f(int)",
                                        ""};
    for (uint32_t i = 0; i < PF_COUNT(names); i++) {
        uint32_t node = pf_tree_child(&made->trees[0], 0, add_frame(made, names[i], NULL, PF_FLAME_THREAD));
        node = pf_tree_child(&made->trees[0], node, add_frame(made, names[i], names[i], PF_FLAME_USER));
        pf_tree_add(&made->trees[0], node, 1000 + i);
        add_slice(made, 0, i, node, 1000 + i);
    }
}

static int write_to_file(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

enum { START_NS = 1234500000000 / 1000, STEP_NS = 25000000, EARLIER_S = 900 };

/* The stack without its thread. */
static bool add_row(struct made *made, struct pf_page *page, const struct slice *slice, bool timed)
{
    const struct pf_tree *tree = &made->trees[slice->event];
    uint32_t path[256], depth = 0, node = 0;
    for (uint32_t at = slice->node; at && depth < PF_COUNT(path); at = tree->nodes[at].parent)
        path[depth++] = tree->nodes[at].frame;
    uint32_t thread = 0;
    while (made->frames[path[depth - 1]].name != made->threads[thread].name)
        thread++;
    for (uint32_t i = depth - 1; i-- > 0;)
        node = pf_tree_child(&page->tree, node, path[i]);
    const bool earlier = page == &made->pages[1];
    const uint64_t start = START_NS * 1000ull - (earlier ? EARLIER_S * 1000000000ull : 0);
    const struct pf_page_row row = {.time = timed ? start + slice->bucket * (uint64_t)STEP_NS : PF_PAGE_NO_TIME,
                                    .weight = slice->weight,
                                    .count = 1,
                                    .stack = node,
                                    .thread = thread,
                                    .cpu = thread % 4,
                                    .event = earlier ? 0 : slice->event};
    return pf_page_add(page, &row);
}

/* Folded stacks have no times. */
static bool add_nodes(struct made *made, struct pf_page *page, uint32_t event)
{
    bool fine = true;
    for (uint32_t i = 1; fine && i < made->trees[event].count; i++)
        if (made->trees[event].nodes[i].self)
            fine = add_row(made, page, &(struct slice){event, 0, i, made->trees[event].nodes[i].self}, false);
    return fine;
}

static bool make_pages(struct made *made)
{
    for (size_t i = 0; i < made->frame_count && made->thread_count < PF_COUNT(made->threads); i++)
        if (made->frames[i].kind == PF_FLAME_THREAD)
            made->threads[made->thread_count++] = made->frames[i];
    bool fine = pf_page_open(&made->pages[0], memory, 0) == 0 && pf_page_open(&made->pages[1], memory, 0) == 0;
    if (made->slice_count)
        qsort(made->slices, made->slice_count, sizeof(*made->slices), compare_slices);
    for (size_t i = 0; fine && i < made->slice_count; i++)
        fine = add_row(made, &made->pages[0], &made->slices[i], true);
    for (size_t i = 0; fine && i < made->slice_count; i++)
        fine = made->slices[i].event != 1 || add_row(made, &made->pages[1], &made->slices[i], true);
    if (fine && !made->slice_count)
        fine = add_nodes(made, &made->pages[0], 0) && add_nodes(made, &made->pages[1], 1);
    return fine && pf_page_end(&made->pages[0]) && pf_page_end(&made->pages[1]);
}

/* ---- times off CPU ---- */

/* The waits of each thread in turn, one after the other; the earlier recording has fewer. */
enum { WAITS = 40, WAITS_BEFORE = 30, WAIT_NS = 50000000 };

static struct pf_flame_times make_waits(const struct made *made, const struct pf_page *page, struct pf_wait *waits,
                                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t from = page->first + i * WAIT_NS;
        waits[i] = (struct pf_wait){.from = from,
                                    .to = from + WAIT_NS,
                                    .thread = (uint32_t)(i % made->thread_count),
                                    .waker = i % 2 ? PF_PAGE_NONE : 0,
                                    .stack = (uint32_t)(1 + i % (page->tree.count - 1)),
                                    .state = i % 3 ? PF_WAIT_BLOCKED : PF_WAIT_READY};
    }
    return (struct pf_flame_times){.allocator = memory, .waits = waits, .wait_count = count};
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

enum { CODE_FUNCTIONS = 10, LONGEST = 2500, LONG = 24 };

static uint64_t self_of(const struct made *made, uint32_t event, uint32_t frame)
{
    uint64_t sum = 0;
    for (size_t i = 1; i < made->trees[event].count; i++)
        if (made->trees[event].nodes[i].frame == frame)
            sum += made->trees[event].nodes[i].self;
    return sum;
}

static void put_text(struct pf_text *text, const char *string)
{
    pf_put_json_string(text, string, strlen(string));
}

/* A third is at one instruction, the rest at another one. */
static void put_weights(struct pf_text *text, const uint64_t self[2], uint32_t line, uint32_t lines)
{
    bool first = true;
    pf_put_char(text, '[');
    for (unsigned event = 0; event < 2; event++) {
        const uint64_t third = self[event] / 3;
        const uint64_t weight = line == UINT32_MAX      ? self[event]
                                : line == lines / 2     ? self[event] - third
                                : line == lines / 2 + 3 ? third
                                                        : 0;
        if (weight)
            pf_put_format(text, "%s%u,%llu,%llu", first ? "" : ",", event, (unsigned long long)weight,
                          (unsigned long long)weight);
        first = first && !weight;
    }
    pf_put_char(text, ']');
}

static const struct pf_flame_frame *an_inlined(const struct made *made)
{
    for (size_t i = 0; i < made->frame_count; i++)
        if (made->frames[i].kind == PF_FLAME_INLINED && self_of(made, 0, (uint32_t)i))
            return &made->frames[i];
    return &made->frames[0];
}

static void put_code_function(struct made *made, uint32_t frame, uint32_t nth, struct pf_text *text)
{
    const struct pf_flame_frame *function = &made->frames[frame];
    const uint64_t self[2] = {self_of(made, 0, frame), self_of(made, 1, frame)};
    const uint32_t lines = nth == 1 ? LONGEST : nth == 2 ? 1 : LONG;
    pf_put_string(text, nth ? ",{\"name\":" : "{\"name\":");
    put_text(text, function->name);
    pf_put_string(text, ",\"module\":");
    put_text(text, function->module);
    pf_put_string(text, ",\"weights\":");
    put_weights(text, self, UINT32_MAX, lines);
    pf_put_format(text, ",\"address\":\"ffffffff8100%x000\",\"missing\":\"%s\",\"positions\":[[", nth,
                  nth == 2 ? "the binary was not found" : "");
    put_text(text, function->name);
    pf_put_string(text, ",null,\"src/made/worker.cc\",7],[\"\\tcall(</script>);\",");
    put_text(text, an_inlined(made)->name);
    pf_put_string(
        text, ",\"src/made/tree.h\",12,\"made::find<made::Tree<made::Key<unsigned long, 16>, made::Value<double> > >"
              "(made::Tree<made::Key<unsigned long, 16>, made::Value<double> > const&)\",\"src/made/find.h\",3,"
              "\"outer\",\"src/made/worker.cc\",9]],\"lines\":[");
    for (uint32_t i = 0; i < lines; i++) {
        pf_put_format(text, "%s[%u,", i ? "," : "", 4 * i);
        if (nth == 2)
            pf_put_string(text, "null");
        else if (i % 8 == 5)
            pf_put_format(text, "\"jne    %x <here+0x4>\"", 4 * (lines - i));
        else
            put_text(text, function->name);
        pf_put_format(text, ",%d,%d,", nth == 2 ? -1 : (int)(i / 3 % 2),
                      nth != 2 && i % 8 == 5 ? (int)(lines - i) : -1);
        put_weights(text, self, i, lines);
        pf_put_string(text, i % 8 == 5 ? ",[9,2,3,40,4],1]" : i % 2 ? "]" : ",0,0]");
    }
    pf_put_string(text, "],\"types\":[\"struct node<</script>> +0x14 (in.y)\",\"(stack operation)\"]}");
}

static bool is_heavier(const struct made *made, uint32_t frame, uint32_t other)
{
    return other == UINT32_MAX || self_of(made, 0, frame) > self_of(made, 0, other);
}

/* Returns the heaviest frame that is lighter than `last`, or has its weight and comes after it. */
static uint32_t next_heaviest(const struct made *made, uint32_t last)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < made->frame_count; i++) {
        const uint8_t kind = made->frames[i].kind;
        const uint64_t self = self_of(made, 0, i);
        const bool is_after =
            last == UINT32_MAX || self < self_of(made, 0, last) || (self == self_of(made, 0, last) && i > last);
        if ((kind == PF_FLAME_USER || kind == PF_FLAME_KERNEL) && self && is_after && is_heavier(made, i, best))
            best = i;
    }
    return best;
}

static void put_code(struct made *made, struct pf_text *text)
{
    uint32_t frame = UINT32_MAX;
    pf_put_string(
        text, "{\"counts\":false,\"events\":[[\"cycles:u\",1000,1000],[\"cache-misses\",1000,1000]],\"functions\":[");
    for (uint32_t i = 0; i < CODE_FUNCTIONS && (frame = next_heaviest(made, frame)) != UINT32_MAX; i++)
        put_code_function(made, frame, i, text);
    pf_put_string(text, "],\"limits\":[10,4000000],\"left\":3}");
}

static int write_page(struct made *made, const struct pf_flame_set *set, struct pf_html_options *html,
                      struct pf_text *text)
{
    struct pf_text code;
    if (pf_text_open(&code, memory, NULL, NULL) != 0)
        fail("no memory");
    put_code(made, &code);
    html->code = code.data;
    html->code_bytes = code.used;
    const int result = pf_flame_html(set, html, text);
    pf_text_close(&code);
    return result;
}

static int write_form(struct made *made, const char *form, const struct pf_flame_set *set,
                      const struct pf_flame_set *before, struct pf_text *text)
{
    struct pf_svg_options svg = {.names = {.annotate = false}};
    struct pf_html_options html = {.reverse = false};
    if (strcmp(form, "folded") == 0)
        return pf_flame_folded(set, 0, &(struct pf_folded_options){.names = {.annotate = true}}, text);
    if (strcmp(form, "icicle") == 0)
        svg.inverted = true;
    else if (strcmp(form, "reverse") == 0)
        svg.reverse = svg.inverted = true;
    else if (strcmp(form, "diff") == 0)
        svg.before = (struct pf_flame_before){before, 0, false};
    else if (strcmp(form, "diffhtml") == 0)
        html.before = (struct pf_flame_before){before, 0, true};
    else if (strcmp(form, "offhtml") == 0)
        html.before = (struct pf_flame_before){before, 0, false};
    else if (strcmp(form, "reversehtml") == 0)
        html.reverse = true;
    if (strncmp(form, "cut", 3) == 0)
        html.max_nodes = 500;
    if (strncmp(form, "report", 6) == 0)
        html.report = "{\"keys\":[\"comm\",\"dso\",\"symbol\"],\"children\":true,\"samples\":true,\"period\":false,"
                      "\"limit\":0.00,\"top\":0,\"resolved\":false,\"base\":[600,0]}";
    static const char branches[] =
        "{\"columns\":[{\"name\":\"event\"},{\"name\":\"overhead\"},{\"name\":\"comm\"},{\"name\":\"symbol_from\"},"
        "{\"name\":\"symbol_to\"},{\"name\":\"samples\"},{\"name\":\"self\"},{\"name\":\"total\"},{\"name\":\"unit\"}],"
        "\"rows\":["
        "[\"cycles:u\",62.5,\"server\",\"[.] parse\",\"[.] </script><b>next\",5,5,5,\"cycles\"],"
        "[\"cycles:u\",25.0,\"server\",\"[.] next\",\"[k] entry\",2,2,2,\"cycles\"]],"
        "\"events\":[{\"event\":\"cycles:u\",\"samples\":3,\"period\":8}]}";
    if (strcmp(form, "branchhtml") == 0) {
        html.branches = branches;
        html.branch_bytes = sizeof(branches) - 1;
    }
    static const char accesses[] =
        "{\"columns\":[{\"name\":\"event\"},{\"name\":\"overhead\"},{\"name\":\"mem\"},{\"name\":\"symbol\"},"
        "{\"name\":\"srcline\"},{\"name\":\"weight_class\"},{\"name\":\"weight1\"},{\"name\":\"address\"},"
        "{\"name\":\"samples\"}],\"rows\":["
        "[\"cycles:u\",60,\"L1 hit\",\"parse\",\"a.c:7\",4,5.5,null,6],"
        "[\"cycles:u\",20,\"L1 hit\",\"</script><b>next\",\"a.c:9\",16,20,null,2],"
        "[\"cycles:u\",10,\"RAM hit\",null,\"b[10]\",256,300,16,1]],"
        "\"events\":[{\"event\":\"cycles:u\",\"samples\":10,\"period\":10}]}";
    if (strcmp(form, "memoryhtml") == 0) {
        html.memory = accesses;
        html.memory_bytes = sizeof(accesses) - 1;
    }
    if (strncmp(form, "code", 4) == 0 || html.report)
        return write_page(made, set, &html, text);
    if (strstr(form, "html"))
        return pf_flame_html(set, &html, text);
    return pf_flame_svg(set, 0, &svg, text);
}

static void release(struct made *made)
{
    for (size_t i = 0; i < made->frame_count; i++)
        free((void *)(uintptr_t)made->frames[i].name);
    pf_free(memory, made->frames, made->frame_capacity * sizeof(*made->frames));
    pf_free(memory, made->slices, made->slice_capacity * sizeof(*made->slices));
    pf_tree_close(&made->trees[0]);
    pf_tree_close(&made->trees[1]);
    pf_page_close(&made->pages[0]);
    pf_page_close(&made->pages[1]);
}

static const struct pf_flame_fact facts[] = {{"Recording", "/tmp/<b>made.data"},
                                             {"Command", "perf record -F 99 </script><img src=x onerror=alert(1)>"},
                                             {"Ended", "2026-01-02 03:04 UTC"},
                                             {"Event", "305 samples of cycles:u, 99 Hz"},
                                             {NULL, "61.87% of all events were lost while recording (24779)"}};

int main(int count, char **arguments)
{
    struct made made = {.random = 1};
    struct pf_text text;
    memory = pf_allocator_or_default(NULL);
    if (count != 3 || pf_tree_open(&made.trees[0], memory) != 0 || pf_tree_open(&made.trees[1], memory) != 0 ||
        pf_text_open(&text, memory, write_to_file, stdout) != 0)
        fail("usage: made folded|svg|icicle|reverse|diff|html STACKS|-|hostile");
    if (strcmp(arguments[2], "-") == 0)
        read_folded(&made, stdin);
    else if (strcmp(arguments[2], "hostile") == 0)
        make_hostile(&made);
    else
        make_stacks(&made, strtoul(arguments[2], NULL, 10));
    if (!pf_tree_sum(&made.trees[0]) || !pf_tree_sum(&made.trees[1]))
        fail("out of memory");
    if (!make_pages(&made))
        fail("out of memory");
    for (size_t i = 0; i < made.frame_count && strstr(arguments[1], "html"); i++)
        made.frames[i].by = PF_FLAME_BY_TID; /* the page joins them itself */
    const uint64_t *totals = made.pages[0].totals;
    const struct pf_flame_event events[] = {
        {"cycles:u", &made.trees[0], totals ? totals[0] : 0},
        {"cache-misses", &made.trees[1], totals && made.trees[1].count > 1 ? totals[1] : 0}};
    struct pf_wait waits[WAITS], waits_before[WAITS_BEFORE];
    struct pf_flame_times times = {0}, times_before = {0};
    const bool waited = strcmp(arguments[1], "offhtml") == 0;
    if (waited) {
        times = make_waits(&made, &made.pages[0], waits, WAITS);
        times_before = make_waits(&made, &made.pages[1], waits_before, WAITS_BEFORE);
    }
    const struct pf_flame_set set = {.title = "made.data",
                                     .subtitle = "synthetic stacks, cycles:u",
                                     .unit = waited ? "ns" : "samples",
                                     .event_count = made.trees[1].count > 1 ? 2 : 1,
                                     .events = events,
                                     .frames = made.frames,
                                     .frame_count = made.frame_count,
                                     .page = &made.pages[0],
                                     .threads = made.threads,
                                     .thread_count = made.thread_count,
                                     .times = waited ? &times : NULL,
                                     .facts = facts,
                                     .fact_count = PF_COUNT(facts)};
    const struct pf_flame_event event_before = {"cycles:u", &made.trees[1], 0};
    const struct pf_flame_set before = {.unit = waited ? "ns" : "samples",
                                        .event_count = 1,
                                        .events = &event_before,
                                        .frames = made.frames,
                                        .frame_count = made.frame_count,
                                        .page = &made.pages[1],
                                        .threads = made.threads,
                                        .thread_count = made.thread_count,
                                        .times = waited ? &times_before : NULL};
    int result = write_form(&made, arguments[1], &set, &before, &text);
    if (result == 0)
        result = pf_text_flush(&text);
    pf_text_close(&text);
    release(&made);
    return result == 0 ? 0 : 1;
}
