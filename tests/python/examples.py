#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py BUILD: the examples of the Python binding run, and so does what the READMEs show."""
import pathlib, re, shutil, subprocess, sys, tempfile, unittest

import binding

binding.hermetic.settle(is_inside=True)
binding.hermetic.find_packages()  # pandas and the like
BUILD = pathlib.Path(sys.argv[1])
EXAMPLES = binding.BINDING / 'examples'
NEEDED = {'pandas': ('pandas',), 'polars': ('polars',), 'arrow': ('pyarrow',)}


def code_of(readme):
    """The indented blocks of a README that are Python."""
    blocks = re.findall(r'(?:^    .*\n|^\n(?=    ))+', readme.read_text(), re.M)
    return [re.sub(r'^    ', '', block, flags=re.M) for block in blocks if 'perfile.' in block or 'recording.' in block]


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(binding.DEMO, self.folder / 'perf.data')

    def run_in(self, *command, code=0, **more):
        done = subprocess.run([sys.executable, *command], cwd=self.folder, env=binding.environment(BUILD), text=True,
                              capture_output=True, **more)
        self.assertEqual((done.returncode, done.stderr), (code, ''), done.stdout)
        return done.stdout

    def test_to_pandas(self):
        binding.optional('pandas')
        self.assertRegex(self.run_in(EXAMPLES / 'to_pandas.py'), r'(?m)^cpu-clock +gzip +\d+ +\d+')

    def test_hot_functions(self):
        lines = self.run_in(EXAMPLES / 'hot_functions.py').splitlines()
        counts = [int(line.split()[0]) for line in lines[::2]]
        self.assertEqual((len(counts), counts), (10, sorted(counts, reverse=True)))
        self.assertEqual(self.run_in(EXAMPLES / 'hot_functions.py', binding.DEMO).splitlines(), lines)

    def test_damage(self):
        entire = self.folder / 'perf.data'
        entire.write_bytes(entire.read_bytes()[:20000])
        lines = self.run_in(EXAMPLES / 'damage.py', 'perf.data', 'repaired').splitlines()
        self.assertRegex(lines[0], r'^\d+ records, \d+ samples, 8 bytes lost$')
        self.assertRegex(lines[-1], r'^\d+ records are in repaired$')
        self.assertIn('0 bytes lost', self.run_in(EXAMPLES / 'damage.py', 'repaired'))
        done = subprocess.run([sys.executable, EXAMPLES / 'damage.py', EXAMPLES / 'damage.py'], text=True,
                              env=binding.environment(BUILD), capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertRegex(done.stderr, r'\(format\)$')

    def test_open_files(self):
        lines = self.run_in(EXAMPLES / 'open_files.py')
        self.assertRegex(lines, r'(?m)^ +\d+ +[0-9a-f]+ /usr/bin/gzip$')
        with open(binding.DEMO) as pipe:
            self.assertEqual(self.run_in(EXAMPLES / 'open_files.py', '-', stdin=pipe), lines)

    def test_every_example_is_tested(self):
        tested = {name[5:] for name in dir(self) if name.startswith('test_')}
        self.assertLessEqual({path.stem for path in EXAMPLES.glob('*.py')}, tested)

    def test_readme(self):
        """All of it in one process, as a reader would type it; lines with other packages that are missing are left out."""
        binding.optional('pandas')
        for readme in (binding.BINDING / 'README.md', binding.TREE / 'README.md'):
            with self.subTest(readme.name):
                blocks = [block for block in code_of(readme) if 'import perfile' in block or readme.parent == binding.BINDING]
                self.assertTrue(blocks)
                lines = ['import perfile']
                for line in '\n'.join(blocks).splitlines():
                    try:
                        for word, modules in NEEDED.items():
                            if f'to_{word}' in line:
                                [binding.optional(module) for module in modules]
                    except unittest.SkipTest:
                        continue
                    if not line.startswith(('pip', '$')):
                        lines.append(line)
                self.run_in('-c', '\n'.join(lines))


if __name__ == '__main__':
    binding.main()
