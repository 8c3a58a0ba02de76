"""What programs in Python do while they allocate device memory: kinds.py ROUNDS KIND...

Prints each kind when it is done; the last may end the process. Without a kind: lists those that can
follow each other in one process, then those that end it. No GPU is needed, nor any package.
"""
import asyncio
import atexit
import ctypes
import faulthandler
import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import types

cuda = ctypes.CDLL("libcudart.so.13")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 0
WELL = 7


def pair(size=4096):
    pointer = ctypes.c_void_p()
    if cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) or cuda.cudaFree(pointer):
        os._exit(9)


def deep(depth):
    if depth:
        return deep(depth - 1)
    pair()


def in_threads(count, work):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- one after the other --------------------------------------------------------------------------------

def very_deep():
    sys.setrecursionlimit(200000)
    threading.stack_size(512 << 20)
    in_threads(1, lambda: [deep(d) for d in (10, 100, 1000, 10000, 40000)])
    threading.stack_size(0)
    sys.setrecursionlimit(1000)


def generate(count):
    for i in range(count):
        pair()
        yield i


def generators():
    """In any order, and some are closed in the middle."""
    living = [generate(ROUNDS) for _ in range(30)]
    while living:
        one = random.choice(living)
        if next(one, None) is None:
            living.remove(one)
        elif random.random() < 0.01:
            living.pop().close()


def generators_of_threads():
    """Each goes on on whichever thread takes it."""
    lock = threading.Lock()
    waiting = [generate(ROUNDS * 2) for _ in range(16)]

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                one = waiting.pop(0)
            if next(one, None) is not None:
                with lock:
                    waiting.append(one)
    in_threads(6, work)


