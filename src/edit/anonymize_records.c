/* SPDX-License-Identifier: MIT */
/*
 * Records: a function for each type with content that must be hidden. All are encoded anew, so that nothing unknown
 * slips through.
 */
#include "edit/anonymize.h"

typedef int changer(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error);

enum { COMM_BYTES = 16 };

/* ---- small things ---- */

static uint64_t change_id(struct pf_anonymizer *a, uint64_t id)
{
    enum { DOMAIN = 60 };
    if (pf_anon_keeps(a, PF_ANON_CGROUPS) || id <= 1)
        return id;
    return pf_anon_changes(a, PF_ANON_CGROUPS) ? pf_anon_number(a, DOMAIN, id) >> 1 : 0;
}

static uint64_t change_inode(struct pf_anonymizer *a, uint64_t inode)
{
    enum { DOMAIN = 61 };
    if (pf_anon_keeps(a, PF_ANON_INODES) || inode == 0)
        return inode;
    return pf_anon_changes(a, PF_ANON_INODES) ? (pf_anon_number(a, DOMAIN, inode) & 0xffffffff) + 1 : 0;
}

static void change_pids(const struct pf_anonymizer *a, int32_t *pid, int32_t *tid)
{
    *pid = pf_anon_pid(a, *pid);
    *tid = pf_anon_pid(a, *tid);
}

static void change_trailer(struct pf_anonymizer *a, struct pf_item *item)
{
    struct perfile_sample_id *id = &item->id;
    change_pids(a, &id->pid, &id->tid);
    id->time = pf_anon_time(a, id->time);
    id->res = 0;
}

/* ---- samples ---- */

static void change_sample_numbers(struct pf_anonymizer *a, struct perfile_sample *s)
{
    s->ip = pf_anon_address(a, s->ip);
    s->addr = pf_anon_address(a, s->addr);
    if (!pf_anon_keeps(a, PF_ANON_ADDRESSES))
        s->phys_addr = pf_anon_physical(a, s->phys_addr);
    s->cgroup = change_id(a, s->cgroup);
    s->time = pf_anon_time(a, s->time);
    change_pids(a, &s->pid, &s->tid);
    s->res = 0;
}

static void count_part(struct pf_anonymizer *a, bool present, enum pf_anonymize_category category)
{
    if (present)
        pf_anon_count(a, category, a->action[category]);
}

static void count_parts(struct pf_anonymizer *a, const struct perfile_sample *s)
{
    count_part(a, s->regs_user.values.count || s->regs_intr.values.count, PF_ANON_REGISTERS);
    count_part(a, s->stack_user.bytes, PF_ANON_STACKS);
    count_part(a, s->aux.bytes, PF_ANON_AUX);
    count_part(a, true, PF_ANON_ADDRESSES);
    count_part(a, s->time, PF_ANON_TIMES);
    count_part(a, s->pid > 0, PF_ANON_PIDS);
}

static int change_sample(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_sample *s = &item->sample;
    (void)error;
    pf_anon_set_process(a, s->pid, item->record->misc);
    count_parts(a, s);
    if (s->callchain.count)
        pf_anon_chain(a, &s->callchain);
    if (s->branch_stack.count)
        pf_anon_branches(a, &s->branch_stack);
    if (s->raw.bytes)
        pf_anon_raw(a, item->record->event, &s->raw);
    change_sample_numbers(a, s);
    return PF_EDIT_KEEP;
}

/* ---- records of the kernel ---- */

static int change_comm(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_comm *comm = &item->body.comm;
    (void)error;
    pf_anon_comm(a, comm->comm, strlen(comm->comm), a->text, COMM_BYTES);
    comm->comm = a->text;
    change_pids(a, &comm->pid, &comm->tid);
    return PF_EDIT_KEEP;
}

static int change_mmap(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_mmap *mmap = &item->body.mmap;
    pf_anon_set_process(a, mmap->pid, item->record->misc);
    int result = pf_anon_mapping(a, item, error);
    mmap->filename = pf_anon_path(a, PF_ANON_PATHS, mmap->filename);
    change_pids(a, &mmap->pid, &mmap->tid);
    return result;
}

