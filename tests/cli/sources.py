#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where names come from when a mapping does not show it, and near-misses that must stay without: sources.py PERFILE ASSEMBLE

Each case has its recording, the files below --symfs, and what script prints of its samples.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import build_ids
import embedded
import go_names
import hermetic
import pe_file

ATTR = 'attr type=1 config=0 sample_type=IP|TID|TIME ids=1 name="cpu-clock" sample_id_all=1\n'
PAGE = 0x1000
cases = []


def case(name, records, files, expected, **more):
    cases.append((name, records, files, expected, more))


def mapped(name, start, prot=5, pid=7, pgoff=0, length=PAGE, time=1, more=''):
    return (f'record MMAP2 misc=2 pid={pid} tid={pid} addr={start:#x} len={length:#x} pgoff={pgoff:#x} maj=8 min=1 ino=5 ino_generation=0 '
            f'prot={prot} flags=2 filename="{name}" | pid={pid} tid={pid} time={time}\n')


def sample(ip, pid=7, time=9, misc=2):
    return f'sample misc={misc} ip={ip:#x} pid={pid} tid={pid} time={time}\n'


# ---- perf-PID.map for memory and files that nothing else explains

MAP = {'tmp/perf-7.map': b'7f0000001000 100 jit_fn\n'}
CODE = 0x7f0000000000
UNNAMED = ['[unknown] (/tmp/perf-7.map)']
for memory in ('//anon', '/memfd:doublemapper (deleted)', '[anon:v8 code]', '[anon_shmem:code]', '/dev/shm/code', '/dev/zero (deleted)',
               '/opt/lib/gone.so (deleted)', '/opt/app.dll', '/anon_hugepage (deleted)'):
    case(f'map of {memory}', mapped(memory, CODE, length=0x2000) + sample(CODE + 0x1010), MAP, ['jit_fn (/tmp/perf-7.map)'])
    own = '/tmp/perf-8.map' if memory in ('//anon', '/dev/zero (deleted)', '/anon_hugepage (deleted)') else memory
    case(f'map of another process, {memory}', mapped(memory, CODE, length=0x2000, pid=8) + sample(CODE + 0x1010, 8), MAP,
         [f'[unknown] ({own})'])
case('an address after the code', mapped('/memfd:x', CODE, length=0x2000) + sample(CODE + 0x1100), MAP, ['[unknown] (/memfd:x)'])
case('memory without code', mapped('/memfd:x', CODE, length=0x2000, prot=3) + sample(CODE + 0x1010), MAP, ['[unknown] (/memfd:x)'])
for memory, expected in (('/memfd:x', 'jit_fn (/tmp/perf-7.map)'), ('/opt/gone (deleted)', 'jit_fn (/tmp/perf-7.map)'), ('/opt/app', '[unknown] (/opt/app)')):
    case(f'a map beside the recording of another machine, {memory}', mapped(memory, CODE, length=0x2000) + sample(CODE + 0x1010),
         {'../perf-7.map': MAP['tmp/perf-7.map']}, [expected], symfs=False)


# ---- jitdump files that the recording has, of containers

DUMP_NAME = '/tmp/jit-3.dump'


def jitdump(name=b'dumped'):
    """One function of 64 bytes, made at the time 2."""
    header = struct.pack('<6I2Q', 0x4a695444, 1, 40, 62, 0, 3, 0, 0)
    load = struct.pack('<2I4Q', 3, 3, CODE + 0x1000, CODE + 0x1000, 64, 1) + name + bytes(65)
    return header + struct.pack('<2IQ', 0, 16 + len(load), 2) + load


def kept(pid, content, name=DUMP_NAME):
    body = embedded.field(1, f'/proc/{pid}/root{name}'.encode()) + embedded.field(2, 100) + embedded.field(100, content)
    return f'feature 132 hex:{(struct.pack("<I", len(body)) + body).hex()}\n'


def dumped(*features, files=None, ip=CODE + 0x1010):
    return ''.join(features) + mapped(DUMP_NAME, CODE + 0x8000) + mapped('//anon', CODE, length=0x2000) + sample(ip), files or {}


