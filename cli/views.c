/* SPDX-License-Identifier: MIT */
#include "views.h"

#include "message.h"
#include "presets.h"
#include "record_show.h"

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
    if (!view) /* another word is the recording: the parser refuses the rest */
        return find_view(views, command->usual_view);
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
    const void *at = pf_option_target(option, (struct pf_settings *)settings);

    switch (option->kind) {
    case PF_OPTION_BITS:
        return *(const unsigned *)at & option->bits;
    case PF_OPTION_NUMBER:
        return *(const uint64_t *)at != 0;
    case PF_OPTION_FLAG:
        return *(const bool *)at;
    case PF_OPTION_TEXT:
    case PF_OPTION_CHOICE:
        return *(const char *const *)at != NULL;
    default:
        return false;
    }
}

const struct pf_option *pf_group_option_set(const struct pf_option_group *group, const struct pf_settings *settings)
{
    const struct pf_option *option = group->options;

    while (option->name && !is_set(option, settings))
        option++;
    return option->name ? option : NULL;
}

const struct pf_option *pf_text_option_set(const struct pf_command *command, const struct pf_settings *settings)
{
    const struct pf_option *option = NULL;

    for (size_t i = 0; command->groups[i] && !option; i++)
        option = command->groups[i]->of_text ? pf_group_option_set(command->groups[i], settings) : NULL;
    return option;
}

int pf_refuse_text_options(const struct pf_command *command, const struct pf_settings *settings)
{
    const struct pf_option *option = pf_text_option_set(command, settings);

    if (!option || (!settings->format && !settings->columns))
        return PF_STATUS_OK;
    pf_message("%s: tables have no --%s: it cannot be combined with --%s", command->name, option->name,
               settings->format ? "format" : "columns");
    return PF_STATUS_USAGE;
}

/* Refuses options that contradict each other, with a message. */
static int check(const struct pf_command *command, const struct pf_settings *settings, const struct pf_subview *view)
{
    const struct pf_option *option = pf_text_option_set(command, settings);

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

int pf_run_view(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_record_show how = {.command = command, .before = pf_preset_choose, .show = pf_run_output};

    return settings->workload ? pf_record_show(&how, settings) : pf_run_output(command, settings);
}

int pf_run_subview_of(const struct pf_command *command, struct pf_settings *settings, const struct pf_subview *views)
{
    const struct pf_subview *view = pf_subview_choose(command, settings, views);

    if (check(command, settings, view) != PF_STATUS_OK)
        return PF_STATUS_USAGE;
    settings->as_perf |= pf_text_option_set(command, settings) != NULL;
    if (view->as_perf && pf_wants_perf_text(settings))
        settings->kind = view->kind ? view->kind : view->view;
    else
        settings->view = view->view;
    return pf_run_view(command, settings);
}

int pf_run_subview(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_subview_of(command, settings, command->views);
}
