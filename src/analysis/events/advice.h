/* SPDX-License-Identifier: MIT */
/* Command lines that record what a view is missing, for notes; which events they record is in events.def. */
#ifndef PF_ANALYSIS_EVENTS_ADVICE_H
#define PF_ANALYSIS_EVENTS_ADVICE_H

#define PF_RECORD_SCHED "perfile sched record"
#define PF_RECORD_SCHEDSTAT "perfile sched stats record -- COMMAND"
#define PF_RECORD_OFFCPU "perfile offcpu record -- COMMAND"
#define PF_RECORD_BOTH "perfile record -g -e cpu-clock --off-cpu -- COMMAND"
#define PF_RECORD_CALLS "perfile trace record -- COMMAND"
#define PF_RECORD_LOCKS "perfile lock record -a"
#define PF_RECORD_KWORK "perfile kwork record"
#define PF_RECORD_KVM "perfile kvm record -a"
#define PF_RECORD_SLAB "perfile kmem record"
#define PF_RECORD_PAGES "perfile kmem --page record"
#define PF_RECORD_BLOCK "perfile table block_latency record"
#define PF_RECORD_FAULTS "perfile table page_faults record -- COMMAND"
#define PF_RECORD_PARALLELISM "perfile record --latency -- COMMAND"
#define PF_RECORD_MEMORY "perfile mem record -a"

#endif
