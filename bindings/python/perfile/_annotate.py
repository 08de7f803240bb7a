# SPDX-License-Identifier: MIT
"""Which instructions and source lines samples were taken at."""
from __future__ import annotations

import ctypes
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from . import abi, values
from ._calls import Call, Progress
from ._library import encoded, failure, lib, text
from ._recording import Closing, Recording
from ._table import structs_of
from ._values import copy

_byref = ctypes.byref


class Instruction(NamedTuple):
    """An instruction with the weight of an event's samples there."""
    address: int
    text: Optional[str]
    file: Optional[str]
    line: int
    samples: int
    period: int


class Annotate(Closing):
    """
    The functions of a recording with samples of their own, the hottest first. Options are members of struct
    perfile_annotation_options and filters, as those of recording.profile().
    """

    def __init__(self, recording: Recording, progress: Optional[Progress] = None, **options: Any) -> None:
        self._annotation: Any = None
        super().__init__(recording)
        reader, annotation = self._started(), ctypes.c_void_p()
        call = Call([reader], progress)
        try:
            self._options = call.watch(structs_of(abi.perfile_annotation_options(), options, recording))
            call.run(lib.perfile_annotation_open, reader, _byref(self._options), _byref(annotation))
        except BaseException:
            self._ended()
            raise
        self._call, self._annotation = call, annotation

    def __len__(self) -> int:
        return int(lib.perfile_annotation_function_count(self._open()))

    def __getitem__(self, index: int) -> values.AnnotationFunction:
        function = abi.perfile_annotation_function()
        if not 0 <= index < len(self) or lib.perfile_annotation_function_at(self._open(), index, _byref(function)) < 0:
            raise IndexError(f'there are {len(self)} functions')
        return copy(function)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[values.AnnotationFunction]:
        return (self[index] for index in range(len(self)))

    @property
    def events(self) -> List[values.AnnotationEvent]:
        """Those that have samples; their positions are the numbers that weights are asked for by."""
        found = []
        for index in range(lib.perfile_annotation_event_count(self._open())):
            event = abi.perfile_annotation_event()
            lib.perfile_annotation_event_at(self._open(), index, _byref(event))
            found.append(copy(event))
        return found

    def find(self, name: str) -> Optional[int]:
        """The number of the first function of that name or pattern; None: there is none."""
        number = lib.perfile_annotation_find(self._open(), encoded(name), 0)
        return None if number >= len(self) else int(number)

    def weight(self, function: int, event: int = 0) -> Tuple[int, int]:
        """Samples and period of a function."""
        weight = abi.perfile_weight()
        if lib.perfile_annotation_weight(self._open(), function, event, _byref(weight)) < 0:
            raise IndexError(f'there is no function {function} or no event {event}')
        return weight.samples, weight.period

    def instructions(self, function: int, event: int = 0) -> List[Instruction]:
        """The code of a function; without its binary there is an entry for each sampled address, which has no text."""
        listing = ctypes.c_void_p()
        self._call.run(lib.perfile_annotation_listing, self._open(), function, _byref(listing))
        try:
            return [self._instruction(listing, index, event) for index in range(lib.perfile_listing_line_count(listing))]
        finally:
            lib.perfile_listing_close(listing)

    @staticmethod
    def _instruction(listing: Any, index: int, event: int) -> Instruction:
        line, weight = abi.perfile_listing_line(), abi.perfile_weight()
        result = lib.perfile_listing_line_at(listing, index, _byref(line))
        if result >= 0:
            result = lib.perfile_listing_weight(listing, index, event, _byref(weight))
        if result < 0:
            raise failure(result)
        return Instruction(line.address, text(line.text), text(line.file), line.line, weight.samples, weight.period)

    def _open(self) -> Any:
        if self._annotation is None:
            raise ValueError('the annotation is closed')
        return self._annotation

    def close(self) -> None:
        annotation, self._annotation = self._annotation, None
        if annotation:
            lib.perfile_annotation_close(annotation)
            self._ended()
