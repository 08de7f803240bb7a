# SPDX-License-Identifier: MIT
"""A program with debug info, and recordings of it: made byte by byte, the same on every machine, never run.

All instructions are no-operations of four bytes, but for calls and returns that are asked for. They belong to functions by their numbers:

    hot     0 to 8, and 24, which was split off; tiny is inlined at 2 to 5, and in it deep at 3
    leaf    8 to 12
    same    12 to 16, and another function of that name in another unit at 32 to 36
    bare    28 to 32, without debug info
"""
import struct

TEXT, STEP = 0x401000, 4
OUTSIDE = 0x7f0000000000
PATH = '/made/program'
MACHINES = {'x86_64': (62, b'\x0f\x1f\x40\x00'), 'aarch64': (183, b'\x1f\x20\x03\xd5')}
CALLS = {'x86_64': b'\x41\xff\x50\x08', 'aarch64': b'\x00\x00\x00\x94'}
RETURNS = {'x86_64': b'\xf3\xc2\x00\x00', 'aarch64': b'\xc0\x03\x5f\xd6'}
NAMES = ('hot', 0, 8), ('hot.cold', 24, 25), ('leaf', 8, 12), ('same', 12, 16), ('same', 32, 36), ('bare', 28, 32)

# unit: (name, first declared line of the file that counts, functions); function: (name, line, ranges, inlined)
# inlined: (name, line of its call, discriminator of the call, range, inlined)
DEEP = ('deep', 51, 0, (3, 4), ())
TINY = ('tiny', 103, 2, (2, 5), (DEEP,))
UNITS = (
    ('one.c', {'deep': 5, 'tiny': 50}, (('hot', 100, ((0, 8), (24, 25)), (TINY,)), ('leaf', 200, ((8, 12),), ()), ('same', 300, ((12, 16),), ()))),
    ('two.c', {}, (('same', 7, ((32, 36),), ()),)),
)
# unit -> (first instruction, line, discriminator); None ends a sequence. LLVM packs 514: base 1, two copies
ROWS = (
    ((0, 101, 0), (1, 102, 2), (2, 51, 0), (3, 6, 0), (4, 52, 0), (5, 104, 514), (6, 0, 0), (7, 105, 0), (8, 201, 0), (10, 202, 0), (12, 301, 0),
     (14, 302, 0), (16, None, 0), (24, 106, 0), (25, None, 0)),
    ((32, 8, 0), (34, 9, 0), (36, None, 0)),
)


def at(instruction):
    return int(TEXT + STEP * instruction)


def leb(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def sleb(value):
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value & 0x7f])


def text(value):
    return value.encode() + b'\0'


