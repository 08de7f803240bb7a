# SPDX-License-Identifier: MIT
"""The same surroundings for every test, whatever those of the person that runs it.

Every driver calls settle() first, and tests that are not in Python are run by this file: pagers, colors, locales, time zones, caches,
servers for debug information and the width of terminals are then the same everywhere, and programs of the build folder see no files
of the machine (walls.c). What a test wants to differ it names: environment(TERM='xterm').
"""
import argparse, atexit, functools, os, pathlib, re, shutil, signal, site, socket, subprocess, sys, sysconfig, tempfile, time

# what programs need in order to run at all (loaders, emulators), and what tests are reported
KEPT = ('PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'QEMU_LD_PREFIX', 'MALLOC_PERTURB_', 'MESON_EXE_WRAPPER', 'PERFILE_SERVED', 'PERFILE_CORPUS',
        'PERFILE_TREE_CORPUS', 'PERFILE_WHOLE_CORPUS', 'PERFILE_WALLS', 'WALLS_LOG', 'PERFILE_PPROF', 'PERFILE_OTLP_PROTO', 'PERFILE_SPEEDSCOPE', 'PERFILE_PROFILER_CLI', 'PERFILE_DUCKDB',
         'PERFILE_CHDB', 'PERFILE_OPENCSD', 'PERFILE_BROWSER', 'PERFILE_AXE')
NO_HOME = '/dev/null'  # not even root can make a cache below it
FIXED = {'HOME': NO_HOME, 'LC_ALL': 'C.UTF-8', 'PYTHONUTF8': '1', 'PYTHONDONTWRITEBYTECODE': '1', 'CCACHE_DISABLE': '1',
         'PERFILE_ADVICE': 'no',  # what is wrong with symbols depends on the machine
         'TZ': 'UTC0'}  # else a file of the machine
TREE = pathlib.Path(__file__).parent.parent
OWN = {}  # temporary files of this test, and what perfile caches of binaries with debug info: a test need not read them over and over
WALLS = {}  # what keeps programs of the build folder from seeing the files of the machine
INSIDE = {}  # the same for Python with the library
NO_LEAKS = {'ASAN_OPTIONS': 'detect_leaks=0'}  # of other libraries: curses keeps what it knows of the terminal
# Python itself: no variables, no packages, no files left, UTF-8
FLAGS = ['-E', '-S', '-B', '-X', 'utf8']


def environment(**more):
    """For the commands of a test."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.endswith('SAN_OPTIONS')}
    return {**kept, **FIXED, **OWN, **WALLS, **more}


def open_standard_files():
    """A file that a test opens takes the place of one that was closed."""
    for standard in range(3):
        try:
            os.fstat(standard)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def handle_signals():
    """What nohup and shells ignore for what runs in the background, those that are started here would ignore as well."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def plain_link(path):
    """A path that is preloaded must have no spaces."""
    folder = tempfile.mkdtemp(prefix='perfile-', dir=plain_parent())
    os.chmod(folder, 0o711)  # tests start programs as other users
    os.symlink(path, os.path.join(folder, os.path.basename(path)))
    return os.path.join(folder, os.path.basename(path))


def find_walls():
    """For what is also started by hand: the walls of the build folder that an argument names, or a program in it."""
    for word in sys.argv[1:]:
        for folder in pathlib.Path(word).absolute(), pathlib.Path(word).absolute().parent:
            if (folder / 'tests/walls.so').exists():
                os.environ.setdefault('PERFILE_WALLS', str(folder / 'tests/walls.so'))


def as_list(folders):
    return ':'.join(str(folder) for folder in folders if folder)


def inside(link, folders):
    """The variables with which Python sees what programs of the build folder see, and its own files."""
    return {'LD_PRELOAD': link, 'WALLS': as_list([*folders, sysconfig.get_path('stdlib'), *site.getsitepackages()]), 'WALLS_INSIDE': link}


