#!/usr/bin/python3
"""Checks that trace documents keep their promises: validate.py FILE...

Against include/memtrace/trace.schema.json, and then what no schema can say: the order of keys, one
event a line, dense sequence numbers, positions in range, peaks that sum exactly to their bytes, and
sums of allocated and reserved that the events themselves, replayed, give again. One line a problem;
ends 1 when there is one.
"""
import collections
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    # On a GPU machine where nothing can be installed the promises beyond the schema are still held.
    if os.environ.get("GPU") != "1":
        sys.exit("validate.py: python3-jsonschema is missing: run scripts/setup.sh")
    jsonschema = None

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "include", "memtrace", "trace.schema.json")
KEYS = ["schema", "process", "environment", "capture", "calls", "cupti_check", "actions", "spans_dropped", "spans",
        "used", "summary", "peaks", "ooms", "modules", "frames",
        "stacks", "threads", "sites", "phases", "timeline", "events"]
EVENT_KEYS = ["seq", "t", "op", "device", "space", "pool", "ptr", "size", "stack", "thread",
              "stream", "api", "error", "allocated", "reserved"]
METRICS = ("allocated", "reserved")
PROBLEMS_SHOWN = 20     # of one kind in one file: a wrong sum is wrong in a million events
ROWS_TO_SCHEMA = 1000   # of an array, and its shapes: jsonschema takes half a millisecond each
TIMELINE_POINTS = 10000


class Problems:
    """What was found in one file, bounded by kind."""

    def __init__(self, path):
        self.path = path
        self.count = collections.Counter()

    def add(self, kind, text):
        self.count[kind] += 1
        if self.count[kind] <= PROBLEMS_SHOWN:
            print(f"{self.path}: {text}")
        elif self.count[kind] == PROBLEMS_SHOWN + 1:
            print(f"{self.path}: and more of that kind ({kind})")

    def __bool__(self):
        return bool(self.count)


def shape(value):
    """What it is made of: two rows of one shape mostly go the same ways through the schema."""
    if isinstance(value, dict):
        return tuple((key, shape(part)) for key, part in value.items())
    if isinstance(value, list):
        return frozenset(map(shape, value))
    return type(value).__name__


