/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <string.h>

static const struct pf_subview slab_views[] = {
    {"stat", "kmem_slab", true, "what the kernel allocated: from slabs, or with --page as pages", NULL},
    {0},
};
static const struct pf_subview page_views[] = {
    {"stat", "kmem_page", true, "pages that the kernel allocated", NULL},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const bool by_address = settings->events.flags & PERFILE_EVENTS_ALLOC;
    const bool pages = settings->events.classes && !strcmp(settings->events.classes, "page");

    if (settings->events.classes && strchr(settings->events.classes, ',')) {
        pf_message("%s: --slab and --page cannot be combined", command->name);
        return PF_STATUS_USAGE;
    }
    if (by_address && !pf_wants_perf_text(settings) && settings->events.flags & PERFILE_EVENTS_CALLER) {
        pf_message("%s: --caller and --alloc are two tables; print one of them, or both with --stdio", command->name);
        return PF_STATUS_USAGE;
    }
    settings->keys = !by_address ? NULL : pages ? "page" : "address";
    return pf_run_subview_of(command, settings, pages ? page_views : slab_views);
}

static const struct pf_value keys[] = {
    {"bytes", "how much"},
    {"hit", "how often"},
    {"frag", "the part that was not asked for"},
    {"pingpong", "how often another CPU freed it"},
    {"ptr", "its address"},
    {"callsite", "address of the caller"},
    {"page", "its number"},
    {"order", "its size"},
    {"migtype", "whether it can be moved"},
    {"gfp", "GFP flags"},
    {0},
};

#define FLAG(option, bit, text) PF_BITS(option, 0, PF_AT(events.flags), bit, text)
/* The kinds of rows are called like these options. */
static int choose_kind(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    const char **kinds = &settings->events.classes;

    (void)text;
    *kinds = *kinds && strcmp(*kinds, option->name) ? "slab,page" : option->name;
    return PF_STATUS_OK;
}

static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_FLAG("slab", 0, .set = choose_kind, "What was allocated from slabs (kmalloc and the like). The default."),
    PF_FLAG("page", 0, .set = choose_kind, "What was allocated as pages."),
    FLAG("caller", PERFILE_EVENTS_CALLER, "A row for each caller. The default of tables."),
    FLAG("alloc", PERFILE_EVENTS_ALLOC, "A row for each address, or page."),
    FLAG("live", PERFILE_EVENTS_LIVE, "page: only what was not freed."),
    PF_VALUES(
        LIST, "sort", 's', "KEYS", PF_AT(events.sort), .table = keys,
        "Sort by these: frag, hit, bytes, pingpong, ptr, callsite [frag,hit,bytes, of tables bytes,hit]; page: bytes, "
        "hit, page, callsite, order, migtype, gfp [bytes,hit]."),
    PF_ROW(NUMBER, "line", 'l', "N", PF_AT(events.rows), "At most N rows in each table."),
    PF_OPTION_OUTPUT,
    {0},
};

static const struct pf_option perf_options[] = {
    FLAG("raw-ip", PERFILE_EVENTS_RAW_IP, "slab: callers as addresses."),
    {0},
};

const struct pf_command pf_command_kmem = {
    .name = "kmem",
    .summary = "show what the kernel allocated, by caller, and what it kept",
    .doc = "Prints what the kernel allocated by caller or by address: from slabs, or with --page as pages. perfile "
           "kmem record, with --page before the word record for pages, records the events, with the options of perfile "
           "record. "
           "VIEW may be left out: stat." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(slab_views, 2, "stat"),
    .groups = {PF_GROUP("Options", options), PF_GROUP(PF_PERF_TEXT, perf_options, true), PF_SAMPLE_GROUPS},
    .run = run,
};
