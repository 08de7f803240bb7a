/* SPDX-License-Identifier: MIT */
#include "record/ring.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

int pf_ring_open(struct pf_ring *ring, int fd, size_t bytes, bool backward)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* whoever only overwrites must not see a tail of ours */
    void *pages = mmap(NULL, page + bytes, backward ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED)
        return PERFILE_ERROR_OPEN;
    *ring = (struct pf_ring){
        .fd = fd, .pages = pages, .data = (const uint8_t *)pages + page, .bytes = bytes, .backward = backward};
    return 0;
}

void pf_ring_close(struct pf_ring *ring)
{
    if (ring->pages)
        munmap(ring->pages, (size_t)(ring->data - (const uint8_t *)ring->pages) + ring->bytes);
    ring->pages = NULL;
}

static uint16_t size_at(const struct pf_ring *ring, uint64_t at)
{
    /* records are aligned to 8 bytes: the size never runs over the end */
    return pf_load16(ring->data + (at & (ring->bytes - 1)) + 6, false);
}

static int take_split(const struct pf_ring *ring, uint64_t at, uint16_t bytes, pf_ring_taker *take, void *context,
                      struct perfile_error *error)
{
    uint8_t record[1 << 16];
    const size_t first = ring->bytes - (size_t)(at & (ring->bytes - 1));
    memcpy(record, ring->data + (at & (ring->bytes - 1)), first);
    memcpy(record + first, ring->data, bytes - first);
    return take(context, record, bytes, error);
}

/* Counts the bytes from `at` on (at most `left`) that are complete records; *split: the next record wraps around. */
static int measure(const struct pf_ring *ring, uint64_t at, uint64_t left, size_t *complete, uint16_t *split,
                   struct perfile_error *error)
{
    const size_t capacity = ring->bytes - (size_t)(at & (ring->bytes - 1));
    *complete = 0;
    *split = 0;
    while (*complete < left && *complete < capacity) {
        const uint16_t bytes = size_at(ring, at + *complete);
        if (bytes < 8 || bytes % 8 || bytes > left - *complete)
            return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "ring buffer",
                           "a record of %u bytes where only %llu are left", bytes,
                           (unsigned long long)(left - *complete));
        if (bytes > capacity - *complete) {
            *split = bytes;
            return 0;
        }
        *complete += bytes;
    }
    return 0;
}

static int take_range(const struct pf_ring *ring, uint64_t at, uint64_t left, pf_ring_taker *take, void *context,
                      struct perfile_error *error)
{
    while (left) {
        size_t complete;
        uint16_t split;
        int result = measure(ring, at, left, &complete, &split, error);
        if (result == 0 && complete)
            result = take(context, ring->data + (at & (ring->bytes - 1)), complete, error);
        if (result == 0 && split)
            result = take_split(ring, at + complete, split, take, context, error);
        if (result != 0)
            return result;
        at += complete + split;
        left -= complete + split;
    }
    return 0;
}

static void copy_out(const struct pf_ring *ring, uint64_t at, uint8_t *to, size_t bytes)
{
    const size_t from = (size_t)(at & (ring->bytes - 1)), first = pf_min(bytes, ring->bytes - from);
    memcpy(to, ring->data + from, first);
    memcpy(to + first, ring->data, bytes - first);
}

/*
 * The newest record stands at the head; older ones follow, up to the first that was overwritten. They are laid out from
 * the end of a copy to its start, which turns them round.
 */
static int drain_backward(struct pf_ring *ring, pf_ring_taker *take, void *context, struct perfile_error *error)
{
    const struct perf_event_mmap_page *control = ring->pages;
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    const uint64_t there = pf_min(ring->tail - head, ring->bytes); /* it counts down from 0 */
    uint8_t *copy = pf_resize(ring->allocator, NULL, 0, ring->bytes);
    uint64_t used = 0;
    if (!copy)
        return pf_fail_memory(error, "ring buffer");
    while (used < there) {
        const uint16_t bytes = size_at(ring, head + used);
        if (bytes < 8 || bytes % 8 || bytes > there - used)
            break;
        used += bytes;
        copy_out(ring, head + used - bytes, copy + ring->bytes - used, bytes);
    }
    ring->tail = head;
    int result = used ? take(context, copy + ring->bytes - used, (size_t)used, error) : 0;
    pf_free(ring->allocator, copy, ring->bytes);
    return result;
}

void pf_ring_pause(const struct pf_ring *ring, bool paused)
{
    /* a kernel before 4.7 cannot, and has no buffers that are overwritten either */
    if (ring->backward)
        (void)ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, paused);
}

int pf_ring_drain(struct pf_ring *ring, pf_ring_taker *take, void *context, struct perfile_error *error)
{
    struct perf_event_mmap_page *control = ring->pages;
    if (ring->backward)
        return drain_backward(ring, take, context, error);
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    if (head - ring->tail > ring->bytes)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "ring buffer", "overrun by the kernel");
    int result = take_range(ring, ring->tail, head - ring->tail, take, context, error);
    ring->tail = head;
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
    return result;
}
