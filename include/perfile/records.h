/* SPDX-License-Identifier: MIT */
/* perfile/records.h: records, attributes and fields of samples (libperfile). Written by src/schema/gen_records.c. */
#ifndef PERFILE_RECORDS_H
#define PERFILE_RECORDS_H

enum perfile_record_type {
    PERFILE_RECORD_MMAP = 1,
    PERFILE_RECORD_LOST = 2,
    PERFILE_RECORD_COMM = 3,
    PERFILE_RECORD_EXIT = 4,
    PERFILE_RECORD_THROTTLE = 5,
    PERFILE_RECORD_UNTHROTTLE = 6,
    PERFILE_RECORD_FORK = 7,
    PERFILE_RECORD_READ = 8,
    PERFILE_RECORD_SAMPLE = 9,
    PERFILE_RECORD_MMAP2 = 10,
    PERFILE_RECORD_AUX = 11,
    PERFILE_RECORD_ITRACE_START = 12,
    PERFILE_RECORD_LOST_SAMPLES = 13,
    PERFILE_RECORD_SWITCH = 14,
    PERFILE_RECORD_SWITCH_CPU_WIDE = 15,
    PERFILE_RECORD_NAMESPACES = 16,
    PERFILE_RECORD_KSYMBOL = 17,
    PERFILE_RECORD_BPF_EVENT = 18,
    PERFILE_RECORD_CGROUP = 19,
    PERFILE_RECORD_TEXT_POKE = 20,
    PERFILE_RECORD_AUX_OUTPUT_HW_ID = 21,
    PERFILE_RECORD_CALLCHAIN_DEFERRED = 22,
    PERFILE_RECORD_HEADER_ATTR = 64,
    PERFILE_RECORD_HEADER_EVENT_TYPE = 65,
    PERFILE_RECORD_HEADER_TRACING_DATA = 66,
    PERFILE_RECORD_HEADER_BUILD_ID = 67,
    PERFILE_RECORD_FINISHED_ROUND = 68,
    PERFILE_RECORD_ID_INDEX = 69,
    PERFILE_RECORD_AUXTRACE_INFO = 70,
    PERFILE_RECORD_AUXTRACE = 71,
    PERFILE_RECORD_AUXTRACE_ERROR = 72,
    PERFILE_RECORD_THREAD_MAP = 73,
    PERFILE_RECORD_CPU_MAP = 74,
    PERFILE_RECORD_STAT_CONFIG = 75,
    PERFILE_RECORD_STAT = 76,
    PERFILE_RECORD_STAT_ROUND = 77,
    PERFILE_RECORD_EVENT_UPDATE = 78,
    PERFILE_RECORD_TIME_CONV = 79,
    PERFILE_RECORD_HEADER_FEATURE = 80,
    PERFILE_RECORD_COMPRESSED = 81,
    PERFILE_RECORD_FINISHED_INIT = 82,
    PERFILE_RECORD_COMPRESSED2 = 83,
    PERFILE_RECORD_BPF_METADATA = 84,
    PERFILE_RECORD_SCHEDSTAT_CPU = 85,
    PERFILE_RECORD_SCHEDSTAT_DOMAIN = 86,
    PERFILE_RECORD_SIMPLEPERF_KERNEL_SYMBOL = 32769,
    PERFILE_RECORD_SIMPLEPERF_DSO = 32770,
    PERFILE_RECORD_SIMPLEPERF_SYMBOL = 32771,
    PERFILE_RECORD_SIMPLEPERF_SPLIT = 32772,
    PERFILE_RECORD_SIMPLEPERF_SPLIT_END = 32773,
    PERFILE_RECORD_SIMPLEPERF_EVENT_ID = 32774,
    PERFILE_RECORD_SIMPLEPERF_CALLCHAIN = 32775,
    PERFILE_RECORD_SIMPLEPERF_UNWINDING_RESULT = 32776,
    PERFILE_RECORD_SIMPLEPERF_TRACING_DATA = 32777,
    PERFILE_RECORD_SIMPLEPERF_DEBUG = 32778,
};

enum perfile_feature_id {
    PERFILE_FEATURE_TRACING_DATA = 1,
    PERFILE_FEATURE_BUILD_ID = 2,
    PERFILE_FEATURE_HOSTNAME = 3,
    PERFILE_FEATURE_OSRELEASE = 4,
    PERFILE_FEATURE_VERSION = 5,
    PERFILE_FEATURE_ARCH = 6,
    PERFILE_FEATURE_NRCPUS = 7,
    PERFILE_FEATURE_CPUDESC = 8,
    PERFILE_FEATURE_CPUID = 9,
    PERFILE_FEATURE_TOTAL_MEM = 10,
    PERFILE_FEATURE_CMDLINE = 11,
    PERFILE_FEATURE_EVENT_DESC = 12,
    PERFILE_FEATURE_CPU_TOPOLOGY = 13,
    PERFILE_FEATURE_NUMA_TOPOLOGY = 14,
    PERFILE_FEATURE_BRANCH_STACK = 15,
    PERFILE_FEATURE_PMU_MAPPINGS = 16,
    PERFILE_FEATURE_GROUP_DESC = 17,
    PERFILE_FEATURE_AUXTRACE = 18,
    PERFILE_FEATURE_STAT = 19,
    PERFILE_FEATURE_CACHE = 20,
    PERFILE_FEATURE_SAMPLE_TIME = 21,
    PERFILE_FEATURE_MEM_TOPOLOGY = 22,
    PERFILE_FEATURE_CLOCKID = 23,
    PERFILE_FEATURE_DIR_FORMAT = 24,
    PERFILE_FEATURE_BPF_PROG_INFO = 25,
    PERFILE_FEATURE_BPF_BTF = 26,
    PERFILE_FEATURE_COMPRESSED = 27,
    PERFILE_FEATURE_CPU_PMU_CAPS = 28,
    PERFILE_FEATURE_CLOCK_DATA = 29,
    PERFILE_FEATURE_HYBRID_TOPOLOGY = 30,
    PERFILE_FEATURE_PMU_CAPS = 31,
    PERFILE_FEATURE_CPU_DOMAIN_INFO = 32,
    PERFILE_FEATURE_E_MACHINE = 33,
    PERFILE_FEATURE_CLN_SIZE = 34,
    PERFILE_FEATURE_FILE = 128,
    PERFILE_FEATURE_META_INFO = 129,
    PERFILE_FEATURE_DEBUG_UNWIND = 130,
    PERFILE_FEATURE_DEBUG_UNWIND_FILE = 131,
    PERFILE_FEATURE_FILE2 = 132,
    PERFILE_FEATURE_ETM_BRANCH_LIST = 133,
    PERFILE_FEATURE_INIT_MAP = 134,
};

