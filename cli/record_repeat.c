/* SPDX-License-Identifier: MIT */
#include "record_repeat.h"
#include "message.h"
#include "workload.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 1000, MAX_WARM_UPS = 100, FEW_RUNS = 3, NAME_BYTES = 4096, STATUS_SIGNAL = 128 };
/* Relative standard deviations of the work of a side's runs: above them a comparison means little, or nothing. */
static const double noisy = 0.1, too_noisy = 0.2;

struct side {
    char **arguments;
    const char *word;   /* of the names of its files: ".before"; "": there is one side */
    double *totals;     /* what each recording weighs; owned */
    size_t total_count; /* recordings that are there */
    bool is_time;
};

struct repeat {
    const struct pf_command *command;
    struct pf_settings *settings;
    int (*record)(const struct pf_command *command, struct pf_settings *settings);
    const char *base;
    size_t runs;
    struct side sides[2];
    size_t side_count;
    char *shell[4]; /* the command of --versus */
    sigset_t signals, before;
    bool ended; /* by a signal */
};

bool pf_record_repeats(const struct pf_settings *settings)
{
    return settings->record.repeat || settings->record.versus || settings->record.warm_up;
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static int check(const struct pf_settings *settings)
{
    const struct pf_record_settings *record = &settings->record;
    const char *why = NULL;

    if (!record->repeat)
        why = "--versus and --warm-up need --repeat N";
    else if (record->warm_up && record->warm_up[strspn(record->warm_up, "0123456789")])
        why = "--warm-up needs a number of runs";
    else if (record->repeat > MAX_RUNS || (record->warm_up && strtoull(record->warm_up, NULL, 10) > MAX_WARM_UPS))
        why = "--repeat allows at most 1000 runs, and 100 to warm up";
    else if (!settings->operand_count)
        why = "--repeat needs a command";
    else if (record->switch_output || record->timestamp_filename || record->control ||
             record->options.flags & PERFILE_RECORDER_OVERWRITE)
        why = "--repeat is not for --switch-output, --timestamp-filename, --control and --overwrite";
    else if (settings->output && !strcmp(settings->output, "-"))
        why = "--repeat writes several files: it needs a name, not -o -";
    if (why)
        pf_message("record: %s", why);
    return why ? PF_STATUS_USAGE : PF_STATUS_OK;
}

static bool open_sides(struct repeat *r)
{
    static char shell[] = "sh", option[] = "-c";
    const char *versus = r->settings->record.versus;

    r->side_count = versus ? 2 : 1;
    r->sides[0] = (struct side){.arguments = r->settings->operands, .word = versus ? ".before" : ""};
    if (versus) {
        r->shell[0] = shell;
        r->shell[1] = option;
        r->shell[2] = strdup(versus);
        r->sides[1] = (struct side){.arguments = r->shell, .word = ".after"};
    }
    for (size_t i = 0; i < r->side_count; i++)
        if (!(r->sides[i].totals = calloc(r->runs, sizeof(double))))
            return false;
    return !versus || r->shell[2];
}

static void close_sides(struct repeat *r)
{
    for (size_t i = 0; i < r->side_count; i++)
        free(r->sides[i].totals);
    free(r->shell[2]);
}

static bool name_file(const struct repeat *r, const struct side *side, size_t run, char name[NAME_BYTES])
{
    return snprintf(name, NAME_BYTES, "%s%s.%zu", r->base, side->word, run + 1) < NAME_BYTES;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void hold_signals(struct repeat *r)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};

    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&r->signals);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaddset(&r->signals, ending[i]);
    sigprocmask(SIG_BLOCK, &r->signals, &r->before);
}

