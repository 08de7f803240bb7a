/* SPDX-License-Identifier: MIT */
/* data_src in words, and page sizes. */
#include "analysis/data_src.h"
#include "output/script/script.h"

/* As wide as the widest so far, so that the next field stays in its column most of the time. */
char *pf_script_put_data_src(struct pf_script *script, char *at)
{
    enum { NUMBER = 17 };
    struct pf_words words = {{0}, 0};
    uint64_t data_src = pf_field_data_src(&script->item.sample);
    pf_data_src_all(&words, data_src);
    unsigned bytes = (unsigned)pf_min(words.used, PF_WORDS_CAPACITY - NUMBER);
    pf_script_leave(script, at);
    pf_put_format(script->out, "%16" PRIx64 " %.*s", data_src, (int)bytes, words.text);
    script->data_src_width = (unsigned)pf_max(script->data_src_width, bytes);
    pf_put_format(script->out, "%*s", (int)(script->data_src_width - bytes), "");
    return pf_script_enter(script);
}

/* ---- page sizes -------------------------------------------------------------------------------------------------- */

static char *put_page_size(struct pf_script *script, char *at, uint64_t bytes)
{
    pf_script_leave(script, at);
    pf_put_char(script->out, ' ');
    pf_put_page_size(script->out, bytes);
    return pf_script_enter(script);
}

char *pf_script_put_data_page_size(struct pf_script *script, char *at)
{
    return put_page_size(script, at, pf_field_data_page_size(&script->item.sample));
}

char *pf_script_put_code_page_size(struct pf_script *script, char *at)
{
    return put_page_size(script, at, pf_field_code_page_size(&script->item.sample));
}
