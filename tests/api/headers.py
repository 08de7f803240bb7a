#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headers.py INCLUDE VERSION CC...: every public header compiles alone, as C11 and as C++17, without a warning.

So do its initialisers, as global, static and local variables. records.h is a part of perfile.h and not meant to stand
alone. Nothing is there since a version that is yet to come."""
import pathlib, re, shutil, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

WARNINGS = ['-fsyntax-only', '-Wall', '-Wextra', '-Wshadow', '-pedantic', '-Werror']
INITIALISER = re.compile(r'#define (PERFILE_\w+_INIT) PERFILE_SIZED\((struct \w+)\)')


def compiles(compiler, standard, include, header):
    command = [*compiler, f'-std={standard}', *WARNINGS, f'-I{include}', '-x', 'c++' if '+' in standard else 'c', '-']
    source = f'#include <perfile/{header}>\n#include <perfile/{header}>\n'
    for number, (name, struct) in enumerate(INITIALISER.findall((include / 'perfile' / header).read_text())):
        source += (f'extern {struct} outer{number};\n{struct} outer{number} = {name};\n'
                   f'size_t try{number}(void);\nsize_t try{number}(void)\n{{\n    static {struct} kept = {name};\n'
                   f'    {struct} made = {name};\n    kept = made;\n    return kept.size;\n}}\n')
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    if done.returncode:
        print(f'--- {header} as {standard}:\n{done.stderr}')
    return done.returncode == 0


def from_the_future(include, version):
    """What headers call younger than the library is."""
    numbers, headers = [int(number) for number in version.split('.')], sorted((include / 'perfile').glob('*.h'))
    return [f'{path.name}: {since[0]}, but the version is {version}' for path in headers
            for since in re.finditer(r'\bSince (\d+)\.(\d+)', path.read_text())  # of kernels it is "since"
            if [int(number) for number in since.groups()] > numbers]


def main():
    hermetic.settle()
    include, version, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    future = from_the_future(include, version)
    print(*future, sep='\n', end='\n' * bool(future))
    if len([*INITIALISER.finditer(''.join(path.read_text() for path in (include / 'perfile').glob('*.h')))]) < 3:
        sys.exit('the initialisers are not where this test looks for them')
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
    sys.exit(bool(future) or not headers or not all(results))


main()
