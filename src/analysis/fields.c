/* SPDX-License-Identifier: MIT */
#include "analysis/fields.h"

#define PF_FIELD(id, alias, type, unit, needs, extra, doc) const char pf_field_doc_##id[] = doc;
#define PF_FIELD_SURE PF_FIELD
#define PF_FIELD_NUMBER(id, alias, type, unit, needs, extra, value, doc) const char pf_field_doc_##id[] = doc;
#include "analysis/fields.def"
