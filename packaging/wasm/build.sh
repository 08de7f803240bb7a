#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the command for WebAssembly in FOLDER/build, the npm package of it in FOLDER/npm, and perfile.html, the page
# that opens recordings; perfile-sql.html is the same with queries in SQL.
#
# zlib, zstd, SQLite and the demangler of C++ are compiled from Debian's sources, in FOLDER/sources. FOLDER/NOTICE has the licences.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
compiler=(emcc) archiver=emar for_size=yes
export NODE_PATH=/usr/share/nodejs # where Debian has the module acorn, which emcc needs

. "$tree/packaging/sources.sh"

sources=(zlib libzstd libiberty sqlite3)
complete=$prefix/complete-$(IFS=- && echo "${sources[*]}")

libraries()
{
    fetch "${sources[@]}"
    make_once zlib zlib
    make_once libzstd zstd
    make_once cxa-demangle demangler
    make_once sqlite3 sqlite
    touch "$complete"
}

other_parts()
{
    cat <<END
Emscripten (functions of C, and the start of programs)|MIT or NCSA; musl: MIT|/usr/share/doc/emscripten/copyright
SQLite (in query.wasm and perfile-sql.html)|public domain|$(unpacked sqlite3)LICENSE.md
END
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
    cp "$folder/build/perfile-query.js" "$to/query.mjs"
    sed 's/perfile-query\.wasm/query.wasm/g' -i "$to/query.mjs"
    # pread and pwrite of Emscripten 3.1.6 use the lower 32 bits of an offset, with a sign
    sed -E 's/(do(Read|Write)v\(stream, ?iov, ?iovcnt, ?)offset_low\)/\1offset_high*4294967296+(offset_low>>>0))/g' -i "$to/command.mjs" "$to/query.mjs"
    # once more than the linker has it done
    wasm-opt -Oz --converge "$folder/build/perfile-query.wasm" -o "$to/query.wasm"
    wasm-opt -Oz --converge "$folder/build/perfile.wasm" -o "$to/perfile.wasm"
    cp "$tree/LICENSE" "$to"
    notice "$to/NOTICE"
    cp "$to/NOTICE" "$folder" # the page has the same parts
    (cd "$to" && npm pack --silent --pack-destination "$folder")
    page command perfile perfile.html
    page query query perfile-sql.html sql
}

# page COMMAND WASM PAGE [sql]: PAGE is made of the two
page()
{
    say "$3"
    zopfli --i15 -c "$folder/npm/$2.wasm" >"$folder/$2.wasm.gz" # browsers unpack nothing that is smaller
    node "$tree/packaging/wasm/page/make.mjs" "$folder/npm" "$1.mjs" "$folder/$2.wasm.gz" "$tree/src/output/flame/viewer" "$folder/$3" "${@:4}"
}

[ -e "$complete" ] || libraries
if [ ! -e "$folder/build/build.ninja" ]; then
    cross_file >"$folder/cross.ini"
    meson setup "$folder/build" "$tree" --cross-file "$folder/cross.ini" --buildtype release -Doptimization=2 -Db_pie=false -Dsystem=read \
        -Ddefault_library=static -Dman=disabled -Dcompletions=disabled -Dtests=disabled -Dcapstone=disabled -Dlzma=disabled -Dtui=disabled \
        -Dsqlite=enabled -Dopencsd=disabled >"$folder/setup.log" || {
        cat "$folder/setup.log"
        exit 1
    }
fi
say "the command"
ninja -C "$folder/build" -j "$jobs" --quiet perfile.js perfile-query.js
package
note_commit
