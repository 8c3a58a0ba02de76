#!/bin/sh
# Calls that move no memory are counted by name: how often, how long, each once.
. "$(dirname "$0")/../lib.sh"

# A GPU's own functions would look at what they are given.
[ -z "$GPU" ] || { skip "counted calls" "this driver reads its arguments"; exit 0; }

counts() { # TRACE [NAME...]: "NAME CALLS FAILED", of all or of some
	trace=$1
	shift
	json "$trace" '"\n".join("%s %d %d" % (c["api"], c["calls"], c["failed"]) for c in
		sorted(d["calls"], key=lambda c: c["api"])
		if not "'"$*"'" or c["api"] in "'"$*"'".split())'
}

traced "$E2E/calls" rows
is "every row is called" "$?" 0
sort "$OUT" >made
ok "the trace keeps its promises" validate "$TRACE"
counts "$TRACE" | awk '{ print $1, $2 }' | grep -Ev '^(cudaMalloc|cuDevicePrimaryCtxRetain) ' | sort >counted
ok "each call is counted once, whichever door it came through" diff made counted
is "no call of them is an event" "$(json "$TRACE" 'len(d["events"])')" 1
is "times are of this world" "$(json "$TRACE" 'all(0 < c["max_ns"] <= c["total_ns"] < d["process"]["duration_ns"]
	for c in d["calls"])')" true
is "sorted by time" "$(json "$TRACE" '(lambda t: t == sorted(t)[::-1])([c["total_ns"] for c in d["calls"]])')" true
ok "a report tells of them" memtrace report --show calls "$TRACE"
has "by name" "$OUT" "Time inside CUDA calls"
MEMTRACE_CALLS=0 traced "$E2E/calls" rows
is "MEMTRACE_CALLS=0 counts none" "$(json "$TRACE" 'd["calls"]')" "[]"

traced "$E2E/calls" threads
is "64 threads" "$(counts "$TRACE" cudaLaunchKernel)" "cudaLaunchKernel 640000 0"
ok "the trace keeps its promises" validate "$TRACE"

traced "$E2E/calls" fork
is "a child is counted for itself" "$(counts "$TRACE" cudaLaunchKernel)" "cudaLaunchKernel 3 0"

# 64 threads are more than have a place of their own to count in; a handler counts in its thread's.
MEMTRACE_OUTPUT="$PWD/heirs.%p.json" traced "$E2E/calls" heirs
is "a child's threads are counted for themselves, and all of them" "$(for trace in heirs.*.json; do
	counts "$trace" cudaLaunchKernel; done | sort)" "cudaLaunchKernel 640100 640100
cudaLaunchKernel 80000 0"
FAKE_CUDA_SIGNALS=1 traced timeout 120 "$E2E/calls" handlers
is "a thread and its signal handler: none is lost" "$(counts "$TRACE" cudaLaunchKernel)" \
	"cudaLaunchKernel $(cat "$OUT") 0"

traced "$E2E/calls" nested
is "of calls that nest the outermost is counted, and failures are told" \
	"$(counts "$TRACE" cudaMalloc cudaFree cudaStreamSynchronize cuStreamSynchronize)" \
	"cuStreamSynchronize 3 0
cudaFree 1 0
cudaMalloc 1 0
cudaStreamSynchronize 6 1"

traced "$E2E/calls" early
is "calls from before the first allocation count" "$(counts "$TRACE" cudaDeviceSynchronize)" \
	"cudaDeviceSynchronize 7 0"
traced "$E2E/calls" none
is "and leave no file by themselves" "$(ls "$TRACE" 2>/dev/null)" ""

# What events cost the program: one in 61 is timed, a runtime call and the driver's beneath it once.
kinds() { # TRACE: "KIND SAMPLES" of those that took a time of this world
	json "$1" '" ".join("%s %d" % (k, c["samples"]) for k, c in d["capture"]["cost"].items()
		if 0 < c["ns_per_event"] < 65536)'
}
traced "$SAMPLES/churn" 100 1
is "the trace states what an event of the driver's costs" "$(kinds "$TRACE")" "driver 3"
ok "the trace keeps its promises" validate "$TRACE"
traced "$E2E/ranges" 100
is "what a range costs" "$(kinds "$TRACE")" "range 3"
traced "$E2E/bench" block 3 100 1
is "and what a block of PyTorch's pool costs" "$(kinds "$TRACE")" "block 4"

# Killed: what was counted is there.
env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/killed.json" "$E2E/calls" forever >said 2>/dev/null &
victim=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.1
	[ "$(wc -l <said)" -gt 5 ] && break
done
kill -9 "$victim"
wait "$victim" 2>/dev/null
ok "a killed program's spool is recovered" memtrace recover killed.spool
least=$(tail -n 1 said)
is "with its counts" "$(json killed.json "[$least <= c['calls'] <= $least + 2000 for c in d['calls']
	if c['api'] == 'cudaLaunchKernel']")" "[true]"
