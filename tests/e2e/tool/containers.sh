#!/bin/sh
# scripts/containers: what `make container` collects, in roots that hold nothing else: as the manifest asks for it,
# without /dev/shm, with a tiny one, with no place to write, as another user, under Docker's filter of calls.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

containers=$TOP/scripts/containers
# --- the Dockerfile, line by line -----------------------------------------------------------------------
is 'two stages' "$(grep -c '^FROM ' "$containers/Dockerfile")" 2
ok 'the script that it runs is there' test -e "$TOP/$(sed -n 's/^RUN sh \([^ ]*\) demo$/\1/p' "$containers/Dockerfile")"
line=$(sed -n 's/^RUN make SETUP=no BUILD=\/build container DESTDIR= PREFIX=//p' "$containers/Dockerfile")
is 'what it makes is what it copies' "$(sed -n 's/^COPY --from=build //p' "$containers/Dockerfile")" "$line $line"
ok 'make container' "${MAKE:-make}" -s --no-print-directory -C "$TOP" SETUP=no "BUILD=${BUILD_AS_GIVEN:-$BUILD}" container \
	DESTDIR="$PWD/made" PREFIX="$line"
library=$(sed -n 's/^ENV LD_PRELOAD=//p' "$containers/Dockerfile")
ok 'the library is where LD_PRELOAD says' test -s "made$library"
is 'no library of glibc is among them' "$(find made -name 'libc.so*' -o -name 'libm.so*' -o -name 'ld-*')" ''
is 'and none that a program could get in the place of its own' "$(cd made/opt/memtrace/lib && echo lib*)" \
	"libmemtrace.so$(ldconfig -p | grep -q 'libunwind\.so\.8' && echo ' libunwind.so.8')"

if [ "$(id -u)" != 0 ]; then
	skip 'in a container' 'only root can make a root'
	exit 0
fi
# --- a root ---------------------------------------------------------------------------------------------
# A program and its libraries; neither a shell nor a package manager.
needs() { # FILE...: what they are linked with, and their loader
	ldd "$@" | sed -n -e 's/.* => \(\/.*\) (.*/\1/p' -e 's/^[ \t]*\(\/[^ ]*ld-linux[^ ]*\) (.*/\1/p' | sort -u
}
new_root() { # ROOT PROGRAM...
	root=$1
	shift
	mkdir -p "$root/usr/lib" "$root/bin" "$root/proc" "$root/traces" "$root/opt/memtrace" "$root/shared" "$root/dev"
	for program; do
		cp -L "$program" "$root/bin/"
	done
	# The tool wants libm, whatever the program is: that is glibc's.
	{ needs "$@" && needs made/opt/memtrace/bin/memtrace | grep '/lib[mc]\.so'; } | while read -r file; do
		case $file in
		*/ld-linux*) install -D "$file" "$root$file" ;;
		*) cp -L "$file" "$root/usr/lib/" ;;
		esac
	done
}
new_root app "$E2E/changes" /bin/cat
new_root init /bin/cp
cp "$BUILD/fake/libcuda.so.1" app/usr/lib/
chmod 755 . "$MEMTRACE_TEST_TMP"
contained() { # ROOT OPTIONS... -- COMMAND...
	contained_root=$1
	shift
	env -u LD_LIBRARY_PATH "$PYTHON" "$ROOM/contained.py" "$contained_root" LD_LIBRARY_PATH=/usr/lib "$@" >"$OUT" 2>"$ERR" </dev/null
}
contained app -- /bin/changes
if [ $? = 125 ] || [ -s "$ERR" ]; then
	skip 'in a container' "no program starts in a new root here: $(head -n 1 "$ERR")"
	exit 0
fi
contained app ro uid=10001 seccomp -- /bin/cat /proc/self/status
is 'another user, no capability, no new privileges, a filter of calls' \
	"$(grep -e '^Uid' -e '^CapEff' -e '^CapBnd' -e '^NoNewPrivs' -e '^Seccomp:' "$OUT" | tr -s '\t\n' '  ')" \
	'Uid: 10001 10001 10001 10001 CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 '
traces() {
	find volumes/traces -name '*.json' | wc -l
}

