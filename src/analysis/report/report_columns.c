/* SPDX-License-Identifier: MIT */
/*
 * Chooses the columns of a report, and those that its rows are sorted by: two lists, as in perf. --sort names the
 * columns that group and sort rows, --fields those that are printed; a column of only one of them is in both lists.
 */
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/function_name.h"

struct chosen {
    const struct pf_report_column *columns[PF_REPORT_COLUMNS];
    size_t count;
};

static bool has(const struct chosen *list, const struct pf_report_column *column)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->columns[i] == column)
            return true;
    return false;
}

static void add(struct chosen *list, const struct pf_report_column *column)
{
    if (!has(list, column))
        list->columns[list->count++] = column; /* each once, so all of them fit */
}

static void add_all(struct chosen *list, const struct chosen *more)
{
    for (size_t i = 0; i < more->count; i++)
        add(list, more->columns[i]);
}

/* "+LIST" adds to what is usual. */
static int parse(struct pf_report *report, const char *text, const char *usual, struct chosen *list,
                 struct perfile_error *error)
{
    if (text && *text != '+')
        return pf_report_columns_parse(report, text, list->columns, &list->count, error);
    int result = usual ? pf_report_columns_parse(report, usual, list->columns, &list->count, error) : 0;
    if (result == 0 && text)
        result = pf_report_columns_parse(report, text + 1, list->columns, &list->count, error);
    return result;
}

/* The text of tracepoints says more than their address. In pipe mode no event is known yet, as in perf. */
static bool has_only_tracepoints(const struct pf_report *report)
{
    const struct perfile_event *event;
    size_t count = 0;
    for (; (event = perfile_event_get(report->reader, count)) != NULL; count++)
        if (event->attr->type != PERFILE_TYPE_TRACEPOINT)
            return false;
    return count != 0;
}

/*
 * As in perf a list for --sort that has "overhead" in it, and be it in overhead_us, or "latency", says which shares
 * there are. Rows by latency have all of them.
 */
static bool chooses_shares(const struct pf_report *report)
{
    const char *list = report->options->report->sort;
    return list && !report->settings.by_latency && (strstr(list, "overhead") || strstr(list, "latency"));
}

/* The shares of rows, those that they are sorted by first. `with` and `self` are columns: of callers, too, and not. */
static const struct share {
    enum pf_column_number with, self;
} shares[] = {{PF_COLUMN_latency_children, PF_COLUMN_latency}, {PF_COLUMN_overhead_children, PF_COLUMN_overhead}};

static const struct share *shares_of(const struct pf_report *report)
{
    return &shares[report->settings.by_latency ? 0 : 1];
}

/* The order of rows: by their weight, unless the list says where that comes. */
static void choose_order(const struct pf_report *report, const struct chosen *sort, struct chosen *order)
{
    const bool chosen = chooses_shares(report);
    for (const struct share *share = shares_of(report); share < shares + PF_COUNT(shares) && !chosen; share++)
        if (report->settings.children)
            add(order, &pf_report_columns[share->with]);
    for (const struct share *share = shares_of(report); share < shares + PF_COUNT(shares) && !chosen; share++)
        add(order, &pf_report_columns[share->self]);
    add_all(order, sort);
}

/* The shares that a list chooses. */
static void add_chosen_shares(const struct pf_report *report, const struct chosen *sort, struct chosen *fields)
{
    const bool children = report->settings.children;
    for (size_t i = PF_COUNT(shares); i-- > 0;)
        if (children && has(sort, &pf_report_columns[shares[i].with]))
            add(fields, &pf_report_columns[shares[i].with]);
    for (size_t i = PF_COUNT(shares); i-- > 0;)
        if (has(sort, &pf_report_columns[shares[i].self]) ||
            (!children && has(sort, &pf_report_columns[shares[i].with])))
            add(fields, &pf_report_columns[shares[i].self]);
}

