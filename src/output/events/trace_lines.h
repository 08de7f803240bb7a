/* SPDX-License-Identifier: MIT */
/* Lines of system calls as `perf trace` prints them. A line has all that is printed: any thread can print it. */
#ifndef PF_OUTPUT_EVENTS_TRACE_LINES_H
#define PF_OUTPUT_EVENTS_TRACE_LINES_H

#include <perfile/analysis.h>

#include "analysis/events/syscalls.h"
#include "base/text.h"

enum pf_trace_line_kind {
    PF_TRACE_CALL,        /* "read(fd: 3) = 12" */
    PF_TRACE_CONTINUED,   /* " ... [continued]: read()) = 12" */
    PF_TRACE_INTERRUPTED, /* "read(fd: 3) ...": another call begins before it ends */
    PF_TRACE_NO_RETURN,   /* "exit_group() = ?" */
};

/* What is printed of a call, as small as possible: lines go from thread to thread. */
struct pf_trace_line {
    enum pf_trace_line_kind kind;
    int32_t tid;
    const char *comm;
    const struct pf_syscall *call; /* NULL: not known */
    uint64_t number;
    enum pf_abi abi;
    uint32_t cpu; /* UINT32_MAX: not known */
    bool entered;
    uint64_t start, duration; /* ns */
    int64_t result;
    const char *result_comm; /* the name of the thread that the result is the id of; NULL: it is not shown */
    uint64_t arguments[PF_SYSCALL_ARGUMENTS];
    size_t names; /* the index of the names of its arguments, from 1 on; 0: there are no names */
};

/* Lines with the names of their arguments; all zeros is an empty list. */
struct pf_trace_lines {
    struct pf_trace_line *lines;
    size_t count, capacity;
    struct pf_syscall_names *names;
    size_t name_count, name_capacity;
};

struct pf_trace_printer {
    struct pf_text *out;
    struct pf_text scratch; /* without a sink */
    unsigned flags;         /* PERFILE_EVENTS_... */
    uint64_t base;          /* ns: the time that is printed as 0 */
};

/* False: out of memory. */
bool pf_trace_lines_add(struct pf_trace_lines *lines, const struct perfile_allocator *allocator,
                        const struct pf_trace_line *line, const struct pf_syscall_names *names);
void pf_trace_lines_close(struct pf_trace_lines *lines, const struct perfile_allocator *allocator);

/* False: out of memory. */
bool pf_trace_printer_open(struct pf_trace_printer *printer, struct pf_text *out, unsigned flags,
                           const struct perfile_allocator *allocator);
void pf_trace_printer_close(struct pf_trace_printer *printer);

/* "     0.015 " */
void pf_trace_put_time(const struct pf_trace_printer *printer, uint64_t ns);
/* "[001] ", if it is asked for and known. */
void pf_trace_put_cpu(const struct pf_trace_printer *printer, uint32_t cpu);
/* "ls/4711 " */
void pf_trace_put_thread(const struct pf_trace_printer *printer, const char *comm, int32_t tid);
/* The time, the duration and the thread. */
void pf_trace_put_head(const struct pf_trace_printer *printer, const struct pf_trace_line *line);
/* `names` are those of the call's arguments. */
void pf_trace_put_line(struct pf_trace_printer *printer, const struct pf_trace_line *line,
                       const struct pf_syscall_names *names);
/* All of them. */
void pf_trace_put_lines(struct pf_trace_printer *printer, const struct pf_trace_lines *lines);

#endif
