/* SPDX-License-Identifier: MIT */
/* Print formats of tracepoints: from tree and data to text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/trace/trace_format.h"

struct printer {
    const struct perfile_tracing *tracing;
    const struct perfile_bytes *raw; /* NULL: constants only */
    bool swap;
    bool failed; /* a field where none can be */
    struct pf_text *scratch;
};

static uint64_t evaluate(struct printer *printer, const struct pf_trace_node *node);

/* ---- data -------------------------------------------------------------------------------------------------------- */

const struct perfile_tracepoint_field *pf_trace_field(const struct perfile_tracepoint *tracepoint, const char *name)
{
    for (size_t i = 0; i < tracepoint->field_count; i++)
        if (strcmp(tracepoint->fields[i].name, name) == 0)
            return &tracepoint->fields[i];
    return NULL;
}

bool pf_trace_bytes(const struct perfile_tracepoint_field *field, const struct perfile_bytes *raw, bool swap,
                    struct perfile_bytes *bytes)
{
    if (field->offset > raw->bytes || field->bytes > raw->bytes - field->offset)
        return false;
    *bytes = (struct perfile_bytes){raw->data + field->offset, field->bytes};
    if (!field->is_dynamic && !field->is_relative)
        return true;
    if (field->bytes != 4)
        return false;
    uint32_t word = pf_load32(bytes->data, swap); /* length and offset in one */
    uint64_t offset = word & 0xffff;
    if (field->is_relative)
        offset += field->offset + field->bytes;
    if (offset > raw->bytes || word >> 16 > raw->bytes - offset)
        return false;
    *bytes = (struct perfile_bytes){raw->data + offset, word >> 16};
    return true;
}

