"""Reads what `memtrace export` writes, by each format's own rules, and counts it against the trace.

exports.py FORMAT FILE TRACE [device=N] [pool=NAME] [metric=M]
                                     prints what is wrong, one line a finding; status 1 then
Sources of the rules: torch/utils/viz/MemoryViz.js and torch/cuda/_memory_viz.py (torch-snapshot), the
Trace Event Format (chrome), https://www.speedscope.app/file-format-schema.json, flamegraph.pl (folded),
google/pprof proto/profile.proto (its field numbers, below), RFC 4180 (csv).
"""
import collections
import csv
import gzip
import io
import json
import pickle
import pickletools
import re
import sqlite3
import sys


class Wrong(Exception):
    """What is written breaks the format's rules, or is not what the trace says."""


def need(condition, text):
    if not condition:
        raise Wrong(text)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Wanted:
    """What was asked for, of which trace."""

    def __init__(self, trace, options):
        self.trace = trace
        self.device = int(options["device"]) if "device" in options else None
        self.pool = options.get("pool")
        self.metric = options.get("metric", "allocated")
        self.at = options.get("at")

    def devices(self):
        return [d for d in self.trace["summary"]["devices"] if self.device in (None, d["device"])]

    def sums(self, device):
        """The summary's row of the device, or of the pool on it; None where there is none."""
        if not self.pool:
            return device
        return next((p for p in device["pools"] if p["pool"] == self.pool), None)

    def peaks(self):
        return [p for p in self.trace["peaks"] if p["metric"] == self.metric and p["pool"] == self.pool
                and p["device"] is not None and self.device in (None, p["device"])]


# --- torch-snapshot -----------------------------------------------------------------------------------

VIEWER_OPCODES = set("""PROTO FRAME MARK STOP EMPTY_DICT EMPTY_LIST EMPTY_TUPLE DICT LIST TUPLE TUPLE1 TUPLE2
    TUPLE3 SETITEM SETITEMS APPEND APPENDS BININT BININT1 BININT2 LONG1 BINFLOAT NONE NEWTRUE NEWFALSE
    SHORT_BINUNICODE BINUNICODE MEMOIZE BINPUT LONG_BINPUT BINGET LONG_BINGET""".split())


def check_opcodes(data):
    marks, stack_above = [], 0
    for opcode, argument, _ in pickletools.genops(data):
        need(opcode.name in VIEWER_OPCODES, f"the viewer knows no {opcode.name}")
        need(opcode.name != "PROTO" or 2 <= argument <= 4, f"protocol {argument}")
        need(opcode.name != "LONG1" or argument < 2**53, f"{argument} is no exact number in JavaScript")
        if opcode.name == "MARK":
            marks.append(stack_above)
        elif opcode.name == "APPENDS":
            need(stack_above - marks.pop() <= 60000, "too many items at once")
        stack_above += 1  # an upper bound is enough
    pickletools.dis(data, out=open("/dev/null", "w", encoding="utf-8"))


def check_frames(frames):
    for frame in frames:
        need(isinstance(frame["filename"], str) and isinstance(frame["name"], str)
             and isinstance(frame["line"], int), f"a frame is {frame}")


def check_tiles(segment):
    at = segment["address"]
    used = 0
    for block in segment["blocks"]:
        need(block["address"] == at, f"a block at {block['address']:#x} where {at:#x} follows")
        need(block["state"] in ("active_allocated", "active_pending_free", "inactive"), block["state"])
        need(block["size"] > 0, "an empty block")
        at += block["size"]
        used += block["size"] if block["state"] == "active_allocated" else 0
        check_frames(block["frames"])
    need(at == segment["address"] + segment["total_size"], "blocks do not fill their segment")
    need(segment["allocated_size"] == segment["active_size"] == used, "allocated_size")
    need(segment["segment_type"] in ("small", "large"), "segment_type")
    need(isinstance(segment["segment_pool_id"], tuple), "segment_pool_id")
    check_frames(segment["frames"])


