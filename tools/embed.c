/* SPDX-License-Identifier: MIT */
/*
 * Files as C: `embed OUT.c FILE...` writes `const char pf_viewer_<extension>[]` for each extension, a string with a NUL; files
 * of one extension stand together and are joined. Indents and lines that are one comment stay behind, all else is as it
 * was: what is sent out can be read.
 */
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

/* A line without its indent; nothing when it is a comment, other than the licence. */
static void put_line(FILE *out, const char *line)
{
    line += strspn(line, " ");
    size_t length = strlen(line);
    if (strncmp(line, "/*", 2) == 0 && length > 4 && strcmp(line + length - 3, "*/\n") == 0 && !strstr(line, "SPDX"))
        return;
    for (size_t i = 0; i < length; i++)
        put_byte(out, (unsigned char)line[i]);
}

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot)
        fail("no extension:", path);
    return dot + 1;
}

static void embed(FILE *out, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        fail("cannot read", path);
    for (char line[4096]; fgets(line, sizeof(line), in);)
        put_line(out, line);
    if (ferror(in) || fclose(in) != 0)
        fail("cannot read", path);
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
            fprintf(out, "\nextern const char pf_viewer_%s[];\nconst char pf_viewer_%s[] =\n    \"", what, what);
        embed(out, arguments[i]);
        if (i + 1 == count || strcmp(what, extension(arguments[i + 1])) != 0)
            fputs("\";\n", out);
    }
    if (ferror(out) || fclose(out) != 0)
        fail("cannot write", arguments[1]);
    return 0;
}
