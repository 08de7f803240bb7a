/* SPDX-License-Identifier: MIT */
/* The lines of samples, and the steps of their hot fields: no printf, no allocation. */
#include "output/script/script.h"

#include <time.h>

#include "base/escape.h"
#include "hwtrace/decoder.h"
#include "hwtrace/flow.h"
#include "hwtrace/synth.h"

enum { NS_PER_SECOND = 1000000000 };

/* Right-aligned in `width` <= 16 places, or longer. */
static char *put_right(char *at, uint64_t value, unsigned width)
{
    unsigned count = pf_digit_count(value);
    memset(at, ' ', 16);
    if (count < width)
        at += width - count;
    return pf_digits_fixed(at, value, count);
}

static char *put_signed_right(char *at, int32_t value, unsigned width)
{
    char digits[16];
    if (value >= 0)
        return put_right(at, (uint64_t)value, width);
    size_t count = (size_t)(pf_digits(digits, -(uint64_t)(int64_t)value) - digits);
    memset(at, ' ', 16);
    if (count + 1 < width)
        at += width - count - 1;
    *at++ = '-';
    memcpy(at, digits, sizeof(digits));
    return at + count;
}

/* The same numbers come again and again: the slot keeps what `put` writes for the last one, at most 26 bytes. */
static inline char *put_kept(struct pf_script_number *slot, char *at, uint64_t value,
                             char *(*put)(char *at, uint64_t value))
{
    if (PF_UNLIKELY(slot->value != value || !slot->bytes)) {
        slot->bytes = (uint8_t)(put(slot->text, value) - slot->text);
        slot->value = value;
    }
    memcpy(at, slot->text, sizeof(slot->text));
    return at + slot->bytes;
}

char *pf_script_right_hex(char *at, uint64_t value)
{
    enum { WIDTH = 16 };
    const unsigned blanks = (unsigned)__builtin_clzll(value | 1) / 4;
    memset(at, ' ', WIDTH);
    return pf_hex_digits(at + blanks, value);
}

/*
 * ---- tasks
 * -----------------------------------------------------------------------------------------------------------
 */

char *pf_script_put_machine_pid(struct pf_script *script, char *at)
{
    const struct pf_script_guest *guest = pf_script_guest(script);
    if (!guest || !guest->machine_pid)
        return at;
    memcpy(at, "VM:", 3);
    at = put_right(at + 3, guest->machine_pid, 5);
    *at = ' ';
    return at + 1;
}

char *pf_script_put_vcpu(struct pf_script *script, char *at)
{
    const struct pf_script_guest *guest = pf_script_guest(script);
    if (!guest || !guest->machine_pid)
        return at;
    memcpy(at, "VCPU:", 5);
    at = pf_digits_fixed(at + 5, guest->vcpu, (unsigned)pf_max(3, pf_digit_count(guest->vcpu)));
    *at = ' ';
    return at + 1;
}

static char *put_long(struct pf_script *script, char *at, const char *text, size_t bytes)
{
    pf_script_leave(script, at);
    pf_put_name_bytes(script->out, text, bytes);
    return pf_script_enter(script);
}

/* As it is, not with escapes. */
static bool is_printed(const struct pf_script *script, const char *name, size_t bytes)
{
    return !script->out->escapes || pf_printable_run(name, bytes) == bytes;
}

static const struct pf_script_comm *fill_comm(const struct pf_script *script, struct pf_script_comm *slot,
                                              const char *comm)
{
    size_t bytes = strlen(comm);
    size_t pad = bytes < 16 ? 16 - bytes : 0;
    slot->comm = comm;
    slot->bytes = 0;
    if (pad + bytes + 1 <= sizeof(slot->text) && is_printed(script, comm, bytes)) {
        memset(slot->text, ' ', sizeof(slot->text));
        memcpy(slot->text + pad, comm, bytes);
        slot->bytes = (uint8_t)(pad + bytes + 1);
    }
    return slot;
}

