#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was sampled at each instruction and source line: annotate.py PERFILE ASSEMBLE CC...

Compiles a program, makes a recording with samples at known addresses of it, and compares all forms of the listing with these,
with report, and with perf where that is installed.
"""
import base64
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
from images import load_address

PROGRAM = '''
#include <stdio.h>
extern const char *const here, *const there;
static inline __attribute__((always_inline)) int inner(int x)
{
    __asm__ volatile("1: nop\\n.pushsection .data\\n.globl here\\n.balign 8\\nhere: .quad 1b\\n.popsection" : "+r"(x));
    return x * 3;
}
__attribute__((noinline)) int outer(int x)
{
    for (int i = 0; i < x; i++)
        __asm__ volatile("" : "+r"(x));
    __asm__ volatile("1: nop\\n.pushsection .data\\n.globl there\\n.balign 8\\nthere: .quad 1b\\n.popsection" : "+r"(x));
    return inner(x) + 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    printf("%lx %lx %lx\\n", (unsigned long)here, (unsigned long)there, (unsigned long)outer);
    return outer(argc) == 0;
}
'''
HERE, THERE = (PROGRAM[:PROGRAM.index(word)].count('\n') + 1 for word in ('__asm__ volatile("1', '__asm__ volatile("1: nop\\n.pushsection .data\\n.globl there'))
CALL = PROGRAM[:PROGRAM.index('return inner')].count('\n') + 1
BUILD_ID = '-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314'
RECORDING = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD|IDENTIFIER sample_id_all=1 name="cpu-clock" ids=1
attr type=1 config=1 sample_type=IP|TID|TIME|PERIOD|IDENTIFIER sample_id_all=1 name="task-clock" ids=2
record COMM pid=7 tid=7 comm="prog" | identifier=1 pid=7 tid=7 time=10
record MMAP2 pid=7 tid=7 addr=0x%(start)x len=0x100000 pgoff=0 prot=5 filename="%(path)s" | identifier=1 pid=7 tid=7 time=12
record MMAP2 pid=7 tid=7 addr=0x70000000 len=0x1000 pgoff=0x70000000 prot=7 filename="//anon" | identifier=1 pid=7 tid=7 time=13
'''
SAMPLE = 'sample misc=2 identifier=%d ip=0x%x pid=7 tid=7 time=%d period=%d\n'
BRANCHES = 'attr type=0 config=0 sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK branch_sample_type=0x8 sample_id_all=1 name="cycles"\n'
BRANCH_SAMPLE = ('sample misc=2 ip=0x%(there)x pid=7 tid=7 time=20 period=5 '
                 'branch_stack=2,0x%(there)x,0x%(here)x,branch:0x81,0x%(there)x,0x%(here)x,branch:0x42\n')
HOSTILE = '<script>alert("x")</script>'


class Case:
    def __init__(self, perfile, recording, environment, folder):
        self.perfile, self.recording, self.environment, self.folder = perfile, recording, environment, folder

    def run(self, *arguments, status=0, cwd=None):
        done = subprocess.run([self.perfile, *arguments], env=self.environment, cwd=cwd or self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != status:
            sys.exit(f'{arguments}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}')
        self.reply = done.stderr
        return done.stdout

    def rows(self, *arguments):
        table = json.loads(self.run(*arguments, '--format', 'json', self.recording))
        names = [column['name'] for column in table['columns']]
        return [dict(zip(names, row)) for row in table['rows']]


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}:\n{got}\nexpected:\n{wanted}')


def percentages(text):
    """Of each event, by address: what is not 0."""
    tables, table = {}, None
    for line in text.splitlines():
        heading = re.match(r' *Percent *\|\s+Source code & Disassembly of \S+ for (\S+) \(', line)
        row = re.match(r' *(\d+\.\d\d) +: +([0-9a-f]+):', line)
        if heading:
            table = tables.setdefault(heading[1], {})
        elif row and float(row[1]) and table is not None:
            table[int(row[2], 16)] = row[1]
    return tables


def compare_tables(case, samples, outer):
    """Exact numbers: the instructions, the lines, report."""
    rows = case.rows('annotate', 'outer')
    got = {(row['event'], row['address']): (row['samples'], row['period']) for row in rows if row['samples']}
    wanted = collections.defaultdict(lambda: (0, 0))
    for event, address, period in samples:
        count, total = wanted[event, address]
        wanted[event, address] = count + 1, total + period
    expect('instructions', got, dict(wanted))
    expect('offsets', {row['address'] - row['offset'] for row in rows}, {outer})
    expect('all instructions are there', len({row['address'] for row in rows}) > len(got), True)
    report = {row['event']: row for row in case.rows('report', '--sort', 'symbol', '--symbols', 'outer')}
    for event, row in report.items():
        mine = [one for one in rows if one['event'] == event]
        for column, other in ('samples', 'samples'), ('period', 'self'):
            expect(f'{event}: {column} add up', sum(one[column] for one in mine), row[other])
        expect(f'{event}: shares', round(sum(one['share'] for one in mine), 6), 100)
    table = [row for row in case.rows('table', 'instructions') if row['symbol'] == 'outer']
    expect('of all functions, those with samples', {(row['event'], row['address']): (row['samples'], row['period']) for row in table},
           dict(wanted))


def compare_lines(case):
    lines = {(row['event'], f'{pathlib.Path(row["srcfile"]).name}:{row["srcline"]}'): (row['samples'], row['period'])
             for row in case.rows('table', 'lines', '--symbols', 'outer')}
    report = {(row['event'], row['srcline']): (row['samples'], row['self'])
              for row in case.rows('report', '--sort', 'srcline', '--symbols', 'outer')}
    expect('source lines', lines, report)
    expect('which they are', {name for _, name in lines}, {f'prog.c:{HERE}', f'prog.c:{THERE}'})


def compare_text(case, source):
    text = case.run('annotate', 'outer', case.recording)
    for wanted in (f'prog.c:{HERE}:     __asm__', f'-- inner, inlined at prog.c:{CALL}', 'Hottest lines: ',
                   'of cpu-clock (4 samples)'):
        expect(f'text has {wanted!r}', wanted in text, True)
    expect('no source', '__asm__' in case.run('annotate', '--no-source', 'outer', case.recording), False)
    elsewhere = case.folder / 'elsewhere'
    elsewhere.mkdir()
    source.rename(elsewhere / source.name)
    expect('source that is gone', '__asm__' in case.run('annotate', 'outer', case.recording), False)
    expect('source that is elsewhere',
           '__asm__' in case.run('annotate', '--source-dir', f'/nowhere:{elsewhere}', 'outer', case.recording), True)
    (elsewhere / source.name).rename(source)
    os.utime(source, (4e9, 4e9))
    case.run('annotate', 'outer', case.recording)
    expect('source that is newer', 'was changed after the binary was made' in case.reply, True)


def compare_layout(case, samples):
    totals = collections.Counter()
    wanted = collections.defaultdict(collections.Counter)
    for event, address, period in samples:
        totals[event] += period
        wanted[event][address] += period
    wanted = {event: {address: f'{100 * period / totals[event]:.2f}' for address, period in table.items()}
              for event, table in wanted.items()}
    expect('--stdio', percentages(case.run('annotate', '--stdio', 'outer', case.recording)), wanted)
    if shutil.which('objdump'):
        text = case.run('annotate', '--stdio', '--objdump', 'objdump', 'outer', case.recording)
        has_nop = bool(re.search(rf'{samples[0][1]:x}: +nop$', text, re.MULTILINE))
        expect('--objdump', (percentages(text), has_nop), (wanted, True))
    text = case.run('annotate', '--stdio', '--objdump', '/nowhere/objdump', 'outer', case.recording)
    expect('no objdump', (percentages(text), 'there is no such program' in case.reply), (wanted, True))
    if not (shutil.which('perf') and shutil.which('objdump')):
        print('skipped: perf annotate: perf or objdump is not installed')
        return
    older = case.folder / 'older.perf.data'
    case.run('convert', '--for', 'perf-5.10', case.recording, '-o', older)
    perf = subprocess.run(['perf', 'annotate', '--stdio', '-s', 'outer', '-i', older], env=case.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    perfs = {event.split(':')[0]: table for event, table in percentages(perf.stdout).items()}
    if perf.returncode or not perfs:
        print('skipped: perf annotate: this perf does not annotate here')
    else:
        expect('perf annotate', perfs, wanted)


def check_operands(case):
    (case.folder / 'perf.data').symlink_to(case.recording)
    listing = case.run('annotate', 'outer', case.recording)
    for arguments in ('outer',), ('-s', 'outer'), ('-s', 'outer', 'perf.data'), ('-i', 'perf.data', 'outer'), ('out*', 'perf.data'):
        expect(arguments, case.run('annotate', *arguments), listing)
    expect('the hottest functions', case.run('annotate').count('\nHottest lines: '), 1)
    expect('--top', case.run('annotate', '--top', '1', 'perf.data').endswith(listing), True)
    case.run('annotate', 'outerr', status=1)
    expect('what may be meant', 'did you mean outer?' in case.reply, True)
    case.run('annotate', '--format', 'json', 'outerr', status=1)
    case.run('annotate', '--percent-limit', '101', status=2)
    case.run('annotate', '-s', 'outer', 'inner', 'perf.data', status=2)


def check_others(case, program):
    """Names are harmless in pages, and what has no code has its addresses."""
    root = case.folder / 'root'
    (root / 'tmp').mkdir(parents=True)
    (root / 'tmp' / 'perf-7.map').write_text(f'70000000 100 {HOSTILE}\n')
    page = case.run('annotate', '--symfs', str(root), '--format', 'html', '--percent-limit', '0', case.recording)
    expect('the page opens with the code', '"opens":{"view":"code"' in page, True)
    expect('the name is in its data alone', HOSTILE in page, False)
    expect('the function', [one['name'] for one in code_of(page)['functions']], [HOSTILE])
    text = case.run('annotate', '--symfs', str(root), HOSTILE, case.recording)
    expect('code that was not kept', 'only a jitdump file keeps it' in text and ' 100.00  70000010\n' in text, True)
    text = case.run('annotate', '--symfs', str(root), case.recording)
    expect('no binary', f'{program} was not found' in text or 'No function' in text or 'no symbol covers' in text, True)


def check_branches(case, assemble, here, there, maps):
    """What is recorded of branches stands beside the instructions; percentages stay those of samples."""
    recording = case.folder / 'branches.perf.data'
    text = BRANCHES + maps + BRANCH_SAMPLE % {'here': here, 'there': there}
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
    table = json.loads(case.run('table', 'instructions', '--symbols', 'outer', '--columns', 'address,samples,taken,mispredicted,reached,branch_cycles',
                                '--format', 'json', recording))
    rows = [row for row in table['rows'] if any(row[1:])]
    expect('branches', rows, [[there, 1, 2, 1, None, 6], [here, 0, None, None, 2, None]])
    text = case.run('annotate', 'outer', recording)
    expect('branches in text', 'taken 2 (50.0% mispredicted), 6.0 cycles' in text and 'reached 2' in text, True)


def code_of(page):
    """What a page holds of code; None: nothing."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    packed, at = gzip.decompress(base64.b64decode(data['packed'])), 0
    for name, count, _ in data['parts']:
        if name == 'code':
            return json.loads(packed[at:at + count])
        at += count
    return None


