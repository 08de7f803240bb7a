#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do other programs read what perfile prints, with the same totals? others.py PERFILE ASSEMBLE [RECORDING...]

What is not at hand is skipped, with the reason; nothing is fetched. Without RECORDING, two small ones are made.

    flamegraph.pl           in PATH, or of Debian's libdevel-nytprof-perl
    stackcollapse-perf.pl   in PATH
    speedscope              PERFILE_SPEEDSCOPE: the folder of the npm package; needs node and chromium
    babeltrace2             in PATH: of Debian's package babeltrace2
    Firefox Profiler        PERFILE_PROFILER_CLI: dist/profiler-cli.js of the npm package @firefox-devtools/profiler-cli
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
DEBIAN_FLAMEGRAPH = pathlib.Path('/usr/share/perl5/Devel/NYTProf/flamegraph.pl')
KALLSYMS = ''.join(f'ffffffff810{n:02x}000 T {name}\n' for n, name in enumerate(
    ['_text', 'entry', 'syscall', 'read_it', 'write_it', 'copy<int>', '_etext']))
HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN sample_id_all=1 name="cpu-clock"
record MMAP pid=4294967295 tid=0 misc=1 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 \
filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=1 cpu=0
record COMM pid=7 tid=7 comm="two words" | pid=7 tid=7 time=2 cpu=0
record COMM pid=7 tid=8 comm="other" | pid=7 tid=8 time=2 cpu=0
'''
# Of each stack, leaf last: how many samples before, and now. The first belongs to the thread 7, the others of 8.
STACKS = [([1, 2, 3], 3, 5), ([1, 2, 3, 5], 2, 1), ([1, 2], 1, 1), ([1, 4], 4, 7), ([1, 4, 5], 2, 3)]


class Skip(Exception):
    pass


def text_of(column):
    lines, time = [HEAD], 1000000000
    for number, (stack, *counts) in enumerate(STACKS):
        ips = [f'0xffffffff810{n:02x}010' for n in reversed(stack)]
        for _ in range(counts[column]):
            time += 1000000
            lines.append(f'sample misc=1 ip={ips[0]} pid=7 tid={8 if number else 7} time={time} cpu={number % 2} '
                         f'period=1000000 callchain={len(ips) + 1},0xffffffffffffff80,{",".join(ips)}\n')
    return ''.join(lines)


class Recordings:
    """What perfile says of a recording, and one before it."""

    def __init__(self, perfile, folder, now, before=None, options=()):
        self.perfile, self.folder, self.now, self.before, self.options = perfile, folder, now, before, list(options)

    def run(self, verb, *options):
        command = [self.perfile, verb, '-q', *self.options, *options, self.now]
        done = subprocess.run(command, env={**os.environ, 'XDG_CACHE_HOME': str(self.folder)}, stdout=subprocess.PIPE,
                              check=False)
        if done.returncode > 1:
            sys.exit(f'{command}: exit status {done.returncode}')
        return done.stdout.decode('utf-8', 'replace')

    def folded(self, *options):
        return self.run('flame', '--format', 'folded', *options)

    def script(self, *options):
        """Of the event that the flame graph belongs to."""
        event = re.search(r'id="subtitle"[^>]*>(.*): \d+ samples', self.run('flame'))[1]
        return self.run('script', '--no-inline', '-e', event, *options)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


def total(folded):
    return sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines())


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: {got}, not {wanted}')
    return f'{what} {got:,}' if isinstance(got, int) else what


def titles(svg):
    return collections.Counter(re.findall(r'<title>(.*)</title>', svg))


def find_flamegraph():
    found = shutil.which('flamegraph.pl') or (str(DEBIAN_FLAMEGRAPH) if DEBIAN_FLAMEGRAPH.exists() else None)
    if not found or not shutil.which('perl'):
        raise Skip('flamegraph.pl or perl is missing: apt-get install libdevel-nytprof-perl')
    return ['perl', found]


def draw(folded, *options):
    """What flamegraph.pl says of each frame; it writes '(' for '<'."""
    done = subprocess.run([*find_flamegraph(), *options], input=folded, capture_output=True, text=True, check=True)
    if done.stderr.strip():
        sys.exit(f'flamegraph.pl: {done.stderr}')
    return titles(done.stdout.replace('(1 samples, ', '(1 sample, '))


def plain(counted):
    return collections.Counter({t.replace('&lt;', '(').replace('&gt;', ')'): n for t, n in counted.items()})


def flamegraph(of):
    theirs = draw(of.folded('--count-samples'))
    ours = plain(titles(of.run('flame', '--count-samples')))
    check('frames', theirs, ours)
    return check('samples', max(int(re.search(r'\(([\d,]+) samples?', t)[1].replace(',', '')) for t in theirs),
                 total(of.folded('--count-samples')))


def flamegraph_compared(of):
    """Without stacks that are no more: their frames without width take the place of others in flamegraph.pl."""
    if not of.before:
        raise Skip('there is no recording before this one')
    for options in ([], ['--normalize']):
        folded = of.folded('--before', of.before, *options)
        lines = [line for line in folded.splitlines(True) if not line.endswith(' 0\n')]
        theirs = draw(''.join(lines), '--countname', 'ns')
        check('frames', theirs, plain(titles(of.run('flame', '--before', of.before, *options))))
    return f'{sum(theirs.values())} frames with the same changes'


def stackcollapse(of):
    program = shutil.which('stackcollapse-perf.pl')
    if not program:
        raise Skip('stackcollapse-perf.pl is not in PATH')
    text = of.script()
    theirs = subprocess.run(['perl', program], input=text, capture_output=True, text=True, check=True).stdout
    return check('samples', total(theirs), total(of.folded('--count-samples')))


def speedscope_loads(of, path):
    package = os.environ.get('PERFILE_SPEEDSCOPE')
    if not package:
        raise Skip('PERFILE_SPEEDSCOPE does not name the folder of the npm package')
    if not shutil.which('node') or not shutil.which('chromium'):
        raise Skip('node or chromium is missing')
    command = ['node', str(HERE / 'speedscope.mjs'), package, path, str(of.folder)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120).stdout)


def speedscope_folded(of):
    folded = of.folded()
    loaded = speedscope_loads(of, of.file('stacks.txt', folded))
    return check('weight', loaded['weight'], total(folded))


def speedscope_script(of):
    loaded = speedscope_loads(of, of.file('script.txt', of.script()))
    threads = set(of.script('-F', 'comm,tid').splitlines())
    return check('threads', loaded['profiles'], len(threads))


@contextlib.contextmanager
def profiler(of, path):
    """The Firefox Profiler with a file: gives what it says to questions."""
    program = os.environ.get('PERFILE_PROFILER_CLI')
    if not program or not shutil.which('node'):
        raise Skip('PERFILE_PROFILER_CLI does not name dist/profiler-cli.js of the npm package, or node is missing')
    environment = {**os.environ, 'HOME': str(of.folder)}

    def ask(*words, check=True):
        return subprocess.run(['node', program, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=check, timeout=120)

    # it says that the daemon is not there when that takes more than half a second
    ask('load', path, '--symbol-server', 'http://127.0.0.1:9', check=False)
    try:
        for _ in range(100):
            if ask('profile', 'info', '--json', check=False).returncode == 0:
                break
            time.sleep(0.3)
        yield lambda *words: json.loads(ask(*words, '--json').stdout)
    finally:
        ask('stop', '--all', check=False)


def threads_of(ask):
    return [thread['threadHandle'] for process in ask('profile', 'info', '--all')['processes']
            for thread in process['threads']]


def firefox_script(of):
    with profiler(of, of.file('firefox.txt', of.script())) as ask:
        counts = [ask('thread', 'info', '--thread', thread)['sampleCount'] for thread in threads_of(ask)]
    return check('samples', sum(counts), total(of.folded('--count-samples')))


def firefox_export(of):
    """Its sums are those of doubles: equal to the ns."""
    wanted = collections.Counter()
    for line in of.run('table', 'stacks', '--format', 'jsonl', '--columns', 'samples,period,unit').splitlines():
        row = json.loads(line)
        wanted['samples'] += row['samples']
        wanted['tracing-ms' if row['unit'] == 'ns' else 'counts'] += row['period']
    of.run('export', '--format', 'firefox', '-o', str(of.folder / 'export.json.gz'))
    found = collections.Counter()
    with profiler(of, str(of.folder / 'export.json.gz')) as ask:
        for thread in threads_of(ask):
            functions = ask('thread', 'functions', '--thread', thread, '--include-idle')
            if not functions['functions']:
                continue
            found['samples'] += ask('thread', 'info', '--thread', thread)['sampleCount']
            weight = sum(function['selfSamples'] for function in functions['functions'])
            clock = functions.get('weightType') == 'tracing-ms'
            found['tracing-ms' if clock else 'counts'] += round(weight * 1000000) if clock else weight
    check('weights', +found, +wanted)
    return f'{found["samples"]} samples'


def chrome_export(of):
    of.run('export', '--format', 'chrome', '-o', str(of.folder / 'trace.json'))
    slices = (of.folder / 'trace.json').read_text().count('"ph":"B"')
    with profiler(of, str(of.folder / 'trace.json')) as ask:
        markers = sum(ask('thread', 'markers', '--thread', thread)['totalMarkerCount'] for thread in threads_of(ask))
    if not slices <= markers:
        sys.exit(f'chrome_export: {markers} markers of {slices} slices')
    return f'{slices} slices'


def ctf_export(of):
    """The trace has the samples of script: their times, threads and addresses."""
    program = shutil.which('babeltrace2')
    if not program:
        raise Skip('babeltrace2 is missing: apt-get install babeltrace2')
    of.run('export', '--format', 'ctf', '-o', str(of.folder / 'trace'))
    text = subprocess.run([program, '--clock-seconds', str(of.folder / 'trace')], capture_output=True, text=True, check=True).stdout
    shutil.rmtree(of.folder / 'trace')
    theirs = re.findall(r'^\[(\d+\.\d+)\].* perf_tid = (-?\d+),.* perf_ip = 0x([0-9A-F]+),', text, re.M)
    lines = of.run('script', '--ns', '-G', '-F', 'tid,time,ip').splitlines()
    ours = [(time.rstrip(':'), tid, ip.upper()) for tid, time, ip in (line.split()[:3] for line in lines if line)]
    check('samples', theirs, ours)
    return f'{len(ours)} samples'


CHECKS = [flamegraph, flamegraph_compared, stackcollapse, speedscope_folded, speedscope_script, firefox_script,
          firefox_export, chrome_export, ctf_export]


def make(assemble, folder):
    (folder / 'kallsyms').write_text(KALLSYMS)
    for column, name in enumerate(['before.data', 'now.data']):
        made = subprocess.run([assemble], input=text_of(column).encode(), stdout=subprocess.PIPE, check=True).stdout
        (folder / name).write_bytes(made)


def main():
    hermetic.settle()
    perfile, assemble, *recordings = sys.argv[1:]
    done = 0
    with tempfile.TemporaryDirectory(prefix='perfile-others-') as name:
        folder = pathlib.Path(name)
        make(assemble, folder)
        wanted = [Recordings(perfile, folder, path) for path in recordings] or [
            Recordings(perfile, folder, str(folder / 'now.data'), str(folder / 'before.data'),
                       ['--kallsyms', str(folder / 'kallsyms')])]
        for of in wanted:
            for one in CHECKS:
                what = f'{pathlib.Path(of.now).name}: {one.__name__}'
                try:
                    print(f'{what}: {one(of)}', flush=True)
                    done += 1
                except Skip as why:
                    print(f'skipped: {what}: {why}')
    sys.exit(0 if done else SKIPPED)


if __name__ == '__main__':
    main()
