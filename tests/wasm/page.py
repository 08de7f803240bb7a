#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page that opens recordings makes in a browser what the command makes: page.py PERFILE FOLDER

FOLDER is what ./dev wasm makes. Recordings of the corpora are chosen in the page, as it lies in a folder, and its picture, its report and others must be
those of PERFILE, byte for byte. PERFILE_BROWSER names the browser.
"""
import gzip, hashlib, json, os, pathlib, shlex, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SYMBOLS = ROOT / 'examples/symfs'
sys.path.append(str(HERE.parent))
import hermetic

TAKEN, LARGEST = 40, 4 << 20  # recordings, and their bytes
SYMFS = ['--symfs', '/nonexistent']  # this machine's kernel may be that of a recording
VIEWS = {'flame': ['flame', '--format', 'html', *SYMFS], 'report': ['report', '--stdio', *SYMFS], 'info': ['info'], 'check': ['check']}
COMPARED = ['flame', '--format', 'html', *SYMFS, '--before']
SKIPPED = 77
MOST_PACKED = 1_150_000  # bytes of the page as gzip has it: it is mailed
DATE = 10 ** 9  # of files: browsers have dates of their own for those of the epoch


class Jobs:
    def __init__(self, perfile, folder):
        self.perfile = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), perfile]
        self.folder, self.jobs = folder, []
        self.environment = hermetic.environment(NO_COLOR='1', HOME='/nonexistent', LC_ALL='C.UTF-8', PERFILE_ADVICE='no')

    def native(self, place, words):
        done = subprocess.run([*self.perfile, *words], cwd=place, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return {'digest': hashlib.sha256(done.stdout).hexdigest(), 'status': done.returncode, 'line': shlex.join(map(str, words))}

    def add_job(self, name, paths, views, folder=False):
        self.jobs.append({'name': name, 'input': '#folder' if folder else '#files', 'paths': [str(path) for path in paths], 'views': views})

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
        self.add_job(str(path), [copy], {view: self.native(copy.parent, [*words, copy.name]) for view, words in VIEWS.items()}, copy.is_dir())

    def add_made(self, name, content):
        (self.folder / name).write_bytes(content)
        self.add(self.folder / name)

    def compare(self, before, now):
        copies = [self.copy_of(before), self.folder / str(len(self.jobs)) / now]
        shutil.copy(*copies)
        os.utime(copies[1], (DATE + 1, DATE + 1))
        self.add_job(f'{before} and {now}', copies, {'flame': self.native(copies[0].parent, [*COMPARED, *(copy.name for copy in copies)])})

    def with_symbols(self):
        """The program and the recording are chosen together: it is found by its build id, whatever its name."""
        recording, program = self.copy_of(ROOT / 'examples/workload.perf.data'), self.folder / 'some program'
        shutil.copy(next(path for path in SYMBOLS.rglob('workload') if path.is_file()), program)
        words = ['--no-inline', '--stdio', recording.name]
        found = self.native(recording.parent, ['report', '--symfs', SYMBOLS, *words])
        self.add_job('a recording and its program', [recording, program], {'report': {**found, 'line': shlex.join(['report', '--symfs', 'symbols', *words])}})


def why_not(folder):
    if not shutil.which('node'):
        return 'node is not installed'
    return None if (folder / 'perfile.html').exists() else './dev wasm has not made the page'


def main():
    hermetic.settle()
    perfile, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    why = why_not(folder)
    if why:
        sys.exit(print('skipped: wasm:', why) or 0)
    packed = len(gzip.compress((folder / 'perfile.html').read_bytes()))
    if packed > MOST_PACKED:
        sys.exit(f'the page has {packed} bytes when it is compressed, more than {MOST_PACKED}')
    with tempfile.TemporaryDirectory() as name:
        jobs = Jobs(perfile, pathlib.Path(name))
        for path in hermetic.with_folders(hermetic.corpus_recordings(TAKEN, LARGEST)):
            jobs.add(path)
        demo = ROOT / 'examples/demo.perf.data'
        jobs.add(demo)
        jobs.add_made('packed.data.gz', gzip.compress(demo.read_bytes()))
        jobs.compare(demo, 'with blanks & ä.data')
        jobs.with_symbols()
        list_of = jobs.folder / 'jobs.json'
        list_of.write_text(json.dumps({'jobs': jobs.jobs, 'demo': {'recording': str(demo)}}))
        done = subprocess.run(['node', HERE / 'page.mjs', folder / 'perfile.html', list_of], check=False)
    sys.exit(0 if done.returncode == SKIPPED else done.returncode)


if __name__ == '__main__':
    main()
