/* SPDX-License-Identifier: MIT */
/* Command lines that record what a view lacks, for notes. */
#ifndef PF_ANALYSIS_EVENTS_ADVICE_H
#define PF_ANALYSIS_EVENTS_ADVICE_H

#define PF_RECORD_SCHED "perf record -a -e sched:sched_switch,sched:sched_waking"
#define PF_RECORD_STACKS "perf record -a -g -e sched:sched_switch,sched:sched_waking"
#define PF_RECORD_PROGRAM "perf record -g -c 1 -e context-switches --switch-events"
#define PF_RECORD_BOTH "perf record -g -e cpu-clock/freq=999/,context-switches/period=1/ --switch-events"
#define PF_RECORD_CALLS "perf record -e 'raw_syscalls:*' -- COMMAND"
#define PF_RECORD_LOCKS "perf record -a -g -e lock:contention_begin,lock:contention_end"
#define PF_RECORD_KWORK                                                                                                \
    "perf record -a -e 'irq:*' -e workqueue:workqueue_activate_work -e 'workqueue:workqueue_execute_*'"
#define PF_RECORD_KWORK_TOP "perf record -a -e sched:sched_switch -e 'irq:irq_handler_*' -e 'irq:softirq_*'"
#define PF_RECORD_SLAB "perf record -a -e kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free"
#define PF_RECORD_PAGES "perf record -a -e kmem:mm_page_alloc,kmem:mm_page_free"
#define PF_RECORD_BLOCK "perf record -a -e block:block_rq_insert,block:block_rq_issue,block:block_rq_complete"
#define PF_RECORD_FAULTS "perf record -d -c 1 -e minor-faults,major-faults -- COMMAND"
#define PF_RECORD_MEMORY "perf mem record -a"

#endif
