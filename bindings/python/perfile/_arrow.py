# SPDX-License-Identifier: MIT
"""Batches of tables as Python lists, NumPy arrays and pandas columns, from the Arrow C data interface alone."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import abi
from ._library import failure, lib

# of an Arrow format: the one of memoryview and struct, and the type of NumPy
NUMBERS = {'i': ('i', 'int32'), 'I': ('I', 'uint32'), 'l': ('q', 'int64'), 'L': ('Q', 'uint64'), 'g': ('d', 'float64')}


class Schema:
    """The names and Arrow formats of the columns of a table; "u" is a dictionary of texts."""

    def __init__(self, table: Any) -> None:
        schema, error = abi.ArrowSchema(), abi.perfile_error()
        result = lib.perfile_table_schema(table, ctypes.byref(schema), ctypes.byref(error))
        if result < 0:
            raise failure(result, error)
        try:
            self.names: List[str] = []
            self.formats: List[str] = []
            self.nullable: List[bool] = []
            for index in range(schema.n_children):
                child = schema.children[index].contents
                self.names.append(child.name.decode())
                self.nullable.append(bool(child.flags & 2))  # ARROW_FLAG_NULLABLE
                self.formats.append('u' if child.dictionary else child.format.decode())
        finally:
            schema.release(ctypes.byref(schema))


class Batch:
    """One batch; its memory is there as long as the batch, or an array on its memory, is held."""

    def __init__(self) -> None:
        self.array = abi.ArrowArray()

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))

    def column(self, index: int) -> Column:
        return Column(self, self.array.children[index].contents)

    def __len__(self) -> int:
        return int(self.array.length)


class Column:
    """The values of a column, or of the dictionary or the lists of one."""

    def __init__(self, batch: Batch, array: Any) -> None:
        self._batch, self._array, self.length = batch, array, int(array.length)

    def _memory(self, index: int, count: int, size: int) -> Any:
        """A buffer of the column, from its offset on; keeps the batch alive."""
        found = self._array.buffers[index]
        if not found or not count:
            return None
        memory: Any = (ctypes.c_char * (count * size)).from_address(found + self._array.offset * size)
        memory.batch = self._batch
        return memory

    def _bits(self, index: int) -> bytes:
        end = self._array.offset + self.length
        return ctypes.string_at(self._array.buffers[index], (end + 7) // 8)

    def valid(self) -> Optional[List[bool]]:
        """Which values are there; None: all."""
        if not self._array.null_count or not self._array.buffers[0]:
            return None
        bits, offset = self._bits(0), self._array.offset
        return [bool(bits[at >> 3] >> (at & 7) & 1) for at in range(offset, offset + self.length)]

    # ---- Python ------------------------------------------------------------------------------------------------------

    def numbers(self, form: str, count: Optional[int] = None, buffer: int = 1) -> List[Any]:
        size = ctypes.sizeof({'i': ctypes.c_int32, 'I': ctypes.c_uint32}.get(form, ctypes.c_int64))
        memory = self._memory(buffer, self.length if count is None else count, size)
        return memoryview(memory).cast('B').cast(form).tolist() if memory is not None else []

    def texts(self) -> List[str]:
        """Of a dictionary."""
        ends = self.numbers('i', self.length + 1)
        data = ctypes.string_at(self._array.buffers[2], ends[-1]) if ends and ends[-1] else b''
        return [data[start:end].decode() for start, end in zip(ends, ends[1:])]

    def dictionary(self) -> Column:
        return Column(self._batch, self._array.dictionary.contents)

    def child(self) -> Column:
        return Column(self._batch, self._array.children[0].contents)

    def to_list(self, form: str) -> List[Any]:
        """The values as Python has them; None where there is none."""
        if form == 'b':
            bits, offset = self._bits(1) if self.length else b'', self._array.offset
            found: List[Any] = [bool(bits[at >> 3] >> (at & 7) & 1) for at in range(offset, offset + self.length)]
        elif form == '+l':
            child = self.child()
            inner = child.to_list('u' if child._array.dictionary else 'L')
            ends = self.numbers('i', self.length + 1)
            found = [inner[start:end] for start, end in zip(ends, ends[1:])]
        elif form == 'u':
            texts: List[Any] = [*self.dictionary().texts(), None]
            if self.valid() is None:
                return [texts[code] for code in self.numbers('i')]
            found = [texts[code if there else -1] for code, there in zip(self.numbers('i'), self.valid() or ())]
            return found
        else:
            found = self.numbers(NUMBERS[form][0])
        valid = self.valid()
        return found if valid is None else [value if there else None for value, there in zip(found, valid)]

    # ---- NumPy -------------------------------------------------------------------------------------------------------

    def array(self, numpy: Any, form: str) -> Any:
        """The numbers, on the memory of the batch."""
        kind = numpy.dtype(NUMBERS[form][1])
        memory = self._memory(1, self.length, kind.itemsize)
        return numpy.zeros(0, kind) if memory is None else numpy.frombuffer(memory, kind)

    def flags(self, numpy: Any, index: int) -> Any:
        """A bitmap as booleans."""
        offset = self._array.offset
        bits = numpy.unpackbits(numpy.frombuffer(self._bits(index), 'uint8'), bitorder='little')
        return bits[offset:offset + self.length].astype(bool)

    def missing(self, numpy: Any) -> Any:
        """True where there is no value; None: nowhere."""
        if not self._array.null_count or not self._array.buffers[0]:
            return None
        return ~self.flags(numpy, 0)


class Texts:
    """The texts of a column over all batches, whose dictionaries may differ."""

    def __init__(self) -> None:
        self.texts: List[str] = []
        self._codes: Dict[str, int] = {}

    def codes(self, numpy: Any, column: Column) -> Any:
        """The codes of a batch, as positions in `texts`; -1 where there is no value."""
        of_batch = column.dictionary().texts()
        found = column.array(numpy, 'i')
        if of_batch[:len(self.texts)] == self.texts:  # it has grown, as dictionaries mostly do
            known = len(self.texts)
            self.texts += of_batch[known:]
            self._codes.update((text, known + at) for at, text in enumerate(of_batch[known:]))
        else:
            for text in of_batch:
                if self._codes.setdefault(text, len(self.texts)) == len(self.texts):
                    self.texts.append(text)
            found = numpy.array([self._codes[text] for text in of_batch] + [-1], 'int32')[found]
        missing = column.missing(numpy)
        return found if missing is None else numpy.where(missing, numpy.int32(-1), found)


def _joined(numpy: Any, pieces: Sequence[Any], kind: str) -> Any:
    return pieces[0] if len(pieces) == 1 else numpy.concatenate(pieces) if pieces else numpy.zeros(0, kind)


def _lists(numpy: Any, columns: Sequence[Column]) -> Any:
    """A column of lists as objects: NumPy arrays of texts or addresses, on common memory for each batch."""
    texts, found, at = Texts(), numpy.empty(sum(column.length for column in columns), object), 0
    for column in columns:
        child, ends = column.child(), column.numbers('i', column.length + 1)
        if child._array.dictionary:
            codes = texts.codes(numpy, child)
            inner = numpy.array(texts.texts + [None], object)[codes]
        else:
            inner = child.array(numpy, 'L')
        valid = column.valid()
        for index in range(column.length):
            if valid is None or valid[index]:
                found[at + index] = inner[ends[index]:ends[index + 1]]
        at += column.length
    return found


def to_pandas_column(pandas: Any, numpy: Any, form: str, nullable: bool, columns: Sequence[Column]) -> Any:
    """
    Numbers as they are, or of the nullable types if the column may have nulls; texts as a categorical; lists as objects.
    One copy is made where there is more than one batch, none where there is one.
    """
    if form == '+l':
        return _lists(numpy, columns)
    if form == 'u':
        texts = Texts()
        codes = _joined(numpy, [texts.codes(numpy, column) for column in columns], 'int32')
        return pandas.Categorical.from_codes(codes, pandas.Index(texts.texts, dtype=object))
    missing = [column.missing(numpy) for column in columns]
    if form == 'b':
        found = _joined(numpy, [column.flags(numpy, 1) if column.length else numpy.zeros(0, bool) for column in columns],
                        'bool')
    else:
        found = _joined(numpy, [column.array(numpy, form) for column in columns], NUMBERS[form][1])
    if not nullable:
        return found
    mask = _joined(numpy, [numpy.zeros(column.length, bool) if mask is None else mask
                           for column, mask in zip(columns, missing)], 'bool')
    if form == 'g':
        return numpy.where(mask, numpy.nan, found)
    return (pandas.arrays.BooleanArray if form == 'b' else pandas.arrays.IntegerArray)(found, mask)


# ---- capsules --------------------------------------------------------------------------------------------------------

_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ('PyCapsule_New', ctypes.pythonapi))
_capsules: Dict[int, Tuple[Any, bytes]] = {}  # by their addresses: the structs that they hold, and their names


def _destroy(capsule: int) -> None:
    """Whoever took what the capsule held has left a struct without `release`."""
    struct, _ = _capsules.pop(capsule)
    if struct.release:
        struct.release(ctypes.byref(struct))


_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)


def capsule(name: bytes, struct: Any) -> Any:
    """A PyCapsule as the Arrow PyCapsule interface names it, with a struct that has `release`."""
    made = _capsule_new(ctypes.addressof(struct), name, ctypes.cast(_destructor, ctypes.c_void_p))
    _capsules[id(made)] = struct, name
    return made
