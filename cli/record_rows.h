/* SPDX-License-Identifier: MIT */
/* Rows of the option tables of verbs that record: what they write to is the member `record` of the settings. */
#ifndef PERFILE_CLI_RECORD_ROWS_H
#define PERFILE_CLI_RECORD_ROWS_H

#include "options.h"

#define AT(member) PF_AT(record.member)
#define FLAG(option, short_option, bit, ...) PF_BITS(option, short_option, AT(options.flags), bit, __VA_ARGS__)
#define TEXT(option, short_option, value, member, ...)                                                                 \
    PF_ROW(TEXT, option, short_option, value, AT(member), __VA_ARGS__)
#define NUMBER(option, short_option, value, member, ...)                                                               \
    PF_ROW(NUMBER, option, short_option, value, AT(member), __VA_ARGS__)
#define EVENTS(...) PF_ROW(EVENTS, "event", 'e', "LIST", AT(events), __VA_ARGS__, .first = true)
#define STACK_FRAMES(...) PF_FLAG("stack-frames", 'g', AT(frame_pointers), __VA_ARGS__, .first = true)

#endif
