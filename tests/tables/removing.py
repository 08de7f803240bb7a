#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""removing.py [--all] PERFILE UNZSTD ASSEMBLE SHIM.so: what is left of a dataset after recordings of a host, before a date, or one were removed.

Rows are those that the other recordings had when they were added, stacks and functions included; check finds nothing, and the
recordings can be added again. The SHIM kills the command before some of its calls that change a file or a folder (with --all before
200 of them): rows of other recordings are complete then, and the next command finishes the removal.
"""
import collections, functools, json, os, pathlib, shutil, signal, subprocess, sys, tempfile

from datasets import Dataset, SHARED, TABLES, digest, expect, wrong
import hermetic, parquet

HOSTS, DAYS, EACH = 25, 4, 5
FIRST_DAY = 1769767200  # 2026-01-30, 10:00 UTC
TEXT = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD|CALLCHAIN ids=1 sample_id_all=1
feature HOSTNAME u32:{bytes},hex:{hex}
record MMAP2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename="/opt/{host}/bin" | pid=7 tid=7 time=1
record MMAP2 pid=7 tid=7 addr=0x500000 len=0x1000 pgoff=0 filename="/opt/common" | pid=7 tid=7 time=1
record MMAP2 pid=7 tid=7 addr=0x600000 len=0x1000 pgoff=0 filename="/opt/only-{number}" | pid=7 tid=7 time=1
record COMM pid=7 tid=7 comm="{host}" | pid=7 tid=7 time=2
sample misc=2 ip=0x400010 pid=7 tid=7 time=10 period={number} callchain=3,0xfffffffffffffe00,0x400010,0x500020
sample misc=2 ip=0x500010 pid=7 tid=7 time=20 period=3 callchain=2,0xfffffffffffffe00,0x500010
sample misc=2 ip=0x600010 pid=7 tid=7 time=30 period=5 callchain=3,0xfffffffffffffe00,0x600010,0x500020
'''


class Fleet:
    """Recordings of hosts on some days."""

    def __init__(self, assemble, folder, hosts, days, each):
        self.of = {}  # path: host, day
        for host in range(hosts):
            for day in range(days):
                self.make(assemble, folder, f'web{host:02}', day, each)

    def make(self, assemble, folder, host, day, each):
        number = len(self.of) + 1
        text = TEXT.format(host=host, bytes=len(host) + 1, hex=host.encode().hex() + '00', number=number)
        data = subprocess.run([assemble], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        for copy in range(each):
            path = folder / f'{host}-{day}-{copy}.data'
            path.write_bytes(data + b'%d' % copy)  # what is equal would be there already
            time = FIRST_DAY + day * 24 * 3600 + copy
            os.utime(path, (time, time))
            self.of[path] = host, day


class Rows:
    """The rows that each recording brought, by table."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.of = {table: {path.stem: self.read(path) for path in dataset.files(table)} for table in TABLES}

    @functools.lru_cache(None)
    def decode(self, data):
        return collections.Counter(map(repr, zip(*parquet.Table(data, self.dataset.unzstd).values.values())))

    def read(self, path):
        return self.decode(path.read_bytes())

    def add_up(self, table, parts):
        rows = collections.Counter()
        for part in parts:
            rows.update(part)
        return set(rows) if table in SHARED else rows

    def expected(self, ids):
        ids = list(ids)
        return {table: self.add_up(table, (of[id] for id in ids)) for table, of in self.of.items()}

    def seen(self, dataset):
        return {table: self.add_up(table, map(self.read, dataset.files(table))) for table in TABLES}


def copy(dataset, name):
    """The same files: what is removed stays in the other."""
    there = dataset.folder.parent / name
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(dataset.folder, there, copy_function=os.link)
    return Dataset(dataset.perfile, dataset.unzstd, there)


def compare(what, seen, expected):
    for table in TABLES:
        expect(f'{what}: {table}: {len(seen[table])} different rows, not {len(expected[table])}', seen[table] == expected[table])


