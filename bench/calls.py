#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a recording of Intel PT with many calls: calls.py FOLDER [CALLS [THREADS]]

FOLDER gets perf.data and the traced program below symfs, for `perfile ... --symfs FOLDER/symfs`. The program has 40
functions that call each other at random, 24 deep at most; each call and return has a time of its own, some ns after the
one before. Without THREADS there is one thread; several are switched each 100 µs.
Prints how many calls of each function there are, which `table calls` must count, too.
"""
import collections
import pathlib
import random
import struct
import sys

FUNCTIONS, SIZE, DEPTH, TEXT, PROGRAM = 40, 9, 24, 0x401000, 'bench/calls'
SECTIONS = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
FIRST_NS, SWITCH_NS = 1000000, 100000
SAMPLE_TYPE, IDENTIFIER = 0x10087, 101  # IDENTIFIER, IP, TID, TIME, CPU


def section(name, kind, flags, address, at, size, more):
    link, info, alignment, entry = more
    return struct.pack('<IIQQQQIIQQ', name, kind, flags, address, at, size, link, info, alignment, entry)


def assemble(folder):
    """Writes the program, and returns where its functions are."""
    code = bytes.fromhex('85c0 7404 ffd0 ebf8 c3') * FUNCTIONS  # 1: test %eax,%eax; jz 2f; call *%rax; jmp 1b; 2: ret
    places = [TEXT + SIZE * i for i in range(FUNCTIONS)]
    write_program(folder, code, {f'f{i}': location for i, location in enumerate(places)}, SIZE)
    return places


def write_program(folder, code, functions, function_bytes):
    """Writes an ELF file with symbols."""
    names, symbols = b'\0', bytes(24)
    for name, location in functions.items():
        symbols += struct.pack('<IBBHQQ', len(names), 0x12, 0, 1, location, function_bytes)
        names += name.encode() + b'\0'
    text_at = 0x1000
    symbols_at = text_at + len(code) + 7 & ~7
    names_at = symbols_at + len(symbols)
    sections_at = names_at + len(names) + len(SECTIONS) + 7 & ~7
    header = b'\x7fELF\x02\x01\x01'.ljust(16, b'\0') + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, TEXT, 64, sections_at, 0, 64, 56, 1, 64, 5, 4)
    header += struct.pack('<IIQQQQQQ', 1, 5, text_at, TEXT, TEXT, len(code), len(code), 0x1000)
    table = bytes(64) + section(1, 1, 6, TEXT, text_at, len(code), (0, 0, 16, 0)) + section(7, 2, 0, 0, symbols_at, len(symbols), (3, 1, 8, 24)) + \
        section(15, 3, 0, 0, names_at, len(names), (0, 0, 1, 0)) + section(23, 3, 0, 0, names_at + len(names), len(SECTIONS), (0, 0, 1, 0))
    path = folder / 'symfs' / PROGRAM
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((header.ljust(text_at, b'\0') + code).ljust(symbols_at, b'\0') + (symbols + names + SECTIONS).ljust(sections_at - symbols_at, b'\0') + table)


class Thread:
    def __init__(self, tid, functions):
        self.tid, self.functions, self.stack, self.counts = tid, functions, [], collections.Counter()
        self.at = functions[0]

    def step(self, random_number, out):
        """One call or return: the branch to it is not taken, or taken."""
        calls = not self.stack or len(self.stack) < DEPTH and random_number < .5
        if calls:
            function = int(random_number * 1e6) % FUNCTIONS
            self.stack.append(self.at + 6)
            self.at = self.functions[function]
            self.counts[f'f{function}'] += 1
            out += b'\x04\x6d' + struct.pack('<Q', self.at)[:6]
        else:
            back = self.stack.pop()
            self.at = self.functions[(back - TEXT) // SIZE]
            out += b'\x06\x6d' + struct.pack('<Q', back)[:6]
        return calls


def tsc(time):
    return b'\x19' + struct.pack('<Q', time)[:7]


def psb(time):
    return b'\x02\x82' * 8 + tsc(time) + b'\x02\x03\x1d\x00\x99\x01\x02\x23'


def trace(threads, calls):
    """The bytes, and which thread runs from when on."""
    source, out, now, switches = random.Random(1), bytearray(), FIRST_NS, []
    running, until = None, 0
    while calls > 0:
        if now >= until:
            if running:
                out += b'\x7d' + struct.pack('<Q', running.at)[:6] + b'\x01'
            running, until = threads[len(switches) % len(threads)], now + SWITCH_NS if len(threads) > 1 else 1 << 60
            switches.append((now + 50, running.tid))
            now += 100
            out += psb(now) + b'\x71' + struct.pack('<Q', running.at)[:6]
        now += source.randrange(3, 40)
        out += tsc(now)
        calls -= running.step(source.random(), out)
    return out + b'\x01', switches, now


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def trailer(pid, tid, time):
    return struct.pack('<IIQIIQ', pid, tid, time, 0, 0, IDENTIFIER)


def write(path, payload, switches, last, processes=False):
    """The threads are of one process, or each is one."""
    attr = struct.pack('<IIQQQQQ', 8, 136, 0x400, 1, SAMPLE_TYPE, 0, 1 << 18 | 1 << 26).ljust(136, b'\0')
    priv = [8, 0, 1, 0, 1, 0x400, 0x800, 2, 0, 1, 0x200, 0x3c000, 100, 2, 2, 29, 0, 0]
    name = f'/{PROGRAM}'.encode()
    name += bytes(8 - len(name) % 8)
    data = bytearray(record(70, 0, struct.pack('<II', 1, 0) + struct.pack(f'<{len(priv)}Q', *priv)))
    pids = {tid: tid if processes else 1000 for _, tid in switches}
    for tid, pid in sorted(pids.items()):
        data += record(3, 2 if tid == pid else 0, struct.pack('<II', pid, tid) + b'calls\0\0\0' + trailer(pid, tid, 900000))
    for pid in sorted(set(pids.values())):
        data += record(10, 2, struct.pack('<IIQQQIIQQII', pid, pid, TEXT, 0x1000, 0x1000, 0, 0, 0, 0, 5, 2) + name + trailer(pid, pid, 900001))
    first = switches[0][1]
    data += record(12, 0, struct.pack('<II', pids[first], first) + trailer(pids[first], first, 900002))
    for time, tid in switches:
        data += record(14, 0, trailer(pids[tid], tid, time))
    index = len(data)
    data += struct.pack('<IHHQQQIiiI', 71, 0, 48, len(payload) + 7 & ~7, 0, 950000, 0, -1, 0, 0) + payload + bytes(-len(payload) % 8)
    data += record(4, 0, struct.pack('<IIIIQ', 1000, 1, 1000, 1, last + 1000) + trailer(1000, 1000, last + 1000))
    start = 104 + 152 + 8
    feature = struct.pack('<QQQ', 1, start + index, 48)
    header = b'PERFILE2' + struct.pack('<8Q', 104, 152, 104, 152, start, len(data), 0, 0) + struct.pack('<4Q', 1 << 18, 0, 0, 0)
    path.write_bytes(header + attr + struct.pack('<QQ', 104 + 152, 8) + struct.pack('<Q', IDENTIFIER) + data +
                     struct.pack('<QQ', start + len(data) + 16, len(feature)) + feature)


def main():
    folder, calls, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000000, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    functions = assemble(folder)
    threads = [Thread(1000 + i, functions) for i in range(count)]
    payload, switches, last = trace(threads, calls)
    write(folder / 'perf.data', payload, switches, last)
    counts = sum((thread.counts for thread in threads), collections.Counter())
    for name in sorted(counts, key=lambda name: int(name[1:])):
        print(name, counts[name])


if __name__ == '__main__':
    main()
