# SPDX-License-Identifier: MIT
"""Python values of C structs: everything is copied, so that nothing depends on what the library does next."""
from __future__ import annotations

import ctypes, struct, sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import abi, constants, values
from ._library import lib, text


def numbers(row: Any, kind: str = 'Q', swapped: Optional[bool] = None) -> Tuple[int, ...]:
    """The numbers of perfile_u64s and the like, in this machine's byte order."""
    if not row.count:
        return ()
    other = row.swapped if swapped is None else swapped
    order = '=' if not other else '<' if sys.byteorder == 'big' else '>'
    form = f'{order}{row.count}{kind}'
    return struct.unpack(form, ctypes.string_at(row.data, struct.calcsize(form)))


def data_of(row: Any) -> bytes:
    return ctypes.string_at(row.data, row.bytes) if row.data else b''


def _stack(stack: Any) -> bytes:
    return ctypes.string_at(stack.data, min(stack.used, stack.bytes)) if stack.data else b''


def _at(function: Any, rows: Any, kind: Any) -> Tuple[Any, ...]:
    one, found = kind(), []
    copy = copier(kind)
    for index in range(rows.count):
        function(ctypes.byref(rows), index, ctypes.byref(one), ctypes.sizeof(one))
        found.append(copy(one))
    return tuple(found)


def _read(read: Any) -> values.Read:
    return values.Read(read.format, read.time_enabled, read.time_running,
                       _at(lib.perfile_read_at, read, abi.perfile_read_value))


def _regs(regs: Any) -> values.Regs:
    return values.Regs(regs.abi, regs.mask, numbers(regs.values))


def _branches(stack: Any) -> values.BranchStack:
    return values.BranchStack(stack.hw_idx if stack.has_hw_idx else None,
                              _at(lib.perfile_branch_at, stack, abi.perfile_branch), numbers(stack.counters))


def _cpus(cpus: Any) -> values.CpuSet:
    if cpus.map_type == constants.PERFILE_CPU_MAP_RANGE_CPUS:
        return values.CpuSet(cpus.any_cpu, tuple(range(cpus.start_cpu, cpus.end_cpu + 1)))
    if cpus.map_type == constants.PERFILE_CPU_MAP_CPUS:
        found = numbers(cpus, 'H')
        return values.CpuSet(0xffff in found, tuple(cpu for cpu in found if cpu != 0xffff))
    words, bits = numbers(cpus, 'I' if cpus.long_size == 4 else 'Q'), cpus.long_size * 8
    return values.CpuSet(False, tuple(index * bits + bit for index, word in enumerate(words) for bit in range(bits)
                                      if word >> bit & 1))


def _counters(counters: Any) -> Tuple[int, ...]:
    return numbers(counters, 'I')


SHAPES: Dict[Any, Callable[[Any], Any]] = {
    abi.perfile_u64s: numbers, abi.perfile_bytes: data_of, abi.perfile_feature_body: data_of, abi.perfile_stack: _stack,
    abi.perfile_read: _read, abi.perfile_regs: _regs, abi.perfile_branch_stack: _branches, abi.perfile_cpu_set: _cpus,
    abi.perfile_schedstat_counters: _counters}


def _pointed(pointer: Any, count: Optional[int]) -> Tuple[Any, ...]:
    if not pointer:
        return ()
    if count is None:
        found: List[Any] = []
        while pointer[len(found)] is not None:
            found.append(pointer[len(found)])
    else:
        found = pointer[:count]
    if found and not isinstance(found[0], (ctypes.Structure, bytes, int)):
        found = [one.contents for one in found]  # pointers to them
    if found and isinstance(found[0], ctypes.Structure):
        return tuple(map(copier(type(found[0])), found))
    return tuple(text(one) if isinstance(one, bytes) else one for one in found)


