/* SPDX-License-Identifier: MIT */
#include "output/table/fields.h"

static const char wall_doc[] = "The same as a time of day.";

/* ---- the clock --------------------------------------------------------------------------------------------------- */

static int clock_number(const struct perfile_table *table, const char *member, uint64_t *number)
{
    return pf_memory_check(table->allocator,
                           perfile_feature_number(table->reader, PERFILE_FEATURE_CLOCK_DATA, member, number, NULL));
}

static bool find_clock(struct pf_fields *fields, struct perfile_table *table)
{
    uint64_t wall_ns = 0, clock_ns = 0;
    if (!table->reader || clock_number(table, "wall_clock_ns", &wall_ns) < 0 || !wall_ns ||
        clock_number(table, "clockid_time_ns", &clock_ns) < 0)
        return false;
    fields->ahead_ns = wall_ns - clock_ns;
    return true;
}

int64_t pf_fields_wall_time(const struct pf_fields *fields, uint64_t time_ns)
{
    const int64_t wall_ns = (int64_t)(time_ns + fields->ahead_ns);
    return wall_ns / 1000 - (wall_ns % 1000 < 0);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_used(const struct pf_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->list[i].name, name) == 0)
            return true;
    return false;
}

/* Readers refuse tables in which a name stands twice. */
static char *make_name(struct pf_fields *fields, const char *name, const char *end)
{
    struct pf_text text;
    char *made = NULL;
    if (pf_text_open(&text, fields->allocator, NULL, NULL) < 0)
        return NULL;
    text.escapes = true;
    pf_put_name(&text, name);
    pf_put_string(&text, end);
    const size_t used = text.used;
    for (unsigned number = 1; !text.failed; number++) {
        text.used = used;
        if (number > 1)
            pf_put_format(&text, "_%u", number);
        made = pf_arena_text(&fields->arena, text.data, text.used);
        if (!made || !is_used(fields, made))
            break;
    }
    pf_text_close(&text);
    return made;
}

/* `time` becomes `timestamp`, `start_time` `start_timestamp`. */
static const char *wall_end(const char *name)
{
    const size_t bytes = strlen(name);
    return bytes >= 4 && strcmp(name + bytes - 4, "time") == 0 ? "stamp" : "_timestamp";
}

static bool add(struct pf_fields *fields, const struct perfile_table *table, size_t index, bool is_wall)
{
    const struct pf_column *column = &table->columns[index].column;
    struct pf_field field = {.index = index,
                             .column = column,
                             .name = make_name(fields, column->name, is_wall ? wall_end(column->name) : ""),
                             .is_wall = is_wall};
    if (field.name)
        fields->list[fields->count++] = field;
    return field.name;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

bool pf_fields_open(struct pf_fields *fields, struct perfile_table *table)
{
    bool enough = true;
    *fields = (struct pf_fields){.allocator = table->allocator, .ahead_ns = table->options.wall_ahead_ns};
    pf_arena_open(&fields->arena, table->allocator);
    const bool has_wall = find_clock(fields, table) || table->options.wall_times;
    fields->list = pf_arena_new(&fields->arena, 2 * table->shown * sizeof(*fields->list));
    for (size_t i = 0; fields->list && enough && i < table->shown; i++) {
        const bool is_wall = has_wall && table->columns[i].column.type == PERFILE_COLUMN_TIME;
        if (!is_wall || !table->options.wall_times)
            enough = add(fields, table, i, false);
        if (enough && is_wall)
            enough = add(fields, table, i, true);
    }
    return fields->list && enough;
}

void pf_fields_close(struct pf_fields *fields)
{
    pf_arena_close(&fields->arena);
    *fields = (struct pf_fields){.allocator = fields->allocator};
}

bool pf_field_is_required(const struct pf_field *field)
{
    return field->column->required;
}

void pf_field_facts(const struct pf_field *field, struct pf_field_fact facts[PF_FIELD_FACTS])
{
    const struct pf_column *column = field->column;
    facts[0] = (struct pf_field_fact){"type", field->is_wall ? "timestamp" : pf_column_type_name(column->type)};
    facts[1] = (struct pf_field_fact){"unit", field->is_wall ? "us" : column->unit};
    facts[2] = (struct pf_field_fact){"doc", field->is_wall ? wall_doc : column->doc};
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void put_columns(const struct pf_fields *fields, struct pf_json *json)
{
    pf_json_begin(json, NULL, true);
    for (size_t i = 0; i < fields->count; i++) {
        struct pf_field_fact facts[PF_FIELD_FACTS];
        pf_field_facts(&fields->list[i], facts);
        pf_json_begin(json, NULL, false);
        pf_json_string(json, "name", fields->list[i].name);
        for (size_t k = 0; k < PF_FIELD_FACTS; k++)
            pf_json_string(json, facts[k].name, facts[k].text);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

const char *pf_fields_table_fact(const struct pf_fields *fields, struct perfile_table *table, size_t index,
                                 struct pf_text *value)
{
    static const char *const names[PF_TABLE_FACTS] = {"perfile.view", "perfile.columns", "perfile.recording",
                                                      "perfile.losses", "perfile.version"};
    struct pf_json json = {.text = value};
    switch (index) {
    case 0:
        pf_put_string(value, table->view->info.name);
        break;
    case 1:
        put_columns(fields, &json);
        break;
    case 2:
        pf_table_put_recording(&json, NULL, table);
        break;
    case 3:
        pf_table_put_losses(&json, NULL, table);
        break;
    case 4:
        pf_put_string(value, perfile_version());
        break;
    default:
        return NULL;
    }
    return names[index];
}
