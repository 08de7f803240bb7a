/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "stream.h"

/* Calls `print` for each option that people may use. */
typedef void print_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option);

static void each_option(struct pf_stream *out, const struct pf_command *command, print_option *print)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (!option->hidden)
                print(out, command, option);
}

static void print_values(struct pf_stream *out, const struct pf_command *command, const struct pf_values *values)
{
    const char *value, *doc;

    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++)
        pf_stream_print(out, "%s%s", i ? " " : "", value);
}

/* Text inside '...' of a shell; `special` are bytes that want a backslash there. */
static void print_quoted(struct pf_stream *out, const char *text, const char *special)
{
    for (; *text; text++)
        if (*text == '\'')
            pf_stream_print(out, "'\\''");
        else
            pf_stream_print(out, strchr(special, *text) ? "\\%c" : "%c", *text);
}

static bool takes_file(const struct pf_option *option)
{
    return option->argument && !strcmp(option->argument, "FILE");
}

static bool operand_is_file(const struct pf_command *command)
{
    return command->operand && strstr(command->operand, "FILE");
}

/* ---- bash ------------------------------------------------------------------------------------------------------ */

static void print_bash_name(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    (void)command;
    pf_stream_print(out, " --%s", option->name);
}

/* Prints one arm of `case $verb:$previous`: the values that may follow an option. */
static void print_bash_argument(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const char letter = pf_option_letter(command, option);
    if (!option->argument)
        return;
    pf_stream_print(out, "    %s:--%s", command->name, option->name);
    if (letter)
        pf_stream_print(out, " | %s:-%c", command->name, letter);
    pf_stream_print(out, ")%s%s words='", takes_file(option) ? " files=1" : "",
                    pf_option_is_list(option) ? " list=1" : "");
    if (pf_has_values(&option->values))
        print_values(out, command, &option->values);
    pf_stream_print(out, "' ;;\n");
}

static void print_bash_verb(struct pf_stream *out, const struct pf_command *command)
{
    each_option(out, command, print_bash_argument);
    pf_stream_print(out, "    %s:*)%s\n        words='", command->name, operand_is_file(command) ? " files=1" : "");
    if (pf_has_values(&command->operand_values))
        print_values(out, command, &command->operand_values);
    for (const struct pf_command *const *verb = pf_commands; *verb && command == &pf_no_verb; verb++)
        pf_stream_print(out, " %s", (*verb)->name);
    each_option(out, command, print_bash_name);
    pf_stream_print(out, "'\n        ;;\n");
}

/* Skips the value of an option before the verb, which must not be mistaken for the verb. */
static void print_bash_skip(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    (void)command;
    if (option->argument)
        pf_stream_print(out, "        --%s) [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++)); ((i++)) ;;\n", option->name);
}

static void print_bash(struct pf_stream *out)
{
    pf_stream_print(out, "# bash completion for perfile, made by: perfile completion bash\n"
                         "_perfile()\n{\n"
                         "    local current=$2 previous=$3 verb='' words='' files='' list='' line i\n"
                         "    # bash takes = for a word of its own\n"
                         "    [[ $previous == '=' ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
                         "    [[ $current == '=' ]] && current=''\n"
                         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "        case ${COMP_WORDS[i]} in\n");
    each_option(out, &pf_no_verb, print_bash_skip);
    pf_stream_print(out, "        -* | '=') ;;\n        *) verb=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n"
                         "    case $verb:$previous in\n");
    print_bash_verb(out, &pf_no_verb);
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        print_bash_verb(out, *command);
    pf_stream_print(out, "    esac\n    COMPREPLY=()\n"
                         "    # only the last value of a list is completed, and more may follow\n"
                         "    [[ -n $list ]] && list=${current%%\"${current##*[,+-]}\"} && compopt -o nospace\n"
                         "    while IFS='' read -r line; do\n        COMPREPLY+=(\"$line\")\n"
                         "    done < <(compgen -P \"$list\" -W \"$words\" -- \"${current#\"$list\"}\"; "
                         "[[ -n $files && $current != -* ]] && compgen -f -- \"$current\")\n"
                         "    [[ -n $files ]] && compopt -o filenames\n}\ncomplete -F _perfile perfile\n");
}

