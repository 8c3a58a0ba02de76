#!/usr/bin/env python3
"""What memtrace costs on this machine, with the simulated CUDA: tells the rows of rows_and_budgets.py that need no GPU.

cpu.py [-o FILE] [--small] BUILD [WORD...]: with words only the groups of that name; --small: a tenth of everything,
to try this script itself.
"""
import argparse
import contextlib
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from machine import state
from result import Results

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DEBIAN_PYTHON = "/usr/bin/python3"  # the one that has PyTorch for the CPU


class Bench:
    def __init__(self, build, small, folder, results):
        self.build, self.folder, self.results = build, folder, results
        self.scale = 10 if small else 1
        self.million = 1000000 // self.scale

    def path(self, name):
        return os.path.join(self.folder, name)

    def built(self, name):
        return os.path.join(self.build, name)

    def environment(self, traced=True, **more):
        words = dict(os.environ, LD_LIBRARY_PATH=self.built("fake"), MEMTRACE_QUIET="1",
                     MEMTRACE_OUTPUT=self.path("trace.json"), **more)
        words.pop("LD_PRELOAD", None)
        if traced:
            words["LD_PRELOAD"] = self.built("libmemtrace.so")
        return words

    def use(self, *command, **environment):
        """CPU seconds of one command and the most MiB it had."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment or None)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"bench: {' '.join(command)}: status {process.returncode}")
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def memtrace(self, *words):
        return self.use(self.built("memtrace"), *words)

    def generate(self, *words):
        subprocess.run([self.built("tests/generator"), *map(str, words)], check=True, stdout=subprocess.DEVNULL)

    def capture(self):
        """What the last traced program's document says of its recording; the document goes."""
        with open(self.path("trace.json"), encoding="utf-8") as file:
            line = next(line for line in file if line.startswith('"capture"'))
        os.unlink(self.path("trace.json"))
        return json.loads("{" + line.rstrip().rstrip(",") + "}")["capture"]

    def pairs(self, mode, stacks=None):
        """(on, off) CPU ns of an event in each round; untraced without `stacks`."""
        environment = self.environment(stacks is not None, MEMTRACE_STACKS=stacks or "none")
        said = subprocess.run([self.built("tests/e2e/bench"), mode, "30", str(40000 // self.scale), "31"],
                              env=environment, check=True, capture_output=True, text=True).stdout
        return [tuple(map(float, line.split())) for line in said.splitlines() if "=" not in line]


def untraced(bench):
    return statistics.median(off for _, off in bench.pairs("driver"))


def events(bench):
    for mode in ("driver", "block"):
        for stacks in ("none", "native"):
            # What is off is held beside another process: one ahead of it and one behind it, for machines change.
            plain = [untraced(bench)] if (mode, stacks) == ("driver", "none") else []
            rounds = bench.pairs(mode, stacks)
            added = [on - off for on, off in rounds]
            capture = bench.capture()
            bench.results.add(f"event.{mode}.{stacks}", added)
            if plain:
                plain.append(untraced(bench))
                bench.results.add("off", [(off - statistics.mean(plain)) / 2 for _, off in rounds])
        bench.results.add(f"told.{mode}", capture["cost"][mode]["ns_per_event"] / statistics.median(added))


def tensors(bench):
    if subprocess.run([DEBIAN_PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        return
    for name, stacks in (("none", "none"), ("all", "python,native")):
        environment = bench.environment(MEMTRACE_CPU="1", MEMTRACE_STACKS=stacks)
        said = subprocess.run([DEBIAN_PYTHON, os.path.join(TOP, "tests/gpu/bench.py"), "cpu"], env=environment,
                              check=True, capture_output=True, text=True).stdout
        samples = json.loads(said)
        bench.capture()
        bench.results.add(f"event.cpu.{name}", [on - off for on, off in zip(samples["memtrace"], samples["off"])])


def instructions(bench):
    with open(os.path.join(TOP, "tests/data/instructions.txt"), encoding="utf-8") as file:
        for line in file:
            name, count = line.split(None, 1)
            if name != "compiler":
                bench.results.add(f"instructions.{name}", float(count))


def ranges(bench):
    counts = (bench.million // 10, bench.million)
    few, many = (bench.use(bench.built("tests/e2e/ranges"), str(count), **bench.environment()) for count in counts)
    more = counts[1] - counts[0]
    bench.results.add("range.ns", (many[0] - few[0]) * 1e9 / more)
    bench.results.add("range.bytes", (many[1] - few[1]) * 2**20 / more)


def spent():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def started(command, environment, times):
    begin = spent()
    for _ in range(times):
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return spent() - begin


def starts(bench):
    """CPU time of starting and ending, and the same with an empty library: what any preload costs here."""
    empty, source, compiler = bench.path("empty.so"), bench.path("small.c"), os.environ.get("CC", "cc")
    with open(source, "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", empty, "-x", "c", os.devnull], check=True)
    subshells = "i=0; while [ $i -lt 100 ]; do (:); i=$((i + 1)); done"
    commands = {"ls": ["ls", "/"], "sh": ["sh", "-c", ":"], "python": [sys.executable, "-c", "pass"],
                "cc": [compiler, "-c", source, "-o", bench.path("small.o")], "true": ["/bin/true"],
                "subshells": ["sh", "-c", subshells]}
    environments = {"alone": bench.environment(False), "ours": bench.environment(True),
                    "empty": dict(bench.environment(False), LD_PRELOAD=empty)}
    for name, command in commands.items():
        # A round is long enough for the clock of processes, and its three kinds stand side by side: machines change.
        started(command, environments["ours"], 1)
        times = math.ceil(0.05 / max(started(command, environments["alone"], 1), 1e-4))
        ratios = {"ours": [], "empty": []}
        for _ in range(50 // bench.scale):
            took = {kind: started(command, environment, times) for kind, environment in environments.items()}
            for kind, each in ratios.items():
                each.append(took[kind] / took["alone"])
        bench.results.add(f"start.{name}", ratios["ours"])
        bench.results.add(f"start.{name}.empty", ratios["empty"])


def scaled(bench, *words):
    """tests/e2e/scale, that runs."""
    return subprocess.Popen([bench.built("tests/e2e/scale"), *map(str, words)],
                            env=bench.environment(MEMTRACE_SPOOL_DIR=bench.folder),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def own_memory(pid):
    """MiB of a process that are the library's: its spool, and what is mapped privately without a file."""
    own, total = False, 0
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        for line in file:
            if re.match(r"[0-9a-f]+-", line):
                words = line.split(None, 5)
                name = words[5].strip() if len(words) > 5 else ""
                own = not name or name.endswith(".spool") or "libmemtrace" in name
            elif own and line.startswith("Rss:"):
                total += int(line.split()[1])
    return total / 1024


def memory(bench):
    most = 100000 // bench.scale
    process = scaled(bench, "stacks", most, "wait")
    for line in process.stdout:
        if int(line.split()[0]) >= most:
            break
    bench.results.add("memory.stacks", own_memory(process.pid))
    looks = [bench.memtrace("top", str(process.pid), "--once", "--json")[0] * 1e3 for _ in range(10)]
    bench.results.add("top", looks)
    process.communicate()


def watched(bench):
    """Events of a process while `memtrace top` looks at it, once a second, and while it does not, in turns."""
    process = scaled(bench, "forever", 1)
    process.stdout.readline()
    ns = {True: [], False: []}
    for turn in range(20 if bench.scale == 1 else 4):
        look = turn % 2 == 1
        top = look and subprocess.Popen([bench.built("memtrace"), "top", str(process.pid), "--json"],
                                        stdout=subprocess.DEVNULL)
        process.stdout.readline()  # began before
        lines, end = [], time.monotonic() + 2
        while not lines or time.monotonic() < end:
            lines.append(float(process.stdout.readline()))
        ns[look].append(statistics.median(lines))
        if top:
            top.terminate()
            top.wait()
    process.kill()
    process.communicate()
    bench.results.add("top.slower", [on / off for on, off in zip(ns[True], ns[False])])


def page(bench, trace, prefix):
    if not os.path.exists(bench.built("page/page.html")):
        return
    made = bench.path("page.html")
    bench.results.add(f"{prefix}.make", bench.memtrace("html", trace, "-o", made)[0])
    bench.results.add(f"{prefix}.size", os.path.getsize(made) / 1e6)
    for view in ("flame", "map"):
        done = subprocess.run(["node", os.path.join(TOP, "tests/page/bench.mjs"), made, view], capture_output=True,
                              env=dict(os.environ, PAGE_MODULES=bench.built("page/work")), text=True, check=False)
        words = done.stdout.split()
        if len(words) >= 2:
            bench.results.add(f"{prefix}.open.{view}", float(words[0]))
            bench.results.add(f"{prefix}.zoom.{view}", float(words[1]))
    os.unlink(made)


def million(bench):
    small, large, trace = (bench.path(name) for name in ("m.spool", "b.spool", "m.json"))
    bench.generate("--events", bench.million, "--spool", small)
    bench.generate("--events", 2 * bench.million, "--spool", large)
    bench.results.add("spool.event", (os.path.getsize(large) - os.path.getsize(small)) / bench.million)
    os.unlink(large)
    bench.results.add("json", [bench.memtrace("recover", "--force", small, "-o", trace)[0] for _ in range(5)])
    bench.results.add("report.million", [bench.memtrace("report", trace)[0] for _ in range(5)])
    page(bench, trace, "page")
    os.unlink(trace)


def both(bench, id, *words, runs=3):
    used = [bench.memtrace(*words) for _ in range(runs)]
    bench.results.add(id, [seconds for seconds, _ in used])
    bench.results.add(f"{id}.memory", [mib for _, mib in used])


def ten_million(bench):
    trace = bench.path("x.json")
    bench.generate("--events", 10 * bench.million, "--max-events", 10 * bench.million, "--json", trace)
    page(bench, trace, "page.big")
    both(bench, "report", "report", trace)
    both(bench, "report.at", "report", "--at", "peak", trace)
    both(bench, "growth", "report", "--show", "growth", trace)
    both(bench, "diff", "diff", trace, trace)
    both(bench, "check", "check", trace, "--max", "allocated.peak<=1TiB")
    os.unlink(trace)


def ranks(bench):
    os.mkdir(bench.path("ranks"))
    bench.generate("--events", 3000, "--ranks", 1024 // bench.scale, "--json", bench.path("ranks/%r.json"))
    both(bench, "merge", "merge", bench.path("ranks"), runs=1)


GROUPS = (events, tensors, instructions, ranges, starts, memory, watched, million, ten_million, ranks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("build")
    parser.add_argument("groups", nargs="*", metavar="group", choices=[[], *(group.__name__ for group in GROUPS)])
    words = parser.parse_intermixed_args()
    results = Results(state(words.build), words.output or os.path.join(words.build, "bench.json"))
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        bench = Bench(os.path.abspath(words.build), words.small, folder, results)
        for group in GROUPS:
            if not words.groups or group.__name__ in words.groups:
                group(bench)
    results.close()


if __name__ == "__main__":
    sys.exit(main())
