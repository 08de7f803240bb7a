#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""locks.py DEV: while another program has locked apt, ./dev waits, says so, and goes on.

The commands that ./dev calls are scripts of the test: apt-get finds one of its locks taken a number of times."""
import pathlib, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

APT = '''echo "$*" >>calls
[ "$(wc -l <calls)" -gt "$TAKEN" ] && exit "$THEN"
echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"
exit 100
'''
FAKES = {'apt-get': APT, 'dpkg-query': 'exit 1', 'sudo': 'shift; exec "$@"', 'meson': 'exit 0', 'ninja': 'exit 0',
         'sleep': 'exec /bin/sleep 0.05'}
REPLIES = 'another program has locked apt'
TIMEOUT_SECONDS = 120


def run(dev, **settings):
    """Exit status, output, calls of apt-get."""
    with tempfile.TemporaryDirectory(prefix='perfile-locks-') as name:
        folder = pathlib.Path(name)
        shutil.copy(dev, folder / 'dev')
        for command, script in FAKES.items():
            (folder / command).write_text(f'#!/bin/sh\n{script}\n')
            (folder / command).chmod(0o755)
        environment = hermetic.environment(PATH=f'{name}:/usr/bin:/bin', **settings)
        done = subprocess.run(['bash', folder / 'dev', 'build'], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_SECONDS)
        return done.returncode, done.stdout, (folder / 'calls').read_text().splitlines()


def main():
    hermetic.settle()
    dev, wrong = sys.argv[1], []
    for name, settings, status, reply, count in (
            ('free', {'TAKEN': '0', 'THEN': '0'}, 0, 0, 1),
            ('taken for a while', {'TAKEN': '2', 'THEN': '0'}, 0, 1, 3),
            ('a fault of another kind', {'TAKEN': '0', 'THEN': '100'}, 1, 0, 3),
            ('taken for too long', {'TAKEN': '1000000', 'THEN': '0', 'APT_WAIT': '1'}, 1, 1, None)):
        got, output, calls = run(dev, **settings)
        right = got == status and output.count(REPLIES) == reply and count in (None, len(calls))
        if not right or not all('-o DPkg::Lock::Timeout=' in call for call in calls):
            wrong.append(name)
            print(f'--- {name}: status {got}, {len(calls)} calls:\n{output}')
    print(f'{len(wrong)} wrong')
    sys.exit(bool(wrong))


main()
