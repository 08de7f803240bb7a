# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The archive of a static command, for packaging/build and packaging/static/build.sh.

# static_targets: what ninja builds of the current folder for the archive.
static_targets()
{
    echo perfile
    ninja -t targets all | sed -n 's/^\(man\/[^:]*\): CUSTOM_COMMAND$/\1/p'
}

# pack_static TREE NAME STRIP: NAME.tar.gz of the current folder, in which static_targets were built, with what the folder NAME has already.
# Two runs give the same bytes where SOURCE_DATE_EPOCH is set.
pack_static()
{
    local tree=$1 name=$2

    mkdir -p "$name/man/man1" "$name/completions"
    "$3" -o "$name/perfile" perfile
    cp man/*.1 "$name/man/man1"
    cp man/perfile man/_perfile man/perfile.fish "$name/completions"
    cp "$tree/README.md" "$tree/NEWS.md" "$tree/LICENSE" "$tree/examples/demo.perf.data" "$name"
    chmod -R u=rwX,go=rX "$name"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf - "$name" | gzip -9n >"$name.tar.gz"
}
