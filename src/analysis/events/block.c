/* SPDX-License-Identifier: MIT */
#include "analysis/events/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/counted.h"

enum required {
#define PF_BLOCK(id, ...) id,
#include "analysis/events/events.def"
};
enum { DEV, SECTOR, SECTORS, OP, BYTES_OR_ERROR };

static const struct pf_required_event required[] = {
#define PF_BLOCK PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_block_events = {required, PF_COUNT(required)};

void pf_block_io_open(struct pf_block_io *blocks, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator)
{
    *blocks = (struct pf_block_io){.reader = reader, .allocator = allocator};
    pf_bound_events_open(&blocks->events, reader, &pf_block_events, allocator);
    pf_event_losses_open(&blocks->losses, allocator);
    pf_map_open(&blocks->positions, allocator);
}

void pf_block_io_close(struct pf_block_io *blocks)
{
    if (!blocks->reader)
        return;
    pf_free(blocks->allocator, blocks->requests, blocks->capacity * sizeof(*blocks->requests));
    pf_free(blocks->allocator, blocks->unused, blocks->unused_capacity * sizeof(*blocks->unused));
    pf_bound_events_close(&blocks->events);
    pf_event_losses_close(&blocks->losses);
    pf_map_close(&blocks->positions);
}

/* ---- requests on their way --------------------------------------------------------------------------------------- */

/* What an event says. */
struct notify {
    uint64_t dev, sector, sectors, more;
    char op[PF_BLOCK_OP];
};

static bool is_flush(const struct notify *notify)
{
    return notify->op[0] == 'F' && notify->op[1] == 'F';
}

/* A flush has no sector: 0 when it is issued, all ones when it is complete. There is one at a time on a device. */
static uint64_t key_of(uint64_t dev, uint64_t sector)
{
    return dev * 0x9e3779b97f4a7c15ull ^ sector;
}

static struct pf_block_request *find(const struct pf_block_io *blocks, const struct notify *notify)
{
    const uint64_t sector = is_flush(notify) ? UINT64_MAX : notify->sector;
    uint64_t position;
    if (!pf_map_get(&blocks->positions, key_of(notify->dev, sector), &position))
        return NULL;
    struct pf_block_request *request = &blocks->requests[position];
    return request->used && request->dev == notify->dev && request->sector == sector ? request : NULL;
}

/* NULL: out of memory. */
static struct pf_block_request *add(struct pf_block_io *blocks, const struct notify *notify)
{
    const uint64_t sector = is_flush(notify) ? UINT64_MAX : notify->sector;
    size_t position = blocks->count;
    if (blocks->unused_count)
        position = blocks->unused[--blocks->unused_count];
    else if (!pf_grow(blocks->allocator, &blocks->requests, &blocks->capacity, blocks->count + 1,
                      sizeof(*blocks->requests)))
        return NULL;
    else
        blocks->count++;
    if (!pf_map_put(&blocks->positions, key_of(notify->dev, sector), position))
        return NULL;
    struct pf_block_request *request = &blocks->requests[position];
    *request = (struct pf_block_request){.dev = (uint32_t)notify->dev, .sector = sector, .used = true};
    return request;
}

static bool remove_request(struct pf_block_io *blocks, struct pf_block_request *request)
{
    if (!PF_APPEND(blocks->allocator, blocks->unused, blocks->unused_count, blocks->unused_capacity,
                   (uint32_t)(request - blocks->requests)))
        return false;
    request->used = false;
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool begin(struct pf_block_io *blocks, const struct pf_delivered *item, const struct notify *notify, bool issued)
{
    struct pf_block_request *request = find(blocks, notify);
    if (!request)
        request = add(blocks, notify);
    if (!request)
        return false;
    blocks->issues_alone += issued && request->issue;
    request->first_sector = notify->sector;
    request->sectors = notify->sectors;
    request->bytes = notify->more ? notify->more : notify->sectors * 512;
    memcpy(request->op, notify->op, sizeof(request->op));
    if (!issued) {
        request->insert = item->sample.time;
        return true;
    }
    request->issue = item->sample.time;
    request->order = blocks->losses.order;
    request->cpu = item->sample.cpu;
    request->pid = item->sample.pid;
    request->tid = item->sample.tid;
    request->comm = item->comm;
    return true;
}

/* What is left of a request of which only the first part is complete. */
static int go_on(struct pf_block_io *blocks, struct pf_block_request *request, uint64_t sectors)
{
    request->sector += sectors;
    const uint64_t position = (uint64_t)(request - blocks->requests);
    return pf_map_put(&blocks->positions, key_of(request->dev, request->sector), position) ? 0 : PERFILE_ERROR_MEMORY;
}

static int complete(struct pf_block_io *blocks, const struct pf_delivered *item, const struct notify *notify,
                    struct pf_block_request *out)
{
    struct pf_block_request *request = find(blocks, notify);
    if (!request || !request->issue) {
        const bool parent = notify->sectors == 0 && notify->sector == 0;
        blocks->parents += parent;
        blocks->completes_alone += !parent;
        return 0;
    }
    const uint64_t end = request->first_sector + request->sectors;
    if (!is_flush(notify) && notify->sectors && request->sector < end && notify->sectors < end - request->sector)
        return go_on(blocks, request, notify->sectors);
    request->complete = item->sample.time;
    request->error = (int32_t)notify->more;
    request->uncertain = pf_event_losses_since(&blocks->losses, request->order, request->cpu, item->sample.cpu);
    *out = *request;
    return remove_request(blocks, request) ? 1 : PERFILE_ERROR_MEMORY;
}

int pf_block_io_take(struct pf_block_io *blocks, const struct pf_delivered *item, struct pf_block_request *request)
{
    const struct perfile_bytes *raw = &item->sample.raw;
    struct notify notify = {.dev = 0};
    if (!pf_event_losses_take(&blocks->losses, blocks->reader, item->record))
        return PERFILE_ERROR_MEMORY;
    const struct pf_event_fields *event = item->is_sample ? pf_events_find(&blocks->events, item->event) : NULL;
    if (!event || !pf_event_number(&blocks->events, event, DEV, raw, &notify.dev) ||
        !pf_event_number(&blocks->events, event, SECTOR, raw, &notify.sector))
        return 0;
    pf_event_number(&blocks->events, event, SECTORS, raw, &notify.sectors);
    pf_event_number(&blocks->events, event, BYTES_OR_ERROR, raw, &notify.more);
    pf_event_text(&blocks->events, event, OP, raw, notify.op, sizeof(notify.op));
    if (event->id == COMPLETE)
        return complete(blocks, item, &notify, request);
    return begin(blocks, item, &notify, event->id == ISSUE) ? 0 : PERFILE_ERROR_MEMORY;
}

void pf_block_io_notify(struct pf_block_io *blocks, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    uint64_t open = 0;
    if (!notify)
        return;
    if (!pf_events_have(&blocks->events, ISSUE) || !pf_events_have(&blocks->events, COMPLETE)) {
        notify(context, "the recording has no events of block devices; record with: " PF_RECORD_BLOCK);
        return;
    }
    for (size_t i = 0; i < blocks->count; i++)
        open += blocks->requests[i].used && blocks->requests[i].issue;
    if (open) {
        notify(context, pf_count_of(open, "requests were not complete at the end", text));
    }
    if (blocks->issues_alone) {
        notify(context,
               pf_count_of(blocks->issues_alone,
                           "requests were issued once more without having been completed, and are not shown", text));
    }
    if (blocks->completes_alone) {
        notify(context, pf_count_of(blocks->completes_alone,
                                    "requests were completed without having been issued, and are not shown", text));
    }
}
