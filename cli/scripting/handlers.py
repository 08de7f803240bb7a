# SPDX-License-Identifier: MIT
"""Runs a Python script that was written for perf script, in a process of its own.

    python3 -c THIS FD SCRIPT [ARGUMENT...]     runs the script with what comes from the file descriptor
    python3 -c THIS FD --generate FILE          writes a script with a handler for each tracepoint

From the descriptor come lines of JSON, as src/output/handlers.c writes them: a line for each event, sample, record and
count. The modules that such scripts import are made here: perf_trace_context, Core, Util and EventClass."""
import errno, inspect, itertools, json, os, re, struct, sys, types
from collections import defaultdict

NS = 1000000000
NO_NUMBER = (1 << 64) - 1
ATTR_BYTES = 144  # as perf 7.2 has them
NO_DATA_SRC = 128933429281  # every part of it "not available"
NO_DATA_SRC_TEXT = '|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A'


def module(name, members):
    made = types.ModuleType(name)
    made.__dict__.update({key: value for key, value in members.items() if not key.startswith('__')})
    sys.modules[name] = made


# ---- the module perf_trace_context ----

class Context:
    """What handlers of tracepoints get, and pass to the functions of perf_trace_context."""
    __slots__ = ('sample',)

    def __init__(self, sample):
        self.sample = sample


def context_members():
    def common(name):
        return lambda context: context.sample.get(name, 0)

    def source_line(context):
        return context.sample.get('source', (None, None))

    return {'perf_script_context': Context({}), 'common_pc': common('common_preempt_count'), 'common_flags': common('common_flags'),
            'common_lock_depth': common('common_lock_depth'), 'perf_sample_insn': lambda context: b'',
            'perf_sample_srcline': source_line, 'perf_sample_srccode': lambda context: (*source_line(context), None),
            'perf_set_itrace_options': lambda context, options: -1, 'perf_config_get': lambda name: None}


# ---- the module Core ----

class Names:
    """The names of values of a tracepoint's field."""

    def __init__(self, delimiter=None):
        self.delimiter, self.values = delimiter, {}

    def flags(self, value):
        if value == 0:
            return self.values.get(0, '')
        found = []
        for bits in sorted(self.values):
            if bits and value & bits == bits:
                found.append(self.values[bits])
                value &= ~bits
        return f' {self.delimiter} '.join(found)

    def symbol(self, value):
        return self.values.get(value, '')


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain):
        self.cpu, self.secs, self.nsecs, self.pid = common_cpu, common_secs, common_nsecs, common_pid
        self.comm, self.callchain = common_comm, common_callchain

    def ts(self):
        return self.secs * NS + self.nsecs

    def ts_format(self):
        return f'{self.secs}.{self.nsecs // 1000}'


def autodict():
    return defaultdict(autodict)


def core_members():
    flag_fields, symbolic_fields = defaultdict(dict), defaultdict(dict)
    trace_flags = {0x00: 'NONE', 0x01: 'IRQS_OFF', 0x02: 'IRQS_NOSUPPORT', 0x04: 'NEED_RESCHED', 0x08: 'HARDIRQ', 0x10: 'SOFTIRQ'}
    states = {0: 'R', 1: 'S', 2: 'D', 64: 'DEAD'}

    def names(fields, event, field):
        return fields[event].setdefault(field, Names())

    def define_flag_field(event_name, field_name, delim):
        names(flag_fields, event_name, field_name).delimiter = delim

    def define_flag_value(event_name, field_name, value, flag_str):
        names(flag_fields, event_name, field_name).values[value] = flag_str

    def define_symbolic_field(event_name, field_name):
        names(symbolic_fields, event_name, field_name)

    def define_symbolic_value(event_name, field_name, value, symbol_str):
        names(symbolic_fields, event_name, field_name).values[value] = symbol_str

    def flag_str(event_name, field_name, value):
        return names(flag_fields, event_name, field_name).flags(value)

    def symbol_str(event_name, field_name, value):
        return names(symbolic_fields, event_name, field_name).symbol(value)

    def trace_flag_str(value):
        if not value:
            return 'NONE'
        return ' | '.join(name for bit, name in trace_flags.items() if bit & value)

    def taskState(state):
        return states.get(state, 'Unknown')

    return {**locals(), 'autodict': autodict, 'EventHeaders': EventHeaders, 'defaultdict': defaultdict}


