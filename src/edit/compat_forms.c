/* SPDX-License-Identifier: MIT */
/* For an older perf: records. */
#include "base/error.h"
#include "edit/compat.h"

enum { WEIGHT_BITS = 32 };

/* The item's record gets another type or misc. */
static struct perfile_record *own_record(struct pf_compat *age, struct pf_item *item)
{
    age->record = *item->record;
    item->record = &age->record;
    item->changed = true;
    return &age->record;
}

/* ---- records that changed their layout ---- */

/* What the record cannot say any more goes into the feature BUILD_ID. */
static int keep_build_id(struct pf_compat *age, const struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_mmap2 *from = &item->body.mmap2;
    const struct pf_build_id_file file = {.mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK,
                                          .filename = from->filename,
                                          .build_id = from->build_id,
                                          .bytes = from->build_id_size};
    return pf_build_ids_add(&age->build_ids, &file, error);
}

static int form_no_build_id(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_mmap2 *body = &item->body.mmap2;
    if (!(item->record->misc & PERFILE_MISC_MMAP_BUILD_ID))
        return 0;
    int result = keep_build_id(age, item, error);
    own_record(age, item)->misc &= (uint16_t)~PERFILE_MISC_MMAP_BUILD_ID;
    body->maj = body->min = 0;
    body->ino = body->ino_generation = 0;
    return result;
}

static int form_mmap(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    int result = form_no_build_id(age, item, error);
    const struct perfile_mmap2 from = item->body.mmap2;
    own_record(age, item)->type = PERFILE_RECORD_MMAP;
    item->body.mmap = (struct perfile_mmap){.pid = from.pid,
                                            .tid = from.tid,
                                            .addr = from.addr,
                                            .len = from.len,
                                            .pgoff = from.pgoff,
                                            .filename = from.filename};
    return result;
}

static int form_no_time(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    (void)age, (void)error;
    item->changed |= item->body.auxtrace_error.fmt > 0;
    item->body.auxtrace_error.fmt = 0;
    return 0;
}

static int form_no_guest(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    (void)age, (void)error;
    item->changed |= item->body.auxtrace_error.fmt > 1;
    item->body.auxtrace_error.fmt = (uint32_t)pf_min(item->body.auxtrace_error.fmt, 1);
    return 0;
}

static int form_no_guests(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    (void)age, (void)error;
    item->changed |= item->body.id_index.guests.count > 0;
    item->body.id_index.guests.count = 0;
    return 0;
}

/* A range becomes a list. */
static int form_cpu_list(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    enum { ANY_CPU = 0xffff };
    const bool update = item->record->type == PERFILE_RECORD_EVENT_UPDATE;
    struct perfile_cpu_set *set = update ? &item->body.event_update.cpus : &item->body.cpu_map.map;
    uint32_t count = 0;
    (void)error;
    if ((update && item->body.event_update.update_type != PERFILE_EVENT_UPDATE_CPUS) ||
        set->map_type != PERFILE_CPU_MAP_RANGE_CPUS)
        return 0;
    if (set->any_cpu)
        age->capacity.cpus[count++] = ANY_CPU;
    for (uint32_t cpu = set->start_cpu; cpu <= set->end_cpu && cpu < ANY_CPU; cpu++)
        age->capacity.cpus[count++] = (uint16_t)cpu;
    *set = (struct perfile_cpu_set){.data = (const uint8_t *)age->capacity.cpus, .count = count};
    item->changed = true;
    return 0;
}

typedef int form(struct pf_compat *age, struct pf_item *item, struct perfile_error *error);

#define FORM(major, minor, RECORD, form) {PF_VERSION(major, minor), PERFILE_RECORD_##RECORD, form_##form},
static const struct {
    uint32_t since;
    uint32_t type;
    form *say;
} forms[] = {
#include "schema/ages.def"
};

/* The oldest form that is too young says it all. */
static int say_older(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    const uint32_t type = item->record->type;
    for (size_t i = 0; i < PF_COUNT(forms); i++)
        if (forms[i].type == type && age->version < forms[i].since) {
            int result = pf_item_decode(item, error);
            return result < 0 ? result : forms[i].say(age, item, error);
        }
    return 0;
}

/* ---- callchains whose user part comes later ---- */

static int keep_late_chain(struct pf_compat *age, const struct perfile_record *record, struct perfile_error *error)
{
    const struct perfile_reader *reader = age->edit->reader;
    struct perfile_callchain_deferred late;
    struct perfile_sample_id id = {0};
    uint32_t seen;
    if (record->damaged || perfile_record_decode(reader, record, &late, sizeof(late), NULL) < 0)
        return 0;
    if (pf_layout_trailer(record, &id, NULL) < 0)
        id.tid = 0;
    if (pf_pairs_get(&age->late, (uint32_t)id.tid, late.cookie, &seen) ||
        8 * (age->late_word_count + late.ips.count) > reader->options.limit_queue_bytes)
        return 0; /* its sample is counted */
    if (!pf_grow(age->allocator, &age->late_chains, &age->late_capacity, age->late_count + 1,
                 sizeof(*age->late_chains)) ||
        !pf_grow(age->allocator, &age->late_words, &age->late_word_capacity, age->late_word_count + late.ips.count + 1,
                 sizeof(*age->late_words)) ||
        !pf_pairs_put(&age->late, (uint32_t)id.tid, late.cookie, (uint32_t)age->late_count))
        return pf_fail_memory(error, "callchains");
    age->late_chains[age->late_count++] =
        (struct pf_late_chain){.first = age->late_word_count, .count = (uint32_t)late.ips.count};
    for (uint64_t i = 0; i < late.ips.count; i++)
        age->late_words[age->late_word_count++] = perfile_u64_at(&late.ips, i);
    return 0;
}

