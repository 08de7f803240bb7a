/* SPDX-License-Identifier: MIT */
#include "record_output.h"
#include "litter.h"
#include "record_show.h"
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 1 << 20 };

bool pf_record_output_streams(const struct pf_record_output *output)
{
    return !strcmp(output->path, "-");
}

bool pf_record_output_switches(const struct pf_record_output *output)
{
    return output->mode > PF_SWITCH_END;
}

const char *pf_record_output_name(const struct pf_record_output *output)
{
    return pf_record_output_streams(output)  ? "standard output"
           : output->mode == PF_SWITCH_NEVER ? output->path
                                             : output->last;
}

/* ---- options ---- */

/*
 * "signal", a number of bytes with B, K, M or G, or a time with s, m, h or d: the letter's case distinguishes M and m.
 */
static bool parse_mode(struct pf_record_output *output, const char *text)
{
    static const struct {
        char letter;
        int mode;
        uint64_t scale;
    } units[] = {{'B', PF_SWITCH_SIZE, 1},         {'K', PF_SWITCH_SIZE, 1 << 10}, {'k', PF_SWITCH_SIZE, 1 << 10},
                 {'M', PF_SWITCH_SIZE, 1 << 20},   {'G', PF_SWITCH_SIZE, 1 << 30}, {'s', PF_SWITCH_TIME, 1000},
                 {'m', PF_SWITCH_TIME, 60 * 1000}, {'h', PF_SWITCH_TIME, 3600000}, {'d', PF_SWITCH_TIME, 86400000}};
    char *end;

    output->mode = PF_SWITCH_SIGNAL;
    if (!strcmp(text, "signal"))
        return true;
    errno = 0;
    const unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!number || errno || number > INT64_MAX >> 30 || !*end || end[1])
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (*end != units[i].letter)
            continue;
        output->mode = units[i].mode;
        output->switch_bytes = number * units[i].scale;
        output->switch_ms = (int64_t)(number * units[i].scale);
        return true;
    }
    return false;
}

static int read_switching(struct pf_record_output *output)
{
    const struct pf_record_settings *record = &output->settings->record;

    if (record->switch_max_files && !record->switch_output) {
        pf_message("record: --switch-max-files needs --switch-output");
        return PF_STATUS_USAGE;
    }
    if (record->timestamp_filename)
        output->mode = PF_SWITCH_END;
    if (!record->switch_output)
        return PF_STATUS_OK;
    if (!parse_mode(output, record->switch_output)) {
        pf_message("record: invalid --switch-output \"%s\": expected signal, a size such as 100M (B, K, M, G) or a "
                   "time such as 30s (s, m, h, d)",
                   record->switch_output);
        return PF_STATUS_USAGE;
    }
    if (record->switch_max_files > FILES_MAX) {
        pf_message("record: --switch-max-files needs a number of at most %d", FILES_MAX);
        return PF_STATUS_USAGE;
    }
    if (record->switch_max_files && !(output->kept = calloc(record->switch_max_files, sizeof(*output->kept))))
        return pf_out_of_memory("record");
    return PF_STATUS_OK;
}

static int check(const struct pf_record_output *output)
{
    struct stat status;

    if (pf_record_output_streams(output)) {
        if (output->mode != PF_SWITCH_NEVER) {
            pf_message("record: %s cannot be combined with -o -",
                       pf_record_output_switches(output) ? "--switch-output" : "--timestamp-filename");
            return PF_STATUS_USAGE;
        }
        return output->settings->record.stream ? PF_STATUS_OK : pf_stream_check_recording("record", "-");
    }
    if (!output->path[0]) {
        pf_message("record: --output needs a file name, or -");
        return PF_STATUS_USAGE;
    }
    if (stat(output->path, &status) < 0)
        return PF_STATUS_OK;
    if (S_ISDIR(status.st_mode)) {
        pf_message("record: %s is a directory", output->path);
        return PF_STATUS_OUTPUT;
    }
    if (output->mode != PF_SWITCH_NEVER && !S_ISREG(status.st_mode)) {
        pf_message("record: --switch-output and --timestamp-filename need a file, and %s is not a regular file",
                   output->path);
        return PF_STATUS_USAGE;
    }
    if (!output->settings->record.no_clobber)
        return PF_STATUS_OK;
    pf_message("record: %s exists", output->path);
    return PF_STATUS_OUTPUT;
}

