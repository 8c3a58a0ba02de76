#!/bin/sh
# The oldest glibc 2.N that can load these programs and libraries: glibc-floor.sh FILE..., which prints N.
#
# It is the highest version that they need of any library, weak needs included: the loader looks at all
# of them. A need that is no version of glibc's (GLIBC_PRIVATE, GLIBC_ABI_DT_RELR, ZLIB_1.2.0) fails, and so
# does a library beside glibc's own; OTHERS=1 lets them pass.
set -eu

glibc=' libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 '
for file in "$@"; do
	for needed in $(LC_ALL=C readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		case $glibc in
		*" $needed "*) ;;
		*) [ -n "${OTHERS:-}" ] || echo "the library $needed" ;;
		esac
	done
	LC_ALL=C readelf -VW "$file" | sed -n '/needs section/,/^$/s/.*Name: \([^ ]*\).*/\1/p'
done | awk '
	/^GLIBC_2\.[0-9]+(\.[0-9]+)?$/ {
		split($0, part, ".")
		floor = part[2] + 0 > floor ? part[2] : floor
		next
	}
	ENVIRON["OTHERS"] != "" && !/^GLIBC_/ { next }
	{ print "no version of glibc: " $0 | "cat >&2"; bad = 1 }
	END {
		if (!NR) { print "no file that needs glibc: nothing to read" | "cat >&2"; bad = 1 }
		if (!bad) print floor
		exit bad
	}'
