/* SPDX-License-Identifier: MIT */
#include "hwtrace/metadata.h"

#include <perfile/records.h>

#include <inttypes.h>
#include <string.h>

/* A word's name; those in hexadecimal have a mark before it. */
#define HEX "#"

/* The words that are read, and what is called with each. */
struct reading {
    const struct perfile_u64s *priv;
    uint64_t at;
    void (*put)(void *context, const struct pf_aux_word *word);
    void *context;
};

static uint64_t word_at(const struct reading *r, uint64_t index)
{
    return index < r->priv->count ? perfile_u64_at(r->priv, index) : 0;
}

static void put_word(struct reading *r, const char *name, bool nested)
{
    const bool hexadecimal = *name == HEX[0];
    if (r->at < r->priv->count)
        r->put(r->context, &(struct pf_aux_word){.name = name + hexadecimal,
                                                 .value = word_at(r, r->at),
                                                 .hexadecimal = hexadecimal,
                                                 .nested = nested});
    r->at++;
}

static void put_words(struct reading *r, const char *const *names, size_t count, bool nested)
{
    for (size_t i = 0; i < count; i++)
        put_word(r, names[i], nested);
}

/* ---- Intel PT, BTS, and traces that only have the number of their PMU -------------------------------------------- */

static const char *const pt_names[] = {
    "PMU Type",          "Time Shift",          "Time Multiplier",   "Time Zero",
    "Cap Time Zero",     HEX "TSC bit",         HEX "NoRETComp bit", "Have sched_switch",
    "Snapshot mode",     "Per-cpu maps",        HEX "MTC bit",       HEX "MTC freq bits",
    "TSC:CTC numerator", "TSC:CTC denominator", HEX "CYC bit",       "Max non-turbo ratio",
    "Filter string len."};
static const char *const bts_names[] = {"PMU Type",  "Time Shift",    "Time Multiplier",
                                        "Time Zero", "Cap Time Zero", "Snapshot mode"};

/* The filter is a text in as many words as it needs with its NUL, or in none. */
static void read_pt(struct reading *r)
{
    enum { MAX_FILTER_BYTES = 4096 };
    put_words(r, pt_names, PF_COUNT(pt_names), false);
    const uint64_t bytes = word_at(r, r->at - 1), left = r->at < r->priv->count ? (r->priv->count - r->at) * 8 : 0;
    if (r->at > r->priv->count || bytes > left)
        return;
    char text[MAX_FILTER_BYTES + 1];
    const size_t shown = (size_t)pf_min(bytes, MAX_FILTER_BYTES);
    if (shown)
        memcpy(text, r->priv->data + r->at * 8, shown);
    text[shown] = '\0';
    r->put(r->context, &(struct pf_aux_word){.name = "Filter string", .string = text});
    r->at += bytes ? bytes / 8 + 1 : 0;
    put_word(r, "Cap Event Trace", false);
}

static void read_bts(struct reading *r)
{
    put_words(r, bts_names, PF_COUNT(bts_names), false);
}

static void read_pmu(struct reading *r)
{
    put_word(r, "PMU Type", false);
}

/* ---- Arm SPE ----------------------------------------------------------------------------------------------------- */

static void read_spe_processor(struct reading *r)
{
    static const char *const head[] = {HEX "Magic", "CPU #", "Num of params"};
    static const char *const params[] = {HEX "MIDR", "PMU Type", "Min Interval", HEX "Event Filter"};
    put_words(r, head, PF_COUNT(head), true);
    const uint64_t count = word_at(r, r->at - 1), end = r->at + pf_min(count, r->priv->count);
    put_words(r, params, (size_t)pf_min(count, PF_COUNT(params)), true);
    r->at = end;
}

/* Without a version there are two words, of which the first one is the number of a PMU. */
static void read_spe(struct reading *r)
{
    static const char *const old[] = {"PMU Type", "Per CPU mmaps"};
    static const char *const head[] = {"Header version", "Header size", "PMU type v2", "CPU number"};
    if (r->priv->count <= PF_COUNT(old)) {
        put_words(r, old, PF_COUNT(old), false);
        return;
    }
    put_words(r, head, PF_COUNT(head), false);
    r->at = pf_max(word_at(r, 1), PF_COUNT(head));
    while (r->at < r->priv->count)
        read_spe_processor(r);
}

