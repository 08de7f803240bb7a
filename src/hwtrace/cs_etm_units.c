/* SPDX-License-Identifier: MIT */
#include "hwtrace/cs_etm_units.h"

/* The words of a processor in AUXTRACE_INFO. */
enum { AT_MAGIC, AT_CPU, AT_COUNT, AT_CONFIGR, AT_TRACEIDR, AT_IDR0, AT_IDR1, AT_IDR2, AT_IDR8, AT_AUTHSTATUS };
enum { AT_DEVARCH = AT_AUTHSTATUS + 1, FIRST_CPU = 3 };
#define IS_OF_OLD_KERNELS (UINT64_C(1) << 31) /* before the number that kernels before 6.2 use */
#define MAGIC_ETMV4 0x4040404040404040u
#define MAGIC_ETE 0x5050505050505050u

/* Whether the processor's unit writes with this number; newer kernels give it in records, not in AUXTRACE_INFO. */
static bool writes_as(const struct pf_aux_recording *recording, const uint64_t *words, unsigned source)
{
    uint64_t cpu;
    if (recording->source_cpus && pf_map_get(recording->source_cpus, source, &cpu))
        return words[AT_CPU] == cpu;
    return words[AT_TRACEIDR] == source ||
           (!recording->source_cpus && words[AT_TRACEIDR] == (IS_OF_OLD_KERNELS | source));
}

/* `left`: so many words follow the last one that each processor has. */
static struct pf_cs_unit unit_of(const uint64_t *words, size_t left)
{
    const bool has_devarch = words[AT_COUNT] > AT_DEVARCH - AT_CONFIGR && left > 0;
    return (struct pf_cs_unit){.cpu = (int32_t)words[AT_CPU],
                               .is_ete = words[AT_MAGIC] == MAGIC_ETE,
                               .config = words[AT_CONFIGR],
                               .source = words[AT_TRACEIDR],
                               .id0 = (uint32_t)words[AT_IDR0],
                               .id1 = (uint32_t)words[AT_IDR1],
                               .id2 = (uint32_t)words[AT_IDR2],
                               .id8 = (uint32_t)words[AT_IDR8],
                               .devarch = has_devarch ? (uint32_t)words[AT_DEVARCH] : 0};
}

bool pf_cs_find_unit(const struct pf_aux_recording *recording, int32_t cpu, unsigned source, struct pf_cs_unit *unit)
{
    for (size_t at = FIRST_CPU; at + AT_AUTHSTATUS < recording->priv_count;) {
        const uint64_t *words = recording->priv + at;
        const bool found =
            source ? writes_as(recording, words, source) : cpu < 0 || words[AT_CPU] == (uint64_t)(int64_t)cpu;
        if (found && (words[AT_MAGIC] == MAGIC_ETMV4 || words[AT_MAGIC] == MAGIC_ETE)) {
            *unit = unit_of(words, recording->priv_count - at - AT_DEVARCH);
            return true;
        }
        at += AT_CONFIGR + (size_t)pf_min(words[AT_COUNT], recording->priv_count);
    }
    return false;
}

#ifdef PF_HAVE_OPENCSD

/* ETMv4.4 came with Armv8.4: its processors have the branches of Armv8.3, which authenticate pointers. */
static ocsd_arch_version_t etmv4_architecture(const struct pf_cs_unit *unit)
{
    enum { MINOR_SHIFT = 4, MINOR_MASK = 15, NEWER = 4 };
    return (unit->id1 >> MINOR_SHIFT & MINOR_MASK) >= NEWER ? ARCH_AA64 : ARCH_V8;
}

static ocsd_err_t create_etmv4(const struct pf_opencsd *csd, dcd_tree_handle_t tree, const struct pf_cs_unit *unit,
                               int flags, unsigned char *source)
{
    const ocsd_etmv4_cfg config = {.reg_idr0 = unit->id0,
                                   .reg_idr1 = unit->id1,
                                   .reg_idr2 = unit->id2,
                                   .reg_idr8 = unit->id8,
                                   .reg_configr = (uint32_t)unit->config,
                                   .reg_traceidr = (uint32_t)unit->source & 0x7f,
                                   .arch_ver = etmv4_architecture(unit),
                                   .core_prof = profile_CortexA};
    return csd->dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, source);
}

static ocsd_err_t create_ete(const struct pf_opencsd *csd, dcd_tree_handle_t tree, const struct pf_cs_unit *unit,
                             int flags, unsigned char *source)
{
    const ocsd_ete_cfg config = {.reg_idr0 = unit->id0,
                                 .reg_idr1 = unit->id1,
                                 .reg_idr2 = unit->id2,
                                 .reg_idr8 = unit->id8,
                                 .reg_devarch = unit->devarch,
                                 .reg_configr = (uint32_t)unit->config,
                                 .reg_traceidr = (uint32_t)unit->source & 0x7f,
                                 .arch_ver = ARCH_AA64,
                                 .core_prof = profile_CortexA};
    return csd->dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETE, flags, &config, source);
}

dcd_tree_handle_t pf_cs_open_tree(const struct pf_opencsd *csd, const struct pf_cs_unit *unit, int flags,
                                  unsigned char *source)
{
    dcd_tree_handle_t tree = csd->library ? csd->create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0) : NULL;
    if (!tree)
        return NULL;
    const ocsd_err_t created =
        unit->is_ete ? create_ete(csd, tree, unit, flags, source) : create_etmv4(csd, tree, unit, flags, source);
    if (created == OCSD_OK)
        return tree;
    csd->destroy_dcd_tree(tree);
    return NULL;
}

#endif
