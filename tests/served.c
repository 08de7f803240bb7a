/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into the command, which then runs with other arguments again and again (served.py): SERVED is
 * "FROM,TO,SECONDS", two descriptors and how long a run may take before SIGALRM ends it. The arguments of one run are
 * read from the first: how many bytes they are in decimal digits, a line end, and the words, each followed by a 0. The
 * result is a line of the second: the exit status (negative: the signal), and the peak of its memory in KiB.
 *
 * Each run is a child that was forked before main() begins: it takes much longer to load a program than to run it.
 */
#include <stdlib.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 256, BYTES_MAX = 1 << 20 };

typedef int main_function(int count, char **words, char **environment);
typedef int start_function(main_function *program, int count, char **words, void (*begin)(void), void (*end)(void),
                           void (*end_of_loader)(void), void *stack);

start_function __libc_start_main;
static main_function *served;
static unsigned seconds_max;
static char request[BYTES_MAX];

static void require(bool fine)
{
    if (!fine)
        abort();
}

/* How many bytes the words are; 0 at the end. */
static size_t read_size(int from)
{
    size_t bytes = 0;
    char digit;
    while (read(from, &digit, 1) == 1 && digit != '\n')
        bytes = bytes * 10 + (size_t)(digit - '0');
    return bytes;
}

static int read_words(int from, size_t bytes, char **words)
{
    int count = 1; /* the first is the program's name, which stays */
    require(bytes < BYTES_MAX);
    for (size_t at = 0; at < bytes;) {
        const ssize_t more = read(from, request + at, bytes - at);
        require(more > 0);
        at += (size_t)more;
    }
    for (char *word = request; word < request + bytes; word += strlen(word) + 1) {
        require(count < WORDS_MAX);
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

static int serve(int from, int to, char **environment, char *name)
{
    char *words[WORDS_MAX + 1] = {name};
    size_t bytes;
    unsetenv("SERVED");
    unsetenv("LD_PRELOAD");
    while ((bytes = read_size(from)) > 0) {
        const int count = read_words(from, bytes, words);
        struct rusage used;
        int status;
        const pid_t child = fork();
        if (child == 0) {
            alarm(seconds_max);
            close(from);
            close(to);
            return served(count, words, environment);
        }
        require(child > 0 && wait4(child, &status, 0, &used) == child);
        dprintf(to, "%d %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), used.ru_maxrss);
    }
    _exit(0);
}

static int serve_or_run(int count, char **words, char **environment)
{
    const char *text = getenv("SERVED");
    int from, to;
    if (!text || sscanf(text, "%d,%d,%u", &from, &to, &seconds_max) != 3)
        return served(count, words, environment);
    return serve(from, to, environment, words[0]);
}

int __libc_start_main(main_function *program, int count, char **words, void (*begin)(void), void (*end)(void),
                      void (*end_of_loader)(void), void *stack)
{
    start_function *start;
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&start, &found, sizeof(start));
    require(start);
    served = program;
    return start(serve_or_run, count, words, begin, end, end_of_loader, stack);
}
#else
typedef int nothing; /* other C libraries: the command is started for each run */
#endif
