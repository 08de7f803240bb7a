/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jit.h"

#include "base/elf_names.h"
#include "made_elf.h"
#include "recording.h"
#include "symbol/elf_file.h"
#include "symbol/jit/jitdump.h"
#include "symbol/symbols.h"

enum { PID = 7, TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

/* ---- jitdump files; `struct recording` is just a growing buffer here ---- */

static uint32_t machine = EM_X86_64;

static void dump_open(struct recording *d, bool swap, uint64_t flags)
{
    *d = (struct recording){.swap = swap};
    const uint32_t words[] = {0x4a695444, 1, 40, machine, 0, PID};
    for (size_t i = 0; i < PF_COUNT(words); i++)
        recording_u32(d, words[i]);
    recording_u64(d, 900);
    recording_u64(d, flags);
}

static void dump_prefix(struct recording *d, uint32_t id, uint32_t body, uint64_t time)
{
    recording_u32(d, id);
    recording_u32(d, 16 + body);
    recording_u64(d, time);
}

static void dump_load(struct recording *d, uint64_t time, uint64_t address, uint64_t bytes, const char *name)
{
    static const uint8_t code[4096];
    size_t length = strlen(name) + 1;
    dump_prefix(d, 0, (uint32_t)(40 + length + bytes), time);
    recording_u32(d, PID);
    recording_u32(d, PID);
    recording_u64(d, address);
    recording_u64(d, address);
    recording_u64(d, bytes);
    recording_u64(d, (uint8_t)name[0]); /* the index of the code */
    recording_bytes(d, name, length);
    recording_bytes(d, code, bytes);
}

static void dump_move(struct recording *d, uint64_t time, uint64_t from, uint64_t to, char index)
{
    dump_prefix(d, 1, 48, time);
    recording_u32(d, PID);
    recording_u32(d, PID);
    recording_u64(d, to);
    recording_u64(d, from);
    recording_u64(d, to);
    recording_u64(d, 0x40);
    recording_u64(d, (uint8_t)index);
}

static void dump_lines(struct recording *d, uint64_t address)
{
    dump_prefix(d, 2, 16 + 16 + 5 + 16 + 2 + 16 + 4, 900);
    recording_u64(d, address);
    recording_u64(d, 3);
    const struct {
        uint32_t line;
        const char *file;
    } rows[] = {{10, "a.js"}, {11, "\xff"}, {5, "b.h"}};
    for (size_t i = 0; i < PF_COUNT(rows); i++) {
        recording_u64(d, address + 8 * i);
        recording_u32(d, rows[i].line);
        recording_u32(d, 0);
        recording_bytes(d, rows[i].file, strlen(rows[i].file) + 1);
    }
}

static void dump_close(struct recording *d, const char *name)
{
    made_file(name, d->data, d->bytes);
    recording_close(d);
}

/* ---- recordings ---- */

static void put_map(struct recording *r, uint64_t start, uint64_t bytes, const char *name, uint64_t time)
{
    const struct recording_map map = {.misc = 2, .pid = PID, .start = start, .bytes = bytes, .name = name};
    recording_map(r, &map, time);
}

static void open_recording(struct recording *r, bool same_clock)
{
    enum { ATTR_AT = 112, SAMPLE_ID_ALL = 18, USE_CLOCKID = 25 };
    recording_open(r, TYPE, false);
    if (!same_clock)
        return;
    recording_store64(r, ATTR_AT + 40,
                      PF_NATIVE_BIG_ENDIAN ? 1ull << (63 - SAMPLE_ID_ALL) | 1ull << (63 - USE_CLOCKID)
                                           : 1 << SAMPLE_ID_ALL | 1 << USE_CLOCKID);
    r->data[ATTR_AT + 92 + (PF_NATIVE_BIG_ENDIAN ? 3 : 0)] = 1; /* CLOCK_MONOTONIC */
}

static char notes[512];

static void take_note(void *context, const char *text)
{
    (void)context;
    snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", text);
}

/* What the samples of a recording resolve to: "TIME:SYMBOL+OFFSET FILE:LINE, ". */
static void report_notes(struct recording *r, char *text, size_t capacity)
{
    struct pf_find_options find = {.symfs = made_directory, .note = take_note};
    struct perfile_session *session;
    struct pf_jit *jit;
    struct pf_symbols *symbols;
    const struct perfile_record *record;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct pf_location location;
    struct pf_source_frame frame;
    uint8_t *block;
    recording_finish(r);
    struct perfile_reader *reader = recording_read(r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    assert_int_equal(pf_jit_open(reader, session, &find, &jit, NULL), 0);
    assert_int_equal(pf_symbols_open(reader, &find, &symbols, NULL), 0);
    pf_symbols_use_jit(symbols, jit);
    *text = *notes = '\0';
    while (perfile_session_next(session, &record, NULL) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE) {
            assert_int_equal(pf_jit_follow(jit, record, NULL), 0);
            continue;
        }
        assert_int_equal(perfile_sample_decode(record, &sample, NULL), 0);
        const struct perfile_map *map = perfile_space_find(perfile_session_space(session, PID), sample.ip);
        assert_true(pf_symbols_locate(symbols, map, sample.ip, &location));
        const char *name = pf_symbols_name(symbols, location.module, location.symbol);
        const bool lined = pf_symbols_inlines(symbols, &location, &frame, 1);
        size_t used = strlen(text);
        snprintf(text + used, capacity - used, "%d:%s+%x", (int)(sample.time % 1000),
                 name  ? name
                 : map ? map->filename
                       : "-",
                 (unsigned)location.offset);
        used = strlen(text);
        snprintf(text + used, capacity - used, lined ? " %s:%u, " : ", ", frame.file, frame.line);
    }
    pf_symbols_close(symbols);
    pf_jit_close(jit);
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
    recording_close(r);
}

static void expect(struct recording *r, const char *expected, const char *expected_notes)
{
    char text[4096];
    report_notes(r, text, sizeof(text));
    assert_string_equal(text, expected);
    assert_string_equal(notes, expected_notes);
}

/* ---- tests ---- */

/* The same address holds other code later; code moves; the protection of its memory changes. */
static void test_over_time(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct recording d, r;
        dump_open(&d, swap, 0);
        dump_load(&d, 1010, 0x10000, 0x40, "first");
        dump_load(&d, 1040, 0x10020, 0x10, "second");
        dump_move(&d, 1060, 0x10000, 0x20000, 'f');
        dump_move(&d, 1060, 0x10000, 0x30000, 'x'); /* of an unknown kind */
        dump_load(&d, 1030, 0x10100, 0x40, "late in the file");
        dump_prefix(&d, 99, 8, 1000);
        recording_u64(&d, 0);
        dump_prefix(&d, 3, 0, 1090);
        dump_close(&d, "w/jit-7.dump");
        open_recording(&r, true);
        put_map(&r, 0x10000, 0x10000, "//anon", 1000);
        put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
        recording_sample(&r, 0x10024, PID, 1005);
        recording_sample(&r, 0x10024, PID, 1010);
        recording_sample(&r, 0x10110, PID, 1020);
        recording_sample(&r, 0x10110, PID, 1030);
        put_map(&r, 0x10000, 0x10000, "//anon", 1035);
        recording_sample(&r, 0x10024, PID, 1041);
        recording_sample(&r, 0x1001f, PID, 1042);
        recording_sample(&r, 0x10030, PID, 1043); /* the rest of what was cut in two */
        recording_sample(&r, 0x20002, PID, 1059);
        recording_sample(&r, 0x20002, PID, 1060);
        recording_sample(&r, 0x30002, PID, 1070);
        expect(&r,
               "5://anon+10024, 10:first+24, 20://anon+10110, 30:late in the file+10, 41:second+4, 42:first+1f, "
               "43:first+30, 59:-+20002, 60:first+2, 70:-+30002, ",
               "");
    }
}

