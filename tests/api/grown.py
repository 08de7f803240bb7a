#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""grown.py SOURCE BUILD VERSION JOBS CC...: programs and libraries of different versions get along.

Makes headers in which every struct that may grow has one more member at its end, and the libraries of these headers. Then
grown.c and grown_analysis.c, compiled with the headers of the tree and with the grown ones, run with each of both versions:
they print the same, nothing after their structs is written, and older libraries refuse members that they do not know."""
import concurrent.futures, difflib, os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# "Growth" in perfile.h: these never grow
FIXED = {'error', 'allocator', 'sink', 'section', 'value', 'event_type', 'tracepoint', 'tracepoint_field', 'u64s', 'bytes',
         'list', 'read', 'regs', 'branch_stack', 'stack', 'cpu_set', 'schedstat_counters', 'feature_body',
         'header_attr'}  # but by its attr, which is its last member
# folders of sources, and what else is linked
LIBRARIES = {
    'libperfile': (('platform', 'base', 'io', 'schema', 'format', 'model', 'hwtrace', 'edit', 'record'), ['-lzstd', '-pthread']),
    'libperfile-analysis': (('platform', 'base', 'hwtrace', 'symbol', 'analysis', 'view', 'output'), ['-lelf', '-ldw', '-lz', '-lzstd', '-ldl', '-lm', '-pthread']),
}
ELSEWHERE = {'web.c', 'limited.c', 'stable_sort.c', 'absent.c'}  # of other systems
PROGRAMS = {'grown': ['libperfile'], 'grown_analysis': ['libperfile-analysis', 'libperfile']}
RECORDING = 'examples/demo.perf.data'
FLAGS = ['-std=gnu11', '-O0', '-w', '-fPIC', '-D_GNU_SOURCE', '-fvisibility=hidden']
STRUCT = re.compile(r'^struct perfile_(\w+) \{\n(?:.*?\n)?\};', re.M | re.S)


def run(command, **more):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, command))}:\n{done.stdout}{done.stderr}')
    return done.stdout


def grow(text, grown):
    def one(found):
        if found.group(1) in FIXED:
            return found.group(0)
        grown.append(found.group(1))
        return f'{found.group(0)[:-2]}    uint64_t grown_tail;\n}};'
    return STRUCT.sub(one, text)


def make_headers(source, to):
    """The grown headers, and grown.def, which says so of those in records.h. Returns how many structs grew."""
    grown, of_records = [], []
    (to / 'include/perfile').mkdir(parents=True)
    (to / 'schema').mkdir()
    for path in (source / 'include/perfile').glob('*.h'):
        text = path.read_text()
        text = grow(text, of_records if path.name == 'records.h' else grown)
        (to / 'include/perfile' / path.name).write_text(text)
    names = re.findall(r'^RECORD\(\d+, (\w+), (\w+),', (source / 'src/schema/records.def').read_text(), re.M)
    rows = [f'GREW({NAME}, {name}, {"attr.grown_tail" if name == "header_attr" else "grown_tail"})'
            for NAME, name in names if name in of_records or name == 'header_attr']
    (to / 'schema/grown.def').write_text('\n'.join(rows) + '\n')
    return len(grown) + len(of_records)


def make_libraries(source, build, to, version, jobs, compiler):
    """With the names that programs look for, in the folder `to`."""
    flags = [*FLAGS, f'-DPF_VERSION_TEXT="{version}"', f'-I{to}', f'-I{to}/include', f'-I{source}/src']
    sources = {path: to / '-'.join(path.relative_to(source / 'src').with_suffix('.o').parts)
               for path in sorted((source / 'src').glob('**/*.c')) if not path.name.startswith('gen_') and path.name not in ELSEWHERE
               and path.parent.name != 'windows'}
    sources[build / 'src/output/viewer.c'] = to / 'output-viewer.o'
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda path: run([*compiler, *flags, '-c', path, '-o', sources[path]]), sources))
    for name, (layers, others) in LIBRARIES.items():
        objects = [made for made in sources.values() if made.name.split('-')[0] in layers]
        run([*compiler, '-shared', f'-Wl,-soname,{name}.so.0', f'-Wl,--version-script={source}/src/perfile.map',
             '-Wl,-Bsymbolic-functions', '-o', to / f'{name}.so.0', *objects,
             *([] if name == 'libperfile' else [to / 'libperfile.so.0']), *others])


def make_program(name, version, includes, source, build, to, compiler):
    program = to / f'{name}-{version}'
    run([*compiler, '-std=gnu11', '-O0', '-Wall', '-Wno-unused-value', *includes, source / f'tests/api/{name}.c', '-o', program,
         f'-L{build}', f'-Wl,-rpath-link,{build}', *(f'-l:{library}.so.0' for library in PROGRAMS[name])])
    return program


def main():
    hermetic.settle()
    source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    ours, jobs, compiler = sys.argv[3], int(sys.argv[4]), sys.argv[5:]
    pairs = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        grown = pathlib.Path(folder)
        count = make_headers(source, grown)
        make_libraries(source, build, grown, ours, jobs, compiler)
        libraries = {'this': build, 'grown': grown}
        includes = {'this': [f'-I{source}/include'], 'grown': [f'-I{grown}/include', '-DGROWN']}
        for name in PROGRAMS:
            printed = {}
            for headers, flags in includes.items():
                program = make_program(name, headers, flags, source, build, grown, compiler)
                for version, location in libraries.items():
                    refuses = ['refuses'] if (headers, version) == ('grown', 'this') else []
                    printed[headers, version] = run([program, source / RECORDING, *refuses],
                                                    env={**os.environ, 'LD_LIBRARY_PATH': str(location)})
            first = printed['this', 'this']
            for (headers, version), text in printed.items():
                pairs += 1
                if text != first or not text:
                    wrong += 1
                    print(f'{name}: headers: {headers}, library: {version}; other than with the same headers and library:')
                    print(*difflib.unified_diff(first.splitlines(), text.splitlines(), lineterm='', n=0), sep='\n')
    print(f'{count} structs grew; {pairs - wrong} of {pairs} pairs of headers and library agree')
    sys.exit(wrong > 0)


main()
