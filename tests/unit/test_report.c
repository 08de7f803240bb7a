/* SPDX-License-Identifier: MIT */
/* Link with the analysis layer. Symbols need no files here: frames are addresses, or outside of every mapping. */
#include "analysis/report/graph.h"
#include "analysis/report/hierarchy.h"

#include <stdio.h>

#include "recording.h"

enum {
    IP = PERFILE_SAMPLE_IP,
    TID = PERFILE_SAMPLE_TID,
    TIME = PERFILE_SAMPLE_TIME,
    CALLCHAIN = PERFILE_SAMPLE_CALLCHAIN,
    PERIOD = PERFILE_SAMPLE_PERIOD
};

static struct recording made;
static struct perfile_reader *reader;
static struct pf_report report;
static struct perfile_output_options options; /* points at the next three */
static struct perfile_report_options wanted;
static const struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
static struct perfile_filter filter;
static struct perfile_error error;

static void start(uint64_t sample_type)
{
    options = (struct perfile_output_options)PERFILE_OUTPUT_OPTIONS_INIT;
    wanted = (struct perfile_report_options)PERFILE_REPORT_OPTIONS_INIT;
    filter = (struct perfile_filter)PERFILE_FILTER_INIT;
    options.report = &wanted;
    options.symbols = &symbols;
    options.filter = &filter;
    recording_open(&made, sample_type, false);
}

static void comm_at(int32_t tid, const char *name, uint64_t time)
{
    const size_t at = made.bytes;
    char padded[16] = "";
    memcpy(padded, name, strlen(name));
    recording_header(&made, PERFILE_RECORD_COMM, 0, 0);
    recording_u32(&made, (uint32_t)tid);
    recording_u32(&made, (uint32_t)tid);
    recording_bytes(&made, padded, sizeof(padded));
    recording_fields(&made, tid, time);
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

static void comm(int32_t tid, const char *name)
{
    comm_at(tid, name, 1);
}

/* The stack as letters, leaf last: each is an address of its own. */
static void sample_at(int32_t tid, const char *stack, uint64_t period, uint64_t time)
{
    const size_t at = made.bytes, depth = strlen(stack);
    recording_header(&made, PERFILE_RECORD_SAMPLE, 2, 0);
    recording_u64(&made, (uint64_t)stack[depth - 1]);
    recording_fields(&made, tid, time);
    recording_u64(&made, period);
    if (made.sample_type & CALLCHAIN) {
        recording_u64(&made, depth + 1);
        recording_u64(&made, (uint64_t)-512); /* PERF_CONTEXT_USER */
        for (size_t i = depth; i-- > 0;)
            recording_u64(&made, (uint64_t)stack[i]);
    }
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

static void sample(int32_t tid, const char *stack, uint64_t period)
{
    sample_at(tid, stack, period, 2);
}

static int run(void)
{
    recording_finish(&made);
    assert_int_equal(perfile_open_memory(made.data, made.bytes, NULL, &reader, &error), 0);
    return pf_report_open(&report, reader, &options, false, &error);
}

static void finish(void)
{
    pf_report_close(&report);
    perfile_close(reader);
    recording_close(&made);
}

/* "COMM ADDRESS-LETTER children/self*samples" of each row, with semicolons. */
static const char *rows(void)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t e = 0; e < report.events.count; e++)
        for (size_t i = 0; i < report.events.items[e].row_count; i++) {
            const struct pf_report_row *row = &report.events.items[e].rows[i];
            const struct pf_frame_info *frame = pf_report_frame(&report, row);
            const char *name = pf_report_key(&report, row)->comm;
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %c %d/%d*%d", used ? "; " : "",
                                     name ? name : "-", frame && frame->address ? (char)frame->address : '-',
                                     (int)row->children, (int)row->self, (int)row->samples);
        }
    return text;
}

