/* SPDX-License-Identifier: MIT */
#include "presets.h"
#include "help.h"
#include "message.h"

#include <perfile/recorder.h>
#include <perfile/table.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct pf_command pf_command_record;

/* ---- the events of views ----------------------------------------------------------------------------------------- */

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

struct search {
    const char *name;
    bool is_there;
};

/* The search is also for parts of names. */
static int found(void *context, const struct perfile_known_event *event)
{
    struct search *search = context;

    search->is_there = strchr(search->name, '*') || !strcmp(event->name, search->name);
    return search->is_there;
}

static void choose(struct pf_chosen_events *chosen, const char *name)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (!strcmp(chosen->names[i], name))
            return;
    if (chosen->count < PF_CHOSEN_EVENTS_MAX)
        chosen->names[chosen->count++] = name;
}

/* Whether this kernel has the event. */
static bool try_event(struct pf_chosen_events *chosen, const char *name)
{
    struct search search = {name, false};

    if (perfile_known_events(name, found, &search, &chosen->error) == 0 || search.is_there)
        chosen->error.code = 0;
    if (search.is_there)
        choose(chosen, name);
    return search.is_there;
}

void pf_choose_events(const char *view, const char *kinds, struct pf_chosen_events *chosen)
{
    const struct perfile_view_event *event;
    const char *unmet = NULL; /* a NEEDED one that is missing, unless one follows that is there INSTEAD */
    bool is_there = false;

    for (size_t i = 0; !chosen->missing && (event = perfile_view_event_at(view, i)); i++) {
        if (kinds && event->kind && !has_word(kinds, event->kind))
            continue;
        if (event->need != PERFILE_EVENT_INSTEAD) {
            chosen->missing = unmet;
            is_there = false;
        }
        if (is_there || chosen->missing)
            continue;
        is_there = try_event(chosen, event->name);
        if (event->need == PERFILE_EVENT_NEEDED || is_there)
            unmet = is_there ? NULL : event->name;
    }
    if (!chosen->missing)
        chosen->missing = unmet;
}

static int put_events(const struct pf_command *command, const char *const *views, struct pf_settings *settings,
                      FILE *events)
{
    const char *kinds = settings->events.classes;
    struct pf_chosen_events chosen = {.count = 0};

    for (size_t i = 0; i < PF_PRESET_VIEWS && views[i]; i++)
        pf_choose_events(views[i], kinds, &chosen);
    if (chosen.missing && chosen.error.code)
        pf_message("%s record: %s", command->name, chosen.error.message);
    else if (chosen.missing)
        pf_message("%s record: this kernel has no event %s", command->name, chosen.missing);
    if (chosen.missing)
        return PF_STATUS_UNREADABLE;
    for (size_t i = 0; i < chosen.count; i++)
        fprintf(events, "%s%s", i ? "," : "", chosen.names[i]);
    if (!chosen.count)
        pf_message("%s record: nothing of %s can be recorded", command->name, kinds ? kinds : command->name);
    return chosen.count ? PF_STATUS_OK : PF_STATUS_USAGE;
}

/* Like --off-cpu of the verb record, which has a replacement for missing tracepoints; without other samples. */
static int put_waits(const struct pf_command *command, const char *const *views, struct pf_settings *settings,
                     FILE *events)
{
    (void)command, (void)views, (void)events;
    settings->record.off_cpu = settings->record.only_off_cpu = true;
    return PF_STATUS_OK;
}

/* What of the picture of perf's timechart this kernel has. */
static int put_timechart(const struct pf_command *command, const char *const *views, struct pf_settings *settings,
                         FILE *events)
{
    static const char *const names[] = {"sched:sched_switch", "sched:sched_wakeup", "power:cpu_idle",
                                        "power:cpu_frequency"};
    struct pf_chosen_events chosen = {.count = 0};

    (void)views, (void)settings;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)try_event(&chosen, names[i]);
    for (size_t i = 0; i < chosen.count; i++)
        fprintf(events, "%s%s", i ? "," : "", chosen.names[i]);
    if (chosen.count)
        return PF_STATUS_OK;
    pf_message("%s record: %s", command->name,
               chosen.error.code ? chosen.error.message : "this kernel has no events of the scheduler");
    return PF_STATUS_UNREADABLE;
}

/* Its records are not those of an event, but a recording has one. */
static int put_schedstat(const struct pf_command *command, const char *const *views, struct pf_settings *settings,
                         FILE *events)
{
    (void)command, (void)views, (void)settings;
    return fputs("dummy:u", events) < 0 ? PF_STATUS_MEMORY : PF_STATUS_OK;
}