# ---- the module Util ----

def util_members():
    def avg(total, n):
        return total / n

    def nsecs(secs, nsecs):
        return secs * NS + nsecs

    def nsecs_secs(nsecs):
        return nsecs / NS

    def nsecs_nsecs(nsecs):
        return nsecs % NS

    def nsecs_str(nsecs):
        return f'{nsecs // NS:5}.{nsecs % NS:09}'

    def add_stats(dict, key, value):
        lowest, highest, average, count = dict.get(key, (value, value, value, 0))
        mean = (average + value) / 2 if count else value
        dict[key] = (min(lowest, value), max(highest, value), mean, count + 1)

    def clear_term():
        print('\x1b[H\x1b[2J')

    def syscall_name(id):
        try:
            import audit
            return audit.audit_syscall_to_name(id, audit.audit_detect_machine())
        except ImportError:
            return str(id)

    def strerror(nr):
        return errno.errorcode.get(abs(nr), f'Unknown {nr} errno')

    return {**locals(), 'NSECS_PER_SEC': NS, 'FUTEX_WAIT': 0, 'FUTEX_WAKE': 1, 'FUTEX_PRIVATE_FLAG': 128, 'FUTEX_CLOCK_REALTIME': 256,
            'FUTEX_CMD_MASK': ~(128 | 256), 'errno': errno, 'os': os}


# ---- the module EventClass ----

EVTYPE_GENERIC, EVTYPE_PEBS, EVTYPE_PEBS_LL, EVTYPE_IBS = range(4)


class PerfEvent:
    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name, self.comm, self.dso, self.symbol, self.raw_buf, self.ev_type = name, comm, dso, symbol, raw_buf, ev_type
        PerfEvent.event_num += 1

    def show(self):
        print(f'PMU event: name={self.name:>12}, symbol={self.symbol:>24}, comm={self.comm:>8}, dso={self.dso:>12}')


class PebsEvent(PerfEvent):
    """The registers that the processor wrote at the event: 144 bytes."""
    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack_from('<10Q', raw_buf)
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    """With the address, source and latency of a load: 176 bytes."""
    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        self.status, self.dla, self.dse, self.lat = struct.unpack_from('<4Q', raw_buf, 144)
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        PebsNHM.pebs_nhm_num += 1


def create_event(name, comm, dso, symbol, raw_buf):
    made = {144: PebsEvent, 176: PebsNHM}.get(len(raw_buf), PerfEvent)
    return made(name, comm, dso, symbol, raw_buf)


def class_members():
    wanted = (PerfEvent, PebsEvent, PebsNHM, create_event)
    return {**{one.__name__: one for one in wanted}, 'EVTYPE_GENERIC': EVTYPE_GENERIC, 'EVTYPE_PEBS': EVTYPE_PEBS,
            'EVTYPE_PEBS_LL': EVTYPE_PEBS_LL, 'EVTYPE_IBS': EVTYPE_IBS, 'struct': struct}


# ---- names of values, from the print format of a tracepoint ----

CALL = re.compile(r'__print_(symbolic|flags)\s*\(\s*(?:\([^()]*\)\s*)?REC->(\w+)[^,{]*,\s*(?:"([^"]*)"\s*,\s*)?((?:\{[^{}]*\}\s*,?\s*)+)')
PAIR = re.compile(r'\{\s*([^{}]*?)\s*,\s*"([^"]*)"\s*\}')
NUMBER = re.compile(r'[0-9a-fA-FxX()<|+\s-]+\Z')


