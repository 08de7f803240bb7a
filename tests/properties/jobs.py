#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jobs.py [--samples | --events] PERFILE RECORDINGS...: what is printed is the same for every number of threads.

Output, messages and exit status of `-j1` are compared with those of other numbers, byte for byte. Recordings are files
or folders; without any, those of the corpus. With --samples only what resolves samples is
tried: enough for recordings that have many of them. With --events it is what views over tracepoints print.
"""
import os, pathlib, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

TASKS = [['report'], ['report', '--no-children', '--call-graph', 'callee,fractal,0', '--format', 'json'],
         ['report', '--sort', 'dso', '--symbols', 'main', '--format', 'csv'],
         ['report', '--sort', 'srcline,cpu,symoff', '--no-group', '-n'], ['report', '--sort', 'time,tid,sym'],
         ['report', '-H', '--sort', 'dso,sym,comm', '--percent-limit', '0.1'],
         ['flame', '--format', 'folded'], ['flame', '--format', 'html'], ['flame', '--format', 'svg'], ['dump'], ['dump', '--format', 'json'],
         ['dump', '--format', 'json', '--max-bytes', 'unlimited', '--strict'], ['script'],
         ['script', '--ns', '-F', '+symoff,+dsoff', '--show-task-events', '--show-mmap-events', '--show-switch-events',
          '--show-lost-events', '--show-bpf-events', '--show-cgroup-events', '--show-round-events'],
         ['script', '-F', 'comm,pid,cpu,time,misc,event,ip,sym,srcline'],
         ['script', '-F', 'comm,ip'], ['script', '-F', 'tid,ip,brstacksym,uregs,iregs', '--no-inline'],
         ['script', '-F', 'ip,sym,brstackinsn,srccode'],
         ['script', '-F', 'comm,event,data_src,addr,insn,disasm'], ['script', '--strict', '--time', '20%-70%'],
         ['script', '-F', 'comm,event,cgroup', '--comms', 'sh,perf,sleep,stress'],
         ['script', '--full-source-path', '-F', '+srcline'], ['script', '--format', 'json'],
         ['table', '--columns', 'all', 'samples'], ['table', '--format', 'csv', 'records'],
         ['table', '--format', 'parquet', '--columns', '+stack_id', 'samples']]
SAMPLES = [['report', '--format', 'json'], ['report', '--sort', 'cpu,tid,sym', '--percent-limit', '0.1'],
           ['flame', '--format', 'folded'], ['flame', '--format', 'html'], ['flame', '--format', 'svg'],
           ['flame', '--format', 'folded', '--by', 'cpu,pid'], ['flame', '--format', 'folded', '--by', 'cpu,tid'],
           ['flame', '--format', 'svg', '--reverse'], ['script', '-F', 'comm,time,ip,sym'],
           ['table', '--format', 'jsonl', '--columns', 'all', 'samples'],
           ['table', '--format', 'parquet', '--columns', '+stack_id', 'samples'], ['table', '--format', 'arrow', 'samples']]
EVENTS = [['sched', 'timehist', '--stdio'], ['sched', 'timehist', '--stdio', '-s'], ['sched', 'timehist', '--stdio', '-Mw', '--next'],
          ['sched', 'map', '--stdio'], ['sched', 'map', '--stdio', '--compact'], ['sched', 'latency', '--stdio'],
          ['trace', '--stdio'], ['trace', '--stdio', '-S'], ['trace', '--stdio', '-s'], ['trace', '--stdio', '--max-events', '3000'],
          ['trace', '--stdio', '--duration', '0.001', '-T'], ['trace', '--stdio', '--failure', '-e', '!read'],
          *[['table', '--format', name, '--columns', 'all', view] for view in ('sched_timehist', 'sched_map', 'syscalls')
            for name in ('csv', 'json', 'parquet')],
          ['table', '--format', 'arrow', 'syscalls'], ['trace', '--format', 'json', '--max-events', '3000'],
          ['table', '--format', 'json', 'sched_latency'], ['table', '--format', 'json', '--cpu', '0', 'sched_summary'],
          ['table', '--format', 'json', '--cpu', '0', 'syscalls'], ['table', '--format', 'csv', 'syscall_summary']]
JOBS = ['2', '3', '8']
TIMEOUT_SECONDS = 60
RECORDINGS = 20  # of the corpus, unless all are asked for
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def run(words, recording, environment):
    done = served.run([*WRAPPER, *words, recording], env=environment, timeout=TIMEOUT_SECONDS)
    return done.returncode, done.stdout, done.stderr


def of_corpus():
    files = hermetic.corpus_recordings(RECORDINGS, sys.maxsize)
    return [str(path) for path in hermetic.with_folders(files) if hermetic.is_recording(path)]


def main():
    hermetic.settle()
    words = sys.argv[1:]
    tasks = {'--samples': SAMPLES, '--events': EVENTS}.get(words[0], TASKS)
    perfile, *supplied = words if tasks is TASKS else words[1:]
    recordings = supplied or of_corpus()
    wrong = printed = 0
    with tempfile.TemporaryDirectory() as cache:
        environment = hermetic.environment(XDG_CACHE_HOME=cache)
        for recording in recordings:
            for task in tasks:
                expected = run([perfile, *task, '-j1'], recording, environment)
                printed += len(expected[1])
                for jobs in JOBS:
                    if run([perfile, *task, '-j', jobs], recording, environment) != expected:
                        print(f'{" ".join(task)} -j{jobs} {recording}: not what -j1 prints')
                        wrong += 1
    print(f'{len(recordings)} recordings, {printed} bytes, {wrong} differences')
    return 1 if wrong or not printed else 0


if __name__ == '__main__':
    sys.exit(main())
