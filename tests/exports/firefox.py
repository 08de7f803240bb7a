#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Firefox Profiler's format: is it well-formed, and does it say what the tables say?
firefox.py PERFILE ASSEMBLE [COMPILER...]

The profiler itself checks no indices and no order: what is wrong there is a lost sample or an endless loop in its pages. So
that is checked here; whether it loads is checked by tests/others/others.py.
"""
import collections
import copy
import decimal
import gzip
import json
import sys

import common
import timelines
from common import Wrong

TABLES = ('frameTable', 'funcTable', 'stackTable', 'resourceTable', 'nativeSymbols', 'samples', 'markers')
NS_PER_MS = 1000000


def expect(fact, what):
    if not fact:
        raise Wrong(what)


def load(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.name.endswith('.gz') else data, parse_float=decimal.Decimal)


# ---- structure -------------------------------------------------------------------------------------------------------

def check_indices(profile, thread):
    def within(table, column, size, *others):
        for value in thread[table][column]:
            expect(value in others or 0 <= value < size, f'{table}.{column}: {value}, there are {size}')

    sizes = {name: thread[name]['length'] for name in TABLES}
    texts, libs = len(thread['stringArray']), len(profile['libs'])
    within('stackTable', 'frame', sizes['frameTable'])
    within('frameTable', 'func', sizes['funcTable'])
    within('frameTable', 'category', len(profile['meta']['categories']))
    within('frameTable', 'nativeSymbol', sizes['nativeSymbols'], None)
    within('funcTable', 'name', texts)
    within('funcTable', 'fileName', texts, None)
    within('funcTable', 'resource', sizes['resourceTable'], -1)
    within('resourceTable', 'lib', libs)
    within('resourceTable', 'name', texts)
    within('nativeSymbols', 'libIndex', libs)
    within('nativeSymbols', 'name', texts)
    within('samples', 'stack', sizes['stackTable'])
    within('markers', 'name', texts)
    within('markers', 'category', len(profile['meta']['categories']))
    for i, prefix in enumerate(thread['stackTable']['prefix']):
        expect(prefix is None or 0 <= prefix < i, f'stack {i} has the prefix {prefix}')


def check_lengths(thread):
    for name in TABLES:
        for column, values in thread[name].items():
            if isinstance(values, list):
                expect(len(values) == thread[name]['length'], f'{name}.{column} has {len(values)} values')


def check_markers(profile, thread):
    markers, schemas = thread['markers'], {schema['name'] for schema in profile['meta']['markerSchema']}
    starts = markers['startTime']
    expect(starts == sorted(starts), 'markers go back in time')
    for start, end, phase, data in zip(starts, markers['endTime'], markers['phase'], markers['data']):
        expect((phase == 0 and end is None) or (phase == 1 and end >= start), f'a marker from {start} to {end}')
        expect(data['type'] in schemas, f'a marker of type {data["type"]}')
        if 'cause' in data:
            expect(0 <= data['cause']['stack'] < thread['stackTable']['length'], 'a stack of a marker')


def check_inlined(thread):
    """Inlined functions stand in the frame that they are in, at its address."""
    frames, stacks = thread['frameTable'], thread['stackTable']
    for frame, prefix in zip(stacks['frame'], stacks['prefix']):
        depth = frames['inlineDepth'][frame]
        if depth:
            above = stacks['frame'][prefix]
            for column, wanted in ('inlineDepth', depth - 1), ('address', frames['address'][frame]), \
                    ('nativeSymbol', frames['nativeSymbol'][frame]):
                expect(frames[column][above] == wanted, f'{column} of inlined frames')


def check_structure(profile):
    meta = profile['meta']
    expect(meta['preprocessedProfileVersion'] == 55 and meta['symbolicated'] and meta['interval'] > 0, 'meta')
    expect(any(category['color'] == 'grey' for category in meta['categories']), 'no grey category')
    expect(len({schema['name'] for schema in meta['markerSchema']}) == len(meta['markerSchema']), 'a schema twice')
    expect(profile['threads'], 'no threads')
    mains = collections.Counter(thread['pid'] for thread in profile['threads'] if thread['isMainThread'])
    expect(all(count == 1 for count in mains.values()), 'a process with several main threads')
    for thread in profile['threads']:
        check_lengths(thread)
        check_indices(profile, thread)
        check_markers(profile, thread)
        check_inlined(thread)
        samples = thread['samples']
        expect(all(delta >= 0 for delta in samples['timeDeltas']), 'samples go back in time')
        expect(samples['length'] or 'threadCPUDelta' not in samples, 'CPU time without samples')
        expect(samples['weightType'] in ('samples', 'tracing-ms'), samples['weightType'])


# ---- what it says ----------------------------------------------------------------------------------------------------

def events_of(profile):
    return [entry['label'] for entry in profile['meta']['extra'][0]['entries'] if entry['value'].startswith('weights ')]


def event_of(profile, thread):
    names = events_of(profile)
    found = [name for name in names if len(names) == 1 or thread['name'].endswith(f' ({name})')]
    expect(found, f'no event has the thread {thread["name"]}')
    return max(found, key=len)


def frames_of(profile, thread, stack):
    """Leaf first: (name, module), and whether it is inlined."""
    functions, frames, texts = thread['funcTable'], thread['frameTable'], thread['stringArray']
    while stack is not None:
        frame = thread['stackTable']['frame'][stack]
        function = frames['func'][frame]
        resource = functions['resource'][function]
        name = texts[functions['name'][function]]
        module = profile['libs'][thread['resourceTable']['lib'][resource]]['path'] if resource >= 0 else None
        yield (None if name.startswith('0x') else name, module), frames['inlineDepth'][frame] > 0
        stack = thread['stackTable']['prefix'][stack]


def periods_of(thread):
    samples = thread['samples']
    if samples['weight'] is None:
        return [1] * samples['length']
    unit = NS_PER_MS if samples['weightType'] == 'tracing-ms' else 1
    periods = [weight * unit for weight in samples['weight']]
    expect(all(period == int(period) for period in periods), 'pieces of ns')
    return [int(period) for period in periods]


def decode(profile):
    for thread in profile['threads']:
        known = {}
        for stack, period in zip(thread['samples']['stack'], periods_of(thread)):
            if stack not in known:
                frames = list(frames_of(profile, thread, stack))
                leaf = next((frame for frame, inlined in frames if not inlined), frames[-1][0])
                known[stack] = [frame for frame, _ in frames], common.label(*leaf)
            who = int(thread['pid'].split('.')[0]), int(str(thread['tid']).split('.')[0]), None
            yield common.Sample(event_of(profile, thread), known[stack][0], 1, period, 0, who, known[stack][1])


def without_names(expected):
    """Threads have their last names here, and no weights."""
    plain = copy.copy(expected)
    plain.samples = []
    for sample in expected.samples:
        sample = copy.copy(sample)
        sample.thread, sample.values = (*sample.thread[:2], None), (*sample.values[:2], 0)
        plain.samples.append(sample)
    return plain


def check_libraries(profile, expected):
    if expected.hostile:
        return
    libraries = {library['path']: library for library in profile['libs']}
    for name, build_id in expected.build_ids().items():
        data = bytes.fromhex(build_id).ljust(16, b'\0')
        guid = data[3::-1] + data[5:3:-1] + data[7:5:-1] + data[8:16]
        expect(libraries[name]['codeId'] == build_id, f'build id of {name}')
        expect(libraries[name]['breakpadId'] == guid.hex().upper() + '0', f'GUID of {name}')


def check_times(shop, recording, profile):
    """The samples of each thread begin and end when the table says."""
    wanted = collections.defaultdict(list)
    for row in shop.table(recording, 'threads'):
        if row['samples']:
            wanted[row['pid'], row['tid']] += [row['first_time'], row['last_time']]
    got = collections.defaultdict(list)
    for thread in profile['threads']:
        deltas = thread['samples']['timeDeltas']
        if deltas:
            who = int(thread['pid'].split('.')[0]), int(str(thread['tid']).split('.')[0])
            got[who] += [deltas[0] * NS_PER_MS, sum(deltas) * NS_PER_MS]
    spans = {who: max(times) - min(times) for who, times in wanted.items()}
    common.same('times of threads', {who: max(times) - min(times) for who, times in got.items()}, spans)
    begins = {min(times) - min(wanted[who]) for who, times in got.items()}
    expect(len(begins) <= 1, 'times of threads have several origins')


def check_traces(shop, recording, profile):
    """Each sample of a tracepoint is a marker with its fields and its stack."""
    wanted = timelines.traces(shop, recording)
    origin, found = None, 0
    for thread in profile['threads']:
        for start, data in zip(thread['markers']['startTime'], thread['markers']['data']):
            if 'cause' not in data:
                continue
            found += 1
            fields = {name.rstrip('_') if name in ('type_', 'cause_') else name: str(value)
                      for name, value in data.items() if name not in ('type', 'cause')}
            time = origin + int(start * NS_PER_MS) if origin is not None else next(
                time for time, records in sorted(wanted.items()) if fields in records)
            origin = time - int(start * NS_PER_MS)
            expect(fields in wanted[time], f'a tracepoint at {time}: {fields}, not {wanted[time]}')
    expect(found == sum(map(len, wanted.values())), f'{found} samples of tracepoints')


def check_starts(profile):
    """Functions say where they begin; inlined ones do not."""
    wanted = {name: number for number, line in enumerate(common.PROGRAM.splitlines(), 1)
              for name in ('outer', 'plain') if '__attribute__' in line and f' {name}(' in line}
    for thread in profile['threads']:
        functions = thread['funcTable']
        starts = {common.label(thread['stringArray'][name]).split('::')[-1]: line
                  for name, line in zip(functions['name'], functions['lineNumber']) if line is not None}
        expect(starts.pop('main', 0), 'no first line of main') # of its name, or of its brace: compilers differ
        common.same('first lines', starts, wanted)


def check(shop, recording):
    path = shop.export(recording, 'firefox')
    profile, expected = load(path), without_names(shop.expected(recording))
    check_structure(profile)
    samples = list(decode(profile))
    common.compare(expected, samples)
    check_libraries(profile, expected)
    if not recording.hostile:
        check_times(shop, recording, profile)
        check_traces(shop, recording, profile)
    expect(load(shop.export(recording, 'firefox', suffix='.gz')) == profile, 'the gzip file is another one')
    inlined = sum(map(bool, (depth for thread in profile['threads'] for depth in thread['frameTable']['inlineDepth'])))
    expect(recording.name != 'inlines' or inlined, 'no inlined functions')
    lines = sum(line is not None for thread in profile['threads'] for line in thread['frameTable']['line'])
    expect(recording.name != 'inlines' or lines, 'no lines')
    if recording.name == 'inlines':
        check_starts(profile)
    return f'{len(profile["threads"])} threads, {len(samples)} samples, {inlined} inlined frames, {lines} lines'


# ---- what happens between samples ------------------------------------------------------------------------------------

def markers_of(thread):
    """[(name, from, to, data without its type)] in ns."""
    markers, texts = thread['markers'], thread['stringArray']
    return [(texts[name], int(start * NS_PER_MS), int(end * NS_PER_MS) if end is not None else None,
             {key: value for key, value in data.items() if key != 'type'})
            for name, start, end, data in zip(markers['name'], markers['startTime'], markers['endTime'], markers['data'])]


def check_switches(shop, recording):
    profile = load(shop.export(recording, 'firefox'))
    check_structure(profile)
    threads = {(thread['pid'], thread['tid']): thread for thread in profile['threads']}
    common.same('threads', {who: thread['name'] for who, thread in threads.items()},
                {('7', 7): 'first', ('7', 8): 'first', ('7', '8.1'): 'second', ('recording', 'recording'): 'recording'})
    first, ended, second, losses = threads.values()
    common.same('markers', {'first': markers_of(first), 'ended': markers_of(ended), 'second': markers_of(second),
                            'losses': markers_of(losses)}, {
        'first': [('fork', 2100000, None, {'thread': 8}), ('off CPU', 2500000, None, {'state': 'preempted', 'cpu': 0}),
                  ('off CPU', 3500000, 3700000, {'state': '', 'cpu': 1}), ('fork', 4200000, None, {'thread': 8}),
                  ('off CPU', 4250000, 4500000, {'state': '', 'cpu': 1})],
        'ended': [('off CPU', 3600000, None, {'state': '', 'cpu': 1}), ('exit', 4100000, None, {})],
        'second': [('exec', 4300000, None, {'name': 'second'}), ('off CPU', 5500000, None, {'state': '', 'cpu': 0})],
        'losses': [('lost records', 5000000, None, {'records': 12, 'cpu': 0, 'event': 'cpu-clock'}),
                   ('throttled', 5100000, None, {'cpu': 1, 'event': 'cpu-clock'})]})
    common.same('CPU time', {who: thread['samples'].get('threadCPUDelta') for who, thread in threads.items()},
                {('7', 7): [1000000, 1000000, 800000, 750000], ('7', 8): [1000000], ('7', '8.1'): [600000],
                 ('recording', 'recording'): None})
    common.same('spans', {who: (thread['registerTime'], thread['unregisterTime']) for who, thread in threads.items()},
                {('7', 7): (0, None), ('7', 8): (decimal.Decimal('2.1'), decimal.Decimal('4.1')),
                 ('7', '8.1'): (decimal.Decimal('4.2'), None), ('recording', 'recording'): (0, None)})
    return f'{len(threads)} threads'


def check_sched(shop, recording):
    profile = load(shop.export(recording, 'firefox'))
    check_structure(profile)
    check_traces(shop, recording, profile)
    away = {thread['tid']: [marker for marker in markers_of(thread) if marker[0] == 'off CPU']
            for thread in profile['threads']}
    common.same('times off the processor', away, {
        0: [], 7: [('off CPU', 1000000, 1500000, {'state': 'sleeping', 'cpu': 0}),
                   ('off CPU', 2000000, None, {'state': 'preempted', 'cpu': 1})],
        8: [('off CPU', 1500000, 2000000, {'state': 'uninterruptible', 'cpu': 1}),
            ('off CPU', 3000000, None, {'state': 'ended', 'cpu': 1})]})
    return f'{len(away)} threads'


def check_together(shop):
    """Each recording is what it is alone, at its time; the processes are others."""
    path, recordings, leads = timelines.together(shop, 'firefox')
    profile = load(path)
    check_structure(profile)
    expect(profile['meta']['startTime'] == 1700000000000, profile['meta']['startTime'])
    threads = iter(profile['threads'])
    for number, (recording, lead) in enumerate(zip(recordings, leads), 1):
        for alone in load(shop.export(recording, 'firefox'))['threads']:
            thread = next(threads)
            expect(thread['pid'] == f'{number}:{alone["pid"]}', thread['pid'])
            expect(thread['processName'] == f'{alone["processName"]} ({recording.path})', thread['processName'])
            alone['samples']['timeDeltas'][:1] = [time + decimal.Decimal(lead) / NS_PER_MS
                                                  for time in alone['samples']['timeDeltas'][:1]]
            common.same('samples', thread['samples'], alone['samples'])
            later = [(name, start + lead, end if end is None else end + lead, data)
                     for name, start, end, data in markers_of(alone)]
            common.same('markers', dict(enumerate(markers_of(thread))), dict(enumerate(later)))
    expect(next(threads, None) is None, 'further threads')


def main():
    common.hermetic.settle()
    with common.own_workshop() as shop:
        check_together(shop)
        failed = common.check_all(shop, check)
        switches = common.Recording('switches', shop.make('switches', timelines.made_switches()))
        sched = common.Recording('sched', shop.make('sched', timelines.made_sched()))
        return failed | common.check_each(shop, (switches, check_switches), (sched, check_sched))


if __name__ == '__main__':
    sys.exit(main())