MONOTONIC = {'attr': ATTR.replace('ids=1', 'ids=1 use_clockid=1 clockid=1')}
case('a dump in the recording', *dumped(kept(7, jitdump())), ['dumped (/tmp/jitted-7-1.so)'], no_note='was not found', **MONOTONIC)
case('a dump in the recording, after its code', *dumped(kept(7, jitdump()), ip=CODE + 0x1040), ['[unknown] ([unknown])'], **MONOTONIC)
case('a dump in the recording, of another process', *dumped(kept(8, jitdump())), UNNAMED, note='was not found', **MONOTONIC)
case('a dump in the recording, of another name', *dumped(kept(7, jitdump(), '/tmp/jit-4.dump')), UNNAMED, note='was not found', **MONOTONIC)
case('dumps of two containers', *dumped(kept(8, jitdump(b'other'))[:-1], kept(7, jitdump())[len('feature 132 hex:'):]), ['dumped (/tmp/jitted-7-1.so)'], **MONOTONIC)
case('a dump in the recording is that of the time', *dumped(kept(7, jitdump()), files={'tmp/jit-3.dump': jitdump(b'other')}),
     ['dumped (/tmp/jitted-7-1.so)'], **MONOTONIC)
case('a dump in the recording that is damaged', *dumped(kept(7, jitdump()[:20])), UNNAMED, note='/tmp/jit-3.dump is not a jitdump file', **MONOTONIC)


# ---- memory over the code of a program, which moved it to large pages

TEXT = 0x401000
PROGRAM = {'bin/go': go_names.program(go_names.Table('1.20'))}
LIBRARY = {'bin/go': go_names.program(go_names.Table('1.20'), kind=3)}
BINARY, MEMORY = mapped('/bin/go', TEXT, pgoff=PAGE), mapped('//anon', TEXT, prot=7) + mapped('//anon', TEXT)
NAMED = ['main.main (/bin/go)']
MOVED = '/bin/go: its code was moved to large pages; samples there have its names'
case('moved code', BINARY + MEMORY + sample(TEXT), PROGRAM, NAMED, note=MOVED)
case('moved code, memory of large pages', BINARY + mapped('/anon_hugepage (deleted)', TEXT) + sample(TEXT), PROGRAM, NAMED, note=MOVED)
case('moved code of a parent', BINARY + MEMORY + 'record FORK pid=8 ppid=7 tid=8 ptid=7 time=5 | pid=7 tid=7 time=5\n' + sample(TEXT, 8),
     PROGRAM, NAMED)
case('memory that has a map', BINARY + MEMORY + sample(TEXT), {**PROGRAM, 'tmp/perf-7.map': b'401000 10 jit_fn\n'},
     ['jit_fn (/tmp/perf-7.map)'], no_note=MOVED)
case('memory of another process', BINARY + mapped('//anon', TEXT, pid=8) + sample(TEXT, 8), PROGRAM, ['[unknown] (/tmp/perf-8.map)'],
     no_note=MOVED)
case('memory a page longer than the code', BINARY + mapped('//anon', TEXT, length=2 * PAGE) + sample(TEXT), PROGRAM, UNNAMED, no_note=MOVED)
case('memory that starts a page before the code', BINARY + mapped('//anon', TEXT - PAGE, length=2 * PAGE) + sample(TEXT), PROGRAM, UNNAMED)
case('memory a page after the code', BINARY + mapped('//anon', TEXT + PAGE) + sample(TEXT + PAGE), PROGRAM, UNNAMED)
case('memory over two files', BINARY + mapped('/bin/other', TEXT + 0x800, length=0x800) + MEMORY + sample(TEXT), PROGRAM, UNNAMED)
case('memory over a library, which may have been unloaded', BINARY + MEMORY + sample(TEXT), LIBRARY, UNNAMED, no_note=MOVED)
case('memory of the next program', BINARY + 'record COMM misc=0x2000 pid=7 tid=7 comm="next" | pid=7 tid=7 time=2\n' + MEMORY.replace('time=1', 'time=3') +
     sample(TEXT), PROGRAM, UNNAMED, no_note=MOVED)
case('a file that is put over the memory', BINARY + MEMORY + mapped('/bin/other', TEXT) + sample(TEXT), PROGRAM, ['[unknown] (/bin/other)'])

# ---- perf-PID.map of an earlier process of that number

BOOT, S = 1700000000, 1000000000
STAT = {'proc/stat': f'cpu 1\nbtime {BOOT}\n'.encode()}
EXECUTED = f'record COMM misc=0x2000 pid=7 tid=7 comm="jit" | pid=7 tid=7 time={500 * S}\n'
JIT = mapped('//anon', CODE, length=0x2000, time=501 * S) + sample(CODE + 0x1010, time=502 * S)
BEFORE = 'perf-7.map is not used: it was written before process 7 executed its program'
JIT_NAMED = ['jit_fn (/tmp/perf-7.map)']
case('map of an earlier process', EXECUTED + JIT, {**MAP, **STAT}, UNNAMED, note=BEFORE, written=BOOT + 400, recorded=BOOT + 600)
case('map of an earlier process, memory with a name', EXECUTED + JIT.replace('//anon', '/memfd:x'), {**MAP, **STAT}, ['[unknown] (/memfd:x)'],
     note=BEFORE, written=BOOT + 400, recorded=BOOT + 600)
