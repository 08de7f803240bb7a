#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small recordings that once led to wrong results: faults.py PERFILE ASSEMBLE"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

EVENT = 'attr type=1 config=0 sample_type=IP|TID|TIME name="cpu-clock"\n'
wrong = []


class Bench:
    def __init__(self, perfile, assemble, folder):
        self.perfile, self.assembler, self.folder = perfile, assemble, folder

    def assemble(self, name, text, *options):
        path = self.folder / name
        made = subprocess.run([self.assembler, *options], input=text.encode(), stdout=subprocess.PIPE, check=True)
        path.write_bytes(made.stdout)
        return path

    def run(self, *arguments):
        return subprocess.run([self.perfile, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              errors='replace', timeout=60)


def expect(condition, what, detail=''):
    if not condition:
        wrong.append(what)
        print(f'wrong: {what}: {detail}')


def test_merge_of_exits_without_sample_ids(bench):
    """Their time is in their body: EXIT of the first part came before the samples of the second."""
    path = bench.assemble('exits.data', EVENT + '''record COMM pid=7 tid=7 comm="work"
sample ip=0x400000 pid=7 tid=7 time=1000
sample ip=0x400000 pid=7 tid=7 time=2000
record EXIT pid=7 ppid=1 tid=7 ptid=1 time=3000
''')
    for name, part in ('first', '0%-50%'), ('second', '50%-100%'):
        bench.run('cut', '-q', '--time', part, path, '-o', name)
    bench.run('merge', '-q', 'first', 'second', '-o', 'merged')
    names = bench.run('script', '-F', 'comm', 'merged').stdout.split()
    expect(names == ['work', 'work'], 'names after merge', names)


def test_planted_links(bench):
    """In a folder such as /tmp the link of another user led to a file of ours, which was replaced."""
    path = bench.assemble('input.data', EVENT + 'sample ip=0x400000 pid=7 tid=7 time=1000\n')
    shared = bench.folder / 'shared'
    shared.mkdir()
    shared.chmod(0o1777)
    target, own, planted = bench.folder / 'target', shared / 'own', shared / 'planted'
    for link in own, planted:
        link.symlink_to(target)
    target.write_bytes(b'before')
    done = bench.run('convert', '-q', path, '-o', own)
    expect(done.returncode == 0 and own.is_symlink() and target.read_bytes() != b'before', 'a link of ours', done)
    if os.geteuid() != 0:
        return
    os.lchown(planted, 65534, 65534)
    os.chown(shared, 65533, 65533)
    target.write_bytes(b'before')
    for verb in 'convert', 'repair', 'anonymize':
        done = bench.run(verb, '-q', path, '-o', planted)
        expect(done.returncode == 4 and 'not followed' in done.stderr and target.read_bytes() == b'before',
               f'a planted link and {verb}', done)
    target.unlink()
    bench.run('convert', '-q', path, '-o', planted)
    expect(not target.exists(), 'a planted link that leads nowhere')
    os.chown(shared, 65534, 65534)  # of the owner of the folder
    done = bench.run('convert', '-q', path, '-o', planted)
    expect(done.returncode == 0 and target.exists(), 'a link of the owner of the folder', done)
    theirs = shared / 'theirs'
    theirs.touch()
    os.chown(theirs, 65533, 65533)
    theirs.chmod(0o666)
    bench.run('convert', '-q', path, '-o', theirs)
    expect(theirs.stat().st_mode & 0o777 == 0o600, 'the mode of a file that another user has made', oct(theirs.stat().st_mode))


def test_index_of_damage(bench):
    """It is a finding, not a wrong command line."""
    path = bench.assemble('cut.data', EVENT + 'sample ip=0x400000 pid=7 tid=7 time=1000\n' * 9, '--cut', '-20')
    done = bench.run('index', '-o', 'cut.pfi', path)
    expect(done.returncode == 1, 'the exit status of index', done)


WRITERS = {  # arguments after -o OUTPUT, where the recording is the last one
    'convert': ['convert', '-q'], 'directory': ['convert', '-q', '--mode', 'directory'], 'bundle': ['bundle', '-q'],
    'script': ['script', '-q'], 'report': ['report', '-q'], 'flame': ['flame', '-q', '--format', 'html'], 'index': ['index', '-q'],
    'parquet': ['export', '-q', '--format', 'parquet', '--view', 'samples'], 'tables': ['export', '-q', '--format', 'parquet'],
}


def test_nothing_is_left_by_signals(bench):
    """NAME.PID.tmp, or a hidden folder, stayed beside the output after Ctrl-C, a closed terminal or a time limit."""
    samples = ''.join(f'sample ip={0x400000 + i % 64} pid=7 tid=7 time={1000 + i}\n' for i in range(20000))
    path = bench.assemble('many.data', EVENT + samples)
    random_time = random.Random(30)
    for name, arguments in WRITERS.items():
        folder = bench.folder / f'killed-{name}'
        folder.mkdir()
        start = time.monotonic()
        bench.run(*arguments, '-o', folder / 'output', path)
        seconds = time.monotonic() - start
        whole = sorted(file.relative_to(folder) for file in folder.rglob('*'))
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            shutil.rmtree(folder)
            folder.mkdir()
            writer = subprocess.Popen([bench.perfile, *arguments, '-o', str(folder / 'output'), str(path)], cwd=bench.folder,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random_time.uniform(0, seconds))
            writer.send_signal(number)
            writer.wait(timeout=60)
            left = sorted(file.relative_to(folder) for file in folder.rglob('*'))
            expect(left in ([], whole), f'{name} after signal {number}', left)


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(hermetic.runnable(sys.argv[1]), hermetic.runnable(sys.argv[2]), pathlib.Path(folder))
        for name, test in list(globals().items()):
            if name.startswith('test_'):
                test(bench)
    print(f'{len(wrong)} wrong')
    sys.exit(bool(wrong))


main()
