#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static.py SOURCE STATIC|BOTH CC...: static libraries are built and installed, and `pkg-config --static` links with them.

Builds the tree once more, in a folder of its own."""
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


def main():
    hermetic.settle()
    source, kind, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if not shutil.which('pkg-config') or not shutil.which('meson'):
        print('pkg-config or meson is missing')
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        root, build = pathlib.Path(folder) / 'root', str(pathlib.Path(folder) / 'build')
        environment = dict(os.environ, CC=' '.join(compiler), HOME=folder, XDG_CACHE_HOME=folder)
        environment.pop('DEBUGINFOD_URLS', None)
        run(['meson', 'setup', build, str(source), f'-Ddefault_library={kind}', '-Dtests=disabled', '-Dman=disabled'],
            env=environment)
        run(['meson', 'compile', '-C', build, '-j', '2'], env=environment)
        run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', str(root)], env=environment)
        if kind == 'static' and list(root.glob('**/*.so*')):
            sys.exit('there are shared libraries')
        # of both kinds the linker would take the shared one
        for path in root.glob('**/*.so*'):
            path.unlink()
        environment.update(PKG_CONFIG_PATH=':'.join(str(path) for path in root.glob('**/pkgconfig')),
                           PKG_CONFIG_SYSROOT_DIR=str(root))
        recording = str(source / 'examples' / 'demo.perf.data')
        for name, package in EXAMPLES.items():
            flags = run(['pkg-config', '--static', '--cflags', '--libs', package], env=environment).split()
            program = str(root / name)
            run([*compiler, '-std=c11', str(source / 'examples' / f'{name}.c'), '-o', program, *flags])
            if not run([program, recording], env=environment):
                sys.exit(f'{name} prints nothing')
        print(f'{len(EXAMPLES)} examples with libraries that are {kind}')


main()
