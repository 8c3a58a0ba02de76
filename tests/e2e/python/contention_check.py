"""Holds the trace of contention.py to what that program said: contention_check.py TRACE SAID.

Prints how many allocations were looked at, and ends 1 when one has another line than it should.
"""
import json
import sys

UNIT = 512
MADE_FIRST, MADE_SIZES = 1100, 50  # as contention.py has them

trace = json.load(open(sys.argv[1]))
places = {}
for line in open(sys.argv[2]):
    size, rest = line.split(" ", 1)
    file, number, function = rest.rstrip("\n").rsplit(" ", 2)
    places[int(size)] = (file, int(number), function)


def innermost(stack):
    for index in trace["stacks"][stack]["frames"]:
        frame = trace["frames"][index]
        if frame["language"] == "python":
            return frame
    return None


looked = wrong = 0
kinds = set()
for event in trace["events"]:
    if event["op"] != "alloc":
        continue
    size = event["size"]
    frame = innermost(event["stack"])
    if MADE_FIRST * UNIT <= size < (MADE_FIRST + MADE_SIZES) * UNIT and size % UNIT == 0:
        number = int(frame["file"][6:-1]) if frame and frame["file"].startswith("<made ") else -1
        good = number % MADE_SIZES == size // UNIT - MADE_FIRST and frame["line"] == number % 7 + 2
        kinds.add("made")
    elif size in places:
        file, line, function = places[size]
        good = frame and (frame["file"], frame["line"]) == (file, line)
        good = good and (sys.version_info < (3, 11) or frame["function"] == function)
        kinds.add(size)
    else:
        continue
    looked += 1
    wrong += not good
    if not good and wrong <= 5:
        print("wrong:", event, frame, places.get(size))
print("%d allocations of %d kinds, %d wrong" % (looked, len(kinds), wrong))
sys.exit(wrong > 0 or len(kinds) < 10 or looked < 1000)
