#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbols.py SYMBOLIZE BINARY [COUNT]: functions, inlined functions and lines of COUNT addresses (100,000) of a binary with debug
info, by examples/symbolize and by llvm-symbolizer: where they differ, and how much processor time both take. `first`
reads the debug info, `again` finds it in the cache on disk; `more` are as many addresses again in the same process, when both have
read all that they need."""
import collections, os, pathlib, random, re, struct, subprocess, sys, tempfile


def text_of(binary):
    """Where the code of an ELF file of 64 bits is."""
    data = binary.read_bytes()
    at, = struct.unpack_from('<Q', data, 0x28)
    each, count, names = struct.unpack_from('<HHH', data, 0x3a)
    sections = [struct.unpack_from('<IIQQQQ', data, at + each * i) for i in range(count)]
    name_at = sections[names][4]
    for name, _, _, address, _, size in sections:
        if data[name_at + name:name_at + name + 6] == b'.text\0':
            return range(address, address + size)
    sys.exit(f'{binary}: no .text')


def run(command, addresses, folder):
    out = folder / 'out'
    with out.open('wb') as file:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, env={**os.environ, 'XDG_CACHE_HOME': str(folder)})
        child.stdin.write(''.join(f'{address:#x}\n' for address in addresses).encode())
        child.stdin.close()
        _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f'{command[0]}: status {status}')
    return out.read_text(errors='replace'), used.ru_utime + used.ru_stime


def plain(name):
    """Without what demanglers write in their own ways."""
    return re.sub(r'[()\[\] ]|clone', '', name)


def compare(ours, theirs):
    """How many addresses have the same frames; our frames, which no line separates, stand side by side with theirs."""
    found, at, kinds = ours.rstrip('\n').split('\n'), 0, collections.Counter()
    for block in theirs.rstrip('\n').split('\n\n'):
        rows = block.split('\n')
        mine, at = found[at:at + len(rows)], at + len(rows)
        names = [plain(row) for row in rows[::2]] == [plain(row) for row in mine[::2]]
        lines = [re.sub(r':\d+$', '', row) for row in rows[1::2]]
        unknown = any(row.startswith('??:0') for row in lines)
        kinds['equal' if names and lines == mine[1::2] else
              'line unknown to llvm-symbolizer' if unknown else 'other line' if names else 'other name'] += 1
    kinds['frames'] = at // 2
    if at != len(found):
        sys.exit('another number of frames')
    return kinds


def main():
    symbolize, binary, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 100000
    random.seed(1)
    addresses = random.sample(text_of(binary), count)
    again = random.sample(addresses, count)
    llvm = ['llvm-symbolizer', f'--obj={binary}', '-f', '--inlines']
    for _ in range(3):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            theirs, one = run(llvm, addresses, folder)
            _, two = run(llvm, addresses + again, folder)
            print(f'llvm-symbolizer: first {one:.2f} s, more {two - one:.2f} s')
            ours, first = run([symbolize, str(binary)], addresses, folder)
            _, warm = run([symbolize, str(binary)], addresses, folder)
            _, two_warm = run([symbolize, str(binary)], addresses + again, folder)
            print(f'perfile: first {first:.2f} s, again {warm:.2f} s, more {two_warm - warm:.2f} s')
            print(f'ratio: first {one / first:.1f}, again {one / warm:.1f}, more {(two - one) / max(two_warm - warm, 0.01):.1f}')
    print(*(f'{key}: {value}' for key, value in compare(ours, theirs).items()), sep=', ')


main()
