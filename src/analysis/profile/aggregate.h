/* SPDX-License-Identifier: MIT */
/*
 * Aggregated profiles: what struct perfile_profile is, and how it is made. It has a list for each kind of item; while
 * it grows, equal items of a kind are found by an index and get the same number. aggregate_equal.c alone defines which
 * items are equal, so that reading a recording and merging profiles agree.
 */
#ifndef PF_ANALYSIS_PROFILE_AGGREGATE_H
#define PF_ANALYSIS_PROFILE_AGGREGATE_H

#include <perfile/profile.h>

#include "analysis/tree.h"

/* The lists; those before PF_AGGREGATE_INDEXED hold no two that are equal. What a thing refers to stands before it. */
enum pf_aggregate_kind {
    PF_AGGREGATE_EVENTS,
    PF_AGGREGATE_MODULES,
    PF_AGGREGATE_FUNCTIONS,
    PF_AGGREGATE_FRAMES,
    PF_AGGREGATE_THREADS,
    PF_AGGREGATE_COMMS,
    PF_AGGREGATE_TAGS,
    PF_AGGREGATE_KEYS,
    PF_AGGREGATE_NODES,
    PF_AGGREGATE_ROWS,
    PF_AGGREGATE_VALUE_TYPES,
    PF_AGGREGATE_RECORDINGS,
    PF_AGGREGATE_KINDS
};
enum { PF_AGGREGATE_INDEXED = PF_AGGREGATE_VALUE_TYPES };

enum { PF_AGGREGATE_VALUES = 3 }; /* samples, period, weight */

/* Texts of all of these are pf_aggregate_text's: equal ones are equal pointers. */

struct pf_aggregate_event {
    const char *name, *unit;
    uint32_t nth; /* of its recording with this name and unit */
    uint32_t type;
    uint64_t config;
    bool has_weight;
    uint32_t first_value; /* when the profile is ready */
};

struct pf_aggregate_module {
    const char *name, *short_name, *path;
    uint8_t build_id[20];
    uint32_t build_id_bytes;
    uint32_t state, kind;
    bool kernel, jit;
};

struct pf_aggregate_function {
    const char *name, *raw_name, *label, *file;
    uint64_t address, bytes;
    uint32_t module, kind, start_line;
};

struct pf_aggregate_frame {
    const char *file;
    uint64_t offset, address, file_offset;
    uint32_t function, kind, line;
};

struct pf_aggregate_thread {
    int32_t pid, tid;
    const char *comm;
    uint64_t comm_time; /* of the last sample that had it: samples after EXIT have no name */
    const char **comms; /* when the profile is ready */
    size_t comm_count;
    uint64_t first_time, last_time, samples;
};

/* A name of a thread. */
struct pf_aggregate_comm {
    uint32_t thread;
    const char *text;
};

/* What a column of reports shows of a sample, and the next column's; NONE at the end. */
struct pf_aggregate_tag {
    const char *name, *text;
    uint32_t next; /* a smaller number */
};

struct pf_aggregate_key {
    uint32_t event;
    int32_t pid, tid, cpu;
    const char *comm, *cgroup;
    uint64_t time;
    uint32_t recording; /* NONE: not kept apart */
    uint32_t tags;      /* the first one, or NONE */
};

struct pf_aggregate_row {
    uint32_t node, key;
    uint32_t leaf; /* frame */
    uint64_t values[PF_AGGREGATE_VALUES];
};

struct pf_aggregate_value_type {
    const char *name, *unit;
    uint32_t event;
    uint64_t total;
};

struct pf_aggregate_recording {
    const char *path, *hostname, *os_release, *arch, *cpu, *version;
    const char **cmdline;
    size_t cmdline_count;
    uint64_t first_time, last_time;
    int32_t clock;
    uint64_t wall_time, clock_time;
    uint64_t lost;
};

/* Of any list but that of value types. */
union pf_aggregate_item {
    struct pf_aggregate_event event;
    struct pf_aggregate_module module;
    struct pf_aggregate_function function;
    struct pf_aggregate_frame frame;
    struct pf_aggregate_thread thread;
    struct pf_aggregate_comm comm;
    struct pf_aggregate_tag tag;
    struct pf_aggregate_key key;
    struct pf_tree_link node; /* its parent is a smaller number, or NONE */
    struct pf_aggregate_row row;
    struct pf_aggregate_recording recording;
};

struct pf_aggregate_list {
    void *items;
    size_t count, capacity;
};

struct perfile_profile {
    struct pf_watch watch;
    struct pf_arena arena; /* texts */
    struct pf_aggregate_list lists[PF_AGGREGATE_KINDS];
    struct perfile_losses losses;
};

