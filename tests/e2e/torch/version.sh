#!/bin/sh
# PyTorch's version is in the trace, whichever device the first tensor is on.
. "$(dirname "$0")/../lib.sh"

mkdir -p torch/lib
cp "$E2E/libc10.so" "$E2E/libc10_cuda.so" torch/lib
echo "__version__ = '2.11.0+cu130'" >torch/version.py
cat >first.py <<'PYTHON'
import ctypes
import sys

ctypes.CDLL("torch/lib/libc10.so")
cuda = ctypes.CDLL("torch/lib/libc10_cuda.so", ctypes.RTLD_GLOBAL)
cuda.take.restype = ctypes.c_void_p
if sys.argv[1] == "cpu":  # PyTorch's CPU allocator asks before each block
    ctypes.CDLL(None)._ZN3c1022memoryProfilingEnabledEv()
cuda.take(ctypes.c_int64(1 << 20))
PYTHON
for first in gpu cpu; do
	traced "$PYTHON" first.py "$first"
	is "the first tensor is on the $first" "$(json "$TRACE" 'd["environment"]["torch"]')" 2.11.0+cu130
done
