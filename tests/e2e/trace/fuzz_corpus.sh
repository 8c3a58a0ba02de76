#!/bin/sh
# What fuzzing has found worth keeping, under the sanitizers: no input harms a reader any more.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

size=0
for file in "$TOP"/tests/fuzz/fuzz_*.c; do
	target=$(basename "$file" .c)
	corpus=$TOP/tests/fuzz/corpus/$target
	more=
	[ "$target" != fuzz_views ] || more=$TOP/tests/fuzz/corpus/fuzz_trace # traces as well
	ok "$target" env UBSAN_OPTIONS=print_stacktrace=1 "$BUILD/fuzz/replay/$target" "$corpus" ${more:+"$more"}
	is "$target: every input was run" "$(cat "$OUT")" "$(find "$corpus" ${more:+"$more"} -type f | wc -l | tr -d ' ')"
	size=$((size + $(find "$corpus" -type f -exec cat {} + | wc -c)))
done
is 'the corpus is small' "$((size < 200000))" 1
