#!/bin/sh
# No folder of src or tests holds more than 40 files (corpora and recorded data may), no two structs of src
# have one tag, no two functions that other files may call have one name, and no name of a static function
# stands in more than three files.
set -eu
cd "$(dirname "$0")/.."

# .clang-format lays out so: a definition of a function begins in the first column, and its { is a line of
# its own. Alternatives of one file (#ifdef) are one function.
# shellcheck disable=SC2016  # the $ are awk's
found=$({
	find src -name '*.[ch]' | sort | xargs awk '
	FNR == 1 { head = "" }
	/^[ \t]*((static|const|typedef) )*struct [a-z_0-9]+ \{/ {
		tag = $0
		sub(/.*struct /, "", tag)
		count["struct " substr(tag, 1, index(tag, " ") - 1)]++
	}
	/^\{/ && head != "" {
		kind = head ~ /(^|[ \t])static[ \t]/ ? "static " : "function "
		gsub(/__attribute__\(\([^)]*\)*\)/, "", head)
		sub(/\(.*/, "", head)
		sub(/.*[^A-Za-z0-9_]/, "", head)
		if (head != "" && !seen[kind, head, FILENAME]++ && (kind == "static " || FILENAME ~ /\.c$/))
			count[kind head]++
		head = ""
	}
	/^[A-Za-z_].*\(/ { head = $0 }
	/^\}/ || /^[^ \t].*;$/ { head = "" }
	END {
		for (row in count)
			if (count[row] > (row ~ /^static / ? 3 : 1))
				print row
	}'
	find src tests -type f ! -path 'tests/data/*' ! -path 'tests/fuzz/corpus/*' ! -name '*.pyc' | awk '
	{ sub(/\/[^\/]*$/, ""); files[$0]++ }
	END {
		for (folder in files)
			if (files[folder] > 40)
				print "folder", folder
	}'
} | LC_ALL=C sort)

[ -z "$found" ] || {
	echo "$found" | sed '/^folder/ s/$/: more than 40 files/; /^folder/ !s/$/: the name stands for something else, too/'
	exit 1
}
