/* SPDX-License-Identifier: MIT */
#include "analysis/data_src.h"

#include <inttypes.h>

#include "base/bytes.h"

static void add(struct pf_words *words, const char *text)
{
    while (*text && words->used < PF_WORDS_CAPACITY)
        words->text[words->used++] = *text++;
}

/* The names of the bits that are set, with " or " between them; returns how many. */
static unsigned add_bits(struct pf_words *words, uint64_t bits, const char *const *names, unsigned count,
                         unsigned found)
{
    for (unsigned i = 0; i < count; i++) {
        if (!(bits >> i & 1))
            continue;
        add(words, found++ ? " or " : "");
        add(words, names[i]);
    }
    return found;
}

static const char *first_bit(uint64_t bits, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (bits >> i & 1)
            return names[i];
    return "No";
}

static uint64_t part(uint64_t data_src, unsigned shift, unsigned bits)
{
    return data_src >> shift & ((UINT64_C(1) << bits) - 1);
}

/* The numbered levels of newer PMUs, with where they are. */
static void add_numbered_level(struct pf_words *words, uint64_t data_src, uint64_t number)
{
    static const char *const names[16] = {
        [1] = "L1",       [2] = "L2",  [3] = "L3",   [4] = "L4",         [5] = "L2 MHB",   [6] = "Memory-side Cache",
        [8] = "Uncached", [9] = "CXL", [10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",
        [14] = "PMEM"};
    static const char *const hops[8] = {
        "", "core, same node ", "node, same socket ", "socket, same board ", "board ", "(null) ", "(null) ", "(null) "};
    add(words, part(data_src, 37, 1) ? "Remote " : "");
    add(words, hops[part(data_src, 43, 3)]);
    add(words, names[number] ? names[number] : "Unknown level 7");
    add(words, " ");
}

void pf_data_src_level(struct pf_words *words, uint64_t data_src)
{
    static const char *const names[] = {"L1",
                                        "LFB/MAB",
                                        "L2",
                                        "L3",
                                        "Local RAM",
                                        "Remote RAM (1 hop)",
                                        "Remote RAM (2 hops)",
                                        "Remote Cache (1 hop)",
                                        "Remote Cache (2 hops)",
                                        "I/O",
                                        "Uncached"};
    uint64_t level = part(data_src, 5, 14);
    uint64_t number = part(data_src, 33, 4);
    if (number && number != 15) {
        add_numbered_level(words, data_src, number);
    } else if (level >> 3) {
        add_bits(words, level >> 3, names, PF_COUNT(names), 0);
        add(words, " ");
    } else {
        add(words, "N/A");
        return;
    }
    add(words, level & 2 ? "hit" : level & 4 ? "miss" : "");
}

void pf_data_src_snoop(struct pf_words *words, uint64_t data_src)
{
    static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM"};
    static const char *const more[] = {"Fwd", "Peer"};
    unsigned found = add_bits(words, part(data_src, 19, 5), names, PF_COUNT(names), 0);
    if (!add_bits(words, part(data_src, 38, 2), more, PF_COUNT(more), found))
        add(words, "N/A");
}

void pf_data_src_tlb(struct pf_words *words, uint64_t data_src)
{
    static const char *const names[] = {"N/A", "", "", "L1", "L2", "Walker", "Fault"};
    uint64_t level = part(data_src, 26, 7);
    if (!add_bits(words, level & ~UINT64_C(6), names, PF_COUNT(names), 0))
        add(words, "N/A");
    add(words, level & 2 ? " hit" : "");
    add(words, level & 4 ? " miss" : "");
}

void pf_data_src_blocked(struct pf_words *words, uint64_t data_src)
{
    uint64_t bits = part(data_src, 40, 3);
    if (bits & 1 || !bits) {
        add(words, " N/A");
        return;
    }
    add(words, bits & 2 ? " Data" : "");
    add(words, bits & 4 ? " Addr" : "");
}

void pf_data_src_lock(struct pf_words *words, uint64_t data_src)
{
    static const char *const locks[] = {"N/A", "Yes"};
    add(words, first_bit(part(data_src, 24, 2), locks, PF_COUNT(locks)));
}

static void put_operation(struct pf_words *words, uint64_t data_src)
{
    static const char *const operations[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
    add(words, first_bit(part(data_src, 0, 5), operations, PF_COUNT(operations)));
}

void pf_data_src_all(struct pf_words *words, uint64_t data_src)
{
    static const struct {
        const char *label;
        void (*put)(struct pf_words *words, uint64_t data_src);
    } parts[] = {{"|OP ", put_operation},    {"|LVL ", pf_data_src_level}, {"|SNP ", pf_data_src_snoop},
                 {"|TLB ", pf_data_src_tlb}, {"|LCK ", pf_data_src_lock},  {"|BLK ", pf_data_src_blocked}};
    for (size_t i = 0; i < PF_COUNT(parts); i++) {
        add(words, parts[i].label);
        parts[i].put(words, data_src);
    }
}

void pf_put_page_size(struct pf_text *text, uint64_t bytes)
{
    static const char units[] = "BKMG";
    unsigned unit = 0;
    while (bytes / 1024 > 1 && units[unit + 1]) { /* 1 GiB is 1024M to perf */
        bytes /= 1024;
        unit++;
    }
    pf_put_format(text, bytes ? "%" PRIu64 "%c" : "N/A", bytes, units[unit]);
}
