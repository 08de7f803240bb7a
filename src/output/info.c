/* SPDX-License-Identifier: MIT */
/* Info: what a recording is about, from its header; counting its records takes a pass over the data. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/profile.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "output/feature_json.h"
#include "output/header.h"
#include "output/info_aux.h"
#include "output/info_header.h"
#include "output/notes.h"
#include "output/output.h"

enum {
    PROGRESS_RECORDS = 65536,
    TYPES = 128,                          /* types that are counted one by one; the others together */
    COUNT_ANYWAY_BYTES = 8 * 1024 * 1024, /* a file so small is counted within milliseconds */
};

struct info {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    const char *version, *host, *arch, *release;
    bool counted;
    uint64_t types[TYPES];
    uint64_t other_types;
    uint64_t *event_samples; /* by index of the event */
    size_t event_capacity;
    uint64_t first_time, last_time;
    uint64_t lost;
    struct pf_aux_collector aux;
    struct pf_map build_ids; /* hashes of those that were seen */
    uint64_t build_id_count;
    struct perfile_error *features; /* what is wrong with features */
    size_t feature_count, feature_capacity;
};

static const char *text_of(const struct info *info, uint32_t number)
{
    const char *text;
    const int result = perfile_feature_text(info->reader, number, NULL, &text, NULL);
    return pf_memory_check(info->allocator, result) == 0 ? text : NULL;
}

/* ---- counting ---- */

static bool count_build_id(struct info *info, const void *data, size_t bytes)
{
    const uint64_t hash = pf_hash_bytes(PF_HASH_START, data, bytes);
    uint64_t known;
    if (pf_map_get(&info->build_ids, hash, &known))
        return true;
    info->build_id_count++;
    return pf_map_put(&info->build_ids, hash, 1);
}

static int see_build_id(void *context, const struct perfile_value *value)
{
    if (value->name && strcmp(value->name, "build_id") == 0)
        return !count_build_id(context, value->data, value->bytes);
    return 0;
}

static void count_build_id_feature(struct info *info)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = info, .value = see_build_id};
    /* absent, or damaged: then those before the damage are counted */
    (void)pf_memory_check(info->allocator,
                          perfile_feature_visit(info->reader, PERFILE_FEATURE_BUILD_ID, &visitor, NULL));
}

static void count_time(struct info *info, uint64_t time)
{
    if (!time)
        return;
    info->first_time = info->first_time && info->first_time < time ? info->first_time : time;
    info->last_time = info->last_time > time ? info->last_time : time;
}

static bool count_record(struct info *info, const struct perfile_record *record)
{
    if (record->damaged)
        return true;
    if (record->type < TYPES)
        info->types[record->type]++;
    else
        info->other_types++;
    if (record->type == PERFILE_RECORD_SAMPLE) {
        count_time(info, record->time);
        if (!record->event)
            return true;
        if (!PF_HAS_ELEMENT(info->allocator, info->event_samples, info->event_capacity, record->event->index))
            return false;
        info->event_samples[record->event->index]++;
    } else if (record->type == PERFILE_RECORD_MMAP2 && record->misc & PERFILE_MISC_MMAP_BUILD_ID) {
        struct perfile_mmap2 map;
        if (perfile_record_decode(info->reader, record, &map, sizeof(map), NULL) == 0)
            return count_build_id(info, map.build_id, map.build_id_size < 20 ? map.build_id_size : 20);
    }
    return true;
}

