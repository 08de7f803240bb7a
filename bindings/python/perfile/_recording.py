# SPDX-License-Identifier: MIT
"""Recordings: opening, events, features, records and samples."""
from __future__ import annotations

import ctypes, io, os, shutil, tempfile, weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, TypeVar

from . import abi, constants, values
from ._calls import Progress, Signals
from ._library import Error, failure, fill, invalid, lib, text
from ._values import SHAPES, Visit, copy

if TYPE_CHECKING:
    from ._profile import Profile, Stream
    from ._table import Table

_byref = ctypes.byref
Bytes = bytes  # members are called so, too


class Reader:
    """The C reader. It closes when it is not needed any more: by the recording, its tables, and streams that others took."""

    def __init__(self, opened: Any, keep: Any, temporary: Any) -> None:
        self.pointer, self._keep, self._temporary = opened, keep, temporary
        self._close = lib.perfile_close

    def __del__(self) -> None:
        self._close(self.pointer)
        if self._temporary:
            self._temporary.close()


# ---- input -----------------------------------------------------------------------------------------------------------

def _file_of(file: Any) -> Any:
    """
    The file of the system that a file object reads from. Those that are no files of the system, such as gzip's, are copied to a temporary one: callbacks into
    Python in the midst of reading would be slow, and could not be interrupted.
    """
    raw = getattr(file, 'raw', file)
    if isinstance(raw, io.FileIO):
        if raw.seekable():
            os.lseek(raw.fileno(), file.tell(), os.SEEK_SET)
        return file
    copied = tempfile.TemporaryFile(buffering=0)
    shutil.copyfileobj(file, copied, 1 << 20)
    copied.seek(0)
    return copied


def _is_buffer(source: Any) -> bool:
    try:
        memoryview(source).release()
    except TypeError:
        return False
    return True


# ---- events and features ---------------------------------------------------------------------------------------------

class Event:
    """One event of the recording; valid until this is closed. In streams its name may become better while reading."""
    __slots__ = ('_recording', '_struct')

    def __init__(self, recording: Recording, struct: Any) -> None:
        self._recording, self._struct = recording, struct

    def _get(self) -> Any:
        self._recording._pointer()
        return self._struct

    @property
    def index(self) -> int:
        """Its position."""
        return int(self._get().index)

    @property
    def name(self) -> str:
        """As `perf script` prints it."""
        return str(text(self._get().name))

    @property
    def file_name(self) -> Optional[str]:
        """The name as in the file."""
        return text(self._get().file_name)  # type: ignore[no-any-return]

    @property
    def unit(self) -> Optional[str]:
        return text(self._get().unit)  # type: ignore[no-any-return]

    @property
    def scale(self) -> float:
        return float(self._get().scale)

    @property
    def ids(self) -> Tuple[int, ...]:
        struct = self._get()
        return tuple(struct.ids[:struct.id_count])

    @property
    def attr(self) -> values.Attr:
        """Its attributes; those that the file does not have are 0."""
        return copy(self._get().attr.contents)  # type: ignore[no-any-return]

    @property
    def period_unit(self) -> str:
        """What its periods count: "ns", "cycles", "events"."""
        buffer = ctypes.create_string_buffer(64)
        return str(text(lib.perfile_event_unit(_byref(self._get()), ctypes.addressof(buffer), len(buffer))))

    @property
    def tracepoint(self) -> Optional[values.Tracepoint]:
        """Its tracepoint, with the fields of its raw data."""
        found = lib.perfile_tracepoint_find(self._recording._pointer(), _byref(self._get()))
        return copy(found.contents) if found else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self._recording is other._recording and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self._recording), self.index))

    def __repr__(self) -> str:
        return f'<perfile.Event {self.index}: {self.name}>'


