#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""datasets.py [--all] PERFILE UNZSTD RECORDING...: recordings become one dataset, whoever adds them, how often, and which of them is killed meanwhile.

Its files are read by a decoder that shares nothing with the library (parquet.py), and hold what `perfile table` has of each recording.
"""
import collections, fcntl, hashlib, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic, parquet

TABLES = 'samples', 'stacks', 'frames', 'threads', 'events', 'losses', 'meta'
SHARED = 'stacks', 'frames'
wrong = []


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text)


def digest(path):
    path = pathlib.Path(path)
    if not path.is_dir():
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    parts = [file.name + '\0' + digest(file) for file in sorted(path.iterdir()) if file.is_file()]
    return hashlib.blake2b(''.join(parts).encode(), digest_size=16).hexdigest()


def signed(number):
    return number - (1 << 64) if number >> 63 else number


class Dataset:
    def __init__(self, perfile, unzstd, folder):
        self.perfile, self.unzstd, self.folder = perfile, unzstd, pathlib.Path(folder)

    def command(self, *paths, keys='host,date', jobs=1):
        return [self.perfile, 'export', '--format', 'parquet', '--partition', keys, '-j', str(jobs), '-o', str(self.folder), *map(str, paths)]

    def add(self, *paths, status=0, **how):
        done = subprocess.run(self.command(*paths, **how), capture_output=True, text=True)
        expect(f'{self.folder.name}: status {done.returncode}, not {status}: {done.stderr}', done.returncode == status)
        return done.stderr

    def verb(self, what, *options, status=0, reply=False):
        done = subprocess.run([self.perfile, 'dataset', what, *options, str(self.folder)], capture_output=True, text=True)
        expect(f'dataset {what}: status {done.returncode}, not {status}: {done.stdout}{done.stderr}', done.returncode == status)
        return done.stderr if reply else done.stdout

    def files(self, table='*', below=''):
        return sorted((self.folder / below).glob(f'{table}/**/*.parquet'))

    def state(self):
        return {str(path.relative_to(self.folder)): path.stat().st_mtime_ns for path in self.folder.rglob('*') if path.is_file()}

    def read(self, path):
        return parquet.Table(path.read_bytes(), self.unzstd)

    def rows(self, table, below=''):
        """Of each recording, or of no one."""
        found = collections.defaultdict(list)
        for path in self.files(table, below):
            values = self.read(path).values
            names = [name for name in values if name != 'recording']
            ids = [id.decode() for id in values['recording']] if 'recording' in values else [''] * len(values[names[0]])
            for id, *row in zip(ids, *(values[name] for name in names)):
                found[id].append(dict(zip(names, row)))
        return found

    def markers(self):
        return {path.name for path in (self.folder / '_perfile/recordings').iterdir() if len(path.name) == 32}

    def hidden(self):
        return [path for path in self.folder.rglob('.*') if path.is_file()]


def table_of(perfile, path, *view):
    done = subprocess.run([perfile, 'table', *view, '--format', 'jsonl', path], capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_content(dataset, recordings, below=''):
    samples, stacks = dataset.rows('samples', below), dataset.rows('stacks', below)['']
    known = {row['stack_id']: [text.decode() for text in row['stack']] for row in stacks}
    expect('recordings in samples are others', set(samples) == {digest(path) for path in recordings})
    for path in recordings:
        name, rows = pathlib.Path(path).name, samples[digest(path)]
        expected = table_of(dataset.perfile, path, 'samples', '--columns', 'all')
        for column in ('event', 'period', 'pid', 'tid', 'comm', 'symbol'):
            plain = [row[column].decode() if isinstance(row[column], bytes) else row[column] for row in rows]
            expect(f'{name}: {column} differs', plain == [row.get(column) for row in expected])
        of_view = {signed(row['stack_id']): row['stack'] for row in table_of(dataset.perfile, path, 'stacks', '--by', 'stack')}
        expect(f'{name}: stacks differ', all(known.get(id) == stack for id, stack in of_view.items()) and {row['stack_id'] for row in rows} == set(of_view))
        expect(f'{name}: ids of stacks differ', [row['stack_id'] for row in rows] == [signed(row['stack_id']) for row in expected])


def check_layout(dataset):
    for table in TABLES:
        shapes = {tuple((c.name, c.type, c.optional, c.is_list) for c in dataset.read(path).columns) for path in dataset.files(table)}
        expect(f'{table}: files have {len(shapes)} schemas', len(shapes) == 1)
        for path in dataset.files(table):
            keys = [part.split('=')[0] for part in path.relative_to(dataset.folder).parts[1:-1]]
            expect(f'{path}: keys {keys}', keys == (['date'] if table in SHARED else ['host', 'date']))


def check_adding(dataset, recordings):
    text = dataset.add(*recordings, jobs=2)
    expect(f'said: {text}', f'{len(recordings)} recordings added' in text)
    check_layout(dataset)
    check_content(dataset, recordings)
    before = dataset.state()
    text = dataset.add(*recordings, recordings[0])
    expect(f'said: {text}', f'0 recordings added, {len(recordings) + 1} were there already' in text)
    expect('adding again changes something', dataset.state() == before)


def check_writers(perfile, unzstd, folder, recordings):
    dataset = Dataset(perfile, unzstd, folder)
    writers = [subprocess.Popen(dataset.command(*order), stderr=subprocess.DEVNULL) for order in (recordings, recordings[::-1])]
    expect('one of two writers failed', [writer.wait() for writer in writers] == [0, 0])
    check_content(dataset, recordings)
    expect(f'left behind: {dataset.hidden()}', not dataset.hidden())


def check_killed(perfile, unzstd, folder, recordings):
    """At a moment that the test cannot choose: whichever it is, what is to be seen is complete."""
    dataset = Dataset(perfile, unzstd, folder)
    for count in (1, 3, 9):
        writer = subprocess.Popen(dataset.command(*recordings), stderr=subprocess.DEVNULL)
        while writer.poll() is None and len(dataset.files()) < count:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        for path in dataset.files():
            dataset.read(path)
        in_samples = set(dataset.rows('samples'))
        expect('a recording is in that has no samples', dataset.markers() <= in_samples)
    (dataset.folder / f'samples/.{32 * "a"}.parquet').write_bytes(b'')
    status = 1 if len(in_samples - dataset.markers()) or dataset.hidden() else 0
    expect('check says nothing of what is left', dataset.verb('check', status=status).strip() != '')
    dataset.verb('check', '--remove', status=status)
    dataset.verb('check')
    dataset.add(*recordings)
    check_content(dataset, recordings)
    expect(f'left behind: {dataset.hidden()}', not dataset.hidden())


def check_killed_together(perfile, unzstd, folder, recordings):
    """Processes of a command end with it. Its error output ends with the last of them."""
    dataset = Dataset(perfile, unzstd, folder / 'together')
    copies = [folder / f'together-{number}.data' for number in range(200)]
    for number, path in enumerate(copies):
        path.write_bytes(pathlib.Path(recordings[0]).read_bytes() + b'%d' % number)
    with subprocess.Popen(dataset.command(*copies, jobs=2), stderr=subprocess.PIPE) as writer:
        while writer.poll() is None and not ((dataset.folder / '_perfile/recordings').exists() and dataset.markers()):
            pass
        writer.kill()
        writer.stderr.read()
    expect('its processes went on without it', len(dataset.markers()) < len(copies))


def check_checked_meanwhile(perfile, unzstd, folder, recordings):
    """A recording comes in between check's looks at files: it is neither incomplete nor missing, and stays."""
    dataset = Dataset(perfile, unzstd, folder / 'meanwhile')
    dataset.add(*recordings[:3])
    before = set(dataset.files())
    *pipes, last = dataset.files('frames')
    marker = dataset.folder / '_perfile/recordings' / last.stem
    marker.rename(folder / 'marker')
    for pipe in pipes:  # check opens them in turn, and waits in each until it is opened here
        pipe.unlink()
        os.mkfifo(pipe)
    with subprocess.Popen([perfile, 'dataset', 'check', '--remove', dataset.folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as checking:
        for number, pipe in enumerate(pipes):
            if number == 1:
                (folder / 'marker').rename(marker)
            while checking.poll() is None:
                try:
                    os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
                    break
                except OSError:
                    pass  # check is not there yet
        reply = checking.stdout.read()
    expect(f'what came in meanwhile is removed, or said to be wrong: {reply}', set(dataset.files()) == before and marker.stem not in reply)
    expect(f'check did not wait: {reply}', len(pipes) == 2 and reply.count('damaged') == 2 and marker.exists())


def check_resumed(perfile, unzstd, folder, recordings):
    """What was in when the command was interrupted is not added again."""
    dataset = Dataset(perfile, unzstd, folder / 'resumed')
    copies = [shutil.copy(path, folder / f'resumed-{number}.data') for number, path in enumerate(recordings)]
    for number, path in enumerate(copies):
        with open(path, 'ab') as file:
            file.write(b'%d' % number)
    for signal_of, count in ((signal.SIGINT, 1), (signal.SIGTERM, 2)):
        writer = subprocess.Popen(dataset.command(*copies), stderr=subprocess.DEVNULL)
        while writer.poll() is None and not ((dataset.folder / '_perfile/recordings').exists() and len(dataset.markers()) >= count):
            pass
        writer.send_signal(signal_of)
        writer.wait()
    known = dataset.markers()
    before = {path: time for path, time in dataset.state().items() if any(id in path for id in known)}
    text = dataset.add(*copies)
    expect(f'{len(known)} were in: {text}', f'{len(copies) - len(known)} recordings added' in text.replace('1 recording added', '1 recordings added'))
    expect(f'{len(known)} were in: {text}', not known or f'{len(known)} were there already' in text)
    state = dataset.state()
    expect('what was in is written again', all(state.get(path) == time for path, time in before.items()))
    check_content(dataset, copies)


def check_damage(perfile, unzstd, folder, recordings):
    cut, junk = folder / 'cut.data', folder / 'junk.data'
    entire = pathlib.Path(recordings[0]).read_bytes()
    cut.write_bytes(entire[:len(entire) * 2 // 3])
    junk.write_bytes(b'no recording at all' * 9)
    dataset = Dataset(perfile, unzstd, folder / 'damage')
    text = dataset.add(recordings[1], cut, junk, status=1)
    expect(f'said: {text}', '2 recordings added, 1 of them damaged (below damaged/), 1 unreadable' in text)
    check_content(dataset, [recordings[1]])
    check_content(dataset, [cut], 'damaged')
    before = dataset.state()
    text = dataset.add(recordings[1], cut, junk)
    expect(f'said: {text}', '0 recordings added, 3 were there already' in text and dataset.state() == before)
    text = dataset.add(recordings[1], folder / 'none', status=3)
    expect(f'said: {text}', '1 were there already, 1 failed' in text)
    dataset.verb('check')


def check_refusals(dataset, folder, recordings):
    dataset.add(recordings[0], keys='date', status=2)
    dataset.add(recordings[0], keys='hosts', status=2)
    foreign = Dataset(dataset.perfile, dataset.unzstd, folder)
    foreign.add(recordings[0], status=2)
    plain = Dataset(dataset.perfile, dataset.unzstd, folder / 'plain')
    plain.add(recordings[0], keys='none')
    names = {path.parent.name for path in plain.files()}
    expect(f'folders without keys: {names}', names == set(TABLES))
    expect('no host where it is no folder', plain.read(plain.files('samples')[0]).values['host'])


def check_compacting(dataset, recordings):
    small = {path: path.read_bytes() for path in dataset.files('samples')}
    before = {table: dataset.rows(table) for table in TABLES}
    dataset.verb('compact')
    after = {table: dataset.rows(table) for table in TABLES}
    for table in TABLES:
        if table in SHARED:
            old, new = ([tuple(map(repr, row.values())) for row in rows[table]['']] for rows in (before, after))
            expect(f'{table}: other rows', set(old) >= set(new))
            for folder in {path.parent for path in dataset.files(table)}:
                ids = [id for path in folder.glob('*.parquet') for id in dataset.read(path).values[table[:-1].replace('frame', 'function') + '_id']]
                expect(f'{folder}: an id stands twice', len(ids) == len(set(ids)))
        else:
            expect(f'{table}: other rows', before[table] == after[table])
    check_layout(dataset)
    check_content(dataset, recordings)
    for table in TABLES:
        folders = collections.Counter(path.parent for path in dataset.files(table))
        expect(f'{table}: several files in a folder', set(folders.values()) == {1})
    dataset.verb('check')
    state = dataset.state()
    dataset.verb('compact')
    expect('compacting again changes something', dataset.state() == state)
    dataset.add(*recordings)
    expect('what was compacted is added again', dataset.state() == state)
    for remove in (lambda: dataset.verb('check', '--remove', status=1), lambda: dataset.verb('compact')):
        for path, data in small.items():  # as if the command had been killed before it removed them
            path.write_bytes(data)
        expect('rows that are there twice are not found', 'double' in dataset.verb('check', status=1))
        remove()
        expect('rows stay there twice', set(dataset.state()) == set(state))
        dataset.verb('check')


def check_unfinished(dataset):
    """compact removes what killed commands left more than a day ago, and nothing that someone writes or that is not ours."""
    state = dataset.state()
    folder, id, other = dataset.files('samples')[0].parent, 32 * 'a', 32 * 'b'
    old, new = time.time() - 25 * 3600, time.time() - 23 * 3600
    left = {f'.{id}.parquet': old, f'.{id}.parquet.77.tmp': old, f'.joined-{id}.parquet.77.tmp': old}
    kept = {f'.{id}.parquet.78.tmp': new, f'.joined-{id}.parquet': new, f'.{other}.parquet': old, '.directory': old}
    for name, age in {**left, **kept}.items():
        (folder / name).write_bytes(b'PAR1')
        os.utime(folder / name, (age, age))
    markers = [dataset.folder / '_perfile' / name for name in (f'recordings/.{id}.77.tmp', f'joined/.samples-{id}.77.tmp')]
    for path in markers:
        path.write_bytes(b'half')
        os.utime(path, (old, old))
    link, target = folder / f'.{id}.parquet.79.tmp', folder / '.directory'
    link.symlink_to(target.name)
    os.utime(link, (old, old), follow_symlinks=False)
    with open(dataset.folder / '_perfile/adding' / other, 'w') as lock:  # that recording is being added
        fcntl.lockf(lock, fcntl.LOCK_EX)
        reply = dataset.verb('compact', reply=True)
    expect('half a marker stays', not any(path.exists() for path in markers))
    expect(f'the number of files is missing: {reply}', 'removed 5 unfinished files of commands that were killed' in reply)
    expect('others are removed, or not all', {path.name for path in dataset.hidden() if path.parent == folder} == {*kept, link.name})
    for name in (*kept, link.name):
        (folder / name).unlink()
    (dataset.folder / '_perfile/adding' / other).unlink(missing_ok=True)
    expect('nothing was left, and that is said', 'unfinished' not in dataset.verb('compact', reply=True))
    expect('files of the dataset changed', dataset.state() == state)


def check_found(dataset):
    """What is wrong with a dataset is reported."""
    path = dataset.files('samples')[0]
    entire = path.read_bytes()
    path.write_bytes(entire[:-1])
    expect('a cut file is not named', path.name in dataset.verb('check', status=1))
    path.unlink()
    expect('a missing file is not named', 'samples' in dataset.verb('check', status=1))
    path.write_bytes(entire)
    dataset.verb('check')


def check_flips(dataset):
    """One bit of any file: whatever it is in, it is found, and no file that has it is joined with others."""
    for number, path in enumerate(sorted(path for path in dataset.folder.rglob('*') if path.is_file() and path.name not in ('lock', 'placing'))):
        entire = path.read_bytes()
        at = number * 1000003 % len(entire)
        path.write_bytes(entire[:at] + bytes([entire[at] ^ 1 << number % 8]) + entire[at + 1:])
        done = subprocess.run([dataset.perfile, 'dataset', 'check', dataset.folder], capture_output=True)
        expect(f'a bit at {at} of {path} is not found: {done.returncode}', done.returncode in (1, 3) and done.stdout + done.stderr)
        path.write_bytes(entire)
    dataset.verb('check')


def check_damaged_not_joined(dataset, recordings):
    dataset.add(*recordings[:2])
    path = dataset.files('samples')[0]
    entire = path.read_bytes()
    path.write_bytes(entire[:100] + bytes([entire[100] ^ 1]) + entire[101:])
    dataset.verb('compact', status=1)
    expect('a damaged file was joined', path.exists())
    path.write_bytes(entire)
    dataset.verb('check')


def check_stats(dataset, recordings):
    lines = dataset.verb('stats', '--format', 'jsonl').splitlines()
    rows = {row['table']: row for row in map(json.loads, lines)}
    samples = sum(len(table_of(dataset.perfile, path, 'samples', '--columns', 'pid')) for path in recordings)
    expect(f'stats: {rows["samples"]}', rows['samples']['rows'] == samples and rows['samples']['recordings'] == len(recordings))
    expect('stats: bytes', rows['samples']['bytes'] == sum(path.stat().st_size for path in dataset.files('samples')))


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--all']
    all = len(arguments) < len(sys.argv) - 1
    perfile, unzstd = map(hermetic.runnable, arguments[:2])
    recordings = arguments[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        dataset = Dataset(perfile, unzstd, folder / 'dataset')
        check_adding(dataset, recordings)
        if all:
            check_writers(perfile, unzstd, folder / 'writers', recordings)
            check_killed(perfile, unzstd, folder / 'killed', recordings)
            check_killed_together(perfile, unzstd, folder, recordings)
            check_resumed(perfile, unzstd, folder, [*recordings[:3]] * 3)
            check_refusals(dataset, folder, recordings)
        check_checked_meanwhile(perfile, unzstd, folder, recordings)
        check_damage(perfile, unzstd, folder, recordings)
        check_stats(dataset, recordings)
        check_compacting(dataset, recordings)
        check_unfinished(dataset)
        check_found(dataset)
        check_flips(dataset)
        check_damaged_not_joined(Dataset(perfile, unzstd, folder / 'flipped'), recordings)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
