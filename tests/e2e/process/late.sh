#!/bin/sh
# CUDA calls while the program ends, and before it begins: all succeed, and what comes before our own
# end is recorded.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

need "${CXX:-g++}"
for what in 'late:' 'liblate.so:-DLIBRARY -shared'; do
	# shellcheck disable=SC2086  # words
	"${CXX:-g++}" -std=c++17 -O1 -g -fPIC ${what#*:} -I"$TOP/tests/fake/include" -o "${what%%:*}" "$TOP/tests/e2e/process/late.cc" \
		-rdynamic -L"$BUILD/fake" -lcudart -lpthread || exit 1
done

wanted='main=0 thread=0 key=0 atexit=0 static=0 program=0'
for order in alone front behind; do
	case $order in
	alone) preload=$LIBRARY library= ;;
	front) preload=$PWD/liblate.so:$LIBRARY library=' first=0 last=0' ;;
	*) preload=$LIBRARY:$PWD/liblate.so library=' first=0 last=0' ;;
	esac
	TRACE=$PWD/$order.json
	timeout 60 env LD_PRELOAD="$preload" MEMTRACE_OUTPUT="$TRACE" ./late >"$OUT" 2>"$ERR"
	is "$order: each call succeeds, wherever it is made" "$?:$(sort "$OUT" | tr '\n' ' ')" \
		"0:$(echo "$wanted$library" | tr ' ' '\n' | sort | tr '\n' ' ')"
	is "$order: all that the program made is there" "$(json "$TRACE" 'sorted(e["size"]
		for e in d["events"] if e["op"] == "alloc" and e["size"] < 1 << 20)')" '[5000, 6000, 6500, 7000, 8000, 9000]'
	is "$order: by its own functions" "$(json "$TRACE" 'all(any(d["frames"][i]["function"].startswith("use")
		for i in d["stacks"][e["stack"]]["frames"] if d["frames"][i]["function"]) for e in d["events"])')" true
	is "$order: each was freed" "$(json "$TRACE" 'd["summary"]["devices"][0]["allocated"]["exit_bytes"]')" 0
	ok "$order: the trace keeps its promises" validate "$TRACE"
done
