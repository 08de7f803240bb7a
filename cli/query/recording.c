/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static bool add_relation(struct pf_sources *sources, const struct pf_relation *like)
{
    struct pf_relation *relation = &sources->relations[sources->relation_count++];

    *relation = *like;
    relation->name = strdup(like->name);
    relation->key_count = sources->key_count;
    return relation->name;
}

static bool add_relations(struct pf_sources *sources)
{
    const struct perfile_view_info *info;
    size_t count = 0;

    while (perfile_view_at(count))
        count++;
    sources->relations = calloc(count + PF_DISTINCT, sizeof(*sources->relations));
    if (!sources->relations || !pf_key_add(sources, "recording") || !pf_key_add(sources, "host"))
        return false;
    for (size_t i = 0; (info = perfile_view_at(i)) != NULL; i++)
        if (!add_relation(sources,
                          &(struct pf_relation){.name = (char *)info->name, .view = info->name, .doc = info->doc}))
            return false;
    for (size_t i = 0; i < PF_DISTINCT; i++)
        if (!add_relation(sources, &(struct pf_relation){.name = (char *)pf_distinct[i].name,
                                                         .view = pf_distinct[i].view,
                                                         .keys = pf_distinct[i].keys,
                                                         .doc = pf_distinct[i].doc}))
            return false;
    return true;
}

static int fail_memory(const struct pf_sources *sources)
{
    return pf_out_of_memory(sources->inputs.command->name);
}

