#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py PERFILE WAITS: a program with known waits, and what perfile makes of its recordings, as far as this machine allows:

- times off CPU by function are those that the program measured, within 2 %, and as many as it planted;
- the calls that `trace -s` counts are those that `strace -c` counts of the same program.
"""
import json, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, WAITS = sys.argv[1:]
WITHIN = 0.02
SLACK_NS = 50_000  # of each wait: what is between the clocks and the switch
LEAST_NS = 2_000_000  # of all waits of a kind: file systems in memory have nothing to wait for
# How the switches are recorded, and whether each wait is seen from its begin to its end
SOURCES = {
    'switches of all CPUs': ['record', '-q', '-a', '-g', '-e', 'sched:sched_switch,sched:sched_waking'],
    'switches of the program': ['record', '-q', '-g', '-c', '1', '-e', 'context-switches', '--switch-events'],
}
# Calls that depend on who comes first, and those that one of the two does not see
NOT_COMPARED = {'futex', 'clock_nanosleep', 'nanosleep', 'execve', 'exit', 'exit_group', 'restart_syscall', 'rt_sigreturn',
                'brk', 'madvise', 'mmap', 'mprotect', 'munmap'}  # where memory lies decides how often


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def is_complete(path):
    """Not where the kernel keeps switches of a task back, such as those of an idle one that once was stuck in an event."""
    current = {}
    for line in run(PERFILE, 'script', '-q', '-G', '-F', 'cpu,trace', path).stdout.splitlines():
        found = re.search(r'\[(\d+)\].* prev_pid=(\d+) .* next_pid=(\d+)', line)
        if found and current.setdefault(found[1], found[2]) != found[2]:
            print(f'skipped: waits: CPU {found[1]} does not tell when task {found[2]} began to run')
            return False
        if found:
            current[found[1]] = found[3]
    return True


def off_cpu(path):
    """By planted function: how often it was blocked, and how long it was off CPU."""
    done = run(PERFILE, 'offcpu', '-q', '--no-inline', '--comms', 'waits', '--format', 'jsonl', '--columns', 'all', path)
    assert done.returncode == 0, done
    found = {}
    for row in map(json.loads, done.stdout.splitlines()):
        for name in {frame.split('+')[0] for frame in row['stack'] if frame.startswith('planted_')}:
            count, ns = found.get(name, (0, 0))
            found[name] = (count + row['count'] * (row['kind'] == 'blocked'), ns + row['total_ns'])
    return found


def check_waits(folder, what, how, attempts=3):
    """False: it cannot be recorded here. On a busy machine a thread may lose its CPU between two instructions that count apart."""
    path = folder / 'waits.data'
    done = run(PERFILE, *how, '-o', path, '--', WAITS, folder / 'file')
    if done.returncode == 3:
        return False
    assert done.returncode == 0, (what, done)
    found = off_cpu(path) if is_complete(path) else None
    if not found:  # events that the kernel does not give to this user, or stacks without frame pointers
        return False
    wrong = []
    for name, count, ns in (line.split() for line in done.stdout.splitlines()):
        seen, measured, count, ns = *found.get(name, (0, 0)), int(count), int(ns)
        if ns < LEAST_NS:
            continue
        close = abs(measured - ns) <= WITHIN * ns + SLACK_NS * count
        print(f'{what}: {name}: {seen} waits, {measured / 1e6:.2f} of {ns / 1e6:.2f} ms')
        if not close or (seen != count and name not in ('planted_lock', 'planted_sync')):
            wrong.append((what, name, seen, count, measured, ns))
    assert not wrong or attempts > 1, wrong
    return not wrong or check_waits(folder, what, how, attempts - 1)


def strace_counts(folder):
    """By call: how often it was called, and how often it failed. None: strace cannot trace here."""
    done = run('strace', '-f', '-c', '-o', folder / 'strace', WAITS, folder / 'file')
    lines = (folder / 'strace').read_text().splitlines() if done.returncode == 0 else []
    rows = [re.match(r' *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d*) +(\w+)$', line) for line in lines]
    found = {row[3]: (int(row[1]), int(row[2] or 0)) for row in rows if row and row[3] != 'total'}
    return found or None


def check_calls(folder):
    path = folder / 'calls.data'
    done = run(PERFILE, 'trace', 'record', '-q', '-o', path, '--', WAITS, folder / 'file')
    counted = strace_counts(folder) if done.returncode == 0 and shutil.which('strace') else None
    if not counted:
        return False
    shown = run(PERFILE, 'trace', '-q', '-s', '--summary-mode', 'total', '--format', 'jsonl', path)
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    # a thread that begins returns from the call that made it
    found = {row['syscall']: (row['calls'] - row['untimed'], row['errors']) for row in rows}
    for name in NOT_COMPARED:
        counted.pop(name, None)
        found.pop(name, None)
    print('strace -c -f and trace -s:', ', '.join(f'{name} {calls}' for name, (calls, _) in sorted(counted.items())))
    assert found == counted, (sorted(set(found.items()) ^ set(counted.items())))
    return True


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checked = [check_waits(folder, what, how) for what, how in SOURCES.items()]
        checked.append(check_calls(folder))
    if not any(checked):
        print('skipped: recording: neither switches nor system calls can be recorded here')
        sys.exit(77)


main()
