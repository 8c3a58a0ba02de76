"""Runs out of memory in the way named: oom.py FOLDER WAY.

A model of PyTorch's allocator (libc10_cuda.c) on the simulated card. Ends as a program under PyTorch
would: by an exception that nobody catches, unless the way is to catch it.
"""
import ctypes
import os
import sys

MIB = 1 << 20
folder, way = sys.argv[1:3]
ctypes.CDLL(folder + "/libc10.so")
cuda = ctypes.CDLL(folder + "/libc10_cuda.so", ctypes.RTLD_GLOBAL)
runtime = ctypes.CDLL("libcudart.so.13")
for name in ("take", "take_ordered", "take_expandable"):
    getattr(cuda, name).restype = ctypes.c_void_p
    getattr(cuda, name).argtypes = [ctypes.c_int64]
cuda.give.argtypes = [ctypes.c_void_p]
cuda.set_limit.argtypes = [ctypes.c_int64]


class OutOfMemoryError(RuntimeError):
    pass


def need(ptr):
    if not ptr:
        raise OutOfMemoryError("CUDA out of memory.")
    return ptr


def raw(size):
    ptr = ctypes.c_void_p()
    if runtime.cudaMalloc(ctypes.byref(ptr), ctypes.c_size_t(size)):
        raise RuntimeError("CUDA error: out of memory")
    return ptr


def parameters(count, size):
    return [need(cuda.take(size)) for _ in range(count)]


def activations(count, size):
    return [need(cuda.take(size)) for _ in range(count)]


def plain():
    parameters(4, 32 * MIB)
    activations(1000, 64 * MIB)


def fragmentation():
    parameters(2, 32 * MIB)
    blocks = activations(225, 4 * MIB)
    for ptr in blocks[::2]:
        cuda.give(ptr)
    need(cuda.take(100 * MIB))


def limit():
    cuda.set_limit(512 * MIB)
    parameters(4, 64 * MIB)
    activations(100, 32 * MIB)


def others():  # FAKE_CUDA_CONTEXT_BYTES is theirs
    parameters(2, 64 * MIB)
    activations(100, 64 * MIB)


def beside():
    raw(600 * MIB)
    activations(100, 64 * MIB)


def cache():
    blocks = activations(14, 64 * MIB)
    for ptr in blocks[:8]:
        cuda.give(ptr)
    raw(256 * MIB)


def too_large():
    parameters(4, 32 * MIB)
    need(cuda.take(1 << 50))


def ordered():
    while True:
        need(cuda.take_ordered(64 * MIB))


def expandable():
    parameters(12, 64 * MIB)
    need(cuda.take_expandable(512 * MIB))


def caught():
    size = 4096 * MIB
    while True:
        try:
            need(cuda.take(size))
            break
        except OutOfMemoryError:
            size //= 2
    for _ in range(300):
        cuda.give(need(cuda.take(1 * MIB)))


def retried():
    """What succeeds once the cache is empty is nobody's failure."""
    for ptr in activations(12, 64 * MIB):
        cuda.give(ptr)
    need(cuda.take(500 * MIB))


def killed():
    try:
        plain()
    except OutOfMemoryError:
        os._exit(3)


def survived():
    """A program that went on and ended well later, or by something else."""
    caught()
    sys.exit(4)


globals()[way]()
