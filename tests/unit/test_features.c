/* SPDX-License-Identifier: MIT */
#include "format/features.h"
#include "made.h"

/*
 * ---- complete features
 * -----------------------------------------------------------------------------------------------
 */

static void make_hostname(struct made *m)
{
    made_text(m, "box", 64);
}

static void make_nrcpus(struct made *m)
{
    made_u32(m, 4);
    made_u32(m, 3);
}

static void make_total_mem(struct made *m)
{
    made_u64(m, 0x123456789abcull);
}

static void make_cmdline(struct made *m)
{
    made_u32(m, 2);
    made_text(m, "/usr/bin/perf", 64);
    made_text(m, "record", 8);
}

static void make_cpu_topology(struct made *m)
{
    made_u32(m, 1);
    made_text(m, "0-1", 64);
    made_u32(m, 2);
    made_text(m, "0", 64);
    made_text(m, "1", 64);
    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        made_u32(m, cpu);
        made_u32(m, UINT32_MAX);
    }
}

static void make_cpu_topology_with_dies(struct made *m)
{
    make_cpu_topology(m);
    made_u32(m, 1);
    made_text(m, "0-1", 64);
    made_u32(m, 5);
    made_u32(m, 6);
}

static void make_cpu_topology_3_4(struct made *m)
{
    made_u32(m, 1);
    made_text(m, "0-3", 64);
    made_u32(m, 0);
}

static void make_numa_topology(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 7);
    made_u64(m, 4000000000ull);
    made_u64(m, 17);
    made_text(m, "0-3", 64);
}

static void make_pmu_mappings(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 4);
    made_text(m, "cpu", 64);
}

static void make_group_desc(struct made *m)
{
    made_u32(m, 1);
    made_text(m, "{anon_group}", 64);
    made_u32(m, 0);
    made_u32(m, 3);
}

static void make_auxtrace(struct made *m)
{
    made_u64(m, 1);
    made_u64(m, 10688);
    made_u64(m, 48);
}

static void make_auxtrace_simpleperf(struct made *m)
{
    for (uint64_t i = 1; i <= 2; i++) {
        made_u64(m, i * 100);
        made_u64(m, 48);
    }
}

static void make_cache(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 1);
    made_u32(m, 2);
    made_u32(m, 64);
    made_u32(m, 512);
    made_u32(m, 16);
    made_text(m, "Unified", 64);
    made_text(m, "512K", 64);
    made_text(m, "0-1", 64);
}

static void make_sample_time(struct made *m)
{
    made_u64(m, UINT64_MAX);
    made_u64(m, 9);
}

/* 64 bits are one word, 65 are two */
static void make_mem_topology(struct made *m)
{
    made_u64(m, 1);
    made_u64(m, 134217728);
    made_u64(m, 2);
    for (uint64_t node = 0; node < 2; node++) {
        made_u64(m, node);
        made_u64(m, 64 + node);
        made_u64(m, 64 + node);
        for (uint64_t word = 0; word <= node; word++)
            made_u64(m, 0xffff00 + word);
    }
}

static void make_one_u64(struct made *m)
{
    made_u64(m, 1);
}

static void make_bpf_prog_info(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 3);
    made_u32(m, 2);
    made_u64(m, 505);
    made_bytes(m, "abcde", 5);
}

static void make_bpf_btf(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 24);
    made_u32(m, 2);
    made_bytes(m, "\x9f\xeb", 2);
}

static void make_compressed(struct made *m)
{
    static const uint32_t words[] = {0, 1, 3, 5, 528384};
    for (size_t i = 0; i < PF_COUNT(words); i++)
        made_u32(m, words[i]);
}

static void make_cpu_pmu_caps(struct made *m)
{
    made_u32(m, 1);
    made_text(m, "max_precise", 64);
    made_text(m, "3", 64);
}

static void make_clock_data(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 4);
    made_u64(m, 1795169366442317000ull);
    made_u64(m, 118635809248ull);
}

