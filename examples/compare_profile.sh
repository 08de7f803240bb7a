#!/bin/sh
# SPDX-License-Identifier: MIT
# compare_profile.sh WRITER PERFILE EXPECTED: the stacks in what the example writes are the expected ones, also when its
# path has spaces.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LD_LIBRARY_PATH=$(cd "$(dirname "$1")/.." && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # for the copy
export LD_LIBRARY_PATH
mkdir "$folder/a b ☃"
cp "$1" "$folder/a b ☃/writer"
for writer in "$1" "$folder/a b ☃/writer"; do
    ${MESON_EXE_WRAPPER:-} "$writer" "$folder/made"
    ${MESON_EXE_WRAPPER:-} "$2" check "$folder/made"
    ${MESON_EXE_WRAPPER:-} "$2" flame --format folded --count-samples "$folder/made" | diff - "$3"
done
