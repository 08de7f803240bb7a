/* SPDX-License-Identifier: MIT */
/*
 * Metrics of a processor from the files that the sources of Linux have for it: a folder such as
 * tools/perf/pmu-events/arch/x86/skylake. Its *.json are lists of objects whose members are texts: of an event
 * EventName, EventCode, UMask and so on, of a metric MetricName, MetricExpr, MetricGroup and ScaleUnit.
 */
#include "array.h"
#include "file_text.h"
#include "stat_metrics.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"
#include "options.h"

enum { FILE_BYTES_MAX = 32 << 20, LINE_BYTES_MAX = 16 << 10, DEPTH_MAX = 16, EVENT_BYTES = 200 };

/* The members that matter. */
enum member { NAME, CODE, UMASK, CMASK, EDGE, INVERT, UNIT, STANDARD, METRIC, EXPRESSION, GROUP, SCALE, MEMBERS };

static const char *const member_names[MEMBERS] = {
    [NAME] = "EventName",    [CODE] = "EventCode",        [UMASK] = "UMask",       [CMASK] = "CounterMask",
    [EDGE] = "EdgeDetect",   [INVERT] = "Invert",         [UNIT] = "Unit",         [STANDARD] = "ArchStdEvent",
    [METRIC] = "MetricName", [EXPRESSION] = "MetricExpr", [GROUP] = "MetricGroup", [SCALE] = "ScaleUnit",
};

struct object {
    const char *members[MEMBERS]; /* NULL: it does not have them */
};

