#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenTelemetry profiles say what the tables say: otlp.py PERFILE ASSEMBLE [C++ COMPILER...]

The message is decoded here by the fields of opentelemetry-proto 1.11.0, and the rules of its comments are looked for, which
no decoder does. Where protoc is in PATH and PERFILE_OTLP_PROTO names a folder with opentelemetry/proto, that decodes it, too.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

import common
import protobuf
from common import Wrong, need

VALUE = {1: ('text', 'text'), 3: ('number', 'signed')}
KEY_VALUE = {1: ('key', 'text'), 2: ('value', VALUE)}
RESOURCE = {1: ('attributes', [KEY_VALUE])}
SCOPE = {1: ('name', 'text'), 2: ('version', 'text')}
VALUE_TYPE = {1: ('type', 'int'), 2: ('unit', 'int')}
SAMPLE = {1: ('stack', 'int'), 2: ('attributes', ['int']), 3: ('link', 'int'), 4: ('values', ['signed']),
          5: ('times', ['fixed'])}
PROFILE = {1: ('type', VALUE_TYPE), 2: ('samples', [SAMPLE]), 3: ('time', 'fixed'), 4: ('duration', 'int'),
           5: ('period_type', VALUE_TYPE), 6: ('period', 'signed'), 11: ('attributes', ['int'])}
SCOPE_PROFILES = {1: ('scope', SCOPE), 2: ('profiles', [PROFILE])}
RESOURCE_PROFILES = {1: ('resource', RESOURCE), 2: ('scopes', [SCOPE_PROFILES])}
MAPPING = {1: ('start', 'int'), 2: ('limit', 'int'), 3: ('offset', 'int'), 4: ('name', 'int'), 5: ('attributes', ['int'])}
LINE = {1: ('function', 'int'), 2: ('line', 'signed')}
LOCATION = {1: ('mapping', 'int'), 2: ('address', 'int'), 3: ('lines', [LINE]), 4: ('attributes', ['int'])}
FUNCTION = {1: ('name', 'int'), 2: ('system_name', 'int'), 3: ('file', 'int'), 4: ('start_line', 'signed')}
LINK = {1: ('trace', 'bytes'), 2: ('span', 'bytes')}
ATTRIBUTE = {1: ('key', 'int'), 2: ('value', VALUE), 3: ('unit', 'int')}
STACK = {1: ('locations', ['int'])}
DICTIONARY = {1: ('mappings', [MAPPING]), 2: ('locations', [LOCATION]), 3: ('functions', [FUNCTION]), 4: ('links', [LINK]),
              5: ('texts', ['text']), 6: ('attributes', [ATTRIBUTE]), 7: ('stacks', [STACK])}
DATA = {1: ('resources', [RESOURCE_PROFILES]), 2: ('dictionary', DICTIONARY)}


def is_zero(value):
    if isinstance(value, protobuf.Message):
        return all(is_zero(inner) for inner in vars(value).values())
    return not value or isinstance(value, bytes) and not value.strip(b'\0')


def plain(value):
    return value.text or value.number


def content(value):
    """What makes entries of a table equal."""
    if isinstance(value, protobuf.Message):
        return tuple(content(inner) for inner in vars(value).values())
    return tuple(map(content, value)) if isinstance(value, list) else value