class Features(Mapping[str, Any]):
    """The header features by their names: what the recording says of its machine and recorder."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def _all(self) -> Dict[str, int]:
        reader = self._recording._pointer()
        found = (lib.perfile_feature_get(reader, index).contents for index in range(lib.perfile_feature_count(reader)))
        return {text(one.name) or str(one.number): one.number for one in found}

    def table(self) -> Tuple[values.Feature, ...]:
        """Where they stand in the file."""
        reader = self._recording._pointer()
        return tuple(copy(lib.perfile_feature_get(reader, index).contents)
                     for index in range(lib.perfile_feature_count(reader)))

    def bytes(self, name: str) -> bytes:
        """One as it stands in the file."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        Signals().run(lib.perfile_feature_bytes, self._recording._pointer(), self._all()[name], _byref(data), _byref(size))
        return ctypes.string_at(data, size.value) if size.value else b''

    def __getitem__(self, name: str) -> Any:
        visit = Visit()
        Signals().run(lib.perfile_feature_visit, self._recording._pointer(), self._all()[name], visit.visitor)
        return next(iter(visit.result.values()), None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f'<perfile.Features {", ".join(self)}>'


# ---- records ---------------------------------------------------------------------------------------------------------

_STRUCTS: Dict[int, Any] = {}


def _struct_of(kind: int) -> Any:
    """The struct of a type of records; None: there is none."""
    if kind not in _STRUCTS:
        name = (text(lib.perfile_record_name(kind)) or '').lower()
        # READ is the one whose struct is called otherwise: perfile_read is a shape
        _STRUCTS[kind] = getattr(abi, 'perfile_read_counters' if name == 'read' else f'perfile_{name}', None)
    return _STRUCTS[kind]


def _address_of(data: bytes) -> int:
    return ctypes.c_void_p.from_buffer(ctypes.c_char_p(data)).value or 0


class Sample(abi.perfile_sample):
    """
    A decoded sample: a copy, valid as long as anyone has it. Members are those of struct perfile_sample; what `present` does
    not name is 0.
    """
    #: the event, None where the recording does not say
    event: Optional[Event]
    #: its thread's name then, raw bytes decoded as UTF-8
    comm: str
    #: the bits of its header: see PERFILE_MISC_*
    misc: int
    #: where it stands
    offset: int

    @property
    def cpumode(self) -> int:
        """0 unknown, 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user"""
        return self.misc & constants.PERFILE_MISC_CPUMODE_MASK

    def __repr__(self) -> str:
        named = [f'{name}={getattr(self, name)!r}' for name in ('time', 'pid', 'tid', 'comm', 'cpu', 'period')]
        return f'<perfile.Sample {", ".join(named)}, ip={self.ip:#x}, event={self.event.name if self.event else None!r}>'


def _shaped(name: str, shape: Callable[[Any], Any], raw: Any) -> property:
    return property(lambda sample: shape(raw.__get__(sample)), doc=f'perfile_sample.{name} as a Python value')


for _field in abi.perfile_sample._fields_:
    if _field[1] in SHAPES:
        setattr(Sample, _field[0], _shaped(_field[0], SHAPES[_field[1]], getattr(abi.perfile_sample, _field[0])))

_SAMPLE_BYTES = ctypes.sizeof(Sample)


class Record:
    """One record: a copy, valid as long as its recording is open. Members are those of struct perfile_record."""
    __slots__ = ('recording', 'data', '_struct', '__weakref__')

    def __init__(self, recording: Recording, struct: Any) -> None:
        self.recording = recording
        #: its bytes with the header, in the byte order of the file
        self.data = ctypes.string_at(struct.data, struct.bytes)
        self._struct = abi.perfile_record.from_buffer_copy(struct)
        self._struct.data = _address_of(self.data)

    @property
    def type(self) -> int:
        """PERFILE_RECORD_*"""
        return int(self._struct.type)

    @property
    def name(self) -> str:
        """The name of its type: "MMAP2"; the number of an unknown one."""
        return text(lib.perfile_record_name(self._struct.type)) or str(self._struct.type)

    @property
    def misc(self) -> int:
        """PERFILE_MISC_* bits, whose meaning depends on the type."""
        return int(self._struct.misc)

    @property
    def compressed(self) -> bool:
        """It came out of a compressed record: `offset` counts in the decompressed stream."""
        return bool(self._struct.compressed)

    @property
    def damaged(self) -> bool:
        """Its content contradicts its event or its size."""
        return bool(self._struct.damaged)

    @property
    def bytes(self) -> int:
        return int(self._struct.bytes)

    @property
    def stated_bytes(self) -> int:
        """The size in its header."""
        return int(self._struct.stated_bytes)

    @property
    def part(self) -> int:
        """Of a directory: 0 is data, n is parts[n - 1]."""
        return int(self._struct.part)

    @property
    def offset(self) -> int:
        """Bytes from the start of the file."""
        return int(self._struct.offset)

    @property
    def time(self) -> int:
        """ns on the recording's clock; 0: it has none."""
        return int(self._struct.time)

    @property
    def event(self) -> Optional[Event]:
        """The event that it belongs to."""
        return self.recording._event(self._struct.event)

    @property
    def payload_offset(self) -> int:
        return int(self._struct.payload_offset)

    @property
    def payload_bytes(self) -> int:
        """Of AUXTRACE and TRACING_DATA: how many bytes follow it; see payload()."""
        return int(self._struct.payload_bytes)

    def _follow(self) -> None:
        """What follows a record can be read once, and until the next record is."""
        if self._struct.payload_bytes and not self._struct.damaged:
            if self.recording._followed() is not self:
                raise invalid('what follows this record was read, or passed over by reading on')
            self.recording._followed = _nothing

    def payload(self) -> Bytes:
        """The bytes that follow it: once, and before the next record is read."""
        self._follow()
        reader, data, size, found = self.recording._pointer(), ctypes.c_void_p(), ctypes.c_size_t(), b''
        while self.payload_bytes and Signals().run(lib.perfile_reader_payload, reader, _byref(data), _byref(size)):
            found += ctypes.string_at(data, size.value)
        return found

    def decode(self) -> Any:
        """
        A Sample, or the named tuple of its type, such as values.Mmap2. UnsupportedError: there is none; DamagedError,
        TruncatedError, EventError: its content cannot be decoded.
        """
        if self._struct.type == constants.PERFILE_RECORD_SAMPLE:
            return self._sample()
        kind, error = _struct_of(self._struct.type), abi.perfile_error()
        out = kind() if kind else abi.perfile_sample_id()
        result = lib.perfile_record_decode(self.recording._pointer(), _byref(self._struct), _byref(out),
                                           ctypes.sizeof(out), _byref(error))
        if result < 0:
            raise failure(result, error)
        return copy(out)

    def _sample(self, comm: Optional[str] = None) -> Sample:
        sample, error = Sample(), abi.perfile_error()
        self.recording._pointer()
        result = lib.perfile_sample_decode(_byref(self._struct), _byref(sample), _byref(error))
        if result < 0:
            raise failure(result, error)
        sample._data, sample.event, sample.misc, sample.offset = self.data, self.event, self.misc, self.offset
        sample.comm = f':{sample.tid}' if comm is None else comm
        return sample

    def sample_id(self) -> Optional[values.SampleId]:
        """What kernel records say at their end: time, thread, CPU. None: nothing."""
        out = abi.perfile_sample_id()
        if lib.perfile_sample_id_decode(self.recording._pointer(), _byref(self._struct), _byref(out), None) < 0:
            return None
        return copy(out)  # type: ignore[no-any-return]

    def fields(self) -> Dict[str, Any]:
        """
        Everything in it by the kernel's names, whatever its type is; slower than decode(). Of AUXTRACE and TRACING_DATA it
        reads the payload.
        """
        self._follow()
        visit = Visit()
        Signals().run(lib.perfile_record_visit, self.recording._pointer(), _byref(self._struct), visit.visitor)
        return visit.result

    def __repr__(self) -> str:
        return f'<perfile.Record {self.name} at {self.offset}: {self.bytes} bytes>'


# ---- recordings ------------------------------------------------------------------------------------------------------

class Pass:
    """Something that reads the recording from its start on. Only one can at a time."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def _give_way(self) -> bool:
        """Another one wants to read: False when this one has started."""
        return False

    def _started(self) -> Any:
        """The pointer of the reader, at its start and ours from now on."""
        self.recording._take(self)
        return self.recording._pointer()

    def _ended(self) -> None:
        self.recording._release(self)

    def close(self) -> None:
        """Ends the reading; the recording is free for others."""
        self._ended()


def _no_pass() -> Optional[Pass]:
    return None


def _nothing() -> Optional[Record]:
    return None


_Closing = TypeVar('_Closing', bound='Closing')


class Closing(Pass):
    """A pass that ends with its block, or when the last reference to it is gone."""

    def __enter__(self: _Closing) -> _Closing:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Records(Closing, Iterator[Record]):
    """The records in the order of the file."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self._found, self._error = ctypes.POINTER(abi.perfile_record)(), abi.perfile_error()
        self._arguments = (self._started(), _byref(self._found), _byref(self._error))

    def __next__(self) -> Record:
        if self.recording._driver() is not self:
            raise StopIteration
        result = lib.perfile_reader_next(*self._arguments)
        if result > 0:
            record = Record(self.recording, self._found.contents)
            follows: Callable[[], Optional[Record]] = weakref.ref(record)
            self.recording._followed = follows if record._struct.payload_bytes else _nothing
            return record
        self._ended()
        if result < 0:
            raise failure(result, self._error)
        self.recording._check_follow()
        raise StopIteration


class Samples(Closing, Iterator[Sample]):
    """The samples in the order of time, with the names that their threads had then."""

    def __init__(self, recording: Recording, filter: Dict[str, Any], symbols: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(recording)
        self._session: Any = None
        self._resolver: Any = None
        self._sampled: Any = None
        reader, session = self._started(), ctypes.c_void_p()
        self._found, self._error = ctypes.POINTER(abi.perfile_record)(), abi.perfile_error()
        #: samples that could not be decoded
        self.damaged = 0
        Signals().run(lib.perfile_session_open, reader, _byref(session))
        self._session = session
        if any(value is not None for value in filter.values()):
            try:
                Signals().run(lib.perfile_session_filter, session, _byref(fill(abi.perfile_filter(), filter)))
            except BaseException:
                self.close()
                raise
        if symbols is not None:
            self._open_resolver(reader, symbols)
        self._arguments = (session, _byref(self._found), _byref(self._error))

    def _open_resolver(self, reader: Any, symbols: Mapping[str, Any]) -> None:
        of = fill(abi.perfile_symbol_options(), {'recording': self.recording.path, **symbols}, ('note', 'note_context', 'reach', 'reach_context'))
        options, self._resolver = abi.perfile_resolver_options(), ctypes.c_void_p()
        options.symbols, self._kept = ctypes.pointer(of), of
        try:
            Signals().run(lib.perfile_resolver_open, reader, self._session, _byref(options), _byref(self._resolver))
        except BaseException:
            self.close()
            raise

    def stack(self) -> List[int]:
        """The complete stack of the last sample, leaf first, as ids that label() and frame() explain. Needs `symbols`."""
        if not self._resolver or self._sampled is None:
            raise invalid('stacks need samples(symbols={}), and a sample that was read')
        capacity = 1024
        while True:
            buffer = (ctypes.c_uint32 * capacity)()
            count = Signals().run(lib.perfile_resolver_stack, self._resolver, self._found, _byref(self._sampled), buffer, capacity)
            if count <= capacity:
                return buffer[:count]
            capacity = count

    def label(self, frame: int) -> str:
        """A frame as flame graphs name it."""
        return str(text(lib.perfile_resolver_label(self._resolver, frame)))

    def frame(self, frame: int) -> values.Frame:
        """What a frame is."""
        found = abi.perfile_frame()
        if not self._resolver or lib.perfile_resolver_frame(self._resolver, frame, _byref(found)) < 0:
            raise IndexError(f'there is no frame {frame}')
        return copy(found)  # type: ignore[no-any-return]

    def __next__(self) -> Sample:
        while self._session:
            result = lib.perfile_session_next(*self._arguments)
            if result <= 0:
                self.close()
                if result < 0:
                    raise failure(result, self._error)
                self.recording._check_follow()
                break
            struct = self._found.contents
            if struct.type == constants.PERFILE_RECORD_SAMPLE:
                sample = self._sample(struct)
                if sample is not None:
                    self._sampled = self._resolver and sample
                    return sample
        raise StopIteration

    def _sample(self, struct: Any) -> Optional[Sample]:
        """Written for speed: most of the time of a program that looks at every sample is here."""
        data = ctypes.string_at(struct.data, struct.bytes)
        struct = abi.perfile_record.from_buffer_copy(struct)
        struct.data = _address_of(data)
        sample = Sample()
        if lib.perfile_sample_decode(_byref(struct), _byref(sample), None) < 0:
            self.damaged += 1
            return None
        sample._data, sample.misc, sample.offset = data, struct.misc, struct.offset
        sample.event = self.recording._event(struct.event)
        sample.comm = text(lib.perfile_session_comm(self._session, sample.pid, sample.tid))
        return sample

    def close(self) -> None:
        """Ends the reading; the recording is free for others."""
        session, self._session = self._session, None
        resolver, self._resolver = self._resolver, None
        if resolver:
            lib.perfile_resolver_close(resolver)
        if session:
            lib.perfile_session_close(session)
        self._ended()


class Recording:
    """An open recording; perfile.open() makes it."""

    def __init__(self, source: Any, options: Any, keep: List[Any]) -> None:
        self._reader: Optional[Reader] = None
        self._driver: Callable[[], Optional[Pass]] = _no_pass  # a weak reference: a pass without others has ended
        self._followed: Callable[[], Optional[Record]] = _nothing  # the record whose payload can be read
        self._events: Dict[int, Event] = {}
        self._follow: Optional[Follow] = None
        #: where it is from, None when that has no path
        self.path: Optional[str] = None
        pointer, run, temporary = ctypes.c_void_p(), Signals().run, None
        end = (_byref(options), _byref(pointer))
        if isinstance(source, (str, os.PathLike)):
            self.path = os.fsdecode(source)
            run(lib.perfile_open_path, os.fsencode(source), *end)
        elif _is_buffer(source):
            view = memoryview(source).cast('B')
            held: Any = source if isinstance(source, bytes) else bytes(view) if view.readonly else view
            address = _address_of(held) if isinstance(held, bytes) else ctypes.addressof(ctypes.c_char.from_buffer(held))
            keep += [held, view]
            run(lib.perfile_open_memory, address, len(view), *end)
        else:
            file = None if isinstance(source, int) else _file_of(source)
            temporary = file if file is not source else None
            keep.append(file)
            try:
                run(lib.perfile_open_fd, file.fileno() if file else source, *end)
            except BaseException:
                if temporary:
                    temporary.close()
                raise
        self._reader = Reader(pointer, keep, temporary)

    # ---- the reader --------------------------------------------------------------------------------------------------

    def _pointer(self) -> Any:
        if self._reader is None:
            raise invalid('the recording is closed')
        return self._reader.pointer

    def _take(self, driver: Pass) -> None:
        pointer = self._pointer()
        other = self._driver()
        if other is not None and other is not driver and not other._give_way():
            raise invalid(f'{type(other).__name__} is still reading this recording: close() it, or open the '
                          'recording once more')
        if not lib.perfile_reader_is_at_start(pointer):
            Signals().run(lib.perfile_reader_rewind, pointer)
        self._driver, self._followed = weakref.ref(driver), _nothing

    def _release(self, driver: Pass) -> None:
        if self._driver() in (driver, None):
            self._driver = _no_pass

    def close(self) -> None:
        """Closes it. Tables that others took as streams keep the input open until they release them."""
        driver, self._driver = self._driver(), _no_pass
        if driver is not None:
            driver.close()
        self._reader = None

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        named = repr(self.path) if self.path is not None else 'without a path'
        return f'<perfile.Recording {named}{"" if self._reader else ", closed"}>'

    def _check_follow(self) -> None:
        """An exception of the caller's `follow`, which ended the reading, comes out here."""
        exception, follow = None, self._follow
        if follow:
            exception, follow.exception = follow.exception, None
        if exception:
            raise exception

    def _repr_html_(self) -> str:
        """The flame graph, for notebooks; a text where nothing can be drawn."""
        from ._output import flame_for_notebooks
        return flame_for_notebooks(self, self.write)

    # ---- what it says of itself --------------------------------------------------------------------------------------

    @property
    def file(self) -> values.File:
        """The header of the container: mode, version, byte order, sizes; finished: the recorder came to its end."""
        return copy(lib.perfile_reader_file(self._pointer()).contents)  # type: ignore[no-any-return]

    @property
    def counts(self) -> values.Counts:
        """What has been read since the last start: records, samples, damage, losses."""
        return copy(lib.perfile_reader_counts(self._pointer()).contents)  # type: ignore[no-any-return]

    @property
    def diagnostics(self) -> List[values.Diagnostic]:
        """What was odd so far, in the order of the file: the first 4096."""
        found: List[values.Diagnostic] = []
        while one := lib.perfile_diagnostic_get(self._pointer(), len(found)):
            found.append(copy(one.contents))
        return found

    @property
    def features(self) -> Features:
        """The header features by name."""
        return Features(self)

    @property
    def events(self) -> List[Event]:
        """The events; in streams those that were read so far."""
        pointer = self._pointer()
        found = (self._event(lib.perfile_event_get(pointer, index)) for index in range(lib.perfile_event_count(pointer)))
        return [event for event in found if event]

    def _event(self, pointer: Any) -> Optional[Event]:
        if not pointer:
            return None
        struct = pointer.contents
        address = ctypes.addressof(struct)
        if address not in self._events:
            self._events[address] = Event(self, struct)
        return self._events[address]

    # ---- reading -----------------------------------------------------------------------------------------------------

    def records(self) -> Records:
        """All records in the order of the file. What compressed records hold comes after them."""
        return Records(self)

    def samples(self, *, time: Optional[str] = None, cpus: Any = None, pids: Any = None, tids: Any = None,
                comms: Any = None, events: Any = None, symbols: Optional[Mapping[str, Any]] = None) -> Samples:
        """
        The samples in the order of time, decoded: all, or those that the filter lets pass, which is that of table(). With
        `symbols`, {} or members of struct perfile_symbol_options, stack() of the iterator has their functions. For speed:
        table('samples').rows().
        """
        return Samples(self, dict(time=time, cpus=cpus, pids=pids, tids=tids, comms=comms, events=events), symbols)

    def table(self, view: str, *, columns: Any = None, keys: Any = None, time: Optional[str] = None, cpus: Any = None,
              pids: Any = None, tids: Any = None, comms: Any = None, events: Any = None,
              symbols: Optional[Mapping[str, Any]] = None, report: Optional[Mapping[str, Any]] = None, threads: int = 0,
              batch_rows: int = 0, progress: Optional[Progress] = None, **options: Any) -> Table:
        """
        A view of the recording as a table: see perfile.views().

        columns   names, or a text such as "+srcline": what perfile_table_options says
        keys      of the view stacks: by what samples are kept apart
        time ...  the filter: which samples, or rows. Texts as in struct perfile_filter, or lists
        symbols   where symbols are: members of struct perfile_symbol_options
        report    of the view functions: members of struct perfile_report_options
        threads   that may be used besides. With 2 or more, signals are looked at only between batches
        progress  called now and then with the bytes read and the bytes there are (0: unknown)
        """
        from ._table import Table
        return Table(self, view, progress, dict(
            options, columns=columns, keys=keys, time=time, cpus=cpus, pids=pids, tids=tids, comms=comms, events=events,
            symbols=symbols, report=report, threads=threads, batch_rows=batch_rows))

    def stream(self, *, flags: int = 0, time: Optional[str] = None, cpus: Any = None, pids: Any = None, tids: Any = None,
               comms: Any = None, events: Any = None, symbols: Optional[Mapping[str, Any]] = None, threads: int = 0,
               progress: Optional[Progress] = None, **options: Any) -> Stream:
        """The samples in the order of time, with their stacks resolved. flags: PERFILE_STREAM_*; the others as of table()."""
        from ._profile import Stream
        return Stream(self, progress, dict(options, flags=flags, time=time, cpus=cpus, pids=pids, tids=tids, comms=comms,
                                           events=events, symbols=symbols, threads=threads))

    def profile(self, *, flags: int = 0, keys: Any = None, time: Optional[str] = None, cpus: Any = None, pids: Any = None,
                tids: Any = None, comms: Any = None, events: Any = None, symbols: Optional[Mapping[str, Any]] = None,
                threads: int = 0, progress: Optional[Progress] = None, **options: Any) -> Profile:
        """
        The samples added up by their stacks. keys: by what else they are kept apart, such as ["comm", "cpu"]; flags:
        PERFILE_STREAM_*; the others as of table().
        """
        from ._profile import make_profile
        return make_profile(self, progress, dict(options, flags=flags, keys=keys, time=time, cpus=cpus, pids=pids, tids=tids,
                                                 comms=comms, events=events, symbols=symbols, threads=threads))

    def write(self, to: Any, kind: str, format: Optional[str] = None, *, progress: Optional[Progress] = None,
              **options: Any) -> int:
        """
        An output of the library, such as "report", "script", "flame" or "dump", as the command prints it: see
        perfile.outputs(). `to` is a binary file object, a path, or a descriptor. Options are members of struct
        perfile_output_options, the filter as of table(); those of one kind of output are dictionaries: export's are
        exports={'keys': 'pid,comm'}. A format of export may be given as the kind: 'pprof'. 1: the output itself is a finding;
        else 0.
        """
        from ._output import export_formats, write_output
        if format is None and kind in export_formats():
            kind, format = 'export', kind
        return write_output(self, to, kind, format, progress, options)


class Follow:
    """The callback of a recording that is still being written. An exception ends the reading, and is kept."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.exception: Optional[BaseException] = None
        self.callback = dict(abi.perfile_open_options._fields_)['follow'](self._called)  # type: ignore[arg-type, call-arg]

    def _called(self, _: Any) -> int:
        try:
            return 1 if self._function() else 0
        except BaseException as exception:
            self.exception = exception
            return 0


def open(source: Any, *, strict: bool = False, follow: Optional[Callable[[], Any]] = None, **limits: int) -> Recording:
    """
    Opens a recording.

    source      a path (a file, a FIFO, a directory recording; "-" is standard input), a descriptor, a file object, or the
                bytes themselves. Pipes are read from their descriptors: what a file object has of them in its buffer is
                missed. File objects that are no files of the system are copied to a temporary one
    strict      the first error in the recording ends reading with an exception
    follow      the recording is still being written: called when all that is there has been read, and waits for more, such as
                by time.sleep(0.1); true: look again, false: the writer is done
    limits      limit_events, limit_ids ...: see struct perfile_open_options
    """
    options = fill(abi.perfile_open_options(strict=strict), limits, [
        field[0] for field in abi.perfile_open_options._fields_ if not field[0].startswith('limit_')])
    following = Follow(follow) if follow else None
    if following:
        options.follow = following.callback
    recording = Recording(source, options, [following])
    recording._follow = following
    return recording
