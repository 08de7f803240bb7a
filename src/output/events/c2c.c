/* SPDX-License-Identifier: MIT */
/* The text of `perf c2c report --stdio`: its sections, columns and widths. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/events/lines.h"
#include "output/output.h"

#define OF(id) (1ull << PF_ACCESS_##id)

static uint64_t sum_of(const struct pf_access_sums *sums, uint64_t which)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PF_ACCESS_COUNT; i++)
        sum += which >> i & 1 ? sums->of[i] : 0;
    return sum;
}

static void put_title(struct pf_text *out, const char *title)
{
    static const char rule[] = "=================================================\n";
    pf_put_string(out, rule);
    pf_put_string(out, title);
    pf_put_char(out, '\n');
    pf_put_string(out, rule);
}

/* ---- the sums ---------------------------------------------------------------------------------------------------- */

static void put_count(struct pf_text *out, const char *name, uint64_t count)
{
    pf_put_format(out, "  %-33s : %10" PRIu64 "\n", name, count);
}

static void put_counts(struct pf_text *out, const struct pf_access_sums *sums)
{
    static const struct {
        const char *name;
        uint64_t which;
    } rows[] = {
        {"Locked Load/Store Operations", OF(locked)},
        {"Load Operations", OF(loads)},
        {"Loads - uncacheable", OF(load_uncached)},
        {"Loads - IO", OF(load_io)},
        {"Loads - Miss", OF(load_miss)},
        {"Loads - no mapping", OF(load_no_address)},
        {"Load Fill Buffer Hit", OF(fill_buffer)},
        {"Load L1D hit", OF(l1_hit)},
        {"Load L2D hit", OF(l2_hit)},
        {"Load LLC hit", OF(llc_hit) | OF(local_hitm)},
        {"Load Local HITM", OF(local_hitm)},
        {"Load Remote HITM", OF(remote_hitm)},
        {"Load Remote HIT", OF(remote_hit)},
        {"Load Local DRAM", OF(local_dram)},
        {"Load Remote DRAM", OF(remote_dram)},
        {"Load MESI State Exclusive", OF(dram_exclusive)},
        {"Load MESI State Shared", OF(dram_shared)},
        {"Load LLC Misses", OF(local_dram) | OF(remote_dram) | OF(remote_hit) | OF(remote_hitm)},
        {"Load access blocked by data", OF(blocked_data)},
        {"Load access blocked by address", OF(blocked_address)},
        {"Load HIT Local Peer", OF(local_peer)},
        {"Load HIT Remote Peer", OF(remote_peer)},
    };
    for (size_t i = 0; i < PF_COUNT(rows); i++)
        put_count(out, rows[i].name, sum_of(sums, rows[i].which));
}

static void put_miss(struct pf_text *out, const char *name, uint64_t count, uint64_t all)
{
    pf_put_format(out, "  %-33s : %10.1f%%\n", name, all ? 100 * (double)count / (double)all : 0.0);
}

static void put_sums(struct pf_text *out, const struct pf_lines *lines)
{
    const struct pf_access_sums *sums = &lines->sums;
    const uint64_t misses = pf_access_llc_misses(sums);
    put_title(out, "            Trace Event Information              ");
    put_count(out, "Total records", sums->samples);
    put_counts(out, sums);
    put_miss(out, "LLC Misses to Local DRAM", sums->of[PF_ACCESS_local_dram], misses);
    put_miss(out, "LLC Misses to Remote DRAM", sums->of[PF_ACCESS_remote_dram], misses);
    put_miss(out, "LLC Misses to Remote cache (HIT)", sums->of[PF_ACCESS_remote_hit], misses);
    put_miss(out, "LLC Misses to Remote cache (HITM)", sums->of[PF_ACCESS_remote_hitm], misses);
    put_count(out, "Store Operations", sums->of[PF_ACCESS_stores]);
    put_count(out, "Store - uncacheable", sums->of[PF_ACCESS_store_uncached]);
    put_count(out, "Store - no mapping", sums->of[PF_ACCESS_store_no_address]);
    put_count(out, "Store L1D Hit", sums->of[PF_ACCESS_store_l1_hit]);
    put_count(out, "Store L1D Miss", sums->of[PF_ACCESS_store_l1_miss]);
    put_count(out, "Store No available memory level", sums->of[PF_ACCESS_store_no_level]);
    put_count(out, "No Page Map Rejects", lines->unmapped);
    put_count(out, "Unable to parse data source", lines->not_parsed);
}

