"""Kills children of one process at random moments, and holds what they left against their own accounts.

    kills.py cuda|torch KILLS SEED FOLDER

To be run under the library, with MEMTRACE_OUTPUT=FOLDER/%p.json, and MEMTRACE_CPU=1 for tensors of
PyTorch, which is imported once, here: a child costs milliseconds. Each says in shared memory what it has
begun and what it has done; all that was done must be in its spool, in order, what was begun may be there,
and nothing else. One line a trouble, then what was done on one line that begins with "# ".
"""
import ctypes
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

kind, kills, seed, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dice = random.Random(seed)
HELD = 12
cuda = ctypes.CDLL("libcudart.so.13")
if kind == "torch":
    import torch
    torch.set_num_threads(1)


def size_of(number, i):
    return 64 * (1 + (number * 7919 + i * 104729) % 4093)


def steps(number, count):
    """What each step of a child does: more memory, or the oldest goes."""
    held = []
    for i in range(count):
        if len(held) < 2 or (len(held) < HELD and (number + i * 31) % 5 < 3):
            held.append(size_of(number, i))
            yield "alloc", held[-1]
        else:
            yield "free", held.pop(0)


def of_cuda():
    held = []

    def step(op, size):
        if op == "free":
            failed = cuda.cudaFree(held.pop(0))
        else:
            held.append(ctypes.c_void_p())
            failed = cuda.cudaMalloc(ctypes.byref(held[-1]), ctypes.c_size_t(size))
        if failed:
            os._exit(99)
    return step


def of_torch():
    held = []

    def step(op, size):
        if op == "free":
            held.pop(0)
        else:
            held.append(torch.empty(size, dtype=torch.uint8))
    return step


def live(number, account):
    """In the child, until it is killed: at last, on its own, after a million steps.

    Each number is one store: struct.pack_into() would write zeros first.
    """
    said = (ctypes.c_uint64 * 2).from_buffer(account)
    step = {"cuda": of_cuda, "torch": of_torch}[kind]()
    for i, (op, size) in enumerate(steps(number, 1000000)):
        said[0] = i + 1
        step(op, size)
        said[1] = i + 1
    os._exit(98)


def killed(number):
    account = mmap.mmap(-1, 16)
    target = int(dice.choice([1, 20, 100, 1000, 3000]) * dice.random())
    child = os.fork()
    if child == 0:
        live(number, account)
    while struct.unpack_from("Q", account, 0)[0] < target and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0)
    until = time.monotonic() + dice.random() * dice.choice([0.0002, 0.002])
    while time.monotonic() < until:
        pass
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    begun, done = struct.unpack_from("QQ", account)
    account.close()
    return child, status, begun, done


def recovered(child, done):
    """The events, or none and why."""
    spool = "%s/%d.spool" % (folder, child)
    if not os.path.exists(spool):
        return [], "there is no spool" if done else ""
    plain = dict(os.environ)
    del plain["LD_PRELOAD"]
    asked = subprocess.run(["memtrace", "recover", spool, "-o", folder + "/one.json"], env=plain,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.unlink(spool)
    if asked.returncode:
        nothing = b"nothing is recorded" in asked.stderr and not done
        return [], "" if nothing else asked.stderr.decode()
    with open(folder + "/one.json") as file:
        trace = json.load(file)
    os.unlink(folder + "/one.json")
    global cut
    cut += any("cut off" in note for note in trace["capture"]["notes"])
    if trace["process"]["pid"] != child or trace["process"]["exit"] != "unfinished":
        return [], "it is told as %s" % trace["process"]
    sums = [(d["allocations"], d["frees"]) for d in trace["summary"]["devices"]] if kind == "cuda" else []
    events = [(e["op"], e["size"]) for e in trace["events"]]
    counted = [tuple(sum(op == o for op, _ in events) for o in ("alloc", "free"))]
    return events, "" if sums in ([], counted) else "the sums are %s, the events give %s" % (sums, counted)


troubles = cut = empty = events_seen = 0
for number in range(kills):
    child, status, begun, done = killed(number)
    events, why = recovered(child, done)
    wanted = list(steps(number, begun))
    if status != signal.SIGKILL:
        why = "it ended by itself: %d" % status
    elif not why and events not in (wanted[:done], wanted):
        at = next((i for i, (a, b) in enumerate(zip(events, wanted)) if a != b), min(len(events), len(wanted)))
        why = "%d events, wanted %d to %d; they differ at %d: %s, wanted %s" % (
            len(events), done, begun, at, events[at:at + 3], wanted[at:at + 3])
    if why:
        troubles += 1
        print("kill %d (seed %d), pid %d: %s" % (number, seed, child, why))
    empty += not events
    events_seen += len(events)
print("# %d kills, %d of them inside an update, %d before the first event; %d events" % (kills, cut, empty, events_seen))
sys.stdout.flush()
os._exit(troubles != 0)
