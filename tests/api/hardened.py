#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hardened.py PERFILE LIBRARY.so... ARCHIVE.a FLAG...: whether what the FLAGs of the build promise is in the programs.

The objects of the ARCHIVE are looked at for what the linker drops when the C library has none of it."""
import os, re, shutil, subprocess, sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import hermetic


def readelf(*arguments):
    return subprocess.run(['readelf', '-W', *arguments], capture_output=True, text=True, check=True,
                          env={**os.environ, 'LC_ALL': 'C'}).stdout


def has_dynamic(path, flag):
    return bool(re.search(rf'\((FLAGS|FLAGS_1)\).*\b{flag}\b', readelf('-d', path)))


def calls(path, pattern):
    return bool(re.search(rf' UND {pattern}@?', readelf('--dyn-syms', path)))


# What a flag of the build brings to each program and library.
PROGRAM_CHECKS = {
    '-Wl,-z,now': ('binds at its start', lambda path: has_dynamic(path, 'BIND_NOW') or has_dynamic(path, 'NOW')),
    '-Wl,-z,relro': ('has RELRO', lambda path: 'GNU_RELRO' in readelf('-l', path)),
    '-fstack-protector-strong': ('protects its stack', lambda path: calls(path, '__stack_chk_(fail|guard)')),
    '-D_FORTIFY_SOURCE=2': ('calls checked functions', lambda path: calls(path, r'__\w+_chk')),
    '-D_FORTIFY_SOURCE=3': ('calls checked functions', lambda path: calls(path, r'__\w+_chk')),
}
ALWAYS = {
    'is position-independent': lambda path: re.search(r'Type: +DYN ', readelf('-h', path)),
    'has a stack that is not executable': lambda path: re.search(r'GNU_STACK .* RW ', readelf('-l', path)),
    'has no memory that is writable and executable': lambda path: not re.search(r'LOAD .* RWE ', readelf('-l', path)),
}
OBJECT_CHECKS = {
    '-fcf-protection=full': ('has IBT and SHSTK', lambda path: 'IBT, SHSTK' in readelf('-n', path)),
    '-mbranch-protection=standard': ('has BTI and PAC', lambda path: 'BTI, PAC' in readelf('-n', path)),
}


def main():
    hermetic.settle()
    if not shutil.which('readelf'):
        print('readelf is missing')
        sys.exit(77)
    arguments = sys.argv[1:]
    flags = [argument for argument in arguments if argument.startswith('-')]
    paths = [argument for argument in arguments if not argument.startswith('-')]
    checks = [(path, *check) for path in paths if not path.endswith('.a') for check in
              [*ALWAYS.items(), *(PROGRAM_CHECKS[flag] for flag in flags if flag in PROGRAM_CHECKS)]]
    checks += [(path, *OBJECT_CHECKS[flag]) for path in paths if path.endswith('.a') for flag in flags
               if flag in OBJECT_CHECKS]
    missing = [f'{path}: not so: {what}' for path, what, holds in checks if not holds(path)]
    print('\n'.join(missing) or f'{len(checks)} checks of {len(paths)} files: all hold; {" ".join(flags)}')
    sys.exit(bool(missing))


main()