/* What finds equal things: open addressing, with the hashes beside the numbers. */
struct pf_aggregate_slot {
    uint32_t tag;    /* of the hash */
    uint32_t number; /* plus one; 0: empty */
};
struct pf_aggregate_index {
    struct pf_aggregate_slot *slots;
    size_t size, used;
};

/* What a sample has added to a row. */
struct __attribute__((packed, aligned(4))) pf_arrival {
    uint64_t period;
    uint32_t row;
};

/* The samples of a recording in the order in which they came, as far as they are few enough. */
struct pf_arrivals {
    const struct perfile_allocator *allocator;
    struct pf_arrival *all;
    size_t count, capacity;
    size_t max;    /* with more of them the list ... */
    bool too_many; /* ... is left empty */
};

void pf_arrivals_close(struct pf_arrivals *arrivals);
/* perfile_profile_open; `arrivals` may be NULL. */
int pf_profile_open_in_order(struct perfile_reader *reader, const struct perfile_profile_options *options,
                             struct pf_arrivals *arrivals, struct perfile_profile **profile,
                             struct perfile_error *error);

/* The same for callers that need neither stacks nor samples: each frame is a stack of its own. */
int pf_profile_open_frames(struct perfile_reader *reader, const struct perfile_profile_options *options,
                           struct perfile_profile **profile, struct perfile_error *error);

/* A profile that grows. */
struct pf_aggregate {
    struct perfile_profile *profile;
    const struct perfile_allocator *allocator;
    uint64_t seed[2]; /* the makers of files do not know it, so they cannot make items that all collide */
    struct pf_aggregate_index index[PF_AGGREGATE_INDEXED];
    struct pf_aggregate_index text_index;
    const char **texts;
    size_t text_count, text_capacity;
    struct pf_arrivals *arrivals; /* of the only profile that is added to it, or NULL */
};

#define PF_AGGREGATE_NONE UINT32_MAX

/* `allocator` may be NULL. False when out of memory. Close it after failures, too. */
bool pf_aggregate_open(struct pf_aggregate *aggregate, const struct perfile_allocator *allocator);
/* Also closes `profile`, unless the caller moved it out and set it to NULL. */
void pf_aggregate_close(struct pf_aggregate *aggregate);
/*
 * Returns the number of the item that equals this one, after joining what is known of both; without an equal item, the
 * number of a copy of it. NONE: out of memory, or 2^32 items.
 */
uint32_t pf_aggregate_number(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, const void *item);
/* Appends it, equal or not. NONE as above. */
uint32_t pf_aggregate_append(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, const void *item);
/*
 * Enters an item that was appended into the index, so that pf_aggregate_number finds it; no equal one must be there.
 * False when out of memory.
 */
bool pf_aggregate_list(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, uint32_t number);
/* Makes the list large enough for so many more items. False when out of memory. */
bool pf_aggregate_reserve(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, size_t count);
/* Replaces the text by its one copy: equal texts become equal pointers; NULL stays NULL. False when out of memory. */
bool pf_aggregate_text(struct pf_aggregate *aggregate, const char **text);
/* The number of a module with copies of these texts; PF_AGGREGATE_NONE when out of memory. */
uint32_t pf_aggregate_number_module(struct pf_aggregate *aggregate, const struct perfile_module *from);
/* Nothing more comes: fills in what follows from the rest. False when out of memory. */
bool pf_aggregate_finish(struct pf_aggregate *aggregate);
/* aggregate_merge.c: adds all of a profile that is ready. False when out of memory. */
bool pf_aggregate_add(struct pf_aggregate *aggregate, const struct perfile_profile *from);
/* aggregate_facts.c: what the header says, when the reader has read all. False when out of memory. */
bool pf_aggregate_facts(struct pf_aggregate *aggregate, struct perfile_reader *reader,
                        struct pf_aggregate_recording *recording);

/* How large an item of a list is. */
size_t pf_aggregate_bytes(enum pf_aggregate_kind kind);
/* aggregate_equal.c: what makes items equal, in words; returns how many. At most PF_AGGREGATE_WORDS. */
enum { PF_AGGREGATE_WORDS = 6 };
size_t pf_aggregate_words(enum pf_aggregate_kind kind, const void *item, uint64_t words[PF_AGGREGATE_WORDS]);
/* Puts into `known` what an equal item says besides. */
void pf_aggregate_join(enum pf_aggregate_kind kind, void *known, const void *item);

static inline size_t pf_aggregate_count(const struct perfile_profile *profile, enum pf_aggregate_kind kind)
{
    return profile->lists[kind].count;
}

static inline const struct pf_aggregate_event *pf_aggregate_event(const struct perfile_profile *profile, size_t i)
{
    return (const struct pf_aggregate_event *)profile->lists[PF_AGGREGATE_EVENTS].items + i;
}

static inline uint32_t pf_aggregate_value_count(const struct pf_aggregate_event *event)
{
    return event->has_weight ? 3 : 2;
}

#endif
