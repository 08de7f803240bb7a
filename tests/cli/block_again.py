#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A request whose end is not recorded is counted when another one of the same position is issued."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tracepoints

hermetic.settle()
FIELDS = (('dev_t', 'dev', 4, 0), ('sector_t', 'sector', 8, 0), ('unsigned int', 'nr_sector', 4, 0), ('unsigned int', 'bytes', 4, 0),
          ('char', 'rwbs[8]', 8, 0))


def main():
    perfile, assemble = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    forms = [tracepoints.form('block_rq_issue', 501, FIELDS), tracepoints.form('block_rq_complete', 502, FIELDS)]
    lines = [f'attr type=2 config={number} ids={number - 500} sample_type=TID|TIME|CPU|PERIOD|RAW|IDENTIFIER sample_id_all=1 '
             f'name="block:block_rq_{name}"' for number, name in ((501, 'issue'), (502, 'complete'))]
    lines.append(f'feature TRACING_DATA hex:{tracepoints.tracing_data({"block": forms}).hex()}')
    for time, number, size in ((1000, 501, 4096), (2000, 501, 4096), (2500, 502, 0)):
        lines.append(f'sample event={number - 501} misc=1 pid=7 tid=7 time={time} cpu=0 period=1 ' +
                     tracepoints.raw(number, 7, FIELDS, (8, 64, 8, size, 'W')))
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([*wrapper, assemble], input='\n'.join(lines).encode() + b'\n', capture_output=True, check=True)
        path = pathlib.Path(folder, 'a.perf.data')
        path.write_bytes(made.stdout)
        done = subprocess.run([*wrapper, perfile, 'table', 'block_io', '--format', 'csv', '--columns', 'bytes,duration', str(path)],
                              capture_output=True, text=True)
    right = done.stdout == 'bytes,duration\n4096,500\n' and '1 request was issued once more' in done.stderr
    if not right:
        print(done)
    return not right


if __name__ == '__main__':
    sys.exit(main())
