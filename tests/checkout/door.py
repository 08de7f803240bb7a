#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""door.py SOURCE: readers of recordings ask the machine about its kernel in one file only, src/symbol/machine.

Other sources call no uname(), and have no string that is the path of what a machine has of its kernel; sentences may name
one. src/record is about this machine and has its own position; src/platform has the functions where the system has none.
Nor do they ask which system or C library they are compiled for: src/platform alone does.
"""
import pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

DOORS = ('src/symbol/machine.c', 'src/symbol/machine.h')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
ASKED = re.compile(r'\buname\(|"[^" ]*(?:/proc/(?:kallsyms|modules|sys/kernel/(?:hostname|osrelease))|/sys/(?:kernel/notes|module)|'
                   r'/lib/modules|/boot|/usr/lib/debug|/usr/lib/\.build-id)[^" ]*"')
SYSTEMS = re.compile(r'^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(__(?:linux|gnu_linux|unix|APPLE|GLIBC|EMSCRIPTEN|CYGWIN|FreeBSD|ANDROID|MINGW32|'
                     r'MINGW64)(?:__)?|_WIN32|_WIN64|__wasm__)\b', re.MULTILINE)


def main():
    hermetic.settle()
    root, inside, wrong = pathlib.Path(sys.argv[1]), 0, []
    for path in sorted(path for folder in ('src', 'cli') for path in (root / folder).rglob('*.[ch]')):
        name = path.relative_to(root).as_posix()
        if not name.startswith('src/platform/'):
            wrong += [f'{name}: what depends on {system} belongs into src/platform' for system in SYSTEMS.findall(path.read_text())]
        found = [] if name.startswith(('src/record/', 'src/platform/')) else ASKED.findall(COMMENT.sub('', path.read_text()))
        if name in DOORS:
            inside += len(found)
        else:
            wrong += [f'{name}: {asked} belongs into {DOORS[0]}' for asked in found]
    if inside < 6:
        wrong.append(f'only {inside} questions were found in {" and ".join(DOORS)}')
    print(*wrong, f'{inside} questions', sep='\n')
    return 1 if wrong else 0


sys.exit(main())
