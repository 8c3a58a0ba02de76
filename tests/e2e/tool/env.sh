#!/bin/sh
# The settings: where files go, what is recorded, and that nonsense is told rather than obeyed.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

files() {
	find . -name '*.json' -o -name '*.spool' | sort
}

clean() {
	find . \( -name '*.json' -o -name '*.spool' \) -exec rm -f {} +
}

preload() { # VARIABLE=VALUE... PROGRAM
	clean
	env LD_PRELOAD="$LIBRARY" "$@" >"$OUT" 2>"$ERR"
}

# --- where ----------------------------------------------------------------------------------------------
host=$(uname -n)
preload "$SAMPLES/leak"
pid=$(json ./memtrace.*.json 'd["process"]["pid"]')
is 'the default name' "$(files)" "./memtrace.$pid.json"
preload MEMTRACE_OUTPUT='%e-%h-%r-100%%-%x.json' "$SAMPLES/leak"
is '%e %h %r %% and what is no word' "$(files)" "./leak-$host-0-100%-%x.json"
ok 'the trace keeps its promises' validate ./*.json
# The table is the list: LAUNCHER(torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK")
sed -n 's/^LAUNCHER(//; t row; d; :row; s/[(),"]/ /g; p' "$TOP/src/base/text/launchers.def" >launchers
while read -r launcher rank size place; do
	set -- "$rank=7"
	told='[7, 1, null]'
	if [ "$size" ]; then
		set -- "$@" "$size=8" "$place=3"
		told='[7, 8, 3]'
	fi
	preload "$@" MEMTRACE_OUTPUT='r%r.json' "$SAMPLES/leak"
	is "$launcher: %r, and what the trace says of the rank" \
		"$(files):$(json r7.json '[d["process"].get(k) for k in ("rank", "world_size", "local_rank")]')" "./r7.json:$told"
	ok "$launcher: the trace keeps its promises" validate r7.json
done <launchers
is 'all launchers of the table were tried' "$(wc -l <launchers)" "$(grep -c '^LAUNCHER(' "$TOP/src/base/text/launchers.def")"
preload SLURM_PROCID=3 RANK=7 MEMTRACE_OUTPUT='r%r.json' "$SAMPLES/leak"
is 'the first of them counts' "$(files)" ./r7.json
preload RANK=../../x MEMTRACE_OUTPUT='r%r.json' "$SAMPLES/leak"
is 'a rank is a number' "$(files)" ./r0.json
mkdir -p 'a %p b'
clean
cd 'a %p b' || exit 1
preload MEMTRACE_OUTPUT=t.json "$SAMPLES/leak"
cd .. || exit 1
is 'a working directory is no pattern' "$(files)" './a %p b/t.json'
deep=$(printf '%200s' '' | tr ' ' %)
deep=deep/$deep/$deep/$deep/$deep/$deep/$deep/$deep/$deep/$deep/$deep/$deep
mkdir -p "$deep"
clean
cd "$deep" || exit 1
preload MEMTRACE_OUTPUT=t.json "$SAMPLES/leak"
cd "$MEMTRACE_TEST_TMP" || exit 1
is 'nor is a long one' "$(files)" "./$deep/t.json"
preload MEMTRACE_OUTPUT=plain "$SAMPLES/leak"
is 'a name without an extension' "$(find . -name 'plain*')" ./plain
rm -f plain
# shellcheck disable=SC2016  # for that shell to expand
preload MEMTRACE_OUTPUT="$PWD/moved.json" sh -c 'cd / && exec "$0"' "$SAMPLES/leak"
is 'an absolute name' "$(files)" ./moved.json
mkdir -p spools
preload MEMTRACE_OUTPUT=t.json MEMTRACE_SPOOL_DIR=spools "$E2E/ends" _exit
is 'the spool in a directory of its own' "$(files)" ./spools/t.spool
# Programs that set their title write over the arguments and the environment they were started with.
preload MEMTRACE_OUTPUT='%e.json' MEMTRACE_SPOOL_DIR=spools "$PYTHON" -c '
import ctypes, os
start, _, _, end = map(int, open("/proc/self/stat").read().rsplit(")", 1)[1].split()[45:49])
ctypes.memset(start, ord("/"), end - start - 1)
os.chdir("/")
where = ctypes.c_void_p()
os._exit(ctypes.CDLL("libcudart.so.13").cudaMalloc(ctypes.byref(where), ctypes.c_size_t(4096)))'
is 'a title over the environment, in another directory: all is where it was asked for' \
	"$?:$(files)" "0:./spools/$(basename "$PYTHON").spool"
# shellcheck disable=SC2016  # for that shell to expand
preload MEMTRACE_OUTPUT=t.json sh -c 'umask 777 && "$1" && exec "$0" _exit' "$E2E/ends" "$SAMPLES/leak"
is 'a umask that takes all rights: the files are their owner'\''s' "$(stat -c '%a %n' ./t.* | sort)" '600 ./t.1.spool
600 ./t.json'
preload MEMTRACE_OUTPUT=t.json MEMTRACE_SPOOL_DIR=spools "$E2E/ends"
is 'from which the trace goes where it should' "$(files)" ./t.json
rm -f t.json
# shellcheck disable=SC2016  # for that shell to expand
MEMTRACE_SPOOL_DIR=$PWD/spools memtrace run -o 'job/%p.json' -- sh -c '
	mkdir job
	MEMTRACE_OUTPUT=$PWD/other.json "$0" _exit
	exec "$0" _exit' "$E2E/ends" >"$OUT" 2>"$ERR"
is 'a run ends what its own left there, and leaves the spool of another job alone' \
	"$(files | sed 's/[0-9][0-9]*/PID/' | paste -sd' ')" './job/PID.json ./spools/other.spool'
