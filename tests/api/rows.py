#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rows.py GEN_RECORDS GEN_FORMAT TREE: a record type is one row of records.def, and one golden.

records.h and doc/format.md are what the rows make of them; every row has a golden that shows it whole, every part of a
sample stands in one; and beside the schema no source lists the record types again."""
import pathlib, re, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

def main():
    hermetic.settle()
    generators, tree = sys.argv[1:3], pathlib.Path(sys.argv[3])
    wrong = []
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
        # what tells nothing about anybody must be said type by type; a type that is not in there is left out and counted
        if path.name == 'anonymize_records.c':
            continue
        if len(named) > len(rows) // 2: # some sources do something of their own with a few types
            wrong.append(f'{path.relative_to(tree)} names {len(named)} record types: is it a second list?')
    print('\n'.join(wrong) or f'{len(rows)} record types and {len(parts)} parts of samples, one row each')
    sys.exit(bool(wrong))


main()
