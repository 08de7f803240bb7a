/* SPDX-License-Identifier: MIT */
#include "candidates.h"
#include "array.h"
#include "dataset/dataset.h"
#include "input.h"
#include "inputs.h"
#include "sandbox.h"
#include "stat_metrics.h"
#include "stream.h"

#include <perfile/recorder.h>
#include <perfile/table.h>

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { MAX_WORDS = 4096, MAX_MICROSECONDS = 300000 };

struct words {
    char **list; /* owned, and each of them */
    size_t count, capacity;
};

/* Only what no shell changes, so that it needs no quotes; commas separate values. */
static bool is_plain(const char *word, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!isalnum((unsigned char)word[i]) && !strchr("_./:@%+-", word[i]))
            return false;
    return bytes > 0;
}

/* Non-zero when there are enough of them. */
static int add(struct words *words, const char *word, size_t bytes, const char *remark)
{
    if (words->count == MAX_WORDS)
        return 1;
    if (!is_plain(word, bytes))
        return 0;
    if (!pf_array_grow(&words->list, &words->capacity, words->count + 1, sizeof(*words->list)))
        return 1;
    if (asprintf(&words->list[words->count], "%.*s%s%s", (int)bytes, word, *remark ? "\t" : "", remark) < 0)
        return 1;
    words->count++;
    return 0;
}

/* ---- of this machine --------------------------------------------------------------------------------------------- */

static int add_event(void *context, const struct perfile_known_event *event)
{
    return event->works ? add(context, event->name, strlen(event->name), event->doc ? event->doc : "") : 0;
}

static void add_events(struct words *words)
{
    struct perfile_error error;

    if (perfile_known_events(NULL, add_event, words, &error) < 0)
        return; /* those before the error are offered */
}

static void add_processes(struct words *words)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    char path[300], name[64];

    while (folder && (entry = readdir(folder)) != NULL) {
        if (!isdigit((unsigned char)*entry->d_name))
            continue;
        snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file && fgets(name, sizeof(name), file)) {
            name[strcspn(name, "\n")] = 0;
            add(words, entry->d_name, strlen(entry->d_name), name);
        }
        if (file)
            fclose(file);
    }
    if (folder)
        closedir(folder);
}

static void add_metrics(struct words *words)
{
    const char *name, *doc;

    for (size_t i = 0; (name = pf_stat_metric_at(i, &doc)) != NULL; i++)
        add(words, name, strlen(name), doc);
}

/* Without getpwent, which a static command does not have. */
static void add_users(struct words *words)
{
    FILE *file = fopen("/etc/passwd", "re");
    char line[1024];

    while (file && fgets(line, sizeof(line), file))
        add(words, line, strcspn(line, ":"), "");
    if (file)
        fclose(file);
}

/* ---- of a recording ---------------------------------------------------------------------------------------------- */

/* The function alone, which also matches with its namespace, template arguments and parameters. */
static void add_function(struct words *words, const char *name, size_t bytes)
{
    size_t start = 0, end = 0;

    while (end < bytes && name[end] != '(' && name[end] != '<' && name[end] != ' ')
        end++;
    for (size_t i = 0; i + 1 < end; i++)
        if (name[i] == ':' && name[i + 1] == ':')
            start = i + 2;
    if (end > start && name[start] != '[')
        add(words, name + start, end - start, "");
}

/* The name of the file, by which reports select it. */
static void add_file(struct words *words, const char *name, size_t bytes)
{
    size_t start = bytes;

    while (start && name[start - 1] != '/')
        start--;
    add(words, name + start, bytes - start, "");
}

static void add_name(struct words *words, const char *name, size_t bytes)
{
    add(words, name, bytes, "");
}

typedef void add_text(struct words *words, const char *text, size_t bytes);

static bool is_known(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *valid = column->buffers[0];

    return !valid || valid[row / 8] >> row % 8 & 1;
}

/* A column of texts, or of numbers of 32 bits. */
static void add_column(struct words *words, const struct ArrowArray *column, add_text *take)
{
    const int32_t *values = column->buffers[1];

    for (int64_t row = 0; row < column->length; row++) {
        char number[16];

        if (!is_known(column, row))
            continue;
        if (column->dictionary) {
            const int32_t *offsets = column->dictionary->buffers[1];
            const char *texts = column->dictionary->buffers[2];

            take(words, texts + offsets[values[row]], (size_t)(offsets[values[row] + 1] - offsets[values[row]]));
        } else {
            take(words, number, (size_t)snprintf(number, sizeof(number), "%d", values[row]));
        }
    }
}

struct source {
    const char *option; /* "": the first operand */
    bool records;       /* of verbs that record this machine, else of those that read */
    void (*collect)(struct words *words);
    const char *view, *column; /* where it is in a recording */
    add_text *take;
    void (*take_added)(struct words *words, const struct pf_added *added); /* from a recording of a dataset */
};

static void add_rows(struct words *words, const struct source *source, struct pf_input *input)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_table *table;
    struct ArrowArray batch;

    options.columns = source->column;
    options.symbols = &input->settings->symbols;
    if (perfile_table_open(input->reader, source->view, &options, &table, &input->error) < 0)
        return;
    while (words->count < MAX_WORDS && perfile_table_next(table, &batch, &input->error) == 1) {
        add_column(words, batch.children[0], source->take);
        batch.release(&batch);
    }
    perfile_table_close(table);
}

/* The last word of the command line that is a file of this type; NULL: none is. */
static const char *find_file(const struct pf_settings *settings, mode_t type)
{
    struct stat status;

    for (size_t i = settings->operand_count; i-- > 3;)
        if (stat(settings->operands[i], &status) == 0 && (status.st_mode & S_IFMT) == type)
            return settings->operands[i];
    return NULL;
}

