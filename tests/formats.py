#!/usr/bin/python3
"""Checks what `memtrace diff` and `memtrace check` write: formats.py FORMAT FILE...

Each format by its reader's rules: json by include/memtrace/diff.schema.json and its sums, junit by
the elements and attributes of Jenkins' junit-10.xsd, sarif by what SARIF 2.1.0 and GitHub's code
scanning require, github by @actions/core's command syntax, benchmark by what github-action-benchmark
takes, bencher by Bencher's Metric Format, markdown by the length of a comment and by what may stand in a cell, text by its columns.
One line a problem; ends 1 when there is one.
"""
import collections
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
COMMENT = 65536


class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


# --- json ---------------------------------------------------------------------------------------------

def check_json(text):
    import jsonschema
    with open(os.path.join(TOP, "include", "memtrace", "diff.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    document = json.loads(text)
    jsonschema.Draft7Validator.check_schema(schema)
    for error in jsonschema.Draft7Validator(schema).iter_errors(document):
        raise Wrong(f"{list(error.path)}: {error.message}")
    need(document["broken"] == any(gate["broken"] for gate in document["gates"]),
         "broken is not what the gates say")
    check_sums(document)


def check_sums(document):
    """Every column of sites sums exactly to the difference of the totals."""
    for total in document["totals"]:
        changes = collections.Counter()
        for row in document["rows"]:
            if row["dimension"] == "site" and row["space"] == total["space"]:
                for column, value in row["head"].items():
                    changes[column] += value - row["base"][column]
        for column, value in total["head"].items():
            need(changes[column] == value - total["base"][column],
                 f"{column} of {total['space']} sums to {changes[column]}, the totals differ by "
                 f"{value - total['base'][column]}")
    names = [(row["dimension"], row.get("space"), row.get("device"), row["name"])
             for row in document["rows"]]
    need(len(set(names)) == len(names), "a row is there twice")


# --- junit --------------------------------------------------------------------------------------------

JUNIT = {  # element: (its children, required attributes, other attributes)
    "testsuites": ({"testsuite"}, {"name", "tests", "failures", "errors", "time"}, {"disabled"}),
    "testsuite": ({"testcase", "system-out", "system-err", "properties"}, {"name", "tests"},
                  {"failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id",
                   "package"}),
    "testcase": ({"skipped", "error", "failure", "system-out", "system-err"}, {"name", "classname"},
                 {"assertions", "time", "status"}),
    "failure": (set(), set(), {"message", "type"}),
    "system-out": (set(), set(), set()),
}


def check_element(element):
    need(element.tag in JUNIT, f"<{element.tag}> is no element of JUnit")
    children, required, other = JUNIT[element.tag]
    need(required <= set(element.keys()), f"<{element.tag}> lacks {required - set(element.keys())}")
    need(set(element.keys()) <= required | other, f"<{element.tag}> has {set(element.keys())}")
    for child in element:
        need(child.tag in children, f"<{child.tag}> in <{element.tag}>")
        check_element(child)


def check_junit(text):
    root = xml.fromstring(text)
    need(root.tag == "testsuites", f"the root is <{root.tag}>")
    check_element(root)
    for suite in [root, *root.iter("testsuite")]:
        cases = list(suite.iter("testcase"))
        need(int(suite.get("tests")) == len(cases) > 0, "tests= does not count the cases")
        need(int(suite.get("failures")) == len(list(suite.iter("failure"))),
             "failures= does not count the failures")
    for suite in root:
        order = [child.tag for child in suite]
        need(order == sorted(order, key=["properties", "testcase", "system-out"].index),
             f"the order is {order}")


# --- sarif --------------------------------------------------------------------------------------------

def check_sarif(text):
    log = json.loads(text)
    need(log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"], "no SARIF 2.1.0")
    need(set(log) <= {"$schema", "version", "runs", "properties"}, "keys of the log")
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        need(driver["name"] and len(set(rules)) == len(rules), "the driver's rules")
        need(run.get("columnKind") in ("utf16CodeUnits", "unicodeCodePoints"), "columnKind")
        need(all(rule["shortDescription"]["text"] for rule in driver["rules"]), "a rule says nothing")
        for result in run["results"]:
            need(result["ruleId"] in rules, f"no rule {result['ruleId']}")
            need(result["level"] in ("none", "note", "warning", "error"), result["level"])
            need(result["message"]["text"], "a result says nothing")
            need(len(result["locations"]) == 1, "a result has no place")
            place = result["locations"][0]["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            need(re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), f"{uri} is no URI reference")
            if place["artifactLocation"].get("uriBaseId"):
                need(not uri.startswith("/"), f"{uri} is absolute, and yet has a base")
            need(place["region"]["startLine"] >= 1, "lines begin with 1")
            need(result["partialFingerprints"], "a result has no fingerprint")


# --- github -------------------------------------------------------------------------------------------

def check_github(text):
    need(text.endswith("\n"), "the last line has no end")
    kinds = collections.Counter()
    for line in text.splitlines():
        command = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.+)", line)
        need(command, f"no workflow command: {line}")
        kinds[command[1]] += 1
        for pair in command[2].split(","):
            key, _, value = pair.partition("=")
            need(key in ("file", "line", "title") and value, f"a property is {pair}")
            need(key != "line" or int(value) > 0, f"line {value}")
            need(key != "file" or not value.startswith("/"), f"{value} is not in the repository")
        for part in (command[2], command[3]):
            need(not re.search(r"%(?!25|0D|0A|3A|2C)", part), f"an escape that GitHub does not know: {part}")
    need(max(kinds.values()) <= 11, f"{kinds}: GitHub shows ten of a kind")


def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a name is there twice")
    return dict(pairs)


# --- benchmark ----------------------------------------------------------------------------------------

def check_benchmark(text):
    entries = json.loads(text)
    need(isinstance(entries, list) and entries, "no entries")
    names = [entry["name"] for entry in entries]
    need(len(set(names)) == len(names), "a name is there twice")
    for entry in entries:
        need(set(entry) <= {"name", "unit", "value", "range", "extra"}, f"keys {set(entry)}")
        need(isinstance(entry["value"], (int, float)) and entry["value"] >= 0, "a value")
        need(all(isinstance(entry[key], str) and entry[key] for key in entry if key != "value"),
             f"texts of {entry}")


def check_bencher(text):
    for name, measures in json.loads(text, object_pairs_hook=unique).items():
        need(name and measures, f"{name} has no measure")
        for measure, metric in measures.items():
            need(measure and set(metric) in ({"value"}, {"value", "lower_value", "upper_value"}), f"{measure} of {name}")
            need(metric.get("lower_value", metric["value"]) <= metric["value"] <= metric.get("upper_value", metric["value"]),
                 f"the bounds of {name}")


# --- markdown, text -----------------------------------------------------------------------------------

def unescape(text):
    return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), text)


def check_markdown(text):
    need(len(text) <= COMMENT, f"{len(text)} characters do not fit a comment")
    need(text.count("<details>") == text.count("</details>"), "a fold is not closed")
    for line in text.splitlines():
        bare = re.sub(r"</?(?:details|summary|code)>", "", line)
        need("<" not in bare and "@" not in bare, f"markup or a mention from a name: {line}")
        for name in re.findall(r"<code>(.*?)</code>", line):
            need(not set(name.replace("&#", "").replace(";", "")) & set("|`*_[]<>\\"),
                 f"a name with markup: {name}")
    columns = 0
    for line in text.splitlines():
        if line.startswith("|"):
            cells = line.count("|")
            need(columns in (0, cells), f"a row of {cells - 1} cells: {line}")
            columns = cells
        else:
            columns = 0


def check_text(text):
    for line in text.splitlines():
        need(len(line) <= 80, f"{len(line)} columns: {line}")
        need(line == line.rstrip(), f"ends in blanks: {line}")


def main(kind, paths):
    wrong = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                globals()["check_" + kind](file.read())
        except (Wrong, ValueError, KeyError, TypeError, OSError, xml.ParseError) as error:
            print(f"{path}: {kind}: {type(error).__name__}: {error}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    if len(sys.argv) < 3 or "check_" + sys.argv[1] not in globals():
        sys.exit("usage: formats.py FORMAT FILE...")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
