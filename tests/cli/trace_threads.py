#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_threads.py PERFILE SOURCE: a trace of Intel PT decodes to the same with any number of threads.

bench/calls.py makes the program and the walks of two processes. The trace has a PSB each 2 KB, cycles,
times, values and overflows; then bytes of it are changed."""
import importlib.util, pathlib, random, struct, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

hermetic.settle()
perfile, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
specification = importlib.util.spec_from_file_location('calls', source / 'bench' / 'calls.py')
calls = importlib.util.module_from_spec(specification)
specification.loader.exec_module(calls)

CALLS, SWITCH_CALLS, PSB_BYTES, SLEEP_NS = 40000, 7000, 2048, 5000
REPORTED = 'i1i', 'b', 'e'
LETTERS = ['i1i', 'i100i', 'i1us', 'b', 'c', 'r', 'x', 'w', 'p', 'e', 'i100ig16', 'i100il', 'y', 's500b']
FIELDS = '+flags,+addr,+insnlen,+ipc,+callindent'


def fail(why):
    sys.exit(f'trace_threads: {why}')


def address(header, value):
    return bytes([header]) + struct.pack('<Q', value)[:6]


def psb(time, at):
    return b'\x02\x82' * 8 + calls.tsc(time) + b'\x02\x03\x1d\x00\x99\x01' + (address(0x7d, at) if at else b'') + b'\x02\x23'


def noise(source, time):
    """Cycles, mostly; a time; how fast the processor is, which PSBs do not say otherwise; a value."""
    kind = source.randrange(40)
    if kind > 3:
        return bytes([source.randrange(32) << 3 | 3])
    return [calls.tsc(time), b'\x02\x03' + bytes([source.choice((28, 29))]) + b'\0', b'\x02\x32' + struct.pack('<Q', time), b''][kind]


def trace(threads):
    """The bytes, and which thread runs from when on."""
    source, out, now, switches, last_psb = random.Random(2), bytearray(), calls.FIRST_NS, [], 0
    running = None
    for number in range(CALLS):
        if number % SWITCH_CALLS == 0:
            if running:
                out += address(0x7d, running.at) + b'\x01'
            running = threads[len(switches) % len(threads)]
            switches.append((now + 50, running.tid))
            now += SLEEP_NS
            out += psb(now, None) + address(0x71, running.at)
        now += source.randrange(3, 40)
        if source.randrange(3) == 0:
            out += noise(source, now)
        if source.randrange(5000) == 0:
            out += b'\x02\xf3' + address(0x7d, running.at)
        if len(out) - last_psb > PSB_BYTES:
            last_psb = len(out)
            out += psb(now, running.at)
        running.step(source.random(), out)
    return out + b'\x01', switches, now


def run(threads, verb, recording, folder):
    done = subprocess.run([perfile, *verb, f'-j{threads}', '--symfs', folder / 'symfs', '-i', recording], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        fail(f'{verb} -j{threads} exits with {done.returncode}: {done.stderr.decode()[-300:]}')
    return done.stdout, done.stderr


def test(folder, recording):
    lines = 0
    for letters in LETTERS:
        verbs = [['script', '-F', FIELDS, f'--itrace={letters}'], ['report', '--stdio', f'--itrace={letters}']]
        for verb in verbs[:1 + (letters in REPORTED)]:
            alone = run(1, verb, recording, folder)
            lines += alone[0].count(b'\n')
            for threads in 2, 4:
                if run(threads, verb, recording, folder) != alone:
                    fail(f'{verb} is not the same with {threads} threads')
    return lines


def damage(payload, seed):
    source, damaged = random.Random(seed), bytearray(payload)
    for _ in range(8):
        damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
    return damaged


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        functions = calls.assemble(folder)
        payload, switches, last = trace([calls.Thread(1000 + i, functions) for i in range(2)])
        recording = folder / 'perf.data'
        for seed in range(2):
            calls.write(recording, damage(payload, seed) if seed else payload, switches, last, processes=True)
            lines = test(folder, recording)
            print(f'{lines} lines of {len(payload)} bytes of trace')
            if lines < CALLS:
                fail('too little was decoded')


main()
