#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compilers read the profiles by source line: compilers.py PERFILE

clang, gcc and llvm-profdata of any version that is installed; of those that are not, the test says so. The source has its lines where
the debug info of the made program has them.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import lines
import made

SKIPPED = 77
SOURCE = '''\
int sink;
int leaf(int x)
{
    return x * 3 + sink;
}
int same(int x)
{
    return x + 1 + sink;
}
int hot(int x)
{
    sink = x;
    sink += 2;
    sink += 3;
    return leaf(x) + 4;
    return same(x);
}
int never(int x)
{
    return leaf(x) ^ 5;
}
'''


def find(name, versions):
    return [found for found in (shutil.which(candidate) for candidate in (name, *('%s-%d' % (name, version) for version in versions))) if found]


def call(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def sections(assembly):
    """The section of each function."""
    now, found = '.text', {}
    for line in assembly.splitlines():
        if re.match(r'\s+\.text\b', line):
            now = '.text'
        elif match := re.match(r'\s+\.section\s+(\.text[^,\s]*)', line):
            now = match.group(1)
        elif match := re.match(r'(\w+):', line):
            found[match.group(1)] = now
    return found


class Compilers:
    def __init__(self, test, folder):
        self.test, self.folder, self.run = test, folder, 0
        self.source = test.write('a.c', SOURCE.encode())
        recording = test.write('branches', made.recording(lines.CALLS * 400))
        program = test.write('program', made.elf(5))
        for form in 'sample', 'gcov':
            status, profile, errors = test.run(program, recording, '--format', form)
            test.equal(form, status, 0)
            test.write(form, profile)

    def path(self, name):
        return os.path.join(self.folder, name)

    def merge(self, program):
        """In LLVM's binary form and back it is the same profile."""
        shown = call(program, 'show', '--sample', '--function=hot', self.path('sample'))
        self.test.equal(program, (shown.returncode, 'Function: hot: 48000, 1600' in shown.stdout), (0, True))
        done = call(program, 'merge', '--sample', '--binary', self.path('sample'), '-o', self.path('binary'))
        self.test.equal(program, done.returncode, 0)
        again = call(program, 'show', '--sample', '--function=hot', self.path('binary'))
        self.test.equal(program, again.stdout, shown.stdout)

    def clang(self, program):
        """The function that was entered 8 times in each of 400 is known to have been entered that often, and once more."""
        done = call(program, '-O2', '-g', '-fno-inline', '-S', '-emit-llvm', '-o', '-', '-fprofile-sample-use=' + self.path('sample'), self.source)
        self.test.equal(program, (done.returncode, done.stderr), (0, ''))
        counts = dict(re.findall(r'^(!\d+) = !{!"function_entry_count", i64 (-?\d+)}', done.stdout, re.M))
        entered = {name: counts.get(number) for name, number in re.findall(r'^define .*@(\w+)\(.*!prof (!\d+)', done.stdout, re.M)}
        self.test.equal(program, (entered.get('leaf'), entered.get('hot')), ('3201', '1601'))

    def gcc(self, program):
        """What ran is in a section of its own."""
        version = call(program, '-dumpversion').stdout.split('.')[0]
        if 'clang' in call(program, '--version').stdout or int(version) != 12:
            return print('skipped: %s: version %s' % (program, version))
        done = call(program, '-O2', '-g', '-S', '-o', '-', '-fno-inline', '-fauto-profile=' + self.path('gcov'), self.source)
        self.test.equal(program, (done.returncode, done.stderr), (0, ''))
        found = sections(done.stdout)
        self.test.equal(program, [found.get(name) for name in ('leaf', 'hot', 'never')], ['.text.hot', '.text.hot', '.text'])
        return None

    def check(self, name, versions, what):
        found = find(name, versions)
        for program in found:
            what(program)
            self.run += 1
        if not found:
            print('skipped: %s: it is not installed' % name)


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        test = lines.Test(sys.argv[1], folder)
        compilers = Compilers(test, folder)
        versions = range(14, 31)
        compilers.check('llvm-profdata', versions, compilers.merge)
        compilers.check('clang', versions, compilers.clang)
        compilers.check('gcc', range(12, 13), compilers.gcc)
    return 1 if test.failed else 0 if compilers.run else SKIPPED


if __name__ == '__main__':
    sys.exit(main())
