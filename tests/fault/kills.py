#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py PERFILE ASSEMBLE RECORDING [COUNT [SEED]]: verbs that write are killed at random moments (500 of them).

What is at the path of the output is complete then, each file of it the one that the verb makes when nothing disturbs it, or nothing is
there; and nothing else is left beside it, except temporary files after SIGKILL. Of the files of a split some may be there."""
import collections, hashlib, pathlib, random, shutil, signal, subprocess, sys, tempfile, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, ASSEMBLE, DEMO = map(hermetic.runnable, sys.argv[1:4])
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 500
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 31
SIGNALS = signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT
# {out} is the path of the output, {big} and {demo} are recordings
VERBS = [words.split() for words in (
    'convert -q -o {out} {big}', 'convert -q -z 3 -o {out} {big}', 'convert -q --mode directory -o {out} {big}', 'repair -q -o {out} {big}',
    'inject -q -b -o {out} {big}', 'cut -q --time 10%-90% -o {out} {big}', 'cut -q --split comm -o {out}-% {big}', 'merge -q -o {out} {big} {demo}',
    'anonymize -q --key k -o {out} {big}', 'index -q -o {out} {big}', 'bundle -q -o {out} {big}', 'script -q -o {out} {big}',
    'report -q -o {out} {big}', 'flame -q --format html -o {out} {big}', 'table samples -q -o {out} {big}',
    'export -q --format parquet --view samples -o {out} {big}', 'export -q --format parquet -o {out} {big}', 'export -q --format pprof -o {out} {big}')]


def make_recording():
    lines = ['attr type=1 config=0 sample_type=IP|TID|TIME name="cpu-clock"', *(f'record COMM pid={pid} tid={pid} comm="w{pid}"' for pid in range(7, 12)),
             *(f'sample ip={0x400000 + i % 64} pid={7 + i % 5} tid={7 + i % 5} time={1000 + i}' for i in range(20000))]
    return subprocess.run([ASSEMBLE], input='\n'.join(lines).encode() + b'\n', stdout=subprocess.PIPE, check=True).stdout


class Verb:
    """A command line that writes into a folder, and what it makes there."""

    def __init__(self, words, folder, recording):
        self.folder = folder / 'out'
        self.command = [PERFILE, *(word.format(out=self.folder / 'output', big=recording, demo=DEMO) for word in words)]
        self.environment = hermetic.environment(HOME=str(folder), XDG_CACHE_HOME=str(folder / 'cache'))
        start = time.monotonic()
        self.complete = self.run()
        self.seconds = time.monotonic() - start
        self.is_fixed = self.run() == self.complete  # some outputs have the time in them

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        return subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def files(self):
        return {str(path.relative_to(self.folder)): '' if path.is_dir() else hashlib.sha1(path.read_bytes()).hexdigest()
                for path in self.folder.rglob('*')}

    def run(self):
        process = self.start()
        message = process.communicate(timeout=120)[1]
        if process.returncode not in (0, 1) or not self.files():
            sys.exit(f'{self.command}: status {process.returncode}: {message}')
        return self.files()

    def kill(self, number, after):
        """What is left, as (outputs, others)."""
        process = self.start()
        time.sleep(after)
        process.send_signal(number)
        process.communicate(timeout=120)
        left = self.files()
        others = {path for path in left if '.tmp' in path or path.startswith('.')}
        return {path: digest for path, digest in left.items() if path not in others}, others

    def fault(self, number, outputs, others):
        """What is wrong with what is left, or ''."""
        if outputs and outputs.keys() != self.complete.keys() and '--split' not in self.command:
            return f'only {sorted(outputs)}'
        incomplete = sorted(path for path, digest in outputs.items() if self.complete.get(path, 'none') != digest)
        if incomplete and self.is_fixed:
            return f'not complete: {incomplete}'
        return f'left: {sorted(others)}' if others and number != signal.SIGKILL else ''


def main():
    hermetic.settle()
    for number in SIGNALS[1:]:
        signal.signal(number, signal.SIG_DFL)  # what is ignored here would be there, too
    chance, ends, wrong = random.Random(SEED), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        recording = pathlib.Path(name, 'big.data')
        recording.write_bytes(make_recording())
        verbs = [Verb(words, pathlib.Path(name), recording) for words in VERBS]
        for i in range(COUNT):
            verb, number = verbs[i % len(verbs)], chance.choice(SIGNALS)
            outputs, others = verb.kill(number, chance.uniform(0, 1.1 * verb.seconds))
            ends[f'{number.name}: {"output" if outputs else "temporary files" if others else "nothing"}'] += 1
            if fault := verb.fault(number, outputs, others):
                wrong += 1
                print(f'kill {i} by {number.name}: {" ".join(verb.command[1:])}: {fault}')
    print(*(f'{end} {count}' for end, count in sorted(ends.items())), sep='; ')
    print(f'{COUNT} kills of {len(VERBS)} commands, {wrong} wrong')
    sys.exit(wrong > 0)


main()
