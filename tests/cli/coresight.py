#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Snapshots of OpenCSD become recordings, whose packets and instructions are those of OpenCSD's own lister: coresight.py PERFILE ASSEMBLE

PERFILE_OPENCSD names a folder with snapshots, as NAME.tar.zst, and what trc_pkt_lister prints of each, as
NAME.trc_pkt_lister-*.txt.zst. Snapshots of other units than ETMv4 and ETE are left out.
    coresight.py --convert SNAPSHOT FOLDER ASSEMBLE   only makes FOLDER/NAME.perf.data and FOLDER/NAME.symfs of a snapshot
"""
import configparser
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

MAGIC = {'ETM4': 0x4040404040404040, 'ETE': 0x5050505050505050}
ETMV4 = ('TRCCONFIGR', 'TRCTRACEIDR', 'TRCIDR0', 'TRCIDR1', 'TRCIDR2', 'TRCIDR8', 'TRCAUTHSTATUS')
ETE = (*ETMV4, 'TRCDEVARCH')
PAGE = 4096
RAW = 0x100  # AUX data of one source, without frames
PID = 7


# ---- snapshots ---------------------------------------------------------------------------------------------------


def ini(path):
    """The sections of a file; keys are spelled in several ways, registers have their number or size in brackets."""
    parser = configparser.ConfigParser(comment_prefixes=(';', '#'), strict=False, delimiters=('=',))
    parser.optionxform = str
    parser.read_string(path.read_text())
    return {name: {key.split('(')[0].strip(): value.strip() for key, value in parser[name].items()} for name in parser.sections()}


def names_of(text):
    return [name.strip() for name in text.split(',') if name.strip()]


class Snapshot:
    """A folder with the registers of a trace unit, what it wrote, and images of memory."""

    def __init__(self, folder, buffer=None):
        trace = ini(folder / ini(folder / 'snapshot.ini')['trace']['metadata'])
        devices = [ini(folder / name) for name in ini(folder / 'snapshot.ini')['device_list'].values()]
        buffers = {trace[name]['name']: trace[name] for name in names_of(trace['trace_buffers']['buffers'])}
        wanted = buffers[buffer] if buffer else next(iter(buffers.values()))
        sources = [name for name, of in trace['source_buffers'].items() if wanted['name'] in names_of(of)]
        self.units = [device for device in devices if device['device']['name'] in sources]
        self.kinds = {next((kind for kind in MAGIC if unit['device']['type'].startswith(kind)), None) for unit in self.units}
        self.framed = wanted['format'] == 'coresight'
        self.data = (folder / wanted['file']).read_bytes()
        self.images = []
        for device in devices:
            for name, dump in device.items():
                if name.startswith('dump'):
                    data, offset = (folder / dump['file']).read_bytes(), int(dump.get('offset', '0'), 0)
                    self.images.append((int(dump['address'], 0), data[offset:offset + int(dump.get('length', '0xffffffff'), 0)]))

    def words(self):
        """AUXTRACE_INFO."""
        words = [1, 8 << 32 | len(self.units), 0]
        for number, unit in enumerate(self.units):
            kind = 'ETE' if unit['device']['type'].startswith('ETE') else 'ETM4'
            names = ETE if kind == 'ETE' else ETMV4
            values = [int(unit.get('regs', {}).get(name, '0'), 0) for name in names]
            words += [MAGIC[kind], number, len(values), *values]
        return words


def image(data):
    """An ELF file whose only segment is this memory."""
    header = b'\x7fELF\x02\x01\x01'.ljust(16, b'\0') + struct.pack('<HHIQQQIHHHHHH', 3, 183, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return (header + struct.pack('<IIQQQQQQ', 1, 5, PAGE, 0, 0, len(data), len(data), 1)).ljust(PAGE, b'\0') + data


def convert(snapshot, folder, name, assemble, pids=(PID,)):
    """Makes the recording, and the folder with its binaries."""
    symfs = folder / f'{name}.symfs'
    (symfs / 'snapshot').mkdir(parents=True)
    priv = ','.join(map(hex, snapshot.words()))
    text = ('attr type=8 config=0 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 ids=11 name="cs_etm//"\n'
            f'feature AUXTRACE 0\nrecord AUXTRACE_INFO auxtrace_type=3 priv={priv}\n')
    for number, (address, data) in enumerate(snapshot.images):
        (symfs / f'snapshot/{number}').write_bytes(image(data))
        for pid in pids:
            text += (f'record MMAP pid={pid} tid={pid} addr={address:#x} len={len(data):#x} pgoff={PAGE} filename="/snapshot/{number}" '
                     f'misc=2 | pid={pid} tid={pid} time=1 cpu=0\n')
    size, flags = len(snapshot.data), 0 if snapshot.framed else RAW
    text += (f'record AUX aux_offset=0 aux_size={size} flags={flags} | pid={PID} tid={PID} time=2 cpu=0\n'
             f'record AUXTRACE data_size={size} offset=0 reference=1 idx=0 tid={PID} cpu=0 reserved__=0 payload=hex:{snapshot.data.hex()}\n')
    path = folder / f'{name}.perf.data'
    path.write_bytes(subprocess.check_output(assemble, input=text.encode()))
    return path, symfs


# ---- what the lister prints --------------------------------------------------------------------------------------

RANGE = re.compile(r'INSTR_RANGE\(exec range=0x([0-9a-f]+):\[0x([0-9a-f]+)\] num_i\((\d+)\) last_sz\((\d)\)')
PACKET = re.compile(r'^Idx:(\d+); ID:([0-9a-f]+); \[[^]]*\];\t(.*)$', re.M)
OUR_PACKET = re.compile(r'^\tIdx:(\d+); ID:([0-9a-f]+);\t(.*)$', re.M)


def listed(text):
    """The ranges of instructions, (start, end, count, size of the last one), and the contexts that the trace states."""
    ranges = [(int(start, 16), int(end, 16), int(count), int(size)) for start, end, count, size in RANGE.findall(text)]
    contexts = {int(number, 16) for number in re.findall(r'(?:CTXTID|VMID)=0x([0-9a-f]+)', text)}
    return ranges, contexts


def check_ranges(name, ranges, addresses):
    at = 0
    for start, end, count, size in ranges:
        got = addresses[at:at + count]
        assert len(got) == count and got[0] == start and got[-1] == end - size, \
            f'{name}: instruction {at}: {[hex(a) for a in got[:5]]}, not {start:#x} to {end:#x} ({count})'
        assert size != 4 or end - start != 4 * count or got == list(range(start, end, 4)), f'{name}: {start:#x} to {end:#x}'
        at += count
    assert at == len(addresses), f'{name}: {len(addresses) - at} instructions more'


# ---- the test ----------------------------------------------------------------------------------------------------


def check_packets(name, packets, wanted):
    for number, pair in enumerate(zip(packets, wanted)):
        assert pair[0] == pair[1], f'{name}: packet {number} of {len(wanted)}: {pair[0]}, not {pair[1]}'
    assert len(packets) == len(wanted), f'{name}: {len(packets)} packets, not {len(wanted)}'


def output_of(command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def check(perfile, assemble, name, folder, text):
    """How many packets and instructions were compared; None: the snapshot belongs to another kind of unit."""
    snapshot = Snapshot(folder / name, re.search(r'^Using (\S+) as trace source', text, re.M)[1])
    if snapshot.kinds - set(MAGIC):
        return None
    ranges, contexts = listed(text)
    path, symfs = convert(snapshot, folder, name, assemble, sorted({PID, *contexts}))
    addresses = [int(line, 16) for line in output_of([*perfile, 'script', '-q', '--itrace=i1i', '-F', 'ip', '--symfs', symfs, path]).split()]
    check_packets(name, OUR_PACKET.findall(output_of([*perfile, 'dump', '--aux', path])), PACKET.findall(text))
    check_ranges(name, ranges, addresses)
    return len(PACKET.findall(text)), len(addresses)


def unpack(command, path):
    return subprocess.run([*command, path], stdout=subprocess.PIPE, check=True).stdout


def main():
    hermetic.settle()
    source = os.environ.get('PERFILE_OPENCSD')
    if sys.argv[1] == '--convert':
        path, folder, assemble = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
        convert(Snapshot(path), folder, path.name, [assemble])
        return 0
    if not source:
        print('skipped: snapshots of OpenCSD: PERFILE_OPENCSD names no folder')
        return 0
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    perfile, assemble = ([*wrapper, pathlib.Path(program).resolve()] for program in sys.argv[1:])
    packets = instructions = compared = 0
    with tempfile.TemporaryDirectory(prefix='perfile-coresight-') as temporary:
        folder = pathlib.Path(temporary)
        for archive in sorted(pathlib.Path(source).glob('*.tar.zst')):
            name = archive.name.split('.')[0]
            subprocess.run(['tar', '-C', folder, '-x'], input=unpack(['zstd', '-dcq'], archive), check=True)
            text = unpack(['zstd', '-dcq'], next(archive.parent.glob(f'{name}.trc_pkt_lister-*.txt.zst'))).decode()
            counts = check(perfile, assemble, name, folder, text)
            if counts:
                packets, instructions, compared = packets + counts[0], instructions + counts[1], compared + 1
    assert compared, f'{source} has no snapshots of ETMv4 or ETE'
    print(f'{compared} snapshots: {packets} packets and {instructions} instructions are equal')
    return 0


sys.exit(main())