def triples(weights):
    return [tuple(weights[i:i + 3]) for i in range(0, len(weights), 3)]


def lines_of(code, function):
    """By event and source line, as the page's list of source lines adds them up."""
    sums = collections.defaultdict(lambda: (0, 0))
    for _, _, location, _, weights, *_ in function['lines']:
        frame = function['positions'][location] if location >= 0 else [None, None, None, 0]
        for event, samples, period in triples(weights):
            key = code['events'][event][0], f'{pathlib.Path(frame[2]).name}:{frame[3]}'
            sums[key] = sums[key][0] + samples, sums[key][1] + period
    return dict(sums)


def check_page(case, verb):
    """The code in pages has the numbers, the instructions and the source of annotate; without being asked for there is none."""
    page = case.run(*verb, '--format', 'html', '--code', case.recording)
    expect('what is said', 'the page holds code, of 1 function: whoever gets it can read it' in case.reply, True)
    code = code_of(page)
    function = next(one for one in code['functions'] if one['name'] == 'outer')
    rows = case.rows('annotate', 'outer')
    base, got = int(function['address'], 16), {}
    for offset, words, _, _, weights, *_ in function['lines']:
        for event, samples, period in triples(weights):
            got[code['events'][event][0], base + offset] = words, samples, period
    expect('instructions in the page', got, {(row['event'], row['address']): (row['instruction'], row['samples'], row['period'])
                                             for row in rows if row['samples']})
    expect('all of them', len(function['lines']), len({row['address'] for row in rows}))
    expect('they add up', [(event, sum(weights[1] for weights in all), sum(weights[2] for weights in all)) for event, all in
                           ((event, [one for line in function['lines'] for one in triples(line[4]) if one[0] == event]) for event in (0, 1))],
           triples(function['weights']))
    lines = {(row['event'], f'{pathlib.Path(row["srcfile"]).name}:{row["srcline"]}'): (row['samples'], row['period'])
             for row in case.rows('table', 'lines', '--symbols', 'outer')}
    expect('source lines in the page', lines_of(code, function), lines)
    source = {f'{pathlib.Path(location[2]).name}:{location[3]}': location[0] for location in function['positions'] if len(location) > 3}
    expect('their text', source[f'prog.c:{THERE}'], PROGRAM.split('\n')[THERE - 1])
    expect('what is inlined', [site[1::3] for site in function['positions'] if 'inner' in site], [['inner', 'outer']] * sum(
        'inner' in site for site in function['positions']))
    types = {row['address']: row['data_type'] for row in
             case.rows('table', 'instructions', '--symbols', 'outer', '--columns', '+data_type') if row['data_type']}
    shown = {base + line[0]: function['types'][line[6]] for line in function['lines'] if len(line) > 6}
    expect('types of data', ({address: shown.get(address) for address in types}, bool(types)), (types, True))
    expect('no code', code_of(case.run(*verb, '--format', 'html', case.recording)), None)
    expect('nothing said of it', 'code' in case.reply, False)
    case.run(*verb, '--format', 'html', '--code', '--quiet', case.recording)
    expect('nothing said at all', case.reply, '')
    small = code_of(case.run('flame', '--format', 'html', '--code', '--page-size', '400', case.recording))
    expect('what is left out', ([one['name'] for one in small['functions']], small['left'], small['limits']), ([], 1, [200, 200]))
    expect('which is said', 'holds no code: no function of those with samples is short enough' in case.reply, True)


