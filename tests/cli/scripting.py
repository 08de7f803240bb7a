#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python scripts that were written for perf script get what perf's handlers get: scripting.py PERFILE ASSEMBLE"""
import os, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import hermetic

TRACING, = [line for line in (HERE.parent / 'golden' / 'tracepoint.golden').read_text().splitlines() if line.startswith('feature TRACING_DATA')]
RECORDING = f'''attr type=2 config=315 sample_type=IDENTIFIER|TID|TIME|CPU|RAW sample_id_all=1 ids=1 name="sched:sched_wakeup"
attr type=1 config=0 sample_period_or_freq=100 sample_type=IDENTIFIER|IP|TID|TIME|CPU|CALLCHAIN sample_id_all=1 ids=2 name="cpu-clock"
{TRACING}
feature EVENT_DESC
record COMM pid=7 tid=7 comm="make" | pid=7 tid=7 time=1 cpu=0 identifier=2
record MMAP misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename="/usr/bin/make" | pid=7 tid=7 time=2 cpu=0 identifier=2
record SWITCH misc=0x6000 | pid=7 tid=7 time=900000000 cpu=3 identifier=2
record THROTTLE time=950000000 id=2 stream_id=9 | pid=7 tid=7 time=950000000 cpu=3 identifier=2
sample identifier=1 pid=7 tid=7 time=1000000005 cpu=3 raw=u32:28,hex:3b010203070000006d616b650000000000000000000000002a000000
sample event=1 identifier=2 misc=2 ip=0x400010 pid=7 tid=7 time=2000000000 cpu=3 callchain=3,0xfffffffffffffe00,0x400010,0x500020
sample event=1 identifier=2 misc=2 ip=0x400010 pid=8 tid=8 time=3000000000 cpu=3 callchain=0
'''
SCRIPT = '''import os, sys
sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
from perf_trace_context import *
from Core import *
from Util import *
from EventClass import *

def trace_begin(): print('begin', sys.argv[1:], __name__)
def trace_end(): print('end')
def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, comm, pid,
                        perf_sample_dict):
    print(event_name, common_cpu, nsecs(common_secs, common_nsecs), common_pid, common_comm, common_callchain, comm, pid)
    print(common_flags(context), common_pc(context), common_lock_depth(context), perf_sample_dict['ev_name'], perf_sample_dict['raw_buf'][-4:])
def process_event(param):
    print(param['ev_name'], param['comm'], param['sample']['period'], param['sample']['cpu'], param['sample']['addr'], param.get('dso'))
    print(param['callchain'], param['raw_buf'], len(param['attr']), param['sample']['values'])
def throttle(*arguments): print('throttle', arguments)
def context_switch(*arguments): print('switch', arguments)
'''
EXPECTED = '''begin ['a', '--b'] __main__
switch (900000000, 3, 7, 7, -1, -1, -1, True, True, 0, -1)
throttle (950000000, 2, 9, 3, 7, 7)
sched__sched_wakeup 3 1000000005 7 make [] make 42
2 3 0 sched:sched_wakeup b'*\\x00\\x00\\x00'
cpu-clock make 100 3 0 /usr/bin/make
[{'ip': 4194320, 'dso': '/usr/bin/make'}, {'ip': 5242912}] b'' 144 [(0, 0, 0)]
cpu-clock :8 100 3 0 None
[] b'' 144 [(0, 0, 0)]
end
'''
UNHANDLED = '''def trace_unhandled(name, context, fields): print(name, fields)
'''
VALUES = '''from Core import *
define_flag_field('e', 'f', '|'); define_flag_value('e', 'f', 1, 'A'); define_flag_value('e', 'f', 2, 'B')
define_symbolic_field('e', 's'); define_symbolic_value('e', 's', 2, 'two')
print(flag_str('e', 'f', 3), symbol_str('e', 's', 2), trace_flag_str(3), taskState(1))
'''