int pf_compat_collect(struct pf_compat *age, struct perfile_error *error)
{
    struct perfile_reader *reader = age->edit->reader;
    const struct perfile_record *record;
    int result, more = 0;
    if (perfile_reader_rewind(reader, NULL) < 0)
        return 0; /* a stream: the callchains end where the user part would begin, and are counted */
    while ((more = perfile_reader_next(reader, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_CALLCHAIN_DEFERRED && (result = keep_late_chain(age, record, error)) < 0)
            return result;
    return more < 0 ? more : perfile_reader_rewind(reader, error);
}

static void join_chain(struct pf_compat *age, struct pf_item *item)
{
    struct perfile_u64s *chain = &item->sample.callchain;
    if (chain->count < 2 || perfile_u64_at(chain, chain->count - 2) != PERFILE_CONTEXT_USER_DEFERRED)
        return;
    const uint64_t cookie = perfile_u64_at(chain, chain->count - 1), kept = chain->count - 2;
    uint64_t *words = age->capacity.words;
    uint32_t index;
    chain->count = kept;
    item->changed = true;
    if (!pf_pairs_get(&age->late, (uint32_t)item->sample.tid, cookie, &index)) {
        age->chains_cut++;
        return;
    }
    const struct pf_late_chain *late = &age->late_chains[index];
    for (uint64_t i = 0; i < kept; i++)
        words[i] = perfile_u64_at(chain, i);
    words[kept] = PERFILE_CONTEXT_USER;
    if (late->count)
        memcpy(words + kept + 1, age->late_words + late->first, late->count * sizeof(*words));
    *chain = (struct perfile_u64s){.data = (const uint8_t *)words, .count = kept + 1 + late->count};
}

/* ---- samples ---- */

static int age_sample(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_event *event = item->record->event;
    if (!event)
        return PF_EDIT_KEEP;
    const struct perfile_attr *attr = event->attr;
    const uint64_t type = attr->sample_type, young = type & age->sample_young;
    const bool counters = type & PERFILE_SAMPLE_BRANCH_STACK && age->branch_young & PERFILE_SAMPLE_BRANCH_COUNTERS;
    const bool late =
        type & PERFILE_SAMPLE_CALLCHAIN && !age->known[PERFILE_RECORD_CALLCHAIN_DEFERRED] && attr->defer_callchain;
    if (!counters && !late && !(young & (PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_WEIGHT_STRUCT)))
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    struct perfile_sample *sample = &item->sample;
    if (young & PERFILE_SAMPLE_IDENTIFIER && !(type & PERFILE_SAMPLE_ID))
        sample->id = sample->identifier;
    if (young & PERFILE_SAMPLE_WEIGHT_STRUCT)
        sample->weight &= (1ull << WEIGHT_BITS) - 1;
    if (counters && sample->branch_stack.counters.count) {
        sample->branch_stack.counters.count = 0; /* of other events in the group, too */
        item->changed = true;
    }
    if (late)
        join_chain(age, item);
    return PF_EDIT_KEEP;
}

/* ---- any record ---- */

/* perf 7.2 aborts where the size is not a multiple of 8; all versions accept multiples of 8. */
static int align(struct pf_item *item, struct perfile_error *error)
{
    if (item->record->bytes % 8 == 0)
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    item->changed = result == 0;
    return result;
}

/* The trailer of a kernel record, and the values of a READ without one. */
static int age_kernel_record(struct pf_compat *age, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_event *event = item->record->event;
    const bool read = item->record->type == PERFILE_RECORD_READ && event;
    const bool renamed =
        event && age->sample_young & PERFILE_SAMPLE_IDENTIFIER && event->attr->sample_type & PERFILE_SAMPLE_IDENTIFIER;
    if (!read && !renamed)
        return 0;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    if (renamed && item->has_id && !(event->attr->sample_type & PERFILE_SAMPLE_ID))
        item->id.id = item->id.identifier;
    if (read && event->index < age->edit->writer->event_count) {
        const uint64_t format = age->edit->writer->events[event->index].plan.read_format;
        item->changed |= item->body.read_counters.values.format != format;
        item->body.read_counters.values.format = format;
    }
    return 0;
}

int pf_compat_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_compat *age = context;
    const uint32_t type = item->record->type;
    if (type == PERFILE_RECORD_SAMPLE)
        return age_sample(age, item, error);
    if (pf_edit_describes(type))
        return PF_EDIT_KEEP;
    const bool known = type < PF_COMPAT_TYPES && age->known[type];
    if (!known && type != PERFILE_RECORD_MMAP2) /* which can be written as MMAP */
        return PF_EDIT_DROP;
    int result = type < PERFILE_RECORD_HEADER_ATTR ? age_kernel_record(age, item, error) : 0;
    if (result == 0)
        result = say_older(age, item, error);
    return result < 0 ? result : align(item, error);
}
