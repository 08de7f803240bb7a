#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hardware traces are cut by time where decoding can start: trace_slices.py PERFILE ASSEMBLE

Samples of times are those of the complete trace at these times, and what is far from them is not read: an invalid byte there
is not noticed."""
import csv
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PSB = bytes.fromhex('0282') * 8
ATTR = 'attr type=10 config=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 ids=11 name="trace//"\nfeature AUXTRACE 0\n'


def spe(time):
    """A record of 64 bytes."""
    return (b'\xb0' + struct.pack('<Q', 0x400000 + time) + b'\x71' + struct.pack('<Q', time)).ljust(64, b'\0')


def psb(time, filling):
    return PSB + b'\x19' + struct.pack('<Q', time)[:7] + b'\x02\x23' + b'\x06' * filling


def bts(number):
    return struct.pack('<QQQ', 0x400000 + number, 0x500000, 0)


def block(time, entries):
    """A block of s390, which ends at that time in microseconds."""
    basic = struct.pack('>HBBB', 1, 0, 8, 0x40) + bytes(3) + struct.pack('>QQQ', 0x400000 + time, 0, 7)
    trailer = struct.pack('>IHHQ', 1 << 31, 32, 0, 0) + struct.pack('>QQ', time * 4096, 0) + bytes(16) + struct.pack('>QQ', 1 << 63, 0)
    return (basic * entries).ljust(4032, b'\0') + trailer


def dispatches(time):
    """A buffer of POWER's log: the entry with the clock, and another one at that time in microseconds."""
    boot = struct.pack('<6Q', 0, 1000000, 0, 0, 0, 0)
    return boot + struct.pack('>BBHIIIQQQQ', 0, 2, 1, 10, 20, 30, time, 0, 0, 0)


def aux(*pieces):
    """AUX records: (offset, bytes, time)."""
    return ''.join(f'record AUX aux_offset={offset} aux_size={size} flags=0 | pid=7 tid=7 time={time} cpu=1\n' for offset, size, time in pieces)


def recording(kind, priv, buffers, extra=''):
    """Buffers that follow each other: (reference, bytes)."""
    text, offset = ATTR + f'record AUXTRACE_INFO auxtrace_type={kind} priv={priv}\n' + extra, 0
    for reference, data in buffers:
        text += (f'record AUXTRACE data_size={len(data)} offset={offset} reference={reference} idx=3 tid=-1 cpu=1 reserved__=0 '
                 f'payload=hex:{data.hex()}\n')
        offset += len(data)
    return text + 'record EXIT pid=7 tid=7 ppid=1 ptid=1 time=9000 | pid=7 tid=7 time=9000 cpu=1\n'


PT = '8,0,1,0,1,0x400,0x800,0,0,1,0,0,0,0,0,0,0,0'
# the recording; from, to in nanoseconds; the pieces that are kept of each buffer: (offset in the AUX area, bytes)
FLOW = recording(1, PT, [(1, psb(1000, 5) + psb(2000, 13)[:25]), (1, psb(2000, 13)[25:] + psb(3000, 5))])
CASES = {
    'spe': (recording(4, '', [(1, spe(1000) + spe(2000) + spe(3000)), (1, spe(4000) + spe(5000))]), 2000, 4000,
            [(64, 128), (192, 24)]),
    'spe, one buffer': (recording(4, '', [(1, spe(1000)), (1, spe(2000))]), 2000, 9000, [(64, 24)]),
    'spe, nothing': (recording(4, '', [(1, spe(1000))]), 2000, 9000, []),
    'pt, two buffers of one segment': (FLOW, 2500, 2600, [(24, 32), (56, 16)]),
    'pt, the first segment': (FLOW, 1000, 1500, [(0, 32)]),
    'pt, the last segment': (FLOW, 3500, 9000, [(64, 40)]),
    'bts': (recording(2, '9,0,1,0,1,0', [(1000, bts(1)), (2000, bts(2) + bts(3)), (3000, bts(4))]), 1500, 1600, [(24, 48)]),
    's390': (recording(5, '', [(1, block(1, 2) + block(2, 3) + block(3, 4))]), 1500, 2500, [(4096, 4096)]),
    'coresight, of AUX records': (recording(3, '1,1,0', [(1, bytes(48)), (1, bytes(32))],
                                            aux((0, 16, 1000), (16, 48, 2000), (64, 16, 3000))), 1500, 2500, [(16, 32), (48, 16)]),
    'ptt, of AUX records': (recording(6, '11', [(1, bytes(64))], aux((0, 32, 1000), (32, 32, 2000))), 1500, 2500, [(32, 32)]),
    'vpa': (recording(7, '12', [(1, dispatches(1)), (1, dispatches(2)), (1, dispatches(3))]), 1500, 2500, [(96, 96)]),
    'coresight': (recording(3, '1,1,0', [(1, bytes(32))]), 1500, 2500, [(0, 32)]),
}


