/* SPDX-License-Identifier: MIT */
/* Print formats of tracepoints: from text to tree. */
#include <stdlib.h>

#include "analysis/trace/trace_format.h"

enum { DEPTH_MAX = 48, TEXT_MAX = 64 * 1024 };

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_OPERATOR };

/* Failure is sticky: from then on there is only the end of the text, and one node that is thrown away. */
struct parser {
    struct pf_arena *arena;
    const struct perfile_tracepoint *tracepoint;
    uint8_t long_bytes;
    const char *next; /* after the token */
    int kind;         /* enum token_kind */
    const char *text; /* of the token; strings without their quotes */
    size_t bytes;
    uint64_t number;
    unsigned depth;
    bool failed;
    struct pf_trace_node nothing;
};

static void fail(struct parser *parser)
{
    parser->failed = true;
    parser->kind = TOKEN_END;
    parser->next = "";
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void take_quoted(struct parser *parser, char quote)
{
    const char *end = parser->text + 1;
    while (*end && *end != quote)
        end += *end == '\\' && end[1] ? 2 : 1;
    if (!*end) {
        fail(parser);
        return;
    }
    parser->kind = TOKEN_STRING;
    parser->next = end + 1;
    parser->bytes = (size_t)(end - ++parser->text);
}

static void take_number(struct parser *parser)
{
    char *end;
    parser->number = strtoull(parser->text, &end, 0);
    while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
        end++;
    parser->next = end;
    parser->kind = TOKEN_NUMBER;
}

static void take_operator(struct parser *parser)
{
    static const char doubles[] = "<<>>==!=<=>=&&||->";
    parser->kind = TOKEN_OPERATOR;
    parser->bytes = 1;
    for (const char *p = doubles; *p; p += 2)
        if (parser->text[0] == p[0] && parser->text[1] == p[1])
            parser->bytes = 2;
    parser->next = parser->text + parser->bytes;
}

static void advance(struct parser *parser)
{
    parser->next += strspn(parser->next, " \t\r\n");
    parser->text = parser->next;
    parser->bytes = 0;
    char c = *parser->text;
    if (!c) {
        parser->kind = TOKEN_END;
    } else if (c == '"') {
        take_quoted(parser, c);
    } else if (c == '\'') {
        take_quoted(parser, c);
        parser->number = parser->bytes == 1 ? (unsigned char)*parser->text : 0;
        parser->kind = parser->failed ? TOKEN_END : TOKEN_NUMBER;
    } else if (c >= '0' && c <= '9') {
        take_number(parser);
    } else if (is_name_char(c)) {
        while (is_name_char(*parser->next))
            parser->next++;
        parser->bytes = (size_t)(parser->next - parser->text);
        parser->kind = TOKEN_NAME;
    } else {
        take_operator(parser);
    }
}

static bool at(const struct parser *parser, const char *text)
{
    return (parser->kind == TOKEN_OPERATOR || parser->kind == TOKEN_NAME) && strlen(text) == parser->bytes &&
           !memcmp(text, parser->text, parser->bytes);
}

static bool take(struct parser *parser, const char *text)
{
    if (!at(parser, text))
        return false;
    advance(parser);
    return true;
}

static void expect(struct parser *parser, const char *text)
{
    if (!take(parser, text))
        fail(parser);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static struct pf_trace_node *parse_choice(struct parser *parser);
static struct pf_trace_node *parse_unary(struct parser *parser);

static struct pf_trace_node *new_node(struct parser *parser, uint8_t kind)
{
    struct pf_trace_node *node = parser->failed ? NULL : pf_arena_new(parser->arena, sizeof(*node));
    if (!node) {
        fail(parser);
        node = &parser->nothing;
    }
    node->kind = kind;
    return node;
}

static struct pf_trace_node *parse_number(struct parser *parser)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_NUMBER);
    node->number = parser->number;
    advance(parser);
    return node;
}

/* Returns the character that an escape means; `c` follows the backslash. */
static char unescape(char c)
{
    static const char pairs[] = "n\nt\tr\r";
    for (const char *p = pairs; *p; p += 2)
        if (*p == c)
            return p[1];
    return c;
}