case('map of this process', EXECUTED + JIT, {**MAP, **STAT}, JIT_NAMED, no_note=BEFORE, written=BOOT + 501, recorded=BOOT + 600)
case('map of the moment', EXECUTED + JIT, {**MAP, **STAT}, JIT_NAMED, no_note=BEFORE, written=BOOT + 499, recorded=BOOT + 600)
case('map of a process that ran before', JIT, {**MAP, **STAT}, JIT_NAMED, no_note=BEFORE, written=BOOT + 400, recorded=BOOT + 600)
case('recording of an earlier boot', EXECUTED + JIT, {**MAP, **STAT}, JIT_NAMED, no_note=BEFORE, written=BOOT - 900, recorded=BOOT - 800)
case('the machine does not report its boot', EXECUTED + JIT, MAP, JIT_NAMED, no_note=BEFORE, written=BOOT + 400, recorded=BOOT + 600)

# ---- a program that was replaced while it ran

# The file is made when the test runs: what ran before that mapped another one, and what runs later mapped this one.

HERE = {'proc/sys/kernel/hostname': b'host\n', 'proc/sys/kernel/osrelease': b'6.1\n'}
FEATURES = 'feature HOSTNAME s:"host"\nfeature OSRELEASE s:"6.1"\n'
MAYBE = '/bin/go is not the file that was mapped, but one that replaced it: if'
NOW, AGO = int(time.time()), 1000
BOOTED = {'proc/stat': f'cpu 1\nbtime {NOW - AGO}\n'.encode()}
NOT_NAMED = ['[unknown] (/bin/go)']


def of_file(difference=0, device=0, features=FEATURES, executed=0, path='bin/go', mapping=BINARY, ip=TEXT):
    def records(root):
        about = os.stat(root / path)
        binary = mapping.replace('ino=5', f'ino={about.st_ino + difference}').replace('maj=8', f'maj={os.major(about.st_dev) + device}')
        execution = f'record COMM misc=0x2000 pid=7 tid=7 comm="go" | pid=7 tid=7 time={executed * S}\n' if executed else ''
        moment = executed * S + 1
        return (features + execution + binary.replace('min=1', f'min={os.minor(about.st_dev)}').replace('time=1\n', f'time={moment}\n') +
                sample(ip, time=moment + 1))
    return records


OTHER, LATER = {'note': '/bin/go is not used: it is not the file that was mapped'}, NOW + 10 * AGO
SILENT = {'no_note': 'is not the file that was mapped'}
case('the file that was mapped', of_file(), {**PROGRAM, **HERE}, NAMED, **SILENT)
case('another inode', of_file(1), {**PROGRAM, **HERE}, NAMED, note=MAYBE, recorded=LATER)
case('another inode, put there after the recording', of_file(1), {**PROGRAM, **HERE}, NOT_NAMED, recorded=NOW - 60, **OTHER)
case('the same inode, put there after the recording', of_file(), {**PROGRAM, **HERE}, NAMED, recorded=NOW - 60, **SILENT)
case('another inode, put there after its process started', of_file(1, executed=AGO - 60), {**PROGRAM, **HERE, **BOOTED}, NOT_NAMED,
     recorded=LATER, **OTHER)
case('another inode, of a file that is older than its process', of_file(1, executed=AGO + 600), {**PROGRAM, **HERE, **BOOTED}, NAMED,
     recorded=LATER, **SILENT)
case('another inode, and the machine does not report its boot', of_file(1, executed=AGO - 60), {**PROGRAM, **HERE}, NAMED, note=MAYBE,
     recorded=LATER)
case('another device, too: an overlay', of_file(1, 1), {**PROGRAM, **HERE}, NAMED, recorded=NOW - 60, **SILENT)
case('another machine', of_file(1, features=FEATURES.replace('host', 'other')), {**PROGRAM, **HERE}, NAMED, recorded=NOW - 60, **SILENT)

# ---- files of the wrong build, and addresses a page beside what is mapped

OWN_ID, OTHER_ID = bytes(range(1, 21)), bytes(range(2, 22))
CALLED, CODE_AT = build_ids.program(b'called', OWN_ID)
START = 0x500000


