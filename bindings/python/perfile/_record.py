# SPDX-License-Identifier: MIT
"""Recordings of this machine, made by this process."""
from __future__ import annotations

import ctypes, os, signal, time
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from . import abi, constants, values
from ._calls import Signals
from ._library import encoded, fill, lib, text
from ._recording import Recording, open as open_recording
from ._values import copy

_byref = ctypes.byref
_OWN = ('allocator', 'note', 'note_context', 'stage', 'pids', 'filters', 'filter_count')
_Pids = Union[None, int, str, Iterable[int]]
_MOMENT = 0.1  # seconds


class _Workload:
    """A child that executes its command on request, and is recorded from then on."""

    def __init__(self, command: Sequence[Any]) -> None:
        words = [os.fspath(word) for word in command]
        waits, self._start = os.pipe()
        self._error, error = os.pipe()
        self.status: Optional[int] = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._start)
            self._execute(words, waits, error)
        os.close(waits)
        os.close(error)

    def _execute(self, words: List[Any], waits: int, error: int) -> None:
        """In the child; it never returns."""
        try:
            if os.read(waits, 1):
                os.execvp(words[0], words)
        except OSError as failed:
            os.write(error, str(failed.errno).encode())
        finally:
            os._exit(127)

    def start(self) -> None:
        """The end of the pipe says that the command was executed."""
        os.write(self._start, b'x')
        number = os.read(self._error, 16)
        if number:
            raise OSError(int(number), os.strerror(int(number)))

    def has_ended(self, how: int = os.WNOHANG) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, how)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status is not None

    def end(self) -> None:
        """A command that was not started ends by itself, others are terminated."""
        os.close(self._start)
        os.close(self._error)
        if not self.has_ended():
            os.kill(self.pid, signal.SIGTERM)
            self.has_ended(0)


class Recorder:
    """
    Records a command, processes or everything into a file, which is complete after stop() or the `with` block. Options are
    members of struct perfile_recorder_options; their flags are PERFILE_RECORDER_... of perfile.constants. `pids` are numbers.

        with perfile.Recorder('perf.data', ['gzip', 'file'], call_graph='fp') as recorder:
            recorder.wait()
        print(recorder.counts.samples)

    The kernel's buffers are only emptied by drain(), wait() and follow(), so that one of them has to be called all the time. With
    live=True the file can be read while it grows.
    """

    def __init__(self, path: Any, command: Optional[Sequence[Any]] = None, *, pids: _Pids = None, filters: Sequence[Optional[str]] = (),
                 live: bool = False, **options: Any) -> None:
        self._writer, self._recorder = ctypes.c_void_p(), ctypes.c_void_p()
        self._workload: Optional[_Workload] = None
        if command is not None and pids is not None:
            raise TypeError('a recorder takes a command or pids')
        #: where the recording is
        self.path = os.fspath(path)
        #: sentences on what was done otherwise than asked
        self.notes: List[str] = []
        self._counts: Optional[values.RecorderCounts] = None
        self._live = live
        made = self._options(filters, options)
        try:
            if command is not None:
                self._workload, made.flags = _Workload(command), made.flags | constants.PERFILE_RECORDER_ENABLE_ON_EXEC
                pids = self._workload.pid
            self._begin(made, pids)
        except BaseException:
            self._close()
            raise

    def _options(self, filters: Sequence[Optional[str]], options: Dict[str, Any]) -> Any:
        made = fill(abi.perfile_recorder_options(), options, _OWN)
        kinds = dict(made._fields_)
        self._filters = (ctypes.c_char_p * len(filters))(*map(encoded, filters))
        made.filters, made.filter_count = ctypes.cast(self._filters, kinds['filters']), len(filters)
        made.note = self._note = kinds['note'](lambda _, sentence: self.notes.append(str(text(sentence))))
        return made

    def _begin(self, made: Any, pids: _Pids) -> None:
        if pids is not None:
            made.pids = encoded(pids if isinstance(pids, str) else ','.join(map(str, [pids] if isinstance(pids, int) else pids)))
        writing = abi.perfile_writer_options(live=self._live)
        Signals().run(lib.perfile_writer_open_path, os.fsencode(self.path), _byref(writing), _byref(self._writer))
        Signals().run(lib.perfile_recorder_open, _byref(made), self._writer, _byref(self._recorder))
        if self._live:
            Signals().run(lib.perfile_writer_publish, self._writer)
        if self._workload:
            self._workload.start()
        else:
            Signals().run(lib.perfile_recorder_enable, self._recorder)

    def _open(self) -> Any:
        if not self._recorder:
            raise ValueError('the recorder was stopped')
        return self._recorder

    def drain(self, seconds: float = 0) -> None:
        """Writes what was recorded until now, after waiting for it at most so many seconds."""
        Signals().run(lib.perfile_recorder_drain, self._open(), int(seconds * 1000))
        if self._live:
            Signals().run(lib.perfile_writer_flush, self._writer)

    def _goes_on(self, end: Optional[float]) -> bool:
        if self._workload and self._workload.has_ended():
            return False
        return end is None or time.monotonic() < end

    def _end(self, seconds: Optional[float]) -> Optional[float]:
        if seconds is None and not self._workload:
            raise ValueError('without a command it takes a number of seconds')
        return None if seconds is None else time.monotonic() + seconds

    def wait(self, seconds: Optional[float] = None) -> Optional[int]:
        """Records until the command ends, or for so many seconds. The exit status of the command; None: it goes on, or there is none."""
        end = self._end(seconds)
        while self._goes_on(end):
            self.drain(_MOMENT if end is None else min(_MOMENT, max(0.0, end - time.monotonic())))
        return self._workload.status if self._workload else None

    def follow(self, seconds: Optional[float] = None) -> Recording:
        """
        The recording while it is made, until the command ends, or for so many seconds: reading it records, and stops the
        recorder at the end. The recorder has to be a live one.
        """
        if not self._live:
            raise ValueError('only the recording of a recorder with live=True can be followed')
        end = self._end(seconds)
        self.drain()

        def more() -> bool:
            if self._recorder and self._goes_on(end):
                self.drain(_MOMENT)
            elif self._recorder:
                self._stop()
            else:
                return False
            return True
        return open_recording(self.path, follow=more)

    @property
    def pid(self) -> Optional[int]:
        """Of the command."""
        return self._workload.pid if self._workload else None

    @property
    def counts(self) -> values.RecorderCounts:
        """What was recorded until now, or until it was stopped."""
        return self._counts or copy(lib.perfile_recorder_counts_get(self._open()).contents)

    def _stop(self) -> None:
        try:
            Signals().run(lib.perfile_recorder_stop, self._open())
            self._counts = copy(lib.perfile_recorder_counts_get(self._recorder).contents)
            Signals().run(lib.perfile_writer_finish, self._writer)
        finally:
            self._close()

    def stop(self) -> Recording:
        """Ends the recording and opens it. A command that still runs is terminated."""
        self._stop()
        return open_recording(self.path)

    def _close(self) -> None:
        recorder, self._recorder = self._recorder, ctypes.c_void_p()
        writer, self._writer = self._writer, ctypes.c_void_p()
        lib.perfile_recorder_close(recorder)
        lib.perfile_writer_close(writer)
        if self._workload and self._workload.status is None:
            self._workload.end()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._recorder:
            self._stop()
        else:
            self._close()

    def __del__(self) -> None:
        self._close()
