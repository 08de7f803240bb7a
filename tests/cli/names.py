#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that a terminal would obey, or that forge a line: names.py PERFILE ASSEMBLE

A recording whose names all hold escape sequences, line ends and characters that reorder text goes through every verb and
format, into pipes and onto a terminal. Nothing of that may come out but through `script` into a pipe, whose bytes are
perf's.
"""
import csv
import io
import itertools
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'exports'))
import hermetic, terminals
import protobuf
import served

# ESC, BEL, CR, LF, TAB, DEL, C1 as UTF-8 and as a bare byte, bytes that are not UTF-8, U+2028, U+202E, U+2066
RAW = b'\x1b[2J\x1b]0;t\x07\r\nFORGED\t\x7f\xc2\x9b31m\x9b\xff\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6'
FINE = 'ä☃"'
SHOWN = (r'\x1b[2J\x1b]0;t\x07\x0d\x0aFORGED\x09\x7f\xc2\x9b31m\x9b\xff\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6')
BAD = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffd]|^FORGED', re.MULTILINE)
VERBS_AND_OUTPUTS = {'check': 'text json', 'dump': 'text json', 'info': 'text json', 'report': 'text csv json',
                     'annotate': 'text stdio html json csv', 'flame': 'folded svg html', 'export': 'folded pprof otlp speedscope callgrind firefox chrome', 'script': ''}
# of the formats of export that are protocol buffers, all of whose texts are in tables: the fields down to these
TEXTS = {'pprof': {6: 'text'}, 'otlp': {1: {1: {1: {1: 'text', 2: {1: 'text'}}}}, 2: {5: 'text', 6: {2: {1: 'text'}}}}}
FIELDS = ('comm,tid,pid,time,cpu,event,trace,ip,sym,symoff,dso,dsoff,addr,cgroup,period', 'comm,ip,srcline,insn,brstack',
          'comm,ip,brstacksym,brstackoff,brstackinsn,uregs,srccode,tod,flags')
# Verbs whose rows come from certain events: a recording of tests/data, whose threads get other names
EVENTS = {
    'sched-tiny1': ['sched timehist', 'sched timehist --stdio -w -n', 'sched timehist --stdio -M', 'sched latency', 'sched map',
                    'sched map --stdio', 'sched summary', 'sched cpu', 'offcpu', 'offcpu wakers', 'flame --off-cpu --format folded'],
    'lock': ['lock contention', 'lock contention -t', 'lock contention --stdio -t'],
    'trace-raw': ['trace', 'trace --stdio', 'trace -s', 'trace summary'],
    'kvm-svm': ['kvm stat', 'kvm stat --stdio', 'timechart -o -'], 'schedstat': ['sched stats', 'sched stats --stdio'],
    'kwork': ['kwork report', 'kwork timehist', 'kwork timehist --stdio'], 'kmem-slab': ['kmem stat', 'kmem stat --stdio'],
    'mem-made': ['mem report', 'c2c report', 'c2c report --stdio'], 'stat': ['stat report'],
}
TABLES = ['text', 'csv', 'json', 'jsonl']
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
SHOW = [f'--show-{what}-events' for what in 'task mmap namespace lost round bpf cgroup'.split()]

failures = []


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}: {detail!r}')


def quoted(text):
    return '"' + ''.join(f'\\x{byte:02x}' for byte in text) + '"'


def evil(name):
    return name.encode() + RAW + FINE.encode()


def name_of(kind):
    return quoted(evil(kind))


def tracing_data():
    """The print format says what it likes, and what a field holds is a name, too."""
    form = (b'name: odd\nID: 315\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n'
            b'\tfield:char comm[64];\toffset:8;\tsize:64;\tsigned:0;\n\n'
            b'print fmt: "\\033[31m\\n\x1b[2JFORGED\\nFORGED %s", REC->comm\n')
    page = b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
    return (b'\x17\x08\x44tracing0.6\0\0\x08' + struct.pack('<I', 4096) +
            b'header_page\0' + struct.pack('<Q', len(page)) + page + b'header_event\0' + struct.pack('<Q', 2) + b'x\n' +
            struct.pack('<II', 0, 1) + b'odd\0' + struct.pack('<IQ', 1, len(form)) + form + struct.pack('<IIQ', 0, 0, 0))


def description():
    head = 'sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN|CGROUP sample_id_all=1'
    trailer = '| pid=7 tid=7 time={} cpu=0'
    raw = struct.pack('<HHI', 315, 0, 0) + evil('field')[:63].ljust(64, b'\0') + bytes(4)
    lines = [f'attr type=1 config=0 {head} ids=1 name={name_of("event")}',
             f'attr type=2 config=315 sample_type=IP|TID|TIME|CPU|PERIOD|RAW sample_id_all=1 ids=2 name={name_of("trace")}',
             *(f'feature {name} s:{name_of(name)}' for name in
               ('HOSTNAME', 'OSRELEASE', 'VERSION', 'ARCH', 'CPUDESC', 'CPUID')),
             f'feature CMDLINE u32:2,s:"perf",s:{name_of("word")}', 'feature EVENT_DESC',
             f'feature BUILD_ID u32:0,u16:0x8002,u16:44,u32:-1,hex:{"ab" * 20},u8:20,zeros:3,z:{name_of("/dso")},u8:0',
             f'feature TRACING_DATA hex:{tracing_data().hex()}',
             f'record COMM pid=7 tid=7 comm={name_of("c")} {trailer.format(1)}',
             f'record COMM pid=7 tid=8 comm={quoted(RAW[:4])} {trailer.format(1)}',
             f'record COMM pid=9 tid=9 comm={name_of("longer-than-a-kernel-makes-it")} {trailer.format(1)}',
             f'record CGROUP id=99 path={name_of("/cgroup")} {trailer.format(1)}',
             f'record KSYMBOL addr=0xffffffffc0001000 len=0x100 ksym_type=1 flags=0 name={name_of("ksymbol")} '
             + trailer.format(1),
             f'record MMAP misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename={name_of("/dso")} '
             + trailer.format(2),
             f'record MMAP2 misc=2 pid=9 tid=9 addr=0x400000 len=0x1000 prot=5 flags=2 filename={name_of("/other")} '
             + trailer.format(2), 'round']
    for i, (pid, tid) in enumerate(((7, 7), (7, 8), (9, 9), (7, 7))):
        lines.append(f'sample misc=2 ip=0x400010 pid={pid} tid={tid} time={10 + i} cpu=0 period=1 '
                     f'callchain=3,-512,0x400010,0x400020 cgroup=99')
        lines.append(f'sample misc=1 ip=0xffffffffc0001010 pid={pid} tid={tid} time={10 + i} cpu=0 period=1 '
                     f'callchain=2,-128,0xffffffffc0001010 cgroup=99')
        lines.append(f'sample event=1 misc=2 ip=0x400010 pid={pid} tid={tid} time={20 + i} cpu=0 period=1 '
                     f'raw=u32:{len(raw)},hex:{raw.hex()}')
    return '\n'.join(lines) + '\n'


def renamed(data, names):
    """The recording with other names of its threads, in records and in what tracepoints kept, which have 8 or 16 bytes."""
    for name in sorted(filter(None, names), key=len, reverse=True):
        for capacity in 16, 8:
            if len(name) < capacity:
                other = (name[:1] + RAW[:4] + b'\nFORGED')[:capacity - 1].ljust(capacity, b'\0')
                data = re.sub(rb'(?<![\w/.:-])' + re.escape(name.ljust(capacity, b'\0')), lambda _: other, data)
    return data


class Runner:
    def __init__(self, perfile, folder):
        wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
        self.command, self.folder = [*wrapper, perfile], folder
        self.environment = {**os.environ, 'HOME': str(folder), 'TERM': 'xterm', 'PERFILE_PAGER': '', 'NO_COLOR': '1',
                            'XDG_CACHE_HOME': str(folder)}

    def piped(self, *arguments):
        run = served.run([*self.command, *arguments], cwd=self.folder, env=self.environment)
        return run.stdout, run.stderr

    def on_terminal(self, *arguments):
        """What stands there: the terminal itself makes CR LF of LF."""
        server = served.server_of(self.command[0], environment=self.environment, folder=self.folder, kind='terminal')
        if server:
            return terminals.without_bar(server.run(arguments)[2]).replace(b'\r\n', b'\n')
        control, slave = pty.openpty()
        run = subprocess.Popen([*self.command, *arguments], cwd=self.folder, env=self.environment,
                               stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        text = b''
        try:
            while piece := os.read(control, 65536):
                text += piece
        except OSError:
            pass
        os.close(control)
        run.wait(60)
        return terminals.without_bar(text).replace(b'\r\n', b'\n')


def texts_of(data, wanted):
    """The texts of a message, a line each."""
    for field, wire, value in protobuf.fields(data):
        if isinstance(wanted.get(field), dict):
            yield from texts_of(value, wanted[field])
        elif field in wanted and wire == 2:
            yield value + b'\n'


def check(name, text, allowed=''):
    shown = re.sub(allowed, '', text.decode('utf-8', 'replace')) if allowed else text.decode('utf-8', 'replace')
    found = BAD.search(shown) or re.search('Sanitizer|runtime error:', shown)
    expect(name, not found, found and shown[max(0, found.start() - 40):found.end() + 20])
    return shown


def outputs(runner):
    """Arguments of everything that prints the recording."""
    verbs = json.loads(runner.piped('help', '--json')[0])['verbs']
    options = {option['name']: option for option in next(v for v in verbs if v['name'] == 'report')['options']}
    columns = [value['value'] for value in options['--sort']['values']]
    for verb, formats in VERBS_AND_OUTPUTS.items():
        for form in formats.split() or ['']:
            chosen = ['--format', form] if form else []
            yield [verb, *chosen, 'names']
            yield [verb, *chosen, 'damaged']
            if verb == 'report':
                for sort in ('comm,dso,symbol', 'cgroup,trace', 'pid,tid,comm,srcline,parent', *columns):
                    yield [verb, *chosen, '--sort', sort, 'names']
                yield [verb, *chosen, '--hierarchy', '--sort', 'comm,dso,sym', 'names']
                yield [verb, *chosen, '-g', 'caller', '--tasks', 'names']
                yield [verb, *chosen, '-t', ';', 'names']
                yield [verb, *chosen, '--comms', RAW[:4], '--dsos', RAW[:3] + b'x', 'names']
            if verb == 'annotate':
                yield [verb, *chosen, '--percent-limit', '0', '--top', '99', '-l', '--asm-raw', 'names']
            if verb == 'flame':
                yield [verb, *chosen, '--event', evil('trace'), '--by', 'tid', 'names']
                yield [verb, *chosen, '--title', RAW, 'names']
    yield from others(runner)
    for fields in FIELDS:
        yield ['script', '-F', fields, *SHOW, 'names']
        yield ['script', '-j', '1', '-F', 'trace:comm,trace,event', '-F', 'sw:' + fields, *SHOW, 'names']


def others(runner):
    """The verbs that show tables, and those of perf's words."""
    views = [view['name'] for view in json.loads(runner.piped('help', '--json')[0])['views']]
    for form in TABLES:
        for view in views:
            yield from (['table', view, '--columns', 'all', '--format', form, file] for file in ('names', 'damaged'))
        yield ['query', '--format', form, 'select comm as "' + os.fsdecode(RAW) + '", * from samples', 'names']
        yield ['buildid-list', '--format', form, 'names']
    for form in *TABLES, 'junit', 'github', 'folded', 'html':
        yield from (['diff', '--format', form, *more, 'names', 'other'] for more in ([], ['--all', '--sort', 'comm,dso,sym']))
    yield ['diff', '--tree', 'names', 'other']
    for recording, commands in EVENTS.items():
        (runner.folder / recording).write_bytes(renamed((DATA / f'{recording}.perf.data').read_bytes(), set(
            runner.piped('table', 'threads', '--columns', 'comm', '--format', 'csv', DATA / f'{recording}.perf.data')[0].splitlines())))
        for command in commands:
            yield [*command.split(), recording]
            if '--' not in command:
                yield from ([*command.split(), '--format', form, recording] for form in TABLES)
    for options in [], ['-v'], ['-F'], ['-g'], ['--trace-fields']:
        yield ['evlist', *options, 'names']
    for arguments in (['buildid-list', '-H', 'names'], ['bundle', '-v', '-o', 'bundle', 'names'], ['bundle', '--list', 'bundle'],
                      ['archive', '-v', '-o', 'archive', 'names'], ['index', '-v', '-o', 'index', 'names'],
                      ['data', 'convert', '--force', '--to-json', '/dev/stdout', 'names'],
                      ['pgo', '--format', 'autofdo', '-o', 'optimiser', 'names'],
                      ['export', '--format', 'parquet', '--partition', 'host', '-o', 'dataset', 'names'], ['dataset', 'stats', 'dataset']):
        yield arguments


