#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unwound.py PERFILE BOTH DEEP DEEP_FP DEEP_BARE DEEP_ENDLESS [REFUSING HASTY] [DEEP_MADE]: callchains that are unwound while recording.

- they are those that convert --unwind makes of the stacks of the same run;
- in each kind of recording they are complete, and no copy of a stack is in it;
- a program that was deleted or replaced while it runs is unwound by what it has mapped;
- what was written before a SIGKILL is complete, too;
- what a copy does not have the kernel may have found by frame pointers (DEEP_FP has them);
- code that has neither unwind tables nor frame pointers is followed to where it returns (DEEP_BARE), also code in memory that
  the program made itself (DEEP_MADE);
- files by which nothing can be unwound are named (DEEP_ENDLESS, which does not return, is one), and those that are gone, with
  what would help;
- top -g shows such callchains;
- called perf, -g leaves callchains to the kernel, there are none without it, and the files are copied to the build-id cache;
- features of the recording may be larger than a record;
- copies become smaller where stacks are small, and larger again when one is cut (HASTY: the recorder waits for less);
- where copies of stacks are refused (REFUSING), callchains are the kernel's.
"""
import errno, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, BOTH, DEEP, DEEP_FP, DEEP_BARE, DEEP_ENDLESS = map(hermetic.runnable, sys.argv[1:7])
SHIMS = [path for path in sys.argv[7:] if path.endswith('.so')]
DEEP_MADE = next((hermetic.runnable(path) for path in sys.argv[7:] if not path.endswith('.so')), None)
EVENT = ['-e', 'cpu-clock:u', '-F', '500']
wrong = []


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          **more)


def expect(condition, what, detail=''):
    if not condition:
        wrong.append(what)
        print(f'wrong: {what}: {detail}')


def stacks(recording):
    """Of samples in planted_leaf: how many there are, and those that do not come from planted_root 30 functions above."""
    text = run(PERFILE, 'script', '-q', '-F', 'ip,sym', recording).stdout
    found = [[line.split()[1] for line in part.splitlines() if len(line.split()) > 1] for part in text.split('\n\n')]
    found = [names for names in found if names and names[0].startswith('planted_leaf')]
    return len(found), [names for names in found if not any(name.startswith('planted_root') for name in names[31:34])]


def expect_complete(recording, what):
    checked = run(PERFILE, 'check', recording)
    attr = run(PERFILE, 'evlist', '-v', recording).stdout
    count, broken = stacks(recording)
    expect(checked.returncode == 0, f'{what}: the recording', checked.stdout)
    expect('CALLCHAIN' in attr and not re.search('STACK_USER|REGS_USER|exclude_callchain', attr), f'{what}: the attr', attr)
    expect(count and not broken, f'{what}: stacks', (count, len(broken), broken[:1]))


def test_same(folder):
    done = run(BOTH, folder / 'unwound', folder / 'dumped', folder / 'converted', DEEP, '1')
    if done.returncode == 77:
        return False
    expect(re.search(r'^[1-9]\d* samples, 0 differ$', done.stdout, re.M), 'stacks unwound now and later', done.stdout)
    return True


def test_kinds(folder):
    kinds = {'by default': [], 'asked for': ['-g'], 'compressed': ['-g', '-z'], 'by thread': ['-g', '--per-thread'],
             'overwritten': ['-g', '--overwrite'], 'a group': ['-g', '-e', '{cpu-clock:u,task-clock:u}'],
             'copies of 8 KiB': ['--call-graph', 'auto,8192']}
    for what, options in kinds.items():
        output = folder / 'kind.data'
        event = ['-F', '500'] if what in ('by default', 'a group') else EVENT
        done = run(PERFILE, 'record', '-o', output, *event, *options, '--', DEEP, '0.4')
        expect(done.returncode == 0, f'{what}: recording', done.stderr)
        expect_complete(output, what)
    with open(folder / 'stream', 'wb') as stream:
        subprocess.run([PERFILE, 'record', '-q', '-o', '-', '-g', *EVENT, '--', DEEP, '0.4'], stdout=stream, timeout=60)
    expect_complete(folder / 'stream', 'a stream')
    run(PERFILE, 'record', '-q', '-o', folder / 'dumped.data', '--call-graph', 'dwarf', *EVENT, '--', DEEP, '0.2')
    expect('STACK_USER' in run(PERFILE, 'evlist', '-v', folder / 'dumped.data').stdout, 'stacks that were asked for')


def take_snapshots(output):
    """The first signal is sent when the recording has started, and may come late on a busy machine."""
    with subprocess.Popen([PERFILE, 'record', '-q', '-o', output, '-g', '--overwrite', *EVENT, '--', DEEP, '4']) as recorder:
        hermetic.wait_until(lambda: output.exists() and output.stat().st_size)
        time.sleep(0.3)
        recorder.send_signal(signal.SIGUSR2)
    return stacks(output)[0]


def test_snapshots(folder):
    """The second one is taken when the program has ended: what is known of it must stay."""
    output = folder / 'snapshots.data'
    for _ in range(3):
        output.unlink(missing_ok=True)
        if take_snapshots(output):
            break
    expect_complete(output, 'two snapshots')


def test_files(folder):
    output = folder / 'one.data'
    run(PERFILE, 'record', '-q', '-o', output, '-g', *EVENT, '--switch-output=1s', '--', DEEP, '4')
    files = sorted(folder.glob('one.data.2*'))
    counts = [stacks(file) for file in files]
    expect(len(files) > 1 and all(run(PERFILE, 'check', file).returncode == 0 for file in files), 'several files', files)
    expect(sum(count for count, _ in counts) and not any(broken for _, broken in counts), 'stacks of several files', counts)


def test_gone(folder):
    program = folder / 'gone'
    script = f'cp {DEEP} {program}; {program} 0.6 & sleep 0.1; rm {program}; cp {DEEP} {program}; echo >>{program}; wait'
    done = run(PERFILE, 'record', '-o', folder / 'gone.data', '-g', *EVENT, '--', 'sh', '-c', script)
    expect(done.returncode == 0 and 'without unwind tables' not in done.stderr, 'a program that was replaced', done.stderr)


def test_called_perf(folder):
    """-g is by frame pointers then, which the program does not have."""
    link, output = folder / 'perf', folder / 'perf.data'
    link.symlink_to(PERFILE)
    for options in ['-g'], ['--call-graph', 'auto']:
        run(link, 'record', '-q', '-o', output, *options, *EVENT, '--', DEEP, '0.3')
        count, broken = stacks(output)
        expect(count and bool(broken) == (options == ['-g']), f'perf record {options}', (count, len(broken)))
    cache, output = folder / 'cache', folder / 'as-perf.data'
    for options, kept in ([], True), (['-N'], False):
        done = run(link, '--buildid-dir', cache, 'record', '-o', output, *options, '-F', '500', '--', DEEP, '0.3')
        expect(re.search(r'^\[ perf record: Captured and wrote \d+\.\d{3} MB \S+ \(\d+ samples\) \]$', done.stderr, re.M), 'perf record: the last line',
               done.stderr)
        expect('CALLCHAIN' not in run(PERFILE, 'evlist', '-v', output).stdout, 'perf record without -g: no callchains')
        expect((pathlib.Path(DEEP).name in run(PERFILE, '--buildid-dir', cache, 'buildid-cache', '--list').stdout) == kept,
               f'perf record {options}: the build-id cache', list(cache.glob('*')))
        shutil.rmtree(cache, ignore_errors=True)


def test_depth(folder):
    """As many frames as are asked for, also more than the kernel has; what is left out is stated."""
    output = folder / 'depth.data'
    for frames, is_reported in (10, True), (500, False):
        done = run(PERFILE, 'record', '-o', output, '-g', '--kernel-maxstack', frames, *EVENT, '--', DEEP, '0.3')
        expect(('with more frames than' in done.stderr) == is_reported, f'{frames} frames', done.stderr)


def test_sizes(folder):
    """Frames are small for the first two seconds, and large afterwards: stacks are cut only until that shows."""
    output = folder / 'sizes.data'
    surroundings = {**os.environ, **hermetic.preloaded(SHIMS[1])}
    done = run(PERFILE, 'record', '-o', output, '-g', *EVENT, '--', DEEP, '2', 'wide', env=surroundings)
    count, broken = stacks(output)
    expect(done.returncode == 0 and run(PERFILE, 'check', output).returncode == 0, 'copies of two sizes', done.stderr)
    expect(count > 400 and 0 < len(broken) < count / 3, 'stacks that were cut', (count, len(broken)))


def test_continued(folder):
    """Copies that hold some functions only are continued by frame pointers where there are any."""
    output = folder / 'continued.data'
    for program in DEEP, DEEP_FP:
        done = run(PERFILE, 'record', '-o', output, '--call-graph', 'auto,256', *EVENT, '--', program, '0.4')
        count, broken = stacks(output)
        expect(count and len(broken) == (count if program == DEEP else 0), f'copies of 256 bytes of {program}', (count, len(broken)))
        reply = re.search(r' cut \(deep \d+; --call-graph auto,65528 copies more\)$', done.stderr, re.M)
        expect(bool(reply) == (program == DEEP), f'what is reported of {program}', done.stderr)


def test_bare(folder):
    output = folder / 'bare.data'
    run(PERFILE, 'record', '-q', '-o', output, '-g', *EVENT, '--', DEEP_BARE, '0.4')
    if os.uname().machine in ('x86_64', 'i686'):
        expect_complete(output, 'code without unwind tables and frame pointers')


def test_made(folder):
    """The memory is read while the program runs."""
    output = folder / 'made.data'
    run(PERFILE, 'record', '-q', '-o', output, '-g', *EVENT, '--', DEEP_MADE, '1.5')
    expect_complete(output, 'code in memory without unwind tables and frame pointers')


def test_lost(folder):
    done = run(PERFILE, 'record', '-o', folder / 'lost.data', '-g', *EVENT, '--', DEEP_ENDLESS, '0.4')
    expect(re.search(r'without unwind tables and frame pointers \(deep-endless \d+; build it with -fno-omit-frame-pointer\)$', done.stderr, re.M),
           'code that does not return', done.stderr)


def test_removed(folder):
    """Programs that end, and are removed, at once."""
    program = folder / 'removed'
    script = f'for i in 1 2 3 4 5 6 7 8 9; do cp {DEEP} {program}; {program} 0.02; rm {program}; done'
    done = run(PERFILE, 'record', '-o', folder / 'removed.data', '-g', '-e', 'cpu-clock:u', '-F', '2000', '--', 'sh', '-c', script)
    expect(not re.search('removed [0-9]+; build', done.stderr) and ('are incomplete' not in done.stderr or re.search(
        r'in files that were gone before they were read \(removed \d+; keep them until the recording has ended\)', done.stderr)),
           'programs that are removed', done.stderr)


def test_top(folder):
    """Each interval is a recording of its own."""
    with subprocess.Popen([DEEP, '60']) as busy:
        done = run(PERFILE, 'top', '--stdio', '-z', '-g', '-p', busy.pid, *EVENT, '-s', 'symbol', '-d', '1', '--duration', '3')
        busy.kill()
    shares = re.findall(r'^ *([0-9.]+)% .*planted_root', done.stdout, re.M)
    expect(len(shares) > 1 and all(float(share) > 95 for share in shares), 'top', done.stdout + done.stderr)


def test_large(folder):
    """The command line is a feature of more than 64 KiB; a stream cannot have it, which is stated."""
    output, words = folder / 'large.data', ['x' * 100] * 700
    command = [PERFILE, 'record', '-F', '500', '-e', 'cpu-clock:u', '-g']
    run(*command, '-o', output, '--switch-output', '--', DEEP, '0.2', *words)
    for file in sorted(folder.glob('large.data.2*')):
        known = json.loads(run(PERFILE, 'info', '--format', 'json', file).stdout)
        expect(known['command'][-700:] == words, 'a large feature', known['command'][-3:])
        expect_complete(file, 'beside a large feature')
    expect(len(list(folder.glob('large.data.2*'))) == 1, 'a recording with a large feature')
    done = subprocess.run([*command, '-o', '-', '--', DEEP, '0.1', *words], capture_output=True, timeout=60)
    expect(b'feature CMDLINE of' in done.stderr and done.returncode == 0, 'a large feature in a stream', done.stderr)


def test_refused(folder):
    output, shim = folder / 'refused.data', SHIMS[0]
    for why in errno.EINVAL, errno.EOPNOTSUPP, errno.EACCES, errno.ENOSYS:
        surroundings = {**os.environ, **hermetic.preloaded(shim), 'REFUSE': str(why)}
        done = run(PERFILE, 'record', '-o', output, '-F', '500', '--', DEEP, '0.2', env=surroundings)
        notes = [line for line in done.stderr.splitlines() if 'by frame pointers' in line or 'recorded without' in line]
        expect(done.returncode == 0 and len(notes) == 1, f'refused with {errno.errorcode[why]}', done.stderr)
        attr = run(PERFILE, 'evlist', '-v', output).stdout
        expect('CALLCHAIN' in attr and not re.search('STACK_USER|REGS_USER|exclude_callchain', attr), 'the attr by fp', attr)
        expect(stacks(output)[0], 'samples by fp')


def test_killed(folder):
    output = folder / 'killed.data'
    recorder = subprocess.Popen([PERFILE, 'record', '-q', '-o', output, '-g', *EVENT, '--', DEEP, '60'], start_new_session=True)
    hermetic.wait_until(lambda: output.exists() and stacks(output)[0] > 20)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    os.killpg(recorder.pid, signal.SIGKILL)
    count, broken = stacks(output)
    expect(count > 20 and not broken, 'what was written before the end', (count, broken[:1]))


TESTS = [test_kinds, test_bare, test_snapshots, test_files, test_gone, test_called_perf, test_depth, test_continued, test_lost, test_removed, test_top, test_large, test_killed]


def attempt(test, folder, attempts=3):
    """On a busy machine the recorder may come too late for what a program does at its start or its end."""
    before = len(wrong)
    test(pathlib.Path(tempfile.mkdtemp(dir=folder)))
    if len(wrong) > before and attempts > 1:
        print('again:', *wrong[before:])
        del wrong[before:]
        attempt(test, folder, attempts - 1)


def main():
    hermetic.settle()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='perfile-unwound-', dir=hermetic.plain_parent()))
    try:
        if not test_same(folder):
            print('skipped: unwinding while recording: events cannot be opened')
            return 77
        for test in TESTS + [test_refused, test_sizes] * bool(SHIMS) + [test_made] * bool(DEEP_MADE):
            attempt(test, folder)
    finally:
        shutil.rmtree(folder)
    print(len(wrong), 'wrong')
    return 1 if wrong else 0


sys.exit(main())
