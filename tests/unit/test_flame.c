/* SPDX-License-Identifier: MIT */
#include "counting.h"

#include "output/flame/cut.h"
#include "output/flame/flame.h"
#include "output/flame/page.h"
#include <stdio.h>

struct flames {
    struct pf_tree tree, before;
    struct pf_flame_event event, event_before;
    struct pf_flame_set set, set_before;
    struct pf_flame_frame frames[64];
    size_t count;
    struct pf_page page;
};

static void open_flames(struct flames *f)
{
    memset(f, 0, sizeof(*f));
    assert_int_equal(pf_tree_open(&f->tree, pf_allocator_or_default(NULL)), 0);
    assert_int_equal(pf_tree_open(&f->before, pf_allocator_or_default(NULL)), 0);
    assert_int_equal(pf_page_open(&f->page, pf_allocator_or_default(NULL), 0), 0);
}

static uint32_t frame(struct flames *f, const char *name, const char *module, uint8_t kind)
{
    assert_true(f->count < PF_COUNT(f->frames));
    f->frames[f->count] = (struct pf_flame_frame){.name = name, .module = module, .kind = kind, .pid = 12, .tid = 13};
    return (uint32_t)f->count++;
}

/* A stack of up to three frames of new ids; equal names are merged by the writer, not here. */
static uint32_t add(struct flames *f, uint64_t weight, const char *comm, const char *root, const char *leaf)
{
    uint32_t node = pf_tree_child(&f->tree, 0, frame(f, comm, NULL, PF_FLAME_THREAD));
    node = root ? pf_tree_child(&f->tree, node, frame(f, root, "/bin/m", PF_FLAME_USER)) : node;
    node = leaf ? pf_tree_child(&f->tree, node, frame(f, leaf, "/bin/m", PF_FLAME_USER)) : node;
    pf_tree_add(&f->tree, node, weight);
    return node;
}

static void finish(struct flames *f)
{
    assert_true(pf_tree_sum(&f->tree));
    assert_true(pf_tree_sum(&f->before));
    f->event = (struct pf_flame_event){"cycles", &f->tree, 0};
    f->event_before = (struct pf_flame_event){"cycles", &f->before, 0};
    f->set = (struct pf_flame_set){.title = "t<1>",
                                   .subtitle = "s",
                                   .unit = "samples",
                                   .event_count = 1,
                                   .events = &f->event,
                                   .frames = f->frames,
                                   .frame_count = f->count,
                                   .page = &f->page,
                                   .threads = f->frames,
                                   .thread_count = 1};
    f->set_before = f->set;
    f->set_before.events = &f->event_before;
}

static void close_flames(struct flames *f)
{
    pf_tree_close(&f->tree);
    pf_tree_close(&f->before);
    pf_page_close(&f->page);
}

/* What a writer wrote, with a NUL; the next call throws it away. */
static struct pf_text out;
static const char *written(int result)
{
    assert_int_equal(result, 0);
    pf_put_char(&out, 0);
    assert_int_equal(out.failed, 0);
    return out.data;
}

static struct pf_text *fresh(void)
{
    pf_text_close(&out);
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    return &out;
}

static const char *folded(const struct flames *f, struct pf_flame_names names)
{
    const struct pf_folded_options options = {.names = names};
    return written(pf_flame_folded(&f->set, 0, &options, fresh()));
}

/* Returns the folded stacks, with the threads distinguished as `by` says. */
static const char *folded_by(struct flames *f, uint8_t by)
{
    for (size_t i = 0; i < f->count; i++)
        f->frames[i].by = by;
    return folded(f, (struct pf_flame_names){.raw = true});
}

static const char *svg(const struct flames *f, struct pf_svg_options options)
{
    return written(pf_flame_svg(&f->set, 0, &options, fresh()));
}

static void test_folded_order(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 3, "w", "b", NULL);
    add(&f, 1, "w", NULL, NULL);
    add(&f, 2, "w", "b c", "d");
    add(&f, 4, "w", "b", "d");
    add(&f, 5, "w!", NULL, NULL);
    add(&f, 6, "w", "b", "d");
    finish(&f);
    assert_string_equal(folded(&f, (struct pf_flame_names){0}), "w 1\nw! 5\nw;b 3\nw;b c;d 2\nw;b;d 10\n");
    close_flames(&f);
}

