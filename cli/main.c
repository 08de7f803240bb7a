/* SPDX-License-Identifier: MIT */
#include "features.h"
#include "guess.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "pager.h"
#include "perf_config.h"
#include "platform.h"
#include "presets.h"
#include "tui/tui.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Whoever closed standard output means to lose what is printed, not to find it in the next file that is opened.
 * Opened the wrong way round, the missing descriptors still fail when they are used.
 */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static const struct pf_option options[] = {
    PF_FLAG("version", 0, PF_AT(version), "Print the version and the licence."),
    PF_FLAG("build-options", 0, PF_AT(build_options),
            "With --version: which libraries it has of those that it works without."),
    PF_OPTION_BUILDID_DIR,
    {0},
};
const struct pf_command pf_no_verb = {.name = "", .groups = {PF_GROUP("Options", options), &pf_common_group}};

/* Verbs that only perf has; existing verbs are found before. */
static const struct perf_verb {
    const char *name, *instead, *remark;
} perf_verbs[] = {
#define PF_PERF_VERB(verb, instead, remark) {verb, instead, remark},
#include "perf_verbs.def"
#undef PF_PERF_VERB
};

static int known_from_perf(const struct perf_verb *verb)
{
    if (verb->instead)
        pf_message("no verb %s; instead: %s %s (%s)", verb->name, pf_program_name(), verb->instead, verb->remark);
    else
        pf_message("no verb %s: %s", verb->name, verb->remark);
    return PF_STATUS_USAGE;
}

int pf_unknown_verb(const char *name)
{
    struct pf_guess guess = pf_guess_start(name);
    struct stat status;
    char suggestion[80];

    for (size_t i = 0; i < sizeof(perf_verbs) / sizeof(perf_verbs[0]); i++)
        if (!strcmp(name, perf_verbs[i].name))
            return known_from_perf(&perf_verbs[i]);
    if (stat(name, &status) == 0) {
        pf_message("%s is a file, not a verb; did you mean: %s report %s? (%s help lists the verbs)", name,
                   pf_program_name(), name, pf_program_name());
        return PF_STATUS_USAGE;
    }
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        pf_guess_offer(&guess, (*command)->name);
    pf_message("unknown verb %s%s (%s help lists the verbs)", name,
               pf_guess_text(&guess, "", suggestion, sizeof(suggestion)), pf_program_name());
    return PF_STATUS_USAGE;
}

/* Views of perf's verbs that are other verbs here, or, `verb` NULL, those to use instead. */
static const struct {
    const char *of, *view, *verb, *instead;
} perf_views[] = {
    {"sched", "script", "script", NULL},
    {"lock", "script", "script", NULL},
    {"lock", "info", NULL, "table threads; for the locks: lock contention --lock-addr"},
    {"sched", "replay", NULL, "sched timehist, which shows what replay would repeat"},
};

/* Takes such a view from the arguments, and changes the verb. A status, after a message. */
static int choose_verb(const struct pf_command **command, char ***arguments)
{
    for (size_t i = 0; **arguments && i < sizeof(perf_views) / sizeof(perf_views[0]); i++) {
        if (strcmp((*command)->name, perf_views[i].of) != 0 || strcmp(**arguments, perf_views[i].view) != 0)
            continue;
        if (!perf_views[i].verb) {
            pf_message("%s: no view %s; instead: %s %s", (*command)->name, perf_views[i].view, pf_program_name(),
                       perf_views[i].instead);
            return PF_STATUS_USAGE;
        }
        *command = pf_command_find(perf_views[i].verb);
        ++*arguments;
        return PF_STATUS_OK;
    }
    return PF_STATUS_OK;
}

static int run_verb(const struct pf_command *command, char **arguments, struct pf_settings *settings)
{
    char **record = pf_preset_find(command, arguments);

    if (record)
        return pf_preset_run(command, arguments, record, settings);
    if (!strcmp(command->name, "check") && pf_features_asked(arguments))
        return pf_features_check(arguments);
    int status = choose_verb(&command, &arguments);
    if (status)
        return status;
    status = pf_options_parse(command, pf_perf_config_arguments(command->name, arguments), settings);

    pf_message_setup(settings->color, settings->quiet, settings->verbose);
    const bool interactive = !status && pf_tui_wanted(command, settings, &status);
    pf_pager_setup((command->pages || settings->help || settings->pager) && !settings->no_pager && !settings->output &&
                   !interactive);
    settings->tui = interactive;
    if (!status)
        status = settings->help ? pf_help_verb(command, settings->all) : command->run(command, settings);
    return status;
}

static int run_version(char **arguments, struct pf_settings *settings)
{
    const int status = pf_options_parse(&pf_no_verb, arguments, settings);

    return status ? status : pf_help_version(settings->build_options);
}

/* Options before the verb apply to the verb, too. */
static int run(char **arguments, struct pf_settings *settings)
{
    const struct pf_command *command;
    int status = pf_options_parse(&pf_no_verb, arguments, settings);
    char **operands = settings->operands;

    if (status)
        return status;
    const bool is_perf_version = settings->verbose && !settings->operand_count && !settings->help; /* -v alone */
    if (settings->version || is_perf_version)
        return pf_help_version(settings->build_options);
    if (!settings->operand_count)
        return settings->help ? pf_help_overview() : pf_help_missing_verb();
    operands[settings->operand_count] = NULL;
    settings->operand_count = 0;
    if (!strcmp(operands[0], "version")) /* as perf has it */
        return run_version(operands + 1, settings);
    command = pf_command_find(operands[0]);
    char **alias = command ? NULL : pf_perf_config_alias(operands[0], operands + 1);
    if (alias) {
        operands = alias;
        command = pf_command_find(operands[0]); /* not another alias */
    }
    return command ? run_verb(command, operands + 1, settings) : pf_unknown_verb(operands[0]);
}

int main(int count, char **arguments)
{
    struct pf_settings settings;
    int status;

    pf_program_set(count ? arguments[0] : "");
    pf_platform_free_large_blocks();
    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of write(2), not a death */
    pf_message_setup("auto", false, false);
    pf_settings_init(&settings);
    status = run(count ? arguments + 1 : arguments, &settings);
    pf_settings_free(&settings);
    return status;
}
