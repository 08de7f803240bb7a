#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What people see on a terminal: the pager, colours, the progress bar. terminal.py PERFILE ASSEMBLE

Each case runs perfile with a pseudo-terminal as its standard input, output and error, or some of them.
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import terminals

PREFIX = 'sed -u s/^/P:/'
HEAD = 'attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 name="cpu-clock"\n'
SAMPLE = 'sample ip=0x401000 pid=7 tid=7 time={} period=1\n'
SAMPLES = 30000
NAME = 'A::' + 'B<int, ' * 20 + 'x' + '>' * 20
NAMED = f'''record KSYMBOL addr=0xffffffffc0001000 len=0x100 ksym_type=1 flags=0 name="{NAME}" | pid=7 tid=7 time=1
sample misc=1 ip=0xffffffffc0001010 pid=7 tid=7 time=2 period=1
'''
COUNTS = f'''attr type=1 config=1 sample_type=IDENTIFIER ids=1 name="task-clock"
attr type=2 config=9 sample_type=IDENTIFIER ids=2 name="{NAME}"
feature EVENT_DESC
record THREAD_MAP nr=1 entries=7:"prog"
record CPU_MAP map=u16:0,u16:1,u16:65535
record STAT_CONFIG nr=1 data=0:1
record STAT id=1 cpu=4294967295 thread=0 val=2000000000 ena=2000000000 run=2000000000
record STAT id=2 cpu=4294967295 thread=0 val=3000000000 ena=2000000000 run=1000000000
record STAT_ROUND round_type=1 time=1000000000
'''
TIMEOUT_SECONDS = 60
ENTRY = re.compile(r'\r(\w+) (?:\[([# ]*)\] )?(?: *(\d+)%|\S+ [KMGT]?i?B)  \S+ [KMGT]?i?B/s(  \d+:\d\d.*)?\x1b\[K')

failures = []


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}: {detail!r}')


class Terminal:
    """Runs commands with a terminal of their own, which is their session's."""

    def __init__(self, perfile, folder):
        self.perfile, self.folder = str(perfile), folder
        self.base = hermetic.environment(PATH='/usr/bin:/bin', HOME=str(folder), TERM='xterm')
        self.wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()

    def start(self, *arguments, columns=80, lines=24, output=None, error=None, source=None, **environment):
        if 'report' in arguments and not source: # its interactive view has a test of its own
            source = subprocess.DEVNULL
        control, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        process = subprocess.Popen([*self.wrapper, self.perfile, *map(str, arguments)], cwd=self.folder,
                                   env={**self.base, **environment}, stdin=source or slave, stdout=output or slave,
                                   stderr=error or slave, preexec_fn=own_terminal, close_fds=True)
        os.close(slave)
        return process, control

    def run(self, *arguments, **rest):
        """(exit status, what stood on the terminal, without the bar that slow machines show); messages are on one line"""
        process, control = self.start(*arguments, **rest)
        status, text = finish(process, control)
        text = without_bar(text)
        return status, re.sub(r'^(?:\x1b\[1;3\dm)?perfile:.*(?:\n  \S.*)+', lambda message: message[0].replace('\n  ', ' '), text, flags=re.MULTILINE)


def finish(process, control, reaction=None):
    """Reads until the end; `reaction` is (text to wait for, what to call then)."""
    seen = b''
    try:
        for piece in terminals.pieces(control, TIMEOUT_SECONDS):
            seen += piece
            if reaction and reaction[0] in seen:
                reaction[1]()
                reaction = None
    except TimeoutError:
        process.kill()
        return 'timeout', seen.decode('utf-8', 'replace')
    os.close(control)
    return process.wait(TIMEOUT_SECONDS), seen.decode('utf-8', 'replace').replace('\r\n', '\n')


def without_bar(text):
    return re.sub(r'\r[^\r\x1b]*\x1b\[K', '', text)


def lines_are_paged(text):
    return bool(text) and all(line.startswith('P:') for line in text.splitlines())