static void make_hybrid_topology(struct made *m)
{
    made_u32(m, 1);
    made_text(m, "cpu_core", 64);
    made_text(m, "0-3", 64);
}

static void make_pmu_caps(struct made *m)
{
    made_u32(m, 1);
    make_cpu_pmu_caps(m);
    made_text(m, "cpu_atom", 64);
}

static void make_domains(struct made *m, uint32_t version)
{
    made_u32(m, version);
    made_u32(m, 1);
    made_u32(m, 2); /* CPU */
    made_u32(m, 1);
    made_u32(m, 0); /* domain */
    if (version >= 17)
        made_text(m, "PKG", 64);
    made_text(m, "3", 64);
    made_text(m, "0-1", 64);
    made_u32(m, 0); /* padding of a pipe */
}

static void make_domains_16(struct made *m)
{
    make_domains(m, 16);
}

static void make_domains_17(struct made *m)
{
    make_domains(m, 17);
}

static void make_e_machine(struct made *m)
{
    made_u32(m, 62);
    made_u32(m, 0);
}

static void make_u32_of_cln_size(struct made *m)
{
    made_u32(m, 64);
}

static void make_nothing(struct made *m)
{
    (void)m;
}

static void make_three_bytes(struct made *m)
{
    made_bytes(m, "\x01\xab\xff", 3);
}

static void make_build_id(struct made *m, uint16_t misc, const char *name, uint8_t id_bytes)
{
    made_u32(m, 0);
    made_u16(m, misc);
    made_u16(m, (uint16_t)(36 + strlen(name) + 1));
    made_u32(m, UINT32_MAX);
    made_fill(m, 0xab, 20);
    made_fill(m, id_bytes, 1);
    made_fill(m, 0, 3);
    made_name(m, name);
}

static void make_build_ids(struct made *m)
{
    make_build_id(m, 0x8002, "[vdso]", 2);
    make_build_id(m, 1, "[kernel.kallsyms]", 0);
}

/* without the pid, for the host's and for a guest's kernel */
static void make_build_ids_2_6_33(struct made *m)
{
    for (uint16_t misc = 1; misc <= 4; misc = (uint16_t)(misc + 3)) {
        made_u32(m, 67);
        made_u16(m, misc);
        made_u16(m, 32 + 20);
        made_fill(m, 0xcd, 20);
        made_fill(m, 0, 4);
        made_bytes(m, "[kernel.kallsyms]\0\0", 20);
    }
}

static void make_meta_info(struct made *m)
{
    made_name(m, "simpleperf_version");
    made_name(m, "1.2");
    made_name(m, "empty");
    made_name(m, "");
}

static void make_file(struct made *m)
{
    made_u32(m, 8 + 4 + 8 + 4 + 8 + 4 + 2 + 8);
    made_name(m, "/lib.so");
    made_u32(m, 2);
    made_u64(m, 4096);
    made_u32(m, 1);
    made_u64(m, 4100);
    made_u32(m, 20);
    made_name(m, "f");
    made_u64(m, 8192);
}

static void make_file_dex(struct made *m)
{
    made_u32(m, 2 + 4 + 8 + 4 + 4 + 8);
    made_name(m, "d");
    made_u32(m, 3);
    made_u64(m, 0);
    made_u32(m, 0);
    made_u32(m, 1);
    made_u64(m, 300);
}

