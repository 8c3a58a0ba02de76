"""Compares the frames that python_probe.so sees with Python's own view of them.

    python_frames.py PROBE.so ASPECT

Prints TAP lines without numbers ("ok - ...", "not ok - ...") and ends 1 when one is not ok. Runs under
any CPython from 3.8 on, with the standard library alone.
"""
import asyncio
import contextlib
import ctypes
import functools
import gc
import glob
import importlib
import os
import random
import sys
import tempfile
import threading
import time
import traceback
import types
import weakref

ROOM = 1 << 20
QUALIFIED = sys.version_info >= (3, 11)

# CDLL: the GIL is released during each call.
probe = ctypes.CDLL(os.path.abspath(sys.argv[1]))
probe.probe_version.restype = probe.probe_trouble.restype = ctypes.c_char_p
probe.probe_same.restype = ctypes.c_long
probe.probe_cost.restype = ctypes.c_double

failures = 0
seen = []  # (kind, number of frames), one a comparison
differences = []


def report(good, text):
    global failures
    failures += not good
    print("ok - " + text if good else "not ok - " + text, flush=True)


def clean(text, room):
    """What a fixed buffer of UTF-8 can hold of it."""
    text = "".join("\ufffd" if c == "\0" or "\ud800" <= c < "\ue000" else c for c in text)
    return text.encode()[: room - 1].decode(errors="ignore")


def own_view():
    frame = sys._getframe(1)
    view = []
    while frame is not None:
        code = frame.f_code
        name = code.co_qualname if QUALIFIED else code.co_name
        view.append((clean(code.co_filename, 1024), clean(name, 512), frame.f_lineno or 0))
        frame = frame.f_back
    return view


def probe_view(text):
    rows = text.decode().split("\x1e")[:-1]
    return [(f, n, int(line)) for f, n, line, _ in (row.split("\x1f") for row in rows)]


def same_as_extracted(got, stack):
    """traceback's names are unqualified before 3.11 and after."""
    return len(got) == len(stack) and all(
        file == clean(frame.filename, 1024)
        and line == (frame.lineno or 0)
        and (name == clean(frame.name, 512) or name.endswith("." + frame.name) or len(name) > 500)
        for (file, name, line), frame in zip(got, reversed(stack))
    )


def compare(kind, count, text, own, extracted):
    got = probe_view(text)
    seen.append((kind, count))
    if got == own and count == len(got) and same_as_extracted(got, extracted):
        return
    rows = [(a, b) for a, b in zip(got, own) if a != b]
    differences.append("%s: %d frames, should be %d; %s" % (kind, count, len(own), rows[:3]))


loops_off = []


def leaf(kind):
    room = ctypes.create_string_buffer(ROOM)
    loops, entries = ctypes.c_int(), ctypes.c_int()
    # On one line, since the line is compared too.
    views = (probe.probe(room, ROOM), own_view(), traceback.extract_stack())
    compare(kind, views[0], room.value, views[1], views[2])
    if probe.probe_entries(ctypes.byref(loops), ctypes.byref(entries)) == 0:
        # A greenlet's native stack goes on below it, into whoever started it; Python's does not.
        if loops.value != entries.value and ("greenlet" not in kind or loops.value < entries.value):
            loops_off.append((kind, loops.value, entries.value))


def nested(depth, kind):
    if depth == 0:
        leaf(kind)
    else:

        def inner():
            nested(depth - 1, kind)

        inner()


def functions():
    nested(0, "function")
    nested(3, "closure")
    nested(100, "nested 200 deep")
    (lambda: leaf("lambda"))()
    functools.partial(leaf, "functools.partial")()
    functools.reduce(lambda a, b: leaf("functools.reduce"), [1, 2])
    list(map(leaf, ["map"]))
    list(filter(lambda x: leaf("filter"), [1]))
    sorted([2, 1], key=lambda x: leaf("sort key") or x)
    max([1, 2], key=lambda x: leaf("max key") or x)
    leaf(
        "call over several lines"
    )

    def wrapped(function):
        @functools.wraps(function)
        def call(*args):
            return function(*args)

        return call

    @wrapped
    @wrapped
    def decorated():
        leaf("decorators")

    decorated()

    @functools.lru_cache(maxsize=None)
    def cached(kind):
        leaf(kind)

    cached("lru_cache")

    def defaults(a, *, b=1, **rest):
        leaf("keyword call")

    defaults(1, b=2, c=3)
    defaults(*[1], **{"d": 4})