static void test_lines(void **state)
{
    (void)state;
    struct recording d, r;
    dump_open(&d, false, 0);
    dump_lines(&d, 0x10000);
    dump_load(&d, 1010, 0x10000, 0x40, "Ljava/A;b(I)V");
    dump_load(&d, 1010, 0x20000, 0x40, "without");
    dump_move(&d, 1020, 0x10000, 0x30000, 'L');
    dump_close(&d, "w/jit-7.dump");
    open_recording(&r, true);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    recording_sample(&r, 0x10000, PID, 1011);
    recording_sample(&r, 0x1000f, PID, 1012);
    recording_sample(&r, 0x10010, PID, 1013);
    recording_sample(&r, 0x20010, PID, 1014);
    recording_sample(&r, 0x30009, PID, 1021);
    expect(&r,
           "11:java.A.b(int)+0 a.js:10, 12:java.A.b(int)+f a.js:11, 13:java.A.b(int)+10 b.h:5, 14:without+10, "
           "21:java.A.b(int)+9 a.js:11, ",
           "");
}

/* Node 20 writes names of files whose memory holds something else by then. */
static void test_clobbered_names(void **state)
{
    enum { NAME_AT = 40 + 16 + 16 + 16 };
    (void)state;
    struct recording d, r;
    dump_open(&d, false, 0);
    dump_lines(&d, 0x10000);
    d.data[NAME_AT] = 3;
    dump_load(&d, 1010, 0x10000, 0x40, "code");
    dump_close(&d, "w/jit-7.dump");
    open_recording(&r, true);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    recording_sample(&r, 0x10001, PID, 1011);
    expect(&r, "11:code+1, ", "");
}

