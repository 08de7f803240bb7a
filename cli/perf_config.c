/* SPDX-License-Identifier: MIT */
#include "perf_config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MAX = 256, ALIAS_WORDS_MAX = 64 };

/* ---- files ------------------------------------------------------------------------------------------------------- */

static struct {
    struct entry {
        char *key, *value; /* "report.sort_order" */
    } entries[ENTRIES_MAX];
    size_t count;
    bool is_read;
} config;

/* As perf: a file that another user may have written is not read. */
static FILE *open_config(const char *path)
{
    struct stat about;
    if (stat(path, &about) < 0 || !S_ISREG(about.st_mode) || (about.st_uid != 0 && about.st_uid != geteuid()))
        return NULL;
    return fopen(path, "re");
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t bytes = strlen(text);
    while (bytes && strchr(" \t\r\n", text[bytes - 1]))
        bytes--;
    text[bytes] = '\0';
    return text;
}

/* Without quotes and comments. */
static char *value_of(char *text)
{
    char *value = trimmed(text);
    if (*value != '"') {
        value[strcspn(value, "#;")] = '\0';
        return trimmed(value);
    }
    value[1 + strcspn(value + 1, "\"")] = '\0';
    return value + 1;
}

/* "KEY = VALUE"; a key alone is true. */
static void take_line(const char *section, char *line)
{
    char *equals = strchr(line, '=');
    struct entry entry = {.key = NULL};

    if (equals)
        *equals++ = '\0';
    const char *value = equals ? value_of(equals) : "true", *key = equals ? trimmed(line) : value_of(line);
    if (!*key || config.count == ENTRIES_MAX || asprintf(&entry.key, "%s.%s", section, key) < 0)
        return;
    if ((entry.value = strdup(value)) != NULL)
        config.entries[config.count++] = entry;
    else
        free(entry.key);
}

static void read_file(const char *path)
{
    char line[PATH_MAX + 64], section[64] = "";
    FILE *file = open_config(path);

    while (file && fgets(line, sizeof(line), file)) {
        char *text = trimmed(line);
        if (*text == '[')
            snprintf(section, sizeof(section), "%.*s", (int)strcspn(text + 1, "] "), text + 1);
        else if (*text && *text != '#' && *text != ';')
            take_line(section, text);
    }
    if (file)
        fclose(file);
}

static void read_files(void)
{
    const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
    char user[PATH_MAX];

    if (config.is_read)
        return;
    config.is_read = true;
    if (only && *only) {
        read_file(only);
        return;
    }
    read_file("/etc/perfconfig");
    if (home && snprintf(user, sizeof(user), "%s/.perfconfig", home) < (int)sizeof(user))
        read_file(user);
}

const char *pf_perf_config_value(const char *key)
{
    read_files();
    for (size_t i = config.count; i-- > 0;) /* the user's come last */
        if (strcasecmp(config.entries[i].key, key) == 0)
            return config.entries[i].value;
    return NULL;
}

