#!/bin/sh
# What the machine lacks, the trace may lack, but never the program: its status and its output are its
# own, and it is told in one line.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

pairs=50000 threads=4
"$SAMPLES/churn" $pairs $threads >plain.out
steady='s/^ns_per_pair=.*//'

# The program ended as it would, and was told once that recording stopped, once where the trace is.
undisturbed() { # NAME STATUS
	is "$1: the status is the program's" "$2" 0
	is "$1: so is the output" "$(sed "$steady" "$OUT")" "$(sed "$steady" plain.out)"
	stopped=$(grep -c '^memtrace: recording stopped: ' "$ERR")
	others=$(grep -vc '^memtrace: recording stopped: ' "$ERR")
	foreign=$(grep -vc '^memtrace: ' "$ERR")
	if [ "$stopped" -le 1 ] && [ "$others" -le 1 ] && [ "$foreign" = 0 ] && [ -s "$ERR" ]; then
		tap '' "$1: it is told once"
	else
		tap 'not ' "$1: it is told once"
		tap_comment "$ERR"
	fi
}

# Whichever is there, the trace or the spool, is sound; and it says that it is not all.
sound() { # NAME TRACE
	spool=${2%.json}.spool
	if [ ! -e "$2" ]; then
		ok "$1: the spool is recovered" memtrace recover -f "$spool" -o recovered.json
		set -- "$1" recovered.json
	fi
	ok "$1: what was recorded keeps its promises" validate "$2"
	is "$1: and says that it stopped" "$(json "$2" 'd["capture"]["truncated"]')" true
}

# --- no place to write --------------------------------------------------------------------------------
MEMTRACE_OUTPUT=/nowhere/at/all/t.json
export MEMTRACE_OUTPUT
traced "$SAMPLES/churn" $pairs $threads
undisturbed 'no such directory' $?
MEMTRACE_OUTPUT=/proc/t.json
traced "$SAMPLES/churn" $pairs $threads
undisturbed 'a directory that takes no files' $?
MEMTRACE_OUTPUT=$PWD/$(printf 'long%0300d' 0).json
traced "$SAMPLES/churn" $pairs $threads
undisturbed 'a name that is too long' $?
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	mkdir locked
	MEMTRACE_OUTPUT=$PWD/locked/t.json
	chmod 755 "$MEMTRACE_TEST_TMP"
	traced setpriv --reuid=65534 --clear-groups "$SAMPLES/churn" $pairs $threads
	status=$?
	if [ "$status" = 126 ] || [ "$status" = 127 ]; then
		skip 'a directory of somebody else' 'the build is not readable for others'
	else
		undisturbed 'a directory of somebody else' $status
	fi
fi
unset MEMTRACE_OUTPUT

# --- a full disk --------------------------------------------------------------------------------------
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=3m tmpfs disk 2>/dev/null; then
	MEMTRACE_OUTPUT=$PWD/disk/t.json
	export MEMTRACE_OUTPUT
	traced "$SAMPLES/churn" $pairs $threads
	undisturbed 'a full disk' $?
	sound 'a full disk' disk/t.json
	rm -f disk/t.*
	dd if=/dev/zero of=disk/full bs=1k >/dev/null 2>&1
	traced "$SAMPLES/churn" $pairs $threads
	undisturbed 'a disk that was full before' $?
	is 'a disk that was full before: nothing is left there' "$(ls disk)" full
	rm -f disk/full
	# The spool elsewhere, so that only the document does not fit.
	traced env MEMTRACE_SPOOL_DIR="$PWD" "$SAMPLES/churn" $pairs $threads
	undisturbed 'no room for the document' $?
	is 'no room for the document: no part of it is left' "$(ls disk)" ''
	ok 'no room for the document: all of it is in the spool' memtrace recover t.spool -o all.json
	ok 'no room for the document: which keeps its promises' \
		[ "$(grep -c '^{"seq"' all.json)" = "$((2 * threads * (pairs + 1)))" ]
	umount disk
	unset MEMTRACE_OUTPUT
