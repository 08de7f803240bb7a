#!/bin/sh
# SPDX-License-Identifier: MIT
# page.sh PERFILE SCDOC SOURCE [VERB]: the man page of a verb on standard output. In the source, the line @GENERATED@
# stands for what PERFILE says of the verb's options (without a verb: of the verbs), and @EXAMPLES@ for its examples. MESON_EXE_WRAPPER runs
# a PERFILE of another machine.
set -eu
generated=$(mktemp)
examples=$(mktemp)
trap 'rm -f "$generated" "$examples"' EXIT
${MESON_EXE_WRAPPER-} "$1" help --scdoc ${4:+"$4"} >"$generated"
${MESON_EXE_WRAPPER-} "$1" help --scdoc --examples ${4:+"$4"} >"$examples"
sed -e "/^@GENERATED@\$/{r $generated" -e 'd}' -e "/^@EXAMPLES@\$/{r $examples" -e 'd}' "$3" | "$2"
