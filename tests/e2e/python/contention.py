"""Threads that allocate tensors in known lines while others do what they can to disturb Python.

    contention.py SECONDS [cpu|cuda]

Prints "SIZE FILE LINE FUNCTION" for each place that allocates; each has a size of its own. Code made by
exec() has "<made N>" for a file and a size that follows from N. On a GPU a backward pass runs too, on
autograd's own threads.
"""
import asyncio
import contextlib
import functools
import gc
import re
import sys
import threading
import time
import traceback

import torch

SECONDS = float(sys.argv[1])
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"
UNIT = 128  # floats: 512 bytes, to which PyTorch rounds on a GPU
FIRST = 1000  # units: sizes that nothing else asks for
MADE_FIRST, MADE_SIZES = 1100, 50

told = set()
failures = []


# A function of C, so that the innermost Python line is the caller's.
empty = functools.partial(torch.empty, device=DEVICE, dtype=torch.float32)
SIZES = [(FIRST + k) * UNIT for k in range(12)]


def tell(tensor):
    """Whose line this is, when the size is seen for the first time."""
    size = tensor.nelement() * 4
    if size not in told:
        told.add(size)
        frame = traceback.extract_stack(limit=2)[0]
        code = sys._getframe(1).f_code
        print(size, frame.filename, frame.lineno, getattr(code, "co_qualname", code.co_name), flush=True)
    return tensor


def plain():
    return tell(empty(SIZES[1]))


class Layer:
    def __call__(self):
        return tell(empty(SIZES[2]))

    @staticmethod
    def deep(depth):
        return tell(empty(SIZES[3])) if depth == 0 else Layer.deep(depth - 1)


def generator():
    yield tell(empty(SIZES[4]))
    yield tell(empty(SIZES[5]))


def comprehension():
    return [tell(empty(SIZES[6])) for _ in range(2)]


def sort_key(size):
    tell(empty(SIZES[size]))
    return size


async def coroutine():
    await asyncio.sleep(0)
    return tell(empty(SIZES[8]))


def greenlets():
    try:
        from greenlet import greenlet
    except ImportError:
        return
    greenlet(lambda: tell(empty(SIZES[9]))).switch()


def handled():
    try:
        raise KeyError
    except KeyError:
        return tell(empty(SIZES[10]))


SITES = [
    plain,
    Layer(),
    functools.partial(Layer.deep, 40),
    lambda: list(generator()),
    comprehension,
    lambda: sorted([7, 7], key=sort_key),
    lambda: asyncio.run(coroutine()),
    greenlets,
    handled,
]


def allocate(offset):
    kept = []
    turn = offset
    while time.monotonic() < end:
        kept.append(SITES[turn % len(SITES)]())
        del kept[:-20]
        turn += 1


def make():
    """Code that is made, run and dies, again and again at the same addresses."""
    number = 0
    while time.monotonic() < end:
        units = MADE_FIRST + number % MADE_SIZES
        body = "\n" * (number % 7) + "def made():\n  return empty(%d)\nmade()\n" % (units * UNIT)
        exec(compile(body, "<made %d>" % number, "exec"), {"empty": empty})
        number += 1


def backward():
    layer = torch.nn.Linear(64, 64, device=DEVICE)
    while time.monotonic() < end:
        layer(torch.ones(64, 64, device=DEVICE)).sum().backward()


def hold_the_gil():
    while time.monotonic() < end:
        re.match("(a|aa)*b", "a" * 18)
        sum(range(50000))


def trace_and_look():
    def tracer(frame, event, arg):
        frame.f_locals
        return tracer

    while time.monotonic() < end:
        sys.settrace(tracer)
        handled()
        sys.settrace(None)
        for frame in list(sys._current_frames().values()):
            while frame is not None:
                frame.f_lineno, frame.f_code.co_name
                frame = frame.f_back
        if sys.version_info >= (3, 12):
            threading.setprofile_all_threads(lambda *args: None)
            threading.setprofile_all_threads(None)


def collect():
    while time.monotonic() < end:
        cycle = [tell(empty(SIZES[11]))]
        cycle.append(cycle)
        del cycle
        gc.collect()


def short_lived():
    while time.monotonic() < end:
        thread = threading.Thread(target=plain)
        thread.start()
        thread.join()


def guarded(function, *args):
    try:
        function(*args)
    except BaseException:
        failures.append(traceback.format_exc())


WORK = [functools.partial(allocate, k) for k in range(4)]
WORK += [make, backward, backward, hold_the_gil, trace_and_look, collect, short_lived]

sys.setswitchinterval(0.0002)
for site in SITES:
    site()
end = time.monotonic() + SECONDS
threads = [threading.Thread(target=guarded, args=(work,)) for work in WORK]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for failure in failures:
    print(failure, file=sys.stderr)
with contextlib.suppress(RuntimeError):
    sys.setprofile(None)
sys.exit(bool(failures))
