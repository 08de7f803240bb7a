#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verb page writes the page that is installed, and says how to get it where it is not: page.py PERFILE"""
import os, pathlib, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

CONTENT = b'<!DOCTYPE html>\n' + bytes(range(256)) * 1000
POSITIONS = 'share/perfile/perfile.html', 'bin/perfile.html', 'build-wasm/perfile.html'


def main():
    hermetic.settle()
    perfile = pathlib.Path(sys.argv[1]).resolve()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    with tempfile.TemporaryDirectory() as name:
        location = pathlib.Path(name)
        program = location / 'bin/perfile'
        program.parent.mkdir()
        shutil.copy(perfile, program)

        def run(*words):
            environment = hermetic.environment(LD_LIBRARY_PATH=str(perfile.parent))
            return subprocess.run([*wrapper, program, 'page', *words], cwd=location, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)

        done = run('-o', 'perfile.html')
        assert done.returncode == 3 and b'./dev wasm' in done.stderr and not (location / 'perfile.html').exists(), done
        for position in POSITIONS:
            (location / position).parent.mkdir(parents=True, exist_ok=True)
            (location / position).write_bytes(CONTENT)
            done = run('-o', 'perfile.html')
            assert done.returncode == 0 and (location / 'perfile.html').read_bytes() == CONTENT, (position, done)
            assert run().stdout == CONTENT, position
            (location / position).unlink()
            (location / 'perfile.html').unlink()
        assert run('perf.data').returncode == 2
    print(f'{len(POSITIONS)} positions')


if __name__ == '__main__':
    main()
