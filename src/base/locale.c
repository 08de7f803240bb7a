/* SPDX-License-Identifier: MIT */
#include "base/locale.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C locale is always there; glibc and musl give a constant, without memory or a lock. */
struct pf_locale pf_locale_enter(void)
{
    struct pf_locale locale = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    locale.before = uselocale(locale.c);
    return locale;
}

void pf_locale_leave(const struct pf_locale *locale)
{
    uselocale(locale->before);
    if (locale->c)
        freelocale(locale->c);
}

int pf_format_arguments(char *to, size_t capacity, const char *format, va_list arguments)
{
    const struct pf_locale locale = pf_locale_enter();
    const int bytes = vsnprintf(to, capacity, format, arguments);
    pf_locale_leave(&locale);
    return bytes;
}

int pf_format(char *to, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes = pf_format_arguments(to, capacity, format, arguments);
    va_end(arguments);
    return bytes;
}

double pf_parse_double(const char *text, char **end)
{
    const struct pf_locale locale = pf_locale_enter();
    const double value = strtod(text, end);
    pf_locale_leave(&locale);
    return value;
}

const char *pf_error_text(int number)
{
    const struct pf_locale locale = pf_locale_enter();
    const char *text = strerror(number);
    pf_locale_leave(&locale);
    return text;
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool pf_begins_but_case(const char *left, const char *right, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (lower(left[i]) != lower(right[i]))
            return false;
        if (!left[i])
            return true;
    }
    return true;
}

bool pf_equal_but_case(const char *left, const char *right)
{
    return pf_begins_but_case(left, right, SIZE_MAX);
}

bool pf_glob_matches(const char *pattern, const char *name, bool any_case)
{
    const struct pf_locale locale = pf_locale_enter();
    const int result = fnmatch(pattern, name, any_case ? FNM_CASEFOLD : 0);
    pf_locale_leave(&locale);
    return result == 0;
}

bool pf_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