static void print_branches(struct pf_graph *graph, const struct pf_graph_branch *from, char *text, size_t capacity)
{
    struct pf_graph_branch *branches;
    size_t count;
    assert_true(pf_graph_expand(graph, from, &branches, &count));
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(text);
        const struct pf_frame_info *frame = pf_profile_frame(report.profile, branches[i].frame);
        snprintf(text + used, capacity - used, "(%c%d", (char)frame->address, (int)branches[i].hits);
        print_branches(graph, &branches[i], text, capacity);
        strcat(text, ")");
    }
}

/* The graph of a row as "(a10(b7)(c3))". */
static const char *graph_of(size_t index)
{
    static char text[1024];
    struct pf_graph graph;
    text[0] = '\0';
    pf_graph_open(&graph, &report, &report.events.items[0].rows[index]);
    print_branches(&graph, NULL, text, sizeof(text));
    pf_graph_close(&graph);
    return text;
}

static void make_flat(void)
{
    start(IP | TID | TIME | PERIOD);
    comm(1, "one");
    comm(2, "two");
    sample(1, "a", 10);
    sample(2, "a", 5);
    sample(1, "a", 20);
    sample(1, "b", 15);
    sample(2, "c", 50);
}

static void rows_are_sums_by_key(void **state)
{
    (void)state;
    make_flat();
    assert_int_equal(run(), 0);
    assert_false(report.settings.children);
    assert_string_equal(rows(), "two c 50/50*1; one a 30/30*2; one b 15/15*1; two a 5/5*1");
    assert_int_equal(report.events.items[0].period, 100);
    assert_int_equal(report.events.items[0].samples, 5);
    finish();
}

static void make_named_late(void)
{
    start(IP | TID | TIME | PERIOD | CALLCHAIN);
    comm(2, "two");
    sample(2, "ab", 1);
    sample(1, "ab", 10);
    sample(1, "ac", 20);
    sample(3, "ab", 40);
    comm_at(1, "two", 3);
    comm_at(3, "three", 3);
    sample_at(1, "ab", 80, 4);
    comm_at(3, "last", 5);
}

/* Rows of ":1" and of the name that comes later are one, with one graph. */
static void samples_before_the_comm_have_its_name(void **state)
{
    (void)state;
    make_named_late();
    wanted.sort = "comm";
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "two - 111/111*4; three - 40/40*1");
    assert_string_equal(graph_of(0), "(a111(b91)(c20))");
    finish();
    make_named_late();
    wanted.sort = "comm_nodigit,sym";
    wanted.flags = PERFILE_REPORT_NO_CHILDREN;
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "- b 91/91*3; - b 40/40*1; - c 20/20*1");
    finish();
}

/* "--sort pid" shows the last name of a thread, also when no sample has it. */
static void threads_are_shown_by_their_last_name(void **state)
{
    (void)state;
    struct pf_text text;
    make_named_late();
    wanted.sort = "pid";
    assert_int_equal(run(), 0);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (size_t i = 0; i < report.events.items[0].row_count; i++)
        pf_report_columns[PF_COLUMN_pid].text(&report, &report.events.items[0].rows[i], &text);
    pf_put_char(&text, '\0');
    assert_string_equal(text.data, "      1:two      3:last      2:two");
    pf_text_close(&text);
    finish();
}

