#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rows.py GEN_RECORDS GEN_FORMAT TREE CC...: a record type is one row of records.def, and one golden.

records.h and doc/format.md are what the rows make of them, by programs that compile when both are missing; every row has a
golden that shows it all, every part of a sample stands in one; and beside the schema no source lists the record types
again, nor the values of the format."""
import pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

FIRST = '(?:PF_)?(?:TYPE|PMU|READ|FORMAT|MISC|MODE|CPUMODE|CONTEXT|BRANCH|AUX|KSYMBOL|COUNT|CONFIG)_'
VALUE = r'\(?(?:\(uint64_t\))?\s*(-?\d+|0x[0-9a-f]+|1u?l*\s*<<\s*\d+)'
BARE = re.compile(r'attr(?:\.|->)type [!=]= \d|(?:read_format|branch_sample_type|misc) & \(?(?:\d|1u?l* <<)|'
                  r'CPUMODE_MASK\)? [<>!=]=? \d|\(uint64_t\)-(?:32|128|512|640|2048|2176|2560|4095)\b')


def number(text):
    text = re.sub(r'(?<=\d)u?l*\b', '', text)
    return int(text.split('<<')[0], 0) << int(text.split('<<')[1]) if '<<' in text else int(text, 0) % 2**64


def own_values(tree):
    """Values of the format that a source has under a name of its own, or without one."""
    known = {}
    for value, name in re.findall(r'ENUM\(\w+, ([^,]+), (\w+),', (tree / 'src/schema/enums.def').read_text()):
        words = name.split('_')
        for first in range(1, len(words)):
            known.setdefault('_'.join(words[first:]), set()).add(number(value))
    for path in sorted(path for folder in ('src', 'cli', 'examples') for path in (tree / folder).rglob('*.[ch]')):
        if path.parent.name == 'schema':
            continue
        text = path.read_text()
        for name, rest, value in re.findall(rf'\b({FIRST}(\w+))(?: =)? {VALUE}', text):
            if number(value) in known.get(rest, ()):
                yield f'{path.relative_to(tree)} has {name}, {value}, of its own: it stands in src/schema/enums.def'
        for found in BARE.finditer(text):
            yield f'{path.relative_to(tree)}: "{found[0]}" is a number that has a name in src/schema/enums.def'


def stand_alone(tree, compiler):
    """The generators need nothing that they write: ./dev format works when that is stale or gone."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'schema').symlink_to(tree / 'src/schema')
        for name in ('gen_records.c', 'gen_format.c'):
            done = subprocess.run([*compiler, '-fsyntax-only', f'-I{folder}', f'{folder}/schema/{name}'], capture_output=True, text=True)
            if done.returncode:
                yield f'{name} does not compile without the public headers: {done.stderr.splitlines()[0]}'


def main():
    hermetic.settle()
    generators, tree, compiler = sys.argv[1:3], pathlib.Path(sys.argv[3]), sys.argv[4:]
    wrong = [*own_values(tree), *stand_alone(tree, compiler)]
    for generator, path in zip(generators, ('include/perfile/records.h', 'doc/format.md')):
        made = subprocess.run([generator], capture_output=True, text=True, check=True).stdout
        if made != (tree / path).read_text():
            wrong.append(f'{path} is not what {pathlib.Path(generator).name} writes; ./dev format makes it anew')
    schema = tree / 'src/schema'
    rows = re.findall(r'^(?:RECORD|BARE)\((\d+), (\w+),', (schema / 'records.def').read_text(), re.M)
    parts = re.findall(r'^(?:WORD|PAIR|PART|TAIL)\(\d+, (\w+),', (schema / 'sample.def').read_text(), re.M)
    goldens = '\n'.join(path.read_text() for path in sorted((tree / 'tests/golden').glob('*.golden')))
    shown = set(re.findall(r'^> \{"type": "(\w+)"(?!.*"error":)', goldens, re.M))
    # what compression flavours take out is asked for by name
    shown |= {name for name in ('COMPRESSED', 'COMPRESSED2') if f'record {name} ' in goldens}
    asked = set(re.findall(r'[=|]([A-Z_]+)\b', '\n'.join(re.findall(r'sample_type=\S+', goldens))))
    wrong += [f'record {name} has no golden' for _, name in rows if name not in shown]
    wrong += [f'sample part {name} has no golden' for name in parts if name not in asked]
    for path in sorted((tree / 'src').rglob('*.[ch]')):
        named = {name for _, name in rows if re.search(rf'PERFILE_RECORD_{name}\b', path.read_text())}
        # what says nothing about anybody must be stated type by type; a type that is not in there is left out and counted
        if path.name == 'anonymize_records.c':
            continue
        if len(named) > len(rows) // 2: # some sources do something of their own with a few types
            wrong.append(f'{path.relative_to(tree)} names {len(named)} record types: is it a second list?')
    print('\n'.join(wrong) or f'{len(rows)} record types and {len(parts)} parts of samples, one row each')
    sys.exit(bool(wrong))


main()
