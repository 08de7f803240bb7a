/* SPDX-License-Identifier: MIT */
/*
 * Recordings become files of a dataset. A recording is part of the dataset once its marker exists, which is written
 * last. A killed command leaves files that the next command that adds the recording replaces. Several processes, of
 * this command and of others, may add at the same time.
 */
#include "dataset.h"

#include "../input.h"
#include "../message.h"
#include "../sandbox.h"
#include "../stream.h"

#include <perfile/table.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Counts that all processes of this command share. */
struct tally {
    atomic_size_t next; /* the operand that is taken next */
    atomic_ulong added, present, damaged, unreadable, failed;
    atomic_int status; /* the highest */
};

struct adding {
    const struct pf_command *command;
    struct pf_settings *settings;
    const struct pf_dataset *dataset;
    struct tally *tally;
    unsigned threads;
};

/* A recording while it is added. */
struct one {
    struct adding *adding;
    struct pf_input input;
    struct pf_added added;
    char day[16], hour[4];
    bool has_clock; /* it says how its clock relates to the time of day */
    uint64_t ahead_ns;
    bool warned;
};

static void note_status(struct tally *tally, int status)
{
    int old = atomic_load(&tally->status);

    while (status > old && !atomic_compare_exchange_weak(&tally->status, &old, status))
        ;
}

static int fail_memory(const struct adding *adding)
{
    return pf_out_of_memory(adding->command->name);
}

/* ---- facts of a recording ---------------------------------------------------------------------------------------- */

enum { FIRST_TIME, LAST_TIME, CLOCK_TIME, WALL_TIME, SAMPLES, FACTS };
struct facts {
    uint64_t values[FACTS];
    bool known[FACTS];
};

/* Reads all of the recording, so that its damage is known, too. */
static int read_facts(struct one *one, struct facts *facts)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    struct ArrowArray batch;
    int result;

    options.columns = "first_time,last_time,clock_time,wall_time,samples";
    options.fills = true;
    options.symbols = &one->adding->settings->symbols;
    result = perfile_table_open(one->input.reader, "meta", &options, &table, &one->input.error);
    if (result < 0)
        return result;
    result = perfile_table_next(table, &batch, &one->input.error);
    for (size_t i = 0; result == 1 && i < FACTS; i++) {
        const struct ArrowArray *column = batch.children[i];
        const uint8_t *valid = column->buffers[0];
        facts->known[i] = !valid || valid[0] & 1;
        facts->values[i] = facts->known[i] ? ((const uint64_t *)column->buffers[1])[0] : 0;
    }
    if (result == 1)
        batch.release(&batch);
    perfile_table_close(table);
    return result;
}

