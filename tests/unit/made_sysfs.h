/* SPDX-License-Identifier: MIT */
/* Folders that are like /sys of machines that this one is not. */
#ifndef PF_TESTS_MADE_SYSFS_H
#define PF_TESTS_MADE_SYSFS_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct made_file {
    const char *path;
    const char *text;
};

#define MADE_PMU(name, file) "bus/event_source/devices/" name "/" file
#define MADE_EVERYWHERE                                                                                                \
    {MADE_PMU("software", "type"), "1"}, {MADE_PMU("tracepoint", "type"), "2"}, {MADE_PMU("breakpoint", "type"), "5"}, \
        {MADE_PMU("msr", "type"), "10"}, {MADE_PMU("msr", "format/event"), "config:0-63"},                             \
        {MADE_PMU("msr", "events/tsc"), "event=0x00"}, {"kernel/tracing/events/sched/sched_switch/id", "300"},         \
        {"kernel/tracing/events/sched/sched_wakeup/id", "301"}, {"kernel/tracing/events/sched/enable", "0"},           \
        {"kernel/tracing/events/syscalls/sys_enter_read/id", "400"},                                                   \
        {"kernel/tracing/events/syscalls/sys_enter_readv/id", "401"},                                                  \
        {"kernel/tracing/events/syscalls/sys_exit_read/id", "402"},                                                    \
        {"kernel/tracing/events/probe_bash/readline__return/id", "500"},                                               \
        {"kernel/tracing/events/ftrace/function/format", ""},                                                          \
    {                                                                                                                  \
        "kernel/tracing/events/enable", "0"                                                                            \
    }
#define MADE_CORE(name)                                                                                                \
    {MADE_PMU(name, "format/event"), "config:0-7"}, {MADE_PMU(name, "format/umask"), "config:8-15"},                   \
        {MADE_PMU(name, "format/edge"), "config:18"}, {MADE_PMU(name, "format/cmask"), "config:24-31"},                \
        {MADE_PMU(name, "format/ldlat"), "config1:0-15"}, {MADE_PMU(name, "format/offcore_rsp"), "config1:0-63"},      \
        {MADE_PMU(name, "events/cpu-cycles"), "event=0x3c"}, {MADE_PMU(name, "events/instructions"), "event=0xc0"},    \
    {                                                                                                                  \
        MADE_PMU(name, "events/mem-loads"), "event=0xcd,umask=0x1,ldlat=3"                                             \
    }
#define MADE_UNCORE(name, number)                                                                                      \
    {MADE_PMU(name, "type"), number}, {MADE_PMU(name, "cpumask"), "0,4"},                                              \
        {MADE_PMU(name, "format/event"), "config:0-7"}, {MADE_PMU(name, "format/umask"), "config:8-15,32-55"},         \
        {MADE_PMU(name, "events/cas_count_read"), "event=0x04,umask=0x03"},                                            \
        {MADE_PMU(name, "events/cas_count_read.scale"), "6.103515625e-5"},                                             \
        {MADE_PMU(name, "events/cas_count_read.unit"), "MiB"},                                                         \
    {                                                                                                                  \
        MADE_PMU(name, "events/clockticks"), "event=0x00"                                                              \
    }

/* A server: one kind of processor, memory controllers, processor trace, energy. */
static const struct made_file made_server[] = {
    MADE_EVERYWHERE,
    {MADE_PMU("cpu", "type"), "4"},
    MADE_CORE("cpu"),
    MADE_UNCORE("uncore_imc_0", "20"),
    MADE_UNCORE("uncore_imc_1", "21"),
    MADE_UNCORE("uncore_imc_10", "22"),
    {MADE_PMU("uncore_imc_free_running", "type"), "24"},
    {MADE_PMU("uncore_imc_free_running", "format/event"), "config:0-7"},
    {MADE_PMU("power", "type"), "30"},
    {MADE_PMU("power", "cpumask"), "0"},
    {MADE_PMU("power", "format/event"), "config:0-7"},
    {MADE_PMU("power", "events/energy-pkg"), "event=0x02"},
    {MADE_PMU("power", "events/energy-pkg.unit"), "Joules"},
    {MADE_PMU("intel_pt", "type"), "31"},
    {MADE_PMU("intel_pt", "format/tsc"), "config:10"},
    {MADE_PMU("intel_pt", "format/psb_period"), "config:24-27"},
    {MADE_PMU("hv_24x7", "type"), "32"},
    {MADE_PMU("hv_24x7", "format/core"), "config:16-31"},
    {MADE_PMU("hv_24x7", "format/offset"), "config:32-63"},
    {MADE_PMU("hv_24x7", "events/ticks"), "offset=0x18,core=?"},
    {MADE_PMU("odd", "type"), "no number"},
    {MADE_PMU("strange", "type"), "33"},
    {MADE_PMU("strange", "format/bad"), "config:9-3"},
    {MADE_PMU("strange", "format/worse"), "config9:0"},
    {MADE_PMU("strange", "format/all"), "config2:0-63"},
    {MADE_PMU("strange", "events/broken"), "nothing=1"},
    {NULL, NULL},
};
/* Two kinds of processors, of which only one has slots. */
static const struct made_file made_hybrid[] = {
    MADE_EVERYWHERE,
    {MADE_PMU("cpu_core", "type"), "4"},
    {MADE_PMU("cpu_core", "cpus"), "0-7"},
    MADE_CORE("cpu_core"),
    {MADE_PMU("cpu_core", "events/slots"), "event=0x00,umask=0x4"},
    {MADE_PMU("cpu_atom", "type"), "40"},
    {MADE_PMU("cpu_atom", "cpus"), "8-15"},
    MADE_CORE("cpu_atom"),
    {NULL, NULL},
};
static const struct made_file made_arm[] = {
    MADE_EVERYWHERE,
    {MADE_PMU("armv8_pmuv3_0", "type"), "41"},
    {MADE_PMU("armv8_pmuv3_0", "cpus"), "0-3"},
    {MADE_PMU("armv8_pmuv3_0", "format/event"), "config:0-15"},
    {MADE_PMU("armv8_pmuv3_0", "events/cpu_cycles"), "event=0x0011"},
    {MADE_PMU("arm_spe_0", "type"), "42"},
    {MADE_PMU("arm_spe_0", "cpumask"), "0-3"},
    {MADE_PMU("arm_spe_0", "format/ts_enable"), "config:0"},
    {MADE_PMU("arm_spe_0", "format/load_filter"), "config:33"},
    {MADE_PMU("arm_spe_0", "format/min_latency"), "config2:0-11"},
    {NULL, NULL},
};
/* A virtual machine without tracefs. */
static const struct made_file made_guest[] = {
    {MADE_PMU("software", "type"), "1"},
    {MADE_PMU("breakpoint", "type"), "5"},
    {NULL, NULL},
};

static inline bool made_file(const char *root, const struct made_file *file)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, file->path);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0755);
    }
    FILE *out = fopen(path, "w");
    return out && fprintf(out, "%s\n", file->text) > 0 && fclose(out) == 0;
}

/* `root` ends in XXXXXX and becomes the name of the folder. */
static inline bool made_sysfs(char *root, const struct made_file *files)
{
    bool made = mkdtemp(root) != NULL;
    for (; made && files->path; files++)
        made = made_file(root, files);
    return made;
}

static inline int made_remove_one(const char *path, const struct stat *status, int flag, struct FTW *position)
{
    (void)status;
    (void)flag;
    (void)position;
    return remove(path);
}

static inline void made_remove(const char *root)
{
    nftw(root, made_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
