/* SPDX-License-Identifier: MIT */
#include "keyed.h"

#include <stdlib.h>
#include <string.h>

struct made {
    char *text;
    size_t number;
};

static int by_text(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    return strcmp(x->text, y->text);
}

/* The cells of a text, which are parts of it; and a copy of all, with blanks between them. */
static bool split(struct pf_tui_texts *texts, char *text)
{
    char **cells = texts->cells + texts->count * texts->columns, *rest = text;
    char *joined = malloc(2 * strlen(text) + 1), *end = joined;

    if (!joined)
        return false;
    for (size_t i = 0; i < texts->columns; i++) {
        cells[i] = strsep(&rest, "\n");
        end = stpcpy(stpcpy(end, i ? "  " : ""), cells[i]);
    }
    *end = 0;
    texts->joined[texts->count] = joined;
    if (!texts->columns)
        free(text);
    return true;
}

/* Equal ones are neighbours; those that are not used are freed. */
static bool number_texts(struct pf_tui_texts *texts, struct made *made, size_t count, uint32_t *numbers)
{
    bool fine = true;

    for (size_t i = 0; i < count; i++) {
        const bool is_new = !i || by_text(&made[i - 1], &made[i]);
        numbers[made[i].number] = (uint32_t)(texts->count + is_new - 1);
        texts->count += is_new;
    }
    texts->cells = calloc(texts->count * texts->columns + 1, sizeof(*texts->cells));
    texts->joined = calloc(texts->count + 1, sizeof(*texts->joined));
    texts->count = 0;
    fine = texts->cells && texts->joined;
    for (size_t i = 0; i < count; i++) {
        const bool is_new = i + 1 == count || by_text(&made[i], &made[i + 1]);
        if (!fine || !is_new || !(fine = split(texts, made[i].text)))
            free(made[i].text);
        else
            texts->count++;
    }
    return fine;
}

bool pf_tui_texts_make(struct pf_tui_texts *texts, size_t columns, char **made, size_t count, uint32_t *numbers)
{
    struct made *sorted = calloc(count + 1, sizeof(*sorted));
    bool fine = sorted;

    *texts = (struct pf_tui_texts){.columns = columns};
    for (size_t i = 0; i < count; i++)
        fine = fine && made[i];
    for (size_t i = 0; i < count && !fine; i++)
        free(made[i]);
    for (size_t i = 0; i < count && fine; i++)
        sorted[i] = (struct made){made[i], i};
    if (fine && count)
        qsort(sorted, count, sizeof(*sorted), by_text);
    fine = fine && number_texts(texts, sorted, count, numbers);
    free(sorted);
    return fine;
}

void pf_tui_texts_free(struct pf_tui_texts *texts)
{
    for (size_t i = 0; i < texts->count && texts->joined; i++) {
        free(texts->joined[i]);
        if (texts->columns)
            free(texts->cells[i * texts->columns]);
    }
    free(texts->cells);
    free(texts->joined);
    *texts = (struct pf_tui_texts){.count = 0};
}

const char *pf_tui_keys_cell(const struct pf_tui_keys *keys, uint32_t sample, uint32_t function, size_t column)
{
    const bool of_functions = keys->columns->columns[column].of_functions;
    const struct pf_tui_texts *texts = of_functions ? &keys->functions : &keys->samples;
    size_t at = 0;

    for (size_t i = 0; i < column; i++)
        at += keys->columns->columns[i].of_functions == of_functions;
    return texts->cells[(of_functions ? function : sample) * texts->columns + at];
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool pf_tui_has_text(const char *name, const char *part)
{
    for (; *name; name++) {
        size_t i = 0;
        while (part[i] && lower(name[i]) == lower(part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return !*part;
}

bool pf_tui_texts_have(const struct pf_tui_texts *texts, uint32_t number, const char *part)
{
    for (size_t i = 0; i < texts->columns; i++)
        if (pf_tui_has_text(texts->cells[number * texts->columns + i], part))
            return true;
    return false;
}