/* Lines that other caches had an interest in. */
static uint64_t add_shared(const struct pf_lines *lines, struct pf_access_sums *sums)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lines->line_count; i++) {
        const struct pf_access_sums *line = &lines->lines[i]->sums;
        if (!pf_access_hitm(line) && !pf_access_peer(line))
            continue;
        count++;
        for (size_t k = 0; k < PF_ACCESS_COUNT; k++)
            sums->of[k] += line->of[k];
    }
    return count;
}

static void put_shared(struct pf_text *out, const struct pf_lines *lines)
{
    static const struct {
        const char *name;
        uint64_t which;
    } rows[] = {
        {"Load HITs on shared lines", OF(loads)},
        {"Fill Buffer Hits on shared lines", OF(fill_buffer)},
        {"L1D hits on shared lines", OF(l1_hit)},
        {"L2D hits on shared lines", OF(l2_hit)},
        {"LLC hits on shared lines", OF(llc_hit) | OF(local_hitm)},
        {"Load hits on peer cache or nodes", OF(local_peer) | OF(remote_peer)},
        {"Locked Access on shared lines", OF(locked)},
        {"Blocked Access on shared lines", OF(blocked_data) | OF(blocked_address)},
        {"Store HITs on shared lines", OF(stores)},
        {"Store L1D hits on shared lines", OF(store_l1_hit)},
        {"Store No available memory level", OF(store_no_level)},
        {"Total Merged records", OF(local_hitm) | OF(remote_hitm) | OF(stores)},
    };
    struct pf_access_sums sums = {.samples = 0};
    const uint64_t count = add_shared(lines, &sums);
    pf_put_char(out, '\n');
    put_title(out, "    Global Shared Cache Line Event Information   ");
    put_count(out, "Total Shared Cache Lines", count);
    for (size_t i = 0; i < PF_COUNT(rows); i++)
        put_count(out, rows[i].name, sum_of(&sums, rows[i].which));
}

static void put_details(struct pf_text *out, const struct pf_lines *lines)
{
    static const char *const orders[] = {"Total HITMs", "Local HITMs", "Remote HITMs", "Peer Snoop"};
    static const char *const parts[] = {",pid", ",tid", ",iaddr", ",dso"};
    const char *label = "Events";
    pf_put_char(out, '\n');
    put_title(out, "                 c2c details                     ");
    for (size_t i = 0; i < perfile_event_count(lines->reader); i++, label = "") {
        pf_put_format(out, "  %-33s : ", label);
        pf_put_name(out, perfile_event_get(lines->reader, i)->name);
        pf_put_char(out, '\n');
    }
    pf_put_format(out, "  %-33s : %s\n", "Cachelines sort on", orders[lines->order]);
    pf_put_format(out, "  %-33s : offset", "Cacheline data grouping");
    for (size_t i = 0; i < PF_COUNT(parts); i++)
        pf_put_string(out, lines->by >> i & 1 ? parts[i] : "");
    pf_put_char(out, '\n');
}

/* ---- the lines --------------------------------------------------------------------------------------------------- */

/* perf leaves out what has less than a thousandth, if it is not asked for all. */
static size_t count_shown(const struct pf_lines *lines, bool each, uint64_t *all)
{
    size_t count = 0;
    *all = pf_lines_score(lines, &lines->sums);
    if (each)
        return lines->line_count;
    while (count < lines->line_count) {
        const uint64_t score = pf_lines_score(lines, &lines->lines[count]->sums);
        if (!score || (double)score < (double)*all / 1000)
            break;
        count++;
    }
    return count;
}

