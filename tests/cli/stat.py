#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stat.py PERFILE: counting, as far as this machine allows: what is printed, what is recorded, and how it ends."""
import ctypes, json, os, pathlib, platform, re, resource, signal, struct, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = hermetic.runnable(sys.argv[1])
COUNTED = 'task-clock:u,page-faults:u'


def stat(*args, **more):
    return subprocess.run([PERFILE, 'stat', *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def check_command():
    done = stat('-e', COUNTED, 'sh', '-c', 'echo out; exit 3')
    assert (done.returncode, done.stdout) == (3, 'out\n'), done
    assert "Performance counter stats for 'sh -c echo out; exit 3':" in done.stderr, done.stderr
    assert re.search(r'^ +\d+ +page-faults', done.stderr, re.M) and 'seconds time elapsed' in done.stderr, done.stderr
    assert re.search(r'seconds user\n +\d+\.\d{9} seconds sys\n', done.stderr), done.stderr


def check_missing():
    done = stat('-e', COUNTED, './no such program')
    assert done.returncode == 127 and 'perfile: stat: ./no such program' in done.stderr, done


def check_formats():
    lines = stat('-x', ';', '-e', COUNTED, 'true').stderr.splitlines()
    assert [line.split(';')[1:3] for line in lines] == [['msec', 'task-clock:u'], ['', 'page-faults:u']], lines
    found = rows(stat('-j', '-e', COUNTED, 'true').stderr)
    assert [one['event'] for one in found] == ['task-clock:u', 'page-faults:u'], found
    row = rows(stat('--format', 'jsonl', '-e', 'page-faults:u', 'true').stderr)[-1]
    assert row['comm'] is None, row # not the name that it had before it became the command
    assert found[0]['pcnt-running'] == 100 and found[0]['metric-unit'] == 'CPUs utilized', found


def check_repeated():
    text = stat('-r', '3', '-e', COUNTED, 'true').stderr
    assert "'true' (3 runs):" in text and re.search(r'task-clock.*\( \+-', text), text


def check_table():
    text = stat('-r', '3', '--table', '-e', 'page-faults:u', 'true').stderr
    table = re.search(r'\n\n       # Table of individual measurements:\n((?: +\d+\.\d{9} \([+-]\d+\.\d{9}\) #+\n){3})'
                      r'\n       # Final result:\n +(\d+\.\d{9}) \+- ', text)
    assert table, text
    times = [float(line.split()[0]) for line in table[1].splitlines()]
    assert abs(sum(times) / 3 - float(table[2])) < 1e-8, text


def intervals(count, *args):
    """What is printed of a command that ends only when so many intervals were printed."""
    with subprocess.Popen([PERFILE, 'stat', '-I', '20', *args, '--', 'cat'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        lines = [process.stderr.readline() for _ in range(count)]
        process.stdin.close()
        return ''.join(lines) + process.stderr.read()


def check_clear():
    """Only on a terminal: elsewhere no one sees the interval before."""
    text = stat('-I', '20', '--interval-clear', '-e', 'page-faults:u', 'sleep', '0.05').stderr
    assert '\33' not in text and text.count('#           time') == 1, text


def check_intervals():
    text = intervals(2 * 3, '-j', '-e', COUNTED)
    times = sorted({one['interval'] for one in rows(text)})
    assert len(times) > 2 and all(a < b for a, b in zip(times, times[1:])), text
    counted = stat('--interval-count', '2', '-I', '10', '-j', '-e', 'page-faults:u', 'sleep', '9').stderr
    assert len({one['interval'] for one in map(json.loads, (line for line in counted.splitlines() if line[0] == '{'))}) == 2


def check_summary():
    """After intervals their sums."""
    lines = [line.split(',') for line in intervals(2, '--summary', '-x,', '-e', 'page-faults:u').splitlines()]
    assert len(lines) > 2 and [line[0] == 'summary' for line in lines] == [False] * (len(lines) - 1) + [True], lines
    assert sum(int(line[1]) for line in lines[:-1] if line[1].isdigit()) == int(lines[-1][1]), lines


def check_quiet(folder):
    done = stat('-q', '-e', COUNTED, '-o', folder / 'nothing', 'sh', '-c', 'exit 4')
    assert (done.returncode, done.stderr) == (4, '') and not (folder / 'nothing').exists(), done
    done = stat('--log-fd', '1', '-x,', '-e', COUNTED, 'true')
    assert done.stdout.count('\n') == 2 and not done.stderr, done


def check_again_and_again():
    """--repeat 0 goes on until a signal."""
    with subprocess.Popen([PERFILE, 'stat', '-r', '0', '-x,', '-e', 'page-faults:u', 'true'], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        lines = [process.stderr.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert all('page-faults' in line for line in lines), lines


def check_null():
    text = stat('-n', '-r', '2', 'true').stderr
    assert re.fullmatch(r"\n Performance counter stats for 'true' \(2 runs\):\n\n\n +\d+\.\d{9} \+- .*seconds time elapsed.*\n\n", text), text


def check_order():
    """What is stated of a command that was ended does not stand in the middle of the text."""
    done = stat('--timeout', '50', '-e', COUNTED, 'sleep', '60')
    assert done.returncode == 128 + signal.SIGTERM, done
    assert re.search(r'seconds sys\n\n\nperfile: stat: sleep was killed by signal 15', done.stderr), done.stderr


def check_control(folder):
    """Nothing is counted before "enable"."""
    for name in 'control', 'ack':
        os.mkfifo(folder / name)
    with subprocess.Popen([PERFILE, 'stat', '-D', '-1', '--control', f'fifo:{folder}/control,{folder}/ack', '-x,',
                           '-e', 'page-faults:u', 'cat'], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True) as process:
        answers = open(folder / 'ack', 'rb', buffering=0)
        with open(folder / 'control', 'w') as commands:
            for command in 'ping', 'enable', 'nonsense', 'disable', 'stop':
                print(command, file=commands, flush=True)
        assert [answers.read(5) for _ in range(4)] == [b'ack\n\0'] * 4
        reply = process.stderr.read().splitlines()
        answers.close()
    assert reply[0].startswith('perfile: stat: unknown control command "nonsense"') and 'page-faults' in reply[1], reply


def check_threads():
    """Of everybody each thread by itself: only root may look at all of them."""
    if os.geteuid() != 0:
        return
    text = stat('-a', '--per-thread', '-x,', '-e', 'cpu-clock', 'sleep', '0.1').stderr
    assert len({line.split(',')[0] for line in text.splitlines()}) > 1, text
    assert '<not counted>' not in text, text


def check_descriptors():
    """Without descriptors there are no counts: "<not supported>" would be wrong."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))
    events = ','.join(['page-faults:u', 'minor-faults:u', 'major-faults:u'] * 5)
    done = stat('-e', events, 'true', preexec_fn=limit)
    assert done.returncode == 3 and 'too many descriptors are needed' in done.stderr, done
    assert 'not supported' not in done.stderr, done


def check_others():
    """Processes of other users: what helps is not /proc/sys/kernel/perf_event_paranoid."""
    if os.geteuid() == 0:
        return
    done = stat('-e', 'page-faults:u', '-p', '1', 'true')
    assert done.returncode == 0 or "process 1 is another user's" in done.stderr or 'no process 1' in done.stderr, done


CALLS = {'x86_64': 298, 'aarch64': 241, 'riscv64': 241, 's390x': 331, 'ppc64le': 319}


def forbid_counting():
    """As the default seccomp profile of containers does."""
    load, equal, give = 0x20, 0x15, 0x06
    steps = (load, 0, 0, 0), (equal, 0, 1, CALLS[platform.machine()]), (give, 0, 0, 0x50001), (give, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(b''.join(struct.pack('=HBBI', *step) for step in steps))
    program = struct.pack('@HP', len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    libc.prctl(22, 2, program) # where the kernel has no such filters, counting goes on


def check_forbidden():
    """A container that forbids it, too: to lower perf_event_paranoid would not help."""
    if platform.machine() not in CALLS or struct.calcsize('P') != 8:
        return
    for target in ([], ['-a']) if os.geteuid() == 0 else ([],):
        done = stat(*target, '-e', 'page-faults:u', 'true', preexec_fn=forbid_counting)
        if 'page-faults:u  ' in done.stderr:
            return
        assert done.returncode == 3 and 'a container or a security policy forbids it' in done.stderr, done


def check_processors():
    done = stat('-C', '65535', 'true')
    assert done.returncode in (2, 3) and 'Performance' not in done.stderr, done
    if os.path.exists('/sys/devices/system/cpu/online'):
        assert 'CPU 65535 is not online: those are ' in done.stderr, done


def check_unsupported():
    """What this machine cannot count is stated by the names that were given; scripts find it in their lines."""
    events = 'cycles/name=mine/u,page-faults:u'
    text = stat('-e', events, 'true').stderr
    if '<not supported>' not in text:
        return
    assert 'perfile: stat: not counted: mine' in text and re.search(r'<not supported> +mine', text), text
    lines = stat('-x,', '-e', events, 'true').stderr.splitlines()
    assert [line.split(',')[0] == '<not supported>' for line in lines] == [True, False], lines
    text = stat('-dd', '-x,', 'true').stderr
    assert 'dTLB-load-misses' in text and 'prefetch' not in text, text


def check_filter():
    """Of tracepoints, where they can be read and counted."""
    counted = lambda *more: stat('-x,', '-e', 'syscalls:sys_enter_write', *more, '--', 'sh', '-c', 'echo a; echo b')
    done = counted()
    if done.returncode or not done.stderr.splitlines()[-1][:1].isdigit():
        return
    fields = [counted(*more).stderr.splitlines()[-1].split(',')[0] for more in ((), ('--filter', 'fd == 7'))]
    assert fields == ['2', '0'], fields


def cgroups():
    """Where those are that events can be counted in, or None."""
    mounts = [line.split()[1:4] for line in open('/proc/self/mounts', encoding='utf-8')]
    for kind in 'cgroup', 'cgroup2':
        for where, its, options in mounts:
            if its == kind and (kind == 'cgroup2' or 'perf_event' in options.split(',')):
                return pathlib.Path(where)
    return None


def check_cgroups(folder):
    """Of two control groups, in the first of which the command does its work."""
    root = cgroups()
    top = root / f'perfile-test-{os.getpid()}' if root else None
    try:
        for path in (top, top / 'a', top / 'b') if top else ():
            path.mkdir()
        subprocess.run(['sh', '-c', 'echo 0 > "$0"', top / 'a' / 'cgroup.procs'], check=True, capture_output=True)
    except (OSError, TypeError, subprocess.CalledProcessError) as error:
        print(f'skipped: cgroups: one cannot be made and entered here: {error}')
        return remove(top)
    work = 'echo 0 > "$0" && /bin/true && /bin/true'
    try:
        groups = f'{top.name}/a,{top.name}/b'
        command = ['--', 'sh', '-c', work, top / 'a' / 'cgroup.procs']
        found = rows(stat('-a', '-j', '-e', 'page-faults,context-switches', '--for-each-cgroup', groups, *command).stderr)
        assert [(one['event'], one['cgroup'][-1]) for one in found] == [
            (event, group) for group in 'ab' for event in ('page-faults', 'context-switches')], found
        assert float(found[0]['counter-value']) > 10 and found[2]['counter-value'] in ('<not counted>', '0.000000'), found
        lines = stat('-a', '-x,', '-e', 'page-faults,page-faults', '-G', f'{top.name}/b,', *command).stderr.splitlines()
        assert [line.split(',')[3] for line in lines] == [f'{top.name}/b', ''] and lines[1][0].isdigit(), lines
        by_pattern = stat('-a', '-x,', '-e', 'page-faults', '--for-each-cgroup', f'^{top.name}/[ab]$', *command).stderr
        assert [line.split(',')[3][-1] for line in by_pattern.splitlines()] == ['a', 'b'], by_pattern
        stat('record', '-a', '-q', '-o', folder / 'groups.data', '-e', 'page-faults', '--for-each-cgroup', groups, *command)
        lines = stat('report', '-x,', folder / 'groups.data').stdout.splitlines()
        assert [line.split(',')[2:4] for line in lines] == [['page-faults', f'{top.name}/{one}'] for one in 'ab'], lines
    finally:
        remove(top)


def remove(top):
    for path in (top / 'a', top / 'b', top) if top else ():
        deadline = time.monotonic() + 10
        while path.is_dir() and time.monotonic() < deadline:
            try:
                path.rmdir()
            except OSError: # those that ended are not gone at once
                time.sleep(0.01)


def check_record(folder):
    """The counts of a file are those that were printed of a stream: the same road; and what was killed is there."""
    path = folder / 'stat.data'
    done = stat('record', '-o', path, '-e', COUNTED, 'sh', '-c', 'exit 5')
    assert done.returncode == 5 and re.fullmatch(r'perfile: .*stat.data: 1 interval of counts; shown by perfile stat report .*stat.data\n',
                                                 done.stderr.splitlines(True)[-1]), done
    text = stat('report', path).stdout
    assert 'page-faults' in text and 'seconds time elapsed' in text, text
    assert subprocess.run([PERFILE, 'check', path], capture_output=True).returncode == 0
    with subprocess.Popen([PERFILE, 'stat', 'record', '-I', '10', '-o', path, '-e', COUNTED, '--', 'sleep', '60'],
                          start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while stat('report', '-j', path).stdout.count('page-faults') < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    assert stat('report', '-j', path).stdout.count('page-faults') >= 3


def main():
    hermetic.settle()
    probe = stat('-e', COUNTED, 'true')
    if probe.returncode or '<not' in probe.stderr:
        print(f'skipped: counting: {probe.stderr.strip().splitlines()[-1] if probe.stderr.strip() else "no counts here"}')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_command()
        check_missing()
        check_formats()
        check_repeated()
        check_table()
        check_intervals()
        check_clear()
        check_summary()
        check_quiet(folder)
        check_again_and_again()
        check_null()
        check_order()
        check_control(folder)
        check_threads()
        check_descriptors()
        check_others()
        check_forbidden()
        check_processors()
        check_unsupported()
        check_filter()
        check_cgroups(folder)
        check_record(folder)


main()