/* attr.sample_type: the parts of a SAMPLE, in the order of their bytes. */
enum perfile_sample_bit {
    PERFILE_SAMPLE_IDENTIFIER = 1u << 16,
    PERFILE_SAMPLE_IP = 1u << 0,
    PERFILE_SAMPLE_TID = 1u << 1,
    PERFILE_SAMPLE_TIME = 1u << 2,
    PERFILE_SAMPLE_ADDR = 1u << 3,
    PERFILE_SAMPLE_ID = 1u << 6,
    PERFILE_SAMPLE_STREAM_ID = 1u << 9,
    PERFILE_SAMPLE_CPU = 1u << 7,
    PERFILE_SAMPLE_PERIOD = 1u << 8,
    PERFILE_SAMPLE_READ = 1u << 4,
    PERFILE_SAMPLE_CALLCHAIN = 1u << 5,
    PERFILE_SAMPLE_RAW = 1u << 10,
    PERFILE_SAMPLE_BRANCH_STACK = 1u << 11,
    PERFILE_SAMPLE_REGS_USER = 1u << 12,
    PERFILE_SAMPLE_STACK_USER = 1u << 13,
    PERFILE_SAMPLE_WEIGHT = 1u << 14,
    PERFILE_SAMPLE_WEIGHT_STRUCT = 1u << 24,
    PERFILE_SAMPLE_DATA_SRC = 1u << 15,
    PERFILE_SAMPLE_TRANSACTION = 1u << 17,
    PERFILE_SAMPLE_REGS_INTR = 1u << 18,
    PERFILE_SAMPLE_PHYS_ADDR = 1u << 19,
    PERFILE_SAMPLE_CGROUP = 1u << 21,
    PERFILE_SAMPLE_DATA_PAGE_SIZE = 1u << 22,
    PERFILE_SAMPLE_CODE_PAGE_SIZE = 1u << 23,
    PERFILE_SAMPLE_AUX = 1u << 20,
};

/* attr.type: whose event it is; further numbers are those of the feature PMU_MAPPINGS. */
enum perfile_attr_type {
    PERFILE_TYPE_HARDWARE = 0,
    PERFILE_TYPE_SOFTWARE = 1,
    PERFILE_TYPE_TRACEPOINT = 2,
    PERFILE_TYPE_HW_CACHE = 3,
    PERFILE_TYPE_RAW = 4,
    PERFILE_TYPE_BREAKPOINT = 5,
};

/* attr.config of PERFILE_TYPE_HARDWARE, in its lower 32 bits. */
enum perfile_hardware_event {
    PERFILE_COUNT_HW_CPU_CYCLES = 0,
    PERFILE_COUNT_HW_INSTRUCTIONS = 1,
    PERFILE_COUNT_HW_CACHE_REFERENCES = 2,
    PERFILE_COUNT_HW_CACHE_MISSES = 3,
    PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
    PERFILE_COUNT_HW_BRANCH_MISSES = 5,
    PERFILE_COUNT_HW_BUS_CYCLES = 6,
    PERFILE_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
    PERFILE_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
    PERFILE_COUNT_HW_REF_CPU_CYCLES = 9,
};

/* attr.config of PERFILE_TYPE_SOFTWARE. */
enum perfile_software_event {
    PERFILE_COUNT_SW_CPU_CLOCK = 0,
    PERFILE_COUNT_SW_TASK_CLOCK = 1,
    PERFILE_COUNT_SW_PAGE_FAULTS = 2,
    PERFILE_COUNT_SW_CONTEXT_SWITCHES = 3,
    PERFILE_COUNT_SW_CPU_MIGRATIONS = 4,
    PERFILE_COUNT_SW_PAGE_FAULTS_MIN = 5,
    PERFILE_COUNT_SW_PAGE_FAULTS_MAJ = 6,
    PERFILE_COUNT_SW_ALIGNMENT_FAULTS = 7,
    PERFILE_COUNT_SW_EMULATION_FAULTS = 8,
    PERFILE_COUNT_SW_DUMMY = 9,
    PERFILE_COUNT_SW_BPF_OUTPUT = 10,
    PERFILE_COUNT_SW_CGROUP_SWITCHES = 11,
};

/* attr.config of PERFILE_TYPE_HW_CACHE: bits 0-7, which cache. */
enum perfile_cache {
    PERFILE_COUNT_HW_CACHE_L1D = 0,
    PERFILE_COUNT_HW_CACHE_L1I = 1,
    PERFILE_COUNT_HW_CACHE_LL = 2,
    PERFILE_COUNT_HW_CACHE_DTLB = 3,
    PERFILE_COUNT_HW_CACHE_ITLB = 4,
    PERFILE_COUNT_HW_CACHE_BPU = 5,
    PERFILE_COUNT_HW_CACHE_NODE = 6,
};

/* bits 8-15, what is done to it. */
enum perfile_cache_op {
    PERFILE_COUNT_HW_CACHE_OP_READ = 0,
    PERFILE_COUNT_HW_CACHE_OP_WRITE = 1,
    PERFILE_COUNT_HW_CACHE_OP_PREFETCH = 2,
};

