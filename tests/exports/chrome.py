#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chrome's trace events: do slices nest, and are they where the samples are? chrome.py PERFILE ASSEMBLE [COMPILER...]

What slices should be is worked out here from `perfile table samples`: a sample of a clock stands for the time since the
one before, or, where that is two periods away, for its period.
"""
import collections
import decimal
import json
import sys

import common
import timelines
from common import Wrong

CPUS = 1 << 31
NS_PER_US = 1000


def expect(fact, what):
    if not fact:
        raise Wrong(what)


def load(path):
    trace = json.loads(path.read_bytes(), parse_float=decimal.Decimal)
    for event in trace['traceEvents']:
        if 'ts' in event:
            event['time'] = event['ts'] * NS_PER_US
            expect(event['time'] == int(event['time']), 'pieces of ns')
            event['time'] = int(event['time']) + int(trace['otherData']['start_ns'])
    return trace


def slices_of(trace):
    """{(pid, tid): [(from, to, category, names from the outermost)]}; what does not nest is wrong."""
    found, open_ones, last = collections.defaultdict(list), collections.defaultdict(list), 0
    for event in trace['traceEvents']:
        if event['ph'] == 'M':
            continue
        expect(event['time'] >= last, f'{event} goes back in time')
        last = event['time']
        within = open_ones[event['pid'], event['tid']]
        if event['ph'] == 'B':
            within.append(event)
            expect('args' not in event, 'arguments of a slice: some readers make them its name')
        elif event['ph'] == 'E':
            expect(within and within[-1]['name'] == event['name'], f'{event} does not nest')
            expect(event['time'] > within[-1]['time'], f'{event} has no length')
            category = within[-1]['cat']
            names = tuple(one['name'] for one in within if one['cat'] == category)
            found[event['pid'], event['tid']].append((within.pop()['time'], event['time'], category, names))
    expect(not any(open_ones.values()), 'slices that do not end')
    return found


def names_of(trace, what):
    return {(event['pid'], event['tid']): event['args']['name'] for event in trace['traceEvents']
            if event['ph'] == 'M' and event['name'] == what}


# ---- stacks ----------------------------------------------------------------------------------------------------------

def spans_of(rows):
    """[(from, to, frames from the outermost)] of the samples of a thread, by time."""
    spans, before = [], None
    for row in sorted(rows, key=lambda row: row['time']):
        interval = max(row['period'], 1)
        near = before is not None and row['time'] - before < 2 * interval
        start = before if near else max(before or 0, row['time'] - interval)
        if start < row['time']:
            spans.append((start, row['time'], tuple(common.label(name) for name in reversed(row['stack']))))
        before = row['time']
    return spans


def weights(spans):
    """{frames: how long the stack began with them}: the same however the spans are cut."""
    sums = collections.Counter()
    for start, end, frames in spans:
        for depth in range(1, len(frames) + 1):
            sums[frames[:depth]] += end - start
    return dict(sums)


def check_stacks(rows, recording, trace):
    samples = collections.defaultdict(list)
    for row in rows:
        if row['unit'] == 'ns' and 'stack' in row:
            samples[row['event'], row['pid'], row['tid']].append(row)
    slices, names, count = slices_of(trace), names_of(trace, 'thread_name'), 0
    for (event, pid, tid), of_thread in samples.items():
        found = slices[pid, tid]
        if not names.get((pid, tid), '').endswith(f' [samples of {event}]') or any(s[2] == 'state' for s in found):
            continue
        lengths = collections.Counter()
        for start, end, category, frames in found:
            if category == 'stack':
                lengths[tuple(common.label(name) for name in frames)] += end - start
                count += 1
        common.same(f'stacks of {tid}', dict(lengths), weights(spans_of(of_thread)))
    expect(count or not samples or recording.hostile, 'no stacks')
    return count


# ---- the rest --------------------------------------------------------------------------------------------------------

def check_traces(shop, recording, trace):
    wanted, found = timelines.traces(shop, recording), collections.defaultdict(list)
    for event in trace['traceEvents']:
        if event.get('cat') == 'tracepoint':
            found[event['time']].append({name: str(value) for name, value in event['args'].items()})
    common.same('tracepoints', dict(found), dict(wanted))


def check_rates(rows, trace):
    """In a recording of less than 100 seconds a value is that of 100 ms."""
    wanted, found = collections.Counter(row['cpu'] for row in rows if row.get('cpu') is not None), collections.Counter()
    for event in trace['traceEvents']:
        if event['name'].startswith('samples a second on CPU '):
            found[int(event['name'].split()[-1])] += event['args']['samples']
    common.same('samples a second', {cpu: value / 10 for cpu, value in found.items()}, dict(wanted))


def check(shop, recording):
    trace = load(shop.export(recording, 'chrome'))
    slices_of(trace)
    if recording.hostile:
        return f'{len(trace["traceEvents"])} events'
    rows = shop.table(recording, 'samples', '--columns', 'all')
    count = check_stacks(rows, recording, trace)
    check_rates(rows, trace)
    check_traces(shop, recording, trace)
    return f'{len(trace["traceEvents"])} events, {count} slices'


def check_switches(shop, recording):
    trace = load(shop.export(recording, 'chrome'))
    slices, start = slices_of(trace), 1000000000
    later = next(track for track in slices if track[0] == 7 and track[1] > CPUS)
    shown = {track: sorted((begin - start, end - start, category, *names) for begin, end, category, names in found)
             for track, found in slices.items()}
    common.same('slices', shown, {
        (7, 7): [(0, 2000000, 'stack', 'entry'), (0, 2000000, 'stack', 'entry', 'syscall'),
                 (0, 2500000, 'state', 'running'), (1000000, 2000000, 'stack', 'entry', 'syscall', 'read_it'),
                 (2500000, 3500000, 'state', 'preempted'), (3500000, 3700000, 'state', 'off CPU'),
                 (3700000, 4000000, 'stack', 'entry'), (3700000, 4000000, 'stack', 'entry', 'syscall'),
                 (3700000, 4250000, 'state', 'running'), (4250000, 4500000, 'state', 'off CPU'),
                 (4500000, 5000000, 'stack', 'entry'), (4500000, 5000000, 'stack', 'entry', 'syscall'),
                 (4500000, 5000000, 'state', 'running')],
        (7, 8): [(2200000, 3200000, 'stack', 'write_it'), (2200000, 3600000, 'state', 'running'),
                 (3600000, 4100000, 'state', 'off CPU')],
        later: [(4300000, 4900000, 'stack', 'copy<int>'), (4300000, 5500000, 'state', 'running')],
        (CPUS, 0): [(0, 2500000, 'cpu', 'first (7)'), (4300000, 5500000, 'cpu', 'second (8)')],
        (CPUS, 1): [(2200000, 3600000, 'cpu', 'first (8)'), (3700000, 4250000, 'cpu', 'first (7)'),
                    (4500000, 5000000, 'cpu', 'first (7)')]})
    lost = [event['args'] for event in trace['traceEvents'] if event['name'] == 'lost records']
    expect(lost == [{'records': 12}], f'lost: {lost}')
    return f'{len(slices)} tracks'


def check_sched(shop, recording):
    trace = load(shop.export(recording, 'chrome'))
    check_traces(shop, recording, trace)
    shown = {track: [(begin, end, *names) for begin, end, _, names in found] for track, found in slices_of(trace).items()}
    common.same('slices', shown, {
        (7, 7): [(1000000, 2000000, 'running'), (2000000, 2500000, 'sleeping'), (2500000, 3000000, 'running')],
        (8, 8): [(1200000, 2500000, 'running'), (2500000, 3000000, 'uninterruptible'), (3000000, 4000000, 'running')],
        (CPUS, 0): [(1000000, 2000000, ':7 (7)')],
        (CPUS, 1): [(1200000, 2500000, ':8 (8)'), (2500000, 3000000, ':7 (7)'), (3000000, 4000000, ':8 (8)')]})
    return f'{len(shown)} tracks'


def check_together(shop):
    """Each recording is what it is alone, at its time; the processes are others."""
    path, recordings, leads = timelines.together(shop, 'chrome')
    trace = json.loads(path.read_bytes(), parse_float=decimal.Decimal)
    expect([one['recording'] for one in trace['otherData']['recordings']] == [str(one.path) for one in recordings],
           trace['otherData'])
    events = iter(trace['traceEvents'])
    for number, (recording, lead) in enumerate(zip(recordings, leads)):
        for wanted in json.loads(shop.export(recording, 'chrome').read_bytes(), parse_float=decimal.Decimal)['traceEvents']:
            wanted['pid'] += number * (10000000 if wanted['pid'] < CPUS else 1 << 20)
            if 'ts' in wanted:
                wanted['ts'] += decimal.Decimal(lead) / NS_PER_US
            if wanted['name'] == 'process_name':
                wanted['args']['name'] += f' ({recording.path})'
            common.same('events', next(events), wanted)
    expect(next(events, None) is None, 'further events')


def main():
    common.hermetic.settle()
    with common.own_workshop() as shop:
        check_together(shop)
        failed = common.check_all(shop, check)
        switches = common.Recording('switches', shop.make('switches', timelines.made_switches()), '--kallsyms',
                                    shop.folder / 'kallsyms')
        sched = common.Recording('sched', shop.make('sched', timelines.made_sched()))
        return failed | common.check_each(shop, (switches, check_switches), (sched, check_sched))


if __name__ == '__main__':
    sys.exit(main())
