/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: at the end the file that COUNT_ALLOCATIONS names has a line "LIBRARY OFFSET FUNCTION" for each
 * address in the libraries of perfile that got memory from the C library, directly or by a function that copies or
 * makes text, and a last line with the number of all allocations that were seen.
 */
#include <errno.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSITIONS 64
#define LIBRARIES 8
#define SEEN(function) look(__builtin_return_address(0), function)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *pointer, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);
int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments);
int __asprintf_chk(char **to, int flag, const char *format, ...);
char *__strdup(const char *text);
char *__strndup(const char *text, size_t bytes);

static struct library {
    const char *name;
    uintptr_t base, start, end; /* of its code */
} libraries[LIBRARIES];
static size_t library_count;
static atomic_ulong looked_at;
static atomic_size_t position_count;
static struct position {
    const void *caller;
    const char *function;
} positions[POSITIONS];

/* Of what the program itself is linked with. */
static int add_library(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = strrchr(info->dlpi_name, '/');
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (name && strncmp(name, "/libperfile", 11) == 0 && header->p_type == PT_LOAD && header->p_flags & PF_X &&
            library_count < LIBRARIES)
            libraries[library_count++] = (struct library){name + 1, info->dlpi_addr, start, start + header->p_memsz};
    }
    return 0;
}

__attribute__((constructor)) static void find_libraries(void)
{
    dl_iterate_phdr(add_library, NULL);
}

static const struct library *library_of(const void *caller)
{
    for (size_t i = 0; i < library_count; i++)
        if ((uintptr_t)caller >= libraries[i].start && (uintptr_t)caller < libraries[i].end)
            return &libraries[i];
    return NULL;
}

static void look(const void *caller, const char *function)
{
    atomic_fetch_add(&looked_at, 1);
    if (!library_of(caller))
        return;
    const size_t count = atomic_load(&position_count);
    for (size_t i = 0; i < count && i < POSITIONS; i++)
        if (positions[i].caller == caller)
            return;
    const size_t number = atomic_fetch_add(&position_count, 1);
    if (number < POSITIONS)
        positions[number] = (struct position){caller, function};
}

__attribute__((destructor)) static void report_notes(void)
{
    const char *path = getenv("COUNT_ALLOCATIONS");
    const size_t count = atomic_load(&position_count);
    const unsigned long all = library_count < 2 ? 0 : atomic_load(&looked_at); /* both are there */
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (size_t i = 0; i < count && i < POSITIONS; i++) {
        const struct library *library = library_of(positions[i].caller);
        fprintf(file, "%s %lx %s\n", library->name, (unsigned long)((uintptr_t)positions[i].caller - library->base),
                positions[i].function);
    }
    fprintf(file, "%lu\n", all);
    fclose(file);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

void *malloc(size_t bytes)
{
    SEEN("malloc");
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    SEEN("calloc");
    return __libc_calloc(count, bytes);
}

void *realloc(void *pointer, size_t bytes)
{
    SEEN("realloc");
    return __libc_realloc(pointer, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    SEEN("memalign");
    return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    SEEN("aligned_alloc");
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **pointer, size_t alignment, size_t bytes)
{
    SEEN("posix_memalign");
    void *made = __libc_memalign(alignment, bytes);
    if (made)
        *pointer = made;
    return made ? 0 : ENOMEM;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static char *copy(const char *text, size_t bytes)
{
    char *made = __libc_malloc(bytes + 1);
    if (made) {
        memcpy(made, text, bytes);
        made[bytes] = 0;
    }
    return made;
}

static int print(char **to, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int bytes = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *to = bytes < 0 ? NULL : __libc_malloc((size_t)bytes + 1);
    return *to ? vsnprintf(*to, (size_t)bytes + 1, format, arguments) : -1;
}

char *strdup(const char *text)
{
    SEEN("strdup");
    return copy(text, strlen(text));
}

char *__strdup(const char *text)
{
    SEEN("strdup");
    return copy(text, strlen(text));
}

char *strndup(const char *text, size_t bytes)
{
    SEEN("strndup");
    return copy(text, strnlen(text, bytes));
}

char *__strndup(const char *text, size_t bytes)
{
    SEEN("strndup");
    return copy(text, strnlen(text, bytes));
}

int vasprintf(char **to, const char *format, va_list arguments)
{
    SEEN("vasprintf");
    return print(to, format, arguments);
}

int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments)
{
    (void)flag;
    SEEN("vasprintf");
    return print(to, format, arguments);
}

int asprintf(char **to, const char *format, ...)
{
    va_list arguments;
    SEEN("asprintf");
    va_start(arguments, format);
    const int bytes = print(to, format, arguments);
    va_end(arguments);
    return bytes;
}

int __asprintf_chk(char **to, int flag, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    SEEN("asprintf");
    va_start(arguments, format);
    const int bytes = print(to, format, arguments);
    va_end(arguments);
    return bytes;
}

/* Into a buffer of the caller it takes none. */
char *realpath(const char *path, char *to)
{
    char *(*next)(const char *, char *);
    *(void **)&next = dlsym(RTLD_NEXT, "realpath");
    if (!to)
        SEEN("realpath");
    return next(path, to);
}
#else
typedef int nothing; /* other C libraries: the test finds no file, and is skipped */
#endif
