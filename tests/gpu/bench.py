#!/usr/bin/env python3
"""One measurement on a GPU: nothing, memtrace and PyTorch's own recorder in turns in one process.

bench.py WHAT prints {mode: [a sample a round]} as one line of JSON. WHAT is
    events  CPU ns of a block event, 20 Python frames deep
    step    ns of an eager transformer step of about 2,000 events
    matmul  ns of a step that is bound by its matrix products
    pairs   ns of a cudaMalloc and its cudaFree, 2 MiB
    small   the same of 4 KiB, which the driver serves from what it has
    cpu     as events, of tensors on the CPU (MEMTRACE_CPU=1): PyTorch without a GPU
MEMTRACE_STACKS decides what memtrace does, so one process a stack mode (tests/bench/gpu.py runs them). Without
the library all is measured all the same, and "memtrace" is "off".
"""
import ctypes
import json
import sys
import time

import torch
from torch import nn

ENABLE = getattr(ctypes.CDLL(None), "memtrace_enable", lambda on: None)
record = getattr(torch.cuda.memory, "_record_memory_history", None)


def recorder(**how):
    return lambda: record("all", max_entries=100000, **how), lambda: record(None)


MODES = {
    "off": (lambda: None, lambda: None),
    "memtrace": (lambda: ENABLE(1), lambda: ENABLE(0)),
    "recorder none": recorder(context=None),
    "recorder python": recorder(stacks="python"),
    "recorder all": recorder(stacks="all"),
}


def deep(depth, work):
    return deep(depth - 1, work) if depth else work()


def blocks(device="cuda", count=5000):
    def work():
        start = time.thread_time_ns()
        for _ in range(count):
            torch.empty(1024, device=device)
        return (time.thread_time_ns() - start) / (2 * count)

    return lambda: deep(18, work)


def timed_steps(step, count):
    def work():
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - start) / count

    return work


def trained(layers, x, optimizer):
    def step():
        layers(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def transformer():
    layers = nn.Sequential(*(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
                             for _ in range(8))).cuda()
    x = torch.randn(4, 32, 256, device="cuda")
    return timed_steps(trained(layers, x, torch.optim.AdamW(layers.parameters(), foreach=False)), 5)


def matmul(width=8192):
    layers = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(4))).to("cuda", torch.bfloat16)
    x = torch.randn(width, width, device="cuda", dtype=torch.bfloat16)
    return timed_steps(trained(layers, x, torch.optim.SGD(layers.parameters(), lr=1e-3)), 5)


def runtime():
    """The CUDA runtime that PyTorch has loaded, asked as any program asks: by dlsym."""
    torch.cuda.init()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next(line.split(None, 5)[5].strip() for line in maps if "/libcudart" in line)
    return ctypes.CDLL(path)


def pairs(size, count):
    cuda = runtime()
    take, give = cuda.cudaMalloc, cuda.cudaFree
    pointer = ctypes.c_void_p()
    place = ctypes.byref(pointer)
    bytes_ = ctypes.c_size_t(size)
    torch.ones(1, device="cuda")

    def work():
        start = time.perf_counter_ns()
        for _ in range(count):
            if take(place, bytes_) or give(pointer):
                raise SystemExit("cudaMalloc or cudaFree failed")
        return (time.perf_counter_ns() - start) / count

    return work


ALL = tuple(MODES)
OURS = ("off", "memtrace")
#        name: what makes the work, its rounds, and with what it is compared
WORKS = {
    "events": (blocks, 21, ALL),
    "cpu": (lambda: blocks("cpu"), 21, OURS),
    "step": (transformer, 25, ALL),
    "matmul": (matmul, 41, OURS),
    "pairs": (lambda: pairs(2 << 20, 200), 41, OURS),
    "small": (lambda: pairs(4096, 2000), 41, OURS),
}


def measure(what):
    make, rounds, modes = WORKS[what]
    samples = {mode: [] for mode in modes}
    ENABLE(0)
    work = make()
    work(), work()
    for mode in modes:  # each once untimed: first sight of stacks
        begin, end = MODES[mode]
        begin(), work(), end()
    for turn in range(rounds):
        # Nobody is always the one that follows the recorder.
        for mode in modes[turn % len(modes):] + modes[:turn % len(modes)]:
            begin, end = MODES[mode]
            begin()
            if what in ("events", "cpu"):
                work()
            samples[mode].append(work())
            end()
    ENABLE(1)
    return samples


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
