/* SPDX-License-Identifier: MIT */
/* Comparing made profiles: what is matched, what is guessed, verdicts, limits; profiles as files; little memory. */
#include <perfile/diff.h>
#include <perfile/table.h>

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "made.h"
#include "counting.h"

enum { MAX_PROFILES = 16, MAX_FRAMES = 64, TEXT = 1 << 16 };

/*
 * A stack, outermost first: "main;libc:memcpy" belongs to the modules prog and libc; "!f" has no module; NULL ends a
 * list.
 */
struct stack {
    const char *frames;
    unsigned samples;
};

/* ---- making profiles --------------------------------------------------------------------------------------------- */

struct making {
    char text[TEXT];
    size_t used;
    char names[MAX_FRAMES][64];
    unsigned functions, nodes, modules;
    char module_names[8][64];
};

static void put(struct making *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct making *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    m->used += (size_t)vsnprintf(m->text + m->used, sizeof(m->text) - m->used, format, arguments);
    va_end(arguments);
    assert_true(m->used < sizeof(m->text));
}

static unsigned module_number(struct making *m, const char *name)
{
    unsigned i = 0;
    while (i < m->modules && strcmp(m->module_names[i], name) != 0)
        i++;
    if (i == m->modules) {
        snprintf(m->module_names[m->modules++], 64, "%s", name);
        put(m, "M\t%s\t%s\t\\N\t%040d\t0\t3\t0\t0\t0\n", name, name, 0);
    }
    return i;
}

static unsigned frame_number(struct making *m, const char *frame, const char *program)
{
    char name[64], module[64];
    const char *colon = strstr(frame, "::") ? NULL : strchr(frame, ':');
    unsigned i = 0;
    snprintf(module, sizeof(module), "%.*s", colon ? (int)(colon - frame) : 63, colon ? frame : program);
    snprintf(name, sizeof(name), "%s", frame);
    while (i < m->functions && strcmp(m->names[i], name) != 0)
        i++;
    if (i == m->functions) {
        const unsigned number = module_number(m, module);
        assert_true(m->functions < MAX_FRAMES);
        snprintf(m->names[m->functions++], 64, "%s", name);
        const char *text = colon ? colon + 1 : frame;
        put(m, "F\t%s\t\\N\t%s\t\\N\t0\t0\t%u\t0\t0\n", strcmp(text, "?") ? text : "\\N", text, number);
        put(m, "P\t\\N\t0\t0\t0\t%u\t0\t0\n", i);
    }
    return i;
}

static const char *event_names[2] = {"cpu-clock", "work"};

static struct perfile_profile *make(const char *program, const struct stack *stacks)
{
    static struct making m;
    struct perfile_profile *profile;
    struct perfile_error error = {0};
    m = (struct making){.used = 0};
    put(&m,
        "perfile-profile "
        "2\nE\t%s\tns\t0\t1\t0\t0\nE\t%s\tevents\t0\t1\t9\t0\nK\t0\t-1\t-1\t-1\tjob-%s\t\\N\t0\n"
        "K\t1\t-1\t-1\t-1\t\\N\t\\N\t0\n",
        event_names[0], event_names[1], program);
    for (; stacks->frames; stacks++) {
        char frames[512], *next = frames, *frame;
        unsigned leaf = 0, depth = 0;
        if (stacks->frames[0] == '!') {
            leaf = frame_number(&m, stacks->frames + 1, program);
            put(&m, "R\t-\t0\t%u\t%u\t%u\t0\n", leaf, stacks->samples, stacks->samples * 1000);
            continue;
        }
        snprintf(frames, sizeof(frames), "%s", stacks->frames);
        while ((frame = strsep(&next, ";")) != NULL) {
            leaf = frame_number(&m, frame, program);
            if (depth++)
                put(&m, "S\t%u\t%u\n", m.nodes - 1, leaf);
            else
                put(&m, "S\t-\t%u\n", leaf);
            m.nodes++;
        }
        put(&m, "R\t%u\t0\t%u\t%u\t%u\t0\n", m.nodes - 1, leaf, stacks->samples, stacks->samples * 1000);
    }
    put(&m, "R\t0\t1\t0\t1\t500\t0\nL\t0\t0\t0\t0\t0\t0\t0\n");
    if (perfile_profile_read(m.text, m.used, NULL, &profile, &error) != 0)
        fail_msg("%s in\n%s", error.message, m.text);
    return profile;
}