/* in an unusual order, with an unknown field of every wire type, which are skipped */
static void make_file2(struct made *m)
{
    static const uint8_t elf[] = {0x22, 9, 0x1a, 1,    'f',  0x10, 0x85, 0x02, 0x08, 0x80, 0x20, /* 4: symbol */
                                  0x32, 3, 0x08, 0x80, 0x40,                                     /* 6: elf file */
                                  0x10, 2, 0x18, 0x80, 0x20, /* 2: type, 3: min_vaddr */
                                  0x78, 1, 0x79, 1,    2,    3,    4,    5,    6,    7,    8, /* 15: varint, 64 bits */
                                  0x7a, 1, 9,    0x7d, 1,    2,    3,    4,                   /* 15: bytes, 32 bits */
                                  0x0a, 4, 'a',  '.',  's',  'o'};                            /* 1: path */
    static const uint8_t dex[] = {0x0a, 1, 'd', 0x10, 3, 0x2a, 7, 0x08, 40, 0x0a, 3, 41, 0x80, 0x01};
    static const uint8_t module[] = {0x0a, 1, 'k', 0x10, 1, 0x3a, 2, 0x08, 16};
    made_u32(m, sizeof(elf));
    made_bytes(m, elf, sizeof(elf));
    made_u32(m, sizeof(dex));
    made_bytes(m, dex, sizeof(dex));
    made_u32(m, sizeof(module));
    made_bytes(m, module, sizeof(module));
}

#define AB20 "abababababababababababababababababababab"
#define CD20 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
#define THREADS "\"sibling_cores\":[\"0-1\"],\"sibling_threads\":[\"0\",\"1\"]"
#define CPUS                                                                                                           \
    "\"cpus\":[{\"core_id\":0,\"socket_id\":4294967295},"                                                              \
    "{\"core_id\":1,\"socket_id\":4294967295}]"

