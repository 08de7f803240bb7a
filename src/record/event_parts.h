/* SPDX-License-Identifier: MIT */
/* Shared by the source files that implement event_list.h. */
#ifndef PF_RECORD_EVENT_PARTS_H
#define PF_RECORD_EVENT_PARTS_H

#include "base/bytes.h"
#include "base/error.h"
#include "record/event_list.h"

/* ---- pieces of the text (choose_text.c) ------------------------------------------------------------------------ */

struct pf_piece {
    const char *text;
    size_t bytes;
};
/* For "%.*s" in messages: no longer than makes sense. */
#define PF_SHOW(piece) (int)pf_min((piece).bytes, 64), (piece).text

struct pf_piece pf_piece_of(const char *text);
bool pf_piece_is(struct pf_piece piece, const char *text);
/* Without regard to case. */
bool pf_piece_like(struct pf_piece piece, const char *text);
/* Cuts *rest at the first `separator` that stands in no quotes; false at the end. */
bool pf_piece_next(struct pf_piece *rest, char separator, struct pf_piece *piece);
struct pf_piece pf_piece_trim(struct pf_piece piece);
/* Decimal, or with 0x hexadecimal; false for all else. */
bool pf_piece_number(struct pf_piece piece, uint64_t *number);
/* Digits only, base 10 or 16. */
bool pf_piece_digits(struct pf_piece piece, unsigned base, uint64_t *number);
bool pf_has_wildcard(struct pf_piece piece);

/* The names nearest to one that does not exist. */
#define PF_NEAR_MAX 3
#define PF_NEAR_BYTES 56
struct pf_near {
    struct pf_piece wanted;
    size_t count;
    struct {
        size_t distance;
        char name[PF_NEAR_BYTES];
    } best[PF_NEAR_MAX];
};
/* `wanted` is compared with `name`; `shown` is what the message says. */
void pf_near_offer(struct pf_near *near, const char *name, const char *shown);
/* "; did you mean A, B or C?", or "". */
const char *pf_near_text(const struct pf_near *near, char text[PF_NEAR_MAX * PF_NEAR_BYTES + 32]);
#define PF_NEAR_TEXT                                                                                                   \
    (char[PF_NEAR_MAX * PF_NEAR_BYTES + 32])                                                                           \
    {                                                                                                                  \
        0                                                                                                              \
    }

/* ---- the system (choose_sysfs.c) ------------------------------------------------------------------------------- */

/* config:0-7,32-35 */
struct pf_format {
    const char *name;
    unsigned word; /* 0 config ... 4 config4 */
    uint64_t bits;
};

struct pf_pmu {
    const char *name;
    uint32_t type;
    bool core;        /* the processors' own */
    const char *cpus; /* or NULL */
    bool formats_read;
    struct pf_format *formats;
    size_t format_count;
    size_t format_capacity;
};

struct pf_names {
    const char **items;
    size_t count;
    size_t capacity;
};

struct pf_sys {
    const struct perfile_allocator *allocator;
    struct pf_arena *arena; /* of all texts */
    const char *root;       /* "/sys" */
    struct pf_pmu *pmus;    /* by name */
    size_t pmu_count;
    size_t pmu_capacity;
    size_t core_count; /* more than one: a hybrid machine */
    struct perfile_error *error;
};

void pf_sys_open(struct pf_sys *sys, struct pf_arena *arena, const char *root, struct perfile_error *error);
void pf_sys_close(struct pf_sys *sys);
/* A path below the root. NULL when out of memory or it is absurdly long. */
__attribute__((format(printf, 2, 3))) const char *pf_sys_path(struct pf_sys *sys, const char *format, ...);
/* What the file holds, without white space at its end; NULL with the system's error number in *reason. */
const char *pf_sys_read(struct pf_sys *sys, const char *path, int *reason);
/* Names in a folder, in order, without hidden ones; 0 or an error number. */
int pf_sys_list(struct pf_sys *sys, const char *path, struct pf_names *names);
void pf_names_close(struct pf_sys *sys, struct pf_names *names);
int pf_sys_memory(struct pf_sys *sys);

