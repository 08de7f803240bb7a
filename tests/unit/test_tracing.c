/* SPDX-License-Identifier: MIT */
#include "format/tracing.h"
#include "made.h"

/* ---- a blob made by hand ---------------------------------------------------------------------------------------- */

static const char switch_format[] = "name: sched_switch\n"
                                    "ID: 316\n"
                                    "format:\n"
                                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                                    "\n"
                                    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                    "\tfield:unsigned long args[6];\toffset:24;\tsize:48;\tsigned:0;\n"
                                    "\tfield:const char * name;\toffset:72;\tsize:8;\tsigned:0;\n"
                                    "\n"
                                    "print fmt: \"prev_comm=%s\", REC->prev_comm\n";

static const char odd_format[] = "name: odd\n"
                                 "ID: 7\n"
                                 "format:\n"
                                 "\tfield:__data_loc char[] path;\toffset:8;\tsize:4;\tsigned:1;\n"
                                 "\tfield:__rel_loc u16[] words;\toffset:12;\tsize:4;\tsigned:0;\n"
                                 "\tfield:char comm[TASK_COMM_LEN];\toffset:16;\tsize:16;\tsigned:0;\n"
                                 "\tfield:u8 mac[6];\toffset:32;\tsize:6;\tsigned:0;\n"
                                 "\tfield:int grid[2][3];\toffset:40;\tsize:24;\tsigned:1;\n"
                                 "\tfield:__data_loc long[] longs;\toffset:64;\tsize:4;\tsigned:1;\n"
                                 "\tfield:struct pair pairs[3];\toffset:88;\tsize:36;\tsigned:0;\n"
                                 "\tfield:struct thing t;\toffset:68;\tsize:12\n" /* 2.6.32: no "signed", no last ';' */
                                 "\tfield:broken;\toffset:0;\tsize:4;\tsigned:0;\n"
                                 "\tfield:int lacks_offset;\tsize:4;\tsigned:0;\n"
                                 "\tfield:int huge;\toffset:99999999999;\tsize:4;\tsigned:0;\n"
                                 "\tfield:];\toffset:0;\tsize:4;\tsigned:0;\n";

struct blob_options {
    const char *version;
    uint8_t big_endian;
    uint8_t long_bytes;
};

static void make_sized(struct made *m, const char *text)
{
    made_u64(m, strlen(text));
    made_bytes(m, text, strlen(text));
}

static void make_header(struct made *m, struct blob_options o)
{
    m->swap = o.big_endian != PF_NATIVE_BIG_ENDIAN;
    made_bytes(m, "\x17\x08\x44tracing", 10);
    made_name(m, o.version);
    made_bytes(m, &o.big_endian, 1);
    made_bytes(m, &o.long_bytes, 1);
    made_u32(m, 4096);
    made_name(m, "header_page");
    make_sized(m, "page text");
    made_name(m, "header_event");
    make_sized(m, "event text");
}

static void make_blob(struct made *m, struct blob_options o)
{
    make_header(m, o);
    made_u32(m, 1); /* ftrace */
    make_sized(m, "name: function\nID: 1\n");
    made_u32(m, 2); /* systems */
    made_name(m, "sched");
    made_u32(m, 1);
    make_sized(m, switch_format);
    made_name(m, "my");
    made_u32(m, 1);
    make_sized(m, odd_format);
    made_u32(m, 4);
    made_bytes(m, "syms", 4);
    made_u32(m, 0);
    if (strcmp(o.version, "0.5") != 0)
        make_sized(m, "1 init\n");
}

static const struct blob_options little = {"0.6", 0, 8}, big = {"0.6", 1, 4}, older = {"0.5", 0, 8};

/* ---- the public view ------------------------------------------------------------------------------------------ */

