/* SPDX-License-Identifier: MIT */
#include "source.h"
#include "../array.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char suffix[] = ".parquet", of_recording[] = "recording=";

/* "samples.parquet"; the suffix alone names no table. */
static bool is_file_of_table(const char *name)
{
    return pf_ends_in(name, suffix) && strcmp(name, suffix) != 0;
}

/* A folder that perfile export --partition made. */
static bool is_dataset(const char *path)
{
    char *about = NULL;
    struct stat status;
    const bool is_there = asprintf(&about, "%s/_perfile/dataset", path) >= 0 && stat(about, &status) == 0;

    free(about);
    return is_there;
}

/* A folder of export: its tables, or folders of recordings with them. */
static bool has_tables(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool any = is_dataset(path);

    while (folder && !any && (entry = readdir(folder)) != NULL)
        any = is_file_of_table(entry->d_name) || !strncmp(entry->d_name, of_recording, strlen(of_recording));
    if (folder)
        closedir(folder);
    return any;
}

bool pf_is_parquet(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    return S_ISDIR(status.st_mode) ? has_tables(path) : is_file_of_table(path);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

struct file {
    char *table, *path;   /* owned */
    const char *argument; /* the folder or file of the command line */
    bool of_dataset;
    size_t number;
};

struct files {
    struct file *list;
    size_t count, capacity;
};

static void free_files(struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].table);
        free(files->list[i].path);
    }
    free(files->list);
}

/* `like` has what all files of its folder have; its table is NULL when each file is named after its table. */
static bool add_file(struct files *files, const struct file *like, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (!pf_array_grow(&files->list, &files->capacity, files->count + 1, sizeof(*files->list)))
        return false;
    struct file *file = &files->list[files->count];
    *file = *like;
    file->number = files->count++;
    file->table = like->table ? strdup(like->table) : strndup(name, strlen(name) - strlen(suffix));
    file->path = strdup(path);
    return file->table && file->path;
}

static bool add_folder(struct files *files, const struct file *like, const char *path, unsigned depth);

/* Folders are keys ("host=a"), but for the tables of a dataset. */
static bool add_entry(struct files *files, const struct file *like, const char *folder, const char *name,
                      unsigned depth)
{
    enum { DEEPEST = 8 };
    const bool is_table = like->of_dataset && !like->table;
    struct file of_table = *like;
    char *path = NULL;
    bool is_ok = true;

    if (strchr("._", *name) || (is_table && !strcmp(name, "damaged")))
        return true;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    if (is_table)
        of_table.table = (char *)name;
    if (pf_is_folder(path))
        is_ok = (!is_table && !strchr(name, '=')) || depth == DEEPEST || add_folder(files, &of_table, path, depth + 1);
    else if (!is_table && is_file_of_table(name))
        is_ok = add_file(files, like, path);
    free(path);
    return is_ok;
}

static bool add_folder(struct files *files, const struct file *like, const char *path, unsigned depth)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, NULL, alphasort);
    bool is_ok = true;

    for (int i = 0; i < count; i++) {
        is_ok = is_ok && add_entry(files, like, path, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return is_ok;
}

static bool add_argument(struct files *files, const char *argument)
{
    const struct file like = {.argument = argument, .of_dataset = is_dataset(argument)};

    return pf_is_folder(argument) ? add_folder(files, &like, argument, 0) : add_file(files, &like, argument);
}

static int by_table(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    const int order = strcasecmp(x->table, y->table);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* "host=a" of "/srv/host=a/x.parquet". */
struct part {
    const char *at;
    size_t name_bytes, bytes;
};

/* The next folder of a path that is a key; false: there are no more. */
static bool next_part(const char **path, struct part *part)
{
    for (const char *slash; (slash = strchr(*path, '/')) != NULL;) {
        const char *equals = memchr(*path, '=', (size_t)(slash - *path));
        *part = (struct part){*path, equals ? (size_t)(equals - *path) : 0, (size_t)(slash - *path)};
        *path = slash + 1;
        if (part->name_bytes)
            return true;
    }
    return false;
}

static size_t find_key(const struct pf_sources *sources, const struct part *part)
{
    size_t i = 0;

    while (i < sources->key_count && (strlen(sources->keys[i].name) != part->name_bytes ||
                                      strncasecmp(sources->keys[i].name, part->at, part->name_bytes) != 0))
        i++;
    return i;
}

static bool add_keys(struct pf_sources *sources, const struct files *files)
{
    struct part part;

    if (!pf_key_add(sources, "recording") || !pf_key_add(sources, "host"))
        return false;
    for (size_t i = 0; i < files->count; i++)
        for (const char *path = files->list[i].path; next_part(&path, &part);) {
            char *name = find_key(sources, &part) == sources->key_count ? strndup(part.at, part.name_bytes) : NULL;
            const bool is_ok = !name || pf_key_add(sources, name);
            free(name);
            if (!is_ok)
                return false;
        }
    return true;
}

/* "%2F" is "/". */
static void decode(char *text)
{
    char *to = text;

    for (; *text; text++) {
        const char hex[] = {text[0] == '%' ? text[1] : 0, text[0] == '%' && text[1] ? text[2] : 0, 0};
        const bool is_escape = isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]);
        *to++ = is_escape ? (char)strtol(hex, NULL, 16) : *text;
        text += is_escape ? 2 : 0;
    }
    *to = 0;
}

