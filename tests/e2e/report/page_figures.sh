#!/bin/sh
# The page of `memtrace html` in a browser: every figure on it is the report's, which counts otherwise.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../../page/browse.sh
. "$TOP/tests/page/browse.sh"

recorded=$TOP/tests/data/recorded
GENERATOR=$BUILD/tests/generator

names='train scopes operators caching cupy jax nccl cupti'
for name in $names; do
	memtrace html "$recorded/$name.json" -o "$name.html"
	memtrace report --json --limit 0 "$recorded/$name.json" >"$name.report.json"
	memtrace report --json --at peak --show gaps "$recorded/$name.json" >"$name.gaps.json"
	memtrace report --json --at peak --show moment "$recorded/$name.json" >"$name.categories.json"
done
# A long one, of which most blocks are told in sums; two devices, so that none takes the other's.
ok 'a long trace' "$GENERATOR" --events 30000 --devices 2 --leak --stacks 40 --live 300 --json long.json
ok 'its page' memtrace html long.json --max-events 12000 -o long.html
memtrace report --json --limit 0 long.json >long.report.json
echo '{}' >long.gaps.json # what lies where between the ends of slices is not known
memtrace report --json --at peak --show moment long.json >long.categories.json
# What CUPTI saw, on more streams than there are lanes.
MEMTRACE_CUPTI=1 FAKE_CUPTI_STREAMS=7 FAKE_CUPTI_SLOW=cuMemAlloc_v2 traced "$E2E/calls" rows
memtrace html "$TRACE" -o spans.html
memtrace report --json --limit 0 "$TRACE" >spans.report.json
memtrace report --json --at peak --show gaps "$TRACE" >spans.gaps.json
memtrace report --json --at peak --show moment "$TRACE" >spans.categories.json
# shellcheck disable=SC2086  # words
browse figures "$PWD" $names long spans