static void add_usual_fields(const struct pf_report *report, const struct chosen *sort, struct chosen *fields)
{
    static const struct chosen none = {.count = 0};
    const unsigned flags = report->options->report->flags;
    if (chooses_shares(report))
        add_chosen_shares(report, sort, fields);
    else
        choose_order(report, &none, fields);
    if (flags & PERFILE_REPORT_MODES) {
        add(fields, &pf_report_columns[PF_COLUMN_overhead_sys]);
        add(fields, &pf_report_columns[PF_COLUMN_overhead_us]);
    }
    if (flags & PERFILE_REPORT_SAMPLES)
        add(fields, &pf_report_columns[PF_COLUMN_sample]);
    if (flags & PERFILE_REPORT_PERIOD)
        add(fields, &pf_report_columns[PF_COLUMN_period]);
}

void pf_report_note_key(struct pf_report *report, const struct pf_report_column *column)
{
    report->layout.keys[report->layout.key_count++] = column;
    report->layout.by_frame |= column->of == PF_COLUMN_OF_FRAME;
    report->layout.by_code |= column->needs == PF_COLUMN_NEEDS_CODE;
    report->layout.by_sample |= column->kept && column->needs != PF_COLUMN_NEEDS_CODE;
    report->layout.by_stack |= column->needs == PF_COLUMN_NEEDS_FRAMES || column->needs == PF_COLUMN_NEEDS_CODE;
    report->layout.by_symbol |= column == &pf_report_columns[PF_COLUMN_symbol];
    report->layout.by_dso |= column == &pf_report_columns[PF_COLUMN_dso];
    report->layout.by_thread |=
        column == &pf_report_columns[PF_COLUMN_pid] || column == &pf_report_columns[PF_COLUMN_tgid];
    report->layout.by_parallelism |= column->needs == PF_COLUMN_NEEDS_PARALLELISM;
    report->layout.by_address |= column->distinguish || column->exact;
    if (column->kept)
        report->keys.kept[report->keys.kept_count++] = column->position;
}

static void keep(struct pf_report *report, const struct chosen *fields, const struct chosen *order)
{
    struct chosen all = *order;
    add_all(&all, fields);
    for (size_t i = 0; i < all.count; i++) {
        if (all.columns[i]->of != PF_COLUMN_OF_VALUE)
            pf_report_note_key(report, all.columns[i]);
        report->layout.by_mode |= all.columns[i]->needs == PF_COLUMN_NEEDS_MODES;
        report->layout.by_latency |=
            all.columns[i]->of == PF_COLUMN_OF_VALUE && all.columns[i]->needs == PF_COLUMN_NEEDS_PARALLELISM;
        report->layout.by_cost |= all.columns[i]->needs == PF_COLUMN_NEEDS_COSTS;
        report->layout.by_class |= all.columns[i]->needs == PF_COLUMN_NEEDS_CLASSES;
    }
    report->layout.by_parallelism |= report->layout.by_latency;
    memcpy(report->layout.columns, fields->columns, fields->count * sizeof(*fields->columns));
    report->layout.column_count = fields->count;
    memcpy(report->layout.sorts, all.columns, all.count * sizeof(*all.columns));
    report->layout.sort_count = all.count;
    report->layout.skip_first =
        report->layout.key_count && report->layout.keys[0] == &pf_report_columns[PF_COLUMN_symbol];
}

static int check_branches(const struct pf_report *report, struct perfile_error *error)
{
    for (size_t i = 0; i < report->layout.key_count && !report->branching.active; i++)
        if (pf_report_is_branch_column(report->layout.keys[i]))
            return pf_about(error, report->layout.keys[i]->name, strlen(report->layout.keys[i]->name),
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sort",
                                    "'%s' describes branches: it needs rows of branches",
                                    report->layout.keys[i]->name));
    return 0;
}

/* Of several requests the last one counts. */
static const char *last_request(const char *fields)
{
    const char *last = fields ? strrchr(fields, ';') : NULL;
    return last ? last + 1 : fields;
}

