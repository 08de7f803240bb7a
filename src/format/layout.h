/* SPDX-License-Identifier: MIT */
/* The bodies of records: between their bytes and the structs of records.h, and to a visitor. */
#ifndef PF_FORMAT_LAYOUT_H
#define PF_FORMAT_LAYOUT_H

#include "format/emit.h"
#include "format/features.h"
#include "format/plan.h"

/* What the layout of a record depends on besides its bytes. */
struct pf_layout {
    const struct pf_plan *plan; /* of its event, or NULL */
    struct pf_feature_context feature;
    bool swap;
};

/* Large enough for any of the structs. */
union pf_any_record {
#include "schema/no_fields.h"
#define BARE(number, NAME, class, since, doc)
#define RECORD(number, NAME, name, class, since, doc) struct perfile_##name name;
#define END_RECORD(name)
#include "schema/records.def"
};
#include "schema/undef.h"

/* The size of the struct that pf_layout_decode fills; 0 when the type has none. */
size_t pf_layout_struct_bytes(uint32_t type);
/* Its size in 0.1. */
size_t pf_layout_min_bytes(uint32_t type);
/* Copies the caller's struct, of `bytes` bytes by any version of the header, as this build knows it. ARGUMENT. */
int pf_layout_take(union pf_any_record *any, uint32_t type, const void *theirs, size_t bytes,
                   struct perfile_error *error);

/*
 * Decodes a record other than SAMPLE; `out` has pf_layout_struct_bytes(type) bytes. UNSUPPORTED: no struct for this
 * type. DAMAGED.
 */
int pf_layout_decode(const struct perfile_record *record, const struct pf_layout *layout, void *out,
                     struct perfile_error *error);
/*
 * How many bytes the content of a known record other than SAMPLE asks for; 0 when it does not fit. *padded: the bytes
 * that it has more are zeros.
 */
uint32_t pf_layout_measure(const struct perfile_record *record, const struct pf_layout *layout, bool *padded);

/* perfile_sample_id_decode, for a struct of this build; its size need not be set. */
int pf_layout_trailer(const struct perfile_record *record, struct perfile_sample_id *out, struct perfile_error *error);
/* The bytes at the end of the record that are its trailer. */
uint32_t pf_layout_trailer_bytes(const struct perfile_record *record, const struct pf_layout *layout);

/* Shows the body and the trailer; what is wrong becomes an `error` text. */
void pf_layout_emit(const struct perfile_record *record, const struct pf_layout *layout, struct pf_emit *e);

#endif