/* With unwinding info the mapping is longer than the code. */
static void test_unwinding_info(void **state)
{
    (void)state;
    struct recording d, r;
    dump_open(&d, false, 0);
    dump_prefix(&d, 4, 24 + 8, 1000);
    recording_u64(&d, 8);
    recording_u64(&d, 8);
    recording_u64(&d, 0x20);
    recording_u64(&d, 0);
    dump_load(&d, 1010, 0x10000, 0x3c, "code");
    dump_close(&d, "w/jit-7.dump");
    open_recording(&r, true);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    recording_sample(&r, 0x1003b, PID, 1011);
    recording_sample(&r, 0x1005f, PID, 1012);
    recording_sample(&r, 0x10060, PID, 1013);
    expect(&r, "11:code+3b, 12:/w/jitted-7-99.so+df, 13:-+10060, ", "");
}

/* Files that cannot be used are reported; files with similar names are not jitdumps. */
static void test_not_used(void **state)
{
    (void)state;
    struct recording d, r;
    dump_open(&d, false, 0);
    dump_load(&d, 1010, 0x10000, 0x40, "code");
    dump_close(&d, "w/jit-7.dump");
    dump_open(&d, false, 1);
    dump_close(&d, "w/jit-8.dump");
    made_file("w/jit-9.dump", "ELF", 3);
    open_recording(&r, false);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1002);
    put_map(&r, 0x90000, 0x1000, "/w/jit-8.dump", 1002);
    put_map(&r, 0x90000, 0x1000, "/w/jit-9.dump", 1002);
    put_map(&r, 0x90000, 0x1000, "/w/jit-10.dump", 1002);
    put_map(&r, 0x90000, 0x1000, "/w/jit-.dump", 1002);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dumps", 1002);
    put_map(&r, 0x90000, 0x1000, "jit-7.dump", 1002);
    recording_sample(&r, 0x10000, PID, 1011);
    char expected[512];
    snprintf(expected, sizeof(expected),
             "/w/jit-7.dump is not used: its clock is CLOCK_MONOTONIC, and the recording's is not (perfile record -k "
             "1)\n/w/jit-8.dump is not used: its times are in ticks of a counter that the recording does not describe\n"
             "jitdump at 0x0: %s/w/jit-9.dump is not a jitdump file of version 1\n/w/jit-10.dump was not found\n",
             made_directory);
    expect(&r, "11:-+10000, ", expected);
}

/* Ticks of the TSC become times as the record TIME_CONV says. */
static void test_ticks(void **state)
{
    (void)state;
    struct recording d, r;
    dump_open(&d, false, 1);
    dump_load(&d, 100, 0x10000, 0x40, "code");
    dump_close(&d, "w/jit-7.dump");
    open_recording(&r, false);
    recording_header(&r, PERFILE_RECORD_TIME_CONV, 0, 56);
    recording_u64(&r, 1); /* shift */
    recording_u64(&r, 4); /* factor: two ns a tick */
    recording_u64(&r, 850);
    recording_u64(&r, 0);
    recording_u64(&r, 0);
    recording_u64(&r, PF_NATIVE_BIG_ENDIAN ? 1ull << 56 : 1); /* cap_user_time_zero */
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    recording_sample(&r, 0x10000, PID, 1049);
    recording_sample(&r, 0x10000, PID, 1050);
    expect(&r, "49:-+10000, 50:code+0, ", "");
}

/* ---- files ---- */

static char consumed[1024];

