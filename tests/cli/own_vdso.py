#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names in the vdso of a recording whose kernel runs here: own_vdso.py PERFILE ASSEMBLE"""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic


def function_of_vdso():
    """The offset of a function in the vdso of this process."""
    base = ctypes.CDLL(None).getauxval
    base.restype = ctypes.c_ulong
    image = ctypes.string_at(base(33), 0x1000)
    at, size, count = *struct.unpack_from('<Q', image, 0x28), *struct.unpack_from('<HH', image, 0x3a)
    image = ctypes.string_at(base(33), at + size * count)
    for section in range(at, at + size * count, size):
        kind, start, length = *struct.unpack_from('<I', image, section + 4), *struct.unpack_from('<QQ', image, section + 0x18)
        symbols = range(start, start + length, 24) if kind == 11 else []
        for symbol in symbols:
            if image[symbol + 4] & 15 == 2:
                return struct.unpack_from('<Q', image, symbol + 8)[0]
    return None


def check(folder, perfile, assemble):
    """Of this host and its release, of another release, and of another build."""
    offset = function_of_vdso() if os.uname().machine == 'x86_64' else None
    if not offset:
        print('skipped: names in the vdso: this process has none of x86_64')
        return
    own, recording = os.uname(), folder / 'own.data'
    file, build = 'maj=0 min=0 ino=0 ino_generation=0', 'build_id_size=20 build_id=hex:' + 'ab' * 20
    for release, misc, what, expected in (own.release, 2, file, True), ('1.2.3', 2, file, False), (own.release, 0x4002, build, False):
        text = f'''attr type=1 config=0 sample_type=IP|TID|TIME ids=1 name="cpu-clock" sample_id_all=1
feature HOSTNAME s:"{own.nodename}"
feature OSRELEASE s:"{release}"
feature ARCH s:"x86_64"
record MMAP2 misc={misc} pid=8 tid=8 addr=0x7f0000000000 len=0x8000 pgoff=0 {what} prot=5 flags=2 filename="[vdso]" | pid=8 tid=8 time=1
sample misc=2 ip={0x7f0000000000 + offset:#x} pid=8 tid=8 time=3
'''
        recording.write_bytes(subprocess.check_output(assemble, input=text.encode()))
        got = subprocess.run([*perfile, 'script', '-q', '-F', 'ip,sym', recording], stdout=subprocess.PIPE, text=True, check=True).stdout
        if ('vdso' in got) != expected:
            sys.exit(f'vdso of release {release}, misc {misc:#x}: {got}')
    check_stream(folder, perfile, assemble, offset)


def check_stream(folder, perfile, assemble, offset):
    """Names of the host come after the start of a stream: a stack that was dumped at the first instruction of the function."""
    text = f'''attr type=1 config=0 sample_type=IP|TID|TIME|REGS_USER|STACK_USER ids=1 name="cpu-clock" sample_id_all=1 sample_regs_user=0x180 sample_stack_user=16
feature HOSTNAME s:"{os.uname().nodename}"
feature OSRELEASE s:"{os.uname().release}"
feature ARCH s:"x86_64"
record MMAP misc=2 pid=8 tid=8 addr=0x7f0000000000 len=0x8000 pgoff=0 filename="[vdso]" | pid=8 tid=8 time=1
record MMAP misc=2 pid=8 tid=8 addr=0x400000 len=0x8000 pgoff=0 filename="/gone" | pid=8 tid=8 time=1
sample misc=2 ip={0x7f0000000000 + offset:#x} pid=8 tid=8 time=3 regs_user=2,0x7fff00000000,{0x7f0000000000 + offset:#x} stack_user=16,hex:{(0x401234).to_bytes(8, 'little').hex()}{'00' * 8},16
'''
    recording, converted = folder / 'stream.data', folder / 'converted.data'
    recording.write_bytes(subprocess.check_output([*assemble, '--pipe'], input=text.encode()))
    subprocess.run([*perfile, 'convert', '-q', '--unwind', '-o', converted, recording], check=True)
    got = subprocess.run([*perfile, 'script', '-q', '-F', 'ip', converted], stdout=subprocess.PIPE, text=True, check=True).stdout
    if got.split() != [f'{0x7f0000000000 + offset:x}', '401233']:
        sys.exit(f'the stack of a stream: {got}')


def main():
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    with tempfile.TemporaryDirectory() as name:
        check(pathlib.Path(name), perfile, assemble)


if __name__ == '__main__':
    main()
