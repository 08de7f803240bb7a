/* SPDX-License-Identifier: MIT */
/*
 * Prints what a profile holds, by <perfile/profile.h> alone. For profiles.py.
 *
 * profiles folded FILE         : the stacks of the event with the most samples, as `perfile flame --format folded`
 * profiles report FILE         : a line for each function: event, share with callees, samples, period, dso and symbol
 * profiles dump -jN FILE       : everything with its numbers
 * profiles content PATH FILE... : of all of them merged, what does not depend on numbers; symbols as for PATH
 * profiles rules FILE FILE     : what holds of merging, or the rule that does not
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfile/profile.h>

static void *or_die(void *pointer)
{
    if (pointer)
        return pointer;
    fputs("out of memory\n", stderr);
    exit(1);
}

/* ---- text ---- */

struct text {
    char *data;
    size_t used, capacity;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t bytes = (size_t)vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (text->used + bytes + 1 > text->capacity)
        text->data = or_die(realloc(text->data, text->capacity = 2 * (text->used + bytes) + 64));
    va_start(list, format);
    vsnprintf(text->data + text->used, bytes + 1, format, list);
    va_end(list);
    text->used += bytes;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Puts the lines of the text in order. */
static void sort_lines(struct text *text)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < text->used; i++)
        count += text->data[i] == '\n';
    char **lines = or_die(malloc((count + 1) * sizeof(*lines)));
    struct text sorted = {0};
    for (char *line = strtok(text->data, "\n"); line; line = strtok(NULL, "\n"))
        lines[at++] = line;
    qsort(lines, at, sizeof(*lines), by_text);
    for (size_t i = 0; i < at; i++)
        put(&sorted, "%s\n", lines[i]);
    free(lines);
    free(text->data);
    *text = sorted;
}

/* ---- profiles ---- */

