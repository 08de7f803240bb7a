#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py FOLDER [FILE...]: in FOLDER the module `perfile`: copies of the FILEs, and what is made from the dump of the ABI.

    abi.py        every public struct as a ctypes struct, every function with its types
    constants.py  every enum constant and number, under its C name
    values.py     the structs that the library gives out, as named tuples

These three are only in builds. The test api-abi compares the dump with the headers; the test python-abi compares the layout that
ctypes gives the structs with that of the compiler. Only records.h says, in its comments, what the elements of a list are."""
import keyword, pathlib, re, shutil, sys

TREE = pathlib.Path(__file__).resolve().parents[2]
DUMP = TREE / 'tests/api/abi.txt'
RECORDS = TREE / 'include/perfile/records.h'
WRITTEN_BY = '# SPDX-License-Identifier: MIT\n# Written by bindings/python/generate.py from the public headers.\n'

NUMBERS = {'int': 'c_int', 'unsigned': 'c_uint', 'bool': 'c_bool', 'double': 'c_double', 'size_t': 'c_size_t',
           **{f'{sign}int{bits}_t': f'c_{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)}}
# decoded, these are Python values of their own
SHAPES = {'perfile_u64s': 'Tuple[int, ...]', 'perfile_bytes': 'Bytes', 'perfile_feature_body': 'Bytes',
          'perfile_stack': 'Bytes', 'perfile_list': 'Tuple[Any, ...]', 'perfile_read': 'Read', 'perfile_regs': 'Regs',
          'perfile_branch_stack': 'BranchStack', 'perfile_cpu_set': 'CpuSet',
          'perfile_schedstat_counters': 'Tuple[int, ...]'}
# what callers make, and what has classes of its own
NOT_VALUES = re.compile(r'perfile_(\w+_options|diff_page|allocator|sink|source|visitor|value|error|record|event|filter|place|sample'
                        r'|rows|event_spec|tracing|stream_sample|builder_sample|recorder_stage)$|Arrow')


def split(text):
    """At the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == '(') - (letter == ')')
        if letter == ',' and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def before(name, declaration):
    """The type of a member."""
    return re.match(r'(.*)\b' + name + r'\b', declaration)[1]


def python_name(name):
    return name + '_' if keyword.iskeyword(name) else name


