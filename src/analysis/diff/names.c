/* SPDX-License-Identifier: MIT */
#include "analysis/diff/names.h"

#include "base/function_name.h"
#include "base/name_scan.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static size_t run_of(const char *text, bool (*is)(char))
{
    size_t bytes = 0;
    while (is(text[bytes]))
        bytes++;
    return bytes;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* What compilers append to copies of a function, each with a number or without. */
static const char *const suffixes[] = {".isra",       ".constprop",   ".part", ".cold", ".lto_priv", ".llvm",
                                       ".localalias", ".specialized", ".avx2", ".warm", ".hot",      ".__uniq"};

/* The bytes of one at `at`: ".part.3", ".cold"; 0 means none. */
static size_t suffix_at(const char *at)
{
    for (size_t i = 0; i < PF_COUNT(suffixes); i++) {
        size_t bytes = strlen(suffixes[i]);
        if (strncmp(at, suffixes[i], bytes) != 0)
            continue;
        while (at[bytes] == '.' && is_digit(at[bytes + 1]))
            bytes += 1 + run_of(at + bytes + 1, is_digit);
        if (!at[bytes] || strchr(".@ [", at[bytes]))
            return bytes;
    }
    return 0;
}

/* "@GLIBC_2.2.5", "@@Base": versions of symbols; "@plt" is another function. */
static size_t version_at(const char *at)
{
    if (*at != '@' || (at[1] != '@' && !(at[1] >= 'A' && at[1] <= 'Z')))
        return 0;
    return strlen(at);
}

/* "::h0123456789abcdef" at the end, or before what a compiler appended: the hash of Rust's old symbol names. */
static size_t rust_hash_at(const char *at)
{
    enum { DIGITS = 16 };
    if (strncmp(at, "::h", 3) != 0 || run_of(at + 3, is_hex) != DIGITS)
        return 0;
    return !at[3 + DIGITS] || strchr(".@ ", at[3 + DIGITS]) ? 3 + DIGITS : 0;
}

/* "core[8d9c1a2b3c4d5e6f]": the crate's hash in Rust's new names. */
static size_t crate_hash_at(const char *at)
{
    const size_t digits = *at == '[' ? run_of(at + 1, is_hex) : 0;
    return digits >= 12 && digits <= 16 && at[1 + digits] == ']' ? digits + 2 : 0;
}

/* As demanglers print what they do not know: "f(int) [clone .isra.0]". */
static size_t clone_at(const char *at)
{
    static const char start[] = " [clone ";
    if (strncmp(at, start, sizeof(start) - 1) != 0)
        return 0;
    const char *end = strchr(at, ']');
    return end ? (size_t)(end + 1 - at) : 0;
}

static size_t left_out_at(const char *name, const char *at)
{
    static size_t (*const finders[])(const char *at) = {suffix_at, version_at, rust_hash_at, crate_hash_at, clone_at};
    for (size_t i = 0; at > name && i < PF_COUNT(finders); i++) {
        const size_t bytes = finders[i](at);
        if (bytes)
            return bytes;
    }
    return 0;
}

size_t pf_diff_function_name(const char *name, char *text)
{
    size_t used = 0;
    for (const char *at = name; *at;) {
        const size_t bytes = strchr(".@:[ ", *at) ? left_out_at(name, at) : 0;
        at += bytes;
        if (!bytes)
            text[used++] = *at++;
    }
    text[used] = 0;
    return used;
}

bool pf_diff_is_part(const char *name)
{
    static const char *const parts[] = {".part", ".cold"};
    for (const char *at = name; (at = strchr(at, '.')) != NULL; at++)
        for (size_t i = 0; at > name && i < PF_COUNT(parts); i++)
            if (strncmp(at, parts[i], strlen(parts[i])) == 0 && suffix_at(at))
                return true;
    return false;
}

size_t pf_diff_plain_name(const char *name, char *text)
{
    size_t used = 0, depth = 0;
    for (const char *at = name; *at; at++) {
        const char *after = depth ? NULL : pf_operator_end(at);
        if (after) {
            memcpy(text + used, at, (size_t)(after - at));
            used += (size_t)(after - at);
            at = after - 1;
            continue;
        }
        if (*at == '<')
            depth++;
        else if (*at == '>' && depth && at[-1] != '-')
            depth--;
        else if (!depth)
            text[used++] = *at;
    }
    text[used] = 0;
    return used;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static size_t put(char *text, const char *name)
{
    const size_t bytes = strlen(name);
    memcpy(text, name, bytes + 1);
    return bytes;
}

/* "libx.so.1.2.3" is another "libx.so.1". */
static size_t without_minor(const char *name, size_t bytes)
{
    const char *so = strstr(name, ".so.");
    if (!so)
        return bytes;
    const size_t digits = run_of(so + 4, is_digit);
    return digits && so[4 + digits] == '.' ? (size_t)(so + 4 + digits - name) : bytes;
}

size_t pf_diff_module_name(const struct perfile_module *module, char *text)
{
    static const char deleted[] = " (deleted)";
    if (!module)
        return put(text, "[unknown]");
    if (module->kind == PERFILE_MODULE_KERNEL)
        return put(text, "[kernel]");
    if (module->kind == PERFILE_MODULE_JIT || module->jit)
        return put(text, "[jit]");
    size_t bytes = put(text, module->short_name ? module->short_name : module->name);
    const size_t end = sizeof(deleted) - 1;
    if (bytes > end && strcmp(text + bytes - end, deleted) == 0)
        text[bytes -= end] = 0;
    const char *base = text[0] == '[' ? NULL : strrchr(text, '/');
    if (base && base[1]) {
        bytes -= (size_t)(base + 1 - text);
        memmove(text, base + 1, bytes + 1);
    }
    text[bytes = without_minor(text, bytes)] = 0;
    return bytes;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

size_t pf_diff_thread_name(const char *name, char *text)
{
    size_t used = 0;
    for (const char *at = name; *at;) {
        const size_t digits = run_of(at, is_digit);
        if (digits >= 3) {
            text[used++] = 'N';
            at += digits;
        } else {
            memcpy(text + used, at, digits ? digits : 1);
            used += digits ? digits : 1;
            at += digits ? digits : 1;
        }
    }
    text[used] = 0;
    return used;
}

/* ---- likeness ---------------------------------------------------------------------------------------------------- */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool pf_diff_names_alike(const char *name, const char *other)
{
    enum { MAX = 256 };
    const size_t n = strlen(name), m = strlen(other), longer = n > m ? n : m;
    size_t row[MAX + 1];
    if (!n || !m || longer > MAX || longer - min(n, m) > longer / 3)
        return false;
    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0]++;
        for (size_t k = 1; k <= m; k++) {
            const size_t above = row[k];
            row[k] = min(diagonal + (name[i - 1] != other[k - 1]), min(above, row[k - 1]) + 1);
            diagonal = above;
        }
    }
    return row[m] <= longer / 3;
}
