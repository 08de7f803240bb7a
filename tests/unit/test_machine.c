/* SPDX-License-Identifier: MIT */
/* What recorders report of a made-up machine: a folder with the files of /proc and /sys that matter. */
#include "counting.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/btf.h"
#include "record/machine.h"
#include "record/machine_bpf.h"
#include "record/machine_build_id.h"
#include "record/mapped_ids.h"

/* ---- the machine ---- */

struct machine {
    char root[64];
};

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

static void add_bytes(const struct machine *m, const char *name, const void *data, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", m->root, name);
    make_folders(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void add(const struct machine *m, const char *name, const char *text)
{
    add_bytes(m, name, text, strlen(text));
}

static void add_folder(const struct machine *m, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s/", m->root, name);
    make_folders(path);
}

static void machine_open(struct machine *m)
{
    snprintf(m->root, sizeof(m->root), "/tmp/perfile-machine-XXXXXX");
    assert_non_null(mkdtemp(m->root));
    add(m, "proc/kallsyms",
        "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81800000 T _etext\n"
        "ffffffff81900000 D _edata\nffffffffc0000000 t inner\t[a_b]\n");
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static void machine_close(const struct machine *m)
{
    assert_int_equal(nftw(m->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A thread that has a name, in a process that has a parent. */
static void add_thread(const struct machine *m, int pid, int tid, const char *name)
{
    char path[128], text[128];
    snprintf(path, sizeof(path), "proc/%d/task/%d/comm", pid, tid);
    snprintf(text, sizeof(text), "%s\n", name);
    add(m, path, text);
}

static void add_process(const struct machine *m, int pid, const char *name, const char *maps)
{
    char path[128], text[256];
    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text), "%d (%s) S 1 1 1 0 -1 4194560 1 2 3\n", pid, name);
    add(m, path, text);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\n", pid, pid);
    add(m, path, text);
    add_thread(m, pid, pid, name);
    snprintf(path, sizeof(path), "proc/%d/task/%d/maps", pid, pid);
    if (maps)
        add(m, path, maps);
}

/* A note of a build id, and a file that has nothing but it. */
static size_t make_note(uint8_t *to, uint8_t first)
{
    static const uint8_t head[16] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
    memcpy(to, head, sizeof(head));
    if (PF_NATIVE_BIG_ENDIAN)
        for (size_t i = 0; i < 12; i += 4) {
            to[i + 3] = head[i];
            to[i] = 0;
        }
    for (unsigned i = 0; i < 20; i++)
        to[sizeof(head) + i] = (uint8_t)(first + i);
    return sizeof(head) + 20;
}

static void add_elf(const struct machine *m, const char *name, uint8_t first)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segment;
        uint8_t note[64];
    } file = {
        .head = {.e_ident = ELFMAG, .e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1},
        .segment = {.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)}};
    file.head.e_ident[EI_CLASS] = ELFCLASS64;
    file.head.e_ident[EI_DATA] = PF_NATIVE_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB;
    file.segment.p_filesz = make_note(file.note, first);
    add_bytes(m, name, &file, sizeof(file));
}

/*
 * ---- what is reported
 * ------------------------------------------------------------------------------------------------
 */

struct synthesis {
    struct pf_text text; /* a line each */
    size_t count;
    size_t fail_at; /* 0: never */
    char note[256];
};

static void show_fork(struct synthesis *t, const void *record)
{
    const struct perfile_fork *r = record;
    pf_put_format(&t->text, "%d/%d from %d/%d", r->pid, r->tid, r->ppid, r->ptid);
}

static void show_comm(struct synthesis *t, const void *record)
{
    const struct perfile_comm *r = record;
    pf_put_format(&t->text, "%d/%d %s", r->pid, r->tid, r->comm);
}

static void show_map(struct synthesis *t, uint16_t misc, const struct perfile_mmap2 *r)
{
    pf_put_format(&t->text, "%d %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %u,%x ", r->pid, r->addr, r->len, r->pgoff, r->prot,
                  r->flags);
    if (misc & PERFILE_MISC_MMAP_BUILD_ID)
        pf_put_hex_bytes(&t->text, r->build_id, r->build_id_size);
    else
        pf_put_format(&t->text, "%x:%x:%" PRIu64, r->maj, r->min, r->ino);
    pf_put_format(&t->text, " %s", r->filename);
}

static int put(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
               struct perfile_error *error)
{
    struct synthesis *t = context;
    const struct perfile_mmap *map = record;
    (void)bytes;
    if (++t->count == t->fail_at) {
        error->code = PERFILE_ERROR_WRITE;
        return PERFILE_ERROR_WRITE;
    }
    pf_put_format(&t->text, "%s %x: ", perfile_record_name(type), misc);
    if (type == PERFILE_RECORD_FORK)
        show_fork(t, record);
    else if (type == PERFILE_RECORD_COMM)
        show_comm(t, record);
    else if (type == PERFILE_RECORD_MMAP2)
        show_map(t, misc, record);
    else if (type == PERFILE_RECORD_CGROUP)
        pf_put_string(&t->text, ((const struct perfile_cgroup *)record)->path);
    else if (type == PERFILE_RECORD_MMAP)
        pf_put_format(&t->text, "%" PRIx64 "+%" PRIx64 " %s", map->addr, map->len, map->filename);
    pf_put_char(&t->text, '\n');
    return 0;
}

static void keep_note(void *context, const char *sentence)
{
    struct synthesis *t = context;
    snprintf(t->note, sizeof(t->note), "%s", sentence);
}

static void synthesis_open(struct synthesis *t)
{
    *t = (struct synthesis){.count = 0};
    assert_int_equal(pf_text_open(&t->text, pf_allocator_or_default(NULL), NULL, NULL), 0);
}

static void synthesis_close(struct synthesis *t)
{
    pf_text_close(&t->text);
}

static int report_notes(const struct machine *m, struct pf_machine_options options, struct synthesis *t)
{
    struct perfile_error error = {0};
    const struct pf_synthesis to = {put, t};
    options.root = m->root;
    options.note = keep_note;
    options.note_context = t;
    int result = pf_machine_synthesize(&options, &to, &error);
    pf_put_char(&t->text, 0);
    assert_int_equal(result, error.code);
    return result;
}

/* Checks what is reported after the record of the kernel. */
static void expect(const struct machine *m, struct pf_machine_options options, const char *expected)
{
    struct synthesis t;
    synthesis_open(&t);
    assert_int_equal(report_notes(m, options, &t), 0);
    assert_string_equal(strchr(t.text.data, '\n') + 1, expected);
    synthesis_close(&t);
}

/* ---- processes ---- */

static void test_order_and_names(void **state)
{
    struct machine m;
    (void)state;
    machine_open(&m);
    add_process(&m, 100, "later", "");
    add_process(&m, 9, "a) (b\nc d", NULL);
    add_thread(&m, 9, 11, "sp ace");
    add(&m, "proc/9/task/x/comm", "no thread\n");
    add_folder(&m, "proc/9/task/12"); /* it has ended */
    add_folder(&m, "proc/50");        /* so has this process */
    add(&m, "proc/60/stat", "60 (cut off");
    add(&m, "proc/70/stat", "70 (kernel:longer than a name) S 2 0 0 0 -1 2129984 0 0\n");
    add_process(&m, 71, "x", "");
    add(&m, "proc/abc/stat", "1 (no) S 1 1 1 0 -1 0\n");
    static const char all[] = "FORK 2000: 9/9 from 1/1\nCOMM 0: 9/9 a) (b\nc d\n"
                              "FORK 2000: 9/11 from 9/9\nCOMM 0: 9/11 sp ace\n"
                              "FORK 2000: 70/70 from 2/2\nCOMM 0: 70/70 kernel:longer t\n"
                              "FORK 2000: 71/71 from 1/1\nCOMM 0: 71/71 x\n"
                              "FORK 2000: 100/100 from 1/1\nCOMM 0: 100/100 later\n";
    for (unsigned threads = 0; threads < 4; threads++)
        expect(&m, (struct pf_machine_options){.threads = threads}, all);
    static const int32_t some[] = {100, 71, 100, 4711};
    expect(&m, (struct pf_machine_options){.tids = some, .tid_count = 4},
           "FORK 2000: 71/71 from 1/1\nCOMM 0: 71/71 x\nFORK 2000: 100/100 from 1/1\nCOMM 0: 100/100 later\n");
    expect(&m, (struct pf_machine_options){.tids = some}, "");
    machine_close(&m);
}

static void test_maps(void **state)
{
    struct machine m;
    (void)state;
    machine_open(&m);
    add_process(&m, 5, "p",
                "55f000-560000 r-xp 00002000 fe:01 1234                   /usr/bin/a name\n"
                "560000-561000 r--p 00003000 fe:01 1234                   /usr/bin/a name\n"
                "561000-562000 -w-p 00003000 fe:01 1234                   /usr/bin/a name\n"
                "600000-601000 rwxs 00000000 00:00 0 \n"
                "602000-603000 r-xp 00000000 00:05 77                     /tmp/line\\012break (deleted)\n"
                "603000-602000 r-xp 00000000 00:00 0                      /backwards\n"
                "nonsense\n"
                "604000 r-xp\n"
                "605000-606000 r-xp 00000000 00:00 0                      [anon: my code]\n"
                "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
                "700000-701000 r-xp 00000000 00:00 0                      /cut o");
    static const char start[] = "FORK 2000: 5/5 from 1/1\nCOMM 0: 5/5 p\n";
    static const char rest[] = "MMAP2 2: 5 600000+1000@0 7,1 0:0:0 //anon\n"
                               "MMAP2 2: 5 602000+1000@0 5,2 0:5:77 /tmp/line\nbreak (deleted)\n"
                               "MMAP2 2: 5 605000+1000@0 5,2 0:0:0 [anon: my code]\n"
                               "MMAP2 2: 5 ffffffffff600000+1000@0 4,2 0:0:0 [vsyscall]\n";
    char expected[1024];
    snprintf(expected, sizeof(expected), "%sMMAP2 2: 5 55f000+1000@2000 5,2 fe:1:1234 /usr/bin/a name\n%s", start,
             rest);
    expect(&m, (struct pf_machine_options){.threads = 1}, expected);
    snprintf(expected, sizeof(expected),
             "%sMMAP2 2: 5 55f000+1000@2000 5,2 fe:1:1234 /usr/bin/a name\n"
             "MMAP2 2002: 5 560000+1000@3000 1,2 fe:1:1234 /usr/bin/a name\n%s",
             start, rest);
    expect(&m, (struct pf_machine_options){.data_maps = true}, expected);
    machine_close(&m);
}

static void test_maps_of_an_ended_first_thread(void **state)
{
    struct machine m;
    (void)state;
    machine_open(&m);
    add_process(&m, 5, "p", "");
    add(&m, "proc/5/stat", "5 (p) Z 1 1 1 0 -1 4194560 1 2 3\n");
    add_thread(&m, 5, 6, "q");
    add(&m, "proc/5/task/6/maps", "1000-2000 r-xp 00000000 00:05 77 /x\n");
    expect(&m, (struct pf_machine_options){.threads = 2},
           "FORK 2000: 5/5 from 1/1\nCOMM 0: 5/5 p\nFORK 2000: 5/6 from 5/5\nCOMM 0: 5/6 q\n"
           "MMAP2 2: 5 1000+1000@0 5,2 0:5:77 /x\n");
    machine_close(&m);
}

static void test_build_ids(void **state)
{
    struct machine m;
    (void)state;
    machine_open(&m);
    add_process(&m, 5, "p",
                "1000-2000 r-xp 00000000 00:05 77 /lib/one\n"
                "2000-3000 r-xp 00000000 00:05 78 /lib/two\n"
                "3000-4000 r-xp 00000000 00:05 79 /lib/three (deleted)\n"
                "4000-5000 r-xp 00000000 00:05 80 /lib/four\n"
                "5000-6000 r-xp 00000000 00:05 77 /lib/one\n");
    add_elf(&m, "proc/5/root/lib/one", 1);
    add(&m, "proc/5/root/lib/two", "no ELF");
    add_elf(&m, "proc/5/root/lib/three (deleted)", 60); /* it is another file */
    add_elf(&m, "proc/5/map_files/4000-5000", 100);     /* whatever the path leads to */
    add_elf(&m, "proc/5/root/lib/four", 60);
    expect(&m, (struct pf_machine_options){.build_ids = true, .threads = 2},
           "FORK 2000: 5/5 from 1/1\nCOMM 0: 5/5 p\n"
           "MMAP2 4002: 5 1000+1000@0 5,2 0102030405060708090a0b0c0d0e0f1011121314 /lib/one\n"
           "MMAP2 2: 5 2000+1000@0 5,2 0:5:78 /lib/two\n"
           "MMAP2 2: 5 3000+1000@0 5,2 0:5:79 /lib/three (deleted)\n"
           "MMAP2 4002: 5 4000+1000@0 5,2 6465666768696a6b6c6d6e6f7071727374757677 /lib/four\n"
           "MMAP2 4002: 5 5000+1000@0 5,2 0102030405060708090a0b0c0d0e0f1011121314 /lib/one\n");
    machine_close(&m);
}

/* ---- mappings of the time in which the recorder runs ---- */

enum { MAPPED_BIT = PERFILE_MISC_MMAP_BUILD_ID, MAPPED_PID = 0x7ffffff0 /* has ended */ };

static size_t make_mapped(uint8_t *record, const struct stat *file, uint16_t misc, const char *name)
{
    const uint32_t words[18] = {PERFILE_RECORD_MMAP2,
                                misc,
                                MAPPED_PID,
                                MAPPED_PID,
                                0x1000,
                                0,
                                0x1000,
                                0,
                                0,
                                0,
                                major(file->st_dev),
                                minor(file->st_dev),
                                (uint32_t)file->st_ino,
                                (uint32_t)((uint64_t)file->st_ino >> 32),
                                5,
                                0,
                                5,
                                2};
    memcpy(record, words, sizeof(words));
    memcpy(record + 4, &misc, sizeof(misc));
    memcpy(record + sizeof(words), name, strlen(name) + 1);
    return sizeof(words) + strlen(name) + 1;
}

static void test_mapped_files_get_build_ids(void **state)
{
    struct machine m;
    struct pf_mapped_ids mapped, none = {.files = NULL};
    struct stat file;
    uint8_t record[PF_MAPPED_BYTES], changed[PF_MAPPED_BYTES];
    char name[PATH_MAX];
    (void)state;
    machine_open(&m);
    assert_true(pf_mapped_ids_open(&mapped, pf_allocator_or_default(NULL)));
    add_elf(&m, "library", 1);
    snprintf(name, sizeof(name), "%s/library", m.root);
    assert_int_equal(stat(name, &file), 0);
    size_t bytes = make_mapped(record, &file, 2 | MAPPED_BIT, name);
    assert_true(pf_mapped_ids_change(&mapped, record, bytes, changed));
    assert_memory_equal(changed + 4, (&(uint16_t){2 | MAPPED_BIT}), 2);
    assert_memory_equal(changed + 40, "\x14\0\0\0\x01\x02\x03\x04", 8);
    assert_memory_equal(changed + 64, record + 64, bytes - 64);
    /* without build ids, only the bit of others goes */
    assert_true(pf_mapped_ids_change(&none, record, bytes, changed));
    assert_memory_equal(changed + 4, (&(uint16_t){2}), 2);
    assert_memory_equal(changed + 6, record + 6, bytes - 6);
    bytes = make_mapped(record, &file, 2, name);
    assert_false(pf_mapped_ids_change(&none, record, bytes, changed));
    /* the path leads to another file by now */
    file.st_ino++;
    bytes = make_mapped(record, &file, 2, name);
    assert_false(pf_mapped_ids_change(&mapped, record, bytes, changed));
    bytes = make_mapped(record, &file, 2, "//anon");
    assert_false(pf_mapped_ids_change(&mapped, record, bytes, changed));
    pf_mapped_ids_close(&mapped);
    machine_close(&m);
}

static void test_huge_pages_and_control_groups(void **state)
{
    struct machine m;
    struct synthesis t;
    (void)state;
    machine_open(&m);
    add(&m, "proc/mounts",
        "a /unified cgroup2 rw 0 0\nb /other cgroup rw,cpu 0 0\nc /groups cgroup rw,perf_event 0 0\n"
        "d /huge hugetlbfs rw 0 0\n");
    add_process(&m, 5, "p", "200000-400000 r-xp 00000000 00:05 77 /huge/code\n");
    add_folder(&m, "groups/b/inner");
    add_folder(&m, "groups/a");
    add(&m, "groups/tasks", "");
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.cgroups = true}, &t), 0);
    assert_string_equal(strchr(t.text.data, '\n') + 1, "CGROUP 0: /\nCGROUP 0: /a\nCGROUP 0: /b\nCGROUP 0: /b/inner\n"
                                                       "FORK 2000: 5/5 from 1/1\nCOMM 0: 5/5 p\n"
                                                       "MMAP2 2: 5 200000+200000@0 5,40002 0:5:77 //anon\n");
    synthesis_close(&t);
    machine_close(&m);
}

