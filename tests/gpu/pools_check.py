#!/usr/bin/env python3
"""Holds what a trace knows of pools to what the program marked: pools_check.py TRACE (see pools.py).

Each pool's bytes and blocks come from the events alone, and must be the pool's own figures at every
mark; the sums at the end must be those of summary. Blocks must be under a line of the program, not of
the helper that told them. Prints one line; ends with 1 if anything differs.
"""
import json
import sys

GRANULE = 2 << 20  # what memory is mapped in
TOLD_IN_PYTHON = ("cupy", "cupy-managed", "rmm", "rmm-managed")


class Pools:
    def __init__(self):
        self.used, self.total, self.blocks = {}, {}, {}

    def take(self, event):
        pool, op = event.get("pool"), event["op"]
        if op in ("alloc", "free"):
            key = (pool, int(event["ptr"], 16))
            if op == "alloc":
                self.blocks[key] = event
            else:
                self.blocks.pop(key, None)
            self._add(self.used, pool, op == "alloc", event)
        elif op in ("reserve", "release"):
            self._add(self.total, pool, op == "reserve", event)
        elif op in ("map", "unmap"):  # JAX without a pool: each array is mapped memory
            key = (pool, int(event["ptr"], 16))
            self.blocks.pop(key, None)
            if op == "map":
                self.blocks[key] = event

    @staticmethod
    def _add(sums, pool, gain, event):
        sums[pool] = sums.get(pool, 0) + (event["size"] if gain else -event["size"])

    def block(self, pool, address):
        for (name, at), event in self.blocks.items():
            if at == address and (name or "-").startswith(pool):
                return event
        return None


def in_pools(sums, name):
    """Of the pool `name`, or of all whose names begin with "async:"."""
    return sum(size for pool, size in sums.items()
               if pool == name or (name[-1] == ":" and (pool or "").startswith(name)))


def pool_mark(pools, name, used, total, slack=0):
    wrong = []
    apart = int(used) - in_pools(pools.used, name)
    if not 0 <= apart <= int(slack):
        wrong.append(f"{name} says {used} in use, the trace {in_pools(pools.used, name)}")
    if total != "-" and int(total) != in_pools(pools.total, name):
        wrong.append(f"{name} says {total} from CUDA, the trace {in_pools(pools.total, name)}")
    return wrong


def block_mark(pools, pool, address, size):
    event = pools.block(pool, int(address, 16))
    if event is None:
        return [f"no block of {pool} at {address}"]
    room = GRANULE if event["op"] == "map" else 512
    if not int(size) <= event["size"] < int(size) + room:
        return [f"the block of {pool} at {address} has {event['size']} bytes, not {size}"]
    return []


def own_line(trace, event):
    frames = trace["stacks"][event["stack"]]["frames"] if event.get("stack") is not None else []
    return any((trace["frames"][i].get("file") or "").endswith("/pools.py") for i in frames)


def main():
    trace = json.load(open(sys.argv[1], encoding="utf-8"))
    pools = Pools()
    wrong, marks, told, births, lost = [], 0, set(), 0, 0
    for event in trace["events"]:
        if event["op"] != "mark":
            pools.take(event)
            if event["op"] == "alloc" and event.get("pool") in TOLD_IN_PYTHON:
                births += 1
                lost += not own_line(trace, event)
            # JAX's are found when a look finds an array in them.
            if event["op"] == "reserve" and event["pool"] != "jax" and event["api"].startswith("memtrace_pool"):
                wrong.append(f"seq {event['seq']}: a segment counted as allocated until it was reserved")
            continue
        kind, *words = event["name"].split()
        if kind not in ("pool", "block"):
            continue
        marks += 1
        told.add(words[0])
        check = pool_mark if kind == "pool" else block_mark
        wrong += [f"seq {event['seq']}: {text}" for text in check(pools, *words)]
    for device in trace["summary"]["devices"]:
        for row in device["pools"]:
            if row["pool"] in told and row["allocated"]["exit_bytes"] != pools.used.get(row["pool"], 0):
                wrong.append(f"summary: {row}, the events {pools.used}")
    wrong += [f"the site {site['site']}" for site in trace["sites"] if "memtrace_pools.py" in site["site"]]
    if lost:
        wrong.append(f"{lost} of {births} blocks are under no line of the program")
    print("\n".join(wrong[:8] + [f"{marks} marks of {sorted(told)}, {len(wrong)} wrong; used {pools.used}, "
                                 f"from CUDA {pools.total}"]))
    sys.exit(1 if wrong or marks < 3 else 0)


if __name__ == "__main__":
    main()
