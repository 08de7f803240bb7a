/* SPDX-License-Identifier: MIT */
/*
 * Records of Arm SPE as samples. A record makes a sample of each event that it has: cache and TLB accesses and misses,
 * branches, memory accesses, and `instructions`, which is every record. Where data came from is known by the
 * processor's own numbers where they are known, else by the events.
 */
#include "hwtrace/arm_spe.h"
#include "hwtrace/decoder.h"
#include "hwtrace/flow.h"

extern const struct pf_aux_format pf_aux_arm_spe;

/* ---- records ----------------------------------------------------------------------------------------------------- */

struct record {
    uint64_t pc, target, previous_target, virtual, physical; /* as recorded */
    uint64_t time;
    uint64_t events, operation;
    uint64_t latency;
    uint64_t source;
    uint32_t tid;
    uint8_t kind; /* of the operation: enum pf_spe_kind; 0: the record does not say */
    bool has_packets;
    bool is_damaged; /* bytes of it are not packets: what the others say may belong to another record */
};

enum { TOTAL_LATENCY = 0 };

static void add_packet(struct record *record, const struct pf_aux_packet *packet)
{
    const uint64_t payload = packet->payload;
    switch (packet->kind) {
    case PF_SPE_PC:
        record->pc = payload;
        break;
    case PF_SPE_TARGET:
        record->target = payload;
        break;
    case PF_SPE_PREVIOUS_TARGET:
        record->previous_target = payload;
        break;
    case PF_SPE_VIRTUAL:
        record->virtual = payload;
        break;
    case PF_SPE_PHYSICAL:
        record->physical = payload;
        break;
    case PF_SPE_LATENCY:
        record->latency = packet->detail == TOTAL_LATENCY ? payload : record->latency;
        break;
    case PF_SPE_CONTEXT:
        record->tid = (uint32_t)payload;
        break;
    case PF_SPE_EVENTS:
        record->events = payload;
        break;
    case PF_SPE_DATA_SOURCE:
        record->source = payload;
        break;
    case PF_SPE_TIMESTAMP:
        record->time = payload;
        break;
    case PF_SPE_OTHER:
    case PF_SPE_SVE_OTHER:
    case PF_SPE_SME_OTHER:
    case PF_SPE_LOAD:
    case PF_SPE_STORE:
    case PF_SPE_BRANCH:
    case PF_SPE_OPERATION:
        record->kind = (uint8_t)packet->kind;
        record->operation = payload;
        break;
    case PF_SPE_BAD:
        record->is_damaged = true;
        return;
    default:
        return; /* padding and the end */
    }
    record->has_packets = true;
}

static bool ends_record(unsigned kind)
{
    return kind == PF_SPE_END || kind == PF_SPE_TIMESTAMP;
}

/* Reads up to the end of a record: 1, 0 at the end of the trace, which is not that of a record, or an error. */
static int read_record(struct pf_aux_walk *walk, struct record *record, struct perfile_error *error)
{
    struct pf_aux_packet packet = {.bytes = 0};
    int result;
    *record = (struct record){.pc = 0};
    while ((result = pf_aux_walk_next_by(walk, pf_spe_read, &packet, error)) > 0) {
        add_packet(record, &packet);
        if (ends_record(packet.kind) && record->has_packets)
            break;
    }
    return result;
}

static int next_record(struct pf_aux_walk *walk, void *item, uint64_t *time, struct perfile_error *error)
{
    struct record *record = item;
    int result;
    while ((result = read_record(walk, record, error)) > 0 && record->is_damaged)
        continue;
    *time = record->time;
    return result;
}

/* ---- where data came from: the fields of perf's data_src --------------------------------------------------------- */

enum {
    BIT_L1_ACCESS = 2,
    BIT_L1_REFILL = 3,
    BIT_TLB_ACCESS = 4,
    BIT_TLB_WALK = 5,
    BIT_NOT_TAKEN = 6,
    BIT_MISPREDICTED = 7,
    BIT_LLC_ACCESS = 8,
    BIT_LLC_MISS = 9,
    BIT_REMOTE = 10,
    BIT_TRANSACTION = 16,
    BIT_L2_ACCESS = 19,
    BIT_L2_MISS = 20,
    BIT_MODIFIED = 21,
    BIT_RECENTLY_FETCHED = 22,
    BIT_SNOOPED = 23,
};

