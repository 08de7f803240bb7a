# SPDX-License-Identifier: MIT
"""Recordings made from nothing."""
from __future__ import annotations

import ctypes, os
from typing import Any, Dict, List, Optional, Sequence

from . import abi, constants
from ._calls import Signals
from ._library import encoded, fill, lib

_byref = ctypes.byref


def _numbers(numbers: Sequence[int]) -> Any:
    """A perfile_u64s of them."""
    data = (ctypes.c_uint64 * len(numbers))(*numbers)
    made = abi.perfile_u64s()
    made.data, made.count = ctypes.addressof(data), len(numbers)
    made._held = data
    return made


def _set(struct: Any, members: Dict[str, Any], held: List[Any]) -> Any:
    """Sets members of a struct: numbers, texts, and lists of numbers."""
    kinds = dict(struct._fields_)
    for name, value in members.items():
        if name not in kinds:
            raise TypeError(f'{name!r} is not a member here; there are {", ".join(kinds)}')
        if kinds[name] is abi.perfile_u64s:
            value = _numbers(value)
            held.append(value)
        elif isinstance(value, str):
            value = encoded(value)
            held.append(value)
        setattr(struct, name, value)
    return struct


class Writer:
    """
    A recording that is written to a path, where it appears complete at the end of the `with` block; after an exception nothing
    is left. Options are members of struct perfile_writer_options.

        with perfile.Writer('made.data') as writer:
            cycles = writer.event('cycles', type=0, config=0, sample_type=PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID)
            writer.record('COMM', pid=7, tid=7, comm='prog')
            writer.sample(cycles, ip=0x401000, pid=7, tid=7)
    """

    def __init__(self, path: Any, **options: Any) -> None:
        self._pointer = ctypes.c_void_p()
        made = fill(abi.perfile_writer_options(), options, ('allocator', 'diagnostic', 'diagnostic_context'))
        Signals().run(lib.perfile_writer_open_path, os.fsencode(path), _byref(made), _byref(self._pointer))

    def event(self, name: Optional[str] = None, *, ids: Sequence[int] = (), **attr: Any) -> int:
        """Adds an event and returns its number. `attr` are members of struct perfile_attr; several events need ids."""
        spec, index, held = abi.perfile_event_spec(), ctypes.c_uint32(), []  # type: ignore[var-annotated]
        of = _set(abi.perfile_attr(size=0), attr, held)
        spec.attr, spec.attr_bytes, spec.name = ctypes.pointer(of), ctypes.sizeof(of), encoded(name)
        numbers = (ctypes.c_uint64 * len(ids))(*ids)
        spec.ids, spec.id_count = ctypes.cast(numbers, dict(spec._fields_)['ids']), len(ids)
        Signals().run(lib.perfile_writer_add_event, self._pointer, _byref(spec), _byref(index))
        return index.value

    def feature(self, name: str, value: str) -> None:
        """A feature that is one text: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID."""
        number = getattr(constants, f'PERFILE_FEATURE_{name}')
        Signals().run(lib.perfile_writer_feature_text, self._pointer, number, encoded(value))

    def record(self, name: str, *, misc: int = 0, id: Optional[Dict[str, int]] = None, **members: Any) -> None:
        """A record of the kernel, such as "MMAP2"; members are those of its struct, `id` those of struct perfile_sample_id."""
        held: List[Any] = []
        made = _set(getattr(abi, f'perfile_{name.lower()}')(), members, held)
        end = _byref(_set(abi.perfile_sample_id(), id, held)) if id is not None else None
        number = getattr(constants, f'PERFILE_RECORD_{name}')
        Signals().run(lib.perfile_writer_record, self._pointer, number, misc, _byref(made), ctypes.sizeof(made), end)

    def sample(self, event: int, *, misc: int = constants.PERFILE_MISC_USER, **members: Any) -> None:
        """A sample; members are those of struct perfile_sample that the event's sample_type has, `callchain` is a list."""
        held: List[Any] = []
        made = _set(abi.perfile_sample(), members, held)
        Signals().run(lib.perfile_writer_sample, self._pointer, event, misc, _byref(made))

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None:
                Signals().run(lib.perfile_writer_finish, self._pointer)
        finally:
            pointer, self._pointer = self._pointer, ctypes.c_void_p()
            lib.perfile_writer_close(pointer)

    def __del__(self) -> None:
        lib.perfile_writer_close(self._pointer)
