/* SPDX-License-Identifier: MIT */
/* Writes what is complete of a damaged recording, and the features that its records state. */
#include <stdio.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"
#include "edit/edit.h"

struct repair {
    struct perfile_writer *writer;
    uint64_t seen; /* features of the recording, those below 64 */
    uint64_t corrected;
    uint64_t rebuilt;
    uint64_t first_time, last_time;
    bool has_branches;
    bool has_schedstat;
    struct perfile_record record; /* with another id */
    uint8_t bytes[PF_RECORD_CAPACITY];
};

/* ---- features ---- */

/*
 * Readers refuse the complete recording for versions of these features that they do not know (only 1 was made), for
 * such numbers of CPUs, and for features of no bytes that are not flags.
 */
static bool is_believed(uint32_t number, const struct perfile_bytes *body, bool swap)
{
    enum { CPUS_MAX = 1 << 20 };
    const uint32_t first = body->bytes >= 4 ? pf_load32(body->data, swap) : 0;
    if (number == PERFILE_FEATURE_CACHE || number == PERFILE_FEATURE_CLOCK_DATA)
        return first == 1;
    if (number == PERFILE_FEATURE_BRANCH_STACK || number == PERFILE_FEATURE_STAT)
        return body->bytes == 0; /* flags */
    if (body->bytes == 0)
        return false;
    if (number == PERFILE_FEATURE_MEM_TOPOLOGY)
        return body->bytes >= 8 && pf_load64(body->data, swap) == 1;
    if (number == PERFILE_FEATURE_NRCPUS)
        return first <= CPUS_MAX && body->bytes >= 8 && pf_load32(body->data + 4, swap) <= first;
    return true;
}

static int check_layout(struct perfile_reader *reader, uint32_t number, const struct perfile_bytes *body,
                        struct perfile_error *error)
{
    const struct perfile_tracing *tracing;
    if (number == PERFILE_FEATURE_TRACING_DATA)
        return perfile_tracing_get(reader, &tracing, error);
    return pf_feature_check(reader, number, body->data, (size_t)body->bytes, error);
}

bool pf_repair_believes(struct perfile_reader *reader, uint32_t number, const struct perfile_bytes *body, int *result,
                        struct perfile_error *error)
{
    const int found = check_layout(reader, number, body, error);
    *result = found == PERFILE_ERROR_MEMORY ? found : 0;
    return found == 0 && is_believed(number, body, reader->file.swapped);
}

static int check_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                         struct perfile_error *error)
{
    struct repair *repair = context;
    int result;
    const bool believed = pf_repair_believes(reader, number, body, &result, error);
    if (result < 0)
        return result;
    if (!believed) {
        repair->writer->features_dropped++;
        return PF_EDIT_DROP;
    }
    if (number < 64)
        repair->seen |= 1ull << number;
    return PF_EDIT_KEEP;
}

static bool missing(const struct repair *repair, uint32_t number)
{
    return !(repair->seen >> number & 1);
}

static int rebuild_times(struct repair *repair, struct perfile_writer *writer, struct perfile_error *error)
{
    uint8_t times[16];
    struct pf_out o = pf_out_make(times, sizeof(times), writer->swap);
    if (!missing(repair, PERFILE_FEATURE_SAMPLE_TIME) || !repair->last_time)
        return 0;
    pf_out_u64(&o, repair->first_time);
    pf_out_u64(&o, repair->last_time);
    repair->rebuilt++;
    return perfile_writer_feature(writer, PERFILE_FEATURE_SAMPLE_TIME, times, sizeof(times), error);
}

static void put_sized(struct pf_text *text, const char *string)
{
    const uint64_t bytes = strlen(string);
    pf_put(text, &bytes, sizeof(bytes));
    pf_put(text, string, (size_t)bytes);
}

/* What is known of every tracepoint: the fields that all of them begin with. */
static void put_tracepoint(struct pf_text *text, uint64_t id)
{
    char format[512];
    snprintf(format, sizeof(format),
             "name: tracepoint_%llu\nID: %llu\nformat:\n"
             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\nprint fmt: \"\"\n",
             (unsigned long long)id, (unsigned long long)id);
    put_sized(text, format);
}

