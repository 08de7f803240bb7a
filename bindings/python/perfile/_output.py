# SPDX-License-Identifier: MIT
"""Where output goes, and the outputs of the library: the text of reports, scripts and so on."""
from __future__ import annotations

import ctypes, functools, html, io, os
from typing import Any, Callable, Dict, FrozenSet, Optional

from . import abi
from ._calls import Call, Progress
from ._library import Error, encoded, invalid, lib, text
from ._profile import Profile
from ._recording import Pass, Recording
from ._table import structs_of

_byref = ctypes.byref


class Sink:
    """A binary file object, a path or a descriptor as a perfile_sink. A file of that path appears when all is written."""

    def __init__(self, to: Any, call: Call) -> None:
        self._path: Optional[str] = None
        self._close = False
        if isinstance(to, (str, os.PathLike)):
            self._path, self._close = os.fsdecode(to), True
            to = io.open(f'{self._path}.{os.getpid()}.part', 'wb')
        elif isinstance(to, int):
            to, self._close = io.open(to, 'wb', closefd=False), True
        self._to = to
        kinds = dict(abi.perfile_sink._fields_)  # type: ignore[arg-type]
        self._sink = abi.perfile_sink(write=call.callback(kinds['write'], self._write, 1))
        self.pointer = _byref(self._sink)

    def _write(self, _: Any, data: int, count: int) -> int:
        self._to.write(ctypes.string_at(data, count))
        return 0

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._close:
            self._to.close()
        if self._path is not None and kind is None:
            os.replace(self._to.name, self._path)
        elif self._path is not None:
            os.unlink(self._to.name)


@functools.lru_cache(None)
def export_formats() -> FrozenSet[str]:
    """The formats of the output export, by which write() knows it."""
    found, index = set(), 0
    while one := lib.perfile_output_at(index):
        if text(one.contents.kind) == 'export':
            found.add(str(text(one.contents.format)))
        index += 1
    return frozenset(found)


def write_output(recording: Recording, to: Any, kind: str, format: Optional[str], progress: Optional[Progress],
                 options: Dict[str, Any]) -> int:
    entire = Pass(recording)
    reader = entire._started()
    call = Call([reader], progress)
    try:
        made = call.watch(structs_of(abi.perfile_output_options(), options, recording, ('more', 'more_paths', 'more_count')))
        with Sink(to, call) as sink:
            return call.run(lib.perfile_output_write, reader, encoded(kind), encoded(format), _byref(made), sink.pointer)
    finally:
        entire._ended()


def flame_for_notebooks(of: Any, write: Callable[..., int]) -> str:
    """A flame graph as part of a page; a text where nothing can be drawn."""
    to, name = io.BytesIO(), html.escape(repr(of))
    try:
        write(to, 'flame', 'svg')
    except (Error, ValueError) as error:
        return f'<pre>{name}: {html.escape(str(error))}</pre>'
    page = html.escape(to.getvalue().decode('utf-8', 'replace'))
    return f'<iframe srcdoc="{page}" style="width:100%;height:480px;border:0" title="{name}"></iframe>'


def write_profile(profile: Profile, before: Optional[Profile], to: Any, kind: str, format: Optional[str], options: Dict[str, Any]) -> int:
    name = {'export': 'exports', 'flame': 'flame'}.get(kind)
    if name is None:
        raise invalid(f'{kind} is not made of a profile: export and flame are')
    call = Call([])
    made = call.watch(structs_of(abi.perfile_output_options(), {**options, name: options.get(name) or {}}, None,
                                 ('more', 'more_paths', 'more_count')))
    getattr(made, name).contents.profile = profile._open()
    if before is not None and kind != 'flame':
        raise invalid('only a flame graph shows what was before')
    if before is not None:
        made.flame.contents.profile_before = before._open()
    with Sink(to, call) as sink:
        return call.run(lib.perfile_output_write, None, encoded(kind), encoded(format), _byref(made), sink.pointer)