class Viewer:
    """The part of MemoryViz.js that throws, or draws nonsense, where a rule is broken."""

    def __init__(self, snapshot, device):
        self.entries = snapshot["device_traces"][device]
        self.segments = {s["address"]: s["total_size"] for s in snapshot["segments"] if s["device"] == device}
        self.blocks = {}
        for segment in snapshot["segments"]:
            for block in segment["blocks"] if segment["device"] == device else ():
                if block["state"] == "active_allocated":
                    self.blocks[block["address"]] = block["size"]

    def find(self, address, size):
        for start, length in self.segments.items():
            if start <= address and address + size <= start + length:
                return start, length
        return None

    def map(self, address, size, merge):
        for start, length in self.segments.items():
            need(address + size <= start or start + length <= address, "segments overlap in time")
        if merge:
            if address + size in self.segments:
                size += self.segments.pop(address + size)
            before = next((s for s, n in self.segments.items() if s + n == address), None)
            if before is not None:
                size += self.segments.pop(before)
                address = before
        self.segments[address] = size

    def unmap(self, address, size, merge):
        if not merge:
            need(self.segments.pop(address, None) == size, f"no segment at {address:#x} to take away")
            return
        found = self.find(address, size)
        need(found, f"nothing is mapped at {address:#x}")
        start, length = found
        del self.segments[start]
        if address > start:
            self.segments[start] = address - start
        if address + size < start + length:
            self.segments[address + size] = start + length - address - size

    def back(self, entry):
        """One step backwards, as simulate_memory() goes."""
        action, address, size = entry["action"], entry.get("addr"), entry["size"]
        if action == "free_completed":
            need(address not in self.blocks, f"a block at {address:#x} twice at once")
            need(self.find(address, size), f"a block at {address:#x} in no segment")
            self.blocks[address] = size
        elif action == "free_requested":
            need(address in self.blocks, f"free_requested of nothing at {address:#x}")
        elif action == "alloc":
            need(self.blocks.pop(address, None) == size, f"an allocation at {address:#x} that nobody ended")
        elif action in ("segment_free", "segment_unmap"):
            self.map(address, size, action == "segment_unmap")
        elif action in ("segment_alloc", "segment_map"):
            inside = [b for b in self.blocks if address <= b < address + size]
            need(not inside, f"a segment goes with blocks in it: {inside[:3]}")
            self.unmap(address, size, action == "segment_map")
        else:
            need(action in ("oom", "snapshot"), f"action {action}")
            need(action != "oom" or "device_free" in entry, "an oom without device_free")


def torch_graph_peak(entries, snapshot, device):
    """process_alloc_data(): the highest point of the Active Memory Timeline."""
    live, initial = {}, 0
    now = change = most = 0
    for entry in entries:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry["size"]
            change += entry["size"]
        elif entry["action"] == "free_completed":
            if live.pop(entry["addr"], None) is None:
                initial += entry["size"]
            change -= entry["size"]
        most = max(most, change)
    for segment in snapshot["segments"]:
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"] == "active_allocated" and block["address"] not in live:
                initial += block["size"]
    return initial + most + now


def check_torch_snapshot(data, wanted):
    check_opcodes(data)
    snapshot = pickle.loads(data)
    need({"segments", "device_traces", "allocator_settings", "external_annotations"} <= set(snapshot), "keys")
    for segment in snapshot["segments"]:
        check_tiles(segment)
    for annotation in snapshot["external_annotations"]:
        need({"name", "stage", "device", "time_us"} <= set(annotation), "an annotation")
    for device in wanted.devices():
        ordinal, sums = device["device"], wanted.sums(device)
        mine = [s for s in snapshot["segments"] if s["device"] == ordinal]
        if sums and not wanted.at:
            need(sum(s["total_size"] for s in mine) == sums["reserved"]["exit_bytes"], "reserved at exit: "
                 f"{sum(s['total_size'] for s in mine)}, not {sums['reserved']['exit_bytes']}")
            need(sum(s["allocated_size"] for s in mine) == sums["allocated"]["exit_bytes"], "allocated at exit: "
                 f"{sum(s['allocated_size'] for s in mine)}, not {sums['allocated']['exit_bytes']}")
        if ordinal >= len(snapshot["device_traces"]):
            need(not mine, "segments of a device without a trace")
            continue
        entries = snapshot["device_traces"][ordinal]
        for entry in entries:
            check_frames(entry["frames"])
        times = [entry["time_us"] for entry in entries]
        need(times == sorted(times), "entries are not in order")
        viewer = Viewer(snapshot, ordinal)
        highest = sum(viewer.segments.values())
        for entry in reversed(entries):
            viewer.back(entry)
            highest = max(highest, sum(viewer.segments.values()))
        dropped = wanted.trace["capture"]["events_dropped"] or wanted.trace["capture"]["truncated"]
        if sums and not dropped and not wanted.at:
            peak = torch_graph_peak(entries, snapshot, ordinal)
            need(peak == sums["allocated"]["peak_bytes"], f"the timeline is {peak} high, not "
                 f"{sums['allocated']['peak_bytes']}")
            need(highest == sums["reserved"]["peak_bytes"], f"the segments are {highest} at most, not "
                 f"{sums['reserved']['peak_bytes']}")
            need(not viewer.segments and not viewer.blocks, "something was there before the first event")


