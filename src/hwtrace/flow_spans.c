/* SPDX-License-Identifier: MIT */
#include "hwtrace/flow_spans.h"

enum {
    MIN_BYTES = 8 * 1024,        /* of a span: fewer are not worth the change of threads */
    MAX_BYTES = 256 * 1024,      /* of a span: without a synchronization until then the own decoder goes on */
    MORE_BYTES = 512,            /* after it: its last packets, and those of the synchronization that follows */
    PIECE_BYTES = 64 * 1024 + 1, /* that are read at a time, at most */
    READ_BYTES = MAX_BYTES + MORE_BYTES + PIECE_BYTES,
    MAX_WORDS = 160 * 1024, /* of its steps: when there are more of them, the own decoder goes on */
    STEP_WORDS = (sizeof(struct pf_flow_step) + 7) / 8,
    LEFT_WORDS = STEP_WORDS + 8, /* that a position or a step takes at most */
};

/*
 * What is in the low bits of the first word of a position or a step. Above them is the block, which begins at a line,
 * or the offset.
 */
enum tag {
    TAG_BLOCK,    /* the instructions of a block, no branch */
    TAG_DIRECT,   /* they, and the branch to the block's target */
    TAG_INDIRECT, /* to the address in the next word */
    TAG_STEP,     /* any step, which follows */
    TAG_POSITION, /* where `seek` came to: the time follows, */
    TAG_CYCLES,   /* or the time and the cycles */
    TAG_BITS = 3,
    TAG_MASK = (1 << TAG_BITS) - 1,
};

/* Where decoding of a span ended. */
enum end {
    END_AT_SEEK,  /* before `seek`: it is complete, or its words are full */
    END_IN_STEPS, /* before `next`: a block is missing, or its words are full */
    END_BROKEN,   /* nothing is known */
};

struct span {
    struct pf_task task;
    const struct pf_flow_decoder *decoder;
    uint64_t entry, stop; /* offsets of packets: the first, and the first after it */
    bool ends_run;        /* nothing follows */
    uint8_t *bytes;       /* from the entry on */
    size_t byte_count;
    bool has_read; /* the walk has them */
    struct pf_aux_walk walk;
    uint8_t *entry_state; /* of the walk */
    struct pf_flow_code code;
    struct pf_flow_bytes counted;
    void *guess, *state; /* of the decoder: at the entry, and where it is */
    uint64_t *words;
    size_t word_count;
    struct pf_flow_step position; /* its time and cycles are those of the last position */
    enum end end;
};

/* Finds the spans, in what is read ahead of the queue's own decoder. */
struct cutter {
    struct pf_aux_stream stream;
    uint8_t *bytes; /* at least MAX_BYTES + MORE_BYTES are looked at, and READ_BYTES at most */
    size_t head, count;
    uint64_t at;             /* offset in the run of bytes[head] */
    bool has_read_all;       /* of the run */
    bool has_start;          /* bytes[head] is the start of a synchronization; */
    struct pf_aux_walk walk; /* reads one, */
    size_t walk_from;        /* from bytes[walk_from] on */
    bool walk_has_read;
    struct pf_flow_bytes uncounted;
    void *guess, *next_guess; /* the state after it, and after the one that ends its span */
    uint64_t entry, next_entry;
    uint8_t *entry_state, *next_entry_state; /* of the walk */
};

struct pf_flow_spans {
    struct pf_flow_spans_setup setup;
    size_t walk_state_bytes;
    struct span *spans; /* a ring */
    unsigned first, count;
    struct cutter cutter;
    bool starts_run;
    bool has_entered;     /* the code is that of a process */
    bool is_elsewhere;    /* the walk has to be moved to its offset before it reads */
    struct span *current; /* whose steps are delivered; NULL: the own decoder decodes */
    size_t word_at;
    uint64_t positions, steps; /* of it that were delivered; the steps of the last position */
    uint64_t earliest, more_cycles;
    bool counts_cycles; /* those before it do */
    struct pf_flow_step position;
};

