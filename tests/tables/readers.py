#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readers.py PERFILE RECORDING...: pyarrow and DuckDB read the files of columns of every view, and have the same rows as jsonl.

Skipped where neither is installed."""
import datetime, json, pathlib, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import columns, hermetic

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def importable(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def plain(value, type):
    """As jsonl has it."""
    if value is not None and type == 'timestamp':
        return (value.astimezone(datetime.timezone.utc) - EPOCH) // datetime.timedelta(microseconds=1)
    return columns.unsigned(value) if type in columns.WIDE else value


def by_pyarrow_parquet(path):
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    return {name: table[name].to_pylist() for name in table.column_names}


def by_pyarrow_arrow(path):
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    table.validate(full=True)
    return {name: table[name].to_pylist() for name in table.column_names}


def by_duckdb(path):
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    done = connection.execute('select * from read_parquet(?)', [path])
    names, rows = [column[0] for column in done.description], done.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def check(perfile, view, path, ahead, readers, folder):
    page, expected = columns.expected_of(perfile, view, path, ahead)
    for form in {form for form, _ in readers}:
        (folder / form).write_bytes(columns.output(perfile, 'table', view, '--columns', 'all', '--format', form, path))
    for form, reader in readers:
        found = reader(str(folder / form))
        rows = {name: [plain(value, type) for value in found.get(name, [])] for name, type, *_ in expected}
        if list(found) != list(rows):
            yield f'{reader.__name__}: columns are {list(found)}'
        for name, _, _, values in expected:
            if rows[name] != values:
                yield f'{reader.__name__}: {name} differs'


def main():
    perfile, *recordings = sys.argv[1:]
    readers, wrong, count = [], 0, 0
    if pyarrow:
        readers += [('parquet', by_pyarrow_parquet), ('arrow', by_pyarrow_arrow)]
    if duckdb:
        readers += [('parquet', by_duckdb)]
    with tempfile.TemporaryDirectory() as folder:
        for path in recordings:
            ahead = columns.clock_of(perfile, path)
            for view in columns.views_of(perfile):
                for text in check(perfile, view, path, ahead, readers, pathlib.Path(folder)):
                    print(f'{pathlib.Path(path).name}: {view}: {text}')
                    wrong += 1
                count += 1
    print(f'{count} tables, {", ".join(reader.__name__[3:] for _, reader in readers)}: {wrong} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    hermetic.find_packages()
    pyarrow, duckdb = importable('pyarrow'), importable('duckdb')
    if not pyarrow and not duckdb:
        print('skipped: neither pyarrow nor duckdb is installed: pip install pyarrow duckdb')
        sys.exit(77)
    sys.exit(main())