def hot(depth, last):
    if depth:
        return hot(depth - 1, last)
    if last:
        leaf("specialised call")


def flow():
    for _ in range(3):
        while True:
            leaf("loop")
            break
    try:
        1 / 0
    except ZeroDivisionError:
        leaf("except")
    finally:
        leaf("finally")
    for i in range(200):
        hot(20, i == 199)
    body = "def long(x):\n" + "\n" * 400 + "    v = [\n" + "".join("      %d,\n" % i for i in range(700))
    body += "    leaf('long function')]\n" + "\n" * 40000 + "    leaf('far line')\n" + "long(1)\n"
    exec(compile(body, "<long>", "exec"), {"leaf": leaf})


def generators():
    def generator(depth):
        yield 1
        if depth:
            yield from generator(depth - 1)
        leaf("generator")
        yield 2

    for _ in generator(3):
        pass
    list(generator(2))
    sum(generator(1))

    def sender():
        while True:
            got = yield
            leaf("generator.send")
            if got:
                return

    sending = sender()
    next(sending)
    sending.send(0)
    with contextlib.suppress(StopIteration):
        sending.send(1)

    def closed():
        try:
            yield 1
        finally:
            leaf("generator.close")

    closing = closed()
    next(closing)
    closing.close()
    throwing = closed()
    next(throwing)
    with contextlib.suppress(KeyError):
        throwing.throw(KeyError("x"))


def comprehensions():
    [leaf("list comprehension") for _ in range(1)]
    {leaf("set comprehension") for _ in range(1)}
    {0: leaf("dict comprehension") for _ in range(1)}
    list(leaf("generator expression") for _ in range(1))
    width = 1
    [[leaf("nested comprehension") for _ in range(width)] for _ in range(width)]


def classes():
    class Meta(type):
        def __new__(meta, name, bases, body):
            leaf("metaclass __new__")
            return super().__new__(meta, name, bases, body)

        def __call__(cls, *args):
            leaf("metaclass __call__")
            return super().__call__(*args)

    class Thing(metaclass=Meta):
        leaf("class body")

        class Inner:
            leaf("inner class body")

            def method(self):
                leaf("method")

        def __init_subclass__(cls):
            leaf("__init_subclass__")

        def __init__(self):
            leaf("__init__")

        @property
        def attribute(self):
            leaf("property")

        def __getattr__(self, name):
            leaf("__getattr__")

        def __getitem__(self, key):
            leaf("__getitem__")

        def __lt__(self, other):
            leaf("__lt__ in sort")
            return False

        def __call__(self):
            leaf("__call__")

        def __del__(self):
            leaf("__del__")

        @staticmethod
        def static():
            leaf("staticmethod")

        @classmethod
        def classy(cls):
            leaf("classmethod")

    class Child(Thing):
        def __init__(self):
            super().__init__()

    thing = Thing()
    thing.attribute
    thing.missing
    thing[0]
    thing()
    Thing.static()
    Thing.classy()
    Thing.Inner().method()
    sorted([thing, Child()])
    del thing
    gc.collect()


def endings():
    class Thing:
        pass

    class Cycle:
        def __del__(self):
            leaf("__del__ in gc.collect")

    thing = Thing()
    reference = weakref.ref(thing, lambda _: leaf("weakref callback"))
    del thing
    assert reference() is None
    weakref.finalize(Thing(), leaf, "weakref.finalize")
    cycle = Cycle()
    cycle.itself = cycle
    del cycle
    gc.collect()

    @contextlib.contextmanager
    def managed():
        leaf("context manager enter")
        yield
        leaf("context manager exit")

    with managed():
        leaf("with body")
    with contextlib.ExitStack() as stack:
        stack.callback(leaf, "ExitStack callback")


