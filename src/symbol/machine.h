/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a machine when a recording is read: its names, its kernel, its processes, and the folders where it
 * has kernels, modules and debug files. The finder and the loader of the kernel ask here only.
 *
 * A machine is a root, the folder that has its file system, without '/' at the end. "" is the machine that this program
 * runs on. The symfs of a user is a root, too, usually of another machine: what its own /proc and /sys report counts,
 * if it has them. An empty folder is a machine that reports nothing.
 */
#ifndef PF_SYMBOL_MACHINE_H
#define PF_SYMBOL_MACHINE_H

#include <inttypes.h>

#include "base/memory.h"

/* ---- paths below a root ---- */

#define PF_MACHINE_KALLSYMS "/proc/kallsyms"
/* For printf: the folder of a process by its PID, an int32_t. */
#define PF_MACHINE_PROCESS "/proc/%" PRId32
/* A folder in this one for each release of the kernel. */
#define PF_MACHINE_MODULES "/lib/modules"
#define PF_MACHINE_DEBUG "/usr/lib/debug"
/* Links to binaries by their build ids, which Fedora has. */
#define PF_MACHINE_BUILD_IDS "/usr/lib/.build-id"

/* Where kernels are installed: FOLDER/NAME TAIL, for each NAME in the folder that begins with `prefix`. */
struct pf_machine_kernels {
    const char *folder;
    const char *prefix;
    const char *tail;
};
enum { PF_MACHINE_KERNELS = 5 };
extern const struct pf_machine_kernels pf_machine_kernels[PF_MACHINE_KERNELS];

/* ---- what it reports ---- */

/* The machine has this host name, and a kernel of this release runs on it. False when one of them is NULL. */
bool pf_machine_is_named(const char *root, const char *host, const char *release);
/* The build id of the kernel that runs on it; its length, 0 when it is not reported. */
size_t pf_machine_build_id(const char *root, uint8_t build_id[20]);
/* The PID that a process has in its own namespace; `pid` when that is the same, or not known. */
int32_t pf_machine_own_pid(const char *root, int32_t pid);

/*
 * Reads the memory of a process that runs; how many bytes were read, 0 when the process has ended or may not be read.
 */
size_t pf_machine_read_memory(const char *root, int32_t pid, uint64_t address, void *data, size_t bytes);

/* A moment of a recording. */
struct pf_machine_moment {
    uint64_t time_ns;   /* on the clock that starts at boot */
    int64_t recorded_s; /* when the file of the recording was last written, since 1970 */
    bool has_recorded;  /* else it comes through a pipe, in this boot */
};
/*
 * The second of that moment since 1970, or one shortly before it: 1, 0 or MEMORY. 0: nothing shows it, because the
 * machine does not report its boot, or the recording was written before this boot reached that moment.
 */
int pf_machine_when(const char *root, const struct pf_machine_moment *moment, const struct perfile_allocator *allocator,
                    int64_t *seconds);

/* ---- its kernel and that of a recording ---- */

/* What a recording has of its kernel. */
struct pf_recorded_kernel {
    const uint8_t *build_id;
    size_t build_id_bytes; /* 0, or nothing but zeros: not recorded */
    const char *host;      /* NULL: not recorded */
    const char *release;   /* likewise */
    const char *reference; /* a symbol that the mapping of the kernel names, or NULL; and its run-time address */
    uint64_t reference_address;
    uint64_t last_time_ns; /* of its records, on the clock that starts at boot; 0: not known */
    int64_t written_s;     /* when its file was last written, since 1970 */
};

/*
 * Whether the kernel that runs on the machine is that of the recording: 1, 0 or MEMORY. No other function decides that.
 *
 * A recorded build id decides alone. An equal one is proof: the same build has the same symbols, whatever the host is
 * called and whenever it was booted, since the reference corrects addresses that are randomized at boot. If it is
 * another one, or the machine reports none, the kernel is not used: the names of host and release stay the same when a
 * distribution or a developer builds the kernel again.
 *
 * Without a recorded build id, equal names of host and release are a guess. It is used only if nothing contradicts it:
 * a reference that has another address here says that the machine was booted since, maybe with another build of that
 * release. Where the machine does not report addresses, or the recording has no reference, there is nothing to compare.
 * The recorded names are those of the host: for the kernel of a guest they must be NULL.
 *
 * A recorder that was killed has written no names either. Then the reference must have its address here, and the file
 * must have been written when the clock of this boot had the time of its last record, give or take a minute: a
 * recording of another machine or boot does not have that, even where addresses are the same in each boot.
 */
int pf_machine_runs_kernel(const char *root, const struct pf_recorded_kernel *kernel,
                           const struct perfile_allocator *allocator);

enum pf_boot {
    PF_BOOT_UNKNOWN, /* the recording has no reference, or the text does not have its address */
    PF_BOOT_SAME,
    PF_BOOT_OTHER,
};
/* Whether a file like /proc/kallsyms was written in the boot of the recording: enum pf_boot, or MEMORY. */
int pf_kallsyms_boot(const char *path, const struct pf_recorded_kernel *kernel,
                     const struct perfile_allocator *allocator);

/*
 * A file in memory with the code that the kernel maps into this process ("[vdso]"), and into all others of its kind; a
 * descriptor that the caller closes, or -1.
 */
int pf_machine_vdso(void);

#endif
