#!/usr/bin/env python3
"""Compares a trace with what PyTorch said at each mark "torch ALLOCATED RESERVED" in it.

marks.py TRACE [name=value ...]: the pool torch, replayed from the events, must equal each mark to
the byte, and the summary's peaks and ends the given figures (peak_allocated, peak_reserved,
allocated, reserved). Prints one line; ends with 1 if anything differs.
"""
import json
import sys


def main():
    trace = json.load(open(sys.argv[1]))
    wanted = dict(word.split("=") for word in sys.argv[2:])
    allocated = reserved = marks = wrong = 0
    for event in trace["events"]:
        sign = {"alloc": 1, "reserve": 1, "free": -1, "release": -1}.get(event["op"], 0)
        if event.get("pool") == "torch" and sign:
            if event["op"] in ("alloc", "free"):
                allocated += sign * event["size"]
            else:
                reserved += sign * event["size"]
        if event["op"] == "mark" and event["name"].startswith("torch "):
            marks += 1
            said = tuple(map(int, event["name"].split()[1:]))
            if said != (allocated, reserved):
                wrong += 1
                if wrong < 10:
                    print(f"seq {event['seq']}: PyTorch says {said}, the trace {(allocated, reserved)}")
    pool = next(p for d in trace["summary"]["devices"] for p in d["pools"] if p["pool"] == "torch")
    figures = {
        "peak_allocated": pool["allocated"]["peak_bytes"],
        "peak_reserved": pool["reserved"]["peak_bytes"],
        "allocated": pool["allocated"]["exit_bytes"],
        "reserved": pool["reserved"]["exit_bytes"],
    }
    for name, value in wanted.items():
        if figures[name] != int(value):
            wrong += 1
            print(f"{name}: PyTorch says {value}, the trace {figures[name]}")
    print(f"{marks} marks compared, {wrong} differ; {len(trace['events'])} events")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
