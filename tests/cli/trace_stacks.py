#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace prints callchains and page faults where they were recorded, as perf 7.2 does for the same recording."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tracepoints

hermetic.settle()
ENTER, EXIT = 401, 402
FIELDS = {ENTER: (('long', 'id', 8, 1), ('unsigned long', 'args[6]', 48, 0)), EXIT: (('long', 'id', 8, 1), ('long', 'ret', 8, 1))}
BASE, KERNEL, USER = 0xffffffff81000000, -128, -512
READ, CLOSE = 0, 3
TYPE = 'TID|TIME|CPU|PERIOD|RAW|CALLCHAIN|IDENTIFIER|IP'


def calls(time, number, call, value, chain=()):
    fields = (FIELDS[number][0], (*FIELDS[number][1][:2], FIELDS[number][1][2], 0))
    ips = [str(KERNEL), hex(BASE + 0x10), str(USER), *map(hex, chain)] if chain else []
    return (f'sample event={number - ENTER} misc=1 ip={hex(BASE + 0x10)} pid=7 tid=7 time={time}000 cpu=1 period=1 '
            f'callchain={",".join([str(len(ips)), *ips])} {tracepoints.raw(number, 7, fields, (call, value))}')


def fault(time, ip, address, event=2, misc=2):
    return f'sample event={event} misc={misc} ip={hex(ip)} pid=7 tid=7 time={time}000 cpu=1 period=1 addr={hex(address)}'


def description():
    forms = [tracepoints.form('sys_enter', ENTER, FIELDS[ENTER]), tracepoints.form('sys_exit', EXIT, FIELDS[EXIT])]
    lines = [f'attr type=2 config={number} ids={number - ENTER + 1} sample_type={TYPE} sample_id_all=1 name="raw_syscalls:{name}"'
             for number, name in ((ENTER, 'sys_enter'), (EXIT, 'sys_exit'))]
    lines += [f'attr type=1 config={config} ids={config} sample_type=IP|TID|TIME|ADDR|CPU|PERIOD|IDENTIFIER sample_id_all=1 '
              f'name="{name}"' for config, name in ((5, 'minor-faults'), (6, 'major-faults'))]
    lines += ['feature ARCH s:"x86_64"', 'feature NRCPUS u32:2,u32:2',
              f'feature TRACING_DATA hex:{tracepoints.tracing_data({"raw_syscalls": forms}).hex()}',
              f'record MMAP pid=4294967295 tid=0 misc=1 addr={hex(BASE)} len=0x100000 pgoff={hex(BASE)} '
              'filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=0 cpu=0',
              'record COMM pid=7 tid=7 comm="a" | pid=7 tid=7 time=0 cpu=0',
              'record MMAP2 pid=7 tid=7 misc=2 addr=0x7f00400000 len=0x10000 pgoff=0x1000 prot=5 flags=2 filename="/nowhere/a" '
              '| pid=7 tid=7 time=0 cpu=0',
              'record MMAP2 pid=7 tid=7 misc=2 addr=0x7f00500000 len=0x10000 pgoff=0 prot=3 flags=2 filename="//anon" '
              '| pid=7 tid=7 time=0 cpu=0']
    return '\n'.join([*lines, calls(1000, ENTER, READ, 3), calls(1005, EXIT, READ, 64, (0x7f00400010, 0x7f00400020)),
                      fault(1010, 0x7f00400030, 0x7f00500123), calls(1020, ENTER, CLOSE, 3), fault(1021, BASE + 0x20, 0x7f00400100, 3, 1),
                      calls(1025, EXIT, CLOSE, 0, (0x7f00400040,)), fault(1030, 0x7f00600000, 0x7f00700000),
                      fault(1035, 0x7f00400050, 0x7f00400060, 3)]) + '\n'


TEXT = '''\
     0.000 ( 0.005 ms): a/7 read(fd: 3)                                                           = 64
                                       leave ([kernel.kallsyms])
                                       [0x1010] (/nowhere/a)
                                       [0x1020] (/nowhere/a)
     0.010 ( 0.000 ms): a/7 minfault [0x1030] => //anon@0x7f00500123 (d.)
     0.021 ( 0.000 ms): a/7 majfault [copy+0x0] => 0x7f00400100 (?k)
     0.020 ( 0.005 ms): a/7 close(fd: 3)                                                          = 0
                                       leave ([kernel.kallsyms])
                                       [0x1040] (/nowhere/a)
     0.030 ( 0.000 ms): a/7 minfault [0x7f00600000] => 0x7f00700000 (?.)
     0.035 ( 0.000 ms): a/7 majfault [0x1050] => /nowhere/a@0x1060 (d.)
'''
SHORT = ''.join(line for line in TEXT.splitlines(True) if '/nowhere/a)' not in line)
CALLS = ''.join(line for line in SHORT.splitlines(True) if '(' in line[:20] and 'fault' not in line)


def main():
    perfile, assemble = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else folder)
        (folder / 'kallsyms').write_text(f'{BASE:016x} T _text\n{BASE + 0x10:016x} T leave\n{BASE + 0x20:016x} T copy\n')
        made = subprocess.run([*wrapper, assemble], input=description().encode(), capture_output=True, check=True)
        (folder / 'a.perf.data').write_bytes(made.stdout)

        def run(*words):
            done = subprocess.run([*wrapper, perfile, 'trace', '-q', '--kallsyms', 'kallsyms', *words, 'a.perf.data'],
                                  capture_output=True, cwd=folder, text=True)
            return done.stdout if done.returncode == 0 else f'status {done.returncode}: {done.stderr}'

        checks = (('lines', run(), TEXT), ('--max-stack', run('--max-stack', '1'), SHORT),
                  ('--min-stack', run('--min-stack', '3', '-e', '*'), TEXT[:TEXT.index('     0.010')]),
                  ('--no-call-graph', run('--no-call-graph'), CALLS),
                  ('--no-syscalls', [line.split()[5] for line in run('--no-syscalls').splitlines() if '(' in line[:20]],
                   ['minfault', 'majfault', 'minfault', 'majfault']),
                  ('-s', run('-s').splitlines()[3], ' a (7), 8 events, 100.0%, 2 majfaults, 2 minfaults'),
                  ('--max-events', run('--max-events', '2'), TEXT[:TEXT.index('     0.021')]))
    return hermetic.differing(checks)


if __name__ == '__main__':
    sys.exit(main())
