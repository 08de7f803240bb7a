/* SPDX-License-Identifier: MIT */
/*
 * What changed between recordings: a row for the total, then one for each that was compared. The table has no recording
 * of its own.
 */
#include <math.h>

#include <perfile/diff.h>

#include "base/error.h"
#include "base/sized.h"
#include "view/view.h"

struct diff {
    const struct perfile_diff *of;
    struct perfile_diff_info info;
    struct perfile_diff_row row;
    size_t next; /* 0: the total */
};

#define DIFF const struct diff *diff = state

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

PF_PUT_AS(row, DIFF, pf_set_lasting, diff->next == 1 ? "total" : "row")

#define PUT_TEXT(name) PF_PUT_AS(name, DIFF, pf_set_lasting, diff->row.name)
PUT_TEXT(function)
PUT_TEXT(module)
PUT_TEXT(line)
PUT_TEXT(thread)
PUT_TEXT(tags)
PUT_TEXT(path)
PUT_TEXT(other)

PF_PUT(verdict)
{
    static const char *const verdicts[] = {"unsure", "same", "more", "less"};
    DIFF;
    pf_set_lasting(vector, verdicts[diff->row.verdict]);
}

PF_PUT(state)
{
    static const char *const states[] = {"both", "new", "gone", "renamed", "inlined", "split"};
    DIFF;
    pf_set_lasting(vector, states[diff->row.state]);
}

static void put_number(struct pf_vector *vector, double number, bool known)
{
    if (known && isfinite(number))
        pf_set_f64(vector, number);
    else
        pf_set_null(vector);
}

#define PUT_NUMBER(name, member, known) PF_PUT_AS(name, DIFF, put_number, diff->row.member, known)
PUT_NUMBER(before, before, true)
PUT_NUMBER(after, after, true)
PUT_NUMBER(difference, difference, true)
PUT_NUMBER(ci_low, low, true)
PUT_NUMBER(ci_high, high, true)
PUT_NUMBER(p, p, true)
PUT_NUMBER(q, q, true)
PUT_NUMBER(df, df, true)
PUT_NUMBER(detectable, detectable, true)
PUT_NUMBER(share_before, share_before, true)
PUT_NUMBER(share_after, share_after, true)
PUT_NUMBER(limit, limit, diff->info.has_limit)
PUT_NUMBER(limit_q, limit_q, diff->info.has_limit)

#define PUT_COUNT(name, from) PF_PUT_AS(name, DIFF, pf_set_u64, diff->from)
PUT_COUNT(samples_before, row.samples_before)
PUT_COUNT(samples_after, row.samples_after)
PUT_COUNT(recordings_before, info.before_count)
PUT_COUNT(recordings_after, info.after_count)

#define PUT_BOOL(name) PF_PUT_AS(name, DIFF, pf_set_bool, diff->row.name)
PUT_BOOL(fails)
PUT_BOOL(left_out)
PUT_BOOL(in_family)

PF_PUT_IF(parent, DIFF, diff->row.parent != PERFILE_NO_ID, pf_set_u32, diff->row.parent)
PF_PUT_AS(event, DIFF, pf_set_lasting, diff->info.event)

/* In the unit of the comparison. */
#define WEIGHT "weight"

