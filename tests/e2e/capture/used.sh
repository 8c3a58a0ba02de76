#!/bin/sh
# What is occupied and was not allocated: each step has its name, the sums are exact, and what nothing
# explains is said to be just that. The simulated NVML and driver know what is true.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

[ -z "$GPU" ] || { skip "used" "tests/gpu/used.sh is the one for a GPU"; exit 0; }

names() { # TRACE: "NAME MIB" of what is named at the end, in order
	json "$1" '"\n".join("%s %g" % (n["name"], n["bytes"] / 1048576)
		for d in d["summary"]["devices"] for n in d["named"])'
}
steps() { # TRACE: "MIB NAME in CALL" of each row
	json "$1" '"\n".join("%g %s in %s" % (r["bytes"] / 1048576, r["name"], r["api"]) for r in d["used"])'
}
used() { # TRACE KEY
	json "$1" 'd["summary"]["devices"][0]["used"]["'"$2"'"]'
}
own() { sed -n 's/^own //p' "$OUT"; }

# --- steps -------------------------------------------------------------------------------------------

traced "$E2E/used" steps
truth=$(own)
ok "steps: the trace keeps its promises" validate "$TRACE"
is "steps: each is measured and named" "$(steps "$TRACE")" "512 context in cuDevicePrimaryCtxRetain
4 modules of used in cuModuleGetFunction
22 modules of used in cuLaunchKernel
266 local memory in cuLaunchKernel
56 malloc heap in cuCtxSetLimit
12 printf heap in cuCtxSetLimit
-32 malloc heap in cuCtxSetLimit
2 peer access in cuCtxEnablePeerAccess
-4 modules of used in cuModuleUnload"
is "steps: at the end it is what the device says" "$(used "$TRACE" exit_bytes)" "$truth"
is "steps: nothing remains" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
is "steps: NVML was asked" "$(used "$TRACE" source)" nvml
is "steps: the call's stack is there" "$(json "$TRACE" '[d["frames"][d["stacks"][r["stack"]]["frames"][0]]["function"]
	for r in d["used"] if r["kind"] == "malloc heap"]')" '["steps", "steps"]'
ok "steps: a report tells of it" memtrace report "$TRACE" --show used
has "in one table" "$OUT" "What nvidia-smi shows for device 0: peak 878.00 MiB"
has "with what was allocated" "$OUT" "5.00 MiB    0.6%   allocated by used"
has "with rounding" "$OUT" "1.00 MiB    0.1%   rounding up to multiples of 2 MiB"
has "with names" "$OUT" "512.00 MiB   58.3%   context"
ok "steps: and a report for programs" memtrace report "$TRACE" --show used --json
cp "$OUT" report.json
is "whose parts sum to the whole" "$(json report.json '[sum(p["bytes"] for p in u["parts"]) == u["bytes"] for u in d["used"]]')" "[true]"

traced "$E2E/used" early
is "before the first allocation: the same names" "$(names "$TRACE")" "$(names "$MEMTRACE_TEST_TMP/trace1.json")"
is "and figures" "$(used "$TRACE" exit_bytes) $(used "$TRACE" residual_max_bytes)" "$truth 0"
ok "the trace keeps its promises" validate "$TRACE"

CUDA_MODULE_LOADING=EAGER traced "$E2E/used" steps
is "eagerly: at the load" "$(steps "$TRACE" | grep modules)" "4 modules of used in cuModuleLoadData
22 modules of used in cuLibraryLoadData
2 modules of used in cuLibraryLoadData
-4 modules of used in cuModuleUnload"
is "eagerly: the kernel's stack alone at its launch" "$(steps "$TRACE" | grep local)" "264 local memory in cuLaunchKernel"

# --- what nothing explains -------------------------------------------------------------------------

traced "$E2E/used" unseen
is "unseen memory is a residual" "$(json "$TRACE" '[(r["name"], r["residual"] >> 20) for r in d["used"]][1:]')" \
	'[[null, 40], [null, 10]]'
is "its extremes" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 41943040"
ok "the trace keeps its promises" validate "$TRACE"
ok "the report does not hide it" memtrace report "$TRACE" --show used
has "by its name" "$OUT" "40.00 MiB    7.1%   residual (not explained)"

# --- rounding, contexts, threads ---------------------------------------------------------------------

traced "$E2E/used" granules
is "rounding is computed: nothing remains" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
is "and the device agrees" "$(used "$TRACE" exit_bytes)" "$(own)"
ok "the trace keeps its promises" validate "$TRACE"

traced "$E2E/used" ordered
is "what a pool gave back unseen is no residual" \
	"$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
is "and the device agrees" "$(used "$TRACE" exit_bytes)" "$(own)"
ok "the trace keeps its promises" validate "$TRACE"

