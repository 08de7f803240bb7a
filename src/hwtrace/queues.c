/* SPDX-License-Identifier: MIT */
#include "hwtrace/queues.h"

#include <string.h>

#include "base/error.h"

struct pf_aux_loss {
    int32_t tid, cpu;
    struct pf_aux_losses counts;
};

void pf_aux_queues_open(struct pf_aux_queues *queues, const struct perfile_allocator *allocator)
{
    *queues = (struct pf_aux_queues){.allocator = allocator};
    pf_map_open(&queues->numbers, allocator);
}

void pf_aux_queues_close(struct pf_aux_queues *queues)
{
    const struct perfile_allocator *allocator = queues->allocator;
    if (!allocator)
        return;
    for (size_t i = 0; i < queues->count; i++) {
        pf_free(allocator, queues->items[i].buffers, queues->items[i].capacity * sizeof(struct pf_aux_buffer));
        pf_free(allocator, queues->items[i].sources, PF_AUX_SOURCES * sizeof(*queues->items[i].sources));
    }
    pf_free(allocator, queues->items, queues->capacity * sizeof(*queues->items));
    pf_free(allocator, queues->pieces, queues->piece_capacity * sizeof(*queues->pieces));
    pf_free(allocator, queues->losses, queues->loss_capacity * sizeof(*queues->losses));
    pf_free(allocator, queues->priv, queues->priv_count * sizeof(*queues->priv) + 1);
    pf_map_close(&queues->numbers);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static struct pf_aux_queue *queue_of(struct pf_aux_queues *queues, const struct pf_aux_buffer *first, uint32_t number)
{
    uint64_t index;
    if (!pf_map_get(&queues->numbers, number, &index)) {
        index = queues->count;
        if (!pf_map_put(&queues->numbers, number, index) ||
            !PF_APPEND(queues->allocator, queues->items, queues->count, queues->capacity,
                       (struct pf_aux_queue){.number = number, .tid = first->tid, .cpu = first->cpu}))
            return NULL;
    }
    return &queues->items[index];
}

static bool continues(const struct pf_aux_queues *queues, const struct pf_aux_buffer *before,
                      const struct pf_aux_buffer *buffer)
{
    return !before->cut && !buffer->from_sample && before->part == buffer->part &&
           (buffer->repeated || (!queues->overwrites && before->offset + before->bytes == buffer->offset));
}

/* Bytes that were traced between two buffers, or that the file does not have. In snapshots they were overwritten. */
static uint64_t missing_between(const struct pf_aux_buffer *before, const struct pf_aux_buffer *buffer)
{
    const uint64_t end = before->offset + before->bytes;
    return !buffer->from_sample && before->part == buffer->part && buffer->offset > end ? buffer->offset - end : 0;
}

/* Recordings may have as many queues as buffers: the first one takes no memory for others. */
static bool append_buffer(struct pf_aux_queues *queues, struct pf_aux_queue *queue, const struct pf_aux_buffer *buffer)
{
    if (!queue->buffers && (queue->buffers = pf_new(queues->allocator, sizeof(*buffer))) != NULL)
        queue->capacity = 1;
    return queue->buffers && PF_APPEND(queues->allocator, queue->buffers, queue->count, queue->capacity, *buffer);
}

/* Counts sources in the formats that have several. False when out of memory. */
static bool prepare_sources(struct pf_aux_queues *queues, struct pf_aux_queue *queue)
{
    if (queues->format && queues->format->add_sources && !queue->sources)
        queue->sources = pf_new(queues->allocator, PF_AUX_SOURCES * sizeof(*queue->sources));
    return !queues->format || !queues->format->add_sources || queue->sources;
}

static struct pf_aux_queue *add_buffer(struct pf_aux_queues *queues, const struct pf_aux_buffer *buffer,
                                       uint32_t number)
{
    struct pf_aux_queue *queue = queue_of(queues, buffer, number);
    if (!queue || !append_buffer(queues, queue, buffer) || !prepare_sources(queues, queue))
        return NULL;
    queue->bytes += buffer->bytes;
    queue->conflicts |= buffer->cpu != queue->cpu || (!buffer->from_sample && buffer->tid != queue->tid);
    if (queue->count > 1)
        queue->missing += missing_between(&queue->buffers[queue->count - 2], buffer);
    return queue;
}

static bool take_buffer(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    const struct perfile_auxtrace *body = from->body;
    const struct pf_aux_buffer buffer = {.part = from->record->part,
                                         .position = from->record->payload_offset,
                                         .bytes = from->record->payload_bytes,
                                         .offset = body->offset,
                                         .reference = body->reference,
                                         .tid = body->tid,
                                         .cpu = body->cpu,
                                         .cut = from->record->payload_bytes < body->data_size};
    *queue = add_buffer(queues, &buffer, body->idx);
    return *queue;
}

bool pf_aux_queues_take_data(struct pf_aux_queues *queues, const struct perfile_record *record,
                             const struct perfile_sample *sample, struct pf_aux_queue **queue)
{
    const struct pf_aux_buffer buffer = {
        .part = record->part,
        .position = record->offset + (uint64_t)(sample->aux.data - record->data),
        .bytes = sample->aux.bytes,
        .reference = sample->time,
        .tid = sample->present & PERFILE_SAMPLE_TID ? sample->tid : -1,
        .cpu = sample->present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : -1,
        .from_sample = true,
    };
    queues->in_samples += buffer.bytes;
    *queue = add_buffer(queues, &buffer, buffer.cpu >= 0 ? (uint32_t)buffer.cpu : 0);
    return *queue;
}

static bool take_info(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    const struct perfile_auxtrace_info *info = from->body;
    (void)queue;
    if (queues->priv)
        return true; /* a merged recording may have more: all buffers are read as the first says */
    queues->priv = pf_new(queues->allocator, (size_t)info->priv.count * sizeof(*queues->priv) + 1);
    if (!queues->priv)
        return false;
    queues->type = info->auxtrace_type;
    queues->format = pf_aux_format_find(info->auxtrace_type);
    queues->priv_count = (size_t)info->priv.count;
    for (uint64_t i = 0; i < info->priv.count; i++)
        queues->priv[i] = perfile_u64_at(&info->priv, i);
    const unsigned at = queues->format ? queues->format->snapshot_at : 0;
    queues->overwrites |= at && at < queues->priv_count && queues->priv[at];
    return true;
}

static bool take_conversion(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    const struct perfile_time_conv *conversion = from->body;
    (void)queue;
    queues->conversion = *conversion;
    return true;
}

static struct pf_aux_loss *loss_of(struct pf_aux_queues *queues, const struct pf_aux_record *from)
{
    for (size_t i = 0; i < queues->loss_count; i++)
        if (queues->losses[i].cpu == from->cpu && queues->losses[i].tid == from->tid)
            return &queues->losses[i];
    return PF_APPEND(queues->allocator, queues->losses, queues->loss_count, queues->loss_capacity,
                     (struct pf_aux_loss){.tid = from->tid, .cpu = from->cpu})
               ? &queues->losses[queues->loss_count - 1]
               : NULL;
}

bool pf_aux_piece_has(const struct pf_aux_piece *piece, const struct pf_aux_buffer *buffer, uint64_t offset)
{
    const bool same = buffer->cpu >= 0 ? piece->cpu == buffer->cpu : piece->tid == buffer->tid;
    return same && piece->offset <= offset && offset < piece->end;
}

static bool add_piece(struct pf_aux_queues *queues, const struct pf_aux_record *from)
{
    const struct perfile_aux *aux = from->body;
    const struct pf_aux_piece piece = {.offset = aux->aux_offset,
                                       .end = aux->aux_offset + aux->aux_size,
                                       .time = from->record->time,
                                       .tid = from->tid,
                                       .cpu = from->cpu};
    return PF_APPEND(queues->allocator, queues->pieces, queues->piece_count, queues->piece_capacity, piece);
}

static bool take_aux(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    enum { LOST = PERFILE_AUX_FLAG_TRUNCATED | PERFILE_AUX_FLAG_PARTIAL | PERFILE_AUX_FLAG_COLLISION };
    enum { PMU_FORMAT = 0xff00, RAW = 0x100 };
    const struct perfile_aux *aux = from->body;
    (void)queue;
    if (!add_piece(queues, from))
        return false;
    queues->aux_records++;
    queues->overwrites |= (aux->flags & PERFILE_AUX_FLAG_OVERWRITE) != 0;
    queues->unformatted |= (aux->flags & PMU_FORMAT) == RAW;
    if (!(aux->flags & LOST))
        return true;
    struct pf_aux_loss *loss = loss_of(queues, from);
    if (!loss)
        return false;
    loss->counts.truncated += (aux->flags & PERFILE_AUX_FLAG_TRUNCATED) != 0;
    loss->counts.partial += (aux->flags & PERFILE_AUX_FLAG_PARTIAL) != 0;
    loss->counts.collided += (aux->flags & PERFILE_AUX_FLAG_COLLISION) != 0;
    return true;
}

static bool take_error(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    (void)from;
    (void)queue;
    queues->errors++;
    return true;
}

static const struct {
    uint32_t type;
    bool (*take)(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue);
} takers[] = {
    {PERFILE_RECORD_AUXTRACE_INFO, take_info},
    {PERFILE_RECORD_AUXTRACE, take_buffer},
    {PERFILE_RECORD_AUX, take_aux},
    {PERFILE_RECORD_TIME_CONV, take_conversion},
    {PERFILE_RECORD_AUXTRACE_ERROR, take_error},
};

bool pf_aux_queues_use(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(takers); i++)
        if (takers[i].type == type)
            return true;
    return false;
}

