#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet.py PERFILE DOCUMENT RECORDING...: the statements of doc/fleet.md run, and their sums are those of the recordings.

Skipped where neither DuckDB (duckdb) nor ClickHouse (clickhouse local) is installed."""
import calendar, collections, json, os, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

wrong = []
EVENT = 'cpu-clock'
DAYS = (2026, 1, 30), (2026, 2, 1)  # before and after the deploy of the statements


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text)


def blocks(document, engine):
    """Name and text of each; those without a name prepare."""
    found = re.findall(r'^```sql (\w+)(?: (\w+))?\n(.*?)^```', pathlib.Path(document).read_text(), re.M | re.S)
    return [(name, text) for of, name, text in found if of == engine]


def by_duckdb(program, text, folder):
    done = subprocess.run([program, '-csv', '-noheader', '-separator', '\t'], input="set timezone = 'UTC';\n" + text, capture_output=True, text=True, cwd=folder)
    return done.stdout, done.stderr


def by_clickhouse(program, text, folder):
    done = subprocess.run([program, 'local', '--multiquery', '--output-format', 'TSV'], input=text, capture_output=True, text=True, cwd=folder)
    return done.stdout, done.stderr if done.returncode else ''


class Samples:
    """What the recordings themselves say."""

    def __init__(self, perfile, recordings):
        self.self, self.inclusive, self.stacks = (collections.Counter() for _ in range(3))
        self.sides = collections.Counter(), collections.Counter()
        for number, path in enumerate(recordings):
            of_id = {row['stack_id']: row['stack'] for row in self.rows(perfile, path, 'stacks', '--by', 'stack')}
            for row in self.rows(perfile, path, 'samples', '--columns', 'all'):
                function = row['symbol'] or (f'[{row["dso"]}]' if row['dso'] else '[unknown]')
                self.self[row['event'], function] += row['period']
                if row['event'] == EVENT:
                    self.sides[number % 2][function] += row['period']
                    self.stacks[';'.join(name.replace(';', ':') for name in reversed(of_id[row['stack_id']]))] += row['period']
                    for name in set(of_id[row['stack_id']]):
                        self.inclusive[name] += row['period']

    def rows(self, perfile, path, *view):
        done = subprocess.run([perfile, 'table', *view, '--format', 'jsonl', path], capture_output=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def fields(output):
    return [[text.strip('"').replace('""', '"') for text in line.split('\t')] for line in output.splitlines()]


def check_result(engine, name, output, samples):
    rows = fields(output)
    expect(f'{engine}: {name}: nothing', rows)
    if name == 'top':
        best = sorted(samples.self.items(), key=lambda item: (-item[1], item[0][1]))[:20]
        expect(f'{engine}: {name}: {rows[:3]} {best[:3]}', {(tuple(row[:2]), int(row[2])) for row in rows} == set(best))
    elif name == 'inclusive':
        best = sorted(samples.inclusive.items(), key=lambda item: (-item[1], item[0]))[:20]
        expect(f'{engine}: {name}: {rows[:3]} {best[:3]}', {(row[0], int(row[1])) for row in rows} == set(best))
    elif name in ('flame', 'difference'):
        found = collections.Counter()
        for row in rows:
            stack, *weights = row[0].rsplit(' ', 1 if name == 'flame' else 2)
            found[stack] += sum(map(int, weights))
        expect(f'{engine}: {name}: other stacks', found == samples.stacks)
    elif name == 'deploy':
        shares = [{name: 100 * weight / side.total() for name, weight in side.items()} for side in samples.sides]
        for function, *found, _ in rows:
            expected = [share.get(function, 0) for share in shares]
            expect(f'{engine}: {name}: {function}: {found} {expected}', all(abs(float(a) - b) < 0.01 for a, b in zip(found, expected)))
        changes = sorted((abs(shares[0].get(name, 0) - shares[1].get(name, 0)) for name in {*shares[0], *shares[1]}), reverse=True)
        found = [abs(float(row[1]) - float(row[2])) for row in rows]
        expect(f'{engine}: {name}: others change more', all(abs(a - b) < 0.01 for a, b in zip(found, changes)) and len(found) == min(20, len(changes)))
    elif name == 'time':
        expect(f'{engine}: {name}: hours {rows}', {row[0][:10] for row in rows} == {'%d-%02d-%02d' % day for day in DAYS})


def check_engine(perfile, engine, run, document, folder, samples):
    every = blocks(document, engine)
    prepared = ''.join(text for name, text in every if not name)
    expect(f'{engine}: no statements', prepared and len(every) > 4)
    for name, text in every:
        if not name:
            continue
        output, error = run(prepared + text, folder)
        expect(f'{engine}: {name}: {error}', not error)
        check_result(engine, name, output, samples)
        if name == 'flame':
            done = subprocess.run([perfile, 'flame', '--from-folded', '-'], input='\n'.join(row[0] for row in fields(output)), capture_output=True, text=True)
            expect(f'{engine}: no flame graph: {done.stderr}', done.returncode == 0 and '<svg' in done.stdout)


def main():
    perfile, document, *recordings = sys.argv[1:]
    engines = {name: (lambda program, run: lambda text, folder: run(program, text, folder))(shutil.which(name), run)
               for name, run in (('duckdb', by_duckdb), ('clickhouse', by_clickhouse)) if shutil.which(name)}
    if not engines:
        print('skipped: neither duckdb nor clickhouse is installed')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        add = [perfile, 'export', '-q', '--format', 'parquet', '--partition', 'host,date', '-o', 'profiles']
        copies = []
        for number, path in enumerate(recordings):
            copies.append(str(pathlib.Path(folder) / pathlib.Path(path).name))
            shutil.copyfile(path, copies[-1])
            os.utime(copies[-1], (calendar.timegm((*DAYS[number % 2], 9, 0, 0)),) * 2)
        subprocess.run([*add, *copies], cwd=folder, check=True)
        samples = Samples(perfile, copies)
        for compacted in (False, True):
            for engine, run in engines.items():
                check_engine(perfile, engine, run, document, folder, samples)
            subprocess.run([perfile, 'dataset', '-q', 'compact', 'profiles'], cwd=folder, check=True)
    print(f'{", ".join(engines)}: {len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
