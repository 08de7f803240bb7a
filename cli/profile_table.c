/* SPDX-License-Identifier: MIT */
#include "profile_table.h"
#include "array.h"
#include "message.h"
#include "options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void put_comm(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    pf_print_name(location->sample.comm ? location->sample.comm : "[unknown]", to);
}

static void put_pid(const struct pf_profile_location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.pid);
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
    {"pid", "Pid", put_pid, false, "the process"},
    {"tid", "Tid", put_tid, false, "the thread"},
    {"cpu", "CPU", put_cpu, false, "the processor"},
    {"dso", "Shared Object", put_dso, true, "the file of the function"},
    {"symbol", "Symbol", put_symbol, true, "the function; sym is the same"},
    {"cgroup", "Cgroup", put_cgroup, false, "the control group"},
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

/* Keys of profiles that are not for a sum over time. */
static bool is_left_out(const char *name)
{
    return !strcmp(name, "event") || !strcmp(name, "time") || !strcmp(name, "recording");
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

static int refuse_column(const char *verb, const char *name, const struct perfile_profile *profile)
{
    pf_message(profile ? "%s: the profile has no %s: export --format profile --by keeps it"
                       : "%s: unknown column %s (valid: comm, pid, tid, cpu, dso, symbol, cgroup, EVENT.FIELD, and "
                         "columns of report that describe samples)",
               verb, name);
    return PF_STATUS_USAGE;
}

int pf_profile_columns_choose(struct pf_profile_columns *chosen, const char *verb, const char *list,
                              const struct perfile_profile *profile)
{
    *chosen = (struct pf_profile_columns){.by_functions = true, .names = strdup(list)};
    if (!chosen->names)
        return pf_out_of_memory(verb);
    for (char *at = chosen->names, *name; (name = strsep(&at, ",")) != NULL;) {
        const struct pf_profile_column *own = find_own(name, strlen(name));
        struct pf_profile_column *column = &chosen->columns[chosen->count];
        if (chosen->count == PF_PROFILE_COLUMNS || (!own && !is_tag(name, profile)))
            return refuse_column(verb, name, profile);
        *column =
            own ? *own : (struct pf_profile_column){.name = tag_name(name), .title = tag_name(name), .put = put_tag};
        chosen->by_functions &= column->of_functions;
        chosen->count++;
    }
    return PF_STATUS_OK;
}

/* The keys of profiles. NULL: out of memory. */
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
        if (!own || own->put == put_cgroup)
            used += (size_t)sprintf(keys + used, ",%.*s", (int)bytes, list);
    }
    return keys;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* `texts` has a column after each NUL. */
struct row {
    char *texts;
    size_t bytes;
    uint64_t period, samples;
    uint64_t self;   /* of the period */
    uint32_t number; /* of the function or the sample whose texts these are */
};

struct rows {
    struct row *all;
    size_t count, capacity;
    uint64_t period, samples;
};

static void free_rows(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->all[i].texts);
    free(rows->all);
}

