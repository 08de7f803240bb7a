/* SPDX-License-Identifier: MIT */
/*
 * Names that threads got after their first samples: perf shows these samples under that name, too, and the rows of both
 * are one.
 */
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/pairs.h"

/* True: a key has another name now. */
static bool rename_key(struct pf_report *report, size_t number)
{
    struct pf_report_key *key = &report->keys.items[number];
    const struct pf_report_key before = *key;
    bool renamed = false;
    if (before.comm)
        key->comm = pf_profile_later_comm(report->profile, before.comm);
    for (size_t i = 0; i < report->keys.kept_count; i++) {
        uint64_t *value = &report->keys.values[number * report->keys.kept_count + i];
        const uint64_t was = *value;
        if (report->keys.kept[i] == PF_VALUE_comm_nodigit && was)
            *value = pf_report_later_comm_nodigit(report, was);
        renamed |= *value != was;
    }
    return renamed || key->comm != before.comm;
}

static bool rename_keys(struct pf_report *report)
{
    bool renamed = false;
    for (size_t i = 0; i < report->keys.count; i++)
        renamed |= rename_key(report, i);
    return renamed;
}

/* Moves what is below the node of a key to the first node of the same key; the other node stays empty. */
static bool join_nodes(struct pf_tree *tree, const uint32_t *first)
{
    struct pf_map node_of, joined; /* by key; by node */
    bool enough = true;
    uint64_t target;
    pf_map_open(&node_of, tree->allocator);
    pf_map_open(&joined, tree->allocator);
    for (uint32_t i = 1; i < tree->count && enough; i++) {
        struct pf_tree_node *node = &tree->nodes[i];
        if (node->parent) {
            if (!tree->nodes[node->parent].parent && pf_map_get(&joined, node->parent, &target))
                node->parent = (uint32_t)target;
            continue;
        }
        node->frame = first[node->frame];
        if (pf_map_get(&node_of, node->frame, &target))
            enough = pf_map_put(&joined, i, target);
        else
            enough = pf_map_put(&node_of, node->frame, i);
    }
    pf_map_close(&node_of);
    pf_map_close(&joined);
    return enough;
}

bool pf_report_join_names(struct pf_report *report)
{
    if (!rename_keys(report))
        return !report->texts.short_of_memory;
    const size_t bytes = report->keys.count * sizeof(uint32_t);
    uint32_t *first = pf_new(report->allocator, bytes);
    const bool enough = first && !report->texts.short_of_memory && pf_report_find_first_keys(&report->keys, first) &&
                        join_nodes(&report->chains.tree, first);
    for (size_t i = 0; i < report->costs.count && enough; i++)
        report->costs.items[i].key = first[report->costs.items[i].key];
    pf_free(report->allocator, first, bytes);
    return enough;
}
