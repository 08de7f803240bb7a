# SPDX-License-Identifier: MIT
"""The same surroundings for every test, whatever those of the person who runs it.

Every driver calls settle() first: pagers, colors, locales, time zones, caches, servers for debug information and the
width of terminals are then the same everywhere. What a test wants to differ it names: environment(TERM='xterm').
"""
import atexit, os, re, shutil, signal, site, subprocess, sys, tempfile, time

# what programs need in order to run at all (loaders, emulators), and what tests are told
KEPT = ('PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'QEMU_LD_PREFIX', 'MALLOC_PERTURB_', 'MESON_EXE_WRAPPER', 'PERFILE_SERVED', 'PERFILE_CORPUS',
        'PERFILE_PPROF', 'PERFILE_OTLP_PROTO', 'PERFILE_SPEEDSCOPE', 'PERFILE_PROFILER_CLI')
NO_HOME = '/dev/null'  # not even root can make a cache below it
FIXED = {'HOME': NO_HOME, 'LC_ALL': 'C.UTF-8', 'PYTHONUTF8': '1', 'PYTHONDONTWRITEBYTECODE': '1', 'CCACHE_DISABLE': '1',
         'PERFILE_ADVICE': 'no'}  # what is wrong with symbols depends on the machine
CACHE = {}  # where perfile keeps what it has read of binaries with debug info: a test need not read them over and over
NO_LEAKS = {'ASAN_OPTIONS': 'detect_leaks=0'}  # of other libraries: curses keeps what it knows of the terminal
# Python itself: no variables, no packages, no files left behind, UTF-8
FLAGS = ['-E', '-S', '-B', '-X', 'utf8']


def environment(**more):
    """For the commands of a test."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.endswith('SAN_OPTIONS')}
    return {**kept, **FIXED, **CACHE, **more}


def open_standard_files():
    """A file that a test opens takes the place of one that was closed."""
    for standard in range(3):
        try:
            os.fstat(standard)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def heed_signals():
    """What nohup and shells ignore for who runs in the background, those that are started here would ignore as well."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def settle():
    """Goes on in these surroundings, with UTF-8 as the encoding of text. Only Python without FLAGS begins anew."""
    open_standard_files()
    heed_signals()
    flags = sys.flags
    if not (flags.ignore_environment and flags.no_site and flags.dont_write_bytecode and flags.utf8_mode):
        os.execve(sys.executable, [sys.executable, *FLAGS, *sys.argv], environment())
    CACHE['XDG_CACHE_HOME'] = tempfile.mkdtemp(prefix='perfile-cache-')
    atexit.register(shutil.rmtree, CACHE['XDG_CACHE_HOME'], ignore_errors=True)
    wanted = environment()
    os.environ.clear()
    os.environ.update(wanted)
    time.tzset()


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


def find_packages():
    """For tests that try what is not of Python itself, where it is installed."""
    site.main()


def no_corpus():
    """What a test ends with that needs further recordings, where there are none."""
    print('skipped: PERFILE_CORPUS names no folder of recordings')
    return 77


def in_memory():
    """A place for thousands of files that are read once, where there is one in memory; None: that of other temporary files."""
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) else None


def plain_folder():
    """A temporary folder in whose path nothing needs quotes for sh."""
    place = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(prefix='perfile-', dir=place if re.fullmatch(r'[\w/.-]+', place, re.A) else '/tmp')


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
