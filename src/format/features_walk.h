/* SPDX-License-Identifier: MIT */
/* What the layouts of header features are made of; private to features*.c. */
#ifndef PF_FORMAT_FEATURES_WALK_H
#define PF_FORMAT_FEATURES_WALK_H

#include "base/cursor.h"
#include "format/emit.h"

struct pf_feature_context; /* features.h */

/* One walk over one feature. The first damage is kept; after it only what is still certain is shown. */
struct pf_feature_walk {
    struct pf_cursor *c;
    struct pf_emit *e;
    const struct pf_feature_context *context;
    const char *what;
    struct perfile_error *error;
    int result;
};

enum pf_feature_kind {
    PF_FEATURE_U32,
    PF_FEATURE_U64,
    PF_FEATURE_TEXT, /* perf's string: u32 length with padding, text up to the first NUL */
    PF_FEATURE_NAME, /* simpleperf's: up to its NUL */
};

struct pf_feature_member {
    const char *name; /* NULL ends a table */
    int kind;
    int meaning;
};

/* What a list holds. */
struct pf_feature_element {
    void (*show)(struct pf_feature_walk *w, const struct pf_feature_element *self);
    const struct pf_feature_member *members; /* of pf_feature_show_object */
    uint64_t min_bytes;                      /* of an element without a table */
    uint32_t argument;                       /* what `show` needs to know of what stood before the list */
};

/* Rows of the member tables; SHOW takes one by itself and gives its number. */
/* clang-format off */
#define ROW(name, kind, meaning) {name, PF_FEATURE_##kind, PERFILE_MEANS_##meaning}
/* clang-format on */
#define U32(name) ROW(name, U32, NUMBER)
#define U64(name) ROW(name, U64, NUMBER)
#define TEXT(name) ROW(name, TEXT, NUMBER)
#define NAME(name) ROW(name, NAME, NUMBER)
#define SHOW(w, row) pf_feature_show_member(w, &(struct pf_feature_member)row)

/* Declares an element that is an object of plain members. */
#define PF_FEATURE_OBJECT(element, ...)                                                                                \
    static const struct pf_feature_member element##_members[] = {__VA_ARGS__, {NULL, 0, 0}};                           \
    static const struct pf_feature_element element = {.show = pf_feature_show_object, .members = element##_members}

/* False once the bytes are damaged or the visitor has returned "stop". */
static inline bool pf_feature_goes_on(const struct pf_feature_walk *w)
{
    return !w->c->failed && !w->e->stopped;
}

/* Each reads one thing and shows it, unless it cannot be read; a number is returned, too. */
uint64_t pf_feature_show_member(struct pf_feature_walk *w, const struct pf_feature_member *member);
void pf_feature_show_object(struct pf_feature_walk *w, const struct pf_feature_element *self);
void pf_feature_show_u64(struct pf_feature_walk *w, const struct pf_feature_element *self);
/* The same for a list that starts with a u32 count. */
void pf_feature_show_counted(struct pf_feature_walk *w, const char *name, const struct pf_feature_element *of);
/* The next `bytes` bytes on their own: what is wrong in there does not hinder what follows. */
void pf_feature_show_part(struct pf_feature_walk *w, uint64_t bytes, void (*show)(struct pf_feature_walk *w));
void pf_feature_show_within(struct pf_feature_walk *w, struct pf_cursor part, void (*show)(struct pf_feature_walk *w));

void pf_feature_simpleperf_file(struct pf_feature_walk *w, const char *name);
void pf_feature_simpleperf_file2(struct pf_feature_walk *w, const char *name);
void pf_feature_simpleperf_meta_info(struct pf_feature_walk *w, const char *name);

#endif
