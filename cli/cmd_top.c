/* SPDX-License-Identifier: MIT */
#include "advice.h"
#include "live.h"
#include "message.h"
#include "record_rows.h"
#include "sandbox.h"
#include "tui/tui.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct pf_top_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

struct location {
    const struct perfile_profile *profile;
    struct perfile_profile_sample sample;
    struct perfile_profile_function function;
};

static void put_comm(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    pf_print_name(location->sample.comm ? location->sample.comm : "[unknown]", to);
}

static void put_pid(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.pid);
}

static void put_tid(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.tid);
}

static void put_cpu(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    fprintf(to, "%" PRId32, location->sample.cpu);
}

static void put_dso(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    struct perfile_module module = PERFILE_MODULE_INIT;
    const bool known = location->function.module != PERFILE_NO_ID &&
                       perfile_profile_module_at(location->profile, location->function.module, &module) == 0;

    pf_print_name(known ? module.short_name : "[unknown]", to);
}

static void put_symbol(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    if (location->function.name)
        pf_print_name(location->function.name, to);
    else
        fprintf(to, "0x%" PRIx64, location->function.address);
}

static void put_cgroup(const struct location *location, const char *name, FILE *to)
{
    (void)name;
    pf_print_name(location->sample.cgroup ? location->sample.cgroup : "[unknown]", to);
}

/* What a column of reports shows of the sample. */
static void put_tag(const struct location *location, const char *name, FILE *to)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;

    for (uint32_t i = location->sample.tags; perfile_profile_tag_at(location->profile, i, &tag) == 0; i = tag.next)
        if (!strcmp(tag.name, name)) {
            pf_print_name(tag.text, to);
            return;
        }
}

struct column {
    const char *name, *title;
    void (*put)(const struct location *location, const char *name, FILE *to);
    bool of_functions;
    const char *doc;
};

static const struct column own_columns[] = {
    {"comm", "Command", put_comm, false, "the name of the thread"},
    {"pid", "Pid", put_pid, false, "the process"},
    {"tid", "Tid", put_tid, false, "the thread"},
    {"cpu", "CPU", put_cpu, false, "the processor"},
    {"dso", "Shared Object", put_dso, true, "the file of the function"},
    {"symbol", "Symbol", put_symbol, true, "the function; sym is the same"},
    {"cgroup", "Cgroup", put_cgroup, false, "the control group"},
};
enum { OWN_COLUMNS = sizeof(own_columns) / sizeof(own_columns[0]), COLUMNS = 24, USUAL_ROWS = 20 };

static const struct column *find_own(const char *name, size_t bytes)
{
    if (bytes == 3 && !memcmp(name, "sym", 3))
        return find_own("symbol", 6);
    for (size_t i = 0; i < OWN_COLUMNS; i++)
        if (strlen(own_columns[i].name) == bytes && !memcmp(own_columns[i].name, name, bytes))
            return &own_columns[i];
    return NULL;
}

/* Keys of profiles that are not for a sum over time. */
static bool is_left_out(const char *name)
{
    return !strcmp(name, "event") || !strcmp(name, "time") || !strcmp(name, "recording");
}

/* The own ones, then the other keys of profiles. */
static const char *column_at(size_t index, const char **doc)
{
    const char *name;

    if (index < OWN_COLUMNS) {
        *doc = own_columns[index].doc;
        return own_columns[index].name;
    }
    index -= OWN_COLUMNS;
    for (size_t i = 0; (name = perfile_profile_key_at(i, doc)) != NULL; i++)
        if (!find_own(name, strlen(name)) && !is_left_out(name) && index-- == 0)
            break;
    return name;
}

struct chosen {
    struct column columns[COLUMNS];
    char *names; /* of columns that are tags; owned */
    size_t count;
    bool children;     /* a sample counts for all functions in its stack */
    bool by_functions; /* all columns describe functions */
    bool samples;      /* their number is shown, too */
};