def coroutines():
    async def inner():
        leaf("coroutine")
        await asyncio.sleep(0)
        leaf("coroutine resumed")

    async def numbers():
        leaf("async generator")
        yield 1
        await asyncio.sleep(0)
        leaf("async generator resumed")
        yield 2

    class Context:
        async def __aenter__(self):
            leaf("__aenter__")

        async def __aexit__(self, *args):
            leaf("__aexit__")

    async def outer():
        await inner()
        async for _ in numbers():
            leaf("async for")
        await asyncio.gather(inner(), inner())
        [x async for x in numbers()]
        async with Context():
            leaf("async with")
        await asyncio.get_running_loop().run_in_executor(None, leaf, "executor")

    asyncio.run(outer())


def generated():
    exec("leaf('exec')")
    eval("leaf('eval')")
    # Latin-1, UCS-2 and UCS-4 strings; U+DC80 is how an undecodable byte of a path reads.
    for file in ("<caf\u00e9>", "<dyn-\u4e2d\u6587>", "<dyn-\u4e2d\u6587-\U0001f600>", "<\udc80>"):
        source = "def f\u00e9\u00f1():\n    leaf('generated')\n\n\nf\u00e9\u00f1()\n"
        exec(compile(source, file, "exec"), {"leaf": leaf})
    exec(compile("class \u65e5\u672c:\n  def \U0001d4d0(x): leaf('wide')\n\u65e5\u672c().\U0001d4d0()\n", "w", "exec"), {"leaf": leaf})
    for length in (510, 511, 512, 513, 1022, 1023, 1024, 1025, 5000):
        exec(compile("leaf('long file name')", "x" * length, "exec"))
        exec(compile("leaf('long file name')", "x" + "\u4e2d" * length, "exec"))
        name = "n" + "\u4e2d" * length
        exec(compile("def %s(): leaf('long name')\n%s()" % (name, name), "n", "exec"), {"leaf": leaf})

    class Path(str):
        pass

    exec(compile("leaf('file is a str subclass')", Path("/some/where.py"), "exec"))
    exec(compile("leaf('file is a str subclass')", Path("/some/\u4e2d.py"), "exec"))
    exec(compile("leaf('file without name')", "", "exec"))
    names = {"co_name": "other", "co_qualname": "other"} if QUALIFIED else {"co_name": "other"}
    exec(compile("leaf('replaced code')", "r", "exec").replace(co_firstlineno=70000, **names))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "frames_module.py"), "w") as file:
            file.write("import __main__\n__main__.leaf('import')\n")
        sys.path.insert(0, folder)
        importlib.import_module("frames_module")
        sys.path.remove(folder)


def callbacks():
    libc = ctypes.CDLL(None)
    void = ctypes.CFUNCTYPE(None)
    compare_two = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    thread = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    array = (ctypes.c_int * 2)(2, 1)
    handle = ctypes.c_ulong()

    void(lambda: nested(1, "ctypes callback"))()
    libc.qsort(array, 2, 4, compare_two(lambda a, b: leaf("qsort callback") or 0))
    from_c = thread(lambda _: nested(2, "thread made by C") or 0)
    libc.pthread_create(ctypes.byref(handle), None, from_c, None)
    libc.pthread_join(handle, None)


def watched():
    def trace(frame, event, arg):
        return trace

    sys.settrace(trace)
    leaf("under settrace")
    sys.settrace(None)
    sys.setprofile(lambda *args: None)
    leaf("under setprofile")
    sys.setprofile(None)
    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring
        monitoring.use_tool_id(1, "frames")
        monitoring.register_callback(1, monitoring.events.LINE, lambda code, line: None)
        monitoring.set_events(1, monitoring.events.LINE)
        nested(3, "under sys.monitoring")
        monitoring.set_events(1, 0)
        monitoring.free_tool_id(1)


def processes():
    child = os.fork()
    if child == 0:
        before = len(differences)
        nested(2, "after fork")
        os._exit(len(differences) > before)
    seen.append(("after fork", 0))
    if os.waitpid(child, 0)[1]:
        differences.append("after fork: differs in the child")


