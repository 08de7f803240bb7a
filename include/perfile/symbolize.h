/* SPDX-License-Identifier: MIT */
/*
 * perfile/symbolize.h: functions and source lines of addresses without a recording (libperfile-analysis).
 *
 *     perfile_symbolizer_open -> perfile_symbolizer_add -> perfile_symbolizer_find -> perfile_symbolizer_frame ...
 *         -> perfile_symbolizer_close
 *
 * For programs that have binaries, or their build ids, and addresses in them: servers that symbolise profiles, crash
 * reports, other formats. Binaries are searched as those of recordings are: build-id caches, separate debug files,
 * archives, and debuginfod when the environment variable DEBUGINFOD_URLS has its addresses. perfile_symbol_options
 * says where to search, how long a server may take, and which function reports that it did not answer (note).
 * `examples/symbolize.c` prints what addr2line -f -i prints. Compiled with
 *
 *     cc example.c $(pkg-config --cflags --libs perfile-analysis)
 */
#ifndef PERFILE_SYMBOLIZE_H
#define PERFILE_SYMBOLIZE_H

#include <perfile/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For one thread at a time. Several are independent; they share the cache of debug info on disk. */
struct perfile_symbolizer;

struct perfile_symbolizer_options {
    size_t size;                                  /* sizeof(struct perfile_symbolizer_options) */
    const struct perfile_symbol_options *symbols; /* where binaries are; NULL: where perf would look */
    /* Must live as long as the symbolizer. NULL: malloc. */
    const struct perfile_allocator *allocator;
    /*
     * That may read the debug info of a binary, the caller's included; 0 and 1: no other. What is found is the same for
     * every number. The allocator may be called from any of these, never two at a time; all others have ended when a
     * call returns.
     */
    unsigned threads;
};
#define PERFILE_SYMBOLIZER_OPTIONS_INIT PERFILE_SIZED(struct perfile_symbolizer_options)

/*
 * `options` may be NULL: the defaults; what they point at is used until the close. Errors: ARGUMENT (a size that is not
 * set, an option that is too new), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_symbolizer_open(const struct perfile_symbolizer_options *options,
                                                           struct perfile_symbolizer **symbolizer,
                                                           struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_symbolizer_close(struct perfile_symbolizer *symbolizer);

/* A program or library, an ELF or PE file. */
struct perfile_binary {
    size_t size;             /* sizeof(struct perfile_binary) */
    const char *path;        /* where it was; NULL: only the build id is known */
    uint8_t build_id[20];    /* a file with another one is not used */
    uint32_t build_id_bytes; /* 0: the build id is not known, and the path decides */
};
#define PERFILE_BINARY_INIT PERFILE_SIZED(struct perfile_binary)

/*
 * Finds a binary and reads its symbols; *number is that of the binary in the other calls. The same binary has the same
 * number. A binary that is not found has a number, too, and no symbols: perfile_symbolizer_module says why. Its debug
 * info is read when the first address in it is looked up. Errors: ARGUMENT (neither a path nor a build id, or `size` is
 * not set), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_symbolizer_add(struct perfile_symbolizer *symbolizer,
                                                          const struct perfile_binary *binary, uint32_t *number,
                                                          struct perfile_error *error);
/*
 * What was found. Texts are valid as long as the symbolizer. ARGUMENT: no binary has the number, or `size` is not set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_symbolizer_module(const struct perfile_symbolizer *symbolizer,
                                                             uint32_t number, struct perfile_module *module);

enum perfile_symbolize_flags {
    PERFILE_SYMBOLIZE_OFFSET = 1 << 0, /* the address is an offset in the file, as in mappings, not an ELF address */
};

/*
 * Looks up an address of a binary: an ELF virtual address, as addr2line takes it; of a caller the return address minus
 * one. Returns how many frames there are: functions that are inlined there, innermost first, then the function that
 * contains them; 0 when nothing is known. perfile_symbolizer_frame has them until the next look-up. Errors: ARGUMENT
 * (no binary has the number, or a flag is too new), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_symbolizer_find(struct perfile_symbolizer *symbolizer, uint32_t binary,
                                                           uint64_t address, uint32_t flags,
                                                           struct perfile_error *error);

/* A function at an address. The texts are valid as long as the symbolizer. */
struct perfile_symbol {
    size_t size;
    const char *name;    /* readable: demangled; NULL: the debug info has a line, but no function */
    const char *linkage; /* as in the symbol table or the debug info */
    const char *file;    /* source file with its folder, as in the debug info; NULL: not known */
    uint32_t line;       /* 0: not known */
    uint32_t column;     /* 0: not known */
    uint64_t offset;     /* bytes from the start of the function; 0 of inlined ones */
    bool inlined;        /* into the frame that follows */
};
#define PERFILE_SYMBOL_INIT PERFILE_SIZED(struct perfile_symbol)

/* A frame of the last look-up. ARGUMENT: it has fewer frames, or `size` is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_symbolizer_frame(const struct perfile_symbolizer *symbolizer, size_t index,
                                                            struct perfile_symbol *symbol);

/*
 * The profile with the names of functions that its frames have no name for but an offset in the file of a module
 * (perfile_profile_frame.file_offset): those of recordings that were read with perfile_symbol_options.no_names, or of
 * perfile_builder_address. Frames of inlined functions are added; frames that nothing is known of stay as they are. The
 * innermost frame of a stack is looked up where it is, callers one byte before. `profile` stays as it is, and may be
 * closed; the new one has the allocator of the symbolizer, which need not live on. Errors: ARGUMENT (a NULL), MEMORY.
 * Since 0.1.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_symbolize(const struct perfile_profile *profile,
                                                             struct perfile_symbolizer *symbolizer,
                                                             struct perfile_profile **named,
                                                             struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
