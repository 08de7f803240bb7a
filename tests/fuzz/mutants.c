/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over mutants of recordings, which keep the format of recordings, without any fuzzer:
 *
 *     mutants_TARGET [--count N] [--first N] [--timeout S] [--keep DIR] [--write DIR] RECORDINGS AND FOLDERS...
 *
 * Mutant number n is the same for the same recordings everywhere: `--first n --count 1` makes it again. A child does
 * the work, and another one goes on after a mutant that ended it. Exit status 1 when there were any. With --write the
 * mutants only become files, for other programs: DIR/mutant-NUMBER.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "mutate.h"

enum {
    SEEDS_MAX = 16384,
    SEED_BYTES_MAX = 48 << 10,
    MUTANT_BYTES_MAX = 256 << 10,
    ROUND = 200, /* mutants of one child */
};

struct seed {
    const char *path;
    uint8_t *data;
    size_t bytes;
};

static struct {
    struct seed seeds[SEEDS_MAX];
    size_t seed_count;
    uint64_t first, count;
    unsigned timeout;
    const char *keep, *write;
    uint64_t *now; /* shared with the children: the mutant that is looked at */
} run = {.count = 1000, .timeout = 30};

const char *__ubsan_default_options(void);

/* What UBSan finds ends the child, as what ASan finds does. */
const char *__ubsan_default_options(void)
{
    return "halt_on_error=1:print_stacktrace=1";
}

int malloc_trim(size_t kept);

/* What the library gives back it would ask for again, thousands of times. */
int malloc_trim(size_t kept)
{
    (void)kept;
    return 0;
}

/* ---- seeds ---- */

static bool is_recording(const uint8_t *data, size_t bytes)
{
    return bytes >= 16 &&
           (memcmp(data, "PERFILE2", 8) == 0 || memcmp(data, "2ELIFREP", 8) == 0 || memcmp(data, "PERFFILE", 8) == 0);
}

static void add_file(const char *path, size_t bytes)
{
    FILE *file = bytes && bytes <= SEED_BYTES_MAX && run.seed_count < SEEDS_MAX ? fopen(path, "rb") : NULL;
    uint8_t *data = file ? malloc(bytes) : NULL;
    if (data && fread(data, 1, bytes, file) == bytes && is_recording(data, bytes))
        run.seeds[run.seed_count++] = (struct seed){strdup(path), data, bytes};
    else
        free(data);
    if (file)
        fclose(file);
}

