# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Libraries compiled from Debian's sources, for systems of which Debian has no packages: build.sh of wasm, windows and static.
# It is read by a script that has set
#   tree      the checkout
#   folder    where sources are unpacked, in sources/
#   prefix    where the libraries are made: lib/, lib/pkgconfig/, include/, and in objects/ what they are made of
#   jobs      processors to use
#   compiler  the compiler, an array of words: flags may follow
#   archiver
#   for_size  yes: what does not read records is compiled for size; it may be unset

say()
{
    printf '== %s\n' "$*"
}

# The sources of packages with the patches of Debian, some of which close holes, in $folder/sources/NAME-VERSION: apt-get brings them from
# where the packages of this machine come from.
fetch()
{
    local options package lists=$folder/apt

    mkdir -p "$lists/parts" "$lists/lists/partial" "$folder/sources"
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types: deb$/Types: deb-src/' >"$lists/parts/all.sources" || true
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$lists/parts/all.list" || true
    options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$lists/parts"
        -o "Dir::State::Lists=$lists/lists" -o APT::Sandbox::User=root)
    cd "$folder/sources"
    apt-get "${options[@]}" update
    for package in "$@"; do
        fetch_one "$package"
    done
    find . -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +
    for package in *.dsc; do
        dpkg-source --no-copy --no-check -x "$package" >/dev/null
    done
    cd "$folder"
}

# The newest version of the sources of a package, or the one before where a mirror lists what it does not have yet.
fetch_one()
{
    local version

    for version in $(apt-cache "${options[@]}" showsrc "$1" | sed -n 's/^Version: //p' | sort -rVu); do
        ! apt-get "${options[@]}" source --download-only "$1=$version" || return 0
    done
    return 1
}