def check_late(case, assemble):
    """A mapping that stands after samples which are later than it: none of them counts where the process was before."""
    event = next(line for line in RECORDING.splitlines() if line.startswith('attr')) + '\n'
    mapping = 'record MMAP2 pid=%d tid=%d addr=0x1000 len=0x1000 pgoff=0 prot=5 filename="/nowhere/%s" | identifier=1 pid=7 tid=7 time=%d\n'

    def sample(time, pid):
        return f'sample misc=2 identifier=1 ip=0x1010 pid={pid} tid={pid} time={time} period=1\n'
    fork = 'record FORK pid=8 tid=8 ppid=7 ptid=7 time=506 | identifier=1 pid=8 tid=8 time=506\n'
    late = mapping % (7, 7, 'after', 505)
    lines = [event, mapping % (7, 7, 'before', 12)]
    for time in range(100, 300): # so many that the first ones are looked up before the last ones are read
        lines += [sample(time, 7)] + ['record FINISHED_ROUND\n'] * (time % 20 == 0)
    last = [sample(510, 7), sample(511, 7), sample(512, 8)]
    for later, wanted in ([late, fork], {'before': 200, 'after': 3}), ([fork, late], {'before': 200, 'after': 3}), ([], {'before': 202}):
        text = ''.join(lines + last + later)
        case.recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        got = {pathlib.Path(row['dso']).name: row['samples'] for row in case.rows('table', 'instructions') if row['dso']}
        expect(f'{len(later)} records too late', got, wanted)