static const struct complete {
    uint32_t number;
    void (*make)(struct made *m);
    const char *json;
    size_t left; /* what the layout leaves */
} wholes[] = {
    {2, make_build_ids,
     "{\"records\":[{\"type\":0,\"misc\":32770,\"size\":43,\"pid\":-1,\"build_id_size\":2,\"build_id\":<abab>,"
     "\"filename\":\"[vdso]\"},"
     "{\"type\":0,\"misc\":1,\"size\":54,\"pid\":-1,\"build_id\":<" AB20 ">,\"filename\":\"[kernel.kallsyms]\"}]}",
     0},
    {2, make_build_ids_2_6_33,
     "{\"records\":[{\"type\":67,\"misc\":1,\"size\":52,\"pid\":-1,\"build_id\":<" CD20 ">,\"filename\":"
     "\"[kernel.kallsyms]\"},"
     "{\"type\":67,\"misc\":4,\"size\":52,\"pid\":0,\"build_id\":<" CD20 ">,\"filename\":\"[kernel.kallsyms]\"}]}",
     0},
    {2, make_nothing, "{\"records\":[]}", 0},
    {3, make_hostname, "\"box\"", 0},
    {7, make_nrcpus, "{\"nr_cpus_available\":4,\"nr_cpus_online\":3}", 0},
    {8, make_nothing, "\"\"", 0},
    {10, make_total_mem, "20015998343868", 0},
    {11, make_cmdline, "[\"/usr/bin/perf\",\"record\"]", 0},
    {13, make_cpu_topology, "{" THREADS "," CPUS "}", 0},
    {13, make_cpu_topology_with_dies, "{" THREADS "," CPUS ",\"sibling_dies\":[\"0-1\"],\"die_id\":[5,6]}", 0},
    {13, make_cpu_topology_3_4, "{\"sibling_cores\":[\"0-3\"],\"sibling_threads\":[]}", 0},
    {14, make_numa_topology, "[{\"nodenr\":7,\"mem_total\":4000000000,\"mem_free\":17,\"cpus\":\"0-3\"}]", 0},
    {15, make_nothing, "true", 0},
    {16, make_pmu_mappings, "[{\"type\":4,\"name\":\"cpu\"}]", 0},
    {17, make_group_desc, "[{\"name\":\"{anon_group}\",\"leader_idx\":0,\"nr_members\":3}]", 0},
    {18, make_auxtrace, "[{\"file_offset\":10688,\"sz\":48}]", 0},
    {18, make_auxtrace_simpleperf, "[{\"file_offset\":100,\"sz\":48},{\"file_offset\":200,\"sz\":48}]", 0},
    {18, make_nothing, "[]", 0},
    {19, make_nothing, "true", 0},
    {20, make_cache,
     "{\"version\":1,\"levels\":[{\"level\":2,\"line_size\":64,\"sets\":512,\"ways\":16,\"type\":\"Unified\","
     "\"size\":\"512K\",\"map\":\"0-1\"}]}",
     0},
    {21, make_sample_time, "{\"first\":18446744073709551615,\"last\":9}", 0},
    {22, make_mem_topology,
     "{\"version\":1,\"block_size_bytes\":134217728,\"nodes\":["
     "{\"node_id\":0,\"size\":64,\"bitmapsize\":64,\"entries\":[\"0000000000ffff00\"]},"
     "{\"node_id\":1,\"size\":65,\"bitmapsize\":65,\"entries\":[\"0000000000ffff00\",\"0000000000ffff01\"]}]}",
     0},
    {23, make_one_u64, "{\"clockid_res_ns\":1}", 0},
    {24, make_one_u64, "{\"version\":1}", 0},
    {25, make_bpf_prog_info, "[{\"info_len\":3,\"data_len\":2,\"arrays\":505,\"info\":<616263>,\"data\":<6465>}]", 0},
    {26, make_bpf_btf, "[{\"id\":24,\"data_size\":2,\"data\":<9feb>}]", 0},
    {27, make_compressed, "{\"version\":0,\"type\":1,\"level\":3,\"ratio\":5,\"mmap_len\":528384}", 0},
    {28, make_cpu_pmu_caps, "{\"caps\":[[\"max_precise\",\"3\"]]}", 0},
    {29, make_clock_data,
     "{\"version\":1,\"clockid\":4,\"wall_clock_ns\":1795169366442317000,\"clockid_time_ns\":118635809248}", 0},
    {30, make_hybrid_topology, "[{\"pmu_name\":\"cpu_core\",\"cpus\":\"0-3\"}]", 0},
    {31, make_pmu_caps, "[{\"caps\":[[\"max_precise\",\"3\"]],\"pmu_name\":\"cpu_atom\"}]", 0},
    {32, make_domains_16,
     "{\"schedstat_version\":16,\"max_sched_domains\":1,\"cpus\":[{\"cpu\":2,\"domains\":[{\"domain\":0,"
     "\"cpumask\":\"3\",\"cpulist\":\"0-1\"}]}]}",
     4},
    {32, make_domains_17,
     "{\"schedstat_version\":17,\"max_sched_domains\":1,\"cpus\":[{\"cpu\":2,\"domains\":[{\"domain\":0,"
     "\"dname\":\"PKG\",\"cpumask\":\"3\",\"cpulist\":\"0-1\"}]}]}",
     4},
    {33, make_e_machine, "{\"e_machine\":62,\"e_flags\":0}", 0},
    {34, make_u32_of_cln_size, "64", 0},
    {128, make_file,
     "[{\"path\":\"/lib.so\",\"type\":2,\"min_vaddr\":4096,\"symbols\":[{\"vaddr\":4100,\"len\":20,\"name\":\"f\"}],"
     "\"file_offset_of_min_vaddr\":8192}]",
     0},
    {128, make_file_dex, "[{\"path\":\"d\",\"type\":3,\"min_vaddr\":0,\"symbols\":[],\"dex_file_offsets\":[300]}]", 0},
    {129, make_meta_info, "{\"simpleperf_version\":\"1.2\",\"empty\":\"\"}", 0},
    {132, make_file2,
     "[{\"path\":\"a.so\",\"type\":2,\"min_vaddr\":4096,\"symbols\":[{\"vaddr\":4096,\"len\":261,\"name\":\"f\"}],"
     "\"file_offset_of_min_vaddr\":8192},"
     "{\"path\":\"d\",\"type\":3,\"min_vaddr\":0,\"symbols\":[],\"dex_file_offsets\":[40,41,128]},"
     "{\"path\":\"k\",\"type\":1,\"min_vaddr\":0,\"symbols\":[],\"memory_offset_of_min_vaddr\":16}]",
     0},
    {134, make_three_bytes, "<01abff>", 0},
    {200, make_three_bytes, "<01abff>", 0},
};

