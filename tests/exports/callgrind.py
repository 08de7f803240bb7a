#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""callgrind's format, against the tables: callgrind.py PERFILE ASSEMBLE [COMPILER...]

Where callgrind_annotate is in PATH, it must read the same as the parser here.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import common
import graphs

HEADS = {'version', 'creator', 'cmd', 'desc', 'positions', 'events', 'summary', 'totals'}
NAME = re.compile(r'\((\d+)\)(?: (.+))?', re.DOTALL)
OBJECT = r' \[[^ ]*\]$' # after functions, as callgrind_annotate prints them
KINDS = {'ob': 'ob', 'cob': 'ob', 'fl': 'fl', 'fi': 'fl', 'fe': 'fl', 'cfi': 'fl', 'fn': 'fn', 'cfn': 'fn'}


def need(what, fact):
    if not fact:
        raise common.Wrong(what)


class Graph:
    """The file as its readers understand it: functions are a file and a name."""

    def __init__(self, path):
        self.heads, self.names, self.now, self.objects = collections.defaultdict(list), {}, {}, {}
        self.self, self.lines = collections.Counter(), collections.Counter()
        self.called, self.calling = collections.Counter(), collections.Counter()
        self.in_other_files, self.callers, self.counts = collections.Counter(), collections.defaultdict(set), collections.Counter()
        self.waits = None
        text = path.read_bytes().decode('utf-8')
        need('the first line', text.startswith('# callgrind format\n') and text.endswith('\n'))
        for number, line in enumerate(text.split('\n')[:-1], 1):
            try:
                self.take(line)
            except (ValueError, KeyError, common.Wrong) as error:
                raise common.Wrong(f'line {number}: {line[:200]!r}: {error!r}') from error
        need('a call without its cost', self.waits is None)

    def take(self, line):
        if not line or line.startswith('#'):
            return
        head = re.match(r'([a-z]+):', line)
        if head:
            need('head', head[1] in HEADS)
            self.heads[head[1]].append(line[head.end():].strip())
        elif line[0].isdigit():
            self.take_cost(line.split())
        elif line.startswith('calls='):
            need('calls after their function', 'cfn' in self.now)
            count, *position = line[6:].split()
            need('a position', len(position) == len(self.positions()))
            self.waits = int(count)
        else:
            key, _, rest = line.partition('=')
            need('name', key in KINDS)
            self.take_name(key, rest)

    def take_name(self, key, rest):
        number, name = NAME.fullmatch(rest).groups()
        if name is not None:
            need('a name that is there already', (KINDS[key], number) not in self.names)
            need('a name that can be read back', name.strip() == name.rstrip() and name.isprintable())
            self.names[KINDS[key], number] = name
        self.now[key] = self.names[KINDS[key], number]
        if key == 'fl':
            self.now['fi'] = self.now['fl']
        if key in ('fi', 'fe'):
            self.now['fi'] = self.now[key]
        if key == 'fn':
            self.function = self.now['fl'], self.now['fn']
            self.objects.setdefault(self.function, set()).add(self.now['ob'])

    def positions(self):
        return self.heads['positions'][0].split()

    def events(self):
        """Several of one name are distinguished in the file; here they are added up."""
        return [re.sub(r'#\d+$', '', name) for name in self.heads['events'][0].split()]

    def take_cost(self, words):
        count = len(self.positions())
        line, costs = int(words[count - 1]), [int(word) for word in words[count:]]
        need('costs', 1 <= len(costs) <= len(self.events()))
        if count == 2:
            int(words[0], 16)
        here = self.now['fi'], self.now['fn']
        for event, cost in zip(self.events(), costs):
            if self.waits is not None:
                callee = self.now['cfi'], self.now['cfn']
                need('a call of itself', callee != self.function)
                self.called[event, *callee] += cost
                self.calling[event, *self.function] += cost
                self.in_other_files[event, *here] += cost
            else:
                self.self[event, *here] += cost
                self.lines[event, *here, line] += cost
        if self.waits is not None:
            self.callers[callee].add(self.function)
            self.counts[callee] += self.waits
            del self.now['cfn']
        self.waits = None

    def inclusive(self):
        """Of functions that are called it is what the calls of them cost."""
        sums = collections.Counter({key: cost + self.in_other_files[key] for key, cost in self.self.items()})
        sums.update({key: cost for key, cost in self.in_other_files.items() if key not in self.self})
        for key in set(self.called):
            sums[key] = self.called[key]
        return sums

    def row(self, name):
        return self.add_up(map(int, self.heads[name][0].split()))

    def add_up(self, costs):
        sums = collections.Counter({name: 0 for name in self.events()})
        for name, cost in zip(self.events(), costs):
            sums[name] += cost
        return dict(sums)


