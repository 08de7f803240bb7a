#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static.py SOURCE CC...: static libraries are built and installed, and `pkg-config --static` links with them.

Builds what is installed once more, in a folder of its own: the static libraries beside shared ones, then alone."""
import os, pathlib, shutil, subprocess, sys, tempfile

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
KINDS = {'both': ('static_library', 'shared_library'), 'static': ('static_library',)}  # of default_library


class Tree:
    """The sources, and one folder in which all kinds are built and installed."""

    def __init__(self, source, compiler, folder):
        self.source, self.compiler, self.folder, self.build = source, compiler, folder, str(folder / 'build')
        self.recording = str(source / 'examples' / 'demo.perf.data')
        self.environment = dict(os.environ, CC=' '.join(compiler), HOME=str(folder), XDG_CACHE_HOME=str(folder))
        for name in 'DEBUGINFOD_URLS', 'MALLOC_PERTURB_':  # with the latter compilers take much longer
            self.environment.pop(name, None)

    def run(self, *command, **more):
        return run(command, cwd=self.source, env={**self.environment, **more})

    def install(self, kind):
        """What differs between kinds is linked only: what was compiled for the first stays for the others."""
        root = self.folder / kind
        targets = [f'{name}:{made}' for name in LIBRARIES for made in KINDS[kind]]
        again = ['--reconfigure'] * os.path.exists(self.build)
        self.run('meson', 'setup', *again, self.build, f'-Ddefault_library={kind}', '-Doptimization=0', '-Dtests=disabled',
                 '-Dman=disabled', '-Dcompletions=disabled')
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


def main():
    hermetic.settle()
    source, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    if not shutil.which('pkg-config') or not shutil.which('meson'):
        print('pkg-config or meson is missing')
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(source, compiler, pathlib.Path(folder))
        for kind in KINDS:
            root = tree.install(kind)
            tree.link(root)
            if kind == 'static':
                tree.run(*root.glob('**/bin/perfile'), 'info', tree.recording)
    print(f'{len(EXAMPLES)} examples with the static libraries of {len(KINDS)} builds')


main()
