#!/usr/bin/env python3
"""Holds the trace of an experiment (samples/*.py) to what it printed: experiments.py TRACE PRINTED.

Every row of two figures is compared: a step's (left allocated, peak above) with the phase of that name, a
counter's (allocated, reserved) with the pool at the mark of that name; the torch pool, from the events.
Prints one line; ends with 1 if anything differs or was not found.
"""
import json
import re
import sys


def figures_of(trace):
    """(name, kind) -> the figures, in order: what the pool torch did, from the events alone."""
    found = {}
    allocated = {}
    reserved = {}
    open_ranges = {}
    for event in trace["events"]:
        op, device = event["op"], event.get("device")
        if op == "push":
            # Peaks count from the reset, which comes just before the push.
            open_ranges.setdefault(event["thread"], []).append(
                [event["name"], allocated.get(0, 0), allocated.get(0, 0)])
        elif op == "pop" and open_ranges.get(event["thread"]):
            name, start, peak = open_ranges[event["thread"]].pop()
            found.setdefault(name, []).append((allocated.get(0, 0) - start, peak - start))
        elif op == "mark":
            found.setdefault(event["name"], []).append((allocated.get(0, 0), reserved.get(0, 0)))
        elif event.get("pool") == "torch" and op in ("alloc", "free"):
            sign = 1 if op == "alloc" else -1
            allocated[device] = allocated.get(device, 0) + sign * event["size"]
            for ranges in open_ranges.values():
                for each in ranges:
                    each[2] = max(each[2], allocated.get(0, 0))
        elif event.get("pool") == "torch" and op in ("reserve", "release"):
            sign = 1 if op == "reserve" else -1
            reserved[device] = reserved.get(device, 0) + sign * event["size"]
    return found


def main():
    found = figures_of(json.load(open(sys.argv[1])))
    rows = wrong = 0
    for line in open(sys.argv[2]):
        match = re.fullmatch(r"(\S.*?) +([-+\d,]+) +([-+\d,]+)\n", line)
        if not match or not match[1].strip() or line.startswith("|"):
            continue
        name = match[1]
        said = tuple(int(match[k].replace(",", "")) for k in (2, 3))
        rows += 1
        seen = found[name].pop(0) if found.get(name) else None
        if seen != said:
            wrong += 1
            print(f"{name}: PyTorch says {said}, the trace {seen}")
    print(f"{rows} rows compared, {wrong} differ")
    sys.exit(wrong > 0 or rows == 0)


if __name__ == "__main__":
    main()
