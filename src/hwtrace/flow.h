/* SPDX-License-Identifier: MIT */
/*
 * Traces of the program flow: they say which branches were taken, and the program's code says what is between them. So
 * a decoder needs the code that each process had at its addresses at that time. It delivers steps: a row of
 * instructions without a branch, the branch after them, or something else that the trace notes. Samples are made of
 * steps in flow_samples.c, the same way for every kind of trace.
 */
#ifndef PF_HWTRACE_FLOW_H
#define PF_HWTRACE_FLOW_H

#include "base/memory.h"
#include "base/x86.h"
#include "hwtrace/packets.h"

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* Where code is read: mappings and files as they are when the functions are called. */
struct pf_code_source {
    /* A number for the mappings of a process, -1 is the kernel: while it stays the same, so does the code. */
    uint64_t (*space)(void *context, int32_t pid);
    /* Copies up to `count` bytes of its code; returns how many there are, 0 when the code is not available. */
    size_t (*read)(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count);
    void *context;
};

enum { PF_FLOW_LINE = 64 /* bytes of a processor's cache that move together */ };

/* Instructions one after the other, of which only the last one can go elsewhere. */
struct pf_flow_block {
    uint64_t space, start;
    uint64_t last;   /* address of the last instruction, */
    uint64_t next;   /* and the one after it */
    uint64_t target; /* of direct branches */
    uint32_t count;  /* of instructions: at least 1 */
    uint8_t flow;    /* enum pf_x86_flow, of the last one. PF_X86_ON: the block that follows has to be looked up */
    bool is_64;
    uint16_t flags;                /* enum pf_flow_flags of its last instruction, if that branches */
    struct pf_flow_block *chained; /* with the same hash; atomic */
    /*
     * While samples are merged: how often all of it ran, how often its last instruction branched, and which ran next.
     * Other threads may read what is above, and are not disturbed.
     */
    _Alignas(PF_FLOW_LINE) uint64_t runs;
    uint64_t branches;
    struct pf_flow_block *ran_next;
    uint8_t bytes[]; /* of each instruction */
};

struct pf_flow_code {
    const struct perfile_allocator *allocator;
    struct pf_code_source source;
    struct pf_arena arena;
    struct pf_flow_block **slots; /* by the first bits of the hash; atomic */
    unsigned slot_bits;
    struct pf_flow_slots *outgrown; /* that views may still use */
    size_t block_count;
    bool is_view; /* of the code that another thread has; no blocks are made, */
    bool missed;  /* but this notes that one was not there */
    bool has_views;
    int32_t pid;           /* of the process that is entered */
    uint64_t user, kernel; /* its spaces */
};

/* False when memory is short. */
bool pf_flow_code_open(struct pf_flow_code *code, const struct perfile_allocator *allocator,
                       const struct pf_code_source *source);
void pf_flow_code_close(struct pf_flow_code *code);
/* So much was decoded that entering a process discards it: there must not be any views then. */
bool pf_flow_code_is_full(const struct pf_flow_code *code);
/* From now on code is that of this process, with its mappings as they are now. Blocks that were found are not valid. */
void pf_flow_code_enter(struct pf_flow_code *code, int32_t pid);
/*
 * What was decoded so far of the process that is entered, and more of it later, for one other thread to find. It is
 * not closed.
 */
struct pf_flow_code pf_flow_code_view(struct pf_flow_code *code);
/* The block from this address on; NULL: its code is not available, or not an instruction, or memory is short. */
struct pf_flow_block *pf_flow_code_find(struct pf_flow_code *code, uint64_t address, bool is_64);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* What a branch was, as perf's PERF_IP_FLAG_*, whose names are what it prints. */
enum pf_flow_flags {
    PF_FLOW_IS_BRANCH = 1 << 0,
    PF_FLOW_IS_CALL = 1 << 1,
    PF_FLOW_IS_RETURN = 1 << 2,
    PF_FLOW_IS_CONDITIONAL = 1 << 3,
    PF_FLOW_IS_SYSTEM = 1 << 4, /* a system call, or its return */
    PF_FLOW_IS_ASYNC = 1 << 5,  /* not by an instruction */
    PF_FLOW_IS_INTERRUPT = 1 << 6,
    PF_FLOW_IS_ABORT = 1 << 7, /* of a transaction */
    PF_FLOW_IS_BEGIN = 1 << 8, /* of the trace, and its end */
    PF_FLOW_IS_END = 1 << 9,
    PF_FLOW_IN_TRANSACTION = 1 << 10,
    PF_FLOW_IS_VM_ENTRY = 1 << 11,
    PF_FLOW_IS_VM_EXIT = 1 << 12,
    PF_FLOW_IS_MISPREDICTED = 1 << 15,
    PF_FLOW_IS_NOT_TAKEN = 1 << 16,
};

/* Writes what perf calls it, of at most 40 bytes, without a NUL, and returns the number of bytes. */
size_t pf_flow_put_flags(uint32_t flags, char *to);

enum pf_flow_event {
    PF_FLOW_NOTHING,
    PF_FLOW_ERROR, /* `payload` is its code */
    PF_FLOW_PSB,   /* `payload` is its offset in the trace */
    PF_FLOW_CBR,
    PF_FLOW_PTWRITE,
    PF_FLOW_MWAIT,
    PF_FLOW_PWRE,
    PF_FLOW_EXSTOP,
    PF_FLOW_PWRX,
    PF_FLOW_TRANSACTION,
};

