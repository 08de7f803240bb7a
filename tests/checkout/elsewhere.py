#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elsewhere.py BUILD TREE [--all] [--only CHANGE]... [TESTS...]: the quick tests pass on a machine that is not like this one.

Checkout and build are copied to a path with spaces and letters that are no ASCII, and the quick tests that a machine can
make a difference to (all but OUT_OF_REACH and, without --all, LONG), or those named, run there with other locales, without a home, as another user, with
another kernel, which is that of the recordings, with other binaries, and so on: all CHANGES at once. Each change has a planted
expectation that depends on the machine: it holds here and must not hold there, or the change is not in force. Changes that cannot
be made here are skipped, with the reason."""
import argparse, collections, concurrent.futures, hashlib, json, os, pathlib, re, shutil, struct, subprocess, sys, tempfile, zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic, identities

BUILD_ID_NOTE = struct.pack('<III4s', 4, 20, 3, b'GNU')  # before the 20 bytes of a build id
RECORDINGS = 3  # of each test, see fewer(): some compare them
ODD_NAME = 'pfäd mit spaces ☃'
NO_ONE = 65534
SKIP, SLOWER = 77, 8
LEFT_OUT = {'api-installed': 'Meson installs from the folder in which it was configured'}
# Tests, or complete suites, whose outcome none of the changes can reach. The verbs and formats that they are about are also those of the
# cases of the command line, of the goldens and of the unit tests, which all run elsewhere.
OUT_OF_REACH = {
    'fuzz': 'bytes from memory to memory: symbols are looked for in no file, and there are no names of this machine',
    **dict.fromkeys(['fault-outputs', 'fault-profiles', 'fault-short-memory'],
                    'what fails is planted in the process, and the outcome is compared with that of the same process without it'),
    **dict.fromkeys(['salvage', 'jobs', 'jobs of many samples', 'streams', 'hierarchy', 'profiles', 'cuts', 'anonymize',
                     'split and merge'],
                    'what perfile prints is compared with what it prints of a part, or by other threads: on both sides alike'),
    **dict.fromkeys(['columns', 'slices'], 'what perfile prints is compared with what it prints in another format, or of parts'),
    'api-locale': 'it makes and chooses its locales itself',
    'python-tables': 'rows are compared with those that the command prints; the binding elsewhere is what python-reading tries',
    'truth': 'times that a program measured are compared with those that were recorded of it, which other tests must not disturb',
    'ids': 'ids of one table are looked for in another of the same process',
}
# Tests that take long: they run elsewhere with --all, that is in `./dev test full`.
LONG = {'record', 'unwound', 'container-map', 'ended', 'python-installs', 'python-reading', 'indexes', 'query-files', 'names-on-a-terminal', 'top', 'tui',
        'examples'}
LOCALES = {'tr_TR.UTF-8': ('tr_TR', 'UTF-8'), 'de_DE.UTF-8': ('de_DE', 'UTF-8')}

# `environment` and `shell` (commands of sh) make it; `planted` is the expectation; `cannot` says why it is not possible
Change = collections.namedtuple('Change', 'environment shell planted cannot', defaults=({}, '', 'false', lambda: ''))


def not_root():
    return '' if os.geteuid() == 0 else 'only root can do that'


def no_locales():
    missing = [name for name in LOCALES if subprocess.run(['locale', 'charmap'], capture_output=True, text=True,
                                                          env={**os.environ, 'LC_ALL': f'{name}.UTF-8'}).stderr]
    return f'{" and ".join(missing)} cannot be made here (is the package locales missing?)' if missing else ''


def md5_of(path):
    return hashlib.md5(pathlib.Path(path).read_bytes()).hexdigest()


CHANGES = {
    'path': Change(planted='set -- $PWD; test $# = 1'),
    'locale': Change({'LANG': 'tr_TR.UTF-8', 'LC_NUMERIC': 'de_DE.UTF-8'}, planted='test "$(locale decimal_point)" = .',
                     cannot=no_locales),
    'time zone': Change({'TZ': '<+0545>-5:45'}, planted='test "$(date +%z)" != +0545'),
    'home': Change(shell='unset HOME', planted='test -n "$HOME"'),
    'terminal': Change({'TERM': 'dumb', 'COLUMNS': '40', 'LINES': '5', 'NO_COLOR': '1', 'PAGER': 'false', 'LESS': '-Z',
                        'PERFILE_PAGER': 'false'}, planted='test -z "$NO_COLOR"'),
    'debuginfod': Change({'DEBUGINFOD_URLS': 'http://127.0.0.1:9/'}, planted='test -z "$DEBUGINFOD_URLS"'),
    'umask': Change(shell='umask 077', planted='test "$(umask)" = 0022'),
    'descriptors': Change(shell='ulimit -Sn 64', planted='test "$(ulimit -n)" != 64'),
    'kallsyms': Change(shell='mount --bind "$ELSEWHERE/kallsyms" /proc/kallsyms', planted='! grep -q planted_leak /proc/kallsyms',
                       cannot=not_root),
    'sys': Change(shell='mount -t tmpfs none /sys', planted='test -e /sys/devices/system/cpu/online', cannot=not_root),
    'notes': Change(shell='mkdir -p /sys/kernel && { test -e /sys/kernel/notes || : >/sys/kernel/notes; } && '
                    'mount --bind "$ELSEWHERE/notes" /sys/kernel/notes',
                    planted='! cmp -s "$ELSEWHERE/notes" /sys/kernel/notes', cannot=not_root),
    'binaries': Change(shell='(cd "$ELSEWHERE/binaries" && find . -type f | '
                       'while read -r file; do mount --bind "$file" "/$file" || exit; done)',
                       planted=f'test "$(md5sum </bin/sh)" = "{md5_of("/bin/sh")}  -"', cannot=not_root),
    'user': Change(planted=f'test "$(id -u)" != {NO_ONE}', cannot=not_root),  # the last thing that the shell does
}


def is_out_of_reach(test):
    return not OUT_OF_REACH.keys().isdisjoint([test['name'], *(suite.split(':')[-1] for suite in test['suite'])])


def make_locales(folder):
    """Those that are not installed, of their sources."""
    for name in LOCALES:
        try:
            hermetic.make_locale('localedef', name, folder)
        except FileNotFoundError:
            return


def fewer(test):
    """The command of a test, with some of its recordings when it has many: a surrounding that matters does so for any, and
    which they are depends on the name of the test, so that each is read by some."""
    supplied = [word for word in test['cmd'] if word.endswith('.perf.data')]
    first = zlib.crc32(test['name'].encode()) % max(1, len(supplied))
    left_out = (supplied[first:] + supplied[:first])[RECORDINGS:]
    return [word for word in test['cmd'] if word not in left_out]


def plant_kernel(root, tree):
    """A kernel that has the id of that in the recordings, and one function, which no test expects."""
    found = re.search(bytes.fromhex(identities.RESERVED) + b'.{16}', (tree / 'tests/data/two-events.perf.data').read_bytes(), re.DOTALL)
    (root / 'notes').write_bytes(BUILD_ID_NOTE + found[0])
    symbols = {0xffffffff81000000: ('_text', '_stext'), 0xffffffff81000010: ('planted_leak',), 0xffffffff82ffffff: ('_etext',)}
    (root / 'kallsyms').write_text(''.join(f'{at:x} T {name}\n' for at, names in symbols.items() for name in names))


def plant_binaries(folder, tree):
    """Copies of this machine's binaries that the recordings name, and of the shell, with another build id."""
    recordings = b''.join(path.read_bytes() for recording in identities.recordings(tree) for path in identities.files_of(recording))
    names = {os.path.realpath(name.decode()) for name in re.findall(rb'/(?:usr|bin|lib)[\w./+-]+', recordings)}
    for name in sorted({*names, os.path.realpath('/bin/sh')}):
        data = bytearray(pathlib.Path(name).read_bytes()) if os.path.isfile(name) else b''
        at = data.find(BUILD_ID_NOTE) + len(BUILD_ID_NOTE)
        if data.startswith(b'\x7fELF') and at >= len(BUILD_ID_NOTE):
            data[at] ^= 0xff
            copy = folder / name[1:]
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            copy.chmod(0o755)