def number_of(text):
    """The value of an expression of numbers; None: it has names, which only the kernel knows."""
    text = re.sub(r'(?<=[0-9a-fA-F])[uUlL]+\b', '', text)
    try:
        return eval(text, {'__builtins__': {}}) if NUMBER.match(text) and len(text) < 100 and '**' not in text else None
    except (SyntaxError, ValueError, TypeError, NameError, OverflowError):
        return None


def define_names(event):
    core = sys.modules['Core']
    for kind, field, delimiter, pairs in CALL.findall(event.get('print') or ''):
        symbolic = kind == 'symbolic'
        if symbolic:
            core.define_symbolic_field(event['handler'], field)
        else:
            core.define_flag_field(event['handler'], field, delimiter)
        for value, name in PAIR.findall(pairs):
            number = number_of(value)
            if number is not None:
                (core.define_symbolic_value if symbolic else core.define_flag_value)(event['handler'], field, number, name)


# ---- what handlers get ----

def take_event(line):
    line['attr'] = bytes.fromhex(line['attr']).ljust(ATTR_BYTES, b'\0')
    if 'tracepoint' in line:
        line['handler'] = re.sub(r'\W', '_', f"{line['system']}__{line['tracepoint']}")
        define_names(line)
    else:
        line['handler'] = None
    return line


def frames(line):
    made = []
    for frame in line.get('callchain', ()):
        node = {'ip': frame['ip']}
        if 'symbol' in frame:
            node['sym'] = {'start': frame['start'], 'end': frame['end'], 'binding': 0, 'name': frame['symbol']}
            if 'inlined' not in frame:
                node['sym_off'] = frame['offset']
        if 'dso' in frame:
            node['dso'] = frame['dso']
        made.append(node)
    return made


def name_and_offset(position):
    if not position or 'symbol' not in position:
        return '[unknown]'
    return f"{position['symbol']}+0x{position['offset']:x}" if position['offset'] else position['symbol']


def branches(line):
    made = []
    for branch in line.get('branches', ()):
        one = {key: branch[key] for key in ('from', 'to', 'mispred', 'predicted', 'in_tx', 'abort', 'cycles')}
        one['from_dsoname'] = branch.get('from_position', {}).get('dso', '')
        one['to_dsoname'] = branch.get('to_position', {}).get('dso', '')
        made.append(one)
    return made


def named_branches(line):
    return [{'from': name_and_offset(branch.get('from_position')), 'to': name_and_offset(branch.get('to_position')),
             'pred': 'M' if branch['mispred'] else 'P' if branch['predicted'] else '-', 'in_tx': 'X' if branch['in_tx'] else '-',
             'abort': 'A' if branch['abort'] else '-'} for branch in line.get('branches', ())]


def put_position(into, position, prefix=''):
    if not position:
        return
    into[f'{prefix}dso'] = position['dso']
    into[f'{prefix}dso_bid'] = position['build_id']
    into[f'{prefix}dso_map_start'] = position['map_start']
    into[f'{prefix}dso_map_end'] = position['map_end']
    into[f'{prefix}map_pgoff'] = position['pgoff']
    if 'symbol' in position:
        into[f'{prefix}symbol'] = position['symbol']
        into[f'{prefix}symoff'] = position['offset']


def registers(values):
    return ''.join(f'{name:>5}:0x{value:x} ' for name, value in values)


def sample_members(line):
    get = line.get
    made = {'id': get('id', NO_NUMBER), 'stream_id': get('stream_id', NO_NUMBER), 'pid': line['pid'], 'tid': line['tid'],
            'cpu': get('cpu', 0xffffffff), 'ip': get('ip', 0), 'time': get('time', NO_NUMBER), 'period': line['period'],
            'phys_addr': get('phys_addr', 0), 'addr': get('addr', 0)}
    for name in 'time_enabled', 'time_running':
        if name in line:
            made[name] = line[name]
    made['values'] = [tuple(value) for value in line['values']] if 'values' in line else [(0, 0, 0)]
    made.update(weight=get('weight', 0), ins_lat=get('ins_lat', 0), transaction=get('transaction', 0), datasrc=get('datasrc', NO_DATA_SRC),
                datasrc_decode=get('datasrc_decode', NO_DATA_SRC_TEXT), cpumode=line['cpumode'])
    if 'addr_position' in line:
        made['addr_correlates_sym'] = True
        put_position(made, line['addr_position'], 'addr_')
    return made