/* A recording that does not know the time of day ended when its file was last written. */
static void find_times(struct one *one, const struct facts *facts)
{
    struct stat status = {0};
    struct tm tm = {0};
    time_t seconds;

    (void)stat(one->input.name, &status);
    const uint64_t written = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
    one->has_clock = facts->known[WALL_TIME] && facts->known[CLOCK_TIME] && facts->values[WALL_TIME];
    one->ahead_ns =
        one->has_clock ? facts->values[WALL_TIME] - facts->values[CLOCK_TIME] : written - facts->values[LAST_TIME];
    one->added.time_ns = facts->known[FIRST_TIME] ? facts->values[FIRST_TIME] + one->ahead_ns : written;
    seconds = (time_t)(one->added.time_ns / 1000000000u);
    (void)gmtime_r(&seconds, &tm);
    strftime(one->day, sizeof(one->day), "%Y-%m-%d", &tm);
    strftime(one->hour, sizeof(one->hour), "%H", &tm);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* A byte in the name of a folder; what other systems do not take there is %HH. */
static size_t escape_byte(unsigned char byte, char *to)
{
    static const char digits[] = "0123456789ABCDEF";

    if (isalnum(byte) || byte == '-' || byte == '_' || byte == '.') {
        *to = (char)byte;
        return 1;
    }
    memcpy(to, (const char[]){'%', digits[byte >> 4], digits[byte & 15]}, 3);
    return 3;
}

enum { PIECE_BYTES = 3 * 4 + 1 };
/* The character that `value` begins with, as it stands in the name of a folder; returns its bytes in `value`. */
static size_t put_piece(const char *value, char piece[PIECE_BYTES])
{
    const size_t bytes = pf_utf8_bytes(value);
    char escaped[8];
    const char *text = bytes ? value : escaped;
    const size_t count = bytes ? bytes : perfile_text_escape(value, 1, escaped, sizeof(escaped));

    for (size_t i = 0; i < count; i++)
        piece += escape_byte((unsigned char)text[i], piece);
    *piece = 0;
    return bytes ? bytes : 1;
}

/*
 * Writes a key and its value as Hive does; an unknown value has a reserved name. Engines read values as UTF-8: other
 * bytes become \xHH, as in tables. A value that does not fit into the name of a file is cut; host names have at most 64
 * bytes.
 */
static void put_folder(FILE *to, const char *key, const char *value)
{
    enum { MAX_BYTES = 3 * 64 };
    char piece[PIECE_BYTES];

    fprintf(to, "%s%s=", ftell(to) > 0 ? "/" : "", key);
    if (!*value)
        fputs("__HIVE_DEFAULT_PARTITION__", to);
    for (size_t used = 0; *value; used += strlen(piece)) {
        value += put_piece(value, piece);
        if (used + strlen(piece) > MAX_BYTES)
            break;
        fputs(piece, to);
    }
}

/* To be freed; NULL: out of memory. */
static char *make_folder(const struct one *one, unsigned keys)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (!file)
        return NULL;
    if (keys & PF_BY_HOST)
        put_folder(file, "host", one->added.host);
    if (keys & PF_BY_DATE)
        put_folder(file, "date", one->day);
    if (keys & PF_BY_HOUR)
        put_folder(file, "hour", one->hour);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool name_parts(struct one *one)
{
    const unsigned keys = one->adding->dataset->keys;
    const char *host = "", *slash = strrchr(one->input.name, '/');

    if (one->input.reader)
        (void)!perfile_feature_text(one->input.reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL);
    one->added.name = strdup(slash && slash[1] ? slash + 1 : one->input.name);
    one->added.host = strdup(host ? host : "");
    if (one->added.host) {
        one->added.folder = make_folder(one, keys);
        one->added.shared = make_folder(one, keys & ~(unsigned)PF_BY_HOST);
    }
    return one->added.name && one->added.host && one->added.folder && one->added.shared;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Its name when all of the recording is complete, and before: engines read all files of the folder. */
static char *file_path(const struct one *one, size_t table)
{
    char *folder = pf_dataset_folder(one->adding->dataset, &one->added, table), *path = NULL;

    if (folder && asprintf(&path, "%s/%s.parquet", folder, one->added.id) < 0)
        path = NULL;
    free(folder);
    return path;
}

static char *unplaced_path(const struct one *one, size_t table)
{
    char *path = NULL;

    return asprintf(&path, "%s/_perfile/adding/%s-%s.parquet", one->adding->dataset->path, one->added.id,
                    pf_dataset_tables[table].view) < 0
               ? NULL
               : path;
}

/* "recording,host," and those of the table. */
static void put_columns(const struct one *one, const struct pf_dataset_table *of, char columns[256])
{
    const bool by_host = one->adding->dataset->keys & PF_BY_HOST;

    snprintf(columns, 256, "%s%s%s", of->distinct ? "" : "recording,", of->distinct || by_host ? "" : "host,",
             of->columns);
}

static int write_rows(struct one *one, const struct pf_dataset_table *of, struct pf_stream *stream)
{
    const struct pf_settings *settings = one->adding->settings;
    const struct perfile_constant constants[] = {
        {"recording", "Digest of the recording (BLAKE2b, 128 bits).", one->added.id},
        {"host", "Name of the machine.", *one->added.host ? one->added.host : NULL},
        {"file", "Name of the recording's file.", one->added.name},
        {"times_from", "Where times of day come from: the recording, or the time at which its file was written (file).",
         one->has_clock ? "recording" : "file"}};
    const struct perfile_sink sink = {stream, pf_stream_write};
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    char columns[256];
    int result;

    put_columns(one, of, columns);
    if (of->distinct || of == &pf_dataset_tables[PF_TABLE_SAMPLES])
        options.filter = settings->print.filter; /* the other tables describe the complete recording */
    options.symbols = &settings->symbols;
    options.columns = columns;
    options.keys = of->keys;
    options.threads = one->adding->threads;
    options.fills = options.wall_times = true;
    options.wall_ahead_ns = one->ahead_ns;
    options.constants = constants;
    options.constant_count = sizeof(constants) / sizeof(constants[0]);
    result = perfile_reader_rewind(one->input.reader, &one->input.error);
    if (result == 0)
        result = perfile_table_open(one->input.reader, of->view, &options, &table, &one->input.error);
    if (result < 0)
        return result;
    result = perfile_table_write(table, "parquet", &sink, &one->input.error);
    perfile_table_close(table);
    return result;
}

/* Stores the rows and the digest of a file for the marker. */
static int take_file(struct one *one, size_t table, const char *path)
{
    struct perfile_parquet_info info = PERFILE_PARQUET_INFO_INIT;
    struct perfile_error error;
    const int result = perfile_parquet_look(path, &info, &error);

    one->added.rows[table] = info.rows;
    if (result < 0) {
        pf_message("%s", error.message);
        return pf_status_of_error(result, PF_STATUS_OUTPUT);
    }
    return pf_digest_path(path, one->added.sums[table], &(uint64_t){0}) ? PF_STATUS_OK : pf_dataset_fail(path);
}

static int write_table(struct one *one, size_t table)
{
    char *path = unplaced_path(one, table);
    struct pf_stream stream;
    int status = path ? PF_STATUS_OK : fail_memory(one->adding), result = 0, closed;

    if (!status) {
        status = pf_stream_open(&stream, path);
    }
    if (!status) {
        result = write_rows(one, &pf_dataset_tables[table], &stream);
        closed = pf_stream_close(&stream, result >= 0);
        status = result < 0 ? pf_input_failure(&one->input, result) : closed;
        status = result == PERFILE_ERROR_WRITE && closed ? closed : status;
    }
    if (!status)
        status = take_file(one, table, path);
    one->input.log.over = true; /* everything odd was reported by the first table */
    free(path);
    return status;
}

static void drop_tables(const struct one *one)
{
    for (size_t i = 0; i < PF_DATASET_TABLES; i++) {
        char *path = unplaced_path(one, i);
        if (path)
            unlink(path);
        free(path);
    }
}

static int make_folder_of(const struct one *one, size_t table)
{
    char *folder = pf_dataset_folder(one->adding->dataset, &one->added, table);
    int status = folder ? PF_STATUS_OK : fail_memory(one->adding);

    if (!status && !pf_dataset_make_folders(folder))
        status = pf_dataset_fail(folder);
    free(folder);
    return status;
}

static int install_table(const struct one *one, size_t table)
{
    char *from = unplaced_path(one, table), *to = file_path(one, table);
    int status = !from || !to ? fail_memory(one->adding) : PF_STATUS_OK;

    if (!status && rename(from, to) < 0)
        status = pf_dataset_fail(to);
    free(from);
    free(to);
    return status;
}

static int install_tables(const struct one *one)
{
    const int fd = pf_lock_placing(one->adding->dataset, false);
    int status = fd < 0 ? pf_dataset_fail(one->adding->dataset->path) : PF_STATUS_OK;

    for (size_t i = 0; i < PF_DATASET_TABLES && !status; i++) /* before the first file: a folder may be refused */
        status = make_folder_of(one, i);
    for (size_t i = 0; i < PF_DATASET_TABLES && !status; i++)
        status = install_table(one, i);
    if (fd >= 0)
        pf_unlock_dataset(fd);
    return status;
}

static int write_tables(struct one *one)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < PF_DATASET_TABLES && !status; i++)
        status = write_table(one, i);
    if (!status)
        status = install_tables(one);
    if (!status && !pf_added_write(one->adding->dataset, &one->added))
        status = pf_dataset_fail(one->adding->dataset->path);
    if (status)
        drop_tables(one);
    return status;
}

