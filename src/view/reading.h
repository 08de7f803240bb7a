/* SPDX-License-Identifier: MIT */
/* What views share that read records themselves: the records, the filter, and the thread that a record is about. */
#ifndef PF_VIEW_READING_H
#define PF_VIEW_READING_H

#include "base/filter.h"
#include "view/view.h"

/* All zeros may be closed, too. */
struct pf_reading {
    struct perfile_table *table;
    struct perfile_session *session; /* NULL: in the order of the file */
    struct pf_filter filter;
    uint64_t filtered; /* that did not pass */
    uint64_t until_progress;
};

enum pf_reading_order {
    PF_BY_FILE,
    PF_BY_TIME,
    PF_BY_TIME_NO_SAMPLES, /* samples may be missing: where an index says how, they are passed over */
};
int pf_reading_open(struct pf_reading *reading, struct perfile_table *table, enum pf_reading_order order,
                    struct perfile_error *error);
void pf_reading_close(struct pf_reading *reading);
/* As perfile_reader_next or perfile_session_next. */
int pf_reading_next(struct pf_reading *reading, const struct perfile_record **record, struct perfile_error *error);

/* What a record says of itself in its sample_id or its sample; `present` has the PERFILE_SAMPLE_* bits. */
void pf_reading_decode_id(const struct pf_reading *reading, const struct perfile_record *record,
                          struct perfile_sample_id *id);
/* Returns the thread and the time for the filter. The comm is that of the moment, and NULL in the order of the file. */
struct pf_filter_subject pf_reading_subject(const struct pf_reading *reading, const struct perfile_sample_id *id,
                                            const struct perfile_event *event);
/* Counts what does not pass. */
bool pf_reading_passes(struct pf_reading *reading, const struct pf_filter_subject *subject);

/* Reads all, for table->all, with `take` for each record: 0, or an error; NULL: nothing to do. */
typedef int pf_reading_take(void *state, const struct perfile_record *record, struct perfile_error *error);
void pf_reading_all(struct pf_reading *reading, pf_reading_take *take, void *state);

/* For views whose state begins with their reading. */
void pf_reading_losses(const void *state, struct perfile_losses *losses);
void pf_reading_unmatched(const void *state, perfile_on_unmatched *notify, void *context);

#endif
