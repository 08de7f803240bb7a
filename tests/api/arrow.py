#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arrow.py PERFILE LIBRARY ANALYSIS_LIBRARY RECORDING...: pyarrow takes every view without a compiler, and counts alike.

Each view goes through the C stream interface into a RecordBatchReader; pyarrow validates every buffer, and its rows are
those of `perfile table --format jsonl`. Skipped where pyarrow is missing. The CPU time of the view `samples` is printed."""
import ctypes, json, pathlib, subprocess, sys, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic


class ViewInfo(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('doc', ctypes.c_char_p)]


class Library:
    def __init__(self, base, analysis):
        self.base = ctypes.CDLL(base, mode=ctypes.RTLD_GLOBAL)
        self.analysis = ctypes.CDLL(analysis)
        self.analysis.perfile_view_at.restype = ctypes.POINTER(ViewInfo)
        self.analysis.perfile_view_at.argtypes = [ctypes.c_size_t]
        for function in (self.base.perfile_close, self.analysis.perfile_table_stream):
            function.restype = None

    def views(self):
        index = 0
        while info := self.analysis.perfile_view_at(index):
            yield info.contents.name.decode()
            index += 1

    def batches(self, path, view):
        """The record batches of a view."""
        reader, table, error = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(2048)
        stream = (ctypes.c_void_p * 5)()
        if self.base.perfile_open_path(path.encode(), None, ctypes.byref(reader), error) < 0:
            raise OSError(f'{path} cannot be opened')
        try:
            if self.analysis.perfile_table_open(reader, view.encode(), None, ctypes.byref(table), error) < 0:
                raise ValueError(f'{view} of {path} cannot be opened')
            self.analysis.perfile_table_stream(table, stream)
            taken = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))
            yield from taken
            del taken
        finally:
            self.base.perfile_close(reader)


def rows_of_command(perfile, path, view):
    done = subprocess.run([perfile, 'table', '--format', 'jsonl', view, path], capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(library, perfile, path, view):
    """How many facts are wrong."""
    rows = []
    start = time.process_time()
    for batch in library.batches(path, view):
        batch.validate(full=True)
        rows += batch.to_pylist()
    spent = time.process_time() - start
    expected = rows_of_command(perfile, path, view)
    print(f'{pathlib.Path(path).name}: {view}: {len(rows)} rows, {spent:.3f} s CPU')
    if rows == expected:
        return 0
    print(f'{path}: {view}: pyarrow has {len(rows)} rows, the command {len(expected)}, or they differ')
    return 1


def main():
    perfile, base, analysis, *recordings = sys.argv[1:]
    library = Library(base, analysis)
    wrong = sum(check(library, perfile, path, view) for path in recordings for view in library.views())
    print(f'{wrong} views are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    hermetic.find_packages()
    try:
        import pyarrow
    except ImportError:
        print('skipped: pyarrow is not installed')
        sys.exit(77)
    sys.exit(main())