static const struct field_row {
    uint64_t id;
    struct perfile_tracepoint_field field;
} field_rows[] = {
    {316, {.name = "common_type", .type = "unsigned short", .bytes = 2, .element_bytes = 2, .is_common = true}},
    {316,
     {.name = "common_pid",
      .type = "int",
      .offset = 4,
      .bytes = 4,
      .element_bytes = 4,
      .is_signed = true,
      .is_common = true}},
    {316,
     {.name = "prev_comm",
      .type = "char",
      .offset = 8,
      .bytes = 16,
      .element_bytes = 1,
      .is_array = true,
      .is_text = true}},
    {316, {.name = "args", .type = "unsigned long", .offset = 24, .bytes = 48, .element_bytes = 8, .is_array = true}},
    {316, {.name = "name", .type = "const char *", .offset = 72, .bytes = 8, .element_bytes = 8}},
    {7,
     {.name = "path",
      .type = "__data_loc char[]",
      .offset = 8,
      .bytes = 4,
      .element_bytes = 1,
      .is_signed = true,
      .is_array = true,
      .is_text = true,
      .is_dynamic = true}},
    {7,
     {.name = "words",
      .type = "__rel_loc u16[]",
      .offset = 12,
      .bytes = 4,
      .element_bytes = 2,
      .is_array = true,
      .is_dynamic = true,
      .is_relative = true}},
    {7,
     {.name = "comm",
      .type = "char",
      .offset = 16,
      .bytes = 16,
      .element_bytes = 1,
      .is_array = true,
      .is_text = true}},
    {7, {.name = "mac", .type = "u8", .offset = 32, .bytes = 6, .element_bytes = 1, .is_array = true}},
    {7,
     {.name = "grid",
      .type = "int",
      .offset = 40,
      .bytes = 24,
      .element_bytes = 4,
      .is_signed = true,
      .is_array = true}},
    {7,
     {.name = "longs",
      .type = "__data_loc long[]",
      .offset = 64,
      .bytes = 4,
      .element_bytes = 0,
      .is_signed = true,
      .is_array = true,
      .is_dynamic = true}},
    {7, {.name = "pairs", .type = "struct pair", .offset = 88, .bytes = 36, .element_bytes = 12, .is_array = true}},
    {7, {.name = "t", .type = "struct thing", .offset = 68, .bytes = 12, .element_bytes = 12}},
};

static void check_field(const struct perfile_tracepoint_field *f, const struct perfile_tracepoint_field *want,
                        uint8_t long_bytes)
{
    assert_string_equal(f->name, want->name);
    assert_string_equal(f->type, want->type);
    assert_int_equal(f->offset, want->offset);
    assert_int_equal(f->bytes, want->bytes);
    assert_int_equal(f->element_bytes, want->element_bytes ? want->element_bytes : long_bytes);
    assert_int_equal(f->is_signed, want->is_signed);
    assert_int_equal(f->is_array, want->is_array);
    assert_int_equal(f->is_text, want->is_text);
    assert_int_equal(f->is_dynamic, want->is_dynamic);
    assert_int_equal(f->is_relative, want->is_relative);
    assert_int_equal(f->is_common, want->is_common);
}

static void check_fields(const struct pf_tracing *tracing, uint8_t long_bytes)
{
    uint64_t id = 0;
    size_t index = 0;
    for (size_t i = 0; i < PF_COUNT(field_rows); i++) {
        index = field_rows[i].id == id ? index + 1 : 0;
        id = field_rows[i].id;
        const struct perfile_tracepoint *t = pf_tracing_find(tracing, id);
        assert_non_null(t);
        assert_true(index < t->field_count);
        check_field(&t->fields[index], &field_rows[i].field, long_bytes);
    }
    assert_int_equal(pf_tracing_find(tracing, 316)->field_count, 5);
    assert_int_equal(pf_tracing_find(tracing, 7)->field_count, 8); /* the broken ones are left out */
}

