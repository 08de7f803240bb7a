/* SPDX-License-Identifier: MIT */
#include "output/flame/page.h"

#include "base/bytes.h"

enum {
    PIECES = 2000, /* of time, when there are too many samples */
    DISCARD_ROWS = 8192,
    MAX_ROW_BYTES = PF_PAGE_COLUMNS * PF_LEB128_BYTES,
    COARSER = 4 /* times fewer pieces, when there are still too many */
};

/* ---- numbers ---- */

static bool put_number(struct pf_page *page, enum pf_page_column column, uint64_t value)
{
    return pf_numbers_put(&page->rows.columns[column], page->allocator, value);
}

/* ---- rows ---- */

static bool put_code(struct pf_page *page, const struct pf_page_row *row)
{
    const bool known = row->code != PF_PAGE_NONE;
    return put_number(page, PF_PAGE_CODE, known ? row->code + 1ull : 0) &&
           put_number(page, PF_PAGE_OFFSET, known ? row->offset : 0);
}

/* The time that counts stands beside the row: to copy what has just been written waits for it to be there. */
static bool put_row(struct pf_page *page, const struct pf_page_row *row, uint64_t time)
{
    struct pf_page_rows *rows = &page->rows;
    const bool timed = time != PF_PAGE_NO_TIME;
    const uint64_t before = rows->timed ? rows->last_time : page->base_ns;
    const bool fine = put_number(page, PF_PAGE_TIME, timed ? pf_zigzag((int64_t)(time - before)) + 1 : 0) &&
                      put_number(page, PF_PAGE_STACK, pf_zigzag((int64_t)(row->stack - rows->last_stack))) &&
                      put_number(page, PF_PAGE_THREAD, row->thread) &&
                      put_number(page, PF_PAGE_CPU, row->cpu == PF_PAGE_NONE ? 0 : row->cpu + 1ull) &&
                      put_number(page, PF_PAGE_EVENT, row->event) && put_number(page, PF_PAGE_WEIGHT, row->weight) &&
                      (!page->fold.width_ns || put_number(page, PF_PAGE_COUNT, row->count)) &&
                      (!page->has_code || put_code(page, row));
    if (timed)
        rows->last_time = time;
    rows->timed |= timed;
    rows->last_stack = row->stack;
    rows->count += fine;
    return fine;
}

bool pf_page_next(const struct pf_page *page, struct pf_page_reading *reading, struct pf_page_row *row)
{
    const struct pf_page_rows *rows = &page->rows;
    uint64_t values[PF_PAGE_COLUMNS];
    if (reading->row == rows->count)
        return false;
    if (reading->row++ == 0)
        reading->time = page->base_ns;
    for (unsigned i = 0; i < PF_PAGE_COLUMNS; i++)
        values[i] =
            rows->columns[i].count ? pf_numbers_get(&rows->columns[i], &reading->columns[i]) : i == PF_PAGE_COUNT;
    if (values[PF_PAGE_TIME])
        reading->time += (uint64_t)pf_unzigzag(values[PF_PAGE_TIME] - 1);
    reading->stack += (uint64_t)pf_unzigzag(values[PF_PAGE_STACK]);
    *row = (struct pf_page_row){.time = values[PF_PAGE_TIME] ? reading->time : PF_PAGE_NO_TIME,
                                .weight = values[PF_PAGE_WEIGHT],
                                .count = values[PF_PAGE_COUNT],
                                .stack = (uint32_t)reading->stack,
                                .thread = (uint32_t)values[PF_PAGE_THREAD],
                                .cpu = (uint32_t)(values[PF_PAGE_CPU] - 1),
                                .event = (uint32_t)values[PF_PAGE_EVENT],
                                .code = (uint32_t)(values[PF_PAGE_CODE] - 1),
                                .offset = values[PF_PAGE_OFFSET]};
    return true;
}

static void free_rows(struct pf_page *page, struct pf_page_rows *rows)
{
    for (unsigned i = 0; i < PF_PAGE_COLUMNS; i++)
        pf_numbers_close(&rows->columns[i], page->allocator);
    *rows = (struct pf_page_rows){0};
}

void pf_page_discard_code(struct pf_page *page)
{
    page->has_code = false;
    pf_numbers_close(&page->rows.columns[PF_PAGE_CODE], page->allocator);
    pf_numbers_close(&page->rows.columns[PF_PAGE_OFFSET], page->allocator);
}

