/* SPDX-License-Identifier: MIT */
/* Sentences for the user about files that cannot be used. */
#include "symbol/find/find.h"

#include <stdarg.h>
#include <stdio.h>

void pf_find_note(const struct pf_find_options *options, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (!options->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    options->note(options->note_context, text);
}