def greenlets():
    try:
        from greenlet import greenlet, getcurrent
    except ImportError:
        return

    def other():
        nested(2, "greenlet")
        getcurrent().parent.switch()
        nested(1, "greenlet resumed")
        greenlet(lambda: nested(1, "greenlet in a greenlet")).switch()

    one = greenlet(other)

    def start():
        one.switch()

    start()
    nested(3, "between greenlets")
    one.switch()


def threads():
    def work(depth):
        for _ in range(20):
            nested(depth % 7, "thread")

    workers = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def deep():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(3000)
    nested(400, "800 deep")
    sys.setrecursionlimit(limit)


def aspect_kinds():
    groups = (functions, flow, generators, comprehensions, classes, endings, coroutines, generated)
    for group in groups + (callbacks, watched, processes, greenlets, threads, deep):
        group()
    for text in differences[:10]:
        print("# " + ascii(text))
    kinds = len({kind for kind, _ in seen})
    frames = max(count for _, count in seen)
    text = "%d kinds of frame, %d stacks, up to %d frames" % (kinds, len(seen), frames)
    report(not differences and kinds > 75, text)
    for text in loops_off[:10]:
        print("# loops and entries: %s" % (text,))
    # One in some hundred stacks of 3.8 and 3.9 stands in the loop's cold part, which has no name.
    report(len(loops_off) * 100 <= len(seen), "each evaluation loop in the native stack has its entry")


def aspect_capacity():
    def counts(depth):
        if depth:
            return counts(depth - 1)
        whole = probe.probe_capped(2048)
        return whole, list(map(probe.probe_capped, (0, 1, 10, whole - 1, whole, whole + 1)))

    whole, capped = counts(50)
    good = whole > 50 and capped == [0, 1, 10, whole - 1, whole, whole]
    report(good, "a walk stops at its capacity")


def aspect_lines():
    """Every instruction of part of the standard library and of hard cases."""
    addr2line = ctypes.PyDLL(os.path.abspath(sys.argv[1])).probe_lines
    addr2line.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    checked = ctypes.c_int()
    wrong = 0

    def check(code):
        nonlocal wrong
        wrong += addr2line(id(code), len(code.co_code), ctypes.addressof(checked)) != 0
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                check(constant)

    hard = [
        "x=(\n" * 90 + "1" + ")" * 90 + "\n",
        "a=1\n" + "\n" * 100000 + "b=2\n",
        "def f():\n" + "\n" * 300 + " return [\n" + "\n" * 500 + " g(\n\n\n1,\n" + "\n" * 200 + "h(2)\n)]\n",
        "if 1:\n  pass\nelse:\n" + "".join("  y=%d\n" % i for i in range(3000)),
        "try:\n  f()\nfinally:\n  g()\n",
        "with a as b:\n  pass\n",
    ]
    library = os.path.dirname(os.__file__)
    for file in sorted(glob.glob(library + "/*.py"))[::4]:
        with open(file, encoding="utf-8") as text:
            hard.append(text.read())
    for source in hard:
        try:
            check(compile(source, "hard", "exec"))
        except (SyntaxError, ValueError):
            pass
    text = "lines of %d instructions, as PyCode_Addr2Line has them" % checked.value
    report(wrong == 0 and checked.value > 50000, text)


def aspect_reuse():
    """Code objects that die: a new one at the same address must have another key."""
    key = (ctypes.c_uint64 * 3)()
    room = ctypes.create_string_buffer(1024)
    body = "def f():\n  look(key, room, 1024)\nf()\n"
    scope = {"look": probe.probe_first, "key": key, "room": room}
    addresses = set()
    keys = {}
    reused = wrong = failed = 0

    for i in range(3000):
        name = "<generated-%06d>" % i
        exec(compile(body, name, "exec"), dict(scope))
        found = (key[0], key[1], key[2])
        reused += key[0] in addresses
        addresses.add(key[0])
        failed += room.value.decode() != name
        wrong += keys.setdefault(found, name) != name
    text = "3000 generated modules, %d at an address used before, each with a key of its own" % reused
    report(reused > 100 and not wrong and not failed, text)


