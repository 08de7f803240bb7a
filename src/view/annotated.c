/* SPDX-License-Identifier: MIT */
#include "view/annotated.h"

#include "analysis/describe.h"
#include "base/error.h"
#include "view/ids.h"
#include "view/profiled.h"

/*
 * Returns the options of `annotate`. A table that is not an output of it has all functions, or those that its report
 * options name.
 */
static struct perfile_annotate_options options_of(const struct perfile_table *table)
{
    const struct perfile_report_options *report = table->options.report;
    if (table->verb)
        return *table->verb->annotate;
    return (struct perfile_annotate_options){.size = sizeof(struct perfile_annotate_options),
                                             .symbol = report->symbols,
                                             .dsos = report->dsos,
                                             .percent_limit = report->percent_limit ? report->percent_limit : "0",
                                             .top = UINT64_MAX};
}

int pf_annotated_open(struct pf_annotated *annotated, struct perfile_table *table, struct perfile_error *error)
{
    const struct perfile_annotate_options options = options_of(table);
    const struct perfile_annotation_options how = {.size = sizeof(how),
                                                   .filter = table->options.filter,
                                                   .symbols = &table->complete.symbols,
                                                   .threads = table->options.threads,
                                                   .progress = table->options.progress,
                                                   .progress_context = table->options.progress_context,
                                                   .unmatched = table->options.unmatched,
                                                   .unmatched_context = table->options.unmatched_context,
                                                   .allocator = table->allocator,
                                                   .syntax = options.syntax,
                                                   .disassemble = options.disassemble,
                                                   .disassemble_context = options.disassemble_context,
                                                   .data_types = pf_table_may_show(table, "data_type")};
    annotated->table = table;
    annotated->complete = table->verb || options.symbol;
    const int result = perfile_annotation_open(table->reader, &how, &annotated->annotation, error);
    return result < 0 ? result : pf_annotation_choose(annotated->annotation, &options, &annotated->choice, error);
}

void pf_annotated_close(struct pf_annotated *annotated)
{
    pf_annotation_choice_close(&annotated->choice);
    perfile_annotation_close(annotated->annotation);
}

int pf_annotated_take(struct pf_annotated *annotated, size_t number, struct perfile_error *error)
{
    annotated->function = (struct perfile_annotation_function)PERFILE_ANNOTATION_FUNCTION_INIT;
    annotated->module = (struct perfile_module)PERFILE_MODULE_INIT;
    if (perfile_annotation_function_at(annotated->annotation, annotated->choice.ranks[number], &annotated->function) <
        0)
        return pf_fail_memory(error, "functions");
    annotated->mapped =
        perfile_annotation_module(annotated->annotation, annotated->function.module, &annotated->module) == 0;
    annotated->function_id =
        pf_function_id_in(annotated->mapped ? &annotated->module : NULL, annotated->function.name, false);
    return 0;
}

void pf_annotated_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_annotated *annotated = state;
    losses->size = sizeof(*losses);
    (void)!perfile_annotation_losses(annotated->annotation, losses); /* the size is set */
}

#define ANNOTATED const struct pf_annotated *annotated = state

void pf_annotated_put_symbol(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    pf_set_lasting(vector, annotated->function.name);
}

void pf_annotated_put_function_id(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    pf_set_u64(vector, annotated->function_id);
}

void pf_annotated_put_label(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    pf_set_lasting(vector, annotated->function.label);
}

void pf_annotated_put_dso(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    pf_set_lasting(vector, annotated->mapped ? annotated->module.name : NULL);
}

void pf_annotated_put_build_id(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    if (annotated->mapped)
        pf_profiled_put_build_id(vector, &annotated->module);
    else
        pf_set_null(vector);
}

void pf_annotated_put_kind(void *state, struct pf_vector *vector)
{
    ANNOTATED;
    pf_set_lasting(vector, pf_describe_kind(annotated->function.kind));
}
