#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A host program may have any locale: host_locale.py PROGRAM RECORDING...

PROGRAM (host_locale.c) calls setlocale and prints all outputs. It runs in the C locale, in one with decimal commas and in
one with a letter i of its own, which localedef makes.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

LOCALES = {'de_DE': b'0,5', 'tr_TR': b'0,5'}


def run(program, recordings, name, folder):
    environment = {**os.environ, 'LC_ALL': name, 'LOCPATH': folder, 'LANGUAGE': '', 'TZ': 'UTC', 'XDG_CACHE_HOME': folder}
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    return subprocess.run([*wrapper, program, *recordings, folder + '/missing'], env=environment, capture_output=True,
                          check=False)


def differences(name, ours, plain):
    wrong = [f'{name}: line {n}: {a!r}, not {b!r}' for n, (a, b) in
             enumerate(zip(ours.splitlines(), plain.splitlines()), 1) if a != b]
    return wrong[:20] + ([f'{name}: {len(ours)} bytes, not {len(plain)}'] if len(ours) != len(plain) else [])


def main():
    hermetic.settle()
    program, *recordings = sys.argv[1:]
    localedef, wrong, done = shutil.which('localedef', path=os.environ.get('PATH', '') + ':/usr/bin'), [], 0
    with tempfile.TemporaryDirectory(prefix='perfile-locale-') as folder:
        plain = run(program, recordings, 'C', folder)
        if plain.returncode or len(plain.stdout) < 10000:
            sys.exit(f'in the C locale: {plain.returncode}, {len(plain.stdout)} bytes')
        for name, point in LOCALES.items():
            made = localedef and hermetic.make_locale(localedef, name, folder)
            ours = run(program, recordings, f'{name}.UTF-8', folder)
            if not made or ours.returncode == 77 or ours.stderr.strip() != point:
                print(f'{name}: skipped, there is no such locale and localedef cannot make it')
                continue
            done += 1
            wrong += differences(name, ours.stdout, plain.stdout)
    print('\n'.join(wrong) or f'{len(plain.stdout)} bytes are the same in {done} locales')
    sys.exit(1 if wrong else 0 if done else 77)


if __name__ == '__main__':
    main()