/* Codes of errors, as perf has them. */
enum pf_flow_error {
    PF_FLOW_ERROR_MEMORY = 1,
    PF_FLOW_ERROR_INTERNAL,
    PF_FLOW_ERROR_BAD_PACKET,
    PF_FLOW_ERROR_NO_MORE,
    PF_FLOW_ERROR_NO_CODE,
    PF_FLOW_ERROR_MISMATCH,
    PF_FLOW_ERROR_OVERFLOW,
    PF_FLOW_ERROR_LOST,
    PF_FLOW_ERROR_UNKNOWN,
    PF_FLOW_ERROR_ENDLESS,
    PF_FLOW_ERRORS
};
/* What perf calls it. */
const char *pf_flow_error_text(unsigned code);

/* Instructions, then a branch, then an event; each may be missing. */
struct pf_flow_step {
    struct pf_flow_block *block; /* NULL: no instructions */
    uint32_t first, count;       /* instructions of the block */
    uint32_t flags;              /* 0: no branch was taken */
    uint64_t from, to;           /* of the branch; 0: where the trace begins or ends */
    uint8_t event;               /* enum pf_flow_event */
    bool event_has_ip;
    uint64_t event_ip;
    uint64_t payload;
    uint64_t time;   /* on the clock of the trace */
    uint64_t cycles; /* of the processor, of all that was traced; only with has_cycles */
    bool has_cycles;
    bool ends;       /* after it execution is not known to go on where it ended */
    bool has_thread; /* this thread runs from now on; */
    bool has_cpu;    /* and the step belongs to this processor, where that of the queue is not known */
    int32_t tid, cpu;
};

/* How much of a trace became steps: the three kinds add up to its bytes. */
struct pf_flow_bytes {
    uint64_t decoded;
    uint64_t skipped; /* before the first synchronization, and after errors until the next one */
    uint64_t bad;     /* not packets */
};

/* The flags of a branch by the instruction that it is; 0: it is not a branch. */
uint32_t pf_flow_flags_of(enum pf_x86_flow flow);

/* ---- decoders ---------------------------------------------------------------------------------------------------- */

struct pf_aux_recording;

struct pf_flow_setup {
    struct pf_aux_walk *walk; /* gives packets; payloads that continue each other are one */
    struct pf_flow_code *code;
    struct pf_flow_bytes *bytes; /* counted while decoding */
    const struct pf_aux_recording *recording;
    int32_t cpu; /* of the queue; -1: several */
};

/* Of the flags of a branch in a branch stack: that it was predicted. */
enum { PF_FLOW_STACK_PREDICTED = 1 << 1 };

/*
 * Decoding from synchronizations on, before what comes before them is decoded. What the state will be after one is
 * guessed from its packets; when decoding gets there, the guess is compared with the state that it came to.
 */
struct pf_flow_ahead {
    /*
     * Reads the packets of the synchronization that the walk is at, and sets the state, which was opened. `known` is
     * one of the same queue. False: decoding cannot begin with it, or not all of it is there.
     */
    bool (*guess)(void *state, const void *known);
    /* What was decoded from the guess on is what would be decoded from this state on, apart from times. */
    bool (*is_right)(const void *guess, const void *state);
    /* The same state, in which the walk is another one. */
    void (*copy)(void *to, const void *from);
    /* `seek` returns 0 before packets from this offset on. */
    void (*stop_at)(void *state, uint64_t offset);
    /* The state was guessed, and what was decoded since then depends on what is not known. */
    bool (*is_unsure)(const void *state);
    /* Time and cycles of the state; those of `end` were counted from the guess on, where the state was another one. */
    uint64_t (*time)(const void *state);
    uint64_t (*cycles)(const void *state, bool *counts);
    void (*correct)(void *end, uint64_t earliest, uint64_t more_cycles, bool counts);
};

/* A result of pf_flow_decoder.next: the code is a view without the block that comes next. Nothing was done. */
enum { PF_FLOW_NO_BLOCK = 2 };

struct pf_flow_decoder {
    size_t state_bytes;
    /* The ratio of the time-stamp counter's cycles to those of the bus; may be NULL. */
    unsigned (*max_ratio)(const struct pf_aux_recording *recording);
    uint64_t branch_bits; /* that every branch has in branch stacks */
    bool keeps_blocks;    /* those of steps are those of the code, which stay until another process is entered */
    const struct pf_flow_ahead *ahead; /* NULL: it decodes from the start only */
    /* Why nothing can be decoded, when a library is missing; NULL: it can. The function may be NULL. */
    const char *(*missing)(void);
    void (*open)(void *state, const struct pf_flow_setup *setup); /* what the setup points at must outlive it */
    void (*close)(void *state);                                   /* may be NULL */
    /* The payload that follows does not continue the one before. `reference` is that of its record. */
    void (*restart)(void *state, uint64_t reference);
    /*
     * Reads on, without looking at code, to where a step is to be made: 1 and its time on the clock of the trace, 0 at
     * the end of the payload, or an error.
     */
    int (*seek)(void *state, uint64_t *time, struct perfile_error *error);
    /*
     * The next of the steps there: 1, 0 when all were made, or an error. The code is that of the process that is
     * entered.
     */
    int (*next)(void *state, struct pf_flow_step *step, struct perfile_error *error);
};

#endif
