/* SPDX-License-Identifier: MIT */
#include "analysis/events/syscall_table.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"

/* What arguments are: numbers, and sets of named values. */
enum kind {
    KIND_none,
    KIND_unknown,
    KIND_hex,
    KIND_ptr,
    KIND_text,
    KIND_i32,
    KIND_pid,
    KIND_u32,
    KIND_i64,
    KIND_u64,
    KIND_fd,
    KIND_dirfd,
    KIND_mode,
#define SET(kind, how) KIND_##kind,
#define VALUE(kind, number, name)
#include "analysis/events/syscalls/values.def"
#undef SET
#undef VALUE
    KIND_COUNT
};

/* Most machines have the arguments of clone in another order than x86-64, and some those of mmap in memory. */
#define OTHER_SIGNATURES                                                                                               \
    CALL(unknown, -1, -1, -1, -1, -1, -1, -1, NUMBER, UNKNOWN)                                                         \
    CALL(in_memory, -1, -1, -1, -1, -1, -1, -1, NUMBER, ARG(arg, ptr))                                                 \
    CALL(clone_s390x, -1, -1, -1, -1, -1, -1, -1, PID,                                                                 \
         ARG(newsp, hex) ARG(clone_flags, clone) ARG(parent_tidptr, ptr) ARG(child_tidptr, ptr) ARG(tls, hex))         \
    CALL(clone_others, -1, -1, -1, -1, -1, -1, -1, PID,                                                                \
         ARG(clone_flags, clone) ARG(newsp, hex) ARG(parent_tidptr, ptr) ARG(tls, hex) ARG(child_tidptr, ptr))

enum {
#define CALL(name, ...) CALL_##name,
#include "analysis/events/syscalls/calls.def"
    CALL_COUNT,
    LAST_CALL = CALL_COUNT - 1,
    OTHER_SIGNATURES
#undef CALL
};

#define ARG(name, kind) "\0" #name
#define NONE
#define UNKNOWN
/* The name of each call and those of its arguments, with a NUL after each: pointers would be larger than they are. */
static const struct texts {
#define CALL(name, x86_64, i386, arm64, arm, riscv64, s390x, ppc64, result, arguments)                                 \
    char of_##name[sizeof(#name arguments)];
#include "analysis/events/syscalls/calls.def"
    OTHER_SIGNATURES
#undef CALL
} texts = {
#define CALL(name, x86_64, i386, arm64, arm, riscv64, s390x, ppc64, result, arguments) #name arguments,
#include "analysis/events/syscalls/calls.def"
    OTHER_SIGNATURES
#undef CALL
};
#undef ARG
#undef NONE
#undef UNKNOWN