class Abi:
    def __init__(self, lines, elements, lengths):
        self.structs, self.constants, self.functions, self.typedefs, self.library = {}, {}, {}, {}, {}
        self.elements, self.lengths = elements, lengths
        for line in lines:
            if struct := re.match(r'struct (\w+): (\d+) bytes$', line):
                self.structs[struct[1]] = []
            elif member := re.match(r'struct (\w+)\.(\w+): at (\d+): (.*)', line):
                self.structs[member[1]].append((member[2], member[4]))
            elif constant := re.match(r'(?:enum|#define) (\w+) = (-?\d+)$', line):
                self.constants[constant[1]] = int(constant[2])
            elif function := re.match(r'(function|typedef) (\w+): (.*?)\b\2\((.*)\)$', line):
                (self.functions if function[1] == 'function' else self.typedefs)[function[2]] = (function[3], function[4])
            elif export := re.match(r'export (\S+) (\w+)@', line):
                self.library[export[2]] = export[1]
            else:
                sys.exit(f'not understood: {line}')

    # ---- ctypes ------------------------------------------------------------------------------------------------------

    def call_type(self, result, arguments):
        """Results of callbacks that are texts cannot be c_char_p: the text would have no owner."""
        passed = 'c_void_p' if '*' in result else self.type_of(result)
        taken = [] if arguments == 'void' else [self.argument(one) for one in split(arguments)]
        return f'CFUNCTYPE({", ".join([passed, *taken])})'

    def argument(self, declaration):
        if pointer := re.match(r'(.*?)\(\*\w*\)\((.*)\)$', declaration):
            return self.call_type(pointer[1], pointer[2])
        declaration = re.sub(r'(\w+)\[\w*\]$', r'*\1', declaration)
        return self.type_of(re.match(r'(.*?[* ])\w*$', declaration)[1] if not declaration.endswith('*') else declaration)

    def type_of(self, declaration):
        """Of a declaration without the name."""
        text = re.sub(r'\bconst\b|\bstruct\b', '', declaration)
        base, stars = re.sub(r'[* ]', '', text), text.count('*')
        if base in self.typedefs and stars == 1:
            return self.call_type(*self.typedefs[base])
        if base in ('void', 'char', 'uint8_t') and stars:
            kind, stars = {'char': 'c_char_p' if 'const' in declaration else 'c_void_p'}.get(base, 'c_void_p'), stars - 1
        elif base in NUMBERS:
            kind = NUMBERS[base]
        elif base in self.structs:
            kind = base
        elif base == 'void':
            return 'None'
        elif stars and 'struct' in declaration:
            kind, stars = 'c_void_p', stars - 1  # it is only passed on
        else:
            sys.exit(f'not understood: {declaration}')
        return 'POINTER(' * stars + kind + ')' * stars

    def field(self, name, declaration):
        if union := re.match(r'union\{(.*)\}\w+$', declaration.replace(' {', '{')):
            members = [self.field(re.search(r'(\w+)$', one)[1], one) for one in union[1].split(';') if one]
            return f"('{name}', union({', '.join(members)}))"
        if pointer := re.match(r'(.*?)\(\*\w+\)\((.*)\)$', declaration):
            return f"('{name}', {self.call_type(pointer[1], pointer[2])})"
        array = re.match(r'(.*)\b\w+\[(\d+)\]$', declaration)
        if array:
            base = array[1].strip()
            return f"('{name}', {'c_char' if base == 'char' else self.type_of(base)} * {array[2]})"
        return f"('{python_name(name)}', {self.type_of(before(name, declaration))})"

    def annotation(self, name, declaration):
        """The type of a ctypes member, as Python sees it."""
        if name.startswith('__'):
            return ''
        kind = re.sub(r'\bconst\b', '', before(name, declaration)).strip()
        if '(' in declaration or '[' in declaration or '{' in declaration or '*' in kind.replace('char *', '', 1):
            python = 'Any'
        elif kind == 'char *':
            python = 'Optional[Bytes]'
        elif kind.startswith('struct '):
            python = kind.split()[1]
        else:
            python = {'bool': 'bool', 'double': 'float'}.get(kind, 'int')
        return f'    {python_name(name)}: {python}'

    def ordered(self):
        """A struct after those that it holds by value."""
        done = []

        def visit(name):
            for _, declaration in self.structs[name]:
                held = re.match(r'struct (\w+) \w+$', declaration)
                if held and held[1] not in done:
                    visit(held[1])
            if name not in done:
                done.append(name)

        for name in self.structs:
            visit(name)
        return done

    def write_abi(self):
        yield WRITTEN_BY + '"""The C interface of libperfile as ctypes sees it: structs and functions under their C names."""'
        yield 'from __future__ import annotations\n'
        yield 'from ctypes import (CFUNCTYPE, POINTER, Structure, Union, ' + ', '.join(
            ['c_char', 'c_char_p', 'c_void_p', *sorted(set(NUMBERS.values())), 'sizeof']) + ')'
        yield 'from typing import Any, Dict, List, Optional, Tuple\n'
        yield 'Bytes = bytes  # members are called so, too\n\n'
        yield 'def union(*members: Tuple[str, Any]) -> Any:\n    return type(\'union\', (Union,), {\'_fields_\': members})\n\n'
        yield STRUCT_BASE
        for name in self.ordered():
            sized = self.structs[name][0] == ('size', 'size_t size')
            yield f'\n\nclass {name}({"Sized" if sized else "Struct"}):'
            annotations = [self.annotation(*member) for member in self.structs[name]]
            yield '\n'.join(line for line in annotations if line)
        yield '\n'
        for name in self.ordered():
            fields = ',\n    '.join(self.field(*member) for member in self.structs[name])
            yield f'{name}._fields_ = [\n    {fields}]'
        yield '\n# name: library, result, arguments\nFUNCTIONS: Dict[str, Tuple[str, Any, List[Any]]] = {'
        for name, (result, arguments) in self.functions.items():
            if name in self.library:
                taken = [] if arguments == 'void' else [self.argument(one) for one in split(arguments)]
                yield f"    '{name}': ('{self.library[name]}', {self.type_of(result)}, [{', '.join(taken)}]),"
        yield '}'
        yield '\n# what the elements of lists are\nELEMENTS: Dict[Tuple[str, str], Any] = {'
        for (owner, member), element in self.elements.items():
            yield f"    ('{owner}', '{member}'): {element},"
        yield '}\n'

    # ---- constants ---------------------------------------------------------------------------------------------------

    def write_constants(self):
        yield WRITTEN_BY + '"""The constants of libperfile, under their C names."""\n'
        for name, value in self.constants.items():
            yield f'{name} = {value}'
        yield ''

    # ---- values ------------------------------------------------------------------------------------------------------

    def value_type(self, owner, name, declaration):
        if (owner, name) in self.elements:
            return f"Tuple[{class_name(self.elements[owner, name])}, ...]"
        kind = re.sub(r'\bconst\b', '', before(name, declaration)).strip()
        squeezed = re.sub(r' ', '', kind)
        if array := re.match(r'.*\[\d+\]$', declaration):
            return {'char': 'str', 'uint8_t': 'Bytes'}.get(kind, 'Tuple[int, ...]')
        if squeezed in ('uint8_t*', 'void*', 'uint64_t*') and not self.count_of(owner, name):
            sys.exit(f'nothing says how long struct {owner}.{name} is')
        if squeezed in ('uint8_t*', 'void*'):
            return 'Bytes'
        if squeezed in ('char*', 'char**'):
            return {'char*': 'Optional[str]', 'char**': 'Tuple[str, ...]'}[squeezed]
        if squeezed == 'uint64_t*':
            return 'Tuple[int, ...]'
        if kind == 'struct perfile_list':
            sys.exit(f'records.h does not say what the elements of {owner}.{name} are')
        if held := re.match(r'struct (\w+)$', kind):
            return SHAPES.get(held[1]) or class_name(held[1])
        if held := re.match(r'struct (\w+) \*+ *\**$', kind):
            one = kind.count('*') == 1 and not self.count_of(owner, name)
            return f'Optional[{class_name(held[1])}]' if one else f'Tuple[{class_name(held[1])}, ...]'
        if kind not in NUMBERS:
            sys.exit(f'no Python value: struct {owner}: {declaration}')
        return {'bool': 'bool', 'double': 'float'}.get(kind, 'int')

    def write_values(self):
        yield WRITTEN_BY + '"""What libperfile gives out, as named tuples: copies, which stay valid. Names are those of C."""'
        yield 'from __future__ import annotations\n'
        yield 'from typing import Any, Dict, NamedTuple, Optional, Tuple\n\nfrom . import abi\n'
        yield 'Bytes = bytes  # members are called so, too'
        yield SHAPE_VALUES
        valued = [name for name in self.ordered() if not NOT_VALUES.match(name) and name not in SHAPES
                  and not any('(*' in declaration for _, declaration in self.structs[name])]
        for name in valued:
            yield f'\n\nclass {class_name(name)}(NamedTuple):'
            for member, declaration in self.structs[name]:
                if (member, declaration) != ('size', 'size_t size') and not member.startswith('__'):
                    ignored = '  # type: ignore[assignment]' if member in ('index', 'count') else ''
                    yield f'    {python_name(member)}: {self.value_type(name, member, declaration)}{ignored}'
        yield '\n\n# of which struct they are copies\nCLASSES: Dict[Any, Any] = {'
        for name in valued:
            yield f'    abi.{name}: {class_name(name)},'
        yield '}\n\n# the members that say how many a pointer points at; None: as many as there are before a NULL'
        yield 'COUNTS: Dict[Tuple[str, str], Optional[str]] = {'
        for name in valued:
            for member, declaration in self.structs[name]:
                pointed = '*' in declaration and not re.match(r'const char \*\w+$', declaration)
                if pointed and (self.count_of(name, member) or 'char' in declaration):
                    yield f"    ('{name}', '{member}'): {self.count_of(name, member)!r},"
        yield '}\n'

    def count_of(self, owner, member):
        """The member that says how many a pointer points at; None: no member does."""
        members = [name for name, _ in self.structs[owner]]
        stem = re.sub('ies$', 'y', re.sub(r'_entries$|(?<!ie)s$', '', member))
        guesses = [self.lengths.get((owner, member)), f'{member}_count', f'{stem}_count']
        return next((guess for guess in guesses if guess in members), None)