/* A field of tracepoints is named with its event: a recording into memory does not describe events before their data. */
static bool is_tag(const char *name, size_t bytes)
{
    const char *known, *doc;

    for (size_t i = 0; (known = column_at(i, &doc)) != NULL; i++)
        if (strlen(known) == bytes && !memcmp(known, name, bytes))
            return true;
    return memchr(name, '.', bytes) != NULL;
}

/* What a tag is called: of event.field that is the field. */
static const char *tag_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

static int refuse_column(const char *name)
{
    pf_message("top: unknown column %s (valid: comm, pid, tid, cpu, dso, symbol, cgroup, EVENT.FIELD, and columns of "
               "report that describe samples)",
               name);
    return PF_STATUS_USAGE;
}

static int choose_columns(const char *list, struct chosen *chosen)
{
    *chosen = (struct chosen){.by_functions = true, .names = strdup(list)};
    if (!chosen->names) {
        pf_message("top: out of memory");
        return PF_STATUS_MEMORY;
    }
    for (char *at = chosen->names, *name; (name = strsep(&at, ",")) != NULL;) {
        const struct column *own = find_own(name, strlen(name));
        struct column *column = &chosen->columns[chosen->count];
        if (chosen->count == COLUMNS || (!own && !is_tag(name, strlen(name))))
            return refuse_column(name);
        *column = own ? *own : (struct column){.name = tag_name(name), .title = tag_name(name), .put = put_tag};
        chosen->by_functions &= column->of_functions;
        chosen->count++;
    }
    return PF_STATUS_OK;
}

/* The keys of profiles. NULL: out of memory. */
static char *keys_of(const char *list)
{
    static const char usual[] = "tid,comm,cpu";
    char *keys = malloc(sizeof(usual) + strlen(list) + 2);
    size_t used = 0;

    if (keys)
        used = (size_t)sprintf(keys, "%s", usual);
    for (size_t bytes; keys && *list; list += bytes + (list[bytes] == ',')) {
        bytes = strcspn(list, ",");
        const struct column *own = find_own(list, bytes);
        if (!own || own->put == put_cgroup)
            used += (size_t)sprintf(keys + used, ",%.*s", (int)bytes, list);
    }
    return keys;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* `texts` has a column after each NUL. */
struct row {
    char *texts;
    size_t bytes;
    uint64_t period, samples;
    uint64_t self;   /* of the period */
    uint32_t number; /* of the function or the sample whose texts these are */
};

struct rows {
    struct row *all;
    size_t count, capacity;
    uint64_t period, samples;
};

static void free_rows(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->all[i].texts);
    free(rows->all);
}

static int compare_bytes(const struct row *x, const struct row *y)
{
    const int order = memcmp(x->texts, y->texts, x->bytes < y->bytes ? x->bytes : y->bytes);

    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_texts(const void *a, const void *b)
{
    return compare_bytes(a, b);
}

static int by_period(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->period != y->period ? (x->period < y->period) - (x->period > y->period) : compare_bytes(x, y);
}

/* Which columns are filled. */
enum part { OF_FUNCTIONS, OF_SAMPLES, OF_ALL };

static bool make_texts(const struct location *location, const struct chosen *chosen, enum part part, struct row *row)
{
    if (part == OF_SAMPLES && chosen->by_functions)
        return (row->texts = calloc(1, 1));
    FILE *to = open_memstream(&row->texts, &row->bytes);
    if (!to)
        return false;
    for (size_t i = 0; i < chosen->count; i++) {
        if (part == (chosen->columns[i].of_functions ? OF_SAMPLES : OF_FUNCTIONS))
            continue;
        chosen->columns[i].put(location, chosen->columns[i].name, to);
        putc(0, to);
    }
    return fclose(to) == 0;
}

static struct row *new_row(struct rows *rows)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity ? 2 * rows->capacity : 256;
        void *grown = realloc(rows->all, capacity * sizeof(*rows->all));
        if (!grown)
            return NULL;
        rows->all = grown;
        rows->capacity = capacity;
    }
    struct row *row = &rows->all[rows->count++];
    *row = (struct row){.texts = NULL};
    return row;
}