/* Reads what stands before the first sample of a stream: its events and features. */
static int read_head(struct info *info, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    while ((result = perfile_reader_next(info->reader, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE)
            return 0;
    return result;
}

static int count_records(struct info *info, const struct perfile_output_options *options, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    for (uint64_t n = 0; (result = perfile_reader_next(info->reader, &record, error)) > 0; n++) {
        if (!count_record(info, record))
            return pf_fail_memory(error, "info");
        if ((result = pf_aux_collector_take(&info->aux, record, error)) < 0)
            return result;
        if (n % PROGRESS_RECORDS == 0)
            pf_output_progress(info->reader, options);
    }
    info->counted = result == 0;
    info->lost = perfile_reader_counts(info->reader)->lost_events;
    return result;
}

/* The header says when the samples are, when it is there. */
static void time_of_header(struct info *info)
{
    struct pf_range span;
    if (pf_recording_span(info->reader, info->allocator, &span) && span.first != 0 && span.last != UINT64_MAX) {
        info->first_time = span.first;
        info->last_time = span.last;
    }
}

/* Notes the features that cannot be read completely, as findings of this output. */
static int note_damaged_features(struct info *info, struct perfile_error *error)
{
    const struct perfile_visitor none = {.size = sizeof(none)};
    for (size_t i = 0; i < perfile_feature_count(info->reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(info->reader, i);
        struct perfile_error damage;
        if (!feature->readable || perfile_feature_visit(info->reader, feature->number, &none, &damage) >= 0)
            continue;
        if (damage.code == PERFILE_ERROR_MEMORY)
            return pf_fail_memory(error, "info");
        if (!PF_APPEND(info->allocator, info->features, info->feature_count, info->feature_capacity, damage))
            return pf_fail_memory(error, "info");
    }
    return 0;
}

static int gather(struct info *info, const struct perfile_output_options *options, struct perfile_error *error)
{
    const struct perfile_file *file = perfile_reader_file(info->reader);
    int result = 0;
    if (options->count || (file->file_bytes && file->file_bytes <= COUNT_ANYWAY_BYTES))
        result = count_records(info, options, error);
    else if (file->mode == PERFILE_MODE_PIPE)
        result = read_head(info, error);
    if (result == 0)
        result = note_damaged_features(info, error);
    if (!info->last_time)
        time_of_header(info);
    count_build_id_feature(info);
    info->version = text_of(info, PERFILE_FEATURE_VERSION);
    info->host = text_of(info, PERFILE_FEATURE_HOSTNAME);
    if (info->host && !*info->host)
        info->host = NULL; /* of big-endian files that are to have one */
    info->arch = text_of(info, PERFILE_FEATURE_ARCH);
    info->release = text_of(info, PERFILE_FEATURE_OSRELEASE);
    return result;
}

static void release(struct info *info)
{
    pf_aux_collector_close(&info->aux);
    pf_free(info->allocator, info->event_samples, info->event_capacity * sizeof(*info->event_samples));
    pf_free(info->allocator, info->features, info->feature_capacity * sizeof(*info->features));
    pf_map_close(&info->build_ids);
}

static uint64_t samples_of(const struct info *info, size_t event)
{
    return event < info->event_capacity ? info->event_samples[event] : 0;
}

static const char *mode_name(const struct perfile_file *file)
{
    static const char *const modes[] = {"file", "pipe", "directory"};
    return modes[file->mode];
}

/* ---- the command line, as one text ---- */

struct words {
    struct pf_text *text;
    bool json;
    bool more;
};

static int put_word(void *context, const struct perfile_value *value)
{
    struct words *words = context;
    if (words->more)
        pf_put_char(words->text, words->json ? ',' : ' ');
    words->more = true;
    if (words->json)
        pf_put_json_string(words->text, value->data, value->bytes);
    else
        pf_put_name_bytes(words->text, value->data, value->bytes);
    return 0;
}

static bool put_command(struct perfile_reader *reader, struct pf_text *text, bool json)
{
    struct words words = {.text = text, .json = json};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &words, .value = put_word};
    return pf_memory_check(text->allocator, perfile_feature_visit(reader, PERFILE_FEATURE_CMDLINE, &visitor, NULL)) ==
           0;
}

/* ---- text ---- */

static void put_row(struct pf_text *out, const char *label, const char *value)
{
    if (!value)
        return;
    pf_put_format(out, "%-14s ", label);
    pf_put_name(out, value);
    pf_put_char(out, '\n');
}

static void put_text_events(const struct info *info, struct pf_text *out)
{
    enum { NAME_WIDTH = 30 };
    size_t count = perfile_event_count(info->reader);
    pf_put_format(out, "%-14s %zu\n", "events", count);
    for (size_t i = 0; i < count; i++) {
        const struct perfile_event *event = perfile_event_get(info->reader, i);
        pf_put_string(out, "  ");
        pf_put_name(out, event->name);
        pf_put_format(out, "%*s", (int)(NAME_WIDTH - pf_min(strlen(event->name), NAME_WIDTH)), "");
        const uint64_t samples = samples_of(info, i);
        if (info->counted)
            pf_put_format(out, " %12" PRIu64 " %s", samples, samples == 1 ? "sample" : "samples");
        const char *blanks = info->counted && samples == 1 ? "   " : "  ";
        if (event->attr->freq)
            pf_put_format(out, "%s%" PRIu64 " Hz", blanks, event->attr->sample_period_or_freq);
        else if (event->attr->sample_period_or_freq)
            pf_put_format(out, "%severy %" PRIu64, blanks, event->attr->sample_period_or_freq);
        pf_put_char(out, '\n');
    }
}

static bool number_of(const struct info *info, uint32_t feature, const char *member, uint64_t *value)
{
    return pf_memory_check(info->allocator, perfile_feature_number(info->reader, feature, member, value, NULL)) == 0;
}

/* In the largest unit of which there is at least one. */
static void put_memory(struct pf_text *out, uint64_t kib)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    uint64_t tenths = 10 * pf_min(kib, UINT64_MAX / 10);
    size_t unit = 0;
    for (; tenths >= 10240 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        tenths = (tenths + 512) / 1024;
    pf_put_format(out, "%-14s %" PRIu64 ".%u %s\n", "memory", tenths / 10, (unsigned)(tenths % 10), units[unit]);
}

/* The processors, and how much memory they have. */
static void put_text_machine(const struct info *info, struct pf_text *out)
{
    uint64_t online, available, memory_kib;
    put_row(out, "cpu", text_of(info, PERFILE_FEATURE_CPUDESC));
    put_row(out, "cpu id", text_of(info, PERFILE_FEATURE_CPUID));
    if (number_of(info, PERFILE_FEATURE_NRCPUS, "nr_cpus_online", &online) &&
        number_of(info, PERFILE_FEATURE_NRCPUS, "nr_cpus_available", &available))
        pf_put_format(out, "%-14s %" PRIu64 " of %" PRIu64 " online\n", "cpus", online, available);
    if (number_of(info, PERFILE_FEATURE_TOTAL_MEM, NULL, &memory_kib))
        put_memory(out, memory_kib);
}

static void put_text_compression(const struct info *info, struct pf_text *out)
{
    uint64_t level, ratio;
    if (number_of(info, PERFILE_FEATURE_COMPRESSED, "level", &level) &&
        number_of(info, PERFILE_FEATURE_COMPRESSED, "ratio", &ratio) && ratio)
        pf_put_format(out, "%-14s zstd, level %" PRIu64 ", about %" PRIu64 " to 1\n", "compression", level, ratio);
}

/* Reads the bundle. A damaged bundle is ignored here, since check reports it. */
static bool find_bundle(const struct info *info, struct perfile_bundle *bundle)
{
    const char *path = info->options->symbols->recording;
    *bundle = (struct perfile_bundle)PERFILE_BUNDLE_INIT;
    return path && perfile_bundle_look(path, bundle, NULL) == 0 && bundle->bytes;
}

static void put_text_bundle(const struct info *info, struct pf_text *out)
{
    struct perfile_bundle bundle;
    char files[PF_COUNTED_BYTES];
    if (find_bundle(info, &bundle))
        pf_put_format(out, "%-14s %s, %" PRIu64 " bytes%s\n", "bundle", pf_count_of(bundle.files, "files", files),
                      bundle.bytes, bundle.code ? ", with code" : "");
}

static void put_json_bundle(const struct info *info, struct pf_json *json)
{
    struct perfile_bundle bundle;
    if (!find_bundle(info, &bundle))
        return;
    pf_json_begin(json, "bundle", false);
    pf_json_unsigned(json, "files", bundle.files);
    pf_json_unsigned(json, "bytes", bundle.bytes);
    pf_json_bool(json, "code", bundle.code);
    pf_json_end(json, false);
}

static void put_text_time(struct pf_text *out, const char *label, uint64_t time_ns)
{
    pf_put_format(out, "%-14s %" PRIu64 ".%09" PRIu64 " s\n", label, time_ns / 1000000000, time_ns % 1000000000);
}

static void put_text_times(const struct info *info, struct pf_text *out)
{
    if (!info->last_time)
        return;
    put_text_time(out, "duration", info->last_time - info->first_time);
    put_text_time(out, "first sample", info->first_time);
    put_text_time(out, "last sample", info->last_time);
}

static bool has_feature(const struct info *info, uint32_t number)
{
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(info->reader, i)); i++)
        if (feature->number == number)
            return true;
    return false;
}

