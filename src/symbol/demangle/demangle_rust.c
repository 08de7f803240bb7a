/* SPDX-License-Identifier: MIT */
/*
 * Names of Rust: the legacy scheme (a C++ nested name whose last part is a hash) and v0 (RFC 2603), printed as
 * rustc-demangle does in its alternate form.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "symbol/demangle/demangle_parts.h"

enum { DEEPEST = 500 }; /* as rustc-demangle */

static void put_text(struct pf_demangled *out, const char *text)
{
    pf_demangled_put(out, text, strlen(text));
}

static bool is_scalar(uint64_t code)
{
    return code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
}

static void put_code_point(struct pf_demangled *out, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        bytes[0] = (char)code;
        pf_demangled_put(out, bytes, 1);
        return;
    }
    unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[4] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(first[more] | code >> (6 * more));
    for (unsigned i = 1; i <= more; i++)
        bytes[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    pf_demangled_put(out, bytes, more + 1);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Writes what follows the mangled name: words that begin with a point are kept, but not ".llvm.0123ABCD" at the end,
 * which is without meaning. False: this is not a suffix, so the name is not mangled.
 */
static bool put_suffix(struct pf_demangled *out, const char *suffix, size_t bytes)
{
    static const char llvm[] = ".llvm.";
    if (bytes && *suffix != '.')
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (suffix[i] <= ' ' || suffix[i] > '~')
            return false;
    const char *cut = bytes ? strstr(suffix, llvm) : NULL;
    const char *number = cut ? cut + sizeof(llvm) - 1 : NULL;
    if (number && number[strspn(number, "0123456789ABCDEF@")] == '\0')
        bytes = (size_t)(cut - suffix);
    pf_demangled_put(out, suffix, bytes);
    return true;
}

/* ---- legacy --------------------------------------------------------------------------------------------------- */

/* The next part of the path in *part; false when there is none. */
static bool take_part(const char **at, const char *end, const char **part, size_t *bytes)
{
    size_t length = 0;
    const char *p = *at;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        length = length * 10 + (size_t)(*p - '0');
        if (length > (size_t)(end - p))
            return false;
    }
    if (!length || length > (size_t)(end - p))
        return false;
    *part = p;
    *bytes = length;
    *at = p + length;
    return true;
}

/* 'h' and 16 digits that look like chance: a C++ name like that is not to be expected. */
static bool is_hash(const char *part, size_t bytes)
{
    unsigned seen = 0;
    if (bytes != 17 || part[0] != 'h')
        return false;
    for (size_t i = 1; i < bytes; i++) {
        int digit = hex_digit(part[i]);
        if (digit < 0)
            return false;
        seen |= 1u << digit;
    }
    return __builtin_popcount(seen) >= 5;
}

/* "$LT$" and the like at `text`: the character and how many bytes it took; 0: not known. */
static size_t take_escape(const char *text, size_t bytes, uint32_t *code)
{
    static const struct {
        char name[4];
        char character;
    } names[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
    const char *end = bytes > 1 ? memchr(text + 1, '$', bytes - 1) : NULL;
    if (!end)
        return 0;
    size_t length = (size_t)(end - text) - 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strlen(names[i].name) == length && memcmp(names[i].name, text + 1, length) == 0) {
            *code = (uint8_t)names[i].character;
            return length + 2;
        }
    }
    if (length < 2 || length > 7 || text[1] != 'u')
        return 0;
    *code = 0;
    for (const char *p = text + 2; p < end; p++) {
        if (hex_digit(*p) < 0)
            return 0;
        *code = *code << 4 | (uint32_t)hex_digit(*p);
    }
    bool is_control = *code < 0x20 || (*code >= 0x7f && *code < 0xa0);
    return is_scalar(*code) && !is_control ? length + 2 : 0;
}

