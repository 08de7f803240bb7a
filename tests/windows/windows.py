#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command for Windows does what the command of this system does: windows.py PERFILE FOLDER

FOLDER is what ./dev windows makes. perfile.exe runs under Wine, in a prefix of its own that sees no files of this machine.
Outputs and exit statuses must be those of PERFILE, byte for byte. Of the recordings in the corpora some are taken, always
the same; PERFILE_WHOLE_CORPUS asks for all.
"""
import concurrent.futures, itertools, os, pathlib, re, shutil, subprocess, sys, tempfile, threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / 'pgo')]
import hermetic
import made

TAKEN, LARGEST = 30, 4 << 20  # recordings, and their bytes
NOT_STARTED = 9009  # what cmd.exe has for a program that could not be started
PARTS = 16  # scripts that run at the same time: the start of a program is mostly waiting for Wine's server
SYMFS = ['--symfs', '/nonexistent']
READS = (['dump'], ['check'], ['script', *SYMFS], ['report', '--stdio', *SYMFS], ['flame', '--format', 'folded', *SYMFS],
         ['table', 'samples', '--format', 'csv', *SYMFS])
# "@" is the recording
EDITS = (['repair', '-q', '-o', 'made.data', '@'], ['cut', '-q', '--time', '0%-50%', '-o', 'made.data', '@'],
         ['convert', '-q', '-z', '3', '-o', 'made.data', '@'], ['anonymize', '-q', '--key', 'a', '-o', 'made.data', '@'])
LIBRARIES = {'KERNEL32.dll', 'msvcrt.dll', 'bcrypt.dll'}


def find_wine():
    """wine64 of Debian is in no folder of programs."""
    return shutil.which('wine64') or shutil.which('/usr/lib/wine/wine64') or shutil.which('wine')


def why_not(folder):
    """Why nothing can be tested; None: it can."""
    if not (folder / 'perfile.exe').exists():
        return './dev windows has not made perfile.exe'
    return None if find_wine() else 'wine is not installed'


def spell(word):
    """An argument in a script of cmd.exe."""
    word = str(word).replace('%', '%%')
    return f'"{word}"' if re.search(r'[ =,;&]', word) or not word else word


def at_once(function, arguments):
    with concurrent.futures.ThreadPoolExecutor(PARTS) as pool:
        list(pool.map(function, arguments))


class Test:
    def __init__(self, perfile, exe, folder):
        self.perfile, self.folder, self.ran, self.bad = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), str(perfile)], folder, 0, 0
        self.lock = threading.Lock()
        self.environment = hermetic.environment(NO_COLOR='1')
        self.wine_environment = {name: value for name, value in self.environment.items() if name not in hermetic.WALLS}
        self.wine_environment.update(WINEPREFIX=str(folder / 'prefix'), WINEDEBUG='-all', DISPLAY='', HOME=str(folder))
        self.wine = find_wine()
        self.start('cmd', '/c', 'exit')
        (folder / 'prefix/dosdevices/z:').unlink(missing_ok=True)  # all files of the machine
        self.work = folder / 'prefix/drive_c/work'
        self.work.mkdir()
        self.exe = self.work / 'perfile.exe'
        shutil.copy(exe, self.exe)
        self.numbers = itertools.count(1)

    def start(self, *words, **more):
        return subprocess.run([self.wine, *map(str, words)], **{'env': self.wine_environment, 'stdin': subprocess.DEVNULL,
                                                                'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'check': False, **more})

    def stop(self):
        """Ends the server of the prefix, and so all that runs in it."""
        server = shutil.which('wineserver') or '/usr/lib/wine/wineserver64'
        subprocess.run([server, '-k'], env=self.wine_environment, check=False)

    def expect(self, what, found, expected):
        with self.lock:
            self.ran += 1
            if found != expected:
                self.bad += 1
                print(f'--- {what}\n{found!r:.3000}\nexpected:\n{expected!r:.3000}', flush=True)

    def location(self, name='plain'):
        """A new folder in the drive of Windows."""
        path = self.work / f'{name}{next(self.numbers)}'
        path.mkdir(parents=True)
        return path

    def native(self, args, folder, **more):
        done = subprocess.run([*self.perfile, *map(str, args)], cwd=folder, env=self.environment, check=False,
                              **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **more})
        return done.returncode, done.stdout

    def windows(self, args, folder, **more):
        done = self.start('C:/work/perfile.exe', *args, cwd=folder, **more)
        return done.returncode, done.stdout

    def both(self, what, args, folder, **more):
        other = self.native(args, folder, **more)
        self.expect(f'{what}: {" ".join(map(str, args))}', self.windows(args, folder, **more), other)
        return other

    # ---- many runs with one start of Wine

    def batch(self, jobs):
        """Runs [(arguments, folder, name of the output)]; statuses go to NAME.status."""
        script, lines = self.location('script') / 'run.cmd', ['@echo off', 'set NO_COLOR=1', 'set PERFILE_ADVICE=no', 'set TZ=UTC0']
        for args, folder, name in jobs:
            lines += [f'cd /d C:\\work\\{folder.relative_to(self.work)}', f'C:\\work\\perfile.exe {" ".join(map(spell, args))} >{name} 2>{name}.errors <NUL',
                      f'>{name}.status echo %ERRORLEVEL%']
        script.write_bytes('\r\n'.join(lines).encode() + b'\r\n')
        self.start('cmd', '/c', f'C:\\work\\{script.parent.name}\\run.cmd', cwd=self.work)

    def run_batches(self, jobs):
        at_once(self.batch, [jobs[part::PARTS] for part in range(PARTS)])
        missed = [job for job in jobs if self.output(job[1], job[2])[0] in (None, NOT_STARTED)]
        if missed:
            self.batch(missed)

    def output(self, folder, name, result='out'):
        status = folder / f'{name}.status'
        if not status.exists():
            return None, (folder / f'{name}.errors').read_bytes() if (folder / f'{name}.errors').exists() else b''
        made_file = folder / name
        return int(status.read_text()), made_file.read_bytes() if made_file.exists() else b''

    def reads(self, recordings):
        jobs = []
        for recording in recordings:
            folder = self.location()
            shutil.copy(recording, folder / 'perf.data')
            jobs += [([*args, 'perf.data'], folder, f'out{i}') for i, args in enumerate(READS)]
        self.run_batches(jobs)
        for (args, folder, name), recording in zip(jobs, [recording for recording in recordings for _ in READS]):
            self.expect(f'{" ".join(args)} of {recording}', self.output(folder, name), self.native(args, folder))

    def edits(self, recordings):
        """New files, files that replace others, and one that replaces what is read."""
        jobs, others = [], []
        for recording in recordings:
            for edit in EDITS:
                for kind in 'new', 'replaced', 'same':
                    here, there = self.location(), self.location()
                    for folder in here, there:
                        shutil.copy(recording, folder / ('made.data' if kind == 'same' else 'perf.data'))
                        if kind == 'replaced':
                            (folder / 'made.data').write_bytes(b'before')
                    args = [word if word != '@' else 'made.data' if kind == 'same' else 'perf.data' for word in edit]
                    jobs.append((args, here, 'out'))
                    others.append((args, there, kind, recording))
        self.run_batches(jobs)
        for (args, here, name), (_, there, kind, recording) in zip(jobs, others):
            status, out = self.native(args, there)
            what = f'{kind}: {" ".join(args)} of {recording}: {(here / "out.errors").read_bytes()!r}'
            self.expect(what, self.output(here, name), (status, out))
            self.expect(what, (here / 'made.data').read_bytes() if (here / 'made.data').exists() else None,
                        (there / 'made.data').read_bytes() if (there / 'made.data').exists() else None)
            self.expect(f'{what}: what is left', sorted(path.name for path in here.iterdir() if not path.name.startswith('out')),
                        sorted(path.name for path in there.iterdir()))

    # ---- names and paths

    def paths(self, recording):
        long = '/'.join(['a folder with a long name, which is nöt short'] * 8)  # no Windows program opens it by its plain path

        def path(folder):
            here = self.location('paths')
            (here / folder).mkdir(parents=True)
            shutil.copy(recording, here / folder / 'perf ü.data')
            name = f'{folder}/perf ü.data'
            self.both('path', ['check', name], here)
            self.both('path', ['report', '--stdio', *SYMFS, '-i', name], here)
            self.expect('backslashes', self.windows(['check', name.replace('/', '\\')], here), self.native(['check', name], here))
            for made_name in f'{folder}/made ä.data', f'{folder}/made ä.data'.replace('/', '\\'):
                self.expect(f'written to {made_name}', self.windows(['cut', '-q', '--time', '0%-50%', '-o', made_name, name], here), (0, b''))
                self.native(['cut', '-q', '--time', '0%-50%', '-o', 'native.data', name], here)
                path = here / folder / 'made ä.data'
                self.expect(f'contents of {made_name}', path.read_bytes() if path.exists() else None, (here / 'native.data').read_bytes())
            self.expect('left', sorted(path.name for path in (here / folder).iterdir()), ['made ä.data', 'perf ü.data'])

        at_once(path, ('ä ö ü', 'sp ace', '日本', long))

    def drives(self, recording):
        here = self.location('drive')
        shutil.copy(recording, here / 'perf.data')
        other = self.native(['check', 'perf.data'], here)
        at_once(lambda name: self.expect(name, self.windows(['check', name], here), other),
                (f'C:\\work\\{here.name}\\perf.data', f'c:/work/{here.name}/perf.data', f'/work/{here.name}/perf.data', 'C:perf.data', 'PERF.DATA', '.\\perf.data',
                 f'..\\{here.name}/perf.data', f'\\\\?\\C:\\work\\{here.name}\\perf.data'))

    def streams(self, recording):
        """Pipes in and out, which have the bytes as they are."""
        here = self.location()
        data = recording.read_bytes()
        for args in ['dump', '-'], ['script', *SYMFS, '-i', '-']:
            self.both('standard input', args, here, input=data, stdin=None)
        shutil.copy(recording, here / 'perf.data')
        self.both('standard output', ['cut', '-q', '--time', '0%-50%', '-o', '-', 'perf.data'], here)

    def errors(self):
        here = self.location()
        (here / 'garbage').write_bytes(b'not a recording')
        for args in ['report', 'garbage'], ['report', 'missing'], ['report', '--no-such-option'], ['check', '.']:
            done = self.start('C:/work/perfile.exe', *args, cwd=here)
            other = subprocess.run([*self.perfile, *args], cwd=here, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, check=False)
            self.expect(f'message of {args}', (done.returncode, done.stderr), (other.returncode, other.stderr))

    def devices_and_networks(self):
        """What a recording names must not open devices, or connect to others."""
        here = self.location()

        def refused(name):
            done = self.start('C:/work/perfile.exe', 'check', name, cwd=here, timeout=120)
            self.expect(name, (done.returncode, b'No such file or directory' in done.stderr), (3, True))

        at_once(refused, ('CON', 'COM1', 'LPT9', 'AUX', 'PRN', 'CONIN$', 'con.data', 'C:\\work\\con', '\\\\.\\C:', '\\\\.\\pipe\\x', '//server/share/file',
                          '/\\server/share/file'))

    def machines(self):
        """Names of machines, by the code of the command alone: nothing may be connected to here."""
        compiler, source = shutil.which('x86_64-w64-mingw32-gcc-posix'), HERE.parent.parent / 'src/platform/windows'
        if compiler:
            subprocess.run([compiler, '-municode', '-I', source, '-isystem', source / 'posix', '-D_POSIX_C_SOURCE=200809L', HERE / 'networks.c', source / 'networks.c',
                            '-o', self.work / 'networks.exe'], env=self.environment, check=True)
            self.expect('machines', self.start('C:/work/networks.exe').stdout.split(), [b'done'])

    def symbols(self):
        """Of a bundle, whose members are ELF files."""
        here = self.location()
        root = here / 'root'
        (root / 'made').mkdir(parents=True)
        (root / made.PATH[1:]).write_bytes(made.elf(5))
        (here / 'plain.data').write_bytes(made.recording([[(7, 8), (11, 5)], [(15, 0), (7, 12)]]))
        self.expect('bundle', self.native(['bundle', '-q', '--symfs', 'root', '-o', 'bundle.data', 'plain.data'], here)[0], 0)
        _, report = self.both('bundle', ['report', '--stdio', 'bundle.data'], here)
        self.expect('symbols of the bundle', b'leaf' in report, True)
        _, report = self.both('symfs', ['report', '--stdio', '--symfs', 'root', 'plain.data'], here)
        self.expect('symbols of the folder', b'leaf' in report, True)


def imports(exe):
    """The libraries that it is linked with."""
    done = subprocess.run(['x86_64-w64-mingw32-objdump', '-p', exe], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r'DLL Name: (\S+)', done.stdout))


def run(test, exe):
    if shutil.which('x86_64-w64-mingw32-objdump'):
        test.expect('libraries', imports(exe) <= LIBRARIES, True)
    taken = hermetic.corpus_recordings(TAKEN, LARGEST)
    good = list(itertools.islice((path for path in taken if test.native(['check', path], test.work)[0] == 0), 4))
    at_once(lambda test_of: test_of(), (lambda: test.paths(good[0]), lambda: test.drives(good[0]), lambda: test.streams(good[0]), test.errors, test.devices_and_networks,
                                        test.machines, test.symbols, lambda: test.edits(good[1:4])))
    test.reads(taken)
    return taken


def main():
    hermetic.settle()
    perfile, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    why = why_not(folder)
    if why:
        sys.exit(print('skipped: windows:', why) or 0)
    with tempfile.TemporaryDirectory() as name:
        test = Test(perfile, folder / 'perfile.exe', pathlib.Path(name))
        try:
            taken = run(test, folder / 'perfile.exe')
        finally:
            test.stop()
    print(f'{test.ran} checks, {len(taken)} recordings')
    sys.exit(f'{test.bad} failed' if test.bad else None)


if __name__ == '__main__':
    main()
