/* SPDX-License-Identifier: MIT */
/* Columns of the types that the instructions of samples access. */
#include <inttypes.h>

#include "analysis/report/columns.h"
#include "base/bytes.h"

/* What the instruction of a frame accesses, which is an address; NULL: out of memory. */
static const struct pf_data_use *use_of_frame(struct pf_report *report, uint32_t number)
{
    struct pf_report_data *data = &report->data;
    if (PF_LIKELY(number < data->use_capacity && data->uses[number]))
        return data->uses[number];
    if (!pf_grow_zeroed(report->allocator, &data->uses, &data->use_capacity, (size_t)number + 1, sizeof(*data->uses)))
        return NULL;
    const struct pf_frame_info *frame = pf_profile_frame(report->profile, number);
    pf_profile_hold(report->profile);
    data->uses[number] =
        pf_data_types_at(data->types, frame->module, frame->symbol, pf_frame_address(frame)->table_address);
    pf_profile_release(report->profile);
    return data->uses[number];
}

/* What that of an address of the sample's process accesses; NULL: out of memory. */
static const struct pf_data_use *use_in_space(struct pf_report *report, const struct pf_profile_sample *sample)
{
    const struct perfile_space *space = pf_delivered_space(pf_profile_item(report->profile), sample->cpumode);
    return pf_data_types_in(report->data.types, space, sample->decoded->ip);
}

/* NULL: out of memory, and the report knows. */
static const struct pf_data_use *use_of(struct pf_report *report, const struct pf_profile_sample *sample)
{
    struct pf_report_data *data = &report->data;
    if (!data->types && !(data->types = pf_data_types_open(report->symbols, report->allocator))) {
        report->texts.short_of_memory = true;
        return NULL;
    }
    const struct pf_data_use *use = data->by_frame ? use_of_frame(report, sample->leaf) : use_in_space(report, sample);
    report->texts.short_of_memory |= !use;
    return use;
}

/* ---- type ---- */

void pf_take_type(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const struct pf_data_use *use = use_of(report, sample);
    keyed->values[PF_VALUE_type] = use ? (uintptr_t)use->type : 0;
}

void pf_text_type(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_name(text, (const char *)(uintptr_t)pf_report_value(report, row, PF_VALUE_type));
}

/* ---- typeoff ---- */

static const struct pf_data_use *kept_use(const struct pf_report *report, const struct pf_report_row *row,
                                          unsigned position)
{
    return (const struct pf_data_use *)(uintptr_t)pf_report_value(report, row, position);
}

static int compare_uses(const struct pf_data_use *a, const struct pf_data_use *b, uint64_t unit)
{
    const int names = strcmp(a->type, b->type);
    const uint64_t left = a->use.offset / unit, right = b->use.offset / unit;
    return names ? names : (left > right) - (left < right);
}

int pf_compare_members(const struct pf_report *report, uint64_t a, uint64_t b)
{
    (void)report;
    return compare_uses((const struct pf_data_use *)(uintptr_t)a, (const struct pf_data_use *)(uintptr_t)b, 1);
}

void pf_take_typeoff(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const struct pf_data_use *use = use_of(report, sample);
    keyed->values[PF_VALUE_typeoff] = use ? (uintptr_t)use->first_use : 0;
}

void pf_text_typeoff(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_name(text, kept_use(report, row, PF_VALUE_typeoff)->label);
}

/* ---- typecln ---- */

int pf_compare_type_lines(const struct pf_report *report, uint64_t a, uint64_t b)
{
    (void)report;
    return compare_uses((const struct pf_data_use *)(uintptr_t)a, (const struct pf_data_use *)(uintptr_t)b,
                        PF_DATA_LINE_BYTES);
}

void pf_take_typecln(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const struct pf_data_use *use = use_of(report, sample);
    keyed->values[PF_VALUE_typecln] = use ? (uintptr_t)use->first_of_line : 0;
}

void pf_text_typecln(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_data_use *use = kept_use(report, row, PF_VALUE_typecln);
    pf_put_name(text, use->type);
    pf_put_format(text, ": cache-line %" PRIu64, use->use.offset / PF_DATA_LINE_BYTES);
}
