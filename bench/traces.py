#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what perfile makes of traces, beside perf: traces.py PERFILE [RECORDS], or traces.py PERFILE pt [MB [RUNS]]

Makes a recording of Arm SPE with records of four kinds (200,000 unless stated, 64 bytes each), or one of Intel PT (10 MB
unless stated), and prints a table of the medians of three runs. CPU seconds are user + system time. Peers are `perf` in
PATH and that of the folder PERFILE_LAB.
"""
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import calls

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


# start: mov $3,%ecx; 1: call g; dec %ecx; jnz 1b; jmp start; g: test $1,%ecx; jz 2f; nop; 2: ret
LOOP = bytes.fromhex('b903000000 e806000000 ffc9 75f7 ebf0 f7c101000000 7401 90 c3')
LOOP_INSNS, LOOP_PSB, LOOP_NS = 22, 1024, 40
PT_TASKS = [
    ('`report --itrace=i1i`', ['report', '-q', '--stdio', '--no-inline', '--itrace=i1i'], ['report', '--stdio', '--no-inline', '--itrace=i1i']),
    ('`report --itrace=i1us`', ['report', '-q', '--stdio', '--no-inline', '--itrace=i1us'], ['report', '--stdio', '--no-inline', '--itrace=i1us']),
    ('`script --itrace=i1i -F ip`', ['script', '-q', '--itrace=i1i', '-F', 'ip'], ['script', '--itrace=i1i', '-F', 'ip']),
    ('`script --itrace=b -F ip,addr`', ['script', '-q', '--itrace=b', '-F', 'ip,addr'], ['script', '--itrace=b', '-F', 'ip,addr']),
]


def make_pt(folder, megabytes):
    """
    Rounds of the loop, each with a time and its nine results; a PSB before LOOP_PSB of them, which begin at a multiple of
    65,536 ns: so only few bytes differ from one PSB to the next. Returns how many rounds there are, and the last time.
    """
    calls.write_program(folder, LOOP, {'start': calls.TEXT, 'g': calls.TEXT + 16}, 16)
    start = struct.pack('<Q', calls.TEXT)[:6]
    results = b'\xbe\x14'  # 0 1 1 1 1 1, 0 1 0
    piece = bytearray(b''.join(calls.tsc(LOOP_NS * (i + 1)) + results for i in range(LOOP_PSB)))
    pieces, rounds, size, now = [], 0, 0, 1 << 20
    while size < megabytes * 1000000:
        for byte in range(2, 5):
            piece[1 + byte::10] = bytes([now >> 8 * byte & 0xff]) * LOOP_PSB
        psb = calls.psb(now)
        pieces.append(psb[:-2] + b'\x7d' + start + psb[-2:] if rounds else psb + b'\x71' + start)
        pieces.append(bytes(piece))
        rounds, now, size = rounds + LOOP_PSB, now + (1 << 16), size + len(pieces[-2]) + len(piece)
    calls.write(folder / 'perf.data', b''.join(pieces) + b'\x01', [(1 << 20, 1000)], now)
    return rounds, now


def measure_pt(perfile, perf, megabytes):
    print('| task | perfile -j1, CPU s | -j2, CPU s | -j1, s | -j2, s | million instructions/s | perf, CPU s |\n|---|--:|--:|--:|--:|--:|--:|')
    with tempfile.TemporaryDirectory(prefix='perfile-bench-') as name:
        folder = pathlib.Path(name)
        rounds, last = make_pt(folder, megabytes)
        files = ['--symfs', folder / 'symfs', '-i', folder / 'perf.data']
        middle = (calls.FIRST_NS + last) // 2
        window = ['script', '-q', '--itrace=i1i', '-F', 'ip', '--time', f'{middle / 1e9:.9f},{(middle + 1000000) / 1e9:.9f}']
        for task, ours, theirs in [*PT_TASKS, ('`script --itrace=i1i --time`, 1 ms', window, None)]:
            one, two = (measure([perfile, *ours, threads, *files]) for threads in ('-j1', '-j2'))
            peer = measure([*perf, *theirs, *files]) if perf and theirs else None
            speed = rounds * LOOP_INSNS / one[0] / 1e6
            print(f'| {task} | {one[0]:.2f} | {two[0]:.2f} | {one[1]:.2f} | {two[1]:.2f} | {f"{speed:.1f}" if theirs else ""} | '
                  f'{f"{peer[0]:.2f}" if peer else ""} |', flush=True)


def measure(command):
    seconds, passed = [], []
    for _ in range(RUNS):
        start = time.monotonic()
        done = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(done.pid, 0)
        passed.append(time.monotonic() - start)
        if status:
            return None
        seconds.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds), statistics.median(passed)


def main():
    global RUNS
    perf = shutil.which('perf') if 'PERFILE_LAB' not in os.environ else f'{os.environ["PERFILE_LAB"]}/in-lab'
    perfile, words = sys.argv[1], sys.argv[2:]
    if words[:1] == ['pt']:
        RUNS = int(words[2]) if len(words) > 2 else RUNS
        command = [perf, *(['perf'] if perf.endswith('in-lab') else [])] if perf else None
        measure_pt(perfile, command, int(words[1]) if len(words) > 1 else 10)
        return
    count = int(words[0]) if words else 200000
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
