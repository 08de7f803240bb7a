/* SPDX-License-Identifier: MIT */
/* The bodies of records from bytes made by hand: layouts that decide something. The goldens have every type. */
#include "format/layout.h"

#include "made.h"
#include "schema/schema.h"

enum { TYPE = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_IDENTIFIER };

static struct pf_plan plan;

static void make_header(struct made *m, uint32_t type, uint16_t misc)
{
    made_u32(m, type);
    made_u16(m, misc);
    made_u16(m, 0); /* the size stands in the record view */
}

static void make_trailer(struct made *m)
{
    made_u32(m, 7);
    made_u32(m, 8);
    made_u64(m, 1000);
    made_u64(m, 11);
}

#define TRAILER "\"sample_id\":{\"pid\":7,\"tid\":8,\"time\":1000,\"identifier\":11}"

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void make_mmap(struct made *m)
{
    make_header(m, PERFILE_RECORD_MMAP, 1);
    made_u32(m, UINT32_MAX);
    made_u32(m, 0);
    made_u64(m, 0xffffffff81000000);
    made_u64(m, 4096);
    made_u64(m, 0);
    made_bytes(m, "[kernel]", 9);
    made_fill(m, 0, 7);
    make_trailer(m);
}

static void make_mmap2(struct made *m, uint16_t misc)
{
    make_header(m, PERFILE_RECORD_MMAP2, misc);
    made_u32(m, 7);
    made_u32(m, 8);
    made_u64(m, 0x400000);
    made_u64(m, 4096);
    made_u64(m, 512);
    if (misc & PERFILE_MISC_MMAP_BUILD_ID) {
        made_fill(m, 3, 1);
        made_fill(m, 0, 3);
        made_fill(m, 0xab, 20);
    } else {
        made_u32(m, 8);
        made_u32(m, 1);
        made_u64(m, 99);
        made_u64(m, 5);
    }
    made_u32(m, 5);
    made_u32(m, 2);
    made_bytes(m, "/bin/sh", 8);
    make_trailer(m);
}

static void make_mmap2_inode(struct made *m)
{
    make_mmap2(m, 2);
}

static void make_mmap2_build_id(struct made *m)
{
    make_mmap2(m, 0x4002);
}

static void make_read(struct made *m)
{
    make_header(m, PERFILE_RECORD_READ, 0);
    made_u32(m, 7);
    made_u32(m, 8);
    made_u64(m, 100);
    made_u64(m, 11);
    make_trailer(m);
}

static void make_namespaces(struct made *m)
{
    make_header(m, PERFILE_RECORD_NAMESPACES, 0);
    made_u32(m, 7);
    made_u32(m, 8);
    made_u64(m, 2);
    for (uint64_t i = 0; i < 4; i++)
        made_u64(m, i + 1);
    make_trailer(m);
}

static void make_text_poke(struct made *m)
{
    make_header(m, PERFILE_RECORD_TEXT_POKE, 0);
    made_u64(m, 0x1000);
    made_u16(m, 3);
    made_u16(m, 2);
    made_bytes(m, "\x01\x02\x03\xaa\xbb", 5);
    made_fill(m, 0, 7);
    make_trailer(m);
}

static void make_switch(struct made *m)
{
    make_header(m, PERFILE_RECORD_SWITCH, 0x2000);
    make_trailer(m);
}

static void make_build_id(struct made *m)
{
    make_header(m, PERFILE_RECORD_HEADER_BUILD_ID, 0x8002);
    made_u32(m, UINT32_MAX);
    made_fill(m, 0xcd, 20);
    made_fill(m, 4, 1);
    made_fill(m, 0, 3);
    made_bytes(m, "/bin/sh", 8);
}

static void make_id_index(struct made *m)
{
    make_header(m, PERFILE_RECORD_ID_INDEX, 0);
    made_u64(m, 1);
    for (uint64_t i = 0; i < 4; i++)
        made_u64(m, i + 1);
}

static void make_id_index_guests(struct made *m)
{
    make_id_index(m);
    made_u64(m, 5);
    made_u64(m, 6);
}

static void make_cpu_map_list(struct made *m)
{
    make_header(m, PERFILE_RECORD_CPU_MAP, 0);
    made_u16(m, 0);
    made_u16(m, 2);
    made_u16(m, 3);
    made_u16(m, UINT16_MAX);
}

