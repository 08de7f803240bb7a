#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names, lines and inlined functions of stripped programs in Go: go_names.py PERFILE ASSEMBLE, or go_names.py --seeds FOLDER

The programs are made here, with tables in the layouts of Go 1.2, 1.16, 1.18 and 1.20, of 32 and 64 bits in both byte
orders, position-independent ones too. Tables that contradict their files are not used. --seeds writes them for the fuzzer.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

TEXT, TEXT_BYTES, TABLE, DATA, RELOCATIONS, PAGE = 0x401000, 0x100, 0x401100, 0x401800, 0x402000, 0x1000
MAGIC = {'1.2': 0xfffffffb, '1.16': 0xfffffffa, '1.18': 0xfffffff0, '1.20': 0xfffffff1}
FILES = ['/src/main.go', '/src/step.go']
# name, start, and what changes up to which offset: file and line, and the inlined function
FUNCTIONS = [('main.main', 0, [(0, 30, 0x40)], []),
             ('main.(*acc).work', 0x40, [(0, 16, 0x10), (1, 12, 0x14), (1, 11, 0x18), (1, 12, 0x20), (0, 18, 0x40)],
              [(-1, 0x10), (0, 0x14), (1, 0x18), (0, 0x20), (-1, 0x40)])]
END = 0x80
# name and the offset in the function that has the line of the call
INLINED = [('main.twice', 0x24), ('main.step', 0x1c)]
NONE, X86_64, I386, PPC64 = 0, 62, 3, 21