class Setting:
    def __init__(self, perfile, assemble, folder):
        self.perfile, self.folder = perfile, folder
        self.recording = folder / 'x.data'
        self.recording.write_bytes(subprocess.run([assemble], input=RECORDING.encode(), stdout=subprocess.PIPE, check=True).stdout)
        self.scripts = folder / 'exec' / 'scripts' / 'python'
        (self.scripts / 'bin').mkdir(parents=True)
        self.environment = {**os.environ, 'PERF_EXEC_PATH': str(folder / 'exec')}

    def write(self, path, text):
        (self.folder / path).write_text(text)
        return str(self.folder / path)

    def run(self, *words, stdin=subprocess.DEVNULL):
        done = subprocess.run([self.perfile, 'script', *map(str, words)], cwd=self.folder, env=self.environment, stdin=stdin,
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr


def check_handlers(at):
    script = at.write('s.py', SCRIPT)
    status, out, reply = at.run('-s', script, '-i', at.recording, '--', 'a', '--b')
    assert (status, out) == (0, EXPECTED), (status, out, reply)
    with open(at.recording) as stdin:
        assert at.run('-s', script, '-i', '-', '--', 'a', '--b', stdin=stdin)[:2] == (0, EXPECTED)
    assert at.run('-s', script, '-i', at.recording, '--comms', 'nosuch')[1] == '\n'.join([
        "begin [] __main__", *EXPECTED.splitlines()[1:3], 'end', ''])
    assert at.run('-s', at.write('u.py', UNHANDLED), at.recording)[1] == (
        "sched__sched_wakeup {'common_cpu': 3, 'common_s': 1, 'common_ns': 5, 'common_pid': 7, 'common_comm': 'make', "
        "'common_callchain': [], 'comm': 'make', 'pid': 42}\n")
    assert at.run('-s', at.write('v.py', VALUES), at.recording)[1] == 'A | B two IRQS_OFF | IRQS_NOSUPPORT S\n'


def check_failures(at):
    """The exit status is the script's; nothing runs without a recording, and what is not there is named."""
    assert at.run('-s', at.write('f.py', 'import sys\nsys.exit(7)\n'), at.recording)[0] == 7
    status, out, reply = at.run('-s', at.write('e.py', 'def trace_begin(): 1 / 0\n'), at.recording)
    assert status == 1 and 'ZeroDivisionError' in reply, (status, reply)
    assert at.run('-s', 's.py', '-i', 'nosuch.data') == (1, '', 'perfile: nosuch.data: No such file or directory\n')
    assert at.run('-s', 'nosuch.py', at.recording)[0] == 2
    assert at.run('-g', 'perl', at.recording)[0] == 2


def check_generated(at):
    """What -g writes runs, with each field of the tracepoint."""
    assert at.run('-g', at.folder / 'made.py', at.recording) == (0, '', f'{at.folder}/made.py: handlers of 1 tracepoint\n')
    status, out, reply = at.run('-s', 'made.py', at.recording)
    assert status == 0 and 'sched__sched_wakeup      3 00001.000000005        7 make                 comm=make, pid=42' in out, (out, reply)
    assert 'cpu-clock make addr=0, cpu=3' in out and '\t500020' in out, out


def check_collection(at):
    """Scripts of perf by their names: listed, run, and recorded with a perf that is this program."""
    at.write('exec/scripts/python/show.py', SCRIPT)
    report, record = (at.scripts / 'bin' / f'show-{name}' for name in ('report', 'record'))
    report.write_text('#!/bin/bash\n# description: shows all\n# args: [word]\nperf script -s "$PERF_EXEC_PATH"/scripts/python/show.py -- "$@"\n')
    record.write_text('#!/bin/bash\nperf evlist "$@"\n')
    assert at.run('--list') == (0, '  show [word]                          shows all\n', '')
    assert at.run('-i', at.recording, 'report', 'show', 'a', '--b')[:2] == (0, EXPECTED)
    assert at.run('-s', 'show', '-i', at.recording, '--', 'a', '--b')[:2] == (0, EXPECTED)
    assert at.run('record', 'show', at.recording)[1].startswith('sched:sched_wakeup\ncpu-clock\n')
    assert at.run('report', 'nosuch')[0] == 2


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        at = Setting(os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(folder))
        check_handlers(at)
        check_failures(at)
        check_generated(at)
        check_collection(at)


main()
