#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""indexes.py [--all] PERFILE GENERATE RECORDING...: with an index the same is printed and cut as without one.

Of recordings that are generated, and with --all of more and larger ones, and of those that are given.
"""
import fcntl, os, pathlib, random, subprocess, sys, tempfile, time, zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic, served

ALL = '--all' in sys.argv
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
PERFILE, GENERATE, *RECORDINGS = [argument for argument in sys.argv[1:] if argument != '--all']
TIMES = (['--time', '10%-12%'], ['--time', '97%-100%'], ['--time', '0%-1%'], ['--time', '40%-60%'], ['--time', '50%-51%', '--cpu', '99'])
THREADS = (['--pid', '1000'], ['--pid', '2072,2063'], ['--pid', '77777'], ['--tid', '2040'], ['--cpu', '1'], ['--cpu', '99'],
           ['--cpu', '1', '--pid', '2041,2'], ['--time', '40%-60%', '--pid', '2034,77777'], ['--comm', 'lua', '--pid', '2033'])
EVENTS = (['--events', 'cycles'], ['--events', 'cpu-clock', '--pid', '2046'], ['--events', 'cycles', '--time', '5%-6%'])
SCRIPT = ['script', '-F', 'comm,pid,tid,cpu,time,event,ip,sym']
SWITCHES = (['--switch-on', 'cpu-clock'], ['--switch-off', 'cpu-clock', '--pid', '2046'],
            ['--switch-on', 'cpu-clock', '--switch-off', 'cpu-clock', '--events', 'cycles', '--pid', '2034,77777'])
VERBS = ([*SCRIPT], ['report', '--sort', 'comm,pid,sym'], ['flame', '--format', 'folded'], ['table', '--format', 'csv', 'functions'])


def run(cache, *arguments):
    done = served.run([*WRAPPER, PERFILE, *arguments], env={**os.environ, 'XDG_CACHE_HOME': str(cache)})
    # what was not read is known with an index
    reply = [line for line in done.stderr.splitlines() if b'after the times asked for' not in line]
    return done.returncode, done.stdout, reply


class Pair:
    """A folder with two caches, one of which has the index."""
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.caches = [self.folder / 'without', self.folder / 'with']
        for cache in self.caches:
            cache.mkdir()

    def index(self, path):
        return run(self.caches[1], 'index', str(path))

    def files(self):
        return sorted((self.caches[1] / 'perfile').glob('*.index'))

    def compare(self, path, filters, verbs, cuts=((),)):
        for one in filters:
            for verb in verbs:
                arguments = [verb[0], '--no-inline', *verb[1:], *one, str(path)]
                without, with_index = (run(cache, *arguments) for cache in self.caches)
                assert without == with_index, (arguments, without[0], with_index[0], without[2], with_index[2])
            for cut in cuts:
                self.compare_cuts(path, [*one, *cut])

    def compare_cuts(self, path, options):
        made, reply = self.folder / 'cut.data', []
        for cache in self.caches:
            done = run(cache, 'cut', '--no-sync', *options, '-o', str(made), str(path))
            reply.append((*done, made.read_bytes() if made.exists() else None))
            made.unlink(missing_ok=True)
        assert reply[0] == reply[1], (path, options, [one[:3] for one in reply])


def generate(folder, name, *options):
    path = folder / name
    subprocess.run([*WRAPPER, GENERATE, *options, '--attr-size', '128', '-o', str(path)], check=True, capture_output=True)
    return path


def convert(path, name, *options):
    made = path.parent / name
    subprocess.run([*WRAPPER, PERFILE, *options, '--no-sync', '-q', '-o', str(made), str(path)], check=True, capture_output=True)
    return made


def is_used(pair, path, options, verb=SCRIPT, size=4096):
    """Bytes of the recording that no one asks for are not even looked at: nothing is stated of what they are now."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    before = run(pair.caches[1], *verb, *options, str(path))
    entire = bytes(data)
    middle = len(data) // 2
    data[middle:middle + size] = bytes(size)
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = run(pair.caches[1], *verb, *options, str(path))
    path.write_bytes(entire)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return before == after


