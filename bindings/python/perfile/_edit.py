# SPDX-License-Identifier: MIT
"""
Recordings in, recordings out. All take

    input     a recording, or what perfile.open() takes
    output    a path (which gets its file when it is complete), a descriptor, or a file object. What is not a file of the system
              is written in pipe mode
    progress  called now and then with the bytes read and the bytes there are (0: unknown). An exception ends the edit

and as keywords the members of struct perfile_writer_options, such as mode, byte_order and compression, and of the struct of
options of the edit.
"""
from __future__ import annotations

import ctypes, io, os
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import abi, constants, values
from ._calls import Call, Progress, Signals
from ._library import fill, lib
from ._recording import Pass, Recording, open
from ._table import structs_of
from ._values import copy

_byref = ctypes.byref
_CONTEXTS = ('edit', 'context', 'unwind', 'unwind_context', 'find_build_id', 'find_context', 'follow_code', 'code_context',
             'note', 'note_context', 'readers', 'reader_count', 'names')
_WRITER = [field[0] for field in abi.perfile_writer_options._fields_
           if field[0] not in ('size', 'allocator', 'diagnostic', 'diagnostic_context', 'live')]


class _Edit:
    """The inputs and the output of one edit. Without an exception the output is finished at the end."""

    def __init__(self, inputs: Sequence[Any], output: Any, progress: Optional[Progress], options: Dict[str, Any]) -> None:
        self.opened = [None if isinstance(one, Recording) else open(one) for one in inputs]
        self.recordings = [mine or one for mine, one in zip(self.opened, inputs)]
        self.passes = [Pass(recording) for recording in self.recordings]
        self.readers = [one._started() for one in self.passes]
        self.call = Call(self.readers, progress)
        self.writer = ctypes.c_void_p()
        writing = {name: options.pop(name) for name in _WRITER if name in options}
        self._open(output, fill(abi.perfile_writer_options(), writing))
        self.options = self.call.watch(abi.perfile_edit_options())

    def _open(self, output: Any, writing: Any) -> None:
        run, end = self.call.run, (_byref(writing), _byref(self.writer))
        if isinstance(output, (str, os.PathLike)):
            run(lib.perfile_writer_open_path, os.fsencode(output), *end)
        elif isinstance(output, int):
            run(lib.perfile_writer_open_fd, output, *end)
        elif isinstance(getattr(output, 'raw', output), io.FileIO):
            output.flush()
            run(lib.perfile_writer_open_fd, output.fileno(), *end)
        else:
            def write(_: Any, data: int, count: int) -> int:
                output.write(ctypes.string_at(data, count))
                return 0
            kinds = dict(abi.perfile_sink._fields_)  # type: ignore[arg-type]
            self._sink = abi.perfile_sink(write=self.call.callback(kinds['write'], write, 1))
            writing.mode = constants.PERFILE_MODE_PIPE
            run(lib.perfile_writer_open_sink, _byref(self._sink), *end)

    def run(self, function: Any, *arguments: Any) -> None:
        self.call.run(function, *arguments)

    def __enter__(self) -> _Edit:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None:
                self.call.run(lib.perfile_writer_finish, self.writer)
        finally:
            lib.perfile_writer_close(self.writer)
            for one in self.passes:
                one._ended()
            for recording in self.opened:
                if recording is not None:
                    recording.close()


def _edited(function: Any, input: Any, output: Any, progress: Optional[Progress], options: Dict[str, Any], struct: Any,
            ready: Callable[[_Edit, Any], Any] = lambda edit, made: None) -> values.EditReport:
    report = abi.perfile_edit_report()
    with _Edit([input], output, progress, options) as edit:
        made = structs_of(struct(), options, edit.recordings[0], _CONTEXTS)
        made.edit = ctypes.pointer(edit.options)
        if 'unmatched' in dict(struct._fields_):
            made.unmatched = edit.call.callback(dict(struct._fields_)['unmatched'], lambda _, what: None)
        held = ready(edit, made)
        edit.run(function, edit.readers[0], edit.writer, _byref(made), _byref(report))
        del held
    return copy(report)  # type: ignore[no-any-return]


class _Closed:
    """Something of the library's that must outlive the call."""

    def __init__(self, pointer: Any, close: Any) -> None:
        self.pointer, self._close = pointer, close

    def __del__(self) -> None:
        self._close(self.pointer)


def _symbols(edit: _Edit, symbols: Optional[Dict[str, Any]]) -> Any:
    passed = {'recording': edit.recordings[0].path, **(symbols or {})}
    return fill(abi.perfile_symbol_options(), passed, ('note', 'note_context', 'reach', 'reach_context'))


def repair(input: Any, output: Any, *, progress: Optional[Progress] = None, **options: Any) -> values.EditReport:
    """All that is valid in a damaged or truncated recording, so that every reader opens it."""
    report = abi.perfile_edit_report()
    with _Edit([input], output, progress, options) as edit:
        fill(edit.options, options, ('progress', 'progress_context'))
        edit.run(lib.perfile_repair, edit.readers[0], edit.writer, _byref(edit.options), _byref(report))
    return copy(report)  # type: ignore[no-any-return]


