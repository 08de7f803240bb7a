#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether optimisers take the profiles of perfile pgo: pgo_consumers.py PERFILE ASSEMBLE

A program is compiled, and a recording is made by a walk over its disassembled code, with taken branches and what lies between them as a
processor records them. What BOLT, llvm-profgen and AutoFDO make of the profiles must have the counts of the walk. What is not installed
is skipped.
"""
import collections, glob, os, pathlib, random, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SOURCE = '''
#define NI __attribute__((noinline))
volatile int sink;
NI int never(int x) { return x * 3 + sink; }
NI int leaf(int x) { return x & 1 ? x * 31 : x ^ (x >> 2); }
NI int middle(int x) { int s = 0; for (int i = 0; i < 9; i++) s += x > i ? leaf(s + i) : never(s); return s; }
NI int unused(int x) { for (int i = 0; i < x; i++) sink += i; return sink; }
NI int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? middle(i) : leaf(i); return s; }
int main(int argc, char **argv) { (void)argv; sink = work(argc + 20); return argc > 99 ? unused(argc) : 0; }
'''
INSTRUCTION = re.compile(r'^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(\S+)\s*(?:([0-9a-f]+) <)?')
BASE, DEPTH, SAMPLES = 0x555500000000, 16, 600


def run(*words, **how):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', **how)


def tool(*names):
    """The newest that there is."""
    for name in names:
        found = sorted(glob.glob(name), key=lambda path: [int(n) for n in re.findall(r'\d+', path)]) or [shutil.which(name)]
        if found[-1]:
            return found[-1]
    return None


class Walk:
    """Branches from a start on: a conditional jump is taken by chance, a return goes back to its call."""

    def __init__(self, binary, start):
        self.code = {}
        for line in run('objdump', '-d', '-w', '--insn-width=16', binary).stdout.splitlines():
            found = INSTRUCTION.match(line)
            if found:
                self.code[int(found[1], 16)] = len(found[2].split()), found[3], int(found[4], 16) if found[4] else None
        self.start, self.at, self.returns, self.random = start, start, [], random.Random(1)

    def branch(self):
        """The next branch that is taken."""
        while True:
            at = self.at
            length, name, target = self.code[at]
            self.at = at + length
            if name.startswith('ret'):
                self.at = self.returns.pop() if self.returns else self.start
            elif name.startswith('call'):
                self.returns.append(self.at)
                self.at = target
            elif name == 'jmp' or (name.startswith('j') and self.random.random() < 0.7):
                self.at = target
            else:
                continue
            return at, self.at


def make_recording(assemble, walk, length):
    text = f'''attr type=0 sample_type=IP|TID|TIME|CALLCHAIN|BRANCH_STACK branch_sample_type=8 ids=1 name="cycles" sample_id_all=1
record MMAP2 misc=2 pid=7 tid=7 addr={BASE:#x} len={length:#x} pgoff=0 prot=5 flags=2 filename="/opt/app" | pid=7 tid=7 time=1
'''
    branches, taken = collections.Counter(), collections.deque(maxlen=DEPTH)
    for time in range(2, SAMPLES + 2):
        for _ in range(DEPTH):
            taken.append(walk.branch())
        branches.update(taken)
        entries = ''.join(f',{BASE + a:#x},{BASE + b:#x},branch:2' for a, b in reversed(taken))
        chain = [0xfffffffffffffe00, *(BASE + address for address in (walk.at, *reversed(walk.returns)))]
        text += f'sample misc=2 ip={BASE + walk.at:#x} pid=7 tid=7 time={time} callchain={len(chain)},{",".join(map(hex, chain))} ' \
                f'branch_stack={DEPTH}{entries}\n'
    return subprocess.run(assemble, input=text.encode(), check=True, stdout=subprocess.PIPE).stdout, branches


class Test:
    def __init__(self, folder, perfile, assemble):
        self.folder, self.perfile, self.bad, self.ran = folder, perfile, 0, 0
        self.app, self.recording = folder / 'app', folder / 'app.data'
        (folder / 'app.c').write_text(SOURCE)
        built = run(tool('gcc', 'cc', 'clang'), '-O1', '-g', '-gdwarf-4', '-fPIE', '-pie', '-fno-jump-tables', '-Wl,--emit-relocs,-z,noseparate-code',
                    '-o', self.app, folder / 'app.c')
        symbols = {words[2]: int(words[0], 16) for words in map(str.split, run('nm', self.app).stdout.splitlines()) if len(words) == 3}
        if built.returncode or 'work' not in symbols:
            raise LookupError('the compiler does not make the program: ' + built.stdout)
        self.symbols = symbols
        data, self.branches = make_recording(assemble, Walk(self.app, symbols['work']), (self.app.stat().st_size | 0xfff) + 1)
        self.recording.write_bytes(data)

    def calls(self, name):
        return sum(count for (_, to), count in self.branches.items() if to == self.symbols[name])

    def check(self, what, is_right, text):
        self.ran += 1
        if not is_right:
            self.bad += 1
            print(f'--- {what}\n{text}')

    def profile(self, format):
        out = self.folder / ('app.' + format)
        done = run(*self.perfile, 'pgo', '--format', format, '--binary', self.app, '-o', out, self.recording, env=hermetic.environment())
        self.check(f'pgo --format {format}', done.returncode == 0, done.stdout)
        return out

    def bolt(self, perf2bolt, optimiser):
        fdata = self.folder / 'app.fdata'
        done = run(perf2bolt, '-pa', '-p', self.profile('bolt'), '-o', fdata, self.app)
        text = fdata.read_text() if fdata.exists() else ''
        counts = sum(int(line.split()[7]) for line in text.splitlines() if line.startswith('1 middle ') and ' leaf 0 ' in line)
        from_middle = sum(count for (a, to), count in self.branches.items()
                          if to == self.symbols['leaf'] and self.symbols['middle'] <= a < self.symbols['unused'])
        self.check(f'{perf2bolt}: calls from middle to leaf', counts == from_middle > 0, done.stdout + text)
        if optimiser:
            better = self.folder / 'app.bolt'
            done = run(optimiser, self.app, '-o', better, '-data', fdata, '-reorder-blocks=ext-tsp', '-reorder-functions=hfsort', '-split-functions')
            self.check(f'{optimiser}: functions with a profile', re.search(r' [1-9]\d* out of \d+ functions', done.stdout), done.stdout)
            self.check(f'{optimiser}: the program still runs', run(better).returncode == 0, '')

    def profgen(self, profgen):
        out = self.folder / 'app.prof'
        done = run(profgen, '--binary', self.app, '--unsymbolized-profile', self.profile('profgen'), '--format', 'text', '--output', out)
        text = out.read_text() if out.exists() else ''
        heads = {found[1]: int(found[2]) for found in re.finditer(r'^(\w+):\d+:(\d+)$', text, re.MULTILINE)}
        expected = {name: self.calls(name) for name in ('leaf', 'middle', 'work')}
        self.check(f'{profgen}: heads {expected}', {name: heads.get(name) for name in expected} == expected, done.stdout + text)
        clang = next(filter(None, (tool(f'clang-{version}') for version in range(30, 13, -1))), None)
        if clang:
            done = run(clang, '-O2', '-g', f'-fprofile-sample-use={out}', '-S', '-emit-llvm', '-o', '-', self.folder / 'app.c')
            counts = {int(n) for n in re.findall(r'function_entry_count", i64 (\d+)', done.stdout)}
            self.check(f'{clang}: counts of functions', {expected['middle'] + 1, expected['leaf'] + 1} <= counts, f'{expected} {counts} {done.stdout[:2000]}')

    def contexts(self, profgen):
        """What it makes of the samples itself."""
        script, out = self.folder / 'app.script', self.folder / 'app.cs'
        script.write_bytes(subprocess.run([*self.perfile, 'script', '--no-inline', '--show-mmap-events', '-F', 'ip,brstack', '-i', self.recording],
                                          env=hermetic.environment(), stdout=subprocess.PIPE, check=False).stdout)
        done = run(profgen, '--binary', self.app, '--perfscript', script, '--skip-symbolization', '--output', out)
        text = out.read_text() if out.exists() else ''
        self.check(f'{profgen}: contexts', text.count('[') > 3 and self.profile('profgen-cs').read_text() == text, done.stdout + text)

    def trace(self, perf2bolt):
        """That of branches alone, but for mispredictions."""
        lists = []
        for format in 'bolt', 'bolt-trace':
            out = self.folder / (format + '.fdata')
            done = run(perf2bolt, '-pa', '-p', self.profile(format), '-o', out, self.app)
            lines = out.read_text().splitlines() if out.exists() else []
            lists.append(sorted(words[:-2] + words[-1:] for words in map(str.split, lines)))
        self.check(f'{perf2bolt}: traces', lists[0] == lists[1] != [], done.stdout)

    def autofdo(self, create):
        out = self.folder / 'app.gcov'
        done = run(create, '-binary', self.app, '-profiler', 'text', '-profile', self.profile('autofdo'), '-gcov', out)
        names = out.read_bytes() if out.exists() else b''
        self.check(create, all(name in names for name in (b'leaf', b'middle', b'work')), done.stdout)


def is_possible():
    return os.uname().machine == 'x86_64' and tool('gcc', 'cc', 'clang') and tool('objdump') and tool('nm')


def main():
    hermetic.settle()
    perfile, assemble = hermetic.programs()
    if not is_possible():
        sys.exit(print('skipped: consumers of pgo: a compiler for x86-64, objdump and nm are needed') or 0)
    profgen = next(filter(None, (tool(f'llvm-profgen-{version}') for version in range(30, 18, -1))), None)
    users = [('bolt', [tool('/usr/lib/llvm-*/bin/perf2bolt', 'perf2bolt'), tool('/usr/lib/llvm-*/bin/llvm-bolt', 'llvm-bolt')]),
             ('trace', [next(filter(None, (tool(f'/usr/lib/llvm-{version}/bin/perf2bolt') for version in range(30, 20, -1))), None)]),
             ('profgen', [profgen]), ('contexts', [profgen]),
             ('autofdo', [tool('create_gcov')])]
    with tempfile.TemporaryDirectory() as name:
        test = Test(pathlib.Path(name), perfile, assemble)
        for user, programs in users:
            if programs[0]:
                getattr(test, user)(*programs)
            else:
                print(f'skipped: {user}: its reader is not installed')
    print(f'{test.ran} checks')
    sys.exit(f'{test.bad} failed' if test.bad else None)


if __name__ == '__main__':
    main()
