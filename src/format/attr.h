/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr between its bytes and struct perfile_attr. */
#ifndef PF_FORMAT_ATTR_H
#define PF_FORMAT_ATTR_H

#include "base/cursor.h"
#include "format/emit.h"

enum { PF_ATTR_SIZE_MIN = 64 };

/* The size an attr states: its word `size`, 64 when that is 0. `data` has at least 8 bytes. */
uint32_t pf_attr_stated_bytes(const uint8_t *data, bool swap);
/* Decodes what `bytes` covers; the rest is 0. `big_endian` is the byte order of the recording. */
void pf_attr_decode(const uint8_t *data, size_t bytes, bool swap, bool big_endian, struct perfile_attr *attr);
/* Shows what `bytes` covers, as an object called `name`. */
void pf_attr_emit(struct pf_emit *e, const char *name, const uint8_t *data, size_t bytes, bool swap, bool big_endian);

#endif
