#!/bin/sh
# Memory that two processes share is its exporter's: the importer's trace lists it, and counts none.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

MEMTRACE_OUTPUT=$PWD/%p.json
export MEMTRACE_OUTPUT

foreign() { # TRACE: what became of the other's memory
	json "$1" '" ".join("%s %d" % (e["op"], e["size"]) for e in d["events"] if e.get("foreign"))'
}

for runtime in '' -static; do
	rm -f ./*.json
	traced "$SAMPLES/ipc$runtime"
	is "ipc$runtime: the sample succeeds" "$?" 0
	cp "$OUT" own.out
	for who in exporter importer; do
		pid=$(sed -n "s/^$who.pid=//p" own.out)
		ok "ipc$runtime: the $who's trace keeps its promises" validate "$pid.json"
		ok "ipc$runtime: the $who's figures" \
			"$PYTHON" "$TOP/tests/e2e/figures.py" "$pid.json" own.out --prefix $who.
		eval "$who=\$pid.json"
	done
	# shellcheck disable=SC2154  # set by eval
	is "ipc$runtime: opened twice it is one allocation, and still open" "$(foreign "$importer")" \
		'alloc 8388608'
	# shellcheck disable=SC2154
	is "ipc$runtime: the exporter's is its own" "$(foreign "$exporter")" ''
done
