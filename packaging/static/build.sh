#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh MACHINE FOLDER: the static command for another machine, FOLDER/perfile-VERSION-MACHINE-linux-static.tar.gz.
#
# MACHINE is that of a cross compiler of Debian: aarch64 or riscv64. Its libraries are compiled from Debian's sources, in FOLDER/sources,
# since not every Debian has packages of them; the C library is the compiler's. FOLDER/perfile-*-objects.tar.xz has what links the command
# with another C library.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
machine=$1
target=$machine-linux-gnu
mkdir -p "$2"
folder=$(cd "$2" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$tree/meson.build")
packed=perfile-$version-$machine-linux-static
compiler=("$target-gcc" -isystem "$prefix/include") archiver=$target-ar
SOURCE_DATE_EPOCH=$(git -C "$tree" log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
. "$tree/packaging/sources.sh"
. "$tree/packaging/static/pack.sh"
. "$tree/packaging/static/relink.sh"

# quietly LOG COMMAND: what it prints is shown when it fails.
quietly()
{
    local log=$folder/$1.log

    shift
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 40 "$log" >&2
        return 1
    }
}

make_bzip2()
{
    printf '%s.c\n' blocksort bzlib compress crctable decompress huffman randtable | archive libbz2 "$(unpacked bzip2)"
    cp -p "$(unpacked bzip2)bzlib.h" "$prefix/include"
}

# The readers, with the filters that archives of binaries have.
make_libarchive()
{
    local from

    from=$(unpacked libarchive)
    mkdir -p "$folder/sources/made-libarchive"
    cd "$folder/sources/made-libarchive"
    CPPFLAGS="-isystem $prefix/include" LDFLAGS="-L$prefix/lib" quietly libarchive "$from/configure" --host="$target" --disable-shared --without-xml2 \
        --without-expat --without-openssl --without-nettle --without-libb2 --without-lz4 --without-cng --without-iconv --disable-acl --disable-xattr \
        --disable-bsdtar --disable-bsdcat --disable-bsdcpio
    cd "$folder"
    (cd "$from/libarchive" && printf '%s\n' *.c) | grep -v windows | archive libarchive "$from/libarchive" -DHAVE_CONFIG_H "-I$folder/sources/made-libarchive"
    cp -p "$from"/libarchive/archive.h "$from"/libarchive/archive_entry.h "$prefix/include"
}

make_capstone()
{
    local from

    from=$(unpacked capstone)
    (cd "$from" && printf '%s\n' *.c arch/*/*.c) | archive libcapstone "$from" "-I$from/include" -DCAPSTONE_USE_SYS_DYN_MEM \
        -DCAPSTONE_HAS_{ARM,ARM64,M68K,MIPS,POWERPC,SPARC,SYSZ,XCORE,X86,TMS320C64X,M680X,EVM}
    cp -pr "$from/include/capstone" "$prefix/include"
    describe capstone "$(basename "$from" | sed 's/capstone-//')" capstone
}

# With the terminals that the machine has descriptions of, in the folders where systems keep them.
make_ncurses()
{
    local from made=$folder/sources/made-ncurses

    from=$(unpacked ncurses)
    say libncursesw
    mkdir -p "$made"
    cd "$made"
    quietly ncurses "$from/configure" --host="$target" --with-build-cc=gcc --enable-widec --disable-pc-files --disable-stripping --disable-db-install \
        --without-ada --without-cxx --without-cxx-binding --without-debug --without-gpm --without-manpages --without-progs --without-tests \
        --with-default-terminfo-dir=/etc/terminfo --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/share/misc/terminfo \
        --prefix=/usr CFLAGS=-O2
    quietly ncurses make -j "$jobs" -C include
    quietly ncurses make -j "$jobs" -C ncurses
    cd "$folder"
    cp -p "$made"/lib/libncursesw.a "$prefix/lib"
    cp -p "$made"/include/*.h "$from"/include/*.h "$prefix/include"
    describe ncursesw "$(basename "$from" | sed 's/ncurses-//')" ncursesw
}

sources=(zlib libzstd xz-utils sqlite3 bzip2 libarchive capstone ncurses)
complete=$prefix/complete-$(IFS=- && echo "${sources[*]}")

libraries()
{
    fetch "${sources[@]}"
    make_once zlib zlib
    make_once libzstd zstd
    make_once liblzma lzma
    make_once sqlite3 sqlite
    make_once capstone capstone
    make_once ncursesw ncurses
    make_bzip2
    make_libarchive
    touch "$complete"
}

other_parts()
{
    local of_compiler=/usr/share/doc/gcc-12-cross-base/copyright of_library

    [ -e "$of_compiler" ] || of_compiler=$(find /usr/share/doc/gcc-*-"${target%-gnu}"*/ /usr/share/doc/gcc-*-cross-base*/ -name copyright 2>/dev/null | head -n 1)
    of_library=$(find /usr/share/doc/libc6-dev-*-cross/ -name copyright 2>/dev/null | head -n 1)
    cat <<END
xz (liblzma)|public domain|$(unpacked xz-utils)COPYING
SQLite|public domain|$(unpacked sqlite3)LICENSE.md
bzip2|bzip2-1.0.6|$(unpacked bzip2)LICENSE
libarchive|BSD-2-Clause|$(unpacked libarchive)COPYING
capstone|BSD-3-Clause, and that of LLVM|$(unpacked capstone)LICENSE.TXT $(unpacked capstone)LICENSE_LLVM.TXT
ncurses|X11|$(unpacked ncurses)COPYING
glibc|LGPL-2.1-or-later|$of_library
GCC (libgcc, libsupc++)|GPL-3.0-or-later with the GCC Runtime Library Exception 3.1|$of_compiler
END
}

# The program only runs to print its man pages.
cross_file()
{
    cat <<END
[binaries]
c = '$target-gcc'
ar = '$archiver'
strip = '$target-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$machine-static', '-L', '/usr/$target']
[properties]
pkg_config_libdir = '$prefix/lib/pkgconfig'
libraries = '$prefix/lib'
[built-in options]
c_args = ['-isystem', '$prefix/include']
[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
}

[ -e "$complete" ] || libraries
if [ ! -e "$folder/build/build.ninja" ]; then
    cross_file >"$folder/cross.ini"
    quietly setup meson setup "$folder/build" "$tree" --cross-file "$folder/cross.ini" --buildtype release -Ddefault_library=static -Dstatic_command=true \
        -Dtests=disabled -Dman=enabled -Dcompletions=enabled -Dcapstone=enabled -Dlzma=enabled -Dtui=enabled -Dsqlite=enabled
fi
say "the command"
cd "$folder/build"
mapfile -t targets < <(static_targets)
MESON_EXE_WRAPPER=qemu-$machine-static ninja -j "$jobs" --quiet "${targets[@]}"
rm -rf "$packed" "$folder"/perfile-* # also of an earlier version
mkdir "$packed"
notice "$packed/NOTICE" "The objects that it is linked of, and what links them with another glibc, are in $packed-objects.tar.xz."
pack_static "$tree" "$packed" "$target-strip"
mv "$packed.tar.gz" "$folder"
cp "$packed/perfile" "$folder"
linked_again "$packed-objects"
note_commit
