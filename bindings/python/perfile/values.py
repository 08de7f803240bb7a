# SPDX-License-Identifier: MIT
# Written by bindings/python/generate.py from the public headers; do not edit.
"""What libperfile gives out, as named tuples: copies, which stay valid. Names are those of C."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

from . import abi

Bytes = bytes  # members are called so, too


class Read(NamedTuple):
    """Counter values; the bits of `format` say which members are valid."""
    format: int
    time_enabled: int
    time_running: int
    values: Tuple[ReadValue, ...]


class Regs(NamedTuple):
    """Registers: bit n of `mask` stands for register n; `values` are in ascending order of the bits."""
    abi: int
    mask: int
    values: Tuple[int, ...]


class CpuSet(NamedTuple):
    """CPU numbers, and whether "any CPU" is meant, too."""
    any_cpu: bool
    cpus: Tuple[int, ...]


class BranchStack(NamedTuple):
    """Taken branches, newest first."""
    hw_idx: Optional[int]
    entries: Tuple[Branch, ...]
    counters: Tuple[int, ...]


class Trouble(NamedTuple):
    kind: int
    name: Optional[str]
    short_name: Optional[str]
    path: Optional[str]
    build_id: Optional[str]
    other_build_id: Optional[str]
    count: int  # type: ignore[assignment]
    total: int


class UsedFile(NamedTuple):
    kind: Optional[str]
    name: Optional[str]
    path: Optional[str]
    build_id: Optional[str]
    pid: int


class MachineCode(NamedTuple):
    bytes: Bytes
    byte_count: int
    address: int
    elf_machine: int
    is_64: bool
    is_big_endian: bool


class OutputInfo(NamedTuple):
    kind: Optional[str]
    format: Optional[str]
    doc: Optional[str]
    binary: bool


class RunningKernel(NamedTuple):
    kallsyms: Optional[str]
    modules: str
    build_id: Bytes
    build_id_bytes: int


class Bundle(NamedTuple):
    start: int
    bytes: int
    files: int
    code: bool


class AnnotationEvent(NamedTuple):
    name: Optional[str]
    unit: Optional[str]
    samples: int
    period: int


class Weight(NamedTuple):
    samples: int
    period: int


class AnnotationFunction(NamedTuple):
    name: Optional[str]
    raw_name: Optional[str]
    label: Optional[str]
    module: int
    kind: int
    address: int
    bytes: int
    rank: int


class ListingLine(NamedTuple):
    address: int
    bytes: Bytes
    byte_count: int
    kind: int
    text: Optional[str]
    target: int
    line: int
    file: Optional[str]
    frame_count: int
    jump_count: int
    taken: int
    mispredicted: int
    reached: int
    cycles: int
    cycle_count: int


class ListingFrame(NamedTuple):
    name: Optional[str]
    file: Optional[str]
    line: int
    inlined: bool


class DiffRow(NamedTuple):
    function: Optional[str]
    module: Optional[str]
    line: Optional[str]
    thread: Optional[str]
    path: Optional[str]
    other: Optional[str]
    state: int
    verdict: int
    parent: int
    in_family: bool
    fails: bool
    left_out: bool
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    q: float
    df: float
    detectable: float
    limit: float
    limit_q: float
    share_before: float
    share_after: float
    samples_before: int
    samples_after: int


class DiffInfo(NamedTuple):
    event: Optional[str]
    unit: Optional[str]
    sampling_only: bool
    assumed: bool
    alpha: float
    margin: float
    limit_alpha: float
    before_count: int
    after_count: int
    family: int
    failing: int
    has_limit: bool


class EditReport(NamedTuple):
    records_kept: int
    samples_kept: int
    records_dropped: int
    samples_dropped: int
    records_damaged: int
    bytes_dropped: int
    records_mended: int
    features_rebuilt: int
    features_dropped: int
    samples_unscaled: int
    bytes_stripped: int
    events_changed: int
    records_changed: int
    samples_unwound: int
    samples_without: int
    build_ids_added: int
    build_ids_missing: int
    code_added: int
    maps_added: int


class SplitPart(NamedTuple):
    index: int  # type: ignore[assignment]
    by: int
    value: int
    name: Optional[str]


class MergeNote(NamedTuple):
    input: int
    rule: Optional[str]
    feature: int
    message: Optional[str]


class MergeReport(NamedTuple):
    total: Optional[EditReport]
    inputs: Tuple[EditReport, ...]
    input_count: int
    events: int
    events_unified: int
    ids_renumbered: int
    records_unified: int
    stacks_trimmed: int
    unordered: int
    reshaped: bool
    clocks_aligned: bool


class Anonymized(NamedTuple):
    name: Optional[str]
    doc: Optional[str]
    action: Optional[str]
    changed: int
    removed: int
    kept: int


class AnonymizeReport(NamedTuple):
    edit: Optional[EditReport]
    categories: Tuple[Anonymized, ...]
    category_count: int


class Diagnostic(NamedTuple):
    rule: Optional[str]
    severity: int
    offset: int
    length: int
    file: Optional[str]
    message: Optional[str]


class Section(NamedTuple):
    offset: int
    bytes: int


class EventType(NamedTuple):
    event_id: int
    name: Optional[str]


class File(NamedTuple):
    mode: int
    version: int
    big_endian: bool
    swapped: bool
    finished: bool
    file_bytes: int
    header_size: int
    attr_size: int
    attrs: Section
    data: Section
    event_types: Section
    event_type_entries: Tuple[EventType, ...]
    event_type_count: int
    feature_bits: Tuple[int, ...]
    feature_words_32: bool
    parts: Tuple[str, ...]
    path: Optional[str]


class Counts(NamedTuple):
    records: int
    samples: int
    damaged: int
    unknown: int
    notes: int
    warnings: int
    losses: int
    bytes_lost: int
    lost_events: int
    data_bytes: int
    inflated_bytes: int
    lost_samples: int
    lost_reported: int
    lost_counted: int
    aux_bytes: int
    aux_type: int
    stat_counts: int
    unread_bytes: int


class ReadValue(NamedTuple):
    value: int
    id: int
    lost: int


class Branch(NamedTuple):
    from_: int
    to: int
    mispred: bool
    predicted: bool
    in_tx: bool
    abort: bool
    cycles: int
    type: int
    spec: int
    new_type: int
    priv: int
    reserved: int


class Feature(NamedTuple):
    number: int
    name: Optional[str]
    section: Section
    readable: bool


class TracepointField(NamedTuple):
    name: Optional[str]
    type: Optional[str]
    offset: int
    bytes: int
    element_bytes: int
    is_signed: bool
    is_array: bool
    is_text: bool
    is_dynamic: bool
    is_relative: bool
    is_common: bool


class Tracepoint(NamedTuple):
    id: int
    system: Optional[str]
    name: Optional[str]
    format: Optional[str]
    print_fmt: Optional[str]
    fields: Tuple[TracepointField, ...]
    field_count: int


class Unmatched(NamedTuple):
    filter: Optional[str]
    value: Optional[str]
    known: Tuple[str, ...]
    known_count: int


class Map(NamedTuple):
    start: int
    end: int
    pgoff: int
    filename: Optional[str]
    pid: int
    id: int
    prot: int
    flags: int
    build_id: Bytes
    build_id_bytes: int
    kernel: bool
    data: bool
    symbol: bool
    code: int


class Frame(NamedTuple):
    name: Optional[str]
    module: int
    function: int
    offset: int
    address: int
    file: Optional[str]
    line: int
    kind: int


class Module(NamedTuple):
    name: Optional[str]
    short_name: Optional[str]
    path: Optional[str]
    build_id: Bytes
    build_id_bytes: int
    state: int
    kernel: bool
    jit: bool
    kind: int


class Losses(NamedTuple):
    samples: int
    filtered: int
    lost: int
    unmapped: int
    unresolved: int
    truncated: int
    guessed: int


class ProfileRecording(NamedTuple):
    path: Optional[str]
    hostname: Optional[str]
    os_release: Optional[str]
    arch: Optional[str]
    cpu: Optional[str]
    version: Optional[str]
    cmdline: Tuple[str, ...]
    cmdline_count: int
    first_time: int
    last_time: int
    clock: int
    wall_time: int
    clock_time: int
    lost: int


class ProfileEvent(NamedTuple):
    name: Optional[str]
    unit: Optional[str]
    config: int
    type: int
    first_value: int
    value_count: int


class ProfileValueType(NamedTuple):
    name: Optional[str]
    unit: Optional[str]
    event: int
    total: int


class ProfileFunction(NamedTuple):
    name: Optional[str]
    raw_name: Optional[str]
    label: Optional[str]
    module: int
    kind: int
    address: int
    bytes: int
    file: Optional[str]
    start_line: int


class ProfileFrame(NamedTuple):
    function: int
    kind: int
    offset: int
    address: int
    file_offset: int
    file: Optional[str]
    line: int


class ProfileStack(NamedTuple):
    parent: int
    frame: int


class ProfileThread(NamedTuple):
    pid: int
    tid: int
    comm: Optional[str]
    comms: Tuple[str, ...]
    comm_count: int
    first_time: int
    last_time: int
    samples: int


class ProfileSample(NamedTuple):
    event: int
    stack: int
    leaf: int
    value_count: int
    cpu: int
    values: Tuple[int, ...]
    pid: int
    tid: int
    comm: Optional[str]
    time: int
    cgroup: Optional[str]
    recording: int


class Location(NamedTuple):
    address: int
    pid: int
    cpumode: int
    flags: int


class KnownEvent(NamedTuple):
    name: Optional[str]
    kind: Optional[str]
    doc: Optional[str]
    works: bool


class Attr(NamedTuple):
    type: int
    size: int
    config: int
    sample_period_or_freq: int
    sample_type: int
    read_format: int
    disabled: int
    inherit: int
    pinned: int
    exclusive: int
    exclude_user: int
    exclude_kernel: int
    exclude_hv: int
    exclude_idle: int
    mmap: int
    comm: int
    freq: int
    inherit_stat: int
    enable_on_exec: int
    task: int
    watermark: int
    precise_ip: int
    mmap_data: int
    sample_id_all: int
    exclude_host: int
    exclude_guest: int
    exclude_callchain_kernel: int
    exclude_callchain_user: int
    mmap2: int
    comm_exec: int
    use_clockid: int
    context_switch: int
    write_backward: int
    namespaces: int
    ksymbol: int
    bpf_event: int
    aux_output: int
    cgroup: int
    text_poke: int
    build_id: int
    inherit_thread: int
    remove_on_exec: int
    sigtrap: int
    defer_callchain: int
    defer_output: int
    wakeup_events_or_watermark: int
    bp_type: int
    bp_addr_or_config1: int
    bp_len_or_config2: int
    branch_sample_type: int
    sample_regs_user: int
    sample_stack_user: int
    clockid: int
    sample_regs_intr: int
    aux_watermark: int
    sample_max_stack: int
    aux_sample_size: int
    aux_start_paused: int
    aux_pause: int
    aux_resume: int
    sig_data: int
    config3: int
    config4: int


class NamespaceLink(NamedTuple):
    dev: int
    ino: int


class IdIndexEntry(NamedTuple):
    id: int
    idx: int
    cpu: int
    tid: int


class IdIndexGuest(NamedTuple):
    machine_pid: int
    vcpu: int


class ThreadMapEntry(NamedTuple):
    pid: int
    comm: str


class StatConfigEntry(NamedTuple):
    tag: int
    val: int


class BpfMetadataEntry(NamedTuple):
    key: str
    value: str


class SimpleperfEventIdEntry(NamedTuple):
    attr_index: int
    id: int


class SampleId(NamedTuple):
    present: int
    pid: int
    tid: int
    time: int
    id: int
    stream_id: int
    cpu: int
    res: int
    identifier: int


class Mmap(NamedTuple):
    pid: int
    tid: int
    addr: int
    len: int
    pgoff: int
    filename: Optional[str]


class Lost(NamedTuple):
    id: int
    lost: int


class Comm(NamedTuple):
    pid: int
    tid: int
    comm: Optional[str]


class Exit(NamedTuple):
    pid: int
    ppid: int
    tid: int
    ptid: int
    time: int


class Throttle(NamedTuple):
    time: int
    id: int
    stream_id: int


class Unthrottle(NamedTuple):
    time: int
    id: int
    stream_id: int


class Fork(NamedTuple):
    pid: int
    ppid: int
    tid: int
    ptid: int
    time: int


class ReadCounters(NamedTuple):
    pid: int
    tid: int
    values: Read


class Mmap2(NamedTuple):
    pid: int
    tid: int
    addr: int
    len: int
    pgoff: int
    build_id_size: int
    build_id: Bytes
    maj: int
    min: int
    ino: int
    ino_generation: int
    prot: int
    flags: int
    filename: Optional[str]


class Aux(NamedTuple):
    aux_offset: int
    aux_size: int
    flags: int


class ItraceStart(NamedTuple):
    pid: int
    tid: int


class LostSamples(NamedTuple):
    lost: int


class SwitchCpuWide(NamedTuple):
    next_prev_pid: int
    next_prev_tid: int


class Namespaces(NamedTuple):
    pid: int
    tid: int
    nr_namespaces: int
    link_info: Tuple[NamespaceLink, ...]


class Ksymbol(NamedTuple):
    addr: int
    len: int
    ksym_type: int
    flags: int
    name: Optional[str]


class BpfEvent(NamedTuple):
    bpf_type: int
    flags: int
    id: int
    tag: Bytes


class Cgroup(NamedTuple):
    id: int
    path: Optional[str]


class TextPoke(NamedTuple):
    addr: int
    old_len: int
    new_len: int
    old_bytes: Bytes
    new_bytes: Bytes


class AuxOutputHwId(NamedTuple):
    hw_id: int


class CallchainDeferred(NamedTuple):
    cookie: int
    nr: int
    ips: Tuple[int, ...]


class HeaderAttr(NamedTuple):
    ids: Tuple[int, ...]
    attr: Attr


class HeaderEventType(NamedTuple):
    event_id: int
    name: Bytes


class HeaderTracingData(NamedTuple):
    data_size: int
    pad: int


class HeaderBuildId(NamedTuple):
    pid: int
    build_id: Bytes
    build_id_size: int
    filename: Optional[str]


class IdIndex(NamedTuple):
    nr: int
    entries: Tuple[IdIndexEntry, ...]
    guests: Tuple[IdIndexGuest, ...]


class AuxtraceInfo(NamedTuple):
    auxtrace_type: int
    priv: Tuple[int, ...]


class Auxtrace(NamedTuple):
    data_size: int
    offset: int
    reference: int
    idx: int
    tid: int
    cpu: int
    reserved__: int


class AuxtraceError(NamedTuple):
    error_type: int
    code: int
    cpu: int
    pid: int
    tid: int
    fmt: int
    ip: int
    time: int
    msg: str
    machine_pid: int
    vcpu: int


class ThreadMap(NamedTuple):
    nr: int
    entries: Tuple[ThreadMapEntry, ...]


class CpuMap(NamedTuple):
    map: CpuSet


class StatConfig(NamedTuple):
    nr: int
    data: Tuple[StatConfigEntry, ...]


class Stat(NamedTuple):
    id: int
    cpu: int
    thread: int
    val: int
    ena: int
    run: int


class StatRound(NamedTuple):
    round_type: int
    time: int


class EventUpdate(NamedTuple):
    update_type: int
    id: int
    unit: Optional[str]
    scale: float
    name: Optional[str]
    cpus: CpuSet


class TimeConv(NamedTuple):
    time_shift: int
    time_mult: int
    time_zero: int
    time_cycles: int
    time_mask: int
    cap_user_time_zero: int
    cap_user_time_short: int


class HeaderFeature(NamedTuple):
    feat_id: int
    data: Bytes


class Compressed(NamedTuple):
    data_size: int


class Compressed2(NamedTuple):
    data_size: int


class BpfMetadata(NamedTuple):
    prog_name: str
    nr_entries: int
    entries: Tuple[BpfMetadataEntry, ...]


class SchedstatCpu(NamedTuple):
    timestamp: int
    cpu: int
    version: int
    yld_count: int
    array_exp: int
    sched_count: int
    sched_goidle: int
    ttwu_count: int
    ttwu_local: int
    rq_cpu_time: int
    run_delay: int
    pcount: int


class SchedstatDomain(NamedTuple):
    timestamp: int
    cpu: int
    version: int
    domain: int
    counters: Tuple[int, ...]


class SimpleperfKernelSymbol(NamedTuple):
    data_size: int
    kallsyms: Bytes


class SimpleperfDso(NamedTuple):
    dso_type: int
    dso_id: int
    min_vaddr: int
    name: Optional[str]


class SimpleperfSymbol(NamedTuple):
    addr: int
    len: int
    dso_id: int
    name: Optional[str]


class SimpleperfSplit(NamedTuple):
    data_size: int


class SimpleperfEventId(NamedTuple):
    nr: int
    entries: Tuple[SimpleperfEventIdEntry, ...]


class SimpleperfCallchain(NamedTuple):
    pid: int
    tid: int
    chain_type: int
    time: int
    nr: int
    ips: Tuple[int, ...]
    sps: Tuple[int, ...]


class SimpleperfUnwindingResult(NamedTuple):
    time: int


class SimpleperfTracingData(NamedTuple):
    data_size: int


class SimpleperfDebug(NamedTuple):
    time: int
    message: Optional[str]


class ViewInfo(NamedTuple):
    name: Optional[str]
    doc: Optional[str]


class ViewEvent(NamedTuple):
    name: Optional[str]
    kind: Optional[str]
    need: int


class Column(NamedTuple):
    name: Optional[str]
    unit: Optional[str]
    doc: Optional[str]
    type: int
    shown: bool


class Constant(NamedTuple):
    name: Optional[str]
    doc: Tuple[str, ...]
    text: Optional[str]


class ParquetInfo(NamedTuple):
    rows: int
    groups: int
    bytes: int


class WriterCounts(NamedTuple):
    records: int
    samples: int
    bytes: int


# of which struct they are copies
CLASSES: Dict[Any, Any] = {
    abi.perfile_trouble: Trouble,
    abi.perfile_used_file: UsedFile,
    abi.perfile_machine_code: MachineCode,
    abi.perfile_output_info: OutputInfo,
    abi.perfile_running_kernel: RunningKernel,
    abi.perfile_bundle: Bundle,
    abi.perfile_annotation_event: AnnotationEvent,
    abi.perfile_weight: Weight,
    abi.perfile_annotation_function: AnnotationFunction,
    abi.perfile_listing_line: ListingLine,
    abi.perfile_listing_frame: ListingFrame,
    abi.perfile_diff_row: DiffRow,
    abi.perfile_diff_info: DiffInfo,
    abi.perfile_edit_report: EditReport,
    abi.perfile_split_part: SplitPart,
    abi.perfile_merge_note: MergeNote,
    abi.perfile_merge_report: MergeReport,
    abi.perfile_anonymized: Anonymized,
    abi.perfile_anonymize_report: AnonymizeReport,
    abi.perfile_diagnostic: Diagnostic,
    abi.perfile_section: Section,
    abi.perfile_event_type: EventType,
    abi.perfile_file: File,
    abi.perfile_counts: Counts,
    abi.perfile_read_value: ReadValue,
    abi.perfile_branch: Branch,
    abi.perfile_feature: Feature,
    abi.perfile_tracepoint_field: TracepointField,
    abi.perfile_tracepoint: Tracepoint,
    abi.perfile_unmatched: Unmatched,
    abi.perfile_map: Map,
    abi.perfile_frame: Frame,
    abi.perfile_module: Module,
    abi.perfile_losses: Losses,
    abi.perfile_profile_recording: ProfileRecording,
    abi.perfile_profile_event: ProfileEvent,
    abi.perfile_profile_value_type: ProfileValueType,
    abi.perfile_profile_function: ProfileFunction,
    abi.perfile_profile_frame: ProfileFrame,
    abi.perfile_profile_stack: ProfileStack,
    abi.perfile_profile_thread: ProfileThread,
    abi.perfile_profile_sample: ProfileSample,
    abi.perfile_location: Location,
    abi.perfile_known_event: KnownEvent,
    abi.perfile_attr: Attr,
    abi.perfile_namespace_link: NamespaceLink,
    abi.perfile_id_index_entry: IdIndexEntry,
    abi.perfile_id_index_guest: IdIndexGuest,
    abi.perfile_thread_map_entry: ThreadMapEntry,
    abi.perfile_stat_config_entry: StatConfigEntry,
    abi.perfile_bpf_metadata_entry: BpfMetadataEntry,
    abi.perfile_simpleperf_event_id_entry: SimpleperfEventIdEntry,
    abi.perfile_sample_id: SampleId,
    abi.perfile_mmap: Mmap,
    abi.perfile_lost: Lost,
    abi.perfile_comm: Comm,
    abi.perfile_exit: Exit,
    abi.perfile_throttle: Throttle,
    abi.perfile_unthrottle: Unthrottle,
    abi.perfile_fork: Fork,
    abi.perfile_read_counters: ReadCounters,
    abi.perfile_mmap2: Mmap2,
    abi.perfile_aux: Aux,
    abi.perfile_itrace_start: ItraceStart,
    abi.perfile_lost_samples: LostSamples,
    abi.perfile_switch_cpu_wide: SwitchCpuWide,
    abi.perfile_namespaces: Namespaces,
    abi.perfile_ksymbol: Ksymbol,
    abi.perfile_bpf_event: BpfEvent,
    abi.perfile_cgroup: Cgroup,
    abi.perfile_text_poke: TextPoke,
    abi.perfile_aux_output_hw_id: AuxOutputHwId,
    abi.perfile_callchain_deferred: CallchainDeferred,
    abi.perfile_header_attr: HeaderAttr,
    abi.perfile_header_event_type: HeaderEventType,
    abi.perfile_header_tracing_data: HeaderTracingData,
    abi.perfile_header_build_id: HeaderBuildId,
    abi.perfile_id_index: IdIndex,
    abi.perfile_auxtrace_info: AuxtraceInfo,
    abi.perfile_auxtrace: Auxtrace,
    abi.perfile_auxtrace_error: AuxtraceError,
    abi.perfile_thread_map: ThreadMap,
    abi.perfile_cpu_map: CpuMap,
    abi.perfile_stat_config: StatConfig,
    abi.perfile_stat: Stat,
    abi.perfile_stat_round: StatRound,
    abi.perfile_event_update: EventUpdate,
    abi.perfile_time_conv: TimeConv,
    abi.perfile_header_feature: HeaderFeature,
    abi.perfile_compressed: Compressed,
    abi.perfile_compressed2: Compressed2,
    abi.perfile_bpf_metadata: BpfMetadata,
    abi.perfile_schedstat_cpu: SchedstatCpu,
    abi.perfile_schedstat_domain: SchedstatDomain,
    abi.perfile_simpleperf_kernel_symbol: SimpleperfKernelSymbol,
    abi.perfile_simpleperf_dso: SimpleperfDso,
    abi.perfile_simpleperf_symbol: SimpleperfSymbol,
    abi.perfile_simpleperf_split: SimpleperfSplit,
    abi.perfile_simpleperf_event_id: SimpleperfEventId,
    abi.perfile_simpleperf_callchain: SimpleperfCallchain,
    abi.perfile_simpleperf_unwinding_result: SimpleperfUnwindingResult,
    abi.perfile_simpleperf_tracing_data: SimpleperfTracingData,
    abi.perfile_simpleperf_debug: SimpleperfDebug,
    abi.perfile_view_info: ViewInfo,
    abi.perfile_view_event: ViewEvent,
    abi.perfile_column: Column,
    abi.perfile_constant: Constant,
    abi.perfile_parquet_info: ParquetInfo,
    abi.perfile_writer_counts: WriterCounts,
}

# the members that say how many a pointer points at; None: as many as there are before a NULL
COUNTS: Dict[Tuple[str, str], Optional[str]] = {
    ('perfile_machine_code', 'bytes'): 'byte_count',
    ('perfile_listing_line', 'bytes'): 'byte_count',
    ('perfile_merge_report', 'inputs'): 'input_count',
    ('perfile_anonymize_report', 'categories'): 'category_count',
    ('perfile_file', 'event_type_entries'): 'event_type_count',
    ('perfile_file', 'parts'): None,
    ('perfile_tracepoint', 'fields'): 'field_count',
    ('perfile_unmatched', 'known'): 'known_count',
    ('perfile_profile_recording', 'cmdline'): 'cmdline_count',
    ('perfile_profile_thread', 'comms'): 'comm_count',
    ('perfile_profile_sample', 'values'): 'value_count',
    ('perfile_text_poke', 'old_bytes'): 'old_len',
    ('perfile_text_poke', 'new_bytes'): 'new_len',
    ('perfile_simpleperf_kernel_symbol', 'kallsyms'): 'data_size',
    ('perfile_constant', 'doc'): None,
}
