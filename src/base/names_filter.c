/* SPDX-License-Identifier: MIT */
#include "base/names_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/function_name.h"

void pf_names_notify_unmatched(const struct pf_names *wanted, const struct pf_names *known, const char *what,
                               perfile_on_unmatched *notify, void *context)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!wanted->matched[i])
            notify(context, &(struct perfile_unmatched){.filter = what,
                                                        .value = wanted->items[i],
                                                        .known = known->items,
                                                        .known_count = known->count,
                                                        .blocks_all = wanted->unmatched == wanted->count});
}

static int add_name(struct pf_names_filter *filter, const char *text, size_t bytes, struct perfile_error *error)
{
    struct pf_names *wanted = &filter->wanted;
    char *name = pf_arena_text(&filter->arena, text, bytes);
    if (!name ||
        !pf_grow(filter->arena.allocator, &wanted->items, &wanted->capacity, wanted->count + 1, sizeof(*wanted->items)))
        return pf_fail_memory(error, "filter");
    wanted->items[wanted->count++] = name;
    return 0;
}

static int parse(struct pf_names_filter *filter, const char *list, struct perfile_error *error)
{
    struct pf_names *wanted = &filter->wanted;
    int result = 0;
    for (size_t bytes; *list && result == 0; list += bytes + (list[bytes] != '\0')) {
        bytes = strcspn(list, ",");
        result = bytes ? add_name(filter, list, bytes, error) : 0;
    }
    if (result == 0 && !wanted->count)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "a list is empty");
    if (result < 0)
        return result;
    wanted->unmatched = wanted->count;
    wanted->matched = pf_arena_new(&filter->arena, wanted->count * sizeof(*wanted->matched));
    return wanted->matched ? 0 : pf_fail_memory(error, "filter");
}

int pf_names_filter_open(struct pf_names_filter *filter, const char *list, bool of_functions,
                         const struct perfile_allocator *allocator, struct perfile_error *error)
{
    *filter = (struct pf_names_filter){.active = list, .of_functions = of_functions};
    if (!list)
        return 0;
    pf_arena_open(&filter->arena, pf_allocator_or_default(allocator));
    pf_map_open(&filter->seen, filter->arena.allocator);
    return parse(filter, list, error);
}

void pf_names_filter_close(struct pf_names_filter *filter)
{
    const struct perfile_allocator *allocator = filter->arena.allocator;
    if (!allocator)
        return;
    pf_free(allocator, filter->wanted.items, filter->wanted.capacity * sizeof(*filter->wanted.items));
    pf_free(allocator, filter->known.items, filter->known.capacity * sizeof(*filter->known.items));
    pf_map_close(&filter->seen);
    pf_arena_close(&filter->arena);
}

static bool is_name(const struct pf_names_filter *filter, const char *wanted, const char *name)
{
    return strcmp(wanted, name) == 0 || (filter->of_functions && pf_function_is_called(name, wanted));
}

bool pf_names_filter_compare(const struct pf_names_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->wanted.count; i++)
        if (is_name(filter, filter->wanted.items[i], name))
            return true;
    return false;
}

/* Names that could have been meant are kept; when out of memory, fewer of them. */
static void remember(struct pf_names_filter *filter, const char *name)
{
    enum { MAX_KNOWN = 4096 };
    struct pf_names *known = &filter->known;
    if (!*name || known->count == MAX_KNOWN || !pf_map_put(&filter->seen, (uintptr_t)name, 1))
        return;
    char *copy = pf_arena_text(&filter->arena, name, strlen(name));
    if (copy &&
        pf_grow(filter->arena.allocator, &known->items, &known->capacity, known->count + 1, sizeof(*known->items)))
        known->items[known->count++] = copy;
}

void pf_names_filter_note(struct pf_names_filter *filter, const char *name)
{
    struct pf_names *wanted = &filter->wanted;
    uint64_t seen;
    filter->noted = true;
    if (pf_map_get(&filter->seen, (uintptr_t)name, &seen))
        return;
    for (size_t i = 0; i < wanted->count; i++)
        if (!wanted->matched[i] && is_name(filter, wanted->items[i], name)) {
            wanted->matched[i] = true;
            wanted->unmatched--;
        }
    remember(filter, name);
}

void pf_names_filter_notify_unmatched(const struct pf_names_filter *filter, const char *what,
                                      perfile_on_unmatched *notify, void *context)
{
    if (notify && filter->noted)
        pf_names_notify_unmatched(&filter->wanted, &filter->known, what, notify, context);
}
