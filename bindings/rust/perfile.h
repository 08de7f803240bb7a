/* SPDX-License-Identifier: MIT */
/* All public headers, for bindgen: see README.md. */
#include <perfile/perfile.h>
#include <perfile/records.h>
#include <perfile/analysis.h>
#include <perfile/profile.h>
#include <perfile/table.h>
#include <perfile/writer.h>
#include <perfile/edit.h>
#include <perfile/index.h>
#include <perfile/recorder.h>
#include <perfile/annotate.h>
#include <perfile/diff.h>
#include <perfile/pgo.h>
#include <perfile/probe.h>
#include <perfile/symbolize.h>
#include <perfile/builder.h>
