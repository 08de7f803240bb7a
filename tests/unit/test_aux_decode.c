/* SPDX-License-Identifier: MIT */
/* test_aux_decode FOLDER: samples that decoders make of the packets of hardware traces. */
#include "hwtrace/flow.h"
#include "hwtrace/itrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "counting.h"

static const char *folder;

/* ---- records of Arm SPE ------------------------------------------------------------------------------------------ */

struct bytes {
    uint8_t data[256];
    size_t count;
    bool delivered;
};

static void add(struct bytes *to, uint8_t header, uint64_t payload, size_t payload_bytes)
{
    to->data[to->count++] = header;
    for (size_t i = 0; i < payload_bytes; i++)
        to->data[to->count++] = (uint8_t)(payload >> (8 * i));
}

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct bytes *from = context;
    (void)error;
    *data = from->data;
    *bytes = from->delivered ? 0 : from->count;
    from->delivered = true;
    return *bytes > 0;
}

static unsigned event_named(const struct pf_aux_decoder *decoder, const char *name)
{
    for (unsigned i = 0; i < decoder->event_count; i++)
        if (strcmp(decoder->events[i].name, name) == 0)
            return i;
    fail_msg("no event %s", name);
    return 0;
}

/* Decodes the first record: false when it makes no sample of the event. */
static bool decode(struct bytes *trace, const struct pf_aux_recording *recording, const char *event,
                   struct pf_aux_sample *sample, uint64_t *time)
{
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(PERFILE_AUXTRACE_ARM_SPE);
    struct pf_aux_walk walk = {.format = decoder->format, .more = next_piece, .context = trace};
    uint64_t item[64];
    assert_true(decoder->item_bytes <= sizeof(item));
    assert_true(pf_aux_walk_open(&walk, pf_allocator_or_default(NULL)));
    const int result = decoder->next(&walk, item, time, NULL);
    const bool made = result == 1 && decoder->make(recording, item, event_named(decoder, event), sample);
    pf_aux_walk_close(&walk);
    return made;
}

enum {
    PC = 0xb0,
    TARGET = 0xb1,
    VIRTUAL = 0xb2,
    PHYSICAL = 0xb3,
    PREVIOUS = 0xb4,
    CONTEXT = 0x65,
    LATENCY = 0x98,
    OTHER = 0x48,
    ACCESS = 0x49,
    BRANCH = 0x4a,
    EVENTS = 0x62,
    SOURCE = 0x43,
    TIMESTAMP = 0x71
};

static void check_source(const char *line)
{
    struct bytes trace = {.count = 0};
    struct pf_aux_recording recording = {.midr = strtoull(line, NULL, 16)};
    struct pf_aux_sample sample = {.ip = 0};
    uint64_t midr, operation, events, expected, time;
    char source[16];
    assert_int_equal(sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %15s %" SCNx64, &midr, &operation, &events,
                            source, &expected),
                     5);
    add(&trace, PC, 0x401000, 8);
    add(&trace, ACCESS, operation, 1);
    add(&trace, EVENTS, events, 4);
    if (source[0] != '-')
        add(&trace, SOURCE, strtoull(source, NULL, 16), 1);
    add(&trace, TIMESTAMP, 1000, 8);
    assert_true(decode(&trace, &recording, "memory", &sample, &time));
    if (sample.data_src != expected)
        fail_msg("%s: data_src is %" PRIx64, line, sample.data_src);
    assert_int_equal(time, 1000);
}

static void test_data_sources_are_those_of_perf(void **state)
{
    char path[4096], line[256];
    size_t count = 0;
    (void)state;
    snprintf(path, sizeof(path), "%s/arm_spe_sources.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (line[0] != '#') {
            check_source(line);
            count++;
        }
    fclose(file);
    assert_int_equal(count, 420);
}

/* Of the second processor of AUXTRACE_INFO, whose numbers differ from those of the first one. */
static void test_data_sources_are_those_of_the_processor(void **state)
{
    static const uint64_t priv[] = {2,          4,  10,  2, 0x1010101010101010, 0, 4,
                                    0x410fd0c0, 10, 256, 7, 0x1010101010101010, 5, 4,
                                    0xc00fac40, 10, 256, 7};
    struct pf_aux_recording recording = {.priv = priv, .priv_count = PF_COUNT(priv), .midr = 0x410fd0c0, .cpu = 5};
    struct pf_aux_sample own, first;
    uint64_t time;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bytes trace = {.count = 0};
        add(&trace, PC, 0x401000, 8);
        add(&trace, ACCESS, 0, 1);
        add(&trace, EVENTS, 6, 4);
        add(&trace, SOURCE, 0, 1);
        add(&trace, TIMESTAMP, 1, 8);
        assert_true(decode(&trace, &recording, "memory", i ? &first : &own, &time));
        recording.cpu = 0;
    }
    assert_int_not_equal(own.data_src, first.data_src);
    recording.priv_count = 15; /* the words end within the second one */
    recording.cpu = 5;
    struct bytes trace = {.count = 0};
    add(&trace, PC, 0x401000, 8);
    add(&trace, ACCESS, 0, 1);
    add(&trace, TIMESTAMP, 1, 8);
    assert_true(decode(&trace, &recording, "memory", &own, &time));
}