static struct perfile_profile *open_profile(const char *path, struct perfile_profile_options options)
{
    struct perfile_reader *reader;
    struct perfile_profile *profile = NULL;
    struct perfile_error error;
    if (perfile_open_path(path, NULL, &reader, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    if (!options.path)
        options.path = path;
    if (perfile_profile_open(reader, &options, &profile, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    perfile_close(reader);
    return profile;
}

static struct perfile_profile *merge(struct perfile_profile *a, struct perfile_profile *b)
{
    const struct perfile_profile *both[] = {a, b};
    struct perfile_profile *merged = NULL;
    if (perfile_profile_merge(both, b ? 2 : 1, NULL, &merged, NULL) < 0)
        or_die(NULL);
    return merged;
}

#define GET(type, kind, profile, index)                                                                                \
    struct type kind = {.size = sizeof(kind)};                                                                         \
    if (perfile_profile_##kind##_at(profile, index, &kind) < 0)                                                        \
    abort()

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

/* ---- folded ---- */

static void put_comm(struct text *text, const char *comm)
{
    char *name = or_die(strdup(*comm ? comm : "[unknown]")), *made = or_die(malloc(4 * strlen(name) + 1));
    for (char *c = name; *c; c++)
        *c = *c == ';' ? ':' : (unsigned char)*c <= ' ' || *c == 0x7f ? '_' : *c;
    perfile_text_escape(name, strlen(name), made, 4 * strlen(name) + 1);
    put(text, "%s", made);
    free(made);
    free(name);
}

static void put_frames(const struct perfile_profile *profile, uint32_t node, struct text *text)
{
    if (node == PERFILE_NO_ID)
        return;
    GET(perfile_profile_stack, stack, profile, node);
    put_frames(profile, stack.parent, text);
    GET(perfile_profile_frame, frame, profile, stack.frame);
    GET(perfile_profile_function, function, profile, frame.function);
    put(text, ";%s", function.label);
}

/* Returns the event with the most samples, the first of several; unknown events do not count. */
static size_t main_event(const struct perfile_profile *profile)
{
    uint64_t max = 0;
    size_t found = 0;
    for (size_t i = 0; i < perfile_profile_event_count(profile); i++) {
        GET(perfile_profile_event, event, profile, i);
        GET(perfile_profile_value_type, value_type, profile, event.first_value);
        if (value_type.total > max && strcmp(event.name, "[unknown]") != 0)
            max = value_type.total, found = i;
    }
    return found;
}

/* Stacks of the same names are one line. */
static void put_summed(struct text *lines)
{
    char *last = NULL;
    uint64_t weight = 0;
    for (char *line = strtok(lines->data, "\n"); line; line = strtok(NULL, "\n")) {
        char *space = strrchr(line, ' ');
        *space = 0;
        if (last && strcmp(last, line) != 0 && weight)
            printf("%s %" PRIu64 "\n", last, weight);
        weight = (last && strcmp(last, line) == 0 ? weight : 0) + strtoull(space + 1, NULL, 10);
        last = line;
    }
    if (last && weight)
        printf("%s %" PRIu64 "\n", last, weight);
}

/* Prints folded stacks. Lines are sorted with their weights after a byte that sorts as the space does. */
static int fold(const char *path)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct text lines = {0};
    options.keys = "comm";
    options.flags = PERFILE_STREAM_JOIN_UNNAMED;
    struct perfile_profile *profile = open_profile(path, options);
    const size_t event = main_event(profile);
    for (size_t i = 0; i < perfile_profile_sample_count(profile); i++) {
        GET(perfile_profile_sample, sample, profile, i);
        if (sample.event != event)
            continue;
        put_comm(&lines, sample.comm);
        put_frames(profile, sample.stack, &lines);
        put(&lines, " %" PRIu64 "\n", sample.values[1]);
    }
    if (lines.used) {
        sort_lines(&lines);
        put_summed(&lines);
    }
    free(lines.data);
    perfile_profile_close(profile);
    return 0;
}

/* ---- report ---- */

static void put_function(const struct perfile_profile *profile, const char *event, size_t index,
                         const struct perfile_calls *calls, double total)
{
    const uint64_t *self = perfile_calls_self(calls, (uint32_t)index),
                   *all = perfile_calls_total(calls, (uint32_t)index);
    GET(perfile_profile_function, function, profile, index);
    struct perfile_module module = PERFILE_MODULE_INIT;
    const int known = perfile_profile_module_at(profile, function.module, &module) == 0;
    printf("%s\t%.2f\t%" PRIu64 "\t%" PRIu64 "\t%s\t", event, total > 0 ? 100 * (double)all[1] / total : 0, self[0],
           self[1], known ? module.name : "");
    if (function.name)
        printf("%s\n", function.name);
    else
        printf(known ? "0x%016" PRIx64 "\n" : "%016" PRIx64 "\n", function.address);
}

static int report(const char *path)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    options.flags = PERFILE_STREAM_NO_INLINES;
    struct perfile_profile *profile = open_profile(path, options);
    struct perfile_calls *calls;
    if (perfile_calls_open(profile, NULL, &calls, NULL) < 0)
        return 1;
    for (size_t e = 0; e < perfile_profile_event_count(profile); e++) {
        GET(perfile_profile_event, event, profile, e);
        GET(perfile_profile_value_type, value_type, profile, event.first_value + 1);
        if (perfile_calls_start(calls, NULL) < 0)
            return 1;
        for (size_t i = 0; i < perfile_profile_sample_count(profile); i++) {
            GET(perfile_profile_sample, sample, profile, i);
            if (sample.event == e)
                perfile_calls_add(calls, i);
        }
        perfile_calls_sum(calls);
        for (uint32_t i = 0; perfile_calls_total(calls, i); i++)
            if (perfile_calls_total(calls, i)[0])
                put_function(profile, event.name, i, calls, (double)value_type.total);
    }
    perfile_calls_close(calls);
    perfile_profile_close(profile);
    return 0;
}

/* ---- everything ---- */

static void put_module(const struct perfile_profile *profile, size_t index, struct text *text)
{
    GET(perfile_module, module, profile, index);
    put(text, "module %s %s %s %u %u %d%d ", module.name, module.short_name, or_none(module.path), module.state,
        module.kind, module.kernel, module.jit);
    for (uint32_t i = 0; i < module.build_id_bytes; i++)
        put(text, "%02x", module.build_id[i]);
    put(text, "\n");
}

static void put_function_text(const struct perfile_profile *profile, size_t index, bool numbered, struct text *text)
{
    GET(perfile_profile_function, function, profile, index);
    struct perfile_module module = PERFILE_MODULE_INIT;
    const int known = perfile_profile_module_at(profile, function.module, &module) == 0;
    put(text, "%s|%s|%s|%" PRIx64 "+%" PRIx64 "|%s:%u|%u|", or_none(function.name), or_none(function.raw_name),
        function.label, function.address, function.bytes, or_none(function.file), function.start_line, function.kind);
    if (numbered)
        put(text, "%" PRIu32, function.module);
    else
        put(text, "%s", known ? module.name : "-");
}

static void put_frame_text(const struct perfile_profile *profile, size_t index, bool numbered, struct text *text)
{
    GET(perfile_profile_frame, frame, profile, index);
    put(text, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s:%u %u ", frame.offset, frame.address, frame.file_offset,
        or_none(frame.file), frame.line, frame.kind);
    if (numbered)
        put(text, "%" PRIu32, frame.function);
    else
        put_function_text(profile, frame.function, false, text);
}

static void put_stack_text(const struct perfile_profile *profile, uint32_t node, struct text *text)
{
    while (node != PERFILE_NO_ID) {
        GET(perfile_profile_stack, stack, profile, node);
        put(text, "; ");
        put_frame_text(profile, stack.frame, false, text);
        node = stack.parent;
    }
}

static void put_sample(const struct perfile_profile *profile, size_t index, bool numbered, struct text *text)
{
    GET(perfile_profile_sample, sample, profile, index);
    GET(perfile_profile_event, event, profile, sample.event);
    put(text, "sample %s %d %d %d %s %" PRIu64, event.name, sample.pid, sample.tid, sample.cpu, or_none(sample.comm),
        sample.time);
    for (uint32_t i = 0; i < sample.value_count; i++)
        put(text, " %" PRIu64, sample.values[i]);
    if (numbered) {
        put(text, " %" PRIu32 " %" PRIu32 "\n", sample.stack, sample.leaf);
        return;
    }
    put(text, " ");
    put_frame_text(profile, sample.leaf, false, text);
    put_stack_text(profile, sample.stack, text);
    put(text, "\n");
}

static void put_thread(const struct perfile_profile *profile, size_t index, bool numbered, struct text *text)
{
    GET(perfile_profile_thread, thread, profile, index);
    put(text, "thread %d %d %s %" PRIu64 " %" PRIu64 " %" PRIu64, thread.pid, thread.tid, thread.comm,
        thread.first_time, thread.last_time, thread.samples);
    for (size_t i = 0; numbered && i < thread.comm_count; i++)
        put(text, " %s", thread.comms[i]);
    put(text, "\n");
}

static void put_values(const struct perfile_profile *profile, bool numbered, struct text *text)
{
    for (size_t i = 0; i < perfile_profile_event_count(profile); i++) {
        GET(perfile_profile_event, event, profile, i);
        put(text, "event %s %s %u %" PRIu64 " %u\n", event.name, event.unit, event.type, event.config,
            event.value_count);
    }
    for (size_t i = 0; i < perfile_profile_value_type_count(profile); i++) {
        GET(perfile_profile_value_type, value_type, profile, i);
        GET(perfile_profile_event, event, profile, value_type.event);
        put(text, "value %s %s %s %" PRIu64 "\n", event.name, value_type.name, value_type.unit, value_type.total);
    }
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    if (perfile_profile_losses(profile, &losses) < 0)
        abort();
    put(text, "losses %" PRIu64 " %" PRIu64 " %" PRIu64, losses.samples, losses.unmapped, losses.unresolved);
    put(text, " %" PRIu64 " %" PRIu64 "\n", losses.truncated, losses.guessed);
    if (numbered)
        put(text, "lost %" PRIu64 " %" PRIu64 "\n", losses.filtered, losses.lost);
}

static void put_recordings(const struct perfile_profile *profile, struct text *text)
{
    for (size_t i = 0; i < perfile_profile_recording_count(profile); i++) {
        GET(perfile_profile_recording, recording, profile, i);
        put(text, "recording %s|%s|%s|%s|%s|%s", or_none(recording.path), or_none(recording.hostname),
            or_none(recording.os_release), or_none(recording.arch), or_none(recording.cpu), or_none(recording.version));
        for (size_t k = 0; k < recording.cmdline_count; k++)
            put(text, " %s", recording.cmdline[k]);
        put(text, " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64 "\n", recording.first_time, recording.last_time,
            recording.clock, recording.wall_time, recording.clock_time);
    }
}

/* In the order of numbers, or with the lines in the order of their bytes and without numbers. */
static struct text text_of(const struct perfile_profile *profile, bool numbered)
{
    struct text text = {0};
    put_values(profile, numbered, &text);
    for (size_t i = 0; i < perfile_profile_module_count(profile); i++)
        put_module(profile, i, &text);
    for (size_t i = 0; i < perfile_profile_thread_count(profile); i++)
        put_thread(profile, i, numbered, &text);
    for (size_t i = 0; i < perfile_profile_function_count(profile); i++) {
        put(&text, "function ");
        put_function_text(profile, i, numbered, &text);
        put(&text, "\n");
    }
    for (size_t i = 0; i < perfile_profile_frame_count(profile); i++) {
        put(&text, "frame ");
        put_frame_text(profile, i, numbered, &text);
        put(&text, "\n");
    }
    for (size_t i = 0; numbered && i < perfile_profile_stack_count(profile); i++) {
        GET(perfile_profile_stack, stack, profile, i);
        put(&text, "stack %" PRIu32 " %" PRIu32 "\n", stack.parent, stack.frame);
    }
    for (size_t i = 0; i < perfile_profile_sample_count(profile); i++)
        put_sample(profile, i, numbered, &text);
    if (numbered)
        put_recordings(profile, &text);
    else
        sort_lines(&text);
    return text;
}

static int print_text(struct perfile_profile *profile, bool numbered)
{
    struct text text = text_of(profile, numbered);
    fputs(text.data, stdout);
    free(text.data);
    perfile_profile_close(profile);
    return 0;
}

static struct perfile_profile *open_complete(const char *path, const char *like, unsigned threads)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    options.path = like;
    options.keys = "pid,tid,comm,cpu,time";
    options.time_quantum = 1000000;
    options.flags = PERFILE_STREAM_ADDRESSES;
    options.threads = threads;
    return open_profile(path, options);
}

static int print_content(char **paths, int count)
{
    struct perfile_profile *sum = open_complete(paths[1], paths[0], 1);
    for (int i = 2; i < count; i++) {
        struct perfile_profile *more = open_complete(paths[i], paths[0], 1), *merged = merge(sum, more);
        perfile_profile_close(sum);
        perfile_profile_close(more);
        sum = merged;
    }
    return print_text(sum, false);
}

/* ---- what holds of merging ---- */

static int differ(const char *rule, struct perfile_profile *a, struct perfile_profile *b, bool numbered)
{
    struct text x = text_of(a, numbered), y = text_of(b, numbered);
    const int differs = strcmp(x.data, y.data) != 0;
    if (differs)
        printf("%s\n", rule);
    free(x.data);
    free(y.data);
    return differs;
}

static int check_rules(const char *first, const char *second)
{
    struct perfile_profile *a = open_complete(first, first, 1), *b = open_complete(second, second, 1);
    struct perfile_profile *alone = merge(a, NULL), *ab = merge(a, b), *ba = merge(b, a);
    struct perfile_profile *ab_a = merge(ab, a), *ba_in_a = merge(a, ba);
    const struct perfile_profile *three[] = {a, b, a};
    struct perfile_profile *flat = NULL, *nothing = NULL;
    if (perfile_profile_merge(three, 3, NULL, &flat, NULL) < 0 ||
        perfile_profile_merge(NULL, 0, NULL, &nothing, NULL) < 0)
        return 1;
    struct perfile_profile *with_nothing = merge(nothing, a);
    int wrong = differ("merged alone it is another one", a, alone, true);
    wrong += differ("merged with nothing it is another one", a, with_nothing, true);
    wrong += differ("the order matters", ab, ba, false);
    wrong += differ("what was merged before is not the same", flat, ab_a, true);
    wrong += differ("what is merged later is not the same", flat, ba_in_a, true);
    struct perfile_profile *all[] = {a, b, alone, ab, ba, ab_a, ba_in_a, flat, nothing, with_nothing};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        perfile_profile_close(all[i]);
    return wrong;
}

int main(int count, char **arguments)
{
    const char *what = count > 2 ? arguments[1] : "";
    if (strcmp(what, "folded") == 0)
        return fold(arguments[2]);
    if (strcmp(what, "report") == 0)
        return report(arguments[2]);
    if (strcmp(what, "dump") == 0 && count == 4)
        return print_text(open_complete(arguments[3], arguments[3], (unsigned)strtoul(arguments[2] + 2, NULL, 10)),
                          true);
    if (strcmp(what, "content") == 0 && count > 3)
        return print_content(arguments + 2, count - 2);
    if (strcmp(what, "rules") == 0 && count == 4)
        return check_rules(arguments[2], arguments[3]);
    return 1;
}
