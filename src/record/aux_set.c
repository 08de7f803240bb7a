/* SPDX-License-Identifier: MIT */
#include "record/aux_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "base/memory.h"

enum { BYTES_OF_ROOT = 4 << 20, BYTES_OF_USER = 128 << 10 };

int pf_aux_set_add(struct pf_aux_set *set, const struct pf_ring *ring, const struct pf_opened *one,
                   const struct pf_target *target, uint64_t bytes)
{
    const int32_t cpu = target->cpus[one->cpu];
    struct pf_aux_area area = {
        .overwrite = set->overwrite, .index = cpu < 0 ? one->tid : one->cpu, .cpu = cpu, .tid = target->tids[one->tid]};
    const size_t usual = geteuid() == 0 ? BYTES_OF_ROOT : BYTES_OF_USER;
    const int why = pf_aux_area_open(&area, ring, bytes ? (size_t)bytes : usual,
                                     bytes ? (size_t)bytes : (size_t)sysconf(_SC_PAGESIZE));
    if (why)
        return why;
    if (PF_APPEND(set->allocator, set->items, set->count, set->capacity, area))
        return 0;
    pf_aux_area_close(&area);
    return ENOMEM;
}

void pf_aux_set_close(struct pf_aux_set *set)
{
    while (set->count)
        pf_aux_area_close(&set->items[--set->count]);
    pf_free(set->allocator, set->items, set->capacity * sizeof(*set->items));
    set->items = NULL;
    set->capacity = 0;
}

/* The processor's clock, by which the times of Intel PT are completed; elsewhere numbers that only grow. */
static uint64_t reference_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#else
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/* The data is filled up to a multiple of 8 bytes. */
static int write_piece(const struct pf_aux_area *area, const struct pf_aux_piece *piece, struct perfile_writer *writer,
                       struct perfile_error *error)
{
    static const uint8_t zeros[8];
    const uint64_t bytes = (uint64_t)piece->bytes[0] + piece->bytes[1], filling = -bytes & 7;
    const struct perfile_auxtrace record = {.data_size = bytes + filling,
                                            .offset = piece->offset,
                                            .reference = reference_now(),
                                            .idx = area->index,
                                            .tid = area->tid,
                                            .cpu = area->cpu};
    int result = perfile_writer_record(writer, PERFILE_RECORD_AUXTRACE, 0, &record, sizeof(record), NULL, error);
    for (unsigned i = 0; i < 2 && result == 0; i++)
        if (piece->bytes[i])
            result = perfile_writer_payload(writer, piece->data[i], piece->bytes[i], error);
    return result == 0 && filling ? perfile_writer_payload(writer, zeros, filling, error) : result;
}

int pf_aux_set_write(struct pf_aux_set *set, size_t alignment, struct perfile_writer *writer, uint64_t *written,
                     struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < set->count && result == 0; i++) {
        struct pf_aux_area *area = &set->items[i];
        struct pf_aux_piece piece;
        if (!pf_aux_area_take(area, alignment, &piece))
            continue;
        if (piece.bytes[0] + piece.bytes[1])
            result = write_piece(area, &piece, writer, error);
        *written += piece.bytes[0] + piece.bytes[1];
        pf_aux_area_release(area);
    }
    return result;
}

bool pf_aux_set_has_new(const struct pf_aux_set *set)
{
    bool has_new = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct perf_event_mmap_page *control = set->items[i].control;
        /* after a round of the area the head is where it was */
        has_new |= set->overwrite || __atomic_load_n(&control->aux_head, __ATOMIC_RELAXED) != set->items[i].tail;
    }
    return has_new;
}
