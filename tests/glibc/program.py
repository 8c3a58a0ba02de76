"""Allocates from Python, in named phases, on two threads; `kill`: ends by SIGKILL."""
import ctypes
import os
import signal
import sys
import threading

import memtrace

MIB = 1 << 20
cuda = ctypes.CDLL("libcudart.so.13")


def allocate(size):
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer


def deeper(depth, size):
    return deeper(depth - 1, size) if depth else allocate(size)


def train():
    weights = allocate(8 * MIB)
    memtrace.label(weights.value, "weights")
    for step in range(3):
        with memtrace.phase(f"step {step}"):
            batch = deeper(step, (step + 1) * MIB)
            cuda.cudaFree(batch)
    memtrace.mark("trained")
    return weights


kept = train()
thread = threading.Thread(target=lambda: deeper(2, 4 * MIB))
thread.start()
thread.join()
print("peak", 12 * MIB, "events", 8, "phases", 3)
sys.stdout.flush()
if sys.argv[1:] == ["kill"]:
    os.kill(os.getpid(), signal.SIGKILL)
