#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reading.py BUILD: opening, records, samples, features, stacks, damage, errors, lifetimes and signals of the Python binding."""
import gc, gzip, io, json, os, pathlib, signal, subprocess, sys, tempfile, threading, time, unittest

import binding

binding.hermetic.settle(is_inside=True)
binding.hermetic.find_packages()  # pandas and the like
BUILD = pathlib.Path(sys.argv[1])
perfile = binding.load(BUILD)
from perfile import constants

DEMO = binding.DEMO.read_bytes()


def dumped(path):
    """The records as the command prints them."""
    done = subprocess.run([BUILD / 'perfile', 'dump', '--format', 'json', path], capture_output=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [one for one in found if 'kind' not in one]


def counted(recording):
    return sum(1 for _ in recording.records())


class Opening(unittest.TestCase):
    def sources(self):
        with tempfile.TemporaryDirectory() as folder:
            yield 'path', str(binding.DEMO)
            yield 'PathLike', binding.DEMO
            yield 'bytes', DEMO
            yield 'bytearray', bytearray(DEMO)
            yield 'read-only view', memoryview(DEMO)
            yield 'BytesIO', io.BytesIO(DEMO)
            with open(binding.DEMO, 'rb') as file:
                yield 'file', file
            with open(binding.DEMO, 'rb', buffering=0) as file:
                yield 'raw file', file
                file.seek(0)
                yield 'descriptor', file.fileno()
            packed = pathlib.Path(folder, 'packed.gz')
            packed.write_bytes(gzip.compress(DEMO))
            with gzip.open(packed) as file:
                yield 'gzip', file
            with subprocess.Popen(['cat', binding.DEMO], stdout=subprocess.PIPE) as cat:
                yield 'pipe', cat.stdout

    def test_sources(self):
        for name, source in self.sources():
            with self.subTest(name), perfile.open(source) as recording:
                self.assertEqual(counted(recording), 417)
                self.assertEqual(counted(recording), 417)  # again, from the start

    def test_file_object_begins_where_it_stands(self):
        with tempfile.TemporaryFile() as file:
            file.write(b'x' * 100 + (binding.DATA / 'pipe-6.1.perf.data').read_bytes())
            file.seek(100)
            with perfile.open(file) as recording:
                self.assertGreater(counted(recording), 0)

    def test_stream_through_a_pipe(self):
        """A recording in pipe mode: once."""
        stream = binding.DATA / 'pipe-6.1.perf.data'
        with subprocess.Popen(['cat', stream], stdout=subprocess.PIPE) as cat, perfile.open(cat.stdout) as recording:
            self.assertEqual(recording.file.mode, constants.PERFILE_MODE_PIPE)
            self.assertEqual(len(list(recording.samples())), len(list(perfile.open(stream).samples())))
            with self.assertRaises(perfile.AbsentError):
                recording.records()

    def test_standard_input(self):
        code = 'import perfile; print(len(list(perfile.open("-").table("samples").rows())))'
        done = subprocess.run([sys.executable, '-c', code], input=DEMO, capture_output=True, env=binding.environment(BUILD))
        self.assertEqual((done.stdout.strip(), done.stderr), (b'314', b''))

    def test_options(self):
        with self.assertRaises(perfile.LimitError):
            perfile.open(binding.DEMO, limit_events=1)
        with self.assertRaisesRegex(TypeError, 'limit_events'):
            perfile.open(binding.DEMO, limit_nothing=1)


class Contents(unittest.TestCase):
    def recordings(self):
        return [binding.DEMO, *sorted(binding.DATA.glob('*.perf.data'))]

    def test_records_are_those_of_dump(self):
        for path in self.recordings():
            with self.subTest(path.name), perfile.open(path) as recording:
                records, expected = recording.records(), dumped(path)
                records = [(record, record.fields()) for record in records]
                self.assertEqual([(one.name, one.offset, one.misc) for one, _ in records],
                                 [(one['type'], one.get('record_offset', one.get('offset')), one['misc']) for one in expected])
                for (_, fields), one in zip(records, expected):
                    self.assertEqual([name for name in fields if name not in one], [])
                    for name, value in fields.items():
                        if isinstance(value, (int, str)):
                            self.assertEqual(value, one[name])

    def test_decoded_records_are_their_fields(self):
        """What decode() and fields() both name has the same value."""
        compared, kinds = 0, set()
        for path in self.recordings():
            with perfile.open(path) as recording:
                for record in recording.records():
                    try:
                        decoded = record.decode()
                    except perfile.UnsupportedError:
                        continue
                    for name, value in record.fields().items():
                        if isinstance(value, (int, str)) and hasattr(decoded, name):
                            found = getattr(decoded, name)
                            if isinstance(found, (int, str)):
                                self.assertEqual(found, value, (path.name, record, name))
                                compared += 1
                                kinds.add(record.name)
        self.assertGreater(compared, 5000)
        self.assertGreaterEqual(len(kinds), 12, kinds)

    def test_payload(self):
        with perfile.open(binding.DATA / 'auxtrace.perf.data') as recording:
            records = recording.records()
            first = next(one for one in records if one.name == 'AUXTRACE')
            self.assertEqual(len(first.payload()), first.payload_bytes)
            self.assertGreater(first.payload_bytes, 0)
            with self.assertRaisesRegex(perfile.ArgumentError, 'was read'):
                first.payload()
            second = next(one for one in records if one.name == 'AUXTRACE')
            next(records)
            for late in (second.payload, second.fields):
                with self.assertRaisesRegex(perfile.ArgumentError, 'was read'):
                    late()
            self.assertEqual(second.decode().idx, 1)

    def test_samples(self):
        with perfile.open(binding.DEMO) as recording:
            samples, rows = list(recording.samples()), list(recording.table('samples', columns='all'))
            self.assertEqual([(one.time, one.pid, one.tid, one.comm, one.period, one.ip, one.event.name) for one in samples],
                             [(row.time, row.pid, row.tid, row.comm, row.period, row.ip, row.event) for row in rows])
            self.assertEqual(samples[0].callchain[0], 2 ** 64 - 128)
            self.assertEqual(samples[0].cpumode, constants.PERFILE_MISC_CPUMODE_MASK & samples[0].misc)
            self.assertIn('comm=', repr(samples[0]))

    def test_filtered_samples(self):
        with perfile.open(binding.DEMO) as recording:
            all_of_them = len(list(recording.samples()))
            for wanted in ({'comms': ['gzip', 'cc1']}, {'events': 'page-faults'}, {'tids': [11793], 'cpus': '0-1'},
                           {'pids': '11793,11786', 'events': 'cpu-clock'}, {'time': '10%-20%'}, {'time': '+0.01,+0.1'}):
                samples = [(one.time, one.tid, one.comm) for one in recording.samples(**wanted)]
                rows = [(row.time, row.tid, row.comm) for row in recording.table('samples', columns='all', **wanted)]
                self.assertEqual(samples, rows)
                self.assertTrue(0 < len(samples) < all_of_them, wanted)
            for wanted in {'cpus': 'x'}, {'events': 'nosuch'}, {'time': '5,4'}:
                with self.assertRaises(perfile.ArgumentError):
                    recording.samples(**wanted)
            self.assertEqual(len(list(recording.samples())), all_of_them) # the recording is free again

    def test_parts_of_samples(self):
        """Branches, registers, counters and raw data, as `fields` has them."""
        seen = set()
        for path in self.recordings():
            with perfile.open(path) as recording:
                for record in recording.records():
                    if record.type != constants.PERFILE_RECORD_SAMPLE:
                        continue
                    sample, fields = record.decode(), record.fields()
                    if sample.read.values:
                        seen.add('read')
                    if sample.raw:
                        seen.add('raw')
                        self.assertIn(sample.raw, record.data)
                    if 'callchain' in fields:
                        seen.add('callchain')
                        self.assertEqual(list(sample.callchain), fields['callchain']['ips'])
        self.assertLessEqual({'read', 'raw', 'callchain'}, seen)

    def test_features_and_events(self):
        with perfile.open(binding.DEMO) as recording:
            self.assertEqual(recording.features['ARCH'], 'x86_64')
            self.assertEqual(recording.features['NRCPUS'], {'nr_cpus_available': 2, 'nr_cpus_online': 2})
            self.assertEqual(recording.features['CMDLINE'][:2], ['/usr/bin/perf', 'record'])
            self.assertNotIn('CLOCKID', recording.features)
            self.assertEqual(len(recording.features), len(recording.features.table()))
            self.assertIn(b'x86_64', recording.features.bytes('ARCH'))
            event = recording.events[0]
            self.assertEqual((event.name, event.index, event.period_unit, len(event.ids)), ('cpu-clock', 0, 'ns', 2))
            self.assertEqual(event.attr.sample_period_or_freq, 1200)
            self.assertIsNone(event.tracepoint)
        with perfile.open(binding.DATA / 'tracepoint.perf.data') as recording:
            tracepoints = [event.tracepoint for event in recording.events if event.tracepoint]
            self.assertIn('common_pid', [field.name for field in tracepoints[0].fields])

    def test_stacks(self):
        with perfile.open(binding.DEMO) as recording, recording.stream() as stream:
            weights = {}
            for sample in stream:
                key = tuple(stream.label(frame) for frame in sample.frames)
                weights[key] = weights.get(key, 0) + 1
            self.assertEqual(stream.losses.samples, 314)
            self.assertTrue(stream.module(0).name)
            with self.assertRaises(IndexError):
                stream.frame(10 ** 9)
        with perfile.open(binding.DEMO) as recording:
            profile = recording.profile()
        added = {}
        for sample in profile.samples:  # needs the recording no more
            key = tuple(profile.label(frame) for frame in profile.stack(sample.stack))
            added[key] = added.get(key, 0) + sample.values[0]
        self.assertEqual(added, weights)
        self.assertEqual(sum(added.values()), 314)
        self.assertEqual(profile.recordings[0].path, str(binding.DEMO))
        self.assertEqual(profile.samples[-1], profile.samples[len(profile.samples) - 1])
        twice = perfile.merge_profiles([profile, profile])
        self.assertEqual(sum(one.values[0] for one in twice.samples), 628)
        profile.close()
        with self.assertRaises(ValueError):
            len(profile.samples)

    def test_outputs(self):
        with perfile.open(binding.DEMO) as recording:
            text = io.BytesIO()
            self.assertEqual(recording.write(text, 'script', comms='gzip'), 0)
            done = subprocess.run([BUILD / 'perfile', 'script', '-c', 'gzip', binding.DEMO], capture_output=True)
            self.assertEqual(text.getvalue(), done.stdout)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, 'report')
                recording.write(path, 'report', 'json')
                self.assertTrue(json.loads(path.read_text()))
                with self.assertRaises(perfile.ArgumentError):
                    recording.write(path, 'report', 'nothing')
                self.assertEqual(os.listdir(folder), ['report'])
        self.assertIn(('report', 'json'), [(one.kind, one.format) for one in perfile.outputs()])

    def test_export(self):
        with perfile.open(binding.DEMO) as recording:
            profile, by_comm = io.BytesIO(), io.BytesIO()
            recording.write(profile, 'export', 'pprof', gzip=True)
            recording.write(by_comm, 'export', 'pprof', exports={'keys': ['comm']})
            self.assertNotEqual(by_comm.getvalue(), gzip.decompress(profile.getvalue()))


