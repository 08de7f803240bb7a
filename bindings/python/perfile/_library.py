# SPDX-License-Identifier: MIT
"""The libraries: where they are, their functions with types, and what their failures become."""
from __future__ import annotations

import ctypes, os
from typing import Any, Dict, Optional, Sequence, Type

from . import abi, constants
from ._version import __version__

_HOW = ('install the library (Debian: libperfile0 and libperfile-analysis0; else "meson install" and ldconfig), or set '
        'PERFILE_LIBRARY to the folder that holds it, such as a build folder')


# of wheels: the libraries, and those that they need, which are loaded first
_HELD = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'libraries')


def _load_held() -> None:
    """Loads what a wheel holds: the loader then has all that is asked for by these names."""
    with open(os.path.join(_HELD, 'order'), encoding='utf-8') as order:
        for name in order.read().split():
            ctypes.CDLL(os.path.join(_HELD, name))


def _load(name: str) -> ctypes.CDLL:
    soname = f'{name}.so.{__version__.split(".")[0]}'
    folder = os.environ.get('PERFILE_LIBRARY')
    if not folder and os.path.isdir(_HELD):
        folder = _HELD
    try:
        return ctypes.CDLL(os.path.join(folder, soname) if folder else soname)
    except OSError as error:
        raise ImportError(f'{soname} cannot be loaded ({error}): {_HOW}') from None


class Functions:
    """The functions of both libraries, by their C names."""

    def __init__(self) -> None:
        if os.path.isdir(_HELD) and not os.environ.get('PERFILE_LIBRARY'):
            _load_held()
        libraries = {name: _load(name) for name in ('libperfile', 'libperfile-analysis')}
        version = libraries['libperfile'].perfile_version_number()
        major, minor, patch = map(int, __version__.split('.'))
        if version < major * 1000000 + minor * 1000 + patch:
            raise ImportError(f'libperfile {version // 1000000}.{version // 1000 % 1000}.{version % 1000} is older than '
                              f'this module, {__version__}: {_HOW}')
        for name, (library, result, arguments) in abi.FUNCTIONS.items():
            function = getattr(libraries[library], name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


lib = Functions()


# ---- errors ----------------------------------------------------------------------------------------------------------

class Error(Exception):
    """A call that failed. Each code has a class of its own, derived from this one."""
    #: one of PERFILE_ERROR_*
    code: int = 0
    #: bytes from the start of the recording; None: it has no position
    offset: Optional[int] = None
    #: the part in question: "MMAP2 record"
    what: str = ''
    #: the word of the caller's that is wrong: an event, a column; "": the error is not about a word
    token: str = ''

    @property
    def code_name(self) -> str:
        """The name of the code: "damaged"."""
        return text(lib.perfile_code_name(self.code)) or ''


class ArgumentError(Error, ValueError):
    """An argument that is not allowed, or not now."""
    code = constants.PERFILE_ERROR_ARGUMENT


class OutOfMemoryError(Error, MemoryError):
    code = constants.PERFILE_ERROR_MEMORY


class OpenError(Error, OSError):
    """The path cannot be opened."""
    code = constants.PERFILE_ERROR_OPEN


class ReadError(Error, OSError):
    code = constants.PERFILE_ERROR_READ


class WriteError(Error, OSError):
    code = constants.PERFILE_ERROR_WRITE


class FormatError(Error):
    """This is not a recording."""
    code = constants.PERFILE_ERROR_FORMAT


class DamagedError(Error):
    """Bytes contradict the format."""
    code = constants.PERFILE_ERROR_DAMAGED


class TruncatedError(Error):
    """The input ends too early."""
    code = constants.PERFILE_ERROR_TRUNCATED


class CompressionError(Error):
    code = constants.PERFILE_ERROR_COMPRESSION


class LimitError(Error):
    """A limit of the options was reached; the message names the option."""
    code = constants.PERFILE_ERROR_LIMIT


class UnsupportedError(Error):
    code = constants.PERFILE_ERROR_UNSUPPORTED


class AbsentError(Error, LookupError):
    """The recording does not hold what was asked for."""
    code = constants.PERFILE_ERROR_ABSENT


class EventError(Error):
    """The event of a record cannot be determined."""
    code = constants.PERFILE_ERROR_EVENT


class StoppedError(Error):
    """A callback ended the call."""
    code = constants.PERFILE_ERROR_STOPPED


class AgainError(Error):
    """Nothing more has been written yet."""
    code = constants.PERFILE_ERROR_AGAIN


CLASSES: Dict[int, Type[Error]] = {kind.code: kind for kind in Error.__subclasses__()}


def failure(result: int, error: Optional[abi.perfile_error] = None) -> Error:
    """The exception of a negative result. Some calls fill no perfile_error."""
    made = CLASSES.get(result, Error)()
    if error is None or error.code == 0:
        made.args = (text(lib.perfile_code_name(result)),)
    else:
        made.args = (text(error.message),)
        made.offset = None if error.offset == constants.PERFILE_NO_OFFSET else error.offset
        made.what, made.token = text(error.what) or '', text(error.token) or ''
    made.code = result
    return made


def invalid(message: str) -> ArgumentError:
    return ArgumentError(message)


# ---- texts and options -----------------------------------------------------------------------------------------------

def text(data: Optional[bytes]) -> Any:
    """What stands in recordings need not be UTF-8; other bytes come out again by os.fsencode and the like."""
    return None if data is None else data.decode('utf-8', 'surrogateescape')


def encoded(value: Any) -> Optional[bytes]:
    """Of a text, a path, a number, or a list of these, which commas separate."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    if isinstance(value, str):
        return value.encode('utf-8', 'surrogateescape')
    if isinstance(value, int):
        return str(value).encode()
    return b','.join(encoded(one) or b'' for one in value)


def fill(struct: Any, options: Dict[str, Any], keep: Sequence[str] = ()) -> Any:
    """Sets members of a struct of options by their C names; those of `keep` are not the caller's to set."""
    kinds = {field[0]: field[1] for field in struct._fields_ if field[0] != 'size' and field[0] not in keep}
    for name, value in options.items():
        if name not in kinds:
            raise TypeError(f'{name!r} is not an option here; there are {", ".join(kinds)}')
        if value is not None:
            setattr(struct, name, encoded(value) if kinds[name] is ctypes.c_char_p else value)
    return struct
