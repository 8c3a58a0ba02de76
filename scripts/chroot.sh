#!/bin/sh
# Runs a command in a small Debian of another release: chroot.sh SUITE [COMMAND...]
#
# SUITE is bullseye (glibc 2.31), bookworm (2.36) or trixie (2.41). The system is made by debootstrap at
# the first call and kept in CHROOTS (BUILD/chroots): MIRROR has its packages. The command runs at the
# root of this checkout, which the system sees at /memtrace (and BUILD where it is here, too), with
# NAME=VALUE words before it as its environment. Mounts are of a namespace of their own, which ends with the command.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${MIRROR:=http://deb.debian.org/debian}"
mkdir -p "${CHROOTS:=$BUILD/chroots}"
chroots=$(cd "$CHROOTS" && pwd)

# What the wheel's tool is linked with, and what it takes to build it; cJSON, of which Debian has no
# archive, is compiled from Debian's source.
build_packages=gcc,libc6-dev,make,python3,zlib1g-dev,libzstd-dev,libsqlite3-dev,libdw-dev,libelf-dev,liblzma-dev,libbz2-dev
# What a traced program brings.
run_packages=ca-certificates,python3,python3-pip,python3-venv,libstdc++6,libunwind8

fail() {
	echo "chroot: $*" >&2
	exit 1
}

suite=${1:-}
case $suite in
bullseye) packages=$run_packages,$build_packages ;;
bookworm) packages=$run_packages ;;
trixie) packages=$run_packages,gcc,libc6-dev,make,libcjson-dev,zlib1g-dev ;; # the library of a new system
*) fail 'usage: scripts/chroot.sh bullseye|bookworm|trixie [NAME=VALUE...] [COMMAND...]' ;;
esac
shift
[ "$(id -u)" = 0 ] || fail 'only root may make a system of another release and enter it'
command -v debootstrap >/dev/null || fail 'debootstrap is missing: run scripts/setup.sh check-all'
root=$chroots/$suite

# Beside its place until it is complete.
if [ ! -d "$root" ]; then
	new=$root.new
	rm -rf --one-file-system "$new"
	debootstrap --variant=minbase --include="$packages" "$suite" "$new" "$MIRROR" >"$root.log" 2>&1 ||
		fail "debootstrap of $suite failed, see $root.log"
	if [ "$suite" = bullseye ]; then
		echo "deb-src $MIRROR bookworm main" >"$new/etc/apt/sources.list.d/cjson.list"
		chroot "$new" sh -ec 'apt-get -qq update && cd /tmp && apt-get -qq --download-only source cjson &&
			tar -xzf cjson_*.orig.tar.gz && cd cJSON-* && gcc -O2 -fPIC -c cJSON.c &&
			ar rcs /usr/local/lib/libcjson.a cJSON.o && mkdir -p /usr/local/include/cjson &&
			cp cJSON.h /usr/local/include/cjson/ && mkdir -p /usr/share/doc/cjson &&
			cp LICENSE /usr/share/doc/cjson/copyright' >>"$root.log" 2>&1 ||
			fail "cJSON could not be compiled in $suite, see $root.log"
	fi
	mkdir "$new/memtrace"
	mv "$new" "$root"
fi
[ $# -gt 0 ] || exit 0

build=$(cd "$BUILD" && pwd)
# shellcheck disable=SC2016  # the words are of the inner shell
exec unshare --mount --propagation private sh -ec '
	root=$1 build=$2
	shift 2
	mkdir -p "$root$build"
	mount --rbind "$build" "$root$build"
	mount --rbind . "$root/memtrace"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
		sh -ec "cd /memtrace && exec env \"\$@\"" sh "$@"' sh "$root" "$build" "$@"
