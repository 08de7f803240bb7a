/* SPDX-License-Identifier: MIT */
/* A visitor that writes JSON. */
#ifndef PF_BASE_JSON_H
#define PF_BASE_JSON_H

#include <perfile/perfile.h>

#include "base/text.h"

struct pf_json {
    struct pf_text *text;
    uint64_t max_bytes; /* longer byte strings become length and CRC-32 */
    bool comma;         /* the next member needs a comma before it */
};

/* A visitor whose members go into the object that is open. */
struct perfile_visitor pf_json_visitor(struct pf_json *json);

/* The same by hand; `name` is NULL inside a list. */
void pf_json_begin(struct pf_json *json, const char *name, bool list);
void pf_json_end(struct pf_json *json, bool list);
void pf_json_unsigned(struct pf_json *json, const char *name, uint64_t value);
void pf_json_offset(struct pf_json *json, const char *name, uint64_t offset); /* PERFILE_NO_OFFSET becomes null */
void pf_json_string(struct pf_json *json, const char *name, const char *value); /* NULL becomes null */
void pf_json_bool(struct pf_json *json, const char *name, bool value);

#endif
