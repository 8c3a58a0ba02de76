#!/bin/sh
# Ranks under a launcher: `memtrace run` follows every child, names and finishes each trace, and merge
# takes them as they are.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

cat >launch <<'SH'
#!/bin/sh
# launch RANKS [KILLED]: as torchrun does, each rank a process of its own; one of them may be killed.
rank=0
while [ $rank -lt "$1" ]; do
	if [ "${2:-}" = $rank ]; then
		RANK=$rank WORLD_SIZE=$1 LOCAL_RANK=$rank "$E2E/ends" 9 >/dev/null &
	else
		RANK=$rank WORLD_SIZE=$1 LOCAL_RANK=$rank "$SAMPLES/leak" $((rank + 1)) >/dev/null &
	fi
	rank=$((rank + 1))
done
wait
SH
chmod +x launch

mkdir four dead twelve torch
ok 'four ranks' memtrace run -o 'four/%h.%r.json' -- ./launch 4
cp "$ERR" said
host=$(uname -n)
is 'a trace a rank, named by it' "$(cd four && echo *)" "$host.0.json $host.1.json $host.2.json $host.3.json"
has 'one of those that peak highest is told in full' said "memtrace: the trace of rank 0 of 4 is four/$host.0.json"
for rank in 1 2 3; do
	has "rank $rank is named" said "memtrace: the trace of rank $rank is four/$host.$rank.json (peak "
	is "rank $rank says what it is" "$(json "four/$host.$rank.json" '[d["process"][k] for k in ("rank", "world_size", "local_rank")]')" "[$rank, 4, $rank]"
done
has 'and what takes all of them' said "memtrace merge four/$host.*.json summarizes all 4 traces"
memtrace report "four/$host.1.json" >report.txt
has 'a report says which rank it is of' report.txt ', rank 1, on '
ok 'which merges' memtrace merge four/*.*.json
hasnt 'with no rank missing' "$OUT" 'missing'

memtrace run -o 'dead/%r.json' -- ./launch 3 1 >"$OUT" 2>said
is 'a killed rank is no failure of the launcher' "$?" 0
is 'its trace is finished' "$(cd dead && echo *)" '0.json 1.json 2.json'
has 'and named' said 'rank 1 '
ok 'merge takes it' memtrace merge --json -o dead.json dead
is 'and says how each ended' "$(json dead.json '[r["exit"] for r in d["ranks"]]')" '["exit", "unfinished", "exit"]'

ok 'twelve ranks' memtrace run -o 'twelve/%r.json' -- ./launch 12
cp "$ERR" said
is 'the nine highest are named' "$(grep -cE 'rank [0-9]+ (is|of 12 is) twelve/' said)" 9
has 'the others are counted' said 'memtrace: and 3 more traces'
has 'all are merged' said 'memtrace merge twelve/*.json summarizes all 12 traces'

# --- torchrun itself, on CPU tensors --------------------------------------------------------------------
PYTHON3=/usr/bin/python3
if ! $PYTHON3 -c 'import torch.distributed as d; assert d.is_gloo_available(); import torch.distributed.run' >"$OUT" 2>"$ERR"; then
	skip torchrun "no PyTorch with gloo for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi
cat >train.py <<'PY'
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1024, 1024))
kept = torch.ones((1 + rank) << 20)
for _ in range(3):
    model(torch.randn(8, 1024)).sum().backward()
print("done", rank, os.environ["LOCAL_RANK"])
PY
# Debian's PyTorch 1.13 knows no 0 (the default) for --redirects and --tee under Python 3.11.
ok 'torchrun under memtrace run' memtrace run --cpu -o 'torch/%r.json' -- \
	timeout 200 $PYTHON3 -m torch.distributed.run --nnodes 1 --nproc_per_node 2 \
	--rdzv_backend c10d --rdzv_endpoint 127.0.0.1:0 --redirects 1 --tee 1 train.py
is 'a trace a rank, and none of the launcher' "$(cd torch && echo *)" '0.json 1.json'
ok 'they merge' memtrace merge --json -o torch.json torch
is 'as two ranks of two' "$(json torch.json '[d["world_size"], [[r["rank"], r["local_rank"]] for r in d["ranks"]]]')" '[2, [[0, 0], [1, 1]]]'
is 'with what each line held: 8 MiB more in rank 1' \
	"$(json torch.json '[[s["allocated"]["highest_bytes"] >> 20, s["allocated"]["rank"]] for s in sorted(d["sites"], key=lambda s: -s["allocated"]["highest_bytes"]) if s["space"] == "cpu" and s["site"] == "<module> (train.py)"][0]')" '[8, 1]'
