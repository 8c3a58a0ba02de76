#!/usr/bin/env python3
"""Holds `reserved` in a trace to the driver's own figure at each mark "driver USED" in it.

libraries_check.py TRACE [--owners NAME...]: between the first mark and each other one, reserved must have
changed as `used` has, within one granule of 2 MiB for each live allocation at either mark; and each NAME
must begin one of the device's owners. Prints one line; ends with 1 if anything differs.
"""
import json
import sys

GRANULE = 2 << 20


def main():
    trace = json.load(open(sys.argv[1]))
    wanted = sys.argv[3:]
    reserved = live = marks = wrong = 0
    first = None
    worst = 0
    live_at = {}
    for event in trace["events"]:
        op = event["op"]
        if event.get("device") == 0 and event.get("reserved") is not None:
            reserved = event["reserved"]
        driver = event.get("space") in ("device", "array") and not event.get("foreign") and (
            op in ("reserve", "release") or event.get("api") not in ("torch", None)
            and op in ("alloc", "free"))
        if driver and event.get("size"):
            live += 1 if op in ("alloc", "reserve") else -1
        if op != "mark" or not event["name"].startswith("driver "):
            continue
        used = int(event["name"].split()[1])
        marks += 1
        if first is None:
            first = (used, reserved, live)
            continue
        apart = (used - first[0]) - (reserved - first[1])
        allowed = GRANULE * (max(live, first[2]) + 1)
        worst = max(worst, abs(apart))
        if abs(apart) > allowed:
            wrong += 1
            if wrong < 8:
                print(f"mark {marks} (seq {event['seq']}): used has changed by {used - first[0]:,}, reserved "
                      f"by {reserved - first[1]:,}: {apart:,} apart, {live} live")
    owners = [o["owner"] for d in trace["summary"]["devices"] for o in d["owners"]]
    for name in wanted:
        if not any(owner.startswith(name) for owner in owners):
            wrong += 1
            print(f"no owner {name}: {owners}")
    print(f"{marks} marks, at most {worst:,} bytes apart, {wrong} wrong; owners {owners}")
    sys.exit(1 if wrong or marks < 3 else 0)


if __name__ == "__main__":
    main()
