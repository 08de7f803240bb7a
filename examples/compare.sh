#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh PROGRAM RECORDING EXPECTED: succeeds when PROGRAM does, and prints EXPECTED and no complaint.
set -eu
output=$(${MESON_EXE_WRAPPER:-} "$1" "$2" 2>&1) || {
    printf '%s\n' "$output"
    exit 1
}
printf '%s\n' "$output" | diff "$3" -
