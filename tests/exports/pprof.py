#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles for pprof say what the tables say: pprof.py PERFILE ASSEMBLE [C++ COMPILER...]

The profile is decoded here, with what readers refuse or take in silence looked for. Where pprof is at hand it reads the
profile, too: PERFILE_PPROF, `pprof` in PATH, or `go tool pprof`.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys

import common
import protobuf
from common import need

VALUE_TYPE = {1: ('type', 'int'), 2: ('unit', 'int')}
LABEL = {1: ('key', 'int'), 2: ('text', 'int'), 3: ('number', 'signed'), 4: ('unit', 'int')}
SAMPLE = {1: ('locations', ['int']), 2: ('values', ['signed']), 3: ('labels', [LABEL])}
MAPPING = {1: ('id', 'int'), 2: ('start', 'int'), 3: ('limit', 'int'), 4: ('offset', 'int'), 5: ('name', 'int'),
           6: ('build_id', 'int'), 7: ('has_functions', 'int'), 8: ('has_files', 'int'), 9: ('has_lines', 'int'),
           10: ('has_inlines', 'int')}
LINE = {1: ('function', 'int'), 2: ('line', 'signed')}
LOCATION = {1: ('id', 'int'), 2: ('mapping', 'int'), 3: ('address', 'int'), 4: ('lines', [LINE])}
FUNCTION = {1: ('id', 'int'), 2: ('name', 'int'), 3: ('system_name', 'int'), 4: ('file', 'int'), 5: ('start_line', 'int')}
PROFILE = {1: ('types', [VALUE_TYPE]), 2: ('samples', [SAMPLE]), 3: ('mappings', [MAPPING]), 4: ('locations', [LOCATION]),
           5: ('functions', [FUNCTION]), 6: ('texts', ['text']), 9: ('time', 'signed'), 10: ('duration', 'signed'),
           11: ('period_type', VALUE_TYPE), 12: ('period', 'signed'), 13: ('comments', ['int']), 14: ('default', 'int')}


def by_id(items, what):
    """Readers refuse ids that come twice, and 0 means no id."""
    found = {item.id: item for item in items}
    need(len(found) == len(items) and 0 not in found, f'ids of {what}')
    return found


class Decoded:
    """A profile with its references resolved."""

    def __init__(self, data):
        self.profile = profile = protobuf.Message(PROFILE, data)
        common.check_texts(profile.texts)
        self.mappings, self.functions = by_id(profile.mappings, 'mappings'), by_id(profile.functions, 'functions')
        self.locations = by_id(profile.locations, 'locations')
        self.types = [(profile.texts[each.type], profile.texts[each.unit]) for each in profile.types]
        names = [name for name, _ in self.types]
        need(len(set(names)) == len(names) > 0, f'names of value types: {names}')
        need(not profile.samples or profile.texts[profile.default] in names, 'the default type is none')
        self.lines = {number: self.lines_of(location) for number, location in self.locations.items()}
        self.used = set()

    def lines_of(self, location):
        """[(name, system name, file, line)], innermost first"""
        texts, module = self.profile.texts, None
        if location.mapping:
            mapping = self.mappings[location.mapping]
            module = texts[mapping.name]
            need(mapping.start <= location.address < mapping.limit or mapping.limit == (1 << 64) - 1,
                 f'{location.address:#x} is not in {mapping.start:#x} to {mapping.limit:#x}')
            need(mapping.has_functions, f'{module} asks to be looked for')
            need(mapping.has_inlines or len(location.lines) == 1, f'{module} has inlined functions')
        made = []
        for line in location.lines:
            function = self.functions[line.function]
            need(function.name, 'a function without a name')
            need(not module or mapping.has_lines or not line.line, f'{module} has lines')
            made.append((texts[function.name], texts[function.system_name], texts[function.file], line.line))
        return made

    def labels(self, sample):
        texts, labels = self.profile.texts, {}
        for label in sample.labels:
            key = texts[label.key]
            need(key not in labels, f'two labels {key}')
            need(bool(label.text) != bool(label.unit), f'label {key} is neither text nor number')
            labels[key] = texts[label.text] if label.text else label.number
        return labels

    def event_of(self, sample):
        """The number of the first of its values, and how many there are: those of its event."""
        counted = [i for i, (name, unit) in enumerate(self.types) if name.split(':')[0] == 'samples' and unit == 'count'
                   and sample.values[i]]
        need(len(counted) == 1, f'values of {len(counted)} events')
        first = counted[0]
        end = first + 2 + (len(self.types) > first + 2 and self.types[first + 2][0].startswith('weight'))
        need(not any(sample.values[:first]) and not any(sample.values[end:]), 'values of other events')
        return first, end

    def samples(self):
        seen = set()
        for sample in self.profile.samples:
            need(len(sample.values) == len(self.types), f'{len(sample.values)} values of {len(self.types)} types')
            self.used.update(sample.locations)
            frames = [line for location in sample.locations for line in self.lines[location]]
            labels = self.labels(sample)
            first, end = self.event_of(sample)
            row = tuple(sample.locations), tuple(sorted(labels.items())), first
            need(row not in seen, f'two samples of one stack with {labels}')
            seen.add(row)
            inner = self.lines[sample.locations[0]]
            name = re.sub(r'#\d+$', '', self.types[first + 1][0])
            need(labels.get('event', name) == name, f'event {labels.get("event")} of {name}')
            values = [value % (1 << 64) for value in sample.values[first:end]] + [0]
            made = common.Sample(name, [frame[0] for frame in frames], *values[:3], self_function=inner[-1][0],
                                 thread=(labels.get('pid'), labels.get('tid'), labels.get('comm', '')))
            made.cpu, made.cgroup = labels.get('cpu'), labels.get('cgroup')
            yield made


