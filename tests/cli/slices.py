#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slices.py PERFILE: intervals are cut at both ends of --time, so what slices of time add up to is the all."""
import json, os, pathlib, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
PERFILE = [*WRAPPER, sys.argv[1]]
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
SUMS = {'sched_summary': ['run_ns', 'wait_ns', 'sleep_ns', 'iowait_ns', 'preempt_ns', 'delay_ns', 'migrations'],
        'sched_cpu': ['busy_ns', 'idle_ns', 'delay_ns', 'wakings'], 'sched_latency': ['total_ns'],
        'offcpu': ['total_ns', 'delay_ns']}
# recordings, and how many slices they are cut into, between events
CUTS = {'sched-tiny1': 7, 'sched-tiny2': 11, 'offcpu-cs': 5}


def sums(view, path, *options):
    """Of each sum over all rows."""
    done = served.run([*PERFILE, 'table', '-q', '--no-inline', '--format', 'jsonl', '--columns', 'all', *options, view, path], text=True)
    assert done.returncode == 0, (view, path, options, done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [sum(row.get(name) or 0 for row in rows) for name in SUMS[view]]


def span(path):
    done = served.run([*PERFILE, 'table', '--format', 'jsonl', '--columns', 'time,type', 'records', path], text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    times = [row['time'] for row in rows if row['type'] == 'SAMPLE']
    return min(times), max(times)


def seconds(ns):
    return f'{ns // 10**9}.{ns % 10**9:09}'


def main():
    hermetic.settle()
    for name, parts in CUTS.items():
        path = DATA / f'{name}.perf.data'
        first, last = span(path)
        cuts = [seconds((first + (last - first) * i // parts) // 1000 * 1000 + 7) for i in range(1, parts)]
        slices = [f'{a},{b}' for a, b in zip(['', *cuts], [*cuts, ''])]
        for view in SUMS:
            entire = sums(view, path)
            added = [sum(values) for values in zip(*(sums(view, path, '--time', one) for one in slices))]
            assert added == entire, (name, view, SUMS[view], added, entire)
            assert any(entire) or (name == 'offcpu-cs' and view != 'offcpu'), (name, view)


main()
