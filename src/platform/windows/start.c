/* SPDX-License-Identifier: MIT */
/*
 * The command starts here: arguments and environment become UTF-8, streams are binary, and a console shows UTF-8 and
 * colors. Linked into programs only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

enum { BINARY = 0x8000, NAME_BYTES = 64 };
int _setmode(int fd, int mode);
int main(int argc, char **argv);
int wmain(int argc, wchar_t **argv);

static char *narrow(const wchar_t *wide)
{
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (!text)
        _exit(3);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, bytes, NULL, NULL);
    return text;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool exists(const wchar_t *path, size_t length)
{
    wchar_t *copy = length ? malloc((length + 1) * sizeof(*copy)) : NULL;
    if (!copy)
        return false;
    memcpy(copy, path, length * sizeof(*copy));
    copy[length] = 0;
    const bool found = GetFileAttributesW(copy) != INVALID_FILE_ATTRIBUTES;
    free(copy);
    return found;
}

static bool has_drive(const wchar_t *text)
{
    return ((*text | 32) >= 'a' && (*text | 32) <= 'z') && text[1] == ':' && text[2] == '\\';
}

/* Paths may be written with backslashes, which stand for themselves in patterns: the folder is there if it is one. */
static bool is_path(const wchar_t *text)
{
    const wchar_t *last = wcsrchr(text, L'\\');
    if (!last)
        return false;
    return has_drive(text) || wcsncmp(text, L"\\\\", 2) == 0 || exists(text, wcslen(text)) ||
           exists(text, (size_t)(last - text));
}

/* Without the prefix that permits any length, which all paths get. */
static void remove_prefix(wchar_t *text)
{
    static const wchar_t of_network[] = L"\\\\?\\UNC\\", any_length[] = L"\\\\?\\";
    const size_t network = wcslen(of_network), any = wcslen(any_length);
    if (wcsncmp(text, of_network, network) == 0)
        memmove(text + 2, text + network, (wcslen(text + network) + 1) * sizeof(*text));
    else if (wcsncmp(text, any_length, any) == 0)
        memmove(text, text + any, (wcslen(text + any) + 1) * sizeof(*text));
}

/* Also what follows an option: --output=C:\made.data. Two backslashes before the name of a machine stay. */
static void use_slashes(wchar_t *argument)
{
    wchar_t *value = wcschr(argument, L'=');
    value = argument[0] == '-' && value ? value + 1 : argument;
    remove_prefix(value);
    if (!is_path(value))
        return;
    pf_windows_know_machine(value);
    for (wchar_t *c = value + (value[0] == '\\' && value[1] == '\\' ? 2 : 0); *c; c++)
        *c = *c == '\\' ? '/' : *c;
}

static char **arguments_of(int argc, wchar_t **argv)
{
    char **texts = calloc((size_t)argc + 1, sizeof(*texts));
    if (!texts)
        _exit(3);
    for (int i = 0; i < argc; i++) {
        use_slashes(argv[i]);
        texts[i] = narrow(argv[i]);
    }
    return texts;
}

/* ---- the environment --------------------------------------------------------------------------------------------- */

/* The C library has the variables in the characters of the system; getenv gives what is put here. */
static void take_variable(const wchar_t *variable)
{
    char *text = narrow(variable);
    const wchar_t *value = wcschr(variable, L'=');
    if (value)
        pf_windows_know_machine(value + 1);
    bool is_ascii = *text && *text != '=';
    for (const char *c = text; *c; c++)
        is_ascii = is_ascii && !(*c & 0x80);
    if (!is_ascii && *text != '=')
        _putenv(text);
    free(text);
}

/* The variable in the other's stead, with slashes. */
static void stand_in(const char *name, const wchar_t *value, bool replaces)
{
    char *text = narrow(value);
    pf_windows_know_machine(value);
    for (char *c = text + (value[0] == '\\' && value[1] == '\\' ? 2 : 0); *c; c++)
        *c = *c == '\\' ? '/' : *c;
    const size_t bytes = strlen(text);
    if (bytes > 1 && text[bytes - 1] == '/')
        text[bytes - 1] = 0;
    setenv(name, text, replaces);
    free(text);
}

static void take_environment(void)
{
    wchar_t *all = GetEnvironmentStringsW(), folder[MAX_PATH + 1];
    const wchar_t *home = _wgetenv(L"USERPROFILE");
    for (const wchar_t *one = all; one && *one; one += wcslen(one) + 1)
        take_variable(one);
    if (all)
        FreeEnvironmentStringsW(all);
    if (home)
        stand_in("HOME", home, false);
    const char *temporary = getenv("TMPDIR"); /* shells that imitate Unix set it to a folder of theirs */
    if (GetTempPathW(MAX_PATH, folder))
        stand_in("TMPDIR", folder, !temporary || access(temporary, F_OK) < 0);
}

/* ---- the console ------------------------------------------------------------------------------------------------- */

static UINT code_page;

static void restore_console(void)
{
    SetConsoleOutputCP(code_page);
}

static void prepare_console(void)
{
    enum { VIRTUAL_TERMINAL = 4 };
    DWORD mode;
    bool has_console = false;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (GetConsoleMode(pf_windows_handle(fd), &mode)) {
            has_console = true;
            if (SetConsoleMode(pf_windows_handle(fd), mode | VIRTUAL_TERMINAL))
                setenv("TERM", "xterm-256color", 0);
        }
    if (!has_console)
        return;
    code_page = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    atexit(restore_console);
}

int wmain(int argc, wchar_t **argv)
{
    _fmode = BINARY;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        _setmode(fd, BINARY);
    pf_windows_refuse_machines();
    take_environment();
    prepare_console();
    return main(argc, arguments_of(argc, argv));
}
