#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query_files.py PERFILE EXAMPLES DATA: SQL over datasets and other Parquet files has the rows of the recordings they were made of."""
import calendar, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

wrong = []
UNREADABLE, USAGE = 3, 2
DAYS = '2026-01-30', '2026-02-01'


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text[:600])


class Files:
    """Two recordings of two machines and days, and what export makes of them. Symbols come from an empty folder."""

    def __init__(self, perfile, examples, data, folder):
        self.perfile, self.folder, self.data = perfile, pathlib.Path(folder), pathlib.Path(data)
        (self.folder / 'empty').mkdir()
        self.recordings = []
        for name, host, day in (('demo', b'web1', DAYS[0]), ('workload', b'web2', DAYS[1])):
            self.recordings.append(self.copy(pathlib.Path(examples, f'{name}.perf.data'), host, day))
        self.export('dataset', '--partition', 'host,date')
        self.export('hours', '--partition', 'date,hour')
        self.export('many')
        self.export('flat', recordings=self.recordings[:1])

    def copy(self, path, host, day):
        """The host has a field of 64 bytes."""
        field = [(64).to_bytes(4, 'little') + name.ljust(64, b'\0') for name in (b'test', host)]
        content = path.read_bytes()
        expect(f'{path} has no host to replace', content.count(field[0]))
        to = self.folder / path.name
        to.write_bytes(content.replace(*field))
        os.utime(to, (calendar.timegm((*map(int, day.split('-')), 9, 0, 0)),) * 2)
        return path.name

    def run(self, *words, **more):
        return subprocess.run([self.perfile, *words], capture_output=True, text=True, cwd=self.folder, **more)

    def export(self, name, *words, recordings=None):
        done = self.run('export', '-q', '--symfs', 'empty', '--format', 'parquet', *words, '-o', name, *(recordings or self.recordings))
        expect(f'export: {done.stderr}', done.returncode == 0)

    def query(self, *words):
        return self.run('query', '-q', '--symfs', 'empty', '--format', 'jsonl', *words)

    def rows(self, sql, *files):
        done = self.query(sql, *files)
        expect(f'{sql} {files}: {done.stderr}', done.returncode == 0)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def one(self, sql, *files):
        return self.rows(sql, *files)[0]['x']

    def fails(self, sql, *files, status=USAGE, message):
        done = self.query(sql, *files)
        expect(f'{sql} {files}: {done.returncode} {done.stdout}{done.stderr}', done.returncode == status and re.search(message, done.stderr) and not done.stdout)


def without(rows, *names):
    return sorted(({key: value for key, value in row.items() if key not in names} for row in rows), key=repr)


def check_ready(files):
    """Ready queries have the rows that they have of the recordings, but for what a dataset calls a recording and its times of day."""
    for name in ('top', 'modules', 'comms', 'stacks', 'inclusive', 'hosts'):
        rows = files.rows(name, *files.recordings)
        expect(f'{name} has no rows', rows)
        expect(f'{name} of the dataset', files.rows(name, 'dataset') == rows)
        if name != 'hosts':  # folders of recordings do not name them
            expect(f'{name} of folders', files.rows(name, 'many') == rows)
    for name, *other in (('threads', 'recording'), ('timeline', 'recording', 'start_ns'), ('losses', 'recording', 'date', 'host')):
        rows, of_dataset, of_folders = (files.rows(name, *of) for of in (files.recordings, ['dataset'], ['many']))
        expect(f'{name} of folders', without(of_folders, 'host') == without(rows, 'host'))
        if name != 'timeline':  # tenths of seconds of another clock begin elsewhere
            expect(f'{name} of the dataset', without(of_dataset, *other) == without(rows, *other))
        else:
            sums = [{(row['event'], key): sum(other[key] for other in of if other['event'] == row['event']) for row in of for key in ('samples', 'weight')}
                    for of in (rows, of_dataset)]
            expect(f'{name} of the dataset', sums[0] == sums[1])
    different = without(files.rows('recordings', 'dataset'), 'recording', 'duration_ns'), without(files.rows('recordings', *files.recordings), 'recording', 'duration_ns')
    expect(f'recordings: {different}', different[0] == different[1])
    files.fails('syscalls', 'dataset', message=r'no such table: syscalls; there are events, frames, distinct_functions, losses, meta, samples, stacks, distinct_stacks, threads\n')


