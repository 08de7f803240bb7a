# SPDX-License-Identifier: MIT
"""Functions and source lines of addresses without a recording."""
from __future__ import annotations

import ctypes, os
from typing import Any, List, Optional

from . import abi, constants, values
from ._calls import Signals
from ._library import fill, lib
from ._values import copy

_byref = ctypes.byref


class Symbolizer:
    """Looks up addresses of binaries. Options are members of struct perfile_symbol_options, such as symfs and debuginfod."""

    def __init__(self, **symbols: Any) -> None:
        self._pointer = ctypes.c_void_p()
        self._symbols = fill(abi.perfile_symbol_options(), symbols, ('note', 'note_context', 'reach', 'reach_context'))
        options = abi.perfile_symbolizer_options()
        options.symbols = ctypes.pointer(self._symbols)
        Signals().run(lib.perfile_symbolizer_open, _byref(options), _byref(self._pointer))

    def add(self, path: Any = None, build_id: Optional[bytes] = None) -> int:
        """The number of a binary, of which the path or the build id is known; the same binary has the same number."""
        binary, number = abi.perfile_binary(), ctypes.c_uint32()
        binary.path = None if path is None else os.fsencode(path)
        if build_id:
            if len(build_id) > len(binary.build_id):
                raise ValueError(f'a build id has at most {len(binary.build_id)} bytes')
            binary.build_id[:len(build_id)] = build_id
            binary.build_id_bytes = len(build_id)
        Signals().run(lib.perfile_symbolizer_add, self._pointer, _byref(binary), _byref(number))
        return number.value

    def module(self, binary: int) -> values.Module:
        """What was found of a binary."""
        module = abi.perfile_module()
        if lib.perfile_symbolizer_module(self._pointer, binary, _byref(module)) < 0:
            raise IndexError(f'there is no binary {binary}')
        return copy(module)  # type: ignore[no-any-return]

    def find(self, binary: int, address: int, *, is_offset: bool = False) -> List[values.Symbol]:
        """
        The functions at an address: those that are inlined there, innermost first, then the one that contains them. The address is
        that of addr2line, or with `is_offset` an offset in the file; of a caller the return address minus one.
        """
        flags = constants.PERFILE_SYMBOLIZE_OFFSET if is_offset else 0
        count = Signals().run(lib.perfile_symbolizer_find, self._pointer, binary, address, flags)
        found = []
        for index in range(count):
            symbol = abi.perfile_symbol()
            lib.perfile_symbolizer_frame(self._pointer, index, _byref(symbol))
            found.append(copy(symbol))
        return found

    def __del__(self) -> None:
        lib.perfile_symbolizer_close(self._pointer)