/* bits 16-23, how that ends. */
enum perfile_cache_result {
    PERFILE_COUNT_HW_CACHE_RESULT_ACCESS = 0,
    PERFILE_COUNT_HW_CACHE_RESULT_MISS = 1,
};

/* attr.bp_type, bits. */
enum perfile_breakpoint_type {
    PERFILE_BREAKPOINT_R = 1,
    PERFILE_BREAKPOINT_W = 2,
    PERFILE_BREAKPOINT_X = 4,
};

/* attr.read_format, bits. */
enum perfile_read_format {
    PERFILE_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
    PERFILE_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
    PERFILE_FORMAT_ID = 1 << 2,
    PERFILE_FORMAT_GROUP = 1 << 3,
    PERFILE_FORMAT_LOST = 1 << 4,
};

/* attr.branch_sample_type, bits. */
enum perfile_branch_sample_type {
    PERFILE_SAMPLE_BRANCH_USER = 1 << 0,
    PERFILE_SAMPLE_BRANCH_KERNEL = 1 << 1,
    PERFILE_SAMPLE_BRANCH_HV = 1 << 2,
    PERFILE_SAMPLE_BRANCH_ANY = 1 << 3,
    PERFILE_SAMPLE_BRANCH_ANY_CALL = 1 << 4,
    PERFILE_SAMPLE_BRANCH_ANY_RETURN = 1 << 5,
    PERFILE_SAMPLE_BRANCH_IND_CALL = 1 << 6,
    PERFILE_SAMPLE_BRANCH_ABORT_TX = 1 << 7,
    PERFILE_SAMPLE_BRANCH_IN_TX = 1 << 8,
    PERFILE_SAMPLE_BRANCH_NO_TX = 1 << 9,
    PERFILE_SAMPLE_BRANCH_COND = 1 << 10,
    PERFILE_SAMPLE_BRANCH_CALL_STACK = 1 << 11,
    PERFILE_SAMPLE_BRANCH_IND_JUMP = 1 << 12,
    PERFILE_SAMPLE_BRANCH_CALL = 1 << 13,
    PERFILE_SAMPLE_BRANCH_NO_FLAGS = 1 << 14,
    PERFILE_SAMPLE_BRANCH_NO_CYCLES = 1 << 15,
    PERFILE_SAMPLE_BRANCH_TYPE_SAVE = 1 << 16,
    PERFILE_SAMPLE_BRANCH_HW_INDEX = 1 << 17,
    PERFILE_SAMPLE_BRANCH_PRIV_SAVE = 1 << 18,
    PERFILE_SAMPLE_BRANCH_COUNTERS = 1 << 19,
};

/* misc & PERFILE_MISC_CPUMODE_MASK: what was running. */
enum perfile_cpumode {
    PERFILE_MISC_CPUMODE_UNKNOWN = 0,
    PERFILE_MISC_KERNEL = 1,
    PERFILE_MISC_USER = 2,
    PERFILE_MISC_HYPERVISOR = 3,
    PERFILE_MISC_GUEST_KERNEL = 4,
    PERFILE_MISC_GUEST_USER = 5,
};

/* what an entry of a callchain says about those after it; from PERFILE_CONTEXT_MAX on entries are not addresses. */
#define PERFILE_CONTEXT_HV 0xffffffffffffffe0
#define PERFILE_CONTEXT_KERNEL 0xffffffffffffff80
#define PERFILE_CONTEXT_USER 0xfffffffffffffe00
#define PERFILE_CONTEXT_USER_DEFERRED 0xfffffffffffffd80
#define PERFILE_CONTEXT_GUEST 0xfffffffffffff800
#define PERFILE_CONTEXT_GUEST_KERNEL 0xfffffffffffff780
#define PERFILE_CONTEXT_GUEST_USER 0xfffffffffffff600

/* the smallest entry that is not an address. */
#define PERFILE_CONTEXT_MAX 0xfffffffffffff001

/* abi of registers in samples. */
enum perfile_register_abi {
    PERFILE_SAMPLE_REGS_ABI_NONE = 0,
    PERFILE_SAMPLE_REGS_ABI_32 = 1,
    PERFILE_SAMPLE_REGS_ABI_64 = 2,
};

/* branch.type. */
enum perfile_branch_type {
    PERFILE_BR_UNKNOWN = 0,
    PERFILE_BR_COND = 1,
    PERFILE_BR_UNCOND = 2,
    PERFILE_BR_IND = 3,
    PERFILE_BR_CALL = 4,
    PERFILE_BR_IND_CALL = 5,
    PERFILE_BR_RET = 6,
    PERFILE_BR_SYSCALL = 7,
    PERFILE_BR_SYSRET = 8,
    PERFILE_BR_COND_CALL = 9,
    PERFILE_BR_COND_RET = 10,
    PERFILE_BR_ERET = 11,
    PERFILE_BR_IRQ = 12,
    PERFILE_BR_SERROR = 13,
    PERFILE_BR_NO_TX = 14,
    PERFILE_BR_EXTEND_ABI = 15,
};

/* branch.new_type, of branches of the type PERFILE_BR_EXTEND_ABI. */
enum perfile_branch_new_type {
    PERFILE_BR_NEW_FAULT_ALGN = 0,
    PERFILE_BR_NEW_FAULT_DATA = 1,
    PERFILE_BR_NEW_FAULT_INST = 2,
    PERFILE_BR_NEW_ARCH_1 = 3,
    PERFILE_BR_NEW_ARCH_2 = 4,
    PERFILE_BR_NEW_ARCH_3 = 5,
    PERFILE_BR_NEW_ARCH_4 = 6,
    PERFILE_BR_NEW_ARCH_5 = 7,
};

