"""What `memtrace timeline` draws, counted again from the trace's timeline[].

timeline.py TRACE DRAWN WIDTH HEIGHT [FROM TO]     times in ns; prints what is wrong
"""
import json
import re
import sys

EIGHTHS = " ▁▂▃▄▅▆▇█"


def heights(rows):
    """By column: eighths of allocated, rows that are cached above."""
    columns = max((len(row) for row in rows), default=0)
    found = []
    for column in range(columns):
        cells = [row[column] if column < len(row) else " " for row in reversed(rows)]
        allocated = cached = 0
        for cell in cells:
            if cell in EIGHTHS[1:]:
                allocated += EIGHTHS.index(cell)
            elif cell == "░":
                cached += 1
        found.append((allocated, cached))
    return found


def expected(curve, start, end, columns, rows):
    column = [[0, 0] for _ in range(columns)]

    def place(t):
        return (t - start) * (columns - 1) // (end - start) if end > start else 0

    points = list(zip(curve["t"], curve["allocated"], curve["reserved"]))
    for i, (t, allocated, reserved) in enumerate(points):
        until = points[i + 1][0] if i + 1 < len(points) else end
        first, last = max(t, start), min(until, end)
        if t > end or until < start or (until == start and t < start and i + 1 < len(points)):
            continue
        for c in range(place(first), place(max(first, last)) + 1):
            column[c] = [max(column[c][0], allocated), max(column[c][1], reserved)]
    top = max(max(c) for c in column)
    found = []
    for values in column:
        allocated, reserved = (max(1, v * rows * 8 // top) if v else 0 for v in values)
        covered = -(-allocated // 8)
        found.append((allocated, max(0, sum(1 for r in range(covered, rows) if reserved >= r * 8 + 4))))
    return found, max(c[0] for c in column), max(c[1] for c in column)


def size(value):
    if value < 1024:
        return f"{value} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.995:
            return f"{value:.2f} {unit}"
    return None


def main(path, drawn, width, height, start=None, end=None):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    with open(drawn, encoding="utf-8") as file:
        lines = file.read().splitlines()
    wrong = []
    columns = width - 12
    curves = trace["timeline"]
    if start is None:
        firsts = []
        for curve in curves:
            used = [t for t, a, r in zip(curve["t"], curve["allocated"], curve["reserved"]) if a or r]
            firsts.append(used[0] if used else curve["t"][-1])
        start = min(firsts)
        end = max([trace["process"]["duration_ns"]] + [c["t"][-1] for c in curves])
    titles = [i for i, line in enumerate(lines) if re.match(r"(Device \d|Pool .* on device)", line)]
    if len(titles) != len(curves):
        wrong.append(f"{len(titles)} charts of {len(curves)} curves")
    for at, curve in zip(titles, curves):
        titled = 1 if ";" in lines[at + 1] else 2
        rows = height if curve["pool"] is None else (height + 1) // 2
        cells = [line[12:] for line in lines[at + titled + 2:at + titled + 2 + rows]]
        want, allocated, reserved = expected(curve, start, end, columns, rows)
        got = heights(cells)
        got += [(0, 0)] * (columns - len(got))
        for column, (g, w) in enumerate(zip(got, want)):
            if g != w:
                wrong.append(f"{lines[at]}: column {column} is {g}, not {w}")
        for text in (f"peak: {size(allocated)} allocated", f"; {size(reserved)} reserved"):
            if text not in "; ".join(lines[at + 1:at + 1 + titled]):
                wrong.append(f"{lines[at + 1]}: not {text}")
        mark = lines[at + titled + 1].find("▼")
        if allocated and "✗" not in lines[at + titled + 1] and want[mark - 12][0] != max(w[0] for w in want):
            wrong.append(f"{lines[at]}: the peak is marked at column {mark - 12}")
    for line in lines:
        if len(line) > width or line != line.rstrip():
            wrong.append(f"{len(line)} columns, or blanks at the end: {line}")
    print("\n".join(wrong[:20]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
