/* SPDX-License-Identifier: MIT */
/* What /proc/cpuinfo and /sys/devices/system/cpu say: names, topology, caches, scheduling domains. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/locale.h"
#include "record/machine_body.h"

enum { LINE_CAPACITY = 4096, INFO_BYTES = 65536, DOMAINS_BYTES_MAX = 64 << 20 };

/* ---- lines of "key : value" ---- */

/* The value of the first line with this key, without spaces at its ends. */
static bool find_value(const char *info, const char *key, char *value, size_t capacity)
{
    size_t length = strlen(key);
    for (const char *line = info; *line; line += *line == '\n') {
        const char *end = line + strcspn(line, "\n"), *at = line + length;
        if (strncmp(line, key, length) == 0) {
            at += strspn(at, " \t");
            if (*at == ':') {
                at += 1 + strspn(at + 1, " \t");
                while (end > at && pf_is_space(end[-1]))
                    end--;
                return end > at && pf_path(value, capacity, "%.*s", (int)(end - at), at);
            }
        }
        line = end;
    }
    return false;
}

/* The CPUs are much alike: the beginning is enough. */
static bool read_info(const struct pf_body *body, const char *path, char *info)
{
    return pf_read_at(body->root, path, info, INFO_BYTES) > 0;
}

static char *new_info(const struct pf_body *body)
{
    return pf_resize(body->allocator, NULL, 0, INFO_BYTES);
}

/* ---- names of the CPU ---- */

/* Runs of spaces become one. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || from[1] != ' ')
            *to++ = *from;
    *to = 0;
}

bool pf_body_cpu_description(struct pf_body *body)
{
    /* perf asks for one of them on each architecture */
    static const char *const keys[] = {"model name", "Model Name", "cpu model", "uarch",
                                       "Processor",  "cpu type",   "cpu",       "vendor_id"};
    char value[LINE_CAPACITY], *info = new_info(body);
    bool found = false;
    if (info && read_info(body, "proc/cpuinfo", info))
        for (size_t i = 0; i < PF_COUNT(keys) && !found; i++)
            found = find_value(info, keys[i], value, sizeof(value));
    pf_free(body->allocator, info, INFO_BYTES);
    if (!found)
        return false;
    squeeze(value);
    pf_body_text(body, value);
    return true;
}

/* "AuthenticAMD,26,2,1" */
static bool x86_id(const char *info, char *id, size_t capacity)
{
    char vendor[64], family[16], model[16], stepping[16];
    return find_value(info, "vendor_id", vendor, sizeof(vendor)) &&
           find_value(info, "cpu family", family, sizeof(family)) && find_value(info, "model", model, sizeof(model)) &&
           find_value(info, "stepping", stepping, sizeof(stepping)) &&
           pf_path(id, capacity, "%s,%s,%s,%s", vendor, family, model, stepping);
}

/* Vendor, architecture and implementation. */
static bool riscv_id(const char *info, char *id, size_t capacity)
{
    char vendor[32], architecture[32], implementation[32];
    return find_value(info, "mvendorid", vendor, sizeof(vendor)) &&
           find_value(info, "marchid", architecture, sizeof(architecture)) &&
           find_value(info, "mimpid", implementation, sizeof(implementation)) &&
           pf_path(id, capacity, "%s-%s-%s", vendor, architecture, implementation);
}

/* Version and revision, the halves of the PVR: "revision : 2.3 (pvr 004e 1203)". */
static bool powerpc_id(const char *info, char *id, size_t capacity)
{
    char line[128];
    unsigned version, revision;
    if (!find_value(info, "revision", line, sizeof(line)))
        return false;
    const char *pvr = strstr(line, "(pvr ");
    return pvr && sscanf(pvr, "(pvr %x %x)", &version, &revision) == 2 &&
           pf_path(id, capacity, "%u,%u", version, revision);
}

