/* SPDX-License-Identifier: MIT */
#include "output/output.h"

#include <string.h>

#include "analysis/complete_options.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"
#include "output/gzip.h"
#include "output/notes.h"
#include "output/table/format.h"
#include "output/table/formats.h"

#define OUTPUT(name) extern const struct pf_output pf_output_##name;
#define TABLES(kind, of, writes, reports_aux)
#include "output/outputs.def"
#undef OUTPUT
#undef TABLES

static const struct pf_output *const outputs[] = {
#define OUTPUT(name) &pf_output_##name,
#define TABLE(as, is_binary, doc, of_kind, of, writes, reports_aux)                                                    \
    &(const struct pf_output){.info = {#of_kind, #as, "the view " #of ": " doc, is_binary},                            \
                              .write_table = writes,                                                                   \
                              .view = #of,                                                                             \
                              .reports_omissions = reports_aux},
#define TABLES(...) PF_TABLE_FILES(TABLE, __VA_ARGS__)
#include "output/outputs.def"
#undef OUTPUT
#undef TABLES
};

const struct pf_output pf_output_script_text = {
    .info = {"script", "text", "one line or paragraph a sample, as perf script prints it"},
    .write = pf_script_text,
    .reports_omissions = true,
};

static const struct pf_output *find(const char *kind, const char *format)
{
    for (size_t i = 0; i < PF_COUNT(outputs); i++)
        if (strcmp(outputs[i]->info.kind, kind) == 0 && (!format || strcmp(outputs[i]->info.format, format) == 0))
            return outputs[i];
    return NULL;
}

/* A format of tables that the kind makes in its own way is in the list twice: the first is used. */
static bool is_first(const struct pf_output *output)
{
    return find(output->info.kind, output->info.format) == output;
}

const struct perfile_output_info *perfile_output_at(size_t index)
{
    for (size_t i = 0; i < PF_COUNT(outputs); i++)
        if (is_first(outputs[i]) && index-- == 0)
            return &outputs[i]->info;
    return NULL;
}

static int fail_unknown(const char *kind, const char *format, struct perfile_error *error)
{
    char known[128] = "";
    for (size_t i = 0; i < PF_COUNT(outputs); i++) {
        if (strcmp(outputs[i]->info.kind, kind) != 0 || !is_first(outputs[i]))
            continue;
        if (*known)
            strncat(known, ", ", sizeof(known) - strlen(known) - 1);
        strncat(known, outputs[i]->info.format, sizeof(known) - strlen(known) - 1);
    }
    if (!*known)
        return pf_about(error, kind, strlen(kind),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "unknown kind '%s'", kind));
    return pf_about(error, format, strlen(format),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output",
                            "unknown format '%2$s' of '%1$s'; valid: %3$s", kind, format ? format : "", known));
}

void pf_output_progress(struct perfile_reader *reader, const struct perfile_output_options *options)
{
    if (options->progress)
        options->progress(options->progress_context, perfile_reader_counts(reader)->data_bytes,
                          perfile_reader_file(reader)->file_bytes);
}

void pf_output_put_color(struct pf_text *out, const struct perfile_output_options *options, const char *color,
                         const char *text)
{
    pf_put_string(out, options->color ? color : "");
    pf_put_name(out, text);
    pf_put_string(out, options->color ? PF_PLAIN : "");
}

static void report_notes(const struct perfile_reader *reader, const struct perfile_output_options *options)
{
    char note[PF_NOTE_BYTES];
    const bool shows_aux = options->filter && options->filter->calls;
    if (options->symbols->note && !shows_aux && pf_note_aux(reader, note))
        options->symbols->note(options->symbols->note_context, note);
}

/* Folded stacks and profiles are drawn without a recording. */
static bool needs_no_reader(const char *kind, const struct perfile_output_options *options)
{
    const struct perfile_flame_options *flame = options ? options->flame : NULL;
    const struct perfile_export_options *exports = options ? options->exports : NULL;
    if (!strcmp(kind, "export"))
        return exports && exports->size > offsetof(struct perfile_export_options, profile) && exports->profile;
    return !strcmp(kind, "flame") && flame &&
           ((flame->size > offsetof(struct perfile_flame_options, folded_bytes) && flame->folded) ||
            (flame->size > offsetof(struct perfile_flame_options, profile_before) && flame->profile));
}

static int check_arguments(const struct perfile_reader *reader, const char *kind,
                           const struct perfile_output_options *options, const struct perfile_sink *sink,
                           struct perfile_error *error)
{
    const char *why = NULL;
    if (!kind || !sink || !sink->write)
        why = !kind ? "no kind given" : "no sink given";
    else if (!reader && !needs_no_reader(kind, options))
        why = "no reader given";
    else if (reader && !perfile_reader_is_at_start(reader))
        why = "the reader is not at its start: perfile_reader_rewind";
    return why ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "%s", why) : 0;
}

/* What an export of a profile cannot have, too. */
static int check_profile(const struct pf_output *output, const struct perfile_reader *reader,
                         const struct perfile_output_options *options, struct perfile_error *error)
{
    const bool is_asked = !strcmp(output->info.kind, "export") && options->exports->profile;
    const char *why = !is_asked                ? NULL
                      : reader                 ? "a profile is written instead of a recording: the reader must be NULL"
                      : options->more_count    ? "a profile is written alone: merge it with the others first"
                      : options->exports->keys ? "the rows of a profile have the keys that it was made with"
                      : !output->takes_a_profile ? "a profile has only sums: this format needs the recording"
                                                 : NULL;
    return why ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "%s: %s", output->info.format, why)
               : 0;
}