def of_build(name, build_id, start=START, misc=2, time=1):
    """A mapping of the code, which is one page, in the kernel for misc 1."""
    pid, pgoff = (-1, 0) if misc == 1 else (7, CODE_AT)
    return (f'record MMAP2 misc={0x4000 + misc:#x} pid={pid} tid={max(pid, 0)} addr={start:#x} len=0x2000 pgoff={pgoff} build_id_size=20 '
            f'build_id=hex:{build_id.hex()} prot=5 filename="{name}" | pid={pid} tid={max(pid, 0)} time={time}\n')


case('the build that was mapped', of_build('/opt/called', OWN_ID) + sample(START + 4), {'opt/called': CALLED}, ['called (/opt/called)'])
case('another build', of_build('/opt/called', OTHER_ID) + sample(START + 4), {'opt/called': CALLED}, ['[unknown] (/opt/called)'])
case('after the function', of_build('/opt/called', OWN_ID) + sample(START + 0x40), {'opt/called': CALLED}, ['[unknown] (/opt/called)'])
case('a page before the mapping', of_build('/opt/called', OWN_ID) + sample(START - PAGE + 4), {'opt/called': CALLED}, ['[unknown] ([unknown])'])
case('a page after the mapping', of_build('/opt/called', OWN_ID) + sample(START + 0x2004), {'opt/called': CALLED}, ['[unknown] ([unknown])'])
case('a page further in the mapping', of_build('/opt/called', OWN_ID) + sample(START + PAGE + 4), {'opt/called': CALLED}, ['[unknown] (/opt/called)'])
case('the mapping of another process', of_build('/opt/called', OWN_ID) + sample(START + 4, 8), {'opt/called': CALLED}, ['[unknown] ([unknown])'])

# ---- a file that was replaced, whose build id the recording has in its header

CALLED_MAPPED = mapped('/opt/called', START, pgoff=CODE_AT)


def with_header_id(build_id):
    return f'feature BUILD_ID u32:0,u16:2,u16:56,u32:7,hex:{build_id.hex()},u8:20,zeros:3,hex:{b"/opt/called".ljust(20, bytes(1)).hex()}\n'


for what, recorded, expected, note in (('after the recording', NOW - 60, 'called', SILENT), ('while it ran', LATER, '[unknown]', {
        'note': '/opt/called is not used: it is not the file that was mapped'})):
    case(f'a build id that agrees, of a file put there {what}',
         of_file(1, features=FEATURES + with_header_id(OWN_ID), executed=AGO - 60, path='opt/called', mapping=CALLED_MAPPED, ip=START + 4),
         {'opt/called': CALLED, **HERE, **BOOTED}, [f'{expected} (/opt/called)'], recorded=recorded, **note)

# ---- modules of the kernel, for all of which some versions of perf recorded the build id of the first

MODULES = {'lib/modules/6.9/one.ko': build_ids.program(b'one_sent', OWN_ID)[0], 'lib/modules/6.9/two.ko': build_ids.program(b'two_sent', OTHER_ID)[0]}
FIRST, SECOND = 0xffffffffc0000000, 0xffffffffc0010000
ONE, TWO = '/lib/modules/6.9/one.ko', '/lib/modules/6.9/two.ko'


def in_modules(second_id, *addresses):
    return (of_build(ONE, OWN_ID, FIRST, 1) + of_build(TWO, second_id, SECOND, 1, 2) + ''.join(sample(ip, misc=1) for ip in addresses))


case('two modules', in_modules(OTHER_ID, FIRST + 0x1004, SECOND + 0x1004), MODULES, [f'one_sent ({ONE})', f'two_sent ({TWO})'])
case('a module with the build id of another', in_modules(OWN_ID, FIRST + 0x1004, SECOND + 0x1004), MODULES,
     [f'one_sent ({ONE})', f'two_sent ({TWO})'])
case('a module of another build', in_modules(bytes(20 * [9]), SECOND + 0x1004), MODULES, [f'[unknown] ({TWO})'])
case('a page beside the function of a module', in_modules(OTHER_ID, SECOND + 4, SECOND + 0x2004), MODULES, [f'[unknown] ({TWO})', '[unknown] ([unknown])'])

# ---- a kernel without a recorded build id

KERNEL = {'usr/lib/debug/lib/modules/6.9/vmlinux': build_ids.program(b'kernel_work', OWN_ID)[0]}
GUESSED = 'it has the recorded release (6.9), but no build id was recorded to compare'


def in_kernel(release, build_id=None):
    end = 'filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=1\n'
    recorded = f'misc=0x4001 pid=-1 tid=0 addr=0x1000 len=0x10000 pgoff=0x1000 build_id_size=20 build_id=hex:{build_id.hex()} ' if build_id else \
        'misc=1 pid=-1 tid=0 addr=0x1000 len=0x10000 pgoff=0x1000 '
    return f'feature OSRELEASE s:"{release}"\nrecord {"MMAP2" if build_id else "MMAP"} {recorded}{end}' + sample(0x1004, misc=1)


