/* SPDX-License-Identifier: MIT */
/* The records between the samples: what later lines need of them, and their own lines. */
#include "output/script/script.h"

/* ---- heads ------------------------------------------------------------------------------------------------------- */

struct owner {
    int32_t pid, tid;
};

/* Records without a trailer get what the record itself says, and processor 0. */
static void fill_sample(struct pf_script *script, const struct perfile_record *record, struct owner owner,
                        uint64_t time)
{
    struct perfile_sample *sample = &script->item.sample;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    *sample = (struct perfile_sample){.size = sizeof(*sample), .pid = owner.pid, .tid = owner.tid, .time = time};
    if (!script->plan->event->attr->sample_id_all)
        return;
    if (perfile_sample_id_decode(script->reader, record, &id, NULL) == 0) {
        sample->pid = id.pid;
        sample->tid = id.tid;
        sample->time = id.time;
        sample->cpu = id.cpu;
        script->item.id = id.present & PERFILE_SAMPLE_IDENTIFIER ? id.identifier : id.id;
    }
    pf_delivered_fill_absent(sample, script->plan->event->attr->sample_type);
}

/* The head of a line, in the fields of the record's event; false when the line is not wanted. */
static bool begin(struct pf_script *script, const struct perfile_record *record, const struct owner *owner,
                  uint64_t time)
{
    const struct perfile_event *event = record->event ? record->event : perfile_event_get(script->reader, 0);
    if (!event || !(script->plan = pf_script_plan(script, event)))
        return false;
    script->item.id = 0;
    fill_sample(script, record, owner ? *owner : (struct owner){0, 0}, time);
    struct owner thread = owner ? *owner : (struct owner){script->item.sample.pid, script->item.sample.tid};
    const bool no_cpu = event->attr->sample_id_all && !(event->attr->sample_type & PERFILE_SAMPLE_CPU);
    if (!pf_filter_cpu(pf_delivery_filter(script->delivery), no_cpu ? PF_NO_NUMBER : (int32_t)script->item.sample.cpu))
        return false;
    script->item.comm = perfile_session_comm(script->session, thread.pid, thread.tid);
    pf_script_put_head(script);
    pf_put_format(script->out, "PERF_RECORD_%s", perfile_record_name(record->type));
    return true;
}

/* ---- one function a record --------------------------------------------------------------------------------------- */

/* A decoded record of any of the types below. */
union body {
    struct perfile_mmap mmap;
    struct perfile_mmap2 mmap2;
    struct perfile_comm comm;
    struct perfile_fork fork;
    struct perfile_exit exit;
    struct perfile_lost lost;
    struct perfile_switch_cpu_wide wide;
    struct perfile_namespaces namespaces;
    struct perfile_ksymbol ksymbol;
    struct perfile_bpf_event bpf_event;
    struct perfile_cgroup cgroup;
    struct perfile_text_poke text_poke;
    struct perfile_auxtrace_error auxtrace_error;
    struct perfile_bpf_metadata bpf_metadata;
};

typedef void put_body(struct pf_script *script, const struct perfile_record *record, const union body *body);

#define PUT(...) pf_put_format(script->out, __VA_ARGS__)

/* File names may be longer than a format line. */
static void put_name(struct pf_script *script, const char *name)
{
    pf_put_name(script->out, name ? name : "");
}

static void put_comm(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_comm *comm = &body->comm;
    if (!begin(script, record, &(struct owner){comm->pid, comm->tid}, 0))
        return;
    PUT("%s: ", record->misc & PERFILE_MISC_COMM_EXEC ? " exec" : "");
    put_name(script, comm->comm);
    PUT(":%d/%d\n", comm->pid, comm->tid);
}

static void put_fork(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_fork *fork = &body->fork; /* EXIT is laid out alike, see the assertion */
    if (begin(script, record, &(struct owner){fork->pid, fork->tid}, fork->time))
        PUT("(%d:%d):(%d:%d)\n", fork->pid, fork->tid, fork->ppid, fork->ptid);
}
_Static_assert(sizeof(struct perfile_fork) == sizeof(struct perfile_exit) &&
                   offsetof(struct perfile_fork, ptid) == offsetof(struct perfile_exit, ptid) &&
                   offsetof(struct perfile_fork, tid) == offsetof(struct perfile_exit, tid),
               "put_fork prints both");

