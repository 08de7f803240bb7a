/* SPDX-License-Identifier: MIT */
/*
 * Files as C: `embed OUT.c FILE...` writes `const char pf_embedded_<extension>[]` for each extension, a string with a NUL; files
 * of one extension stand together and are joined. Of scripts and style sheets indents, comments and empty lines are left out
 * (the licence stays), and spaces between words and signs; names, lines, strings, templates and regular
 * expressions are as they were: what is sent out can be read.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *what, const char *file)
{
    fprintf(stderr, "embed: %s %s\n", what, file);
    exit(1);
}

static void put_byte(FILE *out, int c)
{
    if (c == '\n')
        fputs("\\n\"\n    \"", out);
    else if (c == '"' || c == '\\' || c == '?') /* no trigraphs */
        fprintf(out, "\\%c", c);
    else if (c < 0x20 || c > 0x7e)
        fprintf(out, "\\%03o", (unsigned)c);
    else
        fputc(c, out);
}

/* ---- pieces of a source, which begin at `at` ---- */

enum { MAX_TEMPLATES = 16 };

struct source {
    char *text;
    bool is_script;
    int braces[MAX_TEMPLATES]; /* that are open in the ${} of each template that is open */
    int templates;
    char *out; /* what is left of the text, as long as it at most */
    size_t used;
};

static size_t comment_length(const struct source *source, const char *at)
{
    if (strncmp(at, "/*", 2) == 0) {
        const char *end = strstr(at + 2, "*/");
        return end ? (size_t)(end + 2 - at) : strlen(at);
    }
    return source->is_script && strncmp(at, "//", 2) == 0 ? strcspn(at, "\n") : 0;
}

static size_t string_length(const char *at)
{
    size_t i = 1;
    while (at[i] && at[i] != at[0])
        i += at[i] == '\\' && at[i + 1] ? 2 : 1;
    return at[i] ? i + 1 : i;
}

/* Up to its end or the next ${ and with that; from after the ` or the } on. */
static size_t template_length(const char *at)
{
    size_t i = 0;
    while (at[i] && at[i] != '`' && strncmp(at + i, "${", 2) != 0)
        i += at[i] == '\\' && at[i + 1] ? 2 : 1;
    return i + (at[i] == '`' ? 1 : at[i] ? 2 : 0);
}

/* 0: the line ends first, so that it is a division. */
static size_t regexp_length(const char *at)
{
    bool in_class = false;
    size_t i = 1;
    for (; at[i] && at[i] != '\n' && (at[i] != '/' || in_class); i += at[i] == '\\' && at[i + 1] ? 2 : 1)
        in_class = at[i] == '[' || (in_class && at[i] != ']');
    return at[i] == '/' ? i + 1 : 0;
}

static bool ends_with_word(const struct source *source, size_t end, const char *word)
{
    const size_t length = strlen(word);
    const char *at = source->out + end - length;
    return end >= length && strncmp(at, word, length) == 0 &&
           (end == length || (!isalnum((unsigned char)at[-1]) && !strchr("_$.", at[-1])));
}

/* Whether what comes is a value: then a slash begins a regular expression, else it divides what was before. */
static bool expects_value(const struct source *source)
{
    static const char *const words[] = {"return", "typeof", "case", "in", "of", "else", "await", "throw", "void"};
    size_t end = source->used;
    while (end && isspace((unsigned char)source->out[end - 1]))
        end--;
    if (!end)
        return true;
    const char last = source->out[end - 1];
    if (!isalnum((unsigned char)last))
        return !strchr(")]\"'`_$", last);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (ends_with_word(source, end, words[i]))
            return true;
    return false;
}

/* ---- what stays of it ---- */

static void keep(struct source *source, const char **at, size_t length)
{
    memcpy(source->out + source->used, *at, length);
    source->used += length;
    *at += length;
}

static void keep_template(struct source *source, const char **at)
{
    keep(source, at, 1 + template_length(*at + 1));
    if (strncmp(source->out + source->used - 2, "${", 2) != 0)
        return;
    if (source->templates == MAX_TEMPLATES)
        fail("too many templates in each other:", *at);
    source->braces[source->templates++] = 0;
}

