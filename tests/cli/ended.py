#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ended.py PERFILE DEEP [COUNT [SEED]]: a recording that is unwound, and ends at any moment.

SIGKILL, SIGHUP, a limit on the size of files and a full disk end COUNT recordings each (default: 2), at moments that the seed
chooses: times, and sizes that the file may reach. What could be read before is still there, every stack is complete, and the
file has no damage. Prints how long before the signal the last sample was taken: what was not written yet is less than that.
"""
import os, pathlib, random, re, resource, shlex, shutil, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, DEEP = map(hermetic.runnable, sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 2
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
RECORD = [PERFILE, 'record', '--call-graph', 'auto', '-e', 'cpu-clock:u', '-F', '1000', '-k', 'CLOCK_MONOTONIC', '-o']
LAST_SECONDS = 1.5
SIZES = 5_000, 60_000  # also a busy machine reaches them
wrong = []


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **more)


def expect(condition, what, detail=''):
    if not condition:
        wrong.append(what)
        print(f'wrong: {what}: {detail}')


def samples(recording):
    """Texts of the samples, with their stacks. None: the recording has damage, or none could be read."""
    checked, shown = run(PERFILE, 'check', recording), run(PERFILE, 'script', '-q', '-F', 'tid,time,ip,sym', '--ns', recording)
    if checked.returncode or shown.returncode:
        print(checked.stdout, checked.stderr, shown.stderr)
        return None
    return [part for part in shown.stdout.split('\n\n') if part.strip()]


def is_broken(sample):
    names = [line.split()[1] for line in sample.splitlines()[1:] if len(line.split()) > 1]
    return names[:1] == ['planted_leaf'] and not any(name.startswith('planted_root') for name in names[31:34])


def expect_complete(what, recording):
    found = samples(recording)
    if found is None:
        expect(False, f'{what}: a recording without damage')
        return []
    broken = [sample for sample in found if is_broken(sample)]
    expect(not broken, f'{what}: complete stacks', (len(found), len(broken), broken[:1]))
    return found


def until_ready(recorder, output):
    """The command is started only when the recording has its name."""
    hermetic.wait_until(lambda: output.exists() or recorder.poll() is not None)


def end_by(number, output, seconds):
    """What could be read just before, and when the signal came."""
    before = output.with_suffix('.before')
    with subprocess.Popen([*RECORD, output, '--', DEEP, '60'], stderr=subprocess.PIPE, start_new_session=True) as recorder:
        until_ready(recorder, output)
        time.sleep(seconds)
        shutil.copy(output, before)
        moment = time.monotonic()
        recorder.send_signal(number)
        status = recorder.wait(timeout=60)
        try:
            os.killpg(recorder.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return before, moment, status


def test_signal(number, folder, chosen):
    late = []
    for i in range(COUNT):
        what, output = f'{number.name} {i}', folder / f'{number.name}{i}'
        before, moment, status = end_by(number, output, chosen.uniform(0, LAST_SECONDS))
        expected = -number if number == signal.SIGKILL else 128 + signal.SIGTERM
        expect(status == expected, f'{what}: status', status)
        earlier, found = expect_complete(f'{what}, before', before), expect_complete(what, output)
        expect(found[:len(earlier)] == earlier, f'{what}: what was there before', (len(earlier), len(found)))
        times = [float(re.search(r'(\d+\.\d+):', sample).group(1)) for sample in found]
        late += [moment - max(times)] if times and max(times) < moment else []
    print(f'{COUNT} x {number.name}: the last sample came at most {1000 * max(late, default=0):.0f} ms before it')


def test_limit(folder, chosen):
    counts = []
    for i in range(COUNT):
        output, bytes_max = folder / f'limit{i}', chosen.randrange(*SIZES)
        done = run(*RECORD, output, '--', DEEP, '3', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max)))
        expect(done.returncode == 4, f'a limit of {bytes_max} bytes', done)
        counts.append(len(expect_complete(f'a limit of {bytes_max} bytes', output)))
        expect(counts[-1] or bytes_max < 4 * SIZES[0], f'a limit of {bytes_max} bytes: what fits', output.stat())
    print(f'{COUNT} x a limit on files: {min(counts)} to {max(counts)} samples fit')


def test_full_disk(folder, chosen):
    """In a file system of its own, for which root is necessary."""
    counts = []
    for i in range(COUNT):
        kept, small, bytes_max = folder / f'full{i}', folder / 'small', chosen.randrange(*SIZES)
        small.mkdir(exist_ok=True)
        words = ' '.join(shlex.quote(str(word)) for word in [*RECORD, small / 'data', '--', DEEP, '3'])
        script = f'mount -t tmpfs -o size={bytes_max} tmpfs {small} && {{ {words}; status=$?; cp {small}/data {kept}; exit $status; }}'
        done = run('unshare', '-m', 'sh', '-c', script)
        if 'mount' in done.stderr or 'unshare' in done.stderr:
            print('skipped: a full disk:', done.stderr.strip())
            return
        expect(done.returncode == 4, f'a disk of {bytes_max} bytes', done)
        counts.append(len(expect_complete(f'a disk of {bytes_max} bytes', kept)))
        expect(counts[-1] or bytes_max < 4 * SIZES[0], f'a disk of {bytes_max} bytes: what fits', kept.stat())
    print(f'{COUNT} x a full disk: {min(counts)} to {max(counts)} samples fit')


def main():
    hermetic.settle()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='perfile-ended-', dir=hermetic.plain_parent()))
    chosen = random.Random(SEED)
    try:
        if run(*RECORD, folder / 'first', '--', 'true').returncode:
            print('skipped: recordings that end at any moment: events cannot be opened')
            return 77
        for number in signal.SIGKILL, signal.SIGHUP:
            test_signal(number, folder, chosen)
        test_limit(folder, chosen)
        if os.geteuid() == 0 and shutil.which('unshare'):
            test_full_disk(folder, chosen)
    finally:
        shutil.rmtree(folder)
    print(len(wrong), 'wrong')
    return 1 if wrong else 0


sys.exit(main())