static uint64_t narrow(uint64_t value, uint64_t bytes, bool is_signed)
{
    if (!bytes || bytes >= 8)
        return value;
    unsigned unused = 64 - (unsigned)bytes * 8;
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

uint64_t pf_trace_load(const uint8_t *data, uint64_t bytes, bool is_signed, bool swap)
{
    switch (bytes) {
    case 1:
        return narrow(*data, 1, is_signed);
    case 2:
        return narrow(pf_load16(data, swap), 2, is_signed);
    case 4:
        return narrow(pf_load32(data, swap), 4, is_signed);
    case 8:
        return pf_load64(data, swap);
    default:
        return 0;
    }
}

/* The bytes that an expression stands for: a field's, those of a dynamic array; empty when it is a number. */
static struct perfile_bytes find_bytes(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = {NULL, 0};
    while (node->kind == PF_TRACE_CAST)
        node = node->a;
    if (!node->field || !printer->raw || !pf_trace_bytes(node->field, printer->raw, printer->swap, &bytes))
        return (struct perfile_bytes){NULL, 0};
    return bytes;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t evaluate_field(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = find_bytes(printer, node);
    printer->failed |= !printer->raw;
    return pf_trace_load(bytes.data, bytes.bytes, node->field->is_signed, printer->swap);
}

static uint64_t evaluate_unary(struct printer *printer, const struct pf_trace_node *node)
{
    uint64_t value = evaluate(printer, node->a);
    switch (*node->operator) {
    case '!':
        return !value;
    case '~':
        return ~value;
    case '-':
        return -value;
    default:
        return value;
    }
}

static uint64_t divide(uint64_t left, uint64_t right, bool remainder)
{
    if (!right)
        return 0;
    return remainder ? left % right : left / right;
}

static uint64_t shift(uint64_t left, uint64_t right, bool to_left)
{
    if (right > 63)
        return 0;
    return to_left ? left << right : left >> right;
}

/* All arithmetic has 64 bits. Only comparisons are signed, because most values are signed. */
static uint64_t evaluate_binary(struct printer *printer, const struct pf_trace_node *node)
{
    uint64_t a = evaluate(printer, node->a), b = evaluate(printer, node->b);
    char second = node->operator[1];
    switch (*node->operator) {
    case '|':
        return second ? a || b : a | b;
    case '&':
        return second ? a && b : a & b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return second == '<' ? shift(a, b, true) : second ? (int64_t)a <= (int64_t)b : (int64_t)a < (int64_t)b;
    case '>':
        return second == '>' ? shift(a, b, false) : second ? (int64_t)a >= (int64_t)b : (int64_t)a > (int64_t)b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return divide(a, b, *node->operator== '%');
    }
}

static uint64_t evaluate_element(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = find_bytes(printer, node->a);
    const struct pf_trace_node *array = node->a;
    uint64_t size = 0, index = evaluate(printer, node->b);
    bool is_signed = false;
    for (; array->kind == PF_TRACE_CAST; array = array->a) {
        size = size ? size : array->bytes;
        is_signed |= array->is_signed;
    }
    if (!size && array->field) {
        size = array->field->element_bytes;
        is_signed = array->field->is_signed;
    }
    if (!size || index >= bytes.bytes / size)
        return 0;
    return pf_trace_load(bytes.data + index * size, size, is_signed, printer->swap);
}

static uint64_t evaluate(struct printer *printer, const struct pf_trace_node *node)
{
    switch (node->kind) {
    case PF_TRACE_NUMBER:
        return node->number;
    case PF_TRACE_FIELD:
        return evaluate_field(printer, node);
    case PF_TRACE_UNARY:
        return evaluate_unary(printer, node);
    case PF_TRACE_BINARY:
        return evaluate_binary(printer, node);
    case PF_TRACE_CHOICE:
        return evaluate(printer, evaluate(printer, node->a) ? node->b : node->c);
    case PF_TRACE_CAST:
        return node->number ? evaluate(printer, node->a)
                            : narrow(evaluate(printer, node->a), node->bytes, node->is_signed);
    case PF_TRACE_ELEMENT:
        return evaluate_element(printer, node);
    case PF_TRACE_LENGTH:
        return find_bytes(printer, node).bytes;
    default:
        printer->failed |= !printer->raw;
        return 0;
    }
}

bool pf_trace_constant(const struct pf_trace_node *node, uint64_t *value)
{
    struct printer printer = {.raw = NULL};
    *value = evaluate(&printer, node);
    return !printer.failed;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* The kernel's string at an address, if the recorder wrote it down: lines like 0xffffffff828195af : "rcu_preempt" */
static struct perfile_bytes find_kernel_string(const struct printer *printer, uint64_t address)
{
    const char *line = printer->tracing->printk_formats;
    const char *end = line + printer->tracing->printk_formats_bytes;
    char prefix[32];
    size_t bytes = (size_t)snprintf(prefix, sizeof(prefix), "0x%" PRIx64 " : \"", address);
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((next ? next : end) - line);
        if (length > bytes && !memcmp(line, prefix, bytes) && line[length - 1] == '"')
            return (struct perfile_bytes){(const uint8_t *)line + bytes, length - bytes - 1};
        line += length + 1;
    }
    return (struct perfile_bytes){NULL, 0};
}

static void put_symbol(struct printer *printer, const struct pf_trace_node *node)
{
    uint64_t value = evaluate(printer, node->a);
    for (const struct pf_trace_entry *entry = node->entries; entry; entry = entry->next) {
        if (entry->value == value) {
            pf_put_string(printer->scratch, entry->text);
            return;
        }
    }
    pf_put_format(printer->scratch, "0x%" PRIx64, value);
}

static void put_flags(struct printer *printer, const struct pf_trace_node *node)
{
    uint64_t value = evaluate(printer, node->a);
    const char *between = "";
    for (const struct pf_trace_entry *entry = node->entries; entry; entry = entry->next) {
        if (!value && !entry->value) {
            pf_put_string(printer->scratch, entry->text);
            return;
        }
        if (!entry->value || (value & entry->value) != entry->value)
            continue;
        pf_put_string(printer->scratch, between);
        pf_put_string(printer->scratch, entry->text);
        between = node->text;
        value &= ~entry->value;
    }
    if (value) {
        pf_put_string(printer->scratch, between);
        pf_put_format(printer->scratch, "0x%" PRIx64, value);
    }
}

static void put_hex(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = find_bytes(printer, node->a);
    uint64_t count = pf_min(evaluate(printer, node->b), bytes.bytes);
    for (uint64_t i = 0; i < count; i++)
        pf_put_format(printer->scratch, "%s%02x", i ? node->text : "", bytes.data[i]);
}

static void put_array(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = find_bytes(printer, node->a);
    uint64_t size = evaluate(printer, node->c);
    uint64_t count = size ? bytes.bytes / size : 0;
    if (node->b)
        count = pf_min(count, evaluate(printer, node->b));
    pf_put_char(printer->scratch, '{');
    for (uint64_t i = 0; i < count; i++)
        pf_put_format(printer->scratch, "%s0x%" PRIx64, i ? "," : "",
                      pf_trace_load(bytes.data + i * size, size, false, printer->swap));
    pf_put_char(printer->scratch, '}');
}

/* Byte `index` of a bitmap, which is made of the recording machine's words: 0 has the lowest bits. */
static uint8_t mask_byte(const struct printer *printer, const struct perfile_bytes *bytes, uint64_t index)
{
    uint64_t word = printer->tracing->long_bytes == 4 ? 4 : 8;
    if (printer->tracing->big_endian)
        index = index / word * word + (word - 1 - index % word);
    return index < bytes->bytes ? bytes->data[index] : 0;
}

static void put_mask(struct printer *printer, const struct pf_trace_node *node)
{
    struct perfile_bytes bytes = find_bytes(printer, node);
    for (uint64_t i = bytes.bytes; i-- > 0;)
        pf_put_format(printer->scratch, "%02x%s", mask_byte(printer, &bytes, i), i && i % 4 == 0 ? "," : "");
}

/* "0-3,7" of the lowest `most` bits. */
static void put_bit_list(struct printer *printer, const struct pf_trace_node *node, uint64_t max)
{
    struct perfile_bytes bytes = find_bytes(printer, node);
    const char *between = "";
    uint64_t first = 0, bits = pf_min(bytes.bytes * 8, max);
    for (uint64_t bit = 0; bit <= bits; bit++) {
        if (bit < bits && mask_byte(printer, &bytes, bit / 8) >> bit % 8 & 1)
            continue;
        if (bit > first) {
            pf_put_format(printer->scratch, "%s%" PRIu64, between, first);
            between = ",";
        }
        if (bit > first + 1)
            pf_put_format(printer->scratch, "-%" PRIu64, bit - 1);
        first = bit + 1;
    }
}

static void put_cpus(struct printer *printer, const struct pf_trace_node *node)
{
    put_bit_list(printer, node, UINT64_MAX);
}

/* The text of a %s; what has to be put together lies in the scratch text. */
static struct perfile_bytes find_text(struct printer *printer, const struct pf_trace_node *node)
{
    static void (*const compose[])(struct printer * printer, const struct pf_trace_node *node) = {
        [PF_TRACE_SYMBOL] = put_symbol, [PF_TRACE_FLAGS] = put_flags, [PF_TRACE_HEX] = put_hex,
        [PF_TRACE_ARRAY] = put_array,   [PF_TRACE_MASK] = put_mask,   [PF_TRACE_CPUS] = put_cpus};
    while (node->kind == PF_TRACE_CAST || node->kind == PF_TRACE_CHOICE)
        node = node->kind == PF_TRACE_CAST ? node->a : evaluate(printer, node->a) ? node->b : node->c;
    if (node->kind == PF_TRACE_STRING)
        return (struct perfile_bytes){(const uint8_t *)node->text, strlen(node->text)};
    if (node->kind == PF_TRACE_DYNAMIC || (node->kind == PF_TRACE_FIELD && node->field->is_array)) {
        struct perfile_bytes bytes = find_bytes(printer, node);
        bytes.bytes = bytes.bytes ? strnlen((const char *)bytes.data, (size_t)bytes.bytes) : 0;
        return bytes;
    }
    printer->scratch->used = 0;
    if (node->kind < PF_COUNT(compose) && compose[node->kind]) {
        compose[node->kind](printer, node);
    } else { /* an address of the kernel's memory */
        uint64_t address = evaluate(printer, node);
        struct perfile_bytes found = find_kernel_string(printer, address);
        if (found.data)
            return found;
        pf_put_hex(printer->scratch, address);
    }
    return (struct perfile_bytes){(const uint8_t *)printer->scratch->data, printer->scratch->used};
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

static void put_spaces(struct pf_text *out, uint64_t count)
{
    while (count-- > 0)
        pf_put_char(out, ' ');
}

static void put_text(struct printer *printer, const struct pf_trace_piece *piece, int width, int precision,
                     struct pf_text *out)
{
    struct perfile_bytes text = find_text(printer, piece->value);
    uint64_t bytes = precision >= 0 ? pf_min((uint64_t)precision, text.bytes) : text.bytes;
    uint64_t pad = width > 0 && (uint64_t)width > bytes ? (uint64_t)width - bytes : 0;
    bool left = strchr(piece->flags, '-');
    put_spaces(out, left ? 0 : pad);
    pf_put(out, text.data, (size_t)bytes);
    put_spaces(out, left ? pad : 0);
}

/* What most formats ask for. False: it is something else. */
static bool put_plain_number(const struct pf_trace_piece *piece, uint64_t value, struct pf_text *out)
{
    switch (piece->conversion) {
    case 'd':
    case 'i':
        pf_put_signed(out, (int64_t)value);
        return true;
    case 'u':
        pf_put_unsigned(out, value);
        return true;
    case 'x':
        pf_put_hex(out, value);
        return true;
    default:
        return false;
    }
}

static void put_number(struct printer *printer, const struct pf_trace_piece *piece, int width, int precision,
                       struct pf_text *out)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 8};
    const bool is_signed = piece->conversion == 'd' || piece->conversion == 'i';
    const uint64_t value = narrow(evaluate(printer, piece->value), sizes[piece->size + 2], is_signed);
    if (!*piece->flags && width < 0 && precision < 0 && put_plain_number(piece, value, out))
        return;
    char spec[40];
    size_t used = (size_t)snprintf(spec, sizeof(spec), "%%%s", piece->flags);
    if (width >= 0)
        used += (size_t)snprintf(spec + used, sizeof(spec) - used, "%d", width);
    if (precision >= 0)
        used += (size_t)snprintf(spec + used, sizeof(spec) - used, ".%d", precision);
    snprintf(spec + used, sizeof(spec) - used, "ll%c", piece->conversion);
    pf_put_format(out, spec, (long long)value);
}

/* %*pbl is a bitmap of so many bits. */
static void put_pointer(struct printer *printer, const struct pf_trace_piece *piece, int width, struct pf_text *out)
{
    if (!strcmp(piece->pointer, "bl")) {
        printer->scratch->used = 0;
        put_bit_list(printer, piece->value, width < 0 ? 0 : (uint64_t)width);
        pf_put(out, printer->scratch->data, printer->scratch->used);
        return;
    }
    uint64_t value = evaluate(printer, piece->value);
    if (!value && !*piece->pointer)
        pf_put_string(out, "(nil)");
    else
        pf_put_format(out, "0x%" PRIx64, value);
}

static int find_size(struct printer *printer, int fixed, const struct pf_trace_node *node)
{
    uint64_t value = node ? evaluate(printer, node) : 0;
    return node ? (int)pf_min(value, 9999) : fixed;
}

static void put_conversion(struct printer *printer, const struct pf_trace_piece *piece, struct pf_text *out)
{
    int width = find_size(printer, piece->width, piece->width_node);
    int precision = find_size(printer, piece->precision, piece->precision_node);
    if (piece->conversion == 's')
        put_text(printer, piece, width, precision, out);
    else if (piece->conversion == 'p')
        put_pointer(printer, piece, width, out);
    else if (piece->conversion == 'c')
        pf_put_char(out, (char)evaluate(printer, piece->value));
    else
        put_number(printer, piece, width, precision, out);
}

void pf_trace_print(const struct pf_trace_format *format, const struct perfile_bytes *raw, bool swap,
                    struct pf_text *scratch, struct pf_text *out)
{
    struct printer printer = {.tracing = format->tracing, .raw = raw, .swap = swap, .scratch = scratch};
    for (const struct pf_trace_piece *piece = format->pieces; piece; piece = piece->next) {
        pf_put(out, piece->text, piece->text_bytes);
        if (piece->conversion)
            put_conversion(&printer, piece, out);
    }
}
