/* SPDX-License-Identifier: MIT */
#include "record/pids.h"

enum { WORDS = PF_PID_LIMIT / 64 };

bool pf_pids_open(struct pf_pids *pids, const struct perfile_allocator *allocator)
{
    *pids = (struct pf_pids){.allocator = allocator, .bits = pf_new(allocator, WORDS * sizeof(uint64_t))};
    return pids->bits != NULL;
}

void pf_pids_close(struct pf_pids *pids)
{
    if (pids->bits)
        pf_free(pids->allocator, pids->bits, WORDS * sizeof(uint64_t));
    pids->bits = NULL;
}

void pf_pids_clear(struct pf_pids *pids)
{
    if (pids->bits)
        memset(pids->bits, 0, WORDS * sizeof(uint64_t));
}

void pf_pids_set(struct pf_pids *pids, uint32_t pid, bool there)
{
    if (!pids->bits || pid == 0 || pid >= PF_PID_LIMIT)
        return;
    const uint64_t bit = 1ull << pid % 64;
    pids->bits[pid / 64] = there ? pids->bits[pid / 64] | bit : pids->bits[pid / 64] & ~bit;
}

size_t pf_pids_list(const struct pf_pids *pids, int32_t *to)
{
    size_t count = 0;
    for (size_t word = 0; pids->bits && word < WORDS; word++)
        for (uint64_t left = pids->bits[word]; left; left &= left - 1, count++)
            if (to)
                to[count] = (int32_t)(word * 64 + (size_t)__builtin_ctzll(left));
    return count;
}