class Table:
    """.gopclntab in one layout; `text` and addresses in it may be wrong, and `name_shift` moves the names of functions."""

    def __init__(self, version, bits=64, order='<', text=TEXT, entry_shift=0, name_shift=0, header_text=None):
        self.version, self.word, self.order, self.text = version, bits // 8, order, text
        self.relative = version in ('1.18', '1.20')
        self.entry_shift, self.name_shift = entry_shift, name_shift
        self.header_text = text if header_text is None else header_text
        self.data = self.first() if version == '1.2' else self.later()

    def u32(self, value):
        return struct.pack(self.order + 'I', value & 0xffffffff)

    def pointer(self, value):
        return struct.pack(self.order + ('Q' if self.word == 8 else 'I'), value)

    def address(self, offset):
        return self.u32(offset) if self.relative else self.pointer(self.text + offset)

    def head(self):
        return self.u32(MAGIC[self.version]) + bytes([0, 0, 1, self.word])

    @staticmethod
    def steps(values):
        """(value, end) as Go has them: the differences of the values and of the ends."""
        def number(value):
            out = bytearray()
            while value >= 0x80:
                out.append(value & 0x7f | 0x80)
                value >>= 7
            return bytes(out + bytes([value]))
        out, before, at = b'', -1, 0
        for value, end in [pair for pair, after in zip(values, [*values[1:], (None, 0)]) if pair[0] != after[0]]:
            difference = value - before
            out += number(difference * 2 if difference >= 0 else -difference * 2 - 1) + number(end - at)
            before, at = value, end
        return out + b'\0'

    def function(self, start, name, offsets):
        """The description of a function; offsets of the steps of its files, lines and inlined functions."""
        files, lines, inlined = offsets
        later = self.version != '1.2'
        out = self.address(start + self.entry_shift) + self.u32(name + self.name_shift) + bytes(12) + self.u32(files) + self.u32(lines)
        out += self.u32(3 if later else 0) + (self.u32(0) if later else b'') + (self.u32(1) if self.version == '1.20' else b'')
        out += bytes([0, 0, 0, 4 if later else 0])
        if not later:
            return out
        out += self.u32(0) * 2 + self.u32(inlined)
        if not self.relative:
            return out + bytes(-len(out) % self.word) + self.pointer(0) * 4
        return out + self.u32(0xffffffff) * 3 + self.u32(0 if inlined else 0xffffffff)

    def texts(self, names):
        out, offsets = bytearray(), []
        for name in names:
            offsets.append(len(out))
            out += name.encode() + b'\0'
        return bytes(out), offsets

    def all_steps(self):
        out, offsets = bytearray(1), []
        for _, _, lines, inlined in FUNCTIONS:
            each = []
            for values in ([(file, end) for file, _, end in lines], [(line, end) for _, line, end in lines], inlined):
                each.append(len(out) if values else 0)
                out += self.steps(values) if values else b''
            offsets.append(each)
        return bytes(out), offsets

    def index(self, names, steps, before):
        """The index and the functions, whose offsets count from `before` bytes ahead of the index."""
        entry = 4 if self.relative else self.word
        put = (lambda value: self.u32(value)) if self.relative else self.pointer
        at = before + entry * (2 * len(FUNCTIONS) + 1) + (4 if self.version == '1.2' else 0)
        at += -at % 8
        index, bodies = b'', b''
        for (_, start, _, _), name, offsets in zip(FUNCTIONS, names, steps):
            index += self.address(start) + put(at + len(bodies))
            body = self.function(start, name, offsets)
            bodies += body + bytes(-len(body) % 8)
        index += self.address(END)
        return index, at, bodies

    def first(self):
        """Go 1.2: one piece, whose offsets all count from its start."""
        head = self.head() + self.pointer(len(FUNCTIONS))
        texts, offsets = self.texts([name for name, *_ in FUNCTIONS] + FILES)
        steps, step_offsets = self.all_steps()
        base = 0x200
        moved = [[value and base + len(texts) + value for value in each] for each in step_offsets]
        index, at, bodies = self.index([base + offset for offset in offsets], moved, len(head))
        # files have the numbers of the table, from 1 on; those of the steps are one less
        files = 0x1c0
        out = (head + index + self.u32(files)).ljust(at, b'\0') + bodies
        assert len(out) <= files
        out = out.ljust(files, b'\0') + b''.join(self.u32(base + offset) for offset in offsets[len(FUNCTIONS):])
        return out.ljust(base, b'\0') + texts + steps

    def later(self):
        """Go 1.16 and later: pieces, whose offsets are in the header."""
        texts, offsets = self.texts([name for name, *_ in FUNCTIONS] + [name for name, _ in INLINED])
        self.name_offsets = offsets
        files, file_offsets = self.texts(FILES)
        units = b''.join(self.u32(offset) for offset in file_offsets)
        steps, step_offsets = self.all_steps()
        index, at, bodies = self.index(offsets, step_offsets, 0)
        pieces, location, words = [texts, units, files, steps, index.ljust(at, b'\0') + bodies], 8 + 8 * self.word, []
        out = b''
        for piece in pieces:
            words.append(location)
            piece += bytes(-len(piece) % 8)
            out, location = out + piece, location + len(piece)
        self.text_word = 8 + 2 * self.word
        header = [len(FUNCTIONS), len(FILES)] + ([self.header_text] if self.relative else []) + words
        return (self.head() + b''.join(self.pointer(word) for word in header)).ljust(8 + 8 * self.word, b'\0') + out

    def tree(self):
        """The inlined functions; what their offsets count from."""
        out = b''
        for (_, call), name in zip(INLINED, self.name_offsets[len(FUNCTIONS):]):
            if self.version == '1.20':
                out += bytes(4) + self.u32(name) + self.u32(call) + self.u32(1)
            else:
                out += bytes(12) + self.u32(name) + self.u32(call)
        return out

    def module(self, table, trees, trees_word, text=None, last=None):
        """What the program knows of its table: its addresses, and where the trees of inlined functions are."""
        words = [table] + [0] * 49
        words[20], words[21], words[22] = self.text, self.text + (END if last is None else last), self.text if text is None else text
        words[trees_word] = trees
        return b''.join(self.pointer(word) for word in words)