/* Strings that stand side by side are one; the result is in the arena, with its escapes resolved. */
static char *take_string(struct parser *parser)
{
    size_t capacity = 1;
    struct parser ahead = *parser;
    for (; ahead.kind == TOKEN_STRING; advance(&ahead))
        capacity += ahead.bytes;
    char *text = pf_arena_new(parser->arena, capacity), *end = text;
    if (!text || parser->kind != TOKEN_STRING) {
        fail(parser);
        return NULL;
    }
    for (; parser->kind == TOKEN_STRING; advance(parser)) {
        for (size_t i = 0; i < parser->bytes; i++) {
            bool escaped = parser->text[i] == '\\' && i + 1 < parser->bytes;
            i += escaped;
            *end++ = escaped ? unescape(parser->text[i]) : parser->text[i];
        }
    }
    return text;
}

static struct pf_trace_node *parse_string(struct parser *parser)
{
    char *text = take_string(parser);
    struct pf_trace_node *node = new_node(parser, PF_TRACE_STRING);
    node->text = text;
    return node;
}

static const struct perfile_tracepoint_field *find_field(const struct parser *parser)
{
    for (size_t i = 0; i < parser->tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &parser->tracepoint->fields[i];
        if (strlen(field->name) == parser->bytes && !memcmp(field->name, parser->text, parser->bytes))
            return field;
    }
    return NULL;
}

static struct pf_trace_node *take_field(struct parser *parser, uint8_t kind)
{
    const struct perfile_tracepoint_field *field = parser->kind == TOKEN_NAME ? find_field(parser) : NULL;
    if (!field)
        fail(parser);
    else
        advance(parser);
    struct pf_trace_node *node = new_node(parser, kind);
    node->field = field;
    return node;
}

/* ---- the kernel's helpers ---------------------------------------------------------------------------------------- */

/* { VALUE, "TEXT" } , ... up to the parenthesis. */
static void parse_entries(struct parser *parser, struct pf_trace_node *node)
{
    struct pf_trace_entry **end = &node->entries;
    while (!parser->failed && take(parser, ",")) {
        struct pf_trace_entry *entry = pf_arena_new(parser->arena, sizeof(*entry));
        if (!entry) {
            fail(parser);
            return;
        }
        if (!take(parser, "{"))
            break; /* a comma after the last one */
        struct pf_trace_node *value = parse_choice(parser);
        if (!pf_trace_constant(value, &entry->value))
            fail(parser);
        expect(parser, ",");
        if (parser->kind != TOKEN_STRING) { /* the end of the kernel's own list: { 0, ((void *)0) } */
            (void)parse_choice(parser);
            expect(parser, "}");
            continue;
        }
        entry->text = take_string(parser);
        expect(parser, "}");
        *end = entry;
        end = &entry->next;
    }
}

static struct pf_trace_node *parse_symbols(struct parser *parser)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_SYMBOL);
    node->a = parse_choice(parser);
    parse_entries(parser, node);
    return node;
}

static struct pf_trace_node *parse_flags(struct parser *parser)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_FLAGS);
    node->a = parse_choice(parser);
    expect(parser, ",");
    node->text = take_string(parser);
    parse_entries(parser, node);
    return node;
}

static struct pf_trace_node *parse_hex_bytes(struct parser *parser, const char *between)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_HEX);
    node->text = between;
    node->a = parse_choice(parser);
    expect(parser, ",");
    node->b = parse_choice(parser);
    return node;
}

static struct pf_trace_node *parse_hex(struct parser *parser)
{
    return parse_hex_bytes(parser, " ");
}

static struct pf_trace_node *parse_hex_str(struct parser *parser)
{
    return parse_hex_bytes(parser, "");
}

static struct pf_trace_node *parse_array(struct parser *parser)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_ARRAY);
    node->a = parse_choice(parser);
    expect(parser, ",");
    node->b = parse_choice(parser);
    expect(parser, ",");
    node->c = parse_choice(parser);
    return node;
}

/* __print_dynamic_array(FIELD, BYTES OF AN ELEMENT): as many as there are. */
static struct pf_trace_node *parse_array_value(struct parser *parser)
{
    struct pf_trace_node *node = new_node(parser, PF_TRACE_ARRAY);
    node->a = take_field(parser, PF_TRACE_DYNAMIC);
    expect(parser, ",");
    node->c = parse_choice(parser);
    return node;
}

static struct pf_trace_node *parse_dynamic(struct parser *parser)
{
    return take_field(parser, PF_TRACE_DYNAMIC);
}

static struct pf_trace_node *parse_length(struct parser *parser)
{
    return take_field(parser, PF_TRACE_LENGTH);
}

static struct pf_trace_node *parse_mask(struct parser *parser)
{
    return take_field(parser, PF_TRACE_MASK);
}

