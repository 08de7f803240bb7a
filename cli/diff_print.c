/* SPDX-License-Identifier: MIT */
#include "diff.h"
#include "message.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

struct scale {
    double factor;
    const char *unit;
};
static const struct scale times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
static const struct scale counts[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};

/* "113.9 ms", "1.3 G", "17.8%": signed shows a plus. */
static const char *weight_text(const struct pf_diff_output *output, double weight, bool is_signed, char text[32])
{
    const char *unit = output->info.unit ? output->info.unit : "";
    const struct scale *scale = !strcmp(unit, "ns") ? times : counts;
    const double size = fabs(weight);

    if (unit[0] == '%') {
        snprintf(text, 32, is_signed ? "%+.2f%%" : "%.2f%%", weight);
        return text;
    }
    for (; scale->factor > 1 && size < scale->factor; scale++)
        ;
    const double value = weight / scale->factor;

    if (size == 0)
        return "0";
    snprintf(text, 32, is_signed ? "%+.*f%s" : "%.*f%s",
             scale->factor == 1 && size >= 1 ? 0
             : fabs(value) < 10              ? 2
                                             : 1,
             value, scale->unit);
    return text;
}

const char *pf_diff_percent(const struct perfile_diff_row *row, char text[32])
{
    if (row->before > 0)
        snprintf(text, 32, "%+.1f%%", 100 * row->difference / row->before);
    else
        snprintf(text, 32, "%s", row->after > 0 ? "new" : "");
    return text;
}

/* The interval in percent, or of what is new in weight. */
static void put_interval(const struct pf_diff_output *output, const struct perfile_diff_row *row, char *text,
                         size_t capacity)
{
    char low[32], high[32];

    if (row->before > 0 && row->after > 0)
        snprintf(text, capacity, "%+.1f%% to %+.1f%%", 100 * row->low / row->before, 100 * row->high / row->before);
    else
        snprintf(text, capacity, "%s to %s", weight_text(output, row->low, true, low),
                 weight_text(output, row->high, true, high));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *pf_diff_name(const struct perfile_diff_row *row, char *text, size_t capacity)
{
    const char *parts[] = {
        row->path, row->path ? NULL : row->function, row->line, row->path ? NULL : row->module, row->thread, row->tags};
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i] && used < capacity - 1)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? "  " : "", parts[i]);
    if (!text[0])
        snprintf(text, capacity, "total");
    return text;
}

static const char *remark(const struct perfile_diff_row *row, char *text, size_t capacity)
{
    text[0] = 0;
    if (row->other && row->state == PERFILE_DIFF_RENAMED)
        snprintf(text, capacity, "  (renamed? was %s)", row->other);
    else if (row->other && row->state == PERFILE_DIFF_INLINED)
        snprintf(text, capacity, "  (with %s: inlined?)", row->other);
    else if (row->other && row->state == PERFILE_DIFF_SPLIT)
        snprintf(text, capacity, "  (with %s: split?)", row->other);
    return text;
}

enum { NARROW = 100, NARROWEST = 60 };

static bool is_narrow(const struct pf_diff_output *output, size_t columns)
{
    return output->columns && output->columns < columns;
}

/* On the narrowest terminals either the function or, where it is not known, its file. */
static void leave_one_name(const struct pf_diff_output *output, struct perfile_diff_row *row)
{
    if (!is_narrow(output, NARROWEST) || !row->function || !row->module || row->path)
        return;
    if (*row->function == '[')
        row->function = row->module;
    row->module = NULL;
}

