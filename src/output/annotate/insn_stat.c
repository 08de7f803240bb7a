/* SPDX-License-Identifier: MIT */
/* How many sampled instructions of each name access a known type. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/data_types.h"
#include "base/bytes.h"
#include "output/annotate/annotate.h"

struct instruction {
    const char *name;
    uint64_t good, bad;
};

static int order_names(const void *a, const void *b)
{
    return strcmp(((const struct instruction *)a)->name, ((const struct instruction *)b)->name);
}

static int order_counts(const void *a, const void *b)
{
    const struct instruction *x = a, *y = b;
    const uint64_t left = x->good + x->bad, right = y->good + y->bad;
    return left != right ? (left < right) - (left > right) : order_names(a, b);
}

static size_t join(struct instruction *all, size_t count)
{
    size_t joined = 0;
    qsort(all, count, sizeof(*all), order_names);
    for (size_t i = 0; i < count; i++) {
        if (joined && strcmp(all[joined - 1].name, all[i].name) == 0) {
            all[joined - 1].good += all[i].good;
            all[joined - 1].bad += all[i].bad;
        } else {
            all[joined++] = all[i];
        }
    }
    qsort(all, joined, sizeof(*all), order_counts);
    return joined;
}

static void put(struct pf_text *out, const struct instruction *all, size_t count)
{
    uint64_t good = 0, bad = 0;
    for (size_t i = 0; i < count; i++) {
        good += all[i].good;
        bad += all[i].bad;
    }
    const double total = (double)pf_max(good + bad, 1u);
    pf_put_format(out, "Annotate Instruction stats\ntotal %" PRIu64 ", ok %" PRIu64 " (", good + bad, good);
    pf_put_format(out, "%.1f%%), bad %" PRIu64 " (%.1f%%)\n\n", 100.0 * (double)good / total, bad,
                  100.0 * (double)bad / total);
    pf_put_string(out, "  Name/opcode         :  Good   Bad\n"
                       "-----------------------------------------------------------\n");
    for (size_t i = 0; i < count; i++)
        pf_put_format(out, "  %-20s: %5" PRIu64 " %5" PRIu64 "\n", all[i].name, all[i].good, all[i].bad);
    pf_put_char(out, '\n');
}

bool pf_annotate_put_insn_stat(struct pf_annotate *annotate, const struct pf_data_types *data)
{
    const struct perfile_allocator *allocator = annotate->options->allocator;
    struct instruction *all = NULL;
    size_t count = 0, capacity = 0, index = 0;
    bool enough = true;
    for (const struct pf_data_use *use; enough && (use = pf_data_types_next(data, &index));)
        if (use->use.mnemonic[0])
            enough = PF_APPEND(allocator, all, count, capacity,
                               (struct instruction){use->use.mnemonic, use->use.type != NULL, !use->use.type});
    if (enough && count)
        count = join(all, count);
    if (enough)
        put(annotate->out, all, count);
    pf_free(allocator, all, capacity * sizeof(*all));
    return enough;
}
