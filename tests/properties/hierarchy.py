#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hierarchy.py PERFILE RECORDINGS... [--corpus]: what `report --hierarchy` shows are rows that `report` shows.

The entries of a level are the rows of a report by the columns up to there, with the same children, shares, periods and
numbers of samples; entries stand below what they belong to, heaviest first; text, CSV and JSON have the same ones.

--corpus: also recordings of the corpus.
"""
import csv, io, json, os, pathlib, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

TIMEOUT_SECONDS = 300
RECORDINGS = 60  # of the corpus, unless all are asked for
SORTS = ('comm,dso,symbol', 'symbol,tid', 'dso,{cpu,comm},symbol')
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def run(*arguments):
    done = served.run([*WRAPPER, *(str(a) for a in arguments)], timeout=TIMEOUT_SECONDS)
    return done.returncode, done.stdout.decode(errors='surrogateescape')


def rows(text):
    """The event, the level, what it weighs, and all columns by their names; of each line."""
    for line in csv.DictReader(io.StringIO(text, newline='')):
        weighs = tuple(line[name] for name in ('overhead_children', 'overhead', 'sample', 'period') if name in line)
        yield line['event'], int(line.get('level', 0)), weighs, line


def keys(line, columns):
    """What a line belongs to. Functions without a name have an address."""
    names = columns.split(',')
    return tuple(line[name] for name in names + ['address'] * ('symbol' in names))


def levels_of(sort):
    """The columns up to each level."""
    parts, braced = [], False
    for word in sort.split(','):
        if braced:
            parts[-1] += ',' + word
        else:
            parts.append(word)
        braced = (braced or word.startswith('{')) and not word.endswith('}')
    return [','.join(parts[:i + 1]).replace('{', '').replace('}', '') for i in range(len(parts))]


def check(perfile, path, sort, more):
    """How many lines were compared, and what is wrong."""
    usual = ('--symfs', '/nowhere', '-g', 'none', '-n', '--show-total-period', *more)
    status, text = run(perfile, 'report', '-H', '--format', 'csv', *usual, '-s', sort, path)
    if status >= 2:
        return 0, []
    what = f'{path} {sort} {more}: '
    wrong, seen = [], list(rows(text))
    levels = levels_of(sort)
    for level, columns in enumerate(levels, 1):
        _, flat = run(perfile, 'report', '--format', 'csv', *usual, '-s', columns, path)
        mine = sorted((event, weighs, keys(line, columns)) for event, at, weighs, line in seen if at == level)
        theirs = sorted((event, weighs, keys(line, columns)) for event, _, weighs, line in rows(flat))
        if mine != theirs:
            wrong.append(what + f'level {level} is not the report by {columns}: '
                         f'{[row for row in mine if row not in theirs][:1]} {[row for row in theirs if row not in mine][:1]}')
    _, text = run(perfile, 'report', '-H', '--format', 'json', *usual, '-s', sort, path)
    page = json.loads(text)
    names = [column['name'] for column in page['columns']]
    objects = [dict(zip(names, row)) for row in page['rows']]
    mine = [(row['event'], row['level'], str(row['self']), str(row['samples'])) for row in objects]
    theirs = [(event, level, weighs[-1], weighs[-2]) for event, level, weighs, _ in seen]
    if mine != theirs:
        return len(seen), wrong + [what + 'JSON differs from CSV']
    last, distinguished = {}, len({event['event'] for event in page['events']}) == len(page['events'])
    for event, level, weighs, line in seen:
        last = {at: entry for at, entry in last.items() if at <= level and entry[0] == event}
        if level > 1 and (level - 1 not in last or
                          keys(last[level - 1][2], levels[level - 2]) != keys(line, levels[level - 2])):
            wrong.append(what + f'{line} is not below its entry')
        if level in last and (level > 1 or distinguished) and float(last[level][1][0]) < float(weighs[0]):
            wrong.append(what + f'{line} is heavier than the one before')
        last[level] = event, weighs, line
    _, text = run(perfile, 'report', '-H', '--stdio', '--no-group', *usual, '-s', sort, path)
    shown = [line.split() for line in text.splitlines() if line.strip() and not line.startswith('#')]
    mine = [line[:len(weighs)] for line, (_, _, weighs, _) in zip(shown, seen)]
    theirs = [[*(f'{float(cell):.2f}%' for cell in weighs[:-2]), *weighs[-2:]] for _, _, weighs, _ in seen]
    if not any('\n' in cell for _, _, _, line in seen for cell in line.values()) and mine != theirs:
        wrong.append(what + 'text differs from CSV')
    return len(seen), wrong


def main():
    hermetic.settle()
    perfile, paths = hermetic.command_and_recordings(RECORDINGS, 1 << 22)
    compared, wrong = 0, []
    for path in paths:
        for sort in SORTS:
            for more in ([], ['--no-children']):
                lines, faults = check(perfile, path, sort, more)
                compared += lines
                wrong += faults
    print(*wrong, sep='\n')
    print(f'{compared} lines of {len(paths)} recordings compared, {len(wrong)} faults')
    return 1 if wrong or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