/* `count` of each side, all of a side alike but for a sample more or less of each stack. */
struct sides {
    struct perfile_profile *profiles[MAX_PROFILES];
    size_t count;
    struct perfile_diff_options options;
    struct perfile_diff *diff;
};

static struct perfile_profile *make_near(const char *program, const struct stack *stacks, size_t nth)
{
    struct stack near[16] = {{NULL, 0}};
    for (size_t i = 0; stacks[i].frames; i++)
        near[i] = (struct stack){stacks[i].frames, stacks[i].samples + (unsigned)((nth + i) % 3)};
    return make(program, near);
}

static void open_sides(struct sides *s, size_t count, const struct stack *before, const struct stack *after)
{
    *s = (struct sides){.count = count, .options = PERFILE_DIFF_OPTIONS_INIT};
    for (size_t i = 0; i < 2 * count; i++)
        s->profiles[i] = i < count ? make_near("prog", before, i) : make_near("prog", after, i - count);
    s->options.before = (const struct perfile_profile *const *)s->profiles;
    s->options.after = s->options.before + count;
    s->options.before_count = s->options.after_count = count;
}

static void compare(struct sides *s)
{
    struct perfile_error error = {0};
    if (perfile_diff_open(&s->options, &s->diff, &error) != 0)
        fail_msg("%s", error.message);
}

static void close_sides(struct sides *s)
{
    perfile_diff_close(s->diff);
    for (size_t i = 0; i < 2 * s->count; i++)
        perfile_profile_close(s->profiles[i]);
}

/* The row of a function, or of a module; it must be there. */
static struct perfile_diff_row row_of(const struct perfile_diff *diff, const char *name)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    for (size_t i = 0; perfile_diff_row_at(diff, i, &row) == 0; i++) {
        const char *called = row.path ? row.path : row.function ? row.function : row.module ? row.module : row.thread;
        if (strcmp(called, name) == 0)
            return row;
    }
    fail_msg("no row %s", name);
    return row;
}

