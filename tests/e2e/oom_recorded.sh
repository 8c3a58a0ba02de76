#!/bin/sh
# Failures recorded on an H200 (tests/gpu/oom.sh): the reason that was true there is told from the trace.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

explained() { # WAY REASON FIRST-ADVICE
	trace=$TOP/tests/data/h200-oom-$1.json
	ok "$1: keeps its promises" validate "$trace"
	is "$1: the reason, and what would help" \
		"$(json "$trace" '(lambda o: [o["reason"], o["survived"], o["advice"][0]["rule"]])(d["ooms"][-1])')" \
		"[\"$2\", false, \"$3\"]"
	ok "$1: explained" memtrace report --oom "$trace"
	has "$1: where it was asked for" "$OUT" 'oom.py:'
	has "$1: why" "$OUT" "$4"
}

explained plain full holder 'What this process holds fills the card: 7.97 GiB were lacking'
explained limit limit limit 'a limit of this'
explained others others processes 'belong to other processes'
explained beside beside beside '83.88 GiB of this process are not PyTorch'
explained cache cache empty_cache "PyTorch's cache keeps 64.00 GiB in segments without a single block"
explained too_large too_large shape 'One allocation of 279.60 GiB is more than the whole card can give'
