#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi.py [--update] INCLUDE LIBRARY.so... -- CC...: the ABI is that of abi.txt.

abi.txt has what programs that were built before depend on: every member of every public struct with its offset and its
declaration, the values of the enums, the constants, the types of the functions, and what the libraries export under which
version. Differences are distinguished: what breaks such programs, and what only adds something. --update writes abi.txt
anew, and the symbols of the packages; before a release that is right for both, after it for additions only."""
import pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
PACKAGES = pathlib.Path(__file__).resolve().parents[1] / 'checkout/packages.py'
DUMP = pathlib.Path(__file__).resolve().parent / 'abi.txt'
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
FUNCTION = re.compile(r'^PERFILE_API (?:PERFILE_MUST_CHECK )?([^;{(]*?)\b(perfile_\w+)(\(.*?\));', re.M | re.S)
TYPEDEF = re.compile(r'^typedef ([^;{(]*?)\b(perfile_\w+)(\(.*?\));', re.M | re.S)
STRUCT = re.compile(r'^struct (\w+) \{\n(.*?)^\};', re.M | re.S)
ENUM = re.compile(r'^enum (?:\w+ )?\{(.*?)\};', re.M | re.S)
CONSTANT = re.compile(r'^#define (PERFILE_\w+) ([^\n(\\]+)$', re.M)
NESTED = re.compile(r'union \{[^}]*\} (\w+)')
# what says how a thing is called, and not what it is
WITHOUT_ABI = re.compile(r'PERFILE_(VERSION\w*|API|MUST_CHECK|\w+_H|\w+_INIT)$')


def squeeze(text):
    return re.sub(r'\s*([(){};])\s*', r'\1', re.sub(r'\s+', ' ', text)).strip()


def split(text, separator):
    """At the separators outside parentheses and braces."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in '({') - (letter in ')}')
        if letter == separator and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in (*parts, text[start:]) if part.strip()]


def members_of(body):
    """Pairs of name and declaration."""
    for declaration in split(body, ';'):
        declaration = squeeze(declaration)
        pointer = re.search(r'\(\*(\w+)\)\(', declaration)
        nested = NESTED.search(declaration)
        if pointer or nested:
            yield (pointer or nested).group(1), declaration
            continue
        first, *others = split(declaration, ',')
        kind = re.match(r'.*?(?=\w+(?:\[[^\]]*\])?$)', first).group(0)
        for one in (first, *(f"{kind.rstrip(' *')} {other.lstrip()}" for other in others)):  # stars are of each name
            yield re.search(r'(\w+)(?:\[[^\]]*\])?$', one).group(1), one


def names_of_enum(body):
    return [part.split('=')[0].strip() for part in split(body, ',')]


def read_headers(include):
    return {path.name: COMMENT.sub('', path.read_text()) for path in sorted((include / 'perfile').glob('*.h'))}


def probe(headers):
    """A program that prints what only a compiler knows: a line for each thing, as in abi.txt."""
    lines = [f'#include <perfile/{name}>' for name in headers if name != 'records.h']
    lines += ['#include <stdio.h>', '#include <stddef.h>', '#define NUMBER(x) (unsigned long long)(x)', 'int main(void)', '{']
    for text in headers.values():
        for name, body in STRUCT.findall(text):
            lines.append(f'printf("struct {name}: %zu bytes\\n", sizeof(struct {name}));')
            for member, declaration in members_of(body):
                lines.append(f'printf("struct {name}.{member}: at %zu: {declaration}\\n", '
                             f'offsetof(struct {name}, {member}));')
        for body in ENUM.findall(text):
            lines += [f'printf("enum {name} = %lld\\n", (long long){name});' for name in names_of_enum(body)]
        for name, value in CONSTANT.findall(text):
            if not WITHOUT_ABI.match(name) and value.strip() and not value.lstrip().startswith(('PERFILE_SIZED', '"')):
                lines.append(f'printf("#define {name} = %llu\\n", NUMBER({name}));')
    return '\n'.join([*lines, 'return 0;', '}', ''])


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}:\n{done.stdout}{done.stderr}')
    return done.stdout


