#!/bin/sh
# Each function of CUDA's headers that names memory is hooked, or tests/abi/unhooked.txt says why not. The names are
# those of tests/abi/cuda-13.0.names, so no toolkit is needed; where CUDA 13.0 is, they are compared with its headers.
# check-calls.sh [FOLDER_OF_HEADERS]
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}"
names=tests/abi/cuda-13.0.names
memory='Mem|Alloc|Pool|Graph|Ctx|Multicast|Endpoint|Checkpoint|Array|External|Managed|Host|Free|Export|Import|Prefetch|Discard'
status=0
if [ -n "${1-}" ] && grep -q '^#define CUDA_VERSION 13000$' "$1/cuda.h"; then
	sh scripts/cuda-names.sh "$1" | diff $names - || { echo "$names is not what cuda-names.sh prints" && status=1; }
fi
"$BUILD/memtrace" hooks --names |
	awk -v memory="$memory" '
	# A pattern with * for any letters, as an expression for whole names.
	function expression(pattern) {
		gsub(/\*/, "[A-Za-z0-9_]*", pattern)
		return "^" pattern "$"
	}
	FILENAME == "-" { hooked[$1] = 1; next }
	FILENAME ~ /unhooked/ {
		sub(/#.*/, "")
		for (i = 1; i <= NF && $i ~ /^cu/; i++)
			patterns[++count] = $i
		if (NF && i > NF) { print FILENAME ": no reason: " $0; bad = 1 }
		next
	}
	$1 ~ memory && !hooked[$1] {
		found = 0
		for (i = 1; i <= count; i++) {
			if ($1 ~ expression(patterns[i])) {
				used[i] = 1
				found = 1
			}
		}
		if (!found) { print $1 ": no row in hooks.def, no line in unhooked.txt"; bad = 1 }
	}
	END {
		for (i = 1; i <= count; i++) {
			if (!used[i]) { print "unhooked.txt: " patterns[i] " fits no name without a row"; bad = 1 }
		}
		exit bad
	}' - tests/abi/unhooked.txt $names || status=1
exit $status
