#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples that do not say what a filter asks for stay, and are reported: filters.py PERFILE ASSEMBLE"""
import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

RECORDING = '''attr type=1 config=2 sample_type=IP|TID|TIME|CPU|IDENTIFIER ids=1 sample_id_all=1 name="page-faults"
attr type=1 config=3 sample_type=IP|IDENTIFIER ids=2 sample_id_all=1 name="context-switches"
feature EVENT_DESC
feature CLOCK_DATA u32:1,u32:1,1795837380000000000,1000000000
record COMM pid=7 tid=7 comm="sh" | pid=7 tid=7 time=1
sample event=0 ip=0x401000 pid=7 tid=7 time=1000000000 cpu=0
sample event=1 ip=0x402000
sample event=0 ip=0x403000 pid=7 tid=7 time=2000000000 cpu=1
sample event=1 ip=0x404000
sample event=0 ip=0x405000 pid=7 tid=7 time=3000000000 cpu=1
'''
ZONE = 'JST-9'  # in which the clock of the records showed 1 s at 12:43:00
# what is asked for, how many samples of page-faults match it, and what is stated of the others
FILTERS = [(['--time', '2,2.5'], 1, 'time'), (['--time', '2,'], 2, 'time'),
           (['--time', '2026-11-28 12:43:01,2026-11-28 12:43:01.5'], 1, 'time'), (['--time', ',2026-11-28 12:43:01'], 2, 'time'),
           (['--time', ',2026-11-28 12:43:00.5 2026-11-28 12:43:02,'], 2, 'time'), (['--cpu', '1'], 2, 'CPU'),
           (['--pid', '7'], 3, 'process and thread'), (['--tid', '8'], 0, 'process and thread'),
           (['--comms', 'sh'], 3, 'process and thread')]


def main():
    hermetic.settle()
    os.environ['TZ'] = ZONE
    perfile, assemble = hermetic.programs()

    def samples(*arguments):
        """How many samples of each event come out of a verb, and what is stated."""
        done = subprocess.run([*perfile, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=True)
        counts = collections.Counter()
        rows = done.stdout.splitlines()
        if arguments[0] == 'script':
            counts.update(row.strip(': ') for row in rows)
        for row in csv.DictReader(rows) if arguments[0] == 'report' else []:
            counts[row['event']] += int(row['sample'])
        return counts, done.stderr

    with tempfile.TemporaryDirectory() as name:
        recording, cut = (pathlib.Path(name, file) for file in ('perf.data', 'cut.data'))
        recording.write_bytes(subprocess.check_output(assemble, input=RECORDING.encode()))
        for how, matching, unseen in FILTERS:
            wanted = +collections.Counter({'page-faults': matching, 'context-switches': 2})
            for verb in (['script', '-F', 'event'], ['report', '--format', 'csv', '--sort', 'sym', '-n']):
                got, reply = samples(*verb, *how, recording)
                assert (got, f'without a {unseen}, ' in reply) == (wanted, True), (verb, how, got, reply)
            reply = samples('cut', *how, '-o', cut, recording)[1]
            got = samples('script', '-F', 'event', cut)[0]
            assert (got, f'without a {unseen}, ' in reply) == (wanted, True), ('cut', how, got, reply)
    print('the filters keep what does not say')


main()