static void put_part(struct pf_demangled *out, const char *part, size_t bytes)
{
    const char *end = part + bytes;
    if (bytes >= 2 && part[0] == '_' && part[1] == '$')
        part++;
    while (part < end) {
        uint32_t code;
        size_t left = (size_t)(end - part), used;
        if (*part == '$') {
            used = take_escape(part, left, &code);
            if (!used) { /* nothing after it is an escape either, as in rustc-demangle */
                pf_demangled_put(out, part, left);
                return;
            }
            put_code_point(out, code);
        } else if (*part == '.') {
            used = left > 1 && part[1] == '.' ? 2 : 1;
            put_text(out, used == 2 ? "::" : ".");
        } else {
            for (used = 1; used < left && part[used] != '$' && part[used] != '.'; used++)
                continue;
            pf_demangled_put(out, part, used);
        }
        part += used;
    }
}

char *pf_demangle_rust_legacy(const struct perfile_allocator *allocator, const char *name, size_t bytes)
{
    const char *at = name + 3, *end = name + bytes, *part = NULL;
    size_t length = 0, parts = 0;
    if (bytes < 4 || memcmp(name, "_ZN", 3) != 0)
        return NULL;
    while (take_part(&at, end, &part, &length))
        parts++;
    if (at == end || *at != 'E' || parts < 2 || !is_hash(part, length))
        return NULL;
    struct pf_demangled out = {.allocator = allocator};
    const char *suffix = at + 1;
    at = name + 3;
    for (size_t i = 0; i + 1 < parts && take_part(&at, end, &part, &length); i++) {
        if (i)
            put_text(&out, "::");
        put_part(&out, part, length);
    }
    out.failed |= !put_suffix(&out, suffix, (size_t)(end - suffix));
    return pf_demangled_take(&out);
}

/* ---- v0: the parser ------------------------------------------------------------------------------------------- */

/* Reads and prints in one go; with `silent` it only reads, and does not follow references. */
struct v0 {
    const char *text; /* after "_R" */
    size_t bytes;
    size_t at;
    unsigned depth;
    uint64_t lifetimes; /* bound around here */
    unsigned silent;
    bool failed;
    struct pf_demangled out;
};

struct identifier {
    const char *plain;
    size_t plain_bytes;
    const char *punycode;
    size_t punycode_bytes;
};

static void fail(struct v0 *v)
{
    v->failed = true;
}

static char peek(const struct v0 *v)
{
    return v->at < v->bytes && !v->failed ? v->text[v->at] : '\0';
}

static char take(struct v0 *v)
{
    char c = peek(v);
    if (c)
        v->at++;
    else
        fail(v);
    return c;
}

static bool eat(struct v0 *v, char c)
{
    if (peek(v) != c)
        return false;
    v->at++;
    return true;
}

static bool enter(struct v0 *v)
{
    if (v->failed || ++v->depth > DEEPEST)
        fail(v);
    return !v->failed;
}

static void leave(struct v0 *v)
{
    v->depth--;
}

static void print_bytes(struct v0 *v, const char *text, size_t bytes)
{
    if (v->silent || v->failed)
        return;
    pf_demangled_put(&v->out, text, bytes);
    if (v->out.failed)
        fail(v);
}

static void print(struct v0 *v, const char *text)
{
    print_bytes(v, text, strlen(text));
}

static void print_number(struct v0 *v, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    print(v, digits);
}

