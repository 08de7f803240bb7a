#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the command for Windows, FOLDER/perfile.exe.
#
# zlib, zstd, elfutils, and the regular expressions of musl are compiled from Debian's sources, in FOLDER/sources.
# FOLDER/prefix/objects and FOLDER/build have the objects that a change of elfutils is linked with.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
target=x86_64-w64-mingw32
flags=(-mno-ms-bitfields -isystem "$tree/src/platform/windows/posix" -isystem "$prefix/include"
    -D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -D__USE_MINGW_ANSI_STDIO=1)
# The compiler judges formats by those of the C library, which are not the ones that are used.
quiet=(-Wno-format -Wno-format-extra-args -Wno-float-conversion)
compiler=("$target-gcc-posix" "${flags[@]}") archiver=$target-ar
. "$tree/packaging/sources.sh"

# The C library has none.
make_regex()
{
    local from

    from=$(unpacked musl)src/regex
    sed -i 's/^typedef wint_t tre_cint_t;/typedef unsigned tre_cint_t;/' "$from/tre.h"
    printf '%s.c\n' regcomp regexec regerror tre-mem fnmatch |
        archive libregex "$from" -D_GNU_SOURCE -Dhidden= -DCHARCLASS_NAME_MAX=14 -DRE_DUP_MAX=255 "-I$tree/packaging/windows"
    describe regex "$(basename "$(unpacked musl)" | sed 's/musl-//')" regex
}

libraries()
{
    fetch zlib libzstd elfutils musl
    make_once zlib zlib
    make_once libzstd zstd
    make_once regex regex
    make_once libdw elfutils
    touch "$prefix/complete"
}

words()
{
    printf "'%s', " "$@"
}

# Nothing is run meanwhile: exe_wrapper only makes Meson content.
cross_file()
{
    cat <<END
[binaries]
c = [$(words ${CCACHE-} "$target-gcc-posix")]
ar = '$target-ar'
strip = '$target-strip'
pkgconfig = 'pkg-config'
exe_wrapper = 'true'
[properties]
pkg_config_libdir = '$prefix/lib/pkgconfig'
libraries = '$prefix/lib'
[built-in options]
c_args = [$(words "${flags[@]}" "${quiet[@]}")]
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
}

[ -e "$prefix/complete" ] || libraries
if [ ! -e "$folder/build/build.ninja" ]; then
    cross_file >"$folder/cross.ini"
    meson setup "$folder/build" "$tree" --cross-file "$folder/cross.ini" --buildtype release -Doptimization=2 -Db_pie=false -Dsystem=read \
        -Ddefault_library=static -Dman=disabled -Dcompletions=disabled -Dtests=disabled -Dcapstone=disabled -Dlzma=disabled -Dtui=disabled \
        -Dsqlite=disabled -Dopencsd=disabled >"$folder/setup.log" || {
        cat "$folder/setup.log"
        exit 1
    }
fi
say "the command"
ninja -C "$folder/build" -j "$jobs" --quiet perfile.exe
"$target-strip" -o "$folder/perfile.exe" "$folder/build/perfile.exe"