static void columns_choose_the_keys(void **state)
{
    static const char *const cases[][2] = {
        {"comm", "two - 55/55*2; one - 45/45*3"},
        {"symbol", "- c 50/50*1; - a 35/35*3; - b 15/15*1"},
        {"period,sym,overhead", "- c 50/50*1; - a 35/35*3; - b 15/15*1"},
        {"dso", "- - 100/100*5"}, /* addresses without a symbol are one frame where none is shown */
        {"+tid", "two c 50/50*1; one a 30/30*2; one b 15/15*1; two a 5/5*1"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        make_flat();
        wanted.sort = cases[i][0];
        assert_int_equal(run(), 0);
        assert_string_equal(rows(), cases[i][1]);
        finish();
    }
}

static void bad_requests_are_named(void **state)
{
    static const struct {
        const char *sort, *call_graph, *percent_limit, *words;
        int code;
    } cases[] = {
        {"comm,nosuch", NULL, NULL, "'nosuch'; valid: overhead_children", PERFILE_ERROR_ARGUMENT},
        {"", NULL, NULL, "''", PERFILE_ERROR_ARGUMENT},
        {"simd", NULL, NULL, "'simd'", PERFILE_ERROR_UNSUPPORTED},
        {"{comm,{dso}}", NULL, NULL, "braces", PERFILE_ERROR_ARGUMENT},
        {"comm}", NULL, NULL, "braces", PERFILE_ERROR_ARGUMENT},
        {"comm,{}", NULL, NULL, "''", PERFILE_ERROR_ARGUMENT},
        {NULL, "callers", NULL, "'callers'", PERFILE_ERROR_ARGUMENT},
        {NULL, "101", NULL, "101", PERFILE_ERROR_ARGUMENT},
        {NULL, "caller,branch", NULL, "'branch'", PERFILE_ERROR_UNSUPPORTED},
        {NULL, NULL, "5x", "\"5x\"", PERFILE_ERROR_ARGUMENT},
        {NULL, NULL, "-1", "\"-1\"", PERFILE_ERROR_ARGUMENT},
        {NULL, NULL, "nan", "\"nan\"", PERFILE_ERROR_ARGUMENT},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        make_flat();
        wanted.sort = cases[i].sort;
        wanted.call_graph = cases[i].call_graph;
        wanted.percent_limit = cases[i].percent_limit;
        assert_int_equal(run(), cases[i].code);
        assert_non_null(strstr(error.message, cases[i].words));
        finish();
    }
}

/* What a filter leaves out still counts for the total. */
static void filters_keep_the_complete(void **state)
{
    (void)state;
    make_flat();
    filter.comms = "one";
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "one a 30/30*2; one b 15/15*1");
    assert_int_equal(report.events.items[0].period, 100);
    assert_ptr_equal(report.layout.columns[1], &pf_report_columns[PF_COLUMN_dso]); /* one name needs no column */
    finish();
    make_flat();
    filter.tids = "2";
    wanted.dsos = "[unknown],libc.so.6";
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "two c 50/50*1; two a 5/5*1");
    finish();
    make_flat();
    wanted.symbols = "main";
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "");
    finish();
}

static void make_stacks(void)
{
    start(IP | TID | TIME | PERIOD | CALLCHAIN);
    comm(1, "one");
    sample(1, "mab", 60);
    sample(1, "mab", 10);
    sample(1, "mac", 20);
    sample(1, "m", 10);
}

static void callers_have_what_they_called(void **state)
{
    (void)state;
    make_stacks();
    assert_int_equal(run(), 0);
    assert_true(report.settings.children);
    assert_string_equal(rows(), "one m 100/10*1; one a 90/0*0; one b 70/70*2; one c 20/20*1");
    assert_string_equal(graph_of(0), "(m100(a90(b70)(c20)))");
    assert_string_equal(graph_of(1), "(a90(b70)(c20))");
    assert_string_equal(graph_of(2), "(m70(a70(b70)))");       /* samples in b: the complete stack */
    assert_string_equal(graph_of(0), "(m100(a90(b70)(c20)))"); /* no graph leaves traces */
    finish();
}

static void without_children_only_what_ran(void **state)
{
    (void)state;
    make_stacks();
    wanted.flags = PERFILE_REPORT_NO_CHILDREN;
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "one b 70/70*2; one c 20/20*1; one m 100/10*1");
    assert_string_equal(graph_of(0), "(b70(a70(m70)))");
    assert_string_equal(graph_of(2), "(m10)");
    finish();
}

