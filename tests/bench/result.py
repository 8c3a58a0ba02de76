"""Measured rows: their medians and spread as JSON, as a table for people and as README's.

result.py [--readme README.md] FILE...: the Markdown table of what was measured, printed, or put between README's
markers.
"""
import json
import statistics
import sys

from rows_and_budgets import ROWS

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
KNOWN = {row.id: row for row in ROWS}


class Results:
    """What one run measured on one machine; each row is told as soon as it is known."""

    def __init__(self, machine, path):
        self.machine, self.path, self.rows = machine, path, []
        print(", ".join(f"{key} {value}" for key, value in machine.items()) + "\n")
        print(line("what", "measured", "quartiles", "budget", ""))

    def add(self, id, values):
        """A row's samples: numbers, or one number. What could not be measured is None, and is not told."""
        if values is None:
            return
        values = sorted(values) if isinstance(values, (list, tuple)) else [values]
        row = summed(KNOWN[id], values)
        self.rows.append(row)
        print(text(row), flush=True)

    def close(self):
        """Writes the file; the rows that are over their budget."""
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"schema": "memtrace-bench/1", "machine": self.machine, "rows": self.rows}, file, indent=1)
            file.write("\n")
        over = [row["id"] for row in self.rows if row["verdict"] == "over"]
        print(f"\n{len(self.rows)} rows in {self.path}; over their budget: {', '.join(over) or 'none'}")


def summed(row, values):
    median = statistics.median(values)
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (median,) * 3
    verdict = None
    if row.most is not None or row.least is not None:
        over = (row.most is not None and median > row.most) or (row.least is not None and median < row.least)
        verdict = "over" if over else "within"
    return {"id": row.id, "what": row.what, "unit": row.unit, "median": median, "low": low, "high": high,
            "samples": len(values), "most": row.most, "least": row.least, "verdict": verdict}


def figure(value, unit):
    if unit == "x":
        return f"{value:.3f}x"
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def spread(row):
    if row["samples"] == 1:
        return ""
    return f"{figure(row['low'], row['unit']).split()[0]} to {figure(row['high'], row['unit']).split()[0]}"


def budget(row):
    least, most = (None if row[k] is None else bound(row[k], row["unit"]) for k in ("least", "most"))
    if least and most:
        return f"{least} to {most}"
    return f"<= {most}" if most else f">= {least}" if least else ""


def bound(value, unit):
    return f"{value:,g}x" if unit == "x" else f"{value:,g} {unit}"


def line(*cells):
    return f"{cells[0]:<64} {cells[1]:>14}  {cells[2]:<22} {cells[3]:<16} {cells[4]}".rstrip()


def text(row):
    return line(row["what"], figure(row["median"], row["unit"]), spread(row), budget(row), row["verdict"] or "")


def markdown(files):
    out = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        out += [", ".join(f"{key} {value}" for key, value in run["machine"].items()) + ":", "",
                "| what | measured | quartiles | budget | |", "|---|---|---|---|---|"]
        for row in run["rows"]:
            if KNOWN[row["id"]].readme:
                out.append(f"| {row['what']} | {figure(row['median'], row['unit'])} | {spread(row)} | "
                           f"{budget(row)} | {row['verdict'] or ''} |")
        out.append("")
    return "\n".join(out)


def main(words):
    readme = None
    if words[:1] == ["--readme"]:
        readme, words = words[1], words[2:]
    table = markdown(words)
    if not readme:
        print(table)
        return 0
    with open(readme, encoding="utf-8") as file:
        whole = file.read()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1:
        print(f"{readme} has no place for the table: a line {BEGIN} and a line {END}", file=sys.stderr)
        return 1
    before, rest = whole.split(BEGIN)
    with open(readme, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
