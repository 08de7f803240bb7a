/* SPDX-License-Identifier: MIT */
/* Row macros for the fields of records.def that the includer does not want to see: all that it has not defined. */
#ifndef U8
#define U8(...)
#endif
#ifndef U16
#define U16(...)
#endif
#ifndef U32
#define U32(...)
#endif
#ifndef U64
#define U64(...)
#endif
#ifndef S32
#define S32(...)
#endif
#ifndef S64
#define S64(...)
#endif
#ifndef F64
#define F64(...)
#endif
#ifndef PAD
#define PAD(...)
#endif
#ifndef TEXT
#define TEXT(...)
#endif
#ifndef STRING
#define STRING(...)
#endif
#ifndef BYTES
#define BYTES(...)
#endif
#ifndef DATA
#define DATA(...)
#endif
#ifndef LIST
#define LIST(...)
#endif
#ifndef REST
#define REST(...)
#endif
#ifndef WHEN
#define WHEN(...)
#endif
#ifndef OTHERWISE
#define OTHERWISE()
#endif
#ifndef END_WHEN
#define END_WHEN()
#endif
#ifndef MORE
#define MORE()
#endif
#ifndef END_MORE
#define END_MORE()
#endif
#ifndef COMPUTED
#define COMPUTED(...)
#endif
#ifndef SKIP
#define SKIP()
#endif
#ifndef CUSTOM
#define CUSTOM(...)
#endif