static void put_text_aux(const struct info *info, struct pf_text *out)
{
    char note[PF_NOTE_BYTES];
    pf_info_put_aux(out, &info->aux.queues);
    if (pf_note_aux(info->reader, note))
        put_row(out, "not shown", note);
    else if (!info->counted && has_feature(info, PERFILE_FEATURE_AUXTRACE))
        put_row(out, "not shown", "AUX data; --count shows its kind and size");
}

static void put_text_counts(const struct info *info, struct pf_text *out)
{
    char lost[PF_COUNTED_BYTES];
    const struct perfile_counts *counts = perfile_reader_counts(info->reader);
    if (!info->counted) {
        put_row(out, "records", "not counted; --count counts them");
        return;
    }
    pf_put_format(out, "%-14s %" PRIu64 "\n", "records", counts->records);
    for (uint32_t type = 0; type < TYPES; type++)
        if (info->types[type])
            pf_put_format(out, "  %-30s %12" PRIu64 "\n",
                          perfile_record_name(type) ? perfile_record_name(type) : "unknown", info->types[type]);
    if (info->other_types)
        pf_put_format(out, "  %-30s %12" PRIu64 "\n", "other", info->other_types);
    pf_put_format(out, "%-14s %" PRIu64 "\n", "samples", counts->samples);
    pf_put_format(out, "%-14s %s\n", "lost", pf_count_of(info->lost, "events", lost));
}

