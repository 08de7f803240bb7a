/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into the command, which then runs with other arguments again and again: SERVED is "FROM,TO,SECONDS", two
 * descriptors and how long a run may take before SIGALRM ends it. A line of words with tabs between them that can be read from
 * the first is the arguments of one run, whose standard input and output are /dev/null. What comes of it is a line of the
 * second: the exit status (negative: the signal), the peak of its memory in KiB, and how many bytes follow: the beginning of
 * what it said.
 *
 * Each run is a child that was forked before main() begins: it takes much longer to load a program than to run it.
 */
#include <stdlib.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MOST = 64, SAID_MOST = 2048 };

typedef int main_function(int count, char **words, char **environment);
typedef int start_function(main_function *program, int count, char **words, void (*begin)(void), void (*end)(void),
                           void (*end_of_loader)(void), void *stack);

start_function __libc_start_main;
static main_function *served;
static unsigned seconds_most;

static void require(bool fine)
{
    if (!fine)
        abort();
}

static int split(char *line, char **words)
{
    int count = 1; /* the first is the program's name, which stays */
    for (char *word = strtok(line, "\t\n"); word; word = strtok(NULL, "\t\n")) {
        require(count < WORDS_MOST);
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

static void become(int err)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    require(dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 && dup2(err, 2) == 2);
    close(nothing);
    close(err);
    alarm(seconds_most);
}

static void answer(int to, int status, const struct rusage *used, int err)
{
    char said[SAID_MOST];
    const ssize_t bytes = pread(err, said, sizeof(said), 0);
    require(bytes >= 0);
    dprintf(to, "%d %ld %zd\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), used->ru_maxrss, bytes);
    require(write(to, said, (size_t)bytes) == bytes);
}

static int serve(FILE *from, int to, char **environment, char *name)
{
    char *line = NULL, *words[WORDS_MOST + 1] = {name};
    size_t room = 0;
    while (getline(&line, &room, from) > 0) {
        const int count = split(line, words), err = memfd_create("err", MFD_CLOEXEC);
        struct rusage used;
        int status;
        require(err >= 0);
        const pid_t child = fork();
        if (child == 0) {
            become(err);
            close(fileno(from)); /* the stream stays: it would read on in the file that both have */
            close(to);
            return served(count, words, environment);
        }
        require(child > 0 && wait4(child, &status, 0, &used) == child);
        answer(to, status, &used, err);
        close(err);
    }
    free(line);
    _exit(0);
}

static int serve_or_run(int count, char **words, char **environment)
{
    const char *text = getenv("SERVED");
    int from, to;
    if (!text || sscanf(text, "%d,%d,%u", &from, &to, &seconds_most) != 3)
        return served(count, words, environment);
    return serve(fdopen(from, "r"), to, environment, words[0]);
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
