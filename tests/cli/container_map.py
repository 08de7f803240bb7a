#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code that a JIT in a container made has its names after the container is gone: container_map.py PERFILE

The process has a /tmp and a number of its own, where it writes its perf-PID.map, at its start or just before its end, or a
jitdump file. Afterwards the recording has the names. A map of another process of that folder names nothing.
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
MAKE = '''
import ctypes, mmap, os, struct, sys, time
CODE = bytes.fromhex('b900c2eb0bffc975fcc3')
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(CODE)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
def run():
    for _ in range(8):
        ctypes.CFUNCTYPE(None)(address)()
def write_map(pid):
    with open(f'/tmp/perf-{pid}.map', 'w') as names:
        names.write(f'not a line\\n{address:x} a counted down\\n')
'''
JITS = {
    'a map': MAKE + '''
write_map(os.getpid())
run()
''',
    'a map that is written at the end': MAKE + '''
run()
write_map(os.getpid())
''',
    'a map of another process': MAKE + '''
write_map(os.getpid() + 1)
run()
''',
    'a jitdump file': MAKE + '''
pid, now = os.getpid(), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
with open(f'/tmp/jit-{pid}.dump', 'w+b') as dump:
    name = b'counted down' + bytes(1)
    dump.write(struct.pack('<6I2Q', 0x4a695444, 1, 40, 62, 0, pid, now, 0))
    dump.write(struct.pack('<2IQ', 0, 56 + len(name) + len(CODE), now) + struct.pack('<2I4Q', pid, pid, address, address, len(CODE), 1) + name + CODE)
    dump.flush()
    marker = mmap.mmap(dump.fileno(), 64, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    run()
''',
}
CONTAINER = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c',
             'mount -t tmpfs none /tmp && exec "$0" "$@"']


def main():
    hermetic.settle()
    perfile = sys.argv[1]
    if platform.machine() != 'x86_64' or not shutil.which('unshare') or subprocess.run([*CONTAINER, 'true'], capture_output=True).returncode:
        print('skipped: container-map: no namespaces can be made here')
        return
    for what, jit in JITS.items():
        with tempfile.TemporaryDirectory() as name:
            if not expect_names(perfile, pathlib.Path(name), what, jit):
                print('skipped: container-map: no events can be opened here')
                return


def expect_names(perfile, folder, what, jit):
    recording = folder / 'perf.data'
    done = subprocess.run([perfile, 'record', '-e', 'cpu-clock:u', '-F', '499', '-k', 'CLOCK_MONOTONIC', '-o', recording, '--', *CONTAINER,
                           sys.executable, '-c', jit], capture_output=True, text=True)
    if 'permitted' in done.stderr or 'paranoid' in done.stderr:
        return False
    is_named = 'another' not in what
    assert done.returncode == 0 and ('without symbols' not in done.stderr or not is_named), (what, done)
    environment = hermetic.environment(HOME=str(folder), XDG_CACHE_HOME=str(folder))
    for options in ([], ['--symfs', folder / 'none']): # as on another machine
        command = [perfile, 'report', '-g', 'none', '--format', 'csv', '--sort', 'sym', '-F', 'sym,sample', *options, recording]
        rows = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
        assert ('counted down' in rows) == is_named, (what, rows)
    return True


if __name__ == '__main__':
    main()
