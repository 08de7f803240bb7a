#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A user of perfile for another system can link it with another elfutils: relink.py PERFILE FOLDER PROGRAM

FOLDER is what ./dev windows, ./dev wasm or ./dev static makes, PROGRAM perfile.exe, perfile.js or perfile. The archive of objects is unpacked elsewhere, a text of
elfutils is changed, and the program is linked again: it has that text, and reads symbols as PERFILE does.
"""
import os, pathlib, shutil, subprocess, sys, tarfile, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / 'pgo')]
import hermetic
import made

SKIPPED = 77
OLD, NEW = b'"unknown error"', b'"no such error in a changed elfutils"'


def find_tools(built, program):
    """The compiler, and what runs the program."""
    if program.endswith('.js'):
        return 'emcc', shutil.which('node')
    if not program.endswith('.exe'):
        machine = built.name.split('-')[1]
        return f'{machine}-linux-gnu-gcc', shutil.which(f'qemu-{machine}-static')
    return 'x86_64-w64-mingw32-gcc-posix', shutil.which('wine64') or shutil.which('/usr/lib/wine/wine64') or shutil.which('wine')


def unpack(archive, folder):
    with tarfile.open(archive) as files:
        files.extractall(folder)
    (root,) = folder.iterdir()
    (source,) = root.glob('sources/elfutils_*.orig.tar.*')
    with tarfile.open(source) as files:
        files.extractall(root / 'sources')
    return root


def change(root):
    (path,) = root.glob('sources/elfutils-*/libelf/elf_error.c')
    before = path.read_bytes()
    assert OLD in before, path
    path.write_bytes(before.replace(OLD, NEW))


def run_program(runner, program, package, words, folder):
    environment = {**hermetic.environment(NO_COLOR='1'), 'WINEPREFIX': str(folder.parent / 'prefix'), 'WINEDEBUG': '-all', 'DISPLAY': '', 'HOME': str(folder.parent)}
    environment = {name: value for name, value in environment.items() if name not in hermetic.WALLS}
    if program.suffix == '.js':
        shutil.copytree(package, folder.parent / 'npm')
        shutil.copy(program, folder.parent / 'npm/command.mjs')
        shutil.copy(program.with_suffix('.wasm'), folder.parent / 'npm/perfile.wasm')
        words = [folder.parent / 'npm/perfile.mjs', *words]
    else:
        words = [program, *words]
    done = subprocess.run([runner, *map(str, words)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if program.suffix == '.exe':  # what Wine started goes on, in its prefix
        subprocess.run([shutil.which('wineserver') or '/usr/lib/wine/wineserver64', '-kw'], env=environment, check=False)
    return done.stdout


def main():
    hermetic.settle()
    perfile, built, name = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    archives, (compiler, runner) = sorted(built.glob('perfile-*-objects.tar.xz')), find_tools(built, name)
    missing = None if archives else f'{built.name} has no objects'
    missing = missing or next((f'{what} is missing' for what, found in ((compiler, shutil.which(compiler)), ('what runs it', runner)) if not found), None)
    if missing:
        sys.exit(print(f'skipped: relink: {missing}') or SKIPPED)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as text:
        folder = pathlib.Path(text)
        root = unpack(archives[-1], folder / 'archive')
        assert (root / 'NOTICE').read_text().count('----') > 10, 'the licences are missing'
        change(root)
        program = folder / 'again' / name
        program.parent.mkdir()
        subprocess.run([root / 'relink.sh', program], check=True, env={**os.environ, 'HOME': text}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        linked = program.with_suffix('.wasm') if program.suffix == '.js' else program
        assert NEW.strip(b'"') in linked.read_bytes(), 'it is linked with the elfutils that was there before'
        work = folder / 'work'
        (work / 'root/made').mkdir(parents=True)
        (work / 'root' / made.PATH[1:]).write_bytes(made.elf(5))
        (work / 'plain.data').write_bytes(made.recording([[(7, 8), (11, 5)], [(15, 0), (7, 12)]]))
        words = ['report', '--stdio', '--symfs', 'root', 'plain.data']
        native = subprocess.run([perfile, *words], cwd=work, env=hermetic.environment(NO_COLOR='1'), stdout=subprocess.PIPE, check=True).stdout
        other = run_program(runner, program, built / 'npm', words, work)
        assert b'leaf' in native and other == native, (other, native)
    print(f'{name} was linked again')


if __name__ == '__main__':
    main()
