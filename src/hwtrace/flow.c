/* SPDX-License-Identifier: MIT */
#include "hwtrace/flow.h"

const char *pf_flow_error_text(unsigned code)
{
    static const char *const texts[PF_FLOW_ERRORS] = {
        [PF_FLOW_ERROR_MEMORY] = "Memory allocation failed",
        [PF_FLOW_ERROR_INTERNAL] = "Internal error",
        [PF_FLOW_ERROR_BAD_PACKET] = "Bad packet",
        [PF_FLOW_ERROR_NO_MORE] = "No more data",
        [PF_FLOW_ERROR_NO_CODE] = "Failed to get instruction",
        [PF_FLOW_ERROR_MISMATCH] = "Trace doesn't match instruction",
        [PF_FLOW_ERROR_OVERFLOW] = "Overflow packet",
        [PF_FLOW_ERROR_LOST] = "Lost trace data",
        [PF_FLOW_ERROR_UNKNOWN] = "Unknown error!",
        [PF_FLOW_ERROR_ENDLESS] = "Never-ending loop",
    };
    return code < PF_FLOW_ERRORS && texts[code] ? texts[code] : texts[PF_FLOW_ERROR_UNKNOWN];
}
