# SPDX-License-Identifier: MIT
"""What the tests of exports share: recordings, what is right about them, and comparing.

    with common.workshop(perfile, assemble, compiler) as shop:
        for recording in shop.recordings():
            path = shop.export(recording, 'pprof')              # Skip when the build has no such format
            samples = [common.Sample(event, frames, samples=1, period=5, thread=(pid, tid, comm)), ...]   # decoded
            common.compare(shop.expected(recording), samples)   # raises Wrong

What is right is what `perfile table` prints of the same recording: its rows are of the same stream, but the code between is
another one. Frames are compared by their labels ("as flame graphs name them"), so that a format may write complete names.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served
from images import load_address

SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


class Skip(Exception):
    """What a check needs is not here; the text says what and why."""


class Wrong(Exception):
    """The export says something else than the tables."""


class Recording:
    """A recording, with the options that perfile needs to find its symbols."""

    def __init__(self, name, path, *options, hostile=False, status=0):
        self.name, self.path, self.options, self.hostile, self.status = name, pathlib.Path(path), options, hostile, status


class Sample:
    """One sample, or several equal ones: `frames` are (name, module) or names, leaf first, with inlined functions.

    `thread` is (pid, tid, comm) with None for what the format does not say; `self_function` is the name of the function
    that the sample counts for in reports, which is never an inlined one (None: the format does not distinguish them).
    """

    def __init__(self, event, frames, samples=1, period=0, weight=0, thread=None, self_function=None):
        self.event, self.frames, self.thread, self.self_function = event, tuple(frames), thread, self_function
        self.cpu = self.cgroup = None # of formats that say them
        self.values = (samples, period, weight)

    def labels(self):
        return tuple(label(*frame) if isinstance(frame, tuple) else label(frame) for frame in self.frames)


def label(name, module=None):
    """As flame graphs name a function: no arguments, no quotes; [module] where it has no name."""
    if not name:
        return f'[{module.rsplit("/", 1)[-1]}]' if module else '[unknown]'
    name = ''.join('_' if ord(c) < 32 or c == '\x7f' else ':' if c == ';' else c for c in name)
    go = name.find('.(')
    if go < 0 or ').' not in name[go + 2:]:
        at = name.find('(')
        while at >= 0 and name.startswith('(anonymous namespace)', at):
            at = name.find('(', at + 1)
        name = name[:at] if at > 0 else name
    return name.replace('"', '').replace("'", '') or '-'


def totals(samples):
    """{event: (samples, period, weight)}"""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for sample in samples:
        sums[sample.event] = add(sums[sample.event], sample.values)
    return dict(sums)


def stacks(samples):
    """{(event, labels): (samples, period, weight)}"""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for sample in samples:
        key = sample.event, sample.labels()
        sums[key] = add(sums[key], sample.values)
    return dict(sums)


def threads(samples):
    """{(event, thread): (samples, period, weight)}"""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for sample in samples:
        sums[sample.event, sample.thread] = add(sums[sample.event, sample.thread], sample.values)
    return dict(sums)


def functions(samples):
    """{(event, label): (self, total)} in periods; self belongs to the innermost function, inlined or not."""
    sums = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        labels = sample.labels()
        sums[sample.event, labels[0]][0] += sample.values[1]
        for one in set(labels):
            sums[sample.event, one][1] += sample.values[1]
    return {key: tuple(both) for key, both in sums.items()}


def reported(samples):
    """{(event, label): self period}, of the function that reports count a sample for."""
    sums = collections.Counter()
    for sample in samples:
        sums[sample.event, label(sample.self_function)] += sample.values[1]
    return {key: period for key, period in sums.items() if period}


def add(one, other):
    return tuple(a + b for a, b in zip(one, other))


def sample_of(row):
    sample = Sample(row['event'], row['stack'], row['samples'], row['period'], row['weight'] or 0,
                    (row['pid'], row['tid'], row['comm']), row['leaf'])
    sample.cpu, sample.cgroup = row['cpu'], row['cgroup']
    return sample


class Expected:
    """What the tables say of a recording."""

    def __init__(self, shop, recording):
        self.hostile = recording.hostile
        rows = shop.table(recording, 'stacks', '--columns', 'all', '--by', 'tid,comm,cpu,cgroup')
        self.samples = [sample_of(row) for row in rows]
        self.units = {row['event']: row['unit'] for row in rows}
        self.functions = shop.table(recording, 'functions', '--columns', 'all')
        self.events = shop.table(recording, 'events', '--columns', 'all')
        self.losses = {row['kind']: row['count'] for row in shop.table(recording, 'losses')}

    def build_ids(self):
        """{name of a module with samples: build id in hexadecimal}"""
        return {row['dso']: row['build_id'] for row in self.functions if row['build_id']}

    def top(self, count=10):
        """[(event, label, self, total)] by their own periods."""
        rows = [(event, name, *both) for (event, name), both in functions(self.samples).items()]
        return sorted(rows, key=lambda row: (-row[2], row))[:count]


def need(fact, what):
    if not fact:
        raise Wrong(what)


def check_texts(texts):
    """Of a table of texts: nothing that a terminal would obey."""
    need(texts[0] == '', 'text 0 is not empty')
    for text in texts:
        need(not re.search('[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]', text), f'a text for terminals: {text!r}')


def by_key(samples, key):
    """{(event, cpu): (samples, period, weight)}, or of another member of samples."""
    sums = {}
    for sample in samples:
        at = sample.event, getattr(sample, key)
        sums[at] = add(sums.get(at, (0, 0, 0)), sample.values)
    return sums


def check_build_ids(got, expected):
    """`got`: {name of a module: build id}"""
    for name, build_id in expected.build_ids().items():
        if name in got: # a file of several names has one of them
            need(got[name] == build_id, f'build id of {name}: {got[name]} instead of {build_id}')
    need(not expected.build_ids() or set(got.values()) & set(expected.build_ids().values()), 'no build id is known')


def check_inlines(lines):
    """Of the compiled program, where functions are inlined: [(name, linkage name, file, line)], innermost first."""
    names, systems, files, numbers = zip(*lines)
    need([label(name) for name in names] == ['shapes::box<int, 3>::innermost', 'shapes::box<int, 3>::inner',
                                             'shapes::box<int, 3>::outer'], names)
    need(all(system.startswith('_ZN6shapes3boxIiLi3EE') for system in systems), systems)
    need(all(file.endswith('prog.cc') for file in files), files)
    source = [''] + PROGRAM.split('\n')
    need(all(words in source[number] for words, number in
             zip(('__asm__', 'innermost(x) + 1', 'inner(x) + 2'), numbers)), numbers)


def same(what, got, wanted):
    if got == wanted:
        return
    lines = [f'{what}: {len(got)} instead of {len(wanted)}']
    for key in sorted({*got, *wanted}, key=repr):
        if got.get(key) != wanted.get(key):
            lines.append(f'  {key}: {got.get(key)} instead of {wanted.get(key)}')
    raise Wrong('\n'.join(lines[:12]))


def same_functions_as_reports(expected):
    """The two tables agree with each other, or what is compared with them is not right."""
    if expected.hostile:
        return
    wanted = collections.Counter()
    for row in expected.functions:
        wanted[row['event'], label(row['symbol'], row['dso'])] += row['self']
    same('self of functions in the tables', reported(expected.samples),
         {key: period for key, period in wanted.items() if period})


def compare(expected, samples, what=('totals', 'stacks', 'threads', 'functions', 'reported')):
    """Everything, or what the format has space for."""
    checks = {'totals': totals, 'stacks': stacks, 'threads': threads, 'functions': functions, 'reported': reported}
    for name in what:
        if not expected.hostile or name == 'totals': # names that cannot be printed are replaced in several ways
            same(name, checks[name](samples), checks[name](expected.samples))


# ---- recordings ------------------------------------------------------------------------------------------------------

KALLSYMS = ''.join(f'ffffffff810{n:02x}000 T {name}\n' for n, name in enumerate(
    ['_text', 'entry', 'syscall', 'read_it', 'write_it', 'copy<int>', '_etext']))
FIELDS = 'IP|TID|TIME|CPU|PERIOD|CALLCHAIN'
KERNEL = '''record MMAP pid=4294967295 tid=0 misc=1 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 \
filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=1 cpu=0
record COMM pid=7 tid=7 comm="two words" | pid=7 tid=7 time=2 cpu=0
record COMM pid=7 tid=8 comm="other" | pid=7 tid=8 time=2 cpu=0
record COMM pid=9 tid=9 comm="" | pid=9 tid=9 time=2 cpu=0
'''
# A wall clock that was 1,700,000,000 s when the recording's was 1 s.
CLOCK_DATA = 'feature CLOCK_DATA u32:1,u32:1,u64:1700000000000000000,u64:1000000000\n'


def sample_line(number, stack, event=0, more=''):
    ips = [f'0xffffffff810{n:02x}010' for n in reversed(stack)]
    pid, tid = [(7, 7), (7, 8), (9, 9)][number % 3]
    return (f'sample event={event} misc=1 ip={ips[0]} pid={pid} tid={tid} time={1000000000 + number * 1000000} '
            f'cpu={number % 2} period={1000000 + number} callchain={len(ips) + 1},0xffffffffffffff80,{",".join(ips)}{more}\n')


STACKS = [[1, 2, 3], [1, 2, 3, 5], [1, 2], [1, 4], [1, 4, 5], [1, 2, 2, 3], [5]]


def made_kernel():
    """Threads, recursion, a name with <>, a wall clock, samples without a thread's name."""
    lines = [f'attr type=1 config=0 sample_type={FIELDS} sample_id_all=1 use_clockid=1 clockid=1 name="cpu-clock"\n',
             CLOCK_DATA, 'feature HOSTNAME s:"machine"\n', KERNEL]
    return ''.join(lines + [sample_line(i, STACKS[i % len(STACKS)]) for i in range(40)])