char *pf_script_put_comm(struct pf_script *script, char *at)
{
    const char *comm = script->item.comm;
    struct pf_script_comm *slot = &script->comms[((uintptr_t)comm >> 4 ^ (uintptr_t)comm >> 12) % SCRIPT_COMM_SLOTS];
    if (PF_UNLIKELY(slot->comm != comm))
        fill_comm(script, slot, comm);
    if (PF_UNLIKELY(!slot->bytes))
        return pf_script_put_bare_comm(script, at);
    memcpy(at, slot->text, sizeof(slot->text));
    return at + slot->bytes;
}

char *pf_script_put_bare_comm(struct pf_script *script, char *at)
{
    size_t bytes = strlen(script->item.comm);
    if (bytes < SCRIPT_STEP_CAPACITY - 1 && is_printed(script, script->item.comm, bytes)) {
        memcpy(at, script->item.comm, bytes);
        at += bytes;
    } else {
        at = put_long(script, at, script->item.comm, bytes);
    }
    *at = ' ';
    return at + 1;
}

/* The first 8 bytes, right-aligned. */
char *pf_script_put_short_comm(struct pf_script *script, char *at)
{
    enum { WIDTH = 8 };
    const char *comm = script->item.comm;
    const size_t bytes = strnlen(comm, WIDTH);
    memset(at, ' ', WIDTH);
    at = put_long(script, at + WIDTH - bytes, comm, bytes);
    *at = ' ';
    return at + 1;
}

char *pf_script_put_pid(struct pf_script *script, char *at)
{
    at = put_signed_right(at, script->item.sample.pid, 7);
    *at = ' ';
    return at + 1;
}

static char *put_tid(char *at, uint64_t tid)
{
    at = put_signed_right(at, (int32_t)tid, 7);
    *at = ' ';
    return at + 1;
}

char *pf_script_put_tid(struct pf_script *script, char *at)
{
    const uint32_t tid = (uint32_t)script->item.sample.tid;
    return put_kept(&script->tids[tid % SCRIPT_TID_SLOTS], at, tid, put_tid);
}

char *pf_script_put_pid_tid(struct pf_script *script, char *at)
{
    int32_t tid = script->item.sample.tid;
    at = put_signed_right(at, script->item.sample.pid, 7);
    *at++ = '/';
    char *end = at + 7;
    memset(at, ' ', 8);
    if (tid < 0)
        *at++ = '-';
    at = pf_digits(at, tid < 0 ? -(uint64_t)(int64_t)tid : (uint64_t)tid);
    if (at < end)
        at = end;
    *at = ' ';
    return at + 1;
}

static char *put_cpu(char *at, uint64_t number_of_cpu)
{
    const int32_t cpu = (int32_t)number_of_cpu;
    *at++ = '[';
    if (PF_LIKELY(cpu >= 0)) {
        at = pf_digits_fixed(at, (uint32_t)cpu, (unsigned)pf_max(3, pf_digit_count((uint32_t)cpu)));
    } else {
        *at++ = '-';
        uint64_t number = -(uint64_t)(int64_t)cpu;
        at = pf_digits_fixed(at, number, (unsigned)pf_max(2, pf_digit_count(number)));
    }
    memcpy(at, "] ", 2);
    return at + 2;
}

char *pf_script_put_cpu(struct pf_script *script, char *at)
{
    const uint32_t cpu = script->item.sample.cpu;
    return put_kept(&script->cpus[cpu % SCRIPT_CPU_SLOTS], at, cpu, put_cpu);
}

char *pf_script_put_bare_cpu(struct pf_script *script, char *at)
{
    at = put_signed_right(at, (int32_t)script->item.sample.cpu, 3);
    *at = ' ';
    return at + 1;
}

/* ---- which kind of record ---------------------------------------------------------------------------------------- */