static void put_line(struct pf_text *out, const struct pf_lines *lines, size_t index, uint64_t all)
{
    static const uint64_t hitms[] = {OF(local_hitm) | OF(remote_hitm), OF(local_hitm), OF(remote_hitm)};
    static const uint64_t peers[] = {OF(local_peer) | OF(remote_peer), OF(local_peer), OF(remote_peer)};
    static const struct {
        uint64_t which;
        int width;
    } rest[] = {{OF(stores), 7},      {OF(store_l1_hit), 7}, {OF(store_l1_miss), 7}, {OF(store_no_level), 7},
                {OF(fill_buffer), 7}, {OF(l1_hit), 7},       {OF(l2_hit), 7},        {OF(llc_hit), 8},
                {OF(local_hitm), 7},  {OF(remote_hit), 8},   {OF(remote_hitm), 7},   {OF(local_dram), 8},
                {OF(remote_dram), 8}};
    const uint64_t stored = OF(store_l1_hit) | OF(store_l1_miss) | OF(store_no_level);
    const struct pf_line *line = lines->lines[index];
    char address[24];
    snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
    pf_put_format(out, "  %5zu  %18s  %4s  %6u  %6.2f%%", index, address, "N/A", 0u,
                  all ? 100 * (double)pf_lines_score(lines, &line->sums) / (double)all : 0.0);
    for (size_t i = 0; i < PF_COUNT(hitms); i++)
        pf_put_format(out, "  %7" PRIu64, sum_of(&line->sums, (lines->order == PF_LINES_BY_PEER ? peers : hitms)[i]));
    /* As perf counts loads here: all accesses with a known address that are not stores. */
    pf_put_format(out, "  %7" PRIu64 "  %7" PRIu64, pf_access_records(&line->sums),
                  pf_access_records(&line->sums) - sum_of(&line->sums, stored));
    for (size_t i = 0; i < PF_COUNT(rest); i++)
        pf_put_format(out, "  %*" PRIu64, rest[i].width, sum_of(&line->sums, rest[i].which));
    pf_put_char(out, '\n');
}

static void put_table(struct pf_text *out, const struct pf_lines *lines, size_t shown, uint64_t all)
{
    static const struct {
        const char *over, *total, *name, *group;
    } heads[] = {
        {"     Tot", "    Hitm", "  LclHitm  RmtHitm", "Hitm"},
        {"     Lcl", "    Hitm", "  LclHitm  RmtHitm", "Hitm"},
        {"     Rmt", "    Hitm", "  LclHitm  RmtHitm", "Hitm"},
        {"    Peer", "   Snoop", "    Local   Remote", "Peer"},
    };
    pf_put_char(out, '\n');
    put_title(out, "           Shared Data Cache Line Table          ");
    pf_put_format(
        out,
        "#\n#        %s %s  ------- Load %s -------    Total    Total    Total  "
        "--------- Stores --------  ----- Core Load Hit -----  - LLC Load Hit --  - RMT Load Hit --  --- Load "
        "Dram ----\n",
        lines->doubled ? "------- Double-Cacheline -------" : "----------- Cacheline ----------",
        heads[lines->order].over, heads[lines->order].group);
    pf_put_format(
        out,
        "# Index             Address  Node  PA cnt %s    Total%s  records    Loads   Stores    L1Hit   L1Miss    "
        "  N/A       FB       L1       L2    LclHit  LclHitm    RmtHit  RmtHitm       Lcl       Rmt\n",
        heads[lines->order].total, heads[lines->order].name);
    pf_put_string(out,
                  "# .....  ..................  ....  ......  .......  .......  .......  .......  .......  .......  "
                  ".......  .......  .......  .......  .......  .......  .......  ........  .......  ........  "
                  ".......  ........  ........\n#\n");
    for (size_t i = 0; i < shown; i++)
        put_line(out, lines, i, all);
}

/* ---- what is in them --------------------------------------------------------------------------------------------- */

struct pareto {
    const struct pf_lines *lines;
    struct pf_text *out;
    int symbol_width, module_width, location_width, thread_width;
    bool has_code, has_module, has_placeholder; /* columns, as perf has them by what rows are of */
    enum pf_access first[5];                    /* what has percentages */
};

static const struct pf_frame_info *frame_of(const struct pareto *pareto, const struct pf_line_row *row)
{
    return row->frame == PF_NO_FRAME ? NULL : pf_profile_frame(pareto->lines->profile, row->frame);
}

static const struct pf_module *module_of(const struct pareto *pareto, const struct pf_line_row *row)
{
    return pf_symbols_module(pf_profile_symbols(pareto->lines->profile), row->module);
}

