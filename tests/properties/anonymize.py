#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""anonymize.py PERFILE ASSEMBLE RECORDINGS... [--corpus]: what `perfile anonymize` promises.

- A secret that stands wherever the format has space for text or bytes is in no output: file, stream, directory,
  compressed, either byte order, with padding after NULs and after records.
- Every recording keeps its samples: which thread (by name) hit which file at which offset how often is the same up to
  renaming; callchains and branches too. What a mapping is to its samples stays.
- The same key gives the same names in two recordings, another key others; names of the same length stay apart.
- No word of six letters or more of the comms, paths, host name and command line is left, but for the vocabulary that
  `--vocabulary` prints.

--corpus: recordings of the corpus instead.
"""
import argparse, collections, json, os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic
import served

TIMEOUT_SECONDS = 300
RECORDINGS = 60  # of the corpus, unless all are asked for
SECRET = 'Zq7secretXy'
KERNEL = 'FFFFFFFF81000000'
MARKERS = (1 << 64) - 4095
KEY = ['--key', 'a key']
WRAPPER = os.environ.get('MESON_EXE_WRAPPER', '').split()


class Failure(Exception):
    pass


def run(arguments, stdin=None, allowed=(0, 1)):
    command = [*WRAPPER, *(str(a) for a in arguments)]
    done = served.run(command, timeout=TIMEOUT_SECONDS) if stdin is None else \
        subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT_SECONDS)
    if done.returncode not in allowed:
        raise Failure(f'{arguments}: exit status {done.returncode}: {done.stderr.decode(errors="replace")[-300:]}')
    return done.stdout


def anonymize(perfile, source, target, *options):
    run([perfile, 'anonymize', '--no-sync', '-q', *(options if '--key' in options else [*KEY, *options]), source, '-o',
         target])


def objects(perfile, path):
    text = run([perfile, 'dump', '--format', 'json', '--max-bytes', '100000000', path])
    return [json.loads(line) for line in text.decode(errors='surrogateescape').splitlines()]


# ---- 1. secrets ------------------------------------------------------------------------------------------------------

def hexed(text, bytes_wanted=None):
    data = text.encode()
    return 'hex:' + (data if bytes_wanted is None else data.ljust(bytes_wanted, b'\0')[:bytes_wanted]).hex()


def tracing_data(secret, system, private_field):
    """A blob with the secret in every text of it."""
    def marked(name, text):
        return name.encode() + b'\0' + len(text).to_bytes(8, 'little') + text

    def fmt(name):
        return (f'name: {name}\nID: 315\nformat:\n'
                '\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n'
                '\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n'
                '\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n'
                '\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:1;\n'
                f'\tfield:u8 {private_field}[16];\toffset:28;\tsize:16;\tsigned:0;\n'
                '\tfield:void * ptr;\toffset:48;\tsize:8;\tsigned:0;\n'
                f'\nprint fmt: "{private_field} %s", REC->comm\n').encode()

    text = fmt('event' if system == 'sched' else secret)
    blob = b'\x17\x08\x44tracing' + b'0.6\0' + b'\x00\x08' + (4096).to_bytes(4, 'little')
    blob += marked('header_page', f'\tfield: u64 timestamp;\toffset:0; {secret}\n'.encode())
    blob += marked('header_event', f'# {secret}\n'.encode())
    blob += (0).to_bytes(4, 'little')
    blob += (1).to_bytes(4, 'little') + system.encode() + b'\0' + (1).to_bytes(4, 'little')
    blob += len(text).to_bytes(8, 'little') + text
    kallsyms = f'0000000000000000 T {secret}\n'.encode()
    blob += len(kallsyms).to_bytes(4, 'little') + kallsyms
    printk = f'0xffffffff82000000 : "{secret}"\n'.encode()
    blob += len(printk).to_bytes(4, 'little') + printk
    cmdlines = f'7 {secret}\n'.encode()
    return blob + len(cmdlines).to_bytes(8, 'little') + cmdlines


def raw_data(secret):
    """As the format above says: comm, a dynamic text, bytes, a pointer."""
    body = (315).to_bytes(2, 'little') + b'\0\0' + (7).to_bytes(4, 'little') + secret.encode().ljust(16, b'\0')
    body += (56 | 16 << 16).to_bytes(4, 'little') + secret.encode().ljust(16, b'\0') + b'\0\0\0\0'
    body += secret.encode()[:8] + secret.encode().ljust(16, b'\0')
    return body.ljust(84, b'\0') # 4 of size + 84


def planted(s, system):
    texts = {name: f'feature {name} s:"{s}"' for name in ('HOSTNAME', 'OSRELEASE', 'VERSION', 'ARCH', 'CPUDESC', 'CPUID')}
    everything = 'IDENTIFIER|IP|TID|TIME|ADDR|CPU|PERIOD|CALLCHAIN|RAW|BRANCH_STACK|REGS_USER|STACK_USER|REGS_INTR|PHYS_ADDR|CGROUP'
    user = hexed(s, 16)
    words = ','.join(str(int.from_bytes(s.encode().ljust(16, b'\0')[i:i + 8], 'little')) for i in (0, 8))
    private = s if system != 'sched' else 'private'
    return f'''
attr type=1 config=0 sample_type={everything} sample_id_all=1 sample_regs_user=3 sample_regs_intr=3 sample_stack_user=64 ids=1 name="{s}:u"
attr type=2 config=315 sample_type={everything} sample_id_all=1 sample_regs_user=3 sample_regs_intr=3 sample_stack_user=64 ids=2 name="{system}:event" tail={hexed(s, 16)}
{chr(10).join(texts.values())}
feature TRACING_DATA hex:{tracing_data(s, system, private).hex()}
feature NRCPUS u32:1,u32:1,{hexed(s, 16)}
feature CMDLINE u32:2,s:"/usr/bin/perf",s:"{s}"
feature EVENT_DESC
feature CPU_TOPOLOGY u32:1,s:"{s}",u32:1,s:"0-1",u32:0,u32:0
feature NUMA_TOPOLOGY u32:1,u32:0,4000000,1000,s:"{s}"
feature PMU_MAPPINGS u32:2,u32:1,s:"software",u32:40,s:"{s}"
feature GROUP_DESC u32:1,s:"{s}",u32:0,u32:2
feature CACHE u32:1,u32:1,u32:1,u32:64,u32:64,u32:8,s:"Data",s:"32K",s:"{s}"
feature CPU_PMU_CAPS u32:1,s:"{s}",s:"{s}"
feature HYBRID_TOPOLOGY u32:1,s:"{s}",s:"0-3"
feature PMU_CAPS u32:1,u32:1,s:"{s}",s:"{s}",s:"cpu"
feature BPF_PROG_INFO {hexed(s, 64)}
feature BPF_BTF {hexed(s, 64)}
feature CLOCK_DATA u32:1,u32:4,{hexed(s, 16)}
feature SAMPLE_TIME 1000,2000,{hexed(s, 16)}
feature TOTAL_MEM 4000000,{hexed(s, 16)}
feature BUILD_ID u32:0,u16:0x8002,u16:88,u32:-1,{hexed(s, 20)},u8:20,zeros:3,{hexed('/home/' + s, 52)}
feature 99 {hexed(s, 64)}
feature 132 {hexed(s, 64)}
record FINISHED_INIT
record COMM event=0 pid=7 tid=7 comm="{s[:15]}" extra={user} | pid=7 tid=7 time=1
record MMAP misc=1 pid=-1 tid=0 addr=0x{KERNEL} len=0x1000000 pgoff=0x{KERNEL} filename="[kernel.kallsyms]_text" | time=1
record MMAP misc=1 pid=-1 tid=0 addr=0xffffffffc0000000 len=0x1000 pgoff=0 filename="[{s}]" | time=1
record MMAP misc=2 pid=7 tid=7 addr=0x10000 len=0x1000 pgoff=0 filename="/home/{s}/lib{s}.so.1" extra={user} | pid=7 tid=7 time=1
record MMAP2 misc=2 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 maj=8 min=1 ino=5 ino_generation=6 prot=5 flags=2 filename="/opt/{s} (deleted)" extra={user} | pid=7 tid=7 time=1
record MMAP2 misc=0x4002 pid=7 tid=7 addr=0x7f0000000000 len=0x1000 pgoff=0 build_id_size=20 build_id={hexed(s, 20)} prot=5 flags=2 filename="//anon:{s}" | pid=7 tid=7 time=1
record MMAP2 misc=2 pid=7 tid=7 addr=0x7f0000002000 len=0x1000 pgoff=0 prot=5 flags=2 filename="[anon:{s}]" | pid=7 tid=7 time=1
record KSYMBOL addr=0xffffffffc0100000 len=64 ksym_type=1 flags=0 name="bpf_prog_{s}" extra={user} | time=1
record BPF_EVENT bpf_type=1 flags=0 id=3 tag={hexed(s, 8)} | time=1
record CGROUP id=9 path="/{s}.slice/x" extra={user} | time=1
record TEXT_POKE addr=0x{KERNEL} old_len=11 new_len=11 old_bytes={hexed(s)} new_bytes={hexed(s)} | time=1
record NAMESPACES pid=7 tid=7 nr_namespaces=1 link_info=4:0xeffffffc | time=1
record LOST id=1 lost=3 | time=1
record ID_INDEX nr=1 entries=1:0:0:7
record THREAD_MAP nr=1 entries=7:"{s}"
record EVENT_UPDATE update_type=0 id=1 unit="{s}"
record EVENT_UPDATE update_type=2 id=2 name="{s}"
record EVENT_UPDATE update_type=2 id=1 name="{s}:{s}"
record AUXTRACE_INFO auxtrace_type=1 priv={words}
record AUXTRACE data_size=64 offset=0 reference=5 idx=0 tid=7 cpu=0 reserved__=0 payload={hexed(s, 64)}
record AUXTRACE_ERROR error_type=1 code=5 cpu=1 pid=7 tid=8 fmt=0 ip=0x401000 msg="{s}"
record BPF_METADATA prog_name="{s}" nr_entries=1 entries="{s}":"{s}"
record 200 bytes={hexed(s, 64)}
sample event=1 ip=0x400010 pid=7 tid=7 time=1200 addr=0x7f0000000010 callchain=3,0xfffffffffffffe00,0x400010,0x7f0000000020 raw=u32:84,hex:{raw_data(s).hex()} branch_stack=1,0x400010,0x400020,0 regs_user=2,{words} stack_user=64,{hexed(s, 64)},32 regs_intr=2,{words} phys_addr=0x123456789 cgroup=9
sample event=0 ip=0x10020 pid=7 tid=7 time=1100 raw=u32:68,{hexed(s, 68)} callchain=2,0xfffffffffffffe00,0x10020 branch_stack=0 regs_user=0 stack_user=0 regs_intr=0
round
'''


ANDROID = '''
attr type=0 config=0 sample_type=IP|TID|TIME ids=1 name="cycles"
record SIMPLEPERF_KERNEL_SYMBOL data_size=24 kallsyms={long}
record SIMPLEPERF_DSO dso_type=2 dso_id=1 min_vaddr=0x1000 name="/data/app/{s}/base.apk"
record SIMPLEPERF_SYMBOL addr=0x2000 len=64 dso_id=1 name="{s}"
record SIMPLEPERF_SPLIT bytes={long}
record SIMPLEPERF_SPLIT_END
record SIMPLEPERF_CALLCHAIN pid=7 tid=8 chain_type=1 time=5 nr=2 ips=0x10,0x20 sps=0x{reversed},0x7f20
record SIMPLEPERF_UNWINDING_RESULT time=5 bytes={long}
record SIMPLEPERF_TRACING_DATA data_size=24 bytes={long}
record SIMPLEPERF_DEBUG time=6 message="{s}"
sample ip=0x10 pid=7 tid=8 time=7
'''


def all_bytes(path):
    path = pathlib.Path(path)
    return b''.join(p.read_bytes() for p in sorted(path.rglob('*')) if p.is_file()) if path.is_dir() else path.read_bytes()


def uncompressed(perfile, path, folder):
    """The same as a stream without compression, made by another verb."""
    target = folder / 'plain'
    run([perfile, 'convert', '--no-sync', '-q', '--mode', 'pipe', path, '-o', target])
    return target.read_bytes()


def needles(secret):
    """The secret as it stands, cut as the formats cut it, and turned by byte swapping."""
    entire = secret.encode()
    return {entire[i:i + 6] for i in range(len(entire) - 5)} | {entire[i:i + 6][::-1] for i in range(len(entire) - 5)}


def check_planted(perfile, assemble, folder):
    if not all(len(n) == 6 for n in needles(SECRET)):
        raise Failure('bad secret')
    little = SECRET.encode()[:8][::-1].hex()
    texts = {system: planted(SECRET, system) for system in ('sched', SECRET)}
    texts['android'] = ANDROID.format(s=SECRET, long=hexed(SECRET, 24), reversed=little)
    count = 0
    for name, text in texts.items():
        flavours = [[], ['--pipe'], ['--compressed2'], ['--compressed', '--pipe']]
        if name != 'android':
            flavours += [['--big-endian'], ['--big-endian', '--pipe']]
        for flavour in flavours:
            source = folder / 'planted'
            source.write_bytes(run([assemble, *flavour], stdin=text.encode(), allowed=(0,)))
            if '--compressed' not in ''.join(flavour) and SECRET.encode()[:8] not in source.read_bytes():
                raise Failure(f'{name} {flavour}: the secret is not in the input')
            if b'record-size' in run([perfile, 'check', source]):
                raise Failure(f'{name} {flavour}: the input is not what it should be')
            for output in ([], ['--mode', 'pipe'], ['--mode', 'directory'], ['-z', '3'], ['--byte-order', 'big'],
                           ['--mode', 'pipe', '--byte-order', 'little'], ['--no-words'],
                           ['--change', 'times,pids'], ['--drop', 'comms,paths,symbols,cgroups,build-ids,tracing,raw']):
                target = folder / f'out{count}'
                anonymize(perfile, source, target, *output)
                found = all_bytes(target) + uncompressed(perfile, target, folder)
                for needle in needles(SECRET):
                    if needle in found:
                        where = found.index(needle)
                        raise Failure(f'planted {name} {flavour} {output}: {found[max(0, where - 60):where + 20]!r}')
                types = collections.Counter(o.get('type') for o in objects(perfile, target))
                if types['SAMPLE'] != (1 if name == 'android' else 2):
                    raise Failure(f'planted {name} {flavour} {output}: {types["SAMPLE"]} samples')
                count += 1
    return count


# ---- 2. isomorphism --------------------------------------------------------------------------------------------------

class Space:
    """The mappings of one process: the latest one that holds an address."""
    def __init__(self, maps=()):
        self.maps = list(maps)

    def add(self, start, length, name, pgoff):
        cut = []
        for s, e, n, o in self.maps:
            end = start + length
            if e <= start or s >= end:
                cut.append((s, e, n, o))
                continue
            if s < start:
                cut.append((s, start, n, o))
            if e > end:
                cut.append((end, e, n, o + end - s))
        self.maps = cut + [(start, start + length, name, pgoff)]

    def find(self, address):
        return next(((name, address - start + pgoff) for start, end, name, pgoff in self.maps
                     if start <= address < end), None)


def tree(perfile, path):
    """Counter of (comm, event, cpumode, frames); names are numbered as they appear, addresses are relative."""
    spaces, comms, result = collections.defaultdict(Space), {}, collections.Counter()
    names = {}

    def number(kind, name):
        return names.setdefault((kind, name), len(names))

    def location(address, pid, mode):
        if address is None or address >= MARKERS or address < 4096:
            return address
        order = [-1, pid] if mode == 1 or address >= 1 << 63 else [pid, -1]
        for owner in order:
            found = spaces[owner].find(address)
            if found:
                return number('dso', found[0]), found[1]
        return number('page', address >> 12), address & 4095

    records = [o for o in objects(perfile, path) if o.get('kind') != 'header' and not o.get('error')]
    timed = lambda o: o['time'] if o['type'] == 'SAMPLE' and 'time' in o else o.get('sample_id', {}).get('time', 0)
    for o in sorted(records, key=timed):
        kind, mode = o['type'], o['misc'] & 7
        if kind in ('MMAP', 'MMAP2'):
            kernel = mode in (1, 4)
            is_file = o['filename'][:1] == '/' and o['filename'][1:2] != '/'
            if kernel and o['addr'] == 0 and o['len'] <= 8192:
                continue
            length = min(o['len'], (1 << 64) - 1 - o['addr'])
            if length >= 1 << 60:
                continue
            spaces[-1 if kernel else o['pid']].add(o['addr'], length, o['filename'], o['pgoff'] if is_file else 0)
        elif kind == 'COMM':
            comms[o['tid']] = o['comm']
        elif kind == 'FORK' and o['pid'] != o['ppid']:
            spaces[o['pid']] = Space() if o['misc'] & 1 << 13 else Space(spaces[o['ppid']].maps)
            comms[o['tid']] = comms.get(o['ptid'])
        elif kind == 'KSYMBOL' and not o['flags'] & 1 and o['len']:
            spaces[-1].add(o['addr'], o['len'], o['name'], 0)
        elif kind == 'SAMPLE':
            pid = o.get('pid', 0)
            frames, now = [location(o.get('ip'), pid, mode)], mode
            for address in o.get('callchain', {}).get('ips', []):
                if address in (2**64 - 128, 2**64 - 512, 2**64 - 32, 2**64 - 2176, 2**64 - 2560):
                    now = 1 if address in (2**64 - 128, 2**64 - 32, 2**64 - 2176) else 2
                frames.append(location(address, pid, now))
            for branch in o.get('branch_stack', {}).get('entries', []):
                frames += [location(branch['from'], pid, mode), location(branch['to'], pid, mode)]
            result[(number('comm', comms.get(o.get('tid'))), o['event'], mode, o.get('cpu'), o.get('period'),
                    tuple(frames))] += 1
    return result


def check_tree(perfile, source, target, name):
    before, after = tree(perfile, source), tree(perfile, target)
    if before != after:
        lost = list((before - after).items())[:2]
        new = list((after - before).items())[:2]
        raise Failure(f'{name}: not the same tree: {len(before)} and {len(after)} rows\n < {lost}\n > {new}')
    return sum(after.values())


# ---- 3. keys ---------------------------------------------------------------------------------------------------------

def names_of(perfile, path):
    return {o.get('filename') or o.get('comm') for o in objects(perfile, path) if o.get('type') in ('COMM', 'MMAP2')}


def check_keys(perfile, source, folder):
    outputs = [folder / f'key{i}' for i in range(5)]
    for target, key in zip(outputs, (['--key', 'one'], ['--key', 'one'], ['--key', 'two'])):
        anonymize(perfile, source, target, *key)
    (folder / 'keyfile').write_bytes(b'one')
    run([perfile, 'anonymize', '--no-sync', '-q', '--key-file', folder / 'keyfile', source, '-o', outputs[3]])
    run([perfile, 'anonymize', '--no-sync', '-q', source, '-o', outputs[4]])
    if outputs[0].read_bytes() != outputs[1].read_bytes() or outputs[0].read_bytes() != outputs[3].read_bytes():
        raise Failure(f'{source}: the same key gives different recordings')
    vocabulary = names_of(perfile, source)
    sets = [names_of(perfile, o) - vocabulary for o in outputs]
    if not sets[0] or sets[0] & sets[2] or sets[0] & sets[4]:
        raise Failure(f'{source}: another key gives the same names')


def check_same_names(perfile, sources, folder):
    """A file that two recordings have is one file after that, too."""
    made = []
    for i, source in enumerate(sources):
        anonymize(perfile, source, folder / f'same{i}')
        made.append((names_of(perfile, source), names_of(perfile, folder / f'same{i}')))
    common_before, common_after = made[0][0] & made[1][0], made[0][1] & made[1][1]
    if not common_before or len(common_before) != len(common_after):
        raise Failure(f'{len(common_before)} names in common before, {len(common_after)} after')


def check_other_names(perfile, assemble, folder):
    """Names of the same length stay apart, also where the new one is written over the old one."""
    source, target = folder / 'pmus', folder / 'pmus.made'
    text = ('attr type=1 config=0 sample_type=IP|TID|TIME ids=1 name="cycles"\n'
            'feature PMU_MAPPINGS u32:2,u32:40,s:"secret_a",u32:41,s:"secret_b"\n'
            'feature GROUP_DESC u32:2,s:"secret_c",u32:0,u32:1,s:"secret_d",u32:1,u32:1\n'
            'sample ip=0x10 pid=7 tid=8 time=7\n')
    source.write_bytes(run([assemble], stdin=text.encode(), allowed=(0,)))
    anonymize(perfile, source, target)
    features = objects(perfile, target)[0]['features']
    names = [text for name in ('PMU_MAPPINGS', 'GROUP_DESC') for text in strings(features[name])]
    if len(names) != 4 or len(set(names)) != 4:
        raise Failure(f'four names became {names}')


# ---- 4. what is left of names ----------------------------------------------------------------------------------------

def strings(value):
    if isinstance(value, dict):
        value = [v for k, v in value.items() if k != 'build_id']
    if isinstance(value, list):
        return [text for member in value for text in strings(member)]
    return [value] if isinstance(value, str) else []


def words_of(records):
    """Pieces of comms, paths, host name, command line: what someone could look for."""
    found = set()
    for o in records:
        texts = []
        if o.get('kind') == 'header':
            features = o.get('features') or {}
            texts += [features.get('HOSTNAME') or ''] + list(features.get('CMDLINE') or [])
            found.update(piece for text in strings(features.get('BUILD_ID')) for piece in text.split('/'))
        elif o.get('type') in ('MMAP', 'MMAP2'):
            texts += o.get('filename', '').split('/') + [o.get('filename', '')]
        elif o.get('type') == 'COMM':
            texts.append(o.get('comm', ''))
        elif o.get('type') == 'HEADER_FEATURE' and isinstance(o.get('data'), (str, list)) and o['feat'] in ('HOSTNAME', 'CMDLINE'):
            texts += [o['data']] if isinstance(o['data'], str) else o['data']
        found.update(t for t in texts if isinstance(t, str))
    return {w for w in found if len(w) >= 6}


def harmless(word, vocabulary, events):
    """Made of the vocabulary alone, or a name of an event that stays."""
    pieces = [p for p in re.split(r'[/\[\]]| \(deleted\)', word) if p]
    return word in vocabulary or all(p in vocabulary or re.fullmatch(r'[0-9a-fx.:,-]*', p) for p in pieces) or word in events


def check_words(perfile, source, target, vocabulary, folder, name):
    plain = uncompressed(perfile, target, folder)
    after = objects(perfile, target)
    header = after[0] if after else {}
    # event names and the formats of the kernel's own tracepoints stay, whatever else is called like a part of them
    kept = [e.get('name') or '' for e in header.get('events', [])]
    kept += [o.get('name', '') for o in after if o.get('type') == 'EVENT_UPDATE']
    tracing = str((header.get('features') or {}).get('TRACING_DATA', '')) + str([o.get('tracing') for o in after if 'tracing' in o])
    checked = 0
    for word in words_of(objects(perfile, source)):
        if harmless(word, vocabulary, kept) or any(word in k for k in kept) or word in tracing:
            continue
        checked += 1
        data = word.encode(errors='surrogateescape')
        left = re.search(rb'(?<![a-z0-9])' + re.escape(data), plain)
        if left:
            where = left.start()
            raise Failure(f'{name}: {word!r} is left: {plain[max(0, where - 40):where + 60]!r}')
    return checked


# ---- everything ------------------------------------------------------------------------------------------------------

def opens(perfile, path):
    return served.run([perfile, 'info', '--format', 'json', path], timeout=TIMEOUT_SECONDS).returncode in (0, 1)


def check_recording(perfile, source, vocabulary, folder, entire):
    target = folder / 'made'
    name = str(source)
    anonymize(perfile, source, target)
    samples = check_tree(perfile, source, target, name) if entire else 0
    return samples, check_words(perfile, source, target, vocabulary, folder, name)


def check_corpus(perfile, vocabulary, folder, only):
    totals, failures = collections.Counter(), []
    for path in hermetic.with_folders(hermetic.corpus_recordings(RECORDINGS, sys.maxsize)):
        if only and only not in str(path) or not opens(perfile, path):
            continue
        try:
            samples, words = check_recording(perfile, path, vocabulary, folder, 'broken' not in path.parts)
            totals.update(recordings=1, samples=samples, words=words)
        except (Failure, subprocess.TimeoutExpired, KeyError) as failure:
            failures.append(str(failure))
            print(f'FAILED {path}: {failure!r}'[:900], flush=True)
        subprocess.run(['rm', '-rf', folder / 'made', folder / 'plain'], check=True)
    print(f'{totals["recordings"]} recordings, {totals["samples"]} samples at the same places, '
          f'{totals["words"]} words looked for, {len(failures)} failures')
    return bool(failures) or not totals['samples']


def main():
    hermetic.settle()
    parser = argparse.ArgumentParser()
    parser.add_argument('perfile')
    parser.add_argument('assemble')
    parser.add_argument('recordings', nargs='*', type=pathlib.Path)
    parser.add_argument('--corpus', action='store_true')
    parser.add_argument('--only')
    options = parser.parse_args()
    perfile = options.perfile
    vocabulary = set(run([perfile, 'anonymize', '--vocabulary']).decode().split('\n'))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.corpus:
            return check_corpus(perfile, vocabulary, folder, options.only)
        count = check_planted(perfile, options.assemble, folder)
        samples = words = 0
        for path in options.recordings:
            found = check_recording(perfile, path, vocabulary, folder, True)
            samples, words = samples + found[0], words + found[1]
        check_keys(perfile, options.recordings[0], folder)
        check_same_names(perfile, options.recordings[:2], folder)
        check_other_names(perfile, options.assemble, folder)
    print(f'{count} outputs without the secret, {samples} samples at the same places, {words} words looked for')
    return not samples or not words


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(str(failure))