class Debug:
    """The sections of DWARF 4 or 5."""

    ADDRESS, DATA2, DATA4, DATA8, STRING, REF4, OFFSET = 0x01, 0x05, 0x06, 0x07, 0x08, 0x13, 0x17
    NAME, LOW, HIGH, LINES, INLINE, ORIGIN, RANGES, CALL_LINE, DECLARED, DISCRIMINATOR = 0x03, 0x11, 0x12, 0x10, 0x20, 0x31, 0x55, 0x59, 0x3b, 0x2136
    # tag, has children, attributes
    UNIT, ABSTRACT, COMPLETE, SPLIT, INLINED = range(1, 6)
    KINDS = {
        UNIT: (0x11, 1, ((NAME, STRING), (LINES, OFFSET), (LOW, ADDRESS), (HIGH, DATA8))),
        ABSTRACT: (0x2e, 0, ((NAME, STRING), (DECLARED, DATA2), (INLINE, DATA2))),
        COMPLETE: (0x2e, 1, ((NAME, STRING), (DECLARED, DATA2), (LOW, ADDRESS), (HIGH, DATA8))),
        SPLIT: (0x2e, 1, ((NAME, STRING), (DECLARED, DATA2), (RANGES, OFFSET))),
        INLINED: (0x1d, 1, ((ORIGIN, REF4), (LOW, ADDRESS), (HIGH, DATA8), (CALL_LINE, DATA2), (DISCRIMINATOR, DATA4))),
    }

    def __init__(self, version):
        self.version, self.info, self.line, self.ranges = version, b'', b'', b''
        if version >= 5:
            self.ranges = struct.pack('<IHBBI', 0, 5, 8, 0, 0)
        for unit, rows in zip(UNITS, ROWS):
            self.add_unit(unit, rows)
        if version >= 5:
            self.ranges = struct.pack('<I', len(self.ranges) - 4) + self.ranges[4:]

    def sections(self):
        abbreviations = b''.join(
            leb(kind) + leb(tag) + bytes([children]) + b''.join(leb(name) + leb(form) for name, form in attributes) + b'\0\0'
            for kind, (tag, children, attributes) in self.KINDS.items()) + b'\0'
        ranges = '.debug_rnglists' if self.version >= 5 else '.debug_ranges'
        return {'.debug_info': self.info, '.debug_abbrev': abbreviations, '.debug_line': self.line, ranges: self.ranges}

    def entry(self, kind, *values):
        packs = {self.ADDRESS: '<Q', self.DATA2: '<H', self.DATA4: '<I', self.DATA8: '<Q', self.REF4: '<I', self.OFFSET: '<I'}
        body = leb(kind)
        for (_, form), value in zip(self.KINDS[kind][2], values):
            body += text(value) if form == self.STRING else struct.pack(packs[form], value)
        return body

    def range_of(self, first, end):
        return at(first), STEP * (end - first)

    def add_ranges(self, ranges):
        offset = len(self.ranges)
        if self.version < 5:
            self.ranges += struct.pack('<qq', -1, 0)  # addresses are absolute
        for first, end in ranges:
            if self.version >= 5:
                self.ranges += b'\6' + struct.pack('<QQ', at(first), at(end))  # DW_RLE_start_end
            else:
                self.ranges += struct.pack('<QQ', at(first), at(end))
        self.ranges += b'\0' if self.version >= 5 else bytes(16)
        return offset

    def inlined(self, calls, origins):
        return b''.join(self.entry(self.INLINED, origins[name], *self.range_of(*where), line, discriminator) + self.inlined(inner, origins) + b'\0'
                        for name, line, discriminator, where, inner in calls)

    def function(self, name, line, ranges, calls, origins):
        if len(ranges) == 1:
            entry = self.entry(self.COMPLETE, name, line, *self.range_of(*ranges[0]))
        else:
            entry = self.entry(self.SPLIT, name, line, self.add_ranges(ranges))
        return entry + self.inlined(calls, origins) + b'\0'

    def add_unit(self, unit, rows):
        name, declared, functions = unit
        head = struct.pack('<HBBI', 5, 1, 8, 0) if self.version >= 5 else struct.pack('<HIB', 4, 0, 8)
        first = min(low for _, _, ranges, _ in functions for low, _ in ranges)
        end = max(high for _, _, ranges, _ in functions for _, high in ranges)
        body = self.entry(self.UNIT, name, len(self.line), *self.range_of(first, end))
        origins = {}
        for function, line in declared.items():
            origins[function] = 4 + len(head) + len(body)
            body += self.entry(self.ABSTRACT, function, line, 1)
        for function in functions:
            body += self.function(*function, origins)
        body += b'\0'
        self.info += struct.pack('<I', len(head) + len(body)) + head + body
        self.add_lines(name, rows)

    def add_lines(self, name, rows):
        lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
        head = bytes([1, 1, 1, 0, 1, 13]) + lengths
        if self.version >= 5:
            table = lambda name: b'\1\1\x08\1' + text(name)  # one entry, which is a DW_LNCT_path as a string
            head += table('/made') + table(name)
        else:
            head += b'\0' + text(name) + bytes(3) + b'\0'
        before = struct.pack('<HBBI', 5, 8, 0, len(head)) if self.version >= 5 else struct.pack('<HI', 4, len(head))
        body = before + head + self.program(rows)
        self.line += struct.pack('<I', len(body)) + body

    def program(self, rows):
        out, line, start = b'', 1, True
        for instruction, now, discriminator in rows:
            out += b'\0\x09\x02' + struct.pack('<Q', at(instruction))
            if start and self.version >= 5:
                out += b'\x04\0'  # files count from 0
            start = now is None
            if start:
                out, line = out + b'\0\1\1', 1
                continue
            if discriminator:
                out += b'\0' + leb(1 + len(leb(discriminator))) + b'\4' + leb(discriminator)
            out, line = out + b'\3' + sleb(now - line) + b'\1', now
        return out