def check_inlines(decoded):
    """Of the compiled program: templates, linkage names, lines, the function that they are inlined in."""
    deep = [lines for lines in decoded.lines.values() if len(lines) == 3]
    need(len(deep) == 1, f'{len(deep)} locations of three functions')
    common.check_inlines(deep[0])
    mapping = decoded.profile.mappings[0]
    need(decoded.profile.texts[mapping.name].endswith('/prog') and mapping.has_files and mapping.has_lines, 'the program')
    need(decoded.profile.texts[mapping.build_id] == common.BUILD_ID, decoded.profile.texts[mapping.build_id])


def check_made(shop, recording, decoded, expected):
    """What is known of the recordings that are made."""
    profile, texts = decoded.profile, decoded.profile.texts
    if recording.name == 'kernel':
        need(profile.time == 1700000000000000000, f'time {profile.time}')
        need(profile.duration == 39000000, f'duration {profile.duration}')
        need('pprof does not store the times of samples' in shop.reply, shop.reply)
    else:
        need(profile.time == 0 or recording.name not in ('events', 'empty', 'demo'), f'time {profile.time}')
    if recording.name == 'events':
        need([name for name, _ in decoded.types] ==
             ['samples:cycles', 'cycles', 'samples:cycles#2', 'cycles#2', 'samples:page-faults', 'page-faults',
              'weight:page-faults'], decoded.types)
        need(profile.period == 5000 and texts[profile.period_type.type] == 'cycles', f'period {profile.period}')
        need('12 samples were lost' in texts[profile.comments[0]], texts[profile.comments[0]])
    if recording.name == 'empty':
        need(not profile.samples and decoded.types == [('samples', 'count')], decoded.types)
    if recording.name == 'inlines':
        check_inlines(decoded)


def check_pprof(path, expected, decoded):
    """The totals that pprof says."""
    command = pprof()
    environment = {**os.environ, 'PPROF_TMPDIR': str(path.parent), 'PPROF_BINARY_PATH': str(path.parent / 'nothing')}
    for name, unit in decoded.types:
        done = subprocess.run([*command, '-top', '-nodecount=10', f'-sample_index={name}', '-unit=' +
                               ('ns' if unit == 'nanoseconds' else unit), path], env=environment, capture_output=True,
                              text=True, check=False)
        need(done.returncode == 0, f'{command}: {done.stderr}')
        need('symbolization' not in done.stderr, done.stderr)
        reply = re.search(r'of (-?[\d.]+)[a-z]* total', done.stdout)
        at = [each for each, _ in decoded.types].index(name)
        total = sum(sample.values[at] for sample in decoded.profile.samples)
        need(reply and float(reply[1]) == total or not total, f'{name}: {reply and reply[0]} instead of {total}')


def pprof():
    named = os.environ.get('PERFILE_PPROF') or shutil.which('pprof')
    if named:
        return [named]
    if not shutil.which('go'):
        return None
    command = ['go', 'tool', 'pprof']
    reply = subprocess.run([*command, '-h'], capture_output=True, text=True, check=False).stderr
    return command if '-sample_index' in reply else None


def check(shop, recording):
    expected = shop.expected(recording)
    common.same_functions_as_reports(expected)
    path = shop.export(recording, 'pprof')
    data = path.read_bytes()
    decoded = Decoded(data)
    samples = list(decoded.samples())
    elsewhere = 'reports at the one that was interrupted' in shop.reply
    common.compare(expected, samples, ('totals', 'stacks', 'threads', 'functions', *([] if elsewhere else ['reported'])))
    if not recording.hostile:
        for key in 'cpu', 'cgroup':
            common.same(key, common.by_key(samples, key), common.by_key(expected.samples, key))
        texts = decoded.profile.texts
        common.check_build_ids({texts[each.name]: texts[each.build_id] for each in decoded.profile.mappings}, expected)
    need(decoded.used == set(decoded.locations), 'locations that no sample has')
    check_made(shop, recording, decoded, expected)
    packed = shop.export(recording, 'pprof', suffix='.gz')
    need(gzip.decompress(packed.read_bytes()) == data, 'the gzip file is another profile')
    plain = Decoded(shop.export(recording, 'pprof', '--by', 'event').read_bytes())
    common.compare(expected, list(plain.samples()), ('totals', 'stacks'))
    if pprof():
        check_pprof(packed, expected, decoded)
    return f'{len(samples)} samples, {len(decoded.locations)} locations, {len(decoded.mappings)} mappings'


def check_merged(shop):
    """Two recordings are one profile with the sums."""
    both = [each for each in shop.recordings() if each.name in ('kernel', 'events')]
    decoded = Decoded(shop.export_together(both, 'pprof').read_bytes())
    expected = [shop.expected(each) for each in both]
    wanted = common.totals([sample for each in expected for sample in each.samples])
    common.same('totals of both', common.totals(list(decoded.samples())), wanted)
    need(decoded.profile.duration == 39000000 + 59000000 and not decoded.profile.time, decoded.profile.duration)


def main():
    common.hermetic.settle()
    perfile, assemble, *compiler = sys.argv[1:]
    print(f'pprof: {" ".join(pprof() or ["skipped: there is neither pprof nor go tool pprof"])}')
    with common.workshop(perfile, assemble, compiler) as shop:
        status = common.check_all(shop, check)
        check_merged(shop)
        sys.exit(status)


if __name__ == '__main__':
    main()
