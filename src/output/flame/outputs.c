/* SPDX-License-Identifier: MIT */
/* The flame graphs of `perfile flame`: what was asked for, one recording or two, one of three forms. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/locale.h"
#include "output/flame/about.h"
#include "output/flame/branches.h"
#include "output/flame/code.h"

struct flame {
    const struct perfile_output_options *options;
    struct pf_flame_recording now, before;
    uint32_t event;
    struct pf_flame_before compared;
    struct pf_flame_about about;
    struct pf_flame_code code;                        /* of the page */
    struct pf_text report;                            /* likewise: how a report shows its rows */
    struct pf_text branches;                          /* likewise: rows of branches */
    struct pf_text memory;                            /* likewise: rows of memory accesses */
    const struct perfile_output_options *of_branches; /* NULL: the report has none */
    bool is_report;
    char aux[PF_NOTE_BYTES]; /* what is not drawn, or "" */
    struct pf_svg_options svg;
    struct pf_text *out;
    struct perfile_error *error;
};

/* ---- the two recordings ---- */

static int refuse(struct perfile_error *error, const char *what, const char *why)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "%s", why);
}

static int check_options(const struct perfile_flame_options *options, struct perfile_error *error)
{
    if ((options->normalize || options->negate) && !options->before && !options->profile_before && !options->folded)
        return refuse(error, options->normalize ? "normalize" : "negate", "no recording to compare with");
    if (options->before && options->by && strstr(options->by, "time"))
        return refuse(error, "by", "two recordings cannot be compared by time");
    return 0;
}

/* Which of the two recordings an error is about. */
static int fail_before(struct perfile_error *error, int code)
{
    static const char prefix[] = "the recording before: ";
    if (error) {
        char message[sizeof(error->message)];
        memcpy(message, error->message, sizeof(message));
        snprintf(error->message, sizeof(error->message), "%s%.*s", prefix,
                 (int)(sizeof(error->message) - sizeof(prefix)), message);
    }
    return code;
}

/* Numbers of the kernel's own events are the same everywhere; those of tracepoints and of further PMUs are not. */
static bool is_same_event(const struct perfile_attr *a, const struct perfile_attr *b)
{
    return a->type == b->type &&
           (a->type == PERFILE_TYPE_HARDWARE || a->type == PERFILE_TYPE_SOFTWARE || a->type == PERFILE_TYPE_HW_CACHE) &&
           a->config == b->config;
}

/* One event under two names, cycles and cycles:u, gets one: a killed recorder leaves no names, for example. */
static void name_events(struct flame *flame)
{
    const struct pf_flame_recording *now = &flame->now, *before = &flame->before;
    uint32_t found;
    for (size_t i = 0; i < before->stacks_count; i++)
        for (size_t k = 0; k < now->stacks_count; k++)
            if (is_same_event(before->stacks[i].event->attr, now->stacks[k].event->attr) &&
                !pf_flame_event_find(&before->set, now->events[k].name, &found) &&
                !pf_flame_event_find(&now->set, before->events[i].name, &found))
                before->events[i].name = now->events[k].name;
}

/* The page compares events of the same names and needs one at least; the others compare one event. */
static int match_events(struct flame *flame, bool page)
{
    const struct pf_flame_set *now = &flame->now.set, *before = &flame->before.set;
    uint32_t event;
    name_events(flame);
    for (uint32_t i = 0; page && i < now->event_count; i++)
        if (pf_flame_event_find(before, now->events[i].name, &event))
            return 0;
    return pf_flame_recording_event(&flame->before, now->events[flame->event].name, &flame->compared.event,
                                    flame->error);
}

static int open_before(struct flame *flame, bool page)
{
    int result =
        pf_flame_recording_open(&flame->before, flame->options->flame->before, flame->options, page, flame->error);
    if (result == 0)
        result = match_events(flame, page);
    if (result < 0)
        return fail_before(flame->error, result);
    flame->compared.set = &flame->before.set;
    flame->compared.normalized = flame->options->flame->normalize;
    return 0;
}

/* Profiles instead of recordings. */
static int open_profiles(struct flame *flame)
{
    const struct perfile_flame_options *options = flame->options->flame;
    int result = pf_flame_recording_of_profile(&flame->now, flame->options, options->profile, flame->error);
    if (result < 0 || !options->profile_before)
        return result;
    result = pf_flame_recording_of_profile(&flame->before, flame->options, options->profile_before, flame->error);
    flame->compared.set = &flame->before.set;
    flame->compared.normalized = options->normalize;
    return result < 0 ? fail_before(flame->error, result) : 0;
}

