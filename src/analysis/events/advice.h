/* SPDX-License-Identifier: MIT */
/* Command lines that record what a view lacks, for notes. */
#ifndef PF_ANALYSIS_EVENTS_ADVICE_H
#define PF_ANALYSIS_EVENTS_ADVICE_H

#define PF_RECORD_SCHED "perf record -a -e sched:sched_switch,sched:sched_waking"
#define PF_RECORD_STACKS "perf record -a -g -e sched:sched_switch,sched:sched_waking"
#define PF_RECORD_PROGRAM "perf record -g -c 1 -e context-switches --switch-events"
#define PF_RECORD_BOTH "perf record -g -e cpu-clock/freq=999/,context-switches/period=1/ --switch-events"

#endif
