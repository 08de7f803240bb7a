#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_options.py PERFILE: how many options of perf 7.2 are accepted, and what the others are answered with.

perf-options.txt has their names. Each must be accepted with all of its spellings, or refused with an option or a verb to use instead,
which must exist, or with the reason why there is none. The number of accepted ones is printed, and may not decrease.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

LEAST = 469
UNKNOWN = re.compile(r'unknown option|ambiguous option|takes no value|needs a value')
INSTEAD = re.compile(r'unknown option \S+(; instead|): (.+) \(\w+ help [\w-]+ lists the options\)$', re.MULTILINE)
OTHERS = re.compile(r'(?:\b([a-z][a-z0-9-]*) )?(--[a-z][\w-]*|-[A-Za-z]\b)')

failures = []


def answer(perfile, verb, spelling, value):
    """What is printed about the option, or '' when it is accepted."""
    is_long, has_value = spelling.startswith('--'), value == 'needed'
    words = [f'{spelling}=1' if is_long and has_value else spelling] + ['1'] * (has_value and not is_long)
    text = served.run([*perfile, verb, *words, '--help'], text=True).stderr
    return text if UNKNOWN.search(text) else ''


def points_well(text, verb, verbs):
    """Whether the options and verbs that are recommended exist."""
    found = INSTEAD.search(text)
    if not found or not found[1]:
        return bool(found)
    known = {name: {key for option in about['options'] for key in (option['name'], option.get('short'))} for name, about in verbs.items()}
    for word in re.findall(r'\bthe verb ([a-z0-9-]+)', found[2]):
        if word not in verbs:
            return False
    last = verb
    for word, option in OTHERS.findall(found[2]):
        last = word if word in verbs else last
        if option not in known[last] and option not in known[verb] and not (word and word not in verbs and word not in {'or', 'with', 'and'}):
            return False
    return bool(OTHERS.search(found[2]) or set(re.findall(r'[a-z0-9-]+', found[2])) & set(verbs) or re.search('[A-Z]{4}', found[2]) or 'view' in found[2])


def main():
    hermetic.settle()
    perfile = [str(pathlib.Path(sys.argv[1]).resolve())]
    verbs = {verb['name']: verb for verb in json.loads(subprocess.run([*perfile, 'help', '--json'], capture_output=True, check=True).stdout)['verbs']}
    rows = [line.split() for line in pathlib.Path(__file__).with_name('perf-options.txt').read_text().splitlines() if line[0] != '#']
    accepted, counts = 0, {}
    for verb, name, letter, value in rows:
        spellings = [f'--{name}'] * (name != '-') + [f'-{letter}'] * (letter != '-')
        texts = [answer(perfile, verb, spelling, value) for spelling in spellings]
        counts.setdefault(verb, [0, 0, []])
        counts[verb][1] += 1
        if not any(texts):
            counts[verb][0] += 1
            continue
        counts[verb][2].append(name)
        for spelling, text in zip(spellings, texts):
            if text and not points_well(text, verb, verbs):
                failures.append((verb, spelling, text.strip()))
    for verb, (got, of, missing) in counts.items():
        print(f'{verb} {got} of {of}' + (', not ' * bool(missing)) + ' '.join(missing))
    accepted = sum(got for got, _, _ in counts.values())
    print(f'{accepted} of {len(rows)} options of perf 7.2 are accepted')
    for failure in failures:
        print('---', *failure)
    if accepted < LEAST:
        print(f'--- fewer than {LEAST}')
    sys.exit(bool(failures) or accepted < LEAST)


main()
