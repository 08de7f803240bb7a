#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""installs.py BUILD VERSION: `pip install` of the binding, without a network; its types, with mypy; without its library."""
import importlib.util, os, pathlib, shutil, subprocess, sys, tempfile, unittest

import binding

binding.hermetic.settle()
binding.hermetic.find_packages()  # pandas and the like
BUILD, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
USE = 'import perfile, sys; print(perfile.__file__, len(list(perfile.open(sys.argv[1]).table("samples"))))'


def run(*command, **more):
    return subprocess.run(command, text=True, capture_output=True, **more)


class Installs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_pip(self):
        for module in ('pip', 'setuptools', 'wheel'):
            if not importlib.util.find_spec(module):  # importing pip and setuptools into one process is not for others
                print(f'skipped: {module} is not installed')
                self.skipTest(f'{module} is not installed')
        source = self.folder / 'checkout/bindings/python'  # builds leave files where the sources are
        shutil.copytree(binding.BINDING, source)
        for name in ('tests/api/abi.txt', 'include/perfile/records.h'):
            copy = self.folder / 'checkout' / name
            copy.parent.mkdir(parents=True)
            shutil.copy(binding.TREE / name, copy)
        self.install(source, self.folder / 'from-checkout')
        done = run(sys.executable, 'setup.py', '--quiet', 'sdist', '--dist-dir', self.folder, cwd=source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.install(self.folder / f'perfile-{VERSION}.tar.gz', self.folder / 'from-archive')

    def install(self, source, target):
        done = run(sys.executable, '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-index', '--no-deps',
                   '--no-build-isolation', '--no-compile', '--target', target, source,
                   env=binding.hermetic.environment(PIP_ROOT_USER_ACTION='ignore', HOME=str(self.folder)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        installed, built = (sorted(path.name for path in folder.iterdir() if path.is_file())
                            for folder in (target / 'perfile', binding.module(BUILD) / 'perfile'))
        self.assertEqual(installed, built)
        self.assertTrue((target / f'perfile-{VERSION}.dist-info').is_dir())
        metadata = run(sys.executable, '-c', 'from importlib.metadata import version; print(version("perfile"))',
                       env=binding.hermetic.environment(PYTHONPATH=str(target)))
        self.assertEqual(metadata.stdout, f'{VERSION}\n')
        done = run(sys.executable, '-c', USE, binding.DEMO, cwd=self.folder,
                   env=binding.hermetic.environment(PERFILE_LIBRARY=str(BUILD), PYTHONPATH=str(target)))
        self.assertEqual((done.stdout, done.stderr), (f'{target}/perfile/__init__.py 314\n', ''))

    def test_copied(self):
        """A package of a distribution: a copy, with what importlib.metadata reads."""
        if not importlib.util.find_spec('tomllib'):
            print('skipped: tomllib is missing: this Python is older than 3.11')
            self.skipTest('tomllib is missing')
        done = run(sys.executable, binding.BINDING / 'dist_info.py', self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        done = run(sys.executable, '-c', 'from importlib.metadata import *; print(version("perfile"), requires("perfile"))',
                   env=binding.hermetic.environment(PYTHONPATH=str(self.folder)))
        self.assertEqual(done.stdout, f'{VERSION} ["pandas; extra == \'pandas\'", "numpy; extra == \'pandas\'"]\n')

    def test_loader_finds_the_library(self):
        """By its soname, without PERFILE_LIBRARY."""
        environment = binding.hermetic.environment(LD_LIBRARY_PATH=str(BUILD.resolve()), PYTHONPATH=str(binding.module(BUILD)))
        done = run(sys.executable, '-c', USE, binding.DEMO, env=environment)
        self.assertEqual((done.stdout.split()[-1:], done.stderr), (['314'], ''))

    def test_without_the_library(self):
        environment = binding.hermetic.environment(PERFILE_LIBRARY=str(self.folder), PYTHONPATH=str(binding.module(BUILD)))
        done = run(sys.executable, '-c', 'import perfile', env=environment)
        self.assertRegex(done.stderr, r'ImportError: libperfile\.so\.0 cannot be loaded .*install the library .*PERFILE_LIBRARY')

    def test_types(self):
        if not shutil.which('mypy'):
            print('skipped: mypy is not installed: apt-get install mypy')
            self.skipTest('mypy is not installed')
        use = self.folder / 'use.py'
        use.write_text('import perfile\nfor sample in perfile.open("x").samples():\n    reveal_type(sample.ip)\n'
                       'perfile.open("x").table("samples", batch_rows="many")\n'
                       'from typing import NamedTuple, Optional\n'
                       'class Row(NamedTuple):\n    comm: Optional[str]\n    period: int\n'
                       'for row in perfile.open("x").table("samples").rows_as(Row):\n    reveal_type(row.comm)\n'
                       'reveal_type(perfile.Recorder("x", ["true"]).follow().profile().samples[0].values)\n')
        done = run('mypy', '--cache-dir', os.devnull, '--config-file', binding.BINDING / 'pyproject.toml',
                   binding.module(BUILD) / 'perfile', cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run('mypy', '--cache-dir', os.devnull, use, cwd=self.folder,
                   env=binding.hermetic.environment(MYPYPATH=str(binding.module(BUILD))))
        self.assertIn('Revealed type is "builtins.int"', done.stdout)
        self.assertIn('use.py:4: error: Argument "batch_rows"', done.stdout)
        self.assertIn('use.py:10: note: Revealed type is "Union[builtins.str, None]"', done.stdout)
        self.assertIn('use.py:11: note: Revealed type is "builtins.tuple[builtins.int, ...]"', done.stdout)


if __name__ == '__main__':
    binding.main()
