/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_LOCALE_H
#define PF_WINDOWS_LOCALE_H

#include_next <locale.h>

/* The locale of the process is never set, and so the C locale. */
typedef int pf_windows_locale_t;
#define locale_t pf_windows_locale_t
#define LC_ALL_MASK 1

static inline locale_t newlocale(int mask, const char *name, locale_t base)
{
    (void)mask;
    (void)name;
    (void)base;
    return 1;
}
static inline locale_t uselocale(locale_t locale)
{
    return locale;
}
static inline void freelocale(locale_t locale)
{
    (void)locale;
}

#endif