static void make_cpu_map_mask32(struct made *m)
{
    make_header(m, PERFILE_RECORD_CPU_MAP, 0);
    made_u16(m, 1);
    made_u16(m, 2);
    made_u16(m, 4);
    made_u32(m, 0x80000001);
    made_u32(m, 2);
    made_fill(m, 0, 2);
}

static void make_cpu_map_mask64(struct made *m)
{
    make_header(m, PERFILE_RECORD_CPU_MAP, 0);
    made_u16(m, 1);
    made_u16(m, 1);
    made_u16(m, 8);
    made_fill(m, 0, 2);
    made_fill(m, 0, 2);
    made_u64(m, 0x8000000000000002);
}

static void make_cpu_map_range(struct made *m)
{
    make_header(m, PERFILE_RECORD_CPU_MAP, 0);
    made_u16(m, 2);
    made_fill(m, 1, 1);
    made_fill(m, 0, 1);
    made_u16(m, 0);
    made_u16(m, 63);
}

static void make_event_update(struct made *m, uint64_t type)
{
    make_header(m, PERFILE_RECORD_EVENT_UPDATE, 0);
    made_u64(m, type);
    made_u64(m, 11);
}

static void make_event_update_unit(struct made *m)
{
    make_event_update(m, 0);
    made_bytes(m, "Joules\0", 8);
}

static void make_event_update_scale(struct made *m)
{
    uint64_t bits;
    make_event_update(m, 1);
    memcpy(&bits, &(double){0.5}, sizeof(bits));
    made_u64(m, bits);
}

static void make_event_update_later_type(struct made *m)
{
    make_event_update(m, 9);
}

static void make_time_conv(struct made *m)
{
    make_header(m, PERFILE_RECORD_TIME_CONV, 0);
    for (uint64_t i = 0; i < 3; i++)
        made_u64(m, i + 1);
}

static void make_time_conv_5_10(struct made *m)
{
    make_time_conv(m);
    made_u64(m, 4);
    made_u64(m, 5);
    made_fill(m, 1, 2);
    made_fill(m, 0, 6);
}

static void make_auxtrace_error(struct made *m, uint32_t format)
{
    make_header(m, PERFILE_RECORD_AUXTRACE_ERROR, 0);
    made_u32(m, 1);
    made_u32(m, 2);
    made_u32(m, 3);
    made_u32(m, 4);
    made_u32(m, 5);
    made_u32(m, format);
    made_u64(m, 6);
    if (format >= 1)
        made_u64(m, 7);
    made_bytes(m, "lost", 4);
    made_fill(m, 0, 60);
    if (format >= 2) {
        made_u32(m, 8);
        made_u32(m, 9);
    }
}

static void make_auxtrace_error_0(struct made *m)
{
    make_auxtrace_error(m, 0);
}

static void make_auxtrace_error_2(struct made *m)
{
    make_auxtrace_error(m, 2);
}

static void make_header_attr(struct made *m)
{
    make_header(m, PERFILE_RECORD_HEADER_ATTR, 0xdcb8); /* garbage of older recorders */
    made_u32(m, 1);
    made_u32(m, 64);
    made_fill(m, 0, 56);
    made_u64(m, 11);
    made_u64(m, 12);
}

static void make_thread_map(struct made *m)
{
    make_header(m, PERFILE_RECORD_THREAD_MAP, 0);
    made_u64(m, 1);
    made_u64(m, 7);
    made_bytes(m, "0123456789abcdef", 16); /* no NUL */
}

static void make_schedstat_domain(struct made *m)
{
    make_header(m, PERFILE_RECORD_SCHEDSTAT_DOMAIN, 0);
    made_u64(m, 1);
    made_u32(m, 2);
    made_u16(m, 17);
    made_u16(m, 3);
    for (uint32_t i = 0; i < 46; i++)
        made_u32(m, i);
}

static void make_callchain(struct made *m)
{
    make_header(m, PERFILE_RECORD_SIMPLEPERF_CALLCHAIN, 0);
    made_u32(m, 7);
    made_u32(m, 8);
    for (uint64_t i = 0; i < 2; i++)
        made_u64(m, i);
    made_u64(m, 1);
    made_u64(m, 16);
    made_u64(m, 17);
}