/* A signal that ends this process is passed to the run, which then finishes its recording. */
static int wait_for(struct repeat *r, pid_t pid)
{
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        const int signal = sigwaitinfo(&r->signals, NULL);
        if (signal > 0 && signal != SIGCHLD) {
            r->ended = true;
            kill(pid, signal);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SIGNAL + WTERMSIG(status);
}

static int warm_up(struct repeat *r, const struct side *side)
{
    struct pf_workload workload = {.verb = "record", .go = -1, .news = -1};
    int status = pf_workload_prepare(&workload, side->arguments, false, &r->before);

    if (!status && !(status = pf_workload_start(&workload)))
        status = wait_for(r, workload.pid);
    workload.running = false;
    pf_workload_close(&workload);
    return status;
}

/* The first recording says what there is to say of events; the others would say it again. */
static int record_run(struct repeat *r, const struct side *side, size_t run)
{
    char name[NAME_BYTES];
    struct pf_settings settings = *r->settings;

    if (!name_file(r, side, run, name)) {
        pf_message("record: the name of the output is too long");
        return PF_STATUS_USAGE;
    }
    const pid_t pid = fork();

    if (pid < 0) {
        pf_message("record: %s", strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    if (pid > 0)
        return wait_for(r, pid);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
    settings.output = name;
    settings.operands = side->arguments;
    settings.operand_count = 0;
    while (side->arguments[settings.operand_count])
        settings.operand_count++;
    settings.quiet |= run || side != r->sides;
    const int status = r->record(r->command, &settings);
    fflush(NULL);
    _exit(status);
}

/* ---- what they weigh --------------------------------------------------------------------------------------------- */

/* Adds up the periods of the first event that has samples; its name determines whether they are times. */
static bool weigh(const char *path, double *total, bool *is_time)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    const struct perfile_event *event = NULL;

    *total = 0;
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return false;
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        struct perfile_sample sample = PERFILE_SAMPLE_INIT;
        if (record->type != PERFILE_RECORD_SAMPLE || !record->event || (event && record->event != event) ||
            perfile_sample_decode(record, &sample, NULL) < 0)
            continue;
        event = record->event;
        *total += sample.present & PERFILE_SAMPLE_PERIOD ? (double)sample.period : 1;
    }
    *is_time = event && event->name && (strstr(event->name, "cpu-clock") || strstr(event->name, "task-clock"));
    perfile_close(reader);
    return event != NULL;
}

static void weigh_run(struct repeat *r, struct side *side, size_t run)
{
    char name[NAME_BYTES];

    if (name_file(r, side, run, name) && weigh(name, &side->totals[side->total_count], &side->is_time))
        side->total_count++;
}

static double mean_of(const struct side *side)
{
    double sum = 0;

    for (size_t i = 0; i < side->total_count; i++)
        sum += side->totals[i];
    return side->total_count ? sum / (double)side->total_count : 0;
}

/* The standard deviation, as a fraction of the mean. */
static double spread_of(const struct side *side)
{
    const double mean = mean_of(side);
    double squares = 0;

    for (size_t i = 0; i < side->total_count; i++)
        squares += (side->totals[i] - mean) * (side->totals[i] - mean);
    return side->total_count > 1 && mean > 0 ? sqrt(squares / (double)(side->total_count - 1)) / mean : 0;
}

static void report_side(const struct side *side)
{
    const double spread = spread_of(side), mean = mean_of(side);
    const char *label = side->word[0] ? side->word + 1 : "runs";

    if (side->is_time)
        pf_message("record: %s: %.1f ms in the mean, standard deviation %.1f%%", label, mean / 1e6, 100 * spread);
    else
        pf_message("record: %s: %.4g in the mean, standard deviation %.1f%%", label, mean, 100 * spread);
    if (spread > too_noisy)
        pf_message("record: %s: these runs differ too much to be compared: they seem not to do the same work, or the "
                   "machine is busy",
                   label);
    else if (spread > noisy)
        pf_message("record: %s: runs vary a lot: only large changes can be detected; use longer runs, or more of them",
                   label);
}

static void report_notes(const struct repeat *r)
{
    if (r->settings->quiet)
        return;
    for (size_t i = 0; i < r->side_count; i++)
        if (r->sides[i].total_count > 1)
            report_side(&r->sides[i]);
    if (r->runs < FEW_RUNS)
        pf_message("record: a comparison needs at least three runs; five are better");
    if (r->side_count == 2)
        pf_message_advice("record: perfile diff --before %s.before.* --after %s.after.*", r->base, r->base);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int failed(const struct repeat *r, const struct side *side, int status)
{
    if (!r->ended)
        pf_message("record: %s%sended with status %d: it is not run again", side->word[0] ? side->word + 1 : "",
                   side->word[0] ? ": the command " : "the command ", status);
    return status;
}

/* Both in turn, and each second time the other one first: a drift of the machine falls on both. */
static int run_all(struct repeat *r, size_t warm_ups)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < warm_ups * r->side_count; i++)
        if ((status = warm_up(r, &r->sides[i % r->side_count])) || r->ended)
            return failed(r, &r->sides[i % r->side_count], status);
    for (size_t run = 0; run < r->runs; run++)
        for (size_t i = 0; i < r->side_count; i++) {
            struct side *side = &r->sides[run % 2 ? r->side_count - 1 - i : i];
            if ((status = record_run(r, side, run)) || r->ended)
                return failed(r, side, status);
            weigh_run(r, side, run);
        }
    return status;
}

int pf_record_repeat(const struct pf_command *command, struct pf_settings *settings,
                     int (*record)(const struct pf_command *command, struct pf_settings *settings))
{
    const char *warm_ups = settings->record.warm_up;
    struct repeat r = {.command = command,
                       .settings = settings,
                       .record = record,
                       .base = settings->output ? settings->output : "perf.data",
                       .runs = (size_t)settings->record.repeat};
    int status = check(settings);

    if (status)
        return status;
    settings->operands[settings->operand_count] = NULL;
    if (!open_sides(&r)) {
        pf_message("record: out of memory");
        status = PF_STATUS_MEMORY;
    }
    hold_signals(&r);
    if (!status && !(status = run_all(&r, warm_ups ? (size_t)strtoull(warm_ups, NULL, 10) : 1)))
        report_notes(&r);
    close_sides(&r);
    return status;
}
