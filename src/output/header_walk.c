/* SPDX-License-Identifier: MIT */
#include "output/header_walk.h"

#include "base/error.h"

static const char *named_list(const struct pf_header_walk *walk)
{
    for (unsigned i = walk->depth < PF_HEADER_DEPTH ? walk->depth : PF_HEADER_DEPTH; i > 0; i--)
        if (walk->lists[i - 1])
            return walk->lists[i - 1];
    return "";
}

static int begin(void *context, const char *name, bool list)
{
    struct pf_header_walk *walk = context;
    if (walk->depth < PF_HEADER_DEPTH) {
        walk->lists[walk->depth] = name;
        walk->starts[walk->depth] = walk->member_count;
    }
    walk->depth++;
    if (list && name && walk->rows->begin)
        walk->rows->begin(walk, name);
    return walk->out->failed;
}

static int end(void *context, bool list)
{
    struct pf_header_walk *walk = context;
    const unsigned depth = walk->depth;
    const char *name = depth <= PF_HEADER_DEPTH ? walk->lists[depth - 1] : NULL;
    if (!list && walk->rows->object)
        walk->rows->object(walk, named_list(walk));
    if (list && name && walk->rows->end)
        walk->rows->end(walk, name);
    walk->depth--;
    if (depth <= PF_HEADER_DEPTH && !name) /* members of an object with a name belong to the one around it, too */
        walk->member_count = walk->starts[depth - 1];
    return walk->out->failed;
}

static int value(void *context, const struct perfile_value *value)
{
    struct pf_header_walk *walk = context;
    if (value->name && walk->member_count < PF_HEADER_MEMBERS)
        walk->members[walk->member_count++] = *value;
    if (!value->name && walk->rows->item)
        walk->rows->item(walk, named_list(walk), value);
    return walk->out->failed;
}

int pf_header_walk(struct pf_header_walk *walk, uint32_t feature, const struct pf_header_rows *rows,
                   struct perfile_error *error)
{
    const struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = walk, .begin = begin, .end = end, .value = value};
    struct perfile_error damage = {0};
    walk->rows = rows;
    walk->depth = walk->member_count = 0;
    const int result = perfile_feature_visit(walk->reader, feature, &visitor, &damage);
    if (result == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "header");
    if (result < 0 && result != PERFILE_ERROR_STOPPED)
        walk->damage = damage;
    return 0;
}

static const struct perfile_value *member(const struct pf_header_walk *walk, const char *name)
{
    for (unsigned i = walk->member_count; i > 0; i--)
        if (strcmp(walk->members[i - 1].name, name) == 0)
            return &walk->members[i - 1];
    return NULL;
}

uint64_t pf_header_number(const struct pf_header_walk *walk, const char *name)
{
    const struct perfile_value *found = member(walk, name);
    return found && found->kind != PERFILE_VALUE_TEXT && found->kind != PERFILE_VALUE_BYTES ? found->number.u : 0;
}

void pf_header_put_value(struct pf_text *out, const struct perfile_value *value)
{
    if (value->kind == PERFILE_VALUE_TEXT)
        pf_put_name_bytes(out, value->data, value->bytes);
}

void pf_header_put_text(const struct pf_header_walk *walk, struct pf_text *out, const char *name)
{
    const struct perfile_value *found = member(walk, name);
    if (found)
        pf_header_put_value(out, found);
}
