/* SPDX-License-Identifier: MIT */
/*
 * Bundles: what symbols, lines and unwinding need of a recording's binaries, after its last byte, where no reader of
 * recordings looks. Numbers are little endian, whatever the recording's are:
 *
 *   members   their bytes, each one zstd frame
 *   index     for each member: u64 where it begins, counted from the first member; u64 bytes there; u64 bytes unpacked;
 *             s64 time of change in ns; u32 CRC-32 unpacked; u16 bytes of its name; u16 0; the name
 *   footer    u64 bytes of all three; u32 bytes of the index; u32 number of members; u32 enum pf_bundle_flags;
 *             u32 CRC-32 of the index and of the footer before this; "PFBUNDL1"
 *
 * Names: .build-id/xx/yyyy/KIND for files that a build id proves, named/HASH/KIND for those that only their name finds,
 * process/PID-HASH for what a process wrote, source/HASH; hashes are of the name by which the recording knows the file.
 */
#ifndef PF_SYMBOL_FIND_BUNDLE_H
#define PF_SYMBOL_FIND_BUNDLE_H

#include "base/text.h"
#include "symbol/find/find.h"

enum {
    PF_BUNDLE_FOOTER_BYTES = 32,
    PF_BUNDLE_ENTRY_BYTES = 40, /* without the name */
    PF_BUNDLE_MEMBERS_MAX = 1 << 17,
    PF_BUNDLE_NAME_BYTES_MAX = 127,
    PF_BUNDLE_MAGIC_BYTES = 8,
    PF_BUNDLE_CRC_AT = 20, /* in the footer */
};
extern const char pf_bundle_magic[PF_BUNDLE_MAGIC_BYTES + 1];

enum pf_bundle_flags {
    PF_BUNDLE_CODE = 1, /* it has machine code and sources, too */
};

struct pf_bundle {
    uint64_t start; /* in the file: the bytes of the recording itself */
    uint64_t bytes; /* of the bundle; 0: there is none */
    uint32_t index_bytes;
    uint32_t members;
    uint32_t flags;
};

/* What the footer says. NULL, or what is wrong: then there is none. */
const char *pf_bundle_look(int fd, struct pf_bundle *bundle);
/*
 * Unpacks the bundle of the recording at options->recording, once, in the user's cache, with all sizes and sums
 * checked: options->bundle_dir. It stays "" when there is no bundle; what is damaged is reported and left out. Where
 * the user has no cache, options->bundle_needs_memory is set. Errors: MEMORY.
 */
int pf_bundle_open(struct pf_find_options *options);
/*
 * Of a bundle that needs memory: its files are kept in memory from here on, for look-ups with these options and copies
 * of them, until it is unloaded. Their paths are those of descriptors. Each part that keeps options of its own loads it
 * for itself; what another one has loaded is not used. Errors: MEMORY.
 */
int pf_bundle_load(struct pf_find_options *options);
void pf_bundle_unload(struct pf_find_options *options);
/* Where the member of that name would be. False without such a member. */
enum { PF_BUNDLE_PATH_BYTES = 1024 + PF_BUNDLE_NAME_BYTES_MAX + 2 };
bool pf_bundle_path(const struct pf_find_options *options, const char *name, char path[PF_BUNDLE_PATH_BYTES]);

/* ---- writing ---- */

struct pf_bundle_writer;
/*
 * `code`: machine code stays in binaries. `out` NULL: nothing is written, sizes are what the files have. NULL: out of
 * memory.
 */
struct pf_bundle_writer *pf_bundle_writer_open(struct pf_text *out, const struct perfile_allocator *allocator,
                                               bool code);
void pf_bundle_writer_close(struct pf_bundle_writer *writer);
struct pf_bundle_added {
    uint64_t bytes;  /* of the file */
    uint64_t stored; /* in the bundle */
    bool known;      /* it was there already */
    bool missing;    /* it could not be read */
};
/* Errors: MEMORY, WRITE. */
int pf_bundle_writer_add(struct pf_bundle_writer *writer, const struct perfile_used_file *file,
                         struct pf_bundle_added *added);
/* The index and the footer. */
int pf_bundle_writer_finish(struct pf_bundle_writer *writer);
/* The name of a member; false: it has none. */
bool pf_bundle_name(const struct perfile_used_file *file, char *name, size_t capacity);

#endif
