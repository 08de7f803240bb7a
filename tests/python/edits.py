#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""edits.py BUILD: what the edits of the Python binding write is what the command writes."""
import io, os, pathlib, subprocess, sys, tempfile, unittest

import binding

binding.hermetic.settle(is_inside=True)
binding.hermetic.find_packages()  # pandas and the like
BUILD = pathlib.Path(sys.argv[1])
perfile = binding.load(BUILD)
from perfile import constants

DEMO = str(binding.DEMO)


class Edits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out, self.other = self.folder / 'python', self.folder / 'command'

    def command(self, *arguments):
        done = subprocess.run([BUILD / 'perfile', *arguments, '-o', self.other], capture_output=True, text=True)
        self.assertEqual(done.returncode & ~1, 0, done.stderr)

    def same(self):
        self.assertEqual(self.out.read_bytes(), self.other.read_bytes())

    def test_repair(self):
        broken = self.folder / 'broken'
        broken.write_bytes(binding.DEMO.read_bytes()[:20000])
        report = perfile.repair(broken, self.out)
        self.command('repair', broken)
        self.same()
        with perfile.open(self.out) as recording:
            self.assertEqual((sum(1 for _ in recording.records()), recording.counts.losses), (report.records_kept, 0))

    def test_cut(self):
        report = perfile.cut(DEMO, str(self.out), comms=['gzip', 'sort'], time='10%-90%')
        self.command('cut', '--comms', 'gzip,sort', '--time', '10%-90%', DEMO)
        self.same()
        self.assertGreater(report.samples_dropped, 0)
        perfile.cut(DEMO, self.out, samples=10)
        with perfile.open(self.out) as recording:
            self.assertEqual(len(list(recording.samples())), 10)

    def test_convert(self):
        perfile.convert(DEMO, self.out, for_perf='4.0', strip='stack')
        self.command('convert', '--for', 'perf-4.0', '--strip', 'stack', DEMO)
        self.same()
        stream = io.BytesIO()
        perfile.convert(DEMO, stream)
        with perfile.open(stream.getvalue()) as recording:
            self.assertEqual(recording.file.mode, constants.PERFILE_MODE_PIPE)
            self.assertEqual(len(list(recording.samples())), 314)
        with open(self.out, 'wb') as file:
            perfile.convert(DEMO, file, compression=3)
        with perfile.open(self.out) as recording:
            self.assertEqual(len(list(recording.samples())), 314)
            self.assertGreater(recording.counts.inflated_bytes, 0)
        perfile.convert(DEMO, self.out, unwind=True)

    def test_merge(self):
        parts, notes = [self.folder / 'a', self.folder / 'b'], []
        perfile.cut(DEMO, parts[0], comms='gzip')
        perfile.cut(binding.DATA / 'two-events.perf.data', parts[1], time='0%-50%')
        report = perfile.merge(parts, self.out, note=notes.append)
        self.command('merge', *parts)
        self.same()
        self.assertEqual([one.samples_kept for one in report.inputs],
                         [sum(1 for _ in perfile.open(part).samples()) for part in parts])
        self.assertEqual(report.total.samples_kept, sum(one.samples_kept for one in report.inputs))
        self.assertTrue(all(isinstance(one, perfile.values.MergeNote) for one in notes))
        self.assertGreater(len(notes), 0)

    def test_anonymize(self):
        report = perfile.anonymize(DEMO, self.out, key=b'secret', keep='comms')
        (self.folder / 'key').write_bytes(b'secret')
        self.command('anonymize', '--key-file', self.folder / 'key', '--keep', 'comms', DEMO)
        self.same()
        self.assertEqual({one.name: one.action for one in report.categories}['comms'], 'keep')

    def test_inject(self):
        report = perfile.inject(DEMO, self.out, build_ids=True, jit_folder=self.folder)
        self.assertEqual(report.code_added, 0)
        self.assertGreaterEqual(report.build_ids_added, 0)
        perfile.inject(DEMO, self.out, build_ids=True)
        self.command('inject', '-b', DEMO)
        self.same()
        (self.folder / 'jit-26453.dump').write_bytes((binding.DATA / 'jit-26453.dump').read_bytes())
        recording = self.folder / 'jit.perf.data'
        recording.write_bytes((binding.DATA / 'jit.perf.data').read_bytes())
        os.mkdir(self.folder / 'code')
        report = perfile.inject(recording, self.out, jit_folder=self.folder / 'code', find=False)
        self.assertEqual(report.code_added > 0, bool(os.listdir(self.folder / 'code')))
        self.assertGreater(report.code_added, 0)

    def test_failures_leave_nothing(self):
        with self.assertRaises(perfile.ArgumentError) as caught:
            perfile.cut(DEMO, self.out, events='nothing')
        self.assertEqual(caught.exception.token, 'nothing')
        with self.assertRaises(perfile.OpenError):
            perfile.repair(DEMO, self.folder / 'none' / 'out')
        with self.assertRaisesRegex(TypeError, 'is not an option'):
            perfile.cut(DEMO, self.out, comm='gzip')
        with self.assertRaises(perfile.OpenError):
            perfile.merge([DEMO, self.folder / 'none'], self.out)
        self.assertEqual(os.listdir(self.folder), [])
        with perfile.open(DEMO) as recording:  # a recording that is open serves, and stays open
            with self.assertRaises(TypeError):
                perfile.cut(recording, self.out, comm='gzip')
            self.assertEqual(perfile.repair(recording, self.out).samples_kept, 314)
            self.assertEqual(sum(1 for _ in recording.records()), 417)


if __name__ == '__main__':
    binding.main()