def coroutines():
    async def one():
        for _ in range(ROUNDS // 2):
            pair()
            await asyncio.sleep(0)

    async def every():
        await asyncio.gather(*[one() for _ in range(30)])
    asyncio.new_event_loop().run_until_complete(every())


def traced_by_lines():
    def look(frame, event, argument):
        if event == "line" and random.random() < 0.1:
            pair()
        frame.f_trace_opcodes = True
        return look

    def work():
        for i in range(ROUNDS):
            a = i
            pair()
            b = a
        return b
    sys.settrace(look)
    sys.setprofile(lambda *_: None)
    work()
    sys.settrace(None)
    sys.setprofile(None)


def line_that_jumps():
    """A debugger sets the line that is next, in the middle of calls."""
    left = [ROUNDS]

    def look(frame, event, argument):
        if event == "line" and frame.f_lineno == frame.f_code.co_firstlineno + 3 and left[0]:
            left[0] -= 1
            frame.f_lineno = frame.f_code.co_firstlineno + 1
        return look

    def work():
        pair(512)
        pair(1024)
        pair(1536)
        return 1
    sys.settrace(look)
    work()
    sys.settrace(None)


def monitored():
    if not hasattr(sys, "monitoring"):
        return
    monitoring = sys.monitoring
    events = monitoring.events

    def work():
        for _ in range(ROUNDS):
            pair()
    monitoring.use_tool_id(3, "kinds")
    for event in (events.LINE, events.PY_START, events.PY_RETURN):
        monitoring.register_callback(3, event, lambda *_: pair(512))
    monitoring.set_local_events(3, work.__code__, events.LINE | events.PY_START | events.PY_RETURN)
    work()
    monitoring.set_local_events(3, work.__code__, 0)
    monitoring.free_tool_id(3)


def hostile_code():
    """Tables of lines that say anything, names that are long, empty or no text."""
    names = ["a" * 100000, "\ud800\udfff x", "\0nul", "</script>", "\x1b]0;x\x07", "", "\u6f22\u5b57" * 2000, "\U0010ffff" * 300]
    table = "co_linetable" if hasattr(pair.__code__, "co_linetable") else "co_lnotab"

    def work():
        pair()
    if not hasattr(work.__code__, "replace"):
        return
    for i in range(ROUNDS * 4):
        parts = {table: bytes(random.randrange(256) for _ in range(random.choice([0, 1, 2, 3, 7, 200])))}
        if random.random() < 0.5:
            parts["co_firstlineno"] = random.choice([0, 1, 2 ** 31 - 1, 2 ** 30, 7])
        if random.random() < 0.6:
            parts["co_filename"] = random.choice(names)
        if random.random() < 0.6:
            parts["co_name"] = random.choice(names)
        try:
            types.FunctionType(work.__code__.replace(**parts), globals())()
        except (ValueError, UnicodeError, SystemError):
            pass


def code_that_dies():
    for i in range(ROUNDS * 4):
        names = {"pair": pair}
        exec(compile("def f%d():\n%s pair()\n" % (i % 7, "\n" * (i % 300)), "file%d.py" % (i % 11), "exec"), names)
        names["f%d" % (i % 7)]()


def sub_interpreters():
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            return
    source = """
import ctypes
try:
    cuda = ctypes.CDLL("libcudart.so.13")
except Exception:
    cuda = None
def deep(depth):
    if depth:
        return deep(depth - 1)
    pointer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096))
    cuda.cudaFree(pointer)
for i in range(30):
    deep(i)
"""
    run = getattr(interpreters, "run_string", None) or interpreters.exec

    def work():
        for _ in range(3):
            one = interpreters.create()
            try:
                run(one, source)
            except Exception:  # ctypes may refuse to be there twice
                pass
            pair()
            interpreters.destroy(one)
    work()
    in_threads(2, work)


def callbacks():
    """Python, called by C, called by Python; and what is thrown there."""
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def compare(a, b):
        pair()
        try:
            return random.choice([-1, 0, 1, None])
        except ValueError:
            return 0

    def safely(a, b):
        return compare(a, b) or 0
    for _ in range(ROUNDS // 10):
        numbers = (ctypes.c_int * 50)(*[random.randrange(100) for _ in range(50)])
        ctypes.CDLL(None).qsort(numbers, 50, 4, compare_type(safely))


def kept_frames():
    """Frames and tracebacks are kept, changed and cleared."""
    kept = []

    def work(i):
        x = i
        kept.append(sys._getframe())
        pair()
        try:
            raise ValueError(x)
        except ValueError as error:
            kept.append(error.__traceback__)
            pair()
    for i in range(ROUNDS * 2):
        work(i)
        if i % 10 == 0:
            for one in kept:
                if hasattr(one, "clear"):
                    one.clear()
            del kept[:]
            gc.collect()


def timers():
    signal.signal(signal.SIGALRM, lambda *_: pair())
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    until = time.time() + 0.5
    while time.time() < until:
        deep(30)
    signal.setitimer(signal.ITIMER_REAL, 0)


def collected():
    """What dies in cycles allocates, at any place."""
    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            pair()
    before = gc.get_threshold()
    gc.set_threshold(20)
    for _ in range(ROUNDS):
        [Cycle() for _ in range(3)]
        deep(5)
    gc.set_threshold(*before)
    gc.collect()


def forks_beside_threads():
    """As a DataLoader starts its workers: each child must end by itself."""
    stop = []

    def work():
        while not stop:
            deep(20)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    hung = 0
    for i in range(ROUNDS // 5):
        child = multiprocessing.get_context("fork").Process(target=len, args=("",))
        child.start()
        child.join(5)
        if child.exitcode is None:
            hung += 1
            os.kill(child.pid, signal.SIGKILL)
            child.join()
        if hung > 1:
            break
    stop.append(True)
    for thread in threads:
        thread.join()
    if hung:
        print("%d of %d children hang" % (hung, i + 1))


def jumps_out():
    """A timer's handler leaves the driver by siglongjmp; a thread that is born then runs."""
    library = ctypes.CDLL(os.environ["JUMPS"])
    pair()  # to begin is the driver's: a jump out of that keeps the loader's locks
    jumping = threading.Thread(target=library.jumps, args=(ROUNDS, ROUNDS), daemon=True)
    jumping.start()
    jumping.join(15)
    born = threading.Thread(target=pair, daemon=True)
    starting = threading.Thread(target=born.start, daemon=True)  # start() waits for it
    starting.start()
    starting.join(5)
    if jumping.is_alive() or starting.is_alive():
        print("it hangs")
        sys.stdout.flush()
        os._exit(8)


# --- that end the process -------------------------------------------------------------------------------

def daemons():
    """Daemon threads allocate to the end, and beyond it where C lets go of the interpreter."""
    for _ in range(6):
        threading.Thread(target=lambda: [pair() for _ in iter(int, 1)], daemon=True).start()
    time.sleep(0.1)


def raw_daemons():
    def work():
        pointer = ctypes.c_void_p()
        while True:
            cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(512))
            cuda.cudaFree(pointer)

    class Last:
        def __del__(self):
            cuda.cudaFree(None)
    for _ in range(6):
        threading.Thread(target=work, daemon=True).start()
    sys.last_one = Last()
    atexit.register(pair)
    time.sleep(0.1)


def executed_again():
    times = int(os.environ.get("KINDS_AGAIN", "0"))
    pair()
    if times < 3:
        os.environ["KINDS_AGAIN"] = str(times + 1)
        os.execv(sys.executable, [sys.executable] + sys.argv)


def children_of_all_kinds():
    for method in ("spawn", "forkserver", "fork"):
        children = [multiprocessing.get_context(method).Process(target=len, args=("",)) for _ in range(2)]
        for child in children:
            child.start()
        for child in children:
            child.join(20)
        print(method, [child.exitcode for child in children])


def faults_told():
    """A watchdog looks at all stacks, again and again."""
    faulthandler.dump_traceback_later(0.01, repeat=True, file=open(os.devnull, "w"))
    until = time.time() + 0.3
    while time.time() < until:
        deep(50)
    faulthandler.cancel_dump_traceback_later()


def ends_in_a_thread():
    threading.Thread(target=lambda: (deep(30), os._exit(WELL))).start()
    while True:
        deep(10)


def greenlets():
    import greenlet

    def work():
        main = greenlet.getcurrent()

        def body():
            for k in range(ROUNDS // 4):
                deep(k % 30)
                main.switch()
        living = [greenlet.greenlet(body) for _ in range(20)]
        while living:
            one = random.choice(living)
            one.switch()
            if one.dead:
                living.remove(one)
            elif random.random() < 0.01:
                try:
                    one.throw()
                except greenlet.GreenletExit:
                    pass
    work()
    in_threads(4, work)


TOGETHER = [very_deep, generators, generators_of_threads, coroutines, traced_by_lines, line_that_jumps, monitored,
            hostile_code, code_that_dies, sub_interpreters, callbacks, kept_frames, timers, collected]
ALONE = [forks_beside_threads, jumps_out, daemons, raw_daemons, executed_again, children_of_all_kinds, ends_in_a_thread]
IF_THERE = [faults_told, greenlets]

if __name__ == "__main__":
    random.seed(1)
    if len(sys.argv) < 3:
        print(" ".join(kind.__name__ for kind in TOGETHER))
        print(" ".join(kind.__name__ for kind in ALONE))
        sys.exit(0)
    kinds = {kind.__name__: kind for kind in TOGETHER + ALONE + IF_THERE}
    for name in sys.argv[2:]:
        kinds[name]()
        print(name)
        sys.stdout.flush()
    sys.exit(WELL)