static bool has_note(const struct perfile_diff *diff, const char *text)
{
    const char *note;
    for (size_t i = 0; (note = perfile_diff_note_at(diff, i)) != NULL; i++)
        if (strstr(note, text))
            return true;
    return false;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const struct stack before[] = {{"main", 10},
                                      {"main;step;f", 500},
                                      {"main;step;g.isra.0", 300},
                                      {"main;step;g.cold", 50},
                                      {"libc:memcpy@@V_2", 200},
                                      {"old_thing", 90},
                                      {NULL, 0}};
static const struct stack after[] = {{"main", 10},     {"main;step;f", 700},     {"main;step;g.isra.1", 350},
                                     {"main;step", 1}, {"libc:memcpy@V_3", 200}, {"another", 40},
                                     {NULL, 0}};

static void rows_and_verdicts(void **state)
{
    struct sides s;
    struct perfile_diff_row row;
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    (void)state;
    open_sides(&s, 4, before, after);
    s.options.flags = PERFILE_DIFF_GATE;
    s.options.limit = 0.1;
    compare(&s);
    row = row_of(s.diff, "f");
    assert_int_equal(row.verdict, PERFILE_DIFF_MORE);
    assert_true(row.fails && row.in_family && row.difference > 190e3 && row.low < row.difference);
    assert_int_equal(row_of(s.diff, "g").verdict, PERFILE_DIFF_SAME);
    assert_int_equal(row_of(s.diff, "memcpy").verdict, PERFILE_DIFF_SAME);
    assert_int_equal(row_of(s.diff, "old_thing").state, PERFILE_DIFF_GONE);
    assert_int_equal(row_of(s.diff, "old_thing").verdict, PERFILE_DIFF_LESS);
    assert_int_equal(row_of(s.diff, "another").state, PERFILE_DIFF_NEW);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_string_equal(info.event, "cpu-clock");
    assert_string_equal(info.unit, "ns");
    assert_int_equal(info.failing, 2); /* f, and what is new */
    assert_int_equal(perfile_diff_row_at(s.diff, 0, &row), 0);
    assert_string_equal(row.function, "f");
    assert_int_equal(perfile_diff_row_at(s.diff, 100, &row), PERFILE_ERROR_ARGUMENT);
    close_sides(&s);
}

static void limits_have_patterns(void **state)
{
    static const char *const ignored[] = {"f", "anoth*"};
    struct sides s;
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    (void)state;
    open_sides(&s, 4, before, after);
    s.options.flags = PERFILE_DIFF_GATE;
    s.options.limit_weight = 1000;
    s.options.ignore = ignored;
    s.options.ignore_count = 2;
    compare(&s);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_int_equal(info.failing, 0);
    close_sides(&s);
    open_sides(&s, 4, before, after);
    s.options.flags = PERFILE_DIFF_GATE | PERFILE_DIFF_GATE_TOTAL;
    s.options.limit = 0.01;
    compare(&s);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_int_equal(info.failing, 1);
    close_sides(&s);
}

static void one_on_a_side_is_unsure(void **state)
{
    struct sides s;
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    (void)state;
    open_sides(&s, 1, before, after);
    s.options.flags = PERFILE_DIFF_GATE;
    s.options.limit = 0.01;
    compare(&s);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_true(info.sampling_only && !info.failing);
    for (size_t i = 0; perfile_diff_row_at(s.diff, i, &row) == 0; i++)
        assert_int_equal(row.verdict, PERFILE_DIFF_UNSURE);
    assert_true(has_note(s.diff, "no verdicts"));
    perfile_diff_close(s.diff);
    s.options.noise = 0.01;
    compare(&s);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_true(info.assumed && !info.sampling_only && info.failing);
    assert_int_equal(row_of(s.diff, "f").verdict, PERFILE_DIFF_MORE);
    close_sides(&s);
}

static void paths_know_their_callers(void **state)
{
    struct sides s;
    struct perfile_diff_row row, parent = PERFILE_DIFF_ROW_INIT;
    (void)state;
    open_sides(&s, 3, before, after);
    s.options.keys = "path";
    s.options.flags = PERFILE_DIFF_INCLUSIVE;
    compare(&s);
    row = row_of(s.diff, "main;step;f");
    assert_int_equal(perfile_diff_row_at(s.diff, row.parent, &parent), 0);
    assert_string_equal(parent.path, "main;step");
    assert_true(parent.before > row.before && parent.after > row.after);
    assert_int_equal(perfile_diff_row_at(s.diff, parent.parent, &parent), 0);
    assert_string_equal(parent.path, "main");
    assert_int_equal(parent.parent, PERFILE_NO_ID);
    close_sides(&s);
}

static void paths_without_stacks(void **state)
{
    static const struct stack flat[] = {{"main;g", 100}, {"!f", 500}, {NULL, 0}};
    static const struct stack deep[] = {{"main;g", 100}, {"f", 500}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 2, flat, deep);
    s.options.keys = "path";
    s.options.flags = PERFILE_DIFF_INCLUSIVE;
    compare(&s);
    struct perfile_diff_row row = row_of(s.diff, "f");
    assert_true(row.before > 499e3 && row.after > 499e3 && row.parent == PERFILE_NO_ID);
    assert_string_equal(row.module, "prog");
    close_sides(&s);
}

static void other_keys_and_units(void **state)
{
    struct sides s;
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    const double work[] = {1, 1, 2, 2};
    (void)state;
    open_sides(&s, 2, before, before);
    s.options.keys = "thread,dso";
    s.options.per = "work";
    compare(&s);
    row = row_of(s.diff, "libc");
    assert_string_equal(row.thread, "job-prog");
    assert_null(row.function);
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_string_equal(info.unit, "ns/work");
    perfile_diff_close(s.diff);
    s.options.per = NULL;
    s.options.work = work;
    compare(&s);
    assert_int_equal(perfile_diff_total(s.diff, &row), 0);
    assert_true(fabs(row.before - 2 * row.after) < 1);
    perfile_diff_close(s.diff);
    s.options.work = NULL;
    s.options.flags = PERFILE_DIFF_RELATIVE;
    compare(&s);
    assert_int_equal(perfile_diff_total(s.diff, &row), 0);
    assert_true(fabs(row.before - 100) < 1e-9 && row.verdict != PERFILE_DIFF_MORE);
    close_sides(&s);
}

/* ---- what is guessed --------------------------------------------------------------------------------------------- */

static void renamed_functions(void **state)
{
    static const struct stack now[] = {{"main", 10},         {"main;step;f_v2", 500},   {"main;step;g", 350},
                                       {"libc:memcpy", 200}, {"sort<long>::run()", 90}, {NULL, 0}};
    static const struct stack then[] = {{"main", 10},         {"main;step;f_v1", 505},  {"main;step;g", 350},
                                        {"libc:memcpy", 200}, {"sort<int>::run()", 60}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 3, then, now);
    compare(&s);
    struct perfile_diff_row row = row_of(s.diff, "f_v2");
    assert_int_equal(row.state, PERFILE_DIFF_RENAMED);
    assert_string_equal(row.other, "f_v1");
    assert_true(row.before > 500e3 && row.verdict == PERFILE_DIFF_SAME);
    assert_string_equal(row_of(s.diff, "sort<long>::run()").other, "sort<int>::run()");
    assert_true(has_note(s.diff, "f_v1 is matched to f_v2"));
    perfile_diff_close(s.diff);
    s.options.flags = PERFILE_DIFF_NO_GUESSES;
    compare(&s);
    assert_int_equal(row_of(s.diff, "f_v2").state, PERFILE_DIFF_NEW);
    assert_int_equal(row_of(s.diff, "f_v1").state, PERFILE_DIFF_GONE);
    close_sides(&s);
}

static void inlined_functions(void **state)
{
    static const struct stack then[] = {
        {"main;step", 5}, {"main;step;divide", 450}, {"main;step;g", 350}, {"main;other", 200}, {NULL, 0}};
    static const struct stack now[] = {{"main;step", 455}, {"main;step;g", 350}, {"main;other", 200}, {NULL, 0}};
    struct sides s;
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        open_sides(&s, 3, turned ? now : then, turned ? then : now);
        compare(&s);
        struct perfile_diff_row row = row_of(s.diff, "step");
        assert_int_equal(row.state, turned ? PERFILE_DIFF_SPLIT : PERFILE_DIFF_INLINED);
        assert_string_equal(row.other, "divide");
        assert_int_equal(row.verdict, PERFILE_DIFF_SAME);
        assert_int_equal(perfile_diff_row_count(s.diff), 3);
        assert_true(has_note(s.diff, turned ? "no longer inlined" : "seems to be inlined into step"));
        perfile_diff_close(s.diff);
        s.options.keys = "path";
        compare(&s);
        assert_true(row_of(s.diff, "main;step").before > 450e3);
        close_sides(&s);
    }
}

