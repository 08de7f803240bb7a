/* SPDX-License-Identifier: MIT */
#ifndef PF_EDIT_ANONYMIZE_RECORDS_H
#define PF_EDIT_ANONYMIZE_RECORDS_H

#include "edit/edit.h"

/* The step's function for records; the context is a struct pf_anonymizer. */
int pf_anon_record(void *context, struct pf_item *item, struct perfile_error *error);

#endif
