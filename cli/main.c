/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "message.h"
#include "options.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define PF_COMMAND(name) extern const struct pf_command pf_command_##name;
#include "commands.def"
#undef PF_COMMAND

const struct pf_command *const pf_commands[] = {
#define PF_COMMAND(name) &pf_command_##name,
#include "commands.def"
#undef PF_COMMAND
    NULL,
};

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

static int unknown_verb(const char *name)
{
    const char *kind = name[0] == '-' ? "option" : "verb";
    struct pf_guess guess = pf_guess_start(name);
    char suggestion[80];

    for (const struct pf_command *const *command = pf_commands; *command && name[0] != '-'; command++)
        pf_guess_offer(&guess, (*command)->name);
    if (name[0] == '-') {
        pf_guess_offer(&guess, "--help");
        pf_guess_offer(&guess, "--version");
    }
    pf_message("there is no %s %s%s (perfile help lists the verbs)", kind, name,
               pf_guess_text(&guess, "", suggestion, sizeof(suggestion)));
    return PF_STATUS_USAGE;
}

static int run_verb(const struct pf_command *command, char **arguments)
{
    struct pf_settings settings;
    int status;

    pf_settings_init(&settings);
    status = pf_options_parse(command, arguments, &settings);
    pf_message_setup(settings.color, settings.quiet, settings.verbose);
    if (!status)
        status = settings.help ? pf_help_verb(command) : command->run(command, &settings);
    pf_settings_free(&settings);
    return status;
}

int main(int count, char **arguments)
{
    const struct pf_command *command;

    fill_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of write(2), not a death */
    pf_message_setup("auto", false, false);
    if (count < 2)
        return pf_help_missing_verb();
    if (!strcmp(arguments[1], "--version"))
        return pf_help_version();
    if (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h"))
        return pf_help_overview();
    command = pf_command_find(arguments[1]);
    return command ? run_verb(command, arguments + 2) : unknown_verb(arguments[1]);
}
