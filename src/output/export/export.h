/* SPDX-License-Identifier: MIT */
/*
 * Profiles for other programs: one file for each format, with its `const struct pf_output pf_output_export_<format>`
 * and a line in outputs.def. All are made from <perfile/profile.h> (samples added up, or one after the other) or from
 * tables. What a format cannot hold is reported with pf_export_notify.
 */
#ifndef PF_OUTPUT_EXPORT_EXPORT_H
#define PF_OUTPUT_EXPORT_EXPORT_H

#include <perfile/profile.h>

#include "output/output.h"

/*
 * The profile that the options have, or the recording added up, merged with the further ones: perfile_profile_open with what the options of the output say.
 * Frames are addresses. _as: with the keys, steps of time and flags of `how`, whose other members are not looked at.
 */
int pf_export_profile(struct perfile_reader *reader, const struct perfile_output_options *options, const char *keys,
                      struct perfile_profile **profile, struct perfile_error *error);
int pf_export_profile_as(struct perfile_reader *reader, const struct perfile_output_options *options,
                         const struct perfile_profile_options *how, struct perfile_profile **profile,
                         struct perfile_error *error);
/*
 * The keys that samples are kept apart by, unless the options say others: all that exports have labels for, but time.
 */
const char *pf_export_keys(const struct perfile_output_options *options);
/* The nth recording, 0 is `reader`, and what the options say of it alone. `options->symbols` is `*symbols` then. */
struct perfile_reader *pf_export_nth(struct perfile_reader *reader, const struct perfile_output_options *all,
                                     size_t nth, struct perfile_output_options *options,
                                     struct perfile_symbol_options *symbols);
/*
 * What perfile_profile_open is asked for then: all but the keys and flags of `how` is what the options of the output
 * say.
 */
struct perfile_profile_options pf_export_profile_options(const struct perfile_output_options *options,
                                                         struct perfile_profile_options how);
/* Says how many samples are not where reports have them, if there are any: `format` goes by callchains alone. */
void pf_export_notify_elsewhere(const struct perfile_output_options *options, const struct perfile_profile *profile,
                                const char *format);
/* The event with the most samples; PERFILE_NO_ID: there is none. */
uint32_t pf_export_main_event(const struct perfile_profile *profile);
/* A sentence for the user, without a line end. */
void pf_export_notify(const struct perfile_output_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports why there is nothing to export, `reader` NULL: of a profile. Returns false when there is something. */
bool pf_export_notify_empty(const struct perfile_reader *reader, const struct perfile_output_options *options,
                            const struct perfile_profile *profile);

#endif
