/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include "edit.h"
#include "input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    bool build_ids, all_build_ids;
    bool hit_maps, all_maps;
    bool jit;
    const char *jit_dir; /* NULL: not given */
    bool sched_stat;
    bool strip;
    bool unwind, aslr;
    int between;        /* a temporary file for the recording between other changes and --aslr */
    const char *itrace; /* NULL: not given */
};

static const struct pf_option options[] = {
    PF_FLAG("build-ids", 'b', PF_OWN(build_ids),
            "Add the build ids of the files that samples and callchains hit: those in the recording, else those of the "
            "binaries found."),
    PF_FLAG("buildid-all", 0, PF_OWN(all_build_ids), "Add the build ids of all mapped files, hit or not."),
    PF_FLAG("mmap2-buildids", 'B', PF_OWN(hit_maps),
            "Put build ids into mapping records, and drop mappings that no sample hits. None is dropped from "
            "recordings with dumped user stacks, deferred callchains or traces."),
    PF_FLAG("mmap2-buildid-all", 0, PF_OWN(all_maps), "Put build ids into all mapping records."),
    PF_FLAG("jit", 'j', PF_OWN(jit),
            "Add JIT-compiled code from jitdump files (jit-PID.dump): a mapping for each piece, with its code, symbol "
            "and lines in jitted-PID-N.so beside the output. The recording must have been made with -k 1."),
    PF_ROW(TEXT, "jit-dir", 0, "DIR", PF_OWN(jit_dir),
           "Write the files of -j to DIR. The default is the output's directory, or the current one if the output is "
           "not a file. The output contains the name of DIR.",
           .is_output = true),
    PF_FLAG("aslr", 0, PF_OWN(aslr),
            "Move all mappings, and with them all addresses, as if the programs had been loaded elsewhere. Registers, "
            "dumped stacks and AUX data, which hold addresses, are left out, and texts and pointers of tracepoints are "
            "replaced. Names stay: perfile anonymize replaces these, too."),
    PF_FLAG("sched-stat", 's', PF_OWN(sched_stat),
            "Show where threads slept, and how long: join sched:sched_stat_* with the preceding sched:sched_switch. "
            "The remaining samples are those of sched:sched_switch, with the time slept as their period."),
    PF_FLAG("convert-callchain", 0, PF_OWN(unwind),
            "Unwind dumped user stacks into callchains, as convert --unwind does."),
    PF_ROW(
        TEXT, "itrace", 0, "LETTERS", PF_OWN(itrace),
        "Write samples instead of the hardware trace, of Intel PT, Intel BTS, Arm SPE, CoreSight, s390 or POWER. "
        "Letters are perf's: i (instructions; i10i: one in ten, i10us: one in ten microseconds), b (branches), c "
        "(calls), r (returns), x (transactions), w (PTWRITE), p (power events), e (errors), g (callchains), l (branch "
        "stacks), f (first level of the caches), m (last level), t (TLB), a (remote accesses), M (memory accesses), y "
        "(cycles), o (other events: diagnostic entries of s390, dispatches of POWER). Without letters: all events.",
        .usual = ""),
    PF_FLAG("strip", 0, PF_OWN(strip), "Remove AUX data, as convert --strip aux does."),
    PF_OPTION_REPORT_FORMAT,
    {0},
};

/* ---- one run ---- */

static struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
static uint64_t code_files, jitdumps;

static int inject_code(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_inject_options *how,
                       const char *folder, struct perfile_error *error)
{
    struct perfile_jit *jit;
    int result = perfile_jit_open(reader, how->find_context, folder, &jit, error);

    if (result < 0)
        return result;
    how->follow_code = perfile_jit_follow;
    how->code_context = jit;
    result = perfile_inject(reader, writer, how, &counts, error);
    code_files = perfile_jit_files(jit, &jitdumps);
    perfile_jit_close(jit);
    return result;
}

/* Everything stays but addresses, and what holds them. */
static int move_addresses(struct perfile_reader *reader, struct perfile_writer *writer,
                          const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                          struct perfile_error *error)
{
    struct perfile_anonymize_options how = PERFILE_ANONYMIZE_OPTIONS_INIT;
    struct perfile_anonymize_report made = PERFILE_ANONYMIZE_REPORT_INIT;

    how.keep = "comms,paths,inodes,build-ids,symbols,events,cgroups,host,release,command,cpu,topology,pmus,tracing,"
               "clock,times,pids";
    how.edit = edit_options;
    const int result = perfile_anonymize(reader, writer, &how, &made, error);
    if (made.edit)
        *report = *made.edit;
    return result;
}