/* How a page of the kernel's own trace buffer looks, which readers want to know though nothing here lies in one. */
static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static void put_tracing(struct pf_text *text, const struct perfile_reader *reader, uint32_t tracepoints)
{
    static const char start[] = "\x17\x08\x44"
                                "tracing0.6",
                      page[] = "header_page", event[] = "header_event";
    const uint8_t order_and_long[2] = {PF_NATIVE_BIG_ENDIAN, 8};
    const uint32_t page_bytes = 4096, none = 0, one = 1;
    const uint64_t nothing = 0;
    pf_put(text, start, sizeof(start));
    pf_put(text, order_and_long, sizeof(order_and_long));
    pf_put(text, &page_bytes, sizeof(page_bytes));
    pf_put(text, page, sizeof(page));
    put_sized(text, header_page);
    pf_put(text, event, sizeof(event));
    put_sized(text, "# compressed entry header\n");
    pf_put(text, &none, sizeof(none)); /* formats of ftrace itself */
    pf_put(text, &one, sizeof(one));   /* systems */
    pf_put(text, "unknown", sizeof("unknown"));
    pf_put(text, &tracepoints, sizeof(tracepoints));
    for (size_t i = 0; i < reader->event_count; i++)
        if (reader->events[i]->public.attr->type == PERFILE_TYPE_TRACEPOINT)
            put_tracepoint(text, reader->events[i]->public.attr->config);
    pf_put(text, &none, sizeof(none));       /* kallsyms */
    pf_put(text, &none, sizeof(none));       /* printk formats */
    pf_put(text, &nothing, sizeof(nothing)); /* saved comms */
}