/* Of leaf functions without frames the callchain begins with the caller's caller. */
static void inlined_into_unseen_callers(void **state)
{
    static const struct stack then[] = {
        {"main;step", 1}, {"main;divide", 450}, {"main;g", 350}, {"main;other", 200}, {NULL, 0}};
    static const struct stack now[] = {{"main;step", 451}, {"main;g", 350}, {"main;other", 200}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 3, then, now);
    compare(&s);
    assert_string_equal(row_of(s.diff, "step").other, "divide");
    assert_int_equal(row_of(s.diff, "step").verdict, PERFILE_DIFF_SAME);
    close_sides(&s);
}

/* Into helpers that it calls, or that stand beside it; and back. */
static void split_functions(void **state)
{
    static const struct stack complete[] = {{"main;f", 600}, {"main;h", 300}, {"main;other", 200}, {NULL, 0}};
    static const struct stack split[] = {{"main;f", 250}, {"main;f;first", 150}, {"main;f;second", 200},
                                         {"main;h", 150}, {"main;beside", 152},  {"main;other", 200},
                                         {NULL, 0}};
    struct sides s;
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        open_sides(&s, 3, turned ? split : complete, turned ? complete : split);
        compare(&s);
        assert_int_equal(row_of(s.diff, "f").state, turned ? PERFILE_DIFF_INLINED : PERFILE_DIFF_SPLIT);
        assert_int_equal(row_of(s.diff, "f").verdict, PERFILE_DIFF_SAME);
        assert_true(fabs(row_of(s.diff, "h").difference) < 10e3);
        assert_string_equal(row_of(s.diff, "h").other, "beside");
        assert_int_equal(perfile_diff_row_count(s.diff), 3);
        assert_true(has_note(s.diff, turned ? "first seems to be inlined into f" : "first seems to be split off f"));
        assert_true(has_note(s.diff, turned ? "second seems to be inlined into f" : "second seems to be split off f"));
        perfile_diff_close(s.diff);
        s.options.flags = PERFILE_DIFF_NO_GUESSES;
        compare(&s);
        assert_int_equal(row_of(s.diff, "first").state, turned ? PERFILE_DIFF_GONE : PERFILE_DIFF_NEW);
        close_sides(&s);
    }
}

