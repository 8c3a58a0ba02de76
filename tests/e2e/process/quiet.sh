#!/bin/sh
# Programs that have nothing to do with CUDA do not notice; and whoever wants silence has it.
# shellcheck disable=SC2016  # what is in single quotes is for another shell
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir home
MEMTRACE_OUTPUT=home/trace.json
export MEMTRACE_OUTPUT

# unchanged NAME COMMAND...: the same output and status as without the library, and no file.
unchanged() {
	name=$1
	shift
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	traced "$@"
	is "$name: status, output and files are as without" \
		"$?:$(cat "$OUT"):$(cat "$ERR"):$(ls -A home)" "$plain:$(cat plain.out):$(cat plain.err):"
}

unchanged ls ls /
unchanged sh sh -c 'echo a; echo b >&2; exit 3'
unchanged 'a pipeline' sh -c 'seq 1000 | sort -n | tail -n 1'
unchanged "$PYTHON" "$PYTHON" -c 'print(1)'
unchanged 'python and its threads' "$PYTHON" -c '
import subprocess, threading
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
print(subprocess.run(["sh", "-c", "echo child; exit 4"]).returncode)'
command -v gcc >/dev/null && unchanged gcc gcc --version

# Loading the library leaves two variables and no descriptor behind.
new=$(env LD_PRELOAD="$LIBRARY" env | cut -d= -f1 | sort >with
	env LD_PRELOAD= env | cut -d= -f1 | sort >without
	comm -23 with without | tr '\n' ' ')
is 'two new variables in the environment' "$new" 'CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH '
is 'which name the library' "$(env LD_PRELOAD="$LIBRARY" sh -c 'echo "$CUDA_INJECTION64_PATH"')" \
	"$(realpath "$LIBRARY")"
is 'and leave alone what was set' \
	"$(env CUDA_INJECTION64_PATH=/opt/tool.so LD_PRELOAD="$LIBRARY" sh -c 'echo "$CUDA_INJECTION64_PATH"')" \
	/opt/tool.so
# Its environment is the library's own until it grows too large for that, or its path does.
many=$(seq 200 | sed 's/.*/V&=&/')
# shellcheck disable=SC2086  # 200 words
is 'an environment of 200 variables has all of them' \
	"$(env $many LD_PRELOAD="$LIBRARY" env | grep -c '^V[0-9]*=[0-9]*$\|^[CN].*_INJECTION64_PATH=/')" 202
is 'the library changes it, and the program does' "$(env LD_PRELOAD="$LIBRARY" "$PYTHON" -c '
import ctypes, os, subprocess
libc = ctypes.CDLL(None)
for i in range(200):
    libc.setenv(b"A%d" % i, b"x", 1)
libc.unsetenv(b"CUDA_INJECTION64_PATH")
libc.unsetenv(b"A7")
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b"A199"), libc.getenv(b"A7"), libc.getenv(b"CUDA_INJECTION64_PATH"),
      libc.getenv(b"NVTX_INJECTION64_PATH"))
libc.clearenv()
print(libc.system(b"true"), libc.getenv(b"NVTX_INJECTION64_PATH"))')" "b'x' None None b'$LIBRARY'
0 None"
deep=$(printf "%0200d" 0)
mkdir "$deep"
ln -s "$LIBRARY" "$deep/lib.so"
is 'by a long path' "$(env LD_PRELOAD="$PWD/$deep/lib.so" sh -c 'echo "$NVTX_INJECTION64_PATH"')" "$PWD/$deep/lib.so"
is 'by one from here' "$(env LD_PRELOAD="./$deep/lib.so" sh -c 'cd /; [ "$NVTX_INJECTION64_PATH" -ef "$1" ] && echo same' \
	sh "$PWD/$deep/lib.so")" same
is 'LD_BIND_NOW' "$(env LD_BIND_NOW=1 LD_PRELOAD="$LIBRARY" sh -c 'echo "$NVTX_INJECTION64_PATH"')" "$LIBRARY"
is 'no new descriptor' "$(env LD_PRELOAD="$LIBRARY" ls /proc/self/fd | wc -l)" "$(env LD_PRELOAD= ls /proc/self/fd | wc -l)"
# And by memtrace run: what it needs, and what was asked for. env lists the variables of what it starts.
memtrace run --max-events 10 -- env >with 2>/dev/null
env | cut -d= -f1 | sort >without.names
is 'memtrace run adds what the library reads, and no more' \
	"$(cut -d= -f1 with | sort | comm -23 - without.names 2>/dev/null | tr '\n' ' ')" \
	'CUDA_INJECTION64_PATH LD_PRELOAD MEMTRACE_ANNOUNCE MEMTRACE_MAX_EVENTS NVTX_INJECTION64_PATH '