/* Device, inode and generation become one number: equal ones stay equal. */
static void change_file(struct pf_anonymizer *a, struct perfile_mmap2 *mmap)
{
    if (!mmap->maj && !mmap->min && !mmap->ino && !mmap->ino_generation)
        return;
    pf_anon_count(a, PF_ANON_INODES, a->action[PF_ANON_INODES]);
    if (pf_anon_keeps(a, PF_ANON_INODES))
        return;
    const uint64_t file =
        mmap->ino ^ (uint64_t)mmap->maj << 52 ^ (uint64_t)mmap->min << 32 ^ mmap->ino_generation << 20;
    mmap->ino = change_inode(a, file);
    mmap->maj = mmap->min = 0;
    mmap->ino_generation = 0;
}

static int change_mmap2(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_mmap2 *mmap = &item->body.mmap2;
    pf_anon_set_process(a, mmap->pid, item->record->misc);
    int result = pf_anon_mapping(a, item, error);
    const char *path = mmap->filename;
    mmap->filename = pf_anon_path(a, PF_ANON_PATHS, path);
    change_pids(a, &mmap->pid, &mmap->tid);
    if (item->record->misc & PERFILE_MISC_MMAP_BUILD_ID) {
        pf_anon_build_id(a, path, mmap->build_id, mmap->build_id_size);
        if (a->action[PF_ANON_BUILD_IDS] == PF_ANON_DROP && !pf_anon_is_public(a, path))
            mmap->build_id_size = 0;
    } else {
        change_file(a, mmap);
    }
    return result;
}

static int change_task(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    /* FORK and EXIT have the same fields */
    struct perfile_fork *fork = &item->body.fork;
    change_pids(a, &fork->pid, &fork->tid);
    change_pids(a, &fork->ppid, &fork->ptid);
    fork->time = pf_anon_time(a, fork->time);
    return PF_EDIT_KEEP;
}

static int change_throttle(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    item->body.throttle.time = pf_anon_time(a, item->body.throttle.time);
    return PF_EDIT_KEEP;
}

static int change_read(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    change_pids(a, &item->body.read_counters.pid, &item->body.read_counters.tid);
    return PF_EDIT_KEEP;
}

static int change_switch(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    change_pids(a, &item->body.switch_cpu_wide.next_prev_pid, &item->body.switch_cpu_wide.next_prev_tid);
    return PF_EDIT_KEEP;
}

/* A list of `count` entries of u64s, to be filled; false: it does not fit. */
static bool start_list(struct pf_anonymizer *a, uint64_t count, size_t entry_bytes, struct pf_out *o)
{
    *o = pf_out_make(a->list, PF_ANON_SCRATCH, false);
    return count <= PF_ANON_SCRATCH / entry_bytes;
}

static int change_namespaces(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_namespaces *n = &item->body.namespaces;
    struct pf_out o;
    (void)error;
    change_pids(a, &n->pid, &n->tid);
    pf_anon_count(a, PF_ANON_INODES, a->action[PF_ANON_INODES]);
    if (pf_anon_keeps(a, PF_ANON_INODES))
        return PF_EDIT_KEEP;
    if (!start_list(a, n->link_info.count, 16, &o))
        return PF_EDIT_DROP;
    for (uint64_t i = 0; i < n->link_info.count; i++) {
        struct perfile_namespace_link link;
        perfile_namespace_link_at(&n->link_info, i, &link, sizeof(link));
        pf_out_u64(&o, 0);
        pf_out_u64(&o, change_inode(a, link.ino));
    }
    n->link_info = (struct perfile_list){.data = a->list, .count = n->link_info.count};
    return PF_EDIT_KEEP;
}

static int change_ksymbol(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    pf_anon_set_process(a, -1, 1);
    int result = pf_anon_mapping(a, item, error);
    item->body.ksymbol.name = pf_anon_symbol(a, item->body.ksymbol.name);
    return result;
}

static int change_bpf_event(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    enum { DOMAIN = 62 };
    struct perfile_bpf_event *event = &item->body.bpf_event;
    (void)error;
    pf_anon_count(a, PF_ANON_BPF, pf_anon_keeps(a, PF_ANON_BPF) ? PF_ANON_KEEP : PF_ANON_CHANGE);
    if (pf_anon_keeps(a, PF_ANON_BPF))
        return PF_EDIT_KEEP;
    const uint64_t tag = pf_anon_hash(a, DOMAIN, event->tag, sizeof(event->tag));
    memcpy(event->tag, &tag, sizeof(event->tag));
    return PF_EDIT_KEEP;
}

static int change_cgroup(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    item->body.cgroup.id = change_id(a, item->body.cgroup.id);
    item->body.cgroup.path = pf_anon_path(a, PF_ANON_CGROUPS, item->body.cgroup.path);
    return PF_EDIT_KEEP;
}

