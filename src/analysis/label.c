/* SPDX-License-Identifier: MIT */
#include "analysis/label.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/function_name.h"

static const char unknown[] = "[unknown]";

bool pf_label_is_named(const char *name)
{
    return name && *name && strcmp(name, unknown) != 0;
}

char *pf_label_make(struct pf_arena *arena, const char *name, const char *module, size_t more)
{
    const bool is_known = pf_label_is_named(name);
    const bool by_module = !is_known && module && *module && strcmp(module, unknown) != 0;
    const char *slash = by_module ? strrchr(module, '/') : NULL;
    const char *text = is_known ? name : by_module ? (slash ? slash + 1 : module) : unknown;
    const size_t capacity = strlen(text) + more + 3;
    char *made = pf_arena_new(arena, capacity);
    if (made)
        snprintf(made, capacity, by_module ? "[%s]" : "%s", text);
    return made;
}

static void delete_quotes(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++)
        if (*from != '"' && *from != '\'')
            *to++ = *from;
    *to = 0;
}

/* Java's signatures: Lorg/mozilla/Script;::run becomes org/mozilla/Script:::run */
static void cut_java(char *name)
{
    if (name[0] == 'L' && strchr(name, '/'))
        memmove(name, name + 1, strlen(name));
}

/* Replaces what separates frames and lines; of names of threads the spaces, too. */
static void replace_separators(char *name, bool thread)
{
    for (char *p = name; *p; p++) {
        if (*p == ';')
            *p = ':';
        else if ((unsigned char)*p < 0x20 || *p == 0x7f || (thread && *p == ' '))
            *p = '_';
    }
}

char *pf_label_one_line(struct pf_arena *arena, char *name, size_t more, bool thread)
{
    replace_separators(name, thread);
    const size_t bytes = strlen(name), capacity = 4 * bytes + more + 1;
    if (pf_printable_run(name, bytes) == bytes)
        return name;
    char *made = pf_arena_new(arena, capacity);
    if (made)
        perfile_text_escape(name, bytes, made, capacity);
    return made;
}

void pf_label_tidy(char *name, bool jit)
{
    pf_function_drop_parameters(name);
    delete_quotes(name);
    if (jit)
        cut_java(name);
    if (!name[0])
        memcpy(name, "-", 2);
}

const char *pf_label_of_frame(struct pf_arena *arena, const char *name, const char *module, bool jit)
{
    char *label = pf_label_make(arena, name, module, 0);
    if (label)
        label = pf_label_one_line(arena, label, 0, false);
    if (label && pf_label_is_named(name))
        pf_label_tidy(label, jit);
    return label;
}