# --- stacks and what they weigh -----------------------------------------------------------------------

def check_weights(total, wanted):
    """Exactly the peaks (or what is left at exit), which the trace tells."""
    if wanted.at == "exit":
        expected = sum((wanted.sums(d) or {wanted.metric: {"exit_bytes": 0}})[wanted.metric]["exit_bytes"]
                       for d in wanted.devices())
    elif wanted.at in (None, "peak"):
        expected = sum(p["bytes"] for p in wanted.peaks())
        if not wanted.trace["summary"]["devices"]:  # the space that holds most
            expected = max(s["allocated"]["peak_bytes"] for s in wanted.trace["summary"]["spaces"])
    else:
        return
    need(total == expected, f"the weights sum to {total}, not {expected}")


def expected_frames(trace):
    """Python functions of the stacks, as those of a backward pass are shown."""
    names = set()
    others = trace.get("all_stacks", trace["stacks"])
    for stack in trace["stacks"]:
        for number in stack["frames"]:
            frame = trace["frames"][number]
            if frame["language"] == "python" and frame["function"]:
                names.add(frame["function"])
        if "via_stack" in stack:
            kind = "[backward]" if stack["via"] == "forward" else "[via backward()]"
            for number in others[stack["via_stack"]]["frames"]:
                frame = trace["frames"][number]
                if frame["language"] == "python":
                    names.add(f"{frame['function']} {kind}")
    return names


def check_folded(text, wanted):
    total = 0
    seen = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        need(stack and count.isdigit() and int(count) > 0, f"no stack and count: {line}")
        need("" not in stack.split(";"), f"an empty frame: {line}")
        need(all(c.isprintable() for c in line), f"a control: {line!r}")
        seen.update(set(stack.split(";")))
        total += int(count)
    check_weights(total, wanted)
    known = expected_frames(wanted.trace)
    shown = {frame.rsplit(" (", 1)[0] for frame in seen if ".py:" in frame}
    need(shown <= known, f"frames of nobody: {sorted(shown - known)[:3]}")


def check_speedscope(text, wanted):
    document = json.loads(text)
    need(document["$schema"] == "https://www.speedscope.app/file-format-schema.json", "$schema")
    need(set(document) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}, "keys")
    frames = document["shared"]["frames"]
    for frame in frames:
        need(isinstance(frame["name"], str) and frame["name"], "a frame without a name")
        need(set(frame) <= {"name", "file", "line", "col"}, f"keys of a frame: {set(frame)}")
        need(isinstance(frame.get("line", 1), int) and isinstance(frame.get("file", ""), str), f"{frame}")
    total = 0
    for profile in document["profiles"]:
        need(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}, "a profile")
        need(profile["type"] == "sampled" and profile["unit"] == "bytes", "its type")
        need(len(profile["samples"]) == len(profile["weights"]), "samples and weights differ in number")
        need(all(0 <= n < len(frames) for s in profile["samples"] for n in s), "no such frame")
        need(profile["endValue"] - profile["startValue"] == sum(profile["weights"]), "endValue")
        total += sum(profile["weights"])
    check_weights(total, wanted)


