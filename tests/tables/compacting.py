#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compacting.py --all|--some PERFILE UNZSTD SHIM.so RECORDING...: what readers of a dataset find while it is compacted, and after it was killed.

The SHIM kills the command before each of its calls that change a file or a folder, in turn, or before some of them. What is to
be seen then is what a reader sees at that moment: all rows once. Files are found as plain globs find them, whatever their names begin
with. Where the file system cannot exchange folders, one may be missing for a moment, until the next compact.
"""
import collections, hashlib, os, pathlib, shutil, signal, subprocess, sys, tempfile

from datasets import SHARED, TABLES, expect, wrong
import hermetic, parquet


class Compacting:
    def __init__(self, perfile, unzstd, shim, folder):
        self.perfile, self.unzstd, self.shim = perfile, unzstd, shim
        self.base, self.work, self.known = folder / 'base', folder / 'work', {}

    def run(self, *words, **environment):
        return subprocess.run([self.perfile, *map(str, words)], capture_output=True, text=True, env={**os.environ, **hermetic.preloaded(self.shim), **environment})

    def add(self, *recordings):
        done = self.run('export', '--format', 'parquet', '--partition', 'date', '-o', self.base, *recordings)
        expect(f'adding: {done.stderr}', done.returncode == 0)

    def again(self):
        """A copy of the dataset with the same files: what compacting removes stays in the other."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.base, self.work, copy_function=os.link)

    def compact(self, *options, **environment):
        return self.run('dataset', 'compact', '-q', *options, self.work, **environment)

    def rows_of(self, path):
        """Files of the same bytes are decoded once."""
        data = path.read_bytes()
        key = hashlib.sha1(data).digest()
        if key not in self.known:
            self.known[key] = collections.Counter(map(repr, zip(*parquet.Table(data, self.unzstd).values.values())))
        return self.known[key]

    def seen(self, root=None):
        """Rows of each table; those that hosts have in common may stand in several files."""
        found = {}
        for table in TABLES:
            found[table] = collections.Counter()
            for folder, _, names in os.walk((root or self.work) / table):
                for name in names:
                    if name.endswith('.parquet'):
                        found[table] += self.rows_of(pathlib.Path(folder, name))
            if table in SHARED:
                found[table] = set(found[table])
        return found

    def stopped(self, at, *options, **environment):
        """False: it came to its end before."""
        self.again()
        done = self.compact(*options, STOP_AT=str(at), **environment)
        expect(f'stopped at {at}: {done.returncode}: {done.stderr}', done.returncode in (0, -signal.SIGKILL))
        return done.returncode != 0


def check_stops(compacting, step, may_miss, *options, **environment):
    right, at = compacting.seen(compacting.base), 1
    missed = 0
    while compacting.stopped(at, *options, **environment):
        seen = compacting.seen()
        for table in TABLES:
            extra = set(seen[table]) - set(right[table]) if table in SHARED else seen[table] - right[table]
            expect(f'stopped at {at}: {table} has rows twice, or other ones', not extra)
        missed += seen != right
        expect(f'stopped at {at}: rows are missing', may_miss or seen == right)
        done = compacting.compact(*options, **environment)
        expect(f'stopped at {at}, again: {done.returncode}: {done.stderr}', done.returncode == 0)
        expect(f'stopped at {at}, again: other rows', compacting.seen() == right)
        done = compacting.run('dataset', 'check', compacting.work)
        expect(f'stopped at {at}: {done.stdout}{done.stderr}', done.returncode == 0)
        expect(f'stopped at {at}: something is left', not (compacting.work / '_perfile/joining').exists())
        at += step
    expect('not one stop', at > 1)
    return at, missed


def check_check(compacting):
    """check says what a killed compact left, and removes it."""
    right, done = compacting.seen(compacting.base), 0
    for at in range(20, 400, 40):
        if not compacting.stopped(at) or not (compacting.work / '_perfile/joining').exists():
            continue
        heard = compacting.run('dataset', 'check', compacting.work)
        expect(f'stopped at {at}: check says {heard.stdout}', heard.returncode == 1 and 'unfinished' in heard.stdout)
        compacting.run('dataset', 'check', '--remove', compacting.work)
        heard = compacting.run('dataset', 'check', compacting.work)
        expect(f'stopped at {at}: --remove leaves {heard.stdout}', heard.returncode == 0 and compacting.seen() == right)
        done += 1
    expect('nothing was left anywhere', done)


def check_names(compacting):
    """A reader that listed files before they were replaced finds them with the same bytes, or not at all."""
    compacting.again()
    before = {path: path.read_bytes() for path in compacting.work.rglob('*.parquet')}
    expect('compacting', compacting.compact().returncode == 0)
    expect('a name has other bytes', all(path.read_bytes() == data for path, data in before.items() if path.exists()))
    expect('nothing was replaced', not all(path.exists() for path in before))