enum { CUT_BYTES = 2 * READ_BYTES };

/* ---- decoding a span, on any thread ------------------------------------------------------------------------------ */

static int give_bytes(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct span *span = context;
    (void)error;
    if (span->has_read)
        return 0;
    span->has_read = true;
    *data = span->bytes;
    *bytes = span->byte_count;
    return span->byte_count > 0;
}

static void put_word(struct span *span, uint64_t word)
{
    span->words[span->word_count++] = word;
}

static void put_position(struct span *span, uint64_t time)
{
    const uint64_t offset = span->walk.offset - span->entry;
    struct pf_flow_step *position = &span->position;
    bool counts;
    const uint64_t cycles = span->decoder->ahead->cycles(span->state, &counts);
    const bool same = cycles == position->cycles && counts == position->has_cycles;
    put_word(span, offset << TAG_BITS | (same ? TAG_POSITION : TAG_CYCLES));
    put_word(span, time);
    if (!same)
        put_word(span, cycles << 1 | counts);
    position->time = time;
    position->cycles = cycles;
    position->has_cycles = counts;
}

/* The step is that of a block and its branch, and nothing else. */
static bool is_plain(const struct span *span, const struct pf_flow_step *step)
{
    const struct pf_flow_block *block = step->block;
    const struct pf_flow_step *position = &span->position;
    return block && !step->first && step->count == block->count && !step->event && !step->ends && !step->has_thread &&
           !step->has_cpu && step->time == position->time && step->cycles == position->cycles &&
           step->has_cycles == position->has_cycles &&
           (!step->flags || (step->flags == block->flags && step->from == block->last));
}

static void put_step(struct span *span, const struct pf_flow_step *step)
{
    const uint64_t block = (uintptr_t)step->block;
    if (!is_plain(span, step)) {
        put_word(span, TAG_STEP);
        memcpy(span->words + span->word_count, step, sizeof(*step));
        span->word_count += STEP_WORDS;
    } else if (!step->flags) {
        put_word(span, block | TAG_BLOCK);
    } else if (step->to == step->block->target) {
        put_word(span, block | TAG_DIRECT);
    } else {
        put_word(span, block | TAG_INDIRECT);
        put_word(span, step->to);
    }
}

static bool has_space(const struct span *span)
{
    return span->word_count + LEFT_WORDS <= MAX_WORDS;
}

/* The steps of one position: 0 after them, or as `next`; 1: the words are full. */
static int decode_steps(struct span *span)
{
    struct pf_flow_step step;
    int result = 1;
    while (result == 1 && has_space(span)) {
        result = span->decoder->next(span->state, &step, NULL);
        if (result == 1)
            put_step(span, &step);
    }
    return result;
}

static enum end decode_all(struct span *span)
{
    const struct pf_flow_decoder *decoder = span->decoder;
    uint64_t time;
    while (has_space(span)) {
        int result = decoder->seek(span->state, &time, NULL);
        if (result == 0 && (span->walk.offset >= span->stop || span->ends_run))
            return END_AT_SEEK;
        if (result <= 0)
            return END_BROKEN;
        put_position(span, time);
        result = decode_steps(span);
        if (result != 0)
            return result < 0 ? END_BROKEN : END_IN_STEPS;
    }
    return END_AT_SEEK;
}

