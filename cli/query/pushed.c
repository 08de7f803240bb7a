/* SPDX-License-Identifier: MIT */
#include "pushed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whose meaning the filter of the view samples has, too. */
static const struct {
    const char *column;
    enum pf_comparison comparison;
    char letter;
} letters[] = {
    {"pid", PF_EQUAL, 'p'},   {"tid", PF_EQUAL, 't'},  {"cpu", PF_EQUAL, 'c'},     {"comm", PF_EQUAL, 'm'},
    {"event", PF_EQUAL, 'e'}, {"time", PF_EQUAL, '='}, {"time", PF_AT_LEAST, '>'}, {"time", PF_AT_MOST, '<'},
    {"time", PF_ABOVE, '>'},  {"time", PF_BELOW, '<'},
};

char pf_pushed_letter(const struct pf_relation *relation, const char *column, enum pf_comparison comparison)
{
    if (!relation->view || strcmp(relation->name, "samples") != 0)
        return 0;
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (letters[i].comparison == comparison && !strcasecmp(letters[i].column, column))
            return letters[i].letter;
    return 0;
}

static void take_number(char *text, size_t capacity, const struct pf_cell *value)
{
    if (value->kind == PF_CELL_INTEGER && value->integer >= 0 && value->integer < INT32_MAX)
        snprintf(text, capacity, "%lld", (long long)value->integer);
}

/* One word of a list; NULL: a text that means more than itself there, or out of memory, which lets all pass. */
static char *take_word(const struct pf_cell *value)
{
    if (value->kind != PF_CELL_TEXT || !value->bytes)
        return NULL;
    for (size_t i = 0; i < value->bytes; i++)
        if (value->text[i] <= ' ' || value->text[i] > '~' || strchr(",\\*?[]!", value->text[i]))
            return NULL;
    return strndup(value->text, value->bytes);
}

static bool has_event(const struct pf_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->inputs.count; i++) {
        const struct perfile_event *event;
        size_t j = 0;
        while ((event = perfile_event_get(sources->inputs.readers[i], j)) != NULL && strcmp(event->name, name) != 0)
            j++;
        if (!event)
            return false;
    }
    return true;
}

static void take_time(struct pf_pushed *pushed, char letter, const struct pf_cell *value)
{
    if (value->kind != PF_CELL_INTEGER || value->integer < 0)
        return;
    if (letter != '<')
        pushed->first_ns = (uint64_t)value->integer;
    if (letter != '>')
        pushed->last_ns = (uint64_t)value->integer + 1;
}

void pf_pushed_take(struct pf_pushed *pushed, const struct pf_sources *sources, char letter,
                    const struct pf_cell *value)
{
    switch (letter) {
    case 'p':
        take_number(pushed->pids, sizeof(pushed->pids), value);
        return;
    case 't':
        take_number(pushed->tids, sizeof(pushed->tids), value);
        return;
    case 'c':
        take_number(pushed->cpus, sizeof(pushed->cpus), value);
        return;
    case 'm':
        pushed->comms = take_word(value);
        return;
    case 'e':
        pushed->events = take_word(value);
        if (pushed->events && !has_event(sources, pushed->events)) {
            free(pushed->events);
            pushed->events = NULL;
        }
        return;
    default:
        take_time(pushed, letter, value);
    }
}

static void put_time(struct pf_pushed *pushed)
{
    const unsigned long long giga = 1000000000, first = pushed->first_ns, last = pushed->last_ns;
    size_t used = 0;

    if (!first && !last)
        return;
    if (first)
        used = (size_t)snprintf(pushed->time, sizeof(pushed->time), "%llu.%09llu", first / giga, first % giga);
    pushed->time[used++] = ',';
    pushed->time[used] = 0;
    if (last)
        snprintf(pushed->time + used, sizeof(pushed->time) - used, "%llu.%09llu", last / giga, last % giga);
}

void pf_pushed_set(struct pf_pushed *pushed, const struct pf_sources *sources, struct pf_request *request)
{
    struct perfile_filter *filter = &request->filter;
    const struct {
        const char **member;
        const char *text;
    } parts[] = {{&filter->pids, pushed->pids}, {&filter->tids, pushed->tids},   {&filter->cpus, pushed->cpus},
                 {&filter->time, pushed->time}, {&filter->comms, pushed->comms}, {&filter->events, pushed->events}};

    put_time(pushed);
    *filter = sources->settings->filter;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!*parts[i].member && parts[i].text && *parts[i].text)
            *parts[i].member = parts[i].text;
    request->is_pushed = pf_pushed_any(pushed);
}

bool pf_pushed_any(const struct pf_pushed *pushed)
{
    return pushed->comms || pushed->events || *pushed->pids || *pushed->tids || *pushed->cpus || *pushed->time;
}

void pf_pushed_free(struct pf_pushed *pushed)
{
    free(pushed->comms);
    free(pushed->events);
    *pushed = (struct pf_pushed){0};
}
