"""Kills many processes at random moments and holds what is recovered against their own accounts.

    storm.py STORM LIBRARY KILLS SEED

One line a trouble on stdout, then what was done on one line that begins with "# ". Whatever a thread
had done when it died must be in the trace, in order; beyond it, what it had begun may be there, whole
or not at all; nothing else.
"""
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

THREADS, HELD, GRANULE = 16, 24, 1 << 21
storm, library, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dice = random.Random(seed)
troubles = 0


def complain(number, what):
    global troubles
    troubles += 1
    print(f"kill {number} (seed {seed}): {what}")


def chance(who, i):
    x = (who * 1000003 + i * 7919 + 12345) & 0xffffffff
    return (x * 2654435761 & 0xffffffff) >> 8


def plain(who, count):
    """The events of each operation of a thread, as storm.c does them."""
    held = []
    for i in range(count):
        roll = chance(who, i)
        if len(held) < 2 or (len(held) < HELD and roll & 1):
            held.append(256 * (1 + (roll >> 1) % 4096))
            yield [("alloc", held[-1])]
        else:
            yield [("free", held.pop(0))]


def mapped(who, count):
    for i in range(count):
        size = (1 + chance(who, i // 4) % 3) * GRANULE
        yield [
            [("alloc", size)], [("map", size)], [], [("unmap", size), ("free", size)],
            [("alloc", size)], [("map", size)], [("unmap", size)], [("free", size)],
        ][i % 8]


def kill(number):
    """One process, killed: its accounts, and whether all of its events were kept."""
    account = f"storm.{number}.account"
    with open(account, "wb+") as file:
        file.truncate(THREADS * 64)
        view = mmap.mmap(file.fileno(), THREADS * 64)
    threads = dice.choice([1, 2, 3, 6])
    ring = dice.random() < 0.2
    # In the first few every event counts: tables are made, the library finds its way about.
    target = int(dice.choice([1, 100, 300, 3000]) * dice.random())
    child = subprocess.Popen(
        [storm, account, str(threads), "1000000"], stderr=subprocess.PIPE,
        env={**os.environ, "LD_PRELOAD": library, "MEMTRACE_OUTPUT": os.path.abspath(f"storm.{number}.json"),
             "MEMTRACE_MAX_EVENTS": "300" if ring else "8000000"})
    while struct.unpack_from("Q", view, 16)[0] < target and child.poll() is None:
        time.sleep(0)
    until = time.monotonic() + dice.random() * dice.choice([0.0002, 0.003])
    while time.monotonic() < until:
        pass
    child.send_signal(signal.SIGKILL)
    said = child.communicate()[1]
    if child.returncode != -signal.SIGKILL:
        complain(number, f"it ended by itself: {child.returncode} {said}")
    elif said:
        complain(number, f"something on stderr: {said}")
    accounts = [struct.unpack_from("QQQ", view, 64 * i) for i in range(THREADS)]
    view.close()
    os.unlink(account)
    return [a for a in accounts if a[0]], [i for i, a in enumerate(accounts) if a[0]], ring


def reported(path):
    """What a report says of the memory; nothing where there is nothing to read."""
    done = subprocess.run(["memtrace", "report", "--json", path], capture_output=True, text=True)
    return {key: value for key, value in json.loads(done.stdout).items() if key not in ("trace", "process")} \
        if not done.returncode else None


def recovered(number, any_done):
    spool = f"storm.{number}.spool"
    if not os.path.exists(spool):
        if any_done:
            complain(number, "no spool")
        return None
    direct = reported(spool) if number % 8 == 0 else None
    done = subprocess.run(["memtrace", "recover", spool], capture_output=True, text=True)
    if done.returncode:
        if any_done or "nothing is recorded" not in done.stderr:
            complain(number, f"recover: {done.stderr.strip()}")
        return None
    if direct and direct != reported(f"storm.{number}.json"):
        complain(number, "the spool and the trace that is recovered from it are reported differently")
    with open(f"storm.{number}.json") as file:
        return json.load(file)


def compare_thread(number, trace, who, account):
    thread, begun, done = account
    told = [(e["op"], e["size"]) for e in trace["events"] if e.get("thread") == thread]
    operations = list((mapped if who % 4 == 1 else plain)(who, begun))
    least = [e for o in operations[:done] for e in o]
    most = [e for o in operations for e in o]
    if told != least and told != most:
        at = next((i for i, (a, b) in enumerate(zip(told, most)) if a != b), min(len(told), len(most)))
        complain(number, f"thread {who}: {len(told)} events, wanted {len(least)} to {len(most)}; "
                 f"they differ at {at}: {told[at:at + 3]}, wanted {most[at:at + 3]}")


def compare_sums(number, trace):
    """The ledger is what the events give."""
    device = trace["summary"]["devices"][0]
    now = peak = allocations = frees = 0
    for event in trace["events"]:
        sign = {"alloc": 1, "free": -1}.get(event["op"], 0)
        now += sign * event["size"]
        peak = max(peak, now)
        allocations += sign > 0
        frees += sign < 0
        if event["allocated"] != now:
            complain(number, f"event {event['seq']} says {event['allocated']}, the events give {now}")
            break
    told = (device["allocated"]["exit_bytes"], device["allocated"]["peak_bytes"],
            device["reserved"]["exit_bytes"], device["allocations"], device["frees"])
    if told != (now, peak, now, allocations, frees):
        complain(number, f"the ledger has {told}, the events give {(now, peak, now, allocations, frees)}")


def compare_peaks(number, trace):
    for peak in trace["peaks"]:
        if sum(s["bytes"] for s in peak["stacks"]) != peak["bytes"]:
            complain(number, f"a peak of {peak['bytes']} is not the sum of its stacks")


def compare_counts(number, trace, accounts, whos):
    """Events were dropped: the ledger counts on."""
    device = trace["summary"]["devices"][0]
    least = most = 0
    at_least = at_most = 0
    for who, (_, begun, done) in zip(whos, accounts):
        operations = list((mapped if who % 4 == 1 else plain)(who, begun))
        least += sum(e[0] == "alloc" for o in operations[:done] for e in o)
        most += sum(e[0] == "alloc" for o in operations for e in o)
        at_least += sum(map(len, operations[:done]))
        at_most += sum(map(len, operations))
    if not least <= device["allocations"] <= most:
        complain(number, f"{device['allocations']} allocations, wanted {least} to {most}")
    kept = len(trace["events"])
    dropped = trace["capture"]["events_dropped"]
    if kept > 300 or not at_least <= kept + dropped <= at_most:
        complain(number, f"{kept} events kept, {dropped} dropped, of {at_least} to {at_most}")


cut = empty = events = 0
for number in range(kills):
    accounts, whos, ring = kill(number)
    # The first operation of a thread that moves memory; a release of a mapped handle does not.
    trace = recovered(number, any(done for _, _, done in accounts))
    if not trace:
        empty += 1
        continue
    if trace["process"]["exit"] != "unfinished":
        complain(number, f"its end is told as {trace['process']['exit']}")
    cut += any("cut off" in note for note in trace["capture"]["notes"])
    events += len(trace["events"])
    if ring and trace["capture"]["events_dropped"]:
        compare_counts(number, trace, accounts, whos)
    elif trace["events"]:
        for who, account in zip(whos, accounts):
            compare_thread(number, trace, who, account)
        strangers = {e["thread"] for e in trace["events"]} - {a[0] for a in accounts}
        if strangers:
            complain(number, f"events of threads that never were: {strangers}")
        compare_sums(number, trace)
    compare_peaks(number, trace)
    if number % 10:
        os.unlink(f"storm.{number}.json")
        os.unlink(f"storm.{number}.spool")
print(f"# {kills} kills, {cut} of them inside an update, {empty} before the first; {events} events")
sys.exit(troubles != 0)
