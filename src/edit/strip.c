/* SPDX-License-Identifier: MIT */
/* Removes parts of samples that are not needed any more from the attrs, and so from every sample. */
#include <stdio.h>

#include "base/error.h"
#include "edit/convert.h"

#define SAMPLE(name) PERFILE_SAMPLE_##name

/* Not in it: what says which event, thread and moment a sample belongs to. */
static const struct {
    const char *name;
    uint64_t parts;
    const char *doc;
} parts[] = {
    {"stack", SAMPLE(STACK_USER), "copies of the user stack"},
    {"regs", SAMPLE(REGS_USER) | SAMPLE(REGS_INTR), "registers"},
    {"raw", SAMPLE(RAW), "data of tracepoints and PMUs"},
    {"callchain", SAMPLE(CALLCHAIN), "callchains"},
    {"branch", SAMPLE(BRANCH_STACK), "branch stacks"},
    {"addr", SAMPLE(ADDR), "data addresses"},
    {"phys-addr", SAMPLE(PHYS_ADDR), "physical data addresses"},
    {"data-src", SAMPLE(DATA_SRC), "where data came from"},
    {"weight", SAMPLE(WEIGHT) | SAMPLE(WEIGHT_STRUCT), "costs"},
    {"transaction", SAMPLE(TRANSACTION), "hardware transactions"},
    {"cgroup", SAMPLE(CGROUP), "control groups"},
    {"page-size", SAMPLE(DATA_PAGE_SIZE) | SAMPLE(CODE_PAGE_SIZE), "sizes of pages"},
    {"read", SAMPLE(READ), "values of counters"},
    {"period", SAMPLE(PERIOD), "periods: every sample then counts as the attributes say"},
    {"aux", SAMPLE(AUX), "AUX data, of samples and of AUX areas"},
};

const char *perfile_strip_part_at(size_t index, const char **doc)
{
    if (index >= PF_COUNT(parts))
        return NULL;
    if (doc)
        *doc = parts[index].doc;
    return parts[index].name;
}

static int fail_name(const char *name, size_t bytes, struct perfile_error *error)
{
    char known[200];
    size_t used = 0;
    for (size_t i = 0; i < PF_COUNT(parts); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", parts[i].name);
    return pf_about(error, name, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "strip", "unknown part %.*s; valid: %s",
                            (int)pf_min(bytes, 30), name, known));
}

static uint64_t part_of(const char *name, size_t bytes)
{
    for (size_t i = 0; i < PF_COUNT(parts); i++)
        if (strlen(parts[i].name) == bytes && memcmp(parts[i].name, name, bytes) == 0)
            return parts[i].parts;
    return 0;
}

int pf_strip_open(struct pf_strip *strip, const char *list, struct perfile_error *error)
{
    *strip = (struct pf_strip){.parts = 0};
    for (;;) {
        const size_t bytes = strcspn(list, ",");
        const uint64_t part = part_of(list, bytes);
        if (!part)
            return fail_name(list, bytes, error);
        strip->parts |= part;
        if (!list[bytes])
            return 0;
        list += bytes + 1;
    }
}

static int strip_event(void *context, struct pf_event_spec *event, struct perfile_error *error)
{
    const struct pf_strip *strip = context;
    struct perfile_attr *attr = &event->attr;
    (void)error;
    attr->sample_type &= ~strip->parts;
    if (strip->parts & SAMPLE(STACK_USER))
        attr->sample_stack_user = 0;
    if (strip->parts & SAMPLE(REGS_USER))
        attr->sample_regs_user = attr->sample_regs_intr = 0;
    if (strip->parts & SAMPLE(BRANCH_STACK))
        attr->branch_sample_type = 0;
    if (strip->parts & SAMPLE(AUX))
        attr->aux_sample_size = 0;
    return 0;
}

static int strip_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                         struct perfile_error *error)
{
    const struct pf_strip *strip = context;
    (void)reader, (void)body, (void)error;
    return number == PERFILE_FEATURE_BRANCH_STACK && strip->parts & SAMPLE(BRANCH_STACK) ? PF_EDIT_DROP : PF_EDIT_KEEP;
}

static bool is_about_aux(uint32_t type)
{
    static const uint32_t types[] = {PERFILE_RECORD_AUX, PERFILE_RECORD_ITRACE_START, PERFILE_RECORD_AUX_OUTPUT_HW_ID,
                                     PERFILE_RECORD_AUXTRACE_INFO, PERFILE_RECORD_AUXTRACE};
    for (size_t i = 0; i < PF_COUNT(types); i++)
        if (types[i] == type)
            return true;
    return false;
}

static int strip_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_strip *strip = context;
    (void)error;
    if (!(strip->parts & SAMPLE(AUX)) || !is_about_aux(item->record->type))
        return PF_EDIT_KEEP;
    strip->bytes += item->record->bytes + item->record->payload_bytes;
    return PF_EDIT_DROP;
}

struct pf_edit_step pf_strip_step(struct pf_strip *strip)
{
    return (struct pf_edit_step){
        .context = strip, .event = strip_event, .feature = strip_feature, .record = strip_record};
}
