/* SPDX-License-Identifier: MIT */
#include "analysis/name_short.h"

#include "base/name_scan.h"

enum { MAX_ARGUMENTS = 6 }; /* that templates with known defaults have, and one more */

/* What is left out of std's templates when it is the default: argument `index`; $1 is the first one. */
static const struct {
    const char *name;
    unsigned index;
    const char *is;
} defaults[] = {
    {"vector", 2, "std::allocator<$1>"},
    {"deque", 2, "std::allocator<$1>"},
    {"list", 2, "std::allocator<$1>"},
    {"forward_list", 2, "std::allocator<$1>"},
    {"_Vector_base", 2, "std::allocator<$1>"},
    {"_Deque_base", 2, "std::allocator<$1>"},
    {"_List_base", 2, "std::allocator<$1>"},
    {"set", 2, "std::less<$1>"},
    {"set", 3, "std::allocator<$1>"},
    {"multiset", 2, "std::less<$1>"},
    {"multiset", 3, "std::allocator<$1>"},
    {"map", 3, "std::less<$1>"},
    {"map", 4, "std::allocator<std::pair<$1 const, $2>>"},
    {"map", 4, "std::allocator<std::pair<const $1, $2>>"},
    {"multimap", 3, "std::less<$1>"},
    {"multimap", 4, "std::allocator<std::pair<$1 const, $2>>"},
    {"multimap", 4, "std::allocator<std::pair<const $1, $2>>"},
    {"_Rb_tree", 4, "std::less<$1>"},
    {"_Rb_tree", 5, "std::allocator<$2>"},
    {"unordered_set", 2, "std::hash<$1>"},
    {"unordered_set", 3, "std::equal_to<$1>"},
    {"unordered_set", 4, "std::allocator<$1>"},
    {"unordered_multiset", 2, "std::hash<$1>"},
    {"unordered_multiset", 3, "std::equal_to<$1>"},
    {"unordered_multiset", 4, "std::allocator<$1>"},
    {"unordered_map", 3, "std::hash<$1>"},
    {"unordered_map", 4, "std::equal_to<$1>"},
    {"unordered_map", 5, "std::allocator<std::pair<$1 const, $2>>"},
    {"unordered_map", 5, "std::allocator<std::pair<const $1, $2>>"},
    {"unordered_multimap", 3, "std::hash<$1>"},
    {"unordered_multimap", 4, "std::equal_to<$1>"},
    {"unordered_multimap", 5, "std::allocator<std::pair<$1 const, $2>>"},
    {"unordered_multimap", 5, "std::allocator<std::pair<const $1, $2>>"},
    {"unique_ptr", 2, "std::default_delete<$1>"},
    {"stack", 2, "std::deque<$1>"},
    {"queue", 2, "std::deque<$1>"},
    {"priority_queue", 2, "std::vector<$1>"},
    {"priority_queue", 3, "std::less<$1>"},
    {"basic_string", 2, "std::char_traits<$1>"},
    {"basic_string", 3, "std::allocator<$1>"},
    {"_String_base", 2, "std::allocator<$1>"},
    {"basic_string_view", 2, "std::char_traits<$1>"},
    {"basic_ios", 2, "std::char_traits<$1>"},
    {"basic_streambuf", 2, "std::char_traits<$1>"},
    {"basic_istream", 2, "std::char_traits<$1>"},
    {"basic_ostream", 2, "std::char_traits<$1>"},
    {"basic_iostream", 2, "std::char_traits<$1>"},
    {"basic_filebuf", 2, "std::char_traits<$1>"},
    {"basic_ifstream", 2, "std::char_traits<$1>"},
    {"basic_ofstream", 2, "std::char_traits<$1>"},
    {"basic_fstream", 2, "std::char_traits<$1>"},
    {"basic_stringbuf", 2, "std::char_traits<$1>"},
    {"basic_stringbuf", 3, "std::allocator<$1>"},
    {"basic_istringstream", 2, "std::char_traits<$1>"},
    {"basic_istringstream", 3, "std::allocator<$1>"},
    {"basic_ostringstream", 2, "std::char_traits<$1>"},
    {"basic_ostringstream", 3, "std::allocator<$1>"},
    {"basic_stringstream", 2, "std::char_traits<$1>"},
    {"basic_stringstream", 3, "std::allocator<$1>"},
    {"basic_regex", 2, "std::regex_traits<$1>"},
    {"istreambuf_iterator", 2, "std::char_traits<$1>"},
    {"ostreambuf_iterator", 2, "std::char_traits<$1>"},
};

