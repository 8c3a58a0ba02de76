"""A plugin of pytest: a test fails when it takes more GPU memory than it may.

    import pytest

    @pytest.mark.limit_gpu_memory("2 GiB")
    def test_step(model): ...

One file, nothing to install: put it where Python finds it (PYTHONPATH, or beside conftest.py), and

    memtrace run -- python -m pytest -p pytest_memtrace

The limit is what the test adds to what was allocated when it began, at its highest, over all threads
and devices. `--limit-gpu-memory SIZE` sets one for tests without the mark. What a test took is a
property of its report (gpu_memory_added), so JUnit XML has it too. Without memtrace in the process
the marks do nothing, and a warning says so.
"""
import ctypes
import json
import os
import shutil
import subprocess

import pytest

MARK = "limit_gpu_memory"


def pytest_addoption(parser):
    group = parser.getgroup("memtrace")
    group.addoption("--limit-gpu-memory", metavar="SIZE", default=None,
                    help="the most GPU memory that a test without a mark may take: 2 GiB")
    group.addoption("--memtrace", metavar="PATH", default=os.environ.get("MEMTRACE_BIN", "memtrace"),
                    help="the tool (default: MEMTRACE_BIN, or memtrace in PATH)")


def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARK}(size): the most GPU memory that the test may take")
    config.pluginmanager.register(Limits(config), "memtrace-limits")


def limit_of(item):
    """The size as text, None for a test without a limit."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return item.config.getoption("--limit-gpu-memory")
    if len(mark.args) != 1 or mark.kwargs:
        raise pytest.UsageError(f'{item.nodeid}: wanted is @pytest.mark.{MARK}("2 GiB")')
    return str(mark.args[0])


def spool():
    """What this process records into: mapped by the library from the first CUDA allocation on."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[5:]
            if path and path[0].endswith(".spool"):
                return path[0]
    return None


class Limits:
    def __init__(self, config):
        program = ctypes.CDLL(None)
        self.config = config
        self.push = getattr(program, "memtrace_push", None)
        self.pop = getattr(program, "memtrace_pop", None)
        self.tool = shutil.which(config.getoption("--memtrace"))
        self.count = 0
        self.warned = False

    def ready(self):
        if self.push and self.tool:
            return True
        if not self.warned:
            self.warned = True
            why = "memtrace is not found" if self.push else "run it as: memtrace run -- python -m pytest"
            self.config.issue_config_time_warning(
                pytest.PytestWarning(f"GPU memory is not limited: {why}"), stacklevel=2)
        return False

    def check(self, phase, limit):
        """(bytes added, None or why that is too much); a tool that fails is a failed test."""
        path = spool()
        if path is None:  # no CUDA allocation so far in this process
            return 0, None
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        done = subprocess.run(
            [self.tool, "check", path, "--format", "json",
             "--max", f"allocated.added[phase={phase} *]<={limit}"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            return None, done.stderr.strip()
        gate = json.loads(done.stdout)["gates"][0]
        why = None
        if gate["broken"]:
            why = f"it took {gate['head'] / 2**20:.2f} MiB of GPU memory, the limit is {limit}"
        return gate["head"], why

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        limit = limit_of(item)
        if limit is None or not self.ready():
            yield
            return
        self.count += 1
        phase = f"pytest {self.count}"
        self.push(f"{phase} {item.nodeid}".encode())
        yield
        self.pop()
        added, item.memtrace_why = self.check(phase, limit)
        if added is not None:
            item.user_properties.append(("gpu_memory_added", added))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        why = getattr(item, "memtrace_why", None)
        if call.when == "call" and report.passed and why:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: {why}"
