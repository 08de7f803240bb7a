/* SPDX-License-Identifier: MIT */
#include "output/flame/about.h"

#include <time.h>

#include "base/counted.h"
#include "output/header.h"

enum { MANY = 4 }; /* samples without a symbol, of as many, are worth a line of their own */

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* "4,711 samples have", "1 sample has". */
static void put_counted(struct pf_text *text, uint64_t count, const char *what)
{
    char counted[PF_COUNTED_BYTES];
    pf_put_grouped(text, count);
    pf_put_string(text, strchr(pf_count_of(count, what, counted), ' '));
}

/* What stands in about->text becomes a fact; nothing does not. Without a label it is a remark. */
static void end_fact(struct pf_flame_about *about, const char *label)
{
    struct pf_text *text = &about->text;
    if (text->used && !text->failed &&
        (!pf_grow(text->allocator, &about->facts, &about->capacity, about->count + 1, sizeof(*about->facts)) ||
         !(about->facts[about->count].value = pf_arena_text(&about->arena, text->data, text->used))))
        text->failed = PERFILE_ERROR_MEMORY;
    else if (text->used && !text->failed)
        about->facts[about->count++].label = label;
    text->used = 0;
}

/* ---- the recording ---- */

static int put_word(void *context, const struct perfile_value *value)
{
    struct pf_text *text = context;
    if (text->used)
        pf_put_char(text, ' ');
    pf_put(text, value->data, value->bytes);
    return 0;
}

static void put_command(struct pf_flame_about *about, const struct pf_flame_recording *g, const char *label)
{
    const struct perfile_visitor words = {.size = sizeof(words), .context = &about->text, .value = put_word};
    pf_memory_check(g->allocator, perfile_feature_visit(g->reader, PERFILE_FEATURE_CMDLINE, &words, NULL));
    end_fact(about, label);
}

static void put_feature(struct pf_flame_about *about, const struct pf_flame_recording *g, uint32_t feature,
                        const char *label)
{
    const char *found = NULL;
    const int result = perfile_feature_text(g->reader, feature, NULL, &found, NULL);
    if (pf_memory_check(g->allocator, result) >= 0 && found)
        pf_put_string(&about->text, found);
    end_fact(about, label);
}

