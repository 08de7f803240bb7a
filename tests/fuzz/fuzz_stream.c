/* SPDX-License-Identifier: MIT */
/* A recording that comes through a pipe in pieces of odd sizes. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "fuzz.h"

struct writer {
    int fd;
    const uint8_t *data;
    size_t bytes;
};

static void *write_pieces(void *context)
{
    const struct writer *writer = context;
    uint32_t chance = (uint32_t)writer->bytes * 2654435761u + 1;
    size_t done = 0;
    while (done < writer->bytes) {
        chance = chance * 1664525 + 1013904223;
        size_t left = writer->bytes - done, piece = 1 + (chance >> 8) % (chance >> 31 ? 23 : 5000);
        ssize_t n = write(writer->fd, writer->data + done, piece < left ? piece : left);
        if (n <= 0)
            break; /* the reader has seen enough */
        done += (size_t)n;
    }
    close(writer->fd);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    pthread_t thread;
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    FUZZ_REQUIRE(pipe(ends) == 0);
    struct writer writer = {ends[1], data, bytes};
    FUZZ_REQUIRE(pthread_create(&thread, NULL, write_pieces, &writer) == 0);
    if (perfile_open_fd(ends[0], &options, &reader, NULL) == 0) {
        fuzz_walk(reader, true);
        perfile_close(reader);
    }
    close(ends[0]);
    pthread_join(thread, NULL);
    return 0;
}
