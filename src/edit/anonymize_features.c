/* SPDX-License-Identifier: MIT */
/* Header features: each has one row that states what it contains, and how that is hidden. */
#include "base/error.h"
#include "edit/anonymize.h"

bool pf_anon_append(struct pf_anonymizer *a, const void *data, size_t bytes)
{
    if (!pf_grow(a->allocator, &a->body, &a->body_capacity, a->body_bytes + bytes + 1, 1))
        return false;
    if (bytes)
        memcpy(a->body + a->body_bytes, data, bytes);
    a->body_bytes += bytes;
    return true;
}

uint64_t pf_anon_time(const struct pf_anonymizer *a, uint64_t time)
{
    enum { DOMAIN = 48 };
    if (!pf_anon_changes(a, PF_ANON_TIMES) || time == 0 || time == UINT64_MAX)
        return time;
    return time + pf_anon_number(a, DOMAIN, 0) % (1ull << 50);
}

void pf_anon_build_id(struct pf_anonymizer *a, const char *path, uint8_t build_id[20], uint8_t bytes)
{
    enum { DOMAIN = 49 };
    const enum pf_anonymize_action action = pf_anon_is_public(a, path) ? PF_ANON_KEEP : a->action[PF_ANON_BUILD_IDS];
    uint64_t made[3];
    bytes = bytes < 20 ? bytes : 20;
    memset(build_id + bytes, 0, 20u - bytes);
    pf_anon_count(a, PF_ANON_BUILD_IDS, action);
    if (action == PF_ANON_KEEP)
        return;
    for (uint8_t i = 0; i < 3; i++)
        made[i] = pf_anon_hash(a, (uint8_t)(DOMAIN + i), build_id, bytes);
    memcpy(build_id, made, bytes);
    if (action == PF_ANON_DROP)
        memset(build_id, 0, 20);
}

/* ---- features that are texts and numbers ---- */

/* A walk over the body, in whose copy the texts are written over. */
struct texts {
    struct pf_anonymizer *a;
    const uint8_t *original;
    uint8_t *copy;
    size_t bytes;
    bool swap;
    void (*change)(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity);
};

static int on_text(void *context, const struct perfile_value *value)
{
    const struct texts *t = context;
    const uintptr_t at = (uintptr_t)value->data - (uintptr_t)t->original;
    if (value->kind != PERFILE_VALUE_TEXT || at < 4 || at > t->bytes)
        return 0; /* not a text, or one that was made of numbers */
    const size_t capacity = pf_min(pf_load32(t->original + at - 4, t->swap), t->bytes - at);
    char *text = (char *)t->copy + at;
    if (capacity < value->bytes)
        return 1;
    memset(text + value->bytes, 0, capacity - value->bytes); /* the bytes after the NUL */
    if (value->bytes)
        t->change(t->a, text, value->bytes, capacity);
    return 0;
}

static int change_texts(struct pf_anonymizer *a, struct perfile_reader *reader, uint32_t number,
                        struct perfile_bytes *body,
                        void (*change)(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity))
{
    struct perfile_error ignored;
    struct pf_feature_context about = {.allocator = a->allocator, .big_endian = reader->file.big_endian};
    uint64_t cpus;
    a->body_bytes = 0;
    if (!pf_anon_append(a, body->data, (size_t)body->bytes))
        return PERFILE_ERROR_MEMORY;
    if (perfile_feature_number(reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_available", &cpus, NULL) == 0) {
        about.has_cpu_count = true;
        about.cpus_available = (uint32_t)cpus;
    }
    struct texts t = {a, body->data, a->body, (size_t)body->bytes, reader->file.swapped, change};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &t, .value = on_text};
    struct pf_emit e = {.visitor = &visitor};
    struct pf_cursor c = pf_cursor_make(body->data, (size_t)body->bytes, 0, reader->file.swapped);
    if (pf_feature_emit(number, NULL, &c, &about, &e, &ignored) < 0 || e.stopped)
        return PF_EDIT_DROP; /* damaged: its content is not known */
    memset(a->body + (c.at - c.start), 0, pf_cursor_left(&c));
    body->data = a->body;
    return PF_EDIT_KEEP;
}