static int digit_62(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

static uint64_t take_base_62(struct v0 *v)
{
    uint64_t number = 0;
    if (eat(v, '_'))
        return 0;
    while (!v->failed && !eat(v, '_')) {
        int digit = digit_62(take(v));
        if (digit < 0 || __builtin_mul_overflow(number, 62, &number) ||
            __builtin_add_overflow(number, (uint64_t)digit, &number))
            fail(v);
    }
    if (__builtin_add_overflow(number, 1, &number))
        fail(v);
    return number;
}

/* 0 when the tag is not there. */
static uint64_t take_optional_62(struct v0 *v, char tag)
{
    uint64_t number = eat(v, tag) ? take_base_62(v) + 1 : 0;
    return number;
}

static uint64_t take_disambiguator(struct v0 *v)
{
    return take_optional_62(v, 's');
}

static struct identifier take_identifier(struct v0 *v)
{
    struct identifier id = {NULL, 0, NULL, 0};
    bool is_punycode = eat(v, 'u');
    char c = take(v);
    size_t length = (size_t)(c - '0');
    if (c < '0' || c > '9') {
        fail(v);
        return id;
    }
    while (length && peek(v) >= '0' && peek(v) <= '9' && length <= v->bytes)
        length = length * 10 + (size_t)(take(v) - '0');
    eat(v, '_');
    if (v->failed || length > v->bytes - v->at) {
        fail(v);
        return id;
    }
    id.plain = v->text + v->at;
    id.plain_bytes = length;
    v->at += length;
    if (!is_punycode)
        return id;
    const char *last = length ? memrchr(id.plain, '_', length) : NULL;
    id.punycode = last ? last + 1 : id.plain;
    id.punycode_bytes = length - (size_t)(id.punycode - id.plain);
    id.plain_bytes = last ? (size_t)(last - id.plain) : 0;
    if (!id.punycode_bytes)
        fail(v);
    return id;
}

/* ---- v0: identifiers ------------------------------------------------------------------------------------------ */

enum { PUNYCODE_CAPACITY = 128 };

/* One number of the variable-length integers of RFC 3492; false at the end or when it is wrong. */
static bool take_delta(const char **at, const char *end, uint64_t bias, uint64_t *delta)
{
    uint64_t weight = 1, k = 0;
    *delta = 0;
    while (*at < end) {
        char c = *(*at)++;
        k += 36;
        uint64_t min = k <= bias + 1 ? 1 : k - bias > 26 ? 26 : k - bias, digit, part;
        if (c >= 'a' && c <= 'z')
            digit = (uint64_t)(c - 'a');
        else if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0') + 26;
        else
            return false;
        if (__builtin_mul_overflow(digit, weight, &part) || __builtin_add_overflow(*delta, part, delta))
            return false;
        if (digit < min)
            return true;
        if (__builtin_mul_overflow(weight, 36 - min, &weight))
            return false;
    }
    return false;
}

static uint64_t next_bias(uint64_t delta, size_t count, bool first)
{
    uint64_t k = 0;
    delta /= first ? 700 : 2;
    delta += delta / count;
    for (; delta > 35 * 26 / 2; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* How many code points it is, 0: it cannot be decoded. */
static size_t decode_punycode(const struct identifier *id, uint32_t codes[PUNYCODE_CAPACITY])
{
    const char *at = id->punycode, *end = at + id->punycode_bytes;
    uint64_t bias = 72, code = 0x80, position = 0, delta;
    size_t count = id->plain_bytes;
    if (count >= PUNYCODE_CAPACITY)
        return 0;
    for (size_t i = 0; i < count; i++)
        codes[i] = (uint8_t)id->plain[i];
    for (bool first = true; at < end; first = false) {
        if (count == PUNYCODE_CAPACITY || !take_delta(&at, end, bias, &delta) || delta > UINT32_MAX)
            return 0;
        count++;
        position += delta;
        code += position / count;
        position %= count;
        if (!is_scalar(code))
            return 0;
        memmove(codes + position + 1, codes + position, (count - 1 - (size_t)position) * sizeof(*codes));
        codes[position++] = (uint32_t)code;
        bias = next_bias(delta, count, first);
    }
    return count;
}

static void print_identifier(struct v0 *v, const struct identifier *id)
{
    uint32_t codes[PUNYCODE_CAPACITY];
    if (v->failed || v->silent)
        return;
    size_t count = id->punycode_bytes ? decode_punycode(id, codes) : 0;
    for (size_t i = 0; i < count; i++)
        put_code_point(&v->out, codes[i]);
    if (count)
        return;
    if (id->punycode_bytes)
        print(v, "punycode{");
    print_bytes(v, id->plain, id->plain_bytes);
    if (id->punycode_bytes) {
        print(v, id->plain_bytes ? "-" : "");
        print_bytes(v, id->punycode, id->punycode_bytes);
        print(v, "}");
    }
}

/* ---- v0: paths and types -------------------------------------------------------------------------------------- */

static void print_path(struct v0 *v, bool in_value);
static void print_type(struct v0 *v);
static void print_const(struct v0 *v, bool in_value);
static void print_const_inside(struct v0 *v);

/* Continues at the earlier position that is encoded here, after the tag; *back: where leave_reference returns to. */
static bool enter_reference(struct v0 *v, size_t *back)
{
    size_t start = v->at - 1;
    uint64_t position = take_base_62(v);
    if (position >= start)
        fail(v);
    if (v->failed || v->silent)
        return false;
    *back = v->at;
    v->at = (size_t)position;
    return enter(v);
}

static void leave_reference(struct v0 *v, size_t back)
{
    v->at = back;
    leave(v);
}

static size_t print_list(struct v0 *v, void (*print_item)(struct v0 *v), const char *separator)
{
    size_t count = 0;
    for (; !v->failed && !eat(v, 'E'); count++) {
        if (count)
            print(v, separator);
        print_item(v);
    }
    return count;
}

/* 0 is '_, others count from the innermost binder. */
static void print_lifetime(struct v0 *v, uint64_t index)
{
    if (v->silent)
        return; /* binders are not followed then */
    if (index > v->lifetimes) {
        fail(v);
        return;
    }
    uint64_t depth = v->lifetimes - index;
    char name[3] = {'\'', index ? (char)('a' + depth % 26) : '_', '\0'};
    if (index && depth >= 26)
        name[1] = '_';
    print(v, name);
    if (index && depth >= 26)
        print_number(v, depth);
}

/* "for<'a, 'b> "; how many were bound. */
static uint64_t enter_binder(struct v0 *v)
{
    uint64_t count = take_optional_62(v, 'G');
    if (!count || v->silent)
        return 0;
    print(v, "for<");
    uint64_t i = 0;
    for (; i < count && !v->failed; i++) {
        print(v, i ? ", " : "");
        v->lifetimes++;
        print_lifetime(v, 1);
    }
    print(v, "> ");
    return i;
}

static void print_nested(struct v0 *v, bool in_value)
{
    char space = take(v);
    bool is_special = space >= 'A' && space <= 'Z';
    if (!is_special && !(space >= 'a' && space <= 'z'))
        fail(v);
    print_path(v, in_value);
    uint64_t number = take_disambiguator(v);
    struct identifier id = take_identifier(v);
    bool has_name = id.plain_bytes || id.punycode_bytes;
    if (!is_special) {
        print(v, has_name ? "::" : "");
        print_identifier(v, &id);
        return;
    }
    print(v, "::{");
    if (space == 'C')
        print(v, "closure");
    else if (space == 'S')
        print(v, "shim");
    else
        print_bytes(v, &space, 1);
    print(v, has_name ? ":" : "");
    print_identifier(v, &id);
    print(v, "#");
    print_number(v, number);
    print(v, "}");
}

/* M: inherent impl, X: trait impl, Y: trait definition. */
static void print_impl(struct v0 *v, char tag)
{
    if (tag != 'Y') {
        take_disambiguator(v);
        v->silent++;
        print_path(v, false); /* where the impl stands */
        v->silent--;
    }
    print(v, "<");
    print_type(v);
    if (tag != 'M') {
        print(v, " as ");
        print_path(v, false);
    }
    print(v, ">");
}

static void print_generic_argument(struct v0 *v)
{
    if (eat(v, 'L'))
        print_lifetime(v, take_base_62(v));
    else if (eat(v, 'K'))
        print_const(v, false);
    else
        print_type(v);
}

static void print_path_body(struct v0 *v, bool in_value)
{
    size_t back;
    char tag = take(v);
    switch (tag) {
    case 'C': {
        take_disambiguator(v);
        struct identifier id = take_identifier(v);
        print_identifier(v, &id);
        break;
    }
    case 'N':
        print_nested(v, in_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        print_impl(v, tag);
        break;
    case 'I':
        print_path(v, in_value);
        print(v, in_value ? "::<" : "<");
        print_list(v, print_generic_argument, ", ");
        print(v, ">");
        break;
    case 'B':
        if (enter_reference(v, &back)) {
            print_path(v, in_value);
            leave_reference(v, back);
        }
        break;
    default:
        fail(v);
    }
}

static void print_path(struct v0 *v, bool in_value)
{
    if (!enter(v))
        return;
    print_path_body(v, in_value);
    leave(v);
}

static const char *basic_type(char tag)
{
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",  ['b' - 'a'] = "bool", ['c' - 'a'] = "char",  ['d' - 'a'] = "f64",   ['e' - 'a'] = "str",
        ['f' - 'a'] = "f32", ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
        ['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
        ['t' - 'a'] = "u16", ['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",   ['y' - 'a'] = "u64",
        ['z' - 'a'] = "!"};
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

/* extern "C", or another ABI, whose hyphens became underscores. */
static void print_abi(struct v0 *v)
{
    print(v, "extern \"");
    if (eat(v, 'C')) {
        print(v, "C");
    } else {
        struct identifier id = take_identifier(v);
        if (!id.plain_bytes || id.punycode_bytes)
            fail(v);
        for (size_t i = 0; i < id.plain_bytes && !v->failed; i++)
            print_bytes(v, id.plain[i] == '_' ? "-" : id.plain + i, 1);
    }
    print(v, "\" ");
}

static void print_function_type(struct v0 *v)
{
    uint64_t bound = enter_binder(v);
    if (eat(v, 'U'))
        print(v, "unsafe ");
    if (eat(v, 'K'))
        print_abi(v);
    print(v, "fn(");
    print_list(v, print_type, ", ");
    print(v, ")");
    if (!eat(v, 'u')) {
        print(v, " -> ");
        print_type(v);
    }
    v->lifetimes -= bound;
}

/* A path whose generics stay open, so that associated types can be put into them; true when they do. */
static bool print_open_path(struct v0 *v)
{
    size_t back;
    bool open = false;
    if (eat(v, 'B')) {
        if (enter_reference(v, &back)) {
            open = print_open_path(v);
            leave_reference(v, back);
        }
    } else if (eat(v, 'I')) {
        print_path(v, false);
        print(v, "<");
        print_list(v, print_generic_argument, ", ");
        open = true;
    } else {
        print_path(v, false);
    }
    return open;
}

static void print_dyn_trait(struct v0 *v)
{
    bool open = print_open_path(v);
    while (eat(v, 'p')) {
        print(v, open ? ", " : "<");
        open = true;
        struct identifier id = take_identifier(v);
        print_identifier(v, &id);
        print(v, " = ");
        print_type(v);
    }
    print(v, open ? ">" : "");
}

static void print_dyn(struct v0 *v)
{
    print(v, "dyn ");
    uint64_t bound = enter_binder(v);
    print_list(v, print_dyn_trait, " + ");
    v->lifetimes -= bound;
    if (!eat(v, 'L'))
        fail(v);
    uint64_t lifetime = take_base_62(v);
    if (lifetime) {
        print(v, " + ");
        print_lifetime(v, lifetime);
    }
}

static void print_borrow(struct v0 *v, char tag)
{
    print(v, "&");
    uint64_t lifetime = eat(v, 'L') ? take_base_62(v) : 0;
    if (lifetime) {
        print_lifetime(v, lifetime);
        print(v, " ");
    }
    print(v, tag == 'Q' ? "mut " : "");
    print_type(v);
}

static void print_array(struct v0 *v, char tag)
{
    print(v, "[");
    print_type(v);
    if (tag == 'A') {
        print(v, "; ");
        print_const(v, true);
    }
    print(v, "]");
}

static void print_tuple(struct v0 *v, void (*print_item)(struct v0 *v))
{
    print(v, "(");
    print(v, print_list(v, print_item, ", ") == 1 ? ",)" : ")");
}

static void print_type_body(struct v0 *v)
{
    size_t back;
    char tag = take(v);
    switch (tag) {
    case 'R':
    case 'Q':
        print_borrow(v, tag);
        break;
    case 'P':
    case 'O':
        print(v, tag == 'P' ? "*const " : "*mut ");
        print_type(v);
        break;
    case 'A':
    case 'S':
        print_array(v, tag);
        break;
    case 'T':
        print_tuple(v, print_type);
        break;
    case 'F':
        print_function_type(v);
        break;
    case 'D':
        print_dyn(v);
        break;
    case 'B':
        if (enter_reference(v, &back)) {
            print_type(v);
            leave_reference(v, back);
        }
        break;
    default:
        v->at -= v->failed ? 0 : 1;
        print_path(v, false);
    }
}

static void print_type(struct v0 *v)
{
    const char *basic = basic_type(peek(v));
    if (basic) {
        v->at++;
        print(v, basic);
        return;
    }
    if (!enter(v))
        return;
    print_type_body(v);
    leave(v);
}

/* ---- v0: constants -------------------------------------------------------------------------------------------- */

/* Digits up to '_', which is taken, too. */
static const char *take_hex(struct v0 *v, size_t *bytes)
{
    const char *start = v->text + v->at;
    char c;
    *bytes = 0;
    while ((c = take(v)) != '_') {
        if (hex_digit(c) < 0) {
            fail(v);
            return start;
        }
        ++*bytes;
    }
    return start;
}

/* False when it does not fit. */
static bool hex_value(const char *digits, size_t bytes, uint64_t *value)
{
    *value = 0;
    for (; bytes && *digits == '0'; bytes--)
        digits++;
    for (size_t i = 0; i < bytes; i++)
        *value = *value << 4 | (uint64_t)hex_digit(digits[i]);
    return bytes <= 16;
}

static void print_const_integer(struct v0 *v)
{
    size_t bytes;
    uint64_t value;
    const char *digits = take_hex(v, &bytes);
    if (v->failed)
        return;
    if (hex_value(digits, bytes, &value)) {
        print_number(v, value);
    } else {
        print(v, "0x");
        print_bytes(v, digits, bytes);
    }
}

static void print_const_bool(struct v0 *v)
{
    size_t bytes;
    uint64_t value;
    const char *digits = take_hex(v, &bytes);
    if (v->failed || !hex_value(digits, bytes, &value) || value > 1)
        fail(v);
    else
        print(v, value ? "true" : "false");
}

/* As Rust's escape_debug, but without its table of what cannot be printed. */
static void print_character(struct v0 *v, uint32_t code, char quote)
{
    static const char escaped[] = "0\0t\tn\nr\r\\\\";
    if (v->silent || v->failed)
        return;
    for (size_t i = 0; i + 1 < sizeof(escaped); i += 2) {
        if (code == (uint8_t)escaped[i + 1]) {
            print(v, "\\");
            print_bytes(v, escaped + i, 1);
            return;
        }
    }
    char text[16];
    if (code == (uint8_t)quote) {
        print(v, "\\");
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        snprintf(text, sizeof(text), "\\u{%" PRIx32 "}", code);
        print(v, text);
        return;
    }
    put_code_point(&v->out, code);
}

static void print_const_char(struct v0 *v)
{
    size_t bytes;
    uint64_t value;
    const char *digits = take_hex(v, &bytes);
    if (v->failed || !hex_value(digits, bytes, &value) || !is_scalar(value)) {
        fail(v);
        return;
    }
    print(v, "'");
    print_character(v, (uint32_t)value, '\'');
    print(v, "'");
}

/* The next character of UTF-8 that is written in hexadecimal. */
static uint32_t take_utf8(struct v0 *v, const char **at, const char *end)
{
    uint32_t bytes[4] = {0}, count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (end - *at < 2) {
            fail(v);
            return 0;
        }
        bytes[i] = (uint32_t)(hex_digit((*at)[0]) << 4 | hex_digit((*at)[1]));
        *at += 2;
        if (i == 0 && bytes[0] >= 0x80)
            count = bytes[0] >= 0xf0 && bytes[0] < 0xf8 ? 4 : bytes[0] >= 0xe0 ? 3 : bytes[0] >= 0xc2 ? 2 : 5;
        if (count > 4 || (i && (bytes[i] & 0xc0) != 0x80)) {
            fail(v);
            return 0;
        }
    }
    if (count == 1)
        return bytes[0];
    uint32_t code = bytes[0] & (0xffu >> (count + 1));
    for (uint32_t i = 1; i < count; i++)
        code = code << 6 | (bytes[i] & 0x3f);
    static const uint32_t min[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < min[count] || !is_scalar(code))
        fail(v);
    return code;
}

static void print_const_text(struct v0 *v)
{
    size_t bytes;
    const char *at = take_hex(v, &bytes), *end = at + bytes;
    print(v, "\"");
    while (!v->failed && at < end)
        print_character(v, take_utf8(v, &at, end), '"');
    print(v, "\"");
}

static void print_const_field(struct v0 *v)
{
    take_disambiguator(v);
    struct identifier id = take_identifier(v);
    print_identifier(v, &id);
    print(v, ": ");
    print_const(v, true);
}

/* A value of a struct or of a variant: U has no members, T unnamed ones, S named ones. */
static void print_const_adt(struct v0 *v)
{
    print_path(v, true);
    switch (take(v)) {
    case 'U':
        break;
    case 'T':
        print(v, "(");
        print_list(v, print_const_inside, ", ");
        print(v, ")");
        break;
    case 'S':
        print(v, " { ");
        print_list(v, print_const_field, ", ");
        print(v, " }");
        break;
    default:
        fail(v);
    }
}

static void print_const_expression(struct v0 *v, char tag)
{
    switch (tag) {
    case 'e': /* of type str, which only a dereference has */
        print(v, "*");
        print_const_text(v);
        break;
    case 'R':
    case 'Q':
        print(v, tag == 'R' ? "&" : "&mut ");
        print_const(v, true);
        break;
    case 'A':
        print(v, "[");
        print_list(v, print_const_inside, ", ");
        print(v, "]");
        break;
    case 'T':
        print_tuple(v, print_const_inside);
        break;
    case 'V':
        print_const_adt(v);
        break;
    default:
        fail(v);
    }
}

static void print_const_inside(struct v0 *v)
{
    print_const(v, true);
}

static void print_const_body(struct v0 *v, bool in_value)
{
    size_t back;
    char tag = take(v);
    if (tag == 'p') {
        print(v, "_");
    } else if (tag && strchr("htmyoj", tag)) {
        print_const_integer(v);
    } else if (tag && strchr("aslxni", tag)) {
        print(v, eat(v, 'n') ? "-" : "");
        print_const_integer(v);
    } else if (tag == 'b') {
        print_const_bool(v);
    } else if (tag == 'c') {
        print_const_char(v);
    } else if (tag == 'B') {
        if (enter_reference(v, &back)) {
            print_const(v, in_value);
            leave_reference(v, back);
        }
    } else if (tag == 'R' && eat(v, 'e')) {
        print_const_text(v);
    } else {
        print(v, in_value ? "" : "{");
        print_const_expression(v, tag);
        print(v, in_value ? "" : "}");
    }
}

static void print_const(struct v0 *v, bool in_value)
{
    if (!enter(v))
        return;
    print_const_body(v, in_value);
    leave(v);
}

char *pf_demangle_rust_v0(const struct perfile_allocator *allocator, const char *name, size_t bytes)
{
    struct v0 v = {.text = name + 2, .bytes = bytes - 2, .out = {.allocator = allocator}};
    if (bytes < 3 || name[2] < 'A' || name[2] > 'Z')
        return NULL;
    print_path(&v, true);
    if (peek(&v) >= 'A' && peek(&v) <= 'Z') { /* the crate that made the instance */
        v.silent++;
        print_path(&v, false);
    }
    v.out.failed |= v.failed || !put_suffix(&v.out, v.text + v.at, v.bytes - v.at);
    return pf_demangled_take(&v.out);
}