/* Rust's, of any type. */
static const char *const always_defaults[] = {"alloc::alloc::Global", "std::hash::random::RandomState",
                                              "std::collections::hash::map::RandomState"};

/* std::basic_string<char> is std::string, and so for all of basic_*. */
static const struct {
    const char *argument, *prefix;
} characters[] = {{"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}};

static const struct {
    const char *name, *arguments, *is;
} types[] = {
    {"duration", "long, std::ratio<1l, 1000000000l>", "nanoseconds"},
    {"duration", "long, std::ratio<1l, 1000000l>", "microseconds"},
    {"duration", "long, std::ratio<1l, 1000l>", "milliseconds"},
    {"duration", "long, std::ratio<1l, 1l>", "seconds"},
};

/* Namespaces for versions of the ABI, which no source names. */
static const char *const inline_namespaces[] = {"__cxx11::", "__1::", "__ndk1::", "_V2::"};

/* Template arguments that are being written: positions in the output. */
struct group {
    size_t starts[MAX_ARGUMENTS + 1]; /* of each, after the comma */
    unsigned count;
};

struct shortener {
    struct pf_name_scan scan;
    struct group groups[PF_NAME_DEPTH];
    char *text;
    size_t used;
};

struct piece {
    const char *at;
    size_t bytes;
};

static bool is_text(struct piece piece, const char *text)
{
    return strlen(text) == piece.bytes && memcmp(piece.at, text, piece.bytes) == 0;
}

/* Argument `index`, from 1, of the last group. The last argument ends at the end of the output. */
static struct piece argument(const struct shortener *s, const struct group *group, unsigned index)
{
    size_t from = group->starts[index - 1], to = index < group->count ? group->starts[index] - 1 : s->used;
    while (from < to && s->text[from] == ' ')
        from++;
    while (from < to && s->text[to - 1] == ' ')
        to--;
    return (struct piece){s->text + from, to - from};
}

/* `pattern` with the arguments in place of $1 and $2. */
static bool agrees(const struct shortener *s, const struct group *group, struct piece piece, const char *pattern)
{
    for (; *pattern; pattern++) {
        struct piece wanted = {pattern, 1};
        if (*pattern == '$')
            wanted = argument(s, group, (unsigned)(*++pattern - '0'));
        if (piece.bytes < wanted.bytes || memcmp(piece.at, wanted.at, wanted.bytes) != 0)
            return false;
        piece.at += wanted.bytes;
        piece.bytes -= wanted.bytes;
    }
    return !piece.bytes;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name before the bracket, when it belongs to namespace `space`; else an empty one. */
static struct piece template_name(const struct shortener *s, const struct group *group, const char *space)
{
    const size_t bytes = strlen(space), end = group->starts[0] - 1;
    size_t from = end;
    while (from && is_word(s->text[from - 1]))
        from--;
    if (from < bytes || memcmp(s->text + from - bytes, space, bytes) != 0 ||
        (from > bytes && (is_word(s->text[from - bytes - 1]) || s->text[from - bytes - 1] == ':')))
        from = end;
    return (struct piece){s->text + from, end - from};
}

static bool is_default(const struct shortener *s, const struct group *group, struct piece name)
{
    const struct piece last = argument(s, group, group->count);
    for (size_t i = 0; i < PF_COUNT(always_defaults); i++)
        if (is_text(last, always_defaults[i]))
            return true;
    for (size_t i = 0; name.bytes && i < PF_COUNT(defaults); i++)
        if (defaults[i].index == group->count && is_text(name, defaults[i].name) &&
            agrees(s, group, last, defaults[i].is))
            return true;
    return false;
}

static void drop_defaults(struct shortener *s, struct group *group, struct piece name)
{
    while (group->count > 1 && group->count <= MAX_ARGUMENTS && is_default(s, group, name)) {
        group->count--;
        s->used = group->starts[group->count] - 1;
    }
}

/* The last `bytes` of the output become prefix and name, which are not longer. */
static void replace(struct shortener *s, const char *from, const char *prefix, struct piece name)
{
    char *at = s->text + (from - s->text);
    const size_t bytes = strlen(prefix);
    memmove(at + bytes, name.at, name.bytes);
    memcpy(at, prefix, bytes);
    s->used = (size_t)(at - s->text) + bytes + name.bytes;
}

static bool rename_basic(struct shortener *s, const struct group *group, struct piece name)
{
    static const char basic[] = "basic_";
    const size_t skipped = sizeof(basic) - 1;
    if (group->count != 1 || name.bytes <= skipped || memcmp(name.at, basic, skipped) != 0)
        return false;
    for (size_t i = 0; i < PF_COUNT(characters); i++)
        if (is_text(argument(s, group, 1), characters[i].argument)) {
            replace(s, name.at, characters[i].prefix, (struct piece){name.at + skipped, name.bytes - skipped});
            return true;
        }
    return false;
}

static bool rename_type(struct shortener *s, const struct group *group)
{
    const struct piece name = template_name(s, group, "std::chrono::");
    const size_t from = group->starts[0];
    for (size_t i = 0; name.bytes && i < PF_COUNT(types); i++)
        if (is_text(name, types[i].name) &&
            is_text((struct piece){s->text + from, s->used - from}, types[i].arguments)) {
            replace(s, name.at, "", (struct piece){types[i].is, strlen(types[i].is)});
            return true;
        }
    return false;
}

static void close_arguments(struct shortener *s, struct group *group)
{
    const struct piece name = template_name(s, group, "std::");
    const char *bracket = s->scan.name + s->scan.from;
    if (bracket[-1] == ' ' && s->scan.from >= 2 && bracket[-2] == '>') /* as in > > */
        s->used--;
    drop_defaults(s, group, name);
    if (!rename_basic(s, group, name) && !rename_type(s, group))
        s->text[s->used++] = '>';
}

static void drop_namespace(struct shortener *s)
{
    for (size_t i = 0; i < PF_COUNT(inline_namespaces); i++) {
        const size_t bytes = strlen(inline_namespaces[i]);
        if (s->used >= bytes + 2 && memcmp(s->text + s->used - bytes, inline_namespaces[i], bytes) == 0 &&
            memcmp(s->text + s->used - bytes - 2, "::", 2) == 0)
            s->used -= bytes;
    }
}

static void write_token(struct shortener *s)
{
    memcpy(s->text + s->used, s->scan.name + s->scan.from, s->scan.to - s->scan.from);
    s->used += s->scan.to - s->scan.from;
}

static bool is_angle(const struct pf_name_open *open)
{
    return open->sign == '<' && open->kind == PF_BRACKET_ARGUMENTS;
}

static void begin_argument(struct shortener *s, unsigned depth)
{
    struct group *group = &s->groups[depth - 1];
    if (group->count <= MAX_ARGUMENTS)
        group->starts[group->count++] = s->used;
}

static void open_group(struct shortener *s)
{
    s->groups[s->scan.depth - 1] = (struct group){.count = 0};
    begin_argument(s, s->scan.depth);
}

static void close_group(struct shortener *s)
{
    static const char tag[] = "[abi:";
    const size_t at = s->groups[s->scan.depth].starts[0] - 1;
    if (is_angle(&s->scan.closed)) {
        close_arguments(s, &s->groups[s->scan.depth]);
        return;
    }
    write_token(s);
    if (s->scan.closed.sign == '[' && s->used - at > sizeof(tag) && memcmp(s->text + at, tag, sizeof(tag) - 1) == 0)
        s->used = at;
}

size_t pf_name_shorten(const char *name, size_t bytes, char *text)
{
    struct shortener s = {.text = text};
    enum pf_name_token token;
    pf_name_scan_open(&s.scan, name, bytes);
    while ((token = pf_name_scan_next(&s.scan)) != PF_NAME_END) {
        if (token == PF_NAME_CLOSE) {
            close_group(&s);
            continue;
        }
        write_token(&s);
        if (token == PF_NAME_TEXT)
            drop_namespace(&s);
        else if (token == PF_NAME_OPEN)
            open_group(&s);
        else if (s.scan.depth)
            begin_argument(&s, s.scan.depth);
    }
    text[s.used] = 0;
    return s.used;
}
