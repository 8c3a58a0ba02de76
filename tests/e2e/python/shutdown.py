"""Interpreters that end with live tensors, and daemon threads that hold some and go on allocating.

    shutdown.py TIMES [cpu|cuda]

PyTorch is imported once; each end is a child of fork(), which ends as any program does. Prints how many
ended with status 0, and what the others did.
"""
import ctypes
import gc
import os
import sys
import threading
import time

import torch

TIMES = int(sys.argv[1])
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"

cuda = ctypes.CDLL("libcudart.so.13")
stopping = threading.Event()
stopped = threading.Semaphore(0)


class Keeper:
    """Holds a tensor in a cycle, and makes another while it dies."""

    def __init__(self):
        self.itself = self
        self.tensor = torch.empty(1024, device=DEVICE)

    def __del__(self):
        if torch is not None:
            self.tensor = torch.empty(2048, device=DEVICE)


def with_torch(depth):
    """Until it is told to stop, and then waits for ever, with tensors in its frames.

    PyTorch itself ends the process by std::terminate when the interpreter ends while one of its
    operators runs on a daemon thread.
    """
    if depth:
        return with_torch(depth - 1)
    kept = []
    while not stopping.is_set():
        kept.append(torch.empty(512 * (len(kept) % 3 + 1), device=DEVICE))
        del kept[:-10]
    stopped.release()
    threading.Event().wait()


def with_cuda(depth):
    """To the very end."""
    if depth:
        return with_cuda(depth - 1)
    pointer = ctypes.c_void_p()
    while True:
        cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096))
        cuda.cudaFree(pointer)


def live_and_die():
    global keepers
    keepers = [Keeper() for _ in range(20)]
    torch.keeper = Keeper()
    sys.modules["a module that holds a tensor"] = Keeper()
    for work, count in ((with_torch, 3), (with_cuda, 3)):
        for k in range(count):
            threading.Thread(target=work, args=(20 * k,), daemon=True).start()
    time.sleep(0.05)
    gc.collect()
    stopping.set()
    for _ in range(3):
        stopped.acquire()
    sys.exit(0)


ends = []
for number in range(TIMES):
    child = os.fork()
    if child == 0:
        live_and_die()
    ends.append(os.waitpid(child, 0)[1])
print("%d of %d ended well" % (ends.count(0), TIMES), [end for end in ends if end][:5])
