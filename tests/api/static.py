#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static.py SOURCE BUILD CC...: static libraries are built and installed, and `pkg-config --static` links with them.

Builds what is installed once more, in a folder of its own: the static libraries beside shared ones, then alone, and last
the command as one static file. What BUILD has compiled by the same words is not compiled again."""
import json, os, pathlib, shlex, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
EXAMPLES = {'print_samples': 'perfile', 'folded_stacks': 'perfile-analysis'}


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}:\n{done.stdout}{done.stderr}')
    return done.stdout


LIBRARIES = ('perfile', 'perfile-analysis')
# what the static command is linked with
NEEDED = ('c', 'zstd', 'dw', 'elf', 'lzma', 'bz2', 'z', 'archive', 'supc++', 'capstone', 'sqlite3')
KINDS = {'both': ('static_library', 'shared_library'), 'static': ('static_library',)}  # of default_library


OPTIONS = ('buildtype', 'capstone', 'lzma', 'sqlite')  # of BUILD, which decide what is compiled, and how
REUSING = """#!/bin/sh
for word; do
    [ "$last" != -o ] || object=$word
    [ "$word" != -c ] || compiles=yes
    last=$word
done
[ ! "$compiles" ] || [ ! -e "%(objects)s/$object" ] || exec cp "%(objects)s/$object" "$object"
exec %(compiler)s "$@"
"""


def compilations(build):
    """How each object is made: its source, and the words but those that name the compiler, folders and the source."""
    for one in json.loads((build / 'compile_commands.json').read_text()):
        source = pathlib.Path(os.path.normpath(build / one['file']))
        words = shlex.split(one['command'])
        first = next(i for i, word in enumerate(words) if word.startswith('-'))
        kept = [word for word in words[first:] if not word.startswith('-I') and word != one['file']]
        yield one['output'], (source.relative_to(build) if source.is_relative_to(build) else source, kept)


class Tree:
    """The sources, and one folder in which all kinds are built and installed."""

    def __init__(self, source, other, compiler, folder):
        self.source, self.other, self.compiler, self.folder, self.build = source, other, compiler, folder, folder / 'build'
        self.recording = str(source / 'examples' / 'demo.perf.data')
        self.objects, self.reused = folder / 'objects', 0
        reusing = folder / 'cc'
        reusing.write_text(REUSING % {'objects': self.objects, 'compiler': shlex.join(compiler)})
        reusing.chmod(0o755)
        self.environment = dict(os.environ, CC=str(reusing), HOME=str(folder), XDG_CACHE_HOME=str(folder))
        for name in 'DEBUGINFOD_URLS', 'MALLOC_PERTURB_':  # with the latter compilers take much longer
            self.environment.pop(name, None)

    def run(self, *command, **more):
        return run(command, cwd=self.source, env={**self.environment, **more})

    def reuse(self):
        """Puts what the other build has compiled by the same words where the compiler looks, and nothing else."""
        made = dict(compilations(self.other))
        shutil.rmtree(self.objects, ignore_errors=True)
        self.reused = 0
        for name, how in compilations(self.build):
            if made.get(name) == how and (self.other / name).exists():
                (self.objects / name).parent.mkdir(parents=True, exist_ok=True)
                (self.objects / name).symlink_to(self.other / name)
                self.reused += 1

    def configure(self, kind, *options):
        same = [f'-D{one["name"]}={one["value"]}' for one in json.loads((self.other / 'meson-info/intro-buildoptions.json').read_text())
                if one['name'] in OPTIONS]
        self.run('meson', 'setup', *['--reconfigure'] * self.build.exists(), self.build, f'-Ddefault_library={kind}', *same,
                 '-Dtests=disabled', '-Dman=disabled', '-Dcompletions=disabled', *options)
        self.reuse()

    def install(self, kind):
        """What differs between kinds is linked only: what was compiled for the first stays for the others."""
        root = self.folder / kind
        targets = [f'{name}:{made}' for name in LIBRARIES for made in KINDS[kind]]
        self.configure(kind)
        self.run('meson', 'compile', '-C', self.build, '-j', '2', *targets, 'perfile:executable')
        self.run('meson', 'install', '-C', self.build, '--no-rebuild', '--quiet', '--destdir', str(root))
        shared = list(root.glob('**/*.so*'))
        if bool(shared) != ('shared_library' in KINDS[kind]):
            sys.exit(f'shared libraries with default_library={kind}: {shared}')
        return root

    def link(self, root):
        # of both kinds the linker would take the shared one
        for path in root.glob('**/*.so*'):
            path.unlink()
        places = {'PKG_CONFIG_PATH': ':'.join(str(path) for path in root.glob('**/pkgconfig')),
                  'PKG_CONFIG_SYSROOT_DIR': str(root)}
        for name, package in EXAMPLES.items():
            flags = self.run('pkg-config', '--static', '--cflags', '--libs', package, **places).split()
            program = str(root / name)
            self.run(*self.compiler, '-std=c11', f'examples/{name}.c', '-o', program, *flags)
            if not self.run(program, self.recording):
                sys.exit(f'{name} prints nothing')

    def link_command(self):
        """It needs no loader, and links without functions that load parts of the C library, or it does not link at all."""
        self.configure('static', '-Dstatic_command=true')
        self.run('meson', 'compile', '-C', self.build, '-j', '2', 'perfile:executable')
        program = str(self.build / 'perfile')
        if 'INTERP' in self.run('readelf', '-lW', program) or not self.run(program, 'info', self.recording):
            sys.exit('the static command needs a loader, or prints nothing')

    def missing(self):
        """Of a library that it does not find, the compiler prints the name alone."""
        return [name for name in NEEDED
                if '/' not in self.run(*self.compiler, f'-print-file-name=lib{name}.a').strip()]


def main():
    hermetic.settle()
    source, build, compiler = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    if not shutil.which('pkg-config') or not shutil.which('meson'):
        print('pkg-config or meson is missing')
        sys.exit(SKIP)
    with hermetic.plain_folder() as folder:  # the path of a compiler has no spaces
        tree = Tree(source, build, compiler, pathlib.Path(folder))
        for kind in KINDS:
            root = tree.install(kind)
            tree.link(root)
            if kind == 'static':
                tree.run(*root.glob('**/bin/perfile'), 'info', tree.recording)
        missing = tree.missing()
        if missing:
            print(f'skipped: the static command: no static {", ".join(missing)}')
        else:
            tree.link_command()
    print(f'{len(EXAMPLES)} examples with the static libraries of {len(KINDS)} builds; {tree.reused} objects were there')


main()