struct library {
    struct object *objects;
    size_t count, capacity;
    char **texts; /* of the files, which the members point into */
    size_t text_count, text_capacity;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static char *skip_blanks(char *at)
{
    return at + strspn(at, " \t\r\n,:");
}

/* A character after a backslash; others than those of a name do not matter here. */
static char unescaped(char c)
{
    return (char)(c == 'n' || c == 't' ? ' ' : c);
}

/* The text at a quotation mark, without its escapes; *at is set after it. NULL: it does not end. */
static char *take_text(char **at)
{
    char *start = *at + 1, *to = start, *from = start;

    for (; *from && *from != '"'; from++)
        *to++ = *from == '\\' && from[1] ? unescaped(*++from) : *from;
    if (!*from)
        return NULL;
    *at = from + 1;
    *to = 0;
    return start;
}

static void set_member(struct object *object, const char *name, const char *value)
{
    for (int i = 0; i < MEMBERS; i++)
        if (!strcmp(member_names[i], name))
            object->members[i] = value;
}

/* Reads an object whose brace was passed; false: it is not one of texts and numbers. */
static bool take_object(char **at, struct object *object)
{
    while (*(*at = skip_blanks(*at)) == '"') {
        const char *name = take_text(at);
        *at = skip_blanks(*at);
        if (name && **at == '"') {
            const char *value = take_text(at);
            set_member(object, name, value ? value : "");
        } else if (!name || strchr("{[", **at)) {
            return false;
        } else {
            *at += strcspn(*at, ",}");
        }
    }
    return *(*at)++ == '}';
}

static bool add_object(struct library *library, const struct object *object)
{
    if (!pf_array_grow(&library->objects, &library->capacity, library->count + 1, sizeof(*object)))
        return false;
    library->objects[library->count++] = *object;
    return true;
}

static int take_objects(struct library *library, const char *path, char *text)
{
    char *at = skip_blanks(text);

    for (at += *at == '['; *(at = skip_blanks(at)) == '{';) {
        struct object object = {{NULL}};
        at++;
        if (!take_object(&at, &object)) {
            pf_message("%s: not a list of events or metrics", path);
            return PF_STATUS_USAGE;
        }
        if (!add_object(library, &object))
            return pf_out_of_memory("stat");
    }
    return PF_STATUS_OK;
}

/* The file as a text, which belongs to the library; NULL after a message. */
static char *read_text(struct library *library, const char *path)
{
    char *text = pf_file_text_of(path, FILE_BYTES_MAX);

    if (text && pf_array_grow(&library->texts, &library->text_capacity, library->text_count + 1, sizeof(text)))
        return library->texts[library->text_count++] = text;
    free(text);
    pf_message("%s: cannot be read", path);
    return NULL;
}

static int read_folder(struct library *library, const char *folder)
{
    struct dirent **names;
    const int count = scandir(folder, &names, NULL, alphasort);
    int status = PF_STATUS_OK;

    if (count < 0) {
        pf_message("stat: --metrics-from: cannot read the folder %s", folder);
        return PF_STATUS_UNREADABLE;
    }
    for (int i = 0; i < count; free(names[i++])) {
        const size_t bytes = strlen(names[i]->d_name);
        char path[4096];
        if (status || bytes < 5 || strcmp(names[i]->d_name + bytes - 5, ".json"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        char *text = read_text(library, path);
        status = text ? take_objects(library, path, text) : PF_STATUS_UNREADABLE;
    }
    free(names);
    return status;
}

static void close_library(struct library *library)
{
    for (size_t i = 0; i < library->text_count; i++)
        free(library->texts[i]);
    free(library->texts);
    free(library->objects);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* What metrics are made of. */
struct resolved {
    const struct library *library;
    const char *metric; /* whose expression it is, for messages */
    char *events;       /* to be counted */
    char line[LINE_BYTES_MAX];
    size_t used;
    unsigned depth;
};

static const struct object *find_object(const struct library *library, enum member member, const char *name)
{
    for (size_t i = 0; i < library->count; i++) {
        const char *has = library->objects[i].members[member];
        if (has && !strcasecmp(has, name))
            return &library->objects[i];
    }
    return NULL;
}

static int refuse(const struct resolved *resolved, const char *why, const char *what)
{
    pf_message("stat: metric %s: %s%s", resolved->metric, why, what);
    return PF_STATUS_USAGE;
}

static int put(struct resolved *resolved, const char *text, size_t bytes)
{
    if (bytes >= sizeof(resolved->line) - resolved->used)
        return refuse(resolved, "its expression is too long", "");
    memcpy(resolved->line + resolved->used, text, bytes);
    resolved->line[resolved->used += bytes] = 0;
    return PF_STATUS_OK;
}

static int put_string(struct resolved *resolved, const char *text)
{
    return put(resolved, text, strlen(text));
}

/* Adds "event=0xc0,umask=0x1" and so on; numbers of 0 are left out. */
static size_t put_term(char *text, size_t used, const char *term, const char *number)
{
    if (!number || used >= EVENT_BYTES || (strcmp(term, "event=") && !strtoul(number, NULL, 0)))
        return used;
    return used + (size_t)snprintf(text + used, EVENT_BYTES - used, "%s%s%.*s", used ? "," : "", term,
                                   (int)strcspn(number, ", "), number);
}

/* The list, whose parts are separated by commas, has the event. */
static bool is_listed(const char *list, const char *event)
{
    const size_t bytes = strlen(event);

    for (const char *at = list; at && (at = strstr(at, event)) != NULL; at += bytes)
        if ((at == list || at[-1] == ',') && (!at[bytes] || at[bytes] == ','))
            return true;
    return false;
}

/* An event once: as the PMU of the unit has it, with its name. */
static int count_event(struct resolved *resolved, const struct object *event, const char *name)
{
    char terms[EVENT_BYTES] = "", text[2 * EVENT_BYTES];
    size_t used = 0;
    const char *unit = event && event->members[UNIT] ? event->members[UNIT] : "cpu";

    if (event && strncmp(unit, "cpu", 3))
        return refuse(resolved, "events of this unit cannot be counted: ", unit);
    if (event && event->members[CODE]) {
        used = put_term(terms, used, "event=", event->members[CODE]);
        used = put_term(terms, used, "umask=", event->members[UMASK]);
        used = put_term(terms, used, "cmask=", event->members[CMASK]);
        used = put_term(terms, used, "edge=", event->members[EDGE]);
        put_term(terms, used, "inv=", event->members[INVERT]);
        snprintf(text, sizeof(text), "%s/%s,name=%s/", unit, terms, name);
    } else {
        snprintf(text, sizeof(text), "%s", name);
    }
    if (!strcmp(name, "duration_time") || is_listed(resolved->events, text))
        return PF_STATUS_OK;
    return pf_text_join(&resolved->events, ",", text);
}

static int put_expression(struct resolved *resolved, const char *text);

static bool is_word(const char *name)
{
    static const char *const words[] = {"if", "else", "min", "max", "d_ratio"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

/* A name of the expression: one of its words, another metric, or an event. */
static int put_name(struct resolved *resolved, char *name)
{
    const struct object *metric = find_object(resolved->library, METRIC, name);
    const struct object *event = find_object(resolved->library, NAME, name);
    int status;

    if (is_word(name))
        return put_string(resolved, name);
    if (metric && metric->members[EXPRESSION] && !event) {
        if (++resolved->depth > DEPTH_MAX)
            return refuse(resolved, "it is made of too many others: ", name);
        if (!(status = put_string(resolved, "(")) && !(status = put_expression(resolved, metric->members[EXPRESSION])))
            status = put_string(resolved, ")");
        resolved->depth--;
        return status;
    }
    if (!event && (event = find_object(resolved->library, STANDARD, name)) != NULL)
        for (char *at = name; *at; at++) /* as the kernel names it */
            *at = (char)tolower((unsigned char)*at);
    status = count_event(resolved, event, name);
    return status ? status : put_string(resolved, name);
}

/* Moves the name at the start of the text to `name`, without backslashes; returns its bytes in the text. */
static size_t take_name(const char *text, char name[EVENT_BYTES])
{
    size_t bytes = 0, used = 0;
    bool in_pmu = false; /* cpu@event=0xc0\,umask=1@ */

    while (text[bytes] && used < EVENT_BYTES - 1) {
        const char c = text[bytes];
        if (c == '\\' && text[bytes + 1])
            bytes++;
        else if (c == '@')
            in_pmu = !in_pmu;
        else if (!in_pmu && !isalnum((unsigned char)c) && !strchr("_.:", c))
            break;
        name[used++] = (char)(c == '@' ? '/' : text[bytes]);
        bytes++;
    }
    name[used] = 0;
    return bytes;
}

static int put_expression(struct resolved *resolved, const char *text)
{
    int status = PF_STATUS_OK;

    while (*text && !status) {
        char name[EVENT_BYTES];
        if (isalpha((unsigned char)*text) || *text == '_') {
            text += take_name(text, name);
            status = *text == '(' && !is_word(name) ? refuse(resolved, "this function is not known: ", name)
                                                    : put_name(resolved, name);
        } else if (*text == '#') {
            take_name(text + 1, name);
            return refuse(resolved, "this property of the machine is not known: #", name);
        } else {
            const size_t bytes = isdigit((unsigned char)*text) ? strspn(text, "0123456789.eE") : 1;
            status = put(resolved, text, bytes);
            text += bytes;
        }
    }
    return status;
}

/* ---- what was asked for ------------------------------------------------------------------------------------------ */

/* "100%" and the like: the number, and then the unit. */
static double scale_of(const struct object *metric)
{
    const double scale = metric->members[SCALE] ? strtod(metric->members[SCALE], NULL) : 1;

    return scale > 0 ? scale : 1;
}

static int add_metric(struct resolved *resolved, const struct object *metric, char **lines)
{
    char start[EVENT_BYTES];
    int status;

    resolved->used = 0;
    resolved->metric = metric->members[METRIC];
    snprintf(start, sizeof(start), "%.150s=%g*(", resolved->metric, scale_of(metric));
    if ((status = put_string(resolved, start)) || (status = put_expression(resolved, metric->members[EXPRESSION])) ||
        (status = put_string(resolved, ")")))
        return status;
    return pf_text_join(lines, "\n", resolved->line);
}

static bool is_in_group(const struct object *metric, const char *name, size_t bytes)
{
    const char *group = metric->members[GROUP];

    for (; group && *group; group += strspn(group, ";")) {
        const size_t length = strcspn(group, ";");
        if (length == bytes && !strncasecmp(group, name, bytes))
            return true;
        group += length;
    }
    return false;
}

/* Of a line that is the name of a metric or a group: the metrics. Others stay. */
static int add_line(struct resolved *resolved, const char *line, size_t bytes, char **lines)
{
    const struct library *library = resolved->library;
    char copy[LINE_BYTES_MAX];
    size_t found = 0;
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < library->count && !status; i++) {
        const struct object *object = &library->objects[i];
        const char *name = object->members[METRIC];
        if (!name || !object->members[EXPRESSION] ||
            !((strlen(name) == bytes && !strncasecmp(name, line, bytes)) || is_in_group(object, line, bytes)))
            continue;
        status = add_metric(resolved, object, lines);
        found++;
    }
    snprintf(copy, sizeof(copy), "%.*s", (int)bytes, line);
    return status || found ? status : pf_text_join(lines, "\n", copy);
}

int pf_stat_library_resolve(const char *folder, char **lines, char **events)
{
    struct library library = {.objects = NULL};
    struct resolved *resolved = calloc(1, sizeof(*resolved));
    char *made = NULL;
    int status = resolved ? read_folder(&library, folder) : pf_out_of_memory("stat");

    for (const char *line = *lines; line && *line && !status;) {
        const size_t name = strcspn(line, ",=(\n"), bytes = line[name] == ',' ? name : strcspn(line, "\n");
        resolved->library = &library;
        status = add_line(resolved, line, bytes, &made);
        line += bytes + (line[bytes] != 0);
    }
    if (!status && resolved->events && events)
        status = pf_text_join(events, ",", resolved->events);
    free(*lines);
    *lines = made;
    if (resolved)
        free(resolved->events);
    free(resolved);
    close_library(&library);
    return status;
}