/* Folded stacks instead of recordings. */
static int open_passed(struct flame *flame)
{
    int result = pf_flame_recording_of_text(&flame->now, flame->options, false, flame->error);
    if (result == 0)
        result = pf_flame_recording_of_text(&flame->before, flame->options, true, flame->error);
    if (result == 0 && flame->before.stacks_count) {
        flame->compared.set = &flame->before.set;
        flame->compared.normalized = flame->options->flame->normalize;
    }
    return result;
}

static int open_code(struct flame *flame, struct perfile_reader *reader, const struct perfile_output_options *options)
{
    const int result = pf_flame_code_open(&flame->code, reader, options, flame->error);
    flame->now.code = flame->code.function_count ? &flame->code.samples : NULL;
    return result;
}

static int open_flame(struct flame *flame, struct perfile_reader *reader, bool page)
{
    const struct perfile_flame_options *options = flame->options->flame;
    int result = check_options(options, flame->error);
    if (options->folded)
        return result < 0 ? result : open_passed(flame);
    if (options->profile)
        return result < 0 ? result : open_profiles(flame);
    if (result == 0 && page && flame->options->code && !flame->code.text.allocator) /* annotate has opened it */
        result = open_code(flame, reader, flame->options);
    if (result == 0 && flame->of_branches)
        result = pf_flame_branches_open(&flame->branches, reader, flame->of_branches, flame->error);
    if (result == 0 && page && !flame->options->filter->calls && pf_flame_memory_look(reader))
        result = pf_flame_memory_open(&flame->memory, reader, flame->options, flame->error);
    if (result == 0)
        result = flame->is_report ? pf_flame_recording_open_report(&flame->now, reader, flame->options, flame->error)
                                  : pf_flame_recording_open(&flame->now, reader, flame->options, page, flame->error);
    if (result == 0)
        result = pf_flame_recording_event(&flame->now, options->event, &flame->event, flame->error);
    if (result == 0 && !page && !options->event)
        pf_flame_recording_notify_others(&flame->now, flame->event);
    if (result == 0 && options->before)
        result = open_before(flame, page);
    flame->now.set.first_event = flame->event;
    return result;
}

typedef int writer(struct flame *flame);

static int write_flame(struct flame *flame, struct perfile_reader *reader, bool page, writer *write)
{
    int result = open_flame(flame, reader, page);
    if (!reader || flame->options->filter->calls || !pf_note_aux(reader, flame->aux))
        flame->aux[0] = '\0';
    if (result == 0)
        result = write(flame);
    if (result == 0 && flame->now.unread)
        result = 1;
    pf_flame_about_close(&flame->about);
    pf_flame_code_close(&flame->code);
    if (flame->branches.allocator)
        pf_text_close(&flame->branches);
    if (flame->memory.allocator)
        pf_text_close(&flame->memory);
    if (flame->before.allocator)
        pf_flame_recording_close(&flame->before);
    if (flame->now.allocator)
        pf_flame_recording_close(&flame->now);
    return result;
}

/* ---- folded ---- */

/* Names in folded stacks were made by other tools: they stay as they are. */
static struct pf_flame_names names_of(const struct flame *flame)
{
    const struct perfile_flame_options *options = flame->options->flame;
    return (struct pf_flame_names){.raw = options->folded != NULL, .annotate = options->annotate};
}

/* The recording is drawn once. */
static struct pf_flame_means means_of(struct flame *flame)
{
    return (struct pf_flame_means){flame->options->threads, &flame->now.stacks[flame->event].tree};
}

static int folded(struct flame *flame)
{
    const struct pf_folded_options options = {
        .names = names_of(flame), .before = flame->compared, .means = means_of(flame)};
    return pf_flame_folded(&flame->now.set, flame->event, &options, flame->out);
}

static int write_folded(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    struct flame flame = {.options = options, .out = out, .error = error};
    return write_flame(&flame, reader, false, folded);
}

/* ---- svg ---- */

