/* SPDX-License-Identifier: MIT */
#include "objdump.h"
#include "input.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Those of ELF: not every system has a header with them. */
enum {
    EM_386 = 3,
    EM_MIPS = 8,
    EM_PPC = 20,
    EM_PPC64 = 21,
    EM_S390 = 22,
    EM_ARM = 40,
    EM_SPARCV9 = 43,
    EM_X86_64 = 62,
    EM_AARCH64 = 183,
    EM_RISCV = 243,
    EM_LOONGARCH = 258
};

/* objdump's names of machines, with 32 and with 64 bits. */
static const struct {
    uint16_t elf_machine;
    const char *name_32, *name_64;
} machines[] = {
    {EM_X86_64, "i386:x86-64", "i386:x86-64"},    {EM_386, "i386", "i386"},
    {EM_AARCH64, "aarch64", "aarch64"},           {EM_ARM, "arm", "arm"},
    {EM_RISCV, "riscv:rv32", "riscv:rv64"},       {EM_S390, "s390:31-bit", "s390:64-bit"},
    {EM_PPC, "powerpc:common", "powerpc:common"}, {EM_PPC64, "powerpc:common64", "powerpc:common64"},
    {EM_MIPS, "mips:isa32r2", "mips:isa64r2"},    {EM_SPARCV9, "sparc:v9", "sparc:v9"},
    {EM_LOONGARCH, "loongarch32", "loongarch64"},
};

/* The request for a function, which precedes its bytes. */
struct request {
    uint64_t address;
    uint64_t byte_count;
    uint16_t elf_machine;
    bool is_64;
    bool is_big_endian;
};

static struct {
    int requests, answers; /* this end of the pipes */
    bool failed;           /* and a message was printed */
} helper;

/* ---- the other process ------------------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t bytes)
{
    for (ssize_t got; bytes; bytes -= (size_t)got, to = (char *)to + got)
        if ((got = read(fd, to, bytes)) <= 0) {
            if (got == 0 || errno != EINTR)
                return false;
            got = 0;
        }
    return true;
}

static bool write_all(int fd, const void *from, size_t bytes)
{
    for (ssize_t put; bytes; bytes -= (size_t)put, from = (const char *)from + put)
        if ((put = write(fd, from, bytes)) < 0) {
            if (errno != EINTR)
                return false;
            put = 0;
        }
    return true;
}

static const char *name_of(const struct request *request)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].elf_machine == request->elf_machine)
            return request->is_64 ? machines[i].name_64 : machines[i].name_32;
    return NULL;
}

/* The code is standard input, a file without a name. */
static void become_objdump(const char *program, const char *syntax, const struct request *request, int code,
                           int answers)
{
    char from[40], machine[40], style[16];
    const char *name = name_of(request);

    if (!name)
        _exit(126);
    snprintf(from, sizeof(from), "--adjust-vma=0x%llx", (unsigned long long)request->address);
    snprintf(machine, sizeof(machine), "-m%s", name);
    snprintf(style, sizeof(style), "-M%s", syntax ? syntax : "att");
    const bool is_x86 = request->elf_machine == EM_X86_64 || request->elf_machine == EM_386;
    char *words[] = {(char *)program,
                     "-D",
                     "-w",
                     "-bbinary",
                     machine,
                     from,
                     request->is_big_endian ? "-EB" : "-EL",
                     "--no-show-raw-insn",
                     "/dev/stdin",
                     is_x86 ? style : NULL,
                     NULL};
    if (lseek(code, 0, SEEK_SET) != 0 || dup2(code, STDIN_FILENO) < 0 || dup2(answers, STDOUT_FILENO) < 0)
        _exit(126);
    execvp(program, words);
    _exit(127);
}

/* Sends the output of objdump, then a NUL and its exit status. */
static bool answer(const char *program, const char *syntax, int requests, int answers)
{
    struct request request;
    int state = 0, code = -1;
    unsigned char end[2] = {0, 126};

    if (!read_all(requests, &request, sizeof(request)))
        return false;
    char *bytes = malloc(request.byte_count);
    if (!bytes || !read_all(requests, bytes, request.byte_count))
        return false;
    code = pf_temporary_file();
    if (code >= 0 && write_all(code, bytes, request.byte_count)) {
        const pid_t pid = fork();
        if (pid == 0)
            become_objdump(program, syntax, &request, code, answers);
        if (pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state))
            end[1] = (unsigned char)WEXITSTATUS(state);
    }
    if (code >= 0)
        close(code);
    free(bytes);
    return write_all(answers, end, sizeof(end));
}

bool pf_objdump_start(const char *program, const char *syntax)
{
    int requests[2], answers[2];

    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
        pf_message("objdump cannot be started: %s", strerror(errno));
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(requests[1]);
        close(answers[0]);
        while (answer(program, syntax, requests[0], answers[1]))
            ;
        _exit(0);
    }
    close(requests[0]);
    close(answers[1]);
    helper.requests = requests[1];
    helper.answers = answers[0];
    if (pid < 0)
        pf_message("objdump cannot be started: %s", strerror(errno));
    return pid > 0;
}

/* ---- this process ------------------------------------------------------------------------------------------------ */

/* "  401000:\tjal 401010": other lines are headings. */
static void take_line(char *line, void (*add)(void *listing, uint64_t address, const char *text), void *listing)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);

    if (end == line || *end != ':' || end[1] != '\t')
        return;
    for (char *tab = end + 2; *tab; tab++)
        *tab = *tab == '\t' ? ' ' : *tab;
    add(listing, address, end + 2);
}

static void fail(const char *why)
{
    if (!helper.failed)
        pf_message("objdump: %s", why);
    helper.failed = true;
}

void pf_objdump_disassemble(void *context, const struct perfile_machine_code *code,
                            void (*add)(void *listing, uint64_t address, const char *text), void *listing)
{
    const struct request request = {code->address, code->byte_count, code->elf_machine, code->is_64,
                                    code->is_big_endian};
    char line[4096];
    size_t used = 0;
    unsigned char byte = 1, status = 126;

    (void)context;
    if (helper.failed)
        return;
    if (!write_all(helper.requests, &request, sizeof(request)) ||
        !write_all(helper.requests, code->bytes, code->byte_count)) {
        fail("it has ended");
        return;
    }
    FILE *answers = fdopen(dup(helper.answers), "r");
    for (int got; answers && (got = getc(answers)) != EOF && (byte = (unsigned char)got) != 0;) {
        if (byte != '\n' && used < sizeof(line) - 1)
            line[used++] = (char)byte;
        if (byte != '\n')
            continue;
        line[used] = '\0';
        used = 0;
        take_line(line, add, listing);
    }
    if (answers && byte == 0)
        status = (unsigned char)getc(answers);
    if (answers)
        fclose(answers);
    if (status)
        fail(status == 127   ? "there is no such program"
             : status == 126 ? "it cannot be run, or the machine has no name for it"
                             : "it does not know this machine");
}
