/* SPDX-License-Identifier: MIT */
/* Taken branches by binary, and the code between them: what profiles for optimisers are made of (<perfile/pgo.h>). */
#include "analysis/pgo/pgo.h"

#include "base/error.h"
#include "view/view.h"

struct branches {
    struct perfile_table *table;
    bool of_ranges;
    struct perfile_pgo *pgo;
    const struct pf_pgo_profile *profile; /* of the row */
    size_t binary, next;                  /* of the next row: its binary, and its number in that */
    size_t row;
};

#define PROFILE const struct pf_pgo_profile *profile = ((const struct branches *)state)->profile
#define BRANCH                                                                                                         \
    const struct branches *view = state;                                                                               \
    const struct pf_pgo_branch *branch = &view->profile->branches[view->row]
#define RANGE                                                                                                          \
    const struct branches *view = state;                                                                               \
    const struct pf_pgo_range *range = &view->profile->ranges[view->row]

PF_PUT_AS(dso, PROFILE, pf_set_lasting, profile->name)
PF_PUT_IF(path, PROFILE, profile->path, pf_set_lasting, profile->path)
PF_PUT_IF(from, BRANCH, branch->from != PERFILE_PGO_OUTSIDE, pf_set_u64, branch->from)
PF_PUT_IF(to, BRANCH, branch->to != PERFILE_PGO_OUTSIDE, pf_set_u64, branch->to)
PF_PUT_AS(mispredicted, BRANCH, pf_set_u64, branch->mispredicted)
PF_PUT_IF(type, BRANCH, branch->type, pf_set_lasting, perfile_enum_name("branch_type", branch->type))
PF_PUT_AS(begin, RANGE, pf_set_u64, range->begin)
PF_PUT_AS(end, RANGE, pf_set_u64, range->end)

PF_PUT(count)
{
    const struct branches *view = state;
    pf_set_u64(vector,
               view->of_ranges ? view->profile->ranges[view->row].count : view->profile->branches[view->row].count);
}

#define BINARY_COLUMN PF_REQUIRED(dso, TEXT, "", "The binary, as the recording names it.")
#define PATH_COLUMN PF_EXTRA(path, TEXT, "", "Its file here; null: it was not found, and addresses are offsets in it.")

static const struct pf_column branch_columns[] = {
    BINARY_COLUMN,
    PF_COLUMN(from, ADDRESS, "", "Address of the branch in the ELF file; null: in other code."),
    PF_COLUMN(to, ADDRESS, "", "Where it went; null: to other code."),
    PF_REQUIRED(count, U64, "", "How often it was taken, in branch stacks."),
    PF_REQUIRED(mispredicted, U64, "", "Of these, how often it was predicted wrong."),
    PF_COLUMN(type, TEXT, "", "Kind of branch, such as COND or CALL; null: not recorded."),
    PATH_COLUMN,
};

static const struct pf_column range_columns[] = {
    BINARY_COLUMN,
    PF_REQUIRED(begin, ADDRESS, "", "Where a branch went, in the ELF file."),
    PF_REQUIRED(end, ADDRESS, "", "Address of the next branch that was taken."),
    PF_REQUIRED(count, U64, "", "How often all of the code between them ran, in branch stacks."),
    PATH_COLUMN,
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void read_all(struct branches *view)
{
    const struct perfile_table_options *options = &view->table->options;
    struct perfile_pgo_options how = PERFILE_PGO_OPTIONS_INIT;
    struct pf_all_rows *all = &view->table->all;
    struct perfile_error ignored;
    how.filter = options->filter;
    how.symbols = options->symbols;
    how.progress = options->progress;
    how.progress_context = options->progress_context;
    how.unmatched = options->unmatched;
    how.unmatched_context = options->unmatched_context;
    how.allocator = view->table->allocator;
    all->read = true;
    all->result = perfile_pgo_open(&how, &view->pgo, &all->error);
    if (all->result < 0)
        return;
    all->result = perfile_pgo_add(view->pgo, view->table->reader, &all->error);
    const int ended = perfile_pgo_end(view->pgo, all->result < 0 ? &ignored : &all->error);
    all->result = all->result < 0 ? all->result : ended;
}

static int next_row(void *state, struct perfile_error *error)
{
    struct branches *view = state;
    const struct pf_all_rows *all = &view->table->all;
    if (!all->read)
        read_all(view);
    /* rows that are known by then come also where the reading ended with an error */
    while (view->pgo && all->result != PERFILE_ERROR_MEMORY &&
           (view->profile = pf_pgo_profile_at(view->pgo, view->binary))) {
        view->row = view->next++;
        if (view->row < (view->of_ranges ? view->profile->range_count : view->profile->branch_count))
            return 1;
        view->binary++;
        view->next = 0;
    }
    if (all->result < 0 && error)
        *error = all->error;
    return all->result;
}

static void close_branches(void *state)
{
    perfile_pgo_close(((struct branches *)state)->pgo);
}

static void losses(const void *state, struct perfile_losses *losses)
{
    const struct branches *view = state;
    pf_table_count_losses(view->table, view->pgo ? pf_pgo_left_out(view->pgo) : 0, losses);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    const struct branches *view = state;
    if (view->pgo && !pf_pgo_any_branches(view->pgo))
        notify(context, "no sample has branches that were taken: record with -b");
}

static int open_branches(struct perfile_table *table, void *state, struct perfile_error *error)
{
    (void)table;
    (void)state;
    (void)error;
    return 0;
}

static int open_ranges(struct perfile_table *table, void *state, struct perfile_error *error)
{
    (void)table;
    (void)error;
    ((struct branches *)state)->of_ranges = true;
    return 0;
}

const struct pf_view pf_view_branches = {
    .info = {"branches", "taken branches of each binary, with their counts, as addresses in its file"},
    .lists = {PF_COLUMNS(branch_columns)},
    .state_bytes = sizeof(struct branches),
    .open = open_branches,
    .next = next_row,
    .close = close_branches,
    .losses = losses,
    .notes = notes,
};

const struct pf_view pf_view_ranges = {
    .info = {"ranges", "code of each binary that ran between two taken branches, with counts"},
    .lists = {PF_COLUMNS(range_columns)},
    .state_bytes = sizeof(struct branches),
    .open = open_ranges,
    .next = next_row,
    .close = close_branches,
    .losses = losses,
    .notes = notes,
};
