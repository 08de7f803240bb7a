# SPDX-License-Identifier: MIT
"""For the tests of the Python binding: the module and the library of a build, and recordings."""
import importlib, os, pathlib, sys, unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
BINDING = TREE / 'bindings/python'
DEMO = TREE / 'examples/demo.perf.data'
DATA = TREE / 'tests/data'
sys.path.insert(0, str(TREE / 'tests'))
import hermetic


def module(build):
    """The folder that PYTHONPATH names."""
    return pathlib.Path(build) / 'bindings/python'


def environment(build):
    """For programs that use the binding."""
    return hermetic.environment(PERFILE_LIBRARY=str(build), PYTHONPATH=str(module(build)), **hermetic.INSIDE)


def load(build):
    sys.path.insert(0, str(module(build)))
    os.environ['PERFILE_LIBRARY'] = str(build)
    return importlib.import_module('perfile')


def optional(name):
    """A module that a test needs; else the test is skipped."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f'skipped: {name} is not installed')
        raise unittest.SkipTest(f'{name} is not installed') from None


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