/* perf's own name is never a link that is followed: one that is there steps aside, as with perf. */
static int set_link_aside(const struct pf_record_output *output)
{
    struct stat status;

    if (output->settings->output || output->settings->record.no_clobber || lstat(output->path, &status) < 0 ||
        !S_ISLNK(status.st_mode) || rename(output->path, "perf.data.old") == 0)
        return PF_STATUS_OK;
    pf_message("record: %s is a link, which cannot become perf.data.old: %s", output->path, strerror(errno));
    return PF_STATUS_OUTPUT;
}

/*
 * Links are followed: the target is written, renamed and gets names with times, not the link, which would lose the
 * file.
 */
static void follow_link(struct pf_record_output *output)
{
    struct stat status;

    if (lstat(output->path, &status) < 0 || !S_ISLNK(status.st_mode) || stat(output->path, &status) < 0 ||
        !S_ISREG(status.st_mode))
        return;
    output->resolved = realpath(output->path, NULL);
    output->path = output->resolved ? output->resolved : output->path;
}

int pf_record_output_prepare(struct pf_record_output *output, const struct pf_settings *settings)
{
    int status;

    *output = (struct pf_record_output){.settings = settings,
                                        .path = settings->record.stream ? "-"
                                                : settings->output      ? settings->output
                                                                        : "perf.data"};
    output->named = output->path;
    if ((status = set_link_aside(output)))
        return status;
    follow_link(output);
    status = read_switching(output);
    return status ? status : check(output);
}

/* ---- one file ---- */

static int open_writer(const struct pf_record_output *output, const struct perfile_writer_options *made,
                       struct perfile_writer **writer, struct perfile_error *error)
{
    const struct perfile_sink sink = {output->settings->record.stream, pf_record_stream_write};

    if (sink.context)
        return perfile_writer_open_sink(&sink, made, writer, error);
    pf_litter_sweep(output->named);
    return perfile_writer_open_path(output->named, made, writer, error); /* it checks links */
}

int pf_record_output_open(struct pf_record_output *output, struct perfile_writer **writer, struct perfile_error *error)
{
    struct perfile_writer_options made = PERFILE_WRITER_OPTIONS_INIT;
    const bool streams = pf_record_output_streams(output);
    struct stat status;
    const bool exists = !streams && stat(output->path, &status) == 0;

    made.mode = streams || (exists && S_ISFIFO(status.st_mode)) ? PERFILE_MODE_PIPE : PERFILE_MODE_FILE;
    made.live = !streams && (!exists || S_ISREG(status.st_mode));
    made.no_sync = pf_record_output_switches(output); /* waiting for the disk would leave the ring buffers full */
    made.compression = (int)(output->settings->write.level < 99 ? output->settings->write.level : 99);
    output->log.input = "record";
    made.diagnostic = pf_log_diagnostic;
    made.diagnostic_context = &output->log;
    const int result = open_writer(output, &made, writer, error);
    if (result >= 0)
        return PF_STATUS_OK;
    return result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE : pf_status_of_error(result, PF_STATUS_OUTPUT);
}

static int fail(struct perfile_error *error, const char *path, const char *what)
{
    snprintf(error->message, sizeof(error->message), "%.150s %s: %s", path, what, strerror(errno));
    error->code = PERFILE_ERROR_WRITE;
    return PF_STATUS_OUTPUT;
}

/* The recording of that name that is there already becomes FILE.old. */
static int step_aside(const struct pf_record_output *output, struct perfile_error *error)
{
    char old[PF_STAMPED_BYTES];
    struct stat status;

    if (stat(output->path, &status) < 0 || status.st_size == 0)
        return PF_STATUS_OK;
    snprintf(old, sizeof(old), "%.4000s.old", output->path);
    if (rename(output->path, old) == 0)
        return PF_STATUS_OK;
    return fail(error, output->path, "cannot become FILE.old");
}

