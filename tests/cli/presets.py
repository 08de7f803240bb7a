#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""presets.py PERFILE: `VERB record` records what the views of the verb need, as far as this machine allows."""
import pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = hermetic.runnable(sys.argv[1])
# arguments, what is certainly recorded, a view that says nothing about missing events
PRESETS = [
    (['sched'], 'sched:sched_switch sched:sched_waking', ['sched', 'latency']),
    (['lock'], 'lock:contention_begin lock:contention_end', ['lock', 'contention']),
    (['kmem'], 'kmem:kmalloc kmem:kfree', ['kmem', 'stat']),
    (['kmem', '--page'], 'kmem:mm_page_alloc kmem:mm_page_free', ['kmem', '--page', 'stat']),
    (['kwork', '-k', 'softirq'], 'irq:softirq_entry irq:softirq_exit', ['kwork', 'report']),
    (['kwork', '-k', 'sched,irq,softirq'], 'sched:sched_switch irq:softirq_entry', ['kwork', 'top']),
    (['trace'], 'raw_syscalls:sys_enter raw_syscalls:sys_exit', ['trace', '-s']),
    (['offcpu'], 'sched:sched_switch sched:sched_waking', ['offcpu']),
    (['table', 'block_latency'], 'block:block_rq_insert block:block_rq_issue block:block_rq_complete', ['table', 'block_latency']),
    (['table', 'page_faults'], 'minor-faults major-faults', ['table', 'page_faults', '--by', 'page']),
    (['table', 'kwork_top'], 'sched:sched_switch irq:softirq_exit', ['table', 'kwork_top']),
    (['mem', '-t', 'load'], '', ['mem', 'report']),
    (['c2c'], '', ['c2c', 'report']),
]


def perfile(*arguments):
    return subprocess.run([PERFILE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def check(folder, arguments, events, view):
    """Whether it could be recorded here."""
    path = folder / 'recorded.data'
    done = perfile(*arguments, 'record', '-o', path, '--', 'sleep', '0.01')  # which leaves its CPU
    if done.returncode == 3:
        assert 'record: ' in done.stderr, done
        return False
    assert done.returncode == 0, done
    # ordinary users record programs alone (:u)
    names = [name.removesuffix(':u') for name in perfile('evlist', path).stdout.split()]
    if arguments == ['offcpu'] and names == ['context-switches']:
        return False  # users that may not read tracepoints get these
    assert set(events.split()) <= set(names), (arguments, names)
    assert not {'kwork', 'kwork_top'} & set(arguments) or not any('workqueue' in name for name in names), names
    shown = perfile(*view, path)
    missing = 'record with' in shown.stderr and 'not of all CPUs' not in shown.stderr  # a kernel may keep switches back
    assert shown.returncode == 0 and not missing, (arguments, shown.stderr)
    return True


def check_advice():
    """The command lines that notes recommend are those of verbs that record."""
    advice = pathlib.Path(__file__).resolve().parents[2] / 'src/analysis/events/advice.h'
    lines = re.findall(r'#define PF_RECORD_\w+ "perfile (.*)"', advice.read_text())
    for line in lines:
        done = perfile(*line.partition(' -- ')[0].split(), '--help')
        assert done.returncode == 0 and done.stdout.startswith('Usage: perfile record'), (line, done)
    assert len(lines) > 9, lines


def check_command_lines():
    """What is asked for holds, and only a verb that records has the word."""
    for kinds in 'nosuch', 'irq,nosuch':
        done = perfile('kwork', '-k', kinds, 'record', 'true')
        assert done.returncode == 2 and 'invalid value "nosuch" for -k' in done.stderr, done
    done = perfile('flame', 'record')
    assert done.returncode == 3 and 'record: No such file' in done.stderr, done
    done = perfile('sched', 'record', '--help')
    assert done.returncode == 0 and done.stdout.startswith('Usage: perfile record'), done
    done = perfile('lock', 'record', '--nosuch')
    assert done.returncode == 2 and 'record: unknown option --nosuch' in done.stderr, done


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        checked = [check(pathlib.Path(name), *preset) for preset in PRESETS]
    check_command_lines()
    check_advice()
    if not any(checked):
        print('skipped: recording: no tracepoint can be opened here')
        sys.exit(77)


main()
