#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Binaries by build id, there and back: build_ids.py PERFILE ASSEMBLE

A program that was recorded is listed, put into a cache and packed; where it is gone, the cache and the archive name its
functions. A cache that someone else made leads nowhere else, and a link called perf is perfile.
"""
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
ID = bytes(range(0x11, 0x11 + 20))
HEX = ID.hex()
LONG = 'd' * 120  # a name that needs more than a tar header


def program(function=b'compute', build_id=ID):
    """x86-64, one function of 64 bytes at 0x1000, a build id of 20 bytes, and as many bytes for the code."""
    names = b'\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab\0'
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id
    symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 2, 0x1000, 64)
    parts, location, headers = [note, bytes(64), symbols, b'\0' + function + b'\0', names], [], []
    body = bytearray(64 + 56)
    for part in parts:
        body += bytes(-len(body) % 16)
        location.append(len(body))
        body += part
    kinds = [(b'.note', 7, 2, 0, 0, 0), (b'.text', 1, 6, 0x1000, 0, 0), (b'.symtab', 2, 0, 0, 4, 24),
             (b'.strtab', 3, 0, 0, 0, 0), (b'.shstrtab', 3, 0, 0, 0, 0)]
    for (name, kind, flags, address, link, size), at, part in zip(kinds, location, parts):
        headers.append(struct.pack('<IIQQQQIIQQ', names.index(name), kind, flags, address, at, len(part), link, 1, 4, size))
    body += bytes(-len(body) % 16)
    sections = len(body)
    body += bytes(64) + b''.join(headers)
    body[:64] = b'\x7fELF\2\1\1'.ljust(16, b'\0') + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0x1000, 64, sections, 0, 64,
                                                                56, 1, 64, 6, 5)
    body[64:120] = struct.pack('<IIQQQQQQ', 1, 5, location[1], 0x1000, 0x1000, 64, 64, 0x1000)
    return bytes(body), location[1]


def recording(path, offset):
    return f'''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
record MMAP2 misc=0x4002 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff={offset} build_id_size=20 build_id=hex:{HEX} prot=5 filename="{path}" | pid=7 tid=7 time=12
record MMAP2 misc=0x4002 pid=7 tid=7 addr=0x500000 len=0x1000 pgoff=0 build_id_size=20 build_id=hex:{'ab' * 20} prot=5 filename="/no/../such" | pid=7 tid=7 time=13
sample misc=2 ip=0x400004 pid=7 tid=7 time=20 period=1
sample misc=2 ip=0x500004 pid=7 tid=7 time=21 period=1
'''


class Bench:
    def __init__(self, folder, perfile, assemble):
        self.folder, self.perfile = folder, perfile
        self.environment = hermetic.environment(HOME=str(folder / 'home'), XDG_CACHE_HOME=str(folder / 'home'))
        (folder / 'home').mkdir()
        (folder / LONG).mkdir()
        self.binary, self.data = folder / LONG / 'prog', folder / 'perf.data'
        image, offset = program()
        self.binary.write_bytes(image)
        text = recording(self.binary, offset).encode()
        self.data.write_bytes(subprocess.check_output(assemble, input=text))

    def run(self, *arguments, status=0, environment=()):
        done = subprocess.run([*self.perfile, *map(str, arguments)], env={**self.environment, **dict(environment)},
                              cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == status, (arguments, done)
        return done.stdout

    def symbols(self, *options):
        samples = json.loads(self.run('data', 'convert', '--to-json', '-', *options, self.data))['samples']
        return [sample['callchain'][0].get('symbol') for sample in samples]


def check_lists(bench):
    lines = [f'{HEX} {bench.binary}', f'{"ab" * 20} /no/../such']
    assert bench.run('buildid-list', bench.data).splitlines() == lines
    assert bench.run('buildid-list', bench.binary).strip() == HEX
    rows = [json.loads(line) for line in bench.run('buildid-list', '-H', '--format', 'jsonl', bench.data).splitlines()]
    assert rows == [dict(zip(('build_id', 'path'), line.split(maxsplit=1))) for line in lines], rows
    sample = json.loads(bench.run('data', 'convert', '--to-json', '-', bench.data))['samples'][0]
    assert sample['callchain'] == [{'ip': '0x400004', 'symbol': 'compute', 'dso': 'prog'}], sample


def check_cache(bench):
    cache = bench.folder / 'cache'
    bench.run('buildid-cache', '--buildid-dir', cache, '--add', bench.binary)
    assert bench.run('--buildid-dir', cache, 'buildid-cache', '-l') == f'{HEX} {bench.binary.resolve()}\n'
    assert bench.run('buildid-cache', '-l', environment={'PERF_BUILDID_DIR': str(cache)}).startswith(HEX)
    home = bench.folder / 'home'
    home.mkdir(exist_ok=True)
    for text, found in ((f'[report]\n\tdir = /no\n[buildid] # perf\n\tdir = "{cache}" ; here\n', True), ('[buildid]\n\tDir=~/../cache\n', True),
                        (f'[report]\ndir = {cache}\n', False), (f'[buildid]\n# dir = {cache}\nother = {cache}\n', False)):
        (home / '.perfconfig').write_text(text)
        assert bench.run('buildid-cache', '-l', environment={'HOME': str(home)}).startswith(HEX) == found, text
    assert bench.run('buildid-cache', '-l', environment={'PERF_CONFIG': str(home / 'none'), 'HOME': str(home)}) == ''
    (home / '.perfconfig').unlink()
    link = cache / '.build-id' / HEX[:2] / HEX[2:]
    assert link.is_symlink() and (link / 'elf').read_bytes() == bench.binary.read_bytes()
    assert bench.run('buildid-cache', '--buildid-dir', cache, '-M', bench.data) == f'{"ab" * 20} /no/../such\n'
    bench.run('buildid-cache', '--buildid-dir', cache, '-u', bench.binary)
    away = bench.binary.rename(bench.folder / 'away')
    assert bench.symbols() == [None, None], bench.symbols()
    assert bench.symbols('--buildid-dir', cache) == ['compute', None]
    away.rename(bench.binary)
    bench.run('buildid-cache', '--buildid-dir', cache, '-r', bench.binary)
    assert not link.is_symlink() and [p for p in cache.rglob('*') if p.name != '.build-id'] == []
    bench.run('buildid-cache', '--buildid-dir', cache, '-r', bench.binary, status=1)
    bench.run('buildid-cache', '--buildid-dir', cache, '-a', bench.binary)
    bench.run('buildid-cache', '--buildid-dir', cache, '-p', bench.binary)
    bench.run('buildid-cache', '--buildid-dir', cache, '-a', bench.binary)
    bench.run('buildid-cache', '--buildid-dir', cache, '-P')
    assert bench.run('buildid-cache', '--buildid-dir', cache, '-l') == ''


def check_foreign_cache(bench):
    """Links that lead elsewhere are removed, what they lead to is not."""
    cache, kept = bench.folder / 'foreign', bench.folder / 'kept'
    (kept / HEX).mkdir(parents=True)
    (kept / HEX / 'elf').write_text('mine')
    links = cache / '.build-id' / HEX[:2]
    for target in (f'../../../kept/{HEX}', str(kept / HEX), f'../../way/{HEX}'):
        links.mkdir(parents=True, exist_ok=True)
        (cache / 'way').unlink(missing_ok=True)
        (cache / 'way').symlink_to(kept)
        (links / HEX[2:]).symlink_to(target)
        bench.run('buildid-cache', '--buildid-dir', cache, '-r', bench.binary)
        assert not (links / HEX[2:]).is_symlink() and (kept / HEX / 'elf').read_text() == 'mine', target
    (cache / 'way').unlink()
    first = bench.binary.resolve().parts[1]
    (cache / first).symlink_to(kept)
    bench.run('buildid-cache', '--buildid-dir', cache, '-a', bench.binary, status=4)
    assert sorted(p.name for p in kept.iterdir()) == [HEX]


def check_archive(bench):
    bench.run('archive', bench.data)
    with tarfile.open(bench.folder / 'perf.data.tar.gz') as tar:
        members = {member.name: member for member in tar.getmembers()}
    folder = f'{str(bench.binary)[1:]}/{HEX}'
    assert set(members) == {f'{folder}/elf', f'.build-id/{HEX[:2]}/{HEX[2:]}'}, members
    assert members[f'.build-id/{HEX[:2]}/{HEX[2:]}'].linkname == f'../../{folder}'
    plain = subprocess.run([*bench.perfile, '-q', 'archive', '-o', '-', bench.data], env=bench.environment,
                           cwd=bench.folder, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        assert tar.extractfile(f'{folder}/elf').read() == bench.binary.read_bytes()
        home = bench.folder / 'unpacked'
        for member in tar.getmembers():  # as `tar xf` in ~/.debug
            (home / member.name).parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                (home / member.name).symlink_to(member.linkname)
            else:
                (home / member.name).write_bytes(tar.extractfile(member).read())
    away = bench.binary.rename(bench.folder / 'away')
    assert bench.symbols('--buildid-dir', home) == ['compute', None]
    assert bench.symbols('--archive', home) == ['compute', None]
    away.rename(bench.binary)


def check_name(bench):
    if len(bench.perfile) > 1:  # an emulator
        return
    (bench.folder / 'perf').symlink_to(pathlib.Path(bench.perfile[0]).resolve())
    views = (('sched', 'timehist', 'sched-tiny1'), ('sched', 'latency', 'sched-tiny1'), ('lock', 'contention', 'lock'),
             ('kwork', 'report', 'kwork'), ('kmem', 'stat', 'kmem-slab'))
    views = [(verb, view, '-i', DATA / f'{name}.perf.data') for verb, view, name in views]
    views.append(('annotate', bench.data))
    wanted = [bench.run(*view, '--stdio') for view in views]
    bench.perfile = [bench.folder / 'perf']
    found = [bench.run(*view) for view in views]
    assert wanted == found and all(wanted), list(zip(wanted, found))
    assert bench.run(*views[0], '--format', 'csv').startswith('time,')
    for command in ('version', '--version'):
        assert bench.run(command).startswith('perf version 7.2 (perfile '), bench.run(command)
    assert bench.run('evlist', bench.data) == 'cpu-clock\n'
    assert bench.run('help', 'evlist').startswith('Usage: perf evlist')


def main():
    hermetic.settle()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, os.path.abspath(program)] for program in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(name).resolve(), perfile, assemble)
        for check in (check_lists, check_cache, check_foreign_cache, check_archive, check_name):
            check(bench)


if __name__ == '__main__':
    main()