static const struct pf_feature_context two_cpus = {.has_cpu_count = true, .cpus_available = 2};

static int show(uint32_t number, struct pf_cursor *c, struct shown *s, struct perfile_error *error)
{
    return pf_feature_emit(number, "X", c, &two_cpus, &s->emit, error);
}

static void check_complete(const struct complete *complete, bool swap)
{
    struct made m = {.swap = swap};
    struct shown s;
    struct perfile_error error;
    complete->make(&m);
    uint8_t *block = made_block(m.data, m.bytes);
    struct pf_cursor c = pf_cursor_make(block, m.bytes, 0x100, swap);
    shown_open(&s);
    assert_int_equal(show(complete->number, &c, &s, &error), 0);
    assert_string_equal(shown_json(&s), complete->json);
    assert_int_equal(pf_cursor_left(&c), complete->left);
    shown_close(&s);
    free(block);
}

static void test_complete_in_both_byte_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        check_complete(&wholes[i], false);
        check_complete(&wholes[i], true);
    }
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

/* Everything that was opened is closed, and there is one value, however little of the bytes is there. */
static void check_piece(uint32_t number, const uint8_t *data, size_t bytes, bool swap)
{
    struct shown s;
    struct perfile_error error = {0};
    uint8_t *block = made_block(data, bytes);
    struct pf_cursor c = pf_cursor_make(block, bytes, 0x100, swap);
    shown_open(&s);
    int result = show(number, &c, &s, &error);
    assert_true(result == 0 || result == PERFILE_ERROR_DAMAGED);
    assert_true(result == 0 || (error.message[0] && error.offset >= 0x100 && error.offset <= 0x100 + bytes));
    shown_json(&s);
    shown_close(&s);
    free(block);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        struct made m = {.swap = i % 2};
        wholes[i].make(&m);
        for (size_t bytes = 0; bytes <= m.bytes; bytes++)
            check_piece(wholes[i].number, m.data, bytes, m.swap);
    }
}

/* Each byte in turn becomes 0 and 255: sizes and counts of every kind. */
static void test_wrong_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        struct made m = {.swap = i % 2};
        wholes[i].make(&m);
        for (size_t at = 0; at < m.bytes; at++) {
            uint8_t good = m.data[at];
            m.data[at] = 0;
            check_piece(wholes[i].number, m.data, m.bytes, m.swap);
            m.data[at] = 0xff;
            check_piece(wholes[i].number, m.data, m.bytes, m.swap);
            m.data[at] = good;
        }
    }
}

/* Every layout on bytes that are not its own. */
static void test_foreign_bytes(void **state)
{
    (void)state;
    uint8_t data[256];
    for (int fill = 0; fill < 3; fill++) {
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = fill == 2 ? (uint8_t)(i * 37) : (uint8_t)(fill * 255);
        for (uint32_t number = 0; number < 140; number++)
            check_piece(number, data, sizeof(data), false);
    }
}

/* After the visitor has stopped, it is not called again. */
static void test_stop_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(wholes); i++) {
        struct made m = {.swap = false};
        wholes[i].make(&m);
        bool stopped = true;
        for (int call = 1; stopped; call++) {
            struct shown s;
            struct perfile_error error;
            struct pf_cursor c = pf_cursor_make(m.data, m.bytes, 0, false);
            shown_open(&s);
            s.stop_at = call;
            show(wholes[i].number, &c, &s, &error);
            stopped = s.emit.stopped;
            shown_close(&s);
        }
    }
}

static void make_too_many(struct made *m)
{
    make_cmdline(m);
    m->data[3] = 0x7f; /* the count */
}

