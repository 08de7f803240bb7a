/* SPDX-License-Identifier: MIT */
/*
 * Machines whose files may be opened: \\machine\share\file. The names in a recording and in what it brings along must not make the command
 * connect to others, which would get the name and a proof of the password of its user.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct machine {
    struct machine *next;
    size_t length;
    wchar_t name[];
} * machines;
static bool only_known;
static SRWLOCK lock = SRWLOCK_INIT;

static bool is_separator(wchar_t c)
{
    return c == L'/' || c == L'\\';
}

/* The length of the name of a machine, which comes after two separators; 0: the path is not one of a network. */
static size_t machine_length(const wchar_t *path)
{
    size_t length = 0;
    if (!is_separator(path[0]) || !is_separator(path[1]))
        return 0;
    while (path[2 + length] && !is_separator(path[2 + length]))
        length++;
    return length;
}

static bool is_known(const wchar_t *name, size_t length)
{
    const struct machine *machine = machines;
    while (machine && (machine->length != length || _wcsnicmp(machine->name, name, length) != 0))
        machine = machine->next;
    return machine != NULL;
}

void pf_windows_know_machine(const wchar_t *path)
{
    const size_t length = machine_length(path);
    AcquireSRWLockExclusive(&lock);
    if (length && !is_known(path + 2, length)) {
        struct machine *made = malloc(sizeof(*made) + length * sizeof(*made->name));
        if (made) {
            *made = (struct machine){.next = machines, .length = length};
            memcpy(made->name, path + 2, length * sizeof(*made->name));
            machines = made;
        }
    }
    ReleaseSRWLockExclusive(&lock);
}

void pf_windows_refuse_machines(void)
{
    only_known = true;
}

bool pf_windows_may_connect(const wchar_t *path)
{
    const size_t length = machine_length(path);
    AcquireSRWLockShared(&lock);
    const bool may = !length || !only_known || is_known(path + 2, length);
    ReleaseSRWLockShared(&lock);
    return may;
}
