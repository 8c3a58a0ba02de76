#!/bin/sh
# The plugin of pytest with --memtrace: it starts itself anew with the library, in every way pytest is called, and so
# do the workers of pytest-xdist.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

if ! /usr/bin/python3 -c 'import pytest' 2>/dev/null; then
	skip 'the plugin of pytest' 'no pytest for /usr/bin/python3 (apt-get install python3-pytest)'
	exit 0
fi
cat >test_start.py <<'END'
import ctypes
import os
import sys

import pytest

with open("starts", "a") as file:
    file.write("collected\n")
cuda = ctypes.CDLL("libcudart.so.13")


def take(mib):
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(mib << 20)) == 0
    cuda.cudaFree(pointer)


@pytest.mark.limit_gpu_memory("8 MiB")
@pytest.mark.parametrize("mib", [3, 4, 9, 5])
def test_take(mib):
    print("words of", sys.argv[1:])
    take(mib)
END
PYTHONPATH=$TOP/scripts PYTHONDONTWRITEBYTECODE=1 MEMTRACE_QUIET=1 MEMTRACE_OUTPUT=trace.%p.json
export PYTHONPATH PYTHONDONTWRITEBYTECODE MEMTRACE_QUIET MEMTRACE_OUTPUT
tests() { # COMMAND...
	rm -f starts trace.*
	"$@" -p no:cacheprovider test_start.py >"$OUT" 2>"$ERR" </dev/null
}
as_it_should() { # NAME STATUS STARTS
	is "$1: the status" "$2" 1
	is "$1: who took too much" "$(grep -c 'it took 9.00 MiB of GPU memory, the limit is 8 MiB' "$OUT")" 1
	is "$1: the others passed, and nothing was caught twice" \
		"$(grep -c '1 failed, 3 passed' "$OUT") $(cat "$ERR")" '1 '
	is "$1: the summary has them all" \
		"$(sed -n '/the greediest tests/,$s/.*test_start.py::test_take\[\(.*\)\]$/\1/p' "$OUT" | head -n 4 | tr '\n' ' ')" '9 5 4 3 '
	is "$1: collected so often" "$(wc -l <starts)" "$3"
}

tests /usr/bin/python3 -m pytest -p pytest_memtrace --memtrace
as_it_should 'python -m pytest' $? 1
is 'it leaves its trace' "$(find . -name 'trace.*.json' | wc -l)" 1
has 'the words are as they were' "$OUT" "words of ['-p', 'pytest_memtrace', '--memtrace', '-p', 'no:cacheprovider', 'test_start.py']"
printf '#!/usr/bin/python3\nimport sys, pytest\nsys.exit(pytest.main())\n' >pytest
chmod +x pytest
PATH=$PWD:$PATH tests pytest -p pytest_memtrace --memtrace -s
as_it_should 'a script, which catches nothing' $? 1
echo 'pytest_plugins = ["pytest_memtrace"]' >conftest.py
tests /usr/bin/python3 -m pytest --memtrace
as_it_should 'named by conftest.py' $? 1
rm conftest.py
tests memtrace run -- /usr/bin/python3 -m pytest -p pytest_memtrace --memtrace
as_it_should 'under memtrace run' $? 1
tests /usr/bin/python3 -m pytest -p pytest_memtrace --memtrace --memtrace-tool "$BUILD/none"
is 'without the tool it does not begin' "$? $(ls starts 2>/dev/null)" '4 '
has 'and says why' "$ERR" "there is no $BUILD/none in PATH: give --memtrace-tool PATH"
tests env PYTEST_MEMTRACE=1 /usr/bin/python3 -m pytest -p pytest_memtrace --memtrace
is 'where the loader refuses it is tried once' "$? $(ls starts 2>/dev/null)" '4 '
has 'and said' "$ERR" 'the library could not be preloaded'

if /usr/bin/python3 -c 'import xdist' 2>/dev/null; then
	tests /usr/bin/python3 -m pytest -p pytest_memtrace --memtrace -n 2
	as_it_should 'two workers' $? 2
	is 'each leaves its trace' "$(find . -name 'trace.*.json' | wc -l)" 2
else
	skip 'two workers' 'no pytest-xdist for /usr/bin/python3 (apt-get install python3-pytest-xdist)'
fi