static int report_about(struct flame *flame)
{
    struct pf_flame_set *set = &flame->now.set;
    if (!flame->now.profile)
        return 0;
    const int result = pf_flame_about_open(&flame->about, &flame->now, flame->compared.set ? &flame->before : NULL);
    set->facts = flame->about.facts;
    set->fact_count = flame->about.count;
    return result;
}

static int find_palette(const char *wanted, unsigned *palette, struct perfile_error *error)
{
    const char *name;
    char known[160] = "";
    for (*palette = 0; wanted && (name = perfile_flame_palette_at(*palette, NULL)); ++*palette) {
        size_t used = strlen(known);
        if (strcmp(name, wanted) == 0)
            return 0;
        snprintf(known + used, sizeof(known) - used, "%s%s", *palette ? ", " : "", name);
    }
    return wanted ? pf_about(error, wanted, strlen(wanted),
                             pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "colors",
                                     "unknown palette '%.40s'; valid: %s", wanted, known))
                  : 0;
}

/* Pixels, or with a % a share of everything. */
static int parse_min_width(const char *text, struct pf_svg_options *svg, struct perfile_error *error)
{
    char *end = NULL;
    double value = text && text[0] >= '0' && text[0] <= '9' ? pf_parse_double(text, &end) : -1;
    if (!text)
        return 0;
    if (value < 0 || value > 100000 || (strcmp(end, "%") == 0 ? value > 100 : *end != 0))
        return pf_about(error, text, strlen(text),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "min-width",
                                "invalid width '%.40s': expected pixels such as 0.5 or a percentage such as 1%%",
                                text));
    *(*end ? &svg->min_share : &svg->min_width) = *end ? value / 100 : value;
    if (value == 0)
        svg->min_share = 1e-18; /* everything that weighs something */
    return 0;
}

static int parse_svg_options(struct flame *flame)
{
    const struct perfile_flame_options *options = flame->options->flame;
    enum { MIN_WIDTH = 200, MAX_WIDTH = 100000 };
    if (options->width && (options->width < MIN_WIDTH || options->width > MAX_WIDTH))
        return pf_fail(flame->error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "width",
                       "%" PRIu64 " pixels are out of range, %d to %d", options->width, MIN_WIDTH, MAX_WIDTH);
    flame->svg = (struct pf_svg_options){.names.raw = names_of(flame).raw,
                                         .width = (uint32_t)options->width,
                                         .inverted = options->inverted,
                                         .reverse = options->reverse,
                                         .negated = options->negate};
    int result = find_palette(options->colors, &flame->svg.palette, flame->error);
    return result == 0 ? parse_min_width(options->min_width, &flame->svg, flame->error) : result;
}

/* "cycles: 4711 samples", and what they are compared with. */
static void make_subtitle(struct flame *flame)
{
    struct pf_flame_recording *now = &flame->now;
    if (!now->profile)
        return;
    const uint64_t lost = pf_profile_totals(now->profile)->lost;
    char more[96] = "", missing[48] = "", samples[PF_COUNTED_BYTES];
    if (flame->compared.set)
        snprintf(more, sizeof(more), ", before: %" PRIu64 "%s", flame->before.stacks[flame->compared.event].samples,
                 flame->compared.normalized ? ", normalized" : "");
    if (lost)
        snprintf(missing, sizeof(missing), " (%" PRIu64 " of all events lost)", lost);
    snprintf(now->subtitle, sizeof(now->subtitle), "%.60s: %s%s%s%s%s", now->set.events[flame->event].name,
             pf_count_of(now->stacks[flame->event].samples, "samples", samples), missing, more, *flame->aux ? "; " : "",
             flame->aux);
    now->set.subtitle = now->subtitle;
}

static int svg(struct flame *flame)
{
    make_subtitle(flame);
    flame->svg.before = flame->compared;
    flame->svg.means = means_of(flame);
    const int result = report_about(flame);
    return result != 0 ? result : pf_flame_svg(&flame->now.set, flame->event, &flame->svg, flame->out);
}

static int write_svg(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    struct flame flame = {.options = options, .out = out, .error = error};
    int result = parse_svg_options(&flame); /* before minutes of reading */
    return result == 0 ? write_flame(&flame, reader, false, svg) : result;
}

/* ---- the page ---- */

