#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recording.py BUILD: commands and processes are recorded from Python; a recording is read while it is made."""
import os, pathlib, sys, tempfile, threading, unittest

import binding

binding.hermetic.settle(is_inside=True)
BUILD = pathlib.Path(sys.argv[1])
perfile = binding.load(BUILD)
from perfile import constants  # noqa: E402

EVENT = {'events': 'cpu-clock:u', 'frequency': 999}
COUNT = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
BUSY = ['sh', '-c', f'{COUNT}; exit 3']


def can_record(folder):
    try:
        with perfile.Recorder(folder / 'tried.data', pids=os.getpid(), **EVENT):
            return True
    except perfile.Error as error:
        print(f'skipped: recording from Python: {error}')
        return False


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if not can_record(self.folder):
            self.skipTest('no permission')
        self.path = self.folder / 'made.data'

    def test_a_command_is_recorded_to_its_end(self):
        with perfile.Recorder(self.path, BUSY, call_graph='fp', **EVENT) as recorder:
            self.assertFalse(self.path.exists())
            self.assertEqual(recorder.wait(), 3)
        with perfile.open(self.path) as recording:
            samples = list(recording.samples())
        self.assertEqual({(sample.pid, sample.comm) for sample in samples}, {(recorder.pid, 'sh')})
        self.assertEqual((len(samples), recorder.counts.lost), (recorder.counts.samples, 0))
        self.assertTrue(all(sample.callchain for sample in samples))
        self.assertRaises(ValueError, recorder.drain)

    def test_a_recording_is_read_while_it_is_made(self):
        seen = self.folder / 'seen'
        recorder = perfile.Recorder(self.path, ['sh', '-c', f'until [ -e "{seen}" ]; do {COUNT}; done; exit 3'], live=True, **EVENT)
        during = 0
        with recorder.follow() as recording:
            for count, _ in enumerate(recording.samples(), 1):
                during += recorder._workload.status is None
                seen.touch()
            self.assertEqual((count, recorder._workload.status), (recorder.counts.samples, 3))
        self.assertGreater(during, 0)
        with perfile.open(self.path) as recording:
            self.assertEqual((len(list(recording.samples())), recording.file.finished), (count, True))

    def test_processes_are_recorded_until_the_recorder_is_stopped(self):
        ended = threading.Event()

        def work():
            while not ended.is_set():
                sum(range(10000))
        thread = threading.Thread(target=work)
        thread.start()
        try:
            recorder = perfile.Recorder(self.path, pids=[os.getpid()], **EVENT)
            binding.hermetic.wait_until(lambda: recorder.wait(0.1) or recorder.counts.samples)
            self.assertIsNone(recorder.wait(0))
            with recorder.stop() as recording:
                self.assertEqual({sample.pid for sample in recording.samples()}, {os.getpid()})
        finally:
            ended.set()
            thread.join()
        self.assertIsNone(recorder.pid)

    def test_a_command_is_terminated_with_its_recorder(self):
        recorder = perfile.Recorder(self.path, ['sleep', '1000'], **EVENT)
        recorder.stop().close()
        self.assertRaises(ProcessLookupError, os.kill, recorder.pid, 0)
        with self.assertRaises(ZeroDivisionError), perfile.Recorder(self.folder / 'failed.data', ['sleep', '1000'], **EVENT) as recorder:
            1 // 0
        self.assertRaises(ProcessLookupError, os.kill, recorder.pid, 0)
        self.assertFalse((self.folder / 'failed.data').exists())

    def test_what_cannot_be_recorded(self):
        other = self.folder / 'other.data'
        self.assertRaises(FileNotFoundError, perfile.Recorder, other, [self.folder / 'no-such-command'], **EVENT)
        self.assertRaises(TypeError, perfile.Recorder, other, ['true'], pids=1)
        self.assertRaises(TypeError, perfile.Recorder, other, ['true'], nothing=1)
        self.assertRaises(perfile.ArgumentError, perfile.Recorder, other, ['true'], events='no-such-event')
        recorder = perfile.Recorder(other, pids=os.getpid(), flags=constants.PERFILE_RECORDER_PERIOD, **EVENT)
        self.assertRaises(ValueError, recorder.wait)
        self.assertRaises(ValueError, recorder.follow, 1)
        del recorder
        self.assertFalse(other.exists())


if __name__ == '__main__':
    binding.main()
