#!/bin/sh
# The library's tables hold no pointers: ld.so would write each, in every process that is preloaded
# (src/base/rows.h says how tables do without).
#
# GCC's library for x86-64 is looked at: clang makes such tables of a switch over functions by itself.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}"
library=$BUILD/libmemtrace.so
# The compiler's own, then tables that are small or not done yet.
allowed='
__dso_handle DW.ref.__gcc_personality_v0
opt_rows wants yes no units
dlsym_versions lookups
'

readelf -hW "$library" | grep -q 'Machine:.*X86-64' || { echo 'skip check-relocations: not x86-64'; exit 0; }
! readelf -p .comment "$library" | grep -q clang || { echo 'skip check-relocations: built by clang'; exit 0; }

{
	readelf -SW "$library" | sed 's/^ *\[ *[0-9]*\]/section/'
	readelf -sW "$library" | sed -n '/^ *[0-9]*: /s/^/symbol /p'
	readelf -rW "$library" | sed -n '/R_X86_64_RELATIVE/s/^/relocation /p'
} | awk -v library="$library" -v allowed="$allowed" '
	function number(hex,  i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	BEGIN {
		n = split(allowed, names)
		for (i = 1; i <= n; i++)
			may[names[i]] = 1
	}
	$1 == "section" && ($2 == ".data" || $2 == ".data.rel.ro") {
		from[++sections] = number($4)
		to[sections] = from[sections] + number($6)
	}
	$1 == "symbol" && $5 == "FILE" { file = $9 }
	$1 == "symbol" && $5 == "OBJECT" {
		begin[++symbols] = number($3)
		end[symbols] = begin[symbols] + ($4 ? $4 : 1) # __dso_handle has no size
		name[symbols] = $9
		of[symbols] = file
	}
	$1 == "relocation" {
		at = number($2)
		for (i = 1; i <= sections && (at < from[i] || at >= to[i]); i++)
			;
		if (i > sections)
			next
		table = "what has no name"
		for (i = 1; i <= symbols; i++) {
			if (at >= begin[i] && at < end[i]) {
				table = name[i]
				file = of[i]
			}
		}
		sub(/\.[0-9]+$/, "", table) # a variable of a function
		if (!(table in may) && !told[table, file]++) {
			printf "%s: %s%s holds pointers, see src/base/rows.h\n", library, table,
				file == "" ? "" : " of " file
			bad = 1
		}
	}
	END { exit bad }'
