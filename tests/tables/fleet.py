#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet.py PERFILE DOCUMENT RECORDING...: the statements of doc/fleet.md run, and their sums are those of the recordings.

Those of Spark are run by DuckDB, with its names of functions. Skipped where there is neither DuckDB (duckdb, or its library, which
PERFILE_DUCKDB names) nor ClickHouse (clickhouse local, or its library, which PERFILE_CHDB names)."""
import calendar, collections, csv, ctypes, json, os, pathlib, re, shlex, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

wrong = []
EVENT = 'cpu-clock'
DAYS = (2026, 1, 30), (2026, 2, 1)  # before and after the deploy of the statements
GET_ENGINES = {'DuckDB': 'npm pack @duckdb/node-bindings-linux-x64, then PERFILE_DUCKDB=.../libduckdb.so meson test -C build fleet',
               'ClickHouse': 'npm pack @chdb/lib-linux-x64-gnu, then PERFILE_CHDB=.../libchdb.so meson test -C build fleet'}
SPARK = (  # what DuckDB calls the same
    (r"CREATE TABLE (\w+) USING parquet OPTIONS \(path '([^']*)'\)",
     r"CREATE VIEW \1 AS SELECT * FROM read_parquet('\2/**/*.parquet', hive_partitioning = true)"),
    (r'\barray_join\(', 'array_to_string('), (r'\breverse\(', 'list_reverse('), (r'\btransform\(', 'list_transform('),
    (r'\barray_distinct\(', 'list_distinct('), (r'\bexplode\(', 'unnest('), (r'(\w+) -> ', r'lambda \1: '))


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text)


def blocks(document, engine):
    """Name and text of each; those without a name prepare."""
    found = re.findall(r'^```sql (\w+)(?: (\w+))?\n(.*?)^```', pathlib.Path(document).read_text(), re.M | re.S)
    return [(name, text) for of, name, text in found if of == engine]


def fields(output):
    return [[text.strip('"').replace('""', '"') for text in line.split('\t')] for line in output.splitlines()]


def by_duckdb(program, text, folder):
    done = subprocess.run([program, '-csv', '-noheader', '-separator', '\t'], input="set timezone = 'UTC';\n" + text, capture_output=True, text=True, cwd=folder)
    return fields(done.stdout), done.stderr


def by_clickhouse(program, text, folder):
    done = subprocess.run([program, 'local', '--multiquery', '--output-format', 'TSV'], input=text, capture_output=True, text=True, cwd=folder)
    return fields(done.stdout), done.stderr if done.returncode else ''


def run_chdb(path):
    """The statements of standard input by the library, which can have one session in a process, as `clickhouse local` runs them."""
    library = ctypes.CDLL(path)
    for function in library.chdb_query_cmdline, library.chdb_result_buffer, library.chdb_result_error:
        function.restype = ctypes.c_void_p
    words = [b'clickhouse', b'--multiquery', b'--output-format=TSV', b'--query=' + sys.stdin.buffer.read()]
    result = ctypes.c_void_p(library.chdb_query_cmdline(len(words), (ctypes.c_char_p * len(words))(*words)))
    error = library.chdb_result_error(result)
    if error:
        print(ctypes.string_at(error).decode(), file=sys.stderr, flush=True)
    elif library.chdb_result_length(result):
        sys.stdout.buffer.write(ctypes.string_at(library.chdb_result_buffer(result), library.chdb_result_length(result)))
    sys.stdout.flush()
    os._exit(error is not None)  # without what the library does when a process ends


def by_chdb(path, text, folder):
    done = subprocess.run([sys.executable, __file__, '--chdb', path], input=text, capture_output=True, text=True, cwd=folder)
    return fields(done.stdout), done.stderr if done.returncode else ''


class Result(ctypes.Structure):
    _fields_ = [('counts', ctypes.c_uint64 * 3), ('pointers', ctypes.c_void_p * 3)]


def find_library():
    for name in (os.environ.get('PERFILE_DUCKDB'), 'libduckdb.so', 'libduckdb.so.2.0', 'libduckdb.so.1'):
        try:
            return name and ctypes.CDLL(name)
        except OSError:
            pass
    return None


def by_library(library, text, folder):
    """As `duckdb`: a database of its own for each text, and the rows of the last statement."""
    database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), Result()
    library.duckdb_value_varchar.restype, library.duckdb_result_error.restype = ctypes.c_void_p, ctypes.c_char_p
    library.duckdb_column_count.restype = library.duckdb_row_count.restype = ctypes.c_uint64
    of, rows, error = ctypes.byref(result), [], ''
    before, _, last = text.rstrip(';\n').rpartition(';\n')
    os.chdir(folder)
    library.duckdb_open(None, ctypes.byref(database))
    library.duckdb_connect(database, ctypes.byref(connection))
    if library.duckdb_query(connection, f"set timezone = 'UTC';\n{before};\nSELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({last})".encode(), of):
        error = library.duckdb_result_error(of).decode()
    for row in range(0 if error else library.duckdb_row_count(of)):
        values = [library.duckdb_value_varchar(of, ctypes.c_uint64(column), ctypes.c_uint64(row)) for column in range(library.duckdb_column_count(of))]
        rows.append([ctypes.string_at(value).decode() if value else '' for value in values])
        for value in values:
            library.duckdb_free(ctypes.c_void_p(value))
    library.duckdb_destroy_result(of)
    library.duckdb_disconnect(ctypes.byref(connection))
    library.duckdb_close(ctypes.byref(database))
    return rows, error


def as_spark(run):
    def run_translated(text, folder):
        for pattern, ours in SPARK:
            text = re.sub(pattern, ours, text)
        return run(text, folder)
    return run_translated


def find_engines():
    """Those that are here, by name: functions that run a text in a folder."""
    def bind(run, program):
        return lambda text, folder: run(program, text, folder)
    library = find_library()
    found = {name: bind(run, shutil.which(name)) for name, run in (('duckdb', by_duckdb), ('clickhouse', by_clickhouse)) if shutil.which(name)}
    if library:
        found.setdefault('duckdb', bind(by_library, library))
    if os.path.exists(os.environ.get('PERFILE_CHDB', '')):
        found.setdefault('clickhouse', bind(by_chdb, os.environ['PERFILE_CHDB']))
    if 'duckdb' in found:
        found['spark'] = as_spark(found['duckdb'])
    return found


class Samples:
    """What the recordings themselves say."""

    def __init__(self, perfile, recordings):
        self.self, self.inclusive, self.stacks = (collections.Counter() for _ in range(3))
        self.every, self.late, self.others = (collections.defaultdict(lambda: [0, 0]) for _ in range(3))  # by event: samples, period
        self.other_stacks = set()
        self.sides = collections.Counter(), collections.Counter()
        for number, path in enumerate(recordings):
            of_id = {row['stack_id']: row['stack'] for row in self.rows(perfile, path, 'stacks', '--by', 'stack')}
            for row in self.rows(perfile, path, 'samples', '--columns', 'all'):
                function = row['symbol'] or (f'[{row["dso"]}]' if row['dso'] else '[unknown]')
                self.self[row['event'], function] += row['period']
                for sums, counts in (self.every, True), (self.late, number % 2), (self.others, row['comm'] != 'gzip'):
                    if counts:
                        sums[row['event']][0] += 1
                        sums[row['event']][1] += row['period']
                if row['comm'] != 'gzip':
                    self.other_stacks.add(row['stack_id'])
                if row['event'] == EVENT:
                    self.sides[number % 2][function] += row['period']
                    self.stacks[';'.join(name.replace(';', ':') for name in reversed(of_id[row['stack_id']]))] += row['period']
                    for name in set(of_id[row['stack_id']]):
                        self.inclusive[name] += row['period']

    def rows(self, perfile, path, *view):
        done = subprocess.run([perfile, 'table', *view, '--format', 'jsonl', path], capture_output=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def check_result(engine, name, rows, samples):
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
    elif name in ('retention', 'erasure', 'compaction'):
        expected = {'retention': samples.late, 'erasure': samples.others, 'compaction': samples.every}[name]
        expect(f'{engine}: {name}: {rows} {dict(expected)}', {row[0]: [int(row[1]), int(row[2])] for row in rows} == expected)
        expect(f'{engine}: {name}: {rows}', name != 'retention' or {row[3] for row in rows} == {'2026-02-01'})
        expect(f'{engine}: {name}: {rows}, not {len(samples.other_stacks)} stacks', name != 'erasure' or {int(row[3]) for row in rows} == {len(samples.other_stacks)})
    elif name == 'time':
        expect(f'{engine}: {name}: hours {rows}', {row[0][:10] for row in rows} == {'%d-%02d-%02d' % day for day in DAYS})


def check_engine(perfile, engine, run, document, folder, samples):
    every = blocks(document, engine)
    prepared = ''.join(text for name, text in every if not name)
    expect(f'{engine}: no statements', prepared and len(every) > 3)
    for name, text in every:
        if not name:
            continue
        rows, error = run(prepared + text, folder)
        expect(f'{engine}: {name}: {error}', not error)
        check_result(engine, name, rows, samples)
        if name == 'flame':
            done = subprocess.run([perfile, 'flame', '--from-folded', '-'], input='\n'.join(row[0] for row in rows), capture_output=True, text=True)
            expect(f'{engine}: no flame graph: {done.stderr}', done.returncode == 0 and '<svg' in done.stdout)


def check_csv(perfile, document, folder, samples):
    """The command that writes rows for servers that read no Parquet files."""
    command, = re.findall(r'^    perfile (query --format csv .*?) \| ', pathlib.Path(document).read_text().replace('\\\n', ''), re.M)
    done = subprocess.run([perfile, *shlex.split(command)], capture_output=True, text=True, cwd=folder)
    found = collections.Counter()
    for row in csv.reader(done.stdout.splitlines()[1:]):
        found[row[2], row[4]] += int(row[3])
    expect(f'query --format csv: other sums {done.stderr}', found == samples.self)


def make_dataset(perfile, recordings, folder):
    """With stacks that several recordings, days and files have. Returns the recordings."""
    copies = []
    for number, path in enumerate([*recordings, *recordings[-2:]]):
        copies.append(folder / f'{number}.{pathlib.Path(path).name}')
        copies[-1].write_bytes(pathlib.Path(path).read_bytes() + b'%d' % number)  # what is equal would be there already
        os.utime(copies[-1], (calendar.timegm((*DAYS[number % 2], 9, 0, 0)),) * 2)
    add = [perfile, 'export', '-q', '--format', 'parquet', '--partition', 'host,date', '-o', 'profiles']
    subprocess.run([*add, *copies], cwd=folder, check=True)
    return copies


def main():
    perfile, document, *recordings = map(os.path.abspath, sys.argv[1:])
    engines = find_engines()
    for name, how in GET_ENGINES.items():
        if name.lower() not in engines:
            print(f'skipped: {name} is not installed: {how}')
    if not engines:
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        samples = Samples(perfile, make_dataset(perfile, recordings, folder))
        for compacted in (False, True):
            for engine, run in engines.items():
                check_engine(perfile, engine, run, document, folder, samples)
            if find_library():
                check_csv(perfile, document, folder, samples)
            subprocess.run([perfile, 'dataset', '-q', 'compact', 'profiles'], cwd=folder, check=True)
        os.chdir('/')
    print(f'{", ".join(engines)}: {len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    if sys.argv[1] == '--chdb':
        run_chdb(sys.argv[2])
    hermetic.settle()
    sys.exit(main())
