/* SPDX-License-Identifier: MIT */
/*
 * ages RECORDING... | --corpus: recordings that are written for older perfs are valid, hold the samples that the report
 * says, and nothing that such a perf does not know: written for it once more, nothing changes.
 */
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include <perfile/edit.h>

#include "base/bytes.h"
#include "walk.h"

static const char *const versions[] = {"3.0", "3.11", "4.4", "5.1", "5.11", "5.19", "6.7", "6.18", "7.2"};
static unsigned written, failures;

/* The descriptor of the conversion, or -1. */
static int convert(struct perfile_reader *reader, const char *version, struct perfile_edit_report *report,
                   const char *what)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *writer;
    struct perfile_error error = {0};
    const int fd = memfd_create("conversion", MFD_CLOEXEC);
    how.byte_order = perfile_reader_file(reader)->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    options.for_perf = version;
    int result = perfile_writer_open_fd(fd, &how, &writer, &error);
    if (result == 0)
        result = perfile_convert(reader, writer, &options, report, &error);
    if (result == 0)
        result = perfile_writer_finish(writer, &error);
    perfile_writer_close(writer);
    if (result < 0) {
        printf("%s: not written: %s\n", what, error.message);
        close(fd);
        return -1;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static bool is_valid(int fd, const struct perfile_edit_report *report, const char *what)
{
    const struct perfile_record *record;
    struct perfile_reader *reader;
    struct perfile_error error = {0};
    int result = perfile_open_fd(fd, NULL, &reader, &error);
    while (result >= 0 && (result = perfile_reader_next(reader, &record, &error)) > 0)
        continue;
    if (result < 0) {
        printf("%s: cannot be read: %s\n", what, error.message);
        return false;
    }
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    const bool valid = counts->losses == 0 && counts->unknown == 0 && counts->samples == report->samples_kept;
    if (!valid)
        printf("%s: %" PRIu64 " losses, %" PRIu64 " unknown records, %" PRIu64 " samples of %" PRIu64 "\n", what,
               counts->losses, counts->unknown, counts->samples, report->samples_kept);
    perfile_close(reader);
    return valid;
}

static bool is_done(int fd, const char *version, const char *what)
{
    struct perfile_edit_report again = PERFILE_EDIT_REPORT_INIT;
    struct perfile_reader *reader;
    lseek(fd, 0, SEEK_SET);
    if (perfile_open_fd(fd, NULL, &reader, NULL) < 0)
        return false;
    const int second = convert(reader, version, &again, what);
    const bool done = second >= 0 && again.records_dropped + again.records_changed + again.records_damaged == 0 &&
                      again.events_changed + again.features_dropped == 0;
    if (!done)
        printf("%s: the second time %" PRIu64 " records dropped, %" PRIu64 " changed, %" PRIu64 " damaged, %" PRIu64
               " events changed, %" PRIu64 " features dropped\n",
               what, again.records_dropped, again.records_changed, again.records_damaged, again.events_changed,
               again.features_dropped);
    perfile_close(reader);
    if (second >= 0)
        close(second);
    return done;
}

static void try(const char *path, const char *version)
{
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_reader *reader;
    char what[512];
    snprintf(what, sizeof(what), "%s for %s", path, version);
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return; /* no recording */
    const int fd = convert(reader, version, &report, what);
    failures += fd < 0 || !is_valid(fd, &report, what) || !is_done(fd, version, what);
    written++;
    if (fd >= 0)
        close(fd);
    perfile_close(reader);
}

static void try_all(const char *path)
{
    for (size_t i = 0; i < PF_COUNT(versions); i++)
        try(path, versions[i]);
}

int main(int argc, char **argv)
{
    walk.try_all = try_all;
    walk.wants = walk_without_flips;
    const int status = walk_arguments(argc, argv);
    if (status)
        return status;
    printf("%u recordings written, %u are wrong\n", written, failures);
    return failures || !written;
}
