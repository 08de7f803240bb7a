#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every verb with options that no other test combines, over recordings, mutants of them and damaged companions.

    options.py PERFILE ASSEMBLE MUTANTS [--first N] [--count N] [--timeout S] [--keep DIR] [--jobs N] RECORDINGS AND FOLDERS...

The options come from the command's own tables (perfile help --json): a new one is tried without a further line. Each run has
one option in its turn and further ones by chance. An exit status of 0 to 3 is expected within the time, JSON that can be
parsed, and messages without control characters. MUTANTS (mutants.c) makes the mutants.

Run number n is the same for the same recordings everywhere: --first n --count 1 repeats it. What is found is kept with its
files in DIR/run-N.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent), str(HERE.parent / 'golden')]
import hermetic
import mutants
import run as golden
import served

ROUND = 200  # runs of one piece of work
RECORDING_BYTES_MAX = 300_000
SANITIZER_STATUS = 99
LEAKS_EVERY = 4  # looking for leaks takes longer than the run: every fourth run of an option does
EXPECTED = 0, 1, 2, 3
USAGE = 2
COLOR = re.compile(rb'\x1b\[[0-9;]*m')
CONTROL = re.compile(rb'^perfile:.*[\x00-\x08\x0b-\x1f\x7f]', re.M)
WITHOUT_FILES = 'record', 'top', 'list', 'probe', 'help', 'completion'  # they need the machine, or read nothing
RECORDING_VIEW = 'record'  # the same, of verbs that have views
WRITING = 'repair convert inject cut merge anonymize index bundle archive'.split()  # beside the recording without -o
# What would leave the folder of the test, wait for input, or start programs; --output is in Maker.fixed.
LEFT_OUT = {'--help', '--output', '--input', '--pager', '--open', '--tui', '--script', '--objdump', '--per-event-dump',
            '--to-json', '--to-ctf', '--html', '--debuginfod-limit', '--debuginfod-max-size', '--kcore'}
NUMBERS = '0 1 2 3 10 100 65536 4294967295 18446744073709551615'.split()
NAMES = ['comm', 'cycles', 'perf', 'sched:sched_switch', 'cpu-clock', 'main', 'a,b', '*', '', '[unknown]', '0x0']
# By the name of the argument; {N} is a companion of that kind, see Companions.
VALUES = {
    'N': NUMBERS, 'PRIORITY': NUMBERS, 'MS': NUMBERS, 'PIXELS': NUMBERS, 'SECONDS': ['0', '1'],
    'BYTES': ['0', '1', '64', '4096', '1M', 'unlimited'], 'SIZE': ['0', '1', '4K', '1M'],
    'LIST': ['0', '0-3', '1,2', *NAMES], 'PERCENT': ['0', '0.01', '50', '100'], 'TIME': ['1ns', '1us', '10ms', '1s', '50%'],
    'START,STOP': ['10%-50%', ',', '0,', '+0.1,+1', '5%/3', '1e300,', '50%-', '10%-20%,40%-60%'],
    'TEXT': [',', '\t', '@', 'main'], 'DIR': ['{folder}'], 'DIR[:DIR...]': ['{folder}:/nonexistent'], 'FILE': ['{text}'],
    '[HOW]': ['none', 'caller', 'callee', 'graph,0.5', 'flat', 'folded', 'fractal,1', 'caller,address,percent', 'callee,srcline,count'],
    'WIDTH': ['0', '0.1', '3'], 'VERSION': ['perf-3.0', 'perf-4.4', 'perf-5.4', 'perf-6.1', 'perf-6.12'], 'REGEX': ['.', '^a|b$', '['],
    'LIMIT': ['0', '5%', '1s'], 'LEVEL': ['0', '0.05', '1'], 'OLD=NEW': ['a=b', '^(.*)=x'], 'EVENT': NAMES, 'NAME': NAMES,
    'SYMBOL': NAMES, 'SYMBOLS': NAMES, 'KEY': ['key'], 'FOLDER': ['{baselines}'], 'STACKS': ['{folded}'], 'OLD': ['{recording}'],
    'BY': ['cpu', 'comm', 'event', 'pid', 'tid', 'time=1us', 'time=50%', 'samples=5', 'size=4K'], 'FILES': ['{elf}'],
    'KEYS': NAMES, 'COLUMNS': NAMES, 'TYPES': ['spinlock', 'rwlock,mutex'], 'CALLS': ['read', '!open', 'file', '/rea'],
    'OPTIONS': ['i0', 'b'], 'MODE': NAMES, 'ID': ['', '0', '00ff', 'xy'], 'LETTERS': ['', 'i', 'i10i', 'bl', 'fmtaM', 'i1,l16', 'Ze', 'i5us', 'x'],
}
# By the name of the option where that says more.
OWN_VALUES = {
    '--symfs': ['{symfs}', '/nonexistent'], '--source-dir': ['{symfs}'], '--archive': ['{archive}'], '--kallsyms': ['{kallsyms}'],
    '--vmlinux': ['{elf}'], '--missing': ['{recording}'], '--buildid-dir': ['{folder}'], '--by': ['cpu', 'comm', 'pid,tid', 'time', 'event', 'dso,symbol', 'tid,dso'],
    '--time': VALUES['START,STOP'], '--map': ['a=b', '/usr=/opt'], '--jobs': ['1', '2', '4'], '--delay': ['0'],
    '--binary': ['{elf}'], '--expr': ['read', '!open', '%file', 'sched:*', 'sched:sched_switch/x/,read', '{a:b,c:*}'],
}
LISTS = ('list', 'fields')
# How companions are made of a recording; their path and that of the recording come last.
MADE_FILES = {'archive': ['archive', '--symfs', '{symfs}', '-o'], 'bundle': ['bundle', '--symfs', '{symfs}', '-o'],
              'folded': ['flame', '--symfs', '{symfs}', '--format', 'folded', '-o'], 'index': ['index', '-o'],
              'profile': ['export', '--symfs', '{symfs}', '--format', 'profile', '--by', 'comm,tid', '-o']}