def edits():
    """Arguments of what makes recordings, and says what it did."""
    for verb, options in (('repair', []), ('convert', []), ('cut', ['--comms', evil('c')]), ('anonymize', []),
                          ('inject', ['-b']), ('merge', [RAW + b'.data'])):
        for form in 'text', 'json':
            yield [verb, '-v', '--format', form, *options, 'names', '-o', 'made']
    yield ['cut', '--parts', '2', 'names', '-o', RAW + b'%d']


def mistakes():
    """The words of a user come back in messages."""
    for arguments in ([RAW], ['report', RAW], ['report', b'--' + RAW], ['report', '--format', RAW], ['script', '-F', RAW],
                      ['report', '--sort', RAW], ['script', '-e', RAW, 'names'], ['flame', '--event', RAW, 'names'],
                      ['report', '--time', RAW, 'names'], ['report', '--comms', RAW, 'names'], ['help', RAW],
                      ['record', '-e', RAW, 'true'], ['list', RAW], ['kallsyms', RAW], ['annotate', '-s', RAW, 'names'],
                      ['table', RAW, 'names'], ['sched', RAW, 'names'], ['query', RAW, 'names'], ['diff', '--sort', RAW, 'names', 'names'],
                      ['dataset', RAW, 'x'], ['bundle', RAW], ['completion', RAW], ['cut', '--cpu', RAW, 'names', '-o', 'made']):
        yield arguments