def made_events():
    """Events of one name, of a fixed period, with weights, with control groups; losses."""
    lines = [f'attr type=0 config=0 sample_period_or_freq=5000 sample_type={FIELDS}|ID|CGROUP sample_id_all=1 ids=1 name="cycles"\n',
             f'attr type=0 config=0 sample_period_or_freq=5000 sample_type={FIELDS}|ID|CGROUP sample_id_all=1 ids=2 name="cycles"\n',
             f'attr type=1 config=2 sample_type={FIELDS}|ID|CGROUP|WEIGHT sample_id_all=1 ids=3 name="page-faults"\n', KERNEL,
             'record CGROUP id=99 path="/user.slice" | pid=7 tid=7 time=3 cpu=0 id=1\n',
             'record LOST id=1 lost=12 | pid=7 tid=7 time=4 cpu=0 id=1\n']
    for i in range(60):
        more = f' id={1 + i % 3} cgroup={99 if i % 5 else 98}' + (f' weight={i}' if i % 3 == 2 else '')
        lines.append(sample_line(i, STACKS[i % len(STACKS)], i % 3, more))
    return ''.join(lines)


def made_empty():
    return f'attr type=1 config=0 sample_type={FIELDS} sample_id_all=1 name="cpu-clock"\n{KERNEL}'


