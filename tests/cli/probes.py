#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probes.py PERFILE CC: probes of a program are added, recorded and removed, also when the recorder is killed.

It needs root, tracefs with uprobe_events, and events that can be opened; else it says what is missing. What an earlier
recorder has left, and what a recorder does that cannot record, is tested in a folder that stands for tracefs.
"""
import contextlib, os, pathlib, re, signal, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = hermetic.runnable(sys.argv[1])
SOURCE = """
#include <unistd.h>
struct point { int x; const char *name; };
int total = 7;
__attribute__((noinline)) int tick(int count, struct point *point) { total += count; return total + point->x; }
int main(int argc, char **argv)
{
    struct point point = {argc + 40, "here"};
    int sum = 0;
    (void)argv;
    for (int i = 0; i < 3 || argc > 1; i++) {
        sum += tick(i, &point);
        usleep(argc > 1 ? 1000 : 0);
    }
    return sum == 0;
}
"""
GROUP = f'test{os.getpid()}'


def run(*arguments, **more):
    return subprocess.run([PERFILE, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def check_folder(folder, program):
    """A recording that cannot open its event removes its probe; a dead recorder's probes are removed first."""
    tracefs = folder / 'tracefs'
    tracefs.mkdir()
    events = tracefs / 'uprobe_events'
    events.write_text('')
    (tracefs / f'perfile-probes.{hermetic.NO_PROCESS}').write_text('uprobe probe_old/left\n')
    (tracefs / f'perfile-probes.{os.getpid()}').write_text('uprobe probe_other/runs\n')
    done = run('record', '--tracefs', tracefs, '--probe', f'{program}:{GROUP}:tick=tick', '-o', folder / 'none.data', 'true')
    assert done.returncode, done
    lines = events.read_text().splitlines()
    assert lines[0] == '-:probe_old/left', lines
    assert re.match(rf'p:{GROUP}/tick {re.escape(str(program))}:0x[0-9a-f]+$', lines[1]), lines
    assert lines[2:] == [f'-:{GROUP}/tick'], lines
    assert [path.name for path in tracefs.glob('perfile-probes.*')] == [f'perfile-probes.{os.getpid()}'], list(tracefs.iterdir())


def check_sources(folder):
    """The source of a program that was compiled by a path below the current folder was looked for below that of the reader."""
    below = folder / 'below'
    below.mkdir()
    (below / 'near.c').write_text('int near(int x)\n{\n    return x * x;\n}\nint main(void) { return near(0); }\n')
    for version in 4, 5:
        subprocess.run([*sys.argv[2:], '-g', f'-gdwarf-{version}', '-o', folder / 'near', 'below/near.c'], cwd=folder, check=True)
        listed = run('probe', '--exec', folder / 'near', '--line', 'near', cwd='/').stdout.splitlines()
        assert listed[:2] == [f'<near@{below}/near.c:0>', '      0  int near(int x)'], listed


def check_left_out(folder):
    """A function that the linker left out had a probe at the first byte of the file."""
    (folder / 'gone.c').write_text('int gone(int x)\n{\n    return x * x;\n}\nint main(void)\n{\n    return 0;\n}\n')
    flags = ['-g', '-ffunction-sections', '-Wl,--gc-sections']
    if subprocess.run([*sys.argv[2:], *flags, '-o', folder / 'gone', folder / 'gone.c'], capture_output=True).returncode:
        print('skipped: functions that are left out: no linker does so')
        return
    for words in ['--definition', 'gone'], ['--definition', 'gone.c:3'], ['--vars', 'gone']:
        done = run('probe', '--exec', folder / 'gone', *words)
        assert done.returncode == 3 and not done.stdout, done
    assert ':0x' in run('probe', '--exec', folder / 'gone', '--definition', 'main').stdout


def names():
    return run('probe', '--list', f'{GROUP}:*').stdout


def check_machine(folder, program):
    data = folder / 'probes.data'
    done = run('record', '-q', '-o', data, '--probe', f'{program}:{GROUP}:tick=tick count point->name:string total',
               '--probe', f'{program}:{GROUP}:back=tick%return result=$retval', '--', program)
    if done.returncode == 3:
        print('skipped: recording a probe:', done.stderr.strip())
        return
    assert done.returncode == 0, done
    text = run('script', '-F', 'event,trace', data).stdout
    found = re.findall(r'tick: \(.*?\) count=(\d+) name="here" total=(\d+)', text)
    assert found == [('0', '7'), ('1', '7'), ('2', '8')], text
    assert re.findall(r'back: .* result=(0x[0-9a-f]+)', text) == [hex(n + 41) for n in (7, 8, 10)], text
    assert names() == '', names()
    for number in signal.SIGKILL, signal.SIGTERM:
        recorder = subprocess.Popen([PERFILE, 'record', '-q', '-o', str(data), '--probe', f'{program}:{GROUP}:tick=tick', '--', program, 'on'],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    start_new_session=True)
        assert hermetic.wait_until(lambda: f'{GROUP}:tick' in names()), 'the probe is added'
        recorder.send_signal(number)
        recorder.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(recorder.pid, signal.SIGKILL)  # the program that it recorded
        assert hermetic.wait_until(lambda: names() == ''), f'the probe is removed after {number}'


def main():
    hermetic.settle()
    with hermetic.plain_folder() as name:  # the kernel takes no path with a space
        folder = pathlib.Path(name).resolve()
        program = folder / f'ticks{os.getpid()}'
        (folder / 'ticks.c').write_text(SOURCE)
        made = subprocess.run([*sys.argv[2:], '-g', '-O1', '-o', program, folder / 'ticks.c'], capture_output=True, text=True)
        if made.returncode:
            print('skipped: probes: no compiler for a program with debug info:', made.stderr.strip())
            return
        check_folder(folder, program)
        check_sources(folder)
        check_left_out(folder)
        listed = run('probe', '--list')
        if os.geteuid() or listed.returncode:
            print('skipped: probes of this machine: they need root and tracefs:', listed.stderr.strip())
            return
        check_machine(folder, program)
    print('probes are added, recorded and removed')


main()
