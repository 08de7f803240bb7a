/* SPDX-License-Identifier: MIT */
/* The header features that recorders write, and those of them that are a line or two. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"
#include "record/machine_body.h"
#include "schema/since.h"

enum { TEXT_STEP = 64, CPUS_MAX = 1 << 16, COMMAND_BYTES_MAX = 1 << 20 };

void pf_body_u32(struct pf_body *body, uint32_t value)
{
    pf_put(body->text, &value, sizeof(value));
}

void pf_body_u64(struct pf_body *body, uint64_t value)
{
    pf_put(body->text, &value, sizeof(value));
}

void pf_body_text(struct pf_body *body, const char *text)
{
    static const char zeros[TEXT_STEP];
    size_t length = strlen(text), capacity = (length + TEXT_STEP) / TEXT_STEP * TEXT_STEP;
    pf_body_u32(body, (uint32_t)capacity);
    pf_put(body->text, text, length);
    pf_put(body->text, zeros, capacity - length);
}

void pf_body_set_u32(struct pf_body *body, size_t at, uint32_t value)
{
    if (!body->text->failed)
        memcpy(body->text->data + at, &value, sizeof(value));
}

/* ---- the system ---- */

/* One of the names of struct utsname, by its offset. */
static bool put_name(struct pf_body *body, size_t offset)
{
    struct utsname name;
    if (uname(&name) < 0)
        return false;
    pf_body_text(body, (const char *)&name + offset);
    return true;
}

static bool host_name(struct pf_body *body)
{
    return put_name(body, offsetof(struct utsname, nodename));
}

static bool kernel_release(struct pf_body *body)
{
    return put_name(body, offsetof(struct utsname, release));
}

static bool version(struct pf_body *body)
{
    pf_body_text(body, "perfile " PF_VERSION_TEXT);
    return true;
}

static bool architecture(struct pf_body *body)
{
    return put_name(body, offsetof(struct utsname, machine));
}

static unsigned count_cpus(const char *list)
{
    unsigned count = 0, first, last;
    while (pf_next_range(&list, &first, &last))
        count += last - first + 1;
    return count;
}

static bool cpu_counts(struct pf_body *body)
{
    if (!body->cpus)
        return false;
    unsigned online = count_cpus(body->online);
    pf_body_u32(body, body->cpus);
    pf_body_u32(body, online && online <= body->cpus ? online : body->cpus);
    return true;
}

/* As perf: the path of the program, then its arguments. */
static bool command_line(struct pf_body *body)
{
    struct pf_text line;
    char program[PF_PATH_CAPACITY];
    uint32_t count = 0;
    size_t start = body->text->used;
    if (pf_text_open(&line, body->allocator, NULL, NULL) < 0)
        return false;
    bool found = pf_read_file(body->root, "proc/self/cmdline", &line, COMMAND_BYTES_MAX) && line.used;
    ssize_t length = readlinkat(body->root, "proc/self/exe", program, sizeof(program) - 1);
    pf_put_char(&line, 0);
    found = found && !line.failed;
    pf_body_u32(body, 0);
    for (size_t at = 0, next; found && at < line.used - 1; at = next) {
        next = at + strlen(line.data + at) + 1;
        program[length > 0 ? length : 0] = 0;
        pf_body_text(body, count++ == 0 && length > 0 ? program : line.data + at);
    }
    pf_body_set_u32(body, start, count);
    pf_text_close(&line);
    return found;
}

/* That of this program, which is the machine's unless it runs under an emulator. */
static bool elf_machine(struct pf_body *body)
{
    union {
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
        char bytes[sizeof(Elf64_Ehdr) + 1];
    } head;
    if (pf_read_at(body->root, "proc/self/exe", &head, sizeof(head.bytes)) < (ssize_t)sizeof(head.narrow) ||
        memcmp(head.bytes, ELFMAG, SELFMAG) != 0)
        return false;
    pf_body_u32(body, head.narrow.e_machine);
    pf_body_u32(body, head.bytes[EI_CLASS] == ELFCLASS64 ? head.wide.e_flags : head.narrow.e_flags);
    return true;
}

/* ---- the events ---- */

static bool branch_stack(struct pf_body *body)
{
    for (size_t i = 0; i < body->events->count; i++)
        if (body->events->items[i].attr.sample_type & PERFILE_SAMPLE_BRANCH_STACK)
            return true;
    return false;
}

static uint32_t count_members(const struct pf_event_list *events, size_t leader)
{
    uint32_t count = 0;
    for (size_t i = 0; i < events->count; i++)
        count += events->items[i].leader == leader;
    return count;
}

