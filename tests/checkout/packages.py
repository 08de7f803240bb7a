#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py TREE INSTALLED PREFIX LIBRARIES, or --update TREE: what the packages say of the sources is so.

Versions and names agree with meson.build, the packages for building with those of ./dev, and the symbols of the libraries
with tests/api/abi.txt: each with the version that has it first, which --update keeps, and adds for new ones. INSTALLED is
Meson's list of what it installs, in PREFIX, and there in LIBRARIES: each of the files belongs into one package."""
import fnmatch, json, pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

LIBRARIES = ('libperfile', 'libperfile-analysis')
# what each machine that builds packages has, and what other packages bring along
NOT_NAMED = {'gcc', 'libc6-dev', 'ninja-build'}


def version_of(tree):
    return re.search(r"^  version: '(\d+\.\d+\.\d+)',$", (tree / 'meson.build').read_text(), re.M).group(1)


def exports(tree, library):
    """Pairs of name and version node."""
    lines = (tree / 'tests' / 'api' / 'abi.txt').read_text().splitlines()
    return [tuple(line.split()[2].split('@')) for line in lines if line.startswith(f'export {library} ')]


def package_of(library, version):
    """As Meson names the library for the loader: by the first number of the version."""
    return library + version.split('.')[0]


def symbols_path(tree, library, version):
    return tree / 'packaging' / 'debian' / f'{package_of(library, version)}.symbols'


def symbols_text(tree, library, version):
    """A symbol that the file has keeps its version; the smallest with it, with those of its builds before the release."""
    path = symbols_path(tree, library, version)
    known = dict(re.findall(r'^ (\S+) (\S+)$', path.read_text(), re.M)) if path.exists() else {}
    found = exports(tree, library)
    names = sorted({f'{node}@{node}' for _, node in found}) + [f'{name}@{node}' for name, node in found]
    return '\n'.join([f'{library}.so.{version.split(".")[0]} {package_of(library, version)} #MINVER#',
                      '* Build-Depends-Package: libperfile-dev',
                      *(f' {name} {known.get(name, version + "~")}' for name in names), ''])


def update(tree):
    version = version_of(tree)
    for library in LIBRARIES:
        symbols_path(tree, library, version).write_text(symbols_text(tree, library, version))


def check_symbols(tree, version):
    for library in LIBRARIES:
        path = symbols_path(tree, library, version)
        if not path.exists() or path.read_text() != symbols_text(tree, library, version):
            yield f'{path.name} is not what abi.txt exports: ninja -C build abi-update'
            continue
        later = [line for line in path.read_text().splitlines()[2:] if number(line.split()[1]) > number(version)]
        yield from (f'{path.name}: a version that is still to come: {line}' for line in later)


def number(version):
    return [int(part) for part in version.rstrip('~').split('.')]


def check_versions(tree, version):
    newest = re.search(r'^## (\S+)( \(not released yet\))?$', (tree / 'NEWS.md').read_text(), re.M)
    if not newest or newest.group(1) != version:
        yield f'the first version of NEWS.md is not {version}'
    control = (tree / 'packaging' / 'debian' / 'control').read_text()
    for library in LIBRARIES:
        if f'\nPackage: {package_of(library, version)}\n' not in control:
            yield f'packaging/debian/control has no {package_of(library, version)}'


def check_needs(tree):
    """What ./dev installs for building."""
    control = (tree / 'packaging' / 'debian' / 'control').read_text()
    named = set(re.findall(r'^ ([a-z][\w.+-]*)', re.search(r'^Build-Depends:\n((?: .*\n)+)', control, re.M).group(1), re.M))
    needed = set(re.search(r'^for_building=\((.*)\)$', (tree / 'dev').read_text(), re.M).group(1).split())
    yield from (f'{name} is needed for building, and not in Build-Depends' for name in sorted(needed - NOT_NAMED - named))


def check_files(tree, listing, prefix, libraries):
    """The patterns are those of dh_install."""
    patterns = [(path.stem, line.split()[0]) for path in (tree / 'packaging' / 'debian').glob('*.install')
                for line in path.read_text().splitlines() if line.strip() and not line.startswith('#')]
    for location in json.loads(listing.read_text()).values():
        location = pathlib.PurePath(location).relative_to(prefix)
        if location.is_relative_to(libraries):
            location = pathlib.PurePath('lib', 'MACHINE') / location.relative_to(libraries)
        location = f'usr/{location}'
        owners = {package for package, pattern in patterns
                  if fnmatch.fnmatchcase(location, pattern) or location.startswith(pattern + '/')}
        if len(owners) != 1:
            yield f'{location} is in {sorted(owners) or "no package"}'


def main():
    hermetic.settle()
    arguments = [argument for argument in sys.argv[1:] if argument != '--update']
    tree = pathlib.Path(arguments[0])
    if '--update' in sys.argv:
        update(tree)
        return
    version = version_of(tree)
    wrong = [*check_symbols(tree, version), *check_versions(tree, version), *check_needs(tree),
             *check_files(tree, pathlib.Path(arguments[1]), *arguments[2:])]
    print(*wrong, sep='\n')
    print(f'packages of {version}: {len(wrong)} wrong')
    sys.exit(bool(wrong))


main()
