#!/bin/sh
# In a system that has nothing of memtrace: run.sh WHEEL BUILT RESULTS, from the root of the checkout.
#
# Installs the wheel as anybody would, without a compiler or network, and leaves a trace of each program
# in RESULTS. BUILT has the samples and the simulated CUDA.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
wheel=$(realpath "$1")
built=$(realpath "$2")
mkdir -p "$3"
results=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_PRELOAD PYTHONPATH
LD_LIBRARY_PATH=$built/fake
export LD_LIBRARY_PATH

python3 -m venv venv
venv/bin/pip install -q --no-index --disable-pip-version-check "$wheel"
PATH=$work/venv/bin:$PATH
ldd --version | sed -n '1s/.* //p' >"$results/glibc"
memtrace --version >"$results/version"
memtrace doctor >"$results/doctor" || true

# Programs without libdl and libpthread, which before glibc 2.34 are not in libc, bound at once or when called.
library=$(memtrace --version | sed -n 3p)
for now in '' 1; do
	said=$(LD_BIND_NOW=$now LD_PRELOAD=$library sh -c '/bin/true && ls / | wc -l && (echo in a fork; cat /dev/null)' 2>&1)
	[ "$said" = "$(sh -c 'ls / | wc -l; echo in a fork')" ] || {
		echo "a program without libdl says: $said" >&2
		exit 1
	}
done

for sample in leak leak-static caching vmm managed graph threads fork; do
	memtrace run -q -o "$results/$sample.json" -- "$built/samples/$sample" >"$results/$sample.out"
done
memtrace run -q -o "$results/python.json" -- python3 "$here/program.py" >"$results/python.out"
# One that does not live to write its trace.
memtrace run -q -o "$results/killed.json" -- python3 "$here/program.py" kill >"$results/killed.out" || [ $? = 137 ]

# With the system's own PyTorch, as somebody new to all this would.
if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
	python3 -m venv --system-site-packages --without-pip torch
	MEMTRACE_CPU=1 memtrace run -q -o "$results/torch.json" -- torch/bin/python "$here/torch_cpu.py" >"$results/torch.out"
fi

# What the tool has inside.
memtrace report --json "$results/python.json" >"$results/python.report"
memtrace export --to sqlite -o "$results/python.sqlite" "$results/python.json"
memtrace export --to csv -o "$results/python.csv.zst" "$results/python.json"
memtrace html -o "$results/python.html" "$results/python.json"
