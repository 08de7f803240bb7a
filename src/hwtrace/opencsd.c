/* SPDX-License-Identifier: MIT */
#include "hwtrace/opencsd.h"

#ifdef PF_HAVE_OPENCSD

#include <dlfcn.h>

#include "base/locale.h"

static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof(found));
    return found;
}

bool pf_opencsd_open(struct pf_opencsd *csd)
{
    const struct pf_locale locale = pf_locale_enter();
    *csd = (struct pf_opencsd){.library = dlopen("libopencsd_c_api.so.1", RTLD_NOW | RTLD_LOCAL)};
    bool complete = csd->library;
#define FIND(name) complete = complete && find(csd->library, "ocsd_" #name, &csd->name);
    PF_OPENCSD_FUNCTIONS(FIND)
#undef FIND
    pf_locale_leave(&locale);
    if (!complete)
        pf_opencsd_close(csd);
    return complete;
}

void pf_opencsd_close(struct pf_opencsd *csd)
{
    if (csd->library)
        dlclose(csd->library);
    csd->library = NULL;
}

const char *pf_opencsd_missing(void)
{
    struct pf_opencsd csd;
    if (!pf_opencsd_open(&csd))
        return "libopencsd_c_api.so.1 cannot be loaded (package libopencsd1)";
    pf_opencsd_close(&csd);
    return NULL;
}

#else

#include <stddef.h>

const char *pf_opencsd_missing(void)
{
    return "this perfile was built without libopencsd (package libopencsd-dev)";
}

#endif
