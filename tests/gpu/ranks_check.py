#!/usr/bin/env python3
"""Holds the traces of ranks.py, and what merge makes of them, to PyTorch's own figures.

ranks_check.py FOLDER MERGED: FOLDER has rank.N.json and figures.N.json of every rank, MERGED is the
document of `memtrace merge --json`. Of each rank: the pool torch, replayed from the events, equals every
mark "torch ALLOCATED RESERVED" to the byte; the peaks are PyTorch's; NCCL's memory is libnccl's; every
step is a phase with its three parts. Of the merged: the same peaks by rank, one card each, and the median
and highest of every site, counted anew. Prints what differs and a line a rank; ends with 1 if anything does.
"""
import glob
import json
import os
import statistics
import sys

wrong = []


def same(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: {found}, wanted {wanted}")


def replay(trace, device, rank):
    """(marks compared, pool's sums at the end of training)."""
    allocated = reserved = compared = 0
    held = None
    events = trace["events"]
    for at, event in enumerate(events):
        sign = {"alloc": 1, "reserve": 1, "free": -1, "release": -1}.get(event["op"], 0)
        if sign and event.get("pool") == "torch" and event["device"] == device:
            if event["op"] in ("alloc", "free"):
                allocated += sign * event["size"]
            else:
                reserved += sign * event["size"]
        if event["op"] != "mark":
            continue
        if event["name"] == "training ends":
            held = (allocated, reserved)
        elif event["name"].startswith("torch ") and event["name"] != "torch changed":
            later = next((e["name"] for e in events[at + 1:] if e["op"] == "mark"), None)
            if later == "torch changed":
                continue
            compared += 1
            said = tuple(map(int, event["name"].split()[1:]))
            same(f"rank {rank}, seq {event['seq']}: allocated and reserved", (allocated, reserved), said)
    return compared, held


def check_phases(trace, rank, steps):
    counts = {}
    for phase in trace["phases"]:
        counts[phase["name"]] = counts.get(phase["name"], 0) + 1
        if phase["end"] is None:
            wrong.append(f"rank {rank}: the phase {phase['name']} never ends")
    for number in range(steps):
        same(f"rank {rank}: phases named step {number}", counts.get(f"step {number}", 0), 1)
    for name in ("forward", "backward", "optimizer"):
        same(f"rank {rank}: phases named {name}", counts.get(name, 0), steps)


def check_rank(trace, told):
    rank = told["rank"]
    for key in ("rank", "world_size", "local_rank"):
        same(f"process.{key} of rank {rank}", trace["process"].get(key), told[key])
    compared, held = replay(trace, told["device"], rank)
    if compared < told["steps"]:
        wrong.append(f"rank {rank}: only {compared} marks of {told['steps']} steps")
    same(f"rank {rank}: held when training ends", held, (told["allocated"], told["reserved"]))
    device = next(d for d in trace["summary"]["devices"] if d["device"] == told["device"])
    pool = next(p for p in device["pools"] if p["pool"] == "torch")
    same(f"rank {rank}: peak of allocated", pool["allocated"]["peak_bytes"], told["peak_allocated"])
    same(f"rank {rank}: peak of reserved", pool["reserved"]["peak_bytes"], told["peak_reserved"])
    nccl = [o for o in device["owners"] if o["owner"].startswith("libnccl")]
    if not nccl or not nccl[0]["reserved"]["peak_bytes"]:
        wrong.append(f"rank {rank}: nothing under libnccl, but {[o['owner'] for o in device['owners']]}")
    check_phases(trace, rank, told["steps"])
    return (f"rank {rank}: {compared} marks, allocated {told['peak_allocated']:,}, reserved "
            f"{told['peak_reserved']:,}, libnccl {nccl[0]['reserved']['peak_bytes'] if nccl else 0:,}")


def check_merged(merged, traces):
    same("merged world size", merged["world_size"], len(traces))
    same("merged missing ranks", merged["missing"], [])
    same("merged ranks", [r["rank"] for r in merged["ranks"]], sorted(traces))
    for row in merged["ranks"]:
        devices = {d["device"]: d for d in traces[row["rank"]]["summary"]["devices"]}
        for device in row["devices"]:
            for metric in ("allocated", "reserved", "used"):
                same(f"merged rank {row['rank']} device {device['device']} {metric}",
                     device[metric]["peak_bytes"],
                     (devices[device["device"]].get(metric) or {}).get("peak_bytes"))
    cards = [c for c in merged["cards"] if c["headroom_bytes"] is not None]
    same("merged cards", len(cards), len(traces))
    same("merged cards by UUID", len({c["uuid"] for c in cards}), len(traces))
    first = merged["first_to_run_out"]
    same("merged least headroom", first["headroom_bytes"], min(c["headroom_bytes"] for c in cards))
    for metric in ("allocated", "reserved"):
        row = next(i for i in merged["imbalance"] if i["metric"] == metric)
        peaks = sorted(max(d[metric]["peak_bytes"] for d in t["summary"]["devices"]) for t in traces.values())
        same(f"merged imbalance of {metric}", (row["median_bytes"], row["highest"]["bytes"]),
             (int(statistics.median(peaks)), peaks[-1]))


def main():
    folder = sys.argv[1]
    with open(sys.argv[2], encoding="utf-8") as file:
        merged = json.load(file)
    traces = {}
    for path in sorted(glob.glob(os.path.join(folder, "figures.*.json"))):
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        with open(os.path.join(folder, f"rank.{told['rank']}.json"), encoding="utf-8") as file:
            traces[told["rank"]] = json.load(file)
        print(check_rank(traces[told["rank"]], told))
    same("ranks that ended well", sorted(traces), list(range(merged["world_size"])))
    check_merged(merged, traces)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