static int take(void *context, uint64_t time, const struct perfile_map *map, struct perfile_error *error)
{
    uint8_t build_id[20];
    const size_t used = strlen(consumed);
    (void)context, (void)error;
    snprintf(consumed + used, sizeof(consumed) - used, "%d:%x+%x@%x %s, ", (int)(time % 1000), (unsigned)map->start,
             (unsigned)(map->end - map->start), (unsigned)map->pgoff, map->filename);
    assert_int_equal(map->pid, PID);
    assert_int_equal(pf_elf_build_id(NULL, made_path(map->filename), build_id, NULL), 20);
    assert_memory_equal(map->build_id, build_id, 20);
    return 0;
}

/* Writes the files of a recording that maps w/jit-7.dump, and `more` unless it is NULL. */
static int write_files_of(const char *more, struct perfile_error *error)
{
    struct pf_find_options find = {.symfs = made_directory, .note = take_note};
    struct recording r;
    struct pf_jit *jit;
    const struct perfile_record *record;
    uint8_t *block;
    char folder[512];
    int result = 0;
    snprintf(folder, sizeof(folder), "%s", made_path("/w"));
    open_recording(&r, true);
    put_map(&r, 0x90000, 0x1000, "/w/jit-7.dump", 1001);
    if (more)
        put_map(&r, 0x92000, 0x1000, more, 1001);
    put_map(&r, 0x10000, 0x1000, "//anon", 1002);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(pf_jit_open(reader, NULL, &find, &jit, NULL), 0);
    pf_jit_write_files(jit, folder, take, NULL);
    *consumed = *notes = '\0';
    for (unsigned i = 0; result == 0 && perfile_reader_next(reader, &record, NULL) > 0; i++) {
        result = pf_jit_follow(jit, record, error);
        assert_int_equal(pf_jit_is_used(jit), i < (more ? 2 : 1));
    }
    pf_jit_close(jit);
    perfile_close(reader);
    free(block);
    recording_close(&r);
    return result;
}

static int write_files(struct perfile_error *error)
{
    return write_files_of(NULL, error);
}

static void check_elf(const char *name, const char *symbol, uint64_t text_at, bool has_lines)
{
    struct pf_elf elf;
    struct pf_elf_symbols symbols;
    assert_int_equal(pf_elf_open(&elf, made_path(name), NULL, NULL), 0);
    assert_int_equal(elf.header.e_machine, machine);
    assert_int_equal(elf.is_64, machine != EM_386);
    assert_int_equal(elf.header.e_type, ET_DYN);
    const struct pf_elf_section *text = pf_elf_section(&elf, ".text"), *table = pf_elf_section(&elf, ".symtab");
    assert_non_null(text);
    assert_int_equal(text->header.sh_offset, text_at);
    assert_int_equal(text->header.sh_addr, text_at);
    assert_int_equal(text->header.sh_size, 0x3c);
    assert_non_null(table);
    assert_true(pf_elf_symbols_open(&symbols, &elf, table));
    assert_int_equal(symbols.count, 2);
    const struct pf_elf_symbol sym = pf_elf_symbol_at(&symbols, 1);
    assert_int_equal(sym.st_value, text_at);
    assert_int_equal(sym.st_size, 0x3c);
    assert_int_equal(sym.st_type, STT_FUNC);
    assert_string_equal(pf_elf_symbol_name(&symbols, &sym), symbol);
    assert_int_equal(pf_elf_section(&elf, ".debug_line") != NULL, has_lines);
    pf_elf_close(&elf);
}

static void test_files(void **state)
{
    static const uint32_t machines[] = {EM_X86_64, EM_386, EM_S390};
    struct perfile_error error;
    (void)state;
    for (size_t i = 0; i < 2 * PF_COUNT(machines); i++) {
        struct recording d;
        machine = machines[i / 2];
        const unsigned text_at = machine == EM_386 ? 0x60 : 0x80;
        char expected[512];
        dump_open(&d, i % 2, 0);
        dump_lines(&d, 0x10000);
        dump_load(&d, 1010, 0x10000, 0x3c, "first");
        dump_load(&d, 1040, 0x10100, 0x3c, "second");
        dump_move(&d, 1060, 0x10000, 0x20000, 'f');
        dump_load(&d, 1070, 0x30000, 0x3c, "sure"); /* with the number of another one */
        dump_load(&d, 1080, 0x30000, 0, "empty");
        dump_close(&d, "w/jit-7.dump");
        assert_int_equal(write_files(&error), 0);
        snprintf(expected, sizeof(expected),
                 "10:10000+3c@%x /w/jitted-7-102.so, 40:10100+3c@%x /w/jitted-7-115.so, "
                 "60:20000+40@%x /w/jitted-7-102.so, 70:30000+3c@%x /w/jitted-7-115-2.so, ",
                 text_at, text_at, text_at, text_at);
        assert_string_equal(consumed, expected);
        assert_string_equal(notes, "");
        check_elf("w/jitted-7-102.so", "first", text_at, true);
        check_elf("w/jitted-7-115.so", "second", text_at, false);
        check_elf("w/jitted-7-115-2.so", "sure", text_at, false);
        assert_int_not_equal(access(made_path("w/jitted-7-101.so"), F_OK), 0);
    }
    machine = EM_X86_64;
}

