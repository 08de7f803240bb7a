#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""indexes.py PERFILE GENERATE RECORDING...: with an index the same is printed and cut, and less is read for it."""
import os, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()
PERFILE = [*WRAPPER, sys.argv[1]]
FILTERS = (['--time', '10%-12%'], ['--time', '97%-'], ['--pid', '2010'], ['--pid', '3051,3050'], ['--pid', '77777'], ['--tid', '3040'],
           ['--cpu', '1'], ['--cpu', '1', '--pid', '3040,2'], ['--time', '40%-60%', '--pid', '3030,77777'], ['--comm', 'lua', '--pid', '3051'],
           ['--time', '50%-51%', '--cpu', '99'])
VERBS = (['script', '-F', 'comm,pid,tid,cpu,time,event,ip,sym'], ['report', '--sort', 'comm,pid,sym'], ['flame', '--format', 'folded'],
         ['table', '--format', 'csv', 'functions'])


def run(cache, *arguments):
    done = subprocess.run([*PERFILE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, 'XDG_CACHE_HOME': str(cache)})
    # how much of it was not read is of no index
    said = [line for line in done.stderr.splitlines() if b'bytes lie behind the times asked for' not in line]
    return done.returncode, done.stdout, said


def compare(folder, path, filters, verbs=VERBS):
    with_index, without = folder / 'with', folder / 'without'
    for one in filters:
        for verb in verbs:
            arguments = [verb[0], '--no-inline', *verb[1:], *one, str(path)]
            a, b = run(without, *arguments), run(with_index, *arguments)
            assert a == b, (arguments, a[0], b[0], len(a[1]), len(b[1]), a[2], b[2])
        for split in ([], ['--every', '7']):
            made = [folder / 'a.data', folder / 'b.data']
            said = [run(cache, 'cut', '--no-sync', *one, *split, '-o', str(out), str(path)) for cache, out in zip((without, with_index), made)]
            assert said[0][0] == said[1][0], (one, said)
            for line, other in zip(said[0][2], said[1][2]):
                assert line.replace(b'a.data', b'') == other.replace(b'b.data', b''), (line, other)
            if made[0].exists():
                assert made[0].read_bytes() == made[1].read_bytes(), (one, split)
            for out in made:
                out.unlink(missing_ok=True)


def main():
    hermetic.settle()
    generate = [*WRAPPER, sys.argv[2]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for sub in ('with', 'without'):
            (folder / sub).mkdir()
        large = folder / 'large.data'
        subprocess.run([*generate, 'flat', sys.argv[3], '--attr-size', '128', '-o', str(large)], check=True, capture_output=True)
        assert run(folder / 'with', 'index', str(large))[0] == 0
        compare(folder, large, FILTERS)


main()
