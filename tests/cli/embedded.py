#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Symbols that simpleperf writes into recordings: embedded.py PERFILE ASSEMBLE

The same files in both features (FILE, and FILE2 as protobuf), each kind with its own way from a run-time address to the
address of a symbol.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

KERNEL, MODULE, ELF, DEX, SYMBOL_MAP = range(5)
KERNEL_START = 0xffffff8008000000
# path, type, min_vaddr, offset of it, symbols (address, size, name)
FILES = [('[kernel.kallsyms]', KERNEL, 0, None, [(KERNEL_START + 0x100, 16, 'do_work')]),
         ('/vendor/m.ko', MODULE, 0x40, 0x1000, [(0x50, 16, 'in_module')]),
         ('/system/lib64/l.so', ELF, 0x2000, 0x1000, [(0x2100, 16, '_Z3fooi'), (0x2200, 0xfffffff0, 'last')]),
         ('/system/boot.vdex', DEX, 0, None, [(0x6010, 16, 'a.b.C.run')]),
         ('cache:1-2', ELF, 0, 0, [(0x50000, 64, 'compiled')]),
         ('perf-7.map', SYMBOL_MAP, 0, None, [(0x60000, 64, 'generated')])]
# where they are mapped: mode, start, length, offset, protection
MAPS = [('[kernel.kallsyms]_stext', 1, KERNEL_START, 0x100000, KERNEL_START, 0),
        ('/vendor/m.ko', 1, KERNEL_START + 0x200000, 0x10000, 0, 0),
        ('/system/lib64/l.so', 2, 0x10000, 0x10000, 0x1000, 5), ('/system/boot.vdex', 2, 0x30000, 0x1000, 0x6000, 1),
        ('cache:1-2', 2, 0x50000, 64, 0x3c78, 0x4000), ('//anon', 2, 0x60000, 0x1000, 0, 5)]
SAMPLES = [(1, KERNEL_START + 0x104, 'do_work+0x4 ([kernel.kallsyms])'), (1, KERNEL_START + 0x201014, 'in_module+0x4 (/vendor/m.ko)'),
           (2, 0x10108, 'foo(int)+0x8 (/system/lib64/l.so)'), (2, 0x10110, '[unknown] (/system/lib64/l.so)'),
           (2, 0x1ffff, 'last+0xfdff (/system/lib64/l.so)'), (2, 0x30012, 'a.b.C.run+0x2 (/system/boot.vdex)'),
           (2, 0x50001, 'compiled+0x1 (cache:1-2)'), (2, 0x60002, 'generated+0x2 (/tmp/perf-7.map)')]


def old_file(path, kind, min_vaddr, offset, symbols):
    body = path.encode() + b'\0' + struct.pack('<IQI', kind, min_vaddr, len(symbols))
    body += b''.join(struct.pack('<QI', address, size) + name.encode() + b'\0' for address, size, name in symbols)
    if kind == DEX:
        body += struct.pack('<IQ', 1, 0x28)
    if kind in (ELF, MODULE):
        body += struct.pack('<Q', offset)
    return body


def varint(value):
    out = b''
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b''
    return varint(number << 3 | 2) + varint(len(value)) + value


def new_file(path, kind, min_vaddr, offset, symbols):
    body = field(1, path.encode()) + field(2, kind) + field(3, min_vaddr)
    body += b''.join(field(4, field(1, address) + field(2, size) + field(3, name.encode()))
                     for address, size, name in symbols)
    detail = {DEX: 5, ELF: 6, MODULE: 7}.get(kind)
    return body + field(detail, field(1, offset or 0x28)) if detail else body


def describe(number, make):
    lines = ['attr type=1 config=0 sample_type=IP|TID|TIME sample_id_all=1 name="cpu-clock"',
             'record COMM pid=7 tid=7 comm="app" | pid=7 tid=7 time=1']
    for name, mode, start, size, offset, prot in MAPS:
        lines.append(f'record MMAP2 misc={mode} pid={-1 if mode == 1 else 7} tid=7 addr={start:#x} len={size:#x} '
                     f'pgoff={offset:#x} prot={prot} filename="{name}" | pid=7 tid=7 time=2')
    lines += [f'sample misc={mode} ip={ip:#x} pid=7 tid=7 time=3' for mode, ip, _ in SAMPLES]
    files = b''.join(struct.pack('<I', len(body)) + body for body in (make(*file) for file in FILES))
    lines.append(f'feature {number} hex:{files.hex()}')
    return '\n'.join(lines) + '\n'


def main():
    hermetic.settle()
    perfile, assemble = map(hermetic.runnable, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        recording = pathlib.Path(name) / 'perf.data'
        environment = {**os.environ, 'HOME': name}
        for number, make in (128, old_file), (132, new_file):
            recording.write_bytes(subprocess.check_output([assemble], input=describe(number, make).encode()))
            command = [perfile, 'script', '-F', 'ip,sym,symoff,dso', recording]
            got = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            got = [line.split(None, 1)[1] for line in got.splitlines()]
            if got != [text for _, _, text in SAMPLES]:
                sys.exit(f'feature {number}:\n' + '\n'.join(got))
    print('the symbols of the recording are used')


if __name__ == '__main__':
    main()
