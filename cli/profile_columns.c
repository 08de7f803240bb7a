/* SPDX-License-Identifier: MIT */
#include "profile_columns.h"
#include "guess.h"
#include "message.h"
#include "options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- their texts ------------------------------------------------------------------------------------------------- */

static void put_comm(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    pf_print_name(location->sample.comm ? location->sample.comm : "[unknown]", to);
}

/* With the last name of the thread, as reports have it. */
static void put_thread(const struct perfile_profile *profile, int32_t tid, FILE *to)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;

    fprintf(to, "%7" PRId32 ":", tid);
    for (uint32_t i = 0; perfile_profile_thread_at(profile, i, &thread) == 0; i++)
        if (thread.tid == tid) {
            pf_print_name(thread.comm, to);
            return;
        }
}

static void put_pid(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    put_thread(location->profile, location->sample.tid == -1 ? location->sample.pid : location->sample.tid, to);
}

static void put_tgid(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    put_thread(location->profile, location->sample.pid, to);
}

static void put_tid(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.tid);
}

static void put_cpu(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.cpu);
}

static void put_dso(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    struct perfile_module module = PERFILE_MODULE_INIT;
    const bool known = location->function.module != PERFILE_NO_ID &&
                       perfile_profile_module_at(location->profile, location->function.module, &module) == 0;

    pf_print_name(known ? module.short_name : "[unknown]", to);
}

static void put_symbol(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    if (location->function.name)
        pf_print_name(location->function.name, to);
    else
        fprintf(to, "0x%" PRIx64, location->function.address);
}

static void put_cgroup(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    pf_print_name(location->sample.cgroup ? location->sample.cgroup : "[unknown]", to);
}

static void put_time(const struct pf_profile_location *location, const char *name, FILE *to)
{
    const uint64_t time = location->sample.time, second_ns = 1000000000;

    (void)name;
    if (time == UINT64_MAX)
        fputs("[unknown]", to);
    else
        fprintf(to, "%" PRIu64 ".%06" PRIu64, time / second_ns, time % second_ns / 1000);
}

/* What a column of reports shows of the sample. */
static void put_tag(const struct pf_profile_location *location, const char *name, FILE *to)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;

    for (uint32_t i = location->sample.tags; perfile_profile_tag_at(location->profile, i, &tag) == 0; i = tag.next)
        if (!strcmp(tag.name, name)) {
            pf_print_name(tag.text, to);
            return;
        }
}

static const struct pf_profile_column own_columns[] = {
    {"comm", "Command", put_comm, false, "the name of the thread"},
    {"pid", "Pid:Command", put_pid, false, "the number of the thread, and its name"},
    {"tgid", "Tgid:Command", put_tgid, false, "the number of the process, and its name"},
    {"tid", "Tid", put_tid, false, "the thread"},
    {"cpu", "CPU", put_cpu, false, "the processor"},
    {"dso", "Shared Object", put_dso, true, "the file of the function"},
    {"symbol", "Symbol", put_symbol, true, "the function; sym is the same"},
    {"cgroup", "Cgroup", put_cgroup, false, "the control group"},
    {"time", "Time", put_time, false, "the step of time"},
};
enum { OWN_COLUMNS = sizeof(own_columns) / sizeof(own_columns[0]) };

static const struct pf_profile_column *find_own(const char *name, size_t bytes)
{
    if (bytes == 3 && !memcmp(name, "sym", 3))
        return find_own("symbol", 6);
    for (size_t i = 0; i < OWN_COLUMNS; i++)
        if (strlen(own_columns[i].name) == bytes && !memcmp(own_columns[i].name, name, bytes))
            return &own_columns[i];
    return NULL;
}

/* Keys of profiles that are not columns of reports. */
static bool is_left_out(const char *name)
{
    return !strcmp(name, "event") || !strcmp(name, "recording");
}

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* Columns of the sampled address, which the other functions of a stack do not have. */
static bool is_exact(const char *name)
{
    static const char *const exact[] = {"srcline", "srcfile", "symoff", "addr", "symbol_size", "symbol_iaddr", NULL};

    return is_one_of(exact, name);
}

/* Whether the name is a weight of rows, which then is shown. */
static bool choose_weight(struct pf_profile_columns *chosen, const char *name)
{
    static const char *const always[] = {"overhead", "overhead_children", NULL};
    const bool samples = !strcmp(name, "sample"), periods = !strcmp(name, "period");

    chosen->samples |= samples;
    chosen->periods |= periods;
    return samples || periods || is_one_of(always, name);
}

/* The own ones, then the other keys of profiles. */
const char *pf_profile_column_at(size_t index, const char **doc)
{
    const char *name;

    if (index < OWN_COLUMNS) {
        *doc = own_columns[index].doc;
        return own_columns[index].name;
    }
    index -= OWN_COLUMNS;
    for (size_t i = 0; (name = perfile_profile_key_at(i, doc)) != NULL; i++)
        if (!find_own(name, strlen(name)) && !is_left_out(name) && index-- == 0)
            break;
    return name;
}

/* What a tag is called: of event.field that is the field. */
static const char *tag_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/*
 * Whether the profile has tags of the name. Before there is one: a field of tracepoints is named with its event, as a
 * recording into memory does not describe events before their data.
 */
