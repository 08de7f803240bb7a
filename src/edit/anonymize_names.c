/* SPDX-License-Identifier: MIT */
/* Names for names: keyed hashes, and the words that stay. */
#include <stdio.h>

#include "base/siphash.h"
#include "edit/anonymize.h"

/* ---- hashes ---- */

/* The domain makes another key: what is hashed for one purpose says nothing about another one. */
uint64_t pf_anon_hash(const struct pf_anonymizer *a, uint8_t domain, const void *data, size_t bytes)
{
    const uint64_t key[2] = {a->key[0] + domain, a->key[1]};
    return pf_siphash(key, data, bytes);
}

uint64_t pf_anon_number(const struct pf_anonymizer *a, uint8_t domain, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    return pf_anon_hash(a, domain, bytes, sizeof(bytes));
}

/* ---- tokens ---- */

void pf_anon_token(const struct pf_anonymizer *a, const char *text, size_t bytes, char *token, size_t length)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    enum { LETTERS_ONLY = 24, IN_A_WORD = 12, DOMAIN = 1 };
    const uint64_t complete = pf_anon_hash(a, DOMAIN, text, bytes);
    uint64_t word = complete;
    for (size_t i = 0; i < length; i++) {
        if (i && i % IN_A_WORD == 0)
            word = pf_anon_number(a, DOMAIN + 1, complete + i);
        token[i] = letters[i ? word % 32 : word % LETTERS_ONLY];
        word >>= 5;
    }
}

void pf_anon_name(const struct pf_anonymizer *a, const char *text, size_t bytes, char *name, size_t capacity)
{
    char token[PF_ANON_TOKEN];
    const size_t length = bytes && capacity ? pf_min(capacity - 1, sizeof(token)) : 0;
    pf_anon_token(a, text, bytes, token, length);
    memset(name, 0, capacity);
    memcpy(name, token, length);
}

/* ---- words ---- */

static const struct {
    enum pf_anonymize_kind kind;
    const char *text;
} words[] = {
#define WORD(kind, text) {PF_WORD_##kind, text},
#include "edit/anonymize_words.def"
#undef WORD
};

const char *perfile_anonymize_word(size_t index)
{
    return index < PF_COUNT(words) ? words[index].text : NULL;
}

static uint64_t word_hash(const struct pf_anonymizer *a, enum pf_anonymize_kind kind, const char *text, size_t bytes)
{
    return pf_anon_hash(a, (uint8_t)(16 + kind), text, bytes);
}

bool pf_anon_load_words(struct pf_anonymizer *a)
{
    for (size_t i = 0; i < PF_COUNT(words); i++)
        if (!pf_map_put(&a->words, word_hash(a, words[i].kind, words[i].text, strlen(words[i].text)), i))
            return false;
    return true;
}

bool pf_anon_is_word(const struct pf_anonymizer *a, enum pf_anonymize_kind kind, const char *text, size_t bytes)
{
    uint64_t index;
    return pf_map_get(&a->words, word_hash(a, kind, text, bytes), &index) && words[index].kind == kind &&
           strlen(words[index].text) == bytes && memcmp(words[index].text, text, bytes) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool are_digits(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && is_digit(text[i]))
        i++;
    return bytes && i == bytes;
}