/* More than the slots and buffers of the threads hold: they wait for each other, and lines lie across the buffers. */
static void add_many(const struct machine *m)
{
    enum { MAPS = 3000, PROCESSES = 200 };
    char line[128];
    struct pf_text maps;
    assert_int_equal(pf_text_open(&maps, pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (unsigned i = 0; i < MAPS; i++) {
        snprintf(line, sizeof(line), "%x-%x r-xp 00000000 00:05 %u /a/file/with/a/name/%u\n", i * 4096, i * 4096 + 4096,
                 i, i);
        pf_put_string(&maps, line);
    }
    pf_put_char(&maps, 0);
    for (int pid = 1; pid <= PROCESSES; pid++)
        add_process(m, pid, "many", pid % 100 == 3 ? maps.data : "1000-2000 r-xp 00000000 00:00 0 [vdso]\n");
    pf_text_close(&maps);
}

static void test_many(void **state)
{
    struct machine m;
    struct synthesis t, other;
    (void)state;
    machine_open(&m);
    add_many(&m);
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.threads = 1}, &t), 0);
    assert_int_equal(t.count, 1 + 200 * 2 + 2 * 3000 + 198);
    for (unsigned threads = 2; threads <= 5; threads++) {
        synthesis_open(&other);
        assert_int_equal(report_notes(&m, (struct pf_machine_options){.threads = threads}, &other), 0);
        assert_string_equal(t.text.data, other.text.data);
        synthesis_close(&other);
    }
    /* the threads end when the records cannot be handed on */
    for (size_t at = 1; at < t.count; at = at * 3 + 5)
        for (unsigned threads = 1; threads <= 3; threads++) {
            synthesis_open(&other);
            other.fail_at = at;
            assert_int_equal(report_notes(&m, (struct pf_machine_options){.threads = threads}, &other),
                             PERFILE_ERROR_WRITE);
            assert_int_equal(other.count, at);
            synthesis_close(&other);
        }
    synthesis_close(&t);
    machine_close(&m);
}

