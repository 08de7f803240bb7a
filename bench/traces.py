#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what perfile makes of a trace of Arm SPE, beside perf: traces.py PERFILE [RECORDS]

Makes a recording of records of four kinds (200,000 unless stated, 64 bytes each), and prints a table of the medians of
three runs. CPU seconds are user + system time. Peers are `perf` in PATH and that of the folder PERFILE_LAB.
"""
import os
import pathlib
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

RUNS = 3
PIECE = 65536
TASKS = [
    ('`info --count`: packets', ['info', '--count'], None),
    ('`table aux_queues`', ['table', 'aux_queues', '-q'], None),
    ('`inject --itrace=i1i`', ['inject', '-q', '--itrace=i1i', '-o', '/dev/null'], ['inject', '--itrace=i1i', '-o', '/dev/null', '-i']),
    ('`script --itrace=i1i -F ip`', ['script', '-q', '-j1', '--itrace=i1i', '-F', 'ip'], ['script', '--itrace=i1i', '-F', 'ip', '-i']),
    ('`report --itrace=i1i`', ['report', '-q', '-j1', '--stdio', '--no-inline', '--itrace=i1i'], ['report', '--stdio', '--no-inline', '--itrace=i1i', '-i']),
]


def address(header, value):
    return struct.pack('<BQ', header, value)


def record(parts):
    """The bytes of a record, and where its time goes."""
    body = b''.join(parts) + b'\x71'
    return bytearray((body + bytes(8)).ljust(64, b'\0')), len(body)


def templates():
    context = b'\x65' + struct.pack('<I', 1000)
    load = [address(0xb0, 0x401000), context, b'\x49\0', address(0xb2, 0x7fff00001000), address(0xb3, 0x12345000), b'\x98\x14\0', b'\x62\x16\0\0\0', b'\x43\0']
    miss = [address(0xb0, 0x401004), context, b'\x49\0', address(0xb2, 0x7fff00002008), address(0xb3, 0x22345008), b'\x98\x2c\x01', b'\x62\x3e\x07\0\0', b'\x43\x0d']
    branch = [address(0xb0, 0x40100c), context, b'\x4a\x01', address(0xb1, 0x401005), b'\x98\x06\0', b'\x62\x82\0\0\0']
    other = [address(0xb0, 0x401010), context, b'\x48\0', b'\x98\x02\0', b'\x62\x02\0\0\0']
    return [record(parts) for parts in (load, miss, branch, other)]


def kernel_record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def make(path, count):
    identifier, sample_type = 101, 0x10087  # IDENTIFIER, IP, TID, TIME, CPU
    attr = struct.pack('<IIQQQQQ', 10, 136, 1, 1, sample_type, 0, 1 << 18).ljust(136, b'\0')
    trailer = struct.pack('<IIQIIQ', 1000, 1000, 900000, 0, 0, identifier)
    data = kernel_record(79, 0, struct.pack('<QQQQQBB6x', 0, 1, 0, 0, 2**56 - 1, 1, 1))
    data += kernel_record(70, 0, struct.pack('<II11Q', 4, 0, 2, 4, 10, 1, 0x1010101010101010, 0, 4, 0x410fd0c0, 10, 256, 7))
    data += kernel_record(3, 2, struct.pack('<II', 1000, 1000) + b'prog\0\0\0\0' + trailer)
    data, index, kinds = bytearray(data), [], templates()
    for first in range(0, count, PIECE):
        piece = bytearray()
        for i in range(first, min(first + PIECE, count)):
            body, at = kinds[i & 3]
            struct.pack_into('<Q', body, at, 1000000 + 10 * i)
            piece += body
        index.append(len(data))
        data += struct.pack('<IHHQQQIiiI', 71, 0, 48, len(piece), first * 64, 950000, 0, 1000, 0, 0) + piece
    data += kernel_record(4, 0, struct.pack('<IIIIQ', 1000, 1, 1000, 1, 2000000 + 10 * count) + trailer)
    ids = 104 + 152
    start = ids + 8
    feature = struct.pack('<Q', len(index)) + b''.join(struct.pack('<QQ', start + at, 48) for at in index)
    table = start + len(data)
    header = b'PERFILE2' + struct.pack('<8Q', 104, 152, 104, 152, start, len(data), 0, 0) + struct.pack('<4Q', 1 << 18, 0, 0, 0)
    path.write_bytes(header + attr + struct.pack('<QQ', ids, 8) + struct.pack('<Q', identifier) + data +
                     struct.pack('<QQ', table + 16, len(feature)) + feature)


def measure(command):
    seconds, peak = [], 0
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            return None
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        peak = after.ru_maxrss
    return statistics.median(seconds), peak


def main():
    perfile, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200000
    perf = shutil.which('perf') if 'PERFILE_LAB' not in os.environ else f'{os.environ["PERFILE_LAB"]}/in-lab'
    with tempfile.TemporaryDirectory(prefix='perfile-bench-') as folder:
        path = pathlib.Path(folder) / 'spe.data'
        make(path, count)
        print('| task | perfile, CPU s | million records/s | perf, CPU s |\n|---|--:|--:|--:|')
        for name, ours, theirs in TASKS:
            mine = measure([perfile, *ours, path])
            peer = measure([perf, *(['perf'] if perf.endswith('in-lab') else []), *theirs, path]) if perf and theirs else None
            cells = [f'{mine[0]:.3f}', f'{count / mine[0] / 1e6:.1f}'] if mine else ['fails', '']
            print(f'| {name} | {" | ".join(cells)} | {f"{peer[0]:.3f}" if peer else "fails" if perf and theirs else ""} |', flush=True)


main()
