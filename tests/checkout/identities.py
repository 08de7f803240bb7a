#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""identities.py PERFILE TREE [--write]: no recording of the tree can be of the machine that reads it.

perfile uses files of this machine where a build id of a recording agrees with theirs, and this kernel's symbols where host and
release agree. So the recordings in tests/data and examples have identities that no machine has: build ids that begin with the
bytes RESERVED, the host HOST, the release RELEASE. --write replaces others in the files, which keeps all lengths; within compressed
records it cannot: decompress the recording first (perfile convert). Build ids that are texts, of goldens and cases, are reserved, too,
or begin with a pattern that no hash has."""
import argparse, pathlib, re, struct, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

RESERVED = '7e57da7a'
HOST, RELEASE = 'test', '0.0.0-test'
FIXED = {'HOSTNAME': HOST, 'OSRELEASE': RELEASE}
COUNTED = '00112233', '01020304', '00010203'  # ids of goldens that are written by hand
DEVICES = '00000001', '01000000', '2e000000'  # devices and inodes that are read as ids
TEXT_BYTES = 64  # of a text of the header, with zeros at its end


def recordings(tree):
    return sorted([*tree.glob('tests/data/*.perf.data'), *tree.glob('examples/*.perf.data')])


def texts(tree):
    return sorted([*tree.glob('tests/golden/*.golden'), *tree.glob('tests/cli/cases/*.case')])


def files_of(recording):
    return [path for path in recording.iterdir() if path.is_file()] if recording.is_dir() else [recording]


def foreign(perfile, recording):
    """What a dump shows of other identities: build ids, and (feature, text)."""
    dump = subprocess.run([perfile, 'dump', recording], capture_output=True, check=True).stdout.decode('utf-8', 'replace')
    ids = {found for found in re.findall(r'build_id="?([0-9a-f]{16,40})\b', dump)
           if found.strip('0') and not found.startswith(RESERVED)}
    found = re.findall(r'feature \d+ at \S+ (\w+)="([^"]*)"', dump) + re.findall(r'feat="(\w+)" data="([^"]*)"', dump)
    return ids, {(name, text) for name, text in found if name in FIXED and text != FIXED[name]}


def field(text):
    return struct.pack(f'<I{TEXT_BYTES}s', TEXT_BYTES, text.encode())


def rewrite(path, ids, names):
    before = data = path.read_bytes()
    for found in ids:
        data = data.replace(bytes.fromhex(found), bytes.fromhex(RESERVED + found[len(RESERVED):]))
    for name, text in names:
        data = data.replace(field(text), field(FIXED[name]))
    if data != before:
        path.write_bytes(data)


def wrong_in_recording(perfile, recording):
    ids, names = foreign(perfile, recording)
    return [f'{recording}: build id {found}' for found in sorted(ids)] + [f'{recording}: {name} {text}' for name, text in sorted(names)]


def wrong_in_text(path):
    return [f'{path}: build id {found}' for found in sorted(set(re.findall(r'\b[0-9a-f]{40}\b', path.read_text())))
            if found.strip('0') and not found.startswith((RESERVED, *COUNTED, *DEVICES))]


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perfile', type=pathlib.Path)
    parser.add_argument('tree', type=pathlib.Path)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    perfile, found = hermetic.runnable(options.perfile), recordings(options.tree)
    for recording in found if options.write else []:
        identities = foreign(perfile, recording)
        for path in files_of(recording):
            rewrite(path, *identities)
    wrong = [line for recording in found for line in wrong_in_recording(perfile, recording)]
    wrong += [line for path in texts(options.tree) for line in wrong_in_text(path)]
    print(*wrong, f'{len(found)} recordings, {len(wrong)} identities that a machine may have', sep='\n')
    sys.exit(bool(wrong) or not found)


if __name__ == '__main__':
    main()