/* Fields of union perf_mem_data_src in the kernel's include/uapi/linux/perf_event.h. */
#define OP(x) ((uint64_t)(x))
#define LEVEL(flags, number) ((uint64_t)(flags) << 5 | (uint64_t)(number) << 33)
#define SNOOP(x) ((uint64_t)(x) << 19)
#define TLB(x) ((uint64_t)(x) << 26)
#define REMOTE ((uint64_t)1 << 37)
#define SNOOP_PEER ((uint64_t)2 << 38)

#define OP_LOAD OP(2)
#define OP_STORE OP(4)
#define SNOOP_NA SNOOP(1)
#define SNOOP_NONE SNOOP(2)
#define SNOOP_HIT SNOOP(4)
#define SNOOP_HITM SNOOP(16)
#define SNOOP_MASK SNOOP(31)
#define TLB_HIT TLB(2 | 32)
#define TLB_MISS TLB(4 | 32)
enum { NA = 1, HIT = 2, MISS = 4, L1 = 8, LFB = 16, L2 = 32, L3 = 64, RAM = 128 };
#define NO_LEVEL LEVEL(NA, 15)
#define L1_HIT LEVEL(L1 | HIT, 1)
#define L1_MISS LEVEL(L1 | MISS, 1)
#define L2_HIT LEVEL(L2 | HIT, 2)
#define L2_MISS LEVEL(L2 | MISS, 2)
#define L3_HIT LEVEL(L3 | HIT, 3)
#define L3_MISS LEVEL(L3 | MISS, 3)
#define LFB_HIT LEVEL(LFB | HIT, 12)

/* What a number in a data source packet means on some processors. */
struct source {
    uint64_t number, data_src;
};

static const struct source arm_sources[] = {
    {0x0, L1_HIT | SNOOP_NONE},
    {0x8, L2_HIT | SNOOP_NONE},
    {0x9, L2_HIT | SNOOP_NA | SNOOP_PEER}, /* the L2 of another core */
    {0xa, L3_HIT | SNOOP_NA | SNOOP_PEER}, /* the cluster of this core */
    {0xb, L3_HIT | SNOOP_HIT},             /* the system's cache */
    {0xc, L3_HIT | SNOOP_NA | SNOOP_PEER}, /* another cluster */
    {0xd, NO_LEVEL | SNOOP_NA | SNOOP_PEER | REMOTE},
    {0xe, LEVEL(RAM | HIT, 13) | SNOOP_NONE},
};
static const struct source ampere_sources[] = {
    {0x0, L2_HIT | SNOOP_NA | SNOOP_PEER},
    {0x3, L3_HIT | SNOOP_HIT},
    {0x5, NO_LEVEL | SNOOP_NA | SNOOP_PEER | REMOTE},
    {0x7, LEVEL(RAM | HIT, 13) | SNOOP_NONE},
    {0x8, L1_HIT | SNOOP_NONE},
    {0x9, L2_HIT | SNOOP_NONE},
};
/* The flags of levels that only these have: remote caches by one and two hops, remote memory, input and output. */
enum { REMOTE_CACHE_1 = 1 << 10, REMOTE_CACHE_2 = 1 << 11, REMOTE_RAM = 1 << 8, IO = 1 << 12 };
static const struct source hip_sources[] = {
    {0x0, L2_HIT | SNOOP_NA | SNOOP_PEER},
    {0x1, L2_HIT | SNOOP_HITM | SNOOP_PEER},
    {0x2, L3_HIT | SNOOP_HIT},
    {0x3, L3_HIT | SNOOP_HITM},
    {0x4, LEVEL(REMOTE_CACHE_1 | HIT, 3) | SNOOP_NA | SNOOP_PEER},
    {0x5, LEVEL(REMOTE_CACHE_1 | HIT, 3) | SNOOP_HITM | SNOOP_PEER},
    {0x6, LEVEL(REMOTE_CACHE_2, 11) | SNOOP_NA | SNOOP_PEER | REMOTE},
    {0x7, LEVEL(REMOTE_CACHE_2, 11) | SNOOP_HITM | SNOOP_PEER | REMOTE},
    {0x8, LEVEL(RAM | HIT, 13) | SNOOP_NONE},
    {0x9, LEVEL(REMOTE_RAM | HIT, 13) | SNOOP_NA | REMOTE},
    {0xd, LEVEL(IO | HIT, 10) | SNOOP_NONE},
    {0x10, L2_HIT | SNOOP_NONE},
    {0x11, L2_HIT | SNOOP_HITM},
    {0x12, L1_HIT | SNOOP_NONE},
};