/* Adds the texts of a function or a sample. */
static bool add_texts(struct rows *names, const struct location *location, const struct chosen *chosen, enum part part,
                      uint32_t number)
{
    struct row *name = new_row(names);

    if (name)
        name->number = number;
    return name && make_texts(location, chosen, part, name);
}

static void sort(struct rows *rows, int (*compare)(const void *a, const void *b))
{
    if (rows->count)
        qsort(rows->all, rows->count, sizeof(*rows->all), compare);
}

static bool name_functions(struct rows *names, struct location *location, const struct chosen *chosen)
{
    bool fine = true;

    for (uint32_t i = 0; fine && perfile_profile_function_at(location->profile, i, &location->function) == 0; i++)
        fine = add_texts(names, location, chosen, OF_FUNCTIONS, i);
    sort(names, by_texts);
    return fine;
}

static bool name_samples(struct rows *names, struct location *location, const struct chosen *chosen, uint32_t event)
{
    bool fine = true;

    for (uint32_t i = 0; fine && perfile_profile_sample_at(location->profile, i, &location->sample) == 0; i++)
        fine = location->sample.event != event || add_texts(names, location, chosen, OF_SAMPLES, i);
    sort(names, by_texts);
    return fine;
}

/* Functions of equal texts are one group; `firsts`: by group its first name. */
static int open_calls(const struct rows *names, const struct perfile_profile *profile, size_t *firsts,
                      struct perfile_calls **calls)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    uint32_t *groups = calloc(names->count + 1, sizeof(*groups));

    for (size_t i = 0; groups && i < names->count; i++) {
        if (!i || compare_bytes(&names->all[i - 1], &names->all[i]))
            firsts[options.group_count++] = i;
        groups[names->all[i].number] = options.group_count - 1;
    }
    options.groups = groups;
    const int result = groups ? perfile_calls_open(profile, &options, calls, NULL) : PERFILE_ERROR_MEMORY;
    free(groups);
    return result;
}

/* Adds a row for each group of `calls`; the thread columns come from the sample of `location`. */
static bool add_rows(struct rows *rows, struct location *location, const struct chosen *chosen,
                     const struct perfile_calls *calls, const struct rows *functions, const size_t *firsts)
{
    const uint64_t *weight, *self;

    for (uint32_t i = 0; (self = perfile_calls_self(calls, i)); i++) {
        weight = chosen->children ? perfile_calls_total(calls, i) : self;
        if (!weight[0])
            continue;
        struct row *row = new_row(rows);
        if (!row ||
            perfile_profile_function_at(location->profile, functions->all[firsts[i]].number, &location->function) < 0)
            return false;
        *row = (struct row){.samples = weight[0], .period = weight[1], .self = self[1]};
        if (!make_texts(location, chosen, OF_ALL, row))
            return false;
        rows->samples += self[0];
        rows->period += self[1];
    }
    return true;
}

