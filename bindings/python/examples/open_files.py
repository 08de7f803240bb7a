#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""open_files.py [RECORDING]: decoded records: which files each process mapped. With - as RECORDING it reads a pipe."""
import sys

import perfile
from perfile.constants import PERFILE_RECORD_MMAP2

with perfile.open(sys.argv[1] if len(sys.argv) > 1 else 'perf.data') as recording:
    for record in recording.records():
        if record.type == PERFILE_RECORD_MMAP2 and not record.damaged:
            mapped = record.decode()
            print(f'{mapped.pid:7} {mapped.addr:16x} {mapped.filename}')