/* 0 or an error. Without the folder of PMUs there are none. */
int pf_sys_pmus(struct pf_sys *sys);
/* Reads the formats when they are not there yet. */
int pf_pmu_formats(struct pf_sys *sys, struct pf_pmu *pmu);
void pf_format_set(struct perfile_attr *attr, const struct pf_format *format, uint64_t value);
const struct pf_format *pf_pmu_format(const struct pf_pmu *pmu, struct pf_piece name);
/* "uncore_imc" stands for uncore_imc_0 and uncore_imc_1, as does "imc", as does "uncore_imc_*". */
bool pf_pmu_matches(const struct pf_pmu *pmu, struct pf_piece pattern);
/* Names of its events. 0 or an error number. */
int pf_pmu_events(struct pf_sys *sys, const struct pf_pmu *pmu, struct pf_names *names);
/* The terms of an event of the PMU; NULL: it has none of this name. *name as the system spells it. */
const char *pf_pmu_event(struct pf_sys *sys, const struct pf_pmu *pmu, struct pf_piece wanted, const char **name);

/* The folder with the folders of tracepoints. 0, MEMORY, or OPEN, which says what to do: *folder is NULL. */
int pf_sys_tracing(struct pf_sys *sys, const char **folder);
/* Where it is not mounted; as perf does for root. False: it still is not. Not for a /sys of a test's own. */
bool pf_sys_mount_tracing(const struct pf_sys *sys);
/* The OPEN error for a path below that folder. */
int pf_sys_closed(struct pf_sys *sys, const char *tracing, const char *path);

/* ---- names of every machine (choose_names.c) ------------------------------------------------------------------- */

struct pf_known_name {
    const char *name;
    const char *other; /* or NULL */
    const char *kind;
    const char *doc;
    uint32_t type;
    uint64_t config;
};
/* Hardware, software and cache events, one after the other; false after the last. `buffer` holds names of caches. */
#define PF_CACHE_NAME_BYTES 64
bool pf_known_name_at(size_t index, struct pf_known_name *known, char buffer[PF_CACHE_NAME_BYTES]);
/* Type and config of a hardware, software or cache event in any spelling. */
bool pf_known_name_find(struct pf_piece name, uint32_t *type, uint64_t *config);

/* ---- events (choose_event.c, choose_terms.c, choose_trace.c) --------------------------------------------------- */

struct pf_event_parser {
    struct pf_event_list *chosen;
    struct pf_sys sys;
    struct perfile_error *error;
};

/* One event as it stands in the text. */
struct pf_event_text {
    struct pf_piece complete;
    struct pf_piece name; /* in front of the first slash or modifier */
    struct pf_piece terms;
    bool has_terms;
    struct pf_piece modifiers;
    struct pf_piece tracepoint; /* after the colon of SYSTEM:NAME; text NULL: not a tracepoint */
    struct pf_piece number;     /* after the colon of TYPE:CONFIG; likewise */
    struct pf_piece address;    /* mem:ADDRESS/LENGTH:ACCESS; likewise */
    struct pf_piece length;
    struct pf_piece access;
};

#define PF_CHOSEN_MAX 65536
/* A new event with its name. It moves when the next one comes. */
int pf_event_parser_add(struct pf_event_parser *parser, struct pf_piece name, struct pf_listed_event **event);
/* Adds what the text means; modifiers come later. */
int pf_parse_event(struct pf_event_parser *parser, const struct pf_event_text *text);
int pf_parse_tracepoints(struct pf_event_parser *parser, const struct pf_event_text *text);
/* `pmu` may be NULL: then only terms that every event knows. */
int pf_parse_terms(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                   struct pf_piece terms);
/*
 * Type and config of `name` as an event of the PMU: its own, then the well-known. 1 done, 0 it has none, or an error.
 */
int pf_parse_pmu_event(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                       struct pf_piece name, struct pf_piece passed);
/* "r1a8": hexadecimal digits for config. */
bool pf_is_raw(struct pf_piece name, uint64_t *config);
/* Whether this is an event without its PMU's name. Asks the PMUs. */
bool pf_is_event(struct pf_event_parser *parser, struct pf_piece name);
int pf_parse_refuse(struct pf_event_parser *parser, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