static void name_code(const struct pareto *pareto, const struct pf_line_row *row, char *text, size_t capacity)
{
    const struct pf_frame_info *frame = frame_of(pareto, row);
    const char *level = frame && frame->kind == PF_FRAME_KERNEL ? "[k]" : "[.]";
    if (!frame)
        snprintf(text, capacity, "N/A");
    else if (frame->name)
        snprintf(text, capacity, "%s %s", level, frame->name);
    else
        snprintf(text, capacity, "%s 0x%016" PRIx64, level, pf_frame_address(frame)->in_module);
}

static void name_location(const struct pareto *pareto, const struct pf_line_row *row, char *text, size_t capacity)
{
    const struct pf_frame_info *frame = frame_of(pareto, row);
    const struct pf_frame_address *address = frame ? pf_frame_address(frame) : NULL;
    const struct pf_module *module = module_of(pareto, row);
    const char *slash = address && address->file ? strrchr(address->file, '/') : NULL;
    if (!frame)
        snprintf(text, capacity, "N/A");
    else if (address->file && address->line)
        snprintf(text, capacity, "%s:%" PRIu32, slash ? slash + 1 : address->file, address->line);
    else
        snprintf(text, capacity, "%s[%" PRIx64 "]", module ? module->short_name : "unknown", address->table_address);
}

static void put_padded(struct pf_text *out, const char *text, int width)
{
    const size_t before = out->used;
    pf_put_name(out, text);
    const size_t used = out->used >= before ? out->used - before : strlen(text);
    pf_put_format(out, "%*s", used < (size_t)width ? (int)((size_t)width - used) : 0, "");
}

/* "   1000:name  " */
static void put_thread(const struct pareto *pareto, const struct pf_line_row *row)
{
    pf_put_format(pareto->out, "  %7" PRId32 ":", row->tid);
    put_padded(pareto->out, row->comm ? row->comm : "", pareto->thread_width - 8);
}

static double cost_of(const struct pf_access_sums *sums, enum pf_access_cost cost)
{
    return sums->weighed[cost] ? (double)sums->weights[cost] / (double)sums->weighed[cost] : 0;
}

static void put_code(const struct pareto *pareto, const struct pf_line_row *row, const struct pf_module *module)
{
    struct pf_text *out = pareto->out;
    char text[512];
    if (pareto->has_code) {
        name_code(pareto, row, text, sizeof(text));
        put_padded(out, text, pareto->symbol_width);
        pf_put_string(out, "  ");
    }
    if (pareto->has_module) {
        put_padded(out, module ? module->short_name : "[unknown]", pareto->module_width);
        pf_put_string(out, "  ");
    }
    if (pareto->has_placeholder) {
        name_location(pareto, row, text, sizeof(text));
        put_padded(out, text, pareto->location_width);
        pf_put_string(out, "  ");
    }
}

static void put_row(const struct pareto *pareto, const struct pf_line_row *row)
{
    struct pf_text *out = pareto->out;
    const bool peers = pareto->lines->order == PF_LINES_BY_PEER;
    const struct pf_frame_info *frame = frame_of(pareto, row);
    const struct pf_module *module = module_of(pareto, row);
    char text[512];
    pf_put_string(out, "       ");
    for (size_t i = 0; i < PF_COUNT(pareto->first); i++) {
        const uint64_t all = row->line->sums.of[pareto->first[i]], own = row->sums.of[pareto->first[i]];
        pf_put_format(out, "  %6.2f%%", all ? 100 * (double)own / (double)all : 0.0);
    }
    snprintf(text, sizeof(text), "0x%" PRIx32, row->offset);
    pf_put_format(out, "  %18s  %4s  %6u", text, "N/A", 0u);
    if (pareto->lines->by & PF_LINES_PID)
        pf_put_format(out, "  %7" PRId32, row->pid);
    if (pareto->lines->by & PF_LINES_TID)
        put_thread(pareto, row);
    snprintf(text, sizeof(text), "0x%" PRIx64, frame ? pf_frame_address(frame)->ip : 0);
    if (pareto->lines->by & PF_LINES_IADDR)
        pf_put_format(out, "  %18s", text);
    pf_put_format(out, "  %8.0f  %8.0f  %8.0f  %7" PRIu64 "  %8" PRIu32 "  ",
                  cost_of(&row->sums, peers ? PF_COST_REMOTE_PEER : PF_COST_REMOTE_HITM),
                  cost_of(&row->sums, peers ? PF_COST_LOCAL_PEER : PF_COST_LOCAL_HITM),
                  cost_of(&row->sums, PF_COST_LOAD), pf_access_records(&row->sums),
                  pf_accessors_count(&row->accessors, PF_ACCESSOR_CPUS));
    put_code(pareto, row, module);
    uint32_t node = pf_accessors_next(&row->accessors, PF_ACCESSOR_NODES, 0);
    for (const char *before = ""; node != UINT32_MAX; before = " ") {
        pf_put_format(out, "%s%2" PRIu32, before, node);
        node = pf_accessors_next(&row->accessors, PF_ACCESSOR_NODES, node + 1);
    }
    pf_put_char(out, '\n');
}

