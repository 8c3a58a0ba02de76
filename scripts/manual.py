#!/usr/bin/env python3
"""Writes the manual's pages on the tool and on the library's settings: manual.py MEMTRACE VERSION FOLDER.

A command's page is its --help in the form of man(7). memtrace.1 and libmemtrace.7 are scripts/*.in with a list
in place of @@: of the commands, and of the settings (src/base/settings/opt.def). manual-api.sh makes libmemtrace.3.
"""
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TEXT = r'"((?:[^"\\]|\\.)*)"'


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def rows(path, pattern):
    """The rows of a table of src/, each as the strings that the pattern finds."""
    return [tuple(word.replace('\\"', '"') for word in row) for row in re.findall(pattern, read(path), re.M)]


COMMANDS = rows("src/cli/commands.def", rf"^COMMAND\((\w+),\s*{TEXT}\)")
STATUSES = rows("src/cli/statuses.def", rf"^STATUS\(\w+,\s*(\d+),\s*{TEXT}\)")
SETTINGS = rows("src/base/settings/opt.def", rf"^OPTION\(\w+,\s*{TEXT},\s*\w+,\s*{TEXT},\s*{TEXT}\)")


def escaped(text):
    """Hyphens become minus signs, so that copied options work in a shell."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def line(text):
    return ("\\&" if text[:1] in (".", "'") else "") + escaped(text)


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def title(name, section, version):
    return [f'.TH {escaped(name.upper())} {section} "" "memtrace {version}" "memtrace"']


def items(pairs):
    return [each for head, text in pairs for each in (".TP", head, line(text))]


def statuses():
    return [".SH EXIT STATUS", *items((f".B {status}", meaning) for status, meaning in STATUSES)]


def about(text):
    """Paragraphs; indented lines are a table."""
    lines, table = [], False
    for each in text.split("\n"):
        if each and each.startswith(" ") != table:
            table = not table
            lines.append(".PP\n.nf" if table else ".fi\n.PP")
        if each:
            lines.append(line(each))
        elif not table:
            lines.append(".PP")
    return lines + [".fi"] * table


def option(row):
    """A row of --help: the options and the value in its first column, the help in the second."""
    head, text = re.split(r"\s{2,}", row.strip(), maxsplit=1)
    names, gap, value = re.match(r"((?:-\w, )?--[\w-]+)( ?)(.*)", head).groups()
    names = ", ".join(bold(name) for name in names.split(", "))
    return names + (f"{gap}\\fI{escaped(value)}\\fR" if value else ""), " ".join(text.split())


def command(memtrace, name, help_text, version):
    said = subprocess.run([memtrace, name, "--help"], check=True, capture_output=True, text=True).stdout
    usage, rest = said.split("\n\n", 1)
    text, options = rest.rsplit("\nOptions:\n", 1)
    operands = usage.split("[options]", 1)[1].strip()
    options = [option(row) for row in re.split(r"\n(?= {2,6}-)", options)]
    own = [] if name == "run" else statuses()  # `memtrace run` returns the program's status
    return [*title(f"memtrace-{name}", 1, version), ".SH NAME", f"memtrace\\-{name} \\- {line(help_text)}",
            ".SH SYNOPSIS", f"{bold('memtrace ' + name)} [\\fIoptions\\fR] {escaped(operands)}", ".SH DESCRIPTION",
            *about(text.strip("\n")), ".SH OPTIONS", *items(options), *own,
            ".SH SEE ALSO", ".BR memtrace (1),", ".BR libmemtrace (7)"]


def with_list(name, section, version, listed):
    before, after = read("scripts", f"{name}.{section}.in").split("@@")
    return [*title(name, section, version), before + "\n".join(listed) + "\n" + after.rstrip("\n")]


def main():
    memtrace, version, folder = sys.argv[1:]
    pages = {f"memtrace-{name}.1": command(memtrace, name, text, version) for name, text in COMMANDS}
    commands = items((f".BR memtrace\\-{name} (1)", text) for name, text in COMMANDS)
    pages["memtrace.1"] = with_list("memtrace", 1, version, commands + statuses())
    settings = items((bold("MEMTRACE_" + name) + (escaped("=" + value) if value else ""), text)
                     for name, value, text in SETTINGS)
    pages["libmemtrace.7"] = with_list("libmemtrace", 7, version, settings)
    for name, lines in pages.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


main()
