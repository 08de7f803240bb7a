/* SPDX-License-Identifier: MIT */
/*
 * What was sampled at each instruction. Of all functions those instructions that have samples; where functions are
 * asked for by name, all of their instructions, so that a listing can be made of the rows.
 */
#include "view/annotated.h"
#include "view/ids.h"

struct instructions {
    struct pf_annotated annotated; /* first */
    size_t next_function;
    bool in_function;
    struct perfile_listing *listing;
    size_t line_count, next_line;
    size_t event_count, event; /* the event in hand */
    struct perfile_annotation_event of;
    struct perfile_weight total;      /* of the function */
    struct perfile_listing_line line; /* in hand */
    struct perfile_weight weight;
};

#define INSTRUCTIONS const struct instructions *instructions = state

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

PF_PUT_AS(event, INSTRUCTIONS, pf_set_lasting, instructions->of.name)
PF_PUT_AS(unit, INSTRUCTIONS, pf_set_lasting, instructions->of.unit)
PF_PUT_AS(address, INSTRUCTIONS, pf_set_u64, instructions->line.address)
PF_PUT_IF(offset, INSTRUCTIONS, instructions->annotated.function.name, pf_set_u64,
          instructions->line.address - instructions->annotated.function.address)
PF_PUT_AS(instruction, INSTRUCTIONS, pf_set_text, instructions->line.text)

PF_PUT(code)
{
    INSTRUCTIONS;
    static const char digits[] = "0123456789abcdef";
    char text[64];
    const size_t count = pf_min((size_t)instructions->line.byte_count, sizeof(text) / 2);
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[instructions->line.bytes[i] >> 4];
        text[2 * i + 1] = digits[instructions->line.bytes[i] & 15];
    }
    if (count)
        pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, 2 * count));
    else
        pf_set_null(vector);
}

PF_PUT(target)
{
    INSTRUCTIONS;
    struct perfile_listing_line target = PERFILE_LISTING_LINE_INIT;
    if (instructions->line.target != PERFILE_NO_ID &&
        perfile_listing_line_at(instructions->listing, instructions->line.target, &target) == 0)
        pf_set_u64(vector, target.address);
    else
        pf_set_null(vector);
}

PF_PUT_AS(samples, INSTRUCTIONS, pf_set_u64, instructions->weight.samples)
PF_PUT_AS(period, INSTRUCTIONS, pf_set_u64, instructions->weight.period)
PF_PUT_AS(share, INSTRUCTIONS, pf_set_f64,
          pf_annotated_percent(instructions->weight.period, instructions->total.period))
PF_PUT_AS(overhead, INSTRUCTIONS, pf_set_f64,
          pf_annotated_percent(instructions->weight.period, instructions->of.period))
PF_PUT_AS(srcfile, INSTRUCTIONS, pf_set_lasting, instructions->line.file)
PF_PUT_IF(srcline, INSTRUCTIONS, instructions->line.file && instructions->line.line, pf_set_u32,
          instructions->line.line)
PF_PUT_AS(source, INSTRUCTIONS, pf_set_text,
          perfile_listing_source(instructions->listing, instructions->line.file, instructions->line.line))

PF_PUT(inlined)
{
    INSTRUCTIONS;
    for (size_t i = 0; i < instructions->line.frame_count; i++) {
        struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT;
        if (perfile_listing_frame_at(instructions->listing, instructions->next_line - 1, i, &frame) < 0 ||
            !frame.inlined)
            break;
        const char *name = frame.name ? frame.name : "[unknown]";
        pf_add_code(vector, pf_dictionary_put_lasting(&vector->dictionary, name));
    }
    pf_end_list(vector);
}

static void put_count(struct pf_vector *vector, uint64_t count)
{
    if (count)
        pf_set_u64(vector, count);
    else
        pf_set_null(vector);
}

PF_PUT_AS(taken, INSTRUCTIONS, put_count, instructions->line.taken)
PF_PUT_IF(mispredicted, INSTRUCTIONS, instructions->line.taken, pf_set_u64, instructions->line.mispredicted)
PF_PUT_AS(reached, INSTRUCTIONS, put_count, instructions->line.reached)
PF_PUT_IF(data_type, INSTRUCTIONS, instructions->line.data_type, pf_set_lasting, instructions->line.data_type)
PF_PUT_IF(branch_cycles, INSTRUCTIONS, instructions->line.cycle_count, pf_set_f64,
          (double)instructions->line.cycles / (double)instructions->line.cycle_count)

#define OF_FUNCTION(field, kind, text, ...)                                                                            \
    {                                                                                                                  \
        .name = #field, .type = PERFILE_COLUMN_##kind, .unit = "", .doc = text, .put = pf_annotated_put_##field,       \
        __VA_ARGS__                                                                                                    \
    }

