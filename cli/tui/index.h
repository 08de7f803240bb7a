/* SPDX-License-Identifier: MIT */
/*
 * The data of a profile that the interactive views need to add everything up again quickly: its calls, and the threads,
 * processors, events and times of samples. All texts are copied, so that the profile can be closed.
 */
#ifndef PERFILE_CLI_TUI_INDEX_H
#define PERFILE_CLI_TUI_INDEX_H

#include "keyed.h"

#define PF_TUI_NONE UINT32_MAX

struct pf_tui_event {
    const char *name, *unit;
};

struct pf_tui_module {
    const char *name, *short_name;
    bool kernel;
};

struct pf_tui_function {
    const char *name; /* never NULL: without a symbol the address in the module */
    uint32_t module;  /* or NONE */
    uint32_t kind;    /* enum perfile_frame_kind */
    uint64_t address; /* as perfile_profile_function has it */
    bool named;
};

struct pf_tui_thread {
    int32_t pid, tid;
    const char *comm;
};

/* Facts that all rows of one event, thread and processor share. */
struct pf_tui_combo {
    uint32_t event;
    int32_t pid, tid, cpu;
    const char *comm; /* NULL: not recorded */
    uint32_t key;     /* its number in keys.samples */
};

struct pf_tui_row {
    uint32_t combo;
    uint32_t step; /* of time; NONE: not recorded */
};

struct pf_tui_index {
    struct pf_tui_event *events;
    struct pf_tui_module *modules;
    struct pf_tui_function *functions;
    struct pf_tui_thread *threads;
    struct pf_tui_combo *combos;
    struct perfile_calls *calls; /* whose groups are functions */
    struct pf_tui_row *rows;     /* by sample of the calls */
    struct pf_tui_keys keys;     /* .columns NULL: no rows by keys are needed */
    size_t event_count, module_count, function_count, thread_count, combo_count, row_count;
    uint64_t *event_samples;
    uint64_t first_time; /* of step 0, ns */
    uint64_t quantum_ns; /* how long a step is */
    uint32_t step_count; /* 0: no row has a time */
    bool has_stacks;     /* some row has a caller */
    bool partial;        /* the recording is still being read */
    struct perfile_losses losses;
    const char *facts; /* of the header, a line each */
    struct pf_tui_text *texts;
};

/*
 * `quantum_ns` is the value that the profile was made with. `columns`: of rows by keys, which must live as long as the
 * index; NULL: they are not needed. NULL: out of memory. Later functions change only the
 * weights of the calls.
 */
struct pf_tui_index *pf_tui_index_make(const struct perfile_profile *profile, uint64_t quantum_ns,
                                       const struct pf_profile_columns *columns, bool partial);
/* NULL is allowed. */
void pf_tui_index_free(struct pf_tui_index *index);

/* The file of a function as people know it. */
static inline const char *pf_tui_dso(const struct pf_tui_index *index, uint32_t function)
{
    const uint32_t module = index->functions[function].module;
    return module == PF_TUI_NONE ? "[unknown]" : index->modules[module].short_name;
}

#endif