static bool set_keys(struct pf_sources *sources, struct pf_source *source, const char *path)
{
    struct part part;
    bool is_ok = true;

    while (is_ok && next_part(&path, &part)) {
        char *value = strndup(part.at + part.name_bytes + 1, part.bytes - part.name_bytes - 1);
        const size_t key = find_key(sources, &part);
        if (!value)
            return false;
        decode(value);
        free((char *)source->keys[key].text); /* of another folder of this name above */
        is_ok = pf_source_set_key(source, key, strcmp(value, "__HIVE_DEFAULT_PARTITION__") ? value : NULL);
        free(value);
    }
    return is_ok;
}

static bool is_number(const struct pf_cell *cell)
{
    enum { MAX_DIGITS = 18 };

    return cell->kind != PF_CELL_TEXT ||
           (cell->bytes && cell->bytes <= MAX_DIGITS && strspn(cell->text, "0123456789") == cell->bytes);
}

/* A key such as hour=07 has numbers when all of its values are numbers; recordings, hosts and days have names. */
static void find_numbers(struct pf_sources *sources)
{
    for (size_t key = PF_FIXED_KEYS; key < sources->key_count; key++) {
        bool all = strcasecmp(sources->keys[key].name, "date") != 0;
        for (size_t i = 0; i < sources->count && all; i++)
            all = is_number(&sources->each[i].keys[key]);
        sources->keys[key].is_number = all;
        for (size_t i = 0; i < sources->count && all; i++) {
            struct pf_cell *cell = &sources->each[i].keys[key];
            if (cell->kind != PF_CELL_TEXT)
                continue;
            cell->kind = PF_CELL_INTEGER;
            cell->integer = strtoll(cell->text, NULL, 10);
        }
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const char *doc_of(const char *table)
{
    const struct perfile_view_info *info;

    for (size_t i = 0; (info = perfile_view_at(i)) != NULL; i++)
        if (!strcasecmp(info->name, table))
            return info->doc;
    return "";
}

static bool add_path(struct pf_source *source, const char *path)
{
    char **paths = realloc(source->paths, (source->path_count + 1) * sizeof(*paths));

    if (!paths)
        return false;
    source->paths = paths;
    return (paths[source->path_count++] = strdup(path)) != NULL;
}

static bool add_source(struct pf_sources *sources, struct pf_relation *relation, const struct file *file)
{
    struct pf_source *source = &sources->each[sources->count++];

    relation->source_count++;
    return pf_source_init(sources, source, file->of_dataset ? NULL : file->argument) && add_path(source, file->path) &&
           set_keys(sources, source, file->path);
}

/* Recordings of a dataset share stacks: its files of them are one source, without keys of its own. */
static bool add_distinct(struct pf_sources *sources, struct pf_relation *relation, const struct file *file)
{
    struct pf_source *last = relation->source_count ? &sources->each[sources->count - 1] : NULL;

    if (!file->of_dataset)
        return add_source(sources, relation, file);
    relation->key_count = PF_FIXED_KEYS;
    if (last && !last->argument)
        return add_path(last, file->path);
    last = &sources->each[sources->count++];
    relation->source_count++;
    return pf_source_init(sources, last, NULL) && add_path(last, file->path);
}

static struct pf_relation *add_relation(struct pf_sources *sources, const char *name, const char *doc)
{
    struct pf_relation *relation = &sources->relations[sources->relation_count++];

    *relation = (struct pf_relation){
        .name = strdup(name), .doc = doc, .sources = &sources->each[sources->count], .key_count = sources->key_count};
    return relation->name ? relation : NULL;
}

/* Files [from, to) are of one table. */
static bool add_table(struct pf_sources *sources, const struct file *files, size_t count)
{
    struct pf_relation *relation = add_relation(sources, files->table, doc_of(files->table));

    if (!relation)
        return false;
    relation->is_uniform = true;
    for (size_t i = 0; i < count; i++) {
        relation->is_uniform &= files[i].of_dataset;
        if (!add_source(sources, relation, &files[i]))
            return false;
    }
    for (size_t k = 0; k < PF_DISTINCT; k++) {
        if (strcasecmp(files->table, pf_distinct[k].view) != 0)
            continue;
        if (!(relation = add_relation(sources, pf_distinct[k].name, pf_distinct[k].doc)))
            return false;
        relation->distinct = pf_distinct[k].column;
        for (size_t i = 0; i < count; i++)
            if (!add_distinct(sources, relation, &files[i]))
                return false;
    }
    return true;
}

static bool add_tables(struct pf_sources *sources, const struct files *files)
{
    sources->relations = calloc(2 * files->count + 1, sizeof(*sources->relations));
    sources->each = calloc(2 * files->count + 1, sizeof(*sources->each));
    if (!sources->relations || !sources->each)
        return false;
    for (size_t from = 0, to; from < files->count; from = to) {
        for (to = from + 1; to < files->count && !strcasecmp(files->list[from].table, files->list[to].table);)
            to++;
        if (!add_table(sources, files->list + from, to - from))
            return false;
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int open_table(struct pf_sources *sources, const struct pf_relation *relation, const struct pf_request *request,
                      struct pf_opened *opened)
{
    struct perfile_parquet_options options = PERFILE_PARQUET_OPTIONS_INIT;
    struct perfile_error error;
    const size_t count = request ? request->fields->count : 0;
    const char **names = calloc(count + 1, sizeof(*names));
    int result;

    if (!names)
        return pf_sources_fail(sources, NULL, PERFILE_ERROR_MEMORY, NULL);
    for (size_t i = 0; i < count; i++)
        if (request->wanted[i])
            names[options.column_count++] = request->fields->all[i].name;
    options.columns = request ? names : NULL;
    options.paths = (const char *const *)opened->source->paths;
    options.path_count = request ? opened->source->path_count : 1;
    options.distinct = relation->distinct;
    result = perfile_table_of_parquet(&options, &opened->table, &error);
    free(names);
    return result < 0 ? pf_sources_fail(sources, opened->source, result, &error) : 0;
}

static void close_table(struct pf_opened *opened)
{
    perfile_table_close(opened->table);
}

static const struct pf_source_kind kind = {.open = open_table, .close = close_table, .has_files = true};

int pf_parquet_open(struct pf_sources *sources, const struct pf_command *command, const struct pf_settings *settings,
                    char **arguments, size_t count)
{
    struct files files = {0};
    bool is_ok = true;

    sources->kind = &kind;
    sources->inputs.command = command;
    sources->settings = settings;
    for (size_t i = 0; i < count && is_ok; i++)
        is_ok = add_argument(&files, arguments[i]);
    if (is_ok && files.count)
        qsort(files.list, files.count, sizeof(*files.list), by_table);
    is_ok = is_ok && add_keys(sources, &files) && add_tables(sources, &files);
    free_files(&files);
    if (is_ok) {
        find_numbers(sources);
        return PF_STATUS_OK;
    }
    return pf_out_of_memory(command->name);
}