def try_views(pair, path):
    """Of samples, what lies before and after their times is not read, whoever says the times; mappings and losses are of no sample."""
    late = 'time between 1550000000 and 1551000000'
    asks = [['table', '--format', 'csv', '--time', '1.55,1.551', 'samples'], ['table', '--format', 'csv', '--index-from', '1M', 'maps'],
            ['table', '--format', 'csv', '--pid', '1000', 'maps'], ['table', '--format', 'csv', '--index-from', '1M', 'losses'],
            ['query', f'select time, pid, comm, symbol from samples where {late}'],
            ['query', f'select pid, count(*) from samples where 1000 < pid and {late} group by pid order by pid'],
            ['query', f'select count(*) from samples where {late} or cpu = 1'], ['query', 'select count(*) from samples where pid = 77777']]
    for words in asks:
        without, with_index = (run(cache, *words, str(path)) for cache in pair.caches)
        assert without == with_index, (words, without, with_index)
        assert is_used(pair, path, [], words) == (' or ' not in words[1]), words


def try_marks():
    """Whoever wants late samples begins at a mark: what is before it is not read, whatever records it has."""
    with tempfile.TemporaryDirectory() as name:
        pair = Pair(name)
        path = generate(pair.folder, 'marks.data', 'callchain', '200M', '--churn')
        assert pair.index(path)[0] == 0
        for words in (SCRIPT, ['table', 'samples'], ['query', 'select count(*) from samples']):
            assert is_used(pair, path, ['--time', '98%-98.1%'], words, 1 << 20), words
            pair.compare(path, (['--time', '98%-98.1%'],), [words], cuts=())


def try_damage(pair, path, count):
    """Whatever is in an index that is not what it was, the output is what it is without it."""
    index, = pair.files()
    good, rng = index.read_bytes(), random.Random(1)
    options = ['--pid', '2072']
    wanted = run(pair.caches[0], *SCRIPT, *options, str(path))
    for i in range(count):
        bad = bytearray(good)
        at = rng.randrange(len(bad)) if i % 2 else len(bad) - 1 - rng.randrange(min(len(bad), 2000))
        bad[at] ^= 1 << rng.randrange(8)
        index.write_bytes(bad if i % 10 else bad[:at])
        assert run(pair.caches[1], *SCRIPT, *options, str(path)) == wanted, at
    index.write_bytes(good[:-9])
    assert run(pair.caches[1], *SCRIPT, *options, str(path)) == wanted
    assert index.read_bytes() == good  # it was made anew


def other_version(index, number):
    """The same as an older perfile made it: the tail ends with its version, its checksum and a name of 8 bytes."""
    end = len(index) - 16
    crc = int.from_bytes(index[end:end + 8], sys.byteorder)
    begin, = [at for at in range(end - 400, end - 100, 4) if zlib.crc32(index[at:end]) == crc]
    tail = index[begin:end - 4] + number.to_bytes(4, sys.byteorder)
    return index[:begin] + tail + zlib.crc32(tail).to_bytes(8, sys.byteorder) + index[-8:]


def try_versions(pair, path):
    """An index of another version is made anew where it would be used."""
    index, = pair.files()
    good = index.read_bytes()
    version = int.from_bytes(good[-20:-16], sys.byteorder)
    assert other_version(good, version) == good
    for number in (version - 1, version + 1):
        for options in (['--time', '10%-12%'], ['--pid', '2072']):
            index.write_bytes(other_version(good, number))
            pair.compare(path, (options,), [SCRIPT])
            assert index.read_bytes() == good, (number, options)


