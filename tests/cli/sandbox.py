#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a command that reads a recording can still do, and what it must: sandbox.py PERFILE ASSEMBLE SHIM.so

The SHIM plays code that took the process over. What the kernel does not have is not asked for: a kernel without Landlock
is not asked to keep files, one without seccomp not to keep programs from being run. Without both the test is skipped."""
import ctypes, http.server, json, os, pathlib, re, shutil, socket, subprocess, sys, threading

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

HERE = pathlib.Path(__file__).resolve().parent
RECORDING = HERE.parent.parent / 'examples' / 'demo.perf.data'
JIT = HERE.parent / 'data'
SCHED = JIT / 'sched-tiny1.perf.data'
CALLS_OF = JIT / 'trace-raw.perf.data'

ELF = HERE.parent.parent / 'examples' / 'symfs' / 'src' / 'perfile' / 'build' / 'workload'

# What Landlock refuses; seccomp refuses all other attempts.
FILES = {'create', 'write', 'truncate', 'rename', 'link', 'symlink', 'mkdir', 'unlink', 'rmdir', 'fifo', 'shared memory',
         'memory of another'}
ATTEMPTS_MIN = 80
# What works where there is no sandbox.
POSSIBLE = {'create', 'write', 'spawn', 'connect', 'process_vm_readv', 'kill', 'exec', 'fchmod', 'fchown', 'prlimit64', 'priority',
            'affinity', 'tgkill', 'tkill', 'owner of signals', 'number of signals', 'unix socket', 'fifo'}
# What each verb that reads a recording is run with; {o} is a file to be written.
VERBS = {
    'info': ['info', RECORDING], 'report': ['report', RECORDING], 'script': ['script', RECORDING],
    'table': ['table', 'samples', RECORDING], 'export': ['export', '--format', 'folded', '-o', '{o}', RECORDING],
    'pgo': ['pgo', '--format', 'autofdo', '-o', '{o}', RECORDING],
    'dataset': ['export', '--format', 'parquet', '--partition', 'host', '-o', '{o}.dataset', RECORDING],
    'query': ['query', 'SELECT count(*) FROM samples', RECORDING],
    'sched': ['sched', 'latency', SCHED], 'offcpu': ['offcpu', SCHED],
    'trace': ['trace', CALLS_OF], 'lock': ['lock', 'contention', JIT / 'lock.perf.data'],
    'kmem': ['kmem', 'stat', JIT / 'kmem-slab.perf.data'], 'kwork': ['kwork', 'report', JIT / 'kwork.perf.data'],
    'kvm': ['kvm', 'stat', JIT / 'kvm-svm.perf.data'], 'timechart': ['timechart', '-o', '-', JIT / 'sched-tiny1.perf.data'],
    'mem': ['mem', 'report', JIT / 'mem-made.perf.data'], 'c2c': ['c2c', 'report', JIT / 'mem-made.perf.data'],
    'dump': ['dump', RECORDING], 'check': ['check', RECORDING],
    'annotate': ['annotate', RECORDING],
    'flame': ['flame', '--format', 'folded', '--before', RECORDING, RECORDING],
    'diff': ['diff', RECORDING, RECORDING],
    'convert': ['convert', '-o', '{o}', RECORDING], 'repair': ['repair', '-o', '{o}', RECORDING],
    'index': ['index', '-o', '{o}', RECORDING],
    'cut': ['cut', '--cpu', '0', '-o', '{o}', RECORDING], 'merge': ['merge', '-o', '{o}', RECORDING, RECORDING],
    'anonymize': ['anonymize', '-o', '{o}', RECORDING], 'inject': ['inject', '-b', '-o', '{o}', RECORDING],
    'evlist': ['evlist', '-v', RECORDING], 'buildid-list': ['buildid-list', '-H', RECORDING],
    'pgo': ['pgo', '--format', 'bolt', '-o', '{o}', RECORDING],
    'archive': ['archive', '-o', '{o}', RECORDING], 'bundle': ['bundle', '-o', '{o}', RECORDING],
    'data': ['data', 'convert', '--to-json', '{o}', RECORDING],
    'buildid-cache': ['buildid-cache', '--add', ELF, '--list', '--buildid-dir', '{o}.cache'],
    'split': ['cut', '--split', 'cpu', '-o', '{o}%', RECORDING],
}

ALL_VERBS = frozenset(VERBS)

failures = []


def expect(name, fact, detail=''):
    if not fact:
        failures.append(name)
        print(f'--- {name}: {detail}')


class Setting:
    """The command, in an empty folder, with a folder that it has no business in."""

    def __init__(self, perfile, shim, folder):
        self.perfile, self.shim, self.folder = perfile, shim, folder
        self.theirs, self.ours, self.home = folder / 'theirs', folder / 'ours', folder / 'home'
        for path in (self.theirs, self.ours, self.home):
            path.mkdir()
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.environment = {'PATH': '/usr/bin:/bin', 'HOME': str(self.home), 'LC_ALL': 'C', 'TMPDIR': str(folder)}

    def run(self, *arguments, stdin=subprocess.DEVNULL, **environment):
        words = [str(word).replace('{o}', str(self.ours / 'out')) for word in arguments]
        return subprocess.run([self.perfile, *words], cwd=self.ours, env={**self.environment, **environment},
                              stdin=stdin, capture_output=True, timeout=60)

    def attempts(self, *arguments, **environment):
        """What became of each attempt."""
        (self.theirs / 'there').write_text('precious')
        (self.theirs / 'there').chmod(0o600)
        (self.theirs / 'empty').mkdir(exist_ok=True)
        done = self.run(*arguments, **{'LD_PRELOAD': str(self.shim), 'TRY_FOLDER': str(self.theirs),
                                       'TRY_PORT': str(self.listening.getsockname()[1]), **environment})
        return dict(re.findall(r'^tried ([^:]+): (.*)$', done.stderr.decode(), re.M)), done

    def is_untouched(self):
        there = self.theirs / 'there'
        return sorted(path.name for path in self.theirs.iterdir()) == ['empty', 'there'] and there.read_text() == 'precious' and \
            there.stat().st_mode & 0o7777 == 0o600


def what_holds(t):
    """What this kernel keeps from happening, by what the command says of it."""
    reply = t.run('info', '-v', RECORDING).stderr.decode()
    listed = t.attempts('info', RECORDING, TRY_LIST='yes')[1].stderr.decode()
    known = set(re.findall('^can try (.*)$', listed, re.M))
    expect('all attempts are there', len(known) >= ATTEMPTS_MIN and FILES | POSSIBLE <= known, (len(known), FILES | POSSIBLE - known))
    held = set()
    if 'does not restrict' not in reply and 'no sandbox' not in reply:
        held |= FILES | {'spawn', 'exec'}
    if 'does not filter' not in reply and 'no sandbox' not in reply:
        held |= known - FILES
    return held, reply.strip()


def refusals(attempt):
    """How: by Landlock, and for another folder; by seccomp; by seccomp for what it does not know."""
    if attempt in FILES:
        return ['Permission denied', 'Invalid cross-device link']
    if attempt in ('spawn', 'exec'):
        return ['Permission denied', 'Operation not permitted']
    return ['Function not implemented' if attempt == 'unknown call' else 'Operation not permitted']


def test_nothing_is_done(t, held):
    for name, words in VERBS.items():
        got, done = t.attempts(*words)
        expect(f'{name}: it ends well', done.returncode == (1 if name == 'pgo' else 0),  # no binary of the recording is here
               (done.returncode, done.stderr[-300:]))
        for attempt in sorted(held - ({'32-bit call'} - got.keys())):
            expect(f'{name}: {attempt} is refused', got.get(attempt) in refusals(attempt), got.get(attempt, 'not tried'))
        expect(f'{name}: the files are untouched', not held & FILES or t.is_untouched(), list(t.theirs.iterdir()))


def test_all_verbs_are_here(t):
    """A verb that reads a recording has --strict."""
    verbs = json.loads(t.run('help', '--json').stdout)['verbs']
    reading = {verb['name'] for verb in verbs if any(o['name'] == '--strict' for o in verb['options'])}
    expect('each verb that reads is tested', reading <= ALL_VERBS, reading - ALL_VERBS)


def test_without(t, held):
    """The attempts work where there is no sandbox: else their refusal says nothing."""
    for name in sorted(held & POSSIBLE):
        got, done = t.attempts('info', '--no-sandbox', RECORDING, TRY=name)
        done_well = got == {name: 'done'} if name != 'exec' else not got and done.returncode == 0
        expect(f'--no-sandbox: {name}', done_well, (got, done.stderr[-300:]))
        for made in 'created', 'fifo':
            (t.theirs / made).unlink(missing_ok=True)


def test_outputs(t):
    """The same with and without: status, text, and what is in the file."""
    def targets():
        shutil.rmtree(t.ours)
        t.ours.mkdir()
        (t.ours / 'old').write_text('old')
        (t.ours / 'old').chmod(0o666)
        (t.ours / 'elsewhere').mkdir()
        (t.ours / 'elsewhere' / 'file').write_text('old')
        (t.ours / 'link').symlink_to('elsewhere/file')
        (t.ours / 'dangling').symlink_to('elsewhere/none')
        (t.theirs / 'made').unlink(missing_ok=True)
        (t.ours / 'outside').symlink_to('../theirs/made')
        os.mkfifo(t.ours / 'fifo')

    def outcome(words, target, *more):
        targets()
        reader = subprocess.Popen(['cat', t.ours / 'fifo'], stdout=subprocess.PIPE) if target == 'fifo' else None
        done = t.run(*words, '-o', target, *more, RECORDING)
        heard = re.sub(rb'\.\d+\.tmp|[0-9a-f]{8}\b', b'', done.stderr)
        text = reader.communicate(timeout=60)[0] if reader else b''
        files = {str(path.relative_to(t.ours)): path.is_file() and (path.read_bytes(), path.stat().st_mode)
                 for path in sorted(t.ours.rglob('*')) if not path.is_fifo()}
        return done.returncode, done.stdout, heard, text, files

    for words in (['script'], ['convert'], ['convert', '--mode', 'directory']):
        for target in ('new', 'old', './sub/../new', 'link', 'dangling', 'outside', '/dev/full', '/dev/null', '/dev/stdout', 'fifo',
                       'none/new', 'elsewhere', '-', str(t.ours / 'whole')):
            if words[-1] == 'directory' and target in ('fifo', '-'):
                continue
            with_it, without = outcome(words, target), outcome(words, target, '--no-sandbox')
            expect(f'{words} -o {target}', with_it == without, (with_it[:3], without[:3], with_it[4].keys() ^ without[4].keys()))


def test_streams(t):
    """A file-mode recording through a pipe needs a file, which is made before."""
    expected = t.run('report', RECORDING).stdout
    for words in (['report', '-'], ['cut', '--every', '1', '-q', '-o', '-', '-'], ['merge', '-q', '-o', '-', '-', RECORDING]):
        with subprocess.Popen(['cat', RECORDING], stdout=subprocess.PIPE) as source:
            done = t.run(*words, stdin=source.stdout)
        expect(f'{words} from a pipe', done.returncode == 0 and done.stdout, done.stderr)
        expect('the same report', words[0] != 'report' or done.stdout.splitlines()[5:] == expected.splitlines()[5:])
    expect('no temporary file stays', not list(t.folder.glob('perfile-*')), list(t.folder.iterdir()))


def test_caches(t, held):
    """What is kept of binaries for the next time goes to the cache, wherever that is."""
    cache = t.folder / 'cache' / 'deep'
    kept = {'XDG_CACHE_HOME': str(cache), 'TRY_FOLDER': str(cache / 'perfile'), 'TRY': 'create'}
    got, done = t.attempts('report', RECORDING, **kept)
    expect('report may fill its cache', got == {'create': 'done'}, (got, done.stderr))
    got, _ = t.attempts('info', RECORDING, **kept)
    expect('info has none', 'create' not in held or got != {'create': 'done'}, got)
    got, _ = t.attempts('report', RECORDING, **{**kept, 'TRY_FOLDER': str(cache)})
    expect('nor is what is beside it open to report', 'create' not in held or got != {'create': 'done'}, got)


def test_code_of_jits(t):
    folder = t.ours / 'jits'
    folder.mkdir()
    done = t.run('inject', '-j', '-q', '--symfs', JIT, '-o', folder / 'joined', JIT / 'jit.perf.data')
    expect('the code of JITs is written', done.returncode == 0 and len(list(folder.glob('jitted-*.so'))) == 12, done.stderr)
    other = t.folder / 'other'
    other.mkdir()
    done = t.run('inject', '-j', '-q', '--jit-dir', other, '--symfs', JIT, '-o', folder / 'joined', JIT / 'jit.perf.data')
    expect('--jit-dir may be anywhere', done.returncode == 0 and len(list(other.glob('jitted-*.so'))) == 12, done.stderr)


def test_debuginfod(t, held):
    """With servers to ask the network is open to what looks for symbols, and to nothing else."""
    urls = {'DEBUGINFOD_URLS': f'http://127.0.0.1:{t.listening.getsockname()[1]}'}
    got, _ = t.attempts('info', RECORDING, **urls)
    expect('info does not ask debuginfod', 'connect' not in held or got['connect'] != 'done', got)
    got, _ = t.attempts('script', '--no-inline', RECORDING, TRY='connect', DEBUGINFOD_URLS='http://127.0.0.1:9')
    expect('script asks debuginfod', got == {'connect': 'done'}, got)
    try:
        ctypes.CDLL('libdebuginfod.so.1')
    except OSError:
        print('libdebuginfod is missing: it is not asked')
        return
    asked = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = b'\x7fELF is what it begins with'
            self.send_response(200)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    try:
        socket.getaddrinfo('localhost', None, socket.AF_INET)
        name = 'localhost'
    except OSError:
        name = '127.0.0.1'
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        t.run('script', '--symfs', t.theirs, RECORDING, DEBUGINFOD_URLS=f'http://{name}:{server.server_port}')
        server.shutdown()
    kept = [path for path in (t.home / '.cache' / 'debuginfod_client').rglob('*') if path.is_file()]
    expect('a server is asked', any('/buildid/' in path for path in asked), asked)
    expect('and its answer is kept', any(path.name in ('debuginfo', 'executable') for path in kept), kept)


def test_processes_elsewhere(t, assemble):
    """The map of a JIT that lives in another mount namespace."""
    script = 'mount -t tmpfs none /tmp && echo "10000 1000 from_inside" >/tmp/perf-$$.map && echo ready && exec sleep 600'
    inside = subprocess.Popen(['unshare', '-Urm', 'sh', '-c', script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) \
        if shutil.which('unshare') else None
    if not inside or inside.stdout.readline() != b'ready\n':
        print('there are no user namespaces here: processes in others are not looked at')
        return
    system = os.uname()
    recording = t.folder / 'inside.data'
    recording.write_bytes(subprocess.check_output([assemble], input=f'''attr type=1 config=0 sample_type=IP|TID|TIME ids=1 name="cpu-clock" sample_id_all=1
feature HOSTNAME s:"{system.nodename}"
feature OSRELEASE s:"{system.release}"
record MMAP misc=2 pid={inside.pid} tid={inside.pid} addr=0x10000 len=0x1000 pgoff=0 filename="//anon" | pid={inside.pid} tid={inside.pid} time=1
sample misc=2 ip=0x10010 pid={inside.pid} tid={inside.pid} time=2
'''.encode()))
    for options in ([], ['--no-sandbox']):
        done = t.run('script', '-F', 'ip,sym', *options, recording)
        expect(f'a process in another namespace {options}', done.stdout.split() == [b'10010', b'from_inside'], (done.stdout, done.stderr))
    inside.kill()
    inside.wait()


def leave_out_what_is_not_built(t):
    if b'this build has no SQLite' in t.run(*VERBS['query']).stderr:
        del VERBS['query']


def main():
    hermetic.settle()
    perfile, assemble, shim = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    with hermetic.plain_folder() as name:
        folder = pathlib.Path(name).resolve()
        t = Setting(perfile, shutil.copy(shim, folder), folder)  # LD_PRELOAD cannot name paths with spaces
        held, reply = what_holds(t)
        if not held:
            print(f'this kernel has no sandbox: {reply}')
            sys.exit(77)
        if reply:
            print(reply)
        leave_out_what_is_not_built(t)
        has_network = hermetic.has_loopback()
        if not has_network:
            print('skipped: connections: there is no network, not even of this machine')
            POSSIBLE.remove('connect')
        test_nothing_is_done(t, held)
        test_all_verbs_are_here(t)
        test_without(t, held)
        test_outputs(t)
        test_streams(t)
        test_caches(t, held)
        test_code_of_jits(t)
        if has_network:
            test_debuginfod(t, held)
        test_processes_elsewhere(t, assemble)
    print(f'{len(failures)} facts are wrong' if failures else 'all is as it should be')
    sys.exit(bool(failures))


main()
