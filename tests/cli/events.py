#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Views over tracepoints, on events that are made by hand: events.py PERFILE

Each recording has the header and the descriptions of a real one of tests/data, and a few samples of its own, whose sums are known."""
import csv, io, pathlib, struct, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
TRACING_DATA = 1
LOST, SAMPLE = 2, 9
IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, RAW, IDENTIFIER = 1, 2, 4, 32, 64, 128, 256, 1024, 1 << 16


class Frame:
    """The recording that lends its header."""

    def __init__(self, name):
        self.bytes = (DATA / (name + '.perf.data')).read_bytes()
        entry, attrs, attr_bytes, self.data, size = struct.unpack_from('<QQQQQ', self.bytes, 16)
        mask = struct.unpack_from('<4Q', self.bytes, 72)
        bits = [bit for bit in range(256) if mask[bit // 64] >> bit % 64 & 1]
        sections = [struct.unpack_from('<QQ', self.bytes, self.data + size + 16 * i) for i in range(len(bits))]
        self.features = {bit: self.bytes[at:at + length] for bit, (at, length) in zip(bits, sections)}
        self.events = {}
        for at in range(attrs, attrs + attr_bytes, entry):
            config, = struct.unpack_from('<Q', self.bytes, at + 8)
            sample_type, = struct.unpack_from('<Q', self.bytes, at + 24)
            ids, = struct.unpack_from('<Q', self.bytes, at + entry - 16)
            self.events[config] = sample_type, struct.unpack_from('<Q', self.bytes, ids)[0]
        text = self.features[TRACING_DATA].decode('latin1')
        self.numbers = {part.split('\n')[0]: int(part.split('ID: ')[1].split('\n')[0])
                        for part in text.split('name: ')[1:] if 'ID: ' in part}

    def sample(self, event, time, tid, raw, cpu=0):
        number = self.numbers[event]
        sample_type, event_id = self.events[number]
        raw = struct.pack('<HBBi', number, 0, 0, tid) + raw
        raw = struct.pack('<I', len(raw) + -(len(raw) + 4) % 8) + raw + bytes(-(len(raw) + 4) % 8)
        parts = [(IDENTIFIER, struct.pack('<Q', event_id)), (IP, struct.pack('<Q', 0xffffffff81000000)),
                 (TID, struct.pack('<ii', tid, tid)), (TIME, struct.pack('<Q', time)),
                 (ID, struct.pack('<Q', event_id)), (CPU, struct.pack('<II', cpu, 0)),
                 (PERIOD, struct.pack('<Q', 1)), (CALLCHAIN, bytes(8)), (RAW, raw)]
        body = b''.join(data for bit, data in parts if sample_type & bit)
        return time, struct.pack('<IHH', SAMPLE, 1, 8 + len(body)) + body

    def lost(self, time, count, cpu=0):
        sample_type, event_id = next(iter(self.events.values()))
        parts = [(TID, struct.pack('<ii', 0, 0)), (TIME, struct.pack('<Q', time)), (ID, struct.pack('<Q', event_id)),
                 (CPU, struct.pack('<II', cpu, 0)), (IDENTIFIER, struct.pack('<Q', event_id))]
        body = struct.pack('<QQ', event_id, count) + b''.join(data for bit, data in parts if sample_type & bit)
        return time, struct.pack('<IHH', LOST, 0, 8 + len(body)) + body

    def write(self, path, records):
        data = b''.join(record for _, record in records)
        kept = sorted(self.features)
        table, body, end = b'', b'', self.data + len(data) + 16 * len(kept)
        for bit in kept:
            table += struct.pack('<QQ', end + len(body), len(self.features[bit]))
            body += self.features[bit]
        header = bytearray(self.bytes[:self.data])
        struct.pack_into('<QQ', header, 40, self.data, len(data))
        path.write_bytes(bytes(header) + data + table + body)


def rows(perfile, path, *arguments):
    run = subprocess.run([perfile, 'table', '-q', '--format', 'csv', '--columns', 'all', '--symfs', str(DATA / 'none'),
                          *arguments, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1) and not run.stderr, (run.returncode, run.stderr)
    return list(csv.DictReader(io.StringIO(run.stdout)))


def check(what, row, **expected):
    found = {name: row[name] for name in expected}
    assert found == {name: str(value) for name, value in expected.items()}, f'{what}: {found}'


def find(table, **key):
    found = [row for row in table if all(row[name] == str(value) for name, value in key.items())]
    assert len(found) == 1, f'{key}: {table}'
    return found[0]


def test_calls(perfile, path):
    """Calls are pairs of one number; what has no other part is counted, and is in no sum."""
    frame = Frame('trace-raw')
    read, poll, write, clone = 0, 7, 1, 56

    def enter(time, tid, number):
        return frame.sample('sys_enter', time, tid, struct.pack('<q6Q', number, *range(6)))

    def leave(time, tid, number, result):
        return frame.sample('sys_exit', time, tid, struct.pack('<qq', number, result))

    frame.write(path, [leave(50, 2, clone, 0), enter(100, 1, read), leave(400, 1, read, 5), enter(500, 1, read),
                       leave(900, 1, read, -11), enter(1000, 1, poll), enter(1100, 3, read), enter(1200, 3, write),
                       leave(1300, 3, read, 1), enter(1400, 4, read), frame.lost(1450, 7), leave(1500, 4, read, 1)])
    table = rows(perfile, path, 'syscall_summary')
    check('read', find(table, tid=1, syscall='read'), calls=2, errors=1, total=700, minimum=300, average=350,
          maximum=400, stddev='14.285714285714286', error_counts='EAGAIN:1', untimed=0, open=0)
    check('clone', find(table, tid=2, syscall='clone'), calls=1, total=0, minimum='', untimed=1)
    check('poll', find(table, tid=1, syscall='poll'), calls=0, open=1, open_time=500)
    check('mixed', find(table, tid=3, syscall='read'), calls=1, untimed=1, total=0)
    check('lost', find(table, tid=4, syscall='read'), calls=1, uncertain=1, uncertain_time=100, total=100)
    calls = rows(perfile, path, 'syscalls')
    assert [(row['syscall'], row['time'], row['duration'], row['result']) for row in calls] == [
        ('clone', '', '', '0'), ('read', '100', '300', '5'), ('read', '500', '400', '-11'), ('read', '1100', '', ''),
        ('write', '1200', '', ''), ('read', '', '', '1'), ('read', '1400', '100', '1'), ('poll', '1000', '', '')], calls


def test_names_of_locks(perfile, path):
    """Rows of locks have the name of the variable of the kernel that the lock is in; a lock that is in none has no name."""
    old, lock, tables = 0xffff8c97425fc870, 0xffffffff84000010, path.with_name('kallsyms')
    path.write_bytes((DATA / 'lock.perf.data').read_bytes().replace(struct.pack('<Q', old), struct.pack('<Q', lock)))
    tables.write_text('ffffffff83c00000 T _stext\nffffffff83c00000 T _text\nffffffff83fff000 D other\n'
                      'ffffffff84000000 D tasklist_lock\nffffffff84000040 B behind\n')

    def names(recording, *words, column='name'):
        run = subprocess.run([perfile, 'lock', 'contention', '-q', '--kallsyms', str(tables), *words, '--format', 'csv', '--columns',
                              column, str(recording)], capture_output=True, text=True, check=False)
        return run.stdout.split()[1:]

    assert names(path, '-l') == ['tasklist_lock'], names(path, '-l')
    assert names(DATA / 'lock.perf.data', '-l') == [], names(DATA / 'lock.perf.data', '-l')
    threads = [names(path, '-t', *words, column='tid') for words in ((), ('-L', 'tasklist_lock'), ('-L', 'other'))]
    assert threads[0] and threads[1] == threads[0] and not threads[2], threads


def test_locks(perfile, path):
    """A wait that begins again goes on; one that does not end is in no sum."""
    frame = Frame('lock')

    def begin(time, tid):
        return frame.sample('contention_begin', time, tid, struct.pack('<QI4x', 0xabc0, 2))

    def end(time, tid):
        return frame.sample('contention_end', time, tid, struct.pack('<Qi4x', 0xabc0, 0))

    frame.write(path, [begin(100, 5), begin(140, 5), begin(150, 6), end(400, 5), end(450, 6), end(500, 7),
                       begin(600, 6), end(700, 7)])
    check('lock', find(rows(perfile, path, 'lock_contention', '--by', 'lock'), type='rwsem'), contended=3, acquired=2,
          total=600, minimum=300, average=300, maximum=300, open=1, open_time=100)
    check('thread', find(rows(perfile, path, 'lock_contention', '--by', 'thread'), tid=6), contended=2, acquired=1,
          total=300, open=1)


def test_kwork(perfile, path):
    """Waits are from the first raise, perf's delays from the last one; works may run on another CPU."""
    frame = Frame('kwork')

    def softirq(step, time):
        return frame.sample('softirq_' + step, time, 0, struct.pack('<I4x', 9))

    def work(event, time, cpu):
        return frame.sample('workqueue_' + event, time, 0, struct.pack('<QQ', 0x77, 0x1000), cpu)

    frame.write(path, [softirq('raise', 10), softirq('raise', 30), softirq('entry', 50), softirq('exit', 90),
                       softirq('entry', 100), work('activate_work', 110, 0), work('execute_start', 150, 1),
                       work('execute_end', 180, 1), work('execute_end', 190, 1)])
    table = rows(perfile, path, 'kwork')
    check('softirq', find(table, name='RCU'), cpu=0, runs=1, run_total=40, delays=1, delay_average=20, waits=1,
          wait_average=40, open='true')
    check('work', find(table, **{'class': 'workqueue', 'cpu': 1}), runs=1, run_total=30, delays=0, waits=1,
          wait_average=40)


