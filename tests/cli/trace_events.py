#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace -e prints events of other tracepoints as perf trace does, and what comes through a pipe is printed when it comes."""
import os
import pathlib
import selectors
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tracepoints

hermetic.settle()
PERFILE, ASSEMBLE = hermetic.runnable(sys.argv[1]), sys.argv[2]
ENTER, EXIT, KINDS, OPEN = 401, 402, 403, 404
FIELDS = {
    ENTER: (('long', 'id', 8, 1), ('unsigned long', 'args[6]', 48, 0)),
    EXIT: (('long', 'id', 8, 1), ('long', 'ret', 8, 1)),
    KINDS: (('char', 'comm[16]', 16, 0), ('pid_t', 'pid', 4, 1), ('int', 'node', 4, 1), ('unsigned long', 'call_site', 8, 0),
            ('const void *', 'ptr', 8, 0), ('u32', 'none', 4, 0), ('u32', 'some', 4, 0)),
    OPEN: (('int', '__syscall_nr', 4, 1), ('int', 'dfd', 4, 1), ('long', 'filename', 8, 0), ('long', 'flags', 8, 0),
           ('long', 'mode', 8, 0)),
}
NAMES = {ENTER: 'raw_syscalls:sys_enter', EXIT: 'raw_syscalls:sys_exit', KINDS: 'demo:kinds', OPEN: 'syscalls:sys_enter_openat'}
READ, SIGRETURN, IOCTL, OPENAT, LANDLOCK = 0, 15, 16, 257, 445
TYPE = 'TID|TIME|CPU|PERIOD|RAW|IDENTIFIER'


def sample(time, number, data, pid=7):
    raw = struct.pack('<HBBi', number, 0, 0, pid) + data
    raw += bytes(-(len(raw) + 4) % 8)
    return (f'sample event={list(NAMES).index(number)} pid={pid} tid={pid} time={time}000 cpu=1 period=1 '
            f'raw=u32:{len(raw)},hex:{raw.hex()}')


def enter(time, call, *values, pid=7):
    return sample(time, ENTER, struct.pack('<q6Q', call, *values, *[0] * (6 - len(values))), pid)


def leave(time, call, value, pid=7):
    return sample(time, EXIT, struct.pack('<qq', call, value), pid)


def kinds(time, comm, pid, of=7):
    return sample(time, KINDS, struct.pack('<16siiQQII', comm, pid, -1, 0xffffffff81000000, 0xffff888100000000, 0, 5), of)


def description(samples, raw=True):
    names = {number: name for number, name in NAMES.items()}
    forms = {}
    for number, name in names.items():
        system, event = name.split(':')
        forms.setdefault(system, []).append(tracepoints.form(event, number, FIELDS[number]))
    lines = [f'attr type=2 config={number} ids={i + 1} sample_type={TYPE} sample_id_all=1 name="{name}"'
             for i, (number, name) in enumerate(names.items())]
    lines += ['feature ARCH s:"x86_64"', 'feature NRCPUS u32:2,u32:2', f'feature TRACING_DATA hex:{tracepoints.tracing_data(forms).hex()}',
              'record COMM pid=7 tid=7 comm="a" | pid=7 tid=7 time=0 cpu=0', 'record COMM pid=8 tid=8 comm="b" | pid=8 tid=8 time=0 cpu=0']
    return '\n'.join([*lines, *samples]) + '\n'


def assemble(path, samples, *options):
    with open(path, 'wb') as to:
        subprocess.run([ASSEMBLE, *options], input=description(samples).encode(), stdout=to, check=True)
    return path