def check_formats(runner):
    """What programs read says the same as before, and is what its format asks for."""
    rows = json.loads(runner.piped('report', '--format', 'json', '--sort', 'comm', 'names')[0])
    comm = [column['name'] for column in rows['columns']].index('comm')
    names = {row[comm] for row in rows['rows']}
    expect('json: the name', any(name.startswith('c\x1b[2J') and '\x9b31m' in name and name.endswith(FINE)
                                 for name in names), names)
    text = runner.piped('report', '--format', 'csv', '--sort', 'comm,dso', 'names')[0].decode('utf-8', 'replace')
    table = list(csv.reader(io.StringIO(text)))
    expect('csv: as many fields in every row', len({len(row) for row in table}) == 1 and len(table) > 3, text)
    expect('csv: the name', any('c' + SHOWN + FINE in row for row in table), text)
    text = runner.piped('report', '--sort', 'comm', 'names')[0].decode('utf-8', 'replace')
    expect('report: ordinary UTF-8 stays', 'c' + SHOWN + FINE in text, text)
    text = runner.on_terminal('script', '-F', 'comm,tid', 'names').decode('utf-8', 'replace')
    expect('script on a terminal: escaped', 'c' + SHOWN + FINE in text, text)


def check_script_in_pipe(runner):
    """perf prints names as they are."""
    text = runner.piped('script', '-F', 'comm,event,ip,sym,dso', *SHOW, 'names')[0]
    for kind in 'c', 'event', 'ksymbol', '/dso', '/cgroup':
        expect(f'script in a pipe: {kind} as it is', evil(kind) in text, text[:500])


