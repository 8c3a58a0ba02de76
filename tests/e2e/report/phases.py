"""phases.py REPORT TRACE: what a report's JSON says of phases, counted anew from the trace's own."""
import collections
import json
import math
import re
import statistics
import sys

FOLD = 8  # names that differ in their number and are still told one by one


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def total(parts, key):
    counts = [part.get(key) for part in parts]  # traces before 1.0 lack them
    if any(count is None for count in counts):
        return None
    return {what: sum(count[what] for count in counts) for what in ("bytes", "count")}


def median(values):
    return math.floor(statistics.median(values)) if values else None


def sums(phases, parts):
    """Of some phases, in all, what they did on a device: `parts`."""
    kept, held = [part.get("kept") for part in parts], [part["allocated"] for part in parts]
    return {
        "allocated_peak_bytes": max(sums["peak_bytes"] for sums in held),
        "reserved_peak_bytes": max(part["reserved"]["peak_bytes"] for part in parts),
        "above_start_bytes": max(sums["peak_bytes"] - sums["start_bytes"] for sums in held),
        "growth_bytes": median([sums["end_bytes"] - sums["start_bytes"] for sums in held if sums["end_bytes"] is not None]),
        **{key: total(phases, key) for key in ("allocations", "freed")},
        "kept": None if None in kept else {what: median([count[what] for count in kept]) for what in ("bytes", "count")},
    }


def greatest(phase):
    return max(phase.get("devices") or [phase], key=lambda part: part["allocated"]["peak_bytes"])


def wanted(trace):
    families = collections.defaultdict(list)
    for phase in trace["phases"]:
        noted = re.match(r"([^#]+?)(:#.*=|#.*=.*#$)", phase["name"])  # what XLA notes: of one compilation
        stem = None if noted else re.match(r"(.+?)\d+$", phase["name"])
        key = (noted[1], "noted") if noted else (stem[1] + "#", "") if stem else (None, phase["name"])
        families[(*key, phase["domain"])].append(phase)
    groups = collections.defaultdict(list)
    for (stem, kind, domain), phases in families.items():
        fold = stem and len({phase["name"] for phase in phases}) > (1 if kind == "noted" else FOLD)
        for phase in phases:
            groups[stem if fold else phase["name"], domain].append(phase)
    for (name, domain), phases in groups.items():
        devices = sorted({part["device"] for phase in phases for part in phase.get("devices", [])})
        yield {
            "name": name, "domain": domain, "times": len(phases),
            "total_ns": sum(phase["end"] - phase["start"] for phase in phases if phase["end"] is not None),
            **sums(phases, [greatest(phase) for phase in phases]),
            "devices": [{"device": device, **sums(parts, parts)} for device in devices
                        for parts in [[part for phase in phases for part in phase.get("devices", [])
                                       if part["device"] == device]]],
        }


def main(report, trace):
    def key(row):
        return row["name"], row["domain"] or ""

    told, expected = sorted(load(report)["phases"], key=key), sorted(wanted(load(trace)), key=key)
    if told != expected:
        sys.exit(next(f"{a}, not {b}" for a, b in zip(told + [None], expected + [None]) if a != b))
    print(" ".join(row["name"] for row in told))


main(*sys.argv[1:])
