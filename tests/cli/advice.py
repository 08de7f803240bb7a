#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What verbs advise where symbols are missing or stacks are broken: advice.py PERFILE ASSEMBLE"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

ATTR = '''attr type=1 config=0 sample_type=IP|TID|TIME|CALLCHAIN|PERIOD sample_id_all=1 ids=1 name="cpu-clock:u"
feature EVENT_DESC
record COMM pid=7 tid=7 comm="gzip" | pid=7 tid=7 time=1
'''
USER = 0xfffffffffffffe00
BUILD_ID = 'ab' * 20


def mapped(name, address=0x400000, misc=2, pid=7):
    return f'record MMAP misc={misc} pid={pid} tid={pid} addr={address:#x} len=0x10000 pgoff=0 filename="{name}" | pid=7 tid=7 time=2\n'


def sample(*addresses, misc=2):
    chain = ','.join(f'{item:#x}' for item in (len(addresses) + 1, USER if misc == 2 else USER + 0x180, *addresses))
    return f'sample misc={misc} ip={addresses[0]:#x} pid=7 tid=7 time=1000 callchain={chain} period=1\n'


MAPPED2 = (f'record MMAP2 misc=0x4002 pid=7 tid=7 addr=0x500000 len=0x10000 pgoff=0 build_id_size=20 build_id=hex:{BUILD_ID} '
           'prot=5 flags=2 filename="/usr/bin/other" | pid=7 tid=7 time=2\n')
# what is wrong: the recording, and what is stated
WRONG = {
    'broken': (mapped('/usr/bin/gzip') + sample(0x400010, 7), '100% of the callchains are broken: code without '
               'frame pointers; record with perfile record --call-graph auto, or build with -fno-omit-frame-pointer (gzip)'),
    'full': (mapped('/usr/bin/gzip') + sample(*range(0x400010, 0x400010 + 127)), '100% of the callchains were cut at the maximum '
             'depth; before recording: sysctl kernel.perf_event_max_stack=1024'),
    'missing': (mapped('/usr/bin/missing') + sample(0x400010), 'no symbols for missing: the files are not on this machine; '
                '--symfs DIR, --archive FILE or DEBUGINFOD_URLS'),
    'stripped': (mapped('/usr/bin/gzip') + sample(0x400010), 'no symbols for gzip: stripped, and there is no debug file; set '
                 'DEBUGINFOD_URLS, or install debug symbols'),
    'other': (MAPPED2 + sample(0x500010), 'no symbols for other (build id unknown here, abababababab recorded): the files here '
              'are a different build'),
    'kernel': (mapped('[kernel.kallsyms]_text', 0xffffffff81000000, 1, -1) + sample(0xffffffff81000010, misc=1),
               'no symbols for [kernel.kallsyms]: this machine has no symbols of that kernel; use --kallsyms'),
    'jit': (mapped('//anon', 0x600000) + sample(0x600010), 'no symbols for [JIT] tid 7: JIT-compiled code, without a '
            'perf-PID.map or jitdump file that can be used; java needs -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'),
    'fine': (mapped('/usr/bin/gzip') + sample(0x400010, 0x400020, 0x400030, 0x400040, 7), 'no symbols for gzip: stripped'),
}
ALL = ['broken', 'missing', 'other', 'stripped', 'kernel']
# recordings of events that have views of their own
FITS = {'sched-tiny1': 'perfile sched latency, perfile offcpu', 'offcpu-cs': 'perfile offcpu', 'trace-raw': 'perfile trace -s',
        'lock': 'perfile lock contention', 'kmem-slab': 'perfile kmem stat', 'kmem-page': 'perfile kmem --page stat',
        'kwork': 'perfile kwork report', 'block': 'perfile table block_latency', 'mem-made': 'perfile mem, perfile c2c report',
        'stat': 'perfile stat report', 'two-events': None, 'words': None}  # page faults without addresses have no view
FAULTS = (ATTR.replace('config=0', 'config=2 sample_period_or_freq=1').replace('TIME|', 'TIME|ADDR|').replace('cpu-clock', 'page-faults') +
          mapped('/usr/bin/gzip') + sample(0x400010).replace(' period', ' addr=0x400010 period'))
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
VERBS = ['report --fit 80', 'report --format csv', 'flame --format folded', 'script', 'export --format speedscope', 'table functions']

failures = []


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}: {detail!r}')


def make_files(folder):
    """gzip, without symbols and without a build id."""
    header = b'\x7fELF' + bytes([2, 1, 1]) + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    load = struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, 0x1000, 0x1000, 0x1000)
    location = folder / 'fs/usr/bin'
    location.mkdir(parents=True)
    for name in 'gzip', 'other':
        (location / name).write_bytes((header + load).ljust(0x1000, b'\0'))

# What is missing in a recording, and the way out.
MISSING = {'sched-tiny2': '18% of the samples were lost while recording (3): record with larger buffers (-m 16M), '}
# What reads AUX data, by kind; None: nothing does.
PACKETS = 'perfile dump --aux prints the packets of AUX data (32 bytes of %s)'
OURS = '--itrace makes samples of AUX data (32 bytes of %s)'
TRACES = {1: ('Intel PT', [PACKETS, OURS]), 3: ('CoreSight ETM', [PACKETS, OURS]), 4: ('Arm SPE', [PACKETS, OURS]),
          5: ('s390 CPU-MF', [PACKETS, OURS]), 6: ('HiSilicon PTT', [PACKETS]), 99: ('', [])}