/* `json`: what it begins with. */
static const struct complete {
    void (*make)(struct made *m);
    const char *json;
} wholes[] = {
    {make_mmap,
     "\"pid\":-1,\"tid\":0,\"addr\":18446744071578845184,\"len\":4096,\"pgoff\":0,\"filename\":\"[kernel]\"," TRAILER},
    {make_mmap2_inode, "\"pid\":7,\"tid\":8,\"addr\":4194304,\"len\":4096,\"pgoff\":512,\"maj\":8,\"min\":1,\"ino\":99,"
                       "\"ino_generation\":5,\"prot\":5,\"flags\":2,\"filename\":\"/bin/sh\"," TRAILER},
    {make_mmap2_build_id, "\"pid\":7,\"tid\":8,\"addr\":4194304,\"len\":4096,\"pgoff\":512,\"build_id_size\":3,"
                          "\"build_id\":<ababab>,\"prot\":5,\"flags\":2,\"filename\":\"/bin/sh\"," TRAILER},
    {make_read, "\"pid\":7,\"tid\":8,\"values\":{\"value\":100,\"id\":11}," TRAILER},
    {make_namespaces,
     "\"pid\":7,\"tid\":8,\"nr_namespaces\":2,\"link_info\":[{\"dev\":1,\"ino\":2},{\"dev\":3,\"ino\":4}]," TRAILER},
    {make_text_poke, "\"addr\":4096,\"old_len\":3,\"new_len\":2,\"old_bytes\":<010203>,\"new_bytes\":<aabb>," TRAILER},
    {make_switch, TRAILER},
    {make_build_id, "\"pid\":-1,\"build_id\":<cdcdcdcd>,\"build_id_size\":4,\"filename\":\"/bin/sh\""},
    {make_id_index, "\"nr\":1,\"entries\":[{\"id\":1,\"idx\":2,\"cpu\":3,\"tid\":4}]"},
    {make_id_index_guests,
     "\"nr\":1,\"entries\":[{\"id\":1,\"idx\":2,\"cpu\":3,\"tid\":4}],\"guests\":[{\"machine_pid\":5,\"vcpu\":6}]"},
    {make_cpu_map_list, "\"map_type\":0,\"cpus\":[3,-1]"},
    {make_cpu_map_mask32, "\"map_type\":1,\"long_size\":4,\"mask\":[2147483649,2],\"cpus\":[0,31,33]"},
    {make_cpu_map_mask64, "\"map_type\":1,\"long_size\":8,\"mask\":[9223372036854775810],\"cpus\":[1,63]"},
    {make_cpu_map_range, "\"map_type\":2,\"any_cpu\":1,\"start_cpu\":0,\"end_cpu\":63"},
    {make_event_update_unit, "\"update_type\":0,\"id\":11,\"unit\":\"Joules\""},
    {make_event_update_scale, "\"update_type\":1,\"id\":11,\"scale\":0.5"},
    {make_event_update_later_type, "\"update_type\":9,\"id\":11"},
    {make_time_conv, "\"time_shift\":1,\"time_mult\":2,\"time_zero\":3"},
    {make_time_conv_5_10, "\"time_shift\":1,\"time_mult\":2,\"time_zero\":3,\"time_cycles\":4,\"time_mask\":5,"
                          "\"cap_user_time_zero\":1,\"cap_user_time_short\":1"},
    {make_auxtrace_error_0,
     "\"error_type\":1,\"code\":2,\"cpu\":3,\"pid\":4,\"tid\":5,\"fmt\":0,\"ip\":6,\"msg\":\"lost\""},
    {make_auxtrace_error_2, "\"error_type\":1,\"code\":2,\"cpu\":3,\"pid\":4,\"tid\":5,\"fmt\":2,\"ip\":6,\"time\":7,"
                            "\"msg\":\"lost\",\"machine_pid\":8,\"vcpu\":9"},
    {make_header_attr, "\"attr\":{\"type\":1,\"size\":64,\"config\":0,"},
    {make_thread_map, "\"nr\":1,\"entries\":[{\"pid\":7,\"comm\":\"0123456789abcdef\"}]"},
    {make_schedstat_domain, "\"timestamp\":1,\"cpu\":2,\"version\":17,\"domain\":3,\"busy_lb_count\":0,"},
    {make_callchain, "\"pid\":7,\"tid\":8,\"chain_type\":0,\"time\":1,\"nr\":1,\"ips\":[16],\"sps\":[17]"},
};

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static struct perfile_record view(const uint8_t *data, size_t bytes, bool swap)
{
    return (struct perfile_record){.type = pf_load32(data, swap),
                                   .misc = pf_load16(data + 4, swap),
                                   .bytes = (uint32_t)bytes,
                                   .stated_bytes = (uint32_t)bytes,
                                   .data = data};
}

