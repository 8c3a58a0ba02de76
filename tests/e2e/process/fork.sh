#!/bin/sh
# shellcheck disable=SC2016  # what is in single quotes is for another shell
# Parents and children, however they are born, have traces of their own; a child without CUDA has none;
# nothing that exists is overwritten.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

run() { # PROGRAM ARGUMENTS...: keeps what it says
	traced "$@"
	set -- $?
	cp "$OUT" own.out
	cp "$ERR" own.err
	return "$1"
}

pid_of() { # WHO
	sed -n "s/^$1[. ]pid=\([0-9]*\).*/\1/p" own.out | head -n 1
}

held() { # TRACE: at the end and at most, in MiB, and whether the pid in it is that of its name
	json "$1" '"live %d peak %d" % tuple(d["summary"]["devices"][0]["allocated"][k] >> 20
		for k in ("exit_bytes", "peak_bytes"))'
}

left() { # what traced processes left here
	find . -name '*.json' -o -name '*.spool' | sort
}

pid_in() {
	json "$1" 'd["process"]["pid"]'
}

MEMTRACE_OUTPUT=$PWD/%p.json
export MEMTRACE_OUTPUT

# --- the sample: a child that allocates, one that does not, one that cannot ------------------------------
run "$SAMPLES/fork"
is 'the sample succeeds' "$?" 0
parent=$(pid_of parent) child=$(pid_of child) idle=$(pid_of idle)
is 'parent and child left a trace each, nobody else' "$(left)" \
	"$(printf './%s.json\n' "$parent" "$child" | sort)"
for who in parent child; do
	file=$(pid_of $who).json
	ok "$who: the trace keeps its promises" validate "$file"
	is "$who: it is of that process" "$(pid_in "$file")" "$(pid_of $who)"
	ok "$who: it has its own figures only" "$PYTHON" "$TOP/tests/e2e/figures.py" "$file" own.out --prefix $who.
done
ok 'the child without CUDA is not in any' [ ! -e "$idle.json" ]
is 'a line on stderr for each' "$(sort own.err)" \
	"$(printf "memtrace: wrote $PWD/%s.json\n" "$parent" "$child" | sort)"