static const struct pf_column columns[] = {
    PF_REQUIRED(event, TEXT, "", "Event that was sampled."),
    OF_FUNCTION(symbol, TEXT, "Function that the instruction is in; null: no symbol covers it.", .extra = false),
    OF_FUNCTION(dso, TEXT, "File or module that holds the instruction.", .extra = false),
    OF_FUNCTION(function_id, U64, "Id of the function, as in the view frames.", .required = true, .extra = true),
    OF_FUNCTION(label, TEXT, "The function without its parameters.", .required = true, .extra = true),
    OF_FUNCTION(kind, TEXT, "Where it ran: user, kernel, jit, unknown.", .required = true, .extra = true),
    OF_FUNCTION(build_id, TEXT, "Build id of that file as the recording has it, in hexadecimal.", .extra = true),
    PF_REQUIRED(address, ADDRESS, "", "Address of the instruction: for ELF files a virtual address of the file."),
    PF_COLUMN(offset, U64, "bytes", "Distance of the instruction from the start of its function."),
    PF_COLUMN(instruction, TEXT, "", "Mnemonic and operands; null: the code was not found."),
    PF_EXTRA(code, TEXT, "", "Bytes of the instruction as they lie in the file, in hexadecimal."),
    PF_EXTRA(target, ADDRESS, "", "Where a jump within the function leads."),
    PF_REQUIRED(samples, U64, "samples", "Samples at the instruction."),
    PF_REQUIRED(period, U64, "", "Period of the samples at the instruction, in the unit of the event."),
    PF_REQUIRED(share, F64, "percent", "Share of the period that its function has."),
    PF_REQUIRED_EXTRA(overhead, F64, "percent", "Share of the period of all samples of the event."),
    PF_REQUIRED_EXTRA(unit, TEXT, "", "What the periods count."),
    PF_COLUMN(srcfile, TEXT, "", "Source file of the instruction, of the innermost inlined function."),
    PF_COLUMN(srcline, U32, "", "Line of that source file."),
    PF_EXTRA(source, TEXT, "", "Text of that line, where the file was found."),
    PF_REQUIRED_EXTRA(inlined, TEXTS, "", "Inlined functions that the instruction is in, innermost first."),
    PF_EXTRA(taken, U64, "", "Branches from the instruction; null: none was recorded."),
    PF_EXTRA(mispredicted, U64, "", "Branches from the instruction that were mispredicted."),
    PF_EXTRA(reached, U64, "", "Branches to the instruction; null: none was recorded."),
    PF_EXTRA(data_type, TEXT, "", "What the instruction accesses: type, offset and member; null: not known."),
    PF_EXTRA(branch_cycles, F64, "cycles", "Cycles from the branch before, on average."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int open_function(struct instructions *in, struct perfile_error *error)
{
    struct pf_annotated *annotated = &in->annotated;
    perfile_listing_close(in->listing);
    in->listing = NULL;
    const size_t number = in->next_function++;
    int result = pf_annotated_take(annotated, number, error);
    if (result == 0)
        result =
            perfile_annotation_listing(annotated->annotation, annotated->choice.ranks[number], &in->listing, error);
    if (result < 0)
        return result;
    in->line_count = perfile_listing_line_count(in->listing);
    in->next_line = in->line_count; /* of no event yet */
    in->event = SIZE_MAX;
    in->in_function = true;
    return 0;
}

/* The next event that has samples in the function; false: none is left. */
static bool next_event(struct instructions *in)
{
    for (in->event++; in->event < in->event_count; in->event++) {
        in->total = (struct perfile_weight)PERFILE_WEIGHT_INIT;
        in->of = (struct perfile_annotation_event)PERFILE_ANNOTATION_EVENT_INIT;
        (void)!perfile_annotation_weight(in->annotated.annotation, in->annotated.function.rank, in->event, &in->total);
        (void)!perfile_annotation_event_at(in->annotated.annotation, in->event, &in->of); /* both exist */
        if (in->total.samples) {
            in->next_line = 0;
            return true;
        }
    }
    return false;
}

/* The next line of the event that is shown; false: none is left. */
static bool next_line(struct instructions *in)
{
    while (in->next_line < in->line_count) {
        const size_t index = in->next_line++;
        in->line = (struct perfile_listing_line)PERFILE_LISTING_LINE_INIT;
        in->weight = (struct perfile_weight)PERFILE_WEIGHT_INIT;
        (void)!perfile_listing_line_at(in->listing, index, &in->line);
        (void)!perfile_listing_weight(in->listing, index, in->event, &in->weight); /* both exist */
        if (in->annotated.complete || in->weight.samples)
            return true;
    }
    return false;
}

static int next_instruction(void *state, struct perfile_error *error)
{
    struct instructions *in = state;
    for (;;) {
        if (in->in_function && next_line(in))
            return 1;
        if (in->in_function && next_event(in))
            continue;
        if (in->next_function >= in->annotated.choice.count)
            return 0;
        const int result = open_function(in, error);
        if (result < 0)
            return result;
    }
}

static int open_instructions(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct instructions *instructions = state;
    const int result = pf_annotated_open(&instructions->annotated, table, error);
    if (result == 0)
        instructions->event_count = perfile_annotation_event_count(instructions->annotated.annotation);
    return result;
}

static void close_instructions(void *state)
{
    struct instructions *instructions = state;
    perfile_listing_close(instructions->listing);
    pf_annotated_close(&instructions->annotated);
}

/* Returns whether the function that the options name is missing, which `annotate` reports by its exit status. */
static bool found(const void *state)
{
    INSTRUCTIONS;
    const struct perfile_table *table = instructions->annotated.table;
    return table->verb && table->verb->annotate->symbol && !instructions->annotated.choice.count;
}

const struct pf_view pf_view_instructions = {
    .lists = {PF_COLUMNS(columns)},
    .info = {"instructions", "for each event the instructions that have samples; of functions asked for by name, all"},
    .state_bytes = sizeof(struct instructions),
    .open = open_instructions,
    .next = next_instruction,
    .close = close_instructions,
    .losses = pf_annotated_losses,
    .found = found,
};
