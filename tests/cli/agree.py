#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agree.py PERFILE SOURCE: help, `help --json`, the pieces of man pages and the documents tell the same options.

All but the documents are made of one table, so a difference is a fault of a printer. The commands in man pages, README
and the other documents are typed by hand: their verbs and options must exist.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

HELP = re.compile(r'^  (?:(-\w),|   ) (--[\w-]+)(?: (\S+))?', re.MULTILINE)
PIECE = re.compile(r'^(?:\*(-\w)\*, )?\*(--[\w-]+)\*(?: _(\S+)_)?$', re.MULTILINE)
COMMAND = re.compile(r'\bperfile ((?:-\S+ )*)([a-z]+)\b((?:\\\n|[^|;&<>`()\n])*)')
WITHOUT_PAGE = {'help', 'completion'}

failures = []


def expect(fact, *what):
    if not fact:
        failures.append(what)
        print('---', *what)


def main():
    hermetic.settle()
    perfile, source = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()

    def said(*arguments):
        return subprocess.check_output([*wrapper, perfile, *arguments], text=True)

    demo = source / 'examples' / 'demo.perf.data'
    described = json.loads(said('help', '--json'))
    verbs = {verb['name']: verb for verb in described['verbs']}
    for view in described['views']:
        columns = {column['name']: column for column in view['columns']}
        expect(len(columns) == len(view['columns']) and all(c['type'] and c['doc'] for c in columns.values()), view['name'])
        table = json.loads(said('table', view['name'], '--columns', 'all', '--format', 'json', demo))
        expect(all(columns.get(column['name']) == column for column in table['columns']), 'columns of', view['name'],
               [c for c in table['columns'] if columns.get(c['name']) != c])
    pages = (source / 'man' / 'meson.build').read_text()
    for name, verb in verbs.items():
        wanted = [(o.get('short', ''), o['name'], o.get('argument', '')) for o in verb['options']]
        whole, first = said('help', name, '--all'), said('help', name)
        expect(HELP.findall(whole) == wanted, 'help', name)
        expect(first == said(name, '--help') == said('-h', name), 'ways to help', name)
        expect(whole == said(name, '--help', '--all'), 'ways to all of the help', name)
        short = HELP.findall(first)
        expect(short and short == [option for option in wanted if option in short], 'short help', name)
        expect(short == wanted or f'All {len(wanted)} options:' in first, 'count of options', name)
        expect(PIECE.findall(said('help', '--scdoc', name)) == wanted, 'man page', name)
        values = [v['value'] for o in verb['options'] for v in o.get('values', [])]
        expect(all(value in whole for value in values), 'values', name)
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
    print(f'{len(verbs)} verbs and {seen} commands in documents')
    sys.exit(len(failures) > 0)


if __name__ == '__main__':
    main()
