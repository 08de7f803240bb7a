/* SPDX-License-Identifier: MIT */
#include "symbol/demangle/demangle.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle/demangle_parts.h"
#include "symbol/find/library.h"

void pf_demangled_put(struct pf_demangled *out, const char *text, size_t bytes)
{
    if (out->failed || bytes > PF_DEMANGLE_LIMIT_BYTES - out->used) {
        out->failed = true;
        return;
    }
    if (out->capacity - out->used < bytes + 1) {
        size_t capacity = 2 * (out->used + bytes) + 64;
        const int before = errno; /* malloc changes it also where it finds a way in the end */
        char *data = pf_resize(out->allocator, out->data, out->capacity, capacity);
        errno = data ? before : ENOMEM;
        if (!data) {
            out->failed = true;
            return;
        }
        out->data = data;
        out->capacity = capacity;
    }
    memcpy(out->data + out->used, text, bytes);
    out->used += bytes;
}

/* Shrinks the block to the size with which pf_text_free frees it. */
static void fit(struct pf_demangled *out)
{
    const size_t capacity = strlen(out->data) + 1;
    const int before = errno;
    char *data = pf_resize(out->allocator, out->data, out->capacity, capacity);
    errno = data ? before : ENOMEM;
    out->failed = !data;
    if (data) {
        out->data = data;
        out->capacity = capacity;
    }
}

char *pf_demangled_take(struct pf_demangled *out)
{
    pf_demangled_put(out, "", 0);
    if (!out->failed) {
        out->data[out->used] = '\0';
        fit(out);
    }
    if (!out->failed)
        return out->data;
    pf_free(out->allocator, out->data, out->capacity);
    return NULL;
}

/* ---- C++ ------------------------------------------------------------------------------------------------------ */

typedef char *cxa_demangle(const char *name, char *buffer, size_t *bytes, int *status);

/* Found once: looking it up each time costs more than most names. The library stays loaded. */
static cxa_demangle *find_cxa_demangle(void)
{
    static _Atomic(void *) found;
    void *function = atomic_load_explicit(&found, memory_order_acquire);
    if (function)
        return (cxa_demangle *)(size_t)function;
    void *library = pf_library_open(PF_LIBRARY_STDCXX, RTLD_LAZY | RTLD_LOCAL);
    if (library && !pf_library_function(library, "__cxa_demangle", &function))
        function = NULL;
    atomic_store_explicit(&found, function, memory_order_release);
    return (cxa_demangle *)(size_t)function;
}

/*
 * References to earlier parts ("S_", "S0_", "T_" ...). With two of them a part can double the one before: 36 made 9 MB
 * out of 190 bytes, and the runtime library knows no limit but one of 1,023 bytes of name. Of 274,284 names of large
 * programs 75 have more than 40.
 */
static bool has_few_references(const char *name)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    enum { MAX = 40 };
    unsigned count = 0;
    for (; *name; name++)
        if ((*name == 'S' || *name == 'T') && name[1 + strspn(name + 1, digits)] == '_')
            count++;
    return count <= MAX;
}

bool pf_demangle_needs_library(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 && !find_cxa_demangle();
}

/* The library gives memory of malloc. */
static char *demangle_cxx(const struct perfile_allocator *allocator, const char *name)
{
    cxa_demangle *demangle = find_cxa_demangle();
    enum { NO_MEMORY = -1 };
    int status = 0;
    const int before = errno;
    char *made = demangle && has_few_references(name) ? demangle(name, NULL, NULL, &status) : NULL;
    const size_t bytes = made ? strlen(made) : 0;
    const bool fits = made && bytes <= PF_DEMANGLE_LIMIT_BYTES;
    char *text = fits ? pf_text_copy(allocator, made, bytes) : NULL;
    free(made);
    errno = status == NO_MEMORY || (fits && !text) ? ENOMEM : before;
    return text;
}

/* ---- any ------------------------------------------------------------------------------------------------------ */

static char *demangle_plain(const struct perfile_allocator *allocator, const char *name, size_t bytes)
{
    if (strncmp(name, "_R", 2) == 0)
        return pf_demangle_rust_v0(allocator, name, bytes);
    if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_GLOBAL_", 8) != 0)
        return NULL;
    char *result = pf_demangle_rust_legacy(allocator, name, bytes);
    return result || errno == ENOMEM ? result : demangle_cxx(allocator, name);
}

char *pf_demangle(const struct perfile_allocator *allocator, const char *name)
{
    errno = 0;
    if (name[0] == 'L')
        return pf_demangle_java(allocator, name);
    if (name[0] == 'c')
        return pf_demangle_ocaml(allocator, name);
    if (name[0] != '_')
        return NULL;
    const char *at = strchr(name, '@'); /* "@plt", "@@VERSION" */
    if (!at)
        return demangle_plain(allocator, name, strlen(name));
    char *front = pf_text_copy(allocator, name, (size_t)(at - name));
    errno = front ? 0 : ENOMEM;
    char *text = front ? demangle_plain(allocator, front, (size_t)(at - name)) : NULL;
    struct pf_demangled out = {.allocator = allocator, .failed = !text};
    if (text) {
        pf_demangled_put(&out, text, strlen(text));
        pf_demangled_put(&out, at, strlen(at));
    }
    pf_text_free(allocator, front);
    pf_text_free(allocator, text);
    return pf_demangled_take(&out);
}
