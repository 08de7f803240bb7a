# SPDX-License-Identifier: MIT
"""pack.py CORPUS: makes recordings.tar.xz and expect.tar.xz of a folder of recordings, laid out as run.py describes it.

README.md says what is left out, and why.
"""
import io, json, lzma, pathlib, subprocess, sys, tarfile

import canonical

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED_FOLDERS = ('expect/', 'symfs/', 'public/', 'broken/quipper-corpus/')
# Copies of stacks in these hold the environment of the machine that recorded them.
PRIVATE = {
    'recorded/p6-g-dwarf-32k.data', 'recorded/p6-max-size.data', 'recorded/p7-everything.data', 'recorded/p7-g-dwarf.data',
    'recorded/p7-g-dwarf-64k.data', 'recorded/p7-z-dwarf.data', 'recorded/inject/p7-file2pipe-everything.data',
    'recorded/inject/p7-plain-everything.data', 'broken/made/stack-dyn-huge.data', 'broken/made/stack-size-huge.data',
}
NOT_RECORDINGS = ('.txt', '.md', 'kallsyms.xz')
PRESET = lzma.PRESET_EXTREME | 9


def is_kept(name):
    return not name.startswith(SKIPPED_FOLDERS) and name not in PRIVATE and not name.endswith(NOT_RECORDINGS)


def add(archive, name, data):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, io.BytesIO(data))


def read_text(folder, name):
    path, packed = folder / name, folder / f'{name}.zst'
    if path.exists():
        return path.read_bytes()
    return subprocess.run(['zstd', '-dcq', packed], capture_output=True, check=True).stdout if packed.exists() else None


def member_names(value, names):
    """Adds the names of members in any depth."""
    if isinstance(value, dict):
        names.update(name for name in value if not canonical.is_remark(name))
        value = list(value.values())
    for member in value if isinstance(value, list) else ():
        member_names(member, names)


def shortened(lines, digested):
    """The lines that are kept, and of the others the number and the digests; None where there are no others."""
    rest = digested[canonical.COMPLETE_LINES:]
    head = b''.join(line + b'\n' for line in lines[:canonical.COMPLETE_LINES])
    return head, ' '.join([str(len(rest)), *canonical.digests(rest)]).encode() + b'\n' if rest else None


def add_dump(archive, folder, to):
    lines = [line for line in read_text(folder, 'dump.jsonl').splitlines() if line.strip()]
    objects = [(line, one) for line, one in zip(lines, map(json.loads, lines))
               if 'type' in one or one.get('kind') == 'header']
    names = set()
    for _, one in objects:
        member_names(one, names)
    is_broken = to.startswith('expect/broken/')  # only samples are compared, by their offsets
    head, rest = ((b''.join(line + b'\n' for line, _ in objects), None) if is_broken else
                  shortened([line for line, _ in objects], [canonical.object_line(one, names) for _, one in objects]))
    add(archive, f'{to}/dump.jsonl', head)
    if rest:
        add(archive, f'{to}/dump.rest', rest)
        add(archive, f'{to}/dump.names', ' '.join(sorted(names)).encode())


def add_script(archive, folder, to):
    for name in ('script.txt', 'script.native.txt'):
        text = read_text(folder, name)
        if text is None:
            continue
        lines = [line.rstrip() for line in text.splitlines()]
        head, rest = shortened(lines, list(map(canonical.script_line, lines)))
        add(archive, f'{to}/{name}', head)
        if rest:
            add(archive, f'{to}/{name.replace(".txt", ".rest")}', rest)
    if (folder / 'script.fields').exists():
        add(archive, f'{to}/script.fields', (folder / 'script.fields').read_bytes())


def main():
    corpus = pathlib.Path(sys.argv[1])
    names = sorted(str(path.relative_to(corpus)) for path in corpus.rglob('*') if path.is_file())
    with tarfile.open(HERE / 'recordings.tar.xz', 'w:xz', preset=PRESET) as archive:
        for name in filter(is_kept, names):
            add(archive, name, (corpus / name).read_bytes())
    folders = sorted({str(path.parent.relative_to(corpus / 'expect')) for path in corpus.glob('expect/**/dump.jsonl*')})
    with tarfile.open(HERE / 'expect.tar.xz', 'w:xz', preset=PRESET) as archive:
        for name in filter(is_kept, folders):
            add_dump(archive, corpus / 'expect' / name, f'expect/{name}')
            add_script(archive, corpus / 'expect' / name, f'expect/{name}')


main()
