/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_REGEX_H
#define PF_WINDOWS_REGEX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* as in musl, whose functions they are */
typedef ptrdiff_t regoff_t;
typedef struct re_pattern_buffer {
    size_t re_nsub;
    void *__opaque, *__padding[4];
    size_t __nsub2;
    char __padding2;
} regex_t;
typedef struct {
    regoff_t rm_so, rm_eo;
} regmatch_t;

#define REG_EXTENDED 1
#define REG_ICASE 2
#define REG_NEWLINE 4
#define REG_NOSUB 8
#define REG_NOTBOL 1
#define REG_NOTEOL 2
enum {
    REG_OK,
    REG_NOMATCH,
    REG_BADPAT,
    REG_ECOLLATE,
    REG_ECTYPE,
    REG_EESCAPE,
    REG_ESUBREG,
    REG_EBRACK,
    REG_EPAREN,
    REG_EBRACE,
    REG_BADBR,
    REG_ERANGE,
    REG_ESPACE,
    REG_BADRPT
};
#define REG_ENOSYS (-1)

int regcomp(regex_t *__restrict regex, const char *__restrict pattern, int flags);
int regexec(const regex_t *__restrict regex, const char *__restrict text, size_t count, regmatch_t *__restrict matches,
            int flags);
size_t regerror(int code, const regex_t *__restrict regex, char *__restrict text, size_t capacity);
void regfree(regex_t *regex);

#endif
