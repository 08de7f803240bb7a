/* SPDX-License-Identifier: MIT */
#include "guess.h"
#include "inputs.h"
#include "message.h"
#include "rows.h"
#include "sandbox.h"
#include "stdin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct ready {
    const char *name, *doc, *sql;
    const char *of_files; /* the statement for Parquet files; NULL: the same one */
};
static const struct ready ready[] = {
#define PF_QUERY(name, doc, ...) {name, doc, __VA_ARGS__},
#include "query/queries.def"
#undef PF_QUERY
};
enum { READY = sizeof(ready) / sizeof(ready[0]) };

static const char *ready_at(size_t index, const char **doc)
{
    if (index >= READY)
        return NULL;
    if (doc)
        *doc = ready[index].doc;
    return ready[index].name;
}

struct settings {
    const char *file; /* of statements; NULL: not given */
    bool lists;
};

#ifdef PF_HAVE_SQLITE
#include "query/query.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- rows about the tables --------------------------------------------------------------------------------------- */

enum { COLUMNS_MAX = 6 };
static const struct perfile_column *const query_columns[] = {
    PF_COLUMN("query", PERFILE_COLUMN_TEXT, "The name of a query."),
    PF_COLUMN("doc", PERFILE_COLUMN_TEXT, "What its rows are."),
    PF_COLUMN("sql", PERFILE_COLUMN_TEXT, "Its statement.")};
static const struct perfile_column *const table_columns[] = {
    PF_COLUMN("table", PERFILE_COLUMN_TEXT, "The name of a table."),
    PF_COLUMN("doc", PERFILE_COLUMN_TEXT, "What its rows are.")};
static const struct perfile_column *const schema_columns[] = {
    PF_COLUMN("column", PERFILE_COLUMN_TEXT, "The name of a column."),
    PF_COLUMN("type", PERFILE_COLUMN_TEXT, "What its values are."),
    PF_COLUMN("shown", PERFILE_COLUMN_TEXT, "SELECT * has it.")};

/* Rows of texts, which were made before. */
struct texts {
    const char *(*rows)[COLUMNS_MAX];
    size_t count;
};

static void put_text(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct texts *texts = context;

    *value = pf_text_value(texts->rows[row][column]);
}

static int print_texts(const struct pf_settings *settings, const char *view,
                       const struct perfile_column *const *columns, size_t column_count, struct texts *texts)
{
    const struct pf_rows rows = {view, columns, column_count, texts->count, put_text, texts};

    return pf_rows_print(&rows, "query", settings->output, settings->format);
}

/* The text names the queries; the tables also have their statements, for programs and as a start for new ones. */
static int list_ready(const struct pf_settings *settings)
{
    const bool is_text = !settings->format || !strcmp(settings->format, "text");
    const char *rows[READY][COLUMNS_MAX];
    struct texts texts = {rows, READY};

    for (size_t i = 0; i < READY; i++) {
        rows[i][0] = ready[i].name;
        rows[i][1] = ready[i].doc;
        rows[i][2] = ready[i].sql;
    }
    return print_texts(settings, "queries", query_columns, is_text && !settings->verbose ? 2 : 3, &texts);
}

static int print_tables(struct pf_sources *sources, const struct pf_settings *settings)
{
    struct texts texts = {calloc(sources->relation_count + 1, sizeof(*texts.rows)), 0};
    int status = PF_STATUS_MEMORY;

    for (; texts.rows && texts.count < sources->relation_count; texts.count++) {
        texts.rows[texts.count][0] = sources->relations[texts.count].name;
        texts.rows[texts.count][1] = sources->relations[texts.count].doc;
    }
    if (texts.rows)
        status = print_texts(settings, "tables", table_columns, 2, &texts);
    else
        pf_message("%s: out of memory", sources->inputs.command->name);
    free(texts.rows);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* The second time it ends us. */
static void handle_signal(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
}

/* Opens the output, and prints what `what` asks for. */
typedef int print_result(struct pf_sources *sources, const char *what);

static int print_statement(struct pf_sources *sources, const char *sql)
{
    const struct pf_settings *settings = sources->settings;
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output), written;

    if (status)
        return status;
    sources->shows_progress = pf_progress_start(&sources->progress, sources->inputs.command->name);
    status = pf_query_run(sources, sql, &out);
    for (size_t i = 0; i < sources->inputs.count; i++)
        pf_log_finish(&sources->inputs.inputs[i].log);
    if (!status)
        status = pf_inputs_losses(&sources->inputs);
    written = pf_stream_close(&out, status <= PF_STATUS_FINDINGS);
    return written ? written : status;
}

