#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""columns.py PERFILE ASSEMBLE UNZSTD [--large] RECORDING...: tables in files of columns hold what they hold as jsonl.

Every view with all its columns is read by decoders that share nothing with the library (parquet.py, arrowfile.py), which
also look at what the files say of themselves: ranges, counts, sizes, positions. Times of day are those of the clock that the
recording names. Beside the given recordings there are made ones: names that are hostile, nothing at all, many values. --large: of recordings with more samples than a row
group has rows, the numbers in Parquet are those of csv."""
import json, pathlib, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import arrowfile, hermetic, parquet, served

WIDE = {'u64', 'time', 'duration', 'bytes', 'address', 'addresses'}


def output(*command):
    done = served.run(command)
    if done.returncode not in (0, 1):
        raise AssertionError(f'{" ".join(command)}: {done.stderr.decode(errors="replace").strip()}')
    return done.stdout


def unsigned(value):
    if isinstance(value, list):
        return [unsigned(item) for item in value]
    return value % 2**64 if value is not None else None


def decoded(value):
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def clock_of(perfile, path):
    """How far the time of day is ahead of the recording's clock, in ns; None: it does not say."""
    rows = [json.loads(line) for line in output(perfile, 'table', 'features', '--format', 'jsonl', path).splitlines()]
    for row in rows:
        value = row['name'] == 'CLOCK_DATA' and row['value'] and json.loads(row['value'])
        if value and value.get('wall_clock_ns'):
            return value['wall_clock_ns'] - value['clockid_time_ns']
    return None


def wall_name(name):
    return name + 'stamp' if name.endswith('time') else name + '_timestamp'


def wall_time(value, ahead):
    if value is None:
        return None
    time = (value + ahead) % 2**64
    return (time - 2**64 if time >> 63 else time) // 1000


def expected_of(perfile, view, path, ahead):
    """Names and types of the columns, and the rows of each."""
    page = json.loads(output(perfile, 'table', view, '--columns', 'all', '--format', 'json', path))
    columns = []
    for i, column in enumerate(page['columns']):
        values = [row[i] for row in page['rows']]
        columns.append((column['name'], column['type'], column, values))
        if column['type'] == 'time' and ahead is not None:
            columns.append((wall_name(column['name']), 'timestamp', {'unit': 'us'}, [wall_time(v, ahead) for v in values]))
    return page, columns


def compare(table, values_of, facts, expected, page):
    names = [name for name, *_ in expected]
    if list(table.values) != names:
        return f'columns are {list(table.values)}, not {names}'
    for name, type, column, values in expected:
        found = values_of(name, type)
        if found != values:
            at = next((i for i, (a, b) in enumerate(zip(found, values)) if a != b), min(len(found), len(values)))
            return f'{name}: row {at} differs: {str(found[at:at + 1])[:200]}, not {str(values[at:at + 1])[:200]}'
        heard = facts(name)
        if heard['type'] != type or heard['unit'] != column['unit'] or heard['doc'] != column.get('doc', heard['doc']):
            return f'{name}: it is said to be {heard}'
    if json.loads(table.facts['perfile.losses']) != page['losses'] or json.loads(table.facts['perfile.recording']) != page['recording'] \
            or table.facts['perfile.view'] != page['view']:
        return f'what is said of the table differs: {table.facts}'
    return None


def check_parquet(data, unzstd, expected, page):
    table = parquet.Table(data, unzstd)
    columns = {column['name']: column for column in json.loads(table.facts['perfile.columns'])}

    def values_of(name, type):
        values = decoded(table.values[name])
        return [unsigned(value) for value in values] if type in WIDE else values
    return compare(table, values_of, columns.get, expected, page), \
        {column.name: not column.optional for column in table.columns}


def check_arrow(data, expected, page):
    table = arrowfile.Table(data)
    fields = {field.name: field.facts for field in table.fields}
    return compare(table, lambda name, type: table.values[name], fields.get, expected, page), \
        {field.name: not field.nullable for field in table.fields}


def check(tools, view, path, schemas, ahead):
    """What is wrong with a view; its times are `ahead` of the clock."""
    perfile, unzstd = tools
    page, expected = expected_of(perfile, view, path, ahead)
    files = {form: output(perfile, 'table', view, '--columns', 'all', '--format', form, path) for form in ('parquet', 'arrow')}
    for form, data in files.items():
        try:
            wrong, required = check_parquet(data, unzstd, expected, page) if form == 'parquet' else check_arrow(data, expected, page)
        except (parquet.Wrong, arrowfile.Wrong) as error:
            wrong, required = str(error), {}
        if wrong:
            yield f'{form}: {wrong}'
        for name, must in required.items(): # of a column of a view that is the same in all recordings
            if schemas.setdefault((view, name), must) != must:
                yield f'{form}: {name} may be null here, and may not elsewhere'