/* All are in one folder, wherever the dumps are: none may take the place of another one. */
static void test_files_of_two_dumps(void **state)
{
    static const char *const positions[] = {"w/jit-7.dump", "jit-7.dump"};
    struct perfile_error error;
    struct recording d;
    (void)state;
    for (size_t i = 0; i < PF_COUNT(positions); i++) {
        dump_open(&d, false, 0);
        dump_load(&d, 1010, 0x10000 + 0x10000 * i, 0x3c, "code");
        dump_close(&d, positions[i]);
    }
    assert_int_equal(write_files_of("/jit-7.dump", &error), 0);
    assert_string_equal(consumed, "10:10000+3c@80 /w/jitted-7-99.so, 10:20000+3c@80 /w/jitted-7-99-1.so, ");
    assert_int_equal(unlink(made_path("jit-7.dump")), 0);
}

/* What follows the code in memory follows it in the file: .eh_frame, then .eh_frame_hdr. */
static void test_unwinding_in_files(void **state)
{
    static const char tables[] = "the tables.....the header......";
    struct perfile_error error;
    struct recording d;
    struct pf_elf elf;
    size_t bytes;
    (void)state;
    dump_open(&d, false, 0);
    dump_prefix(&d, 4, 24 + 32, 1000);
    recording_u64(&d, 32);
    recording_u64(&d, 16);
    recording_u64(&d, 32);
    recording_bytes(&d, tables, sizeof(tables));
    dump_load(&d, 1010, 0x10000, 0x3c, "code");
    dump_close(&d, "w/jit-7.dump");
    assert_int_equal(write_files(&error), 0);
    assert_string_equal(consumed, "10:10000+60@80 /w/jitted-7-99.so, ");
    assert_int_equal(pf_elf_open(&elf, made_path("w/jitted-7-99.so"), NULL, NULL), 0);
    const struct pf_elf_section *section = pf_elf_section(&elf, ".eh_frame");
    assert_non_null(section);
    assert_int_equal(section->header.sh_offset, 0x80 + 0x40);
    assert_int_equal(section->header.sh_addr, section->header.sh_offset);
    const uint8_t *data = pf_elf_bytes(&elf, section, &bytes);
    assert_int_equal(bytes, 16);
    assert_memory_equal(data, tables, 16);
    section = pf_elf_section(&elf, ".eh_frame_hdr");
    assert_non_null(section);
    assert_int_equal(section->header.sh_offset, 0x80 + 0x50);
    assert_memory_equal(pf_elf_bytes(&elf, section, &bytes), tables + 16, 16);
    pf_elf_close(&elf);
}

/* What cannot be written is an error, not a loss. */
static void test_unwritable_files(void **state)
{
    struct perfile_error error;
    struct recording d;
    (void)state;
    dump_open(&d, false, 0);
    dump_load(&d, 1010, 0x10000, 0x3c, "code");
    dump_close(&d, "w/jit-7.dump");
    unlink(made_path("w/jitted-7-99.so"));
    assert_int_equal(mkdir(made_path("w/jitted-7-99.so"), 0700), 0);
    assert_int_equal(write_files(&error), PERFILE_ERROR_WRITE);
    assert_non_null(strstr(error.message, "w/jitted-7-99.so: Is a directory"));
    assert_string_equal(consumed, "");
    assert_int_equal(rmdir(made_path("w/jitted-7-99.so")), 0);
}

