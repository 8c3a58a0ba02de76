#!/bin/sh
# MEMTRACE_SAMPLE on what was recorded of real programs (tests/data, GPUs): RUNS runs that do it
# TIMES times over, whose samples differ. Sums are exact in each, sites are unbiased over all. `make
# check-all` makes 20 of them.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

sampling() { "$PYTHON" "$TOP/tests/e2e/capture/sampling.py" "$@"; }

ok 'the recorded runs' sampling prepare work.json "${TIMES:-10}" \
	"$TOP/tests/data/recorded/train.json" "$TOP/tests/data/recorded/jax.json" \
	"$TOP/tests/data/recorded/forward_backward.json" "$TOP/tests/data/recorded/nccl.json" \
	"$TOP/tests/data/recorded/cupy.json" "$TOP/tests/data/recorded/caching-py.json"
MEMTRACE_QUIET=1
export MEMTRACE_QUIET
traced "$PYTHON" "$TOP/tests/e2e/capture/sampling.py" replay work.json
is 'once with every stack' "$?:$(cat "$ERR")" 0:
exact=$TRACE
MEMTRACE_SAMPLE=${INTERVAL:-64KiB}
export MEMTRACE_SAMPLE
set --
for _ in $(seq "${RUNS:-2}"); do
	traced "$PYTHON" "$TOP/tests/e2e/capture/sampling.py" replay work.json || break
	set -- "$@" "$TRACE"
done
is 'and with samples' "$#" "${RUNS:-2}"
ok 'sums and peaks are exact, sites are unbiased' sampling judge work.json "$exact" "$@"
tap_comment "$OUT"
ok 'the trace keeps its promises' validate "$TRACE"
