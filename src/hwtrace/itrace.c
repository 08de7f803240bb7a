/* SPDX-License-Identifier: MIT */
#include "hwtrace/itrace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

/* The number and unit after i, y, g, G, l, L and s. Only a number of instructions has a meaning here. */
static int parse_period(struct pf_itrace *itrace, const char **at, struct perfile_error *error)
{
    char *end;
    const uint64_t period = strtoull(*at, &end, 10);
    const bool counts = strncmp(end, "ns", 2) != 0 && strncmp(end, "us", 2) != 0 && strncmp(end, "ms", 2) != 0;
    if (!counts || *end == 't')
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                       "a period must be a number of records, such as i10i: '%.20s'", *at - 1);
    itrace->every = pf_max(period, 1);
    *at = *end == 'i' ? end + 1 : end;
    return 0;
}

static const char *skip_number(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The letters before a period may be followed by + and - with letters of their own: e and d. */
static const char *skip_flags(const char *at)
{
    while (*at == '+' || *at == '-') {
        at++;
        while (*at == 'o' || *at == 'l' || *at == 'a' || *at == 'e')
            at++;
    }
    return at;
}

static int parse_letter(struct pf_itrace *itrace, const struct pf_aux_decoder *decoder, const char **at,
                        struct perfile_error *error)
{
    const char letter = *(*at)++;
    if (!strchr(known_letters, letter))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                       "unknown letter '%c'; valid: %s, with periods such as i10i", letter, known_letters);
    itrace->events |= events_of(decoder, letter);
    itrace->branches |= letter == 'l' || letter == 'L';
    if (letter == 'i' && **at >= '0' && **at <= '9')
        return parse_period(itrace, at, error);
    *at = strchr("ed", letter) ? skip_flags(*at) : skip_number(*at);
    return 0;
}

int pf_itrace_parse(const char *letters, const struct pf_aux_decoder *decoder, struct pf_itrace *itrace,
                    struct perfile_error *error)
{
    int result = 0;
    *itrace = (struct pf_itrace){.every = 1};
    if (!*letters)
        itrace->events = ((uint64_t)1 << decoder->event_count) - 1;
    while (*letters && result == 0)
        if (*letters == ',')
            letters++;
        else
            result = parse_letter(itrace, decoder, &letters, error);
    if (result == 0 && !itrace->events)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "itrace",
                         "none of these letters asks for an event that %s data has", decoder->format->heading);
    return result;
}