class Damage(unittest.TestCase):
    def test_truncated(self):
        with perfile.open(DEMO[:20000]) as recording:
            samples = len(list(recording.samples()))
            self.assertEqual(samples, recording.counts.samples)
            self.assertTrue(100 < samples < 314, samples)
            self.assertEqual((recording.counts.losses, len(recording.diagnostics)), (2, 2))
            self.assertEqual(recording.diagnostics[0].severity, constants.PERFILE_LOSS)
            self.assertFalse(recording.file.finished)
            self.assertEqual(len(list(recording.table('samples'))), samples)

    def test_strict(self):
        with self.assertRaises((perfile.TruncatedError, perfile.DamagedError)) as caught:
            with perfile.open(DEMO[:20000], strict=True) as recording:
                counted(recording)
        self.assertIsInstance(caught.exception.offset, int)
        self.assertIn(caught.exception.code_name, ('truncated', 'damaged'))


class Errors(unittest.TestCase):
    def test_errors(self):
        with self.assertRaisesRegex(OSError, 'No such file') as caught:
            perfile.open('/nowhere/at/all')
        self.assertIsInstance(caught.exception, perfile.OpenError)
        with self.assertRaises(perfile.FormatError):
            perfile.open(b'this is no recording, whatever its length may be')
        with perfile.open(binding.DEMO) as recording:
            with self.assertRaises(ValueError) as caught:
                recording.table('sampels')
            self.assertEqual((caught.exception.token, caught.exception.code_name, caught.exception.offset),
                             ('sampels', 'argument', None))
            self.assertEqual(caught.exception.code, constants.PERFILE_ERROR_ARGUMENT)
            with self.assertRaises(perfile.ArgumentError) as caught:
                recording.table('samples', events='nothing')
            self.assertEqual(caught.exception.token, 'nothing')

    def test_closed(self):
        recording = perfile.open(binding.DEMO)
        record, event, sample = next(iter(recording.records())), recording.events[0], next(iter(recording.samples()))
        recording.close()
        recording.close()
        for use in (recording.records, lambda: recording.file, lambda: event.name, record.decode, lambda: sample.event.name):
            with self.assertRaisesRegex(perfile.ArgumentError, 'closed'):
                use()
        self.assertEqual((record.name, len(record.data)), ('ID_INDEX', 144))  # copies stay
        self.assertEqual(sample.callchain[0], 2 ** 64 - 128)

    def test_one_reads_at_a_time(self):
        recording = perfile.open(binding.DEMO)
        records = recording.records()
        next(records)
        with self.assertRaisesRegex(perfile.ArgumentError, 'Records is still reading'):
            recording.table('samples')
        records.close()
        self.assertEqual(list(records), [])
        for _ in recording.samples():
            break  # a pass that is dropped is closed
        first, second = recording.table('samples'), recording.table('events')
        self.assertEqual((len(list(second)), len(list(first))), (2, 314))

    def test_no_one_closes(self):
        """Everything may be dropped in any order."""
        for _ in range(20):
            recording = perfile.open(binding.DEMO)
            table, records = recording.table('samples'), None
            rows = table.rows()
            next(rows)
            del recording, table
            gc.collect()
            next(rows)
            del rows
            records = perfile.open(binding.DEMO).records()
            self.assertEqual(next(records).name, 'ID_INDEX')