def aspect_sums():
    """One sum never stands for two stacks. (A place may have several: instructions are specialised.)

    Call trees of a few functions, made anew now and then (so that codes share addresses), which call each
    other from two lines, within one evaluation loop or through C, which begins another.
    """
    text = ctypes.create_string_buffer(ROOM)
    two = (ctypes.c_uint64 * 2)()
    views, mixed, failed = {}, 0, 0
    source = """
def f%d(path):
    if path[0] & 2: return (next(map(call, [path[1:]])) if path[0] & 1 else call(path[1:]))
    return (next(map(call, [path[1:]])) if path[0] & 1 else call(path[1:]))
"""

    def look():
        nonlocal failed
        failed += probe.probe_sum(two, text, ROOM) < 0
        return (two[0], two[1]), text.value

    def call(path):
        return scope["f%d" % (path[0] >> 2 & 1)](path) if path else look()

    for generation in range(30):
        scope = {"call": call}
        exec(compile(source % 0 + source % 1, "<sums %d>" % generation, "exec"), scope)
        for number in range(200):
            path = [(number * 0x9E3779B1 >> 3 * i) & 7 for i in range(number % 6)]
            one, view = call(path)
            mixed += views.setdefault(one, view) != view
        del scope
        gc.collect()
    report(not mixed and not failed and len(views) > 500, "%d sums, each of one stack" % len(views))


