# SPDX-License-Identifier: MIT
"""What the tests of firefox and chrome share: recordings of what happens between samples."""
import collections
import json

import common
import tracepoints

HEAD = ('attr type=1 config=0 sample_period_or_freq=1000000 sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN sample_id_all=1 '
        'context_switch=1 name="cpu-clock"')
OUT, PREEMPTED, EXEC = 0x2000, 0x6000, 0x2000


def made_switches():
    """Two threads on two processors; one ends, and its id is used again; losses."""
    def switch(time, tid, cpu, misc):
        return f'record SWITCH misc={misc} | pid=7 tid={tid} time={time} cpu={cpu}'

    def sample(time, tid, cpu, *functions):
        ips = [f'0xffffffff810{n:02x}010' for n in reversed(functions)]
        return (f'sample misc=1 ip={ips[0]} pid=7 tid={tid} time={time} cpu={cpu} period=1000000 '
                f'callchain={len(ips) + 1},0xffffffffffffff80,{",".join(ips)}')

    return '\n'.join([
        HEAD, 'record MMAP pid=4294967295 tid=0 misc=1 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 '
        'filename="[kernel.kallsyms]_text" | pid=0 tid=0 time=1 cpu=0',
        'record COMM pid=7 tid=7 comm="first" | pid=7 tid=7 time=0 cpu=0',
        switch(1000000000, 7, 0, 0), sample(1001000000, 7, 0, 1, 2), sample(1002000000, 7, 0, 1, 2, 3),
        'record FORK pid=7 ppid=7 tid=8 ptid=7 time=1002100000 | pid=7 tid=7 time=1002100000 cpu=0',
        switch(1002200000, 8, 1, 0), switch(1002500000, 7, 0, PREEMPTED), sample(1003200000, 8, 1, 4),
        switch(1003500000, 7, 1, OUT), switch(1003600000, 8, 1, OUT), switch(1003700000, 7, 1, 0),
        sample(1004000000, 7, 1, 1, 2),
        'record EXIT pid=7 ppid=7 tid=8 ptid=7 time=1004100000 | pid=7 tid=8 time=1004100000 cpu=1',
        'record FORK pid=7 ppid=7 tid=8 ptid=7 time=1004200000 | pid=7 tid=7 time=1004200000 cpu=0',
        switch(1004250000, 7, 1, OUT), f'record COMM misc={EXEC} pid=7 tid=8 comm="second" | pid=7 tid=8 time=1004300000 cpu=0',
        switch(1004300000, 8, 0, 0), switch(1004500000, 7, 1, 0), sample(1004900000, 8, 0, 5),
        sample(1005000000, 7, 1, 1, 2), 'record LOST id=0 lost=12 | pid=7 tid=7 time=1005000000 cpu=0',
        'record THROTTLE time=1005100000 id=0 stream_id=0 | pid=7 tid=7 time=1005100000 cpu=1',
        switch(1005500000, 8, 0, OUT)]) + '\n'


def together(shop, form, options=()):
    """One of several: their paths, and how long after the first they are. The third knows no wall clock."""
    lead = 2500000
    texts = [made_switches() + (f'feature CLOCK_DATA u32:1,u32:1,{1700000000000000000 + later},1000000000\n' if later >= 0 else '')
             for later in (0, lead, -1)]
    recordings = [common.Recording(f'part{number}', shop.make(f'part{number}', text), *options)
                  for number, text in enumerate(texts)]
    path = shop.export_together(recordings, form)
    common.need('1 of 3 recordings does not say what the wall-clock time was' in shop.reply, shop.reply)
    return path, recordings, (0, lead, 0)


SCHED = 316


def made_sched():
    """The tracepoint says which task runs where: 0 is idle."""
    form = tracepoints.form('sched_switch', SCHED, tracepoints.SWITCH, '"%s", REC->prev_comm')
    data = tracepoints.tracing_data({'sched': [form]})
    lines = [f'attr type=2 config={SCHED} sample_type=IP|TID|TIME|CPU|PERIOD|RAW sample_id_all=1 name="sched:sched_switch"',
             f'feature TRACING_DATA hex:{data.hex()}']
    for time, cpu, state, prev, following in ((1000000, 0, 0, 0, 7), (1200000, 1, 0, 0, 8), (2000000, 0, 1, 7, 0),
                                              (2500000, 1, 2, 8, 7), (3000000, 1, 0, 7, 8), (4000000, 1, 0x10, 8, 0)):
        raw = tracepoints.raw(SCHED, prev, tracepoints.SWITCH,
                              (f'c{prev}', prev, 120, state, f'c{following}', following, 120))
        lines.append(f'sample misc=1 ip=0xffffffff81001010 pid={prev} tid={prev} time={time} cpu={cpu} period=1 {raw}')
    return '\n'.join(lines) + '\n'


def traces(shop, recording):
    """{time: what tracepoints say then}, each field as text, as `perfile dump` has it."""
    out, _ = shop.run('dump', '--format', 'json', recording.path)
    found = collections.defaultdict(list)
    for line in out.splitlines():
        record = json.loads(line)
        if 'trace' in record:
            found[record['time']].append({name: plain(value) for name, value in record['trace'].items()})
    return found


def plain(value):
    return ','.join(map(str, value)) if isinstance(value, list) else str(value)