def columns(expected, value):
    """{event of the recording: column}; 0 samples, 1 period, 2 weight."""
    names = list(dict.fromkeys(sample.event for sample in expected.samples))
    word = {name: re.sub(r'[^!-+\x2d-~]', '_', name) for name in names}
    prefix = ['samples', '', 'weight'][value]
    if value == 1:
        return word
    return {name: f'{prefix}:{word[name]}' if len(expected.events) > 1 and len(names) > 1 else prefix for name in names}


def of_label(functions):
    """{label: functions of the file}"""
    found = collections.defaultdict(set)
    for file, name in functions:
        found[common.label(name)].add((file, name))
    return found


def is_thread(graph, file, name):
    return file == '???' and name.startswith('thread ') and '???' in graph.objects.get((file, name), ())


def check_functions(graph, expected, samples, value):
    """What each function costs itself, and with its calls, where its label is its alone."""
    wanted = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        labels = sample.labels()
        wanted[sample.event, labels[0]][0] += sample.values[value]
        for one in set(labels):
            wanted[sample.event, one][1] += sample.values[value]
    inclusive, labels = graph.inclusive(), of_label({key[1:] for key in graph.called})
    for event, column in columns(expected, value).items():
        got = collections.Counter()
        for (name, file, function), cost in graph.self.items():
            if name == column:
                got[common.label(function)] += cost
        common.same(f'{column}: self', {k: v for k, v in got.items() if v},
                    {label: both[0] for (of, label), both in wanted.items() if of == event and both[0]})
        alone = {label: next(iter(keys)) for label, keys in labels.items() if len(keys) == 1 and
                 not is_thread(graph, *next(iter(keys)))}
        common.same(f'{column}: total', {label: inclusive[column, *key] for label, key in alone.items()},
                    {label: wanted[event, label][1] for label in alone})
    return len(wanted)


def check_threads(graph, expected):
    """The calls by threads are all there is."""
    wanted = collections.Counter()
    for sample in expected.samples:
        wanted[columns(expected, 1)[sample.event], f'thread {sample.thread[2]}'] += sample.values[1]
    got = {(event, name): cost for (event, file, name), cost in graph.calling.items()
           if is_thread(graph, file, name) and event in columns(expected, 1).values()}
    common.same('threads', {k: v for k, v in got.items() if v}, {k: v for k, v in wanted.items() if v})


def check_totals(graph, expected):
    sums = common.totals(expected.samples)
    weighed = any(values[2] for values in sums.values())
    for value in (0, 1, 2) if weighed else (0, 1):
        for event, column in columns(expected, value).items():
            if value < 2 or sums[event][2]:
                common.same(f'{column}: total', {'': graph.row('totals').get(column, 0)}, {'': sums[event][value]})
    own = collections.Counter()
    for (event, *_), cost in graph.self.items():
        own[event] += cost
    common.same('lines add up', {k: v for k, v in own.items() if v}, {k: v for k, v in graph.row('totals').items() if v})
    common.same('summary', graph.row('summary'), graph.row('totals'))


def check_lines(graph):
    """Of the program of common.PROGRAM: where its functions are, and where they call what is inlined."""
    lines = common.PROGRAM.split('\n')
    innermost, outer, main = (next(i for i, line in enumerate(lines, 1) if text in line)
                              for text in ('__asm__ volatile("1:', 'T outer(T x)', 'return (shapes::'))
    costs = collections.Counter()
    for (event, file, name, line), cost in graph.lines.items():
        if event == 'cpu-clock' and cost:
            costs[common.label(name), line] += cost
    need(f'the line of the innermost function: {costs}', costs['shapes::box<int, 3>::innermost', innermost])
    caller = {common.label(name): {common.label(n) for _, n in callers} for (_, name), callers in graph.callers.items()}
    common.same('callers', {name: caller[f'shapes::box<int, 3>::{name}'] for name in ('innermost', 'inner', 'outer')},
                {'innermost': {'shapes::box<int, 3>::inner'}, 'inner': {'shapes::box<int, 3>::outer'}, 'outer': {'main'}})
    need('lines of calls', outer and main)