static void test_folded_names(void **state)
{
    static const char *const names[][2] = {
        {"f(int, char)", "f"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"net/http.(*Client).Do", "net/http.(*Client).Do"},
        {"a;b\nc", "a:b_c"},
        {"RegExp:[&<>\"']", "RegExp:[&<>]"},
        {"(all)", "(all)"},
        {"", "[m]"},
        {"[unknown]", "[m]"},
        {"''", "-"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(names); i++) {
        struct flames f;
        char wanted[128];
        open_flames(&f);
        add(&f, 1, "a b;c", names[i][0], NULL);
        finish(&f);
        snprintf(wanted, sizeof(wanted), "a_b:c;%s 1\n", names[i][1]);
        assert_string_equal(folded(&f, (struct pf_flame_names){0}), wanted);
        close_flames(&f);
    }
}

static void test_folded_options(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    uint32_t node = add(&f, 0, "make", "main(int)", NULL);
    node = pf_tree_child(&f.tree, node, frame(&f, "g", NULL, PF_FLAME_INLINED));
    node = pf_tree_child(&f.tree, node, frame(&f, "Lorg/A;::b", NULL, PF_FLAME_JIT));
    node = pf_tree_child(&f.tree, node, frame(&f, NULL, "[kernel.kallsyms]", PF_FLAME_KERNEL));
    node = pf_tree_child(&f.tree, node, frame(&f, NULL, NULL, PF_FLAME_UNKNOWN));
    pf_tree_add(&f.tree, node, 7);
    pf_tree_add(&f.tree, 0, 2);
    finish(&f);
    assert_string_equal(folded(&f, (struct pf_flame_names){.annotate = true}),
                        "[unknown] 2\nmake;main;g_[i];org/A:::b_[j];[[kernel.kallsyms]]_[k];[unknown] 7\n");
    assert_string_equal(folded_by(&f, PF_FLAME_BY_PID),
                        "[unknown] 2\nmake-12;main(int);g;Lorg/A:::b;[[kernel.kallsyms]];[unknown] 7\n");
    assert_non_null(strstr(folded_by(&f, PF_FLAME_BY_TID), "\nmake-12/13;main(int);"));
    close_flames(&f);
}

static void test_empty(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    finish(&f);
    assert_string_equal(folded(&f, (struct pf_flame_names){0}), "");
    assert_non_null(strstr(svg(&f, (struct pf_svg_options){0}), "<title>all (0 samples, 100%)</title>"));
    assert_non_null(
        strstr(written(pf_flame_html(&f.set, &(struct pf_html_options){0}, fresh())), "[\"functions.name\",0,0]"));
    close_flames(&f);
}

/* Brackets in the name of a file are not parameters. */
static void test_names_of_files_are_complete(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    uint32_t node = add(&f, 0, "w", "main", NULL);
    node = pf_tree_child(&f.tree, node, frame(&f, NULL, "/opt/server (deleted)", PF_FLAME_USER));
    node = pf_tree_child(&f.tree, node, frame(&f, NULL, "/opt/lib(x).so", PF_FLAME_USER));
    pf_tree_add(&f.tree, node, 2);
    finish(&f);
    assert_string_equal(folded(&f, (struct pf_flame_names){0}), "w;main;[server (deleted)];[lib(x).so] 2\n");
    assert_non_null(strstr(svg(&f, (struct pf_svg_options){0}), "<title>[lib(x).so] (2 samples"));
    close_flames(&f);
}

static void test_svg(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 3000, "w", "f<int>(int)", NULL);
    add(&f, 1000, "w", "g&\"\x01\xff", NULL);
    add(&f, 1, "w", "narrow", "too");
    finish(&f);
    const char *text = svg(&f, (struct pf_svg_options){.width = 420, .min_width = 1});
    assert_non_null(strstr(text, ">t&lt;1&gt;</text>"));
    assert_non_null(strstr(text, "<g><title>f&lt;int&gt; (3,000 samples, 74.98%)</title><rect x=\"10.0\" y=\"61\" "
                                 "width=\"299.9\""));
    assert_non_null(strstr(text, "<title>g&amp;_\\xff (1,000 samples, 24.99%)</title>"));
    assert_non_null(strstr(text, "2 frames are not drawn (narrower than 1 px); 0.02% of the stacks are cut."));
    assert_null(strstr(text, "narrow ("));
    assert_non_null(strstr(svg(&f, (struct pf_svg_options){.names.raw = true}), "g&amp;&quot;\\u0001\\xff ("));
    close_flames(&f);
}

