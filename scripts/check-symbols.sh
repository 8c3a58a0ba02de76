#!/bin/sh
# The names that the library exports are those that `memtrace hooks --names` prints, exactly.
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
[ -s "$work/exported" ] && [ ! -s "$work/differences" ]
