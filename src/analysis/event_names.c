/* SPDX-License-Identifier: MIT */
#include "analysis/event_names.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

struct parts {
    const char *term;
    size_t term_bytes;
    const char *modifiers; /* "" without */
    bool of_core;
};

/* Other PMUs of one name are not one event: ibs_fetch/swfilt=1/ and ibs_op/swfilt=1/. */
static bool is_core_pmu(const char *name)
{
    static const char *const starts[] = {"cpu_core/", "cpu_atom/", "cpu_lowpower/", "armv", "apple_"};
    for (size_t i = 0; i < PF_COUNT(starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool is_modifiers(const char *text)
{
    return text[strspn(text, "ukhpPGHSDWIeb")] == '\0';
}

/* PMU/TERM/MODIFIERS of a core, or NAME:MODIFIERS. */
static struct parts parse(const char *name)
{
    const char *slash = strchr(name, '/'), *last = strrchr(name, '/'), *colon = strrchr(name, ':');
    if (slash && last > slash + 1 && is_core_pmu(name))
        return (struct parts){slash + 1, (size_t)(last - slash - 1), last + 1 + (last[1] == ':'), true};
    if (colon && is_modifiers(colon + 1))
        return (struct parts){name, (size_t)(colon - name), colon + 1, false};
    return (struct parts){name, strlen(name), "", false};
}

static bool has_same_term(const struct parts *a, const struct parts *b)
{
    return a->term_bytes == b->term_bytes && memcmp(a->term, b->term, a->term_bytes) == 0;
}

bool pf_event_is_same(const char *name, const char *other)
{
    const struct parts a = parse(name), b = parse(other);
    return a.of_core && b.of_core && has_same_term(&a, &b) && strcmp(a.modifiers, b.modifiers) == 0 &&
           strcmp(name, other) != 0;
}

bool pf_event_is_called(const char *name, const char *wanted)
{
    const struct parts a = parse(name), b = parse(wanted);
    return strcmp(name, wanted) == 0 || has_same_term(&a, &b);
}

void pf_event_common_name(const char *name, char common[PF_EVENT_NAME_BYTES])
{
    const struct parts parts = parse(name);
    snprintf(common, PF_EVENT_NAME_BYTES, "%.*s%s%s", (int)pf_min(parts.term_bytes, (size_t)PF_EVENT_NAME_BYTES),
             parts.term, *parts.modifiers ? ":" : "", parts.modifiers);
}

/* ---- the events of a profile ------------------------------------------------------------------------------------- */

/* NULL when the profile has fewer events. */
static const char *name_of(const struct perfile_profile *profile, uint32_t event, uint64_t *samples)
{
    struct perfile_profile_event about = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    if (perfile_profile_event_at(profile, event, &about) < 0)
        return NULL;
    *samples = perfile_profile_value_type_at(profile, about.first_value, &type) == 0 ? type.total : 0;
    return about.name;
}

/* All that are one with this event, which is the first of them; `first` is PERFILE_NO_ID if it is not. */
static struct pf_event_choice gather(const struct perfile_profile *profile, uint32_t event)
{
    enum { MAX_EVENTS = 1000 }; /* no recording of several kinds of cores has more */
    struct pf_event_choice choice = {.first = event};
    const char *name = name_of(profile, event, &choice.samples), *other;
    uint64_t samples;
    choice.count = choice.samples > 0;
    if (!is_core_pmu(name) || perfile_profile_event_count(profile) > MAX_EVENTS)
        return choice;
    for (uint32_t i = 0; (other = name_of(profile, i, &samples)) != NULL; i++) {
        if (!pf_event_is_same(name, other))
            continue;
        if (i < event)
            return (struct pf_event_choice){.first = PERFILE_NO_ID};
        choice.count += samples > 0;
        choice.samples += samples;
    }
    return choice;
}

struct pf_event_choice pf_event_choose(const struct perfile_profile *profile, const char *wanted)
{
    struct pf_event_choice best = {.first = PERFILE_NO_ID};
    uint32_t with_samples = 0;
    uint64_t samples;
    const char *name;
    for (uint32_t i = 0; (name = name_of(profile, i, &samples)) != NULL; i++) {
        const struct pf_event_choice one = gather(profile, i);
        if (one.first == PERFILE_NO_ID)
            continue;
        with_samples += one.samples > 0;
        if (wanted ? best.first == PERFILE_NO_ID && pf_event_is_called(name, wanted) : one.samples > best.samples)
            best = one;
    }
    best.others = with_samples - (best.samples > 0);
    return best;
}

bool pf_event_is_chosen(const struct perfile_profile *profile, uint32_t event, const struct pf_event_choice *choice)
{
    uint64_t samples;
    if (event == choice->first || choice->count < 2)
        return event == choice->first;
    const char *name = name_of(profile, event, &samples);
    return name && pf_event_is_same(name, name_of(profile, choice->first, &samples));
}

void pf_event_choice_name(const struct perfile_profile *profile, const struct pf_event_choice *choice,
                          char name[PF_EVENT_NAME_BYTES])
{
    uint64_t samples;
    const char *full = name_of(profile, choice->first, &samples);
    if (choice->count > 1)
        pf_event_common_name(full, name);
    else
        snprintf(name, PF_EVENT_NAME_BYTES, "%s", full);
}
