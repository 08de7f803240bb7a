/* SPDX-License-Identifier: MIT */
#include "base/json.h"

static void put_name(struct pf_json *json, const char *name)
{
    if (json->comma)
        pf_put_char(json->text, ',');
    json->comma = true;
    if (name) {
        pf_put_json_string(json->text, name, strlen(name));
        pf_put_char(json->text, ':');
    }
}

void pf_json_begin(struct pf_json *json, const char *name, bool list)
{
    put_name(json, name);
    pf_put_char(json->text, list ? '[' : '{');
    json->comma = false;
}

void pf_json_end(struct pf_json *json, bool list)
{
    pf_put_char(json->text, list ? ']' : '}');
    json->comma = true;
}

void pf_json_unsigned(struct pf_json *json, const char *name, uint64_t value)
{
    put_name(json, name);
    pf_put_unsigned(json->text, value);
}

void pf_json_offset(struct pf_json *json, const char *name, uint64_t offset)
{
    if (offset == PERFILE_NO_OFFSET)
        pf_json_string(json, name, NULL);
    else
        pf_json_unsigned(json, name, offset);
}

void pf_json_string(struct pf_json *json, const char *name, const char *value)
{
    put_name(json, name);
    if (value)
        pf_put_json_string(json->text, value, strlen(value));
    else
        pf_put_string(json->text, "null");
}

void pf_json_bool(struct pf_json *json, const char *name, bool value)
{
    put_name(json, name);
    pf_put_string(json->text, value ? "true" : "false");
}

static void put_bytes(struct pf_json *json, const struct perfile_value *value)
{
    if (value->bytes > json->max_bytes) {
        pf_put_format(json->text, "{\"len\":%zu,\"crc32\":\"%08x\"}", value->bytes,
                      pf_crc32(0, value->data, value->bytes));
        return;
    }
    pf_put_char(json->text, '"');
    pf_put_hex_bytes(json->text, value->data, value->bytes);
    pf_put_char(json->text, '"');
}

static int visit_value(void *context, const struct perfile_value *value)
{
    struct pf_json *json = context;
    put_name(json, value->name);
    switch (value->kind) {
    case PERFILE_VALUE_UNSIGNED:
        if (value->meaning == PERFILE_MEANS_REGISTER) {
            pf_put_string(json->text, "\"0x");
            pf_put_hex(json->text, value->number.u);
            pf_put_char(json->text, '"');
        } else {
            pf_put_unsigned(json->text, value->number.u);
        }
        break;
    case PERFILE_VALUE_SIGNED:
        pf_put_signed(json->text, value->number.s);
        break;
    case PERFILE_VALUE_DOUBLE:
        pf_put_double(json->text, value->number.d);
        break;
    case PERFILE_VALUE_BOOL:
        pf_put_string(json->text, value->number.u ? "true" : "false");
        break;
    case PERFILE_VALUE_TEXT:
        pf_put_json_string(json->text, value->data, value->bytes);
        break;
    case PERFILE_VALUE_BYTES:
        put_bytes(json, value);
        break;
    default:
        pf_put_string(json->text, "null");
    }
    return json->text->failed;
}

static int visit_begin(void *context, const char *name, bool list)
{
    struct pf_json *json = context;
    pf_json_begin(json, name, list);
    return json->text->failed;
}

static int visit_end(void *context, bool list)
{
    struct pf_json *json = context;
    pf_json_end(json, list);
    return json->text->failed;
}

struct perfile_visitor pf_json_visitor(struct pf_json *json)
{
    return (struct perfile_visitor){sizeof(struct perfile_visitor), json, visit_begin, visit_end, visit_value};
}
