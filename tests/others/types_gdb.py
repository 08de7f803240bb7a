#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Are the types of data those that a debugger sees? types_gdb.py PERFILE ASSEMBLE COUNT INPUT PROGRAM...

Each PROGRAM is run by gdb with the file INPUT as its input, and stops at up to COUNT of its instructions that access memory, when
they run for the first time. There the address of the operand is compared with the objects of the variables in scope and those
that they point to, through up to three pointers: perfile's type and offset must be one of them. An address in none of them
says nothing. A recording of these accesses, with the addresses
of the data, has them in the views of cache lines, with the same types. Skipped without gdb.
"""
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.append(str(HERE.parent.parent))
import hermetic
import images

SKIPPED = 77
HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
'''
MAP = 'record MMAP2 pid=7 tid=7 addr=0x%x len=0x%x pgoff=0x%x prot=5 filename="%s" | pid=7 tid=7 time=12\n'
SAMPLE = 'sample misc=2 ip=0x%x pid=7 tid=7 time=%d period=1\n'
HITM = 0x800842  # a load that another processor's cache answered, which had changed the line
BASE = 0x555555554000  # where gdb loads position-independent programs


def last_parts(name):
    """The name without namespaces and classes around, and without arguments of templates, whose texts differ."""
    parts, depth = '', 0
    for c in name.replace('->', ''):
        depth += (c == '<') - (c == '>')
        parts += c if not depth and c != '>' else ''
    return re.sub(r'([^\s*&]+)::', '', parts)


def plain(name):
    """A type without what the two write differently: namespaces, const, tags, sizes of arrays, {...} for no name."""
    name = re.sub(r'\b(short|long)( unsigned)? int\b', r'\2 \1', re.sub(r'\(anonymous namespace\)::', '', name))
    name = re.sub(r'\b(struct|class|union|enum|const|volatile)\b', '', re.sub(r'\[\d*\]', '[]', name))
    return re.sub(r'\s|\{\.\.\.\}', '', last_parts(name))


# ---- in gdb

def types_of(gdb, kind):
    """Its name, and those of all that it is a typedef of."""
    for _ in range(16):
        yield plain(str(kind))
        yield plain(kind.name or kind.tag or str(kind))
        if kind.code != gdb.TYPE_CODE_TYPEDEF:
            return
        kind = kind.target().unqualified()


class Objects:
    """Where objects are: start, size and the names of their types."""

    def __init__(self, gdb):
        self.gdb, self.all, self.seen = gdb, [], set()

    def add(self, address, kind, value, depth):
        kind = kind.unqualified()
        real = kind.strip_typedefs()
        key = address, str(real)
        if key in self.seen or len(self.all) > 3000 or not 0 < real.sizeof < 1 << 24:
            return
        self.seen.add(key)
        self.all.append((address, real.sizeof, set(types_of(self.gdb, kind))))
        self.follow(address, real, value, depth)

    def follow(self, address, real, value, depth):
        gdb = self.gdb
        try:
            if real.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
                self.add_target(real, value, depth)
            elif real.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
                for field in real.fields():
                    if hasattr(field, 'bitpos') and not field.bitsize and field.type.sizeof:
                        self.add(address + field.bitpos // 8, field.type, value[field], depth)
            elif real.code == gdb.TYPE_CODE_ARRAY:
                low, high = real.range()
                for i in range(low, min(high, low + 16) + 1):
                    self.add(address + (i - low) * real.target().sizeof, real.target(), value[i], depth)
        except (gdb.error, RuntimeError, NotImplementedError):
            pass

    def add_target(self, real, value, depth):
        target = real.target().unqualified().strip_typedefs()
        if target.code == self.gdb.TYPE_CODE_FUNC or not target.sizeof or depth == 0:
            return
        start = int(value) if real.code == self.gdb.TYPE_CODE_PTR else int(value.address)
        if start > 4096:
            is_pointer = real.code == self.gdb.TYPE_CODE_PTR
            self.add(start, real.target(), value.dereference() if is_pointer else value, depth - 1)


def objects_in(gdb, frame):
    objects = Objects(gdb)
    try:
        block = frame.block()
    except RuntimeError:
        return objects.all
    while block:
        for symbol in block:
            if not symbol.is_variable and not symbol.is_argument:
                continue
            try:
                value = symbol.value(frame) if symbol.needs_frame else symbol.value()
                if not value.is_optimized_out:
                    objects.add(int(value.address) if value.address else 0, value.type, value, 3)
            except (gdb.error, RuntimeError, TypeError):
                pass
        if block.is_static:
            break
        block = block.superblock
    return objects.all


OPERAND = re.compile(r'(%[fg]s:)?(-?0x[0-9a-f]+|-?\d+)?\((%\w+)?(?:,(%\w+),(\d))?\)')


def operand_address(gdb, frame, text):
    """None: it has no operand in memory, or one relative to a segment."""
    match = OPERAND.search(text)
    if not match or match[1] or text.startswith(('lea', 'nop', 'data16', 'cs ')):
        return None
    mask = (1 << 64) - 1

    def read(name):
        return int(frame.read_register(name[1:]).cast(gdb.lookup_type('unsigned long'))) & mask

    address = int(match[2] or '0', 0)
    if match[3] == '%rip':
        found = re.search(r'# (0x[0-9a-f]+)', text)
        return int(found[1], 16) if found else None
    for name, scale in ((match[3], 1), (match[4], int(match[5] or 1))):
        address += read(name) * scale if name else 0
    return address & mask


def judge(answer, address, objects, has_index):
    """'same', 'other' or 'nothing': no object holds the address. What an index adds is not part of the answer."""
    label = re.match(r'(.*) \+(0x[0-9a-f]+|0) \((.*)\)$', answer)
    if not label:
        return 'not stated'
    kind, offset = plain(label[1]), int(label[2], 16)
    holding = [(start, size, names) for start, size, names in objects if start <= address < start + size]
    for start, size, names in holding:
        if kind in names and (address - start == offset or has_index):
            return 'same'
        # an element of an array that the index is in, or that a pointer goes through
        if kind.endswith('[]') and kind in names:
            return 'same'
        if kind + '[]' in names and size:
            return 'same'
    return 'other' if holding else 'nothing'


def run_in_gdb(gdb):
    with open(os.environ['PERFILE_TYPES']) as file:
        task = json.load(file)
    verdicts = {}
    for setting in 'pagination off', 'confirm off', 'debuginfod enabled off', 'height 0', 'print object off':
        gdb.execute(f'set {setting}')
    gdb.execute(f"starti {task['arguments']} > /dev/null < {task['input']}")
    points = {}
    for address in task['answers']:
        points[int(address, 16)] = gdb.Breakpoint(f'*{address}', internal=True)
    while points:
        try:
            gdb.execute('continue', to_string=True)
            frame = gdb.newest_frame()
        except gdb.error:
            break
        pc = frame.pc()
        if pc not in points:
            continue
        points.pop(pc).delete()
        text = frame.architecture().disassemble(pc)[0]['asm']
        address = operand_address(gdb, frame, text)
        objects = objects_in(gdb, frame) if address is not None else None
        has_index = address is not None and OPERAND.search(text)[4]
        verdicts[hex(pc)] = text, address, [judge(answer, address, objects, has_index) if objects is not None
                                            else 'no operand' for answer in task['answers'][hex(pc)]]
    with open(task['out'], 'w') as file:
        json.dump(verdicts, file)
    if gdb.selected_inferior().pid:
        gdb.execute('kill')


# ---- outside

def maps_of(program):
    image = program.read_bytes()
    base = BASE if next(images.segments(image))[0] < 0x100000 else 0
    return base, image, ''.join(MAP % (base + (address & ~0xfff), (size + 0x1fff) & ~0xfff, offset & ~0xfff, program)
                                for address, size, offset in images.segments(image))


def answers_for(perfile, assemble, program, folder):
    """For each address in gdb's memory what perfile says of the instruction there."""
    recording = folder / 'perf.data'
    base, image, maps = maps_of(program)
    text, time = HEAD + maps, 20
    for address, size, _ in images.segments(image):
        for at in range(address, address + size):
            text += SAMPLE % (base + at, time)
            time += 1
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode(), env=hermetic.environment()))
    rows = subprocess.check_output([perfile, 'table', 'instructions', '--format', 'csv', '--columns', '+data_type',
                                    recording], text=True, stderr=subprocess.DEVNULL, env=hermetic.environment())
    return {hex(base + int(row['address'])): row['data_type'] for row in csv.DictReader(rows.splitlines())
            if row['data_type'] and not row['data_type'].startswith('(')}


