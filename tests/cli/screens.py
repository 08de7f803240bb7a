#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""screens.py PERFILE SOURCE [--update]: the first screens of the views, on terminals of 80x24 and 40x20.

No line is wider than the terminal, and the columns that answer what the help promises are there. Those that doc/first-minute.md shows
are compared with it; --update writes them there.
"""
import fcntl, os, pathlib, pty, re, select, struct, subprocess, sys, termios, time, unicodedata

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import terminals

SIZES = (80, 24), (40, 20)
DOCUMENT = 'doc/first-minute.md'
BLOCK = re.compile(r'    \$ perfile (.*)\n\n((?:    .*\n)+)')
# the command, and what its first screen must have even in 40 columns
DEMO, BUILT = '../../examples/demo.perf.data', '../../examples/workload.perf.data'
SYMBOLS = '--symfs ../../examples/symfs'
SCREENS = [
    (f'info {DEMO}', 'captured kernel memory'),
    (f'report --sort comm,dso {DEMO}', 'Self Command'),
    (f'annotate {SYMBOLS} --top 1 merge {BUILT}', 'Percent Address'),
    (f'script -F comm,tid,time,event,ip {DEMO}', 'sh page-faults:'),
    (f'flame --format folded {SYMBOLS} {BUILT}', 'workload;[libc.so.6];main;count_words'),
    ('sched latency sched-tiny2.perf.data', 'comm avg max'),
    ('sched timehist sched-tiny2.perf.data', 'time comm run'),
    ('sched map sched-tiny2.perf.data', 'time cpu next_comm'),
    ('sched summary sched-tiny2.perf.data', 'comm run delay'),
    ('sched cpu sched-tiny2.perf.data', 'cpu busy idle_percent'),
    ('offcpu offcpu-cs.perf.data', 'comm total [kernel];[wl];[libc.so.6]'),
    ('offcpu --wakers sched-tiny2.perf.data', 'comm woken_comm total'),
    ('lock contention --kallsyms lock.kallsyms lock.perf.data', 'caller total'),
    ('lock report lock.perf.data', 'lock total'),
    ('kmem stat kmem-slab.perf.data', 'caller allocated'),
    ('kmem stat --page kmem-page.perf.data', 'caller allocated'),
    ('kwork report kwork.perf.data', 'name run_total'),
    ('kwork latency kwork.perf.data', 'name wait_average'),
    ('kwork timehist kwork.perf.data', 'time duration'),
    ('kwork top sched-tiny2.perf.data', 'comm share run'),
    ('trace -s trace-raw.perf.data', 'syscall total'),
    ('mem report mem-made.perf.data', 'Overhead Symbol'),
    ('c2c report mem-made.perf.data', 'line sharing hitm'),
    ('c2c accesses mem-made.perf.data', 'line ip hitm'),
    (f'diff {SYMBOLS} {BUILT} {BUILT}', 'after total unsure merge'),
    ('stat report stat.perf.data', 'msec task-clock'),
    ('stat report stat-interval.perf.data', 'msec task-clock'),
    ('table block_latency block.perf.data', 'dev total'),
    ('table page_faults two-events.perf.data', 'faults'),
    ('table functions two-events.perf.data', 'event overhead_children'),
    (f'table maps {DEMO}', 'pid filename'),
    (f'query top {DEMO}', 'event weight'),
    (f'check {DEMO}', 'valid: samples complete,'),
    (f'evlist {DEMO}', 'cpu-clock page-faults'),
    (f'dump {DEMO}', 'header data'),
    (f'buildid-list {DEMO}', '/usr/bin/gzip'),
    (f'repair -o /dev/null {DEMO}', '/dev/null: records kept,'),
    (f'convert -o /dev/null {DEMO}', '/dev/null: records kept,'),
    (f'cut --time 0%-50% -o /dev/null {DEMO}', '/dev/null: records kept,'),
    (f'anonymize -o /dev/null {DEMO}', '/dev/null: records kept,'),
    (f'inject --strip -o /dev/null {DEMO}', '/dev/null: records kept,'),
    ('help', 'Usage: Verbs: record stat'),
    ('help sched', 'Usage:'),
]
# Lines of perf's formats and of data are not for a width: the pager cuts them, and scrolls to the right.
WIDE = 'info', 'script', 'flame', 'annotate', 'report', 'mem', 'check', 'dump', 'buildid-list'
# Sentences that 40 columns may break; they fit 80.
SENTENCES = 'repair', 'convert', 'cut', 'anonymize', 'inject', 'help'
failures = []


def expect(fact, *words):
    if not fact:
        failures.append(words)
        print('---', *words)


def run(perfile, folder, command, columns, rows):
    """What is on the terminal in the end, without the bar of progress."""
    control, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    process = subprocess.Popen([perfile, '--no-pager', *command.split()], cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                               env=hermetic.environment(TERM='xterm', NO_COLOR='1'))
    os.close(slave)
    seen = b''.join(terminals.pieces(control, 60))
    os.close(control)
    status = process.wait(60)
    expect(status < 2, command, columns, 'ends with', status)
    return terminals.without_bar(seen).decode().replace('\r\n', '\n').splitlines()


def width(line):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in 'WF') for c in line)


def cut(line, columns):
    """As the pager shows it."""
    return line if width(line) <= columns else line[:columns - 1] + '>'


def as_block(lines, columns, rows):
    return ''.join(f'    {cut(line.expandtabs(), columns)}'.rstrip() + '\n' for line in lines[:rows - 1] if line.strip())


def check(perfile, data):
    """The screens by their commands."""
    screens = {}
    for command, promised in SCREENS:
        for columns, rows in SIZES:
            lines = run(perfile, data, command, columns, rows)
            wide = [line for line in lines if width(line) > columns]
            heads = ' '.join(line for line in lines[:12])
            expect(not wide or command.split()[0] in (WIDE if columns == 80 else WIDE + SENTENCES), command, f'is wider than {columns}:', wide[:1])
            expect(set(promised.split()) <= set(heads.split()), command, f'in {columns} columns has no', promised, lines[:3])
            screens[command + ('' if columns == 80 else f' # {columns} columns')] = as_block(lines, columns, rows)
    return screens


def main():
    hermetic.settle()
    perfile, source = hermetic.runnable(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    path = source / DOCUMENT
    screens = check(perfile, source / 'tests/data')
    document = path.read_text(encoding='utf-8')
    count = len(BLOCK.findall(document))
    current = BLOCK.sub(lambda block: f'    $ perfile {block[1]}\n\n{screens[block[1]]}', document)
    if '--update' in sys.argv:
        path.write_text(current, encoding='utf-8')
    else:
        expect(current == document, DOCUMENT, 'is not what is printed: screens.py PERFILE SOURCE --update')
    expect(count > 5, 'only', count, 'screens in', DOCUMENT)
    print(f'{len(SCREENS)} views on {len(SIZES)} terminals, {count} screens in {DOCUMENT}; {len(failures)} facts are wrong')
    sys.exit(len(failures) > 0)


if __name__ == '__main__':
    main()
