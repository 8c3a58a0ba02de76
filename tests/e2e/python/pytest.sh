#!/bin/sh
# The plugin of pytest: a test that takes or leaves more GPU memory than it may fails, and no other.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

if ! /usr/bin/python3 -c 'import pytest' 2>/dev/null; then
	skip 'the plugin of pytest' 'no pytest for /usr/bin/python3 (apt-get install python3-pytest)'
	exit 0
fi
cat >test_memory.py <<'END'
import ctypes
import threading

import pytest

MIB = 1 << 20
cuda = ctypes.CDLL("libcudart.so.13")


def allocate(size):
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer


@pytest.fixture
def model():
    pointer = allocate(64 * MIB)
    yield pointer
    cuda.cudaFree(pointer)


@pytest.mark.limit_gpu_memory("1 MiB")
def test_before_cuda():
    pass


@pytest.mark.limit_gpu_memory("8 MiB")
@pytest.mark.parametrize("size", [4, 8, 9])
def test_sizes(size):
    cuda.cudaFree(allocate(size * MIB))


@pytest.mark.limit_gpu_memory("2 MiB")
def test_fixture_is_not_counted(model):
    cuda.cudaFree(allocate(MIB))


@pytest.mark.limit_gpu_memory("2 MiB")
def test_threads_are():
    thread = threading.Thread(target=lambda: cuda.cudaFree(allocate(3 * MIB)))
    thread.start()
    thread.join()


@pytest.mark.limit_gpu_memory(leak="64 KiB")
@pytest.mark.parametrize("size", [0, 64, 65])
def test_leak(size):
    cuda.cudaFree(allocate(5 * MIB))
    forgets(size)


def forgets(size):
    if size:
        allocate(size << 10)


class Cycle:
    def __init__(self, size):
        self.pointer, self.me = allocate(size), self

    def __del__(self):
        cuda.cudaFree(self.pointer)


@pytest.mark.limit_gpu_memory("8 MiB", leak="0")
def test_garbage_is_no_leak():
    Cycle(7 * MIB)


@pytest.mark.limit_gpu_memory("8 MiB", leak="0")
def test_takes_and_leaves():
    allocate(9 * MIB)


def test_no_mark():
    cuda.cudaFree(allocate(100 * MIB))


@pytest.mark.limit_gpu_memory("1 MiB")
def test_fails_by_itself():
    cuda.cudaFree(allocate(2 * MIB))
    assert False, "its own reason"
END

tests() { # ARGS...
	env PYTHONPATH="$TOP/scripts" PYTHONDONTWRITEBYTECODE=1 MEMTRACE_QUIET=1 "$@" -m pytest -p pytest_memtrace \
		-p no:cacheprovider -q -rfEs --tb=short --junitxml=junit.xml --limit-gpu-memory="${LIMIT:-1 GiB}" ${LEAK:+--limit-gpu-leak="$LEAK"} ${K:+-k "$K"} test_memory.py \
		>"$OUT" 2>"$ERR" </dev/null
}
tests memtrace run -- /usr/bin/python3
is 'pytest says that tests failed' $? 1
has 'five of them' "$OUT" '5 failed, 8 passed'
has 'the one that takes more' "$OUT" 'FAILED test_memory.py::test_sizes[9]'
has 'says by how much' "$OUT" 'it took 9.00 MiB of GPU memory, the limit is 8 MiB'
has 'and where' "$OUT" 'Live at the peak of phase pytest 4 test_memory.py::test_sizes[9], by call site'
has 'line by line' "$OUT" 'test_sizes (test_memory.py:31)'
has 'one that leaves more' "$OUT" 'it left 65.00 KiB of GPU memory, the limit is 64 KiB'
has 'and where' "$OUT" 'allocate (test_memory.py:12)'
has 'one that does both' "$OUT" 'it took 9.00 MiB of GPU memory, the limit is 8 MiB'
has 'is told both' "$OUT" 'it left 9.00 MiB of GPU memory, the limit is 0'
is 'the greediest stand at the end' "$(sed -n '/GPU memory: the greediest tests/,$s/  */ /gp' "$OUT" | sed -n 2,5p)" \
	' added left test
 100.00 MiB 0 B test_memory.py::test_no_mark
 9.00 MiB 0 B test_memory.py::test_sizes[9]
 9.00 MiB 9.00 MiB test_memory.py::test_takes_and_leaves'
has 'what other threads take counts' "$OUT" 'FAILED test_memory.py::test_threads_are'
has 'a test that fails keeps its reason' "$OUT" 'its own reason'
is 'JUnit tells what each took' "$("$PYTHON" -c '
import xml.etree.ElementTree as xml
found = {case.get("name"): p.get("value") for case in xml.parse("junit.xml").iter("testcase")
         for p in case.iter("property") if p.get("name") == "gpu_memory_added"}
print([int(found[name]) >> 20 for name in ("test_before_cuda", "test_sizes[4]", "test_fixture_is_not_counted", "test_no_mark")])')" '[0, 4, 1, 100]'
LIMIT='50 MiB' K='no_mark or garbage'
tests memtrace run -- /usr/bin/python3
has 'a limit for all' "$OUT" 'FAILED test_memory.py::test_no_mark'
LIMIT='much' K=no_mark
tests memtrace run -- /usr/bin/python3
has 'a size that is none is reported' "$OUT" 'expected METRIC'
LIMIT='1 GiB' LEAK='some'
tests memtrace run -- /usr/bin/python3
has 'so is a leak of none' "$OUT" "'some' is no size"
unset LEAK K
tests /usr/bin/python3
has 'without memtrace nothing is limited' "$OUT" '1 failed, 12 passed'
has 'and that is said' "$OUT" 'GPU memory is not limited'
