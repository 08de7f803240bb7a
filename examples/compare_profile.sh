#!/bin/sh
# SPDX-License-Identifier: MIT
# compare_profile.sh WRITER PERFILE EXPECTED: the stacks in what the example writes are the expected ones.
set -e
made=$(mktemp)
trap 'rm -f "$made"' EXIT
${MESON_EXE_WRAPPER:-} "$1" "$made"
${MESON_EXE_WRAPPER:-} "$2" check "$made"
${MESON_EXE_WRAPPER:-} "$2" flame --format folded --count-samples "$made" | diff - "$3"
