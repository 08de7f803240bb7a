/* SPDX-License-Identifier: MIT */
#include "presets.h"
#include "help.h"
#include "message.h"
#include "views.h"

#include <perfile/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct pf_command pf_command_record;

/* ---- tracepoints ------------------------------------------------------------------------------------------------- */

enum need { NEEDED, USEFUL, INSTEAD }; /* without it nothing can be shown; of the one before, where that is not there */

/* What the views know of; some of it is only in kernels of some age or configuration. */
static const struct {
    const char *verb, *kind; /* NULL: whatever is asked for */
    const char *event;
    enum need need;
} tracepoints[] = {
    {"sched", NULL, "sched:sched_switch", NEEDED},
    {"sched", NULL, "sched:sched_waking", USEFUL},
    {"sched", NULL, "sched:sched_wakeup", INSTEAD},
    {"sched", NULL, "sched:sched_wakeup_new", USEFUL},
    {"sched", NULL, "sched:sched_migrate_task", USEFUL},
    {"sched", NULL, "sched:sched_process_fork", USEFUL},
    {"sched", NULL, "sched:sched_stat_runtime", USEFUL},
    {"sched", NULL, "sched:sched_stat_wait", USEFUL},
    {"sched", NULL, "sched:sched_stat_sleep", USEFUL},
    {"sched", NULL, "sched:sched_stat_iowait", USEFUL},
    {"lock", NULL, "lock:contention_begin", NEEDED},
    {"lock", NULL, "lock:contention_end", NEEDED},
    {"trace", NULL, "raw_syscalls:sys_enter", NEEDED},
    {"trace", NULL, "raw_syscalls:sys_exit", NEEDED},
    {"kmem", "slab", "kmem:kmalloc", NEEDED},
    {"kmem", "slab", "kmem:kmalloc_node", USEFUL},
    {"kmem", "slab", "kmem:kfree", NEEDED},
    {"kmem", "slab", "kmem:kmem_cache_alloc", NEEDED},
    {"kmem", "slab", "kmem:kmem_cache_alloc_node", USEFUL},
    {"kmem", "slab", "kmem:kmem_cache_free", NEEDED},
    {"kmem", "page", "kmem:mm_page_alloc", NEEDED},
    {"kmem", "page", "kmem:mm_page_free", NEEDED},
    {"kwork", "irq", "irq:irq_handler_entry", NEEDED},
    {"kwork", "irq", "irq:irq_handler_exit", NEEDED},
    {"kwork", "softirq", "irq:softirq_raise", NEEDED},
    {"kwork", "softirq", "irq:softirq_entry", NEEDED},
    {"kwork", "softirq", "irq:softirq_exit", NEEDED},
    {"kwork", "workqueue", "workqueue:workqueue_activate_work", NEEDED},
    {"kwork", "workqueue", "workqueue:workqueue_execute_start", NEEDED},
    {"kwork", "workqueue", "workqueue:workqueue_execute_end", NEEDED},
    {"kwork", "sched", "sched:sched_switch", NEEDED},
};
enum { TRACEPOINTS = sizeof(tracepoints) / sizeof(tracepoints[0]) };

/* As a word of a list with commas. */
static bool has_word(const char *list, const char *word)
{
    const size_t bytes = strlen(word);

    for (const char *at = list; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (length == bytes && !memcmp(at, word, bytes))
            return true;
        at += length;
    }
    return false;
}

/* The kinds that are asked for; NULL: all. */
static const char *kinds_of(const struct pf_command *command, const struct pf_settings *settings)
{
    if (!strcmp(command->name, "kmem"))
        return !settings->kmem_page ? "slab" : settings->kmem_slab ? "slab,page" : "page";
    return settings->events.classes;
}

static int found(void *context, const struct perfile_known_event *event)
{
    (void)event;
    *(bool *)context = true;
    return 1;
}

/* 1, 0, or an error: tracepoints cannot be read. */
static int has_tracepoint(const char *name, struct perfile_error *error)
{
    bool is_there = false;
    const int result = perfile_known_events(name, found, &is_there, error);

    return is_there ? 1 : result < 0 ? result : 0;
}

