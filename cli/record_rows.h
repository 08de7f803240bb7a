/* SPDX-License-Identifier: MIT */
/* Rows of the option tables of verbs that record: what they write to is the member `record` of the settings. */
#ifndef PERFILE_CLI_RECORD_ROWS_H
#define PERFILE_CLI_RECORD_ROWS_H

#include "options.h"

#define AT(member) offsetof(struct pf_settings, record.member)
#define FLAG(option, short_option, bit, ...)                                                                           \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS, .offset = AT(options.flags), .bits = bit,      \
        .doc = __VA_ARGS__                                                                                             \
    }
#define TEXT(option, short_option, value, member, ...)                                                                 \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_TEXT, .argument = value, .offset = AT(member),       \
        .doc = __VA_ARGS__                                                                                             \
    }
#define NUMBER(option, short_option, value, member, ...)                                                               \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_NUMBER, .argument = value, .offset = AT(member),     \
        .doc = __VA_ARGS__                                                                                             \
    }
#define EVENTS(...)                                                                                                    \
    {                                                                                                                  \
        .name = "event", .first = true, .letter = 'e', .kind = PF_OPTION_EVENTS, .argument = "LIST",                   \
        .offset = AT(events), .doc = __VA_ARGS__                                                                       \
    }
#define STACK_FRAMES(...)                                                                                              \
    {                                                                                                                  \
        .name = "stack-frames", .first = true, .letter = 'g', .kind = PF_OPTION_FLAG, .offset = AT(frame_pointers),    \
        .doc = __VA_ARGS__                                                                                             \
    }

#endif
