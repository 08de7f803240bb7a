#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stat.py PERFILE: counting, as far as this machine allows: what is printed, what is recorded, and how it ends."""
import json, os, pathlib, re, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = sys.argv[1]
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
    assert found[0]['pcnt-running'] == 100 and found[0]['metric-unit'] == 'CPUs utilized', found


def check_repeated():
    text = stat('-r', '3', '-e', COUNTED, 'true').stderr
    assert "'true' (3 runs):" in text and text.count('( +-') == 3, text


def check_intervals():
    text = stat('-I', '20', '-j', '-e', COUNTED, 'sh', '-c', 'sleep 0.1').stderr
    times = sorted({one['interval'] for one in rows(text)})
    assert len(times) > 2 and all(0 < b - a < 10 for a, b in zip(times, times[1:])), text
    counted = stat('--interval-count', '2', '-I', '10', '-j', '-e', 'page-faults:u', 'sleep', '9').stderr
    assert len({one['interval'] for one in map(json.loads, (line for line in counted.splitlines() if line[0] == '{'))}) == 2


def check_record(folder):
    """The counts of a file are those that were printed of a stream: the same road; and what was killed is there."""
    path = folder / 'stat.data'
    done = stat('record', '-o', path, '-e', COUNTED, 'sh', '-c', 'exit 5')
    assert done.returncode == 5 and not done.stderr, done
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
        check_intervals()
        check_record(folder)


main()