#define ARG(name, kind) KIND_##kind,
#define NONE KIND_none
#define UNKNOWN KIND_unknown
static const struct pf_syscall calls[] = {
#define CALL(name, x86_64, i386, arm64, arm, riscv64, s390x, ppc64, result, arguments)                                 \
    {offsetof(struct texts, of_##name), PF_RESULT_##result, {arguments}},
#include "analysis/events/syscalls/calls.def"
    OTHER_SIGNATURES
#undef CALL
};

const char *pf_syscall_name(const struct pf_syscall *call)
{
    return (const char *)&texts + call->text;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/*
 * Each machine has a table from numbers to calls. Its rows are the numbers, except that those of ARM alone, from
 * 0xf0000 on, are moved below ROW_COUNT, and that a call which the machine does not have is in a row of its own above.
 */
enum { ARM_FIRST = 0xf0000, ARM_ROW = 1000, ROW_COUNT = 1024, END_OF_ROWS = ROW_COUNT + CALL_COUNT };
#define ROW(number) ((number) < ARM_FIRST ? (number) : (number)-ARM_FIRST + ARM_ROW)
#define IN_ROW(abi, number, name) [abi][(number) < 0 ? ROW_COUNT + CALL_##name : ROW(number)] = CALL_##name + 1

/* The call of each row plus one; 0 where the machine has no call of that number. */
static const uint16_t rows[PF_ABI_UNKNOWN + 1][END_OF_ROWS] = {
#define CALL(name, x86_64, i386, arm64, arm, riscv64, s390x, ppc64, ...)                                               \
    IN_ROW(PF_ABI_X86_64, x86_64, name), IN_ROW(PF_ABI_I386, i386, name), IN_ROW(PF_ABI_ARM64, arm64, name),           \
        IN_ROW(PF_ABI_ARM, arm, name), IN_ROW(PF_ABI_RISCV64, riscv64, name), IN_ROW(PF_ABI_S390X, s390x, name),       \
        IN_ROW(PF_ABI_PPC64, ppc64, name),
#include "analysis/events/syscalls/calls.def"
#undef CALL
};

static const struct {
    const char *name;
    bool narrow;
} abis[] = {
    [PF_ABI_X86_64] = {"x86_64", false}, [PF_ABI_I386] = {"i386", true},        [PF_ABI_ARM64] = {"arm64", false},
    [PF_ABI_ARM] = {"arm", true},        [PF_ABI_RISCV64] = {"riscv64", false}, [PF_ABI_S390X] = {"s390x", false},
    [PF_ABI_PPC64] = {"ppc64", false},   [PF_ABI_UNKNOWN] = {NULL, false},
};

/* Machines as uname -m calls them, by how they begin. */
static const struct {
    const char *machine;
    enum pf_abi wide, narrow;
} machines[] = {
    {"x86_64", PF_ABI_X86_64, PF_ABI_I386},      {"i386", PF_ABI_I386, PF_ABI_I386},
    {"i486", PF_ABI_I386, PF_ABI_I386},          {"i586", PF_ABI_I386, PF_ABI_I386},
    {"i686", PF_ABI_I386, PF_ABI_I386},          {"aarch64", PF_ABI_ARM64, PF_ABI_ARM},
    {"arm64", PF_ABI_ARM64, PF_ABI_ARM},         {"arm", PF_ABI_ARM, PF_ABI_ARM},
    {"riscv64", PF_ABI_RISCV64, PF_ABI_RISCV64}, {"s390x", PF_ABI_S390X, PF_ABI_S390X},
    {"ppc64", PF_ABI_PPC64, PF_ABI_PPC64},
};

enum pf_abi pf_abi_of(const char *machine, bool narrow)
{
    for (size_t i = 0; machine && i < PF_COUNT(machines); i++)
        if (strncmp(machine, machines[i].machine, strlen(machines[i].machine)) == 0)
            return narrow ? machines[i].narrow : machines[i].wide;
    return PF_ABI_UNKNOWN;
}

const char *pf_abi_name(enum pf_abi abi)
{
    return abis[abi].name;
}

bool pf_abi_is_narrow(enum pf_abi abi)
{
    return abis[abi].narrow;
}

const struct pf_syscall *pf_syscall_of(enum pf_abi abi, uint64_t number)
{
    enum { X32 = 0x40000000 }; /* bit of calls of programs with 32-bit pointers; those from 512 on are their own */
    if (abi == PF_ABI_X86_64 && number & X32 && (number & ~(uint64_t)X32) < 512)
        number &= ~(uint64_t)X32;
    if (number >= ARM_FIRST ? number - ARM_FIRST >= ROW_COUNT - ARM_ROW : number >= ARM_ROW)
        return NULL;
    const uint16_t call = rows[abi][ROW(number)];
    return call ? &calls[call - 1] : NULL;
}

const struct pf_syscall *pf_syscall_named(const char *name)
{
    const size_t at = PF_COUNT_BEFORE(CALL_COUNT, i, strcmp(pf_syscall_name(&calls[i]), name) < 0);
    return at < CALL_COUNT && strcmp(pf_syscall_name(&calls[at]), name) == 0 ? &calls[at] : NULL;
}

const char *pf_syscall_label(const struct pf_syscall *call, uint64_t number, char buffer[32])
{
    if (call)
        return pf_syscall_name(call);
    snprintf(buffer, 32, "syscall_%llu", (unsigned long long)number);
    return buffer;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Of the kernel itself: programs do not see them, tracepoints do. */
#define KERNEL_ERRORS                                                                                                  \
    ERRNO(512, ERESTARTSYS, "")                                                                                        \
    ERRNO(513, ERESTARTNOINTR, "")                                                                                     \
    ERRNO(514, ERESTARTNOHAND, "")                                                                                     \
    ERRNO(515, ENOIOCTLCMD, "")                                                                                        \
    ERRNO(516, ERESTART_RESTARTBLOCK, "")                                                                              \
    ERRNO(524, ENOTSUPP, "")

/* The name of each error and its text, with a NUL after each. */
static const struct error_texts {
#define ERRNO(number, name, text) char of_##name[sizeof(#name "\0" text)];
#include "analysis/events/syscalls/errnos.def"
    KERNEL_ERRORS
#undef ERRNO
} error_texts = {
#define ERRNO(number, name, text) #name "\0" text,
#include "analysis/events/syscalls/errnos.def"
    KERNEL_ERRORS
#undef ERRNO
};

static const struct {
    uint16_t number;
    uint16_t text; /* where its name is in error_texts */
} errors[] = {
#define ERRNO(number, name, text) {number, offsetof(struct error_texts, of_##name)},
#include "analysis/events/syscalls/errnos.def"
    KERNEL_ERRORS
#undef ERRNO
};

const char *pf_errno_name(uint64_t number)
{
    for (size_t i = 0; i < PF_COUNT(errors); i++)
        if (errors[i].number == number)
            return (const char *)&error_texts + errors[i].text;
    return NULL;
}

const char *pf_errno_text(uint64_t number)
{
    const char *name = pf_errno_name(number);
    const char *text = name ? name + strlen(name) + 1 : "";
    return *text ? text : NULL;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

enum how { NUMBER, MASK, ENUM, CODE, FUTEX, SOCKTYPE, CLONE };

#define JOINED(a, b) a##b
#define AT_LINE(line) JOINED(VALUE_, line)

/* Their names, each with a NUL after it. */
static const struct value_texts {
#define SET(kind, how)
#define VALUE(kind, number, name) char AT_LINE(__LINE__)[sizeof(name)];
#include "analysis/events/syscalls/values.def"
#undef VALUE
} value_texts = {
#define VALUE(kind, number, name) name,
#include "analysis/events/syscalls/values.def"
#undef SET
#undef VALUE
};

static const struct value {
    uint32_t number;
    uint16_t text; /* where its name is in value_texts */
    uint8_t kind;
} values[] = {
#define SET(kind, how)
#define VALUE(kind, number, name) {number, offsetof(struct value_texts, AT_LINE(__LINE__)), KIND_##kind},
#include "analysis/events/syscalls/values.def"
#undef SET
#undef VALUE
};

/* Where the values of a set start: they stand after each other. */
enum {
#define SET(kind, how) FIRST_##kind, BEFORE_##kind = FIRST_##kind - 1,
#define VALUE(kind, number, name) AT_LINE(__LINE__),
#include "analysis/events/syscalls/values.def"
#undef SET
#undef VALUE
};

static void put_value_name(struct pf_text *out, const struct value *value)
{
    pf_put_string(out, (const char *)&value_texts + value->text);
}

static const struct set {
    enum how how;
    unsigned first; /* of `values` */
} sets[KIND_COUNT] = {
#define SET(kind, how) [KIND_##kind] = {how, FIRST_##kind},
#define VALUE(kind, number, name)
#include "analysis/events/syscalls/values.def"
#undef SET
#undef VALUE
};

/* The next value of the kind after `value`, the first one of NULL; NULL after the last. */
static const struct value *next_value(enum kind kind, const struct value *value)
{
    value = value ? value + 1 : &values[sets[kind].first];
    return value < values + PF_COUNT(values) && value->kind == kind ? value : NULL;
}

/* The value of this kind with this number; false when no value has it. */
static bool put_named(struct pf_text *out, enum kind kind, uint64_t number)
{
    for (const struct value *value = NULL; (value = next_value(kind, value)) != NULL;)
        if (value->number == number) {
            put_value_name(out, value);
            return true;
        }
    return false;
}

static void put_enum(struct pf_text *out, enum kind kind, uint64_t number)
{
    if (!put_named(out, kind, number))
        pf_put_signed(out, (int32_t)number);
}

static void put_code(struct pf_text *out, enum kind kind, uint64_t number)
{
    if (put_named(out, kind, number))
        return;
    pf_put_string(out, "0x");
    pf_put_hex(out, number);
}

/* Bits by name; what is left in hexadecimal. */
static void put_mask(struct pf_text *out, enum kind kind, uint64_t number, bool started)
{
    const bool zero = number == 0;
    for (const struct value *value = NULL; (value = next_value(kind, value)) != NULL;) {
        const uint32_t bits = value->number;
        if (bits ? (number & bits) != bits : !zero)
            continue;
        pf_put_string(out, started ? "|" : "");
        put_value_name(out, value);
        number &= ~(uint64_t)bits;
        started = true;
    }
    if (number || !started) {
        pf_put_string(out, started ? "|0x" : "0x");
        pf_put_hex(out, number);
    }
}

static void put_open(struct pf_text *out, enum pf_abi abi, uint64_t number)
{
    const bool of_arm = abi == PF_ABI_ARM || abi == PF_ABI_ARM64;
    const enum kind kind = of_arm ? KIND_open_arm : abi == PF_ABI_PPC64 ? KIND_open_ppc : KIND_open;
    enum { READING = 3 };
    if (!(number & READING))
        pf_put_string(out, "RDONLY");
    if (number)
        put_mask(out, kind, number, !(number & READING));
}

/* As the kernel's macros are called: IRUSR|IWUSR. */
static void put_mode(struct pf_text *out, uint64_t mode)
{
    static const char *const names[] = {"IXOTH", "IWOTH", "IROTH", "IXGRP", "IWGRP", "IRGRP",
                                        "IXUSR", "IWUSR", "IRUSR", "ISVTX", "ISGID", "ISUID"};
    static const struct {
        unsigned bits;
        const char *name;
    } sums[] = {{0777, "IRWXUGO"}, {0700, "IRWXU"}, {070, "IRWXG"}, {07, "IRWXO"}, {0, NULL}};
    bool started = false;
    for (size_t i = 0; sums[i].name; i++)
        if ((mode & sums[i].bits) == sums[i].bits) {
            pf_put_format(out, "%s%s", started ? "|" : "", sums[i].name);
            mode &= ~(uint64_t)sums[i].bits;
            started = true;
        }
    for (size_t i = PF_COUNT(names); i-- > 0;)
        if (mode & 1u << i) {
            pf_put_format(out, "%s%s", started ? "|" : "", names[i]);
            mode &= ~(uint64_t)(1u << i);
            started = true;
        }
    if (mode || !started)
        pf_put_format(out, "%s0%llo", started ? "|" : "", (unsigned long long)mode);
}

static void put_futex(struct pf_text *out, uint64_t number)
{
    enum { PRIVATE = 128, CLOCK_REALTIME_BIT = 256 };
    put_enum(out, KIND_futex, number & ~(uint64_t)(PRIVATE | CLOCK_REALTIME_BIT));
    pf_put_string(out, number & PRIVATE ? "|PRIVATE_FLAG" : "");
    pf_put_string(out, number & CLOCK_REALTIME_BIT ? "|CLOCK_REALTIME" : "");
}

static void put_socktype(struct pf_text *out, uint64_t number)
{
    enum { NONBLOCK = 04000, CLOEXEC = 02000000 };
    const uint64_t type = number & 15;
    if (type)
        put_enum(out, KIND_socktype, type);
    if (number & CLOEXEC)
        pf_put_string(out, type ? "|CLOEXEC" : "CLOEXEC");
    if (number & NONBLOCK)
        pf_put_string(out, type || number & CLOEXEC ? "|NONBLOCK" : "NONBLOCK");
}

/* The lowest byte is the signal at the end. */
static void put_clone(struct pf_text *out, uint64_t number)
{
    const uint64_t flags = number & ~(uint64_t)0x7f, signal = number & 0x7f;
    if (flags)
        put_mask(out, KIND_clone, flags, false);
    if (signal) {
        pf_put_string(out, flags ? "|SIG" : "SIG");
        put_enum(out, KIND_signal, signal);
    }
}

static void put_set(struct pf_text *out, enum kind kind, enum pf_abi abi, uint64_t number)
{
    number &= UINT32_MAX;
    switch (sets[kind].how) {
    case NUMBER:
        break;
    case MASK:
        if (kind == KIND_open)
            put_open(out, abi, number);
        else
            put_mask(out, kind, number, false);
        break;
    case ENUM:
        put_enum(out, kind, number);
        break;
    case CODE:
        put_code(out, kind, number);
        break;
    case FUTEX:
        put_futex(out, number);
        break;
    case SOCKTYPE:
        put_socktype(out, number);
        break;
    case CLONE:
        put_clone(out, number);
        break;
    }
}

static void put_hex(struct pf_text *out, uint64_t number)
{
    pf_put_string(out, "0x");
    pf_put_hex(out, number);
}

static void put_fd(struct pf_text *out, int32_t fd, const char *name, bool of_directory)
{
    enum { CURRENT = -100 };
    if (of_directory && fd == CURRENT)
        pf_put_string(out, "CWD");
    else
        pf_put_signed(out, fd);
    if (name) {
        pf_put_string(out, "<");
        pf_put_name(out, name);
        pf_put_string(out, ">");
    }
}

static void put_number(struct pf_text *out, enum kind kind, enum pf_abi abi, uint64_t number)
{
    const bool narrow = pf_abi_is_narrow(abi);
    switch (kind) {
    case KIND_i32:
    case KIND_pid:
        pf_put_signed(out, (int32_t)number);
        break;
    case KIND_u32:
        pf_put_unsigned(out, (uint32_t)number);
        break;
    case KIND_i64:
        pf_put_signed(out, narrow ? (int32_t)number : (int64_t)number);
        break;
    case KIND_u64:
        pf_put_unsigned(out, narrow ? (uint32_t)number : number);
        break;
    case KIND_mode:
        put_mode(out, number & 0xffff);
        break;
    default:
        put_hex(out, number);
    }
}

static void put_value(struct pf_text *out, enum pf_abi abi, enum kind kind, uint64_t number, const char *name)
{
    if (sets[kind].how != NUMBER) {
        put_set(out, kind, abi, number);
    } else if (kind == KIND_fd || kind == KIND_dirfd) {
        put_fd(out, (int32_t)number, name, kind == KIND_dirfd);
    } else if (name) {
        pf_put_string(out, "\"");
        pf_put_name(out, name);
        pf_put_string(out, "\"");
    } else {
        put_number(out, kind, abi, number);
    }
}

/* What is 0 is left out, but for kinds of which 0 says something. */
static bool says_nothing(enum kind kind, uint64_t number)
{
    static const bool reported[KIND_COUNT] = {
        [KIND_fd] = true,     [KIND_dirfd] = true, [KIND_whence] = true,  [KIND_clock] = true,
        [KIND_rlimit] = true, [KIND_futex] = true, [KIND_sigmask] = true,
    };
    return number == 0 && !reported[kind];
}

/* Arguments that do not matter, given others: the mode of a file that is not created, the file of no mapping of one. */
static bool is_unused(const struct pf_syscall *call, enum kind kind, const char *name, unsigned at,
                      const uint64_t arguments[PF_SYSCALL_ARGUMENTS])
{
    enum { CREATES = 020000100, ANONYMOUS = 0x20, SETTLS = 0x80000 }; /* O_CREAT, and what of O_TMPFILE is its own */
    switch (call - calls) {
    case CALL_openat:
        return kind == KIND_mode && !(arguments[2] & CREATES);
    case CALL_open:
        return kind == KIND_mode && !(arguments[1] & CREATES);
    case CALL_mmap:
    case CALL_mmap2:
        return at >= 4 && arguments[3] & ANONYMOUS; /* the file and the offset in it */
    case CALL_clone:
        return strcmp(name, "tls") == 0 && !((arguments[0] | arguments[1]) & SETTLS);
    default:
        return false;
    }
}

static void put_unknown(struct pf_text *out, const uint64_t arguments[PF_SYSCALL_ARGUMENTS])
{
    bool started = false;
    for (unsigned i = 0; i < PF_SYSCALL_ARGUMENTS; i++) {
        if (!arguments[i])
            continue;
        pf_put_format(out, "%sarg%u: 0x", started ? ", " : "", i);
        pf_put_hex(out, arguments[i]);
        started = true;
    }
}

static const struct pf_syscall *signature_of(enum pf_abi abi, const struct pf_syscall *call)
{
    if (!call)
        return &calls[CALL_unknown];
    if (call == &calls[CALL_clone] && abi != PF_ABI_X86_64)
        return &calls[abi == PF_ABI_S390X ? CALL_clone_s390x : CALL_clone_others];
    if (call == &calls[CALL_mmap] && (abi == PF_ABI_I386 || abi == PF_ABI_S390X))
        return &calls[CALL_in_memory];
    return call;
}

void pf_syscall_put_arguments(struct pf_text *out, enum pf_abi abi, const struct pf_syscall *call,
                              const uint64_t arguments[PF_SYSCALL_ARGUMENTS], const struct pf_syscall_names *names)
{
    const struct pf_syscall *signature = signature_of(abi, call);
    const char *argument = pf_syscall_name(signature);
    bool started = false;
    if (signature->kinds[0] == KIND_unknown) {
        put_unknown(out, arguments);
        return;
    }
    for (unsigned i = 0; i < PF_SYSCALL_ARGUMENTS && signature->kinds[i] != KIND_none; i++) {
        const enum kind kind = signature->kinds[i];
        const char *name = names ? names->of[i] : NULL;
        argument += strlen(argument) + 1;
        if ((says_nothing(kind, arguments[i]) && !name) || is_unused(call, kind, argument, i, arguments))
            continue;
        pf_put_string(out, started ? ", " : "");
        pf_put_string(out, argument);
        pf_put_string(out, ": ");
        put_value(out, abi, kind, arguments[i], name);
        started = true;
    }
}

int pf_syscall_find_fd(const struct pf_syscall *call)
{
    for (int i = 0; call && i < PF_SYSCALL_ARGUMENTS; i++)
        if (call->kinds[i] == KIND_fd)
            return i;
    return -1;
}

bool pf_syscall_never_returns(const struct pf_syscall *call)
{
    return call == &calls[CALL_exit] || call == &calls[CALL_exit_group];
}

bool pf_syscall_returns_elsewhere(const struct pf_syscall *call)
{
    return call == &calls[CALL_rt_sigreturn] || call == &calls[CALL_sigreturn];
}

enum pf_syscall_result pf_syscall_result_kind(const struct pf_syscall *call)
{
    return call ? call->result : PF_RESULT_NUMBER;
}
