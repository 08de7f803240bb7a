/* SPDX-License-Identifier: MIT */
/* Columns of reports: what they take of samples, and how they order and show rows. */
#ifndef PF_ANALYSIS_REPORT_COLUMN_H
#define PF_ANALYSIS_REPORT_COLUMN_H

#include <perfile/table.h>

#include "analysis/fields.h"
#include "analysis/profile.h"
#include "analysis/report/row.h"
#include "base/text.h"

struct pf_report;

/* Positions of the values of PF_COLUMN_KEPT columns. */
enum pf_report_value {
#define PF_COLUMN_VALUE(...)
#define PF_COLUMN_SAMPLE(...)
#define PF_COLUMN_FRAME(...)
#define PF_COLUMN_KEPT(id, ...) PF_VALUE_##id,
#define PF_COLUMN_LOCATION(...)
#define PF_COLUMN_LATER(...)
#include "analysis/report/columns.def"
    PF_VALUE_FIELDS, /* of tracepoints */
    PF_REPORT_FIELDS = 8,
    PF_VALUE_COUNT = PF_VALUE_FIELDS + PF_REPORT_FIELDS
};

/* What the columns take of a sample: the key, and values: numbers, and texts as pointers (equal ones are equal). */
struct pf_report_keyed {
    struct pf_report_key key;
    uint64_t values[PF_VALUE_COUNT];
};

enum pf_column_of {
    PF_COLUMN_OF_VALUE,  /* what a row weighs */
    PF_COLUMN_OF_SAMPLE, /* takes something of the sample */
    PF_COLUMN_OF_FRAME,  /* takes something of the frame */
    PF_COLUMN_OF_LATER,  /* perf has it, this version does not */
};

/* What a column asks of a report beyond the samples. */
enum pf_column_needs {
    PF_COLUMN_NEEDS_NOTHING,
    PF_COLUMN_NEEDS_MODES,       /* the weight of rows by mode */
    PF_COLUMN_NEEDS_COSTS,       /* sums of what samples cost */
    PF_COLUMN_NEEDS_CLASSES,     /* the weight of rows by class of access */
    PF_COLUMN_NEEDS_BRANCHES,    /* rows of branches */
    PF_COLUMN_NEEDS_FRAMES,      /* what is at the addresses of samples */
    PF_COLUMN_NEEDS_CODE,        /* the instructions of samples: only their leaves */
    PF_COLUMN_NEEDS_PARALLELISM, /* records of context switches */
};

/* Returns a number that is smaller for rows that come first, and the same for rows that are equal in the column. */
typedef uint64_t pf_column_word(const struct pf_report *report, const struct pf_report_row *row);

struct pf_report_column {
    const char *name;
    const char *alias; /* or NULL */
    const char *header;
    const char *doc;
    uint8_t of;       /* enum pf_column_of */
    uint8_t width;    /* at least */
    bool right;       /* flush right */
    bool only_header; /* perf's layout makes it as wide as its header, whatever is in it */
    uint8_t type;     /* of what programs are given: enum perfile_column_type */
    const char *unit;
    uint8_t needs;    /* enum pf_column_needs */
    bool kept;        /* takes a value */
    uint8_t position; /* of it, among those of a key */
    void (*take)(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample);
    pf_column_word *word; /* NULL: only `compare` orders rows; weights of rows have both, for groups */
    bool exact;           /* its values are addresses, not their functions */
    bool by_text;         /* the kept value is a text, and rows are in its order */
    int (*compare)(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b);
    uint64_t (*value)(const struct pf_report *report,
                      const struct pf_report_row *row); /* NULL: what it has is a text ... */
    double (*real)(const struct pf_report *report, const struct pf_report_row *row); /* ... or this */
    void (*text)(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text);
    size_t (*min)(const struct pf_report *report, const struct pf_report_row *row); /* width that it asks for */
    /* returns a value that differs for different addresses of one function; NULL unless a column of addresses */
    uint64_t (*distinguish)(struct pf_report *report, const struct pf_frame_info *frame);
};

enum pf_column_number {
#define PF_COLUMN_VALUE(id, ...) PF_COLUMN_##id,
#define PF_COLUMN_SAMPLE(id, ...) PF_COLUMN_##id,
#define PF_COLUMN_FRAME(id, ...) PF_COLUMN_##id,
#define PF_COLUMN_KEPT(id, ...) PF_COLUMN_##id,
#define PF_COLUMN_LOCATION(id, ...) PF_COLUMN_##id,
#define PF_COLUMN_LATER(...)
#include "analysis/report/columns.def"
    PF_COLUMN_COUNT
};
extern const struct pf_report_column pf_report_columns[PF_COLUMN_COUNT];

enum { PF_REPORT_COLUMNS = 128, PF_REPORT_RECENT_BITS = 6 };

/* A column of a field of tracepoints. */
struct pf_report_field {
    struct pf_report_column column;
    const char *event; /* NULL: any */
    const char *name;
    const struct perfile_event *seen; /* last, and its field or NULL */
    const struct perfile_tracepoint_field *found;
};

