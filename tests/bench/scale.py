#!/usr/bin/env python3
"""What an event costs as everything becomes much: tables with the slope from each line to the next.

scale.py [-o FILE] [--small] BUILD [GROUP...]: tests/e2e/scale does the work, of which these are the lines. A table
is flat where its slope is 1: so many times as much costs so many times as much.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from machine import state
from result import figure

# group: what becomes much, how much of it
GROUPS = {
    "events": ("events", 10**8),
    "stacks": ("distinct stacks", 10**6),
    "live": ("live blocks", 10**7),
    "threads": ("threads", 64),
}


def run(build, folder, group, most):
    """The lines of tests/e2e/scale as numbers; behind each the bytes its spool has by then."""
    spool = os.path.join(folder, "t.spool")
    environment = dict(os.environ, LD_PRELOAD=os.path.join(build, "libmemtrace.so"), MEMTRACE_QUIET="1",
                       LD_LIBRARY_PATH=os.path.join(build, "fake"), MEMTRACE_SPOOL_DIR=folder,
                       MEMTRACE_OUTPUT=os.path.join(folder, "none", "t.json"))
    with subprocess.Popen([os.path.join(build, "tests/e2e/scale"), group, str(most)], env=environment,
                          stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield [float(word) for word in line.split()] + [os.stat(spool).st_blocks * 512]
    if process.returncode:
        raise SystemExit(f"bench-scale: scale {group}: status {process.returncode}")
    os.unlink(spool)


def cells(words, widths=(18, 14, 14, 14, 16, 14, 14)):
    print("  ".join(f"{word:>{width}}" for word, width in zip(words, widths)), flush=True)


def told_growth(lines, what):
    """Time of one that is new and of one that adds nothing; memory that each new one takes; slopes of both."""
    cells((what, "a new one", "a known one", "slope", "resident", "bytes each", "slope"))
    rows, before = [], None
    for count, new, known, kib, spool in lines:
        row = {"count": int(count), "new_ns": new, "known_ns": known, "resident": kib * 1024, "spool": spool}
        if before:
            row["known_slope"] = known / before["known_ns"]
            row["bytes_each"] = (row["resident"] - before["resident"]) / (count - before["count"])
            if before.get("bytes_each"):
                row["bytes_slope"] = row["bytes_each"] / before["bytes_each"]
        rows.append(row)
        before = row
        cells((f"{int(count):,}", figure(new, "ns"), figure(known, "ns"), told(row, "known_slope", "x"),
               figure(row["resident"] / 2**20, "MiB"), told(row, "bytes_each", "bytes"), told(row, "bytes_slope", "x")))
    return rows


def told(row, key, unit):
    return figure(row[key], unit) if key in row else ""


def told_threads(lines, what):
    """CPU time of an event by threads, with and without, and how much more often threads wait."""
    cells((what, "recorded", "off", "added", "switches/1,000", "off", "slope"))
    rows, first = [], None
    for count, on, off, waits_on, waits_off, _ in lines:
        first = first or on - off
        row = {"count": int(count), "on_ns": on, "off_ns": off, "slope": (on - off) / first,
               "switches_on": waits_on, "switches_off": waits_off}
        rows.append(row)
        cells((int(count), figure(on, "ns"), figure(off, "ns"), figure(on - off, "ns"), f"{waits_on:.2f}",
               f"{waits_off:.2f}", figure(row["slope"], "x")))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("build")
    parser.add_argument("groups", nargs="*", metavar="group", choices=[[], *GROUPS])
    words = parser.parse_intermixed_args()
    machine = state(words.build)
    print(", ".join(f"{key} {value}" for key, value in machine.items()))
    tables = {}
    for group, (what, most) in GROUPS.items():
        if words.groups and group not in words.groups:
            continue
        print()
        tell = told_threads if group == "threads" else told_growth
        with tempfile.TemporaryDirectory() as folder:
            tables[group] = tell(run(words.build, folder, group, min(most, 10**5) if words.small else most), what)
    with open(words.output or os.path.join(words.build, "bench-scale.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "memtrace-bench-scale/1", "machine": machine, "tables": tables}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