static int missing(const struct pf_command *command, const char *event, int result, const struct perfile_error *error)
{
    if (result < 0)
        pf_message("%s record: %s", command->name, error->message);
    else
        pf_message("%s record: this kernel has no event %s", command->name, event);
    return PF_STATUS_UNREADABLE;
}

static int put_tracepoints(const struct pf_command *command, const struct pf_settings *settings, FILE *events)
{
    const char *kinds = kinds_of(command, settings);
    struct perfile_error error;
    int before = 0, count = 0;

    for (size_t i = 0; i < TRACEPOINTS; i++) {
        const bool asked = !tracepoints[i].kind || !kinds || has_word(kinds, tracepoints[i].kind);
        if (strcmp(tracepoints[i].verb, command->name) || !asked || (tracepoints[i].need == INSTEAD && before))
            continue;
        before = has_tracepoint(tracepoints[i].event, &error);
        if (before <= 0 && tracepoints[i].need == NEEDED)
            return missing(command, tracepoints[i].event, before, &error);
        if (before > 0)
            fprintf(events, "%s%s", count++ ? "," : "", tracepoints[i].event);
    }
    if (!count)
        pf_message("%s record: nothing of %s can be recorded", command->name, kinds ? kinds : command->name);
    return count ? PF_STATUS_OK : PF_STATUS_USAGE;
}

/* ---- memory accesses --------------------------------------------------------------------------------------------- */

#define DEVICES "/sys/bus/event_source/devices/"

static bool has_file(const char *folder, const char *file)
{
    char path[128];

    snprintf(path, sizeof(path), DEVICES "%s%s", folder, file);
    return access(path, F_OK) == 0;
}

/* Loads that took long, and all stores; since Sapphire Rapids loads need a second event beside them. */
static int put_intel(const struct pf_settings *settings, FILE *events)
{
    static const char *const pmus[] = {"cpu", "cpu_core", "cpu_atom"};
    const char *type = settings->mem.type ? settings->mem.type : "load,store";
    int count = 0;

    for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
        if (has_word(type, "load") && has_file(pmus[i], "/events/mem-loads-aux"))
            fprintf(events, "%s{%s/mem-loads-aux/,%s/mem-loads,ldlat=30/}:P", count++ ? "," : "", pmus[i], pmus[i]);
        else if (has_word(type, "load") && has_file(pmus[i], "/events/mem-loads"))
            fprintf(events, "%s%s/mem-loads,ldlat=30/P", count++ ? "," : "", pmus[i]);
        if (has_word(type, "store") && has_file(pmus[i], "/events/mem-stores"))
            fprintf(events, "%s%s/mem-stores/P", count++ ? "," : "", pmus[i]);
    }
    return count;
}

static int put_memory(const struct pf_command *command, const struct pf_settings *settings, FILE *events)
{
    if (put_intel(settings, events))
        return PF_STATUS_OK;
    if (has_file("ibs_op", ""))
        return fputs("ibs_op//", events) < 0 ? PF_STATUS_MEMORY : PF_STATUS_OK;
    if (has_file("arm_spe_0", ""))
        pf_message("%s record: this machine tells of memory accesses by arm_spe alone, as a trace that is not decoded "
                   "here: use perf %s record, then perf inject --itrace",
                   command->name, command->name);
    else
        pf_message("%s record: this machine has no event that tells of memory accesses (mem-loads of Intel, ibs_op of "
                   "AMD), like many virtual machines",
                   command->name);
    return PF_STATUS_UNREADABLE;
}

/* ---- what goes with the events ----------------------------------------------------------------------------------- */

/* Letters that perf's verb has for these, where its record has others. */
#define ONLY(option, short_option, bit, text)                                                                          \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS,                                                \
        .offset = offsetof(struct pf_settings, record.options.flags), .bits = bit, .doc = text                         \
    }
#define ONLY_OF(user_letter, kernel_letter)                                                                            \
    {                                                                                                                  \
        ONLY("all-user", user_letter, PERFILE_RECORDER_ALL_USER, "Only record user space."),                           \
            ONLY("all-kernel", kernel_letter, PERFILE_RECORDER_ALL_KERNEL, "Only record the kernel."), {0},            \
    }
static const struct pf_option mem_options[] = ONLY_OF('U', 'K');
static const struct pf_option c2c_options[] = ONLY_OF('u', 'k');
static const struct pf_option_group mem_group = {"Options of perf mem record", mem_options};
static const struct pf_option_group c2c_group = {"Options of perf c2c record", c2c_options};