static bool make_rows(struct rows *rows, const struct perfile_profile *profile, uint32_t event,
                      const struct chosen *chosen)
{
    struct location location = {profile, PERFILE_PROFILE_SAMPLE_INIT, PERFILE_PROFILE_FUNCTION_INIT};
    struct rows functions = {.count = 0}, samples = {.count = 0};
    struct perfile_calls *calls = NULL;
    size_t *firsts = calloc(perfile_profile_function_count(profile) + 1, sizeof(*firsts));

    *rows = (struct rows){.count = 0};
    bool fine = firsts && name_functions(&functions, &location, chosen) &&
                name_samples(&samples, &location, chosen, event) &&
                open_calls(&functions, profile, firsts, &calls) == 0;
    for (size_t i = 0; i < samples.count && fine; i++) {
        if ((!i || compare_bytes(&samples.all[i - 1], &samples.all[i])) && perfile_calls_start(calls, NULL) < 0)
            fine = false;
        perfile_calls_add(calls, samples.all[i].number);
        if (i + 1 < samples.count && !compare_bytes(&samples.all[i], &samples.all[i + 1]))
            continue;
        perfile_calls_sum(calls);
        fine = perfile_profile_sample_at(profile, samples.all[i].number, &location.sample) == 0 &&
               add_rows(rows, &location, chosen, calls, &functions, firsts);
    }
    sort(rows, by_period);
    perfile_calls_close(calls);
    free_rows(&functions);
    free_rows(&samples);
    free(firsts);
    return fine;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *text_at(const struct row *row, size_t column)
{
    const char *at = row->texts;

    while (column--)
        at += strlen(at) + 1;
    return at;
}

/* The width of a column; the last one is not padded. */
static int width_of(const struct rows *rows, size_t shown, size_t column, const char *title)
{
    size_t width = strlen(title);

    for (size_t i = 0; i < shown; i++) {
        const size_t bytes = strlen(text_at(&rows->all[i], column));
        width = bytes > width ? bytes : width;
    }
    return width < 60 ? (int)width : 60;
}

static double share(const struct rows *rows, uint64_t period)
{
    return rows->period ? 100.0 * (double)period / (double)rows->period : 0;
}

static void print_rows(const struct rows *rows, size_t max, const struct chosen *chosen)
{
    const size_t shown = rows->count < max ? rows->count : max;
    int widths[COLUMNS];

    fputs(chosen->children ? "# Children      Self" : "# Overhead", stdout);
    fputs(chosen->samples ? "       Samples" : "", stdout);
    for (size_t i = 0; i < chosen->count; i++) {
        widths[i] = i + 1 < chosen->count ? width_of(rows, shown, i, chosen->columns[i].title) : 0;
        printf("  %-*s", widths[i], chosen->columns[i].title);
    }
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        const struct row *row = &rows->all[i];
        printf("%9.2f%%", share(rows, row->period));
        if (chosen->children)
            printf("  %7.2f%%", share(rows, row->self));
        if (chosen->samples)
            printf("  %12" PRIu64, row->samples);
        for (size_t k = 0; k < chosen->count; k++)
            printf("  %-*s", widths[k], text_at(row, k));
        putchar('\n');
    }
    putchar('\n');
}

static bool print_event(const struct pf_live *live, uint32_t event, const struct chosen *chosen)
{
    struct perfile_profile_event about = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    char samples[PF_COUNTED_BYTES], lost[PF_GROUPED_BYTES];
    const uint64_t top = live->settings->report.top;
    struct rows rows;
    const bool fine = make_rows(&rows, live->sum, event, chosen) &&
                      perfile_profile_event_at(live->sum, event, &about) == 0 &&
                      perfile_profile_losses(live->sum, &losses) == 0;

    if (fine) {
        printf("# %.1f s to %.1f s: %s of ", (double)(live->sum_ms - live->start_ms) / 1e3,
               (double)(live->part_ms - live->start_ms) / 1e3, pf_counted(rows.samples, "samples", samples));
        pf_print_name(about.name, stdout);
        printf(", %s lost\n", pf_grouped(losses.lost, lost));
        print_rows(&rows, top ? top : USUAL_ROWS, chosen);
    }
    free_rows(&rows);
    return fine;
}