/* Functions that a compiler splits keep their names; a note reports the split. */
static void split_by_compilers(void **state)
{
    static const struct stack complete[] = {{"main;f", 600}, {"main;g.cold", 200}, {"main;g", 300}, {NULL, 0}};
    static const struct stack split[] = {
        {"main;f", 250}, {"main;f;f.part.0", 350}, {"main;g.cold", 200}, {"main;g", 300}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 3, complete, split);
    compare(&s);
    assert_int_equal(row_of(s.diff, "f").state, PERFILE_DIFF_SPLIT);
    assert_string_equal(row_of(s.diff, "f").other, "f.part.0");
    assert_int_equal(row_of(s.diff, "f").verdict, PERFILE_DIFF_SAME);
    assert_int_equal(row_of(s.diff, "g").state, PERFILE_DIFF_BOTH);
    assert_true(has_note(s.diff, "f.part.0 is a part of f") && !has_note(s.diff, "g.cold"));
    close_sides(&s);
    open_sides(&s, 3, split, complete);
    compare(&s);
    assert_true(has_note(s.diff, "f.part.0 was merged into f"));
    close_sides(&s);
}

/* Part of a function is inlined into one of its callers: both were there, and are. */
static void code_that_moved(void **state)
{
    static const struct stack then[] = {{"main;step", 300}, {"main;step;f", 500}, {"main;other", 400}, {NULL, 0}};
    static const struct stack now[] = {{"main;step", 500}, {"main;step;f", 300}, {"main;other", 400}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 4, then, now);
    compare(&s);
    assert_true(has_note(s.diff, "f lost about as much as step gained"));
    perfile_diff_close(s.diff);
    s.options.flags = PERFILE_DIFF_INCLUSIVE;
    compare(&s);
    assert_false(has_note(s.diff, "lost about as much"));
    close_sides(&s);
}

static void renamed_binaries(void **state)
{
    static const char *const maps[] = {"prog=prog2", "f=h", "nothing=x"};
    static const struct stack stacks[] = {{"main", 10}, {"main;f", 500}, {"libc:memcpy", 200}, {NULL, 0}};
    static const struct stack h[] = {{"main", 10}, {"main;h", 500}, {"libc:memcpy", 200}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 1, stacks, stacks);
    perfile_profile_close(s.profiles[1]);
    s.profiles[1] = make("prog2", stacks);
    compare(&s);
    assert_true(row_of(s.diff, "f").before > 0 && row_of(s.diff, "f").after > 0);
    assert_string_equal(row_of(s.diff, "f").module, "prog2");
    assert_true(has_note(s.diff, "prog is matched to prog2"));
    perfile_diff_close(s.diff);
    s.options.keys = "module";
    compare(&s);
    assert_true(row_of(s.diff, "prog2").before > 0);
    perfile_diff_close(s.diff);
    perfile_profile_close(s.profiles[1]);
    s.profiles[1] = make("prog2", h);
    s.options.keys = NULL;
    s.options.flags = PERFILE_DIFF_NO_GUESSES;
    s.options.maps = maps;
    s.options.map_count = 3;
    compare(&s);
    assert_true(row_of(s.diff, "h").before > 0 && row_of(s.diff, "h").after > 0);
    assert_true(has_note(s.diff, "'nothing=x'") && !has_note(s.diff, "'f=h'"));
    close_sides(&s);
}

static void symbols_of_one_side(void **state)
{
    static const struct stack then[] = {{"?", 500}, {"libc:memcpy", 500}, {NULL, 0}};
    static const struct stack now[] = {{"f", 500}, {"libc:memcpy", 500}, {NULL, 0}};
    struct sides s;
    (void)state;
    open_sides(&s, 2, then, now);
    compare(&s);
    assert_true(has_note(s.diff, "functions of prog without a symbol have"));
    close_sides(&s);
}

/* ---- how often identical programs differ ------------------------------------------------------------------------- */

static uint64_t seed = 4711;
static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 0x1p53;
}

static double normal(void)
{
    const double radius = sqrt(-2 * log(uniform()));
    return radius * cos(6.283185307179586 * uniform());
}

/* Counts of runs: the mean differs by a gamma, here of Wilson and Hilferty, and samples are counted on top of it. */
static unsigned draw(double mean, double phi)
{
    const double shape = mean / (phi - 1 + 1e-9), c = 1 / (9 * shape), root = 1 - c + normal() * sqrt(c);
    const double rate = root > 0 ? mean * root * root * root : 0, value = rate + normal() * sqrt(rate);
    return value > 0 ? (unsigned)(value + 0.5) : 0;
}