int pf_record_output_publish(struct pf_record_output *output, struct perfile_error *error)
{
    struct stat status;
    int result;

    if (pf_record_output_streams(output) || (stat(output->path, &status) == 0 && !S_ISREG(status.st_mode)))
        return PF_STATUS_OK;
    if ((result = step_aside(output, error)))
        return result;
    if (perfile_writer_publish(output->writer, error) < 0)
        return PF_STATUS_OUTPUT;
    follow_link(output); /* it led nowhere until now */
    if (stat(output->path, &status) < 0)
        return fail(error, output->path, "is gone");
    output->device = status.st_dev;
    output->inode = status.st_ino;
    output->shown = true;
    return PF_STATUS_OK;
}

/* ---- one after the other ---- */

uint64_t pf_record_output_bytes(const struct pf_record_output *output, uint64_t written)
{
    return output->bytes_before + written;
}

bool pf_record_output_is_due(struct pf_record_output *output, uint64_t written, int64_t now_ms)
{
    if (output->mode == PF_SWITCH_SIZE)
        return written >= output->switch_bytes;
    if (output->mode != PF_SWITCH_TIME)
        return false;
    if (!output->next_ms)
        output->next_ms = now_ms + output->switch_ms;
    if (now_ms < output->next_ms)
        return false;
    while (output->next_ms <= now_ms)
        output->next_ms += output->switch_ms;
    return true;
}

/* FILE.YYYYMMDDhhmmssNN, with hundredths of seconds, as perf has it; a name that is taken: the next one. */
static bool stamp(const struct pf_record_output *output, char *name)
{
    struct timespec now;
    struct tm parts;
    struct stat status;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &now);
    for (long step = now.tv_nsec / 10000000, last = step + 1000; step < last; step++) {
        const time_t second = now.tv_sec + step / 100;

        if (!localtime_r(&second, &parts) || !strftime(text, sizeof(text), "%Y%m%d%H%M%S", &parts))
            return false;
        snprintf(name, PF_STAMPED_BYTES, "%.4000s.%s%02ld", output->path, text, step % 100);
        if (lstat(name, &status) < 0)
            return errno == ENOENT;
    }
    errno = EEXIST;
    return false;
}

/* Only the newest files stay. */
static int keep(struct pf_record_output *output, struct perfile_error *error)
{
    const uint64_t max = output->settings->record.switch_max_files;

    if (!max)
        return 0;
    char **position = &output->kept[(output->file_count - 1) % max];
    if (*position && unlink(*position) < 0 && errno != ENOENT)
        pf_message("record: %s cannot be removed: %s", *position, strerror(errno));
    free(*position);
    *position = strdup(output->last);
    if (*position)
        return 0;
    fail(error, output->last, "cannot be recorded as the last file");
    return PERFILE_ERROR_WRITE;
}

/* Another recorder with the same output moves ours away: then what has the name is not ours to rename. */
static bool is_ours(const struct pf_record_output *output)
{
    struct stat status;

    return stat(output->path, &status) == 0 && status.st_dev == output->device && status.st_ino == output->inode;
}

int pf_record_output_finish(struct pf_record_output *output, struct perfile_error *error)
{
    int result = perfile_writer_finish(output->writer, error);

    if (result < 0)
        return result;
    output->bytes_before = pf_record_output_bytes(output, perfile_writer_progress(output->writer)->bytes);
    perfile_writer_close(output->writer);
    output->writer = NULL;
    output->file_count++;
    if (output->mode == PF_SWITCH_NEVER)
        return 0;
    if (!is_ours(output)) {
        output->shown = false;
        error->code = PERFILE_ERROR_WRITE;
        snprintf(error->message, sizeof(error->message),
                 "%.150s was moved or replaced: use different names (-o) for simultaneous recordings", output->path);
        return PERFILE_ERROR_WRITE;
    }
    if (!stamp(output, output->last) || rename(output->path, output->last) < 0) {
        fail(error, output->path, "cannot be renamed to its timestamped name");
        return PERFILE_ERROR_WRITE;
    }
    output->shown = false;
    return keep(output, error);
}

void pf_record_output_close(struct pf_record_output *output)
{
    for (uint64_t i = 0; output->kept && i < output->settings->record.switch_max_files; i++)
        free(output->kept[i]);
    free(output->kept);
    free(output->resolved);
    perfile_writer_close(output->writer);
    perfile_writer_close(output->next);
    output->writer = output->next = NULL;
    output->kept = NULL;
    output->resolved = NULL;
}
