#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel.py BUILD: the wheel that holds the libraries is installed by pip into an environment of its own, without a network, and reads
a recording there, with the libraries that it brought; its name says which C library it needs, and it uses no other library.
It holds the licence texts of all libraries in it, and is not made without them."""
import email, pathlib, re, shutil, subprocess, sys, tempfile, zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '''
import perfile
print(sum(function.module != 2**32 - 1 for function in perfile.open({recording!r}).profile().functions) > 0)
print(sorted({{line.split()[-1] for line in open('/proc/self/maps') if 'libperfile' in line or 'libdw' in line}}))
'''
SKIP = 77


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True)


def make(folder, **environment):
    return subprocess.run([sys.executable, TREE / 'bindings/python/wheel.py', sys.argv[1], folder], text=True, capture_output=True,
                          **environment)


def check_licences(archive):
    """Each library has a text, METADATA names all texts, and what they refer to on the machine that made the wheel is there."""
    names = archive.namelist()
    texts = {name.split('.dist-info/licenses/')[1]: archive.read(name) for name in names if '.dist-info/licenses/' in name}
    held = [name.split('/')[-1] for name in names if re.match(r'perfile/libraries/lib', name)]
    wanted = {'LICENSE' if name.startswith('libperfile') else f'{name}.txt' for name in held}
    wanted |= {f'common-licenses/{name.decode()}' for text in texts.values()
               for name in re.findall(rb'/common-licenses/([\w.+-]*\w)', text)}
    if len(held) < 4 or set(texts) != wanted or not all(re.search(rb'(?i)copyright', text) for text in texts.values()):
        sys.exit(f'licence texts: {sorted(texts)}, not {sorted(wanted)}')
    metadata = email.message_from_bytes(archive.read(next(name for name in names if name.endswith('.dist-info/METADATA'))))
    if metadata['Metadata-Version'] != '2.4' or sorted(metadata.get_all('License-File')) != sorted(texts):
        sys.exit(f'METADATA: {metadata}')


def check_without_dpkg(folder):
    """No wheel is made without the texts."""
    tools = folder / 'tools'
    tools.mkdir()
    for name in ('readelf', 'ldd'):
        (tools / name).symlink_to(shutil.which(name))
    made = make(folder / 'none', env={'PATH': str(tools)})
    if made.returncode != 1 or not re.match(r'wheel.py: no dpkg, .* licence text of /\S+ is\n$', made.stderr) \
            or (folder / 'none').exists():
        sys.exit(f'without dpkg: {made.returncode} {made.stdout}{made.stderr}')


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        if run(sys.executable, '-m', 'venv', folder / 'venv').returncode:
            print('skipped: wheel: no venv with pip')
            sys.exit(SKIP)
        check_without_dpkg(folder)
        if not shutil.which('dpkg'):
            print('skipped: wheel: no dpkg, which knows where licence texts are')
            sys.exit(SKIP)
        made = make(folder)
        if made.returncode:
            sys.exit(made.stderr)
        wheel = pathlib.Path(made.stdout.strip())
        if not re.fullmatch(r'perfile-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl', wheel.name):
            sys.exit(f'the name of the wheel: {wheel.name}')
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            check_licences(archive)
        if any(re.match(r'perfile/libraries/lib(c|m|pthread|stdc\+\+)\.', one) for one in names):
            sys.exit(f'libraries of the system are in it: {names}')
        python = folder / 'venv/bin/python'
        done = run(python, '-m', 'pip', 'install', '--no-index', '--disable-pip-version-check', wheel)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        printed = run('env', '-u', 'PERFILE_LIBRARY', '-u', 'LD_LIBRARY_PATH', '-u', 'PYTHONPATH', python, '-I', '-c',
                      PROGRAM.format(recording=str(TREE / 'examples/demo.perf.data')))
        lines = printed.stdout.splitlines()
        if len(lines) != 2 or lines[0] != 'True':
            sys.exit(printed.stdout + printed.stderr)
        loaded = re.findall(r"'([^']+)'", lines[1])
        if len(loaded) < 2 or not all(one.startswith(str(folder / 'venv')) for one in loaded):
            sys.exit(f'loaded from elsewhere: {loaded}')
        print(f'{wheel.name}, {wheel.stat().st_size // 1024} KiB')


main()
