#!/bin/sh
# A long job: its file and its memory stay as they are once they are warm, and its sums are exact.
#
# SOAK_SECONDS, SOAK_EVENTS and SOAK_KEPT (events that the trace keeps) are small in `make check`, and
# half an hour of 100,000,000 events in `make check-all`.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${SOAK_SECONDS:=4}" "${SOAK_EVENTS:=400000}" "${SOAK_KEPT:=20000}"

env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/soak.json" MEMTRACE_MAX_EVENTS="$SOAK_KEPT" \
	"$E2E/soak" "$SOAK_SECONDS" "$SOAK_EVENTS" 2 >"$OUT" 2>"$ERR" </dev/null &
soak=$!

# What it has: the milliseconds of its life, KiB resident, bytes of the spool, one sample a line.
: >samples
start=$(date +%s%3N)
while kill -0 "$soak" 2>/dev/null; do
	resident=$(sed -n 's/^VmRSS:[ \t]*\([0-9]*\) kB/\1/p' "/proc/$soak/status" 2>/dev/null)
	bytes=$(stat -c %s soak.spool 2>/dev/null)
	[ -z "$resident" ] || [ -z "$bytes" ] || echo "$(($(date +%s%3N) - start)) $resident $bytes" >>samples
	if [ ! -e half.json ] && [ "$(wc -l <samples)" -ge 8 ]; then
		memtrace recover --force -o half.json soak.spool >half.log 2>&1
	fi
	sleep 0.2
done
wait "$soak"
is 'a long job ends well' $? 0
cp "$OUT" told

# Warm after a quarter of the samples; the end, when the trace is written, is left out.
awk -v seconds="$SOAK_SECONDS" '
$1 <= seconds * 1000 { n++; rss[n] = $2; size[n] = $3 }
END {
	for (i = int(n / 4) + 1; i <= n; i++) {
		half = i > n / 2
		if (rss[i] > most_rss[half])
			most_rss[half] = rss[i]
		if (size[i] > most_size[half])
			most_size[half] = size[i]
	}
	printf "# %d samples: %d KiB resident and %d bytes of spool, then %d and %d\n", n,
		most_rss[0], most_size[0], most_rss[1], most_size[1]
	if (n < 4)
		print "too few samples"
	if (most_rss[1] > most_rss[0] * 1.02 + 1024)
		print "memory grows"
	if (most_size[1] > most_size[0])
		print "the spool grows"
}' samples >flat
grep '^#' flat
is 'its memory and its spool stay as they are' "$(grep -v '^#' flat)" ''

figure() { sed -n "s/^$1=//p" told; }
device='d["summary"]["devices"][0]'
ok 'the trace keeps its promises' validate soak.json
is 'every allocation was counted, and every free' \
	"$(json soak.json "[${device}['allocations'], ${device}['frees']]")" "[$(figure allocations), $(figure allocations)]"
is 'the peak is exact' "$(json soak.json "${device}['allocated']['peak_bytes']")" "$(figure peak)"
is 'nothing is left' "$(json soak.json "${device}['allocated']['exit_bytes']")" 0
is 'kept and dropped events are all of them' \
	"$(json soak.json 'd["capture"]["events_recorded"] + d["capture"]["events_dropped"]')" "$((2 * $(figure allocations)))"
is 'no more are kept than was asked for' "$(json soak.json "len(d['events']) <= $SOAK_KEPT * 1.1 + 8192")" true
ok 'the spool was read while it lived' test -s half.json
ok 'and kept its promises' validate half.json
