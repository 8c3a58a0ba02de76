#!/usr/bin/env python3
"""Runs torch.profiler over a few operators and prints how many events of each kind it saw.

For tests/gpu/torch.sh: a tracer must not take the profiler's events away.
"""
import collections
import json
import os
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile


def work():
    a = torch.randn(512, 512, device="cuda", requires_grad=True)
    b = (a @ a).relu().sum()
    b.backward()
    torch.cuda.synchronize()


def main():
    work()  # handles and workspaces are made once
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True,
                 record_shapes=True) as profiled:
        work()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiled.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    kinds = collections.Counter(e.get("cat", e["name"] if e["name"] == "[memory]" else "") for e in events)
    memory = sum(e["name"] == "[memory]" for e in events)
    print(f"kernel={kinds['kernel']} cuda_runtime={kinds['cuda_runtime']} memory={memory}")
    sums = [row.self_device_memory_usage for row in profiled.key_averages()]
    print(f"memory_taken={sum(size for size in sums if size > 0)}")
    if not kinds["kernel"] or not memory:
        raise SystemExit("the profiler saw nothing")


if __name__ == "__main__":
    main()
