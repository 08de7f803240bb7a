/* SPDX-License-Identifier: MIT */
/*
 * Names of OCaml: "caml", the module, and what is in it: "camlStdlib__List__map_236" is Stdlib.List.map_236. Characters
 * that assemblers refuse are written as "$" and two hexadecimal digits. The number at the end belongs to the name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle/demangle_parts.h"

/* What begins with "caml" in the runtime library goes on with a small letter. Module names have a part after them. */
static bool is_ocaml(const char *name)
{
    return strncmp(name, "caml", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' &&
           (strstr(name + 5, "__") || strchr(name + 5, '.'));
}

/* Puts one character, and returns how many were read. */
static size_t put_next(struct pf_demangled *out, const char *at)
{
    if (at[0] == '_' && at[1] == '_') {
        pf_demangled_put(out, ".", 1);
        return 2;
    }
    if (at[0] == '$' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
        const char digits[] = {at[1], at[2], '\0'}, character = (char)strtoul(digits, NULL, 16);
        if (character >= ' ' && character <= '~') {
            pf_demangled_put(out, &character, 1);
            return 3;
        }
    }
    pf_demangled_put(out, at, 1);
    return 1;
}

char *pf_demangle_ocaml(const struct perfile_allocator *allocator, const char *name)
{
    struct pf_demangled out = {.allocator = allocator};
    if (!is_ocaml(name))
        return NULL;
    for (const char *at = name + 4; *at && !out.failed;)
        at += put_next(&out, at);
    return pf_demangled_take(&out);
}