def sample_dict(event, line, chain):
    made = {'ev_name': event['name'], 'attr': event['attr'], 'sample': sample_members(line), 'raw_buf': bytes.fromhex(line.get('raw', '')),
            'comm': line['comm']}
    put_position(made, line.get('position'))
    made.update(callchain=chain, brstack=branches(line), brstacksym=named_branches(line))
    for name in 'iregs', 'uregs':
        if line.get(name):
            made[name] = registers(line[name])
    return made


# ---- calling them ----

class Handlers:
    """The functions of a script, by their names."""

    def __init__(self, members):
        self.members, self.events = members, {}

    def get(self, name):
        found = self.members.get(name)
        return found if callable(found) else None

    def call(self, name, *arguments):
        handler = self.get(name)
        if handler:
            handler(*arguments)

    def call_with_dict(self, handler, arguments, make):
        """Those that have a parameter for it get the dictionary of the sample, too."""
        code = getattr(handler, '__code__', None)
        if code and code.co_argcount == len(arguments) + 1 + inspect.ismethod(handler):
            arguments = (*arguments, make())
        handler(*arguments)

    def tracepoint(self, event, line):
        chain, context = frames(line), Context(line)
        handler = self.get(event['handler'])
        time = line.get('time', 0)
        common = (line.get('cpu', 0xffffffff), time // NS, time % NS, line.get('common_pid', line['tid']), line['comm'], chain)

        def make():
            return sample_dict(event, line, chain)
        fields = line.get('fields', ())
        if handler:
            self.call_with_dict(handler, (event['handler'], context, *common, *fields), make)
        elif self.get('trace_unhandled'):
            names = ('common_cpu', 'common_s', 'common_ns', 'common_pid', 'common_comm', 'common_callchain')
            values = dict(zip(names, common), **dict(zip((field['name'] for field in event['fields']), fields)))
            self.call_with_dict(self.get('trace_unhandled'), (event['handler'], context, values), make)

    def sample(self, line):
        event = self.events[line['event']]
        line['comm'] = line['comm'] if line['comm'] is not None else f":{line['tid']}"
        if event['handler']:
            self.tracepoint(event, line)
        elif self.get('process_event'):
            self.get('process_event')(sample_dict(event, line, frames(line)))

    def count(self, line):
        name = 'stat__' + self.events[line['event']]['name'].replace(':', '_')
        self.call(name, line['cpu'], line['thread'], line['time'], line['value'], line['enabled'], line['running'])

    def interval(self, line):
        self.call('stat__interval', line['time'])

    def record(self, line):
        RECORDS[line['type']](self, line, line.get('owner', {'cpu': -1, 'pid': -1, 'tid': -1, 'time': -1}))

    def event(self, line):
        self.events[line['event']] = take_event(line)

    def throttle(self, line, owner):
        self.call(line['type'].lower(), line['time'], line['id'], line['stream_id'], owner['cpu'], owner['pid'], owner['tid'])

    def switch(self, line, owner):
        out = bool(line['misc'] & 1 << 13)
        self.call('context_switch', owner['time'], owner['cpu'], owner['pid'], owner['tid'], line.get('next_prev_pid', -1),
                  line.get('next_prev_tid', -1), -1, out, out and bool(line['misc'] & 1 << 14), 0, -1)

    def auxtrace_error(self, line, owner):
        self.call('auxtrace_error', line['error_type'], line['code'], line['cpu'], line['pid'], line['tid'], line['ip'],
                  line.get('time', 0), line.get('msg', ''), line['misc'] & 7, line.get('machine_pid', 0), line.get('vcpu', 0))


RECORDS = {'THROTTLE': Handlers.throttle, 'UNTHROTTLE': Handlers.throttle, 'SWITCH': Handlers.switch,
           'SWITCH_CPU_WIDE': Handlers.switch, 'AUXTRACE_ERROR': Handlers.auxtrace_error}
KINDS = {'event': Handlers.event, 'sample': Handlers.sample, 'record': Handlers.record, 'count': Handlers.count,
         'interval': Handlers.interval}


def run(lines, path, arguments):
    main = types.ModuleType('__main__')
    sys.modules['__main__'] = main
    main.__file__ = path
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(path)
    with open(path, 'rb') as file:
        code = compile(file.read(), path, 'exec')
    exec(code, main.__dict__)
    handlers = Handlers(main.__dict__)
    handlers.call('trace_begin')
    for text in lines:
        line = json.loads(text)
        KINDS[line['kind']](handlers, line)
    handlers.call('trace_end')


# ---- a script to start with ----

HEAD = '''# Handlers of the events of a recording, for: perfile script -s {name}
#
# A handler that has one parameter more than those of its event gets the dictionary of the sample, too. For a program of its
# own there is the Python package perfile, which needs no handlers:
#
#     import perfile
#     with perfile.open('perf.data') as recording:
#         for sample in recording.samples():
#             print(sample.time, sample.comm)
import os
import sys

sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
from perf_trace_context import *
from Core import *


def trace_begin():
    print("in trace_begin")


def trace_end():
    print("in trace_end")
'''
HANDLER = '''

def {handler}(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
        common_callchain, {parameters}perf_sample_dict):
    print_header(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm)
    print({values})
    print_callchain(common_callchain)
'''
TAIL = '''

def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    print(event_name, members_of(event_fields_dict))


def process_event(param_dict):
    """Samples of all other events."""
    print(param_dict["ev_name"], param_dict["comm"], members_of(param_dict["sample"]))
    print_callchain(param_dict["callchain"])


def print_header(event_name, cpu, secs, nsecs, pid, comm):
    print(f"{event_name:<20} {cpu:5} {secs:05}.{nsecs:09} {pid:8} {comm:<20} ", end="")


def print_callchain(callchain):
    for node in callchain:
        print(f"\\t{node['ip']:x}", node["sym"]["name"] if "sym" in node else "", f"({node['dso']})" if "dso" in node else "")


def members_of(members):
    return ", ".join(f"{name}={value}" for name, value in sorted(members.items()))
'''


def handler_text(event):
    names = [field['name'] + ('_' if field['name'] in ('def', 'class', 'from', 'in', 'is', 'as', 'pass', 'raise', 'lambda') else '')
             for field in event['fields']]
    values = ', '.join(f'{name}={{{name}}}' for name in names)
    return HANDLER.format(handler=event['handler'], parameters=''.join(f'{name}, ' for name in names), values=f'f"{values}"')


def generate(lines, path):
    events = {}
    for text in lines:
        line = json.loads(text)
        if line['kind'] != 'event':
            break
        event = take_event(line)
        if event['handler']:
            events[event['handler']] = handler_text(event)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEAD.format(name=os.path.basename(path)) + ''.join(events.values()) + TAIL)
    print(f'{path}: handlers of {len(events)} tracepoint{"" if len(events) == 1 else "s"}', file=sys.stderr)


def main():
    lines = os.fdopen(int(sys.argv[1]), encoding='utf-8', errors='surrogateescape')
    first = next(lines, None)
    if first is None:  # the recording could not be read
        sys.exit(1)
    lines = itertools.chain([first], lines)
    for name, members in (('perf_trace_context', context_members()), ('Core', core_members()), ('Util', util_members()),
                          ('EventClass', class_members())):
        module(name, members)
    if sys.argv[2] == '--generate':
        generate(lines, sys.argv[3])
    else:
        run(lines, sys.argv[2], sys.argv[3:])


main()