/* Of all columns in LEB128. */
static size_t page_bytes(const struct pf_page *page)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < PF_PAGE_COLUMNS; i++)
        bytes += page->rows.columns[i].bytes;
    return bytes;
}

/* ---- joining ---- */

/* The piece at work is over. Each row is in its middle. */
static bool end_piece(struct pf_page *page)
{
    struct pf_page_fold *fold = &page->fold;
    const uint64_t middle = pf_min(fold->piece_ns + fold->width_ns / 2, page->last);
    bool fine = true;
    for (size_t i = 0; fine && i < fold->count; i++)
        fine = put_row(page, &fold->rows[i], fold->piece ? middle : PF_PAGE_NO_TIME);
    fold->count = 0;
    pf_pairs_close(&fold->positions);
    pf_pairs_open(&fold->positions, page->allocator);
    return fine;
}

static bool is_in_piece(const struct pf_page_fold *fold, uint64_t time)
{
    return time == PF_PAGE_NO_TIME ? !fold->piece : fold->piece && time - fold->piece_ns < fold->width_ns;
}

static bool begin_piece(struct pf_page *page, uint64_t time)
{
    struct pf_page_fold *fold = &page->fold;
    const uint64_t piece = time == PF_PAGE_NO_TIME ? 0 : (time - fold->first_ns) / fold->width_ns;
    if (!end_piece(page))
        return false;
    fold->piece = time == PF_PAGE_NO_TIME ? 0 : piece + 1;
    fold->piece_ns = fold->first_ns + piece * fold->width_ns;
    return true;
}

static bool is_same(const struct pf_page_row *a, const struct pf_page_row *b)
{
    return a->stack == b->stack && a->thread == b->thread && a->event == b->event;
}

/* The row that such samples are joined to, made when there is none; NULL: out of memory. */
static struct pf_page_row *find_row(struct pf_page *page, const struct pf_page_row *row)
{
    struct pf_page_fold *fold = &page->fold;
    const uint64_t key = (uint64_t)row->event << 32 | row->thread;
    uint32_t position;
    if (pf_pairs_get(&fold->positions, key, row->stack, &position))
        return &fold->rows[position];
    if (!pf_grow(page->allocator, &fold->rows, &fold->capacity, fold->count + 1, sizeof(*fold->rows)) ||
        !pf_pairs_put(&fold->positions, key, row->stack, (uint32_t)fold->count))
        return NULL;
    struct pf_page_row *made = &fold->rows[fold->count++];
    *made = *row;
    made->cpu = PF_PAGE_NONE;
    made->weight = made->count = 0;
    return made;
}

static bool join(struct pf_page *page, const struct pf_page_row *row, uint64_t time)
{
    struct pf_page_fold *fold = &page->fold;
    time = page->timeless ? PF_PAGE_NO_TIME : time;
    if (!is_in_piece(fold, time) && !begin_piece(page, time))
        return false;
    uint32_t *hint = &fold->hints[(row->thread * 0x9e3779b1u ^ row->stack * 0x85ebca6bu) >> 20];
    if (*hint >= fold->count || !is_same(&fold->rows[*hint], row)) {
        const struct pf_page_row *found = find_row(page, row);
        if (!found)
            return false;
        *hint = (uint32_t)(found - fold->rows);
    }
    fold->rows[*hint].weight += row->weight;
    fold->rows[*hint].count += row->count;
    return true;
}

/* What was read is not needed any more. */
static void discard_rows(struct pf_page *page, const struct pf_page_reading *reading)
{
    for (unsigned i = 0; i < PF_PAGE_COLUMNS; i++)
        pf_numbers_discard(&page->rows.columns[i], &reading->columns[i], page->allocator);
}

/* Longer pieces consist of complete shorter ones: pieces of 3 and of 4 others in turn would look like a rhythm. */
static void set_width(struct pf_page *page, uint64_t pieces)
{
    struct pf_page_fold *fold = &page->fold;
    const uint64_t span = page->last > page->first ? page->last - page->first : 0;
    const uint64_t width = span / pf_max(pieces, 1) + 1;
    if (!fold->width_ns) {
        fold->width_ns = width;
        fold->first_ns = page->first;
    } else {
        fold->width_ns *= pf_max((width + fold->width_ns / 2) / fold->width_ns, 1);
    }
    fold->max_ns = pf_min(fold->width_ns, UINT64_MAX / (2 * PIECES)) * (2 * PIECES);
}

