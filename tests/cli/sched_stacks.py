#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sched timehist prints with which callchains tasks left their CPUs, as perf 7.2 does for the same recording."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tracepoints

hermetic.settle()
SCHED = 316
STATES = 'S D T t X Z P I'.split()
PRINT = ('"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, '
         'REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", '
         + ', '.join(f'{{ {hex(1 << at)}, "{letter}" }}' for at, letter in enumerate(STATES))
         + ') : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio')
DATA = tracepoints.tracing_data({'sched': [tracepoints.form('sched_switch', SCHED, tracepoints.SWITCH, PRINT)]})
NAMES = {0: '_text', 1: '__schedule', 2: 'schedule', 3: 'preempt_schedule', 4: 'do_nanosleep', 5: 'hrtimer_nanosleep', 6: 'common_nsleep',
         7: '__x64_sys_clock_nanosleep', 8: 'do_syscall_64', 9: 'entry_SYSCALL_64', 10: 'schedule_idle',
         11: 'preempt_schedule_common'}
BASE, USER, KERNEL = 0xffffffff81000000, -512, -128


def switch(time, before, after, chain, state=1):
    """From one (name, tid, priority) to another one; the chain belongs to numbers of NAMES, the leaf first, and other addresses."""
    raw = tracepoints.raw(SCHED, before[1], tracepoints.SWITCH,
                          (before[0], before[1], before[2], state, after[0], after[1], after[2]))
    ips = [hex(BASE + location * 0x1000 + 16) if location in NAMES else str(location) for location in chain]
    ips = [str(KERNEL), *ips] if ips else []
    return (f'sample misc=1 ip={hex(BASE + 0x1010)} pid={before[1]} tid={before[1]} time={time}000000 cpu=0 period=1 '
            f'callchain={",".join([str(len(ips)), *ips])} {raw}')


def description(deferred=False):
    idle, a, b = ('swapper/0', 0, 120), ('a', 10, 120), ('b', 11, 98)
    head = f'attr type=2 config={SCHED} sample_type=IP|TID|TIME|CPU|PERIOD|RAW|CALLCHAIN|IDENTIFIER sample_id_all=1'
    lines = [head + ' ids=1' + (' defer_callchain=1' if deferred else '') + ' name="sched:sched_switch"',
             'feature ARCH s:"x86_64"', 'feature NRCPUS u32:1,u32:1', f'feature TRACING_DATA hex:{DATA.hex()}',
             f'record MMAP pid=4294967295 tid=0 misc=1 addr={hex(BASE)} len=0x100000 pgoff={hex(BASE)} '
             'filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=0 cpu=0',
             *(f'record COMM pid={tid} tid={tid} comm="{name}" | pid={tid} tid={tid} time=0 cpu=0'
               for name, tid, _ in (a, b)),
             switch(1, idle, a, (1, 10)), switch(2, a, b, (1, 2, 4, 5, 6, 7, 8, 9, USER, 0x400010)),
             switch(3, b, a, (1, 3, 11, 8, USER, 0x400010), 0), switch(4, a, b, ()), switch(5, b, a, (1, 2, 8, USER, 0x400010))]
    if deferred:
        cookie = 77
        lines += [switch(6, a, b, (1, 2, 4, -640, cookie)), switch(7, b, a, (1, 2, 5)),
                  f'record CALLCHAIN_DEFERRED misc=2 cookie={cookie} nr=2 ips=-512,0x400010 | pid=10 tid=10 time=8000000 cpu=0']
    return '\n'.join(lines) + '\n'


def idle_description():
    """The CPU is idle after a sleep, a read, nothing that was recorded, and the scheduler's own functions."""
    idle, a, b = ('swapper/0', 0, 120), ('a', 10, 120), ('b', 11, 98)
    sleep, short, first = (1, 2, 4, 5, 6, 7, 8, 9, USER, 0x400010), (1, 2, 8, USER, 0x400010), (1, 10)
    events = ((1, idle, a, first), (2, a, idle, sleep), (5, idle, b, first), (6, b, idle, short), (8, idle, a, first),
              (9, a, b, (1, 3, 11, 8)), (10, b, idle, sleep), (11, idle, a, first), (12, a, idle, ()), (14, idle, b, first),
              (15, b, idle, (1, 2)), (17, idle, a, first), (18, a, b, short))
    head = [line for line in description().splitlines() if not line.startswith('sample')]
    return '\n'.join([*head, *(switch(*event) for event in events)]) + '\n'


