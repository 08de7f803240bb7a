#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jobs.py [--samples] PERFILE RECORDINGS...: what is printed is the same for every number of threads.

Output, messages and exit status of `-j1` are compared with those of other numbers, byte for byte. Recordings are files
or folders; without any, those in the folder that PERFILE_CORPUS names. With --samples only what resolves samples is
tried: enough for recordings that have many of them.
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
JOBS = ['2', '3', '8']
TIMEOUT_SECONDS = 60
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def run(words, recording, environment):
    done = served.run([*WRAPPER, *words, recording], env=environment, timeout=TIMEOUT_SECONDS)
    return done.returncode, done.stdout, done.stderr


def is_recording(path):
    if path.is_dir():
        return (path / 'data').is_file()
    with open(path, 'rb') as file:
        return file.read(8) in (b'PERFILE2', b'2ELIFREP')


def recordings_below(folder):
    for path in sorted(pathlib.Path(folder).rglob('*')):
        inside = path.parent.is_dir() and (path.parent / 'data').is_file()
        if not inside and (path.is_dir() or path.is_file()) and is_recording(path):
            yield str(path)


def main():
    hermetic.settle()
    words = sys.argv[1:]
    tasks = SAMPLES if words[0] == '--samples' else TASKS
    perfile, *given = words[1:] if tasks is SAMPLES else words
    if not given and not os.environ.get('PERFILE_CORPUS'):
        return hermetic.no_corpus()
    recordings = given or list(recordings_below(os.environ['PERFILE_CORPUS']))
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
