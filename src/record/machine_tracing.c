/* SPDX-License-Identifier: MIT */
/* TRACING_DATA: what readers need from tracefs to understand the raw data of tracepoints. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine_body.h"

enum { FORMAT_BYTES_MAX = 1 << 20, PRINTK_BYTES_MAX = 16 << 20, TRACEPOINT = 2, SYSTEM_CAPACITY = 256 };

struct tracing {
    struct pf_body body;
    int folder; /* of tracefs */
};

static void put_bytes(struct tracing *t, const void *data, size_t bytes)
{
    pf_put(t->body.text, data, bytes);
}

/* u64 or u32 length, and the file. What cannot be read is empty. */
static bool put_file(struct tracing *t, const char *path, size_t width, size_t limit)
{
    struct pf_text *text = t->body.text;
    size_t start = text->used;
    pf_put(text, (const char[8]){0}, width);
    bool read = pf_read_file(t->folder, path, text, limit);
    if (text->failed)
        return false;
    if (!read)
        text->used = start + width;
    uint64_t wide = text->used - start - width;
    uint32_t narrow = (uint32_t)wide;
    memcpy(text->data + start, width == 8 ? (const void *)&wide : &narrow, width);
    return read;
}

/* ---- the formats of the events ---- */

/* "sched" of "sched:sched_switch". */
static bool split_name(const char *name, char system[SYSTEM_CAPACITY], const char **event)
{
    const char *colon = name ? strchr(name, ':') : NULL;
    if (!colon || strchr(name, '/') || (size_t)(colon - name) >= SYSTEM_CAPACITY)
        return false;
    memcpy(system, name, (size_t)(colon - name));
    system[colon - name] = 0;
    *event = colon + 1;
    return **event != 0;
}

/* The same tracepoint, or only the same system, among the events before. */
static bool was_before(const struct pf_event_list *events, size_t index, bool complete)
{
    char system[SYSTEM_CAPACITY], other[SYSTEM_CAPACITY];
    const char *event, *other_event;
    if (!split_name(events->items[index].name, system, &event))
        return true;
    for (size_t i = 0; i < index; i++)
        if (events->items[i].attr.type == TRACEPOINT && split_name(events->items[i].name, other, &other_event) &&
            strcmp(other, system) == 0 && (!complete || strcmp(other_event, event) == 0))
            return true;
    return false;
}

static int put_format(struct tracing *t, const char *name, struct perfile_error *error)
{
    char system[SYSTEM_CAPACITY], path[PF_PATH_CAPACITY];
    const char *event;
    if (split_name(name, system, &event) && pf_path(path, sizeof(path), "events/%s/%s/format", system, event) &&
        put_file(t, path, 8, FORMAT_BYTES_MAX))
        return 0;
    return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name, "its format cannot be read from tracefs");
}

static int put_formats(struct tracing *t, const char *system, struct perfile_error *error);

/* As put_formats, without the number, which is returned; or an error. */
static int put_each(struct tracing *t, const char *system, struct perfile_error *error)
{
    const struct pf_event_list *events = t->body.events;
    char own[SYSTEM_CAPACITY];
    const char *event;
    int result = 0, count = 0;
    for (size_t i = 0; i < events->count && result == 0; i++) {
        const struct pf_listed_event *item = &events->items[i];
        if (item->attr.type != TRACEPOINT || !split_name(item->name, own, &event) ||
            was_before(events, i, system != NULL) || (strcmp(own, system ? system : "ftrace") == 0) != (system != NULL))
            continue;
        if (!system)
            put_bytes(t, own, strlen(own) + 1);
        result = system ? put_format(t, item->name, error) : put_formats(t, own, error);
        count++;
    }
    return result < 0 ? result : count;
}

/*
 * u32 number of formats, each u64 length and text. NULL: of all systems but "ftrace", which has a section of its own,
 * the name and that.
 */