static int compare_bytes(const struct row *x, const struct row *y)
{
    const int order = memcmp(x->texts, y->texts, x->bytes < y->bytes ? x->bytes : y->bytes);

    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_texts(const void *a, const void *b)
{
    return compare_bytes(a, b);
}

static int by_period(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->period != y->period ? (x->period < y->period) - (x->period > y->period) : compare_bytes(x, y);
}

/* Which columns are filled. */
enum part { OF_FUNCTIONS, OF_SAMPLES, OF_ALL };

static bool make_texts(const struct pf_profile_location *location, const struct pf_profile_columns *chosen,
                       enum part part, struct row *row)
{
    if (part == OF_SAMPLES && chosen->by_functions)
        return (row->texts = calloc(1, 1));
    FILE *to = open_memstream(&row->texts, &row->bytes);
    if (!to)
        return false;
    for (size_t i = 0; i < chosen->count; i++) {
        if (part == (chosen->columns[i].of_functions ? OF_SAMPLES : OF_FUNCTIONS))
            continue;
        chosen->columns[i].put(location, chosen->columns[i].name, to);
        putc(0, to);
    }
    return fclose(to) == 0;
}

static struct row *new_row(struct rows *rows)
{
    if (!pf_array_grow(&rows->all, &rows->capacity, rows->count + 1, sizeof(*rows->all)))
        return NULL;
    struct row *row = &rows->all[rows->count++];
    *row = (struct row){.texts = NULL};
    return row;
}

/* Adds the texts of a function or a sample. */
static bool add_texts(struct rows *names, const struct pf_profile_location *location,
                      const struct pf_profile_columns *chosen, enum part part, uint32_t number)
{
    struct row *name = new_row(names);

    if (name)
        name->number = number;
    return name && make_texts(location, chosen, part, name);
}

static void sort(struct rows *rows, int (*compare)(const void *a, const void *b))
{
    if (rows->count)
        qsort(rows->all, rows->count, sizeof(*rows->all), compare);
}

static bool name_functions(struct rows *names, struct pf_profile_location *location,
                           const struct pf_profile_columns *chosen)
{
    bool fine = true;

    for (uint32_t i = 0; fine && perfile_profile_function_at(location->profile, i, &location->function) == 0; i++)
        fine = add_texts(names, location, chosen, OF_FUNCTIONS, i);
    sort(names, by_texts);
    return fine;
}

static bool name_samples(struct rows *names, struct pf_profile_location *location,
                         const struct pf_profile_columns *chosen, uint32_t event)
{
    bool fine = true;

    for (uint32_t i = 0; fine && perfile_profile_sample_at(location->profile, i, &location->sample) == 0; i++)
        fine = location->sample.event != event || add_texts(names, location, chosen, OF_SAMPLES, i);
    sort(names, by_texts);
    return fine;
}

/* Functions of equal texts are one group; `firsts`: by group its first name. */
static int open_calls(const struct rows *names, const struct perfile_profile *profile, size_t *firsts,
                      struct perfile_calls **calls)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    uint32_t *groups = calloc(names->count + 1, sizeof(*groups));

    for (size_t i = 0; groups && i < names->count; i++) {
        if (!i || compare_bytes(&names->all[i - 1], &names->all[i]))
            firsts[options.group_count++] = i;
        groups[names->all[i].number] = options.group_count - 1;
    }
    options.groups = groups;
    const int result = groups ? perfile_calls_open(profile, &options, calls, NULL) : PERFILE_ERROR_MEMORY;
    free(groups);
    return result;
}

/* Whether the name is in the list: of a function also without its arguments. No list has all. */
static bool is_in(const char *list, const char *name)
{
    const size_t bytes = name ? strlen(name) : 0, bare = name ? strcspn(name, "(") : 0;

    for (size_t length; list && *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if ((length == bytes || length == bare) && name && !memcmp(list, name, length))
            return true;
    }
    return !list;
}

static bool is_wanted(const struct pf_profile_location *location, const struct pf_profile_columns *chosen)
{
    struct perfile_module module = PERFILE_MODULE_INIT;

    if (!is_in(chosen->symbols, location->function.name))
        return false;
    return !chosen->dsos || (location->function.module != PERFILE_NO_ID &&
                             perfile_profile_module_at(location->profile, location->function.module, &module) == 0 &&
                             is_in(chosen->dsos, module.short_name));
}

/* Adds a row for each group of `calls`; the thread columns come from the sample of `location`. */
static bool add_rows(struct rows *rows, struct pf_profile_location *location, const struct pf_profile_columns *chosen,
                     const struct perfile_calls *calls, const struct rows *functions, const size_t *firsts)
{
    const uint64_t *weight, *self;

    for (uint32_t i = 0; (self = perfile_calls_self(calls, i)); i++) {
        weight = chosen->children ? perfile_calls_total(calls, i) : self;
        if (!weight[0])
            continue;
        if (perfile_profile_function_at(location->profile, functions->all[firsts[i]].number, &location->function) < 0)
            return false;
        const bool wanted = is_wanted(location, chosen);
        rows->samples += wanted || !chosen->relative ? self[0] : 0;
        rows->period += wanted || !chosen->relative ? self[1] : 0;
        if (!wanted)
            continue;
        struct row *row = new_row(rows);
        if (!row)
            return false;
        *row = (struct row){.samples = weight[0], .period = weight[1], .self = self[1]};
        if (!make_texts(location, chosen, OF_ALL, row))
            return false;
    }
    return true;
}

