#!/usr/bin/env python3
"""What `memtrace report` says of moments and selections, against the events counted here again.

moments.py TRACE [--seed N] [--moments N]: asks for random times and events, the peak, phases and
random selections, and computes each answer from events[] alone. One line a difference; ends 1 when
there is one.
"""
import argparse
import bisect
import collections
import json
import random
import subprocess
import sys

FRAGMENT = 1 << 20
CARD = ("device", "array")
wrong = []


def equal(what, told, found):
    if told != found:
        wrong.append(f"{what}: the report says {told}, the events {found}")


def report(path, *options):
    command = ["memtrace", "report", "--json", "-n", "0", *options, path]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


class State:
    """What is live, as far as a wish (device, pool, space) wants it."""

    def __init__(self, device=None, pool=None, space=None):
        self.device, self.pool, self.space = device, pool, space
        self.blocks, self.segments, self.maps = {}, {}, {}
        self.loose = collections.Counter()     # (device, pool, stack): bytes without an address
        self.sums = {}                         # device: (allocated, reserved)
        self.handles = set()

    def wants(self, event):
        return ((self.device is None or event["device"] == self.device)
                and (self.pool is None or event["pool"] == self.pool)
                and (self.space is None or event["space"] == self.space))

    def counts(self, event):
        """Does it enter the sum in question?"""
        if event.get("foreign"):
            return False
        return bool(self.pool or self.space) or (event["device"] is not None
                                                 and event["space"] in CARD)

    def apply(self, event):
        if "space" not in event:
            return
        if event["device"] is not None and event["allocated"] is not None:
            self.sums[event["device"]] = (event["allocated"], event["reserved"])
        if not self.wants(event):
            return
        key = (event["device"], event["space"], event["pool"], event["ptr"])
        op = event["op"]
        table = {"alloc": self.blocks, "free": self.blocks, "reserve": self.segments,
                 "release": self.segments, "map": self.maps, "unmap": self.maps}.get(op)
        if table is None:
            return
        birth = op in ("alloc", "reserve", "map")
        if event["ptr"] is None:
            if table is self.blocks and self.counts(event):
                sign = 1 if birth else -1
                self.loose[event["device"], event["pool"], event["stack"]] += sign * event["size"]
        elif birth:
            table[key] = event
        else:
            table.pop(key, None)

    def live(self):
        """stack: (bytes, count)"""
        found = collections.defaultdict(lambda: [0, 0])
        for event in self.blocks.values():
            if self.counts(event):
                found[event["stack"]][0] += event["size"]
                found[event["stack"]][1] += 1
        for (_, _, stack), size in self.loose.items():
            found[stack][0] += size
            found[stack][1] += size != 0  # in how many blocks nobody knows
        return {stack: tuple(held) for stack, held in found.items() if held != [0, 0]}

    def total(self):
        return sum(size for size, _ in self.live().values())

    def ranges(self, key):
        """Segments of a (device, pool) that have addresses, mappings side by side as one."""
        plain = [(int(e["ptr"], 16), e["size"]) for e in self.segments.values()
                 if (e["device"], e["pool"]) == key and e["api"] != "cuMemCreate"]
        joined = []
        for ptr, size in sorted((int(e["ptr"], 16), e["size"]) for e in self.maps.values()
                                if (e["device"], e["pool"]) == key):
            if joined and joined[-1][0] + joined[-1][1] == ptr:
                joined[-1] = (joined[-1][0], joined[-1][1] + size)
            else:
                joined.append((ptr, size))
        return sorted(plain + joined)

    def pools(self):
        keys = {(e["device"], e["pool"]) for table in (self.segments, self.maps, self.blocks)
                for e in table.values() if e["pool"] is not None}
        return {key: self.gaps(key) for key in keys}

    def gaps(self, key):
        blocks = sorted((int(e["ptr"], 16), e["size"]) for e in self.blocks.values()
                        if (e["device"], e["pool"]) == key and e["size"])
        starts = [ptr for ptr, _ in blocks]
        found = {"segments": 0, "reserved_bytes": 0, "used_bytes": 0, "free_segments": 0,
                 "free_segments_bytes": 0, "gaps": 0, "gaps_bytes": 0, "largest_gap_bytes": 0,
                 "fragments_bytes": 0, "rows": {}}
        inside = 0
        for ptr, size in self.ranges(key):
            mine = blocks[bisect.bisect_left(starts, ptr):bisect.bisect_left(starts, ptr + size)]
            at, holes = ptr, []
            for start, length in mine:
                if start > at:
                    holes.append(start - at)
                at = start + length
            if at < ptr + size:
                holes.append(ptr + size - at)
            inside += len(mine)
            used = sum(length for _, length in mine)
            found["segments"] += 1
            found["reserved_bytes"] += size
            found["used_bytes"] += used
            found["rows"][hex(ptr)] = (size, used, max(holes, default=0), len(mine))
            if not mine:
                found["free_segments"] += 1
                found["free_segments_bytes"] += size
                continue
            found["gaps"] += len(holes)
            found["gaps_bytes"] += sum(holes)
            found["largest_gap_bytes"] = max([found["largest_gap_bytes"], *holes])
            found["fragments_bytes"] += sum(hole for hole in holes if hole < FRAGMENT)
        found["elsewhere"] = len(blocks) - inside
        return found


