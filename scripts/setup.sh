#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing: setup.sh [build|demo|check|check-all].
#
# Without a word, and with "check": what `make check` needs. "check-all": all of them. It is quick and silent when nothing is missing.
set -eu

# package              set    what it is for
packages='
gcc                    build  compiles everything
make                   build  runs the Makefile
libc6-dev              build  the C library headers
libcjson-dev           build  JSON in the tool
zlib1g-dev             build  traces as .json.gz; packs what a page of memtrace html holds
libzstd-dev            demo   traces as .json.zst
libunwind8             build  native stacks, loaded when CUDA starts
npm                    demo   fetches what the page of memtrace html is made of (src/page)
libsqlite3-dev         demo   export --to sqlite
libdw-dev              demo   source lines and inlined functions of native frames
python3                demo   reads traces back in the demo and the tests
zstd                   check  reads what is written compressed
python3-jsonschema     check  validates every test trace against the schema
clang                  check  the second compiler
clang-format           check  make check-format
clang-tidy             check  make check-tidy
shellcheck             check  make check-shell
chromium               check  opens the page of memtrace html
valgrind               check  memory errors in the tool, instructions an event costs
python3-dbg            check  Python frames of a debug build
python3-greenlet       check  Python frames under greenlets
zsh                    check  its completion
man-db                 check  reads the manual
pkg-config             check  reads the installed memtrace.pc
dpkg-dev               check  make deb: what the package depends on
python3-pytest         check  the plugin of pytest
python3-pytest-xdist   check  the same, in several processes
python3-yaml           check  the steps of the action for GitHub
g++                    check  hosts that throw C++ exceptions
gdb                    check  a host under the debugger
strace                 check  a host under strace
libjemalloc2           check  a host with another malloc
libtcmalloc-minimal4   check  a host with another malloc
faketime               check  a host of another time
libcap2-bin            check  a host with capabilities
python3-torch          check  the report door and Python frames without a GPU
golang-go              all    go tool pprof reads the export
afl++                  all    fuzzes the readers
debootstrap            all    small systems of Debian 11 to 13: make wheel, other glibcs
lintian                all    looks at the Debian package
'

fail() {
	echo "setup: $*" >&2
	exit 1
}

case ${1:-check} in
build) wanted='build' ;;
demo) wanted='build demo' ;;
check) wanted='build demo check' ;;
check-all) wanted='build demo check all' ;;
*) fail "usage: scripts/setup.sh [build|demo|check|check-all]" ;;
esac

# Where npm came from elsewhere (nodejs.org, nvm), Debian's must not be put beside it.
installed() {
	[ "$1" != npm ] || ! command -v npm >/dev/null || return 0
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Elsewhere than on Debian nobody can be asked what is installed: look for the things themselves.
present() {
	case $1 in
	libc6-dev) [ -e /usr/include/stdio.h ] ;;
	libcjson-dev) [ -e /usr/include/cjson/cJSON.h ] || [ -e /usr/local/include/cjson/cJSON.h ] ;;
	zlib1g-dev) [ -e /usr/include/zlib.h ] || [ -e /usr/local/include/zlib.h ] ;;
	libzstd-dev) [ -e /usr/include/zstd.h ] || [ -e /usr/local/include/zstd.h ] ;;
	libsqlite3-dev) [ -e /usr/include/sqlite3.h ] || [ -e /usr/local/include/sqlite3.h ] ;;
	libdw-dev) [ -e /usr/include/elfutils/libdwfl.h ] ;;
	libunwind8) ldconfig -p 2>/dev/null | grep -q 'libunwind\.so\.8' ;;
	python3-torch) /usr/bin/python3 -c 'import torch' 2>/dev/null ;;
	python3-greenlet) /usr/bin/python3 -c 'import greenlet' 2>/dev/null ;;
	libjemalloc2) ldconfig -p 2>/dev/null | grep -q 'libjemalloc\.so\.2' ;;
	libtcmalloc-minimal4) ldconfig -p 2>/dev/null | grep -q 'libtcmalloc_minimal\.so\.4' ;;
	libcap2-bin) command -v setcap >/dev/null ;;
	man-db) command -v man >/dev/null ;;
	dpkg-dev) return 0 ;; # elsewhere there is nothing to package for
	afl++) command -v afl-fuzz >/dev/null ;;
	golang-go) command -v go >/dev/null ;;
	python3-pytest) /usr/bin/python3 -c 'import pytest' 2>/dev/null ;;
	python3-pytest-xdist) /usr/bin/python3 -c 'import xdist' 2>/dev/null ;;
	python3-yaml) /usr/bin/python3 -c 'import yaml' 2>/dev/null ;;
	python3-jsonschema) python3 -c 'import jsonschema' 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

if command -v dpkg-query >/dev/null; then
	has=installed
else
	has=present
fi
rows=$(echo "$packages" | while read -r package set purpose; do
	case " $wanted " in
	*" ${set:-none} "*) "$has" "$package" || printf '%-20s %s\n' "$package" "$purpose" ;;
	esac
done)
[ -n "$rows" ] || exit 0

missing=$(echo "$rows" | awk '{ printf "%s%s", sep, $1; sep = " " }')
command -v apt-get >/dev/null || fail "there is no apt-get here; install by hand what Debian calls: $missing"

as_root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || fail "neither root nor sudo here; ask root to install: $missing"
	as_root='sudo'
	# Nobody can type a password where there is no terminal.
	[ -t 0 ] || as_root='sudo -n'
fi

echo "setup: installing with ${as_root:+sudo }apt-get:"
echo "$rows" | sed 's/^/  /'

apt() {
	# shellcheck disable=SC2086  # as_root is none, one or two words
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::http::Timeout=20 \
		-o Acquire::Retries=1 "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A stale list may still do, so a failed update is no end by itself.
apt update >"$log" 2>&1 || true
# Ubuntu has neither of these (its Chromium is a snap): the tests that want them skip by name.
for package in python3-torch chromium; do
	case " $missing " in
	*" $package "*)
		apt-cache show "$package" >/dev/null 2>&1 && continue
		missing=$(echo " $missing " | sed "s/ $package / /")
		echo "setup: there is no $package here; the tests that want it will be skipped"
		;;
	esac
done
[ -n "$(echo "$missing" | tr -d ' ')" ] || exit 0
# shellcheck disable=SC2086  # a list of words
if ! apt install -y --no-install-recommends $missing >>"$log" 2>&1; then
	sed 's/^/  /' "$log" | tail -n 5 >&2
	fail "apt-get could not install (no network?): $missing"
fi
