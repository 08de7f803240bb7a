#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""own_memory.py PERFILE PROGRAM SHIM TREE: with an allocator of the caller's the libraries take no memory from the C library.

PROGRAM is own_memory.c with the shared libraries, SHIM count_allocations.c. What other libraries take for themselves does not
count: perfile.h says at struct perfile_allocator what that is. debuginfod, which has a thread of its own, is not asked."""
import bisect, os, pathlib, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77


def functions_of(library):
    """The functions of a library and where they begin, in order; nothing without nm."""
    if not shutil.which('nm'):
        return []
    lines = subprocess.run(['nm', library], text=True, capture_output=True).stdout.split('\n')
    return sorted((int(line.split()[0], 16), line.split()[2]) for line in lines if len(line.split()) == 3 and line.split()[1] in 'tT')


def name_of(functions, offset):
    index = bisect.bisect_right(functions, (offset, '')) - 1
    return functions[index][1] if index >= 0 else hex(offset)


def main():
    hermetic.settle()
    perfile, program, shim, tree = sys.argv[1:5]
    tree = pathlib.Path(tree)
    recording, symfs, jitted = tree / 'examples/workload.perf.data', tree / 'examples/symfs', tree / 'tests/data/jit.perf.data'
    with tempfile.TemporaryDirectory() as folder:
        archive, bundled, counted = (os.path.join(folder, name) for name in ('a.tar.gz', 'bundled.perf.data', 'counted'))
        environment = {'PATH': os.environ.get('PATH', ''), 'HOME': folder, 'XDG_CACHE_HOME': folder + '/cache', 'LC_ALL': 'C', **hermetic.WALLS}
        for verb, made in ('archive', archive), ('bundle', bundled):
            subprocess.run([perfile, verb, '--symfs', symfs, '--kallsyms', '/dev/null', '-o', made, recording], env=environment,
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run([program, recording, symfs, archive, bundled, jitted, folder], text=True, capture_output=True,
                              env={**environment, **hermetic.preloaded(shim), 'COUNT_ALLOCATIONS': counted})
        if done.returncode:
            sys.exit(f'{program}: status {done.returncode}\n{done.stdout}{done.stderr}')
        if not os.path.exists(counted):
            print('skipped: allocations: nothing can be preloaded here')
            sys.exit(SKIP)
        *places, looked_at = pathlib.Path(counted).read_text().split('\n')[:-1]
        files = sorted(os.listdir(folder + '/cache/perfile'))
    if int(looked_at) < 1000:
        sys.exit(f'only {looked_at} allocations were looked at')
    if not any(name.startswith('archive-') for name in files):
        print('the archive was not read: libarchive is missing')
    libraries = {path.name.split('.so')[0]: path for path in pathlib.Path(perfile).parent.glob('libperfile*.so')}
    for location in places:
        library, offset, taker = location.split()
        print(f'{taker} is called by {name_of(functions_of(libraries[library.split(".so")[0]]), int(offset, 16))} of {library}')
    print(f'{looked_at} allocations looked at, {len(places)} places in the libraries')
    sys.exit(len(places) > 0)


if __name__ == '__main__':
    main()
