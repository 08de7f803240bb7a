# SPDX-License-Identifier: MIT
"""What changed between two sets of recordings."""
from __future__ import annotations

import ctypes
from typing import Any, List, Sequence, Union

from . import abi, values
from ._calls import Signals
from ._library import encoded, fill, lib, text
from ._profile import Profile
from ._values import copy

_byref = ctypes.byref
_LISTS = {'maps': 'map_count', 'only': 'only_count', 'ignore': 'ignore_count'}


def _several(profiles: Union[Profile, Sequence[Profile]]) -> List[Profile]:
    return [profiles] if isinstance(profiles, Profile) else list(profiles)


class Diff:
    """
    Profiles of recordings before a change, compared with those after it. Options are members of struct perfile_diff_options:
    keys, event, flags (PERFILE_DIFF_*), noise, margin, alpha, limit; maps, only, ignore and work are lists.
    """

    def __init__(self, before: Union[Profile, Sequence[Profile]], after: Union[Profile, Sequence[Profile]], **options: Any) -> None:
        made, self._pointer = abi.perfile_diff_options(), ctypes.c_void_p()
        held: List[Any] = []
        for name, profiles in ('before', _several(before)), ('after', _several(after)):
            held.append((ctypes.c_void_p * len(profiles))(*(profile._open().value for profile in profiles)))
            setattr(made, name, ctypes.cast(held[-1], dict(made._fields_)[name]))
            setattr(made, f'{name}_count', len(profiles))
        for name, counter in _LISTS.items():
            texts = [encoded(one) for one in options.pop(name, None) or ()]
            held.append((ctypes.c_char_p * len(texts))(*texts))
            setattr(made, name, ctypes.cast(held[-1], dict(made._fields_)[name]))
            setattr(made, counter, len(texts))
        work = options.pop('work', None)
        if work is not None:
            if len(work) != made.before_count + made.after_count:
                raise ValueError('work has a number for each recording')
            held.append((ctypes.c_double * len(work))(*work))
            made.work = ctypes.cast(held[-1], dict(made._fields_)['work'])
        fill(made, options, ('before', 'before_count', 'after', 'after_count', 'allocator'))
        Signals().run(lib.perfile_diff_open, _byref(made), _byref(self._pointer))

    def __len__(self) -> int:
        return int(lib.perfile_diff_row_count(self._pointer))

    def __getitem__(self, index: int) -> values.DiffRow:
        if index < 0:
            index += len(self)
        row = abi.perfile_diff_row()
        if not 0 <= index < len(self) or lib.perfile_diff_row_at(self._pointer, index, _byref(row)) < 0:
            raise IndexError(f'the comparison has {len(self)} rows')
        return copy(row)  # type: ignore[no-any-return]

    @property
    def total(self) -> values.DiffRow:
        """The sum of all, without names."""
        row = abi.perfile_diff_row()
        lib.perfile_diff_total(self._pointer, _byref(row))
        return copy(row)  # type: ignore[no-any-return]

    @property
    def info(self) -> values.DiffInfo:
        """What was compared, and whether verdicts can be given."""
        info = abi.perfile_diff_info()
        lib.perfile_diff_describe(self._pointer, _byref(info))
        return copy(info)  # type: ignore[no-any-return]

    @property
    def notes(self) -> List[str]:
        """What readers of the rows should know, a sentence each."""
        found: List[str] = []
        while note := text(lib.perfile_diff_note_at(self._pointer, len(found))):
            found.append(note)
        return found

    def __del__(self) -> None:
        lib.perfile_diff_close(self._pointer)

    def __repr__(self) -> str:
        return f'<perfile.Diff of {self.info.event}: {len(self)} rows>'
