/* SPDX-License-Identifier: MIT */
/* The keys of perf's configuration files that perfile follows, so that both use the same folders. */
#ifndef CLI_PERF_CONFIG_H
#define CLI_PERF_CONFIG_H

/*
 * The folder of the build-id cache: `dir` of the section [buildid] in ~/.perfconfig, else in /etc/perfconfig; or in the
 * file that $PERF_CONFIG names and no other. NULL: none has it. It is read once and stays.
 */
const char *pf_perf_config_build_ids(void);

#endif
