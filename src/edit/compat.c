/* SPDX-License-Identifier: MIT */
/* For an older perf: events and features. */
#include "edit/compat.h"

#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "schema/since.h"

/* ---- events ---- */

static void find_young_parts(struct pf_compat *age)
{
    age->sample_young = pf_since_sample_type(age->version);
    age->branch_young = pf_since_branches(age->version);
    for (unsigned bit = 0; bit < 64; bit++)
        if (!perfile_sample_field_name(1ull << bit))
            age->sample_young |= 1ull << bit; /* no perf knows it */
}

/* Replaces parts that are too new by older ones that state the same, as far as there are any. */
static uint64_t sample_type_for(const struct pf_compat *age, uint64_t type)
{
    const uint64_t young = type & age->sample_young;
    if (young & PERFILE_SAMPLE_WEIGHT_STRUCT)
        type |= PERFILE_SAMPLE_WEIGHT;
    if (young & PERFILE_SAMPLE_IDENTIFIER)
        type |= PERFILE_SAMPLE_ID;
    return type & ~age->sample_young;
}

/* Before IDENTIFIER was known perf refused events of different sample_types: all get what any of them has. */
static uint64_t common_sample_type(struct pf_compat *age, uint64_t type)
{
    const struct perfile_reader *reader = age->edit->reader;
    if (!(age->sample_young & PERFILE_SAMPLE_IDENTIFIER))
        return sample_type_for(age, type);
    if (!age->sample_type) {
        age->sample_type = sample_type_for(age, type);
        for (size_t i = 0; i < reader->event_count; i++)
            age->sample_type |= sample_type_for(age, reader->events[i]->public.attr->sample_type);
    }
    return age->sample_type;
}

/* What the parts that are gone were asked for with. */
static void clear_unused(struct perfile_attr *attr)
{
    if (!(attr->sample_type & PERFILE_SAMPLE_STACK_USER))
        attr->sample_stack_user = 0;
    if (!(attr->sample_type & PERFILE_SAMPLE_REGS_USER))
        attr->sample_regs_user = 0;
    if (!(attr->sample_type & PERFILE_SAMPLE_REGS_INTR))
        attr->sample_regs_intr = 0;
}

static int age_event(void *context, struct pf_event_spec *event, struct perfile_error *error)
{
    struct pf_compat *age = context;
    struct perfile_attr *attr = &event->attr;
    const uint64_t before = attr->sample_type;
    (void)error;
    attr->sample_type = common_sample_type(age, attr->sample_type);
    attr->read_format &= ~pf_since_read_format(age->version);
    attr->branch_sample_type &= ~age->branch_young;
    if (before & ~attr->sample_type)
        clear_unused(attr);
    pf_since_clear_flags(age->version, attr);
    attr->size = (uint32_t)pf_min(attr->size, pf_since_attr_bytes(age->version));
    return 0;
}

/* ---- features ---- */

/* u32 count, then for each program u32 info_len, u32 data_len, u64 arrays, info, data. False: it cannot be read. */
static bool shorten_prog_infos(struct pf_compat *age, const struct perfile_bytes *body, bool swap)
{
    const uint32_t known = pf_since_prog_info_bytes(age->version);
    struct pf_cursor c = pf_cursor_make(body->data, (size_t)body->bytes, 0, swap);
    uint32_t count = pf_cursor_u32(&c);
    age->body.used = 0;
    pf_put(&age->body, body->data, pf_min(body->bytes, 4));
    for (; count && !c.failed; count--) {
        const uint32_t info = pf_cursor_u32(&c), data = pf_cursor_u32(&c);
        const uint8_t *arrays = pf_cursor_take(&c, 8), *infos = pf_cursor_take(&c, info);
        const uint8_t *rest = pf_cursor_take(&c, data);
        const uint32_t kept = (uint32_t)pf_min(info, known),
                       sizes[2] = {pf_load32(&kept, swap), pf_load32(&data, swap)};
        if (c.failed)
            return false;
        pf_put(&age->body, sizes, sizeof(sizes));
        pf_put(&age->body, arrays, 8);
        pf_put(&age->body, infos, kept);
        pf_put(&age->body, rest, data);
    }
    return !c.failed;
}

