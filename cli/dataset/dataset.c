/* SPDX-License-Identifier: MIT */
#include "dataset.h"

#include "../litter.h"
#include "../message.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct pf_dataset_table pf_dataset_tables[PF_DATASET_TABLES] = {
    {"frames", "function_id,symbol,kind,dso,build_id,srcfile", "function", "function_id"},
    {"stacks", "stack_id,stack,function_ids", "stack", "stack_id"},
    {"threads", "pid,tid,comm,first_comm,parent_pid,parent_tid,start_time,end_time,first_time,last_time,samples,lost",
     NULL, NULL},
    {"events", "name,type,config,precise_ip,period,frequency,unit,samples", NULL, NULL},
    {"losses", "kind,count,unit,note", NULL, NULL},
    {"meta", "file,times_from,kernel,arch,cpu,recorded_with,command,samples,first_time,last_time,perfile_version", NULL,
     NULL},
    {"samples", "time,event,period,cpu,pid,tid,comm,cgroup,mode,symbol,dso,stack_id", NULL, NULL},
};

/* ---- partition keys ---------------------------------------------------------------------------------------------- */

const struct pf_value pf_dataset_keys_known[] = {
    {"host", "the name of the machine", PF_BY_HOST},
    {"date", "the day on which it began, in UTC", PF_BY_DATE},
    {"hour", "the hour of that day", PF_BY_HOUR},
    {"none", "nothing: all files of a table are in one folder", 0},
    {0},
};

bool pf_dataset_keys(const char *verb, const char *list, unsigned *keys)
{
    *keys = 0;
    for (const char *at = list; *at;) {
        const size_t bytes = strcspn(at, ",");
        const struct pf_value *key = pf_dataset_keys_known;
        while (key->name && (strlen(key->name) != bytes || strncmp(at, key->name, bytes) != 0))
            key++;
        if (!key->name) {
            pf_message("%s: --partition: unknown key '%.*s'; valid: host, date, hour, none", verb, (int)bytes, at);
            return false;
        }
        *keys |= key->number;
        at += bytes + (at[bytes] == ',');
    }
    return true;
}

