#!/bin/sh
# The simulated CUDA answers in the corners as tests/fake/agree.expected has it from a GPU, and
# answers the same when it is traced.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ok 'the corners are asked' "$BUILD/tests/agree"
cp "$OUT" plain
ok 'the simulation answers as a GPU does' diff -u "$TOP/tests/fake/agree.expected" plain
traced "$BUILD/tests/agree"
is 'traced, it answers the same' "$(diff plain "$OUT")" ''
ok 'the trace keeps its promises' validate "$TRACE"
is 'the sums are what is left' "$(json "$TRACE" '[d["summary"]["devices"][0][m]["exit_bytes"] for m in ("allocated", "reserved")]')" '[0, 0]'
