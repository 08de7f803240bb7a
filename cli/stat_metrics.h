/* SPDX-License-Identifier: MIT */
/* What stat --metrics and --topdown ask for: names of metrics become expressions, and events that must be counted. */
#ifndef PF_CLI_STAT_METRICS_H
#define PF_CLI_STAT_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* The names that stat --metrics knows; NULL after the last one. */
const char *pf_stat_metric_at(size_t index, const char **doc);
/* Appends "NAME=EXPRESSION", or the metrics with these names, as lines; a status. */
int pf_stat_metrics_add(char **lines, const char *text);
/* Appends the events of metrics by name to a list, those that are not in it; a status. */
int pf_stat_metrics_add_events(char **events, const char *lines);
/*
 * Replaces lines that are names of metrics, or of groups of metrics, by the metrics that the folder of Linux's sources
 * has for a processor, and appends the events of these to a list; a status. See stat_library.c.
 */
int pf_stat_library_resolve(const char *folder, char **lines, char **events);
/* Appends the metrics of --topdown: each way that events may say it, as lines that need their events; a status. */
int pf_stat_topdown_add(char **lines);
/* Appends the events of the first way that this machine has; a status, with a message if it has none. */
int pf_stat_topdown_add_events(char **events);

#endif
