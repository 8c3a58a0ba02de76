"""Threads of Python programs that allocate, and what happens beside them.

    python_threads.py forks FOLDER COUNT    the first thread forks COUNT times beside three of them
    python_threads.py ends FOLDER COUNT     COUNT interpreters end while daemon threads allocate
    python_threads.py jumps FOLDER COUNT FIRST
                                            COUNT processes in which calls are left by siglongjmp(), in
                                            the ways from number FIRST on

FOLDER has the libraries of this one's C files. Prints "N of COUNT ..., [what the others did]".
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

BOUND = 20  # seconds for a child that is done in milliseconds
FOLDER = sys.argv[2]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 0

runtime = ctypes.CDLL("libcudart.so.13")
driver = ctypes.CDLL("libcuda.so.1")
library = ctypes.CDLL(None)
over = False


def pair(depth=0):
    if depth:
        return pair(depth - 1)
    pointer = ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096))
    runtime.cudaFree(pointer)


def driver_pair(depth=0):
    if depth:
        return driver_pair(depth - 1)
    pointer = ctypes.c_uint64()
    if driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4096)) == 0:
        driver.cuMemFree_v2(pointer)


def report(address, size):
    """A block of PyTorch's, as its allocator reports it to the library."""
    library._ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
        ctypes.c_void_p(address), ctypes.c_int64(size), ctypes.c_uint64(1 << 20), ctypes.c_uint64(1 << 21), ctypes.c_uint64(1))


def allocate(number):
    """All that a program may ask of the library, each from stacks of several depths."""
    turn = number
    while not over:
        turn += 1
        pair(turn % 23)
        driver_pair(turn % 7)
        for size in (512, -512):
            report((number + 1) << 32, size)
        if turn % 3 == 0:
            library.memtrace_push(b"range")
            pair()
            library.memtrace_pop()
        if turn % 50 == 0:
            library.memtrace_mark(b"mark")
        if turn % 2000 == 0:
            library.memtrace_dump(None)


def grandchild():
    child = os.fork()
    if child == 0:
        pair(3)
        os._exit(0)
    os.waitpid(child, 0)


def load():
    import _elementtree  # an extension module: the loader's locks, and malloc's  # noqa: F401
    pair(5)


def begin_thread():
    thread = threading.Thread(target=pair, args=(4,))
    thread.start()
    thread.join()


CHILDREN = (lambda: None, lambda: pair(2), begin_thread, load, grandchild)


def wait(child):
    """The status of a child, which is killed if it does not end."""
    end = time.monotonic() + BOUND
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hangs"
        time.sleep(0.0005)


def clean():
    for name in os.listdir("."):
        own = name.startswith("%d." % os.getpid()) and ".dump." not in name
        if name.split(".")[0].isdigit() and not own:
            with contextlib.suppress(FileNotFoundError):  # a dump that gets its name just now
                os.unlink(name)


def tell(ends):
    print("%d of %d ended well" % (ends.count(0), COUNT), [end for end in ends if end][:5])


def forks():
    global over
    ctypes.CDLL(FOLDER + "/libc10.so")
    threads = [threading.Thread(target=allocate, args=(k,), daemon=True) for k in range(3)]
    for thread in threads:
        thread.start()
    ends = []
    for number in range(COUNT):
        child = os.fork()
        if child == 0:
            CHILDREN[number % len(CHILDREN)]()
            os._exit(0)
        ends.append(wait(child))
        if number % 50 == 49:
            subprocess.call(["memtrace", "ctl", str(os.getpid()), "mark", "asked"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            clean()
        if ends.count("hangs") == 3:
            break
    over = True
    for thread in threads:
        thread.join()
    tell(ends)


class Slow:
    """Ends late, when other threads have long lost their states."""

    def __del__(self):
        time.sleep(0.03)


def endless(depth):
    if depth:
        return endless(depth - 1)
    while True:
        pair()


def live_and_die(number):
    sys.modules["a module that ends slowly"] = Slow()
    if number % 2:
        pair()
    for k in range(4):
        threading.Thread(target=endless, args=(15 * k,), daemon=True).start()
    time.sleep(0.005 * (number % 4))
    sys.exit(0)


def ends():
    ends = []
    for number in range(COUNT):
        child = os.fork()
        if child == 0:
            return live_and_die(number)
        ends.append(wait(child))
        clean()
    tell(ends)


def jump(jumps):
    for target in (jumps, lambda: pair(3)):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    begin_thread()
    load()
    grandchild()


def jumps():
    jumps = ctypes.CDLL(FOLDER + "/libjump.so").jumps
    ends = []
    first = int(sys.argv[4])
    for number in range(first, first + COUNT):
        child = os.fork()
        if child == 0:
            jump(lambda: jumps(number, 10))
            sys.exit(0)
        ends.append(wait(child))
        clean()
        if ends.count("hangs") == 3:
            break
    tell(ends)


{"forks": forks, "ends": ends, "jumps": jumps}[sys.argv[1]]()
