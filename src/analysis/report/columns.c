/* SPDX-License-Identifier: MIT */
/* The columns of reports: what they take, how they compare, what they print. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/report/columns.h"
#include "base/bytes.h"
#include "base/error.h"

enum {
    ADDRESS_WIDTH = 16, /* perf keeps the width of an address when any address has no symbol */
    NUMBER_WIDTH = 12,
    AVERAGE_WIDTH = 8,
};

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Of signed numbers: their order as a word. */
static uint64_t up(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* ---- what a row weighs: the heavier row comes first ---- */

double pf_report_percent(uint64_t part, uint64_t total)
{
    return total ? 100.0 * (double)part / (double)total : 0.0;
}

/* Of a part of a row, or an event. */
static uint64_t member_of(const void *of, size_t member)
{
    uint64_t value;
    memcpy(&value, (const char *)of + member, sizeof(value));
    return value;
}

/* The heavier row first; the events of a group one after the other. */
static int compare_parts(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b,
                         size_t member)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, a));
    int difference = 0;
    for (uint32_t i = 0; i < shown && !difference; i++) {
        const struct pf_report_part left = pf_report_part(report, a, i), right = pf_report_part(report, b, i);
        difference = order(member_of(&right, member), member_of(&left, member));
    }
    return difference;
}

/* `total`: the member of the event that is 100 %. */
static void put_shares(const struct pf_report *report, const struct pf_report_row *row, size_t member, size_t total,
                       struct pf_text *text)
{
    const struct pf_report_event *event = pf_report_event(report, row);
    const uint32_t shown = pf_report_shown(event);
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_part part = pf_report_part(report, row, i);
        const uint64_t all = member_of(pf_report_member(report, event, i), total);
        pf_put_hundredths(text, pf_report_percent(member_of(&part, member), all), i ? 7 : 6);
        pf_put_char(text, '%');
    }
}

static void put_percents(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                         struct pf_text *text)
{
    put_shares(report, row, member, offsetof(struct pf_report_event, period), text);
}

static void put_latencies(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                          struct pf_text *text)
{
    put_shares(report, row, member, offsetof(struct pf_report_event, latency), text);
}

static void put_numbers(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                        struct pf_text *text)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, row));
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_part part = pf_report_part(report, row, i);
        pf_put_format(text, "%*" PRIu64, i ? NUMBER_WIDTH : 0, member_of(&part, member));
    }
}

static double average_of(uint64_t sum, uint64_t samples)
{
    return samples ? (double)sum / (double)samples : 0.0;
}

/* Rows are in the order of the sums. */
static void put_averages(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                         struct pf_text *text)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, row));
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_part part = pf_report_part(report, row, i);
        pf_put_format(text, "%*.1f", i ? AVERAGE_WIDTH : 0, average_of(member_of(&part, member), part.samples));
    }
}

static double of_branches(const struct pf_report_part *part, size_t member, double factor)
{
    return factor * average_of(member_of(part, member), part->costs[PF_COST_BRANCHES]);
}

/* Rows are in the order of the sums. */
static void put_predicted(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                          struct pf_text *text)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, row));
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_part part = pf_report_part(report, row, i);
        pf_put_format(text, "%*.1f%%", i ? AVERAGE_WIDTH : 0, of_branches(&part, member, 100));
    }
}

static void put_cycles(const struct pf_report *report, const struct pf_report_row *row, size_t member,
                       struct pf_text *text)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, row));
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_part part = pf_report_part(report, row, i);
        pf_put_format(text, "%*" PRIu64, i ? NUMBER_WIDTH : 0, (uint64_t)of_branches(&part, member, 1));
    }
}

#define VALUE(id, member, put)                                                                                         \
    static int compare_##id(const struct pf_report *report, const struct pf_report_row *a,                             \
                            const struct pf_report_row *b)                                                             \
    {                                                                                                                  \
        return compare_parts(report, a, b, offsetof(struct pf_report_part, member));                                   \
    }                                                                                                                  \
    static uint64_t word_##id(const struct pf_report *report, const struct pf_report_row *row)                         \
    {                                                                                                                  \
        return ~pf_report_part(report, row, 0).member;                                                                 \
    }                                                                                                                  \
    static void text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)       \
    {                                                                                                                  \
        put(report, row, offsetof(struct pf_report_part, member), text);                                               \
    }
