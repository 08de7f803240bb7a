/* SPDX-License-Identifier: MIT */
/* Which machines a path may connect to. Prints the lines of what is wrong, and in the end "done". */
#include <stdio.h>

#include "internal.h"

static void expect(int line, const wchar_t *path, bool may)
{
    if (pf_windows_may_connect(path) != may)
        printf("line %d\n", line);
}

int wmain(void)
{
    expect(__LINE__, L"\\\\other\\share\\file", true);
    pf_windows_refuse_machines();
    expect(__LINE__, L"\\\\other\\share\\file", false);
    expect(__LINE__, L"\\/other/share", false);
    expect(__LINE__, L"\\\\?\\UNC\\other\\share", false);
    expect(__LINE__, L"\\\\.\\pipe\\name", false);
    expect(__LINE__, L"C:\\file", true);
    expect(__LINE__, L"\\file", true);
    expect(__LINE__, L"file", true);
    expect(__LINE__, L"", true);
    pf_windows_know_machine(L"C:\\file");
    pf_windows_know_machine(L"\\\\Known\\share\\file");
    pf_windows_know_machine(L"\\\\known");
    expect(__LINE__, L"\\\\known/other", true);
    expect(__LINE__, L"\\\\know\\share", false);
    expect(__LINE__, L"\\\\known2\\share", false);
    expect(__LINE__, L"\\\\other\\share", false);
    puts("done");
    return 0;
}
