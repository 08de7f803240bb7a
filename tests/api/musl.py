#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""musl.py TREE: all sources compile with musl, and what needs no other library links statically and runs.

The libraries that perfile stands on are seldom there for musl: of these only the headers are used."""
import pathlib, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
OTHERS = ('zlib.h', 'zconf.h', 'zstd.h', 'zstd_errors.h', 'lzma.h', 'lzma', 'capstone', 'linux', 'asm-generic')
MAYBE = {'curses.h': ('curses.h', 'ncurses_dll.h', 'unctrl.h', 'term.h'), 'sqlite3.h': ('sqlite3.h',)}  # perfile can do without
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-DPF_VERSION_TEXT="0"', '-Wall', '-Wextra', '-Werror',
         '-Wno-missing-field-initializers']
PROGRAM = '''#include <perfile/perfile.h>
#include <stdio.h>
int main(void)
{
    return puts(perfile_enum_name("attr_type", PERFILE_TYPE_TRACEPOINT)) < 0 || !perfile_record_name(PERFILE_RECORD_MMAP2);
}
'''


def headers(folder):
    """Of other libraries and of the kernel: those of this machine without those of its C library."""
    for name in OTHERS:
        if not (pathlib.Path('/usr/include') / name).exists():
            print(f'skipped: musl: /usr/include/{name} is missing')
            sys.exit(SKIP)
        (folder / name).symlink_to(f'/usr/include/{name}')
    for names in MAYBE.values():
        for name in names:
            if (pathlib.Path('/usr/include') / name).exists():
                (folder / name).symlink_to(f'/usr/include/{name}')
    asm = next((path for path in [pathlib.Path('/usr/include/asm'), *pathlib.Path('/usr/include').glob('*-linux-gnu/asm')]
                if path.exists()), None)
    if asm:
        (folder / 'asm').symlink_to(asm)


def main():
    hermetic.settle()
    tree = pathlib.Path(sys.argv[1])
    if not shutil.which('musl-gcc'):
        print('skipped: musl: musl-gcc is missing: apt-get install musl-tools')
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        headers(folder)
        compile_it = ['musl-gcc', *FLAGS, f'-I{tree}/include', f'-I{tree}/src', f'-I{tree}/src/platform', '-isystem', str(folder)]
        sources = sorted(path for part in ('src', 'cli') for path in (tree / part).rglob('*.c')
                         if path.name != 'web.c' and path.parent.name != 'windows')
        wrong, chosen = [], []
        for source in sources:
            text = source.read_text() + ''.join(path.read_text() for path in source.parent.glob('*.h'))
            if any(f'#include <{name}>' in text and not (folder / name).exists() for name in MAYBE):
                continue
            chosen.append(str(source))
        # what is wrong with one says its name
        done = subprocess.run([*compile_it, '-fsyntax-only', *chosen], capture_output=True, text=True)
        if done.returncode:
            wrong.append(done.stderr)
        (folder / 'program.c').write_text(PROGRAM)
        alone = [str(path) for part in ('base', 'schema') for path in (tree / 'src' / part).glob('*.c')
                 if not path.name.startswith('gen_')] + [str(tree / 'src/platform/linux.c')]
        done = subprocess.run([*compile_it, '-O2', '-static', str(folder / 'program.c'), *alone, '-o', str(folder / 'program')],
                              capture_output=True, text=True)
        reply = done.returncode == 0 and subprocess.run([str(folder / 'program')], capture_output=True, text=True).stdout
        if reply != 'tracepoint\n':
            wrong.append(f'base and schema: {done.stderr or reply}')
    print('\n'.join(wrong) or f'{len(sources)} sources compile with musl; base and schema link and run')
    sys.exit(bool(wrong))


main()
