/* SPDX-License-Identifier: MIT */
/* Files that hold others: an archive (a tar file), and a recording with a bundle. */
#define _XOPEN_SOURCE 700
#include <ftw.h>

#include "made.h"

#include <perfile/profile.h>

#include "symbol/find/archive.h"

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void remove_folder(void);

static const char *folder(void)
{
    return fuzz_folder(remove_folder);
}

static void remove_folder(void)
{
    (void)nftw(folder(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void read_archive(const struct perfile_symbol_options *symbols, const char *path)
{
    const struct pf_find_options options = pf_find_options_of(symbols, NULL);
    char *directory = NULL;
    FUZZ_REQUIRE(pf_archive_open(&options, path, &directory) == 0);
    pf_text_free(pf_find_allocator(&options), directory);
}

/* A bundle is looked for when the symbols of its recording are. */
static void read_bundle(const struct perfile_symbol_options *symbols)
{
    uint64_t words[FUZZ_WORDS];
    const size_t bytes = fuzz_recording(words, 4096);
    struct perfile_resolver_options options = PERFILE_RESOLVER_OPTIONS_INIT;
    struct perfile_resolver *resolver;
    struct perfile_session *session;
    struct perfile_reader *reader;
    options.symbols = symbols;
    FUZZ_REQUIRE(perfile_open_memory(words, bytes, NULL, &reader, NULL) == 0);
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    FUZZ_REQUIRE(perfile_resolver_open(reader, session, &options, &resolver, NULL) == 0);
    perfile_resolver_close(resolver);
    perfile_session_close(session);
    perfile_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_bundle bundle = PERFILE_BUNDLE_INIT;
    char path[256], cache[256];
    snprintf(path, sizeof(path), "%s/x", folder());
    snprintf(cache, sizeof(cache), "%s/cache", folder());
    FUZZ_REQUIRE(setenv("XDG_CACHE_HOME", cache, true) == 0);
    fuzz_write_file(folder(), "x", data, bytes);
    symbols.kallsyms = "/dev/null";
    symbols.buildid_dir = "/nonexistent";
    symbols.recording = path;
    if (perfile_bundle_look(path, &bundle, NULL) == 0 && bundle.bytes) {
        FUZZ_REQUIRE(bundle.start < bytes && bundle.bytes <= bytes - bundle.start);
        read_bundle(&symbols);
    } else {
        read_archive(&symbols, path);
    }
    (void)nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
