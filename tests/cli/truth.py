#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py PERFILE WAITS WORKS: programs that know what they do, and what perfile makes of their recordings, as far as this
machine allows:

- times off CPU by function are those that the program measured, within 2 %, and as many as it planted;
- the calls that `trace -s` counts are those that `strace -c` counts of the same program, and reads take as long as it measured;
- where buffers were too small for all events, what was lost is reported, and no time off CPU is longer than it was;
- page faults of a function are as many as the kernel counted meanwhile;
- direct writes are as many bytes of block devices as were written.
"""
import json, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, WAITS, WORKS = map(hermetic.runnable, sys.argv[1:])
WITHIN = 0.02
SLACK_NS = 50_000  # of each wait: what is between the clocks and the switch
MIN_NS = 2_000_000  # of all waits of a kind: file systems in memory have nothing to wait for
# How the switches are recorded, and whether each wait is seen from its begin to its end
SOURCES = {
    'switches of all CPUs': ['record', '-q', '-a', '-g', '-e', 'sched:sched_switch,sched:sched_waking'],
    'switches of the program': ['record', '-q', '-g', '-c', '1', '-e', 'context-switches', '--switch-events'],
}
# Calls that depend on which comes first, and those that one of the two does not see
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
        if ns < MIN_NS:
            continue
        close = abs(measured - ns) <= WITHIN * ns + SLACK_NS * count
        if name == 'planted_sync': # writing to the disk also takes time on the CPU
            close = ns / 3 <= measured <= (1 + WITHIN) * ns + SLACK_NS * count
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


def check_calls(folder, attempts=3):
    """Between its two readings of the clock a thread may lose its CPU: that is not a time of the call."""
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
    _, count, ns = next(line.split() for line in done.stdout.splitlines() if line.startswith('planted_read'))
    total = sum(row['total'] for row in rows if row['syscall'] == 'read')
    print(f'reads take {total / 1e6:.2f} of {int(ns) / 1e6:.2f} ms')
    enough = total >= int(ns) * (1 - WITHIN) - SLACK_NS * int(count)  # a call has its time on CPU, too
    assert enough or attempts > 1, (total, ns)
    return enough or check_calls(folder, attempts - 1)


def check_losses(folder):
    path = folder / 'lost.data'
    busy = 'dd if=/dev/zero bs=1k count=20000 2>/dev/null | cat >/dev/null & exec "$0" "$1"'
    done = run(PERFILE, 'record', '-q', '-m', '1', '-a', '-g', '-e', 'sched:*', '-o', path, '--', 'sh', '-c', busy, WAITS,
               folder / 'file')
    if done.returncode == 3:
        return False
    lost = sum(map(int, re.findall(r'^lost +(\d+)', run(PERFILE, 'info', path).stdout, re.M)))
    print(f'small buffers: {lost} records lost')
    if not lost:
        return False
    for verb in ('sched', 'summary'), ('sched', 'latency'), ('offcpu',):
        losses = json.loads(run(PERFILE, *verb, '-q', '--format', 'json', path).stdout)['losses']
        assert losses['lost'] == lost, (verb, losses, lost)
    found = off_cpu(path)
    for name, count, ns in (line.split() for line in done.stdout.splitlines()):
        seen, measured = found.get(name, (0, 0))
        assert measured <= int(ns) * (1 + WITHIN) + SLACK_NS * int(count), ('small buffers', name, measured, ns)
    return True


def check_faults(folder):
    path = folder / 'faults.data'
    done = run(PERFILE, 'record', '-q', '-d', '-c', '1', '-e', 'minor-faults,major-faults', '-o', path, '--', WORKS, folder / 'direct')
    if done.returncode == 3:
        return False
    _, pages, counted = next(line.split() for line in done.stdout.splitlines() if line.startswith('planted_touch'))
    shown = run(PERFILE, 'table', '-q', 'page_faults', '--format', 'jsonl', path)
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    seen = sum(row['faults'] for row in rows if row['symbol'] == 'planted_touch')
    print(f'page faults: {seen} of {counted}, of {pages} pages')
    assert seen == int(counted) >= int(pages), (seen, counted, pages)
    return True


def check_blocks(folder):
    """Not what the file system writes besides. A worker of the kernel may issue what the program does not."""
    path = folder / 'blocks.data'
    done = run(PERFILE, 'record', '-q', '-a', '-e', 'block:block_rq_issue,block:block_rq_complete', '-o', path, '--', WORKS, folder / 'direct')
    if done.returncode == 3:
        return False
    _, writes, size = next(line.split() for line in done.stdout.splitlines() if line.startswith('direct'))
    steps = run(PERFILE, 'script', '-q', '-F', 'event', path).stdout
    if steps.count('rq_complete') < steps.count('rq_issue'):
        print('skipped: block devices: the kernel does not tell of all ends, as of those that find a processor idle')
        return False
    shown = run(PERFILE, 'table', '-q', 'block_io', '--format', 'jsonl', '--columns', 'all', path)
    rows = [row for row in map(json.loads, shown.stdout.splitlines()) if 'W' in row['op'] and 'M' not in row['op']]
    wanted, own = int(writes) * int(size), sum(row['bytes'] for row in rows if row['comm'] == 'works')
    if not wanted or not rows:
        return False
    others = sum(row['bytes'] for row in rows if row['comm'].startswith('kworker'))
    print(f'block devices: {own} bytes of {wanted}, and {others} of workers')
    assert own <= wanted <= own + others, (own, wanted, others)
    return True


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checked = [check_waits(folder, what, how) for what, how in SOURCES.items()]
        checked += [check(folder) for check in (check_calls, check_losses, check_faults, check_blocks)]
    if not any(checked):
        print('skipped: recording: neither switches nor system calls can be recorded here')
        sys.exit(77)


main()
