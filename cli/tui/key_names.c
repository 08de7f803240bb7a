/* SPDX-License-Identifier: MIT */
/* The keys for the man page, also of a build without the interactive view. */
#include "tui.h"

static const struct {
    const char *shown, *help;
} keys[] = {
#define PF_KEY(views, key, name, action, text) {name, text},
#include "keys.def"
#undef PF_KEY
};

const char *pf_tui_key_at(size_t index, const char **doc)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].shown && index-- == 0) {
            *doc = keys[i].help;
            return keys[i].shown;
        }
    return NULL;
}
