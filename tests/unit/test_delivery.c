/* SPDX-License-Identifier: MIT */
#include "analysis/delivery.h"

#include <stdio.h>

#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

static struct recording made;
static struct perfile_reader *reader;
static struct pf_delivery *delivery;
static uint8_t *block;

static void open_delivery(const struct pf_delivery_options *options)
{
    struct perfile_error error;
    recording_finish(&made);
    reader = recording_read(&made, &block);
    if (pf_delivery_open(reader, options, &delivery, &error) < 0)
        fail_msg("%s", error.message);
}

static void close_delivery(void)
{
    pf_delivery_close(delivery);
    perfile_close(reader);
    free(block);
    recording_close(&made);
}

/* "TIME COMM" of each sample, and "TYPE" of other records. */
static const char *items(void)
{
    static char text[512];
    struct pf_delivered item = {0};
    size_t used = 0;
    int result;
    text[0] = '\0';
    while ((result = pf_delivery_next(delivery, &item, NULL)) > 0) {
        const char *lead = used ? ", " : "";
        if (item.is_sample)
            used +=
                (size_t)snprintf(text + used, sizeof(text) - used, "%s%d %s", lead, (int)item.sample.time, item.comm);
        else
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", lead,
                                     perfile_record_name(item.record->type));
    }
    assert_int_equal(result, 0);
    return text;
}

static void records_are_passed_to_owner_asks(void **state)
{
    static const struct perfile_filter late = {.time = "0.000000020,"};
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        recording_open(&made, TYPE, false);
        recording_sample(&made, 1, 7, 10);
        recording_comm(&made, 7, "new", 15);
        recording_sample(&made, 1, 7, 20);
        open_delivery(&(struct pf_delivery_options){.filter = &late, .gives_records = asks});
        assert_string_equal(items(), asks ? "COMM, 20 new" : "20 new");
        assert_int_equal(pf_delivery_filtered(delivery), 1);
        close_delivery();
    }
}

/* What was not recorded is -1. */
static void absent_fields(void **state)
{
    (void)state;
    recording_open(&made, PERFILE_SAMPLE_IP, false);
    recording_sample(&made, 1, 7, 10);
    open_delivery(&(struct pf_delivery_options){0});
    assert_string_equal(items(), "-1 :-1");
    close_delivery();
}

/* The kernel writes pid -1 for tasks that are gone: this must not find the kernel in their memory. */
static void pid_of_a_task_that_is_gone(void **state)
{
    static const struct recording_map map = {
        .misc = 1, .pid = -1, .start = 0x1000, .bytes = 0x1000, .name = "[kernel.kallsyms]"};
    struct pf_delivered item = {0};
    (void)state;
    recording_open(&made, TYPE, false);
    recording_map(&made, &map, 1);
    recording_sample(&made, 0x1800, -1, 10);
    open_delivery(&(struct pf_delivery_options){.follows_maps = true});
    assert_int_equal(pf_delivery_next(delivery, &item, NULL), 1);
    assert_null(pf_delivered_space(&item, PERFILE_MISC_USER));
    assert_non_null(pf_delivered_space(&item, PERFILE_MISC_KERNEL));
    close_delivery();
}

/* ---- samples from elsewhere -------------------------------------------------------------------------------------- */

/* Makes a sample of each time that is listed, as soon as a COMM has come. */
struct decoder {
    const uint64_t *times;
    bool started;
    struct recording bytes;
    struct perfile_record record;
};

static int decoder_take(void *context, const struct perfile_record *record, struct perfile_error *error)
{
    struct decoder *decoder = context;
    (void)error;
    decoder->started |= record->type == PERFILE_RECORD_COMM;
    return decoder->started;
}

