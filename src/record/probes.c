/* SPDX-License-Identifier: MIT */
/* The probes of this machine: lines of kprobe_events and uprobe_events of tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <perfile/recorder.h>

#include "base/error.h"
#include "base/locale.h"
#include "record/event_parts.h"
#include "record/machine_files.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 64 << 20 };

static const char what[] = "probe";

static const char *file_of(bool is_kernel)
{
    return is_kernel ? "kprobe_events" : "uprobe_events";
}

/* Why a file of tracefs cannot be opened. */
static int fail_open(bool is_kernel, int reason, struct perfile_error *error)
{
    const char *file = file_of(is_kernel);
    if (reason == ENOENT)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, what,
                       "tracefs has no %s: this kernel was built without probes of %s (%s)", file,
                       is_kernel ? "the kernel" : "programs",
                       is_kernel ? "CONFIG_KPROBE_EVENTS" : "CONFIG_UPROBE_EVENTS");
    if (reason == EACCES || reason == EPERM)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, what,
                       "no permission for %s of tracefs: adding, deleting and listing probes is for root, so use sudo",
                       file);
    return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, file, "%s", pf_error_text(reason));
}

int perfile_probes_folder(char *path, size_t capacity, struct perfile_error *error)
{
    struct pf_arena arena;
    struct pf_sys sys;
    const char *events;
    pf_arena_open(&arena, pf_allocator_or_default(NULL));
    pf_sys_open(&sys, &arena, NULL, error);
    int result = pf_sys_tracing(&sys, &events);
    if (result == PERFILE_ERROR_OPEN && pf_sys_mount_tracing(&sys))
        result = pf_sys_tracing(&sys, &events);
    if (result == PERFILE_ERROR_OPEN && access("/sys/kernel/tracing/events", R_OK | X_OK) != 0 && errno == EACCES)
        result = fail_open(false, EACCES, error);
    if (result == 0) {
        const size_t bytes = strlen(events) - strlen("/events");
        if (bytes >= capacity)
            result = pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, what, "the path of tracefs is too long");
        else
            snprintf(path, capacity, "%.*s", (int)bytes, events);
    }
    pf_sys_close(&sys);
    pf_arena_close(&arena);
    return result;
}

/* Opens the folder that is given, or that of the machine. A descriptor or an error. */
static int open_folder(const char *tracefs, struct perfile_error *error)
{
    char path[PATH_BYTES];
    const int result = tracefs ? 0 : perfile_probes_folder(path, sizeof(path), error);
    if (result < 0)
        return result;
    const int fd = open(tracefs ? tracefs : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd
                   : pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, tracefs ? tracefs : path, "%s",
                             pf_error_text(errno));
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

/*
 * Ends the target, and returns the arguments after it. A target is PATH:0xOFFSET, whose path may have spaces, or an
 * address in the kernel, which has none.
 */
static const char *cut_target(char *text)
{
    char *offset = *text == '/' ? strstr(text, ":0x") : NULL;
    char *end = strchr(offset ? offset : text, ' ');
    if (!end)
        return "";
    *end = '\0';
    return end + 1;
}

/* "p:GROUP/EVENT TARGET [ARGUMENT...]", also "r4:...", in site. */
static bool parse_entry(char *line, struct perfile_probe_entry *entry)
{
    char *name = strchr(line, ':'), *slash = name ? strchr(name, '/') : NULL, *rest = NULL;
    if ((line[0] != 'p' && line[0] != 'r') || !slash)
        return false;
    entry->is_return = line[0] == 'r';
    entry->group = name + 1;
    *slash = '\0';
    entry->event = strtok_r(slash + 1, " ", &rest);
    if (!entry->event || !rest || !*rest)
        return false;
    entry->target = rest;
    entry->arguments = cut_target(rest);
    return true;
}

struct listing {
    int (*take)(void *context, const struct perfile_probe_entry *entry);
    void *context;
};

static int list_file(const struct listing *listing, int folder, bool is_kernel, struct perfile_error *error)
{
    struct pf_text text;
    int result = 0;
    if (faccessat(folder, file_of(is_kernel), R_OK, 0) != 0)
        return is_kernel && errno == ENOENT ? 0 : fail_open(is_kernel, errno, error);
    if (pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL) < 0)
        return pf_fail_memory(error, what);
    if (!pf_read_file(folder, file_of(is_kernel), &text, FILE_BYTES_MAX) && text.used)
        result = pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, file_of(is_kernel), "it cannot be read");
    pf_put_char(&text, '\0');
    char *rest = NULL;
    for (char *line = strtok_r(text.data, "\n", &rest); line && result == 0; line = strtok_r(NULL, "\n", &rest)) {
        struct perfile_probe_entry entry = {.size = sizeof(entry), .is_kernel = is_kernel};
        if (parse_entry(line, &entry) && listing->take(listing->context, &entry))
            result = PERFILE_ERROR_STOPPED;
    }
    if (text.failed)
        result = pf_fail_memory(error, what);
    pf_text_close(&text);
    return result;
}

int perfile_probes_list(const char *tracefs, int (*take)(void *context, const struct perfile_probe_entry *entry),
                        void *context, struct perfile_error *error)
{
    const struct listing listing = {take, context};
    const int folder = open_folder(tracefs, error);
    if (folder < 0)
        return folder;
    int result = list_file(&listing, folder, true, error);
    if (result == 0)
        result = list_file(&listing, folder, false, error);
    close(folder);
    return result;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The last sentence of error_log: "[ 12.3] trace_uprobe: error: Invalid argument". */
static void last_reason(int folder, char *reason, size_t capacity)
{
    struct pf_text text;
    *reason = '\0';
    if (pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL) < 0)
        return;
    if (pf_read_file(folder, "error_log", &text, FILE_BYTES_MAX)) {
        static const char mark[] = "error: ";
        pf_put_char(&text, '\0');
        for (const char *at = text.data; (at = strstr(at, mark)); at += strlen(mark))
            snprintf(reason, capacity, ": %.*s", (int)strcspn(at + strlen(mark), "\n"), at + strlen(mark));
    }
    pf_text_close(&text);
}

static int write_line(int folder, bool is_kernel, const char *line, struct perfile_error *error)
{
    char reason[200];
    const size_t bytes = strlen(line);
    /* without O_APPEND the kernel removes all other probes */
    const int fd = openat(folder, file_of(is_kernel), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return fail_open(is_kernel, errno, error);
    const ssize_t written = write(fd, line, bytes);
    const int why = errno;
    close(fd);
    if (written == (ssize_t)bytes)
        return 0;
    if (written >= 0 || why == EBUSY)
        return pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, what, "%.*s: %s", (int)(bytes - 1), line,
                       written >= 0 ? "it was not written completely" : "the event is in use, such as by a recording");
    last_reason(folder, reason, sizeof(reason));
    return pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, what, "the kernel refuses %.*s: %s%s",
                   (int)(bytes - 1), line, pf_error_text(why), reason);
}

int perfile_probes_write(const char *tracefs, bool is_kernel, const char *line, struct perfile_error *error)
{
    const int folder = open_folder(tracefs, error);
    int result = folder;
    if (folder < 0)
        return result;
    char *text = pf_text_format(pf_allocator_or_default(NULL), "%s\n", line);
    result = text ? write_line(folder, is_kernel, text, error) : pf_fail_memory(error, what);
    pf_text_free(pf_allocator_or_default(NULL), text);
    close(folder);
    return result;
}
