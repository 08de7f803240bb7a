/* SPDX-License-Identifier: MIT */
/*
 * The frames at an address, numbered so that equal numbers mean equal functions. A frame is one function of one module,
 * or one address that has no symbol. Each address is looked up once for each address space.
 */
#ifndef PF_ANALYSIS_FRAMES_H
#define PF_ANALYSIS_FRAMES_H

#include "analysis/address_cache.h"
#include "base/bytes.h"
#include "base/pairs.h"
#include "base/segments.h"
#include "symbol/symbols.h"

enum pf_frame_kind { PF_FRAME_USER, PF_FRAME_KERNEL, PF_FRAME_INLINED, PF_FRAME_JIT, PF_FRAME_UNKNOWN };

struct pf_frame_info {
    uint32_t module;   /* PF_NO_SYMBOL: no mapping */
    uint32_t symbol;   /* PF_NO_SYMBOL: only `address` is known */
    uint64_t address;  /* in the module; in the symbol when there is one */
    const char *name;  /* the function; NULL without a symbol */
    uint8_t kind;      /* enum pf_frame_kind */
    uint32_t function; /* frame of the function; the frame itself unless it is a single address */
};

/* What all frames are with pf_frames_options.by_address. */
struct pf_frame_address {
    struct pf_frame_info frame;
    uint64_t ip;            /* in memory; with by_location that of the first sample; 0: the frame is a function */
    uint64_t table_address; /* this and the next as in struct pf_location */
    uint64_t in_module;
    const char *raw_name; /* of an inlined function, as it is linked; else NULL */
    const char *file;     /* source file, NULL: not known */
    uint32_t line;
};
static inline const struct pf_frame_address *pf_frame_address(const struct pf_frame_info *frame)
{
    return (const struct pf_frame_address *)frame;
}

struct pf_frames_options {
    bool inlines;             /* the functions that were inlined have frames, too */
    bool inlines_by_function; /* and each function that they were inlined into has its own, as in perf */
    bool by_address;          /* frames are addresses with their source lines, not functions */
    /*
     * And addresses are positions in binaries, the same wherever the binary is mapped. With inlined functions, the
     * function that they are in has a line of its own, that of the call; else the address has one line.
     */
    bool by_location;
    bool joins_unnamed; /* addresses without a symbol are one frame for each module, not one each */
};

struct pf_frames {
    const struct perfile_allocator *allocator;
    struct pf_symbols *symbols;
    struct pf_frames_options options;
    struct pf_arena arena;             /* names of inlined functions */
    struct pf_address_cache positions; /* of addresses: the frame, or PF_EXPANDED */
    struct pf_pairs numbered;          /* (module and kind, symbol or address) to frame */
    struct pf_segments frames; /* pf_frame_info, or _address; other threads may read known ones while more are added */
    size_t count;
    struct pf_segments lists; /* pointers to the count, and the frames, innermost first; the last one is not inlined */
    uint32_t list_count;
};

#define PF_NO_FRAME UINT32_MAX

/* A position with this bit is the number of a list of frames, not of a frame. */
#define PF_EXPANDED ((uint32_t)1 << 31)

/* The symbols must outlive them. Zeroes may be closed, too. */
void pf_frames_open(struct pf_frames *frames, struct pf_symbols *symbols, const struct pf_frames_options *options,
                    const struct perfile_allocator *allocator);
void pf_frames_close(struct pf_frames *frames);
/* No address is looked up any more: gives back the memory that was for that. */
void pf_frames_end(struct pf_frames *frames);

/*
 * The position of an address of a space (NULL: nothing is mapped): the number of a frame, or with PF_EXPANDED that of a
 * list. A return address is looked up where its call is, one byte before. PF_NO_FRAME: out of memory.
 */
uint32_t pf_frames_resolve(struct pf_frames *frames, const struct perfile_space *space, uint64_t ip, bool returns);
/* The same for a space by its number in `positions`, after pf_address_cache_ask. */
uint32_t pf_frames_resolve_in(struct pf_frames *frames, uint32_t space, uint64_t ip, bool returns);
/* Prefetches the position of an address that is resolved soon. */
void pf_frames_expect(struct pf_frames *frames, const struct perfile_space *space, uint64_t ip, bool returns);

/* Sets *list to the frames of a position, innermost first, and returns how many there are, at least 1. */
static inline size_t pf_frames_of(const struct pf_frames *frames, const uint32_t *position, const uint32_t **list)
{
    *list = position;
    if (PF_LIKELY(!(*position & PF_EXPANDED)))
        return 1;
    *list = *(uint32_t **)pf_segments_at(&frames->lists, *position & ~PF_EXPANDED);
    return *(*list)++;
}

/* The frame of a position that is not an inlined function. */
static inline uint32_t pf_frames_function(const struct pf_frames *frames, uint32_t position)
{
    const uint32_t *list;
    if (position == PF_NO_FRAME)
        return position;
    const size_t count = pf_frames_of(frames, &position, &list);
    return list[count - 1];
}

/* NULL: there is no such frame. */
static inline const struct pf_frame_info *pf_frames_at(const struct pf_frames *frames, uint32_t frame)
{
    return pf_segments_at(&frames->frames, frame);
}

#endif