def cut(input: Any, output: Any, *, progress: Optional[Progress] = None, **options: Any) -> values.EditReport:
    """
    Some of the samples, and what readers need to understand them: by time, cpus, pids, tids, comms, events, cgroups; `every`
    Nth, or `samples` of them.
    """
    return _edited(lib.perfile_cut, input, output, progress, options, abi.perfile_cut_options)


def convert(input: Any, output: Any, *, unwind: bool = False, symbols: Optional[Dict[str, Any]] = None,
            progress: Optional[Progress] = None, **options: Any) -> values.EditReport:
    """
    Another mode, byte order or compression; `strip` leaves parts of samples out, `for_perf` makes it readable for an older
    perf, `unwind` turns dumped stacks into callchains, with the binaries that `symbols` names.
    """
    def ready(edit: _Edit, made: Any) -> Any:
        if not unwind:
            return None
        where, unwinder = _symbols(edit, symbols), ctypes.c_void_p()
        edit.run(lib.perfile_unwinder_open, edit.readers[0], _byref(where), _byref(unwinder))
        made.unwind = ctypes.cast(lib.perfile_unwind, dict(made._fields_)['unwind'])
        made.unwind_context = unwinder
        return where, _Closed(unwinder, lib.perfile_unwinder_close)
    return _edited(lib.perfile_convert, input, output, progress, options, abi.perfile_convert_options, ready)


def inject(input: Any, output: Any, *, find: bool = True, jit_folder: Any = None,
           symbols: Optional[Dict[str, Any]] = None, progress: Optional[Progress] = None,
           **options: Any) -> values.EditReport:
    """
    Adds build ids (build_ids, all_build_ids, map_build_ids), sleep times (sched_stat), and the code of JIT compilers, as
    files in `jit_folder`. `find`: build ids that the recording does not have are those of the binaries, where `symbols` says.
    """
    def ready(edit: _Edit, made: Any) -> Any:
        where, kinds = _symbols(edit, symbols), dict(made._fields_)
        if find:
            made.find_build_id = ctypes.cast(lib.perfile_build_id_find, kinds['find_build_id'])
            made.find_context = ctypes.addressof(where)
        if jit_folder is None:
            return where
        jit, folder = ctypes.c_void_p(), os.fsencode(jit_folder)
        edit.run(lib.perfile_jit_open, edit.readers[0], _byref(where), folder, _byref(jit))
        made.follow_code = ctypes.cast(lib.perfile_jit_follow, kinds['follow_code'])
        made.code_context = jit
        return where, folder, _Closed(jit, lib.perfile_jit_close)
    return _edited(lib.perfile_inject, input, output, progress, options, abi.perfile_inject_options, ready)


def anonymize(input: Any, output: Any, *, key: Optional[bytes] = None, progress: Optional[Progress] = None,
              **options: Any) -> values.AnonymizeReport:
    """
    For strangers: names, paths and data are replaced or removed. With the same key the same names become the same; None:
    a random one. keep, change, drop: lists of categories.
    """
    report = abi.perfile_anonymize_report()
    with _Edit([input], output, progress, options) as edit:
        made = fill(abi.perfile_anonymize_options(), options, ('edit', 'key', 'key_bytes'))
        made.edit = ctypes.pointer(edit.options)
        held = ctypes.create_string_buffer(key, len(key)) if key is not None else None
        if held is not None:
            made.key, made.key_bytes = ctypes.addressof(held), len(held)
        edit.run(lib.perfile_anonymize, edit.readers[0], edit.writer, _byref(made), _byref(report))
        made_report: values.AnonymizeReport = copy(report)
    return made_report


def merge(inputs: Sequence[Any], output: Any, *, names: Optional[Sequence[str]] = None,
          note: Optional[Callable[[values.MergeNote], Any]] = None, progress: Optional[Progress] = None,
          **options: Any) -> values.MergeReport:
    """
    Several recordings as one. `note` is called with what could not be kept as it was in an input; clock: one of
    PERFILE_MERGE_CLOCK_*; separate_hosts: processes of several hosts are kept apart.
    """
    report = abi.perfile_merge_report()
    with _Edit(inputs, output, progress, options) as edit:
        made = edit.call.watch(fill(abi.perfile_merge_options(), options, (*_CONTEXTS, 'progress', 'progress_context')))
        readers = (ctypes.c_void_p * len(edit.readers))(*(reader.value for reader in edit.readers))
        made.readers, made.reader_count = readers, len(edit.readers)
        known = names or [one.path or f'input {index + 1}' for index, one in enumerate(edit.recordings)]
        texts = (ctypes.c_char_p * len(known))(*(os.fsencode(name) for name in known))
        made.names = texts
        if note:
            reported = note
            made.note = edit.call.callback(dict(made._fields_)['note'], lambda _, one: reported(copy(one.contents)))
        edit.run(lib.perfile_merge, edit.writer, _byref(made), _byref(report))
        made_report: values.MergeReport = copy(report)
    return made_report
