#!/usr/bin/env python3
"""What memtrace costs on this GPU: runs tests/gpu/bench.py, a process a stack mode, and tells the rows.

gpu.py BUILD OUT.json: the library is BUILD/libmemtrace.so.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from machine import said, state
from result import Results

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu", "bench.py")
STACKS = {"none": "none", "native": "native", "python": "python", "all": "python,native"}


def sampled(build, what, stacks):
    """The samples of one process and what its trace says an event cost, if it says so."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        environment = dict(os.environ, LD_PRELOAD=os.path.join(build, "libmemtrace.so"), MEMTRACE_STACKS=stacks,
                           MEMTRACE_QUIET="1", MEMTRACE_OUTPUT=trace)
        done = subprocess.run([sys.executable, WORK, what], env=environment, check=True, stdout=subprocess.PIPE)
        with open(trace, encoding="utf-8") as file:
            capture = next(line for line in file if line.startswith('"capture"'))
    told = json.loads("{" + capture.rstrip().rstrip(",") + "}")["capture"]
    return json.loads(done.stdout), told


def added(samples, mode, share=1):
    return [(value - off) / share for value, off in zip(samples[mode], samples["off"])]


def ratio(samples, mode):
    return [value / off for value, off in zip(samples[mode], samples["off"])]


def events(results, build):
    for name, stacks in STACKS.items():
        samples, told = sampled(build, "events", stacks)
        ours = added(samples, "memtrace")
        results.add(f"gpu.event.{name}", ours)
        if name != "all":
            continue
        for mode in ("none", "python", "all"):
            results.add(f"gpu.recorder.{mode}", added(samples, f"recorder {mode}"))
        results.add("gpu.recorder.ratio",
                    [theirs / mine for theirs, mine in zip(added(samples, "recorder all"), ours)])
        results.add("gpu.told", told["ns_per_event"] / statistics.median(ours))


def steps(results, build):
    results.add("gpu.step.none", ratio(sampled(build, "step", "none")[0], "memtrace"))
    samples, _ = sampled(build, "step", STACKS["all"])
    results.add("gpu.step.all", ratio(samples, "memtrace"))
    for mode in ("none", "python", "all"):
        results.add(f"gpu.step.recorder.{mode}", ratio(samples, f"recorder {mode}"))
    results.add("gpu.matmul", ratio(sampled(build, "matmul", STACKS["all"])[0], "memtrace"))


def pairs(results, build):
    for what in ("pairs", "small"):
        samples, _ = sampled(build, what, STACKS["all"])
        results.add(f"gpu.{what}", ratio(samples, "memtrace"))
        results.add(f"gpu.{what}.added", added(samples, "memtrace", 2))


def looked_at(results, build):
    """Steps of a training while `memtrace top` looks at it, once a second, and while it does not, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        times = os.path.join(folder, "steps")
        environment = dict(os.environ, LD_PRELOAD=os.path.join(build, "libmemtrace.so"), MEMTRACE_QUIET="1",
                           MEMTRACE_OUTPUT=os.path.join(folder, "trace.json"))
        training = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(WORK), "top.py"), times],
                                    env=environment)
        medians = {True: [], False: []}
        for turn in range(-1, 12):  # the first is not counted: it warms up
            look = turn > 0 and turn % 2 == 1
            top = look and subprocess.Popen([os.path.join(build, "memtrace"), "top", str(training.pid), "--json"],
                                            stdout=subprocess.DEVNULL)
            before = len(taken(times))
            time.sleep(3 if turn >= 0 else 15)
            medians[look] += [statistics.median(taken(times)[before:])] if turn >= 0 else []
            if top:
                top.terminate()
                top.wait()
        training.kill()
        training.wait()
    results.add("gpu.top", [on / off for on, off in zip(medians[True], medians[False])])


def taken(path):
    """ns of the steps so far."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [int(line.split()[1]) for line in file if line.startswith("step ") and line.endswith("\n")]


def main(build, out):
    machine = state(build)
    versions = said(sys.executable, "-c", "import platform, torch; print(torch.__version__, platform.python_version())")
    machine["PyTorch"], machine["Python"] = versions.split()
    results = Results(machine, out)
    events(results, build)
    steps(results, build)
    pairs(results, build)
    looked_at(results, build)
    results.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