def check_columns(files):
    """Folders are columns, times of day are exact, and a column that only some files have is NULL in the others."""
    schema = {row['column']: row['type'] for row in files.rows('.schema samples', 'dataset')}
    expect(f'schema: {schema}', list(schema)[:4] == ['recording', 'host', 'date', 'time'] and schema['timestamp'] == 'time' and schema['stack_id'] == 'u64')
    hours = {row['column']: row['type'] for row in files.rows('.schema samples', 'hours')}
    expect(f'hours: {hours}', hours['date'] == 'text' and hours['hour'] == 'i64' and hours['host'] == 'text')
    expect('names of folders', files.rows('SELECT DISTINCT host, date FROM samples ORDER BY 1', 'dataset') ==
           [{'host': 'web1', 'date': DAYS[0]}, {'host': 'web2', 'date': DAYS[1]}])
    ends = [files.one('SELECT max(time) AS x FROM samples', of) for of in ('flat', files.recordings[0])]
    expect(f'times of the clock: {ends}', ends[0] == ends[1])
    for name, host, day in zip(files.recordings, ('web1', 'web2'), DAYS):
        clock, wall = ([row['time'] for row in files.rows(f'SELECT time FROM samples {where} ORDER BY time', of)] for where, of in (('', name), (f"WHERE host = '{host}'", 'dataset')))
        end = calendar.timegm((*map(int, day.split('-')), 9, 0, 0)) * 1000000000  # when the file was written, which is when the recording ended
        expect(f'times of day of {name}: {wall[:2]}', wall == [end + (moment - clock[-1]) // 1000 * 1000 for moment in clock])
    expect('a second name', files.one('SELECT count(*) AS x FROM samples WHERE time = timestamp', 'dataset') == 477)
    expect('dates', files.one("SELECT max(datetime(time / 1000000000, 'unixepoch')) AS x FROM samples", 'dataset') == f'{DAYS[1]} 09:00:00')
    tracepoints = files.data / 'sched-tiny1.perf.data'
    files.export('union', recordings=[files.recordings[0], tracepoints])
    counts = files.rows('SELECT recording, count(*) AS n, count(trace_prev_pid) AS fields FROM samples GROUP BY recording ORDER BY recording', 'union')
    expect(f'union: {counts}', [row['fields'] > 0 for row in counts] == [False, True] and all(row['n'] for row in counts))
    expect('all rows of the union', without(files.rows('SELECT comm, period, trace_prev_pid, trace_next_comm FROM samples', 'union')) ==
           without(files.rows('SELECT comm, period, trace_prev_pid, trace_next_comm FROM samples', files.recordings[0], tracepoints)))


def check_conditions(files):
    """Conditions on folders leave out files, and choose the same rows as where they cannot."""
    for condition in ("{}host = 'web1'", "{}host > 'web1'", "{}host <= 'web1'", "'web2' = {}host", "{}host IN ('web1', 'none')", "{}host IN (SELECT host FROM meta LIMIT 1)",
                      '{}host IS NULL', "{}host <> 'web1'", f"{{}}date >= '{DAYS[1]}'", f"{{}}date BETWEEN '{DAYS[0]}' AND '2026-01-31'", '{}date = 20260130', '{}host = NULL',
                      f"{{}}host = 'web1' AND {{}}date = '{DAYS[1]}'", f"{{}}host = 'web1' OR {{}}date = '{DAYS[1]}'", "{}host COLLATE NOCASE = 'WEB1'",
                      "{}date >= x'30'"):
        for sql in ('SELECT count(*) AS n, sum(period) AS p FROM samples WHERE {}', 'SELECT comm, count(*) AS n FROM samples WHERE {} GROUP BY comm',
                    'WITH a AS (SELECT * FROM samples WHERE {}) SELECT (SELECT count(*) FROM a) AS n, (SELECT count(*) FROM a JOIN threads AS t USING (recording, tid)) AS m',
                    'SELECT t.comm, count(*) AS n FROM threads AS t JOIN samples AS s ON s.tid = t.tid WHERE {} GROUP BY 1'):
            text = condition if 'threads AS t JOIN' not in sql else condition.replace('{}', '{}s.')
            rows = [files.rows(sql.format(text.format(sign, sign) if text.count('{}') > 1 else text.format(sign)), 'dataset') for sign in ('', '+')]
            expect(f'{text}: {sql}: {rows[0][:3]} {rows[1][:3]}', sorted(rows[0], key=repr) == sorted(rows[1], key=repr))
    expect('numbers of folders', files.one('SELECT count(*) AS x FROM samples WHERE hour = 8 OR hour = 9', 'hours') == files.one('SELECT count(*) AS x FROM samples', 'hours'))


def check_unreadable(files):
    """A file that conditions leave out is not read; else it is an error that names it."""
    shutil.copytree(files.folder / 'dataset', files.folder / 'damaged')
    path, = (files.folder / 'damaged/samples').glob(f'host=web1/date={DAYS[0]}/*.parquet')
    for content, message in ((b'', 'not a complete Parquet file'), (path.read_bytes()[-3000:], 'damaged')):
        path.write_bytes(content)
        for condition in ("host = 'web2'", f"date > '{DAYS[0]}'", "host IN ('web2', 'none')"):
            sql = f'SELECT sum(period) AS x FROM samples WHERE {condition}'
            expect(condition, files.one(sql, 'damaged') == files.one(sql, 'dataset'))
        files.fails('SELECT sum(period) FROM samples', 'damaged', status=UNREADABLE, message=f'perfile: damaged/samples/host=web1/.*{message}')
    files.fails('SELECT * FROM samples', 'none', status=UNREADABLE, message='No such file')


def check_paths(files):
    """A file, a folder of files, folders of recordings, several of them; what was compacted; a result of a statement."""
    sql = 'SELECT count(*) AS n, sum(period) AS p FROM samples'
    rows = files.rows(sql, files.recordings[0])
    expect('a file', files.rows(sql, 'flat/samples.parquet') == rows)
    expect('a folder', files.rows(sql, 'flat') == rows and files.rows(sql, '-i', 'flat') == rows)
    expect('two folders', files.rows(sql, 'flat', 'many/recording=workload.perf.data') == files.rows(sql, 'many') == files.rows(sql, *files.recordings))
    expect('names', files.rows('SELECT DISTINCT recording FROM samples ORDER BY 1', 'flat', 'many') ==
           [{'recording': name} for name in ('demo.perf.data', 'flat', 'workload.perf.data')])
    everything = 'SELECT * FROM samples ORDER BY recording, time, stack_id'
    before = files.rows(everything, 'dataset')
    shutil.copytree(files.folder / 'hours', files.folder / 'compacted')
    files.run('dataset', '-q', 'compact', 'compacted')
    expect('compacted', files.rows(everything, 'compacted') == files.rows(everything, 'hours') and len(before) == 477)
    files.run('query', '-q', '--format', 'parquet', '-o', 'made.parquet', 'SELECT comm, count(*), sum(period) / 2.0 AS "a, b" FROM samples GROUP BY 1', *files.recordings)
    expect('a result', files.one('SELECT sum("a, b") + sum("count(*)") AS x FROM made', 'made.parquet') ==
           files.one('SELECT sum(period) / 2.0 + count(*) AS x FROM samples', *files.recordings))


def check_distinct(files):
    """Each stack and function once, of a dataset once in all of it."""
    for table, column in (('distinct_stacks', 'stack_id'), ('distinct_functions', 'function_id')):
        for of in ('dataset', 'hours', 'flat'):
            row, = files.rows(f'SELECT count(*) AS n, count(DISTINCT {column}) AS ids FROM {table}', of)
            expect(f'{of}: {table}: {row}', row['n'] == row['ids'] > 1)
    expect('those of two recordings', files.one('SELECT count(*) AS x FROM distinct_stacks', 'dataset', 'dataset') == files.one('SELECT count(*) AS x FROM distinct_stacks', 'dataset'))
    joined = 'SELECT sum(s.period) AS x FROM samples AS s JOIN distinct_stacks AS k USING ({})'
    total = files.one('SELECT sum(period) AS x FROM samples', *files.recordings)
    expect('joins', files.one(joined.format('stack_id'), 'dataset') == files.one(joined.format('recording, stack_id'), 'many') == total)


def check_groups(files):
    """Rows come in the order of several columns, of folders, too, as SQLite sorts them."""
    for of in ('dataset', *files.recordings[:1]):
        for keys in ('event, symbol, dso', 'comm, tid', 'host, comm, pid, tid', 'symbol, mode', 'stack_id, event'):
            for turn in ('', ' DESC'):
                order = turn.join(re.split('(?=,)', keys)) + turn
                plain = re.sub(r'(\w+)( DESC)?', r'+\1\2', order)
                sql = f'SELECT {keys}, count(*) AS n, sum(period) AS p FROM samples GROUP BY {{}} ORDER BY {{}}'
                rows = files.rows(sql.format(keys, order), of), files.rows(sql.format(re.sub(r'(\w+)', r'+\1', keys), plain), of)
                expect(f'{of}: {order}: {rows[0][:2]} {rows[1][:2]}', rows[0] == rows[1] and rows[0])


def check_refusals(files):
    files.fails('SELECT 1', 'dataset', files.recordings[0], message='recordings and Parquet files cannot be queried together')
    files.fails('.tables', 'dataset', files.recordings[0], message='cannot be queried together')
    done = files.query('--pid', '1', 'SELECT 1', 'flat')
    expect(f'a filter: {done.stderr}', done.returncode == USAGE and 'a statement chooses rows of Parquet files by WHERE' in done.stderr)
    files.fails('SELECT * FROM made_up', 'flat', message='no such table: made_up; there are events, ')
    files.fails('SELECT unknown FROM samples', 'flat', message='no such column: unknown at 1:8\n')
    files.fails('.schema nothing', 'flat', message='no such table: nothing')
    files.fails("ATTACH 'x.db' AS x", 'dataset', message='can only read')


def check_interrupts(files):
    """Ends by the signal, quickly, and nothing is written."""
    path = files.folder / 'interrupted.csv'
    endless = 'SELECT count(*) AS n FROM samples AS a, samples AS b, samples AS c, samples AS d WHERE a.time + b.time + c.time + d.time = 7'
    for of in ('dataset', *files.recordings[:1]):
        done = subprocess.Popen([files.perfile, 'query', '--format', 'csv', '-o', path, endless, of], stderr=subprocess.PIPE, text=True, cwd=files.folder)
        seconds = 0.0
        while done.poll() is None and seconds < 1:  # so that it computes: what comes before takes less
            seconds = sum(map(int, pathlib.Path(f'/proc/{done.pid}/stat').read_text().rsplit(')', 1)[1].split()[11:13])) / os.sysconf('SC_CLK_TCK')
            time.sleep(0.01)
        done.send_signal(signal.SIGINT)
        message = done.communicate(timeout=60)[1]
        expect(f'{of}: {done.returncode} {message}', done.returncode == -signal.SIGINT and not message and not path.exists())


def main():
    perfile, (examples, data) = hermetic.runnable(sys.argv[1]), map(os.path.abspath, sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        files = Files(perfile, examples, data, folder)
        if 'this build has no SQLite' in files.query('SELECT 1', 'flat').stderr:
            return 77
        for check in (check_ready, check_columns, check_conditions, check_unreadable, check_paths, check_distinct, check_groups, check_refusals,
                      check_interrupts):
            check(files)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
