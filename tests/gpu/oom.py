#!/usr/bin/env python3
"""Runs PyTorch out of memory in the way named: oom.py WAY. Blocks are large, so that it is quick.

Ends by the exception that PyTorch raises, with status 1, unless the way is one that succeeds.
"""
import ctypes
import os
import subprocess
import sys

GIB = 1 << 30


def total():
    import torch
    return torch.cuda.get_device_properties(0).total_memory


def empty(size):
    import torch
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def raw(size):
    """A cudaMalloc beside PyTorch, by the runtime that it has loaded."""
    import torch
    torch.cuda.init()
    path = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart.so" in line)
    ptr = ctypes.c_void_p()
    if ctypes.CDLL(path).cudaMalloc(ctypes.byref(ptr), ctypes.c_size_t(size)):
        raise RuntimeError("CUDA error: out of memory")
    return ptr


def hold(fraction):
    """Another process that holds a part of the card until its standard input ends."""
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")}
    other = subprocess.Popen([sys.executable, __file__, "holder", str(fraction)], env=environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    return other


def holder():
    block = empty(int(total() * float(sys.argv[2])))
    print("holding", block.numel(), flush=True)
    sys.stdin.read()


def plain():
    parameters = [empty(GIB) for _ in range(4)]
    activations = []
    while True:
        activations.append(empty(8 * GIB))


def fragmentation():
    pieces = []
    for _ in range(int(total() * 0.9) // GIB):
        whole = empty(GIB)
        del whole
        pieces += [empty(GIB // 4) for _ in range(4)]
    del pieces[::2]
    empty(20 * GIB)


def limit():
    import torch
    torch.cuda.set_per_process_memory_fraction(0.1)
    blocks = []
    while True:
        blocks.append(empty(GIB))


def others():
    other = hold(0.7)
    try:
        blocks = []
        while True:
            blocks.append(empty(8 * GIB))
    finally:
        other.communicate()


def beside():
    ptr = raw(int(total() * 0.6))
    blocks = []
    while ptr:
        blocks.append(empty(8 * GIB))


def cache():
    blocks = [empty(8 * GIB) for _ in range(int(total() * 0.9) // (8 * GIB))]
    del blocks[:8]
    raw(40 * GIB)


def too_large():
    empty(total() * 2)


def retried():
    """What succeeds once the cache is empty is no failure."""
    blocks = [empty(8 * GIB) for _ in range(int(total() * 0.9) // (8 * GIB))]
    blocks.clear()
    empty(int(total() * 0.8))


def caught():
    """A search for the largest batch that fits."""
    import torch
    size = total() * 4
    while True:
        try:
            block = empty(size)
            break
        except torch.cuda.OutOfMemoryError:
            size //= 2
    print("fits", block.numel())


def killed():
    try:
        plain()
    finally:
        os._exit(3)


def jax():
    """JAX asks for three quarters of the card, and for ever less until it gets some."""
    other = hold(0.5)
    import jax.numpy
    print(float(jax.numpy.ones((1024, 1024)).sum()))
    other.communicate()


globals()[sys.argv[1]]()