static int print_all(const struct pf_live *live, const struct chosen *chosen)
{
    const size_t count = perfile_profile_event_count(live->sum);

    if (!count)
        printf("# %.1f s to %.1f s: no samples\n\n", (double)(live->sum_ms - live->start_ms) / 1e3,
               (double)(live->part_ms - live->start_ms) / 1e3);
    for (uint32_t i = 0; i < count; i++)
        if (!print_event(live, i, chosen)) {
            pf_message("top: out of memory");
            return PF_STATUS_MEMORY;
        }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return PF_STATUS_OK;
    if (errno == EPIPE)
        return PF_STATUS_OK; /* the reader has seen enough */
    pf_message("top: cannot write: %s", strerror(errno));
    return PF_STATUS_OUTPUT;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* Whether a signal that ends the command is pending: these signals are blocked. */
static bool is_signalled(void)
{
    const struct timespec none = {0, 0};
    sigset_t set;

    fill_signals(&set);
    return sigtimedwait(&set, NULL, &none) > 0;
}

static int run_text(struct pf_live *live, const struct chosen *chosen)
{
    int going = 1, status = PF_STATUS_OK;

    live->is_stopped = is_signalled;
    while (going > 0 && !status && !ferror(stdout)) {
        going = pf_live_next(live);
        status = going < 0 ? pf_live_failure(live, going) : print_all(live, chosen);
    }
    return status;
}

static int read_frequency(struct pf_settings *settings)
{
    const char *text = own(settings)->frequency;
    char *end;

    if (!text)
        return PF_STATUS_OK;
    errno = 0;
    const uint64_t number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!number || *end || errno || settings->record.options.period) {
        pf_message(settings->record.options.period
                       ? "top: --count and --freq cannot both be given: a sample every N events, or N samples a second"
                       : "top: invalid value \"%s\" for --freq: expected a number of samples per second",
                   text);
        return PF_STATUS_USAGE;
    }
    settings->record.options.frequency = number;
    return PF_STATUS_OK;
}

/* Of the first interval, as each one has the same causes. */
static int advise(void *context)
{
    pf_advice_give(context, "top");
    return PF_STATUS_OK;
}