HOSTILE = b'\x1b[2J\r\nFORGED\t\x7f\xc2\x9b31m\x9b\xff\xe2\x80\xae'


def made_names():
    """Names that a terminal would obey, or that are not UTF-8."""
    def quoted(text):
        return '"' + ''.join(f'\\x{byte:02x}' for byte in text.encode() + HOSTILE) + '"'
    lines = [f'attr type=1 config=0 sample_type={FIELDS} sample_id_all=1 name={quoted("event")}\n',
             f'feature HOSTNAME s:{quoted("host")}\n',
             f'record COMM pid=7 tid=7 comm={quoted("c")} | pid=7 tid=7 time=2 cpu=0\n',
             f'record KSYMBOL addr=0xffffffff81001000 len=0x1000 ksym_type=1 flags=0 name={quoted("symbol")} '
             '| pid=7 tid=7 time=3 cpu=0\n',
             f'record MMAP misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename={quoted("/dso")} '
             '| pid=7 tid=7 time=3 cpu=0\n']
    for i in range(4):
        lines.append(f'sample misc=2 ip=0x400010 pid=7 tid=7 time={10 + i} cpu=0 period=1 '
                     f'callchain=3,0xfffffffffffffe00,0x400010,0x400020\n')
        lines.append(sample_line(0, [1]))
    return ''.join(lines)


