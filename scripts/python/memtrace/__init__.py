"""memtrace from Python: names for phases of a program, marks and labels, and the trace so far.

    import memtrace

    with memtrace.phase("step 3"):        # or @memtrace.phase("evaluate")
        ...
    memtrace.mark("weights loaded")
    memtrace.label(tensor, "embedding")
    memtrace.dump("so-far.json")          # or, in memory: memtrace.snapshot()["devices"]

`memtrace run -- python train.py` or `python -m memtrace run train.py` preloads the library. In any other
process all of this does nothing, so that it can stay in the program. In a notebook that was started under
memtrace, `%load_ext memtrace` gives the cell magic `%%memtrace [NAME]`.

Trainers: memtrace.lightning.Phases, memtrace.transformers.Phases. Other libraries' pools: memtrace_pools.
"""
import contextlib
import ctypes
import json
import os
import tempfile

_process = ctypes.CDLL(None)


def _call(name, *types, result=None):
    """A function of memtrace.h; without the library, one that does nothing."""
    function = getattr(_process, f"memtrace_{name}", None)
    if function is None:
        return lambda *arguments: 0
    function.argtypes, function.restype = types, result
    return function


_mark = _call("mark", ctypes.c_char_p)
_push = _call("push", ctypes.c_char_p)
_label = _call("label", ctypes.c_void_p, ctypes.c_char_p)
_dump = _call("dump", ctypes.c_char_p, result=ctypes.c_int)
pop = _call("pop")
start = _call("start")
stop = _call("stop")


def recording():
    """True if the library is in this process."""
    return hasattr(_process, "memtrace_push")


def tool():
    """The path of the command-line tool."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "memtrace")
    return own if os.path.exists(own) else "memtrace"


def mark(name):
    """Records a named mark at the current time."""
    _mark(str(name).encode())


def push(name):
    """Begins a phase of this thread, which pop() ends."""
    _push(str(name).encode())


@contextlib.contextmanager
def phase(name):
    """Names what is allocated in a `with` block, or in each call of a decorated function."""
    push(name)
    try:
        yield
    finally:
        pop()


def label(block, name):
    """Names the allocation that begins at an address, or where a tensor's or an array's data begins."""
    for method in ("data_ptr", "__cuda_array_interface__"):
        found = getattr(block, method, None)
        if found is not None:
            block = found() if callable(found) else found["data"][0]
            break
    _label(int(block), str(name).encode())


def dump(path=None):
    """Writes the trace so far to a file that must not exist yet (None: beside the spool)."""
    error = _dump(None if path is None else os.fsencode(path))
    if error < 0:
        raise OSError(-error, os.strerror(-error), path)


def snapshot():
    """The trace so far, as json.load() gives it; None without the library, or before the first event."""
    if not recording():
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot.json")
        try:
            dump(path)
        except OSError:
            return None
        with open(path, encoding="utf-8") as file:
            return json.load(file)


class Nest:
    """Phases of a trainer: what begins on a level ends what is still open there and below."""

    def __init__(self):
        self.open = []

    def begin(self, level, name):
        self.end(level)
        self.open.append(level)
        push(name)

    def end(self, level=0):
        while self.open and self.open[-1] >= level:
            self.open.pop()
            pop()


def load_ipython_extension(shell):
    """%load_ext memtrace"""
    from . import ipython
    ipython.load(shell)