def quoted(name):
    return ''.join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f'\\x{byte:02x}' for byte in name)


HEAD = 'attr type=1 config=0 sample_type=IP|TID|TIME|CPU|PERIOD|CALLCHAIN ids=1 sample_id_all=1 name="{}"\n'
NAMES = [b'a\nb', b'\xff\xfe', b'', '\u202edesrever'.encode(), b'"quo\\te"', '\U0001f525'.encode(), b'\x1b[31m', b'tab\t,;',
         b'\xed\xa0\x80', b'\xc3', 'e\u0301'.encode()]


def hostile():
    """Names of threads and files that no one expects, one that is as long as a record, and a time before 1970."""
    yield HEAD.format(quoted(b'odd\n\xff\x1b[31m'))
    yield f'feature CLOCK_DATA u32:1,u32:1,u64:1000000000,u64:{10**18}\n'
    for i, name in enumerate([*NAMES, b'x' * 60000]):
        yield f'record COMM pid={i} tid={i} comm="{quoted(name)}" | pid={i} tid={i} time={i + 1}\n'
        yield f'record MMAP2 misc=2 pid={i} tid={i} addr=0x400000 len=0x1000 prot=5 flags=2 filename="/{quoted(name)}" | pid={i} tid={i} time={i + 1}\n'
        yield f'sample misc=2 ip=0x400010 pid={i} tid={i} time={10**18 + i * 999} cpu={i} period={2**64 - 1 - i} callchain=3,0xfffffffffffffe00,0x400010,0x400020\n'


def wide():
    """Values of every width and sign, runs and none, and samples without a stack."""
    yield HEAD.format('wide')
    value = 1
    for i in range(3000):
        value = value * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        period = value >> i % 64 if i % 500 < 250 else i // 700
        chain = [0x400000 + (value >> k) % 4096 for k in range(i % 6)]
        yield f'sample misc={2 - i % 2} ip={value} pid={i // 100} tid={value % 2**31} time={i * i + 1} cpu={i % 4} period={period} callchain={",".join(map(str, [len(chain), *chain]))}\n'


MADE = {'hostile': hostile, 'wide': wide, 'nothing': lambda: HEAD.format('never')}


def make(assemble, folder):
    for name, text in MADE.items():
        path = pathlib.Path(folder) / f'{name}.perf.data'
        done = subprocess.run([assemble], input=''.join(text()).encode(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        path.write_bytes(done.stdout)
        yield str(path)


def views_of(perfile):
    return [json.loads(line)['view'] for line in output(perfile, 'table', '--format', 'jsonl').splitlines()]


def check_large(perfile, unzstd, path):
    """What is wrong with numbers of many rows."""
    names = ['time', 'tid', 'period', 'ip', 'stack_id']
    table = parquet.Table(output(perfile, 'table', 'samples', '--columns', ','.join(names), '--format', 'parquet', path), unzstd)
    lines = output(perfile, 'table', 'samples', '--columns', ','.join(names), '--format', 'csv', path).decode().splitlines()[1:]
    if len(table.groups) < 2:
        yield 'it has one row group only'
    if table.encodings != {parquet.PLAIN, parquet.RLE, parquet.DELTA, parquet.DICTIONARY}:
        yield f'encodings are {table.encodings}'
    for i, values in enumerate(zip(*(map(int, line.split(',')) for line in lines))):
        if [unsigned(value) for value in table.values[names[i]]] != list(values):
            yield f'{names[i]} differs'


def main_large(perfile, unzstd, recordings):
    wrong = 0
    for path in recordings:
        for text in check_large(perfile, unzstd, path):
            print(f'{pathlib.Path(path).name}: {text}')
            wrong += 1
    print(f'{len(recordings)} large recordings, {wrong} facts are wrong')
    return 1 if wrong else 0


def main():
    perfile, assemble, unzstd = map(hermetic.runnable, sys.argv[1:4])
    recordings = sys.argv[4:]
    if recordings[0] == '--large':
        return main_large(perfile, unzstd, recordings[1:])
    schemas, wrong, count = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path in [*make(assemble, folder), *recordings]:
            ahead = clock_of(perfile, path)
            for view in views_of(perfile):
                count += 1
                for text in check((perfile, unzstd), view, path, schemas, ahead):
                    print(f'{pathlib.Path(path).name}: {view}: {text}')
                    wrong += 1
    print(f'{count} tables as Parquet and as Arrow, {wrong} of them wrong')
    return 1 if wrong or not count else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
