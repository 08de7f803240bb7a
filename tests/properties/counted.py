#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counted.py PERFILE RECORDINGS... [--corpus]: no output for people says "1 samples", "1 records are", "1 of 3 samples are".

Outputs whose text is perf's are left out. --corpus: also recordings of the corpus. The sources, too: a count and its noun in a
format string are right for one number only, so pf_count_of, pf_part_of and pf_counted write them.
"""
import os, pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

RECORDINGS = 80  # of the corpus, unless all are asked for
COMMANDS = ('check', 'info', 'report', 'report --tasks', 'annotate', 'repair -o /dev/null', 'cut -o /dev/null', 'convert -o /dev/null',
            'flame --format folded', 'flame --min-width 5%', 'flame --max-nodes 3 --format folded', 'flame --off-cpu=all --format folded',
            'archive -o /dev/null', 'bundle -o /dev/null', 'merge -o /dev/null', 'inject -o /dev/null', 'anonymize -o /dev/null',
            'export -o /dev/null', 'sched summary', 'lock', 'kwork', 'kmem', 'table block_io')
NO_PLURALS = {'has', 'is', 'was', 'less', 'this', 'does'}
PLURAL = re.compile(r'(?<![\w.,/:*+-])1 (?:more )?([a-z]+s)\b|'
                    r'(?<![\w.,/:*+-])1 of (?:them ([a-z]+s)|\d+ (?:[a-z]+ ){1,3}(are|have|were|do))\b')
SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\bPRI([iduxX]\d+)')
LITERALS = re.compile(rf'(?:{LITERAL.pattern})(?:\s*(?:{LITERAL.pattern}))*')
COUNTED = re.compile(r'%[-*0-9.]*(?:ll|z|l|h)?[iud]\d* (?:of %[a-z]*u\d* )?(?:more |further )?([a-z]+s)\b(?!:)')
UNITS = {'bytes', 'ns', 'ms', 'seconds', 'pixels'} | NO_PLURALS
PERFS = {'sched.c', 'types.c', 'timehist.c', 'trace.c', 'kwork_top.c', 'stdio.c', 'text.c', 'code.c', 'events.c'}  # in src/output: perf's text
# What is never one.
SEVERAL = ('one for each of %zu recordings', 'cannot keep %zu recordings open', 'All %zu options', '1 of %', 'at most %d', 'more than %', '%zu parts would',
           '%zu ids do not fit', '%zu events are too many', 'counts of %d threads', '[ perf record: ', '%llu samples a second', 'the mappings of %u process%s')
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def faults_of(perfile, command, path):
    done = served.run([*WRAPPER, str(perfile), *command.split(), str(path)])
    for line in (done.stdout + done.stderr).decode(errors='replace').splitlines():
        for found in PLURAL.finditer(line):
            if (found[1] or found[2] or found[3]) not in NO_PLURALS:
                yield f'{command} {path}: {line.strip()[:160]}'


def faults_of_source(path):
    text = path.read_text()
    for found in LITERALS.finditer(text):
        joined = ''.join(part[0] or part[1] for part in LITERAL.findall(found[0]))
        for count in COUNTED.finditer(joined):
            if count[1] not in UNITS and not any(several in joined for several in SEVERAL):
                yield f'{path.relative_to(SOURCES)}:{text.count(chr(10), 0, found.start()) + 1}: {joined[:120]}'


def sources():
    for folder in 'src', 'cli':
        for path in sorted((SOURCES / folder).rglob('*.c')):
            if path.name not in PERFS or 'output' not in path.parts:
                yield path


def main():
    hermetic.settle()
    perfile, paths = hermetic.command_and_recordings(RECORDINGS, 1 << 20)
    faults = [fault for path in sources() for fault in faults_of_source(path)]
    faults += [fault for path in paths for command in COMMANDS for fault in faults_of(perfile, command, path)]
    print(*faults, sep='\n')
    print(f'{len(paths)} recordings, {len(faults)} faults')
    return 1 if faults or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
