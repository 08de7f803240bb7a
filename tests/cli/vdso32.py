#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vdso of 32-bit programs: vdso32.py PERFILE ASSEMBLE

As in perf it is called [vdso32] when the program is at hand, else no one knows that it has 32 bits; in streams, too, and
where the recording does not name its machine.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

RECORDING = '''attr type=1 config=0 sample_type=IP|TID|TIME ids=1 name="cpu-clock" sample_id_all=1
%srecord MMAP misc=2 pid=7 tid=7 addr=0x8048000 len=0x1000 pgoff=0 filename="/bin/old" | pid=7 tid=7 time=1
record MMAP misc=2 pid=7 tid=7 addr=0xf7f00000 len=0x1000 pgoff=0 filename="[vdso]" | pid=7 tid=7 time=1
record MMAP misc=2 pid=8 tid=8 addr=0x400000 len=0x1000 pgoff=0 filename="/bin/new" | pid=8 tid=8 time=1
record MMAP misc=2 pid=8 tid=8 addr=0x7f0000000000 len=0x1000 pgoff=0 filename="[vdso]" | pid=8 tid=8 time=1
sample misc=2 ip=0xf7f00010 pid=7 tid=7 time=2
sample misc=2 ip=0x7f0000000010 pid=8 tid=8 time=3
'''


def elf_header(bits):
    """The beginning of an i386 or x86-64 program, as far as its kind is concerned."""
    kind = bytes([1 if bits == 32 else 2, 1, 1]) + bytes(9) + bytes([2, 0, 3 if bits == 32 else 62, 0, 1, 0, 0, 0])
    return (b'\x7fELF' + kind).ljust(64, b'\0')


def main():
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'root' / 'bin').mkdir(parents=True)
        (folder / 'root' / 'bin' / 'old').write_bytes(elf_header(32))
        (folder / 'root' / 'bin' / 'new').write_bytes(elf_header(64))
        recording = folder / 'perf.data'
        environment = hermetic.environment(XDG_CACHE_HOME=name, HOME=name)
        for options, arch in (([], 'feature ARCH s:"x86_64"\n'), (['--pipe'], 'feature ARCH s:"x86_64"\n'), ([], '')):
            text = (RECORDING % arch).encode()
            recording.write_bytes(subprocess.check_output([*assemble, *options], input=text))
            for root, first in (('root', '[vdso32]'), ('none', '[vdso]')):
                for verb, expected in ((['script', '-F', 'ip,dso'], [f'{0xf7f00010:17x} ({first})',
                                                                     f'{0x7f0000000010:17x} ([vdso])']),
                                       (['report', '--format', 'csv', '--sort', 'dso', '-F', 'dso'], {first, '[vdso]'})):
                    command = [*perfile, *verb, '--symfs', folder / root, recording]
                    got = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
                    lines = got.splitlines()
                    if verb[0] == 'report':
                        lines = {line.split(',')[-1] for line in lines[1:]}
                    if lines != expected:
                        sys.exit(f'{options}, {root}, {verb}:\n{got}expected:\n{expected}')
    print('the names are right')


if __name__ == '__main__':
    main()