static int html(struct flame *flame)
{
    struct pf_flame_recording *now = &flame->now;
    const struct pf_html_options options = {.report = flame->report.data,
                                            .reverse = flame->options->flame->reverse,
                                            .by = *now->levels ? now->levels : flame->options->flame->by,
                                            .measure = now->off_cpu,
                                            .samples_are_waits = flame->options->filter &&
                                                                 flame->options->filter->off_cpu && !now->off_cpu,
                                            .quantum_ns = now->bottom.quantum_ns,
                                            .page_bytes = pf_flame_page_bytes(flame->options->flame),
                                            .before = flame->compared,
                                            .branches = flame->branches.data,
                                            .branch_bytes = flame->branches.used,
                                            .memory = flame->memory.data,
                                            .memory_bytes = flame->memory.used,
                                            .code = flame->code.text.data,
                                            .code_bytes = flame->code.text.used,
                                            .code_choice = flame->code.choice,
                                            .threads = flame->options->threads};
    const char *without_times = flame->options->flame->profile ? "of a profile: without times, no timeline" : NULL;
    now->set.subtitle = *flame->aux ? flame->aux : without_times;
    if (flame->code.text.data && !flame->code.choice)
        pf_flame_code_notify(&flame->code, flame->options);
    const int result = report_about(flame);
    return result != 0 ? result : pf_flame_html(&flame->now.set, &options, flame->out);
}

static int write_html(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    struct flame flame = {.options = options, .out = out, .error = error};
    return write_flame(&flame, reader, true, html);
}

/* ---- the page of a report ---- */

static uint64_t period_of(const struct pf_flame_recording *now, size_t stacks)
{
    uint64_t period = 0;
    for (size_t i = 0; i < now->stacks_of_capacity && i < now->report->events.count; i++)
        if (now->stacks_of[i] == stacks + 1)
            period += now->report->events.items[i].period;
    return period;
}

/*
 * What the page has rows of and what it shows of them:
 *     keys      columns, in the order of --sort; children, samples, period: these are shown, too
 *     limit     percent; top: rows, 0: all; lighter ones are hidden
 *     resolved  rows without a symbol are hidden
 *     base      by event, what percentages are of
 */
static void put_base(struct flame *flame)
{
    const struct pf_flame_recording *now = &flame->now;
    pf_put_string(&flame->report, ",\"base\":[");
    for (size_t i = 0; i < now->stacks_count; i++)
        pf_put_format(&flame->report, "%s%" PRIu64, i ? "," : "", period_of(now, i));
    pf_put_string(&flame->report, "]}");
    pf_put_char(&flame->report, '\0');
}

