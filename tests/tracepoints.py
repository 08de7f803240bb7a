# SPDX-License-Identifier: MIT
"""Recordings of tracepoints as tests/assemble makes them: their formats, and the bytes that samples have."""
import struct

COMMON = (('unsigned short', 'common_type', 2, 0), ('unsigned char', 'common_flags', 1, 0),
          ('unsigned char', 'common_preempt_count', 1, 0), ('int', 'common_pid', 4, 1))
SWITCH = (('char', 'prev_comm[16]', 16, 0), ('pid_t', 'prev_pid', 4, 1), ('int', 'prev_prio', 4, 1), ('long', 'prev_state', 8, 1),
          ('char', 'next_comm[16]', 16, 0), ('pid_t', 'next_pid', 4, 1), ('int', 'next_prio', 4, 1))


def form(name, number, fields, print_format='""'):
    """Its format file."""
    text, offset = f'name: {name}\nID: {number}\nformat:\n', 0
    for kind, field, size, signed in (*COMMON, *fields):
        text += f'\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n'
        text += '\n' if field == 'common_pid' else ''
        offset += size
    return (text + f'\nprint fmt: {print_format}\n').encode()


def tracing_data(systems):
    """The feature TRACING_DATA; `systems` belongs to names to lists of formats."""
    page = b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
    data = (b'\x17\x08\x44tracing0.6\0\0\x08' + struct.pack('<I', 4096) + b'header_page\0' + struct.pack('<Q', len(page)) + page +
            b'header_event\0' + struct.pack('<Q', 2) + b'x\n' + struct.pack('<II', 0, len(systems)))
    for system, forms in systems.items():
        data += system.encode() + b'\0' + struct.pack('<I', len(forms))
        data += b''.join(struct.pack('<Q', len(text)) + text for text in forms)
    return data + struct.pack('<IIQ', 0, 0, 0)


def raw(number, pid, fields, values):
    """What a sample has of it, padded as the kernel does, as words of tests/assemble."""
    data = struct.pack('<HBBi', number, 0, 0, pid)
    for (_, _, size, signed), value in zip(fields, values):
        data += value.encode()[:size].ljust(size, b'\0') if isinstance(value, str) else value.to_bytes(size, 'little', signed=bool(signed))
    data += bytes(-(len(data) + 4) % 8)
    return f'raw=u32:{len(data)},hex:{data.hex()}'
