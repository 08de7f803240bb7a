#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py PERFILE [--only TEXT]: compares perfile with the corpus of the tree, and with the one that $PERFILE_CORPUS names.

A recording lies at GROUP/NAME and what is right about it in expect/GROUP/NAME/, each file perhaps with .zst after its
name: dump.jsonl, the objects of `dump --format json`, which may have more members than these; script.txt, the lines of
`script --ns --no-inline -F` with the fields that script.fields names. Of recordings in broken/ only the complete samples
are compared. Long texts have only their first lines there; dump.rest and script.rest then hold the number of the other
lines and their digests (see canonical.py), dump.names the members that count. exceptions.txt beside this program names
what differs for a good reason.
"""
import argparse, concurrent.futures, json, os, pathlib, subprocess, sys

sys.path += [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import canonical
import hermetic

NOTHING = object() # there is nothing to compare with
TIMEOUT_SECONDS = 300


def read_expected(folder, name):
    path, packed = folder / name, folder / f'{name}.zst'
    if path.exists():
        return path.read_bytes()
    return subprocess.run(['zstd', '-dcq', packed], capture_output=True, check=True).stdout if packed.exists() else None


def difference(expected, got, where=''):
    """The first position where `got` does not have or contradicts what is expected; None when there is none."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for name, value in expected.items():
            if canonical.is_remark(name):
                continue
            found = difference(value, got[name], f'{where}.{name}') if name in got else f'{where}.{name} is missing'
            if found:
                return found
        return None
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        pairs = enumerate(zip(expected, got))
        return next(filter(None, (difference(a, b, f'{where}[{i}]') for i, (a, b) in pairs)), None)
    return None if canonical.plain(expected) == canonical.plain(got) else f'{where}: {got!r:.70}, expected {expected!r:.70}'


def compare_rest(digested, head, rest, what):
    """What follows the first lines: the first digest that differs."""
    count, *expected = (rest or '0').split()
    if len(digested) != head + int(count):
        return f'{len(digested)} {what}s, expected {head + int(count)}'
    step = canonical.LINES_PER_DIGEST
    for first, (a, b) in enumerate(zip(expected, canonical.digests(digested[head:]))):
        if a != b:
            start = head + first * step
            return (f'one of the {what}s {start + 1} to {min(start + step, len(digested))} differs; the first of them: '
                    f'{digested[start].decode(errors="replace"):.120}')
    return None


def read_rest(folder, name):
    return (folder / name).read_text() if (folder / name).exists() else None


def run(perfile, *arguments):
    done = subprocess.run([*perfile, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_SECONDS)
    if done.returncode not in (0, 1):
        raise RuntimeError(f'exit status {done.returncode}: {done.stderr[-200:].decode(errors="replace").strip()}')
    return done.stdout


def objects(text):
    found = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [one for one in found if 'type' in one or one.get('kind') == 'header']


def compare_complete_samples(expected, got):
    """Of damaged recordings: what could be read there must be read here."""
    here = {(one.get('offset'), bool(one.get('compressed'))): one for one in got if one.get('type') == 'SAMPLE'}
    for one in expected:
        if one.get('type') == 'SAMPLE' and 'error' not in one and not any(name.startswith('__') for name in one):
            found = difference(one, here.get((one.get('offset'), bool(one.get('compressed'))), {}), 'sample')
            if found:
                return f'at {one.get("offset")}: {found}'
    return None


def compare_dump(perfile, recording, folder, broken):
    text = read_expected(folder, 'dump.jsonl')
    if text is None:
        return NOTHING
    expected, got = objects(text), objects(run(perfile, 'dump', '--format', 'json', recording))
    if broken:
        return compare_complete_samples(expected, got)
    for number, (a, b) in enumerate(zip(expected, got), 1):
        found = difference(a, b)
        if found:
            return f'object {number}: {found}'
    names = frozenset((read_rest(folder, 'dump.names') or '').split())
    lines = [canonical.object_line(one, names) for one in got]
    return compare_rest(lines, len(expected), read_rest(folder, 'dump.rest'), 'object')


def compare_script(perfile, recording, folder, broken):
    if not (folder / 'script.fields').exists():
        return NOTHING
    fields, *marks = (folder / 'script.fields').read_text().split()
    native = 'native' in marks # as the recording machine's own perf printed it
    name = 'script.native' if native else 'script'
    text = read_expected(folder, f'{name}.txt')
    if text is None or 'unwind' in marks:
        return NOTHING
    ns = ['--ns'] if not native or 'ns' in marks else []
    got = run(perfile, 'script', *ns, '--no-inline', '-F', fields, recording).splitlines()
    expected = text.splitlines()
    for number, (a, b) in enumerate(zip(expected, got), 1):
        a, b = a.rstrip(), b.rstrip()
        if a != b and not a.startswith(b + b' '): # of streams perf prints symbols after it that no one asked for
            return f'line {number}: {b.decode(errors="replace")!r:.90}, expected {a.decode(errors="replace")!r:.90}'
    return compare_rest(list(map(canonical.script_line, got)), len(expected), read_rest(folder, f'{name}.rest'), 'line')


def read_exceptions():
    """{(check, recording): reason}"""
    lines = (pathlib.Path(__file__).parent / 'exceptions.txt').read_text().splitlines()
    fields = [line.split(None, 2) for line in lines if line and not line.startswith('#')]
    return {(check, name): reason for check, name, reason in fields}


def expected_in(corpus):
    return sorted({str(path.parent.relative_to(corpus / 'expect')) for path in corpus.glob('expect/**/dump.jsonl*')})


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perfile')
    parser.add_argument('--only', default='', help='recordings whose name contains this')
    options = parser.parse_args()
    perfile = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), options.perfile]
    exceptions, wrong, count = read_exceptions(), [], 0
    recordings = [(corpus, name) for corpus in hermetic.corpora() for name in expected_in(corpus) if options.only in name]

    def check(task):
        compare, corpus, name = task
        try:
            return compare(perfile, corpus / name, corpus / 'expect' / name, name.startswith('broken/'))
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
            return str(failure).strip()

    for compare in (compare_dump, compare_script):
        what = compare.__name__.removeprefix('compare_')
        tasks = [(compare, *recording) for recording in recordings]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (_, _, name), found in zip(tasks, pool.map(check, tasks)):
                if found is NOTHING:
                    continue
                count += 1
                if bool(found) != ((what, name) in exceptions):
                    wrong.append(f'{what} {name}: {found or "agrees: take it out of exceptions.txt"}')
    for line in wrong:
        print(line)
    print(f'{count - len(wrong)} of {count} comparisons of {len(recordings)} recordings agree')
    sys.exit(bool(wrong) or not count)


main()
