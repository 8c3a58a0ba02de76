#!/bin/sh
# Says which #include under src crosses the layers, by the table below, and which rooms (a folder with the one
# that it lies in) include each other, in whatever circle.
set -eu
cd "$(dirname "$0")/.."

rooms=$(mktemp)
trap 'rm -f "$rooms"' EXIT
status=0
# shellcheck disable=SC2016  # the $ are awk's
find src -name '*.[chS]' -o -name '*.def' | sort | xargs awk -v rooms="$rooms" '
BEGIN {
	allow["base"]    = "base"
	allow["codec"]   = "base codec"
	allow["spool"]   = "base codec spool"
	allow["ledger"]  = "base codec spool ledger"
	allow["facts"]   = "base codec spool ledger facts"
	allow["capture"] = "base codec spool ledger capture"
	allow["analyse"] = "base codec spool ledger facts analyse"
	allow["render"]  = "base codec spool ledger facts analyse render"
	allow["cli"]     = "base codec spool ledger facts analyse render cli"

	# The exceptions: the document that the library writes by itself at exit, the same read without
	# its JSON, and the lists of hooks and of Python versions that the tool prints.
	except["src/capture/life/finalize.c render/document/document.h"]
	except["src/analyse/trace/trace_spool.c render/document/document.h"]
	except["src/cli/ capture/loader/hooks.def"]
	except["src/cli/ capture/loader/counted_calls.def"]
	except["src/cli/ capture/exports/exports.def"]
	except["src/cli/ capture/python/python_versions.h"]
}

function room(path) {
	sub("^src/", "", path)
	sub("/[^/]*$", "", path)
	return path
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	included = quoted[2]
	split(FILENAME, path, "/")
	from = path[2]
	to = included
	sub("/.*", "", to)
	if (to != "memtrace" && room(FILENAME) != room(included))
		print room(FILENAME), room(included) >rooms
	if (to == "memtrace" || index(" " allow[from] " ", " " to " ") && included ~ "/")
		next
	if (FILENAME " " included in except || FILENAME " " to "/" in except ||
	    "src/" from "/ " included in except)
		next
	printf "%s:%d: %s may not include %s%s\n", FILENAME, FNR, from, included,
		included ~ "^[^.].*/" ? "" : " (includes are written from src: \"folder/file.h\")"
	bad = 1
}

END { exit bad }' || status=1

# tsort gives each circle a heading, and then its rooms.
if ! circle=$(tsort <"$rooms" 2>&1 >/dev/null); then
	echo "$circle" | sed 's/^tsort: -: .*/these rooms include each other in a circle:/; s/^tsort: /    /'
	status=1
fi
exit $status
