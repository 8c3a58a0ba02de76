#!/usr/bin/env python3
"""Compares a sample's trace with what the sample counted itself and what the simulated driver saw.

figures.py TRACE OUTPUT [--report FILE] [--prefix NAME.]: OUTPUT holds the sample's name=value lines,
FILE is what FAKE_CUDA_REPORT left. One line a difference; ends 1 when there is one.
"""
import argparse
import collections
import json
import sys

DEVICE_KINDS = ("plain", "array", "vmm", "pool", "managed", "imported")
NO_SUM = {"allocated": {"peak_bytes": 0, "exit_bytes": 0}, "allocations": 0, "frees": 0}
NO_DEVICE = dict(NO_SUM, reserved={"peak_bytes": 0, "exit_bytes": 0}, ooms=0, retries=0, pools=[])

wrong = []


def equal(what, told, found):
    if told != found:
        wrong.append(f"{what}: {told}, the trace says {found}")


def read_figures(path, prefix):
    figures = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, sign, value = line.strip().partition("=")
            if sign and name.startswith(prefix) and value.isdigit():
                figures[name[len(prefix):]] = int(value)
    return figures


class Trace:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        devices = self.document["summary"]["devices"]
        self.device = devices[0] if devices else NO_DEVICE
        self.events = [e for e in self.document["events"] if "space" in e]

    def space(self, name):
        spaces = self.document["summary"]["spaces"]
        return next((s for s in spaces if s["space"] == name), NO_SUM)

    def pool(self):
        """The pool that the program made itself: named, or the busier one of the driver's."""
        return max(self.device["pools"], key=lambda pool: pool["allocations"], default=None)

    def named_pool(self):
        return any(not p["pool"].startswith("async:") for p in self.device["pools"])

    def default_pool(self):
        return min(self.device["pools"], key=lambda pool: pool["allocations"], default=None)

    def functions(self, stack):
        frames = self.document["frames"]
        return {frames[i]["function"] for i in self.document["stacks"][stack]["frames"]}

    def live_by_function(self):
        """Bytes still held at the end, by every function on the stack that took them."""
        live = {}
        for event in self.events:
            if event["op"] == "alloc":
                live[event["ptr"]] = event
            elif event["op"] == "free":
                live.pop(event["ptr"], None)
        sums = collections.Counter()
        for event in live.values():
            for function in self.functions(event["stack"]):
                sums[function] += event["size"]
        return sums


def compare_own(own, trace):
    """The program's figures."""
    holder = trace.pool() if trace.named_pool() else trace.device
    for name in ("allocations", "frees"):
        if name in own:
            equal(name, own.pop(name), holder[name])
    for name, key in (("peak", "peak_bytes"), ("live", "exit_bytes")):
        if name in own:
            equal(name, own.pop(name), holder["allocated"][key])
        for space in ("managed", "pinned", "array"):
            if f"{space}.{name}" in own:
                equal(f"{space}.{name}", own.pop(f"{space}.{name}"),
                      trace.space(space)["allocated"][key])
        if f"reserved.{name}" in own:
            told = own.pop(f"reserved.{name}")
            equal(f"reserved.{name}", told, holder["reserved"][key])
            equal(f"device's reserved.{name}", told, trace.device["reserved"][key])
        if f"pool.{name}" in own:
            equal(f"pool.{name}", own.pop(f"pool.{name}"), trace.pool()["allocated"][key])
    if "ooms" in own:
        equal("ooms", own.pop("ooms"), trace.device["ooms"])
    if "asked" in own:
        equal("asked", [own.pop("asked")], [e["size"] for e in trace.events if e["op"] == "oom"])
    if "bytes" in own:
        equal("bytes", own.pop("bytes"), sum(e["size"] for e in trace.events if e["op"] == "alloc"))
    if "foreign" in own:
        found = [e["size"] for e in trace.events if e["op"] == "alloc" and e.get("foreign")]
        equal("foreign", [own.pop("foreign")], found)
    compare_pools(own, trace)
    compare_graphs(own, trace)
    compare_held(own, trace)
    by_function = trace.live_by_function()
    for name in [name for name in own if name.endswith(".live")]:
        equal(name, own.pop(name), by_function[name[:-5]])