READ = 'bundle', 'profile'  # of these, what is also read as recordings are
MADE_FOLDERS = {'dataset': ['export', '--format', 'parquet', '--partition', 'host', '-o'], 'baselines': ['diff', '--update', '--against']}
READ_OFTEN = 'workload.perf.data', 'jit.perf.data', 'arm-spe.perf.data', 'intel-bts.perf.data', *[f'{kind}.tar' for kind in READ]
QUERIES = ['SELECT * FROM {view}', 'SELECT count(*) FROM {view}', 'SELECT comm, sum(period) FROM samples GROUP BY 1',
           'SELECT * FROM samples JOIN threads USING (tid) LIMIT 50', 'SELECT * FROM stacks, frames LIMIT 100']


class Tables:
    """The tables of the command: its verbs, and the columns of its views."""

    def __init__(self, perfile):
        done = subprocess.run([perfile, 'help', '--json'], capture_output=True, check=True, env=hermetic.environment())
        tables = json.loads(done.stdout)
        self.verbs = {verb['name']: verb for verb in tables['verbs'] if verb['name'] not in WITHOUT_FILES}
        self.views = {view['name']: [column['name'] for column in view['columns']] for view in tables['views']}
        self.turns = [(verb, option) for verb in self.verbs for option in self.options(verb)] + [(verb, None) for verb in self.verbs]
        random.Random('turns').shuffle(self.turns)

    def options(self, verb):
        return [option for option in self.verbs[verb]['options'] if option['name'] not in LEFT_OUT and option['kind'] != 'ignored']

    def operands(self, verb):
        """Views and actions."""
        return [value['value'] for value in self.verbs[verb].get('values', []) if value['value'] != RECORDING_VIEW]

    def columns(self, verb, operand):
        names = {operand, verb, f'{verb}_{operand}'} & self.views.keys() or self.views.keys()
        return sorted({column for name in names for column in self.views[name]})


