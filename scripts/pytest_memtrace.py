"""A plugin of pytest: a test fails when it takes or leaves more GPU memory than it may.

    import pytest

    @pytest.mark.limit_gpu_memory("2 GiB")
    def test_step(model): ...

    @pytest.mark.limit_gpu_memory("2 GiB", leak="0")
    def test_frees_all(model): ...

One file, nothing to install: put it where Python finds it (PYTHONPATH, or beside conftest.py), and

    python -m pytest -p pytest_memtrace --memtrace

starts itself anew with the library preloaded, before anything is collected. So does each worker of pytest-xdist.
`memtrace run -- python -m pytest -p pytest_memtrace` does as well.

The limit is what the test adds to what was allocated when it began, at its highest, over all threads and devices; the
leak is what is allocated at its end and was not at its beginning, once Python's garbage is collected. What fixtures
do is no part of either. A failure names the call sites. `--limit-gpu-memory SIZE` and `--limit-gpu-leak SIZE` are for
tests whose mark does not say. What a test with a limit took is a property of its report (gpu_memory_added,
gpu_memory_left), so JUnit XML has it too, and the greediest tests of all stand at the end. Without memtrace in the
process the marks do nothing, and a warning says so.
"""
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

MARK = "limit_gpu_memory"
AGAIN = "PYTEST_MEMTRACE"  # set in the process that was started anew
SITES = 5  # shown with a failure
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]iB|B)?\s*")
PHASE = "pytest "  # a test is the phase "pytest NUMBER NODEID"


def pytest_addoption(parser):
    group = parser.getgroup("memtrace")
    group.addoption("--memtrace", action="store_true", default=False,
                    help="start anew with memtrace's library preloaded")
    group.addoption("--memtrace-tool", metavar="PATH", default=os.environ.get("MEMTRACE_BIN", "memtrace"),
                    help="the tool (default: MEMTRACE_BIN, or memtrace in PATH)")
    group.addoption("--memtrace-top", metavar="N", type=int, default=10,
                    help="so many of the greediest tests at the end (default: 10)")
    group.addoption("--limit-gpu-memory", metavar="SIZE", default=None,
                    help="the most GPU memory that a test may take whose mark does not say: 2 GiB")
    group.addoption("--limit-gpu-leak", metavar="SIZE", default=None,
                    help="the most GPU memory that a test may leave whose mark does not say: 0")


def run_tool(tool, *words):
    """The tool, which is not traced itself."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run([tool, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, check=False)


def preload(options):
    """Starts this very process anew with the library, if that is asked and it is not there."""
    again = os.environ.pop(AGAIN, None)
    # A worker has its environment from the process that made it.
    if not getattr(options, "memtrace", False) or "PYTEST_XDIST_WORKER" in os.environ:
        return
    if hasattr(ctypes.CDLL(None), "memtrace_push"):
        return
    if again:
        raise pytest.UsageError("--memtrace: the library could not be preloaded (" + os.environ.get("LD_PRELOAD", "") + ")")
    tool = shutil.which(options.memtrace_tool)
    if not tool:
        raise pytest.UsageError("--memtrace: there is no " + options.memtrace_tool + " in PATH: give --memtrace-tool PATH")
    # As `memtrace run` would, beside the preloads that are there.
    told = subprocess.run([tool, "run", "-q", "--", sys.executable, "-c", "import os; print(os.environ['LD_PRELOAD'])"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if told.returncode:
        raise pytest.UsageError("--memtrace: " + told.stderr.strip())
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(b"\0")[1:-1]
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ["LD_PRELOAD"] = told.stdout.strip()
    os.environ[AGAIN] = "1"
    os.execv(sys.executable, [os.fsencode(sys.executable), *words])


# In front of what catches output, which puts files in the place of the terminal; a plugin that a conftest.py names
# comes too late for it, and has pytest_configure, when that is over.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    preload(early_config.known_args_namespace)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    preload(config.option)
    config.addinivalue_line("markers", f"{MARK}(limit=None, leak=None): the most GPU memory that the test may take, and leave")
    config.pluginmanager.register(Limits(config), "memtrace-limits")


def limits_of(item):
    """(the most to take, the most to leave) as text, None where there is no limit."""
    options = item.config.option
    limits = {"limit": options.limit_gpu_memory, "leak": options.limit_gpu_leak}
    mark = item.get_closest_marker(MARK)
    if mark is not None:
        given = dict(zip(("limit",), mark.args), **mark.kwargs)
        if len(mark.args) > 1 or not given or set(given) - set(limits) or (mark.args and "limit" in mark.kwargs):
            raise pytest.UsageError(f'{item.nodeid}: wanted is @pytest.mark.{MARK}("2 GiB", leak="0")')
        limits.update(given)
    return tuple(None if size is None else str(size) for size in limits.values())


def spool():
    """What this process records into: mapped by the library from the first CUDA allocation on."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[5:]
            if path and path[0].endswith(".spool"):
                return path[0]
    return None


class ToolFailed(Exception):
    """The text is what it said."""


def size_of(text):
    found = SIZE.fullmatch(text)
    if not found:
        raise ToolFailed(f"{text!r} is no size, such as 2 GiB")
    return float(found[1]) * UNITS[found[2] or "B"]


