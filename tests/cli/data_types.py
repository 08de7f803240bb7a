#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types of data: data_types.py PERFILE ASSEMBLE FOLDER [--update]

For each machine a recording is made with samples at every instruction of tests/data/types-MACHINE. What annotate and report
state of them is compared with FOLDER/MACHINE.txt; --update writes these files.
"""
import csv
import difflib
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import images

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
MACHINES = 'x86_64', 'aarch64'
REPORTS = 'type', 'typeoff', 'typecln'
TABLES = ('--data-type=node*',), ('--data-type=table',), ('--type-stat', '--data-type=nothing')


def check(perfile, assemble, machine, folder):
    """What the file of the machine is to hold."""
    program, recording = DATA / f'types-{machine}', folder / 'perf.data'

    def run(*arguments):
        done = subprocess.run([perfile, *arguments, recording], capture_output=True, text=True)
        if done.returncode not in (0, 1) or 'Sanitizer' in done.stderr:
            sys.exit(f'{arguments}: {done.returncode} {done.stderr}')
        return done.stdout.replace(str(program), program.name)

    start, size, _ = next(images.segments(program.read_bytes()))
    images.sample_all(assemble, program, range(start, start + size), recording)
    rows = csv.DictReader(run('table', 'instructions', '--format', 'csv', '--columns', '+data_type').splitlines())
    rows = sorted((int(row['address']), row['symbol'], row['data_type']) for row in rows if row['symbol'])
    addresses = [address for address, *_ in rows]
    parts = [''.join(f'{function} {address:x} {what}\n' for address, function, what in rows)]
    images.sample_all(assemble, program, addresses, recording)
    parts += [f'report --sort {keys}:\n' + run('report', '--format', 'csv', '--sort', keys) for keys in REPORTS]
    parts += [f'annotate {options}:\n' + run('annotate', *options) for options in TABLES]
    run('diff', '--sort', 'typeoff', recording)  # tags of profiles, which are closed with these
    parts.append(run('table', 'types', '--format', 'csv', '--columns', '+reason'))
    return '\n'.join(parts)


def main():
    hermetic.settle()
    perfile, assemble, expected, *update = sys.argv[1:]
    if 'libcapstone' in subprocess.run([perfile, 'annotate', '--data-type', DATA.parent.parent / 'examples/demo.perf.data'],
                                       capture_output=True, text=True).stderr:
        sys.exit('skipped: capstone: it is not installed')
    with tempfile.TemporaryDirectory() as name:
        for machine in MACHINES:
            file, got = pathlib.Path(expected) / f'{machine}.txt', check(perfile, assemble, machine, pathlib.Path(name))
            if update:
                file.write_text(got)
            elif got != file.read_text():
                sys.stdout.writelines(difflib.unified_diff(file.read_text().splitlines(True), got.splitlines(True)))
                sys.exit(f'{machine}: not as in {file}')


main()
