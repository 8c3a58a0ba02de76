#!/bin/sh
# What passes through a hooked call from below (an exception, longjmp, pthread_exit, a cancellation)
# arrives, and leaves nothing behind: what follows is recorded once each, with its own name.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

need "${CXX:-g++}"

include=$TOP/tests/fake/include
"${CXX:-g++}" -std=c++17 -O2 -g -I"$include" -o exceptions "$TOP/tests/e2e/capture/exceptions.cc" \
	-rdynamic -L"$BUILD/fake" -lcudart -ldl -lpthread
"${CXX:-g++}" -std=c++17 -O2 -g -I"$include" -DLIBRARY -shared -fPIC -o libexceptions.so \
	"$TOP/tests/e2e/capture/exceptions.cc" -ldl -lpthread

LD_PRELOAD=$PWD/libexceptions.so ./exceptions >plain.out 2>plain.err
is 'without the library' "$?:$(tail -n 1 plain.out)" 0:destroyed=3
LD_PRELOAD=$PWD/libexceptions.so
traced ./exceptions
is 'the program ends as it did' "$?" 0
is 'and says the same' "$(cat "$OUT")" "$(cat plain.out)"
is 'each later call is one event, with its name' \
	"$(json "$TRACE" '[(e["op"], e["api"], e["size"] - 4096) for e in d["events"]]')" \
	"$(json "$TRACE" '[row for i in (-1, 0, 1, 2, 3, 4) for row in (("alloc", "cudaMalloc", i), ("free", "cudaFree", i))]')"
is 'by functions of the program' "$(json "$TRACE" 'all("main" in
	[d["frames"][i]["function"] for i in d["stacks"][e["stack"]]["frames"]] for e in d["events"])')" true
ok 'the trace keeps its promises' validate "$TRACE"
