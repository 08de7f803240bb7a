#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mangled.py PERFILE RECORDING: where the runtime library of C++ cannot be loaded its names stay as they are, which is stated once."""
import os, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

NOTE = 'names of C++ stay mangled (_ZN3foo3barEv): libstdc++.so.6 cannot be loaded'


def report(perfile, recording, names, **environment):
    done = subprocess.run([perfile, 'report', '--stdio', '-g', 'none', '--sort', 'symbol', '--kallsyms', names, recording],
                          capture_output=True, text=True, env={**os.environ, **environment})
    return done.stdout, done.stderr


def is_listed(perfile, state, **environment):
    done = subprocess.run([perfile, '--version', '--build-options'], capture_output=True, text=True, env={**os.environ, **environment})
    return f'libstdc++.so.6: [ {state} ]' in done.stdout


def main():
    perfile, recording = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        names, broken = pathlib.Path(folder, 'names'), pathlib.Path(folder, 'libstdc++.so.6')
        names.write_text('ffffffff80000000 T _ZN3foo3barEv\nffffffff82000000 T _ZN3foo5otherEi\n')
        shown, reply = report(perfile, recording, names)
        if 'foo::bar()' not in shown and NOTE in reply:
            print('skipped: libstdc++: there is none')
            return 77
        wrong = ['with it' for fact in ('foo::bar()' in shown, 'mangled' not in reply, is_listed(perfile, 'on ')) if not fact]
        broken.write_text('no library')
        path = f'{folder}:{os.environ.get("LD_LIBRARY_PATH", "")}'
        shown, reply = report(perfile, recording, names, LD_LIBRARY_PATH=path)
        facts = ('_ZN3foo3barEv' in shown, reply.count('mangled') == 1, NOTE in reply, is_listed(perfile, 'OFF', LD_LIBRARY_PATH=path))
        wrong += ['without it' for fact in facts if not fact]
    if wrong:
        print(*wrong, shown, reply, sep='\n')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