char *pf_script_put_misc(struct pf_script *script, char *at)
{
    /* perf compares bits, not values, so a hypervisor's 3 is also K and U */
    static const struct {
        uint16_t bits;
        char letter;
    } modes[] = {{1, 'K'}, {2, 'U'}, {3, 'H'}, {4, 'G'}, {5, 'g'}};
    uint16_t misc = script->item.record->misc;
    char *end = at + 6;
    memset(at, ' ', 8);
    for (size_t i = 0; i < PF_COUNT(modes); i++)
        if ((misc & modes[i].bits) == modes[i].bits)
            *at++ = modes[i].letter;
    uint32_t type = script->item.record->type;
    if ((type == PERFILE_RECORD_MMAP || type == PERFILE_RECORD_MMAP2) && misc & PERFILE_MISC_MMAP_DATA)
        *at++ = 'M';
    if (type == PERFILE_RECORD_COMM && misc & PERFILE_MISC_COMM_EXEC)
        *at++ = 'E';
    if ((type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE) && misc & PERFILE_MISC_SWITCH_OUT) {
        *at++ = 'S';
        if (misc & PERFILE_MISC_SWITCH_OUT_PREEMPT)
            *at++ = 'p';
    }
    return at < end ? end : at + 1;
}

/* ---- when -------------------------------------------------------------------------------------------------------- */

/* The time as it is printed. As in perf, lines at 0 come before the first. */
static uint64_t printed_time(struct pf_script *script)
{
    const uint64_t time = script->item.sample.time, last = script->last_ns;
    if (script->options->script->times == PERFILE_TIMES_OF_CLOCK)
        return time;
    script->last_ns = time;
    if (!script->first_ns)
        script->first_ns = time;
    return script->options->script->times == PERFILE_TIMES_SINCE_FIRST ? time - script->first_ns
           : last                                                      ? time - last
                                                                       : 0;
}

/* Samples of one second have the same beginning; returns the ns within the second. */
static uint64_t find_second(struct pf_script *script)
{
    uint64_t time = printed_time(script);
    if (PF_LIKELY(time - script->second_ns < NS_PER_SECOND))
        return time - script->second_ns;
    uint64_t seconds = time / NS_PER_SECOND;
    char *end = put_right(script->second_text, seconds, 5);
    *end++ = '.';
    script->second_bytes = (unsigned)(end - script->second_text);
    script->second_ns = seconds * NS_PER_SECOND;
    return time - script->second_ns;
}

char *pf_script_put_time_ns(struct pf_script *script, char *at)
{
    uint64_t ns = find_second(script);
    memcpy(at, script->second_text, 24);
    at = pf_digits_fixed(at + script->second_bytes, ns, 9);
    memcpy(at, ": ", 2);
    return at + 2;
}

char *pf_script_put_time(struct pf_script *script, char *at)
{
    uint64_t ns = find_second(script);
    memcpy(at, script->second_text, 24);
    at = pf_digits_fixed(at + script->second_bytes, ns / 1000, 6);
    memcpy(at, ": ", 2);
    return at + 2;
}

char *pf_script_put_tod(struct pf_script *script, char *at)
{
    uint64_t ns = script->clock.wall_ns + (script->item.sample.time - script->clock.recorded_ns);
    time_t seconds = (time_t)(ns / NS_PER_SECOND);
    struct tm tm;
    size_t bytes = localtime_r(&seconds, &tm) ? strftime(at, 32, "%Y-%m-%d %H:%M:%S", &tm) : 0;
    at += bytes;
    *at++ = '.';
    bool full = script->options->nanoseconds;
    at = pf_digits_fixed(at, full ? ns % NS_PER_SECOND : ns % NS_PER_SECOND / 1000, full ? 9 : 6);
    *at = ' ';
    return at + 1;
}

/* ---- what -------------------------------------------------------------------------------------------------------- */

static char *put_period(char *at, uint64_t period)
{
    at = put_right(at, period, 10);
    *at = ' ';
    return at + 1;
}

char *pf_script_put_period(struct pf_script *script, char *at)
{
    return put_kept(&script->period, at, script->item.sample.period, put_period);
}

