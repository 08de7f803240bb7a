#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""aux_record.py PERFILE SHIM DATA: hardware traces as they are recorded, of a machine that SHIM plays (see there).

No hardware is involved: the bytes are those of recordings in DATA, and what is recorded must decode to the same.
"""
import pathlib, re, signal, struct, subprocess, sys, time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE, SHIM, DATA = hermetic.runnable(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
PAUSE, COMM, EXIT, MMAP2, AUX, ITRACE_START, AUXTRACE = 0, 3, 4, 10, 11, 12, 71
PMUS = {
    'intel_pt': {'type': '8', 'format/tsc': 'config:10', 'format/noretcomp': 'config:11', 'format/mtc': 'config:9',
                 'format/mtc_period': 'config:14-17', 'format/psb_period': 'config:24-27', 'format/cyc': 'config:1',
                 'format/pt': 'config:0', 'format/branch': 'config:13', 'caps/mtc': '1', 'caps/mtc_periods': '249',
                 'caps/psb_periods': '3f', 'max_nonturbo_ratio': '29', 'tsc_art_ratio': '100:2'},
    'intel_bts': {'type': '9'},
    'arm_spe_0': {'type': '10', 'cpumask': '0-3', 'format/ts_enable': 'config:0', 'format/pa_enable': 'config:1',
                  'format/jitter': 'config:16', 'caps/min_interval': '256'},
    'cs_etm': {'type': '11', 'format/sinkid': 'config2:0-31', 'format/timestamp': 'config:28', 'format/contextid': 'config:14',
               'format/cycacc': 'config:12', 'sinks/tmc_etr0': '0x1234abcd',
               **{f'cpu0/{name}': value for name, value in (('trcidr/trcidr0', '28000ea1'), ('trcidr/trcidr1', '4100f403'),
                  ('trcidr/trcidr2', '488'), ('trcidr/trcidr8', '0'), ('mgmt/trcauthstatus', 'cc'))}},
    'cpu': {'type': '4', 'format/event': 'config:0-7'},
}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **more)


def expect(condition, what, detail=''):
    if not condition:
        sys.exit(f'wrong: {what}: {detail}')


# ---- what is played ----

def records_of(path):
    """The records of a recording with one sample_type: type, misc, body, and the AUX data that follows."""
    data = path.read_bytes()
    at, size = struct.unpack_from('<QQ', data, 40)
    end = at + size
    while at < end:
        kind, misc, length = struct.unpack_from('<IHH', data, at)
        body, at = data[at + 8:at + length], at + length
        payload = b''
        if kind == AUXTRACE:
            length = struct.unpack_from('<Q', body)[0]
            payload, at = data[at:at + length], at + length
        yield kind, misc, body, payload


def part(kind, body, misc=0, flags=0, pid=1000, tid=1000, moment=0):
    return struct.pack('<IIIIIIQ', kind, len(body), pid, tid, misc, flags, moment) + body


def play_of(path, pieces=1, copies=1):
    """What the kernel wrote when the recording was made; the AUX data in so many pieces."""
    trailer = 32 # pid and tid, time, cpu, identifier
    before = after = b''
    trace, size = b'', 0
    for kind, misc, body, payload in records_of(path):
        trace += payload
        if kind == AUX:
            size += struct.unpack_from('<Q', body, 8)[0]
        if kind in (COMM, MMAP2, EXIT, ITRACE_START):
            pid, tid, moment = struct.unpack_from('<IIQ', body, len(body) - trailer)
            made = part(kind, body[:-trailer], misc, pid=pid, tid=tid, moment=moment)
            before, after = (before, after + made) if kind == EXIT else (before + made, after)
    trace = trace[:size] * copies
    step = -(-len(trace) // pieces)
    played = [part(AUX, trace[at:at + step], moment=2000000 + at) for at in range(0, len(trace), step)]
    return before, played, after, trace


class Machine:
    def __init__(self, folder):
        self.folder, self.sys, self.log = folder, folder / 'devices', folder / 'log'
        self.shim = SHIM
        for pmu, files in PMUS.items():
            for name, text in files.items():
                path = self.sys / pmu / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + '\n')

    def environment(self, play, **more):
        (self.folder / 'play').write_bytes(play)
        self.log.write_text('')
        return hermetic.environment(**hermetic.preloaded(self.shim), AUX_SYS=str(self.sys), AUX_PLAY=str(self.folder / 'play'),
                                    AUX_LOG=str(self.log), **more)

    def command(self, *options):
        return [str(word) for word in (PERFILE, 'record', '-o', self.folder / 'made.data', '--synth', 'no', '-B', '-a', '-C', '0', *options)]

    def record(self, play, *options, status=0, **more):
        done = run(*self.command(*options), env=self.environment(play, **more))
        expect(done.returncode == status, f'recording {options}', done.stderr)
        return done.stderr


def aux_of(recording):
    return b''.join(payload for kind, _, _, payload in records_of(recording) if kind == AUXTRACE)


def packets(recording):
    text = run(PERFILE, 'dump', '--aux', '-q', recording).stdout
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if re.match(r'\W*[0-9a-f]{8}:', line)]


def samples(recording, fields='ip,addr,time,flags,event'):
    text = run(PERFILE, 'script', '-q', '--itrace=ibe', '-F', fields, '--symfs', DATA / 'intel-pt', recording).stdout
    return [line.split() for line in text.splitlines()]


# ---- tests ----

def test_kinds(machine):
    """What was recorded is what was played, and decodes to the same."""
    for pmu, name in ('intel_pt', 'intel-pt'), ('intel_bts', 'intel-bts'), ('arm_spe', 'arm-spe'):
        source, made = DATA / f'{name}.perf.data', machine.folder / 'made.data'
        before, played, after, trace = play_of(source)
        reply = machine.record(before + b''.join(played) + after, '-e', f'{pmu}//u')
        checked = run(PERFILE, 'check', made)
        expect(checked.returncode == 0, f'{pmu}: the recording', checked)
        expect(aux_of(made)[:len(trace)] == trace, f'{pmu}: AUX data', aux_of(made).hex())
        expect(packets(made) == packets(source) and packets(made), f'{pmu}: packets', packets(made)[:5])
        fields = 'ip,addr,flags,event' if pmu == 'intel_bts' else 'ip,addr,time,flags,event' # its times are those of the copies
        expect(samples(made, fields) == samples(source, fields) and samples(made), f'{pmu}: samples', samples(made)[:5])
        expect(f'{len(trace)} bytes of AUX data' in reply, f'{pmu}: what is reported', reply)


def test_modes(machine):
    """AUX data passes by compression, and by the stage that unwinds."""
    source, made = DATA / 'intel-pt.perf.data', machine.folder / 'made.data'
    before, played, after, trace = play_of(source)
    play = before + b''.join(played) + after
    with open(machine.folder / 'stream', 'wb') as stream:
        command = ['-' if word == str(made) else word for word in machine.command('-e', 'intel_pt//u')]
        subprocess.run(command, env=machine.environment(play), stdout=stream, stderr=subprocess.DEVNULL, timeout=60)
    for options in (['-z'], ['-z', '-e', 'cpu-clock:u', '--call-graph', 'auto'], ['-e', 'cpu-clock:u', '--call-graph', 'auto'], None):
        if options:
            machine.record(play, '-e', 'intel_pt//u', *options)
        recording = made if options else machine.folder / 'stream'
        expect(run(PERFILE, 'check', recording).returncode == 0 and packets(recording) == packets(source) and
               samples(recording) == samples(source), options, samples(recording)[:5])


def test_pieces(machine):
    """An area that is smaller than the trace is read again and again, beyond its end."""
    source, made = DATA / 'intel-pt.perf.data', machine.folder / 'made.data'
    before, played, after, trace = play_of(source, pieces=90, copies=300)
    machine.record(before + b''.join(played) + after, '-e', 'intel_pt//u', '-m', ',1')
    got = [(struct.unpack_from('<QQ', body), payload) for kind, _, body, payload in records_of(made) if kind == AUXTRACE]
    expect('area 4096 kept' in machine.log.read_text(), 'the size of the area', machine.log.read_text())
    expect(len(got) > 80 and all(size == len(payload) and size % 8 == 0 for (size, _), payload in got), 'pieces', len(got))
    found = bytearray(len(trace) + 8)
    for (_, offset), payload in got:
        found[offset:offset + len(payload)] = payload
    expect(found[:len(trace)] == trace, 'the pieces together')


def test_lost(machine):
    """The kernel loses what does not fit: it is counted and reported."""
    before, _, after, _ = play_of(DATA / 'intel-pt.perf.data')
    gap = part(AUX, bytes(64), flags=4) + part(AUX, bytes(64), flags=8) + part(AUX, bytes(5000))
    reply = machine.record(before + gap + after, '-e', 'intel_pt//u', '-m', ',1')
    expect('AUX data with gaps 3 times' in reply, 'losses', reply)
    reply = machine.record(before + part(AUX, bytes(64)) + after, '-e', 'intel_pt//u', AUX_LIMIT='16384')
    expect('area 16384 kept' in machine.log.read_text(), 'what may be locked', machine.log.read_text())
    reply = machine.record(before + after, '-e', 'intel_pt//u', '-m', ',1M', status=3, AUX_LIMIT='16384')
    expect('mlock' in reply, 'more than may be locked', reply)


def test_snapshots(machine):
    """SIGUSR2 writes what the area holds, oldest first; so does the end with e."""
    before, _, after, _ = play_of(DATA / 'intel-pt.perf.data')
    blocks = [bytes([65 + i]) * 1024 for i in range(10)]
    start = b''.join(part(AUX, block) for block in blocks[:6])
    rest = b''.join(part(AUX, block) for block in blocks[6:]) # a round of the area: the kernel is where it was
    play = before + start + part(PAUSE, b'') + rest + after
    for how, expected in ('4096', [b''.join(blocks[2:6])]), ('e4096', [b''.join(blocks[2:6]), b''.join(blocks[6:])]):
        command = machine.command('-e', 'intel_pt//u', f'--snapshot={how}')
        with subprocess.Popen(command, env=machine.environment(play), stderr=subprocess.PIPE, text=True) as recorder:
            expect(hermetic.wait_until(lambda: 'paused' in machine.log.read_text()), f'snapshots {how}: what comes before is played')
            recorder.send_signal(signal.SIGUSR2)
            reply = recorder.communicate(timeout=60)[1]
        got = [payload for kind, _, _, payload in records_of(machine.folder / 'made.data') if kind == AUXTRACE]
        expect(got == expected, f'snapshots {how}', ([bytes(one[::512]) for one in got], reply))
        expect('area 4096 overwritten' in machine.log.read_text(), f'{how}: the area', machine.log.read_text())


def test_samples(machine):
    """--aux-sample: other events of the group ask for it, and the area itself is not recorded."""
    before, played, after, _ = play_of(DATA / 'intel-pt.perf.data')
    machine.record(before + b''.join(played) + after, '-e', '{intel_pt//u,cpu/event=1/u}', '--aux-sample=8K', '-c', '1000')
    attrs = run(PERFILE, 'evlist', '-v', machine.folder / 'made.data').stdout
    expect(re.search(r'cpu/event=1/u: .*sample_type: \S*\bAUX\b.*aux_sample_size: 8192', attrs), 'the attr', attrs)
    expect(not aux_of(machine.folder / 'made.data'), 'AUX data beside samples')
    reply = machine.record(before + after, '-e', 'intel_pt//u,cpu/event=1/u', '--aux-sample', status=2)
    expect('need a leader' in reply, 'no group', reply)


def test_events(machine):
    """Terms, sinks, filters and periods; what does not go together."""
    before, _, after, _ = play_of(DATA / 'intel-pt.perf.data')
    cases = [
        (['-e', 'intel_pt//u'], r'^open type=8 config=0x300e601 .* period=1 '),
        (['-e', 'intel_pt/mtc=0,psb_period=0,cyc/u'], r'^open type=8 config=0xe403 '),
        (['-e', 'arm_spe//', '-c', '10000'], r'^open type=10 config=0x10001 .* period=10000 '),
        (['-e', 'arm_spe_0//'], r'^open type=10 .* period=256 '),
        (['-e', 'cs_etm/@tmc_etr0/u'], r'^open type=11 config=0x10004000 config2=0x1234abcd '),
        (['-e', 'intel_pt//u', '--filter', 'filter 0x1200/0x80@/bin/prog'], r'^filter filter 0x1200/0x80@/bin/prog$'),
    ]
    program = DATA / 'intel-pt' / 'synthetic' / 'prog'
    cases.append((['-e', 'intel_pt//u', '--filter', f'filter func @ {program}, start loop@{program}, filter 0x40 / 0x20'],
                  rf'^filter filter 0x1013/0x9@{program.resolve()},start 0x1005@{program.resolve()},filter 0x40/0x20$'))
    cases.append((['-e', 'intel_pt//u', '--filter', 'filter 0x1200/0x80@/bin/prog', '--filter', 'tracestop 0x40'],
                  r'^filter filter 0x1200/0x80@/bin/prog,tracestop 0x40$'))
    for options, expected in cases:
        machine.record(before + after, *options)
        expect(re.search(expected, machine.log.read_text(), re.M), options, machine.log.read_text())
    for options, expected in ((['-e', 'intel_pt//u,intel_bts//u'], 'one kind only'), (['-e', 'cs_etm/@nowhere/u'], 'no sink nowhere'),
                              (['-e', 'intel_pt//u', '--overwrite'], 'snapshots of them'),
                              (['-e', 'intel_pt//u', '--filter', f'filter nothing@{program}'], 'there is no function nothing'),
                              (['-e', 'intel_pt//u', '--filter', 'filter @'], 'where START is'),
                              (['-e', 'intel_pt//u', '--filter', 'start schedule'], 'functions of the kernel'),
                              (['-e', 'cpu-clock:u', '--snapshot'], 'need an event that writes a hardware trace')):
        reply = machine.record(before + after, *options, status=2)
        expect(expected in reply, options, reply)


def test_info(machine):
    """What decoders need of the PMU."""
    before, _, after, _ = play_of(DATA / 'intel-pt.perf.data')
    expected = {'intel_pt//u': '0x8 0x0 0x1 0x0 0x1 0x400 0x800 0x3 0x0 0x1 0x200 0x3c000 0x64 0x2 0x2 0x1d 0x0 0x0',
                'intel_bts//u': '0x9 0x0 0x1 0x0 0x1 0x0',
                'arm_spe//': r'0x2 0x4 0xa 0x1 0x1010101010101010 0x0 0x4 0x\w+ 0xa 0x100 0x0',
                'cs_etm//u': '0x1 0xb00000001 0x0 0x4040404040404040 0x0 0x8 0x840 0x80000010 0x28000ea1 0x4100f403 0x488 0x0 0xcc '
                             '0xffffffffffffffff'}
    for event, words in expected.items():
        machine.record(before + after, '-e', event)
        text = run(PERFILE, 'dump', '-q', machine.folder / 'made.data').stdout
        expect(re.search(rf'AUXTRACE_INFO .*priv=\[{words}\]', text), event, re.findall('AUXTRACE_INFO.*', text))


def test_killed(machine):
    """Each buffer that is complete can be read after a SIGKILL."""
    before, played, after, trace = play_of(DATA / 'intel-pt.perf.data', pieces=900, copies=2400)
    made, repaired = machine.folder / 'made.data', machine.folder / 'repaired.data'
    for parts in 3, 17, 40:
        made.unlink(missing_ok=True)
        environment = machine.environment(before + b''.join(played) + after, AUX_SLOW='5000')
        with subprocess.Popen(machine.command('-e', 'intel_pt//u'), env=environment, stderr=subprocess.DEVNULL) as recorder:
            end = time.monotonic() + hermetic.PATIENCE_SECONDS
            while time.monotonic() < end and (not made.exists() or made.read_bytes().count(trace[:32]) < 3 * parts + 4):
                time.sleep(0.001)
            recorder.kill()
        run(PERFILE, 'repair', '-q', '-o', repaired, made)
        found = aux_of(repaired)
        expect(parts <= len(found) // 176 < 900 and trace.startswith(found) and packets(made), f'killed after {parts} parts', len(found))


def main():
    hermetic.settle()
    with hermetic.plain_folder() as name:
        machine = Machine(pathlib.Path(name))
        for test in test_kinds, test_modes, test_pieces, test_lost, test_snapshots, test_samples, test_events, test_info, test_killed:
            test(machine)
    print('hardware traces are recorded as they are played')


if __name__ == '__main__':
    main()
