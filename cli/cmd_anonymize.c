/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    const char *key, *key_file; /* NULL: not given */
    const char *keep, *change, *drop;
    bool no_words, keep_public;
    bool list_words;
};

static const struct pf_option options[] = {
    PF_ROW(TEXT, "key", 0, "KEY", PF_OWN(key),
           "The key that replacement names are derived from: recordings anonymized with the same key can be compared "
           "with each other, and testing a guess requires the key. Command lines are visible to others: "
           "prefer --key-file. Without a key a random one is used and discarded."),
    PF_ROW(TEXT, "key-file", 0, "FILE", PF_OWN(key_file), "Read the key from FILE, at most 64 KiB."),
    PF_VALUES(LIST, "keep", 0, "LIST", PF_OWN(keep), .known = perfile_anonymize_category,
              "Categories to keep unchanged, secrets included."),
    PF_VALUES(LIST, "change", 0, "LIST", PF_OWN(change), .known = perfile_anonymize_category,
              "Categories to replace; times and pids are kept by default."),
    PF_VALUES(LIST, "drop", 0, "LIST", PF_OWN(drop), .known = perfile_anonymize_category,
              "Categories to remove, or to make empty where the format needs a value."),
    PF_FLAG("no-words", 0, PF_OWN(no_words), "Also replace well-known names of directories, files and tracepoints."),
    PF_FLAG("keep-public", 0, PF_OWN(keep_public),
            "Keep paths and build ids of the kernel, its modules and the libraries in /lib and /usr/lib, so that the "
            "other side can name their functions; not those in folders of single programs."),
    PF_FLAG("vocabulary", 0, PF_OWN(list_words), "Print the well-known words that are kept, one per line, and exit."),
    PF_OPTION_REPORT_FORMAT,
    {0},
};

/* ---- the key ---- */

enum { KEY_BYTES_MAX = 65536 };

struct key {
    const void *data;
    size_t bytes;
    char *owned;
};

static int read_key(const char *path, struct key *key)
{
    FILE *from = fopen(path, "rb");
    bool failed = !from;

    key->owned = malloc(KEY_BYTES_MAX + 1);
    if (from && key->owned) {
        key->bytes = fread(key->owned, 1, KEY_BYTES_MAX + 1, from);
        failed = ferror(from) || key->bytes == 0 || key->bytes > KEY_BYTES_MAX;
    }
    if (from)
        fclose(from);
    key->data = key->owned;
    if (!failed && key->owned)
        return PF_STATUS_OK;
    if (!key->owned)
        return pf_out_of_memory("anonymize");
    pf_message("anonymize: --key-file %s: the file is unreadable, empty or larger than 64 KiB", path);
    return PF_STATUS_USAGE;
}

static int find_key(const struct pf_settings *settings, struct key *key)
{
    const bool empty = pf_own(settings)->key && !*pf_own(settings)->key;

    if (empty || (pf_own(settings)->key && pf_own(settings)->key_file)) {
        pf_message("anonymize: --key: %s", empty ? "the key is empty" : "cannot be combined with --key-file");
        return PF_STATUS_USAGE;
    }
    if (pf_own(settings)->key_file)
        return read_key(pf_own(settings)->key_file, key);
    if (pf_own(settings)->key)
        *key = (struct key){.data = pf_own(settings)->key, .bytes = strlen(pf_own(settings)->key)};
    return PF_STATUS_OK;
}

/* ---- one run ---- */

static struct perfile_anonymize_report report = PERFILE_ANONYMIZE_REPORT_INIT;
static struct key key;

static int anonymize(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                     const struct perfile_edit_options *edit_options, struct perfile_edit_report *edit_report,
                     struct perfile_error *error)
{
    struct perfile_anonymize_options made = PERFILE_ANONYMIZE_OPTIONS_INIT;

    made.key = key.data;
    made.key_bytes = key.bytes;
    made.keep = pf_own(settings)->keep;
    made.change = pf_own(settings)->change;
    made.drop = pf_own(settings)->drop;
    made.strict = pf_own(settings)->no_words;
    made.keep_public = pf_own(settings)->keep_public;
    made.edit = edit_options;
    int result = perfile_anonymize(reader, writer, &made, &report, error);
    if (report.edit)
        *edit_report = *report.edit;
    return result;
}

static void print_json(struct pf_json_writer *json)
{
    static const struct pf_json_count counts[] = {PF_JSON_COUNT(perfile_anonymized, changed),
                                                  PF_JSON_COUNT(perfile_anonymized, removed),
                                                  PF_JSON_COUNT(perfile_anonymized, kept)};

    pf_json_writer_begin(json, "categories", true);
    for (size_t i = 0; i < report.category_count; i++) {
        const struct perfile_anonymized *c = report.categories[i];

        pf_json_writer_begin(json, NULL, false);
        pf_json_writer_text(json, "name", c->name);
        pf_json_writer_text(json, "action", c->action);
        pf_json_writer_counts(json, counts, sizeof(counts) / sizeof(counts[0]), c);
        pf_json_writer_end(json, false);
    }
    pf_json_writer_end(json, true);
}

static void print_count(FILE *to, uint64_t count, const char *what, const char **between)
{
    char text[PF_GROUPED_BYTES];

    if (!count)
        return;
    fprintf(to, "%s%s %s", *between, pf_grouped(count, text), what);
    *between = ", ";
}

static void print_text(FILE *to)
{
    for (size_t i = 0; i < report.category_count; i++) {
        const struct perfile_anonymized *c = report.categories[i];
        const char *between = "";
        if (!c->changed && !c->removed && !c->kept)
            continue;
        fprintf(to, "  %-10s ", c->name);
        print_count(to, c->changed, "changed", &between);
        print_count(to, c->removed, "removed", &between);
        print_count(to, c->kept, "kept", &between);
        fprintf(to, ": %s\n", c->doc);
    }
}

static void print(FILE *to, struct pf_json_writer *json)
{
    if (json)
        print_json(json);
    else
        print_text(to);
}

static int print_words(void)
{
    const char *word;

    for (size_t i = 0; (word = perfile_anonymize_word(i)); i++)
        printf("%s\n", word);
    return fflush(stdout) ? PF_STATUS_OUTPUT : PF_STATUS_OK;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (pf_own(settings)->list_words)
        return print_words();
    int status = find_key(settings, &key);
    if (!status)
        status = pf_run_edit_report(command, settings, anonymize, print);
    free(key.owned);
    return status;
}

const struct pf_command pf_command_anonymize = {
    .name = "anonymize",
    .summary = "anonymize a recording so that it can be shared",
    .doc = "Replaces or removes what a recording reveals about people and machines: names of threads, files, cgroups "
           "and the host, command line, build ids, addresses, registers, stacks, tracepoint data, instruction traces. "
           "Equal names stay equal, and samples keep their offsets in their files. Prints what was changed, removed "
           "and kept. The exit status is 0 if nothing else was lost.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_writing_group, &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