static bool has_verdict(size_t n, size_t m)
{
    static char names[25][16];
    struct sides s = {.count = 0, .options = PERFILE_DIFF_OPTIONS_INIT};
    double phi[25];
    bool found = false;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    for (int i = 0; i < 25; i++)
        phi[i] = 1 + exp(uniform() * log(30));
    for (size_t k = 0; k < n + m; k++) {
        struct stack stacks[26] = {{NULL, 0}};
        for (int i = 0; i < 25; i++) {
            snprintf(names[i], sizeof(names[i]), "function%c", 'a' + i);
            stacks[i] = (struct stack){names[i], draw(655.0 / (i + 1), phi[i])};
        }
        s.profiles[k] = make("prog", stacks);
    }
    s.options.before = (const struct perfile_profile *const *)s.profiles;
    s.options.after = s.options.before + n;
    s.options.before_count = n;
    s.options.after_count = m;
    s.options.flags = PERFILE_DIFF_NO_GUESSES;
    compare(&s);
    for (size_t i = 0; perfile_diff_row_at(s.diff, i, &row) == 0; i++)
        found |= row.verdict == PERFILE_DIFF_MORE || row.verdict == PERFILE_DIFF_LESS;
    perfile_diff_close(s.diff);
    for (size_t k = 0; k < n + m; k++)
        perfile_profile_close(s.profiles[k]);
    return found;
}

/* Of identical programs: pairs with any verdict; more than 5, 5 and 9 % (and what chance adds to 300) are too many. */
static void false_alarms_are_rare(void **state)
{
    static const struct {
        size_t n, m;
        unsigned max;
    } sizes[] = {{3, 3, 15}, {5, 5, 15}, {5, 1, 30}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        unsigned found = 0;
        for (int k = 0; k < 300; k++)
            found += has_verdict(sizes[i].n, sizes[i].m);
        if (found > sizes[i].max)
            fail_msg("%zu against %zu: %u of 300", sizes[i].n, sizes[i].m, found);
    }
}

/* ---- what is refused; memory ------------------------------------------------------------------------------------- */

static void expect_refused(struct sides *s)
{
    struct perfile_diff *diff = (void *)s;
    assert_int_equal(perfile_diff_open(&s->options, &diff, NULL), PERFILE_ERROR_ARGUMENT);
    assert_null(diff);
}

static void what_is_refused(void **state)
{
    static const char *const map = "a";
    struct sides s;
    (void)state;
    open_sides(&s, 1, before, after);
    const struct perfile_diff_options fine = s.options;
    s.options.before_count = 0;
    expect_refused(&s);
    s.options = fine;
    s.options.keys = "function,nothing";
    expect_refused(&s);
    s.options = fine;
    s.options.event = "nothing";
    expect_refused(&s);
    s.options = fine;
    s.options.per = "nothing";
    expect_refused(&s);
    s.options = fine;
    s.options.noise = -1;
    expect_refused(&s);
    s.options = fine;
    s.options.alpha = NAN;
    expect_refused(&s);
    s.options = fine;
    s.options.limit = INFINITY;
    expect_refused(&s);
    s.options = fine;
    s.options.maps = &map;
    s.options.map_count = 1;
    expect_refused(&s);
    close_sides(&s);
}

static int diff_with(void *sides, const struct perfile_allocator *allocator)
{
    struct sides *s = sides;
    s->options.allocator = allocator;
    const int result = perfile_diff_open(&s->options, &s->diff, NULL);
    perfile_diff_close(s->diff);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    struct sides s;
    (void)state;
    open_sides(&s, 1, before, after);
    s.options.keys = "path,thread,line";
    counting_exhaust(diff_with, &s, 10000);
    s.diff = NULL;
    close_sides(&s);
}

/* ---- as a table -------------------------------------------------------------------------------------------------- */

static int append(void *context, const void *data, size_t bytes)
{
    pf_put(context, data, bytes);
    return 0;
}

static int write_table(const struct perfile_diff *diff, const struct perfile_table_options *options, const char *format,
                       struct pf_text *text)
{
    const struct perfile_sink sink = {text, append};
    struct perfile_table *table;
    int result = perfile_table_of_diff(diff, options, &table, NULL);
    text->used = 0;
    if (result == 0)
        result = perfile_table_write(table, format, &sink, NULL);
    perfile_table_close(table);
    return result;
}