static void put_line_head(const struct pareto *pareto, const struct pf_line *line, bool apart)
{
    static const char rule[] = "  ----------------------------------------------------------------------\n";
    char address[24];
    pf_put_string(pareto->out, apart ? "\n" : "");
    pf_put_string(pareto->out, rule);
    pf_put_format(pareto->out, "  %5" PRIu32, line->number);
    for (size_t i = 0; i < PF_COUNT(pareto->first); i++)
        pf_put_format(pareto->out, "  %7" PRIu64, line->sums.of[pareto->first[i]]);
    snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
    pf_put_format(pareto->out, "  %18s\n", address);
    pf_put_string(pareto->out, rule);
}

/* perf shows what fights, and what stores. */
static bool is_shown(const struct pf_lines *lines, const struct pf_line_row *row)
{
    return pf_lines_score(lines, &row->sums) || row->sums.of[PF_ACCESS_stores];
}

static void measure(struct pareto *pareto, size_t shown)
{
    char text[512];
    for (size_t i = 0; i < pareto->lines->row_count; i++) {
        const struct pf_line_row *row = pareto->lines->rows[i];
        const struct pf_module *module = module_of(pareto, row);
        if (row->line->number >= shown)
            break;
        pareto->thread_width = (int)pf_max((size_t)pareto->thread_width, 8 + (row->comm ? strlen(row->comm) : 0));
        name_code(pareto, row, text, sizeof(text));
        pareto->symbol_width = (int)pf_max((size_t)pareto->symbol_width, strlen(text));
        pareto->module_width =
            (int)pf_max((size_t)pareto->module_width, module ? strlen(module->short_name) : sizeof("[unknown]") - 1);
        name_location(pareto, row, text, sizeof(text));
        pareto->location_width = (int)pf_max((size_t)pareto->location_width, strlen(text));
    }
}

static void put_dots(struct pf_text *out, int count)
{
    pf_put_string(out, "  ");
    while (count-- > 0)
        pf_put_char(out, '.');
}

/* "  NAME" of a column that is there. */
static void put_over(struct pf_text *out, bool has, int width, const char *name)
{
    if (has)
        pf_put_format(out, "  %*s", width, name);
}

