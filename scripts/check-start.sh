#!/bin/sh
# What a process pays that inherits the library and never uses it: two mappings of one file, one page
# that is written, and a few names that the loader looks up (src/libmemtrace.ld and src/base/guest/start.h
# say what each costs).
#
# GCC's library for x86-64 is looked at: clang makes a table of pointers of a switch over functions.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}"
library=$BUILD/libmemtrace.so
status=0

readelf -hW "$library" | grep -q 'Machine:.*X86-64' || { echo 'skip check-start: not x86-64'; exit 0; }
! readelf -p .comment "$library" | grep -q clang || { echo 'skip check-start: built by clang'; exit 0; }

complain() {
	echo "$library: $*"
	status=1
}

# --- mappings, and what of them is written --------------------------------------------------------------
segments=$(readelf -lW "$library" | awk '$1 == "LOAD" { print $(NF - 1) }' | tr '\n' ' ')
[ "$segments" = 'E RW ' ] || complain "two segments are mapped (R E, RW), not: $segments"

# Tables hold no pointers (src/base/guest/table_rows.h): what is relocated lies in the page that is written anyway.
{
	readelf -SW "$library" | sed -n 's/^ *\[ *[0-9]*\]/section/p'
	readelf -sW "$library" | sed -n '/^ *[0-9]*: /s/^/symbol /p'
	readelf -rW "$library" | sed -n '/R_X86_64_/s/^/relocation /p'
} | awk -v library="$library" '
	function number(hex,  i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	function page(address) {
		return int(address / 4096)
	}
	$1 == "section" && $2 == ".init_array" { written = page(number($4)) }
	$1 == "section" && $2 == ".start" {
		start = number($4)
		after = start + number($6)
	}
	$1 == "symbol" && $5 == "OBJECT" {
		begin[++symbols] = number($3)
		end[symbols] = begin[symbols] + $4
		name[symbols] = $9
	}
	$1 == "relocation" {
		at = number($2)
		if (page(at) == written && (at < start || $4 != "R_X86_64_RELATIVE"))
			next
		table = "what has no name"
		for (i = 1; i <= symbols; i++) {
			if (at >= begin[i] && at < end[i])
				table = name[i]
		}
		# The compiler reaches its personality by a pointer.
		if (table !~ /^DW\.ref\./ && !told[table]++) {
			printf "%s: %s holds pointers, see src/base/guest/table_rows.h\n", library, table
			bad = 1
		}
	}
	END {
		if (!written || page(after - 1) != written) {
			printf "%s: from .init_array to .start is more than a page\n", library
			bad = 1
		}
		exit bad
	}' || status=1

# --- names ----------------------------------------------------------------------------------------------
wanted='_sys_errlist dlvsym environ getauxval '
looked_up=$(env -i LD_DEBUG=bindings LD_PRELOAD="$(realpath "$library")" /bin/true 2>&1 |
	sed -n "s/.*binding file [^ ]*libmemtrace\.so .* symbol .\([a-z_0-9]*\)'.*/\1/p" | LC_ALL=C sort | tr '\n' ' ')
[ "$looked_up" = "$wanted" ] || complain "looked up at the start: $wanted, not: $looked_up"
needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
[ "$needed" = 'libc.so.6 ' ] || complain "libc alone is needed, not: $needed"

exit $status
