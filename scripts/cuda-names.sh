#!/bin/sh
# The names of all functions that a CUDA toolkit's cuda.h and cuda_runtime_api.h declare, one a line:
# cuda-names.sh FOLDER_OF_HEADERS. tests/abi/cuda-13.0.names is what it prints for CUDA 13.0.
set -eu

for header in cuda.h cuda_runtime_api.h; do
	echo "#include <$header>" | "${CC:-cc}" -E -x c -I"$1" - | tr '\n' ' ' |
		grep -oE '(CUresult|cudaError_t)[^;(]*\bcu(da)?[A-Z][A-Za-z0-9_]* *\(' |
		grep -oE 'cu(da)?[A-Z][A-Za-z0-9_]* *\($' | tr -d '( '
done | LC_ALL=C sort -u
