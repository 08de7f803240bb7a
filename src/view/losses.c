/* SPDX-License-Identifier: MIT */
/*
 * What the recording lost, and what of it could not be read: a row for each kind, also for those that did not happen.
 */
#include "base/error.h"
#include "view/reading.h"

struct losses {
    struct pf_reading reading; /* first */
    uint64_t throttled, aux_gaps, map_timeouts;
    uint64_t damaged_features;
};

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

#define COUNTED(name, member)                                                                                          \
    static uint64_t count_##name(const struct losses *losses)                                                          \
    {                                                                                                                  \
        return perfile_reader_counts(losses->reading.table->reader)->member;                                           \
    }
#define SEEN(name)                                                                                                     \
    static uint64_t count_##name(const struct losses *losses)                                                          \
    {                                                                                                                  \
        return losses->name;                                                                                           \
    }

COUNTED(lost_events, lost_events)
COUNTED(lost_samples, lost_samples)
COUNTED(damaged_records, damaged)
COUNTED(damaged_bytes, bytes_lost)
COUNTED(damaged_places, losses)
COUNTED(warnings, warnings)
COUNTED(unknown_records, unknown)
COUNTED(aux_bytes, aux_bytes)
SEEN(throttled)
SEEN(aux_gaps)
SEEN(map_timeouts)
SEEN(damaged_features)

static uint64_t count_unordered_records(const struct losses *losses)
{
    return perfile_session_unordered(losses->reading.session);
}

static const struct kind {
    const char *name, *unit, *note;
    uint64_t (*count)(const struct losses *losses);
} kinds[] = {
#define KIND(name, unit, note)                                                                                         \
    {                                                                                                                  \
#name, unit, note, count_##name                                                                                \
    }
    KIND(lost_events, "records", "Lost while recording, as LOST records and the counts at the end say."),
    KIND(lost_samples, "samples", "Dropped while recording, as LOST_SAMPLES records say."),
    KIND(throttled, "times", "The kernel stopped an event that interrupted too often."),
    KIND(aux_gaps, "records", "AUX data was truncated or partial, or collided with other data, as AUX records say."),
    KIND(map_timeouts, "records", "The recorder gave up reading the mappings of a process."),
    KIND(damaged_records, "records", "They contradict their event or their size, and were not decoded."),
    KIND(damaged_bytes, "bytes", "They belong to no complete record."),
    KIND(damaged_places, "places", "Bytes of the file that could not be used; see diagnostics."),
    KIND(damaged_features, "features", "Parts of the header that could not be read; see features."),
    KIND(warnings, "places", "The recording contradicts itself, or says that data was lost; see diagnostics."),
    KIND(unknown_records, "records", "Their types are not known."),
    KIND(unordered_records, "records", "They came later than their time allows."),
    KIND(aux_bytes, "bytes", "AUX data, which is not decoded."),
#undef KIND
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define LOSSES const struct losses *losses = state

PF_PUT_AS(kind, LOSSES, pf_set_lasting, kinds[losses->reading.table->all.row].name)
PF_PUT_AS(count, LOSSES, pf_set_u64, kinds[losses->reading.table->all.row].count(losses))
PF_PUT_AS(unit, LOSSES, pf_set_lasting, kinds[losses->reading.table->all.row].unit)
PF_PUT_AS(note, LOSSES, pf_set_lasting, kinds[losses->reading.table->all.row].note)

static const struct pf_column columns[] = {
    PF_REQUIRED(kind, TEXT, "", "What was lost, or could not be read."),
    PF_REQUIRED(count, U64, "", "How much, in the unit of the row."),
    PF_REQUIRED(unit, TEXT, "", "What is counted."),
    PF_REQUIRED(note, TEXT, "", "What it means."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int take_record(void *state, const struct perfile_record *record, struct perfile_error *error)
{
    enum { LOST_DATA = PERFILE_AUX_FLAG_TRUNCATED | PERFILE_AUX_FLAG_PARTIAL | PERFILE_AUX_FLAG_COLLISION };
    struct losses *losses = state;
    struct perfile_aux aux;
    (void)error;
    if (record->damaged)
        return 0;
    losses->throttled += record->type == PERFILE_RECORD_THROTTLE;
    if (record->type == PERFILE_RECORD_MMAP2)
        losses->map_timeouts += (record->misc & PERFILE_MISC_PROC_MAP_TIMEOUT) != 0;
    if (record->type == PERFILE_RECORD_AUX &&
        perfile_record_decode(losses->reading.table->reader, record, &aux, sizeof(aux), NULL) == 0)
        losses->aux_gaps += (aux.flags & LOST_DATA) != 0;
    return 0;
}

/* Counts features that cannot be read, for example because they are outside the file. */
static int check_features(struct losses *losses)
{
    const struct perfile_visitor none = {.size = sizeof(none)};
    struct perfile_reader *reader = losses->reading.table->reader;
    for (size_t i = 0; i < perfile_feature_count(reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(reader, i);
        const int result = feature->readable ? perfile_feature_visit(reader, feature->number, &none, NULL) : PERFILE_OK;
        if (result == PERFILE_ERROR_MEMORY)
            return result;
        losses->damaged_features += result < 0;
    }
    return 0;
}

static int next_loss(void *state, struct perfile_error *error)
{
    struct losses *losses = state;
    if (!losses->reading.table->all.read) {
        pf_reading_all(&losses->reading, take_record, losses);
        if (check_features(losses) < 0)
            return pf_fail_memory(error, "losses");
    }
    return pf_table_row(losses->reading.table, PF_COUNT(kinds), error);
}

static int open_losses(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct losses *losses = state;
    return pf_reading_open(&losses->reading, table, PF_BY_TIME_NO_SAMPLES, error);
}

static void close_losses(void *state)
{
    struct losses *losses = state;
    pf_reading_close(&losses->reading);
}

static bool found(const void *state)
{
    LOSSES;
    return losses->damaged_features;
}

const struct pf_view pf_view_losses = {
    .info = {"losses", "what the recording lost and what could not be read, kind by kind"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct losses),
    .open = open_losses,
    .next = next_loss,
    .close = close_losses,
    .found = found,
};