def _member(kind: Any, name: str, of: Any) -> Callable[[Any], Any]:
    """How to get at a member, as a Python value."""
    owner = kind.__name__
    if (owner, name) in abi.ELEMENTS:
        element = abi.ELEMENTS[owner, name]
        function = getattr(lib, element.__name__ + '_at')
        return lambda one: _at(function, getattr(one, name), element)
    if (owner, name) in values.COUNTS:
        counter = values.COUNTS[owner, name]
        if of is ctypes.c_void_p:
            return lambda one: ctypes.string_at(getattr(one, name) or b'', getattr(one, counter))  # type: ignore[arg-type]
        return lambda one: _pointed(getattr(one, name), getattr(one, counter) if counter else None)
    if of is ctypes.c_char_p:
        return lambda one: text(getattr(one, name))
    if of in SHAPES:
        return lambda one: SHAPES[of](getattr(one, name))
    if issubclass(of, ctypes._Pointer):
        return lambda one: copy(getattr(one, name).contents) if getattr(one, name) else None
    if of in values.CLASSES:
        return lambda one: copier(of)(getattr(one, name))
    if issubclass(of, ctypes.Array) and of._type_ is ctypes.c_char:
        return lambda one: text(getattr(one, name))
    if name == 'build_id' and issubclass(of, ctypes.Array):
        fields = [field[0] for field in kind._fields_]
        counter = next(field for field in ('build_id_bytes', 'build_id_size', 'size', None) if field in fields or not field)
        return lambda one: bytes(one.build_id)[:getattr(one, counter) if counter else None]
    if issubclass(of, ctypes.Array):
        return lambda one: bytes(getattr(one, name)) if of._type_ is ctypes.c_uint8 else tuple(getattr(one, name))
    return lambda one: getattr(one, name)


_COPIERS: Dict[Any, Callable[[Any], Any]] = {}


def copier(kind: Any) -> Callable[[Any], Any]:
    """The function that makes the named tuple of a struct."""
    if kind not in _COPIERS:
        made = values.CLASSES[kind]
        types = {field[0]: field[1] for field in kind._fields_}
        getters = [_member(kind, name, types[name]) for name in made._fields]
        _COPIERS[kind] = lambda one: made._make([getter(one) for getter in getters])
    return _COPIERS[kind]


def copy(one: Any) -> Any:
    return copier(type(one))(one)


# ---- visits ----------------------------------------------------------------------------------------------------------

class Visit:
    """Everything that a record or a feature holds, as dictionaries, lists, numbers, texts and bytes."""

    def __init__(self) -> None:
        self.result: Dict[str, Any] = {}
        self._open: List[Any] = [self.result]
        kinds: Dict[str, Any] = dict(abi.perfile_visitor._fields_)  # type: ignore[arg-type]
        self._visitor = abi.perfile_visitor(begin=kinds['begin'](self._begin), end=kinds['end'](self._end),
                                            value=kinds['value'](self._value))
        self.visitor = ctypes.byref(self._visitor)

    def _put(self, name: Optional[bytes], value: Any) -> None:
        if isinstance(self._open[-1], list):
            self._open[-1].append(value)
        else:
            self._open[-1][text(name)] = value

    def _begin(self, _: Any, name: Optional[bytes], is_list: bool) -> int:
        opened: Any = [] if is_list else {}
        self._put(name, opened)
        self._open.append(opened)
        return 0

    def _end(self, _: Any, is_list: bool) -> int:
        self._open.pop()
        return 0

    def _value(self, _: Any, pointer: Any) -> int:
        value = pointer.contents
        kind = value.kind
        if kind in (constants.PERFILE_VALUE_TEXT, constants.PERFILE_VALUE_BYTES):
            data = ctypes.string_at(value.data, value.bytes) if value.bytes else b''
            found: Any = text(data) if kind == constants.PERFILE_VALUE_TEXT else data
        elif kind == constants.PERFILE_VALUE_NULL:
            found = None
        else:
            found = {constants.PERFILE_VALUE_SIGNED: value.number.s, constants.PERFILE_VALUE_DOUBLE: value.number.d,
                     constants.PERFILE_VALUE_BOOL: bool(value.number.u)}.get(kind, value.number.u)
        self._put(value.name, found)
        return 0
