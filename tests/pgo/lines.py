#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles by source line, of a program that is made here: lines.py PERFILE

The debug info, DWARF 4 and 5, has inlined functions, discriminators, a part that was split off, two functions of one name, and code
without it; the same text must come from all of them.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import made

CALLS = ([[(11, 5), (7, 8), (None, 0)]] * 3  # hot is entered from outside and calls leaf
         + [[(7, 8), (11, 5)]] * 2
         + [[(15, 0), (7, 12)]]  # and same, which jumps back to the start of hot
         + [[(35, 8), (29, 32)]]  # the other same, called by bare, calls leaf
         + [[(30, 8), (1, 28)]]
         + [[(7, 8), (3, 5.5)]])  # from the middle of an instruction
SAMPLE = '''\
hot:120:4
 1: 3
 2.1: 3
 4.1: 10
 5: 7 leaf:6 same:1
 6: 0
 65436: 5
 3.1: tiny:36
  1: 3
  2: 3
  1: deep:12
   1: 3
leaf:48:8
 1: 3
 2: 3
same:32:2
 1: 1
 2: 2 hot:1 leaf:1
'''
# by the name of the function; discriminators are as they are recorded, and so are counts
GCOV = '''\
4 hot
 1: 3
 2.2: 3
 4.514: 5
 5: 5 leaf:6 same:1
 6: 0
 65436: 5
 3.2: tiny
  1: 3
  2: 3
  1: deep
   1: 3
8 leaf
 1: 3
 2: 3
2 same
 1: 1
 2: 1 hot:1 leaf:1
'''
ADDRESSES = [3] * 4 + [9] * 2 + [29, 5.5]
SAMPLE_OF_ADDRESSES = '''\
hot:4:0
 1: 0
 2.1: 0
 4.1: 0
 5: 0
 6: 0
 65436: 0
 3.1: tiny:4
  1: 0
  2: 0
  1: deep:4
   1: 4
leaf:2:0
 1: 2
 2: 0
'''


def decode(data):
    """A profile for GCC as the text that LLVM's would be, but for totals: (version, text)."""
    at = 0

    def word():
        nonlocal at
        at += 4
        return struct.unpack_from('<I', data, at - 4)[0]

    def count():
        return word() | word() << 32

    def part(tag):
        assert word() == tag
        length = word() * unit
        return at + length

    def where(location):
        return '%d' % (location >> 16) + ('.%d' % (location & 0xffff) if location & 0xffff else '')

    def function(indent, head):
        name, lines, inlined = names[word()], word(), word()
        out = head + name
        body = ''
        for _ in range(lines):
            location, targets, ran = word(), word(), count()
            body += ' ' * indent + '%s: %d' % (where(location), ran)
            for _ in range(targets):
                assert word() == 7
                body += ' %s:' % names[count()] + '%d' % count()
            body += '\n'
        for _ in range(inlined):
            location = word()
            body += function(indent + 1, ' ' * indent + where(location) + ': ')
        return out + '\n' + body

    assert word() == 0x67636461
    version, unit = word(), 1
    unit = 4 if version == 1 else 1
    assert word() == 0
    end = part(0xaa000000)
    names = []
    for _ in range(word()):
        length = word() * unit
        name = data[at:at + length]
        at += length
        assert name.endswith(b'\0') and len(name.rstrip(b'\0')) + (4 if unit == 4 else 1) >= len(name), name
        names.append(name.rstrip(b'\0').decode())
    assert at == end and names[0] == '' and names == sorted(names), names
    end = part(0xac000000)
    out = ''
    for _ in range(word()):
        head = count()
        out += function(1, '%d ' % head)
    assert at == end
    end = part(0xae000000)
    assert word() == 0 and at == end == len(data)
    return version, out


class Test:
    def __init__(self, perfile, folder):
        self.perfile, self.folder, self.failed = perfile, folder, 0

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as file:
            file.write(content)
        return path

    def run(self, program, recording, *options):
        """(status, profile or None, what is on standard error)"""
        out = os.path.join(self.folder, 'out')
        if os.path.exists(out):
            os.remove(out)
        done = subprocess.run([self.perfile, 'pgo', *options, '--binary', program, '-o', out, recording], env=hermetic.environment(),
                              capture_output=True, text=True, check=False)
        content = open(out, 'rb').read() if os.path.exists(out) else None
        return done.returncode, content, done.stderr

    def equal(self, what, found, expected):
        if found != expected:
            self.failed += 1
            print('%s:\n%s\nexpected:\n%s' % (what, found, expected))


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        test = Test(sys.argv[1], folder)
        branches = test.write('branches', made.recording(CALLS))
        addresses = test.write('addresses', made.recording(ADDRESSES))
        for version, machine in (4, 'x86_64'), (5, 'x86_64'), (5, 'aarch64'):
            what = 'DWARF %d, %s' % (version, machine)
            program = test.write('program', made.elf(version, machine))
            status, profile, errors = test.run(program, branches, '--format', 'sample')
            test.equal(what, (status, profile), (0, SAMPLE.encode()))
            for line in ': 1 range dropped: an end is not an instruction', ': 1 function left out: no debug info':
                test.equal('reported', line in errors, True)
            for gcc, layout in ('11', 1), ('12', 2):
                status, profile, errors = test.run(program, branches, '--format', 'gcov', '--gcc', gcc)
                test.equal('%s, gcc %s' % (what, gcc), (status, decode(profile)), (0, (layout, GCOV)))
            test.equal(what + ', addresses', test.run(program, addresses, '--format', 'sample')[:2], (0, SAMPLE_OF_ADDRESSES.encode()))
        # a name with the end of a line in it would add lines
        program = test.write('program', made.elf(5).replace(b'leaf\0', b'l\n:1\0'))
        status, profile, errors = test.run(program, branches, '--format', 'sample')
        test.equal('name of two lines', (status, b'l\n' in profile, b'hot:120:4\n' in profile), (0, False, True))
        test.equal('reported', ': 2 functions left out: no debug info' in errors, True)
        program = test.write('program', made.elf(5, more={'.pseudo_probe_desc': b'x'}))
        status, profile, errors = test.run(program, branches, '--format', 'sample')
        test.equal('probes', (status, profile, 'program was built with -fpseudo-probe-for-profiling' in errors), (0, SAMPLE.encode(), True))
        program = test.write('program', made.elf(0))
        for form in 'sample', 'gcov':
            status, profile, errors = test.run(program, branches, '--format', form)
            test.equal('no debug info', (status, profile), (1, None))
            test.equal('reported', 'has no debug info for the code that ran' in errors, True)
    return test.failed != 0


if __name__ == '__main__':
    sys.exit(main())