def annotated(path, inclusive):
    """{function as it prints them: costs}, the totals first."""
    done = subprocess.run(['callgrind_annotate', f'--inclusive={inclusive}', '--threshold=100', '--auto=no', str(path)],
                          capture_output=True, check=False)
    need(f'callgrind_annotate: {done.stderr}', done.returncode == 0 and not done.stderr)
    rows, started = {}, False
    text = re.sub(r' \( ?[\d.]+%\)', '', done.stdout.decode('utf-8'))
    for line in text.split('\n'):
        found = re.match(r'\s*((?:(?:[\d,]+|\.) +)+)(\S.*)$', line)
        started = started or 'PROGRAM TOTALS' in line
        if started and found:
            # of a total of 0 it says that it has calculated it
            costs = [0 if cost == '.' else int(cost.replace(',', '')) for cost in found[1].split()]
            rows[re.sub(OBJECT, '', found[2].removesuffix(' (calculated)'))] = costs
    return rows


def check_annotate(graph, path):
    if not shutil.which('callgrind_annotate'):
        return 'skipped: callgrind_annotate is not in PATH: apt-get install valgrind'
    first = graph.events()[0]
    for inclusive, wanted in ('no', graph.self), ('yes', graph.inclusive()):
        rows = {name: graph.add_up(costs)[first] for name, costs in annotated(path, inclusive).items()}
        common.same(f'callgrind_annotate, inclusive {inclusive}',
                    {name: cost for name, cost in rows.items() if cost and name != 'PROGRAM TOTALS'},
                    {re.sub(OBJECT, '', f'{file}:{name}'): cost for (event, file, name), cost in wanted.items()
                     if event == first and cost})
        common.same('callgrind_annotate, totals', {'': rows['PROGRAM TOTALS']}, {'': graph.row('totals')[first]})
    return 'callgrind_annotate agrees'


def check_reported(shop, recording):
    expected = shop.expected(recording)
    graph = Graph(shop.export(recording, 'callgrind', '--no-inline', suffix='.no-inline'))
    got = collections.defaultdict(lambda: [0, 0])
    for event, column in columns(expected, 1).items():
        for name, file, function in {*graph.self, *graph.called}:
            if name == column and not is_thread(graph, file, function):
                both = got[event, common.label(function)]
                both[0] += graph.self[name, file, function]
                both[1] += graph.called[name, file, function] # its lines in other files are no function of their own
    graphs.compare_functions(shop, recording, {key: tuple(both) for key, both in got.items()})


def check(shop, recording):
    expected = shop.expected(recording)
    path = shop.export(recording, 'callgrind')
    graph = Graph(path)
    if not expected.samples:
        common.same('empty', graph.row('totals'), {'samples': 0})
        return f'empty; {check_annotate(graph, path)}'
    need('it is said what is missing', 'cannot hold times' in shop.reply)
    check_totals(graph, expected)
    functions = 0
    if not expected.hostile:
        samples = graphs.stacks_of(shop, recording)
        functions = check_functions(graph, expected, samples, 1)
        check_functions(graph, expected, samples, 0)
        check_threads(graph, expected)
        check_reported(shop, recording)
    if recording.name == 'inlines':
        check_lines(graph)
    by_address = Graph(shop.export(recording, 'callgrind', '--addresses', suffix='.addresses'))
    need('positions', by_address.positions() == ['instr', 'line'])
    common.same('by address', by_address.inclusive(), graph.inclusive())
    return f'{functions} functions; {check_annotate(graph, path)}'


def main():
    common.hermetic.settle()
    return graphs.check_all(check)


if __name__ == '__main__':
    sys.exit(main())
