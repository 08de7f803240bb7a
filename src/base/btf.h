/* SPDX-License-Identifier: MIT */
/* BTF: the types of BPF programs. */
#ifndef PF_BASE_BTF_H
#define PF_BASE_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of type `id`, or NULL. */
const char *pf_btf_name(const uint8_t *btf, size_t bytes, bool swap, uint32_t id);

#endif
