#!/usr/bin/env python3
"""Holds a trace to this: what is used has a name. used_check.py TRACE [--verbose]

At every sample used = reserved + rounding + named + residual, the residual is at most 2 MiB or 0.5%
of used, whichever is larger, and at the peak at least 95% has a name. Prints what each device's
memory is, and with --verbose every step and mark; ends with 1 if anything is not so.
"""
import json
import sys

MIB = 1 << 20


def mib(value):
    return f"{value / MIB:10.2f}"


def allowed(used):
    return max(2 * MIB, used * 0.005)


def check_device(device, wrong):
    used = device["used"]
    if not used:
        wrong.append(f"device {device['device']}: used was never sampled")
        return
    for when, total in (("at_peak", used["peak_bytes"]), ("at_exit", used["exit_bytes"])):
        part = used[when]
        parts = part["reserved_bytes"] + part["rounding_bytes"] + part["named_bytes"]
        if parts + part["residual_bytes"] != total:
            wrong.append(f"{when}: {parts} + {part['residual_bytes']} is not {total}")
        if abs(part["residual_bytes"]) > allowed(total):
            wrong.append(f"{when}: residual {part['residual_bytes']} of {total}")
        if total and parts < total * 0.95:
            wrong.append(f"{when}: only {parts / total:.1%} of {total} has a name")
    print(f"device {device['device']}: source {used['source']}, {used['samples']} samples, residual "
          f"{used['residual_min_bytes']} to {used['residual_max_bytes']}")
    print(f"{'':44}{'at peak':>12}{'at exit':>12}")
    for name in ("reserved", "rounding"):
        print(f"  {name:42}{mib(used['at_peak'][name + '_bytes'])}  {mib(used['at_exit'][name + '_bytes'])}")
    for name in device["named"]:
        print(f"  {name['name'][:42]:42}{mib(name['at_used_peak_bytes'])}  {mib(name['bytes'])}"
              f"   {name['steps']} steps")
    print(f"  {'residual':42}{mib(used['at_peak']['residual_bytes'])}  {mib(used['at_exit']['residual_bytes'])}")
    print(f"  {'used':42}{mib(used['peak_bytes'])}  {mib(used['exit_bytes'])}")
    for sign, key in ((-1, "residual_min_bytes"), (1, "residual_max_bytes")):
        if sign * used[key] > allowed(used["peak_bytes"]):
            wrong.append(f"{key}: {used[key]}")


def tell(trace):
    rows = [(row["t"], "step", row) for row in trace["used"]]
    rows += [(event["t"], "mark", event) for event in trace["events"] if event["op"] == "mark"]
    print("     t ms        bytes  name / call                                  used    reserved"
          "   rounding      named    residual")
    for t, kind, row in sorted(rows, key=lambda r: r[0]):
        if kind == "mark":
            print(f"{t / 1e6:9.1f}  ---- {row['name']}")
            continue
        name = f"{row['name'] or '(residual)'} / {row['api']}"
        print(f"{t / 1e6:9.1f} {mib(row['bytes'])}  {name[:44]:44}{mib(row['used'])} {mib(row['reserved'])}"
              f" {mib(row['rounding'])} {mib(row['named'])} {mib(row['residual'])}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    wrong = []
    for device in trace["summary"]["devices"]:
        check_device(device, wrong)
    for row in trace["used"]:
        if row["used"] != row["reserved"] + row["rounding"] + row["named"] + row["residual"]:
            wrong.append(f"at {row['t']}: the parts do not sum to {row['used']}")
        if abs(row["residual"]) > allowed(row["used"]):
            wrong.append(f"at {row['t']} in {row['api']}: residual {row['residual']} of {row['used']}")
    if wrong or "--verbose" in sys.argv:
        tell(trace)
    for line in wrong[:20]:
        print(f"WRONG {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
