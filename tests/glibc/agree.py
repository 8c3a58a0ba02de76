"""What runs of the same programs under several glibcs recorded is the same: agree.py FOLDER FOLDER...

Sums, counts, peaks, phases and stacks are compared, one line for each difference. Times, addresses and ids
differ, and so do frames of what each system brings: libc, the loader, Python with its libffi, PyTorch.
"""
import json
import os
import re
import sys

THEIRS = re.compile(r"(libc|ld|libdl|libpthread|libpython|libffi|libc10|libtorch(_cpu|_python)?)[-.]|ld-linux|python3|_ctypes\.|linux-vdso")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def stack(trace, number):
    """The frames that are the program's, and CUDA's."""
    frames = []
    for index in trace["stacks"][number]["frames"] if number is not None else []:
        frame = trace["frames"][index]
        module = frame.get("module")
        name = os.path.basename(trace["modules"][module]["path"]) if module is not None else None
        if name and THEIRS.match(name) or "/lib/python3" in (frame.get("file") or ""):
            continue
        frames.append([frame["function"], name, os.path.basename(frame.get("file") or ""), frame.get("line"),
                       frame.get("offset")])
    return frames


def without(value, *keys):
    return {key: item for key, item in value.items() if key not in keys}


def facts(trace):
    """What must be the same. Threads that run at once reach another peak each time, in another order."""
    alone = len(trace["threads"]) == 1 or trace["process"]["command"][0].endswith("python3")
    yield "complete", [trace["capture"]["events_dropped"], trace["capture"]["truncated"], trace["capture"]["notes"]]
    yield "calls", sorted([call["api"], call["calls"], call["failed"]] for call in trace["calls"])
    events = []
    for event in trace["events"]:
        event = dict(without(event, "seq", "t", "ptr", "thread", "stack", "stream", "allocated", "reserved"),
                     frames=stack(trace, event.get("stack")))
        if alone:
            events.append(event)
        else:
            events.append(json.dumps(event, sort_keys=True))
    yield "events", events if alone else sorted(events)
    yield "sites", sorted((json.dumps([site["site"], site["allocations"], site["frees"], site["bytes"]])
                           for site in trace["sites"]))
    if not alone:
        return
    for device in trace["summary"]["devices"]:
        for metric in ("allocated", "reserved", "used"):
            yield f"{metric} of device {device['device']}", without(device[metric], "peak_t")
    yield "spaces", [dict(space, allocated=without(space["allocated"], "peak_t")) for space in trace["summary"]["spaces"]]
    yield "peaks", [[peak["device"], peak["pool"], peak["metric"], peak["bytes"], peak["count"],
                     [[stack(trace, row["stack"]), row["bytes"], row["count"]] for row in peak["stacks"]]]
                    for peak in trace["peaks"]]
    yield "phases", [without(phase, "thread", "start", "end") for phase in trace["phases"]]


def miscounted(folder):
    """What the sample counted itself, where the trace says otherwise."""
    with open(os.path.join(folder, "leak.out"), encoding="utf-8") as file:
        own = dict(line.split("=") for line in file.read().split())
    trace = load(os.path.join(folder, "leak.json"))
    allocated = trace["summary"]["devices"][0]["allocated"]
    calls = {call["api"]: call["calls"] for call in trace["calls"]}
    recorded = {"allocations": calls["cudaMalloc"], "frees": calls["cudaFree"], "peak": allocated["peak_bytes"],
                "live": allocated["exit_bytes"]}
    return [f"{key} is {value}, counted were {own[key]}" for key, value in recorded.items() if str(value) != own[key]]


def main(folders):
    differences = 0
    for folder in folders:
        for line in miscounted(folder):
            print(f"{folder}/leak.json: {line}")
            differences += 1
    names = sorted(name for name in os.listdir(folders[0]) if name.endswith(".json"))
    for name in names:
        first = dict(facts(load(os.path.join(folders[0], name))))
        if not first["events"] or not any(event for event in first["events"]):
            print(f"{folders[0]}/{name}: no events")
            differences += 1
        for folder in folders[1:]:
            if sorted(other for other in os.listdir(folder) if other.endswith(".json")) != names:
                print(f"{folder}: other traces than in {folders[0]}")
                differences += 1
            other = dict(facts(load(os.path.join(folder, name))))
            for fact in sorted(first.keys() | other.keys()):
                if first.get(fact) != other.get(fact):
                    print(f"{name}: {fact}\n  {folders[0]}: {json.dumps(first.get(fact))[:400]}\n"
                          f"  {folder}: {json.dumps(other.get(fact))[:400]}")
                    differences += 1
    return differences


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
