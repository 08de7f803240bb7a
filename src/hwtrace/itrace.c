/* SPDX-License-Identifier: MIT */
#include "hwtrace/itrace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hwtrace/flow.h"

enum { MAX_BRANCHES = 1024, MAX_CHAIN = 1024, USUAL_BRANCHES = 64, USUAL_CHAIN = 16, USUAL_PERIOD_NS = 100000 };

/* Letters of perf: some ask for no event of their own, some for those of other traces. */
static const char known_letters[] = "iybcrxwpoIedfmtaMgGlLsqAZT";

static uint64_t events_of(const struct pf_aux_decoder *decoder, char letter)
{
    uint64_t events = 0;
    for (unsigned i = 0; i < decoder->event_count; i++)
        if (decoder->events[i].letter == letter)
            events |= (uint64_t)1 << i;
    return events;
}

/* The units of periods. */
static const struct {
    char name[3];
    enum pf_itrace_unit unit;
    uint64_t factor;
} units[] = {
    {"ns", PF_ITRACE_NS, 1},     {"us", PF_ITRACE_NS, 1000}, {"ms", PF_ITRACE_NS, 1000000},
    {"i", PF_ITRACE_RECORDS, 1}, {"t", PF_ITRACE_TICKS, 1},  {"", PF_ITRACE_RECORDS, 1},
};

static int fail_period(const char *period, struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                   "a period must be a number of records, such as i10i: '%.20s'", period);
}

/* The number and unit after i and y. Only traces of the flow have times between their records. */
static int parse_period(struct pf_itrace *itrace, const struct pf_aux_decoder *decoder, const char **at,
                        struct perfile_error *error)
{
    char *end;
    const uint64_t period = strtoull(*at, &end, 10);
    size_t i = 0;
    while (strncmp(end, units[i].name, strlen(units[i].name)) != 0)
        i++;
    if ((units[i].unit != PF_ITRACE_RECORDS && !decoder->flow) || period > UINT64_MAX / units[i].factor)
        return fail_period(*at - 1, error);
    itrace->unit = period ? units[i].unit : PF_ITRACE_RECORDS; /* every instruction */
    itrace->every = pf_max(period * units[i].factor, 1);
    *at = end + strlen(units[i].name);
    return 0;
}

/* The letters e and d may be followed by + and - with letters of their own. */
static void parse_flags(struct pf_itrace *itrace, const char **at, char letter)
{
    while (**at == '+' || **at == '-') {
        const bool without = *(*at)++ == '-';
        for (; **at && strchr("olae", **at); ++*at) {
            itrace->no_overflows |= letter == 'e' && without && **at == 'o';
            itrace->no_lost |= letter == 'e' && without && **at == 'l';
        }
    }
}

static unsigned parse_count(const char **at, unsigned usual, unsigned max)
{
    char *end;
    const uint64_t count = strtoull(*at, &end, 10);
    *at = end;
    return count ? (unsigned)pf_min(count, max) : usual;
}

/* What letters without an event of their own ask for. */
static void take_letter(struct pf_itrace *itrace, const struct pf_aux_decoder *decoder, char letter)
{
    itrace->errors |= letter == 'e';
    itrace->quick |= letter == 'q';
    itrace->timeless |= letter == 'Z';
    if ((letter == 'c' || letter == 'r') && (decoder->flow || decoder->reads_code))
        itrace->events |= events_of(decoder, 'b');
    if (letter == 'c')
        itrace->kinds |= PF_FLOW_IS_CALL | PF_FLOW_IS_ASYNC | PF_FLOW_IS_END;
    if (letter == 'r')
        itrace->kinds |= PF_FLOW_IS_RETURN | PF_FLOW_IS_BEGIN;
}

static bool has_digit(const char *at)
{
    return *at >= '0' && *at <= '9';
}

/* The numbers and letters that may follow a letter. */
static int parse_rest(struct pf_itrace *itrace, const struct pf_aux_decoder *decoder, char letter, const char **at,
                      struct perfile_error *error)
{
    if ((letter == 'i' || letter == 'y') && has_digit(*at))
        return parse_period(itrace, decoder, at, error);
    if (letter == 'l' || letter == 'L') {
        itrace->branches |= letter == 'l' || !decoder->flow; /* L and G concern samples of other events */
        itrace->branch_count = parse_count(at, USUAL_BRANCHES, MAX_BRANCHES);
    } else if (letter == 'g' || letter == 'G') {
        itrace->chains |= letter == 'g' && decoder->flow;
        itrace->chain_count = parse_count(at, USUAL_CHAIN, MAX_CHAIN);
    } else if (letter == 's') {
        itrace->skipped = parse_count(at, 0, UINT32_MAX);
    } else if (letter == 'e' || letter == 'd') {
        parse_flags(itrace, at, letter);
    }
    return 0;
}

static int parse_letter(struct pf_itrace *itrace, const struct pf_aux_decoder *decoder, const char **at,
                        struct perfile_error *error)
{
    const char letter = *(*at)++;
    if (!strchr(known_letters, letter))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                       "unknown letter '%c'; valid: %s, with periods such as i10i", letter, known_letters);
    itrace->events |= events_of(decoder, letter);
    take_letter(itrace, decoder, letter);
    return parse_rest(itrace, decoder, letter, at, error);
}

/* All branches where b is among the letters, whatever c and r ask for. */
static void complete(struct pf_itrace *itrace, const char *letters)
{
    for (const char *at = letters; *at; at++)
        if (*at == 'b')
            itrace->kinds = 0;
}

int pf_itrace_parse(const char *letters, const struct pf_aux_decoder *decoder, struct pf_itrace *itrace,
                    struct perfile_error *error)
{
    const char *at = letters;
    int result = 0;
    *itrace = (struct pf_itrace){.every = decoder->flow ? USUAL_PERIOD_NS : 1,
                                 .unit = decoder->flow ? PF_ITRACE_NS : PF_ITRACE_RECORDS,
                                 .errors = !*letters};
    if (!*letters)
        itrace->events = ((uint64_t)1 << decoder->event_count) - 1;
    while (*at && result == 0)
        if (*at == ',')
            at++;
        else
            result = parse_letter(itrace, decoder, &at, error);
    complete(itrace, letters);
    itrace->unit = decoder->without_clock ? PF_ITRACE_RECORDS : itrace->unit; /* the numbers stay, as those of perf */
    if (result == 0 && !itrace->events && !decoder->flow)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                         "none of these letters asks for an event that %s data has", decoder->format->heading);
    return result;
}
