/* SPDX-License-Identifier: MIT */
#include "edit/convert.h"

#include "base/sized.h"

enum { STEPS_MAX = 3 };

struct convert {
    struct pf_edit edit;
    struct pf_edit_step steps[STEPS_MAX];
    struct pf_strip strip;
    struct pf_unwind_step *unwind;
    struct pf_compat *age;
};

static void add(struct convert *convert, struct pf_edit_step step)
{
    convert->steps[convert->edit.step_count++] = step;
}

/* In this order: unwinding needs what may be stripped, and an old perf gets what is left. */
static int add_steps(struct convert *convert, const struct perfile_convert_options *options,
                     struct perfile_error *error)
{
    struct pf_edit *edit = &convert->edit;
    int result = 0;
    edit->steps = convert->steps;
    if (options->unwind) {
        result = pf_unwind_open(options, edit, &convert->unwind, error);
        if (result == 0)
            add(convert, pf_unwind_step(convert->unwind));
    }
    if (options->strip && result == 0) {
        result = pf_strip_open(&convert->strip, options->strip, error);
        if (result == 0)
            add(convert, pf_strip_step(&convert->strip));
    }
    if (options->for_perf && result == 0) {
        result = pf_compat_open(options->for_perf, edit, &convert->age, error);
        if (result == 0)
            add(convert, pf_compat_step(convert->age));
    }
    return result;
}

/*
 * Reads the events first where they follow the samples, as in streams of perf record --tail-synthesize, if the stream
 * can be read twice.
 */
static int know_events(struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_record *record;
    int more = 0;
    if (reader->file.mode != PERFILE_MODE_PIPE || perfile_reader_rewind(reader, NULL) < 0)
        return 0;
    while ((more = perfile_reader_next(reader, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE && record->event)
            break;
    return more < 0 ? more : perfile_reader_rewind(reader, error);
}

static int convert(struct perfile_reader *reader, struct perfile_writer *writer,
                   const struct perfile_convert_options *options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_convert_options all = PERFILE_CONVERT_OPTIONS_INIT;
    struct convert convert = {.age = NULL};
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_sized_take(&all, sizeof(all), options, "convert options", error);
    if (result == 0)
        result = pf_edit_open(&convert.edit, reader, writer, all.edit, error);
    if (result == 0)
        result = add_steps(&convert, &all, error);
    convert.edit.reshapes = convert.edit.step_count > 0;
    if (result == 0 && convert.edit.reshapes)
        result = know_events(reader, error);
    if (result == 0) {
        result = pf_edit_run(&convert.edit, report, error);
        if (convert.strip.parts)
            report->bytes_stripped = convert.strip.bytes + convert.edit.bytes_saved;
    }
    pf_unwind_close(convert.unwind);
    pf_compat_close(convert.age);
    return result;
}

int perfile_convert(struct perfile_reader *reader, struct perfile_writer *writer,
                    const struct perfile_convert_options *options, struct perfile_edit_report *report,
                    struct perfile_error *error)
{
    struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
    int result = pf_sized_check(report, "edit report", error);
    if (result < 0)
        return result;
    result = convert(reader, writer, options, &counts, error);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