static void check_view(const struct perfile_tracing *view, struct blob_options o)
{
    bool older_one = strcmp(o.version, "0.5") == 0;
    assert_string_equal(view->version, o.version);
    assert_int_equal(view->big_endian, o.big_endian);
    assert_int_equal(view->long_bytes, o.long_bytes);
    assert_int_equal(view->page_bytes, 4096);
    assert_string_equal(view->kallsyms, "syms");
    assert_int_equal(view->kallsyms_bytes, 4);
    assert_int_equal(view->printk_formats_bytes, 0);
    assert_string_equal(view->saved_cmdlines, older_one ? "" : "1 init\n");
    assert_int_equal(view->tracepoint_count, 2); /* ftrace's own formats are not tracepoints */
    assert_string_equal(view->tracepoints[0].system, "sched");
    assert_string_equal(view->tracepoints[0].name, "sched_switch");
    assert_string_equal(view->tracepoints[0].format, switch_format);
    assert_string_equal(view->tracepoints[0].print_fmt, "\"prev_comm=%s\", REC->prev_comm");
    assert_string_equal(view->tracepoints[1].system, "my");
    assert_null(view->tracepoints[1].print_fmt);
}

static void check_open(struct blob_options o)
{
    struct made m = {.swap = false};
    struct pf_tracing *tracing;
    struct perfile_error error;
    make_blob(&m, o);
    uint8_t *block = made_block(m.data, m.bytes);
    assert_int_equal(pf_tracing_open(block, m.bytes, 0, NULL, &tracing, &error), 0);
    free(block); /* everything was copied */
    check_view(pf_tracing_view(tracing), o);
    check_fields(tracing, o.long_bytes);
    assert_null(pf_tracing_find(tracing, 1));
    assert_null(pf_tracing_find(tracing, UINT64_MAX));
    pf_tracing_close(tracing);
}

static void test_open(void **state)
{
    (void)state;
    check_open(little);
    check_open(big);
    check_open(older);
    pf_tracing_close(NULL);
}

/* ---- showing -------------------------------------------------------------------------------------------------- */

static void test_emit(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct shown s;
    make_header(&m, big);
    made_u32(&m, 1);
    make_sized(&m, "f");
    made_u32(&m, 1);
    made_name(&m, "sys");
    made_u32(&m, 2);
    make_sized(&m, "a");
    make_sized(&m, "b");
    made_u32(&m, 0);
    made_u32(&m, 0);
    make_sized(&m, "1 init\n");
    shown_open(&s);
    pf_tracing_emit(m.data, m.bytes, 0, "X", &s.emit);
    assert_string_equal(shown_json(&s),
                        "{\"version\":\"0.6\",\"bigendian\":true,\"long_size\":4,\"page_size\":4096,"
                        "\"header_page\":\"page text\",\"header_event\":\"event text\",\"ftrace\":[\"f\"],"
                        "\"systems\":[{\"name\":\"sys\",\"formats\":[\"a\",\"b\"]}],\"kallsyms\":\"\",\"printk\":\"\","
                        "\"saved_cmdline\":\"1 init\\n\"}");
    shown_close(&s);
}

static void check_emitted(const uint8_t *data, size_t bytes, bool complete)
{
    struct shown s;
    uint8_t *block = made_block(data, bytes);
    shown_open(&s);
    pf_tracing_emit(block, bytes, 0, "X", &s.emit);
    assert_true((strstr(shown_json(&s), "\"error\":\"tracing data at 0x") == NULL) == complete);
    shown_close(&s);
    free(block);
}