/* ---- zsh ------------------------------------------------------------------------------------------------------- */

/* Prints the values that may follow an option; in a list, they complete the last element. */
static void print_zsh_values(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const bool list = pf_option_is_list(option);

    pf_stream_print(out, list ? "{compset -P \"*[,+-]\"; compadd -q -S \",\" -- " : "(");
    print_values(out, command, &option->values);
    pf_stream_print(out, list ? "}" : ")");
}

static void print_zsh_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const char letter = pf_option_letter(command, option);
    bool repeats = option->kind == PF_OPTION_FIELDS;

    pf_stream_print(out, " \\\n            ");
    if (letter)
        pf_stream_print(out, repeats ? "'*'" : "'(-%c --%s)'", letter, option->name);
    if (letter)
        pf_stream_print(out, "{-%c%s,--%s%s}'[", letter, option->argument ? "+" : "", option->name,
                        option->argument ? "=" : "");
    else
        pf_stream_print(out, "'--%s%s[", option->name, option->argument ? "=" : "");
    print_quoted(out, option->doc, "[]:\\");
    pf_stream_print(out, "]");
    if (option->argument)
        pf_stream_print(out, ":%s:", option->argument);
    if (takes_file(option))
        pf_stream_print(out, "_files");
    if (pf_has_values(&option->values))
        print_zsh_values(out, command, option);
    pf_stream_print(out, "'");
}

static void print_zsh_verb(struct pf_stream *out, const struct pf_command *command)
{
    pf_stream_print(out, "    %s)\n        _arguments -s", command->name);
    each_option(out, command, print_zsh_option);
    if (pf_has_values(&command->operand_values)) {
        pf_stream_print(out, " \\\n            '1:what:(");
        print_values(out, command, &command->operand_values);
        pf_stream_print(out, ")'");
    } else if (operand_is_file(command)) {
        pf_stream_print(out, " \\\n            '*:recording:_files'");
    }
    pf_stream_print(out, "\n        ;;\n");
}

static void print_zsh(struct pf_stream *out)
{
    pf_stream_print(out, "#compdef perfile\n# zsh completion for perfile, made by: perfile completion zsh\n"
                         "_perfile() {\n    local context state state_descr line\n    typeset -A opt_args\n"
                         "    local -a verbs=(\n");
    for (const struct pf_command *const *command = pf_commands; *command; command++) {
        pf_stream_print(out, "        '%s:", (*command)->name);
        print_quoted(out, (*command)->summary, "\\");
        pf_stream_print(out, "'\n");
    }
    pf_stream_print(out, "    )\n    _arguments -C -s");
    each_option(out, &pf_no_verb, print_zsh_option);
    pf_stream_print(out, " \\\n            '1:verb:->verb' '*::argument:->rest' && return\n"
                         "    if [[ $state == verb ]]; then\n        _describe verb verbs\n        return\n    fi\n"
                         "    case $words[1] in\n");
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        print_zsh_verb(out, *command);
    pf_stream_print(out, "    esac\n}\nif [[ $funcstack[1] == _perfile ]]; then\n    _perfile \"$@\"\nelse\n"
                         "    compdef _perfile perfile\nfi\n");
}

/* ---- fish ------------------------------------------------------------------------------------------------------ */

/* Prints the values of an option; those of a list are appended to the elements that are already typed. */
static void print_fish_values(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const char *value, *doc;

    if (!pf_option_is_list(option)) {
        print_values(out, command, &option->values);
        return;
    }
    pf_stream_print(out, "(__perfile_append");
    for (size_t i = 0; (value = pf_value_at(&option->values, command, i, &doc)); i++)
        pf_stream_print(out, " %s", value);
    pf_stream_print(out, ")");
}

