#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page that opens recordings makes in a browser what the command makes: page.py PERFILE ASSEMBLE FOLDER

FOLDER is what ./dev wasm makes. Recordings of the corpora, some of each kind, are chosen in the page, as it lies in a folder, and its picture, its report
and others must be those of PERFILE, byte for byte; so must those with programs, debug files and others that are chosen together with a recording.
PERFILE_BROWSER names the browser.
"""
import collections, gzip, hashlib, json, os, pathlib, shlex, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SYMBOLS = ROOT / 'examples/symfs'
sys.path += [str(HERE.parent), str(HERE.parent / 'golden')]
import hermetic
import run as golden

TAKEN, TAKEN_OF_ALL, LARGEST = 20, 60, 4 << 20  # recordings, those of the complete test, and their bytes
SYMFS = ['--symfs', '/nonexistent']  # this machine's kernel may be that of a recording
VIEWS = {'flame': ['flame', '--format', 'html', *SYMFS], 'report': ['report', '--stdio', *SYMFS], 'info': ['info'], 'check': ['check']}
QUERY = 'SELECT comm, symbol, sum(period) AS "all" FROM samples GROUP BY comm, symbol ORDER BY 3 DESC, 1, 2'
COMPARED = ['flame', '--format', 'html', *SYMFS, '--before']
SKIPPED = 77
MAX_PACKED = 1_200_000  # bytes of the page as gzip has it: it is mailed
DATE = 10 ** 9  # of files: browsers have dates of their own for those of the epoch


# A process with code that a JIT made.
JIT = '''
attr type=1 config=0 sample_type=IP|TID|TIME sample_id_all=1 ids=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="jit" | pid=7 tid=7 time=1
record MMAP misc=2 pid=7 tid=7 addr=0x10000 len=0x1000 pgoff=0 filename="//anon" | pid=7 tid=7 time=1
sample misc=2 ip=0x10010 pid=7 tid=7 time=2
sample misc=2 ip=0x10024 pid=7 tid=7 time=3
'''
MAP = '10000 20 made at first\n10020 20 made later\n'


def kind_of(perfile, path, environment):
    """What is special about a recording; None: it is not one."""
    done = subprocess.run([*perfile, 'info', '--format', 'json', path], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    try:
        info = json.loads(done.stdout)
    except ValueError:
        return None
    if info['mode'] != 'file':
        return info['mode']
    if not info.get('finished', True):
        return 'killed'
    if info['byte_order'] != 'little':
        return 'big-endian'
    return 'compressed' if 'COMPRESSED' in info['features'] else 'damaged' if info['damage'] else 'plain'


def some_of_each(recordings, kinds, count):
    """`count` recordings, as many of each kind as there are; they are spread over all of a kind."""
    of_kind, taken = collections.defaultdict(list), []
    for recording, kind in zip(recordings, kinds):
        of_kind[kind].append(recording)
    of_kind.pop(None, None)
    for left, kind in zip(range(len(of_kind), 0, -1), sorted(of_kind, key=lambda kind: len(of_kind[kind]))):
        all_of_it, wanted = of_kind[kind], (count - len(taken)) // left
        taken += all_of_it[::max(1, len(all_of_it) // max(1, wanted))][:wanted]
    return taken, dict(sorted((kind, len(all_of_it)) for kind, all_of_it in of_kind.items()))


class Jobs:
    def __init__(self, perfile, folder, assemble=None):
        self.assemble = assemble
        self.perfile = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), perfile]
        self.folder, self.jobs = folder, []
        self.environment = hermetic.environment(NO_COLOR='1', HOME='/nonexistent', LC_ALL='C.UTF-8', PERFILE_ADVICE='no')

    def native(self, location, words):
        done = subprocess.run([*self.perfile, *words], cwd=location, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return {'digest': hashlib.sha256(done.stdout).hexdigest(), 'status': done.returncode, 'line': shlex.join(map(str, words))}

    def add_job(self, name, paths, views, *, folder=False, more=None):
        """`more`: a folder that is chosen after the recording."""
        self.jobs.append({'name': name, 'input': '#folder' if folder else '#files', 'paths': [str(path) for path in paths], 'views': views, 'more': more})

    def copy_of(self, path):
        copy = self.folder / str(len(self.jobs)) / path.name
        copy.parent.mkdir()
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
        for file in [copy, *copy.rglob('*')]:
            os.utime(file, (DATE, DATE))
        return copy

    def add(self, path):
        """A recording, or a folder that is one."""
        copy = self.copy_of(path)
        self.add_job(str(path), [copy], {view: self.native(copy.parent, [*words, copy.name]) for view, words in VIEWS.items()}, folder=copy.is_dir())

    def add_made(self, name, content):
        (self.folder / name).write_bytes(content)
        self.add(self.folder / name)

    def compare(self, before, now):
        copies = [self.copy_of(before), self.folder / str(len(self.jobs)) / now]
        shutil.copy(*copies)
        os.utime(copies[1], (DATE + 1, DATE + 1))
        self.add_job(f'{before} and {now}', copies, {'flame': self.native(copies[0].parent, [*COMPARED, *(copy.name for copy in copies)])})

    def assembled(self, name, description, *options):
        path = self.folder / name
        path.write_bytes(subprocess.run([self.assemble, *options], input=description.encode(), stdout=subprocess.PIPE, check=True).stdout)
        return path

    def add_simpleperf(self):
        description, _ = golden.read_golden((HERE.parent / 'golden/simpleperf-records.golden').read_text())
        for flavour in 'little', 'pipe':
            self.add(self.assembled(f'simpleperf-{flavour}.data', description, *golden.FLAVOURS[flavour]))

    def add_bundle(self):
        path = self.folder / 'bundle.data'
        done = subprocess.run([*self.perfile, 'bundle', '-q', '--symfs', SYMBOLS, '-o', path, ROOT / 'examples/workload.perf.data'], env=self.environment, check=False)
        assert done.returncode == 0, 'there is no bundle'
        self.add(path)

    def add_named(self, what, recording, others, root, name, *, options=(), more=None):
        """A recording and `others` that are chosen with it: its report has this name, and is that with the files below `root`."""
        words = ['--no-inline', '--stdio', recording.name]
        native = subprocess.run([*self.perfile, 'report', *(['--symfs', root] if root else SYMFS), *options, *words], cwd=recording.parent, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        assert name.encode() in native.stdout, what
        line = shlex.join(['report', *(['--symfs', 'symbols'] if root else SYMFS), *(['--kallsyms', 'kallsyms'] if options else []), *words])
        view = {'digest': hashlib.sha256(native.stdout).hexdigest(), 'status': native.returncode, 'line': line}
        self.add_job(what, [recording, *others], {'report': view}, more=more)

    def root_of(self, name, files):
        root = self.folder / name
        for path, file in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / path)
        return root

    def with_programs(self):
        """They are found by their build ids, whatever their names, or where they are in a folder."""
        source, recording = next(path for path in SYMBOLS.rglob('workload') if path.is_file()), ROOT / 'examples/workload.perf.data'
        program = self.folder / 'some program'
        shutil.copy(source, program)
        self.add_named('a recording and its program', self.copy_of(recording), [program], SYMBOLS, 'main')
        self.add_named('a recording, then a folder', self.copy_of(recording), [], SYMBOLS, 'main', more=str(SYMBOLS))
        if not shutil.which('objcopy'):
            return print('skipped: debug files: objcopy is not installed')
        debug, stripped = self.folder / 'some debug file', self.folder / 'stripped'
        subprocess.run(['objcopy', '--only-keep-debug', source, debug], check=True)
        subprocess.run(['objcopy', '--strip-all', source, stripped], check=True)
        notes = subprocess.run(['objcopy', '-O', 'binary', '--only-section=.note.gnu.build-id', source, '/dev/stdout'], stdout=subprocess.PIPE, check=True).stdout
        build_id = notes[16:].hex()
        path = f'usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}'
        root = self.root_of('debug', {path: stripped, f'{path}.debug': debug})
        self.add_named('a recording, its program, and a debug file', self.copy_of(recording), [debug, stripped], root, 'main')
        return None

    def with_texts(self):
        """perf-PID.map, a jitdump file, and a copy of /proc/kallsyms."""
        names = self.folder / 'perf-7.map'
        names.write_text(MAP)
        self.add_named('a recording and a map', self.copy_of(self.assembled('jit.data', JIT)), [names], self.root_of('maps', {'tmp/perf-7.map': names}), 'made later')
        dump = HERE.parent / 'data/jit-26453.dump'
        self.add_named('a recording and a jitdump file', self.copy_of(HERE.parent / 'data/jit.perf.data'), [dump], self.root_of('jit', {dump.name: dump}), 'func_2_0')
        kallsyms = self.folder / 'kallsyms of it'
        shutil.copy(HERE.parent / 'data/lock.kallsyms', kallsyms)
        self.add_named('a recording and kallsyms', self.copy_of(HERE.parent / 'data/lock.perf.data'), [kallsyms], None, 'do_syscall_64', options=['--kallsyms', kallsyms])

    def fitting(self):
        """A view for the events of a recording."""
        copy = self.copy_of(HERE.parent / 'data/sched-tiny1.perf.data')
        of = {name: {**self.native(copy.parent, [*words, copy.name]), 'label': label}
              for name, label, words in (('sched latency', 'Scheduler', ['sched', 'latency']), ('offcpu', 'Off CPU', ['flame', '--off-cpu', '--format', 'html']))}
        for view in of.values():
            del view['line']
        self.add_job('views for its events', [copy], of)


def why_not(folder):
    if not shutil.which('node'):
        return 'node is not installed'
    return None if (folder / 'perfile.html').exists() else './dev wasm has not made the page'


def take(jobs):
    """Recordings of the corpora, and others of kinds that they may not have."""
    found = hermetic.with_folders(hermetic.corpus_recordings(1 << 30, LARGEST))
    taken, kinds = some_of_each(found, [kind_of(jobs.perfile, path, jobs.environment) for path in found],
                                TAKEN_OF_ALL if os.environ.get('PERFILE_CORPUS') or os.environ.get('PERFILE_WHOLE_CORPUS') else TAKEN)
    for path in taken:
        jobs.add(path)
    print(f'{len(taken)} recordings of {kinds}')
    demo = ROOT / 'examples/demo.perf.data'
    jobs.add(demo)
    jobs.add_made('packed.data.gz', gzip.compress(demo.read_bytes()))
    if shutil.which('zstd'):
        jobs.add_made('packed.data.zst', subprocess.run(['zstd', '-qc', demo], stdout=subprocess.PIPE, check=True).stdout)
    jobs.add_simpleperf()
    jobs.add_bundle()
    jobs.compare(demo, 'with blanks & ä.data')
    jobs.with_programs()
    jobs.with_texts()
    jobs.fitting()
    return demo


def main():
    hermetic.settle()
    perfile, assemble, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    why = why_not(folder)
    if why:
        sys.exit(print('skipped: wasm:', why) or 0)
    packed = len(gzip.compress((folder / 'perfile.html').read_bytes()))
    if packed > MAX_PACKED:
        sys.exit(f'the page has {packed} bytes when it is compressed, more than {MAX_PACKED}')
    with tempfile.TemporaryDirectory() as name:
        jobs = Jobs(perfile, pathlib.Path(name), hermetic.runnable(assemble))
        demo = take(jobs)
        list_of = jobs.folder / 'jobs.json'
        sql = jobs.native(demo.parent, ['query', *SYMFS, QUERY, demo.name])
        list_of.write_text(json.dumps({'jobs': jobs.jobs, 'demo': {'recording': str(demo), 'sql': sql if sql['status'] == 0 else None}}))
        done = subprocess.run(['node', HERE / 'page.mjs', folder / 'perfile.html', list_of], check=False)
    sys.exit(0 if done.returncode == SKIPPED else done.returncode)


if __name__ == '__main__':
    main()