static void test_svg_reverse(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 1, "a", "main", "leaf");
    add(&f, 2, "b", "main", "leaf");
    finish(&f);
    const char *text = svg(&f, (struct pf_svg_options){.reverse = true, .inverted = true});
    const char *leaf = strstr(text, "<title>leaf (3 samples, 100.00%)</title><rect x=\"10.0\" y=\"78\"");
    assert_non_null(leaf);
    assert_non_null(strstr(text, "<title>a (1 sample, 33.33%)</title>"));
    close_flames(&f);
}

/* Now: more 3, less 1. Before: more 50, less 25, gone 25, and 2 of w itself. */
static void open_differential(struct flames *f)
{
    open_flames(f);
    add(f, 3, "w", "more", NULL);
    add(f, 1, "w", "less", NULL);
    uint32_t thread = pf_tree_child(&f->before, 0, 0); /* frame 0 is w, 1 is more, 3 is less */
    pf_tree_add(&f->before, thread, 20);
    pf_tree_add(&f->before, pf_tree_child(&f->before, thread, 1), 50);
    pf_tree_add(&f->before, pf_tree_child(&f->before, thread, 3), 20);
    pf_tree_add(&f->before, pf_tree_child(&f->before, thread, frame(f, "gone", NULL, PF_FLAME_USER)), 10);
    finish(f);
}

static void test_svg_differential(void **state)
{
    (void)state;
    struct flames f;
    open_differential(&f);
    const struct pf_flame_before before = {&f.set_before, 0, true};
    const char *text = svg(&f, (struct pf_svg_options){.before = before});
    assert_non_null(strstr(text, "<title>more (3 samples, 75.00%; +25.00%)</title>"));
    assert_non_null(strstr(text, "<title>less (1 sample, 25.00%; +5.00%)</title>"));
    assert_non_null(strstr(text, "<title>w (4 samples, 100.00%; -20.00%)</title>"));
    assert_non_null(strstr(text, "fill=\"rgb(251,106,96)\""));
    assert_non_null(strstr(text, "10.00% of the weight before is in stacks that no longer exist."));
    assert_null(strstr(text, "gone ("));
    text = svg(&f, (struct pf_svg_options){.before = before, .negated = true});
    assert_non_null(strstr(text, "<title>more (3 samples, 75.00%; -25.00%)</title>"));
    assert_non_null(strstr(text, "fill=\"rgb(96,153,251)\""));
    close_flames(&f);
}

/* Without normalizing, weights are compared as they are; leaf first, all weights. */
static void test_svg_differential_plain(void **state)
{
    (void)state;
    struct flames f;
    open_differential(&f);
    const struct pf_flame_before before = {&f.set_before, 0, false};
    const char *text = svg(&f, (struct pf_svg_options){.before = before});
    assert_non_null(strstr(text, "<title>more (3 samples, 75.00%; -1175.00%)</title>"));
    text = svg(&f, (struct pf_svg_options){.before = {&f.set_before, 0, true}, .reverse = true});
    assert_non_null(strstr(text, "<title>more (3 samples, 75.00%; +25.00%)</title>"));
    assert_non_null(strstr(text, ">more than before</text>"));
    close_flames(&f);
}

static void test_folded_differential(void **state)
{
    (void)state;
    struct flames f;
    open_differential(&f);
    struct pf_folded_options options = {.before = {&f.set_before, 0, false}};
    assert_string_equal(written(pf_flame_folded(&f.set, 0, &options, fresh())),
                        "w 20 0\nw;gone 10 0\nw;less 20 1\nw;more 50 3\n");
    options.before.normalized = true;
    assert_string_equal(written(pf_flame_folded(&f.set, 0, &options, fresh())),
                        "w 0 0\nw;gone 0 0\nw;less 0 1\nw;more 2 3\n");
    close_flames(&f);
}

static void test_svg_small(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 98, "w", "wide", NULL);
    add(&f, 2, "w", "narrow", NULL);
    finish(&f);
    const char *text = svg(&f, (struct pf_svg_options){.min_share = 0.05, .palette = 1});
    assert_non_null(strstr(text, "1 frame is not drawn (below 5%); 2.00% of the stacks are cut."));
    assert_null(strstr(text, "narrow ("));
    assert_null(strstr(text, ">thread</text>")); /* one palette needs no key */
    close_flames(&f);
}