static bool has_callchains(const struct pf_flame_recording *now)
{
    for (size_t i = 0; i < now->stacks_count; i++)
        if (now->stacks[i].event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

static void put_columns(struct flame *flame)
{
    const struct pf_report *report = flame->now.report;
    pf_put_string(&flame->report, "{\"keys\":[");
    for (size_t i = 0; i < report->layout.key_count; i++)
        pf_put_format(&flame->report, "%s\"%s\"", i ? "," : "", report->layout.keys[i]->name);
    pf_put_char(&flame->report, ']');
}

static void put_shown(struct flame *flame, const char *as, enum pf_column_number id, bool also)
{
    const struct pf_report *report = flame->now.report;
    bool shown = false;
    for (size_t i = 0; i < report->layout.column_count; i++)
        shown |= report->layout.columns[i] == &pf_report_columns[id];
    pf_put_format(&flame->report, ",\"%s\":%s", as, shown && also ? "true" : "false");
}

static int report_html(struct flame *flame)
{
    const struct perfile_report_options *options = flame->options->report;
    if (pf_text_open(&flame->report, flame->now.allocator, NULL, NULL) < 0)
        return PERFILE_ERROR_MEMORY;
    put_columns(flame);
    put_shown(flame, "children", PF_COLUMN_overhead_children, has_callchains(&flame->now));
    put_shown(flame, "samples", PF_COLUMN_sample, true);
    put_shown(flame, "period", PF_COLUMN_period, true);
    pf_put_format(&flame->report, ",\"limit\":%" PRIu64 "e-6,\"top\":%" PRIu64 ",\"resolved\":%s",
                  (uint64_t)(flame->now.report->settings.limit_percent * 1e6 + 0.5), options->top,
                  flame->now.report->settings.hides_unresolved ? "true" : "false");
    put_base(flame);
    const int result = flame->report.failed ? flame->report.failed : html(flame);
    pf_text_close(&flame->report);
    return result;
}

static int check_report(const struct perfile_report_options *options, struct perfile_error *error)
{
    static const struct {
        unsigned flag;
        const char *what, *why;
    } others[] = {{PERFILE_REPORT_MEMORY, "mem-mode", "a page has no costs of memory accesses"},
                  {PERFILE_REPORT_HIERARCHY, "hierarchy", "a page has rows, no hierarchy of them"},
                  {PERFILE_REPORT_TASKS, "tasks", "a page has no list of tasks"},
                  {PERFILE_REPORT_MMAPS, "mmaps", "a page has no list of mappings"},
                  {PERFILE_REPORT_BLOCKS, "total-cycles", "a page has no cycles of basic blocks"},
                  {PERFILE_REPORT_STATS, "stats", "a page has no statistics of records"}};
    for (size_t i = 0; i < PF_COUNT(others); i++)
        if (options->flags & others[i].flag)
            return refuse(error, others[i].what, others[i].why);
    return 0;
}

/* Chooses the columns; the text of tracepoints is not a column of pages. */
static void choose_columns(const struct perfile_output_options *options, struct perfile_report_options *report,
                           char *list, size_t bytes)
{
    const char *fields = options->fields;
    if ((fields && *fields != '+' && !strchr(fields, ';')) || (report->sort && *report->sort != '+'))
        return;
    snprintf(list, bytes, "comm,dso,symbol%s%s", report->sort ? "," : "", report->sort ? report->sort + 1 : "");
    report->sort = list;
}

static int write_report_html(struct perfile_reader *reader, const struct perfile_output_options *options,
                             struct pf_text *out, struct perfile_error *error)
{
    char list[1024];
    struct perfile_report_options report = *options->report;
    struct perfile_output_options all = *options;
    struct flame flame = {.options = &all, .out = out, .error = error, .is_report = true};
    bool branches = false;
    int result = check_report(&report, error);
    if (result == 0)
        result = pf_flame_branches_look(reader, options, &branches, error);
    if (branches) { /* the options are for the rows of branches; the samples have the usual rows */
        flame.of_branches = options;
        report.sort = NULL;
        all.fields = NULL;
    }
    report.flags = (report.flags & ~(unsigned)PERFILE_REPORT_BRANCHES) | PERFILE_REPORT_NO_BRANCHES;
    report.columns = 0;
    choose_columns(&all, &report, list, sizeof(list));
    all.report = &report;
    return result == 0 ? write_flame(&flame, reader, true, report_html) : result;
}

/* ---- the page of `annotate` ---- */

static int write_annotate_html(struct perfile_reader *reader, const struct perfile_output_options *options,
                               struct pf_text *out, struct perfile_error *error)
{
    struct perfile_flame_options flame_options = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_output_options all = *options;
    struct flame flame = {.options = &all, .out = out, .error = error, .code.choice = options->annotate};
    flame_options.count_samples = options->annotate->flags & PERFILE_ANNOTATE_HITS;
    all.flame = &flame_options;
    int result = open_code(&flame, reader, &all);
    const bool is_missing = options->annotate->symbol && !flame.code.chosen_count;
    all.unmatched = NULL; /* the code reported it */
    if (result < 0)
        pf_flame_code_close(&flame.code);
    else
        result = write_flame(&flame, reader, true, html);
    return result == 0 && is_missing ? 1 : result;
}

const struct pf_output pf_output_annotate_html = {
    .info = {"annotate", "html", "one page for offline use, which opens with the code: flame graph, timeline, search"},
    .write = write_annotate_html,
    .reports_omissions = true,
};

const struct pf_output pf_output_report_html = {
    .info = {"report", "html", "one page for offline use, which opens with the rows: flame graph, timeline, search"},
    .write = write_report_html,
    .reports_omissions = true,
};

const struct pf_output pf_output_flame_svg = {
    .info = {"flame", "svg", "a flame graph to look at in a browser: searchable and zoomable"},
    .write = write_svg,
    .reports_omissions = true,
};

const struct pf_output pf_output_flame_html = {
    .info = {"flame", "html", "one page for offline use: flame graph, table, timeline, search"},
    .write = write_html,
    .reports_omissions = true,
};

const struct pf_output pf_output_flame_folded = {
    .info = {"flame", "folded", "a line for each stack, for other tools"},
    .write = write_folded,
    .reports_omissions = true,
};