int pf_recordings_list(struct pf_sources *sources, const struct pf_command *command)
{
    sources->inputs.command = command;
    return add_relations(sources) ? PF_STATUS_OK : fail_memory(sources);
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

/* NULL where it is not recorded. False when out of memory. */
static bool set_host(struct pf_source *source, struct perfile_reader *reader)
{
    const char *host = NULL;
    const int result = perfile_feature_text(reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL);

    return result != PERFILE_ERROR_MEMORY && pf_source_set_key(source, PF_KEY_HOST, result == 0 ? host : NULL);
}

static bool add_source(struct pf_sources *sources)
{
    const size_t at = sources->count++;
    struct pf_source *source = &sources->each[at];

    if (!pf_source_init(sources, source, sources->inputs.paths[at]) ||
        !(source->lent = calloc(1, sizeof(*source->lent))))
        return false;
    source->lent->input = sources->inputs.inputs[at];
    source->lent->input.reader = NULL; /* that of the inputs is used, and closed by them */
    return pf_source_set_key(source, PF_KEY_RECORDING, source->argument) &&
           set_host(source, sources->inputs.readers[at]);
}

static struct perfile_reader *reader_of(const struct pf_sources *sources, const struct pf_source *source,
                                        const struct pf_lent *lent)
{
    return lent->input.reader ? lent->input.reader : sources->inputs.readers[source - sources->each];
}

static struct pf_lent *open_another(struct pf_source *source)
{
    struct pf_lent *lent = calloc(1, sizeof(*lent));

    if (!lent)
        return NULL;
    if (pf_input_open_again(&lent->input, &source->lent->input)) {
        free(lent);
        return NULL;
    }
    lent->next = source->lent->next;
    source->lent->next = lent;
    return lent;
}

static int lend(struct pf_sources *sources, struct pf_source *source, struct pf_lent **lent)
{
    struct perfile_error error;
    int result = 0;

    for (*lent = source->lent; *lent && (*lent)->busy;)
        *lent = (*lent)->next;
    if (!*lent && !(*lent = open_another(source)))
        return pf_sources_fail(sources, source, PERFILE_ERROR_MEMORY, NULL);
    if ((*lent)->used) {
        result = perfile_reader_rewind(reader_of(sources, source, *lent), &error);
        sources->inputs.inputs[source - sources->each].log.over = true;
    }
    if (result < 0)
        return pf_sources_fail(sources, source, result, &error);
    (*lent)->busy = true;
    return 0;
}

/* ---- tables of one recording ------------------------------------------------------------------------------------- */

static void update_progress(void *context, uint64_t done, uint64_t total)
{
    struct pf_sources *sources = context;

    if (sources->shows_progress)
        pf_progress_update(&sources->progress, done, total);
    if (*sources->stopped)
        for (size_t i = 0; i < sources->count; i++)
            for (struct pf_lent *lent = sources->each[i].lent; lent; lent = lent->next)
                if (lent->busy)
                    perfile_reader_stop(reader_of(sources, &sources->each[i], lent));
}

static void fill_options(struct pf_sources *sources, struct pf_source *source, const struct pf_relation *relation,
                         struct perfile_table_options *options)
{
    struct perfile_symbol_options *symbols = (struct perfile_symbol_options *)&sources->settings->symbols;

    symbols->recording = source->argument;
    symbols->note = pf_log_note;
    symbols->note_context = &sources->inputs.inputs[source - sources->each].log;
    options->symbols = symbols;
    options->keys = relation->keys;
    options->threads = pf_thread_count(sources->settings);
    options->progress = update_progress;
    options->progress_context = sources;
}

/* Rows have one column at least: the first. */
static bool is_read(const struct pf_request *request, const uint8_t *types, size_t field)
{
    bool any = false;

    if (types[field] == PF_NO_FIELD)
        return false;
    if (request->wanted[field])
        return true;
    for (size_t i = 0; i < request->fields->count; i++) {
        if (types[i] == PF_NO_FIELD)
            continue;
        if (request->wanted[i])
            return false;
        any |= i < field;
    }
    return !any;
}

/* "time,pid"; NULL: out of memory. */
static char *names_of(const struct pf_request *request, const uint8_t *types)
{
    size_t bytes = 1, used = 0;
    char *names;

    for (size_t i = 0; i < request->fields->count; i++)
        bytes += strlen(request->fields->all[i].name) + 1;
    if (!(names = malloc(bytes)))
        return NULL;
    *names = 0;
    for (size_t i = 0; i < request->fields->count; i++)
        if (is_read(request, types, i))
            used += (size_t)snprintf(names + used, bytes - used, "%s%s", used ? "," : "", request->fields->all[i].name);
    return names;
}

/* The log is over when a recording is read again, though its rows may be read for the first time. */
static void report_unmatched(void *context, const struct perfile_unmatched *unmatched)
{
    struct pf_log log = *(const struct pf_log *)context;

    log.over = false;
    pf_log_unmatched(&log, unmatched);
}

static int open_lent(struct pf_sources *sources, const struct pf_relation *relation,
                     const struct perfile_table_options *options, struct pf_opened *opened)
{
    struct pf_source *source = opened->source;
    struct perfile_error error;
    int result = lend(sources, source, &opened->lent);

    if (result < 0)
        return result;
    result =
        perfile_table_open(reader_of(sources, source, opened->lent), relation->view, options, &opened->table, &error);
    opened->lent->used = true;
    if (result < 0) {
        opened->lent->busy = false;
        return pf_sources_fail(sources, source, result, &error);
    }
    return 0;
}

static int open_table(struct pf_sources *sources, const struct pf_relation *relation, const struct pf_request *request,
                      struct pf_opened *opened)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    const size_t at = (size_t)(opened->source - sources->each);
    char *names = NULL;
    int result;

    fill_options(sources, opened->source, relation, &options);
    if (request) {
        names = names_of(request, request->fields->types + at * request->fields->count);
        if (!names)
            return pf_sources_fail(sources, opened->source, PERFILE_ERROR_MEMORY, NULL);
        options.columns = names;
        options.filter = &request->filter;
    }
    if (request && !request->is_pushed && !opened->source->was_asked) {
        options.unmatched = report_unmatched;
        options.unmatched_context = &sources->inputs.inputs[at].log;
    }
    result = open_lent(sources, relation, &options, opened);
    free(names);
    return result;
}

static void close_table(struct pf_opened *opened)
{
    perfile_table_close(opened->table);
    opened->lent->busy = false;
}

static const struct pf_source_kind kind = {.open = open_table, .close = close_table};

int pf_recordings_open(struct pf_sources *sources, const struct pf_settings *settings)
{
    const size_t count = sources->inputs.count;
    const int status = pf_recordings_list(sources, sources->inputs.command);

    sources->kind = &kind;
    sources->settings = settings;
    if (status)
        return status;
    if (!(sources->each = calloc(count ? count : 1, sizeof(*sources->each))))
        return fail_memory(sources);
    for (size_t i = 0; i < count; i++)
        if (!add_source(sources))
            return fail_memory(sources);
    for (size_t i = 0; i < sources->relation_count; i++) {
        sources->relations[i].sources = sources->each;
        sources->relations[i].source_count = count;
    }
    return PF_STATUS_OK;
}