static bool group_descriptions(struct pf_body *body)
{
    size_t start = body->text->used;
    uint32_t groups = 0;
    pf_body_u32(body, 0);
    for (size_t i = 0; i < body->events->count; i++) {
        uint32_t members = count_members(body->events, i);
        if (members < 2)
            continue;
        pf_body_text(body, "{anon_group}");
        pf_body_u32(body, (uint32_t)i);
        pf_body_u32(body, members);
        groups++;
    }
    pf_body_set_u32(body, start, groups);
    return groups > 0;
}

/* ---- all of them ---- */

static const struct {
    uint32_t number;
    bool (*make)(struct pf_body *body);
} sections[] = {
    {PERFILE_FEATURE_HOSTNAME, host_name},
    {PERFILE_FEATURE_OSRELEASE, kernel_release},
    {PERFILE_FEATURE_VERSION, version},
    {PERFILE_FEATURE_ARCH, architecture},
    {PERFILE_FEATURE_NRCPUS, cpu_counts},
    {PERFILE_FEATURE_CPUDESC, pf_body_cpu_description},
    {PERFILE_FEATURE_CPUID, pf_body_cpuid},
    {PERFILE_FEATURE_TOTAL_MEM, pf_body_total_memory},
    {PERFILE_FEATURE_CMDLINE, command_line},
    {PERFILE_FEATURE_CPU_TOPOLOGY, pf_body_cpu_topology},
    {PERFILE_FEATURE_NUMA_TOPOLOGY, pf_body_numa_topology},
    {PERFILE_FEATURE_BRANCH_STACK, branch_stack},
    {PERFILE_FEATURE_PMU_MAPPINGS, pf_body_pmu_mappings},
    {PERFILE_FEATURE_GROUP_DESC, group_descriptions},
    {PERFILE_FEATURE_CACHE, pf_body_cache},
    {PERFILE_FEATURE_MEM_TOPOLOGY, pf_body_memory_topology},
    {PERFILE_FEATURE_BPF_PROG_INFO, pf_body_bpf_programs},
    {PERFILE_FEATURE_BPF_BTF, pf_body_bpf_types},
    {PERFILE_FEATURE_CPU_PMU_CAPS, pf_body_cpu_pmu_caps},
    {PERFILE_FEATURE_HYBRID_TOPOLOGY, pf_body_hybrid_topology},
    {PERFILE_FEATURE_PMU_CAPS, pf_body_pmu_caps},
    {PERFILE_FEATURE_CPU_DOMAIN_INFO, pf_body_cpu_domains},
    {PERFILE_FEATURE_E_MACHINE, elf_machine},
    {PERFILE_FEATURE_CLN_SIZE, pf_body_cache_line},
};

static void find_cpus(struct pf_body *body)
{
    char list[sizeof(body->online)];
    const char *at = list;
    unsigned first, last;
    if (!pf_read_line(body->root, "sys/devices/system/cpu/online", body->online, sizeof(body->online)))
        body->online[0] = 0;
    if (!pf_read_line(body->root, "sys/devices/system/cpu/present", list, sizeof(list)))
        memcpy(list, body->online, sizeof(list));
    while (pf_next_range(&at, &first, &last))
        body->cpus = last < CPUS_MAX ? last + 1 : CPUS_MAX;
}

static bool is_wanted(uint32_t number, uint32_t version, unsigned ages)
{
    const char *since = pf_feature_since(number);
    const unsigned age = pf_since_knows(PF_VERSION(6, 1), since) ? PF_MACHINE_COMMON : PF_MACHINE_YOUNG;
    return ages & age && (!version || pf_since_knows(version, since));
}

static int put_sections(struct pf_body *body, unsigned ages, struct perfile_writer *writer, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < PF_COUNT(sections) && result == 0; i++) {
        body->text->used = 0;
        if (!is_wanted(sections[i].number, body->events->version, ages))
            continue;
        bool made = sections[i].make(body);
        if (body->text->failed)
            return pf_fail_memory(error, "feature");
        if (made)
            result = perfile_writer_feature(writer, sections[i].number, body->text->data, body->text->used, error);
    }
    return result;
}

int pf_machine_features_of(const char *root, struct perfile_writer *writer, const struct pf_event_list *events,
                           unsigned ages, struct perfile_error *error)
{
    struct pf_text text;
    struct pf_body body = {.allocator = pf_allocator_or_default(events->allocator), .events = events, .text = &text};
    body.root = pf_root_open(root);
    if (body.root < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, root ? root : "/", "cannot be opened: %s",
                       pf_error_text(errno));
    int result = pf_text_open(&text, body.allocator, NULL, NULL);
    if (result < 0) {
        close(body.root);
        return pf_fail_memory(error, "feature");
    }
    find_cpus(&body);
    result = put_sections(&body, ages, writer, error);
    pf_text_close(&text);
    close(body.root);
    return result;
}

int pf_machine_features(struct perfile_writer *writer, const struct pf_event_list *events, unsigned ages,
                        struct perfile_error *error)
{
    return pf_machine_features_of(NULL, writer, events, ages, error);
}
