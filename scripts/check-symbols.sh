#!/bin/sh
# The names that the library exports are those that `memtrace hooks --names` prints, exactly. It needs
# nothing of libc that is newer than glibc 2.17 (on x86-64 and arm64).
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$BUILD/libmemtrace.so" | awk '{ sub("@.*", "", $NF); print $NF }' |
	LC_ALL=C sort >"$work/exported"
"$BUILD/memtrace" hooks --names >"$work/hooks"
LC_ALL=C sort "$work/hooks" >"$work/listed"

LC_ALL=C comm -3 "$work/exported" "$work/listed" |
	sed -e 's/^\t\(.*\)/listed by memtrace hooks, not exported: \1/' \
		-e t -e 's/^/exported, not listed by memtrace hooks: /' >"$work/differences"
cat "$work/differences"

floor=$(sh scripts/glibc-floor.sh "$BUILD/libmemtrace.so")
[ "$floor" -le 17 ] || {
	echo "the library needs glibc 2.$floor, not 2.17 as promised; see src/base/guest/old_glibc.h:"
	nm -D --undefined-only "$BUILD/libmemtrace.so" | grep "@GLIBC_2\.$floor\b"
	exit 1
}
[ -s "$work/exported" ] && [ ! -s "$work/differences" ]