def check_open_folder(compacting):
    """A reader that opened a folder before it was replaced can list all of it after that: files are removed later."""
    compacting.again()
    folder = next((compacting.work / 'frames').iterdir())
    names, opened = sorted(os.listdir(folder)), os.open(folder, os.O_RDONLY)
    compacting.compact(STOP_AFTER_EXCHANGE='1')
    expect('the first folder is not replaced', sorted(os.listdir(folder)) != names)
    expect('files of the old folder are removed at once', sorted(os.listdir(opened)) == names)
    os.close(opened)


def check_late(compacting):
    """Where there are no locks, someone may have added a recording to a folder after it was replaced: it is not lost."""
    compacting.again()
    compacting.compact(STOP_AFTER_EXCHANGE=str(len(TABLES)))  # samples are the last
    folder, = (compacting.work / 'samples').iterdir()
    old = compacting.work / '_perfile/joining' / folder.relative_to(compacting.work)
    expect('samples were not replaced', old.exists() and len(list(folder.iterdir())) < len(list(old.iterdir())))
    name = 32 * '7' + '.parquet'
    (old / name).write_bytes(b'late')
    compacting.compact()
    expect('a recording that was added late is lost', (folder / name).exists() and (folder / name).read_bytes() == b'late')


def check_columns(compacting, recordings):
    """Files of another version may have more columns or fewer: those missing in a file are NULL in its rows. Such are those of another
    dataset here, which has hosts as folders."""
    other = compacting.base.with_name('by-host')
    add = ['export', '-q', '--format', 'parquet', '--partition']
    for path, keys, recording in ((compacting.base, 'date', recordings[0]), (other, 'host,date', recordings[1])):
        shutil.rmtree(path, ignore_errors=True)
        expect('adding', compacting.run(*add, keys, '-o', path, recording).returncode == 0)
    for path in [*other.rglob('*.parquet'), *other.glob('_perfile/recordings/*')]:
        parts = [part for part in path.relative_to(other).parts if not part.startswith('host=')]
        shutil.copy(path, compacting.base.joinpath(*parts))
    columns = [set(parquet.Table(path.read_bytes(), compacting.unzstd).values) for path in compacting.base.glob('samples/*/*.parquet')]
    expect(f'the columns are the same: {columns}', len(columns) == 2 and columns[0] ^ columns[1] == {'host'})
    compacting.again()
    printed = compacting.run('query', '--format', 'csv', 'SELECT host IS NULL, count(*) FROM samples GROUP BY 1 ORDER BY 1', compacting.work)
    done = compacting.compact()
    expect(f'compacting other columns: {done.stderr}', done.returncode == 0)
    path, = compacting.work.glob('samples/*/*.parquet')
    host = parquet.Table(path.read_bytes(), compacting.unzstd).values['host']
    nulls = host.count(None)
    expect(f'query of other columns: {printed.stdout}{printed.stderr}', printed.stdout.splitlines()[1:] == [f'0,{len(host) - nulls}', f'1,{nulls}'])
    expect('no host is NULL, or all are', 0 < nulls < len(host))
    done = compacting.run('dataset', 'check', compacting.work)
    expect(f'other columns: {done.stdout}{done.stderr}', done.returncode == 0)


def main():
    stops, perfile, unzstd, shim, *recordings = sys.argv[1:]
    step = 1 if stops == '--all' else 29
    with tempfile.TemporaryDirectory(dir=hermetic.in_memory()) as name:  # where files are written at once
        folder = pathlib.Path(name)
        compacting = Compacting(perfile, unzstd, shim, folder)
        copies = []
        for number, path in enumerate(recordings):
            copies.append(shutil.copy(path, folder / f'{number}.data'))
            os.utime(copies[-1], (1769767200, 1769767200))
        compacting.add(*copies)
        at, missed = check_stops(compacting, step, False)
        print(f'{at} calls, at {missed} of them rows are missing')
        at, missed = check_stops(compacting, step, True, NO_EXCHANGE='1')
        print(f'{at} calls without exchange, at {missed} of them rows are missing')
        if step == 1:
            expect('the folder is never missing without exchange', missed)
        check_check(compacting)
        check_names(compacting)
        check_open_folder(compacting)
        check_late(compacting)
        compacting.again()  # joined files, and one that is joined with them
        compacting.compact()
        shutil.rmtree(compacting.base)
        shutil.copytree(compacting.work, compacting.base)
        more = shutil.copy(recordings[0], folder / 'more.data')
        with open(more, 'ab') as file:
            file.write(b'more')
        os.utime(more, (1769767200, 1769767200))
        compacting.add(more)
        at, missed = check_stops(compacting, step, False)
        print(f'{at} calls on joined files, at {missed} of them rows are missing')
        check_columns(compacting, copies)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
