#!/usr/bin/env python3
"""A sampled run beside one with every stack: estimates.py SAMPLED EXACT.

Sums and peaks must be equal; each site's estimates may be off by what chance allows: a sum of B bytes of
samples I bytes apart has a standard deviation of at most sqrt(B * I), and five of them are never seen.
One line a difference; ends 1 when there is one.
"""
import json
import math
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    sampled = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    exact = json.load(file)
interval = sampled["capture"]["sample_bytes"]
wrong = []

for told, true in zip(sampled["summary"]["devices"], exact["summary"]["devices"]):
    for part, other in [(told, true)] + list(zip(told["pools"], true["pools"])):
        for metric in ("allocated", "reserved"):
            for key in ("peak_bytes", "exit_bytes"):
                if part[metric][key] != other[metric][key]:
                    wrong.append(f"{part.get('pool', 'device')}: {metric}.{key}: {part[metric][key]}, not {other[metric][key]}")
        for key in ("allocations", "frees"):
            if part[key] != other[key]:
                wrong.append(f"{part.get('pool', 'device')}: {key}: {part[key]}, not {other[key]}")
for peak in sampled["peaks"]:
    if sum(share["bytes"] for share in peak["stacks"]) != peak["bytes"]:
        wrong.append(f"a peak of {peak['metric']} is not the sum of its stacks")

sites = {(s["site"], s["space"]): s for s in sampled["sites"]}
largest = 0
for site in exact["sites"]:
    found = sites.get((site["site"], site["space"]), {})
    for key in ("bytes", "live_bytes", "peak_bytes"):
        true, told = site[key], found.get("estimated_" + key, 0)
        bound = 5 * math.sqrt(max(true, interval) * interval)
        if abs(told - true) > bound:
            wrong.append(f"{site['site']}: {key} is estimated at {told}, it is {true}")
        if true > 100 * interval:
            largest = max(largest, abs(told - true) / true)
print("\n".join(wrong or [f"{len(exact['sites'])} sites; of those above 100 samples the worst is off by {largest:.1%}"]))
sys.exit(bool(wrong))
