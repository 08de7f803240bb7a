# SPDX-License-Identifier: MIT
"""Views: a recording as tables of typed columns."""
from __future__ import annotations

import collections, ctypes, importlib
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Type, TypeVar

from . import abi, values
from ._arrow import Batch, Schema, capsule, to_pandas_column
from ._calls import Call, Progress
from ._library import encoded, fill, invalid, lib
from ._recording import Closing, Recording
from ._values import copy

_byref = ctypes.byref
_Row = TypeVar('_Row')


def _import(name: str) -> Any:
    return importlib.import_module(name)  # they are not needed, and mostly have no types


FILTER = tuple(field[0] for field in abi.perfile_filter._fields_ if field[0] != 'size')


def _not_plain(struct: Any) -> List[str]:
    """Members that are no numbers and no texts: callbacks, and what they point at."""
    return [name for name, kind in struct._fields_ if kind is ctypes.c_void_p or not hasattr(kind, '_type_') or
            not isinstance(kind._type_, str)]


def structs_of(options: Any, passed: Dict[str, Any], recording: Optional[Recording],
               keep: Sequence[str] = ()) -> Any:
    """
    Options of C by their names. Members of the filter stand among them; structs of further options, such as `symbols` and
    `report`, are dictionaries.
    """
    wanted = {name: passed[name] for name in FILTER if passed.get(name) is not None}
    passed = {name: value for name, value in passed.items() if name not in FILTER}
    kinds = dict(options._fields_)
    if 'symbols' in kinds and recording is not None:
        passed['symbols'] = {'recording': recording.path, **(passed.get('symbols') or {})}
    for name, kind in kinds.items():
        struct: Any = getattr(kind, '_type_', None)
        if getattr(struct, '__name__', '').endswith('_options') and passed.get(name) is not None:
            passed[name] = ctypes.pointer(fill(struct(), passed[name], _not_plain(struct)))
    if wanted:
        if 'filter' not in kinds:
            raise TypeError(f'{", ".join(wanted)}: there is no filter here')
        passed['filter'] = ctypes.pointer(fill(abi.perfile_filter(), wanted))
    return fill(options, passed, ('progress', 'progress_context', 'unmatched', 'unmatched_context', 'allocator', *keep))


