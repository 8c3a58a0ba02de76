#!/bin/sh
# Failures recorded on a GPU (tests/gpu/oom.sh): the reason that was true there is told from the trace.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

explained() { # WAY REASON FIRST-ADVICE
	trace=$TOP/tests/data/recorded/oom-$1.json
	ok "$1: keeps its promises" validate "$trace"
	is "$1: the reason, and what would help" \
		"$(json "$trace" '(lambda o: [o["reason"], o["survived"], o["advice"][0]["rule"]])(d["ooms"][-1])')" \
		"[\"$2\", false, \"$3\"]"
	ok "$1: explained" memtrace report --oom "$trace"
	has "$1: where it was asked for" "$OUT" 'oom.py:'
	has "$1: why" "$OUT" "$4"
	is "$1: no sentence is cut" "$(grep '[.][.][.]$' "$OUT")" ''
	ok "$1: a report" memtrace report "$trace"
	has "$1: begins with it" "$OUT" "Out of memory: $5 on device 0 could not be allocated"
	is "$1: in its first line" "$(sed -n '/^Out of memory: /{=;q;}' "$OUT")" 1
	is "$1: and goes on with what would have helped" "$(sed -n '/^What to do$/{n;s/^\(- .\{12\}\).*/\1/p;q;}' "$OUT")" "$6"
	is "$1: what the end of the program freed was no temporary" "$(grep -c 'short-lived\|were temporaries' "$OUT")" 0
}

explained plain full holder 'This process fills the card; it needed 8.00 GiB more' '8.00 GiB' '- empty (oom.p'
explained limit limit limit 'this process reached a' '1.00 GiB' '- raise torch.'
# shellcheck disable=SC2016  # the tool's own quotes
explained others others processes 'is held by other processes' '8.00 GiB' '- `nvidia-smi`'
explained beside beside beside 'This process holds 47.51 GiB outside PyTorch' '8.00 GiB' '- free what ra'
explained cache cache empty_cache "PyTorch's cache keeps 64.00 GiB in empty segments" '40.00 GiB' '- run torch.cu'
explained too_large too_large shape 'A single allocation of 158.36 GiB is more than the whole card can provide' '158.36 GiB' '- check the sh'