# --- every kind of birth ---------------------------------------------------------------------------------
for kind in fork clone _Fork beside vfork spawn; do
	rm -f ./*.json
	run "$E2E/forks" $kind
	is "$kind: the program succeeds" "$?" 0
	is "$kind: two traces" "$(left | wc -l)" 2
	is "$kind: the parent's" "$(held "$(pid_of parent).json")" 'live 2 peak 4'
	is "$kind: the child's" "$(held "$(pid_of child).json")" 'live 1 peak 2'
	ok "$kind: both keep their promises" validate "$(pid_of parent).json" "$(pid_of child).json"
	is "$kind: each knows its own pid" "$(pid_in "$(pid_of parent).json") $(pid_in "$(pid_of child).json")" \
		"$(pid_of parent) $(pid_of child)"
done

rm -f ./*.json
run "$E2E/forks" beside
is 'beside: the child asks for no native frames, and says so' \
	"$(json "$(pid_of child).json" '"its call stacks have no native frames" in d["capture"]["notes"][0]')" true

rm -f ./*.json
run "$E2E/forks" vfork_exit
is 'vfork and _exit: the program succeeds' "$?" 0
is 'vfork and _exit: one trace' "$(left)" "./$(pid_of parent).json"
is 'vfork and _exit: the whole of it' "$(held "$(pid_of parent).json")" 'live 2 peak 4'

# The parent has begun: a child cannot use CUDA, its calls fail, and it leaves nothing.
rm -f ./*.json
run "$E2E/forks" after
is 'a child of a parent that uses CUDA leaves nothing' "$(left)" "./$(pid_of parent).json"
is 'and does not disturb it' "$(held "$(pid_of parent).json")" 'live 6 peak 8'
ok 'whose trace keeps its promises' validate "$(pid_of parent).json"

# --- exec: the same pid, another program -------------------------------------------------------------------
rm -f ./*.json
run "$E2E/forks" exec
is 'exec: the program succeeds' "$?" 0
pid=$(pid_of child)
is 'exec: one spool of the first, a trace with a number of the second' \
	"$(left)" "./$pid.1.json
./$pid.spool"
is 'exec: the second' "$(held "$pid.1.json")" 'live 1 peak 2'

rm -f ./*.json ./*.spool
run "$E2E/forks" chain
is 'a chain of exec: the program succeeds' "$?" 0
pid=$(pid_of child)
is 'a chain of exec: a number each' "$(left)" "./$pid.1.spool
./$pid.2.json
./$pid.spool"
ok 'a chain of exec: the spools are whole' sh -c 'memtrace recover "$1.spool" -o a.json && memtrace recover "$1.1.spool" -o b.json' sh "$pid"
ok 'a chain of exec: all keep their promises' validate a.json b.json "$pid.2.json"

# --- in the parent's memory ----------------------------------------------------------------------------
rm -f ./*.json ./*.spool
if [ -z "$GPU" ]; then
	run "$E2E/forks" clone_vm
	is 'clone with CLONE_VM: the program succeeds' "$?" 0
	is 'clone with CLONE_VM: one trace' "$(left)" "./$(pid_of parent).json"
	is 'clone with CLONE_VM: with what both did' \
		"$(json "$(pid_of parent).json" '[e["size"] >> 20 for e in d["events"]]')" '[1, 1, 2, 2, 2]'
	ok 'clone with CLONE_VM: it keeps its promises' validate "$(pid_of parent).json"
else
	skip 'clone with CLONE_VM' 'a driver of a GPU refuses such a child'
fi

# --- while other threads are in the middle of calls -----------------------------------------------------
MEMTRACE_MAX_EVENTS=20000
export MEMTRACE_MAX_EVENTS
for kind in fork _Fork clone; do
	rm -f ./*.json ./*.spool
	times=${FORKS:-40}
	[ $kind != fork ] || times=${FORKS:-200}
	run timeout 250 "$E2E/forkstorm" $kind "$times"
	is "$times times $kind among threads: the program succeeds" "$?" 0
	is "$times times $kind among threads: a trace each, and the parent's" "$(left | wc -l)" $((times + 1))
	parent=$(pid_of parent)
	ok "$times times $kind among threads: the parent's keeps its promises" validate "$parent.json"
	rm "$parent.json"
	for spool in *.spool; do # of those that had to leave by _exit
		[ ! -e "$spool" ] || memtrace recover "$spool" >>recover.log 2>&1
	done
	ok "$times times $kind among threads: each child has its own events only" "$PYTHON" -c '
import json, sys
for name in sys.argv[1:]:
    with open(name) as file:
        d = json.load(file)
    got = [(e["op"], e["pool"], e["size"]) for e in d["events"]]
    wanted = [("reserve", "child", 1 << 20)] + [("alloc", "child", 4096)] * 10 + [("free", "child", 4096)]
    assert got == wanted, (name, got)
    assert d["process"]["pid"] == int(name.split(".")[0]), name
    assert d["summary"]["devices"][0]["allocated"]["exit_bytes"] == 9 * 4096, name
' [0-9]*.json
	set -- [0-9]*.json
	ok "$times times $kind among threads: some of them are looked at closely" validate "$1" "$2" "$3"
done
unset MEMTRACE_MAX_EVENTS

# --- the same pid in other containers, the same directory on other machines ------------------------------
rm -f ./*.json ./*.spool
if [ -z "$GPU" ] && unshare -pf true 2>/dev/null; then
	for _ in 1 2 3 4 5; do
		LD_PRELOAD=$LIBRARY unshare -pf "$SAMPLES/leak" >/dev/null 2>&1 &
	done
	wait
	is 'five containers with one pid: five traces' "$(left | tr '\n' ' ')" './1.1.json ./1.2.json ./1.3.json ./1.4.json ./1.json '
	ok 'five containers with one pid: all keep their promises' validate ./*.json
	rm -f ./*.json
	# A spool of another pid namespace: nobody here can tell whether its process still runs.
	ok 'a container beside a run' memtrace run -o "$PWD/%p.json" -- \
		sh -c 'unshare -pf "$1" _exit; [ $? = 6 ] && exec "$2"' sh "$E2E/ends" "$SAMPLES/leak"
	has 'a container beside a run: its spool is left alone, and told' "$ERR" '1 spool here belongs to another machine or container'
	ok 'a container beside a run: it can be had' memtrace recover 1.spool
	ok 'a container beside a run: whole' validate 1.json
else
	skip 'containers with one pid' 'no pid namespaces here, or a GPU that is not in them'
fi
rm -f ./*.json ./*.spool
if unshare -u true 2>/dev/null; then
	MEMTRACE_OUTPUT=$PWD/%h.json
	for host in node1 node2; do
		LD_PRELOAD=$LIBRARY unshare -u sh -c 'hostname "$1" && exec "$2"' sh $host "$SAMPLES/leak" >/dev/null 2>&1
	done
	is 'two hosts on one disk: %h tells them apart' "$(left | tr '\n' ' ')" './node1.json ./node2.json '
	is 'two hosts on one disk: so do the traces' "$(json node2.json 'd["process"]["host"]')" node2
else
	skip 'two hosts on one disk' 'no uts namespaces here'
fi

# --- names that are taken ------------------------------------------------------------------------------------
rm -f ./*.json ./*.spool
echo precious >taken.json
echo precious >taken.1.spool
ln -s /nowhere/at/all taken.2.json
MEMTRACE_OUTPUT=$PWD/taken.json
traced "$SAMPLES/leak"
is 'what exists is not touched' "$(cat taken.json taken.1.spool) $(readlink taken.2.json)" 'precious
precious /nowhere/at/all'
new=$(sed -n 's/^memtrace: wrote //p' "$ERR")
case $new in
"$PWD"/taken.[0-9]*.json) ok 'a free number is found, and told' [ -s "$new" ] ;;
*) is 'a free number is found, and told' "$(cat "$ERR")" "memtrace: wrote $PWD/taken.N.json" ;;
esac
ok 'the trace keeps its promises' validate "$new"
is 'it is nobody else'\''s to read' "$(stat -c %a "$new")" 600

# One that has the name until its document is there, just before this one has it.
rm -f ./*.json ./*.spool
: >late.json
# It is taken while the first claim of space waits.
if ! strace -f --seccomp-bpf -o late.log -e trace=fallocate true 2>/dev/null; then
	skip 'a number that another process has just used up' 'strace cannot trace here'
else
	LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT=$PWD/late.json strace -f --seccomp-bpf -o late.log \
		-e trace=fallocate -e inject=fallocate:delay_enter=1000000:when=1 "$SAMPLES/leak" >/dev/null 2>&1 &
	for _ in $(seq 1000); do
		[ ! -e late.1.spool ] || break
		sleep 0.01
	done
	: >late.1.json
	wait
	is 'a number that another process has just used up: the next one' "$(echo late*.json)" 'late.1.json late.2.json late.json'
fi

# Ten at once, of one name.
rm -f ./*.json ./*.spool
MEMTRACE_OUTPUT=$PWD/same.json
export MEMTRACE_OUTPUT
for _ in 1 2 3 4 5 6 7 8 9 10; do
	LD_PRELOAD=$LIBRARY "$SAMPLES/leak" >/dev/null 2>&1 &
done
wait
is 'ten processes and one name: ten traces' "$(find . -name "same*.json" | wc -l)" 10
ok 'which keep their promises' validate same*.json
is 'and nothing is left over' "$(find . -name 'same*' ! -name 'same*.json')" ''