def compare_pools(own, trace):
    """What the driver told the program about its pools; nobody hooks the trim at the end."""
    if "pool.used_high" in own:
        equal("pool.used_high", own.pop("pool.used_high"), trace.pool()["allocated"]["peak_bytes"])
        equal("pool.reserved", own.pop("pool.reserved"), trace.pool()["reserved"]["peak_bytes"])
    if "default.used" in own:
        default = trace.default_pool()
        equal("default.used", own.pop("default.used"), default["allocated"]["exit_bytes"])
        equal("default.reserved", own.pop("default.reserved"), default["reserved"]["exit_bytes"])


def compare_graphs(own, trace):
    """graph.*: what the driver said of graphs' memory, in this order, after calls that sample it."""
    told = {}
    for name in [name for name in own if name.startswith("graph.")]:
        _, when, metric = name.split(".")
        told.setdefault(when, {})[metric] = own.pop(name)
    if not told:
        return
    now, passed = {"reserved": 0, "used": 0}, [{"reserved": 0, "used": 0}]
    for event in (e for e in trace.events if e["pool"] == "graph"):
        sign = 1 if event["op"] in ("alloc", "reserve") else -1
        now["used" if event["op"] in ("alloc", "free") else "reserved"] += sign * event["size"]
        passed.append(dict(now))
    at = 0
    for when, state in told.items():
        later = [i for i in range(at, len(passed)) if passed[i] == state]
        if not later:
            equal(f"graph memory when {when}", state, passed[at:])
            return
        at = later[0]
    equal("graph memory at the end", state, now)


def compare_held(own, trace):
    """held.*: the device's sum passed through these values, in this order."""
    told = [own.pop(name) for name in list(own) if name.startswith("held.")]
    passed = [0] + [event["reserved"] for event in trace.events]
    at = 0
    for value in told:
        while at < len(passed) and passed[at] != value:
            at += 1
        if at == len(passed):
            equal("held", told, passed)
            return


def compare_report(report, trace):
    """The driver's own books."""
    spaces = {"managed": trace.space("managed"), "pinned": trace.space("pinned")}
    # A free is booked ahead of its call: among threads the driver's own peak may be higher.
    one_thread = len({event["thread"] for event in trace.events}) <= 1
    for kind, space in spaces.items():
        equal(f"driver's {kind}.current", report[kind]["current"], space["allocated"]["exit_bytes"])
        if one_thread:
            equal(f"driver's {kind}.peak", report[kind]["peak"], space["allocated"]["peak_bytes"])
        for name in ("allocations", "frees"):
            equal(f"driver's {kind}.{name}", report[kind][name], space[name])
    equal("driver's failures", report["failures"], trace.device["ooms"] + trace.device["retries"])
    if one_thread:
        equal("driver's reserved.peak", report["reserved"]["peak"],
              trace.device["reserved"]["peak_bytes"])
    if not trace.device["pools"]:  # what a pool keeps falls in calls that nobody hooks
        equal("driver's reserved.current", report["reserved"]["current"],
              trace.device["reserved"]["exit_bytes"])
    if trace.named_pool():
        return
    equal("driver's allocated.current", report["allocated"]["current"],
          trace.device["allocated"]["exit_bytes"])
    if one_thread:
        equal("driver's allocated.peak", report["allocated"]["peak"],
              trace.device["allocated"]["peak_bytes"])
    if any(pool["pool"] == "graph" for pool in trace.device["pools"]):
        return  # sampled, so not one event an allocation
    for name in ("allocations", "frees"):
        equal(f"driver's {name}", sum(report[kind][name] for kind in DEVICE_KINDS),
              trace.device[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("output")
    parser.add_argument("--report")
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    trace = Trace(options.trace)
    own = read_figures(options.output, options.prefix)
    compare_own(own, trace)
    if options.report:
        with open(options.report, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        pid = trace.document["process"]["pid"]
        mine = [line["all"] for line in lines if line["pid"] == pid]
        equal("driver's reports of the process", 1, len(mine))
        if mine:
            compare_report(mine[0], trace)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
