/* SPDX-License-Identifier: MIT */
/*
 * Replaces addresses. Every mapping gets a range of its own, after those of earlier mappings and a gap of secret size;
 * within a mapping nothing moves. Addresses outside mappings are replaced page by page: the number of the page is
 * encrypted, the offset in it stays. The results of the two never overlap.
 */
#include "edit/anonymize.h"

enum { PAGE_BITS = 12 };

static const uint64_t FIRST_KERNEL = 1ull << 63;
static const uint64_t SMALLEST = 1 << PAGE_BITS; /* below: NULL, and values that are not addresses */
static const uint64_t POSITION_STEP = 1 << 16;   /* the largest pages are aligned in their new ranges, too */
static const uint64_t LARGEST = 1ull << 60;

void pf_anon_open_addresses(struct pf_anonymizer *a)
{
    enum { DOMAIN = 32 };
    const uint64_t start = pf_anon_number(a, DOMAIN, 0) % (1ull << 28) << 16;
    a->user_zone = (struct pf_anon_zone){(1ull << 32) + start, 1ull << 47};
    a->kernel_zone = (struct pf_anon_zone){0xffff800000000000ull + start, 0xfffffffff0000000ull};
    a->spare_user_zone = (struct pf_anon_zone){1ull << 60, 1ull << 62};
    a->spare_kernel_zone = (struct pf_anon_zone){0x9000000000000000ull, 0xc000000000000000ull};
}

/* ---- pages that belong to nothing ---- */

/* A permutation of the numbers of `bits` bits: a Feistel network whose halves may differ by a bit. */
static uint64_t permute(const struct pf_anonymizer *a, uint8_t domain, uint64_t number, unsigned bits)
{
    enum { ROUNDS = 6 };
    unsigned low_bits = bits / 2, high_bits = bits - low_bits;
    uint64_t low = number & ((1ull << low_bits) - 1), high = number >> low_bits;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint64_t mixed =
            (high ^ pf_anon_number(a, domain, low << 8 | round << 4 | low_bits % 16)) & ((1ull << high_bits) - 1);
        const unsigned was_low = low_bits;
        high = low;
        low = mixed;
        low_bits = high_bits;
        high_bits = was_low;
    }
    return high << low_bits | low;
}

static uint64_t move_page(const struct pf_anonymizer *a, uint64_t address)
{
    enum { DOMAIN = 33, USUAL_BITS = 35, USER_BITS = 50, KERNEL_BITS = 51 };
    const uint64_t usual_kernel = 0xffff800000000000ull, within = address & (SMALLEST - 1), page = address >> PAGE_BITS;
    const uint64_t usual = page & ((1ull << USUAL_BITS) - 1);
    if (address < 1ull << 47)
        return 1ull << 47 | permute(a, DOMAIN, usual, USUAL_BITS) << PAGE_BITS | within;
    if (address >= usual_kernel)
        return 0xfe00000000000000ull | permute(a, DOMAIN + 1, usual, USUAL_BITS) << PAGE_BITS | within;
    if (address < FIRST_KERNEL)
        return 1ull << 62 | permute(a, DOMAIN + 2, page & ((1ull << USER_BITS) - 1), USER_BITS) << PAGE_BITS | within;
    /* no machine has these, but damaged branch stacks do */
    uint64_t made = page & ((1ull << KERNEL_BITS) - 1);
    do
        made = permute(a, DOMAIN + 3, made, KERNEL_BITS);
    while (made == (1ull << KERNEL_BITS) - 1);
    return FIRST_KERNEL | made << PAGE_BITS | within;
}

uint64_t pf_anon_physical(const struct pf_anonymizer *a, uint64_t address)
{
    enum { DOMAIN = 40, BITS = 40 };
    const uint64_t page = address >> PAGE_BITS & ((1ull << BITS) - 1);
    return address ? permute(a, DOMAIN, page, BITS) << PAGE_BITS | (address & (SMALLEST - 1)) : 0;
}

/* ---- mappings ---- */

static struct pf_anon_move *slot_of(struct pf_anonymizer *a, uint32_t id)
{
    return PF_ELEMENT(a->allocator, a->moves, a->move_capacity, id);
}

static bool position(struct pf_anonymizer *a, struct pf_anon_zone *zone, uint64_t start, uint64_t length, uint64_t *to)
{
    enum { DOMAIN = 41 };
    const uint64_t gap = (1 + pf_anon_number(a, DOMAIN, a->moves_made) % 4096) * POSITION_STEP;
    const uint64_t at = ((zone->next + POSITION_STEP - 1) & ~(POSITION_STEP - 1)) + gap + (start & (POSITION_STEP - 1));
    if (at > zone->limit || zone->limit - at < length)
        return false;
    a->moves_made++;
    zone->next = at + length;
    *to = at;
    return true;
}

