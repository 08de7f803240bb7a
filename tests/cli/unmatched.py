#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters that match nothing say so, and functions go by their short names: unmatched.py PERFILE ASSEMBLE"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

FUNCTION = 'double geometry::Shape<int>::compute<int (*)(int)>(double) const'
RECORDING = f'''attr type=1 config=0 sample_type=IP|TID|TIME|CPU|PERIOD sample_id_all=1 ids=1 name="cpu-clock:u"
attr type=1 config=2 sample_type=IP|TID|TIME|CPU|PERIOD sample_id_all=1 ids=2 name="page-faults"
feature EVENT_DESC
record COMM pid=7 tid=7 comm="gzip" | pid=7 tid=7 time=1 cpu=0
record COMM pid=8 tid=8 comm="sort" | pid=8 tid=8 time=1 cpu=0
record MMAP misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename="/usr/bin/gzip" | pid=7 tid=7 time=2 cpu=0
record KSYMBOL addr=0xffffffffc0001000 len=0x100 ksym_type=1 flags=0 name="{FUNCTION}" | pid=7 tid=7 time=2 cpu=0
sample misc=1 ip=0xffffffffc0001010 pid=7 tid=7 time=1000000000 cpu=0 period=1
sample misc=2 ip=0x400010 pid=8 tid=8 time=2000000000 cpu=1 period=1
'''
# filter: what is stated of it, and whether its samples are left
FILTERS = {
    '--comms nosuch': ('no samples of a thread named "nosuch"; there are sort, gzip', False),
    '--comms gzpi': ('no samples of a thread named "gzpi"; did you mean gzip?', False),
    '--comms sort,nosuch': ('no samples of a thread named "nosuch"; there are sort, gzip', True),
    '--cpu 9': ('no samples on CPU 9', False),
    '--pid 1,2': ('no samples of process 1,2', False),
    '--tid 3': ('no samples of thread 3', False),
    '--time 5,6': ('no samples in the time range "5,6"', False),
    '--cpu 1,9': ('', True),
    '--events cpu-clock': ('', True),
    '--events page-faults': ('no samples of event "page-faults"', False),
    '--comms gzip --cpu 1': (None, False),
    '--time 5,6 --comms gzip': ('no samples in the time range "5,6"', False),
}
REPORT = {
    '--dsos nosuch': 'no samples in file "nosuch"; there are ',
    '--symbols comput': 'no samples in function "comput"',
    '--symbol-filter nosuch': 'no samples in a function whose name has "nosuch"',
    '--comms nosuch --symbols nosuch': 'no samples of a thread named "nosuch"; there are sort, gzip',
}
# of other verbs: what is stated of a recording of tests/data, or '' where something is left
OTHERS = {
    **{f'sched {view}{stdio} {filters} sched-tiny1': reply
       for view in ('timehist', 'latency', 'map', 'summary', 'cpu')
       for stdio in (('', ' --stdio') if view in ('timehist', 'latency', 'map') else ('',))
       for filters, reply in {'--time 1,2': 'no samples in the time range "1,2"', '--cpu 9': 'no samples on CPU 9',
                             '--comms nosuch': 'no samples of a thread named "nosuch"; there are',
                             '--time 0,1': ''}.items()},
    'offcpu --time 1,2 offcpu-cs': 'no samples in the time range "1,2"', 'offcpu --time 4236,4238 offcpu-cs': '',
    'trace -e nosuch trace-raw': 'no system call passes the list "nosuch"', 'trace -e nosuch,read trace-raw': '',
    'trace -s -e nosuch trace-raw': 'no system call passes the list "nosuch"',
}
QUERIES = {
    ('--comms nosuch', 'SELECT count(*) FROM samples'): 'no samples of a thread named "nosuch"; there are sort, gzip',
    ('--comms nosuch', 'SELECT count(*) FROM samples a JOIN samples b'): 'no samples of a thread named "nosuch"; there are sort, gzip',
    ('--cpu 9', 'SELECT count(*) FROM samples'): 'no samples on CPU 9',
    ('--time 5,6', 'SELECT count(*) FROM samples'): 'no samples in the time range "5,6"',
    ('--cpu 0', 'SELECT count(*) FROM samples'): '', ('--cpu 0', 'SELECT count(*) FROM samples WHERE pid = 99'): '',
}
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
SHORT = ['compute', 'compute<int (*)(int)>', 'geometry::Shape<int>::compute', FUNCTION, FUNCTION[len('double '):],
         'geometry::Shape<int>::compute<int (*)(int)>']
VERBS = ['report', 'report --format csv', 'report --format json', 'script', 'script -j 1', 'flame --format folded',
         'cut -o made', 'cut --split cpu -o made.%d']

failures = []


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}: {detail!r}')


def main():
    hermetic.settle()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, pathlib.Path(program).resolve()] for program in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix='perfile-unmatched-') as name:
        for file, options in ('file', []), ('pipe', ['--pipe']):
            made = subprocess.check_output([*assemble, *options], input=RECORDING.encode())
            (pathlib.Path(name) / file).write_bytes(made)

        def run(*arguments):
            done = served.run([*perfile, *arguments], cwd=name, text=True)
            return done.returncode, done.stdout, done.stderr

        for file in 'file', 'pipe':
            for verb in VERBS:
                if file == 'pipe' and verb.startswith('cut'):
                    continue
                for filters, (reply, some) in FILTERS.items():
                    status, _, error = run(*verb.split(), *filters.split(), file)
                    wanted = f'perfile: {file}: {reply}\n' if reply else ''
                    if reply is None: # the filters of report come one after the other
                        wanted = f'perfile: {file}: ' + ('no samples of a thread named "gzip"; there are sort\n'
                                                         if 'report' in verb else 'no sample passes all filters at once\n')
                    nothing = verb.startswith('flame') and not some
                    if nothing:
                        wanted += f'perfile: {file}: flame graph: no sample passes the filters\n'
                    expect(f'{verb} {filters} {file}', error == wanted and status == (2 if nothing else 0), (status, error))
                status, _, error = run(*verb.split(), '-e', 'page-fault', file)
                expect(f'{verb} -e page-fault {file}', status == 2 and 'unknown event "page-fault"; did you mean '
                       'page-faults? (valid: cpu-clock:u page-faults)' in error, (status, error))
        for filters, reply in REPORT.items():
            status, _, error = run('report', *filters.split(), 'file')
            expect(f'report {filters}', status == 0 and error.startswith(f'perfile: file: {reply}') and
                   error.count('\n') == 1, (status, error))
        for words, reply in OTHERS.items():
            *words, recording = words.split()
            path = str(DATA / f'{recording}.perf.data')
            status, _, error = run(*words, path)
            heard = [line for line in error.splitlines() if ': no samples ' in line or ': no system call ' in line]
            expect(f'{words} {recording}', status == 0 and len(heard) == bool(reply) and
                   (not reply or heard[0].startswith(f'perfile: {path}: {reply}')), (status, error))
        for (filters, statement), reply in QUERIES.items():
            status, _, error = run('query', *filters.split(), statement, 'file')
            if 'has no SQLite' in error:
                break
            expect(f'query {filters} {statement}', status == 0 and error == (f'perfile: file: {reply}\n' if reply else ''),
                   (status, error))
        for short in SHORT:
            status, text, error = run('report', '--format', 'csv', '--sort', 'comm', '--symbols', short, 'file')
            expect(f'--symbols {short}', status == 0 and error == '' and 'gzip' in text and 'sort' not in text,
                   (status, text, error))
    sys.exit(f'{len(failures)} facts are wrong' if failures else 0)


if __name__ == '__main__':
    main()