def aspect_trails():
    """A walk by what the one before left has the sum of one without, wherever the two were.

    Up and down through recursion, generators and C, past the depth that a trail has.
    """
    two = (ctypes.c_uint64 * 2)()
    chance = random.Random(1)
    deepest = looks = wrong = 0

    def look():
        nonlocal deepest, looks, wrong
        looks += 1
        frames = probe.probe_sum(two, None, 0)
        wrong += frames < 0
        deepest = max(deepest, frames)

    def plain(depth):
        climb(depth)

    def other(depth):
        climb(depth), climb(depth // 2)

    def generator(depth):
        yield climb(depth)
        look()
        yield climb(depth - 1)

    def through_c(depth):
        list(map(climb, [depth]))

    def generated(depth):
        for _ in generator(depth):
            look()

    def climb(depth):
        look()
        if depth > 0:
            chance.choice((plain, plain, plain, other, generated, through_c))(depth - chance.choice((1, 1, 1, 2, 9)))
        look()

    for _ in range(300):
        climb(chance.choice((3, 10, 20, 40)))
        if looks > 60000:
            break
    for depth in (60, 70, 75, 80, 85, 90, 120, 200, 80, 3):
        chance.choice = lambda choices: choices[0]
        climb(depth)
        chance = random.Random(depth)
    report(not wrong and looks > 10000 and deepest > 170, "%d walks up to %d frames deep, %d by the trail differ" %
           (looks, deepest, wrong))


def aspect_stress():
    """Walks that go on while other threads look at, trace and collect what they can."""
    stop = False
    results = []
    looked = [0]

    def walk():
        changes = ctypes.c_long()
        walks = probe.probe_same(1000, ctypes.byref(changes))
        results.append((walks, changes.value))
        yield walks

    def descend(depth):
        return descend(depth - 1) if depth else list(walk())

    def meddle():
        while not stop:
            for frame in list(sys._current_frames().values()):
                while frame is not None:
                    frame.f_locals, frame.f_lineno, frame.f_code.co_name
                    with contextlib.suppress(Exception):
                        frame.f_trace = None
                        frame.f_trace_opcodes = False
                    frame = frame.f_back
                    looked[0] += 1
            gc.collect(0)
            exec(compile("def g(): return [i for i in range(50)]\ng()", "x%d" % looked[0], "exec"), {})
            if sys.version_info >= (3, 12):
                threading.setprofile_all_threads(lambda *args: None)
                threading.setprofile_all_threads(None)
                threading.settrace_all_threads(lambda *args: None)
                threading.settrace_all_threads(None)

    walkers = [threading.Thread(target=descend, args=(20 + i * 7,)) for i in range(2)]
    meddlers = [threading.Thread(target=meddle) for _ in range(3)]
    for thread in walkers + meddlers:
        thread.start()
    for thread in walkers:
        thread.join()
    stop = True
    for thread in meddlers:
        thread.join()
    walks = sum(w for w, _ in results)
    changes = sum(c for _, c in results)
    text = "%d walks under three meddling threads, %d changed" % (walks, changes)
    report(len(results) == 2 and walks > 1000 and changes == 0 and looked[0] > 0, text)


def aspect_subinterpreter():
    """No more is asked than that a walk there ends: up to 3.11 it shows the caller's frames."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        code = "import ctypes\np = ctypes.CDLL(%r)\nassert p.probe_capped(2048) >= 0\n"
        inside = interpreters.create()
        try:
            interpreters.run_string(inside, code % os.path.abspath(sys.argv[1]))
        except Exception as error:
            if "ctypes" not in str(error):
                raise
        interpreters.destroy(inside)
        break
    report(probe.probe_trouble() is None, "a walk inside a sub-interpreter")


def aspect_cost():
    scope = {"probe": probe, "ctypes": ctypes}
    source = "".join("def f%d(): return f%d()\n" % (i, i + 1) for i in range(17))
    source += "def f17():\n  n = ctypes.c_int()\n"
    source += "  return [min(probe.probe_cost(20000, t, ctypes.byref(n)) for _ in range(9)) for t in (0, 1)], n.value\n"
    exec(compile(source, "<cost>", "exec"), scope)
    costs, frames = scope["f0"]()
    report(frames >= 20 and max(costs) < 5000, "%d frames in %.0f ns, by the trail in %.0f" % (frames, *costs))


def aspect_end():
    """Daemon threads that walk without a pause while the interpreter ends, which must end well.

    More of them than cores, so that the end finds some in the middle of a walk.
    """

    def daemon(depth):
        if depth:
            return daemon(depth - 1)
        probe.probe_ceaseless(3000)

    class Slow:
        def __del__(self):
            time.sleep(0.3)

    sys.modules["frames_slow"] = Slow()
    for _ in range(12):
        threading.Thread(target=daemon, args=(60,), daemon=True).start()
    time.sleep(0.2)
    ballast = [list(range(100)) for _ in range(20000)]
    ballast.append(ballast)
    print("ok - the interpreter ends under daemon threads that walk", flush=True)


def aspect_refusals(lookup):
    """Interpreters that are not for walking: each is refused by name, and nothing is read."""
    newest = (3, 15)
    off = b": Python stacks are not recorded; everything else is"
    newer = b"CPython 3.99.0 is newer than memtrace supports (3.8-3.15)" + off
    expected = {
        "none": (None, None),
        "future": (b"3.99.0", None if sys.version_info[:2] == newest else newer),
        "shifted": (b"3.99.0", newer),
        "old": (b"3.7.17", b"CPython 3.7.17 is older than memtrace supports (3.8-3.15)" + off),
        "other": (b"3.10.13", b"CPython 3.10.13 is a variant (GraalVM) that memtrace does not support" + off),
        "partial": (
            b"%d.%d.%d" % sys.version_info[:3],
            b"CPython %d.%d.%d does not export all symbols needed to read its frames" % sys.version_info[:3] + off,
        ),
    }[lookup]
    probe.probe_prepare(lookup.encode())
    frames = probe.probe_capped(64)
    found = (probe.probe_version(), probe.probe_trouble())
    walks = lookup == "future" and found[1] is None
    if found != expected or (frames > 0) != walks:
        print("# %s, %d frames" % (found, frames))
    report(found == expected and (frames > 0) == walks, "an interpreter of the kind '%s'" % lookup)
    if lookup == "none":
        probe.probe_prepare(b"real")
        report(probe.probe_version() is not None, "found when it is looked for again")


def main():
    aspect = sys.argv[2]
    if aspect.startswith("refusal-"):
        aspect_refusals(aspect[8:])
    else:
        probe.probe_prepare(b"real")
        if aspect == "all":
            version = "%d.%d.%d" % sys.version_info[:3]
            report((probe.probe_version() or b"").decode().startswith(version), "its version")
            aspect_kinds()
            aspect_capacity()
            aspect_lines()
            aspect_reuse()
            aspect_sums()
            aspect_trails()
            aspect_stress()
            aspect_subinterpreter()
            aspect_cost()
            report(probe.probe_trouble() is None, "no trouble with it")
        elif aspect == "end":
            aspect_end()
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
