/* SPDX-License-Identifier: MIT */
/* The end of reading a recording: what the frames of its samples stand for becomes the profile's. */
#ifndef PF_ANALYSIS_PROFILE_AGGREGATE_NAMES_H
#define PF_ANALYSIS_PROFILE_AGGREGATE_NAMES_H

#include "analysis/profile/aggregate.h"
#include "analysis/profile.h"
#include "analysis/tree.h"

struct pf_aggregate_named {
    struct pf_aggregate *aggregate;
    struct pf_profile *profile;
    const struct pf_tree
        *tree;             /* of links: of the frames of `profile`; rows have its nodes, and frames as their leaves */
    struct pf_tree *gives; /* the tree, whose memory becomes the nodes'; NULL: it is still needed */
    bool addresses;        /* frames have their addresses and lines, not only their functions */
    bool joined;           /* set when frames of the recording are equal in the profile: nodes may be, too */
};

/* Fills the nodes and what they refer to; rows refer to those then. False when out of memory. */
bool pf_aggregate_name(struct pf_aggregate_named *named);

#endif