# archive NAME FOLDER FLAGS...: lib/NAME.a of the sources whose names come on standard input, relative to the folder. Those that
# match $small are compiled for size where $for_size says so.
archive()
{
    local name=$1 from=$2 objects=$prefix/objects/$1

    shift 2
    say "$name"
    rm -rf "$objects"
    mkdir -p "$objects" "$prefix/lib/pkgconfig" "$prefix/include"
    (cd "$from" && small=${for_size:+${small:-}} xargs -P "$jobs" -I{} bash -c 'level=-O2; [[ $1 != $small ]] || level="-Oz -DZSTD_NO_INLINE"
        cd "$(dirname "$1")" && "${@:3}" $level -c "$(basename "$1")" -o "$2/$(echo "$1" | tr / _).o"' \
        bash {} "$objects" "${compiler[@]}" -w -std=gnu11 "$@")
    rm -f "$prefix/lib/$name.a"
    "$archiver" rcs "$prefix/lib/$name.a" "$objects"/*.o
}

# describe NAME VERSION LIBRARY: for pkg-config
describe()
{
    printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' "$1" "$1" "$2" "$prefix" "$3" "$prefix" \
        >"$prefix/lib/pkgconfig/$1.pc"
}

# unpacked NAME: the folder of its sources
unpacked()
{
    echo "$folder/sources/$1"-*/
}

make_zlib()
{
    local from

    from=$(unpacked zlib)
    # its tables of checksums are larger than what makes them
    printf '%s.c\n' adler32 compress crc32 deflate inffast inflate inftrees trees uncompr zutil |
        small='@(inflate|inftrees|trees|compress|uncompr|zutil).c' archive libz "$from" ${for_size:+-DDYNAMIC_CRC_TABLE}
    cp -p "$from"/zlib.h "$from"/zconf.h "$prefix/include"
    describe zlib "$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"/\1/p' "$from/zlib.h")" z
}

make_zstd()
{
    local from

    from=$(unpacked libzstd)
    # one of the two decoders of each kind: which one is faster depends on the data
    (cd "$from/lib" && ls common/*.c compress/*.c decompress/*.c) | small='@(common|compress)/*' archive libzstd "$from/lib" -DZSTD_DISABLE_ASM \
        ${for_size:+-DHUF_FORCE_DECOMPRESS_X1 -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT} "-I$from/lib"
    cp -p "$from"/lib/zstd.h "$from"/lib/zstd_errors.h "$prefix/include"
    describe libzstd "$(basename "$from" | sed 's/libzstd-//; s/+.*//')" zstd
}

# That of libstdc++, so that names are the same everywhere. Its licence lets it be linked with any program.
make_demangler()
{
    local from

    from=$(unpacked libiberty)
    echo cp-demangle.c | small='*' archive libdemangle "$from/libiberty" -DIN_GLIBCPP_V3 -DHAVE_STDLIB_H -DHAVE_STRING_H "-I$from/include"
    describe cxa-demangle "$(basename "$from" | sed 's/libiberty-//')" demangle
}

# The decoder, of .xz alone.
make_lzma()
{
    local code

    code=$(unpacked xz-utils)src/liblzma
    cp -pr "$code/api/lzma" "$code/api/lzma.h" "$prefix/include"
    printf '%s.c\n' check/{check,crc32_table,crc32_fast,crc64_table,crc64_fast,sha256} lz/lz_decoder lzma/{lzma_decoder,lzma2_decoder} \
        simple/{simple_coder,simple_decoder,x86,arm,armthumb,arm64} \
        common/{common,block_decoder,block_header_decoder,block_util,filter_common,filter_decoder,filter_flags_decoder,index_hash} \
        common/{alone_decoder,stream_decoder,stream_flags_common,stream_flags_decoder,vli_decoder,vli_size} | sed "s|^|$code/|" |
        while read -r path; do [ ! -e "$path" ] || echo "${path#"$code/"}"; done |
        small='*' archive liblzma "$code" -DHAVE_STDBOOL_H -DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_STRING_H -DHAVE_CHECK_CRC32 -DHAVE_CHECK_CRC64 \
            -DHAVE_CHECK_SHA256 -DHAVE_DECODERS -DHAVE_DECODER_LZMA2 -DHAVE_DECODER_X86 -DHAVE_DECODER_ARM -DHAVE_DECODER_ARMTHUMB -DHAVE_DECODER_ARM64 \
            -DTUKLIB_SYMBOL_PREFIX=lzma_ -DLZMA_API_STATIC -DPACKAGE_NAME='""' -DPACKAGE_BUGREPORT='""' -DPACKAGE_URL='""' \
            $(for part in . api check common delta lz lzma simple rangecoder ../common; do printf -- '-I%s/%s ' "$code" "$part"; done)
    describe liblzma "$(basename "$(unpacked xz-utils)" | sed 's/xz-utils-//')" lzma
}

# In memory and for SELECT only. Its one file is made by scripts in Tcl.
make_sqlite()
{
    local from made=$folder/sources/sqlite-made

    from=$(unpacked sqlite3)
    mkdir -p "$made"
    (cd "$made" && "${from%/}/configure" --disable-tcl && make sqlite3.c) >"$folder/sqlite.log" 2>&1 || {
        tail "$folder/sqlite.log"
        return 1
    }
    echo sqlite3.c | small='*' archive libsqlite3 "$made" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE \
        -DSQLITE_OMIT_WAL -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_UTF16 -DSQLITE_UNTESTABLE -DSQLITE_ENABLE_MATH_FUNCTIONS
    cp -p "$made/sqlite3.h" "$prefix/include"
    describe sqlite3 "$(cat "$from/VERSION")" sqlite3
}

# ---- what licences ask for --------------------------------------------------------------------------------------

# Of each part: its name, its licence, and the files with the text of it, in the sources or on this machine.
parts()
{
    cat <<END
perfile|MIT|$tree/LICENSE
zlib|Zlib|$(unpacked zlib)README
zstd|BSD-3-Clause|$(unpacked libzstd)LICENSE
END
    [ ! -d "$(unpacked libiberty)" ] ||
        echo "libiberty (the demangler of C++)|GPL-2.0-or-later with the permission to link it with any program|$(unpacked libiberty)libiberty/cp-demangle.c"
}

# notice FILE [TEXT]: the parts of what is built, a text, and those of their licences. other_parts adds to the parts.
notice()
{
    local name licence files path

    {
        printf 'perfile is made of these parts:\n\n'
        { parts && other_parts; } | while IFS='|' read -r name licence files; do
            printf '  %s: %s\n' "$name" "$licence"
        done
        [ -z "${2-}" ] || printf '\n%s\n' "$2"
        { parts && other_parts; } | while IFS='|' read -r name licence files; do
            for path in $files; do
                printf '\n---- %s: %s ----\n\n' "$name" "$(basename "$path")"
                if [[ $path == *.c ]]; then sed '/\*\//q' "$path"; else cat "$path"; fi
            done
        done
    } >"$1"
}

# FOLDER/commit: what it was made of; nothing if that is not committed.
note_commit()
{
    rm -f "$folder/commit"
    [ -n "$(git -C "$tree" status --porcelain 2>/dev/null)" ] || git -C "$tree" rev-parse -q --verify HEAD >"$folder/commit" 2>/dev/null || true
}

# make_once PACKAGE NAME: by make_NAME, unless it is described already
make_once()
{
    [ -e "$prefix/lib/pkgconfig/$1.pc" ] || "make_$2"
}
