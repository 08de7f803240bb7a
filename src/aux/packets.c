/* SPDX-License-Identifier: MIT */
/* Finds the format of a trace, and walks over the packets of payloads that arrive in pieces. */
#include "aux/packets.h"

#define AUX(name) extern const struct pf_aux_format pf_aux_##name;
#include "aux/formats.def"
#undef AUX

static const struct pf_aux_format *const formats[] = {
#define AUX(name) &pf_aux_##name,
#include "aux/formats.def"
#undef AUX
};

const struct pf_aux_format *pf_aux_format_find(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(formats); i++)
        if (formats[i]->type == type)
            return formats[i];
    return NULL;
}

void pf_aux_put(struct pf_text *text, const struct pf_aux_format *format, const struct pf_aux_packet *packet)
{
    const struct pf_aux_kind *kind = &format->kinds[packet->kind];
    if (!format->values_only || !kind->put)
        pf_put_string(text, kind->name);
    if (kind->put)
        kind->put(text, packet);
}

/* Kept are fewer bytes than the longest packet has; as many of the next piece are put after them. */
static size_t kept_capacity(const struct pf_aux_walk *walk)
{
    return 2 * walk->format->max_bytes;
}

bool pf_aux_walk_open(struct pf_aux_walk *walk, const struct perfile_allocator *allocator)
{
    walk->allocator = allocator;
    walk->kept = pf_new(allocator, kept_capacity(walk));
    walk->state = pf_new(allocator, walk->format->state_bytes + 1);
    pf_aux_walk_restart(walk);
    return walk->kept && walk->state;
}

void pf_aux_walk_close(struct pf_aux_walk *walk)
{
    pf_free(walk->allocator, walk->kept, kept_capacity(walk));
    pf_free(walk->allocator, walk->state, walk->format->state_bytes + 1);
}

void pf_aux_walk_restart(struct pf_aux_walk *walk)
{
    walk->kept_bytes = 0;
    walk->offset = 0;
    if (walk->state)
        memset(walk->state, 0, walk->format->state_bytes + 1);
}

/*
 * Visits packets while at least `reserve` bytes are left, so that none is cut by the end of a piece. Moves *data and
 * *bytes over them.
 */
static int visit_packets(struct pf_aux_walk *walk, const uint8_t **data, size_t *bytes, size_t reserve)
{
    int result = 0;
    while (*bytes && *bytes >= reserve && result == 0) {
        struct pf_aux_packet packet = {.data = *data, .bytes = *bytes, .offset = walk->offset};
        walk->format->read(&walk->machine, walk->state, &packet);
        *data += packet.bytes;
        *bytes -= packet.bytes;
        walk->offset += packet.bytes;
        result = walk->visit(walk->context, &packet);
    }
    return result;
}

static void keep(struct pf_aux_walk *walk, const uint8_t *data, size_t bytes)
{
    memmove(walk->kept + walk->kept_bytes, data, bytes);
    walk->kept_bytes += bytes;
}

/*
 * Visits packets of the kept bytes and those of the piece that are put after them. What is left of the piece is read
 * where it lies; only when the piece is too short for a packet, bytes stay kept.
 */
static int visit_kept(struct pf_aux_walk *walk, const uint8_t **data, size_t *bytes)
{
    const size_t added = (size_t)pf_min(*bytes, kept_capacity(walk) - walk->kept_bytes);
    keep(walk, *data, added);
    const uint8_t *at = walk->kept;
    size_t left = walk->kept_bytes;
    const int result = visit_packets(walk, &at, &left, walk->format->max_bytes);
    const size_t unused = (size_t)pf_min(left, added);
    walk->kept_bytes = left - unused;
    memmove(walk->kept, at, walk->kept_bytes);
    *data += added - unused;
    *bytes -= added - unused;
    return result;
}

int pf_aux_walk_feed(struct pf_aux_walk *walk, const uint8_t *data, size_t bytes)
{
    int result = walk->kept_bytes && bytes ? visit_kept(walk, &data, &bytes) : 0;
    if (result == 0 && walk->kept_bytes == 0)
        result = visit_packets(walk, &data, &bytes, walk->format->max_bytes);
    if (result == 0)
        keep(walk, data, bytes);
    return result;
}

int pf_aux_walk_end(struct pf_aux_walk *walk)
{
    const uint8_t *data = walk->kept;
    size_t bytes = walk->kept_bytes;
    walk->kept_bytes = 0;
    return visit_packets(walk, &data, &bytes, 1);
}
