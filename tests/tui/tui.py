#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interactive view of report, with real keys in real terminals: tui.py PERFILE ASSEMBLE KEYS.DEF

Screens are those of tmux, which is an independent terminal. What goes to the terminal byte by byte, signals and its modes are
looked at on a pseudo-terminal.
"""
import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tmux

SECONDS = 60
CODE, METHODS, SAMPLES = 0x10000, 60, 600
KERNEL = 0xffffffff81000000
USER_CONTEXT, KERNEL_CONTEXT = 0xfffffffffffffe00, 0xffffffffffffff80
failures = []
wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}:\n{detail}', flush=True)


# ---- recordings ------------------------------------------------------------------------------------------------------

def method(number):
    return f'shop::Catalog<std::map<int, std::vector<shop::Item_{number:02}> > >::find_{number:02}(unsigned long)'


def functions():
    """(address, name) of the program: main, two that it calls, and what those call."""
    names = ['main', 'serve_orders(int)', 'print_bills(int)', *map(method, range(METHODS))]
    return [(CODE + 0x100 * i, name) for i, name in enumerate(names)]


HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN|ID sample_id_all=1 ids=1 name="cpu-clock"
attr type=1 config=2 sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN|ID sample_id_all=1 ids=2 name="page-faults"
'''
TASKS = '''record COMM pid=7 tid=7 comm="shop" | pid=7 tid=7 time=1 cpu=0 id=1
record COMM pid=7 tid=8 comm="printer" | pid=7 tid=8 time=1 cpu=0 id=1
record MMAP misc=1 pid=-1 tid=0 addr=0xffffffff81000000 len=0x1000000 pgoff=0 filename="[kernel.kallsyms]_stext" | pid=0 tid=0 time=1 cpu=0 id=1
record MMAP2 misc=2 pid=7 tid=7 addr=0x10000 len=0x100000 pgoff=0 prot=5 filename="//anon" | pid=7 tid=7 time=2 cpu=0 id=1
'''


def sample(i, event=1):
    """Methods are heavier the lower their number; a tenth of the time is spent in the kernel."""
    worker, tid = (2, 8) if i % 4 == 3 else (1, 7)
    at = CODE + 0x100 * (3 + (i * i) % 3600 // METHODS % METHODS if i % 3 else 3) + 0x10 + i % 5
    chain = [USER_CONTEXT, at, CODE + 0x100 * worker + 5, CODE + 5]
    ip, misc = at, 2
    if i % 10 == 9:
        ip, misc = KERNEL + 0x1000 + i % 7, 1
        chain = [KERNEL_CONTEXT, ip] + chain
    when = 1_000_000_000 + i * 3_000_000
    return (f'sample misc={misc} event={event - 1} id={event} ip={ip:#x} pid=7 tid={tid} time={when} cpu={i % 2} '
            f'period={1000 + i % 3} callchain={len(chain)},{",".join(map(hex, chain))}\n')


def make(assemble, text, *options):
    return subprocess.run([*wrapper, assemble, *options], input=text.encode('utf-8', 'surrogateescape'),
                          stdout=subprocess.PIPE, check=True).stdout


EVIL = ['\x1b]0;PWNED\x07', '\x1b[31mred\x1b[2J', 'reversed\u202etxt\u2066', 'c1\x9b31m', 'tab\tbell\x07', 'w\u4e16\u754cide',
        'combining' + 'e\u0301' * 30, 'long<' + 'x' * 65000 + '>::end']


def make_files(assemble, folder):
    (folder / 'tmp').mkdir()
    lines = [f'{address:x} 100 {name}\n' for address, name in functions()]
    (folder / 'tmp' / 'perf-7.map').write_text(''.join(lines))
    text = HEAD + TASKS + ''.join(sample(i) for i in range(SAMPLES)) + ''.join(sample(i, 2) for i in range(0, SAMPLES, 10))
    (folder / 'made').write_bytes(make(assemble, text))
    broken = ''.join(f'sample misc=2 id=1 ip={CODE + 0x310:#x} pid=7 tid=7 time={10**9 + i} cpu=0 period=5 '
                     f'callchain=3,{USER_CONTEXT:#x},{CODE + 0x310:#x},{0x7000 + 16 * i:#x}\n' for i in range(200))
    (folder / 'broken').write_bytes(make(assemble, HEAD + TASKS + broken))
    ended = (f'sample misc=2 id=1 ip={CODE + 0x310:#x} pid=7 tid=8 time=1000 cpu=0 period=5 callchain=0\n'
             'record EXIT pid=7 tid=8 ppid=1 ptid=1 time=1001 | pid=7 tid=8 time=1001 cpu=0 id=1\n'
             f'sample misc=2 id=1 ip={CODE + 0x310:#x} pid=7 tid=8 time=1002 cpu=0 period=5 callchain=0\n')
    (folder / 'ended').write_bytes(make(assemble, HEAD + TASKS + ended))
    (folder / 'cut').write_bytes((folder / 'made').read_bytes()[:30000])
    for name, data in ('events', 'trace-raw'), ('counts', 'stat'):
        shutil.copy(pathlib.Path(__file__).resolve().parent.parent / 'data' / f'{data}.perf.data', folder / name)
    many = ''.join(f'sample misc=2 id=1 ip={CODE + 0x310:#x} pid=7 tid={1000 + i} time={10**9 + i} cpu=0 period=5 '
                   f'callchain=3,{USER_CONTEXT:#x},{CODE + 0x310:#x},{CODE + 16 * i % 0x80000:#x}\n' for i in range(7000))
    (folder / 'many').write_bytes(make(assemble, HEAD + TASKS + many))
    evil = folder / 'evil'
    (evil / 'tmp').mkdir(parents=True)
    with open(evil / 'tmp' / 'perf-7.map', 'wb') as file:
        for i, name in enumerate(EVIL):
            file.write(f'{CODE + 0x100 * i:x} 100 '.encode() + name.encode('utf-8', 'surrogateescape') + b'\n')
        file.write(f'{CODE + 0x100 * len(EVIL):x} 100 '.encode() + b'bad \xff\xfe\x9b utf-8\n')
    chains = ''.join(f'sample misc=2 id=1 ip={CODE + 0x100 * i:#x} pid=7 tid=7 time={10**9 + i} cpu=0 period=5 '
                     f'callchain=3,{USER_CONTEXT:#x},{CODE + 0x100 * i:#x},{CODE + 0x100 * (i + 1) % 0x800:#x}\n'
                     for i in range(len(EVIL) + 1))
    # the names of a thread and of a file are hostile, too: patched in, as descriptions are text
    text = HEAD.splitlines()[0] + '\n' + TASKS.replace('"shop"', '"EVILCOMM1"').replace('"//anon"', '"//anon"')
    text += ('record MMAP2 misc=2 pid=7 tid=7 addr=0x900000 len=0x1000 pgoff=0 prot=5 filename="/EVILFILE2" '
             '| pid=7 tid=7 time=3 cpu=0 id=1\n'
             'sample misc=2 id=1 ip=0x900010 pid=7 tid=7 time=1000000500 cpu=0 period=9 callchain=0\n')
    data = make(assemble, text + chains)
    data = data.replace(b'EVILCOMM1', b'\x1b[5;1H\x07X\x9b').replace(b'/EVILFILE2', b'/\x1b]2;X\x07\xff\x1b[')
    (evil / 'made').write_bytes(data)


# ---- tmux ------------------------------------------------------------------------------------------------------------

NAMES = {'PF_KEY_UP': 'Up', 'PF_KEY_DOWN': 'Down', 'PF_KEY_LEFT': 'Left', 'PF_KEY_RIGHT': 'Right', 'PF_KEY_PAGE_UP': 'PPage',
         'PF_KEY_PAGE_DOWN': 'NPage', 'PF_KEY_HOME': 'Home', 'PF_KEY_END': 'End', 'PF_KEY_BACKTAB': 'BTab', 'PF_KEY_TAB': 'Tab',
         'PF_KEY_F1': 'F1', 'PF_KEY_ENTER': 'Enter', 'PF_KEY_ESCAPE': 'Escape', 'PF_KEY_BACKSPACE': 'BSpace',
         'PF_KEY_SUSPEND': 'C-z', "'L' + PF_KEY_CTRL": 'C-l', "' '": 'Space'}


def read_keys(path):
    """{(view, key): action} of keys.def"""
    text, found = path.read_text(), {}
    for views, key, action in re.findall(r"^PF_KEY\(([^,]*), ('[^']+'(?: \+ \w+)?|\w+), (?:\"[^\"]*\"|NULL), (\w+),", text, re.M):
        for view in views.split(' | '):
            found[view, NAMES.get(key, key.strip("'"))] = action
    assert len(found) > 60 and text.count('\nPF_KEY(') == len(set(re.findall(r'^PF_KEY\(.*$', text, re.M)))
    return found


class Tmux:
    """One session, whose window runs a shell."""

    def __init__(self, perfile, folder, keys):
        self.perfile, self.folder, self.keys = perfile, folder, keys
        self.tested = set()
        self.view = 'R'
        self.window = None

    def tmux(self, *words):
        return self.window.tmux(*words)

    def open(self, columns, rows):
        self.window = tmux.Window(self.folder, columns, rows, 'exec sh', PS1='READY> ', ENV='')
        self.tmux('set', '-g', 'status', 'off')
        self.tmux('set', '-g', 'escape-time', '0')
        self.tmux('set', '-g', 'default-terminal', 'screen-256color')
        self.resize(columns, rows)
        self.wait('READY>')

    def resize(self, columns, rows):
        self.tmux('resize-window', '-x', columns, '-y', rows)

    def report(self, *arguments, before=''):
        self.type(f'clear; {before} {shlex.join(map(str, [*wrapper, self.perfile]))} report --symfs {self.folder} '
                  f'{" ".join(map(str, arguments))}')
        self.view = 'R'

    def type(self, text):
        self.tmux('send-keys', '-l', text)
        self.tmux('send-keys', 'Enter')

    def screen(self):
        """Without the mark of code made at run time, which all of it is."""
        return self.tmux('capture-pane', '-p').replace('[j] ', '')

    def colored(self):
        return self.tmux('capture-pane', '-p', '-e')

    def wait(self, wanted, name=None):
        """Until the screen has the text, fits the pattern, or the function says so, and has come to rest."""
        check = wanted if callable(wanted) else wanted.search if hasattr(wanted, 'search') else lambda screen: wanted in screen
        end, before = time.monotonic() + SECONDS, None
        while time.monotonic() < end:
            screen = self.screen()
            if screen == before and check(screen):
                return screen
            before = screen
            time.sleep(0.02)
        expect(name or f'the screen has {getattr(wanted, "pattern", wanted)!r}', False, screen)
        raise SystemExit('no use to go on')

    def press(self, *keys):
        """Presses keys, and notes that they were tried."""
        for key in keys:
            self.tested.add((self.view, key))
            self.tmux('send-keys', *(['-l', key] if len(key) == 1 else [key]))
            time.sleep(0.005)

    def try_key(self, key, wanted):
        """The key, and what the screen has then (and not before)."""
        before = self.screen()
        check = wanted if callable(wanted) else re.compile(wanted, re.M).search
        expect(f'{self.view} {key}: not there before', not check(before), (wanted, before))
        self.press(key)
        return self.wait(check, f'{self.view} {key}: {wanted}')

    def cursor(self):
        """The number of the row that is selected."""
        found = re.search(r' ([\d,]+)/[\d,]+ *$', self.screen().rstrip())
        return int(found[1].replace(',', '')) if found else 0

    def at(self, number):
        return lambda screen: re.search(rf' {number}/[\d,]+ *$', screen.rstrip())


# ---- what is shown ---------------------------------------------------------------------------------------------------

def json_rows(t, *arguments):
    done = subprocess.run([*wrapper, t.perfile, 'report', '--symfs', t.folder, '--format', 'json', '--sort', 'dso,sym',
                           '-e', 'cpu-clock', *arguments, 'made'], cwd=t.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    table = json.loads(done.stdout)
    names = [column['name'] for column in table['columns']]
    return [dict(zip(names, row)) for row in table['rows']]


def test_first_screens(t):
    """As many rows as fit, the numbers those of the text."""
    wanted = json_rows(t)
    for columns, rows, least in (40, 10, 5), (80, 24, 15), (100, 24, 15), (200, 60, 50):
        t.resize(columns, rows)
        t.report('made')
        screen = t.wait(lambda screen: '? help' in screen and 'cpu-clock' in screen and 'loading' not in screen and
                        screen.rstrip('\n').count('\n') == rows - 1 and
                        len(screen.rstrip().splitlines()[-1]) == columns - 1)
        lines = screen.splitlines()
        expect(f'{columns}x{rows}: it fits', len(lines) <= rows and max(map(len, lines)) <= columns, screen)
        shown = [line for line in lines if re.match(r' *\d+\.\d\d% ', line)]
        expect(f'{columns}x{rows}: rows', len(shown) >= least, (len(shown), screen))
        for line, row in zip(shown, wanted):
            numbers = [float(number) for number in re.findall(r'([\d.]+)%', line)]
            expect(f'{columns}x{rows}: the order', abs(numbers[0] - row['overhead_children']) < 0.006, (line, row))
            # the part by which names differ is kept where there is space for it
            keys = [(re.search(r'find_\d+|main|serve|print|0x\w+', row['symbol'] or f"{row['address']:#x}")[0], row) for row in wanted]
            named = [row for key, row in keys if key in line]
            expect(f'{columns}x{rows}: numbers', columns == 40 or
                   named and abs(numbers[1] - named[0]['overhead']) < 0.006, (line, named))
        t.press('q')
        t.wait('READY>')


def test_lists(t):
    t.try_key('Down', t.at(2))
    t.try_key('Up', t.at(1))
    t.try_key('NPage', t.at(21))
    t.try_key('PPage', t.at(1))
    t.try_key('Space', t.at(21))
    t.try_key('End', re.compile(r' ([\d]+)/\1 *$').search)
    t.try_key('Home', t.at(1))
    t.try_key('Right', r'^ +[\d.]+% .*- main')
    t.try_key('Left', r'\+ main')
    t.try_key('+', r'- main')
    t.press('Down', 'Right')
    t.wait(re.compile(r'  - serve_orders'))
    t.try_key('c', r'\+ main')
    t.try_key('e', r'  - serve_orders')
    t.press('c')
    t.wait('+ main')
    count = t.wait(re.compile(r'1/\d+ *$'))
    t.try_key('E', r'- main(.|\n)*  - serve_orders')
    t.try_key('C', lambda screen: '+ main' in screen and ' 1/' in screen)
    t.try_key('g', 'Below rows are their callers')
    t.press('Down', 'Right')
    t.wait(re.compile(r'- serve_orders.*\n.*   +main'))
    t.press('C', 'g')
    t.wait('their callees')
    t.press('Home')
    t.try_key('2', lambda screen: '+ main' in screen and 'find_' not in screen)
    t.try_key('3', lambda screen: 'Children' not in screen and 'find_00' in screen)
    t.press('Right')
    t.wait(re.compile(r'- .*find_00.*\n.*serve_orders'))
    t.press('C')
    t.try_key('1', 'Children')
    return count


def test_search_and_order(t):
    t.press('s')
    t.wait('Search:')
    t.tmux('send-keys', '-l', 'FIND_0')
    t.tmux('send-keys', 'Enter')
    first = t.wait(lambda screen: not t.at(1)(screen) and 'Search' not in screen)
    row = t.cursor()
    t.press('n')
    t.wait(lambda screen: not t.at(row)(screen), 'n goes on')
    t.press('N')
    t.wait(t.at(row))
    t.wait('Children▼')
    t.try_key('o', 'Sorted by Self')
    screen = t.wait('Sorted by Self')
    selfs = [float(re.findall(r'([\d.]+)%', line)[1]) for line in screen.splitlines() if line.count('%') == 2]
    expect('sorted by self', selfs == sorted(selfs, reverse=True) or t.cursor() > 20, screen)
    t.press('Home')
    t.wait(t.at(1))
    t.press('O')
    screen = t.wait(lambda screen: '▲' in screen)
    for _ in range(5):
        t.press('o')
        if 'Sorted by Children' in t.wait(lambda screen: 'Sorted by' in screen):
            break
    t.press('Home')
    t.wait(t.at(1))
    t.try_key('w', r'Shares of the samples')
    t.try_key('w', r'Shares of what the event counted')
    t.press('L')
    t.wait('how many percent')
    t.tmux('send-keys', '-l', '20')
    t.tmux('send-keys', 'Enter')
    t.wait(re.compile(r'1/\d *$'))
    t.press('L')
    t.wait('how many percent')
    t.tmux('send-keys', '-l', '0')
    t.tmux('send-keys', 'Enter')
    t.wait(re.compile(r'1/\d\d *$'))
    t.try_key('H', lambda screen: 'Children' not in screen)
    t.try_key('H', 'Children')
    t.try_key('Tab', 'page-faults')
    t.try_key('BTab', 'cpu-clock')


def test_filters(t):
    t.press('/')
    t.wait('Functions with:')
    t.tmux('send-keys', '-l', 'bills')
    t.tmux('send-keys', 'Enter')
    screen = t.wait('only symbol bills')
    expect('rows of the filter only', t.at(1)(screen) and screen.rstrip().endswith(' 1/1') and 'print_bills' in screen, screen)
    share = re.search(r'([\d.]+)%.*print_bills', screen)[1]
    t.try_key('F', 'Shares of what passes')
    t.wait(re.compile(r'100\.00%.*print_bills'))
    t.press('F')
    t.wait(re.compile(rf'{share}%.*print_bills'))
    t.try_key('x', r'> function')
    t.try_key('BSpace', lambda screen: '> function' not in screen)
    t.try_key('Escape', lambda screen: 'only symbol' not in screen)
    t.try_key('k', r'only kernel')
    screen = t.screen()
    expect('rows of the kernel', '[k]' in screen and 'find_' not in screen, screen)
    t.press('R')
    t.wait(lambda screen: 'only' not in screen)
    t.press('Home')
    t.wait(t.at(1))
    t.try_key('d', r'only dso \[JIT\]')
    t.press('Escape')
    # another form of the keys Home and End than terminfo has, and a key that no one knows: the filter stays
    t.press('k')
    t.wait('only kernel')
    for keys, line in ('1b 5b 34 7e', None), ('1b 5b 31 7e', 1), ('1b 4f 46', None), ('1b 5b 48', 1), ('1b 5b 31 3b 35 50', 1):
        t.tmux('send-keys', '-H', *keys.split())
        screen = t.wait(t.at(line)) if line else t.wait(lambda screen: not t.at(1)(screen))
        expect(f'the filter stays at {keys}', 'only kernel' in screen and 'does nothing' not in screen, screen)
    t.press('Escape')
    t.wait(lambda screen: 'only ' not in screen)
    count = int(re.search(r'([\d,]+) samples', t.screen())[1].replace(',', ''))
    for key, title, what in ('t', 'Only one thread', 'thread 7'), ('p', 'Only one process', 'process 7'), ('u', 'Only one CPU', 'cpu 0'):
        t.press(key)
        t.wait(title)
        t.tmux('send-keys', 'Enter')
        screen = t.wait(f'only {what}')
        share, samples = float(re.search(r'([\d.]+)% of all', screen)[1]), int(re.search(r'([\d,]+) samples', screen)[1].replace(',', ''))
        expect(f'the share of {what} is of the recording', {'t': 60, 'p': 99, 'u': 40}[key] < share <= {'t': 90, 'p': 100, 'u': 60}[key], screen)
        expect(f'the samples of {what} are counted', abs(samples / count * 100 - share) < 1, screen)
        t.press('R')
        t.wait(lambda screen: 'only ' not in screen)
    t.press('f')
    t.wait('Filter by')
    t.tmux('send-keys', 'Down', 'Down', 'Enter')
    t.wait('Only threads of one name')
    t.tmux('send-keys', 'Down', 'Enter')
    t.wait('only command printer')
    t.wait(re.compile(r'25\.\d\d% .*print_bills'), 'one thread remains')
    t.press('R')


def test_times(t):
    t.press('T')
    t.wait('from here')
    t.view = 'T'
    t.press('Home', 'Space', 'NPage', 'Right', 'Left', 'PPage', 'End', 'NPage', 'Home', 'NPage', 'NPage', '?')
    t.wait('Keys')
    t.press('Escape')
    t.wait('from here')
    t.press('Enter')
    screen = t.wait('only time')
    start, end = map(float, re.search(r'only time ([\d.]+)s-([\d.]+)s', screen).groups())
    expect('a fifth of the time', start == 0 and 0.3 < end < 0.5, screen)
    shown = int(re.search(r'  ([\d,]+) samples', screen)[1])
    expect('samples of that time', 90 < shown < 160, screen)
    t.view = 'R'
    t.press('Escape')
    t.wait(lambda screen: 'only' not in screen)
    for key in 'Escape', 'T', 'q':
        t.view = 'R'
        t.press('T')
        t.wait('from here')
        t.view = 'T'
        if key != 'q':
            t.press(key)
            t.wait(lambda screen: 'from here' not in screen)
    t.press('h')
    t.wait('Keys')
    t.tmux('send-keys', 'Escape')
    t.wait('from here')
    t.press('F1', 'C-l')
    t.wait('Keys')
    t.tmux('send-keys', 'Escape')
    t.wait('from here')
    t.press('Escape')
    t.view = 'R'
    t.wait('q quit')


def test_windows(t):
    def leave():
        t.tmux('send-keys', 'Escape')
        t.wait('q quit')

    t.press('Home')
    for key in '?', 'h', 'F1':
        t.press(key)
        t.wait('Up Down         Move')
        leave()
    for key in 'v', 'V':
        t.press(key)
        t.wait(re.compile(r'^ main *$', re.M))
        leave()
    t.press('i')
    t.wait('Recording      made')
    leave()
    t.press('!')
    t.wait('660 samples read')
    leave()
    t.press('m')
    t.wait('What to do with this row')
    expect('the menu has the keys', re.search('^ *a +Show the annotated code', t.screen(), re.M), t.screen())
    t.tmux('send-keys', 'Down', 'Enter')
    t.wait('Function')
    leave()
    t.press('z')
    t.wait('Only perfile top')
    t.press('P')
    t.wait('Written to perf.hist.0')
    text = (t.folder / 'perf.hist.0').read_text()
    expect('the file has all rows', method(40) in text and 'main' in text, text)
    (t.folder / 'perf.hist.0').unlink()
    t.press('C-l', 'Up')
    t.wait('q quit')


def test_code(t):
    t.press('3', 'Home')
    t.wait(lambda screen: 'Children' not in screen)
    for key in 'Enter', 'a':
        t.view = 'R'
        t.press(key)
        screen = t.wait('Esc back')
        expect('the heaviest function', 'find_00' in screen.splitlines()[0] and '%' in screen, screen)
        t.view = 'C'
        t.press('H', 'Tab', 'BTab', 'Down', 'Up', 'NPage', 'PPage', 'Space', 'Home', 'End', 's', 's')
        t.press('Enter')
        t.wait('not a jump')
        t.press('Right')
        t.try_key('o', r'10310:')
        t.press('o')
        t.wait('+0x0')
        t.press('/')
        t.wait('Search:')
        t.tmux('send-keys', '-l', 'nothing')
        t.tmux('send-keys', 'Enter')
        t.wait('No line has "nothing"')
        t.press('n', 'N', 'C-l')
        for window in '?', 'h', 'F1', 'v', 'V':
            t.press(window)
            t.wait(lambda screen: screen.startswith((' Keys', ' Function')))
            t.tmux('send-keys', 'Escape')
            t.wait('H hottest')
        t.press({'Enter': 'Escape', 'a': 'Left'}[key])
        t.wait('q quit')
    for key in 'BSpace', 'q':
        t.view = 'R'
        t.press('Enter')
        t.wait('H hottest')
        t.view = 'C'
        t.press(key)
        t.wait('q quit')
    t.view = 'R'
    t.press('1', '/')
    t.wait('Functions with:')
    t.tmux('send-keys', '-l', 'bills')
    t.tmux('send-keys', 'Enter')
    t.wait('only symbol bills')
    t.press('Home', 'Right', 'Down', 'a')
    t.wait('All samples of this function: filters by file or name do not choose')
    t.view = 'C'
    t.press('Escape')
    t.view = 'R'
    t.wait('only symbol bills')
    t.press('R')
    t.wait(lambda screen: 'only ' not in screen)


def test_annotate(t):
    """It begins with the code: of the hottest function, or of the one that is named."""
    for name, title in ('', 'find_00'), ('find_00', 'find_00'), ('nowhere', None):
        t.type(f'clear; {shlex.join(map(str, [*wrapper, t.perfile]))} annotate --symfs {t.folder} -i made {name}')
        screen = t.wait('Esc back' if title else 'No function nowhere has samples')
        expect('annotate: the code of', not title or title in screen.splitlines()[0], screen)
        if title:
            t.tmux('send-keys', 'q')
            t.wait('q quit')
        t.tmux('send-keys', 'q')
        t.wait('READY>')


def test_profile(t):
    """A profile has the rows of its recording; the code of functions is missing in it."""
    def rows():
        screen = t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'main' in screen)
        return [line for line in screen.splitlines() if re.match(r' *\d+\.\d\d% ', line)]

    t.report('made')
    of_recording = rows()
    t.press('q')
    t.wait('READY>')
    t.type(f'{shlex.join(map(str, [*wrapper, t.perfile]))} export -q --symfs {t.folder} --format profile -o made.profile made')
    t.wait('READY>')
    t.report('made.profile')
    of_profile = rows()
    expect('the rows of a profile', of_profile[:15] == of_recording[:15] and len(of_profile) > 15, (of_profile, of_recording))
    t.press('Enter')
    t.wait('the code needs the recording')
    t.press('q')
    t.wait('READY>')


def rows_of(screen):
    """[(numbers, texts)] of the rows on the screen."""
    rows = [re.match(r' *((?:[\d.]+% +)+)[+-]? *(.*?)  *$', line + ' ') for line in screen.splitlines()]
    return [([float(number) for number in re.findall(r'([\d.]+)%', row[1])], re.split(r'  +', row[2])) for row in rows if row]


def keyed_rows(t, columns):
    """{texts: percentages} of the text of report."""
    done = subprocess.run([*wrapper, t.perfile, 'report', '--symfs', t.folder, '--format', 'csv', '--sort', columns, '-e', 'cpu-clock',
                           'made'], cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    table = list(csv.DictReader(done.stdout.splitlines()))
    return [([float(row[name]) for name in ('overhead_children', 'overhead') if name in row], row) for row in table]


def test_keys(t):
    """Rows of --sort: those of the text, with a cell for each column; they open, lead to their functions, and can be filtered."""
    for columns, rows in (80, 24), (40, 20):
        t.resize(columns, rows)
        t.report('--sort', 'comm,tid,cpu', 'made')
        screen = t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'printer' in screen)
        expect(f'{columns}: titles', re.search(r'^Overhead▼ +Command +Tid +CPU *$', screen, re.M), screen)
        wanted = keyed_rows(t, 'comm,tid,cpu')
        found = rows_of(screen)
        expect(f'{columns}: rows', len(found) == len(wanted) == 3 and
               all(abs(a[0][0] - b[0][-1]) < 0.006 and a[1] == [b[1]['comm'], b[1]['tid'], b[1]['cpu']]
                   for a, b in zip(found, wanted)), (found, wanted))
        t.press('q')
        t.wait('READY>')
    t.resize(80, 24)
    t.report('--sort', 'comm,tid,cpu', 'made')
    t.wait('Overhead▼')
    for title in 'Command', 'Tid', 'CPU':
        t.try_key('o', f'Sorted by {title}')
    t.press('O')
    screen = t.wait('CPU▲')
    cpus = [int(texts[-1]) for _, texts in rows_of(screen)]
    expect('sorted by a column', cpus == sorted(cpus, reverse=True) and len(set(cpus)) > 1, screen)
    t.press('Home', 'Right')
    t.wait(re.compile(r'- (printer|shop).*\n.*\+ find_00|- (printer|shop).*\n.*find_'))
    t.press('Left')
    t.wait(lambda screen: 'find_' not in screen)
    t.press('s')
    t.wait('Search:')
    t.type('shop')
    t.wait(re.compile(r'^ +[\d.]+% \+ shop', re.M))
    t.press('/')
    t.wait('Rows with:')
    t.type('printer')
    screen = t.wait('only text printer')
    expect('rows with the text', len(rows_of(screen)) == 1 and 'shop ' not in screen, screen)
    t.press('v')
    t.wait(re.compile(r'Command +printer *\n *Tid +8'))
    t.tmux('send-keys', 'Escape')
    t.press('R')
    t.wait(lambda screen: 'only' not in screen and 'shop' in screen)
    t.press('Home')
    t.wait(t.at(1))
    share = rows_of(t.screen())[0][0][0]
    row = '  '.join(rows_of(t.screen())[0][1])
    t.try_key('Enter', lambda screen: 'Function' in screen and f'only row {row}' in re.sub('  +', '  ', screen))
    expect('functions of the row', f'{share:.1f}% of all' in t.screen(), t.screen())
    t.try_key('Escape', 'CPU▲')
    t.press('4')
    t.wait('100.00%  all')
    t.view = 'F'
    t.try_key('5', 'CPU▲')
    t.view = 'R'
    t.press('1')
    t.wait('Function')
    t.try_key('5', 'CPU▲')
    t.press('a')
    t.wait('no single function')
    t.press('P')
    t.wait('Written to perf.hist.0')
    text = (t.folder / 'perf.hist.0').read_text()
    expect('the file has the columns', 'Command  Tid  CPU\n' in text and 'printer  8  1\n' in text, text)
    (t.folder / 'perf.hist.0').unlink()
    t.press('q')
    t.wait('READY>')
    t.report('--sort', 'comm,symbol', 'made')
    screen = t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'main' in screen)
    wanted = {(row['comm'], re.search(r'find_\d+|main|serve_orders|print_bills|$', row['symbol'])[0]): numbers for numbers, row in keyed_rows(t, 'comm,symbol') if row['symbol']}
    named = [(numbers, (texts[0], (re.search(r'find_\d+|main|serve_orders|print_bills', texts[-1]) or [None])[0])) for numbers, texts in rows_of(screen)]
    expect('rows of threads and functions have children, too',
           sum(key in wanted and all(abs(a - b) < 0.006 for a, b in zip(numbers, wanted[key])) for numbers, key in named) > 10,
           (named, wanted))
    t.press('q')
    t.wait('READY>')
    t.report('--sort', 'simbol', 'made')
    t.wait('did you mean symbol')
    t.report('--sort', 'nosuch_field', 'made')
    t.wait("unknown key 'nosuch_field'")
    t.report('--sort', 'raw_syscalls:sys_enter.id,comm', 'events', before='PERFILE_ADVICE=yes')
    screen = t.wait(re.compile(r'^Overhead▼ +id +Command', re.M))
    expect('fields of tracepoints: no verb is offered before', len(rows_of(screen)) > 3, screen)
    t.press('q')
    t.wait('READY>')


def test_flame(t):
    t.press('4')
    t.wait('100.00%  all')
    t.view = 'F'
    t.press('Down')
    t.wait(re.compile(r'100\.00% +\[JIT\].* main'))
    t.press('Down')
    t.wait(re.compile(r'75\.\d\d% +\[JIT\].* serve_orders'))
    t.press('Right')
    t.wait(re.compile(r'2[45]\.\d\d% +\[JIT\].* print_bills'))
    t.press('Left')
    t.wait(re.compile(r'75\.\d\d% +\[JIT\].* serve_orders'))
    t.press('Enter')
    t.wait(lambda screen: 'print_bills' not in screen, 'it is as wide as the window')
    t.press('Up', 'Escape')
    t.wait('print_bills')
    for key, text in ('w', 'Shares'), ('w', 'Shares'), ('F', 'passes'), ('F', 'of all'), ('z', 'Only perfile top'):
        t.press(key)
        t.wait(text)
    t.press('Down', 'v')
    t.wait('Total')
    t.tmux('send-keys', 'Escape')
    t.press('V')
    t.wait('Total')
    t.tmux('send-keys', 'Escape')
    t.press('Down', 'Down', 'a')
    t.wait(re.compile('H hottest|No sample|no symbol'))
    t.tmux('send-keys', 'Escape')
    t.wait('Arrows')
    for key, text in ('x', 'only function'), ('d', '> dso'), ('k', '> kernel'):
        t.press(key)
        t.wait(text)
    t.press('BSpace')
    t.wait(lambda screen: '> kernel' not in screen)
    t.press('R')
    t.wait(lambda screen: 'only' not in screen)
    for key, title in ('t', 'Only one thread'), ('p', 'Only one process'), ('u', 'Only one CPU'), ('f', 'Filter by'), ('?', 'Keys'), \
            ('h', 'Keys'), ('F1', 'Keys'), ('i', 'Recording'), ('!', 'Notes'), ('/', 'Functions with'), ('T', 'from here'):
        t.press(key)
        t.wait(title)
        t.tmux('send-keys', 'Escape')
        t.wait('Arrows')
    t.press('Tab')
    t.wait('page-faults')
    t.press('BTab', 'C-l')
    t.wait('cpu-clock')
    t.press('4')
    for key, text in ('1', 'Children'), ('4', 'all'), ('2', 'Children'), ('4', 'all'), ('3', 'Self'):
        t.view = 'R' if key == '4' else 'F'
        t.press(key)
        t.wait(text)
    t.view = 'R'
    t.press('1')


def test_resize(t):
    before = t.wait('Children')
    for columns, rows in (40, 10), (200, 60), (30, 8), (80, 24):
        t.resize(columns, rows)
        if columns < 40:
            t.wait('too')
        else:
            t.wait(lambda screen: '? help' in screen and len(screen.rstrip('\n').splitlines()) == rows and
                   (columns < 200 or 'Samples' in screen))
    t.wait(lambda screen: screen == before, 'the same screen after other sizes')


def test_mouse(t):
    """Reports of the mouse as terminals send them: a click on the fifth row, one on a header, a drag over the time line."""
    def mouse(button, column, line, end='M'):
        t.tmux('send-keys', '-l', f'\x1b[<{button};{column};{line}{end}')

    return mouse


def test_suspend(t):
    for view in 'R', 'F', 'C', 'T':
        t.view = 'R'
        if view == 'F':
            t.press('4')
            t.wait('Arrows')
        elif view == 'T':
            t.press('T')
            t.wait('from here')
        elif view == 'C':
            t.press('3', 'Home', 'a')
            t.wait('H hottest')
        shown = t.screen()
        t.view = view
        t.press('C-z')
        t.wait('READY>')
        t.type('clear; stty -a')
        screen = t.wait(re.compile(r'\becho\b'))
        expect('the shell has its terminal', re.search(r'(?<!-)\bicanon\b', screen) and re.search(r'(?<!-)\becho\b', screen) and
               re.search(r'(?<!-)\bopost\b', screen), screen)
        t.type('clear; fg')
        t.wait(lambda screen: screen == shown, 'the same screen after fg')
        t.tmux('send-keys', 'Escape')
        if view == 'F':
            t.press('1')
        t.view = 'R'
        t.wait('q quit')
        t.press('1')
        t.wait('Children')


def test_broken_stacks(t):
    """Callers that are in no file are one, in lists and in the flame graph, and so is what they seem to call."""
    t.report('broken', before='PERFILE_ADVICE=yes')
    screen = t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'unknown' in screen)
    expect('one row of unknown callers', len(re.findall(r'100\.00% .*\[unknown\]', screen)) == 1 and ' 1/2' in screen, screen)
    rows = [line for line in screen.splitlines() if '100.00%' in line]
    expect('unknown callers come last', 'find_00' in rows[0] and '[unknown]' in rows[1], screen)
    expect('stacks: the header says it', '! 1 note: 100% of stacks broken' in screen, screen)
    t.press('!')
    notes = t.wait(' Notes')
    t.press('Escape')
    t.wait('? help')
    t.press('q')
    reply = re.sub(r'^perfile: ', '', re.sub(r'\s*\n', '', t.wait('READY>').partition('perfile: ')[2].partition('READY>')[0]))
    shown = re.sub(r'\s*\n', '', notes.partition('\n')[2].partition('200 samples')[0])
    expect('stacks: the notes are what is printed after it', reply and re.sub(r' ', '', reply) == re.sub(r' ', '', shown),
           (reply, shown))
    t.report('broken', before='PERFILE_ADVICE=yes')
    t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'unknown' in screen)
    t.press('4', 'Down')
    t.wait(re.compile(r'100\.00% +\[unknown\]'))
    t.press('Down')
    t.wait(re.compile(r'100\.00% +\[JIT\].*find_00'))
    t.press('Enter')
    t.wait(lambda screen: '[unknown]' not in screen, 'it is as wide as the window')
    t.press('q')
    t.wait('READY>')


def test_header_notes(t):
    """What is wrong with a recording, and which verb is made for it, stand on its first screen."""
    for name, line in (('cut', r'! \d notes: file truncated'), ('events', '! 2 notes: for its events try: perfile trace -s, no symbols for'),
                       ('counts', '! 1 note: for its events try: perfile stat report')):
        t.report(name, before='PERFILE_ADVICE=yes')
        if name != 'cut':
            t.wait('No CPU samples: what to show?')
            t.press('Escape')
        screen = t.wait(lambda screen: '? help' in screen and 'loading' not in screen and '\n! ' in screen)
        expect(f'{name}: the header says it', re.match(line, screen.splitlines()[1]), screen)
        t.press('q')
        t.wait('READY>')


def test_offers(t):
    """A recording of system calls or counts opens with the verb that shows them, and Enter starts it."""
    for name, verb, shown in ('events', 'perfile trace -s', 'pread64'), ('counts', 'perfile stat report', 'seconds time elapsed'):
        t.report(name, before='PERFILE_ADVICE=yes PERFILE_PAGER=cat')
        screen = t.wait('No CPU samples: what to show?')
        expect(f'{name}: the verb is offered', verb in screen.splitlines()[1], screen)
        t.press('Enter')
        screen = t.wait('READY>')
        expect(f'{name}: Enter starts it', shown in screen and 'for its events try' not in screen, screen)


def test_limits(t):
    """The list of many threads, and many open rows, say that they end."""
    t.report('many')
    t.wait(lambda screen: '? help' in screen and 'loading' not in screen and '[JIT]' in screen)
    t.press('t')
    t.wait('Only one thread (5,000 are listed; there may be more)')
    t.press('Escape', '2', 'E')
    t.wait('Only 5,000 rows were opened')
    t.press('q')
    t.wait('READY>')


def test_ended_threads(t):
    """Its last sample comes after EXIT, without a name: the thread keeps the one that it had."""
    t.report('ended')
    t.wait(lambda screen: '? help' in screen and 'loading' not in screen and '[JIT]' in screen)
    t.press('t')
    t.wait(re.compile(r'8 +printer +\(process 7\)'))
    t.press('Escape', 'q')
    t.wait('READY>')


def test_colors(t):
    for before, colored in ('', True), ('NO_COLOR=1', False), ('PERFILE_THEME=mono', False), ('PERFILE_THEME=light', True):
        t.report('made', before=before)
        t.wait(lambda screen: '? help' in screen and 'loading' not in screen and '%' in screen)
        found = re.search(r'\x1b\[[\d;]*[34]8;5;', t.colored())
        expect(f'colours with {before!r}', bool(found) == colored, t.colored()[:400])
        t.press('q')
        t.wait('READY>')
    (t.folder / 'perfconfig').write_text('[colors]\n\ttop = blue, default\n')
    t.report('made', before=f'PERF_CONFIG={t.folder}/perfconfig')
    t.wait(lambda screen: '? help' in screen and 'loading' not in screen and '%' in screen)
    expect("the colour of perf's configuration", re.search(r'\x1b\[34m[^%]*\d%', t.colored()), t.colored()[:400])
    t.press('q')
    t.wait('READY>')


def test_loading(t, assemble):
    """The first rows come before the end, and one can leave at any time."""
    fifo = t.folder / 'fifo'
    os.mkfifo(fifo)
    data = make(assemble, HEAD + TASKS + ''.join(sample(i) + ('round\n' if i % 1000 == 999 else '') for i in range(40000)), '--pipe')
    t.report('fifo')
    with open(fifo, 'wb', buffering=0) as to:
        step, at, end = len(data) // 100, 0, time.monotonic() + SECONDS
        while at < len(data) and time.monotonic() < end:
            at += to.write(data[at:at + step])
            screen = t.screen()
            if at > len(data) // 4 and '+ main' in screen:
                break
            if at > len(data) // 2:
                time.sleep(0.02)
        screen = t.wait('+ main')
        expect('rows while it loads', 'loading' in screen and at < len(data), screen)
        t.press('Down', 'Down')
        t.wait(t.at(3))
        t.press('Enter')
        t.wait('The code is shown when the recording is read')
        t.press('Up')
        t.wait(lambda screen: t.at(2)(screen) and 'The code is' not in screen, 'another key is wanted more')
        t.press('Enter')
        t.wait('The code is shown when the recording is read')
        while at < len(data):
            at += to.write(data[at:at + step])
    t.wait('a stream cannot be read twice', 'the code is asked for at the end')
    t.press('q')
    t.wait('READY>')
    fifo.unlink()


def test_in_tmux(perfile, assemble, folder, keys):
    t = Tmux(perfile, folder, keys)
    t.open(80, 24)
    try:
        t.type(f'cd {folder}')
        test_first_screens(t)
        t.resize(80, 24)
        t.report('made')
        t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'main' in screen)
        for test in test_lists, test_search_and_order, test_filters, test_times, test_windows, test_code, test_flame, test_resize, \
                test_suspend:
            test(t)
            t.view = 'R'
        t.press('T')
        t.wait('from here')
        t.view = 'T'
        t.press('q')
        t.wait('READY>')
        t.view = 'F'
        t.report('made')
        t.wait(lambda screen: '? help' in screen and 'loading' not in screen and 'main' in screen)
        t.press('4')
        t.wait('Arrows')
        t.view = 'F'
        t.press('q')
        t.wait('READY>')
        test_annotate(t)
        test_profile(t)
        test_keys(t)
        missing = sorted(set(keys) - t.tested)
        expect('all keys were tried', not missing, missing)
        test_broken_stacks(t)
        test_header_notes(t)
        test_offers(t)
        test_limits(t)
        test_ended_threads(t)
        test_colors(t)
        test_loading(t, assemble)
    finally:
        t.window.close()


# ---- byte by byte ----------------------------------------------------------------------------------------------------

class Terminal:
    """A pseudo-terminal whose other end stays open, so that its modes can be looked at."""

    def __init__(self, perfile, folder, *arguments, term='xterm-256color', columns=80, rows=24, **environment):
        self.control, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        self.modes = termios.tcgetattr(self.slave)
        self.seen = b''

        def own_terminal():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([*wrapper, str(perfile), *arguments], cwd=folder, stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=own_terminal,
                                        env=hermetic.environment(TERM=term, HOME=str(folder), **hermetic.NO_LEAKS, **environment))

    def read(self, seconds=0.05):
        while select.select([self.control], [], [], seconds)[0]:
            self.seen += os.read(self.control, 65536)
            seconds = 0.02

    def wait(self, text):
        end = time.monotonic() + SECONDS
        while text not in self.seen and time.monotonic() < end:
            self.read()
        expect(f'{text!r} comes', text in self.seen, self.seen[-2000:])

    def press(self, keys):
        """Until what it draws has come to rest."""
        os.write(self.control, keys)
        before = -1
        while before != len(self.seen):
            before = len(self.seen)
            self.read(0.15)

    def finish(self):
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        same = termios.tcgetattr(self.slave) == self.modes
        os.close(self.slave)
        os.close(self.control)
        return status, same


def test_signals(perfile, folder):
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV:
        t = Terminal(perfile, folder, 'report', '--symfs', str(folder), 'made')
        t.wait(b'main')
        expect('it has the terminal', termios.tcgetattr(t.slave) != t.modes)
        at = len(t.seen)
        t.process.send_signal(number)
        status, same = t.finish()
        rest = t.seen[at:]
        expect(f'{number.name}: it ends so', abs(status) in (number, 128 + number), status)
        expect(f'{number.name}: the modes are those of before', same)
        expect(f'{number.name}: the screen is that of before', b'\x1b[?1049l' in rest and b'\x1b[?1000l' in rest, rest)


PLANTED = [b'\x1b]', b'PWNED\x07', b'\x1b[31mred', b'\x1b[2Jx', '\u202e'.encode(), '\u2066'.encode(), b'\xc2\x9b', b'\x9b', b'\x07',
           b'\x1b[5;1H\x07', b'\xff', '\u0301'.encode() * 2]


def test_hostile(perfile, folder):
    t = Terminal(perfile, folder, 'report', '--symfs', str(folder / 'evil'), 'evil/made')
    t.wait(b'PWNED')
    for keys in [b'\x1bOB' * 3, b'E', b'v', b'\x1b', b'2E', b'3E', b'4', b'\x1bOB', b'\x1bOB', b'v', b'\x1b', b'1t', b'\x1b', b'x', b'd', b'R',
                 b'\x1bOFd', b'!', b'\x1b', b'fj', b'\x1b', b'i', b'\x1b', b'/PWN\r', b'R']:
        t.press(keys)
    t.press(b'1\x1bOHsPWNED\r')
    t.press(b'a')
    t.wait(b'H hottest')
    t.press(b'q')
    t.press(b'q')
    status, same = t.finish()
    expect('hostile: it ends', status == 0 and same, (status, same, t.seen[-500:]))
    expect('hostile: names are there', b'\\x1b]0;PWNED' in t.seen and b'...' in t.seen, t.seen[-3000:])
    for planted in PLANTED:
        expect(f'hostile: {planted!r} does not reach the terminal', planted not in t.seen,
               t.seen[max(0, t.seen.find(planted) - 100):t.seen.find(planted) + 60])


def test_text(perfile, folder):
    """Where there is no view, and where one cannot be."""
    for name, arguments, environment in ('--stdio', ['--stdio'], {}), ('weights', ['--sort', 'overhead_children,dso,overhead_us'], {}), \
            ('dumb', [], {'term': 'dumb'}), ('unknown terminal', [], {'term': 'no-such-terminal'}):
        t = Terminal(perfile, folder, 'report', '--symfs', str(folder), *arguments, 'made', PERFILE_PAGER='', **environment)
        status, same = t.finish()
        expect(f'{name}: text', status == 0 and b'# Children ' in t.seen and b'\x1b[?1049h' not in t.seen, t.seen[-500:])
        expect(f'{name}: whose', (b"# Samples: 600  of event 'cpu-clock'" in t.seen) == (name == '--stdio'), t.seen[:500])
    for options, ends in ([], True), (['--all-rows'], False):
        t = Terminal(perfile, folder, 'report', '--symfs', str(folder), *options, 'many', PERFILE_PAGER='', term='dumb')
        status, same = t.finish()
        expect(f'dumb: the rows that matter {options}', (t.seen.count(b'%  ') < 70 and b'more rows (--all-rows)' in t.seen) == ends,
               t.seen[-300:])
    for name, arguments, why in ('dumb', [], b'cannot move its cursor'), ('stdio', ['--stdio'], b'asks for text'), \
            ('format', ['--format', 'json'], b'another option asks for text'):
        t = Terminal(perfile, folder, 'report', '--tui', *arguments, 'made', term='dumb' if name == 'dumb' else 'xterm')
        status, same = t.finish()
        expect(f'--tui, {name}', status == 2 and why in t.seen, t.seen)
    done = subprocess.run([*wrapper, perfile, 'report', '--tui', 'made'], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect('--tui in a pipe', done.returncode == 2 and b'not a terminal' in done.stderr, done)
    t = Terminal(perfile, folder, 'report', 'none')
    status, same = t.finish()
    expect('a recording that is not there', status == 3 and same and b'none: ' in t.seen, t.seen)


def test_mouse_reports(perfile, folder):
    """Also those that come together, as over a slow connection."""
    t = Terminal(perfile, folder, 'report', '--symfs', str(folder), 'made')
    t.wait(b'main')
    for button, column, line, wanted in (0, 30, 8, b'5/70'), (65, 30, 8, b'8/70'), (64, 30, 8, b'5/70'):
        t.seen = b''
        t.press(b'\x1b[<%d;%d;%dM' % (button, column, line))
        t.press(b'\x1b[<%d;%d;%dm' % (button, column, line))
        t.press(b'\x0c')
        t.wait(wanted)
    for together, wanted in (b'\x1b[<0;30;9M\x1b[<0;30;9m', b'6/70'), (b'\x1b[<65;30;8M\x1b[<65;30;8M\x1b[<64;30;8M', b'9/70'):
        t.seen = b''
        t.press(together + b'\x0c')
        t.wait(wanted)
    t.seen = b''
    t.press(b'\x1b[<0;10;2M\x1b[<0;50;2m')
    t.wait(b'only')
    t.press(b'R')
    t.seen = b''
    t.press(b'\x1b[<0;20;2M')
    t.press(b'\x1b[<0;40;2m')
    t.wait(b'only')
    t.press(b'q')
    status, same = t.finish()
    expect('the mouse', status == 0 and same, status)


def has_utf8(perfile, folder):
    """The C library of another machine cannot use the locales of this one when their byte orders differ."""
    if not wrapper:
        return True
    t = Terminal(perfile, folder, 'report', '--symfs', str(folder), 'made')
    t.wait(b'main')
    t.press(b'q')
    t.finish()
    return '▼'.encode() in t.seen


def main():
    hermetic.settle()
    perfile, assemble, keys = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError as error:
        print(f'skipped: no pseudo-terminals here: {error}')
        return 77
    with hermetic.plain_folder() as name:
        folder = pathlib.Path(name)
        make_files(assemble, folder)
        test_text(perfile, folder)
        test_signals(perfile, folder)
        test_hostile(perfile, folder)
        test_mouse_reports(perfile, folder)
        if not has_utf8(perfile, folder):
            print('skipped: the screens: the other machine has no UTF-8 here')
        elif shutil.which('tmux'):
            test_in_tmux(perfile, assemble, folder, read_keys(keys))
        else:
            print('skipped: the screens: tmux is missing')
    print(f'{len(failures)} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
