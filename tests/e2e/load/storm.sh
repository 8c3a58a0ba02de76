#!/bin/sh
# Killed at random moments, KILLS times (40; check-all has 1,000, in short 100): all that was done is there.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${KILLS:=40}" "${SEED:=$(date +%s)}"
# Which kill hits an update is chance: if none of them did, they are tried again.
for _ in 1 2 3 4; do
	rm -f storm.*.json storm.*.spool
	ok "killed $KILLS times: nothing done is missing, nothing is invented" \
		"$PYTHON" "$TOP/tests/e2e/load/storm.py" "$E2E/storm" "$LIBRARY" "$KILLS" "$SEED"
	cp "$OUT" told
	tap_comment told
	! grep -q ', [1-9][0-9]* of them inside' told || break
	SEED=$((SEED + 1))
done
ok 'some of them inside an update' grep -q ', [1-9][0-9]* of them inside' told
ok 'the traces keep their promises' validate storm.*.json
