#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""writing.py BUILD: recordings that are written, followed and compared from Python; profiles of own samples; stacks and symbols; exports by name; notebooks."""
import io, json, pathlib, subprocess, sys, tempfile, unittest

import binding

binding.hermetic.settle(is_inside=True)
BUILD = pathlib.Path(sys.argv[1])
perfile = binding.load(BUILD)
from perfile import constants  # noqa: E402


def write(path, samples, **options):
    kinds = constants.PERFILE_SAMPLE_IP | constants.PERFILE_SAMPLE_TID | constants.PERFILE_SAMPLE_TIME | constants.PERFILE_SAMPLE_PERIOD | constants.PERFILE_SAMPLE_CALLCHAIN
    with perfile.Writer(path, **options) as writer:
        event = writer.event('made', type=constants.PERFILE_TYPE_SOFTWARE, config=constants.PERFILE_COUNT_SW_CPU_CLOCK, sample_type=kinds, sample_id_all=1)
        writer.feature('HOSTNAME', 'web1')
        writer.record('MMAP2', misc=constants.PERFILE_MISC_USER, pid=7, tid=7, addr=0x400000, len=0x1000, filename='/opt/prog', id={'pid': 7, 'tid': 7, 'time': 1})
        writer.record('COMM', pid=7, tid=7, comm='prog', id={'pid': 7, 'tid': 7, 'time': 1})
        for number in range(samples):
            writer.sample(event, ip=0x400010, pid=7, tid=7, time=10 + number, period=3, callchain=[constants.PERFILE_CONTEXT_USER, 0x400010, 0x400020])


class Writing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'made.data'

    def test_what_is_written_is_read(self):
        write(self.path, 3)
        with perfile.open(self.path) as recording:
            samples = list(recording.samples())
            self.assertEqual([(one.time, one.period, one.comm, one.ip) for one in samples], [(10 + number, 3, 'prog', 0x400010) for number in range(3)])
            self.assertEqual((recording.features['HOSTNAME'], recording.events[0].name), ('web1', 'made'))
            self.assertEqual(recording.counts.bytes_lost, 0)

    def test_an_exception_leaves_nothing(self):
        with self.assertRaises(ZeroDivisionError), perfile.Writer(self.path):
            1 // 0
        with self.assertRaises(TypeError), perfile.Writer(self.path) as writer:
            writer.record('COMM', pids=7)
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_a_recording_that_grows_is_followed(self):
        write(self.path, 5)
        entire = self.path.read_bytes()
        with perfile.open(entire) as recording:
            last = list(recording.records())[-1]
        growing = self.path.with_name('growing.data')
        growing.write_bytes(entire[:last.offset])
        asked = []

        def follow():
            asked.append(growing.write_bytes(entire))
            return len(asked) < 2
        with perfile.open(growing, follow=follow) as recording:
            self.assertEqual(len(list(recording.records())), len(list(perfile.open(entire).records())))

        def fail():
            raise KeyError('mine')
        growing.write_bytes(entire[:last.offset])
        with perfile.open(growing, follow=fail) as recording, self.assertRaises(KeyError):
            list(recording.records())


class Stacks(unittest.TestCase):
    def test_stacks_of_samples_are_those_of_the_view(self):
        with perfile.open(binding.DEMO) as recording:
            samples = recording.samples(symbols={})
            found = [[samples.label(frame) for frame in samples.stack()] for _ in samples]
        rows = subprocess.run([BUILD / 'perfile', 'table', 'samples', '--columns', 'stack', '--format', 'jsonl', binding.DEMO], capture_output=True, text=True, check=True)
        self.assertEqual(found, [json.loads(row)['stack'] for row in rows.stdout.splitlines()])
        self.assertGreater(len(found), 100)

    def test_stacks_need_symbols(self):
        with perfile.open(binding.DEMO) as recording:
            samples = recording.samples()
            next(samples)
            self.assertRaises(perfile.ArgumentError, samples.stack)
            samples.close()

    def test_symbols_without_a_recording(self):
        symbolizer = perfile.Symbolizer()
        binary = symbolizer.add(next((binding.TREE / 'examples/symfs').rglob('workload')))
        with self.assertRaises(perfile.ArgumentError):
            symbolizer.add()
        with perfile.open(binding.TREE / 'examples/workload.perf.data') as recording:
            profile = recording.profile(flags=constants.PERFILE_STREAM_ADDRESSES, symbols={'symfs': str(binding.TREE / 'examples/symfs')})
        named = [(frame, profile.functions[frame.function]) for frame in profile.frames if frame.kind == constants.PERFILE_FRAME_USER]
        found = 0
        for frame, function in named:
            if function.name and profile.modules[function.module].short_name == 'workload':
                self.assertIn(function.name, [symbol.name for symbol in symbolizer.find(binary, frame.address - 1)] + [symbol.name for symbol in symbolizer.find(binary, frame.address)])
                found += 1
        self.assertGreater(found, 3)

    def test_instructions(self):
        """The weights of instructions add up to the function's, which is that of the profile."""
        symbols = {'symfs': str(binding.TREE / 'examples/symfs')}
        with perfile.open(binding.TREE / 'examples/workload.perf.data') as recording:
            with perfile.Annotate(recording, symbols=symbols) as annotation:
                number = annotation.find('merge')
                self.assertEqual(annotation[number].name, 'merge')
                samples, period = annotation.weight(number)
                lines = annotation.instructions(number)
                self.assertEqual((sum(one.samples for one in lines), sum(one.period for one in lines)), (samples, period))
                self.assertGreater(samples, 10)
                self.assertIsNone(annotation.find('no such function'))
                self.assertEqual(len(list(annotation)), len(annotation))
                self.assertEqual(annotation.events[0].unit, 'ns')
            self.assertRaises(ValueError, annotation.weight, 0)
            self.assertGreater(len(recording.profile().samples), 0)


