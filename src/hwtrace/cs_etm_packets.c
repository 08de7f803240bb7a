/* SPDX-License-Identifier: MIT */
/*
 * Packets of ETMv4 and ETE, which frames of CoreSight have in pieces: libopencsd finds them in the bytes of each source,
 * and prints them as perf does.
 */
#include "hwtrace/cs_etm.h"
#include "hwtrace/cs_etm_units.h"

#ifdef PF_HAVE_OPENCSD

struct unpacker;

struct source {
    struct unpacker *unpacker;
    dcd_tree_handle_t tree;
    unsigned number;
    bool tried;
};

struct unpacker {
    struct pf_opencsd csd;
    const struct pf_aux_recording *recording;
    struct source sources[PF_CS_SOURCES];
    uint8_t data[PF_CS_FRAME_BYTES], source_of[PF_CS_FRAME_BYTES]; /* the bytes of a frame */
    unsigned count;
    pf_aux_put_part *put;
    void *context;
};

static void take_packet(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                        const void *packet, const uint32_t bytes, const uint8_t *data)
{
    enum { MAX_TEXT = 1024 };
    const struct source *source = context;
    const struct unpacker *unpacker = source->unpacker;
    char text[MAX_TEXT];
    (void)data;
    if (op == OCSD_OP_DATA && unpacker->csd.pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof(text)) == OCSD_OK)
        unpacker->put(unpacker->context, &(struct pf_aux_part){source->number, index, bytes, text});
}

/*
 * The library does not give packets of ETE to callers, but those of ETMv4, which are the same from version 5 on. The
 * version of ETE is that of TRCDEVARCH.
 */
static struct pf_cs_unit as_etmv4(const struct pf_cs_unit *unit)
{
    enum { VERSION_BITS = 0xff0, MAJOR = 5 << 8, REVISION_SHIFT = 16, REVISION_MASK = 15, MINOR_SHIFT = 4 };
    struct pf_cs_unit same = *unit;
    if (unit->is_ete)
        same.id1 = (unit->id1 & ~(uint32_t)VERSION_BITS) | MAJOR |
                   (unit->devarch >> REVISION_SHIFT & REVISION_MASK) << MINOR_SHIFT;
    same.is_ete = false;
    return same;
}

static void open_source(struct unpacker *unpacker, struct source *source)
{
    const struct pf_opencsd *csd = &unpacker->csd;
    struct pf_cs_unit unit;
    unsigned char id = 0;
    if (!pf_cs_find_unit(unpacker->recording, unpacker->recording->cpu, source->number, &unit))
        return;
    unit = as_etmv4(&unit);
    source->tree = pf_cs_open_tree(csd, &unit, OCSD_CREATE_FLG_PACKET_PROC, &id);
    if (source->tree &&
        csd->dt_attach_packet_callback(source->tree, id, OCSD_C_API_CB_PKT_MON, (void *)take_packet, source) == OCSD_OK)
        return;
    if (source->tree)
        csd->destroy_dcd_tree(source->tree);
    source->tree = NULL;
}

static struct source *source_at(struct unpacker *unpacker, unsigned number)
{
    struct source *source = &unpacker->sources[number];
    if (!source->tried) {
        *source = (struct source){.unpacker = unpacker, .number = number, .tried = true};
        open_source(unpacker, source);
    }
    return source->tree ? source : NULL;
}

static void reset_sources(struct unpacker *unpacker)
{
    uint32_t used;
    for (unsigned i = 0; i < PF_CS_SOURCES; i++)
        if (unpacker->sources[i].tree)
            (void)unpacker->csd.dt_process_data(unpacker->sources[i].tree, OCSD_OP_RESET, 0, 0, NULL, &used);
}

/* The library finds the next synchronization after bytes that it cannot read. */
static void feed(struct unpacker *unpacker, uint64_t offset, unsigned at, unsigned bytes)
{
    struct source *source = source_at(unpacker, unpacker->source_of[at]);
    uint32_t used = 0;
    if (source && OCSD_DATA_RESP_IS_FATAL(unpacker->csd.dt_process_data(
                      source->tree, OCSD_OP_DATA, (ocsd_trc_index_t)offset, bytes, unpacker->data + at, &used)))
        (void)unpacker->csd.dt_process_data(source->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
}

static void add_byte(void *context, unsigned source, uint8_t byte)
{
    struct unpacker *unpacker = context;
    if (!source || source >= PF_CS_SOURCES)
        return; /* it fills the frame */
    unpacker->data[unpacker->count] = byte;
    unpacker->source_of[unpacker->count++] = (uint8_t)source;
}

/* Gives each source its bytes; those after the number of another source begin one byte later. */
static void feed_all(struct unpacker *unpacker, uint64_t offset)
{
    for (unsigned at = 0, end; at < unpacker->count; at = end) {
        for (end = at + 1; end < unpacker->count && unpacker->source_of[end] == unpacker->source_of[at];)
            end++;
        feed(unpacker, offset + at, at, end - at);
        offset++;
    }
}

static void unpack(void *state, const struct pf_aux_packet *packet, pf_aux_put_part *put, void *context)
{
    struct unpacker *unpacker = state;
    unpacker->put = put;
    unpacker->context = context;
    unpacker->count = 0;
    if (packet->kind == PF_CS_FRAME) {
        pf_cs_walk_frame(packet->data, (unsigned)packet->payload, add_byte, unpacker);
    } else if (packet->kind == PF_CS_RAW) {
        memcpy(unpacker->data, packet->data, packet->bytes);
        memset(unpacker->source_of, 0, packet->bytes);
        unpacker->count = (unsigned)packet->bytes;
    } else {
        reset_sources(unpacker);
    }
    feed_all(unpacker, packet->offset);
}

static void open_unpacker(void *state, const struct pf_aux_recording *recording)
{
    struct unpacker *unpacker = state;
    *unpacker = (struct unpacker){.recording = recording};
    (void)pf_opencsd_open(&unpacker->csd);
}

static void restart(void *state)
{
    struct unpacker *unpacker = state;
    for (unsigned i = 0; i < PF_CS_SOURCES; i++)
        if (unpacker->sources[i].tree)
            unpacker->csd.destroy_dcd_tree(unpacker->sources[i].tree);
    memset(unpacker->sources, 0, sizeof(unpacker->sources));
}

static void close_unpacker(void *state)
{
    struct unpacker *unpacker = state;
    restart(state);
    pf_opencsd_close(&unpacker->csd);
}

const struct pf_aux_unpacker pf_aux_unpack_cs_etm = {
    .state_bytes = sizeof(struct unpacker),
    .open = open_unpacker,
    .restart = restart,
    .unpack = unpack,
    .close = close_unpacker,
};

#endif
