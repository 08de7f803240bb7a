#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel.py BUILD: the wheel that holds the libraries is installed by pip into an environment of its own, without a network, and reads
a recording there, with the libraries that it brought; its name says which C library it needs, and it uses no other library."""
import pathlib, re, subprocess, sys, tempfile, zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '''
import perfile
print(sum(function.module != 2**32 - 1 for function in perfile.open({recording!r}).profile().functions) > 0)
print(sorted({{line.split()[-1] for line in open('/proc/self/maps') if 'libperfile' in line or 'libdw' in line}}))
'''
SKIP = 77


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True)


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        if run(sys.executable, '-m', 'venv', folder / 'venv').returncode:
            print('skipped: wheel: no venv with pip')
            sys.exit(SKIP)
        made = run(sys.executable, TREE / 'bindings/python/wheel.py', sys.argv[1], folder)
        if made.returncode:
            sys.exit(made.stderr)
        wheel = pathlib.Path(made.stdout.strip())
        if not re.fullmatch(r'perfile-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl', wheel.name):
            sys.exit(f'the name of the wheel: {wheel.name}')
        names = zipfile.ZipFile(wheel).namelist()
        if any(re.match(r'perfile/libraries/lib(c|m|pthread|stdc\+\+)\.', one) for one in names):
            sys.exit(f'libraries of the system are in it: {names}')
        python = folder / 'venv/bin/python'
        done = run(python, '-m', 'pip', 'install', '--no-index', '--disable-pip-version-check', wheel)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        printed = run('env', '-u', 'PERFILE_LIBRARY', '-u', 'LD_LIBRARY_PATH', '-u', 'PYTHONPATH', python, '-I', '-c',
                      PROGRAM.format(recording=str(TREE / 'examples/demo.perf.data')))
        lines = printed.stdout.splitlines()
        if len(lines) != 2 or lines[0] != 'True':
            sys.exit(printed.stdout + printed.stderr)
        loaded = re.findall(r"'([^']+)'", lines[1])
        if len(loaded) < 2 or not all(one.startswith(str(folder / 'venv')) for one in loaded):
            sys.exit(f'loaded from elsewhere: {loaded}')
        print(f'{wheel.name}, {wheel.stat().st_size // 1024} KiB')


main()
