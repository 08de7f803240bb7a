/* SPDX-License-Identifier: MIT */
/* Tracepoints, and the kprobes, uprobes and SDT probes that were made: folders of tracefs. */
#include <errno.h>
#include <stdio.h>

#include "base/locale.h"
#include "record/event_parts.h"

static bool name_fits(struct pf_piece wanted, const char *name)
{
    char glob[128];
    if (!pf_has_wildcard(wanted))
        return pf_piece_is(wanted, name);
    if (wanted.bytes >= sizeof(glob))
        return false;
    memcpy(glob, wanted.text, wanted.bytes);
    glob[wanted.bytes] = '\0';
    return pf_glob_matches(glob, name, false);
}

struct tracing {
    struct pf_event_parser *parser;
    const struct pf_event_text *text;
    const char *folder; /* of all systems */
    size_t systems;     /* that fit */
    size_t added;
};

/* A path below the folder of all systems; those of pf_sys_path begin at its root. */
static const char *path_of(struct tracing *tracing, const char *system, const char *name, const char *file)
{
    struct pf_sys *sys = &tracing->parser->sys;
    return pf_sys_path(sys, "%s/%s%s%s%s%s", tracing->folder + strlen(sys->root) + 1, system, *name ? "/" : "", name,
                       *file ? "/" : "", file);
}

static int add_tracepoint(struct tracing *tracing, const char *system, const char *name)
{
    struct pf_event_parser *parser = tracing->parser;
    struct pf_listed_event *event;
    int reason;
    uint64_t id;
    char shown[520];
    const char *number = pf_sys_read(&parser->sys, path_of(tracing, system, name, "id"), &reason);
    if (reason == ENOMEM)
        return pf_sys_memory(&parser->sys);
    if (!number && (reason == ENOENT || reason == ENOTDIR)) /* a file beside the events, or one of ftrace itself */
        return 0;
    if (reason == EACCES)
        return pf_sys_closed(&parser->sys, tracing->folder, path_of(tracing, system, name, "id"));
    if (!number || !pf_piece_number(pf_piece_of(number), &id))
        return pf_parse_refuse(parser, PERFILE_ERROR_OPEN, "the id of %s:%s cannot be read: %s", system, name,
                               number ? "not a number" : pf_error_text(reason));
    snprintf(shown, sizeof(shown), "%s:%s", system, name);
    const int result = pf_event_parser_add(parser, pf_piece_of(shown), &event);
    if (result < 0)
        return result;
    event->attr.type = PERFILE_TYPE_TRACEPOINT;
    event->attr.config = id;
    event->attr.sample_period_or_freq = 1;
    tracing->added++;
    return tracing->text->has_terms ? pf_parse_terms(parser, NULL, event, tracing->text->terms) : 0;
}

static int add_system(struct tracing *tracing, const char *system)
{
    struct pf_sys *sys = &tracing->parser->sys;
    struct pf_names names = {0};
    int reason = pf_sys_list(sys, path_of(tracing, system, "", ""), &names), result = 0;
    if (reason == ENOTDIR) /* enable, header_page ... */
        reason = 0;
    else
        tracing->systems++;
    if (reason)
        result = reason == ENOMEM
                     ? pf_sys_memory(sys)
                     : pf_parse_refuse(tracing->parser, PERFILE_ERROR_OPEN, "the tracepoints of %s cannot be read: %s",
                                       system, pf_error_text(reason));
    for (size_t i = 0; result >= 0 && i < names.count; i++)
        if (name_fits(tracing->text->tracepoint, names.items[i]))
            result = add_tracepoint(tracing, system, names.items[i]);
    pf_names_close(sys, &names);
    return result;
}

/* The nearest systems, or the nearest tracepoints of the system that there is. */
static int refuse(struct tracing *tracing, const struct pf_names *systems)
{
    const struct pf_event_text *text = tracing->text;
    struct pf_sys *sys = &tracing->parser->sys;
    struct pf_near near = {.wanted = tracing->systems ? text->tracepoint : text->name};
    for (size_t i = 0; i < systems->count; i++) {
        struct pf_names names = {0};
        if (!tracing->systems)
            pf_near_offer(&near, systems->items[i], systems->items[i]);
        else if (name_fits(text->name, systems->items[i]))
            pf_sys_list(sys, path_of(tracing, systems->items[i], "", ""), &names);
        for (size_t j = 0; j < names.count; j++)
            pf_near_offer(&near, names.items[j], names.items[j]);
        pf_names_close(sys, &names);
    }
    if (!tracing->systems)
        return pf_parse_refuse(tracing->parser, PERFILE_ERROR_ABSENT, "no tracepoints of %.*s, as in %.*s:%.*s%s",
                               PF_SHOW(text->name), PF_SHOW(text->name), PF_SHOW(text->tracepoint),
                               pf_near_text(&near, PF_NEAR_TEXT));
    return pf_parse_refuse(tracing->parser, PERFILE_ERROR_ABSENT, "%.*s has no tracepoint %.*s%s", PF_SHOW(text->name),
                           PF_SHOW(text->tracepoint), pf_near_text(&near, PF_NEAR_TEXT));
}

int pf_parse_tracepoints(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_sys *sys = &parser->sys;
    struct tracing tracing = {.parser = parser, .text = text};
    struct pf_names systems = {0};
    int result = pf_sys_tracing(sys, &tracing.folder);
    if (result == PERFILE_ERROR_OPEN && pf_sys_mount_tracing(sys)) {
        parser->chosen->mounted = true;
        result = pf_sys_tracing(sys, &tracing.folder);
    }
    if (result < 0)
        return result;
    if (pf_sys_list(sys, tracing.folder, &systems) == ENOMEM)
        result = pf_sys_memory(sys);
    for (size_t i = 0; result >= 0 && i < systems.count; i++)
        if (name_fits(text->name, systems.items[i]))
            result = add_system(&tracing, systems.items[i]);
    if (result >= 0 && !tracing.added)
        result = refuse(&tracing, &systems);
    pf_names_close(sys, &systems);
    return result;
}
