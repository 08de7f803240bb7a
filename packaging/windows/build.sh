#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the command for Windows, FOLDER/perfile.exe.
#
# zlib, zstd, xz, the demangler of C++, and the regular expressions of musl are compiled from Debian's sources, in FOLDER/sources.
# FOLDER/NOTICE has the licences.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
target=x86_64-w64-mingw32
flags=(-mno-ms-bitfields -isystem "$tree/src/platform/windows/posix" -isystem "$prefix/include"
    -D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -D__USE_MINGW_ANSI_STDIO=1)
# The compiler judges formats by those of the C library, which are not the ones that are used, and sees a buffer of no bytes
# where there is none.
quiet=(-Wno-stringop-overflow -Wno-format -Wno-format-extra-args -Wno-float-conversion)
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

sources=(zlib libzstd libiberty xz-utils musl)
complete=$prefix/complete-$(IFS=- && echo "${sources[*]}")

libraries()
{
    fetch "${sources[@]}"
    make_once zlib zlib
    make_once libzstd zstd
    make_once regex regex
    make_once cxa-demangle demangler
    make_once liblzma lzma
    touch "$complete"
}

words()
{
    printf "'%s', " "$@"
}

other_parts()
{
    cat <<END
xz (liblzma)|public domain|$(unpacked xz-utils)COPYING
musl (regular expressions)|MIT|$(unpacked musl)COPYRIGHT
mingw-w64 (the start of programs, and functions of C)|public domain, Zope Public License 2.1, MIT and BSD|/usr/share/doc/mingw-w64-common/copyright
GCC (libgcc)|GPL-3.0-or-later with the GCC Runtime Library Exception 3.1|/usr/share/doc/gcc-mingw-w64-base/copyright
END
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

[ -e "$complete" ] || libraries
if [ ! -e "$folder/build/build.ninja" ]; then
    cross_file >"$folder/cross.ini"
    meson setup "$folder/build" "$tree" --cross-file "$folder/cross.ini" --buildtype release -Doptimization=2 -Db_pie=false -Dsystem=read \
        -Ddefault_library=static -Dman=disabled -Dcompletions=disabled -Dtests=disabled -Dcapstone=disabled -Dtui=disabled \
        -Dsqlite=disabled -Dopencsd=disabled >"$folder/setup.log" || {
        cat "$folder/setup.log"
        exit 1
    }
fi
say "the command"
ninja -C "$folder/build" -j "$jobs" --quiet perfile.exe
"$target-strip" -o "$folder/perfile.exe" "$folder/build/perfile.exe"
notice "$folder/NOTICE"
note_commit
