/* SPDX-License-Identifier: MIT */
/* The PMUs of /sys/bus/event_source/devices. */
#include <unistd.h>

#include "record/machine_body.h"

#define PMUS "sys/bus/event_source/devices"

enum { VALUE_CAPACITY = 4096 };

static bool pmu_path(char *path, const char *pmu, const char *file)
{
    return pf_path(path, PF_PATH_CAPACITY, PMUS "/%s/%s", pmu, file);
}

/* PMUs of CPUs say which these are; perf takes "cpu" for one too. */
static bool is_core(const struct pf_body *body, const char *pmu)
{
    char path[PF_PATH_CAPACITY];
    return strcmp(pmu, "cpu") == 0 || (pmu_path(path, pmu, "cpus") && faccessat(body->root, path, F_OK, 0) == 0);
}

/* Calls `put` for each PMU, and writes in front how often it wrote something. */
static bool put_each(struct pf_body *body, bool (*put)(struct pf_body *body, const char *pmu))
{
    struct pf_listing names;
    uint32_t count = 0;
    size_t start = body->text->used;
    bool read = pf_listing_open(&names, body->allocator, body->root, PMUS);
    pf_body_u32(body, 0);
    for (size_t i = 0; read && i < names.count; i++)
        count += put(body, names.items[i]);
    pf_listing_close(&names);
    pf_body_set_u32(body, start, count);
    return read;
}

static bool put_type(struct pf_body *body, const char *pmu)
{
    char path[PF_PATH_CAPACITY];
    uint64_t type;
    if (!pmu_path(path, pmu, "type") || !pf_read_number(body->root, path, 10, &type) || type > UINT32_MAX)
        return false;
    pf_body_u32(body, (uint32_t)type);
    pf_body_text(body, pmu);
    return true;
}

bool pf_body_pmu_mappings(struct pf_body *body)
{
    return put_each(body, put_type);
}

/* ---- capabilities ---- */

/* How many there are is written in front of them; false: the PMU does not say any. */
static bool put_capabilities(struct pf_body *body, const char *pmu)
{
    char path[PF_PATH_CAPACITY], value[VALUE_CAPACITY];
    struct pf_listing names;
    size_t start = body->text->used;
    uint32_t count = 0;
    if (!pmu_path(path, pmu, "caps"))
        return false;
    bool read = pf_listing_open(&names, body->allocator, body->root, path);
    pf_body_u32(body, 0);
    for (size_t i = 0; read && i < names.count; i++) {
        if (!pf_path(path, sizeof(path), PMUS "/%s/caps/%s", pmu, names.items[i]) ||
            !pf_read_line(body->root, path, value, sizeof(value)))
            continue;
        pf_body_text(body, names.items[i]);
        pf_body_text(body, value);
        count++;
    }
    pf_listing_close(&names);
    pf_body_set_u32(body, start, count);
    if (!count)
        body->text->used = start;
    return count > 0;
}

bool pf_body_cpu_pmu_caps(struct pf_body *body)
{
    if (!put_capabilities(body, "cpu"))
        pf_body_u32(body, 0);
    return true;
}

static bool put_pmu_caps(struct pf_body *body, const char *pmu)
{
    if (strcmp(pmu, "cpu") == 0 || !put_capabilities(body, pmu)) /* that is CPU_PMU_CAPS */
        return false;
    pf_body_text(body, pmu);
    return true;
}

static bool put_core_caps(struct pf_body *body, const char *pmu)
{
    return is_core(body, pmu) && put_pmu_caps(body, pmu);
}

static bool put_other_caps(struct pf_body *body, const char *pmu)
{
    return !is_core(body, pmu) && put_pmu_caps(body, pmu);
}

/* perf has those of CPUs first, for the sake of its older versions. */
bool pf_body_pmu_caps(struct pf_body *body)
{
    uint32_t cores, others;
    if (!put_each(body, put_core_caps))
        return false;
    size_t second = body->text->used;
    if (!put_each(body, put_other_caps) || body->text->failed)
        return false;
    memcpy(&cores, body->text->data, sizeof(cores));
    memcpy(&others, body->text->data + second, sizeof(others));
    memmove(body->text->data + second, body->text->data + second + 4, body->text->used - second - 4);
    body->text->used -= 4;
    pf_body_set_u32(body, 0, cores + others);
    return true;
}

/* ---- different kinds of CPUs ---- */

static bool put_cpus(struct pf_body *body, const char *pmu)
{
    char path[PF_PATH_CAPACITY], cpus[VALUE_CAPACITY];
    if (!pmu_path(path, pmu, "cpus") || !pf_read_line(body->root, path, cpus, sizeof(cpus)))
        return false;
    pf_body_text(body, pmu);
    pf_body_text(body, cpus);
    return true;
}

bool pf_body_hybrid_topology(struct pf_body *body)
{
    uint32_t count = 0;
    if (!put_each(body, put_cpus) || body->text->failed)
        return false;
    memcpy(&count, body->text->data, sizeof(count));
    return count > 1;
}
