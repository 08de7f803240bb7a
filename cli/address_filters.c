/* SPDX-License-Identifier: MIT */
#include "address_filters.h"

#include "message.h"
#include "options.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfile/analysis.h>
#include <perfile/probe.h>
#include <perfile/symbolize.h>

static const char *const actions[] = {"filter", "start", "stop", "tracestop"};

/* One filter of the list: ACTION START[/SIZE][@FILE]; pieces of the text without blanks around them. */
struct clause {
    char action[16], start[256], size[64], file[PATH_MAX];
};

bool pf_is_address_filter(const char *text)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        const size_t bytes = strlen(actions[i]);

        if (!strncmp(text, actions[i], bytes) && text[bytes] == ' ')
            return true;
    }
    return false;
}

/* Copies up to one of the characters `end`; false: that is nothing, or too much. */
static bool take(const char **text, const char *end, char *to, size_t capacity)
{
    *text += strspn(*text, " ");
    size_t bytes = strcspn(*text, end);
    const char *next = *text + bytes;

    while (bytes && (*text)[bytes - 1] == ' ')
        bytes--;
    if (!bytes || bytes >= capacity)
        return false;
    memcpy(to, *text, bytes);
    to[bytes] = 0;
    *text = next;
    return true;
}

static bool take_clause(const char **text, struct clause *clause)
{
    memset(clause, 0, sizeof(*clause));
    if (!take(text, " ,", clause->action, sizeof(clause->action)) ||
        !take(text, "/@,", clause->start, sizeof(clause->start)))
        return false;
    if (**text == '/' && (++*text, !take(text, "@,", clause->size, sizeof(clause->size))))
        return false;
    if (**text == '@' && (++*text, !take(text, ",", clause->file, sizeof(clause->file))))
        return false;
    *text += **text == ',';
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

struct function {
    uint64_t start, bytes;
    bool is_found;
};

/* The target is FILE:OFFSET, and what follows it. */
static int take_probe(void *context, const struct perfile_probe *probe)
{
    struct function *function = context;
    const char *offset = strrchr(probe->target, ':');

    if (offset && !function->is_found)
        function->start = strtoull(offset + 1, NULL, 16);
    function->is_found |= offset != NULL;
    return 0;
}

/* Where the function begins that is there; UINT64_MAX: none is. */
static uint64_t start_of(struct perfile_symbolizer *symbolizer, uint32_t binary, uint64_t at)
{
    struct perfile_symbol symbol = PERFILE_SYMBOL_INIT;
    const int count = perfile_symbolizer_find(symbolizer, binary, at, PERFILE_SYMBOLIZE_OFFSET, NULL);
    const bool is_known = count > 0 && perfile_symbolizer_frame(symbolizer, (size_t)count - 1, &symbol) == 0;

    return is_known ? at - symbol.offset : UINT64_MAX;
}

/* Twice as far as long as that is the function, then halves. */
static uint64_t bytes_of(struct perfile_symbolizer *symbolizer, uint32_t binary, uint64_t start)
{
    enum { MOST = 1 << 26 };
    uint64_t in = 0, out = 1;

    while (out < MOST && start_of(symbolizer, binary, start + out) == start) {
        in = out;
        out *= 2;
    }
    while (out - in > 1) {
        const uint64_t middle = in + (out - in) / 2;

        if (start_of(symbolizer, binary, start + middle) == start)
            in = middle;
        else
            out = middle;
    }
    return out;
}

static int measure(const char *file, struct function *function, struct perfile_error *error)
{
    struct perfile_symbolizer *symbolizer;
    struct perfile_binary binary = PERFILE_BINARY_INIT;
    uint32_t number;
    int result = perfile_symbolizer_open(NULL, &symbolizer, error);

    binary.path = file;
    if (result == 0)
        result = perfile_symbolizer_add(symbolizer, &binary, &number, error);
    if (result == 0) {
        const uint64_t start = start_of(symbolizer, number, function->start); /* probes may be after the prologue */

        function->start = start == UINT64_MAX ? function->start : start;
        function->bytes = bytes_of(symbolizer, number, function->start);
    }
    perfile_symbolizer_close(symbolizer);
    return result;
}

static int find_function(const char *verb, const struct clause *clause, struct function *function)
{
    struct perfile_probe_options options = PERFILE_PROBE_OPTIONS_INIT;
    struct perfile_error error;

    if (!*clause->file) {
        pf_message("%s: --filter: %s: functions of the kernel are not looked up: write the address", verb,
                   clause->start);
        return PF_STATUS_USAGE;
    }
    options.file = clause->file;
    options.no_inlines = true;
    int result = perfile_probe_define(&options, clause->start, take_probe, function, &error);
    if (result == 0 && function->is_found)
        result = measure(clause->file, function, &error);
    if (result < 0)
        pf_message("%s: --filter: %s", verb, error.message);
    return result < 0 || !function->is_found ? PF_STATUS_USAGE : PF_STATUS_OK;
}

/* ---- the text for the kernel ------------------------------------------------------------------------------------- */

/* Ranges need a size, single addresses must have none. */
static int print_clause(const char *verb, struct clause *clause, FILE *to)
{
    struct function function = {0};
    char *path = *clause->file ? realpath(clause->file, NULL) : NULL;
    int status = PF_STATUS_OK;

    if (path && strlen(path) < sizeof(clause->file))
        memcpy(clause->file, path, strlen(path) + 1);
    free(path);
    if (!isdigit((unsigned char)*clause->start)) {
        status = find_function(verb, clause, &function);
        snprintf(clause->start, sizeof(clause->start), "0x%" PRIx64, function.start);
        if (!*clause->size && (!strcmp(clause->action, "filter") || !strcmp(clause->action, "tracestop")))
            snprintf(clause->size, sizeof(clause->size), "0x%" PRIx64, function.bytes);
    }
    fprintf(to, "%s %s%s%s%s%s", clause->action, clause->start, *clause->size ? "/" : "", clause->size,
            *clause->file ? "@" : "", clause->file);
    return status;
}

int pf_resolve_address_filter(const char *verb, char **filter)
{
    const char *rest = *filter;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    struct clause clause;
    int status = to ? PF_STATUS_OK : pf_out_of_memory(verb);

    while (!status && *rest) {
        if (rest != *filter)
            putc(',', to);
        if (take_clause(&rest, &clause)) {
            status = print_clause(verb, &clause, to);
        } else {
            pf_message("%s: invalid value \"%s\" for --filter: expected filter, start, stop or tracestop, then "
                       "START[/SIZE][@FILE], where START is an address or a function",
                       verb, *filter);
            status = PF_STATUS_USAGE;
        }
    }
    if (to && fclose(to) != 0 && !status)
        status = pf_out_of_memory(verb);
    if (status) {
        free(text);
        return status;
    }
    free(*filter);
    *filter = text;
    return PF_STATUS_OK;
}
