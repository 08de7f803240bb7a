/* SPDX-License-Identifier: MIT */
/* What the files of anonymize share. */
#ifndef PF_EDIT_ANONYMIZE_H
#define PF_EDIT_ANONYMIZE_H

#include "base/map.h"
#include "edit/edit.h"

enum pf_anonymize_action { PF_ANON_KEEP = 1, PF_ANON_CHANGE = 2, PF_ANON_DROP = 4 };

enum pf_anonymize_category {
#define CATEGORY(name, text, standard, allowed, doc) PF_ANON_##name,
#include "edit/anonymize.def"
#undef CATEGORY
    PF_ANON_CATEGORIES
};

/* Kinds of words that may stay. */
enum pf_anonymize_kind { PF_WORD_PATH, PF_WORD_COMM, PF_WORD_SYSTEM, PF_WORD_EVENT, PF_WORD_FORMAT };

enum {
    PF_ANON_TOKEN = 12,            /* letters of a made-up name: 60 bits, and short enough for a comm */
    PF_ANON_TEXT_CAPACITY = 65536, /* a text that fits into a record */
    PF_ANON_SCRATCH = 65536,       /* a list that fits into a record */
    PF_ANON_CACHE_COUNT = 2048,    /* addresses that were looked up last; a power of two */
};

/* How one mapping was moved. */
struct pf_anon_move {
    uint64_t delta;
    bool known;
    bool fixed; /* too large to be moved: its addresses are treated as if they belonged to nothing */
};

struct pf_anon_cached {
    const struct perfile_space *user, *kernel;
    uint64_t page;
    uint64_t start, end; /* of the piece; addresses in it move by delta */
    uint64_t delta;
    bool kernel_first;
};

/* A range of addresses that mappings are put into, one after the other. */
struct pf_anon_zone {
    uint64_t next, limit;
};

struct pf_anonymizer {
    const struct pf_edit *edit;
    const struct perfile_allocator *allocator;
    struct perfile_edit_report *total;  /* of the report; these live as long as the writer */
    struct perfile_anonymized *counted; /* by category */
    uint64_t key[2];
    bool strict;
    bool keep_public;
    uint8_t action[PF_ANON_CATEGORIES];
    struct pf_map words; /* keyed hashes of the vocabulary */

    struct pf_anon_zone user_zone, kernel_zone, spare_user_zone, spare_kernel_zone;
    size_t event_at; /* which event of the reader is asked about next */
    uint64_t moves_made;
    struct pf_anon_move *moves; /* by the id of the mapping */
    size_t move_capacity;
    const struct perfile_space *user, *kernel; /* of the record */
    bool kernel_first;
    struct pf_anon_cached *cache;

    uint8_t *body; /* of a feature */
    size_t body_bytes, body_capacity;
    char *text; /* the feature name or path that was made last */
    uint8_t *chain, *branches, *raw, *list;
    char event_name[1024], unit[64];
};

static inline bool pf_anon_changes(const struct pf_anonymizer *a, enum pf_anonymize_category category)
{
    return a->action[category] == PF_ANON_CHANGE;
}

static inline bool pf_anon_keeps(const struct pf_anonymizer *a, enum pf_anonymize_category category)
{
    return a->action[category] == PF_ANON_KEEP;
}

/* Something of this category was met, and had this done to it. */
void pf_anon_count(struct pf_anonymizer *a, enum pf_anonymize_category category, enum pf_anonymize_action done);

/* ---- anonymize_names.c ---- */

/* Returns a hash that cannot be found without the key. */
uint64_t pf_anon_hash(const struct pf_anonymizer *a, uint8_t domain, const void *data, size_t bytes);
uint64_t pf_anon_number(const struct pf_anonymizer *a, uint8_t domain, uint64_t number);
/* Writes `length` letters, the same for the same text, without a terminator. */
void pf_anon_token(const struct pf_anonymizer *a, const char *text, size_t bytes, char *token, size_t length);
bool pf_anon_is_word(const struct pf_anonymizer *a, enum pf_anonymize_kind kind, const char *text, size_t bytes);
bool pf_anon_load_words(struct pf_anonymizer *a);
/*
 * Writes a name for another one; `capacity` bytes with the NUL, filled up with zeros. Both may be in the same memory.
 */
void pf_anon_name(const struct pf_anonymizer *a, const char *text, size_t bytes, char *name, size_t capacity);
void pf_anon_comm(struct pf_anonymizer *a, const char *comm, size_t bytes, char *made, size_t capacity);
/* Makes a path in a->text, by category: PATHS or CGROUPS. */
const char *pf_anon_path(struct pf_anonymizer *a, enum pf_anonymize_category category, const char *path);
/* Its path and build id are public, and are asked to be kept. */
bool pf_anon_is_public(const struct pf_anonymizer *a, const char *path);
const char *pf_anon_symbol(struct pf_anonymizer *a, const char *symbol);
/* Into a->event_name. */
const char *pf_anon_event_name(struct pf_anonymizer *a, const char *name);
/* The text has only words, numbers and what stands between them. */
bool pf_anon_is_harmless(const struct pf_anonymizer *a, const char *text, size_t bytes);

/* ---- anonymize_addresses.c ---- */

void pf_anon_open_addresses(struct pf_anonymizer *a);
/* Whose addresses come next. */
void pf_anon_set_process(struct pf_anonymizer *a, int32_t pid, uint16_t misc);
uint64_t pf_anon_address(struct pf_anonymizer *a, uint64_t address);
uint64_t pf_anon_physical(const struct pf_anonymizer *a, uint64_t address);
/* The callchain with its context markers, into a->chain. */
void pf_anon_chain(struct pf_anonymizer *a, struct perfile_u64s *chain);
void pf_anon_branches(struct pf_anonymizer *a, struct perfile_branch_stack *stack);
int pf_anon_mapping(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error);
int32_t pf_anon_pid(const struct pf_anonymizer *a, int32_t pid);

/* ---- anonymize_trace.c ---- */

/* The tracing data, into a->body. PF_EDIT_DROP: it cannot be understood. */
int pf_anon_tracing(struct pf_anonymizer *a, struct perfile_bytes *body, struct perfile_error *error);
void pf_anon_raw(struct pf_anonymizer *a, const struct perfile_event *event, struct perfile_bytes *raw);

/* ---- anonymize_records.c ---- */

/* The step's function for records; the context is a struct pf_anonymizer. */
int pf_anon_record(void *context, struct pf_item *item, struct perfile_error *error);

/* ---- anonymize_features.c ---- */

int pf_anon_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                    struct perfile_error *error);
/* Appends bytes to a->body. */
bool pf_anon_append(struct pf_anonymizer *a, const void *data, size_t bytes);
/* `path` is the recorded one. */
void pf_anon_build_id(struct pf_anonymizer *a, const char *path, uint8_t build_id[20], uint8_t bytes);
uint64_t pf_anon_time(const struct pf_anonymizer *a, uint64_t time);

#endif