def pieces(perfile, path):
    lines = subprocess.run([*perfile, 'table', 'records', '-q', '--format', 'csv', '--columns', 'type,fields', path],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for kind, fields in list(csv.reader(lines))[1:]:
        if kind == 'AUXTRACE':
            values = dict(pair.split(':') for pair in fields.strip('{}').replace('"', '').split(','))
            found.append((int(values['offset']), int(values['data_size'])))
    return found


def windows():
    """Traces in 15 buffers of ten PSBs, with an invalid byte at both ends, or of ten records."""
    buffers = [range(1 + 10 * i, 11 + 10 * i) for i in range(15)]
    flow = [b''.join(psb(1000 * number, 214) for number in numbers) for numbers in buffers]
    flow[0], flow[-1] = flow[0][:60] + b'\x05' + flow[0][61:], flow[-1][:-60] + b'\x05' + flow[-1][-59:]
    records = [b''.join(spe(1000 * number) for number in numbers) for numbers in buffers]
    yield recording(1, PT, [(1, data) for data in flow]), '--itrace=p'
    yield recording(4, '', [(1, data) for data in records]), '--itrace=i1i'


def lines_of(perfile, letters, path, *times):
    done = subprocess.run([*perfile, 'script', letters, '-F', 'time,ip,synth', '--ns', *times, path], capture_output=True, text=True, check=True)
    return done.stdout.splitlines(), done.stderr


def test_windows(perfile, assemble, path):
    for text, letters in windows():
        path.write_bytes(subprocess.check_output(assemble, input=text.encode()))
        everything, complaint = lines_of(perfile, letters, path)
        assert 'code 3' in complaint or letters != '--itrace=p', complaint[-300:]
        for first, last in ((1000, 2000), (40500, 60500), (73000, 73000), (120000, 150000), (0, 999), (200000, 300000)):
            wanted = [line for line in everything if first <= round(float(line.split(':')[0]) * 1e9) <= last]
            got, complaint = lines_of(perfile, letters, path, '--time', f'{seconds(first)},{seconds(last)}')
            assert got == wanted, f'{letters} {first}: {got[:3]}, not {wanted[:3]}'
            assert first != 73000 or 'code 3' not in complaint, complaint[-300:]


def seconds(ns):
    return f'{ns // 10**9}.{ns % 10**9:09}'


def main():
    hermetic.settle()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, pathlib.Path(program).resolve()] for program in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix='perfile-slices-') as name:
        source, out = pathlib.Path(name) / 'all.data', pathlib.Path(name) / 'part.data'
        for case, (text, first, last, expected) in CASES.items():
            for flavour in ([], ['--big-endian'])[:1 if case == 'vpa' else 2]:  # its first entry is in the order of the machine
                source.write_bytes(subprocess.check_output([*assemble, *flavour], input=text.encode()))
                subprocess.run([*perfile, 'cut', '-q', '--time', f'{seconds(first)},{seconds(last)}', source, '-o', out],
                               check=True, stderr=subprocess.DEVNULL)
                got = pieces(perfile, out)
                assert got == expected, f'{case}: {got}, not {expected}'
                check = subprocess.run([*perfile, 'check', '-q', out], capture_output=True, text=True, check=False)
                assert check.returncode == 0, f'{case}: {check.stdout}{check.stderr}'
        test_windows(perfile, assemble, source)
    print(f'{len(CASES)} slices are right')


main()