def chosen(rows):
    """The places of the first and the last, of some in between, and of one of every shape."""
    if not all(isinstance(row, dict) for row in rows) or len(rows) <= ROWS_TO_SCHEMA:
        return range(len(rows))
    part = ROWS_TO_SCHEMA // 4
    places = set(range(part)) | set(range(len(rows) - part, len(rows)))
    places |= set(range(0, len(rows), len(rows) // (2 * part)))
    shapes = {(row.get("op"), row.get("kind"), shape(row)): i for i, row in enumerate(rows)}
    return sorted(places.union(shapes.values()))


def check_schema(document, validator, problems):
    """The whole document, with each array thinned out that has very many rows."""
    places = {key: chosen(rows) for key, rows in document.items() if isinstance(rows, list)} \
        if isinstance(document, dict) else {}
    thin = dict(document, **{key: [document[key][i] for i in kept]
                             for key, kept in places.items()}) if places else document
    for error in validator.iter_errors(thin):
        path = list(error.absolute_path)
        if len(path) > 1 and path[0] in places:
            path[1] = places[path[0]][path[1]]
        where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
        message = error.message if len(error.message) < 300 else error.message[:300] + "..."
        problems.add("schema", f"schema: {where or 'document'}: {message}")


def check_order(found, wanted, where, problems):
    known = [key for key in found if key in wanted]
    if known != [key for key in wanted if key in found]:
        problems.add("order", f"{where}: keys in the order {known}")


def check_lines(text, events, problems):
    """One event per line, between a line that opens them and one that closes them."""
    lines = text.split("\n")
    opened = next((i for i, line in enumerate(lines) if line.endswith('"events":[')
                   or line.endswith('"events":[],') or line.endswith('"events":[]}')
                   or line.endswith('"events":[]')), None)
    if opened is None:
        problems.add("lines", 'no line ends with "events":[')
        return
    body = []
    for line in lines[opened + 1:]:
        if not line.startswith("{"):
            break
        body.append(line)
    if len(body) != len(events):
        problems.add("lines", f"{len(events)} events on {len(body)} lines")
    for i, line in enumerate(body):
        if not line.rstrip(",").endswith("}") or line.endswith(",") != (i + 1 < len(body)):
            problems.add("lines", f"line {opened + 2 + i} is not one event")


def check_positions(document, problems):
    """Every number that points into another array points at something."""
    sizes = {key: len(document.get(key, [])) for key in ("modules", "frames", "stacks")}

    def inside(position, array, where):
        if position is not None and not 0 <= position < sizes[array]:
            problems.add("range", f"{where}: {position} is not in {array}[{sizes[array]}]")

    for i, frame in enumerate(document["frames"]):
        inside(frame.get("module"), "modules", f"frames[{i}].module")
    for i, stack in enumerate(document["stacks"]):
        for frame in stack["frames"]:
            inside(frame, "frames", f"stacks[{i}]")
        entries = stack.get("entries", [])
        if any(not 0 <= entry < len(stack["frames"]) for entry in entries) \
                or entries != sorted(set(entries)):
            problems.add("range", f"stacks[{i}]: entries {entries} of {len(stack['frames'])} frames")
        elif any(document["frames"][stack["frames"][entry]]["language"] != "python"
                 for entry in entries):
            problems.add("range", f"stacks[{i}]: an entry is no Python frame")
        if ("via" in stack) != ("via_stack" in stack):
            problems.add("via", f"stacks[{i}]: via and via_stack come together")
        via = stack.get("via_stack")
        if via is not None and (not 0 <= via < len(document["stacks"]) or via == i):
            problems.add("range", f"stacks[{i}].via_stack: {via}")
    for i, row in enumerate(document.get("used", [])):
        inside(row.get("stack"), "stacks", f"used[{i}]")
    for i, peak in enumerate(document["peaks"]):
        for share in peak["stacks"]:
            inside(share["stack"], "stacks", f"peaks[{i}]")
    owner = {}
    for i, site in enumerate(document["sites"]):
        for stack in site["stacks"]:
            inside(stack, "stacks", f"sites[{i}]")
            if owner.setdefault(stack, i) != i:
                problems.add("sites", f"stack {stack} is of sites {owner[stack]} and {i}")
    for event in document["events"]:
        inside(event.get("stack"), "stacks", f"event {event['seq']}")


def check_peaks(document, problems):
    """A peak's stacks sum to its bytes, and it is the one that the summary names."""
    totals = {}
    for device in document["summary"]["devices"]:
        for metric in (*METRICS, "used"):
            if device.get(metric):
                totals[device["device"], None, metric] = device[metric]
        for pool in device.get("pools", []):
            for metric in METRICS:
                if pool.get(metric):
                    totals[device["device"], pool["pool"], metric] = pool[metric]
    seen = set()
    for peak in document["peaks"]:
        key = (peak["device"], peak["pool"], peak["metric"])
        name = f"peak of {key[2]} of device {key[0]}" + (f", pool {key[1]}" if key[1] else "")
        summed = sum(share["bytes"] for share in peak["stacks"])
        if summed != peak["bytes"]:
            problems.add("peaks", f"{name}: stacks sum to {summed}, not {peak['bytes']}")
        stacks = [share["stack"] for share in peak["stacks"]]
        if len(set(stacks)) != len(stacks):
            problems.add("peaks", f"{name}: a stack is listed twice")
        if any(share["bytes"] < 0 or share["count"] < 0 for share in peak["stacks"]):
            problems.add("peaks", f"{name}: a share is negative")
        if key in seen:
            problems.add("peaks", f"{name}: is there twice")
        seen.add(key)
        total = totals.get(key)
        if total and (total["peak_bytes"], total["peak_t"]) != (peak["bytes"], peak["t"]):
            problems.add("peaks", f"{name}: {peak['bytes']} at {peak['t']}, but the summary says "
                                  f"{total['peak_bytes']} at {total['peak_t']}")


def check_timeline(document, problems):
    """Columns of one length, in order, within bounds, and the peak is a point of it."""
    peaks = {}
    for device in document["summary"]["devices"]:
        peaks[device["device"], None] = device
        for pool in device.get("pools", []):
            peaks[device["device"], pool["pool"]] = pool
    for curve in document["timeline"]:
        name = f"timeline of device {curve['device']}" + (
            f", pool {curve['pool']}" if curve["pool"] else "")
        t = curve["t"]
        if len(t) > TIMELINE_POINTS:
            problems.add("timeline", f"{name}: {len(t)} points")
        if any(a > b for a, b in zip(t, t[1:])):
            problems.add("timeline", f"{name}: time runs backwards")
        for metric in (*METRICS, "used"):
            column = curve.get(metric)
            if column is None:
                continue
            if len(column) != len(t):
                problems.add("timeline", f"{name}: {len(column)} of {metric}, {len(t)} of t")
            total = peaks.get((curve["device"], curve["pool"]), {}).get(metric)
            highest = max((value for value in column if value is not None), default=None)
            if metric != "used" and total and highest is not None \
                    and highest != total["peak_bytes"]:
                problems.add("timeline", f"{name}: {metric} has {highest} at most, "
                                         f"its peak is {total['peak_bytes']}")


def check_used(document, problems):
    """What is occupied is made of what the trace says it is made of."""
    for i, row in enumerate(document.get("used", [])):
        if row["used"] != row["reserved"] + row["rounding"] + row["named"] + row["residual"]:
            problems.add("used", f"used[{i}]: the parts do not sum to {row['used']}")
        if (row["name"] is None) != (row["bytes"] == 0):
            problems.add("used", f"used[{i}]: {row['bytes']} bytes of {row['name']}")
    for device in document["summary"]["devices"]:
        used = device.get("used")
        if not used or "at_peak" not in used:
            continue
        where = f"device {device['device']}: used"
        for part, total in (("at_peak", used["peak_bytes"]), ("at_exit", used["exit_bytes"])):
            if sum(used[part].values()) != total:
                problems.add("used", f"{where}.{part} does not sum to {total}")
        for key, part in (("bytes", "at_exit"), ("at_used_peak_bytes", "at_peak")):
            named = sum(name[key] for name in device["named"])
            if named != used[part]["named_bytes"]:
                problems.add("used", f"{where}.{part}: named[] sums to {named}")
        # A pool's own sums are of its memory wherever that lies; a device's are of its own.
        elsewhere = {event["pool"] for event in document["events"] if event.get("space") in ("managed", "pinned", "cpu")}
        parts = sum(p["at_used_peak"]["reserved_bytes"] for p in device["pools"] if p["pool"] not in elsewhere)
        parts += sum(o["at_used_peak"]["allocated_bytes"] for o in device["owners"])
        if parts > used["at_peak"]["reserved_bytes"]:
            problems.add("used", f"{where}.at_peak: pools and owners hold {parts}")


def check_share(name, share, problems):
    """What one device saw of a phase, or all together."""
    for metric in METRICS:
        sums = share.get(metric) or {}
        known = [sums[key] for key in ("start_bytes", "end_bytes") if sums.get(key) is not None]
        if known and sums.get("peak_bytes") is not None and sums["peak_bytes"] < max(known):
            problems.add("phases", f"{name}: its peak of {metric} is below its ends")
    born, freed, kept = (share.get(key) for key in ("allocations", "freed", "kept"))
    if not born or not freed or not kept:
        return
    ends = share["allocated"]
    if ends["end_bytes"] is not None \
            and ends["end_bytes"] - ends["start_bytes"] != born["bytes"] - freed["bytes"]:
        problems.add("phases", f"{name}: it did not rise by what was born less what was freed")
    for key in ("bytes", "count"):
        if not max(0, born[key] - freed[key]) <= kept[key] <= born[key]:
            problems.add("phases", f"{name}: {kept[key]} {key} are kept of {born[key]} "
                                   f"born, with {freed[key]} freed")


def check_phases(document, problems):
    for i, phase in enumerate(document["phases"]):
        name = f"phases[{i}]"
        if phase["end"] is not None and phase["end"] < phase["start"]:
            problems.add("phases", f"{name} ends before it starts")
        check_share(name, phase, problems)
        devices = phase.get("devices", [])
        for device in devices:
            check_share(f"{name} on device {device['device']}", device, problems)
        for key in ("allocations", "freed", "kept"):
            if devices and phase.get(key) and any(
                    sum(device[key][unit] for device in devices) != phase[key][unit]
                    for unit in ("bytes", "count")):
                problems.add("phases", f"{name}: {key} is not the sum over its devices")
        for metric in ("allocated", "reserved"):
            for end in ("start_bytes", "end_bytes"):
                values = [device[metric][end] for device in devices]
                if devices and None not in values and sum(values) != phase[metric][end]:
                    problems.add("phases", f"{name}: {metric} {end} is not the sum over devices")


class Replay:
    """The events again: sums per device (or space), per pool, and what is live."""

    def __init__(self, problems, whole):
        self.problems = problems
        self.whole = whole      # every event since the start is here
        self.now = collections.Counter()
        self.peak = collections.Counter()
        self.ops = collections.Counter()
        self.live = {}

    @staticmethod
    def account(event):
        """Arrays are the device's memory; every other space has sums of its own."""
        space = event["space"]
        return ("device" if space in ("device", "array") else space, event["device"])

    @staticmethod
    def changes(event):
        """(metric, sign) of what an event moves. A plain driver allocation is both; memory of
        another process is listed and moves nothing."""
        op, pool = event["op"], event["pool"]
        sign = {"alloc": 1, "reserve": 1, "free": -1, "release": -1}.get(op, 0)
        if not sign or event.get("foreign"):
            return []
        if op in ("reserve", "release"):
            return [("reserved", sign)]
        return [("allocated", sign)] if pool is not None else [("allocated", sign), ("reserved", sign)]

    def add(self, account, pool, metric, bytes_):
        self.now[account, pool, metric] += bytes_
        self.peak[account, pool, metric] = max(self.peak[account, pool, metric],
                                               self.now[account, pool, metric])

    def event(self, event):
        if event["op"] in ("mark", "push", "pop"):
            return
        account = self.account(event)
        self.ops[account, event["op"]] += 1
        if event["device"] is not None and account[0] != "device":
            self.ops[("device", event["device"]), event["op"]] += 1
        for metric, sign in self.changes(event):
            self.add(account, None, metric, sign * event["size"])
            if event["pool"] is not None:
                # A pool is its device's, be it of managed memory.
                home = account if event["device"] is None else ("device", event["device"])
                self.add(home, event["pool"], metric, sign * event["size"])
        for metric in METRICS:
            told = event.get(metric)
            if told is None:
                continue
            if told < 0:
                self.problems.add("sums", f"event {event['seq']}: {metric} is {told}")
            # Whatever the space: an event tells the sums of its device.
            account = ("device", event["device"])
            if told != self.now[account, None, metric]:
                if self.whole:
                    self.problems.add("sums", f"event {event['seq']} ({event['op']}): {metric} is "
                                      f"{told}, its events sum to {self.now[account, None, metric]}")
                self.now[account, None, metric] = told  # once is enough
        self.pair(event, account)

    def pair(self, event, account):
        """A free is of something live, and of its size; an allocation of something that is not."""
        if event["op"] not in ("alloc", "free", "reserve", "release") or event["ptr"] is None:
            return
        if not self.whole:
            return
        kind = "segment" if event["op"] in ("reserve", "release") else "block"
        key = (kind, account, event["space"], event["pool"], event["ptr"])
        where = f"event {event['seq']}: {event['op']} of {event['ptr']}"
        if event["op"] in ("alloc", "reserve"):
            if key in self.live:
                self.problems.add("live", f"{where}, which is live since event {self.live[key][0]}")
            self.live[key] = (event["seq"], event["size"])
            return
        born = self.live.pop(key, None)
        if born is None:
            self.problems.add("live", f"{where}, which is not live")
        elif born[1] != event["size"]:
            self.problems.add("live", f"{where} gives back {event['size']} of {born[1]} bytes")

    def compare(self, summary):
        for device in summary["devices"]:
            account = ("device", device["device"])
            name = f"device {device['device']}"
            self.compare_sums(account, None, device, name)
            for pool in device.get("pools", []):
                self.compare_sums(account, pool["pool"], pool, f"{name}, pool {pool['pool']}")
            for op, told in (("alloc", "allocations"), ("free", "frees")):
                if device.get(told) is not None and device[told] != self.ops[account, op]:
                    self.problems.add("summary", f"{name}: {device[told]} {told}, but "
                                      f"{self.ops[account, op]} events")

    def compare_sums(self, account, pool, told, name):
        for metric in METRICS:
            if not told.get(metric):
                continue
            for key, counter in (("peak_bytes", self.peak), ("exit_bytes", self.now)):
                if told[metric].get(key) not in (None, counter[account, pool, metric]):
                    self.problems.add("summary", f"{name}: {metric}.{key} is {told[metric][key]}, "
                                      f"its events give {counter[account, pool, metric]}")


class Figures:
    """What each stack did, from the events, against what the document says of it."""

    def __init__(self):
        self.sums = collections.defaultdict(collections.Counter)
        self.live = {}
        self.loose = collections.Counter()

    def end(self, key, size):
        """Of a block, or of bytes without an address, which are their stack's own."""
        born = self.live.pop(key, None)
        if born is None:
            return
        figures = self.sums[born[0]]
        figures["frees"] += 1
        figures["freed_bytes"] += size
        if not born[2]:
            figures["live_bytes"] -= size
            figures["live_count"] -= 1

    def event(self, event):
        if event["op"] not in ("alloc", "free"):
            return
        size, stack = event["size"], event["stack"]
        counts = not event.get("foreign")
        key = (event["space"], event["device"], event["pool"], event["ptr"])
        if event["ptr"] is None:
            key = (stack, event["seq"])
        figures = self.sums[stack]
        if event["op"] == "alloc":
            figures["allocations"] += 1
            figures["bytes"] += size
            if counts:
                figures["live_bytes"] += size
                figures["live_count"] += 1
            if event["ptr"] is None:
                self.loose_moves(event, size)
                return
            self.live[key] = (stack, size, not counts)
            return
        figures["frees_here"] += 1
        figures["freed_here_bytes"] += size
        if event["ptr"] is None:
            figures["frees"] += 1
            figures["freed_bytes"] += size
            figures["live_bytes"] -= size
            figures["live_count"] -= 1
            self.loose_moves(event, -size)
        else:
            self.end(key, size)

    def loose_moves(self, event, size):
        """What a pool holds without an address is one block, however it grows and shrinks: what this
        event was counted as is set right."""
        key = (event["space"], event["device"], event["pool"], event["stack"])
        before = self.loose[key]
        self.loose[key] += size
        change = (self.loose[key] != 0) - (before != 0)
        self.sums[event["stack"]]["live_count"] += change - (1 if size > 0 else -1)

    def compare(self, document, problems):
        for i, stack in enumerate(document["stacks"]):
            for key in ("allocations", "bytes", "frees", "freed_bytes", "frees_here",
                        "freed_here_bytes", "live_bytes", "live_count"):
                if stack.get(key, 0) != self.sums[i][key]:
                    problems.add("stacks", f"stacks[{i}]: {key} is {stack.get(key, 0)}, its events "
                                           f"give {self.sums[i][key]}")


def has_figures(document):
    """Baselines have none."""
    return any("bytes" in stack for stack in document["stacks"])


def check_stacks(document, problems):
    """What stacks say sums to what sites, devices and spaces say."""
    if not has_figures(document):
        return
    stacks = document["stacks"]
    for i, site in enumerate(document["sites"]):
        for ours, theirs in (("allocations", "allocations"), ("bytes", "bytes"), ("frees", "frees"),
                             ("live_bytes", "live_bytes"), ("peak_bytes", "peak_bytes")):
            summed = sum(stacks[stack].get(ours, 0) for stack in site["stacks"])
            if summed != site[theirs]:
                problems.add("stacks", f"sites[{i}]: {theirs} is {site[theirs]}, its stacks sum to "
                                       f"{summed}")
    sums = [device["allocated"] for device in document["summary"]["devices"]]
    sums += [space["allocated"] for space in document["summary"]["spaces"]
             if space["space"] != "array"]
    for ours, theirs in (("live_bytes", "exit_bytes"), ("peak_bytes", "peak_bytes")):
        summed = sum(stack.get(ours, 0) for stack in stacks)
        told = sum(each[theirs] for each in sums)
        if summed != told:
            problems.add("stacks", f"stacks: {ours} sums to {summed}, the summary says {told}")


def check_choice(document, problems):
    """What was left out on purpose is part of what is missing; samples stand for no less than themselves."""
    capture = document["capture"]
    if capture["events_dropped"] < capture.get("events_stopped", 0) + capture.get("events_filtered", 0):
        problems.add("choice", "more events were stopped and filtered out than are missing")
    if "sample_bytes" not in capture:
        return
    stacks = document["stacks"]
    for i, site in enumerate(document["sites"]):
        for key in ("bytes", "live_bytes", "peak_bytes"):
            told = site["estimated_" + key]
            summed = sum(stacks[stack].get("estimated_" + key, 0) for stack in site["stacks"])
            if summed != told:
                problems.add("choice", f"sites[{i}]: estimated_{key} is {told}, its stacks sum to {summed}")
            if told and told < site[key]:
                problems.add("choice", f"sites[{i}]: estimated_{key} is {told}, its samples are {site[key]}")


def check_events(document, problems):
    events = document["events"]
    capture = document["capture"]
    dropped = capture.get("events_dropped", 0)
    whole = not dropped and not capture.get("truncated")
    if whole and capture.get("events_recorded") != len(events):
        problems.add("events", f"{capture.get('events_recorded')} recorded, {len(events)} here, "
                               "none dropped")
    before = -1
    replay = Replay(problems, whole)
    figures = Figures()
    for event in events:
        if event["seq"] <= before or (whole and event["seq"] != before + 1):
            problems.add("seq", f"event {event['seq']} follows event {before}")
        before = event["seq"]
        check_order(event, EVENT_KEYS, f"event {event['seq']}", problems)
        replay.event(event)
        figures.event(event)
    if whole:
        replay.compare(document["summary"])
    if whole and has_figures(document):
        figures.compare(document, problems)


def held_by_stack(live, device):
    held = collections.Counter()
    for (space, home, *_), (stack, size) in live.items():
        if home == device and space in ("device", "array"):
            held[stack] += size
    return +held


def check_ooms(document, problems):
    """What was live at a failure is what the events give, when none is missing."""
    ooms = document.get("ooms", [])
    stacks = len(document["stacks"])
    for i, oom in enumerate(ooms):
        shares = oom["stacks"] or []
        if i and oom["seq"] < ooms[i - 1]["seq"]:  # the same while events are off
            problems.add("ooms", f"ooms[{i}] does not follow the one before")
        if any(share["stack"] >= stacks for share in shares) or oom["stack"] >= stacks:
            problems.add("ooms", f"ooms[{i}]: a stack that is not there")
        summed = sum(share["bytes"] for share in shares) + (oom["unknown_bytes"] or 0)
        if oom["stacks"] is not None and summed != oom["allocated"]:
            problems.add("ooms", f"ooms[{i}]: stacks sum to {summed}, not {oom['allocated']}")
    if document["capture"]["events_dropped"] or document["capture"]["truncated"]:
        return
    waiting = {oom["seq"]: oom for oom in ooms}
    live = {}
    for event in document["events"] if ooms else []:
        oom = waiting.pop(event["seq"], None)
        if oom is not None:
            if event["op"] != "oom" or event["size"] != oom["size"]:
                problems.add("ooms", f"event {event['seq']} is not the failure that ooms tells of")
            told = {share["stack"]: share["bytes"] for share in oom["stacks"] or []}
            if oom["device"] is not None and told != dict(held_by_stack(live, oom["device"])):
                problems.add("ooms", f"the failure {event['seq']}: {told}, but the events give "
                                     f"{dict(held_by_stack(live, oom['device']))}")
        if event["op"] not in ("alloc", "free") or event.get("foreign"):
            continue
        key = (event["space"], event["device"], event["pool"],
               event["ptr"] or ("stack", event["stack"]))
        if event["ptr"] is not None and event["op"] == "free":
            live.pop(key, None)
        elif event["ptr"] is not None:
            live[key] = (event["stack"], event["size"])
        else:
            sign = 1 if event["op"] == "alloc" else -1
            size = live.get(key, (0, 0))[1] + sign * event["size"]
            live[key] = (event["stack"], size)
    if waiting and not document["capture"]["events_dropped"]:
        problems.add("ooms", f"no event is {sorted(waiting)}")


def check(path, validator):
    problems = Problems(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        document = json.loads(text)
    except (OSError, ValueError) as error:
        problems.add("file", f"cannot be read: {error}")
        return problems
    if validator is not None:
        check_schema(document, validator, problems)
    if problems:  # what follows takes the shape for granted
        return problems
    if list(document)[-1] != "events":
        problems.add("order", "events is not the last key")
    check_order(document, KEYS, "document", problems)
    check_lines(text, document["events"], problems)
    check_positions(document, problems)
    check_peaks(document, problems)
    check_ooms(document, problems)
    check_stacks(document, problems)
    check_choice(document, problems)
    check_timeline(document, problems)
    check_used(document, problems)
    check_phases(document, problems)
    check_events(document, problems)
    return problems


def main(paths):
    if not paths:
        sys.exit("usage: validate.py FILE...")
    try:
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"validate.py: {SCHEMA}: {error}")
    if jsonschema is None:
        return 1 if any([check(path, None) for path in paths]) else 0
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return 1 if any([check(path, kind(schema)) for path in paths]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
