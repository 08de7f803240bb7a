/* SPDX-License-Identifier: MIT */
#include "record/aux_area.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"

static int map_area(struct pf_aux_area *area, const struct pf_ring *ring, size_t bytes)
{
    struct perf_event_mmap_page *control = ring->pages;
    const int protection = area->overwrite ? PROT_READ : PROT_READ | PROT_WRITE; /* unless it is writable, it wraps */
    control->aux_offset = (uint64_t)sysconf(_SC_PAGESIZE) + ring->bytes;
    control->aux_size = bytes;
    void *data = mmap(NULL, bytes, protection, MAP_SHARED, ring->fd, (off_t)control->aux_offset);
    if (data == MAP_FAILED)
        return errno;
    area->data = data;
    area->bytes = bytes;
    area->control = control;
    area->fd = ring->fd;
    return 0;
}

int pf_aux_area_open(struct pf_aux_area *area, const struct pf_ring *ring, size_t bytes, size_t least)
{
    int why;
    while ((why = map_area(area, ring, bytes)) && (why == EPERM || why == ENOMEM) && bytes > least)
        bytes /= 2;
    return why;
}

void pf_aux_area_close(struct pf_aux_area *area)
{
    if (area->data)
        munmap(area->data, area->bytes);
    area->data = NULL;
}

/* Where the kernel is, which counts what it writes, but may begin again at 0 in areas that are overwritten. */
static uint64_t head_of(const struct pf_aux_area *area)
{
    const struct perf_event_mmap_page *control = area->control;
    return __atomic_load_n(&control->aux_head, __ATOMIC_ACQUIRE);
}

static void take_range(const struct pf_aux_area *area, uint64_t from, uint64_t bytes, struct pf_aux_piece *piece)
{
    const size_t at = (size_t)(from & (area->bytes - 1));
    piece->offset = from;
    piece->data[0] = area->data + at;
    piece->bytes[0] = (size_t)pf_min(bytes, area->bytes - at);
    piece->data[1] = area->data;
    piece->bytes[1] = (size_t)bytes - piece->bytes[0];
}

/* The kernel clears the area when it is mapped. */
static bool is_filled(const struct pf_aux_area *area, uint64_t head)
{
    bool filled = head >= area->bytes;
    for (size_t at = (size_t)(head & (area->bytes - 1)); at < area->bytes && !filled; at++)
        filled = area->data[at] != 0;
    return filled;
}

static bool take_overwritten(struct pf_aux_area *area, struct pf_aux_piece *piece)
{
    const uint64_t head = head_of(area);
    const uint64_t there = is_filled(area, head) ? area->bytes : head < area->tail ? head : head - area->tail;
    take_range(area, head - there, there, piece);
    piece->offset = head < there ? 0 : head - there;
    area->tail = head;
    return there > 0;
}

bool pf_aux_area_take(struct pf_aux_area *area, size_t alignment, struct pf_aux_piece *piece)
{
    if (area->overwrite)
        return take_overwritten(area, piece);
    const uint64_t head = head_of(area), there = pf_min(head - area->tail, area->bytes);
    if (head == area->tail)
        return false;
    take_range(area, head - there, there, piece);
    /* What does not hold a complete record is filling at the end of the kernel's buffer. */
    for (unsigned i = 0; i < 2; i++)
        piece->bytes[i] -= piece->bytes[i] % alignment;
    area->tail = head;
    return true;
}

void pf_aux_area_release(struct pf_aux_area *area)
{
    struct perf_event_mmap_page *control = area->control;
    if (!area->overwrite)
        __atomic_store_n(&control->aux_tail, area->tail, __ATOMIC_RELEASE);
}