static void print_fish_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const char letter = pf_option_letter(command, option);
    pf_stream_print(out, "complete -c perfile -n '__perfile_verb %s' -l %s", command->name, option->name);
    if (letter)
        pf_stream_print(out, " -s %c", letter);
    if (option->argument)
        pf_stream_print(out, takes_file(option) ? " -rF" : " -x");
    if (pf_has_values(&option->values)) {
        pf_stream_print(out, " -a '");
        print_fish_values(out, command, option);
        pf_stream_print(out, "'");
    }
    pf_stream_print(out, " -d '");
    for (const char *text = option->doc; *text; text++)
        pf_stream_print(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
    pf_stream_print(out, "'\n");
}

static void print_fish_skip(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    (void)command;
    if (option->argument)
        pf_stream_print(out, "            case --%s\n                set skip 1\n", option->name);
}

static void print_fish(struct pf_stream *out)
{
    pf_stream_print(out, "# fish completion for perfile, made by: perfile completion fish\n"
                         "function __perfile_append\n"
                         "    set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | "
                         "string replace -r '[^,+-]*$' '')\n"
                         "    printf '%%s\\n' \"$before\"$argv\nend\n"
                         "# whether this is the verb; without an argument: whether there is none yet\n"
                         "function __perfile_verb\n    set -l words (commandline -opc)\n    set -l skip 1\n"
                         "    for word in $words\n        if test $skip = 1\n            set skip 0\n"
                         "            continue\n        end\n        switch $word\n");
    each_option(out, &pf_no_verb, print_fish_skip);
    pf_stream_print(out, "            case '-*'\n            case '*'\n                test \"$word\" = \"$argv\"\n"
                         "                return\n        end\n    end\n    test -z \"$argv\"\nend\n");
    each_option(out, &pf_no_verb, print_fish_option);
    for (const struct pf_command *const *at = pf_commands; *at; at++) {
        const struct pf_command *command = *at;

        pf_stream_print(out, "complete -c perfile -n __perfile_verb -f -a %s -d '%s'\n", command->name,
                        command->summary);
        each_option(out, command, print_fish_option);
        if (pf_has_values(&command->operand_values)) {
            pf_stream_print(out, "complete -c perfile -n '__perfile_verb %s' -f -a '", command->name);
            print_values(out, command, &command->operand_values);
            pf_stream_print(out, "'\n");
        }
    }
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *doc;
    void (*print)(struct pf_stream *out);
} shells[] = {
    {"bash", "eval \"$(perfile completion bash)\" in ~/.bashrc", print_bash},
    {"zsh", "eval \"$(perfile completion zsh)\" in ~/.zshrc, after compinit", print_zsh},
    {"fish", "perfile completion fish | source in config.fish", print_fish},
};
#define SHELL_COUNT (sizeof(shells) / sizeof(shells[0]))

static const char *shell_at(size_t index, const char **doc)
{
    if (index >= SHELL_COUNT)
        return NULL;
    *doc = shells[index].doc;
    return shells[index].name;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_stream out;

    if (!settings->operand_count) {
        pf_message("%s: which shell? perfile completion bash, zsh or fish", command->name);
        return PF_STATUS_USAGE;
    }
    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    for (size_t i = 0; i < SHELL_COUNT; i++)
        if (!strcmp(shells[i].name, settings->operands[0]))
            shells[i].print(&out);
    return pf_stream_close(&out, true);
}

const struct pf_command pf_command_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .doc = "Prints code for a shell that completes verbs, options, their values and file names. In bash: "
           "eval \"$(perfile completion bash)\".",
    .operand = "SHELL",
    .operand_max = 1,
    .operand_values = {.known = shell_at},
    .groups = {&pf_common_group},
    .run = run,
};
