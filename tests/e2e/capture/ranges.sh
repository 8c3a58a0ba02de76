#!/bin/sh
# Very many ranges, a hundred deep, on two devices: each has the figures that its program gave it,
# also when that program was killed.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

figures='sorted({(p["name"].split()[0], int(p["name"].split()[1]) > 0,
	p["allocations"]["count"], p["freed"]["count"], p["kept"]["count"],
	p["allocated"]["peak_bytes"] - p["allocated"]["start_bytes"]) for p in d["phases"][1:]})'

export FAKE_CUDA_DEVICES=2
for how in '' killed; do
	rm -f "$TRACE" "${TRACE%.json}.spool"
	# shellcheck disable=SC2086
	traced "$E2E/ranges" 20000 $how
	[ -z "$how" ] || ok 'a killed process leaves what it recorded' \
		memtrace recover "${TRACE%.json}.spool" -o "$TRACE"
	ok "the trace keeps its promises${how:+ ($how)}" validate "$TRACE"
	is 'a phase for each range and the one left open' \
		"$(json "$TRACE" '[len(d["phases"]), [p["name"] for p in d["phases"] if p["end"] is None]]')" \
		'[20001, ["all"]]'
	is 'the outermost gives back what the innermost took' "$(json "$TRACE" "$figures")" \
		'[["depth", false, 1, 1, 0, 4096], ["depth", true, 1, 0, 1, 4096]]'
	is 'the one around all, and each device of it' \
		"$(json "$TRACE" '[[(p["device"] if "device" in p else None, p["allocations"]["count"], p["freed"]["count"],
			p["kept"]["bytes"]) for p in [d["phases"][0]] + d["phases"][0]["devices"]]]')" \
		'[[[null, 201, 200, 4096], [0, 101, 100, 4096], [1, 100, 100, 0]]]'
done
ok 'a page of very many' memtrace html --max-events 2000 "$TRACE" -o page.html
is 'has the longest' "$(grep -c '^{"name":"[^"]*","domain":null,"thread"' page.html) $(grep -o '"phases_left_out":.[0-9]*' page.html)" \
	'100 "phases_left_out":[19901'
is 'the one that never ended among them' "$(grep -c '^{"name":"all","domain":null,"thread"' page.html)" 1
unset FAKE_CUDA_DEVICES
