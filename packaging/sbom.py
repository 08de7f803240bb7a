#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py VERSION SECONDS ARCHIVE: the SPDX 2.3 document of a release: the archive of the sources, and what its builds are linked with.

SECONDS since 1970 are those of the commit, so that the document is the same in every run. Versions of libraries are what
meson.build asks for: a build has those of its machine, which its package states."""
import datetime, hashlib, json, pathlib, re, sys

TREE = pathlib.Path(__file__).resolve().parents[1]
# name of the dependency in meson.build: name, licence, site. Those that are loaded at run time are optional.
LIBRARIES = {
    'libzstd': ('zstd', 'BSD-3-Clause', 'https://facebook.github.io/zstd/', False),
    'zlib': ('zlib', 'Zlib', 'https://zlib.net/', False),
    'liblzma': ('xz-utils', 'LicenseRef-public-domain', 'https://tukaani.org/xz/', False),
    'cxa-demangle': ('libiberty', 'GPL-2.0-or-later WITH GNU-compiler-exception', 'https://gcc.gnu.org/', True),  # WebAssembly and Windows
    'sqlite3': ('sqlite', 'blessing', 'https://sqlite.org/', False),
    'ncursesw': ('ncurses', 'X11-distribute-modifications-variant', 'https://invisible-island.net/ncurses/', False),
    'capstone': ('capstone', 'BSD-3-Clause', 'https://www.capstone-engine.org/', True),
    'libdebuginfod': ('debuginfod', 'LGPL-3.0-or-later OR GPL-2.0-or-later', 'https://sourceware.org/elfutils/', True),
    'libarchive': ('libarchive', 'BSD-2-Clause', 'https://www.libarchive.org/', True),
    'libopencsd': ('opencsd', 'BSD-3-Clause', 'https://github.com/Linaro/OpenCSD', True),
}


def needed():
    """Names of dependencies in the build files, with the version that is asked for."""
    found = {}
    for path in (TREE / 'meson.build', *TREE.glob('src/**/meson.build'), *TREE.glob('cli/**/meson.build')):
        for name, more in re.findall(r"dependency\('([\w.-]+)'([^)]*)", path.read_text()):
            version = re.search(r"version: '>= ?([\d.]+)'", more)
            found[name] = version.group(1) if version else found.get(name)
    return found


def package(id, name, version, license, site, **more):
    return {'SPDXID': f'SPDXRef-{id}', 'name': name, 'versionInfo': version, 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': license,
            'copyrightText': 'NOASSERTION', 'downloadLocation': site, 'filesAnalyzed': False, **more}


def main():
    version, seconds, archive = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    packages = [package('perfile', 'perfile', version, 'MIT', 'NOASSERTION', packageFileName=archive.name, checksums=[{'algorithm': 'SHA256', 'checksumValue': digest}])]
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-perfile')]
    for dependency, least in sorted(needed().items()):
        if dependency not in LIBRARIES:
            continue
        name, license, site, is_loaded = LIBRARIES[dependency]
        packages.append(package(dependency, name, f'>= {least}' if least else 'NOASSERTION', license, site))
        kind = 'OPTIONAL_DEPENDENCY_OF' if is_loaded else 'DEPENDENCY_OF'
        relations.append((f'SPDXRef-{dependency}', kind, 'SPDXRef-perfile'))
    made = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'perfile-{version}',
        'documentNamespace': f'urn:perfile:{version}:{digest}', 'creationInfo': {'created': made, 'creators': ['Tool: packaging/sbom.py']},
        'hasExtractedLicensingInfos': [{'licenseId': 'LicenseRef-public-domain', 'extractedText': 'liblzma is in the public domain.'}],
        'packages': packages,
        'relationships': [{'spdxElementId': a, 'relationshipType': kind, 'relatedSpdxElement': b} for a, kind, b in relations]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