STRUCT_BASE = '''class Struct(Structure):
    """A C struct."""

    def __repr__(self) -> str:
        named = (f'{field[0]}={getattr(self, field[0])!r}' for field in self._fields_ if field[0] != 'size')
        return f'{type(self).__name__}({", ".join(named)})'


class Sized(Struct):
    """A C struct that begins with its size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=sizeof(self), **members)'''

SHAPE_VALUES = '''

class Read(NamedTuple):
    """Counter values; the bits of `format` say which members are valid."""
    format: int
    time_enabled: int
    time_running: int
    values: Tuple[ReadValue, ...]


class Regs(NamedTuple):
    """Registers: bit n of `mask` stands for register n; `values` are in ascending order of the bits."""
    abi: int
    mask: int
    values: Tuple[int, ...]


class CpuSet(NamedTuple):
    """CPU numbers, and whether "any CPU" is meant, too."""
    any_cpu: bool
    cpus: Tuple[int, ...]


class BranchStack(NamedTuple):
    """Taken branches, newest first."""
    hw_idx: Optional[int]
    entries: Tuple[Branch, ...]
    counters: Tuple[int, ...]'''


def class_name(struct):
    return ''.join(part.capitalize() for part in struct.replace('perfile_', '', 1).split('_'))


def read_comments(records):
    """Of records.h, what only its comments say: the elements of lists, and the members that say how long bytes are."""
    elements, lengths, owner = {}, {}, None
    for line in records.splitlines():
        if struct := re.match(r'struct (\w+) \{$', line):
            owner = struct[1]
        elif listed := re.match(r'\s+struct perfile_list (\w+);\s+/\* struct (\w+):', line):
            elements[owner, listed[1]] = listed[2]
        elif counted := re.match(r'\s+const uint8_t \*(\w+);\s+/\* .*; (\w+) bytes \*/', line):
            lengths[owner, counted[1]] = counted[2]
    return elements, lengths


def generate(folder):
    """Writes the three modules."""
    abi = Abi(DUMP.read_text().splitlines(), *read_comments(RECORDS.read_text()))
    for name, lines in (('abi', abi.write_abi()), ('constants', abi.write_constants()), ('values', abi.write_values())):
        (folder / f'{name}.py').write_text('\n'.join(lines))


def main():
    folder, *files = sys.argv[1:]
    generate(pathlib.Path(folder))
    for path in files:
        shutil.copy(path, folder)


if __name__ == '__main__':
    main()
