#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""registry.py SOURCE: what a sample has is described once, in src/analysis/fields.def.

The lists beside it, of script -F and of report --sort, have no sentence that stands there, and none that stands in the other.
"""
import pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

LISTS = ('src/analysis/fields.def', 'src/output/script/fields.def', 'src/analysis/report/columns.def')
SENTENCE = re.compile(r'((?:"[^"]*"\s*)+)\)\s*$', re.MULTILINE)


def sentences(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
    for found in SENTENCE.findall(text):
        reply = ''.join(re.findall(r'"([^"]*)"', found))
        if ' ' in reply:
            yield reply.strip('. ').lower()


def main():
    hermetic.settle()
    root, known, wrong = pathlib.Path(sys.argv[1]), {}, []
    for name in LISTS:
        found = list(sentences((root / name).read_text()))
        if len(found) < 10:
            wrong.append(f'{name}: only {len(found)} sentences were found')
        wrong += [f'{name}: "{reply}" stands in {known[reply]}, too' for reply in found if reply in known]
        known.update({reply: name for reply in found})
    print(*wrong, f'{len(known)} sentences', sep='\n')
    return 1 if wrong else 0


sys.exit(main())
