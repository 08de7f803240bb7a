#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording that is split and merged again is what it was: the multiset of its records, whatever it was split by.

    split_merge.py [--cut BINARY] PERFILE FILE...      recordings
    split_merge.py [--cut BINARY] PERFILE --corpus     those of the corpus that are complete

Without `perfile cut` the test is skipped. Rounds are not compared: merging makes its own.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

WAYS = ["time=3ms", "time=250ms", "size=30K", "pid", "cpu", "event", "comm"]
PARTS_MAX = 100
RECORDINGS = 40  # of the corpus, unless all are asked for
# what one mode says in another way than others, and rounds
DESCRIBE = {"FINISHED_ROUND", "HEADER_ATTR", "HEADER_EVENT_TYPE", "HEADER_TRACING_DATA", "HEADER_BUILD_ID",
            "HEADER_FEATURE", "COMPRESSED", "COMPRESSED2"}
# where a record stands
SITE = {"offset", "record_offset", "container", "compressed", "file"}
WRAPPER = os.environ.get("MESON_EXE_WRAPPER", "").split()


def run(*args):
    return served.run([*WRAPPER, *args])


def records(perfile, path):
    """The multiset of the records; None when the recording is damaged, or describes its events after its samples."""
    dump = run(perfile, "dump", "--format", "json", path)
    if dump.returncode:
        return None
    found = collections.Counter()
    for line in dump.stdout.splitlines()[1:]:
        record = json.loads(line)
        if "error" in record:
            return None
        if record.get("type") not in DESCRIBE:
            found[json.dumps({k: v for k, v in record.items() if k not in SITE}, sort_keys=True)] += 1
    return found


def check(cut, perfile, path, way, wanted, folder):
    """How many parts there were; 0: it cannot be split so. Raises when something is lost or added."""
    for old in pathlib.Path(folder).iterdir():
        old.unlink()
    split = run(cut, "cut", "-q", "--no-sync", "--limit-parts", str(PARTS_MAX), "--split", way, path, "-o",
                f"{folder}/%.data")
    if split.returncode:
        return 0
    parts = sorted(str(p) for p in pathlib.Path(folder).iterdir())
    merged = run(perfile, "merge", "-q", "--no-sync", *parts, "-o", f"{folder}/merged")
    if merged.returncode:
        raise AssertionError(f"{path} by {way}: {merged.stderr.decode(errors='replace').strip()}")
    got = records(perfile, f"{folder}/merged")
    if got != wanted:
        got = got or collections.Counter()
        raise AssertionError(f"{path} by {way}, {len(parts)} parts: {sum((wanted - got).values())} records lost, "
                             f"{sum((got - wanted).values())} more\n"
                             f"  < {next(iter(wanted - got), '')[:300]}\n  > {next(iter(got - wanted), '')[:300]}")
    return len(parts)


def main():
    hermetic.settle()
    args = sys.argv[1:]
    cut = None
    if args[0] == "--cut":
        cut, args = args[1], args[2:]
    perfile, files = args[0], args[1:]
    cut = cut or perfile
    if not any(verb["name"] == "cut" for verb in json.loads(run(cut, "help", "--json").stdout)["verbs"]):
        print("there is no perfile cut: skipped")
        return 77
    if files == ["--corpus"]:
        files = [path for path in hermetic.corpus_recordings(RECORDINGS, 4 << 20, without=("broken",)) if hermetic.is_recording(path)]
    checked = failed = most = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            wanted = records(perfile, path)
            if wanted is None:
                continue
            for way in WAYS:
                try:
                    parts = check(cut, perfile, str(path), way, wanted, folder)
                    checked += parts > 0
                    most = max(most, parts)
                except AssertionError as error:
                    failed += 1
                    print(error)
    print(f"{checked} splits into up to {most} parts, {failed} failed")
    return failed > 0 or checked == 0


sys.exit(main())
