#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bundles: a program that was recorded is gone, and all that was shown of it still is; damaged bundles are left out.

The recording is assembled, with the build id and addresses of a program that is compiled here: no machine needs to record.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import hermetic

SOURCE = '''static inline __attribute__((always_inline)) unsigned mix(unsigned x) { return x * 2654435761u ^ (x >> 7); }
__attribute__((noinline)) unsigned work(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += mix(i);
    return sum;
}
int main(int count, char **words) { (void)words; return work((unsigned)count * 1000u) == 1; }
'''
FOOTER = 32


class Bench:
    def __init__(self, perfile, folder):
        self.perfile, self.folder = perfile, folder
        self.program, self.data, self.bundled = folder / 'program', folder / 'r.data', folder / 'bundled.data'
        self.environment = {'PATH': '/usr/bin:/bin', 'HOME': str(folder / 'home'), 'LC_ALL': 'C'}
        (folder / 'home').mkdir()

    def run(self, *words, status=0):
        done = subprocess.run([self.perfile, *words], env=self.environment, capture_output=True, timeout=60)
        assert status is None or done.returncode == status, (words, done.returncode, done.stderr)
        assert done.returncode >= 0, (words, done.returncode)
        return done

    def discard(self):
        shutil.rmtree(self.folder / 'home')
        (self.folder / 'home').mkdir()

    def shown(self, data, code=True):
        """What verbs print of it, without the recording's own name."""
        verbs = [['report', '--quiet'], ['script', '-F', '+srcline'], ['flame', '--format', 'folded']] + code * [['annotate', '--format', 'text']]
        return [self.run(*verb, data).stdout.replace(bytes(data), b'DATA') for verb in verbs]


def native():
    """Where an emulator is used, the first assembler in PATH is that of the other machine."""
    return {**os.environ, 'PATH': os.defpath} if os.environ.get('MESON_EXE_WRAPPER') else None


