/* SPDX-License-Identifier: MIT */
/*
 * Traces of the program flow, Intel PT and CoreSight: the input has words of AUXTRACE_INFO, code, and packets. The code
 * is mapped twice, for user space and for the kernel. Samples are made of the first steps. Each byte of the packets is
 * decoded, skipped, or bad.
 */
#include <dlfcn.h>

#include "fuzz.h"

#include "hwtrace/flow_samples.h"
#include "opencsd_quirks.h"

enum { HEAD_BYTES = 4, CODE_UNIT = 16, MAX_STEPS = 1 << 17, MAX_SAMPLED = 1 << 10, THREADS = 3 };
#define USER_CODE UINT64_C(0x401000)
#define KERNEL_CODE UINT64_C(0xffffffff81000000)

static const char *const letters[] = {
    "", "i1ibxwpye", "i1il", "i5il4", "i3ig", "i100nsgl2", "cre", "s5bl1024", "i2tye-o", "i0nsg1024l8",
};

struct input {
    const uint8_t *code, *trace;
    size_t code_bytes, trace_bytes, at;
    unsigned piece_bytes;     /* of the trace */
    uint64_t priv[UINT8_MAX]; /* words of AUXTRACE_INFO */
    size_t priv_count;
    uint64_t looks; /* at mappings */
};

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct input *input = context;
    (void)error;
    *data = input->trace + input->at;
    *bytes = (size_t)pf_min(input->piece_bytes, input->trace_bytes - input->at);
    input->at += *bytes;
    return *bytes > 0;
}

/* Of a third of the processes mappings change with each look. */
static uint64_t space_of(void *context, int32_t pid)
{
    struct input *input = context;
    return pid % THREADS ? (uint64_t)(pid + 2) : ++input->looks << 8;
}

static size_t read_code(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    const struct input *input = context;
    const uint64_t offset = address - (pid < 0 ? KERNEL_CODE : USER_CODE);
    if (offset >= input->code_bytes)
        return 0;
    const size_t got = (size_t)pf_min(count, input->code_bytes - offset);
    memcpy(bytes, input->code + offset, got);
    return got;
}

static void touch_sample(const struct pf_aux_sample *sample)
{
    char flags[40];
    fuzz_touch(sample->raw, sample->raw_bytes);
    fuzz_touch(sample->branches, sample->branch_count * 3 * sizeof(*sample->branches));
    fuzz_touch(sample->chain, sample->chain_count * sizeof(*sample->chain));
    FUZZ_REQUIRE(pf_flow_put_flags(sample->flags, flags) <= sizeof(flags));
}

/* Makes samples of the steps that need no further packet. */
static void make_samples(const struct pf_flow_decoder *decoder, void *flow, struct pf_flow_samples *samples,
                         struct pf_flow_code *code, unsigned *steps)
{
    int made;
    while (*steps < MAX_STEPS && decoder->next(flow, &samples->step, NULL) > 0) {
        ++*steps;
        if (samples->step.has_thread || *steps % 97 == 0) {
            const int32_t tid = samples->step.has_thread ? samples->step.tid : (int32_t)(*steps % THREADS);
            pf_flow_code_enter(code, tid);
            pf_flow_samples_enter(samples, tid);
        }
        if (*steps < MAX_SAMPLED)
            pf_flow_samples_begin(samples);
        while ((made = pf_flow_samples_next(samples)) != PF_FLOW_SAMPLE_NONE)
            touch_sample(&samples->made);
    }
}

static void check_bytes(const struct pf_flow_bytes *bytes, size_t all)
{
    FUZZ_REQUIRE(bytes->decoded + bytes->skipped + bytes->bad == all);
}

