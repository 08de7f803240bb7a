#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A user of the static command can link it with another C library: relink.py PERFILE FOLDER MACHINE

FOLDER is what ./dev static makes. The archive of objects is unpacked elsewhere and linked: the program reads symbols as PERFILE does."""
import os, pathlib, shutil, subprocess, sys, tarfile, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / 'pgo')]
import hermetic
import made

SKIPPED = 77


def run(command, words, folder, leave_out=()):
    environment = {name: value for name, value in hermetic.environment(NO_COLOR='1').items() if name not in leave_out}
    return subprocess.run([*map(str, command), *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def main():
    hermetic.settle()
    perfile, built, machine = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    archives, needed = sorted(built.glob('perfile-*-objects.tar.xz')), (f'{machine}-linux-gnu-gcc', f'qemu-{machine}-static')
    missing = None if archives else f'{built.name} has no objects'
    missing = missing or next((f'{name} is missing' for name in needed if not shutil.which(name)), None)
    if missing:
        sys.exit(print(f'skipped: relink: {missing}') or SKIPPED)
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        with tarfile.open(archives[-1]) as files:
            files.extractall(folder / 'archive')
        root, = (folder / 'archive').iterdir()
        assert (root / 'NOTICE').read_text().count('----') > 10, 'the licences are missing'
        program = folder / 'perfile'
        subprocess.run([root / 'relink.sh', program], check=True, env={**os.environ, 'HOME': text})
        work = folder / 'work'
        (work / 'root/made').mkdir(parents=True)
        (work / 'root' / made.PATH[1:]).write_bytes(made.elf(5))
        (work / 'plain.data').write_bytes(made.recording([[(7, 8), (11, 5)], [(15, 0), (7, 12)]]))
        words = ['report', '--stdio', '--symfs', 'root', 'plain.data']
        native = run([perfile], words, work)
        other = run([needed[1], program], words, work, leave_out=hermetic.WALLS)
        assert b'leaf' in native and other == native, (other, native)
    print(f'the command for {machine} was linked again')


if __name__ == '__main__':
    main()