def make(bench, assemble, with_id):
    source = bench.folder / 'program.c'
    source.write_text(SOURCE)
    subprocess.run(['cc', '-g', '-O1', '-fno-pie', '-no-pie', '-Wl,--build-id=sha1', '-o', bench.program, source], check=True, env=native())
    names = subprocess.check_output(['nm', bench.program], text=True)
    start = {name: int(address, 16) for address, name in re.findall(r'^(\w+) [tT] (work|main)$', names, re.M)}
    pages = start['work'] & ~0xfff
    headers = subprocess.check_output(['readelf', '-lW', bench.program], text=True)
    offset = next(int(at, 16) + pages - int(where, 16) for at, where, size in
                  re.findall(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)', headers) if 0 <= pages - int(where, 16) < int(size, 16))
    build_id = re.search(r'Build ID: (\w+)', subprocess.check_output(['readelf', '-n', bench.program], text=True))[1]
    how = f'misc=0x4002 pid=1 tid=1 addr={pages:#x} len=0x2000 pgoff={offset:#x} build_id_size=20 build_id=hex:{build_id} prot=5 flags=2' \
        if with_id else f'misc=2 pid=1 tid=1 addr={pages:#x} len=0x2000 pgoff={offset:#x}'
    samples = ''.join(f'sample misc=2 ip={start["work"] + i} pid=1 tid=1 time={i + 2} period=1 callchain=2,0xfffffffffffffe00,'
                      f'{start["work"] + i}\n' for i in range(0, 24, 2))
    bench.data.write_bytes(subprocess.check_output([assemble], input=f'''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD|CALLCHAIN ids=1 name="cpu-clock" sample_id_all=1
record {'MMAP2' if with_id else 'MMAP'} {how} filename="{bench.program}" | pid=1 tid=1 time=1
{samples}'''.encode()))


def check_everywhere(bench):
    before = bench.shown(bench.data)
    assert b'mix' in before[1] and b'program.c:' in before[1] and b'inlined at program.c:6' in before[3], before
    listed = bench.run('bundle', '--code', '--dry-run', bench.data).stdout.decode()
    assert re.search(r' elf +\S+/program$', listed, re.M) and re.search(r' source +\S+/program\.c$', listed, re.M), listed
    assert bench.run('bundle', '--code', '--dry-run', '-o', bench.bundled, bench.data).stdout.decode() == listed
    assert not bench.bundled.exists(), 'a dry run wrote something'
    bench.run('bundle', '--code', '-o', bench.bundled, bench.data)
    small = bench.folder / 'small.data'
    bench.run('bundle', '-o', small, bench.data)
    assert bench.bundled.read_bytes().startswith(bench.data.read_bytes()) and small.stat().st_size < bench.bundled.stat().st_size
    for path in (bench.program, bench.folder / 'program.c'):
        path.rename(path.with_name('gone-' + path.name))
    bench.discard()
    assert bench.shown(bench.data) != before
    assert bench.shown(bench.bundled) == before, 'other text with the bundle'
    assert bench.shown(small, False) == before[:3], 'other text with the small bundle'
    assert bench.run('dump', bench.bundled).stdout == bench.run('dump', bench.data).stdout.replace(bytes(bench.data), bytes(bench.bundled))
    assert re.search(rb'^bundle +\d+ files, \d+ bytes, with code$', bench.run('info', bench.bundled).stdout, re.M)
    assert b'a bundle of ' in bench.run('check', bench.bundled).stdout
    bench.run('bundle', '-o', bench.folder / 'again.data', small)
    assert bench.shown(bench.folder / 'again.data', False) == before[:3]


def check_without_cache(bench):
    """Where no folder can hold it, a bundle is read in memory."""
    before = bench.shown(bench.bundled)
    bench.environment['HOME'] = '/dev/null'
    assert bench.shown(bench.bundled) == before, 'other text where there is no cache'
    done = bench.run('report', '--quiet', bench.bundled)
    assert b'work' in done.stdout and b'is not' not in done.stderr, done.stderr
    data, damaged = bench.bundled.read_bytes(), bench.folder / 'damaged-index.data'
    damaged.write_bytes(data[:-FOOTER - 40] + bytes([data[-FOOTER - 40] ^ 0xff]) + data[-FOOTER - 39:])
    assert bench.run('annotate', '--format', 'text', damaged).stderr.count(b'its index is damaged') == 1, 'not one message'
    again = bench.folder / 'without-cache.data'
    bench.run('bundle', '--code', '-o', again, bench.bundled)
    bench.environment['HOME'] = str(bench.folder / 'home')
    assert bench.shown(again) == before, 'other text of the bundle that was made of it'


def check_edits(bench):
    tail = bench.bundled.read_bytes()[bench.data.stat().st_size:]
    out = bench.folder / 'out.data'
    for verb in (['convert'], ['cut', '--pid', '1'], ['repair'], ['inject', '-b']):
        bench.run(*verb, '-o', out, bench.bundled)
        assert out.read_bytes().endswith(tail), verb
    for verb in (['anonymize', '-o', out, bench.bundled], ['merge', '-o', out, bench.bundled, bench.data]):
        done = bench.run(*verb)
        assert b'is left out' in done.stderr and not out.read_bytes().endswith(tail), (verb, done.stderr)


def check_damage(bench):
    """Nothing but files of the cache is made, whatever the bundle says, and the recording is read."""
    entire, start = bench.bundled.read_bytes(), bench.data.stat().st_size
    damaged, index = bench.folder / 'damaged.data', len(entire) - FOOTER
    index -= int.from_bytes(entire[index + 8:index + 12], 'little')
    places = sorted({*range(start, index, max(16, (index - start) // 24)), *range(index, len(entire), 16)})
    for location in places:
        damaged.write_bytes(entire[:location] + bytes([entire[location] ^ 0xff]) + entire[location + 1:])
        done = bench.run('script', '-G', '-F', 'ip,sym', damaged, status=None)
        assert done.returncode in (0, 1) and done.stdout.count(b'\n') == 12, (location, done)
        assert b'bundle' in done.stderr or location >= len(entire) - 8, (location, done.stderr)
    for bytes_left in (len(entire) - 1, len(entire) - FOOTER, start + 40):
        damaged.write_bytes(entire[:bytes_left])
        assert bench.run('script', '-G', '-F', 'ip,sym', damaged, status=None).stdout.count(b'\n') == 12
    damaged.write_bytes(entire[:-FOOTER] + b'\xff' * 20 + entire[-12:])
    assert b'sizes are impossible' in bench.run('script', damaged, status=None).stderr
    assert b'cannot be used' in bench.run('check', damaged, status=None).stdout
    assert {path.name for path in bench.folder.rglob('*') if path.name in ('elf', 'passwd')} <= {'elf'}


def main():
    hermetic.settle()
    perfile, assemble = map(hermetic.runnable, sys.argv[1:])
    for program in ('cc', 'nm', 'readelf'):
        if not shutil.which(program):
            print(f'skipped: bundles: there is no {program}')
            sys.exit(77)
    for with_id in (False, True):
        with hermetic.plain_folder() as name:
            bench = Bench(perfile, pathlib.Path(name).resolve())
            make(bench, assemble, with_id)
            for check in (check_everywhere, check_without_cache, check_edits, check_damage)[:4 if with_id else 2]:
                check(bench)
    print('all is as it should be')


main()
