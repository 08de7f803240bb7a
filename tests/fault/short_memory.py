#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command when out of memory: short_memory.py [--all] PERFILE ASSEMBLE SHIM DATA CC...

An allocation fails, each in turn (without --all: some of them), once or from there on; and the address space is limited. It
is an error then, with exit status 5, a message, and of the output no more than its beginning; or it makes no difference.
"""
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import images

SKIPPED, NO_MEMORY = 77, 5
POINTS = 20  # of each case and kind of failure, without --all; but all of those that are few
FEW = 100
LIMITS, SOME_LIMITS = 40, 10  # of the address space, below what a case needs
PAGE = 4096
# With mangled names.
PROGRAM = images.PROGRAM.replace('static inline', '''int outer(int x) __asm__("_ZN4deep5outerEi");
static inline __attribute__((always_inline)) int innermost(int x) __asm__("_ZN4deep9innermostEi");
static inline''', 1)
# Debug info of other kinds, by flags of compilers; `dwz` moves what several have in common into another file.
DEBUG_INFO = {'split': ['-gsplit-dwarf'], 'compressed': ['-gz'], 'types': ['-gdwarf-4', '-fdebug-types-section'], 'dwz': [], 'C++': ['-x', 'c++', '-gdwarf-5']}
FLAMES = [['flame', '--format', kind] for kind in ('folded', 'html', 'svg')]
VERBS = [['report'], ['report', '--hierarchy'], ['report', '--sort', 'dso,sym,srcline'], ['report', '--format', 'json'], ['script'],
         ['script', '-F', '+srcline'], ['dump'], ['info'], ['table', 'records', '--columns', 'all'], ['table', 'threads'], *FLAMES]
# With --all.
EXPORTS = [['export', '--format', kind] for kind in ('pprof', 'otlp', 'speedscope', 'callgrind', 'firefox', 'chrome')] + [
    ['export', '--format', kind, '--view', 'samples'] for kind in ('parquet', 'arrow')]


def share_debug_info(folder, program):
    """False without dwz."""
    if not shutil.which('dwz'):
        return False
    shutil.copy(program, folder / 'other')
    done = subprocess.run(['dwz', '-m', folder / 'common.debug', program, folder / 'other'], stderr=subprocess.DEVNULL)
    return not done.returncode and (folder / 'common.debug').exists()


def make_recording(folder, assemble, compiler, kind=''):
    """Of a program with mangled names and inlined functions; None where it cannot be made."""
    source, program, recording = folder / 'prog.c', folder / 'prog', folder / 'perf.data'
    folder.mkdir(exist_ok=True)
    source.write_text(PROGRAM)
    made = subprocess.run([*compiler, '-g', '-O2', *DEBUG_INFO.get(kind, []), '-no-pie', '-fno-pie', '-o', program, source, '-x', 'none'], cwd=folder,
                          stderr=subprocess.DEVNULL)
    if made.returncode or (kind == 'dwz' and not share_debug_info(folder, program)):
        return None
    here = int(subprocess.check_output([program], text=True).split()[0], 16)
    text = images.RECORDING % {'start': images.load_address(program), 'here': here, 'path': program}
    recording.write_bytes(subprocess.check_output([assemble], input=text.encode()))
    return recording


Result = collections.namedtuple('Result', 'status allocations bytes places text reply')


class Command:
    """One command line: what it does with enough memory, and without. `library`: one that is there before it begins."""

    def __init__(self, perfile, shim, arguments, home, **library):
        self.arguments, self.library = [perfile, *arguments], library
        self.environment = {'PATH': os.environ.get('PATH', ''), 'HOME': home, 'LC_ALL': 'C', **hermetic.WALLS, **hermetic.preloaded(shim), **library}
        self.run([])  # what it caches is there
        self.right, = self.run([]) or [Result(0, 0, 0, '', '=', '')]

    def run(self, attempts):
        """The results: that with enough memory, then that of each attempt: see short_memory.c."""
        with tempfile.TemporaryFile('w+') as asked, tempfile.TemporaryFile('w+', errors='replace') as heard:
            asked.writelines(f'{number} {later} {limit}\n' for number, later, limit in [(0, 0, 0), *attempts])
            asked.flush()
            files = [asked.fileno(), heard.fileno()]
            subprocess.run(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=files,
                           env={**self.environment, 'SHORT_MEMORY': ','.join(map(str, files))})
            heard.seek(0)
            lines = [line.split(' ', 5) for line in heard.read().split('\n')[:-1]]
        return [Result(*map(int, line[:3]), *line[3:]) for line in lines]

    def attempts(self, every, index):
        """Numbers of allocations, with those after them and without, and limits of the address space."""
        count, capacity = self.right.allocations, self.right.bytes
        step = 1 if every or count <= FEW else max(1, count // POINTS)
        numbers = [(number, later, 0) for number in range(1 + index % step, count + 1, step) for later in (0, 1)]
        return numbers if self.library else numbers + [(0, 0, limit) for limit in range(PAGE, capacity, max(PAGE, capacity // (LIMITS if every else SOME_LIMITS)))]

    def wrong(self, result):
        """None, or what is wrong."""
        if result.status == self.right.status and result.text == '=' or result.text == '-':
            return None
        if result.status == NO_MEMORY and result.text in '=<' and result.reply:
            return None
        text = {'=': 'the same text', '<': 'a part of the text', '!': 'other text'}[result.text]
        return f'status {result.status} with {text}: {result.reply[:100]}'


def try_all(name, command, attempts):
    """Runs the command for each attempt; how many there were, and how often what was wrong."""
    found = collections.defaultdict(list)
    results = command.run(attempts)[1:]
    for attempt, result in zip(attempts, results):
        wrong = command.wrong(result)
        if wrong:
            found[wrong].append(attempt)
    if len(results) < len(attempts):
        found['the attempts ended early'].append(attempts[len(results)])
    for wrong, where in found.items():
        print(f'{name}: {wrong} ({len(where)} times, such as {where[0]})')
    return sum(result.text != '-' for result in results), sum(len(where) for where in found.values())


def main():
    hermetic.settle()
    every = sys.argv[1] == '--all'
    perfile, assemble, shim, data = (os.path.abspath(word) for word in sys.argv[1 + every:5 + every])
    compiler = sys.argv[5 + every:]
    with tempfile.TemporaryDirectory() as name, hermetic.plain_folder() as plain, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder, pending = pathlib.Path(name), []
        shim = shutil.copy(shim, plain)  # the path of what is preloaded must have no spaces
        program = make_recording(folder, assemble, compiler)
        tracepoint, jit = (os.path.join(data, file) for file in ('tracepoint.perf.data', 'jit.perf.data'))
        lines = [[*verb, program] for verb in VERBS + EXPORTS * every if program]
        kinds = {kind: make_recording(folder / kind, assemble, compiler, kind) for kind in DEBUG_INFO}
        lines += [[*verb, recording] for recording in kinds.values() if recording for verb in (['script', '-F', '+srcline'], ['annotate', '--stdio'])]
        programs = [recording.parent / 'prog' for recording in (program, *kinds.values()) if recording]
        lines += [['probe', *words, '--exec', binary] for binary in programs for words in (['--definition', 'outer $vars'], ['--vars', 'inner*'], ['--line', 'prog.c'])]
        if missing := [kind for kind, recording in kinds.items() if not recording]:
            print(f"skipped: debug info of the kinds {', '.join(missing)}: it cannot be made here")
        lines += [['diff', '--noise', '5%', program, program]] if program else []
        lines += [['dump', tracepoint], ['check', tracepoint], ['script', tracepoint], ['report', tracepoint], ['script', jit], ['report', jit]]
        symfs, flow = (os.path.join(data, file) for file in ('intel-pt', 'intel-pt-overflow.perf.data'))
        lines += [[*verb, '--symfs', symfs, flow] for verb in (['table', 'calls'], ['flame', '--calls', '--format', 'html'],
                                                               ['export', '--calls', '--format', 'chrome'])]
        described, typed = pathlib.Path(data) / 'types-x86_64', folder / 'types.perf.data'
        start, size, _ = next(images.segments(described.read_bytes()))
        images.sample_all(assemble, described, range(start, start + size), typed)
        lines += [['report', '--sort', 'type', typed], ['annotate', '--data-type', typed]]
        lines += [['report', '--sort', 'typeoff', recording] for kind, recording in kinds.items() if recording and every]
        parquet = folder / 'rows.parquet'
        subprocess.run([perfile, 'table', '-q', 'samples', '--format', 'parquet', '-o', parquet, tracepoint], check=True)
        lines += [['query', 'SELECT comm, sum(period) FROM rows GROUP BY comm', parquet]]
        for index, line in enumerate(lines):
            commands = []
            (folder / str(index)).mkdir()
            line = [str(word) for word in line]
            for library in {}, {'SHORT_LOADED': 'libstdc++.so.6'}:
                cold = Command(perfile, shim, line, '/nonexistent', **library)
                warm = Command(perfile, shim, line, str(folder / str(index)), **library)
                if not cold.right.allocations:
                    print('allocations cannot be made to fail here')
                    sys.exit(SKIPPED)
                # a cache has what was read before: then other code runs, or the same if nothing was put into it
                commands += [('', cold), ('cached, ', warm)][:1 + (warm.right.places != cold.right.places)]
            for kind, command in commands:
                attempts = command.attempts(every, index)
                pending.append(pool.submit(try_all, kind + ' '.join(line[:-1] + [os.path.basename(line[-1])]), command, attempts))
        tried, wrong = map(sum, zip(*(one.result() for one in pending)))
    print(f'{tried} runs with too little memory, {wrong} of them wrong')
    sys.exit(wrong != 0)


main()