def elf(version, machine='x86_64', more=None, calls=(), returns=()):
    """The program; DWARF 0 leaves the debug info out. More sections by name; numbers of instructions that are calls and returns."""
    number, nop = MACHINES[machine]
    code = (CALLS[machine] if i in calls else RETURNS[machine] if i in returns else nop for i in range(40))
    sections = {'': b'', '.text': b''.join(code)}
    sections.update(Debug(version).sections() if version else {})
    sections.update(more or {})
    strings = b'\0' + b''.join(text(name) for name, _, _ in NAMES)
    symbols, offset = bytes(24), 1
    for name, first, end in NAMES:
        symbols += struct.pack('<IBBHQQ', offset, 2, 0, 1, at(first), STEP * (end - first))
        offset += len(name) + 1
    sections.update({'.symtab': symbols, '.strtab': strings, '.shstrtab': b''})
    names = list(sections)
    sections['.shstrtab'] = b''.join(map(text, names))
    body, headers, name_offset = b'', b'', 0
    for name, content in sections.items():
        body += bytes(-len(body) % 16)
        kind = {'': 0, '.symtab': 2, '.strtab': 3, '.shstrtab': 3}.get(name, 1)
        is_text = name == '.text'
        headers += struct.pack('<IIQQQQIIQQ', name_offset, kind, 6 if is_text else 0, TEXT if is_text else 0, 0x1000 + len(body) if kind else 0,
                               len(content), names.index('.strtab') if kind == 2 else 0, len(NAMES) + 1 if kind == 2 else 0, 16 if is_text else 1,
                               24 if kind == 2 else 0)
        name_offset += len(name) + 1
        body += content
    body += bytes(-len(body) % 16)
    head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, number, 1, TEXT, 64, 0x1000 + len(body), 0, 64, 56, 1, 64, len(names),
                                                     names.index('.shstrtab'))
    segment = struct.pack('<IIQQQQQQ', 1, 5, 0x1000, TEXT, TEXT, STEP * 40, STEP * 40, 0x1000)
    return (head + segment).ljust(0x1000, b'\0') + body + headers


def address(where):
    return OUTSIDE if where is None else at(where)


def recording(samples, chains=None):
    """samples: lists of branches, the newest first, as pairs of instructions; or numbers, addresses alone. A callchain for each."""
    branches = not isinstance(samples[0], int)
    kinds = 1 | 2 | (2048 if branches else 0) | (32 if chains else 0)  # IP, TID, BRANCH_STACK, CALLCHAIN
    attr = struct.pack('<IIQQQQQ', 0 if branches else 1, 112, 0, 1, kinds, 0, 1 << 5 | 1 << 8 | 1 << 23)
    attr = (attr + bytes(24) + struct.pack('<Q', 1 | 8 if branches else 0)).ljust(112, b'\0')
    path = text(PATH)
    path += bytes(-len(path) % 8)
    data = struct.pack('<IHHIIQQQIIQQII', 10, 2, 72 + len(path), 7, 7, TEXT, 0x1000, 0x1000, 8, 1, 9, 0, 5, 2) + path
    for number, sample in enumerate(samples):
        stack = sample if branches else []
        body = struct.pack('<QII', address(stack[0][1] if stack else sample), 7, 7)
        if chains:
            chain = chains[number]
            body += struct.pack('<Q', len(chain)) + b''.join(struct.pack('<Q', address(frame)) for frame in chain)
        if branches:
            body += struct.pack('<Q', len(stack)) + b''.join(struct.pack('<QQQ', address(source), address(target), 2) for source, target in stack)
        data += struct.pack('<IHH', 9, 2, 8 + len(body)) + body
    head = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 128, 104, 128, 232, len(data), 0, 0) + bytes(32)
    return head + attr + bytes(16) + data