/* What -i names, else the last word that is a file. */
static const char *find_recording(const struct pf_settings *settings)
{
    char **words = settings->operands;
    const char *found;

    for (size_t i = 4; i < settings->operand_count; i++)
        if (!strcmp(words[i - 1], "-i") || !strcmp(words[i - 1], "--input"))
            return words[i];
    found = find_file(settings, S_IFREG);
    return found ? found : "perf.data";
}

static void add_recorded(struct words *words, const struct source *source, const struct pf_command *command,
                         struct pf_settings *settings)
{
    struct pf_input input;

    unsetenv("DEBUGINFOD_URLS");
    (void)pf_allow_open_files(); /* the binaries in a bundle are files in memory */
    pf_input_set(&input, command, settings, find_recording(settings));
    pf_sandbox_enter(command, settings);
    if (pf_input_open(&input) == PF_STATUS_OK)
        add_rows(words, source, &input);
    perfile_close(input.reader);
}

/* ---- of a dataset ------------------------------------------------------------------------------------------------ */

static void add_host(struct words *words, const struct pf_added *added)
{
    add(words, added->host, strlen(added->host), "");
}

static void add_day(struct words *words, const struct pf_added *added)
{
    char time[PF_DATASET_TIME];

    pf_dataset_time(added->time_ns, time);
    add(words, time, strcspn(time, "T"), "");
}

static void add_id(struct words *words, const struct pf_added *added)
{
    char time[PF_DATASET_TIME], remark[256];

    snprintf(remark, sizeof(remark), "%s %s", added->host, pf_dataset_time(added->time_ns, time));
    add(words, added->id, strlen(added->id), remark);
}

static void add_of_dataset(struct words *words, const struct source *source, const struct pf_command *command,
                           struct pf_settings *settings)
{
    const char *path = find_file(settings, S_IFDIR);
    struct pf_dataset dataset;
    struct pf_all_added all = {0};

    pf_sandbox_enter(command, settings);
    if (!path || pf_dataset_open(&dataset, command->name, path, NULL))
        return;
    if (pf_all_added_read(&dataset, &all))
        for (size_t i = 0; i < all.count; i++)
            source->take_added(words, &all.list[i]);
    pf_all_added_free(&all);
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

static const struct source sources[] = {
    {"event", .records = true, .collect = add_events},
    {"pid", .records = true, .collect = add_processes},
    {"uid", .records = true, .collect = add_users},
    {"metrics", .records = true, .collect = add_metrics},
    {"event", .view = "events", .column = "name", .take = add_name},
    {"events", .view = "events", .column = "name", .take = add_name},
    {"pid", .view = "threads", .column = "pid", .take = add_name},
    {"tid", .view = "threads", .column = "tid", .take = add_name},
    {"comms", .view = "threads", .column = "comm", .take = add_name},
    {"dsos", .view = "maps", .column = "filename", .take = add_file},
    {"symbols", .view = "functions", .column = "symbol", .take = add_function},
    {"", .view = "functions", .column = "symbol", .take = add_function}, /* of annotate */
    {"host", .take_added = add_host},
    {"before", .take_added = add_day},
    {"recording", .take_added = add_id},
};

static const struct source *find_source(const struct pf_command *command, const char *option)
{
    const bool records = command->takes_command || !strcmp(command->name, "top");
    const bool of_dataset = !strcmp(command->name, "dataset");

    if (!*option && (!command->operand || strncmp(command->operand, "[SYMBOL]", 8) != 0))
        return NULL;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (sources[i].records == records && (sources[i].take_added != NULL) == of_dataset &&
            !strcmp(sources[i].option, option))
            return &sources[i];
    return NULL;
}

bool pf_candidates_known(const struct pf_command *command, const struct pf_option *option)
{
    return (!option || option->argument) && find_source(command, option ? option->name : "") != NULL;
}

/* The name of an option that was typed as -x or --name; "" where it has none. */
static const char *option_name(const struct pf_command *command, const char *typed)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++) {
            const char letter[] = {'-', pf_option_letter(command, option), 0};

            if ((letter[1] && !strcmp(typed, letter)) || (!strncmp(typed, "--", 2) && !strcmp(typed + 2, option->name)))
                return option->name;
        }
    return "";
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void print_sorted(struct pf_stream *out, struct words *words, bool with_remarks)
{
    if (words->count)
        qsort(words->list, words->count, sizeof(*words->list), compare);
    for (size_t i = 0; i < words->count; i++)
        if (!i || strcmp(words->list[i - 1], words->list[i]) != 0)
            pf_stream_print(out, "%.*s\n", (int)strcspn(words->list[i], with_remarks ? "" : "\t"), words->list[i]);
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
}

int pf_candidates_print(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_command *verb = settings->operand_count > 2 ? pf_command_find(settings->operands[1]) : NULL;
    const struct source *source = verb ? find_source(verb, option_name(verb, settings->operands[2])) : NULL;
    struct words words = {0};
    struct pf_stream out;

    if (!source)
        return PF_STATUS_USAGE;
    /* after a press of Tab it must not take longer: the signal ends the process, which has printed nothing yet */
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = MAX_MICROSECONDS}, NULL);
    if (source->collect)
        source->collect(&words);
    else if (source->take_added)
        add_of_dataset(&words, source, command, settings);
    else
        add_recorded(&words, source, command, settings);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    print_sorted(&out, &words, strcmp(settings->operands[0], "bash") != 0);
    return pf_stream_close(&out, true);
}
