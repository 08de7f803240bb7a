#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged recordings in the WebAssembly module: mutants.py PERFILE MUTANTS FOLDER [--first N] [--count N] RECORDINGS AND FOLDERS...

FOLDER is what ./dev wasm makes, MUTANTS a program of tests/fuzz/mutants.c. Each mutant is read by some of the COMMANDS in Node: no trap, an answer
within the time, bounded memory, and the exit status and output of PERFILE.
"""
import argparse, hashlib, json, os, pathlib, select, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import hermetic
import package

SYMFS = package.SYMFS
COMMANDS = (['info', '--count'], ['check'], ['dump'], ['dump', '--format', 'json'], ['script', *SYMFS], ['report', '--stdio', *SYMFS],
            ['flame', '--format', 'html', *SYMFS], ['flame', '--format', 'folded', *SYMFS], ['table', 'samples', '--format', 'csv', *SYMFS],
            ['export', '--format', 'pprof', '-o', '-', *SYMFS], ['repair', '-q', '-o', '-'], ['cut', '-q', '--time', '10%-90%', '-o', '-'],
            ['convert', '-q', '--byte-order', 'big', '-o', '-'], ['anonymize', '-q', '--key', 'key', '-o', '-'], ['sched', 'latency'], ['stat', 'report'],
            *(['export', '--format', format, '-o', '-', *SYMFS] for format in ('firefox', 'speedscope', 'chrome', 'callgrind', 'otlp', 'folded')),
            ['sched', 'timehist'], ['lock', 'contention'])
OF_EACH = 4  # commands for a mutant
SECONDS = 30
MEMORY, TIMES = 48 << 20, 32  # bytes of a module that has read a mutant: a constant, and by the bytes of the mutant


def asked():
    parser = argparse.ArgumentParser()
    parser.add_argument('perfile', type=os.path.abspath)
    parser.add_argument('mutants')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('recordings', nargs='+')
    return parser.parse_args()


class Module:
    """Node with the package; it is started again after it did not answer."""

    def __init__(self, folder):
        self.words, self.node = ['node', HERE / 'mutants.mjs', folder / 'npm'], None

    def ask(self, args, file):
        self.node = self.node or subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(json.dumps({'args': args, 'file': str(file)}), file=self.node.stdin, flush=True)
        line = self.node.stdout.readline() if select.select([self.node.stdout], [], [], SECONDS)[0] else ''
        if line:
            return json.loads(line)
        self.node.kill()
        self.node.wait()
        self.node = None
        return {'status': -1, 'error': f'no answer within {SECONDS} seconds', 'memory': 0}

    def peak_kb(self):
        """Of Node, as Linux has it."""
        lines = pathlib.Path(f'/proc/{self.node.pid}/status').read_text(encoding='utf-8').splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM:'))


class Native:
    def __init__(self, perfile):
        self.perfile = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), perfile]
        self.environment = hermetic.environment(NO_COLOR='1')

    def run(self, args, folder):
        done = subprocess.run([*self.perfile, *args, 'perf.data'], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, check=False)
        return done.returncode, hashlib.sha256(done.stdout).hexdigest()


def wrong_with(answer, expected, size):
    """What is wrong with the answer of the module; None: nothing."""
    if answer['status'] < 0:
        return answer['error']
    if answer['memory'] > MEMORY + TIMES * size:
        return f'{answer["memory"]} bytes of memory for {size}'
    if (answer['status'], answer['digest']) != expected:
        return f'another output: {answer}, {expected}'
    return None


def main():
    hermetic.settle()
    options = asked()
    why = package.why_not(options.folder)
    if why:
        sys.exit(print('skipped: wasm:', why) or 0)
    module, native, bad, largest = Module(options.folder), Native(options.perfile), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder, file = pathlib.Path(name), pathlib.Path(name) / 'perf.data'
        for number in range(options.first, options.first + options.count):
            subprocess.run([options.mutants, '--first', str(number), '--count', '1', '--write', folder, *options.recordings], stdout=subprocess.DEVNULL, check=True)
            shutil.move(folder / f'mutant-{number}', file)
            os.utime(file, (0, 0))  # bytes have no time
            for i in range(OF_EACH):
                args = COMMANDS[(number + i * len(COMMANDS) // OF_EACH) % len(COMMANDS)]
                answer = module.ask(args, file)
                largest = max(largest, answer['memory'])
                wrong = wrong_with(answer, native.run(args, folder), file.stat().st_size)
                if wrong:
                    bad += 1
                    print(f'mutant {number}: {" ".join(args)}: {wrong}')
        print(f'{options.count} mutants, {options.count * OF_EACH} runs; at most {largest >> 20} MiB of memory of a module, {module.peak_kb() >> 10} MiB of Node')
    sys.exit(f'{bad} failed' if bad else None)


if __name__ == '__main__':
    main()
