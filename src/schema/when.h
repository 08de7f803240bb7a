/* SPDX-License-Identifier: MIT */
/* Row macros of the schema for code that does what rows say under their conditions. undef.h takes them back. */
#define WHEN(condition) if (condition) {
#define OTHERWISE()                                                                                                    \
    }                                                                                                                  \
    else                                                                                                               \
    {
#define END_WHEN() }
#define END_MORE() }