static struct pf_trace_node *parse_cpus(struct parser *parser)
{
    return take_field(parser, PF_TRACE_CPUS);
}

/* Parses the arguments of __builtin_expect; the likely value is ignored. */
static struct pf_trace_node *parse_expect(struct parser *parser)
{
    struct pf_trace_node *node = parse_choice(parser);
    expect(parser, ",");
    parse_choice(parser);
    return node;
}

static const struct {
    const char *name;
    struct pf_trace_node *(*parse)(struct parser *parser);
} helpers[] = {
    {"__print_symbolic", parse_symbols},
    {"__print_symbolic_u64", parse_symbols},
    {"__print_flags", parse_flags},
    {"__print_flags_u64", parse_flags},
    {"__print_hex", parse_hex},
    {"__print_hex_str", parse_hex_str},
    {"__print_array", parse_array},
    {"__print_dynamic_array", parse_array_value},
    {"__get_str", parse_dynamic},
    {"__get_rel_str", parse_dynamic},
    {"__get_dynamic_array", parse_dynamic},
    {"__get_rel_dynamic_array", parse_dynamic},
    {"__get_dynamic_array_len", parse_length},
    {"__get_rel_dynamic_array_len", parse_length},
    {"__get_bitmask", parse_mask},
    {"__get_rel_bitmask", parse_mask},
    {"__get_cpumask", parse_cpus},
    {"__get_rel_cpumask", parse_cpus},
    {"__builtin_expect", parse_expect},
};

static struct pf_trace_node *parse_name(struct parser *parser)
{
    struct pf_trace_node *node;
    if (take(parser, "REC")) {
        expect(parser, "->");
        return take_field(parser, PF_TRACE_FIELD);
    }
    for (size_t i = 0; i < PF_COUNT(helpers); i++) {
        if (!take(parser, helpers[i].name))
            continue;
        expect(parser, "(");
        node = helpers[i].parse(parser);
        expect(parser, ")");
        return node;
    }
    node = new_node(parser, PF_TRACE_NUMBER);
    node->is_unknown = true;
    node->number = UINT64_MAX; /* an enumerator that only the kernel knows: equals nothing, as in perf */
    advance(parser);
    if (at(parser, "("))
        fail(parser); /* a function of that kind */
    return node;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t bytes; /* 0: of a long */
    bool is_signed;
} types[] = {
    {"char", 1, true},  {"u8", 1, false},   {"s8", 1, true},      {"__u8", 1, false},   {"__s8", 1, true},
    {"short", 2, true}, {"u16", 2, false},  {"s16", 2, true},     {"__u16", 2, false},  {"__s16", 2, true},
    {"int", 4, true},   {"u32", 4, false},  {"s32", 4, true},     {"__u32", 4, false},  {"__s32", 4, true},
    {"long", 0, true},  {"u64", 8, false},  {"s64", 8, true},     {"__u64", 8, false},  {"__s64", 8, true},
    {"bool", 1, false}, {"pid_t", 4, true}, {"size_t", 0, false}, {"ssize_t", 0, true},
};

static void apply_type_name(struct parser *parser, struct pf_trace_node *cast, bool *is_unsigned)
{
    if (at(parser, "unsigned"))
        *is_unsigned = true;
    for (size_t i = 0; i < PF_COUNT(types); i++) {
        if (!at(parser, types[i].name))
            continue;
        bool second_long = !types[i].bytes && cast->bytes; /* "long long", and "int" after "long" */
        cast->bytes = second_long ? 8 : types[i].bytes ? types[i].bytes : parser->long_bytes;
        cast->is_signed = types[i].is_signed;
    }
}

/* Parses a type up to its ')': words and stars. An unknown name (gfp_t) leaves the value unchanged. */
static struct pf_trace_node *parse_cast(struct parser *parser)
{
    struct pf_trace_node *cast = new_node(parser, PF_TRACE_CAST);
    bool is_unsigned = false, is_pointer = false;
    while (!parser->failed && !at(parser, ")")) {
        if (parser->kind == TOKEN_NAME && !(cast->bytes && at(parser, "int")))
            apply_type_name(parser, cast, &is_unsigned);
        else if (at(parser, "*"))
            is_pointer = true;
        else if (parser->kind != TOKEN_NAME)
            fail(parser);
        advance(parser);
    }
    expect(parser, ")");
    if (is_unsigned && !cast->bytes)
        cast->bytes = 4;
    if (is_unsigned)
        cast->is_signed = false;
    cast->number = is_pointer; /* what it points to has the type, not the value */
    cast->a = parse_unary(parser);
    return cast;
}

