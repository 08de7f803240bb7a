/* SPDX-License-Identifier: MIT */
#include "output/notes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"

/* ---- AUX data ---- */

static bool samples_have_aux(const struct perfile_reader *reader)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)); i++)
        if (event->attr->sample_type & PERFILE_SAMPLE_AUX)
            return true;
    return false;
}

bool pf_note_aux(const struct perfile_reader *reader, char note[PF_NOTE_BYTES])
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    const char *kind = perfile_enum_name("auxtrace_type", counts->aux_type);
    const bool in_samples = counts->samples && samples_have_aux(reader);
    char bytes[PF_COUNTED_BYTES + 24] = " in samples", count[PF_COUNTED_BYTES], unknown[32] = "";
    if ((!counts->aux_bytes && !in_samples) || perfile_reader_attachment(reader))
        return false; /* no trace was decoded, or its samples are among those of the recording */
    if (!kind && counts->aux_type)
        snprintf(unknown, sizeof(unknown), " of unknown type %" PRIu32, counts->aux_type);
    if (counts->aux_bytes)
        snprintf(bytes, sizeof(bytes), ": %s%s", pf_count_of(counts->aux_bytes, "bytes", count),
                 in_samples ? " and in samples" : "");
    snprintf(note, PF_NOTE_BYTES, "AUX data%s%s%s%s, not decoded", kind ? " of " : "", kind ? kind : "", unknown,
             bytes);
    return true;
}

/* ---- no samples ---- */

/* Dummy events are there for the records of mappings and threads. */
static bool has_only_tracking(const struct perfile_reader *reader)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)); i++)
        if (event->attr->type != PERFILE_TYPE_SOFTWARE || event->attr->config != PERFILE_COUNT_SW_DUMMY)
            return false;
    return perfile_event_count(reader);
}

static bool is_of_stat(const struct perfile_reader *reader)
{
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(reader, i)); i++)
        if (feature->number == PERFILE_FEATURE_STAT)
            return true;
    return perfile_reader_counts(reader)->stat_counts;
}

bool pf_note_no_samples(const struct perfile_reader *reader, uint64_t filtered, char note[PF_NOTE_BYTES])
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    const char *why = NULL;
    char count[PF_COUNTED_BYTES];
    if (filtered)
        snprintf(note, PF_NOTE_BYTES, "None of %s passes the filters", pf_count_of(filtered, "samples", count));
    else if (is_of_stat(reader))
        why = "This is a recording of `perf stat`: counters, not samples; `perfile stat report` prints them";
    else if (counts->aux_bytes)
        why = "It contains only AUX data";
    else if (!perfile_event_count(reader))
        why = "No event was recorded";
    else if (has_only_tracking(reader))
        why = "The events only record threads and mappings (dummy), no samples";
    if (why)
        snprintf(note, PF_NOTE_BYTES, "%s", why);
    return why || filtered;
}
