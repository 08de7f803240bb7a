#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""walls.py PERFILE ASSEMBLE LEAKS TREE: within the walls (walls.c) tests see their own files, and nothing of the machine.

LEAKS (leaks.c) tries to see planted files in all ways, once without the walls, which shows that the ways work, and once
within. perfile is made to look for each kind of what it reads of a machine; the log has what was refused."""
import os, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
PLANTED = ('/proc/kallsyms', '/sys/kernel/notes', '/usr/bin/env', '/etc/localtime', '/etc/passwd', '/root', '/home', '/usr/lib',
           '/')
OF_FILES = {'open', 'openat', 'relative', 'fopen', 'stat', 'lstat', 'fstatat', 'statx', 'access', 'faccessat', 'realpath'}
OF_FOLDERS = {'opendir', 'scandir'}
TOKYO = '/usr/share/zoneinfo/Asia/Tokyo'
KERNEL_ID = 'ab' * 20
RECORDING = f'''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 exclude_kernel=0
feature HOSTNAME s:"host"
feature OSRELEASE s:"release"
record MMAP2 misc=0x4001 pid=-1 tid=0 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 build_id_size=20 build_id=hex:{KERNEL_ID} filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=0
record COMM pid=7 tid=7 comm="env" | pid=7 tid=7 time=1
record MMAP2 misc=2 pid=7 tid=7 addr=0x400000 len=0x100000 pgoff=0 prot=5 filename="/usr/bin/env" | pid=7 tid=7 time=2
sample misc=1 ip=0xffffffff81000100 pid=7 tid=7 time=3 period=1
sample misc=2 ip=0x405000 pid=7 tid=7 time=4 period=1
'''
wrong = []


def expect(what, right, detail=''):
    if not right:
        wrong.append(what)
        print(f'wrong: {what}: {detail}')


class Walls:
    def __init__(self, perfile, leaks, folder):
        self.perfile, self.leaks, self.log = perfile, leaks, folder / 'log'
        self.bare = {name: value for name, value in os.environ.items() if name not in hermetic.WALLS}

    def run(self, *words, without=(), **more):
        """What a command within the walls prints, and what was refused; `without` some variables."""
        self.log.write_text('')
        environment = {name: value for name, value in {**os.environ, 'WALLS_LOG': str(self.log), **more}.items() if name not in without}
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
        return done.stdout, self.log.read_text()

    def outside(self, *words, **more):
        return subprocess.run(words, env={**self.bare, **more}, capture_output=True, text=True).stdout


def test_planted(walls, folder):
    for path in PLANTED:
        for spelled in path, f'{folder}{"/.." * 20}{path}', f'//.{path}':
            seen, refused = walls.run(walls.leaks, spelled)
            expect(f'{spelled} within', not seen, seen)
            expect(f'{spelled} refused', f'leaks: {path}\n' in refused.replace(': \n', ': /\n'), refused)
        if os.access(path, os.R_OK):
            found = {line.split()[0] for line in walls.outside(walls.leaks, path).splitlines()}
            expect(f'{path} without', (OF_FOLDERS if os.path.isdir(path) else OF_FILES) <= found, found)


def test_permitted(walls, folder, tree):
    (folder / 'link').symlink_to('log')
    for path, ways in ((tree / 'dev', OF_FILES), ('/dev/null', OF_FILES), (tree / 'tests', OF_FOLDERS), (folder, OF_FOLDERS),
                       (folder / 'link', OF_FILES | {'readlink', 'readlinkat'}), ('/proc/self/exe', {'readlink', 'readlinkat'})):
        seen, refused = walls.run(walls.leaks, str(path))
        found = {line.split()[0] for line in seen.splitlines()}
        expect(f'{path}', ways <= found and not refused, f'{seen}{refused}')


def test_beside(walls, folder):
    """A folder whose name only begins like one that is permitted."""
    seen, refused = walls.run(walls.leaks, '/dev/null-of-others', '/proc/selfish')
    expect('names that begin alike', not seen and refused.count('leaks: ') > 20, f'{seen}{refused}')


def test_zone(walls):
    for zone in {}, {'TZ': f':{TOKYO}'}, {'TZ': 'Asia/Tokyo'}:
        seen, refused = walls.run(walls.leaks, without=() if zone else ('TZ',), **zone)
        expect(f'zone {zone}', 'zone' not in seen and ('/usr/share/zoneinfo' if zone else '/etc/localtime') in refused, f'{seen}{refused}')
    expect('an offset is no file', walls.run(walls.leaks, TZ='XXX-9') == ('zone 09:00\n', ''))
    expect('a zone without', not os.path.exists(TOKYO) or 'zone 09:00' in walls.outside(walls.leaks, TZ=f':{TOKYO}'))


def test_command(walls, recording):
    """What perfile looks for on a machine is refused, one kind after the other."""
    for what, words, more, path in (
            ('kallsyms', ['kallsyms', 'schedule'], {}, '/proc/kallsyms'),
            ('notes', ['report', recording], {}, '/sys/kernel/notes'),
            ('its name', ['report', recording], {}, '/proc/sys/kernel/hostname'),
            ('a binary', ['report', recording], {}, '/usr/bin/env'),
            ('debug files', ['report', recording], {}, f'/usr/lib/debug/.build-id/{KERNEL_ID[:2]}/{KERNEL_ID[2:]}.debug'),
            ('home', ['report', recording], {'HOME': '/root'}, f'/root/.debug/.build-id/{KERNEL_ID[:2]}/{KERNEL_ID[2:]}/elf'),
            ('zone', ['report', '--header-only', recording], {}, '/etc/localtime')):
        seen, refused = walls.run(walls.perfile, *words, without=('TZ',), **more)
        expect(f'perfile: {what}', f'perfile: {path}\n' in refused, f'{seen}{refused}')


def test_others(walls):
    """Programs of the machine are not inside; what they start is."""
    seen, refused = walls.run('sh', '-c', f'test -e /usr/bin/env && echo there; "$0" /usr/bin/env', walls.leaks)
    expect('a shell', seen == 'there\n' and 'leaks: /usr/bin/env' in refused and 'sh: ' not in refused, seen + refused)
    code = 'import os; print(os.path.exists("/usr/bin/env"))'
    seen, _ = walls.run(sys.executable, *hermetic.FLAGS, '-c', code, **hermetic.INSIDE)
    expect('Python inside', seen == 'False\n', seen)


def main():
    hermetic.settle()
    perfile, assemble, leaks, tree = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
    if not hermetic.WALLS:
        print('skipped: walls: PERFILE_WALLS names none; this build can preload nothing')
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recording = folder / 'of-this-machine.perf.data'
        recording.write_bytes(subprocess.run([assemble], input=RECORDING.encode(), capture_output=True, check=True).stdout)
        walls = Walls(perfile, leaks, folder)
        test_planted(walls, folder)
        test_permitted(walls, folder, tree)
        test_beside(walls, folder)
        test_zone(walls)
        test_command(walls, recording)
        test_others(walls)
    print(f'{len(wrong)} wrong')
    sys.exit(bool(wrong))


main()
