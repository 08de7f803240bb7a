# SPDX-License-Identifier: MIT
"""What tests need to know of the programs that they compile."""
import subprocess

# A program with functions in functions, which prints an address in the innermost one and that of the function around.
PROGRAM = '''
#include <stdio.h>
extern const char *const here;
static inline __attribute__((always_inline)) int innermost(int x)
{
    __asm__ volatile("1: nop\\n.pushsection .data\\n.globl here\\n.balign 8\\nhere: .quad 1b\\n.popsection" : "+r"(x));
    return x * 3;
}
static inline __attribute__((always_inline)) int inner(int x) { return innermost(x) + 1; }
__attribute__((noinline)) int outer(int x) { return inner(x) + 2; }
int main(int argc, char **argv)
{
    (void)argv;
    printf("%lx %lx\\n", (unsigned long)here, (unsigned long)outer);
    return outer(argc) == 0;
}
'''
# Samples of it at these addresses.
RECORDING = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD|CALLCHAIN sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
record MMAP2 pid=7 tid=7 addr=0x%(start)x len=0x100000 pgoff=0 prot=5 filename="%(path)s" | pid=7 tid=7 time=12
sample misc=2 ip=0x%(here)x pid=7 tid=7 time=20 period=1 callchain=2,0xfffffffffffffe00,0x%(here)x
'''
# Samples of a program at any addresses.
HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
'''
MAP = 'record MMAP2 pid=7 tid=7 addr=0x%x len=0x%x pgoff=0x%x prot=5 filename="%s" | pid=7 tid=7 time=12\n'
SAMPLE = 'sample misc=2 ip=0x%x pid=7 tid=7 time=%d period=%d\n'


def load_address(program):
    """The address of the first byte of the file, from its first loadable segment."""
    image = program.read_bytes()
    table, entries = int.from_bytes(image[32:40], 'little'), int.from_bytes(image[56:58], 'little')
    for at in range(table, table + entries * 56, 56):
        if int.from_bytes(image[at:at + 4], 'little') == 1:
            return int.from_bytes(image[at + 16:at + 24], 'little')
    raise ValueError('no loadable segment')


def segments(image):
    """The executable ones of an ELF file of 64 bits: address, size and position in the file."""
    table, entries = int.from_bytes(image[32:40], 'little'), int.from_bytes(image[56:58], 'little')
    for at in range(table, table + entries * 56, 56):
        kind, flags = (int.from_bytes(image[at + i:at + i + 4], 'little') for i in (0, 4))
        offset, address, _, size = (int.from_bytes(image[at + i:at + i + 8], 'little') for i in range(8, 40, 8))
        if kind == 1 and flags & 1:
            yield address, size, offset


def sample_all(assemble, program, addresses, recording):
    """Makes a recording with a sample at each of the addresses, which have different weights."""
    text = HEAD
    for address, size, offset in segments(program.read_bytes()):
        text += MAP % (address & ~0xfff, (size + 0x1fff) & ~0xfff, offset & ~0xfff, program)
    for number, address in enumerate(addresses, 1):
        text += SAMPLE % (address, 20 + number, number)
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
