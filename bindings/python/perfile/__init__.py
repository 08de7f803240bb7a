# SPDX-License-Identifier: MIT
"""
Linux perf.data recordings: reading, analysing, editing. A binding of libperfile, without a compiler.

    with perfile.open('perf.data') as recording:
        frame = recording.table('samples').to_pandas()

Names     are those of C: members of structs are attributes, options are keywords, constants are in perfile.constants. What
          is a keyword of Python ends with an underscore: Branch.from_. perfile.abi has all of C, for what has no class here.
Copies    Everything that is given out is a copy, and valid as long as anyone has it; events are as long as their
          recording is open. Memory of tables is shared with NumPy, pandas and consumers of Arrow, which keep it alive.
Speed     Views are the fast way: tables, above all to_pandas() and Arrow. records(), samples() and streams make an object for
          each, some 200,000 a second.
Reading   A recording is read by one thing at a time: an iterator, a table, a stream, a profile. Each begins at its start,
          and streams can be read only once. recording.counts and recording.diagnostics report damage.
Errors    Error and its subclasses, one for each code. Damage is an error only if the recording was opened with strict=True.
Threads   A recording, and what came of it, belongs to one thread at a time; different ones are independent, and the global
          lock of Python is released while the library works. A Profile may be read by any number of threads.
Signals   Ctrl-C ends long calls: the exception of the handler comes out of the call. With `threads` it waits for the call's
          end, and it does while the input is a pipe that gives nothing.
"""
from typing import Any, Iterator, List, Optional

from . import constants, values
from ._annotate import Annotate, Instruction
from ._build import Builder
from ._diff import Diff
from ._edit import anonymize, convert, cut, inject, merge, repair
from ._library import (AbsentError, AgainError, ArgumentError, CompressionError, DamagedError, Error, EventError,
                       FormatError, LimitError, OpenError, OutOfMemoryError, ReadError, StoppedError, TruncatedError,
                       UnsupportedError, WriteError, encoded, lib, text)
from ._profile import Profile, Rows, Stream, StreamSample, merge_profiles
from ._record import Recorder
from ._recording import Event, Features, Record, Recording, Records, Sample, Samples, open
from ._symbolize import Symbolizer
from ._table import Table
from ._values import copy
from ._version import __version__
from ._write import Writer


def library_version() -> str:
    """The version of the library that is used."""
    return str(text(lib.perfile_version()))


def _listed(function: str, *of: Any) -> Iterator[Any]:
    index = 0
    while found := getattr(lib, function)(*of, index):
        yield copy(found.contents)
        index += 1


def views() -> List[values.ViewInfo]:
    """The views that recording.table() knows."""
    return list(_listed('perfile_view_at'))


def view_events(view: str) -> List[values.ViewEvent]:
    """The events that a view is made of; empty: it shows whatever was recorded."""
    return list(_listed('perfile_view_event_at', encoded(view)))


def outputs() -> List[values.OutputInfo]:
    """The outputs that recording.write() knows."""
    return list(_listed('perfile_output_at'))


def enum_name(which: str, value: int) -> Optional[str]:
    """The name of a value of an enum: ("branch_type", PERFILE_BR_CALL) is "CALL"; None: it has none."""
    return text(lib.perfile_enum_name(encoded(which), value))  # type: ignore[no-any-return]


def register_name(arch: str, number: int) -> Optional[str]:
    """The name of a register of an architecture, as the feature ARCH says it."""
    return text(lib.perfile_register_name(encoded(arch), number))  # type: ignore[no-any-return]


__all__ = [
    'AbsentError', 'AgainError', 'Annotate', 'ArgumentError', 'Builder', 'CompressionError', 'DamagedError', 'Diff', 'Error', 'Event',
    'EventError', 'Features', 'FormatError', 'Instruction', 'LimitError', 'OpenError', 'OutOfMemoryError', 'Profile', 'ReadError', 'Record', 'Recorder',
    'Recording', 'Records', 'Rows', 'Sample', 'Samples', 'StoppedError', 'Stream', 'StreamSample', 'Symbolizer', 'Table', 'TruncatedError',
    'UnsupportedError', 'WriteError', 'Writer', '__version__', 'anonymize', 'constants', 'convert', 'cut', 'enum_name', 'inject',
    'library_version', 'merge', 'merge_profiles', 'open', 'outputs', 'register_name', 'repair', 'values', 'view_events', 'views']

for _name in __all__:  # where it is found, in messages and in pickles
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
