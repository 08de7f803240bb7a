/* SPDX-License-Identifier: MIT */
#include "profile_table.h"
#include "array.h"
#include "message.h"
#include "options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct row {
    char *texts; /* as pf_profile_columns_texts makes them */
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

static int by_texts(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return strcmp(x->texts, y->texts);
}

static int by_period(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->period != y->period ? (x->period < y->period) - (x->period > y->period) : strcmp(x->texts, y->texts);
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
                      const struct pf_profile_columns *chosen, enum pf_profile_part part, uint32_t number)
{
    struct row *name = new_row(names);

    if (name)
        name->number = number;
    return name && (name->texts = pf_profile_columns_texts(chosen, location, part));
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
        fine = add_texts(names, location, chosen, PF_PROFILE_OF_FUNCTIONS, i);
    sort(names, by_texts);
    return fine;
}

static bool name_samples(struct rows *names, struct pf_profile_location *location,
                         const struct pf_profile_columns *chosen, uint32_t event)
{
    bool fine = true;

    for (uint32_t i = 0; fine && perfile_profile_sample_at(location->profile, i, &location->sample) == 0; i++)
        fine = location->sample.event != event || add_texts(names, location, chosen, PF_PROFILE_OF_SAMPLES, i);
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
        if (!i || by_texts(&names->all[i - 1], &names->all[i]))
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
        if (!(row->texts = pf_profile_columns_texts(chosen, location, PF_PROFILE_OF_ALL)))
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
        if ((!i || by_texts(&samples.all[i - 1], &samples.all[i])) && perfile_calls_start(calls, NULL) < 0)
            fine = false;
        perfile_calls_add(calls, samples.all[i].number);
        if (i + 1 < samples.count && !by_texts(&samples.all[i], &samples.all[i + 1]))
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

static const char *text_at(const struct row *row, size_t column, size_t *bytes)
{
    const char *at = row->texts;

    while (column--)
        at = strchr(at, '\n') + 1;
    *bytes = strcspn(at, "\n");
    return at;
}

/* The width of a column; the last one is not padded. */
static int width_of(const struct rows *rows, size_t shown, size_t column, const char *title)
{
    size_t width = strlen(title);

    for (size_t i = 0; i < shown; i++) {
        size_t bytes;
        (void)text_at(&rows->all[i], column, &bytes);
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

static void print_texts(const struct row *row, size_t count, const int *widths)
{
    for (size_t i = 0; i < count; i++) {
        size_t bytes;
        const char *text = text_at(row, i, &bytes);
        printf("  %-*.*s", widths[i], (int)bytes, text);
    }
    putchar('\n');
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
        print_texts(row, chosen->count, widths);
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