static void recursion_counts_once(void **state)
{
    (void)state;
    start(IP | TID | TIME | PERIOD | CALLCHAIN);
    sample(1, "mffg", 70);
    sample(1, "mfff", 30);
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), ":1 f 100/30*1; :1 m 100/0*0; :1 g 70/70*1");
    assert_string_equal(graph_of(0), "(f70(f70(g70)))(m30(f30(f30(f30))))");
    finish();
    start(IP | TID | TIME | PERIOD | CALLCHAIN);
    sample(1, "mffg", 70);
    sample(1, "mfff", 30);
    wanted.call_graph = "callee";
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), ":1 m 100/0*0; :1 f 100/30*1; :1 g 70/70*1");
    assert_string_equal(graph_of(1), "(f100(f100(m70)(f30(m30))))");
    finish();
}

static void small_branches_are_left_out(void **state)
{
    (void)state;
    make_stacks();
    wanted.call_graph = "caller,25";
    assert_int_equal(run(), 0);
    assert_string_equal(graph_of(0), "(m100(a90(b70)))");
    assert_string_equal(graph_of(3), ""); /* all of it weighs too little */
    assert_true(pf_report_shows(&report, &report.events.items[0].rows[3]));
    finish();
    make_stacks();
    wanted.percent_limit = "25%";
    assert_int_equal(run(), 0);
    assert_true(pf_report_shows(&report, &report.events.items[0].rows[2]));
    assert_false(pf_report_shows(&report, &report.events.items[0].rows[3]));
    finish();
}

static void stacks_can_be_cut(void **state)
{
    (void)state;
    make_stacks();
    wanted.max_stack = 2;
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "one a 90/0*0; one b 70/70*2; one c 20/20*1; one m 10/10*1");
    finish();
}

/* The sampled address may be missing in the callchain: it has its row, but no node in the graph. */
static void leaf_apart_from_its_stack(void **state)
{
    (void)state;
    start(IP | TID | TIME | PERIOD | CALLCHAIN);
    sample(1, "mab", 10);
    const uint64_t ip = 'x';
    memcpy(made.data + made.bytes - 9 * 8, &ip, 8); /* before tid, time, period, nr, context, 3 addresses */
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), ":1 x 10/10*1; :1 m 10/0*0; :1 a 10/0*0; :1 b 10/0*0");
    assert_string_equal(graph_of(0), "(m10(a10(b10)))");
    finish();
}

