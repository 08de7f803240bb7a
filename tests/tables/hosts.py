#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hosts.py PERFILE UNZSTD ASSEMBLE: names of machines become folders of a dataset, and what was added is never removed.

Folders are below the dataset, valid UTF-8 and short enough for file systems, whatever the recording has for its host. A marker that
cannot be read is reported, and files that may belong to it stay.
"""
import pathlib, subprocess, sys, tempfile, urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
from datasets import Dataset, digest, expect, wrong

HOSTS = {  # bytes of the recording: the value that engines read
    b'web1': 'web1',
    b'db..local': 'db..local',
    b'..': '..',
    b'a/../b': 'a/../b',
    b'%2F..%2F': '%2F..%2F',
    b'\xff\xfe': r'\xff\xfe',
    'größe.☃'.encode(): 'größe.☃',
    b'\xe2\x98': r'\xe2\x98',
    b'x' * 3000: 'x' * 192,
    '☃'.encode() * 1000: '☃' * 21,
    b'': '__HIVE_DEFAULT_PARTITION__',
}
TEXT = '''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD ids=1 sample_id_all=1
feature HOSTNAME u32:{},hex:{}
record COMM pid=7 tid=7 comm="c" | pid=7 tid=7 time=1
sample misc=2 ip=0x400010 pid=7 tid=7 time={} period=1
'''


def make(assemble, folder):
    paths = {}
    for number, host in enumerate(HOSTS):
        text = TEXT.format(len(host) + 1, host.hex() + '00', 10 + number)
        paths[host] = folder / f'{number}.perf.data'
        paths[host].write_bytes(subprocess.run([assemble], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout)
    return paths


def check_names(dataset, paths):
    dataset.add(*paths.values())
    for host, path in paths.items():
        found = [file for file in dataset.files() if file.stem == digest(path)]
        names = {part for file in found for part in file.relative_to(dataset.folder).parts if part.startswith('host=')}
        expect(f'{host[:20]}: {len(found)} files, in {names}', len(found) == 7 and len(names) == 1)
        for name in names:
            expect(f'{host[:20]}: a name of {len(name)} bytes', name.isascii() and len(name) <= 255)
            expect(f'{host[:20]}: {name}', urllib.parse.unquote(name[5:], errors='replace') == HOSTS[host])


def check_kept(dataset, paths):
    """What was added stays, and is joined."""
    before = {table: dataset.rows(table) for table in ('samples', 'meta')}
    files = dataset.files()
    expect('check finds something', 'all is there' in dataset.verb('check'))
    dataset.verb('check', '--remove')
    expect('check --remove removes recordings', dataset.files() == files)
    dataset.verb('compact')
    expect('compact changes rows', {table: dataset.rows(table) for table in before} == before)
    expect('not all can be found', set(before['samples']) == {digest(path) for path in paths.values()})


def check_marker(dataset, path):
    """A marker of another version, or one that was damaged."""
    marker = dataset.folder / '_perfile/recordings' / digest(path)
    entire, files = marker.read_bytes(), [file for file in dataset.files() if file.stem == marker.name]
    for content in entire.replace(b'state valid', b'state other'), entire[:-1], b'':
        marker.write_bytes(content)
        found = dataset.verb('check', '--remove', status=1)
        expect(f'files of a bad marker are removed: {found}', all(file.exists() for file in files) and marker.read_bytes() == content)
        expect(f'the marker is not named: {found}', str(marker) in found)
        reply = dataset.verb('compact', status=1, reply=True)
        expect(f'compact says nothing of it: {reply}', 'markers that cannot be read: 1' in reply)
        expect('compact joins files of a bad marker', all(file.exists() for file in files))
        dataset.add(path)
        expect('adding does not write it anew', marker.read_bytes() == entire)
    dataset.verb('check')


def check_damaged_double(dataset, paths):
    """Rows stand twice, but the joined file cannot be read: the other one is needed."""
    dataset.add(*paths, keys='none')
    small = {path: path.read_bytes() for path in dataset.files('samples')}
    dataset.verb('compact')
    joined, = dataset.files('samples')
    for path, data in small.items():
        path.write_bytes(data)
    joined.write_bytes(joined.read_bytes()[:-1])
    expect('the damaged file is not found', 'damaged' in dataset.verb('check', '--remove', status=1))
    expect('check --remove removes the good files', all(path.exists() for path in small))
    subprocess.run([dataset.perfile, 'dataset', 'compact', dataset.folder], stderr=subprocess.DEVNULL)
    expect('compact removes the good files', all(path.exists() for path in small))


def check_foreign(dataset):
    """Files that no command of ours writes: of desktops, of rsync at work, of NFS."""
    folder = dataset.files('samples')[0].parent
    others = [folder / name for name in ('.directory', f'.{32 * "a"}.parquet.Xa3fQ9', '.nfs000000000012')]
    for path in others:
        path.write_bytes(b'x')
    found = dataset.verb('check', '--remove', status=1)
    expect(f'files of others are removed: {found}', found.count('foreign') == 3 and all(path.exists() for path in others))


def main():
    perfile, unzstd, assemble = map(hermetic.runnable, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = make(assemble, folder)
        dataset = Dataset(perfile, unzstd, folder / 'hosts')
        check_names(dataset, paths)
        check_marker(dataset, paths[b'web1'])
        check_kept(dataset, paths)
        check_damaged_double(Dataset(perfile, unzstd, folder / 'double'), list(paths.values())[:3])
        check_foreign(dataset)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