traced "$E2E/used" burst
is "memory that comes at once, and nothing after it: as the device says" "$(used "$TRACE" exit_bytes)" "$(own)"
is "at the peak as well" "$(used "$TRACE" peak_bytes)" "$(($(own) + (1 << 30)))"
is "and nothing remains" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
ok "the trace keeps its promises" validate "$TRACE"

traced "$E2E/used" reset
is "what was named in a context ends with it" "$(names "$TRACE")" "context 512
modules of used 0
local memory 0
malloc heap 0
printf heap 0
peer access 0"
is "and nothing remains" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
ok "the trace keeps its promises" validate "$TRACE"

traced "$E2E/used" storm
is "threads allocate, others load: at the end it is what the device says" "$(used "$TRACE" exit_bytes)" "$(own)"
is "with the right names" "$(names "$TRACE")" "context 512
modules of used 1200"
is "and nothing remained at any sample" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
ok "the trace keeps its promises" validate "$TRACE"

FAKE_CUDA_DEVICES=2 traced "$E2E/used" two
is "two devices" "$(json "$TRACE" '[[n["name"], n["bytes"] >> 20] for x in d["summary"]["devices"] for n in x["named"]]')" \
	'[["context", 512], ["context", 512], ["malloc heap", 56]]'
is "each by its own UUID" "$(json "$TRACE" '[x["used"]["residual_max_bytes"] for x in d["summary"]["devices"]]')" "[0, 0]"

# --- whom to ask -------------------------------------------------------------------------------------

asked() { # NAME ENVIRONMENT...: source, and what is named
	env_name=$1
	shift
	traced env FAKE_CUDA_OTHERS=300M "$@" "$E2E/used" steps
	ok "$env_name: the trace keeps its promises" validate "$TRACE"
	is "$env_name: nothing remains" "$(used "$TRACE" residual_min_bytes) $(used "$TRACE" residual_max_bytes)" "0 0"
}
asked container FAKE_NVML=container FAKE_NVML_NEIGHBOURS=3
is "container: the process is known by its coming" "$(used "$TRACE" source) $(names "$TRACE" | head -1)" "nvml context 512"
for how in hidden unknown; do
	asked "$how" FAKE_NVML=$how
	is "$how: the device's figure, of all processes" "$(used "$TRACE" source) $(names "$TRACE" | head -2 | tr '\n' ' ')" \
		"cuMemGetInfo other processes 300 context 512 "
	is "$how: which is what the device says" "$(used "$TRACE" exit_bytes)" $((truth + 300 * 1048576))
done
asked none FAKE_NVML=none
is "none: others cannot be told from the context" "$(used "$TRACE" source) $(names "$TRACE" | head -1)" "cuMemGetInfo context 812"
ok "none: the report says whose figure it is" memtrace report "$TRACE" --show used
has "of everybody" "$OUT" "What all processes occupy on device 0"
asked mig FAKE_CUDA_MIG=1
is "mig: a part of a card is found by its own UUID" "$(used "$TRACE" source) $(json "$TRACE" 'd["environment"]["devices"][0]["uuid"][:4]')" "nvml MIG-"
asked crowd FAKE_NVML_NEIGHBOURS=500
is "crowd: more processes than are looked at" "$(used "$TRACE" source)" cuMemGetInfo
MEMTRACE_USED=0 traced "$E2E/used" steps
is "MEMTRACE_USED=0: nobody is asked" "$(json "$TRACE" '[d["used"], d["summary"]["devices"][0]["used"]]')" "[[], null]"

# A slow driver is asked so seldom that the program waits a 400th of its time, or 4 times a second; two
# more are the first, of which nothing is known, and one beside.
rm -f asked.count
FAKE_NVML_US=2000 FAKE_NVML_COUNT=$PWD/asked.count FAKE_CUDA_LATENCY_NS=100000 traced "$SAMPLES/churn" 1500 1
asked=$(wc -c <asked.count)
seconds=$(json "$TRACE" 'd["process"]["duration_ns"] / 1e9')
is "slow: $asked times in $seconds s" "$("$PYTHON" -c "print($asked >= 3, $asked <= 8 + 5 * $seconds)")" "True True"

# --- a child, a killed program -----------------------------------------------------------------------

MEMTRACE_OUTPUT=$PWD/fork.json traced "$E2E/used" fork
is "a child is known by its own number" "$(used fork.json source) $(names fork.json)" "nvml context 512"

# Everything up to its last call is there.
env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/killed.json" "$E2E/used" forever >said 2>/dev/null &
victim=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	sleep 0.1
	[ -s said ] && break
done
kill -9 "$victim"
wait "$victim" 2>/dev/null
ok "a killed program's spool is recovered" memtrace recover killed.spool
ok "and keeps its promises" validate killed.json
is "with its steps" "$(json killed.json '[r["name"] for r in d["used"]][:3]')" \
	'["context", "modules of used", "modules of used"]'
is "and nothing remained" "$(used killed.json residual_min_bytes) $(used killed.json residual_max_bytes)" "0 0"
