/* SPDX-License-Identifier: MIT */
#include "views.h"
#include "guess.h"

#include "message.h"
#include "presets.h"

#include <perfile/table.h>

#include <stdio.h>
#include <string.h>

const char *pf_subview_at(const struct pf_command *command, size_t index, const char **doc)
{
    const struct pf_subview *views = command->views;
    size_t count = 0;

    while (views && views[count].name)
        count++;
    if (index > count || (index == count && !pf_preset_known(command)))
        return NULL;
    if (doc)
        *doc = index < count ? views[index].doc
                             : "records what these need: the options after it are those of perfile record";
    return index < count ? views[index].name : "record";
}

static int complain(const struct pf_command *command, const struct pf_subview *views, const char *passed)
{
    struct pf_guess guess = pf_guess_start(passed ? passed : "");
    char known[160] = "", suggestion[80];

    for (size_t i = 0, used = 0; views[i].name && used < sizeof(known); i++) {
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", views[i].name);
        pf_guess_offer(&guess, views[i].name);
    }
    if (passed)
        pf_message("%s: unknown view %s%s (valid: %s)", command->name, passed,
                   pf_guess_text(&guess, "", suggestion, sizeof(suggestion)), known);
    else
        pf_message("%s: which view? (valid: %s)", command->name, known);
    return PF_STATUS_USAGE;
}

/* NULL when none has that name. */
static const struct pf_subview *find_view(const struct pf_subview *views, const char *name)
{
    while (views->name && strcmp(views->name, name) != 0)
        views++;
    return views->name ? views : NULL;
}

const struct pf_subview *pf_subview_choose(const struct pf_command *command, struct pf_settings *settings,
                                           const struct pf_subview *views)
{
    const char *passed = settings->operand_count ? settings->operands[0] : NULL;

    if (!*views->name)
        return views;
    const struct pf_subview *view = passed ? find_view(views, passed) : NULL;
    if (!view && command->shows_usual_view)
        return find_view(views, command->usual_view);
    if (!view) {
        complain(command, views, passed);
        return NULL;
    }
    settings->operands++;
    settings->operand_count--;
    return view;
}

bool pf_wants_perf_text(const struct pf_settings *settings)
{
    return settings->as_perf || (pf_called_perf() && !settings->format && !settings->columns);
}

static bool is_set(const struct pf_option *option, const struct pf_settings *settings)
{
    const void *at = (const char *)settings + option->offset;

    switch (option->kind) {
    case PF_OPTION_BITS:
        return *(const unsigned *)at & option->bits;
    case PF_OPTION_NUMBER:
        return *(const uint64_t *)at != 0;
    case PF_OPTION_TEXT:
        return *(const char *const *)at != NULL;
    default:
        return false;
    }
}

/* An option of such a group that was given. NULL: none. */
static const struct pf_option *text_option_set(const struct pf_command *command, const struct pf_settings *settings)
{
    for (size_t i = 0; command->groups[i]; i++)
        for (const struct pf_option *option = command->groups[i]->options; command->groups[i]->of_text && option->name;
             option++)
            if (is_set(option, settings))
                return option;
    return NULL;
}

int pf_refuse_text_options(const struct pf_command *command, const struct pf_settings *settings)
{
    const struct pf_option *option = text_option_set(command, settings);

    if (!option || (!settings->format && !settings->columns))
        return PF_STATUS_OK;
    pf_message("%s: tables have no --%s: it cannot be combined with --%s", command->name, option->name,
               settings->format ? "format" : "columns");
    return PF_STATUS_USAGE;
}

/* Refuses options that contradict each other, with a message. */
static int check(const struct pf_command *command, const struct pf_settings *settings, const struct pf_subview *view)
{
    const struct pf_option *option = text_option_set(command, settings);

    if (settings->as_perf && !view->as_perf)
        pf_message("%s: perf has no text of the view %s", command->name, view->name);
    else if (settings->as_perf && settings->format)
        pf_message("%s: --stdio cannot be combined with --format", command->name);
    else if (option && !view->as_perf)
        pf_message("%s: the view %s has no --%s", command->name, view->name, option->name);
    else if (settings->events.sort && view->unsorted)
        pf_message("%s: the view %s has no --sort", command->name, view->name);
    else
        return pf_refuse_text_options(command, settings);
    return PF_STATUS_USAGE;
}

int pf_run_subview(const struct pf_command *command, struct pf_settings *settings, const struct pf_subview *views)
{
    const struct pf_subview *view = pf_subview_choose(command, settings, views);

    if (!view || check(command, settings, view) != PF_STATUS_OK)
        return PF_STATUS_USAGE;
    settings->as_perf |= text_option_set(command, settings) != NULL;
    if (view->as_perf && pf_wants_perf_text(settings))
        settings->kind = view->kind ? view->kind : view->view;
    else
        settings->view = view->view;
    return pf_run_output(command, settings);
}
