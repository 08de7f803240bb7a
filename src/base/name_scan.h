/* SPDX-License-Identifier: MIT */
/* The brackets of demangled names: which open what, and which only look like brackets. */
#ifndef PF_BASE_NAME_SCAN_H
#define PF_BASE_NAME_SCAN_H

#include "base/bytes.h"

enum pf_name_bracket {
    PF_BRACKET_OTHER,      /* (anonymous namespace), (*T) of Go, <T as Trait> of Rust, {lambda()#1}, [abi:cxx11] */
    PF_BRACKET_ARGUMENTS,  /* of templates and generic functions: <...> and [...] */
    PF_BRACKET_PARAMETERS, /* (...) */
};

enum pf_name_token { PF_NAME_END, PF_NAME_TEXT, PF_NAME_COMMA, PF_NAME_OPEN, PF_NAME_CLOSE };

enum { PF_NAME_DEPTH = 64 }; /* deeper brackets are text */

struct pf_name_open {
    size_t at; /* of the bracket */
    enum pf_name_bracket kind;
    unsigned level; /* how many of this kind are open, this one included */
    char sign;
};

struct pf_name_scan {
    const char *name;
    size_t bytes;
    size_t from, to; /* the current token */
    bool named;      /* an operator ends at `to`: what opens there are its arguments or parameters */
    unsigned depth;
    unsigned deeper; /* brackets within them that are text */
    struct pf_name_open open[PF_NAME_DEPTH];
    struct pf_name_open closed; /* of PF_NAME_CLOSE; open[depth] of before */
};

/* The end of a name such as "operator<" at `at`, whose signs are not brackets; NULL: it is not an operator. */
const char *pf_operator_end(const char *at);
void pf_name_scan_open(struct pf_name_scan *scan, const char *name, size_t bytes);
enum pf_name_token pf_name_scan_next(struct pf_name_scan *scan);

#endif