#define NUMBER(id, member)                                                                                             \
    VALUE(id, member, put_numbers)                                                                                     \
    static uint64_t value_##id(const struct pf_report *report, const struct pf_report_row *row)                        \
    {                                                                                                                  \
        return pf_report_part(report, row, 0).member;                                                                  \
    }
#define SHARE(id, member) SHARE_OF(id, member, period, put_percents)
#define SHARE_OF(id, member, total, put)                                                                               \
    VALUE(id, member, put)                                                                                             \
    static double real_##id(const struct pf_report *report, const struct pf_report_row *row)                           \
    {                                                                                                                  \
        return pf_report_percent(pf_report_part(report, row, 0).member, pf_report_event(report, row)->total);          \
    }
#define AVERAGE(id, member)                                                                                            \
    VALUE(id, member, put_averages)                                                                                    \
    static double real_##id(const struct pf_report *report, const struct pf_report_row *row)                           \
    {                                                                                                                  \
        const struct pf_report_part part = pf_report_part(report, row, 0);                                             \
        return average_of(part.member, part.samples);                                                                  \
    }
#define OF_BRANCHES(id, member, factor, put)                                                                           \
    VALUE(id, member, put)                                                                                             \
    static double real_##id(const struct pf_report *report, const struct pf_report_row *row)                           \
    {                                                                                                                  \
        const struct pf_report_part part = pf_report_part(report, row, 0);                                             \
        return of_branches(&part, offsetof(struct pf_report_part, member), factor);                                    \
    }
/* Rows are in the order of all that they weigh: it is in one class or another. */
#define CLASS(id, number)                                                                                              \
    static int compare_##id(const struct pf_report *report, const struct pf_report_row *a,                             \
                            const struct pf_report_row *b)                                                             \
    {                                                                                                                  \
        return compare_parts(report, a, b, offsetof(struct pf_report_part, self));                                     \
    }                                                                                                                  \
    static uint64_t word_##id(const struct pf_report *report, const struct pf_report_row *row)                         \
    {                                                                                                                  \
        return ~pf_report_part(report, row, 0).self;                                                                   \
    }                                                                                                                  \
    static void text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)       \
    {                                                                                                                  \
        pf_report_put_class(report, row, number, text);                                                                \
    }                                                                                                                  \
    static double real_##id(const struct pf_report *report, const struct pf_report_row *row)                           \
    {                                                                                                                  \
        return pf_report_class_share(report, row, number);                                                             \
    }
SHARE(overhead_children, children)
SHARE(overhead, self)
NUMBER(sample, samples)
NUMBER(period, self)
SHARE(overhead_sys, sys)
SHARE(overhead_us, us)
SHARE(overhead_guest_sys, guest_sys)
SHARE(overhead_guest_us, guest_us)
SHARE_OF(latency_children, latency_children, latency, put_latencies)
SHARE_OF(latency, latency, latency, put_latencies)
AVERAGE(weight1, costs[0])
AVERAGE(weight2, costs[1])
AVERAGE(weight3, costs[2])
OF_BRANCHES(callchain_branch_predicted, costs[PF_COST_PREDICTED], 100, put_predicted)
NUMBER(callchain_branch_abort, costs[PF_COST_ABORTS])
OF_BRANCHES(callchain_branch_cycles, costs[PF_COST_CYCLES], 1, put_cycles)
#define PF_ACCESS_CLASS(group, id, ...) CLASS(group##_##id, PF_CLASS_##group##_##id)
#include "analysis/report/access_classes.def"

/* ---- of the sample ---- */

static void take_comm(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)report;
    keyed->key.comm = sample->comm;
}

static uint64_t word_comm(const struct pf_report *report, const struct pf_report_row *row)
{
    return report->rows.ranks.comms[row->key];
}

static void text_comm(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_string(text, pf_report_key(report, row)->comm);
}

static void take_tid(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)report;
    keyed->key.tid = sample->tid;
}

static uint64_t word_tid(const struct pf_report *report, const struct pf_report_row *row)
{
    return up(pf_report_key(report, row)->tid);
}

static uint64_t value_tid(const struct pf_report *report, const struct pf_report_row *row)
{
    return (uint64_t)(int64_t)pf_report_key(report, row)->tid;
}

static void text_tid(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_signed(text, pf_report_key(report, row)->tid);
}

/* perf's "pid" is the thread. */
static void take_pid(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    take_tid(report, keyed, sample);
}

