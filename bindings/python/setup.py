# SPDX-License-Identifier: MIT
"""For pip: adds the modules that generate.py makes to what is built, and to archives of sources, which need no checkout."""
import pathlib, sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent


def generate(folder):
    if (HERE / 'generate.py').exists():  # this is not an archive of sources
        sys.path.insert(0, str(HERE))
        import generate as generator
        generator.generate(pathlib.Path(folder, 'perfile'))


class Build(build_py):
    def run(self):
        super().run()
        generate(HERE if self.editable_mode else self.build_lib)


class Archive(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        generate(base_dir)


setup(cmdclass={'build_py': Build, 'sdist': Archive})
