/* SPDX-License-Identifier: MIT */
/* Probes of this machine, as perf probe has them. */
#include "probes.h"
#include "array.h"
#include "message.h"
#include "sandbox.h"
#include "stream.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *exec, *module, *list, *filter, *functions, *source, *tracefs;
    char *add, *remove, *lines, *variables, *definitions; /* a line each */
    uint64_t max_probes;
    bool dry_run, force, no_inlines, externs, ranges;
};

/* One run. */
struct probing {
    const struct pf_command *command;
    struct pf_settings *settings;
    const struct settings *own;
    struct perfile_probe_options options;
    struct pf_stream out;
    char path[PATH_MAX];
    char folder[PATH_MAX];
    int status; /* of what was printed */
};

static int failed(const struct probing *p, int result, const struct perfile_error *error)
{
    if (result == PERFILE_ERROR_STOPPED)
        return pf_out_of_memory(p->command->name);
    if (result < 0)
        pf_message("%s: %s", p->command->name, pf_error_sentence(error, p->command->name));
    return !result                            ? PF_STATUS_OK
           : result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE
                                              : pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

/* Calls `act` for each line of the text, or not at all. */
static int for_each(struct probing *p, char *text, int (*act)(struct probing *p, const char *line))
{
    int status = PF_STATUS_OK;

    for (char *line = text, *next; line && !status; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        status = act(p, line);
    }
    return status;
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

/* A glob, with ! before it what does not match. */
static bool passes_one(const char *rule, size_t bytes, const char *name)
{
    char glob[256];
    const bool is_not = *rule == '!';

    snprintf(glob, sizeof(glob), "%.*s", (int)bytes - is_not, rule + is_not);
    return (fnmatch(glob, name, 0) == 0) != is_not;
}

/* Rules between &: all, and between |, which binds less: one of them. Blanks do not matter. */
static bool passes(const char *filter, const char *name)
{
    bool all = true;

    for (const char *at = filter; *at;) {
        at += strspn(at, " &");
        if (*at == '|') {
            if (all)
                return true;
            all = true;
            at++;
            continue;
        }
        const size_t bytes = strcspn(at, " &|");
        if (bytes)
            all = all && passes_one(at, bytes, name);
        at += bytes;
    }
    return all;
}

/* ---- texts that are sorted --------------------------------------------------------------------------------------- */

struct texts {
    char **items;
    size_t count, capacity;
};

/* Takes over a text from malloc. Non-zero when out of memory. */
static int keep(struct texts *texts, char *text)
{
    if (!text || !pf_array_grow(&texts->items, &texts->capacity, texts->count + 1, sizeof(text))) {
        free(text);
        return -1;
    }
    texts->items[texts->count++] = text;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, each once, and gone. */
static void print_texts(struct probing *p, struct texts *texts)
{
    if (texts->count)
        qsort(texts->items, texts->count, sizeof(*texts->items), compare);
    for (size_t i = 0; i < texts->count; i++)
        if (!i || strcmp(texts->items[i - 1], texts->items[i]) != 0)
            pf_stream_print(&p->out, "%s\n", texts->items[i]);
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    texts->count = 0;
}

/* ---- -F ---------------------------------------------------------------------------------------------------------- */

static int print_function(void *context, const char *name)
{
    struct probing *p = context;
    const char *filter = p->own->filter ? p->own->filter : p->own->functions;

    if (passes(filter, name))
        pf_stream_print(&p->out, "%s\n", name);
    return 0;
}

static int print_functions(struct probing *p)
{
    struct perfile_error error;

    return failed(p, perfile_probe_functions(&p->options, print_function, p, &error), &error);
}

/* ---- -V ---------------------------------------------------------------------------------------------------------- */

struct variables {
    struct probing *p;
    const char *definition;
    bool is_started;
    char point[512];
    struct texts texts;
};

static int keep_variable(void *context, const struct perfile_probe_variable *variable)
{
    struct variables *v = context;
    const bool ranges = v->p->own->ranges;
    char *text = NULL;
    int used;

    if (strcmp(v->point, variable->point) != 0) {
        print_texts(v->p, &v->texts);
        snprintf(v->point, sizeof(v->point), "%s", variable->point);
        if (!v->is_started)
            pf_stream_print(&v->p->out, "Available variables at %s\n", v->definition);
        v->is_started = true;
        pf_stream_print(&v->p->out, "\t@<%s>\n", v->point);
    }
    if (!variable->name)
        pf_stream_print(&v->p->out, "\t\t(No matched variables)\n");
    if (!variable->name || !passes(v->p->own->filter ? v->p->own->filter : "!__k???tab_* & !__crc_*", variable->name))
        return 0;
    if (!ranges || !*variable->ranges)
        used = asprintf(&text, "\t\t%s%s\t%s",
                        !ranges                 ? ""
                        : variable->is_external ? "[EXT]\t"
                                                : "[VAL]\t",
                        variable->type, variable->name);
    else
        used = asprintf(&text, "\t\t[VAL]\t%s\t%s\t@<%.*s+[%s]>", variable->type, variable->name,
                        (int)strcspn(v->point, "+"), v->point, variable->ranges);
    return keep(&v->texts, used < 0 ? NULL : text);
}

static int print_variables(struct probing *p, const char *definition)
{
    struct variables v = {.p = p, .definition = definition};
    struct perfile_error error;

    const int result = perfile_probe_variables(&p->options, definition, p->own->externs, keep_variable, &v, &error);
    print_texts(p, &v.texts);
    free(v.texts.items);
    return failed(p, result, &error);
}

/* ---- -L ---------------------------------------------------------------------------------------------------------- */

enum { LINES_AFTER = 3 }; /* the end of a function */

/* Under its path, or below --source: under its full path, then without its first folders. */
static FILE *open_source(const struct probing *p, const char *path)
{
    const char *folder = p->own->source;
    char tried[PATH_MAX];
    FILE *file = folder ? NULL : fopen(path, "re");

    for (const char *at = path; folder && !file && at; at = strchr(at + 1, '/')) {
        if (snprintf(tried, sizeof(tried), "%s/%s", folder, at + (*at == '/')) < PATH_MAX)
            file = fopen(tried, "re");
    }
    return file;
}

static bool has_probe(const struct perfile_probe_listing *lines, uint64_t number)
{
    for (size_t i = 0; i < lines->line_count; i++)
        if (lines->lines[i] == number)
            return true;
    return false;
}

/* What cannot be printed in the source is escaped, but for tabs. */
static void print_line(struct probing *p, const struct perfile_probe_listing *lines, uint64_t number, char *text)
{
    if (has_probe(lines, number))
        pf_stream_print(&p->out, "%7" PRIu64 "  ", number - lines->first);
    else
        pf_stream_print(&p->out, "         ");
    for (char *tab; (tab = strchr(text, '\t')); text = tab + 1) {
        *tab = '\0';
        pf_stream_put_name(&p->out, "", text, "\t");
    }
    pf_stream_put_name(&p->out, "", text, "\n");
}

static int print_lines(void *context, const struct perfile_probe_listing *lines)
{
    struct probing *p = context;
    FILE *file = open_source(p, lines->file);
    char *text = NULL;
    size_t capacity = 0;
    ssize_t bytes = 0;
    uint64_t last = lines->line_count ? lines->lines[lines->line_count - 1] + LINES_AFTER : lines->from;

    if (lines->to != INT32_MAX)
        last = lines->to;
    else if (!lines->function)
        last = UINT64_MAX;
    if (!file && errno == ENOMEM)
        return p->status = pf_out_of_memory(p->command->name);
    if (!file) {
        pf_message("%s: the source file %s is not here; --source DIR is where such files are", p->command->name,
                   lines->file);
        return p->status = PF_STATUS_UNREADABLE;
    }
    pf_stream_print(&p->out, "<%s%s%s:%" PRIu64 ">\n", lines->function ? lines->function : "",
                    lines->function ? "@" : "", lines->file, lines->from - lines->first);
    for (uint64_t number = 1; number <= last && (bytes = getline(&text, &capacity, file)) >= 0; number++) {
        if (bytes && text[bytes - 1] == '\n')
            text[bytes - 1] = '\0';
        if (number >= lines->from)
            print_line(p, lines, number, text);
    }
    if (bytes < 0 && !feof(file) && !ferror(file))
        p->status = pf_out_of_memory(p->command->name);
    free(text);
    fclose(file);
    return p->status;
}

static int show_lines(struct probing *p, const char *range)
{
    struct perfile_error error;
    const int result = perfile_probe_lines(&p->options, range, print_lines, p, &error);

    return p->status ? p->status : failed(p, result, &error);
}

/* ---- -D and -a --------------------------------------------------------------------------------------------------- */

static int print_definition(struct probing *p, const char *definition)
{
    struct pf_probe_batch batch = {.verb = p->command->name};
    int status = pf_probe_batch_define(&batch, &p->options, definition);

    for (size_t i = 0; i < batch.count && !status; i++) {
        char *text = pf_probe_line_text(&batch.lines[i], 0);
        if (!text)
            status = pf_out_of_memory(p->command->name);
        else
            pf_stream_print(&p->out, "%s\n", text);
        free(text);
    }
    pf_probe_batch_free(&batch);
    return status;
}

static void report_added(const struct probing *p, const struct pf_probe_batch *batch)
{
    const struct pf_probe_line *last = &batch->lines[batch->count - 1];

    if (p->settings->quiet)
        return;
    fprintf(stderr, "%s event%s:\n", p->own->dry_run ? "Would add the" : "Added new", batch->count > 1 ? "s" : "");
    for (size_t i = 0; i < batch->count; i++) {
        const struct pf_probe_line *line = &batch->lines[i];
        char name[512];
        snprintf(name, sizeof(name), "%s:%s", line->group, line->event);
        fprintf(stderr, "  %-20s (on %s%s%s%s%s)\n", name, line->point, line->file ? " in " : "",
                line->file ? line->file : "", *line->arguments ? " with " : "", line->arguments);
    }
    if (!p->own->dry_run)
        fprintf(stderr, "\nIt can be recorded now, such as:\n\n    %s record -e %s:%s -a sleep 1\n\n",
                pf_program_name(), last->group, last->event);
}

static int add(struct probing *p, char *definitions)
{
    struct pf_probe_batch batch = {.verb = p->command->name, .tracefs = p->own->tracefs};
    int status = PF_STATUS_OK;

    for (char *line = definitions, *next; line && !status; line = next) {
        const size_t first = batch.count;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        status = pf_probe_batch_define(&batch, &p->options, line);
        if (!status)
            status = pf_probe_batch_name(&batch, first, p->own->force);
    }
    if (!status && !p->own->dry_run)
        status = pf_probe_batch_add(&batch);
    if (!status && batch.count)
        report_added(p, &batch);
    pf_probe_batch_free(&batch);
    return status;
}

/* ---- -l and -d --------------------------------------------------------------------------------------------------- */

/* GROUP:EVENT, or EVENT of any group. */
static bool is_meant(const char *pattern, const struct perfile_probe_entry *entry)
{
    char name[512], complete[512];

    snprintf(name, sizeof(name), "%s:%s", entry->group, entry->event);
    snprintf(complete, sizeof(complete), "%s%s", strchr(pattern, ':') ? "" : "*:", pattern);
    return fnmatch(complete, name, 0) == 0;
}

/* The names of its arguments: those before the equals signs. */
static void print_arguments(struct probing *p, const char *arguments)
{
    const char *before = " with ";

    while (*arguments) {
        const size_t all = strcspn(arguments, " ");
        const char *equals = memchr(arguments, '=', all);
        pf_stream_print(&p->out, "%s%.*s", before, (int)(equals ? equals - arguments : (ptrdiff_t)all), arguments);
        before = " ";
        arguments += all + strspn(arguments + all, " ");
    }
}

/* "leaf%return@/tmp/a.c": the mark of a return stands after the function. */
static void print_site(struct probing *p, const struct perfile_probe_entry *entry, const char *site)
{
    const char *file = strchr(site, '@');
    size_t bytes = file ? (size_t)(file - site) : strlen(site);

    if (bytes > 2 && !strncmp(site + bytes - 2, "+0", 2)) /* the start of the function */
        bytes -= 2;
    pf_stream_print(&p->out, "%.*s%s%s", (int)bytes, site, entry->is_return ? "%return" : "", file ? file : "");
}

static int list_entry(void *context, const struct perfile_probe_entry *entry)
{
    struct probing *p = context;
    struct perfile_probe_options options = p->options;
    const char *colon = strrchr(entry->target, ':');
    char name[512], site[1024], file[PATH_MAX];
    const bool is_of_text = entry->is_kernel && !strncmp(entry->target, "_text+", 6);

    if (!is_meant(p->own->list, entry))
        return 0;
    snprintf(name, sizeof(name), "%s:%s", entry->group, entry->event);
    snprintf(site, sizeof(site), "%s", entry->is_kernel || !colon ? entry->target : colon + 1);
    snprintf(file, sizeof(file), "%.*s", colon ? (int)(colon - entry->target) : 0, entry->target);
    options.file = entry->is_kernel ? NULL : file;
    options.note = NULL;
    pf_stream_print(&p->out, "  %-20s (on ", name);
    if (is_of_text || !entry->is_kernel) {
        char text[1024];
        if (perfile_probe_describe(&options, strtoull(is_of_text ? entry->target + 6 : site, NULL, 0), text,
                                   sizeof(text)))
            snprintf(site, sizeof(site), "%s", text);
    }
    print_site(p, entry, site);
    if (!entry->is_kernel)
        pf_stream_put_name(&p->out, " in ", file, "");
    print_arguments(p, entry->arguments);
    pf_stream_print(&p->out, ")\n");
    return 0;
}

static int list(struct probing *p)
{
    struct perfile_error error;

    return failed(p, perfile_probes_list(p->own->tracefs, list_entry, p, &error), &error);
}

struct removal {
    struct probing *p;
    const char *pattern;
    struct texts kernel, programs; /* "GROUP/EVENT" */
};

static int keep_meant(void *context, const struct perfile_probe_entry *entry)
{
    struct removal *removal = context;
    char *text = NULL;

    if (!is_meant(removal->pattern, entry))
        return 0;
    return keep(entry->is_kernel ? &removal->kernel : &removal->programs,
                asprintf(&text, "%s/%s", entry->group, entry->event) < 0 ? NULL : text);
}

/* Addresses that share a name are removed at once. */
static int remove_texts(struct probing *p, struct texts *texts, bool is_kernel)
{
    struct perfile_error error;
    int result = 0;

    for (size_t i = 0; i < texts->count && result == 0; i++) {
        char line[520];
        const char *name = texts->items[i];
        if (i && !strcmp(name, texts->items[i - 1]))
            continue;
        snprintf(line, sizeof(line), "-:%s", name);
        result = p->own->dry_run ? 0 : perfile_probes_write(p->own->tracefs, is_kernel, line, &error);
        if (result == 0 && !p->settings->quiet)
            fprintf(stderr, "%s: %.*s:%s\n", p->own->dry_run ? "Would remove the event" : "Removed event",
                    (int)strcspn(name, "/"), name, strchr(name, '/') + 1);
    }
    return result < 0 ? failed(p, result, &error) : PF_STATUS_OK;
}

static void free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
}

static int remove_probes(struct probing *p, const char *pattern)
{
    struct removal removal = {.p = p, .pattern = pattern};
    struct perfile_error error;
    int status = failed(p, perfile_probes_list(p->own->tracefs, keep_meant, &removal, &error), &error);

    if (!status && !removal.kernel.count && !removal.programs.count) {
        pf_message("%s: no probe matches %s; perfile probe --list lists them", p->command->name, pattern);
        status = PF_STATUS_UNREADABLE;
    }
    if (!status)
        status = remove_texts(p, &removal.kernel, true);
    if (!status)
        status = remove_texts(p, &removal.programs, false);
    free_texts(&removal.kernel);
    free_texts(&removal.programs);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* What is left of the command line is one definition. */
static int join_operands(struct probing *p, char **definition)
{
    int status = PF_STATUS_OK;

    *definition = NULL;
    for (size_t i = 0; i < p->settings->operand_count && !status; i++)
        status = pf_text_join(definition, " ", p->settings->operands[i]);
    return status;
}

static int find_target(struct probing *p)
{
    p->options.symbols = &p->settings->symbols;
    p->options.module = p->own->module;
    p->options.max_probes = p->own->max_probes;
    p->options.no_inlines = p->own->no_inlines;
    p->options.note = pf_probe_print_note;
    p->options.note_context = (void *)(uintptr_t)p->command->name;
    if (!p->own->exec)
        return PF_STATUS_OK;
    if (!pf_probe_find_file(p->own->exec, p->path)) {
        pf_message("%s: --exec %s: there is no such file, program or library", p->command->name, p->own->exec);
        return PF_STATUS_UNREADABLE;
    }
    p->options.file = p->path;
    return PF_STATUS_OK;
}

/* Files are read in the sandbox; only tracefs may be written to. */
static int enter_sandbox(struct probing *p, bool uses_tracefs)
{
    struct perfile_error error;
    const int result =
        !uses_tracefs || p->own->tracefs ? 0 : perfile_probes_folder(p->folder, sizeof(p->folder), &error);

    if (result < 0)
        return failed(p, result, &error);
    if (uses_tracefs)
        p->settings->also_written = p->own->tracefs ? p->own->tracefs : p->folder;
    pf_sandbox_enter(p->command, p->settings);
    return PF_STATUS_OK;
}

static int count_actions(const struct settings *own, const char *operands)
{
    return (own->add || own->remove || operands) + !!own->list + !!own->functions + !!own->lines + !!own->variables +
           !!own->definitions;
}

static int check_actions(const struct probing *p, const char *operands)
{
    const int count = count_actions(p->own, operands);

    if (count == 1)
        return PF_STATUS_OK;
    pf_message(count ? "%s: --add, --list, --line, --vars, --funcs and --definition exclude each other"
                     : "%s: a definition of a probe, such as -x FILE FUNCTION, or an option such as --list is missing "
                       "(perfile probe --help)",
               p->command->name);
    return PF_STATUS_USAGE;
}

static int act(struct probing *p, char *operands)
{
    const struct settings *own = p->own;
    int status = PF_STATUS_OK;

    if (own->functions)
        return print_functions(p);
    if (own->list)
        return list(p);
    if (own->lines)
        return for_each(p, own->lines, show_lines);
    if (own->variables)
        return for_each(p, own->variables, print_variables);
    if (own->definitions)
        return for_each(p, own->definitions, print_definition);
    if (own->remove)
        status = for_each(p, own->remove, remove_probes);
    if (!status && own->add)
        status = add(p, own->add);
    return status || !operands ? status : add(p, operands);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct probing p = {
        .command = command, .settings = settings, .own = pf_own(settings), .options = PERFILE_PROBE_OPTIONS_INIT};
    char *operands;
    int status = join_operands(&p, &operands), written;

    if (!status)
        status = check_actions(&p, operands);
    if (!status)
        status = find_target(&p);
    if (!status)
        status = enter_sandbox(&p, p.own->add || p.own->remove || p.own->list || operands);
    if (!status && !(status = pf_stream_open(&p.out, NULL))) {
        status = act(&p, operands);
        written = pf_stream_close(&p.out, true);
        status = status ? status : written;
    }
    free(operands);
    return status;
}

static const struct pf_option actions[] = {
    PF_ROW(LINES, "add", 'a', "DEFINITION", PF_OWN(add), "Add this probe, and further ones with further --add.",
           .first = true),
    PF_ROW(LINES, "del", 'd', "[GROUP:]EVENT", PF_OWN(remove),
           "Delete these probes: * and ? stand for other characters.", .first = true),
    PF_ROW(TEXT, "list", 'l', "[[GROUP:]EVENT]", PF_OWN(list), "List the probes, or those whose names match.",
           .usual = "*", .first = true),
    PF_ROW(LINES, "line", 'L', "FUNC[@FILE][:FROM[-TO|+N]]|FILE[:FROM[-TO|+N]]", PF_OWN(lines),
           "Print source lines; those that a probe can be put on have numbers.", .first = true),
    PF_ROW(LINES, "vars", 'V', "DEFINITION", PF_OWN(variables), "Print the variables that are known there.",
           .first = true),
    PF_ROW(TEXT, "funcs", 'F', "[FILTER]", PF_OWN(functions), "Print the functions that probes can be put into.",
           .usual = "!_* & !*@plt", .first = true),
    PF_ROW(LINES, "definition", 'D', "DEFINITION", PF_OWN(definitions),
           "Print what would be written to uprobe_events or kprobe_events of tracefs.", .first = true),
    {0},
};

static const struct pf_option options[] = {
    PF_ROW(TEXT, "exec", 'x', "FILE", PF_OWN(exec),
           "The program or library: a path, or a name such as bash or libc. Without it probes are put into the kernel.",
           .first = true),
    PF_ROW(TEXT, "module", 'm', "MODULE", PF_OWN(module), "A module of the kernel."),
    PF_FLAG("dry-run", 'n', PF_OWN(dry_run), "Do everything but writing to tracefs."),
    PF_FLAG("force", 'f', PF_OWN(force), "Add the probe under another name if its own exists already."),
    PF_ROW(NUMBER, "max-probes", 0, "N", PF_OWN(max_probes), "The most addresses that one definition may mean [128]."),
    PF_FLAG("no-inlines", 0, PF_OWN(no_inlines), "Put no probes where functions are inlined."),
    PF_FLAG("externs", 0, PF_OWN(externs), "With --vars: print variables outside of functions, too."),
    PF_FLAG("range", 0, PF_OWN(ranges), "With --vars: print for which bytes of the function each is known."),
    PF_ROW(TEXT, "filter", 0, "FILTER", PF_OWN(filter),
           "With --vars and --funcs: print only these names: a glob, ! before it for all others, & and | between "
           "several."),
    PF_ROW(TEXT, "source", 's', "DIR", PF_OWN(source), "With --line: where the source files are."),
    PF_ROW(FILE, "vmlinux", 'k', "FILE", PF_AT(symbols.vmlinux),
           "The kernel's ELF file, whose debug info knows its lines and variables."),
    PF_ROW(FILE, "kallsyms", 0, "FILE", PF_AT(symbols.kallsyms), "The kernel's symbols, instead of /proc/kallsyms."),
    PF_OPTION_BUILDID_DIR,
    PF_ROW(TEXT, "tracefs", 0, "DIR", PF_OWN(tracefs), "The folder to read and write instead of tracefs.",
           .hidden = true),
    {0},
};

const struct pf_command pf_command_probe = {
    .name = "probe",
    .summary = "add, list and delete probes in programs and in the kernel",
    .doc = "A probe is an event at a function or source line of a program, a library or the kernel, which can have "
           "values of variables as arguments. A definition is [[GROUP:]EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE] or "
           "FILE:LINE, and arguments: [NAME=]VARIABLE, ->MEMBER, .MEMBER and [INDEX] of it, $vars, $params, $retval, "
           "%REGISTER, each with :TYPE. perfile record --probe adds a probe for one recording.",
    .operand = "[DEFINITION]",
    .operand_max = SIZE_MAX,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("What is done", actions), PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