# --- as the manifest says -------------------------------------------------------------------------------
if "$PYTHON" -c 'import yaml' 2>/dev/null; then
	asked() { # init|main: its options and its command, a line each, as arguments of contained()
		"$PYTHON" "$ROOM/manifest.py" "$containers/kubernetes.yaml" "$1" "$PWD/volumes" >"$1.asked"
		sed '/^--$/q' "$1.asked"
	}
	asked init >/dev/null
	mkdir -p init/opt && cp -R made/opt/memtrace init/opt/
	set --
	while IFS= read -r word; do
		[ "$word" != cp ] || word=/bin/cp
		set -- "$@" "$word"
	done <init.asked
	contained init "$@"
	is 'the init container copies' "$? $(cat "$ERR")" '0 '
	is 'all of it' "$(cd volumes/memtrace && find . -type f | sort)" "$(cd made/opt/memtrace && find . -type f | sort)"
	mkdir -p app/dev/shm
	set --
	for word in $(asked main); do
		set -- "$@" "$word"
	done
	contained app "$@" /bin/changes
	is 'a program on a read-only root, as another user, behind the filter' "$? $(grep -c '^memtrace: wrote ' "$ERR")" '0 1'
	is 'leaves its trace' "$(traces)" 1
	trace=$(find volumes/traces -name '*.json')
	ok 'a whole one' validate "$trace"
	is 'with nothing to say against it' "$(json "$trace" '[d["capture"]["truncated"], d["capture"]["notes"]]')" '[false, []]'
	is 'of that user' "$(stat -c %u "$trace")" 10001
	is 'and nothing else' "$(find volumes/traces ! -type d ! -name '*.json')" ''
	is 'native frames are there' "$(json "$trace" 'any(f.get("function") == "forward" for f in d["frames"])')" true
	contained app "$@" /opt/memtrace/bin/memtrace report "/traces/${trace##*/}"
	is 'the tool reads it there' "$? $(sed -n 's/^\(Peak 60.00 MiB\).*/\1/p' "$OUT")" '0 Peak 60.00 MiB'
	contained app "$@" /opt/memtrace/bin/memtrace run -q -o /traces/run.json -- /bin/changes
	is 'and runs a program' "$? $(test -s volumes/traces/run.json && echo there)" '0 there'
	ok 'every setting is one' sh -c "sed -n 's/^MEMTRACE_\([A-Z_]*\)=.*/\1/p' main.asked | while read -r name; do
		grep -q \"\\\"\$name\\\"\" '$TOP/src/base/settings/opt.def' || exit 1
	done"
	rmdir app/dev/shm
else
	skip 'as the manifest says' 'no python3-yaml'
fi

# --- what a container may lack --------------------------------------------------------------------------
cp -R made/opt/memtrace app/opt/
mkdir -p volumes/traces
chmod 777 volumes/traces
lacking() { # NAME OPTIONS...: the program ends as it would
	rm -rf volumes/traces/*
	lacking_name=$1
	shift
	contained app ro uid=10001 seccomp "LD_PRELOAD=$library" "$@" -- /bin/changes
	is "$lacking_name: the program ends as it would" "$? $(cat "$OUT") $(grep -vc '^memtrace: ' "$ERR")" '0  0'
}
here="mount=$PWD/volumes/traces:/traces"
lacking 'no /dev/shm' "$here" MEMTRACE_OUTPUT=/traces/t.json
ok 'no /dev/shm: it is not needed' validate volumes/traces/t.json
lacking 'no /dev/shm for the recording' "$here" MEMTRACE_OUTPUT=/traces/t.json MEMTRACE_SPOOL_DIR=/dev/shm
is 'no /dev/shm for the recording: said in a line' "$(grep -c '^memtrace: ' "$ERR") $(traces)" '1 0'
mkdir -p app/dev/shm
lacking '64 MiB of /dev/shm' "$here" tmpfs=/dev/shm:67108864 MEMTRACE_OUTPUT=/traces/t.json MEMTRACE_SPOOL_DIR=/dev/shm
ok '64 MiB of /dev/shm: enough for this one' validate volumes/traces/t.json
lacking '64 KiB of /dev/shm' "$here" tmpfs=/dev/shm:65536 MEMTRACE_OUTPUT=/traces/t.json MEMTRACE_SPOOL_DIR=/dev/shm
is '64 KiB of /dev/shm: said in a line' "$(grep -c '^memtrace: ' "$ERR")" 1
lacking 'no place to write'
is 'no place to write: said in a line' "$(grep -c '^memtrace: ' "$ERR")" 1
lacking 'an empty preload' "$here" LD_PRELOAD= MEMTRACE_OUTPUT=/traces/t.json
is 'an empty preload: nothing is traced' "$(traces)$(cat "$ERR")" 0
