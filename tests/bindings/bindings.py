#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bindings.py rust|go PERFILE BUILD TREE RECORDING...: the examples of a binding print what the command has of the same recordings.

Compiled against the libraries in the build folder; skipped without the compiler. Rust's run under valgrind, too, where it is installed,
and bindgen's output is compared with sys.rs."""
import collections, json, os, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

EXAMPLES = 'top_functions', 'stream_samples', 'folded', 'table_rows'
VIEWS = 'samples', 'threads', 'events', 'maps', 'stacks'
SKIP = 77
wrong = []


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text[:2000])


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


def example(*command):
    """The examples call the library themselves, and must see of the machine what the command does."""
    return run(command, env={**os.environ, **hermetic.INSIDE})


def build_rust(tree, build, folder):
    rustc = next((path for path in ('/usr/bin/rustc', shutil.which('rustc')) if path and os.path.exists(path)), None)
    if not rustc:
        return None
    options = [rustc, '--edition', '2021', '-O', '-D', 'warnings', '-L', f'native={build}']
    crate = folder / 'libperfile.rlib'
    run([*options, '--crate-type', 'rlib', '--crate-name', 'perfile', '-l', 'dylib=perfile-analysis', '-l', 'dylib=perfile',
         '-o', crate, tree / 'bindings/rust/src/lib.rs'])
    for name in EXAMPLES:
        run([*options, '--extern', f'perfile={crate}', '-o', folder / name, tree / f'bindings/rust/examples/{name}.rs'])
    return folder


def build_go(tree, build, folder):
    go = shutil.which('go')
    if not go or not shutil.which('pkg-config'):
        return None
    cache = build / 'tests/bindings/go-cache'
    environment = {**os.environ, 'GOCACHE': str(cache), 'GOFLAGS': '-mod=mod', 'GOPROXY': 'off', 'HOME': str(folder), 'GOPATH': str(folder / 'path'),
                   'PKG_CONFIG_PATH': str(build / 'meson-uninstalled'), 'CGO_CFLAGS': '-O2'}
    run([go, 'vet', './...'], cwd=tree / 'bindings/go', env=environment)
    run([go, 'build', '-o', f'{folder}/', './examples/...'], cwd=tree / 'bindings/go', env=environment)
    expect('gofmt would change files', not shutil.which('gofmt') or not run(['gofmt', '-l', tree / 'bindings/go']))
    return folder


def rows_of(perfile, *words):
    return [json.loads(line) for line in run([perfile, 'table', *words, '--format', 'jsonl']).splitlines()]


def check_top(perfile, program, recording):
    """Self samples and periods of `report`, by event, binary and function."""
    found, expected = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
    for line in example(program, recording).splitlines():
        event, samples, period, module, name = line.split('\t')
        found[event, module, name][0] += int(samples)
        found[event, module, name][1] += int(period)
    for row in rows_of(perfile, 'functions', recording):
        if row['samples']:
            key = row['event'], (row['dso'] or '[unknown]').rsplit('/', 1)[-1], row['symbol'] or ''
            expected[key][0] += row['samples']
            expected[key][1] += row['self']
    expect(f'{recording}: top functions: {dict(found)} {dict(expected)}', found == expected)


def check_folded(perfile, program, recording):
    expected = sorted(run([perfile, 'flame', '--format', 'folded', recording]).splitlines())
    found = sorted(example(program, recording).splitlines())
    expect(f'{recording}: folded: {set(found) ^ set(expected)}', found == expected)


def check_stream(perfile, program, recording):
    first, *lines = example(program, recording).splitlines()
    samples, period = re.fullmatch(r'(\d+) samples, period (\d+)', first).groups()
    rows = rows_of(perfile, 'samples', '--columns', 'period', recording)
    expect(f'{recording}: stream: {first}', int(samples) == len(rows) and int(period) == sum(row['period'] for row in rows))
    expect(f'{recording}: stream: the functions have other sums', sum(int(line.split()[0]) for line in lines) == len(rows))


def show(value):
    return '' if value is None else ';'.join(map(show, value)) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)


def check_table(perfile, program, recording):
    for view in VIEWS:
        head, *lines = example(program, recording, view).split('\n')[:-1]
        rows = rows_of(perfile, view, recording)
        expect(f'{recording}: {view}: columns {head}', not rows or head.split('\t') == list(rows[0]))
        expected = ['\t'.join(map(show, row.values())) for row in rows]
        expect(f'{recording}: {view}: {[pair for pair in zip(lines, expected) if pair[0] != pair[1]][:2]}', lines == expected)


def check_errors(folder):
    """The name is short: messages cut long ones."""
    for name in EXAMPLES:
        done = subprocess.run([folder / name, 'nothing'], cwd=folder, capture_output=True, text=True)
        expect(f'{name}: of a file that does not exist: {done.returncode}: {done.stderr}', done.returncode == 1 and 'nothing' in done.stderr)


def check_memory(folder, recording):
    if not shutil.which('valgrind'):
        return
    for name in EXAMPLES:
        done = subprocess.run(['valgrind', '-q', '--leak-check=full', '--errors-for-leak-kinds=definite,indirect', '--error-exitcode=9', folder / name, recording], capture_output=True, text=True)
        expect(f'{name}: {done.stderr}', done.returncode == 0)


def tokens(text):
    """Without layout, which depends on whether there is rustfmt."""
    return re.sub(r'\s+|,(?=\s*[)}\]>])', '', text)


def check_generated(tree):
    bindgen = shutil.which('bindgen')
    command = re.search(r'^    bindgen ((?:.*\\\n)*.*)', (tree / 'bindings/rust/README.md').read_text(), re.M)
    version = bindgen and run([bindgen, '--version']).split()[-1]
    written = (tree / 'bindings/rust/src/sys.rs').read_text()
    if not bindgen or f'rust-bindgen {version} ' not in written:
        return print(f'sys.rs is not compared: it was made with another bindgen than {version or "none, which is here"}')
    words = command.group(1).replace('\\\n', ' ').replace("'", '').split()
    clang = os.environ.get('LIBCLANG_PATH', '/usr/lib/llvm-14/lib')
    made, written = map(tokens, (run([bindgen, *words[:words.index('>')]], cwd=tree / 'bindings/rust', env={**os.environ, 'LIBCLANG_PATH': clang}), written))
    at = len(os.path.commonprefix([made, written]))
    expect(f'sys.rs is not what bindgen makes of the headers (bindings/rust/README.md): {written[at:at + 80]} is {made[at:at + 80]}', made == written)


def main():
    language, *paths = sys.argv[1:]
    perfile, build, tree, *recordings = map(pathlib.Path, map(os.path.abspath, paths))
    with tempfile.TemporaryDirectory() as name:
        folder = {'rust': build_rust, 'go': build_go}[language](tree, build, pathlib.Path(name))
        if not folder:
            print(f'skipped: no compiler for {language}')
            return SKIP
        os.environ['LD_LIBRARY_PATH'] = str(build)
        for recording in recordings:
            check_top(perfile, folder / 'top_functions', recording)
        for recording in recordings[:6]:
            check_folded(perfile, folder / 'folded', recording)
            check_stream(perfile, folder / 'stream_samples', recording)
            check_table(perfile, folder / 'table_rows', recording)
        check_errors(folder)
        if language == 'rust':
            check_memory(folder, recordings[0])
            check_generated(tree)
    print(f'{len(recordings)} recordings, {len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    sys.exit(main())