static uint64_t word_pid(const struct pf_report *report, const struct pf_report_row *row)
{
    return word_tid(report, row);
}

static void put_thread(const struct pf_report *report, int32_t id, struct pf_text *text)
{
    pf_put_format(text, "%7d:", (int)id);
    pf_put_string(text, pf_profile_thread_comm(report->profile, id));
}

static void text_pid(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    put_thread(report, pf_report_key(report, row)->tid, text);
}

static void take_tgid(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)report;
    keyed->key.pid = sample->pid;
}

static uint64_t word_tgid(const struct pf_report *report, const struct pf_report_row *row)
{
    return up(pf_report_key(report, row)->pid);
}

static void text_tgid(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    put_thread(report, pf_report_key(report, row)->pid, text);
}

static void take_cpu(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)report;
    keyed->key.cpu = sample->event->attr->sample_type & PERFILE_SAMPLE_CPU ? sample->cpu : UINT32_MAX; /* perf's -1 */
}

static uint64_t value_cpu(const struct pf_report *report, const struct pf_report_row *row)
{
    return (uint64_t)(int64_t)(int32_t)pf_report_key(report, row)->cpu;
}

static uint64_t word_cpu(const struct pf_report *report, const struct pf_report_row *row)
{
    return up((int32_t)pf_report_key(report, row)->cpu);
}

static void text_cpu(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_format(text, "%.3d", (int)pf_report_key(report, row)->cpu);
}

/* ---- of the frame ---- */

static const struct pf_module *module_of(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    return frame ? pf_symbols_module(report->symbols, frame->module) : NULL;
}

/* What has no name comes last. */
static int compare_names(const char *a, const char *b)
{
    if (!a || !b)
        return !a - !b;
    return strcmp(a, b);
}

static uint64_t word_dso(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    return frame->module == PF_NO_SYMBOL ? UINT32_MAX : report->rows.ranks.dsos[frame->module];
}

static void text_dso(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_module *module = module_of(report, row);
    pf_put_string(text, module ? module->short_name : "[unknown]");
}

static size_t min_dso(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    return !frame || !frame->name ? ADDRESS_WIDTH : 0;
}

void pf_report_put_name(const struct pf_frame_info *frame, struct pf_text *text)
{
    pf_put_name(text, frame->name);
    if (frame->kind == PF_FRAME_INLINED)
        pf_put_string(text, " (inlined)");
}

static uint64_t word_symbol(const struct pf_report *report, const struct pf_report_row *row)
{
    return report->rows.ranks.names[row->frame];
}

void pf_report_put_level(unsigned level, struct pf_text *text)
{
    pf_put(text, (const char[]){'[', (char)level, ']', ' '}, 4);
}

/* perf prints 0 without the 0x. */
void pf_report_put_address(uint64_t address, struct pf_text *text)
{
    char *at = pf_text_reserve(text, 18);
    at[0] = '0';
    at[1] = 'x';
    pf_text_commit(text, pf_hex_digits_fixed(at + (address ? 2 : 0), address, 16));
}

static void text_symbol(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    pf_report_put_level(row->level, text);
    if (frame->name)
        pf_report_put_name(frame, text);
    else
        pf_report_put_address(frame->address, text);
}

static size_t min_symbol(const struct pf_report *report, const struct pf_report_row *row)
{
    (void)report;
    (void)row;
    return 0;
}

/* ---- the table ---- */

/* Of one value, what comes first: the lower number, the higher one ... */
static uint64_t number_up(uint64_t value)
{
    return up((int64_t)value);
}

static uint64_t number_down(uint64_t value)
{
    return ~value;
}

/* ... the first text of two ... */
static int text(const struct pf_report *report, uint64_t a, uint64_t b)
{
    (void)report;
    return compare_names((const char *)(uintptr_t)a, (const char *)(uintptr_t)b);
}

/* ... the last name of two files, what lies in none first ... */
static int file(const struct pf_report *report, uint64_t a, uint64_t b)
{
    static const char none[] = "[unknown]";
    const char *x = (const char *)(uintptr_t)a, *y = (const char *)(uintptr_t)b;
    const bool first = x && strcmp(x, none) == 0, second = y && strcmp(y, none) == 0;
    return first || second ? second - first : text(report, b, a);
}