static int start_and_show(const struct pf_command *command, struct pf_settings *settings, const struct chosen *chosen)
{
    struct pf_input input;
    struct pf_live live;
    struct pf_advice advice = {.over = !settings->tui};
    const struct pf_tui_end end = {advise, &advice};
    sigset_t set;

    if (!settings->tui) {
        fill_signals(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    pf_input_set(&input, command, settings, "top");
    settings->symbols.trouble = pf_advice_take;
    settings->symbols.trouble_context = &advice;
    int status = pf_live_start(&live, settings);
    if (!status) {
        pf_sandbox_enter(command, settings); /* the programs that are looked at are not trusted */
        status = settings->tui ? pf_tui_run_live(&input, &live, &end) : run_text(&live, chosen);
    }
    pf_live_close(&live);
    perfile_close(input.reader);
    pf_message_release(); /* when the view could not begin */
    return status;
}

static bool shows_children(const struct pf_settings *settings)
{
    const bool chains = settings->record.frame_pointers || settings->record.options.call_graph;

    return !(settings->report.flags & PERFILE_REPORT_NO_CHILDREN) &&
           (chains || settings->report.flags & PERFILE_REPORT_CHILDREN);
}

static int check_and_show(const struct pf_command *command, struct pf_settings *settings, struct chosen *chosen)
{
    enum { MAX_SECONDS = 1000000 };
    const int status = read_frequency(settings);

    if (status)
        return status;
    if (own(settings)->interval_s > MAX_SECONDS || own(settings)->duration_s > MAX_SECONDS) {
        pf_message("top: --delay and --duration allow at most %d seconds", MAX_SECONDS);
        return PF_STATUS_USAGE;
    }
    chosen->children = shows_children(settings);
    chosen->samples = settings->report.flags & PERFILE_REPORT_SAMPLES;
    settings->symbols.no_inline = true; /* which takes too long to be looked up again each time */
    if (settings->tui)
        pf_tui_prepare();
    return start_and_show(command, settings, chosen);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *list = settings->report.sort ? settings->report.sort : "dso,symbol";
    struct pf_top_settings *own = settings->own;
    struct chosen chosen;
    int status = choose_columns(list, &chosen);

    own->keys = keys_of(list);
    if (!status && !own->keys) {
        pf_message("top: out of memory");
        status = PF_STATUS_MEMORY;
    }
    if (!status)
        status = check_and_show(command, settings, &chosen);
    free(own->keys);
    free(chosen.names);
    return status;
}

static const struct pf_option what_options[] = {
    EVENTS("The events, as perfile record has them. The default is the best one for sampling."),
    PF_ROW(TEXT, "freq", 'F', "N", PF_OWN_OF(struct pf_top_settings, frequency),
           "Take N samples per second on each CPU [4000].", .first = true),
    NUMBER("count", 'c', "N", options.period, "Take a sample every N events."),
    FLAG("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "The entire system, which is the default."),
    TEXT("cpu", 'C', "LIST", options.cpus, "Only these CPUs: 0-3,7."),
    TEXT("pid", 'p', "LIST", options.pids,
         "These processes with all their threads. Recording ends with the last of them.", .first = true),
    TEXT("tid", 't', "LIST", options.tids, "These threads."),
    TEXT("uid", 'u', "USER", options.user, "All processes of a user."),
    FLAG("all-user", 0, PERFILE_RECORDER_ALL_USER, "Only user space, for all events."),
    FLAG("all-kernel", 0, PERFILE_RECORDER_ALL_KERNEL, "Only the kernel, for all events."),
    STACK_FRAMES("Callchains: --call-graph auto; called perf, fp."),
    TEXT("call-graph", 0, "HOW", options.call_graph,
         "Callchains: auto, auto,BYTES (unwound at once), fp (frame pointers), dwarf, dwarf,BYTES, lbr."),
    {0},
};

static const struct pf_option show_options[] = {
    PF_BITS("children", 0, PF_AT(report.flags), PERFILE_REPORT_CHILDREN,
            "In the text, add each sample to all functions in its stack, not only to the one that was running. The "
            "default if there are callchains."),
    PF_BITS("no-children", 0, PF_AT(report.flags), PERFILE_REPORT_NO_CHILDREN,
            "In the text, only count the functions that were running."),
    PF_ROW(NUMBER, "delay", 'd', "SECONDS", PF_OWN_OF(struct pf_top_settings, interval_s),
           "The length of an interval in seconds, after which the display is refreshed [2].", .first = true),
    PF_ROW(NUMBER, "duration", 0, "SECONDS", PF_OWN_OF(struct pf_top_settings, duration_s),
           "Stop recording after this many seconds. The interactive view stays.", .first = true),
    PF_FLAG("zero", 'z', PF_OWN_OF(struct pf_top_settings, each),
            "Show each interval alone, not the sum since the start.", .first = true),
    PF_VALUES(
        LIST, "sort", 's', "LIST", PF_AT(report.sort), .known = column_at,
        "The columns of the text; samples with the same values in them share a row [dso,symbol]. The columns of report "
        "that describe samples are among them, and fields of tracepoints: sched:sched_switch.prev_comm."),
    PF_ROW(NUMBER, "top", 'E', "N", PF_AT(report.top), "The text has the N hottest rows of each event [20].",
           .first = true),
    PF_BITS("show-nr-samples", 'n', PF_AT(report.flags), PERFILE_REPORT_SAMPLES,
            "In the text, also show the number of samples."),
    PF_FLAG("stdio", 0, PF_AT(stdio), "Print text, also on a terminal.", .first = true),
    PF_FLAG("tui", 0, PF_AT(tui),
            "Show the interactive view, which is the default on a terminal, unless --sort or --top asks for text; an "
            "error if it cannot be shown."),
    {0},
};

const struct pf_command pf_command_top = {
    .name = "top",
    .summary = "show what runs now, by function, refreshed every two seconds",
    .doc =
        "Records the entire system, or running processes, into memory, and shows the functions that were running: on "
        "a terminal in the interactive view of perfile report, in a pipe as text, which is printed for each "
        "interval. Nothing is written to a file.",
    .interactive = true,
    .own_bytes = sizeof(struct pf_top_settings),
    .groups = {PF_GROUP("What is recorded", what_options), PF_GROUP("What is shown", show_options), &pf_symbol_group,
               &pf_common_group},
    .run = run,
};
