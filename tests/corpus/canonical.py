# SPDX-License-Identifier: MIT
"""Long texts of the corpus are kept as their first lines and one digest for each further LINES_PER_DIGEST lines."""
import hashlib, json

COMPLETE_LINES = 300
LINES_PER_DIGEST = 32
# what the decoder of the corpus says beyond the format
REMARKS = {'error', 'warning', 'warnings', 'file', 'file_size', 'payload_off', 'data_src_bits', 'oracle_error'}


def is_remark(name):
    return name.startswith('__') or name in REMARKS


def plain(value):
    """Registers are written as "0x..." here and there; true is 1."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.startswith('0x'):
        return int(value, 16) if all(digit in '0123456789abcdefABCDEF' for digit in value[2:]) and value[2:] else value
    return value


def restricted(value, names):
    """The value with only the members that `names` has, in any depth."""
    if isinstance(value, dict):
        return {name: restricted(member, names) for name, member in value.items() if name in names}
    if isinstance(value, list):
        return [restricted(member, names) for member in value]
    return plain(value)


def object_line(one, names):
    """The same for all objects that differ only in the order of members, in further members, and in how numbers are written."""
    return json.dumps(restricted(one, names), sort_keys=True).encode()


def script_line(line):
    """Of a frame only its address: perf adds symbols to those of streams although no one asked for them."""
    return b'\t' + line.split()[0] if line.startswith(b'\t') and line.strip() else line.rstrip()


def digests(lines):
    """One per LINES_PER_DIGEST lines."""
    for first in range(0, len(lines), LINES_PER_DIGEST):
        yield hashlib.sha256(b'\n'.join(lines[first:first + LINES_PER_DIGEST])).hexdigest()[:8]
