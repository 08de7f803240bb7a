/* SPDX-License-Identifier: MIT */
#include "candidates.h"
#include "message.h"
#include "options.h"
#include "stream.h"

struct settings {
    bool candidates;
};

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
    return command->operand && (strstr(command->operand, "FILE") || strstr(command->operand, "DATASET"));
}

/* Several values, separated by commas, that only this machine or the recording knows. */
static bool has_listed_candidates(const struct pf_command *command, const struct pf_option *option)
{
    return pf_candidates_known(command, option) &&
           (!strcmp(option->argument, "LIST") || !strcmp(option->name, "event"));
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
    pf_stream_print(out, ")%s%s%s words='", takes_file(option) ? " files=1" : "",
                    pf_option_is_list(option)                ? " list=,+-"
                    : has_listed_candidates(command, option) ? " list=,"
                                                             : "",
                    pf_candidates_known(command, option) ? " asked=1" : "");
    if (pf_has_values(&option->values))
        print_values(out, command, &option->values);
    pf_stream_print(out, "' ;;\n");
}

/* What may follow without a dash; options only where nothing else may. */
static void print_bash_operands(struct pf_stream *out, const struct pf_command *command)
{
    const bool is_verb = command == &pf_no_verb;

    pf_stream_print(out, "        [[ $current != -* ]] && words='");
    if (pf_has_values(&command->operand_values))
        print_values(out, command, &command->operand_values);
    for (const struct pf_command *const *verb = pf_commands; *verb && is_verb; verb++)
        pf_stream_print(out, "%s%s", verb == pf_commands ? "" : " ", (*verb)->name);
    pf_stream_print(out, "'%s", pf_candidates_known(command, NULL) ? " asked=1 previous=''" : "");
    pf_stream_print(out, "%s%s\n", operand_is_file(command) ? " files=1" : "",
                    operand_is_file(command) && pf_has_values(&command->operand_values) ? " first=1" : "");
}

static void print_bash_verb(struct pf_stream *out, const struct pf_command *command)
{
    each_option(out, command, print_bash_argument);
    pf_stream_print(out, "    %s:*)\n        words='", command->name);
    each_option(out, command, print_bash_name);
    pf_stream_print(out, "'\n");
    if (command == &pf_no_verb || pf_has_values(&command->operand_values) || operand_is_file(command))
        print_bash_operands(out, command);
    pf_stream_print(out, "        ;;\n");
}

/* Skips the value of an option before the verb, which must not be mistaken for the verb. */
static void print_bash_skip(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    (void)command;
    if (option->argument)
        pf_stream_print(out, "        --%s) ((i++)) ;;\n", option->name);
}

