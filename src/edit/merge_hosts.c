/* SPDX-License-Identifier: MIT */
/* Hosts and their clocks: what is added to times and pids. */
#include "base/error.h"
#include "edit/merge.h"

static const uint64_t SAME_CLOCK_NS = 1000000000; /* wall clocks are set a little now and then */

/* ---- clocks ---- */

/* When the clock of the records was 0. It may be before 1970, and is compared as what it is modulo 2^64. */
static uint64_t origin(const struct pf_merge_input *input)
{
    return input->wall_ns - input->clock_ns;
}

static bool all_have_clocks(const struct pf_merge *merge, size_t *unclocked)
{
    for (*unclocked = 0; *unclocked < merge->input_count; ++*unclocked)
        if (!merge->inputs[*unclocked].has_clock)
            return false;
    return true;
}

static bool same_host(const struct pf_merge_input *a, const struct pf_merge_input *b)
{
    return a->duplicate == b->duplicate || (a->host && b->host && strcmp(a->host, b->host) == 0);
}

/* Two that do not say where they come from may be of one host, and are not complained about. */
static bool other_host(const struct pf_merge_input *a, const struct pf_merge_input *b)
{
    return a->host && b->host && strcmp(a->host, b->host) != 0;
}

static bool hosts_differ(const struct pf_merge *merge)
{
    for (size_t i = 1; i < merge->input_count; i++)
        if (other_host(&merge->inputs[0], &merge->inputs[i]))
            return true;
    return false;
}

static bool clocks_differ(const struct pf_merge *merge)
{
    for (size_t i = 1; i < merge->input_count; i++)
        if (origin(&merge->inputs[i]) - origin(&merge->inputs[0]) + SAME_CLOCK_NS > 2 * SAME_CLOCK_NS)
            return true;
    return false;
}

/* The clock that started first is everybody's, so that no time becomes negative. */
static struct pf_merge_input *oldest_clock(const struct pf_merge *merge)
{
    struct pf_merge_input *oldest = &merge->inputs[0];
    for (size_t i = 1; i < merge->input_count; i++)
        if ((int64_t)(origin(&merge->inputs[i]) - origin(oldest)) < 0)
            oldest = &merge->inputs[i];
    return oldest;
}

static void align_clocks(struct pf_merge *merge)
{
    const struct pf_merge_input *oldest = oldest_clock(merge);
    for (size_t i = 0; i < merge->input_count; i++) {
        struct pf_merge_input *input = &merge->inputs[i];
        input->shift_ns = origin(input) - origin(oldest);
        if (!input->shift_ns)
            continue;
        merge->report->clocks_aligned = true;
        pf_merge_note(merge, input, "clock-aligned", PERFILE_FEATURE_CLOCK_DATA,
                      "its times are shifted by %llu.%09llu s to the clock of %s, by wall clock time",
                      (unsigned long long)(input->shift_ns / 1000000000),
                      (unsigned long long)(input->shift_ns % 1000000000), oldest->name);
    }
}

static int settle_clocks(struct pf_merge *merge, struct perfile_error *error)
{
    const int clock = merge->options.clock;
    size_t unclocked;
    if (clock == PERFILE_MERGE_CLOCK_KEEP || merge->input_count == 1)
        return 0;
    if (all_have_clocks(merge, &unclocked)) {
        if (clock == PERFILE_MERGE_CLOCK_ALIGN || hosts_differ(merge) || clocks_differ(merge))
            align_clocks(merge);
        return 0;
    }
    if (clock == PERFILE_MERGE_CLOCK_ALIGN)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "merge",
                       "the clocks cannot be aligned: %s has no CLOCK_DATA (perfile record -k writes it)",
                       merge->inputs[unclocked].name);
    if (hosts_differ(merge))
        pf_merge_note(merge, &merge->inputs[unclocked], "clock-kept", PERFILE_FEATURE_CLOCK_DATA,
                      "it has no CLOCK_DATA: the clocks of the hosts are not aligned, and times are as recorded");
    return 0;
}

/* ---- pids ---- */

static int settle_pids(struct pf_merge *merge, struct perfile_error *error)
{
    int32_t hosts = 0;
    for (size_t i = 0; i < merge->input_count; i++) {
        struct pf_merge_input *input = &merge->inputs[i];
        size_t known = 0;
        while (known < i && !same_host(&merge->inputs[known], input))
            known++;
        if (known < i)
            input->pid_offset = merge->inputs[known].pid_offset;
        else if (hosts < INT32_MAX / PF_PIDS_OF_A_HOST)
            input->pid_offset = PF_PIDS_OF_A_HOST * hosts++;
        else
            return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                           "the pids of more than %d hosts cannot be kept separate", INT32_MAX / PF_PIDS_OF_A_HOST);
    }
    return 0;
}

int pf_merge_settle_hosts(struct pf_merge *merge, struct perfile_error *error)
{
    int result = settle_clocks(merge, error);
    if (result == 0 && merge->options.separate_hosts)
        result = settle_pids(merge, error);
    for (size_t i = 1; i < merge->input_count && result == 0; i++) {
        const struct pf_merge_input *input = &merge->inputs[i];
        if (other_host(&merge->inputs[0], input))
            pf_merge_note(merge, input, "other-host", PERFILE_FEATURE_HOSTNAME,
                          "it comes from host %s, %s from another: kernel addresses%s share one space in the output",
                          input->host, merge->inputs[0].name, merge->options.separate_hosts ? "" : ", pids and tids");
    }
    for (size_t i = 0; i < merge->input_count; i++) {
        struct pf_merge_input *input = &merge->inputs[i];
        input->first_time += input->shift_ns;
        input->last_time += input->shift_ns;
        input->has_span &= input->first_time <= input->last_time;
        input->plain =
            !input->ids.used && !input->shift_ns && !(merge->options.separate_hosts && merge->input_count > 1);
    }
    return result;
}