def build_walls(is_inside):
    """walls.c says what programs of the build folder then see; `is_inside`: this Python, too, which begins anew for that."""
    shim = os.environ.get('PERFILE_WALLS')
    if not shim:
        return
    linked = [folder for folder in pathlib.Path(sys.argv[0]).absolute().parents if folder.exists() and folder.samefile(TREE)]
    folders = [TREE, *linked, pathlib.Path(shim).parent.parent, os.environ.get('PERFILE_CORPUS')]
    link = os.environ.get('WALLS_INSIDE') or plain_link(shim)
    if is_inside and 'WALLS_INSIDE' not in os.environ:
        os.execve(sys.executable, [sys.executable, *FLAGS, *sys.argv], {**os.environ, **inside(link, folders)})
    atexit.register(shutil.rmtree, os.path.dirname(link), ignore_errors=True)
    WALLS.update(LD_PRELOAD=link, WALLS=as_list(folders))
    INSIDE.update(inside(link, folders))


@functools.cache
def plain_shim(shim):
    link = plain_link(shim)
    atexit.register(shutil.rmtree, os.path.dirname(link), ignore_errors=True)
    return link


def preloaded(shim):
    """The variables with which a program loads this library and the walls."""
    path = os.path.abspath(shim)
    plain = plain_shim(path) if ' ' in path else path
    return {'LD_PRELOAD': ':'.join([plain, *([WALLS['LD_PRELOAD']] if WALLS else [])])}


def settle(is_inside=False):
    """Goes on in these surroundings, with UTF-8 as the encoding of text. Only Python without FLAGS begins anew; `is_inside`: also to
    be inside the walls itself, because it calls the library."""
    open_standard_files()
    handle_signals()
    flags = sys.flags
    if not (flags.ignore_environment and flags.no_site and flags.dont_write_bytecode and flags.utf8_mode):
        os.execve(sys.executable, [sys.executable, *FLAGS, *sys.argv], environment())
    build_walls(is_inside)
    OWN['TMPDIR'] = tempfile.tempdir = tempfile.mkdtemp(prefix='perfile-')
    os.chmod(OWN['TMPDIR'], 0o711)  # tests start programs as other users
    atexit.register(shutil.rmtree, OWN['TMPDIR'], ignore_errors=True)
    OWN['XDG_CACHE_HOME'] = os.path.join(OWN['TMPDIR'], 'cache')
    os.mkdir(OWN['XDG_CACHE_HOME'])
    wanted = environment()
    os.environ.clear()
    os.environ.update(wanted)
    time.tzset()


NO_PROCESS = (1 << 22) + 7  # above all numbers that Linux gives: that of a process that has ended may be given again
PATIENCE_SECONDS = 100  # for what comes at once on an idle machine


