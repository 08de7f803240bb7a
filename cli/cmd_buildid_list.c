/* SPDX-License-Identifier: MIT */
/* The build ids of the files of a recording, of ELF files, and of the running kernel, in perf's words. */
#include "build_ids.h"
#include "reading.h"
#include "rows.h"
#include "sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct settings {
    bool with_hits, kernel;
};

enum { BUILD_ID, PATH, COLUMNS };
static const struct perfile_column *const columns[COLUMNS] = {
    [BUILD_ID] = PF_COLUMN("build_id", PERFILE_COLUMN_TEXT, "As hexadecimal digits."),
    [PATH] = PF_COLUMN("path", PERFILE_COLUMN_TEXT, "The file, as the recording names it."),
};

/* The rows of a table. */
struct printed {
    const struct pf_build_ids *ids;
    char hex[PF_BUILD_ID_TEXT];
};

static void put_cell(void *context, size_t row, size_t column, struct perfile_value *value)
{
    struct printed *printed = context;
    const struct pf_build_id *id = &printed->ids->list[row];
    const char *text = column == PATH ? id->path : pf_build_id_text(id->bytes, id->count, printed->hex);

    *value = pf_text_value(*text ? text : NULL);
}

static void put_ids(struct pf_input *input, struct pf_stream *out, const struct pf_build_ids *ids)
{
    const char *format = input->settings->format;
    struct printed printed = {.ids = ids};
    const struct pf_rows rows = {"build-ids", columns, COLUMNS, ids->count, put_cell, &printed};

    if (format && strcmp(format, "text") != 0)
        (void)pf_rows_put(&rows, out, input->command->name, format);
    else
        pf_build_ids_print(ids, out);
}

static int print(struct pf_input *input, struct pf_stream *out)
{
    struct pf_build_ids ids = {0};
    const int result = pf_build_ids_read(&ids, input, pf_own(input->settings)->with_hits);

    if (result != PERFILE_ERROR_MEMORY)
        put_ids(input, out, &ids);
    pf_build_ids_free(&ids);
    return result;
}

/* ---- without a recording --------------------------------------------------------------------------------------- */

static bool is_elf(const char *path)
{
    char magic[4] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    const ssize_t got = pread(fd, magic, sizeof(magic), 0);
    close(fd);
    return got == sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic));
}

static int print_one(const struct pf_settings *settings, const uint8_t *id, size_t bytes)
{
    struct pf_stream out;
    char hex[PF_BUILD_ID_TEXT];

    if (settings->format && strcmp(settings->format, "text")) {
        pf_message("buildid-list: --format %s needs a recording", settings->format);
        return PF_STATUS_USAGE;
    }
    const int status = pf_stream_open(&out, settings->output);
    if (status)
        return status;
    pf_stream_print(&out, "%s\n", pf_build_id_text(id, bytes, hex));
    return pf_stream_close(&out, true);
}

static int print_elf(const struct pf_command *command, struct pf_settings *settings, const char *path)
{
    struct perfile_error error;
    uint8_t id[20];

    pf_sandbox_enter(command, settings);
    const int bytes = perfile_elf_build_id(path, id, &error);
    if (bytes > 0)
        return print_one(settings, id, (size_t)bytes);
    pf_message("%s: %s", path, bytes < 0 ? error.message : "it has no build id");
    return bytes < 0 ? pf_status_of_error(bytes, PF_STATUS_UNREADABLE) : PF_STATUS_FINDINGS;
}

static int print_kernel(const struct pf_settings *settings)
{
    struct perfile_running_kernel kernel = PERFILE_RUNNING_KERNEL_INIT;

    if (perfile_running_kernel_read(&kernel) == 0 && kernel.build_id_bytes)
        return print_one(settings, kernel.build_id, kernel.build_id_bytes);
    pf_message("buildid-list: the running kernel does not report a build id (/sys/kernel/notes)");
    return PF_STATUS_UNREADABLE;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *path = settings->operand_count ? settings->operands[0] : settings->input;

    if (pf_own(settings)->kernel)
        return print_kernel(settings);
    if (path && is_elf(path))
        return print_elf(command, settings, path);
    return pf_read_and_print(command, settings, print);
}

static const struct pf_option options[] = {
    PF_FLAG("with-hits", 'H', PF_OWN(with_hits),
            "Print only files that samples or their callchains hit; this reads all records."),
    PF_FLAG("kernel", 'k', PF_OWN(kernel), "Print the build id of the running kernel."),
    PF_VALUES(CHOICE, "format", 0, "FORMAT", PF_AT(format), .known = perfile_table_format_at, "The output format."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_buildid_list = {
    .name = "buildid-list",
    .summary = "list the build ids of a recording's files, as perf does",
    .doc =
        "Prints the build id and the path of each file that the header of a recording names or, without such a header, "
        "that samples hit. FILE may also be an ELF file, whose build id is printed.",
    PF_ONE_RECORDING,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
