/* SPDX-License-Identifier: MIT */
/* Formats that continuous integration shows beside a change, and folded stacks. */
#include "diff.h"

#include <stdio.h>

enum { CAPACITY = 8192 };

/* Whether the row is large enough for a verdict, or fails. */
static bool is_case(const struct perfile_diff_row *row)
{
    return row->in_family || row->fails;
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

static void put_xml(struct pf_stream *stream, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            pf_stream_write(stream, entity, strlen(entity));
        else
            pf_stream_write(stream, (unsigned char)*text < ' ' ? "?" : text, 1);
    }
}

/* Valid UTF-8, without control characters. */
static void put_text(struct pf_stream *stream, const char *text)
{
    char escaped[4 * CAPACITY + 1];

    perfile_text_escape(text, strlen(text), escaped, sizeof(escaped));
    put_xml(stream, escaped);
}

static void put_case(const struct pf_diff_output *output, const struct perfile_diff_row *row)
{
    struct pf_stream *stream = output->stream;
    char name[CAPACITY], text[CAPACITY];

    pf_diff_explain(output, row, text, sizeof(text));
    pf_stream_print(stream, "    <testcase classname=\"perfile.diff\" name=\"");
    put_text(stream, pf_diff_name(row, name, sizeof(name)));
    if (row->fails) {
        pf_stream_print(stream, "\">\n      <failure message=\"");
        put_text(stream, text);
        pf_stream_print(stream, "\"/>\n    </testcase>\n");
    } else {
        pf_stream_print(stream, "\">\n      <system-out>");
        put_text(stream, text);
        pf_stream_print(stream, "</system-out>\n    </testcase>\n");
    }
}

void pf_diff_put_junit(const struct pf_diff_output *output)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    size_t count = 1;

    for (size_t i = 0; perfile_diff_row_at(output->diff, i, &row) == 0; i++)
        count += is_case(&row);
    pf_stream_print(output->stream,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                    "  <testsuite name=\"perfile diff\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
                    count, output->info.failing);
    if (perfile_diff_total(output->diff, &row) == 0)
        put_case(output, &row);
    for (size_t i = 0; perfile_diff_row_at(output->diff, i, &row) == 0; i++)
        if (is_case(&row))
            put_case(output, &row);
    pf_stream_print(output->stream, "  </testsuite>\n</testsuites>\n");
}

/* ---- GitHub ------------------------------------------------------------------------------------------------------ */

/* Writes escaped text of a workflow command: its message, or with `is_property` a property before it. */
static void put_command_text(struct pf_stream *stream, const char *text, bool is_property)
{
    char escaped[4 * CAPACITY + 1];

    perfile_text_escape(text, strlen(text), escaped, sizeof(escaped));
    for (const char *at = escaped; *at; at++) {
        if (*at == '%' || (is_property && (*at == ':' || *at == ',')))
            pf_stream_print(stream, "%%%02X", (unsigned)*at);
        else
            pf_stream_write(stream, at, 1);
    }
}

static void annotate(const struct pf_diff_output *output, const struct perfile_diff_row *row, const char *level)
{
    char name[CAPACITY], short_name[256], title[512], text[CAPACITY], percent[32];

    pf_diff_explain(output, row, text, sizeof(text));
    perfile_name_fit(row->function ? row->function : pf_diff_name(row, name, sizeof(name)), 80, short_name,
                     sizeof(short_name));
    snprintf(title, sizeof(title), "%s %s", short_name, pf_diff_percent(row, percent));
    pf_stream_print(output->stream, "::%s title=", level);
    put_command_text(output->stream, title, true);
    pf_stream_print(output->stream, "::");
    put_command_text(output->stream, text, false);
    pf_stream_print(output->stream, "\n");
}

void pf_diff_put_github(const struct pf_diff_output *output)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;

    if (perfile_diff_total(output->diff, &row) == 0)
        annotate(output, &row, row.fails ? "error" : "notice");
    for (size_t i = 0; perfile_diff_row_at(output->diff, i, &row) == 0; i++)
        if (row.fails || row.verdict == PERFILE_DIFF_MORE || row.verdict == PERFILE_DIFF_LESS)
            annotate(output, &row, row.fails ? "error" : row.verdict == PERFILE_DIFF_MORE ? "warning" : "notice");
}

/* ---- folded stacks ----------------------------------------------------------------------------------------------- */

void pf_diff_put_folded(const struct pf_diff_output *output)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;

    for (size_t i = 0; perfile_diff_row_at(output->diff, i, &row) == 0; i++) {
        pf_stream_put_name(output->stream, "", row.path, "");
        pf_stream_print(output->stream, " %.0f %.0f\n", row.before, row.after);
    }
}
