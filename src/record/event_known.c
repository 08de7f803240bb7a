/* SPDX-License-Identifier: MIT */
/* The events that this machine knows. */
#include "record/event_known.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/locale.h"
#include "record/event_parts.h"

struct known {
    struct pf_event_parser parser;
    struct pf_event_list chosen;
    const char *pattern; /* or NULL */
    int (*each)(void *context, const struct perfile_known_event *event);
    void *context;
    bool probe;
};

/* ---- does it work here? ------------------------------------------------------------------------------------------ */

static bool opens(const struct perf_event_attr *attr, int pid, int cpu)
{
    const long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

/* Some PMUs count no modes, some kernels refuse their own. */
static bool works(const struct pf_listed_event *event)
{
    uint64_t cpu = 0;
    struct perf_event_attr attr = {.type = event->attr.type, .size = sizeof(attr), .config = event->attr.config};
    attr.bp_addr = event->attr.bp_addr_or_config1;
    attr.bp_len = event->attr.bp_len_or_config2;
    attr.bp_type = event->attr.bp_type;
    attr.disabled = 1;
    if (event->cpus)
        pf_piece_digits((struct pf_piece){event->cpus, strspn(event->cpus, "0123456789")}, 10, &cpu);
    for (int user_only = 0; user_only < 2; user_only++) {
        attr.exclude_kernel = attr.exclude_hv = user_only != 0;
        if (opens(&attr, 0, -1) || opens(&attr, -1, (int)pf_min(cpu, INT16_MAX)))
            return true;
    }
    return false;
}

/* ---- one event --------------------------------------------------------------------------------------------------- */

static bool wanted(const struct known *known, const char *name)
{
    if (!known->pattern || !name)
        return name != NULL;
    if (pf_has_wildcard(pf_piece_of(known->pattern)))
        return pf_glob_matches(known->pattern, name, true);
    const size_t bytes = strlen(known->pattern);
    for (; *name; name++)
        if (pf_begins_but_case(name, known->pattern, bytes))
            return true;
    return !bytes;
}

static int report(struct known *known, const struct perfile_known_event *event)
{
    if (known->each(known->context, event) == 0)
        return 0;
    return pf_fail(known->parser.error, PERFILE_ERROR_STOPPED, PERFILE_NO_OFFSET, "events", "stopped by the caller");
}

/* What the text chooses is tried; 0, or an error of the system. */
static int try_event(struct known *known, const struct pf_event_text *text, bool *result)
{
    struct perfile_error *error = known->parser.error;
    known->parser.error = known->parser.sys.error = NULL; /* what cannot be chosen does not work */
    known->chosen.count = 0;
    const int chosen = pf_parse_event(&known->parser, text);
    known->parser.error = known->parser.sys.error = error;
    *result = chosen >= 0 && known->chosen.count && (!known->probe || works(&known->chosen.items[0]));
    known->chosen.count = 0;
    return chosen == PERFILE_ERROR_MEMORY ? pf_sys_memory(&known->parser.sys) : 0;
}

static int report_tried(struct known *known, struct perfile_known_event event, const struct pf_event_text *text)
{
    const int result = try_event(known, text, &event.works);
    return result < 0 ? result : report(known, &event);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int report_name(struct known *known, const struct pf_known_name *name)
{
    const struct pf_event_text text = {.complete = pf_piece_of(name->name), .name = pf_piece_of(name->name)};
    char doc[128];
    if (!wanted(known, name->name) && !wanted(known, name->other))
        return 0;
    snprintf(doc, sizeof(doc), "%s%s%s", name->doc, name->other ? "; also " : "", name->other ? name->other : "");
    return report_tried(known, (struct perfile_known_event){name->name, name->kind, doc, false}, &text);
}

static int report_names(struct known *known)
{
    struct pf_known_name name;
    char buffer[PF_CACHE_NAME_BYTES];
    int result = 0;
    for (size_t i = 0; result >= 0 && pf_known_name_at(i, &name, buffer); i++)
        result = report_name(known, &name);
    return result;
}

/* How many bytes of the name all PMUs of its kind share; "uncore_imc" of uncore_imc_0. 0: another one stands for it. */
static size_t shared_bytes(const struct pf_sys *sys, size_t index)
{
    const char *name = sys->pmus[index].name, *last = strrchr(name, '_');
    const struct pf_piece base = {name, last ? (size_t)(last - name) : 0};
    size_t first = index, count = 0;
    for (size_t i = 0; base.bytes && pf_pmu_matches(&sys->pmus[index], base) && i < sys->pmu_count; i++)
        if (!strncmp(sys->pmus[i].name, base.text, base.bytes) && pf_pmu_matches(&sys->pmus[i], base)) {
            first = pf_min(first, i);
            count++;
        }
    if (count < 2)
        return strlen(name);
    return first == index ? base.bytes : 0;
}

static int report_pmu_event(struct known *known, struct pf_piece pmu, const char *event)
{
    const struct pf_piece terms = pf_piece_of(event);
    char name[512];
    snprintf(name, sizeof(name), "%.*s/%s/", (int)pmu.bytes, pmu.text, event);
    const struct pf_event_text text = {.complete = pf_piece_of(name), .name = pmu, .terms = terms, .has_terms = true};
    return wanted(known, name) ? report_tried(known, (struct perfile_known_event){name, "pmu", NULL, false}, &text) : 0;
}

static int report_pmus(struct known *known)
{
    struct pf_sys *sys = &known->parser.sys;
    int result = 0;
    for (size_t i = 0; result >= 0 && i < sys->pmu_count; i++) {
        const struct pf_piece pmu = {sys->pmus[i].name, shared_bytes(sys, i)};
        struct pf_names names = {0};
        if (pmu.bytes && pf_pmu_events(sys, &sys->pmus[i], &names) == ENOMEM)
            result = pf_sys_memory(sys);
        for (size_t j = 0; result >= 0 && j < names.count; j++)
            result = report_pmu_event(known, pmu, names.items[j]);
        pf_names_close(sys, &names);
    }
    return result;
}

/* "event=0..255, umask=0..255" */
static void list_terms(const struct pf_pmu *pmu, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "with");
    for (size_t i = 0; i < pmu->format_count && used < bytes; i++) {
        const uint64_t bits = pmu->formats[i].bits;
        const int count = __builtin_popcountll(bits);
        used += (size_t)snprintf(text + used, bytes - used, "%s %s=0..%#llx", i ? "," : "", pmu->formats[i].name,
                                 count == 64 ? ~0ull : (1ull << count) - 1);
    }
}

static int report_terms(struct known *known, size_t index)
{
    struct pf_sys *sys = &known->parser.sys;
    struct pf_pmu *pmu = &sys->pmus[index];
    const size_t bytes = shared_bytes(sys, index);
    char name[300], doc[1024];
    snprintf(name, sizeof(name), "%.*s/TERM=VALUE,.../", (int)bytes, pmu->name);
    if (!bytes || !wanted(known, name))
        return 0;
    const int result = pf_pmu_formats(sys, pmu);
    if (result < 0 || !pmu->format_count)
        return result;
    list_terms(pmu, doc, sizeof(doc));
    return report(known, &(struct perfile_known_event){name, "raw", doc, true});
}

static int report_raw(struct known *known)
{
    static const char raw[] = "rHEX", memory[] = "mem:ADDRESS[/LENGTH][:ACCESS]";
    const struct pf_event_text numbers = {.complete = pf_piece_of("r0"), .name = pf_piece_of("r0")};
    char address[32];
    int result = 0;
    if (wanted(known, raw))
        result = report_tried(known, (struct perfile_known_event){raw, "raw", "config of the processor's PMU", false},
                              &numbers);
    for (size_t i = 0; result >= 0 && i < known->parser.sys.pmu_count; i++)
        result = report_terms(known, i);
    if (result < 0 || !wanted(known, memory))
        return result;
    snprintf(address, sizeof(address), "%#llx", (unsigned long long)(uintptr_t)known & ~7ull);
    return report_tried(
        known, (struct perfile_known_event){memory, "breakpoint", "accesses to an address; ACCESS of r, w, x", false},
        &(struct pf_event_text){.complete = pf_piece_of(memory), .address = pf_piece_of(address)});
}

static int report_system(struct known *known, const char *folder, const char *system)
{
    struct pf_sys *sys = &known->parser.sys;
    struct pf_names names = {0};
    const char *path = folder + strlen(sys->root) + 1;
    int result = pf_sys_list(sys, pf_sys_path(sys, "%s/%s", path, system), &names) == ENOMEM ? pf_sys_memory(sys) : 0;
    for (size_t i = 0; result >= 0 && i < names.count; i++) {
        char name[520];
        snprintf(name, sizeof(name), "%s:%s", system, names.items[i]);
        const char *id = wanted(known, name) ? pf_sys_path(sys, "%s/%s/%s/id", path, system, names.items[i]) : NULL;
        if (id && access(id, F_OK) == 0)
            result = report(known, &(struct perfile_known_event){name, "tracepoint", NULL, true});
    }
    pf_names_close(sys, &names);
    return result;
}

static int report_tracepoints(struct known *known)
{
    struct pf_sys *sys = &known->parser.sys;
    const char *folder;
    struct pf_names systems = {0};
    int result = pf_sys_tracing(sys, &folder);
    if (result < 0)
        return result;
    if (pf_sys_list(sys, folder, &systems) == ENOMEM)
        result = pf_sys_memory(sys);
    for (size_t i = 0; result >= 0 && i < systems.count; i++)
        result = report_system(known, folder, systems.items[i]);
    pf_names_close(sys, &systems);
    return result;
}

int pf_known_events(const struct pf_known_options *options, const char *pattern,
                    int (*each)(void *context, const struct perfile_known_event *event), void *context,
                    struct perfile_error *error)
{
    struct known known = {.pattern = pattern, .each = each, .context = context, .probe = !options->sysfs};
    int (*const parts[])(struct known *) = {report_names, report_pmus, report_raw, report_tracepoints};
    pf_event_list_open(&known.chosen, options->allocator);
    known.parser = (struct pf_event_parser){.chosen = &known.chosen, .error = error};
    pf_sys_open(&known.parser.sys, &known.chosen.arena, options->sysfs, error);
    int result = pf_sys_pmus(&known.parser.sys);
    for (size_t i = 0; result >= 0 && i < PF_COUNT(parts); i++)
        result = parts[i](&known);
    pf_sys_close(&known.parser.sys);
    pf_event_list_close(&known.chosen);
    return result;
}

int perfile_known_events(const char *pattern, int (*each)(void *context, const struct perfile_known_event *event),
                         void *context, struct perfile_error *error)
{
    if (!each)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_known_events", "each is NULL");
    return pf_known_events(&(struct pf_known_options){0}, pattern, each, context, error);
}