static struct pf_layout layout_for(const struct perfile_record *record, bool swap)
{
    const struct perfile_attr attr = {.sample_type = TYPE, .sample_id_all = 1, .read_format = 4};
    pf_plan_make(&plan, &attr, swap, swap != PF_NATIVE_BIG_ENDIAN);
    return (struct pf_layout){
        .plan = record->type < 64 ? &plan : NULL,
        .feature = {.allocator = pf_allocator_or_default(NULL), .big_endian = swap != PF_NATIVE_BIG_ENDIAN},
        .swap = swap};
}

static void show(struct shown *s, const struct perfile_record *record, bool swap)
{
    struct pf_layout layout = layout_for(record, swap);
    shown_open(s);
    pf_emit_begin(&s->emit, NULL, false);
    pf_layout_emit(record, &layout, &s->emit);
    pf_emit_end(&s->emit, false);
}

static void check_complete(const struct complete *complete, bool swap)
{
    struct made m = {.swap = swap};
    struct shown s;
    complete->make(&m);
    uint8_t *block = made_block(m.data, m.bytes);
    const struct perfile_record record = view(block, m.bytes, swap);
    const struct pf_layout layout = layout_for(&record, swap);
    show(&s, &record, swap);
    const char *json = shown_json(&s);
    bool padded;
    if (strncmp(json + 1, complete->json, strlen(complete->json)) != 0)
        assert_string_equal(json + 1, complete->json);
    assert_null(strstr(json, "\"error\":"));
    assert_null(strstr(json, "__extra"));
    assert_true(pf_layout_measure(&record, &layout, &padded) == m.bytes || padded); /* as its content asks for */
    shown_close(&s);
    free(block);
}

static void test_wholes(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * PF_COUNT(wholes); i++)
        check_complete(&wholes[i / 2], i % 2);
}

/* A record that ends anywhere is shown up to its end, and no byte after it is touched. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        struct made m = {.swap = i % 2};
        wholes[i].make(&m);
        for (size_t bytes = 8; bytes < m.bytes; bytes++) {
            struct shown s;
            uint8_t *block = made_block(m.data, bytes);
            const struct perfile_record record = view(block, bytes, m.swap);
            const struct pf_layout layout = layout_for(&record, m.swap);
            bool padded;
            assert_true(pf_layout_measure(&record, &layout, &padded) <= bytes);
            show(&s, &record, m.swap);
            shown_json(&s);
            shown_close(&s);
            free(block);
        }
    }
}

/* Every byte wrong in turn: numbers become enormous, texts lose their NUL, unions another type. */
static void test_wrong_anywhere(void **state)
{
    (void)state;
    static const uint8_t wrongs[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        struct made m = {.swap = i % 2};
        wholes[i].make(&m);
        for (size_t k = 0; k < m.bytes * PF_COUNT(wrongs); k++) {
            struct shown s;
            uint8_t *block = made_block(m.data, m.bytes);
            block[k / PF_COUNT(wrongs)] = wrongs[k % PF_COUNT(wrongs)];
            const struct perfile_record record = view(block, m.bytes, m.swap);
            const struct pf_layout layout = layout_for(&record, m.swap);
            bool padded;
            if (pf_record_info(record.type))
                pf_layout_measure(&record, &layout, &padded);
            show(&s, &record, m.swap);
            shown_json(&s);
            shown_close(&s);
            free(block);
        }
    }
}

/* What a later kernel appended stands between the known part and the trailer. */
static void test_grown(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct shown s;
    make_header(&m, PERFILE_RECORD_LOST, 0);
    made_u64(&m, 11);
    made_u64(&m, 5);
    made_bytes(&m, "\1\2\3\4\5\6\7\10", 8);
    make_trailer(&m);
    bool padded;
    const struct perfile_record record = view(m.data, m.bytes, false);
    const struct pf_layout layout = layout_for(&record, false);
    show(&s, &record, false);
    assert_non_null(strstr(shown_json(&s), "\"lost\":5,\"__extra\":<0102030405060708>," TRAILER));
    assert_int_equal(pf_layout_measure(&record, &layout, &padded), m.bytes - 8);
    assert_false(padded);
    shown_close(&s);
}

