/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/locale.h"

int pf_fail(struct perfile_error *error, int code, uint64_t offset, const char *what, const char *format, ...)
{
    if (!error)
        return code;
    char text[sizeof(error->message)];
    va_list arguments;
    va_start(arguments, format);
    pf_format_arguments(text, sizeof(text), format, arguments);
    va_end(arguments);
    char position[32] = "";
    if (offset != PERFILE_NO_OFFSET)
        snprintf(position, sizeof(position), " at 0x%" PRIx64, offset);
    *error = (struct perfile_error){.code = code, .offset = offset};
    snprintf(error->what, sizeof(error->what), "%s", what);
    /* a message that does not fit is cut; it stays one sentence */
    int written = snprintf(error->message, sizeof(error->message), "%.47s%s: ", what, position);
    snprintf(error->message + written, sizeof(error->message) - (size_t)written, "%s", text);
    return code;
}

int pf_about(struct perfile_error *error, const char *text, size_t bytes, int code)
{
    if (error)
        snprintf(error->token, sizeof(error->token), "%.*s", (int)pf_min(bytes, sizeof(error->token)), text);
    return code;
}

int pf_fail_memory(struct perfile_error *error, const char *what)
{
    return pf_fail(error, PERFILE_ERROR_MEMORY, PERFILE_NO_OFFSET, what, "out of memory");
}
