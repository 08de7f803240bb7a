/* SPDX-License-Identifier: MIT */
/* A bounded queue of bytes from one thread to another. */
#ifndef PF_BASE_BYTE_QUEUE_H
#define PF_BASE_BYTE_QUEUE_H

#include "base/memory.h"

struct pf_byte_queue;

/* At most `limit` bytes wait; memory grows up to that as it is needed. NULL when out of memory. */
struct pf_byte_queue *pf_byte_queue_open(size_t limit, const struct perfile_allocator *allocator);
/* No other thread may use it any more. NULL is allowed. */
void pf_byte_queue_close(struct pf_byte_queue *queue);

/* ---- the thread that writes ---- */

/* Waits while the queue is full. False: the reader has left, or out of memory: nothing more is accepted. */
bool pf_byte_queue_put(struct pf_byte_queue *queue, const void *data, size_t bytes);
/* Waits until the reader has read all and waits for more (false), or has left (true). */
bool pf_byte_queue_settle(struct pf_byte_queue *queue);
/* Nothing more comes. */
void pf_byte_queue_end(struct pf_byte_queue *queue);

/* ---- the thread that reads ---- */

/*
 * Up to `capacity` bytes. When there are none: 0 at once without `waits`; with it, the next ones, and 0 only at the
 * end.
 */
size_t pf_byte_queue_take(struct pf_byte_queue *queue, void *to, size_t capacity, bool waits);
/* Nothing more is read. */
void pf_byte_queue_leave(struct pf_byte_queue *queue);

#endif
