#!/usr/bin/env python3
"""Renews the output in README.md of each command that starts with `$ memtrace` and reads tests/data.

readme.py [--check]: with --check it changes nothing, prints which blocks are not what the commands print,
and ends with 1 if there is one. memtrace is looked for on PATH.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = re.compile(r"    \$ (memtrace .*tests/data/.*)")
INDENT = "    "


def printed(command):
    ran = subprocess.run(command, shell=True, cwd=TOP, stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return [INDENT + line if line else "" for line in ran.stdout.rstrip("\n").split("\n")]


def block_end(lines, at):
    """The index after an indented block that begins at `at`; a blank line inside belongs to it."""
    end = at
    while end < len(lines) and (lines[end].startswith(INDENT) or
                                (not lines[end] and lines[end + 1:] and lines[end + 1].startswith(INDENT))):
        end += 1
    return end


def main():
    path = os.path.join(TOP, "README.md")
    with open(path) as f:
        lines = f.read().split("\n")
    at = blocks = stale = 0
    while at < len(lines):
        found = COMMAND.match(lines[at])
        at += 1
        if not found:
            continue
        end, new = block_end(lines, at), printed(found[1])
        if lines[at:end] != new:
            print("README.md:%d: other output: %s" % (at, found[1]))
            stale += 1
        lines[at:end] = new
        at += len(new)
        blocks += 1
    if "--check" in sys.argv:
        return stale != 0 or blocks == 0
    with open(path, "w") as f:
        f.write("\n".join(lines))
    return 0


sys.exit(main())