class Comparing(unittest.TestCase):
    def profile(self, data):
        with perfile.open(data) as recording:
            return recording.profile()

    def test_diff(self):
        demo = self.profile(binding.DEMO)
        diff = perfile.Diff(demo, [demo], keys='function', noise=0.01)
        self.assertEqual((len(diff), diff.info.before_count), (len([*diff]), 1))
        self.assertGreater(len(diff), 3)
        self.assertEqual({row.difference for row in diff}, {0.0})
        self.assertEqual(diff.total.before, diff.total.after)
        self.assertIsInstance(diff.notes, list)
        with self.assertRaises(perfile.ArgumentError):
            perfile.Diff(demo, demo, keys='nothing')
        with self.assertRaises(IndexError):
            diff[len(diff)]


class Building(unittest.TestCase):
    STACKS = {'main;work;sum': 13, 'main;work': 5, 'main;idle': 3}

    def setUp(self):
        self.builder = perfile.Builder(recording={'hostname': 'web1', 'cmdline': ['prog', '-x']})
        self.event = self.builder.event('cpu', 'ns')

    def add(self, stack, period, **members):
        frames = [self.builder.frame(self.builder.function(name)) for name in reversed(stack.split(';'))]
        self.builder.add(self.event, frames, period, **members)
        return frames

    def written(self, profile, *how, **options):
        out = io.BytesIO()
        profile.write(out, *how, **options)
        return out.getvalue()

    def test_folded_output_is_that_of_the_example(self):
        lines = ''.join(f'{stack} {period}\n' for stack, period in self.STACKS.items())
        for stack, period in self.STACKS.items():
            self.assertEqual(self.add(stack, period), self.add(stack, 0))
        profile = self.builder.finish()
        with tempfile.TemporaryDirectory() as folder:
            for kind in 'export', 'flame':
                out = pathlib.Path(folder) / kind
                subprocess.run([BUILD / 'examples/own_samples', kind, 'folded', out], input=lines, text=True, check=True)
                self.assertEqual(self.written(profile, kind, 'folded'), out.read_bytes())
                self.assertEqual(sorted(out.read_text().splitlines()), sorted(lines.splitlines()))
        self.assertIn(b'>mine<', self.written(profile, 'flame', 'svg', flame={'title': 'mine'}))
        self.assertRaises(perfile.ArgumentError, self.written, profile, 'report')
        self.assertRaises(ValueError, self.builder.finish)

    def test_what_samples_have_is_in_the_profile(self):
        module = self.builder.module('/opt/prog')
        self.builder.add(self.event, [self.builder.address(module, 0x1234)], 7, count=2, comm='prog', pid=7, tid=8, cpu=3, time=90)
        self.assertRaises(TypeError, self.builder.add, self.event, [0], pid=7)
        self.assertRaises(perfile.ArgumentError, self.builder.add, self.event + 1, [0])
        self.assertRaises(perfile.ArgumentError, self.builder.add, self.event, [])
        self.assertRaises(TypeError, self.builder.frame, 0, lines=1)
        with self.builder.finish() as profile:
            self.assertEqual((profile.modules[module].name, profile.frames[0].file_offset), ('/opt/prog', 0x1234))
            self.assertEqual((profile.threads[0].pid, profile.threads[0].tid, profile.events[0].unit), (7, 8, 'ns'))
            self.assertEqual((profile.samples[0].values[:2], profile.samples[0].cpu), ((2, 7), 3))
            recording = profile.recordings[0]
            self.assertEqual((recording.hostname, recording.cmdline, recording.first_time), ('web1', ('prog', '-x'), 90))


class Outputs(unittest.TestCase):
    def test_exports_by_name(self):
        with perfile.open(binding.DEMO) as recording:
            for name in 'pprof', 'folded', 'speedscope':
                short, long = io.BytesIO(), io.BytesIO()
                recording.write(short, name)
                recording.write(long, 'export', name)
                self.assertEqual(short.getvalue(), long.getvalue())
                self.assertTrue(short.getvalue())
            with self.assertRaises(perfile.ArgumentError):
                recording.write(io.BytesIO(), 'nothing')

    def test_notebooks_show_the_flame_graph(self):
        with perfile.open(binding.DEMO) as recording:
            page = recording._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="') and '&lt;svg' in page and 'gzip' in page)
        self.assertIn('&lt;perfile.Recording', recording._repr_html_())
        with perfile.open(binding.DEMO) as recording, recording.profile() as profile:
            page = profile._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="') and '&lt;svg' in page and 'gzip' in page)

    def test_flame_graphs_show_what_was_before(self):
        """The profile before is half of this one: what only this one has is drawn as more."""
        def make(stacks):
            builder = perfile.Builder()
            event = builder.event('cpu', 'ns')
            for stack, period in stacks.items():
                builder.add(event, [builder.frame(builder.function(name)) for name in stack], period)
            return builder.finish()
        before, after = make({('old', 'main'): 10, ('same', 'main'): 10}), make({('new', 'main'): 10, ('same', 'main'): 10})
        texts = {}
        for name, of in ('none', None), ('before', before):
            out = io.BytesIO()
            after.write(out, 'flame', 'folded', before=of)
            texts[name] = sorted(out.getvalue().decode().splitlines())
        self.assertEqual(texts, {'none': ['main;new 10', 'main;same 10'], 'before': ['main;new 0 10', 'main;old 10 0', 'main;same 10 10']})
        self.assertRaises(perfile.ArgumentError, after.write, io.BytesIO(), 'pprof', before=before)


binding.main()