static void make_too_many_caps(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, UINT32_MAX);
}

static void make_endless_bitmap(struct made *m)
{
    made_u64(m, 1);
    made_u64(m, 1);
    made_u64(m, 1);
    made_u64(m, 0);
    made_u64(m, UINT64_MAX);
    made_u64(m, UINT64_MAX);
    made_u64(m, 1);
}

static void make_empty_text(struct made *m)
{
    made_u32(m, 2);
    made_text(m, "a", 4);
    made_u32(m, 0);
}

static void make_long_text(struct made *m)
{
    made_u32(m, 100);
    made_name(m, "short");
}

static void make_long_build_id(struct made *m)
{
    make_build_id(m, 0x8001, "a", 200);
}

static void make_small_build_id_record(struct made *m)
{
    make_build_id(m, 1, "a", 0);
    make_build_id(m, 1, "b", 0);
    m->data[38 + 6] = 8; /* size */
}

static void make_wrapping_auxtrace(struct made *m)
{
    made_u64(m, 1ull << 60);
    made_u64(m, 1);
    made_u64(m, 2);
}

static void make_odd_meta_info(struct made *m)
{
    made_name(m, "key");
    made_bytes(m, "val", 3);
}

static void make_bad_file_before_good(struct made *m)
{
    made_u32(m, 2);
    made_name(m, "x");
    make_file_dex(m);
}

static void make_endless_varint(struct made *m)
{
    made_u32(m, 13);
    made_bytes(m, "\x10", 1);
    made_fill(m, 0xff, 12);
}

static const struct damaged {
    uint32_t number;
    void (*make)(struct made *m);
    const char *json;
    const char *message;
} damages[] = {
    {2, make_long_build_id,
     "{\"records\":[{\"type\":0,\"misc\":32769,\"size\":38,\"pid\":-1,\"build_id_size\":200,\"build_id\":<" AB20
     ">,\"filename\":\"a\"}]}",
     "feature BUILD_ID at 0x124: a build id of 200 bytes"},
    {2, make_small_build_id_record,
     "{\"records\":[{\"type\":0,\"misc\":1,\"size\":38,\"pid\":-1,\"build_id\":<" AB20 ">,\"filename\":\"a\"}]}",
     "feature BUILD_ID at 0x126: a record of 8 bytes in 38 bytes"},
    {3, make_long_text, "null", "feature HOSTNAME at 0x104: 100 bytes needed, 6 available"},
    {10, make_nothing, "null", "feature TOTAL_MEM at 0x100: 8 bytes needed, 0 available"},
    {11, make_too_many, "[\"/usr/bin/perf\",\"record\"]",
     "feature CMDLINE at 0x104: entries of at least 5 bytes in 80 bytes: 2130706434"},
    {11, make_empty_text, "[\"a\"]", "feature CMDLINE at 0x110: a text of 0 bytes"},
    {12, make_nrcpus, "[]", "feature EVENT_DESC at 0x108: attributes of 3 bytes"},
    {18, make_wrapping_auxtrace, "[{\"file_offset\":1,\"sz\":2}]",
     "feature AUXTRACE at 0x108: entries of at least 16 bytes in 16 bytes: 1152921504606846976"},
    {22, make_endless_bitmap,
     "{\"version\":1,\"block_size_bytes\":1,\"nodes\":[{\"node_id\":0,\"size\":18446744073709551615,"
     "\"bitmapsize\":18446744073709551615,\"entries\":[\"0000000000000001\"]}]}",
     "feature MEM_TOPOLOGY at 0x130: entries of at least 8 bytes in 8 bytes: 288230376151711744"},
    {31, make_too_many_caps, "[]", "feature PMU_CAPS at 0x104: entries of at least 9 bytes in 4 bytes: 1"},
    {128, make_bad_file_before_good,
     "[{\"path\":\"x\"},{\"path\":\"d\",\"type\":3,\"min_vaddr\":0,\"symbols\":[],\"dex_file_offsets\":[300]}]",
     "feature FILE at 0x106: 4 bytes needed, 0 available"},
    {129, make_odd_meta_info, "{}", "feature META_INFO at 0x104: 4 bytes needed, 3 available"},
    {132, make_endless_varint, "[{\"path\":\"\",\"type\":0,\"min_vaddr\":0,\"symbols\":[]}]",
     "feature FILE2 at 0x10f: 1 byte needed, 2 available"},
};

