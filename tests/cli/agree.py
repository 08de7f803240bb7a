#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agree.py PERFILE SOURCE: help, `help --json`, the pieces of man pages and the documents say the same options.

All but the documents are made of one table, so a difference is a fault of a printer. The commands in man pages, README
and the other documents are typed by hand: their verbs and options must exist. And to every verb that has --output, - is
standard output.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

HELP = re.compile(r'^  (?:(-\w),|   ) (--[\w-]+)(?: (\S+))?', re.MULTILINE)
PIECE = re.compile(r'^(?:\*(-\w)\*, )?\*(--[\w-]+)\*(?: _(\S+)_)?$', re.MULTILINE)
COMMAND = re.compile(r'\bperfile ((?:-\S+ )*)([a-z]+)\b((?:\\\n|[^|;&<>`()\n])*)')
WITHOUT_PAGE = {'help', 'completion'}

# What verbs with --output are given before "-o -" and a recording, which is the demo for others.
WORDS = {'archive': '--symfs .', 'bundle': '--symfs .', 'buildid-cache': '--list --buildid-dir .', 'c2c': 'report', 'check': '--format csv', 'export': '--format folded',
         'kmem': 'stat', 'kwork': 'report', 'list': 'sw', 'lock': 'contention', 'mem': 'report', 'pgo': '--format autofdo --buildid 0123456789abcdef0123456789abcdef01234567', 'query': '--list',
         'sched': 'latency', 'stat': 'report', 'table': 'samples'}
RECORDINGS = {'buildid-cache': None, 'c2c': 'mem-made', 'kmem': 'kmem-slab', 'kwork': 'kwork', 'kvm': 'kvm-svm', 'timechart': 'sched-tiny1', 'list': None, 'lock': 'lock',
              'mem': 'mem-made', 'offcpu': 'offcpu-cs', 'sched': 'sched-tiny1', 'stat': 'stat', 'trace': 'trace-raw'}
TWICE = {'diff', 'merge'}
MACHINE = {'record', 'kallsyms', 'page'}  # what it allows, or has installed, differs: see record.py and page.py
MAY_BE_EMPTY = {'buildid-cache', 'pgo'}

failures = []


def expect(fact, *what):
    if not fact:
        failures.append(what)
        print('---', *what)


PERFS = re.compile(r'^PF_PERF_OPTION\(" ([a-z0-9 -]+) ", "([\w-]+)", (?:0|\'(.)\'), ', re.MULTILINE)


def check_perfs_options(verbs, source):
    """The options of perf that are not here: the verb has none of that letter, or of that name without one, and no row stands twice."""
    rows = [(verb, name, letter) for words, name, letter in PERFS.findall((source / 'cli/perf_options.def').read_text())
            for verb in words.split()]
    expect(len(rows) > 100 and len({row[:2] for row in rows}) == len(rows), 'rows of perf_options.def', len(rows))
    for verb, name, letter in rows:
        known = {key for option in verbs[verb]['options'] for key in (option['name'], option.get('short'))}
        expect(f'-{letter}' not in known and (letter or f'--{name}' not in known), 'perf_options.def', verb, name)


def check_standard_output(perfile, verbs, source):
    """To every verb, - is standard output; there is no file of that name then."""
    writing = {name for name, verb in verbs.items() if '--output' in {o['name'] for o in verb['options']}} - MACHINE
    for name in sorted(writing):
        recording = RECORDINGS.get(name, '')
        path = source / (f'tests/data/{recording}.perf.data' if recording else 'examples/demo.perf.data')
        inputs = [path] * (0 if recording is None else 2 if name in TWICE else 1)
        with tempfile.TemporaryDirectory(prefix='perfile-agree-') as folder:
            done = subprocess.run([*perfile, '-q', name, *WORDS.get(name, '').split(), '--output', '-', *inputs], cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            expect(done.returncode < 2 and (done.stdout or name in MAY_BE_EMPTY) and not os.listdir(folder), name, '--output -',
                   done.returncode, done.stderr, os.listdir(folder))


def check_options(name, options):
    """Every name and letter is there once, and has a description."""
    keys = [option[key] for option in options for key in ('name', 'short') if key in option]
    expect(len(keys) == len(set(keys)), 'names or letters twice', name, keys)
    expect(all(option['doc'].endswith('.') for option in options), 'options without a description', name)


def main():
    hermetic.settle()
    perfile, source = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()

    def reply(*arguments):
        return subprocess.check_output([*wrapper, perfile, *arguments], text=True)

    demo = source / 'examples' / 'demo.perf.data'
    described = json.loads(reply('help', '--json'))
    verbs = {verb['name']: verb for verb in described['verbs']}
    for view in described['views']:
        columns = {column['name']: column for column in view['columns']}
        expect(len(columns) == len(view['columns']) and all(c['type'] and c['doc'] for c in columns.values()), view['name'])
        table = json.loads(reply('table', view['name'], '--columns', 'all', '--format', 'json', demo))
        expect(all(columns.get(column['name']) == column for column in table['columns']), 'columns of', view['name'],
               [c for c in table['columns'] if columns.get(c['name']) != c])
    pages = (source / 'man' / 'meson.build').read_text()
    for name, verb in verbs.items():
        wanted = [(o.get('short', ''), o['name'], o.get('argument', '')) for o in verb['options']]
        check_options(name, verb['options'])
        entire, first = reply('help', name, '--all'), reply('help', name)
        expect(HELP.findall(entire) == wanted, 'help', name)
        expect(first == reply(name, '--help') == reply('-h', name), 'ways to help', name)
        expect(entire == reply(name, '--help', '--all'), 'ways to all of the help', name)
        short = HELP.findall(first)
        expect(short and short == [option for option in wanted if option in short], 'short help', name)
        expect(short == wanted or f'All {len(wanted)} options:' in first, 'count of options', name)
        expect(PIECE.findall(reply('help', '--scdoc', name)) == wanted, 'man page', name)
        values = [v['value'] for o in verb['options'] for v in o.get('values', [])]
        expect(all(value in entire for value in values), 'values', name)
        page = source / 'man' / f'perfile-{name}.1.scd'
        expect(name in WITHOUT_PAGE or '@GENERATED@' in page.read_text() and f"'{name}'" in pages, 'no page', name)
    general = {o['name'] for o in verbs['help']['options'] if o['group'] == 'General'} | {'--version', '--buildid-dir'}
    seen = 0
    for document in [*source.glob('man/*.scd'), *source.glob('*.md'), *source.glob('doc/*.md')]:
        for before, name, rest in COMMAND.findall(document.read_text()):
            options = set(re.findall(r'(?<=\s)--[\w-]+', ' ' + rest.replace('*', '').replace('_', '')))
            if name not in verbs or not (options or before):
                continue
            seen += 1
            known = {o['name'] for o in verbs[name]['options']}
            expect(options <= known, document.name, f'perfile {name}', *(options - known))
            expect(set(re.findall(r'--[\w-]+', before)) <= general, document.name, f'perfile {before}')
    expect(seen > 10, 'commands in documents', seen)
    check_perfs_options(verbs, source)
    check_standard_output([*wrapper, perfile], verbs, source)
    print(f'{len(verbs)} verbs and {seen} commands in documents')
    sys.exit(len(failures) > 0)


if __name__ == '__main__':
    main()
