/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>
#include <string.h>

#include "message.h"

static int put_to_file(void *to, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, to) != bytes;
}

struct pf_json_writer pf_json_writer_to_file(FILE *to)
{
    return (struct pf_json_writer){.sink = {to, put_to_file}};
}

static void put(struct pf_json_writer *json, const char *text, size_t bytes)
{
    (void)json->sink.write(json->sink.context, text, bytes);
}

static void put_string(struct pf_json_writer *json, const char *text)
{
    put(json, text, strlen(text));
}

/* ---- texts ----------------------------------------------------------------------------------------------------- */

/* Length of the character at `s` when it can stand in JSON as it is; 0: it has to be escaped. */
static size_t plain_bytes(const char *s)
{
    const size_t bytes = pf_utf8_bytes(s);
    char shown[17];

    return bytes && perfile_text_escape(s, bytes, shown, sizeof(shown)) == bytes ? bytes : 0;
}

static void put_escaped(struct pf_json_writer *json, const char *at)
{
    const unsigned byte = (unsigned char)*at;
    char text[8];

    snprintf(text, sizeof(text),
             byte == '"' || byte == '\\'   ? "\\%c"
             : byte < 0x20 || byte == 0x7f ? "\\u%04x"
                                           : "\\\\x%02x",
             byte);
    put_string(json, text);
}

static void put_text(struct pf_json_writer *json, const char *text)
{
    const char *plain = text;

    put_string(json, "\"");
    while (*text) {
        const size_t bytes = *text == '"' || *text == '\\' ? 0 : plain_bytes(text);

        if (!bytes) {
            put(json, plain, (size_t)(text - plain));
            put_escaped(json, text);
            plain = text + 1;
        }
        text += bytes ? bytes : 1;
    }
    put(json, plain, (size_t)(text - plain));
    put_string(json, "\"");
}

/* ---- members --------------------------------------------------------------------------------------------------- */

static void put_name(struct pf_json_writer *json, const char *name)
{
    put_string(json, json->comma ? "," : "");
    json->comma = true;
    if (name) {
        put_text(json, name);
        put_string(json, ":");
    }
}

void pf_json_writer_begin(struct pf_json_writer *json, const char *name, bool list)
{
    put_name(json, name);
    put_string(json, list ? "[" : "{");
    json->comma = false;
}

void pf_json_writer_end(struct pf_json_writer *json, bool list)
{
    put_string(json, list ? "]" : "}");
    json->comma = true;
}

void pf_json_writer_text(struct pf_json_writer *json, const char *name, const char *text)
{
    put_name(json, name);
    put_text(json, text);
}

void pf_json_writer_number(struct pf_json_writer *json, const char *name, uint64_t value)
{
    char text[24];

    put_name(json, name);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    put_string(json, text);
}

void pf_json_writer_bool(struct pf_json_writer *json, const char *name, bool value)
{
    put_name(json, name);
    put_string(json, value ? "true" : "false");
}

void pf_json_writer_break(struct pf_json_writer *json)
{
    put_string(json, json->comma ? ",\n" : "\n");
    json->comma = false;
}

void pf_json_writer_finish(struct pf_json_writer *json)
{
    put_string(json, "\n");
}

void pf_json_writer_counts(struct pf_json_writer *json, const struct pf_json_count *counts, size_t count,
                           const void *of)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)of + counts[i].offset, sizeof(value));
        pf_json_writer_number(json, counts[i].name, value);
    }
}