static void test_memory_runs_out(void **state)
{
    struct machine m;
    struct counting counting;
    struct synthesis t;
    int result = PERFILE_ERROR_MEMORY;
    (void)state;
    machine_open(&m);
    add_process(&m, 5, "p", "1000-2000 r-xp 00000000 00:05 77 /x\n");
    add(&m, "proc/modules", "a_b 8192 0 - Live 0xffffffffc0000000\n");
    for (int left = 0; result != 0; left++) {
        assert_true(left < 100);
        counting_open(&counting, left);
        synthesis_open(&t);
        result = report_notes(&m, (struct pf_machine_options){.threads = 2, .allocator = &counting.allocator}, &t);
        assert_true(result == 0 || result == PERFILE_ERROR_MEMORY || result == PERFILE_ERROR_OPEN);
        synthesis_close(&t);
        counting_close(&counting);
    }
    machine_close(&m);
}

/* ---- the kernel ---- */

static void test_kernel_and_modules(void **state)
{
    struct machine m;
    struct synthesis t;
    uint8_t note[64];
    static const int32_t none = 4711;
    const struct pf_machine_options options = {.tids = &none, .tid_count = 1, .build_ids = true};
    (void)state;
    machine_open(&m);
    add_bytes(&m, "sys/kernel/notes", note, make_note(note, 0x20));
    add_bytes(&m, "sys/module/a_b/notes/.note.gnu.build-id", note, make_note(note, 0x40));
    add(&m, "proc/sys/kernel/osrelease", "1.2.3\n");
    add(&m, "proc/modules",
        "late 4096 0 - Live 0xffffffffc0001000 (OE)\na_b 8192 1 late, Live 0xffffffffc0000000\nodd\n");
    add(&m, "lib/modules/1.2.3/modules.dep", "kernel/x/aa-b.ko: \nkernel/fs/a-b.ko.xz: kernel/x/aa-b.ko\n");
    add(&m, "lib/modules/1.2.3/kernel/fs/a-b.ko.xz", "");
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, options, &t), 0);
    assert_string_equal(t.text.data,
                        "MMAP2 4001: -1 ffffffff81000000+900000@ffffffff81000000 0,0 "
                        "202122232425262728292a2b2c2d2e2f30313233 [kernel.kallsyms]_text\n"
                        "MMAP2 4001: -1 ffffffffc0000000+1000@0 0,0 404142434445464748494a4b4c4d4e4f50515253 "
                        "/lib/modules/1.2.3/kernel/fs/a-b.ko.xz\n"
                        "MMAP2 1: -1 ffffffffc0001000+1000@0 0,0 0:0:0 [late]\n");
    synthesis_close(&t);
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.tids = &none, .tid_count = 1}, &t), 0);
    assert_non_null(strstr(t.text.data, "MMAP 1: ffffffff81000000+900000 [kernel.kallsyms]_text\n"));
    synthesis_close(&t);
    machine_close(&m);
}

