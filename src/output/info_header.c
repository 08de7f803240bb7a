/* SPDX-License-Identifier: MIT */
#include "output/info_header.h"

#include <stdio.h>

#include "base/error.h"
#include "base/feature.h"
#include "output/header.h"

enum { FEATURES_MAX = 8 };

/* All that header.h has lines for, but for what stands in the summary before. */
static const struct group {
    const char *title;
    uint32_t features[FEATURES_MAX]; /* 0 ends them */
} groups[] = {
    {"attributes", {PERFILE_FEATURE_EVENT_DESC, PERFILE_FEATURE_GROUP_DESC}},
    {"processors",
     {PERFILE_FEATURE_CPU_TOPOLOGY, PERFILE_FEATURE_HYBRID_TOPOLOGY, PERFILE_FEATURE_CPU_DOMAIN_INFO,
      PERFILE_FEATURE_CACHE, PERFILE_FEATURE_CLN_SIZE, PERFILE_FEATURE_E_MACHINE}},
    {"memory", {PERFILE_FEATURE_NUMA_TOPOLOGY, PERFILE_FEATURE_MEM_TOPOLOGY}},
    {"PMUs", {PERFILE_FEATURE_PMU_MAPPINGS, PERFILE_FEATURE_CPU_PMU_CAPS, PERFILE_FEATURE_PMU_CAPS}},
    {"clocks", {PERFILE_FEATURE_SAMPLE_TIME, PERFILE_FEATURE_CLOCKID, PERFILE_FEATURE_CLOCK_DATA}},
    {"BPF", {PERFILE_FEATURE_BPF_PROG_INFO, PERFILE_FEATURE_BPF_BTF}},
    {"data",
     {PERFILE_FEATURE_BRANCH_STACK, PERFILE_FEATURE_AUXTRACE, PERFILE_FEATURE_STAT, PERFILE_FEATURE_DIR_FORMAT,
      PERFILE_FEATURE_COMPRESSED}},
};

/* Lines of a header below a title: two blanks instead of "# ". */
static void put_indented(struct pf_text *out, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    while (text < end) {
        const char *line = text + (end - text >= 2 && memcmp(text, "# ", 2) == 0 ? 2 : 0);
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        pf_put_string(out, "  ");
        pf_put(out, line, (size_t)(next - line));
        text = next;
    }
}

static int put_group(struct perfile_reader *reader, const struct group *group, struct pf_text *lines,
                     struct pf_text *out, struct perfile_error *error)
{
    int result = 0;
    lines->used = 0;
    for (size_t i = 0; i < FEATURES_MAX && group->features[i] && result == 0; i++)
        if (pf_has_feature(reader, group->features[i]))
            result = pf_header_put_feature(reader, group->features[i], lines, error);
    if (result == 0 && lines->failed)
        return pf_fail_memory(error, "info");
    if (lines->used) {
        pf_put_format(out, "\n%s\n", group->title);
        put_indented(out, lines->data, lines->used);
    }
    return result;
}

int pf_info_put_groups(struct perfile_reader *reader, struct pf_text *out, struct perfile_error *error)
{
    struct pf_text lines;
    int result = 0;
    if (pf_text_open(&lines, out->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "info");
    lines.escapes = out->escapes;
    for (size_t i = 0; i < PF_COUNT(groups) && result == 0; i++)
        result = put_group(reader, &groups[i], &lines, out, error);
    pf_text_close(&lines);
    if (result < 0)
        return result;
    pf_put_string(out, "\nmissing features\n ");
    pf_header_put_missing(reader, out);
    pf_put_char(out, '\n');
    return 0;
}

static void put_part(void *context, const struct pf_header_bpf *part)
{
    struct pf_json *json = context;
    pf_json_begin(json, NULL, false);
    pf_json_unsigned(json, "id", part->id);
    pf_json_string(json, "name", part->name);
    pf_json_unsigned(json, "address", part->address);
    pf_json_unsigned(json, "bytes", part->bytes);
    pf_json_end(json, false);
}

int pf_info_put_bpf(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error)
{
    if (!pf_has_feature(reader, PERFILE_FEATURE_BPF_PROG_INFO))
        return 0;
    pf_json_begin(json, "bpf_programs", true);
    const int result = pf_header_each_bpf(reader, json->text, put_part, json, error);
    pf_json_end(json, true);
    return result;
}
