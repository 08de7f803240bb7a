/* SPDX-License-Identifier: MIT */
/*
 * What perfile_table_losses says before the end of a table that several threads read: with TSan, that no thread changes
 * it meanwhile; it never falls, and at the end it is what one thread says. The arguments are a view and a recording of
 * many events.
 */
#include <perfile/table.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void die(const char *what, const struct perfile_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* Reads all; `falls` counts the batches after which a number was smaller than before. */
static struct perfile_losses read_all(char **arguments, unsigned threads, unsigned *batches, unsigned *falls)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_losses before = PERFILE_LOSSES_INIT, now = PERFILE_LOSSES_INIT;
    struct perfile_reader *reader;
    struct perfile_table *table;
    struct perfile_error error;
    struct ArrowArray batch;
    int result;
    filter.cpus = "1";
    options.filter = &filter;
    options.threads = threads;
    options.batch_rows = 500;
    if (perfile_open_path(arguments[1], NULL, &reader, &error) < 0 ||
        perfile_table_open(reader, arguments[0], &options, &table, &error) < 0)
        die(arguments[1], &error);
    for (*batches = *falls = 0; (result = perfile_table_next(table, &batch, &error)) > 0; ++*batches) {
        batch.release(&batch);
        if (perfile_table_losses(table, &now) < 0)
            exit(1);
        *falls += now.filtered < before.filtered || now.lost < before.lost;
        before = now;
    }
    if (result < 0)
        die(arguments[0], &error);
    if (perfile_table_losses(table, &now) < 0)
        exit(1);
    perfile_table_close(table);
    perfile_close(reader);
    return now;
}

int main(int count, char **arguments)
{
    unsigned batches, falls;
    if (count != 3)
        return 2;
    const struct perfile_losses alone = read_all(arguments + 1, 1, &batches, &falls);
    const struct perfile_losses both = read_all(arguments + 1, 4, &batches, &falls);
    printf("%s: %u batches, %" PRIu64 " filtered and %" PRIu64 " lost (one thread: %" PRIu64 " and %" PRIu64
           "), %u times less than before\n",
           arguments[1], batches, both.filtered, both.lost, alone.filtered, alone.lost, falls);
    return batches < 2 || falls || !alone.filtered || both.filtered != alone.filtered || both.lost != alone.lost;
}