/* ---- CoreSight: all numbers are hexadecimal ---------------------------------------------------------------------- */

static const struct {
    uint64_t magic;
    const char *const *names;
    size_t count;
} etms[] = {
#define NAMES(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
    {0x3030303030303030, NAMES("ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR")},
    {0x4040404040404040,
     NAMES("TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS", "TS_SOURCE")},
    {0x5050505050505050, NAMES("TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS",
                               "TRCDEVARCH", "TS_SOURCE")},
#undef NAMES
};

static void read_etm_processor(struct reading *r)
{
    static const char *const head[] = {"Magic number", "CPU", "NR_TRC_PARAMS"};
    const uint64_t magic = word_at(r, r->at), count = word_at(r, r->at + 2);
    put_words(r, head, PF_COUNT(head), true);
    const uint64_t end = r->at + pf_min(count, r->priv->count);
    for (size_t i = 0; i < PF_COUNT(etms); i++)
        if (etms[i].magic == magic)
            put_words(r, etms[i].names, (size_t)pf_min(count, etms[i].count), true);
    r->at = end;
}

static void read_etm(struct reading *r)
{
    static const char *const head[] = {"Header version", "PMU type/num cpus", "Snapshot"};
    put_words(r, head, PF_COUNT(head), false);
    while (word_at(r, 0) && r->at < r->priv->count)
        read_etm_processor(r);
}

/* ---- all kinds --------------------------------------------------------------------------------------------------- */

static const struct kind {
    uint32_t type;
    void (*read)(struct reading *r);
    const char *separator; /* before the value */
    int width;             /* of the name; 0: as many tabulators as lead to the column of the value */
} kinds[] = {
    {PERFILE_AUXTRACE_INTEL_PT, read_pt, "", 20},  {PERFILE_AUXTRACE_INTEL_BTS, read_bts, "", 19},
    {PERFILE_AUXTRACE_CS_ETM, read_etm, "", 0},    {PERFILE_AUXTRACE_ARM_SPE, read_spe, ":", 19},
    {PERFILE_AUXTRACE_HISI_PTT, read_pmu, "", 19}, {PERFILE_AUXTRACE_VPA_DTL, read_pmu, "", 19},
};

static const struct kind *kind_of(uint32_t type)
{
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

void pf_aux_metadata_each(uint32_t type, const struct perfile_u64s *priv,
                          void (*put)(void *context, const struct pf_aux_word *word), void *context)
{
    const struct kind *kind = kind_of(type);
    struct reading r = {.priv = priv, .put = put, .context = context};
    if (kind && priv->count)
        kind->read(&r);
}

struct lines {
    struct pf_text *text;
    const struct kind *kind;
};

static void put_name(const struct lines *lines, const struct pf_aux_word *word)
{
    enum { TAB = 8, VALUE_AT = 3 * TAB };
    const size_t bytes = strlen(word->name);
    if (lines->kind->width) {
        const int indent = word->nested ? 4 : 2;
        pf_put_format(lines->text, "%*s%-*s%s", indent, "", lines->kind->width + 2 - indent, word->name,
                      lines->kind->separator);
        return;
    }
    pf_put_format(lines->text, "\t%s", word->name);
    for (size_t column = bytes; column < VALUE_AT; column = column / TAB * TAB + TAB)
        pf_put_char(lines->text, '\t');
    pf_put_string(lines->text, "       ");
}

static void put_line(void *context, const struct pf_aux_word *word)
{
    const struct lines *lines = context;
    put_name(lines, word);
    if (word->string)
        pf_put_name(lines->text, word->string);
    else if (lines->kind->width)
        pf_put_format(lines->text, word->hexadecimal ? "0x%" PRIx64 : "%" PRIu64, word->value);
    else
        pf_put_format(lines->text, "%" PRIx64, word->value);
    pf_put_char(lines->text, '\n');
}

void pf_aux_put_metadata(struct pf_text *text, uint32_t type, const struct perfile_u64s *priv)
{
    struct lines lines = {text, kind_of(type)};
    pf_aux_metadata_each(type, priv, put_line, &lines);
}
