/* SPDX-License-Identifier: MIT */
/*
 * Queues of hardware traces: the first byte says the kind of trace, then come buffers of any processor and size, AUX
 * records, and words of AUXTRACE_INFO. Each byte that is not repeated is in a packet or counted as bad.
 */
#include "fuzz.h"

#include "hwtrace/decoder.h"
#include "hwtrace/metadata.h"
#include "hwtrace/queues.h"

enum { HEAD_BYTES = 4, MAX_ITEM_WORDS = 64, KINDS = 8 };

struct input {
    const uint8_t *data;
    size_t bytes;
};

static int read_bytes(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                      struct perfile_error *error)
{
    const struct input *input = context;
    (void)error;
    FUZZ_REQUIRE(buffer->position + at + *bytes <= input->bytes);
    *bytes = (size_t)pf_min(*bytes, 1 + (buffer->position + at) % 97);
    memcpy(to, input->data + buffer->position + at, *bytes);
    return 0;
}

static void take(struct pf_aux_queues *queues, const struct perfile_record *record, const void *body, int32_t cpu)
{
    struct pf_aux_queue *queue;
    FUZZ_REQUIRE(pf_aux_queues_take(queues, &(struct pf_aux_record){record, body, cpu, cpu}, &queue));
}

/* A chunk of the input: what it is, a number, a processor, and how many bytes belong to it. */
static size_t take_chunk(struct pf_aux_queues *queues, const struct input *input, size_t at, uint64_t *offset)
{
    const uint8_t *head = input->data + at;
    const size_t bytes = (size_t)pf_min(head[3] * 8u, input->bytes - at - HEAD_BYTES);
    const int32_t cpu = (int8_t)head[2];
    if (head[0] & 1) {
        const struct perfile_aux aux = {.flags = head[1] | (uint64_t)(head[0] & 2) << 7};
        take(queues, &(struct perfile_record){.type = PERFILE_RECORD_AUX}, &aux, cpu);
        return HEAD_BYTES;
    }
    const struct perfile_record record = {
        .type = PERFILE_RECORD_AUXTRACE, .payload_offset = at + HEAD_BYTES, .payload_bytes = bytes};
    const struct perfile_auxtrace body = {.data_size = bytes + (head[0] >> 7),
                                          .offset = *offset + (head[0] >> 5 & 1),
                                          .reference = at,
                                          .idx = head[1] & 3u,
                                          .cpu = cpu,
                                          .tid = 7};
    take(queues, &record, &body, cpu);
    *offset += bytes;
    return HEAD_BYTES + bytes;
}

static struct perfile_u64s words_of(const struct input *input)
{
    return (struct perfile_u64s){.data = input->data + 1, .count = (input->bytes - 1) / 8};
}

/* Reads the runs of a queue: packets, or what a decoder makes of them. */
static void read_queue(const struct pf_aux_queues *queues, struct pf_aux_queue *queue, struct input *input,
                       bool decodes)
{
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(queues->type);
    struct pf_aux_stream stream = {.queues = NULL};
    struct pf_aux_walk walk = {.format = queues->format, .more = pf_aux_stream_more, .context = &stream};
    struct pf_aux_packet packet;
    struct pf_aux_sample sample = {.ip = 0};
    uint64_t item[MAX_ITEM_WORDS], time, wanted = 0, seen = 0;
    FUZZ_REQUIRE(pf_aux_walk_open(&walk, queues->allocator) && pf_aux_stream_open(&stream, queues, queue));
    stream.read = read_bytes;
    stream.context = input;
    walk.machine.unformatted = queues->unformatted;
    for (size_t i = 0; i < queue->count; i++)
        wanted += queue->buffers[i].bytes - queue->buffers[i].repeated;
    while (pf_aux_stream_next_run(&stream)) {
        pf_aux_walk_restart(&walk);
        while (!decodes && pf_aux_walk_next(&walk, &packet, NULL) > 0) {
            FUZZ_REQUIRE(pf_aux_stream_buffer(&stream, packet.offset)->bytes);
            seen += packet.bytes;
            pf_aux_sums_add(queue, queues->format, &packet);
        }
        while (decodes && decoder->next(&walk, item, &time, NULL) > 0)
            for (unsigned i = 0; i < decoder->event_count; i++)
                if (decoder->make(&(struct pf_aux_recording){.cpu = queue->cpu}, item, i, &sample))
                    fuzz_touch(sample.raw, sample.raw_bytes);
    }
    FUZZ_REQUIRE(decodes || seen == wanted);
    pf_aux_walk_close(&walk);
    pf_aux_stream_close(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    struct pf_aux_queues queues;
    struct pf_text text;
    uint64_t offset = 0;
    if (bytes < 1)
        return 0;
    const struct perfile_auxtrace_info info = {.auxtrace_type = data[0] % KINDS, .priv = words_of(&input)};
    pf_aux_queues_open(&queues, pf_allocator_or_default(NULL));
    take(&queues, &(struct perfile_record){.type = PERFILE_RECORD_AUXTRACE_INFO}, &info, -1);
    for (size_t at = 1; at + HEAD_BYTES <= bytes;)
        at += take_chunk(&queues, &input, at, &offset);
    const struct pf_aux_decoder *decoder = pf_aux_decoder_find(queues.type);
    for (size_t i = 0; queues.format && i < queues.count; i++) {
        FUZZ_REQUIRE(pf_aux_queue_find_repeated(&queues, &queues.items[i], read_bytes, &input, NULL) == 0);
        read_queue(&queues, &queues.items[i], &input, false);
        if (decoder && decoder->next)
            read_queue(&queues, &queues.items[i], &input, true);
        (void)pf_aux_queues_lost(&queues, &queues.items[i]);
    }
    FUZZ_REQUIRE(pf_text_open(&text, queues.allocator, NULL, NULL) == 0);
    pf_aux_put_metadata(&text, info.auxtrace_type, &info.priv);
    pf_text_close(&text);
    pf_aux_queues_close(&queues);
    return 0;
}
