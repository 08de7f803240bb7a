#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""engines.py PERFILE RECORDING...: SQLite and DuckDB have the same rows of every table, and refuse the same.

Skipped where there is no libduckdb (PERFILE_DUCKDB says where one is)."""
import json, os, pathlib, re, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

wrong = []


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text[:600])


class Engines:
    def __init__(self, perfile, recordings):
        self.perfile, self.recordings = perfile, recordings
        self.environment = dict(os.environ)

    def run(self, *words):
        return subprocess.run([self.perfile, 'query', '-q', *words], capture_output=True, text=True, env=self.environment)

    def rows(self, engine, sql, *recordings):
        done = self.run('--engine', engine, '--format', 'jsonl', sql, *(recordings or self.recordings))
        expect(f'{engine}: {sql}: {done.stderr}', done.returncode in (0, 1))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def both(self, sql, ordered=False):
        sqlite, duckdb = (self.rows(engine, sql) for engine in ('sqlite', 'duckdb'))
        if not ordered:
            sqlite, duckdb = (sorted(rows, key=repr) for rows in (sqlite, duckdb))
        different = [pair for pair in zip(sqlite, duckdb) if pair[0] != pair[1]]
        expect(f'{sql}: {len(sqlite)} rows and {len(duckdb)}, {different[:1]}', sqlite == duckdb)
        return sqlite


def check_tables(engines):
    tables = [row['table'] for row in map(json.loads, engines.run('--format', 'jsonl', '.tables').stdout.splitlines())]
    full = 0
    for table in tables:
        columns = [row['column'] for row in map(json.loads, engines.run('--format', 'jsonl', '.schema', table, *engines.recordings).stdout.splitlines())]
        if columns:
            full += len(engines.both('SELECT ' + ', '.join(f'"{column}"' for column in columns) + f' FROM {table}')) > 0
            engines.both(f'SELECT * FROM {table}')
    expect(f'{full} tables have rows', full >= 15)


def check_statements(engines):
    engines.both('SELECT event AS e, comm AS c, sum(period) AS p, count(*) AS n FROM samples GROUP BY e, c ORDER BY p DESC, e, c', True)
    engines.both('SELECT recording AS r, host AS h, count(*) AS n FROM samples GROUP BY recording, host')
    engines.both('SELECT s.symbol AS a, k.samples AS b FROM samples AS s JOIN distinct_stacks AS k USING (recording, stack_id) WHERE s.symbol IS NOT NULL')
    engines.both("WITH x AS (SELECT dso AS d, period * 1.5 AS p FROM samples) SELECT d, sum(p) AS q FROM x GROUP BY d -- the end")


def check_ready(engines):
    names = [row['query'] for row in map(json.loads, engines.run('--list', '--format', 'jsonl').stdout.splitlines())]
    full = sum(len(engines.both(name, True)) > 0 for name in names)
    expect(f'{full} of {len(names)} ready queries have rows', full >= len(names) - 2)


def check_filters(engines):
    """Conditions that leave out rows while recordings are read, and what must not be taken for one."""
    first = engines.rows('sqlite', 'SELECT * FROM samples WHERE time IS NOT NULL ORDER BY time LIMIT 1 OFFSET 100')[0]
    at, pid, comm = first['time'], first['pid'], first['comm']
    for condition in (f'time >= {at}', f'time < {at}', f'{at} >= time', f'time BETWEEN {at} AND {at + 100000000}', f'time = {at}',
                      f"pid = {pid} AND comm = '{comm}'", f's.pid = {pid} AND NOT s.tid = {pid}', f'"pid" = {pid} AND time > {at}',
                      f'pid = {pid} OR time > {at}', f'(pid = {pid} AND cpu = 0) OR cpu = 1', f'pid = {pid} AND (cpu = 0 OR cpu = 1)',
                      f'CASE WHEN cpu = 0 AND pid = {pid} AND true THEN 0 ELSE 1 END = 1', f'cpu BETWEEN 0 AND pid = {pid}', f'NOT pid = {pid}',
                      f"recording = '{engines.recordings[0]}' AND tid = {first['tid']}", f"event = '{first['event']}'", "event = 'none'", 'pid = 3000000000', "comm = ''",
                      f"comm = '{comm}' -- AND pid = 1\n", f"comm = '{comm}' /* OR */ AND comm <> 'AND pid = 1'", f'pid = {pid} AND tid IN (SELECT tid FROM threads)'):
        engines.both(f'SELECT s.time, s.pid, s.comm, s.event FROM samples AS s WHERE {condition}')
        engines.both(f'SELECT n FROM (SELECT comm, count(*) AS n FROM samples s WHERE {condition} GROUP BY comm HAVING count(*) > 1 ORDER BY n) AS x')
    for sql in (f'SELECT count(*) AS n FROM samples AS s WHERE s.pid = {pid} UNION ALL SELECT count(*) FROM samples',
                f'SELECT count(*) AS n FROM samples AS a, samples AS b WHERE a.pid = {pid} AND b.time = {at}',
                f'SELECT count(*) AS n FROM (SELECT tid AS pid, cpu AS time FROM samples) AS x WHERE x.pid = {pid} AND x.time = 0',
                f'WITH x AS (SELECT tid AS pid FROM samples WHERE time > {at}) SELECT count(*) AS n FROM x WHERE pid = {pid}',
                f'SELECT count(*) AS n FROM threads AS t WHERE EXISTS (SELECT 1 FROM samples WHERE samples.tid = t.tid AND pid = {pid})',
                f"SELECT 'FROM samples WHERE pid = 1' AS text, count(*) AS n FROM samples WHERE pid = {pid}"):
        engines.both(sql)


def check_types(engines, folder):
    """A field of a tracepoint that has another type in another recording."""
    path = pathlib.Path(engines.recordings[-1])
    whole, before = path.read_bytes(), engines.recordings
    field, text = b'field:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;', b'"prev_comm=%s prev_pid'
    names = 'trace_prev_pid', 'trace_prev_prio', 'trace_prev_comm'
    for number, (other, short) in enumerate(((field.replace(b'signed:1', b'signed:0'), text), (field.replace(b'pid_t prev_pid', b'char prev_pid[4]'), text[2:]))):
        copy = pathlib.Path(folder, f'{number}.data')
        copy.write_bytes(whole.replace(field + whole[whole.index(field) + len(field):whole.index(text)] + text,
                                       other + whole[whole.index(field) + len(field):whole.index(text)] + short))
        expect(f'{number}: other bytes', copy.stat().st_size == len(whole) and copy.read_bytes() != whole)
        for engines.recordings in ([str(path), str(copy)], [str(copy), str(path)]):
            columns = engines.rows('sqlite', 'SELECT * FROM samples LIMIT 1')[0]
            expect(f'tracepoints have no columns: {columns}', set(names) <= set(columns))
            engines.both(f'SELECT recording, time, {", ".join(f"CAST({name} AS TEXT) AS {name}" for name in names)} FROM samples')
    engines.recordings = before


def check_refusals(engines, folder):
    before = sorted(os.listdir(folder))
    for sql in ('CREATE TABLE x (i INT)', f"COPY (SELECT 1) TO '{folder}/x'", "ATTACH 'x.db'", 'SELECT 1; SELECT 2', 'INSERT INTO samples SELECT * FROM samples',
                "SELECT * FROM read_csv('/etc/passwd')", 'SELECT FROM FROM', 'SELECT nothing FROM samples'):
        done = engines.run('--engine', 'duckdb', sql, *engines.recordings)
        expect(f'{sql}: {done.returncode} {done.stdout}', done.returncode == 2 and not done.stdout and re.fullmatch(r'perfile: .*\n', done.stderr) and '\\x' not in done.stderr)
    for sql in ('SELECT nothing FROM samples', 'SELECT 1,\n nothing FROM samples'):
        said = engines.run('--engine', 'duckdb', sql, *engines.recordings).stderr
        expect(f'no position: {said}', said.endswith(' at 2:2\n' if '\n' in sql else ' at 1:8\n'))
    expect('something was written', sorted(os.listdir(folder)) == before)


def check_interrupts(engines, folder):
    """Whatever the engine is at: it ends by the signal, quickly, and nothing is written."""
    path = pathlib.Path(folder, 'interrupted.csv')
    endless = 'SELECT count(*) AS n FROM samples AS a, samples AS b, samples AS c, samples AS d WHERE a.time + b.time + c.time + d.time = 7'
    for engine in ('sqlite', 'duckdb'):
        done = subprocess.Popen([engines.perfile, 'query', '--engine', engine, '--format', 'csv', '-o', path, endless, *engines.recordings], env=engines.environment,
                                stderr=subprocess.PIPE, text=True)
        seconds = 0.0
        while done.poll() is None and seconds < 1:  # so that it computes: what comes before takes less
            seconds = sum(map(int, pathlib.Path(f'/proc/{done.pid}/stat').read_text().rsplit(')', 1)[1].split()[11:13])) / os.sysconf('SC_CLK_TCK')
            time.sleep(0.01)
        done.send_signal(signal.SIGINT)
        said = done.communicate(timeout=60)[1]
        expect(f'{engine}: {done.returncode} {said}', done.returncode == -signal.SIGINT and not said and not path.exists())


def check_parquet(engines, folder):
    for words in (['--partition', 'host,date', '-o', f'{folder}/dataset'], ['-o', f'{folder}/tables']):
        subprocess.run([engines.perfile, 'export', '-q', '--format', 'parquet', *words, *engines.recordings], capture_output=True)
    sql = 'SELECT event AS e, sum(period) AS p, count(*) AS n FROM samples GROUP BY event'
    expected = sorted(engines.rows('sqlite', sql), key=repr)
    for place in ('dataset', 'tables'):
        found = sorted(engines.rows('duckdb', sql, f'{folder}/{place}'), key=repr)
        expect(f'{place}: {found} {expected}', found == expected)
    hosts = engines.rows('duckdb', 'SELECT DISTINCT host AS h FROM samples', f'{folder}/dataset')
    expect(f'hosts: {hosts}', hosts and all(row['h'] for row in hosts))
    one = sorted(pathlib.Path(folder, 'tables').rglob('samples.parquet'))[0]
    expect('a file', engines.rows('duckdb', 'SELECT count(*) AS n FROM samples', str(one))[0]['n'] > 0)
    done = engines.run('--engine', 'sqlite', sql, f'{folder}/dataset')
    expect(f'SQLite: {done.stderr}', done.returncode == 2 and 'duckdb' in done.stderr)


def main():
    perfile, *recordings = sys.argv[1:]
    engines = Engines(perfile, recordings)
    if 'DuckDB' in (why := engines.run('--engine', 'duckdb', 'SELECT 1', recordings[0]).stderr):
        print(f'skipped: {why.strip()}')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_tables(engines)
        check_statements(engines)
        check_ready(engines)
        check_filters(engines)
        check_types(engines, folder)
        check_refusals(engines, folder)
        check_interrupts(engines, folder)
        check_parquet(engines, folder)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
