#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles for optimisers: pgo.py PERFILE ASSEMBLE

The program is made of bytes, and so are its recordings, whose branches and counts are known. Its code shares a page of the file with
another segment, and is loaded where neither the offset nor the address in the file alone lead.
"""
import os, pathlib, struct, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# main: call work; test; jne main; ret    work: inc; cmp; jl work; jmp over a byte; ret
CODE = bytes.fromhex('e80b000000' '85c0' '75f7' 'c3' '909090909090' 'ffc7' '83ff05' '7cf9' 'eb01' '90' 'c3')
OFFSET, ADDRESS = 0x600, 0x2600
ID = '0102030405060708090a0b0c0d0e0f1011121314'
OTHER_ID = ID[::-1]
ATTR = 'attr type=0 config=0 sample_type=IP|TID|TIME|BRANCH_STACK branch_sample_type=%s ids=%d name="%s" sample_id_all=1 comm_exec=1\n'
PLAIN = 'attr type=1 config=%d sample_type=IDENTIFIER|IP|TID|TIME ids=%d sample_id_all=1\n'
ANY, CALL_STACK, CALLS = 0x8, 0x800, 0x10
# newest first: work returns, jumps over a byte, loops (mispredicted), is called, main loops
STACK = ((0x261a, 0x2605, 2), (0x2617, 0x261a, 2), (0x2615, 0x2610, 1), (0x2600, 0x2610, 2), (0x2607, 0x2600, 2))
BOLT = 'B 2600 2610 1 0\nB 2607 2600 1 0\nB 2615 2610 1 1\nB 2617 261a 1 0\nB 261a 2605 1 0\n' \
       'F 2600 2600 1\nF 2610 2617 1\nF 261a 261a 1\nf 2610 2615 1\n'
TRACE = 'T 2600 2610 2615 1\nT 2607 2600 2600 1\nT 2615 2610 2617 1\nT 2617 261a 261a 1\nT 261a 2605 0 1\n'
PROFGEN = '4\n600-600:1\n610-615:1\n610-617:1\n61a-61a:1\n5\n600->610:1\n607->600:1\n615->610:1\n617->61a:1\n61a->605:1\n'
AUTOFDO = '4\n2600-2600:1\n2610-2615:1\n2610-2617:1\n261a-261a:1\n1\n2605:1\n5\n2600->2610:1\n2607->2600:1\n2615->2610:1\n' \
          '2617->261a:1\n261a->2605:1\n'


def program(build_id=ID, code=CODE):
    """An ELF file: two segments that share a page, two functions, and a build id."""
    note = struct.pack('<III', 4, len(build_id) // 2, 3) + b'GNU\0' + bytes.fromhex(build_id) if build_id else b''
    names = b'\0.text\0.symtab\0.strtab\0.note\0.shstrtab\0'
    strings = b'\0main\0work\0'
    symbols = bytes(24) + struct.pack('<IBBHQQ', 6, 2, 0, 1, ADDRESS + 0x10, 11) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, ADDRESS, 10)
    parts = {'note': note, 'symbols': symbols, 'strings': strings, 'names': names}
    at, offsets = OFFSET + len(code), {}
    for name, data in parts.items():
        at = (at + 7) // 8 * 8
        offsets[name] = at
        at += len(data)
    sections = [(0,) * 10, (1, 1, 6, ADDRESS, OFFSET, len(code), 0, 0, 1, 0),
                (7, 2, 0, 0, offsets['symbols'], len(symbols), 3, 2, 8, 24), (15, 3, 0, 0, offsets['strings'], len(strings), 0, 0, 1, 0),
                (23, 7, 2, 0x4000, offsets['note'], len(note), 0, 0, 4, 0), (29, 3, 0, 0, offsets['names'], len(names), 0, 0, 1, 0)]
    start = (at + 7) // 8 * 8
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, ADDRESS, 64, start, 0, 64, 56, 2, 64, len(sections), 5)
    segments = struct.pack('<IIQQQQQQ', 1, 4, 0, 0, 0, OFFSET, OFFSET, 4096) + \
        struct.pack('<IIQQQQQQ', 1, 5, OFFSET, ADDRESS, ADDRESS, len(code), len(code), 4096)
    file = bytearray((header + segments).ljust(OFFSET, b'\0') + code)
    for name, data in parts.items():
        file[offsets[name]:] = bytes(offsets[name] - len(file)) + data
    return bytes(file.ljust(start, b'\0')) + b''.join(struct.pack('<IIQQQQIIQQ', *section) for section in sections)


def mapped(pid, base, time=1, path='/opt/prog', build_id=''):
    """Both segments of a process, which map the same page of the file."""
    lines = ''
    for offset, prot in ((0, 1), (0x2000, 5)):
        known = f'misc=0x4002 build_id_size=20 build_id=hex:{build_id}' if build_id else 'misc=2'
        lines += f'record MMAP2 pid={pid} tid={pid} addr={base + offset:#x} len=0x1000 pgoff=0 {known} prot={prot} flags=2 ' \
                 f'filename="{path}" | pid={pid} tid={pid} time={time}\n'
    return lines


def sampled(pid, base, time=2, stack=STACK, event=0, ip=0x2605):
    entries = ''.join(f',{base + a if a else 0:#x},{base + b:#x},branch:{flags:#x}' for a, b, flags in stack)
    return f'sample event={event} misc=2 ip={base + ip:#x} pid={pid} tid={pid} time={time} branch_stack={len(stack)}{entries}\n'


HEAD = ATTR % (ANY, 1, 'cycles') + f'feature BUILD_ID u32:0,u16:0x8002,u16:56,u32:-1,hex:{ID},u8:20,zeros:3,z:"/opt/prog",zeros:10\n'
BASE = 0x555500000000
ONE = HEAD + mapped(7, BASE) + sampled(7, BASE)


class Test:
    def __init__(self, perfile, assemble, folder):
        wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
        self.perfile, self.assemble, self.folder, self.bad = [*wrapper, perfile], [*wrapper, assemble], folder, 0
        self.environment = hermetic.environment(HOME=str(folder), XDG_CACHE_HOME=str(folder))
        self.binary = folder / 'root/opt/prog'
        self.binary.parent.mkdir(parents=True)
        self.binary.write_bytes(program())

    def check(self, what, got, expected):
        if got != expected:
            self.bad += 1
            print(f'--- {what}\ngot:      {got!r}\nexpected: {expected!r}')

    def record(self, text, *options, name='perf.data'):
        path = self.folder / name
        path.write_bytes(subprocess.run([*self.assemble, *options], input=text.encode(), check=True, stdout=subprocess.PIPE).stdout)
        return path

    def pgo(self, *words, binary=None, out='out'):
        """The exit status, what was written (None: nothing), and the messages."""
        path = self.folder / out
        path.unlink(missing_ok=True)
        chosen = [] if binary is False else ['--binary', binary or self.binary]
        done = subprocess.run([*self.perfile, 'pgo', *chosen, '-o', path, *words], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, path.read_text() if path.is_file() else None, done.stderr

    def output(self, text, format='bolt', words=(), **how):
        return self.pgo('-q', '--format', format, *words, self.record(text), **how)[1]

    def fails(self, what, text, status, message, *words, **how):
        got = self.pgo('--format', 'bolt', *words, self.record(text), **how)
        self.check(what, (got[0], got[1], message in got[2]), (status, None, True))
        if message not in got[2]:
            print(got[2])


def times(text, factor):
    """The counts of a profile for BOLT, multiplied."""
    lines = []
    for line in text.splitlines():
        kind, a, b, *counts = line.split()
        lines.append(' '.join([kind, a, b, *(str(int(n) * factor) for n in counts)]))
    return '\n'.join(lines) + '\n'


def check_formats(test):
    for format, expected in ('bolt', BOLT), ('bolt-trace', TRACE), ('profgen', PROFGEN), ('autofdo', AUTOFDO):
        test.check(format, test.output(ONE, format), expected)
    for options in ['--pipe'], ['--compressed'], ['--compressed2'], ['--big-endian']:
        test.check(' '.join(options), test.pgo('-q', '--format', 'bolt', test.record(ONE, *options)), (0, BOLT, ''))


def check_processes(test):
    bases = {7: BASE, 8: 0x7f0000000000, 9: 0x400000}
    three = HEAD + ''.join(mapped(pid, base) for pid, base in bases.items()) + ''.join(sampled(*pair) for pair in bases.items())
    test.check('three processes', test.output(three), times(BOLT, 3))
    recordings = [test.record(three, name='a'), test.record(ONE, name='b')]
    test.check('sum of recordings', test.pgo('-q', '--format', 'bolt', *recordings)[1], times(BOLT, 4))
    fork = ONE + 'record FORK misc=2 pid=8 ppid=7 tid=8 ptid=7 time=3 | pid=8 tid=8 time=3\n' + sampled(8, BASE, 4)
    test.check('a fork inherits the mappings', test.output(fork), times(BOLT, 2))
    copies = ONE + mapped(8, BASE, 3, '/srv/copy', ID) + sampled(8, BASE, 4)
    test.check('one build id under two paths', test.output(copies), times(BOLT, 2))
    other = ONE + mapped(8, BASE, 3, '/srv/prog', OTHER_ID) + sampled(8, BASE, 4)
    status, got, messages = test.pgo('--format', 'bolt', test.record(other))
    test.check('another build beside it', (status, got, f'as another build, {OTHER_ID}' in messages), (0, BOLT, True))


def check_builds(test):
    other = test.folder / 'other/prog'
    other.parent.mkdir()
    other.write_bytes(program(OTHER_ID))
    test.fails('another build', ONE, 2, f'its build id is {OTHER_ID}, that of the recorded /opt/prog is {ID}', binary=other)
    test.check('--force', test.pgo('-q', '--format', 'bolt', '--force', test.record(ONE), binary=other), (0, BOLT, ''))
    unnamed = test.folder / 'unnamed/prog'
    unnamed.parent.mkdir()
    unnamed.write_bytes(program(''))
    test.fails('a file without a build id', ONE, 2, 'its build id is none', binary=unnamed)
    without = ''.join(line for line in ONE.splitlines(True) if 'BUILD_ID' not in line)
    status, got, messages = test.pgo('--format', 'bolt', test.record(without))
    test.check('no build id recorded', (status, got, 'matched by its name' in messages), (0, BOLT, True))
    test.check('--buildid', test.pgo('-q', '--format', 'bolt', '--buildid', ID, '--symfs', test.folder / 'root', test.record(ONE),
                                     binary=False), (0, BOLT, ''))
    test.fails('nothing of this build id', ONE, 1, 'no sample is in', '--buildid', OTHER_ID, binary=False)
    folder = test.folder / 'profiles'
    status, _, messages = test.pgo('--format', 'bolt', '--symfs', test.folder / 'root', test.record(ONE), binary=False, out='profiles')
    test.check('a folder', (status, {path.name: path.read_text() for path in folder.iterdir()}), (0, {'prog.bolt': BOLT}))


def check_nothing(test):
    calls = ATTR % (CALL_STACK, 1, 'cycles') + ONE.split('\n', 1)[1]
    plain = PLAIN % (0, 1) + mapped(7, BASE) + f'sample misc=2 ip={BASE + 0x2612:#x} pid=7 tid=7 time=2\n' * 3
    test.fails('no samples', HEAD + mapped(7, BASE), 1, 'empty because there are no samples')
    test.fails('elsewhere', HEAD + mapped(7, BASE) + sampled(8, BASE), 1, 'empty because no sample is in')
    test.fails('call stacks', calls, 1, 'empty because the branch stacks are call stacks')
    test.fails('no branch stacks', plain, 1, 'empty because no sample has a branch stack', '--format', 'profgen')
    broken = test.folder / 'broken/prog'
    broken.parent.mkdir()
    broken.write_bytes(program(code=(b'\x48\xb8' + bytes(8)) * 2 + bytes(7)))  # movabs
    inside = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=((0x2617, 0x261a, 2), (0x2615, 0x2612, 2)))
    test.fails('no code', inside, 1, 'empty because no branch starts or ends at an instruction', '--format', 'profgen', binary=broken)
    test.check('addresses', test.output(plain), 'no_lbr cpu-clock:\n1 work/1 2 3\n')
    test.check('addresses', test.output(plain, 'autofdo'), '0\n1\n2612:3\n0\n')
    test.check('addresses', test.output(plain, 'bolt-trace'), 'E cpu-clock\nS 2612 3\n')
    two = PLAIN % (0, 1) + PLAIN % (2, 2) + plain.split('\n', 1)[1] + \
        f'sample event=1 misc=2 ip={BASE + 0x2605:#x} pid=7 tid=7 time=3\n'
    test.check('the event with the most samples', test.output(two), 'no_lbr cpu-clock:\n1 work/1 2 3\n')


def check_drops(test):
    kinds = ATTR % (CALLS, 1, 'cycles') + ONE.split('\n', 1)[1]
    test.check('some kinds of branches have no ranges', test.output(kinds), ''.join(BOLT.splitlines(True)[:5]))
    wrong = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=(*STACK[:1], (0x2607, 0x2600, 2 | 1 << 24), *STACK[1:]))
    test.check('what was taken back', test.output(wrong), BOLT)
    target = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=((0x2615, 0x2610, 1), (0, 0x2610, 0)))
    test.check('only a target', test.output(target), 'B 2615 2610 1 1\nf 2610 2615 1\n')
    test.check('only a target', test.output(target, 'bolt-trace'), 'T 2615 2610 0 1\nf 2610 2615 1\n')
    backwards = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=((0x2600, 0x2610, 2), (0x2617, 0x261a, 2)))
    status, got, messages = test.pgo('--format', 'bolt', test.record(backwards))
    test.check('backwards', (status, got, '1 range dropped: the end is before the start' in messages),
               (0, 'B 2600 2610 1 0\nB 2617 261a 1 0\n', True))
    outside = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=((0x2600, 0x9000, 2), (0x9100, 0x2600, 2), (0x9200, 0x9300, 2)))
    test.check('outside', test.output(outside), 'B 2600 0 1 0\nB 0 2600 1 0\nf 2600 2600 1\n')
    jumps = HEAD + mapped(7, BASE) + sampled(7, BASE, stack=((0x2617, 0x261a, 2), (0x2607, 0x2600, 2)))
    status, got, messages = test.pgo('--format', 'profgen', test.record(jumps))
    test.check('over a return', (status, got, 'an unconditional jump lies between' in messages), (1, None, False))
    nameless = test.folder / 'nameless/prog'
    nameless.parent.mkdir()
    nameless.write_bytes(program().replace(struct.pack('<IIQQ', 3, 2, 8, 24), struct.pack('<IIQQ', 99, 2, 8, 24)))
    lines = [line.replace('F', 'f') for line in BOLT.splitlines()]
    test.check('symbols without names', sorted(test.output(ONE, binary=nameless).splitlines()), sorted(lines))
    test.fails('a limit', ONE, 1, 'max_traces', '--limit-traces', '2')


# in the order in which they ran
SINGLES = ((0, 0x2600), *((a, b) for a, b, _ in STACK[::-1]), (0x2609, 0x9000))
BTS = 'attr type=0 config=4 sample_period_or_freq=1 sample_type=IP|TID|TIME|ADDR ids=1 name="branches" sample_id_all=1\n'


def single(pid, base, time, branch):
    ip, addr = (base + x if x else 0 for x in branch)
    return f'sample misc=2 ip={ip:#x} addr={addr:#x} pid={pid} tid={pid} time={time}\n'


def check_singles(test):
    """Each branch is a sample: of Intel BTS, and of decoded traces. Threads take turns, and the trace begins without a source."""
    expected = BOLT.replace('B 2615', 'B 2609 0 1 0\nB 2615') \
        .replace('2615 2610 1 1', '2615 2610 1 0').replace('f 2610 2615 1\n', 'f 2600 2607 1\nf 2605 2609 1\nf 2610 2615 1\n')
    two = BTS + mapped(7, BASE) + mapped(8, BASE + 0x100000)
    for time, branch in enumerate(SINGLES, 2):
        two += single(7, BASE, time, branch) + single(8, BASE + 0x100000, time, branch)
    test.check('branches as samples', test.output(two), times(expected, 2))
    test.check('not an address', test.output(two, 'autofdo').splitlines()[7], '0')
    lost = BTS + mapped(7, BASE) + single(7, BASE, 2, SINGLES[1]) + single(7, BASE, 3, SINGLES[0]) + single(7, BASE, 4, SINGLES[3])
    test.check('no range over what is missing of a trace', test.output(lost), 'B 2607 2600 1 0\nB 2615 2610 1 0\nf 2600 2615 1\n')
    sampled_ones = two.replace('sample_period_or_freq=1 ', 'sample_period_or_freq=1000 ')
    test.fails('samples of an event of branches', sampled_ones, 1, 'no sample has a branch stack', '--format', 'profgen')
    trace = b''.join(struct.pack('<QQQ', *(BASE + x if x else 0 for x in branch), 16) for branch in SINGLES)
    bts = 'attr type=10 config=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 ids=11 name="intel_bts//"\nfeature AUXTRACE 0\n' + \
        'record AUXTRACE_INFO auxtrace_type=2 priv=10,0,1,0,1,0\n' + mapped(7, BASE).replace('\n', ' cpu=1\n') + \
        'record ITRACE_START pid=7 tid=7 | pid=7 tid=7 time=1 cpu=1\n' + \
        f'record AUX aux_offset=0 aux_size={len(trace)} flags=0 | pid=7 tid=7 time=2 cpu=1\n' + \
        f'record AUXTRACE data_size={len(trace)} offset=0 reference=2 idx=0 tid=7 cpu=1 reserved__=0 payload=hex:{trace.hex()}\n' + \
        'record EXIT pid=7 tid=7 ppid=1 ptid=1 time=9000 | pid=7 tid=7 time=9000 cpu=1\n'
    test.check('the trace of Intel BTS', test.output(bts, words=('--itrace=b',)), expected)
    calls = test.output(bts, words=('--itrace=r', '--symfs', test.folder / 'root'))
    test.check('ranges need all kinds of branches', calls, 'B 2609 0 1 0\nB 261a 2605 1 0\n')


def check_exec(test):
    """The program that ran before is not mapped where the new one has nothing."""
    new = f'record COMM misc=0x2000 pid=7 tid=7 comm="next" | pid=7 tid=7 time=3\n' + mapped(7, BASE + 0x100000, 3, '/opt/next')
    test.check('after an exec', test.output(ONE + new + sampled(7, BASE, 4)), BOLT)
    again = new.replace('/opt/next', '/opt/prog')
    test.check('after an exec of itself', test.output(ONE + again + sampled(7, BASE, 4) + sampled(7, BASE + 0x100000, 5)), times(BOLT, 2))
    forked = new + 'record FORK misc=2 pid=8 ppid=7 tid=8 ptid=7 time=4 | pid=8 tid=8 time=4\n' + sampled(8, BASE, 5)
    test.check('a fork after an exec', test.output(ONE + forked), BOLT)
    before = ONE + new + sampled(7, BASE, 2)
    test.check('a sample before the exec', test.output(before), times(BOLT, 2))


def check_damage(test):
    many = HEAD + mapped(7, BASE) + ''.join(sampled(7, BASE, time) for time in range(2, 12))
    entire = test.record(many, '--pipe').stat().st_size
    status, got, messages = test.pgo('--format', 'bolt', test.record(many, '--pipe', '--cut', str(entire - 400)))
    counts = [int(line.split()[3]) for line in (got or '').splitlines()]
    test.check('a cut recording', (status, bool(counts) and 0 < max(counts) < 10, 'damaged' in messages), (1, True, True))


def check_views(test):
    def rows(view):
        command = [*test.perfile, 'table', view, '--format', 'csv', '--symfs', test.folder / 'root', test.record(ONE)]
        return subprocess.run(command, env=test.environment, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    test.check('view branches', rows('branches')[1], '/opt/prog,9728,9744,1,0,')
    test.check('view ranges', rows('ranges')[1:], ['/opt/prog,9728,9728,1', '/opt/prog,9744,9749,1', '/opt/prog,9744,9751,1',
                                                   '/opt/prog,9754,9754,1'])


def check_kernel(test):
    """The kernel was moved; its mapping has the address at which the symbol _text came to lie."""
    vmlinux = test.folder / 'vmlinux'
    vmlinux.write_bytes(program('').replace(b'main', b'_text'[:4]).replace(b'\0_tex\0work', b'\0_text\0wor'))
    moved = 0xffffffff9a000000
    kernel = ATTR % (ANY, 1, 'cycles') + f'record MMAP misc=1 pid=-1 tid=0 addr={moved:#x} len=0x1000000 pgoff={moved:#x} ' \
        'filename="[kernel.kallsyms]_text" | pid=-1 tid=0 time=0\n' + mapped(7, BASE) + sampled(7, BASE) + \
        sampled(7, moved - ADDRESS).replace('misc=2', 'misc=1')
    test.check('the kernel', test.pgo('-q', '--format', 'bolt', '--kernel', test.record(kernel), binary=vmlinux)[:2], (0, BOLT))
    test.check('without it', test.output(kernel), BOLT)


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as name:
        test = Test(*sys.argv[1:], pathlib.Path(name))
        for check in check_formats, check_processes, check_builds, check_nothing, check_drops, check_singles, check_exec, check_damage, check_views, check_kernel:
            check(test)
    sys.exit(f'{test.bad} differ' if test.bad else None)


if __name__ == '__main__':
    main()