def test_kmem(perfile, path):
    """What is freed on another CPU is counted; a free of something else is not, nor a second one."""
    frame = Frame('kmem-slab')

    def alloc(time, pointer, requested, allocated):
        return frame.sample('kmalloc', time, 1, struct.pack('<QQQQQi4x', 0x100, pointer, requested, allocated, 0, -1))

    def free(time, pointer, cpu):
        return frame.sample('kfree', time, 1, struct.pack('<QQ', 0x200, pointer), cpu)

    frame.write(path, [alloc(1, 0x1000, 100, 128), alloc(2, 0x2000, 60, 64), free(3, 0x1000, 1), free(4, 0x9000, 0),
                       free(5, 0x1000, 1)])
    check('caller', rows(perfile, path, 'kmem_slab')[0], hits=2, allocated=192, requested=160, ping_pong=1, frees=1,
          freed=128, outstanding=64, fragmentation='16.66666666666667')
    check('address', find(rows(perfile, path, 'kmem_slab', '--by', 'address'), address=0x1000), hits=1, freed=128)


def test_block(perfile, path):
    """Requests are known by device and sector, flushes by their operation, and may be complete in parts."""
    frame = Frame('block')

    def issue(event, time, sector, sectors, op):
        return frame.sample('block_rq_' + event, time, 1,
                            struct.pack('<I4xQIIH10s16sI', 0xfe00000, sector, sectors, sectors * 512, 0, op, b'x', 0))

    def complete(time, sector, sectors, op, error=0):
        return frame.sample('block_rq_complete', time, 1,
                            struct.pack('<I4xQIiH10sI', 0xfe00000, sector, sectors, error, 0, op, 0))

    frame.write(path, [issue('insert', 10, 800, 8, b'W'), issue('issue', 30, 800, 8, b'W'),
                       issue('issue', 35, 0, 0, b'FF'), complete(60, 800, 4, b'W'), complete(70, 2 ** 64 - 1, 0, b'FF'),
                       complete(71, 0, 0, b'WS'), complete(90, 804, 4, b'W', -5), complete(95, 900, 8, b'R'),
                       issue('issue', 100, 1000, 8, b'R')])
    table = rows(perfile, path, 'block_io')
    assert len(table) == 3, table
    check('write', find(table, op='W'), time=30, queue=20, duration=60, bytes=4096, dev='254,0', error=-5)
    check('flush', find(table, op='FF'), queue='', duration=35)
    check('open', find(table, op='R'), duration='')
    check('sums', find(rows(perfile, path, 'block_latency'), op='W'), requests=1, errors=1, total=60, queue_maximum=20)


def main():
    hermetic.settle()
    perfile = hermetic.runnable(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_calls, test_locks, test_names_of_locks, test_kwork, test_kmem, test_block):
            test(perfile, pathlib.Path(folder) / 'made.perf.data')
            print('right:', test.__doc__)


main()