def elf(sections, bits=64, order='<', kind=2, machine=X86_64, type_of=None):
    """A program of these sections: name, type, flags, address and bytes, each at the offset of its address from 0x400000."""
    base, wide = 0x400000, bits == 64
    names = b'\0' + b''.join(name.encode() + b'\0' for name, *_ in sections) + b'.shstrtab\0'
    image = bytearray(max(address - base + len(data) for _, _, _, address, data in sections))
    for _, _, _, address, data in sections:
        image[address - base:address - base + len(data)] = data
    end = len(image)
    image += names + bytes(-len(names) % 8)
    headers, at = len(image), 1
    form = order + ('IIQQQQIIQQ' if wide else 'IIIIIIIIII')
    image += bytes(struct.calcsize(form))
    for name, sort, flags, address, data in sections:
        each = 24 if sort == 4 else 0
        image += struct.pack(form, at, sort, flags, address, address - base, len(data), 0, 0, 8, each)
        at += len(name) + 1
    image += struct.pack(form, at, 3, 0, 0, end, len(names), 0, 0, 1, 0)
    ident = b'\x7fELF' + bytes([2 if wide else 1, 1 if order == '<' else 2, 1]) + bytes(9)
    head = ident + struct.pack(order + ('HHIQQQIHHHHHH' if wide else 'HHIIIIIHHHHHH'), kind, machine, 1, TEXT, 64 if wide else 52, headers,
                               0, 64 if wide else 52, 56 if wide else 32, 1, struct.calcsize(form), len(sections) + 2, len(sections) + 1)
    if wide:
        load = struct.pack(order + 'IIQQQQQQ', 1, 7, 0, base, base, end, end, PAGE)
    else:
        load = struct.pack(order + 'IIIIIIII', 1, 0, base, base, end, end, 7, PAGE)
    image[:len(head) + len(load)] = head + load
    return bytes(image)


CODE = ('.text', 1, 6, TEXT, bytes(TEXT_BYTES))


def program(table, name='.gopclntab', trees_word=40, **options):
    """One with a module, whose trees lie after it."""
    module_options = {key: options.pop(key) for key in ('text', 'last') if key in options}
    module = table.module(TABLE, DATA + 0x400, trees_word, **module_options) if table.version != '1.2' else b''
    trees = table.tree() if table.version != '1.2' else b''
    return elf([CODE, (name, 1, 2, TABLE, table.data), ('.noptrdata', 1, 3, DATA, module.ljust(0x400, b'\0') + trees)], **options)


def relocated():
    """Linked by another linker, as a position-independent program: the addresses are in its relocations only."""
    table = Table('1.18', header_text=0)
    at = TABLE + 32
    module = table.module(at, DATA + 0x400, 38)
    words = [struct.unpack_from('<Q', module, 8 * i)[0] for i in range(50)]
    places = [(at + table.text_word, TEXT)] + [(DATA + 8 * i, word) for i, word in enumerate(words) if word]
    relocations = b''.join(struct.pack('<QQQ', location, 8, value) for location, value in places)
    return elf([CODE, ('.data.rel.ro', 1, 3, TABLE, bytes(32) + table.data),
                ('.data', 1, 3, DATA, bytes(0x400) + table.tree()), ('.rela.dyn', 4, 2, RELOCATIONS, relocations),
                ('.go.buildinfo', 1, 3, RELOCATIONS + 0x800, b'\xff Go buildinf:')], kind=3)


def good():
    """Programs that have names: their bytes, and whether they have inlined functions."""
    for version, inlined in (('1.2', False), ('1.16', False), ('1.18', True), ('1.20', True)):
        word = 38 if version == '1.18' else 40
        yield f'{version} 64', program(Table(version), trees_word=word), inlined
        yield f'{version} 32', program(Table(version, 32), trees_word=word, bits=32, machine=I386), inlined
        yield f'{version} big', program(Table(version, 64, '>'), trees_word=word, order='>', machine=PPC64), inlined
    yield 'moved section', program(Table('1.20'), '.data.rel.ro.gopclntab', kind=3), True
    yield 'relocated', relocated(), True
    # the header does not have the start of the code: the module has it
    yield 'without text', program(Table('1.20', header_text=0)), True
    # nothing shows where inlined functions are
    yield 'no trees', program(Table('1.20'), trees_word=30), False


