#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The static command of another machine prints what the command of this one prints: static.py PERFILE TREE FOLDER MACHINE

FOLDER is what ./dev static makes for MACHINE; qemu-user runs it. Compared are outputs, messages and exit statuses of verbs that read, over the
recordings of the checkout, and files that edits and exports make.
"""
import concurrent.futures, os, pathlib, shutil, subprocess, sys, tarfile, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PARTS = 2  # runs at the same time
LARGEST = 1 << 20  # bytes of a recording
ELF = {'aarch64': 183, 'riscv64': 243}
NOWHERE = ['--symfs', '/nonexistent']
READS = (['dump', '--format', 'json'], ['check'], ['info', '--format', 'json'], ['script', *NOWHERE], ['report', '--stdio', *NOWHERE],
         ['flame', '--format', 'folded', *NOWHERE], ['table', 'samples', '--format', 'csv', *NOWHERE],
         ['query', *NOWHERE, '--format', 'csv', 'SELECT event, count(*), sum(period), avg(period) FROM samples GROUP BY 1 ORDER BY 1'])
WRITES = (['convert', '-z', '3'], ['cut', '--time', '0%-50%'], ['anonymize', '--key', 'a'], ['export', '--format', 'pprof', *NOWHERE],
          ['table', 'samples', '--format', 'parquet', *NOWHERE], ['flame', '--format', 'html', *NOWHERE])
EXAMPLES = 'examples'  # the folder whose recordings have their binaries
OF_EXAMPLES = (['script', '-F', 'ip,sym,symoff,dso,srcline,insn,disasm'], ['report', '--stdio', '-s', 'sym,srcline'], ['annotate', '--format', 'json'],
               ['report', '--stdio', '-s', 'type,typeoff'], ['export', '--format', 'callgrind'], ['stat'])


def why_not(folder, machine):
    if not list(folder.glob(f'perfile-*-{machine}-linux-static.tar.gz')):
        return f'./dev static has not made the command for {machine}'
    return None if shutil.which(f'qemu-{machine}-static') else 'qemu-user-static is not installed'


class Test:
    def __init__(self, perfile, tree, command, machine, folder):
        self.tree, self.folder, self.bad, self.ran, self.failed = tree, folder, 0, 0, 0
        self.commands = [str(perfile)], [f'qemu-{machine}-static', str(command)]
        self.environment = hermetic.environment(NO_COLOR='1')

    def run(self, command, words, folder):
        environment = dict(self.environment)
        if len(command) > 1:
            environment = {name: value for name, value in environment.items() if name not in hermetic.WALLS}
        folder.mkdir()
        done = subprocess.run([*command, *map(str, words)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        made = {path.name: path.read_bytes() for path in folder.iterdir()}
        shutil.rmtree(folder)
        return done.returncode, done.stdout, done.stderr, made

    def compare(self, number, words):
        found = [self.run(command, words, self.folder / f'{number}-{which}') for which, command in enumerate(self.commands)]
        self.ran += 1
        self.failed += found[0][0] > 1
        if found[0] != found[1]:
            self.bad += 1
            print(f'--- {" ".join(map(str, words))}\n{found[1]!r:.1500}\nexpected:\n{found[0]!r:.1500}')

    def compare_all(self, runs):
        with concurrent.futures.ThreadPoolExecutor(PARTS) as pool:
            list(pool.map(self.compare, range(len(runs)), runs))


def runs_over(tree):
    recordings = [path for folder in (EXAMPLES, 'tests/data') for path in sorted((tree / folder).glob('**/*.data')) if path.is_file() and path.stat().st_size < LARGEST]
    for number, path in enumerate(recordings):
        of_examples = path.is_relative_to(tree / EXAMPLES)
        if of_examples:
            yield from ([*words, '--symfs', tree / EXAMPLES / 'symfs', path] for words in OF_EXAMPLES)
        yield from ([*words, path] for words in READS)
        yield from ([*words, '-o', 'made', path] for words in (WRITES if of_examples else WRITES[number % len(WRITES):][:1]))


def unpack(folder, machine, to):
    archive, = folder.glob(f'perfile-*-{machine}-linux-static.tar.gz')
    with tarfile.open(archive) as files:
        files.extractall(to)
    root, = to.iterdir()
    return root


def check_files(test, root, machine):
    """What the archive has beside the command, which is a file of the machine that needs no loader."""
    head = (root / 'perfile').read_bytes()
    names = {path.name for path in root.iterdir()}
    facts = {'another machine': int.from_bytes(head[18:20], 'little') == ELF[machine], 'a loader': b'/ld-linux-' not in head,
             f'{names}': names == {'perfile', 'NOTICE', 'LICENSE', 'README.md', 'NEWS.md', 'man', 'completions', 'demo.perf.data'},
             'licences': all(name in (root / 'NOTICE').read_text() for name in ('glibc', 'libarchive', 'SQLite', 'capstone', 'ncurses', 'liblzma', 'bzip2')),
             'man pages': (root / 'man/man1/perfile-report.1').exists()}
    for what, fact in facts.items():
        test.bad += not fact
        if not fact:
            print(f'wrong in the archive: {what}')


def main():
    hermetic.settle()
    perfile, tree, folder, machine = pathlib.Path(sys.argv[1]).resolve(), *map(pathlib.Path, sys.argv[2:4]), sys.argv[4]
    reason = why_not(folder, machine)
    if reason:
        print(f'skipped: the static command for {machine}: {reason}')
        return 77
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / 'unpacked').mkdir()
        root = unpack(folder, machine, work / 'unpacked')
        test = Test(perfile, tree, root / 'perfile', machine, work)
        check_files(test, root, machine)
        test.compare_all(list(runs_over(tree)))
    print(f'{machine}: {test.ran} runs, {test.bad} differ; {test.failed} of them are errors on this machine, too')
    return 1 if test.bad or test.failed > test.ran / 4 else 0


if __name__ == '__main__':
    sys.exit(main())