def check_removed(what, base, fleet, rows, options, goes):
    """`goes` decides from (path, host, day) which recordings leave."""
    dataset = copy(base, 'removed')
    gone = [path for path, of in fleet.of.items() if goes(path, *of)]
    left = [path for path in fleet.of if path not in gone]
    listed = dataset.verb('remove', '--dry-run', '--format', 'jsonl', *options).splitlines()
    expect(f'{what}: --dry-run lists {len(listed)}', {json.loads(line)['recording'] for line in listed} == set(map(digest, gone)))
    reply = dataset.verb('remove', *options, reply=True)
    expect(f'{what}: {reply}', f'removed {len(gone)} recording' in reply)
    compare(what, rows.seen(dataset), rows.expected(map(digest, left)))
    expect(f'{what}: check', f'{len(left)} recordings' in dataset.verb('check'))
    expect(f'{what}: empty folders are left', not [at for at, folders, names in os.walk(dataset.folder) if not folders and not names and '_perfile' not in at])
    again = dataset.verb('remove', *options, reply=True)
    expect(f'{what}: again: {again}', 'removed 0 recordings and 0 files' in again)
    reply = dataset.add(*fleet.of, jobs=2)
    expect(f'{what}: adding again: {reply}', f'{len(gone)} recording' in reply and f'{len(left)} were there already' in reply)
    dataset.verb('compact')
    compare(f'{what}, added again and compacted', rows.seen(dataset), rows.expected(map(digest, fleet.of)))
    dataset.verb('check')


def check_all(dataset, fleet, rows):
    one = next(path for path, of in fleet.of.items() if of == ('web07', 2))
    for state in 'as added', 'compacted':
        check_removed(f'{state}: host', dataset, fleet, rows, ['--host', 'web03'], lambda path, host, day: host == 'web03')
        check_removed(f'{state}: date', dataset, fleet, rows, ['--before', '2026-01-31'], lambda path, host, day: day == 0)
        check_removed(f'{state}: recording', dataset, fleet, rows, ['--recording', digest(one)], lambda path, host, day: path == one)
        dataset.verb('compact')


def check_stats(dataset, fleet):
    for key, number in ('host', HOSTS), ('date', DAYS):
        rows = list(map(json.loads, dataset.verb('stats', '--by', key, '--format', 'jsonl').splitlines()))
        expect(f'stats --by {key}: {rows[:2]}', len(rows) == number and all(row['recordings'] == len(fleet.of) / number for row in rows))
        expect(f'stats --by {key}: samples', sum(row['samples'] for row in rows) == 3 * len(fleet.of))
    expect(f'stats --by date: {rows[0]}', rows[0]['date'] == '2026-01-30' and rows[0]['first'] == '2026-01-30T09:59:59Z' and rows[0]['age_days'] > 0)


def check_refusals(dataset):
    state = dataset.state()
    for options in [], ['--before', 'yesterday'], ['--before', '2026-13-01'], ['--recording', 'abc']:
        dataset.verb('remove', *options, status=2)
    dataset.verb('remove', '--recording', 32 * 'a', status=1)
    changed = {path for path, time in dataset.state().items() if state.get(path) != time}
    expect(f'a refused removal changes {changed}', changed <= {'_perfile/lock', '_perfile/placing'})


def check_version(dataset):
    """An older layout is read, and becomes the current one; a newer one is refused with both numbers."""
    dataset = copy(dataset, 'version')
    about = dataset.folder / '_perfile/dataset'
    text = about.read_text()
    about.unlink()
    for version, status in (2, 0), (1, 3), (4, 3):
        about.write_text(text.replace(' 3\n', f' {version}\n', 1))
        reply = dataset.verb('stats', status=status, reply=True)
        expect(f'version {version}: {reply}', f'version {version}' in reply and (version != 4 or 'versions up to 3' in reply))
    about.write_text(text.replace(' 3\n', ' 2\n', 1))
    dataset.verb('remove', '--host', 'nobody')
    expect('the version stays', about.read_text() == text)


