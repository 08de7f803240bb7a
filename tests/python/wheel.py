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
# What PEP 600 lets a wheel use, as far as programs without windows do; the loader comes with it.
SYSTEM = {'libgcc_s.so.1', 'libstdc++.so.6', 'libm.so.6', 'libdl.so.2', 'librt.so.1', 'libc.so.6', 'libpthread.so.0', 'libutil.so.1', 'libresolv.so.2'}
PRIVATE = {'_dist_code', '_length_code', '_tr_align', '_tr_flush_block', '_tr_init', '_tr_stored_block', 'inflate_fast', 'inflate_table', 'zcalloc', 'zcfree',
           'z_errmsg', 'gz_error'}  # of zlib
MACHINES = {'x86_64': 'X86-64', 'aarch64': 'AArch64', 'i686': 'Intel 80386', 's390x': 'IBM S/390', 'riscv64': 'RISC-V'}


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


def check_policy(archive, wheel, folder):
    """What auditwheel asks of manylinux_2_Y (PEP 600): of other libraries, only those that every system has; of their symbols only versions
    of the C library up to 2.Y, and none that are theirs alone; objects of the machine, without executable stacks and paths."""
    newest, machine = re.search(r'manylinux_2_(\d+)_(\w+)\.whl$', wheel.name).groups()
    held = {pathlib.Path(name).name: archive.extract(name, folder) for name in archive.namelist() if re.match(r'perfile/libraries/lib', name)}
    found = set()
    for name, path in held.items():
        header, dynamic, versions, segments, symbols = (run('readelf', option, path).stdout for option in ('-hW', '-dW', '-VW', '-lW', '--dyn-syms'))
        needed = set(re.findall(r'\(NEEDED\).*\[(.+)\]', dynamic)) - set(held)
        families = {(file, *re.match(r'([A-Z]+)_([\d.]+)$', version).groups()) for file, part in re.findall(r'File: (\S+)((?:.|\n)*?)(?=Version: |\Z)', versions)
                    if file not in held for version in re.findall(r'Name: (\S+)', part)}
        numbers = [tuple(map(int, number.split('.'))) for _, family, number in families if family == 'GLIBC']
        undefined = set(re.findall(r' UND (\w+)', symbols))
        found |= set(numbers)
        wrong = [f'needs {sorted(needed - SYSTEM)}'] * bool({one for one in needed - SYSTEM if not one.startswith('ld-linux')})
        wrong += [f'versions {sorted(families)}'] * (any(family != 'GLIBC' for _, family, _ in families) or max(numbers) > (2, int(newest)))
        paths = re.findall(r'(?:RPATH|RUNPATH).*\[([^]:]*)', dynamic)
        wrong += ['has a path of this machine'] * any(not path.startswith('$ORIGIN') for path in paths)
        wrong += ['has an executable stack'] * bool(re.search(r'GNU_STACK.* RWE ', segments))
        wrong += [f'is of another machine than {machine}'] * (MACHINES.get(machine, machine) not in header)
        wrong += [f'uses what is private: {undefined & PRIVATE}'] * bool(undefined & PRIVATE)
        if wrong:
            sys.exit(f'{name}: {", ".join(wrong)}')
    if max(found)[:2] != (2, int(newest)):
        sys.exit(f'the name says 2.{newest}, the libraries need {max(found)}')


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
            check_policy(archive, wheel, folder / 'policy')
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
