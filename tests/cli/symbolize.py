#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbolize.py SYMBOLIZE COMPILER...: the example prints what addr2line -f -i prints, at each byte of a program's code, whether the
program itself has the debug info or another file, and by a build id alone what the build-id cache has. For a file that is missing
it prints that nothing is known."""
import os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PROGRAM = '''
static volatile int sink;
static inline __attribute__((always_inline)) int innermost(int a)
{
    return a * sink + 7;
}
static inline __attribute__((always_inline)) int inner(int a)
{
    sink = a;
    return innermost(a) ^ 3;
}
__attribute__((noinline)) int outer(int a)
{
    return inner(a + 1) + innermost(a);
}
int main(void)
{
    return outer(sink);
}
'''


def run(*command, **more):
    return subprocess.run([str(word) for word in command], text=True, check=True, capture_output=True, **more).stdout


def code_of(program):
    """The addresses of the functions of the program above."""
    found = re.findall(r'([0-9a-f]+) ([0-9a-f]+) [Tt] (?:outer|main)$', run('nm', '-S', program), re.MULTILINE)
    return [f'{address:x}' for start, size in found for address in range(int(start, 16), int(start, 16) + int(size, 16))]


def main():
    hermetic.settle()
    example, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        source, program = folder / 'program.c', folder / 'program'
        source.write_text(PROGRAM)
        run(*compiler, '-O2', '-g', '-Wl,--build-id', source, '-o', program)
        text = '\n'.join(code_of(program)) + '\n'
        expected = re.sub(r' \(discriminator \d+\)', '', run('addr2line', '-f', '-i', '-e', program, input=text))
        if expected.count('\ninnermost\n') < 3 or '??' in expected:
            sys.exit(f'addr2line: {expected}')
        environment = {**os.environ, 'HOME': str(folder), 'XDG_CACHE_HOME': str(folder / 'cache')}

        def try_it(what, binary, wanted):
            got = run(example, binary, input=text, cwd=folder, env=environment)
            if got != wanted:
                sys.exit(f'{what}:\n{got}expected:\n{wanted}')

        try_it('its own debug info', program, expected)
        try_it('from the cache of debug info, by a relative path', 'program', expected)
        build_id = re.search(r'Build ID: ([0-9a-f]{40})', run('readelf', '-n', program))[1]
        run('objcopy', '--only-keep-debug', program, folder / 'program.debug')
        run('objcopy', '--strip-debug', f'--add-gnu-debuglink={folder / "program.debug"}', program)
        try_it('a debug file beside it', program, expected)
        cached = folder / '.debug/.build-id' / build_id[:2] / build_id[2:] / 'elf'
        cached.parent.mkdir(parents=True)
        program.rename(cached)
        (folder / 'program.debug').rename(cached.parent / 'debug')
        try_it('a build id', build_id, expected)
        try_it('no file', program, '??\n??:0\n' * text.count('\n'))
    print(f'{text.count(chr(10))} addresses')


main()
