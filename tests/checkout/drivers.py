#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""drivers.py TESTS: every test in Python runs in the surroundings of tests/hermetic.py, not in those of its user."""
import pathlib, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic


def main():
    hermetic.settle()
    drivers = [path for path in sorted(pathlib.Path(sys.argv[1]).glob('*/*.py')) if path.read_text().startswith('#!')]
    wrong = [path for path in drivers if 'hermetic.settle()' not in path.read_text()]
    print(*(f'{path} does not call hermetic.settle() first' for path in wrong), sep='\n')
    print(f'{len(drivers)} drivers, {len(wrong)} wrong')
    sys.exit(bool(wrong) or not drivers)


main()
