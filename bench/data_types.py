#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `report -s type` costs beside `report` of the same recording: data_types.py PERFILE [FOLDER]

A program with debug info is recorded for some seconds, with and without callchains. Its samples are repeated, with later
times, until the records take 100 MB. A table with the CPU seconds (user + system) of one thread, medians of 3 in turn,
goes to stdout."""
import os
import pathlib
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
struct vector { double x, y, z; };
struct body { struct vector position, speed; double mass; long hits; struct body *next; };
struct node { struct node *left, *right; unsigned long key; struct body *owner; };
static struct node *insert(struct node *root, struct node *new)
{
    struct node **at = &root;
    while (*at)
        at = new->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = new;
    return root;
}
static __attribute__((noinline)) struct body *find(const struct node *at, unsigned long key)
{
    struct body *last = NULL;
    for (; at; at = key < at->key ? at->left : at->right)
        last = at->owner;
    return last;
}
static __attribute__((noinline)) void move(struct body *all, double step)
{
    for (struct body *b = all; b; b = b->next) {
        b->position.x += b->speed.x * step;
        b->position.y += b->speed.y * step;
        b->position.z += b->speed.z * step;
    }
}
static __attribute__((noinline)) double energy(const struct body *all)
{
    double sum = 0;
    for (const struct body *b = all; b; b = b->next)
        sum += b->mass * (b->speed.x * b->speed.x + b->speed.y * b->speed.y + b->speed.z * b->speed.z) / 2;
    return sum;
}
int main(int argc, char **argv)
{
    enum { COUNT = 20000 };
    struct body *bodies = calloc(COUNT, sizeof(*bodies));
    struct node *nodes = calloc(COUNT, sizeof(*nodes)), *root = NULL;
    double sum = 0;
    unsigned long key = 1;
    const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
    for (int i = 0; i < COUNT; i++) {
        bodies[i].next = i + 1 < COUNT ? bodies + i + 1 : NULL;
        bodies[i].mass = i;
        bodies[i].speed.x = i % 7;
        nodes[i].key = key = key * 6364136223846793005ul + 1442695040888963407ul;
        nodes[i].owner = bodies + i;
        root = insert(root, nodes + i);
    }
    while (time(NULL) < end) {
        move(bodies, 0.1);
        sum += energy(bodies);
        for (int i = 0; i < COUNT; i++) {
            key = key * 6364136223846793005ul + 1;
            struct body *b = find(root, key);
            b->hits++;
            b->speed.y += 0.001;
        }
    }
    printf("%g\n", sum);
    return 0;
}
'''
BYTES, SECONDS, RUNS = 100_000_000, 8, 3
KINDS = {'flat': ['-e', 'cpu-clock:u'], 'callchain': []}

SAMPLE, TID, TIME, IP, IDENTIFIER = 9, 1 << 1, 1 << 2, 1 << 0, 1 << 16


def records(data):
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from('<IHH', data, at)
        yield kind, data[at:at + size]
        at += size


def repeat(name, wanted, new):
    """Repeats the samples, each time with later times, until the records take so many bytes; others stay once."""
    content = open(name, 'rb').read()
    attrs_at, attrs_bytes, data_at, data_bytes = struct.unpack_from('<QQQQ', content, 24)
    sample_type, = struct.unpack_from('<Q', content, attrs_at + 24)
    at_time = 8 + 8 * sum(bool(sample_type & bit) for bit in (IDENTIFIER, IP, TID))
    assert sample_type & TIME and content[:8] == b'PERFILE2'
    data = content[data_at:data_at + data_bytes]
    once = [record for kind, record in records(data) if kind != SAMPLE and kind < 64]
    samples = sorted((record for kind, record in records(data) if kind == SAMPLE),
                     key=lambda record: struct.unpack_from('<Q', record, at_time)[0])
    times = [struct.unpack_from('<Q', record, at_time)[0] for record in samples]
    span, bytes_once = times[-1] - times[0] + 1, sum(map(len, samples))
    body = bytearray(b''.join(once))
    shift = 0
    while len(body) < wanted and bytes_once:
        for record, time in zip(samples, times):
            body += record[:at_time] + struct.pack('<Q', time + shift) + record[at_time + 8:]
        shift += span
    with open(new, 'wb') as out:
        head = bytearray(content[:data_at])
        struct.pack_into('<Q', head, 48, len(body))
        grown = len(body) - data_bytes
        features = bytearray(content[data_at + data_bytes:])
        bits = int.from_bytes(head[72:104], 'little')
        for i in range(bin(bits).count('1')):
            offset, = struct.unpack_from('<Q', features, 16 * i)
            struct.pack_into('<Q', features, 16 * i, offset + grown)
        out.write(head + body + features)


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(perfile, recording):
    plain, types = [], []
    for _ in range(RUNS):
        plain.append(cpu_seconds([perfile, 'report', '-j1', '--stdio', recording]))
        types.append(cpu_seconds([perfile, 'report', '-j1', '--stdio', '-s', 'type', recording]))
    return statistics.median(plain), statistics.median(types), statistics.median(t / p for p, t in zip(plain, types))


def main(perfile, folder):
    (folder / 'shapes.c').write_text(PROGRAM)
    subprocess.run(['cc', '-O2', '-g', '-o', folder / 'shapes', folder / 'shapes.c'], check=True)
    print('| recording | `report` | `report -s type` | ratio |\n|---|---|---|---|')
    for kind, options in KINDS.items():
        short, long = folder / f'{kind}.short.data', folder / f'{kind}.data'
        subprocess.run([perfile, 'record', '-q', *options, '-F', '20000', '-o', short, folder / 'shapes', str(SECONDS)],
                       stdout=subprocess.DEVNULL, check=True)
        repeat(short, BYTES, long)
        print('| {} | {:.3f} | {:.3f} | {:.2f} |'.format(kind, *measure(perfile, long)), flush=True)
        os.unlink(long)


with tempfile.TemporaryDirectory() as made:
    main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else made))
