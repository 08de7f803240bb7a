/* SPDX-License-Identifier: MIT */
/* Symbol tables from text: /proc/kallsyms and perf-PID.map. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/table_elf.h"

/* ---- files ---- */

/* -1 when it is not a regular file: opening a pipe would wait for its writer. */
static int open_text(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

char *pf_read_text(const struct perfile_allocator *allocator, const char *path, size_t *bytes)
{
    enum { TEXT_BYTES_MAX = 1 << 30, STEP_BYTES = 1 << 16 };
    char *text = NULL;
    size_t capacity = 0;
    ssize_t got = -1;
    errno = 0; /* so that it shows whether memory was short */
    int fd = open_text(path);
    *bytes = 0;
    while (fd >= 0 && *bytes < TEXT_BYTES_MAX) {
        if (*bytes + STEP_BYTES > capacity) {
            const size_t wanted = capacity ? capacity * 2 : 1 << 20;
            char *bigger = pf_resize(allocator, text, capacity, wanted);
            if (!bigger) {
                errno = ENOMEM;
                break;
            }
            text = bigger;
            capacity = wanted;
        }
        got = read(fd, text + *bytes, capacity - *bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *bytes += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    if (got != 0) { /* with a part of the symbols, addresses get the wrong ones */
        pf_free(allocator, text, capacity);
        return NULL;
    }
    char *fitting = pf_resize(allocator, text, capacity, *bytes + 1);
    if (!fitting) {
        pf_free(allocator, text, capacity);
        errno = ENOMEM;
    }
    return fitting;
}

/* ---- lines ---- */

struct line {
    const char *at;
    const char *end;
};

/* The next line of a text, without its end; false after the last. */
static bool next_line(struct line *rest, struct line *line)
{
    if (rest->at == rest->end)
        return false;
    const char *end = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    line->at = rest->at;
    line->end = end ? end : rest->end;
    rest->at = end ? end + 1 : rest->end;
    return true;
}

static const int8_t hex_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Reads eight hexadecimal digits at once; false when another character is among them. */
static bool eight_digits(const char *at, uint64_t *value)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t text = pf_load64((const uint8_t *)at, PF_NATIVE_BIG_ENDIAN); /* the first digit is the lowest byte */
    const uint64_t letters = text & 0x40 * ones;
    uint64_t digits = (text & 0x0f * ones) + (letters >> 6) * 9;
    const uint64_t above_9 = (digits + 6 * ones) >> 4 & ones;
    if (digits & 0xf0 * ones || (text | letters >> 1) != 0x30 * ones + digits + above_9 * ('a' - 10 - '0'))
        return false;
    digits = (digits << 4 | digits >> 8) & 0x00ff00ff00ff00ff;
    digits = (digits << 8 | digits >> 16) & 0x0000ffff0000ffff;
    *value = (digits << 16 | digits >> 32) & 0xffffffff;
    return true;
}

/* Sixteen, and no more, as kallsyms has them. */
static bool take_sixteen(struct line *line, uint64_t *value)
{
    uint64_t high, low;
    if (line->end - line->at < 17 || hex_values[(uint8_t)line->at[16]] || !eight_digits(line->at, &high) ||
        !eight_digits(line->at + 8, &low))
        return false;
    *value = high << 32 | low;
    line->at += 16;
    return true;
}

/* A hexadecimal number, with or without 0x; false when there is none or it is above 64 bits. */
static bool take_hex(struct line *line, uint64_t *value)
{
    if (PF_LIKELY(take_sixteen(line, value)))
        return true;
    if (line->end - line->at > 2 && line->at[0] == '0' && (line->at[1] | 0x20) == 'x')
        line->at += 2;
    const char *start = line->at;
    uint64_t sum = 0;
    for (int digit; line->at < line->end && (digit = hex_values[(uint8_t)*line->at]) != 0; line->at++) {
        if (sum >> 60)
            return false;
        sum = sum << 4 | (uint64_t)(digit - 1);
    }
    *value = sum;
    return line->at > start;
}

static void skip_blanks(struct line *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
        line->at++;
}

static void trim_end(struct line *line)
{
    while (line->at < line->end && (line->end[-1] == ' ' || line->end[-1] == '\t' || line->end[-1] == '\r'))
        line->end--;
}

/* What both texts end with. */
static int finish(struct pf_symbol_build *build, bool complete, struct pf_symbol_table **out,
                  struct perfile_error *error)
{
    struct pf_symbol_table *table = complete ? pf_symbol_table_new(build->allocator) : NULL;
    if (table && !pf_build_finish(build, table)) {
        pf_symbol_table_close(table);
        table = NULL;
    }
    pf_build_close(build);
    if (!table)
        return pf_fail_memory(error, "symbols");
    *out = table;
    return 0;
}

/* ---- kallsyms: "ffffffffc0123450 t name\t[module]" ---- */

struct kallsyms_line {
    uint64_t address;
    char type;
    struct line name;
    struct line module; /* empty: the kernel */
};

static bool parse_kallsyms(struct line line, struct kallsyms_line *out)
{
    if (!take_hex(&line, &out->address) || line.end - line.at < 4 || line.at[0] != ' ' || line.at[2] != ' ')
        return false;
    out->type = line.at[1];
    out->name = (struct line){line.at + 3, line.end};
    out->module = (struct line){line.end, line.end};
    const char *tab = memchr(out->name.at, '\t', (size_t)(line.end - out->name.at));
    if (!tab)
        return true;
    out->name.end = tab;
    struct line module = {tab + 1, line.end};
    trim_end(&module);
    if (module.end - module.at > 2 && *module.at == '[' && module.end[-1] == ']')
        out->module = (struct line){module.at + 1, module.end - 1};
    return out->name.at < out->name.end;
}

/* Names of modules are equal when they differ in '-' and '_' only. */
static bool is_module(struct line found, const char *wanted, size_t bytes)
{
    if ((size_t)(found.end - found.at) != bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (found.at[i] != wanted[i] && !(strchr("-_", found.at[i]) && strchr("-_", wanted[i])))
            return false;
    return true;
}

/* "[name]" and "name" are the same module. */
static struct line bare_module(const char *module)
{
    struct line name = {module ? module : "", module ? module + strlen(module) : ""};
    if (module && *module == '[' && name.end - name.at > 2 && name.end[-1] == ']')
        return (struct line){name.at + 1, name.end - 1};
    return module ? name : (struct line){NULL, NULL};
}

static uint32_t kallsyms_flags(char type, bool data)
{
    switch (type) {
    case 'B':
    case 'D':
        return data ? PF_SYMBOL_GLOBAL : PF_ENTRY_NOT_SHOWN;
    case 'b':
    case 'd':
        return data ? 0 : PF_ENTRY_NOT_SHOWN;
    case 'T':
        return PF_SYMBOL_GLOBAL;
    case 't':
        return 0;
    case 'W':
    case 'w':
        return PF_SYMBOL_WEAK;
    default:
        return PF_ENTRY_NOT_SHOWN;
    }
}

static bool add_kallsyms_line(struct pf_symbol_build *build, const struct kallsyms_line *line, bool data)
{
    uint32_t flags = kallsyms_flags(line->type, data), name = 0;
    /* addresses are 0 for users that may not see them; types a and A are offsets in per-CPU memory */
    if (line->address == 0 || (line->type | 0x20) == 'a')
        return true;
    if (!(flags & PF_ENTRY_NOT_SHOWN) &&
        !pf_build_text(build, line->name.at, (size_t)(line->name.end - line->name.at), &name))
        return false;
    if (!pf_build_add(build, line->address, line->address, name, flags))
        return false;
    build->entries[build->count - 1].rank = 0;
    return true;
}

static bool add_kallsyms(struct pf_symbol_build *build, const struct pf_kallsyms *from)
{
    struct line rest = {from->text, from->text + from->bytes}, wanted = bare_module(from->module), line;
    size_t bytes = (size_t)(wanted.end - wanted.at);
    struct kallsyms_line parsed;
    while (next_line(&rest, &line))
        if (parse_kallsyms(line, &parsed) && is_module(parsed.module, wanted.at, bytes) &&
            !add_kallsyms_line(build, &parsed, from->data))
            return false;
    return true;
}

/* Only they have a tab. */
size_t pf_kallsyms_keep_modules(char *text, size_t bytes)
{
    char *end = text + bytes, *kept = text, *from = text;
    for (char *tab; from < end && (tab = memchr(from, '\t', (size_t)(end - from)));) {
        const char *before = memrchr(from, '\n', (size_t)(tab - from)), *after = memchr(tab, '\n', (size_t)(end - tab));
        const char *line = before ? before + 1 : from;
        const size_t length = (size_t)((after ? after + 1 : end) - line);
        memmove(kept, line, length);
        kept += length;
        from = text + (line - text) + length;
    }
    return (size_t)(kept - text);
}

bool pf_kallsyms_address(const char *text, size_t bytes, const char *name, uint64_t *address)
{
    struct line rest = {text, text + bytes}, line;
    struct kallsyms_line parsed;
    size_t length = strlen(name);
    while (next_line(&rest, &line)) {
        /* most lines belong to other symbols, which their ends show at once */
        if ((size_t)(line.end - line.at) < length || memcmp(line.end - length, name, length) != 0)
            continue;
        if (parse_kallsyms(line, &parsed) && parsed.address && parsed.module.at == parsed.module.end &&
            (size_t)(parsed.name.end - parsed.name.at) == length) {
            *address = parsed.address;
            return true;
        }
    }
    return false;
}

/* What is not shown goes, but ends what stands before it. */
static void drop_not_shown(struct pf_symbol_build *build)
{
    size_t kept = 0;
    for (size_t i = 0; i < build->count; i++) {
        const struct pf_symbol_entry *entry = &build->entries[i];
        struct pf_symbol_entry *before = kept ? &build->entries[kept - 1] : NULL;
        if (!(entry->flags & PF_ENTRY_NOT_SHOWN))
            build->entries[kept++] = *entry;
        else if (before && before->start < entry->start && before->rank == 0)
            before->rank = entry->start;
    }
    build->count = kept;
}

int pf_symbol_table_from_kallsyms(const struct pf_kallsyms *from, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **table, struct perfile_error *error)
{
    struct pf_symbol_build build;
    pf_build_open(&build, pf_allocator_or_default(allocator));
    bool complete = add_kallsyms(&build, from) && pf_build_sort(&build);
    if (complete) {
        drop_not_shown(&build);
        pf_build_choose(&build);
    }
    return finish(&build, complete, table, error);
}

/* ---- perf-PID.map: "7f0123450000 1a0 name of a function" ---- */

/* Whatever stands between the numbers, as long as it is one character and no digit, separates them. */
static bool parse_perf_map(struct line line, uint64_t *start, uint64_t *bytes, struct line *name)
{
    skip_blanks(&line);
    if (!take_hex(&line, start) || line.at == line.end)
        return false;
    line.at++;
    skip_blanks(&line);
    if (!take_hex(&line, bytes) || line.at == line.end)
        return false;
    line.at++;
    skip_blanks(&line);
    trim_end(&line);
    *name = line;
    return *bytes && line.at < line.end;
}

static bool add_perf_map(struct pf_symbol_build *build, struct line rest)
{
    struct line line, text;
    uint64_t start, bytes, end;
    uint32_t name;
    while (next_line(&rest, &line)) {
        if (!parse_perf_map(line, &start, &bytes, &text))
            continue;
        if (!pf_add(start, bytes, &end))
            end = UINT64_MAX;
        if (!pf_build_text(build, text.at, (size_t)(text.end - text.at), &name) ||
            !pf_build_add(build, start, end, name, PF_SYMBOL_GLOBAL))
            return false;
    }
    return true;
}

int pf_symbol_table_from_perf_map(const char *text, size_t bytes, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **table, struct perfile_error *error)
{
    struct pf_symbol_build build;
    pf_build_open(&build, pf_allocator_or_default(allocator));
    bool complete = add_perf_map(&build, (struct line){text, text + bytes}) && pf_build_sort(&build);
    return finish(&build, complete, table, error);
}