static struct pf_anon_move make_move(struct pf_anonymizer *a, const struct perfile_map *map)
{
    const uint64_t length = map->end - map->start;
    uint64_t to;
    const bool placed =
        length < LARGEST && (map->kernel ? position(a, &a->kernel_zone, map->start, length, &to) ||
                                               position(a, &a->spare_kernel_zone, map->start, length, &to)
                                         : position(a, &a->user_zone, map->start, length, &to) ||
                                               position(a, &a->spare_user_zone, map->start, length, &to));
    return (struct pf_anon_move){.known = true, .fixed = !placed, .delta = placed ? to - map->start : 0};
}

/* False: out of memory. */
static bool move_of(struct pf_anonymizer *a, const struct perfile_map *map, struct pf_anon_move *move)
{
    struct pf_anon_move *slot = slot_of(a, map->id);
    if (!slot)
        return false;
    if (!slot->known)
        *slot = make_move(a, map);
    *move = *slot;
    return true;
}

/* ---- single addresses ---- */

void pf_anon_set_process(struct pf_anonymizer *a, int32_t pid, uint16_t misc)
{
    const unsigned mode = misc & PERFILE_MISC_CPUMODE_MASK;
    a->user = perfile_session_space(a->edit->session, pid);
    a->kernel = perfile_session_space(a->edit->session, -1);
    a->kernel_first =
        mode == PERFILE_MISC_KERNEL || mode == PERFILE_MISC_GUEST_KERNEL || mode == PERFILE_MISC_HYPERVISOR;
}

/* Maps that are too large to be moved are of no use: the next space may have one that is. */
static const struct perfile_map *find(struct pf_anonymizer *a, uint64_t address, bool kernel_first,
                                      struct pf_anon_move *move)
{
    const struct perfile_space *spaces[] = {kernel_first ? a->kernel : a->user, kernel_first ? a->user : a->kernel};
    for (size_t i = 0; i < PF_COUNT(spaces); i++) {
        const struct perfile_map *map = perfile_space_find(spaces[i], address);
        if (map && move_of(a, map, move) && !move->fixed)
            return map;
    }
    return NULL;
}

static void remember(struct pf_anonymizer *a, struct pf_anon_cached *cached, uint64_t address)
{
    struct pf_anon_move move;
    const struct perfile_map *map = find(a, address, cached->kernel_first, &move);
    cached->page = address >> PAGE_BITS;
    cached->user = a->user;
    cached->kernel = a->kernel;
    cached->start = map ? map->start : address;
    cached->end = map ? map->end : address + 1;
    cached->delta = map ? move.delta : move_page(a, address) - address;
}

static uint64_t move_address(struct pf_anonymizer *a, uint64_t address, bool kernel_first)
{
    const uint64_t page = address >> PAGE_BITS;
    if (address < SMALLEST || address >= PERFILE_CONTEXT_MAX)
        return address;
    kernel_first |= address >= FIRST_KERNEL;
    struct pf_anon_cached *cached =
        &a->cache[(page ^ page >> 11 ^ (uintptr_t)a->user >> 5 ^ kernel_first) & (PF_ANON_CACHE_COUNT - 1)];
    if (PF_UNLIKELY(cached->page != page || address < cached->start || address >= cached->end ||
                    cached->user != a->user || cached->kernel != a->kernel || cached->kernel_first != kernel_first)) {
        cached->kernel_first = kernel_first;
        remember(a, cached, address);
    }
    return address + cached->delta;
}

uint64_t pf_anon_address(struct pf_anonymizer *a, uint64_t address)
{
    return pf_anon_keeps(a, PF_ANON_ADDRESSES) ? address : move_address(a, address, a->kernel_first);
}

/* ---- rows of addresses ---- */

void pf_anon_chain(struct pf_anonymizer *a, struct perfile_u64s *chain)
{
    static const uint64_t to_kernel[] = {PERFILE_CONTEXT_HV, PERFILE_CONTEXT_KERNEL, PERFILE_CONTEXT_GUEST_KERNEL},
                          to_user[] = {PERFILE_CONTEXT_USER, PERFILE_CONTEXT_USER_DEFERRED, PERFILE_CONTEXT_GUEST_USER};
    bool kernel = a->kernel_first;
    if (pf_anon_keeps(a, PF_ANON_ADDRESSES) || chain->count > PF_ANON_SCRATCH / 8)
        return;
    for (uint64_t i = 0; i < chain->count; i++) {
        uint64_t address = perfile_u64_at(chain, i);
        if (address >= PERFILE_CONTEXT_MAX)
            for (size_t k = 0; k < PF_COUNT(to_kernel); k++)
                kernel = address == to_kernel[k] || (kernel && address != to_user[k]);
        address = move_address(a, address, kernel);
        memcpy(a->chain + 8 * i, &address, 8);
    }
    *chain = (struct perfile_u64s){.data = a->chain, .count = chain->count};
}