PROGRAM = '''
#include <stdio.h>
namespace shapes {
template <typename T, int N> struct box {
    static inline __attribute__((always_inline)) T innermost(T x)
    {
        __asm__ volatile("1: nop\\n.pushsection .data\\n.globl here\\n.balign 8\\nhere: .quad 1b\\n.popsection" : "+r"(x));
        return x * N;
    }
    static inline __attribute__((always_inline)) T inner(T x) { return innermost(x) + 1; }
    __attribute__((noinline)) T outer(T x) { return inner(x) + 2; }
};
}
extern "C" const char *const here;
__attribute__((noinline)) int plain(int x) { __asm__ volatile("nop" : "+r"(x)); return x + 1; }
int main(int argc, char **)
{
    int (shapes::box<int, 3>::*method)(int) = &shapes::box<int, 3>::outer;
    (void)method;
    printf("%lx %lx %lx\\n", (unsigned long)here, (unsigned long)&plain, (unsigned long)&main);
    return (shapes::box<int, 3>().outer(argc) + plain(argc)) == 0;
}
'''
BUILD_ID = '0102030405060708090a0b0c0d0e0f1011121314'


def made_inlines(folder, compiler):
    """A C++ program with templates and functions in functions, which lies in `folder`."""
    source, program = folder / 'prog.cc', folder / 'prog'
    source.write_text(PROGRAM)
    subprocess.run([*compiler, '-x', 'c++', '-g', '-O2', '-fno-exceptions', '-fno-rtti', '-no-pie', '-fno-pie',
                    f'-Wl,--build-id=0x{BUILD_ID}', '-o', program, source], check=True)
    here, plain, main = (int(word, 16) for word in subprocess.check_output([program], text=True).split())
    start = load_address(program)
    build_id = ','.join([f'hex:{BUILD_ID}'])
    lines = [f'attr type=1 config=0 sample_type={FIELDS} sample_id_all=1 name="cpu-clock"',
             f'record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10 cpu=0',
             f'record MMAP2 pid=7 tid=7 addr=0x{start:x} len=0x100000 pgoff=0 prot=5 filename="{program}" '
             '| pid=7 tid=7 time=12 cpu=0',
             f'feature BUILD_ID u32:0,u16:0x8002,u16:{36 + len(str(program)) + 1},u32:-1,{build_id},u8:20,zeros:3,'
             f'z:"{program}"']
    for i in range(12):
        ips = [here if i % 2 else plain, main + 1]
        lines.append(f'sample misc=2 ip=0x{ips[0]:x} pid=7 tid=7 time={20 + i} cpu={i % 2} period={1000 + i} '
                     f'callchain=3,0xfffffffffffffe00,{",".join(map(hex, ips))}')
    return '\n'.join(lines) + '\n'


DATA = ('compressed2', 'group', 'jit', 'pipe-7.2', 'threads', 'tracepoint', 'two-events', 'words')
# of the corpus: these, with the programs they ran where these are there
CORPUS = ('p7-cpp-inline', 'p7-g-dwarf', 'p6-jitdump', 'p7-both-regs', 'p7-lost-small', 'p6-everything', 'p7-rust-v0')


