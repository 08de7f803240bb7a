/* SPDX-License-Identifier: MIT */
/* Frames and modules as the public structs have them. */
#ifndef PF_ANALYSIS_DESCRIBE_H
#define PF_ANALYSIS_DESCRIBE_H

#include <perfile/profile.h>

#include "analysis/frames.h"

/* What frames are with these enum perfile_stream_flags. */
struct pf_frames_options pf_describe_options(uint32_t flags, const struct perfile_symbol_options *symbols);
/* "user", "kernel" ... of an enum perfile_frame_kind. Static. */
const char *pf_describe_kind(uint32_t kind);
/* `info` may be NULL: ARGUMENT. */
int pf_describe_frame(const struct pf_frame_info *info, bool by_address, struct perfile_frame *frame);
/* ARGUMENT: there is no such module, or module->size is not set. */
int pf_describe_module(const struct pf_symbols *symbols, uint32_t id, struct perfile_module *module);

/*
 * Sets the source file and line where the function of a frame begins. They stay unchanged where that is not known:
 * without debug info, without a symbol whose end is known, and outside of user code.
 */
void pf_describe_start(struct pf_symbols *symbols, const struct pf_frame_info *info, const char **file, uint32_t *line);

/* Names of frames and threads as flame graphs have them, each made once. */
struct pf_labels {
    struct pf_arena arena;
    struct pf_map of;    /* frames, to pointers */
    struct pf_map comms; /* pointers to pointers */
};
void pf_labels_open(struct pf_labels *labels, const struct perfile_allocator *allocator);
void pf_labels_close(struct pf_labels *labels);
/* `info`, that of frame `id`, may be NULL. NULL then, or when out of memory. */
const char *pf_labels_get(struct pf_labels *labels, const struct pf_symbols *symbols, uint32_t id,
                          const struct pf_frame_info *info);
/* Equal names of threads must be equal pointers. NULL: out of memory. */
const char *pf_labels_get_comm(struct pf_labels *labels, const char *comm);

#endif