static void test_damage_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(damages); i++) {
        struct made m = {.swap = PF_NATIVE_BIG_ENDIAN};
        struct shown s;
        struct perfile_error error;
        damages[i].make(&m);
        uint8_t *block = made_block(m.data, m.bytes);
        struct pf_cursor c = pf_cursor_make(block, m.bytes, 0x100, m.swap);
        shown_open(&s);
        assert_int_equal(show(damages[i].number, &c, &s, &error), PERFILE_ERROR_DAMAGED);
        assert_string_equal(shown_json(&s), damages[i].json);
        assert_string_equal(error.message, damages[i].message);
        shown_close(&s);
        free(block);
    }
}

/* A string's NUL may be missing. */
static void test_text_without_nul(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct shown s;
    made_u32(&m, 3);
    made_bytes(&m, "abc", 3);
    struct pf_cursor c = pf_cursor_make(m.data, m.bytes, 0, false);
    shown_open(&s);
    assert_int_equal(show(4, &c, &s, NULL), 0);
    assert_string_equal(shown_json(&s), "\"abc\"");
    shown_close(&s);
}

/* Without NRCPUS the number of ids is not known. */
static void test_cpu_topology_without_cpu_count(void **state)
{
    (void)state;
    struct made m = {.swap = false};
    struct shown s;
    make_cpu_topology(&m);
    struct pf_cursor c = pf_cursor_make(m.data, m.bytes, 0, false);
    shown_open(&s);
    assert_int_equal(pf_feature_emit(13, "X", &c, &(struct pf_feature_context){0}, &s.emit, NULL), 0);
    assert_string_equal(shown_json(&s), "{" THREADS "}");
    assert_int_equal(pf_cursor_left(&c), 16);
    shown_close(&s);
}

/* ---- EVENT_DESC ----------------------------------------------------------------------------------------------- */

static void make_event_desc(struct made *m)
{
    made_u32(m, 1);
    made_u32(m, 72); /* the size of an attr */
    made_u32(m, 1);  /* type */
    made_u32(m, 64); /* size that the attr states */
    made_fill(m, 0, 64);
    made_u32(m, 2);
    made_text(m, "cycles", 64);
    made_u64(m, 70);
    made_u64(m, 80);
}

static void test_event_desc(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct made m = {.swap = swap};
        struct shown s;
        make_event_desc(&m);
        struct pf_cursor c = pf_cursor_make(m.data, m.bytes, 0, swap);
        shown_open(&s);
        assert_int_equal(show(12, &c, &s, NULL), 0);
        const char *json = shown_json(&s);
        assert_ptr_equal(strstr(json, "[{\"attr\":{\"type\":1,\"size\":64,\"config\":0,"), json);
        assert_non_null(strstr(json, "},\"name\":\"cycles\",\"ids\":[70,80]}]"));
        assert_null(strstr(json, "config2")); /* is after the 64 bytes */
        shown_close(&s);
        for (size_t bytes = 0; bytes < m.bytes; bytes++)
            check_piece(12, m.data, bytes, swap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_in_both_byte_orders),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_wrong_anywhere),
        cmocka_unit_test(test_foreign_bytes),
        cmocka_unit_test(test_stop_anywhere),
        cmocka_unit_test(test_damage_is_named),
        cmocka_unit_test(test_text_without_nul),
        cmocka_unit_test(test_cpu_topology_without_cpu_count),
        cmocka_unit_test(test_event_desc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
