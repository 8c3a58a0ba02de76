"""A report agrees with itself: agrees.py REPORT.json REPORT.txt prints a line for each figure that contradicts another.

REPORT.json is of `report --full --json`, REPORT.txt of `report --full` of the same trace. Every sum is the sum of its
parts, a peak is nowhere below what it is the peak of, and the text has the figures of the JSON.
"""
import json
import sys

from timeline import size

wrong = []


def same(what, value, wanted):
    if value != wanted:
        wrong.append(f"{what}: {value}, and elsewhere {wanted}")


def within(what, value, most):
    if value is not None and most is not None and value > most:
        wrong.append(f"{what}: {value} of {most}")


def total(rows, key):
    return sum(row[key] for row in rows)


def check_sites(where, of):
    """Sites, stacks and categories are three ways to divide one figure."""
    for list_name, rest in (("sites", "other_sites_bytes"), ("stacks", "other_stacks_bytes")):
        if list_name in of:
            same(f"{where}: {list_name}", total(of[list_name], "bytes") + of[rest] + of.get("unknown_bytes", 0),
                 of["bytes"])
    if of.get("categories") and not of.get("unknown_bytes"):
        same(f"{where}: categories", total(of["categories"], "bytes"), of["bytes"])


def check_peaks(report, text):
    for peak in report["peaks"]:
        where = f"peak of {peak['metric']} on device {peak['device']}, pool {peak['pool']}"
        check_sites(where, peak)
        for device in report["devices"]:
            if peak["device"] == device["device"] and not peak["pool"]:
                same(f"{where}: the device's", peak["bytes"], device[peak["metric"]]["peak_bytes"])
        if size(peak["bytes"]) not in text:
            wrong.append(f"{where}: the text does not have {size(peak['bytes'])}")


def check_device(report, device, text):
    name = f"device {device['device']}"
    allocated, reserved, used = device["allocated"], device["reserved"], device["used"]
    within(f"{name}: allocated and reserved at exit", allocated["exit_bytes"], reserved["exit_bytes"])
    within(f"{name}: peaks of allocated and reserved", allocated["peak_bytes"], reserved["peak_bytes"])
    within(f"{name}: peaks of reserved and used", reserved["peak_bytes"], used["peak_bytes"] if used else None)
    within(f"{name}: used and the card's memory", used["peak_bytes"] if used else None, device["total_bytes"])
    if device["cached_at_peak_bytes"] is not None:
        within(f"{name}: cached at the peak of allocated", device["cached_at_peak_bytes"] + allocated["peak_bytes"],
               reserved["peak_bytes"])
    for metric in ("allocated", "reserved", "used"):
        figures = device[metric]
        if not figures or figures["peak_bytes"] is None:
            continue
        within(f"{name}: {metric} at exit and at the peak", figures["exit_bytes"], figures["peak_bytes"])
        lines = [line for line in text.splitlines() if line.split()[:1] == [metric]]
        if not any(size(figures["peak_bytes"]) in line and size(figures["exit_bytes"]) in line for line in lines):
            wrong.append(f"{name}: the text has no line with {metric} {size(figures['peak_bytes'])} and "
                         f"{size(figures['exit_bytes'])}")
    pools = [pool for pool in report["pools"] if pool["device"] == device["device"]]
    for pool in pools:
        where = f"{name}, pool {pool['pool']}"
        for metric in ("allocated", "reserved"):
            within(f"{where}: {metric} at exit and the device's", pool[metric]["exit_bytes"],
                   device[metric]["exit_bytes"])
            within(f"{where}: peak of {metric} and the device's", pool[metric]["peak_bytes"],
                   device[metric]["peak_bytes"])
    for metric in ("allocated", "reserved"):
        within(f"{name}: {metric} at exit of all pools", sum(pool[metric]["exit_bytes"] or 0 for pool in pools),
               device[metric]["exit_bytes"])
    owners = [owner for owner in report["owners"] if owner["device"] == device["device"]]
    if owners and all(owner["reserved"]["exit_bytes"] is not None for owner in owners):
        same(f"{name}: reserved at exit of all libraries", sum(owner["reserved"]["exit_bytes"] for owner in owners),
             reserved["exit_bytes"])
    within(f"{name}: frees", device["frees"], device["allocations"])


def check_categories(report):
    for place in report["categories"]:
        where = f"categories of device {place['device']}, pool {place['pool']}, kind {place['space']}"
        if place["peak_from"]:
            same(f"{where}: at the peak", total(place["categories"], "peak_bytes"), place["peak_bytes"])
        if place["exit_from"]:
            same(f"{where}: at exit", total(place["categories"], "exit_bytes"), place["exit_bytes"])


def check_lines(report):
    lines = report["lines"]
    if not lines:  # a baseline, which has no figures by line
        return
    for key in lines["total"]:
        if lines["total"][key] is not None:
            same(f"lines: {key}", total(lines["rows"], key) + lines["other"][key], lines["total"][key])
    if report["live_at_exit"]["bytes"] is not None:
        check_sites("live at exit", report["live_at_exit"])
        same("lines: live at exit", lines["total"]["live_bytes"], report["live_at_exit"]["bytes"])
    leaks = report["leaks"]
    same("leaks: sites", total(leaks["sites"], "bytes") + leaks["other_sites_bytes"], leaks["bytes"])
    same("leaks: what is leaked, held on purpose or suppressed",
         leaks["bytes"] + leaks["held_bytes"] + leaks["suppressed_bytes"], report["live_at_exit"]["bytes"])


def check_trees(report):
    peaks = {peak["device"]: peak["bytes"] for peak in report["peaks"]
             if not peak["pool"] and peak["metric"] == "allocated"}
    for name in ("tree", "inverted"):
        for tree in report[name]:
            rows = tree["rows"]
            open_rows = []
            same(f"{name} of device {tree['device']}: its root", rows[0]["bytes"], peaks.get(tree["device"]))
            for row in rows:
                while open_rows and open_rows[-1][0] >= row["depth"]:
                    open_rows.pop()
                if open_rows:
                    open_rows[-1][2] += row["bytes"]
                    within(f"{name}: the parts of {open_rows[-1][3]}", open_rows[-1][2], open_rows[-1][1])
                open_rows.append([row["depth"], row["bytes"], 0, row["frame"]])


def check_failures(report):
    for oom in report["ooms"]:
        where = f"failure {oom['number']}"
        if oom["live"]:
            check_sites(where, oom["live"])
        within(f"{where}: allocated and reserved", oom["allocated_bytes"], oom["reserved_bytes"])
        if oom["free_bytes"] is not None and oom["total_bytes"] is not None:
            within(f"{where}: free and held by others", oom["free_bytes"] + (oom["others_bytes"] or 0),
                   oom["total_bytes"])
        for pool in oom["pools"]:
            if pool["pool"].startswith("async:"):  # of such a pool the driver gives the sum alone, and no segments
                continue
            same(f"{where}, pool {pool['pool']}: free segments and gaps",
                 pool["free_segments_bytes"] + pool["gaps_bytes"], pool["reserved_bytes"] - pool["allocated_bytes"])


def check_short_lived(report):
    lived = report["short_lived"]
    for key in lived["other"]:
        same(f"short-lived: {key}", total(lived["sites"], key) + lived["other"][key], lived[key])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    check_peaks(report, text)
    for device in report["devices"]:
        check_device(report, device, text)
    check_categories(report)
    check_lines(report)
    check_trees(report)
    check_failures(report)
    if report["short_lived"]:
        check_short_lived(report)
    if "".join(report["answer"].split()) not in "".join(text.split()):
        wrong.append("the text does not begin with the answer")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