/* Whether a '(' starts a cast: names and stars follow up to the next ')'. Fields and helpers are not types. */
static bool is_cast(const struct parser *parser)
{
    struct parser ahead = *parser;
    if (ahead.kind != TOKEN_NAME || at(&ahead, "REC"))
        return false;
    for (size_t i = 0; i < PF_COUNT(helpers); i++)
        if (at(&ahead, helpers[i].name))
            return false;
    while (ahead.kind == TOKEN_NAME || at(&ahead, "*"))
        advance(&ahead);
    return at(&ahead, ")");
}

static struct pf_trace_node *parse_primary(struct parser *parser)
{
    if (take(parser, "(")) {
        if (is_cast(parser))
            return parse_cast(parser);
        struct pf_trace_node *node = parse_choice(parser);
        expect(parser, ")");
        return node;
    }
    if (parser->kind == TOKEN_NUMBER)
        return parse_number(parser);
    if (parser->kind == TOKEN_STRING)
        return parse_string(parser);
    if (parser->kind == TOKEN_NAME)
        return parse_name(parser);
    fail(parser);
    return new_node(parser, PF_TRACE_NUMBER);
}

static struct pf_trace_node *parse_postfix(struct parser *parser)
{
    struct pf_trace_node *node = parse_primary(parser);
    while (!parser->failed && take(parser, "[")) {
        struct pf_trace_node *element = new_node(parser, PF_TRACE_ELEMENT);
        element->a = node;
        element->b = parse_choice(parser);
        expect(parser, "]");
        node = element;
    }
    return node;
}

static struct pf_trace_node *parse_unary(struct parser *parser)
{
    static const char operators[] = "!~-+";
    struct pf_trace_node *node;
    if (++parser->depth > DEPTH_MAX)
        fail(parser);
    if (parser->kind == TOKEN_OPERATOR && parser->bytes == 1 && strchr(operators, *parser->text)) {
        node = new_node(parser, PF_TRACE_UNARY);
        node->operator[0] = * parser->text;
        advance(parser);
        node->a = parse_unary(parser);
    } else {
        node = parse_postfix(parser);
    }
    parser->depth--;
    return node;
}

/* Returns how tightly a binary operator binds; 0 when the token is not a binary operator. */
static int binding(const struct parser *parser)
{
    static const char *const levels[] = {"||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"};
    if (parser->kind != TOKEN_OPERATOR)
        return 0;
    for (size_t i = 0; i < PF_COUNT(levels); i++) {
        const char *list = levels[i];
        while (*list) {
            size_t bytes = strcspn(list, " ");
            if (bytes == parser->bytes && !memcmp(list, parser->text, bytes))
                return (int)i + 1;
            list += bytes + (list[bytes] == ' ');
        }
    }
    return 0;
}

/* A name that only the kernel knows is 0 in a sum, as in perf: vmemmap_base + REC->pfn. */
static void discard_unknown(const struct pf_trace_node *sum)
{
    struct pf_trace_node *const sides[] = {sum->a, sum->b};
    for (size_t i = 0; i < PF_COUNT(sides); i++) {
        struct pf_trace_node *side = sides[i];
        while (side && side->kind == PF_TRACE_CAST)
            side = side->a;
        if (side && side->kind == PF_TRACE_NUMBER && side->is_unknown)
            side->number = 0;
    }
}

static struct pf_trace_node *parse_binary(struct parser *parser, int loosest)
{
    struct pf_trace_node *left = parse_unary(parser);
    int level;
    if (++parser->depth > DEPTH_MAX)
        fail(parser);
    unsigned length = 0;
    while (!parser->failed && (level = binding(parser)) >= loosest && level) {
        struct pf_trace_node *node = new_node(parser, PF_TRACE_BINARY);
        memcpy(node->operator, parser->text, parser->bytes);
        advance(parser);
        node->a = left;
        node->b = parse_binary(parser, level + 1);
        if (node->operator[0] == '+' || node->operator[0] == '-')
            discard_unknown(node);
        left = node;
        if (++length > DEPTH_MAX) /* a chain leans to the left, and is evaluated as deep as it is long */
            fail(parser);
    }
    parser->depth--;
    return left;
}

