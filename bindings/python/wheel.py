#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel.py BUILD FOLDER: a wheel of the package with both libraries and what they need, in FOLDER; prints its path.

It is installed without a network and without the libraries of a distribution. By the rules of manylinux (PEP 600) it may use
libraries of the system that every distribution has, and the oldest C library that has the versions of symbols it names: that is in
the name of the wheel. What it holds besides is loaded by the package itself, so that no path in a library is changed, and has its
licence text beside it, as the package of the distribution gives it: dpkg must know the libraries."""
import base64, hashlib, pathlib, platform, re, subprocess, sys, tempfile, zipfile

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENTS, COMMON = pathlib.Path('/usr/share/doc'), pathlib.Path('/usr/share/common-licenses')
OURS = 'libperfile.so', 'libperfile-analysis.so'
# what PEP 600 lets wheels use of the system, as far as these libraries do
SYSTEM = re.compile(r'(linux-vdso\.so\.1|ld-linux.*|libc\.so\.6|libm\.so\.6|libdl\.so\.2|librt\.so\.1|libpthread\.so\.0|libgcc_s\.so\.1|libstdc\+\+\.so\.6)$')


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True).stdout


def needed(library):
    return re.findall(r'\(NEEDED\).*\[(.+)\]', run('readelf', '-dW', library))


def paths_of(library):
    """Where the loader finds what a library needs, directly or not."""
    return {name: pathlib.Path(path) for name, path in re.findall(r'(\S+) => (/\S+)', run('ldd', library))}


def in_order(roots):
    """The libraries to be held, each after those that it needs."""
    paths = {}
    for root in roots:
        paths.update(paths_of(root), **{root.name: root})
    found = {}

    def visit(name):
        if SYSTEM.match(name) or name in found:
            return
        for other in needed(paths[name]):
            visit(other)
        found[name] = paths[name].resolve()
    for root in roots:
        visit(root.name)
    return found


def oldest_c_library(libraries):
    """The highest version of a symbol of the C library that any of them names."""
    versions = [tuple(map(int, version.split('.'))) for library in libraries
                for version in re.findall(r'GLIBC_(\d+\.\d+)', run('readelf', '-VW', library))]
    return max(versions)


def package_of(path):
    """The package of the distribution that owns a library; where /lib became a link, packages may still say /lib/..."""
    for name in (path, str(path).removeprefix('/usr')):
        try:
            found = subprocess.run(['dpkg', '-S', name], text=True, capture_output=True)
        except FileNotFoundError:
            sys.exit(f'wheel.py: no dpkg, which says where the licence text of {path} is')
        if found.returncode == 0:
            return re.split('[:,]', found.stdout.splitlines()[-1])[0]  # lines before it are about diversions
    sys.exit(f'wheel.py: no licence text: {path} belongs to no package that dpkg knows')


def licences(libraries):
    """Texts by their names: ours, one for each library of others, and the common ones that these refer to."""
    texts = {'LICENSE': (HERE.parents[1] / 'LICENSE').read_bytes()}
    for name, path in libraries.items():
        if not name.startswith(OURS):
            text = DOCUMENTS / package_of(path) / 'copyright'
            if not text.is_file():
                sys.exit(f'wheel.py: no licence text of {path}: {text} is missing')
            texts[f'{name}.txt'] = text.read_bytes()
    named = {name.decode() for text in texts.values() for name in re.findall(rb'/common-licenses/([\w.+-]*\w)', text)}
    for name in sorted(named):
        if not (COMMON / name).is_file():
            sys.exit(f'wheel.py: no licence text: {COMMON / name} is missing')
        texts[f'common-licenses/{name}'] = (COMMON / name).read_bytes()
    return texts


def metadata(texts):
    """What pip reads of the package; names of licence texts came with version 2.4."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / 'dist_info.py', folder], check=True)
        first, _, rest = (next(pathlib.Path(folder).iterdir()) / 'METADATA').read_text(encoding='utf-8').partition('\n')
    if first != 'Metadata-Version: 2.1':
        sys.exit(f'wheel.py: METADATA begins otherwise: {first}')
    return '\n'.join(['Metadata-Version: 2.4', *(f'License-File: {name}' for name in texts), rest])


def record_of(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    return f'{name},sha256={digest},{len(data)}'


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    version = re.search(r"__version__ = '(.+)'", (HERE / 'perfile/_version.py').read_text(encoding='utf-8')).group(1)
    libraries = in_order([build / f'{name}.{version.split(".")[0]}' for name in OURS])
    tag = 'py3-none-manylinux_{}_{}_{}'.format(*oldest_c_library(libraries.values()), platform.machine())
    info = f'perfile-{version}.dist-info'
    files = {f'perfile/{path.name}': path.read_bytes() for path in sorted((build / 'bindings/python/perfile').iterdir())
             if path.suffix in ('.py', '.typed')}
    files.update({f'perfile/libraries/{name}': path.read_bytes() for name, path in libraries.items()})
    files['perfile/libraries/order'] = '\n'.join(libraries).encode()
    texts = licences(libraries)
    files[f'{info}/METADATA'] = metadata(texts).encode()
    files.update({f'{info}/licenses/{name}': text for name, text in texts.items()})
    files[f'{info}/WHEEL'] = f'Wheel-Version: 1.0\nGenerator: perfile\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode()
    lines = [record_of(name, data) for name, data in files.items()]
    files[f'{info}/RECORD'] = '\n'.join([*lines, f'{info}/RECORD,,', '']).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f'perfile-{version}-{tag}.whl'
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():  # one time for all, so that the same files make the same wheel
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    print(wheel)


if __name__ == '__main__':
    main()
