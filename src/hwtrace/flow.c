/* SPDX-License-Identifier: MIT */
#include "hwtrace/flow.h"

const char *pf_flow_error_text(unsigned code)
{
    static const char *const texts[PF_FLOW_ERRORS] = {
        [PF_FLOW_ERROR_MEMORY] = "Memory allocation failed",
        [PF_FLOW_ERROR_INTERNAL] = "Internal error",
        [PF_FLOW_ERROR_BAD_PACKET] = "Bad packet",
        [PF_FLOW_ERROR_NO_MORE] = "No more data",
        [PF_FLOW_ERROR_NO_CODE] = "Failed to get instruction",
        [PF_FLOW_ERROR_MISMATCH] = "Trace doesn't match instruction",
        [PF_FLOW_ERROR_OVERFLOW] = "Overflow packet",
        [PF_FLOW_ERROR_LOST] = "Lost trace data",
        [PF_FLOW_ERROR_UNKNOWN] = "Unknown error!",
        [PF_FLOW_ERROR_ENDLESS] = "Never-ending loop",
    };
    return code < PF_FLOW_ERRORS && texts[code] ? texts[code] : texts[PF_FLOW_ERROR_UNKNOWN];
}

static const struct {
    uint32_t flags;
    const char *name;
} names[] = {
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL, "call"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN, "return"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CONDITIONAL, "jcc"},
    {PF_FLOW_IS_BRANCH, "jmp"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_INTERRUPT, "int"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_INTERRUPT, "iret"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_SYSTEM, "syscall"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_RETURN | PF_FLOW_IS_SYSTEM, "sysret"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_ASYNC, "async"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT, "hw int"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_ABORT, "tx abrt"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_VM_ENTRY, "vmentry"},
    {PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_VM_EXIT, "vmexit"},
};

static size_t put(char *to, const char *text)
{
    const size_t bytes = strlen(text);
    memcpy(to, text, bytes);
    return bytes;
}

uint32_t pf_flow_flags_of(enum pf_x86_flow flow)
{
    static const uint32_t flags_of[] = {
        [PF_X86_JUMP] = PF_FLOW_IS_BRANCH,
        [PF_X86_JUMP_INDIRECT] = PF_FLOW_IS_BRANCH,
        [PF_X86_CONDITIONAL] = PF_FLOW_IS_CONDITIONAL,
        [PF_X86_CALL] = PF_FLOW_IS_CALL,
        [PF_X86_CALL_INDIRECT] = PF_FLOW_IS_CALL,
        [PF_X86_RETURN] = PF_FLOW_IS_RETURN,
        [PF_X86_SYSTEM_CALL] = PF_FLOW_IS_CALL | PF_FLOW_IS_SYSTEM,
        [PF_X86_SYSTEM_RETURN] = PF_FLOW_IS_RETURN | PF_FLOW_IS_SYSTEM,
        [PF_X86_INTERRUPT] = PF_FLOW_IS_CALL | PF_FLOW_IS_INTERRUPT,
        [PF_X86_INTERRUPT_RETURN] = PF_FLOW_IS_RETURN | PF_FLOW_IS_INTERRUPT,
        [PF_X86_FAR_CALL] = PF_FLOW_IS_CALL | PF_FLOW_IS_INTERRUPT,
        [PF_X86_FAR_JUMP] = PF_FLOW_IS_CALL | PF_FLOW_IS_INTERRUPT,
        [PF_X86_FAR_RETURN] = PF_FLOW_IS_RETURN | PF_FLOW_IS_INTERRUPT,
        [PF_X86_VM_ENTRY] = PF_FLOW_IS_CALL | PF_FLOW_IS_VM_ENTRY,
        [PF_X86_PTWRITE] = 0,
    };
    const uint32_t flags = flags_of[flow];
    return flags ? flags | PF_FLOW_IS_BRANCH : 0;
}

/* What the processor's guess of the branch came to. */
static size_t put_outcome(uint32_t flags, char *to)
{
    const bool both = flags & PF_FLOW_IS_MISPREDICTED && flags & PF_FLOW_IS_NOT_TAKEN;
    return both                              ? put(to, "/miss,not_taken/")
           : flags & PF_FLOW_IS_MISPREDICTED ? put(to, "/miss/")
           : flags & PF_FLOW_IS_NOT_TAKEN    ? put(to, "/not_taken/")
                                             : 0;
}

size_t pf_flow_put_flags(uint32_t flags, char *to)
{
    const uint32_t kind = flags & ~(uint32_t)(PF_FLOW_IS_BEGIN | PF_FLOW_IS_END | PF_FLOW_IN_TRANSACTION |
                                              PF_FLOW_IS_MISPREDICTED | PF_FLOW_IS_NOT_TAKEN);
    size_t bytes = flags & PF_FLOW_IS_BEGIN ? put(to, "tr strt ") : flags & PF_FLOW_IS_END ? put(to, "tr end  ") : 0;
    for (size_t i = 0; i < PF_COUNT(names); i++)
        if (names[i].flags == kind)
            bytes += put(to + bytes, names[i].name);
    bytes += put_outcome(flags, to + bytes);
    return bytes + (flags & PF_FLOW_IN_TRANSACTION ? put(to + bytes, " (x)") : 0);
}