static bool is_tag(const char *name, const struct perfile_profile *profile)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    const char *known, *doc;

    for (size_t i = 0; profile && perfile_profile_tag_at(profile, i, &tag) == 0; i++)
        if (!strcmp(tag.name, tag_name(name)))
            return true;
    for (size_t i = 0; !profile && (known = pf_profile_column_at(i, &doc)) != NULL; i++)
        if (!strcmp(known, name))
            return true;
    return !profile && strchr(name, '.');
}

/* Whether it is the name of a column of reports, or nearly: then the text says which one is meant. */
static bool may_be_report_column(const char *name)
{
    struct pf_guess guess = pf_guess_start(name);
    const char *known;

    for (size_t i = 0; (known = perfile_report_column_at(i, NULL)) != NULL; i++) {
        if (!strcmp(known, name))
            return true;
        pf_guess_offer(&guess, known);
    }
    return guess.best;
}

bool pf_profile_columns_possible(const char *list)
{
    struct pf_profile_columns unused = {.count = 0};
    char *copy = strdup(list);
    bool fine = copy;

    for (char *at = copy, *name; fine && (name = strsep(&at, ",")) != NULL;)
        fine = find_own(name, strlen(name)) || choose_weight(&unused, name) || is_tag(name, NULL) ||
               !may_be_report_column(name);
    free(copy);
    return fine;
}

static int refuse_column(const char *verb, const char *name, const struct perfile_profile *profile)
{
    pf_message(
        profile
            ? "%s: the profile has no %s: export --format profile --by keeps it"
            : "%s: unknown column %s (valid: comm, pid, tgid, tid, cpu, dso, symbol, cgroup, time, EVENT.FIELD, and "
              "columns of report that describe samples)",
        verb, name);
    return PF_STATUS_USAGE;
}

/* `any`: whatever is not a column of its own is a tag. */
static int choose(struct pf_profile_columns *chosen, const char *verb, const char *list,
                  const struct perfile_profile *profile, bool any)
{
    *chosen = (struct pf_profile_columns){.by_functions = true, .names = strdup(list), .list = list};
    if (!chosen->names)
        return pf_out_of_memory(verb);
    for (char *at = chosen->names, *name; (name = strsep(&at, ",")) != NULL;) {
        const struct pf_profile_column *own = find_own(name, strlen(name));
        struct pf_profile_column *column = &chosen->columns[chosen->count];
        if (choose_weight(chosen, name))
            continue;
        if (chosen->count == PF_PROFILE_COLUMNS || (!own && !any && !is_tag(name, profile)))
            return refuse_column(verb, name, profile);
        *column =
            own ? *own : (struct pf_profile_column){.name = tag_name(name), .title = tag_name(name), .put = put_tag};
        chosen->by_functions &= column->of_functions;
        chosen->has_functions |= column->of_functions;
        chosen->has_times |= column->put == put_time;
        chosen->exact |= is_exact(column->name);
        chosen->count++;
    }
    return PF_STATUS_OK;
}

int pf_profile_columns_choose(struct pf_profile_columns *chosen, const char *verb, const char *list,
                              const struct perfile_profile *profile)
{
    return choose(chosen, verb, list, profile, false);
}

int pf_profile_columns_any(struct pf_profile_columns *chosen, const char *verb, const char *list)
{
    return choose(chosen, verb, list, NULL, true);
}

static bool is_weight(const char *name, size_t bytes)
{
    struct pf_profile_columns unused = {.count = 0};
    char copy[32];

    snprintf(copy, sizeof(copy), "%.*s", (int)(bytes < sizeof(copy) ? bytes : sizeof(copy)), name);
    return choose_weight(&unused, copy);
}

char *pf_profile_columns_keys(const char *list)
{
    static const char usual[] = "tid,comm,cpu";
    char *keys = malloc(sizeof(usual) + strlen(list) + 2);
    size_t used = 0;

    if (keys)
        used = (size_t)sprintf(keys, "%s", usual);
    for (size_t bytes; keys && *list; list += bytes + (list[bytes] == ',')) {
        bytes = strcspn(list, ",");
        const struct pf_profile_column *own = find_own(list, bytes);
        const bool is_key = own ? own->put == put_cgroup || own->put == put_time : !is_weight(list, bytes);
        if (is_key)
            used += (size_t)sprintf(keys + used, ",%.*s", (int)bytes, list);
    }
    return keys;
}

char *pf_profile_columns_texts(const struct pf_profile_columns *chosen, const struct pf_profile_location *location,
                               enum pf_profile_part part)
{
    char *texts = NULL;
    size_t bytes;
    FILE *to = open_memstream(&texts, &bytes);

    for (size_t i = 0; to && i < chosen->count; i++) {
        if (part == (chosen->columns[i].of_functions ? PF_PROFILE_OF_SAMPLES : PF_PROFILE_OF_FUNCTIONS))
            continue;
        chosen->columns[i].put(location, chosen->columns[i].name, to);
        putc('\n', to);
    }
    if (to && fclose(to) == 0)
        return texts;
    free(texts);
    return NULL;
}
