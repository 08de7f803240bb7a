#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke-static.sh VERSION: the static command, in a root that has a shell and no C library that it could load.
set -eu

version=$1

# expect PATTERN COMMAND...: prints the lines of what the command prints that have it; at least one has.
expect()
{
    pattern=$1
    shift
    printf '$ %s\n' "$*"
    "$@" >/tmp/out 2>&1 || code=$?
    grep -e "$pattern" /tmp/out | head -n 3 | cut -c 1-120
    if ! grep -qe "$pattern" /tmp/out || [ "${code:-0}" -gt 128 ]; then
        printf 'smoke-static.sh: exit status %s, and no "%s" in:\n' "${code:-0}" "$pattern" >&2
        tail -n 5 /tmp/out >&2
        exit 1
    fi
    unset code
}

expect "^perfile $version\$" perfile --version
expect '^valid: ' perfile check /demo.perf.data
expect ' gzip ' perfile report --no-children -g none --sort comm,dso /demo.perf.data
expect '<!DOCTYPE html>' perfile flame --format html /demo.perf.data
expect 'libdebuginfod.so.1) is missing' env DEBUGINFOD_URLS=http://localhost:1 perfile report /demo.perf.data
expect 'foo::qux()' perfile script --symfs /jit -F ip,sym,insn,disasm /jit/jit.perf.data
expect 'Unrecognized archive format' perfile report --archive /demo.perf.data /demo.perf.data
expect 'unknown user nobdy' perfile record -u nobdy -o /tmp/out.data

if perfile record -q -o /tmp/out.data -- true; then
    expect ' samples, ' perfile record -g -o /tmp/out.data -- sh -c 'seq 1 200000 | sort -r | gzip -9 | wc -c'
    expect 'busybox' perfile report --no-children -g none --sort comm,dso /tmp/out.data
    expect 'insn: .*mov' perfile script -F ip,insn,disasm /tmp/out.data
    expect '^recorded with  perfile' sh -c 'perfile record -q -o - -- seq 1 1000000 | perfile info'
    expect ' samples, ' timeout -s INT 1 perfile record -u root -o /tmp/out.data
else
    echo 'skipped: the kernel does not let us record here'
fi
echo 'the static command: good'
