/* SPDX-License-Identifier: MIT */
/* System calls: their names by the number that they have in a binary interface, and what their arguments are. */
#ifndef PF_ANALYSIS_EVENTS_SYSCALL_TABLE_H
#define PF_ANALYSIS_EVENTS_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum pf_abi {
    PF_ABI_X86_64,
    PF_ABI_I386,
    PF_ABI_ARM64,
    PF_ABI_ARM,
    PF_ABI_RISCV64,
    PF_ABI_S390X,
    PF_ABI_PPC64,
    PF_ABI_UNKNOWN,
};

enum pf_syscall_result {
    PF_RESULT_NUMBER,
    PF_RESULT_FD,
    PF_RESULT_HEX,
    PF_RESULT_PID,
    PF_RESULT_TIMEOUT, /* 0: nothing came in time */
};

enum { PF_SYSCALL_ARGUMENTS = 6 };

/* See syscalls/calls.def. */
struct pf_syscall {
    uint16_t text;  /* where its name is in the text of all calls; the names of its arguments follow */
    uint8_t result; /* of enum pf_syscall_result */
    uint8_t kinds[PF_SYSCALL_ARGUMENTS]; /* of its arguments; 0 after the last one */
};

/* That of a machine (uname -m, NULL: not known) for programs of 64 or of 32 bits. */
enum pf_abi pf_abi_of(const char *machine, bool narrow);
/* NULL: there is none. */
const char *pf_abi_name(enum pf_abi abi);
/* Its calls have 32-bit registers. */
bool pf_abi_is_narrow(enum pf_abi abi);
/* NULL: not known. */
const struct pf_syscall *pf_syscall_of(enum pf_abi abi, uint64_t number);
const struct pf_syscall *pf_syscall_named(const char *name);
const char *pf_syscall_name(const struct pf_syscall *call);
/* "ENOENT" of 2; NULL: not known. */
const char *pf_errno_name(uint64_t number);
/* "No such file or directory", the same on all machines; NULL: not known. */
const char *pf_errno_text(uint64_t number);
/* The name or "syscall_42". */
const char *pf_syscall_label(const struct pf_syscall *call, uint64_t number, char buffer[32]);

bool pf_syscall_never_returns(const struct pf_syscall *call);
/* The end of a signal handler: the kernel does not report its return under its number. */
bool pf_syscall_returns_elsewhere(const struct pf_syscall *call);

enum pf_syscall_result pf_syscall_result_kind(const struct pf_syscall *call);
/* Returns the first argument that is a file descriptor; -1 when the call does not have one. */
int pf_syscall_find_fd(const struct pf_syscall *call);

/* What an argument names, when it is known; NULL: it is not. */
struct pf_syscall_names {
    const char *of[PF_SYSCALL_ARGUMENTS];
};
/* "fd: 3, count: 8": without arguments that are 0, as perf prints them. `call` may be NULL. */
void pf_syscall_put_arguments(struct pf_text *out, enum pf_abi abi, const struct pf_syscall *call,
                              const uint64_t arguments[PF_SYSCALL_ARGUMENTS], const struct pf_syscall_names *names);

#endif
