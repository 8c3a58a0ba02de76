"""What MEMTRACE_START, MEMTRACE_SIGNAL and memtrace ctl are tried on: control.py FOLDER WAY.

A model of PyTorch's allocator (libc10_cuda.c) on the simulated card. Prints what it held itself.
"""
import ctypes
import os
import random
import signal
import sys

MIB = 1 << 20
folder, way = sys.argv[1:3]
ctypes.CDLL(folder + "/libc10.so")
cuda = ctypes.CDLL(folder + "/libc10_cuda.so", ctypes.RTLD_GLOBAL)
cuda.take.restype = ctypes.c_void_p
cuda.take.argtypes = [ctypes.c_int64]
cuda.give.argtypes = [ctypes.c_void_p]
library = ctypes.CDLL(None)


class Books:
    """The program's own: what is allocated, and the most that was."""

    def __init__(self):
        self.held, self.now, self.peak = [], 0, 0

    def take(self, size):
        ptr = cuda.take(size)
        assert ptr
        self.held.append((ptr, (size + 511) // 512 * 512))
        self.now += self.held[-1][1]
        self.peak = max(self.peak, self.now)

    def give(self, index):
        ptr, size = self.held.pop(index)
        cuda.give(ptr)
        self.now -= size


def churn(books, rng, count):
    for _ in range(count):
        if len(books.held) < 4 or (len(books.held) < 64 and rng.random() < 0.5):
            books.take(rng.choice((1000, 70000, 3 * MIB, 11 * MIB)))
        else:
            books.give(rng.randrange(len(books.held)))


def stopped(books, rng):
    churn(books, rng, 300)


def toggled(books, rng):
    """A thousand toggles by the API, most of them right in front of a new segment."""
    for i in range(1000):
        (library.memtrace_stop if i % 2 else library.memtrace_start)()
        churn(books, rng, 2)
        if i % 10 == 0:
            cuda.empty_cache()


def signalled(books, rng):
    for _ in range(101):
        os.kill(os.getpid(), signal.SIGUSR2)
        churn(books, rng, 3)


def taken(books, rng):
    """The program wants the signal itself, later."""
    got = []
    signal.signal(signal.SIGUSR2, lambda *_: got.append(1))
    signalled(books, rng)
    assert len(got) == 101


books = Books()
globals()[way](books, random.Random(7))
print(books.peak, books.now)
