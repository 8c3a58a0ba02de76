#!/bin/sh
# A training on the GPU while `memtrace top` looks at it: the figures are PyTorch's own, and a step
# takes as long as without. Step times are printed, not judged: machines are shared.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
if ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>torch.err; then
	skip torch 'no PyTorch for this GPU'
	exit 0
fi

LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/train.json" python3 "$TOP/tests/gpu/top.py" steps &
pid=$!
until [ -s steps ] && [ "$(wc -l <steps)" -gt 20 ]; do
	kill -0 "$pid" || exit 1
	sleep 0.2
done

# --- figures ----------------------------------------------------------------------------------------
touch steps.hold
until grep -q ^sums steps; do sleep 0.05; done
ok 'a look' memtrace top "$pid" --once --json
cp "$OUT" top.json
ok 'at one page' memtrace top "$pid" --once
sed 's/^/# /' "$OUT"
is "PyTorch's own sums" "$(json top.json '" ".join(str(p[m][k]) for p in d["processes"][0]["pools"] if p["pool"] == "torch" for k in ("now_bytes", "peak_bytes") for m in ("allocated", "reserved"))')" \
	"$(sed -n 's/^sums //p' steps | tail -n 1)"
is 'the driver was asked' "$(json top.json '[e["used"]["now_bytes"] >= e["reserved"]["now_bytes"] for e in d["processes"][0]["devices"]]')" '[true]'
rm steps.hold

# --- what looking costs -------------------------------------------------------------------------------
# Turns without and with top at 1 Hz, so that whatever else the machine does falls on both.
: >turns
for turn in 1 2 3 4 5 6 7 8; do
	if [ $((turn % 2)) = 0 ]; then
		memtrace top "$pid" --prometheus turn.prom &
		top=$!
	fi
	from=$(wc -l <steps)
	sleep 6
	tail -n "+$((from + 1))" steps | sed -n "s/^step /$((turn % 2)) /p" >>turns
	if [ $((turn % 2)) = 0 ]; then
		awk '{ print "# top: " ($14 + $15) / '"$(getconf CLK_TCK)"' " s of CPU in 6 s" }' "/proc/$top/stat"
		kill "$top"
		wait "$top"
	fi
done
python3 - turns <<'PYTHON'
import statistics
import sys

times = {"0": [], "1": []}
for line in open(sys.argv[1], encoding="utf-8"):
    turn, ns = line.split()
    times[turn].append(int(ns))
off, on = (statistics.median(times[k]) for k in ("1", "0"))
print(f"# a step: {off / 1e6:.3f} ms without top, {on / 1e6:.3f} ms with ({on / off:.4f}x), "
      f"{len(times['1'])} and {len(times['0'])} steps")
PYTHON
ok 'steps were taken with and without' [ "$(cut -d' ' -f1 turns | sort -u | wc -l)" = 2 ]

# --- its end --------------------------------------------------------------------------------------------
memtrace top "$pid" --json --interval 50ms >watched.out 2>watched.err &
top=$!
until [ -s watched.out ]; do sleep 0.05; done
kill -9 "$pid"
wait "$top"
is 'killed while it is watched: top ends well' "$? $(grep -c 'has ended' watched.err)" '0 1'
ok 'what it recorded is there' memtrace report train.spool
