/* SPDX-License-Identifier: MIT */
#include "symbol/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef AT_SYSINFO_EHDR
#include <link.h>
#endif

#include <perfile/analysis.h>

#include "base/build_id.h"
#include "base/bytes.h"
#include "base/files.h"
#include "base/sized.h"
#include "platform/platform.h"
#include "symbol/table_elf.h"

/* Only a build id shows which of the installed kernels it is. */
const struct pf_machine_kernels pf_machine_kernels[PF_MACHINE_KERNELS] = {
    {PF_MACHINE_DEBUG "/boot", "vmlinux", ""},
    {PF_MACHINE_DEBUG PF_MACHINE_MODULES, "", "/vmlinux"},
    {"/boot", "vmlinux", ""},
    {PF_MACHINE_MODULES, "", "/build/vmlinux"},
    {PF_MACHINE_MODULES, "", "/vmlinux"},
};

/* ---- files below the root ---- */

/* The beginning of a file, up to `bytes`; how many there are, 0 also when it is not a file or its path is too long. */
static size_t read_start(const char *root, const char *name, void *data, size_t bytes)
{
    char path[PATH_MAX];
    struct stat about;
    if (snprintf(path, sizeof(path), "%s%s", root, name) >= (int)sizeof(path))
        return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    const size_t got = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? pf_read_from(fd, 0, data, bytes) : 0;
    close(fd);
    return got;
}

/* The same as text, with a NUL at its end. */
static void read_text(const char *root, const char *name, char *text, size_t bytes)
{
    text[read_start(root, name, text, bytes - 1)] = '\0';
}

/* What uname() returns of the machine that this program runs on. */
static void read_name(const char *root, const char *name, char *text, size_t bytes)
{
    read_text(root, name, text, bytes);
    text[strcspn(text, "\n")] = '\0';
}

/* ---- what it reports ---- */

static bool is_named(const char *root, const char *name, const char *expected)
{
    char text[256];
    read_name(root, name, text, sizeof(text));
    return expected && *expected && strcmp(text, expected) == 0;
}

bool pf_machine_is_named(const char *root, const char *host, const char *release)
{
    return is_named(root, "/proc/sys/kernel/hostname", host) && is_named(root, "/proc/sys/kernel/osrelease", release);
}

size_t pf_machine_build_id(const char *root, uint8_t build_id[20])
{
    uint8_t notes[8192];
    const size_t bytes = read_start(root, "/sys/kernel/notes", notes, sizeof(notes));
    const size_t found = pf_notes_build_id(notes, bytes, false, build_id);
    return found ? found : pf_notes_build_id(notes, bytes, true, build_id); /* a machine of the other byte order */
}

int32_t pf_machine_own_pid(const char *root, int32_t pid)
{
    char name[64], text[4096];
    snprintf(name, sizeof(name), PF_MACHINE_PROCESS "/status", pid);
    read_text(root, name, text, sizeof(text));
    return pf_own_pid(text, pid);
}

/* When the machine was booted, in seconds since 1970; 1, 0 when it is not reported, or MEMORY. */
static int read_boot_time(const char *root, const struct perfile_allocator *allocator, int64_t *seconds)
{
    static const char key[] = "\nbtime ";
    char path[PATH_MAX];
    size_t bytes;
    if (snprintf(path, sizeof(path), "%s/proc/stat", root) >= (int)sizeof(path))
        return 0;
    char *text = pf_read_text(allocator, path, &bytes);
    if (!text)
        return errno == ENOMEM ? PERFILE_ERROR_MEMORY : 0;
    text[bytes] = '\0';
    const char *line = strstr(text, key);
    *seconds = line ? strtoll(line + strlen(key), NULL, 10) : 0;
    pf_free(allocator, text, bytes + 1);
    return *seconds > 0;
}

int pf_machine_when(const char *root, const struct pf_machine_moment *moment, const struct perfile_allocator *allocator,
                    int64_t *seconds)
{
    enum { TOLERANCE_S = 2 };
    int64_t boot;
    const int known = read_boot_time(root, allocator, &boot);
    if (known <= 0)
        return known;
    *seconds = boot + (int64_t)(moment->time_ns / 1000000000) - TOLERANCE_S;
    return !(moment->has_recorded && moment->recorded_s < *seconds);
}

