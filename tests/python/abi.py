#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi.py BUILD VERSION: the binding is what the headers say.

It is made from abi.txt, which api-abi compares with the headers; ctypes lays every struct out as the compiler does; every error
code has a class; the version is the project's."""
import ctypes, re, sys, unittest

import binding

binding.hermetic.settle()
binding.hermetic.find_packages()  # pandas and the like
BUILD, VERSION = sys.argv[1:]
DUMP = binding.TREE / 'tests/api/abi.txt'
perfile = binding.load(BUILD)
abi, constants, values = (binding.importlib.import_module(f'perfile.{name}') for name in ('abi', 'constants', 'values'))


def wrong_layouts(lines):
    """Members and structs that ctypes lays out otherwise than the dump says."""
    found = []
    for line in lines:
        if struct := re.match(r'struct (\w+): (\d+) bytes', line):
            if ctypes.sizeof(getattr(abi, struct[1])) != int(struct[2]):
                found.append(line)
        elif member := re.match(r'struct (\w+)\.(\w+): at (\d+):', line):
            kind = getattr(abi, member[1])
            at = getattr(kind, member[2], None) or getattr(kind, member[2] + '_')
            if at.offset != int(member[3]):
                found.append(line)
    return found


class Abi(unittest.TestCase):
    @unittest.skipUnless(sys.maxsize.bit_length() == 63, 'abi.txt is that of machines with 64 bits')
    def test_layout(self):
        lines = DUMP.read_text().splitlines()
        self.assertEqual(wrong_layouts(lines), [])
        moved = [re.sub(r'(perfile_mmap2\.filename: at )\d+', r'\g<1>4', line) for line in lines]
        self.assertEqual(len(wrong_layouts(moved)), 1)  # the check can fail

    def test_every_function_is_there(self):
        exported = set(re.findall(r'^export \S+ (\w+)@', DUMP.read_text(), re.M))
        self.assertEqual(exported, set(abi.FUNCTIONS))
        for name in exported:
            self.assertTrue(callable(getattr(binding.importlib.import_module('perfile._library').lib, name)))

    def test_every_error_has_a_class(self):
        classes = binding.importlib.import_module('perfile._library').CLASSES
        codes = {value for name, value in vars(constants).items() if name.startswith('PERFILE_ERROR_')}
        self.assertEqual(set(classes), codes)
        self.assertEqual({kind.__name__ for kind in classes.values()} - set(perfile.__all__), set())

    def test_every_struct_can_be_copied(self):
        copier = binding.importlib.import_module('perfile._values').copier
        for kind, made in values.CLASSES.items():
            self.assertIsInstance(copier(kind)(kind()), made)

    def test_version(self):
        self.assertEqual(perfile.__version__, VERSION)
        self.assertEqual(perfile.library_version(), VERSION)


if __name__ == '__main__':
    binding.main()