/* Appends the columns of a list like perf's --sort, each once. ARGUMENT (its message lists columns), UNSUPPORTED. */
int pf_report_columns_parse(struct pf_report *report, const char *list,
                            const struct pf_report_column *columns[PF_REPORT_COLUMNS], size_t *count,
                            struct perfile_error *error);
bool pf_report_is_branch_column(const struct pf_report_column *column);
/* columns_branch.c: whether rows are of branches. ARGUMENT: they are asked for, and no event has any. */
int pf_report_choose_branches(struct pf_report *report, struct perfile_error *error);
/* Names what kinds of branches there are, and how many of each; false after the last. */
bool pf_report_branches_at(const struct pf_report *report, size_t index, const char **name, uint64_t *count);
uint64_t pf_report_branch_count(const struct pf_profile_sample *sample);
/* Puts the branches of a sample before its callers, the last one first; false when out of memory. */
bool pf_report_add_history(struct pf_report *report, struct pf_profile_sample *sample);
/* One sample as those of its branches, `add` for each; false when it failed. */
bool pf_report_add_branches(struct pf_report *report, const struct pf_profile_sample *sample,
                            bool (*add)(struct pf_report *report, const struct pf_profile_sample *sample));
/* columns_field.c: a column of a field of tracepoints; NULL: no event has the field, or too many have it. */
const struct pf_report_column *pf_report_field_column(struct pf_report *report, const char *word, size_t bytes);
/* False: a field that the event does not have. */
bool pf_report_column_applies(const struct pf_report *report, const struct pf_report_column *column,
                              const struct perfile_event *event);

/* The one copy of a text, as a number; 0 when out of memory, and the report knows. */
uint64_t pf_report_intern(struct pf_report *report, const char *text, size_t bytes);
/* That of what stands in report->texts.scratch. */
uint64_t pf_report_intern_scratch(struct pf_report *report);
/*
 * columns_access.c: what stands above headers of adjacent columns of a group, the same pointer for all of them; NULL
 * for other columns. The columns of the group that a word names, and how many they are, 0: not a group.
 */
const char *pf_report_title(const struct pf_report_column *column);
const char *pf_report_access_group_at(size_t index, const char **doc); /* NULL after the last */
size_t pf_report_access_columns(const char *word, size_t bytes, bool snoop, enum pf_column_number *first);
/* Notes the classes of a sample; adds its weight to sums of each class. */
void pf_report_note_classes(struct pf_report_event *event, const struct pf_profile_sample *sample);
void pf_report_add_classes(uint64_t sums[PF_REPORT_CLASSES], const struct pf_profile_sample *sample);
/* False: a column of a class that no access of the event, or of its group, is in. */
bool pf_report_class_occurs(const struct pf_report *report, const struct pf_report_column *column,
                            const struct perfile_event *event);
void pf_report_put_class(const struct pf_report *report, const struct pf_report_row *row, size_t class,
                         struct pf_text *text);
double pf_report_class_share(const struct pf_report *report, const struct pf_report_row *row, size_t class);
/* The header of a column: that of the recording's machine where it has words of its own. */
const char *pf_report_header(const struct pf_report *report, const struct pf_report_column *column);
/*
 * columns_weight.c: adds up what samples cost, and then for rows that have no other one's samples. False when memory is
 * short.
 */
bool pf_report_note_cost(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample);
bool pf_report_gather_costs(struct pf_report *report);
/* NULL: none of its samples had any. */
const struct pf_report_cost *pf_report_cost_of(const struct pf_report *report, const struct pf_report_row *row);
/* Sums by class of access, if a column asks for them. NULL: the row has none. */
const uint64_t *pf_report_classes_of(const struct pf_report *report, const struct pf_report_row *row);
/* Notes the architecture of the recording. */
void pf_report_see_machine(struct pf_report *report);
/* The short name of the file of a frame, interned; "[unknown]" for UINT32_MAX. */
uint64_t pf_report_dso_of(struct pf_report *report, uint32_t frame);
/* columns_sample.c: the value of comm_nodigit when all names are known. */
uint64_t pf_report_later_comm_nodigit(struct pf_report *report, uint64_t value);
/* report_patterns.c */
int pf_report_compile_patterns(struct pf_report *report, struct perfile_error *error);
void pf_report_close_patterns(struct pf_report *report);
/* Drops the callees of functions that are ignored; false when out of memory. */
bool pf_report_ignore_callees(struct pf_report *report, struct pf_profile_sample *sample);
/* What its columns need of the recording and the options. */
int pf_report_prepare(struct pf_report *report, struct perfile_error *error);
void pf_report_unprepare(struct pf_report *report);
/* The function of a frame that has one. */
void pf_report_put_level(unsigned level, struct pf_text *text);
void pf_report_put_address(uint64_t address, struct pf_text *text);
void pf_report_put_name(const struct pf_frame_info *frame, struct pf_text *text);

#endif