static bool make_rows(struct rows *rows, const struct perfile_profile *profile, uint32_t event,
                      const struct pf_profile_columns *chosen)
{
    struct pf_profile_location location = {profile, PERFILE_PROFILE_SAMPLE_INIT, PERFILE_PROFILE_FUNCTION_INIT};
    struct rows functions = {.count = 0}, samples = {.count = 0};
    struct perfile_calls *calls = NULL;
    size_t *firsts = calloc(perfile_profile_function_count(profile) + 1, sizeof(*firsts));

    *rows = (struct rows){.count = 0};
    bool fine = firsts && name_functions(&functions, &location, chosen) &&
                name_samples(&samples, &location, chosen, event) &&
                open_calls(&functions, profile, firsts, &calls) == 0;
    for (size_t i = 0; i < samples.count && fine; i++) {
        if ((!i || compare_bytes(&samples.all[i - 1], &samples.all[i])) && perfile_calls_start(calls, NULL) < 0)
            fine = false;
        perfile_calls_add(calls, samples.all[i].number);
        if (i + 1 < samples.count && !compare_bytes(&samples.all[i], &samples.all[i + 1]))
            continue;
        perfile_calls_sum(calls);
        fine = perfile_profile_sample_at(profile, samples.all[i].number, &location.sample) == 0 &&
               add_rows(rows, &location, chosen, calls, &functions, firsts);
    }
    sort(rows, by_period);
    perfile_calls_close(calls);
    free_rows(&functions);
    free_rows(&samples);
    free(firsts);
    return fine;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *text_at(const struct row *row, size_t column)
{
    const char *at = row->texts;

    while (column--)
        at += strlen(at) + 1;
    return at;
}

/* The width of a column; the last one is not padded. */
static int width_of(const struct rows *rows, size_t shown, size_t column, const char *title)
{
    size_t width = strlen(title);

    for (size_t i = 0; i < shown; i++) {
        const size_t bytes = strlen(text_at(&rows->all[i], column));
        width = bytes > width ? bytes : width;
    }
    return width < 60 ? (int)width : 60;
}

static double share(const struct rows *rows, uint64_t period)
{
    return rows->period ? 100.0 * (double)period / (double)rows->period : 0;
}

/* Rows are sorted by period. */
static size_t count_shown(const struct rows *rows, size_t max, const struct pf_profile_columns *chosen)
{
    size_t shown = 0;

    while (shown < rows->count && shown < max && share(rows, rows->all[shown].period) >= chosen->min_percent)
        shown++;
    return shown;
}

static void print_rows(const struct rows *rows, size_t max, const struct pf_profile_columns *chosen)
{
    const size_t shown = count_shown(rows, max, chosen);
    int widths[PF_PROFILE_COLUMNS];

    fputs(chosen->children ? "# Children      Self" : "# Overhead", stdout);
    fputs(chosen->samples ? "       Samples" : "", stdout);
    fputs(chosen->periods ? "            Period" : "", stdout);
    for (size_t i = 0; i < chosen->count; i++) {
        widths[i] = i + 1 < chosen->count ? width_of(rows, shown, i, chosen->columns[i].title) : 0;
        printf("  %-*s", widths[i], chosen->columns[i].title);
    }
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        const struct row *row = &rows->all[i];
        if (row->samples <= chosen->more_than)
            continue;
        printf("%9.2f%%", share(rows, row->period));
        if (chosen->children)
            printf("  %7.2f%%", share(rows, row->self));
        if (chosen->samples)
            printf("  %12" PRIu64, row->samples);
        if (chosen->periods)
            printf("  %16" PRIu64, row->period);
        for (size_t k = 0; k < chosen->count; k++)
            printf("  %-*s", widths[k], text_at(row, k));
        putchar('\n');
    }
    putchar('\n');
}

int pf_profile_table_print(const struct perfile_profile *profile, uint32_t event,
                           const struct pf_profile_columns *chosen, const struct pf_profile_table *table)
{
    enum { USUAL_ROWS = 20 };
    struct perfile_profile_event about = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    char samples[PF_COUNTED_BYTES], lost[PF_GROUPED_BYTES];
    struct rows rows;
    const bool fine = make_rows(&rows, profile, event, chosen) &&
                      perfile_profile_event_at(profile, event, &about) == 0 &&
                      perfile_profile_losses(profile, &losses) == 0;

    if (fine) {
        printf("# %s%s of ", table->prefix, pf_counted(rows.samples, "samples", samples));
        pf_print_name(about.name, stdout);
        printf(", %s lost\n", pf_grouped(losses.lost, lost));
        print_rows(&rows, table->top ? table->top : USUAL_ROWS, chosen);
    }
    free_rows(&rows);
    if (!fine)
        pf_message("%s: out of memory", table->verb);
    return fine ? PF_STATUS_OK : PF_STATUS_MEMORY;
}