def try_two_readers(pair, path):
    """Of one recording: each opens the index, and closes its own."""
    words = ['query', '--time', '0,1000', 'SELECT count(*) FROM threads a JOIN threads b', str(path)]
    without, with_index = (run(cache, *words) for cache in pair.caches)
    assert without == with_index, (words, without, with_index)


def try_stale(pair, path):
    """The recording is another one: the index is made anew, or goes where there can be none."""
    index, = pair.files()
    before, data = index.read_bytes(), path.read_bytes()
    path.write_bytes(data + bytes(8))
    pair.compare(path, (['--pid', '2072'],), [SCRIPT])
    assert index.read_bytes() != before and len(index.read_bytes()) == len(before)
    compressed = convert(path, 'compressed.data', 'convert', '-z', '1')
    for other in (data[:len(data) // 2 + 1], compressed.read_bytes()):  # as of a recorder that was killed, and one stream
        path.write_bytes(data)
        assert pair.index(path)[0] == 0
        path.write_bytes(other)
        pair.compare(path, (['--pid', '2072'], ['--time', '1.2,1.3']), [SCRIPT])
        assert not pair.files()


def try_left(pair, path):
    """A verb that reads all of a large recording leaves its index, whatever it prints of it; others leave none."""
    with_index, text = pair.caches[1], SCRIPT + [str(path)]
    wanted = run(pair.caches[0], *text)
    for index in pair.files():
        index.unlink()
    for options in ((), ('--index-from', 'unlimited'), ('--index-from', '1T'), ('--index-from', '1M', '--time', '10%-12%')):
        run(with_index, *SCRIPT, *options, str(path))
        assert not pair.files(), options
    for verb in (*VERBS, ['report', '--jobs', '3'], ['report', '--pid', '2072'], ['query', 'select symbol, count(*) from samples group by 1 order by 1']):
        arguments = [*verb, '--index-from', '1M', str(path)]
        for index in pair.files():
            index.unlink()
        assert run(with_index, *arguments) == run(pair.caches[0], *verb, str(path)), verb
        index, = (with_index / 'perfile').iterdir()  # and nothing else is left
        made = index.stat()
        pair.compare(path, (['--pid', '2072'], TIMES[0]), [SCRIPT])
        assert run(with_index, *text, '--index-from', '1M') == wanted
        assert index.stat().st_ino == made.st_ino  # not made again
    index.write_bytes(index.read_bytes()[:-9])
    run(with_index, *text, '--index-from', '1M')
    assert is_used(pair, path, ['--pid', '77777'])
    index.unlink()
    pathlib.Path(f'{index}.new').write_bytes(b'of one that was killed')
    run(with_index, *text, '--index-from', '1M')
    assert list((with_index / 'perfile').iterdir()) == [index] and is_used(pair, path, ['--pid', '77777'])


class Capacity:
    """Files in the cache, of which some are indexes."""
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def put(self, name, size, age):
        file = self.folder / name
        file.touch()
        os.truncate(file, size)
        os.utime(file, (time.time() - age, time.time() - age))
        return file

    def names(self):
        return {file.name for file in self.folder.iterdir()}


def try_capacity():
    """When an index is made in the cache, those that were used longest ago go, and no other file there."""
    with tempfile.TemporaryDirectory() as name:
        pair = Pair(name)
        path = generate(pair.folder, 'small.data', 'flat', '2M')
        capacity = Capacity(pair.caches[1] / 'perfile')
        target = Capacity(pair.folder / 'elsewhere').put('target', 1 << 32, 9000)
        (capacity.folder / 'a-5.index').symlink_to(target)
        (capacity.folder / 'a-6.index').mkdir()
        for name in ('a-7.inlines', 'index', 'my.index', 'a-8.index.old'):
            capacity.put(name, 1 << 30, 9000)
        with open(capacity.put('a-9.index.new', 0, 9000)) as unfinished:  # it is being made
            fcntl.flock(unfinished, fcntl.LOCK_EX)
            stays = capacity.names()
            makers = (['index'], [*SCRIPT, '--index-from', '1M'], [*SCRIPT, '--pid', '2072'])
            for arguments in makers:
                capacity.put('a-1.index', 400 << 20, 4000)
                capacity.put('a-2.index', 400 << 20, 5000)
                capacity.put('a-3.index', 400 << 20, 3000)
                capacity.put('a-4.index.new', 5, 9000)  # of a command that was killed
                if '--pid' in arguments:
                    index.write_bytes(index.read_bytes()[:-9])  # it is made anew
                elif '--index-from' in arguments:
                    index.unlink()
                run(pair.caches[1], *arguments, str(path))
                made, = capacity.names() - stays - {'a-1.index', 'a-3.index'}
                index = capacity.folder / made
                assert capacity.names() == {*stays, made, 'a-1.index', 'a-3.index'}, (arguments, capacity.names())
        for options in (['--index-from', '1M'], ['--pid', '2072'], ['--cpu', '1']):
            os.utime(index, (0, 0))
            run(pair.caches[1], *SCRIPT, *options, str(path))
            assert index.stat().st_mtime > 1, options  # it was used
        capacity.put('a-3.index', 3 << 30, 0)
        pair.index(path)
        assert capacity.names() - stays == {made} and target.exists()


def try_generated():
    with tempfile.TemporaryDirectory() as name:
        pair = Pair(name)
        large = generate(pair.folder, 'large.data', 'flat', '6M')
        assert pair.index(large)[0] == 0
        assert is_used(pair, large, ['--pid', '77777']) and not is_used(pair, large, ['--cpu', '1'])
        pair.compare(large, THREADS if ALL else THREADS[:3], [SCRIPT])
        pair.compare(large, [*THREADS[1:3], TIMES[0]], VERBS[1:] if ALL else VERBS[1:2], cuts=((), ('--every', '7')))
        try_two_readers(pair, large)
        try_views(pair, large)
        try_left(pair, large)
        try_versions(pair, large)
        try_damage(pair, large, 60 if ALL else 6)
        try_stale(pair, large)


def try_more():
    with tempfile.TemporaryDirectory() as name:
        pair = Pair(name)
        flat = generate(pair.folder, 'flat.data', 'flat', '10M', '--churn')
        chains = generate(pair.folder, 'chains.data', 'callchain', '2M', '--no-cpu')
        both = convert(flat, 'both.data', 'merge', str(chains))
        for path in (flat, both, convert(both, 'v1.data', 'convert', '--seekable', '--compress', 'zstd-v1'),
                     convert(flat, 'seekable.data', 'convert', '--seekable')):
            done = pair.index(path)
            assert done[0] == 0, (path, done)
            pair.compare(path, [*TIMES, *THREADS, *EVENTS], [SCRIPT], cuts=((), ('--samples', '500')))
            pair.compare(path, [TIMES[0], THREADS[0], THREADS[5], EVENTS[1]], VERBS[1:])
            pair.compare(path, SWITCHES, VERBS[:2], cuts=())
        for path, why in ((convert(flat, 'stream.data', 'convert', '--mode', 'pipe'), b'not a regular file'),
                          (convert(flat, 'one.data', 'convert', '-z', '1'), b'convert --seekable')):
            done = pair.index(path)
            assert done[0] == 2 and why in b' '.join(done[2]), (path, done)
            pair.compare(path, [TIMES[0], THREADS[1]], [SCRIPT])


def try_passed():
    with tempfile.TemporaryDirectory() as name:
        pair = Pair(name)
        for path in RECORDINGS:
            pair.index(path)
            pair.compare(path, (['--cpu', '0'], ['--time', '50%-60%'], ['--tid', '1']), [SCRIPT], cuts=())
        assert pair.files()


def main():
    hermetic.settle()
    try_generated()
    try_capacity()
    if ALL:
        try_more()
        try_marks()
        try_passed()


main()
