#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tables.py BUILD: views in Python: as rows, by pandas alone, and by consumers of the Arrow PyCapsule interface.

Every view of every recording has the rows of `perfile table --format jsonl`; so has every view of one recording, and of one
with columns of tracepoints, whoever takes it."""
import dataclasses, functools, gc, io, json, pathlib, subprocess, sys, typing, unittest

import binding

binding.hermetic.settle(is_inside=True)
binding.hermetic.find_packages()  # pandas and the like
BUILD = pathlib.Path(sys.argv[1])
perfile = binding.load(BUILD)
RECORDINGS = [binding.DEMO, *(binding.DATA / f'{name}.perf.data' for name in ('tracepoint', 'words', 'pipe-6.1', 'auxtrace'))]


@functools.cache
def expected(path, view):
    done = subprocess.run([BUILD / 'perfile', 'table', '--format', 'jsonl', view, path], capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def views(recordings=RECORDINGS[:2]):
    for path in recordings:
        for view in perfile.views():
            yield path, view.name


def plain(value):
    """A value of pandas as JSON has it."""
    if hasattr(value, 'tolist'):
        value = value.tolist()
    return None if value is None or value is sys.modules['pandas'].NA or value != value else value


class Views(unittest.TestCase):
    def check(self, rows_of, *recordings):
        count = 0
        for path, view in views(*recordings):
            with self.subTest(f'{path.name} {view}'), perfile.open(path) as recording:
                rows = rows_of(recording.table(view))
                self.assertEqual(rows, expected(path, view))
                count += len(rows)
        self.assertGreater(count, 1000)

    def test_rows(self):
        self.check(lambda table: [dict(zip((one.name for one in table.columns), row)) for row in table.rows()],
                   RECORDINGS)

    def test_rows_in_small_batches(self):
        """Dictionaries and offsets of many batches."""
        for path, view in views():
            with perfile.open(path) as recording:
                self.assertEqual(list(recording.table(view, batch_rows=7)), list(recording.table(view)), view)

    def test_rows_of_own_classes(self):
        """Members may have any order; a name that is not a column is refused before anything is read."""
        class Row(typing.NamedTuple):
            comm: typing.Optional[str]
            period: int

        @dataclasses.dataclass
        class Point:
            period: int
            comm: str
        with perfile.open(binding.DEMO) as recording:
            table = recording.table('samples')
            plain_rows = [(row.comm, row.period) for row in table]
            self.assertEqual(list(table.rows_as(Row)), [Row(*row) for row in plain_rows])
            self.assertEqual([(point.comm, point.period) for point in table.rows_as(Point)], plain_rows)
            with self.assertRaisesRegex(TypeError, 'nothing: no column here; there are .*period'):
                next(table.rows_as(typing.NamedTuple('Other', [('nothing', int)])))
            self.assertRaises(TypeError, next, table.rows_as(dict))

    def test_pandas(self):
        pandas = binding.optional('pandas')

        def rows(table):
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), [one.name for one in table.columns])
            return [{name: plain(value) for name, value in zip(frame.columns, row)}
                    for row in frame.itertuples(index=False, name=None)]
        self.check(rows)

    def test_types_of_pandas(self):
        pandas = binding.optional('pandas')
        with perfile.open(binding.DEMO) as recording:
            frame = recording.table('samples').to_pandas()
            self.assertEqual([str(frame[name].dtype) for name in ('time', 'pid', 'comm', 'ip', 'stack')],
                             ['UInt64', 'Int32', 'category', 'UInt64', 'object'])
            self.assertEqual(frame.ip.max(), max(row.ip for row in recording.table('samples')))
            records = recording.table('records').to_pandas()
            self.assertEqual([str(records[name].dtype) for name in ('time', 'pid', 'damaged')], ['UInt64', 'Int32', 'bool'])
            small = recording.table('samples', batch_rows=10).to_pandas()
            pandas.testing.assert_frame_equal(frame, small, check_categorical=False)
            nothing = recording.table('samples', comms='nobody')
            self.assertEqual((len(nothing.to_pandas()), str(nothing.to_pandas().comm.dtype)), (0, 'category'))
            self.assertEqual(list(map(str, nothing.to_pandas().dtypes)), list(map(str, frame.dtypes)))
            self.assertEqual([(one.filter, one.value) for one in nothing.unmatched], [('comms', 'nobody')])
        gc.collect()
        self.assertEqual(len(frame['stack'][0]), 8)  # memory of the library, whose recording is closed
        frame.loc[0, 'pid'] = 5
        self.assertEqual(frame.pid[0], 5)

    def test_pandas_without_copy(self):
        """One batch: the column is the memory of the library."""
        numpy = binding.optional('numpy')
        arrow = binding.importlib.import_module('perfile._arrow')
        with perfile.open(binding.DEMO) as recording:
            batch, = recording.table('samples', columns='time')._batches()
        array = batch.column(0).array(numpy, 'L')
        self.assertEqual(array.ctypes.data, batch.array.children[0].contents.buffers[1])
        del batch
        gc.collect()
        self.assertEqual(array[0], 1957595499084)

    def test_pyarrow(self):
        pyarrow = binding.optional('pyarrow')

        def rows(table):
            taken = pyarrow.RecordBatchReader.from_stream(table) if hasattr(pyarrow.RecordBatchReader, 'from_stream') \
                else pyarrow.RecordBatchReader._import_from_c_capsule(table.__arrow_c_stream__())
            found = []
            for batch in taken:
                batch.validate(full=True)
                found += batch.to_pylist()
            return found
        self.check(rows)
        self.check(lambda table: table.to_arrow().to_pylist())

    def test_polars(self):
        polars = binding.optional('polars')
        self.check(lambda table: polars.DataFrame(table).to_dicts())

    def test_duckdb(self):
        duckdb = binding.optional('duckdb')
        with perfile.open(binding.DEMO) as recording:
            samples = recording.table('samples')
            self.assertEqual(duckdb.sql('select count(*) from samples').fetchone(), (314,))


class Streams(unittest.TestCase):
    """What a consumer of Arrow does, without one."""

    def take(self, table):
        """The struct in the capsule, moved out of it as consumers do."""
        ctypes, abi = binding.importlib.import_module('ctypes'), binding.importlib.import_module('perfile.abi')
        capsule = table.__arrow_c_stream__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        supplied = abi.ArrowArrayStream.from_address(get(capsule, b'arrow_array_stream'))
        taken = abi.ArrowArrayStream.from_buffer_copy(supplied)
        supplied.release = type(supplied.release)()
        return taken, abi, ctypes

    def test_stream_outlives_its_recording(self):
        recording = perfile.open(binding.DEMO)
        taken, abi, ctypes = self.take(recording.table('samples'))
        recording.close()
        del recording
        gc.collect()
        array, rows = abi.ArrowArray(), 0
        while True:
            self.assertEqual(taken.get_next(ctypes.byref(taken), ctypes.byref(array)), 0)
            if not array.release:
                break
            rows += array.length
            array.release(ctypes.byref(array))
        self.assertEqual(rows, 314)
        taken.release(ctypes.byref(taken))
        self.assertFalse(taken.release)
        self.assertEqual(binding.importlib.import_module('perfile._table')._streams, {})

    def test_stream_is_alone(self):
        with perfile.open(binding.DEMO) as recording:
            table = recording.table('samples')
            taken, _, ctypes = self.take(table)
            for other in (table.rows, lambda: recording.table('events')):
                with self.assertRaises(perfile.ArgumentError):
                    list(other())
            taken.release(ctypes.byref(taken))
            self.assertEqual(len(list(table)), 314)

    def test_unused_capsules(self):
        arrow = binding.importlib.import_module('perfile._arrow')
        with perfile.open(binding.DEMO) as recording:
            table = recording.table('samples')
            for _ in range(3):
                self.assertIn('arrow_array_stream', repr(table.__arrow_c_stream__()))
                self.assertIn('arrow_schema', repr(table.__arrow_c_schema__()))
            self.assertEqual(arrow._capsules, {})
            self.assertEqual(len(list(table)), 314)


class Tables(unittest.TestCase):
    def test_options(self):
        with perfile.open(binding.DEMO) as recording:
            table = recording.table('samples', columns=['pid', 'comm'], comms=['gzip', 'sort'])
            self.assertEqual([one.name for one in table.columns], ['pid', 'comm'])
            self.assertEqual({row.comm for row in table}, {'gzip', 'sort'})
            self.assertGreater(table.losses.filtered, 0)
            self.assertEqual(next(iter(recording.table('stacks', keys='comm', columns='+comm')))._fields.count('comm'), 1)
            self.assertEqual(repr(table), '<perfile.Table samples: pid, comm>')
            with self.assertRaisesRegex(TypeError, 'batch_rows'):
                recording.table('samples', batchrows=1)
            with self.assertRaises(perfile.ArgumentError) as caught:
                recording.table('samples', columns='nothing')
            self.assertEqual(caught.exception.token, 'nothing')

    def test_write(self):
        out = io.BytesIO()
        with perfile.open(binding.DEMO) as recording:
            recording.table('samples').write(out, 'jsonl')
        self.assertEqual([json.loads(line) for line in out.getvalue().splitlines()], expected(binding.DEMO, 'samples'))

    def test_pipe_and_truncated(self):
        with subprocess.Popen(['cat', binding.DEMO], stdout=subprocess.PIPE) as cat, perfile.open(cat.stdout) as recording:
            self.assertEqual(len(list(recording.table('samples'))), 314)
        with perfile.open(binding.DEMO.read_bytes()[:20000]) as recording:
            rows = sum(1 for _ in recording.table('samples'))
            self.assertEqual(rows, recording.counts.samples)
            self.assertGreater(recording.counts.losses, 0)


if __name__ == '__main__':
    binding.main()