def trace(*arguments, status=0):
    done = subprocess.run([PERFILE, 'trace', *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == status, (arguments, done)
    return done


SAMPLES = [enter(1000, READ, 3), leave(1005, READ, 64), kinds(1010, b'b', 8), enter(1020, READ, 4, pid=8),
           sample(1025, OPEN, struct.pack('<iiQQQ', OPENAT, -100, 0, 0o2000000, 0)), leave(1030, READ, 0, pid=8), kinds(1040, b'', 0, of=8)]
CALLS = '''\
     0.000 ( 0.005 ms): a/7 read(fd: 3)                                                           = 64
'''
EVENTS = '''\
     0.010 a/7 demo:kinds(comm: "b", pid: 8 (b), node: -1, call_site: 0xffffffff81000000, ptr: 0xffff888100000000, some: 5)
     0.040 b/8 demo:kinds(comm: "", node: -1, call_site: 0xffffffff81000000, ptr: 0xffff888100000000, some: 5)
'''
BOTH = '''\
     0.000 ( 0.005 ms): a/7 read(fd: 3)                                                           = 64
     0.010 (         ): a/7 demo:kinds(comm: "b", pid: 8 (b), node: -1, call_site: 0xffffffff81000000, ptr: 0xffff888100000000, some: 5)
     0.020 ( 0.010 ms): b/8 read(fd: 4)                                                           = 0
     0.040 (         ): b/8 demo:kinds(comm: "", node: -1, call_site: 0xffffffff81000000, ptr: 0xffff888100000000, some: 5)
'''


def check_lines(path):
    assert trace('-e', 'demo:kinds', path).stdout == EVENTS
    assert trace('-e', 'd*:*/max-stack=2/', path).stdout == EVENTS
    assert trace('--event', 'demo:kinds', '-e', 'read', path).stdout == BOTH
    assert trace('--syscalls', '-e', 'demo:kinds', path).stdout == BOTH
    assert trace('--filter-pids', '1,8', path).stdout == CALLS
    assert trace('-e', 'demo:kinds', '--max-events', '1', '--no-comm', '--show-cpu', path).stdout.startswith(
        '     0.010 [001] 7 demo:kinds(comm: "b", ')
    none = trace('-e', 'demo:nosuch', path)
    assert not none.stdout and 'no event passes the list "demo:nosuch"' in none.stderr, none
    wrong = trace('--filter-pids', '1,b', path, status=2)
    assert "invalid list of processes '1,b'" in wrong.stderr, wrong
    wrong = trace('--uid', 'root', path, status=2)
    assert '--uid is about what is recorded' in wrong.stderr, wrong
    wrong = trace(path, '--', 'true', status=2)
    assert 'only one of them can be shown' in wrong.stderr, wrong


def check_at_once(path, entire):
    """The end of the second round makes the first one final; its lines come although the pipe stays open."""
    data = path.read_bytes()
    process = subprocess.Popen([PERFILE, 'trace', '-i', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(data)
    process.stdin.flush()
    waiting = selectors.DefaultSelector()
    waiting.register(process.stdout, selectors.EVENT_READ)
    assert waiting.select(60), 'nothing was printed before the end of the pipe'
    first = os.read(process.stdout.fileno(), 1 << 16).decode()
    rest, errors = process.communicate()
    assert process.returncode == 0 and first == CALLS and first + rest.decode() == entire, (first, rest, errors)


def check_end_of_handler(folder):
    """The kernel reports the return of rt_sigreturn under the number -1: it did return."""
    samples = [enter(1000, SIGRETURN), leave(1001, -1, 0), enter(1002, READ, 3), leave(1003, READ, 1)]
    done = trace('-s', assemble(folder / 'handler.data', samples))
    assert 'did not return' not in done.stderr and ' read ' in done.stdout, done


def check_words(folder):
    """Commands of ioctl for terminals have names, as in perf, and the rules of Landlock."""
    samples = [enter(900, LANDLOCK, 11, 2, 8, 45), leave(901, LANDLOCK, -22),
               enter(1000, IOCTL, 1, 0x5401, 8), leave(1001, IOCTL, 0), enter(1002, IOCTL, 1, 0x4142, 8), leave(1003, IOCTL, 0)]
    rule, *lines = trace(assemble(folder / 'words.data', samples)).stdout.splitlines()
    expected = 'landlock_add_rule(ruleset_fd: 11, rule_type: LANDLOCK_RULE_NET_PORT, rule_attr: 0x8, flags: 45) = -1 EINVAL'
    assert expected in rule, rule
    assert ['(fd: 1, cmd: TCGETS, arg: 0x8)' in lines[0], '(fd: 1, cmd: 0x4142, arg: 0x8)' in lines[1]] == [True, True], lines


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = assemble(folder / 'events.data', SAMPLES)
        check_lines(path)
        check_end_of_handler(folder)
        check_words(folder)
        assert trace(assemble(folder / 'events.pipe', SAMPLES, '--pipe')).stdout == trace(path).stdout
        rounds = [SAMPLES[0], SAMPLES[1], 'round', SAMPLES[3], 'round', SAMPLES[5], 'round']
        check_at_once(assemble(folder / 'rounds.pipe', rounds, '--pipe'), trace(path).stdout)
    print('events, filters, lines at once')


main()
