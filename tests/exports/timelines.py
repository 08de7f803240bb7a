# SPDX-License-Identifier: MIT
"""What the tests of firefox and chrome share: recordings of what happens between samples."""
import collections
import json

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
        f'record COMM misc={EXEC} pid=7 tid=8 comm="second" | pid=7 tid=8 time=1004300000 cpu=0',
        switch(1004300000, 8, 0, 0), sample(1004900000, 8, 0, 5), 'record LOST id=0 lost=12 | pid=7 tid=7 time=1005000000 cpu=0',
        'record THROTTLE time=1005100000 id=0 stream_id=0 | pid=7 tid=7 time=1005100000 cpu=1',
        switch(1005500000, 8, 0, OUT)]) + '\n'


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
