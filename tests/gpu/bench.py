#!/usr/bin/env python3
"""What a block event of PyTorch costs: nothing, memtrace and PyTorch's own recorder in turns in one process.

bench.py events: CPU ns added per block event, 20 Python frames deep. bench.py step: the ratio of an eager
transformer step of about 2,000 events. MEMTRACE_STACKS decides what memtrace does, so one run a mode.
"""
import ctypes
import statistics
import sys
import time

import torch
from torch import nn

ENABLE = getattr(ctypes.CDLL(None), "memtrace_enable", lambda on: None)
record = torch.cuda.memory._record_memory_history

MODES = {
    "off": (lambda: None, lambda: None),
    "memtrace": (lambda: ENABLE(1), lambda: ENABLE(0)),
    "recorder context=None": (lambda: record("all", context=None, max_entries=100000), lambda: record(None)),
    "recorder python": (lambda: record("all", stacks="python", max_entries=100000), lambda: record(None)),
    "recorder all": (lambda: record("all", stacks="all", max_entries=100000), lambda: record(None)),
}


def deep(depth, work):
    return deep(depth - 1, work) if depth else work()


def pairs(count=5000):
    def work():
        start = time.thread_time_ns()
        for _ in range(count):
            torch.empty(1024, device="cuda")
        return (time.thread_time_ns() - start) / (2 * count)

    return deep(18, work)


def transformer():
    layers = nn.Sequential(*(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
                             for _ in range(8))).cuda()
    optimizer = torch.optim.AdamW(layers.parameters(), foreach=False)
    x = torch.randn(4, 32, 256, device="cuda")

    def step():
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(5):
            layers(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - start) / 5

    return step


def main():
    what = sys.argv[1]
    work = pairs if what == "events" else transformer()
    rounds = 21 if what == "events" else 15
    figures = {mode: [] for mode in MODES}
    ENABLE(0)
    work(), work()
    for mode, (begin, end) in MODES.items():  # each once untimed: first sight of stacks
        begin(), work(), end()
    for _ in range(rounds):
        for mode, (begin, end) in MODES.items():
            begin()
            work() if what == "events" else None
            figures[mode].append(work())
            end()
    base = statistics.median(figures["off"])
    for mode, values in figures.items():
        median = statistics.median(values)
        spread = statistics.quantiles(values, n=4)
        if what == "events":
            print(f"{mode}: {median:.0f} ns, added {median - base:.0f} (quartiles {spread[0]:.0f} to {spread[2]:.0f})")
        else:
            ratio = statistics.median(v / o for v, o in zip(values, figures["off"]))
            print(f"{mode}: {median / 1e6:.2f} ms a step, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