static const struct pf_column columns[] = {
    PF_REQUIRED(row, TEXT, "", "total: the sum of all; row: one of what was compared."),
    PF_COLUMN(function, TEXT, "", "The function, without what compilers add to its name."),
    PF_COLUMN(module, TEXT, "", "The binary, without folders and minor version."),
    PF_COLUMN(line, TEXT, "", "The source line."),
    PF_COLUMN(thread, TEXT, "", "The name of the thread."),
    PF_COLUMN(path, TEXT, "", "The call path, outermost function first."),
    PF_EXTRA(tags, TEXT, "", "What the other keys are: mem=L1 hit, cpu=3. Shown if rows are of such keys."),
    PF_REQUIRED(verdict, TEXT, "", "more, less, same or unsure."),
    PF_REQUIRED(state, TEXT, "", "both, new, gone, renamed, inlined or split."),
    PF_COLUMN(other, TEXT, "", "renamed: the name before; inlined, split: the function that is part of the row."),
    PF_COLUMN(before, F64, WEIGHT, "The mean weight of the recordings before."),
    PF_COLUMN(after, F64, WEIGHT, "The mean weight of the recordings after."),
    PF_COLUMN(difference, F64, WEIGHT, "After minus before."),
    PF_COLUMN(ci_low, F64, WEIGHT, "Where the 95 % interval of the difference begins."),
    PF_COLUMN(ci_high, F64, WEIGHT, "Where the 95 % interval of the difference ends."),
    PF_COLUMN(p, F64, "", "The two-sided p value of the row alone."),
    PF_COLUMN(q, F64, "", "The same, adjusted for the number of rows."),
    PF_COLUMN(df, F64, "", "Degrees of freedom; none: of the normal distribution."),
    PF_COLUMN(detectable, F64, WEIGHT,
              "The difference that would be found with a probability of 80 %, were it the only one."),
    PF_COLUMN(share_before, F64, "percent", "The percentage of the total before."),
    PF_COLUMN(share_after, F64, "percent", "The percentage of the total after."),
    PF_REQUIRED(samples_before, U64, "samples", "The samples of all recordings before."),
    PF_REQUIRED(samples_after, U64, "samples", "The samples of all recordings after."),
    PF_COLUMN(limit, F64, WEIGHT, "The difference that is allowed; none without a limit."),
    PF_COLUMN(limit_q, F64, "", "The one-sided p value of more than that, adjusted for the number of rows."),
    PF_REQUIRED(fails, BOOL, "", "More than the limit, significantly."),
    PF_REQUIRED_EXTRA(left_out, BOOL, "", "The limit is not for this row."),
    PF_REQUIRED_EXTRA(in_family, BOOL, "", "At least 0.5 % of all: only these rows can be more or less."),
    PF_EXTRA(parent, U32, "", "Of call paths: which row is the caller's, from 0 without the total."),
    PF_EXTRA(event, TEXT, "", "What was counted."),
    PF_REQUIRED_EXTRA(recordings_before, U64, "recordings", "How many there are before."),
    PF_REQUIRED_EXTRA(recordings_after, U64, "recordings", "How many there are after."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int next_row(void *state, struct perfile_error *error)
{
    struct diff *diff = state;
    (void)error;
    diff->row = (struct perfile_diff_row)PERFILE_DIFF_ROW_INIT;
    if (!diff->next++)
        return perfile_diff_total(diff->of, &diff->row) == 0;
    return perfile_diff_row_at(diff->of, diff->next - 2, &diff->row) == 0;
}

/* Adds the columns. The state is there already: it was made with the table. */
static int open_diff(struct perfile_table *table, void *state, struct perfile_error *error)
{
    const struct diff *diff = state;
    bool fine = true;
    for (size_t i = 0; fine && i < PF_COUNT(columns); i++) {
        struct pf_column column = columns[i];
        if (strcmp(column.unit, WEIGHT) == 0)
            column.unit = diff->info.unit;
        if (column.put == put_tags)
            column.extra = !diff->info.has_tags;
        fine = pf_table_add(table, &column);
    }
    return fine ? 0 : pf_fail_memory(error, "diff");
}

static void put_notes(void *state, pf_on_note *notify, void *context)
{
    DIFF;
    const char *note;
    for (size_t i = 0; (note = perfile_diff_note_at(diff->of, i)) != NULL; i++)
        notify(context, note);
}

const struct pf_view pf_view_diff = {
    .info = {"diff", "what changed between recordings, with intervals and verdicts"},
    .lists = {PF_COLUMNS(columns)},
    .open = open_diff,
    .next = next_row,
    .state_bytes = sizeof(struct diff),
    .notes = put_notes,
};

static int give_diff(struct perfile_table *table, const struct perfile_diff *of, struct perfile_error *error)
{
    struct diff *diff = pf_new(table->allocator, sizeof(*diff));
    if (!diff)
        return pf_fail_memory(error, "diff");
    *diff = (struct diff){.of = of, .info = PERFILE_DIFF_INFO_INIT};
    table->state = diff;
    table->view = &pf_view_diff;
    return perfile_diff_describe(of, &diff->info);
}

int perfile_table_of_diff(const struct perfile_diff *diff, const struct perfile_table_options *options,
                          struct perfile_table **table, struct perfile_error *error)
{
    struct perfile_table_options all = PERFILE_TABLE_OPTIONS_INIT;
    if (table)
        *table = NULL;
    if (!table || !diff)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table", "no %s given",
                       diff ? "pointer to the table" : "comparison");
    int result = pf_sized_take(&all, sizeof(all), options, "table options", error);
    if (result == 0)
        result = pf_table_make(NULL, &all, table, error);
    if (result == 0)
        result = give_diff(*table, diff, error);
    if (result == 0)
        return pf_table_start(table, error);
    perfile_table_close(*table);
    *table = NULL;
    return result;
}