static void test_addresses(void **state)
{
    static const struct {
        uint64_t recorded, code, data;
    } rows[] = {
        {0x401000, 0x401000, 0x401000},
        {0xa0ff800012345678, 0xffff800012345678, 0xff800012345678 | (uint64_t)0xff << 56},
        {0xc0f0000012345678, 0xfff0000012345678, 0xfff0000012345678},
        {0x80ff800012345678, 0xff800012345678, 0xffff800012345678},
        {0xe0ff800012345678, 0xff800012345678, 0xffff800012345678},
        {0x2000000000401000, 0x401000, 0x401000},
        {0x007f800012345678, 0x7f800012345678, 0x7f800012345678},
    };
    (void)state;
    for (size_t i = 0; i < PF_COUNT(rows); i++) {
        struct bytes trace = {.count = 0};
        struct pf_aux_sample sample = {.ip = 0};
        uint64_t time;
        add(&trace, PC, rows[i].recorded, 8);
        add(&trace, ACCESS, 0, 1);
        add(&trace, VIRTUAL, rows[i].recorded, 8);
        add(&trace, EVENTS, 6, 4);
        add(&trace, TIMESTAMP, 1, 8);
        assert_true(decode(&trace, &(struct pf_aux_recording){.midr = 0}, "l1d-access", &sample, &time));
        assert_int_equal(sample.ip, rows[i].code);
        assert_int_equal(sample.addr, rows[i].data);
    }
}

static void test_branches(void **state)
{
    struct bytes trace = {.count = 0};
    struct pf_aux_sample sample = {.ip = 0};
    const struct pf_aux_recording recording = {.midr = 0};
    uint64_t time;
    (void)state;
    add(&trace, PC, 0x40100c, 8);
    add(&trace, CONTEXT, 1000, 4);
    add(&trace, BRANCH, 1, 1);
    add(&trace, TARGET, 0x401005, 8);
    add(&trace, PREVIOUS, 0x401013, 8);
    add(&trace, LATENCY, 6, 2);
    add(&trace, EVENTS, 0x82, 4);
    add(&trace, TIMESTAMP, 5, 8);
    assert_true(decode(&trace, &recording, "branch", &sample, &time));
    assert_int_equal(sample.addr, 0x401005);
    assert_int_equal(sample.tid, 1000);
    assert_true(sample.has_branch);
    assert_int_equal(sample.previous_target, 0x401013);
    assert_int_equal(sample.branch[2], 1 | 6 << 4 | 1 << 20); /* mispredicted, 6 cycles, conditional */
    assert_int_equal(sample.flags, PF_FLOW_IS_BRANCH | PF_FLOW_IS_CONDITIONAL | PF_FLOW_IS_MISPREDICTED);
    trace.delivered = false;
    assert_false(decode(&trace, &recording, "memory", &sample, &time));
    trace.delivered = false;
    trace.count -= 3; /* cut within its time */
    assert_false(decode(&trace, &recording, "branch", &sample, &time));
}

static void test_flags_of_branches(void **state)
{
    static const struct {
        uint32_t flags;
        const char *text;
    } rows[] = {
        {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CONDITIONAL | PF_FLOW_IS_MISPREDICTED, "jcc/miss/"},
        {PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_NOT_TAKEN, "return/not_taken/"},
        {PF_FLOW_IS_BRANCH | PF_FLOW_IS_MISPREDICTED | PF_FLOW_IS_NOT_TAKEN, "jmp/miss,not_taken/"},
        {PF_FLOW_IS_BRANCH | PF_FLOW_IS_BEGIN, "tr strt jmp"},
    };
    char text[64];
    (void)state;
    for (size_t i = 0; i < PF_COUNT(rows); i++) {
        text[pf_flow_put_flags(rows[i].flags, text)] = '\0';
        assert_string_equal(text, rows[i].text);
    }
    assert_int_equal(pf_flow_flags_of(PF_X86_JUMP), PF_FLOW_IS_BRANCH);
    assert_int_equal(pf_flow_flags_of(PF_X86_CALL_INDIRECT), PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL);
    assert_int_equal(pf_flow_flags_of(PF_X86_ON), 0);
}

/* ---- letters ----------------------------------------------------------------------------------------------------- */

static void test_letters(void **state)
{
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(PERFILE_AUXTRACE_ARM_SPE);
    struct pf_itrace itrace;
    struct perfile_error error;
    (void)state;
    assert_int_equal(pf_itrace_parse("", decoder, &itrace, &error), 0);
    assert_int_equal(itrace.events, 0x3ff);
    assert_int_equal(pf_itrace_parse("i100ibl64", decoder, &itrace, &error), 0);
    assert_int_equal(itrace.every, 100);
    assert_true(itrace.branches);
    assert_int_equal(itrace.events, 1 << event_named(decoder, "instructions") | 1 << event_named(decoder, "branch"));
    assert_int_equal(pf_itrace_parse("be-o,M", decoder, &itrace, &error), 0);
    assert_int_equal(pf_itrace_parse("i10us", decoder, &itrace, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(pf_itrace_parse("k", decoder, &itrace, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(pf_itrace_parse("x", decoder, &itrace, &error), PERFILE_ERROR_ARGUMENT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_sources_are_those_of_perf),
        cmocka_unit_test(test_data_sources_are_those_of_the_processor),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_flags_of_branches),
        cmocka_unit_test(test_letters),
    };
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