static void print_bash(struct pf_stream *out)
{
    pf_stream_print(
        out, "# bash completion for perfile, made by: perfile completion bash\n"
             "_perfile()\n{\n"
             "    local part=$2 line=${COMP_LINE:0:COMP_POINT} verb='' words='' files='' list='' asked='' first='' i\n"
             "    local current previous typed\n"
             "    # bash splits at = and :, and replaces the last part alone\n"
             "    read -ra typed <<<\"$line\"\n"
             "    [[ $line == *[[:space:]] ]] && typed+=('')\n"
             "    current=${typed[${#typed[@]} - 1]} previous=${typed[${#typed[@]} - 2]}\n"
             "    [[ $current == --*=* ]] && previous=${current%%%%=*} current=${current#*=}\n"
             "    [[ $part == [=:] ]] && part=''\n"
             "    for ((i = 1; i < ${#typed[@]} - 1; i++)); do\n"
             "        case ${typed[i]} in\n");
    each_option(out, &pf_no_verb, print_bash_skip);
    pf_stream_print(out, "        -*) ;;\n        *) verb=${typed[i]}; break ;;\n        esac\n    done\n"
                         "    case $verb:$previous in\n");
    print_bash_verb(out, &pf_no_verb);
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        print_bash_verb(out, *command);
    pf_stream_print(out,
                    "    esac\n    COMPREPLY=()\n"
                    "    # files come after a view\n"
                    "    if [[ -n $first && $current != -* ]]; then\n"
                    "        [[ -z $current ]] && files=''\n"
                    "        for line in \"${typed[@]:i + 1:${#typed[@]} - i - 2}\"; do\n"
                    "            [[ \" $words \" == *\" $line \"* ]] && words='' files=1\n"
                    "        done\n    fi\n"
                    "    # only the last value of a list is completed, and more may follow\n"
                    "    [[ -n $list ]] && list=${current%%\"${current##*[$list]}\"} && compopt -o nospace\n"
                    "    [[ -n $asked ]] && words=$(\"$1\" completion bash --candidates -- \"$verb\" \"$previous\" "
                    "\"${typed[@]:1}\" 2>/dev/null)\n"
                    "    while IFS='' read -r line; do\n        COMPREPLY+=(\"${line#\"${current%%\"$part\"}\"}\")\n"
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
    else if (pf_candidates_known(command, option))
        pf_stream_print(out, "{_perfile_ask \"%s\" %s --%s}", has_listed_candidates(command, option) ? "," : "",
                        command->name, option->name);
    pf_stream_print(out, "'");
}

static void print_zsh_verb(struct pf_stream *out, const struct pf_command *command)
{
    pf_stream_print(out, "    %s)\n        _arguments -s", command->name);
    each_option(out, command, print_zsh_option);
    if (pf_has_values(&command->operand_values)) {
        pf_stream_print(out, " \\\n            '1:what:%s", command->shows_usual_view ? "{compadd -- " : "(");
        print_values(out, command, &command->operand_values);
        pf_stream_print(out, "%s'", command->shows_usual_view ? "; _files}" : ")");
    } else if (pf_candidates_known(command, NULL)) {
        pf_stream_print(out, " \\\n            '1:what:{_perfile_ask \"\" %s \"\"; _files}'", command->name);
    }
    if (operand_is_file(command))
        pf_stream_print(out, " \\\n            '*:recording:_files'");
    pf_stream_print(out, "\n        ;;\n");
}

static void print_zsh(struct pf_stream *out)
{
    pf_stream_print(out,
                    "#compdef perfile\n# zsh completion for perfile, made by: perfile completion zsh\n"
                    "# what perfile finds itself, with a remark after a tab; $1: what separates several of them\n"
                    "_perfile_ask() {\n"
                    "    local -a found shown\n"
                    "    found=(${(f)\"$(perfile completion zsh --candidates -- $2 \"$3\" ${words:1} 2>/dev/null)\"})\n"
                    "    shown=(${found/$'\\t'/  })\n"
                    "    found=(${found%%%%$'\\t'*})\n"
                    "    (( $#found )) || return 1\n"
                    "    if [[ -n $1 ]]; then\n"
                    "        compset -P \"*$1\"\n"
                    "        compadd -q -S \"$1\" -l -d shown -- $found\n"
                    "    else\n"
                    "        compadd -l -d shown -- $found\n"
                    "    fi\n}\n"
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

static void print_fish_doc(struct pf_stream *out, const char *doc)
{
    pf_stream_print(out, " -d '");
    for (const char *text = doc; *text; text++)
        pf_stream_print(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
    pf_stream_print(out, "'\n");
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
    } else if (pf_candidates_known(command, option)) {
        pf_stream_print(out, " -a '(__perfile_ask \"%s\" %s --%s)'", has_listed_candidates(command, option) ? "," : "",
                        command->name, option->name);
    }
    print_fish_doc(out, option->doc);
}

/* Values of the first operand; files come after one of them. */
static void print_fish_operands(struct pf_stream *out, const struct pf_command *command)
{
    pf_stream_print(out, "complete -c perfile -n '__perfile_verb %s", command->name);
    if (operand_is_file(command)) {
        pf_stream_print(out, "; and not __fish_seen_subcommand_from ");
        print_values(out, command, &command->operand_values);
    }
    pf_stream_print(out, "'%s -a '", command->shows_usual_view ? "" : " -f");
    print_values(out, command, &command->operand_values);
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
    pf_stream_print(
        out, "# fish completion for perfile, made by: perfile completion fish\n"
             "function __perfile_append\n"
             "    set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | "
             "string replace -r '[^,+-]*$' '')\n"
             "    printf '%%s\\n' \"$before\"$argv\nend\n"
             "# what perfile finds itself; $argv[1]: what separates several of them\n"
             "function __perfile_ask\n"
             "    set -l before ''\n"
             "    test -n \"$argv[1]\"\n"
             "    and set before (commandline -ct | string replace -r '^--[^=]*=' '' | "
             "string replace -r \"[^$argv[1]]*\\$\" '')\n"
             "    for found in (perfile completion fish --candidates -- $argv[2..-1] (commandline -opc) 2>/dev/null)\n"
             "        printf '%%s\\n' \"$before$found\"\n"
             "    end\nend\n"
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

        pf_stream_print(out, "complete -c perfile -n __perfile_verb -f -a %s", command->name);
        print_fish_doc(out, command->summary);
        each_option(out, command, print_fish_option);
        if (pf_has_values(&command->operand_values))
            print_fish_operands(out, command);
        if (pf_candidates_known(command, NULL))
            pf_stream_print(out, "complete -c perfile -n '__perfile_verb %s' -a '(__perfile_ask \"\" %s \"\")'\n",
                            command->name, command->name);
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

static const struct pf_option options[] = {
    PF_FLAG("candidates", 0, PF_OWN(candidates),
            "Print the values of an option that this machine or a recording knows: SHELL VERB OPTION WORD...",
            .hidden = true),
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_stream out;

    if (pf_own(settings)->candidates)
        return pf_candidates_print(command, settings);
    if (settings->operand_count != 1) {
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
    .operand_max = SIZE_MAX,
    .operand_values = {.known = shell_at},
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
