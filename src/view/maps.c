/* SPDX-License-Identifier: MIT */
/* Every mapping of the recording, as its records have it: nothing is looked up on this machine. */
#include "base/text.h"
#include "symbol/recorded_ids.h"
#include "view/reading.h"

enum { BUILD_ID_BYTES = 20, KERNEL_PID = -1 };

struct maps {
    struct pf_reading reading; /* first */
    struct pf_named_ids ids;
    struct perfile_sample_id id; /* of the record in hand */
    const struct perfile_record *record;
    struct perfile_mmap2 map; /* what it says; of others than MMAP2, as far as they say it */
    bool removed;
};

#define MAPS const struct maps *maps = state

static bool is_of(const struct maps *maps, uint32_t type)
{
    return maps->record->type == type;
}

static bool is_kernel(const struct maps *maps)
{
    const unsigned mode = maps->record->misc & PERFILE_MISC_CPUMODE_MASK;
    return mode == PERFILE_MISC_KERNEL || mode == PERFILE_MISC_GUEST_KERNEL || is_of(maps, PERFILE_RECORD_KSYMBOL);
}

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

PF_PUT_IF(time, MAPS, maps->id.present &PERFILE_SAMPLE_TIME && maps->id.time, pf_set_u64, maps->id.time)
PF_PUT_AS(record, MAPS, pf_set_lasting, perfile_record_name(maps->record->type))
PF_PUT_AS(pid, MAPS, pf_set_i32, maps->map.pid)
PF_PUT_IF(tid, MAPS, !(is_of(maps, PERFILE_RECORD_KSYMBOL)), pf_set_i32, maps->map.tid)
PF_PUT_AS(start, MAPS, pf_set_u64, maps->map.addr)

/* Puts the first address after the mapping; null when it ends at the last address. */
PF_PUT(end)
{
    MAPS;
    uint64_t end;
    if (pf_add(maps->map.addr, maps->map.len, &end))
        pf_set_u64(vector, end);
    else
        pf_set_null(vector);
}

PF_PUT_AS(bytes, MAPS, pf_set_u64, maps->map.len)
PF_PUT_IF(pgoff, MAPS, !(is_of(maps, PERFILE_RECORD_KSYMBOL)), pf_set_u64, maps->map.pgoff)
PF_PUT_AS(filename, MAPS, pf_set_text, maps->map.filename)

static void put_id_text(struct pf_vector *vector, const uint8_t *id, size_t bytes)
{
    char text[2 * BUILD_ID_BYTES];
    (void)pf_hex_bytes(text, id, bytes);
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, 2 * bytes));
}

/* The record's own, else what the header has for the file. */
PF_PUT(build_id)
{
    MAPS;
    const char *name = maps->map.filename;
    const struct pf_named_id *known =
        is_of(maps, PERFILE_RECORD_KSYMBOL)
            ? NULL
            : pf_named_ids_find_text(&maps->ids, pf_is_kernel_map(name) ? pf_kernel_name(name) : name);
    if (maps->map.build_id_size)
        put_id_text(vector, maps->map.build_id, pf_min(maps->map.build_id_size, BUILD_ID_BYTES));
    else if (known)
        put_id_text(vector, known->bytes, known->count);
    else
        pf_set_null(vector);
}

static void put_bits(const struct maps *maps, struct pf_vector *vector, uint32_t bits)
{
    if (is_of(maps, PERFILE_RECORD_MMAP2))
        pf_set_u32(vector, bits);
    else
        pf_set_null(vector);
}

PF_PUT(prot)
{
    MAPS;
    put_bits(maps, vector, maps->map.prot);
}

PF_PUT(flags)
{
    MAPS;
    put_bits(maps, vector, maps->map.flags);
}

PF_PUT_AS(kernel, MAPS, pf_set_bool, is_kernel(maps))
PF_PUT_AS(data, MAPS, pf_set_bool, !is_of(maps, PERFILE_RECORD_KSYMBOL) && maps->record->misc & PERFILE_MISC_MMAP_DATA)
PF_PUT_AS(removed, MAPS, pf_set_bool, maps->removed)