/* 12, 0x1f, 32K, ffffffff: not more than a number can be. */
static bool is_number(const char *text, size_t bytes)
{
    size_t i = 0;
    bool digit = false;
    if (bytes > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        i = 2;
    const bool hexadecimal = i == 2;
    for (; i < bytes; i++) {
        const bool hex = (text[i] >= 'a' && text[i] <= 'f') || (text[i] >= 'A' && text[i] <= 'F');
        if (!is_digit(text[i]) && !(hex && hexadecimal) && !(i + 1 == bytes && i && strchr("KMG", text[i])))
            return false;
        digit |= is_digit(text[i]) || hex;
    }
    return digit && bytes <= 18;
}

/* A word of a mask of CPUs. */
static bool is_mask_word(const char *text, size_t bytes)
{
    bool digit = false;
    for (size_t i = 0; i < bytes; i++) {
        if (!is_digit(text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
        digit |= is_digit(text[i]) || text[i] == 'f';
    }
    return bytes == 8 && digit;
}

/* cpu_0, uncore_imc_free_running_3: the word without its number. */
static size_t without_number(const char *text, size_t bytes)
{
    size_t end = bytes;
    while (end && is_digit(text[end - 1]))
        end--;
    return end < bytes && end > 1 && text[end - 1] == '_' ? end - 1 : bytes;
}

/* What may follow the colon of an event. */
static bool is_modifier(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!strchr("ukhpPSDGHIWebRX", text[i]))
            return false;
    return bytes && bytes <= 8;
}

static bool is_harmless_piece(const struct pf_anonymizer *a, const char *text, size_t bytes)
{
    return !bytes || is_number(text, bytes) || is_mask_word(text, bytes) ||
           pf_anon_is_word(a, PF_WORD_EVENT, text, bytes) ||
           pf_anon_is_word(a, PF_WORD_EVENT, text, without_number(text, bytes));
}

bool pf_anon_is_harmless(const struct pf_anonymizer *a, const char *text, size_t bytes)
{
    size_t start = 0;
    for (size_t i = 0; i <= bytes; i++) {
        if (i < bytes && (is_letter(text[i]) || is_digit(text[i])))
            continue;
        if (i < bytes && !strchr("-/,=:{} .[]()", text[i]))
            return false;
        if (!is_harmless_piece(a, text + start, i - start))
            return false;
        start = i + 1;
    }
    return true;
}

/* ---- comms ---- */

void pf_anon_comm(struct pf_anonymizer *a, const char *comm, size_t bytes, char *made, size_t capacity)
{
    const enum pf_anonymize_action action = a->action[PF_ANON_COMMS];
    const bool stays = action == PF_ANON_KEEP || pf_anon_is_word(a, PF_WORD_COMM, comm, bytes);
    memset(made, 0, capacity);
    pf_anon_count(a, PF_ANON_COMMS, stays ? PF_ANON_KEEP : action);
    if (stays)
        memcpy(made, comm, pf_min(bytes, capacity - 1));
    else if (action == PF_ANON_CHANGE)
        pf_anon_name(a, comm, bytes, made, capacity);
}

/* ---- paths ---- */

struct maker {
    struct pf_anonymizer *a;
    size_t used;
    bool hashed; /* something is another name now */
};

static void put(struct maker *m, const char *text, size_t bytes)
{
    bytes = pf_min(bytes, PF_ANON_TEXT_CAPACITY - 1 - m->used);
    memcpy(m->a->text + m->used, text, bytes);
    m->used += bytes;
}

static void put_token(struct maker *m, const char *text, size_t bytes)
{
    char token[PF_ANON_TOKEN];
    if (!bytes)
        return;
    pf_anon_token(m->a, text, bytes, token, sizeof(token));
    put(m, token, sizeof(token));
    m->hashed = true;
}

/* The kind of a file, which readers go by: the length of what is known at its end. */
static const char *suffix_of(const char *text, size_t bytes)
{
    static const char *const suffixes[] = {".ko.xz", ".ko.gz", ".ko.zst", ".ko",   ".map",  ".dump",
                                           ".jar",   ".apk",   ".dex",    ".odex", ".vdex", ".oat",
                                           ".art",   ".debug", ".so",     ".dll",  ".exe",  ".ko.lzma"};
    for (size_t i = 0; i < PF_COUNT(suffixes); i++) {
        const size_t length = strlen(suffixes[i]);
        if (bytes > length && memcmp(text + bytes - length, suffixes[i], length) == 0)
            return suffixes[i];
    }
    for (size_t i = 1; i + 4 < bytes; i++)
        if (memcmp(text + i, ".so.", 4) == 0 && is_digit(text[i + 4]))
            return ".so";
    return "";
}

static void put_word_or_token(struct maker *m, const char *text, size_t bytes)
{
    if (!m->a->strict && pf_anon_is_word(m->a, PF_WORD_PATH, text, bytes)) {
        put(m, text, bytes);
        return;
    }
    put_token(m, text, bytes);
    if (!m->a->strict)
        put(m, suffix_of(text, bytes), strlen(suffix_of(text, bytes)));
}

static bool starts_with(const char *text, size_t bytes, const char *start)
{
    return bytes >= strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

/* "memfd:NAME": what kind of thing it is stays. */
static bool put_prefixed(struct maker *m, const char *text, size_t bytes)
{
    static const char *const prefixes[] = {"memfd:", "anon:", "anon_shmem:", "guest.kernel.kallsyms.",
                                           "stack:", "SYSV"};
    for (size_t i = 0; i < PF_COUNT(prefixes); i++) {
        const size_t length = strlen(prefixes[i]);
        if (!starts_with(text, bytes, prefixes[i]))
            continue;
        put(m, text, length);
        if (i >= 3 && i <= 4 && are_digits(text + length, bytes - length))
            put(m, text + length, bytes - length);
        else
            put_token(m, text + length, bytes - length);
        return true;
    }
    return false;
}

static void put_component(struct maker *m, const char *text, size_t bytes)
{
    static const char deleted[] = " (deleted)";
    const size_t tail = sizeof(deleted) - 1;
    const bool is_deleted = bytes > tail && memcmp(text + bytes - tail, deleted, tail) == 0;
    if (is_deleted)
        bytes -= tail;
    if (!put_prefixed(m, text, bytes))
        put_word_or_token(m, text, bytes);
    if (is_deleted)
        put(m, deleted, tail);
}

static bool is_pseudo(const struct pf_anonymizer *a, const char *text, size_t bytes)
{
    return pf_anon_is_word(a, PF_WORD_PATH, text, bytes);
}

/* "[name]" and "[name]symbol": what is not a file. */
static bool put_bracketed(struct maker *m, const char *path, size_t bytes)
{
    const char *close = bytes && path[0] == '[' ? memchr(path, ']', bytes) : NULL;
    if (!close)
        return false;
    const size_t inside = (size_t)(close - path) - 1, after = bytes - inside - 2;
    put(m, "[", 1);
    if (is_pseudo(m->a, path + 1, inside))
        put(m, path + 1, inside);
    else if (!put_prefixed(m, path + 1, inside))
        put_token(m, path + 1, inside);
    put(m, "]", 1);
    if (is_pseudo(m->a, close + 1, after))
        put(m, close + 1, after);
    else
        put_token(m, close + 1, after);
    return true;
}

/* ---- what is public ---- */

static bool is_module(const char *path)
{
    const char *at = strncmp(path, "/usr", 4) == 0 ? path + 4 : path;
    const char *suffix = suffix_of(path, strlen(path));
    return *at == '/' && strncmp(at + 1, "lib/modules/", 12) == 0 && strstr(at, "/kernel/") &&
           strncmp(suffix, ".ko", 3) == 0;
}

/* In a folder of the system, or in that of an architecture below it; programs have their own libraries further down. */
static bool is_library(const struct pf_anonymizer *a, const char *path)
{
    static const char *const folders[] = {"/lib/", "/lib32/", "/lib64/", "/libx32/"};
    const char *at = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path, *slash;
    size_t i = 0;
    while (i < PF_COUNT(folders) && strncmp(at, folders[i], strlen(folders[i])) != 0)
        i++;
    if (i == PF_COUNT(folders) || strcmp(suffix_of(path, strlen(path)), ".so") != 0)
        return false;
    at += strlen(folders[i]);
    slash = strchr(at, '/');
    if (slash && strstr(at, "-linux-") && pf_anon_is_word(a, PF_WORD_PATH, at, (size_t)(slash - at)))
        at = slash + 1;
    return !strchr(at, '/') && (strncmp(at, "lib", 3) == 0 || strncmp(at, "ld", 2) == 0);
}

static bool is_kernel(const char *path)
{
    return strncmp(path, "[kernel", 7) == 0 || strncmp(path, "[vdso", 5) == 0;
}

bool pf_anon_is_public(const struct pf_anonymizer *a, const char *path)
{
    return a->keep_public && path && (is_kernel(path) || is_module(path) || is_library(a, path));
}

/* ---- paths as they are written ---- */

static void put_path(struct maker *m, const char *path, size_t bytes)
{
    if (put_bracketed(m, path, bytes))
        return;
    for (size_t start = 0; start <= bytes;) {
        const char *slash = memchr(path + start, '/', bytes - start);
        const size_t end = slash ? (size_t)(slash - path) : bytes;
        put_component(m, path + start, end - start);
        if (slash)
            put(m, "/", 1);
        start = end + 1;
    }
}

const char *pf_anon_path(struct pf_anonymizer *a, enum pf_anonymize_category category, const char *path)
{
    struct maker m = {.a = a};
    const enum pf_anonymize_action action = a->action[category];
    if (!path)
        return NULL;
    if (action == PF_ANON_KEEP || (category == PF_ANON_PATHS && pf_anon_is_public(a, path))) {
        pf_anon_count(a, category, PF_ANON_KEEP);
        return path;
    }
    /* without paths readers still have to distinguish kernel and user */
    if (action == PF_ANON_CHANGE || path[0] == '[')
        put_path(&m, path, strlen(path));
    else
        put(&m, "/", 1);
    a->text[m.used] = 0;
    pf_anon_count(a, category, action == PF_ANON_CHANGE && !m.hashed ? PF_ANON_KEEP : action);
    return a->text;
}

/* ---- symbols ---- */

const char *pf_anon_symbol(struct pf_anonymizer *a, const char *symbol)
{
    static const char *const kinds[] = {"bpf_prog_", "bpf_trampoline_", "bpf_dispatcher_", "bpf_struct_ops_"};
    static const char *const known[] = {"ftrace_trampoline", "kprobe_insn_page", "kprobe_optinsn_page"};
    const enum pf_anonymize_action action = a->action[PF_ANON_SYMBOLS];
    struct maker m = {.a = a};
    bool stays = !symbol || action == PF_ANON_KEEP;
    for (size_t i = 0; i < PF_COUNT(known) && !stays; i++)
        stays = !strcmp(symbol, known[i]);
    pf_anon_count(a, PF_ANON_SYMBOLS, stays ? PF_ANON_KEEP : action);
    if (stays)
        return symbol;
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (starts_with(symbol, strlen(symbol), kinds[i]))
            put(&m, kinds[i], strlen(kinds[i]));
    if (action == PF_ANON_CHANGE)
        put_token(&m, symbol, strlen(symbol));
    a->text[m.used] = 0;
    return a->text;
}

/* ---- events ---- */

static bool is_plain_name(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && ((text[i] >= 'a' && text[i] <= 'z') || is_digit(text[i]) || text[i] == '_'))
        i++;
    return bytes && i == bytes;
}

/* rHEX is what attr.config says anyway. */
static bool is_raw_event(const char *text, size_t bytes)
{
    size_t i = 1;
    while (i < bytes && (is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f')))
        i++;
    return bytes > 1 && bytes <= 17 && text[0] == 'r' && i == bytes && is_digit(text[1]);
}

static bool is_known_event(const struct pf_anonymizer *a, const char *name, size_t bytes)
{
    const char *colon = memchr(name, ':', bytes);
    if (pf_anon_is_harmless(a, name, bytes) || is_raw_event(name, bytes))
        return true;
    const size_t before = colon ? (size_t)(colon - name) : bytes, after = colon ? bytes - before - 1 : 0;
    return !a->strict && colon && pf_anon_is_word(a, PF_WORD_SYSTEM, name, before) && is_plain_name(colon + 1, after);
}

/* "system:event" with names of the same length, as in the formats of tracepoints. */
static void make_event_name(struct pf_anonymizer *a, const char *name, size_t bytes)
{
    const char *colon = memchr(name, ':', bytes);
    const size_t before = colon ? (size_t)(colon - name) : bytes;
    pf_anon_token(a, name, before, a->event_name, before);
    if (!colon)
        return;
    a->event_name[before] = ':';
    pf_anon_token(a, colon + 1, bytes - before - 1, a->event_name + before + 1, bytes - before - 1);
}

const char *pf_anon_event_name(struct pf_anonymizer *a, const char *name)
{
    if (!name)
        return NULL;
    size_t bytes = pf_min(strlen(name), sizeof(a->event_name) - 1), end = bytes;
    while (end && name[end - 1] != ':')
        end--;
    /* the modifiers are no part of the name */
    const bool modified = end > 1 && is_modifier(name + end, bytes - end);
    const size_t base = modified ? end - 1 : bytes;
    const bool stays = pf_anon_keeps(a, PF_ANON_EVENTS) || is_known_event(a, name, base);
    pf_anon_count(a, PF_ANON_EVENTS, stays ? PF_ANON_KEEP : PF_ANON_CHANGE);
    memcpy(a->event_name, name, bytes);
    a->event_name[bytes] = 0;
    if (!stays)
        make_event_name(a, name, base);
    return a->event_name;
}
