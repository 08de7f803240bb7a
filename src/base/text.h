/* SPDX-License-Identifier: MIT */
/*
 * Text on its way out: a buffer before the caller's sink. Failure is sticky; look at it once, at the end or now and
 * then.
 */
#ifndef PF_BASE_TEXT_H
#define PF_BASE_TEXT_H

#include <stdarg.h>

#include "base/bytes.h"
#include "base/memory.h"

struct pf_text {
    const struct perfile_allocator *allocator;
    int (*write)(void *context, const void *data, size_t bytes); /* NULL: the text stays in the buffer, which grows */
    void *context;
    char *data;
    size_t used;
    size_t capacity;
    int failed;   /* 0, PERFILE_ERROR_WRITE or PERFILE_ERROR_MEMORY */
    bool escapes; /* pf_put_name escapes what cannot be printed */
};

/* `write` may be NULL. */
int pf_text_open(struct pf_text *text, const struct perfile_allocator *allocator,
                 int (*write)(void *context, const void *data, size_t bytes), void *context);
void pf_text_close(struct pf_text *text);
/* Writes the buffer to the sink, unless an allocation failed (pf_watch of its allocator); returns text->failed. */
int pf_text_flush(struct pf_text *text);
/* Slow path of pf_text_reserve. */
char *pf_text_grow(struct pf_text *text, size_t bytes);

/*
 * Reserves `bytes` bytes (at most 64 KiB) to be written directly; pass the end of what was written to pf_text_commit.
 * Never NULL: after a failure the bytes are discarded.
 */
static inline char *pf_text_reserve(struct pf_text *text, size_t bytes)
{
    if (PF_LIKELY(text->capacity - text->used >= bytes))
        return text->data + text->used;
    return pf_text_grow(text, bytes);
}

static inline void pf_text_commit(struct pf_text *text, const char *end)
{
    text->used = (size_t)(end - text->data);
}

void pf_put(struct pf_text *text, const void *data, size_t bytes);
/* The same; what is long goes to the sink as it is, without a copy. */
void pf_put_through(struct pf_text *text, const void *data, size_t bytes);
void pf_put_string(struct pf_text *text, const char *string);
/*
 * A name of the recording, or another text of it that stands in a line: of a text that escapes, bytes that cannot be
 * printed (base/escape.h) become \xNN, others stay. NULL, such as the module where nothing is mapped, is "[unknown]".
 */
void pf_put_name(struct pf_text *text, const char *name);
void pf_put_name_bytes(struct pf_text *text, const void *name, size_t bytes);
/* Makes the bytes after the first `start` printable, in a text without a sink. */
void pf_text_escape(struct pf_text *text, size_t start);
void pf_put_char(struct pf_text *text, char c);
void pf_put_unsigned(struct pf_text *text, uint64_t value);
/* For people: 21,947,370. */
void pf_put_grouped(struct pf_text *text, uint64_t value);
void pf_put_signed(struct pf_text *text, int64_t value);
/* Lower-case hexadecimal without 0x. */
void pf_put_hex(struct pf_text *text, uint64_t value);
/* Two lower-case digits a byte. */
void pf_put_hex_bytes(struct pf_text *text, const void *data, size_t bytes);
/* As printf's %*.2f. */
void pf_put_hundredths(struct pf_text *text, double value, unsigned width);
/* Nanoseconds as milliseconds, as printf's "%*.3f" has the double. */
void pf_put_ms(struct pf_text *text, uint64_t ns, unsigned width);
/* The shortest decimal that reads back as the same number; "null" for NaN and infinities, which JSON does not have. */
void pf_put_double(struct pf_text *text, double value);
/* printf into the text; for what is not hot. */
void pf_put_format(struct pf_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * A JSON string with its quotes. Bytes that are not UTF-8 become the four characters \\xNN; of UTF-8, what cannot be
 * printed becomes \uNNNN.
 */
void pf_put_json_string(struct pf_text *text, const void *data, size_t bytes);

/* Digits at `at`, the end is returned: at most 20. */
char *pf_digits(char *at, uint64_t value);
/* At most 16; as many bytes are written in any case. */
char *pf_hex_digits(char *at, uint64_t value);
/* Exactly `count` digits with leading zeros. */
char *pf_digits_fixed(char *at, uint64_t value, unsigned count);
char *pf_hex_digits_fixed(char *at, uint64_t value, unsigned count);
/* Two digits for each byte, such as of build ids. */
char *pf_hex_bytes(char *at, const void *data, size_t bytes);
unsigned pf_digit_count(uint64_t value);

/* CRC-32 (IEEE 802.3, as zlib's) of more bytes; start with 0. */
uint32_t pf_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
