#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls.py PERFILE SOURCE: the calls of random walks of several threads, encoded as Intel PT, are those that were walked.

bench/calls.py makes the walks. Then bytes of the trace are lost or changed: each call still ends once, within its caller."""
import csv, io, json, pathlib, random, struct, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

hermetic.settle()
perfile, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
WALKED, THREADS, DAMAGED = 12000, 3, 12
NESTED = '''SELECT count(*) AS n FROM calls AS c JOIN calls AS p ON c.parent = p.call
  WHERE c.begin < p.begin OR c.end > p.end OR c.tid <> p.tid OR c.depth <> p.depth + 1 OR c.instructions > p.instructions'''
ONCE = 'SELECT count(*) - count(DISTINCT call) AS n FROM calls'
LOST = "SELECT count(*) AS n FROM calls WHERE ended = 'trace lost' AND error IS NULL OR began = 'trace lost' AND symbol <> '[trace lost]'"


def fail(why):
    sys.exit(f'calls: {why}')


def run(*arguments):
    done = subprocess.run([perfile, *arguments], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        fail(f'{arguments[0]} exits with {done.returncode}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def query(folder, recording, statement):
    text = run('query', '-q', '--format', 'csv', '--symfs', folder / 'symfs', statement, recording)
    return list(csv.DictReader(io.StringIO(text)))


def number(folder, recording, statement):
    return int(query(folder, recording, statement)[0]['n'])


def test_walk(folder, walked):
    recording = folder / 'perf.data'
    counted = query(folder, recording, "SELECT symbol, sum(began = 'call') AS n FROM calls WHERE dso IS NOT NULL GROUP BY symbol")
    if walked != {row['symbol']: int(row['n']) for row in counted if int(row['n'])}:
        fail(f'{counted} instead of {walked}')
    endings = query(folder, recording, 'SELECT DISTINCT began, ended FROM calls ORDER BY 1, 2')
    wrong = [row for row in endings if row['began'] not in ('before', 'call', 'not traced') or row['ended'] in ('unwound', 'tail call', 'trace lost')]
    if wrong:
        fail(f'switches of threads are calls: {wrong}')
    insns = run('script', '-q', '--itrace=i1i', '-F', 'ip', '--symfs', folder / 'symfs', recording).count('\n')
    summed = number(folder, recording, 'SELECT sum(instructions) AS n FROM calls WHERE depth = 0')
    if insns != summed:
        fail(f'{summed} instructions in calls, {insns} in all')
    check_sums(folder, recording)
    return query(folder, recording, 'SELECT tid, depth, symbol, begin, end FROM calls')


def check_sums(folder, recording):
    for what in NESTED, ONCE, LOST:
        wrong = number(folder, recording, what)
        if wrong:
            fail(f'{recording.name}: {wrong} rows of: {what}')


def test_chrome(folder, rows):
    """Each call that takes some time is a slice of its length; each change of a stack lasts 1 ns at least."""
    document = json.loads(run('export', '-q', '--calls', '--format', 'chrome', '--symfs', folder / 'symfs', folder / 'perf.data'))
    found, open_calls = set(), {}
    first = int(document['otherData']['start_ns'])
    for event in document['traceEvents']:
        stack = open_calls.setdefault(event['tid'], [])
        if event['ph'] == 'B' and event.get('cat') == 'stack':
            stack.append(event)
        elif event['ph'] == 'E' and stack and stack[-1]['name'] == event['name']:
            begin = stack.pop()
            found.add((event['tid'], event['name'], round(begin['ts'] * 1000) + first, round(event['ts'] * 1000) + first))
    if any(open_calls.values()):
        fail('slices of chrome do not end')
    wanted = {(int(row['tid']), row['symbol'], int(row['begin']), int(row['end'])) for row in rows
              if row['symbol'].startswith('f') and int(row['end']) > int(row['begin']) + 1}
    if len(wanted - found) > len(wanted) // 100: # of calls next to each other in no time, some are moved
        fail(f'{len(wanted - found)} of {len(wanted)} calls are no slices of chrome, such as {sorted(wanted - found)[:3]}')


def damage(data, seed):
    """Changes bytes of the trace, or ends it early."""
    source_of, damaged = random.Random(seed), bytearray(data)
    at = damaged.index(struct.pack('<IHH', 71, 0, 48))
    size = struct.unpack_from('<Q', damaged, at + 8)[0]
    for _ in range(1 + seed % 5):
        damaged[at + 48 + source_of.randrange(size)] = source_of.choice([0, 2, 0xf3, 0x82, source_of.randrange(256)])
    for _ in range(seed % 3): # an overflow, and where the program is then
        first = at + 48 + source_of.randrange(size - 16)
        damaged[first:first + 9] = b'\x02\xf3\x7d' + struct.pack('<Q', 0x401000 + 9 * source_of.randrange(40))[:6]
    return bytes(damaged)


with tempfile.TemporaryDirectory(prefix='perfile-calls-') as name:
    folder = pathlib.Path(name)
    made = subprocess.run([sys.executable, source / 'bench/calls.py', folder, str(WALKED), str(THREADS)], capture_output=True, check=True)
    walked = {line.split()[0]: int(line.split()[1]) for line in made.stdout.decode().splitlines()}
    rows = test_walk(folder, walked)
    test_chrome(folder, rows)
    data = (folder / 'perf.data').read_bytes()
    for seed in range(1, DAMAGED + 1):
        path = folder / f'damaged-{seed}.data'
        path.write_bytes(damage(data, seed))
        check_sums(folder, path)