char *pf_script_put_event(struct pf_script *script, char *at)
{
    size_t bytes = script->plan->name_bytes;
    if (PF_UNLIKELY(bytes > SCRIPT_STEP_CAPACITY))
        return put_long(script, at, script->plan->name, bytes);
    memcpy(at, script->plan->name, bytes);
    return at + bytes;
}

/* Only decoded traces have any. */
char *pf_script_put_flags(struct pf_script *script, char *at)
{
    enum { WIDTH = 21 };
    const uint32_t flags = script->item.traced.flags;
    char text[48];
    const size_t bytes = flags ? pf_flow_put_flags(flags, text) : 0;
    memset(at, ' ', WIDTH + 3);
    memcpy(at + 2, text, bytes);
    return at + 2 + pf_max(bytes, WIDTH) + 1;
}

char *pf_script_put_synth(struct pf_script *script, char *at)
{
    const struct perfile_attr *attr = script->plan->event->attr;
    if (attr->type != PF_AUX_TYPE_SYNTH)
        return at;
    pf_script_leave(script, at);
    pf_aux_put_synth(script->out, attr->config, &script->item.sample.raw);
    return pf_script_enter(script);
}

char *pf_script_put_addr(struct pf_script *script, char *at)
{
    return pf_script_right_hex(at, pf_field_addr(&script->item.sample));
}

char *pf_script_put_phys_addr(struct pf_script *script, char *at)
{
    return pf_script_right_hex(at, pf_field_phys_addr(&script->item.sample));
}

char *pf_script_put_weight(struct pf_script *script, char *at)
{
    return put_right(at, pf_field_weight(&script->item.sample), 16);
}

char *pf_script_put_ins_lat(struct pf_script *script, char *at)
{
    return put_right(at, pf_field_ins_lat(&script->item.sample), 16);
}

char *pf_script_put_retire_lat(struct pf_script *script, char *at)
{
    return put_right(at, pf_field_retire_lat(&script->item.sample), 16);
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

char *pf_script_put_ip(struct pf_script *script, char *at)
{
    *at = ' ';
    return pf_script_right_hex(at + 1, script->item.sample.ip);
}

char *pf_script_put_no_ip(struct pf_script *script, char *at)
{
    (void)script;
    *at = ' ';
    return at + 1;
}

/* *left frames at most. */
static char *put_chain(struct pf_script *script, char *at, const struct perfile_u64s *chain, unsigned *left)
{
    struct pf_callchain_walk walk = pf_callchain_start(chain);
    for (uint64_t ip; *left && pf_callchain_next(&walk, &ip);) {
        if (*left % SCRIPT_CHAIN_CHUNK == 0) {
            pf_script_leave(script, at);
            at = pf_script_enter(script);
        }
        *at = '\t';
        at = pf_script_right_hex(at + 1, ip);
        *at++ = '\n';
        --*left;
    }
    pf_script_leave(script, at);
    return pf_script_enter(script);
}

char *pf_script_put_callchain(struct pf_script *script, char *at)
{
    *at++ = '\n';
    pf_script_leave(script, at);
    at = pf_script_enter(script);
    if (!script->plan->shows_ip)
        return at;
    unsigned left = pf_script_chain_max(script);
    for (unsigned i = 0; i < script->stack.part_count; i++)
        at = put_chain(script, at, &script->stack.parts[i].ips, &left);
    return at;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

void pf_script_put_head(struct pf_script *script)
{
    const struct pf_script_plan *plan = script->plan;
    char *at = pf_script_enter(script);
    for (unsigned i = plan->head_first; i < plan->head_count; i++)
        at = plan->steps[i](script, at);
    pf_script_leave(script, at);
}

void pf_script_put_sample(struct pf_script *script)
{
    const struct pf_script_plan *plan = script->plan;
    if (!plan->fields)
        return;
    char *at = pf_script_enter(script);
    for (unsigned i = 0; i < plan->step_count; i++)
        at = plan->steps[i](script, at);
    *at++ = '\n';
    pf_script_leave(script, at);
}
