#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sizes.py BUILD: no function takes a struct whose size is not set, or with members that the library does not know.

Every function of abi.txt that takes a struct which begins with `size`, itself or by a pointer in its options, is called with
each of these of size 0 and, where it does not fill it, with a member set after those that the library knows. It must return
ARGUMENT and say so. A new function is called, too; a new kind of handle needs a method of Needs."""
import ctypes, os, pathlib, re, sys, tempfile

import binding

binding.hermetic.settle(is_inside=True)
perfile = binding.load(sys.argv[1])
abi, constants, library = (binding.importlib.import_module(f'perfile.{name}') for name in ('abi', 'constants', '_library'))
lib, byref = library.lib, ctypes.byref
DATA = binding.DEMO.read_bytes()
FUNCTION = re.compile(r'^function (\w+): (?!size_t ).*?\b\1\((.*)\)$', re.M) # those that can return an error
WRITTEN = {('perfile_map', 'replaced')} # members that the library sets, and does not read
FILLED = {('perfile_pgo_write_options', 'counts')}  # members whose structs the library fills
SIZE, UNKNOWN = 'size is not set', 'does not know'
HERE = tempfile.TemporaryDirectory(prefix='perfile-sizes-')
# arguments by their names
NUMBERS = {'type': constants.PERFILE_RECORD_LOST}
TEXTS = {'kind': b'script', 'format': b'text', 'view': b'samples', 'name': b'samples', 'path': os.fsencode(HERE.name + '/copy.data'), 'folder': None,
         'definition': b'main', 'range': b'main'}


def made(function, *arguments):
    handle, error = ctypes.c_void_p(), abi.perfile_error()
    if function(*arguments, byref(handle), byref(error)) < 0:
        sys.exit(f'a handle cannot be made: {error.message.decode()}')
    return handle


class Needs:
    """What calls take beside the struct in question: handles by the names of their types. Each call has its own."""

    def __init__(self):
        self.reader = made(lib.perfile_open_memory, DATA, len(DATA), None)
        self.sink = abi.perfile_sink(write=dict(abi.perfile_sink._fields_)['write'](lambda context, data, size: 0))

    def writer(self):
        return made(lib.perfile_writer_open_sink, byref(self.sink), byref(abi.perfile_writer_options(mode=constants.PERFILE_MODE_PIPE)))

    def session(self):
        return made(lib.perfile_session_open, self.reader)

    def record(self):
        record, error = ctypes.POINTER(abi.perfile_record)(), abi.perfile_error()
        reader = made(lib.perfile_open_memory, DATA, len(DATA), None)  # a session may have the other one
        while lib.perfile_reader_next(reader, byref(record), byref(error)) == 1:
            if record[0].type == constants.PERFILE_RECORD_SAMPLE:
                return record
        sys.exit('the recording has no sample')

    def event(self):
        return self.record()[0].event

    def unwind_stage(self):
        return made(lib.perfile_unwind_stage_open, None)

    def unwinder(self):
        return made(lib.perfile_unwinder_open, self.reader, None)

    def stream(self):
        stream, error = made(lib.perfile_stream_open, self.reader, None), abi.perfile_error()
        lib.perfile_stream_next(stream, byref(ctypes.POINTER(abi.perfile_stream_sample)()), byref(error))
        return stream

    def pgo(self):
        return made(lib.perfile_pgo_open, None)

    def profile(self):
        return made(lib.perfile_profile_open, self.reader, None)

    def resolver(self):
        resolver = made(lib.perfile_resolver_open, self.reader, self.session(), None)
        lib.perfile_resolver_frames(resolver, byref(abi.perfile_location()), byref(ctypes.c_uint32()), 1, None)
        return resolver

    def symbolizer(self):
        symbolizer = made(lib.perfile_symbolizer_open, None)
        binary = abi.perfile_binary(path=b'/nonexistent')
        lib.perfile_symbolizer_add(symbolizer, byref(binary), byref(ctypes.c_uint32()), None)
        return symbolizer

    def builder(self):
        return made(lib.perfile_builder_open, None)

    def table(self):
        return made(lib.perfile_table_open, self.reader, b'samples', None)

    def annotation(self):
        return made(lib.perfile_annotation_open, self.reader, None)

    def listing(self):
        return made(lib.perfile_annotation_listing, self.annotation(), 0)

    def diff(self):
        profiles = (ctypes.c_void_p * 1)(self.profile().value)
        both = ctypes.cast(profiles, ctypes.POINTER(ctypes.c_void_p))
        options = abi.perfile_diff_options(before=both, before_count=1, after=both, after_count=1)
        return made(lib.perfile_diff_open, byref(options))

    def of(self, declaration, kind):
        """An argument of that declaration."""
        if '(*' in declaration: # a function, which is not reached
            return kind()
        name = re.search(r'(\w+)(?:\[\d+\])?$', declaration)[1]
        struct = re.search(r'struct perfile_(\w+) \*(?!\*)(?!const)', declaration)
        if '**' in declaration or '*const *' in declaration:
            return byref(kind._type_())
        if 'perfile_error' in declaration:
            return None
        if struct and sized(kind):
            return byref(kind._type_())
        handle = struct[1] if struct else name
        if (struct or kind is ctypes.c_void_p) and hasattr(self, handle):
            value = getattr(self, handle)
            return byref(value) if handle == 'sink' else value() if callable(value) else value
        if struct:
            sys.exit(f'{declaration}: Needs has no method of that name')
        if kind is ctypes.c_char_p:
            return TEXTS[name]
        if isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData):
            return ctypes.create_string_buffer(64) if name == 'build_id' else None if kind is ctypes.c_void_p else NUMBERS.get(name, 0)
        return ctypes.cast((kind._type_ * 64)(), kind)


def sized(kind):
    """The struct that a pointer points to, if it begins with its size."""
    struct = getattr(kind, '_type_', None)
    return isinstance(struct, type) and issubclass(struct, abi.Sized)


def call(name, declarations, at, struct):
    """The result with `struct` as that argument, and what it says."""
    needs, error = Needs(), abi.perfile_error()
    kinds = getattr(lib, name).argtypes
    arguments = [needs.of(declaration, kind) for declaration, kind in zip(declarations, kinds)]
    arguments[at] = ctypes.cast(ctypes.pointer(struct), kinds[at])
    if 'perfile_error' in declarations[-1]:
        arguments[-1] = byref(error)
    return getattr(lib, name)(*arguments), error.message.decode() if 'perfile_error' in declarations[-1] else None


def zero(kind):
    struct = kind()
    struct.size = 0
    return struct


def grown(kind):
    """One with a member after its last that the library does not know."""
    class Grown(ctypes.Structure):
        _fields_ = [('known', kind), ('unknown', ctypes.c_uint64)]
    made = Grown(kind(), 1)
    made.known.size = ctypes.sizeof(Grown)
    return made


def cases():
    """Function, its declarations, which argument, what is wrong, the argument with that, and what it must say."""
    for name, text in FUNCTION.findall((binding.TREE / 'tests/api/abi.txt').read_text()):
        if name not in abi.FUNCTIONS:
            continue
        declarations, kinds = re.split(r', (?![^(]*\))', text), getattr(lib, name).argtypes
        for at, kind in enumerate(kinds):
            if not sized(kind):
                continue
            struct, reads = kind._type_, declarations[at].startswith('const ')
            yield name, declarations, at, '', zero(struct), SIZE
            if reads:
                yield name, declarations, at, '', grown(struct), UNKNOWN
            for member, held in struct._fields_ if reads else ():
                if sized(held) and (struct.__name__, member) not in WRITTEN:
                    filled = (struct.__name__, member) in FILLED
                    for wrong, says in ((zero(held._type_), SIZE), *(() if filled else [(grown(held._type_), UNKNOWN)])):
                        outer = struct()
                        setattr(outer, member, ctypes.cast(ctypes.pointer(wrong), held))
                        outer._wrong = wrong
                        yield name, declarations, at, member, outer, says


def main():
    pathlib.Path(HERE.name, 'copy.data').write_bytes(DATA)
    wrong = count = 0
    for name, declarations, at, member, struct, says in cases():
        result, message = call(name, declarations, at, struct)
        count += 1
        if result != constants.PERFILE_ERROR_ARGUMENT or (message is not None and says not in message):
            wrong += 1
            print(f'{name}: {declarations[at]}{member and " ->"} {member}: {result} {message}, not "{says}"')
    print(f'{count} calls, {wrong} wrong')
    sys.exit(wrong > 0 or count < 150)


main()