static int put_formats(struct tracing *t, const char *system, struct perfile_error *error)
{
    const size_t start = t->body.text->used;
    pf_body_u32(&t->body, 0);
    const int count = put_each(t, system, error);
    pf_body_set_u32(&t->body, start, count < 0 ? 0 : (uint32_t)count);
    return count < 0 ? count : 0;
}

/* ---- the complete feature ---- */

static void put_head(struct tracing *t)
{
    static const char magic[] = "\x17\x08\x44tracing0.6"; /* with its NUL */
    const char form[2] = {PF_NATIVE_BIG_ENDIAN, sizeof(long)};
    put_bytes(t, magic, sizeof(magic));
    put_bytes(t, form, sizeof(form));
    pf_body_u32(&t->body, (uint32_t)sysconf(_SC_PAGESIZE));
    put_bytes(t, "header_page", sizeof("header_page"));
    put_file(t, "events/header_page", 8, FORMAT_BYTES_MAX);
    put_bytes(t, "header_event", sizeof("header_event"));
    put_file(t, "events/header_event", 8, FORMAT_BYTES_MAX);
}

static int put_all(struct tracing *t, struct perfile_error *error)
{
    put_head(t);
    int result = put_formats(t, "ftrace", error);
    if (result == 0)
        result = put_formats(t, NULL, error);
    pf_body_u32(&t->body, 0); /* kallsyms: not since 3.x */
    put_file(t, "printk_formats", 4, PRINTK_BYTES_MAX);
    put_file(t, "saved_cmdlines", 8, PRINTK_BYTES_MAX);
    return result < 0 || !t->body.text->failed ? result : pf_fail_memory(error, "TRACING_DATA");
}

/* Where tracefs is mounted; it may be anywhere. */
static int find_tracefs(int root, const struct perfile_allocator *allocator)
{
    static const char *const usual[] = {"sys/kernel/tracing", "sys/kernel/debug/tracing"};
    char path[PF_PATH_CAPACITY];
    for (size_t i = 0; i < PF_COUNT(usual); i++)
        if (pf_path(path, sizeof(path), "%s/events", usual[i]) && faccessat(root, path, F_OK, 0) == 0)
            return openat(root, usual[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
    return pf_find_mount(allocator, root, "tracefs", NULL, path) ? openat(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC)
                                                                 : -1;
}

static bool has_tracepoint(const struct pf_event_list *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->items[i].attr.type == TRACEPOINT)
            return true;
    return false;
}

static int put_tracing(int folder, struct perfile_writer *writer, const struct pf_event_list *events,
                       struct perfile_error *error)
{
    struct pf_text text;
    struct tracing t = {
        .body = {.allocator = pf_allocator_or_default(events->allocator), .events = events, .text = &text},
        .folder = folder,
    };
    if (pf_text_open(&text, t.body.allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "TRACING_DATA");
    int result = put_all(&t, error);
    if (result == 0)
        result = perfile_writer_feature(writer, PERFILE_FEATURE_TRACING_DATA, text.data, text.used, error);
    pf_text_close(&text);
    return result;
}

int pf_machine_tracing_of(const char *root, struct perfile_writer *writer, const struct pf_event_list *events,
                          struct perfile_error *error)
{
    if (!has_tracepoint(events))
        return 0;
    int system = pf_root_open(root), folder = system < 0 ? -1 : find_tracefs(system, events->allocator);
    int result;
    if (folder < 0)
        result = pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "tracefs",
                         "cannot be found or read; as root: mount -t tracefs none /sys/kernel/tracing");
    else
        result = put_tracing(folder, writer, events, error);
    if (folder >= 0)
        close(folder);
    if (system >= 0)
        close(system);
    return result;
}

int pf_machine_tracing(struct perfile_writer *writer, const struct pf_event_list *events, struct perfile_error *error)
{
    return pf_machine_tracing_of(NULL, writer, events, error);
}
