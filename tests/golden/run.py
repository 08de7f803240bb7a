#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Assembles recordings from text and compares what perfile makes of them.

    run.py ASSEMBLE PERFILE [--update] [FILES.golden...]      all of this folder when none is named

A golden file is a description for tests/assemble.c, between whose lines stand commands and what comes of them:

    @ little big          the flavours for the commands from here on; without it: all of FLAVOURS below
    % --cut 400           options for the assembler from here on
    $ dump                arguments for perfile: `dump` means dump --format json, records only; `dump header` the rest
    > {"type":"COMM"}     a line of standard output
    ! perfile: ...        a line of standard error
    ? 1                   the exit status when it is not 0

A command comes out the same in every flavour. What cannot be equal is taken out first: offsets in the JSON of dump and
check, offsets in messages (0x#), where the data stand and when they were written (info, script --header), how many records check counts, and in pipe mode and with compression the records that
hold the header or other records. Members of attrs that are 0 are left out. --update writes what the first flavour of
each command prints.
"""
import argparse, concurrent.futures, difflib, json, os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

FLAVOURS = {
    'little': [],
    'big': ['--big-endian'],
    'pipe': ['--pipe'],
    'big-pipe': ['--pipe', '--big-endian'],
    'compressed': ['--compressed'],
    'compressed2': ['--compressed2'],
    'big-compressed': ['--compressed', '--big-endian'],
}
HEADER_RECORDS = {'HEADER_ATTR', 'HEADER_FEATURE', 'HEADER_TRACING_DATA', 'HEADER_BUILD_ID', 'EVENT_UPDATE'}
SITES = {'offset', 'container', 'compressed', 'captured_s', 'data_offset', 'data_bytes'}
# of info, and of script --header
SITE_LINES = re.compile(r'captured  |data  +[0-9]|# (captured on|data offset|data size|feat offset)')
HEADER_SITES = {'file_size', 'attrs', 'data', 'feature_table', 'byte_order', 'mode'}
HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 60


class Command:
    def __init__(self, line, flavours, options):
        self.arguments, self.flavours, self.options, self.expected = line.split(), flavours, options, []


def read_golden(text):
    """The description, and the lines of the file with a Command in the place of each command and its results."""
    flavours, options, description, parts = list(FLAVOURS), [], [], []
    for line in text.splitlines():
        mark, rest = line[:1], line[2:]
        if mark == '$':
            parts.append(Command(rest, flavours, options))
        elif mark and mark in '>!?' and isinstance(parts[-1], Command):
            parts[-1].expected.append(line)
        else:
            parts.append(line)
            if mark == '@':
                flavours = rest.split()
            elif mark == '%':
                options = rest.split()
            else:
                description.append(line)
    return '\n'.join(description) + '\n', parts


def without_sites(line):
    found = json.loads(line)
    places = HEADER_SITES if found.get('kind') == 'header' else SITES
    if 'record_offset' in found: # AUXTRACE has an `offset` of its own
        places = {'record_offset'}
    return without_zeros({name: value for name, value in found.items() if name not in places})


def without_recording(page):
    """The table that a report is, without what is another one in each flavour."""
    return {name: value for name, value in json.loads(page).items() if name not in ('recording', 'columns')}


def without_offsets(text):
    return re.sub(r'(^|\s)0x[0-9a-f]+', r'\g<1>0x#', text)


def without_zeros(found):
    """Members of attrs that are 0 are left out."""
    if isinstance(found, list):
        return [without_zeros(member) for member in found]
    if not isinstance(found, dict):
        return found
    return {name: {key: bits for key, bits in value.items() if bits} if name == 'attr' else without_zeros(value)
            for name, value in found.items()}


def tidy_dump(lines, flavour, header):
    """The records of the description, or the first line."""
    lines = [line for line in lines if line]
    if header:
        return [json.dumps(without_sites(lines[0]), ensure_ascii=False)]
    records = [without_sites(line) for line in lines[1:]]
    if 'pipe' in flavour:
        while records and records[0]['type'] in HEADER_RECORDS:
            records.pop(0)
    if 'compressed' in flavour:
        records = [record for record in records if not str(record['type']).startswith('COMPRESSED')]
    return [without_offsets(json.dumps(record, ensure_ascii=False)) for record in records]


def marked(mark, lines):
    return [f'{mark} {line}' if line else mark for line in lines]


def run(perfile, command, flavour, recording):
    """Nothing of this machine is asked for symbols: what is stated of missing ones would differ."""
    arguments = list(command.arguments)
    header = arguments == ['dump', 'header']
    as_text = '--format text' in ' '.join(arguments)
    if arguments[0] == 'dump' and not as_text:
        arguments = ['dump', '--format', 'json'] + (['--header-only'] if header else arguments[1:])
    if arguments[0] in ('report', 'script', 'flame', 'offcpu'):
        arguments += ['--symfs', str(recording.parent)]
    environment = {**os.environ, 'HOME': str(recording.parent)}
    environment.pop('DEBUGINFOD_URLS', None)
    try:
        done = served.run([*perfile, *arguments, str(recording)], env=environment, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return [f'? no end within {TIMEOUT_SECONDS} seconds']
    out = done.stdout.decode('utf-8', 'backslashreplace').split('\n')
    if out and not out[-1]:
        out.pop()
    if arguments[0] in ('info', 'script'):
        out = [line for line in out if not SITE_LINES.match(line)]
    if as_text:
        out = [without_offsets(line) for line in out]
    elif arguments[0] == 'dump' and done.returncode < 2:
        out = tidy_dump(out, flavour, header)
    elif arguments[0] == 'report' and 'json' in arguments:
        out = [json.dumps(without_recording('\n'.join(out)), ensure_ascii=False)]
    elif '--format' in arguments and not {'csv', 'folded'} & set(arguments):
        out = [json.dumps(without_sites(line), ensure_ascii=False) for line in out]
    err = done.stderr.decode('utf-8', 'backslashreplace').replace(str(recording), 'FILE').splitlines()
    if arguments[0] == 'check':
        out = [re.sub(r'\b[0-9]{1,9} records? and', '# records and', without_offsets(line)) for line in out]
    status = [f'? {done.returncode}'] if done.returncode else []
    return marked('>', out) + marked('!', [without_offsets(line) for line in err]) + status


def run_file(path, tools, update):
    assemble, perfile, folder = tools
    description, parts = read_golden(path.read_text())
    made, failed, count = {}, 0, 0
    for command in (part for part in parts if isinstance(part, Command)):
        for flavour in command.flavours:
            options = FLAVOURS[flavour] + command.options
            recording = made.setdefault(tuple(options), pathlib.Path(folder) / f'{path.stem}-{len(made)}.data')
            if not recording.exists():
                with recording.open('wb') as file:
                    subprocess.run([*assemble, *options], input=description.encode(), stdout=file, check=True)
            got = run(perfile, command, flavour, recording)
            if update and flavour == command.flavours[0]:
                command.expected = got
            count += 1
            if got == command.expected:
                continue
            failed += 1
            print(f'--- {path.name}, {flavour}: {" ".join(command.options + command.arguments)}')
            print('\n'.join(list(difflib.unified_diff(command.expected, got, 'expected', 'got', lineterm=''))[2:]))
    if update:
        lines = []
        for part in parts:
            lines += ['$ ' + ' '.join(part.arguments), *part.expected] if isinstance(part, Command) else [part]
        path.write_text('\n'.join(lines) + '\n')
    if failed:
        print(f'{path.name}: {failed} of {count} runs differ')
    return failed, count


def main():
    hermetic.find_walls()
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assemble')
    parser.add_argument('perfile')
    parser.add_argument('goldens', nargs='*', type=pathlib.Path)
    parser.add_argument('--update', action='store_true')
    options = parser.parse_intermixed_args()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    with tempfile.TemporaryDirectory(prefix='perfile-golden-') as folder:
        tools = ([*wrapper, options.assemble], [*wrapper, options.perfile], folder)
        goldens = options.goldens or sorted(HERE.glob('*.golden'))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda path: run_file(path, tools, options.update), goldens))
    failed, count = (sum(column) for column in zip(*results))
    print(f'{count - failed} of {count} runs of {len(results)} goldens are right')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
