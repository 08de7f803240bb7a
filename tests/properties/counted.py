#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counted.py PERFILE RECORDINGS... [--corpus]: no output for people says "1 samples", "1 records are".

Outputs whose text is perf's are left out. --corpus: also recordings of the corpus.
"""
import os, pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

RECORDINGS = 150  # of the corpus, unless all are asked for
COMMANDS = ('check', 'info', 'report', 'report --tasks', 'annotate', 'repair -o /dev/null', 'cut -o /dev/null', 'convert -o /dev/null',
            'flame --format folded', 'archive -o /dev/null', 'bundle -o /dev/null')
NO_PLURALS = {'has', 'is', 'was', 'less', 'this', 'does'}
PLURAL = re.compile(r'(?<![\w.,/:*+-])1 (?:more )?([a-z]+s)\b')
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def faults_of(perfile, command, path):
    done = served.run([*WRAPPER, str(perfile), *command.split(), str(path)])
    for line in (done.stdout + done.stderr).decode(errors='replace').splitlines():
        for found in PLURAL.finditer(line):
            if found[1] not in NO_PLURALS:
                yield f'{command} {path}: {line.strip()[:160]}'


def main():
    hermetic.settle()
    perfile, paths = hermetic.command_and_recordings(RECORDINGS, 1 << 20)
    faults = [fault for path in paths for command in COMMANDS for fault in faults_of(perfile, command, path)]
    print(*faults, sep='\n')
    print(f'{len(paths)} recordings, {len(faults)} faults')
    return 1 if faults or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
