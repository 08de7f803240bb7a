/* SPDX-License-Identifier: MIT */
#include "analysis/wishes.h"

#include "base/error.h"
#include "base/sized.h"

int pf_wishes_take_symbols(struct perfile_symbol_options *all, const struct perfile_reader *reader,
                           const struct perfile_symbol_options *symbols, struct perfile_error *error)
{
    *all = (struct perfile_symbol_options)PERFILE_SYMBOL_OPTIONS_INIT;
    const int result = pf_sized_take(all, sizeof(*all), symbols, "symbol options", error);
    if (reader && !all->recording)
        all->recording = perfile_reader_file(reader)->path;
    return result;
}

int pf_wishes_take(struct pf_wishes *wishes, const struct perfile_reader *reader, const struct perfile_filter *filter,
                   const struct perfile_symbol_options *symbols, struct perfile_error *error)
{
    *wishes = (struct pf_wishes){PERFILE_FILTER_INIT, PERFILE_SYMBOL_OPTIONS_INIT, PERFILE_REPORT_OPTIONS_INIT};
    int result = pf_sized_take(&wishes->filter, sizeof(wishes->filter), filter, "filter", error);
    return result == 0 ? pf_wishes_take_symbols(&wishes->symbols, reader, symbols, error) : result;
}

int pf_wishes_check_flags(uint32_t flags, uint32_t known, struct perfile_error *error)
{
    return flags & ~known ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "flags", "unknown flags 0x%x",
                                    flags & ~known)
                          : 0;
}
