#!/bin/sh
# Out of memory on a real card, in every way: the explanation names the true reason, the exception and
# the status stay PyTorch's, and what a framework catches says nothing.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
	{ skip 'out of memory' 'no PyTorch for this GPU'; exit 0; }

last='(lambda o: [o["reason"], o["survived"], [a["rule"] for a in o["advice"]]])(d["ooms"][-1])'

# explained WAY REASON FIRST-ADVICE: the program ends as PyTorch ends it, and is told why
explained() {
	name=$1${PYTORCH_CUDA_ALLOC_CONF:+, $PYTORCH_CUDA_ALLOC_CONF}
	traced timeout 100 python3 "$TOP/tests/gpu/oom.py" "$1"
	is "$name: the status is the program's" "$?" 1
	has "$name: so is the exception" "$ERR" "out of memory"
	sed -n '/^memtrace: out of memory/,$p' "$ERR" >explanation
	tap_comment explanation
	is "$name: the reason, and what would help" "$(json "$TRACE" "$last" | sed 's/", "[a-z_]*"\]\]$/"]]/')" \
		"[\"$2\", false, [\"$3\"]]"
	ok "$name: at most 24 lines" [ "$(grep -c . explanation)" -le 25 ] # and the one that names the trace
	ok "$name: and at least 6" [ "$(grep -c . explanation)" -ge 6 ]
	ok "$name: report tells it again" memtrace report --oom "$TRACE"
	cp "$TRACE" "oom-$1.json"
}

explained plain full batch
explained fragmentation fragmentation expandable
explained limit limit limit
explained others others processes
explained beside beside beside
explained cache cache empty_cache
explained too_large too_large shape
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
export PYTORCH_CUDA_ALLOC_CONF
explained plain full batch
PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
explained plain full holder
unset PYTORCH_CUDA_ALLOC_CONF

# silent WAY: nothing but the last line
silent() {
	traced timeout 100 python3 "$TOP/tests/gpu/oom.py" "$1"
	is "$1: ends well" "$?" 0
	hasnt "$1: says nothing" "$ERR" 'memtrace: out of memory'
}

silent retried
is 'retried: no failure, but a second try' \
	"$(json "$TRACE" '[len(d["ooms"]), d["summary"]["devices"][0]["ooms"], d["summary"]["devices"][0]["retries"] > 0]')" \
	'[0, 0, true]'
silent caught
is 'caught: failures that the program survived' \
	"$(json "$TRACE" '[len(d["ooms"]) > 0, {o["survived"] for o in d["ooms"]} == {True}]')" '[true, true]'
tap_comment "$ERR"

traced timeout 100 python3 "$TOP/tests/gpu/oom.py" killed
is 'killed: the status is its own' "$?" 3
ok 'killed: report tells of the spool' memtrace report --oom "${TRACE%.json}.spool"
tap_comment "$OUT"

if python3 -c 'import jax' 2>/dev/null; then
	silent jax
	is 'jax: smaller tries are no failures' \
		"$(json "$TRACE" '[len(d["ooms"]), sum(v["retries"] for v in d["summary"]["devices"]) > 0]')" '[0, true]'
else
	skip 'jax: smaller tries are no failures' 'no JAX here'
fi