/* ---- memory accesses --------------------------------------------------------------------------------------------- */

#define DEVICES "/sys/bus/event_source/devices/"

static const char *const memory_pmus[] = {"cpu", "cpu_core", "cpu_atom"};

static bool has_file(const char *folder, const char *file)
{
    char path[128];

    snprintf(path, sizeof(path), DEVICES "%s%s", folder, file);
    return access(path, F_OK) == 0;
}

/* Loads that took long, and all stores; since Sapphire Rapids loads need a second event beside them. */
static int put_intel(const struct pf_settings *settings, FILE *events)
{
    const char *type = settings->events.classes ? settings->events.classes : "load,store";
    int count = 0;

    for (size_t i = 0; i < sizeof(memory_pmus) / sizeof(memory_pmus[0]); i++) {
        if (has_word(type, "load") && has_file(memory_pmus[i], "/events/mem-loads-aux"))
            fprintf(events, "%s{%s/mem-loads-aux/,%s/mem-loads,ldlat=30/}:P", count++ ? "," : "", memory_pmus[i],
                    memory_pmus[i]);
        else if (has_word(type, "load") && has_file(memory_pmus[i], "/events/mem-loads"))
            fprintf(events, "%s%s/mem-loads,ldlat=30/P", count++ ? "," : "", memory_pmus[i]);
        if (has_word(type, "store") && has_file(memory_pmus[i], "/events/mem-stores"))
            fprintf(events, "%s%s/mem-stores/P", count++ ? "," : "", memory_pmus[i]);
    }
    return count;
}

static int put_memory(const struct pf_command *command, const char *const *views, struct pf_settings *settings,
                      FILE *events)
{
    (void)views;
    if (put_intel(settings, events))
        return PF_STATUS_OK;
    if (has_file("ibs_op", ""))
        return fputs("ibs_op//", events) < 0 ? PF_STATUS_MEMORY : PF_STATUS_OK;
    if (has_file("arm_spe_0", ""))
        pf_message("%s record: this machine reports memory accesses by arm_spe only, as a trace that is not decoded "
                   "here: use perf %s record, then perf inject --itrace",
                   command->name, command->name);
    else if (pf_called_perf())
        pf_message("%s record: failed: no PMU supports the memory events", command->name); /* scripts look for it */
    else
        pf_message("%s record: this machine has no event that reports memory accesses (mem-loads of Intel, ibs_op of "
                   "AMD), like many virtual machines",
                   command->name);
    return PF_STATUS_UNREADABLE;
}

/* ---- what goes with the events ----------------------------------------------------------------------------------- */

/* Letters that perf's verb has for these, where its record has others. */
#define ONLY(option, short_option, bit, text) PF_BITS(option, short_option, PF_AT(record.options.flags), bit, text)
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
    const char *verb;                   /* NULL: its views are shown by `table` alone */
    const char *views[PF_PRESET_VIEWS]; /* the events are those of all of them */
    int (*put)(const struct pf_command *command, const char *const *views, struct pf_settings *settings, FILE *events);
    unsigned flags;
    bool each;                           /* every event counts, not a sample of them */
    bool stacks;                         /* its views are of callers */
    const struct pf_option_group *group; /* options before those of the verb record; NULL: none */
    const char *kinds;                   /* those of the events when none is named; NULL: all */
    const char *word;                    /* the view of the verb that is recorded so; NULL: all others */
    bool schedstat;                      /* with the scheduler's counters */
} presets[] = {
    {"sched", {"sched_timehist"}, put_events, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"sched", {NULL}, put_schedstat, 0, false, false, .word = "stats", .schedstat = true},
    {"timechart", {NULL}, put_timechart, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"offcpu", {"offcpu"}, put_waits, 0, false, true},
    {"lock", {"lock_contention"}, put_events, 0, true, true},
    {"kmem", {"kmem_slab", "kmem_page"}, put_events, PERFILE_RECORDER_ALL_CPUS, true, false, NULL, "slab"},
    {"kwork", {"kwork", "kwork_top"}, put_events, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"kvm", {"kvm"}, put_events, PERFILE_RECORDER_ALL_CPUS, true, false},
    {"trace", {"syscalls"}, put_events, 0, true, false},
    {NULL, {"block_latency"}, put_events, PERFILE_RECORDER_ALL_CPUS, true, false},
    {NULL, {"page_faults"}, put_events, PERFILE_RECORDER_ADDRESS, true, false},
    {"mem", {NULL}, put_memory, PERFILE_RECORDER_ADDRESS | PERFILE_RECORDER_WEIGHT, false, false, &mem_group},
    {"c2c",
     {NULL},
     put_memory,
     PERFILE_RECORDER_ADDRESS | PERFILE_RECORDER_WEIGHT | PERFILE_RECORDER_CPU,
     false,
     false,
     &c2c_group},
};
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