/* Everything but --aslr. */
static int change(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                  const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct perfile_symbol_options symbols = settings->symbols;
    struct perfile_inject_options how = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_unwinder *unwinder = NULL;
    struct perfile_code_reader *code = NULL;

    int result = pf_own(settings)->unwind ? perfile_unwinder_open(reader, &symbols, &unwinder, error) : 0;

    if (result == 0 && pf_own(settings)->itrace)
        result = perfile_code_open(reader, &symbols, &code, error);
    if (result < 0) {
        perfile_unwinder_close(unwinder);
        return result;
    }
    how.unwind = pf_own(settings)->unwind ? perfile_unwind : NULL;
    how.unwind_context = unwinder;
    how.build_ids = pf_own(settings)->build_ids;
    how.find_build_id = perfile_build_id_find;
    how.find_context = &symbols;
    how.all_build_ids = pf_own(settings)->all_build_ids;
    how.map_build_ids = pf_own(settings)->all_maps   ? PERFILE_MAP_BUILD_IDS_ALL
                        : pf_own(settings)->hit_maps ? PERFILE_MAP_BUILD_IDS_HIT
                                                     : PERFILE_MAP_BUILD_IDS_NONE;
    how.sched_stat = pf_own(settings)->sched_stat;
    how.strip = pf_own(settings)->strip;
    how.itrace = pf_own(settings)->itrace;
    how.read_code = perfile_code_read;
    how.read_code_context = code;
    how.edit = edit_options;
    result = pf_own(settings)->jit ? inject_code(reader, writer, &how, pf_own(settings)->jit_dir, error)
                                   : perfile_inject(reader, writer, &how, &counts, error);
    perfile_code_close(code);
    perfile_unwinder_close(unwinder);
    *report = counts;
    return result;
}

/* Makes the changes before --aslr, whose recording is a stream in the temporary file. */
static int change_into(int file, struct perfile_reader *reader, const struct pf_settings *settings,
                       const struct perfile_edit_options *edit_options, struct perfile_error *error)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_edit_report unused = PERFILE_EDIT_REPORT_INIT;
    struct perfile_writer *writer;

    how.mode = PERFILE_MODE_PIPE;
    int result = perfile_writer_open_fd(file, &how, &writer, error);
    if (result < 0)
        return result;
    result = change(reader, writer, settings, edit_options, &unused, error);
    if (result == 0)
        result = perfile_writer_finish(writer, error);
    perfile_writer_close(writer);
    return result;
}

static bool changes_more(const struct settings *own)
{
    return own->build_ids || own->all_build_ids || own->hit_maps || own->all_maps || own->jit || own->sched_stat ||
           own->strip || own->unwind || own->itrace;
}

/* Addresses are moved last: other changes look into the files that are mapped there. */
static int inject(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                  const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct perfile_reader *changed;
    const int between = pf_own(settings)->between;

    if (!pf_own(settings)->aslr)
        return change(reader, writer, settings, edit_options, report, error);
    if (!changes_more(pf_own(settings)))
        return move_addresses(reader, writer, edit_options, report, error);
    int result = change_into(between, reader, settings, edit_options, error);
    if (result < 0)
        return result;
    (void)lseek(between, 0, SEEK_SET); /* of a regular file: it does not fail */
    result = perfile_open_fd(between, NULL, &changed, error);
    if (result == 0) {
        result = move_addresses(changed, writer, edit_options, report, error);
        perfile_close(changed);
    }
    return result;
}

static void print_json(struct pf_json_writer *json)
{
    pf_json_writer_number(json, "code_added", counts.code_added);
    pf_json_writer_number(json, "code_files", code_files);
    pf_json_writer_number(json, "jitdumps", jitdumps);
    pf_json_writer_number(json, "maps_added", counts.maps_added);
    pf_json_writer_number(json, "samples_added", counts.samples_added);
}

static void print_text(FILE *to)
{
    char mappings[PF_COUNTED_BYTES], files[PF_COUNTED_BYTES], dumps[PF_COUNTED_BYTES];

    if (counts.samples_added)
        fprintf(to, "  %s\n", pf_counted(counts.samples_added, "samples made of the trace", mappings));
    if (counts.maps_added)
        fprintf(to, "  %s\n", pf_counted(counts.maps_added, "mappings placed before their first sample", mappings));
    if (jitdumps)
        fprintf(to, "  %s, in %s of %s\n", pf_counted(counts.code_added, "mappings of code added", mappings),
                pf_counted(code_files, "files jitted-PID-N.so", files), pf_counted(jitdumps, "jitdump files", dumps));
}

static void print(FILE *to, struct pf_json_writer *json)
{
    if (json)
        print_json(json);
    else
        print_text(to);
}

/*
 * The folder of the file that is written, after following links; "." for an output that is written in place. Allocated.
 */
static char *folder_of_output(const char *output)
{
    struct stat status;
    const bool in_place = stat(output, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    char *target = in_place ? NULL : pf_output_target(output), *slash = target ? strrchr(target, '/') : NULL;
    char *folder = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");

    free(target);
    return folder;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    char *folder = NULL;

    /* in the sandbox none can be made */
    if (pf_own(settings)->aslr && changes_more(pf_own(settings)) &&
        (pf_own(settings)->between = pf_temporary_file()) < 0) {
        pf_message("inject: a temporary file cannot be made: %s", strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    if (!settings->output && !isatty(STDOUT_FILENO))
        settings->output = "-"; /* as perf has it */
    if (pf_own(settings)->jit && !pf_own(settings)->jit_dir && settings->output)
        pf_own(settings)->jit_dir = folder = folder_of_output(settings->output);
    settings->also_written = pf_own(settings)->jit_dir;
    int status = pf_run_edit_report(command, settings, inject, print);
    settings->also_written = pf_own(settings)->jit_dir = NULL;
    free(folder);
    return status;
}

const struct pf_command pf_command_inject = {
    .name = "inject",
    .summary = "add build ids, JIT code and sleep times to a recording",
    .doc = "Rewrites a recording in time order, with data that is only available afterwards.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_writing_group, &pf_symbol_group, &pf_serial_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
