#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code that a JIT in a container made has its names after the container is gone: container_map.py PERFILE

The process has a /tmp and a number of its own, where it writes its perf-PID.map. Afterwards the recording has the names.
"""
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# counts down from 200,000,000
JIT = '''
import ctypes, mmap, os
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex('b900c2eb0bffc975fcc3'))
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
with open(f'/tmp/perf-{os.getpid()}.map', 'w') as names:
    names.write(f'not a line\\n{address:x} a counted down\\n')
for _ in range(8):
    ctypes.CFUNCTYPE(None)(address)()
'''
CONTAINER = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c',
             'mount -t tmpfs none /tmp && exec "$0" "$@"']


def main():
    hermetic.settle()
    perfile = sys.argv[1]
    if platform.machine() != 'x86_64' or not shutil.which('unshare') or subprocess.run([*CONTAINER, 'true'], capture_output=True).returncode:
        print('skipped: container-map: no namespaces can be made here')
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recording = folder / 'perf.data'
        done = subprocess.run([perfile, 'record', '-e', 'cpu-clock:u', '-F', '499', '-o', recording, '--', *CONTAINER, sys.executable, '-c', JIT],
                              capture_output=True, text=True)
        if 'permitted' in done.stderr or 'paranoid' in done.stderr:
            print('skipped: container-map: no events can be opened here')
            return
        assert done.returncode == 0 and 'no names' not in done.stderr, done
        environment = hermetic.environment(HOME=name, XDG_CACHE_HOME=name)
        for options in ([], ['--symfs', folder / 'none']): # as on another machine
            command = [perfile, 'report', '-g', 'none', '--format', 'csv', '--sort', 'sym', '-F', 'sym,sample', *options, recording]
            rows = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
            assert 'counted down' in rows, rows


if __name__ == '__main__':
    main()