IDLE = '''
Idle stats by callchain:
  CPU  0:    10.000  msec
  Idle time (msec)     Count  Callchains
  ----------------  --------  --------------------------------------------------
             4.000         2  do_nanosleep <- hrtimer_nanosleep <- common_nsleep <- __x64_sys_clock_nanosleep <- do_syscall_64
             2.000         1  do_syscall_64 <- 0x400010
             2.000         1  


    Total number of unique tasks: 2
'''
HEAD = '''\
           time    cpu  task name                       wait time  sch delay   run time
                        [tid/pid]                          (msec)     (msec)     (msec)
--------------- ------  ------------------------------  ---------  ---------  ---------
'''
ROWS = ('       0.001000 [0000]  <idle>                              0.000      0.000      0.000 ',
        '       0.002000 [0000]  a[10]                               0.000      0.000      1.000 ',
        '       0.003000 [0000]  b[11]                               0.000      0.000      1.000 ',
        '       0.004000 [0000]  a[10]                               1.000      0.000      1.000 ',
        '       0.005000 [0000]  b[11]                               1.000      1.000      1.000 ')


def main():
    perfile, assemble = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'kallsyms').write_text(''.join(f'{BASE + at * 0x1000:016x} T {name}\n' for at, name in NAMES.items()))
        for name, text in (('plain', description()), ('deferred', description(True)), ('idle', idle_description())):
            made = subprocess.run([*wrapper, assemble], input=text.encode(), capture_output=True, check=True)
            (folder / f'{name}.perf.data').write_bytes(made.stdout)

        def run(*words, recording='plain'):
            done = subprocess.run([*wrapper, perfile, 'sched', 'timehist', '-q', '--kallsyms', 'kallsyms', *words,
                                   f'{recording}.perf.data'], capture_output=True, cwd=folder, text=True)
            return done.stdout if done.returncode == 0 else f'status {done.returncode}: {done.stderr}'

        def check(what, got, wanted):
            nonlocal failed
            if got != wanted:
                failed += 1
                print(f'{what}:\n{got}\ninstead of:\n{wanted}')

        def rows(*chains):
            return HEAD + ''.join(row + chain + '\n' for row, chain in zip(ROWS, chains))

        sleep = '   do_nanosleep <- hrtimer_nanosleep <- common_nsleep <- __x64_sys_clock_nanosleep <- do_syscall_64'
        preempted, short = '   preempt_schedule_common <- do_syscall_64 <- [unknown]', '   do_syscall_64 <- [unknown]'
        check('timehist', run('--stdio'), rows('', sleep, preempted, '  ', short))
        check('-g', run('--stdio', '-g'), rows('', sleep, preempted, '  ', short))
        check('--max-stack', run('--stdio', '--max-stack', '1'),
              rows('', '   do_nanosleep', '   preempt_schedule_common', '  ', '   do_syscall_64'))
        check('--no-call-graph', run('--stdio', '--no-call-graph'), rows('', '', '', '', ''))
        check('--pid', run('--stdio', '--pid', '11'),
              HEAD + f'{ROWS[2]}{preempted}\n{ROWS[4]}{short}\n')
        got = run('--stdio', '-I', '-s', recording='idle')
        check('idle by callchain', got[got.find('\nIdle stats by'):got.find('Total number of context')], IDLE)
        subprocess.run([*wrapper, perfile, 'convert', '-q', '--mode', 'pipe', 'idle.perf.data', '-o', 'stream.perf.data'], cwd=folder,
                       capture_output=True, check=True)
        check('of a stream', run('--stdio', '-I', '-S', recording='stream'), run('--stdio', '-I', '-S', recording='idle'))
        check('without callchains', 'callchain' in run('--stdio', '-I', '-s', '--no-call-graph', recording='idle'), False)
        few = description().replace('NRCPUS u32:1,u32:1', 'NRCPUS u32:4,u32:4')
        made = subprocess.run([*wrapper, assemble], input=few.encode(), capture_output=True, check=True)
        (folder / 'few.perf.data').write_bytes(made.stdout)
        for verb in ('sched', 'summary'), ('offcpu',):
            for recording, wanted in (('few', True), ('plain', False)):
                done = subprocess.run([*wrapper, perfile, *verb, f'{recording}.perf.data'], capture_output=True, cwd=folder, text=True)
                check(f'{verb} of {recording}: CPUs', 'covers 1 of 4 CPUs' in done.stderr, wanted)
        # What comes later is not waited for: rows stay in order, and have what the kernel knew then.
        got = run('--stdio', recording='deferred').splitlines()[-2:]
        check('deferred', [line.partition('  do')[2] or line.partition('  hr')[2] for line in got], ['_nanosleep', 'timer_nanosleep'])
        stacks = [json.loads(line)['stack'] for line in run('--format', 'jsonl', '--columns', 'time,stack').splitlines()]
        check('table', stacks[:2] + stacks[3:4],
              [['__schedule', 'schedule_idle'],
               ['__schedule', 'schedule', 'do_nanosleep', 'hrtimer_nanosleep', 'common_nsleep', '__x64_sys_clock_nanosleep',
                'do_syscall_64', 'entry_SYSCALL_64', '[unknown]'], []])
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