/* A brace; the one that ends ${} goes on with its template. */
static void keep_brace(struct source *source, const char **at)
{
    int *open = source->templates ? &source->braces[source->templates - 1] : NULL;
    if (open && **at == '}' && *open == 0) {
        source->templates--;
        keep_template(source, at);
        return;
    }
    if (open)
        *open += **at == '{' ? 1 : -1;
    keep(source, at, 1);
}

/* The end of a line, without spaces before it; not that of an empty line. */
static void end_line(struct source *source, const char **at)
{
    while (source->used && source->out[source->used - 1] == ' ')
        source->used--;
    if (source->used && source->out[source->used - 1] != '\n')
        source->out[source->used++] = '\n';
    *at += 1 + strspn(*at + 1, " ");
}

/* Whether a space separates no words. + and - are not among these characters: "a + +b" needs its spaces. */
static bool is_for_readers(const struct source *source, const char *at)
{
    const char *others = source->is_script ? "=<>*&|?:,;(){}[]!%" : "{},;";
    return *at == ' ' && source->used &&
           (strchr(others, source->out[source->used - 1]) || (at[1] && strchr(others, at[1])));
}

static void keep_piece(struct source *source, const char **at)
{
    const size_t comment = comment_length(source, *at);
    const size_t regexp =
        source->is_script && **at == '/' && !comment && expects_value(source) ? regexp_length(*at) : 0;
    const char *licence = comment ? strstr(*at, "SPDX") : NULL;
    if (comment && !(licence && licence < *at + comment))
        *at += comment;
    else if (comment || regexp)
        keep(source, at, comment ? comment : regexp);
    else if (**at == '"' || **at == '\'')
        keep(source, at, string_length(*at));
    else if (**at == '`')
        keep_template(source, at);
    else if (**at == '{' || **at == '}')
        keep_brace(source, at);
    else if (**at == '\n')
        end_line(source, at);
    else if (is_for_readers(source, *at))
        ++*at;
    else
        keep(source, at, 1);
}

static void strip(struct source *source)
{
    const char *at = source->text + strspn(source->text, " ");
    while (*at)
        keep_piece(source, &at);
    source->out[source->used] = 0;
}

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot)
        fail("no extension:", path);
    return dot + 1;
}

static char *read_all(const char *path)
{
    enum { MAX = 1 << 20 };
    FILE *in = fopen(path, "rb");
    char *text = malloc(MAX);
    if (!in || !text)
        fail("cannot read", path);
    const size_t length = fread(text, 1, MAX - 1, in);
    if (length == MAX - 1 || ferror(in) || fclose(in) != 0)
        fail("cannot read", path);
    text[length] = 0;
    return text;
}

static void embed(FILE *out, const char *path)
{
    const char *what = extension(path);
    struct source source = {.text = read_all(path), .is_script = strcmp(what, "js") == 0};
    const bool is_code = source.is_script || strcmp(what, "css") == 0;
    source.out = malloc(strlen(source.text) + 2);
    if (!source.out)
        fail("no memory for", path);
    if (is_code)
        strip(&source);
    if (source.templates)
        fail("a template does not end in", path);
    for (const char *at = is_code ? source.out : source.text; *at; at++)
        put_byte(out, (unsigned char)*at);
    free(source.out);
    free(source.text);
}

int main(int count, char **arguments)
{
    if (count < 3)
        fail("usage:", "embed OUT.c FILE...");
    FILE *out = fopen(arguments[1], "wb");
    if (!out)
        fail("cannot write", arguments[1]);
    fputs("/* SPDX-License-Identifier: MIT */\n/* Made by tools/embed.c. */\n", out);
    for (int i = 2; i < count; i++) {
        const char *what = extension(arguments[i]);
        if (i == 2 || strcmp(what, extension(arguments[i - 1])) != 0)
            fprintf(out, "\nextern const char pf_embedded_%s[];\nconst char pf_embedded_%s[] =\n    \"", what, what);
        embed(out, arguments[i]);
        if (i + 1 == count || strcmp(what, extension(arguments[i + 1])) != 0)
            fputs("\";\n", out);
    }
    if (ferror(out) || fclose(out) != 0)
        fail("cannot write", arguments[1]);
    return 0;
}