static int change_deferred(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    pf_anon_set_process(a, item->id.pid, 2);
    pf_anon_chain(a, &item->body.callchain_deferred.ips);
    return PF_EDIT_KEEP;
}

/* ---- records of the recorder ---- */

static uint64_t change_wide_pid(const struct pf_anonymizer *a, uint64_t pid)
{
    return pid <= INT32_MAX ? (uint64_t)pf_anon_pid(a, (int32_t)pid) : pid;
}

static int change_id_index(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_id_index *index = &item->body.id_index;
    struct pf_out o;
    (void)error;
    if (!start_list(a, index->entries.count, 32, &o))
        return PF_EDIT_DROP;
    for (uint64_t i = 0; i < index->entries.count; i++) {
        struct perfile_id_index_entry entry;
        perfile_id_index_entry_at(&index->entries, i, &entry, sizeof(entry));
        pf_out_u64(&o, entry.id);
        pf_out_u64(&o, entry.idx);
        pf_out_u64(&o, entry.cpu);
        pf_out_u64(&o, change_wide_pid(a, entry.tid));
    }
    index->entries = (struct perfile_list){.data = a->list, .count = index->entries.count};
    return PF_EDIT_KEEP;
}

static int change_thread_map(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_thread_map *map = &item->body.thread_map;
    struct pf_out o;
    (void)error;
    if (!start_list(a, map->entries.count, 8 + COMM_BYTES, &o))
        return PF_EDIT_DROP;
    for (uint64_t i = 0; i < map->entries.count; i++) {
        struct perfile_thread_map_entry entry;
        char comm[COMM_BYTES];
        perfile_thread_map_entry_at(&map->entries, i, &entry, sizeof(entry));
        pf_anon_comm(a, entry.comm, pf_text_length(entry.comm, COMM_BYTES), comm, sizeof(comm));
        pf_out_u64(&o, change_wide_pid(a, entry.pid));
        pf_out_put(&o, comm, sizeof(comm));
    }
    map->entries = (struct perfile_list){.data = a->list, .count = map->entries.count};
    return PF_EDIT_KEEP;
}

static int change_update(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_event_update *update = &item->body.event_update;
    const bool announces = false; /* this very record does */
    int result = 0;
    if (update->update_type == PERFILE_EVENT_UPDATE_NAME) {
        result = pf_writer_follow_names(a->edit->writer, a->edit->reader, announces, error);
        update->name = pf_anon_event_name(a, update->name);
    }
    if (update->update_type == PERFILE_EVENT_UPDATE_UNIT && update->unit &&
        !pf_anon_is_harmless(a, update->unit, strlen(update->unit))) {
        pf_anon_name(a, update->unit, strlen(update->unit), a->unit, sizeof(a->unit));
        update->unit = a->unit;
        pf_anon_count(a, PF_ANON_EVENTS, PF_ANON_CHANGE);
    }
    return result;
}

static int change_time_conv(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    if (pf_anon_changes(a, PF_ANON_TIMES))
        item->body.time_conv.time_zero = pf_anon_time(a, item->body.time_conv.time_zero);
    return PF_EDIT_KEEP;
}

/* ---- simpleperf ---- */

static int change_dso(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    item->body.simpleperf_dso.name = pf_anon_path(a, PF_ANON_PATHS, item->body.simpleperf_dso.name);
    return PF_EDIT_KEEP;
}

static int change_symbol(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)error;
    item->body.simpleperf_symbol.name = pf_anon_symbol(a, item->body.simpleperf_symbol.name);
    return PF_EDIT_KEEP;
}

/* Stack pointers belong to nothing that could be named: they go. */
static int change_unwound(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    struct perfile_simpleperf_callchain *chain = &item->body.simpleperf_callchain;
    (void)error;
    pf_anon_set_process(a, chain->pid, 2);
    pf_anon_chain(a, &chain->ips);
    if (!pf_anon_keeps(a, PF_ANON_ADDRESSES)) {
        memset(a->branches, 0, PF_ANON_SCRATCH);
        if (chain->sps.count > PF_ANON_SCRATCH / 8)
            return PF_EDIT_DROP;
        chain->sps = (struct perfile_u64s){.data = a->branches, .count = chain->sps.count};
    }
    change_pids(a, &chain->pid, &chain->tid);
    chain->time = pf_anon_time(a, chain->time);
    return PF_EDIT_KEEP;
}