# From within: the process is as it was, but for what the loader mapped.
inside='import os
print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
for line in open("/proc/self/status"):
    # Not SigQ: how many signals wait for any process of the user.
    if line.startswith(("SigP", "SigB", "SigI", "SigC", "Shd", "Seccomp", "NoNewPrivs", "Cap", "Threads", "TracerPid")):
        print(line, end="")'
is 'from within: descriptors, threads, signals and rights are as without' \
	"$(env LD_PRELOAD="$LIBRARY" "$PYTHON" -c "$inside")" "$(env LD_PRELOAD= "$PYTHON" -c "$inside")"
is 'no file left by any of them' "$(ls -A home)" ''
threads=$(env LD_PRELOAD="$LIBRARY" "$PYTHON" -c 'import os; print(len(os.listdir("/proc/self/task")))')
is 'no thread' "$threads" 1

# A copy that is loaded later, by the driver or by NVTX, where nobody preloaded it.
is 'dlopened without a preload: it does nothing' "$("$PYTHON" -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
print(getenv(b"CUDA_INJECTION64_PATH"))
cuda = ctypes.CDLL("libcudart.so.13")
where = ctypes.c_void_p()
print(cuda.cudaMalloc(ctypes.byref(where), ctypes.c_size_t(4096)))' "$LIBRARY" 2>&1):$(ls -A home)" 'None
0:'

# What it costs is above all pages touched for the first time: at the start, and in each child of a
# shell's fork. 3 and none were counted.
# pages PRELOAD COMMAND...: of the kernel's faults, median of three
pages() {
	"$PYTHON" - "$@" <<'PY'
import os, resource, subprocess, sys
environment = dict(os.environ, LD_PRELOAD=sys.argv[1])
counts = []
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    subprocess.run(sys.argv[2:], env=environment, check=True)
    counts.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before)
print(sorted(counts)[1])
PY
}
fewer() { # NAME PLAIN TRACED LIMIT
	is "$1" "$([ $(($3 - $2)) -lt "$4" ] && echo few || echo "$2 without, $3 with us")" few
}
fewer 'pages touched by the start and end of a program' \
	"$(pages '' true)" "$(pages "$LIBRARY" true)" 12
forks='i=0; while [ $i -lt 50 ]; do (:); i=$((i + 1)); done'
fewer 'pages touched by 50 children of a shell' \
	"$(pages '' sh -c "$forks")" "$(pages "$LIBRARY" sh -c "$forks")" 200

# --- silence --------------------------------------------------------------------------------------------
unset MEMTRACE_OUTPUT
traced "$SAMPLES/leak"
is 'one line at the end' "$(cat "$ERR")" "memtrace: wrote $TRACE"
traced env MEMTRACE_QUIET=1 "$SAMPLES/leak"
is 'MEMTRACE_QUIET=1: none' "$(cat "$ERR")" ''
ok 'MEMTRACE_QUIET=1: the trace is written all the same' [ -s "$TRACE" ]
traced sh -c '"$0" 2>&-' "$SAMPLES/leak"
is 'stderr closed: the status is the same' "$?" 0
ok 'stderr closed: the trace is written' [ -s "$TRACE" ]

# A reader that has gone: the line must not raise SIGPIPE.
traced "$PYTHON" -c '
import os, signal, subprocess, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
read, write = os.pipe()
os.close(read)
child = subprocess.run([sys.argv[1]], stderr=write, restore_signals=True)
print("status", child.returncode)' "$SAMPLES/leak"
is 'stderr a closed pipe: the status is the same' "$(tail -n 1 "$OUT")" 'status 0'
ok 'stderr a closed pipe: the trace is written' [ -s "$TRACE" ]

# One that is full, and that nobody reads: the line is lost rather than the program held.
traced timeout 60 "$PYTHON" -c '
import os, subprocess, sys
read, write = os.pipe()
os.set_blocking(write, False)
try:
    while True:
        os.write(write, bytes(4096))
except BlockingIOError:
    os.set_blocking(write, True)
sys.exit(subprocess.run([sys.argv[1]], stderr=write).returncode)' "$SAMPLES/leak"
is 'stderr a full pipe: the program ends as ever' "$?" 0
ok 'stderr a full pipe: the trace is written' [ -s "$TRACE" ]

# Its stderr is a file of its own now: nothing of ours in it.
traced sh -c 'exec 2>other; "$0"' "$SAMPLES/leak"
is 'a program started with another stderr is told there' "$(cat other)" "memtrace: wrote $TRACE"
