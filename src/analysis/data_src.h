/* SPDX-License-Identifier: MIT */
/* data_src, where the data of a memory access came from, and page sizes, in perf's words. */
#ifndef PF_ANALYSIS_DATA_SRC_H
#define PF_ANALYSIS_DATA_SRC_H

#include <stdint.h>

#include "base/text.h"

/* perf writes the words into 99 characters and cuts off what does not fit; so do we, to print the same lines. */
enum { PF_WORDS_CAPACITY = 99 };

struct pf_words {
    char text[PF_WORDS_CAPACITY + 1];
    unsigned used;
};

/* All of it: "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A". */
void pf_data_src_all(struct pf_words *words, uint64_t data_src);
/* One part, without its label. */
void pf_data_src_level(struct pf_words *words, uint64_t data_src);
void pf_data_src_snoop(struct pf_words *words, uint64_t data_src);
void pf_data_src_tlb(struct pf_words *words, uint64_t data_src);
void pf_data_src_lock(struct pf_words *words, uint64_t data_src);
void pf_data_src_blocked(struct pf_words *words, uint64_t data_src);
/* The size of a page: "4K", "2M"; "N/A" for 0. */
void pf_put_page_size(struct pf_text *text, uint64_t bytes);

#endif
