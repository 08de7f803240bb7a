/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <perfile/table.h>

#define ROW(member) offsetof(struct perfile_diff_row, member)
#define COLUMN(what, as, text)                                                                                         \
    {                                                                                                                  \
        .size = sizeof(struct perfile_column), .name = what, .type = PERFILE_COLUMN_##as, .doc = text                  \
    }

static const struct {
    struct perfile_column column;
    size_t member;
    bool weight; /* in the unit of weights */
} columns[] = {
    {COLUMN("row", TEXT, "total: the sum of all; row: one of what was compared."), 0, false},
    {COLUMN("function", TEXT, "The function, without what compilers add to its name."), ROW(function), false},
    {COLUMN("module", TEXT, "The binary, without folders and minor version."), ROW(module), false},
    {COLUMN("line", TEXT, "The source line."), ROW(line), false},
    {COLUMN("thread", TEXT, "The name of the thread."), ROW(thread), false},
    {COLUMN("path", TEXT, "The call path, outermost function first."), ROW(path), false},
    {COLUMN("verdict", TEXT, "more, less, same or unsure."), ROW(verdict), false},
    {COLUMN("state", TEXT, "both, new, gone, renamed or inlined."), ROW(state), false},
    {COLUMN("other", TEXT, "renamed: the name before; inlined: the function that is part of the row."), ROW(other),
     false},
    {COLUMN("before", F64, "The mean weight of the recordings before."), ROW(before), true},
    {COLUMN("after", F64, "The mean weight of the recordings after."), ROW(after), true},
    {COLUMN("difference", F64, "After minus before."), ROW(difference), true},
    {COLUMN("ci_low", F64, "Where the 95 % interval of the difference begins."), ROW(low), true},
    {COLUMN("ci_high", F64, "Where the 95 % interval of the difference ends."), ROW(high), true},
    {COLUMN("p", F64, "The two-sided p value of the row alone."), ROW(p), false},
    {COLUMN("q", F64, "The same, adjusted for the number of rows."), ROW(q), false},
    {COLUMN("df", F64, "Degrees of freedom; none: of the normal distribution."), ROW(df), false},
    {COLUMN("detectable", F64, "The difference that would be found with a probability of 80 %."), ROW(detectable),
     true},
    {COLUMN("share_before", F64, "The percentage of the total before."), ROW(share_before), false},
    {COLUMN("share_after", F64, "The percentage of the total after."), ROW(share_after), false},
    {COLUMN("samples_before", U64, "The samples of all recordings before."), ROW(samples_before), false},
    {COLUMN("samples_after", U64, "The samples of all recordings after."), ROW(samples_after), false},
    {COLUMN("limit", F64, "The difference that is allowed; none without a limit."), ROW(limit), true},
    {COLUMN("limit_q", F64, "The one-sided p value of more than that, adjusted for the number of rows."), ROW(limit_q),
     false},
    {COLUMN("fails", BOOL, "More than the limit, significantly."), ROW(fails), false},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct source {
    const struct pf_diff_output *output;
    struct perfile_column shown[COLUMNS];
    const struct perfile_column *list[COLUMNS];
    struct perfile_diff_row row;
    size_t next; /* 0: the total */
};

static int next_row(void *context, struct perfile_error *error)
{
    struct source *source = context;

    (void)error;
    source->row = (struct perfile_diff_row)PERFILE_DIFF_ROW_INIT;
    if (!source->next++)
        return perfile_diff_total(source->output->diff, &source->row) == 0;
    return perfile_diff_row_at(source->output->diff, source->next - 2, &source->row) == 0;
}

static const char *text_of(const struct source *source, size_t column)
{
    static const char *const verdicts[] = {"unsure", "same", "more", "less"};
    static const char *const states[] = {"both", "new", "gone", "renamed", "inlined"};

    if (!column)
        return source->next == 1 ? "total" : "row";
    if (columns[column].member == ROW(verdict))
        return verdicts[source->row.verdict];
    if (columns[column].member == ROW(state))
        return states[source->row.state];
    return *(const char *const *)((const char *)&source->row + columns[column].member);
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct source *source = context;
    const void *member = (const char *)&source->row + columns[column].member;
    const bool has_limit =
        source->output->one_sided || columns[column].member < ROW(limit) || columns[column].member > ROW(limit_q);
    const char *text = columns[column].column.type == PERFILE_COLUMN_TEXT ? text_of(source, column) : NULL;

    if (text)
        *value =
            (struct perfile_value){.kind = PERFILE_VALUE_TEXT, .data = (const uint8_t *)text, .bytes = strlen(text)};
    else if (columns[column].column.type == PERFILE_COLUMN_U64)
        *value = (struct perfile_value){.kind = PERFILE_VALUE_UNSIGNED, .number.u = *(const uint64_t *)member};
    else if (columns[column].column.type == PERFILE_COLUMN_BOOL)
        *value = (struct perfile_value){.kind = PERFILE_VALUE_BOOL, .number.u = *(const bool *)member};
    else if (columns[column].column.type == PERFILE_COLUMN_F64 && has_limit &&
             *(const double *)member <= 1.7976931348623157e308)
        *value = (struct perfile_value){.kind = PERFILE_VALUE_DOUBLE, .number.d = *(const double *)member};
}

int pf_diff_put_table(const struct pf_diff_output *output, const char *verb, const char *format)
{
    struct source source = {.output = output};
    struct perfile_rows rows = PERFILE_ROWS_INIT;

    for (size_t i = 0; i < COLUMNS; i++) {
        source.shown[i] = columns[i].column;
        source.shown[i].unit = columns[i].weight ? output->info.unit : "";
        source.list[i] = &source.shown[i];
    }
    rows.view = "diff";
    rows.columns = source.list;
    rows.column_count = COLUMNS;
    rows.next = next_row;
    rows.value = put_value;
    rows.context = &source;
    return pf_stream_put_rows(output->stream, verb, &rows, format);
}