/* ---- by type ---- */

/* For records that contain only numbers of events, CPUs and counts. */
static int change_nothing(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    (void)a, (void)item, (void)error;
    return PF_EDIT_KEEP;
}

static const struct row {
    uint32_t type;
    changer *change; /* NULL: it is left out, unless the category stays as it is */
    enum pf_anonymize_category category;
} rows[] = {
    {PERFILE_RECORD_MMAP, change_mmap, 0},
    {PERFILE_RECORD_LOST, change_nothing, 0},
    {PERFILE_RECORD_COMM, change_comm, 0},
    {PERFILE_RECORD_EXIT, change_task, 0},
    {PERFILE_RECORD_THROTTLE, change_throttle, 0},
    {PERFILE_RECORD_UNTHROTTLE, change_throttle, 0},
    {PERFILE_RECORD_FORK, change_task, 0},
    {PERFILE_RECORD_READ, change_read, 0},
    {PERFILE_RECORD_SAMPLE, change_sample, 0},
    {PERFILE_RECORD_MMAP2, change_mmap2, 0},
    {PERFILE_RECORD_AUX, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_ITRACE_START, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_LOST_SAMPLES, change_nothing, 0},
    {PERFILE_RECORD_SWITCH, change_nothing, 0},
    {PERFILE_RECORD_SWITCH_CPU_WIDE, change_switch, 0},
    {PERFILE_RECORD_NAMESPACES, change_namespaces, 0},
    {PERFILE_RECORD_KSYMBOL, change_ksymbol, 0},
    {PERFILE_RECORD_BPF_EVENT, change_bpf_event, 0},
    {PERFILE_RECORD_CGROUP, change_cgroup, 0},
    {PERFILE_RECORD_TEXT_POKE, NULL, PF_ANON_CODE},
    {PERFILE_RECORD_AUX_OUTPUT_HW_ID, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_CALLCHAIN_DEFERRED, change_deferred, 0},
    {PERFILE_RECORD_FINISHED_ROUND, change_nothing, 0},
    {PERFILE_RECORD_ID_INDEX, change_id_index, 0},
    {PERFILE_RECORD_AUXTRACE_INFO, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_AUXTRACE, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_AUXTRACE_ERROR, NULL, PF_ANON_AUX},
    {PERFILE_RECORD_THREAD_MAP, change_thread_map, 0},
    {PERFILE_RECORD_CPU_MAP, change_nothing, 0},
    {PERFILE_RECORD_STAT_CONFIG, change_nothing, 0},
    {PERFILE_RECORD_STAT, change_nothing, 0},
    {PERFILE_RECORD_STAT_ROUND, change_nothing, 0},
    {PERFILE_RECORD_EVENT_UPDATE, change_update, 0},
    {PERFILE_RECORD_TIME_CONV, change_time_conv, 0},
    {PERFILE_RECORD_FINISHED_INIT, change_nothing, 0},
    {PERFILE_RECORD_BPF_METADATA, NULL, PF_ANON_BPF},
    {PERFILE_RECORD_SCHEDSTAT_CPU, change_nothing, 0},
    {PERFILE_RECORD_SCHEDSTAT_DOMAIN, change_nothing, 0},
    {PERFILE_RECORD_SIMPLEPERF_DSO, change_dso, 0},
    {PERFILE_RECORD_SIMPLEPERF_SYMBOL, change_symbol, 0},
    {PERFILE_RECORD_SIMPLEPERF_EVENT_ID, change_nothing, 0},
    {PERFILE_RECORD_SIMPLEPERF_CALLCHAIN, change_unwound, 0},
};

static const struct row *row_of(uint32_t type)
{
    static const struct row unknown = {0, NULL, PF_ANON_OTHER};
    for (size_t i = 0; i < PF_COUNT(rows); i++)
        if (rows[i].type == type)
            return &rows[i];
    return &unknown;
}

int pf_anon_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_anonymizer *a = context;
    const uint32_t type = item->record->type;
    const struct row *row = row_of(type);
    if (pf_edit_describes(type))
        return PF_EDIT_KEEP; /* it goes through the functions for events and features */
    if (!row->change) {
        pf_anon_count(a, row->category, a->action[row->category]);
        return pf_anon_keeps(a, row->category) ? PF_EDIT_KEEP : PF_EDIT_DROP;
    }
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    item->changed = true;
    result = row->change(a, item, error);
    if (item->has_id)
        change_trailer(a, item);
    return result;
}