class Decoded:
    def __init__(self, data):
        self.data = protobuf.Message(DATA, data)
        self.tables = tables = self.data.dictionary
        for name, table in vars(tables).items():
            need(table and is_zero(table[0]), f'entry 0 of {name}')
            entries = [content(entry) for entry in table]
            need(len(set(entries)) == len(entries), f'{name} has entries twice')
        need(len(tables.links[0].trace) == 16 and len(tables.links[0].span) == 8, 'bytes of link 0')
        common.check_texts(tables.texts)
        need(all(len(each.scopes) == 1 for each in self.data.resources), 'one scope of each machine')
        self.resources = [{each.key: plain(each.value) for each in one.resource.attributes} for one in self.data.resources]
        self.resource = self.resources[0]
        self.profiles = [profile for each in self.data.resources for profile in each.scopes[0].profiles]
        self.used = collections.defaultdict(set)
        self.types = [self.text(each.type.type) for each in self.profiles]

    def text(self, number):
        self.used['texts'].add(number)
        return self.tables.texts[number]

    def attributes(self, numbers):
        found = {}
        for number in numbers:
            need(number, 'attribute 0')
            self.used['attributes'].add(number)
            attribute = self.tables.attributes[number]
            key = self.text(attribute.key)
            need(key not in found, f'attribute {key} twice')
            found[key] = plain(attribute.value)
        return found

    def lines(self, number):
        self.used['locations'].add(number)
        location, tables = self.tables.locations[number], self.tables
        mapping = tables.mappings[location.mapping]
        need(number, 'location 0')
        need(not location.mapping or mapping.start <= location.address < mapping.limit or mapping.limit >> 63,
             'an address is not in its mapping')
        if location.mapping:
            self.used['mappings'].add(location.mapping)
            self.build_ids[self.text(mapping.name)] = self.attributes(mapping.attributes).get(
                'process.executable.build_id.gnu')
        self.frame_types.add(self.attributes(location.attributes).get('profile.frame.type'))
        for line in location.lines:
            function = tables.functions[line.function]
            self.used['functions'].add(line.function)
            need(line.function and function.name, 'a function without a name')
            yield self.text(function.name), self.text(function.system_name), self.text(function.file), line.line

    def samples(self, profile):
        """(frames, attributes, values, times) of a profile"""
        begin, end, seen = profile.time, profile.time + profile.duration, set()
        for sample in profile.samples:
            need(sample.values, 'a sample without values')
            need(not sample.times or len(sample.times) == len(sample.values), 'not as many times as values')
            need(all(begin <= time < end for time in sample.times), 'a time is not in that of the profile')
            identity = sample.stack, tuple(sorted(sample.attributes))
            need(identity not in seen, 'two samples of one identity')
            seen.add(identity)
            self.used['stacks'].add(sample.stack)
            frames = [list(self.lines(location)) for location in self.tables.stacks[sample.stack].locations]
            yield frames, self.attributes(sample.attributes), [value % (1 << 64) for value in sample.values], sample.times

    def all_samples(self):
        """As common.Sample: the values of profiles come together."""
        self.build_ids, self.frame_types, self.seen_times, self.recordings = {}, set(), [], []
        made = []
        for number, profile in enumerate(self.profiles):
            self.text(profile.type.unit)
            if profile.period:
                self.text(profile.period_type.type), self.text(profile.period_type.unit)
            self.facts = self.attributes(profile.attributes)
            self.recordings.append(self.facts.get('perfile.recording'))
            kind, _, event = self.types[number].partition(':')
            kind = kind if kind in ('samples', 'weight') else ''
            for frames, attributes, values, times in self.samples(profile):
                count = len(times) if times and not kind else sum(values) if kind == 'samples' else 0
                sample = common.Sample(
                    (event or self.types[0]) if kind else self.types[number],
                    [line[0] for location in frames for line in location], count, 0 if kind else sum(values),
                    sum(values) if kind == 'weight' else 0, self_function=frames[0][-1][0],
                    thread=(attributes.get('process.pid'), attributes.get('thread.id'), attributes.get('thread.name', '')))
                sample.cpu = attributes.get('cpu.logical_number')
                sample.cgroup = attributes.get('process.linux.cgroup')
                self.seen_times += times
                made.append(sample)
        return made

    def check_orphans(self):
        for name in 'stacks', 'locations', 'functions', 'mappings', 'attributes', 'texts':
            unused = set(range(1, len(getattr(self.tables, name)))) - self.used[name]
            need(not unused, f'{name} that nothing refers to: {sorted(unused)[:5]}')


