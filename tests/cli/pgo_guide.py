#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of doc/pgo.md does what the page says: pgo_guide.py PERFILE ASSEMBLE doc/pgo.md

The commands run one after the other in a folder with the program. Few machines of tests record branches, so the recording is a made one
(see pgo_consumers.py). Commands of tools that are not installed, or that need counters that this machine does not have, are skipped.
"""
import os, pathlib, re, shlex, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import pgo_consumers

VERSIONS = range(30, 11, -1)


def newest(name, oldest):
    return pgo_consumers.tool(*(f'{name}-{version}' for version in VERSIONS if version >= oldest))


def gcc_of(version):
    for name in 'gcc', 'gcc-12', 'gcc-13', 'gcc-14':
        found = pgo_consumers.tool(name)
        if found and pgo_consumers.run(found, '-dumpversion').stdout.strip().split('.')[0] == version:
            return found
    return None


# where a program of the page is; perf2bolt of Debian's own folder of programs is another one
PROGRAMS = {
    'perf2bolt': lambda: pgo_consumers.tool('/usr/lib/llvm-*/bin/perf2bolt'),
    'llvm-bolt': lambda: pgo_consumers.tool('/usr/lib/llvm-*/bin/llvm-bolt'),
    'llvm-profgen': lambda: newest('llvm-profgen', 19),
    'llvm-profdata': lambda: newest('llvm-profdata', 14),
    'clang': lambda: newest('clang', 14),
    'gcc': lambda: gcc_of('12'),
    'create_gcov': lambda: pgo_consumers.tool('create_gcov'),
}


def commands(page):
    """The indented lines that are not output."""
    lines = [line.strip() for line in re.findall(r'^    (\S.*)$', page, re.MULTILINE)]
    return [line for line in lines if not line.startswith('perfile:')]


class Guide:
    def __init__(self, perfile, folder):
        self.perfile, self.folder, self.ran, self.bad, self.absent = perfile, folder, 0, 0, set()
        self.environment = hermetic.environment(HOME=str(folder), XDG_CACHE_HOME=str(folder))

    def program(self, words):
        """The command with the program that is here; None where it is missing."""
        if words[0] == 'perfile':
            return [*self.perfile, *words[1:]]
        found = PROGRAMS[words[0]]()
        return [found, *words[1:]] if found else None

    def expand(self, words):
        """As a shell does."""
        return [name for word in map(str, words) for name in (sorted(map(str, self.folder.glob(word))) if '*' in word else [word])]

    def run(self, line):
        words = self.program(shlex.split(line))
        if words is None or any(word in self.absent for word in words):
            return print('skipped:', line)
        made = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ('-o', '-gcov', '--output')]
        done = subprocess.run(self.expand(words), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', check=False)
        if 'record' in words and done.returncode:
            self.absent.update(made, ('cmp.before.*',))
            return print('skipped:', line, '(this machine does not count)')
        self.ran += 1
        is_right = done.returncode == 0 and all('record' in words or (self.folder / name).stat().st_size for name in made)
        if any(name.startswith('app.new') or name == 'app.bolt' for name in made):
            is_right = is_right and pgo_consumers.run(self.folder / made[0]).returncode == 0
        if not is_right:
            self.bad += 1
            print('---', line, done.stdout, sep='\n')
        return None


def main():
    hermetic.settle()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, pathlib.Path(program).resolve()] for program in sys.argv[1:3])
    page = commands(pathlib.Path(sys.argv[3]).read_text())
    if not pgo_consumers.is_possible():
        sys.exit(print('skipped: the guide of pgo: a compiler for x86-64, objdump and nm are needed') or 0)
    with tempfile.TemporaryDirectory() as name:
        pgo_consumers.Test(pathlib.Path(name), perfile, assemble)
        guide = Guide(perfile, pathlib.Path(name))
        for line in page:
            if 'record -b' not in line:  # the recording is there
                guide.run(line)
    print(f'{guide.ran} of {len(page)} commands ran')
    sys.exit(f'{guide.bad} failed' if guide.bad else None)


if __name__ == '__main__':
    main()