/* A folder of the user begins with "~/". */
const char *pf_perf_config_build_ids(void)
{
    static char path[PATH_MAX];
    const char *value = pf_perf_config_value("buildid.dir"), *home = getenv("HOME");
    const bool is_below_home = value && strncmp(value, "~/", 2) == 0;

    if (*path)
        return path;
    if (!value || !*value || (is_below_home && !home))
        return NULL;
    const int bytes = snprintf(path, sizeof(path), "%s%s", is_below_home ? home : "", value + is_below_home);
    if (bytes >= (int)sizeof(path))
        *path = '\0';
    return *path ? path : NULL;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/*
 * What a key stands for: an option with its value, or, with `when`, an option without one when the key has that value.
 * `but`: an option that takes its effect away, as the option itself does.
 */
static const struct key {
    const char *verb, *key, *when, *option, *but;
    char letter; /* of the option; 0: none */
} keys[] = {
    {"report", "report.percent-limit", NULL, "percent-limit", NULL, 0},
    {"report", "report.sort_order", NULL, "sort", "fields", 's'},
    {"report", "report.children", "false", "no-children", "children", 0},
    {"report", "report.children", "true", "children", "no-children", 0},
    {"report", "report.group", "true", "group", "no-group", 0},
    {"top", "top.children", "false", "no-children", "children", 0},
    {"top", "top.children", "true", "children", "no-children", 0},
    {"top", "top.call-graph", NULL, "call-graph", "stack-frames", 'g'},
    {"annotate", "annotate.disassembler_style", NULL, "disassembler-style", NULL, 'M'},
    {"annotate", "annotate.objdump", NULL, "objdump", NULL, 0},
    {"annotate", "annotate.hide_src_code", "true", "no-source", "source", 0},
    {"annotate", "annotate.show_linenr", "true", "print-line", NULL, 'l'},
    {"record", "record.build-id", "skip", "no-buildid", "buildid-mmap", 'B'},
    {"record", "record.build-id", "mmap", "buildid-mmap", "no-buildid", 0},
    {"stat", "stat.big-num", "false", "no-big-num", "big-num", 'B'},
    {"stat", "stat.no-csv-summary", "true", "no-csv-summary", NULL, 0},
};

static bool is_true(const char *value)
{
    return !strcasecmp(value, "true") || !strcasecmp(value, "yes") || !strcasecmp(value, "on") || !strcmp(value, "1");
}

static bool is_false(const char *value)
{
    return !strcasecmp(value, "false") || !strcasecmp(value, "no") || !strcasecmp(value, "off") || !strcmp(value, "0");
}

static bool matches(const struct key *key, const char *value)
{
    if (!key->when || !strcmp(key->when, value))
        return true;
    return !strcmp(key->when, "true") ? is_true(value) : !strcmp(key->when, "false") && is_false(value);
}

static bool is_option(const char *argument, const char *name)
{
    const size_t bytes = name ? strlen(name) : 0;

    return name && !strncmp(argument, "--", 2) && !strncmp(argument + 2, name, bytes) &&
           (!argument[2 + bytes] || argument[2 + bytes] == '=');
}

/* Up to the command that is recorded. */
static bool has_option(char *const *arguments, const char *name, const char *but, char letter)
{
    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++)
        if (is_option(*arguments, name) || is_option(*arguments, but) ||
            (letter && (*arguments)[0] == '-' && (*arguments)[1] == letter))
            return true;
    return false;
}

/* call-graph.record-mode and .dump-size say what -g means; NULL: nothing, or it was not asked for. */
static char *call_graph_of(const char *verb, char *const *arguments)
{
    const char *mode = pf_perf_config_value("call-graph.record-mode"),
               *bytes = pf_perf_config_value("call-graph.dump-size");
    const bool records = !strcmp(verb, "record") || !strcmp(verb, "top");
    char *option;

    if (!mode || !records || !has_option(arguments, "stack-frames", NULL, 'g') ||
        has_option(arguments, "call-graph", NULL, 0))
        return NULL;
    const bool has_bytes = bytes && !strcmp(mode, "dwarf");
    return asprintf(&option, "--call-graph=%s%s%s", mode, has_bytes ? "," : "", has_bytes ? bytes : "") < 0 ? NULL
                                                                                                            : option;
}

/* Made once for a run. */
static char *added[ALIAS_WORDS_MAX + 1], **all;

static char **join(size_t count, char **arguments)
{
    size_t more = 0;

    while (arguments[more])
        more++;
    char **made = calloc(count + more + 1, sizeof(*made));
    if (!made)
        return arguments;
    memcpy(made, added, count * sizeof(*made));
    memcpy(made + count, arguments, more * sizeof(*made));
    free(all); /* it may be `arguments` */
    all = made;
    return all;
}

char **pf_perf_config_arguments(const char *verb, char **arguments)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = strcmp(keys[i].verb, verb) ? NULL : pf_perf_config_value(keys[i].key);
        if (!value || !matches(&keys[i], value) || has_option(arguments, keys[i].option, keys[i].but, keys[i].letter))
            continue;
        if (asprintf(&added[count], "--%s%s%s", keys[i].option, keys[i].when ? "" : "=", keys[i].when ? "" : value) >=
            0)
            count++;
    }
    if ((added[count] = call_graph_of(verb, arguments)) != NULL)
        count++;
    return count ? join(count, arguments) : arguments;
}

char **pf_perf_config_alias(const char *name, char **arguments)
{
    char key[128];
    size_t count = 0;

    snprintf(key, sizeof(key), "alias.%s", name);
    const char *value = pf_perf_config_value(key);
    char *words = value ? strdup(value) : NULL, *rest = NULL;
    for (char *word = words ? strtok_r(words, " \t", &rest) : NULL; word && count < ALIAS_WORDS_MAX;
         word = strtok_r(NULL, " \t", &rest))
        added[count++] = word;
    return count ? join(count, arguments) : NULL;
}