static void tables(void **state)
{
    struct sides s;
    struct pf_text text;
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    struct perfile_column column = PERFILE_COLUMN_INIT;
    (void)state;
    open_sides(&s, 3, before, after);
    compare(&s);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    options.columns = "row,function,module,verdict,state,in_family,recordings_after,limit";
    assert_int_equal(write_table(s.diff, &options, "csv", &text), 0);
    pf_put_char(&text, '\0');
    assert_ptr_equal(strstr(text.data, "row,function,module,verdict,state,in_family,recordings_after,limit\n"
                                       "total,,,more,both,true,3,\n"
                                       "row,f,prog,more,both,true,3,\n"),
                     text.data);
    options.columns = "nothing";
    assert_int_equal(write_table(s.diff, &options, "csv", &text), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_table_of_diff(NULL, NULL, &table, NULL), PERFILE_ERROR_ARGUMENT);
    assert_null(table);
    assert_int_equal(perfile_table_of_diff(s.diff, NULL, &table, NULL), 0);
    for (size_t i = 0; perfile_table_column(table, i, &column) == 0; i++)
        if (strcmp(column.name, "ci_low") == 0)
            assert_string_equal(column.unit, "ns");
    perfile_table_close(table);
    assert_int_equal(perfile_view_column("diff", 0, &column), 0);
    assert_string_equal(column.name, "row");
    close_sides(&s);
    pf_text_close(&text);
}

static void tables_with_little_memory(void **state)
{
    struct sides s;
    struct pf_text text;
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    int result = PERFILE_ERROR_MEMORY;
    (void)state;
    open_sides(&s, 1, before, after);
    compare(&s);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    options.columns = "all";
    for (int left = 0; result; left++) {
        struct counting memory;
        counting_open(&memory, left);
        options.allocator = &memory.allocator;
        result = write_table(s.diff, &options, "parquet", &text);
        assert_true(result == 0 || (result == PERFILE_ERROR_MEMORY && left < 10000));
        counting_close(&memory);
    }
    close_sides(&s);
    pf_text_close(&text);
}

/* ---- as a page --------------------------------------------------------------------------------------------------- */

/* Compares as the page needs it. */
static struct perfile_diff_page_options page_of(struct sides *s, struct perfile_diff *diffs[3])
{
    struct perfile_diff_page_options page = PERFILE_DIFF_PAGE_OPTIONS_INIT;
    for (int i = 0; i < 3; i++) {
        s->options.keys = i ? "function" : "path";
        s->options.flags = i == 1 ? 0 : PERFILE_DIFF_INCLUSIVE;
        compare(s);
        diffs[i] = s->diff;
    }
    s->diff = NULL;
    page.paths = diffs[0];
    page.functions = diffs[1];
    page.inclusive = diffs[2];
    return page;
}

static int write_page(const struct perfile_diff_page_options *page, struct pf_text *text)
{
    const struct perfile_sink sink = {text, append};
    text->used = 0;
    return perfile_diff_page_write(page, &sink, NULL);
}

static void pages_have_verdicts(void **state)
{
    struct sides s;
    struct perfile_diff *diffs[3];
    struct pf_text text;
    (void)state;
    open_sides(&s, 4, before, after);
    struct perfile_diff_page_options page = page_of(&s, diffs);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(write_page(&page, &text), 0);
    pf_put_char(&text, '\0');
    const char *verdicts = strstr(text.data, "\"verdicts\":[\"");
    assert_non_null(verdicts);
    assert_non_null(memchr(verdicts + 13, 'm', 16)); /* f itself */
    assert_non_null(strstr(text.data, "4 recordings before, 4 after: means"));
    page.gzip = true;
    assert_int_equal(write_page(&page, &text), 0);
    assert_memory_equal(text.data, "\x1f\x8b", 2);
    page.gzip = false;
    page.functions = NULL;
    assert_int_equal(write_page(&page, &text), 0);
    pf_put_char(&text, '\0');
    assert_null(strstr(text.data, "\"verdicts\":[\""));
    page.paths = diffs[1];
    assert_int_equal(write_page(&page, &text), PERFILE_ERROR_ARGUMENT);
    page.paths = NULL;
    assert_int_equal(write_page(&page, &text), PERFILE_ERROR_ARGUMENT);
    page.paths = diffs[0];
    int result = PERFILE_ERROR_MEMORY;
    for (int left = 0; result; left++) {
        struct counting memory;
        counting_open(&memory, left);
        page.allocator = &memory.allocator;
        result = write_page(&page, &text);
        assert_true(result == 0 || (result == PERFILE_ERROR_MEMORY && left < 10000));
        counting_close(&memory);
    }
    for (int i = 0; i < 3; i++)
        perfile_diff_close(diffs[i]);
    close_sides(&s);
    pf_text_close(&text);
}

/* ---- profiles as files ------------------------------------------------------------------------------------------- */

