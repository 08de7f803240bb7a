#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inlined functions in callchains: inlines.py PERFILE ASSEMBLE CC...

Compiles a program with one function inlined into another, makes a recording with a sample inside, and compares the text.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
from images import PROGRAM, RECORDING, load_address

BUILD_ID = '-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314'
LINE = PROGRAM[:PROGRAM.index('__asm__')].count('\n') + 1

SECOND = '''record MMAP2 pid=7 tid=7 addr=0x%(below)x len=0x%(bytes)x pgoff=0 prot=5 filename="/no/such" | pid=7 tid=7 time=25
sample misc=2 ip=0x%(here)x pid=7 tid=7 time=30 period=1 callchain=%(count)d,0xfffffffffffffe00,%(chain)s
sample misc=2 ip=0x%(here)x pid=7 tid=7 time=31 period=1 callchain=%(count)d,0xfffffffffffffe00,%(chain)s
'''


def check_names(perfile, recording, environment):
    """Functions that were inlined are found by their names, as those that they are in; misspelt ones are suggested."""
    def run(*arguments):
        done = subprocess.run([perfile, *arguments, recording], env=environment, capture_output=True, text=True)
        return done.stdout, done.stderr.replace(str(recording), 'FILE').removeprefix('perfile: FILE: ')

    fields = ('--format', 'csv', '--sort', 'symbol', '--fields', 'overhead,symbol')
    for name in 'innermost', 'inner', 'outer':
        for options in (), ('--no-children', '-g', 'none'):
            rows, notes = run('report', '-S', name, *fields, *options)
            # a column that says the same in each row is not printed
            row = 'cpu-clock,100,user,' if name == 'outer' else 'cpu-clock,100,outer,user,'
            if row not in rows.splitlines() or notes:
                sys.exit(f'report -S {name} {options}: {rows}{notes}')
        if ' outer' not in run('script', '-S', name)[0]:
            sys.exit(f'script -S {name}')
        listing, notes = run('annotate', '--format', 'csv', name)
        wanted = '' if name == 'outer' else f'"{name}" is inlined in outer: the code around it is shown\n'
        if ',outer,' not in listing or notes != wanted:
            sys.exit(f'annotate {name}: {listing}{notes}')
    for arguments in ('report', '-S'), ('script', '-S'), ('annotate', '--format', 'csv'):
        notes = run(*arguments, 'innermots')[1]
        if not notes.startswith('no samples in function "innermots"; did you mean innermost?\n'):
            sys.exit(f'{arguments} innermots: {notes}')
        output, notes = run(*arguments, 'innermost', '--no-inline')
        if ' outer' in output or not notes.startswith('no samples in function "innermost"; there are outer\n'):
            sys.exit(f'{arguments} --no-inline: {output}{notes}')


