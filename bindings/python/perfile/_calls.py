# SPDX-License-Identifier: MIT
"""Calls with callbacks: how exceptions of these, and Ctrl-C, end them and come out of them."""
from __future__ import annotations

import _signal  # type: ignore[import]  # signal.getsignal makes an enum of each answer, which takes long
import ctypes, signal, threading
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import abi, values
from ._library import failure, lib
from ._values import copy

Progress = Callable[[int, int], Any]
_SIGNALS = [int(getattr(signal, name)) for name in ('SIGINT', 'SIGTERM', 'SIGALRM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2')]
_MAIN = threading.main_thread()


class Signals:
    """
    Python runs the handlers of signals where a function begins, before its `try`: in a callback their exceptions, such as
    KeyboardInterrupt, would be lost. Here they are kept instead.
    """

    def __init__(self) -> None:
        self.exception: Optional[BaseException] = None
        self._handlers: Dict[int, Any] = {}

    def fail(self, exception: BaseException) -> None:
        self.exception = self.exception or exception

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self._handlers[number](number, frame)
        except BaseException as exception:
            self.fail(exception)

    def __enter__(self) -> Signals:
        if threading.current_thread() is _MAIN:
            for number in _SIGNALS:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    _signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._handlers.items():
            _signal.signal(number, handler)
        self._handlers = {}

    def run(self, function: Any, *arguments: Any) -> int:
        """Calls a function of the library, whose last argument is a perfile_error; its result, or an exception."""
        error = abi.perfile_error()
        with self:
            result: int = function(*arguments, ctypes.byref(error))
        exception, self.exception = self.exception, None
        if exception is not None:
            raise exception
        if result < 0:
            raise failure(result, error)
        return result


class Call(Signals):
    """Reads recordings, in one or more calls, with progress. What goes wrong in callbacks stops the readers."""

    def __init__(self, readers: Sequence[Any], progress: Optional[Progress] = None) -> None:
        super().__init__()
        self._readers, self._progress = readers, progress
        #: parts of filters that nothing matched
        self.unmatched: List[values.Unmatched] = []
        self._kept: List[Any] = []

    def fail(self, exception: BaseException) -> None:
        super().fail(exception)
        for reader in self._readers:
            lib.perfile_reader_stop(reader)

    def callback(self, kind: Any, function: Callable[..., Any], failed: Any = None) -> Any:
        """A C function; an exception ends the call, and `failed` is returned."""
        def guard(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as exception:
                self.fail(exception)
                return failed
        self._kept.append(kind(guard))
        return self._kept[-1]

    def watch(self, options: Any) -> Any:
        """Sets the callbacks of a struct of options that has them. Without progress one is needed, too: for signals."""
        kinds = dict(options._fields_)
        options.progress = self.callback(kinds['progress'], self._reported)
        if 'unmatched' in kinds:
            options.unmatched = self.callback(kinds['unmatched'], lambda _, what: self.unmatched.append(copy(what.contents)))
        return options

    def _reported(self, _: Any, done: int, total: int) -> None:
        if self._progress:
            self._progress(done, total)
