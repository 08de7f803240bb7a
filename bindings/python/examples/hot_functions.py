#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hot_functions.py [RECORDING]: the ten functions with most samples, and their most frequent stack."""
import collections
import sys

import perfile

with perfile.open(sys.argv[1] if len(sys.argv) > 1 else 'perf.data') as recording:
    profile = recording.profile()
self_samples = collections.Counter()
stacks = collections.defaultdict(collections.Counter)
for sample in profile.samples:
    function = profile.frames[sample.leaf].function
    self_samples[function] += sample.values[0]  # the first value of every event: its samples
    stacks[function][sample.stack] += sample.values[0]
for function, count in self_samples.most_common(10):
    most, _ = stacks[function].most_common(1)[0]
    print(f'{count:8} {profile.functions[function].label}')
    print(' ' * 9 + ' < '.join(profile.label(frame) for frame in profile.stack(most)[:4]))