/* "host,date". */
static void put_keys(unsigned keys, char text[32])
{
    *text = 0;
    for (const struct pf_value *key = pf_dataset_keys_known; key->name; key++)
        if (key->number ? keys & key->number : !keys)
            snprintf(text + strlen(text), 32 - strlen(text), "%s%s", *text ? "," : "", key->name);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static const char version_key[] = "perfile dataset ";
/*
 * Version 1 had no digests of files, which makes it useless to check; markers of 3 may say that a recording was
 * removed.
 */
enum { FIRST_VERSION = 2 };

bool pf_dataset_make_folders(const char *path)
{
    char *copy = strdup(path);
    bool is_ok = copy != NULL;

    for (char *slash = copy; is_ok && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = 0;
        is_ok = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    is_ok = is_ok && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    free(copy);
    return is_ok;
}

/* Appears complete under its name. */
static bool write_small(const char *path, const char *text)
{
    char *temporary = NULL;
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    bool is_ok = false;

    if (asprintf(&temporary, "%.*s.%s.%ld.tmp", folder, path, path + folder, (long)getpid()) < 0)
        return false;
    unlink(temporary);
    pf_litter_add(temporary);
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        is_ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
        is_ok = close(fd) == 0 && is_ok && rename(temporary, path) == 0;
    }
    if (fd >= 0 && !is_ok) {
        const int error = errno;
        unlink(temporary);
        errno = error;
    }
    pf_litter_drop(temporary);
    free(temporary);
    return is_ok;
}

/* Reads a complete small file, to be freed. NULL: see errno. */
static char *read_small(const char *path)
{
    enum { MAX = 1 << 24 };
    FILE *file = fopen(path, "re");
    struct stat status;
    const size_t capacity =
        file && fstat(fileno(file), &status) == 0 && status.st_size < MAX ? (size_t)status.st_size : 0;
    char *text = file ? malloc(capacity + 1) : NULL;
    const size_t bytes = text ? fread(text, 1, capacity, file) : 0;

    if (text)
        text[bytes] = 0;
    if (file)
        fclose(file);
    return text;
}

bool pf_write_checked(const char *path, const char *text)
{
    char *complete = NULL, sum[PF_DIGEST_TEXT];
    struct pf_digest digest;

    pf_digest_start(&digest);
    pf_digest_add(&digest, text, strlen(text));
    pf_digest_text(&digest, sum);
    const bool is_ok = asprintf(&complete, "%send %s\n", text, sum) >= 0 && write_small(path, complete);
    free(complete);
    return is_ok;
}

char *pf_read_checked(const char *path)
{
    enum { END_BYTES = 4 + PF_DIGEST_TEXT }; /* "end ", and a new line instead of the 0 */
    char *text = read_small(path), end[END_BYTES + 1], sum[PF_DIGEST_TEXT];
    const size_t bytes = text ? strlen(text) : 0, kept = bytes > END_BYTES ? bytes - END_BYTES : 0;
    struct pf_digest digest;

    if (!text)
        return NULL;
    pf_digest_start(&digest);
    pf_digest_add(&digest, text, kept);
    pf_digest_text(&digest, sum);
    snprintf(end, sizeof(end), "end %s\n", sum);
    if (kept && !strcmp(text + kept, end)) {
        text[kept] = 0;
        return text;
    }
    free(text);
    errno = EBADMSG;
    return NULL;
}

static char *root_file(const struct pf_dataset *dataset, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/_perfile/%s", dataset->path, name) < 0 ? NULL : path;
}

static bool write_about(const struct pf_dataset *dataset, const char *path)
{
    char text[96], keys[32];

    put_keys(dataset->keys, keys);
    snprintf(text, sizeof(text), "%s%d\npartition %s\n", version_key, PF_DATASET_VERSION, keys);
    return write_small(path, text);
}

bool pf_dataset_upgrade(const struct pf_dataset *dataset)
{
    char *path = root_file(dataset, "dataset");
    const bool is_ok = dataset->version == PF_DATASET_VERSION || (path && write_about(dataset, path));

    free(path);
    return is_ok;
}

const char *pf_dataset_time(uint64_t ns, char text[PF_DATASET_TIME])
{
    const time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm = {0};

    *text = 0;
    if (ns && gmtime_r(&seconds, &tm))
        strftime(text, PF_DATASET_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return text;
}

int pf_dataset_fail(const char *path)
{
    pf_message("%s: cannot write: %s", path, strerror(errno));
    return errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_OUTPUT;
}

static int make_dataset(struct pf_dataset *dataset, const char *path)
{
    static const char *const folders[] = {"recordings", "adding"};
    char *hidden = root_file(dataset, ".dataset");
    bool is_ok = true;

    if (hidden)
        pf_litter_sweep(hidden);
    free(hidden);
    dataset->version = PF_DATASET_VERSION;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && is_ok; i++) {
        char *folder = root_file(dataset, folders[i]);
        is_ok = folder && pf_dataset_make_folders(folder);
        free(folder);
    }
    return is_ok && write_about(dataset, path) ? PF_STATUS_OK : pf_dataset_fail(dataset->path);
}

static bool is_foreign(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool any = false;

    while (folder && !any && (entry = readdir(folder)) != NULL)
        any = strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strcmp(entry->d_name, "_perfile");
    if (folder)
        closedir(folder);
    return any;
}

/* Stores the version that the first line says. False, after a message: this perfile does not know it. */
static bool take_version(struct pf_dataset *dataset, const char *text)
{
    char *end = NULL;

    if (!strncmp(text, version_key, strlen(version_key)) && isdigit((unsigned char)text[strlen(version_key)]))
        dataset->version = strtoull(text + strlen(version_key), &end, 10);
    if (!end || *end != '\n')
        pf_message("%s: not a dataset that this version of perfile can read", dataset->path);
    else if (dataset->version < FIRST_VERSION)
        pf_message("%s: its layout has version %llu, which is not supported any more: create it again from the "
                   "recordings",
                   dataset->path, (unsigned long long)dataset->version);
    else if (dataset->version > PF_DATASET_VERSION)
        pf_message("%s: its layout has version %llu, and this perfile knows versions up to %d", dataset->path,
                   (unsigned long long)dataset->version, PF_DATASET_VERSION);
    else
        return true;
    return false;
}

static int compare_keys(struct pf_dataset *dataset, const char *verb, const char *text, const unsigned *keys)
{
    const char *line = strstr(text, "\npartition "), *end;
    char passed[32], known[32] = "";

    if (!take_version(dataset, text))
        return PF_STATUS_UNREADABLE;
    if (line && (end = strchr(line + 1, '\n')) != NULL)
        snprintf(known, sizeof(known), "%.*s", (int)(end - line - 11), line + 11);
    if (!*known || !pf_dataset_keys(verb, known, &dataset->keys)) {
        pf_message("%s: not a dataset that this version of perfile can read", dataset->path);
        return PF_STATUS_UNREADABLE;
    }
    if (!keys || *keys == dataset->keys)
        return PF_STATUS_OK;
    put_keys(*keys, passed);
    pf_message("%s: %s is partitioned by %s, not by %s", verb, dataset->path, known, passed);
    return PF_STATUS_USAGE;
}

int pf_dataset_open(struct pf_dataset *dataset, const char *verb, const char *path, const unsigned *keys)
{
    int status = PF_STATUS_OK;

    *dataset = (struct pf_dataset){.path = path, .keys = keys ? *keys : 0};
    char *about = root_file(dataset, "dataset"), *text = about ? read_small(about) : NULL;
    if (text) {
        status = compare_keys(dataset, verb, text, keys);
    } else if (!about || errno != ENOENT) {
        pf_message("%s: %s", path, strerror(errno));
        status = PF_STATUS_UNREADABLE;
    } else if (!keys || is_foreign(path)) {
        pf_message(keys ? "%s: %s is a folder of something else"
                        : "%s: %s is not a dataset (perfile export --partition makes one)",
                   verb, path);
        status = keys ? PF_STATUS_USAGE : PF_STATUS_UNREADABLE;
    } else {
        status = make_dataset(dataset, about);
    }
    free(text);
    free(about);
    return status;
}

char *pf_dataset_folder(const struct pf_dataset *dataset, const struct pf_added *added, size_t table)
{
    const struct pf_dataset_table *of = &pf_dataset_tables[table];
    const char *below = of->distinct ? added->shared : added->folder;
    char *path = NULL;

    return asprintf(&path, "%s/%s%s%s%s", dataset->path, added->state == PF_ADDED_DAMAGED ? "damaged/" : "", of->view,
                    *below ? "/" : "", below) < 0
               ? NULL
               : path;
}

char *pf_dataset_marker(const struct pf_dataset *dataset, const char *id)
{
    char *path = NULL;

    return asprintf(&path, "%s/_perfile/recordings/%s", dataset->path, id) < 0 ? NULL : path;
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static const char *const state_names[] = {"valid", "damaged", "unreadable", "removing", "removed"};
enum { STATES = sizeof(state_names) / sizeof(state_names[0]) };

static bool take_state(const char *value, struct pf_added *added)
{
    for (int i = 0; i < STATES; i++)
        if (!strcmp(state_names[i], value)) {
            added->state = (enum pf_added_state)i;
            return true;
        }
    return false;
}

static bool take_number(const char *value, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    return isdigit((unsigned char)*value) && !*end && !errno;
}

static bool take_text(const char *value, char **text)
{
    free(*text);
    return (*text = strdup(value)) != NULL;
}

static bool take_sum(const char *value, char sum[PF_DIGEST_TEXT])
{
    if (pf_is_digest(value))
        memcpy(sum, value, PF_DIGEST_TEXT);
    return *sum;
}

/* "TABLE VALUE" */
static bool take_of_table(const char *text, struct pf_added *added, bool is_sum)
{
    const char *space = strchr(text, ' ');

    for (size_t i = 0; space && i < PF_DATASET_TABLES; i++) {
        const char *view = pf_dataset_tables[i].view;
        if (strlen(view) == (size_t)(space - text) && !strncmp(view, text, strlen(view)))
            return is_sum ? take_sum(space + 1, added->sums[i]) : take_number(space + 1, &added->rows[i]);
    }
    return false;
}

/* "KEY VALUE". What later versions may add is left out. */
static bool take_line(char *line, struct pf_added *added)
{
    char *value = strchr(line, ' ');

    if (!value)
        return false;
    *value++ = 0;
    if (!strcmp(line, "state"))
        return take_state(value, added);
    if (!strcmp(line, "rows") || !strcmp(line, "sum"))
        return take_of_table(value, added, !strcmp(line, "sum"));
    const struct {
        const char *key;
        char **text;
    } texts[] = {
        {"file", &added->name}, {"host", &added->host}, {"folder", &added->folder}, {"shared", &added->shared}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!strcmp(line, texts[i].key))
            return take_text(value, texts[i].text);
    const struct {
        const char *key;
        uint64_t *number;
    } numbers[] = {{"bytes", &added->bytes},
                   {"samples", &added->samples},
                   {"lost", &added->lost},
                   {"time", &added->time_ns},
                   {"removed", &added->removed_s}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (!strcmp(line, numbers[i].key))
            return take_number(value, numbers[i].number);
    return true;
}

int pf_added_read(const struct pf_dataset *dataset, const char *id, struct pf_added *added)
{
    char *path = pf_dataset_marker(dataset, id), *text = path ? pf_read_checked(path) : NULL, *rest;
    bool is_ok = text != NULL;

    *added = (struct pf_added){.state = PF_ADDED_UNREADABLE};
    snprintf(added->id, sizeof(added->id), "%s", id);
    free(path);
    if (!text)
        return errno == ENOENT ? 0 : -1;
    for (char *line = strtok_r(text, "\n", &rest); line && is_ok; line = strtok_r(NULL, "\n", &rest))
        is_ok = take_line(line, added);
    free(text);
    if (is_ok && added->name && added->host)
        return 1;
    pf_added_free(added);
    errno = EBADMSG;
    return -1;
}

/* Texts are lines. */
static void make_line(char *text)
{
    for (; text && *text; text++)
        if (*text == '\n' || *text == '\r')
            *text = '?';
}

bool pf_added_write(const struct pf_dataset *dataset, const struct pf_added *added)
{
    char *path = pf_dataset_marker(dataset, added->id), *text = NULL;
    size_t bytes = 0;
    FILE *file = path ? open_memstream(&text, &bytes) : NULL;

    if (file) {
        make_line(added->name);
        make_line(added->host);
        fprintf(file,
                "state %s\nfile %s\nhost %s\nfolder %s\nshared %s\nbytes %" PRIu64 "\nsamples %" PRIu64
                "\nlost %" PRIu64 "\ntime %" PRIu64 "\n",
                state_names[added->state], added->name, added->host, added->folder ? added->folder : "",
                added->shared ? added->shared : "", added->bytes, added->samples, added->lost, added->time_ns);
        for (size_t i = 0; i < PF_DATASET_TABLES; i++)
            fprintf(file, "rows %s %" PRIu64 "\n", pf_dataset_tables[i].view, added->rows[i]);
        if (added->removed_s)
            fprintf(file, "removed %" PRIu64 "\n", added->removed_s);
        for (size_t i = 0; i < PF_DATASET_TABLES; i++)
            if (*added->sums[i])
                fprintf(file, "sum %s %s\n", pf_dataset_tables[i].view, added->sums[i]);
    }
    const bool is_ok = file && fclose(file) == 0 && pf_write_checked(path, text);
    free(text);
    free(path);
    return is_ok;
}

void pf_added_free(struct pf_added *added)
{
    free(added->name);
    free(added->host);
    free(added->folder);
    free(added->shared);
    added->name = added->host = added->folder = added->shared = NULL;
}

int pf_compare_digests(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool pf_is_digest(const char *name)
{
    return strlen(name) == PF_DIGEST_TEXT - 1 && strspn(name, "0123456789abcdef") == PF_DIGEST_TEXT - 1;
}

bool pf_file_has_sum(const char *path, const char *sum)
{
    char found[PF_DIGEST_TEXT];
    uint64_t bytes;

    return !*sum || (pf_digest_path(path, found, &bytes) && !strcmp(found, sum));
}

char *pf_added_list(const struct pf_dataset *dataset, size_t *count)
{
    char *path = root_file(dataset, "recordings"), *ids = malloc(1);
    DIR *folder = path ? opendir(path) : NULL;
    const struct dirent *entry;
    size_t capacity = 0;

    *count = 0;
    free(path);
    while (ids && folder && (entry = readdir(folder)) != NULL) {
        if (!pf_is_digest(entry->d_name))
            continue;
        if (*count == capacity) {
            char *more = realloc(ids, (capacity = capacity ? 2 * capacity : 256) * PF_DIGEST_TEXT);
            if (!more)
                free(ids);
            if (!(ids = more))
                break;
        }
        memcpy(ids + (*count)++ * PF_DIGEST_TEXT, entry->d_name, PF_DIGEST_TEXT);
    }
    if (ids && folder)
        qsort(ids, *count, PF_DIGEST_TEXT, pf_compare_digests);
    if (!folder) {
        free(ids);
        return NULL;
    }
    closedir(folder);
    return ids;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* Locks belong to the open file and end with it. Other machines see them where the file system forwards locks. */
static bool lock(int fd, short type, bool wait)
{
    struct flock wanted = {.l_type = type, .l_whence = SEEK_SET};

    while (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &wanted) != 0) {
        if (errno == EINVAL || errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
            return true;
        if (errno != EINTR) {
            errno = errno == EACCES ? EAGAIN : errno;
            return false;
        }
    }
    return true;
}

/* True while the locked file is still the one at this path. */
static bool is_current(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static char *lock_path(const struct pf_dataset *dataset, const char *id)
{
    char *path = NULL;

    return asprintf(&path, "%s/_perfile/adding/%s", dataset->path, id) < 0 ? NULL : path;
}

int pf_lock_recording(const struct pf_dataset *dataset, const char *id, bool wait)
{
    char *path = lock_path(dataset, id);
    int fd = -1, error = path ? 0 : ENOMEM;

    while (path && fd < 0 && !error) {
        if ((fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0 || !lock(fd, F_WRLCK, wait))
            error = errno;
        if (fd >= 0 && (error || !is_current(fd, path))) {
            close(fd);
            fd = -1;
        }
    }
    free(path);
    errno = error;
    return fd;
}

void pf_unlock_recording(const struct pf_dataset *dataset, const char *id, int fd)
{
    char *path = lock_path(dataset, id);

    if (path)
        unlink(path);
    free(path);
    close(fd);
}

static int lock_file(const struct pf_dataset *dataset, const char *name, short type)
{
    char *path = root_file(dataset, name);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;

    if (fd >= 0 && !lock(fd, type, true)) {
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

int pf_lock_dataset(const struct pf_dataset *dataset)
{
    return lock_file(dataset, "lock", F_WRLCK);
}

int pf_lock_placing(const struct pf_dataset *dataset, bool alone)
{
    return lock_file(dataset, "placing", alone ? F_WRLCK : F_RDLCK);
}

void pf_unlock_dataset(int fd)
{
    close(fd);
}