else
	skip 'a full disk' 'tmpfs cannot be mounted here'
fi

# --- no space, whatever the file system says of it ----------------------------------------------------
# The library's system calls go past libc: it is the kernel whose answers are replaced.
refuse="strace -f --seccomp-bpf -o refused.log -e trace=fallocate,renameat2,linkat"
# shellcheck disable=SC2086  # several words
if ! $refuse -e inject=fallocate:error=ENOSPC true 2>/dev/null; then
	skip 'a kernel that refuses' 'strace cannot trace here'
else
	for error in EDQUOT ENOSPC; do
		traced $refuse -e inject=fallocate:error=$error "$SAMPLES/churn" $pairs $threads
		undisturbed "$error at the first claim" $?
		is "$error at the first claim: no file is left" "$(find . -name "trace$traced_number.*")" ''
	done
	traced $refuse -e inject=fallocate:error=EOPNOTSUPP -P "$PWD/trace$((traced_number + 1)).spool" \
		"$SAMPLES/churn" $pairs $threads
	is 'no fallocate here: the status is the program'\''s' "$?" 0
	is 'no fallocate here: the spool lay elsewhere, one line at the end' "$(cat "$ERR")" "memtrace: wrote $TRACE"
	is 'no fallocate here: the whole trace' "$(grep -c '^{"seq"' "$TRACE")" "$((2 * threads * (pairs + 1)))"
	is 'no fallocate here: no spool is left elsewhere' "$(find /dev/shm -name "trace$traced_number.spool" -newer plain.out)" ''
	traced env TMPDIR=/nowhere/at/all $refuse -e inject=fallocate:error=EOPNOTSUPP "$SAMPLES/churn" $pairs $threads
	undisturbed 'no fallocate anywhere, and no TMPDIR' $?

	refuse="$refuse -e inject=renameat2:error=EINVAL -e inject=linkat:error=EPERM"
	traced $refuse "$SAMPLES/leak"
	is 'a mounted bucket, without links: one line at the end' "$(cat "$ERR")" "memtrace: wrote $TRACE"
	is 'a mounted bucket, without links: the trace, and nothing beside it' "$(ls "${TRACE%.json}"*)" "$TRACE"
	ok 'a mounted bucket, without links: it keeps its promises' validate "$TRACE"
	traced "$E2E/ends" _exit
	ok 'a mounted bucket, without links: recover writes there' \
		$refuse memtrace recover "${TRACE%.json}.spool"
	fails 3 'exists already' $refuse memtrace recover "${TRACE%.json}.spool" -o "$TRACE"
fi

# --- others write to the spool's file -----------------------------------------------------------------
# While its process lives a page that is gone is SIGBUS, which only the host could handle. Afterwards
# whatever is left is read, or refused in one sentence.
traced "$E2E/ends" _exit
size=$(stat -c %s "${TRACE%.json}.spool")
for part in 1 8 32 64 90 99; do
	cp "${TRACE%.json}.spool" part.spool
	truncate -s $((size * part / 100)) part.spool
	memtrace recover -f part.spool -o part.json >recover.out 2>recover.err
	status=$?
	case $status in
	0) ok "cut to $part%: what is left is JSON" json part.json 'd["schema"]' ;;
	3) is "cut to $part%: one sentence" "$(wc -l <recover.err)" 1 ;;
	*) is "cut to $part%: the status" $status '0 or 3' ;;
	esac
done

# --- limits -------------------------------------------------------------------------------------------
# Blocks are of 512 bytes.
cat >limited.sh <<'SH'
ulimit "$1" "$2"
shift 2
exec "$@"
SH
for blocks in 100 5000; do
	traced sh limited.sh -f $blocks "$SAMPLES/churn" $pairs $threads
	status=$?
	undisturbed "ulimit -f $blocks" $status
	[ $blocks = 100 ] || sound "ulimit -f $blocks" "$TRACE"
done

