/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_LIBINTL_H
#define PF_WINDOWS_LIBINTL_H

#define gettext(text) (text)
#define dgettext(domain, text) ((void)(domain), (text))

#endif
