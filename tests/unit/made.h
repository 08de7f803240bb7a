/* SPDX-License-Identifier: MIT */
/* For tests of layouts: bytes made by hand in either byte order, and a visitor that writes JSON and counts. */
#ifndef PF_TESTS_MADE_H
#define PF_TESTS_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "format/emit.h"

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

struct made {
    uint8_t data[2048];
    size_t bytes;
    bool swap;
};

static inline void made_bytes(struct made *m, const void *data, size_t bytes)
{
    assert_true(bytes <= sizeof(m->data) - m->bytes);
    memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
}

static inline void made_fill(struct made *m, uint8_t byte, size_t count)
{
    while (count--)
        made_bytes(m, &byte, 1);
}

static inline void made_u16(struct made *m, uint16_t v)
{
    v = pf_load16(&v, m->swap);
    made_bytes(m, &v, sizeof(v));
}

static inline void made_u32(struct made *m, uint32_t v)
{
    v = pf_load32(&v, m->swap);
    made_bytes(m, &v, sizeof(v));
}

static inline void made_u64(struct made *m, uint64_t v)
{
    v = pf_load64(&v, m->swap);
    made_bytes(m, &v, sizeof(v));
}

/* With its NUL. */
static inline void made_name(struct made *m, const char *text)
{
    made_bytes(m, text, strlen(text) + 1);
}

/* perf's string, padded to a multiple of `align`. */
static inline void made_text(struct made *m, const char *text, size_t align)
{
    size_t length = strlen(text) + 1;
    size_t capacity = (length + align - 1) / align * align;
    made_u32(m, (uint32_t)capacity);
    made_name(m, text);
    made_fill(m, 0, capacity - length);
}

/* A block of exactly that size, so that a sanitizer sees every byte too far. Free it. */
static inline uint8_t *made_block(const void *data, size_t bytes)
{
    uint8_t *block = malloc(bytes ? bytes : 1);
    assert_non_null(block);
    memcpy(block, data, bytes);
    return block;
}

/* ---- the visitor ---------------------------------------------------------------------------------------------- */

struct shown {
    struct pf_text text;
    struct perfile_visitor visitor;
    struct pf_emit emit;
    bool comma;
    int depth;
    int values_at_top;
    int calls;
    int stop_at; /* the call that says stop; 0 = none */
    bool open_is_list[16];
};

static inline int shown_call(struct shown *s)
{
    assert_true(s->stop_at == 0 || s->calls < s->stop_at); /* nothing is called after a stop */
    return ++s->calls == s->stop_at;
}

static inline void shown_name(struct shown *s, const char *name)
{
    if (s->depth == 0)
        s->values_at_top++;
    else
        assert_true(s->open_is_list[s->depth - 1] == (name == NULL));
    if (s->comma)
        pf_put_char(&s->text, ',');
    if (name && s->depth) {
        pf_put_json_string(&s->text, name, strlen(name));
        pf_put_char(&s->text, ':');
    }
}

static inline int shown_begin(void *context, const char *name, bool list)
{
    struct shown *s = context;
    shown_name(s, name);
    pf_put_char(&s->text, list ? '[' : '{');
    assert_true((size_t)s->depth < PF_COUNT(s->open_is_list));
    s->open_is_list[s->depth++] = list;
    s->comma = false;
    return shown_call(s);
}

static inline int shown_end(void *context, bool list)
{
    struct shown *s = context;
    assert_true(s->depth > 0 && s->open_is_list[s->depth - 1] == list);
    s->depth--;
    s->comma = true;
    pf_put_char(&s->text, list ? ']' : '}');
    return shown_call(s);
}

static inline int shown_value(void *context, const struct perfile_value *v)
{
    struct shown *s = context;
    shown_name(s, v->name);
    s->comma = true;
    if (v->kind == PERFILE_VALUE_UNSIGNED)
        pf_put_unsigned(&s->text, v->number.u);
    else if (v->kind == PERFILE_VALUE_SIGNED)
        pf_put_signed(&s->text, v->number.s);
    else if (v->kind == PERFILE_VALUE_DOUBLE)
        pf_put_format(&s->text, "%g", v->number.d);
    else if (v->kind == PERFILE_VALUE_BOOL)
        pf_put_string(&s->text, v->number.u ? "true" : "false");
    else if (v->kind == PERFILE_VALUE_TEXT)
        pf_put_json_string(&s->text, v->data, v->bytes);
    else if (v->kind == PERFILE_VALUE_NULL)
        pf_put_string(&s->text, "null");
    else {
        assert_int_equal(v->kind, PERFILE_VALUE_BYTES);
        pf_put_char(&s->text, '<');
        pf_put_hex_bytes(&s->text, v->data, v->bytes);
        pf_put_char(&s->text, '>');
    }
    return shown_call(s);
}

static inline void shown_open(struct shown *s)
{
    *s = (struct shown){.stop_at = 0};
    s->visitor = (struct perfile_visitor){sizeof(s->visitor), s, shown_begin, shown_end, shown_value};
    s->emit.visitor = &s->visitor;
    assert_int_equal(pf_text_open(&s->text, pf_allocator_or_default(NULL), NULL, NULL), 0);
}

/* Everything was closed and there is one value; its JSON. */
static inline const char *shown_json(struct shown *s)
{
    assert_int_equal(s->depth, 0);
    assert_int_equal(s->values_at_top, 1);
    pf_put_char(&s->text, '\0');
    return s->text.data;
}

static inline void shown_close(struct shown *s)
{
    pf_text_close(&s->text);
}

#endif