/* In an order that depends on nothing but names. */
static void add(const char *path)
{
    struct stat status;
    struct dirent **names;
    if (lstat(path, &status) < 0)
        return;
    if (S_ISREG(status.st_mode))
        add_file(path, (size_t)status.st_size);
    const int count = S_ISDIR(status.st_mode) ? scandir(path, &names, NULL, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof(inside), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            add(inside);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* ---- mutants ---- */

static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
    return (number ^ number >> 33) * 0xc4ceb9fe1a85ec53;
}

static const struct seed *seed_of(uint64_t number)
{
    return &run.seeds[mix(2 * number + 1) % run.seed_count];
}

static struct mutant make(uint64_t number, uint8_t *capacity)
{
    const struct seed *seed = seed_of(number), *other = seed_of(~number);
    struct mutant mutant = {.data = capacity,
                            .bytes = seed->bytes,
                            .capacity = MUTANT_BYTES_MAX,
                            .other = other->data,
                            .other_bytes = other->bytes,
                            .chance = mix(number)};
    memcpy(capacity, seed->data, seed->bytes);
    mutate(&mutant);
    return mutant;
}

/* In a block of exactly its size, so that a sanitizer knows where it ends. */
static void look_at(uint64_t number)
{
    static uint8_t capacity[MUTANT_BYTES_MAX];
    const struct mutant mutant = make(number, capacity);
    uint8_t *data = malloc(mutant.bytes ? mutant.bytes : 1);
    FUZZ_REQUIRE(data);
    memcpy(data, mutant.data, mutant.bytes);
    *run.now = number;
    alarm(run.timeout);
    LLVMFuzzerTestOneInput(data, mutant.bytes);
    alarm(0);
    free(data);
}

static bool write_file(const char *folder, uint64_t number)
{
    static uint8_t capacity[MUTANT_BYTES_MAX];
    const struct mutant mutant = make(number, capacity);
    char path[4096];
    snprintf(path, sizeof(path), "%s/mutant-%llu", folder, (unsigned long long)number);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(mutant.data, 1, mutant.bytes, file) == mutant.bytes;
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        perror(path);
    return written;
}

static bool write_files(uint64_t first, uint64_t end)
{
    bool written = true;
    for (uint64_t i = first; i < end && written; i++)
        written = write_file(run.write, i);
    return written;
}

/* ---- children ---- */

static void report(uint64_t number, int status)
{
    const char *path = seed_of(number)->path;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("mutant %llu of %s: took more than %u seconds\n", (unsigned long long)number, path, run.timeout);
    else
        printf("mutant %llu of %s: ended with %s %d\n", (unsigned long long)number, path,
               WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
    if (run.keep)
        write_file(run.keep, number);
}

/*
 * Returns where to go on: at `end`, or after the mutant that ended the child. What is only found at its end, as leaks
 * are, is looked for in ever smaller rounds.
 */
static uint64_t run_round(uint64_t first, uint64_t end, uint64_t *bad)
{
    int status;
    *run.now = UINT64_MAX;
    const pid_t child = fork();
    FUZZ_REQUIRE(child >= 0);
    if (child == 0) {
        for (uint64_t i = first; i < end; i++)
            look_at(i);
        *run.now = end;
        exit(0);
    }
    FUZZ_REQUIRE(waitpid(child, &status, 0) == child);
    if (status == 0)
        return end;
    if (*run.now == end && end - first > 1) {
        run_round(first, first + (end - first) / 2, bad);
        run_round(first + (end - first) / 2, end, bad);
        return end;
    }
    const uint64_t number = *run.now >= first && *run.now < end ? *run.now : first;
    report(number, status);
    ++*bad;
    return number + 1;
}

/* ---- the command line ---- */

static bool take_option(const char *name, const char *value)
{
    const uint64_t number = value ? strtoull(value, NULL, 10) : 0;
    if (strcmp(name, "--count") == 0)
        run.count = number;
    else if (strcmp(name, "--first") == 0)
        run.first = number;
    else if (strcmp(name, "--timeout") == 0)
        run.timeout = (unsigned)number;
    else if (strcmp(name, "--keep") == 0)
        run.keep = value;
    else if (strcmp(name, "--write") == 0)
        run.write = value;
    else
        return false;
    return value;
}

int main(int count, char **arguments)
{
    uint64_t bad = 0;
    for (int i = 1; i < count; i++) {
        if (take_option(arguments[i], i + 1 < count ? arguments[i + 1] : NULL))
            i++;
        else
            add(arguments[i]);
    }
    run.now = mmap(NULL, sizeof(*run.now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FUZZ_REQUIRE(run.now != MAP_FAILED);
    if (!run.seed_count) {
        fprintf(stderr, "%s: no recordings\n", arguments[0]);
        return 2;
    }
    const uint64_t end = run.first + run.count;
    if (run.write)
        return !write_files(run.first, end);
    for (uint64_t at = run.first; at < end;)
        at = run_round(at, at + ROUND < end ? at + ROUND : end, &bad);
    printf("%s: %llu mutants of %zu recordings: %llu with findings\n",
           strrchr(arguments[0], '/') ? strrchr(arguments[0], '/') + 1 : arguments[0], (unsigned long long)run.count,
           run.seed_count, (unsigned long long)bad);
    for (size_t i = 0; i < run.seed_count; i++) {
        free((void *)(uintptr_t)run.seeds[i].path);
        free(run.seeds[i].data);
    }
    return bad > 0;
}
