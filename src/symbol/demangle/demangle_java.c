/* SPDX-License-Identifier: MIT */
/* Names of Java methods as JITs write them: class, method and signature, "Ljava/lang/String;indexOf(II)I". */
#include <string.h>

#include "symbol/demangle/demangle_parts.h"

static void put_text(struct pf_demangled *out, const char *text)
{
    pf_demangled_put(out, text, strlen(text));
}

/* Writes "java/lang/String;" with dots and moves *at after it. False when the end is missing. */
static bool put_class(struct pf_demangled *out, const char **at)
{
    const char *name = *at, *end = name + strcspn(name, ";()[");
    if (*end != ';' || end == name)
        return false;
    for (const char *part = name; part < end; part++)
        pf_demangled_put(out, *part == '/' ? "." : part, 1);
    *at = end + 1;
    return true;
}

static const char *primitive(char letter)
{
    static const char *const names[26] = {
        ['B' - 'A'] = "byte",  ['C' - 'A'] = "char", ['D' - 'A'] = "double",
        ['F' - 'A'] = "float", ['I' - 'A'] = "int",  ['J' - 'A'] = "long",
        ['S' - 'A'] = "short", ['V' - 'A'] = "void", ['Z' - 'A'] = "boolean",
    };
    return letter >= 'A' && letter <= 'Z' ? names[letter - 'A'] : NULL;
}

static bool put_type(struct pf_demangled *out, const char **at)
{
    size_t dimensions = strspn(*at, "[");
    *at += dimensions;
    const char *name = primitive(**at);
    if (name) {
        put_text(out, name);
        ++*at;
    } else if (*(*at)++ != 'L' || !put_class(out, at)) {
        return false;
    }
    while (dimensions--)
        put_text(out, "[]");
    return true;
}

/* The result's type is left out. */
static bool put_method(struct pf_demangled *out, const char *at)
{
    const char *name;
    if (*at++ != 'L' || !put_class(out, &at))
        return false;
    name = at;
    at += strcspn(at, "();/[");
    if (*at != '(' || at == name)
        return false;
    if (*name != '<') /* <init> */
        put_text(out, ".");
    pf_demangled_put(out, name, (size_t)(++at - name));
    for (bool first = true; *at && *at != ')'; first = false) {
        if (!first)
            put_text(out, ", ");
        if (!put_type(out, &at))
            return false;
    }
    put_text(out, ")");
    return *at == ')' && at[1];
}

char *pf_demangle_java(const struct perfile_allocator *allocator, const char *name)
{
    struct pf_demangled out = {.allocator = allocator};
    const bool complete = put_method(&out, name);
    out.failed |= !complete;
    return pf_demangled_take(&out);
}