static void sample_of_counter(uint64_t ip, uint64_t value)
{
    const size_t at = recording_sample(&made, ip, 1, 1);
    recording_u64(&made, value);
    recording_u64(&made, RECORDING_ID);
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

/* Samples that carry counters weigh what was counted since the last one; nothing counted, no sample. */
static void counters_weigh_their_differences(void **state)
{
    enum { READ_FORMAT_AT = 112 + 32 };
    (void)state;
    start(IP | TID | TIME | PERFILE_SAMPLE_READ);
    recording_store64(&made, READ_FORMAT_AT, PERFILE_FORMAT_ID);
    comm(1, "one");
    sample_of_counter('a', 10);
    sample_of_counter('b', 25);
    sample_of_counter('c', 25);
    sample_of_counter('a', 27);
    assert_int_equal(run(), 0);
    assert_string_equal(rows(), "one b 15/15*1; one a 12/12*2");
    finish();
}

static void sample_of_branches(const uint64_t (*branches)[3], size_t count)
{
    const size_t at = recording_sample(&made, 'i', 1, 1);
    recording_u64(&made, count);
    for (size_t i = 0; i < count; i++) {
        recording_u64(&made, branches[i][0]);
        recording_u64(&made, branches[i][1]);
        recording_u64(&made, recording_branch_flags(&made, branches[i][2]));
    }
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

/* The cells of each row. */
static const char *cells_of_rows(void)
{
    static char text[1024];
    struct pf_text cells;
    assert_int_equal(pf_text_open(&cells, report.allocator, NULL, NULL), 0);
    for (size_t i = 0; i < report.events.items[0].row_count; i++) {
        for (size_t j = 0; j < report.layout.column_count; j++) {
            report.layout.columns[j]->text(&report, &report.events.items[0].rows[i], &cells);
            pf_put_char(&cells, ' ');
        }
        pf_put_char(&cells, ';');
    }
    pf_put_char(&cells, '\0');
    snprintf(text, sizeof(text), "%s", cells.data);
    pf_text_close(&cells);
    return text;
}

/* Each branch of a sample is one row's worth, whatever the sample's period is. */
static void branches_are_rows(void **state)
{
    enum { MISPREDICTED = 1, PREDICTED = 2, CYCLES_SHIFT = 4 };
    static const uint64_t first[][3] = {{'a', 'b', PREDICTED | 7 << CYCLES_SHIFT}, {'b', 'a', MISPREDICTED}};
    static const uint64_t second[][3] = {{'a', 'b', PREDICTED | 7 << CYCLES_SHIFT}, {'a', 'b', PREDICTED}};
    (void)state;
    start(IP | TID | TIME | PERFILE_SAMPLE_BRANCH_STACK);
    comm(1, "one");
    sample_of_branches(first, 2);
    sample_of_branches(second, 2);
    wanted.flags = PERFILE_REPORT_BRANCHES | PERFILE_REPORT_SAMPLES;
    wanted.sort = "symbol_to,mispredict,cycles";
    assert_int_equal(run(), 0);
    assert_string_equal(cells_of_rows(), " 50.00% 2 [H] 0x0000000000000062 N 7 ; 25.00% 1 [H] 0x0000000000000061 Y - ;"
                                         " 25.00% 1 [H] 0x0000000000000062 N - ;");
    assert_int_equal(report.events.items[0].samples, 2);
    assert_int_equal(report.events.items[0].period, 4);
    finish();
    make_flat();
    wanted.sort = "dso_to";
    assert_int_equal(run(), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "it needs rows of branches"));
    finish();
}

static void map_file(const char *name, uint64_t start)
{
    const struct recording_map map = {2, 1, start, 0x1000, 0x2000, name};
    recording_map(&made, &map, 1);
}

/* Ends of branches as files, addresses and lines: what lies in no file first, then from Z to A. */
static void branches_have_ends(void **state)
{
    static const uint64_t branches[][3] = {{0x10010, 0x20020}, {0x20020, 0x10010}, {0x10014, 'x'}, {'x', 0x10010}};
    static const struct {
        const char *sort, *cells;
    } expected[] = {
        {"dso_from", " 50.00% a.so ; 25.00% [unknown] ; 25.00% b.so ;"},
        {"dso_to", " 50.00% a.so ; 25.00% [unknown] ; 25.00% b.so ;"},
        {"addr_from", " 25.00% [.] 0x0000000000000078 ; 25.00% [.] 0x0000000000002020 ;"
                      " 25.00% [.] 0x0000000000002010 ; 25.00% [.] 0x0000000000002014 ;"},
        {"addr_to", " 50.00% [.] 0x0000000000002010 ; 25.00% [.] 0x0000000000000078 ;"
                    " 25.00% [.] 0x0000000000002020 ;"},
        {"srcline_from", " 25.00% ??:0 ; 25.00% a.so[2010] ; 25.00% a.so[2014] ; 25.00% b.so[2020] ;"},
        {"srcline_to", " 50.00% a.so[2010] ; 25.00% ??:0 ; 25.00% b.so[2020] ;"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(expected); i++) {
        start(IP | TID | TIME | PERFILE_SAMPLE_BRANCH_STACK);
        comm(1, "one");
        map_file("/none/a.so", 0x10000);
        map_file("/none/b.so", 0x20000);
        sample_of_branches(branches, PF_COUNT(branches));
        wanted.flags = PERFILE_REPORT_BRANCHES;
        wanted.sort = expected[i].sort;
        assert_int_equal(run(), 0);
        assert_string_equal(cells_of_rows(), expected[i].cells);
        finish();
    }
}

/* The letter before an address is the mode of the sample, whatever the address is. */
static void addresses_have_the_mode_of_the_sample(void **state)
{
    enum { MISC = 4 };
    static const uint64_t branches[][3] = {{0xffffffff81000000, 'a'}};
    (void)state;
    start(IP | TID | TIME | PERFILE_SAMPLE_BRANCH_STACK);
    comm(1, "one");
    const size_t at = made.bytes;
    sample_of_branches(branches, PF_COUNT(branches));
    recording_store16(&made, at + MISC, PERFILE_MISC_KERNEL);
    wanted.flags = PERFILE_REPORT_BRANCHES;
    wanted.sort = "addr_from,addr_to";
    assert_int_equal(run(), 0);
    assert_string_equal(cells_of_rows(), "100.00% [k] 0xffffffff81000000 [k] 0x0000000000000061 ;");
    finish();
}

static void sample_of_cost(int32_t tid, uint32_t weight, uint16_t instruction, uint16_t stage)
{
    const size_t at = recording_sample(&made, 'a', tid, 1);
    recording_u64(&made, 1);
    recording_u64(&made, weight | (uint64_t)instruction << 32 | (uint64_t)stage << 48);
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

/* The parts of a cost, of one sample and of all of a row. */
static void costs_have_parts(void **state)
{
    static const struct {
        const char *sort, *cells;
    } expected[] = {
        {"local_weight,weight", " 66.67% 30 60 ; 33.33% 9 9 ;"},
        {"local_ins_lat,ins_lat", " 66.67% 7 14 ; 33.33% 65535 65535 ;"},
        {"local_retire_lat,retire_lat", " 66.67% 2 4 ; 33.33% 0 0 ;"},
        {"local_p_stage_cyc,p_stage_cyc", " 66.67% 2 4 ; 33.33% 0 0 ;"},
        {"comm,weight1,weight2,weight3", " 33.33% job 9.0 65535.0 0.0 ; 33.33% w1-20 30.0 7.0 2.0 ;"
                                         " 33.33% w3-7 30.0 7.0 2.0 ;"},
        {"weight1,weight2,weight3,dso", "100.00% 23.0 21849.7 1.3 [unknown] ;"},
        {"weight1,overhead,comm", " 33.33% 30.0 w1-20 ; 33.33% 30.0 w3-7 ; 33.33% 9.0 job ;"},
        {"comm_nodigit", " 66.67% w<N>-<N> ; 33.33% job ;"},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(expected); i++) {
        start(IP | TID | TIME | PERIOD | PERFILE_SAMPLE_WEIGHT_STRUCT);
        comm(1, "w1-20");
        comm(2, "job");
        comm(3, "w3-7");
        sample_of_cost(1, 30, 7, 2);
        sample_of_cost(2, 9, 65535, 0);
        sample_of_cost(3, 30, 7, 2);
        wanted.sort = expected[i].sort;
        assert_int_equal(run(), 0);
        assert_string_equal(cells_of_rows(), expected[i].cells);
        finish();
    }
}

static void sums_of_costs_end_at_the_largest_number(void **state)
{
    (void)state;
    start(IP | TID | TIME | PERIOD | PERFILE_SAMPLE_WEIGHT);
    comm(1, "one");
    for (int i = 0; i < 3; i++) {
        const size_t at = recording_sample(&made, 'a', 1, 1);
        recording_u64(&made, 1);
        recording_u64(&made, (uint64_t)1 << 63);
        recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
    }
    wanted.sort = "weight,weight1";
    assert_int_equal(run(), 0);
    assert_string_equal(cells_of_rows(), "100.00% 18446744073709551615 6148914691236516864.0 ;");
    finish();
}

static void sample_of_access(int32_t tid, uint64_t ip, uint64_t address)
{
    const size_t at = recording_sample(&made, ip, tid, 1);
    recording_u64(&made, address);
    recording_u64(&made, 1);
    recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
}

/* Where the data is: an address each; lines of a file are the same in all processes, those of a stack are not. */
static void accesses_have_addresses(void **state)
{
    enum { DATA = 2 | 1 << 13 };
    static const struct {
        const char *sort, *cells;
    } expected[] = {
        {"symbol_daddr", " 33.33% [.] 0x0000000000090008 ; 16.67% [.] 0xffff000000000000 ;"
                         " 16.67% [.] 0x0000000000010010 ; 16.67% [.] 0x0000000000010014 ;"
                         " 16.67% [.] 0x0000000000030010 ;"},
        {"symbol_iaddr", " 83.33% [.] 0x0000000000000078 ; 16.67% [.] 0x0000000000000079 ;"},
        {"dcacheline", " 50.00% [.] 0x0000000000002000 ; 16.67% [.] 0x0000000000090000 ;"
                       " 16.67% [.] 0x0000000000090000 ; 16.67% [X] 0xffff000000000000 ;"},
        {"dso_daddr", " 50.00% a.so ; 33.33% [stack] ; 16.67% [unknown] ;"},
    };
    static const struct recording_map maps[] = {{DATA, 1, 0x10000, 0x1000, 0x2000, "/none/a.so"},
                                                {DATA, 2, 0x30000, 0x1000, 0x2000, "/none/a.so"},
                                                {DATA, 1, 0x90000, 0x1000, 0, "[stack]"},
                                                {DATA, 2, 0x90000, 0x1000, 0, "[stack]"}};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(expected); i++) {
        start(IP | TID | TIME | PERFILE_SAMPLE_ADDR | PERIOD);
        for (size_t j = 0; j < PF_COUNT(maps); j++)
            recording_map(&made, &maps[j], 1);
        sample_of_access(1, 'x', 0x10010);
        sample_of_access(1, 'x', 0x10014);
        sample_of_access(2, 'x', 0x30010);
        sample_of_access(1, 'x', 0x90008);
        sample_of_access(2, 'x', 0x90008);
        sample_of_access(1, 'y', 0xffff000000000000);
        wanted.sort = expected[i].sort;
        wanted.flags = PERFILE_REPORT_MEMORY;
        assert_int_equal(run(), 0);
        assert_string_equal(cells_of_rows(), expected[i].cells);
        finish();
    }
}

/* A memory access weighs what it cost, and no less than 1. */
static void accesses_weigh_their_cost(void **state)
{
    static const uint64_t costs[] = {30, 0, 9};
    (void)state;
    start(IP | TID | TIME | PERFILE_SAMPLE_WEIGHT);
    comm(1, "one");
    for (size_t i = 0; i < PF_COUNT(costs); i++) {
        const size_t at = recording_sample(&made, 'a' + i, 1, 1);
        recording_u64(&made, costs[i]);
        recording_store16(&made, at + 6, (uint16_t)(made.bytes - at));
    }
    wanted.flags = PERFILE_REPORT_MEMORY;
    assert_int_equal(run(), 0);
#define NOTHING " [unknown] [.] 0000000000000000 [unknown] N/A N/A N/A  N/A 0 ;"
    assert_string_equal(cells_of_rows(),
                        " 75.00% 30 N/A [.] 0x0000000000000061" NOTHING " 22.50% 9 N/A [.] 0x0000000000000063" NOTHING
                        "  2.50% 0 N/A [.] 0x0000000000000062" NOTHING);
#undef NOTHING
    assert_false(report.settings.children);
    finish();
}

/* "LEVEL children/self*samples" of each line of a hierarchy that is shown; at the last level with its function. */
static const char *lines(void)
{
    static char text[1024];
    struct pf_report_line line;
    size_t used = 0;
    text[0] = '\0';
    pf_report_open_lines(&report, &report.events.items[0], &line);
    while (pf_report_next_line(&report, &report.events.items[0], &line)) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d %d/%d*%d", used ? "; " : "", (int)line.level,
                                 (int)line.row->children, (int)line.row->self, (int)line.row->samples);
        if (line.leaf && line.row->frame != PF_NO_SYMBOL)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " %c",
                                     (char)pf_report_frame(&report, line.row)->address);
    }
    return text;
}

