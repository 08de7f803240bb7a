/* SPDX-License-Identifier: MIT */
/* Functions that match an expression: the parents of the column parent, and those whose callees are ignored. */
#include <stdio.h>

#include "analysis/report/columns.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"

enum { NOT_KNOWN = 1, PATTERN_RESERVE_BYTES = 1 << 20 };

/* ---- parent ---- */

static bool matches(const struct pf_report *report, const regex_t *expression, const char *name)
{
    const struct pf_locale locale = pf_locale_enter();
    const int result = expression ? regexec(expression, name, 0, NULL, 0) : REG_NOMATCH;
    pf_locale_leave(&locale);
    if (result == REG_ESPACE)
        pf_memory_note_short(report->allocator);
    return result == 0;
}

static uint64_t parent_of_frame(struct pf_report *report, uint32_t frame)
{
    const size_t capacity = report->parent.capacity;
    if (frame >= capacity) {
        if (!pf_grow(report->allocator, &report->parent.names, &report->parent.capacity, (size_t)frame + 1,
                     sizeof(*report->parent.names))) {
            report->texts.short_of_memory = true;
            return 0;
        }
        for (size_t i = capacity; i < report->parent.capacity; i++)
            report->parent.names[i] = NOT_KNOWN;
    }
    if (report->parent.names[frame] == NOT_KNOWN) {
        const struct pf_frame_info *info = pf_profile_frame(report->profile, frame);
        const bool found =
            info->name && info->kind != PF_FRAME_INLINED && matches(report, report->parent.expression, info->name);
        report->parent.names[frame] = found ? pf_report_intern(report, info->name, strlen(info->name)) : 0;
    }
    return report->parent.names[frame];
}

/* Without a callchain the sampled address itself is not matched as a parent, as in perf. */
void pf_take_parent(struct pf_report *report, struct pf_report_keyed *taken, const struct pf_profile_sample *sample)
{
    uint64_t parent = 0;
    const bool has_stack = sample->decoded->present & (PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_STACK_USER);
    for (size_t i = 0; has_stack && i < sample->frame_count && !parent; i++)
        parent = parent_of_frame(report, sample->frames[i]);
    taken->values[PF_VALUE_parent] = parent;
}

void pf_text_parent(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const uint64_t parent = pf_report_value(report, row, PF_VALUE_parent);
    pf_put_string(text, parent ? (const char *)(uintptr_t)parent : "[other]");
}

static bool keeps_parent(const struct pf_report *report)
{
    bool found = false;
    for (size_t i = 0; i < report->keys.kept_count; i++)
        found |= report->keys.kept[i] == PF_VALUE_parent;
    return found;
}

/* Compiles only where enough memory is there: regcomp of glibc 2.36 frees twice when it is out of memory. */
static int compile(struct pf_report *report, const char *what, const char *pattern, regex_t **expression,
                   struct perfile_error *error)
{
    regex_t *made = pf_new(report->allocator, sizeof(*made));
    char why[100];
    void *reserve = made ? pf_resize(report->allocator, NULL, 0, PATTERN_RESERVE_BYTES) : NULL;
    pf_free(report->allocator, reserve, PATTERN_RESERVE_BYTES);
    if (!reserve) {
        pf_free(report->allocator, made, sizeof(*made));
        return pf_fail_memory(error, "report");
    }
    const struct pf_locale locale = pf_locale_enter();
    const int result = regcomp(made, pattern, REG_EXTENDED | REG_NOSUB);
    if (result)
        regerror(result, made, why, sizeof(why));
    pf_locale_leave(&locale);
    if (result == 0) {
        *expression = made;
        return 0;
    }
    pf_free(report->allocator, made, sizeof(*made));
    if (result == REG_ESPACE)
        return pf_fail_memory(error, what);
    return pf_about(error, pattern, strlen(pattern),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                            "invalid regular expression \"%.40s\": %s", pattern, why));
}

int pf_report_compile_patterns(struct pf_report *report, struct perfile_error *error)
{
    static const char usual[] = "^sys_|^do_page_fault"; /* perf's */
    const struct perfile_report_options *options = report->options->report;
    int result = 0;
    if (keeps_parent(report))
        result =
            compile(report, "parent", options->parent ? options->parent : usual, &report->parent.expression, error);
    if (result == 0 && options->ignore_callees)
        result = compile(report, "ignore-callees", options->ignore_callees, &report->filters.ignored, error);
    return result;
}

/* ---- callees that are ignored ---- */

static bool is_ignored(struct pf_report *report, uint32_t frame)
{
    enum { UNKNOWN, NO, YES };
    uint8_t *ignored =
        PF_ELEMENT(report->allocator, report->filters.are_ignored, report->filters.ignored_capacity, frame);
    if (!ignored) {
        report->texts.short_of_memory = true;
        return false;
    }
    if (*ignored == UNKNOWN) {
        const struct pf_frame_info *info = pf_profile_frame(report->profile, frame);
        const bool found =
            info->name && info->kind != PF_FRAME_INLINED && matches(report, report->filters.ignored, info->name);
        *ignored = found ? YES : NO;
    }
    return *ignored == YES;
}

bool pf_report_ignore_callees(struct pf_report *report, struct pf_profile_sample *sample)
{
    size_t first = sample->frame_count;
    while (first && !is_ignored(report, sample->frames[first - 1]))
        first--;
    if (first > 1) {
        sample->frames += first - 1;
        sample->frame_count -= first - 1;
        sample->leaf = sample->frames[0];
    }
    return !report->texts.short_of_memory;
}

static void close_pattern(struct pf_report *report, regex_t *expression)
{
    if (!expression)
        return;
    regfree(expression);
    pf_free(report->allocator, expression, sizeof(*expression));
}

void pf_report_close_patterns(struct pf_report *report)
{
    close_pattern(report, report->parent.expression);
    close_pattern(report, report->filters.ignored);
    pf_free(report->allocator, report->parent.names, report->parent.capacity * sizeof(*report->parent.names));
    pf_free(report->allocator, report->filters.are_ignored, report->filters.ignored_capacity);
}