/* On a terminal, the name of the function gets the width that the other columns leave. */
static void put_name(const struct pf_diff_output *output, const struct perfile_diff_row *row, size_t used)
{
    enum { CAPACITY = 4096 };
    const size_t min = is_narrow(output, NARROWEST) ? 12 : 20;
    char name[CAPACITY], other[512], escaped[4 * CAPACITY];
    struct perfile_diff_row shown = *row;
    leave_one_name(output, &shown);
    const size_t module = shown.module && shown.function && !row->path ? perfile_name_columns(row->module) + 2 : 0;
    const size_t left = output->columns > used + module + min ? output->columns - used - module : min;
    char fitted[CAPACITY];

    remark(row, other, sizeof(other));
    if (output->columns && (shown.function || shown.path)) {
        const size_t capacity = left > strlen(other) + min ? left - strlen(other) : min;
        perfile_name_fit(shown.path ? shown.path : shown.function, capacity, fitted, sizeof(fitted));
        *(shown.path ? &shown.path : &shown.function) = fitted;
    }
    pf_diff_name(&shown, name, sizeof(name));
    perfile_text_escape(name, strlen(name), escaped, sizeof(escaped));
    pf_stream_print(output->stream, "%s", escaped);
    perfile_text_escape(other, strlen(other), escaped, sizeof(escaped));
    pf_stream_print(output->stream, "%s\n", escaped);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The columns before the name: on a narrow terminal those that leave it half of the line. */
static void put_columns(const struct pf_diff_output *output, const char *const cells[5], char *line, size_t capacity)
{
    if (is_narrow(output, NARROWEST))
        snprintf(line, capacity, "%10s %8s  ", cells[1], cells[3]);
    else if (is_narrow(output, NARROW))
        snprintf(line, capacity, "%10s %11s %8s  ", cells[1], cells[2], cells[3]);
    else
        snprintf(line, capacity, "%10s %10s %11s %8s  %-22s  ", cells[0], cells[1], cells[2], cells[3], cells[4]);
}

static void put_row(const struct pf_diff_output *output, const struct perfile_diff_row *row)
{
    char before[32], after[32], difference[32], percent[32], interval[72], line[256];
    const char *const cells[] = {weight_text(output, row->before, false, before),
                                 weight_text(output, row->after, false, after),
                                 weight_text(output, row->difference, true, difference),
                                 row->before > 0 ? pf_diff_percent(row, percent) : "", interval};

    put_interval(output, row, interval, sizeof(interval));
    put_columns(output, cells, line, sizeof(line));
    pf_stream_print(output->stream, "%c %s", row->fails ? '!' : ' ', line);
    put_name(output, row, strlen(line) + 2);
}

enum group { SLOWER, FASTER, NEW, GONE, UNSURE, SAME, GROUPS };
static const char *const titles[] = {"more", "less", "new", "gone", "unsure", "same"};

static enum group group_of(const struct perfile_diff_row *row)
{
    if (row->verdict == PERFILE_DIFF_SAME)
        return SAME;
    if (row->verdict == PERFILE_DIFF_UNSURE)
        return UNSURE;
    if (row->state == PERFILE_DIFF_NEW || row->state == PERFILE_DIFF_GONE)
        return row->state == PERFILE_DIFF_NEW ? NEW : GONE;
    return row->verdict == PERFILE_DIFF_MORE ? SLOWER : FASTER;
}

/* "slower" of time. */
static const char *title_of(const struct pf_diff_output *output, enum group group)
{
    const bool is_time = output->info.unit && !strcmp(output->info.unit, "ns");

    return group == SLOWER && is_time ? "slower" : group == FASTER && is_time ? "faster" : titles[group];
}

static void put_title(const struct pf_diff_output *output, const char *title)
{
    static const char *const bold[2][2] = {{"", ""}, {"\033[1m", "\033[m"}};

    pf_stream_print(output->stream, "\n%s%s%s\n", bold[output->color][0], title, bold[output->color][1]);
}

/* Rows that fail are shown whatever their verdict is. */
static bool is_listed(const struct perfile_diff_row *row, enum group group)
{
    return group_of(row) == group || (row->fails && group == SLOWER && group_of(row) >= UNSURE);
}

static size_t put_group(const struct pf_diff_output *output, enum group group, size_t max)
{
    size_t count = 0;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;

    for (size_t i = 0; perfile_diff_row_at(output->diff, i, &row) == 0; i++) {
        if (!is_listed(&row, group) || count++ >= max)
            continue;
        if (count == 1)
            put_title(output, title_of(output, group));
        put_row(output, &row);
    }
    if (count > max && max)
        pf_stream_print(output->stream, "  and %zu more\n", count - max);
    return count;
}

static void put_header(const struct pf_diff_output *output)
{
    const struct perfile_diff_info *info = &output->info;
    const bool relative = pf_diff_own(output->settings)->relative;
    const char *const heads[] = {"before", "after", "difference", is_narrow(output, NARROWEST) ? "change" : "",
                                 "95% interval"};
    char recordings[PF_COUNTED_BYTES], line[256];

    pf_stream_put_name(output->stream, "", info->event ? info->event : "?", "");
    pf_stream_print(output->stream, ": %s, %zu after%s%s%s%s\n",
                    pf_counted(info->before_count, "recordings before", recordings), info->after_count,
                    is_narrow(output, NARROW) ? "\n" : "; ",
                    relative ? "percent of each recording" : "mean weight of a recording",
                    pf_diff_own(output->settings)->inclusive ? ", with callees" : "",
                    info->sampling_only && !is_narrow(output, NARROW) ? "; intervals cover sampling error only" : "");
    if (pf_diff_own(output->settings)->per || pf_diff_own(output->settings)->work)
        pf_stream_print(output->stream, "weights are in %s\n", info->unit);
    put_columns(output, heads, line, sizeof(line));
    size_t used = strlen(line);
    while (used && line[used - 1] == ' ')
        used--;
    pf_stream_print(output->stream, "\n  %.*s\n", (int)used, line);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Prints how large an undetected difference may be: the median of the unsure rows. */
static void put_noise(const struct pf_diff_output *output, size_t unsure, size_t same)
{
    const size_t capacity = perfile_diff_row_count(output->diff);
    double *sizes = calloc(capacity + 1, sizeof(*sizes));
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    size_t count = 0;

    if (!sizes)
        output->stream->error = ENOMEM;
    for (size_t i = 0; sizes && perfile_diff_row_at(output->diff, i, &row) == 0; i++)
        if (row.in_family && row.before > 0 && row.verdict == PERFILE_DIFF_UNSURE)
            sizes[count++] = 100 * row.detectable / row.before;
    pf_stream_print(output->stream, "\n%zu row%s within %g%%, %zu unsure", same,
                    same == 1 ? " unchanged" : "s unchanged", 100 * output->info.margin, unsure);
    if (count && !output->info.sampling_only) {
        qsort(sizes, count, sizeof(*sizes), by_size);
        pf_stream_print(output->stream, "; smallest detectable change of the %zu largest (median): %.0f%%", count,
                        sizes[count / 2]);
    }
    pf_stream_print(output->stream, "\n");
    free(sizes);
}

/* ---- the gate ---------------------------------------------------------------------------------------------------- */

/* "3% of their time before" and the like: what the gate allows. */
static const char *limit_text(const struct pf_diff_output *output, char text[64])
{
    snprintf(text, 64, "%.40s", pf_diff_own(output->settings)->fail_above);
    return text;
}

void pf_diff_explain(const struct pf_diff_output *output, const struct perfile_diff_row *row, char *text,
                     size_t capacity)
{
    char before[32], after[32], percent[32], interval[72], limit[64], full[4096], name[1024];

    put_interval(output, row, interval, sizeof(interval));
    perfile_name_fit(pf_diff_name(row, full, sizeof(full)), 200, name, sizeof(name));
    snprintf(text, capacity, "%s: %s -> %s (%s, 95%% interval %s)%s%s", name,
             weight_text(output, row->before, false, before), weight_text(output, row->after, false, after),
             pf_diff_percent(row, percent), interval, row->fails ? "; the limit is " : "",
             row->fails ? limit_text(output, limit) : "");
}

static void put_gate(const struct pf_diff_output *output)
{
    char limit[64];
    const bool of_total =
        pf_diff_own(output->settings)->fail_on && !strcmp(pf_diff_own(output->settings)->fail_on, "total");

    if (output->info.sampling_only)
        pf_stream_print(output->stream, "\ngate: nothing can be concluded from so few recordings\n");
    else if (!output->info.failing)
        pf_stream_print(output->stream, "\ngate: passed: %s is more than %s above before (level %g)\n",
                        of_total ? "the total" : "no row", limit_text(output, limit), output->info.limit_alpha);
    else
        pf_stream_print(output->stream, "\ngate: FAILED: %s more than %s above before (level %g)%s\n",
                        of_total                    ? "the total is"
                        : output->info.failing == 1 ? "a row is"
                                                    : "rows are",
                        limit_text(output, limit), output->info.limit_alpha, of_total ? "" : ", marked !");
}

void pf_diff_print(const struct pf_diff_output *output)
{
    const bool all = pf_diff_own(output->settings)->all;
    size_t counts_of[GROUPS];
    struct perfile_diff_row total = PERFILE_DIFF_ROW_INIT;

    put_header(output);
    if (perfile_diff_total(output->diff, &total) == 0)
        put_row(output, &total);
    for (enum group group = SLOWER; group < GROUPS; group++)
        counts_of[group] = put_group(output, group,
                                     all || group < UNSURE                           ? SIZE_MAX
                                     : group == UNSURE && output->info.sampling_only ? 20
                                                                                     : 0);
    if (!counts_of[SLOWER] && !counts_of[FASTER] && !counts_of[NEW] && !counts_of[GONE] && !output->info.sampling_only)
        pf_stream_print(output->stream, "\nno significant change\n");
    put_noise(output, counts_of[UNSURE], counts_of[SAME]);
    if (output->one_sided)
        put_gate(output);
}

/* ---- the call tree ----------------------------------------------------------------------------------------------- */

struct tree {
    const struct pf_diff_output *output;
    size_t count;
    uint32_t *first, *next; /* children, and what is beside: numbers plus one */
    bool *shown;
};

static bool matters(const struct pf_diff_output *output, const struct perfile_diff_row *row)
{
    if (output->info.sampling_only)
        return row->low > 0 || row->high < 0 ? row->in_family : false;
    return row->verdict == PERFILE_DIFF_MORE || row->verdict == PERFILE_DIFF_LESS || row->fails;
}

/* Links the changed rows and their callers to a tree; children keep the order of rows. */
static void link_tree(struct tree *tree)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;

    for (size_t i = tree->count; i-- > 0;) {
        if (perfile_diff_row_at(tree->output->diff, i, &row) < 0)
            continue;
        const size_t parent = row.parent == PERFILE_NO_ID ? tree->count : row.parent;
        tree->next[i] = tree->first[parent];
        tree->first[parent] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < tree->count; i++) {
        size_t at = i;
        if (perfile_diff_row_at(tree->output->diff, i, &row) < 0 || !matters(tree->output, &row))
            continue;
        while (!tree->shown[at] && perfile_diff_row_at(tree->output->diff, at, &row) == 0) {
            tree->shown[at] = true;
            if (row.parent == PERFILE_NO_ID)
                break;
            at = row.parent;
        }
    }
}

static void put_node(const struct pf_diff_output *output, struct perfile_diff_row *row, unsigned depth)
{
    enum { DEEPEST = 40 };
    static const char *const marks[] = {"?", "=", "+", "-"};
    char difference[32], percent[32], line[128], name[1024], escaped[4096];
    const unsigned indent = depth < DEEPEST ? depth : DEEPEST;

    snprintf(line, sizeof(line), "%c%s %11s %8s  %*s", row->fails ? '!' : ' ', marks[row->verdict],
             weight_text(output, row->difference, true, difference), pf_diff_percent(row, percent), (int)indent, "");
    const size_t left = output->columns > strlen(line) + 20 ? output->columns - strlen(line) : 20;
    perfile_name_fit(row->function ? row->function : "?", output->columns ? left : 500, name, sizeof(name));
    perfile_text_escape(name, strlen(name), escaped, sizeof(escaped));
    pf_stream_print(output->stream, "%s%s\n", line, escaped);
}

static void put_nodes(const struct tree *tree)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    unsigned depth = 0;

    for (uint32_t at = tree->first[tree->count]; at;) {
        const size_t i = at - 1;
        if (perfile_diff_row_at(tree->output->diff, i, &row) < 0)
            return;
        if (tree->shown[i])
            put_node(tree->output, &row, depth);
        if (tree->shown[i] && tree->first[i]) {
            at = tree->first[i];
            depth++;
            continue;
        }
        at = tree->next[i];
        while (!at && row.parent != PERFILE_NO_ID) {
            at = tree->next[row.parent];
            depth--;
            if (perfile_diff_row_at(tree->output->diff, row.parent, &row) < 0)
                return;
        }
    }
}

void pf_diff_print_tree(const struct pf_diff_output *output)
{
    struct tree tree = {.output = output, .count = perfile_diff_row_count(output->diff)};
    const bool fine = (tree.first = calloc(tree.count + 1, sizeof(*tree.first))) &&
                      (tree.next = calloc(tree.count + 1, sizeof(*tree.next))) &&
                      (tree.shown = calloc(tree.count + 1, sizeof(*tree.shown)));

    if (fine) {
        link_tree(&tree);
        pf_stream_put_name(output->stream, "", output->info.event ? output->info.event : "?", "");
        pf_stream_print(output->stream,
                        ": where in the call tree, with callees; + more, - less, = same, ? unsure: %s\n\n",
                        output->info.sampling_only ? "changes that are more than the error of sampling"
                                                   : "significant changes and their callers");
        put_nodes(&tree);
    }
    free(tree.first);
    free(tree.next);
    free(tree.shown);
    if (fine && output->one_sided)
        put_gate(output);
    if (!fine)
        output->stream->error = ENOMEM; /* closing it says so */
}