class Companions:
    """What is read beside a recording: made once, and damaged for each run that needs it."""

    def __init__(self, perfile, recordings, folder):
        self.folder, self.recordings = folder, recordings
        self.symfs = folder / 'symfs'
        shutil.copytree(HERE.parent.parent / 'examples' / 'symfs', self.symfs)
        (self.symfs / 'tmp').mkdir()
        for path in (HERE.parent / 'data').glob('jit-*.dump'):
            shutil.copy(path, self.symfs / 'tmp')
        (self.symfs / 'tmp' / 'perf-1.map').write_text('400000 1000 from_a_map\n')
        (folder / 'folder').mkdir()
        self.files = {'elf': [path for path in self.symfs.rglob('*') if path.is_file() and path.read_bytes()[:4] == b'\x7fELF'],
                      'kallsyms': sorted((HERE.parent / 'data').glob('*.kallsyms')), 'text': [HERE / 'options.py'],
                      'recording': recordings}
        self.made = {'folder': folder / 'folder', 'symfs': self.symfs}
        self.workload = HERE.parent.parent / 'examples' / 'workload.perf.data'
        for kind, words in MADE_FILES.items():
            self.files[kind] = [self.make(perfile, words, folder / f'{kind}.tar')]
        for kind, words in MADE_FOLDERS.items():
            self.made[kind] = self.make(perfile, words, folder / kind)
        recordings += [path for kind in READ for path in self.files[kind]]

    def make(self, perfile, words, path):
        words = [word.replace('{symfs}', str(self.symfs)) for word in words]
        subprocess.run([perfile, *words, path, self.workload], capture_output=True, check=True, env=hermetic.environment())
        return path

    def get(self, kind, chance, scratch):
        """The path of one, in half of the cases of a damaged copy."""
        damaged = chance.random() < 0.5
        if kind in self.files:
            path = chance.choice(self.files[kind])
            return damage(path, scratch / f'{kind}.companion', chance) if damaged else path
        if kind == 'symfs' and not damaged:  # which is only read
            return self.made[kind]
        copy = scratch / f'{kind}.companion'
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.made[kind], copy, symlinks=True)
        files = sorted(path for path in copy.rglob('*') if path.is_file() and not path.is_symlink())
        if damaged and files:
            path = chance.choice(files)
            damage(path, path, chance)
        return copy


def damage(source, target, chance):
    data = source.read_bytes()
    target.write_bytes(mutants.mutate(data, data, chance.getrandbits(48)) if len(data) > 16 else data)
    return target


class Maker:
    """The words of a run."""

    def __init__(self, tables, companions, chance, scratch):
        self.tables, self.companions, self.chance, self.scratch = tables, companions, chance, scratch

    def value(self, option, columns):
        chance, argument = self.chance, option.get('argument', '')
        known = [value['value'] for value in option.get('values', [])] or (columns if option['name'] == '--columns' else [])
        if known and option['kind'] in LISTS:
            return self.list_of(known)
        if known:
            return chance.choice(known)
        made = chance.choice(OWN_VALUES.get(option['name']) or VALUES.get(argument) or NAMES)
        return re.sub(r'\{(\w+)\}', lambda kind: str(self.companions.get(kind[1], chance, self.scratch)), made)

    def list_of(self, known):
        chance = self.chance
        some = ','.join(chance.sample(known, min(len(known), chance.choice([1, 1, 2, 3, 8]))))
        return chance.choice([some, some, some, '+' + some, 'all'])

    def word(self, option, columns):
        if option['kind'] == 'flag':
            return option['name']
        return f'{option["name"]}={self.value(option, columns)}'

    def some_options(self, verb, turn):
        """The one in its turn and others: mostly a few of all, sometimes many of the flags."""
        chance, options = self.chance, self.tables.options(verb)
        flags = [option for option in options if option['kind'] == 'flag']
        others = chance.sample(options, min(len(options), chance.choice([0, 1, 1, 2, 2, 3, 4, 6])))
        if chance.random() < 0.25:
            others += [option for option in flags if chance.random() < 0.3]
        return ([turn] if turn else []) + [option for option in others if option != turn]

    def options(self, verb, operand, turn):
        columns = self.tables.columns(verb, operand)
        return [self.word(option, columns) for option in self.some_options(verb, turn)]

    def fixed(self, verb, words):
        """Options that each run has: where it writes, and that nothing of this machine matters."""
        output = str(self.scratch / 'output')
        if any(word.startswith('--split') for word in words):
            output += '%'
        added = ['-o', self.chance.choice([output, '-'] if output[-1] != '%' else [output])] if verb in WRITING + ['export', 'pgo'] else []
        has = {option['name'] for option in self.tables.verbs[verb]['options']}
        symbols = self.companions.get('kallsyms', self.chance, self.scratch) if verb == 'kallsyms' else '/dev/null'
        for name, value in (('--symfs', self.companions.symfs), ('--kallsyms', symbols)):
            if name in has and not any(word.startswith(name) for word in words):
                added += [name, str(value)]
        return added

    def operand(self, verb):
        operands = self.tables.operands(verb)
        if verb == 'query':
            return self.chance.choice(operands + QUERIES * 3).replace('{view}', self.chance.choice(sorted(self.tables.views)))
        return self.chance.choice(operands) if operands else None

    def inputs(self, verb, recording):
        if verb in ('diff', 'merge'):
            return [recording, str(self.companions.get('recording', self.chance, self.scratch))]
        if verb == 'dataset':
            return [str(self.companions.get('dataset', self.chance, self.scratch))]
        return {'buildid-cache': [], 'kallsyms': ['schedule', '_text']}.get(verb, [recording])

    def parts(self, verb, turn, recording):
        """What comes before the options, the options, and what comes after them."""
        operand = 'report' if verb == 'stat' else self.operand(verb)
        words = self.options(verb, operand, turn)
        if verb == 'data':
            words.append(f'--to-json={self.scratch / "output"}')
        inputs = self.inputs(verb, recording)
        if verb == 'stat':
            inputs.insert(0, '-i')
        return [verb], words, self.fixed(verb, words) + ([operand] if operand else []) + inputs


