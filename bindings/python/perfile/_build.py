# SPDX-License-Identifier: MIT
"""Profiles made of samples that the caller has."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Sequence

from . import abi, constants
from ._calls import Signals
from ._library import encoded, fill, lib
from ._profile import Profile

_byref = ctypes.byref


def _recording(members: Dict[str, Any]) -> Any:
    """A perfile_profile_recording; `cmdline` is a list of texts."""
    words = [encoded(word) for word in members.pop('cmdline', None) or ()]
    made = fill(abi.perfile_profile_recording(clock=-1), members, ('cmdline_count', 'first_time', 'last_time'))
    made._held = (ctypes.c_char_p * len(words))(*words)
    if words:
        made.cmdline, made.cmdline_count = ctypes.cast(made._held, dict(made._fields_)['cmdline']), len(words)
    return made


class Builder:
    """
    A profile of samples that are not from a recording: parts are described once and have numbers then, and equal parts have equal
    numbers. `recording` has members of struct perfile_profile_recording, such as hostname; further members of the parts are those
    of struct perfile_profile_event, perfile_module, perfile_profile_function and perfile_profile_frame.

        builder = perfile.Builder()
        cpu = builder.event('cpu', 'ns')
        frames = [builder.frame(builder.function(name)) for name in ('sum', 'work', 'main')]
        builder.add(cpu, frames, period=13)
        builder.finish().write('cpu.pprof', 'pprof')
    """

    def __init__(self, *, time_quantum: int = 0, recording: Optional[Dict[str, Any]] = None) -> None:
        self._pointer = ctypes.c_void_p()
        options = abi.perfile_builder_options(time_quantum=time_quantum)
        if recording is not None:
            options.recording = ctypes.pointer(_recording({**recording}))
        Signals().run(lib.perfile_builder_open, _byref(options), _byref(self._pointer))

    def _described(self, function: Any, struct: Any, members: Dict[str, Any]) -> int:
        number = ctypes.c_uint32()
        Signals().run(function, self._open(), _byref(fill(struct, members)), _byref(number))
        return number.value

    def _open(self) -> Any:
        if not self._pointer:
            raise ValueError('the builder has finished')
        return self._pointer

    def event(self, name: str, unit: str = 'count', *, weights: bool = False, **members: Any) -> int:
        """What is counted, in which unit: the number for samples. With `weights` samples have those, too."""
        members.update(name=name, unit=unit, value_count=3 if weights else 2)
        return self._described(lib.perfile_builder_event, abi.perfile_profile_event(), members)

    def module(self, name: str, **members: Any) -> int:
        """A binary, by its path: the number for functions and addresses."""
        return self._described(lib.perfile_builder_module, abi.perfile_module(), {'name': name, **members})

    def function(self, name: str, *, module: int = constants.PERFILE_NO_ID, **members: Any) -> int:
        """A function, of a module if there is one: the number for frames."""
        members.update(name=name, module=module)
        return self._described(lib.perfile_builder_function, abi.perfile_profile_function(), members)

    def frame(self, function: int, **members: Any) -> int:
        """A location in a function, such as a `line` of a `file`: the number for stacks."""
        return self._described(lib.perfile_builder_frame, abi.perfile_profile_frame(), {'function': function, **members})

    def address(self, module: int, file_offset: int) -> int:
        """A location in the file of a module whose name is looked up later: the number for stacks."""
        number = ctypes.c_uint32()
        Signals().run(lib.perfile_builder_address, self._open(), module, file_offset, _byref(number))
        return number.value

    def add(self, event: int, frames: Sequence[int], period: int = 0, *, count: int = 1, weight: int = 0,
            time: Optional[int] = None, comm: Optional[str] = None, cgroup: Optional[str] = None, pid: Optional[int] = None,
            tid: Optional[int] = None, cpu: Optional[int] = None) -> None:
        """A sample, or the sum of `count`: a stack, the innermost frame first, and what was counted. pid and tid go together."""
        if (pid is None) != (tid is None):
            raise TypeError('pid and tid go together')
        made = abi.perfile_builder_sample(event=event, period=period, count=count, weight=weight, has_thread=pid is not None,
                                          has_cpu=cpu is not None, has_time=time is not None)
        fill(made, {'time': time, 'comm': comm, 'cgroup': cgroup, 'pid': pid, 'tid': tid, 'cpu': cpu})
        stack = (ctypes.c_uint32 * len(frames))(*frames)
        made.frames, made.frame_count = ctypes.cast(stack, dict(made._fields_)['frames']), len(frames)
        Signals().run(lib.perfile_builder_add, self._open(), _byref(made))

    def finish(self) -> Profile:
        """The profile of all that was added. The builder cannot be used any more."""
        profile = ctypes.c_void_p()
        Signals().run(lib.perfile_builder_finish, self._open(), _byref(profile))
        self._close()
        return Profile(profile)

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        pointer, self._pointer = self._pointer, ctypes.c_void_p()
        lib.perfile_builder_close(pointer)
