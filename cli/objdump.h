/* SPDX-License-Identifier: MIT */
/*
 * objdump for machines that capstone does not know. A separate process, which is started before the sandbox, runs it,
 * and receives only the bytes of functions.
 */
#ifndef PERFILE_CLI_OBJDUMP_H
#define PERFILE_CLI_OBJDUMP_H

#include "options.h"

/* False when a message was printed. `syntax`: as perfile_annotate_options has it. */
bool pf_objdump_start(const char *program, const char *syntax);
/* For perfile_annotate_options.disassemble. */
perfile_disassemble pf_objdump_disassemble;

#endif