def words_of(size):
    unit = "GiB" if abs(size) >= 2**30 else "MiB" if abs(size) >= 2**20 else "KiB" if abs(size) >= 2**10 else "B"
    return f"{size} B" if unit == "B" else f"{size / UNITS[unit]:.2f} {unit}"


class Limits:
    def __init__(self, config):
        program = ctypes.CDLL(None)
        self.config = config
        self.push = getattr(program, "memtrace_push", None)
        self.pop = getattr(program, "memtrace_pop", None)
        self.tool = shutil.which(config.option.memtrace_tool)
        self.count = 0
        self.warned = False
        self.rows = []  # (bytes added, bytes left, test), of workers, too

    def ready(self):
        if self.push and self.tool:
            return True
        if not self.warned:
            self.warned = True
            why = "memtrace is not found" if self.push else "run it with --memtrace, or under memtrace run"
            self.config.issue_config_time_warning(
                pytest.PytestWarning(f"GPU memory is not limited: {why}"), stacklevel=2)
        return False

    def sites(self, path, *words):
        """What a report says of call sites, below its heading."""
        done = run_tool(self.tool, "report", path, "--limit", str(SITES), *words)
        text = done.stdout if done.returncode == 0 else done.stderr
        return text[text.find("\n\n") + 2:].rstrip()

    def added(self, path, name, limit):
        """(bytes, whether that is too much) or the tool's complaint."""
        number = name[len(PHASE):].split(" ")[0]
        done = run_tool(self.tool, "check", path, "--format", "json",
                        "--max", f"allocated.added[phase={PHASE}{number} *]<={limit}")
        if done.returncode not in (0, 1):
            raise ToolFailed(done.stderr.strip())
        gate = json.loads(done.stdout)["gates"][0]
        return gate["head"], gate["broken"]

    def phases(self, path, *words):
        """(bytes added, bytes left, name) of each test."""
        done = run_tool(self.tool, "report", path, "--show", "phases", "--limit", "0", "--json", *words)
        if done.returncode != 0:
            raise ToolFailed(done.stderr.strip())
        return [(row["above_start_bytes"], row["growth_bytes"], row["name"])
                for row in json.loads(done.stdout)["phases"] if row["name"].startswith(PHASE)]

    def check(self, name, limit, leak):
        """({property: bytes}, None or why that is too much); a tool that fails is a failed test."""
        path = spool()
        found, reasons = {}, []
        try:
            if limit is not None:
                size, broken = self.added(path, name, limit) if path else (0, False)
                found["gpu_memory_added"] = size
                if broken:
                    reasons.append(f"it took {words_of(size)} of GPU memory, the limit is {limit}\n" +
                                   self.sites(path, "--at", "phase:" + name))
            if leak is not None:
                most = size_of(leak)
                size = next((row[1] for row in self.phases(path) if row[2] == name), 0) if path else 0
                found["gpu_memory_left"] = size
                if size > most:
                    reasons.append(f"it left {words_of(size)} of GPU memory, the limit is {leak}\n" +
                                   self.sites(path, "--from", "phase:" + name, "--to", "phase:" + name, "--show", "lines"))
        except ToolFailed as failed:
            reasons.append(str(failed))
        return found, "\n".join(reasons) or None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        limit, leak = limits_of(item)
        limited = (limit, leak) != (None, None)
        # Every test is a phase, so that the greediest are known, and named in a trace.
        if not (self.push and self.tool) and not (limited and self.ready()):
            yield
            return
        self.count += 1
        name = f"{PHASE}{self.count} {item.nodeid}"
        self.push(name.encode())
        outcome = yield
        if leak is not None and outcome.excinfo is None:  # else a traceback still holds what the test held
            gc.collect()
        self.pop()
        if limited:
            found, item.memtrace_why = self.check(name, limit, leak if outcome.excinfo is None else None)
            item.user_properties.extend(found.items())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        why = getattr(item, "memtrace_why", None)
        if call.when == "call" and report.passed and why:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: {why}"

    def pytest_sessionfinish(self, session):
        path = spool() if self.push and self.tool and self.count else None
        if path is None:
            return
        try:
            rows = [(added, left, name.split(" ", 2)[2]) for added, left, name in self.phases(path)]
        except ToolFailed as failed:
            self.config.issue_config_time_warning(pytest.PytestWarning(str(failed)), stacklevel=2)
            return
        if hasattr(session.config, "workeroutput"):  # of pytest-xdist: it goes to the process that has the terminal
            session.config.workeroutput["memtrace"] = rows
        else:
            self.rows.extend(rows)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.rows.extend(getattr(node, "workeroutput", {}).get("memtrace", []))

    def pytest_terminal_summary(self, terminalreporter):
        rows = sorted((row for row in self.rows if row[0] > 0), key=lambda row: (-row[0], row[2]))
        rows = rows[:self.config.option.memtrace_top]
        if not rows:
            return
        terminalreporter.section("GPU memory: the greediest tests")
        terminalreporter.write_line("      added        left  test")
        for added, left, test in rows:
            terminalreporter.write_line(f"{words_of(added):>11} {words_of(left):>11}  {test}")
