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
    return pf_run_subview(command, settings, pages ? page_views : slab_views);
}

static const char *key_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const struct pf_value values[] = {
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

    (void)command;
    return pf_value_of(values, index, doc);
}

#define AT(member) offsetof(struct pf_settings, member)
#define FLAG(option, short_option, bit, text)                                                                          \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS, .offset = AT(events.flags), .bits = bit,       \
        .doc = text                                                                                                    \
    }
/* The kinds of rows are called like these options. */
static int choose_kind(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    const char **kinds = &settings->events.classes;

    (void)text;
    *kinds = *kinds && strcmp(*kinds, option->name) ? "slab,page" : option->name;
    return PF_STATUS_OK;
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(pf_table_format_at),
    PF_OPTION_COLUMNS,
    PF_OPTION_STDIO,
    {.name = "slab",
     .kind = PF_OPTION_FLAG,
     .set = choose_kind,
     .doc = "What was allocated from slabs (kmalloc and the like). The default."},
    {.name = "page", .kind = PF_OPTION_FLAG, .set = choose_kind, .doc = "What was allocated as pages."},
    FLAG("caller", 0, PERFILE_EVENTS_CALLER, "A row for each caller. The default of tables."),
    FLAG("alloc", 0, PERFILE_EVENTS_ALLOC, "A row for each address, or page."),
    FLAG("live", 0, PERFILE_EVENTS_LIVE, "page: only what was not freed."),
    {.name = "sort",
     .letter = 's',
     .kind = PF_OPTION_LIST,
     .argument = "KEYS",
     .offset = AT(events.sort),
     .value_at = key_at,
     .doc =
         "Sort by these: frag, hit, bytes, pingpong, ptr, callsite [frag,hit,bytes, of tables bytes,hit]; page: bytes, "
         "hit, page, callsite, order, migtype, gfp [bytes,hit]."},
    {.name = "line",
     .letter = 'l',
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(events.rows),
     .doc = "At most N rows in each table."},
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option perf_options[] = {
    FLAG("raw-ip", 0, PERFILE_EVENTS_RAW_IP, "slab: callers as addresses."),
    {0},
};
static const struct pf_option_group perf_group = {PF_PERF_TEXT, perf_options, true};

const struct pf_command pf_command_kmem = {
    .name = "kmem",
    .summary = "show what the kernel allocated, the callers, and what was not freed",
    .doc = "Prints what the kernel allocated by caller or by address: from slabs, or with --page as pages. perfile "
           "kmem record, with --page before the word record for pages, records the events, with the options of perfile "
           "record.",
    .operand = "VIEW [FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 2,
    .operand_at = pf_subview_at,
    .views = slab_views,
    .pages = true,
    .groups = {&group, &perf_group, PF_SAMPLE_GROUPS},
    .run = run,
};
