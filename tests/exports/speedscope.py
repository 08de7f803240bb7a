#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope's format, against the tables: speedscope.py PERFILE ASSEMBLE [COMPILER...]

With PERFILE_SPEEDSCOPE (the folder of the npm package), node and chromium, speedscope itself opens what was written, too.
"""
import collections
import json
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import common
import graphs

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'others'))
import others

SCHEMA = 'https://www.speedscope.app/file-format-schema.json'
NAME = re.compile(r'(.*?)(?: \(tid (\d+)\))?', re.DOTALL)
UNITS = {'none', 'nanoseconds'}


def need(what, fact):
    if not fact:
        raise common.Wrong(what)


def load(path):
    """The file, after a look at all that the schema asks for, and at what it does not see."""
    file = json.loads(path.read_bytes().decode('utf-8'), parse_constant=lambda text: need(f'{text} is no number', False))
    frames, profiles = file['shared']['frames'], file['profiles']
    need('$schema', file['$schema'] == SCHEMA and file['exporter'].startswith('perfile ') and file['name'])
    need('profiles', profiles and 0 <= file['activeProfileIndex'] < len(profiles))
    for frame in frames:
        need(f'a frame: {frame}', frame['name'] and set(frame) <= {'name', 'file', 'line'} and frame.get('file', 'x') and
             frame.get('line', 1) > 0)
    need('frames that are the same', len({(f['name'], f.get('file'), f.get('line')) for f in frames}) == len(frames))
    for profile in profiles:
        need(f'{profile["name"]}: members', set(profile) == {'type', 'name', 'unit', 'startValue', 'endValue', 'samples',
                                                             'weights'})
        need(f'{profile["name"]}: type and unit', profile['type'] == 'sampled' and profile['unit'] in UNITS)
        need(f'{profile["name"]}: a weight for each', len(profile['samples']) == len(profile['weights']))
        need(f'{profile["name"]}: its end', profile['startValue'] == 0 and profile['endValue'] == sum(profile['weights']))
        need(f'{profile["name"]}: stacks', all(stack and all(0 <= frame < len(frames) for frame in stack)
                                               for stack in profile['samples']))
    return file


def event_and_thread(profile, events):
    """Names of events are there when there are several."""
    name, event = profile['name'], next(iter(events), None)
    if len(events) > 1:
        event = next(one for one in events if name.endswith(f' {one}'))
        name = name.removesuffix(f' {event}')
    comm, tid = NAME.fullmatch(name).groups()
    return event, tid and int(tid), comm


def samples_of(file, events):
    for profile in file['profiles']:
        event, tid, _ = event_and_thread(profile, events)
        for stack, weight in zip(profile['samples'], profile['weights']):
            names = [file['shared']['frames'][frame]['name'] for frame in reversed(stack)]
            yield common.Sample(event, names, 1, weight, thread=tid)


def by(samples, key):
    sums = collections.Counter()
    for sample in samples:
        sums[key(sample)] += sample.values[1]
    return sums


def compare(shop, recording, samples):
    """Periods by event, thread, stack and function."""
    wanted = graphs.stacks_of(shop, recording)
    common.same('periods', by(samples, lambda s: s.event), by(wanted, lambda s: s.event))
    if recording.hostile:
        return
    def tid(sample):
        return sample.thread[1] if isinstance(sample.thread, tuple) else sample.thread
    common.same('threads', by(samples, lambda s: (s.event, tid(s))), by(wanted, lambda s: (s.event, tid(s))))
    common.same('stacks', by(samples, lambda s: (s.event, s.labels())), by(wanted, lambda s: (s.event, s.labels())))
    common.same('functions', common.functions(samples), common.functions(wanted))


def check_order(shop, recording, file, events):
    """The weights of each thread are the periods of its samples, one after the other."""
    wanted = collections.defaultdict(list)
    for row in shop.table(recording, 'samples', '--columns', 'all'):
        wanted[row['event'], row.get('tid')].append(row['period'])
    got = collections.defaultdict(list)
    for profile in file['profiles']:
        got[event_and_thread(profile, events)[:2]] += profile['weights']
    if len(set(events)) == len(shop.expected(recording).events): # else several events have one name
        common.same('the order of time', dict(got), dict(wanted))


def check_units(file, expected):
    for profile in file['profiles']:
        event = event_and_thread(profile, expected.units)[0]
        need(f'{profile["name"]}: unit', profile['unit'] == ('nanoseconds' if expected.units.get(event) == 'ns' else 'none'))


def check_merged(shop, recording, expected):
    """Twice the same recording: each stack of a thread comes once, and those that begin alike lie side by side."""
    path = shop.export(recording, 'speedscope', recording.path, suffix='.twice')
    file = load(path)
    samples = list(samples_of(file, expected.units))
    doubled = [common.Sample(s.event, s.frames, 2, 2 * s.values[1], thread=s.thread) for s in expected.samples]
    common.same('of two', by(samples, lambda s: s.event), by(doubled, lambda s: s.event))
    need('it is said', 'added up' in shop.reply and 'added up' in file['name'])
    for profile in file['profiles']:
        stacks = [tuple(stack) for stack in profile['samples']]
        need(f'{profile["name"]}: each stack once', len(set(stacks)) == len(stacks))
        prefixes = [stack[:2] for stack in stacks]
        runs = sum(one != other for one, other in zip(prefixes, prefixes[1:])) + bool(prefixes)
        need(f'{profile["name"]}: side by side', runs == len(set(prefixes)))


def check(shop, recording):
    expected = shop.expected(recording)
    path = shop.export(recording, 'speedscope')
    file = load(path)
    samples = list(samples_of(file, expected.units))
    if not expected.samples:
        need('a profile without samples', [p['samples'] for p in file['profiles']] == [[]])
        return 'empty'
    compare(shop, recording, samples)
    check_units(file, expected)
    need('it is said what is missing', 'cannot hold build ids' in shop.reply)
    if not expected.hostile:
        check_order(shop, recording, file, expected.units)
        check_merged(shop, recording, expected)
    graphs.check_reported(shop, recording, 'speedscope', lambda path, events: samples_of(load(path), events))
    return f'{len(samples)} samples of {len(file["profiles"])} profiles; {opened(shop, path, file)}'


def opened(shop, path, file):
    """What speedscope exports again, after it has read the file."""
    try:
        loaded = others.speedscope_loads(shop, str(path))
    except others.Skip as why:
        return f'skipped: speedscope: {why}'
    common.same('speedscope', {'profiles': loaded['profiles'], 'weight': loaded['weight']},
                {'profiles': len(file['profiles']), 'weight': sum(p['endValue'] for p in file['profiles'])})
    return 'speedscope agrees'


def main():
    common.hermetic.settle()
    return graphs.check_all(check)


if __name__ == '__main__':
    sys.exit(main())