static void put_mmap(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_mmap *map = &body->mmap;
    if (!begin(script, record, &(struct owner){map->pid, map->tid}, 0))
        return;
    PUT(" %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 "]: %c ", map->pid, map->tid, map->addr, map->len, map->pgoff,
        record->misc & PERFILE_MISC_MMAP_DATA ? 'r' : 'x');
    put_name(script, map->filename);
    PUT("\n");
}

static void put_file_identity(struct pf_script *script, const struct perfile_record *record,
                              const struct perfile_mmap2 *map)
{
    if (!(record->misc & PERFILE_MISC_MMAP_BUILD_ID)) {
        PUT("%02x:%02x %" PRIu64 " %" PRIu64, map->maj, map->min, map->ino, map->ino_generation);
        return;
    }
    PUT("<");
    pf_put_hex_bytes(script->out, map->build_id, pf_min(map->build_id_size, sizeof(map->build_id)));
    PUT(">");
}

static void put_mmap2(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_mmap2 *map = &body->mmap2;
    if (!begin(script, record, &(struct owner){map->pid, map->tid}, 0))
        return;
    PUT(" %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 " ", map->pid, map->tid, map->addr, map->len, map->pgoff);
    put_file_identity(script, record, map);
    PUT("]: %c%c%c%c ", map->prot & 1 ? 'r' : '-', map->prot & 2 ? 'w' : '-', map->prot & 4 ? 'x' : '-',
        map->flags & 1 ? 's' : 'p'); /* PROT_READ, _WRITE, _EXEC; MAP_SHARED */
    put_name(script, map->filename);
    PUT("\n");
}

static void put_lost(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    if (begin(script, record, NULL, 0))
        PUT(" lost %" PRIu64 "\n", body->lost.lost);
}

static const char *switch_direction(const struct perfile_record *record)
{
    if (!(record->misc & PERFILE_MISC_SWITCH_OUT))
        return "IN         ";
    return record->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" : "OUT        ";
}

static void put_switch(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    (void)body;
    if (begin(script, record, NULL, 0))
        PUT(" %s\n", switch_direction(record));
}

static void put_switch_cpu_wide(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    if (!begin(script, record, NULL, 0))
        return;
    PUT(" %s  %s pid/tid: %5d/%-5d\n", switch_direction(record),
        record->misc & PERFILE_MISC_SWITCH_OUT ? "next" : "prev", body->wide.next_prev_pid, body->wide.next_prev_tid);
}

static void put_namespaces(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    const struct perfile_namespaces *spaces = &body->namespaces;
    uint64_t count = spaces->link_info.count;
    if (!begin(script, record, &(struct owner){spaces->pid, spaces->tid}, 0))
        return;
    PUT(" %d/%d - nr_namespaces: %" PRIu64 "\n\t\t[", spaces->pid, spaces->tid, count);
    for (uint64_t i = 0; i < count; i++) {
        struct perfile_namespace_link link;
        perfile_namespace_link_at(&spaces->link_info, i, &link, sizeof(link));
        PUT("%s%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s", i && i % 4 == 0 ? "\n\t\t " : "", i,
            i < PF_COUNT(names) ? names[i] : "unknown", link.dev, link.ino, i + 1 < count ? ", " : "]\n");
    }
}

static void put_ksymbol(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_ksymbol *symbol = &body->ksymbol;
    if (!begin(script, record, NULL, 0))
        return;
    PUT(" addr %" PRIx64 " len %u type %u flags 0x%x name ", symbol->addr, symbol->len, symbol->ksym_type,
        symbol->flags);
    put_name(script, symbol->name);
    PUT("\n");
}

static void put_bpf_event(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_bpf_event *bpf = &body->bpf_event;
    if (begin(script, record, NULL, 0))
        PUT(" type %u, flags %u, id %u\n", bpf->bpf_type, bpf->flags, bpf->id);
}

static void put_cgroup(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    if (!begin(script, record, NULL, 0))
        return;
    PUT(" cgroup: %" PRIu64 " ", body->cgroup.id);
    put_name(script, body->cgroup.path);
    PUT("\n");
}

static void put_code(struct pf_script *script, const char *when, const uint8_t *code, uint16_t bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        if (i % 16 == 0)
            PUT("            %s bytes:", when);
        PUT(" %02x%s", code[i], i % 16 == 15 || i + 1 == bytes ? "\n" : "");
    }
}