static const struct pf_column columns[] = {
    PF_COLUMN(time, TIME, "ns", "When it was mapped; null: before the recording, or not known."),
    PF_REQUIRED_EXTRA(record, TEXT, "", "The type of its record: MMAP, MMAP2, KSYMBOL."),
    PF_REQUIRED(pid, I32, "", "Process; -1: the kernel."),
    PF_COLUMN(tid, I32, "", "Thread that mapped it."),
    PF_REQUIRED(start, ADDRESS, "", "First address."),
    PF_COLUMN(end, ADDRESS, "", "First address after it; null: there is none."),
    PF_REQUIRED_EXTRA(bytes, BYTES, "bytes", "Its length."),
    PF_COLUMN(pgoff, ADDRESS, "",
              "Offset of the first address in the file; of the kernel, the address of the symbol in its name."),
    PF_COLUMN(filename, TEXT, "", "File, or a name in brackets; of a KSYMBOL, the symbol."),
    PF_COLUMN(build_id, TEXT, "",
              "Build id of the file, in hexadecimal: the record's own, else that of the header's table."),
    PF_COLUMN(prot, U32, "", "PROT_* bits; null: the record does not say."),
    PF_EXTRA(flags, U32, "", "MAP_* bits; null: the record does not say."),
    PF_REQUIRED_EXTRA(kernel, BOOL, "", "Code or data of the kernel."),
    PF_REQUIRED_EXTRA(data, BOOL, "", "Not executable."),
    PF_REQUIRED_EXTRA(removed, BOOL, "", "The kernel's code vanished, which KSYMBOL records report."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool decode_mmap(struct maps *maps)
{
    struct perfile_mmap map;
    if (perfile_record_decode(maps->reading.table->reader, maps->record, &map, sizeof(map), NULL) < 0)
        return false;
    maps->map = (struct perfile_mmap2){
        .pid = map.pid, .tid = map.tid, .addr = map.addr, .len = map.len, .pgoff = map.pgoff, .filename = map.filename};
    return true;
}

static bool decode_mmap2(struct maps *maps)
{
    struct perfile_mmap2 map;
    if (perfile_record_decode(maps->reading.table->reader, maps->record, &map, sizeof(map), NULL) < 0)
        return false;
    maps->map = map;
    if (!(maps->record->misc & PERFILE_MISC_MMAP_BUILD_ID))
        maps->map.build_id_size = 0;
    return true;
}

static bool decode_ksymbol(struct maps *maps)
{
    struct perfile_ksymbol symbol;
    if (perfile_record_decode(maps->reading.table->reader, maps->record, &symbol, sizeof(symbol), NULL) < 0)
        return false;
    maps->removed = symbol.flags & PERFILE_KSYMBOL_FLAGS_UNREGISTER;
    maps->map =
        (struct perfile_mmap2){.pid = KERNEL_PID, .addr = symbol.addr, .len = symbol.len, .filename = symbol.name};
    return true;
}

static bool decode(struct maps *maps)
{
    maps->removed = false;
    if (maps->record->damaged)
        return false; /* the reader counts it */
    switch (maps->record->type) {
    case PERFILE_RECORD_MMAP:
        return decode_mmap(maps);
    case PERFILE_RECORD_MMAP2:
        return decode_mmap2(maps);
    case PERFILE_RECORD_KSYMBOL:
        return decode_ksymbol(maps);
    default:
        return false;
    }
}

/* What is the kernel's, or was there before the recording, says nothing that is asked for. */
static bool passes(struct maps *maps)
{
    const int32_t pid = maps->map.pid;
    struct pf_filter_subject subject = pf_reading_subject(&maps->reading, &maps->id, NULL);
    subject.time = subject.time ? subject.time : PF_NO_TIME;
    subject.pid = pid < 0 || is_kernel(maps) ? PF_NO_NUMBER : pid;
    subject.tid = pid < 0 || is_kernel(maps) ? PF_NO_NUMBER : maps->map.tid;
    subject.comm = subject.pid == PF_NO_NUMBER ? NULL : perfile_session_comm(maps->reading.session, pid, maps->map.tid);
    return pf_reading_passes(&maps->reading, &subject);
}

static int next_map(void *state, struct perfile_error *error)
{
    struct maps *maps = state;
    int result;
    while ((result = pf_reading_next(&maps->reading, &maps->record, error)) > 0) {
        if (!decode(maps))
            continue;
        pf_reading_decode_id(&maps->reading, maps->record, &maps->id);
        if (passes(maps))
            return 1;
    }
    return result;
}

static int open_maps(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct maps *maps = state;
    const int result = pf_recorded_ids_open(&maps->ids, table->reader, table->allocator, error);
    return result < 0 ? result : pf_reading_open(&maps->reading, table, PF_BY_TIME_NO_SAMPLES, error);
}

static void close_maps(void *state)
{
    struct maps *maps = state;
    pf_named_ids_close(&maps->ids);
    pf_reading_close(&maps->reading);
}

const struct pf_view pf_view_maps = {
    .info = {"maps", "every mapping that the recording reports, in the order of time"},
    .answers = "pid,filename",
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct maps),
    .open = open_maps,
    .next = next_map,
    .close = close_maps,
    .losses = pf_reading_losses,
    .unmatched = pf_reading_unmatched,
};