class Elsewhere:
    def __init__(self, build, tree, folder, chosen):
        self.build, self.tree, self.root, self.chosen = build, tree, folder / ODD_NAME, chosen
        shutil.copytree(tree, self.root, symlinks=True, ignore=lambda location, names: [
            name for name in names if location == str(tree) and (name.startswith('build') or name == '.git')])
        shutil.copytree(build, self.root / 'build', symlinks=True, ignore=shutil.ignore_patterns('meson-logs'))
        (self.root / 'tmp').mkdir()
        (self.root / 'tmp').chmod(0o777)
        plant_kernel(self.root, tree)
        if not not_root():
            plant_binaries(self.root / 'binaries', tree)
        ours = {*hermetic.FIXED, *hermetic.OWN, *hermetic.WALLS}
        self.environment = {name: self.location(value) for name, value in hermetic.environment().items() if name not in ours}
        self.environment.update(TMPDIR=str(self.root / 'tmp'), ELSEWHERE=str(self.root), HOME=str(self.root))
        if 'LOCPATH' in os.environ:
            self.environment['LOCPATH'] = os.environ['LOCPATH']

    def location(self, word):
        """A word of a command, or a path in a variable, as it is there."""
        if word == sys.executable:  # which may be out of reach for other users
            return 'python3'
        path = os.path.normpath(word) if os.path.isabs(word) else word
        for old, new in ((self.build, self.root / 'build'), (self.tree, self.root)):
            if path == str(old) or path.startswith(f'{old}/'):
                return str(new) + path[len(str(old)):]
        return word

    def run(self, command, timeout, environment=None):
        """Exit status and output of a command in the changed surroundings."""
        changes = [CHANGES[name] for name in self.chosen]
        script = ' && '.join(['cd build', *(change.shell for change in changes if change.shell), 'exec '])
        namespace = ['unshare', '-m'] if any('mount ' in change.shell for change in changes) else []
        # what setpriv starts is still looked for with root's rights: env looks as the other user
        become = f'setpriv --reuid {NO_ONE} --regid {NO_ONE} --clear-groups -- env ' if 'user' in self.chosen else ''
        words = [*namespace, 'sh', '-c', f'{script}{become}"$@"', 'sh', *map(self.location, command)]
        added = {name: value for change in changes for name, value in change.environment.items()}
        moved = {name: self.location(value) for name, value in (environment or {}).items()}
        try:
            done = subprocess.run(words, cwd=self.root, env={**self.environment, **added, **moved}, timeout=timeout,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            return None, (late.output or b'').decode('utf-8', 'replace')
        return done.returncode, done.stdout.decode('utf-8', 'replace')

    def test(self, test):
        """Its name, what is wrong with it or '', and the reasons for what it skips."""
        if test['name'] in LEFT_OUT:
            return test['name'], '', [LEFT_OUT[test['name']]]
        status, output = self.run(fewer(test), test['timeout'] * SLOWER, test['env'])
        skipped = [line[len('skipped: '):] for line in output.splitlines() if line.startswith('skipped: ')]
        if status not in (0, SKIP):
            return test['name'], f'status {status}:\n{output}', []
        return test['name'], '', skipped or output.splitlines()[-1:] * (status == SKIP)


def force(elsewhere):
    """Leaves out the changes that cannot be made; what is wrong with the others."""
    chosen, wrong = elsewhere.chosen, []
    for name in chosen:
        elsewhere.chosen = [name]
        here = subprocess.run(['sh', '-c', CHANGES[name].planted], cwd=elsewhere.build).returncode == 0
        reason = CHANGES[name].cannot() or ('' if here else 'this machine is so already')
        if not reason:
            status, output = elsewhere.run(['true'], 60)
            reason = output.strip() if status != 0 else ''
        if reason:
            print(f'skipped: {name}: {reason}')
        elif elsewhere.run(['sh', '-c', CHANGES[name].planted], 60)[0] == 0:
            wrong.append(f'{name}: the planted expectation holds there, too')
        chosen = [other for other in chosen if other != name or not reason]
    elsewhere.chosen = chosen
    return wrong


def main():
    hermetic.find_walls()
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('tree', type=pathlib.Path)
    parser.add_argument('tests', nargs='*')
    parser.add_argument('--all', action='store_true', help='also those that take long')
    parser.add_argument('--only', action='append', choices=[*CHANGES], help='without it: all')
    options = parser.parse_intermixed_args()
    build, tree = options.build.resolve(), options.tree.resolve()
    tests = [test for test in json.loads((build / 'meson-info/intro-tests.json').read_text())
             if (test['name'] in options.tests if options.tests else 'perfile:quick' in test['suite'])]
    left_out = [test for test in tests if not options.tests and is_out_of_reach(test)]
    tests = [test for test in tests if test not in left_out and (options.all or options.tests or test['name'] not in LONG)]
    tests.sort(key=lambda test: -test['timeout'])  # those that take long go first
    with tempfile.TemporaryDirectory(prefix='perfile-elsewhere-') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'locales').mkdir()
        make_locales(folder / 'locales')
        if any((folder / 'locales').iterdir()):
            os.environ['LOCPATH'] = str(folder / 'locales')
        elsewhere = Elsewhere(build, tree, folder, options.only or [*CHANGES])
        wrong = force(elsewhere)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(elsewhere.test, tests))
    for name, fault, skipped in results:
        if fault:
            wrong.append(name)
            print(f'--- {name}: {fault}')
        for reason in skipped:
            print(f'skipped: {name}: {reason}')
    print(f'{len(tests)} tests with another {", ".join(elsewhere.chosen)}, without {len(left_out)} that these cannot reach; '
          f'wrong: {", ".join(wrong) or "none"}')
    sys.exit(bool(wrong) or not tests)


main()
