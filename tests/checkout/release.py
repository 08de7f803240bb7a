#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""release.py TREE: what is published of a version is the same in two runs, has an SBOM with all libraries, and is refused before NEWS.md says so.

Skipped where there is no git, or this is not a checkout of it."""
import hashlib, json, os, pathlib, re, shutil, subprocess, sys, tarfile, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
NOT_LINKED = {'cmocka', 'dl', 'threads', 'm'}  # of tests, and of the C library
wrong = []


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text)


def release(tree, *arguments, zone='UTC'):
    return subprocess.run([tree / 'packaging/release', *arguments], capture_output=True, text=True, env={**os.environ, 'TZ': zone})


def check_made(tree, folder, version):
    for name, zone in ('one', 'UTC'), ('two', 'Asia/Tokyo'):
        done = release(tree, '--draft', folder / name, zone=zone)
        expect(done.stdout + done.stderr, done.returncode == 0)
    names = f'perfile-{version}.tar.gz', f'perfile-{version}.spdx.json', f'perfile-{version}.sha256'
    for name in names:
        expect(f'{name} differs', (folder / 'one' / name).read_bytes() == (folder / 'two' / name).read_bytes())
    for line in (folder / 'one' / names[2]).read_text().splitlines():
        digest, name = line.split()
        expect(f'the checksum of {name} is wrong', hashlib.sha256((folder / 'one' / name).read_bytes()).hexdigest() == digest)
    with tarfile.open(folder / 'one' / names[0]) as archive:
        expect('a file is not below the folder of the version', all(name.startswith(f'perfile-{version}') for name in archive.getnames()))
    return json.loads((folder / 'one' / names[1]).read_text())


def check_sbom(tree, document):
    expect(f'{document["spdxVersion"]}', document['spdxVersion'] == 'SPDX-2.3')
    ids = {one['SPDXID'] for one in document['packages']}
    related = {one[end] for one in document['relationships'] for end in ('spdxElementId', 'relatedSpdxElement')}
    expect(f'relations of what is not there: {related - ids}', related - ids == {'SPDXRef-DOCUMENT'})
    asked = {name for path in (tree / 'meson.build', *tree.glob('src/**/meson.build'), *tree.glob('cli/**/meson.build'))
             for name in re.findall(r"dependency\('([\w.-]+)'", path.read_text())}
    expect(f'not in the SBOM: {asked - NOT_LINKED}', {f'SPDXRef-{name}' for name in asked - NOT_LINKED} <= ids)


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which('git') or subprocess.run(['git', '-C', tree, 'rev-parse', '-q', '--verify', 'HEAD'], capture_output=True).returncode:
        print('skipped: not a checkout of git')
        return SKIP
    version = re.search(r"^  version: '(.*)',$", (tree / 'meson.build').read_text(), re.M).group(1)
    with tempfile.TemporaryDirectory() as name:
        check_sbom(tree, check_made(tree, pathlib.Path(name), version))
        if f'## {version} (not released yet)' in (tree / 'NEWS.md').read_text():
            done = release(tree, pathlib.Path(name) / 'early')
            expect(f'released before NEWS.md says so: {done.stderr}', done.returncode == 1 and 'not released yet' in done.stderr)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