def test_pages(t):
    for arguments in (['report', 'good'], ['script', 'good'], ['dump', 'good'], ['info', 'good'], ['check', 'good'],
                      ['help', 'script'], ['flame', '--help'], ['--pager', 'flame', '--format', 'folded', 'good'],
                      ['flame', '--paginate', '--format', 'folded', 'good']):
        status, text = t.run(*arguments, PERFILE_PAGER=PREFIX)
        expect(f'paged {arguments}', status == 0 and lines_are_paged(text), text[:200])
    for arguments in (['--no-pager', 'script', 'good'], ['script', 'good', '--no-pager'], ['completion', 'bash'],
                      ['flame', '--format', 'folded', 'good'], ['--help'], ['--version']):
        status, text = t.run(*arguments, PERFILE_PAGER=PREFIX)
        expect(f'not paged {arguments}', status == 0 and text and 'P:' not in text, text[:200])
    plain = t.run('--no-pager', 'script', 'good')
    for name, environment in {'dumb': {'TERM': 'dumb', 'PAGER': PREFIX}, 'empty': {'PAGER': ''},
                              'cat': {'PAGER': 'cat'}, 'ours empty': {'PERFILE_PAGER': '', 'PAGER': PREFIX}}.items():
        expect(f'no pager: {name}', t.run('script', 'good', **environment) == plain)
    status, text = t.run('script', '-o', 'written', 'good', PERFILE_PAGER=PREFIX)
    expect('a file is not paged', (status, text) == (0, '') and b'P:' not in (t.folder / 'written').read_bytes(), text)
    status, text = t.run('script', 'good', PERFILE_PAGER=PREFIX, PAGER='false')
    expect('our variable goes first', lines_are_paged(text), text)


