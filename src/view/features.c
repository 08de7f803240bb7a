/* SPDX-License-Identifier: MIT */
/* The header features, each with its value as JSON. */
#include "base/error.h"
#include "base/json.h"
#include "view/reading.h"

enum { MAX_BYTES = 4096 }; /* longer byte strings become length and checksum, as in a dump */

struct features {
    struct pf_reading reading; /* first */
    const struct perfile_feature *feature;
    struct pf_text value; /* as far as it could be read */
    struct perfile_error error;
    bool damaged; /* the one in hand */
    bool found;   /* a feature is damaged that the reader does not count as damage */
};

#define FEATURES const struct features *features = state
#define PUT_MEMBER(name, set, member) PF_PUT_AS(name, FEATURES, set, features->feature->member)

PUT_MEMBER(number, pf_set_u32, number)
PUT_MEMBER(name, pf_set_text, name)
PUT_MEMBER(offset, pf_set_u64, section.offset)
PUT_MEMBER(bytes, pf_set_u64, section.bytes)

PF_PUT_AS(readable, FEATURES, pf_set_bool, !features->damaged)
PF_PUT_AS(doc, FEATURES, pf_set_text, perfile_feature_doc(features->feature->number))
PF_PUT_AS(error, FEATURES, pf_set_text, features->damaged ? features->error.message : NULL)
PF_PUT_IF(value, FEATURES, features->value.used, pf_set_u32,
          pf_dictionary_put(&vector->dictionary, features->value.data, features->value.used))

static const struct pf_column columns[] = {
    PF_REQUIRED(number, U32, "", "Which feature."),
    PF_COLUMN(name, TEXT, "", "Its name; null: it is unknown."),
    PF_REQUIRED_EXTRA(offset, U64, "bytes", "Where it stands in the file, or in the stream."),
    PF_REQUIRED(bytes, BYTES, "bytes", "How much it takes."),
    PF_REQUIRED(readable, BOOL, "", "All of it could be read."),
    PF_COLUMN(doc, TEXT, "", "What it is for; null: it is unknown."),
    PF_EXTRA(error, TEXT, "", "Why not all of it could be read."),
    PF_COLUMN(value, TEXT, "", "What it holds, as JSON, as far as it could be read."),
};

/* ---- its value --------------------------------------------------------------------------------------------------- */

/* A value alone has no name. */
struct unnamed {
    struct perfile_visitor inner;
    unsigned depth;
};

static int begin(void *context, const char *name, bool list)
{
    struct unnamed *unnamed = context;
    return unnamed->inner.begin(unnamed->inner.context, unnamed->depth++ ? name : NULL, list);
}

static int end(void *context, bool list)
{
    struct unnamed *unnamed = context;
    unnamed->depth--;
    return unnamed->inner.end(unnamed->inner.context, list);
}

static int put_one(void *context, const struct perfile_value *value)
{
    struct unnamed *unnamed = context;
    struct perfile_value copy = *value;
    copy.name = unnamed->depth ? value->name : NULL;
    return unnamed->inner.value(unnamed->inner.context, &copy);
}

static int read_value(struct features *features, struct perfile_error *error)
{
    struct pf_json json = {.text = &features->value, .max_bytes = MAX_BYTES};
    struct unnamed unnamed = {.inner = pf_json_visitor(&json)};
    const struct perfile_visitor visitor = {sizeof(visitor), &unnamed, begin, end, put_one};
    features->value.used = 0;
    const int result =
        perfile_feature_visit(features->reading.table->reader, features->feature->number, &visitor, &features->error);
    if (result == PERFILE_ERROR_MEMORY || result == PERFILE_ERROR_STOPPED || features->value.failed)
        return pf_fail_memory(error, "features");
    features->damaged = result < 0;
    features->found |= features->damaged && features->feature->readable;
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int next_feature(void *state, struct perfile_error *error)
{
    struct features *features = state;
    struct perfile_reader *reader = features->reading.table->reader;
    if (perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE)
        pf_reading_all(&features->reading, NULL, NULL); /* they are records */
    const int result = pf_table_row(features->reading.table, perfile_feature_count(reader), error);
    if (result <= 0)
        return result;
    features->feature = perfile_feature_get(reader, features->reading.table->all.row);
    const int read = read_value(features, error);
    return read < 0 ? read : 1;
}

static int open_features(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct features *features = state;
    if (pf_text_open(&features->value, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "features");
    return pf_reading_open(&features->reading, table, PF_BY_FILE, error);
}

static void close_features(void *state)
{
    struct features *features = state;
    pf_text_close(&features->value);
    pf_reading_close(&features->reading);
}

static bool found(const void *state)
{
    FEATURES;
    return features->found;
}

const struct pf_view pf_view_features = {
    .info = {"features", "what the header says of machine, recorder and files, feature by feature"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct features),
    .open = open_features,
    .next = next_feature,
    .close = close_features,
    .found = found,
};
