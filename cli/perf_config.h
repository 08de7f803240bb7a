/* SPDX-License-Identifier: MIT */
/*
 * perf's configuration files: /etc/perfconfig and ~/.perfconfig, or the file that $PERF_CONFIG names and no other. They
 * are read once. Keys that mean nothing here are ignored without a message, as perf does.
 */
#ifndef CLI_PERF_CONFIG_H
#define CLI_PERF_CONFIG_H

/* The value of a key such as "alias.hot"; NULL: no file has it. It stays. */
const char *pf_perf_config_value(const char *key);
/* The folder of the build-id cache: buildid.dir. NULL: no file has it. It stays. */
const char *pf_perf_config_build_ids(void);
/*
 * The arguments of a verb after options that its keys stand for; those that the arguments contain, or their opposites,
 * are left out. The result stays; it is `arguments` when nothing was added.
 */
char **pf_perf_config_arguments(const char *verb, char **arguments);
/* The words of alias.NAME, and `arguments` after them. NULL: no alias has this name. The result stays. */
char **pf_perf_config_alias(const char *name, char **arguments);

#endif