/* Decodes the trace twice, as two payloads; where steps are many it ends early. */
static void decode(struct input *input, const struct pf_aux_decoder *decoder, const struct pf_flow_setup *setup,
                   struct pf_flow_samples *samples)
{
    const struct pf_flow_decoder *flow = decoder->flow;
    void *state = pf_new(setup->code->allocator, flow->state_bytes);
    unsigned steps = 0;
    uint64_t time;
    FUZZ_REQUIRE(state);
    flow->open(state, setup);
    samples->cbr_max = flow->max_ratio ? flow->max_ratio(setup->recording) : 0;
    for (unsigned run = 0; run < 2 && steps < MAX_STEPS; run++) {
        input->at = 0;
        pf_aux_walk_restart(setup->walk);
        flow->restart(state, run << 30);
        pf_flow_code_enter(setup->code, 1);
        pf_flow_samples_enter(samples, 1);
        while (steps < MAX_STEPS && flow->seek(state, &time, NULL) > 0)
            make_samples(flow, state, samples, setup->code, &steps);
        if (steps < MAX_STEPS)
            check_bytes(setup->bytes, input->trace_bytes * (run + 1));
    }
    if (flow->close)
        flow->close(state);
    pf_free(setup->code->allocator, state, flow->state_bytes);
}

static void decode_as(struct input *input, const struct pf_aux_decoder *decoder, const char *itrace_letters)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    const struct pf_code_source source = {.space = space_of, .read = read_code, .context = input};
    const struct pf_aux_recording recording = {
        .priv = input->priv, .priv_count = input->priv_count, .config = input->priv[0]};
    const struct perfile_time_conv clock = {.time_shift = 1, .time_mult = 3, .cap_user_time_zero = 1};
    struct pf_aux_walk walk = {.format = decoder->format, .more = next_piece, .context = input};
    struct pf_flow_bytes bytes = {0};
    struct pf_flow_code code;
    struct pf_flow_samples samples;
    struct pf_itrace itrace;
    const struct pf_flow_setup setup = {
        .walk = &walk, .code = &code, .bytes = &bytes, .recording = &recording, .cpu = -1};
    walk.machine.unformatted = input->piece_bytes % 2;
    FUZZ_REQUIRE(pf_itrace_parse(itrace_letters, decoder, &itrace, NULL) == 0);
    FUZZ_REQUIRE(pf_aux_walk_open(&walk, allocator) && pf_flow_code_open(&code, allocator, &source) &&
                 pf_flow_samples_open(&samples, allocator, decoder, &itrace, &clock));
    decode(input, decoder, &setup, &samples);
    pf_flow_samples_close(&samples);
    pf_flow_code_close(&code);
    pf_aux_walk_close(&walk);
}

/* Its library, if it needs one, stays loaded: loading it takes longer than a run. */
static bool can_decode(const struct pf_flow_decoder *decoder)
{
    static void *library;
    if (!decoder->missing)
        return true;
    if (!library)
        library = dlopen("libopencsd_c_api.so.1", RTLD_NOW | RTLD_LOCAL);
    return !decoder->missing();
}

/* The head: the kind of trace and the letters, the number of words, units of code, bytes of a piece. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const uint32_t types[] = {PERFILE_AUXTRACE_INTEL_PT, PERFILE_AUXTRACE_CS_ETM};
    if (bytes < HEAD_BYTES)
        return 0;
    struct input input = {.piece_bytes = data[3] + 1u};
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(types[data[0] & 1]);
    const uint8_t *at = data + HEAD_BYTES, *end = data + bytes;
    input.priv_count = (size_t)pf_min(data[1], (size_t)(end - at) / sizeof(*input.priv));
    memcpy(input.priv, at, input.priv_count * sizeof(*input.priv));
    input.code = at + input.priv_count * sizeof(*input.priv);
    input.code_bytes = (size_t)pf_min(data[2] * (size_t)CODE_UNIT, (size_t)(end - input.code));
    input.trace = input.code + input.code_bytes;
    input.trace_bytes = (size_t)(end - input.trace);
    if (can_decode(decoder->flow))
        decode_as(&input, decoder, letters[(data[0] >> 1) % PF_COUNT(letters)]);
    return 0;
}