# The program itself needs address space: the least with which it runs, and a little more each time.
FAKE_CUDA_MEMORY=1G
export FAKE_CUDA_MEMORY
"$SAMPLES/churn" 2000 >small.out
low=100000 high=40000000
while [ $((high - low)) -gt 1000 ]; do
	middle=$(((low + high) / 2))
	if timeout 10 sh limited.sh -v $middle "$SAMPLES/churn" 10 >/dev/null 2>&1; then
		high=$middle
	else
		low=$middle
	fi
done
for more in 3000 10000 100000 300000 1000000 10000000 20000000; do
	kib=$((high + more))
	traced timeout 20 sh limited.sh -v $kib "$SAMPLES/churn" 2000
	is "ulimit -v with $more KiB more: the status is the program's" "$?" 0
	is "ulimit -v with $more KiB more: so is the output" "$(sed "$steady" "$OUT")" "$(sed "$steady" small.out)"
	ok "ulimit -v with $more KiB more: it is told once" [ "$(grep -c 'recording stopped' "$ERR")" -le 1 ]
	if [ -e "$TRACE" ]; then
		ok "ulimit -v with $more KiB more: the trace keeps its promises" validate "$TRACE"
	fi
done
# What is left is for the program.
traced timeout 20 sh limited.sh -v $((high + 10000000)) "$E2E/room" 6000000
is 'ulimit -v: the program finds room for its own' "$?:$(cat "$OUT")" 0:room
unset FAKE_CUDA_MEMORY
traced sh limited.sh -n 3 "$SAMPLES/leak"
is 'no descriptor left: the program fails as it does without' "$?" \
	"$(sh limited.sh -n 3 "$SAMPLES/leak" >/dev/null 2>&1; echo $?)"

# The table of descriptors that files of ours are in is none of the program's.
for descriptors in 16 64; do
	traced sh limited.sh -n $descriptors "$E2E/descriptors" 400000
	is "every one of $descriptors descriptors is taken: the status is the program's" "$?" 7
	is "every one of $descriptors descriptors is taken: so is the output" "$(cat "$OUT")" 'all taken, 400000 pairs'
	is "every one of $descriptors descriptors is taken: one line at the end" "$(cat "$ERR")" "memtrace: wrote $TRACE"
	is "every one of $descriptors descriptors is taken: the whole trace" "$(grep -c '^{"seq"' "$TRACE")" 800001
done

traced "$PYTHON" -c '
import ctypes, resource
where = ctypes.c_void_p()
failed = ctypes.CDLL("libcudart.so.13").cudaMalloc(ctypes.byref(where), ctypes.c_size_t(4096))
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
raise SystemExit(failed)'
is 'no descriptor from here on: the status is the program'\''s' "$?" 0
has 'no descriptor from here on: it is told' "$ERR" 'could not be written: Too many open files'

# --- the directory goes away while the program runs -----------------------------------------------------
mkdir -p gone/deep
MEMTRACE_OUTPUT=$PWD/gone/deep/t.json
export MEMTRACE_OUTPUT
cat >remove.sh <<'SH'
"$@" &
program=$!
while [ ! -e "$MEMTRACE_TEST_TMP/gone/deep/t.spool" ]; do sleep 0.01; done
rm -rf "$MEMTRACE_TEST_TMP/gone"
wait $program
SH
traced sh remove.sh "$SAMPLES/churn" $pairs $threads
undisturbed 'the directory is removed' $?
has 'the directory is removed: why is told' "$ERR" 'the file was removed'
is 'the directory is removed: nothing comes back' "$(ls -d gone 2>/dev/null)" ''
unset MEMTRACE_OUTPUT

# --- the program closes every descriptor ----------------------------------------------------------------
mkdir daemon
traced "$E2E/closes" "$PWD/daemon"
is 'a daemon: its status' "$?" 0
is 'a daemon: its files are intact' "$(cat daemon/said)" 'intact=40 allocations=300011'
is 'a daemon: and empty still' "$(find daemon -name 'mine*' -size +0)" ''
is 'a daemon: not a word' "$(cat "$ERR")" ''
is 'a daemon: the whole trace is there' "$(grep -c '"op":"alloc"' "$TRACE")" 300011