bool pf_aux_queues_take(struct pf_aux_queues *queues, const struct pf_aux_record *from, struct pf_aux_queue **queue)
{
    struct pf_aux_queue *found = NULL;
    bool result = true;
    for (size_t i = 0; i < PF_COUNT(takers); i++)
        if (takers[i].type == from->record->type)
            result = takers[i].take(queues, from, &found);
    if (queue)
        *queue = found;
    return result;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

struct pf_aux_losses pf_aux_queues_lost(const struct pf_aux_queues *queues, const struct pf_aux_queue *queue)
{
    struct pf_aux_losses sum = {.truncated = 0};
    for (size_t i = 0; i < queues->loss_count; i++) {
        const struct pf_aux_loss *loss = &queues->losses[i];
        if (queue && (queue->cpu >= 0 ? loss->cpu != queue->cpu : loss->tid != queue->tid))
            continue;
        sum.truncated += loss->counts.truncated;
        sum.partial += loss->counts.partial;
        sum.collided += loss->counts.collided;
    }
    return sum;
}

static void add_time(struct pf_aux_sums *sums, uint64_t first, uint64_t last)
{
    sums->first_time = sums->has_time ? pf_min(sums->first_time, first) : first;
    sums->last_time = sums->has_time ? pf_max(sums->last_time, last) : last;
    sums->has_time = true;
}

struct pf_aux_sums pf_aux_queues_sum(const struct pf_aux_queues *queues)
{
    struct pf_aux_sums sum = {.packets = 0};
    for (size_t i = 0; i < queues->count; i++) {
        const struct pf_aux_sums *sums = &queues->items[i].sums;
        sum.packets += sums->packets;
        sum.bad_bytes += sums->bad_bytes;
        sum.syncs += sums->syncs;
        sum.overflows += sums->overflows;
        sum.records += sums->records;
        if (sums->has_time)
            add_time(&sum, sums->first_time, sums->last_time);
    }
    return sum;
}

uint64_t pf_aux_extend(uint64_t reference, uint64_t low)
{
    enum { BITS = 56 };
    const uint64_t one = (uint64_t)1 << BITS, time = (reference & ~(one - 1)) | (low & (one - 1));
    if (time > reference && time - reference > one / 2 && time >= one)
        return time - one;
    return reference > time && reference - time > one / 2 ? time + one : time;
}

/* Adds what packets of its kind are good for. */
static void add_role(struct pf_aux_queue *queue, const struct pf_aux_packet *packet, unsigned role)
{
    struct pf_aux_sums *sums = &queue->sums;
    const uint64_t reference = queue->count ? queue->buffers[queue->count - 1].reference : 0;
    const uint64_t time = role & PF_AUX_TIME_56        ? pf_aux_extend(reference, packet->payload)
                          : role & PF_AUX_AT_REFERENCE ? reference
                                                       : packet->payload;
    sums->syncs += (role & PF_AUX_SYNC) != 0;
    sums->records += (role & PF_AUX_RECORD) != 0;
    sums->overflows += role & PF_AUX_OVERFLOW ? 1 : role & PF_AUX_OVERFLOWS ? packet->detail : 0;
    if (role & (PF_AUX_TIME | PF_AUX_TIME_56 | PF_AUX_AT_REFERENCE))
        add_time(sums, time, time);
}

void pf_aux_sums_add(struct pf_aux_queue *queue, const struct pf_aux_format *format, const struct pf_aux_packet *packet)
{
    struct pf_aux_sums *sums = &queue->sums;
    const unsigned role = format->kinds[packet->kind].roles;
    sums->packets++;
    sums->bad_bytes += packet->kind == PF_AUX_BAD ? packet->bytes : 0;
    if (format->add_sources && queue->sources)
        format->add_sources(packet, queue->sources);
    if (role)
        add_role(queue, packet, role);
}

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

uint64_t pf_aux_time(const struct perfile_time_conv *clock, uint64_t cycles)
{
    enum { MAX_SHIFT = 63 };
    const unsigned shift = (unsigned)(clock->time_shift & MAX_SHIFT);
    const uint64_t rest = cycles & (((uint64_t)1 << shift) - 1);
    return clock->time_mult
               ? clock->time_zero + (cycles >> shift) * clock->time_mult + (rest * clock->time_mult >> shift)
               : cycles;
}

struct perfile_time_conv pf_aux_clock(const struct pf_aux_queues *queues)
{
    const unsigned at = queues->format ? queues->format->clock_at : 0;
    if (!queues->format || !queues->format->converts)
        return (struct perfile_time_conv){.time_mult = 0};
    if (!at || at + 4 > queues->priv_count)
        return queues->conversion;
    const uint64_t *words = queues->priv + at;
    return (struct perfile_time_conv){
        .time_shift = words[0], .time_mult = words[3] ? words[1] : 0, .time_zero = words[2]};
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

enum { MAX_SNAPSHOT_BYTES = 256 << 20, PIECE_BYTES = 64 * 1024 };

/* The bytes of a buffer. */
struct copy {
    uint8_t *data;
    size_t bytes, capacity;
};

static int read_copy(struct copy *copy, const struct perfile_allocator *allocator, const struct pf_aux_buffer *buffer,
                     pf_aux_read *read, void *context, struct perfile_error *error)
{
    int result = 0;
    copy->bytes = 0;
    if (buffer->bytes > MAX_SNAPSHOT_BYTES)
        return 0; /* nothing that it repeats is found */
    if (!pf_grow(allocator, &copy->data, &copy->capacity, (size_t)buffer->bytes + 1, 1))
        return pf_fail_memory(error, "trace");
    for (size_t more = 1; more && copy->bytes < buffer->bytes && result == 0; copy->bytes += more) {
        more = (size_t)buffer->bytes - copy->bytes;
        result = read(context, buffer, copy->bytes, copy->data + copy->bytes, &more, error);
    }
    return result;
}

/* Two snapshots, the older one first; few are compared completely, whatever their bytes are. */
struct pair {
    const struct copy *before, *now;
    unsigned compared;
};

/* The end of `before` from `at` on, and what precedes it, are the first bytes of `now`, where they are at `now_at`. */
static bool repeats(struct pair *pair, size_t at, size_t now_at)
{
    enum { PROBE_BYTES = 64, MAX_COMPARED = 64 };
    const struct copy *before = pair->before, *now = pair->now;
    const size_t bytes = before->bytes - at;
    return at >= now_at && bytes <= now->bytes - now_at &&
           memcmp(before->data + at, now->data + now_at, (size_t)pf_min(bytes, PROBE_BYTES)) == 0 &&
           pair->compared++ < MAX_COMPARED && memcmp(before->data + at - now_at, now->data, bytes + now_at) == 0;
}

static size_t find_pattern(const struct copy *copy, size_t from, const uint8_t *pattern, size_t bytes)
{
    for (size_t at = from; at + bytes <= copy->bytes; at++) {
        const uint8_t *first = memchr(copy->data + at, pattern[0], copy->bytes - bytes + 1 - at);
        if (!first)
            break;
        at = (size_t)(first - copy->data);
        if (memcmp(first, pattern, bytes) == 0)
            return at;
    }
    return SIZE_MAX;
}

/* By the first bytes at which reading can start: the longest repetition that has one in both. */
static size_t repeated_by_pattern(struct pair *pair, const uint8_t *sync, size_t bytes)
{
    const size_t now_at = find_pattern(pair->now, 0, sync, bytes);
    if (now_at == SIZE_MAX)
        return 0;
    for (size_t at = 0; (at = find_pattern(pair->before, at, sync, bytes)) != SIZE_MAX; at++)
        if (repeats(pair, at, now_at))
            return pair->before->bytes - at + now_at;
    return 0;
}

/* By records that have the same size. */
static size_t repeated_by_records(struct pair *pair, size_t step)
{
    for (size_t at = pair->before->bytes % step; at < pair->before->bytes; at += step)
        if (repeats(pair, at, 0))
            return pair->before->bytes - at;
    return 0;
}

static size_t find_repeated(const struct copy *before, const struct copy *now, const struct pf_aux_format *format)
{
    struct pair pair = {.before = before, .now = now};
    return format->sync           ? repeated_by_pattern(&pair, format->sync, format->sync_bytes)
           : format->record_bytes ? repeated_by_records(&pair, format->record_bytes)
                                  : 0;
}

int pf_aux_queue_find_repeated(const struct pf_aux_queues *queues, struct pf_aux_queue *queue, pf_aux_read *read,
                               void *context, struct perfile_error *error)
{
    struct copy copies[2] = {{.data = NULL}, {.data = NULL}};
    int result = 0;
    for (size_t i = 0; queues->overwrites && queues->format && i < queue->count && result == 0; i++) {
        struct copy *now = &copies[i % 2], *before = &copies[(i + 1) % 2];
        result = read_copy(now, queues->allocator, &queue->buffers[i], read, context, error);
        if (result == 0 && i && !queue->buffers[i].from_sample)
            queue->buffers[i].repeated = find_repeated(before, now, queues->format);
    }
    for (size_t i = 0; i < PF_COUNT(copies); i++)
        pf_free(queues->allocator, copies[i].data, copies[i].capacity);
    return result;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool pf_aux_stream_open(struct pf_aux_stream *stream, const struct pf_aux_queues *queues,
                        const struct pf_aux_queue *queue)
{
    stream->queues = queues;
    stream->queue = queue;
    stream->first = stream->at = SIZE_MAX;
    stream->piece_bytes = (size_t)pf_min(queue->bytes, PIECE_BYTES) + 1;
    stream->piece = pf_new(queues->allocator, stream->piece_bytes);
    return stream->piece;
}

void pf_aux_stream_close(struct pf_aux_stream *stream)
{
    if (stream->piece)
        pf_free(stream->queues->allocator, stream->piece, stream->piece_bytes);
}

bool pf_aux_stream_next_run(struct pf_aux_stream *stream)
{
    if (stream->at == SIZE_MAX || stream->at < stream->queue->count)
        stream->at++; /* from SIZE_MAX to the first buffer */
    if (stream->at >= stream->queue->count)
        return false;
    stream->first = stream->current = stream->at;
    stream->done = stream->queue->buffers[stream->at].repeated;
    stream->current_at = 0;
    return true;
}

uint64_t pf_aux_stream_enter(struct pf_aux_stream *stream, size_t buffer, uint64_t at)
{
    const struct pf_aux_buffer *buffers = stream->queue->buffers;
    uint64_t offset = at - pf_min(buffers[buffer].repeated, at);
    stream->first = stream->at = buffer;
    stream->done = at;
    while (stream->first && continues(stream->queues, &buffers[stream->first - 1], &buffers[stream->first])) {
        stream->first--;
        offset += buffers[stream->first].bytes - buffers[stream->first].repeated;
    }
    stream->current = stream->first;
    stream->current_at = 0;
    return offset;
}

static uint64_t own_bytes(const struct pf_aux_buffer *buffer)
{
    return buffer->bytes - buffer->repeated;
}

void pf_aux_stream_go(struct pf_aux_stream *stream, uint64_t offset)
{
    const struct pf_aux_buffer *buffers = stream->queue->buffers;
    const bool is_later = offset >= stream->current_at;
    size_t at = is_later ? stream->current : stream->first;
    uint64_t left = offset - (is_later ? stream->current_at : 0);
    while (left > own_bytes(&buffers[at])) /* at the end of one, what follows is found when it is read */
        left -= own_bytes(&buffers[at++]);
    stream->at = at;
    stream->done = buffers[at].repeated + left;
}

/* At the end of a buffer, goes to the next one of the run. */
static bool next_buffer(struct pf_aux_stream *stream)
{
    const struct pf_aux_buffer *buffer = &stream->queue->buffers[stream->at];
    if (stream->done < buffer->bytes || stream->at + 1 >= stream->queue->count ||
        !continues(stream->queues, buffer, buffer + 1))
        return false;
    stream->at++;
    stream->done = buffer[1].repeated;
    return true;
}

int pf_aux_stream_more(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct pf_aux_stream *stream = context;
    while (next_buffer(stream))
        continue;
    const struct pf_aux_buffer *buffer = &stream->queue->buffers[stream->at];
    size_t wanted = (size_t)pf_min(buffer->bytes - pf_min(stream->done, buffer->bytes), stream->piece_bytes);
    const int result = wanted ? stream->read(stream->context, buffer, stream->done, stream->piece, &wanted, error) : 0;
    if (result < 0 || !wanted)
        return result;
    stream->done += wanted;
    *data = stream->piece;
    *bytes = wanted;
    return 1;
}

const struct pf_aux_buffer *pf_aux_stream_buffer(struct pf_aux_stream *stream, uint64_t offset)
{
    const struct pf_aux_buffer *buffer = &stream->queue->buffers[stream->current];
    while (stream->current < stream->at && offset - stream->current_at >= buffer->bytes - buffer->repeated) {
        stream->current_at += buffer->bytes - buffer->repeated;
        stream->current++;
        buffer++;
    }
    return buffer;
}