static void test_stop_anywhere(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    bool stopped = true;
    make_blob(&m, little);
    for (int call = 1; stopped; call++) {
        struct shown s;
        shown_open(&s);
        s.stop_at = call;
        pf_tracing_emit(m.data, m.bytes, 0, "X", &s.emit);
        stopped = s.emit.stopped;
        shown_close(&s);
    }
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

/* The result of opening; *count is the number of tracepoints that were kept. */
static int open_piece(const uint8_t *data, size_t bytes, size_t *count)
{
    struct pf_tracing *tracing;
    struct perfile_error error = {0};
    uint8_t *block = made_block(data, bytes);
    int result = pf_tracing_open(block, bytes, 0, NULL, &tracing, &error);
    *count = 0;
    if (result >= 0) {
        assert_string_equal(pf_tracing_view(tracing)->version, "0.6");
        *count = pf_tracing_view(tracing)->tracepoint_count;
    } else {
        assert_null(tracing);
    }
    assert_true(result == 0 || strstr(error.message, "tracing data at 0x"));
    pf_tracing_close(tracing);
    free(block);
    return result;
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    const struct blob_options orders[] = {little, big};
    for (size_t i = 0; i < PF_COUNT(orders); i++) {
        struct made m = {.swap = false};
        size_t count, max = 0;
        make_blob(&m, orders[i]);
        for (size_t bytes = 0; bytes < m.bytes; bytes++) {
            int result = open_piece(m.data, bytes, &count);
            assert_int_equal(result, bytes < 10 + 4 + 6 ? PERFILE_ERROR_DAMAGED : 1);
            assert_true(count >= max); /* more bytes never show less */
            max = count;
            check_emitted(m.data, bytes, false);
        }
        assert_int_equal(max, 2);
        check_emitted(m.data, m.bytes, true);
    }
}

static void test_wrong_anywhere(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    make_blob(&m, little);
    for (size_t at = 14; at < m.bytes; at++) {
        uint8_t good = m.data[at];
        size_t count;
        m.data[at] = 0xff;
        open_piece(m.data, m.bytes, &count);
        m.data[at] = 0;
        open_piece(m.data, m.bytes, &count);
        m.data[at] = good;
    }
}

static void test_counts_that_cannot_be(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    size_t count;
    make_header(&m, little);
    size_t header = m.bytes;
    made_u32(&m, UINT32_MAX); /* ftrace formats */
    assert_int_equal(open_piece(m.data, m.bytes, &count), 1);
    m.bytes = header;
    made_u32(&m, 0);
    made_u32(&m, UINT32_MAX); /* systems */
    made_name(&m, "sched");
    made_u32(&m, UINT32_MAX); /* formats */
    make_sized(&m, switch_format);
    assert_int_equal(open_piece(m.data, m.bytes, &count), 1);
    assert_int_equal(count, 1);
    made_u64(&m, UINT64_MAX); /* a text's size */
    made_fill(&m, 0, 64);
    assert_int_equal(open_piece(m.data, m.bytes, &count), 1);
    assert_int_equal(count, 1);
}

/* A format without name or ID is left out and named as damage; the others stay. */
static void test_format_without_id(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    size_t count;
    make_header(&m, little);
    made_u32(&m, 0);
    made_u32(&m, 1);
    made_name(&m, "sched");
    made_u32(&m, 2);
    make_sized(&m, "name: nothing\n");
    make_sized(&m, switch_format);
    made_u32(&m, 0);
    made_u32(&m, 0);
    made_u64(&m, 0);
    assert_int_equal(open_piece(m.data, m.bytes, &count), 1);
    assert_int_equal(count, 1);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

struct failing {
    int left; /* allocations that still succeed */
    int live;
};

static void *resize(void *context, void *pointer, size_t old, size_t size)
{
    struct failing *f = context;
    (void)old;
    if (size == 0) {
        f->live -= pointer != NULL;
        free(pointer);
        return NULL;
    }
    if (f->left-- <= 0)
        return NULL;
    f->live += pointer == NULL;
    return realloc(pointer, size);
}

static void test_memory_short_anywhere(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    make_blob(&m, little);
    int result = PERFILE_ERROR_MEMORY;
    for (int allocations = 0; result == PERFILE_ERROR_MEMORY; allocations++) {
        struct failing f = {.left = allocations};
        const struct perfile_allocator allocator = {&f, resize};
        struct pf_tracing *tracing;
        struct perfile_error error;
        result = pf_tracing_open(m.data, m.bytes, 0, &allocator, &tracing, &error);
        assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
        pf_tracing_close(tracing);
        assert_int_equal(f.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_emit),
        cmocka_unit_test(test_stop_anywhere),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_wrong_anywhere),
        cmocka_unit_test(test_counts_that_cannot_be),
        cmocka_unit_test(test_format_without_id),
        cmocka_unit_test(test_memory_short_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