/* ---- one recording ----------------------------------------------------------------------------------------------- */

static void aim_symbols(struct one *one)
{
    struct perfile_symbol_options *symbols = &one->adding->settings->symbols;

    symbols->recording = one->input.name;
    symbols->note = pf_log_note;
    symbols->note_context = &one->input.log;
}

static int write_recording(struct one *one)
{
    const struct perfile_counts *counts = perfile_reader_counts(one->input.reader);
    struct facts facts = {0};
    const int result = read_facts(one, &facts);

    if (result < 0)
        return pf_input_failure(&one->input, result);
    one->added.state = counts->losses || counts->bytes_lost || counts->damaged ? PF_ADDED_DAMAGED : PF_ADDED_VALID;
    one->added.samples = counts->samples;
    one->added.lost = counts->lost_events + counts->lost_samples - counts->lost_counted;
    find_times(one, &facts);
    if (!name_parts(one))
        return fail_memory(one->adding);
    const int losses = pf_input_losses(&one->input), status = write_tables(one);
    return status ? status : losses;
}

/* Writes a marker for a recording that cannot be read at all, so that it is not tried again. */
static int note_unreadable(struct one *one)
{
    one->added.state = PF_ADDED_UNREADABLE;
    if (!name_parts(one))
        return fail_memory(one->adding);
    return pf_added_write(one->adding->dataset, &one->added) ? PF_STATUS_FINDINGS
                                                             : pf_dataset_fail(one->adding->dataset->path);
}