static int refuse_table(const char *name)
{
    pf_message("query: no such table: %s (perfile query .tables lists them)", name);
    return PF_STATUS_USAGE;
}

/* The columns that a table has of these sources. */
static int print_schema(struct pf_sources *sources, const char *name)
{
    const struct pf_relation *relation = pf_relation_find(sources, name);
    struct pf_fields fields = {0};
    struct texts texts = {NULL, 0};
    const int result = relation ? pf_fields_find(sources, relation, &fields) : 0;
    int status;

    if (!relation)
        return refuse_table(name);
    if (result == 0)
        texts.rows = calloc(fields.count + 1, sizeof(*texts.rows));
    if (texts.rows) {
        for (; texts.count < fields.count; texts.count++) {
            const struct pf_field *field = &fields.all[texts.count];
            const char *row[] = {field->name, perfile_column_type_name(field->type), field->shown ? "yes" : "no"};
            memcpy(texts.rows[texts.count], row, sizeof(row));
        }
        status = print_texts(sources->settings, "schema", schema_columns, 3, &texts);
    } else {
        status = pf_sources_complain(sources);
    }
    free(texts.rows);
    pf_fields_free(&fields);
    return status;
}

static int print_all_tables(struct pf_sources *sources, const char *what)
{
    (void)what;
    return print_tables(sources, sources->settings);
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

static bool copy_all(int from, int to)
{
    char buffer[1 << 16];
    ssize_t got, put = 0;

    while ((got = read(from, buffer, sizeof(buffer))) != 0) {
        if (got < 0 && errno != EINTR)
            return false;
        for (ssize_t done = 0; done < got; done += put)
            if ((put = write(to, buffer + done, (size_t)(got - done))) < 0 && (put = 0, errno != EINTR))
                return false;
    }
    return true;
}

/* Tables are read several times, so that a stream is copied to a file first. NULL: a message was printed. */
static char *path_of(const char *passed)
{
    const bool is_standard = !strcmp(passed, "-");
    struct stat about;
    char *path = NULL;

    if ((is_standard ? fstat(STDIN_FILENO, &about) : stat(passed, &about)) != 0 || S_ISDIR(about.st_mode) ||
        (S_ISREG(about.st_mode) && !is_standard))
        return strdup(passed);
    int from = is_standard ? STDIN_FILENO : open(passed, O_RDONLY | O_CLOEXEC), to = pf_temporary_file();
    if (from < 0 || to < 0 || !copy_all(from, to) || asprintf(&path, "/proc/self/fd/%d", to) < 0) {
        pf_message("%s: %s", passed, strerror(errno));
        path = NULL;
    }
    if (from > STDIN_FILENO)
        close(from);
    return path; /* the file is the process's to the end */
}

/* The recordings, under the names that were given. */
static int set_inputs(struct pf_sources *sources, const struct pf_command *command, struct pf_settings *settings,
                      char **passed, size_t count)
{
    struct pf_inputs *inputs = &sources->inputs;
    int status = PF_STATUS_OK;

    if (!(sources->paths = calloc(count, sizeof(*sources->paths))))
        return pf_out_of_memory(command->name);
    for (; !status && sources->path_count < count; sources->path_count++)
        if (!(sources->paths[sources->path_count] = path_of(passed[sources->path_count])))
            status = PF_STATUS_UNREADABLE;
    if (!status)
        status = pf_inputs_set(inputs, command, settings, sources->paths, count);
    for (size_t i = 0; !status && i < count; i++) {
        inputs->paths[i] = passed[i];
        inputs->inputs[i].log.input = strcmp(passed[i], "-") ? passed[i] : "standard input";
        inputs->inputs[i].chosen = settings->operand_count || settings->input;
    }
    return status;
}

/* Operands, -i, standard input when it is a pipe with a recording, or perf.data. */
static int choose_inputs(struct pf_sources *sources, const struct pf_command *command, struct pf_settings *settings,
                         bool asks_standard)
{
    char *one[] = {(char *)settings->input}, **passed = settings->operand_count ? settings->operands : one;
    const size_t count = settings->operand_count ? settings->operand_count : 1;
    int status;

    if (settings->operand_count && settings->input) {
        pf_message("%s: two recordings given, %s and %s", command->name, settings->input, settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    if (!passed[0])
        passed[0] = (char *)(!asks_standard && pf_stdin_has_recording(command, settings) ? "-" : "perf.data");
    if (!(status = pf_inputs_check(command, passed, count)))
        status = set_inputs(sources, command, settings, passed, count);
    if (!status && settings->output && pf_inputs_have(&sources->inputs, settings->output)) {
        pf_message("%s: --output %s is an input recording", command->name, settings->output);
        status = PF_STATUS_USAGE;
    }
    return status;
}

/* How the result of a query is printed, and where the query comes from. */
struct question {
    print_result *print;
    const char *what;
    bool is_standard; /* it came through standard input */
};

/* ---- sources ----------------------------------------------------------------------------------------------------- */

enum { RECORDINGS, FILES, BOTH };

static int kind_of(const struct pf_settings *settings)
{
    size_t files = settings->input && pf_is_parquet(settings->input);
    const size_t count = settings->operand_count + (settings->input != NULL);

    for (size_t i = 0; i < settings->operand_count; i++)
        files += pf_is_parquet(settings->operands[i]);
    return !files ? RECORDINGS : files == count ? FILES : BOTH;
}

/* Rows of files are chosen by the statement. */
static bool has_filter(const struct pf_settings *settings)
{
    const struct perfile_filter none = PERFILE_FILTER_INIT;

    return memcmp(&settings->filter, &none, sizeof(none)) != 0;
}

static int open_files(struct pf_sources *sources, const struct pf_command *command, struct pf_settings *settings)
{
    char *one[] = {(char *)settings->input}, **paths = settings->operand_count ? settings->operands : one;

    if (settings->operand_count && settings->input) {
        pf_message("%s: two inputs, %s and %s", command->name, settings->input, settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    if (has_filter(settings)) {
        pf_message("%s: filters are for recordings; a statement chooses rows of Parquet files by WHERE", command->name);
        return PF_STATUS_USAGE;
    }
    pf_sandbox_enter(command, settings);
    return pf_parquet_open(sources, command, settings, paths, settings->operand_count ? settings->operand_count : 1);
}

static int open_recordings(struct pf_sources *sources, const struct pf_command *command, struct pf_settings *settings,
                           bool asks_standard)
{
    settings->uses_indexes = true;
    int status = choose_inputs(sources, command, settings, asks_standard);

    if (!status) {
        pf_sandbox_enter(command, settings);
        status = pf_inputs_open(&sources->inputs);
    }
    return status ? status : pf_recordings_open(sources, settings);
}

static int run_on(const struct pf_command *command, struct pf_settings *settings, const struct question *question)
{
    struct pf_sources sources = {.stopped = &stopped};
    const int kind = kind_of(settings);
    int status;

    if (kind == BOTH) {
        pf_message("%s: recordings and Parquet files cannot be queried together", command->name);
        return PF_STATUS_USAGE;
    }
    status = kind == FILES ? open_files(&sources, command, settings)
                           : open_recordings(&sources, command, settings, question->is_standard);
    if (!status) {
        handle_signal();
        status = question->print(&sources, question->what);
    }
    pf_sources_free(&sources);
    if (stopped) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    return status;
}

/* ---- which statement --------------------------------------------------------------------------------------------- */

/* Reads a complete file, or standard input. NULL: a message was printed. */
static const char *read_statement(const char *path)
{
    enum { MAX = 1 << 20 };
    static char text[MAX + 1];
    FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
    const size_t bytes = file ? fread(text, 1, sizeof(text), file) : 0;
    const bool is_unreadable = !file || ferror(file), is_bad = is_unreadable || bytes > MAX || memchr(text, 0, bytes);

    if (is_bad)
        pf_message("query: %s: %s", path, is_unreadable ? strerror(errno) : "not a statement of SQL");
    if (file && file != stdin)
        fclose(file);
    return is_bad ? NULL : text;
}

static void skip_operand(struct pf_settings *settings)
{
    settings->operands++;
    settings->operand_count--;
}

/* The statement of this name; NULL: a message was printed. */
static const char *find_ready(const char *name, bool is_of_files)
{
    struct pf_guess guess = pf_guess_start(name);
    char suggestion[80];

    for (size_t i = 0; i < READY; i++) {
        if (!strcmp(ready[i].name, name))
            return is_of_files && ready[i].of_files ? ready[i].of_files : ready[i].sql;
        pf_guess_offer(&guess, ready[i].name);
    }
    pf_message("query: unknown query %s%s (perfile query --list shows them; a statement begins with SELECT)", name,
               pf_guess_text(&guess, "", suggestion, sizeof(suggestion)));
    return NULL;
}

/* The tables of recordings are those of all recordings. */
static int list_tables(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_sources sources = {0};
    int status;

    if (kind_of(settings) != RECORDINGS)
        return run_on(command, settings, &(struct question){print_all_tables, NULL, false});
    status = pf_recordings_list(&sources, command);
    if (!status)
        status = print_tables(&sources, settings);
    pf_sources_free(&sources);
    return status;
}

/* There may be a table of this name, which is not known before the files are opened. */
static bool may_have_table(const struct pf_command *command, const struct pf_settings *settings, const char *name)
{
    struct pf_sources sources = {0};
    const bool may = kind_of(settings) != RECORDINGS || pf_recordings_list(&sources, command) ||
                     pf_relation_find(&sources, name) != NULL;

    pf_sources_free(&sources);
    return may;
}

/* The table may be in the same argument, as in the shells of databases. */
static int describe(const struct pf_command *command, struct pf_settings *settings, const char *what)
{
    const bool together = !strncmp(what, ".schema ", 8);
    const char *name = together                  ? what + 8 + strspn(what + 8, " ")
                       : settings->operand_count ? settings->operands[0]
                                                 : NULL;

    if (!strcmp(what, ".tables"))
        return list_tables(command, settings);
    if (!together && strcmp(what, ".schema") != 0) {
        pf_message("query: unknown command %s (valid: .tables, .schema)", what);
        return PF_STATUS_USAGE;
    }
    if (!name) {
        pf_message("query: .schema needs a table");
        return PF_STATUS_USAGE;
    }
    if (!together)
        skip_operand(settings);
    if (!may_have_table(command, settings, name))
        return refuse_table(name);
    return run_on(command, settings, &(struct question){print_schema, name, false});
}

static int run_file(const struct pf_command *command, struct pf_settings *settings, const char *path)
{
    const char *sql = read_statement(path);
    const struct question question = {print_statement, sql, !strcmp(path, "-")};

    return sql ? run_on(command, settings, &question) : PF_STATUS_UNREADABLE;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *first = settings->operand_count ? settings->operands[0] : NULL, *sql;

    if (pf_own(settings)->lists)
        return list_ready(settings);
    if (pf_own(settings)->file)
        return run_file(command, settings, pf_own(settings)->file);
    if (!first) {
        pf_message("query: which statement? (perfile query --list shows ready ones)");
        return PF_STATUS_USAGE;
    }
    skip_operand(settings);
    if (!strcmp(first, "-"))
        return run_file(command, settings, first);
    if (*first == '.')
        return describe(command, settings, first);
    sql = strpbrk(first, " \t\n(") ? first : find_ready(first, kind_of(settings) == FILES);
    return sql ? run_on(command, settings, &(struct question){print_statement, sql, false}) : PF_STATUS_USAGE;
}

#else
static int run(const struct pf_command *command, struct pf_settings *settings)
{
    (void)settings;
    pf_message("%s: this build has no SQLite", command->name);
    return PF_STATUS_USAGE;
}
#endif

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_FLAG("list", 'l', PF_OWN(lists),
            "List the ready queries; with -v, or in another format than text, with their statements.", .first = true),
    PF_ROW(FILE, "file", 'f', "FILE", PF_OWN(file), "Read the statement from FILE; - is standard input.",
           .first = true),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_query = {
    .name = "query",
    .summary = "query recordings with SQL: every view is a table",
    .doc =
        "Runs a SELECT statement of SQLite over the recordings, all of them at once. Every view of perfile table is a "
        "table, with two more columns: recording (the FILE) and host. Instead of recordings each FILE may be a dataset "
        "or another folder of perfile export --format parquet, or a Parquet file. QUERY is a statement, the name of a "
        "ready one, .tables, .schema TABLE, or - for a statement on standard input. Statements that write are refused.",
    .operand = "QUERY [FILE...]",
    .operand_max = SIZE_MAX,
    .operand_values = {.known = ready_at},
    .operand_is_free = true,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_filter_group, &pf_symbol_group, &pf_forceless_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
