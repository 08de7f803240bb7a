#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The npm package does what the command does: package.py PERFILE FOLDER

FOLDER is what ./dev wasm makes. Its package is packed, installed into a folder of its own without a network, and run in Node: outputs and
exit statuses must be those of PERFILE, byte for byte. Of the recordings in the corpora some are taken, always the
same.
"""
import hashlib, json, os, pathlib, shutil, struct, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / 'pgo')]
import hermetic
import made

TAKEN, LARGEST = 24, 4 << 20  # recordings, and their bytes
SYMFS = ['--symfs', '/nonexistent']
COMMANDS = (['dump'], ['check'], ['script', *SYMFS], ['report', '--stdio', *SYMFS], ['flame', '--format', 'folded', *SYMFS],
            ['table', 'samples', '--format', 'csv', *SYMFS])
# A damaged compressed record: zstd notices more of it where it has 32 bits.
UNEQUAL = {'flip-pipe-z-3.data'}
QUERY = "SELECT comm, sum(period), count(DISTINCT tid), printf('%.3f', sqrt(min(time))), json_array(pid) FROM samples GROUP BY comm, pid ORDER BY 2 DESC, 1, 5"
# functions of the package, and the verbs that they stand for; the output is a file where the last word says so
CALLS = {'report': (SYMFS, ['report']), 'script': (SYMFS, ['script']), 'page': (SYMFS, ['flame', '--format', 'html']),
         'table': (['samples', *SYMFS], ['table', '--format', 'arrow', '-o', 'table.arrow']), 'repair': ([], ['repair', '-q', '-o', 'made.data']),
         'cut': (['--time', '0%-50%'], ['cut', '-q', '-o', 'made.data'])}


def why_not(folder):
    """Why the package cannot be tested; None: it can."""
    missing = [name for name in ('node', 'npm') if not shutil.which(name)]
    if missing:
        return f'{missing[0]} is not installed'
    if (folder / 'npm/perfile.wasm').exists():
        return None
    return './dev wasm has not made the package' if shutil.which('emcc') else 'emscripten is not installed'


def move(recording, path, offset):
    """Writes a recording whose records and features begin at this offset, after a hole."""
    data, at = bytearray(recording.read_bytes()), 40
    start, size = struct.unpack_from('<QQ', data, at)
    struct.pack_into('<Q', data, at, offset)
    features = sum(bin(byte).count('1') for byte in data[72:104])
    for entry in range(start + size, start + size + 16 * features, 16):
        struct.pack_into('<Q', data, entry, struct.unpack_from('<Q', data, entry)[0] - start + offset)
    with open(path, 'wb') as out:
        out.write(data[:start])
        out.seek(offset)
        out.write(data[start:])


class Test:
    def __init__(self, perfile, folder):
        self.perfile, self.folder, self.ran, self.bad = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), perfile], folder, 0, 0
        self.environment = hermetic.environment(npm_config_cache=str(folder / 'cache'), npm_config_update_notifier='false', NO_COLOR='1')
        self.project = folder / 'project'
        self.node = None

    def expect(self, what, found, expected):
        self.ran += 1
        if found != expected:
            self.bad += 1
            print(f'--- {what}\n{found}\nexpected:\n{expected}')

    def npm(self, *words, folder):
        done = subprocess.run(['npm', *words], cwd=folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(f'npm {words[0]}: {done.stdout}')

    def install(self, package):
        self.project.mkdir()
        self.npm('pack', '--silent', '--pack-destination', self.folder, folder=package)
        (self.project / 'package.json').write_text('{"name": "project", "version": "1.0.0", "private": true}')
        self.npm('install', '--offline', '--no-audit', '--no-fund', str(*self.folder.glob('*.tgz')), folder=self.project)
        shutil.copy(HERE / 'outputs.mjs', self.project)
        self.node = subprocess.Popen(['node', 'outputs.mjs'], cwd=self.project, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def native(self, args, recording, out=None, **more):
        """Status, and the digest of what was printed or written; the file has the same name as in the package."""
        work = self.folder / 'native'
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        shutil.copy(recording, work / 'perf.data')
        os.utime(work / 'perf.data', (0, 0))  # bytes have no time
        done = subprocess.run([*self.perfile, *args, 'perf.data'], cwd=work, env={**self.environment, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        made = (work / out).read_bytes() if out and (work / out).exists() else b'' if out else done.stdout
        return done.returncode, hashlib.sha256(made).hexdigest()

    def ask(self, **question):
        print(json.dumps(question), file=self.node.stdin, flush=True)
        return json.loads(self.node.stdout.readline())

    def command(self, args, recording):
        answer = self.ask(args=args, file=str(recording.resolve()))
        self.expect(f'{" ".join(args)} {recording}: {answer["errors"]}', (answer['status'], answer['digest']), self.native(args, recording))

    def call(self, name, recording):
        own, verb = CALLS[name]
        args = [verb[0], *own, *verb[1:]] if verb[0] == 'table' else [*verb, *own]
        status, digest = self.native(args, recording, verb[-1] if '-o' in verb else None, PERFILE_ADVICE='')
        answer = self.ask(call=name, args=own, file=str(recording.resolve()))
        self.expect(f'{name}() of {recording}: {answer.get("errors")}', answer.get('digest'), digest if status <= 1 else None)

    def as_a_program(self, recording):
        """npx perfile, with files of the machine."""
        for args in (*COMMANDS[1:4], ['query', *SYMFS, QUERY]):
            done = subprocess.run(['node_modules/.bin/perfile', *args, recording.resolve()], cwd=self.project, env=self.environment, stdout=subprocess.PIPE, check=False)
            other = subprocess.run([*self.perfile, *args, recording.resolve()], cwd=self.project, env=self.environment, stdout=subprocess.PIPE, check=False)
            self.expect(f'npx perfile {args[0]}', (done.returncode, done.stdout), (other.returncode, other.stdout))

    def bundle(self):
        """A recording with the symbols of its program inside."""
        root, recording, out = self.folder / 'root', self.folder / 'plain.data', self.folder / 'bundle.data'
        (root / 'made').mkdir(parents=True)
        (root / made.PATH[1:]).write_bytes(made.elf(5))
        recording.write_bytes(made.recording([[(7, 8), (11, 5)], [(15, 0), (7, 12)]]))
        done = subprocess.run([*self.perfile, 'bundle', '--symfs', root, '-o', out, recording], env=self.environment, stderr=subprocess.PIPE, text=True, check=False)
        self.expect('bundle', done.returncode, 0)
        for args in COMMANDS:
            self.command([word for word in args if word not in SYMFS], out)
        report = subprocess.run([*self.perfile, 'report', '--stdio', out], env=self.environment, stdout=subprocess.PIPE, text=True, check=False).stdout
        self.expect('symbols of the bundle', 'leaf' in report, True)

    def far(self, recording):
        """Records and features after 2 and 4 GB of a sparse file: read with the files of the machine, and in slices as in a browser."""
        (self.folder / 'far').mkdir()
        path = self.folder / 'far/perf.data'
        for offset in (3 << 30, 5 << 30):
            move(recording, path, offset)
            os.utime(path, (0, 0))  # as of slices
            for args in (['info', '--format', 'json'], ['report', '--stdio', *SYMFS]):
                done, other = (subprocess.run([*program, *args, 'perf.data'], cwd=path.parent, env=self.environment, stdout=subprocess.PIPE, check=False)
                               for program in ([self.project / 'node_modules/.bin/perfile'], self.perfile))
                self.expect(f'{args[0]} of what is at {offset}', (done.returncode, done.stdout), (other.returncode, other.stdout))
                answer = self.ask(args=args, file=str(path), slices=True)
                self.expect(f'{args[0]} in slices of what is at {offset}: {answer["errors"]}', (answer['status'], answer.get('digest')),
                            (0, hashlib.sha256(other.stdout).hexdigest()))

    def errors(self):
        path = self.folder / 'garbage'
        path.write_bytes(b'not a recording')
        answer = self.ask(call='report', args=[], file=str(path))
        self.expect('open() of what is not a recording', (answer['status'], 'perf.data' in answer['errors']), (1, True))
        answer = self.ask(args=['record', '--', 'true'], file=str(path))
        self.expect('a verb of the machine', (answer['status'], 'only reads recordings' in answer['errors']), (2, True))
        answer = self.ask(call='report', args=['--no-such-option'], file=str(path))
        self.expect('an unknown option', (answer['status'], '--no-such-option' in answer['errors']), (1, True))


def main():
    hermetic.settle()
    perfile, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    why = why_not(folder)
    if why:
        sys.exit(print('skipped: wasm:', why) or 0)
    with tempfile.TemporaryDirectory() as name:
        test = Test(perfile, pathlib.Path(name))
        test.install(folder / 'npm')
        taken = [path for path in hermetic.corpus_recordings(TAKEN, LARGEST) if path.name not in UNEQUAL]
        for recording in taken:
            for args in COMMANDS:
                test.command(args, recording)
        for recording in taken[:4]:
            test.as_a_program(recording)
            for call in CALLS:
                test.call(call, recording)
        test.far(HERE.parent.parent / 'examples/demo.perf.data')
        test.bundle()
        test.errors()
        test.node.stdin.close()
        test.expect('node', test.node.wait(), 0)
    print(f'{test.ran} checks, {len(taken)} recordings')
    sys.exit(f'{test.bad} failed' if test.bad else None)


if __name__ == '__main__':
    main()