/* ... the frame at the lower address, what has no symbol first. */
static int frame(const struct pf_report *report, uint64_t a, uint64_t b)
{
    const struct pf_frame_info *left = pf_profile_frame(report->profile, (uint32_t)a);
    const struct pf_frame_info *right = pf_profile_frame(report->profile, (uint32_t)b);
    const int named = !right->name - !left->name;
    if (named)
        return named;
    return left->name ? order(left->symbol, right->symbol) : order(left->address, right->address);
}

/* ... or the address in memory: in files with names from Z to A, what lies in no file first, as perf has it. */
static int address(const struct pf_report *report, uint64_t a, uint64_t b)
{
    const struct pf_frame_info *left = pf_profile_frame(report->profile, (uint32_t)a);
    const struct pf_frame_info *right = pf_profile_frame(report->profile, (uint32_t)b);
    const struct pf_module *x = pf_symbols_module(report->symbols, left->module);
    const struct pf_module *y = pf_symbols_module(report->symbols, right->module);
    const int difference = x && y ? strcmp(y->short_name, x->short_name) : !!x - !!y;
    return difference ? difference : order(pf_frame_address(left)->ip, pf_frame_address(right)->ip);
}

/* What programs are given; of numbers that people see alike, the text. */
#define VALUE_OF_TEXT(id)
#define VALUE_OF_TIME(id)                                                                                              \
    static uint64_t value_##id(const struct pf_report *report, const struct pf_report_row *row)                        \
    {                                                                                                                  \
        return pf_report_value(report, row, PF_VALUE_##id);                                                            \
    }
#define VALUE_OF_BYTES(id) VALUE_OF_TIME(id)
#define VALUE_OF_ADDRESS(id) VALUE_OF_TIME(id)
#define VALUE_OF_I64(id) VALUE_OF_TIME(id)
#define TEXT_OF_VALUE(id)                                                                                              \
    void pf_text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)           \
    {                                                                                                                  \
        pf_put_unsigned(text, value_##id(report, row));                                                                \
    }
#define VALUE_OF_U64(id) VALUE_OF_TIME(id) TEXT_OF_VALUE(id)
#define VALUE_OF_SUM(id)                                                                                               \
    static uint64_t value_##id(const struct pf_report *report, const struct pf_report_row *row)                        \
    {                                                                                                                  \
        uint64_t sum;                                                                                                  \
        return pf_multiply(pf_report_value(report, row, PF_VALUE_##id), row->samples, &sum) ? sum : UINT64_MAX;        \
    }                                                                                                                  \
    TEXT_OF_VALUE(id)
#define TYPE_TEXT(id) .type = PERFILE_COLUMN_TEXT
#define TYPE_F64(id) .type = PERFILE_COLUMN_F64, .real = real_##id
#define TYPE_TIME(id) .type = PERFILE_COLUMN_TIME, .unit = "ns", .value = value_##id
#define TYPE_BYTES(id) .type = PERFILE_COLUMN_BYTES, .unit = "bytes", .value = value_##id
#define TYPE_ADDRESS(id) .type = PERFILE_COLUMN_ADDRESS, .value = value_##id
#define TYPE_I64(id) .type = PERFILE_COLUMN_I64, .value = value_##id
#define TYPE_U64(id) .type = PERFILE_COLUMN_U64, .value = value_##id
#define TYPE_SUM(id) .type = PERFILE_COLUMN_U64, .value = value_##id

#define BY_WORD(id, function)                                                                                          \
    static uint64_t word_##id(const struct pf_report *report, const struct pf_report_row *row)                         \
    {                                                                                                                  \
        return function(pf_report_value(report, row, PF_VALUE_##id));                                                  \
    }
#define BY_COMPARISON(id, function)                                                                                    \
    static int compare_##id(const struct pf_report *report, const struct pf_report_row *a,                             \
                            const struct pf_report_row *b)                                                             \
    {                                                                                                                  \
        return function(report, pf_report_value(report, a, PF_VALUE_##id), pf_report_value(report, b, PF_VALUE_##id)); \
    }
#define KEPT_number_up(id) BY_WORD(id, number_up)
#define KEPT_number_down(id) BY_WORD(id, number_down)
#define KEPT_text(id) BY_COMPARISON(id, text)
#define KEPT_frame(id) BY_COMPARISON(id, frame)
#define KEPT_file(id) BY_COMPARISON(id, file)
#define KEPT_data_file(id) BY_COMPARISON(id, file)
#define KEPT_address(id) BY_COMPARISON(id, address)
#define KEPT_source(id) BY_COMPARISON(id, text)
#define KEPT_access(id) BY_COMPARISON(id, pf_compare_accesses)
#define KEPT_line(id) BY_COMPARISON(id, pf_compare_lines)
#define KEPT_type(id) BY_COMPARISON(id, text)
#define KEPT_member(id) BY_COMPARISON(id, pf_compare_members)
#define KEPT_type_line(id) BY_COMPARISON(id, pf_compare_type_lines)
#define ORDER_number_up(id) .word = word_##id
#define ORDER_number_down(id) .word = word_##id
#define ORDER_text(id) .compare = compare_##id, .by_text = true
#define ORDER_frame(id) .compare = compare_##id
#define ORDER_file(id) .compare = compare_##id
#define ORDER_data_file(id) .compare = compare_##id, .min = pf_min_##id
#define ORDER_address(id) .compare = compare_##id, .exact = true
#define ORDER_source(id) .compare = compare_##id, .by_text = true, .exact = true
#define ORDER_access(id) .compare = compare_##id, .exact = true, .min = pf_min_##id
#define ORDER_line(id) .compare = compare_##id, .exact = true, .min = pf_min_##id
#define ORDER_type(id) .compare = compare_##id, .by_text = true, .only_header = true
#define ORDER_member(id) .compare = compare_##id, .only_header = true
#define ORDER_type_line(id) .compare = compare_##id, .only_header = true

#define PF_COLUMN_VALUE(...)
#define PF_COLUMN_SAMPLE(...)
#define PF_COLUMN_FRAME(...)
#define PF_COLUMN_KEPT(id, name, header, width, right, type, order, needs, doc) KEPT_##order(id) VALUE_OF_##type(id)
#define PF_COLUMN_LOCATION(...)
#define PF_COLUMN_LATER(name)
#include "analysis/report/columns.def"

#define HEAD(n, h, d, kind) .name = n, .header = h, .doc = d, .of = PF_COLUMN_OF_##kind
const struct pf_report_column pf_report_columns[PF_COLUMN_COUNT] = {
#define PF_COLUMN_VALUE(i, n, a, h, w, type, u, what, d)                                                               \
    {HEAD(n, h, d, VALUE),                                                                                             \
     .alias = a,                                                                                                       \
     .width = w,                                                                                                       \
     .right = true,                                                                                                    \
     TYPE_##type(i),                                                                                                   \
     .unit = u,                                                                                                        \
     .needs = PF_COLUMN_NEEDS_##what,                                                                                  \
     .word = word_##i,                                                                                                 \
     .compare = compare_##i,                                                                                           \
     .text = text_##i},
#define PF_COLUMN_SAMPLE(i, n, a, h, w, r, type, d)                                                                    \
    {HEAD(n, h, d, SAMPLE), .alias = a,       .width = w,       .right = r,                                            \
     TYPE_##type(i),        .take = take_##i, .word = word_##i, .text = text_##i},
#define PF_COLUMN_FRAME(i, n, a, h, d)                                                                                 \
    {HEAD(n, h, d, FRAME), .alias = a, .type = PERFILE_COLUMN_TEXT, .word = word_##i, .text = text_##i, .min = min_##i},
#define PF_COLUMN_KEPT(i, n, h, w, r, type, o, what, d)                                                                \
    {HEAD(n, h, d, SAMPLE),    .width = w,   .right = r,          TYPE_##type(i), .needs = PF_COLUMN_NEEDS_##what,     \
     .position = PF_VALUE_##i, .kept = true, .take = pf_take_##i, ORDER_##o(i),   .text = pf_text_##i},
#define PF_COLUMN_LOCATION(i, n, h, r, d)                                                                              \
    {HEAD(n, h, d, FRAME),      .type = PERFILE_COLUMN_TEXT, .right = r,                                               \
     .compare = pf_compare_##i, .text = pf_text_##i,         .distinguish = pf_distinguish_##i},
#define PF_COLUMN_LATER(name)
#include "analysis/report/columns.def"
};

static const char *const later[] = {
#define PF_COLUMN_VALUE(...)
#define PF_COLUMN_SAMPLE(...)
#define PF_COLUMN_FRAME(...)
#define PF_COLUMN_KEPT(...)
#define PF_COLUMN_LOCATION(...)
#define PF_COLUMN_LATER(name) name,
#include "analysis/report/columns.def"
};

const char *perfile_report_column_at(size_t index, const char **doc)
{
    const char *unused;
    if (index >= PF_COUNT(pf_report_columns))
        return pf_report_access_group_at(index - PF_COUNT(pf_report_columns), doc ? doc : &unused);
    if (doc)
        *doc = pf_report_columns[index].doc;
    return pf_report_columns[index].name;
}

static bool is_named(const char *name, const char *word, size_t bytes)
{
    return name && strlen(name) == bytes && memcmp(name, word, bytes) == 0;
}

static int fail_unknown(const char *word, size_t bytes, struct perfile_error *error)
{
    char known[160] = "";
    for (size_t i = 0; i < PF_COUNT(later); i++)
        if (is_named(later[i], word, bytes))
            return pf_about(error, word, bytes,
                            pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "sort",
                                    "sorting by '%s' is not supported yet", later[i]));
    for (size_t i = 0; i < PF_COUNT(pf_report_columns); i++) {
        const size_t used = strlen(known);
        const bool fits = used + strlen(pf_report_columns[i].name) + sizeof(", , ...") <= sizeof(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", fits ? pf_report_columns[i].name : "...");
        if (!fits)
            break;
    }
    return pf_about(error, word, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sort",
                            "unknown column '%.*s'; valid: %s", (int)pf_min(bytes, 40), word, known));
}

static int add_column(struct pf_report *report, const char *word, size_t bytes,
                      const struct pf_report_column *columns[PF_REPORT_COLUMNS], size_t *count)
{
    const struct pf_report_column *column = NULL;
    enum pf_column_number first;
    const size_t grouped = pf_report_access_columns(word, bytes, report->layout.snoop_shares, &first);
    for (size_t i = 0; i < grouped; i++)
        (void)add_column(report, pf_report_columns[first + i].name, strlen(pf_report_columns[first + i].name), columns,
                         count);
    if (grouped)
        return 0;
    for (size_t i = 0; i < PF_COUNT(pf_report_columns) && !column; i++)
        if (is_named(pf_report_columns[i].name, word, bytes) || is_named(pf_report_columns[i].alias, word, bytes))
            column = &pf_report_columns[i];
    for (size_t i = 0; i < PF_COUNT(later) && !column; i++)
        if (is_named(later[i], word, bytes))
            return PERFILE_ERROR_UNSUPPORTED;
    if (!column && !(column = pf_report_field_column(report, word, bytes)))
        return PERFILE_ERROR_ARGUMENT;
    for (size_t i = 0; i < *count; i++)
        if (columns[i] == column)
            return 0;
    columns[(*count)++] = column; /* each column once, so all of them fit */
    return 0;
}

static int fail_braces(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sort",
                   "braces group the columns of one level, such as comm,{dso,symbol}, and cannot be nested");
}

static void note_brace(struct pf_report *report, const struct pf_report_column *column)
{
    for (size_t i = 0; i < report->layout.braced_count; i++)
        if (report->layout.braced[i].column == column)
            return;
    report->layout.braced[report->layout.braced_count].column = column;
    report->layout.braced[report->layout.braced_count++].brace = report->layout.brace_count;
}

int pf_report_columns_parse(struct pf_report *report, const char *list,
                            const struct pf_report_column *columns[PF_REPORT_COLUMNS], size_t *count,
                            struct perfile_error *error)
{
    _Static_assert((int)PF_COLUMN_COUNT + (int)PF_REPORT_FIELDS <= (int)PF_REPORT_COLUMNS, "all columns fit");
    for (bool braced = false;; list++) {
        const size_t before = *count;
        if (*list == '{') {
            if (braced)
                return fail_braces(error);
            braced = true;
            report->layout.brace_count++;
            list++;
        }
        const size_t bytes = strcspn(list, ", {}");
        if (add_column(report, list, bytes, columns, count) < 0)
            return fail_unknown(list, bytes, error);
        if (braced && *count > before)
            note_brace(report, columns[before]);
        list += bytes;
        if (*list == '}' && braced) {
            braced = false;
            list++;
        }
        if (!*list)
            return 0; /* as perf has it, also without the closing brace */
        if (*list != ',' && *list != ' ')
            return fail_braces(error);
    }
}
