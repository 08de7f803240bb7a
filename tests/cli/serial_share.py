#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report --latency shows the share of time in which a program with a known one runs serially: serial_share.py PERFILE ASSEMBLE

The program is simulated: it computes alone, then with several threads on some processors, which the kernel changes every 5 ms, and
so on, and is sampled at times that are independent of it."""
import csv, io, os, pathlib, random, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

NS_PER_MS, PERIOD, SLICE, ROUNDS, PID = 1000000, 1000000, 5, 40, 100
SERIAL, PARALLEL = 0x1000, 0x101000
# how many threads, on how many processors, and the ms of a round alone and with all threads
PROGRAMS = ((2, 2, 10, 90), (4, 4, 40, 60), (4, 2, 75, 25), (8, 4, 25, 75), (3, 4, 50, 50))
HEAD = '''attr type=1 config=0 sample_type=IP|TID|TIME|CPU|PERIOD sample_id_all=1 context_switch=1 ids=1 name="cpu-clock"
feature NRCPUS u32:{cpus},u32:{cpus}
'''


class Program:
    """Its records and samples, in the order of time."""

    def __init__(self, threads, cpus, seed):
        self.threads, self.cpus, self.random = threads, cpus, random.Random(seed)
        self.lines, self.time, self.running = [], NS_PER_MS, {}
        for name, start in ('serial', SERIAL), ('parallel', PARALLEL):
            self.lines.append(f'record MMAP misc=2 pid={PID} tid={PID} addr={start:#x} len=0x1000 pgoff=0 filename="/app/{name}" '
                              f'| pid={PID} tid={PID} time=1 cpu=0')
        self.next_sample = [self.random.randrange(PERIOD) for _ in range(cpus)]

    def switch(self, tid, cpu, out):
        self.lines.append(f'record SWITCH misc={0x2000 if out else 0:#x} | pid={PID} tid={tid} time={self.time} cpu={cpu}')

    def run(self, tids, ms, address):
        """These threads run for so long, one on each processor."""
        wanted = dict(enumerate(tids))
        for cpu, tid in list(self.running.items()):
            if wanted.get(cpu) != tid:
                self.switch(tid, cpu, True)
        for cpu, tid in wanted.items():
            if self.running and self.running.get(cpu) != tid:
                self.switch(tid, cpu, False)
        self.running = wanted
        end, due = self.time + ms * NS_PER_MS, []
        for cpu in wanted: # each processor has its own clock, which runs while a thread does
            at = self.time + self.next_sample[cpu]
            while at < end:
                due.append((at, cpu))
                at += PERIOD + self.random.randrange(-PERIOD // 10, PERIOD // 10)
            self.next_sample[cpu] = at - end
        for at, cpu in sorted(due):
            self.lines.append(f'sample misc=2 ip={address + 16:#x} pid={PID} tid={wanted[cpu]} time={at} cpu={cpu} period={PERIOD}')
        self.time = end

    def round(self, serial_ms, parallel_ms):
        """All threads compute for equally long, in slices, when there are fewer processors."""
        self.run([PID], serial_ms, SERIAL)
        for turn in range(0, parallel_ms, SLICE):
            first = turn // SLICE * self.cpus
            count = min(self.threads, self.cpus)
            self.run([PID + (first + i) % self.threads for i in range(count)], SLICE, PARALLEL)


def share(perfile, assemble, folder, program):
    path = folder / 'x.data'
    text = HEAD.format(cpus=program.cpus) + '\n'.join(program.lines) + '\n'
    path.write_bytes(subprocess.run([assemble], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout)
    out = subprocess.run([perfile, 'report', '--format', 'csv', '--latency', '--sort', 'dso', str(path)], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=True, timeout=60).stdout
    return {row['dso']: float(row['latency']) for row in csv.DictReader(io.StringIO(out))}['/app/serial']


def main():
    hermetic.settle()
    with tempfile.TemporaryDirectory() as folder:
        for threads, cpus, serial_ms, parallel_ms in PROGRAMS:
            program = Program(threads, cpus, threads * 100 + cpus)
            for _ in range(ROUNDS):
                program.round(serial_ms, parallel_ms)
            wanted = 100 * serial_ms / (serial_ms + parallel_ms)
            found = share(os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(folder), program)
            assert abs(found - wanted) <= 2, (threads, cpus, found, wanted)


main()
