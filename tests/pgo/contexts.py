#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles by the calls that led to branches, of a program that is made here: contexts.py PERFILE"""
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import made
from lines import Test

# same calls hot at 13, hot calls leaf at 4, in tiny, which is inlined; leaf returns at 11, hot at 7
CODE = {'calls': (4, 13), 'returns': (7, 11)}
# (callchain, the sample first, with return addresses; branches, the newest first)
SAMPLES = (
    ((5, 14, None), ((11, 5), (4, 8), (13, 0), (None, 12))),  # back to where same was called from elsewhere
    ((5, 5, 5, 14, None), ((11, 5), (4, 8))),  # hot calls itself, and each time leaf
    ((5, None, None, 5, 14), ((1, 5), (None, 0))),  # hot is called by other code, before which there is no context
    ((5, 14), ((1, 5), (13, 2))),  # no code runs backwards: the callers of what was before are not known
    ((5, 14), ((None, 5), (4, 8))),  # other code returns, but was not called
    ((7, 14), ((11, 5), (4, 8))),  # hot returns there, and the frame of its caller may not be in the chain
    ((), ((11, 5), (4, 8))),
)
PROFILE = '''\
[]
  0
  3
  ffffffffffbff001->0:1
  ffffffffffbff001->14:1
  ffffffffffbff001->30:1
[hot]
  1
  0-4:1
  1
  4->14:1
[hot:3.1 @ tiny]
  0
  1
  10->20:1
[same]
  1
  30-34:1
  2
  34->0:1
  34->8:1
[same:1 @ hot]
  1
  0-4:1
  1
  4->14:1
[same:1 @ hot:3.1 @ tiny]
  2
  8-8:1
  10-10:1
  1
  10->20:1
[same:1 @ hot:3.1 @ tiny:1 @ deep]
  1
  c-c:1
  0
[same:1 @ hot:3.1 @ tiny:2 @ hot:3.1 @ tiny]
  0
  1
  10->20:1
[same:1 @ hot:3.1 @ tiny:2 @ leaf]
  1
  20-2c:2
  1
  2c->14:2
'''


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        test = Test(sys.argv[1], folder)
        chains, branches = zip(*SAMPLES)
        recording = test.write('recording', made.recording(branches, chains))
        for version, machine in (4, 'x86_64'), (5, 'aarch64'):
            program = test.write('program', made.elf(version, machine, **CODE))
            status, profile, errors = test.run(program, recording, '--format', 'profgen-cs')
            test.equal('DWARF %d, %s' % (version, machine), (status, (profile or b'').decode()), (0, PROFILE))
            for line in (': 1 sample left out: functions begin or end there, and callers are not known', ': 1 sample without a callchain: the callers are not known',
                         ': 2 records of branches without callers: code before them cannot have run'):
                test.equal('reported: ' + line, errors if line not in errors else True, True)
        status, profile, errors = test.run(program, test.write('branches', made.recording(branches)), '--format', 'profgen-cs')
        test.equal('no callchains', (status, profile, 'no sample has a callchain' in errors, 'record -b --call-graph fp' in errors), (1, None, True, True))
        status, profile, errors = test.run(program, recording, '--format', 'profgen-cs', '--limit-traces', '5')
        test.equal('limit', (status, profile, 'more than 5 distinct' in errors), (1, None, True))
        program = test.write('program', made.elf(5, more={'.pseudo_probe_desc': b'x'}, **CODE))
        status, profile, errors = test.run(program, recording, '--format', 'profgen-cs')
        test.equal('probes', (status, profile is not None, 'use-dwarf-correlation' in errors), (0, True, True))
        # the name of a file is not the reason why there is nothing
        (pathlib.Path(folder) / 'haystack').mkdir()
        program = test.write('haystack/program', made.elf(0, **CODE))
        for form in 'profgen-cs', 'sample', 'gcov':
            status, profile, errors = test.run(program, recording, '--format', form)
            test.equal('no debug info', (status, profile, 'build it with -g' in errors, 'record -b' in errors), (1, None, True, False))
    return test.failed != 0


if __name__ == '__main__':
    sys.exit(main())
