#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the command for WebAssembly in FOLDER/build, the npm package of it in FOLDER/npm, and perfile.html, the page
# that opens recordings.
#
# zlib, zstd and elfutils are compiled from Debian's sources, in FOLDER/sources. FOLDER/lib has the objects that a change
# of elfutils is linked with.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$folder/prefix
jobs=${JOBS:-2}
compiler=(emcc) archiver=emar for_size=yes
export NODE_PATH=/usr/share/nodejs # where Debian has the module acorn, which emcc needs

. "$tree/packaging/sources.sh"

libraries()
{
    fetch zlib libzstd elfutils
    make_once zlib zlib
    make_once libzstd zstd
    make_once libdw elfutils
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