size_t pf_machine_read_memory(const char *root, int32_t pid, uint64_t address, void *data, size_t bytes)
{
    char path[PATH_MAX];
    if (address > INT64_MAX || snprintf(path, sizeof(path), "%s/proc/%d/mem", root, (int)pid) >= (int)sizeof(path))
        return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t count = pread(fd, data, bytes, (off_t)address);
    close(fd);
    return count > 0 ? (size_t)count : 0;
}

/* Section headers are the last part of it. */
int pf_machine_vdso(void)
{
#ifdef AT_SYSINFO_EHDR
    const uintptr_t address = getauxval(AT_SYSINFO_EHDR);
    const ElfW(Ehdr) *image = (const ElfW(Ehdr) *)address;
    if (!image)
        return -1;
    const size_t bytes = (size_t)image->e_shoff + (size_t)image->e_shentsize * image->e_shnum;
    const int fd = pf_platform_memory_file("vdso");
    if (fd < 0 || write(fd, image, bytes) == (ssize_t)bytes)
        return fd;
    close(fd);
#endif
    return -1;
}

/* ---- its kernel and that of a recording ---- */

int pf_kallsyms_boot(const char *path, const struct pf_recorded_kernel *kernel,
                     const struct perfile_allocator *allocator)
{
    uint64_t address = 0;
    size_t bytes = 0;
    if (!kernel->reference)
        return PF_BOOT_UNKNOWN;
    char *text = pf_read_text(allocator, path, &bytes);
    if (!text)
        return errno == ENOMEM ? PERFILE_ERROR_MEMORY : PF_BOOT_UNKNOWN;
    const bool is_known = pf_kallsyms_address(text, bytes, kernel->reference, &address);
    pf_free(allocator, text, bytes + 1);
    if (!is_known)
        return PF_BOOT_UNKNOWN;
    return address == kernel->reference_address ? PF_BOOT_SAME : PF_BOOT_OTHER;
}

/* Whether the file was written in this boot when the last record's time had come. Recorders write with some delay. */
static int is_written_in_boot(const char *root, const struct pf_recorded_kernel *kernel,
                              const struct perfile_allocator *allocator)
{
    enum { EARLIER_MAX_S = 5, LATER_MAX_S = 60 };
    int64_t boot = 0;
    const int known = kernel->last_time_ns ? read_boot_time(root, allocator, &boot) : 0;
    if (known <= 0)
        return known;
    const int64_t delay = kernel->written_s - boot - (int64_t)(kernel->last_time_ns / 1000000000);
    return delay >= -EARLIER_MAX_S && delay <= LATER_MAX_S;
}

int pf_machine_runs_kernel(const char *root, const struct pf_recorded_kernel *kernel,
                           const struct perfile_allocator *allocator)
{
    char path[PATH_MAX];
    uint8_t own[20];
    if (pf_build_id_length(kernel->build_id, kernel->build_id_bytes)) {
        const size_t bytes = pf_machine_build_id(root, own);
        return pf_build_id_is_same(own, bytes, kernel->build_id, kernel->build_id_bytes);
    }
    const bool is_nameless = !kernel->host && !kernel->release;
    const int written = is_nameless ? is_written_in_boot(root, kernel, allocator) : 0;
    if (written < 0 || (!written && !pf_machine_is_named(root, kernel->host, kernel->release)) ||
        snprintf(path, sizeof(path), "%s%s", root, PF_MACHINE_KALLSYMS) >= (int)sizeof(path))
        return written < 0 ? written : 0;
    const int boot = pf_kallsyms_boot(path, kernel, allocator);
    return boot < 0 ? boot : is_nameless ? boot == PF_BOOT_SAME : boot != PF_BOOT_OTHER;
}

/* ---- for programs ---- */

int perfile_running_kernel_read(struct perfile_running_kernel *kernel)
{
    struct perfile_running_kernel all = {.kallsyms = PF_MACHINE_KALLSYMS};
    char release[128];
    read_name("", "/proc/sys/kernel/osrelease", release, sizeof(release));
    if (*release)
        snprintf(all.modules, sizeof(all.modules), PF_MACHINE_MODULES "/%s/", release);
    all.build_id_bytes = pf_machine_build_id("", all.build_id);
    return pf_sized_give(kernel, &all, sizeof(all));
}
