#!/usr/bin/env python3
"""PyTorch's own history of a run beside the trace of the same run.

history.py run OUT: a small training under _record_memory_history; its history goes to OUT.
history.py compare OUT TRACE: same addresses in the same order, and the innermost Python line of at least
99% of the allocations; prints what differs by kind.
"""
import collections
import json
import pickle
import sys


def run(out):
    import ctypes

    import torch
    from torch import nn

    ctypes.CDLL(None).memtrace_mark(b"history begins")
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
    model = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        model(torch.randn(8, 32, 128, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    snapshot = torch.cuda.memory._snapshot()
    ctypes.CDLL(None).memtrace_mark(b"history ends")
    entries = [
        (e["action"], e["addr"], e["size"], [(f["filename"], f["line"], f["name"]) for f in e["frames"][:3]])
        for e in snapshot["device_traces"][0]
        if e["action"] in ("alloc", "free_requested")
    ]
    with open(out, "wb") as file:
        pickle.dump(entries, file)


def compare(out, path):
    theirs = pickle.load(open(out, "rb"))
    trace = json.load(open(path))
    marks = {e["name"]: e["seq"] for e in trace["events"] if e["op"] == "mark"}
    ours = [
        e for e in trace["events"]
        if e.get("pool") == "torch" and e["op"] in ("alloc", "free")
        and marks["history begins"] < e["seq"] < marks["history ends"]
    ]
    order = [({"alloc": "alloc", "free": "free_requested"}[e["op"]], int(e["ptr"], 16)) for e in ours]
    same = order == [(action, address) for action, address, _, _ in theirs]
    print(f"{len(theirs)} entries of PyTorch, {len(ours)} of the trace: order {'equal' if same else 'DIFFERS'}")
    kinds = collections.Counter()
    for (action, _, _, frames), event in zip(theirs, ours):
        if action != "alloc":
            continue
        python = [trace["frames"][i] for i in trace["stacks"][event["stack"]]["frames"]
                  if trace["frames"][i]["language"] == "python"]
        if not frames and not python:
            kinds["no Python frame in either"] += 1
        elif not frames or not python:
            kinds["a Python frame in one only"] += 1
        elif frames[0][:2] == (python[0]["file"], python[0]["line"]):
            kinds["equal"] += 1
        else:
            kinds["another line"] += 1
            print("theirs", frames[0], "ours", python[0])
    print(dict(kinds))
    good = kinds["equal"] + kinds["no Python frame in either"]
    sys.exit(0 if same and good >= 0.99 * sum(kinds.values()) else 1)


if __name__ == "__main__":
    {"run": run, "compare": compare}[sys.argv[1]](*sys.argv[2:])
