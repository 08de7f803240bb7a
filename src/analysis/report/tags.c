/* SPDX-License-Identifier: MIT */
#include "analysis/report/tags.h"

#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pairs.h"

struct pf_tags {
    struct pf_report report; /* its columns, and what they need; it has no rows */
    struct perfile_output_options options;
    struct perfile_report_options report_options;
    struct perfile_symbol_options symbol_options;
    const struct pf_report_column *columns[PF_TAGS_MAX];
    size_t count;
    struct pf_pairs numbers; /* of keys, and frames if a column shows them */
    const char **texts;      /* `count` for each number */
    size_t number_count, text_capacity;
    bool addresses; /* columns of exact addresses are allowed */
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Rows of branches are not samples. */
static bool is_tag(const struct pf_report_column *column, bool addresses)
{
    const bool is_exact = column->exact || column->distinguish;
    return (!is_exact || addresses) && column->needs != PF_COLUMN_NEEDS_BRANCHES &&
           (column->kept || column->of == PF_COLUMN_OF_FRAME);
}

const char *pf_tag_at(size_t index, const char **doc)
{
    for (size_t i = 0; i < PF_COLUMN_COUNT; i++)
        if (is_tag(&pf_report_columns[i], true) && index-- == 0) {
            if (doc)
                *doc = pf_report_columns[i].doc;
            return pf_report_columns[i].name;
        }
    return NULL;
}

static int fail_column(const char *word, size_t bytes, const char *why, struct perfile_error *error)
{
    return pf_about(error, word, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "columns", "'%.*s' %s",
                            (int)pf_min(bytes, 40), word, why));
}

int pf_tags_add(struct pf_tags *tags, const char *word, size_t bytes, struct perfile_error *error)
{
    const struct pf_report_column *found[PF_REPORT_COLUMNS] = {NULL};
    size_t count = 0;
    if (tags->count == PF_TAGS_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "columns", "at most %d can be given",
                       PF_TAGS_MAX);
    char *name = pf_arena_text(&tags->report.texts.arena, word, bytes);
    if (!name)
        return pf_fail_memory(error, "columns");
    const int result = pf_report_columns_parse(&tags->report, name, found, &count, error);
    if (result < 0)
        return result;
    if (!is_tag(found[0], tags->addresses))
        return fail_column(word, bytes, "does not describe samples", error);
    for (size_t i = 0; i < tags->count; i++)
        if (tags->columns[i] == found[0])
            return fail_column(word, bytes, "is given twice", error);
    tags->columns[tags->count] = found[0];
    pf_report_note_key(&tags->report, found[0]);
    return (int)tags->count++;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

struct pf_tags *pf_tags_open(struct perfile_reader *reader, const struct perfile_allocator *allocator, bool addresses)
{
    struct pf_tags *tags = pf_new(allocator, sizeof(*tags));
    if (!tags)
        return NULL;
    tags->addresses = addresses;
    tags->options = (struct perfile_output_options){
        .allocator = allocator, .report = &tags->report_options, .symbols = &tags->symbol_options};
    pf_report_start(&tags->report, reader, &tags->options);
    pf_pairs_open(&tags->numbers, allocator);
    return tags;
}

void pf_tags_close(struct pf_tags *tags)
{
    if (!tags)
        return;
    const struct perfile_allocator *allocator = tags->report.allocator;
    tags->report.profile = NULL;
    pf_report_close(&tags->report);
    pf_pairs_close(&tags->numbers);
    pf_free(allocator, tags->texts, tags->text_capacity * sizeof(*tags->texts));
    pf_free(allocator, tags, sizeof(*tags));
}

int pf_tags_begin(struct pf_tags *tags, struct perfile_error *error)
{
    return pf_report_prepare(&tags->report, error);
}

bool pf_tags_need_decoded(const struct pf_tags *tags)
{
    return tags->report.keys.kept_count != 0;
}

bool pf_tags_need_addresses(const struct pf_tags *tags)
{
    return tags->report.layout.by_address;
}

bool pf_tags_need_parallelism(const struct pf_tags *tags)
{
    return tags->report.layout.by_parallelism;
}

void pf_tags_attach(struct pf_tags *tags, struct pf_profile *profile)
{
    tags->report.profile = profile;
    tags->report.symbols = pf_profile_symbols(profile);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

size_t pf_tags_count(const struct pf_tags *tags)
{
    return tags->count;
}

const char *pf_tags_name(const struct pf_tags *tags, size_t column)
{
    return tags->columns[column]->name;
}

const char *pf_tags_text(const struct pf_tags *tags, uint32_t number, size_t column)
{
    return tags->texts[number * tags->count + column];
}

/* NULL: out of memory. */
static const char *make_text(struct pf_report *report, const struct pf_report_column *column,
                             const struct pf_report_row *row)
{
    struct pf_text *text = &report->texts.scratch;
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    text->used = 0;
    if (column == &pf_report_columns[PF_COLUMN_symbol] && frame->name)
        pf_report_put_name(frame, text);
    else if (column == &pf_report_columns[PF_COLUMN_symbol])
        pf_report_put_address(frame->address, text);
    else
        column->text(report, row, text);
    while (text->used && text->data[text->used - 1] == ' ')
        text->used--;
    return (const char *)(uintptr_t)pf_report_intern_scratch(report);
}

static bool make_texts(struct pf_tags *tags, const struct pf_report_row *row)
{
    const size_t first = tags->number_count * tags->count;
    if (!pf_grow(tags->report.allocator, &tags->texts, &tags->text_capacity, first + tags->count, sizeof(*tags->texts)))
        return false;
    for (size_t i = 0; i < tags->count; i++)
        if (!(tags->texts[first + i] = make_text(&tags->report, tags->columns[i], row)))
            return false;
    return ++tags->number_count < UINT32_MAX;
}

uint32_t pf_tags_number(struct pf_tags *tags, const struct pf_profile_sample *sample)
{
    struct pf_report *report = &tags->report;
    struct pf_report_keyed keyed = {.key = {.comm = NULL}};
    uint32_t number;
    for (size_t i = 0; i < tags->count; i++)
        if (tags->columns[i]->take)
            tags->columns[i]->take(report, &keyed, sample);
    const uint32_t key = pf_report_find_key(&report->keys, &keyed);
    const uint32_t frame = report->layout.by_frame ? sample->leaf : PF_NO_SYMBOL;
    if (key == PF_REPORT_NO_KEY || report->texts.short_of_memory)
        return UINT32_MAX;
    if (pf_pairs_get(&tags->numbers, key, frame, &number))
        return number;
    const bool in_kernel = frame != PF_NO_SYMBOL && pf_profile_frame(report->profile, frame)->kind == PF_FRAME_KERNEL;
    const struct pf_report_row row = {.key = key, .frame = frame, .samples = 1, .level = in_kernel ? 'k' : '.'};
    number = (uint32_t)tags->number_count;
    return make_texts(tags, &row) && pf_pairs_put(&tags->numbers, key, frame, number) ? number : UINT32_MAX;
}
