/* SPDX-License-Identifier: MIT */
/* Memory, its nodes and its blocks. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/machine_body.h"

enum { INFO_BYTES = 16384, BLOCKS_MAX = 1 << 24 };

/* The number after "name:" in /proc/meminfo or in that of a node. */
static bool find_kb(const char *info, const char *name, uint64_t *kb)
{
    const char *at = strstr(info, name);
    return at && sscanf(at + strlen(name), " %" SCNu64, kb) == 1;
}

bool pf_body_total_memory(struct pf_body *body)
{
    char info[INFO_BYTES];
    uint64_t kb;
    if (pf_read_at(body->root, "proc/meminfo", info, sizeof(info)) <= 0 || !find_kb(info, "MemTotal:", &kb))
        return false;
    pf_body_u64(body, kb);
    return true;
}

static bool put_node(struct pf_body *body, unsigned node)
{
    char path[128], info[INFO_BYTES], cpus[4096];
    uint64_t total, unused;
    snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", node);
    if (pf_read_at(body->root, path, info, sizeof(info)) <= 0 || !find_kb(info, "MemTotal:", &total) ||
        !find_kb(info, "MemFree:", &unused))
        return false;
    snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", node);
    if (!pf_read_line(body->root, path, cpus, sizeof(cpus)))
        cpus[0] = 0; /* memory without CPUs */
    pf_body_u32(body, node);
    pf_body_u64(body, total);
    pf_body_u64(body, unused);
    pf_body_text(body, cpus);
    return true;
}

bool pf_body_numa_topology(struct pf_body *body)
{
    char list[4096];
    const char *at = list;
    size_t start = body->text->used;
    uint32_t count = 0;
    unsigned first, last;
    if (!pf_read_line(body->root, "sys/devices/system/node/online", list, sizeof(list)))
        return false;
    pf_body_u32(body, 0);
    while (pf_next_range(&at, &first, &last))
        for (unsigned node = first; node <= last; node++)
            count += put_node(body, node);
    pf_body_set_u32(body, start, count);
    return count > 0;
}

/* ---- memory blocks ---- */

/* The number after a word, as in memory12 and node3. */
static bool number_after(const char *name, const char *word, uint32_t *number)
{
    char *end;
    size_t length = strlen(word);
    if (strncmp(name, word, length) != 0 || !isdigit((unsigned char)name[length]))
        return false;
    unsigned long value = strtoul(name + length, &end, 10);
    *number = (uint32_t)value;
    return *end == 0 && value < BLOCKS_MAX;
}

static uint32_t count_blocks(const struct pf_listing *names)
{
    uint32_t block, count = 0;
    for (size_t i = 0; i < names->count; i++)
        if (number_after(names->items[i], "memory", &block) && block >= count)
            count = block + 1;
    return count;
}

/* Names stand in the order of their numbers. */
static void put_blocks(struct pf_body *body, const struct pf_listing *names)
{
    uint32_t block, at = 0;
    uint64_t word = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (!number_after(names->items[i], "memory", &block))
            continue;
        for (; at < block / 64; at++, word = 0)
            pf_body_u64(body, word);
        word |= 1ull << block % 64;
    }
    pf_body_u64(body, word);
}

static bool put_node_blocks(struct pf_body *body, uint32_t node)
{
    char path[128];
    struct pf_listing names;
    snprintf(path, sizeof(path), "sys/devices/system/node/node%u", node);
    bool read = pf_listing_open(&names, body->allocator, body->root, path);
    uint32_t blocks = read ? count_blocks(&names) : 0;
    if (blocks) {
        pf_body_u64(body, node);
        pf_body_u64(body, blocks);
        pf_body_u64(body, blocks);
        put_blocks(body, &names);
    }
    pf_listing_close(&names);
    return blocks > 0;
}

bool pf_body_memory_topology(struct pf_body *body)
{
    uint64_t block_bytes, count = 0;
    uint32_t node;
    struct pf_listing names;
    if (!pf_read_number(body->root, "sys/devices/system/memory/block_size_bytes", 16, &block_bytes))
        return false;
    bool read = pf_listing_open(&names, body->allocator, body->root, "sys/devices/system/node");
    pf_body_u64(body, 1); /* version */
    pf_body_u64(body, block_bytes);
    size_t start = body->text->used;
    pf_body_u64(body, 0);
    for (size_t i = 0; read && i < names.count; i++)
        if (number_after(names.items[i], "node", &node))
            count += put_node_blocks(body, node);
    pf_listing_close(&names);
    if (!body->text->failed)
        memcpy(body->text->data + start, &count, sizeof(count));
    return count > 0;
}
