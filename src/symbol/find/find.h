/* SPDX-License-Identifier: MIT */
/* Finding the binaries that a recording ran, never the wrong ones. */
#ifndef PF_SYMBOL_FIND_FIND_H
#define PF_SYMBOL_FIND_FIND_H

#include <perfile/analysis.h>

#include "base/memory.h"
#include "base/note.h"
#include "symbol/find/debuginfod.h"

struct pf_find_options {
    const struct perfile_allocator *allocator; /* NULL: malloc's; failures of libraries are noted at it (pf_watch) */
    const char *symfs;                         /* "" or a root below which paths are looked up */
    const char
        *root; /* without a symfs: the file system of this machine (see machine.h), which tests replace; NULL: "" */
    const char *vmlinux;     /* NULL, or the kernel's ELF file */
    const char *kallsyms;    /* NULL, or a file like /proc/kallsyms */
    const char *buildid_dir; /* perf's cache; NULL: ~/.debug */
    const char *recording;   /* its path, or NULL: a directory may hold kallsyms, and JITs write beside it */
    const char *reference;   /* a symbol that the kernel's mapping names, or NULL; and its run-time address */
    uint64_t reference_address;
    const char *archive;              /* of perf archive, as the user gave it, or NULL */
    const char *archive_dir;          /* the build-id cache that it stands for, or NULL */
    const char *host;                 /* the name of the recording's machine, or NULL */
    const char *release;              /* of its kernel, or NULL */
    bool same_machine;                /* this machine has these names: its processes may be those of the recording */
    bool asks_debuginfod;             /* DEBUGINFOD_URLS is set */
    uint64_t debuginfod_seconds;      /* in all; 0: PF_DEBUGINFOD_TOTAL_SECONDS */
    uint64_t debuginfod_bytes;        /* of one file; 0: PF_DEBUGINFOD_FILE_BYTES */
    struct pf_debuginfod *debuginfod; /* NULL: it is not asked */
    pf_on_note *note;                 /* as in perfile_symbol_options */
    void *note_context;
    void (*trouble)(void *context, const struct perfile_trouble *trouble); /* likewise */
    void *trouble_context;
    const char *(*reach)(void *context, const char *path); /* likewise */
    void *reach_context;
    void (*used)(void *context, const struct perfile_used_file *file); /* likewise */
    void *used_context;
    bool no_demangle; /* likewise */
    bool no_names;    /* likewise */
    unsigned threads; /* that may read the debug info of a file, the caller's included; 0 is 1 */
    bool live; /* the processes run here: files are those that they map; servers are not asked, names are not needed */
    bool was_short;                         /* out of memory when the bundle was opened */
    char bundle_dir[1024];                  /* where the recording's bundle was unpacked (see bundle.h); "": nowhere */
    bool bundle_needs_memory;               /* no folder can hold it: pf_bundle_load */
    struct pf_bundle_memory *bundle_memory; /* NULL: it is not loaded */
};

/*
 * The options of a user; debuginfod may be asked when DEBUGINFOD_URLS is set. The texts are those of `wanted`.
 * `allocator` becomes that of the options.
 */
struct pf_find_options pf_find_options_of(const struct perfile_symbol_options *wanted,
                                          const struct perfile_allocator *allocator);

/* Never NULL. */
static inline const struct perfile_allocator *pf_find_allocator(const struct pf_find_options *options)
{
    return pf_allocator_or_default(options->allocator);
}

/* Reads the names of the recording's machine, which the reader owns, and sets same_machine. */
void pf_find_read_names(struct pf_find_options *options, struct perfile_reader *reader);

/*
 * Whether this machine's processes, and the meaning of names here, may be used. With a symfs they may not: the
 * recording then belongs to the machine of those files. Files that a build id proves are used all the same.
 */
bool pf_find_is_local(const struct pf_find_options *options);
/* The root of the machine (see machine.h) whose files are looked at. Never NULL. */
const char *pf_find_root(const struct pf_find_options *options);

/* Passes a note to the user; printf's text without its end. */
void pf_find_note(const struct pf_find_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct pf_found {
    const struct perfile_allocator *allocator; /* of the paths */
    char *path;                                /* the binary, or NULL; owned */
    char *debug_path;                          /* a separate debug file, or NULL; owned */
    char *alternate_path;                      /* dwz file that the debug info refers to, or NULL; owned */
    bool build_id_differs;                     /* a file was there under the name, but it is another one: not used */
    char other_build_id[2 * 20 + 1];           /* its build id; "": it has none */
};

/*
 * Where the binary `name` with this build id is: symfs + name, perf's build-id cache (elf, kallsyms, vdso), .build-id
 * trees, the directory of the recording; and its debug file by build id, by .gnu_debuglink (with its CRC checked), next
 * to it, below /usr/lib/debug; or a copy of the binary that has more symbols or debug info. A candidate whose build id
 * differs is never taken; without a build id in the recording the name decides. Always succeeds but for MEMORY; what
 * was not found is NULL.
 */
int pf_find_binary(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                   size_t build_id_bytes, struct pf_found *found);
/*
 * The same for a file that a running process has mapped, also when it was deleted or replaced, and where the process
 * sees it: found->path stays valid as long as the process maps it. `map` NULL is not allowed.
 */
int pf_find_mapped(const struct pf_find_options *options, const struct perfile_map *map, struct pf_found *found);
/*
 * The file of that name that the process `pid` wrote, a JIT: below symfs or in that folder itself; without symfs where
 * the process sees it when it still lives here, else under its name; and beside the recording. *path is owned
 * (pf_text_free), NULL means none.
 */
int pf_find_jitdump(const struct pf_find_options *options, const char *name, int32_t pid, char **path);
/* The same for "/tmp/perf-PID.map", which the process may know under the pid of its own namespace. */
int pf_find_perf_map(const struct pf_find_options *options, int32_t pid, char **path);
/*
 * The file of a kernel module, "[nf_nat]" or a path: as pf_find_binary, and by its name in /lib/modules/RELEASE. It may
 * be compressed, and without a debug file.
 */
int pf_find_kernel_module(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                          size_t build_id_bytes, struct pf_found *found);
/* "/lib/modules/5.1/kernel/net/nf-nat.ko.xz" is "nf_nat", and so is "[nf_nat]". */
void pf_kernel_module_name(char *text, size_t capacity, const char *name);
void pf_found_close(struct pf_found *found);

#endif