static void add_row(struct flames *f, uint64_t time, uint32_t stack, uint64_t weight)
{
    const struct pf_page_row row = {
        .time = time, .weight = weight, .count = 1, .stack = stack, .cpu = stack % 2 ? 3 : PF_PAGE_NONE};
    assert_true(pf_page_add(&f->page, &row));
}

static void test_html(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 300, "w", "</script><!--", NULL);
    finish(&f);
    f.set.title = "</script><!--";
    add_row(&f, 1000, pf_tree_child(&f.page.tree, 0, 1), 300);
    add_row(&f, 3000, 0, 1);
    f.event.total = 301;
    const char *text = written(pf_flame_html(&f.set, &(struct pf_html_options){0}, fresh()));
    assert_non_null(strstr(text, "\"\\u003c/script>\\u003c!--\""));
    assert_null(strstr(text, "</script><!--"));
    assert_non_null(strstr(text, "[\"stacks.parent\",1,1],[\"stacks.fn\",1,1]"));
    assert_non_null(strstr(text, "[\"samples.weight\",3,2],[\"samples.count\",0,0]")); /* 300 has two bytes */
    assert_non_null(strstr(text, "\"first\":1000,\"span\":2000,\"origin\":0,\"piece\":0"));
    assert_non_null(strstr(text, "{\"total\":301,\n\"name\":\"cycles\""));
    assert_non_null(strstr(text, "</html>"));
    assert_null(strstr(text, "[\"before."));
    const struct pf_html_options options = {.reverse = true, .before = {&f.set, 0, true}};
    text = written(pf_flame_html(&f.set, &options, fresh()));
    assert_non_null(strstr(text, "\"reverse\":true,\"compares\":true,\"normalized\":true"));
    assert_non_null(strstr(text, "[\"before.stacks.parent\",1,1]"));
    close_flames(&f);
}

static uint32_t heavy_child(struct pf_tree *tree, uint32_t parent, uint32_t frame_number, uint64_t weight)
{
    const uint32_t node = pf_tree_child(tree, parent, frame_number);
    pf_tree_add(tree, node, weight);
    return node;
}

/* The nodes that are kept as "1" and the others as "0", then what is cut, and from the root and from node 1. */
static void expect_cut(const struct pf_tree *tree, size_t max, const char *expected)
{
    struct pf_flame_cut cut;
    char text[64] = "";
    assert_int_equal(pf_flame_cut_open(&cut, pf_allocator_or_default(NULL), tree, max), 0);
    for (size_t i = 0; i < tree->count; i++)
        text[i] = cut.kept[i] ? '1' : '0';
    snprintf(text + tree->count, sizeof(text) - tree->count, " %zu nodes, %d: %d %d", cut.cut_count,
             (int)cut.cut_weight, (int)cut.lighter[0], (int)cut.lighter[1]);
    assert_string_equal(text, expected);
    pf_flame_cut_close(&cut);
}

/* The heaviest are kept; of equal ones the first, and none without its parent. */
static void test_cut(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    struct pf_tree *tree = &f.tree;
    const uint32_t first = heavy_child(tree, 0, 1, 1), deep = heavy_child(tree, first, 2, 0);
    heavy_child(tree, deep, 3, 4);
    heavy_child(tree, first, 4, 4);
    heavy_child(tree, 0, 5, 2);
    assert_true(pf_tree_sum(tree));
    expect_cut(tree, 0, "100000 5 nodes, 11: 11 0");
    expect_cut(tree, 2, "110000 4 nodes, 10: 2 8");
    expect_cut(tree, 3, "111000 3 nodes, 10: 2 4");
    expect_cut(tree, 4, "111100 2 nodes, 6: 2 4");
    expect_cut(tree, 5, "111110 1 nodes, 2: 2 0");
    expect_cut(tree, 6, "111111 0 nodes, 0: 0 0");
    expect_cut(tree, SIZE_MAX, "111111 0 nodes, 0: 0 0");
    close_flames(&f);
}