class Table(Closing):
    """
    A view of a recording. It can be read as often as the recording can: rows() and to_pandas() read it from the start.
    Streams that pandas, polars, pyarrow or DuckDB take by __arrow_c_stream__ are read while these want.
    """

    def __init__(self, recording: Recording, view: str, progress: Optional[Progress], options: Dict[str, Any]) -> None:
        super().__init__(recording)
        #: which view it is
        self.view = view
        self._pointer: Any = None
        self._has_started = False
        self._call = Call([recording._pointer()], progress)
        self._options = self._call.watch(structs_of(abi.perfile_table_options(), options, recording))
        self._losses = abi.perfile_losses()
        self._open()
        #: all columns that the view has of this recording: those that are shown first and in their order
        self.all_columns: Tuple[values.Column, ...] = tuple(self._columns())
        #: those that are shown: the columns of the rows
        self.columns = tuple(column for column in self.all_columns if column.shown)
        self._schema = Schema(self._pointer)

    def _open(self) -> Any:
        """At its start."""
        if self._has_started:
            raise invalid('this table is being read: finish that, or close() it')
        if self._pointer is None:
            reader, table = self._started(), ctypes.c_void_p()
            self._call.unmatched.clear()
            try:
                self._call.run(lib.perfile_table_open, reader, encoded(self.view), _byref(self._options), _byref(table))
            except BaseException:
                self._ended()
                raise
            self._pointer = table
        return self._pointer

    def _columns(self) -> Iterator[values.Column]:
        for index in range(lib.perfile_table_column_count(self._pointer)):
            column = abi.perfile_column()
            if lib.perfile_table_column(self._pointer, index, _byref(column)) < 0:
                raise invalid(f'no column {index}')
            yield copy(column)

    def _give_way(self) -> bool:
        if self._has_started:
            return False
        self.close()
        return True

    def close(self) -> None:
        """Ends reading. The table can be read again, from its start."""
        pointer, self._pointer, self._has_started = self._pointer, None, False
        if pointer:
            lib.perfile_table_losses(pointer, _byref(self._losses))
            lib.perfile_table_close(pointer)
        self._ended()

    def __repr__(self) -> str:
        return f'<perfile.Table {self.view}: {", ".join(str(column.name) for column in self.columns)}>'

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _batches(self) -> Iterator[Batch]:
        table = self._open()
        self._has_started = True
        try:
            batch = Batch()
            while self._call.run(lib.perfile_table_next, table, _byref(batch.array)):
                yield batch
                batch = Batch()
        finally:
            self.close()

    def rows(self) -> Iterator[Any]:
        """
        The rows as named tuples: numbers, texts, lists, None. Names of columns that Python does not allow become _0, _1 ...
        by their positions. This is the fast way to look at all samples.
        """
        row = collections.namedtuple('Row', self._schema.names, rename=True)  # type: ignore[misc]
        for batch in self._batches():
            columns = [batch.column(index).to_list(form) for index, form in enumerate(self._schema.formats)]
            yield from map(row._make, zip(*columns))

    def rows_as(self, kind: Type[_Row]) -> Iterator[_Row]:
        """
        The rows as objects of your own class, which type checkers know: a NamedTuple or a dataclass, whose members are columns
        that are shown.

            class Sample(NamedTuple):
                time: int
                comm: Optional[str]
            for sample in recording.table('samples').rows_as(Sample): ...
        """
        members = getattr(kind, '_fields', None) or tuple(getattr(kind, '__dataclass_fields__', ()))
        if not members:
            raise TypeError(f'{kind.__name__} is neither a NamedTuple nor a dataclass')
        missing = [member for member in members if member not in self._schema.names]
        if missing:
            raise TypeError(f'{", ".join(missing)}: no column here; there are {", ".join(self._schema.names)}')
        indexes = [self._schema.names.index(member) for member in members]
        for batch in self._batches():
            yield from map(kind, *(batch.column(index).to_list(self._schema.formats[index]) for index in indexes))

    def __iter__(self) -> Iterator[Any]:
        return self.rows()

    def to_pandas(self) -> Any:
        """
        A pandas.DataFrame, made without pyarrow: texts are categoricals, lists objects, and numbers keep their types; those
        of columns that may be null are of pandas' nullable types, UInt64 and the like, in whatever recording.
        """
        numpy, pandas = _import('numpy'), _import('pandas')
        batches = list(self._batches())
        schema = zip(self._schema.names, self._schema.formats, self._schema.nullable)
        made = {name: to_pandas_column(pandas, numpy, form, nullable, [batch.column(index) for batch in batches])
                for index, (name, form, nullable) in enumerate(schema)}
        return pandas.DataFrame(made, copy=False)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _import('pyarrow').RecordBatchReader._import_from_c_capsule(self.__arrow_c_stream__()).read_all()

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _import('polars').DataFrame(self)

    def write(self, to: Any, format: Optional[str] = None) -> int:
        """
        All rows as text, csv, json or jsonl, to a binary file object, a path, or a descriptor. 1: something could not be
        read, which the rows report; else 0.
        """
        from ._output import Sink
        table = self._open()
        self._has_started = True
        try:
            with Sink(to, self._call) as sink:
                return self._call.run(lib.perfile_table_write, table, encoded(format or 'text'), sink.pointer)
        finally:
            self.close()

    # ---- Arrow -------------------------------------------------------------------------------------------------------

    def __arrow_c_schema__(self) -> Any:
        schema = abi.ArrowSchema()
        self._call.run(lib.perfile_table_schema, self._open(), _byref(schema))
        return capsule(b'arrow_schema', schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface. Until the stream is released the recording is its own."""
        table, stream = self._open(), abi.ArrowArrayStream()
        self._has_started, self._pointer = True, None
        lib.perfile_table_stream(table, _byref(stream))
        release = _RELEASE(ctypes.cast(stream.release, ctypes.c_void_p).value or 0)  # a member would change with the struct
        _streams[stream.private_data] = release, self, self.recording._reader
        stream.release = _release
        return capsule(b'arrow_array_stream', stream)

    def _released(self) -> None:
        self._has_started = False
        self._ended()

    # ---- what the rows do not show -----------------------------------------------------------------------------------

    @property
    def losses(self) -> values.Losses:
        """What the rows do not show, in samples (of records in records, of maps in mappings); final at the end."""
        if self._pointer:
            lib.perfile_table_losses(self._pointer, _byref(self._losses))
        return copy(self._losses)  # type: ignore[no-any-return]

    @property
    def unmatched(self) -> List[values.Unmatched]:
        """At the end: the parts of filters that nothing matched."""
        return list(self._call.unmatched)


# Streams that others have, by the library's data of them: its own release, and what they stand on.
_streams: Dict[int, Tuple[Any, Table, Any]] = {}


def _release_stream(pointer: Any) -> None:
    """Instead of the library's release, because the reader must live until then. It may come from any thread."""
    stream = pointer.contents
    release, table, _ = _streams.pop(stream.private_data)
    stream.release = release
    release(pointer)
    table._released()


_RELEASE: Any = dict(abi.ArrowArrayStream._fields_)['release']  # type: ignore[arg-type]
_release = _RELEASE(_release_stream)
