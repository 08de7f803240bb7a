#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""drivers.py TESTS: every test in Python runs in the surroundings of tests/hermetic.py, not in those of its user, and every test
that lies in the tree is named by the meson.build nearest to it, so that it runs at all."""
import pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic


def tests_of(tree):
    drivers = [path for path in sorted(tree.glob('*/*.py')) if path.read_text().startswith('#!')]
    return drivers, [*drivers, *sorted(tree.glob('*/*/*.case')), *sorted(tree.glob('*/test_*.c')), *sorted(tree.glob('*/fuzz_*.c'))]


def named(path):
    build = next(folder / 'meson.build' for folder in path.parents if (folder / 'meson.build').exists())
    words = set(re.findall(r'[\w.+-]+', build.read_text()))
    return words & {path.name, path.stem, re.sub('^(test|fuzz)_', '', path.stem)}


def main():
    hermetic.settle()
    drivers, tests = tests_of(pathlib.Path(sys.argv[1]))
    wrong = [f'{path} does not call hermetic.settle() first' for path in drivers if 'hermetic.settle(' not in path.read_text()]
    wrong += [f'{path} is not named by the nearest meson.build: it never runs' for path in tests
              if not named(path)]
    print(*wrong, sep='\n')
    print(f'{len(drivers)} drivers, {len(tests)} tests, {len(wrong)} wrong')
    sys.exit(bool(wrong) or not drivers)


main()
