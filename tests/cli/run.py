#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command line as its users do, and compares what it prints.

    run.py PERFILE [--update] CASES...

A file of cases holds commands and what comes of them:

    # a remark
    $ perfile infoo
    ! perfile: unknown verb infoo; did you mean info? (perfile help lists the verbs)
    ? 2

    $ perfile script -F comm demo.data |
        grep gzip | count samples of gzip
    > 135 samples of gzip

`$` is a command for sh, run in an empty folder that the cases of one file share; $DATA is the folder tests/data,
$EXAMPLES the examples of the checkout, $EMPTY a folder with nothing in it: links, so that none needs quotes wherever
the checkout lies. A command goes on in the lines after it that begin with four blanks; sh reads all of them as a
script, so that a line ends in `|`, `&&` or a backslash, within quotes, or with a complete command. `>` is a line of
standard output, `!` one of standard error, `?` the exit status when it is not 0. A last line without a newline ends in
`\\c`. The version is written @VERSION@, and the paths of the folders as their variables. --update writes what the
commands print now into the files, and leaves commands and remarks as they are.

Cases are read by people: lines of commands and remarks have at most 160 characters, and no line of output is only a
number. Two commands say what a number is: `count WHAT` prints the number of lines that it reads and these words,
`total WHAT` the sum of the last fields of these lines and these words.
"""
import argparse, difflib, os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

HERE = pathlib.Path(__file__).resolve().parent
LINKS = {'examples': HERE.parent.parent / 'examples', 'data': HERE.parent / 'data'}
TIMEOUT_SECONDS = 60
CONTINUED = '    '
MAX_CHARACTERS = 160  # of a line that is not output
NUMBER = re.compile('> [0-9]+')  # numbers that are aligned to the right are rows of tables
HELPERS = {
    'count': """exec awk -v what="$*" 'END { print NR, what }'""",
    'total': """exec awk -v what="$*" '{ sum += $NF } END { printf "%.0f %s\\n", sum, what }'""",
}
# what -v says of kernels that have none
NO_SANDBOX = re.compile('^perfile: (the sandbox does not|no sandbox).*\n', re.MULTILINE)


def is_expected(line):
    return line[:2] in ('> ', '! ', '? ') or line in ('>', '!')


def read_cases(text):
    """Pairs of (lines before and with the command, lines expected), and the lines after the last case."""
    cases, lines = [], []
    for line in text.splitlines():
        if is_expected(line):
            cases[-1][1].append(line)
        elif line.startswith(CONTINUED) and cases and not lines and not cases[-1][1]:
            cases[-1][0].append(line)
        else:
            lines.append(line)
            if line.startswith('$ '):
                cases.append((lines, []))
                lines = []
    return cases, lines


def command_lines(lines):
    """Of the lines before and with a command, those of the command."""
    first = next(i for i, line in enumerate(lines) if line.startswith('$ '))
    return [lines[first][2:], *lines[first + 1:]]


def refusals(text):
    """What is wrong with the form of the cases."""
    lines = text.splitlines()
    for number, (before, line) in enumerate(zip(['', *lines], lines), 1):
        if len(line) > MAX_CHARACTERS and not is_expected(line):
            yield f'line {number} has {len(line)} characters, more than {MAX_CHARACTERS}'
        if line.startswith(CONTINUED) and not before.startswith(('$ ', CONTINUED)):
            yield f'line {number} goes on with a command that is not there'
        if NUMBER.fullmatch(line):
            yield f'line {number} is only a number: `count WHAT` and `total WHAT` say what it is'


def quote(mark, output, replacements):
    text = output.decode('utf-8', 'backslashreplace')
    text = NO_SANDBOX.sub('', text)
    for old, new in replacements.items():
        text = text.replace(old, new)
    if text and not text.endswith('\n'):
        text += '\\c\n'
    return [f'{mark} {line}'.rstrip(' ') if not line else f'{mark} {line}' for line in text.split('\n')[:-1]]


def run(command, folder, environment, replacements):
    try:
        done = subprocess.run(['sh', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return [f'? no end within {TIMEOUT_SECONDS} seconds']
    status = [f'? {done.returncode}'] if done.returncode else []
    return quote('>', done.stdout, replacements) + quote('!', done.stderr, replacements) + status


def make_command(folder, perfile):
    """`perfile` on the PATH; on foreign machines by way of the emulator that Meson names."""
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '')
    path = folder / 'perfile'
    if not wrapper:
        path.symlink_to(perfile)
        return
    path.write_text(f'#!/bin/sh\nexec {wrapper} "{perfile}" "$@"\n')
    path.chmod(0o755)


def make_helpers(folder):
    for name, script in HELPERS.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\n{script}\n')
        path.chmod(0o755)


def make_folders(folder):
    """{variable: path} of the folders that cases name."""
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    (folder / 'empty').mkdir()
    return {f'${name.upper()}': str(folder / name) for name in (*LINKS, 'empty')}


def run_file(path, environment, replacements, update):
    """The number of cases that differ, and of lines that are refused."""
    cases, rest = read_cases(path.read_text())
    failed, result = 0, []
    with tempfile.TemporaryDirectory(prefix='perfile-cli-') as folder:
        replacements = {**replacements, os.path.realpath(folder): '$PWD', folder: '$PWD'}
        for lines, expected in cases:
            command = command_lines(lines)
            got = run('\n'.join(command), folder, environment, replacements)
            result += lines + got
            if got == expected or update:
                continue
            failed += 1
            print(f'--- {path.name}:', *command, sep='\n')
            print('\n'.join(list(difflib.unified_diff(expected, got, 'expected', 'got', lineterm=''))[2:]))
    if update:
        path.write_text('\n'.join(result + rest) + '\n')
    refused = [f'--- {path.name}: {reason}' for reason in refusals(path.read_text())]
    print(*refused, f'{path.name}: {len(cases) - failed} of {len(cases)} cases are right', sep='\n')
    return failed + len(refused)


def main():
    hermetic.find_walls()
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perfile', type=pathlib.Path)
    parser.add_argument('cases', nargs='+', type=pathlib.Path)
    parser.add_argument('--update', action='store_true')
    options = parser.parse_intermixed_args()
    perfile = options.perfile.resolve()
    with hermetic.plain_folder() as name:
        folder = pathlib.Path(name)
        make_command(folder, perfile)
        make_helpers(folder)
        folders = make_folders(folder)
        environment = hermetic.environment(PATH=f'{folder}:/usr/bin:/bin:{os.environ["PATH"]}', HOME=name,
                                           **{variable[1:]: value for variable, value in folders.items()})
        version = subprocess.run([folder / 'perfile', '--version'], capture_output=True, text=True).stdout.split()[1]
        replacements = {version: '@VERSION@', **{value: name for name, value in folders.items()},
                        **{str(target.resolve()): f'${name.upper()}' for name, target in LINKS.items()}}
        failed = sum(run_file(path, environment, replacements, options.update) for path in options.cases)
    sys.exit(failed > 0)


main()