def main():
    hermetic.settle()
    perfile, assemble, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, program, recording = folder / 'prog.c', folder / 'prog', folder / 'perf.data'
        source.write_text(PROGRAM)
        compiler += ['-g', '-O2', '-no-pie', '-fno-pie', BUILD_ID]
        subprocess.run([*compiler, '-o', program, source], check=True)
        here, outer = (int(word, 16) for word in subprocess.check_output([program], text=True).split())
        text = RECORDING % {'start': load_address(program), 'here': here, 'path': program}
        recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        environment = hermetic.environment(XDG_CACHE_HOME=str(folder / 'cache'), HOME=name)

        def lines(*options, fields='ip,sym,symoff,dso'):
            command = [perfile, 'script', '-F', fields, *options, recording]
            reply = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            return reply.split('\n')

        offset = here - outer
        frames = [f'\t{here:16x} innermost+0x{offset:x} (inlined)', f'\t{here:16x} inner+0x{offset:x} (inlined)',
                  f'\t{here:16x} outer+0x{offset:x} ({program})']
        wanted = {(): frames, ('--no-inline',): frames[2:]}
        folded = subprocess.check_output([perfile, 'flame', '--format', 'folded', recording], env=environment, text=True)
        if folded != 'prog;outer;inner;innermost 1\n':
            sys.exit(f'folded: {folded}')
        reports = {('symbol', '--fields', 'overhead_children,overhead,symbol'): [
                       '100,0,innermost,inlined,', '100,0,inner,inlined,', '100,100,outer,user,'],
                   ('symbol', '--fields', 'overhead_children,overhead,symbol', '--no-inline'): ['100,100,outer,user,'],
                   ('srcline', '--fields', 'overhead,srcline'): [f'100,prog.c:{LINE}'],
                   ('symoff', '--fields', 'overhead,symoff'): [f'100,[.] outer+0x{offset:x}'],
                   ('addr', '--fields', 'overhead,addr'): [f'100,0x{here:x}']}
        for options, expected in reports.items():
            command = [perfile, 'report', '--format', 'csv', '--sort', *options, recording]
            got = subprocess.check_output(command, env=environment, text=True).splitlines()[1:]
            if sorted(got) != sorted(f'cpu-clock,{row}' for row in expected):
                sys.exit(f'report {options}:\n' + '\n'.join(got) + '\nexpected:\n' + '\n'.join(expected))
        check_names(perfile, recording, environment)
        # the second time from the cache, the third time from one that was damaged
        for step in ('first', 'cached', 'damaged'):
            for options, expected in wanted.items():
                got = [line for line in lines(*options) if line.strip()]
                if got != expected:
                    sys.exit(f'{step} {options}:\n' + '\n'.join(got) + '\nexpected:\n' + '\n'.join(expected))
            entries = list((folder / 'cache' / 'perfile').iterdir())
            if len(entries) != 1:
                sys.exit(f'{step}: {len(entries)} files in the cache')
            if step == 'cached':
                entries[0].write_bytes(entries[0].read_bytes()[:40])
        got = [line for line in lines(fields='ip,sym,srcline') if line.strip()]
        expected = [f'\t{here:16x} innermost', '  prog.c:6 (inlined)', f'\t{here:16x} inner', '  prog.c:9 (inlined)',
                    f'\t{here:16x} outer', '  prog.c:10']
        if got != expected:
            sys.exit('source lines:\n' + '\n'.join(got) + '\nexpected:\n' + '\n'.join(expected))
        got = [line for line in lines(fields='ip') if line.strip()]
        if got != [f'\t{here:16x} (inlined)', f'\t{here:16x} (inlined)', f'\t{here:16x}']:
            sys.exit('addresses:\n' + '\n'.join(got))
        # a mapping without inlined functions ends within the page
        below = (here & ~0xfff) - 0x1000
        chain = [here - 1, below + 8, below + 16, here]
        recording.write_bytes(subprocess.check_output([assemble], input=(text + SECOND % {
            'below': below, 'bytes': here - below, 'here': here,
            'count': len(chain) + 1, 'chain': ','.join(map(hex, chain))}).encode()))
        got = [line for line in lines(fields='ip') if line.strip()][3:]
        expected = [f'\t{ip:16x}' for ip in chain[:3]] + [f'\t{here:16x} (inlined)'] * 2 + [f'\t{here:16x}']
        if got != expected * 2:
            sys.exit('two mappings of a page:\n' + '\n'.join(got))
        # a file that claims the build id of another one, seen first, and what is known of it does not become the other's
        recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        shutil.rmtree(folder / 'cache')
        claimant = folder / 'root' / str(program).lstrip('/')
        claimant.parent.mkdir(parents=True)
        (folder / 'claimant.c').write_text(PROGRAM.replace('innermost', 'pretender'))
        subprocess.run([*compiler, '-o', claimant, folder / 'claimant.c'], check=True)
        for options, name in (('--symfs', folder / 'root'), 'pretender'), ((), 'innermost'):
            got = lines(*options)[1]
            if f' {name}+' not in got:
                sys.exit(f'the same build id, {options}: {name} expected, got {got}')
        # what is not a callchain is one line, as in perf
        text = text.replace('|CALLCHAIN', '').replace('sample ip', 'sample misc=2 ip').split(' callchain=')[0]
        recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        got = lines('--full-source-path', fields='ip,sym,srcline')
        if got != [f' {here:16x} outer', f'  {source}:6', '']:
            sys.exit('without callchain:\n' + '\n'.join(got))
        # without symbols and debug info a source line is the address that addr2line takes, not that in the file
        subprocess.run([*compiler, '-s', '-o', program, source], check=True)
        here = int(subprocess.check_output([program], text=True).split()[0], 16)
        text = RECORDING % {'start': load_address(program), 'here': here, 'path': program}
        recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
        got = [line for line in lines(fields='ip,srcline') if line.strip()]
        got += subprocess.check_output([perfile, 'report', '-q', '--format', 'csv', '--sort', 'srcline', '--fields', 'srcline',
                                        recording], env=environment, text=True, stderr=subprocess.DEVNULL).splitlines()[1:]
        if got != [f'\t{here:16x}', f'  prog[{here:x}]', f'cpu-clock,prog[{here:x}]']:
            sys.exit('without symbols:\n' + '\n'.join(got))
    print('inlined functions are right')


if __name__ == '__main__':
    main()