def wait_until(fact, seconds=PATIENCE_SECONDS):
    """Whether the function becomes true within that time."""
    end = time.monotonic() + seconds
    while not (found := fact()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def has_loopback():
    """Whether programs can reach each other by the network here: not in a container without one."""
    try:
        with socket.create_server(('127.0.0.1', 0)) as server, socket.create_connection(server.getsockname(), 10):
            return True
    except OSError:
        return False


def differing(checks):
    """Prints which of (what, got, wanted) differ, and returns whether any do."""
    failed = [(what, got, wanted) for what, got, wanted in checks if got != wanted]
    for what, got, wanted in failed:
        print(f'{what}:\n{got}\ninstead of:\n{wanted}')
    return bool(failed)


def runnable(program):
    """The path of a program that was built; for another machine that of a script, by which the emulator that Meson names runs it."""
    wrapper, path = os.environ.get('MESON_EXE_WRAPPER'), os.path.abspath(program)
    if not wrapper:
        return path
    folder = tempfile.mkdtemp(prefix='perfile-emulated-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = os.path.join(folder, os.path.basename(path))
    with open(script, 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\nexec {wrapper} "{path}" "$@"\n')
    os.chmod(script, 0o755)
    return script


def programs():
    """The command lines of the programs that a test is given; for another machine by the emulator that Meson names."""
    return ([*os.environ.get('MESON_EXE_WRAPPER', '').split(), program] for program in sys.argv[1:])


def find_packages():
    """For tests that try what is not of Python itself, where it is installed."""
    site.main()


def corpora():
    """The folders of recordings: that of the tree, which the build unpacks, and the one that PERFILE_CORPUS names."""
    return [pathlib.Path(os.environ[name]) for name in ('PERFILE_TREE_CORPUS', 'PERFILE_CORPUS') if os.environ.get(name)]


def is_recording(path):
    if path.is_dir():
        return (path / 'data').is_file()
    with open(path, 'rb') as file:
        return file.read(8) in (b'PERFILE2', b'2ELIFREP')


def corpus_recordings(count, largest, without=()):
    """The files of all corpora below `largest` bytes and in no folder that `without` names, in a fixed order.

    At most about `count` of them, spread over all folders, unless PERFILE_CORPUS or PERFILE_WHOLE_CORPUS ask for all.
    """
    skipped = {'expect', 'symfs', *without}
    found = [path for corpus in corpora() for path in sorted(corpus.rglob('*'))
             if not skipped & set(path.relative_to(corpus).parts) and path.is_file() and path.stat().st_size < largest]
    everything = os.environ.get('PERFILE_CORPUS') or os.environ.get('PERFILE_WHOLE_CORPUS')
    return found if everything else found[::max(1, len(found) // count)]


def command_and_recordings(count, largest, without=()):
    """The arguments PERFILE RECORDINGS... [--corpus] of a test: the command, and the paths with those of the corpora."""
    parser = argparse.ArgumentParser()
    parser.add_argument('perfile')
    parser.add_argument('recordings', nargs='*', type=pathlib.Path)
    parser.add_argument('--corpus', action='store_true')
    options = parser.parse_args()
    return options.perfile, options.recordings + (corpus_recordings(count, largest, without) if options.corpus else [])


def with_folders(files):
    """The same recordings; files of a folder that is one recording become that folder."""
    return list(dict.fromkeys(path.parent if (path.parent / 'data').is_file() else path for path in files))


def in_memory():
    """A position for thousands of files that are read once, where there is one in memory; None: that of other temporary files."""
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) else None


def plain_parent():
    """The folder of temporary files, or another one in whose path nothing needs quotes for sh."""
    parent = tempfile.gettempdir()
    return parent if re.fullmatch(r'[\w/.-]+', parent, re.A) else '/tmp'


def plain_folder():
    """A temporary folder in whose path nothing needs quotes for sh."""
    return tempfile.TemporaryDirectory(prefix='perfile-', dir=plain_parent())


def make_locale(localedef, source, folder):
    """The locale of that name (tr_TR) for UTF-8, in a folder of locales. Its order of letters is that of C: others take long."""
    others = ('IDENTIFICATION', 'CTYPE', 'MONETARY', 'NUMERIC', 'TIME', 'MESSAGES', 'PAPER', 'NAME', 'ADDRESS', 'TELEPHONE',
              'MEASUREMENT')
    copied = {'COLLATE': 'POSIX', **dict.fromkeys(others, source)}
    with tempfile.NamedTemporaryFile('w', suffix='.locale') as file:
        file.write(''.join(f'LC_{name}\ncopy "{of}"\nEND LC_{name}\n' for name, of in copied.items()))
        file.flush()
        return subprocess.run([localedef, '-i', file.name, '-f', 'UTF-8', os.path.join(folder, f'{source}.UTF-8')],
                              capture_output=True, check=False)


if __name__ == '__main__':  # hermetic.py COMMAND WORDS...: for tests that are not in Python
    settle()
    sys.exit(subprocess.call(sys.argv[1:]))
