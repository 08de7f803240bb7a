#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes.py TREE INSTALLED PREFIX LIBRARIES: the recipes for systems other than Debian agree with the sources.

Versions and licences are those of meson.build, options those of Debian's packages, and each library that meson.build
asks for has its package. INSTALLED is Meson's list of what it installs, in PREFIX, and there in LIBRARIES: each file
belongs to one package of Fedora. The functions of the recipes for Arch and Alpine run without the tools of those systems. Programs
that check recipes do so where they are installed. ./dev without apt-get prints the packages that the recipes name."""
import fnmatch, json, os, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

FEDORA, ARCH, ALPINE = 'fedora/perfile.spec', 'arch/PKGBUILD', 'alpine/APKBUILD'
NIX, IMAGE = 'nix/flake.nix', 'Containerfile'
VERSIONS = {FEDORA: r'^Version: +(\S+)$', ARCH: r'^pkgver=(\S+)$', ALPINE: r'^pkgver=(\S+)$',
            IMAGE: r'^ARG VERSION=(\S+)$|image\.version="([^"]+)"'}  # the flake reads meson.build
LICENSES = {FEDORA: r'^License: +(\S+)$', ARCH: r'^license=\((\S+)\)$', ALPINE: r'^license="(\S+)"$',
            NIX: r'license = pkgs\.lib\.licenses\.(\S+);', IMAGE: r'image\.licenses="([^"]+)"'}
COMMENTED_VERSION = re.compile(r'perfile-(\d+\.\d+\.\d+)[./]')
NEEDS = {FEDORA: r'^BuildRequires: +(\S+)$', ARCH: r'^makedepends=\((.*)\)$', ALPINE: r'^makedepends="(.*)"$',
         NIX: r'Inputs = with pkgs; \[ (.*) \];$'}
# meson.build's name of a library: its packages in the order of NEEDS
PACKAGES = {'libzstd': 'libzstd-devel zstd zstd-dev zstd', 'zlib': 'zlib-devel zlib zlib-dev zlib',
            'liblzma': 'xz-devel xz xz-dev xz', 'capstone': 'capstone-devel capstone capstone-dev capstone',
            'ncursesw': 'ncurses-devel ncurses ncurses-dev ncurses', 'sqlite3': 'sqlite-devel sqlite sqlite-dev sqlite'}
NOT_PACKAGED = {'threads', 'libopencsd', 'cmocka'}
OPTION = re.compile(r'-D(?:man|completions|tests|capstone|lzma|tui|sqlite)=\w+')
MACROS = {'_bindir': 'usr/bin', '_libdir': 'usr/lib', '_includedir': 'usr/include', '_datadir': 'usr/share',
          '_mandir': 'usr/share/man'}
# Meson installs empty files of a list.
STUBS = '''set -e
meson() { (cd "${DESTDIR:-$pkgdir}" && xargs -I{} install -D /dev/null {} <"$list"); }
python() { python3 "$@"; }
. "$recipe"
pkgver=0 builddir=$folder
'''
MANAGERS = {'dnf': 'libzstd-devel', 'pacman': 'zstd', 'apk': 'zstd-dev'}


def texts(tree, names):
    return {name: (tree / 'packaging' / name).read_text() for name in names}


def found_in(text, pattern):
    return [next(filter(None, match.groups())) for match in re.finditer(pattern, text, re.M)]


def check_facts(tree):
    """Versions and licences."""
    meson = (tree / 'meson.build').read_text()
    version, licence = (re.search(rf"^  {name}: '(\S+)',$", meson, re.M).group(1) for name in ('version', 'license'))
    for name, text in texts(tree, LICENSES).items():
        versions = found_in(text, VERSIONS[name]) if name in VERSIONS else [version]
        if not versions or {*versions, *COMMENTED_VERSION.findall(text)} != {version}:
            yield f'{name}: the version is not {version}'
        if {found.lower() for found in found_in(text, LICENSES[name])} != {licence.lower()}:
            yield f'{name}: the licence is not {licence}'


def check_options(tree):
    wanted = set(OPTION.findall((tree / 'packaging' / 'debian' / 'rules').read_text()))
    for name, text in texts(tree, LICENSES).items():
        found = set(OPTION.findall(text))
        if name == IMAGE:  # it has the command alone
            found = {re.sub('^(-Dman|-Dcompletions)=disabled', r'\1=enabled', option) for option in found}
        if found != wanted:
            yield f'{name}: the options are not those of packaging/debian/rules: {" ".join(sorted(wanted))}'


def check_needs(tree):
    files = [tree / 'meson.build', *(tree / 'src').rglob('meson.build'), tree / 'cli' / 'meson.build']
    asked = {name for path in files for name in re.findall(r"\bdependency\('(\w+)'", path.read_text())} - NOT_PACKAGED
    yield from (f'recipes.py has no package for {name} of meson.build' for name in sorted(asked - set(PACKAGES)))
    for number, (recipe, text) in enumerate(texts(tree, NEEDS).items()):
        named = ' '.join(found_in(text, NEEDS[recipe])).split()
        for package in sorted({PACKAGES[name].split()[number] for name in asked & set(PACKAGES)} - set(named)):
            yield f'{recipe}: {package} is missing'


def installed(listing, prefix, libraries):
    """As paths below /, with the libraries in usr/lib; a folder has a file in it."""
    for path in map(pathlib.PurePath, json.loads(listing.read_text()).values()):
        path = path.relative_to(prefix)
        if path.is_relative_to(libraries):
            path = pathlib.PurePath('lib') / path.relative_to(libraries)
        yield f'usr/{path}' + ('/page.3' if path.name == 'man3' else '')


def listed_files(text):
    """Pairs of pattern and package, of the lists of the spec file."""
    for package, lines in re.findall(r'^%files(?: -n (\S+))?\n((?:.+\n)+)', text, re.M):
        for line in lines.splitlines():
            pattern = re.sub(r'%\{(\w+)\}', lambda macro: MACROS.get(macro.group(1), macro.group(0)), line)
            if pattern.startswith('usr/'):
                yield pattern, package or 'perfile'


def check_files(tree, files):
    """Each file matches the list of one package, and each line some file."""
    listed, matched = list(listed_files(texts(tree, [FEDORA])[FEDORA])), set()
    for path in files:
        hits = [(pattern, package) for pattern, package in listed
                if fnmatch.fnmatchcase(path, pattern) or pattern.endswith('/') and path.startswith(pattern)]
        matched.update(hits)
        if len({package for _, package in hits}) != 1:
            yield f'{FEDORA}: {path} is in {sorted(package for _, package in hits) or "no package"}'
    yield from (f'{FEDORA}: no file is installed as {pattern}' for pattern, _ in sorted(set(listed) - matched))


def run_functions(tree, root, recipe, sources, functions):
    """In a folder with what they copy; what they print when they fail."""
    for build in (root / 'build', root / 'perfile-0' / 'output'):
        (build / 'bindings' / 'python' / 'perfile').mkdir(parents=True)
        for file in ('one.py', 'py.typed'):
            (build / 'bindings' / 'python' / 'perfile' / file).touch()
    shutil.copy(tree / 'LICENSE', root / 'perfile-0')
    shutil.copytree(tree / 'bindings', root / 'perfile-0' / 'bindings')
    script = STUBS + ''.join(f'export pkgdir=$root/{name} subpkgdir=$root/{name}; mkdir "$pkgdir"\n'
                             f'(cd "$folder" && {name})\n' for name in functions)
    settings = {'recipe': tree / 'packaging' / recipe, 'root': root, 'list': root / 'list', 'folder': root / sources}
    done = subprocess.run(['bash', '-c', script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT,
                          env=hermetic.environment(**{name: str(value) for name, value in settings.items()}))
    return done.stdout if done.returncode else ''


def check_functions(tree, files):
    wanted = [*files, '-packages/perfile/py.typed', '-packages/perfile/one.py', '.dist-info/METADATA', '/perfile/LICENSE']
    for recipe, sources, *functions in ((ARCH, '.', 'package_perfile', 'package_python-perfile'),
                                        (ALPINE, 'perfile-0', 'package', 'py3')):
        with tempfile.TemporaryDirectory(prefix='perfile-recipes-') as name:
            root = pathlib.Path(name)
            (root / 'list').write_text('\n'.join(files) + '\n')
            printed = run_functions(tree, root, recipe, sources, functions)
            have = [path.as_posix() for function in functions for path in (root / function).rglob('*') if path.is_file()]
        if printed:
            yield f'{recipe}: {printed}'
        yield from (f'{recipe}: {end} is not installed' for end in wanted if not any(path.endswith(end) for path in have))


def ask_programs(tree):
    """What programs that are installed print against the recipes, and the names of the others."""
    wrong, missing = [], []
    recipes = tree / 'packaging'
    user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.geteuid() == 0 else []  # not as root
    with tempfile.TemporaryDirectory(prefix='perfile-recipes-') as name:
        os.chmod(name, 0o777)
        shutil.copy(recipes / ARCH, name)
        for command in (['rpmspec', '-P', '--define', 'python3_sitelib /usr/lib/python3', recipes / FEDORA],
                        ['bash', '-n', 'PKGBUILD'], ['makepkg', '--printsrcinfo'], ['sh', '-n', recipes / ALPINE],
                        ['nix-instantiate', '--parse', recipes / NIX]):
            full = user + command if command[0] == 'makepkg' else command
            if not all(map(shutil.which, {full[0], command[0]})):
                missing.append(command[0])
                continue
            done = subprocess.run(full, cwd=name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, env=hermetic.environment(PACMAN='true', HOME=name))
            wrong += [f'{command[0]}: {done.stderr}'] if done.returncode else []
    return wrong, missing


def check_advice(tree):
    """What ./dev prints where there is another manager of packages, and no apt-get."""
    for manager, package in MANAGERS.items():
        with tempfile.TemporaryDirectory(prefix='perfile-recipes-') as name:
            folder = pathlib.Path(name)
            shutil.copy(tree / 'dev', folder)
            shutil.copytree(tree / 'packaging', folder / 'packaging')
            (folder / 'bin').mkdir()
            for tool in ('bash', 'sed', 'tr', 'dirname', 'rm', 'cat'):
                (folder / 'bin' / tool).symlink_to(shutil.which(tool))
            for stub in (manager, 'meson', 'ninja'):
                (folder / 'bin' / stub).write_text('#!/bin/bash\n')
                (folder / 'bin' / stub).chmod(0o755)
            done = subprocess.run([folder / 'bin' / 'bash', folder / 'dev', 'build'], stdin=subprocess.DEVNULL, text=True,
                                  env=hermetic.environment(PATH=f'{name}/bin'), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            line = rf'^== for building and testing: {manager} .*\b{package} .*tmux'
            if done.returncode or not re.search(line, done.stdout, re.M):
                yield f'./dev build with {manager}: status {done.returncode}: {done.stdout}'


def main():
    hermetic.settle()
    tree = pathlib.Path(sys.argv[1])
    # archives of the libraries are for Debian alone
    files = [path for path in installed(pathlib.Path(sys.argv[2]), *sys.argv[3:]) if not path.endswith('.a')]
    wrong, missing = ask_programs(tree)
    wrong += [*check_facts(tree), *check_options(tree), *check_needs(tree), *check_files(tree, files),
              *check_functions(tree, files), *check_advice(tree)]
    if missing:
        print(f'skipped: recipes: not installed: {", ".join(missing)}')
    print(*wrong, f'{len(wrong)} wrong', sep='\n')
    sys.exit(bool(wrong))


main()