def check_made(shop, recording, decoded, expected):
    need(decoded.data.resources[0].scopes[0].scope.version.endswith('(opentelemetry-proto 1.11.0)'), 'the version')
    need(decoded.resource['os.type'] == 'linux', decoded.resource)
    if recording.name == 'kernel':
        need(decoded.types == ['cpu-clock'], decoded.types)
        need(sorted(decoded.seen_times) == [1700000000000000000 + i * 1000000 for i in range(40)], 'times')
        need(decoded.resource['host.name'] == 'machine' and decoded.frame_types == {'kernel'}, decoded.resource)
    elif recording.name in ('demo', 'events', 'names'):
        need(not decoded.seen_times and 'the times of samples are left out' in shop.reply, 'times without a wall clock')
    if recording.name == 'events':
        need(decoded.profiles[0].period == 5000 and decoded.facts == {'perfile.lost_samples': 12}, decoded.facts)
    if recording.name == 'empty':
        need(not decoded.profiles, decoded.types)
    if recording.name == 'inlines':
        deep = [location for location in decoded.tables.locations if len(location.lines) == 3]
        need(len(deep) == 1, f'{len(deep)} locations of three functions')
        common.check_inlines(list(decoded.lines(decoded.tables.locations.index(deep[0]))))
        need(list(decoded.build_ids.values()) == [common.BUILD_ID], decoded.build_ids)


def check_together(shop):
    """Recordings of two machines, one of them twice, and one without a wall clock."""
    known = {recording.name: recording for recording in shop.recordings()}
    recordings = [known[name] for name in ('kernel', 'events', 'kernel')]
    decoded = Decoded(shop.export_together(recordings, 'otlp').read_bytes())
    samples = decoded.all_samples()
    need('1 of 3 recordings does not say' in shop.reply, shop.reply)
    need([each.get('host.name') for each in decoded.resources] == ['machine', None], decoded.resources)
    need(len(set(decoded.recordings)) == 2 and None not in decoded.recordings, decoded.recordings)
    sums = collections.Counter()
    for recording in recordings:
        for event, values in common.totals(shop.expected(recording).samples).items():
            sums[event] += values[1]
    common.same('of three', dict(sums), {event: values[1] for event, values in common.totals(samples).items()})
    need(sorted(decoded.seen_times) == sorted(2 * [1700000000000000000 + i * 1000000 for i in range(40)]), 'times')
    decoded.check_orphans()


def check_protoc(data, decoded):
    folder = os.environ.get('PERFILE_OTLP_PROTO')
    if not folder or not shutil.which('protoc'):
        return
    done = subprocess.run(['protoc', f'--proto_path={folder}', '--decode=opentelemetry.proto.profiles.v1development.ProfilesData',
                           'opentelemetry/proto/profiles/v1development/profiles.proto'], input=data, capture_output=True,
                          check=False)
    need(done.returncode == 0, done.stderr)
    text = done.stdout.decode('utf-8', 'replace')
    unknown = re.findall(r'^\s*(\d+)(?::| \{)', text, re.M)
    need(not unknown, f'protoc does not know the fields {unknown[:5]}')
    need(text.count('\n      samples {') == sum(len(profile.samples) for profile in decoded.profiles), 'samples of protoc')


def check(shop, recording):
    expected = shop.expected(recording)
    data = shop.export(recording, 'otlp').read_bytes()
    decoded = Decoded(data)
    samples = decoded.all_samples()
    elsewhere = 'reports at the one that was interrupted' in shop.reply
    common.compare(expected, samples, ('totals', 'stacks', 'threads', 'functions', *([] if elsewhere else ['reported'])))
    if not recording.hostile:
        for key in 'cpu', 'cgroup':
            common.same(key, common.by_key(samples, key), common.by_key(expected.samples, key))
        common.check_build_ids(decoded.build_ids, expected)
    decoded.check_orphans()
    check_made(shop, recording, decoded, expected)
    check_protoc(data, decoded)
    few = Decoded(shop.export(recording, 'otlp', '--by', 'event').read_bytes())
    common.compare(expected, few.all_samples(), ('totals', 'stacks'))
    return f'{len(decoded.profiles)} profiles, {len(samples)} samples, {len(decoded.seen_times)} times'


def main():
    common.hermetic.settle()
    perfile, assemble, *compiler = sys.argv[1:]
    if not os.environ.get('PERFILE_OTLP_PROTO') or not shutil.which('protoc'):
        print('skipped: decoding with protoc: it is missing, or PERFILE_OTLP_PROTO names no folder with opentelemetry/proto')
    with common.workshop(perfile, assemble, compiler) as shop:
        check_together(shop)
        sys.exit(common.check_all(shop, check))


if __name__ == '__main__':
    main()