class Workshop:
    """Runs perfile on recordings that lie in `folder`."""

    def __init__(self, perfile, assemble, folder, compiler=()):
        self.command = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), str(pathlib.Path(perfile).resolve())]
        self.assemble = [*os.environ.get('MESON_EXE_WRAPPER', '').split(), str(pathlib.Path(assemble).resolve())]
        self.folder, self.compiler = pathlib.Path(folder), list(compiler)
        self.environment = hermetic.environment(XDG_CACHE_HOME=str(folder / 'cache'))
        self.known = {}
        (self.folder / 'nothing').mkdir()
        (self.folder / 'kallsyms').write_text(KALLSYMS)

    def run(self, *arguments, statuses=(0, 1)):
        """Its output as bytes, and what it stated besides."""
        done = served.run([*self.command, *map(str, arguments)], env=self.environment)
        if done.returncode not in statuses:
            raise Wrong(f'{arguments}: exit status {done.returncode}: {done.stderr.decode("utf-8", "replace")}')
        return done.stdout, done.stderr.decode('utf-8', 'replace')

    def table(self, recording, view, *options):
        out, _ = self.run('table', view, '--format', 'jsonl', *options, *recording.options, recording.path)
        return [json.loads(line) for line in out.splitlines()]

    def expected(self, recording):
        if recording.name not in self.known:
            self.known[recording.name] = Expected(self, recording)
        return self.known[recording.name]

    def export(self, recording, form, *options, suffix=''):
        """The file that was written."""
        path = self.folder / f'{recording.name}.{form}{suffix}'
        _, self.reply = self.run('export', '--format', form, *options, *recording.options, '-o', path, recording.path)
        return path

    def export_together(self, recordings, form, *options):
        """The file that was written of several recordings, which are found the same way."""
        path = self.folder / f'together.{form}'
        _, self.reply = self.run('export', '--format', form, *options, *recordings[0].options, '-o', path,
                                *[recording.path for recording in recordings])
        return path

    def make(self, name, text, *options):
        path = self.folder / f'{name}.data'
        path.write_bytes(subprocess.run([*self.assemble, *options], input=text.encode(), stdout=subprocess.PIPE,
                                        check=True).stdout)
        return path

    def recordings(self):
        """Those of the tree, those that are made, and some of the corpus."""
        nowhere = '--symfs', self.folder / 'nothing'
        kernel = '--kallsyms', self.folder / 'kallsyms', *nowhere
        yield Recording('demo', SOURCE / 'examples' / 'demo.perf.data', *nowhere)
        for name in DATA:
            yield Recording(name, SOURCE / 'tests' / 'data' / f'{name}.perf.data', *nowhere)
        yield Recording('kernel', self.make('kernel', made_kernel()), *kernel)
        yield Recording('events', self.make('events', made_events()), *kernel)
        yield Recording('damaged', self.make('damaged', made_kernel(), '--cut', '-300'), *kernel, status=1)
        yield Recording('empty', self.make('empty', made_empty()), *kernel)
        yield Recording('names', self.make('names', made_names()), *nowhere, hostile=True)
        if self.compiler:
            yield Recording('inlines', self.make('inlines', made_inlines(self.folder, self.compiler)))
        else:
            print('skipped: inlines: there is no compiler for programs that run here')
        yield from self.corpus()

    def corpus(self):
        found = {}
        for folder in hermetic.corpora():
            found.update({name: folder for name in CORPUS if (folder / 'recorded' / f'{name}.data').exists()})
        for name, folder in found.items():
            yield Recording(name, folder / 'recorded' / f'{name}.data', '--symfs', folder / 'symfs' / 'x86_64')


@contextlib.contextmanager
def workshop(perfile, assemble, compiler=()):
    with hermetic.plain_folder() as name:
        yield Workshop(perfile, assemble, pathlib.Path(name), compiler)


@contextlib.contextmanager
def own_workshop():
    """That of the command line: PERFILE ASSEMBLE COMPILER..."""
    perfile, assemble, *compiler = sys.argv[1:]
    with workshop(perfile, assemble, compiler) as shop:
        yield shop


def check_all(shop, check):
    """Runs check(shop, recording) for all recordings; the exit status of the test."""
    failed = 0
    for recording in shop.recordings():
        try:
            print(f'{recording.name}: {check(shop, recording)}', flush=True)
        except Skip as why:
            print(f'skipped: {recording.name}: {why}')
        except Wrong as what:
            print(f'--- {recording.name}: {what}', flush=True)
            failed += 1
    if failed:
        print(f'{failed} recordings are wrong')
    return 1 if failed else 0


def check_each(shop, *checks):
    """The same for pairs of a recording and its check."""
    failed = 0
    for recording, check in checks:
        shop.recordings = lambda only=recording: [only]
        failed |= check_all(shop, check)
    return failed