# --- pprof --------------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A message's fields by number, each a list: numbers, or bytes."""
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        need(key & 7 in (0, 2), f"wire type {key & 7}")
        if key & 7 == 2:
            need(at + value <= len(data), "a field ends behind its message")
            value, at = data[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def numbers(packed):
    values, at = [], 0
    while at < len(packed):
        value, at = varint(packed, at)
        values.append(value)
    return values


def one(message, field, default=0):
    need(len(message[field]) <= 1, f"field {field} is there twice")
    return message[field][0] if message[field] else default


def check_pprof(data, wanted):
    profile = fields(gzip.decompress(data))
    strings = [s.decode("utf-8") for s in profile[6]]
    need(strings[0] == "", "the first string must be empty")

    def text(message, field):
        return strings[one(message, field)]

    types = [(text(fields(t), 1), text(fields(t), 2)) for t in profile[1]]
    need(types == [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
                   ("inuse_space", "bytes")], f"sample types {types}")
    need(strings[one(profile, 14)] == "inuse_space", "the default type")
    mappings = {one(m, 1): m for m in map(fields, profile[3])}
    functions = {one(f, 1): f for f in map(fields, profile[5])}
    locations = {one(n, 1): n for n in map(fields, profile[4])}
    need(0 not in mappings and 0 not in functions and 0 not in locations, "an id of 0")
    need(len(mappings) == len(profile[3]) and len(functions) == len(profile[5])
         and len(locations) == len(profile[4]), "an id twice")
    need(len(mappings) == len(wanted.trace["modules"]), "a mapping a module")
    names = set()
    for function in functions.values():
        need(text(function, 2), "a function without a name")
        names.add(text(function, 2))
    for location in locations.values():
        mapping = one(location, 2)
        need(not mapping or mapping in mappings, "no such mapping")
        if mapping:
            start, limit = one(mappings[mapping], 2), one(mappings[mapping], 3)
            need(start <= one(location, 3) < limit, "an address outside of its mapping")
        for line in map(fields, location[4]):
            need(one(line, 1) in functions, "no such function")
    sums = [0] * 4
    for sample in map(fields, profile[2]):
        ids, values = numbers(one(sample, 1, b"")), numbers(one(sample, 2, b""))
        need(ids and all(i in locations for i in ids), "no such location")
        need(len(values) == 4, "four values a sample")
        sums = [a + b for a, b in zip(sums, values)]
        labels = {text(fields(n), 1): text(fields(n), 2) for n in sample[3]}
        need(set(labels) <= {"device", "space"}, f"labels {labels}")
    check_weights(sums[3], wanted)
    summary = wanted.trace["summary"]
    if wanted.device is None and wanted.pool is None and wanted.at is None and any(
            "allocations" in s for s in wanted.trace["stacks"]):
        outside = [s for s in summary["spaces"] if s["space"] not in ("device", "array")]
        counted = sum(d["allocations"] for d in summary["devices"]) + sum(s["allocations"] for s in outside)
        stacks = sum(s.get("allocations", 0) for s in wanted.trace["stacks"])
        need(sums[0] == stacks, f"alloc_objects is {sums[0]}, not {stacks} of {counted}")
        need(sums[1] == sum(s.get("bytes", 0) for s in wanted.trace["stacks"]), "alloc_space")
    if any("via_stack" in s for s in wanted.trace["stacks"]):
        need(any(n.endswith("[backward]") or n.endswith("[via backward()]") for n in names), "no backward frames")


# --- chrome -------------------------------------------------------------------------------------------

def whole(wanted):
    """Are all events there? The format's own example, made by hand, leaves some out too."""
    capture, events = wanted.trace["capture"], wanted.trace["events"]
    return not capture["events_dropped"] and not capture["truncated"] and len(events) == capture["events_recorded"]


def check_nesting(slices):
    """Complete events of one thread: each inside the one around it, or behind it."""
    for thread, rows in slices.items():
        open_ends = []
        for start, end in sorted(rows, key=lambda row: (row[0], -row[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            need(not open_ends or end <= open_ends[-1], f"slices of thread {thread} cross")
            open_ends.append(end)


def nanoseconds(text):
    """Decimal microseconds, kept as text by the reader: to the nanosecond."""
    whole_part, _, fraction = text.partition(".")
    return int(whole_part) * 1000 + int(fraction.ljust(3, "0"))


def check_spans(ran, wanted):
    """Each phase is there, and each span of CUPTI's that was asked for, with its times and bytes."""
    trace, told = wanted.trace, collections.Counter()
    for span in trace.get("spans", []):
        action = trace["actions"][span["action"]]
        kind = action["kind"] + (" call" if action["kind"] in ("runtime", "driver") else "")
        if span["device"] is None or wanted.device in (None, span["device"]):
            told[kind, action["name"], span["t"], span["ns"], span.get("bytes", 0)] += 1
    spans = collections.Counter({key: count for key, count in ran.items() if key[0] != "phase"})
    need(spans == told, f"spans: {spans - told} too many, {told - spans} missing")
    need(sum(ran.values()) - sum(spans.values()) == len(trace["phases"]), "phases")


def check_chrome(text, wanted):
    document = json.loads(text, parse_float=lambda number: nanoseconds(number) / 1000)
    need(document["displayTimeUnit"] in ("ms", "ns"), "displayTimeUnit")
    frames = document["stackFrames"]
    for frame in frames.values():
        need(frame["name"] and frame.get("parent", next(iter(frames))) in frames, f"frame {frame}")
    slices, complete, counters = {}, collections.defaultdict(list), collections.defaultdict(list)
    instants = collections.Counter()
    changes = []
    ran = collections.Counter()  # of complete events: phases, and what CUPTI saw
    for event in document["traceEvents"]:
        kind = event["ph"]
        need(kind in "bexXCMi" and isinstance(event["name"], str), f"event {event}")
        need(isinstance(event["pid"], int) and event["ts"] >= 0, f"pid or ts of {event}")
        need(kind in "MC" or isinstance(event["tid"], int), f"tid of {event}")
        need(event.get("sf") is None or event["sf"] in frames, "no such stack frame")
        if kind == "X":
            need(event["dur"] >= 0, "dur")
            start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
            complete[event["pid"], event["tid"]].append((start, start + length))
            ran[event["cat"], event["name"], start, length, event["args"].get("bytes", 0)] += 1
        elif kind == "C":
            need(all(isinstance(v, int) for v in event["args"].values()) and event["args"], "a counter")
            need(not counters[event["name"]] or counters[event["name"]][-1][0] <= event["ts"], "counters go back")
            counters[event["name"]].append((event["ts"], event["args"]["bytes"]))
        elif kind == "i":
            need(event["s"] in "gpt", "scope of an instant")
            instants[event["cat"]] += 1
        elif kind == "b":
            key = event["cat"], event["id"], event["name"]
            need(key not in slices, f"slice {key} begins twice")
            slices[key] = event
        elif kind == "e":
            begun = slices.get((event["cat"], event["id"], event["name"]))
            need(begun and begun["ts"] <= event["ts"] and "ended" not in begun, f"an end of nothing: {event}")
            begun["ended"] = True
            if event["id"].startswith("slice "):
                ran[event["cat"], event["name"], round(begun["ts"] * 1000), round((event["ts"] - begun["ts"]) * 1000),
                    begun["args"].get("bytes", 0)] += 1
            elif event["cat"] not in ("segment", "pinned", "managed", "cpu"):
                changes += [(int(begun["id"], 16), begun["args"]["bytes"])]
                changes += [] if "end" in event["args"] else [(event["ts"], -begun["args"]["bytes"])]
    end = wanted.trace["process"]["duration_ns"] / 1000
    for name, values in counters.items():
        need(values[-1][0] >= end - 0.001 or ", library " in name and wanted.trace["capture"]["truncated"],
             f"{name} ends at {values[-1][0]}, the trace at {end}")
    need(all("ended" in slice for slice in slices.values()), "a slice without an end")
    check_nesting(complete)
    check_spans(ran, wanted)
    slices = {key: slice for key, slice in slices.items() if not slice["id"].startswith("slice ")}
    for device in wanted.devices():
        sums = wanted.sums(device)
        prefix = f"device {device['device']}" + (f", pool {wanted.pool}" if wanted.pool else "")
        for metric in ("allocated", "reserved"):
            counter = [value for _, value in counters[f"{prefix}: {metric}"]]
            need(counter and max(counter) == sums[metric]["peak_bytes"], f"{metric}: the counter is not "
                 f"{sums[metric]['peak_bytes']} high")
            need(wanted.trace["process"]["exit"] != "exit" or counter[-1] == sums[metric]["exit_bytes"], metric)
        if not whole(wanted) or wanted.pool:
            continue
        for owner in device["owners"]:
            counter = counters.get(f"device {device['device']}, library {owner['owner']}: reserved", [(0, 0)])
            need(max(value for _, value in counter) == owner["reserved"]["peak_bytes"],
                 f"library {owner['owner']}: {max(v for _, v in counter)}, not {owner['reserved']['peak_bytes']}")
    if whole(wanted) and wanted.device is None and wanted.pool is None:
        events = wanted.trace["events"]
        born = [e for e in events if e["op"] == "alloc" and e["ptr"]]
        slices = [s for s in slices.values() if s["cat"] != "segment"]
        need(len(slices) == len(born), f"{len(slices)} slices of {len(born)} allocations")
        need(sum(s["args"]["bytes"] for s in slices) == sum(e["size"] for e in born), "bytes of the slices")
        need(instants["oom"] == sum(e["op"] == "oom" for e in events), "instants of failures")
        need(instants["mark"] == sum(e["op"] == "mark" for e in events), "instants of marks")


# --- csv ----------------------------------------------------------------------------------------------

def check_csv(text, wanted):
    need(text.endswith("\r\n") and text.count("\n") == text.count("\r\n"), "lines must end in CR LF")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    events = [e for e in wanted.trace["events"] if wanted.device in (None, e.get("device"))
              and wanted.pool in (None, e.get("pool"))]
    need(len(rows) == len(events), f"{len(rows)} lines of {len(events)} events")
    latest, phases = 0, wanted.trace["phases"]
    for row, event in zip(rows, events):
        latest = max(latest, event["t"])
        inside = [p["name"] for p in phases if p["start"] <= latest and (p["end"] is None or p["end"] > latest)]
        need(row["phase"].lstrip("'") == "".join(inside[-1:]), f"the phase of {event} is {row['phase']}")
        need(None not in row and None not in row.values(), f"a line of another width: {row}")
        for cell in row.values():
            need(not cell or cell[0] not in "=+-@\t\r", f"a formula: {cell!r}")
            need(all(c.isprintable() for c in cell), f"a control: {cell!r}")
        for key, column in (("seq", "seq"), ("t", "t_ns"), ("size", "size"), ("device", "device"), ("stack", "stack"),
                            ("allocated", "allocated"), ("reserved", "reserved"), ("thread", "thread")):
            value = event.get(key)
            need(row[column] == ("" if value is None else str(value)), f"{key} of {event} is {row[column]}")
        need(row["op"] == event["op"] and row["address"] == (event.get("ptr") or ""), f"{row} of {event}")
        for key in ("pool", "space", "api"):
            need(row[key] == (event.get(key) or ""), f"{key} of {event} is {row[key]}")
    if whole(wanted) and wanted.pool is None:
        for device in wanted.devices():
            held = [int(row["allocated"]) for row in rows if row["device"] == str(device["device"]) and row["allocated"]]
            need(max(held) == device["allocated"]["peak_bytes"], "the peak")


# --- sqlite -------------------------------------------------------------------------------------------

def lives(trace):
    """Blocks from birth to death, paired here once more: (birth, death or None)."""
    open_blocks, done = {}, []
    for event in trace["events"]:
        if event["op"] not in ("alloc", "free") or not event["ptr"]:
            continue
        key = event["device"], event["space"], event["pool"], event["ptr"]
        before = open_blocks.pop(key, None)
        if before:
            done.append((before, event))
        if event["op"] == "alloc":
            open_blocks[key] = event
    return done + [(event, None) for event in open_blocks.values()]


def by(rows, key, *values):
    """Sums by a key: {key: [number of rows, sums ...]}."""
    found = collections.defaultdict(lambda: [0] * (len(values) + 1))
    for row in rows:
        sums = found[key(row)]
        sums[0] += 1
        for i, value in enumerate(values):
            sums[i + 1] += value(row)
    return found


def answers(trace, line, duration):
    """What each question of samples/queries.sql is to be answered with."""
    blocks = [(a, f) for a, f in lives(trace) if a["size"] is not None]
    peak = next((p for p in trace["peaks"] if (p["device"], p["pool"], p["metric"]) == (0, None, "allocated")), None)
    own = [(a, f) for a, f in blocks if not a.get("foreign")]

    def top(rows):
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:10]

    shares = peak["stacks"] if peak else []
    held = by(shares, lambda s: line[s["stack"]], lambda s: s["bytes"], lambda s: s["count"])
    yield top((name, v[1], v[2]) for name, v in held.items())
    functions = collections.Counter()
    for share in shares:
        for name in expected_functions(trace, share["stack"]):
            functions[name] += share["bytes"]
    yield top(functions.items())
    live = by((a for a, f in own if not f), lambda a: line[a["stack"]], lambda a: a["size"])
    yield top((name, v[1], v[0]) for name, v in live.items())
    half = duration // 2
    middle = by((a for a, f in own if a["device"] == 0 and a["t"] <= half and not (f and f["t"] <= half)),
                lambda a: line[a["stack"]], lambda a: a["size"])
    yield top((name, v[1]) for name, v in middle.items())
    brief = by(((a, f) for a, f in blocks if f and f["t"] - a["t"] < 1000000), lambda p: line[p[0]["stack"]],
               lambda p: p[0]["size"], lambda p: p[1]["t"] - p[0]["t"])
    yield sorted(((name, v[0], v[1], v[2] / v[0] / 1000) for name, v in brief.items()),
                 key=lambda row: (-row[2], row[0]))[:10]
    yield [(a["size"], line[a["stack"]], a["t"] / 1e9, f and (f["t"] - a["t"]) / 1e9)
           for a, f in sorted(blocks, key=lambda p: (-p[0]["size"], p[0]["seq"]))][:10]
    rows = []
    for phase in trace["phases"]:
        left = [a for a, f in own if phase["end"] is not None and phase["start"] <= a["t"] <= phase["end"]
                and not (f and f["t"] <= phase["end"])]
        if left:
            rows.append((phase["name"], len(left), sum(a["size"] for a in left)))
    yield sorted(rows)
    passed = by(((a, f) for a, f in blocks if f and line[a["stack"]] != line[f["stack"]]),
                lambda p: (line[p[0]["stack"]], line[p[1]["stack"]]), lambda p: p[0]["size"])
    yield [(*key, v[0], v[1]) for key, v in sorted(passed.items(), key=lambda kv: (-kv[1][1], kv[0]))][:10]
    powers = by((a["size"] for a, _ in blocks if a["size"]), lambda n: 1 << (n.bit_length() - 1), lambda n: n)
    yield [(power, *powers[power]) for power in sorted(powers)]
    yield [(e["t"] / 1e9, e["size"], line[e["stack"]], e["allocated"], e["reserved"], e.get("error"))
           for e in trace["events"] if e["op"] == "oom"]
    sums = by((p for p in trace["phases"] if p.get("allocations")), lambda p: p["name"],
              lambda p: p["allocations"]["bytes"], lambda p: p["freed"]["bytes"], lambda p: p["kept"]["bytes"])
    peaks = {name: max(p["allocated"]["peak_bytes"] for p in trace["phases"] if p["name"] == name) for name in sums}
    yield [(name, v[0], peaks[name], *v[1:]) for name, v in sorted(sums.items(), key=lambda kv: (-peaks[kv[0]], kv[0]))]
    spans = [s for s in trace.get("spans", []) if s["device"] is not None]
    ran = by(spans, lambda s: (trace["actions"][s["action"]]["kind"], trace["actions"][s["action"]]["name"]),
             lambda s: s["ns"], lambda s: s.get("bytes", 0))
    yield [(*key, v[0], v[1] / 1000, v[2]) for key, v in sorted(ran.items(), key=lambda kv: (-kv[1][1], kv[0][1]))][:10]


def expected_functions(trace, number):
    """Of one stack, as expected_frames() of all."""
    return expected_frames(dict(trace, stacks=[trace["stacks"][number]], all_stacks=trace["stacks"]))


def near(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9 * max(abs(a), abs(b)))


def check_questions(database, wanted):
    with open(__file__.rsplit("/", 2)[0] + "/samples/queries.sql", encoding="utf-8") as file:
        questions = re.split(r"\n(?=-- \d+\. )", file.read())[1:]
    need(len(questions) == 12, f"{len(questions)} questions")
    line = dict(database.execute("SELECT stack, line FROM stacks"))
    line[None] = None
    expected = answers(wanted.trace, line, wanted.trace["process"]["duration_ns"])
    for question, answer in zip(questions, expected):
        rows = database.execute(question).fetchall()
        if question.startswith("-- 7."):
            rows.sort()
        need(len(rows) == len(answer) and all(near(a, b) for r, w in zip(rows, answer) for a, b in zip(r, w)),
             f"{question.splitlines()[0]}: {rows[:3]}, not {list(answer)[:3]}")


def check_sqlite(data, wanted):
    trace = wanted.trace
    database = sqlite3.connect(":memory:")
    database.deserialize(data)
    need(database.execute("PRAGMA integrity_check").fetchone() == ("ok",), "integrity")

    def value(sql):
        return database.execute(sql).fetchone()[0]

    need(value("SELECT value FROM meta WHERE key = 'schema'") == "memtrace-sqlite/1", "schema")
    for table, rows in (("devices", trace["summary"]["devices"]), ("frames", None), ("stacks", trace["stacks"]),
                        ("peaks", trace["peaks"]), ("phases", trace["phases"]), ("events", trace["events"]),
                        ("actions", trace.get("actions", [])), ("spans", trace.get("spans", [])),
                        ("phase_devices", [d for p in trace["phases"] for d in p.get("devices", [])])):
        if rows is not None:
            need(value(f"SELECT count(*) FROM {table}") == len(rows), f"{table}: {len(rows)} rows are wanted")
    need(database.execute("""SELECT peak FROM peaks LEFT JOIN peak_stacks USING (peak) GROUP BY peak
                             HAVING total_bytes <> sum(bytes)""").fetchall() == [], "a peak is not the sum of its stacks")
    for number, phase in enumerate(trace["phases"]):
        for one in phase.get("devices", []):
            row = database.execute("""SELECT allocated_peak, reserved_peak, allocations_bytes, freed_bytes, kept_bytes
                                      FROM phase_devices WHERE phase = ? AND device = ?""", (number, one["device"])).fetchone()
            need(row == (one["allocated"]["peak_bytes"], one["reserved"]["peak_bytes"],
                         *((one[key] or {"bytes": None})["bytes"] for key in ("allocations", "freed", "kept"))), f"phase {row}")
    for device in trace["summary"]["devices"]:
        row = database.execute("""SELECT allocated_peak, allocated_exit, reserved_peak, reserved_exit, allocations, ooms
                                  FROM devices WHERE device = ?""", (device["device"],)).fetchone()
        need(row == (device["allocated"]["peak_bytes"], device["allocated"]["exit_bytes"],
                     device["reserved"]["peak_bytes"], device["reserved"]["exit_bytes"],
                     device["allocations"], device["ooms"]), f"device {row}")
        high = value(f"SELECT max(allocated) FROM timeline WHERE device = {device['device']} AND pool IS NULL")
        need(high == device["allocated"]["peak_bytes"], f"the timeline is {high} high")
    stored = [tuple(e.get(k) for k in ("seq", "t", "op", "device", "size", "stack", "allocated")) for e in trace["events"]]
    need(database.execute("SELECT seq, t, op, device, size, stack, allocated FROM events ORDER BY seq").fetchall()
         == stored, "events")
    born = sum(e["op"] == "alloc" and bool(e["ptr"]) for e in trace["events"])
    need(value("SELECT count(*) FROM allocations WHERE kind = 'block'") == born, "allocations")
    if whole(wanted):
        held = value("""SELECT coalesce(sum(size), 0) FROM allocations WHERE kind = 'block' AND fate = 'live'
                        AND space IN ('device', 'array') AND NOT foreign_memory""")
        left = sum(d["allocated"]["exit_bytes"] for d in trace["summary"]["devices"])
        nameless = sum(e["size"] * (1 if e["op"] == "alloc" else -1) for e in trace["events"]
                       if e["op"] in ("alloc", "free") and not e["ptr"] and e["device"] is not None)
        need(trace["process"]["exit"] != "exit" or held + nameless == left, f"live {held}, not {left}")
        check_questions(database, wanted)


# --- the command line ---------------------------------------------------------------------------------

BINARY = ("torch-snapshot", "pprof", "sqlite")


def main(kind, path, trace, options):
    try:
        with open(path, "rb") as file:
            data = file.read()
        if kind not in BINARY:
            data = data.decode("utf-8")  # with its line ends
        globals()["check_" + kind.replace("-", "_")](data, Wanted(load(trace), options))
    except (Wrong, ValueError, KeyError, TypeError, IndexError, OSError, pickle.UnpicklingError) as error:
        print(f"{path}: {kind}: {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 4 or "check_" + sys.argv[1].replace("-", "_") not in globals():
        sys.exit("usage: exports.py FORMAT FILE TRACE [device=N] [pool=NAME] [metric=M] [at=WHEN]")
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], dict(word.split("=", 1) for word in sys.argv[4:])))
