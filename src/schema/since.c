/* SPDX-License-Identifier: MIT */
#include "schema/since.h"

#include <stdlib.h>
#include <string.h>

enum { MAJOR_MIN = 3, MAJOR_MAX = 7, MINOR_MAX = 99 };

uint32_t pf_since_parse(const char *text)
{
    char *end;
    text += strncmp(text, "perf-", 5) == 0 ? 5 : 0;
    text += *text == 'v';
    if (*text < '0' || *text > '9')
        return 0;
    const unsigned long major = strtoul(text, &end, 10);
    if (*end != '.' || end[1] < '0' || end[1] > '9')
        return 0;
    const unsigned long minor = strtoul(end + 1, &end, 10);
    if ((*end && *end != '.' && *end != '-') || major < MAJOR_MIN || major > MAJOR_MAX || minor > MINOR_MAX)
        return 0;
    return PF_VERSION((uint32_t)major, (uint32_t)minor);
}

bool pf_since_knows(uint32_t version, const char *since)
{
    const uint32_t young = since && since[0] == '2' ? 1 : since ? pf_since_parse(since) : 0;
    return young && young <= version;
}

uint32_t pf_since_attr_bytes(uint32_t version)
{
    uint32_t known = 0;
#define ATTR(major, minor, bytes)                                                                                      \
    if (version >= PF_VERSION(major, minor))                                                                           \
        known = bytes;
#include "schema/ages.def"
    return known;
}

void pf_since_clear_flags(uint32_t version, struct perfile_attr *attr)
{
#define FLAG(major, minor, field)                                                                                      \
    if (version < PF_VERSION(major, minor))                                                                            \
        attr->field = 0;
#include "schema/ages.def"
}

uint64_t pf_since_read_format(uint32_t version)
{
    uint64_t young = 0;
#define READ(major, minor, NAME)                                                                                       \
    if (version < PF_VERSION(major, minor))                                                                            \
        young |= PERFILE_FORMAT_##NAME;
#include "schema/ages.def"
    return young;
}

uint64_t pf_since_sample_type(uint32_t version)
{
    uint64_t young = 0;
#define SAMPLE(major, minor, NAME)                                                                                     \
    if (version < PF_VERSION(major, minor))                                                                            \
        young |= PERFILE_SAMPLE_##NAME;
#include "schema/ages.def"
    return young;
}

uint64_t pf_since_branches(uint32_t version)
{
    uint64_t young = 0;
#define BRANCH(major, minor, NAME)                                                                                     \
    if (version < PF_VERSION(major, minor))                                                                            \
        young |= PERFILE_SAMPLE_BRANCH_##NAME;
#include "schema/ages.def"
    return young;
}

uint32_t pf_since_prog_info_bytes(uint32_t version)
{
    uint32_t known = 0;
#define PROG_INFO(major, minor, bytes)                                                                                 \
    if (version >= PF_VERSION(major, minor))                                                                           \
        known = bytes;
#include "schema/ages.def"
    return known;
}

const char *pf_since_output(uint32_t version, bool pipe, bool directory, bool compressed)
{
    const bool compressed2 = false; /* there is an older way to say it */
    const char *unknown = NULL;
#define OUTPUT(major, minor, what, doc)                                                                                \
    if (what && version < PF_VERSION(major, minor))                                                                    \
        unknown = doc;
#include "schema/ages.def"
    return unknown;
}
