/* SPDX-License-Identifier: MIT */
/*
 * host_locale RECORDING...: every output of every recording, with options that hold numbers, and messages, in the
 * locale of the environment. What it prints must be the same in every locale: see host_locale.py.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <perfile/analysis.h>
#include <perfile/edit.h>

static int print(void *context, const void *data, size_t bytes)
{
    (void)context;
    return fwrite(data, 1, bytes, stdout) != bytes;
}

static void write_one(const char *path, const struct perfile_output_info *output, unsigned flags)
{
    static const struct perfile_sink sink = {NULL, print};
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_reader *reader;
    struct perfile_error error = {0};
    options.count = options.nanoseconds = true;
    report.flags = flags;
    report.percent_limit = "0.25";
    report.call_graph = "caller,0.75";
    report.parent = "^[a-z]_?main$";
    report.sort = strcmp(output->kind, "report") == 0 ? "+weight" : NULL;
    options.report = &report;
    flame.min_width = "0.5";
    options.flame = &flame;
    filter.time = "0.5%-99.5%";
    options.filter = &filter;
    if (perfile_open_path(path, NULL, &reader, &error) < 0) {
        printf("%s\n", error.message);
        return;
    }
    printf("== %s %s %u\n", output->kind, output->format, flags);
    const int result = perfile_output_write(reader, output->kind, output->format, &options, &sink, &error);
    printf("%d %s\n", result, result < 0 ? error.message : "");
    perfile_close(reader);
}

int main(int count, char **arguments)
{
    const struct perfile_output_info *output;
    if (!setlocale(LC_ALL, ""))
        return 77;
    fprintf(stderr, "%.1f\n", 0.5);
    for (int i = 1; i < count; i++)
        for (size_t j = 0; (output = perfile_output_at(j)) != NULL; j++) {
            write_one(arguments[i], output, 0);
            if (strcmp(output->kind, "report") == 0) {
                write_one(arguments[i], output, PERFILE_REPORT_HIERARCHY | PERFILE_REPORT_MODES);
                write_one(arguments[i], output, PERFILE_REPORT_NO_CHILDREN | PERFILE_REPORT_SAMPLES);
            }
        }
    return fflush(stdout) != 0;
}