/* On x86 the kernel's end is known from the memory that it has: the lines after _text are not needed. */
static void test_kernel_in_memory(void **state)
{
    struct machine m;
    struct synthesis t;
    static const int32_t none = 4711;
    (void)state;
#if !defined(__x86_64__) && !defined(__i386__)
    skip();
#endif
    machine_open(&m);
    add(&m, "proc/iomem",
        "00100000-bfffffff : System RAM\n  01000000-017fffff : Kernel code\n  01800000-018fffff : Kernel rodata\n"
        "  01900000-019abcff : Kernel data\n  01a00000-01afffff : Kernel bss\n");
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.tids = &none, .tid_count = 1}, &t), 0);
    assert_non_null(strstr(t.text.data, "MMAP 1: ffffffff81000000+9abd00 [kernel.kallsyms]_text\n"));
    synthesis_close(&t);
    /* to others than its owner memory is hidden */
    add(&m, "proc/iomem", "  00000000-00000000 : Kernel code\n  00000000-00000000 : Kernel data\n");
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.tids = &none, .tid_count = 1}, &t), 0);
    assert_non_null(strstr(t.text.data, "MMAP 1: ffffffff81000000+900000 [kernel.kallsyms]_text\n"));
    synthesis_close(&t);
    machine_close(&m);
}

