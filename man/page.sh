#!/bin/sh
# SPDX-License-Identifier: MIT
# page.sh PERFILE SCDOC SOURCE [VERB]: the man page of a verb on standard output. In the source, the line @GENERATED@
# stands for what PERFILE says of the verb's options (without a verb: of the verbs).
set -eu
generated=$(mktemp)
trap 'rm -f "$generated"' EXIT
"$1" help --scdoc ${4:+"$4"} >"$generated"
sed -e "/^@GENERATED@\$/{r $generated" -e 'd}' "$3" | "$2"