static void run_hierarchy(const char *sort, const char *expected)
{
    wanted.flags |= PERFILE_REPORT_HIERARCHY;
    wanted.sort = sort;
    assert_int_equal(run(), 0);
    assert_string_equal(lines(), expected);
    finish();
}

/* Heaviest first on every level, which is not the order of the wanted. */
static void entries_are_sums_of_rows(void **state)
{
    (void)state;
    make_flat();
    run_hierarchy("comm,symbol", "0 0/55*2; 1 50/50*1 c; 1 5/5*1 a; 0 0/45*3; 1 30/30*2 a; 1 15/15*1 b");
    make_flat();
    run_hierarchy("symbol,comm", "0 0/50*1; 1 50/50*1 c; 0 0/35*3; 1 30/30*2 a; 1 5/5*1 a; 0 0/15*1; 1 15/15*1 b");
    make_flat();
    run_hierarchy("comm,dso,tid,symbol", "0 0/55*2; 1 0/55*2; 2 0/55*2; 3 50/50*1 c; 3 5/5*1 a; 0 0/45*3; 1 0/45*3; "
                                         "2 0/45*3; 3 30/30*2 a; 3 15/15*1 b");
    make_flat();
    run_hierarchy("{comm,tid},{dso,symbol}", "0 0/55*2; 1 50/50*1 c; 1 5/5*1 a; 0 0/45*3; 1 30/30*2 a; 1 15/15*1 b");
    make_flat();
    run_hierarchy("comm", "0 55/55*2; 0 45/45*3");
    make_flat();
    wanted.percent_limit = "40";
    run_hierarchy("comm,symbol", "0 0/55*2; 1 50/50*1 c; 0 0/45*3");
}