static void decode_span(struct pf_task *task)
{
    struct span *span = (struct span *)(void *)task;
    const struct pf_flow_ahead *ahead = span->decoder->ahead;
    span->has_read = false;
    span->walk.bad_bytes = 0;
    span->counted = (struct pf_flow_bytes){0};
    span->word_count = 0;
    span->position = (struct pf_flow_step){0};
    memcpy(span->walk.state, span->entry_state, span->walk.format->state_bytes);
    pf_aux_walk_resume(&span->walk, span->entry);
    ahead->copy(span->state, span->guess);
    ahead->stop_at(span->state, span->stop);
    span->end = decode_all(span);
    if (ahead->is_unsure(span->state))
        span->end = END_BROKEN;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* A state of the decoder that reads this walk. */
static void *open_state(const struct pf_flow_spans *spans, struct pf_aux_walk *walk, struct pf_flow_code *code,
                        struct pf_flow_bytes *bytes)
{
    const struct pf_flow_decoder *decoder = spans->setup.decoder;
    const struct pf_flow_setup setup = {
        .walk = walk, .code = code, .bytes = bytes, .recording = spans->setup.queue.recording, .cpu = -1};
    void *state = pf_new(spans->setup.allocator, decoder->state_bytes);
    if (state)
        decoder->open(state, &setup);
    return state;
}

static void open_walk(const struct pf_flow_spans *spans, struct pf_aux_walk *walk)
{
    const struct pf_aux_walk *own = spans->setup.queue.walk;
    *walk = (struct pf_aux_walk){.format = own->format, .machine = own->machine, .context = own->context};
}

static bool open_span(struct pf_flow_spans *spans, struct span *span)
{
    const struct perfile_allocator *allocator = spans->setup.allocator;
    span->task.work = decode_span;
    span->decoder = spans->setup.decoder;
    open_walk(spans, &span->walk);
    span->walk.more = give_bytes;
    span->walk.context = span;
    span->bytes = pf_new(allocator, READ_BYTES + MORE_BYTES);
    span->words = pf_new(allocator, MAX_WORDS * sizeof(*span->words));
    span->entry_state = pf_new(allocator, spans->walk_state_bytes);
    span->guess = open_state(spans, &span->walk, &span->code, &span->counted);
    span->state = open_state(spans, &span->walk, &span->code, &span->counted);
    return pf_aux_walk_open(&span->walk, allocator) && span->bytes && span->words && span->entry_state && span->guess &&
           span->state;
}

static void close_span(struct pf_flow_spans *spans, struct span *span)
{
    const struct perfile_allocator *allocator = spans->setup.allocator;
    const size_t state_bytes = spans->setup.decoder->state_bytes;
    if (!span->decoder)
        return;
    pf_aux_walk_close(&span->walk);
    pf_free(allocator, span->bytes, READ_BYTES + MORE_BYTES);
    pf_free(allocator, span->words, MAX_WORDS * sizeof(*span->words));
    pf_free(allocator, span->entry_state, spans->walk_state_bytes);
    pf_free(allocator, span->guess, state_bytes);
    pf_free(allocator, span->state, state_bytes);
}

static int give_cut(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct cutter *cutter = context;
    (void)error;
    if (cutter->walk_has_read)
        return 0;
    cutter->walk_has_read = true;
    *data = cutter->bytes + cutter->walk_from;
    *bytes = cutter->head + cutter->count - cutter->walk_from;
    return *bytes > 0;
}

static bool open_cutter(struct pf_flow_spans *spans)
{
    const struct perfile_allocator *allocator = spans->setup.allocator;
    struct cutter *cutter = &spans->cutter;
    open_walk(spans, &cutter->walk);
    cutter->walk.more = give_cut;
    cutter->walk.context = cutter;
    cutter->bytes = pf_new(allocator, CUT_BYTES);
    cutter->entry_state = pf_new(allocator, spans->walk_state_bytes);
    cutter->next_entry_state = pf_new(allocator, spans->walk_state_bytes);
    cutter->guess = open_state(spans, &cutter->walk, NULL, &cutter->uncounted);
    cutter->next_guess = open_state(spans, &cutter->walk, NULL, &cutter->uncounted);
    cutter->stream.read = spans->setup.stream->read;
    cutter->stream.context = spans->setup.stream->context;
    return pf_aux_walk_open(&cutter->walk, allocator) &&
           pf_aux_stream_open(&cutter->stream, spans->setup.stream->queues, spans->setup.stream->queue) &&
           cutter->stream.piece_bytes <= PIECE_BYTES && cutter->bytes && cutter->entry_state &&
           cutter->next_entry_state && cutter->guess && cutter->next_guess;
}

static void close_cutter(struct pf_flow_spans *spans)
{
    const struct perfile_allocator *allocator = spans->setup.allocator;
    const size_t state_bytes = spans->setup.decoder->state_bytes;
    struct cutter *cutter = &spans->cutter;
    if (cutter->walk.allocator)
        pf_aux_walk_close(&cutter->walk);
    if (cutter->stream.queue)
        pf_aux_stream_close(&cutter->stream);
    pf_free(allocator, cutter->bytes, CUT_BYTES);
    pf_free(allocator, cutter->entry_state, spans->walk_state_bytes);
    pf_free(allocator, cutter->next_entry_state, spans->walk_state_bytes);
    pf_free(allocator, cutter->guess, state_bytes);
    pf_free(allocator, cutter->next_guess, state_bytes);
}

struct pf_flow_spans *pf_flow_spans_open(const struct pf_flow_spans_setup *setup)
{
    const struct perfile_allocator *allocator = setup->allocator;
    struct pf_flow_spans *spans = pf_new(allocator, sizeof(*spans));
    if (!spans)
        return NULL;
    *spans = (struct pf_flow_spans){.setup = *setup, .walk_state_bytes = setup->queue.walk->format->state_bytes + 1};
    if (!spans->setup.min_bytes)
        spans->setup.min_bytes = MIN_BYTES;
    spans->spans = pf_new(allocator, setup->count * sizeof(*spans->spans));
    bool opened = spans->spans && open_cutter(spans);
    for (unsigned i = 0; opened && i < setup->count; i++)
        opened = open_span(spans, &spans->spans[i]);
    if (opened)
        return spans;
    pf_flow_spans_close(spans);
    return NULL;
}

static void drop_all(struct pf_flow_spans *spans);

void pf_flow_spans_close(struct pf_flow_spans *spans)
{
    if (!spans)
        return;
    const struct perfile_allocator *allocator = spans->setup.allocator;
    drop_all(spans);
    for (unsigned i = 0; spans->spans && i < spans->setup.count; i++)
        close_span(spans, &spans->spans[i]);
    close_cutter(spans);
    pf_free(allocator, spans->spans, spans->setup.count * sizeof(*spans->spans));
    pf_free(allocator, spans, sizeof(*spans));
}

void pf_flow_spans_start_run(struct pf_flow_spans *spans)
{
    spans->starts_run = true;
}

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

static struct span *span_at(struct pf_flow_spans *spans, unsigned index)
{
    return &spans->spans[(spans->first + index) % spans->setup.count];
}

static void drop_first(struct pf_flow_spans *spans)
{
    pf_workers_withdraw(spans->setup.workers, &span_at(spans, 0)->task);
    spans->first = (spans->first + 1) % spans->setup.count;
    spans->count--;
}

static void drop_all(struct pf_flow_spans *spans)
{
    while (spans->count)
        drop_first(spans);
}

static void start_span(struct pf_flow_spans *spans, struct span *span)
{
    span->code = pf_flow_code_view(spans->setup.queue.code);
    pf_workers_add(spans->setup.workers, &span->task);
}

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

static void pass(struct cutter *cutter, size_t bytes)
{
    cutter->head += bytes;
    cutter->at += bytes;
    cutter->count -= bytes;
}

/* As many bytes as a span may have. */
static void read_ahead(struct cutter *cutter)
{
    const uint8_t *data;
    size_t bytes;
    while (cutter->count < MAX_BYTES + MORE_BYTES && !cutter->has_read_all) {
        if (cutter->head + cutter->count + cutter->stream.piece_bytes > CUT_BYTES) {
            memmove(cutter->bytes, cutter->bytes + cutter->head, cutter->count);
            cutter->head = 0;
        }
        if (pf_aux_stream_more(&cutter->stream, &data, &bytes, NULL) <= 0) {
            cutter->has_read_all = true; /* an error is that of the own decoder, which reads the same */
            return;
        }
        memcpy(cutter->bytes + cutter->head + cutter->count, data, bytes);
        cutter->count += bytes;
    }
}

/* The synchronization at `from` is understood: the state after it, and where that is. */
static bool guess_at(struct pf_flow_spans *spans, size_t from)
{
    struct cutter *cutter = &spans->cutter;
    cutter->walk_from = cutter->head + from;
    cutter->walk_has_read = false;
    memset(cutter->walk.state, 0, spans->walk_state_bytes);
    pf_aux_walk_resume(&cutter->walk, cutter->at + from);
    if (!spans->setup.decoder->ahead->guess(cutter->next_guess, spans->setup.state))
        return false;
    cutter->next_entry = cutter->walk.offset;
    memcpy(cutter->next_entry_state, cutter->walk.state, spans->walk_state_bytes);
    return true;
}

/* The first synchronization from there on that decoding can begin at: true, and where it is. */
static bool find_sync(struct pf_flow_spans *spans, size_t *from)
{
    struct cutter *cutter = &spans->cutter;
    const struct pf_aux_format *format = cutter->walk.format;
    const size_t more = cutter->has_read_all ? format->sync_bytes : MORE_BYTES;
    while (*from + more <= cutter->count) {
        const uint8_t *data = cutter->bytes + cutter->head;
        const uint8_t *found = memmem(data + *from, cutter->count - *from, format->sync, format->sync_bytes);
        *from = found ? (size_t)(found - data) : cutter->count;
        if (*from + more > cutter->count)
            return false;
        if (guess_at(spans, *from))
            return true;
        (*from)++;
    }
    return false;
}

/* What was found becomes the start of the next span. */
static void move_to(struct cutter *cutter, size_t from)
{
    void *guess = cutter->guess;
    uint8_t *state = cutter->entry_state;
    pass(cutter, from);
    cutter->guess = cutter->next_guess;
    cutter->next_guess = guess;
    cutter->entry_state = cutter->next_entry_state;
    cutter->next_entry_state = state;
    cutter->entry = cutter->next_entry;
    cutter->has_start = true;
}

static bool find_start(struct pf_flow_spans *spans)
{
    struct cutter *cutter = &spans->cutter;
    size_t from = 0;
    if (cutter->has_start)
        return true;
    if (find_sync(spans, &from)) {
        move_to(cutter, from);
        return true;
    }
    pass(cutter, cutter->has_read_all ? cutter->count : cutter->count - (size_t)pf_min(cutter->count, MORE_BYTES));
    return false;
}

static void fill_span(struct pf_flow_spans *spans, struct span *span, size_t bytes)
{
    const struct cutter *cutter = &spans->cutter;
    const size_t before = (size_t)(cutter->entry - cutter->at);
    span->entry = cutter->entry;
    span->byte_count = (size_t)pf_min(cutter->count, bytes + MORE_BYTES) - before;
    span->ends_run = cutter->has_read_all && cutter->count <= bytes + MORE_BYTES;
    memcpy(span->bytes, cutter->bytes + cutter->head + before, span->byte_count);
    memcpy(span->entry_state, cutter->entry_state, spans->walk_state_bytes);
    spans->setup.decoder->ahead->copy(span->guess, cutter->guess);
}

/* The next span, if it was found in what is read ahead. */
static bool cut(struct pf_flow_spans *spans, struct span *span)
{
    struct cutter *cutter = &spans->cutter;
    size_t to = spans->setup.min_bytes;
    read_ahead(cutter);
    if (!find_start(spans))
        return false;
    const bool has_next = find_sync(spans, &to);
    if (!has_next)
        to = cutter->has_read_all ? cutter->count : cutter->count - MORE_BYTES;
    const size_t end = has_next ? (size_t)(cutter->next_entry - cutter->at) : to;
    fill_span(spans, span, end);
    span->stop = has_next ? cutter->next_entry : !cutter->has_read_all ? cutter->at + to : UINT64_MAX;
    span->ends_run &= !has_next;
    if (has_next)
        move_to(cutter, to);
    else
        pass(cutter, to);
    cutter->has_start = has_next;
    return true;
}

static void begin_cutting(struct pf_flow_spans *spans)
{
    struct cutter *cutter = &spans->cutter;
    const struct pf_aux_stream *own = spans->setup.stream;
    spans->starts_run = false;
    spans->is_elsewhere = false;
    drop_all(spans);
    cutter->stream.first = own->first;
    cutter->stream.at = own->at;
    cutter->stream.done = own->done;
    cutter->stream.current = own->current;
    cutter->stream.current_at = own->current_at;
    cutter->at = spans->setup.queue.walk->offset;
    cutter->head = cutter->count = 0;
    cutter->has_read_all = cutter->has_start = false;
}

/* Reading ahead does not go far beyond what may be delivered: perhaps not all of it is wanted. */
static void fill(struct pf_flow_spans *spans)
{
    const struct cutter *cutter = &spans->cutter;
    const uint64_t farthest = spans->setup.queue.walk->offset + (uint64_t)spans->setup.count * MAX_BYTES;
    if (spans->starts_run)
        begin_cutting(spans);
    while (spans->has_entered && spans->count < spans->setup.count && cutter->at < farthest &&
           !(cutter->has_read_all && !cutter->count)) {
        struct span *span = span_at(spans, spans->count);
        if (!cut(spans, span))
            continue;
        spans->count++;
        start_span(spans, span);
    }
}

/* ---- delivering -------------------------------------------------------------------------------------------------- */

/* The own decoder reads on at the offset of its walk. */
static void move_walk(struct pf_flow_spans *spans)
{
    struct pf_aux_walk *walk = spans->setup.queue.walk;
    if (PF_LIKELY(!spans->is_elsewhere))
        return;
    spans->is_elsewhere = false;
    pf_aux_stream_go(spans->setup.stream, walk->offset);
    pf_aux_walk_resume(walk, walk->offset);
}

/* The own decoder is at the first span. False: the span cannot be used. */
static bool join(struct pf_flow_spans *spans)
{
    const struct pf_flow_ahead *ahead = spans->setup.decoder->ahead;
    struct span *span = span_at(spans, 0);
    bool guess_counts;
    if (span->entry != spans->setup.queue.walk->offset || !ahead->is_right(span->guess, spans->setup.state))
        return false;
    pf_workers_wait(spans->setup.workers, &span->task);
    if (span->end == END_BROKEN)
        return false;
    spans->current = span;
    spans->word_at = 0;
    spans->positions = spans->steps = 0;
    spans->earliest = ahead->time(spans->setup.state);
    spans->more_cycles = ahead->cycles(spans->setup.state, &spans->counts_cycles);
    spans->more_cycles -= ahead->cycles(span->guess, &guess_counts);
    spans->position = (struct pf_flow_step){.cycles = spans->more_cycles, .has_cycles = spans->counts_cycles};
    spans->is_elsewhere = true;
    return true;
}

/* The own decoder is where the span ended. */
static void finish(struct pf_flow_spans *spans)
{
    const struct pf_flow_ahead *ahead = spans->setup.decoder->ahead;
    const struct span *span = spans->current;
    struct pf_aux_walk *walk = spans->setup.queue.walk;
    struct pf_flow_bytes *bytes = spans->setup.queue.bytes;
    ahead->copy(spans->setup.state, span->state);
    ahead->correct(spans->setup.state, spans->earliest, spans->more_cycles, spans->counts_cycles);
    walk->offset = span->walk.offset;
    walk->bad_bytes += span->walk.bad_bytes;
    memcpy(walk->state, span->walk.state, spans->walk_state_bytes);
    bytes->decoded += span->counted.decoded;
    bytes->skipped += span->counted.skipped;
    bytes->bad += span->counted.bad;
    spans->current = NULL;
    drop_first(spans);
}

/* Makes no step that was not delivered. */
static void repeat(struct pf_flow_spans *spans)
{
    const struct pf_flow_decoder *decoder = spans->setup.decoder;
    struct pf_flow_step step;
    uint64_t time;
    for (uint64_t i = 0; i < spans->positions; i++) {
        if (decoder->seek(spans->setup.state, &time, NULL) <= 0)
            return;
        const uint64_t steps = i + 1 < spans->positions ? UINT64_MAX : spans->steps;
        for (uint64_t step_at = 0; step_at < steps; step_at++)
            if (decoder->next(spans->setup.state, &step, NULL) != 1)
                break;
    }
}

/* The own decoder decodes once more what was delivered of the span, and goes on there. All code of it is known. */
static void leave(struct pf_flow_spans *spans)
{
    const struct span *span = spans->current;
    struct pf_flow_code *code = spans->setup.queue.code;
    const uint64_t user = code->user, kernel = code->kernel;
    spans->setup.queue.walk->offset = span->entry;
    spans->is_elsewhere = true;
    move_walk(spans);
    spans->setup.decoder->ahead->stop_at(spans->setup.state, span->stop);
    code->user = span->code.user;
    code->kernel = span->code.kernel;
    code->is_view = true;
    repeat(spans);
    code->is_view = false;
    code->user = user;
    code->kernel = kernel;
    spans->current = NULL;
    drop_first(spans);
}

void pf_flow_spans_settle(struct pf_flow_spans *spans)
{
    if (spans->current)
        leave(spans);
    drop_all(spans);
}

static bool has_same_code(const struct pf_flow_spans *spans, const struct span *span)
{
    const struct pf_flow_code *code = spans->setup.queue.code;
    return span->code.user == code->user && span->code.kernel == code->kernel;
}

/* What was decoded ahead with other code is decoded again. */
static void change_code(struct pf_flow_spans *spans)
{
    leave(spans);
    for (unsigned i = 0; i < spans->count; i++) {
        struct span *span = span_at(spans, i);
        pf_workers_withdraw(spans->setup.workers, &span->task);
        start_span(spans, span);
    }
}

/* The next position of the span; false at its end. */
static bool deliver_position(struct pf_flow_spans *spans, uint64_t *time)
{
    const struct span *span = spans->current;
    struct pf_flow_step *position = &spans->position;
    if (spans->word_at == span->word_count)
        return false;
    const uint64_t *words = span->words + spans->word_at;
    const bool has_cycles = (words[0] & TAG_MASK) == TAG_CYCLES;
    position->time = *time = pf_max(words[1], spans->earliest);
    if (has_cycles) {
        position->cycles = (words[2] >> 1) + spans->more_cycles;
        position->has_cycles = words[2] & 1 || spans->counts_cycles;
    }
    spans->word_at += has_cycles ? 3 : 2;
    spans->positions++;
    spans->steps = 0;
    spans->setup.queue.walk->offset = span->entry + (words[0] >> TAG_BITS);
    spans->setup.stream->at = pf_max(spans->setup.stream->at, spans->cutter.stream.at);
    return true;
}

static void deliver_other(struct pf_flow_spans *spans, struct pf_flow_step *step)
{
    memcpy(step, spans->current->words + spans->word_at + 1, sizeof(*step));
    step->time = pf_max(step->time, spans->earliest);
    step->cycles += spans->more_cycles;
    step->has_cycles |= spans->counts_cycles;
    spans->word_at += 1 + STEP_WORDS;
}

static struct pf_flow_block *block_of(uint64_t word)
{
    return (struct pf_flow_block *)(uintptr_t)(word & ~(uint64_t)TAG_MASK);
}

/* The next step of the position. False: it has no more, or the span ends. */
static bool deliver_step(struct pf_flow_spans *spans, struct pf_flow_step *step)
{
    const struct span *span = spans->current;
    if (spans->word_at == span->word_count)
        return false;
    const uint64_t *words = span->words + spans->word_at;
    const unsigned tag = words[0] & TAG_MASK;
    if (tag >= TAG_POSITION)
        return false;
    spans->steps++;
    if (PF_UNLIKELY(tag == TAG_STEP)) {
        deliver_other(spans, step);
        return true;
    }
    struct pf_flow_block *block = block_of(words[0]);
    *step = spans->position;
    step->block = block;
    step->count = block->count;
    spans->word_at++;
    if (tag == TAG_BLOCK)
        return true;
    step->flags = block->flags;
    step->from = block->last;
    step->to = tag == TAG_DIRECT ? block->target : words[1];
    spans->word_at += tag == TAG_INDIRECT;
    return true;
}

bool pf_flow_spans_merge(struct pf_flow_spans *spans, struct pf_flow_samples *samples, uint64_t before, uint64_t *time)
{
    const struct span *span = spans->current;
    bool moved = false;
    if (!span || !pf_flow_samples_are_made(samples) || PF_UNLIKELY(!has_same_code(spans, span)))
        return false;
    while (spans->word_at < span->word_count) {
        const uint64_t *words = span->words + spans->word_at;
        const unsigned tag = words[0] & TAG_MASK;
        if (tag == TAG_STEP)
            break;
        if (tag >= TAG_POSITION) {
            if (pf_aux_time(samples->clock, pf_max(words[1], spans->earliest)) >= before)
                break;
            moved = deliver_position(spans, time);
            continue;
        }
        struct pf_flow_block *block = block_of(words[0]);
        pf_flow_samples_merge_block(samples, block, tag == TAG_BLOCK ? 0 : block->flags);
        spans->steps++;
        spans->word_at += tag == TAG_INDIRECT ? 2 : 1;
    }
    return moved;
}

/* The own decoder may go on to the first span that it did not pass. */
static uint64_t next_entry(struct pf_flow_spans *spans)
{
    while (spans->count && span_at(spans, 0)->entry < spans->setup.queue.walk->offset)
        drop_first(spans);
    return spans->count ? span_at(spans, 0)->entry : UINT64_MAX;
}

int pf_flow_spans_seek(struct pf_flow_spans *spans, uint64_t *time, struct perfile_error *error)
{
    const struct pf_flow_decoder *decoder = spans->setup.decoder;
    struct pf_aux_walk *walk = spans->setup.queue.walk;
    while (true) {
        if (spans->current) {
            if (PF_LIKELY(deliver_position(spans, time)))
                return 1;
            finish(spans);
        }
        fill(spans);
        const uint64_t stop = next_entry(spans);
        decoder->ahead->stop_at(spans->setup.state, stop);
        if (walk->offset != stop)
            move_walk(spans);
        const int result = decoder->seek(spans->setup.state, time, error);
        if (result != 0 || walk->offset < stop)
            return result;
        if (spans->count && !join(spans))
            drop_first(spans);
    }
}

int pf_flow_spans_next(struct pf_flow_spans *spans, struct pf_flow_step *step, struct perfile_error *error)
{
    spans->has_entered = true;
    if (spans->current && PF_UNLIKELY(!has_same_code(spans, spans->current)))
        change_code(spans);
    if (spans->current) {
        if (PF_LIKELY(deliver_step(spans, step)))
            return 1;
        if (spans->word_at < spans->current->word_count || spans->current->end == END_AT_SEEK)
            return 0;
        finish(spans);
    }
    move_walk(spans);
    return spans->setup.decoder->next(spans->setup.state, step, error);
}