void pf_anon_branches(struct pf_anonymizer *a, struct perfile_branch_stack *stack)
{
    if (pf_anon_keeps(a, PF_ANON_ADDRESSES) || stack->count > PF_ANON_SCRATCH / 24)
        return;
    for (uint64_t i = 0; i < 3 * stack->count; i++) {
        uint64_t word = perfile_u64_at(&stack->entries, i);
        if (i % 3 < 2)
            word = pf_anon_address(a, word);
        memcpy(a->branches + 8 * i, &word, 8);
    }
    stack->entries = (struct perfile_u64s){.data = a->branches, .count = 3 * stack->count};
}

/* ---- records of mappings ---- */

/* Where the mapping goes that the record has just made. */
static int move_of_record(struct pf_anonymizer *a, uint64_t start, uint64_t length, struct pf_anon_move *move,
                          struct perfile_error *error)
{
    const struct perfile_space *space = a->kernel_first ? a->kernel : a->user;
    const struct perfile_map *map = perfile_space_find(space, start);
    *move = (struct pf_anon_move){.fixed = true};
    if (!map || map->start != start || map->end - map->start > length)
        return 0; /* an empty one, or one of kernel modules whose addresses are hidden */
    return move_of(a, map, move) ? 0 : pf_fail_memory(error, "mappings");
}

/*
 * Moves a mapping. For memory that is not a file, the offset is an address: of the start, or of the symbol that names
 * the kernel.
 */
static void move_position(struct pf_anonymizer *a, const char *filename, uint64_t *address, uint64_t *pgoff,
                          const struct pf_anon_move *move)
{
    const bool is_file = filename && filename[0] == '/' && filename[1] != '/';
    const bool is_address = *pgoff >= 1ull << 44 || (!is_file && *pgoff >= SMALLEST);
    if (is_address)
        *pgoff = move->fixed ? move_address(a, *pgoff, a->kernel_first) : *pgoff + move->delta;
    *address += move->delta;
}

static int move_mmap(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    const bool old = item->record->type == PERFILE_RECORD_MMAP;
    struct perfile_mmap *mmap = &item->body.mmap;
    struct perfile_mmap2 *mmap2 = &item->body.mmap2;
    uint64_t *address = old ? &mmap->addr : &mmap2->addr;
    struct pf_anon_move move;
    int result = move_of_record(a, *address, old ? mmap->len : mmap2->len, &move, error);
    if (result == 0)
        move_position(a, old ? mmap->filename : mmap2->filename, address, old ? &mmap->pgoff : &mmap2->pgoff, &move);
    return result;
}

/* When it vanishes its mapping is still known. */
static int move_ksymbol(struct pf_anonymizer *a, struct perfile_ksymbol *symbol, struct perfile_error *error)
{
    struct pf_anon_move move;
    a->kernel_first = true;
    int result = move_of_record(a, symbol->addr, symbol->len, &move, error);
    symbol->addr = move.fixed ? move_address(a, symbol->addr, true) : symbol->addr + move.delta;
    return result;
}

int pf_anon_mapping(struct pf_anonymizer *a, struct pf_item *item, struct perfile_error *error)
{
    pf_anon_count(a, PF_ANON_ADDRESSES, a->action[PF_ANON_ADDRESSES]);
    if (pf_anon_keeps(a, PF_ANON_ADDRESSES))
        return 0;
    return item->record->type == PERFILE_RECORD_KSYMBOL ? move_ksymbol(a, &item->body.ksymbol, error)
                                                        : move_mmap(a, item, error);
}

/* ---- processes ---- */

int32_t pf_anon_pid(const struct pf_anonymizer *a, int32_t pid)
{
    enum { DOMAIN = 42, USUAL_BITS = 22, ALL_BITS = 30 }; /* PID_MAX_LIMIT is 2^22 */
    if (pf_anon_keeps(a, PF_ANON_PIDS) || pid <= 0 || pid >= 1 << ALL_BITS)
        return pid;
    const unsigned bits = pid < 1 << USUAL_BITS ? USUAL_BITS : ALL_BITS;
    uint64_t made = (uint64_t)(uint32_t)pid;
    do
        made = permute(a, DOMAIN, made, bits);
    while (made == 0 || (bits == ALL_BITS && made < 1 << USUAL_BITS));
    return (int32_t)made;
}
