#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""grown.py SOURCE LIBRARY.so JOBS CC...: programs and libraries of different versions get along.

Makes headers in which every struct that may grow has one more member at its end, and a libperfile of these headers. Then
grown.c, compiled with the headers of the tree and with the grown ones, runs with each of both libraries: it prints the
same, nothing behind its structs is written, and an older library refuses members that it does not know."""
import concurrent.futures, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# "Growth" in perfile.h: these never grow
FIXED = {'error', 'allocator', 'sink', 'section', 'value', 'event_type', 'tracepoint', 'tracepoint_field', 'u64s', 'bytes',
         'list', 'read', 'regs', 'branch_stack', 'stack', 'cpu_set', 'schedstat_counters', 'feature_body',
         'header_attr'}  # but by its attr, which is its last member
HEADERS = ('perfile.h', 'records.h', 'writer.h', 'edit.h', 'recorder.h')
LAYERS = ('base', 'io', 'schema', 'format', 'model', 'edit', 'record')
FLAGS = ['-std=gnu11', '-O0', '-w', '-fPIC', '-D_GNU_SOURCE', '-DPF_VERSION_TEXT="0"', '-fvisibility=hidden']
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
        if path.name in HEADERS:
            text = grow(text, of_records if path.name == 'records.h' else grown)
        (to / 'include/perfile' / path.name).write_text(text)
    names = re.findall(r'^RECORD\(\d+, (\w+), (\w+),', (source / 'src/schema/records.def').read_text(), re.M)
    rows = [f'GREW({NAME}, {name}, {"attr.grown_tail" if name == "header_attr" else "grown_tail"})'
            for NAME, name in names if name in of_records or name == 'header_attr']
    (to / 'schema/grown.def').write_text('\n'.join(rows) + '\n')
    return len(grown) + len(of_records)


def make_library(source, to, jobs, compiler):
    flags = [*FLAGS, f'-I{to}', f'-I{to}/include', f'-I{source}/src']
    sources = [path for layer in LAYERS for path in sorted((source / 'src' / layer).glob('**/*.c'))
               if not path.name.startswith('gen_')]
    objects = [to / f'{path.parent.name}-{path.stem}.o' for path in sources]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda one: run([*compiler, *flags, '-c', one[0], '-o', one[1]]), zip(sources, objects)))
    library = to / 'libperfile.so'
    run([*compiler, '-shared', '-Wl,-soname,libperfile.so.0', f'-Wl,--version-script={source}/src/perfile.map',
         '-Wl,-Bsymbolic-functions', '-o', library, *objects, '-lzstd', '-pthread'])
    (to / 'libperfile.so.0').symlink_to(library)
    return library


def main():
    hermetic.settle()
    source, library = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    jobs, compiler = int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        grown = pathlib.Path(folder)
        count = make_headers(source, grown)
        libraries = {'this': library, 'grown': make_library(source, grown, jobs, compiler)}
        includes = {'this': [f'-I{source}/include'], 'grown': [f'-I{grown}/include', '-DGROWN']}
        programs = {}
        for name, include in includes.items():
            programs[name] = grown / f'program-{name}'
            run([*compiler, '-std=gnu11', '-O0', '-Wall', '-Wno-unused-value', *include, source / 'tests/api/grown.c', '-o',
                 programs[name], library])
        printed = {}
        for program, path in programs.items():
            for name, used in libraries.items():
                refuses = ['refuses'] if (program, name) == ('grown', 'this') else []
                printed[program, name] = run([path, *refuses], env={'LD_LIBRARY_PATH': str(used.parent)})
        first, wrong = printed['this', 'this'], 0
        for (program, name), text in printed.items():
            if text != first or not text:
                wrong += 1
                print(f'--- headers: {program}, library: {name}:\n{text}--- and with the same headers and library:\n{first}')
        print(f'{count} structs grew; {len(printed) - wrong} of {len(printed)} pairs of headers and library agree')
    sys.exit(wrong > 0)


main()
