#!/bin/sh
# scripts/memtrace_pools.py: what CuPy's, RMM's and JAX's pools hand out is in the trace, block by block.
# Stand-ins (tests/e2e/python/pools) take the libraries' places; tests/gpu/pools.sh is the same with the real ones.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir site-packages
cp -r "$TOP/tests/e2e/python/pools/." site-packages
PYTHONPATH=$PWD/site-packages:$TOP/scripts
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

for program in cupy_pool rmm_pool jax_preallocated jax_growing jax_platform jax_async; do
	"$PYTHON" "$TOP/tests/gpu/pools.py" "$program" >alone.out 2>alone.err
	is "$program: without memtrace it runs" "$?:$(cat alone.err)" 0:
	MEMTRACE_QUIET=1 traced "$PYTHON" "$TOP/tests/gpu/pools.py" "$program"
	is "$program: with it as well" "$?:$(cat "$OUT" "$ERR")" "0:$(cat alone.out)"
	ok "$program: the trace has the pool's own figures" "$PYTHON" "$TOP/tests/gpu/pools_check.py" "$TRACE"
	tap_comment "$OUT"
	[ "$program" != cupy_pool ] || ok "$program: the trace keeps its promises" validate "$TRACE"
done

# RMM 25.12 on a H200.
recorded=$TOP/tests/data/recorded/rmm.json
ok 'RMM itself: the trace has its own figures' "$PYTHON" "$TOP/tests/gpu/pools_check.py" "$recorded"
is 'RMM itself: two segments, and what the limit refused left nothing' "$(json "$recorded" \
	'[(p["pool"], p["reserved"]["exit_bytes"] >> 20, p["allocated"]["peak_bytes"] >> 20, p["allocated"]["exit_bytes"])
	for v in d["summary"]["devices"] for p in v["pools"]]')" '[["rmm", 72, 42, 0]]'

# Up to 16 MiB come from its segments, 64 and 40 MiB are CUDA's own.
traced "$SAMPLES/pluggable"
is 'a pluggable allocator: one segment, 5 MiB of it in use, beside what it does not cache' "$(json "$TRACE" \
	'[(p["pool"], p["reserved"]["exit_bytes"] >> 20, p["allocated"]["exit_bytes"] >> 20, v["reserved"]["peak_bytes"] >> 20)
	for v in d["summary"]["devices"] for p in v["pools"]]')" '[["pluggable", 32, 5, 136]]'