case('a kernel by its release', in_kernel('6.9'), KERNEL, ['kernel_work ([kernel.kallsyms])'], note=GUESSED)
case('a kernel of another release', in_kernel('6.90'), KERNEL, ['[unknown] ([kernel.kallsyms])'], no_note=GUESSED)
case('a kernel of the release, another build', in_kernel('6.9', OTHER_ID), KERNEL, ['[unknown] ([kernel.kallsyms])'], no_note=GUESSED)
case('a kernel by its build id', in_kernel('6.9', OWN_ID), {'boot/vmlinux-7': KERNEL['usr/lib/debug/lib/modules/6.9/vmlinux']},
     ['kernel_work ([kernel.kallsyms])'], no_note=GUESSED)

# ---- programs of Windows, which Wine maps

EXE = '/opt/app.exe'


def in_exe(*addresses):
    return mapped(EXE, 0x140001000, pgoff=pe_file.OFFSET) + ''.join(sample(0x140001000 + ip) for ip in addresses)


FIRST_NAME, SECOND_NAME, NO_NAME = (f'{name} ({EXE})' for name in ('first', 'second_of_a_long_name', '[unknown]'))
case('symbols of a PE file', in_exe(0, 0x3f, 0x40, 0x5f), {'opt/app.exe': pe_file.image()}, [FIRST_NAME, FIRST_NAME, SECOND_NAME, SECOND_NAME])
case('after the functions of a PE file', in_exe(0x60, 0x1ff, 0x200, 0x1000), {'opt/app.exe': pe_file.image()},
     [NO_NAME, NO_NAME, NO_NAME, '[unknown] ([unknown])'])
case('exports of a PE file', in_exe(0x3f, 0x5f, 0x60), {'opt/app.exe': pe_file.image(symbols=False, exported=True)}, [FIRST_NAME, SECOND_NAME, NO_NAME])
case('exports whose ends are not known', in_exe(0, 0x40), {'opt/app.exe': pe_file.image(symbols=False, exported=True, functions=False)}, [NO_NAME] * 2)
case('a PE file without symbols', in_exe(0), {'opt/app.exe': pe_file.image(symbols=False)}, [NO_NAME], no_note='not on this machine')
case('a PE file of 32 bits', in_exe(0x3f, 0x40, 0x1ff, 0x200), {'opt/app.exe': pe_file.image(0x14c)}, [FIRST_NAME, SECOND_NAME, SECOND_NAME, NO_NAME])
case('a PE file that is cut', in_exe(0), {'opt/app.exe': pe_file.image()[:pe_file.OFFSET + 0x100]}, [NO_NAME])
case('a file that starts like a PE file', in_exe(0), {'opt/app.exe': b'MZ'.ljust(64, b'\xff')}, [NO_NAME])


def names(perfile, folder, recording, symfs=True):
    command = [*perfile, 'script', '-F', 'ip,sym,dso', *(['--symfs', folder / 'root'] if symfs else []), recording]
    done = subprocess.run(command, env=hermetic.environment(XDG_CACHE_HOME=str(folder), HOME=str(folder)), capture_output=True,
                          text=True, check=True)
    return [line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if line.strip()], done.stderr


def differences(perfile, assemble, one, folder):
    name, records, files, expected, more = one
    (folder / 'root').mkdir()
    for path, data in files.items():
        (folder / 'root' / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / 'root' / path).write_bytes(data)
    recording = folder / 'perf.data'
    records = records if isinstance(records, str) else records(folder / 'root')
    recording.write_bytes(subprocess.check_output(assemble, input=(more.get('attr', ATTR) + records).encode()))
    if 'written' in more:
        os.utime(folder / 'root/tmp/perf-7.map', (more['written'],) * 2)
    if 'recorded' in more:
        os.utime(recording, (more['recorded'],) * 2)
    got, notes = names(perfile, folder, recording, more.get('symfs', True))
    reply = [more['note']] if 'note' in more and more['note'] not in notes else []
    reply += [f'not: {more["no_note"]}'] if 'no_note' in more and more['no_note'] in notes else []
    return [f'{name}: {got}\n  not {expected}'] * (got != expected) + [f'{name}: {notes!r}\n  without {text}' for text in reply]


def main():
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    wrong = []
    for one in cases:
        with tempfile.TemporaryDirectory() as name:
            wrong += differences(perfile, assemble, one, pathlib.Path(name))
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
