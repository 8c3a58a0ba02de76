#!/usr/bin/env python3
"""A training that is looked at: top.py OUT.

Trains until its parent has gone: an eager transformer of about 2,000 block events a step; each step's time is a
line of OUT: "step NS". A line "sums ALLOCATED RESERVED PEAK_ALLOCATED PEAK_RESERVED" is PyTorch's own at a moment
when all stands still: it is written when the file OUT.hold is there, and nothing happens until that is gone.
"""
import os
import sys
import time

import torch
from torch import nn


def main(path):
    parent = os.getppid()
    layers = nn.Sequential(*(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
                             for _ in range(8))).cuda()
    optimizer = torch.optim.AdamW(layers.parameters(), foreach=False)
    x = torch.randn(4, 32, 256, device="cuda")
    out = open(path, "w", buffering=1, encoding="utf-8")
    while os.getppid() == parent:
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        torch.cuda.nvtx.range_push("step")
        optimizer.zero_grad()
        layers(x).square().mean().backward()
        optimizer.step()
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
        out.write(f"step {time.perf_counter_ns() - start}\n")
        if os.path.exists(path + ".hold"):
            s = torch.cuda.memory_stats()
            out.write("sums %d %d %d %d\n" % tuple(s[k] for k in (
                "allocated_bytes.all.current", "reserved_bytes.all.current",
                "allocated_bytes.all.peak", "reserved_bytes.all.peak")))
            while os.path.exists(path + ".hold"):
                time.sleep(0.01)


main(sys.argv[1])