/* branch.spec. */
enum perfile_branch_spec {
    PERFILE_BR_SPEC_NA = 0,
    PERFILE_BR_SPEC_WRONG_PATH = 1,
    PERFILE_BR_NON_SPEC_CORRECT_PATH = 2,
    PERFILE_BR_SPEC_CORRECT_PATH = 3,
};

/* prot of MMAP2, bits. */
enum perfile_map_prot {
    PERFILE_PROT_READ = 1,
    PERFILE_PROT_WRITE = 2,
    PERFILE_PROT_EXEC = 4,
};

/* flags of MMAP2, bits; those that are the same on nearly all machines. */
enum perfile_map_flags {
    PERFILE_MAP_SHARED = 0x1,
    PERFILE_MAP_PRIVATE = 0x2,
    PERFILE_MAP_HUGETLB = 0x40000,
};

/* flags of AUX, bits. */
enum perfile_aux_flags {
    PERFILE_AUX_FLAG_TRUNCATED = 1,
    PERFILE_AUX_FLAG_OVERWRITE = 2,
    PERFILE_AUX_FLAG_PARTIAL = 4,
    PERFILE_AUX_FLAG_COLLISION = 8,
};

/* ksym_type of KSYMBOL. */
enum perfile_ksymbol_type {
    PERFILE_KSYMBOL_TYPE_BPF = 1,
    PERFILE_KSYMBOL_TYPE_OOL = 2,
};

/* flags of KSYMBOL, bits. */
enum perfile_ksymbol_flags {
    PERFILE_KSYMBOL_FLAGS_UNREGISTER = 1,
};

/* bpf_type of BPF_EVENT. */
enum perfile_bpf_event_type {
    PERFILE_BPF_EVENT_PROG_LOAD = 1,
    PERFILE_BPF_EVENT_PROG_UNLOAD = 2,
};

/* update_type of EVENT_UPDATE. */
enum perfile_event_update_type {
    PERFILE_EVENT_UPDATE_UNIT = 0,
    PERFILE_EVENT_UPDATE_SCALE = 1,
    PERFILE_EVENT_UPDATE_NAME = 2,
    PERFILE_EVENT_UPDATE_CPUS = 3,
};

/* map_type of a set of CPUs. */
enum perfile_cpu_map_type {
    PERFILE_CPU_MAP_CPUS = 0,
    PERFILE_CPU_MAP_MASK = 1,
    PERFILE_CPU_MAP_RANGE_CPUS = 2,
};

/* auxtrace_type of AUXTRACE_INFO. */
enum perfile_auxtrace_type {
    PERFILE_AUXTRACE_INTEL_PT = 1,
    PERFILE_AUXTRACE_INTEL_BTS = 2,
    PERFILE_AUXTRACE_CS_ETM = 3,
    PERFILE_AUXTRACE_ARM_SPE = 4,
    PERFILE_AUXTRACE_S390_CPUMSF = 5,
    PERFILE_AUXTRACE_HISI_PTT = 6,
    PERFILE_AUXTRACE_VPA_DTL = 7,
};

/* struct perf_event_attr; its fields are the kernel's */
struct perfile_attr {
    uint32_t type;                          /* PMU: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, more: PMU_MAPPINGS */
    uint32_t size;                          /* bytes of this struct in the file; 0 means 64 */
    uint64_t config;                        /* which event of the PMU */
    uint64_t sample_period_or_freq;         /* events between samples, or with `freq` samples a second */
    uint64_t sample_type;                   /* which parts a sample has, see sample.def */
    uint64_t read_format;                   /* 1 time enabled, 2 time running, 4 id, 8 group, 16 lost */
    uint8_t disabled;                       /* starts disabled */
    uint8_t inherit;                        /* children inherit it */
    uint8_t pinned;                         /* always on the PMU */
    uint8_t exclusive;                      /* alone on the PMU */
    uint8_t exclude_user;                   /* not in user mode */
    uint8_t exclude_kernel;                 /* not in the kernel */
    uint8_t exclude_hv;                     /* not in the hypervisor */
    uint8_t exclude_idle;                   /* not when idle */
    uint8_t mmap;                           /* writes MMAP records */
    uint8_t comm;                           /* writes COMM records */
    uint8_t freq;                           /* sample_period_or_freq is a frequency */
    uint8_t inherit_stat;                   /* counts per task */
    uint8_t enable_on_exec;                 /* the next exec enables it */
    uint8_t task;                           /* writes FORK and EXIT records */
    uint8_t watermark;                      /* wakeup_events_or_watermark is in bytes */
    uint8_t precise_ip;                     /* 0 arbitrary skid ... 3 no skid */
    uint8_t mmap_data;                      /* also mappings that are not executable */
    uint8_t sample_id_all;                  /* all kernel records end with a sample_id */
    uint8_t exclude_host;                   /* not in the host */
    uint8_t exclude_guest;                  /* not in guests */
    uint8_t exclude_callchain_kernel;       /* no kernel callchains */
    uint8_t exclude_callchain_user;         /* no user callchains */
    uint8_t mmap2;                          /* MMAP2 instead of MMAP */
    uint8_t comm_exec;                      /* COMM says when it is an exec */
    uint8_t use_clockid;                    /* clockid is valid */
    uint8_t context_switch;                 /* writes SWITCH records */
    uint8_t write_backward;                 /* the ring buffer is written backward */
    uint8_t namespaces;                     /* writes NAMESPACES records */
    uint8_t ksymbol;                        /* writes KSYMBOL records */
    uint8_t bpf_event;                      /* writes BPF_EVENT records */
    uint8_t aux_output;                     /* into the AUX area */
    uint8_t cgroup;                         /* writes CGROUP records */
    uint8_t text_poke;                      /* writes TEXT_POKE records */
    uint8_t build_id;                       /* build ids in MMAP2 */
    uint8_t inherit_thread;                 /* only threads inherit it */
    uint8_t remove_on_exec;                 /* exec removes it */
    uint8_t sigtrap;                        /* sends SIGTRAP */
    uint8_t defer_callchain;                /* user callchains come later */
    uint8_t defer_output;                   /* writes CALLCHAIN_DEFERRED records */
    uint32_t __reserved_1;
    uint32_t wakeup_events_or_watermark;    /* when to wake the reader */
    uint32_t bp_type;                       /* kind of breakpoint: 1 read, 2 write, 4 execute */
    uint64_t bp_addr_or_config1;            /* address of the breakpoint, or more configuration */
    uint64_t bp_len_or_config2;             /* length of the breakpoint, or more configuration */
    uint64_t branch_sample_type;            /* which branches */
    uint64_t sample_regs_user;              /* which user registers */
    uint32_t sample_stack_user;             /* how much of the user stack */
    int32_t clockid;                        /* 0 realtime, 1 monotonic, 4 monotonic raw, 7 boottime, 11 tai */
    uint64_t sample_regs_intr;              /* which registers at the interrupt */
    uint32_t aux_watermark;                 /* when to wake the reader of the AUX area */
    uint16_t sample_max_stack;              /* longest callchain */
    uint16_t __reserved_2;
    uint32_t aux_sample_size;               /* AUX data in a sample */
    uint8_t aux_start_paused;               /* the AUX area starts paused */
    uint8_t aux_pause;                      /* its samples pause the AUX area */
    uint8_t aux_resume;                     /* its samples resume the AUX area */
    uint32_t __reserved_3;
    uint64_t sig_data;                      /* handed over with SIGTRAP */
    uint64_t config3;                       /* more configuration; kernel 6.3 */
    uint64_t config4;                       /* more configuration; kernel 7.0 */
};