static void put_damage(const struct info *info, struct pf_text *out, const char *label, const char *message)
{
    pf_put_format(out, "%-14s ", label);
    pf_output_put_color(out, info->options, PF_RED, message);
    pf_put_char(out, '\n');
}

static void put_text_damage(const struct info *info, struct pf_text *out)
{
    const struct perfile_diagnostic *finding;
    bool any = false;
    for (size_t i = 0; (finding = perfile_diagnostic_get(info->reader, i)); i++) {
        if (finding->severity == PERFILE_NOTE)
            continue;
        put_damage(info, out, any ? "" : "damage", finding->message);
        any = true;
    }
    for (size_t i = 0; i < info->feature_count; i++, any = true)
        put_damage(info, out, any ? "" : "damage", info->features[i].message);
    if (!any)
        put_row(out, "damage", info->counted ? "none" : "none in the header");
}

/* When, and where in the file: what a header has besides its features. */
static void put_text_position(const struct info *info, struct pf_text *out)
{
    const struct perfile_file *file = perfile_reader_file(info->reader);
    char date[32];
    int64_t seconds;
    struct tm tm;
    if (pf_header_time(info->options->symbols->recording, &seconds)) {
        const time_t time = (time_t)seconds;
        if (localtime_r(&time, &tm) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm))
            put_row(out, "captured", date);
    }
    if (file->mode != PERFILE_MODE_PIPE)
        pf_put_format(out, "%-14s %" PRIu64 " bytes at %" PRIu64 "; features at %" PRIu64 "\n", "data",
                      file->data.bytes, file->data.offset, file->data.offset + file->data.bytes);
}

static int write_info_text(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    struct info info = {.allocator = out->allocator, .reader = reader, .options = options};
    const struct perfile_file *file = perfile_reader_file(reader);
    pf_map_open(&info.build_ids, out->allocator);
    pf_aux_collector_open(&info.aux, reader, out->allocator);
    int result = gather(&info, options, error);
    pf_put_format(out, "%-14s perf.data version %d, %s endian, %s mode%s\n", "format", file->version,
                  file->big_endian ? "big" : "little", mode_name(file), file->finished ? "" : ", unfinished");
    put_text_position(&info, out);
    put_row(out, "recorded with", info.version ? info.version : NULL);
    put_row(out, "host", info.host);
    if (info.release) {
        pf_put_format(out, "%-14s ", "kernel");
        pf_put_name(out, info.release);
        pf_put_char(out, ' ');
        pf_put_name(out, info.arch ? info.arch : "");
        pf_put_char(out, '\n');
    }
    put_text_machine(&info, out);
    pf_put_format(out, "%-14s ", "command");
    if (!put_command(reader, out, false))
        pf_put_string(out, "(not recorded)");
    pf_put_char(out, '\n');
    put_text_events(&info, out);
    put_text_counts(&info, out);
    put_text_times(&info, out);
    put_text_aux(&info, out);
    put_text_compression(&info, out);
    pf_put_format(out, "%-14s %" PRIu64 "\n", "build ids", info.build_id_count);
    put_text_bundle(&info, out);
    put_text_damage(&info, out);
    if (result == 0)
        result = pf_info_put_groups(reader, out, error);
    const bool found = info.feature_count != 0;
    release(&info);
    return result == 0 && found ? 1 : result;
}