def compare_moment(name, told, state):
    live = {s["stack"]: (s["bytes"], s["count"]) for s in told["moment"]["live"]["stacks"]}
    equal(f"{name}: live by stack", live, state.live())
    equal(f"{name}: live", told["moment"]["live"]["bytes"], state.total())
    equal(f"{name}: sites", sum(s["bytes"] for s in told["moment"]["live"]["sites"]), state.total())
    sums = {d["device"]: (d["allocated_bytes"], d["reserved_bytes"])
            for d in told["moment"]["devices"]}
    equal(f"{name}: sums", {d: s for d, s in sums.items() if s != (0, 0)},
          {d: s for d, s in state.sums.items() if d in sums and s != (0, 0)})
    found = state.pools()
    pools = {(p["device"], p["pool"]): p for p in told["gaps"]}
    equal(f"{name}: pools", sorted(map(str, pools)), sorted(map(str, found)))
    for key, pool in pools.items():
        rows = pool.pop("rows")
        for figure, value in found.get(key, {}).items():
            if figure != "rows":
                equal(f"{name}: {figure} of {key}", pool[figure], value)
        equal(f"{name}: segments of {key}",
              {r["ptr"]: (r["size"], r["used_bytes"], r["largest_gap_bytes"], r["blocks"])
               for r in rows}, found.get(key, {}).get("rows"))
        for row in rows:
            equal(f"{name}: what pins {row['ptr']}", sum(p["bytes"] for p in row["held_open_by"]),
                  row["used_bytes"])


def worst(document, pool=None):
    """The device with the highest peak, of its own or of its pool."""
    peaks = [(device["allocated"]["peak_bytes"], device["device"])
             for device in document["summary"]["devices"]]
    if pool:
        peaks = [(p["allocated"]["peak_bytes"], device["device"])
                 for device in document["summary"]["devices"] for p in device["pools"]
                 if p["pool"] == pool]
    return max(peaks, key=lambda peak: (peak[0], -peak[1]), default=(0, None))[1]


def state_of(events, wish, last):
    state = State(**wish)
    for event in events[:last + 1]:
        state.apply(event)
    return state


def highest(events, wish, start, end):
    """The position of the event behind which the wish's sum is at its highest inside the window."""
    state, best, at, entered = State(**wish), None, -1, False
    now, live, last = 0, {}, -1
    for i, event in enumerate(events):
        if event["t"] > end:
            break
        if event["t"] >= start and not entered:
            entered, best, at = True, now, i - 1
        state.apply(event)
        if event["op"] in ("alloc", "free") and state.wants(event) and state.counts(event):
            key = (event["device"], event["space"], event["pool"], event["ptr"])
            if event["ptr"] is None:
                now += event["size"] if event["op"] == "alloc" else -event["size"]
            elif event["op"] == "alloc":
                live[key] = event["size"]
                now += event["size"]
            elif key in live:
                now -= live.pop(key)
        if entered and now > best:
            best, at = now, i
        last = i
    return (at, best) if entered else (last, now)  # no event inside: as it was before


def check_moments(path, document, events, options):
    for _ in range(options.moments):
        seq = random.randrange(len(events))
        compare_moment(f"seq:{seq}", report(path, "--at", f"seq:{seq}"),
                       state_of(events, {}, seq))
        t = random.choice((random.randrange(events[0]["t"], events[-1]["t"] + 1),
                           random.choice(events)["t"]))  # both ends of a window belong to it
        last = bisect.bisect_right([e["t"] for e in events], t) - 1
        compare_moment(f"{t}ns", report(path, "--at", f"{t}ns"), state_of(events, {}, last))
    compare_moment("exit", report(path, "--at", "exit"), state_of(events, {}, len(events)))
    wish = {"device": worst(document)}
    at, best = highest(events, wish, 0, events[-1]["t"])
    told = report(path, "--at", "peak")
    compare_moment("peak", told, state_of(events, wish, at))
    device = next((d for d in document["summary"]["devices"] if d["device"] == wish["device"]), None)
    if device:
        equal("peak and summary", best, device["allocated"]["peak_bytes"])
    for pool in {p["pool"] for d in document["summary"]["devices"] for p in d["pools"]
                 if p["allocated"]["peak_bytes"]}:
        wish = {"device": worst(document, pool), "pool": pool}
        at, _ = highest(events, wish, 0, events[-1]["t"])
        compare_moment(f"peak of {pool}", report(path, "--at", "peak", "--pool", pool),
                       state_of(events, wish, at))
    wish = {"device": worst(document)}
    names = [p["name"] for p in document["phases"]]
    for phase in document["phases"]:
        if names.count(phase["name"]) != 1:
            continue
        end = phase["end"] if phase["end"] is not None else events[-1]["t"]
        at, _ = highest(events, wish, phase["start"], end)
        compare_moment(phase["name"], report(path, "--at", f"phase:{phase['name']}"),
                       state_of(events, wish, at))