static int check_more(const struct pf_output *output, const struct perfile_output_options *options,
                      struct perfile_error *error)
{
    const char *why = options->more_count && !options->more ? "no readers given"
                      : options->more_count && !output->merges
                          ? "this format takes one recording; merge them into one first"
                          : NULL;
    for (size_t i = 0; i < options->more_count && !why; i++)
        if (!options->more[i] || !perfile_reader_is_at_start(options->more[i]))
            why = "a reader is missing, or not at its start: perfile_reader_rewind";
    return why ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "output", "%s: %s", output->info.format, why)
               : 0;
}

/* The options of the caller as outputs see them: nothing that they point at is NULL. */
struct complete_options {
    struct perfile_output_options all;
    struct perfile_flame_options flame;
    struct perfile_report_options report;
    struct perfile_script_options script;
    struct perfile_dump_options dump;
    struct perfile_stat_options stat;
    struct perfile_export_options exports;
    struct perfile_annotate_options annotate;
    struct perfile_event_options events;
    struct perfile_changes_options changes;
    struct pf_complete_options more;
};

/* A struct that they point at: where its complete copy is, and the pointer to it. */
#define PART(member, words)                                                                                            \
    {                                                                                                                  \
        offsetof(struct perfile_output_options, member), offsetof(struct complete_options, member),                    \
            sizeof(((struct complete_options *)NULL)->member), words                                                   \
    }
static const struct part {
    size_t pointer_offset, copy_offset, bytes;
    const char *what;
} parts[] = {
    PART(flame, "flame options"),       PART(report, "report options"), PART(script, "script options"),
    PART(dump, "dump options"),         PART(stat, "stat options"),     PART(exports, "export options"),
    PART(annotate, "annotate options"), PART(events, "event options"),  PART(changes, "diff options"),
};

static int take_part(struct complete_options *complete, const struct part *part, struct perfile_error *error)
{
    char *pointer = (char *)&complete->all + part->pointer_offset;
    void *ours = (char *)complete + part->copy_offset;
    const void *theirs;
    memcpy(&theirs, pointer, sizeof(theirs));
    memcpy(pointer, &ours, sizeof(ours));
    memset(ours, 0, part->bytes);
    memcpy(ours, &part->bytes, sizeof(part->bytes)); /* its size */
    return pf_sized_take(ours, part->bytes, theirs, part->what, error);
}

static int take_options(struct complete_options *complete, const struct perfile_reader *reader,
                        const struct perfile_output_options *options, struct perfile_error *error)
{
    struct perfile_output_options *all = &complete->all;
    complete->all = (struct perfile_output_options)PERFILE_OUTPUT_OPTIONS_INIT;
    int result = pf_sized_take(all, sizeof(*all), options, "output options", error);
    if (result == 0)
        result = pf_complete_options_take(&complete->more, reader, all->filter, all->symbols, error);
    all->filter = &complete->more.filter;
    all->symbols = &complete->more.symbols;
    for (size_t i = 0; i < PF_COUNT(parts) && result == 0; i++)
        result = take_part(complete, &parts[i], error);
    return result;
}

static int write_to(const struct pf_output *output, struct perfile_reader *reader,
                    const struct perfile_output_options *options, const struct perfile_sink *sink,
                    struct perfile_error *error)
{
    struct pf_text text;
    if (pf_text_open(&text, options->allocator, sink->write, sink->context) < 0)
        return pf_fail_memory(error, "output");
    text.escapes = output != &pf_output_script_text || options->script->escape_names;
    int result = output->write_table ? output->write_table(output, reader, options, &text, error)
                                     : output->write(reader, options, &text, error);
    if (output->reports_omissions && reader)
        report_notes(reader, options);
    const bool written = pf_text_flush(&text) == 0;
    if (pf_memory_was_short(options->allocator))
        result = pf_fail_memory(error, "output");
    else if (!written && (result >= 0 || result == PERFILE_ERROR_WRITE))
        result = pf_fail(error, text.failed, PERFILE_NO_OFFSET, "output",
                         text.failed == PERFILE_ERROR_MEMORY ? "out of memory" : "the sink failed");
    pf_text_close(&text);
    return result;
}

static int write_gzip(const struct pf_output *output, struct perfile_reader *reader,
                      const struct perfile_output_options *options, const struct perfile_sink *sink,
                      struct perfile_error *error)
{
    struct pf_gzip *gzip;
    int result = pf_gzip_open(&gzip, options->allocator, sink, error);
    if (result < 0)
        return result;
    const struct perfile_sink within = {gzip, pf_gzip_write};
    result = write_to(output, reader, options, &within, error);
    if (result >= 0 && pf_gzip_finish(gzip) != 0)
        result = pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, "output", "the sink failed");
    pf_gzip_close(gzip);
    return result;
}

int perfile_output_write(struct perfile_reader *reader, const char *kind, const char *format,
                         const struct perfile_output_options *options, const struct perfile_sink *sink,
                         struct perfile_error *error)
{
    struct complete_options complete;
    int result = check_arguments(reader, kind, options, sink, error);
    if (result < 0)
        return result;
    const struct pf_output *output = find(kind, format);
    if (!output)
        return fail_unknown(kind, format, error);
    result = take_options(&complete, reader, options, error);
    if (result == 0)
        result = check_more(output, &complete.all, error);
    if (result == 0)
        result = check_profile(output, reader, &complete.all, error);
    if (result == 0)
        result = pf_table_check_gzip(complete.all.gzip, format, error);
    if (result < 0)
        return result;
    struct pf_watch watch; /* names that are missing would be other text: it goes nowhere once memory was short */
    pf_watch_open(&watch, complete.all.allocator);
    complete.all.allocator = &watch.allocator;
    return (complete.all.gzip ? write_gzip : write_to)(output, reader, &complete.all, sink, error);
}
