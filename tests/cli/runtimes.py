#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands that are recommended for code that a runtime makes write its names: runtimes.py made_code.c

Each recommended command runs, where its program is installed, and must leave a perf-PID.map.
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

# what ends at once, and whether the runtime is recent enough
SHORTEST = {'java': ['-version'], 'node': ['-e', '0'], 'python': ['-c', ''], 'ruby': ['-e', '0'], 'php': ['-r', ''],
            'wasmtime': None, 'dotnet': None}


def program_of(name):
    """Of the Pythons one that has it; None: there is none."""
    if name != 'python':
        return shutil.which(name)
    found = [shutil.which(f'python3.{minor}') for minor in range(12, 20)]
    if sys.version_info >= (3, 12):
        found.append(sys.executable)
    return next((path for path in found if path and not subprocess.run([path, '-c', ''], capture_output=True).returncode), None)


def is_recent(name, program):
    text = subprocess.run([program, '--version'], capture_output=True, text=True).stdout if name == 'ruby' else ''
    return name != 'ruby' or ('+YJIT' in subprocess.run([program, '--yjit', '--version'], capture_output=True, text=True).stdout and
                              tuple(map(int, re.findall(r'\d+', text)[:2])) >= (3, 3))


def leaves_map(words):
    variables = dict(word.split('=', 1) for word in words if re.match(r'[A-Z_a-z]+=', word))
    command = [word for word in words if not re.match(r'[A-Z_a-z]+=', word)]
    with tempfile.TemporaryDirectory() as folder: # some leave logs
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder, env={**os.environ, **variables})
        errors = process.communicate()[1]
    path = pathlib.Path(f'/tmp/perf-{process.pid}.map')
    exists = path.exists()
    path.unlink(missing_ok=True)
    return process.returncode == 0 and exists, errors.decode()


def main():
    hermetic.settle()
    table = re.search(r'runtimes\[\] = \{(.*?)\n\};', pathlib.Path(sys.argv[1]).read_text(), re.S).group(1)
    commands = sorted({command for _, command in re.findall(r'\{"([^"]+)", "([^"]+)"\}', table)})
    wrong, run = [], []
    assert len(commands) > 5, commands
    for command in commands:
        words = command.partition(' (')[0].split()
        name = next(word for word in words if word in SHORTEST)
        program = program_of(name) if SHORTEST[name] else None
        if not program or not is_recent(name, program) or (name == 'php' and 'opcache' not in subprocess.run(
                [program, '-m'], capture_output=True, text=True).stdout.lower()):
            continue
        fine, errors = leaves_map([program if word == name else word for word in words] + SHORTEST[name])
        run.append(name)
        wrong += [] if fine else [f'{command}: {errors}']
    if not run:
        print('skipped: advice for runtimes: none of them is installed')
    print('run:', *run)
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