def figures(events, wish, start, end):
    """What a selection took and gave back inside the window, and holds at its end."""
    state = State(**wish)
    found = collections.Counter()
    for event in events:
        if event["t"] > end:
            break
        if "space" in event and state.wants(event) and event["t"] >= start:
            if event["op"] == "alloc":
                found["allocations"] += 1
                found["bytes"] += event["size"]
            elif event["op"] == "free":
                found["frees_here"] += 1
                found["freed_here_bytes"] += event["size"]
        state.apply(event)
    live = [e for e in state.blocks.values() if not e.get("foreign")]
    found["live_bytes"] = sum(e["size"] for e in live) + sum(state.loose.values())
    found["live_count"] = len(live) + sum(size != 0 for size in state.loose.values())
    at, best = highest(events, wish, start, end)
    found["peak_bytes"] = best
    found["peak_count"] = sum(count for _, count in state_of(events, wish, at).live().values())
    return found


def check_selections(path, document, events, options):
    wishes = [{}]
    for device in document["summary"]["devices"]:
        wishes.append({"device": device["device"]})
        wishes += [{"device": device["device"], "pool": p["pool"]} for p in device["pools"]]
        wishes += [{"pool": p["pool"]} for p in device["pools"]]
    wishes += [{"space": s["space"]} for s in document["summary"]["spaces"] if s["allocations"]]
    for _ in range(options.moments):
        start, end = sorted(random.choice((random.randrange(events[-1]["t"] + 1),
                                           random.choice(events)["t"])) for _ in range(2))
        wish = random.choice(wishes)
        words = ["--from", f"{start}ns", "--to", f"{end}ns", "--by", random.choice(
            ("site", "line", "function", "stack", "module", "owner", "thread", "phase"))]
        for key, value in wish.items():
            words += [f"--{key}", str(value)]
        told = report(path, *words)
        found = figures(events, wish, start, end)
        if told["answer"].startswith("Nothing"):
            equal(f"{words}: nothing", +collections.Counter({}), +found)
            continue
        for key in ("allocations", "bytes", "frees_here", "freed_here_bytes", "live_bytes",
                    "live_count", "peak_bytes", "peak_count"):
            equal(f"{words}: {key}", told["lines"]["total"][key], found[key])
            equal(f"{words}: rows of {key}",
                  sum(r[key] for r in told["lines"]["rows"]), found[key])
        equal(f"{words}: sites live", sum(s["bytes"] for s in told["live_at_exit"]["sites"]),
              found["live_bytes"])
        equal(f"{words}: peak", told["peaks"][0]["bytes"], found["peak_bytes"])
        equal(f"{words}: sites of the peak", sum(s["bytes"] for s in told["peaks"][0]["sites"]),
              found["peak_bytes"])


def check_threads(path, document, events):
    """What each thread took and gave back."""
    found = collections.defaultdict(collections.Counter)
    for event in events:
        if event["op"] in ("alloc", "free"):
            figures = found[event["thread"]]
            figures["allocations" if event["op"] == "alloc" else "frees_here"] += 1
            figures["bytes" if event["op"] == "alloc" else "freed_here_bytes"] += event["size"]
    names = {t["thread"]: f"{t['name']} (thread {t['thread']})"
             for t in document.get("threads", [])}
    told = report(path, "--by", "thread")
    for key in ("allocations", "bytes", "frees_here", "freed_here_bytes"):
        equal(f"threads: {key}", {r["name"]: r[key] for r in told["lines"]["rows"]},
              {names.get(t, f"thread {t}"): figures[key] for t, figures in found.items()})


def check_choices(path, document):
    """However frames and rows are chosen, the sums stay."""
    peaks = {d["device"]: d["allocated"]["peak_bytes"] for d in document["summary"]["devices"]}
    for stacks in ("merged", "native", "python"):
        for by in ("site", "line", "function", "stack", "module", "owner"):
            told = report(path, "--stacks", stacks, "--by", by)
            name = f"--stacks {stacks} --by {by}"
            for peak in told["peaks"]:
                equal(f"{name}: peak", sum(s["bytes"] for s in peak["sites"]), peak["bytes"])
                if peak["pool"] is None and peak["metric"] == "allocated":
                    equal(f"{name}: the peak", peak["bytes"], peaks[peak["device"]])
            live = told["live_at_exit"]
            equal(f"{name}: live", sum(s["bytes"] for s in live["sites"]), live["bytes"])
            lines = told["lines"]
            for key in lines["total"]:
                equal(f"{name}: {key}", sum(row[key] for row in lines["rows"]), lines["total"][key])
            equal(f"{name}: net is what lives", lines["total"]["net_bytes"], live["bytes"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moments", type=int, default=5)
    options = parser.parse_args()
    random.seed(options.seed)
    with open(options.trace, encoding="utf-8") as file:
        document = json.load(file)
    events = document["events"]
    check_choices(options.trace, document)
    check_threads(options.trace, document, events)
    check_moments(options.trace, document, events, options)
    check_selections(options.trace, document, events, options)
    for line in wrong[:40]:
        print(line[:1000])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
