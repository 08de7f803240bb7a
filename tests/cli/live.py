#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live.py PERFILE: verbs that record what they show: trace COMMAND, trace -p, sched -- COMMAND. Needs tracepoints."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = hermetic.runnable(sys.argv[1])
LINE = re.compile(r' *(\?|[0-9.]+) \([ 0-9.ms]+\): \S+/\d+ ')


def perfile(*arguments, status=0, **more):
    done = subprocess.run([PERFILE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, **more)
    assert done.returncode == status, (arguments, done)
    return done


def trace(*arguments, **more):
    return perfile('trace', *arguments, **more)


def missing():
    """Why this machine does not allow it; None: it does."""
    done = subprocess.run([PERFILE, 'trace', 'true'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode == 3 else None


def check_command():
    done = trace('sh', '-c', 'echo said; exit 7', status=7)
    lines = done.stderr.splitlines()
    assert done.stdout == 'said\n' and all(LINE.match(line) for line in lines), done
    assert 'exit_group(error_code: 7)' in lines[-1] and any(' write(fd: 1, ' in line for line in lines), done
    done = trace('-e', 'exit_group', '--', 'sh', '-c', 'echo said >&2')
    assert [line.split('exit_group')[1].split()[-2:] for line in done.stderr.splitlines() if 'exit_group' in line] == [['=', '?']], done
    done = trace('--failure', '-e', 'open,openat', 'cat', '/nowhere/at/all', status=1)
    assert any('-1 ENOENT (No such file or directory)' in line for line in done.stderr.splitlines()), done


def check_events():
    done = trace('--no-comm', '-e', 'syscalls:sys_enter_exit_group', 'true')
    assert re.fullmatch(r' +0\.000 \d+ syscalls:sys_enter_exit_group\(\)\n', done.stderr), done
    done = trace('-e', 'sched:sched_process_exec,exit_group', 'true')
    assert re.search(r'\(         \): true/\d+ sched:sched_process_exec\(filename: "', done.stderr), done
    assert 'exit_group()' in done.stderr, done
    done = trace('-F', 'all', '--no-syscalls', 'true')
    assert 'minfault [' in done.stderr and 'exit_group' not in done.stderr, done
    done = trace('--kernel-syscall-graph', '-e', 'getpid,close', 'sh', '-c', 'true')
    assert not done.stderr or '[kernel' in done.stderr, done


def check_summary(folder):
    done = trace('-s', 'true')
    assert '\n Summary of events:\n' in done.stderr and re.search(r'^ true \(\d+\), \d+ events, 100\.0%$', done.stderr, re.M), done
    path = folder / 'summary.txt'
    done = trace('-S', '--summary-mode', 'total', '-o', path, 'true')
    text = path.read_text()
    assert not done.stderr and LINE.match(text) and re.search(r'^ total, \d+ events, 100\.0%$', text, re.M), (done, text)
    done = trace('-as', '--summary-mode=total', '--', 'true')
    assert ' total, ' in done.stderr, done
    done = trace('--format', 'csv', '--columns', 'syscall', '--', 'sh', '-c', 'echo said')
    assert done.stdout.startswith('syscall\n') and 'said' not in done.stdout and done.stderr == 'said\n', done


def check_end():
    """Ctrl-C prints the summary of a process that goes on; a reader that has enough ends it."""
    with subprocess.Popen(['sh', '-c', 'while :; do sleep 0.02; done']) as other:
        with subprocess.Popen([PERFILE, 'trace', '-p', str(other.pid), '-S'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as tracer:
            tracer.stderr.readline()
            tracer.send_signal(signal.SIGINT)
            _, text = tracer.communicate(timeout=60)
            assert tracer.returncode == 0 and 'Summary of events' in text, text
        assert other.poll() is None
        other.kill()
    done = trace('--max-events', '1', '-e', 'exit_group', 'true')
    assert 'exit_group' in done.stderr and len(done.stderr.splitlines()) == 1, done
    with subprocess.Popen([PERFILE, 'trace', '-q', '-a'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as tracer:
        assert LINE.match(tracer.stderr.readline().decode())
        tracer.stderr.close()
        assert tracer.wait(60) == 0


def check_at_once():
    """Calls are printed while the command waits."""
    process = subprocess.Popen([PERFILE, 'trace', '-e', 'write', '--', 'sh', '-c', 'echo said; read line'], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert b'write(fd: 1' in process.stderr.readline()
    process.stdin.close()
    process.stderr.read()
    assert process.wait() == 1, process


def check_refusals():
    done = trace('-e', 'opennat', 'true', status=2)
    assert 'unknown system call "opennat"; did you mean openat?' in done.stderr, done
    done = trace('-e', 'sched:nosuch', 'true', status=2)
    assert 'sched has no tracepoint nosuch' in done.stderr, done
    done = trace('--', 'nosuch-command', status=127)
    assert done.stderr == 'perfile: trace: nosuch-command: No such file or directory\n', done
    done = trace('nosuch-command', status=3)
    assert 'neither a recording nor a command in PATH' in done.stderr, done


def check_views(folder):
    """What the others record is in a file that is gone."""
    environment = dict(os.environ, TMPDIR=str(folder))
    done = perfile('sched', 'timehist', '--stdio', '--', 'sh', '-c', 'sleep 0.01; exit 3', status=3, env=environment)
    assert 'sleep[' in done.stdout, done
    for verb in 'lock', 'kmem', 'kwork', 'offcpu', 'sched':
        done = perfile(verb, '--', 'true', env=environment)
        assert done.stdout.startswith(('caller ', 'class ', 'comm ')), done
    assert not list(folder.iterdir()), list(folder.iterdir())


def main():
    hermetic.settle()
    why = missing()
    if why:
        print(f'skipped: recording system calls: {why}')
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_views(folder)
        check_command()
        check_events()
        check_summary(folder)
        check_end()
        check_at_once()
        check_refusals()
    print('live verbs')


main()