/* Processors by the implementer and the part of their MIDR. */
struct processor {
    uint8_t implementer;
    uint16_t part;
    const struct source *sources;
    size_t source_count;
    bool stores; /* of stores the number says nothing, whatever it is */
};
enum { ARM = 0x41, HISILICON = 0x48, NVIDIA = 0x4e, AMPERE = 0xc0 };
#define ARM_SOURCES arm_sources, PF_COUNT(arm_sources), true
static const struct processor processors[] = {
    {ARM, 0xd0c, ARM_SOURCES},                                        /* Neoverse N1 */
    {ARM, 0xd40, ARM_SOURCES},                                        /* Neoverse V1 */
    {ARM, 0xd44, ARM_SOURCES},                                        /* Cortex-X1 */
    {ARM, 0xd49, ARM_SOURCES},                                        /* Neoverse N2 */
    {ARM, 0xd4b, ARM_SOURCES},                                        /* Cortex-A78C */
    {ARM, 0xd4c, ARM_SOURCES},                                        /* Cortex-X1C */
    {ARM, 0xd4d, ARM_SOURCES},                                        /* Cortex-A715 */
    {ARM, 0xd4e, ARM_SOURCES},                                        /* Cortex-X3 */
    {ARM, 0xd4f, ARM_SOURCES},                                        /* Neoverse V2 */
    {ARM, 0xd81, ARM_SOURCES},                                        /* Cortex-A720 */
    {ARM, 0xd82, ARM_SOURCES},                                        /* Cortex-X4 */
    {ARM, 0xd84, ARM_SOURCES},                                        /* Neoverse V3 */
    {ARM, 0xd85, ARM_SOURCES},                                        /* Cortex-X925 */
    {ARM, 0xd87, ARM_SOURCES},                                        /* Cortex-A725 */
    {ARM, 0xd89, ARM_SOURCES},                                        /* Cortex-A720AE */
    {NVIDIA, 0x010, ARM_SOURCES},                                     /* Olympus */
    {AMPERE, 0xac4, ampere_sources, PF_COUNT(ampere_sources), false}, /* AmpereOne A */
    {HISILICON, 0xd06, hip_sources, PF_COUNT(hip_sources), true},     /* HIP12 */
};

static const struct processor *processor_of(uint64_t midr)
{
    const unsigned implementer = (unsigned)(midr >> 24) & 0xff, part = (unsigned)(midr >> 4) & 0xfff;
    for (size_t i = 0; i < PF_COUNT(processors); i++)
        if (processors[i].implementer == implementer && processors[i].part == part)
            return &processors[i];
    return NULL;
}

/*
 * The MIDR of the processor: after a head, AUXTRACE_INFO of version 2 has for each a magic number, its number, how many
 * words follow, and these, of which the first is the MIDR. Else it is that of the recording.
 */
static uint64_t midr_of(const struct pf_aux_recording *recording)
{
    enum { VERSION, HEAD_WORDS, VERSION_2 = 2, MAGIC = 0, NUMBER, COUNT, MIDR, WORDS = MIDR };
    static const uint64_t magic = 0x1010101010101010;
    const uint64_t *priv = recording->priv, count = recording->priv_count;
    if (count < HEAD_WORDS + 1 || priv[VERSION] < VERSION_2)
        return recording->midr;
    for (uint64_t at = priv[HEAD_WORDS]; at < count && count - at > MIDR && priv[at + MAGIC] == magic;
         at += WORDS + pf_min(priv[at + COUNT], count))
        if (priv[at + NUMBER] == (uint64_t)recording->cpu && priv[at + COUNT])
            return priv[at + MIDR];
    return recording->midr;
}

static uint64_t source_of(const struct processor *processor, uint64_t number)
{
    for (size_t i = 0; processor && i < processor->source_count; i++)
        if (processor->sources[i].number == number)
            return processor->sources[i].data_src;
    return 0;
}

static bool has(const struct record *record, unsigned bit)
{
    return record->events >> bit & 1;
}

/* A load came from the nearest level that did not miss; if all did, it missed in the farthest. */
static uint64_t level_of_load(const struct record *record)
{
    if (has(record, BIT_L1_ACCESS) && !has(record, BIT_L1_REFILL))
        return L1_HIT;
    if (has(record, BIT_RECENTLY_FETCHED))
        return LFB_HIT;
    if (has(record, BIT_L2_ACCESS) && !has(record, BIT_L2_MISS))
        return L2_HIT;
    if (has(record, BIT_LLC_ACCESS) && !has(record, BIT_LLC_MISS))
        return L3_HIT;
    return has(record, BIT_LLC_MISS)    ? L3_MISS
           : has(record, BIT_L2_MISS)   ? L2_MISS
           : has(record, BIT_L1_REFILL) ? L1_MISS
                                        : NO_LEVEL;
}