def test_report_fits(t):
    for columns in 60, 100:
        for environment in {}, {'COLUMNS': str(columns)}:
            shown = t.run('--no-pager', 'report', '--color', 'never', 'named', columns=columns if not environment else 200, **environment)
            lines = shown[1].splitlines()
            expect(f'report fits into {columns} {environment}', shown[0] == 0 and '<...>' in shown[1] and
                   columns // 3 < max(map(len, lines)) <= columns, shown)
    _, wide = t.run('--no-pager', 'report', '-w', '0', 'named')
    expect('chosen widths are kept', NAME in wide, wide)
    status, _ = t.run('report', '-o', 'written', 'named')
    expect('names in files are whole', status == 0 and NAME in (t.folder / 'written').read_text())


def test_messages_fit(t):
    """They go on below, after punctuation where that is possible; in a pipe each is one line."""
    for columns in 40, 80:
        process, control = t.start('index', 'stream', 'a-recording-with-a-name-that-is-wider-than-forty', columns=columns)
        _, text = finish(process, control)
        expect(f'messages fit into {columns}', '\n  ' in text and all(len(re.sub('\x1b[^m]*m', '', line)) <= max(columns, 52) for line in text.splitlines()), text)


def test_counts_fit(t):
    """One event on a line, whatever its name is; in a pipe the layout is perf's."""
    for columns, more in (80, []), (100, ['--per-thread']):
        status, text = t.run('--no-pager', 'stat', 'report', *more, 'counts', columns=columns)
        lines = [line for line in text.splitlines() if 'CPUs utilized' in line or '(50.00%)' in line]
        expect(f'counts fit into {columns}', status == 0 and len(lines) == 2 and max(map(len, lines)) <= columns and
               '...' in text, text)
    expect('commas', ' 6,000,000,000 ' in text and '2,000,000,000 ' in text and
           ' 6000000000 ' in t.run('--no-pager', 'stat', 'report', '--no-big-num', 'counts')[1], text)
    with open(t.folder / 'piped', 'w') as output:
        t.run('stat', 'report', 'counts', output=output)
    text = (t.folder / 'piped').read_text()
    expect('counts in a pipe', f'{6000000000:18}      {NAME} # ' in text, text)


def test_status(t):
    status, text = t.run('check', 'bad', PERFILE_PAGER=PREFIX)
    expect('findings are status 1 behind a pager', status == 1 and lines_are_paged(text), (status, text))
    status, text = t.run('script', 'longbad', '--color=never', PERFILE_PAGER=PREFIX)
    before, shown, after = re.fullmatch(r'((?:perfile:.*\n)*)((?:P:.*\n)*)((?:perfile:.*\n)*)', text).groups()
    expect('messages stand around what is paged', status == 1 and 'data-cut' in before and 'damaged in' in after and
           len(shown.splitlines()) == SAMPLES - 1, (status, before, after))
    status, text = t.run('script', 'long', PERFILE_PAGER='head -n 2')
    expect('leaving early is no error', status == 0 and len(text.splitlines()) == 2, (status, text[-300:]))


def test_missing_pager(t):
    status, text = t.run('info', 'good', PAGER='no-such-pager -x', NO_COLOR='1')
    expect('a chosen pager that is missing', status == 0 and
           text.startswith('perfile: the pager "no-such-pager -x" cannot be started: No such') and 'cpu-clock' in text,
           (status, text))
    empty = t.folder / 'empty'
    empty.mkdir()
    expect('without less', t.run('info', 'good', PATH=str(empty)) == t.run('--no-pager', 'info', 'good'))
    status, text = t.run('info', 'good', PAGER='exec no-such-pager $HOME', NO_COLOR='1')
    expect('a shell that finds no pager', status == 4 and 'perfile: the pager could not be run' in text, (status, text))


def test_environment(t):
    for supplied, wanted in ({}, 'LESS=FRSX'), ({'LESS': '-i'}, 'LESS=-R -i'):
        status, text = t.run('info', 'good', PAGER='env', **supplied)
        expect(f'{supplied} becomes {wanted}', status == 0 and wanted in text.splitlines() and 'LV=-c' in text, text)
    if shutil.which('less', path='/usr/bin:/bin'):
        status, text = t.run('--pager', 'evlist', 'good', columns=120)
        expect('less ends at once where all fits', status == 0 and 'cpu-clock' in text, text)


def test_colors(t):
    for verb, word in ('check', '\x1b[31mdamaged\x1b[m'), ('info', '\x1b[31m'), ('report', '\x1b[31m'):
        status, text = t.run(verb, 'bad', PERFILE_PAGER=PREFIX)
        expect(f'{verb}: colours in the pager', word in text, text)
        for name, environment in ('NO_COLOR', {'NO_COLOR': '1'}), ('dumb', {'TERM': 'dumb'}):
            status, text = t.run(verb, 'bad', PERFILE_PAGER='', **environment)
            expect(f'{verb}: no colours with {name}', text and '\x1b' not in text, text)
        status, text = t.run(verb, 'bad', '--no-pager', '--color=never')
        expect(f'{verb}: never', text and '\x1b' not in text, text)
        status, text = t.run('--color', 'always', verb, 'bad', NO_COLOR='1', TERM='dumb')
        expect(f'{verb}: always', word in text, text)
        status, text = t.run('info', 'missing')
        expect('messages are coloured', text.startswith('\x1b[1;31mperfile:\x1b[0m '), text)


def test_interrupt(t):
    """Ctrl-C is for the pager while there is one; another end of ours leaves it the terminal."""
    pager = t.folder / 'pager'

    def run(code, arguments, action, **rest):
        pager.write_text('#!/bin/sh\n' + code)
        pager.chmod(0o755)
        process, control = t.start(*arguments, PAGER=str(pager), **rest)
        return finish(process, control, (b'ready', lambda: action(process, control)))

    def press(process, control):
        os.write(control, b'\x03')

    def press_without_pager(process, control):
        """Ends the pager when the command waits for more to read, and presses until the command has noticed that."""
        since, before = time.monotonic(), None
        while time.monotonic() < since + 1 and process.poll() is None:
            state = is_waiting(process), (t.folder / 'got').stat().st_size
            if state != before or not all(state):
                since, before = time.monotonic(), state
            time.sleep(0.02)
        (t.folder / 'over').touch()
        while process.poll() is None:
            os.write(control, b'\x03')
            time.sleep(0.1)

    def is_waiting(process):
        """For its standard input, which is empty."""
        rest = fcntl.ioctl(endless.stdout, termios.FIONREAD, bytes(4))
        status = pathlib.Path(f'/proc/{process.pid}/stat').read_text()
        return not any(rest) and status.rpartition(')')[2].split()[0] == 'S'

    until_pressed = 'echo ready\nuntil [ "$pressed" ]; do sleep 0.1; done\n'
    reads = f'trap pressed=yes INT\ncat >got\n{until_pressed}echo left\n'
    status, text = run(reads, ['check', 'bad'], press)
    expect('Ctrl-C when all is said', status == 1 and 'left' in text, (status, text))
    waits = f'trap pressed=yes INT\n{until_pressed}cat >got\necho left\n'
    status, text = run(waits, ['dump', 'long'], press)
    expect('Ctrl-C while we work', status == 0 and 'left' in text and (t.folder / 'got').stat().st_size > 1000000,
           (status, text))
    status, text = run('echo ready\nsleep 0.7\necho left\n', ['dump', 'long'], lambda process, _: process.terminate())
    expect('an end from outside', status == -signal.SIGTERM and 'left' in text, (status, text))
    with subprocess.Popen(['sh', '-c', 'cat stream; exec sleep 600'], cwd=t.folder, stdout=subprocess.PIPE) as endless:
        ends = 'exec 3<&0\n: >got\ncat <&3 >>got &\necho ready\nuntil [ -e over ]; do sleep 0.1; done\nkill $!\n'
        status, text = run(ends, ['dump', '-'], press_without_pager, source=endless.stdout)
        endless.kill()
    expect('Ctrl-C when the pager is gone', status == -signal.SIGINT, (status, text))


def slow_readers(t, *cases):
    """(exit status, terminal, output) of each command. All are read after a while: the work takes long enough for a bar."""
    began = []
    for arguments, rest in cases:
        mine, theirs = os.pipe()
        began.append((mine, *t.start(*arguments, output=theirs, **rest)))
        os.close(theirs)
    for mine, _, _ in began:
        select.select([mine], [], [], TIMEOUT_SECONDS)
    time.sleep(0.8)
    for mine, process, control in began:
        with open(mine, 'rb') as output:
            text = output.read()
        yield (*finish(process, control), text)


def test_progress(t):
    columns = 40, 20, 5
    silent = [('quiet', ['-q', 'dump', 'long'], {}), ('dumb', ['dump', 'long'], {'TERM': 'dumb'}),
              ('pipe', ['dump', 'long'], {'error': subprocess.DEVNULL})]
    results = slow_readers(t, (['dump', 'long'], {}), (['dump', 'longbad'], {}),
                           *((['dump', 'long'], {'columns': most}) for most in columns),
                           *((arguments, rest) for _, arguments, rest in silent))
    status, text, output = next(results)
    drawn = ENTRY.findall(text)
    expect('a bar', status == 0 and drawn and drawn[0][0] == 'dump' and len(drawn[0][1]) == 40 and drawn[0][2],
           (status, text))
    expect('the bar is removed', text.endswith('\r\x1b[K') and '\n' not in text, text)
    expect('no bar in the output', output.count(b'\x1b') == 0 and len(output) > 1000000)
    status, text, output = next(results)
    expect('the bar makes room for messages', re.search(r'\r\x1b\[K\x1b\[1;31mperfile:', text), text)
    for most in columns:
        status, text, output = next(results)
        widest = max((len(line) for line in re.findall(r'\r([^\r\x1b]*)\x1b\[K', text)), default=0)
        expect(f'a bar of {most} columns', status == 0 and 0 < widest < most, text)
    for (name, _, _), (status, text, output) in zip(silent, results):
        expect(f'no bar: {name}', (status, text) == (0, '') and len(output) > 1000000, text)


def test_progress_of_a_stream(t):
    with open(t.folder / 'stream', 'rb') as source:
        data = source.read()
    mine, theirs = os.pipe()
    process, control = t.start('dump', '-', '-o', 'written', source=mine)
    os.close(mine)
    os.write(theirs, data[:1000])
    while fcntl.ioctl(theirs, termios.FIONREAD, bytes(4)) != bytes(4) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(1.5)
    with open(theirs, 'wb') as rest:
        rest.write(data[1000:])
    status, text = finish(process, control)
    drawn = ENTRY.findall(text)
    expect('bytes so far of a stream', status == 0 and drawn and drawn[0][1:3] == ('', '') and drawn[0][3], text)


def test_files(t):
    status, text = t.run('good')
    expect('a file is no verb', status == 2 and 'good is a file, not a verb; did you mean: perfile report good?' in text, text)


def test_recordings_are_not_shown(t):
    for arguments in (['convert', 'good'], ['cut', 'good'], ['repair', 'good'], ['anonymize', 'good'],
                      ['inject', '-b', 'good'], ['merge', 'good', 'long']):
        status, text = t.run(*arguments, '-o', '-', NO_COLOR='1')
        expect(f'{arguments[0]} to a terminal', status == 2 and text.count('\n') == 1 and
               text.startswith(f'perfile: {arguments[0]}: refusing to write a recording to a terminal'), (status, text[:200]))


def test_files_of_columns_are_not_shown(t):
    for form in ('parquet', 'arrow'):
        for verb in (['table', 'samples'], ['script'], ['report']):
            status, text = t.run(*verb, '--format', form, 'good', PERFILE_PAGER=PREFIX)
            expect(f'{verb} {form} on a terminal', status == 2 and f'{verb[0]}: refusing to write {form} to a terminal' in text,
                   (status, text[:200]))
            status, text = t.run(*verb, '--format', form, '-o', 'written', 'good')
            expect(f'{verb} {form} in a file', (status, text) == (0, ''), (status, text[:200]))


def test_reports_of_columns_are_refused_first(t):
    """Nothing is written before that."""
    for form in ('parquet', 'arrow'):
        for arguments in (['convert', 'good'], ['cut', 'good'], ['repair', 'good'], ['anonymize', 'good'], ['inject', '-b', 'good'],
                          ['merge', 'good', 'long'], ['cut', '--split', 'pid', 'good']):
            status, text = t.run(*arguments, '--format', form, '-o', 'edited-%', NO_COLOR='1')
            wanted = f'perfile: {arguments[0]}: refusing to write the report as {form} to a terminal; redirect it\n'
            expect(f'{arguments} {form} on a terminal', (status, text) == (2, wanted) and not list(t.folder.glob('edited-*')),
                   (status, text[:200]))
    with open(t.folder / 'written', 'wb') as error:
        status, text = t.run('repair', 'good', '--format', 'arrow', '-o', 'edited', output=error)
    expect('a report in a file', (status, text) == (0, '') and (t.folder / 'written').read_bytes()[:6] == b'ARROW1', (status, text))


def test_pictures_are_written(t):
    for form in 'svg', 'html':
        path = t.folder / f'flame.{form}'
        status, text = t.run('flame', '--format', form, 'good', NO_COLOR='1')
        expect(f'{form} goes to a file', (status, text) == (0, f'perfile: flame.{form} is written\n'), text[:200])
        first = path.read_bytes()
        with open(t.folder / 'redirected', 'w+b') as to:
            status, text = t.run('flame', '--format', form, 'good', output=to)
            to.seek(0)
            expect(f'{form} is redirected', (status, text, to.read()) == (0, '', first), text[:200])
        path.write_text('mine')
        status, text = t.run('-q', 'flame', '--format', form, 'good')
        old = t.folder / f'flame.{form}.old'
        expect(f'{form}: the old file has another name', (status, text, path.read_bytes(), old.read_text()) ==
               (0, '', first, 'mine'), text[:200])
        status, text = t.run('flame', '--format', form, '-o', 'named', 'good')
        status, text = t.run('flame', '--format', form, '-o', 'named', 'good')
        expect(f'{form}: a named file is replaced', status == 0 and text == '' and not (t.folder / 'named.old').exists(), text)
    status, text = t.run('flame', 'nothing')
    expect('no recording, no picture', status == 3 and (t.folder / 'flame.svg').read_bytes().startswith(b'<?xml'), text)


def test_open(t):
    programs, shown = t.folder / 'bin', t.folder / 'shown'
    programs.mkdir()
    for name in 'browser', 'kcachegrind':
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" > {shown}\n')
        (programs / name).chmod(0o755)
    page, path = t.folder / 'flame.svg', f'{programs}:/usr/bin:/bin'

    def outcome(*arguments, **environment):
        shown.unlink(missing_ok=True)
        status, text = t.run(*arguments, PATH=path, NO_COLOR='1', **environment)
        if environment.get('DISPLAY'):
            hermetic.wait_until(lambda: shown.exists() and shown.read_text())
        return status, text, shown.read_text() if shown.exists() else None

    written = 'perfile: flame.svg is written\n'
    for browser, rest in {'browser': '', f'missing::{programs}/browser --new': '--new ', 'browser --at=%s': '--at='}.items():
        for display in '', ':7':
            got = outcome('flame', '--open', 'good', BROWSER=browser, DISPLAY=display)
            expect(f'open: {browser} {display}', got == (0, written, f'browser {rest}{page}\n'), got)
    got = outcome('flame', '--open', '-o', 'named.svg', 'good', BROWSER='browser')
    expect('open: a named file', got == (0, '', f'browser {t.folder}/named.svg\n'), got)
    for browser, why in {'false': 'exit status 1', 'missing': 'No such file or directory'}.items():
        got = outcome('flame', '--open', 'good', BROWSER=browser)
        expect(f'open: {browser}', got == (0, f'perfile: flame.svg is not opened ({browser}: {why}): open it in a browser\n' +
                                           written, None), got)
    for arguments, status in {('flame', '--open', 'nothing'): 3, ('flame', '--open', '--format', 'folded', 'good'): 2,
                              ('export', '--open', '--format', 'callgrind', 'good'): 2,
                              ('export', '--open', '--format', 'folded', '-o', 'x', 'good'): 2}.items():
        got = outcome(*arguments, BROWSER='browser')
        expect(f'not opened: {arguments}', got[0] == status and got[2] is None, got)
    got = outcome('export', '-q', '--open', '--format', 'callgrind', '-o', 'costs', 'good')
    expect('open: KCachegrind', got[0] == 0 and got[2] == f'kcachegrind {t.folder}/costs\n', got)
    for form, page in {'firefox': 'https://profiler.firefox.com', 'chrome': 'https://ui.perfetto.dev'}.items():
        got = outcome('export', '--open', '--format', form, '-o', 'trace.json', 'good', BROWSER='browser')
        expect(f'open: {form}', got[0] == 0 and f'perfile: trace.json: load it at {page} (' in got[1] and
               got[2] == f'browser {page}\n', got)


def make_recordings(assemble, folder):
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()

    def make(name, text, *options):
        made = subprocess.run([*wrapper, assemble, *options], input=text.encode(), stdout=subprocess.PIPE, check=True)
        (folder / name).write_bytes(made.stdout)

    short = HEAD + ''.join(SAMPLE.format(10 + i) for i in range(3))
    long = HEAD + ''.join(SAMPLE.format(10 + i) for i in range(SAMPLES))
    make('good', short)
    make('bad', short, '--cut', '-20')
    make('long', long)
    make('longbad', long, '--cut', '-20')
    make('stream', long, '--pipe')
    make('named', HEAD + NAMED)
    make('counts', COUNTS)


def main():
    hermetic.settle()
    perfile, assemble = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    with hermetic.plain_folder() as name:  # pagers are words of a shell
        folder = pathlib.Path(name)
        make_recordings(assemble, folder)
        t = Terminal(perfile, folder)
        for test in (test_pages, test_report_fits, test_messages_fit, test_counts_fit, test_status, test_missing_pager, test_environment, test_colors, test_interrupt,
                     test_progress, test_progress_of_a_stream, test_files, test_recordings_are_not_shown,
                     test_files_of_columns_are_not_shown, test_reports_of_columns_are_refused_first, test_pictures_are_written, test_open):
            test(t)
    sys.exit(f'{len(failures)} facts are wrong' if failures else 0)


if __name__ == '__main__':
    main()