static const struct preset {
    const char *verb;
    int (*put)(const struct pf_command *command, const struct pf_settings *settings, FILE *events);
    unsigned flags;
    bool each;                           /* every event counts, not a sample of them */
    bool stacks;                         /* its views are of callers */
    const struct pf_option_group *group; /* options before those of the verb record; NULL: none */
} presets[] = {
    {"sched", put_tracepoints, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"lock", put_tracepoints, 0, true, true},
    {"kmem", put_tracepoints, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"kwork", put_tracepoints, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"trace", put_tracepoints, 0, true, false},
    {"mem", put_memory, PERFILE_RECORDER_ADDRESS | PERFILE_RECORDER_WEIGHT, false, false, &mem_group},
    {"c2c", put_memory, PERFILE_RECORDER_ADDRESS | PERFILE_RECORDER_WEIGHT | PERFILE_RECORDER_CPU, false, false,
     &c2c_group},
};

static const struct preset *preset_of(const struct pf_command *command)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
        if (!strcmp(presets[i].verb, command->name))
            return &presets[i];
    return NULL;
}

bool pf_preset_known(const struct pf_command *command)
{
    return preset_of(command);
}

static bool takes_value(const struct pf_command *command, const char *argument)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (option->argument && !option->usual &&
                (argument[1] == '-' ? !strcmp(argument + 2, option->name)
                                    : option->letter && argument[1] == option->letter && !argument[2]))
                return true;
    return false;
}

char **pf_preset_find(const struct pf_command *command, char **arguments)
{
    char **at = arguments;

    while (*at && (*at)[0] == '-' && (*at)[1])
        at += takes_value(command, *at) && at[1] ? 2 : 1;
    return preset_of(command) && *at && !strcmp(*at, "record") ? at : NULL;
}

/* The events, unless others were named. */
static int choose_events(const struct pf_command *command, const struct preset *preset, struct pf_settings *settings)
{
    char *text = NULL;
    size_t bytes;
    FILE *events = settings->record.events ? NULL : open_memstream(&text, &bytes);

    if (!events && settings->record.events)
        return PF_STATUS_OK;
    int status = events ? preset->put(command, settings, events) : PF_STATUS_MEMORY;
    if (events && fclose(events) != 0)
        status = PF_STATUS_MEMORY;
    if (status)
        free(text);
    else
        settings->record.events = text;
    return status;
}

static void choose_how(const struct preset *preset, bool own_events, struct pf_settings *settings)
{
    struct perfile_recorder_options *options = &settings->record.options;
    const bool chosen = options->pids || options->tids || options->user || options->cpus;

    options->flags |= chosen ? preset->flags & ~(unsigned)PERFILE_RECORDER_ALL_CPUS : preset->flags;
    if (preset->each && !own_events && !options->period && !settings->record.frequency)
        options->period = 1;
    settings->record.frame_pointers |= preset->stacks && !options->call_graph;
}

/* The verb record, with what is special about it for this verb. */
static struct pf_command record_of(const struct preset *preset)
{
    enum { GROUPS = sizeof(pf_command_record.groups) / sizeof(pf_command_record.groups[0]) };
    struct pf_command record = pf_command_record;

    if (!preset->group)
        return record;
    record.groups[0] = preset->group;
    for (size_t i = 0; i + 2 < GROUPS && pf_command_record.groups[i]; i++)
        record.groups[i + 1] = pf_command_record.groups[i];
    return record;
}

int pf_preset_run(const struct pf_command *command, char **arguments, char **word, struct pf_settings *settings)
{
    const struct preset *preset = preset_of(command);
    const struct pf_command record = record_of(preset);
    int status;

    *word = NULL;
    if ((status = pf_options_parse(command, arguments, settings)) ||
        (status = pf_options_parse(&record, word + 1, settings)))
        return status;
    pf_message_setup(settings->color, settings->quiet, settings->verbose);
    if (settings->help)
        return pf_help_verb(&record, settings->all);
    const bool own_events = settings->record.events;
    if ((status = choose_events(command, preset, settings)))
        return status;
    choose_how(preset, own_events, settings);
    return record.run(&record, settings);
}