static int read_and_write(struct one *one)
{
    int status = pf_input_open(&one->input);
    const int code = one->input.error.code;

    if (status == PF_STATUS_UNREADABLE && code != PERFILE_ERROR_OPEN && code != PERFILE_ERROR_READ &&
        code != PERFILE_ERROR_UNSUPPORTED && !pf_is_folder(one->input.name))
        return note_unreadable(one);
    if (!status) {
        aim_symbols(one);
        status = write_recording(one);
        pf_log_finish(&one->input.log);
    }
    perfile_close(one->input.reader);
    one->input.reader = NULL;
    return status;
}

static void count(struct tally *tally, const struct one *one, int status, bool was_in)
{
    atomic_ulong *of = was_in                                    ? &tally->present
                       : status > PF_STATUS_FINDINGS             ? &tally->failed
                       : one->added.state == PF_ADDED_UNREADABLE ? &tally->unreadable
                                                                 : &tally->added;

    atomic_fetch_add(of, 1);
    if (of == &tally->added && one->added.state == PF_ADDED_DAMAGED)
        atomic_fetch_add(&tally->damaged, 1);
    note_status(tally, status);
}

/* 1: it is in, or cannot be added: a status; 0: it is not. */
static int is_in(const struct pf_dataset *dataset, const char *id, int *status)
{
    struct pf_added known;
    const int found = pf_added_read(dataset, id, &known);

    pf_added_free(&known);
    if (found >= 0 && known.state == PF_ADDED_REMOVING) {
        pf_message("%s: recording %s: its removal was not finished (%s dataset compact finishes it)", dataset->path, id,
                   pf_program_name());
        *status = PF_STATUS_OUTPUT;
        return 1;
    }
    if (found >= 0)
        return found && pf_added_is_in(&known);
    if (errno == EBADMSG) /* half a marker: it is not */
        return 0;
    pf_message("%s: recording %s: %s", dataset->path, id, strerror(errno));
    *status = PF_STATUS_UNREADABLE;
    return 1;
}

/* Removes files of this recording that a killed command left; the recording is locked. */
static void remove_left(const struct one *one)
{
    char *folder = NULL;
    DIR *entries = asprintf(&folder, "%s/_perfile/adding", one->adding->dataset->path) < 0 ? NULL : opendir(folder);
    const size_t bytes = strlen(one->added.id);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (!strncmp(entry->d_name, one->added.id, bytes) && entry->d_name[bytes] == '-')
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    free(folder);
}

static int add_new(struct one *one, bool *was_in)
{
    const struct pf_dataset *dataset = one->adding->dataset;
    const int fd = pf_lock_recording(dataset, one->added.id, true);
    int status = PF_STATUS_OK;

    if (fd < 0)
        return pf_dataset_fail(dataset->path);
    *was_in = is_in(dataset, one->added.id, &status); /* while we waited for another one */
    if (!*was_in) {
        remove_left(one);
        status = read_and_write(one);
    }
    pf_unlock_recording(dataset, one->added.id, fd);
    return status;
}

static void add(struct adding *adding, const char *path)
{
    struct one one = {.adding = adding};
    bool was_in = false;
    int status = PF_STATUS_OK;

    pf_input_set(&one.input, adding->command, adding->settings, path);
    if (!pf_digest_path(path, one.added.id, &one.added.bytes)) {
        pf_message("%s: %s", path, errno ? strerror(errno) : "not a file; a dataset takes recordings that are files");
        status = PF_STATUS_UNREADABLE;
    } else if (!(was_in = is_in(adding->dataset, one.added.id, &status))) {
        status = add_new(&one, &was_in);
    }
    count(adding->tally, &one, status, was_in && !status);
    pf_added_free(&one.added);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Whoever ends the command ends all of it. */
static void end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) /* it was ended before */
        _exit(PF_STATUS_OUTPUT);
}

