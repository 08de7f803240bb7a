#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kwork top prints what perf 7.2 prints for the same recording, but for an interrupt within a softirq, which perf counts twice."""
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
SWITCH, IRQ, IRQ_END, SOFTIRQ, SOFTIRQ_END = range(301, 306)
FIELDS = {SWITCH: tracepoints.SWITCH, IRQ: (('int', 'irq', 4, 1), ('__data_loc char[]', 'name', 4, 0)),
          IRQ_END: (('int', 'irq', 4, 1), ('int', 'ret', 4, 1)), SOFTIRQ: (('unsigned int', 'vec', 4, 0),),
          SOFTIRQ_END: (('unsigned int', 'vec', 4, 0),)}
NAMES = {SWITCH: 'sched:sched_switch', IRQ: 'irq:irq_handler_entry', IRQ_END: 'irq:irq_handler_exit', SOFTIRQ: 'irq:softirq_entry',
         SOFTIRQ_END: 'irq:softirq_exit'}
TASKS = {10: 'a', 11: 'b', 12: 'c'}


def head():
    systems = {}
    for number, name in NAMES.items():
        system, _, event = name.partition(':')
        systems.setdefault(system, []).append(tracepoints.form(event, number, FIELDS[number]))
    lines = [f'attr type=2 config={number} ids={number - 300} sample_type=TID|TIME|CPU|PERIOD|RAW|IDENTIFIER sample_id_all=1 '
             f'name="{name}"' for number, name in NAMES.items()]
    return [*lines, 'feature ARCH s:"x86_64"', 'feature NRCPUS u32:2,u32:2',
            f'feature TRACING_DATA hex:{tracepoints.tracing_data(systems).hex()}']


def event(time, cpu, tid, number, *values):
    if number == SWITCH:
        values = (TASKS.get(tid, f'swapper/{cpu}'), tid, 120, 1, TASKS.get(values[0], f'swapper/{cpu}'), values[0], 120)
    elif number == IRQ:
        values = (*values, 16 | 4 << 16)
    return (f'sample event={number - SWITCH} misc=1 pid={tid} tid={tid} time={time} cpu={cpu} period=1 ' +
            tracepoints.raw(number, tid, FIELDS[number], values))


EVENTS = ((1_000_000, 0, 0, SWITCH, 10), (1_000_500, 1, 0, SWITCH, 11), (2_000_000, 0, 10, IRQ, 5), (2_100_000, 0, 10, IRQ_END, 5, 1),
          (3_000_000, 0, 10, SOFTIRQ, 9), (3_250_000, 0, 10, SOFTIRQ_END, 9), (4_000_000, 0, 10, SWITCH, 0),
          (5_000_000, 0, 0, IRQ, 6), (5_010_000, 0, 0, IRQ_END, 6, 1), (6_000_000, 1, 11, SWITCH, 10), (7_000_000, 0, 0, SWITCH, 12),
          (7_777_777, 1, 10, SWITCH, 0), (8_000_000, 0, 12, SWITCH, 0), (9_000_000, 1, 0, SWITCH, 11))
# The interrupt takes 20 us of the softirq; b leaves CPU 0, to which it did not come.
NESTED = ((10_000_000, 1, 11, SOFTIRQ, 1), (10_010_000, 1, 11, IRQ, 5), (10_030_000, 1, 11, IRQ_END, 5, 1),
          (10_100_000, 1, 11, SOFTIRQ_END, 1), (11_000_000, 1, 11, SWITCH, 0), (12_000_000, 0, 11, SWITCH, 10),
          (13_000_000, 0, 10, SWITCH, 0))
TEXT = '''
Total  :     14.999 ms, 2 cpus
%Cpu(s):  28.08% id,   0.73% hi,   1.67% si
%Cpu0   [|||||||||||||||                 52.14%]
%Cpu1   [|||||||||||||||||||||||||       84.72%]

      PID    %CPU           RUNTIME  COMMAND         
  ----------------------------------------------------
       11   62.49          5.000 ms  b               
       10   60.07          4.428 ms  a               
        0   42.71          2.990 ms  swapper/0       
        0   15.27          1.222 ms  swapper/1       
       12   14.28          1.000 ms  c               

'''
OF_A = '''
Total  :     14.999 ms, 2 cpus
%Cpu(s):  28.08% id,   0.73% hi,   1.67% si
%Cpu0   [|||||||||||                     37.85%]
%Cpu1   [||||||                          22.22%]

      PID    %CPU           RUNTIME  COMMAND         
  ----------------------------------------------------
       10   60.07          4.428 ms  a               

'''
ROWS = [[11, 'b', None, 68.99, 6899500, 20000, 80000], [10, 'a', None, 63.39, 5427777, 100000, 250000],
        [0, 'swapper/0', 0, 37.37, 2990000, 10000, 0], [12, 'c', None, 12.5, 1000000, 0, 0],
        [0, 'swapper/1', 1, 12.22, 1222223, 0, 0]]


def main():
    perfile, assemble = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    with tempfile.TemporaryDirectory() as folder:
        for name, events in (('plain', EVENTS), ('nested', EVENTS + NESTED)):
            text = '\n'.join([*head(), *(event(*one) for one in events)]) + '\n'
            made = subprocess.run([*wrapper, assemble], input=text.encode(), capture_output=True, check=True)
            pathlib.Path(folder, f'{name}.perf.data').write_bytes(made.stdout)

        def run(name, *words):
            done = subprocess.run([*wrapper, perfile, 'kwork', 'top', *words, f'{name}.perf.data'], capture_output=True,
                                  cwd=folder, text=True)
            return done.stdout, done.stderr, done.returncode

        def tids(*words):
            return [json.loads(line)['tid'] for line in run('plain', '--format', 'jsonl', *words)[0].splitlines()]

        rows, heard, _ = run('nested', '--format', 'json', '--columns', 'tid,comm,cpu,share,run_ns,irq_ns,softirq_ns')
        checks = (
            ('text', run('plain', '--stdio'), (TEXT, '', 0)), ('-n', run('plain', '--stdio', '-n', 'a'), (OF_A, '', 0)),
            ('table', json.loads(rows)['rows'], ROWS),
            ('a run without an end', '1 runs of tasks have no end' in heard, True),
            ('-s tid', tids('-s', 'tid'), [0, 0, 10, 11, 12]), ('-C', tids('-C', '1'), [11, 10, 0]),
            ('-k', run('plain', '--stdio', '-k', 'sched')[0].splitlines()[2], '%Cpu(s):  28.15% id,   0.00% hi,   0.00% si'),
            ('--pid', run('plain', '--pid', '10')[2], 2), ('--pid --stdio', run('plain', '--stdio', '--pid', '10')[2], 2),
            ('unknown key', run('plain', '-s', 'avg')[1],
             "perfile: kwork: sort: unknown key 'avg'; valid: rate, runtime, tid\n"))
    return hermetic.differing(checks)


if __name__ == '__main__':
    sys.exit(main())