/* `word`: of this view alone; NULL: of the other views. */
static const struct preset *preset_of(const struct pf_command *command, const char *word)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (presets[i].verb && !strcmp(presets[i].verb, command->name) && !presets[i].word == !word &&
            (!word || !strcmp(presets[i].word, word)))
            return &presets[i];
    return NULL;
}

/* NULL: the view shows any events. */
static const struct preset *preset_of_view(const char *view)
{
    const struct perfile_view_event *first = perfile_view_event_at(view, 0);

    for (size_t i = 0; first && i < PRESETS; i++)
        for (size_t k = 0; k < PF_PRESET_VIEWS && presets[i].views[k]; k++)
            if (perfile_view_event_at(presets[i].views[k], 0) == first)
                return &presets[i];
    return NULL;
}

bool pf_preset_known(const struct pf_command *command)
{
    return preset_of(command, NULL);
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

    while (*at && (*at)[0] == '-' && (*at)[1] && strcmp(*at, "--") != 0)
        at += takes_value(command, *at) && at[1] ? 2 : 1;
    if (*at && !strcmp(command->name, "kvm") && !strcmp(*at, "stat")) /* as perf has it: kvm stat record */
        at++;
    if (*at && (preset_of(command, *at) || (command->operand_values.known == pf_view_at && preset_of_view(*at))))
        at++;
    else if (!preset_of(command, NULL))
        return NULL;
    return *at && !strcmp(*at, "record") ? at : NULL;
}

/* The events, unless others were named. */
static int choose_events(const struct pf_command *command, const struct preset *preset, const char *const *views,
                         struct pf_settings *settings)
{
    char *text = NULL;
    size_t bytes;
    FILE *events = settings->record.events ? NULL : open_memstream(&text, &bytes);

    if (!events && settings->record.events)
        return PF_STATUS_OK;
    int status = events ? preset->put(command, views, settings, events) : PF_STATUS_MEMORY;
    if (events && fclose(events) != 0)
        status = PF_STATUS_MEMORY;
    if (status || !bytes)
        free(text);
    else
        settings->record.events = text;
    return status;
}

static void choose_how(const struct preset *preset, bool own_events, struct pf_settings *settings)
{
    struct perfile_recorder_options *options = &settings->record.options;
    const bool chosen = options->pids || options->tids || options->user || options->cpus;

    options->schedstat |= preset->schedstat;
    options->flags |= chosen ? preset->flags & ~(unsigned)PERFILE_RECORDER_ALL_CPUS : preset->flags;
    if (preset->each && !own_events && !options->period && !settings->record.frequency)
        options->period = 1;
    if (!preset->stacks || options->call_graph)
        return;
    settings->record.frame_pointers = true;
    options->call_graph = preset->each ? "fp" : NULL; /* copies of stacks are too much for every event */
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

int pf_preset_choose(const struct pf_command *command, struct pf_settings *settings, pid_t reader)
{
    const struct preset *preset = preset_of(command, settings->record.options.schedstat ? "stats" : NULL);
    const bool own_events = settings->record.events;

    (void)reader;
    if (!settings->events.classes)
        settings->events.classes = preset->kinds;
    const int status = choose_events(command, preset, preset->views, settings);
    if (!status)
        choose_how(preset, own_events, settings);
    return status;
}

int pf_preset_run(const struct pf_command *command, char **arguments, char **word, struct pf_settings *settings)
{
    int status;

    *word = NULL;
    if ((status = pf_options_parse(command, arguments, settings)))
        return status;
    const char *const view[PF_PRESET_VIEWS] = {settings->operand_count ? settings->operands[0] : NULL};
    const struct preset *own = preset_of(command, *view);
    const struct preset *preset = own ? own : preset_of_view(*view);
    const struct pf_command record = record_of(preset);

    settings->operand_count = 0;
    if ((status = pf_options_parse(&record, word + 1, settings)))
        return status;
    pf_message_setup(settings->color, settings->quiet, settings->verbose);
    if (settings->help)
        return pf_help_verb(&record, settings->all);
    const bool own_events = settings->record.events;
    if (!settings->events.classes)
        settings->events.classes = preset->kinds;
    if ((status = choose_events(command, preset, *view ? view : preset->views, settings)))
        return status;
    choose_how(preset, own_events, settings);
    return record.run(&record, settings);
}
