# SPDX-License-Identifier: MIT
# Written by bindings/python/generate.py from the public headers; do not edit.
"""The C interface of libperfile as ctypes sees it: structs and functions under their C names."""
from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, Union, c_char, c_char_p, c_void_p, c_bool, c_double, c_int, c_int16, c_int32, c_int64, c_int8, c_size_t, c_uint, c_uint16, c_uint32, c_uint64, c_uint8, sizeof)
from typing import Any, Dict, List, Optional, Tuple

Bytes = bytes  # members are called so, too


def union(*members: Tuple[str, Any]) -> Any:
    return type('union', (Union,), {'_fields_': members})


class Struct(Structure):
    """A C struct."""

    def __repr__(self) -> str:
        named = (f'{field[0]}={getattr(self, field[0])!r}' for field in self._fields_ if field[0] != 'size')
        return f'{type(self).__name__}({", ".join(named)})'


class Sized(Struct):
    """A C struct that begins with its size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=sizeof(self), **members)


class perfile_trouble(Struct):
    kind: int
    name: Optional[Bytes]
    short_name: Optional[Bytes]
    path: Optional[Bytes]
    build_id: Optional[Bytes]
    other_build_id: Optional[Bytes]
    count: int
    total: int


class perfile_used_file(Struct):
    kind: Optional[Bytes]
    name: Optional[Bytes]
    path: Optional[Bytes]
    build_id: Optional[Bytes]
    pid: int


class perfile_symbol_options(Sized):
    size: int
    symfs: Optional[Bytes]
    vmlinux: Optional[Bytes]
    kallsyms: Optional[Bytes]
    buildid_dir: Optional[Bytes]
    archive: Optional[Bytes]
    recording: Optional[Bytes]
    debuginfod_seconds: int
    debuginfod_bytes: int
    no_inline: bool
    full_source_path: bool
    note: Any
    note_context: Any
    unwind: Optional[Bytes]
    reach: Any
    reach_context: Any
    trouble: Any
    trouble_context: Any
    source_dirs: Optional[Bytes]
    used: Any
    used_context: Any


class perfile_flame_options(Sized):
    size: int
    by: Optional[Bytes]
    time_quantum: Optional[Bytes]
    before: Any
    before_path: Optional[Bytes]
    event: Optional[Bytes]
    title: Optional[Bytes]
    colors: Optional[Bytes]
    min_width: Optional[Bytes]
    width: int
    normalize: bool
    negate: bool
    count_samples: bool
    inverted: bool
    reverse: bool
    annotate: bool
    folded: Optional[Bytes]
    folded_bytes: int
    page_bytes: int
    max_nodes: int


class perfile_report_options(Sized):
    size: int
    flags: int
    sort: Optional[Bytes]
    call_graph: Optional[Bytes]
    dsos: Optional[Bytes]
    symbols: Optional[Bytes]
    percent_limit: Optional[Bytes]
    separator: Optional[Bytes]
    max_stack: int
    time_quantum: Optional[Bytes]
    symbol_filter: Optional[Bytes]
    percentage: Optional[Bytes]
    widths: Optional[Bytes]
    parent: Optional[Bytes]
    columns: int
    top: int
    ignore_callees: Optional[Bytes]
    max_nodes: int


class perfile_event_options(Sized):
    size: int
    flags: int
    calls: Optional[Bytes]
    minimum_ns: int
    classes: Optional[Bytes]
    sort: Optional[Bytes]
    fields: Optional[Bytes]
    rows: int
    stack_skip: int
    separator: Optional[Bytes]
    locks: Optional[Bytes]
    callers: Optional[Bytes]
    stack_depth: int
    tasks: Optional[Bytes]
    cpus: Optional[Bytes]
    work: Optional[Bytes]
    priorities: Optional[Bytes]
    lines: int
    min_stack: int
    sched: int
    keys: Optional[Bytes]


class perfile_machine_code(Sized):
    size: int
    bytes: Any
    byte_count: int
    address: int
    elf_machine: int
    is_64: bool
    is_big_endian: bool


class perfile_annotate_options(Sized):
    size: int
    symbol: Optional[Bytes]
    dsos: Optional[Bytes]
    percent_limit: Optional[Bytes]
    top: int
    flags: int
    syntax: Optional[Bytes]
    width: int
    disassemble: Any
    disassemble_context: Any


class perfile_script_options(Sized):
    size: int
    show: int
    times: int
    max_stack: int
    no_callchain: bool
    latency: bool
    escape_names: bool


class perfile_dump_options(Sized):
    size: int
    max_bytes: int
    header_only: bool


class perfile_stat_options(Sized):
    size: int
    flags: int
    per: Optional[Bytes]
    title: Optional[Bytes]
    metrics: Optional[Bytes]


class perfile_export_options(Sized):
    size: int
    keys: Optional[Bytes]
    addresses: bool


class perfile_output_options(Sized):
    size: int
    filter: Any
    symbols: Any
    flame: Any
    report: Any
    script: Any
    dump: Any
    stat: Any
    exports: Any
    annotate: Any
    events: Any
    fields: Optional[Bytes]
    header: int
    nanoseconds: bool
    count: bool
    color: bool
    gzip: bool
    code: bool
    threads: int
    progress: Any
    progress_context: Any
    unmatched: Any
    unmatched_context: Any
    allocator: Any
    more: Any
    more_paths: Any
    more_count: int


class perfile_output_info(Struct):
    kind: Optional[Bytes]
    format: Optional[Bytes]
    doc: Optional[Bytes]
    binary: bool


class perfile_build_ids_options(Sized):
    size: int
    with_hits: bool
    allocator: Any
    take: Any
    context: Any


class perfile_running_kernel(Sized):
    size: int
    kallsyms: Optional[Bytes]
    modules: Any
    build_id: Any
    build_id_bytes: int


class perfile_bundle(Sized):
    size: int
    start: int
    bytes: int
    files: int
    code: bool


class perfile_annotation_options(Sized):
    size: int
    filter: Any
    symbols: Any
    threads: int
    progress: Any
    progress_context: Any
    unmatched: Any
    unmatched_context: Any
    allocator: Any
    syntax: Optional[Bytes]
    disassemble: Any
    disassemble_context: Any


class perfile_annotation_event(Sized):
    size: int
    name: Optional[Bytes]
    unit: Optional[Bytes]
    samples: int
    period: int


class perfile_weight(Sized):
    size: int
    samples: int
    period: int


class perfile_annotation_function(Sized):
    size: int
    name: Optional[Bytes]
    raw_name: Optional[Bytes]
    label: Optional[Bytes]
    module: int
    kind: int
    address: int
    bytes: int
    rank: int


class perfile_listing_line(Sized):
    size: int
    address: int
    bytes: Any
    byte_count: int
    kind: int
    text: Optional[Bytes]
    target: int
    line: int
    file: Optional[Bytes]
    frame_count: int
    jump_count: int
    taken: int
    mispredicted: int
    reached: int
    cycles: int
    cycle_count: int


class perfile_listing_frame(Sized):
    size: int
    name: Optional[Bytes]
    file: Optional[Bytes]
    line: int
    inlined: bool


class perfile_diff_options(Sized):
    size: int
    before: Any
    before_count: int
    after: Any
    after_count: int
    keys: Optional[Bytes]
    event: Optional[Bytes]
    per: Optional[Bytes]
    work: Any
    flags: int
    noise: float
    margin: float
    alpha: float
    limit: float
    limit_weight: float
    maps: Any
    map_count: int
    only: Any
    only_count: int
    ignore: Any
    ignore_count: int
    allocator: Any


class perfile_diff_row(Sized):
    size: int
    function: Optional[Bytes]
    module: Optional[Bytes]
    line: Optional[Bytes]
    thread: Optional[Bytes]
    path: Optional[Bytes]
    other: Optional[Bytes]
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


class perfile_diff_info(Sized):
    size: int
    event: Optional[Bytes]
    unit: Optional[Bytes]
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


class perfile_diff_page_options(Sized):
    size: int
    paths: Any
    functions: Any
    inclusive: Any
    title: Optional[Bytes]
    normalized: bool
    gzip: bool
    allocator: Any


class perfile_edit_report(Sized):
    size: int
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


class perfile_edit_options(Sized):
    size: int
    progress: Any
    progress_context: Any


class perfile_convert_options(Sized):
    size: int
    strip: Optional[Bytes]
    for_perf: Optional[Bytes]
    unwind: Any
    unwind_context: Any
    edit: Any


class perfile_inject_options(Sized):
    size: int
    build_ids: bool
    find_build_id: Any
    find_context: Any
    sched_stat: bool
    strip: bool
    follow_code: Any
    code_context: Any
    all_build_ids: bool
    map_build_ids: int
    edit: Any


class perfile_cut_options(Sized):
    size: int
    filter: Any
    cgroups: Optional[Bytes]
    every: int
    samples: int
    edit: Any
    unmatched: Any
    unmatched_context: Any


class perfile_split_part(Struct):
    index: int
    by: int
    value: int
    name: Optional[Bytes]


class perfile_split_options(Sized):
    size: int
    by: int
    step: int
    limit_parts: int
    limit_open: int
    context: Any
    open: Any
    close: Any


class perfile_merge_note(Struct):
    input: int
    rule: Optional[Bytes]
    feature: int
    message: Optional[Bytes]


class perfile_merge_options(Sized):
    size: int
    progress: Any
    progress_context: Any
    readers: Any
    reader_count: int
    names: Any
    clock: int
    separate_hosts: bool
    note: Any
    note_context: Any
    temporary_fd: int


class perfile_merge_report(Sized):
    size: int
    total: Any
    inputs: Any
    input_count: int
    events: int
    events_unified: int
    ids_renumbered: int
    records_unified: int
    stacks_trimmed: int
    unordered: int
    reshaped: bool
    clocks_aligned: bool


class perfile_anonymized(Struct):
    name: Optional[Bytes]
    doc: Optional[Bytes]
    action: Optional[Bytes]
    changed: int
    removed: int
    kept: int


class perfile_anonymize_report(Sized):
    size: int
    edit: Any
    categories: Any
    category_count: int


class perfile_anonymize_options(Sized):
    size: int
    key: Any
    key_bytes: int
    keep: Optional[Bytes]
    change: Optional[Bytes]
    drop: Optional[Bytes]
    strict: bool
    edit: Any


class perfile_error(Struct):
    code: int
    offset: int
    what: Any
    message: Any
    token: Any


class perfile_diagnostic(Struct):
    rule: Optional[Bytes]
    severity: int
    offset: int
    length: int
    file: Optional[Bytes]
    message: Optional[Bytes]


class perfile_allocator(Struct):
    context: Any
    resize: Any


class perfile_open_options(Sized):
    size: int
    strict: bool
    allocator: Any
    diagnostic: Any
    diagnostic_context: Any
    limit_events: int
    limit_ids: int
    limit_feature_bytes: int
    limit_queue_bytes: int
    limit_record_bytes: int
    temporary_fd: int
    follow: Any
    follow_context: Any


class perfile_sink(Struct):
    context: Any
    write: Any


class perfile_source(Sized):
    size: int
    context: Any
    read: Any
    seek: Any
    bytes: Any


class perfile_section(Struct):
    offset: int
    bytes: int


class perfile_event_type(Struct):
    event_id: int
    name: Optional[Bytes]


class perfile_file(Struct):
    mode: int
    version: int
    big_endian: bool
    swapped: bool
    finished: bool
    file_bytes: int
    header_size: int
    attr_size: int
    attrs: perfile_section
    data: perfile_section
    event_types: perfile_section
    event_type_entries: Any
    event_type_count: int
    feature_bits: Any
    feature_words_32: bool
    parts: Any
    path: Optional[Bytes]


class perfile_u64s(Struct):
    data: Any
    count: int
    swapped: bool


class perfile_bytes(Struct):
    data: Any
    bytes: int


class perfile_list(Struct):
    data: Any
    count: int
    swapped: bool


class perfile_read(Struct):
    format: int
    count: int
    time_enabled: int
    time_running: int
    values: Any
    stride: int
    swapped: bool


class perfile_regs(Struct):
    abi: int
    mask: int
    values: perfile_u64s


class perfile_branch_stack(Struct):
    count: int
    has_hw_idx: bool
    big_endian: bool
    hw_idx: int
    entries: perfile_u64s
    counters: perfile_u64s


class perfile_stack(Struct):
    data: Any
    bytes: int
    used: int
    dyn_size: int


class perfile_cpu_set(Struct):
    map_type: int
    any_cpu: bool
    start_cpu: int
    end_cpu: int
    long_size: int
    data: Any
    count: int
    swapped: bool


class perfile_schedstat_counters(Struct):
    data: Any
    count: int
    swapped: bool


class perfile_feature_body(Struct):
    data: Any
    bytes: int


class perfile_record(Struct):
    type: int
    misc: int
    compressed: bool
    damaged: bool
    bytes: int
    stated_bytes: int
    part: int
    offset: int
    container: int
    data: Any
    event: Any
    time: int
    payload_offset: int
    payload_bytes: int


class perfile_counts(Struct):
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


class perfile_event(Struct):
    index: int
    attr: Any
    attr_offset: int
    attr_data: Any
    attr_bytes: int
    ids_section: perfile_section
    ids: Any
    id_count: int
    name: Optional[Bytes]
    file_name: Optional[Bytes]
    unit: Optional[Bytes]
    scale: float


class perfile_read_value(Struct):
    value: int
    id: int
    lost: int


class perfile_branch(Struct):
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


class perfile_feature(Struct):
    number: int
    name: Optional[Bytes]
    section: perfile_section
    readable: bool


class perfile_tracepoint_field(Struct):
    name: Optional[Bytes]
    type: Optional[Bytes]
    offset: int
    bytes: int
    element_bytes: int
    is_signed: bool
    is_array: bool
    is_text: bool
    is_dynamic: bool
    is_relative: bool
    is_common: bool


class perfile_tracepoint(Struct):
    id: int
    system: Optional[Bytes]
    name: Optional[Bytes]
    format: Optional[Bytes]
    print_fmt: Optional[Bytes]
    fields: Any
    field_count: int


class perfile_tracing(Struct):
    version: Optional[Bytes]
    big_endian: bool
    long_bytes: int
    page_bytes: int
    tracepoints: Any
    tracepoint_count: int
    kallsyms: Optional[Bytes]
    kallsyms_bytes: int
    printk_formats: Optional[Bytes]
    printk_formats_bytes: int
    saved_cmdlines: Optional[Bytes]
    saved_cmdlines_bytes: int


class perfile_value(Struct):
    name: Optional[Bytes]
    kind: int
    meaning: int
    number: Any
    data: Any
    bytes: int


class perfile_visitor(Sized):
    size: int
    context: Any
    begin: Any
    end: Any
    value: Any


class perfile_filter(Sized):
    size: int
    time: Optional[Bytes]
    cpus: Optional[Bytes]
    pids: Optional[Bytes]
    tids: Optional[Bytes]
    comms: Optional[Bytes]
    events: Optional[Bytes]
    off_cpu: Optional[Bytes]


class perfile_unmatched(Struct):
    filter: Optional[Bytes]
    value: Optional[Bytes]
    known: Any
    known_count: int


class perfile_map(Sized):
    size: int
    start: int
    end: int
    pgoff: int
    filename: Optional[Bytes]
    pid: int
    id: int
    prot: int
    flags: int
    build_id: Any
    build_id_bytes: int
    kernel: bool
    data: bool
    symbol: bool
    code: int


class perfile_stream_options(Sized):
    size: int
    filter: Any
    symbols: Any
    flags: int
    threads: int
    progress: Any
    progress_context: Any
    unmatched: Any
    unmatched_context: Any
    allocator: Any


class perfile_stream_sample(Sized):
    size: int
    event: Any
    time: int
    period: int
    pid: int
    tid: int
    cpu: int
    frame_count: int
    frames: Any
    leaf: int
    cpumode: int
    ip: int
    comm: Optional[Bytes]
    decoded: Any


class perfile_frame(Sized):
    size: int
    name: Optional[Bytes]
    module: int
    function: int
    offset: int
    address: int
    file: Optional[Bytes]
    line: int
    kind: int


class perfile_module(Sized):
    size: int
    name: Optional[Bytes]
    short_name: Optional[Bytes]
    path: Optional[Bytes]
    build_id: Any
    build_id_bytes: int
    state: int
    kernel: bool
    jit: bool
    kind: int


class perfile_losses(Sized):
    size: int
    samples: int
    filtered: int
    lost: int
    unmapped: int
    unresolved: int
    truncated: int
    guessed: int


class perfile_profile_options(Sized):
    size: int
    filter: Any
    symbols: Any
    flags: int
    threads: int
    progress: Any
    progress_context: Any
    keys: Optional[Bytes]
    time_quantum: int
    path: Optional[Bytes]
    unmatched: Any
    unmatched_context: Any
    allocator: Any
    snapshot: Any
    snapshot_context: Any
    snapshot_ms: int
    snapshot_rows: int
    max_frames: int


class perfile_profile_merge_options(Sized):
    size: int
    allocator: Any


class perfile_profile_recording(Sized):
    size: int
    path: Optional[Bytes]
    hostname: Optional[Bytes]
    os_release: Optional[Bytes]
    arch: Optional[Bytes]
    cpu: Optional[Bytes]
    version: Optional[Bytes]
    cmdline: Any
    cmdline_count: int
    first_time: int
    last_time: int
    clock: int
    wall_time: int
    clock_time: int
    lost: int


class perfile_profile_event(Sized):
    size: int
    name: Optional[Bytes]
    unit: Optional[Bytes]
    config: int
    type: int
    first_value: int
    value_count: int


class perfile_profile_value_type(Sized):
    size: int
    name: Optional[Bytes]
    unit: Optional[Bytes]
    event: int
    total: int


class perfile_profile_function(Sized):
    size: int
    name: Optional[Bytes]
    raw_name: Optional[Bytes]
    label: Optional[Bytes]
    module: int
    kind: int
    address: int
    bytes: int
    file: Optional[Bytes]
    start_line: int


class perfile_profile_frame(Sized):
    size: int
    function: int
    kind: int
    offset: int
    address: int
    file_offset: int
    file: Optional[Bytes]
    line: int


class perfile_profile_stack(Sized):
    size: int
    parent: int
    frame: int


class perfile_profile_thread(Sized):
    size: int
    pid: int
    tid: int
    comm: Optional[Bytes]
    comms: Any
    comm_count: int
    first_time: int
    last_time: int
    samples: int


class perfile_profile_sample(Sized):
    size: int
    event: int
    stack: int
    leaf: int
    value_count: int
    cpu: int
    values: Any
    pid: int
    tid: int
    comm: Optional[Bytes]
    time: int
    cgroup: Optional[Bytes]
    recording: int


class perfile_calls_options(Sized):
    size: int
    groups: Any
    group_count: int
    allocator: Any


class perfile_resolver_options(Sized):
    size: int
    symbols: Any
    flags: int
    allocator: Any


class perfile_location(Sized):
    size: int
    address: int
    pid: int
    cpumode: int
    flags: int


class perfile_recorder_options(Sized):
    size: int
    flags: int
    events: Optional[Bytes]
    filters: Any
    filter_count: int
    frequency: int
    period: int
    pids: Optional[Bytes]
    tids: Optional[Bytes]
    cpus: Optional[Bytes]
    user: Optional[Bytes]
    cgroup: Optional[Bytes]
    call_graph: Optional[Bytes]
    user_regs: Optional[Bytes]
    intr_regs: Optional[Bytes]
    branch_filter: Optional[Bytes]
    clock: Optional[Bytes]
    mmap_bytes: int
    max_stack: int
    delay_ms: int
    threads: int
    for_perf: Optional[Bytes]
    allocator: Any
    note: Any
    note_context: Any


class perfile_recorder_counts(Struct):
    records: int
    samples: int
    lost: int
    throttled: int
    wakeups: int
    bytes: int
    written: int


class perfile_counter_options(Sized):
    size: int
    what: Any
    per: Optional[Bytes]
    interval_ms: int
    unscaled: bool
    detail: int
    cgroups: Optional[Bytes]
    for_each_cgroup: Optional[Bytes]


class perfile_known_event(Struct):
    name: Optional[Bytes]
    kind: Optional[Bytes]
    doc: Optional[Bytes]
    works: bool


class perfile_attr(Struct):
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


class perfile_namespace_link(Struct):
    dev: int
    ino: int


class perfile_id_index_entry(Struct):
    id: int
    idx: int
    cpu: int
    tid: int


class perfile_id_index_guest(Struct):
    machine_pid: int
    vcpu: int


class perfile_thread_map_entry(Struct):
    pid: int
    comm: Any


class perfile_stat_config_entry(Struct):
    tag: int
    val: int


class perfile_bpf_metadata_entry(Struct):
    key: Any
    value: Any


class perfile_simpleperf_event_id_entry(Struct):
    attr_index: int
    id: int


class perfile_sample_id(Sized):
    size: int
    present: int
    pid: int
    tid: int
    time: int
    id: int
    stream_id: int
    cpu: int
    res: int
    identifier: int


class perfile_sample(Sized):
    size: int
    present: int
    identifier: int
    ip: int
    pid: int
    tid: int
    time: int
    addr: int
    id: int
    stream_id: int
    cpu: int
    res: int
    period: int
    read: perfile_read
    callchain: perfile_u64s
    raw: perfile_bytes
    branch_stack: perfile_branch_stack
    regs_user: perfile_regs
    stack_user: perfile_stack
    weight: int
    data_src: int
    transaction: int
    regs_intr: perfile_regs
    phys_addr: int
    cgroup: int
    data_page_size: int
    code_page_size: int
    aux: perfile_bytes


class perfile_mmap(Struct):
    pid: int
    tid: int
    addr: int
    len: int
    pgoff: int
    filename: Optional[Bytes]


class perfile_lost(Struct):
    id: int
    lost: int


class perfile_comm(Struct):
    pid: int
    tid: int
    comm: Optional[Bytes]


class perfile_exit(Struct):
    pid: int
    ppid: int
    tid: int
    ptid: int
    time: int


class perfile_throttle(Struct):
    time: int
    id: int
    stream_id: int


class perfile_unthrottle(Struct):
    time: int
    id: int
    stream_id: int


class perfile_fork(Struct):
    pid: int
    ppid: int
    tid: int
    ptid: int
    time: int


class perfile_read_counters(Struct):
    pid: int
    tid: int
    values: perfile_read


class perfile_mmap2(Struct):
    pid: int
    tid: int
    addr: int
    len: int
    pgoff: int
    build_id_size: int
    build_id: Any
    maj: int
    min: int
    ino: int
    ino_generation: int
    prot: int
    flags: int
    filename: Optional[Bytes]


class perfile_aux(Struct):
    aux_offset: int
    aux_size: int
    flags: int


class perfile_itrace_start(Struct):
    pid: int
    tid: int


class perfile_lost_samples(Struct):
    lost: int


class perfile_switch_cpu_wide(Struct):
    next_prev_pid: int
    next_prev_tid: int


class perfile_namespaces(Struct):
    pid: int
    tid: int
    nr_namespaces: int
    link_info: perfile_list


class perfile_ksymbol(Struct):
    addr: int
    len: int
    ksym_type: int
    flags: int
    name: Optional[Bytes]


class perfile_bpf_event(Struct):
    bpf_type: int
    flags: int
    id: int
    tag: Any


class perfile_cgroup(Struct):
    id: int
    path: Optional[Bytes]


class perfile_text_poke(Struct):
    addr: int
    old_len: int
    new_len: int
    old_bytes: Any
    new_bytes: Any


class perfile_aux_output_hw_id(Struct):
    hw_id: int


class perfile_callchain_deferred(Struct):
    cookie: int
    nr: int
    ips: perfile_u64s


class perfile_header_attr(Struct):
    ids: perfile_u64s
    attr: perfile_attr


class perfile_header_event_type(Struct):
    event_id: int
    name: perfile_bytes


class perfile_header_tracing_data(Struct):
    data_size: int
    pad: int


class perfile_header_build_id(Struct):
    pid: int
    build_id: Any
    build_id_size: int
    filename: Optional[Bytes]


class perfile_id_index(Struct):
    nr: int
    entries: perfile_list
    guests: perfile_list


class perfile_auxtrace_info(Struct):
    auxtrace_type: int
    priv: perfile_u64s


class perfile_auxtrace(Struct):
    data_size: int
    offset: int
    reference: int
    idx: int
    tid: int
    cpu: int
    reserved__: int


class perfile_auxtrace_error(Struct):
    error_type: int
    code: int
    cpu: int
    pid: int
    tid: int
    fmt: int
    ip: int
    time: int
    msg: Any
    machine_pid: int
    vcpu: int


class perfile_thread_map(Struct):
    nr: int
    entries: perfile_list


class perfile_cpu_map(Struct):
    map: perfile_cpu_set


class perfile_stat_config(Struct):
    nr: int
    data: perfile_list


class perfile_stat(Struct):
    id: int
    cpu: int
    thread: int
    val: int
    ena: int
    run: int


class perfile_stat_round(Struct):
    round_type: int
    time: int


class perfile_event_update(Struct):
    update_type: int
    id: int
    unit: Optional[Bytes]
    scale: float
    name: Optional[Bytes]
    cpus: perfile_cpu_set


class perfile_time_conv(Struct):
    time_shift: int
    time_mult: int
    time_zero: int
    time_cycles: int
    time_mask: int
    cap_user_time_zero: int
    cap_user_time_short: int


class perfile_header_feature(Struct):
    feat_id: int
    data: perfile_feature_body


class perfile_compressed(Struct):
    data_size: int


class perfile_compressed2(Struct):
    data_size: int


class perfile_bpf_metadata(Struct):
    prog_name: Any
    nr_entries: int
    entries: perfile_list


class perfile_schedstat_cpu(Struct):
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


class perfile_schedstat_domain(Struct):
    timestamp: int
    cpu: int
    version: int
    domain: int
    counters: perfile_schedstat_counters


class perfile_simpleperf_kernel_symbol(Struct):
    data_size: int
    kallsyms: Any


class perfile_simpleperf_dso(Struct):
    dso_type: int
    dso_id: int
    min_vaddr: int
    name: Optional[Bytes]


class perfile_simpleperf_symbol(Struct):
    addr: int
    len: int
    dso_id: int
    name: Optional[Bytes]


class perfile_simpleperf_split(Struct):
    data_size: int


class perfile_simpleperf_event_id(Struct):
    nr: int
    entries: perfile_list


class perfile_simpleperf_callchain(Struct):
    pid: int
    tid: int
    chain_type: int
    time: int
    nr: int
    ips: perfile_u64s
    sps: perfile_u64s


class perfile_simpleperf_unwinding_result(Struct):
    time: int


class perfile_simpleperf_tracing_data(Struct):
    data_size: int


class perfile_simpleperf_debug(Struct):
    time: int
    message: Optional[Bytes]


class ArrowSchema(Struct):
    format: Optional[Bytes]
    name: Optional[Bytes]
    metadata: Optional[Bytes]
    flags: int
    n_children: int
    children: Any
    dictionary: Any
    release: Any
    private_data: Any


class ArrowArray(Struct):
    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: Any
    children: Any
    dictionary: Any
    release: Any
    private_data: Any


class ArrowArrayStream(Struct):
    get_schema: Any
    get_next: Any
    get_last_error: Any
    release: Any
    private_data: Any


class perfile_view_info(Struct):
    name: Optional[Bytes]
    doc: Optional[Bytes]


class perfile_view_event(Struct):
    name: Optional[Bytes]
    kind: Optional[Bytes]
    need: int


class perfile_column(Sized):
    size: int
    name: Optional[Bytes]
    unit: Optional[Bytes]
    doc: Optional[Bytes]
    type: int
    shown: bool


class perfile_constant(Struct):
    name: Optional[Bytes]
    doc: Any
    text: Optional[Bytes]


class perfile_table_options(Sized):
    size: int
    filter: Any
    symbols: Any
    report: Any
    columns: Optional[Bytes]
    keys: Optional[Bytes]
    batch_rows: int
    threads: int
    progress: Any
    progress_context: Any
    unmatched: Any
    unmatched_context: Any
    allocator: Any
    gzip: bool
    text_width: int
    events: Any
    fills: bool
    wall_times: bool
    wall_ahead_ns: int
    constants: Any
    constant_count: int


class perfile_rows(Sized):
    size: int
    view: Optional[Bytes]
    columns: Any
    column_count: int
    next: Any
    value: Any
    context: Any
    allocator: Any
    gzip: bool
    text_width: int


class perfile_parquet_options(Sized):
    size: int
    paths: Any
    path_count: int
    columns: Any
    column_count: int
    distinct: Optional[Bytes]
    allocator: Any


class perfile_parquet_info(Sized):
    size: int
    rows: int
    groups: int
    bytes: int


class perfile_writer_options(Sized):
    size: int
    mode: int
    byte_order: int
    compression: int
    compressed_v1: bool
    no_sync: bool
    live: bool
    allocator: Any
    diagnostic: Any
    diagnostic_context: Any
    frame_bytes: int


class perfile_event_spec(Sized):
    size: int
    attr: Any
    attr_bytes: int
    ids: Any
    id_count: int
    name: Optional[Bytes]


class perfile_writer_counts(Struct):
    records: int
    samples: int
    bytes: int


perfile_trouble._fields_ = [
    ('kind', c_uint),
    ('name', c_char_p),
    ('short_name', c_char_p),
    ('path', c_char_p),
    ('build_id', c_char_p),
    ('other_build_id', c_char_p),
    ('count', c_uint64),
    ('total', c_uint64)]
perfile_used_file._fields_ = [
    ('kind', c_char_p),
    ('name', c_char_p),
    ('path', c_char_p),
    ('build_id', c_char_p),
    ('pid', c_int64)]
perfile_symbol_options._fields_ = [
    ('size', c_size_t),
    ('symfs', c_char_p),
    ('vmlinux', c_char_p),
    ('kallsyms', c_char_p),
    ('buildid_dir', c_char_p),
    ('archive', c_char_p),
    ('recording', c_char_p),
    ('debuginfod_seconds', c_uint64),
    ('debuginfod_bytes', c_uint64),
    ('no_inline', c_bool),
    ('full_source_path', c_bool),
    ('note', CFUNCTYPE(None, c_void_p, c_char_p)),
    ('note_context', c_void_p),
    ('unwind', c_char_p),
    ('reach', CFUNCTYPE(c_void_p, c_void_p, c_char_p)),
    ('reach_context', c_void_p),
    ('trouble', CFUNCTYPE(None, c_void_p, POINTER(perfile_trouble))),
    ('trouble_context', c_void_p),
    ('source_dirs', c_char_p),
    ('used', CFUNCTYPE(None, c_void_p, POINTER(perfile_used_file))),
    ('used_context', c_void_p)]
perfile_flame_options._fields_ = [
    ('size', c_size_t),
    ('by', c_char_p),
    ('time_quantum', c_char_p),
    ('before', c_void_p),
    ('before_path', c_char_p),
    ('event', c_char_p),
    ('title', c_char_p),
    ('colors', c_char_p),
    ('min_width', c_char_p),
    ('width', c_uint64),
    ('normalize', c_bool),
    ('negate', c_bool),
    ('count_samples', c_bool),
    ('inverted', c_bool),
    ('reverse', c_bool),
    ('annotate', c_bool),
    ('folded', c_char_p),
    ('folded_bytes', c_size_t),
    ('page_bytes', c_uint64),
    ('max_nodes', c_uint64)]
perfile_report_options._fields_ = [
    ('size', c_size_t),
    ('flags', c_uint),
    ('sort', c_char_p),
    ('call_graph', c_char_p),
    ('dsos', c_char_p),
    ('symbols', c_char_p),
    ('percent_limit', c_char_p),
    ('separator', c_char_p),
    ('max_stack', c_uint64),
    ('time_quantum', c_char_p),
    ('symbol_filter', c_char_p),
    ('percentage', c_char_p),
    ('widths', c_char_p),
    ('parent', c_char_p),
    ('columns', c_uint64),
    ('top', c_uint64),
    ('ignore_callees', c_char_p),
    ('max_nodes', c_uint64)]
perfile_event_options._fields_ = [
    ('size', c_size_t),
    ('flags', c_uint),
    ('calls', c_char_p),
    ('minimum_ns', c_uint64),
    ('classes', c_char_p),
    ('sort', c_char_p),
    ('fields', c_char_p),
    ('rows', c_uint64),
    ('stack_skip', c_uint64),
    ('separator', c_char_p),
    ('locks', c_char_p),
    ('callers', c_char_p),
    ('stack_depth', c_uint64),
    ('tasks', c_char_p),
    ('cpus', c_char_p),
    ('work', c_char_p),
    ('priorities', c_char_p),
    ('lines', c_uint64),
    ('min_stack', c_uint64),
    ('sched', c_uint),
    ('keys', c_char_p)]
perfile_machine_code._fields_ = [
    ('size', c_size_t),
    ('bytes', c_void_p),
    ('byte_count', c_size_t),
    ('address', c_uint64),
    ('elf_machine', c_uint16),
    ('is_64', c_bool),
    ('is_big_endian', c_bool)]
perfile_annotate_options._fields_ = [
    ('size', c_size_t),
    ('symbol', c_char_p),
    ('dsos', c_char_p),
    ('percent_limit', c_char_p),
    ('top', c_uint64),
    ('flags', c_uint),
    ('syntax', c_char_p),
    ('width', c_uint64),
    ('disassemble', CFUNCTYPE(None, c_void_p, POINTER(perfile_machine_code), CFUNCTYPE(None, c_void_p, c_uint64, c_char_p), c_void_p)),
    ('disassemble_context', c_void_p)]
perfile_script_options._fields_ = [
    ('size', c_size_t),
    ('show', c_uint),
    ('times', c_uint),
    ('max_stack', c_uint64),
    ('no_callchain', c_bool),
    ('latency', c_bool),
    ('escape_names', c_bool)]
perfile_dump_options._fields_ = [
    ('size', c_size_t),
    ('max_bytes', c_uint64),
    ('header_only', c_bool)]
perfile_stat_options._fields_ = [
    ('size', c_size_t),
    ('flags', c_uint),
    ('per', c_char_p),
    ('title', c_char_p),
    ('metrics', c_char_p)]
perfile_export_options._fields_ = [
    ('size', c_size_t),
    ('keys', c_char_p),
    ('addresses', c_bool)]
perfile_output_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('symbols', POINTER(perfile_symbol_options)),
    ('flame', POINTER(perfile_flame_options)),
    ('report', POINTER(perfile_report_options)),
    ('script', POINTER(perfile_script_options)),
    ('dump', POINTER(perfile_dump_options)),
    ('stat', POINTER(perfile_stat_options)),
    ('exports', POINTER(perfile_export_options)),
    ('annotate', POINTER(perfile_annotate_options)),
    ('events', POINTER(perfile_event_options)),
    ('fields', c_char_p),
    ('header', c_uint),
    ('nanoseconds', c_bool),
    ('count', c_bool),
    ('color', c_bool),
    ('gzip', c_bool),
    ('code', c_bool),
    ('threads', c_uint),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p),
    ('allocator', POINTER(perfile_allocator)),
    ('more', POINTER(c_void_p)),
    ('more_paths', POINTER(c_char_p)),
    ('more_count', c_size_t)]
perfile_output_info._fields_ = [
    ('kind', c_char_p),
    ('format', c_char_p),
    ('doc', c_char_p),
    ('binary', c_bool)]
perfile_build_ids_options._fields_ = [
    ('size', c_size_t),
    ('with_hits', c_bool),
    ('allocator', POINTER(perfile_allocator)),
    ('take', CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, c_size_t)),
    ('context', c_void_p)]
perfile_running_kernel._fields_ = [
    ('size', c_size_t),
    ('kallsyms', c_char_p),
    ('modules', c_char * 160),
    ('build_id', c_uint8 * 20),
    ('build_id_bytes', c_size_t)]
perfile_bundle._fields_ = [
    ('size', c_size_t),
    ('start', c_uint64),
    ('bytes', c_uint64),
    ('files', c_uint64),
    ('code', c_bool)]
perfile_annotation_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('symbols', POINTER(perfile_symbol_options)),
    ('threads', c_uint),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p),
    ('allocator', POINTER(perfile_allocator)),
    ('syntax', c_char_p),
    ('disassemble', CFUNCTYPE(None, c_void_p, POINTER(perfile_machine_code), CFUNCTYPE(None, c_void_p, c_uint64, c_char_p), c_void_p)),
    ('disassemble_context', c_void_p)]
perfile_annotation_event._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('unit', c_char_p),
    ('samples', c_uint64),
    ('period', c_uint64)]
perfile_weight._fields_ = [
    ('size', c_size_t),
    ('samples', c_uint64),
    ('period', c_uint64)]
perfile_annotation_function._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('raw_name', c_char_p),
    ('label', c_char_p),
    ('module', c_uint32),
    ('kind', c_uint32),
    ('address', c_uint64),
    ('bytes', c_uint64),
    ('rank', c_uint32)]
perfile_listing_line._fields_ = [
    ('size', c_size_t),
    ('address', c_uint64),
    ('bytes', c_void_p),
    ('byte_count', c_uint32),
    ('kind', c_uint32),
    ('text', c_char_p),
    ('target', c_uint32),
    ('line', c_uint32),
    ('file', c_char_p),
    ('frame_count', c_uint32),
    ('jump_count', c_uint32),
    ('taken', c_uint64),
    ('mispredicted', c_uint64),
    ('reached', c_uint64),
    ('cycles', c_uint64),
    ('cycle_count', c_uint64)]
perfile_listing_frame._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('file', c_char_p),
    ('line', c_uint32),
    ('inlined', c_bool)]
perfile_diff_options._fields_ = [
    ('size', c_size_t),
    ('before', POINTER(c_void_p)),
    ('before_count', c_size_t),
    ('after', POINTER(c_void_p)),
    ('after_count', c_size_t),
    ('keys', c_char_p),
    ('event', c_char_p),
    ('per', c_char_p),
    ('work', POINTER(c_double)),
    ('flags', c_uint),
    ('noise', c_double),
    ('margin', c_double),
    ('alpha', c_double),
    ('limit', c_double),
    ('limit_weight', c_double),
    ('maps', POINTER(c_char_p)),
    ('map_count', c_size_t),
    ('only', POINTER(c_char_p)),
    ('only_count', c_size_t),
    ('ignore', POINTER(c_char_p)),
    ('ignore_count', c_size_t),
    ('allocator', POINTER(perfile_allocator))]
perfile_diff_row._fields_ = [
    ('size', c_size_t),
    ('function', c_char_p),
    ('module', c_char_p),
    ('line', c_char_p),
    ('thread', c_char_p),
    ('path', c_char_p),
    ('other', c_char_p),
    ('state', c_uint32),
    ('verdict', c_uint32),
    ('parent', c_uint32),
    ('in_family', c_bool),
    ('fails', c_bool),
    ('left_out', c_bool),
    ('before', c_double),
    ('after', c_double),
    ('difference', c_double),
    ('low', c_double),
    ('high', c_double),
    ('p', c_double),
    ('q', c_double),
    ('df', c_double),
    ('detectable', c_double),
    ('limit', c_double),
    ('limit_q', c_double),
    ('share_before', c_double),
    ('share_after', c_double),
    ('samples_before', c_uint64),
    ('samples_after', c_uint64)]
perfile_diff_info._fields_ = [
    ('size', c_size_t),
    ('event', c_char_p),
    ('unit', c_char_p),
    ('sampling_only', c_bool),
    ('assumed', c_bool),
    ('alpha', c_double),
    ('margin', c_double),
    ('limit_alpha', c_double),
    ('before_count', c_size_t),
    ('after_count', c_size_t),
    ('family', c_size_t),
    ('failing', c_size_t),
    ('has_limit', c_bool)]
perfile_diff_page_options._fields_ = [
    ('size', c_size_t),
    ('paths', c_void_p),
    ('functions', c_void_p),
    ('inclusive', c_void_p),
    ('title', c_char_p),
    ('normalized', c_bool),
    ('gzip', c_bool),
    ('allocator', POINTER(perfile_allocator))]
perfile_edit_report._fields_ = [
    ('size', c_size_t),
    ('records_kept', c_uint64),
    ('samples_kept', c_uint64),
    ('records_dropped', c_uint64),
    ('samples_dropped', c_uint64),
    ('records_damaged', c_uint64),
    ('bytes_dropped', c_uint64),
    ('records_mended', c_uint64),
    ('features_rebuilt', c_uint64),
    ('features_dropped', c_uint64),
    ('samples_unscaled', c_uint64),
    ('bytes_stripped', c_uint64),
    ('events_changed', c_uint64),
    ('records_changed', c_uint64),
    ('samples_unwound', c_uint64),
    ('samples_without', c_uint64),
    ('build_ids_added', c_uint64),
    ('build_ids_missing', c_uint64),
    ('code_added', c_uint64),
    ('maps_added', c_uint64)]
perfile_edit_options._fields_ = [
    ('size', c_size_t),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p)]
perfile_convert_options._fields_ = [
    ('size', c_size_t),
    ('strip', c_char_p),
    ('for_perf', c_char_p),
    ('unwind', CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(perfile_sample), POINTER(c_uint64), c_size_t)),
    ('unwind_context', c_void_p),
    ('edit', POINTER(perfile_edit_options))]
perfile_inject_options._fields_ = [
    ('size', c_size_t),
    ('build_ids', c_bool),
    ('find_build_id', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_map), c_void_p)),
    ('find_context', c_void_p),
    ('sched_stat', c_bool),
    ('strip', c_bool),
    ('follow_code', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_record), CFUNCTYPE(c_int, c_void_p, c_uint64, POINTER(perfile_map), POINTER(perfile_error)), c_void_p, POINTER(perfile_error))),
    ('code_context', c_void_p),
    ('all_build_ids', c_bool),
    ('map_build_ids', c_int),
    ('edit', POINTER(perfile_edit_options))]
perfile_cut_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('cgroups', c_char_p),
    ('every', c_uint64),
    ('samples', c_uint64),
    ('edit', POINTER(perfile_edit_options)),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p)]
perfile_split_part._fields_ = [
    ('index', c_size_t),
    ('by', c_int),
    ('value', c_uint64),
    ('name', c_char_p)]
perfile_split_options._fields_ = [
    ('size', c_size_t),
    ('by', c_int),
    ('step', c_uint64),
    ('limit_parts', c_uint64),
    ('limit_open', c_uint64),
    ('context', c_void_p),
    ('open', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_split_part), POINTER(c_void_p), POINTER(perfile_error))),
    ('close', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_split_part), c_void_p, c_bool, POINTER(perfile_error)))]
perfile_merge_note._fields_ = [
    ('input', c_size_t),
    ('rule', c_char_p),
    ('feature', c_uint32),
    ('message', c_char_p)]
perfile_merge_options._fields_ = [
    ('size', c_size_t),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('readers', POINTER(c_void_p)),
    ('reader_count', c_size_t),
    ('names', POINTER(c_char_p)),
    ('clock', c_int),
    ('separate_hosts', c_bool),
    ('note', CFUNCTYPE(None, c_void_p, POINTER(perfile_merge_note))),
    ('note_context', c_void_p),
    ('temporary_fd', c_int)]
perfile_merge_report._fields_ = [
    ('size', c_size_t),
    ('total', POINTER(perfile_edit_report)),
    ('inputs', POINTER(POINTER(perfile_edit_report))),
    ('input_count', c_size_t),
    ('events', c_uint64),
    ('events_unified', c_uint64),
    ('ids_renumbered', c_uint64),
    ('records_unified', c_uint64),
    ('stacks_trimmed', c_uint64),
    ('unordered', c_uint64),
    ('reshaped', c_bool),
    ('clocks_aligned', c_bool)]
perfile_anonymized._fields_ = [
    ('name', c_char_p),
    ('doc', c_char_p),
    ('action', c_char_p),
    ('changed', c_uint64),
    ('removed', c_uint64),
    ('kept', c_uint64)]
perfile_anonymize_report._fields_ = [
    ('size', c_size_t),
    ('edit', POINTER(perfile_edit_report)),
    ('categories', POINTER(POINTER(perfile_anonymized))),
    ('category_count', c_size_t)]
perfile_anonymize_options._fields_ = [
    ('size', c_size_t),
    ('key', c_void_p),
    ('key_bytes', c_size_t),
    ('keep', c_char_p),
    ('change', c_char_p),
    ('drop', c_char_p),
    ('strict', c_bool),
    ('edit', POINTER(perfile_edit_options))]
perfile_error._fields_ = [
    ('code', c_int),
    ('offset', c_uint64),
    ('what', c_char * 48),
    ('message', c_char * 256),
    ('token', c_char * 64)]
perfile_diagnostic._fields_ = [
    ('rule', c_char_p),
    ('severity', c_int),
    ('offset', c_uint64),
    ('length', c_uint64),
    ('file', c_char_p),
    ('message', c_char_p)]
perfile_allocator._fields_ = [
    ('context', c_void_p),
    ('resize', CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t, c_size_t))]
perfile_open_options._fields_ = [
    ('size', c_size_t),
    ('strict', c_bool),
    ('allocator', POINTER(perfile_allocator)),
    ('diagnostic', CFUNCTYPE(None, c_void_p, POINTER(perfile_diagnostic))),
    ('diagnostic_context', c_void_p),
    ('limit_events', c_uint64),
    ('limit_ids', c_uint64),
    ('limit_feature_bytes', c_uint64),
    ('limit_queue_bytes', c_uint64),
    ('limit_record_bytes', c_uint64),
    ('temporary_fd', c_int),
    ('follow', CFUNCTYPE(c_int, c_void_p)),
    ('follow_context', c_void_p)]
perfile_sink._fields_ = [
    ('context', c_void_p),
    ('write', CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t))]
perfile_source._fields_ = [
    ('size', c_size_t),
    ('context', c_void_p),
    ('read', CFUNCTYPE(c_int64, c_void_p, c_void_p, c_size_t)),
    ('seek', CFUNCTYPE(c_int, c_void_p, c_uint64)),
    ('bytes', CFUNCTYPE(c_int64, c_void_p))]
perfile_section._fields_ = [
    ('offset', c_uint64),
    ('bytes', c_uint64)]
perfile_event_type._fields_ = [
    ('event_id', c_uint64),
    ('name', c_char_p)]
perfile_file._fields_ = [
    ('mode', c_int),
    ('version', c_int),
    ('big_endian', c_bool),
    ('swapped', c_bool),
    ('finished', c_bool),
    ('file_bytes', c_uint64),
    ('header_size', c_uint64),
    ('attr_size', c_uint64),
    ('attrs', perfile_section),
    ('data', perfile_section),
    ('event_types', perfile_section),
    ('event_type_entries', POINTER(perfile_event_type)),
    ('event_type_count', c_size_t),
    ('feature_bits', c_uint64 * 4),
    ('feature_words_32', c_bool),
    ('parts', POINTER(c_char_p)),
    ('path', c_char_p)]
perfile_u64s._fields_ = [
    ('data', c_void_p),
    ('count', c_uint64),
    ('swapped', c_bool)]
perfile_bytes._fields_ = [
    ('data', c_void_p),
    ('bytes', c_uint64)]
perfile_list._fields_ = [
    ('data', c_void_p),
    ('count', c_uint64),
    ('swapped', c_bool)]
perfile_read._fields_ = [
    ('format', c_uint64),
    ('count', c_uint64),
    ('time_enabled', c_uint64),
    ('time_running', c_uint64),
    ('values', c_void_p),
    ('stride', c_uint32),
    ('swapped', c_bool)]
perfile_regs._fields_ = [
    ('abi', c_uint64),
    ('mask', c_uint64),
    ('values', perfile_u64s)]
perfile_branch_stack._fields_ = [
    ('count', c_uint64),
    ('has_hw_idx', c_bool),
    ('big_endian', c_bool),
    ('hw_idx', c_uint64),
    ('entries', perfile_u64s),
    ('counters', perfile_u64s)]
perfile_stack._fields_ = [
    ('data', c_void_p),
    ('bytes', c_uint64),
    ('used', c_uint64),
    ('dyn_size', c_uint64)]
perfile_cpu_set._fields_ = [
    ('map_type', c_uint16),
    ('any_cpu', c_bool),
    ('start_cpu', c_uint16),
    ('end_cpu', c_uint16),
    ('long_size', c_uint16),
    ('data', c_void_p),
    ('count', c_uint32),
    ('swapped', c_bool)]
perfile_schedstat_counters._fields_ = [
    ('data', c_void_p),
    ('count', c_uint32),
    ('swapped', c_bool)]
perfile_feature_body._fields_ = [
    ('data', c_void_p),
    ('bytes', c_uint64)]
perfile_record._fields_ = [
    ('type', c_uint32),
    ('misc', c_uint16),
    ('compressed', c_bool),
    ('damaged', c_bool),
    ('bytes', c_uint32),
    ('stated_bytes', c_uint32),
    ('part', c_uint32),
    ('offset', c_uint64),
    ('container', c_uint64),
    ('data', c_void_p),
    ('event', POINTER(perfile_event)),
    ('time', c_uint64),
    ('payload_offset', c_uint64),
    ('payload_bytes', c_uint64)]
perfile_counts._fields_ = [
    ('records', c_uint64),
    ('samples', c_uint64),
    ('damaged', c_uint64),
    ('unknown', c_uint64),
    ('notes', c_uint64),
    ('warnings', c_uint64),
    ('losses', c_uint64),
    ('bytes_lost', c_uint64),
    ('lost_events', c_uint64),
    ('data_bytes', c_uint64),
    ('inflated_bytes', c_uint64),
    ('lost_samples', c_uint64),
    ('lost_reported', c_uint64),
    ('lost_counted', c_uint64),
    ('aux_bytes', c_uint64),
    ('aux_type', c_uint32),
    ('stat_counts', c_uint64),
    ('unread_bytes', c_uint64)]
perfile_event._fields_ = [
    ('index', c_uint32),
    ('attr', POINTER(perfile_attr)),
    ('attr_offset', c_uint64),
    ('attr_data', c_void_p),
    ('attr_bytes', c_uint32),
    ('ids_section', perfile_section),
    ('ids', POINTER(c_uint64)),
    ('id_count', c_size_t),
    ('name', c_char_p),
    ('file_name', c_char_p),
    ('unit', c_char_p),
    ('scale', c_double)]
perfile_read_value._fields_ = [
    ('value', c_uint64),
    ('id', c_uint64),
    ('lost', c_uint64)]
perfile_branch._fields_ = [
    ('from_', c_uint64),
    ('to', c_uint64),
    ('mispred', c_bool),
    ('predicted', c_bool),
    ('in_tx', c_bool),
    ('abort', c_bool),
    ('cycles', c_uint16),
    ('type', c_uint8),
    ('spec', c_uint8),
    ('new_type', c_uint8),
    ('priv', c_uint8),
    ('reserved', c_uint64)]
perfile_feature._fields_ = [
    ('number', c_uint32),
    ('name', c_char_p),
    ('section', perfile_section),
    ('readable', c_bool)]
perfile_tracepoint_field._fields_ = [
    ('name', c_char_p),
    ('type', c_char_p),
    ('offset', c_uint32),
    ('bytes', c_uint32),
    ('element_bytes', c_uint32),
    ('is_signed', c_bool),
    ('is_array', c_bool),
    ('is_text', c_bool),
    ('is_dynamic', c_bool),
    ('is_relative', c_bool),
    ('is_common', c_bool)]
perfile_tracepoint._fields_ = [
    ('id', c_uint32),
    ('system', c_char_p),
    ('name', c_char_p),
    ('format', c_char_p),
    ('print_fmt', c_char_p),
    ('fields', POINTER(perfile_tracepoint_field)),
    ('field_count', c_size_t)]
perfile_tracing._fields_ = [
    ('version', c_char_p),
    ('big_endian', c_bool),
    ('long_bytes', c_uint8),
    ('page_bytes', c_uint32),
    ('tracepoints', POINTER(perfile_tracepoint)),
    ('tracepoint_count', c_size_t),
    ('kallsyms', c_char_p),
    ('kallsyms_bytes', c_size_t),
    ('printk_formats', c_char_p),
    ('printk_formats_bytes', c_size_t),
    ('saved_cmdlines', c_char_p),
    ('saved_cmdlines_bytes', c_size_t)]
perfile_value._fields_ = [
    ('name', c_char_p),
    ('kind', c_int),
    ('meaning', c_int),
    ('number', union(('u', c_uint64), ('s', c_int64), ('d', c_double))),
    ('data', c_void_p),
    ('bytes', c_size_t)]
perfile_visitor._fields_ = [
    ('size', c_size_t),
    ('context', c_void_p),
    ('begin', CFUNCTYPE(c_int, c_void_p, c_char_p, c_bool)),
    ('end', CFUNCTYPE(c_int, c_void_p, c_bool)),
    ('value', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_value)))]
perfile_filter._fields_ = [
    ('size', c_size_t),
    ('time', c_char_p),
    ('cpus', c_char_p),
    ('pids', c_char_p),
    ('tids', c_char_p),
    ('comms', c_char_p),
    ('events', c_char_p),
    ('off_cpu', c_char_p)]
perfile_unmatched._fields_ = [
    ('filter', c_char_p),
    ('value', c_char_p),
    ('known', POINTER(c_char_p)),
    ('known_count', c_size_t)]
perfile_map._fields_ = [
    ('size', c_size_t),
    ('start', c_uint64),
    ('end', c_uint64),
    ('pgoff', c_uint64),
    ('filename', c_char_p),
    ('pid', c_int32),
    ('id', c_uint32),
    ('prot', c_uint32),
    ('flags', c_uint32),
    ('build_id', c_uint8 * 20),
    ('build_id_bytes', c_uint8),
    ('kernel', c_bool),
    ('data', c_bool),
    ('symbol', c_bool),
    ('code', c_uint32)]
perfile_stream_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('symbols', POINTER(perfile_symbol_options)),
    ('flags', c_uint32),
    ('threads', c_uint),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p),
    ('allocator', POINTER(perfile_allocator))]
perfile_stream_sample._fields_ = [
    ('size', c_size_t),
    ('event', POINTER(perfile_event)),
    ('time', c_uint64),
    ('period', c_uint64),
    ('pid', c_int32),
    ('tid', c_int32),
    ('cpu', c_int32),
    ('frame_count', c_uint32),
    ('frames', POINTER(c_uint32)),
    ('leaf', c_uint32),
    ('cpumode', c_uint),
    ('ip', c_uint64),
    ('comm', c_char_p),
    ('decoded', POINTER(perfile_sample))]
perfile_frame._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('module', c_uint32),
    ('function', c_uint32),
    ('offset', c_uint64),
    ('address', c_uint64),
    ('file', c_char_p),
    ('line', c_uint32),
    ('kind', c_uint32)]
perfile_module._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('short_name', c_char_p),
    ('path', c_char_p),
    ('build_id', c_uint8 * 20),
    ('build_id_bytes', c_uint32),
    ('state', c_uint32),
    ('kernel', c_bool),
    ('jit', c_bool),
    ('kind', c_uint32)]
perfile_losses._fields_ = [
    ('size', c_size_t),
    ('samples', c_uint64),
    ('filtered', c_uint64),
    ('lost', c_uint64),
    ('unmapped', c_uint64),
    ('unresolved', c_uint64),
    ('truncated', c_uint64),
    ('guessed', c_uint64)]
perfile_profile_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('symbols', POINTER(perfile_symbol_options)),
    ('flags', c_uint32),
    ('threads', c_uint),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('keys', c_char_p),
    ('time_quantum', c_uint64),
    ('path', c_char_p),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p),
    ('allocator', POINTER(perfile_allocator)),
    ('snapshot', CFUNCTYPE(None, c_void_p, c_void_p)),
    ('snapshot_context', c_void_p),
    ('snapshot_ms', c_uint64),
    ('snapshot_rows', c_uint64),
    ('max_frames', c_uint64)]
perfile_profile_merge_options._fields_ = [
    ('size', c_size_t),
    ('allocator', POINTER(perfile_allocator))]
perfile_profile_recording._fields_ = [
    ('size', c_size_t),
    ('path', c_char_p),
    ('hostname', c_char_p),
    ('os_release', c_char_p),
    ('arch', c_char_p),
    ('cpu', c_char_p),
    ('version', c_char_p),
    ('cmdline', POINTER(c_char_p)),
    ('cmdline_count', c_size_t),
    ('first_time', c_uint64),
    ('last_time', c_uint64),
    ('clock', c_int32),
    ('wall_time', c_uint64),
    ('clock_time', c_uint64),
    ('lost', c_uint64)]
perfile_profile_event._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('unit', c_char_p),
    ('config', c_uint64),
    ('type', c_uint32),
    ('first_value', c_uint32),
    ('value_count', c_uint32)]
perfile_profile_value_type._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('unit', c_char_p),
    ('event', c_uint32),
    ('total', c_uint64)]
perfile_profile_function._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('raw_name', c_char_p),
    ('label', c_char_p),
    ('module', c_uint32),
    ('kind', c_uint32),
    ('address', c_uint64),
    ('bytes', c_uint64),
    ('file', c_char_p),
    ('start_line', c_uint32)]
perfile_profile_frame._fields_ = [
    ('size', c_size_t),
    ('function', c_uint32),
    ('kind', c_uint32),
    ('offset', c_uint64),
    ('address', c_uint64),
    ('file_offset', c_uint64),
    ('file', c_char_p),
    ('line', c_uint32)]
perfile_profile_stack._fields_ = [
    ('size', c_size_t),
    ('parent', c_uint32),
    ('frame', c_uint32)]
perfile_profile_thread._fields_ = [
    ('size', c_size_t),
    ('pid', c_int32),
    ('tid', c_int32),
    ('comm', c_char_p),
    ('comms', POINTER(c_char_p)),
    ('comm_count', c_size_t),
    ('first_time', c_uint64),
    ('last_time', c_uint64),
    ('samples', c_uint64)]
perfile_profile_sample._fields_ = [
    ('size', c_size_t),
    ('event', c_uint32),
    ('stack', c_uint32),
    ('leaf', c_uint32),
    ('value_count', c_uint32),
    ('cpu', c_int32),
    ('values', POINTER(c_uint64)),
    ('pid', c_int32),
    ('tid', c_int32),
    ('comm', c_char_p),
    ('time', c_uint64),
    ('cgroup', c_char_p),
    ('recording', c_uint32)]
perfile_calls_options._fields_ = [
    ('size', c_size_t),
    ('groups', POINTER(c_uint32)),
    ('group_count', c_uint32),
    ('allocator', POINTER(perfile_allocator))]
perfile_resolver_options._fields_ = [
    ('size', c_size_t),
    ('symbols', POINTER(perfile_symbol_options)),
    ('flags', c_uint32),
    ('allocator', POINTER(perfile_allocator))]
perfile_location._fields_ = [
    ('size', c_size_t),
    ('address', c_uint64),
    ('pid', c_int32),
    ('cpumode', c_uint),
    ('flags', c_uint32)]
perfile_recorder_options._fields_ = [
    ('size', c_size_t),
    ('flags', c_uint),
    ('events', c_char_p),
    ('filters', POINTER(c_char_p)),
    ('filter_count', c_size_t),
    ('frequency', c_uint64),
    ('period', c_uint64),
    ('pids', c_char_p),
    ('tids', c_char_p),
    ('cpus', c_char_p),
    ('user', c_char_p),
    ('cgroup', c_char_p),
    ('call_graph', c_char_p),
    ('user_regs', c_char_p),
    ('intr_regs', c_char_p),
    ('branch_filter', c_char_p),
    ('clock', c_char_p),
    ('mmap_bytes', c_uint64),
    ('max_stack', c_uint64),
    ('delay_ms', c_uint64),
    ('threads', c_uint),
    ('for_perf', c_char_p),
    ('allocator', POINTER(perfile_allocator)),
    ('note', CFUNCTYPE(None, c_void_p, c_char_p)),
    ('note_context', c_void_p)]
perfile_recorder_counts._fields_ = [
    ('records', c_uint64),
    ('samples', c_uint64),
    ('lost', c_uint64),
    ('throttled', c_uint64),
    ('wakeups', c_uint64),
    ('bytes', c_uint64),
    ('written', c_uint64)]
perfile_counter_options._fields_ = [
    ('size', c_size_t),
    ('what', POINTER(perfile_recorder_options)),
    ('per', c_char_p),
    ('interval_ms', c_uint64),
    ('unscaled', c_bool),
    ('detail', c_uint64),
    ('cgroups', c_char_p),
    ('for_each_cgroup', c_char_p)]
perfile_known_event._fields_ = [
    ('name', c_char_p),
    ('kind', c_char_p),
    ('doc', c_char_p),
    ('works', c_bool)]
perfile_attr._fields_ = [
    ('type', c_uint32),
    ('size', c_uint32),
    ('config', c_uint64),
    ('sample_period_or_freq', c_uint64),
    ('sample_type', c_uint64),
    ('read_format', c_uint64),
    ('disabled', c_uint8),
    ('inherit', c_uint8),
    ('pinned', c_uint8),
    ('exclusive', c_uint8),
    ('exclude_user', c_uint8),
    ('exclude_kernel', c_uint8),
    ('exclude_hv', c_uint8),
    ('exclude_idle', c_uint8),
    ('mmap', c_uint8),
    ('comm', c_uint8),
    ('freq', c_uint8),
    ('inherit_stat', c_uint8),
    ('enable_on_exec', c_uint8),
    ('task', c_uint8),
    ('watermark', c_uint8),
    ('precise_ip', c_uint8),
    ('mmap_data', c_uint8),
    ('sample_id_all', c_uint8),
    ('exclude_host', c_uint8),
    ('exclude_guest', c_uint8),
    ('exclude_callchain_kernel', c_uint8),
    ('exclude_callchain_user', c_uint8),
    ('mmap2', c_uint8),
    ('comm_exec', c_uint8),
    ('use_clockid', c_uint8),
    ('context_switch', c_uint8),
    ('write_backward', c_uint8),
    ('namespaces', c_uint8),
    ('ksymbol', c_uint8),
    ('bpf_event', c_uint8),
    ('aux_output', c_uint8),
    ('cgroup', c_uint8),
    ('text_poke', c_uint8),
    ('build_id', c_uint8),
    ('inherit_thread', c_uint8),
    ('remove_on_exec', c_uint8),
    ('sigtrap', c_uint8),
    ('defer_callchain', c_uint8),
    ('defer_output', c_uint8),
    ('__reserved_1', c_uint32),
    ('wakeup_events_or_watermark', c_uint32),
    ('bp_type', c_uint32),
    ('bp_addr_or_config1', c_uint64),
    ('bp_len_or_config2', c_uint64),
    ('branch_sample_type', c_uint64),
    ('sample_regs_user', c_uint64),
    ('sample_stack_user', c_uint32),
    ('clockid', c_int32),
    ('sample_regs_intr', c_uint64),
    ('aux_watermark', c_uint32),
    ('sample_max_stack', c_uint16),
    ('__reserved_2', c_uint16),
    ('aux_sample_size', c_uint32),
    ('aux_start_paused', c_uint8),
    ('aux_pause', c_uint8),
    ('aux_resume', c_uint8),
    ('__reserved_3', c_uint32),
    ('sig_data', c_uint64),
    ('config3', c_uint64),
    ('config4', c_uint64)]
perfile_namespace_link._fields_ = [
    ('dev', c_uint64),
    ('ino', c_uint64)]
perfile_id_index_entry._fields_ = [
    ('id', c_uint64),
    ('idx', c_uint64),
    ('cpu', c_uint64),
    ('tid', c_uint64)]
perfile_id_index_guest._fields_ = [
    ('machine_pid', c_uint64),
    ('vcpu', c_uint64)]
perfile_thread_map_entry._fields_ = [
    ('pid', c_uint64),
    ('comm', c_char * 17)]
perfile_stat_config_entry._fields_ = [
    ('tag', c_uint64),
    ('val', c_uint64)]
perfile_bpf_metadata_entry._fields_ = [
    ('key', c_char * 65),
    ('value', c_char * 257)]
perfile_simpleperf_event_id_entry._fields_ = [
    ('attr_index', c_uint64),
    ('id', c_uint64)]
perfile_sample_id._fields_ = [
    ('size', c_size_t),
    ('present', c_uint64),
    ('pid', c_int32),
    ('tid', c_int32),
    ('time', c_uint64),
    ('id', c_uint64),
    ('stream_id', c_uint64),
    ('cpu', c_uint32),
    ('res', c_uint32),
    ('identifier', c_uint64)]
perfile_sample._fields_ = [
    ('size', c_size_t),
    ('present', c_uint64),
    ('identifier', c_uint64),
    ('ip', c_uint64),
    ('pid', c_int32),
    ('tid', c_int32),
    ('time', c_uint64),
    ('addr', c_uint64),
    ('id', c_uint64),
    ('stream_id', c_uint64),
    ('cpu', c_uint32),
    ('res', c_uint32),
    ('period', c_uint64),
    ('read', perfile_read),
    ('callchain', perfile_u64s),
    ('raw', perfile_bytes),
    ('branch_stack', perfile_branch_stack),
    ('regs_user', perfile_regs),
    ('stack_user', perfile_stack),
    ('weight', c_uint64),
    ('data_src', c_uint64),
    ('transaction', c_uint64),
    ('regs_intr', perfile_regs),
    ('phys_addr', c_uint64),
    ('cgroup', c_uint64),
    ('data_page_size', c_uint64),
    ('code_page_size', c_uint64),
    ('aux', perfile_bytes)]
perfile_mmap._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('addr', c_uint64),
    ('len', c_uint64),
    ('pgoff', c_uint64),
    ('filename', c_char_p)]
perfile_lost._fields_ = [
    ('id', c_uint64),
    ('lost', c_uint64)]
perfile_comm._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('comm', c_char_p)]
perfile_exit._fields_ = [
    ('pid', c_int32),
    ('ppid', c_int32),
    ('tid', c_int32),
    ('ptid', c_int32),
    ('time', c_uint64)]
perfile_throttle._fields_ = [
    ('time', c_uint64),
    ('id', c_uint64),
    ('stream_id', c_uint64)]
perfile_unthrottle._fields_ = [
    ('time', c_uint64),
    ('id', c_uint64),
    ('stream_id', c_uint64)]
perfile_fork._fields_ = [
    ('pid', c_int32),
    ('ppid', c_int32),
    ('tid', c_int32),
    ('ptid', c_int32),
    ('time', c_uint64)]
perfile_read_counters._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('values', perfile_read)]
perfile_mmap2._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('addr', c_uint64),
    ('len', c_uint64),
    ('pgoff', c_uint64),
    ('build_id_size', c_uint8),
    ('build_id', c_uint8 * 20),
    ('maj', c_uint32),
    ('min', c_uint32),
    ('ino', c_uint64),
    ('ino_generation', c_uint64),
    ('prot', c_uint32),
    ('flags', c_uint32),
    ('filename', c_char_p)]
perfile_aux._fields_ = [
    ('aux_offset', c_uint64),
    ('aux_size', c_uint64),
    ('flags', c_uint64)]
perfile_itrace_start._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32)]
perfile_lost_samples._fields_ = [
    ('lost', c_uint64)]
perfile_switch_cpu_wide._fields_ = [
    ('next_prev_pid', c_int32),
    ('next_prev_tid', c_int32)]
perfile_namespaces._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('nr_namespaces', c_uint64),
    ('link_info', perfile_list)]
perfile_ksymbol._fields_ = [
    ('addr', c_uint64),
    ('len', c_uint32),
    ('ksym_type', c_uint16),
    ('flags', c_uint16),
    ('name', c_char_p)]
perfile_bpf_event._fields_ = [
    ('bpf_type', c_uint16),
    ('flags', c_uint16),
    ('id', c_uint32),
    ('tag', c_uint8 * 8)]
perfile_cgroup._fields_ = [
    ('id', c_uint64),
    ('path', c_char_p)]
perfile_text_poke._fields_ = [
    ('addr', c_uint64),
    ('old_len', c_uint16),
    ('new_len', c_uint16),
    ('old_bytes', c_void_p),
    ('new_bytes', c_void_p)]
perfile_aux_output_hw_id._fields_ = [
    ('hw_id', c_uint64)]
perfile_callchain_deferred._fields_ = [
    ('cookie', c_uint64),
    ('nr', c_uint64),
    ('ips', perfile_u64s)]
perfile_header_attr._fields_ = [
    ('ids', perfile_u64s),
    ('attr', perfile_attr)]
perfile_header_event_type._fields_ = [
    ('event_id', c_uint64),
    ('name', perfile_bytes)]
perfile_header_tracing_data._fields_ = [
    ('data_size', c_uint32),
    ('pad', c_uint32)]
perfile_header_build_id._fields_ = [
    ('pid', c_int32),
    ('build_id', c_uint8 * 20),
    ('build_id_size', c_uint8),
    ('filename', c_char_p)]
perfile_id_index._fields_ = [
    ('nr', c_uint64),
    ('entries', perfile_list),
    ('guests', perfile_list)]
perfile_auxtrace_info._fields_ = [
    ('auxtrace_type', c_uint32),
    ('priv', perfile_u64s)]
perfile_auxtrace._fields_ = [
    ('data_size', c_uint64),
    ('offset', c_uint64),
    ('reference', c_uint64),
    ('idx', c_uint32),
    ('tid', c_int32),
    ('cpu', c_int32),
    ('reserved__', c_uint32)]
perfile_auxtrace_error._fields_ = [
    ('error_type', c_uint32),
    ('code', c_uint32),
    ('cpu', c_int32),
    ('pid', c_int32),
    ('tid', c_int32),
    ('fmt', c_uint32),
    ('ip', c_uint64),
    ('time', c_uint64),
    ('msg', c_char * 65),
    ('machine_pid', c_uint32),
    ('vcpu', c_uint32)]
perfile_thread_map._fields_ = [
    ('nr', c_uint64),
    ('entries', perfile_list)]
perfile_cpu_map._fields_ = [
    ('map', perfile_cpu_set)]
perfile_stat_config._fields_ = [
    ('nr', c_uint64),
    ('data', perfile_list)]
perfile_stat._fields_ = [
    ('id', c_uint64),
    ('cpu', c_uint32),
    ('thread', c_uint32),
    ('val', c_uint64),
    ('ena', c_uint64),
    ('run', c_uint64)]
perfile_stat_round._fields_ = [
    ('round_type', c_uint64),
    ('time', c_uint64)]
perfile_event_update._fields_ = [
    ('update_type', c_uint64),
    ('id', c_uint64),
    ('unit', c_char_p),
    ('scale', c_double),
    ('name', c_char_p),
    ('cpus', perfile_cpu_set)]
perfile_time_conv._fields_ = [
    ('time_shift', c_uint64),
    ('time_mult', c_uint64),
    ('time_zero', c_uint64),
    ('time_cycles', c_uint64),
    ('time_mask', c_uint64),
    ('cap_user_time_zero', c_uint8),
    ('cap_user_time_short', c_uint8)]
perfile_header_feature._fields_ = [
    ('feat_id', c_uint64),
    ('data', perfile_feature_body)]
perfile_compressed._fields_ = [
    ('data_size', c_uint64)]
perfile_compressed2._fields_ = [
    ('data_size', c_uint64)]
perfile_bpf_metadata._fields_ = [
    ('prog_name', c_char * 513),
    ('nr_entries', c_uint64),
    ('entries', perfile_list)]
perfile_schedstat_cpu._fields_ = [
    ('timestamp', c_uint64),
    ('cpu', c_uint32),
    ('version', c_uint16),
    ('yld_count', c_uint32),
    ('array_exp', c_uint32),
    ('sched_count', c_uint32),
    ('sched_goidle', c_uint32),
    ('ttwu_count', c_uint32),
    ('ttwu_local', c_uint32),
    ('rq_cpu_time', c_uint64),
    ('run_delay', c_uint64),
    ('pcount', c_uint64)]
perfile_schedstat_domain._fields_ = [
    ('timestamp', c_uint64),
    ('cpu', c_uint32),
    ('version', c_uint16),
    ('domain', c_uint16),
    ('counters', perfile_schedstat_counters)]
perfile_simpleperf_kernel_symbol._fields_ = [
    ('data_size', c_uint32),
    ('kallsyms', c_void_p)]
perfile_simpleperf_dso._fields_ = [
    ('dso_type', c_uint64),
    ('dso_id', c_uint64),
    ('min_vaddr', c_uint64),
    ('name', c_char_p)]
perfile_simpleperf_symbol._fields_ = [
    ('addr', c_uint64),
    ('len', c_uint64),
    ('dso_id', c_uint64),
    ('name', c_char_p)]
perfile_simpleperf_split._fields_ = [
    ('data_size', c_uint64)]
perfile_simpleperf_event_id._fields_ = [
    ('nr', c_uint64),
    ('entries', perfile_list)]
perfile_simpleperf_callchain._fields_ = [
    ('pid', c_int32),
    ('tid', c_int32),
    ('chain_type', c_uint64),
    ('time', c_uint64),
    ('nr', c_uint64),
    ('ips', perfile_u64s),
    ('sps', perfile_u64s)]
perfile_simpleperf_unwinding_result._fields_ = [
    ('time', c_uint64)]
perfile_simpleperf_tracing_data._fields_ = [
    ('data_size', c_uint32)]
perfile_simpleperf_debug._fields_ = [
    ('time', c_uint64),
    ('message', c_char_p)]
ArrowSchema._fields_ = [
    ('format', c_char_p),
    ('name', c_char_p),
    ('metadata', c_char_p),
    ('flags', c_int64),
    ('n_children', c_int64),
    ('children', POINTER(POINTER(ArrowSchema))),
    ('dictionary', POINTER(ArrowSchema)),
    ('release', CFUNCTYPE(None, POINTER(ArrowSchema))),
    ('private_data', c_void_p)]
ArrowArray._fields_ = [
    ('length', c_int64),
    ('null_count', c_int64),
    ('offset', c_int64),
    ('n_buffers', c_int64),
    ('n_children', c_int64),
    ('buffers', POINTER(c_void_p)),
    ('children', POINTER(POINTER(ArrowArray))),
    ('dictionary', POINTER(ArrowArray)),
    ('release', CFUNCTYPE(None, POINTER(ArrowArray))),
    ('private_data', c_void_p)]
ArrowArrayStream._fields_ = [
    ('get_schema', CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ('get_next', CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ('get_last_error', CFUNCTYPE(c_void_p, POINTER(ArrowArrayStream))),
    ('release', CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ('private_data', c_void_p)]
perfile_view_info._fields_ = [
    ('name', c_char_p),
    ('doc', c_char_p)]
perfile_view_event._fields_ = [
    ('name', c_char_p),
    ('kind', c_char_p),
    ('need', c_uint32)]
perfile_column._fields_ = [
    ('size', c_size_t),
    ('name', c_char_p),
    ('unit', c_char_p),
    ('doc', c_char_p),
    ('type', c_uint32),
    ('shown', c_bool)]
perfile_constant._fields_ = [
    ('name', c_char_p),
    ('doc', POINTER(c_char_p)),
    ('text', c_char_p)]
perfile_table_options._fields_ = [
    ('size', c_size_t),
    ('filter', POINTER(perfile_filter)),
    ('symbols', POINTER(perfile_symbol_options)),
    ('report', POINTER(perfile_report_options)),
    ('columns', c_char_p),
    ('keys', c_char_p),
    ('batch_rows', c_uint64),
    ('threads', c_uint),
    ('progress', CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
    ('progress_context', c_void_p),
    ('unmatched', CFUNCTYPE(None, c_void_p, POINTER(perfile_unmatched))),
    ('unmatched_context', c_void_p),
    ('allocator', POINTER(perfile_allocator)),
    ('gzip', c_bool),
    ('text_width', c_uint64),
    ('events', POINTER(perfile_event_options)),
    ('fills', c_bool),
    ('wall_times', c_bool),
    ('wall_ahead_ns', c_uint64),
    ('constants', POINTER(perfile_constant)),
    ('constant_count', c_size_t)]
perfile_rows._fields_ = [
    ('size', c_size_t),
    ('view', c_char_p),
    ('columns', POINTER(POINTER(perfile_column))),
    ('column_count', c_size_t),
    ('next', CFUNCTYPE(c_int, c_void_p, POINTER(perfile_error))),
    ('value', CFUNCTYPE(None, c_void_p, c_size_t, POINTER(perfile_value))),
    ('context', c_void_p),
    ('allocator', POINTER(perfile_allocator)),
    ('gzip', c_bool),
    ('text_width', c_uint64)]
perfile_parquet_options._fields_ = [
    ('size', c_size_t),
    ('paths', POINTER(c_char_p)),
    ('path_count', c_size_t),
    ('columns', POINTER(c_char_p)),
    ('column_count', c_size_t),
    ('distinct', c_char_p),
    ('allocator', POINTER(perfile_allocator))]
perfile_parquet_info._fields_ = [
    ('size', c_size_t),
    ('rows', c_uint64),
    ('groups', c_uint64),
    ('bytes', c_uint64)]
perfile_writer_options._fields_ = [
    ('size', c_size_t),
    ('mode', c_int),
    ('byte_order', c_int),
    ('compression', c_int),
    ('compressed_v1', c_bool),
    ('no_sync', c_bool),
    ('live', c_bool),
    ('allocator', POINTER(perfile_allocator)),
    ('diagnostic', CFUNCTYPE(None, c_void_p, POINTER(perfile_diagnostic))),
    ('diagnostic_context', c_void_p),
    ('frame_bytes', c_uint64)]
perfile_event_spec._fields_ = [
    ('size', c_size_t),
    ('attr', POINTER(perfile_attr)),
    ('attr_bytes', c_size_t),
    ('ids', POINTER(c_uint64)),
    ('id_count', c_size_t),
    ('name', c_char_p)]
perfile_writer_counts._fields_ = [
    ('records', c_uint64),
    ('samples', c_uint64),
    ('bytes', c_uint64)]

# name: library, result, arguments
FUNCTIONS: Dict[str, Tuple[str, Any, List[Any]]] = {
    'perfile_flame_palette_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_report_column_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_output_at': ('libperfile-analysis', POINTER(perfile_output_info), [c_size_t]),
    'perfile_output_write': ('libperfile-analysis', c_int, [c_void_p, c_char_p, c_char_p, POINTER(perfile_output_options), POINTER(perfile_sink), POINTER(perfile_error)]),
    'perfile_unwinder_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_symbol_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_unwinder_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_unwind': ('libperfile-analysis', c_int, [c_void_p, c_void_p, POINTER(perfile_sample), POINTER(c_uint64), c_size_t]),
    'perfile_build_id_find': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_map), c_void_p]),
    'perfile_build_ids_list': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_build_ids_options), POINTER(perfile_error)]),
    'perfile_elf_build_id': ('libperfile-analysis', c_int, [c_char_p, c_void_p, POINTER(perfile_error)]),
    'perfile_running_kernel_read': ('libperfile-analysis', c_int, [POINTER(perfile_running_kernel)]),
    'perfile_build_id_cache_add': ('libperfile-analysis', c_int, [c_char_p, c_char_p, c_char_p, POINTER(perfile_error)]),
    'perfile_build_id_cache_remove': ('libperfile-analysis', c_int, [c_char_p, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_build_id_cache_list': ('libperfile-analysis', c_int, [c_char_p, POINTER(perfile_build_ids_options), POINTER(perfile_error)]),
    'perfile_jit_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_symbol_options), c_char_p, POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_jit_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_jit_follow': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_record), CFUNCTYPE(c_int, c_void_p, c_uint64, POINTER(perfile_map), POINTER(perfile_error)), c_void_p, POINTER(perfile_error)]),
    'perfile_jit_files': ('libperfile-analysis', c_uint64, [c_void_p, POINTER(c_uint64)]),
    'perfile_bundle_look': ('libperfile-analysis', c_int, [c_char_p, POINTER(perfile_bundle), POINTER(perfile_error)]),
    'perfile_library_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p), POINTER(c_bool)]),
    'perfile_cache_folder': ('libperfile-analysis', c_int, [c_void_p, c_size_t]),
    'perfile_cache_trim': ('libperfile-analysis', None, [c_char_p, c_char_p, c_uint64]),
    'perfile_name_fit': ('libperfile-analysis', c_size_t, [c_char_p, c_size_t, c_void_p, c_size_t]),
    'perfile_name_columns': ('libperfile-analysis', c_size_t, [c_char_p]),
    'perfile_off_cpu_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_script_field_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_annotation_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_annotation_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_annotation_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_annotation_event_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_annotation_function_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_annotation_event_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_annotation_event)]),
    'perfile_annotation_function_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_annotation_function)]),
    'perfile_annotation_weight': ('libperfile-analysis', c_int, [c_void_p, c_size_t, c_size_t, POINTER(perfile_weight)]),
    'perfile_annotation_module': ('libperfile-analysis', c_int, [c_void_p, c_uint32, POINTER(perfile_module)]),
    'perfile_annotation_find': ('libperfile-analysis', c_uint32, [c_void_p, c_char_p, c_size_t]),
    'perfile_annotation_losses': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_losses)]),
    'perfile_annotation_listing': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_listing_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_listing_state': ('libperfile-analysis', c_int, [c_void_p]),
    'perfile_listing_missing': ('libperfile-analysis', c_char_p, [c_void_p]),
    'perfile_listing_line_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_listing_line_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_listing_line)]),
    'perfile_listing_weight': ('libperfile-analysis', c_int, [c_void_p, c_size_t, c_size_t, POINTER(perfile_weight)]),
    'perfile_listing_frame_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, c_size_t, POINTER(perfile_listing_frame)]),
    'perfile_listing_source': ('libperfile-analysis', c_char_p, [c_void_p, c_char_p, c_uint32]),
    'perfile_listing_source_path': ('libperfile-analysis', c_char_p, [c_void_p, c_char_p, POINTER(c_bool)]),
    'perfile_diff_open': ('libperfile-analysis', c_int, [POINTER(perfile_diff_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_diff_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_diff_row_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_diff_row_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_diff_row)]),
    'perfile_diff_total': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_diff_row)]),
    'perfile_diff_describe': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_diff_info)]),
    'perfile_diff_note_at': ('libperfile-analysis', c_char_p, [c_void_p, c_size_t]),
    'perfile_diff_page_write': ('libperfile-analysis', c_int, [POINTER(perfile_diff_page_options), POINTER(perfile_sink), POINTER(perfile_error)]),
    'perfile_strip_part_at': ('libperfile', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_convert': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_convert_options), POINTER(perfile_edit_report), POINTER(perfile_error)]),
    'perfile_inject': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_inject_options), POINTER(perfile_edit_report), POINTER(perfile_error)]),
    'perfile_repair': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_edit_options), POINTER(perfile_edit_report), POINTER(perfile_error)]),
    'perfile_cut': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_cut_options), POINTER(perfile_edit_report), POINTER(perfile_error)]),
    'perfile_split': ('libperfile', c_int, [c_void_p, POINTER(perfile_cut_options), POINTER(perfile_split_options), POINTER(perfile_edit_report), POINTER(perfile_error)]),
    'perfile_merge': ('libperfile', c_int, [c_void_p, POINTER(perfile_merge_options), POINTER(perfile_merge_report), POINTER(perfile_error)]),
    'perfile_anonymize': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_anonymize_options), POINTER(perfile_anonymize_report), POINTER(perfile_error)]),
    'perfile_anonymize_category': ('libperfile', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_anonymize_word': ('libperfile', c_char_p, [c_size_t]),
    'perfile_index_write': ('libperfile', c_int, [c_void_p, POINTER(perfile_sink), POINTER(perfile_error)]),
    'perfile_index_follow': ('libperfile', c_int, [c_void_p, POINTER(perfile_sink), CFUNCTYPE(None, c_void_p, c_bool), c_void_p, POINTER(perfile_error)]),
    'perfile_index_use': ('libperfile', c_int, [c_void_p, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_block_may_have': ('libperfile', c_bool, [c_void_p, c_int, c_uint64]),
    'perfile_block_times': ('libperfile', None, [c_void_p, POINTER(c_uint64), POINTER(c_uint64)]),
    'perfile_session_skip': ('libperfile', None, [c_void_p, CFUNCTYPE(c_bool, c_void_p, c_void_p), c_void_p]),
    'perfile_version': ('libperfile', c_char_p, []),
    'perfile_version_number': ('libperfile', c_uint32, []),
    'perfile_text_escape': ('libperfile-analysis', c_size_t, [c_void_p, c_size_t, c_void_p, c_size_t]),
    'perfile_code_name': ('libperfile', c_char_p, [c_int]),
    'perfile_open_path': ('libperfile', c_int, [c_char_p, POINTER(perfile_open_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_open_fd': ('libperfile', c_int, [c_int, POINTER(perfile_open_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_open_memory': ('libperfile', c_int, [c_void_p, c_size_t, POINTER(perfile_open_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_open_source': ('libperfile', c_int, [POINTER(perfile_source), POINTER(perfile_open_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_close': ('libperfile', None, [c_void_p]),
    'perfile_reader_file': ('libperfile', POINTER(perfile_file), [c_void_p]),
    'perfile_reader_allocator': ('libperfile', POINTER(perfile_allocator), [c_void_p]),
    'perfile_reader_next': ('libperfile', c_int, [c_void_p, POINTER(POINTER(perfile_record)), POINTER(perfile_error)]),
    'perfile_reader_rewind': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_reader_mute': ('libperfile', None, [c_void_p, c_bool]),
    'perfile_reader_span': ('libperfile', c_int, [c_void_p, POINTER(c_uint64), POINTER(c_uint64), POINTER(perfile_error)]),
    'perfile_reader_stop': ('libperfile', None, [c_void_p]),
    'perfile_reader_is_at_start': ('libperfile', c_bool, [c_void_p]),
    'perfile_reader_payload': ('libperfile', c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(perfile_error)]),
    'perfile_reader_counts': ('libperfile', POINTER(perfile_counts), [c_void_p]),
    'perfile_diagnostic_get': ('libperfile', POINTER(perfile_diagnostic), [c_void_p, c_size_t]),
    'perfile_event_count': ('libperfile', c_size_t, [c_void_p]),
    'perfile_event_get': ('libperfile', POINTER(perfile_event), [c_void_p, c_size_t]),
    'perfile_event_find': ('libperfile', POINTER(perfile_event), [c_void_p, c_uint64]),
    'perfile_record_decode': ('libperfile', c_int, [c_void_p, POINTER(perfile_record), c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_sample_id_decode': ('libperfile', c_int, [c_void_p, POINTER(perfile_record), POINTER(perfile_sample_id), POINTER(perfile_error)]),
    'perfile_read_at': ('libperfile', None, [POINTER(perfile_read), c_uint64, POINTER(perfile_read_value), c_size_t]),
    'perfile_sample_decode': ('libperfile', c_int, [POINTER(perfile_record), POINTER(perfile_sample), POINTER(perfile_error)]),
    'perfile_branch_at': ('libperfile', None, [POINTER(perfile_branch_stack), c_uint64, POINTER(perfile_branch), c_size_t]),
    'perfile_feature_count': ('libperfile', c_size_t, [c_void_p]),
    'perfile_feature_get': ('libperfile', POINTER(perfile_feature), [c_void_p, c_size_t]),
    'perfile_feature_bytes': ('libperfile', c_int, [c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_size_t), POINTER(perfile_error)]),
    'perfile_feature_text': ('libperfile', c_int, [c_void_p, c_uint32, c_char_p, POINTER(c_char_p), POINTER(perfile_error)]),
    'perfile_feature_number': ('libperfile', c_int, [c_void_p, c_uint32, c_char_p, POINTER(c_uint64), POINTER(perfile_error)]),
    'perfile_tracing_get': ('libperfile', c_int, [c_void_p, POINTER(POINTER(perfile_tracing)), POINTER(perfile_error)]),
    'perfile_tracepoint_find': ('libperfile', POINTER(perfile_tracepoint), [c_void_p, POINTER(perfile_event)]),
    'perfile_record_visit': ('libperfile', c_int, [c_void_p, POINTER(perfile_record), POINTER(perfile_visitor), POINTER(perfile_error)]),
    'perfile_feature_visit': ('libperfile', c_int, [c_void_p, c_uint32, POINTER(perfile_visitor), POINTER(perfile_error)]),
    'perfile_attr_visit': ('libperfile', c_int, [POINTER(perfile_event), POINTER(perfile_visitor), POINTER(perfile_error)]),
    'perfile_record_name': ('libperfile', c_char_p, [c_uint32]),
    'perfile_record_type_at': ('libperfile', c_uint32, [c_size_t]),
    'perfile_feature_name': ('libperfile', c_char_p, [c_uint32]),
    'perfile_feature_number_at': ('libperfile', c_uint32, [c_size_t]),
    'perfile_record_doc': ('libperfile', c_char_p, [c_uint32]),
    'perfile_feature_doc': ('libperfile', c_char_p, [c_uint32]),
    'perfile_sample_field_name': ('libperfile', c_char_p, [c_uint64]),
    'perfile_enum_name': ('libperfile', c_char_p, [c_char_p, c_uint64]),
    'perfile_enum_constant': ('libperfile', c_char_p, [c_char_p, c_uint64]),
    'perfile_register_name': ('libperfile', c_char_p, [c_char_p, c_uint]),
    'perfile_session_open': ('libperfile', c_int, [c_void_p, POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_session_close': ('libperfile', None, [c_void_p]),
    'perfile_session_filter': ('libperfile', c_int, [c_void_p, POINTER(perfile_filter), POINTER(perfile_error)]),
    'perfile_session_next': ('libperfile', c_int, [c_void_p, POINTER(POINTER(perfile_record)), POINTER(perfile_error)]),
    'perfile_session_comm': ('libperfile', c_char_p, [c_void_p, c_int32, c_int32]),
    'perfile_session_later_comm': ('libperfile', c_char_p, [c_void_p, c_char_p]),
    'perfile_session_cgroup': ('libperfile', c_char_p, [c_void_p, c_uint64]),
    'perfile_session_keep_comms': ('libperfile', None, [c_void_p]),
    'perfile_session_follow_maps': ('libperfile', None, [c_void_p]),
    'perfile_session_add_map': ('libperfile', c_int, [c_void_p, c_uint64, POINTER(perfile_map), POINTER(perfile_error)]),
    'perfile_session_space': ('libperfile', c_void_p, [c_void_p, c_int32]),
    'perfile_space_id': ('libperfile', c_uint64, [c_void_p]),
    'perfile_space_find': ('libperfile', POINTER(perfile_map), [c_void_p, c_uint64]),
    'perfile_space_below': ('libperfile', POINTER(perfile_map), [c_void_p, c_uint64]),
    'perfile_session_limit': ('libperfile', None, [c_void_p, c_uint64, c_uint64]),
    'perfile_session_left_out': ('libperfile', c_uint64, [c_void_p]),
    'perfile_session_preview': ('libperfile', None, [c_void_p, CFUNCTYPE(c_bool, c_void_p, POINTER(perfile_record)), c_void_p]),
    'perfile_session_trim': ('libperfile', c_bool, [c_void_p]),
    'perfile_session_unordered': ('libperfile', c_uint64, [c_void_p]),
    'perfile_stream_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_stream_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_stream_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_stream_next': ('libperfile-analysis', c_int, [c_void_p, POINTER(POINTER(perfile_stream_sample)), POINTER(perfile_error)]),
    'perfile_stream_frame': ('libperfile-analysis', c_int, [c_void_p, c_uint32, POINTER(perfile_frame)]),
    'perfile_stream_label': ('libperfile-analysis', c_char_p, [c_void_p, c_uint32]),
    'perfile_stream_comm_label': ('libperfile-analysis', c_char_p, [c_void_p, c_char_p]),
    'perfile_stream_module': ('libperfile-analysis', c_int, [c_void_p, c_uint32, POINTER(perfile_module)]),
    'perfile_stream_losses': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_losses)]),
    'perfile_event_unit': ('libperfile-analysis', c_char_p, [POINTER(perfile_event), c_void_p, c_size_t]),
    'perfile_profile_key_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_profile_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_profile_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_profile_merge': ('libperfile-analysis', c_int, [POINTER(c_void_p), c_size_t, POINTER(perfile_profile_merge_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_profile_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_profile_write': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_sink), POINTER(perfile_error)]),
    'perfile_profile_is_file': ('libperfile-analysis', c_bool, [c_void_p, c_size_t]),
    'perfile_profile_read': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_allocator), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_profile_recording_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_event_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_value_type_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_module_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_function_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_frame_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_stack_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_thread_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_sample_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_profile_recording_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_recording)]),
    'perfile_profile_event_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_event)]),
    'perfile_profile_value_type_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_value_type)]),
    'perfile_profile_module_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_module)]),
    'perfile_profile_function_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_function)]),
    'perfile_profile_frame_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_frame)]),
    'perfile_profile_stack_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_stack)]),
    'perfile_profile_thread_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_thread)]),
    'perfile_profile_sample_at': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_profile_sample)]),
    'perfile_profile_losses': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_losses)]),
    'perfile_calls_open': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_calls_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_calls_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_calls_start': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_calls_add': ('libperfile-analysis', None, [c_void_p, c_size_t]),
    'perfile_calls_sum': ('libperfile-analysis', None, [c_void_p]),
    'perfile_calls_value_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_calls_self': ('libperfile-analysis', POINTER(c_uint64), [c_void_p, c_uint32]),
    'perfile_calls_total': ('libperfile-analysis', POINTER(c_uint64), [c_void_p, c_uint32]),
    'perfile_calls_node': ('libperfile-analysis', POINTER(c_uint64), [c_void_p, c_uint32]),
    'perfile_calls_node_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_calls_group': ('libperfile-analysis', c_uint32, [c_void_p, c_uint32]),
    'perfile_calls_parent': ('libperfile-analysis', c_uint32, [c_void_p, c_uint32]),
    'perfile_calls_first': ('libperfile-analysis', c_uint32, [c_void_p, c_uint32]),
    'perfile_calls_next': ('libperfile-analysis', c_uint32, [c_void_p, c_uint32]),
    'perfile_calls_nodes': ('libperfile-analysis', POINTER(c_uint32), [c_void_p, c_uint32, POINTER(c_size_t)]),
    'perfile_calls_sample': ('libperfile-analysis', POINTER(c_uint64), [c_void_p, c_size_t]),
    'perfile_calls_end': ('libperfile-analysis', c_uint32, [c_void_p, c_size_t]),
    'perfile_calls_leaf': ('libperfile-analysis', c_uint32, [c_void_p, c_size_t]),
    'perfile_calls_leaf_node': ('libperfile-analysis', c_uint32, [c_void_p, c_size_t]),
    'perfile_calls_mark': ('libperfile-analysis', None, [c_void_p, POINTER(c_uint16)]),
    'perfile_calls_marks': ('libperfile-analysis', c_uint16, [c_void_p, c_size_t]),
    'perfile_resolver_open': ('libperfile-analysis', c_int, [c_void_p, c_void_p, POINTER(perfile_resolver_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_resolver_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_resolver_frames': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_location), POINTER(c_uint32), c_size_t, POINTER(perfile_error)]),
    'perfile_resolver_frame': ('libperfile-analysis', c_int, [c_void_p, c_uint32, POINTER(perfile_frame)]),
    'perfile_resolver_label': ('libperfile-analysis', c_char_p, [c_void_p, c_uint32]),
    'perfile_resolver_module': ('libperfile-analysis', c_int, [c_void_p, c_uint32, POINTER(perfile_module)]),
    'perfile_recorder_open': ('libperfile', c_int, [POINTER(perfile_recorder_options), c_void_p, POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_recorder_enable': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_recorder_disable': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_recorder_enable_event': ('libperfile', c_int, [c_void_p, c_char_p, POINTER(perfile_error)]),
    'perfile_recorder_disable_event': ('libperfile', c_int, [c_void_p, c_char_p, POINTER(perfile_error)]),
    'perfile_recorder_drain': ('libperfile', c_int, [c_void_p, c_int, POINTER(perfile_error)]),
    'perfile_recorder_fd': ('libperfile', c_int, [c_void_p]),
    'perfile_recorder_snapshot': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_recorder_switch_output': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_error)]),
    'perfile_recorder_stop': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_recorder_close': ('libperfile', None, [c_void_p]),
    'perfile_recorder_counts_get': ('libperfile', POINTER(perfile_recorder_counts), [c_void_p]),
    'perfile_recorder_event_lost': ('libperfile', c_char_p, [c_void_p, c_size_t, POINTER(c_uint64)]),
    'perfile_counter_open': ('libperfile', c_int, [POINTER(perfile_counter_options), c_void_p, POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_counter_enable': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_counter_disable': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_counter_write': ('libperfile', c_int, [c_void_p, c_uint64, c_bool, POINTER(perfile_error)]),
    'perfile_counter_close': ('libperfile', None, [c_void_p]),
    'perfile_known_events': ('libperfile', c_int, [c_char_p, CFUNCTYPE(c_int, c_void_p, POINTER(perfile_known_event)), c_void_p, POINTER(perfile_error)]),
    'perfile_namespace_link_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_namespace_link), c_size_t]),
    'perfile_id_index_entry_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_id_index_entry), c_size_t]),
    'perfile_id_index_guest_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_id_index_guest), c_size_t]),
    'perfile_thread_map_entry_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_thread_map_entry), c_size_t]),
    'perfile_stat_config_entry_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_stat_config_entry), c_size_t]),
    'perfile_bpf_metadata_entry_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_bpf_metadata_entry), c_size_t]),
    'perfile_simpleperf_event_id_entry_at': ('libperfile', None, [POINTER(perfile_list), c_uint64, POINTER(perfile_simpleperf_event_id_entry), c_size_t]),
    'perfile_view_at': ('libperfile-analysis', POINTER(perfile_view_info), [c_size_t]),
    'perfile_view_event_at': ('libperfile-analysis', POINTER(perfile_view_event), [c_char_p, c_size_t]),
    'perfile_view_column': ('libperfile-analysis', c_int, [c_char_p, c_size_t, POINTER(perfile_column)]),
    'perfile_column_type_name': ('libperfile-analysis', c_char_p, [c_uint32]),
    'perfile_table_open': ('libperfile-analysis', c_int, [c_void_p, c_char_p, POINTER(perfile_table_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_table_close': ('libperfile-analysis', None, [c_void_p]),
    'perfile_table_column_count': ('libperfile-analysis', c_size_t, [c_void_p]),
    'perfile_table_column': ('libperfile-analysis', c_int, [c_void_p, c_size_t, POINTER(perfile_column)]),
    'perfile_table_schema': ('libperfile-analysis', c_int, [c_void_p, POINTER(ArrowSchema), POINTER(perfile_error)]),
    'perfile_table_next': ('libperfile-analysis', c_int, [c_void_p, POINTER(ArrowArray), POINTER(perfile_error)]),
    'perfile_table_stream': ('libperfile-analysis', None, [c_void_p, POINTER(ArrowArrayStream)]),
    'perfile_table_losses': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_losses)]),
    'perfile_table_of_rows': ('libperfile-analysis', c_int, [POINTER(perfile_rows), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_table_of_diff': ('libperfile-analysis', c_int, [c_void_p, POINTER(perfile_table_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_table_of_parquet': ('libperfile-analysis', c_int, [POINTER(perfile_parquet_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_parquet_look': ('libperfile-analysis', c_int, [c_char_p, POINTER(perfile_parquet_info), POINTER(perfile_error)]),
    'perfile_table_format_at': ('libperfile-analysis', c_char_p, [c_size_t, POINTER(c_char_p)]),
    'perfile_table_format_is_binary': ('libperfile-analysis', c_bool, [c_char_p]),
    'perfile_table_write': ('libperfile-analysis', c_int, [c_void_p, c_char_p, POINTER(perfile_sink), POINTER(perfile_error)]),
    'perfile_writer_open_path': ('libperfile', c_int, [c_char_p, POINTER(perfile_writer_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_writer_open_fd': ('libperfile', c_int, [c_int, POINTER(perfile_writer_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_writer_open_sink': ('libperfile', c_int, [POINTER(perfile_sink), POINTER(perfile_writer_options), POINTER(c_void_p), POINTER(perfile_error)]),
    'perfile_writer_publish': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_writer_flush': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_writer_finish': ('libperfile', c_int, [c_void_p, POINTER(perfile_error)]),
    'perfile_writer_close': ('libperfile', None, [c_void_p]),
    'perfile_writer_add_event': ('libperfile', c_int, [c_void_p, POINTER(perfile_event_spec), POINTER(c_uint32), POINTER(perfile_error)]),
    'perfile_writer_feature': ('libperfile', c_int, [c_void_p, c_uint32, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_writer_feature_text': ('libperfile', c_int, [c_void_p, c_uint32, c_char_p, POINTER(perfile_error)]),
    'perfile_writer_feature_texts': ('libperfile', c_int, [c_void_p, c_uint32, POINTER(c_char_p), c_size_t, POINTER(perfile_error)]),
    'perfile_writer_build_id': ('libperfile', c_int, [c_void_p, c_uint16, POINTER(perfile_header_build_id), c_size_t, POINTER(perfile_error)]),
    'perfile_writer_record': ('libperfile', c_int, [c_void_p, c_uint32, c_uint16, c_void_p, c_size_t, POINTER(perfile_sample_id), POINTER(perfile_error)]),
    'perfile_writer_sample': ('libperfile', c_int, [c_void_p, c_uint32, c_uint16, POINTER(perfile_sample), POINTER(perfile_error)]),
    'perfile_writer_records': ('libperfile', c_int, [c_void_p, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_writer_raw': ('libperfile', c_int, [c_void_p, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_writer_payload': ('libperfile', c_int, [c_void_p, c_void_p, c_size_t, POINTER(perfile_error)]),
    'perfile_writer_part': ('libperfile', c_int, [c_void_p, c_uint32, POINTER(perfile_error)]),
    'perfile_writer_copy_header': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_error)]),
    'perfile_writer_copy': ('libperfile', c_int, [c_void_p, c_void_p, POINTER(perfile_record), POINTER(perfile_error)]),
    'perfile_writer_progress': ('libperfile', POINTER(perfile_writer_counts), [c_void_p]),
}

# what the elements of lists are
ELEMENTS: Dict[Tuple[str, str], Any] = {
    ('perfile_namespaces', 'link_info'): perfile_namespace_link,
    ('perfile_id_index', 'entries'): perfile_id_index_entry,
    ('perfile_id_index', 'guests'): perfile_id_index_guest,
    ('perfile_thread_map', 'entries'): perfile_thread_map_entry,
    ('perfile_stat_config', 'data'): perfile_stat_config_entry,
    ('perfile_bpf_metadata', 'entries'): perfile_bpf_metadata_entry,
    ('perfile_simpleperf_event_id', 'entries'): perfile_simpleperf_event_id_entry,
}