/* perf refuses a recording of tracepoints without their formats: a minimal one lets it show all but their fields. */
static int rebuild_tracing(struct repair *repair, const struct perfile_reader *reader, struct perfile_writer *writer,
                           struct perfile_error *error)
{
    struct pf_text text;
    uint32_t tracepoints = 0;
    for (size_t i = 0; i < reader->event_count; i++)
        tracepoints += reader->events[i]->public.attr->type == PERFILE_TYPE_TRACEPOINT;
    if (!missing(repair, PERFILE_FEATURE_TRACING_DATA) || !tracepoints)
        return 0;
    if (pf_text_open(&text, reader->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "tracing data");
    put_tracing(&text, reader, tracepoints);
    int result = text.failed
                     ? pf_fail_memory(error, "tracing data")
                     : perfile_writer_feature(writer, PERFILE_FEATURE_TRACING_DATA, text.data, text.used, error);
    pf_text_close(&text);
    repair->rebuilt++;
    return result;
}

/*
 * perf 7.2 takes the first event of every recording without looking whether there is one, and may crash: an event that
 * counts nothing stands for those that are lost. Only recordings of `perf sched stats` have no events.
 */
static int put_placeholder(const struct repair *repair, struct perfile_writer *writer, struct perfile_error *error)
{
    static const struct perfile_attr attr = {.type = PERFILE_TYPE_SOFTWARE,
                                             .config = PERFILE_COUNT_SW_DUMMY,
                                             .sample_type =
                                                 PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    if (writer->event_count || repair->has_schedstat)
        return 0;
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    pf_writer_diagnose(writer, "events-lost", "the events are lost: a placeholder that counts nothing is written");
    return perfile_writer_add_event(writer, &event, NULL, error);
}

static int rebuild(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                   struct perfile_error *error)
{
    struct repair *repair = context;
    int result = put_placeholder(repair, writer, error);
    if (result == 0)
        result = rebuild_times(repair, writer, error);
    repair->rebuilt += pf_writer_makes_host(writer);
    if (result == 0)
        result = rebuild_tracing(repair, reader, writer, error);
    if (result == 0 && missing(repair, PERFILE_FEATURE_BRANCH_STACK) && repair->has_branches) {
        result = perfile_writer_feature(writer, PERFILE_FEATURE_BRANCH_STACK, NULL, 0, error);
        repair->rebuilt++;
    }
    return result;
}

/* ---- records ---- */

static int mend_sample(struct repair *repair, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    if (!record->event)
        return pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "no event has its id");
    const uint64_t type = record->event->attr->sample_type;
    if (record->time && (!repair->first_time || record->time < repair->first_time))
        repair->first_time = record->time;
    repair->last_time = pf_max(repair->last_time, record->time);
    repair->has_branches |= (type & PERFILE_SAMPLE_BRANCH_STACK) != 0;
    if (!(type & PERFILE_SAMPLE_STACK_USER))
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    if (result < 0 || item->sample.stack_user.dyn_size <= item->sample.stack_user.bytes)
        return result;
    item->sample.stack_user.dyn_size = item->sample.stack_user.bytes;
    item->changed = true;
    repair->corrected++;
    return PF_EDIT_KEEP;
}

/* The first event's id takes the place of one that means nothing. */
static int mend_id(struct repair *repair, struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const struct perfile_reader *reader = item->reader;
    const struct pf_event *first = reader->event_count ? reader->events[0] : NULL;
    if (!first || !first->plan.id_back || !first->public.id_count || record->bytes < 8u + first->plan.trailer_bytes)
        return PF_EDIT_KEEP;
    memmove(repair->bytes, record->data, record->bytes);
    struct pf_out id = pf_out_make(repair->bytes + record->bytes - first->plan.id_back, 8, first->plan.swap);
    pf_out_u64(&id, first->public.ids[0]);
    repair->record = *record;
    repair->record.data = repair->bytes;
    repair->record.event = &first->public;
    item->record = &repair->record;
    repair->corrected++;
    return PF_EDIT_KEEP;
}

/* perf 7.2 stops at a record whose size is not a multiple of 8: zeros come before its trailer. */
static void mend_size(struct repair *repair, struct pf_item *item)
{
    const struct perfile_record *record = item->record;
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    const uint32_t trailer = event && record->type != PERFILE_RECORD_SAMPLE ? event->plan.trailer_bytes : 0;
    const uint32_t bytes = (uint32_t)pf_align8(record->bytes), body = record->bytes - trailer;
    if (bytes > UINT16_MAX || record->bytes < 8 + trailer || record->payload_bytes)
        return;
    memset(repair->bytes, 0, bytes);
    memcpy(repair->bytes, record->data, body);
    memcpy(repair->bytes + bytes - trailer, record->data + body, trailer);
    struct pf_out size = pf_out_make(repair->bytes + 6, 2, item->reader->file.swapped);
    pf_out_u16(&size, (uint16_t)bytes);
    repair->record = *record;
    repair->record.data = repair->bytes;
    repair->record.bytes = repair->record.stated_bytes = bytes;
    item->record = &repair->record;
    repair->corrected++;
}

static int mend_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    if (PF_UNLIKELY(item->record->bytes % 8))
        mend_size(context, item);
    const struct perfile_record *record = item->record;
    struct repair *repair = context;
    repair->has_schedstat |= record->type == PERFILE_RECORD_SCHEDSTAT_CPU;
    if (record->type == PERFILE_RECORD_SAMPLE)
        return mend_sample(context, item, error);
    /* the events of these ids are lost: perf refuses ids that no event has */
    if (record->type == PERFILE_RECORD_ID_INDEX && !item->reader->event_count)
        return PF_EDIT_DROP;
    if (record->type < PERFILE_RECORD_HEADER_ATTR && !record->event && perfile_record_name(record->type))
        return mend_id(context, item);
    return PF_EDIT_KEEP;
}

static int repair(struct perfile_reader *reader, struct perfile_writer *writer,
                  const struct perfile_edit_options *options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct pf_edit edit;
    int result = pf_edit_open(&edit, reader, writer, options, error);
    if (result < 0)
        return result;
    struct repair *repair = pf_new(reader->allocator, sizeof(*repair));
    if (!repair)
        return pf_fail_memory(error, "repair");
    repair->writer = writer;
    const struct pf_edit_step step = {
        .context = repair, .feature = check_feature, .record = mend_record, .end = rebuild};
    edit.steps = &step;
    edit.step_count = 1;
    result = pf_edit_run(&edit, report, error);
    report->features_rebuilt = repair->rebuilt;
    report->records_mended = repair->corrected;
    pf_free(reader->allocator, repair, sizeof(*repair));
    return result;
}

int perfile_repair(struct perfile_reader *reader, struct perfile_writer *writer,
                   const struct perfile_edit_options *options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
    int result = pf_sized_check(report, "edit report", error);
    if (result < 0)
        return result;
    result = repair(reader, writer, options, &counts, error);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
