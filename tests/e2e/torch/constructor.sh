#!/bin/sh
# A report of PyTorch's comes while its allocator is locked: nothing of ours waits for the loader there.
. "$(dirname "$0")/../lib.sh"

cp "$E2E/libconstructor.so" copy.so
for stacks in none native python,native; do
	MEMTRACE_STACKS=$stacks
	export MEMTRACE_STACKS
	traced timeout 60 "$E2E/constructor" "$E2E/libc10_cuda.so" "$E2E/libconstructor.so" "$PWD/copy.so"
	is "$stacks: a report beside a constructor that waits for the allocator" "$?:$(cat "$OUT")" 0:loaded=1
	is "$stacks: each block is recorded" \
		"$(json "$TRACE" '[e["size"] for e in d["events"] if e["op"] == "alloc" and e["pool"] == "torch"]')" \
		'[4096, 8192, 16384]'
done
