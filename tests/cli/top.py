#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top.py PERFILE: what runs now, as text and, where tmux is, in the interactive view. Exit 77 where events cannot be opened."""
import os, pathlib, re, shlex, shutil, signal, subprocess, sys, threading, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import tmux

PERFILE = hermetic.runnable(sys.argv[1])
EVENT = ['-e', 'cpu-clock:u', '-F', '500']
# Works a little for each line that it reads: on a busy machine later, but not less.
WORK = 'while read -r line; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done'
HEAD = re.compile(r'^# (\d+\.\d) s to (\d+\.\d) s: (?:([\d,]+) samples of \S+, [\d,]+ lost|no samples)$', re.M)


def top(*args, **more):
    return subprocess.run([PERFILE, 'top', *EVENT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, **more)


def heads(text):
    """Of each table: from, to, samples."""
    return [(float(a), float(b), int(n.replace(',', '') or 0)) for a, b, n in HEAD.findall(text)]


def several(*args, more=False):
    """What it printed, of two intervals at least that have samples (the last one `more`): where others keep it from running, a few
    seconds may be one."""
    for seconds in '2', '5', '20':
        done = top('-d', '1', '--duration', seconds, *args)
        found = heads(done.stdout)
        if len(found) >= 2 and all(samples for _, _, samples in found) and (not more or found[-1][2] > found[0][2]):
            break
    return done, found


def last_table(*args):
    """The lines of the last interval, with rows."""
    for seconds in '1', '5', '20':
        done = top('--duration', seconds, *args)
        assert done.returncode == 0, done
        lines = done.stdout.split('\n\n')[-2].splitlines() if '\n\n' in done.stdout else []
        if len(lines) > 2:
            break
    return lines


def check_text(busy):
    """The sum grows; the rows are at most so many, by share; -z shows each interval alone."""
    done, found = several('-p', busy, '-E', '2', '-ns', 'comm,pid,sym', more=True)
    assert done.returncode == 0 and len(found) >= 2, done
    assert all(a == 0 for a, _, _ in found) and found[-1][2] > found[0][2] > 0, found
    tables = done.stdout.split('\n\n')[:-1]
    for table in tables:
        lines = table.splitlines()
        assert lines[1].split() == ['#', 'Overhead', 'Samples', 'Command', 'Pid:Command', 'Symbol'] and 3 <= len(lines) <= 4, table
        shares = [float(line.split('%')[0]) for line in lines[2:]]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 100.1, table
        assert all(line.split()[3] == f'{busy}:sh' for line in lines[2:]), table
        assert 0 < sum(int(line.split()[1]) for line in lines[2:]) <= heads(table)[0][2], table
    _, alone = several('-p', busy, '-z')
    assert len(alone) >= 2 and all(a[1] == b[0] for a, b in zip(alone, alone[1:])), alone


def rows(busy, *args):
    """The rows of the first table."""
    done = several('-p', busy, *args)[0]
    assert done.returncode == 0, done
    return done.stdout.split('\n\n')[0].splitlines()[2:]


def check_filters(busy):
    """Files, functions, names and shares choose rows; percentages are of all samples, unless they are to be relative."""
    dso = ' '.join(rows(busy, '-s', 'dso', '-E', '1')[0].split()[1:])
    found = rows(busy, '-s', 'dso', '--dsos', dso, '--percentage', 'relative', '--show-total-period')
    assert len(found) == 1 and found[0].split()[0] == '100.00%' and found[0].split()[1].isdigit(), found
    for words in ('--dsos', 'nosuch'), ('--symbols', 'nosuch', '--comms', 'sh'), ('-f', '1000000'):
        assert not rows(busy, *words), words


def check_children(busy):
    """With callchains rows are of all functions in the stacks: the outermost one has all, and the sums of self are 100 %."""
    for args, titles in (['-g'], 'Children Self'), (['-g', '--no-children'], 'Overhead'), (['--children'], 'Children Self'):
        table = last_table('-p', busy, '-E', '1000', *args)
        assert table[1].split() == ['#', *titles.split(), 'Shared', 'Object', 'Symbol'], table
        shares = [[float(word[:-1]) for word in line.split() if word.endswith('%')] for line in table[2:]]
        assert all(len(one) == len(titles.split()) and one[0] >= one[-1] for one in shares), table
        assert abs(sum(one[-1] for one in shares) - 100) < 0.01 * len(shares) and shares == sorted(shares, key=lambda one: -one[0]), table


def check_children_of_files(busy):
    """A sample counts once for a file, however many of its functions are in the stack."""
    table = last_table('-p', busy, '-g', '--sort', 'dso')
    shares = [float(line.split()[0][:-1]) for line in table[2:]]
    assert shares and max(shares) <= 100, table


def check_tags(busy):
    """Columns of report that describe samples are columns here, too; others are refused before anything is recorded."""
    table = last_table('-p', busy, '--sort', 'comm_nodigit,mem,dso')
    assert table[1].split() == ['#', 'Overhead', 'comm_nodigit', 'mem', 'Shared', 'Object'], table
    assert all(not re.search('[0-9]', line.split()[1]) and line.split()[2] == 'N/A' for line in table[2:]), table
    refused = top('-p', busy, '--duration', '1', '--sort', 'symbol_from')
    assert refused.returncode == 2 and 'unknown column symbol_from' in refused.stderr, refused


def wait_for_events(process):
    """Until it has opened them, however long a busy machine takes for that."""
    folder, end = pathlib.Path(f'/proc/{process.pid}/fd'), time.monotonic() + 60

    def is_there():
        try:
            return any('perf_event' in os.readlink(one) for one in folder.iterdir())
        except OSError:  # closed meanwhile
            return False

    while process.poll() is None and not is_there():
        assert time.monotonic() < end, 'no events are open'
        time.sleep(0.01)


def check_end(busy):
    """Ctrl-C ends the interval, which is printed; and it is over when the process is."""
    with subprocess.Popen([PERFILE, 'top', *EVENT, '-p', busy, '-d', '1'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as process:
        text = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        text += process.communicate(timeout=60)[0]
    assert process.returncode == 0 and len(heads(text)) >= 2 and text.endswith('\n\n'), (process.returncode, text)
    with subprocess.Popen(['sleep', '60']) as short:
        with subprocess.Popen([PERFILE, 'top', *EVENT, '-p', str(short.pid), '-d', '60'], stdout=subprocess.PIPE, text=True) as process:
            wait_for_events(process)
            short.kill()
            text = process.communicate(timeout=60)[0]
    assert process.returncode == 0 and re.match(r'# 0.0 s to .* samples', text), (process.returncode, text)


def check_usage(busy):
    for args, why in (['-s', 'nothing'], 'unknown column nothing'), (['-F', 'x'], 'invalid value "x"'), (['-c', '9'], 'both'), \
            (['--tui'], 'not'), (['-d', '9999999'], 'at most'):
        done = top('-p', busy, '--duration', '1', *args)
        assert done.returncode == 2 and why in done.stderr and not done.stdout, (args, done)


def check_view(busy, folder):
    """The interactive view is live, also with rows by keys."""
    def wait(pattern):
        end = time.monotonic() + 60
        while not re.search(pattern, screen := window.tmux('capture-pane', '-p'), re.M):
            assert time.monotonic() < end, f'{pattern} is not on the screen:\n{screen}'
            time.sleep(0.05)
        return screen

    command = shlex.join([PERFILE, 'top', *EVENT, '-d', '1', '--symfs', str(folder), '-p', busy])
    window = tmux.Window(folder, 90, 20, f'PERFILE_ADVICE=yes {command}; echo status=$?; exec sleep 60')
    try:
        screen = wait(r'^top .* samples .*live')
        first = int(re.search(r'([\d,]+) samples', screen)[1].replace(',', ''))
        wait(r'^ +\d+\.\d\d% ')
        end = time.monotonic() + 60
        while int(re.search(r'([\d,]+) samples', window.tmux('capture-pane', '-p'))[1].replace(',', '')) <= first:
            assert time.monotonic() < end, 'the numbers stay as they are'
            time.sleep(0.05)
        wait(r'^! \d notes?: .*no symbols for')
        window.tmux('send-keys', '!')
        wait(r'top: no symbols for')
        window.tmux('send-keys', 'Escape')
        wait('q quit')
        window.tmux('send-keys', 'z')
        wait('sums start again')
        window.tmux('send-keys', 'Enter')
        if 'Esc back' in wait('Esc back|No sample|There is no symbol'): # else the list stays
            window.tmux('send-keys', 'Escape')
            wait('q quit')
        window.tmux('send-keys', 'q')
        wait('^status=0')
    finally:
        window.close()
    window = tmux.Window(folder, 90, 20, f'{command} --sort tid,srcline; echo status=$?; exec sleep 60')
    try:
        wait(r'^Overhead▼ +Tid +srcline')
        wait(rf'^ +\d+\.\d\d% +\+ {busy} ')
        window.tmux('send-keys', 'Enter')
        wait(rf'^only row {busy} ')
        window.tmux('send-keys', 'Escape')
        wait(r'Tid +srcline')
        window.tmux('send-keys', 'q')
        wait('^status=0')
    finally:
        window.close()


def feed(process):
    """About a tenth of the time of a processor is enough to be seen."""
    while process.poll() is None:
        try:
            os.write(process.stdin.fileno(), b'\n')
        except (BrokenPipeError, ValueError):  # it has ended, and its input is closed
            return
        time.sleep(0.09)


def main():
    hermetic.settle()
    with subprocess.Popen(['sh', '-c', WORK], stdin=subprocess.PIPE) as spin, hermetic.plain_folder() as name:
        try:
            threading.Thread(target=feed, args=[spin], daemon=True).start()
            busy = str(spin.pid)
            probe = subprocess.run([PERFILE, 'record', *EVENT, '-o', '/dev/null', 'true'], capture_output=True, text=True)
            if probe.returncode:
                print(f'skipped: recording: {probe.stderr.strip()}')
                return 77
            check_text(busy)
            check_filters(busy)
            check_children(busy)
            check_children_of_files(busy)
            check_tags(busy)
            check_end(busy)
            check_usage(busy)
            if shutil.which('tmux') and '--tui is not possible: this perfile' not in top('--tui', '-p', busy).stderr:
                check_view(busy, pathlib.Path(name))
            else:
                print('skipped: the view: tmux or ncurses is missing')
        finally:
            spin.kill()
    return 0


sys.exit(main())