rm -rf job spools

# --- what -----------------------------------------------------------------------------------------------
peak='d["summary"]["devices"][0]["allocated"]["peak_bytes"]'
preload MEMTRACE_OUTPUT=t.json MEMTRACE_ENABLE=0 "$SAMPLES/leak"
is 'MEMTRACE_ENABLE=0: nothing at all' "$?:$(files):$(cat "$ERR")" 0::
preload MEMTRACE_OUTPUT=t.json MEMTRACE_START=0 "$SAMPLES/leak"
is 'MEMTRACE_START=0: sums and no events' "$(json t.json "[$peak, len(d[\"events\"])]")" '[15728640, 0]'
ok 'MEMTRACE_START=0: the trace keeps its promises' validate t.json
preload MEMTRACE_OUTPUT=t.json MEMTRACE_MAX_EVENTS=0 "$SAMPLES/leak"
is 'MEMTRACE_MAX_EVENTS=0: the same, and it says how many there were' \
	"$(json t.json "[$peak, len(d[\"events\"]), d[\"capture\"][\"events_dropped\"]]")" '[15728640, 0, 19]'
is 'MEMTRACE_MAX_EVENTS=0: it is cut' "$(json t.json 'd["capture"]["truncated"]')" true
ok 'MEMTRACE_MAX_EVENTS=0: the trace keeps its promises' validate t.json
preload MEMTRACE_OUTPUT=t.json MEMTRACE_MAX_EVENTS=1M "$SAMPLES/churn" 100
is 'a count may have a unit' "$(json t.json '[len(d["events"]), d["capture"]["truncated"]]')" '[202, false]'
preload MEMTRACE_OUTPUT=t.json MEMTRACE_USED=0 "$SAMPLES/leak"
is 'MEMTRACE_USED=0: the driver is not asked' \
	"$(json t.json '(d["summary"]["devices"][0].get("used") or {}).get("peak_bytes") in (None, 0)')" true
ok 'MEMTRACE_USED=0: the trace keeps its promises' validate t.json

# --- nonsense -------------------------------------------------------------------------------------------
for setting in MEMTRACE_MAX_EVENTS=many MEMTRACE_ENABLE=maybe MEMTRACE_STACK_DEPTH=-3 MEMTRACE_STACK_DEPTH=0 \
	MEMTRACE_STACK_DEPTH=257 MEMTRACE_QUIET=2; do
	preload MEMTRACE_OUTPUT=t.json "$setting" "$SAMPLES/leak"
	is "$setting: the default counts" "$?:$(json t.json 'len(d["events"])')" 0:19
	is "$setting: and the trace says so" \
		"$(json t.json "any(\"${setting%%=*}\" in note for note in d[\"capture\"][\"notes\"])")" true
done
preload MEMTRACE_OUTPUT=t.json MEMTRACE_MAX_EVENTS= "$SAMPLES/leak"
is 'an empty value is none' "$(json t.json '[len(d["events"]), d["capture"]["notes"]]')" '[19, []]'
