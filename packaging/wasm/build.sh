#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the command for WebAssembly in FOLDER/build, the npm package of it in FOLDER/npm, and perfile.html, the page
# that opens recordings.
#
# zlib, zstd and elfutils are compiled from Debian's sources, in FOLDER/sources: apt-get brings them from where the
# packages of this machine come from. FOLDER/lib has the objects that a change of elfutils is linked with.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
export NODE_PATH=/usr/share/nodejs # where Debian has the module acorn, which emcc needs

say()
{
    printf '== %s\n' "$*"
}

# The sources of packages, unpacked in $folder/sources/NAME-VERSION.
fetch()
{
    local apt archive lists=$folder/apt

    mkdir -p "$lists/parts" "$lists/lists/partial" "$folder/sources"
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types: deb$/Types: deb-src/' >"$lists/parts/all.sources" || true
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$lists/parts/all.list" || true
    apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$lists/parts"
        -o "Dir::State::Lists=$lists/lists" -o APT::Sandbox::User=root)
    cd "$folder/sources"
    "${apt[@]}" update
    "${apt[@]}" source --download-only "$@"
    for archive in *.orig.tar.gz *.orig.tar.xz *.orig.tar.bz2; do
        [ ! -e "$archive" ] || tar -xf "$archive"
    done
    cd "$folder"
}

# archive NAME FOLDER FLAGS...: lib/NAME.a of the sources whose names come on standard input, relative to the folder. Those that
# match $small are compiled for size: what reads recordings is not among them.
archive()
{
    local name=$1 from=$2 objects=$prefix/objects/$1

    shift 2
    say "$name"
    rm -rf "$objects"
    mkdir -p "$objects" "$prefix/lib/pkgconfig" "$prefix/include"
    (cd "$from" && small=${small:-} xargs -P "$jobs" -I{} bash -c 'level=-O2; [[ $1 != $small ]] || level="-Os -DZSTD_NO_INLINE"; cd "$(dirname "$1")" &&
        emcc $level -w -std=gnu11 "${@:3}" -c "$(basename "$1")" -o "$2/$(echo "$1" | tr / _).o"' \
        bash {} "$objects" "$@")
    rm -f "$prefix/lib/$name.a"
    emar rcs "$prefix/lib/$name.a" "$objects"/*.o
}

# describe NAME VERSION LIBRARY: for pkg-config
describe()
{
    printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' "$1" "$1" "$2" "$prefix" "$3" "$prefix" \
        >"$prefix/lib/pkgconfig/$1.pc"
}

libraries()
{
    local zlib zstd elfutils

    fetch zlib libzstd elfutils
    zlib=$(echo "$folder"/sources/zlib-*/) zstd=$(echo "$folder"/sources/zstd-*/) elfutils=$(echo "$folder"/sources/elfutils-*/)
    printf '%s.c\n' adler32 compress crc32 deflate inffast inflate inftrees trees uncompr zutil | archive libz "$zlib"
    cp -p "$zlib"/zlib.h "$zlib"/zconf.h "$prefix/include"
    (cd "$zstd/lib" && ls common/*.c compress/*.c decompress/*.c) | small='compress/*' archive libzstd "$zstd/lib" -DZSTD_DISABLE_ASM "-I$zstd/lib"
    cp -p "$zstd"/lib/zstd.h "$zstd"/lib/zstd_errors.h "$prefix/include"
    cp "$tree/packaging/wasm/elfutils_rest.c" "$elfutils/lib/elfutils_rest.c"
    (cd "$elfutils" && ls libelf/*.c libdw/*.c libdwelf/*.c lib/next_prime.c lib/elfutils_rest.c) |
        small='*' archive libelfutils "$elfutils" -D_GNU_SOURCE -DHAVE_CONFIG_H "-I$tree/packaging/wasm" -I. -I../lib -I../libelf -I../libdw -I../libebl -I../libdwelf \
            -I../libdwfl "-I$prefix/include"
    mkdir -p "$prefix/include/elfutils"
    (cd "$elfutils" && cp -p libelf/libelf.h libelf/gelf.h libelf/elf.h libdw/dwarf.h "$prefix/include" &&
        cp -p libdw/libdw.h libdwelf/libdwelf.h libelf/elf-knowledge.h version.h "$prefix/include/elfutils")
    describe zlib "$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"/\1/p' "$zlib/zlib.h")" z
    describe libzstd "${zstd##*zstd-}" zstd
    describe libelf "$(basename "$elfutils" | sed 's/elfutils-//')" elfutils
    describe libdw "$(basename "$elfutils" | sed 's/elfutils-//')" elfutils
    touch "$prefix/complete"
}

cross_file()
{
    cat <<END
[binaries]
c = 'emcc'
cpp = 'em++'
ar = 'emar'
strip = 'emstrip'
pkgconfig = 'pkg-config'
exe_wrapper = ['node', '--no-experimental-fetch']
[properties]
pkg_config_libdir = '$prefix/lib/pkgconfig'
[host_machine]
system = 'emscripten'
cpu_family = 'wasm32'
cpu = 'wasm32'
endian = 'little'
END
}

package()
{
    local to=$folder/npm version

    version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$tree/meson.build")
    rm -rf "$to"
    cp -r "$tree/packaging/wasm/npm" "$to"
    sed -i "s/@VERSION@/$version/" "$to/package.json"
    cp "$folder/build/perfile.js" "$to/command.mjs"
    cp "$folder/build/perfile.wasm" "$tree/LICENSE" "$to"
    (cd "$to" && npm pack --silent --pack-destination "$folder")
    say "the page"
    zopfli --i15 -c "$to/perfile.wasm" >"$folder/perfile.wasm.gz" # browsers unpack nothing that is smaller
    node "$tree/packaging/wasm/page/make.mjs" "$to" "$folder/perfile.wasm.gz" "$tree/src/output/flame/viewer" "$folder/perfile.html"
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
ninja -C "$folder/build" --quiet perfile.js
package
