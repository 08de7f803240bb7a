#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""to_pandas.py [RECORDING]: the threads by the time that their samples stand for, with pandas."""
import sys

import perfile

with perfile.open(sys.argv[1] if len(sys.argv) > 1 else 'perf.data') as recording:
    samples = recording.table('samples').to_pandas()
by_thread = samples.groupby(['event', 'comm'], observed=True)['period'].agg(['size', 'sum'])
print(by_thread.sort_values('sum', ascending=False).to_string())
