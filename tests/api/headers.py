#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headers.py INCLUDE CC...: every public header compiles alone, as C11 and as C++17, without a warning.

records.h is a part of perfile.h and not meant to stand alone."""
import pathlib, shutil, subprocess, sys

WARNINGS = ['-fsyntax-only', '-Wall', '-Wextra', '-pedantic', '-Werror']


def compiles(compiler, standard, include, header):
    command = [*compiler, f'-std={standard}', *WARNINGS, f'-I{include}', '-x', 'c++' if '+' in standard else 'c', '-']
    source = f'#include <perfile/{header}>\n#include <perfile/{header}>\n'
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    if done.returncode:
        print(f'--- {header} as {standard}:\n{done.stderr}')
    return done.returncode == 0


def main():
    include, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    compilers = {'c11': compiler}
    cxx = next((name for name in ('c++', 'g++', 'clang++') if shutil.which(name)), None)
    if cxx:
        compilers['c++17'] = [cxx]
    else:
        print('no C++ compiler: C++ is not tested')
    headers = sorted(path.name for path in (include / 'perfile').glob('*.h') if path.name != 'records.h')
    results = [compiles(command, standard, include, header)
               for header in headers for standard, command in compilers.items()]
    print(f'{sum(results)} of {len(results)} compile: {", ".join(headers)} as {", ".join(compilers)}')
    sys.exit(not headers or not all(results))


main()