/* A page says how many stacks are cut off by its limit, and what they weigh. */
static void test_html_max_nodes(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 9, "w", "a", NULL);
    add(&f, 1, "w", "b", NULL);
    finish(&f);
    const uint32_t thread = pf_tree_child(&f.page.tree, 0, 0);
    add_row(&f, 1000, pf_tree_child(&f.page.tree, thread, 1), 9);
    add_row(&f, 2000, pf_tree_child(&f.page.tree, thread, 3), 1);
    f.event.total = 10;
    const char *text = written(pf_flame_html(&f.set, &(struct pf_html_options){.max_nodes = 4}, fresh()));
    assert_non_null(strstr(text, "\"cutNodes\":0,\"cutPermille\":0"));
    text = written(pf_flame_html(&f.set, &(struct pf_html_options){.max_nodes = 3}, fresh()));
    assert_non_null(strstr(text, "\"cutNodes\":1,\"cutPermille\":100"));
    close_flames(&f);
}

static void expect_row(const struct pf_page *page, struct pf_page_reading *reading, struct pf_page_row expected)
{
    struct pf_page_row row;
    assert_true(pf_page_next(page, reading, &row));
    assert_int_equal(row.time, expected.time);
    assert_int_equal(row.weight, expected.weight);
    assert_int_equal(row.count, expected.count);
    assert_int_equal(row.stack, expected.stack);
    assert_int_equal(row.cpu, expected.cpu);
}

/* Samples are read as they were given; then those of one stack in one piece of time are one. */
static void test_page(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    const uint64_t times[] = {5000, 1000, 1100, PF_PAGE_NO_TIME, 9000, 1050};
    for (uint32_t i = 0; i < PF_COUNT(times); i++)
        add_row(&f, times[i], i % 2, i + 1);
    add_row(&f, UINT64_MAX - 1, 0, 1); /* far from all others: not known */
    struct pf_page_reading reading = {0};
    for (uint32_t i = 0; i < PF_COUNT(times); i++)
        expect_row(&f.page, &reading, (struct pf_page_row){times[i], i + 1, 1, i % 2, 0, i % 2 ? 3 : PF_PAGE_NONE, 0});
    expect_row(&f.page, &reading, (struct pf_page_row){PF_PAGE_NO_TIME, 1, 1, 0, 0, PF_PAGE_NONE, 0});
    assert_int_equal(f.page.totals[0], 22);
    assert_true(pf_page_join(&f.page, 2, NULL) && pf_page_end(&f.page));
    reading = (struct pf_page_reading){0};
    expect_row(&f.page, &reading, (struct pf_page_row){3000, 4, 2, 0, 0, PF_PAGE_NONE, 0}); /* 5000 and 1100 */
    expect_row(&f.page, &reading, (struct pf_page_row){3000, 2, 1, 1, 0, PF_PAGE_NONE, 0});
    expect_row(&f.page, &reading, (struct pf_page_row){PF_PAGE_NO_TIME, 4, 1, 1, 0, PF_PAGE_NONE, 0});
    expect_row(&f.page, &reading, (struct pf_page_row){7001, 5, 1, 0, 0, PF_PAGE_NONE, 0});
    assert_true(pf_page_join(&f.page, 0, (const uint32_t[]){0, 0}));
    reading = (struct pf_page_reading){0};
    expect_row(&f.page, &reading, (struct pf_page_row){PF_PAGE_NO_TIME, 22, 7, 0, 0, PF_PAGE_NONE, 0});
    assert_int_equal(f.page.rows.count, 1);
    close_flames(&f);
}

/* What comes after joining began is in the middle of its piece, too, though the recording was not that long yet. */
static void test_page_middle(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add_row(&f, 1000, 0, 1);
    add_row(&f, 2999, 0, 1);
    assert_true(pf_page_join(&f.page, 2, NULL));
    add_row(&f, 5000, 0, 1);
    add_row(&f, 5900, 1, 1);
    assert_true(pf_page_end(&f.page));
    const uint64_t times[] = {1500, 2500, 5500, 5500};
    struct pf_page_reading reading = {0};
    for (uint32_t i = 0; i < PF_COUNT(times); i++)
        expect_row(&f.page, &reading, (struct pf_page_row){times[i], 1, 1, i == 3, 0, PF_PAGE_NONE, 0});
    close_flames(&f);
}