static void write_profile(const struct perfile_profile *profile, struct pf_text *text)
{
    const struct perfile_sink sink = {text, append};
    assert_int_equal(pf_text_open(text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(perfile_profile_write(profile, &sink, NULL), 0);
}

static void files_are_read_again(void **state)
{
    struct perfile_profile *profile = make("a\\tb\\\\c", before), *again;
    struct pf_text text, other;
    (void)state;
    write_profile(profile, &text);
    assert_int_equal(perfile_profile_read(text.data, text.used, NULL, &again, NULL), 0);
    write_profile(again, &other);
    assert_int_equal(text.used, other.used);
    assert_memory_equal(text.data, other.data, text.used);
    assert_true(perfile_profile_is_file(text.data, text.used));
    struct perfile_module module = PERFILE_MODULE_INIT;
    assert_int_equal(perfile_profile_module_at(again, 0, &module), 0);
    assert_string_equal(module.name, "a\tb\\c");
    perfile_profile_close(again);
    perfile_profile_close(profile);
    pf_text_close(&text);
    pf_text_close(&other);
}

static void damaged_files(void **state)
{
    struct perfile_profile *profile = make("prog", before), *again;
    struct pf_text text;
    (void)state;
    write_profile(profile, &text);
    for (size_t bytes = 0; bytes < text.used; bytes++)
        assert_true(perfile_profile_read(text.data, bytes, NULL, &again, NULL) < 0);
    for (size_t i = 0; i < text.used; i++) {
        const char was = text.data[i];
        for (const char *c = "9-\t\nZ\\"; *c; c++) {
            text.data[i] = *c;
            if (perfile_profile_read(text.data, text.used, NULL, &again, NULL) == 0)
                perfile_profile_close(again);
        }
        text.data[i] = was;
    }
    perfile_profile_close(profile);
    pf_text_close(&text);
}

static void files_with_little_memory(void **state)
{
    struct perfile_profile *profile = make("prog", before), *again;
    struct pf_text text;
    int result = PERFILE_ERROR_MEMORY;
    (void)state;
    write_profile(profile, &text);
    for (int left = 0; result; left++) {
        struct counting memory;
        counting_open(&memory, left);
        result = perfile_profile_read(text.data, text.used, &memory.allocator, &again, NULL);
        assert_true(result == 0 || (result == PERFILE_ERROR_MEMORY && left < 10000));
        perfile_profile_close(again);
        counting_close(&memory);
    }
    perfile_profile_close(profile);
    pf_text_close(&text);
}

static double total_before(const struct perfile_diff *diff)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    assert_int_equal(perfile_diff_total(diff, &row), 0);
    return row.before;
}

/* One of several events is compared, on all kinds of cores. */
static void event_of_several_kinds_of_cores(void **state)
{
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    struct sides s;
    (void)state;
    open_sides(&s, 1, before, before);
    compare(&s);
    const double alone = total_before(s.diff);
    assert_true(has_note(s.diff, "1 of 2 events is compared: cpu-clock"));
    close_sides(&s);
    event_names[0] = "cpu_core/cycles/";
    event_names[1] = "cpu_atom/cycles/";
    open_sides(&s, 1, before, before);
    event_names[0] = "cpu-clock";
    event_names[1] = "work";
    compare(&s);
    assert_true(total_before(s.diff) == alone + 500 && !has_note(s.diff, "events is compared"));
    assert_int_equal(perfile_diff_describe(s.diff, &info), 0);
    assert_string_equal(info.event, "cycles");
    close_sides(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_verdicts),         cmocka_unit_test(limits_have_patterns),
        cmocka_unit_test(one_on_a_side_is_unsure),   cmocka_unit_test(paths_know_their_callers),
        cmocka_unit_test(other_keys_and_units),      cmocka_unit_test(renamed_functions),
        cmocka_unit_test(inlined_functions),         cmocka_unit_test(inlined_into_unseen_callers),
        cmocka_unit_test(split_functions),           cmocka_unit_test(split_by_compilers),
        cmocka_unit_test(paths_without_stacks),      cmocka_unit_test(code_that_moved),
        cmocka_unit_test(renamed_binaries),          cmocka_unit_test(symbols_of_one_side),
        cmocka_unit_test(false_alarms_are_rare),     cmocka_unit_test(what_is_refused),
        cmocka_unit_test(every_allocation_may_fail), cmocka_unit_test(tables),
        cmocka_unit_test(pages_have_verdicts),       cmocka_unit_test(tables_with_little_memory),
        cmocka_unit_test(files_are_read_again),      cmocka_unit_test(damaged_files),
        cmocka_unit_test(files_with_little_memory),  cmocka_unit_test(event_of_several_kinds_of_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