/* Returns whether the feature is kept. simpleperf's features have higher numbers than perf looks at in files. */
static bool is_wanted(const struct pf_compat *age, uint32_t number)
{
    const bool file = age->edit->writer->options.mode != PERFILE_MODE_PIPE;
    const char *since = pf_feature_since(number);
    return since && strcmp(since, "simpleperf") == 0 ? file : pf_since_knows(age->version, since);
}

static int age_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                       struct perfile_error *error)
{
    struct pf_compat *age = context;
    int result = 0;
    if (!is_wanted(age, number)) {
        age->edit->writer->features_dropped++;
        return PF_EDIT_DROP;
    }
    bool good = pf_repair_believes(reader, number, body, &result, error);
    if (result < 0)
        return result;
    if (good && number == PERFILE_FEATURE_BUILD_ID)
        result = pf_build_ids_note(&age->build_ids, body, reader->file.swapped, error);
    if (result < 0)
        return result;
    if (good && number == PERFILE_FEATURE_BPF_PROG_INFO) {
        good = shorten_prog_infos(age, body, reader->file.swapped);
        *body = (struct perfile_bytes){(const uint8_t *)age->body.data, age->body.used};
    }
    if (age->body.failed)
        return pf_fail_memory(error, "feature");
    age->edit->writer->features_dropped += !good;
    return good ? PF_EDIT_KEEP : PF_EDIT_DROP;
}

/* Reports what older parts cannot state. */
static int age_end(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                   struct perfile_error *error)
{
    const struct pf_compat *age = context;
    char message[PF_COUNTED_BYTES];
    (void)reader, (void)error;
    if (age->chains_cut)
        pf_writer_diagnose(writer, "callchain-cut",
                           pf_count_of(age->chains_cut,
                                       "callchains have no user part: it is not in the recording, or comes later",
                                       message));
    return 0;
}

/* ---- opening ---- */

static int check_output(struct pf_compat *age, const char *version, struct perfile_error *error)
{
    struct perfile_writer_options *options = &age->edit->writer->options;
    const char *unknown = pf_since_output(age->version, options->mode == PERFILE_MODE_PIPE,
                                          options->mode == PERFILE_MODE_DIRECTORY, options->compression);
    if (unknown)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "perf %s cannot read %s", version,
                       unknown);
    if (age->version < PF_VERSION(6, 16))
        options->compressed_v1 = true;
    return 0;
}

static void find_known_types(struct pf_compat *age)
{
    for (uint32_t type = 0; type < PF_COMPAT_TYPES; type++) {
        const struct pf_record_info *info = pf_record_info(type);
        age->known[type] = info && pf_since_knows(age->version, info->since);
    }
}

int pf_compat_open(const char *version, struct pf_edit *edit, struct pf_compat **age, struct perfile_error *error)
{
    const uint32_t parsed = pf_since_parse(version);
    version += strncmp(version, "perf-", 5) == 0 ? 5 : 0;
    if (!parsed)
        return pf_about(error, version, strlen(version),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "version",
                                "invalid perf version %.30s: expected 3.0 to 7.x, such as 6.1", version));
    struct pf_compat *made = pf_new(edit->reader->allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "conversion");
    *age = made;
    made->edit = edit;
    made->allocator = edit->reader->allocator;
    made->version = parsed;
    edit->writer->no_host = !is_wanted(made, PERFILE_FEATURE_HOSTNAME);
    pf_known_ids_open(&made->build_ids, edit->reader, edit->writer);
    pf_pairs_open(&made->late, made->allocator);
    find_known_types(made);
    find_young_parts(made);
    if (pf_text_open(&made->body, made->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "conversion");
    int result = check_output(made, version, error);
    if (result == 0 && !made->known[PERFILE_RECORD_CALLCHAIN_DEFERRED] && pf_edit_defers_callchains(edit->reader))
        result = pf_compat_collect(made, error);
    return result;
}

void pf_compat_close(struct pf_compat *age)
{
    if (!age)
        return;
    pf_text_close(&age->body);
    pf_known_ids_close(&age->build_ids);
    pf_pairs_close(&age->late);
    pf_free(age->allocator, age->late_chains, age->late_capacity * sizeof(*age->late_chains));
    pf_free(age->allocator, age->late_words, age->late_word_capacity * sizeof(*age->late_words));
    pf_free(age->allocator, age, sizeof(*age));
}

struct pf_edit_step pf_compat_step(struct pf_compat *age)
{
    return (struct pf_edit_step){
        .context = age, .event = age_event, .feature = age_feature, .record = pf_compat_record, .end = age_end};
}
