#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types of data beside perf's: types_perf.py [--all] [--verbose] PERFILE ASSEMBLE PERF COUNT NAME PROGRAM [ARGUMENT...]

A recording with COUNT samples is assembled: of the accesses to memory in a traced run of PROGRAM (by valgrind's tool lackey,
as few machines can record samples of memory), or, with --all, of instructions in all parts of it.
PERF is the command of perf, which must see PROGRAM and the temporary folder (TMPDIR) by the same paths as this process.

A row of a table goes to stdout: the number of samples, the shares in percent whose type is known by perf and by perfile, then
how many answers are the same, have the same type where perfile states more of the member, are known by perfile alone, by perf
alone, and are different. In the end what gdb sees at the addresses of the last two kinds. The lines after it are these
instructions with both answers; --verbose adds those without any. An answer is the same in other words, too: with
namespaces, `struct` before names and widths of bit-fields.
"""
import argparse
import collections
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
TESTS = HERE.parent.parent / 'tests'
sys.path += [str(TESTS), str(TESTS / 'others')]
import images
import types_gdb

VALGRIND_BASE = 0x108000  # where valgrind loads position-independent programs
HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD|ADDR|WEIGHT|DATA_SRC sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
'''
MAP = 'record MMAP2 pid=7 tid=7 addr=0x%x len=0x%x pgoff=0x%x prot=5 filename="%s" | pid=7 tid=7 time=12\n'
KERNEL_MAP = ('record MMAP misc=1 pid=-1 tid=0 addr=0x%x len=0x%x pgoff=0xffffffff81000000 '
              'filename="[kernel.kallsyms]_text" | pid=-1 tid=0 time=1\n')
SAMPLE = 'sample misc=%d ip=0x%x pid=7 tid=7 time=%d period=1 addr=0x%x weight=%d data_src=0x%x\n'
LOAD, STORE = 0x68100142, 0x68100144
ACCESS = re.compile(rb'^ ([LSM]) ([0-9a-f]+),(\d+)')
IN_A_ROW = 50
JUDGED = 'only perf', 'other'


def is_kernel(program):
    return program.name.startswith('vmlinux')


def base_of(image):
    return VALGRIND_BASE if next(images.segments(image))[0] < 0x100000 else 0


# ---- samples

def traced(program, arguments, image, count, folder):
    """
    Of a run: `count` of its accesses, each (instruction, address, what), all equally probable. It runs without debug
    info, as valgrind cannot read all of it.
    """
    bare = folder / program.name
    subprocess.run(['strip', '-o', bare, program], check=True)
    base = base_of(image)
    ranges = [(base + start, base + start + size) for start, size, _ in images.segments(image)]
    chosen, seen, at, numbers = [], 0, None, random.Random(1)
    run = subprocess.Popen(['valgrind', '--tool=lackey', '--trace-mem=yes', bare, *arguments], stderr=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    for line in run.stderr:
        if line.startswith(b'I '):
            at = int(line[3:line.index(b',')], 16)
            at = at if any(low <= at < high for low, high in ranges) else None
        access = ACCESS.match(line) if at else None
        if not access:
            continue
        seen += 1
        position = len(chosen) if len(chosen) < count else numbers.randrange(seen)
        if position < count:
            chosen[position:position + 1] = [(at, int(access[2], 16), STORE if access[1] == b'S' else LOAD)]
    run.wait()
    return chosen


def accessing(program):
    """The addresses of its instructions that have an operand in memory."""
    code = subprocess.Popen([os.environ.get('OBJDUMP', 'objdump'), '-d', '--no-show-raw-insn', '-M', 'intel', '-j', '.text', program],
                            stdout=subprocess.PIPE, text=True)
    for line in code.stdout:
        parts = line.split('\t')
        if len(parts) > 1 and '[' in parts[1] and not parts[1].startswith(('lea', 'nop', 'data16', 'cs nop')):
            yield int(parts[0].strip().rstrip(':'), 16)


def everywhere(program, image, count):
    """Some in a row of few functions, as perf runs objdump for each function."""
    addresses = list(accessing(program))
    step = max(IN_A_ROW, len(addresses) * IN_A_ROW // count)
    chosen = [address for at in range(0, len(addresses), step) for address in addresses[at:at + IN_A_ROW]]
    return [(base_of(image) + address, 0, LOAD) for address in chosen[:count]]


def assembled(assemble, program, image, accesses, folder):
    text, recording = HEAD, folder / 'perf.data'
    if is_kernel(program):
        text += KERNEL_MAP % next(images.segments(image))[:2]
    for address, size, offset in images.segments(image) if not is_kernel(program) else ():
        text += MAP % (base_of(image) + (address & ~0xfff), (size + 0x1fff) & ~0xfff, offset & ~0xfff, program)
    for number, (ip, address, what) in enumerate(accesses):
        text += SAMPLE % (1 if is_kernel(program) else 2, ip, 20 + number, address, number + 1, what)
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
    return recording


# ---- answers

def by_perf(perf, recording, options):
    """For the number of each sample, which is its weight, the type and member that perf prints."""
    rows = subprocess.check_output([*perf.split(), 'report', '--stdio', '-f', '-q', '-i', recording, *options,
                                    '-F', 'local_weight,typeoff', '-w', '12,900', '-t', '|'],
                                   text=True, stderr=subprocess.DEVNULL, timeout=900)
    pairs = [[part.strip() for part in line.split('|', 1)] for line in rows.splitlines() if '|' in line]
    return {int(number): label for number, label in pairs if number.isdigit()}


def by_perfile(perfile, recording, base, options):
    rows = subprocess.check_output([perfile, 'table', 'instructions', '--format', 'csv', '--columns',
                                    '+data_type,+instruction', *options, recording],
                                   text=True, stderr=subprocess.DEVNULL)
    return {base + int(row['address']): row for row in csv.DictReader(rows.splitlines())}


def plain(label):
    """'' when no type is known."""
    if not label or label.startswith('(unknown') or '[unknown]' in label:
        return ''
    label = re.sub(r'\b(struct|class|union|enum|const|volatile)\b', '', label)
    return re.sub(r'\s|:\d+(?=\))|0x(?=0 )', '', re.sub(r'[\w<>, ]*::', '', label)).replace('(nofield)', '')


def kind_of(theirs, ours):
    theirs, ours = plain(theirs), plain(ours)
    if theirs == ours:
        return 'same' if theirs else 'neither'
    if not theirs or not ours:
        return 'only ours' if ours else 'only perf'
    if theirs.startswith('(stack'):  # a call through a pointer: perf has the return address
        return 'more'
    left, right = (re.match(r'(.*)\+(\w+)(?:\((.*)\))?$', label) for label in (theirs, ours))
    is_more = left and right and left.groups()[:2] == right.groups()[:2] and (right[3] or '').startswith(left[3] or '')
    return 'more' if is_more else 'other'


# ---- judging

def by_debugger(program, arguments, base, folder, answers):
    moved = types_gdb.BASE - base if base else 0
    verdicts = types_gdb.verdicts_of(program, {hex(ip + moved): both for ip, both in answers.items()}, folder,
                                     arguments=' '.join(arguments))
    return {int(ip, 16) - moved: tuple(both) for ip, (*_, both) in verdicts.items()}


WORDS = {('same', 'same'): 'both', ('same', 'other'): "perf's", ('other', 'same'): 'ours', ('other', 'other'): 'neither',
         ('same', 'not stated'): "perf's", ('other', 'not stated'): "not perf's", ('not stated', 'same'): 'ours'}


def shortened(text):
    return text if len(text) < 100 else text[:60] + '...' + text[-36:]


def compare(asked, accesses, theirs, ours, judge):
    """`judge` returns what a debugger says of both answers at addresses."""
    kinds, lines = collections.Counter(), collections.defaultdict(int)
    for number, (ip, _, _) in enumerate(accesses, 1):
        row, label = ours.get(ip, {}), theirs.get(number, '')
        mine = row.get('data_type', '')
        kind = kind_of(label, mine)
        kinds[kind] += 1
        if kind in JUDGED or (asked.verbose and kind == 'neither'):
            lines[kind, ip, label, mine, row.get('symbol', ''), row.get('instruction', '')] += 1
    verdicts = judge({ip: (label, mine) for kind, ip, label, mine, *_ in lines if kind in JUDGED})
    seen = collections.Counter()
    for (kind, ip, *_), count in lines.items():
        if kind in JUDGED:
            seen[WORDS.get(verdicts.get(ip), 'not seen')] += count
    print_row(asked.name, max(1, len(accesses)), kinds, seen)
    for (kind, ip, label, mine, *code), count in sorted(lines.items(), key=lambda item: -item[1]):
        print(f'    {count} {kind} [{WORDS.get(verdicts.get(ip), "not seen")}] {shortened(code[0])} {ip:x} {code[1]}: '
              f'{shortened(label)!r} {shortened(mine)!r}')


def print_row(name, total, kinds, seen):
    known = [100 - 100 * (kinds['neither'] + kinds[kind]) / total for kind in ('only ours', 'only perf')]
    counts = [kinds[kind] for kind in ('same', 'more', 'only ours', 'only perf', 'other')]
    print(f'| {name} | {total:,} | {known[0]:.1f} | {known[1]:.1f} | '
          + ' | '.join(f'{count:,}' for count in counts) + ' | ' + ', '.join(f'{word} {count}' for word, count in seen.most_common()) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--verbose', action='store_true')
    for name in 'perfile', 'assemble', 'perf', 'count', 'name', 'program':
        parser.add_argument(name)
    parser.add_argument('arguments', nargs='*')
    asked = parser.parse_args()
    program, count = pathlib.Path(asked.program).absolute(), int(asked.count)
    image = program.read_bytes()
    base, options = base_of(image), ['-k', program] if is_kernel(program) else []
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        accesses = (everywhere(program, image, count) if asked.all
                    else traced(program, asked.arguments, image, count, folder))
        os.chmod(folder, 0o755)
        recording = assembled(asked.assemble, program, image, accesses, folder)

        def judge(answers):
            return {} if asked.all else by_debugger(program, asked.arguments, base, folder, answers)
        compare(asked, accesses, by_perf(asked.perf, recording, options),
                by_perfile(asked.perfile, recording, base, options), judge)


main()