/* The rows below an entry share samples: their sum would be more than there are. */
static void entries_have_each_sample_once(void **state)
{
    (void)state;
    make_stacks();
    run_hierarchy("dso,symbol", "0 100/100*4; 1 100/10*1 m; 1 90/0*0 a; 1 70/70*2 b; 1 20/20*1 c");
    make_stacks();
    comm(2, "two");
    sample(2, "xax", 60);
    sample(2, "mx", 40);
    run_hierarchy("symbol,comm", "0 150/0*0; 1 90/0*0 a; 1 60/0*0 a; 0 140/10*1; 1 100/10*1 m; 1 40/0*0 m; "
                                 "0 100/100*2; 1 100/100*2 x; 0 70/70*2; 1 70/70*2 b; 0 20/20*1; 1 20/20*1 c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sums_by_key),
        cmocka_unit_test(samples_before_the_comm_have_its_name),
        cmocka_unit_test(threads_are_shown_by_their_last_name),
        cmocka_unit_test(columns_choose_the_keys),
        cmocka_unit_test(bad_requests_are_named),
        cmocka_unit_test(filters_keep_the_complete),
        cmocka_unit_test(callers_have_what_they_called),
        cmocka_unit_test(without_children_only_what_ran),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(small_branches_are_left_out),
        cmocka_unit_test(stacks_can_be_cut),
        cmocka_unit_test(leaf_apart_from_its_stack),
        cmocka_unit_test(counters_weigh_their_differences),
        cmocka_unit_test(branches_are_rows),
        cmocka_unit_test(branches_have_ends),
        cmocka_unit_test(addresses_have_the_mode_of_the_sample),
        cmocka_unit_test(costs_have_parts),
        cmocka_unit_test(sums_of_costs_end_at_the_largest_number),
        cmocka_unit_test(accesses_have_addresses),
        cmocka_unit_test(entries_are_sums_of_rows),
        cmocka_unit_test(entries_have_each_sample_once),
        cmocka_unit_test(accesses_weigh_their_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