/* One namespace. */
struct perfile_namespace_link {
    uint64_t dev;                           /* device of the namespace file */
    uint64_t ino;                           /* inode of the namespace file */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_namespace_link_at(const struct perfile_list *list, uint64_t index, struct perfile_namespace_link *out, size_t out_bytes);

/* Where an id counts. */
struct perfile_id_index_entry {
    uint64_t id;                            /* the id */
    uint64_t idx;                           /* index of its ring buffer */
    uint64_t cpu;                           /* 2^64 - 1 = any */
    uint64_t tid;                           /* 2^64 - 1 = any */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_id_index_entry_at(const struct perfile_list *list, uint64_t index, struct perfile_id_index_entry *out, size_t out_bytes);

/* The guest that an id counts in. */
struct perfile_id_index_guest {
    uint64_t machine_pid;                   /* process of the guest on the host, 0 = host */
    uint64_t vcpu;                          /* CPU of the guest */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_id_index_guest_at(const struct perfile_list *list, uint64_t index, struct perfile_id_index_guest *out, size_t out_bytes);

/* A thread that is counted. */
struct perfile_thread_map_entry {
    uint64_t pid;                           /* thread; 2^64 - 1 = all */
    char comm[17];                          /* its name */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_thread_map_entry_at(const struct perfile_list *list, uint64_t index, struct perfile_thread_map_entry *out, size_t out_bytes);

/* An option. */
struct perfile_stat_config_entry {
    uint64_t tag;                           /* which */
    uint64_t val;                           /* its value */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_stat_config_entry_at(const struct perfile_list *list, uint64_t index, struct perfile_stat_config_entry *out, size_t out_bytes);

/* A variable of a BPF program. */
struct perfile_bpf_metadata_entry {
    char key[65];                           /* name */
    char value[257];                        /* value as text */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_bpf_metadata_entry_at(const struct perfile_list *list, uint64_t index, struct perfile_bpf_metadata_entry *out, size_t out_bytes);

/* An id of an event. */
struct perfile_simpleperf_event_id_entry {
    uint64_t attr_index;                    /* position of the event */
    uint64_t id;                            /* the id */
};
/* The element at `index` < list->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_simpleperf_event_id_entry_at(const struct perfile_list *list, uint64_t index, struct perfile_simpleperf_event_id_entry *out, size_t out_bytes);

/* The trailer of kernel records; members that attr.sample_type does not name are 0. */
struct perfile_sample_id {
    size_t size;                            /* sizeof(struct perfile_sample_id), set by the caller */
    uint64_t present;                       /* PERFILE_SAMPLE_* bits */
    int32_t pid;                            /* process and thread */
    int32_t tid;
    uint64_t time;                          /* when */
    uint64_t id;                            /* event */
    uint64_t stream_id;                     /* instance of the event */
    uint32_t cpu;                           /* CPU, and 0 */
    uint32_t res;
    uint64_t identifier;                    /* event, at a fixed offset */
};

/* A decoded SAMPLE; members that are not `present` are 0, but period: attr.sample_period. */
struct perfile_sample {
    size_t size;                            /* sizeof(struct perfile_sample), set by the caller */
    uint64_t present;                       /* PERFILE_SAMPLE_* bits */
    uint64_t identifier;                    /* event, at a fixed offset */
    uint64_t ip;                            /* instruction pointer */
    int32_t pid;                            /* process and thread */
    int32_t tid;
    uint64_t time;                          /* when */
    uint64_t addr;                          /* data address, or what the event defines */
    uint64_t id;                            /* event; of an inherited one the parent */
    uint64_t stream_id;                     /* instance of the event */
    uint32_t cpu;                           /* CPU, and 0 */
    uint32_t res;
    uint64_t period;                        /* events since the last sample */
    struct perfile_read read;               /* counter values */
    struct perfile_u64s callchain;          /* addresses and context markers */
    struct perfile_bytes raw;               /* data of the PMU or tracepoint */
    struct perfile_branch_stack branch_stack; /* taken branches, newest first */
    struct perfile_regs regs_user;          /* user registers */
    struct perfile_stack stack_user;        /* a piece of the user stack */
    uint64_t weight;                        /* cost */
    uint64_t data_src;                      /* where the data came from */
    uint64_t transaction;                   /* hardware transaction: flags in bits 0-7, abort code in 32-63 */
    struct perfile_regs regs_intr;          /* registers at the interrupt */
    uint64_t phys_addr;                     /* physical data address */
    uint64_t cgroup;                        /* control group */
    uint64_t data_page_size;                /* size of the page of addr */
    uint64_t code_page_size;                /* size of the page of ip */
    struct perfile_bytes aux;               /* a piece of the AUX area */
};

/* 1 MMAP, since 2.6.31. A file was mapped executable, or the recorder found it mapped. */
struct perfile_mmap {
    int32_t pid;                            /* process; -1 = the kernel */
    int32_t tid;                            /* thread */
    uint64_t addr;                          /* start of the mapping */
    uint64_t len;                           /* length of the mapping */
    uint64_t pgoff;                         /* offset in the file; for [kernel.kallsyms] the address of the symbol in the name */
    const char *filename;                   /* path, or a name in brackets */
};

/* 2 LOST, since 2.6.31. Records were lost because the ring buffer was full. */
struct perfile_lost {
    uint64_t id;                            /* event */
    uint64_t lost;                          /* how many records */
};

/* 3 COMM, since 2.6.31. A thread got a name (misc bit 13: by exec). */
struct perfile_comm {
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
    const char *comm;                       /* the name */
};

/* 4 EXIT, since 2.6.31. A thread ended. */
struct perfile_exit {
    int32_t pid;                            /* process */
    int32_t ppid;                           /* parent process */
    int32_t tid;                            /* thread */
    int32_t ptid;                           /* parent thread */
    uint64_t time;                          /* when */
};

/* 5 THROTTLE, since 2.6.31. The kernel stopped an event that interrupted too often. */
struct perfile_throttle {
    uint64_t time;                          /* when */
    uint64_t id;                            /* event */
    uint64_t stream_id;                     /* instance of the event */
};

/* 6 UNTHROTTLE, since 2.6.31. A throttled event goes on. */
struct perfile_unthrottle {
    uint64_t time;                          /* when */
    uint64_t id;                            /* event */
    uint64_t stream_id;                     /* instance of the event */
};

/* 7 FORK, since 2.6.31. A thread or process was made. */
struct perfile_fork {
    int32_t pid;                            /* new process */
    int32_t ppid;                           /* parent process */
    int32_t tid;                            /* new thread */
    int32_t ptid;                           /* parent thread */
    uint64_t time;                          /* when */
};

/* 8 READ, since 2.6.31. Counter values of a thread that ended (perf record -s). */
struct perfile_read_counters {
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
    struct perfile_read values;             /* packed as attr.read_format says */
};

/* 10 MMAP2, since 3.12. A mapping with its protection and the identity of its file. */
struct perfile_mmap2 {
    int32_t pid;                            /* process; -1 = the kernel */
    int32_t tid;                            /* thread */
    uint64_t addr;                          /* start of the mapping */
    uint64_t len;                           /* length of the mapping */
    uint64_t pgoff;                         /* offset in the file */
    uint8_t build_id_size;                  /* valid bytes of build_id */
    uint8_t build_id[20];                   /* build id of the file */
    uint32_t maj;                           /* device */
    uint32_t min;                           /* device */
    uint64_t ino;                           /* inode */
    uint64_t ino_generation;                /* generation of the inode */
    uint32_t prot;                          /* PROT_* bits */
    uint32_t flags;                         /* MAP_* bits */
    const char *filename;                   /* path, or a name in brackets */
};

/* 11 AUX, since 4.1. Data was put into the AUX area. */
struct perfile_aux {
    uint64_t aux_offset;                    /* where in the AUX area */
    uint64_t aux_size;                      /* how much */
    uint64_t flags;                         /* 1 truncated, 2 overwrite, 4 partial, 8 collision, 0xff00 format of the PMU */
};

/* 12 ITRACE_START, since 4.1. An instruction trace starts. */
struct perfile_itrace_start {
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
};

/* 13 LOST_SAMPLES, since 4.2. Samples were dropped (misc bit 15: by a BPF filter). */
struct perfile_lost_samples {
    uint64_t lost;                          /* how many */
};

/* 15 SWITCH_CPU_WIDE, since 4.3. A CPU switched threads. */
struct perfile_switch_cpu_wide {
    int32_t next_prev_pid;                  /* process that comes, or that was */
    int32_t next_prev_tid;                  /* thread that comes, or that was */
};

/* 16 NAMESPACES, since 4.12. The namespaces of a process. */
struct perfile_namespaces {
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
    uint64_t nr_namespaces;                 /* length of link_info */
    struct perfile_list link_info;          /* struct perfile_namespace_link: net, uts, ipc, pid, user, mnt, cgroup */
};

/* 17 KSYMBOL, since 5.1. Kernel code appeared or vanished: a BPF program, a trampoline. */
struct perfile_ksymbol {
    uint64_t addr;                          /* start of the code */
    uint32_t len;                           /* length of the code */
    uint16_t ksym_type;                     /* 1 BPF, 2 out of line */
    uint16_t flags;                         /* 1 = it vanished */
    const char *name;                       /* symbol */
};

/* 18 BPF_EVENT, since 5.1. A BPF program was loaded or unloaded. */
struct perfile_bpf_event {
    uint16_t bpf_type;                      /* 1 load, 2 unload */
    uint16_t flags;                         /* 0 */
    uint32_t id;                            /* of the program */
    uint8_t tag[8];                         /* of the program */
};

/* 19 CGROUP, since 5.7. The path of a control group. */
struct perfile_cgroup {
    uint64_t id;                            /* as in samples */
    const char *path;                       /* below the mount of the hierarchy */
};

/* 20 TEXT_POKE, since 5.9. The kernel changed its own code. */
struct perfile_text_poke {
    uint64_t addr;                          /* where */
    uint16_t old_len;                       /* length of old_bytes */
    uint16_t new_len;                       /* length of new_bytes */
    const uint8_t *old_bytes;               /* the code before; old_len bytes */
    const uint8_t *new_bytes;               /* the code after; new_len bytes */
};

/* 21 AUX_OUTPUT_HW_ID, since 5.16. Which hardware id an event has in the AUX data. */
struct perfile_aux_output_hw_id {
    uint64_t hw_id;                         /* as the PMU counts */
};

/* 22 CALLCHAIN_DEFERRED, since 6.19. The user part of a callchain, read later. */
struct perfile_callchain_deferred {
    uint64_t cookie;                        /* as in the callchain of the sample, after the marker -640 */
    uint64_t nr;                            /* length of ips */
    struct perfile_u64s ips;                /* addresses, without context markers */
};

/* 64 HEADER_ATTR, since 2.6.37. Pipe mode: one event and its ids. */
struct perfile_header_attr {
    struct perfile_u64s ids;                /* the event's ids */
    struct perfile_attr attr;               /* the event's attributes */
};

/* 65 HEADER_EVENT_TYPE, since 2.6.37. Pipe mode, until 3.11: the name of an event. */
struct perfile_header_event_type {
    uint64_t event_id;                      /* attr.config */
    struct perfile_bytes name;              /* the event's name; its NUL may be missing */
};

/* 66 HEADER_TRACING_DATA, since 2.6.37. Pipe mode: the tracing data follows, outside the record. */
struct perfile_header_tracing_data {
    uint32_t data_size;                     /* bytes that follow, already a multiple of 8 */
    uint32_t pad;                           /* 0 */
};

/* 67 HEADER_BUILD_ID, since 2.6.37. The build id of a file; also the entries of feature 2. */
struct perfile_header_build_id {
    int32_t pid;                            /* -1 = the host's kernel, 0 = the default guest */
    uint8_t build_id[20];                   /* build id */
    uint8_t build_id_size;                  /* valid bytes of build_id; since 5.10, when misc bit 15 is set */
    const char *filename;                   /* path, or a name in brackets */
};

/* 69 ID_INDEX, since 3.17. Where each id counts. */
struct perfile_id_index {
    uint64_t nr;                            /* length of entries */
    struct perfile_list entries;            /* struct perfile_id_index_entry: an entry per id */
    struct perfile_list guests;             /* struct perfile_id_index_guest: an entry per id, since 6.0 */
};

/* 70 AUXTRACE_INFO, since 3.18. How to decode the AUX data. */
struct perfile_auxtrace_info {
    uint32_t auxtrace_type;                 /* 1 Intel PT, 2 Intel BTS, 3 CoreSight, 4 Arm SPE, 5 s390, 6 HiSilicon PTT, 7 VPA DTL */
    struct perfile_u64s priv;               /* depends on the type */
};

/* 71 AUXTRACE, since 3.18. AUX data follows, outside the record. */
struct perfile_auxtrace {
    uint64_t data_size;                     /* bytes that follow */
    uint64_t offset;                        /* where the data stood in the AUX area */
    uint64_t reference;                     /* a number per snapshot */
    uint32_t idx;                           /* of the AUX buffer */
    int32_t tid;                            /* -1 for a buffer per CPU */
    int32_t cpu;                            /* -1 for a buffer per thread */
    uint32_t reserved__;                    /* 0 */
};

/* 72 AUXTRACE_ERROR, since 3.18. Decoding AUX data failed somewhere. */
struct perfile_auxtrace_error {
    uint32_t error_type;                    /* 1 = instruction trace */
    uint32_t code;                          /* depends on the type */
    int32_t cpu;                            /* where */
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
    uint32_t fmt;                           /* layout of what follows */
    uint64_t ip;                            /* where */
    uint64_t time;                          /* when */
    char msg[65];                           /* what */
    uint32_t machine_pid;                   /* guest */
    uint32_t vcpu;                          /* CPU of the guest */
};

/* 73 THREAD_MAP, since 4.4. The threads that are counted. */
struct perfile_thread_map {
    uint64_t nr;                            /* length of entries */
    struct perfile_list entries;            /* struct perfile_thread_map_entry: a thread each */
};

/* 74 CPU_MAP, since 4.4. The CPUs that are counted. */
struct perfile_cpu_map {
    struct perfile_cpu_set map;             /* a list, a mask or a range */
};

/* 75 STAT_CONFIG, since 4.4. Options of perf stat record. */
struct perfile_stat_config {
    uint64_t nr;                            /* length of data */
    struct perfile_list data;               /* struct perfile_stat_config_entry: tag 0 aggregation mode, 1 interval in ms, 2 scale, 3 aggregation level */
};

/* 76 STAT, since 4.4. One counter value of perf stat record. */
struct perfile_stat {
    uint64_t id;                            /* event */
    uint32_t cpu;                           /* 2^32 - 1 when counted per thread */
    uint32_t thread;                        /* index into THREAD_MAP */
    uint64_t val;                           /* the count */
    uint64_t ena;                           /* how long it was enabled */
    uint64_t run;                           /* how long it really counted */
};

/* 77 STAT_ROUND, since 4.4. The end of an interval of perf stat record. */
struct perfile_stat_round {
    uint64_t round_type;                    /* 0 interval, 1 final */
    uint64_t time;                          /* since the start */
};

/* 78 EVENT_UPDATE, since 4.4. More about an event: unit, scale, name or CPUs. */
struct perfile_event_update {
    uint64_t update_type;                   /* 0 unit, 1 scale, 2 name, 3 CPUs */
    uint64_t id;                            /* the first id of the event */
    const char *unit;                       /* of the counts */
    double scale;                           /* factor from counts to units */
    const char *name;                       /* the event's name */
    struct perfile_cpu_set cpus;            /* the CPUs that the event is counted on */
};

/* 79 TIME_CONV, since 4.4. How TSC values become times: see format.md 16. */
struct perfile_time_conv {
    uint64_t time_shift;                    /* shift */
    uint64_t time_mult;                     /* factor */
    uint64_t time_zero;                     /* time at TSC 0 */
    uint64_t time_cycles;                   /* base of a short counter */
    uint64_t time_mask;                     /* width of a short counter */
    uint8_t cap_user_time_zero;             /* time_zero is valid */
    uint8_t cap_user_time_short;            /* time_cycles and time_mask are valid */
};

/* 80 HEADER_FEATURE, since 4.17. Pipe mode: a header feature. */
struct perfile_header_feature {
    uint64_t feat_id;                       /* number of the feature; size 16 and an unknown number: the end of the features */
    struct perfile_feature_body data;       /* as the section of the feature */
};

/* 81 COMPRESSED, since 5.2. A piece of a zstd stream that holds records; of any size. */
struct perfile_compressed {
    uint64_t data_size;                     /* compressed bytes */
};

/* 83 COMPRESSED2, since 6.16. A piece of a zstd stream that holds records, padded to 8. */
struct perfile_compressed2 {
    uint64_t data_size;                     /* compressed bytes */
};

/* 84 BPF_METADATA, since 6.17. Variables that a BPF program declares as its metadata. */
struct perfile_bpf_metadata {
    char prog_name[513];                    /* name of the program's symbol */
    uint64_t nr_entries;                    /* length of entries */
    struct perfile_list entries;            /* struct perfile_bpf_metadata_entry: a variable each */
};

/* 85 SCHEDSTAT_CPU, since 7.0. A line of /proc/schedstat about a CPU. */
struct perfile_schedstat_cpu {
    uint64_t timestamp;                     /* when */
    uint32_t cpu;                           /* the CPU */
    uint16_t version;                       /* of /proc/schedstat: 15, 16 or 17 */
    uint32_t yld_count;                     /* calls of sched_yield */
    uint32_t array_exp;                     /* 0 */
    uint32_t sched_count;                   /* calls of schedule */
    uint32_t sched_goidle;                  /* of these, to the idle thread */
    uint32_t ttwu_count;                    /* wake-ups */
    uint32_t ttwu_local;                    /* of these, on this CPU */
    uint64_t rq_cpu_time;                   /* time that threads ran */
    uint64_t run_delay;                     /* time that threads waited */
    uint64_t pcount;                        /* time slices */
};

/* 86 SCHEDSTAT_DOMAIN, since 7.0. A line of /proc/schedstat about a scheduling domain. */
struct perfile_schedstat_domain {
    uint64_t timestamp;                     /* when */
    uint32_t cpu;                           /* the CPU */
    uint16_t version;                       /* of /proc/schedstat: 15, 16 or 17 */
    uint16_t domain;                        /* level of the domain */
    struct perfile_schedstat_counters counters; /* load balancing; which ones depends on the version */
};

/* 32769 SIMPLEPERF_KERNEL_SYMBOL, since simpleperf. The text of /proc/kallsyms. */
struct perfile_simpleperf_kernel_symbol {
    uint32_t data_size;                     /* length of the text */
    const uint8_t *kallsyms;                /* the text; data_size bytes */
};

/* 32770 SIMPLEPERF_DSO, since simpleperf. A file that symbols belong to. */
struct perfile_simpleperf_dso {
    uint64_t dso_type;                      /* 0 kernel, 1 module, 2 ELF, 3 dex, 4 symbol map, 5 unknown */
    uint64_t dso_id;                        /* as in SIMPLEPERF_SYMBOL */
    uint64_t min_vaddr;                     /* lowest executable address */
    const char *name;                       /* path */
};

/* 32771 SIMPLEPERF_SYMBOL, since simpleperf. A symbol of a file. */
struct perfile_simpleperf_symbol {
    uint64_t addr;                          /* start */
    uint64_t len;                           /* length */
    uint64_t dso_id;                        /* as in SIMPLEPERF_DSO */
    const char *name;                       /* symbol */
};

/* 32772 SIMPLEPERF_SPLIT, since simpleperf. A piece of a record that was too long. */
struct perfile_simpleperf_split {
    uint64_t data_size;                     /* bytes of the piece */
};

/* 32774 SIMPLEPERF_EVENT_ID, since simpleperf. Ids of events. */
struct perfile_simpleperf_event_id {
    uint64_t nr;                            /* length of entries */
    struct perfile_list entries;            /* struct perfile_simpleperf_event_id_entry: an id each */
};

/* 32775 SIMPLEPERF_CALLCHAIN, since simpleperf. An unwound callchain. */
struct perfile_simpleperf_callchain {
    int32_t pid;                            /* process */
    int32_t tid;                            /* thread */
    uint64_t chain_type;                    /* 0 kept, 1 joined, 2 original */
    uint64_t time;                          /* of its sample */
    uint64_t nr;                            /* length of ips and of sps */
    struct perfile_u64s ips;                /* addresses */
    struct perfile_u64s sps;                /* stack pointers */
};

/* 32776 SIMPLEPERF_UNWINDING_RESULT, since simpleperf. How the unwinding of a sample went. */
struct perfile_simpleperf_unwinding_result {
    uint64_t time;                          /* of its sample */
};

/* 32777 SIMPLEPERF_TRACING_DATA, since simpleperf. The tracing data. */
struct perfile_simpleperf_tracing_data {
    uint32_t data_size;                     /* length of the data */
};

/* 32778 SIMPLEPERF_DEBUG, since simpleperf. A note of the recorder. */
struct perfile_simpleperf_debug {
    uint64_t time;                          /* when */
    const char *message;                    /* the note */
};

#endif
