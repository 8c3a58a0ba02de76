"""births.py TRACE: bytes that live at the end by the phase in which they were born, from the events alone."""
import collections
import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["events"]
    held, opened, live = collections.Counter(), [], {}
    for event in events:
        if event["op"] == "push":
            opened.append(event)
        elif event["op"] == "pop":
            ended = [e for e in opened if (e["name"], e.get("range")) == (event["name"], event.get("range"))]
            if ended:
                opened.remove(ended[-1])
        elif event["op"] == "alloc":
            live[event["ptr"]] = opened[-1]["name"] if opened else "[in no phase]", event["size"]
        elif event["op"] == "free":
            del live[event["ptr"]]
    for name, size in live.values():
        held[name] += size
    print("\n".join(sorted(f"{size} {name}" for name, size in held.items())))


main(sys.argv[1])
