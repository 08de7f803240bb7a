/* SPDX-License-Identifier: MIT */
/* Where symbols of the kernel are, in perf's words. */
#include "array.h"
#include "file_text.h"
#include "message.h"
#include "sandbox.h"
#include "stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES 4096
#define FILE_BYTES_MAX ((size_t)1 << 30)

struct symbol {
    uint64_t start;
    uint32_t name, module; /* offsets in the text; module 0: the kernel itself */
};

struct symbols {
    struct perfile_running_kernel kernel;
    char *text;          /* owned: the file, cut into words */
    struct symbol *list; /* owned, by address */
    size_t count, capacity;
    bool hidden; /* all addresses are 0 */
};

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool add_symbol(struct symbols *symbols, const struct symbol *symbol)
{
    if (!pf_array_grow(&symbols->list, &symbols->capacity, symbols->count + 1, sizeof(*symbol)))
        return false;
    symbols->list[symbols->count++] = *symbol;
    return true;
}

/* Reads "ffffffff81000000 T name\t[module]"; other lines and constants are skipped. False: out of memory. */
static bool take_line(struct symbols *symbols, char *line)
{
    char *rest, *name, *module;
    const uint64_t start = strtoull(line, &rest, 16);

    if (rest == line || *rest != ' ' || !rest[1] || !strchr("TtWwDdBb", rest[1]) || rest[2] != ' ')
        return true;
    name = rest + 3;
    module = strchr(name, '\t');
    if (module)
        *module++ = 0;
    const struct symbol symbol = {start, (uint32_t)(name - symbols->text),
                                  module ? (uint32_t)(module - symbols->text) : 0};
    symbols->hidden = symbols->hidden && !start;
    return add_symbol(symbols, &symbol);
}

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->name > y->name) - (x->name < y->name);
}

static bool take_lines(struct symbols *symbols)
{
    char *rest = symbols->text, *line;

    symbols->hidden = true;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (!take_line(symbols, line))
            return false;
    if (symbols->count)
        qsort(symbols->list, symbols->count, sizeof(*symbols->list), by_start);
    return true;
}

static void free_symbols(struct symbols *symbols)
{
    free(symbols->list);
    free(symbols->text);
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

/* Up to the next symbol of the same module, as perf has it. */
static uint64_t end_of(const struct symbols *symbols, size_t index)
{
    const struct symbol *symbol = &symbols->list[index];
    const char *module = symbols->text + symbol->module;

    for (size_t i = index + 1; i < symbols->count; i++) {
        const struct symbol *next = &symbols->list[i];
        if (next->start == symbol->start)
            continue;
        if (!next->module == !symbol->module && (!next->module || !strcmp(symbols->text + next->module, module)))
            return next->start;
        break;
    }
    return (symbol->start + PAGE_BYTES + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* "[nf_nat]" is "kernel/net/netfilter/nf-nat.ko.xz" below the folder of the modules. */
static bool is_path_of(const char *line, const char *module)
{
    const char *colon = strchr(line, ':'), *at = colon;

    while (at && at > line && at[-1] != '/')
        at--;
    for (module++; at && *module && *module != ']'; module++, at++)
        if (*at != *module && !(*at == '-' && *module == '_'))
            return false;
    return at && !strncmp(at, ".ko", 3);
}

static void put_module(struct pf_stream *out, const struct perfile_running_kernel *kernel, const char *module)
{
    char path[sizeof(kernel->modules) + sizeof("modules.dep")], *line, *rest, *text;

    snprintf(path, sizeof(path), "%smodules.dep", kernel->modules);
    rest = text = *kernel->modules ? pf_file_text_of(path, FILE_BYTES_MAX) : NULL;
    while (rest && (line = strsep(&rest, "\n")) != NULL)
        if (is_path_of(line, module)) {
            pf_stream_print(out, "%s %s%.*s", module, kernel->modules, (int)strcspn(line, ":"), line);
            free(text);
            return;
        }
    free(text);
    pf_stream_print(out, "%s %s", module, module);
}

static void put_symbol(struct pf_stream *out, const struct symbols *symbols, size_t index)
{
    const struct symbol *symbol = &symbols->list[index];
    const uint64_t end = end_of(symbols, index);

    pf_stream_put_name(out, "", symbols->text + symbol->name, ": ");
    if (symbol->module)
        put_module(out, &symbols->kernel, symbols->text + symbol->module);
    else
        pf_stream_print(out, "[kernel] [kernel.kallsyms]");
    pf_stream_print(out, " %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", symbol->start, end, symbol->start,
                    end);
}

static bool put_named(struct pf_stream *out, const struct symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (!strcmp(symbols->text + symbols->list[i].name, name)) {
            put_symbol(out, symbols, i);
            return true;
        }
    pf_stream_put_name(out, "", name, ": not found\n");
    return false;
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int print(const struct symbols *symbols, const struct pf_settings *settings)
{
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output), written;

    if (status)
        return status;
    for (size_t i = 0; i < settings->operand_count; i++)
        if (!put_named(&out, symbols, settings->operands[i]))
            status = PF_STATUS_FINDINGS;
    written = pf_stream_close(&out, true);
    return written ? written : status;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct symbols symbols = {.kernel = PERFILE_RUNNING_KERNEL_INIT};
    int status = perfile_running_kernel_read(&symbols.kernel);
    const char *path = settings->symbols.kallsyms ? settings->symbols.kallsyms : symbols.kernel.kallsyms;

    pf_sandbox_enter(command, settings);
    symbols.text = pf_file_text_of(path, FILE_BYTES_MAX);
    if (!settings->operand_count) {
        pf_message("kallsyms: the name of a symbol is missing (usage: %s kallsyms SYMBOL...)", pf_program_name());
        status = PF_STATUS_USAGE;
    } else if (!symbols.text) {
        pf_message("kallsyms: %s: %s", path, strerror(errno));
        status = errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
    } else if (!take_lines(&symbols)) {
        pf_message("kallsyms: out of memory");
        status = PF_STATUS_MEMORY;
    } else if (symbols.hidden) {
        pf_message("kallsyms: %s does not show addresses (see /proc/sys/kernel/kptr_restrict; root may read them)",
                   path);
        status = PF_STATUS_UNREADABLE;
    } else {
        status = print(&symbols, settings);
    }
    free_symbols(&symbols);
    return status;
}

static const struct pf_option options[] = {
    PF_ROW(FILE, "kallsyms", 0, "FILE", PF_AT(symbols.kallsyms), "A copy of /proc/kallsyms of another machine."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_kallsyms = {
    .name = "kallsyms",
    .summary = "find symbols of the running kernel, as perf kallsyms does",
    .doc = "Prints the start and end addresses of symbols of the running kernel and its modules: a line for each name, "
           "or \"not found\".",
    .operand = "SYMBOL...",
    .operand_max = SIZE_MAX,
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
