#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""own_samples.py PERFILE OWN_SAMPLES NAME_LATER TREE: a program's own samples come out of each export, of flame graphs, reports and
comparisons as they went in; a profile that was made without binaries has, when its names are looked up later, the stacks that the
command finds at once; and pprof without names has mappings with build ids, and addresses."""
import json, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

STACKS = {'main;work;sum': 13, 'main;work': 5, 'main;idle': 3}
FOLDED = ''.join(f'{stack} {weight}\n' for stack, weight in sorted(STACKS.items()))


def fields(data):
    """The fields of a message of protobuf: (number, value), where a value is a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 0x80:
                return value
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at += value
            value = data[at - value:at]
        yield key >> 3, value


class Check:
    def __init__(self, perfile, own, later, tree, folder):
        self.perfile, self.own, self.later, self.tree, self.folder = perfile, own, later, pathlib.Path(tree), pathlib.Path(folder)
        self.wrong = 0

    def run(self, *command, text=None):
        return subprocess.run([str(word) for word in command], input=text, text=True, capture_output=True)

    def make(self, kind, form, stacks=FOLDED):
        out = self.folder / f'{kind}.{form}'
        done = self.run(self.own, kind, form, out, text=stacks)
        self.expect(f'{kind} {form}', done.returncode, 0)
        return out

    def expect(self, what, got, wanted):
        if got != wanted:
            self.wrong += 1
            print(f'{what}:\n{got}\nexpected:\n{wanted}')

    def check_outputs(self):
        twice = FOLDED.replace(' 13', ' 6') + 'main;work;sum 7\n'
        for kind in 'export', 'flame':
            self.expect(kind, self.make(kind, 'folded', twice).read_text(), FOLDED)
        self.expect('svg', re.findall(r'<title>(\w+) \((\d+)', self.make('flame', 'svg').read_text())[:1], [('all', '21')])
        scope = json.loads(self.make('export', 'speedscope').read_text())
        self.expect('speedscope', [(one['name'], one['endValue']) for one in scope['profiles']], [('all threads', 21)])
        self.expect('callgrind', 'fn=(1) ' in self.make('export', 'callgrind').read_text(), True)
        self.expect('otlp', b'work' in self.make('export', 'otlp').read_bytes(), True)
        names = [value.decode() for number, value in fields(self.make('export', 'pprof').read_bytes()) if number == 6]
        self.expect('pprof', [name in names for name in ('main', 'work', 'sum', 'idle', 'cpu', 'nanoseconds')], [True] * 6)
        for form in 'firefox', 'chrome':
            done = self.run(self.own, 'export', form, self.folder / 'none', text=FOLDED)
            self.expect(form, (done.returncode, 'needs the recording' in done.stderr), (1, True))

    def check_file(self):
        """The file of the profile is read by the verbs."""
        profile = self.make('export', 'profile')
        report = self.run(self.perfile, 'report', '--stdio', profile).stdout
        self.expect('report', re.findall(r'([\d.]+)% +([\d.]+)% .* (\w+)$', report, re.MULTILINE),
                    [('100.00', '0.00', 'main'), ('85.71', '23.81', 'work'), ('61.90', '61.90', 'sum'), ('14.29', '14.29', 'idle')])
        for verb in 'flame', 'export':
            self.expect(verb, self.run(self.perfile, verb, '--format', 'folded', profile).stdout, FOLDED)
        more = self.folder / 'more'
        self.run(self.own, 'export', 'profile', more, text=FOLDED.replace(' 13', ' 26'))
        rows = json.loads(self.run(self.perfile, 'diff', '--format', 'json', profile, more).stdout)['rows']
        self.expect('diff', any('sum' in map(str, row) and 13 in row and 26 in row for row in rows), True)
        done = self.run(self.perfile, 'export', '--format', 'pprof', '--by', 'comm', '-o', self.folder / 'none', profile)
        self.expect('keys of a profile', (done.returncode, 'keys' in done.stderr), (2, True))

    def check_later(self):
        recording, symfs = self.tree / 'examples/workload.perf.data', self.tree / 'examples/symfs'
        at_once = self.run(self.perfile, 'export', '--format', 'folded', '--symfs', symfs, recording).stdout
        self.expect('find_slot is there', 'find_slot' in at_once, True)
        self.expect('names later', self.run(self.later, recording, symfs).stdout, at_once)
        profile, pprof = self.folder / 'unnamed', self.folder / 'unnamed.pb'
        self.run(self.perfile, 'export', '--format', 'profile', '--no-names', '--symfs', symfs, '-o', profile, recording)
        for source in recording, profile:
            self.run(self.perfile, 'export', '--format', 'pprof', '--no-names', '--symfs', symfs, '-o', pprof, source)
            message = list(fields(pprof.read_bytes()))
            texts = [value.decode() for number, value in message if number == 6]
            mapping = dict(fields(next(value for number, value in message if number == 3)))
            self.expect('the mapping', (texts[mapping[5]], len(texts[mapping[6]]), mapping.get(7)),
                        ('/src/perfile/build/workload', 40, None))
            self.expect('start is where it is in the file', mapping[2], mapping[4])
            locations = [dict(fields(value)) for number, value in message if number == 4]
            self.expect('locations', {(3 in one, 4 in one) for one in locations}, {(True, False)})
            self.expect('no function', [number for number, _ in message if number == 5], [])


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(*sys.argv[1:5], folder)
        check.check_outputs()
        check.check_file()
        check.check_later()
    print(f'{check.wrong} wrong')
    sys.exit(check.wrong > 0)


main()
