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
        entire = sorted(file.relative_to(folder) for file in folder.rglob('*'))
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            shutil.rmtree(folder)
            folder.mkdir()
            writer = subprocess.Popen([bench.perfile, *arguments, '-o', str(folder / 'output'), str(path)], cwd=bench.folder,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random_time.uniform(0, seconds))
            writer.send_signal(number)
            writer.wait(timeout=60)
            left = sorted(file.relative_to(folder) for file in folder.rglob('*'))
            expect(left in ([], entire), f'{name} after signal {number}', left)


SWEEPERS = {
    'convert': (['convert', '-q', '-o', 'output'], 'output'), 'script': (['script', '-q', '-o', 'output'], 'output'),
    'merge': (['merge', '-q', '-o', 'output'], 'output'), 'tables': (['export', '-q', '--format', 'parquet', '-o', 'output'], 'output'),
    'split': (['cut', '-q', '--split', 'event', '-o', 'out%put%%'], 'out-some-put%'), 'link': (['convert', '-q', '-o', 'link'], 'output'),
    'long': (['convert', '-q', '-o', 'x' * 230], 'x' * 200),
}


def is_there(path):
    return path.is_symlink() or path.exists()


def test_what_was_killed_is_removed_by_the_next(bench):
    """Temporaries of killed commands stayed for ever where O_TMPFILE is missing; others' and those of living ones must stay."""
    path = bench.assemble('input.data', EVENT + 'sample ip=0x400000 pid=7 tid=7 time=1000\n')
    over = hermetic.NO_PROCESS
    for case, (arguments, name) in SWEEPERS.items():
        folder = bench.folder / f'swept-{case}'
        folder.mkdir()
        (folder / 'link').symlink_to('output')
        (folder / 'output').write_text('old') if case == 'link' else None
        gone = [f'.{name}.{over}.0123abcd', f'.{name}.{over}.ffffffff'] + [f'{name}.{over}.tmp'] * (case != 'long')
        stay = [f'.{name}.{os.getpid()}.0123abcd', f'{name}.{os.getpid()}.tmp', f'.{name}.{over}.0123abc', f'{name}.x{over}.tmp',
                f'.{name}.{over}.0123abcd.data', f'{name}.0{over}.tmp', f'.another.{over}.0123abcd', f'another.{over}.tmp',
                f'.{over}.0123abcd', f'{over}.tmp', f'{name}.tmp']
        for left in gone + stay:
            (folder / left).write_text('left')
        (folder / gone[1]).unlink()
        (folder / gone[1]).mkdir()
        (folder / gone[1] / 'data').write_text('left')
        (folder / f'.{name}.{over}.00000000').symlink_to(folder / 'link')
        done = subprocess.run([bench.perfile, *arguments, path], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f'{case} beside what was left', done.stderr)
        kept = [left for left in gone if is_there(folder / left)]
        lost = [left for left in [*stay, f'.{name}.{over}.00000000'] if not is_there(folder / left)]
        expect(not kept and not lost, f'{case}: what was left', f'kept {kept}, lost {lost}')


def test_killed_writer(bench):
    """Its folder stayed for ever."""
    samples = ''.join(f'sample ip=0x400000 pid=7 tid=7 time={1000 + i}\n' for i in range(20000))
    stream = bench.assemble('stream.data', EVENT + samples, '--pipe').read_bytes()
    folder = bench.folder / 'killed'
    folder.mkdir()
    arguments = [bench.perfile, 'convert', '-q', '--mode', 'directory', '-o', str(folder / 'output'), '-']
    writer = subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    writer.stdin.write(stream[:len(stream) // 2])
    writer.stdin.flush()
    for _ in range(6000):
        if list(folder.iterdir()):
            break
        time.sleep(0.01)
    writer.kill()
    writer.communicate()
    left = [file.name for file in folder.iterdir()]
    expect(len(left) == 1 and left[0].startswith(f'.output.{writer.pid}.'), 'a killed writer', left)
    subprocess.run(arguments, input=stream, check=True)
    expect([file.name for file in folder.iterdir()] == ['output'], 'after the next one', list(folder.iterdir()))


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
