#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ids.py PERFILE RECORDING...: stacks and functions have ids that join tables, and that do not depend on the recording.

Each sample's stack_id is one of `stacks --by stack`, whose functions are those of `frames --by function`, where each id
stands once. Other threads, the other byte order, a compressed or a merged recording change no id."""
import collections, json, pathlib, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

wrong = []


def expect(path, text, fact):
    if not fact:
        wrong.append(text)
        print(f'{pathlib.Path(path).name}: {text}')


class Recording:
    def __init__(self, perfile, path, *options):
        self.perfile, self.path, self.options = perfile, path, options

    def rows(self, *view):
        done = served.run([self.perfile, 'table', *view, *self.options, '--format', 'jsonl', self.path])
        assert done.returncode in (0, 1), done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def stacks(self):
        """id to functions and number of samples"""
        return {row['stack_id']: (tuple(row['stack']), tuple(row['function_ids']), row['samples']) for row in self.rows('stacks', '--by', 'stack')}

    def functions(self):
        return {row['function_id']: (row['symbol'] or row['label'], row['dso']) for row in self.rows('frames', '--by', 'function')}


def check_joins(recording):
    path = recording.path
    rows = recording.rows('stacks', '--by', 'stack')
    stacks, functions = recording.stacks(), recording.functions()
    expect(path, 'an id of a stack stands twice', len(rows) == len(stacks))
    samples = collections.Counter(row['stack_id'] for row in recording.rows('samples', '--columns', 'stack_id'))
    expect(path, 'samples have other stacks', samples == {id: row[2] for id, row in stacks.items()})
    samples = collections.Counter(row['stack_id'] for row in recording.rows('samples', '--columns', '+stack_id,+srcline'))
    expect(path, 'source lines change ids', samples == {id: row[2] for id, row in stacks.items()})
    events = recording.rows('stacks', '--columns', '+stack_id,+function_ids')
    expect(path, 'stacks of events have other ids', all(
        (tuple(row['stack']), tuple(row['function_ids'])) == stacks[row['stack_id']][:2] for row in events))
    expect(path, 'stacks have functions that are unknown', all(
        functions[id][0] == name for stack, ids, _ in stacks.values() for name, id in zip(stack, ids)))
    expect(path, 'functions have ids that stand twice', len(functions) == len(recording.rows('frames', '--by', 'function')))
    places = recording.rows('frames', '--columns', 'all')
    expect(path, 'places have functions that are unknown', all(functions[row['function_id']][0] == (row['symbol'] or row['label']) for row in places))
    return stacks, functions


def check_copies(perfile, path, known):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for verb, *options in (['convert', '--byte-order', 'big'], ['convert', '--compress', 'zstd'], ['merge', path]):
            out = folder / 'copy'
            done = served.run([perfile, verb, *options, path, '-o', out])
            assert done.returncode in (0, 1), done.stderr.decode()
            copy = Recording(perfile, out)
            expect(path, f'{verb} {" ".join(options)}: other functions', copy.functions() == known[1])
            expect(path, f'{verb} {" ".join(options)}: other stacks', {id: row[:2] for id, row in copy.stacks().items()}
                   == {id: row[:2] for id, row in known[0].items()})
            out.unlink()


def main():
    perfile, recordings = hermetic.runnable(sys.argv[1]), sys.argv[2:]
    for path in recordings:
        known = check_joins(Recording(perfile, path))
        other = Recording(perfile, path, '--jobs', '3')
        expect(path, 'three threads give other ids', (other.stacks(), other.functions()) == known)
        check_copies(perfile, path, known)
    print(f'{len(recordings)} recordings, {len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