static struct pf_trace_node *parse_choice(struct parser *parser)
{
    if (++parser->depth > DEPTH_MAX)
        fail(parser);
    struct pf_trace_node *node = parse_binary(parser, 1);
    if (!parser->failed && take(parser, "?")) {
        struct pf_trace_node *choice = new_node(parser, PF_TRACE_CHOICE);
        choice->a = node;
        choice->b = parse_choice(parser);
        expect(parser, ":");
        choice->c = parse_choice(parser);
        node = choice;
    }
    parser->depth--;
    return node;
}

/* ---- the format string ------------------------------------------------------------------------------------------- */

static struct pf_trace_node *take_argument(struct parser *parser)
{
    expect(parser, ",");
    return parse_choice(parser);
}

/* A number or '*'; -1: neither. */
static int take_size(struct parser *parser, const char **at_text, struct pf_trace_node **node)
{
    int size = -1;
    if (**at_text == '*') {
        ++*at_text;
        *node = take_argument(parser);
    }
    for (; **at_text >= '0' && **at_text <= '9'; ++*at_text)
        size = (size < 0 ? 0 : size > 9999 ? 9999 : size) * 10 + (**at_text - '0');
    return size > 9999 ? 9999 : size;
}

static int8_t take_length(const char **at_text)
{
    int8_t size = 0;
    for (;; ++*at_text) {
        if (**at_text == 'h')
            size--;
        else if (**at_text == 'l')
            size++;
        else if (**at_text == 'L' || **at_text == 'q')
            size = 2;
        else if (**at_text == 'z' || **at_text == 'j' || **at_text == 't')
            size = 1;
        else
            break;
    }
    return size < -2 ? -2 : size > 2 ? 2 : size;
}

static void take_conversion(struct parser *parser, struct pf_trace_piece *piece, const char **at_text)
{
    size_t flags = strspn(*at_text, "-+ #0");
    memcpy(piece->flags, *at_text, pf_min(flags, sizeof(piece->flags) - 1));
    *at_text += flags;
    piece->width = take_size(parser, at_text, &piece->width_node);
    if (**at_text == '.') {
        ++*at_text;
        piece->precision = take_size(parser, at_text, &piece->precision_node);
        if (piece->precision < 0 && !piece->precision_node)
            piece->precision = 0;
    }
    piece->size = take_length(at_text);
    piece->conversion = **at_text;
    if (!piece->conversion || !strchr("diuxXocsp", piece->conversion)) {
        fail(parser);
        return;
    }
    ++*at_text;
    if (piece->conversion == 'p') { /* what may follow is letters and digits, and belongs to it */
        size_t bytes = 0;
        for (; is_name_char(**at_text) && **at_text != '_'; ++*at_text)
            if (bytes + 1 < sizeof(piece->pointer))
                piece->pointer[bytes++] = **at_text;
    }
    piece->value = take_argument(parser);
}

/* "%%" is text; everything else up to the next '%' too. */
static struct pf_trace_piece *take_piece(struct parser *parser, const char **at_text)
{
    struct pf_trace_piece *piece = pf_arena_new(parser->arena, sizeof(*piece));
    if (!piece) {
        fail(parser);
        return NULL;
    }
    piece->width = piece->precision = -1;
    piece->text = *at_text;
    const char *percent = strchr(*at_text, '%');
    bool literal = percent && percent[1] == '%';
    piece->text_bytes = percent ? (size_t)(percent - *at_text) + literal : strlen(*at_text);
    *at_text += piece->text_bytes + (percent != NULL);
    if (percent && !literal)
        take_conversion(parser, piece, at_text);
    return piece;
}

struct pf_trace_format *pf_trace_parse(struct pf_arena *arena, const struct perfile_tracing *tracing,
                                       const struct perfile_tracepoint *tracepoint)
{
    struct parser parser = {.arena = arena,
                            .tracepoint = tracepoint,
                            .long_bytes = tracing->long_bytes == 4 ? 4 : 8,
                            .next = tracepoint->print_fmt};
    struct pf_trace_format *format = pf_arena_new(arena, sizeof(*format));
    if (!format || !tracepoint->print_fmt || strlen(tracepoint->print_fmt) > TEXT_MAX)
        return NULL;
    format->tracing = tracing;
    advance(&parser);
    const char *at_text = take_string(&parser);
    struct pf_trace_piece **end = &format->pieces;
    while (!parser.failed && *at_text) {
        *end = take_piece(&parser, &at_text);
        if (*end)
            end = &(*end)->next;
    }
    return parser.failed || parser.kind != TOKEN_END ? NULL : format;
}