static void test_hidden_kernel(void **state)
{
    struct machine m;
    struct synthesis t;
    (void)state;
    machine_open(&m);
    add(&m, "proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
    add(&m, "proc/modules", "a_b 8192 0 - Live 0x0000000000000000\n");
    synthesis_open(&t);
    assert_int_equal(report_notes(&m, (struct pf_machine_options){.build_ids = true}, &t), 0);
    assert_string_equal(t.text.data, "");
    assert_non_null(strstr(t.note, "kptr_restrict"));
    synthesis_close(&t);
    machine_close(&m);
}

static void test_build_id_notes(void **state)
{
    uint8_t note[128] = {4, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 0, 0, 0};
    struct pf_build_id id;
    (void)state;
    if (PF_NATIVE_BIG_ENDIAN)
        skip();
    size_t bytes = 24 + make_note(note + 24, 7);
    assert_true(pf_build_id_from_notes(note, bytes, &id));
    assert_int_equal(id.size, 20);
    assert_int_equal(id.bytes[19], 26);
    for (size_t cut = 0; cut < bytes; cut++)
        assert_false(pf_build_id_from_notes(note, cut, &id));
    note[0] = 255; /* a name longer than the notes */
    assert_false(pf_build_id_from_notes(note, bytes, &id));
}

/* ---- features ---- */

struct stream {
    int fd;
    struct perfile_writer *writer;
    struct perfile_reader *reader;
    struct perfile_error error;
};

static void stream_open(struct stream *s)
{
    const struct perfile_attr attr = {.type = 1};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    *s = (struct stream){.fd = memfd_create("machine", MFD_CLOEXEC)};
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    assert_true(s->fd >= 0);
    assert_int_equal(perfile_writer_open_fd(s->fd, NULL, &s->writer, &s->error), 0);
    assert_int_equal(perfile_writer_add_event(s->writer, &event, NULL, &s->error), 0);
}

static void stream_read(struct stream *s)
{
    assert_int_equal(perfile_writer_finish(s->writer, &s->error), 0);
    perfile_writer_close(s->writer);
    assert_int_equal(lseek(s->fd, 0, SEEK_SET), 0);
    assert_int_equal(perfile_open_fd(s->fd, NULL, &s->reader, &s->error), 0);
}

static void stream_close(struct stream *s)
{
    perfile_close(s->reader);
    close(s->fd);
}

static void expect_feature(struct stream *s, uint32_t number, const char *json)
{
    struct shown shown;
    shown_open(&shown);
    assert_int_equal(perfile_feature_visit(s->reader, number, &shown.visitor, &s->error), 0);
    assert_string_equal(shown_json(&shown), json);
    shown_close(&shown);
}

static void add_cpus(const struct machine *m)
{
    char path[128];
    add(m, "sys/devices/system/cpu/present", "0-3\n");
    add(m, "sys/devices/system/cpu/online", "0-1,3\n");
    add(m, "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: Maker\ncpu family\t: 6\nmodel\t\t: 85\n"
        "model name\t: Some  fast   CPU\nstepping\t: 4\n");
    for (int cpu = 0; cpu < 4; cpu++) {
        if (cpu == 2)
            continue;
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
        add(m, path, cpu < 2 ? "0-1\n" : "3\n");
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        add(m, path, cpu < 2 ? "0-1\n" : "3\n");
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
        add(m, path, cpu < 2 ? "0\n" : "7\n");
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        add(m, path, cpu < 2 ? "0\n" : "1\n");
    }
}

static void add_pmus(const struct machine *m)
{
    add(m, "sys/bus/event_source/devices/cpu_core/type", "4\n");
    add(m, "sys/bus/event_source/devices/cpu_core/cpus", "0-1\n");
    add(m, "sys/bus/event_source/devices/cpu_core/caps/branches", "32\n");
    add(m, "sys/bus/event_source/devices/cpu_atom/type", "10\n");
    add(m, "sys/bus/event_source/devices/cpu_atom/cpus", "3\n");
    add(m, "sys/bus/event_source/devices/a_pmu/type", "12\n");
    add(m, "sys/bus/event_source/devices/a_pmu/caps/filter", "1\n");
    add(m, "sys/bus/event_source/devices/a_pmu/caps/size", "2\n");
}

static void add_memory(const struct machine *m)
{
    add(m, "sys/devices/system/memory/block_size_bytes", "8000000\n");
    add(m, "proc/meminfo", "MemTotal:       24684092 kB\nMemFree: 1 kB\n");
    add(m, "sys/devices/system/node/online", "0,2\n");
    add(m, "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  500 kB\nNode 0 MemFree:  90 kB\n");
    add(m, "sys/devices/system/node/node0/cpulist", "0-3\n");
    add(m, "sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:  7 kB\nNode 2 MemFree:  6 kB\n");
    add(m, "sys/devices/system/node/node2/cpulist", "\n");
    add_folder(m, "sys/devices/system/node/node0/memory0");
    add_folder(m, "sys/devices/system/node/node0/memory65");
    add_folder(m, "sys/devices/system/node/node0/memory9");
}

static void expect_machine(struct stream *s)
{
    expect_feature(s, PERFILE_FEATURE_NRCPUS, "{\"nr_cpus_available\":4,\"nr_cpus_online\":3}");
    expect_feature(s, PERFILE_FEATURE_CPUDESC, "\"Some fast CPU\"");
    expect_feature(s, PERFILE_FEATURE_CPUID, "\"Maker,6,85,4\"");
    expect_feature(s, PERFILE_FEATURE_TOTAL_MEM, "24684092");
    expect_feature(s, PERFILE_FEATURE_CMDLINE, "[\"perfile\",\"record\",\"\",\"a b\"]");
    expect_feature(s, PERFILE_FEATURE_CPU_TOPOLOGY,
                   "{\"sibling_cores\":[\"0-1\",\"3\"],\"sibling_threads\":[\"0-1\",\"3\"],\"cpus\":[{\"core_id\":0,"
                   "\"socket_id\":0},{\"core_id\":0,\"socket_id\":0},{\"core_id\":4294967295,"
                   "\"socket_id\":4294967295},{\"core_id\":7,\"socket_id\":1}]}");
    expect_feature(s, PERFILE_FEATURE_NUMA_TOPOLOGY,
                   "[{\"nodenr\":0,\"mem_total\":500,\"mem_free\":90,\"cpus\":\"0-3\"},{\"nodenr\":2,\"mem_total\":7,"
                   "\"mem_free\":6,\"cpus\":\"\"}]");
    expect_feature(s, PERFILE_FEATURE_MEM_TOPOLOGY,
                   "{\"version\":1,\"block_size_bytes\":134217728,\"nodes\":[{\"node_id\":0,\"size\":66,"
                   "\"bitmapsize\":66,\"entries\":[\"0000000000000201\",\"0000000000000002\"]}]}");
    expect_feature(
        s, PERFILE_FEATURE_PMU_MAPPINGS,
        "[{\"type\":12,\"name\":\"a_pmu\"},{\"type\":10,\"name\":\"cpu_atom\"},{\"type\":4,\"name\":\"cpu_core\"}]");
    expect_feature(s, PERFILE_FEATURE_GROUP_DESC, "[{\"name\":\"{anon_group}\",\"leader_idx\":1,\"nr_members\":2}]");
    expect_feature(s, PERFILE_FEATURE_HYBRID_TOPOLOGY,
                   "[{\"pmu_name\":\"cpu_atom\",\"cpus\":\"3\"},{\"pmu_name\":\"cpu_core\",\"cpus\":\"0-1\"}]");
    expect_feature(
        s, PERFILE_FEATURE_PMU_CAPS,
        "[{\"caps\":[[\"branches\",\"32\"]],\"pmu_name\":\"cpu_core\"},{\"caps\":[[\"filter\",\"1\"],[\"size\","
        "\"2\"]],\"pmu_name\":\"a_pmu\"}]");
    expect_feature(s, PERFILE_FEATURE_CPU_DOMAIN_INFO,
                   "{\"schedstat_version\":17,\"max_sched_domains\":3,\"cpus\":[{\"cpu\":0,\"domains\":[{\"domain\":0,"
                   "\"dname\":\"SMT\",\"cpumask\":\"3\",\"cpulist\":\"0-1\"},{\"domain\":2,\"dname\":\"PKG\","
                   "\"cpumask\":\"00000001,8000000b\",\"cpulist\":\"0-1,3,31-32\"}]},{\"cpu\":3,\"domains\":[]}]}");
    expect_feature(s, PERFILE_FEATURE_CACHE,
                   "{\"version\":1,\"levels\":[{\"level\":1,\"line_size\":64,\"sets\":0,\"ways\":0,\"type\":\"Data\","
                   "\"size\":\"48K\",\"map\":\"0-1\"}]}");
}

static void test_features(void **state)
{
    struct machine m;
    struct stream s;
    static struct pf_listed_event events[] = {{.leader = 0}, {.leader = 1}, {.leader = 1}};
    const struct pf_event_list chosen = {.items = events, .count = 3};
    (void)state;
    machine_open(&m);
    add_cpus(&m);
    add_pmus(&m);
    add_memory(&m);
    add_bytes(&m, "proc/self/cmdline", "perfile\0record\0\0a b", 20);
    add(&m, "sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    add(&m, "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n");
    add(&m, "sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    add(&m, "sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    add(&m, "sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n");
    add(&m, "proc/schedstat",
        "version 17\ntimestamp 1\ncpu0 0 0 0\ndomain0 SMT 3 0 0\ndomain2 PKG 00000001,8000000b 0\n"
        "cpu3 0 0\n");
    stream_open(&s);
    assert_int_equal(pf_machine_features_of(m.root, s.writer, &chosen, PF_MACHINE_ALL, &s.error), 0);
    stream_read(&s);
    expect_machine(&s);
    stream_close(&s);
    machine_close(&m);
}

static void expect_cpuid(const char *file, const char *text, const char *json)
{
    struct machine m;
    struct stream s;
    const struct pf_event_list chosen = {.count = 0};
    machine_open(&m);
    add(&m, "sys/devices/system/cpu/online", "0\n");
    add(&m, file, text);
    add(&m, "proc/service_levels", "VM: x\nCPU-MF: Counter facility: version=3.6 authorization=002f\n");
    stream_open(&s);
    assert_int_equal(pf_machine_features_of(m.root, s.writer, &chosen, PF_MACHINE_ALL, &s.error), 0);
    stream_read(&s);
    expect_feature(&s, PERFILE_FEATURE_CPUID, json);
    stream_close(&s);
    machine_close(&m);
}

static void test_cpuids_of_other_machines(void **state)
{
    (void)state;
    expect_cpuid("sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0\n",
                 "\"0x00000000410fd0c0\"");
    expect_cpuid("proc/sysinfo",
                 "Manufacturer:         IBM\nType:                 8561\nModel:                703  T01\n",
                 "\"IBM,8561,703,T01,3.6,002f\"");
    expect_cpuid("proc/cpuinfo", "processor : 0\nmvendorid\t: 0x489\nmarchid\t: 0x8\nmimpid\t: 0x1\n",
                 "\"0x489-0x8-0x1\"");
    expect_cpuid("proc/cpuinfo", "cpu\t: POWER9\nrevision\t: 2.3 (pvr 004e 1203)\n", "\"78,4611\"");
}

static void test_btf_names(void **state)
{
    /* an int, a function without arguments that returns it, and its name */
    const uint32_t types[] = {1, 1u << 24, 4, 1u << 24 | 32, 0, 13u << 24, 1, 5, 12u << 24, 2};
    static const char texts[] = "\0int\0main_part";
    const struct btf_header head = {.magic = BTF_MAGIC,
                                    .version = 1,
                                    .hdr_len = sizeof(head),
                                    .type_len = sizeof(types),
                                    .str_off = sizeof(types),
                                    .str_len = sizeof(texts)};
    uint8_t btf[sizeof(head) + sizeof(types) + sizeof(texts)];
    (void)state;
    memcpy(btf, &head, sizeof(head));
    memcpy(btf + sizeof(head), types, sizeof(types));
    memcpy(btf + sizeof(head) + sizeof(types), texts, sizeof(texts));
    assert_string_equal(pf_btf_name(btf, sizeof(btf), false, 3), "main_part");
    assert_null(pf_btf_name(btf, sizeof(btf), false, 0));
    assert_null(pf_btf_name(btf, sizeof(btf), false, 4));
    for (uint32_t cut = 0; cut < sizeof(btf); cut++) {
        uint8_t *copy = made_block(btf, cut); /* so that a byte too far is seen */
        assert_null(pf_btf_name(copy, cut, false, 3));
        free(copy);
    }
}

/* Nothing of it is there. */
static void test_features_of_nothing(void **state)
{
    struct machine m;
    struct stream s;
    const struct pf_event_list chosen = {.count = 0};
    (void)state;
    machine_open(&m);
    stream_open(&s);
    assert_int_equal(pf_machine_features_of(m.root, s.writer, &chosen, PF_MACHINE_ALL, &s.error), 0);
    stream_read(&s);
    const uint8_t *data;
    size_t bytes;
    assert_int_equal(perfile_feature_bytes(s.reader, PERFILE_FEATURE_NRCPUS, &data, &bytes, &s.error),
                     PERFILE_ERROR_ABSENT);
    assert_int_equal(perfile_feature_bytes(s.reader, PERFILE_FEATURE_ARCH, &data, &bytes, &s.error), 0);
    stream_close(&s);
    machine_close(&m);
}

static void test_tracing(void **state)
{
    struct machine m;
    struct stream s;
    static struct pf_listed_event events[] = {{.attr = {.type = 1}, .name = "a:b"},
                                              {.attr = {.type = 2}, .name = "sched:switch"},
                                              {.attr = {.type = 2}, .name = "irq:entry"},
                                              {.attr = {.type = 2}, .name = "sched:wake"},
                                              {.attr = {.type = 2}, .name = "sched:switch"}};
    struct pf_event_list chosen = {.items = events, .count = 1};
    (void)state;
    machine_open(&m);
    stream_open(&s);
    assert_int_equal(pf_machine_tracing_of(m.root, s.writer, &chosen, &s.error), 0); /* it needs none */
    chosen.count = 5;
    assert_int_equal(pf_machine_tracing_of(m.root, s.writer, &chosen, &s.error), PERFILE_ERROR_OPEN);
    assert_non_null(strstr(s.error.message, "mount -t tracefs"));
    add(&m, "proc/mounts", "proc /proc proc rw 0 0\nx /tr\\040ace tracefs rw 0 0\n");
    add(&m, "tr ace/events/header_page", "page");
    add(&m, "tr ace/events/sched/switch/format", "name: switch\nID: 1\n");
    add(&m, "tr ace/events/sched/wake/format", "name: wake\nID: 2\n");
    assert_int_equal(pf_machine_tracing_of(m.root, s.writer, &chosen, &s.error), PERFILE_ERROR_OPEN);
    assert_non_null(strstr(s.error.message, "irq:entry"));
    add(&m, "tr ace/events/irq/entry/format", "name: entry\nID: 3\n");
    add(&m, "tr ace/saved_cmdlines", "1 init\n");
    assert_int_equal(pf_machine_tracing_of(m.root, s.writer, &chosen, &s.error), 0);
    stream_read(&s);
    char expected[1024];
    snprintf(expected, sizeof(expected), "%s\"bigendian\":%s,\"long_size\":%zu,\"page_size\":%ld,%s",
             "{\"version\":\"0.6\",", PF_NATIVE_BIG_ENDIAN ? "true" : "false", sizeof(long), sysconf(_SC_PAGESIZE),
             "\"header_page\":\"page\",\"header_event\":\"\",\"ftrace\":[],\"systems\":[{\"name\":\"sched\","
             "\"formats\":[\"name: switch\\nID: 1\\n\",\"name: wake\\nID: 2\\n\"]},{\"name\":\"irq\","
             "\"formats\":[\"name: entry\\nID: 3\\n\"]}],\"kallsyms\":\"\",\"printk\":\"\","
             "\"saved_cmdline\":\"1 init\\n\"}");
    expect_feature(&s, PERFILE_FEATURE_TRACING_DATA, expected);
    stream_close(&s);
    machine_close(&m);
}

/* ---- what depends on the events ---- */

static int put_to_stream(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
                         struct perfile_error *error)
{
    struct stream *s = context;
    return perfile_writer_record(s->writer, type, misc, record, bytes, NULL, error);
}

static void report_events(struct stream *s)
{
    static struct pf_listed_event events[] = {{.name = "one", .unit = "Joules", .scale = 0.5, .cpus = "0,2-3"},
                                              {.name = "two", .unit = "", .scale = 1, .cpus = "0-1"}};
    const struct pf_event_list chosen = {.items = events, .count = 2};
    static const struct pf_opened_id ids[] = {{11, 0, 0, -1}, {12, 1, -1, 5}};
    static const uint64_t first[] = {11, 12};
    struct perf_event_mmap_page page = {.time_mult = 3, .time_shift = 4, .time_zero = 5};
    const struct pf_synthesis synthesis = {put_to_stream, s};
    assert_int_equal(pf_synthesize_id_index(ids, 2, &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_event_updates(&chosen, first, true, &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_thread_map(NULL, NULL, 0, true, &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_cpu_map("0-3", &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_cpu_map("1,33", &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_cpu_map(NULL, &synthesis, &s->error), 0);
    assert_int_equal(pf_synthesize_cpu_map("1,x", &synthesis, &s->error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(pf_synthesize_cpu_map("", &synthesis, &s->error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(pf_synthesize_time_conv(&page, &synthesis, &s->error), 0); /* nothing */
    page.cap_user_time_zero = 1;
    assert_int_equal(pf_synthesize_time_conv(&page, &synthesis, &s->error), 0);
}

static void test_records_of_events(void **state)
{
    static const char *const expected[] = {
        ("{2,[{\"id\":11,\"idx\":0,\"cpu\":0,\"tid\":18446744073709551615},{\"id\":12,\"idx\":1,"
         "\"cpu\":18446744073709551615,\"tid\":5}]}"),
        "{0,11,\"Joules\"}",
        "{1,11,0.5}",
        "{3,11,{\"map_type\":1,\"long_size\":4,\"mask\":[13],\"cpus\":[0,2,3]}}",
        "{2,11,\"one\"}",
        "{3,12,{\"map_type\":2,\"any_cpu\":0,\"start_cpu\":0,\"end_cpu\":1}}",
        "{2,12,\"two\"}",
        "{1,[{\"pid\":18446744073709551615,\"comm\":\"\"}]}",
        "{2,0,0,3}",
        "{1,4,[2,2],[1,33]}",
        "{0,[-1]}",
        "{4,3,5,0,0,1,0}",
    };
    struct stream s;
    const struct perfile_record *record;
    size_t count = 0;
    (void)state;
    stream_open(&s);
    report_events(&s);
    stream_read(&s);
    while (perfile_reader_next(s.reader, &record, &s.error) > 0) {
        struct shown shown;
        if (record->type == PERFILE_RECORD_HEADER_ATTR)
            continue;
        shown_open(&shown);
        pf_put_char(&shown.text, '{');
        assert_int_equal(perfile_record_visit(s.reader, record, &shown.visitor, &s.error), 0);
        pf_put_string(&shown.text, "}");
        pf_put_char(&shown.text, 0);
        assert_true(count < PF_COUNT(expected));
        assert_string_equal(shown.text.data, expected[count++]);
        shown_close(&shown);
    }
    assert_int_equal(count, PF_COUNT(expected));
    stream_close(&s);
}

static void test_many_ids(void **state)
{
    enum { IDS = 5000 };
    struct pf_opened_id *ids = calloc(IDS, sizeof(*ids));
    struct synthesis t;
    struct perfile_error error = {0};
    (void)state;
    assert_non_null(ids);
    synthesis_open(&t);
    const struct pf_synthesis synthesis = {put, &t};
    assert_int_equal(pf_synthesize_id_index(ids, IDS, &synthesis, &error), 0);
    assert_int_equal(t.count, 5);
    synthesis_close(&t);
    free(ids);
}

/* What a machine with this /proc/schedstat (NULL: without) writes, up to its first error. */
static int write_schedstat(struct stream *s, const char *text)
{
    const struct pf_synthesis synthesis = {put_to_stream, s};
    struct machine m;
    machine_open(&m);
    if (text)
        add(&m, "proc/schedstat", text);
    stream_open(s);
    const int result = pf_synthesize_schedstat(m.root, &synthesis, &s->error);
    machine_close(&m);
    return result;
}

static void test_schedstat(void **state)
{
    const struct perfile_record *record;
    struct perfile_schedstat_cpu cpu;
    struct perfile_schedstat_domain domain;
    struct stream s;
    (void)state;
    assert_int_equal(write_schedstat(&s, "version 16\ntimestamp 4294909601\ncpu3 1 2 3 4 5 6 7000000000 8 9\n"
                                         "domain1 00000008 10 4294967296 12 13\n"),
                     0);
    stream_read(&s);
    assert_int_equal(perfile_reader_next(s.reader, &record, &s.error), 1);
    assert_int_equal(perfile_record_decode(s.reader, record, &cpu, sizeof(cpu), &s.error), 0);
    assert_true(record->type == PERFILE_RECORD_SCHEDSTAT_CPU && cpu.timestamp == 4294909601 && cpu.version == 16);
    assert_true(cpu.cpu == 3 && cpu.yld_count == 1 && cpu.rq_cpu_time == 7000000000 && cpu.pcount == 9);
    assert_int_equal(perfile_reader_next(s.reader, &record, &s.error), 1);
    assert_int_equal(perfile_record_decode(s.reader, record, &domain, sizeof(domain), &s.error), 0);
    assert_true(record->type == PERFILE_RECORD_SCHEDSTAT_DOMAIN && domain.cpu == 3 && domain.domain == 1);
    assert_int_equal(domain.counters.count, 4);
    assert_memory_equal(domain.counters.data, ((const uint32_t[]){10, 0, 12, 13}), 16);
    stream_close(&s);
    assert_int_equal(write_schedstat(&s, NULL), PERFILE_ERROR_OPEN);
    perfile_writer_close(s.writer);
    stream_close(&s);
    assert_int_equal(write_schedstat(&s, "version 17\ntimestamp 1\ncpu0 1 2\n"), PERFILE_ERROR_FORMAT);
    perfile_writer_close(s.writer);
    stream_close(&s);
}

static void test_clock(void **state)
{
    struct stream s;
    const uint8_t *data;
    size_t bytes;
    (void)state;
    stream_open(&s);
    assert_int_equal(pf_machine_clock(s.writer, 1, &s.error), 0);
    assert_int_equal(pf_machine_sample_time(s.writer, 3, 9, &s.error), 0);
    stream_read(&s);
    assert_int_equal(perfile_feature_bytes(s.reader, PERFILE_FEATURE_CLOCK_DATA, &data, &bytes, &s.error), 0);
    assert_int_equal(bytes, 24);
    assert_int_equal(pf_load32(data + 4, false), 1);
    assert_true(pf_load64(data + 8, false) > pf_load64(data + 16, false));
    expect_feature(&s, PERFILE_FEATURE_SAMPLE_TIME, "{\"first\":3,\"last\":9}");
    stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_names),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_maps_of_an_ended_first_thread),
        cmocka_unit_test(test_build_ids),
        cmocka_unit_test(test_mapped_files_get_build_ids),
        cmocka_unit_test(test_huge_pages_and_control_groups),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_kernel_and_modules),
        cmocka_unit_test(test_kernel_in_memory),
        cmocka_unit_test(test_hidden_kernel),
        cmocka_unit_test(test_build_id_notes),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_cpuids_of_other_machines),
        cmocka_unit_test(test_btf_names),
        cmocka_unit_test(test_features_of_nothing),
        cmocka_unit_test(test_tracing),
        cmocka_unit_test(test_records_of_events),
        cmocka_unit_test(test_schedstat),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
