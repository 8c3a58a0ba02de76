#!/usr/bin/env python3
"""Recorded runs, once more with samples: sampling.py prepare WORK TIMES TRACE...; replay WORK; judge WORK EXACT SAMPLED...

`prepare` takes from traces which blocks came and went and which site asked for each; `replay`, under the
library, does the same through the C API, with a function for each site; `judge` holds runs with
MEMTRACE_SAMPLE to one without: every sum and peak equal, and each site's estimates unbiased.

A block of `size` bytes is a sample with p = 1 - exp(-size / interval) and then stands for size / p. So what
a site is estimated at has the variance of the sum over its blocks of size^2 (1 - p) / p, and the mean
error over n runs a standard error of sqrt(variance / n), known without the runs. Of many figures one in
22 lies beyond two of them by chance, none beyond five; the sum of all must, too. That is of figures in
which no single block decides (EVEN): the others count in the sum.
"""
import ctypes
import json
import math
import sys

KEYS = ("bytes", "live_bytes", "peak_bytes")
EVEN = 0.2  # the third moment, by the standard deviation's: below it a mean is normally distributed


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def prepare(work, times, *traces):
    """[function, address, size], size 0: it ends. What is left at a trace's end ends before the next."""
    steps, live = [], {}
    for number, path in enumerate(traces * int(times)):
        number %= len(traces)
        trace = load(path)
        site_of = {stack: i for i, site in enumerate(trace["sites"]) for stack in site["stacks"]}
        steps += [[site, address, 0] for address, site in live.items()]
        live = {}
        for event in trace["events"]:
            if event["op"] not in ("alloc", "free") or event["device"] is None or not event["size"]:
                continue
            address = int(event["ptr"], 16)
            if event["op"] == "alloc":
                live[address] = f"s{number}_{site_of.get(event['stack'], 0)}"
                steps.append([live[address], address, event["size"]])
            elif address in live:
                steps.append([live.pop(address), address, 0])
    with open(work, "w", encoding="utf-8") as file:
        json.dump(steps, file)
    print(len(steps))


def replay(work):
    library = ctypes.PyDLL(None)
    pool = ctypes.c_uint32(library.memtrace_pool_create(b"recorded"))
    steps = load(work)
    low = min(address for _, address, _ in steps)
    high = max(address + size for _, address, size in steps)
    library.memtrace_pool_reserve(pool, ctypes.c_void_p(low), ctypes.c_size_t(high - low))
    names = {"alloc": library.memtrace_pool_alloc, "free": library.memtrace_pool_free, "pool": pool,
             "pointer": ctypes.c_void_p, "length": ctypes.c_size_t}
    for site in {site for site, _, _ in steps}:
        source = (f"def {site}(address, size):\n"
                  "    if size:\n        alloc(pool, pointer(address), length(size))\n"
                  "    else:\n        free(pool, pointer(address))\n")
        exec(compile(source, "recorded.py", "exec"), names)  # pylint: disable=exec-used
    for site, address, size in steps:
        names[site](address, size)


# --- judging ---------------------------------------------------------------------------------------------


class Figure:
    """What a site has, and how far an estimate of it may be off."""

    def __init__(self):
        self.bytes, self.variance, self.third = 0, 0.0, 0.0

    def add(self, size, interval):
        p = -math.expm1(-size / interval)
        self.bytes += size
        self.variance += size ** 2 * (1 - p) / p
        self.third += size ** 3 * (1 - p) * (((1 - p) / p) ** 2 + 1)

    def join(self, other):
        self.bytes += other.bytes
        self.variance += other.variance
        self.third += other.third

    def errors(self, mean, runs):
        """How many standard errors off the mean of so many runs is; None where one block decides."""
        if self.third * runs > EVEN * (self.variance * runs) ** 1.5 or not self.variance:
            return None
        return (mean - self.bytes) / math.sqrt(self.variance / runs)


def truth(steps, interval):
    """{(site, key): Figure}, by the steps alone."""
    now, most, live, at_peak = 0, 0, {}, {}
    figures = {}
    for site, address, size in steps:
        if address in live:
            now -= live.pop(address)[1]
        if size:
            live[address] = (site, size)
            now += size
            figures.setdefault((site, "bytes"), Figure()).add(size, interval)
        if now > most:
            most, at_peak = now, dict(live)
    for key, blocks in (("live_bytes", live), ("peak_bytes", at_peak)):
        for site, size in blocks.values():
            figures.setdefault((site, key), Figure()).add(size, interval)
    return figures


def sums_of(trace):
    return [[[part[metric][key] for metric in ("allocated", "reserved") for key in ("peak_bytes", "exit_bytes")]
             + [part["allocations"], part["frees"]] for part in [device] + device["pools"]]
            for device in trace["summary"]["devices"]]


def by_site(trace, prefix):
    found = {}
    for site in trace["sites"]:
        name = site["site"].split(" ")[0]
        for key in KEYS:
            found[name, key] = found.get((name, key), 0) + site.get(prefix + key, 0)
    return found


def judge(work, exact, *runs):
    steps, exact, wrong = load(work), load(exact), []
    runs = [load(path) for path in runs]
    interval = runs[0]["capture"]["sample_bytes"]
    figures = truth(steps, interval)
    told = by_site(exact, "")
    wrong += [f"{name}: {told.get(name)} bytes in the run with every stack, {figure.bytes} recorded"
              for name, figure in figures.items() if told.get(name) != figure.bytes]
    for number, run in enumerate(runs):
        if sums_of(run) != sums_of(exact):
            wrong.append(f"run {number}: sums {sums_of(run)}, not {sums_of(exact)}")
        for peak in run["peaks"]:
            if sum(share["bytes"] for share in peak["stacks"]) != peak["bytes"]:
                wrong.append(f"run {number}: a peak of {peak['metric']} is not the sum of its stacks")
    estimates = [by_site(run, "estimated_") for run in runs]
    beyond, judged, worst = 0, 0, 0.0
    for key in KEYS:
        whole, mean_of_whole = Figure(), 0
        for name in [name for name in figures if name[1] == key]:
            mean = sum(e.get(name, 0) for e in estimates) / len(runs)
            errors = figures[name].errors(mean, len(runs))
            whole.join(figures[name])
            mean_of_whole += mean
            if errors is None:
                continue
            judged, beyond, worst = judged + 1, beyond + (abs(errors) > 2), max(worst, abs(errors))
            if abs(errors) > 5:
                wrong.append(f"{name}: off by {errors:+.1f} standard errors on the average")
        errors = whole.errors(mean_of_whole, len(runs))
        if errors is not None and abs(errors) > 5:
            wrong.append(f"{key} in all: off by {errors:+.1f} standard errors")
    # A site's bytes and allocations come from the same samples: two figures that are off together.
    allowed = judged * 0.0455 + 6 * math.sqrt(2 * judged * 0.0455 * 0.9545)
    if not judged or beyond > allowed:
        wrong.append(f"{beyond} of {judged} figures are off by more than two standard errors")
    print("\n".join(wrong or [f"{len(runs)} runs of {len(steps)} recorded steps: of {judged} figures {beyond} have a "
                              f"mean error beyond 2 standard errors ({0.0455 * judged:.1f} by chance), the worst "
                              f"{worst:.1f}; sums and peaks equal"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
