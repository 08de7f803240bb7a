#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke-debian.sh FOLDER VERSION: in a bare Debian, as root. The packages of FOLDER are installed, used and removed.
set -eu

packages=$1
version=$2
demo=/usr/share/doc/perfile/examples/demo.perf.data
examples=/usr/share/doc/libperfile-dev/examples
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# What it prints is shown when it fails.
quietly()
{
    "$@" >/tmp/log 2>&1 </dev/null || {
        tail -n 20 /tmp/log >&2
        return 1
    }
}

install()
{
    printf '$ apt-get install %s\n' "$*"
    quietly apt-get -qq install -y --no-install-recommends "$@"
}

# expect PATTERN COMMAND...: prints what the command prints that has it; at least one line has.
expect()
{
    pattern=$1
    shift
    printf '$ %s\n' "$*"
    "$@" >/tmp/out
    grep -e "$pattern" /tmp/out | head -n 3 | cut -c 1-120 # fails when there is none, for want of a line
    grep -qe "$pattern" /tmp/out
}

quietly apt-get -qq update
cd "$packages"

install ./perfile_*.deb ./libperfile0_*.deb ./libperfile-analysis0_*.deb
expect "^perfile $version\$" perfile --version
expect '^valid: ' perfile check "$demo"
expect 'gzip ' perfile report --no-children -g none --sort comm,dso "$demo"
expect 'PERFILE-REPORT' sh -c 'zcat /usr/share/man/man1/perfile-report.1.gz | tr a-z A-Z | grep PERFILE-REPORT'
expect '_perfile' cat /usr/share/bash-completion/completions/perfile
if [ -e /usr/bin/gcc ] || [ -e /usr/bin/python3 ]; then
    echo 'smoke-debian.sh: this Debian is not bare' >&2
    exit 1
fi

# The programs of the recording are not on this machine.
if [ -e bundle/there ]; then
    install "$(dpkg-query -W -f '${Suggests}' libperfile-analysis0 | grep -o 'libcapstone[0-9a-z]*')" # for annotate
    sh smoke-bundle.sh perfile bundle here
    for name in report flat script lines folded annotate; do
        cmp bundle/there/$name bundle/here/$name
        printf 'perfile %s of a bundle: the same %s lines\n' "$name" "$(wc -l <bundle/here/$name)"
    done
    for word in count_words workload.c: '(inlined)'; do
        grep -qF "$word" bundle/here/lines
    done
fi

install ./python3-perfile_*.deb
expect '^/usr/lib/python3/dist-packages/perfile/' python3 -c 'import perfile; print(perfile.__file__)'
expect "^$version\$" python3 -c 'import importlib.metadata; print(importlib.metadata.version("perfile"))'
expect '^314 samples' python3 -c "import perfile
print(sum(1 for row in perfile.open('$demo').table('samples')), 'samples')"

install gcc libc6-dev pkg-config ./libperfile-dev_*.deb
cd /tmp
for name in print_samples write_profile folded_stacks hot_functions; do
    library=perfile
    ! grep -q 'perfile/\(analysis\|profile\|table\).h' "$examples/$name.c" || library=perfile-analysis
    # shellcheck disable=SC2046
    quietly gcc -std=c11 -Wall -Werror "$examples/$name.c" -o "$name" $(pkg-config --cflags --libs $library)
done
expect 'cpu-clock' ./print_samples "$demo"
expect '^gzip' ./folded_stacks "$demo"
# With the static libraries, though the shared ones are there, too.
for name in print_samples:perfile folded_stacks:perfile-analysis; do
    library=${name#*:} name=${name%:*}
    echo "\$ gcc $name.c \$(pkg-config --static --cflags --libs $library), with lib$library.a"
    # shellcheck disable=SC2046
    quietly gcc -std=c11 "$examples/$name.c" -o "static_$name" \
        $(pkg-config --static --cflags --libs $library | sed 's/-l\(perfile[a-z-]*\)/-l:lib\1.a/g')
    [ "$(ldd "static_$name" | grep -c libperfile)" = 0 ]
    "./$name" "$demo" >/tmp/shared
    "./static_$name" "$demo" | cmp - /tmp/shared
done

echo "\$ apt-get purge perfile libperfile0 libperfile-analysis0 ..."
# shellcheck disable=SC2046
quietly apt-get -qq purge -y $(dpkg-query -W -f '${Package}\n' '*perfile*' | sort -u)
left=$(find / -xdev -name '*perfile*' -not -path "$packages/*" -not -path '/tmp/*' -not -path '/root/.cache/*' -not -path '/proc/*' -not -path '/var/lib/apt/*')
if [ -n "$left" ]; then
    printf 'smoke-debian.sh: left behind: %s\n' "$left" >&2
    exit 1
fi
echo 'the packages of Debian: good'
