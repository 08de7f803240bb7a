/* SPDX-License-Identifier: MIT */
/*
 * Tables with several threads. One fills batches of rows, any thread makes the text of a batch or compresses it, and
 * the caller writes one after the other. Texts do not depend on where batches end, so these are small; files of columns
 * have the batches that one thread has.
 *
 *     fill -> format -> write
 *     fill -> encode -> compress -> write
 */
#include "base/error.h"
#include "base/stages.h"
#include "output/table/format.h"

/* Rows of a piece of text, and items of its lists. */
enum { PIECE_ROWS = 4096, PIECE_ITEMS = 1 << 17, PIECES_ALONE = 2 };
enum { BATCHES = 3, BATCHES_ALONE = 1 }; /* of files of columns, which are large */

struct piece {
    struct pf_batch batch;
    struct pf_sheet sheet; /* of the rows of the batch, with `text` */
    struct pf_text text;
    void *part; /* of a format in steps */
    int result; /* 1: there are rows; else what ended them */
    struct perfile_error error;
};

struct team {
    struct pf_sheet *sheet;
    const struct pf_table_format *format;
    uint64_t rows; /* in all pieces up to now */
    struct piece *pieces;
    unsigned count;
};

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static bool fill(void *context, void *item, unsigned worker)
{
    struct team *team = context;
    struct piece *piece = item;
    struct perfile_table *table = team->sheet->table;
    (void)worker;
    pf_batch_end(&piece->batch);
    piece->result = pf_table_fill(table, &piece->error);
    if (piece->result == 1 && !pf_table_take(table, &piece->batch))
        piece->result = pf_fail_memory(&piece->error, "table");
    piece->sheet.columns = piece->batch.columns;
    piece->sheet.row_count = piece->batch.rows;
    piece->sheet.rows = team->rows;
    team->rows += piece->batch.rows;
    return piece->result == 1;
}

static bool make_text(void *context, void *item, unsigned worker)
{
    const struct team *team = context;
    struct piece *piece = item;
    (void)worker;
    piece->text.used = 0;
    pf_table_put_rows(&piece->sheet, team->format);
    pf_batch_end(&piece->batch);
    return true;
}

static bool encode(void *context, void *item, unsigned worker)
{
    const struct team *team = context;
    struct piece *piece = item;
    (void)worker;
    if (piece->result == 1)
        team->format->steps->encode(&piece->sheet, piece->part);
    pf_batch_end(&piece->batch);
    return true;
}

static bool compress(void *context, void *item, unsigned worker)
{
    const struct team *team = context;
    struct piece *piece = item;
    if (piece->result == 1)
        team->format->steps->compress(&piece->sheet, piece->part, worker);
    return true;
}

static void write_piece(const struct team *team, const struct piece *piece)
{
    struct pf_sheet *sheet = team->sheet;
    if (!team->format->batch) {
        pf_put_through(sheet->out, piece->text.data, piece->text.used);
    } else if (piece->result == 1 && team->format->steps) {
        team->format->steps->put(sheet, piece->part);
    } else if (piece->result == 1) {
        sheet->columns = piece->sheet.columns;
        sheet->row_count = piece->sheet.row_count;
        pf_table_put_rows(sheet, team->format);
    }
}

/* ---- the team ---------------------------------------------------------------------------------------------------- */

static bool open_pieces(struct team *team)
{
    const struct pf_sheet *sheet = team->sheet;
    const struct perfile_allocator *allocator = sheet->table->allocator;
    const unsigned count = pf_stages_items(sheet->table->options.threads);
    bool enough = true;
    team->pieces = pf_new(allocator, count * sizeof(*team->pieces));
    team->count = team->pieces ? count : 0;
    for (unsigned i = 0; i < team->count; i++) {
        struct piece *piece = &team->pieces[i];
        piece->sheet = *sheet;
        piece->sheet.out = &piece->text;
        enough &= pf_text_open(&piece->text, allocator, NULL, NULL) == 0;
        enough &= pf_text_open(&piece->sheet.cell, allocator, NULL, NULL) == 0;
        piece->text.escapes = sheet->out->escapes;
        piece->sheet.cell.escapes = sheet->cell.escapes;
        if (team->format->steps)
            enough &= (piece->part = team->format->steps->open(team->sheet)) != NULL;
    }
    return enough && team->pieces;
}

static void close_pieces(struct team *team)
{
    const struct perfile_allocator *allocator = team->sheet->table->allocator;
    for (unsigned i = 0; i < team->count; i++) {
        if (team->format->steps)
            team->format->steps->close(team->sheet, team->pieces[i].part);
        pf_text_close(&team->pieces[i].text);
        pf_text_close(&team->pieces[i].sheet.cell);
        pf_batch_close(&team->pieces[i].batch, allocator);
    }
    pf_free(allocator, team->pieces, team->count * sizeof(*team->pieces));
}

static int write_all(const struct team *team, struct pf_stages *running, struct perfile_error *error)
{
    const struct piece *piece;
    int result = running ? 0 : PERFILE_ERROR_MEMORY;
    while (result == 0 && !team->sheet->out->failed && (piece = pf_stages_next(running)) != NULL) {
        write_piece(team, piece);
        result = piece->text.failed ? PERFILE_ERROR_MEMORY : piece->result < 0 ? piece->result : 0;
        if (piece->result < 0 && error)
            *error = piece->error;
    }
    return result;
}

static struct pf_stages *start(struct team *team)
{
    static const struct pf_stage texts[] = {{.work = fill}, {.work = make_text, .parallel = true}};
    static const struct pf_stage steps[] = {{.work = fill}, {.work = encode}, {.work = compress, .parallel = true}};
    const struct perfile_table *table = team->sheet->table;
    const bool is_text = !team->format->batch;
    const struct pf_stages_plan plan = {.stages = is_text ? texts : steps,
                                        .stage_count = is_text               ? PF_COUNT(texts)
                                                       : team->format->steps ? PF_COUNT(steps)
                                                                             : 1,
                                        .threads = table->options.threads,
                                        .alone = is_text ? PIECES_ALONE : BATCHES_ALONE,
                                        .context = team,
                                        .items = team->pieces,
                                        .item_bytes = sizeof(*team->pieces),
                                        .item_count = is_text ? team->count : BATCHES};
    return pf_stages_open(&plan, table->allocator);
}

int pf_table_team_write(struct pf_sheet *sheet, const struct pf_table_format *format, struct perfile_error *error)
{
    struct team team = {.sheet = sheet, .format = format, .rows = sheet->rows};
    if (!format->batch)
        pf_table_limit(sheet->table, PIECE_ROWS, PIECE_ITEMS);
    pf_table_keep_texts(sheet->table);
    struct pf_stages *running = open_pieces(&team) ? start(&team) : NULL;
    const int result = write_all(&team, running, error);
    pf_stages_close(running);
    close_pieces(&team);
    return result;
}
