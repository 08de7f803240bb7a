#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""installed.py BUILD EXAMPLES CC...: the examples compile against what is installed, and print what the command prints.

Installs the build into a folder of its own, and compiles with the flags that pkg-config gives."""
import json, os, pathlib, shutil, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# program and package; what the command prints for the same recording, when it prints the same
EXAMPLES = {
    'print_samples': ('perfile', None),
    'write_profile': ('perfile', None),
    'folded_stacks': ('perfile-analysis', ['flame', '--format', 'folded']),
    'hot_functions': ('perfile-analysis', None),
    'top_modules': ('perfile-analysis', None),
    'walk_session': ('perfile-analysis', None),
}
WALKED = 'examples/demo', 'tests/data/compressed', 'tests/data/lock', 'tests/data/offcpu-cs', 'tests/data/two-events'
# with inlined functions, several events, code made at run time, a folder, a stream
TREE = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = [str(TREE / name) for name in ('examples/demo.perf.data', *(f'tests/data/{name}.perf.data' for name in (
    'block', 'group', 'jit', 'pipe-7.2', 'threads', 'two-events')))]
LOADED = {'capstone', 'libarchive', 'libdebuginfod'}
SKIP = 77


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}:\n{done.stdout}{done.stderr}')
    return done.stdout


def compile_one(source, package, compiler, root, environment):
    flags = run(['pkg-config', '--cflags', '--libs', package], env=environment).split()
    program = root / source.stem
    run([*compiler, '-std=c11', '-Wall', '-Wextra', '-Werror', str(source), '-o', str(program), *flags])
    return program


def check_hot(text):
    """Ten lines, the most samples first, each with a binary and a line that is one or '?'."""
    counts = [int(line.split()[0]) for line in text.splitlines()]
    return len(counts) == 10 and counts == sorted(counts, reverse=True) and '/usr/bin/gzip 7e57da7a' in text


def check_top(text):
    """At most ten lines, the most samples first; a recording twice has each module once."""
    lines = [line.split() for line in text.splitlines()]
    counts = [int(words[0]) for words in lines]
    return 0 < len(counts) <= 10 and counts == sorted(counts, reverse=True) and \
        sum('/usr/bin/gzip 7e57da7a' in line for line in text.splitlines()) == 1


def check_walk(program, command, recording, environment):
    """The stacks that a program gets from the samples of a session are those of the view."""
    rows = run([str(command), 'table', 'samples', '--columns', 'stack', '--format', 'jsonl', recording], env=environment)
    return run([str(program), recording], env=environment).splitlines() == [';'.join(json.loads(row)['stack']) for row in rows.splitlines()]


def main():
    hermetic.settle()
    build, examples, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    if not shutil.which('pkg-config') or not shutil.which('meson'):
        print('pkg-config or meson is missing')
        sys.exit(SKIP)
    with hermetic.plain_folder() as folder:  # pkg-config prints others with backslashes
        root = pathlib.Path(folder)
        run(['meson', 'install', '-C', str(build), '--no-rebuild', '--quiet', '--destdir', folder])
        configs = [str(path) for path in root.glob('**/pkgconfig')]
        libraries = [str(path.parent) for path in root.glob('**/libperfile.so')]
        environment = dict(os.environ, PKG_CONFIG_PATH=':'.join(configs), PKG_CONFIG_SYSROOT_DIR=folder,
                           LD_LIBRARY_PATH=':'.join(libraries), HOME=folder, XDG_CACHE_HOME=folder)
        needs = run(['pkg-config', '--print-requires-private', *{package for package, _ in EXAMPLES.values()}], env=environment)
        if set(needs.split()) & LOADED:
            sys.exit(f'what is loaded at run time is needed for building:\n{needs}')
        command = next(iter(root.glob('**/bin/perfile')))
        recording = str(examples / 'demo.perf.data')
        wrong = 0
        for name, (package, same) in EXAMPLES.items():
            program = compile_one(examples / f'{name}.c', package, compiler, root, environment)
            argument = str(root / 'made.data') if name == 'write_profile' else recording
            twice = [recording] if name == 'top_modules' else []
            printed = run([str(program), argument, *twice], env=environment)
            for one in RECORDINGS if same else ():
                if run([str(program), one], env=environment) != run([str(command), *same, one], env=environment):
                    print(f'{name} and perfile {" ".join(same)} differ: {one}')
                    wrong += 1
            for one in WALKED if name == 'walk_session' else ():
                if not check_walk(program, command, str(TREE / f'{one}.perf.data'), environment):
                    print(f'{name} and the view samples differ: {one}')
                    wrong += 1
            if (name == 'hot_functions' and not check_hot(printed)) or (name == 'top_modules' and not check_top(printed)):
                print(f'{name}:\n{printed}')
                wrong += 1
        print(f'{len(EXAMPLES)} examples, {wrong} wrong')
        sys.exit(wrong > 0)


main()
