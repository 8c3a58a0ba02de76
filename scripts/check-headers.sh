#!/bin/sh
# Compiles each header alone, with every warning: a header includes what it uses.
set -eu
cd "$(dirname "$0")/.."

: "${CC:=cc}" "${FLAGS:=-std=gnu11 -D_GNU_SOURCE= -Isrc -Iinclude -Wall -Wextra}"
status=0
for header in src/*/*.h src/*/*/*.h include/memtrace/*.h; do
	[ -e "$header" ] || continue
	case $header in
	src/capture/*) side=-DMEMTRACE_LIBRARY=1 ;;
	*) side= ;;
	esac
	# Included from a file, not given to the compiler: a header as the main file warns by itself.
	# shellcheck disable=SC2086  # words
	printf '#include "%s"\n' "$header" |
		$CC $FLAGS $side -I. -Werror -fsyntax-only -x c - || {
		echo "$header does not compile alone"
		status=1
	}
done
exit $status