def main():
    hermetic.settle()
    perfile, assemble, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, program, recording = folder / 'prog.c', folder / 'prog', folder / 'made.perf.data'
        source.write_text(PROGRAM)
        os.utime(source, (1e9, 1e9))
        subprocess.run([*compiler, '-g', '-O2', '-no-pie', '-fno-pie', BUILD_ID, '-o', program, source], check=True)
        here, there, outer = (int(word, 16) for word in subprocess.check_output([program], text=True).split())
        samples = [('cpu-clock', here, 10)] * 3 + [('cpu-clock', there, 25), ('task-clock', there, 7)]
        made = samples + [('cpu-clock', 0x70000010, 5)]
        text = RECORDING % {'start': load_address(program), 'path': program} + ''.join(
            SAMPLE % (1 + (event == 'task-clock'), address, 20 + i, period) for i, (event, address, period) in enumerate(made))
        recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        environment = hermetic.environment(XDG_CACHE_HOME=str(folder / 'cache'), HOME=name)
        case = Case(os.path.abspath(perfile), recording, environment, folder)
        compare_tables(case, samples, outer)
        compare_lines(case)
        compare_text(case, source)
        compare_layout(case, samples)
        check_operands(case)
        check_page(case, ['flame'])
        check_page(case, ['report'])
        check_others(case, program)
        maps = re.sub('identifier=1 ', '', ''.join(line + '\n' for line in text.splitlines() if line.startswith('record')))
        check_branches(case, assemble, here, there, maps)
        check_late(case, assemble)
    print('instructions and source lines are right')


if __name__ == '__main__':
    main()