class Signals(unittest.TestCase):
    def test_exception_of_progress(self):
        class Enough(Exception):
            pass

        def progress(done, total):
            raise Enough

        big = self.big()
        for call in (lambda recording: recording.profile(progress=progress),
                     lambda recording: list(recording.table('functions', progress=progress)),
                     lambda recording: perfile.convert(recording, io.BytesIO(), progress=progress),
                     lambda recording: recording.write(io.BytesIO(), 'report', progress=progress)):
            with perfile.open(big) as recording:
                with self.assertRaises(Enough):
                    call(recording)
                self.assertGreater(counted(recording), 10000)  # it can be read again

    def big(self):
        """The samples again and again: enough that progress is reported."""
        out = io.BytesIO()
        perfile.convert(binding.DEMO, out)
        stream = out.getvalue()
        with perfile.open(stream) as recording:
            samples = [one for one in recording.records() if one.type == constants.PERFILE_RECORD_SAMPLE]
        return stream + b''.join(one.data for one in samples) * 50

    def test_interrupt(self):
        """A signal that comes while the library reads: its exception comes out of the call, and none is lost."""
        stream = self.big()
        for call in (lambda recording: recording.profile(), lambda recording: list(recording.table('functions')),
                     lambda recording: recording.write(io.BytesIO(), 'dump')):
            receive, send = os.pipe()
            began, ended = threading.Event(), threading.Event()

            def feed():
                with open(send, 'wb') as pipe:
                    try:
                        pipe.write(stream[:20000])
                        pipe.flush()
                        began.wait()
                        time.sleep(0.05)  # it waits for more by then
                        os.kill(os.getpid(), signal.SIGINT)
                        while not ended.is_set():
                            pipe.write(stream[20000:])
                    except BrokenPipeError:
                        pass

            feeder = threading.Thread(target=feed)
            feeder.start()
            try:
                with perfile.open(receive) as recording, self.assertRaises(KeyboardInterrupt):
                    began.set()
                    call(recording)
            finally:
                began.set()
                ended.set()
                os.close(receive)
                feeder.join()
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_exception_of_a_file_object(self):
        class Full(io.BytesIO):
            def write(self, data):
                raise OSError('no space')

        with self.assertRaisesRegex(OSError, 'no space'):
            perfile.convert(binding.DEMO, Full())


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.default_int_handler)
    binding.main()