def check_markers(dataset, fleet):
    """Markers of removed recordings have no names, and compact drops them a month later."""
    dataset = copy(dataset, 'markers')
    dataset.verb('remove', '--host', 'web03')
    markers = [path for path in (dataset.folder / '_perfile/recordings').iterdir() if 'state removed' in path.read_text()]
    expect('not all are marked', len(markers) == DAYS * EACH)
    expect('a marker has a name', not any('web03' in path.read_text() or '.data' in path.read_text() for path in markers))
    dataset.verb('compact')
    expect('markers are dropped too early', all(path.exists() for path in markers))


def stopped(dataset, shim, at, **environment):
    """False: it came to its end before."""
    done = subprocess.run([dataset.perfile, 'dataset', 'remove', '-q', '--host', 'web01', dataset.folder], capture_output=True, text=True,
                          env={**os.environ, 'STOP_AT': str(at), **environment})
    expect(f'killed at {at}: {done.returncode}: {done.stderr}', done.returncode in (0, -signal.SIGKILL))
    return done.returncode != 0


def check_killed(base, fleet, rows, shim, step, **environment):
    ids = {digest(path): host for path, (host, _) in fleet.of.items()}
    left = rows.expected(id for id, host in ids.items() if host != 'web01')
    everything = rows.expected(ids)
    at = 1
    while True:
        dataset = copy(base, 'killed')
        if not stopped(dataset, shim, at, **environment):
            break
        seen = rows.seen(dataset)
        for table in TABLES:
            missing = left[table] - seen[table]
            expect(f'killed at {at}: {table}: rows of others are missing', not missing or 'NO_EXCHANGE' in environment)
            expect(f'killed at {at}: {table}: rows stand twice', not seen[table] - everything[table])
        checked = subprocess.run([dataset.perfile, 'dataset', 'check', dataset.folder], capture_output=True, text=True)
        clean = checked.returncode == 0
        expect(f'killed at {at}: check finds nothing, but rows are left', not clean or seen in (left, everything))
        readded = next(path for path, (host, _) in fleet.of.items() if host == 'web01')
        if at % 2:
            dataset.verb('remove', '--host', 'web01')
        else:
            dataset.verb('compact')  # finishes what was marked
            dataset.verb('remove', '--host', 'web01')
        compare(f'killed at {at}, finished', rows.seen(dataset), left)
        dataset.verb('check')
        dataset.add(readded)
        dataset.verb('check')
        at += step
    expect('not one kill', at > 1)
    return at


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--all']
    all = len(arguments) < len(sys.argv) - 1
    perfile, unzstd, assemble, shim = map(hermetic.runnable, arguments)
    os.environ.update(hermetic.preloaded(shim))  # commands do not wait for readers
    with tempfile.TemporaryDirectory(dir=hermetic.in_memory()) as name:
        folder = pathlib.Path(name)
        fleet = Fleet(assemble, folder, HOSTS, DAYS, EACH)
        dataset = Dataset(perfile, unzstd, folder / 'fleet')
        if not all:
            dataset.add(*fleet.of, jobs=2)
            rows = Rows(dataset)
            check_stats(dataset, fleet)
            check_refusals(dataset)
            check_version(dataset)
            check_markers(dataset, fleet)
            check_all(dataset, fleet, rows)
        small = folder / 'few'
        small.mkdir()
        few = Fleet(assemble, small, 3, 2, 2)
        base = Dataset(perfile, unzstd, folder / 'base')
        base.add(*few.of)
        rows = Rows(base)
        *first, last = few.of
        base.verb('remove', '--recording', digest(last))
        base.verb('compact')
        base.add(last)  # files of one recording beside joined ones
        for environment in {}, {'NO_EXCHANGE': '1'}:
            ends = check_killed(base, few, rows, shim, 1 if all else 13, **environment)
            print(f'{ends} calls')
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
