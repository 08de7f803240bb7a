/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_DLFCN_H
#define PF_WINDOWS_DLFCN_H

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_GLOBAL = 256 };

/* No library is found. */
void *dlopen(const char *name, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
const char *dlerror(void);

#endif