/* Texts of numbers and well-known words stay. */
static void change_unless_harmless(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity)
{
    if (!pf_anon_is_harmless(a, text, bytes))
        pf_anon_name(a, text, bytes, text, capacity);
}

static void change_host(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity)
{
    pf_anon_name(a, text, bytes, text, capacity);
}

/* "6.12.74+deb13-amd64" -> "6.12.74" */
static void change_release(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity)
{
    size_t numbers = 0;
    (void)a;
    while (numbers < bytes && ((text[numbers] >= '0' && text[numbers] <= '9') || (numbers && text[numbers] == '.')))
        numbers++;
    if (numbers > 16)
        numbers = 0;
    memset(text + numbers, 0, capacity - numbers);
}

/* ---- the list of build ids ---- */

static bool put_entry(struct pf_anonymizer *a, struct perfile_reader *reader, const uint8_t *data, uint16_t bytes)
{
    struct perfile_header_build_id id;
    const struct perfile_record record = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                                          .misc = pf_load16(data + 4, reader->file.swapped),
                                          .bytes = bytes,
                                          .stated_bytes = bytes,
                                          .data = data};
    uint8_t *entry = a->list;
    struct pf_out o = pf_out_make(entry, PF_ANON_SCRATCH, reader->file.swapped);
    if (perfile_record_decode(reader, &record, &id, sizeof(id), NULL) < 0)
        return true; /* damaged, and left out */
    const bool sized = record.misc & PERFILE_MISC_BUILD_ID_SIZE;
    pf_anon_build_id(a, id.filename, id.build_id, sized ? id.build_id_size : 20);
    id.filename = pf_anon_path(a, PF_ANON_PATHS, id.filename);
    id.pid = pf_anon_pid(a, id.pid);
    if (!sized)
        id.build_id_size = 0;
    const struct pf_encoding encoding = {
        .type = record.type, .misc = record.misc, .body_bytes = PF_ENCODE_ALL, .big_endian = reader->file.big_endian};
    if (!pf_encode_record(&encoding, &id, &o))
        return true;
    memset(entry, 0, 4);
    return pf_anon_append(a, entry, pf_out_bytes_used(&o));
}

static int change_build_ids(struct pf_anonymizer *a, struct perfile_reader *reader, struct perfile_bytes *body,
                            struct perfile_error *error)
{
    const uint8_t *data = body->data;
    a->body_bytes = 0;
    for (uint64_t at = 0; body->bytes - at >= 8;) {
        const uint16_t bytes = pf_load16(data + at + 6, reader->file.swapped);
        if (bytes < 8 || bytes > body->bytes - at)
            break;
        if (!put_entry(a, reader, data + at, bytes))
            return pf_fail_memory(error, "build ids");
        at += bytes;
    }
    *body = (struct perfile_bytes){a->body, a->body_bytes};
    return a->body_bytes ? PF_EDIT_KEEP : PF_EDIT_DROP;
}

/* ---- times ---- */

static int change_times(struct pf_anonymizer *a, const struct perfile_reader *reader, struct perfile_bytes *body)
{
    uint8_t times[16];
    struct pf_out o = pf_out_make(times, sizeof(times), reader->file.swapped);
    if (body->bytes < sizeof(times))
        return PF_EDIT_DROP;
    pf_out_u64(&o, pf_anon_time(a, pf_load64(body->data, reader->file.swapped)));
    pf_out_u64(&o, pf_anon_time(a, pf_load64(body->data + 8, reader->file.swapped)));
    a->body_bytes = 0;
    if (!pf_anon_append(a, times, sizeof(times)))
        return PERFILE_ERROR_MEMORY;
    *body = (struct perfile_bytes){a->body, a->body_bytes};
    return PF_EDIT_KEEP;
}

/* ---- the table ---- */