/* Longer pieces are of complete shorter ones and begin where those did, also when an earlier time was found since. */
static void test_page_pieces(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    for (uint64_t i = 0; i < 1000; i++)
        add_row(&f, 1000 + 10 * i, 0, 1);
    assert_true(pf_page_join(&f.page, 300, NULL));
    const uint64_t width = f.page.fold.width_ns;
    assert_int_equal(width, 34);
    f.page.first = 500;
    for (uint64_t pieces = 90; pieces > 1; pieces /= 3) {
        const uint64_t before = f.page.fold.width_ns;
        assert_true(pf_page_join(&f.page, pieces, NULL));
        assert_int_equal(f.page.fold.width_ns % before, 0);
        assert_int_equal(f.page.fold.first_ns, 1000);
    }
    close_flames(&f);
}

/* The n-th number: of all lengths, in runs of one to four. */
static uint64_t number_at(uint64_t n)
{
    static const uint8_t runs[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3};
    const uint64_t run = n / PF_COUNT(runs) * 4 + runs[n % PF_COUNT(runs)];
    return run * 0x9e3779b97f4a7c15ull >> run % 64;
}

/* Numbers are read as they were put, over many blocks, while more of them come and the read ones are discarded. */
static void test_numbers(void **state)
{
    (void)state;
    enum { MAX = 60000, STEP = 4999 };
    const struct perfile_allocator *memory = pf_allocator_or_default(NULL);
    struct pf_numbers numbers = {0};
    size_t bytes = 0;
    for (uint64_t i = 0; i < MAX; i++) {
        uint8_t leb[PF_LEB128_BYTES];
        assert_true(pf_numbers_put(&numbers, memory, number_at(i)));
        bytes += (size_t)(pf_leb128_put(leb, number_at(i)) - leb);
        if (i % STEP)
            continue;
        struct pf_numbers_reading reading = {0};
        for (uint64_t k = 0; k <= i; k++)
            assert_int_equal(pf_numbers_get(&numbers, &reading), number_at(k));
    }
    assert_int_equal(numbers.count, MAX);
    assert_int_equal(numbers.bytes, bytes);
    struct pf_numbers_reading reading = {0};
    for (uint64_t k = 0; k < MAX; k++) {
        assert_int_equal(pf_numbers_get(&numbers, &reading), number_at(k));
        pf_numbers_discard(&numbers, &reading, memory);
        assert_ptr_equal(numbers.first, reading.block);
    }
    pf_numbers_close(&numbers, memory);
}

/* Whatever allocation fails, all the others are given back. */
static void test_memory_short(void **state)
{
    (void)state;
    struct flames f;
    open_flames(&f);
    add(&f, 3, "w", "more", "x");
    finish(&f);
    add_row(&f, 1, pf_tree_child(&f.page.tree, 0, 1), 3);
    for (int form = 0; form < 3; form++) {
        int result = PERFILE_ERROR_MEMORY;
        for (int left = 0; result == PERFILE_ERROR_MEMORY; left++) {
            struct counting c;
            struct pf_text text;
            assert_true(left < 1000);
            counting_open(&c, left);
            result = pf_text_open(&text, &c.allocator, NULL, NULL);
            if (result == 0)
                result = form == 0   ? pf_flame_folded(&f.set, 0, &(struct pf_folded_options){0}, &text)
                         : form == 1 ? pf_flame_svg(&f.set, 0, &(struct pf_svg_options){.before.set = &f.set}, &text)
                                     : pf_flame_html(&f.set, &(struct pf_html_options){.before.set = &f.set}, &text);
            pf_text_close(&text);
            counting_close(&c);
        }
        assert_int_equal(result, 0);
    }
    close_flames(&f);
}

static int close_out(void **state)
{
    (void)state;
    pf_text_close(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded_order),
        cmocka_unit_test(test_folded_names),
        cmocka_unit_test(test_folded_options),
        cmocka_unit_test(test_names_of_files_are_complete),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_svg_reverse),
        cmocka_unit_test(test_svg_differential),
        cmocka_unit_test(test_svg_differential_plain),
        cmocka_unit_test(test_folded_differential),
        cmocka_unit_test(test_svg_small),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_html_max_nodes),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_page_middle),
        cmocka_unit_test(test_page_pieces),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_memory_short),
    };
    out.allocator = pf_allocator_or_default(NULL);
    return cmocka_run_group_tests(tests, NULL, close_out);
}
