#!/usr/bin/env python3
"""Compares what rows.c says of each call with its trace: rows.py TRACE OUTPUT [ROWS]

ROWS: a file with the names of all rows, as `memtrace hooks --names` has them. One line a
difference; ends 1 when there is one.
"""
import json
import sys

TOLD = ("alloc", "free", "map", "unmap", "oom", "reserve", "release")

wrong = []


def read_calls(path):
    """[{row, door, outcome, events: sorted [(op, space, size, foreign)], holds: {device: [4]}}]"""
    calls = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, *words = line.split()
            if kind == "row":
                calls.append({"row": words[0], "door": words[1], "outcome": " ".join(words[2:]),
                              "events": [], "holds": {}})
            elif kind == "event":
                op, space, size, foreign = words
                calls[-1]["events"].append((op, space, int(size), foreign == "1"))
            elif kind == "holds":
                calls[-1]["holds"][int(words[0])] = [int(word) for word in words[1:]]
    return calls


class Replay:
    """The sums as the events give them, kept here and not read from the events."""

    def __init__(self):
        self.sums = {}

    def add(self, event):
        if event["op"] not in ("alloc", "free", "reserve", "release") or event.get("foreign"):
            return
        sign = 1 if event["op"] in ("alloc", "reserve") else -1
        size, space = sign * event["size"], event["space"]
        if space in ("managed", "pinned"):
            self.move(space, size)
            return
        if event["op"] in ("alloc", "free"):
            self.move((event["device"], "allocated"), size)
        if event["op"] in ("reserve", "release") or not event["pool"]:
            self.move((event["device"], "reserved"), size)

    def move(self, key, size):
        self.sums[key] = self.sums.get(key, 0) + size

    def holds(self, holds):
        """What differs from the driver's books, which keep managed and pinned memory by device."""
        told = {}
        for device, (allocated, reserved, managed, pinned) in holds.items():
            told[device, "allocated"] = allocated
            told[device, "reserved"] = reserved
            told["managed"] = told.get("managed", 0) + managed
            told["pinned"] = told.get("pinned", 0) + pinned
        return [f"{key}: the driver holds {value}, the trace says {self.sums.get(key, 0)}"
                for key, value in told.items() if value != self.sums.get(key, 0)]


def compare(call, events, replay):
    where = f"{call['row']} through {call['door']}, {call['outcome']}"
    found = sorted((e["op"], e["space"], e["size"], bool(e.get("foreign")))
                   for e in events if e["op"] in TOLD and e["ptr"] or e["op"] == "oom")
    if found != sorted(call["events"]):
        wrong.append(f"{where}: wanted {sorted(call['events'])}, the trace has {found}")
    for name in {e["api"] for e in events if e["op"] in TOLD} - {call["row"]}:
        wrong.append(f"{where}: recorded as {name}")
    wrong.extend(f"{where}: {line}" for line in replay.holds(call["holds"]))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    calls = read_calls(sys.argv[2])
    replay, inside, at = Replay(), None, 0
    for event in document["events"]:
        if event["op"] == "mark" and event["name"] == "the row":
            inside = []
        elif event["op"] == "mark" and event["name"] == "has returned":
            compare(calls[at], inside, replay)
            inside, at = None, at + 1
        else:
            replay.add(event)
            if inside is not None:
                inside.append(event)
    if at != len(calls):
        wrong.append(f"{len(calls)} calls, {at} of them in the trace")
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as file:
            names = {line.strip() for line in file if line.startswith("cu")}
        for name in names - {call["row"] for call in calls}:
            wrong.append(f"{name}: never called")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
