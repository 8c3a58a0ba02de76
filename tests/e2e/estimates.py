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

KEYS = ("bytes", "live_bytes", "peak_bytes")


def sums(sites, prefix):
    """By site and key. Which line a backward pass comes from is known by a block of the forward one,
    and only if that was a sample: without it the site is another, so such sites are taken as one."""
    by_site = {}
    for site in sites:
        name = site["site"]
        if "backward" in name:
            name = name.split(" from ")[0]
        mine = by_site.setdefault((name, site["space"]), dict.fromkeys(KEYS, 0))
        for key in KEYS:
            mine[key] += site.get(prefix + key, 0)
    return by_site


estimated = sums(sampled["sites"], "estimated_")
largest = 0
for site, figures in sums(exact["sites"], "").items():
    for key in KEYS:
        true, told = figures[key], estimated.get(site, {}).get(key, 0)
        bound = 5 * math.sqrt(max(true, interval) * interval)
        if abs(told - true) > bound:
            wrong.append(f"{site[0]}: {key} is estimated at {told}, it is {true}")
        if true > 100 * interval:
            largest = max(largest, abs(told - true) / true)
print("\n".join(wrong or [f"{len(exact['sites'])} sites; of those above 100 samples the worst is off by {largest:.1%}"]))
sys.exit(bool(wrong))