static void put_text_poke(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_text_poke *poke = &body->text_poke;
    if (!begin(script, record, NULL, 0))
        return;
    PUT(" %" PRIx64 " ", poke->addr);
    /* in streams the build ids, which identify the files, may still come */
    if (script->pipe ? script->symbols != NULL : pf_script_open_symbols(script))
        pf_script_put_function(script, script->out, perfile_session_space(script->session, PF_KERNEL_PID), poke->addr);
    PUT(" old len %u new len %u\n", poke->old_len, poke->new_len);
    put_code(script, "Old", poke->old_bytes, poke->old_len);
    put_code(script, "New", poke->new_bytes, poke->new_len);
}

static void put_round(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    (void)record;
    (void)body;
    pf_put_string(script->out, "PERF_RECORD_FINISHED_ROUND\n");
}

static void put_auxtrace_error(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    const struct perfile_auxtrace_error *error = &body->auxtrace_error;
    (void)record;
    PUT(" %s error type %u time ", error->error_type == 1 ? "instruction trace" : "unknown AUX", error->error_type);
    if (error->fmt && error->time)
        PUT("%" PRIu64 ".%09" PRIu64, error->time / 1000000000, error->time % 1000000000);
    else
        PUT("0");
    if (error->fmt >= 2 && error->machine_pid)
        PUT(" machine_pid %u vcpu %u", error->machine_pid, error->vcpu);
    PUT(" cpu %d pid %d tid %d ip %#" PRIx64 " code %u: ", error->cpu, error->pid, error->tid, error->ip, error->code);
    put_name(script, error->msg);
    PUT("\n");
}

static void put_bpf_metadata(struct pf_script *script, const struct perfile_record *record, const union body *body)
{
    enum { KEY_WIDTH = 20 };
    const struct perfile_bpf_metadata *metadata = &body->bpf_metadata;
    (void)record;
    PUT("PERF_RECORD_BPF_METADATA prog ");
    put_name(script, metadata->prog_name);
    PUT("\n");
    for (uint64_t i = 0; i < metadata->entries.count; i++) {
        struct perfile_bpf_metadata_entry entry;
        perfile_bpf_metadata_entry_at(&metadata->entries, i, &entry, sizeof(entry));
        PUT("  entry %" PRIu64 ": %*s", i, (int)(KEY_WIDTH - pf_min(strlen(entry.key), KEY_WIDTH)), "");
        put_name(script, entry.key);
        PUT(" = ");
        put_name(script, entry.value);
        PUT("\n");
    }
}

#define SHOW_ALWAYS (1u << 31)

static const struct {
    uint32_t type;
    unsigned show;
    size_t bytes; /* of the decoded struct; 0: nothing to decode */
    put_body *put;
} lines[] = {
    {PERFILE_RECORD_MMAP, PERFILE_SHOW_MMAP, sizeof(struct perfile_mmap), put_mmap},
    {PERFILE_RECORD_LOST, PERFILE_SHOW_LOST, sizeof(struct perfile_lost), put_lost},
    {PERFILE_RECORD_COMM, PERFILE_SHOW_TASK, sizeof(struct perfile_comm), put_comm},
    {PERFILE_RECORD_EXIT, PERFILE_SHOW_TASK, sizeof(struct perfile_exit), put_fork},
    {PERFILE_RECORD_FORK, PERFILE_SHOW_TASK, sizeof(struct perfile_fork), put_fork},
    {PERFILE_RECORD_MMAP2, PERFILE_SHOW_MMAP, sizeof(struct perfile_mmap2), put_mmap2},
    {PERFILE_RECORD_SWITCH, PERFILE_SHOW_SWITCH, 0, put_switch},
    {PERFILE_RECORD_SWITCH_CPU_WIDE, PERFILE_SHOW_SWITCH, sizeof(struct perfile_switch_cpu_wide), put_switch_cpu_wide},
    {PERFILE_RECORD_NAMESPACES, PERFILE_SHOW_NAMESPACE, sizeof(struct perfile_namespaces), put_namespaces},
    {PERFILE_RECORD_KSYMBOL, PERFILE_SHOW_BPF, sizeof(struct perfile_ksymbol), put_ksymbol},
    {PERFILE_RECORD_BPF_EVENT, PERFILE_SHOW_BPF, sizeof(struct perfile_bpf_event), put_bpf_event},
    {PERFILE_RECORD_CGROUP, PERFILE_SHOW_CGROUP, sizeof(struct perfile_cgroup), put_cgroup},
    {PERFILE_RECORD_TEXT_POKE, PERFILE_SHOW_TEXT_POKE, sizeof(struct perfile_text_poke), put_text_poke},
    {PERFILE_RECORD_FINISHED_ROUND, PERFILE_SHOW_ROUND, 0, put_round},
    {PERFILE_RECORD_BPF_METADATA, PERFILE_SHOW_BPF, sizeof(struct perfile_bpf_metadata), put_bpf_metadata},
    {PERFILE_RECORD_AUXTRACE_ERROR, SHOW_ALWAYS, sizeof(struct perfile_auxtrace_error), put_auxtrace_error},
};

