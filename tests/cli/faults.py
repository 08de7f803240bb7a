#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small recordings that once led to wrong results: faults.py PERFILE ASSEMBLE"""
import pathlib
import subprocess
import sys
import tempfile

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