/* Damage is reported. */
static void test_damaged_files(void **state)
{
    struct perfile_error error;
    struct recording d;
    (void)state;
    dump_open(&d, false, 0);
    size_t at = d.bytes;
    dump_load(&d, 1010, 0x10000, 0x3c, "much");
    recording_store64(&d, at + 16 + 24, 1 << 20);
    dump_load(&d, 1012, UINT64_MAX - 0x3b, 0x3c, "past the end of all addresses");
    dump_move(&d, 1013, 0x10000, UINT64_MAX - 0x3f, 'p');
    dump_load(&d, 1020, 0x10000, 0x3c, "good");
    at = d.bytes;
    dump_load(&d, 1030, 0x10000, 0x3c, "cut");
    d.bytes = at + 30;
    dump_close(&d, "w/jit-7.dump");
    assert_int_equal(write_files(&error), 0);
    assert_string_equal(consumed, "20:10000+3c@80 /w/jitted-7-103.so, ");
    assert_string_equal(notes, "/w/jit-7.dump ends within a record: its last piece of code is missing\n"
                               "/w/jit-7.dump is damaged: 3 pieces of code cannot be used\n");
}

/*
 * A function without code has no file that a mapping could name, whatever was mapped after it, and wherever it was
 * moved.
 */
static void test_no_code(void **state)
{
    struct perfile_error error;
    struct recording d;
    (void)state;
    dump_open(&d, false, 0);
    for (uint64_t mapped = 32; mapped; mapped = mapped == 32 ? UINT64_MAX : 0) {
        dump_prefix(&d, 4, 24, 1000);
        recording_u64(&d, 0);
        recording_u64(&d, 0);
        recording_u64(&d, mapped);
        dump_load(&d, 1010, 0x10000, 0, "empty");
        dump_move(&d, 1020, 0x10000, 0x20000, 'e');
    }
    dump_close(&d, "w/jit-7.dump");
    unlink(made_path("w/jitted-7-101.so"));
    assert_int_equal(write_files(&error), 0);
    assert_string_equal(consumed, "");
    assert_string_equal(notes, "");
    assert_int_not_equal(access(made_path("w/jitted-7-101.so"), F_OK), 0);
}

/* However a file is cut, its complete entries before that are used. */
static void test_cut(void **state)
{
    (void)state;
    struct recording d;
    struct pf_jitdump dump;
    struct pf_jitdump_code code;
    dump_open(&d, false, 0);
    dump_lines(&d, 0x10000);
    dump_load(&d, 1010, 0x10000, 0x40, "one");
    size_t first = d.bytes;
    dump_load(&d, 1011, 0x20000, 0x40, "two");
    for (size_t bytes = 0; bytes <= d.bytes; bytes++) {
        const char *path = made_file("cut", d.data, bytes);
        int result = pf_jitdump_open(&dump, pf_allocator_or_default(NULL), path, NULL);
        assert_int_equal(result, bytes < 40 ? PERFILE_ERROR_FORMAT : 0);
        if (result < 0)
            continue;
        size_t count = 0;
        while (pf_jitdump_next(&dump, &code) > 0)
            count++;
        assert_int_equal(count, (bytes >= first) + (bytes >= d.bytes));
        pf_jitdump_close(&dump);
    }
    recording_close(&d);
}

/* Sizes that lie: a name without an end, more code than the record has, a record shorter than its prefix. */
static void test_lying_sizes(void **state)
{
    (void)state;
    struct recording d;
    struct pf_jitdump dump;
    struct pf_jitdump_code code;
    dump_open(&d, false, 0);
    dump_load(&d, 1, 0x10000, 0x40, "right");
    size_t at = d.bytes;
    dump_load(&d, 2, 0x20000, 0x40, "much code");
    recording_store64(&d, at + 16 + 24, 0x40 + 11);
    at = d.bytes;
    dump_load(&d, 3, 0x30000, 0, "no NUL");
    memset(d.data + at + 16 + 40, 'x', 7);
    at = d.bytes;
    dump_load(&d, 4, 0x40000, 0x40, "short");
    memset(d.data + at + 4, 0, 4);
    assert_int_equal(pf_jitdump_open(&dump, pf_allocator_or_default(NULL), made_file("lying", d.data, d.bytes), NULL),
                     0);
    assert_int_equal(pf_jitdump_next(&dump, &code), 1);
    assert_string_equal(code.name, "right");
    assert_int_equal(pf_jitdump_next(&dump, &code), 1);
    assert_string_equal(code.name, "xxxxxx");
    assert_int_equal(pf_jitdump_next(&dump, &code), 0);
    assert_true(dump.is_cut);
    pf_jitdump_close(&dump);
    recording_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over_time),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_clobbered_names),
        cmocka_unit_test(test_unwinding_info),
        cmocka_unit_test(test_not_used),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_lying_sizes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_files_of_two_dumps),
        cmocka_unit_test(test_unwinding_in_files),
        cmocka_unit_test(test_unwritable_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_no_code),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
