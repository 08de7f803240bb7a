#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke-bundle.sh PERFILE FOLDER NAME: what verbs print of FOLDER/recording.data goes to files in FOLDER/NAME. A bundle gives the
# same on every machine.
set -eu

perfile=$1
cd "$2"
mkdir "$3"
show()
{
    name=$1
    shift
    "$perfile" "$@" recording.data >"$name" 2>/dev/null || {
        printf 'smoke-bundle.sh: %s fails\n' "$*" >&2
        exit 1
    }
}

show "$3/report" report --stdio --children -g caller
show "$3/flat" report --stdio --no-children -g none --sort comm,dso,symbol,srcline
show "$3/script" script
show "$3/lines" script -F comm,tid,time,ip,sym,symoff,dso,srcline
show "$3/folded" flame --format folded
show "$3/annotate" annotate --format text --top 5