def is_json(text):
    """One value, or one in each line."""
    try:
        json.loads(text)
    except ValueError:
        try:
            for line in text.splitlines():
                json.loads(line)
        except ValueError:
            return False
    return True


def judge(words, done, timeout):
    if done.returncode == SANITIZER_STATUS or b'ERROR: ' in done.stderr and b'Sanitizer' in done.stderr:
        return 'a sanitizer has found something'
    if done.returncode not in EXPECTED:
        return f'ended with status {done.returncode}'
    if CONTROL.search(COLOR.sub(b'', done.stderr)):
        return 'a message has control characters'
    formats = {'--format=json', '--format=jsonl'} & set(words) if '--vocabulary' not in words else ()  # prints words
    if formats and '-' not in words and done.returncode < USAGE and done.stdout and not is_json(done.stdout.decode('utf-8', 'surrogateescape')):
        return 'its JSON cannot be parsed'
    return None


class Run:
    """One number: a verb, options, a recording."""

    def __init__(self, number, setting, scratch, mutant):
        self.number, self.setting, self.scratch = number, setting, scratch
        self.chance = random.Random(f'run {number}')
        source = self.chance.choice(setting.with_companions if self.chance.random() < 0.2 else setting.recordings)
        self.source, self.recording = mutant or source, scratch / 'recording.perf.data'
        self.is_indexed = source == setting.companions.workload and self.chance.random() < 0.5

    def clean(self):
        """What the last run left."""
        for path in self.scratch.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        shutil.copyfile(self.source, self.recording)
        self.recording.chmod(0o600)
        if self.is_indexed:
            shutil.copyfile(self.setting.companions.get('index', self.chance, self.scratch), self.scratch / f'{self.recording.name}.pfi')

    def once(self, words):
        setting = self.setting
        command = [setting.perfile, *words]
        environment = setting.environments[self.number // len(setting.tables.turns) % LEAKS_EVERY == 0]
        for _ in range(2):  # a busy machine may have left the first without a processor
            try:
                return served.run(command, env=environment, cwd=str(self.scratch), timeout=setting.timeout)
            except subprocess.TimeoutExpired:
                pass
        return subprocess.CompletedProcess(command, -signal.SIGALRM, b'', b'')

    def words(self):
        turn = self.setting.tables.turns[self.number % len(self.setting.tables.turns)]
        return Maker(self.setting.tables, self.setting.companions, self.chance, self.scratch).parts(*turn, str(self.recording))

    def run(self):
        """Options that do not go together are a usage error: the next try is without the last ones."""
        self.clean()
        first, options, last = self.words()
        for count in dict.fromkeys([len(options), len(options) // 2, 1, 0]):
            words = [*first, *options[:count], *last]
            done = self.once(words)
            finding = judge(words, done, self.setting.timeout)
            if finding:
                return words, finding, done
            if done.returncode != USAGE:
                break
        return words, None, done


class Setting:
    """What all runs have in common."""

    def __init__(self, options, folder):
        self.perfile, self.timeout, self.keep = options.perfile, options.timeout, options.keep
        self.environments = [hermetic.environment(
            ASAN_OPTIONS=f'exitcode={SANITIZER_STATUS}:detect_leaks={leaks}:allocator_may_return_null=1',
            UBSAN_OPTIONS=f'halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}', HOME=str(folder / 'home')) for leaks in (0, 1)]
        made = folder / 'assembled'
        made.mkdir()
        assemble_goldens(options.assemble, made)
        self.recordings = [pathlib.Path(path) for path, _ in itertools.chain.from_iterable(
            mutants.recordings([path] if os.path.isfile(path) else [], None if os.path.isfile(path) else path, RECORDING_BYTES_MAX)
            for path in [*options.recordings, str(made)])]
        self.tables = Tables(options.perfile)
        (folder / 'companions').mkdir()
        self.companions = Companions(options.perfile, self.recordings, folder / 'companions')
        self.with_companions = [path for path in self.recordings if path.name in READ_OFTEN]
        self.mutants, self.seeds, self.folder = options.mutants, [*map(str, self.recordings)], folder


def assemble_goldens(assemble, folder):
    for path in sorted((HERE.parent / 'golden').glob('*.golden')):
        description, parts = golden.read_golden(path.read_text())
        options = next((part.options for part in parts if isinstance(part, golden.Command)), [])
        for flavour in ('little', 'pipe'):
            done = subprocess.run([assemble, *golden.FLAVOURS[flavour], *options], input=description.encode(), capture_output=True, check=False)
            (folder / f'{path.stem}.{flavour}').write_bytes(done.stdout)


def make_mutants(setting, scratch, first, count):
    """Of every second run."""
    folder = scratch.with_name(scratch.name + '.mutants')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([setting.mutants, '--write', folder, '--first', str(first), '--count', str(count), *setting.seeds], check=True)
    return {number: folder / f'mutant-{number}' for number in range(first, first + count) if number % 2}


def keep(setting, run, words):
    if setting.keep:
        folder = pathlib.Path(setting.keep) / f'run-{run.number}'
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(run.scratch, folder)
        (folder / 'words.json').write_text(json.dumps(words))


def run_round(setting, first, count):
    """What was found in these runs, how many ended as usage errors, and the verbs."""
    scratch = setting.folder / f'round-{first}'
    scratch.mkdir()
    made = make_mutants(setting, scratch, first, count)
    findings, usage, verbs = [], 0, set()
    for number in range(first, first + count):
        run = Run(number, setting, scratch, made.get(number))
        words, finding, done = run.run()
        usage += done.returncode == USAGE
        verbs.add(words[0])
        if finding:
            findings.append((number, words, finding, done.stderr[-3000:].decode('utf-8', 'backslashreplace')))
            keep(setting, run, words)
    shutil.rmtree(scratch)
    shutil.rmtree(f'{scratch}.mutants')
    return findings, usage, verbs


def parse(words):
    parser = argparse.ArgumentParser(description='Runs every verb with random options.')
    for name in ('perfile', 'assemble', 'mutants'):
        parser.add_argument(name, type=hermetic.runnable)
    parser.add_argument('recordings', nargs='+')
    parser.add_argument('--first', type=int, default=0, help='number of the first run')
    parser.add_argument('--count', type=int, default=1000, help='how many runs')
    parser.add_argument('--timeout', type=int, default=60, help='seconds for one run')
    parser.add_argument('--keep', help='where the files of runs with findings go')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    return parser.parse_args(words)


def run_all(options, folder):
    setting = Setting(options, folder)
    end, bad, usage, verbs = options.first + options.count, 0, 0, set()
    rounds = [(first, min(ROUND, end - first)) for first in range(options.first, end, ROUND)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for findings, wrong, used in pool.map(lambda round: run_round(setting, *round), rounds):
            for number, words, finding, messages in findings:
                print(f'run {number}: perfile {" ".join(words)}\n{finding}\n{messages}', flush=True)
            bad, usage, verbs = bad + len(findings), usage + wrong, verbs | used
    print(f'{options.count} runs of {len(verbs)} verbs over {len(setting.recordings)} recordings, every second one a mutant: '
          f'{usage} usage errors, {bad} with findings')
    return bad > 0


def main():
    hermetic.settle()
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(dir=hermetic.in_memory()) as name:
        return run_all(options, pathlib.Path(name))


if __name__ == '__main__':
    sys.exit(main())
