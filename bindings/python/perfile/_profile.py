# SPDX-License-Identifier: MIT
"""Samples with resolved stacks: one after the other (Stream), and added up (Profile)."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, TypeVar, Union, overload

from . import abi, constants, values
from ._calls import Call, Progress, Signals
from ._library import failure, lib, text
from ._recording import Closing, Event, Pass, Recording
from ._table import structs_of
from ._values import copy

_byref = ctypes.byref
_Row = TypeVar('_Row')


# ---- streams ---------------------------------------------------------------------------------------------------------

class StreamSample:
    """
    One sample of a stream: a copy. Members are those of struct perfile_stream_sample; `frames` are ids, which frame() and
    label() of the stream explain.
    """
    __slots__ = ('event', 'time', 'period', 'pid', 'tid', 'cpu', 'frames', 'leaf', 'cpumode', 'ip', 'comm')
    event: Optional[Event]
    time: int
    period: int
    pid: int
    tid: int
    cpu: int
    frames: Tuple[int, ...]
    leaf: int
    cpumode: int
    ip: int
    comm: str

    def __repr__(self) -> str:
        return (f'<perfile.StreamSample time={self.time}, comm={self.comm!r}, period={self.period}, '
                f'{len(self.frames)} frames>')


class Stream(Closing, Iterator[StreamSample]):
    """The samples in the order of time with their complete stacks. What ids stand for can be asked until close()."""

    def __init__(self, recording: Recording, progress: Optional[Progress], options: Dict[str, Any]) -> None:
        super().__init__(recording)
        self._stream: Any = None
        reader, stream = self._started(), ctypes.c_void_p()
        self._found = ctypes.POINTER(abi.perfile_stream_sample)()
        self._call = Call([reader], progress)
        self._frames: Dict[int, values.Frame] = {}
        self._labels: Dict[int, str] = {}
        self._error = abi.perfile_error()
        try:
            self._options = self._call.watch(structs_of(abi.perfile_stream_options(), options, recording))
            self._reported = progress is not None
            if not self._reported:
                self._options.progress = type(self._options.progress)()  # calls are short: signals can wait for their ends
            self._call.run(lib.perfile_stream_open, reader, _byref(self._options), _byref(stream))
        except BaseException:
            self._ended()
            raise
        self._stream = stream

    def _open(self) -> Any:
        if self._stream is None:
            raise ValueError('the stream is closed')
        return self._stream

    def __next__(self) -> StreamSample:
        if self._reported:
            result = self._call.run(lib.perfile_stream_next, self._open(), _byref(self._found))
        else:
            result = lib.perfile_stream_next(self._open(), _byref(self._found), _byref(self._error))
        if result <= 0:
            if result < 0:
                raise failure(result, self._error)
            raise StopIteration
        struct, sample = self._found.contents, StreamSample()
        sample.event = self.recording._event(struct.event)
        sample.time, sample.period, sample.cpu = struct.time, struct.period, struct.cpu
        sample.pid, sample.tid, sample.ip, sample.cpumode = struct.pid, struct.tid, struct.ip, struct.cpumode
        sample.frames, sample.leaf = tuple(struct.frames[:struct.frame_count]), struct.leaf
        sample.comm = text(struct.comm)
        return sample

    def frame(self, id: int) -> values.Frame:
        """What a frame of a sample that was given is."""
        if id not in self._frames:
            self._frames[id] = _filled(lib.perfile_stream_frame, self._open(), id, abi.perfile_frame())
        return self._frames[id]

    def label(self, id: int) -> str:
        """The frame as flame graphs name it: without the parameters at the end of its name; never empty."""
        if id not in self._labels:
            found = lib.perfile_stream_label(self._open(), id)
            if found is None:
                raise failure(constants.PERFILE_ERROR_ARGUMENT)
            self._labels[id] = text(found)
        return self._labels[id]

    def module(self, id: int) -> values.Module:
        """The binary that frames with this module are in."""
        return _filled(lib.perfile_stream_module, self._open(), id, abi.perfile_module())  # type: ignore[no-any-return]

    @property
    def losses(self) -> values.Losses:
        """What the stream could not give, in samples; final at its end."""
        losses = abi.perfile_losses()
        lib.perfile_stream_losses(self._open(), _byref(losses))
        return copy(losses)  # type: ignore[no-any-return]

    @property
    def unmatched(self) -> List[values.Unmatched]:
        """At the end: the parts of filters that nothing matched."""
        return list(self._call.unmatched)

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream:
            lib.perfile_stream_close(stream)
        self._ended()


def _filled(function: Any, of: Any, index: int, struct: Any) -> Any:
    result = function(of, index, _byref(struct))
    if result < 0:
        raise IndexError(f'no {type(struct).__name__} has the number {index}')
    return copy(struct)


# ---- profiles --------------------------------------------------------------------------------------------------------

class Rows(Sequence[_Row]):
    """One of the tables of a profile: named tuples, made when they are asked for."""

    def __init__(self, profile: Profile, name: str, struct: Any) -> None:
        self._profile, self._name, self._struct = profile, name, struct
        self._count = getattr(lib, f'perfile_profile_{name}_count')
        self._at = getattr(lib, f'perfile_profile_{name}_at')

    def __len__(self) -> int:
        return int(self._count(self._profile._open()))

    @overload
    def __getitem__(self, index: int) -> _Row: ...

    @overload
    def __getitem__(self, index: slice) -> List[_Row]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[_Row, List[_Row]]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f'the profile has {len(self)} of these')
        return _filled(self._at, self._profile._open(), index, self._struct())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f'<{len(self)} {self._name}s of a profile>'


class Profile:
    """
    The samples of a recording, or of several, added up. Its tables refer to each other by numbers: a sample has a stack, a
    stack a frame and a parent, a frame a function, a function a module. It needs the recording no more.
    """

    def __init__(self, pointer: Any, unmatched: Sequence[values.Unmatched] = ()) -> None:
        self._pointer: Any = pointer
        #: the parts of filters that nothing matched
        self.unmatched: List[values.Unmatched] = list(unmatched)

    @property
    def recordings(self) -> Rows[values.ProfileRecording]:
        """Where it is from."""
        return Rows(self, 'recording', abi.perfile_profile_recording)

    @property
    def events(self) -> Rows[values.ProfileEvent]:
        """What was counted."""
        return Rows(self, 'event', abi.perfile_profile_event)

    @property
    def value_types(self) -> Rows[values.ProfileValueType]:
        """What values mean: samples, period, weight."""
        return Rows(self, 'value_type', abi.perfile_profile_value_type)

    @property
    def modules(self) -> Rows[values.Module]:
        """Binaries."""
        return Rows(self, 'module', abi.perfile_module)

    @property
    def functions(self) -> Rows[values.ProfileFunction]:
        """Functions of modules."""
        return Rows(self, 'function', abi.perfile_profile_function)

    @property
    def frames(self) -> Rows[values.ProfileFrame]:
        """Locations in functions."""
        return Rows(self, 'frame', abi.perfile_profile_frame)

    @property
    def stacks(self) -> Rows[values.ProfileStack]:
        """A prefix tree of frames."""
        return Rows(self, 'stack', abi.perfile_profile_stack)

    @property
    def threads(self) -> Rows[values.ProfileThread]:
        """Threads that had samples."""
        return Rows(self, 'thread', abi.perfile_profile_thread)

    @property
    def samples(self) -> Rows[values.ProfileSample]:
        """The rows: a stack, keys, and a value for each value type of its event."""
        return Rows(self, 'sample', abi.perfile_profile_sample)

    def _open(self) -> Any:
        if self._pointer is None:
            raise ValueError('the profile is closed')
        return self._pointer

    def stack(self, node: int) -> List[int]:
        """The frames of a stack, leaf first."""
        found = []
        while node != constants.PERFILE_NO_ID:
            one = self.stacks[node]
            found.append(one.frame)
            node = one.parent
        return found

    def label(self, frame: int) -> str:
        """The function of a frame as flame graphs name it."""
        return str(self.functions[self.frames[frame].function].label)

    def write(self, to: Any, kind: str, format: Optional[str] = None, *, before: Optional[Profile] = None, **options: Any) -> int:
        """
        An export or a flame graph of it, as Recording.write() has them: write('cpu.pprof', 'pprof'), write('cpu.svg', 'flame',
        'svg', flame={'title': 'cpu'}). With `before` the colours of the flame graph are the differences from that profile. 'profile'
        is a file that the command reads.
        """
        from ._output import export_formats, write_profile
        if format is None and kind in export_formats():
            kind, format = 'export', kind
        return write_profile(self, before, to, kind, format, options)

    def _repr_html_(self) -> str:
        """The flame graph, for notebooks; a text where nothing can be drawn."""
        from ._output import flame_for_notebooks
        return flame_for_notebooks(self, self.write)

    @property
    def losses(self) -> values.Losses:
        """What is not in it, in samples."""
        losses = abi.perfile_losses()
        lib.perfile_profile_losses(self._open(), _byref(losses))
        return copy(losses)  # type: ignore[no-any-return]

    def close(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer:
            lib.perfile_profile_close(pointer)

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._pointer is None:
            return '<perfile.Profile, closed>'
        return f'<perfile.Profile: {len(self.samples)} samples, {len(self.functions)} functions>'


def make_profile(recording: Recording, progress: Optional[Progress], options: Dict[str, Any]) -> Profile:
    entire = Pass(recording)
    reader, pointer = entire._started(), ctypes.c_void_p()
    call = Call([reader], progress)
    try:
        if options.get('path') is None:
            options['path'] = recording.path
        made = call.watch(structs_of(abi.perfile_profile_options(), options, recording))
        call.run(lib.perfile_profile_open, reader, _byref(made), _byref(pointer))
    finally:
        entire._ended()
    return Profile(pointer, call.unmatched)


def merge_profiles(profiles: Sequence[Profile]) -> Profile:
    """One profile of several, which stay as they are: what equals is joined, and the values are added."""
    pointers = (ctypes.c_void_p * len(profiles))(*(profile._open().value for profile in profiles))
    merged = ctypes.c_void_p()
    Signals().run(lib.perfile_profile_merge, pointers, len(profiles), None, _byref(merged))
    return Profile(merged)
