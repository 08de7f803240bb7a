/* SPDX-License-Identifier: MIT */
#include "record/made_code.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/counted.h"
#include "base/memory_name.h"
#include "record/machine_files.h"

static bool ends_in(const char *name, const char *end)
{
    const size_t bytes = strlen(name), wanted = strlen(end);
    return bytes >= wanted && strcmp(name + bytes - wanted, end) == 0;
}

static bool is_dump(const char *name)
{
    const char *slash = strrchr(name, '/');
    return pf_starts_with(slash ? slash + 1 : name, "jit-") && ends_in(name, ".dump");
}

/* What grows piece by piece is one region. */
static bool grows(struct pf_made_code *code, uint32_t pid, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < code->count; i++) {
        struct pf_made_code_region *region = &code->regions[i];
        if (region->pid != pid || start > region->end || end < region->start)
            continue;
        region->start = pf_min(region->start, start);
        region->end = pf_max(region->end, end);
        return true;
    }
    return false;
}

/* The process is most likely there still: records are read within moments. */
static void find_comm(struct pf_made_code_region *region)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", region->pid);
    if (!pf_read_line(AT_FDCWD, path, region->comm, sizeof(region->comm)))
        region->comm[0] = 0;
}

/* JITs map a part of the file that marks it, once. */
static void add_dump(struct pf_made_code *code, uint32_t pid, const char *name)
{
    if (code->dump_count == PF_MADE_CODE_REGIONS || strlen(name) >= PF_MADE_CODE_PATH)
        return;
    struct pf_made_code_dump *dump = &code->dumps[code->dump_count++];
    dump->pid = pid;
    memcpy(dump->name, name, strlen(name) + 1);
}

void pf_made_code_map(struct pf_made_code *code, uint32_t pid, uint64_t start, uint64_t bytes, const char *name)
{
    if (is_dump(name))
        add_dump(code, pid, name);
    if (!pf_is_memory_name(name) || start + bytes < start || grows(code, pid, start, start + bytes) ||
        code->count == PF_MADE_CODE_REGIONS)
        return;
    struct pf_made_code_region *region = &code->regions[code->count++];
    *region = (struct pf_made_code_region){.start = start, .end = start + bytes, .pid = pid};
    find_comm(region);
}

/* ---- advice ---- */

static bool has_map_in(const char *folder, const char *name)
{
    DIR *files = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; files && !found && (entry = readdir(files)) != NULL;)
        found = name ? strcmp(entry->d_name, name) == 0
                     : pf_starts_with(entry->d_name, "perf-") && ends_in(entry->d_name, ".map");
    if (files)
        closedir(files);
    return found;
}

static bool is_mapped(const struct pf_made_code *code, uint32_t pid)
{
    for (size_t i = 0; i < code->mapped_count; i++)
        if (code->mapped[i] == pid)
            return true;
    return false;
}

static bool has_dump(const struct pf_made_code *code, uint32_t pid)
{
    for (size_t i = 0; i < code->dump_count; i++)
        if (code->dumps[i].pid == pid)
            return true;
    return false;
}

void pf_made_code_note_map(struct pf_made_code *code, uint32_t pid)
{
    if (!is_mapped(code, pid) && code->mapped_count < PF_COUNT(code->mapped))
        code->mapped[code->mapped_count++] = pid;
}

/* In a container the process has another number, and its own /tmp while it runs. */
static bool has_names(const struct pf_made_code *code, uint32_t pid)
{
    char name[32], folder[48];
    struct stat here, there;
    if (has_dump(code, pid) || is_mapped(code, pid))
        return true;
    snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", pid);
    snprintf(folder, sizeof(folder), "/proc/%" PRIu32 "/root/tmp", pid);
    if (has_map_in("/tmp", name))
        return true;
    return stat("/tmp", &here) == 0 && stat(folder, &there) == 0 &&
           (here.st_dev != there.st_dev || here.st_ino != there.st_ino) && has_map_in(folder, NULL);
}

/* By the beginning of the process's name. */
static const struct {
    const char *comm, *advice;
} runtimes[] = {
    {"java", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer"},
    {"node", "node --perf-basic-prof"},
    {"MainThread", "node --perf-basic-prof"},
    {"python", "python -X perf (3.12 or later)"},
    {"dotnet", "DOTNET_PerfMapEnabled=1 dotnet"},
    {"php", "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit_debug=16"},
    {"ruby", "ruby --yjit --yjit-perf (3.3 or later)"},
    {"wasmtime", "wasmtime --profile perfmap"},
};

static const char *advice_for(const char *comm)
{
    for (size_t i = 0; i < PF_COUNT(runtimes); i++)
        if (pf_starts_with(comm, runtimes[i].comm))
            return runtimes[i].advice;
    return NULL;
}

static uint64_t samples_of(const struct pf_made_code *code, uint32_t pid)
{
    uint64_t samples = 0;
    for (size_t i = 0; i < code->count; i++)
        samples += code->regions[i].pid == pid ? code->regions[i].samples : 0;
    return samples;
}

bool pf_made_code_is_first(const struct pf_made_code *code, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (code->regions[i].pid == code->regions[index].pid)
            return false;
    return true;
}

void pf_made_code_notify(const struct pf_made_code *code, uint64_t samples, pf_on_note *note, void *context)
{
    enum { PARTS = 100 };
    for (size_t i = 0; i < code->count; i++) {
        const struct pf_made_code_region *region = &code->regions[i];
        const uint64_t own = samples_of(code, region->pid);
        const char *advice = advice_for(region->comm);
        char text[384], count[PF_COUNTED_BYTES];
        if (own * PARTS <= samples || !pf_made_code_is_first(code, i) || has_names(code, region->pid))
            continue;
        snprintf(text, sizeof(text),
                 "%s (process %" PRIu32 "): %s in JIT-compiled code without symbols "
                 "(no perf map or jitdump file)%s%s",
                 region->comm[0] ? region->comm : "?", region->pid, pf_count_of(own, "samples", count),
                 advice ? ": start it as " : "", advice ? advice : "");
        note(context, text);
    }
}
