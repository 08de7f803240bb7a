#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""drivers.py TESTS: every test in Python runs in the surroundings of tests/hermetic.py, not in those of its user, and every test
that lies in the tree is named by a meson.build, so that it runs at all."""
import pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic


def tests_of(tree):
    drivers = [path for path in sorted(tree.glob('*/*.py')) if path.read_text().startswith('#!')]
    return drivers, [*drivers, *sorted(tree.glob('*/*/*.case')), *sorted(tree.glob('*/test_*.c')), *sorted(tree.glob('*/fuzz_*.c'))]


def main():
    hermetic.settle()
    tree = pathlib.Path(sys.argv[1])
    drivers, tests = tests_of(tree)
    words = {word for build in [tree.parent / 'meson.build', *tree.rglob('meson.build')]
             for word in re.findall(r'[\w.+-]+', build.read_text())}
    wrong = [f'{path} does not call hermetic.settle() first' for path in drivers if 'hermetic.settle()' not in path.read_text()]
    wrong += [f'{path} is named by no meson.build: it never runs' for path in tests
              if not words & {path.name, path.stem, re.sub('^(test|fuzz)_', '', path.stem)}]
    print(*wrong, sep='\n')
    print(f'{len(drivers)} drivers, {len(tests)} tests, {len(wrong)} wrong')
    sys.exit(bool(wrong) or not drivers)


main()
