/* SPDX-License-Identifier: MIT */
#include "symbol/find/library.h"

#include <errno.h>
#include <string.h>

#include <perfile/analysis.h>

#include "base/bytes.h"

static const struct row {
    const char *name, *purpose;
} libraries[] = {
    [PF_LIBRARY_STDCXX] = {"libstdc++.so.6", "readable names of C++"},
#ifdef PF_HAVE_CAPSTONE
    [PF_LIBRARY_CAPSTONE] = {"libcapstone.so." PF_HAVE_CAPSTONE, "names of instructions"},
#else
    [PF_LIBRARY_CAPSTONE] = {"libcapstone.so", "names of instructions; not known when this was built"},
#endif
    [PF_LIBRARY_DEBUGINFOD] = {"libdebuginfod.so.1", "symbols and sources from servers"},
    [PF_LIBRARY_ARCHIVE] = {"libarchive.so.13", "archives of binaries"},
};

const char *perfile_library_at(size_t index, const char **purpose, bool *found)
{
    if (index >= PF_COUNT(libraries))
        return NULL;
    if (purpose)
        *purpose = libraries[index].purpose;
    if (found) {
        void *library = pf_library_open((enum pf_library)index, RTLD_LAZY | RTLD_LOCAL);
        *found = library != NULL;
        pf_library_close(library);
    }
    return libraries[index].name;
}

#ifdef PF_STATIC

/*
 * A static program must not load libraries: they would bring another C library along, mostly one of another version; and
 * WebAssembly and Windows do not have them. What perfile wants of them is linked in, and found here. libdebuginfod is missing:
 * no static library is made of it.
 */
#define LIBSTDCXX(X) X("libstdc++", __cxa_demangle)
#ifdef PF_HAVE_ARCHIVE
#define LIBARCHIVE(X)                                                                                                  \
    X("libarchive", archive_read_new)                                                                                  \
    X("libarchive", archive_read_free)                                                                                 \
    X("libarchive", archive_read_support_format_tar)                                                                   \
    X("libarchive", archive_read_support_filter_gzip)                                                                  \
    X("libarchive", archive_read_support_filter_bzip2)                                                                 \
    X("libarchive", archive_read_support_filter_xz)                                                                    \
    X("libarchive", archive_read_support_filter_zstd)                                                                  \
    X("libarchive", archive_read_open_filename)                                                                        \
    X("libarchive", archive_read_next_header)                                                                          \
    X("libarchive", archive_read_data)                                                                                 \
    X("libarchive", archive_error_string)                                                                              \
    X("libarchive", archive_entry_pathname)                                                                            \
    X("libarchive", archive_entry_filetype)
#else
#define LIBARCHIVE(X)
#endif
#ifdef PF_HAVE_CAPSTONE
#define LIBCAPSTONE(X)                                                                                                 \
    X("libcapstone", cs_open)                                                                                          \
    X("libcapstone", cs_close)                                                                                         \
    X("libcapstone", cs_option)                                                                                        \
    X("libcapstone", cs_malloc)                                                                                        \
    X("libcapstone", cs_free)                                                                                          \
    X("libcapstone", cs_disasm_iter)                                                                                   \
    X("libcapstone", cs_regs_access)
#else
#define LIBCAPSTONE(X)
#endif
#define FUNCTIONS(X) LIBSTDCXX(X) LIBARCHIVE(X) LIBCAPSTONE(X)

/* Their addresses alone are used, as those that dlsym gives. */
#define DECLARATION(library, function) void function(void);
FUNCTIONS(DECLARATION)

struct built_in {
    const char *library; /* its name before ".so" */
    const char *name;
    void (*function)(void);
};

#define ROW(library, function) {library, #function, function},
static const struct built_in functions[] = {FUNCTIONS(ROW)};

/* The library is the row of its first function. */
void *pf_library_open(enum pf_library which, int flags)
{
    const char *name = libraries[which].name;
    const size_t length = (size_t)(strstr(name, ".so") - name);
    (void)flags;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strlen(functions[i].library) == length && memcmp(functions[i].library, name, length) == 0)
            return (void *)(size_t)&functions[i];
    errno = ENOENT;
    return NULL;
}

bool pf_library_function(void *library, const char *name, void *function)
{
    const struct built_in *first = library;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].library, first->library) != 0 || strcmp(functions[i].name, name) != 0)
            continue;
        memcpy(function, &functions[i].function, sizeof(functions[i].function));
        return true;
    }
    return false;
}

void pf_library_close(void *library)
{
    (void)library;
}

#else

#include <sys/mman.h>

#include "base/locale.h"

/* More than any of the libraries needs, with those that it brings along. */
enum { CAPACITY_BYTES = 64 << 20 };

static bool fits(void)
{
    void *capacity = mmap(NULL, CAPACITY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (capacity == MAP_FAILED)
        return false;
    munmap(capacity, CAPACITY_BYTES);
    return true;
}

/*
 * The dynamic linker has words for what went wrong, and those of a number for some of it: there is one for a file that
 * is not there, and none for a segment that cannot be mapped. So what is there and cannot be loaded is tried otherwise.
 */
static bool is_short_of_memory(const char *why)
{
    if (!why || strstr(why, "Cannot allocate memory"))
        return true;
    return !strstr(why, "No such file or directory") && !fits();
}

void *pf_library_open(enum pf_library which, int flags)
{
    const struct pf_locale locale = pf_locale_enter();
    errno = 0;
    void *library = dlopen(libraries[which].name, flags);
    const bool is_short = !library && (errno == ENOMEM || is_short_of_memory(dlerror()));
    pf_locale_leave(&locale);
    if (!library)
        errno = is_short ? ENOMEM : ENOENT;
    return library;
}

bool pf_library_function(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

void pf_library_close(void *library)
{
    if (library)
        dlclose(library);
}

#endif
