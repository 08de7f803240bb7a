#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every verb over damaged copies of recordings: no signal, no sanitizer report, no hang, no runaway memory.

    mutants.py PERFILE [--corpus DIR] [--count N] [--first N] [--timeout S] [--keep DIR] [--rss] [RECORDING ...]

Mutant number n is the same for the same recordings everywhere, so `--first n --count 1` brings one back. --rss holds
the memory of each run against 32 MiB + 4 times its input; leave it away for builds with sanitizers, which need more.
"""
import argparse
import concurrent.futures
import os
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import hermetic
import served

MAGICS = (b'PERFILE2', b'2ELIFREP', b'PERFFILE')
ALL_FIELDS = ('comm,tid,pid,cpu,time,period,event,trace,ip,sym,symoff,dso,addr,iregs,uregs,brstack,brstackinsn,'
              'bpf-output,phys_addr,data_page_size,code_page_size,weight,ins_lat,data_src,misc,flags,cgroup')
SHOW = ['--show-%s-events' % name for name in
        ('task', 'mmap', 'switch', 'namespace', 'lost', 'round', 'bpf', 'cgroup', 'text-poke')]
# what lies on this machine must not matter
NO_SYMBOLS = ['--symfs', '/nonexistent', '--kallsyms', '/dev/null']
VALID = object()  # a recording that is not damaged
RUNS = [
    ['info', '--count'],
    ['info', '--format', 'json'],
    ['dump'],
    ['dump', '--format', 'json', '--max-bytes', 'unlimited'],
    ['check', '--format', 'json'],
    ['script', *NO_SYMBOLS],
    ['script', '--ns', '-F', None, *NO_SYMBOLS],
    ['script', '--time', '10%-90%', *SHOW, *NO_SYMBOLS],
    ['flame', '--format', 'folded', *NO_SYMBOLS],
    ['flame', '--format', 'html', '--by', 'time,cpu,pid', '--time-quantum', '1us', *NO_SYMBOLS],
    ['report', *NO_SYMBOLS],
    ['report', '--format', 'json', '--call-graph', 'callee', '--sort', 'comm,pid,cpu,dso,symbol', *NO_SYMBOLS],
    ['dump', '--format', 'json', '--strict'],
    ['script', '--limit-events', '2', '--limit-ids', '8', '--limit-feature-bytes', '64', '--limit-queue-bytes', '512',
     '--limit-record-bytes', '4096', *NO_SYMBOLS],
    ['check', '-'],
    ['repair', '-o', '-', '-q'],
    ['repair', '-o', '/dev/null', '--no-sync', '--mode', 'file'],
    ['convert', '-o', '-', '--byte-order', 'big', '-z', '1'],
    ['convert', '-o', '/dev/null', '--no-sync', '--mode', 'file', '--for', 'perf-5.10', '--strip', 'stack,regs'],
    ['convert', '-o', '-', '--unwind', *NO_SYMBOLS],
    ['cut', '-o', '-', '--time', '10%-90%', '--every', '3'],
    ['cut', '-o', '-', '--comms', 'sh,prime,perf', '--cpu', '0'],
    ['cut', '-o', '/dev/null', '--no-sync', '--mode', 'file', '--samples', '5'],
    ['merge', '-o', '-', VALID],
    ['anonymize', '-o', '-', '--key', 'key'],
    ['inject', '-o', '-', '-b', '-s', '--symfs', '/nonexistent'],
]
SANITIZER_STATUS = 99
INTERESTING = [0, 1, 7, 8, 9, 16, 63, 64, 0x7fff, 0x8000, 0xfff8, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff8,
               0xffffffff, 1 << 32, 1 << 60, (1 << 61) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1]


def records_of(data):
    """Offsets and sizes of the records, as far as they follow each other."""
    order = '>' if data[:8] == b'2ELIFREP' else '<'
    at = 16
    if len(data) >= 104 and struct.unpack_from(order + 'Q', data, 8)[0] != 16:
        at = struct.unpack_from(order + 'Q', data, 40)[0]
    found = []
    while at + 8 <= len(data) and len(found) < 4096:
        size = struct.unpack_from(order + 'H', data, at + 6)[0]
        if size < 8:
            break
        found.append((at, size))
        at += size
    return order, found or [(0, min(len(data), 104))]


def mutate_once(data, other, chance):
    order, records = records_of(data)
    offset, size = chance.choice(records)
    kind = chance.choice(['bit', 'word', 'header', 'size', 'field', 'cut', 'drop', 'double', 'splice'])
    if kind == 'bit':
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 'cut':
        del data[chance.choice([offset, offset + 4, chance.randrange(len(data))]):]
    elif kind == 'drop':
        del data[offset:offset + chance.choice([1, 4, 8, size])]
    elif kind == 'double':
        data[offset:offset] = data[offset:offset + size]
    elif kind == 'splice':
        start = chance.choice(records_of(other)[1])[0]
        data[offset:offset + size] = other[start:start + chance.choice([8, size, 4096])]
    else:
        width, location = {
            'word': (8, chance.randrange(0, len(data), 8)),
            'header': (8, chance.randrange(8, 112, 8)),
            'size': (2, offset + 6),
            'field': (chance.choice([4, 8]), offset + 4 * chance.randrange(0, max(1, size // 4))),
        }[kind]
        value = chance.choice(INTERESTING + [len(data), len(data) - 8, chance.getrandbits(64)])
        piece = struct.pack(order + 'Q', value & (1 << 64) - 1)
        piece = piece[-width:] if order == '>' else piece[:width]
        if location + width <= len(data):
            data[location:location + width] = piece


def mutate(data, other, seed):
    chance = random.Random(seed)
    mutant = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4])):
        if len(mutant) > 16:
            mutate_once(mutant, other, chance)
    return bytes(mutant)


def recordings(paths, corpus, max_bytes):
    """Small recordings, in an order that depends on nothing but their names."""
    found = list(paths)
    for folder, folders, names in os.walk(corpus or '/nonexistent'):
        folders.sort()
        found += [os.path.join(folder, name) for name in sorted(names)]
    for path in found:
        if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < max_bytes:
            with open(path, 'rb') as file:
                data = file.read()
            if data[:8] in MAGICS:
                yield path, data


def limit_of(size):
    """What is measured is never less than the peak of this process, which is some 33 MiB."""
    return (48 << 20) + 4 * size


def run(command, stdin, options):
    """Exit status (None: too slow), peak memory in bytes (never less than that of this process), what was stated on stderr."""
    environment = hermetic.environment(
        ASAN_OPTIONS='exitcode=%d' % SANITIZER_STATUS,
        UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1:exitcode=%d' % SANITIZER_STATUS)
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
                             start_new_session=True)
    reply, late = b'', False
    end = time.monotonic() + options.timeout
    with child.stderr:
        # the end of a pipe wakes us at once; wait() with a time limit would sleep for longer than most runs take
        while select.select([child.stderr], [], [], max(0, end - time.monotonic()))[0]:
            more = os.read(child.stderr.fileno(), 65536)
            if not more:
                break
            reply = (reply + more)[:2048]
        else:
            late = True
            os.killpg(child.pid, signal.SIGKILL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return None if late else child.returncode, used.ru_maxrss << 10, reply.decode('utf-8', 'replace')


def judge(status, peak, size, options):
    if status is None:
        return 'took more than %g seconds' % options.timeout
    if status == SANITIZER_STATUS:
        return 'a sanitizer has found something'
    if status not in (0, 1, 2, 3):  # 2: the mutant does not have a field that was asked for
        return 'ended with status %d' % status
    if options.rss and peak > limit_of(size):
        return 'needed %.1f MiB for %.1f KiB' % (peak / 2**20, size / 1024)
    return None


def try_mutant(number, sources, options):
    chance = random.Random('mutant %d' % number)
    path, data = chance.choice(sources)
    mutant = options.mutate(data, chance.choice(sources)[1], number)
    findings = []
    with tempfile.NamedTemporaryFile(suffix='.perf.data', dir=options.scratch) as file:
        file.write(mutant)
        file.flush()
        for arguments in options.runs:
            command = [options.perfile, *[{None: options.fields, VALID: sources[0][0]}.get(a, a) for a in arguments]]
            from_pipe = arguments[-1] == '-'
            cat = subprocess.Popen(['cat', file.name], stdout=subprocess.PIPE) if from_pipe else None
            server = None if from_pipe else served.server_of(options.perfile, seconds=options.timeout + 1, kind='silent')
            if server:
                status, peak, reply = server.run(command[1:] + [file.name])
                status, reply = None if status == -signal.SIGALRM else status, reply[:2048].decode('utf-8', 'replace')
            else:
                status, peak, reply = run(command if from_pipe else command + [file.name],
                                         cat.stdout if cat else subprocess.DEVNULL, options)
            if cat:
                cat.stdout.close()
                cat.wait()
            finding = judge(status, peak, len(mutant), options)
            if finding:
                findings.append((' '.join(command[1:]), finding, reply))
    if findings and options.keep:
        with open(os.path.join(options.keep, 'mutant-%d.perf.data' % number), 'wb') as kept:
            kept.write(mutant)
    return number, path, findings


def known_fields(perfile):
    """All of ALL_FIELDS that this build has."""
    heard = subprocess.run([perfile, 'help', 'script'], capture_output=True, text=True).stdout
    known = heard.replace('|', ' ').split()
    return ','.join(field for field in ALL_FIELDS.split(',') if field in known)


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser(description='Runs every verb over damaged recordings.')
    parser.add_argument('perfile')
    parser.add_argument('recordings', nargs='*')
    parser.add_argument('--corpus', help='a folder of further recordings')
    parser.add_argument('--count', type=int, default=200, help='how many mutants')
    parser.add_argument('--first', type=int, default=0, help='number of the first')
    parser.add_argument('--timeout', type=float, default=30, help='seconds for one run')
    parser.add_argument('--keep', help='where mutants with findings go')
    parser.add_argument('--rss', action='store_true', help='hold memory against its bound')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.fields = known_fields(options.perfile)
    options.runs, options.mutate, options.scratch = RUNS, mutate, hermetic.in_memory()
    return judge_all(options)


def judge_all(options):
    sources = list(recordings(options.recordings, options.corpus, 300_000))
    if not sources:
        sys.exit('mutants.py: no recordings')
    numbers = range(options.first, options.first + options.count)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, path, findings in pool.map(lambda n: try_mutant(n, sources, options), numbers):
            for command, finding, reply in findings:
                print('mutant %d of %s: perfile %s %s\n%s' % (number, path, command, finding, reply), flush=True)
            bad += bool(findings)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if options.rss and own > limit_of(0):
        print('memory cannot be held against its bound: this process has a peak of %.1f MiB itself' % (own / 2**20))
        bad += 1
    print('%d mutants of %d recordings, %d runs each: %d with findings' % (
        options.count, len(sources), len(options.runs), bad))
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
