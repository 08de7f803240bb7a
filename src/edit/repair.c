/* SPDX-License-Identifier: MIT */
/* What is whole of a damaged recording, and the features that its records tell. */
#include "base/error.h"
#include "edit/edit.h"

struct repair {
    struct perfile_edit_report *report;
    uint64_t seen; /* features of the recording, those below 64 */
    uint64_t first_time, last_time;
    bool has_branches;
};

static int note_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                        struct perfile_error *error)
{
    struct repair *repair = context;
    (void)reader, (void)body, (void)error;
    if (number < 64)
        repair->seen |= 1ull << number;
    return PF_EDIT_KEEP;
}

static int note_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct repair *repair = context;
    const struct perfile_record *record = item->record;
    (void)error;
    if (record->type != PERFILE_RECORD_SAMPLE || !record->time)
        return PF_EDIT_KEEP;
    if (!repair->first_time || record->time < repair->first_time)
        repair->first_time = record->time;
    repair->last_time = pf_max(repair->last_time, record->time);
    repair->has_branches |= record->event && record->event->attr.sample_type & PERFILE_SAMPLE_BRANCH_STACK;
    return PF_EDIT_KEEP;
}

static bool lacks(const struct repair *repair, uint32_t number)
{
    return !(repair->seen >> number & 1);
}

static int rebuild(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                   struct perfile_error *error)
{
    struct repair *repair = context;
    uint8_t times[16];
    struct pf_out o = pf_out_make(times, sizeof(times), writer->swap);
    (void)reader;
    int result = 0;
    if (lacks(repair, PERFILE_FEATURE_SAMPLE_TIME) && repair->last_time) {
        pf_out_u64(&o, repair->first_time);
        pf_out_u64(&o, repair->last_time);
        result = perfile_writer_feature(writer, PERFILE_FEATURE_SAMPLE_TIME, times, sizeof(times), error);
        repair->report->features_rebuilt++;
    }
    if (result == 0 && lacks(repair, PERFILE_FEATURE_BRANCH_STACK) && repair->has_branches) {
        result = perfile_writer_feature(writer, PERFILE_FEATURE_BRANCH_STACK, NULL, 0, error);
        repair->report->features_rebuilt++;
    }
    return result;
}

int perfile_repair(struct perfile_reader *reader, struct perfile_writer *writer,
                   const struct perfile_edit_options *options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_edit_report unseen;
    struct repair repair = {.report = report ? report : &unseen};
    const struct pf_edit_step step = {
        .context = &repair, .feature = note_feature, .record = note_record, .end = rebuild};
    struct pf_edit edit;
    int result = pf_edit_open(&edit, reader, writer, options, error);
    edit.steps = &step;
    edit.step_count = 1;
    return result < 0 ? result : pf_edit_run(&edit, repair.report, error);
}