bool pf_page_join(struct pf_page *page, uint64_t pieces, const uint32_t *node_of)
{
    if (page->fold.count && !end_piece(page))
        return false;
    pf_page_discard_code(page); /* rows that are joined have none */
    struct pf_page old = {.allocator = page->allocator, .rows = page->rows, .base_ns = page->base_ns};
    struct pf_page_reading reading = {0};
    struct pf_page_row row;
    bool fine = true;
    pf_numbers_close(&old.rows.columns[PF_PAGE_CPU], page->allocator); /* rows that are joined have none */
    page->rows = (struct pf_page_rows){0};
    page->timeless |= !pieces;
    page->fold.piece = 0;
    set_width(page, pieces);
    while (fine && pf_page_next(&old, &reading, &row)) {
        if (node_of)
            row.stack = node_of[row.stack];
        fine = join(page, &row, row.time);
        if (reading.row % DISCARD_ROWS == 0)
            discard_rows(&old, &reading);
    }
    fine = fine && end_piece(page);
    free_rows(page, &old.rows);
    pf_give_back(page->allocator);
    return fine;
}

/* ---- the page ---- */

int pf_page_open(struct pf_page *page, const struct perfile_allocator *allocator, size_t max_bytes)
{
    *page = (struct pf_page){.allocator = allocator, .max_bytes = max_bytes, .first = UINT64_MAX};
    pf_pairs_open(&page->fold.positions, allocator);
    return pf_tree_open(&page->tree, allocator);
}

void pf_page_close(struct pf_page *page)
{
    if (!page->allocator)
        return;
    free_rows(page, &page->rows);
    pf_pairs_close(&page->fold.positions);
    pf_free(page->allocator, page->fold.rows, page->fold.capacity * sizeof(*page->fold.rows));
    pf_free(page->allocator, page->totals, page->event_capacity * sizeof(*page->totals));
    pf_tree_close(&page->tree);
}

/* What counts as the time. */
static uint64_t note_time(struct pf_page *page, uint64_t time)
{
    if (time == PF_PAGE_NO_TIME)
        return time;
    if (page->first > page->last)
        page->base_ns = time;
    if ((time > page->base_ns ? time - page->base_ns : page->base_ns - time) > PF_PAGE_FAR_NS)
        return PF_PAGE_NO_TIME;
    page->last = pf_max(page->last, time);
    /* Pieces are counted from the first time: an earlier one would move them. */
    if (page->fold.width_ns && time < page->fold.first_ns)
        time = page->fold.first_ns;
    page->first = pf_min(page->first, time);
    return time;
}

static bool note_weight(struct pf_page *page, const struct pf_page_row *row)
{
    uint64_t *total = PF_ELEMENT(page->allocator, page->totals, page->event_capacity, row->event);
    if (!total)
        return false;
    *total += row->weight;
    return true;
}

static bool join_coarser(struct pf_page *page, uint64_t span)
{
    const uint64_t width = page->fold.width_ns;
    if (!pf_page_join(page, width ? pf_max(span / width / COARSER, 1) : PIECES, NULL))
        return false;
    if (width) /* where longer pieces of time do not save memory, more is allowed */
        page->max_bytes = pf_max(page->max_bytes, 2 * page_bytes(page));
    return true;
}

/* Too many bytes, or too many pieces of time. */
static bool keep_small(struct pf_page *page)
{
    const uint64_t span = page->last > page->first ? page->last - page->first : 0;
    if (page->fold.width_ns && !page->timeless && span >= page->fold.max_ns)
        return pf_page_join(page, PIECES, NULL);
    if (!page->max_bytes || page->rows.count < page->rows.look_at)
        return true;
    const size_t bytes = page_bytes(page);
    page->rows.look_at = page->rows.count + 1 + (page->max_bytes - pf_min(bytes, page->max_bytes)) / MAX_ROW_BYTES;
    return bytes <= page->max_bytes || join_coarser(page, span);
}

bool pf_page_add(struct pf_page *page, const struct pf_page_row *row)
{
    const uint64_t time = note_time(page, row->time);
    return note_weight(page, row) && (page->fold.width_ns ? join(page, row, time) : put_row(page, row, time)) &&
           keep_small(page);
}

bool pf_page_end(struct pf_page *page)
{
    return end_piece(page);
}
