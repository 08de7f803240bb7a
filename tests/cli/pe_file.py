# SPDX-License-Identifier: MIT
"""PE files for tests: pe_file.py FOLDER writes them for the fuzzer.

The code begins at TEXT in the image and at OFFSET in the file. It has the functions `first`, 64 bytes, and
`second_of_a_long_name`, 32 bytes, one after the other.
"""
import pathlib
import struct
import sys

TEXT, OFFSET, BYTES, DATA = 0x1000, 0x1000, 0x200, 0x2000
FUNCTIONS = [(b'first', 0, 0x40), (b'second_of_a_long_name', 0x40, 0x60)]


def coff(prefix=b''):
    """The symbols, with variables, labels and files between them, and the texts of long names."""
    texts, out = bytearray(4), b''
    for name, start, _ in FUNCTIONS:
        name = prefix + name
        short = name.ljust(8, b'\0')
        if len(name) > 8:
            short = struct.pack('<II', 0, len(texts))
            texts += name + b'\0'
        out += short + struct.pack('<IhHBB', start, 1, 0x20, 2, 1) + bytes(18)
    for name, value, section, kind, storage in ((b'label', 0x10, 1, 0, 3), (b'variable', 0, 2, 0, 2), (b'absolute', 0, -1, 0x20, 2),
                                                (b'far', 0x4000, 1, 0x20, 2)):
        out += name.ljust(8, b'\0') + struct.pack('<IhHBB', value, section, kind, storage, 0)
    texts[:4] = struct.pack('<I', len(texts))
    return out, bytes(texts)


def exports():
    """The directory of exports at DATA: the functions, and one that leads to another file."""
    names = [name for name, _, _ in FUNCTIONS] + [b'forwarded']
    functions, name_at, numbers, texts = DATA + 40, DATA + 60, DATA + 80, DATA + 96
    table = struct.pack('<10I', 0, 0, 0, 0, 1, 3, 3, functions, name_at, numbers)
    table += struct.pack('<3I', *[TEXT + start for _, start, _ in FUNCTIONS], texts).ljust(20, b'\0')
    places = [texts + sum(len(name) + 1 for name in names[:i]) for i in range(3)]
    table += struct.pack('<3I', *places).ljust(20, b'\0') + struct.pack('<3H', 0, 1, 2).ljust(16, b'\0')
    return table + b'\0'.join(names) + b'\0'


def extents():
    return b''.join(struct.pack('<3I', TEXT + start, TEXT + end, DATA) for _, start, end in FUNCTIONS)


def image(machine=0x8664, symbols=True, exported=False, functions=True):
    optional = bytearray(240 if machine == 0x8664 else 224)
    wide = machine == 0x8664
    at = 112 if wide else 96
    struct.pack_into('<H', optional, 0, 0x20b if wide else 0x10b)
    struct.pack_into('<I', optional, at - 4, 16)
    data = exports().ljust(0x100, b'\0') + extents()
    if exported:
        struct.pack_into('<II', optional, at, DATA, 0x100)
    if functions:
        struct.pack_into('<II', optional, at + 24, DATA + 0x100, len(extents()))
    data_at = OFFSET + BYTES
    entries, texts = coff(b'' if wide else b'_') if symbols else (b'', b'')
    header = b'PE\0\0' + struct.pack('<HHIIIHH', machine, 2, 0, data_at + len(data) if symbols else 0, len(entries) // 18, len(optional), 0x22)
    sections = b'.text'.ljust(8, b'\0') + struct.pack('<IIIIIIHHI', BYTES, TEXT, BYTES, OFFSET, 0, 0, 0, 0, 0x60000020)
    sections += b'.rdata'.ljust(8, b'\0') + struct.pack('<IIIIIIHHI', len(data), DATA, len(data), data_at, 0, 0, 0, 0, 0x40000040)
    out = b'MZ'.ljust(60, b'\0') + struct.pack('<I', 64) + header + bytes(optional) + sections
    return out.ljust(OFFSET, b'\x90') + bytes(BYTES) + data + entries + texts


if __name__ == '__main__':
    for file, made in {'pe-symbols': image(), 'pe-exports': image(symbols=False, exported=True), 'pe-32': image(0x14c)}.items():
        (pathlib.Path(sys.argv[1]) / file).write_bytes(made)