def verdicts_of(program, answers, folder, stdin='/dev/null', arguments=''):
    """For each address in gdb's memory that runs: the instruction, where its data is, and what each answer is."""
    asked, out = folder / 'answers', folder / 'out'
    asked.write_text(json.dumps({'answers': answers, 'input': stdin, 'arguments': arguments, 'out': str(out)}))
    subprocess.run(['gdb', '-q', '-nx', '-batch', '-x', HERE, program], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=dict(hermetic.environment(), PERFILE_TYPES=str(asked)), check=False)
    return json.loads(out.read_text())


def check_lines(perfile, assemble, program, verdicts, chosen, folder):
    """Lines have the accesses at their addresses, with the types of the answers, each line those of its accesses."""
    recording = folder / 'lines.data'
    head = HEAD.replace('TIME|PERIOD', 'TIME|ADDR|PERIOD|DATA_SRC').replace('cpu-clock', 'mem-loads')
    text = head + maps_of(program)[2]
    wanted = {}
    for number, (ip, (_, address, _)) in enumerate(verdicts.items()):
        if address is not None:
            text += (f'sample misc=2 ip={ip} pid=7 tid={7 + number % 2} time={20 + number} addr={address} period=1 '
                     f'data_src={HITM:#x}\n')
            wanted[int(ip, 16), address] = chosen[ip]
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode(), env=hermetic.environment()))

    def rows(view, *columns):
        table = json.loads(subprocess.check_output([perfile, 'table', view, '--format', 'json', *columns, recording],
                                                   stderr=subprocess.DEVNULL, env=hermetic.environment()))
        return [dict(zip([column['name'] for column in table['columns']], row)) for row in table['rows']]

    accesses = rows('cache_line_accesses', '--columns', '+data_type')
    got = {(row['ip'], row['line'] + row['offset']): row['data_type'] for row in accesses}
    lines = {row['line']: set(row['data_types'] or []) for row in rows('cache_lines')}
    of_lines = {line: {row['data_type'] for row in accesses if row['line'] == line} - {None} for line in lines}
    if got != wanted or lines != of_lines:
        sys.exit(f'cache lines: {set(got.items()) ^ set(wanted.items())} {lines if lines != of_lines else ""}')
    print(f'    {len(got)} accesses in {len(lines)} cache lines, with the same types')


