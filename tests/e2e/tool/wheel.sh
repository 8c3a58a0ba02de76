#!/bin/sh
# The wheel, made of what is built here: pip installs it alone, and what it brings works.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

"$PYTHON" -m venv venv >"$OUT" 2>&1 || {
	skip 'the wheel' "$PYTHON has no venv with pip (apt-get install python3-venv)"
	exit 0
}
unset PYTHONPATH
version=$(sed -n 's/.*MEMTRACE_VERSION "\(.*\)"/\1/p' "$TOP/src/base/settings/version.h")
make_wheel() {
	(cd "$TOP" && "$PYTHON" scripts/wheel.py "$BUILD" "$BUILD" "$version" "$MEMTRACE_TEST_TMP")
}

# --- the file -------------------------------------------------------------------------------------------
# The tool of this build takes its libraries from the system, the wheel's must not.
if readelf -d "$BUILD/memtrace" | grep -q 'NEEDED.*libz'; then
	fails 1 'no version of glibc: the library libz.so.1' make_wheel
fi
OTHERS=1
export OTHERS
ok 'a wheel is made' make_wheel
wheel=$(cat "$OUT")
floor=$(sh "$TOP/scripts/glibc-floor.sh" "$BUILD/memtrace" "$BUILD/libmemtrace.so")
is 'its name tells the oldest glibc' "${wheel##*/}" "memtrace-$version-py3-none-manylinux_2_${floor}_$(uname -m).whl"
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
make_wheel >"$OUT" && cp "$wheel" first.whl
ok 'and again' make_wheel
ok 'the same bytes at the same moment' cmp first.whl "$wheel"

ok 'pip installs it, without network' venv/bin/pip install -q --no-index --disable-pip-version-check "$wheel"
own=$MEMTRACE_TEST_TMP/venv/bin
package=$(dirname "$(env -i "$own/python" -c 'import memtrace; print(memtrace.__file__)')")
PATH=$own:$PATH
ok 'memtrace is in PATH' memtrace --version
is 'the tool and its library lie in the package' "$(sed -n 2,3p "$OUT")" \
	"$package/bin/memtrace
$package/bin/libmemtrace.so"
ok 'the manual came along' test -s venv/share/man/man1/memtrace-run.1
ok 'and the gate for CI' test -x venv/share/memtrace/ci/gate.sh
is 'pytest finds the plugin' "$(python -c '
from importlib.metadata import distribution
print([point.value for point in distribution("memtrace").entry_points if point.group == "pytest11"])')" "['pytest_memtrace']"
ok 'the pools can be imported' python -c 'import memtrace_pools'
is '__main__.py knows the options of run that have a value' \
	"$(python -c 'from memtrace.__main__ import VALUED; print(*sorted(VALUED))')" \
	"$(memtrace run --help | sed -n 's/^  \(-[a-z],\)\{0,1\} *\(--[a-z-]*\) [A-Z][A-Z|]*.*/\1 \2/p' | tr -d , | xargs -n 1 | LC_ALL=C sort | xargs)"

# --- from Python ----------------------------------------------------------------------------------------
mkdir -p lightning/pytorch
touch lightning/__init__.py
echo 'class Callback: pass' >lightning/pytorch/__init__.py
echo 'class TrainerCallback: pass' >transformers.py
cat >train.py <<'END'
import ctypes
import types

import memtrace
import memtrace.ipython
import memtrace.lightning
import memtrace.transformers

MIB = 1 << 20
names = []
try:
    cuda = ctypes.CDLL("libcudart.so.13")
except OSError:
    cuda = None


def allocate(size):
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer


@memtrace.phase("evaluate")
def evaluate():
    cuda.cudaFree(allocate(MIB))


class Tensor:
    def __init__(self, size):
        self.pointer = allocate(size)

    def data_ptr(self):
        return self.pointer.value


class Shell:
    def register_magic_function(self, function, kind, name):
        self.magic = function

    def run_cell(self, cell):
        exec(cell)
        return types.SimpleNamespace(raise_error=lambda: None)


with memtrace.phase("step 0"):
    weights = Tensor(2 * MIB)
memtrace.label(weights, "weights")
evaluate()
evaluate()
memtrace.mark("half")

# Lightning: an exception in a step ends all of its phases.
trainer = types.SimpleNamespace(current_epoch=4, global_step=17)
phases = memtrace.lightning.Phases()
phases.on_train_epoch_start(trainer, None)
phases.on_train_batch_start(trainer, None, None, 0)
allocate(MIB)
phases.on_train_batch_end(trainer, None, None, None, 0)
phases.on_validation_start(trainer, None)
phases.on_validation_end(trainer, None)
phases.on_train_batch_start(trainer, None, None, 1)
phases.on_exception(trainer, None, None)

# Hugging Face: the end of an epoch ends an evaluation that did not say so.
state = types.SimpleNamespace(epoch=1.0, global_step=40)
phases = memtrace.transformers.Phases()
phases.on_epoch_begin(None, state, None)
phases.on_step_begin(None, state, None)
phases.on_step_end(None, state, None)
phases.on_prediction_step(None, state, None)
phases.on_prediction_step(None, state, None)
phases.on_epoch_end(None, state, None)
phases.on_train_end(None, state, None)

seen = memtrace.snapshot()
print("recording", memtrace.recording())
print("snapshot", seen and [phase["name"] for phase in seen["phases"]])
print("live", seen and seen["summary"]["devices"][0]["allocated"]["exit_bytes"] // MIB)
shell = Shell()
memtrace.load_ipython_extension(shell)
shell.magic("big cell", "allocate = globals()['allocate']; allocate(32 * (1 << 20))")
memtrace.dump("dumped.json")
END
names="['step 0', 'evaluate', 'evaluate', 'epoch 4', 'step 17', 'validation', 'step 17', 'epoch 1', 'step 40', 'evaluation']"
ok 'python -m memtrace run train.py' python -m memtrace run -q -o train.json train.py
sort_names() { # the phases of a trace as they began
	json "$1" 'str([p["name"] for p in sorted(d["phases"], key=lambda p: p["start"])])'
}
has 'it is recorded' "$OUT" 'recording True'
has 'a snapshot says what is live' "$OUT" 'live 3'
has 'the cell magic shows the cell' "$OUT" '32.00 MiB'
ok 'the trace keeps its promises' validate train.json
is 'phases of the program and of both trainers' "$(sort_names train.json)" "${names%]}, 'big cell']"
is 'mark' "$(json train.json 'str([e["name"] for e in d["events"] if e["op"] == "mark"])')" "['half']"
ok 'a dump is whole' validate dumped.json

ok 'without memtrace the program runs all the same' python train.py
has 'nothing is recorded' "$OUT" 'recording False'
has 'a snapshot is none' "$OUT" 'snapshot None'
has 'the cell magic says how' "$OUT" 'memtrace run -- jupyter lab'

rm dumped.json
ok 'memtrace run finds this Python for a script, too' memtrace run -q -o again.json -- train.py
ok 'and leaves other programs alone' memtrace run -q -o leak.json -- "$SAMPLES/leak"
ok 'their trace' validate leak.json

ok 'pip takes it away' venv/bin/pip uninstall -q -y memtrace
is 'all of it' "$(find venv -iname '*memtrace*')" ''