TRACE = ('record AUXTRACE_INFO auxtrace_type=%d priv=\n'
         'record AUXTRACE data_size=32 offset=0 reference=2000 idx=0 tid=7 cpu=0 reserved__=0 payload=zeros:32\n')


def main():
    hermetic.settle()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, pathlib.Path(program).resolve()] for program in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix='perfile-advice-') as name:
        folder = pathlib.Path(name)
        make_files(folder)
        several = ''.join(WRONG[one][0].replace('0x4000', f'0x{9 + i:x}000') for i, one in enumerate(ALL)) + WRONG['jit'][0]
        for one, text in {**{one: text for one, (text, _) in WRONG.items()}, 'several': several}.items():
            (folder / one).write_bytes(subprocess.check_output(assemble, input=(ATTR + text).encode()))

        def run(*arguments, advice='yes'):
            done = subprocess.run([*perfile, *arguments, '--symfs', 'fs'], cwd=name, capture_output=True, check=False,
                                  env=hermetic.environment(PERFILE_ADVICE=advice))
            lines = [line for line in done.stderr.decode().splitlines() if 'no symbols' in line or 'callchains' in line]
            return done.returncode, lines

        lines = run('export', '--format', 'folded', 'full', 'broken', 'full')[1]
        expect('shares of several recordings', lines and ' 100% of the callchains were cut' in ''.join(lines), lines)
        for one, (_, reply) in WRONG.items():
            status, lines = run('flame', '--format', 'folded', one)
            got = [line for line in lines if line.startswith(f'perfile: {one}: {reply}')]
            expect(one, status == 0 and len(got) == 1, lines)
            expect(f'{one}: broken', (one in ('broken', 'full')) == any('callchains' in line for line in lines), lines)
        for count, attr in ((126, ATTR), (128, ATTR), (127, ATTR.replace('sample_id_all=1', 'sample_id_all=1 sample_max_stack=200'))):
            text = attr + WRONG['full'][0].replace(sample(*range(0x400010, 0x400010 + 127)), sample(*range(0x400010, 0x400010 + count)))
            (folder / 'deep').write_bytes(subprocess.check_output(assemble, input=text.encode()))
            expect(f'{count} frames', not any('callchains' in line for line in run('flame', '--format', 'folded', 'deep')[1]))
        for verb in VERBS:
            status, lines = run(*verb.split(), 'missing')
            expect(verb, status == 0 and len(lines) == 1 and 'no symbols for missing' in lines[0], (status, lines))
        status, lines = run('flame', '--format', 'folded', 'several')
        expect('five at most', len(lines) == 5 and 'callchains' in lines[0] and 'are not on this machine' in lines[1], lines)
        expect('quiet', run('flame', '--format', 'folded', '-q', 'several') == (0, []))
        expect('unwanted', run('flame', '--format', 'folded', 'several', advice='no') == (0, []))
        for one, reply in MISSING.items():
            for advice, count in (('yes', 1), ('no', 0)):
                done = subprocess.run([*perfile, 'report', '-s', 'comm', DATA / f'{one}.perf.data'], capture_output=True,
                                      check=False, env=hermetic.environment(PERFILE_ADVICE=advice))
                expect(f'{one}: missing', done.stderr.decode().count(f'.perf.data: {reply}') == count, done.stderr)
        for kind, (name_of_kind, hints) in TRACES.items():
            (folder / 'trace').write_bytes(subprocess.check_output(assemble, input=(ATTR + TRACE % kind).encode()))
            done = subprocess.run([*perfile, 'report', '-s', 'comm', folder / 'trace'], capture_output=True, check=False,
                                  env=hermetic.environment(PERFILE_ADVICE='yes'))
            got = [line for line in done.stderr.decode().splitlines() if ' AUX data (' in line]
            expect(f'trace {kind}', got == [f'perfile: {folder / "trace"}: {hint % name_of_kind}' for hint in hints], done.stderr)
        _, lines = run('report', '--stdio', 'several') # its text says which files have no symbols
        for one, views in FITS.items():
            done = subprocess.run([*perfile, 'report', '-g', 'none', DATA / f'{one}.perf.data'], capture_output=True, check=False,
                                  env=hermetic.environment(PERFILE_ADVICE='yes'))
            reply = [line.partition('for its events try: ')[2] for line in done.stderr.decode().splitlines() if 'for its events' in line]
            expect(f'{one}: views', reply == ([views] if views else []), reply)
        (folder / 'faults').write_bytes(subprocess.check_output(assemble, input=FAULTS.encode()))
        done = subprocess.run([*perfile, 'report', folder / 'faults'], capture_output=True, check=False,
                              env=hermetic.environment(PERFILE_ADVICE='yes'))
        expect('faults with addresses', b'perfile table page_faults' in done.stderr, done.stderr)
        expect('report', len(lines) == 1 and 'callchains' in lines[0], lines)
    sys.exit(f'{len(failures)} facts are wrong' if failures else 0)


if __name__ == '__main__':
    main()