def main():
    hermetic.settle()
    perfile, assemble, count, supplied, *programs = sys.argv[1:]
    if not shutil.which('gdb'):
        print('skipped: gdb: it is not installed')
        sys.exit(SKIPPED)
    total = collections.Counter()
    for program in map(pathlib.Path, programs):
        with tempfile.TemporaryDirectory() as name:
            answers = answers_for(perfile, assemble, program.resolve(), pathlib.Path(name))
            step = max(1, len(answers) // int(count))
            chosen = dict(list(answers.items())[::step][:int(count)])
            asked = {at: [answer] for at, answer in chosen.items()}
            verdicts = verdicts_of(program.resolve(), asked, pathlib.Path(name), supplied)
            check_lines(perfile, assemble, program.resolve(), verdicts, chosen, pathlib.Path(name))
        counts = collections.Counter(verdict for *_, (verdict,) in verdicts.values())
        counts['not reached'] = len(chosen) - len(verdicts)
        print(program.name, dict(counts))
        for at, (text, _, (verdict,)) in verdicts.items():
            if verdict == 'other':
                print(f'    {at} {text} | {chosen[at]}')
        total += counts
    print('all', dict(total))
    sys.exit(total['other'] > 0 or total['same'] < int(count) // 4)


if 'PERFILE_TYPES' in os.environ:
    import gdb as debugger
    run_in_gdb(debugger)
elif __name__ == '__main__':
    main()