/* The MIDR of the first CPU. */
static bool arm64_id(const struct pf_body *body, char *id, size_t capacity)
{
    char path[PF_PATH_CAPACITY];
    for (unsigned cpu = 0; cpu < body->cpus; cpu++)
        if (pf_path(path, sizeof(path), "sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu) &&
            pf_read_line(body->root, path, id, capacity))
            return true;
    return false;
}

/* Manufacturer, type, model, and what is counted: "IBM,8561,703,T01,3.6,002f". */
static bool s390_id(const struct pf_body *body, char *info, char *id, size_t capacity)
{
    char maker[64], type[32], model[64], counting[48] = "";
    if (!read_info(body, "proc/sysinfo", info) || !find_value(info, "Manufacturer", maker, sizeof(maker)) ||
        !find_value(info, "Type", type, sizeof(type)) || !find_value(info, "Model", model, sizeof(model)))
        return false;
    squeeze(model);
    for (char *at = model; (at = strchr(at, ' '));)
        *at = ',';
    if (read_info(body, "proc/service_levels", info)) {
        char version[16], authorization[16];
        const char *line = strstr(info, "CPU-MF: Counter facility:");
        if (line &&
            sscanf(line, "CPU-MF: Counter facility: version=%9s authorization=%9s", version, authorization) == 2)
            snprintf(counting, sizeof(counting), ",%s,%s", version, authorization);
    }
    return pf_path(id, capacity, "%s,%s,%s%s", maker, type, model, counting);
}

bool pf_body_cpuid(struct pf_body *body)
{
    char id[256], *info = new_info(body);
    bool found = info && read_info(body, "proc/cpuinfo", info) &&
                 (x86_id(info, id, sizeof(id)) || riscv_id(info, id, sizeof(id)) || powerpc_id(info, id, sizeof(id)));
    found = found || arm64_id(body, id, sizeof(id)) || (info && s390_id(body, info, id, sizeof(id)));
    pf_free(body->allocator, info, INFO_BYTES);
    if (found)
        pf_body_text(body, id);
    return found;
}

/* ---- topology ---- */

static bool read_topology(const struct pf_body *body, unsigned cpu, const char *file, char *text)
{
    char path[PF_PATH_CAPACITY];
    return pf_path(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology/%s", cpu, file) &&
           pf_read_line(body->root, path, text, LINE_CAPACITY);
}

/* Writes the different lists of CPUs that share something, in the order of the CPUs. */
static bool put_siblings(struct pf_body *body, const char *file, const char *older)
{
    char list[LINE_CAPACITY];
    const char *online = body->online;
    size_t start = body->text->used;
    uint32_t count = 0;
    unsigned first, last;
    pf_body_u32(body, 0);
    for (; pf_next_range(&online, &first, &last);)
        for (unsigned cpu = first; cpu <= last && cpu < body->cpus; cpu++) {
            if (!read_topology(body, cpu, file, list) && !(older && read_topology(body, cpu, older, list)))
                return false;
            /* it was written with its first CPU */
            if ((unsigned)strtoul(list, NULL, 10) < cpu && count)
                continue;
            pf_body_text(body, list);
            count++;
        }
    pf_body_set_u32(body, start, count);
    return count > 0;
}

static uint32_t read_topology_id(const struct pf_body *body, unsigned cpu, const char *file)
{
    char text[LINE_CAPACITY];
    return read_topology(body, cpu, file, text) ? (uint32_t)strtol(text, NULL, 10) : UINT32_MAX;
}

/* Dies are written on the machines on which perf writes them. */
static bool has_dies(const struct pf_body *body)
{
    struct utsname name;
    char text[LINE_CAPACITY];
    return uname(&name) == 0 &&
           (strcmp(name.machine, "x86_64") == 0 || name.machine[0] == 'i' || strcmp(name.machine, "s390x") == 0) &&
           read_topology(body, 0, "die_cpus_list", text);
}

bool pf_body_cpu_topology(struct pf_body *body)
{
    if (!put_siblings(body, "package_cpus_list", "core_siblings_list") ||
        !put_siblings(body, "core_cpus_list", "thread_siblings_list"))
        return false;
    for (unsigned cpu = 0; cpu < body->cpus; cpu++) {
        pf_body_u32(body, read_topology_id(body, cpu, "core_id"));
        pf_body_u32(body, read_topology_id(body, cpu, "physical_package_id"));
    }
    size_t complete = body->text->used;
    if (!has_dies(body))
        return true;
    if (!put_siblings(body, "die_cpus_list", NULL)) {
        body->text->used = complete;
        return true;
    }
    for (unsigned cpu = 0; cpu < body->cpus; cpu++)
        pf_body_u32(body, read_topology_id(body, cpu, "die_id"));
    return true;
}

/* ---- caches ---- */

struct cache {
    uint64_t numbers[4]; /* level, bytes of a line, sets, ways */
    char type[32];
    char size[32];
    char map[LINE_CAPACITY];
};

static bool read_cache(const struct pf_body *body, unsigned cpu, unsigned index, struct cache *cache)
{
    static const char *const numbers[] = {"level", "coherency_line_size", "number_of_sets", "ways_of_associativity"};
    char folder[PF_PATH_CAPACITY], path[PF_PATH_CAPACITY + 64];
    memset(cache, 0, sizeof(*cache));
    snprintf(folder, sizeof(folder), "sys/devices/system/cpu/cpu%u/cache/index%u", cpu, index);
    for (size_t i = 0; i < PF_COUNT(numbers); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, numbers[i]);
        if (!pf_read_number(body->root, path, 10, &cache->numbers[i]) && i == 0)
            return false;
    }
    snprintf(path, sizeof(path), "%s/type", folder);
    bool complete = pf_read_line(body->root, path, cache->type, sizeof(cache->type));
    snprintf(path, sizeof(path), "%s/size", folder);
    complete &= pf_read_line(body->root, path, cache->size, sizeof(cache->size));
    snprintf(path, sizeof(path), "%s/shared_cpu_list", folder);
    return pf_read_line(body->root, path, cache->map, sizeof(cache->map)) && complete;
}

static void put_cache(struct pf_body *body, const struct cache *cache)
{
    for (size_t i = 0; i < PF_COUNT(cache->numbers); i++)
        pf_body_u32(body, (uint32_t)cache->numbers[i]);
    pf_body_text(body, cache->type);
    pf_body_text(body, cache->size);
    pf_body_text(body, cache->map);
}

/* perf: by level, then by CPU. A cache is written with the first CPU that shares it. */
bool pf_body_cache(struct pf_body *body)
{
    enum { LEVELS = 8, INDICES = 10 };
    struct cache cache;
    uint32_t count = 0;
    pf_body_u32(body, 1); /* version */
    size_t start = body->text->used;
    pf_body_u32(body, 0);
    for (unsigned level = 1; level <= LEVELS; level++) {
        uint32_t before = count;
        for (unsigned cpu = 0; cpu < body->cpus; cpu++)
            for (unsigned index = 0; index < INDICES && read_cache(body, cpu, index, &cache); index++)
                if (cache.numbers[0] == level && strtoul(cache.map, NULL, 10) >= cpu) {
                    put_cache(body, &cache);
                    count++;
                }
        if (count == before)
            break;
    }
    pf_body_set_u32(body, start, count);
    return count > 0;
}

/* 0: it does not know. */
static uint64_t cache_line_of_libc(void)
{
#ifdef _SC_LEVEL1_DCACHE_LINESIZE /* not of musl */
    const long known = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    return known > 0 ? (uint64_t)known : 0;
#else
    return 0;
#endif
}

bool pf_body_cache_line(struct pf_body *body)
{
    uint64_t bytes;
    if (!pf_read_number(body->root, "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", 10, &bytes)) {
        bytes = cache_line_of_libc();
    }
    if (bytes == 0 || bytes > UINT32_MAX)
        return false;
    pf_body_u32(body, (uint32_t)bytes);
    return true;
}

/* ---- scheduling domains ---- */

/* "00000000,0000000f" as "0-3". The last digit is CPU 0. */
static bool mask_to_list(const char *mask, char *list, size_t capacity)
{
    size_t digits = 0, used = 0, length = strlen(mask);
    long run = -1;
    unsigned cpu = 0;
    for (size_t i = 0; i < length; i++)
        digits += mask[i] != ',';
    list[0] = 0;
    for (size_t i = length; digits && i-- > 0;) {
        if (mask[i] == ',')
            continue;
        if (!isxdigit((unsigned char)mask[i]))
            return false;
        unsigned digit = (unsigned)strtoul((char[]){mask[i], 0}, NULL, 16);
        digits--;
        for (unsigned bit = 0; bit < 4 + (digits == 0); bit++, cpu++) {
            bool set = bit < 4 && digit >> bit & 1;
            if (set && run < 0)
                run = cpu;
            if (set || run < 0)
                continue;
            int put = snprintf(list + used, capacity - used, cpu - run > 1 ? "%s%ld-%ld" : "%s%ld", used ? "," : "",
                               run, (long)cpu - 1);
            if (put < 0 || (size_t)put >= capacity - used)
                return false;
            used += (size_t)put;
            run = -1;
        }
    }
    return used > 0;
}

struct domains {
    struct pf_body *body;
    unsigned version;
    uint32_t highest;  /* number of a domain, plus one */
    size_t counted_at; /* where the number of domains of the current CPU stands */
    uint32_t count;
};

/* "domain0 SMT 00000003 ..." since version 17, "domain0 00000003 ..." before. */
static bool put_domain(struct domains *domains, char *line)
{
    char *rest, list[LINE_CAPACITY];
    const char *word = strtok_r(line, " \t", &rest);
    uint32_t number = (uint32_t)strtoul(word + strlen("domain"), NULL, 10);
    const char *name = domains->version >= 17 ? strtok_r(NULL, " \t", &rest) : NULL;
    const char *mask = strtok_r(NULL, " \t", &rest);
    if (!mask || !mask_to_list(mask, list, sizeof(list)))
        return false;
    pf_body_u32(domains->body, number);
    if (name)
        pf_body_text(domains->body, name);
    pf_body_text(domains->body, mask);
    pf_body_text(domains->body, list);
    if (number >= domains->highest)
        domains->highest = number + 1;
    pf_body_set_u32(domains->body, domains->counted_at, ++domains->count);
    return true;
}

static void put_cpu(struct domains *domains, const char *line)
{
    pf_body_u32(domains->body, (uint32_t)strtoul(line + strlen("cpu"), NULL, 10));
    domains->counted_at = domains->body->text->used;
    domains->count = 0;
    pf_body_u32(domains->body, 0);
}

static bool put_domains(struct domains *domains, char *text)
{
    char *rest = NULL;
    size_t start = domains->body->text->used;
    pf_body_u32(domains->body, 0);
    pf_body_u32(domains->body, 0);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (pf_starts_with(line, "version "))
            domains->version = (unsigned)strtoul(line + strlen("version "), NULL, 10);
        else if (pf_starts_with(line, "cpu"))
            put_cpu(domains, line);
        else if (pf_starts_with(line, "domain") && domains->counted_at && !put_domain(domains, line))
            return false;
    }
    pf_body_set_u32(domains->body, start, domains->version);
    pf_body_set_u32(domains->body, start + 4, domains->highest);
    return domains->version > 0 && domains->counted_at > 0;
}

bool pf_body_cpu_domains(struct pf_body *body)
{
    struct pf_text text;
    struct domains domains = {.body = body};
    bool made = false;
    if (pf_text_open(&text, body->allocator, NULL, NULL) < 0)
        return false;
    if (pf_read_file(body->root, "proc/schedstat", &text, DOMAINS_BYTES_MAX)) {
        pf_put_char(&text, 0);
        made = !text.failed && put_domains(&domains, text.data);
    }
    pf_text_close(&text);
    return made;
}
