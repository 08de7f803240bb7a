/* SPDX-License-Identifier: MIT */
/*
 * The library does not depend on the locale of its host program: calls of the C library that follow the locale are made
 * in the C locale, here and nowhere else (tests/api/symbols.py).
 */
#ifndef PF_BASE_LOCALE_H
#define PF_BASE_LOCALE_H

#include <locale.h>
#include <stdarg.h>

#include "base/bytes.h"

/* The C locale for this thread, and what it had before. */
struct pf_locale {
    locale_t c, before;
};
struct pf_locale pf_locale_enter(void);
void pf_locale_leave(const struct pf_locale *locale);

/* snprintf, vsnprintf and strtod with the point of the C locale. */
int pf_format(char *to, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int pf_format_arguments(char *to, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
double pf_parse_double(const char *text, char **end);
/* strerror, in English. Valid until the thread asks for another one. */
const char *pf_error_text(int number);
/* Equal but for the case of ASCII letters; the second, `bytes` at the start of each. */
bool pf_equal_but_case(const char *left, const char *right);
bool pf_begins_but_case(const char *left, const char *right, size_t bytes);
/* A file name's pattern as fnmatch has it, all but the case of ASCII letters when `any_case`. */
bool pf_glob_matches(const char *pattern, const char *name, bool any_case);
/* Space, tab, line end and the others that C calls white space. */
bool pf_is_space(char c);

#endif