static void work(struct adding *adding)
{
    size_t at;

    pf_sandbox_enter(adding->command, adding->settings);
    while ((at = atomic_fetch_add(&adding->tally->next, 1)) < adding->settings->operand_count)
        add(adding, adding->settings->operands[at]);
}

/* Waits for a process; a process that crashed counts as one failed recording. */
static void wait_for(struct tally *tally, pid_t child)
{
    int how = 0;

    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(how) && !WEXITSTATUS(how))
        return;
    pf_message("export: a process was ended by signal %d", WIFSIGNALED(how) ? WTERMSIG(how) : 0);
    atomic_fetch_add(&tally->failed, 1);
    note_status(tally, PF_STATUS_OUTPUT);
}

static int work_together(struct adding *adding, unsigned processes)
{
    pid_t *children = calloc(processes, sizeof(*children)), parent = getpid();
    unsigned count = 0;

    if (!children)
        return fail_memory(adding);
    for (; count < processes; count++) {
        fflush(NULL);
        children[count] = fork();
        if (children[count] < 0)
            break;
        if (!children[count]) {
            end_with(parent);
            work(adding);
            fflush(NULL);
            _exit(0);
        }
    }
    if (!count) {
        pf_message("%s: %s", adding->command->name, strerror(errno));
        note_status(adding->tally, PF_STATUS_OUTPUT);
    }
    for (unsigned i = 0; i < count; i++)
        wait_for(adding->tally, children[i]);
    free(children);
    return PF_STATUS_OK;
}

/* "12 recordings added, 3 were there". */
static void summarize(const struct adding *adding)
{
    const struct tally *tally = adding->tally;
    const struct {
        unsigned long count;
        const char *text;
    } parts[] = {{tally->present, " were there already"},
                 {tally->damaged, " of them damaged (below damaged/)"},
                 {tally->unreadable, " unreadable"},
                 {tally->failed, " failed"}};
    char text[256];
    int used = snprintf(text, sizeof(text), "%s: %lu %s added", adding->dataset->path, tally->added,
                        tally->added == 1 ? "recording" : "recordings");

    if (adding->settings->quiet)
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && used > 0 && (size_t)used < sizeof(text); i++)
        if (parts[i].count)
            used += snprintf(text + used, sizeof(text) - (size_t)used, ", %lu%s", parts[i].count, parts[i].text);
    pf_message("%s", text);
}

static int check(const struct pf_command *command, struct pf_settings *settings, unsigned *keys)
{
    static char usual[] = "perf.data";
    static char *none[] = {usual};
    const char *why = !settings->format || strcmp(settings->format, "parquet") ? "--partition is for --format parquet"
                      : !settings->output ? "--partition needs a folder: -o DATASET"
                      : settings->view    ? "--partition writes all tables, not --view"
                                          : NULL;

    if (why) {
        pf_message("%s: %s", command->name, why);
        return PF_STATUS_USAGE;
    }
    if (!settings->operand_count) {
        none[0] = settings->input ? (char *)settings->input : usual;
        settings->operands = none;
        settings->operand_count = 1;
    }
    return pf_dataset_keys(command->name, settings->partition, keys) ? PF_STATUS_OK : PF_STATUS_USAGE;
}

int pf_dataset_add(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_dataset dataset;
    unsigned keys, processes = pf_thread_count(settings);
    int status = check(command, settings, &keys);

    if (status || (status = pf_dataset_open(&dataset, command->name, settings->output, &keys)))
        return status;
    struct adding adding = {.command = command, .settings = settings, .dataset = &dataset};
    adding.tally = mmap(NULL, sizeof(*adding.tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (adding.tally == MAP_FAILED)
        return fail_memory(&adding);
    adding.threads = 1;
    if (processes > settings->operand_count) {
        adding.threads = processes / (unsigned)settings->operand_count;
        processes = (unsigned)settings->operand_count;
    }
    if (processes < 2)
        work(&adding);
    else if ((status = work_together(&adding, processes)))
        note_status(adding.tally, status);
    summarize(&adding);
    status = atomic_load(&adding.tally->status);
    if (!status && adding.tally->damaged + adding.tally->unreadable)
        status = PF_STATUS_FINDINGS;
    munmap(adding.tally, sizeof(*adding.tally));
    return status;
}
