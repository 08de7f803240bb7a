/* SPDX-License-Identifier: MIT */
/*
 * measure RESULT COMMAND...: runs COMMAND and writes "STATUS CPU-SECONDS WALL-SECONDS PEAK-KB" to the file RESULT.
 *
 * A program of its own because the peak that the system reports for a process is never below that of the process that
 * started it: an interpreter would hide small ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;

    if (argc < 3)
        return 2;
    const double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    const double wall = now() - start;
    FILE *result = fopen(argv[1], "w");
    if (!result)
        return 1;
    fprintf(result, "%d %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), wall, usage.ru_maxrss);
    return fclose(result) != 0;
}
