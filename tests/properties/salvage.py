#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""salvage.py PERFILE [--library SALVAGES] [--cuts N] [--records N] [--sizes N] RECORDINGS...

Damaged recordings give what is undamaged.

Each recording is killed (data.size 0, no features), cut off at N places, and N of its records state N wrong sizes, one
at a time. `perfile script` must show every sample that is all, by its thread and time, say on stderr what is lost,
and end with 1; what is repaired, copies and a merge of the damaged one are valid and show the same samples. Which
samples there are is found by a walker of its own; those inside compressed records by `perfile dump` of the valid
recording. Positions and records are chosen by a fixed seed.

With --library a program that stays (salvages.c) is asked instead of the command, most of whose time it takes to start.
"""
import argparse, collections, concurrent.futures, functools, json, os, pathlib, random, re, shutil, struct, subprocess
import sys, tempfile, threading

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

IDENTIFIER, IP, TID, TIME = 1 << 16, 1, 2, 4
SAMPLE, HEADER_ATTR, TRACING_DATA, ID_INDEX, AUXTRACE_INFO, AUXTRACE, HEADER_FEATURE = 9, 64, 66, 69, 70, 71, 80
COMPRESSED, COMPRESSED2 = 81, 83
NASTY = [lambda size, next_size: 0, lambda size, next_size: 65535, lambda size, next_size: size + next_size,
         lambda size, next_size: size - 8, lambda size, next_size: size + 8, lambda size, next_size: 7,
         lambda size, next_size: 8, lambda size, next_size: 2 * size, lambda size, next_size: size ^ 0x4000,
         lambda size, next_size: size + 4]
# records whose content fits many sizes: when they swallow others that hold no samples, nothing contradicts it
OPAQUE = (ID_INDEX, AUXTRACE_INFO, HEADER_FEATURE, COMPRESSED, COMPRESSED2)
TIMEOUT_SECONDS = 60

Record = collections.namedtuple('Record', 'offset type size key')


# ---- the walker: little-endian, valid recordings ---------------------------------------------------------------------

def sample_key(data, at, sample_type):
    """Thread and time of a sample."""
    at += 8 + 8 * bool(sample_type & IDENTIFIER) + 8 * bool(sample_type & IP)
    tid, time = struct.unpack_from('<xxxxiQ', data, at)
    return tid, time


def walk(data, start, end, sample_type):
    records, at = [], start
    while at + 8 <= end:
        kind, _, size = struct.unpack_from('<IHH', data, at)
        if kind == HEADER_ATTR and sample_type is None:
            sample_type, = struct.unpack_from('<Q', data, at + 8 + 24)
        payload = struct.unpack_from('<I', data, at + 8)[0] if kind in (TRACING_DATA, AUXTRACE) else 0
        key = sample_key(data, at, sample_type) if kind == SAMPLE else None
        records.append(Record(at, kind, size + payload, key))
        at += size + payload
    return records


def attr_sample_type(data):
    attrs, = struct.unpack_from('<Q', data, 24)
    return struct.unpack_from('<Q', data, attrs + 24)[0]


def records_of(path):
    """The records of a file, or of the parts of a directory: {file name or '': (records, end of the records)}."""
    if path.is_dir():
        sample_type = attr_sample_type((path / 'data').read_bytes())
        parts = {part.name: part.read_bytes() for part in sorted(path.glob('data.*'))}
        return {name: (walk(data, 0, len(data), sample_type), len(data)) for name, data in parts.items()}
    data = path.read_bytes()
    if struct.unpack_from('<Q', data, 8)[0] == 16:
        return {'': (walk(data, 16, len(data), None), len(data))}
    start, size = struct.unpack_from('<QQ', data, 40)
    return {'': (walk(data, start, start + size, attr_sample_type(data)), start + size)}


# ---- perfile ---------------------------------------------------------------------------------------------------------

COPIES = {'repair': ['repair'], 'convert file': ['convert', '--mode', 'file'],
          'convert directory': ['convert', '--mode', 'directory'], 'merge': ['merge']}


class Command:
    """The command itself, started for each question. Answers are exit status, stdout and stderr."""

    def __init__(self, perfile):
        self.perfile = perfile

    def close(self):
        return []

    def run(self, *words):
        try:
            done = served.run([*self.perfile, *map(str, words)], text=True, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return 'no end in time', '', ''
        return done.returncode, done.stdout, done.stderr

    def script(self, path):
        return self.run('script', '--ns', '-F', 'tid,time', path)

    def copy(self, how, path, target):
        return self.run(*COPIES[how], '--quiet', '--no-sync', '-o', target, path)


class Library:
    """The same questions to salvages.c, of which each thread has one."""

    def __init__(self, program):
        self.program, self.own, self.started = program, threading.local(), []

    def close(self):
        """What is wrong with the ends of those that were not seen to end: sanitizers may have found leaks."""
        for process in self.started:
            process.stdin.close()
        return [f'salvages ended with {process.returncode}' for process in self.started if process.wait(TIMEOUT_SECONDS)]

    def ask(self, *words):
        if not getattr(self.own, 'process', None):
            self.own.process = subprocess.Popen(self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.started.append(self.own.process)
        process = self.own.process
        process.stdin.write('\t'.join(map(str, words)).encode() + b'\n')
        process.stdin.flush()
        head = process.stdout.readline().split()
        if not head:
            self.own.process = None
            self.started.remove(process)
            process.stdin.close()
            return f'salvages ended with {process.wait()}', '', ''
        status, *sizes = map(int, head)
        reply, printed = (process.stdout.read(size).decode() for size in sizes)
        return status, printed, reply

    def script(self, path):
        return self.ask('script', path)

    def copy(self, how, path, target):
        return self.ask(how, path, target)


@functools.lru_cache(maxsize=8)  # copies mostly have the same text
def keys_of(text):
    """How often each key is shown."""
    shown = re.findall(r'^ *(-?\d+) +(\d+)\.(\d{9}):', text, re.M)
    return collections.Counter((int(tid), int(seconds) * 10**9 + int(rest)) for tid, seconds, rest in shown)


# what is done to which file ('' or one of a directory), the keys of what is complete after it, is something lost?
Damage = collections.namedtuple('Damage', 'what name change expected loss')


class Salvage:
    def __init__(self, perfile, tool, path):
        self.perfile, self.tool, self.path = perfile, tool, path
        self.files = records_of(path)
        self.faults = []
        status, self.entire, errors = self.script(path)
        expected = {record.key for records, _ in self.files.values() for record in records if record.key}
        if status != 0 or errors or not expected <= set(self.entire) or not self.entire:
            self.faults.append(f'itself: status {status}, {len(self.entire)} samples: {errors}')
        self.is_pipe = path.is_file() and path.read_bytes()[8] == 16
        self.inflated = self.read_inflated()

    def script(self, path):
        """Exit status, the keys shown, stderr."""
        status, text, errors = self.tool.script(path)
        return status, keys_of(text), re.sub(r'^.*: AUX data.*, not decoded\n', '', errors, flags=re.M)

    def read_inflated(self):
        """The keys of the samples in each compressed record, by its offset."""
        inflated = collections.defaultdict(set)
        if any(record.type in (COMPRESSED, COMPRESSED2) for records, _ in self.files.values() for record in records):
            text = subprocess.run([*self.perfile, 'dump', '--format', 'json', str(self.path)], capture_output=True,
                                  text=True, check=True).stdout
            for record in map(json.loads, text.splitlines()):
                if record.get('type') == 'SAMPLE' and 'container' in record:
                    inflated[record['container']].add((record['tid'], record['time']))
        return inflated

    def check(self, damage):
        """What is wrong with one damaged recording and its copies; '' when nothing is."""
        with tempfile.TemporaryDirectory(prefix='perfile-salvage-', dir=hermetic.in_memory()) as folder:
            copy = self.make(damage, pathlib.Path(folder) / self.path.name)
            status, shown, errors = self.script(copy)
            missing = damage.expected - set(shown)
            faults = [f'{len(missing)} of {len(damage.expected)} samples are missing'] * bool(missing)
            if damage.loss and (status != 1 or not re.search('damaged( in|:)', errors)):
                faults.append(f'status {status}, stderr {errors[-200:]!r}')
            if status not in (0, 1):
                faults.append(f'status {status}')
            faults += [fault for how in COPIES for fault in self.copy(how, copy, shown)]
        return f'{damage.what}: {"; ".join(faults)}' if faults else ''

    def make(self, damage, copy):
        """A copy with that damage."""
        if self.path.is_dir():
            shutil.copytree(self.path, copy)
        else:
            shutil.copyfile(self.path, copy)
        file = copy / damage.name if damage.name else copy
        data = bytearray(file.read_bytes())
        damage.change(data)
        file.write_bytes(data)
        return copy

    def copy(self, how, damaged, shown):
        """What is wrong with a copy of a damaged recording that shows these samples."""
        target = damaged.parent / f'copy-{how}'
        status, _, errors = self.tool.copy(how, damaged, target)
        if status not in (0, 1):
            return [f'{how}: status {status}, {errors}']
        status, copied, errors = self.script(target)
        faults = [f'{how}: {len(shown - copied)} samples lost, {len(copied - shown)} new'] * (copied != shown)
        return faults + [f'{how}: status {status} of the copy, {errors}'] * (status != 0)

    def keys(self, keep, name):
        """The keys of the samples that `keep` says are complete in the file `name`, and of all in other files."""
        keys = set()
        for file, (records, _) in self.files.items():
            stream = True
            for record in records:
                kept = file != name or keep(record)
                stream &= kept or record.type not in (COMPRESSED, COMPRESSED2) # after a gap nothing can be inflated
                keys |= {record.key} if record.key and kept else set()
                keys |= self.inflated[record.offset] if kept and stream else set()
        return keys

    def kill(self):
        if not self.path.is_dir() and not self.is_pipe:
            def change(data):
                del data[self.files[''][1]:]
                data[48:56] = bytes(8)
                data[72:104] = bytes(32)
            yield Damage('killed', '', change, set(self.entire), True)

    def cut(self, count, chance):
        for name, (records, end) in self.files.items():
            bounds = {record.offset for record in records} | {end}
            for _ in range(count):
                at = chance.randrange(records[0].offset, end)
                keep = self.keys(lambda record: record.offset + record.size <= at, name)
                def change(data, at=at):
                    del data[at:]
                entire_stream = at in bounds and (name or self.is_pipe)
                yield Damage(f'cut {name} at {at}', name, change, keep, not entire_stream)

    def sizes(self, records_count, sizes_count, chance):
        for name, (records, _) in self.files.items():
            victims = [i for i, record in enumerate(records[:-1]) if record.type not in (HEADER_ATTR, TRACING_DATA)]
            for i in sorted(chance.sample(victims, min(records_count, len(victims)))):
                victim = records[i]
                keep = self.keys(lambda record: record.offset != victim.offset, name)
                for nasty in chance.sample(NASTY, sizes_count):
                    size = nasty(victim.size, records[i + 1].size) & 0xffff
                    def change(data, victim=victim, size=size):
                        struct.pack_into('<H', data, victim.offset + 6, size)
                    what = f'record {i} (type {victim.type}) at {victim.offset:#x} of {victim.size} bytes states {size}'
                    hidden = victim.type in OPAQUE or size - victim.size == records[i + 1].size == 8
                    if size != victim.size:
                        yield Damage(what, name, change, keep, not hidden)


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perfile')
    parser.add_argument('recordings', nargs='+', type=pathlib.Path)
    parser.add_argument('--library', metavar='SALVAGES')
    parser.add_argument('--cuts', type=int, default=6)
    parser.add_argument('--records', type=int, default=4)
    parser.add_argument('--sizes', type=int, default=3)
    options = parser.parse_args()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile = [*wrapper, options.perfile]
    tool = Library([*wrapper, options.library]) if options.library else Command(perfile)
    wrong, runs = [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in options.recordings:
            chance = random.Random(path.name)
            salvage = Salvage(perfile, tool, path)
            damages = [*salvage.kill(), *salvage.cut(options.cuts, chance),
                       *salvage.sizes(options.records, options.sizes, chance)]
            faults = salvage.faults + [fault for fault in pool.map(salvage.check, damages) if fault]
            wrong += [f'{path.name}, {fault}' for fault in faults]
            runs += len(damages)
    wrong += tool.close()
    for fault in wrong:
        print(fault)
    print(f'{runs - len(wrong)} of {runs} damaged recordings of {len(options.recordings)} gave all that was whole')
    sys.exit(bool(wrong))


main()
