/* SPDX-License-Identifier: MIT */
/* data_src in words, and page sizes. */
#include "output/script.h"

/*
 * perf writes the words into 99 places and cuts off what does not fit; so do we, for the lines' sake.
 */
enum { WORDS_ROOM = 99 };

struct words {
    char text[WORDS_ROOM + 1];
    unsigned used;
};

static void add(struct words *words, const char *text)
{
    while (*text && words->used < WORDS_ROOM)
        words->text[words->used++] = *text++;
}

/* The names of the bits that are set, with " or " between them; returns how many. */
static unsigned add_bits(struct words *words, uint64_t bits, const char *const *names, unsigned count, unsigned found)
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
static void add_numbered_level(struct words *words, uint64_t data_src, uint64_t number)
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

static void add_level(struct words *words, uint64_t data_src)
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
    add(words, "|LVL ");
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

static void add_snoop(struct words *words, uint64_t data_src)
{
    static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM"};
    static const char *const more[] = {"Fwd", "Peer"};
    add(words, "|SNP ");
    unsigned found = add_bits(words, part(data_src, 19, 5), names, PF_COUNT(names), 0);
    if (!add_bits(words, part(data_src, 38, 2), more, PF_COUNT(more), found))
        add(words, "N/A");
}

static void add_tlb(struct words *words, uint64_t data_src)
{
    static const char *const names[] = {"N/A", "", "", "L1", "L2", "Walker", "Fault"};
    uint64_t level = part(data_src, 26, 7);
    add(words, "|TLB ");
    if (!add_bits(words, level & ~UINT64_C(6), names, PF_COUNT(names), 0))
        add(words, "N/A");
    add(words, level & 2 ? " hit" : "");
    add(words, level & 4 ? " miss" : "");
}

static void add_blocked(struct words *words, uint64_t data_src)
{
    uint64_t bits = part(data_src, 40, 3);
    add(words, "|BLK ");
    if (bits & 1 || !bits) {
        add(words, " N/A");
        return;
    }
    add(words, bits & 2 ? " Data" : "");
    add(words, bits & 4 ? " Addr" : "");
}

static void describe(struct words *words, uint64_t data_src)
{
    static const char *const operations[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
    static const char *const locks[] = {"N/A", "Yes"};
    add(words, "|OP ");
    add(words, first_bit(part(data_src, 0, 5), operations, PF_COUNT(operations)));
    add_level(words, data_src);
    add_snoop(words, data_src);
    add_tlb(words, data_src);
    add(words, "|LCK ");
    add(words, first_bit(part(data_src, 24, 2), locks, PF_COUNT(locks)));
    add_blocked(words, data_src);
}

/* As wide as the widest so far, so that the next field stays in its column most of the time. */
char *pf_script_put_data_src(struct pf_script *script, char *at)
{
    enum { NUMBER = 17 };
    struct words words = {{0}, 0};
    uint64_t data_src = script->sample.data_src;
    describe(&words, data_src);
    unsigned bytes = (unsigned)pf_min(words.used, WORDS_ROOM - NUMBER);
    pf_script_leave(script, at);
    pf_put_format(script->out, "%16" PRIx64 " %.*s", data_src, (int)bytes, words.text);
    script->data_src_width = (unsigned)pf_max(script->data_src_width, bytes);
    pf_put_format(script->out, "%*s", (int)(script->data_src_width - bytes), "");
    return pf_script_enter(script);
}

/* ---- page sizes -------------------------------------------------------------------------------------------------- */

static char *put_page_size(struct pf_script *script, char *at, uint64_t bytes)
{
    static const char units[] = "BKMG";
    unsigned unit = 0;
    pf_script_leave(script, at);
    if (!bytes) {
        pf_put_string(script->out, " N/A");
        return pf_script_enter(script);
    }
    while (bytes / 1024 > 1 && units[unit + 1]) { /* 1 GiB is 1024M to perf */
        bytes /= 1024;
        unit++;
    }
    pf_put_format(script->out, " %" PRIu64 "%c", bytes, units[unit]);
    return pf_script_enter(script);
}

char *pf_script_put_data_page_size(struct pf_script *script, char *at)
{
    return put_page_size(script, at, script->sample.data_page_size);
}

char *pf_script_put_code_page_size(struct pf_script *script, char *at)
{
    return put_page_size(script, at, script->sample.code_page_size);
}