/* ---- JSON ---- */

static void put_json_attr(struct pf_json *json, const struct perfile_event *event)
{
    const struct perfile_visitor visitor = pf_json_visitor(json);
    (void)!perfile_attr_visit(event, &visitor, NULL); /* what fails is kept by the text */
    pf_json_begin(json, "id_list", true);
    for (size_t i = 0; i < event->id_count; i++)
        pf_json_unsigned(json, NULL, event->ids[i]);
    pf_json_end(json, true);
}

static void put_json_events(const struct info *info, struct pf_json *json)
{
    pf_json_begin(json, "events", true);
    for (size_t i = 0; i < perfile_event_count(info->reader); i++) {
        const struct perfile_event *event = perfile_event_get(info->reader, i);
        pf_json_begin(json, NULL, false);
        pf_json_string(json, "name", event->name);
        if (info->counted)
            pf_json_unsigned(json, "samples", samples_of(info, i));
        pf_json_unsigned(json, event->attr->freq ? "frequency" : "period", event->attr->sample_period_or_freq);
        pf_json_unsigned(json, "ids", event->id_count);
        put_json_attr(json, event);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

/* Of most recordings these are far longer than all else; dump has them. */
static bool is_short(uint32_t number)
{
    return number != PERFILE_FEATURE_TRACING_DATA && number != PERFILE_FEATURE_EVENT_DESC &&
           number != PERFILE_FEATURE_FILE && number != PERFILE_FEATURE_FILE2;
}

/* Puts the names of the features that perf knows and the recording does not have. */
static void put_json_missing(const struct info *info, struct pf_json *json)
{
    enum { SIMPLEPERF_FIRST = 128 };
    uint32_t number;
    pf_json_begin(json, "missing_features", true);
    for (size_t i = 0; (number = perfile_feature_number_at(i)); i++)
        if (number < SIMPLEPERF_FIRST && !has_feature(info, number))
            pf_json_string(json, NULL, perfile_feature_name(number));
    pf_json_end(json, true);
}

static void put_json_aux(const struct info *info, struct pf_json *json)
{
    const struct perfile_counts *counts = perfile_reader_counts(info->reader);
    char note[PF_NOTE_BYTES];
    const bool known = pf_note_aux(info->reader, note);
    if (!known && !has_feature(info, PERFILE_FEATURE_AUXTRACE))
        return;
    pf_json_begin(json, "aux", false);
    pf_json_string(json, "kind", perfile_enum_name("auxtrace_type", counts->aux_type));
    pf_json_unsigned(json, "type", counts->aux_type);
    if (info->counted)
        pf_json_unsigned(json, "bytes", counts->aux_bytes);
    else
        pf_json_string(json, "bytes", NULL);
    pf_json_bool(json, "decoded", false);
    if (info->counted)
        pf_info_put_aux_json(json, &info->aux.queues);
    pf_json_end(json, false);
}

static void put_json_times(const struct info *info, struct pf_json *json)
{
    if (!info->last_time) {
        pf_json_string(json, "duration_ns", NULL);
        return;
    }
    pf_json_unsigned(json, "duration_ns", info->last_time - info->first_time);
    pf_json_unsigned(json, "first_sample_ns", info->first_time);
    pf_json_unsigned(json, "last_sample_ns", info->last_time);
}

static void put_json_counts(const struct info *info, struct pf_json *json)
{
    if (!info->counted) {
        pf_json_string(json, "records", NULL);
        pf_json_string(json, "samples", NULL);
        pf_json_string(json, "lost", NULL);
        return;
    }
    pf_json_begin(json, "records", false);
    for (uint32_t type = 0; type < TYPES; type++) {
        char number[16];
        snprintf(number, sizeof(number), "%u", type);
        if (info->types[type])
            pf_json_unsigned(json, perfile_record_name(type) ? perfile_record_name(type) : number, info->types[type]);
    }
    if (info->other_types)
        pf_json_unsigned(json, "other", info->other_types);
    pf_json_end(json, false);
    pf_json_unsigned(json, "samples", perfile_reader_counts(info->reader)->samples);
    pf_json_unsigned(json, "lost", info->lost);
}

static void put_json_features(const struct info *info, struct pf_json *json)
{
    pf_json_begin(json, "features", true);
    for (size_t i = 0; i < perfile_feature_count(info->reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(info->reader, i);
        char number[16];
        snprintf(number, sizeof(number), "%u", feature->number);
        pf_json_string(json, NULL, feature->name ? feature->name : number);
    }
    pf_json_end(json, true);
}

static void put_json_damage(const struct info *info, struct pf_json *json)
{
    const struct perfile_diagnostic *finding;
    pf_json_begin(json, "damage", true);
    for (size_t i = 0; (finding = perfile_diagnostic_get(info->reader, i)); i++) {
        if (finding->severity == PERFILE_NOTE)
            continue;
        pf_json_begin(json, NULL, false);
        pf_json_string(json, "rule", finding->rule);
        pf_json_offset(json, "offset", finding->offset);
        pf_json_unsigned(json, "length", finding->length);
        pf_json_string(json, "message", finding->message);
        pf_json_end(json, false);
    }
    for (size_t i = 0; i < info->feature_count; i++) {
        pf_json_begin(json, NULL, false);
        pf_json_string(json, "rule", "feature-content");
        pf_json_offset(json, "offset", info->features[i].offset);
        pf_json_string(json, "message", info->features[i].message);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

static void put_json_position(const struct info *info, struct pf_json *json)
{
    const struct perfile_file *file = perfile_reader_file(info->reader);
    int64_t seconds;
    if (pf_header_time(info->options->symbols->recording, &seconds) && seconds >= 0)
        pf_json_unsigned(json, "captured_s", (uint64_t)seconds);
    else
        pf_json_string(json, "captured_s", NULL);
    if (file->mode == PERFILE_MODE_PIPE)
        return;
    pf_json_unsigned(json, "data_offset", file->data.offset);
    pf_json_unsigned(json, "data_bytes", file->data.bytes);
}

static int write_info_json(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    struct info info = {.allocator = out->allocator, .reader = reader, .options = options};
    struct pf_json json = {.text = out, .max_bytes = 4096};
    const struct perfile_file *file = perfile_reader_file(reader);
    pf_map_open(&info.build_ids, out->allocator);
    pf_aux_collector_open(&info.aux, reader, out->allocator);
    int result = gather(&info, options, error);
    pf_json_begin(&json, NULL, false);
    pf_json_string(&json, "mode", mode_name(file));
    pf_json_unsigned(&json, "version", (uint64_t)file->version);
    pf_json_string(&json, "byte_order", file->big_endian ? "big" : "little");
    pf_json_bool(&json, "finished", file->finished);
    put_json_position(&info, &json);
    pf_json_string(&json, "recorded_with", info.version);
    pf_json_string(&json, "host", info.host);
    pf_json_string(&json, "kernel", info.release);
    pf_json_string(&json, "arch", info.arch);
    pf_put_string(out, ",\"command\":[");
    put_command(reader, out, true);
    pf_put_char(out, ']');
    put_json_events(&info, &json);
    put_json_bundle(&info, &json);
    put_json_counts(&info, &json);
    put_json_times(&info, &json);
    pf_json_unsigned(&json, "build_ids", info.build_id_count);
    put_json_features(&info, &json);
    put_json_missing(&info, &json);
    put_json_aux(&info, &json);
    const int values = pf_json_features(reader, &json, "header", is_short, error);
    result = result < 0 ? result : values < 0 ? values : result;
    const int programs = result < 0 ? 0 : pf_info_put_bpf(reader, &json, error);
    result = programs < 0 ? programs : result;
    put_json_damage(&info, &json);
    pf_json_end(&json, false);
    pf_put_char(out, '\n');
    const bool found = info.feature_count != 0;
    release(&info);
    return result == 0 && found ? 1 : result;
}

const struct pf_output pf_output_info_text = {
    .info = {"info", "text", "a human-readable summary"},
    .write = write_info_text,
};

const struct pf_output pf_output_info_json = {
    .info = {"info", "json", "the same as one JSON object"},
    .write = write_info_json,
};
