#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page_levels.py PERFILE: what columns show of samples are the outermost functions of a page's stacks.

For several lists of levels the weights below these functions are those that folded stacks have for the same list.
"""
import base64
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
# A recording, the columns, further levels, and the words of the page for these.
LISTS = [('mem-made', 'mem', '', 'none'), ('mem-made', 'mem,dso', '', 'none'), ('mem-made', 'mem', 'cpu,comm', 'cpu,comm'),
         ('sched-tiny1', 'prev_comm', 'tid', 'tid'), ('sched-tiny1', 'prev_comm,cgroup', '', 'none')]


def numbers(packed):
    """The numbers of a column, which are in LEB128."""
    value = shift = 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def parts_of(page):
    """What the page holds: its data, and the parts by name."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    packed, at, parts = gzip.decompress(base64.b64decode(data['packed'])), 0, {}
    for name, count, _ in data['parts']:
        parts[name] = packed[at:at + count]
        at += count
    return data, parts


def outermost(parts, event, depth):
    """The weight of an event's samples by the names of their outermost functions."""
    strings = json.loads(parts['strings'])
    names = [strings[number] for number in numbers(parts['functions.name'])]
    paths = [()]
    for up, function in zip(numbers(parts['stacks.parent']), numbers(parts['stacks.fn'])):
        paths.append(paths[len(paths) - up] + (names[function],))
    weights, stack = collections.Counter(), 0
    for moved, weight, of in zip(*(numbers(parts[f'samples.{column}']) for column in ('stack', 'weight', 'event'))):
        stack += moved >> 1 ^ -(moved & 1)
        if of == event:
            weights[tuple(name.replace(' ', '_') for name in paths[stack][:depth])] += weight
    return weights


def folded(text, depth):
    weights = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(' ', 1)
        weights[tuple(stack.split(';')[:depth])] += int(weight)
    return weights


def main():
    hermetic.settle()
    perfile = sys.argv[1]
    for recording, columns, levels, shown in LISTS:
        def flame(form, by):
            return subprocess.run([perfile, 'flame', '-q', '--format', form, '--by', by, '-o', '-', DATA / f'{recording}.perf.data'],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
        depth = columns.count(',') + 1
        data, parts = parts_of(flame('html', ','.join(filter(None, [levels, columns]))))
        got, expected = outermost(parts, data['event'], depth), folded(flame('folded', columns), depth)
        if (data['by'], got) != (shown, expected):
            sys.exit(f'{recording}, {columns} {levels}: {data["by"]} {got} for {shown} {expected}')


main()