static void put_pareto_head(const struct pareto *pareto)
{
    struct pf_text *out = pareto->out;
    const bool peers = pareto->lines->order == PF_LINES_BY_PEER;
    const unsigned by = pareto->lines->by;
    const char *kind = peers ? "peer" : "hitm";
    const int tid = by & PF_LINES_TID ? 2 + pareto->thread_width : 0;
    pf_put_char(out, '\n');
    put_title(out, "      Shared Cache Line Distribution Pareto      ");
    pf_put_format(out, "#\n#        %s  ------- Store Refs ------  --------- Data address ---------",
                  peers ? "-- Peer Snoop --" : "----- HITM -----");
    pf_put_format(out, "%s%*s%s  ---------- cycles ----------    Total       cpu", by & PF_LINES_PID ? "         " : "",
                  tid, "", by & PF_LINES_IADDR ? "                    " : "");
    put_over(out, pareto->has_code, pareto->symbol_width, "");
    put_over(out, pareto->has_module, pareto->module_width, "Shared");
    put_over(out, pareto->has_placeholder, pareto->location_width, "");
    pf_put_string(out, "      \n");
    pf_put_format(out, "#   Num%s   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt",
                  peers ? "      Rmt      Lcl" : "  RmtHitm  LclHitm");
    pf_put_format(out, "%s%*s%s  rmt %s  lcl %s      load  records       cnt", by & PF_LINES_PID ? "      Pid" : "",
                  tid, tid ? "Tid" : "", by & PF_LINES_IADDR ? "        Code address" : "", kind, kind);
    put_over(out, pareto->has_code, pareto->symbol_width, "Symbol");
    put_over(out, pareto->has_module, pareto->module_width, "Object");
    put_over(out, pareto->has_placeholder, pareto->location_width, "Source:Line");
    pf_put_string(out, "  Node\n");
    pf_put_string(out, "# .....  .......  .......  .......  .......  .......  ..................  ....  ......");
    pf_put_string(out, by & PF_LINES_PID ? "  ......." : "");
    if (tid)
        put_dots(out, pareto->thread_width);
    pf_put_string(out, by & PF_LINES_IADDR ? "  .................." : "");
    pf_put_string(out, "  ........  ........  ........  .......  ........");
    if (pareto->has_code)
        put_dots(out, pareto->symbol_width);
    if (pareto->has_module)
        put_dots(out, pareto->module_width);
    if (pareto->has_placeholder)
        put_dots(out, pareto->location_width);
    pf_put_string(out, "  ....\n#\n");
}

static void put_pareto(struct pf_text *out, const struct pf_lines *lines, size_t shown, bool no_source)
{
    const bool peers = lines->order == PF_LINES_BY_PEER;
    const bool by_code = lines->by & PF_LINES_IADDR;
    struct pareto pareto = {
        .lines = lines,
        .out = out,
        .symbol_width = 22,
        .module_width = 16,
        .location_width = 11,
        .has_code = by_code,
        .has_module = by_code || lines->by & PF_LINES_DSO,
        .has_placeholder = by_code && !no_source,
        .first = {peers ? PF_ACCESS_remote_peer : PF_ACCESS_remote_hitm,
                  peers ? PF_ACCESS_local_peer : PF_ACCESS_local_hitm, PF_ACCESS_store_l1_hit, PF_ACCESS_store_l1_miss,
                  PF_ACCESS_store_no_level},
    };
    if (!shown) {
        pf_put_char(out, '\n');
        put_title(out, "      Shared Cache Line Distribution Pareto      ");
        pf_put_string(out, "#\n");
        return;
    }
    measure(&pareto, shown);
    put_pareto_head(&pareto);
    for (size_t i = 0; i < lines->row_count && lines->rows[i]->line->number < shown; i++) {
        if (!i || lines->rows[i]->line != lines->rows[i - 1]->line)
            put_line_head(&pareto, lines->rows[i]->line, i != 0);
        if (is_shown(lines, lines->rows[i]))
            put_row(&pareto, lines->rows[i]);
    }
}

static int write_lines(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    const struct pf_lines_options how = {.allocator = out->allocator,
                                         .filter = options->filter,
                                         .symbols = options->symbols,
                                         .drive = pf_profile_drive_of(options),
                                         .keys = options->events->keys};
    struct pf_lines lines;
    uint64_t all;
    int result = pf_lines_open(&lines, reader, &how, error);
    const bool opened = result == 0;
    if (opened)
        result = pf_lines_read(&lines, error);
    if (opened && result != PERFILE_ERROR_MEMORY) {
        const unsigned flags = options->events->flags;
        const size_t shown = count_shown(&lines, flags & PERFILE_EVENTS_ALL_LINES, &all);
        put_sums(out, &lines);
        put_shared(out, &lines);
        put_details(out, &lines);
        if (!(flags & PERFILE_EVENTS_SUMMARY)) {
            put_table(out, &lines, shown, all);
            put_pareto(out, &lines, shown, flags & PERFILE_EVENTS_NO_SOURCE);
        }
        pf_profile_notify_unmatched(lines.profile, options->unmatched, options->unmatched_context);
        pf_lines_notify(&lines, options->symbols->note, options->symbols->note_context);
    }
    pf_lines_close(&lines);
    return result;
}

const struct pf_output pf_output_cache_lines = {
    .info = {"cache_lines", "stdio", "accesses by cache line, as perf c2c report prints them"},
    .write = write_lines,
};
