#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python.py WHAT RECORDING: a task of `run` with the Python binding. PERFILE_LIBRARY names the build."""
import os, sys

sys.path.insert(0, os.environ['PERFILE_LIBRARY'] + '/bindings/python')
import perfile


def count(rows):
    return sum(1 for _ in rows)


TASKS = {
    'records': lambda recording: count(recording.records()),
    'samples': lambda recording: count(recording.samples()),
    'stream': lambda recording: count(recording.stream()),
    'rows': lambda recording: count(recording.table('samples').rows()),
    'pandas': lambda recording: len(recording.table('samples').to_pandas()),
}

if __name__ == '__main__':
    what, path = sys.argv[1:]
    with perfile.open(path) as recording:
        print(TASKS[what](recording))
