/* SPDX-License-Identifier: MIT */
/* Calls a visitor. After it has returned "stop" nothing more is called; members that are NULL are never called. */
#ifndef PF_FORMAT_EMIT_H
#define PF_FORMAT_EMIT_H

#include <perfile/perfile.h>

struct pf_emit {
    const struct perfile_visitor *visitor;
    bool stopped;
};

static inline void pf_emit_begin(struct pf_emit *e, const char *name, bool list)
{
    if (!e->stopped && e->visitor->begin && e->visitor->begin(e->visitor->context, name, list) != 0)
        e->stopped = true;
}

static inline void pf_emit_end(struct pf_emit *e, bool list)
{
    if (!e->stopped && e->visitor->end && e->visitor->end(e->visitor->context, list) != 0)
        e->stopped = true;
}

static inline void pf_emit_value(struct pf_emit *e, const struct perfile_value *value)
{
    if (!e->stopped && e->visitor->value && e->visitor->value(e->visitor->context, value) != 0)
        e->stopped = true;
}

static inline void pf_emit_unsigned(struct pf_emit *e, const char *name, int meaning, uint64_t u)
{
    pf_emit_value(
        e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_UNSIGNED, .meaning = meaning, .number.u = u});
}

static inline void pf_emit_signed(struct pf_emit *e, const char *name, int meaning, int64_t s)
{
    pf_emit_value(
        e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_SIGNED, .meaning = meaning, .number.s = s});
}

static inline void pf_emit_double(struct pf_emit *e, const char *name, double d)
{
    pf_emit_value(e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_DOUBLE, .number.d = d});
}

static inline void pf_emit_bool(struct pf_emit *e, const char *name, bool b)
{
    pf_emit_value(e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_BOOL, .number.u = b});
}

/* Of text and bytes that are empty, visitors get an address all the same. */
static inline void pf_emit_text(struct pf_emit *e, const char *name, const void *data, size_t bytes)
{
    pf_emit_value(
        e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_TEXT, .data = data ? data : "", .bytes = bytes});
}

static inline void pf_emit_bytes(struct pf_emit *e, const char *name, const void *data, size_t bytes)
{
    pf_emit_value(e, &(struct perfile_value){
                         .name = name, .kind = PERFILE_VALUE_BYTES, .data = data ? data : "", .bytes = bytes});
}

static inline void pf_emit_null(struct pf_emit *e, const char *name)
{
    pf_emit_value(e, &(struct perfile_value){.name = name, .kind = PERFILE_VALUE_NULL});
}

#endif
