# SPDX-License-Identifier: MIT
"""What the tests of formats for viewers share: recordings whose functions come back, and what reports say of them."""
import collections

import common

# Of functions that call themselves, and one another; the frames are 1 to 5 of common.KALLSYMS.
RECURSIVE = [[1, 2, 2, 2, 3], [1, 2, 1, 3], [1, 2, 3, 2, 4], [1, 2, 3, 1, 2, 3], [2, 1], [2], [1, 1], [3, 1, 2, 1, 2]]


def made_recursion():
    lines = [f'attr type=1 config=0 sample_type={common.FIELDS} sample_id_all=1 name="cpu-clock"\n', common.KERNEL]
    return ''.join(lines + [common.sample_line(i, RECURSIVE[i % len(RECURSIVE)]) for i in range(48)])


def made_apart():
    """Samples in the kernel whose callchains are of the user alone."""
    program = '/program'
    lines = [f'attr type=1 config=0 sample_type={common.FIELDS} sample_id_all=1 name="cpu-clock"\n', common.KERNEL,
             f'record MMAP misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 filename="{program}" | pid=7 tid=7 time=3 cpu=0\n']
    for i in range(6):
        lines.append(f'sample misc=1 ip=0xffffffff81003010 pid=7 tid=7 time={1000000000 + i} cpu=0 period={100 + i} '
                     f'callchain=3,0xfffffffffffffe00,0x400010,0x40002{i}\n')
    return ''.join(lines)


def made_none():
    """Samples that say neither when they were taken nor in which thread."""
    lines = ['attr type=0 config=3 sample_type=IP|PERIOD sample_id_all=1 name="cache-misses, \\x22all\\x22"\n']
    return ''.join(lines + [f'sample misc=1 ip=0xffffffff8100{1 + i % 3}010 period={7 + i}\n' for i in range(9)])


def made_joined():
    """One program below two paths: its stacks are the same, which is known at the end."""
    lines = [f'attr type=1 config=0 sample_type={common.FIELDS} sample_id_all=1 name="cpu-clock"\n', common.KERNEL]
    paths = {'/one/prog': 0x400000, '/two/prog': 0x500000}
    build_ids = (f'u32:0,u16:0x8002,u16:{36 + len(path) + 1},u32:-1,hex:{common.BUILD_ID},u8:20,zeros:3,z:"{path}"'
                 for path in paths)
    lines.append(f'feature BUILD_ID {",".join(build_ids)}\n')
    lines += [f'record MMAP misc=2 pid=7 tid=7 addr=0x{address:x} len=0x1000 pgoff=0 filename="{path}" '
              '| pid=7 tid=7 time=3 cpu=0\n' for path, address in paths.items()]
    for i in range(12):
        ip = (0x400010 if i % 3 else 0x500010) + i % 2
        lines.append(f'sample misc=2 ip=0x{ip:x} pid=7 tid=7 time={1000000000 + i} cpu=0 period={100 + i} '
                     f'callchain=3,0xfffffffffffffe00,0x{ip:x},0x{ip + 0x100:x}\n')
    return ''.join(lines)


def recordings(shop):
    kernel = '--kallsyms', shop.folder / 'kallsyms', '--symfs', shop.folder / 'nothing'
    yield common.Recording('recursion', shop.make('recursion', made_recursion()), *kernel)
    yield common.Recording('apart', shop.make('apart', made_apart()), *kernel)
    yield common.Recording('joined', shop.make('joined', made_joined()), *kernel)
    yield common.Recording('nobody', shop.make('nobody', made_none()), *kernel)


def check_all(check):
    """Runs check(shop, recording) for these recordings and all others; the exit status of the test."""
    with common.own_workshop() as shop:
        shop.recordings = lambda own=shop.recordings: [*own(), *recordings(shop)]
        return common.check_all(shop, check)


def stacks_of(shop, recording):
    """What the tables say; where the callchain does not begin with it the sampled function is the innermost."""
    apart = recording.name == 'apart'
    return [common.Sample(s.event, (s.self_function, *s.frames) if apart else s.frames, *s.values, s.thread)
            for s in shop.expected(recording).samples]


def check_reported(shop, recording, form, read):
    """Without inlined functions, each function has what reports say of it: in itself, and with what it calls."""
    path = shop.export(recording, form, '--no-inline', suffix='.no-inline')
    got = common.functions(read(path, shop.expected(recording).units))
    compare_functions(shop, recording, got)


def compare_functions(shop, recording, got):
    """`got`: {(event, label): (self, total)}, also of other events' functions.

    Of functions that share a label the totals cannot be known from their own.
    """
    rows = collections.defaultdict(list)
    if recording.hostile:
        return
    for row in shop.table(recording, 'functions', '--no-inline'):
        rows[row['event'], common.label(row['symbol'], row['dso'])].append((row['self'], row['total']))
    common.same('functions of reports', {key: both[0] for key, both in got.items() if any(both) or key in rows},
                {key: sum(one for one, _ in both) for key, both in rows.items()})
    alone = {key: both[0][1] for key, both in rows.items() if len(both) == 1}
    common.same('totals of reports', {key: got[key][1] for key in alone}, alone)