def exports(library):
    listing = run(['nm', '-D', '--defined-only', '--with-symbol-versions', library])
    names = sorted(line.split()[-1] for line in listing.splitlines() if line.split()[-2] != 'A')
    return [f'export {pathlib.Path(library).name.split(".")[0]} {name.replace("@@", "@")}' for name in names]


def dump(include, libraries, compiler):
    headers = read_headers(include)
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, 'probe.c'), pathlib.Path(folder, 'probe')
        source.write_text(probe(headers))
        run([*compiler, f'-I{include}', '-w', '-O0', source, '-o', program])
        lines = run([program]).splitlines()
    for text in headers.values():
        lines += [f'function {name}: {squeeze(before + name + after)}' for before, name, after in FUNCTION.findall(text)]
        lines += [f'typedef {name}: {squeeze(before + name + after)}' for before, name, after in TYPEDEF.findall(text)]
    return lines + [line for library in libraries for line in exports(library)]


def key_of(line):
    return re.split(r': | = ', line)[0]


def is_addition(key, line, before):
    """Of a line that was not there: something new, or a member after all that were there."""
    if not key.startswith('struct ') or '.' not in key:
        return True
    owner = key.split('.')[0]
    if owner not in before:
        return True  # a new struct
    return int(re.search(r': at (\d+):', line).group(1)) >= int(before[owner].split()[-2])


def compare(old, new):
    """Lists of breaks and of additions."""
    before, after = ({key_of(line): line for line in lines} for lines in (old, new))
    breaks, additions = [], []
    for key, line in before.items():
        if key not in after:
            breaks.append(f'- {line}')
        elif after[key] != line:
            grown = re.fullmatch(r'struct \w+: (\d+) bytes', line)
            grown = grown and int(after[key].split()[-2]) > int(grown.group(1))
            (additions if grown else breaks).append(f'- {line}\n+ {after[key]}')
    for key, line in after.items():
        if key not in before:
            (additions if is_addition(key, line, before) else breaks).append(f'+ {line}')
    return breaks, additions


def keep_all(lines):
    """What is planted into the dump must be found: pairs of a change and whether it is a break."""
    member = next(line for line in lines if re.match(r'struct perfile_filter\.cpus: at ', line))
    function = next(line for line in lines if line.startswith('function perfile_open_path:'))
    export = next(line for line in lines if line.startswith('export '))
    size = next(line for line in lines if line.startswith('struct perfile_filter:'))
    at_end = f'struct perfile_filter.more: at {size.split()[-2]}: uint64_t more'
    planted = [([re.sub(r'at (\d+)', lambda at: f'at {int(at.group(1)) + 8}', member)], member, True),
               ([function.replace('const char *path', 'char *path')], function, True),
               ([], export, True),
               ([member, 'struct perfile_filter.more: at 4: int more'], member, True),
               ([member, at_end], member, False),
               ([export, 'function perfile_new: void perfile_new(void)'], export, False)]
    for put, instead, breaks in planted:
        changed = [line for old in lines for line in (put if old == instead else [old])]
        found, additions = compare(lines, changed)
        if bool(found) != breaks or bool(additions) == breaks:
            sys.exit(f'{put} instead of {instead}: breaks {found}, additions {additions}')


def main():
    hermetic.settle()
    arguments, update = sys.argv[1:], '--update' in sys.argv[1:2]
    arguments = arguments[update:]
    end = arguments.index('--')
    include, libraries, compiler = pathlib.Path(arguments[0]), arguments[1:end], arguments[end + 1:]
    if sys.maxsize.bit_length() != 63:
        print('abi.txt is that of machines with 64 bits')
        sys.exit(SKIP)
    new = dump(include, libraries, compiler)
    if update:
        DUMP.write_text('\n'.join(new) + '\n')
        run([sys.executable, PACKAGES, '--update', PACKAGES.parent.parent.parent])
        return
    keep_all(new)
    breaks, additions = compare(DUMP.read_text().splitlines(), new)
    for title, lines in (('This breaks programs that were built before:', breaks), ('This is new:', additions)):
        if lines:
            print(title, *lines, sep='\n')
    if breaks or additions:
        print('\nWhere that is meant: ninja -C build abi-update, and a line in NEWS.md.')
    print(f'{len(new)} lines, {len(breaks)} breaks, {len(additions)} additions')
    sys.exit(bool(breaks or additions))


if __name__ == '__main__':
    main()