/* The last column is one that not all machines have. */
static const char *usual_of_memory(const struct pf_report *report)
{
#define USUAL "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat"
    return report->layout.x86 || report->layout.powerpc ? USUAL ",local_p_stage_cyc" : USUAL;
#undef USUAL
}

/* The list that --sort comes to, in one text. False when out of memory. */
static bool note_sort_order(struct pf_report *report, const char *list, const char *usual)
{
    if (list && *list != '+')
        report->layout.sort_order = list;
    else if (usual && (report->layout.sort_order = usual) && list) {
        const size_t first = strlen(usual), more = strlen(list);
        char *both = pf_arena_new(&report->texts.arena, first + more + 1);
        if (!both)
            return false;
        memcpy(both, usual, first);
        memcpy(both + first, list, more);
        both[first] = ',';
        report->layout.sort_order = both;
    }
    return true;
}

int pf_report_choose_columns(struct pf_report *report, struct perfile_error *error)
{
    const char *sort_list = report->options->report->sort;
    const char *field_list = last_request(report->options->fields);
    const bool strict = field_list && *field_list != '+';
    pf_report_see_machine(report);
    const char *usual = report->branching.history
                            ? "srcline,symbol,dso,callchain_branch_predicted,callchain_branch_abort,"
                              "callchain_branch_cycles"
                        : report->branching.active     ? "comm,dso_from,symbol_from,symbol_to,cycles"
                        : report->settings.by_weight   ? usual_of_memory(report)
                        : has_only_tracepoints(report) ? "trace"
                                                       : "comm,dso,symbol";
    struct chosen sort = {.count = 0}, fields = {.count = 0}, order = {.count = 0};
    int result = parse(report, sort_list, strict ? NULL : usual, &sort, error);
    if (result == 0 && !note_sort_order(report, sort_list, strict ? NULL : usual))
        result = pf_fail_memory(error, "report");
    if (result == 0 && report->options->report->parent)
        result = pf_report_columns_parse(report, "parent", sort.columns, &sort.count, error);
    if (strict)
        report->settings.children = report->settings.children &&
                                    (strstr(field_list, "overhead_children") || strstr(field_list, "latency_children"));
    else
        add_usual_fields(report, &sort, &fields);
    report->layout.snoop_shares = report->settings.by_weight;
    if (result == 0 && field_list)
        result = parse(report, field_list, NULL, &fields, error);
    if (result < 0)
        return result;
    if (strict)
        order = sort;
    else
        choose_order(report, &sort, &order);
    add_all(&fields, &sort);
    keep(report, &fields, &order);
    report->layout.by_address |=
        report->settings.order != PF_GRAPH_NONE && report->settings.graph_key != PF_GRAPH_FUNCTION;
    return check_branches(report, error);
}

static void remove_column(const struct pf_report_column **columns, size_t *count, const struct pf_report_column *column)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (columns[i] != column)
            columns[kept++] = columns[i];
    *count = kept;
}

static void hide(struct pf_report *report, int column)
{
    remove_column(report->layout.columns, &report->layout.column_count, &pf_report_columns[column]);
}

/* A column that would say the same in each row is not printed, as in perf, which has all levels of a hierarchy. */
static void hide_constants(struct pf_report *report)
{
    if (report->filters.threads.comms.wanted.count == 1)
        hide(report, PF_COLUMN_comm);
    if (report->filters.dsos.wanted.count == 1)
        hide(report, PF_COLUMN_dso);
    if (report->filters.names.wanted.count == 1 && !pf_function_is_pattern(report->filters.names.wanted.items[0]) &&
        !report->filters.inlined_passed)
        hide(report, PF_COLUMN_symbol);
}

void pf_report_drop_columns(struct pf_report *report)
{
    if (!report->settings.hierarchy)
        hide_constants(report);
    if (report->settings.children)
        return;
    for (size_t i = 0; i < PF_COUNT(shares); i++) {
        hide(report, shares[i].with);
        remove_column(report->layout.sorts, &report->layout.sort_count, &pf_report_columns[shares[i].with]);
    }
}
