#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py RECORDING [REPAIRED]: what of a recording can be read, what is odd about it, and what repairing saves."""
import sys

import perfile

try:
    with perfile.open(sys.argv[1]) as recording:
        for _ in recording.records():
            pass
        counts = recording.counts
        print(f'{counts.records} records, {counts.samples} samples, {counts.bytes_lost} bytes lost')
        for one in recording.diagnostics:
            print(f'at {one.offset}: {one.message}')
        if len(sys.argv) > 2:
            report = perfile.repair(recording, sys.argv[2])
            print(f'{report.records_kept} records are in {sys.argv[2]}')
except perfile.Error as error:
    sys.exit(f'{error} ({error.code_name})')
