#!/usr/bin/env python3
"""Counts anew what `memtrace merge --json` says: merge.py MERGED.json TRACE.json...

Peaks, spreads and cards from the traces themselves; sites from what `memtrace diff` says of each trace
beside itself. Prints what differs; ends with 1 if anything does.
"""
import json
import os
import subprocess
import sys

METRICS = ("allocated", "reserved", "used")
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
wrong = []


def same(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: {found}, wanted {wanted}")


def median(values):
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low + (high - low) // 2


def peak(sums):
    return (sums or {}).get("peak_bytes")


def highest_of(device, metric):
    """Samples of used may miss a peak: at least what was reserved was used."""
    told = peak(device.get(metric))
    return told if metric != "used" or told is None else max(told, peak(device["reserved"]))


def sites_of(path):
    told = subprocess.run(["memtrace", "diff", "--full", "--format", "json", path, path], check=True,
                          stdout=subprocess.PIPE).stdout
    rows = [r for r in json.loads(told)["rows"] if r["dimension"] == "site"]
    return {(r["space"], r["name"]): {c: r["base"].get(c, 0) for c in ("allocated", "reserved", "exit")}
            for r in rows}


def check_ranks(merged, traces):
    same("ranks", [r["rank"] for r in merged["ranks"]], sorted(traces))
    for row in merged["ranks"]:
        process = traces[row["rank"]]["process"]
        devices = traces[row["rank"]]["summary"]["devices"]
        for key in ("pid", "host", "start_time", "duration_ns"):
            same(f"rank {row['rank']} {key}", row[key], process[key])
        same(f"rank {row['rank']} devices", [[d["device"], d["ooms"]] + [d[m]["peak_bytes"] for m in METRICS]
                                             for d in row["devices"]],
             [[d["device"], d["ooms"]] + [peak(d.get(m)) for m in METRICS] for d in devices])


def check_imbalance(merged, traces):
    for row in merged["imbalance"]:
        peaks = {r: [highest_of(d, row["metric"]) for d in t["summary"]["devices"]] for r, t in traces.items()}
        peaks = {r: max(p for p in ps if p is not None) for r, ps in peaks.items() if set(ps) - {None}}
        same(row["metric"], (row["ranks"], row["lowest"]["bytes"], row["median_bytes"], row["highest"]["bytes"]),
             (len(peaks), min(peaks.values()), median(list(peaks.values())), max(peaks.values())))
        same(f"the rank with most {row['metric']}", peaks[row["highest"]["rank"]], max(peaks.values()))


def check_cards(merged, traces):
    """Processes on one card all live at the same time here."""
    held = {}
    for rank, trace in traces.items():
        cards = {c["device"]: c for c in trace["environment"]["devices"]}
        for device in trace["summary"]["devices"]:
            key = (trace["process"]["host"], cards[device["device"]]["uuid"])
            card = held.setdefault(key, {"bytes": 0, "total": cards[device["device"]]["total_bytes"], "ranks": []})
            card["bytes"] += max(peak(device.get("used")) or 0, peak(device["reserved"]))
            card["ranks"].append(rank)
    same("cards", {(c["host"], c["uuid"]): [c["peak_bytes"], c["headroom_bytes"], sorted(c["ranks"])]
                   for c in merged["cards"]},
         {k: [c["bytes"], c["total"] - c["bytes"], sorted(c["ranks"])] for k, c in held.items()})
    same("least headroom", merged["first_to_run_out"]["headroom_bytes"],
         min(c["total"] - c["bytes"] for c in held.values()))


def check_sites(merged, paths):
    sites = {rank: sites_of(path) for rank, path in paths.items()}
    keys = {k for s in sites.values() for k, v in s.items() if any(v.values())}
    same("names of sites", {(s["space"], s["site"]) for s in merged["sites"]}, keys)
    for site in merged["sites"]:
        for column in ("allocated", "reserved", "exit"):
            values = {r: s.get((site["space"], site["site"]), {}).get(column, 0) for r, s in sites.items()}
            told = site[column]
            same(f"{site['site']} {column}", (told["median_bytes"], told["highest_bytes"]),
                 (median(list(values.values())), max(values.values())))
            same(f"{site['site']} {column} of rank {told['rank']}", values[told["rank"]], told["highest_bytes"])


def main():
    import jsonschema
    with open(sys.argv[1], encoding="utf-8") as file:
        merged = json.load(file)
    with open(os.path.join(TOP, "include", "memtrace", "merge.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    for error in jsonschema.Draft7Validator(schema).iter_errors(merged):
        wrong.append(f"{list(error.path)}: {error.message}")
    traces, paths = {}, {}
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        traces[trace["process"]["rank"]], paths[trace["process"]["rank"]] = trace, path
    check_ranks(merged, traces)
    check_imbalance(merged, traces)
    check_cards(merged, traces)
    check_sites(merged, paths)
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