def bad():
    """Programs whose tables contradict their files."""
    yield 'a page too low', program(Table('1.20', text=TEXT - PAGE))
    yield 'a page too high', program(Table('1.20', text=TEXT + PAGE))
    yield 'a page too high, 1.16', program(Table('1.16', text=TEXT + PAGE))
    yield 'its end is after the code', program(Table('1.20', text=TEXT + TEXT_BYTES - END + 1))
    yield 'functions that start elsewhere', program(Table('1.20', entry_shift=4))
    yield 'no start of the code, and another end', program(Table('1.20', header_text=0), last=END + 16)
    yield 'unknown layout', program(Table('1.20')).replace(struct.pack('<I', MAGIC['1.20']), struct.pack('<I', 0xfffffff2))
    yield 'names out of the table', program(Table('1.20', name_shift=0x10000))
    yield 'pointers of another size', program(Table('1.20', 32))


RECORDING = '''attr type=1 config=0 sample_type=IP|TID|TIME|CALLCHAIN ids=1 name="cpu-clock" sample_id_all=1
record MMAP misc=2 pid=7 tid=7 addr=0x401000 len=0x1000 pgoff=0x1000 filename="/bin/go" | pid=7 tid=7 time=1
''' + ''.join(f'sample misc=2 ip={TEXT + offset:#x} pid=7 tid=7 time=2 callchain=0x2,0xfffffffffffffe00,{TEXT + offset:#x}\n'
                 for offset in (0x10, 0x40, 0x52, 0x56, 0x7f, 0x80))
PLAIN = [(0x10, 'main.main main.go:30'), (0x40, 'main.(*acc).work main.go:16'), (0x52, 'main.(*acc).work step.go:12'),
         (0x56, 'main.(*acc).work step.go:11'), (0x7f, 'main.(*acc).work main.go:18'), (0x80, '[unknown] go[401080]')]
INLINES = [*PLAIN[:2], (0x52, 'main.twice step.go:12 (inlined)'), (0x52, PLAIN[4][1]), (0x56, 'main.step step.go:11 (inlined)'),
           (0x56, 'main.twice step.go:12 (inlined)'), (0x56, PLAIN[4][1]), *PLAIN[4:]]


def names(perfile, folder, recording, image):
    (folder / 'root/bin/go').write_bytes(image)
    command = [*perfile, 'script', '-F', 'ip,sym,srcline', '--symfs', folder / 'root', recording]
    text = subprocess.run(command, env=hermetic.environment(XDG_CACHE_HOME=str(folder), HOME=str(folder)), stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    words = [' '.join(line.split()) for line in text.splitlines() if line.strip()]
    return [(int(ip, 16) - TEXT, f'{name} {line}') for (ip, name), line in zip((word.split(' ', 1) for word in words[::2]), words[1::2])]


def main():
    if sys.argv[1] == '--seeds':
        for name, table in ((version, Table(version)) for version in MAGIC):
            (pathlib.Path(sys.argv[2]) / name).write_bytes(table.data)
        (pathlib.Path(sys.argv[2]) / 'relocated').write_bytes(relocated())
        return
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'root/bin').mkdir(parents=True)
        recording = folder / 'perf.data'
        recording.write_bytes(subprocess.check_output(assemble, input=RECORDING.encode()))
        wrong = []
        for name, image, inlined in good():
            got, expected = names(perfile, folder, recording, image), INLINES if inlined else PLAIN
            wrong += [f'{name}: {got}\n  not {expected}'] if got != expected else []
        for name, image in bad():
            got = names(perfile, folder, recording, image)
            wrong += [f'{name}: {got}'] if any('main' in text for _, text in got) else []
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