/* Files in archives and in memory may have no time. */
static void put_date(struct pf_flame_about *about, const char *path)
{
    int64_t seconds;
    struct tm tm;
    if (!path || !pf_header_time(path, &seconds) || seconds <= 0)
        return;
    const time_t at = (time_t)seconds;
    if (gmtime_r(&at, &tm))
        pf_put_format(&about->text, "%04d-%02d-%02d %02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                      tm.tm_hour, tm.tm_min);
    end_fact(about, "Ended");
}

static void put_events(struct pf_flame_about *about, const struct pf_flame_recording *g)
{
    for (size_t i = 0; i < g->stacks_count; i++) {
        const struct perfile_attr *attr = g->stacks[i].event->attr;
        put_counted(&about->text, g->stacks[i].samples, "samples of");
        pf_put_char(&about->text, ' ');
        pf_put_string(&about->text, g->stacks[i].event->name);
        if (attr->sample_period_or_freq) {
            pf_put_string(&about->text, attr->freq ? ", " : ", every ");
            pf_put_grouped(&about->text, attr->sample_period_or_freq);
            pf_put_string(&about->text, attr->freq ? " Hz" : "");
        }
        end_fact(about, "Event");
    }
}

static void put_machine(struct pf_flame_about *about, const struct pf_flame_recording *g)
{
    static const struct {
        uint32_t feature;
        const char *label;
    } features[] = {{PERFILE_FEATURE_HOSTNAME, "Host"},
                    {PERFILE_FEATURE_OSRELEASE, "Kernel"},
                    {PERFILE_FEATURE_ARCH, "Architecture"},
                    {PERFILE_FEATURE_CPUDESC, "Processor"},
                    {PERFILE_FEATURE_VERSION, "Recorder"}};
    for (size_t i = 0; i < PF_COUNT(features); i++)
        put_feature(about, g, features[i].feature, features[i].label);
    pf_put_format(&about->text, "perfile %s", perfile_version());
    end_fact(about, "Drawn by");
}

/* ---- what is left out, and what is missing ---- */

static void put_filters(struct pf_flame_about *about, const struct pf_flame_recording *g)
{
    const struct perfile_filter *filter = g->options->filter;
    const uint64_t filtered = pf_profile_totals(g->profile)->filtered;
    if (filter) {
        const struct {
            const char *name, *value;
        } parts[] = {{"time", filter->time},
                     {"CPUs", filter->cpus},
                     {"processes", filter->pids},
                     {"threads", filter->tids},
                     {"commands", filter->comms},
                     {"events", filter->events},
                     {"times off CPU:", g->off_cpu ? NULL : filter->off_cpu}};
        for (size_t i = 0; i < PF_COUNT(parts); i++) {
            if (!parts[i].value)
                continue;
            pf_put_format(&about->text, "%s%s ", about->text.used ? "; " : "Only ", parts[i].name);
            pf_put_string(&about->text, parts[i].value);
        }
    }
    if (filtered) {
        pf_put_string(&about->text, about->text.used ? ": " : "");
        pf_put_string(&about->text, perfile_reader_counts(g->reader)->unread_bytes ? "more than " : "");
        put_counted(&about->text, filtered, "samples are left out");
    }
    end_fact(about, "Note");
}

static void put_lost(struct pf_flame_about *about, const struct pf_flame_recording *g, const char *owner)
{
    const struct pf_profile_totals *totals = pf_profile_totals(g->profile);
    const struct perfile_counts *counts = perfile_reader_counts(g->reader);
    if (totals->lost) {
        pf_put_format(&about->text, "%s%.2f%% of all events were lost while recording (", owner,
                      percent(totals->lost, totals->lost + totals->samples + totals->filtered));
        pf_put_grouped(&about->text, totals->lost);
        pf_put_char(&about->text, ')');
    }
    end_fact(about, NULL);
    if (counts->losses || counts->bytes_lost || counts->damaged) {
        pf_put_format(&about->text, "%sThe recording is damaged: ", owner);
        put_counted(&about->text, counts->bytes_lost, "bytes lost, ");
        put_counted(&about->text, counts->damaged, "records not decoded");
    }
    end_fact(about, NULL);
}

static void put_cut(struct pf_flame_about *about, const struct pf_flame_recording *g, const char *owner)
{
    const uint64_t cut = pf_flame_recording_cut(g);
    if (cut)
        pf_put_format(&about->text, "%s%.2f%% of the samples are drawn without their callers: the limit was ", owner,
                      percent(cut, pf_profile_totals(g->profile)->samples));
    if (cut)
        put_counted(&about->text, g->options->flame->max_nodes, "nodes");
    end_fact(about, NULL);
}

static void put_unresolved(struct pf_flame_about *about, const struct pf_flame_recording *g)
{
    const struct pf_profile_totals *totals = pf_profile_totals(g->profile);
    if (totals->unresolved)
        pf_put_format(&about->text, "%.2f%% of the samples have no symbol",
                      percent(totals->unresolved, totals->samples));
    if (totals->unmapped)
        pf_put_format(&about->text, ", %.2f%% are at unmapped addresses", percent(totals->unmapped, totals->samples));
    end_fact(about, totals->unresolved >= totals->samples / MANY ? NULL : "Symbols");
    if (totals->truncated) {
        pf_put_string(&about->text, "Stack dumps of ");
        put_counted(&about->text, totals->truncated, "samples");
        pf_put_string(&about->text, " are too short: callers are missing");
    }
    if (totals->full) {
        pf_put_string(&about->text, totals->truncated ? "; callchains of " : "Callchains of ");
        put_counted(&about->text, totals->full, "samples");
        pf_put_string(&about->text, " have all frames that were asked for: callers are missing");
    }
    end_fact(about, "Stacks");
}

/* Times of one side alone are seen in its tracks. */
static void put_waits(struct pf_flame_about *about, size_t now, size_t before)
{
    if (!now != !before)
        pf_put_format(&about->text, "Times off CPU are not compared: only the %s recording has them",
                      now ? "later" : "earlier");
    end_fact(about, "Note");
}

static void put_before(struct pf_flame_about *about, const struct pf_flame_recording *now,
                       const struct pf_flame_recording *before)
{
    const char *path = before->options->flame->before_path;
    pf_put_string(&about->text, path ? path : "an earlier recording");
    pf_put_string(&about->text, ", ");
    put_counted(&about->text, pf_profile_totals(before->profile)->samples, "samples");
    end_fact(about, "Compared with");
    put_command(about, before, "Command before");
    put_lost(about, before, "Before: ");
    put_cut(about, before, "Before: ");
    put_waits(about, now->times.wait_count, before->times.wait_count);
}

int pf_flame_about_open(struct pf_flame_about *about, const struct pf_flame_recording *now,
                        const struct pf_flame_recording *before)
{
    const char *path = now->options->symbols->recording;
    *about = (struct pf_flame_about){0};
    pf_arena_open(&about->arena, now->allocator);
    int result = pf_text_open(&about->text, now->allocator, NULL, NULL);
    if (result != 0)
        return result;
    pf_put_string(&about->text, path ? path : "");
    end_fact(about, "Recording");
    put_command(about, now, "Command");
    put_date(about, path);
    put_events(about, now);
    put_machine(about, now);
    if (before)
        put_before(about, now, before);
    put_filters(about, now);
    put_lost(about, now, "");
    put_cut(about, now, "");
    put_unresolved(about, now);
    return about->text.failed;
}

void pf_flame_about_close(struct pf_flame_about *about)
{
    if (!about->text.allocator)
        return;
    pf_free(about->text.allocator, about->facts, about->capacity * sizeof(*about->facts));
    pf_text_close(&about->text);
    pf_arena_close(&about->arena);
}
