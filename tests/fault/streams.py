#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command with outputs that fail: streams.py PERFILE RECORDING"""
import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import hermetic

# what lies on this machine takes long to read, and has nothing to do with outputs
NO_SYMBOLS = ['--symfs', '/nonexistent', '--kallsyms', '/dev/null']
VERBS = [['info'], ['info', '--format', 'json'], ['dump'], ['dump', '--format', 'json'], ['check'],
         ['script', *NO_SYMBOLS], ['report', *NO_SYMBOLS], ['flame', *NO_SYMBOLS],
         ['diff', *NO_SYMBOLS]]
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
failed = 0


def run(arguments, **more):
    return subprocess.run(WRAPPER + arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60,
                          **more)


def expect(what, condition, result):
    global failed
    if not condition:
        failed += 1
        print('%s: status %d, it says: %s' % (what, result.returncode, result.stderr.strip()))


def full_device(command):
    with open('/dev/full', 'w') as full:
        result = run(command, stdout=full)
    expect('%s >/dev/full' % command[1:-1], result.returncode == 4 and 'No space left' in result.stderr, result)
    result = run(command + ['--output', '/dev/full'])
    expect('%s -o /dev/full' % command[1:-1], result.returncode == 4 and 'No space left' in result.stderr, result)


def closed_pipe(command):
    """No one reads any more, as with `| head`: an end without a word, but not a success."""
    for disposition in (signal.SIG_DFL, signal.SIG_IGN):
        ends = os.pipe()
        os.close(ends[0])
        result = run(command, stdout=ends[1], restore_signals=False,
                     preexec_fn=lambda: signal.signal(signal.SIGPIPE, disposition))
        os.close(ends[1])
        fine = result.returncode in (0, 4, -signal.SIGPIPE, 128 + signal.SIGPIPE)
        expect('%s into a closed pipe' % command[1:-1], fine, result)


def closed_output(command):
    result = run(command, preexec_fn=lambda: os.close(1))
    expect('%s with standard output closed' % command[1:-1], result.returncode == 4 and result.stderr, result)


def file_too_large(command, folder):
    """A limit on the size of files, as a quota: what stood at the position before is still there, and nothing beside it."""
    location = os.path.join(folder, 'out')
    with open(location, 'w') as file:
        file.write('before')

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    result = run(command + ['--output', location], preexec_fn=limit)
    with open(location) as file:
        untouched = file.read() == 'before' and os.listdir(folder) == ['out']
    expect('%s -o FILE over the limit' % command[1:-1], result.returncode == 4 and untouched, result)


def main():
    hermetic.settle()
    perfile, recording = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for verb in VERBS:
            command = [perfile, *verb, *[recording] * (1 + (verb[0] == 'diff'))]
            full_device(command)
            closed_pipe(command)
            closed_output(command)
            file_too_large(command, folder)
    print('%d cases are wrong' % failed)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
