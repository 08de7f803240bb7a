#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapped.py PERFILE RECORDINGS... [--corpus]: where samples hit stays when the records of mappings are written anew.

With `inject --mmap2-buildids` and `--mmap2-buildid-all` each sample has the same process, address, callchain, branches,
binary and offset in it as before, and no sample is lost.

--corpus: also recordings of the corpus.
"""
import os, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

TIMEOUT_SECONDS = 300
RECORDINGS = 60  # of the corpus, unless all are asked for
FIELDS = 'tid,pid,time,event,ip,dso,dsoff,brstack,addr'
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


def run(*arguments):
    done = served.run([*WRAPPER, *(str(a) for a in arguments)], timeout=TIMEOUT_SECONDS)
    return done.returncode, done.stdout


def places(perfile, path):
    """The samples as text, in any order: records without a time may change their position."""
    for fields in (FIELDS, FIELDS.replace(',brstack', ''), FIELDS.replace(',brstack', '').replace(',addr', '')):
        status, text = run(perfile, 'script', '--symfs', '/nowhere', '--ns', '-F', fields, path)
        if status < 2:
            return fields, sorted(text.split(b'\n\n'))
    return None, None


def check(perfile, source, folder):
    """How many samples were compared, and what is wrong. All are files in the order of time with nothing beside them."""
    path = folder / 'recording'
    status, _ = run(perfile, 'inject', '--no-sync', '-q', source, '-o', path)
    fields, before = places(perfile, path) if status < 2 else (None, None)
    if not fields:
        return 0, []
    wrong = []
    for option in ('--mmap2-buildids', '--mmap2-buildid-all'):
        made = folder / 'made'
        status, _ = run(perfile, 'inject', option, '--no-sync', '-q', '--symfs', '/nowhere', path, '-o', made)
        after = places(perfile, made) if status < 2 else (None, None)
        if after[0] != fields or after[1] != before:
            lost = [text for text in before if text not in set(after[1] or [])][:1]
            wrong.append(f'{source} {option}: exit status {status}: {lost}')
        subprocess.run(['rm', '-rf', made], check=True)
    return len(before), wrong


def main():
    hermetic.settle()
    perfile, paths = hermetic.command_and_recordings(RECORDINGS, 1 << 22, without=('broken',))
    compared, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            count, wrong = check(perfile, path, pathlib.Path(folder))
            compared, failures = compared + count, failures + wrong
    for failure in failures:
        print(failure[:700])
    print(f'{compared} samples compared, {len(failures)} recordings differ')
    return bool(failures) or not compared


if __name__ == '__main__':
    sys.exit(main())
