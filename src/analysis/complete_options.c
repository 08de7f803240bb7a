/* SPDX-License-Identifier: MIT */
#include "analysis/complete_options.h"

#include "base/error.h"
#include "base/sized.h"

int pf_complete_symbols(struct perfile_symbol_options *all, const struct perfile_reader *reader,
                        const struct perfile_symbol_options *symbols, struct perfile_error *error)
{
    *all = (struct perfile_symbol_options)PERFILE_SYMBOL_OPTIONS_INIT;
    const int result = pf_sized_take(all, sizeof(*all), symbols, "symbol options", error);
    if (reader && !all->recording)
        all->recording = perfile_reader_file(reader)->path;
    return result;
}

int pf_complete_options_take(struct pf_complete_options *complete, const struct perfile_reader *reader,
                             const struct perfile_filter *filter, const struct perfile_symbol_options *symbols,
                             struct perfile_error *error)
{
    *complete =
        (struct pf_complete_options){PERFILE_FILTER_INIT, PERFILE_SYMBOL_OPTIONS_INIT, PERFILE_REPORT_OPTIONS_INIT};
    int result = pf_sized_take(&complete->filter, sizeof(complete->filter), filter, "filter", error);
    return result == 0 ? pf_complete_symbols(&complete->symbols, reader, symbols, error) : result;
}

int pf_check_known_flags(uint32_t flags, uint32_t known, struct perfile_error *error)
{
    return flags & ~known ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "flags", "unknown flags 0x%x",
                                    flags & ~known)
                          : 0;
}
