/* SPDX-License-Identifier: MIT */
/* What is odd about the recording, in order: what the reader reports, and features that cannot be read. */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "view/reading.h"

struct diagnostics {
    struct pf_reading reading; /* first */
    struct perfile_diagnostic one;
    char message[sizeof(((struct perfile_error *)0)->message)]; /* of rows that are not the reader's */
    size_t kept;                                                /* that the reader has */
    size_t next_feature;
    bool reported; /* how many the reader does not have */
    bool found;
};

#define ONE const struct perfile_diagnostic *one = &((const struct diagnostics *)state)->one

PF_PUT_AS(rule, ONE, pf_set_text, one->rule)

PF_PUT(severity)
{
    ONE;
    static const char *const severities[] = {"note", "warning", "loss"};
    pf_set_lasting(vector, severities[one->severity]);
}

PF_PUT_IF(offset, ONE, one->offset != PERFILE_NO_OFFSET, pf_set_u64, one->offset)
PF_PUT_IF(length, ONE, one->length, pf_set_u64, one->length)
PF_PUT_AS(file, ONE, pf_set_text, one->file)
PF_PUT_AS(message, ONE, pf_set_text, one->message)

static const struct pf_column columns[] = {
    PF_REQUIRED(rule, TEXT, "", "Rule that was broken, as check names it."),
    PF_REQUIRED(severity, TEXT, "",
                "note: harmless; warning: the recording says so itself; loss: bytes could not be used."),
    PF_COLUMN(offset, U64, "bytes", "Where, in the file or the stream; null: it has no offset."),
    PF_COLUMN(length, BYTES, "bytes", "How many bytes are affected; null: not known, or none."),
    PF_COLUMN(file, TEXT, "", "Directories: which file; null: the first one."),
    PF_REQUIRED(message, TEXT, "", "What is wrong, as a sentence."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The reader counts all of them, but keeps only the first ones. */
static bool report_rest(struct diagnostics *diagnostics)
{
    const struct perfile_counts *counts = perfile_reader_counts(diagnostics->reading.table->reader);
    const uint64_t all = counts->notes + counts->warnings + counts->losses;
    char count[PF_COUNTED_BYTES];
    if (diagnostics->reported || all <= diagnostics->kept)
        return false;
    diagnostics->reported = true;
    snprintf(diagnostics->message, sizeof(diagnostics->message), "%s",
             pf_count_of(all - diagnostics->kept, "further ones are not listed", count));
    diagnostics->one = (struct perfile_diagnostic){.rule = "not-listed",
                                                   .severity = counts->losses ? PERFILE_LOSS : PERFILE_WARNING,
                                                   .offset = PERFILE_NO_OFFSET,
                                                   .message = diagnostics->message};
    return true;
}

/* The next feature that cannot be read: 1, 0 when none is left, or MEMORY. */
static int describe_feature(struct diagnostics *diagnostics, struct perfile_error *error)
{
    const struct perfile_visitor none = {.size = sizeof(none)};
    struct perfile_reader *reader = diagnostics->reading.table->reader;
    const struct perfile_feature *feature;
    struct perfile_error damage;
    while ((feature = perfile_feature_get(reader, diagnostics->next_feature++)) != NULL) {
        if (!feature->readable || perfile_feature_visit(reader, feature->number, &none, &damage) >= 0)
            continue;
        if (damage.code == PERFILE_ERROR_MEMORY)
            return pf_fail_memory(error, "diagnostics");
        memcpy(diagnostics->message, damage.message, sizeof(diagnostics->message));
        diagnostics->one = (struct perfile_diagnostic){.rule = "feature-content",
                                                       .severity = PERFILE_WARNING,
                                                       .offset = feature->section.offset,
                                                       .length = feature->section.bytes,
                                                       .message = diagnostics->message};
        diagnostics->found = true;
        return 1;
    }
    return 0;
}

static int next_diagnostic(void *state, struct perfile_error *error)
{
    struct diagnostics *diagnostics = state;
    struct pf_reading *reading = &diagnostics->reading;
    const struct perfile_diagnostic *one;
    pf_reading_all(reading, NULL, NULL);
    if (reading->table->all.result != PERFILE_ERROR_MEMORY) {
        if ((one = perfile_diagnostic_get(reading->table->reader, diagnostics->kept)) != NULL) {
            diagnostics->one = *one;
            diagnostics->kept++;
            return 1;
        }
        const int more = report_rest(diagnostics) ? 1 : describe_feature(diagnostics, error);
        if (more != 0)
            return more;
    }
    return pf_table_row(reading->table, 0, error);
}

static int open_diagnostics(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct diagnostics *diagnostics = state;
    return pf_reading_open(&diagnostics->reading, table, PF_BY_FILE, error);
}

static void close_diagnostics(void *state)
{
    struct diagnostics *diagnostics = state;
    pf_reading_close(&diagnostics->reading);
}

static bool found(const void *state)
{
    const struct diagnostics *diagnostics = state;
    return diagnostics->found;
}

const struct pf_view pf_view_diagnostics = {
    .info = {"diagnostics", "everything that is irregular in the recording"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct diagnostics),
    .open = open_diagnostics,
    .next = next_diagnostic,
    .close = close_diagnostics,
    .found = found,
};