static const struct row {
    uint32_t number;
    enum pf_anonymize_category category;
    void (*change)(struct pf_anonymizer *a, char *text, size_t bytes, size_t capacity); /* NULL: a way of its own */
} rows[] = {
    {PERFILE_FEATURE_TRACING_DATA, PF_ANON_TRACING, NULL},
    {PERFILE_FEATURE_BUILD_ID, PF_ANON_PATHS, NULL},
    {PERFILE_FEATURE_HOSTNAME, PF_ANON_HOST, change_host},
    {PERFILE_FEATURE_OSRELEASE, PF_ANON_RELEASE, change_release},
    {PERFILE_FEATURE_VERSION, PF_ANON_RELEASE, change_release},
    {PERFILE_FEATURE_ARCH, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_NRCPUS, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_CPUDESC, PF_ANON_CPU, NULL},
    {PERFILE_FEATURE_CPUID, PF_ANON_CPU, NULL},
    {PERFILE_FEATURE_TOTAL_MEM, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_CMDLINE, PF_ANON_COMMAND, NULL},
    {PERFILE_FEATURE_CPU_TOPOLOGY, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_NUMA_TOPOLOGY, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_BRANCH_STACK, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_PMU_MAPPINGS, PF_ANON_PMUS, change_unless_harmless},
    {PERFILE_FEATURE_GROUP_DESC, PF_ANON_EVENTS, change_unless_harmless},
    {PERFILE_FEATURE_STAT, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_CACHE, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_SAMPLE_TIME, PF_ANON_TIMES, NULL},
    {PERFILE_FEATURE_MEM_TOPOLOGY, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_CLOCKID, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_BPF_PROG_INFO, PF_ANON_BPF, NULL},
    {PERFILE_FEATURE_BPF_BTF, PF_ANON_BPF, NULL},
    {PERFILE_FEATURE_CPU_PMU_CAPS, PF_ANON_CPU, NULL},
    {PERFILE_FEATURE_CLOCK_DATA, PF_ANON_CLOCK, NULL},
    {PERFILE_FEATURE_HYBRID_TOPOLOGY, PF_ANON_PMUS, change_unless_harmless},
    {PERFILE_FEATURE_PMU_CAPS, PF_ANON_CPU, NULL},
    {PERFILE_FEATURE_CPU_DOMAIN_INFO, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_E_MACHINE, PF_ANON_TOPOLOGY, change_unless_harmless},
    {PERFILE_FEATURE_CLN_SIZE, PF_ANON_TOPOLOGY, change_unless_harmless},
};

static int change(struct pf_anonymizer *a, const struct row *row, struct perfile_reader *reader,
                  struct perfile_bytes *body, struct perfile_error *error)
{
    switch (row->number) {
    case PERFILE_FEATURE_TRACING_DATA:
        a->body_bytes = 0;
        return pf_anon_tracing(a, body, error);
    case PERFILE_FEATURE_BUILD_ID:
        return change_build_ids(a, reader, body, error);
    case PERFILE_FEATURE_SAMPLE_TIME:
        return change_times(a, reader, body);
    default:
        break;
    }
    if (!row->change)
        return PF_EDIT_DROP;
    int result = change_texts(a, reader, row->number, body, row->change);
    return result == PERFILE_ERROR_MEMORY ? pf_fail_memory(error, "feature") : result;
}

int pf_anon_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                    struct perfile_error *error)
{
    static const struct row unknown = {0, PF_ANON_OTHER, NULL};
    struct pf_anonymizer *a = context;
    const struct row *row = &unknown;
    for (size_t i = 0; i < PF_COUNT(rows); i++)
        if (rows[i].number == number)
            row = &rows[i];
    enum pf_anonymize_action action = a->action[row->category];
    /* these hold more than one category, each of which decides for itself */
    if (number == PERFILE_FEATURE_BUILD_ID)
        action = a->action[PF_ANON_BUILD_IDS] == PF_ANON_DROP ? PF_ANON_DROP : PF_ANON_CHANGE;
    int result = action == PF_ANON_KEEP ? PF_EDIT_KEEP : PF_EDIT_DROP;
    if (action == PF_ANON_CHANGE || (number == PERFILE_FEATURE_SAMPLE_TIME && action == PF_ANON_KEEP))
        result = change(a, row, reader, body, error);
    if (result >= 0 && number != PERFILE_FEATURE_TRACING_DATA)
        pf_anon_count(a, row->category, result == PF_EDIT_DROP ? PF_ANON_DROP : action);
    else if (result == PF_EDIT_DROP)
        pf_anon_count(a, row->category, PF_ANON_DROP);
    return result;
}