/* A store went to the farthest level that it reached. */
static uint64_t level_of_store(const struct record *record)
{
    if (has(record, BIT_LLC_ACCESS) || has(record, BIT_LLC_MISS))
        return has(record, BIT_LLC_MISS) ? L3_MISS : L3_HIT;
    if (has(record, BIT_L2_ACCESS) || has(record, BIT_L2_MISS))
        return has(record, BIT_L2_MISS) ? L2_MISS : L2_HIT;
    if (has(record, BIT_L1_ACCESS) || has(record, BIT_L1_REFILL))
        return has(record, BIT_L1_REFILL) ? L1_MISS : L1_HIT;
    return NO_LEVEL;
}

static uint64_t snoop_of(const struct record *record, uint64_t data_src)
{
    if ((data_src & SNOOP_MASK) != SNOOP_NA || !has(record, BIT_SNOOPED))
        return data_src;
    return (data_src & ~SNOOP_MASK) | (has(record, BIT_MODIFIED) ? SNOOP_HITM : SNOOP_HIT);
}

static uint64_t data_source_of(const struct pf_aux_recording *recording, const struct record *record)
{
    const struct processor *processor = processor_of(midr_of(recording));
    const uint64_t known = source_of(processor, record->source);
    uint64_t data_src;
    if (record->kind == PF_SPE_LOAD)
        data_src = OP_LOAD | snoop_of(record, known ? known : level_of_load(record) | SNOOP_NA);
    else if (processor && (processor->stores || known))
        data_src = OP_STORE | NO_LEVEL | SNOOP_NA;
    else
        data_src = OP_STORE | snoop_of(record, level_of_store(record) | SNOOP_NA);
    data_src |= has(record, BIT_TLB_WALK) ? TLB_MISS : has(record, BIT_TLB_ACCESS) ? TLB_HIT : 0;
    return data_src | (has(record, BIT_REMOTE) ? REMOTE : 0);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

enum kind { EVENT_BIT, EVENT_BRANCH, EVENT_MEMORY, EVENT_ALL };

enum {
    MEMORY_PARTS = PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_DATA_SRC | PERFILE_SAMPLE_PHYS_ADDR
};

static const struct pf_aux_event events[] = {
    {"l1d-miss", 'f', 0, MEMORY_PARTS}, {"l1d-access", 'f', 0, MEMORY_PARTS},
    {"llc-miss", 'm', 0, MEMORY_PARTS}, {"llc-access", 'm', 0, MEMORY_PARTS},
    {"tlb-miss", 't', 0, MEMORY_PARTS}, {"tlb-access", 't', 0, MEMORY_PARTS},
    {"branch", 'b', 0, MEMORY_PARTS},   {"remote-access", 'a', 0, MEMORY_PARTS},
    {"memory", 'M', 0, MEMORY_PARTS},   {"instructions", 'i', PERFILE_COUNT_HW_INSTRUCTIONS, MEMORY_PARTS},
};

/* Which records make samples of an event: in the order of `events`. */
static const struct {
    enum kind kind;
    unsigned bit;
} conditions[PF_COUNT(events)] = {
    {EVENT_BIT, BIT_L1_REFILL}, {EVENT_BIT, BIT_L1_ACCESS},
    {EVENT_BIT, BIT_LLC_MISS},  {EVENT_BIT, BIT_LLC_ACCESS},
    {EVENT_BIT, BIT_TLB_WALK},  {EVENT_BIT, BIT_TLB_ACCESS},
    {EVENT_BRANCH, 0},          {EVENT_BIT, BIT_REMOTE},
    {EVENT_MEMORY, 0},          {EVENT_ALL, 0},
};

static bool is_memory(const struct record *record)
{
    return record->kind == PF_SPE_LOAD || record->kind == PF_SPE_STORE;
}

static bool makes(const struct record *record, unsigned event)
{
    switch (conditions[event].kind) {
    case EVENT_BIT:
        return has(record, conditions[event].bit);
    case EVENT_BRANCH:
        return record->kind == PF_SPE_BRANCH;
    case EVENT_MEMORY:
        return is_memory(record);
    default:
        return true;
    }
}

/* The top byte of an address of code holds the exception level, instead of what the address has there. */
static bool is_kernel(uint64_t address)
{
    const unsigned level = (unsigned)(address >> 61) & 3;
    return address >> 63 && (level == 1 || level == 2);
}

static uint64_t code_address(uint64_t address)
{
    const uint64_t low = address & (((uint64_t)1 << 56) - 1);
    return is_kernel(address) ? low | (uint64_t)0xff << 56 : low;
}

/* The top byte is a tag; kernel addresses have it set. */
static uint64_t data_address(uint64_t address)
{
    const uint64_t low = address & (((uint64_t)1 << 56) - 1);
    return low >> 52 == 0xf ? low | (uint64_t)0xff << 56 : low;
}

/* Bits of the flags of a branch: include/uapi/linux/perf_event.h, struct perf_branch_entry. */
static uint64_t branch_flags(const struct record *record)
{
    enum { MISPREDICTED = 1, PREDICTED = 2, CYCLES_AT = 4, TYPE_AT = 20, NOT_TAKEN_AT = 33, MAX_CYCLES = 0xffff };
    const bool conditional = record->operation & 1, indirect = record->operation & 2;
    const unsigned class = (unsigned)record->operation >> 3 & 3;
    const uint64_t type = class == 1    ? (conditional ? PERFILE_BR_COND_CALL
                                           : indirect  ? PERFILE_BR_IND_CALL
                                                       : PERFILE_BR_CALL)
                          : class == 2  ? (conditional ? PERFILE_BR_COND_RET : PERFILE_BR_RET)
                          : conditional ? PERFILE_BR_COND
                          : indirect    ? PERFILE_BR_IND
                                        : PERFILE_BR_UNKNOWN;
    return (has(record, BIT_MISPREDICTED) ? MISPREDICTED : PREDICTED) |
           pf_min(record->latency, MAX_CYCLES) << CYCLES_AT | type << TYPE_AT |
           (uint64_t)has(record, BIT_NOT_TAKEN) << NOT_TAKEN_AT;
}

/* What script shows of branches. */
static uint32_t flow_flags(const struct record *record)
{
    enum { CONDITIONAL = 1, CALL = 1, RETURN = 2 };
    const unsigned class = (unsigned)record->operation >> 3 & 3;
    if (record->kind != PF_SPE_BRANCH)
        return 0;
    return PF_FLOW_IS_BRANCH |
           (class == CALL                     ? PF_FLOW_IS_CALL
            : class == RETURN                 ? PF_FLOW_IS_RETURN
            : record->operation & CONDITIONAL ? PF_FLOW_IS_CONDITIONAL
                                              : 0) |
           (has(record, BIT_MISPREDICTED) ? PF_FLOW_IS_MISPREDICTED : 0) |
           (has(record, BIT_NOT_TAKEN) ? PF_FLOW_IS_NOT_TAKEN : 0) |
           (has(record, BIT_TRANSACTION) ? PF_FLOW_IN_TRANSACTION : 0);
}

static bool make_sample(const struct pf_aux_recording *recording, const void *item, unsigned event,
                        struct pf_aux_sample *sample)
{
    const struct record *record = item;
    const bool branch = conditions[event].kind == EVENT_BRANCH || conditions[event].kind == EVENT_ALL;
    if (!makes(record, event))
        return false;
    sample->ip = code_address(record->pc);
    sample->addr = branch ? code_address(record->target) : data_address(record->virtual);
    sample->phys_addr = record->physical & (((uint64_t)1 << 56) - 1);
    sample->weight = record->latency;
    sample->data_src = is_memory(record) ? data_source_of(recording, record) : 0;
    sample->tid = (int32_t)record->tid;
    sample->has_thread = record->tid != 0;
    sample->misc = is_kernel(record->pc) ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    sample->branch[0] = sample->ip;
    sample->branch[1] = code_address(record->target);
    sample->branch[2] = branch_flags(record);
    sample->previous_target = code_address(record->previous_target);
    sample->has_branch = record->kind == PF_SPE_BRANCH;
    sample->flags = flow_flags(record);
    return true;
}

const struct pf_aux_decoder pf_aux_decode_arm_spe = {
    .format = &pf_aux_arm_spe,
    .events = events,
    .event_count = PF_COUNT(events),
    .item_bytes = sizeof(struct record),
    .next = next_record,
    .make = make_sample,
};