static void test_text_without_end(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct shown s;
    struct perfile_comm comm;
    struct perfile_error error;
    make_header(&m, PERFILE_RECORD_COMM, 0);
    made_u32(&m, 7);
    made_u32(&m, 8);
    made_bytes(&m, "01234567", 8);
    make_trailer(&m);
    uint8_t *block = made_block(m.data, m.bytes);
    const struct perfile_record record = view(block, m.bytes, false);
    const struct pf_layout layout = layout_for(&record, false);
    assert_int_equal(pf_layout_decode(&record, &layout, &comm, &error), PERFILE_ERROR_DAMAGED);
    assert_int_equal(pf_layout_measure(&record, &layout, &(bool){false}), 0);
    show(&s, &record, false);
    assert_non_null(strstr(shown_json(&s), "\"error\":\"COMM at 0x10: "));
    shown_close(&s);
    free(block);
}

static void test_decode(void **state)
{
    (void)state;
    struct made m = {.swap = true};
    struct perfile_namespaces namespaces;
    struct perfile_namespace_link link;
    make_namespaces(&m);
    const struct perfile_record record = view(m.data, m.bytes, true);
    const struct pf_layout layout = layout_for(&record, true);
    assert_int_equal(pf_layout_struct_bytes(PERFILE_RECORD_NAMESPACES), sizeof(namespaces));
    assert_int_equal(pf_layout_decode(&record, &layout, &namespaces, NULL), 0);
    assert_int_equal(namespaces.pid, 7);
    assert_int_equal(namespaces.link_info.count, 2);
    perfile_namespace_link_at(&namespaces.link_info, 1, &link, sizeof(link));
    assert_int_equal(link.dev, 3);
    assert_int_equal(link.ino, 4);
}

static void test_types_without_a_struct(void **state)
{
    (void)state;
    static const uint32_t types[] = {PERFILE_RECORD_SAMPLE, PERFILE_RECORD_FINISHED_ROUND, 0, 50, 200, UINT32_MAX};
    for (size_t i = 0; i < PF_COUNT(types); i++) {
        struct made m = {.swap = false};
        struct perfile_error error;
        uint8_t out[8];
        make_header(&m, types[i], 0);
        const struct perfile_record record = view(m.data, m.bytes, false);
        const struct pf_layout layout = layout_for(&record, false);
        assert_int_equal(pf_layout_struct_bytes(types[i]), 0);
        assert_int_equal(pf_layout_decode(&record, &layout, out, &error), PERFILE_ERROR_UNSUPPORTED);
    }
}

/* ---- meanings ---------------------------------------------------------------------------------------------------- */

static int note_meaning(void *context, const struct perfile_value *value)
{
    int *meanings = context;
    if (value->kind == PERFILE_VALUE_UNSIGNED)
        meanings[value->meaning]++;
    return 0;
}

static void count_meanings(uint32_t type, const struct made *body, int *meanings)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = meanings, .value = note_meaning};
    struct made m = {.swap = false};
    make_header(&m, type, 0);
    made_bytes(&m, body->data, body->bytes);
    const struct perfile_record record = view(m.data, m.bytes, false);
    const struct pf_layout layout = layout_for(&record, false);
    struct pf_emit emit = {.visitor = &visitor};
    pf_layout_emit(&record, &layout, &emit);
}

/* A point in time, how long something took, and what the kernel counts in ticks are three things. */
static void test_times_of_three_kinds(void **state)
{
    (void)state;
    struct made zeros = {.swap = false};
    int exit[PERFILE_MEANS_REGISTER + 1] = {0}, stat[PERFILE_MEANS_REGISTER + 1] = {0},
                                      schedstat[PERFILE_MEANS_REGISTER + 1] = {0};
    made_fill(&zeros, 0, 72);
    count_meanings(PERFILE_RECORD_EXIT, &zeros, exit);
    assert_int_equal(exit[PERFILE_MEANS_INSTANT], 2); /* its own, and that of the trailer */
    count_meanings(PERFILE_RECORD_STAT, &zeros, stat);
    assert_int_equal(stat[PERFILE_MEANS_DURATION], 2);
    assert_int_equal(stat[PERFILE_MEANS_INSTANT], 0);
    count_meanings(PERFILE_RECORD_SCHEDSTAT_CPU, &zeros, schedstat);
    assert_int_equal(schedstat[PERFILE_MEANS_JIFFIES], 1);
    assert_int_equal(schedstat[PERFILE_MEANS_DURATION], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wholes),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_wrong_anywhere),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_text_without_end),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_types_without_a_struct),
        cmocka_unit_test(test_times_of_three_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