static int decoder_next(void *context, uint64_t time, struct pf_synthesized *passed, struct perfile_error *error)
{
    struct decoder *decoder = context;
    (void)error;
    if (!decoder->started || !*decoder->times || *decoder->times > time)
        return 0;
    decoder->bytes.bytes = 0;
    recording_sample(&decoder->bytes, 0x10, 7, *decoder->times++);
    decoder->record = (struct perfile_record){.type = PERFILE_RECORD_SAMPLE,
                                              .misc = 2,
                                              .data = decoder->bytes.data,
                                              .bytes = (uint32_t)decoder->bytes.bytes,
                                              .stated_bytes = (uint32_t)decoder->bytes.bytes,
                                              .event = perfile_event_get(reader, 0),
                                              .time = decoder->times[-1]};
    passed->record = &decoder->record;
    passed->sample = NULL;
    return 1;
}

/* They come in the order of time, and are filtered and named as all others. */
static void synthesized_samples(void **state)
{
    static const uint64_t times[] = {12, 13, 25, 99, 0};
    static const struct perfile_filter some = {.time = "0.000000011,"};
    (void)state;
    recording_open(&made, TYPE, false);
    recording_sample(&made, 1, 7, 10);
    recording_comm(&made, 7, "first", 11);
    recording_sample(&made, 1, 7, 20);
    recording_comm(&made, 7, "second", 24);
    recording_sample(&made, 1, 7, 30);
    struct decoder decoder = {.times = times, .bytes = {.sample_type = TYPE}};
    const struct pf_synthesizer synthesizer = {.context = &decoder, .take = decoder_take, .next = decoder_next};
    open_delivery(&(struct pf_delivery_options){.filter = &some, .synthesizers = &synthesizer, .synthesizer_count = 1});
    assert_string_equal(items(), "12 first, 13 first, 20 first, 25 second, 30 second, 99 second");
    assert_int_equal(pf_delivery_filtered(delivery), 1);
    close_delivery();
    recording_close(&decoder.bytes);
}

/* Gives every other sample of the recording, with a time that is later by its note. */
struct thinner {
    const struct perfile_record *next;
    unsigned count;
};

static int thinner_take(void *context, const struct perfile_record *record, struct perfile_error *error)
{
    struct thinner *thinner = context;
    (void)error;
    if (record->type == PERFILE_RECORD_SAMPLE)
        thinner->next = thinner->count++ % 2 ? NULL : record;
    return thinner->next != NULL;
}

static int thinner_next(void *context, uint64_t time, struct pf_synthesized *passed, struct perfile_error *error)
{
    struct thinner *thinner = context;
    (void)time, (void)error;
    passed->record = thinner->next;
    passed->sample = NULL;
    passed->note[0] = 5;
    thinner->next = NULL;
    return passed->record != NULL;
}

static void thinner_complete(void *context, const uint64_t *note, struct pf_delivered *item)
{
    (void)context;
    item->sample.time += note[0];
}

/* A synthesizer sees all records, and its samples can take the place of those of the recording. */
static void samples_that_replace_others(void **state)
{
    (void)state;
    recording_open(&made, TYPE, false);
    recording_sample(&made, 1, 7, 10);
    recording_sample(&made, 1, 7, 20);
    recording_comm(&made, 7, "new", 24);
    recording_sample(&made, 1, 7, 30);
    struct thinner thinner = {NULL};
    const struct pf_synthesizer synthesizer = {.context = &thinner,
                                               .replaces = true,
                                               .take = thinner_take,
                                               .next = thinner_next,
                                               .complete = thinner_complete};
    open_delivery(
        &(struct pf_delivery_options){.synthesizers = &synthesizer, .synthesizer_count = 1, .gives_records = true});
    assert_string_equal(items(), "15 :7, COMM, 35 new");
    close_delivery();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_passed_to_owner_asks), cmocka_unit_test(absent_fields),
        cmocka_unit_test(pid_of_a_task_that_is_gone),       cmocka_unit_test(synthesized_samples),
        cmocka_unit_test(samples_that_replace_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
