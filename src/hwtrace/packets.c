/* SPDX-License-Identifier: MIT */
/* Finds the format of a trace, and walks over the packets of payloads that arrive in pieces. */
#include "hwtrace/packets.h"

#include <stdlib.h>
#include <string.h>

#define AUX(name) extern const struct pf_aux_format pf_aux_##name;
#include "hwtrace/formats.def"
#undef AUX

static const struct pf_aux_format *const formats[] = {
#define AUX(name) &pf_aux_##name,
#include "hwtrace/formats.def"
#undef AUX
};

const struct pf_aux_format *pf_aux_format_find(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(formats); i++)
        if (formats[i]->type == type)
            return formats[i];
    return NULL;
}

/* The type of an s390 is the second part of its CPUID: "IBM,3931,704". */
struct pf_aux_machine pf_aux_machine_of(bool big_endian, const char *cpuid)
{
    const char *comma = cpuid ? strchr(cpuid, ',') : NULL;
    return (struct pf_aux_machine){.big_endian = big_endian,
                                   .s390_machine = comma ? (uint32_t)strtoul(comma + 1, NULL, 10) : 0};
}

void pf_aux_put(struct pf_text *text, const struct pf_aux_format *format, const struct pf_aux_packet *packet)
{
    const struct pf_aux_kind *kind = &format->kinds[packet->kind];
    if (!format->values_only || !kind->put)
        pf_put_string(text, kind->name);
    if (kind->put)
        kind->put(text, packet);
}

/* ---- walk -------------------------------------------------------------------------------------------------------- */

/* Fewer bytes than the longest packet has are left of one piece; as many of the next one are put after them. */
static size_t joined_capacity(const struct pf_aux_walk *walk)
{
    return 2 * walk->format->max_bytes;
}

bool pf_aux_walk_open(struct pf_aux_walk *walk, const struct perfile_allocator *allocator)
{
    walk->allocator = allocator;
    walk->joined = pf_new(allocator, joined_capacity(walk));
    walk->state = pf_new(allocator, walk->format->state_bytes + 1);
    pf_aux_walk_restart(walk);
    return walk->joined && walk->state;
}

void pf_aux_walk_close(struct pf_aux_walk *walk)
{
    pf_free(walk->allocator, walk->joined, joined_capacity(walk));
    pf_free(walk->allocator, walk->state, walk->format->state_bytes + 1);
}

void pf_aux_walk_resume(struct pf_aux_walk *walk, uint64_t offset)
{
    walk->bytes = 0;
    walk->offset = offset;
    walk->piece = NULL;
    walk->end = 1;
}

void pf_aux_walk_restart(struct pf_aux_walk *walk)
{
    pf_aux_walk_resume(walk, 0);
    if (walk->state)
        memset(walk->state, 0, walk->format->state_bytes + 1);
}

/* What is left to read in `joined` came with the piece: reading goes on there. False when older bytes are left, too. */
static bool leave_joined(struct pf_aux_walk *walk)
{
    const uint8_t *piece = walk->piece;
    walk->piece = NULL;
    if (!piece || walk->bytes > walk->piece_joined)
        return false;
    const size_t used = walk->piece_joined - walk->bytes;
    walk->data = piece + used;
    walk->bytes = walk->piece_bytes - used;
    return true;
}

/* Puts as much of the next piece as may belong to the next packet after what is left of the one before. */
static void join(struct pf_aux_walk *walk, const uint8_t *piece, size_t bytes)
{
    walk->piece = piece;
    walk->piece_bytes = bytes;
    walk->piece_joined = (size_t)pf_min(bytes, joined_capacity(walk) - walk->bytes);
    memcpy(walk->joined + walk->bytes, piece, walk->piece_joined);
    walk->bytes += walk->piece_joined;
}

static void get_more(struct pf_aux_walk *walk, struct perfile_error *error)
{
    const uint8_t *piece;
    size_t bytes;
    if (leave_joined(walk))
        return;
    if (walk->bytes)
        memmove(walk->joined, walk->data, walk->bytes);
    walk->data = walk->joined;
    walk->end = walk->more(walk->context, &piece, &bytes, error);
    if (walk->end > 0)
        join(walk, piece, bytes);
}

bool pf_aux_walk_fill(struct pf_aux_walk *walk, struct perfile_error *error)
{
    while (walk->bytes < walk->format->max_bytes && walk->end > 0)
        get_more(walk, error);
    return walk->bytes > 0;
}

int pf_aux_walk_next(struct pf_aux_walk *walk, struct pf_aux_packet *packet, struct perfile_error *error)
{
    return pf_aux_walk_next_by(walk, walk->format->read, packet, error);
}

static void pass(struct pf_aux_walk *walk, size_t bytes, uint64_t *passed)
{
    walk->data += bytes;
    walk->bytes -= bytes;
    walk->offset += bytes;
    *passed += bytes;
}

int pf_aux_walk_find(struct pf_aux_walk *walk, const void *pattern, size_t bytes, uint64_t *passed,
                     struct perfile_error *error)
{
    while (true) {
        (void)pf_aux_walk_fill(walk, error);
        if (walk->bytes < bytes) {
            pass(walk, walk->bytes, passed);
            return walk->end;
        }
        const uint8_t *found = memmem(walk->data, walk->bytes, pattern, bytes);
        pass(walk, found ? (size_t)(found - walk->data) : walk->bytes - (bytes - 1), passed);
        if (found)
            return 1;
    }
}