static void put_line(struct pf_script *script, const struct perfile_record *record)
{
    union body body;
    for (size_t i = 0; i < PF_COUNT(lines); i++) {
        if (lines[i].type != record->type || !(lines[i].show & (script->options->script->show | SHOW_ALWAYS)))
            continue;
        if (!lines[i].bytes || perfile_record_decode(script->reader, record, &body, lines[i].bytes, NULL) == 0)
            lines[i].put(script, record, &body);
        return;
    }
}

/* ---- what later lines need --------------------------------------------------------------------------------------- */

static bool keep_guest(struct pf_script *script, uint64_t id, const struct perfile_id_index_guest *guest)
{
    if (!guest->machine_pid)
        return true;
    if (!pf_grow(script->out->allocator, &script->guests, &script->guest_capacity, script->guest_count + 1,
                 sizeof(*script->guests)) ||
        !pf_map_put(&script->guest_index, id, script->guest_count))
        return false;
    script->guests[script->guest_count++] =
        (struct pf_script_guest){(uint32_t)guest->machine_pid, (uint32_t)guest->vcpu};
    return true;
}

static void keep_guests(struct pf_script *script, const struct perfile_record *record)
{
    struct perfile_id_index index;
    if (perfile_record_decode(script->reader, record, &index, sizeof(index), NULL) < 0)
        return;
    for (uint64_t i = 0; i < pf_min(index.entries.count, index.guests.count); i++) {
        struct perfile_id_index_entry entry;
        struct perfile_id_index_guest guest;
        perfile_id_index_entry_at(&index.entries, i, &entry, sizeof(entry));
        perfile_id_index_guest_at(&index.guests, i, &guest, sizeof(guest));
        if (!keep_guest(script, entry.id, &guest)) {
            pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
            return;
        }
    }
}

const struct pf_script_guest *pf_script_guest(const struct pf_script *script)
{
    uint64_t index;
    return pf_map_get(&script->guest_index, script->item.id, &index) ? &script->guests[index] : NULL;
}

/* What is kept or printed of a record whether or not it is asked for. */
static const struct {
    uint32_t type;
    void (*take)(struct pf_script *script, const struct perfile_record *record);
} takers[] = {
    {PERFILE_RECORD_ID_INDEX, keep_guests},
    {PERFILE_RECORD_CPU_MAP, pf_script_stat_record},
    {PERFILE_RECORD_THREAD_MAP, pf_script_stat_record},
    {PERFILE_RECORD_STAT_CONFIG, pf_script_stat_record},
    {PERFILE_RECORD_STAT, pf_script_stat_record},
    {PERFILE_RECORD_STAT_ROUND, pf_script_stat_record},
};

void pf_script_record(struct pf_script *script, const struct perfile_record *record)
{
    if (record->damaged)
        return;
    for (size_t i = 0; i < PF_COUNT(takers); i++)
        if (takers[i].type == record->type)
            takers[i].take(script, record);
    put_line(script, record);
}
