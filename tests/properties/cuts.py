#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is cut out of a recording reads as it did in it: the lines of `script` about the samples that are kept are those
of the original under the same filter, symbols and names of threads included; the lines of the parts of a split are those
of the original, each once.

    cuts.py PERFILE RECORDING...        --corpus instead of recordings: a selection of the corpus
"""
import argparse
import collections
import glob
import os
import re
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import hermetic
import served

RECORDINGS = 50  # of the corpus, unless all are asked for
SPLITS = ["pid", "tid", "cpu", "event", "comm", "time", "size"]
WRAPPER = os.environ.get("MESON_EXE_WRAPPER", "").split()


def lines_of(perfile, path, *filters):
    """The samples of a recording as blocks of text, in order; None when script refuses."""
    run = served.run([*WRAPPER, perfile, "script", "--ns", *filters, path])
    if run.returncode > 1:
        return None
    blocks, block = [], []
    for line in run.stdout.split(b"\n"):
        if block and not line.startswith((b"\t", b" " * 16)):
            blocks.append(b"\n".join(block))
            block = []
        if line:
            block.append(line)
    return blocks + ([b"\n".join(block)] if block else [])


def has_counters(perfile, path):
    """Weights are then made from one sample to the next, and a cut has another first one: parts.c looks at these."""
    dump = served.run([*WRAPPER, perfile, "dump", "--format", "json", path]).stdout
    return any(int(t) & 16 for t in re.findall(rb'"sample_type":(\d+)', dump.split(b'"record"', 1)[0]))


def one_of(perfile, path, fields, which):
    """What the most frequent sample says."""
    run = served.run([*WRAPPER, perfile, "script", "-F", fields, path])
    words = collections.Counter(line.strip() for line in run.stdout.split(b"\n")
                                if line and not line.startswith(b"\t")).most_common()
    return os.fsdecode(words[min(which, len(words) - 1)][0]) if run.returncode < 2 and words else None


def filters_for(perfile, path):
    times = served.run([*WRAPPER, perfile, "script", "--ns", "-F", "time", path]).stdout.split()
    times = sorted(float(t.rstrip(b":")) for t in times if t.rstrip(b":").replace(b".", b"").isdigit())
    if times and times[0] < times[-1]:
        third = (times[-1] - times[0]) / 3
        yield "--time", "%.9f,%.9f" % (times[0] + third, times[0] + 2 * third)
        yield "--time", "%.9f," % (times[0] + third)
        yield "--time", "10%-20%,50%-60%"
        yield "--time", "+0.001,+0.1"
    comm, tid = one_of(perfile, path, "comm", 0), one_of(perfile, path, "tid", 1)
    event, cpu = one_of(perfile, path, "event", 0), one_of(perfile, path, "cpu", 0)
    if comm and "," not in comm:
        yield "--comms", comm
    if tid:
        yield "--tid", tid
        yield "--pid", tid
    if event:
        yield "--events", event.strip(":")
    if cpu and cpu.strip("[]").isdigit():
        yield "--cpu", str(int(cpu.strip("[]")))


class Test:
    def __init__(self, perfile, folder):
        self.perfile, self.folder = perfile, folder
        self.checks = self.failures = 0

    def expect(self, right, *what):
        self.checks += 1
        if not right:
            self.failures += 1
            print("wrong:", *what)

    def cut(self, *arguments):
        return served.run([*WRAPPER, self.perfile, "cut", "--no-sync", "-q", *arguments]).returncode

    def same(self, got, wanted, *what):
        self.expect(got == wanted, *what, "has %d, wanted %d" % (len(got or []), len(wanted)))
        for a, b in zip(got or [], wanted):
            if a != b:
                print("  got   ", a[:300], "\n  wanted", b[:300])
                break

    def filters(self, path):
        for option in filters_for(self.perfile, path):
            wanted = lines_of(self.perfile, path, *option)
            out = os.path.join(self.folder, "cut.data")
            if wanted is None:
                continue
            status = self.cut(path, *option, "-o", out)
            self.expect(status < 2, path, option, "exit status", status)
            if status < 2:
                # samples of groups report other events too, which script takes apart
                again = option if option[0] == "--events" else ()
                self.same(lines_of(self.perfile, out, *again), wanted, path, option)
                os.unlink(out)

    def splits(self, path):
        wanted = sorted(b"\n".join(lines_of(self.perfile, path)).split(b"\n"))
        for by in SPLITS:
            how = {"time": "time=10ms", "size": "size=%d" % (os.path.getsize(path) // 5 + 1)}.get(by, by)
            status = self.cut(path, "--split", how, "--limit-open", "3", "-o", os.path.join(self.folder, "part-%"))
            parts = glob.glob(os.path.join(glob.escape(self.folder), "part-*"))
            if status != 2:  # names and such need a recording that can be read twice
                self.expect(status < 2, path, how, "exit status", status)
            if status < 2:
                lines = [line for part in parts for line in lines_of(self.perfile, part) or []]
                self.same(sorted(b"\n".join(lines).split(b"\n")) if lines else [b""], wanted, path, how)
            for part in parts:
                os.unlink(part)


def corpus():
    return [str(path) for path in hermetic.corpus_recordings(RECORDINGS, 400000, without=("broken",)) if hermetic.is_recording(path)]


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("perfile")
    parser.add_argument("recordings", nargs="*")
    options = parser.parse_args()
    recordings = corpus() if options.corpus else options.recordings
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        test = Test(options.perfile, folder)
        for path in recordings:
            if lines_of(options.perfile, path) is None or has_counters(options.perfile, path):
                continue
            test.filters(path)
            test.splits(path)
    print("%d recordings, %d checks, %d wrong" % (len(recordings), test.checks, test.failures))
    return 1 if test.failures or not test.checks else 0


sys.exit(main())
