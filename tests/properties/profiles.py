#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a profile of <perfile/profile.h> holds is what the command prints, and profiles of parts make that of the all.

    profiles.py PERFILE PROFILES FILE...      recordings
    profiles.py PERFILE PROFILES --corpus     those of the corpus

PROFILES prints profiles, see profiles.c. For each recording: its stacks are those of `perfile flame --format folded`, byte
for byte; the sums of its functions are the rows of `perfile report`; the number of threads makes no difference; the
profiles of its parts by `perfile cut --split` are that of all when they are merged; and the rules of merging hold.
"""
import collections, json, os, pathlib, re, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

COLUMNS = 'overhead_children,sample,period,dso,symbol'
TIME_PARTS = 4
SAMPLE_READ = 1 << 4
PARTS_MAX = 60
RECORDINGS = 40  # of the corpus, unless all are asked for
# recordings whose parts say more than they do, or say it in another order
NO_PARTS = {
    'mixed_cg.perf.data',    # callers unwound and by frame pointers at one call: the first of them is the address of both
    'p6-pipe-tail.data',     # a stream whose events follow its samples, while parts have them first
    'p6-buildid-all.data',   # a stream with its build ids among its samples, which parts have in their headers
}
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def run(*args):
    """What is printed; None when that failed."""
    done = served.run([*WRAPPER, *args])
    if done.returncode < 0 or done.returncode == 1 and 'profiles' in args[0]:
        raise AssertionError(f'{" ".join(map(str, args))}: {done.returncode}')
    return done.stdout if done.returncode == 0 else None


def number(symbol):
    """Addresses have digits of several kinds."""
    return b'%x' % int(symbol, 16) if len(symbol) in (16, 18) and symbol.strip(b'0123456789abcdefx') == b'' else symbol


def rows(text, escape, has_children):
    """The rows with what equal names have together."""
    sums = collections.Counter()
    shares = collections.defaultdict(list)
    for line in text.splitlines():
        event, children, samples, period, dso, symbol = escape(line)
        key = (event, dso, number(symbol))
        sums[key, 'samples'] += int(samples)
        sums[key, 'period'] += int(period)
        if has_children or int(samples):
            shares[key].append(children)
    return +sums, {key: sorted(shares[key]) for key in shares} if has_children else set(shares)


def reported(perfile, path):
    text = run(perfile, 'report', '--no-branch-stack', '--format', 'csv', '-t', '\t', '-g', 'none', '--no-inline', '-F', COLUMNS, path)
    if not text:
        return None
    head, _, text = text.partition(b'\n')
    has_children = b'overhead_children' in head
    def split(line):
        parts = line.split(b'\t')
        if not has_children:
            parts.insert(1, b'0')
        event, children, samples, period, dso, symbol, _, address = parts
        return event, b'%.2f' % float(children), samples, period, dso, symbol or b'%016x' % int(address)
    return has_children, rows(text, split, has_children)




def check_report(perfile, profiles, path):
    wanted = reported(perfile, path)
    if wanted is None:
        return 0
    found = rows(run(profiles, 'report', path), lambda line: line.split(b'\t'), wanted[0])
    if found != wanted[1]:
        more = [str(pair) for pair in found[0].items() if wanted[1][0][pair[0]] != pair[1]][:3]
        raise AssertionError(f'{path}: functions are not as reported: {more}')
    return 1


def check_folded(perfile, profiles, path):
    wanted = run(perfile, 'flame', '--format', 'folded', path)
    if wanted is None:
        return 0
    if run(profiles, 'folded', path) != wanted:
        raise AssertionError(f'{path}: stacks are not as in a flame graph')
    return 1


def check_threads(perfile, profiles, path):
    if run(profiles, 'dump', '-j1', path) != run(profiles, 'dump', '-j3', path):
        raise AssertionError(f'{path}: three threads make another profile')
    return 1


def reads_groups(perfile, path):
    """Counters of groups are read as sums: a part cannot know what its first sample added."""
    types = re.findall(rb'"sample_type":(\d+)', run(perfile, 'dump', '--format', 'json', path) or b'')
    return any(int(parts) & SAMPLE_READ for parts in types)


def ways(perfile, path):
    """Of splitting: a few parts of equal time, however long the recording is."""
    facts = json.loads(run(perfile, 'info', '--format', 'json', path) or b'{}')
    return ('cpu', 'event', f'time={(facts.get("duration_ns") or 0) // TIME_PARTS + 1}ns')


def check_parts(perfile, profiles, path):
    if pathlib.Path(path).name in NO_PARTS or reads_groups(perfile, path):
        return 0
    entire, checked = run(profiles, 'content', path, path), 0
    for way in ways(perfile, path) if entire else ():
        with tempfile.TemporaryDirectory() as folder:
            if run(perfile, 'cut', '-q', '--no-sync', '--limit-parts', str(PARTS_MAX), '--split', way, path, '-o',
                   f'{folder}/%.data') is None:
                continue
            parts = sorted(str(part) for part in pathlib.Path(folder).iterdir())
            if len(parts) < 2:
                continue
            merged = run(profiles, 'content', path, *parts)
            if merged != entire:
                more = set(merged.splitlines()) ^ set(entire.splitlines())
                raise AssertionError(f'{path}: {len(parts)} parts by {way} are not the whole: {sorted(more)[:4]}')
            checked += 1
    return checked


def check_rules(profiles, first, second):
    if None in (run(profiles, 'content', first, first), run(profiles, 'content', second, second)):
        return 0
    done = served.run([*WRAPPER, profiles, 'rules', first, second], text=True)
    if done.returncode:
        raise AssertionError(f'{first} and {second}: {done.stdout}')
    return 1


def corpus():
    """Complete recordings that are not too large."""
    return [str(path) for path in hermetic.corpus_recordings(RECORDINGS, 4 << 20, without=('broken',))
            if hermetic.is_recording(path)]


def main():
    hermetic.settle()
    perfile, profiles, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if files == ['--corpus']:
        files = corpus()
    counts, failed = collections.Counter(), 0
    checks = {check.__name__: check for check in (check_folded, check_report, check_threads, check_parts)}
    for i, path in enumerate(files):
        for name, check in [*checks.items(), ('check_rules', lambda _, p, path: check_rules(p, path, files[i - 1]))]:
            try:
                counts[name] += check(perfile, profiles, path)
            except AssertionError as error:
                failed += 1
                print(error)
    print(', '.join(f'{name} {counts[name]}' for name in counts), f'{failed} failed')
    return failed > 0 or not all(counts.values())


sys.exit(main())