def main():
    hermetic.settle()
    perfile, assemble = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError as error:
        print(f'skipped: no pseudo-terminals here: {error}')
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix='perfile-names-') as name:
        folder = pathlib.Path(name)
        for file, options in ('names', []), ('damaged', ['--cut', '-30']), (os.fsdecode(RAW + b'.data'), []):
            made = subprocess.check_output([*wrapper, assemble, *options], input=description().encode())
            (folder / file).write_bytes(made)
        runner = Runner(perfile, folder)
        check_formats(runner)
        check_script_in_pipe(runner)
        (folder / 'other').write_bytes((folder / 'names').read_bytes())
        count, verbs = 0, set()
        for arguments in itertools.chain(outputs(runner), edits(), mistakes()):
            out, error = runner.piped(*arguments)
            if arguments[0] == 'export' and arguments[2] in TEXTS:
                out = b''.join(texts_of(out, TEXTS[arguments[2]]))
                expect(f'{arguments}: the names', SHOWN.encode() in out, out)
            if arguments[0] != 'script':
                check(f'{arguments} in a pipe', out)
            check(f'{arguments}: messages', error)
            check(f'{arguments} on a terminal', runner.on_terminal(*arguments))
            count += 1
            verbs.add(arguments[0])
        reading = {verb['name'] for verb in json.loads(runner.piped('help', '--json')[0])['verbs']
                   if any(option['name'] == '--strict' for option in verb['options'])}
        expect('each verb that reads is tried', reading <= verbs, reading - verbs)
        for verb in 'info', 'check', 'report':
            check(f'{verb} in colour', runner.on_terminal('--color', 'always', verb, 'damaged'),
                  r'\x1b\[(?:[01]|(?:1;)?3\d)?m')
        print(f'{count} commands')
    sys.exit(f'{len(failures)} facts are wrong' if failures else 0)


if __name__ == '__main__':
    main()
